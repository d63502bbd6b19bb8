"""Short pieces of sentences about files, and the error that carries them."""

from __future__ import annotations

import difflib

__all__ = ["TableError", "cut", "did_you_mean", "listed", "shown_entries"]


class TableError(ValueError):
    """A file, or what was asked of it, cannot become points; one sentence says why."""


def cut(text, most=40):
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most]}..."


def listed(names, most=30):
    more = ", ..." if len(names) > most else ""
    return ", ".join(cut(str(name)) for name in names[:most]) + more


def shown_entries(column):
    entries = dict.fromkeys(str(entry) for entry in column.dropna()[:1000])
    return ", ".join(repr(cut(entry)) for entry in list(entries)[:3]) or "nothing"


def did_you_mean(name, known):
    """A question that names what is known under nearly that name, or nothing."""
    folded = {other.casefold().replace(" ", ""): other for other in map(str, known)}
    close = difflib.get_close_matches(str(name).casefold().replace(" ", ""), folded, 1)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""
