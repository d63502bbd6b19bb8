"""Marks around a number: units, footnote signs, uncertainties, a spreadsheet's quotes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

__all__ = [
    "Peeled",
    "alike_marked",
    "begins_with_number",
    "common_unit",
    "is_marked",
    "peel",
]

WRAPPED = re.compile(
    r'="(?P<formula>[^"]*)"|=(?P<equals>[^="].*)|\'(?P<quoted>[^\'].*)'
)
PLUS_MINUS = re.compile(
    r"(?P<number>.*?\d[.,]?)\s*(?:±|\+/-|\+-)\s*\d[\d.,]*(?P<rest>\D*)"
)
FOOTNOTES = re.compile(r"(?P<number>.*?\S)\s*(?P<mark>[*†‡§¶#]+|\[\w{1,3}\])")
UNIT = re.compile(
    r"(?P<number>.*?\d[.,]?)\s*"
    r"(?!e[+-]?\d)(?P<unit>[^\W\d_²³¹⁰⁴-⁹][^\s()\[\]*†‡§¶#±]{0,11}|[°µμΩ′″‰][^\s()\[\]*†‡§¶#±]{0,11})",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"[(]?[+-]?[(]?(?:\d[\d.,'_\s]*|[.,]\d+)(?:e[+-]?\d+)?%?[)]?", re.IGNORECASE
)
BEGINNING = re.compile(r"[=\"'(<>~≈≤≥$€£¥₹+\-\u2212\s]*[.,]?\d")


@dataclass(frozen=True)
class Peeled:
    """A number's text, and what stood around it.

    Attributes
    ----------
    number : str
        The number, and maybe signs for percent or currency.
    unit : str
        What stood behind it, or "".
    marks : tuple of str
        Other marks in words, ready for "... taken off".
    """

    number: str
    unit: str = ""
    marks: tuple[str, ...] = ()


def peel(text):
    """Take the marks off a number, from outside to inside.

    Parameters
    ----------
    text : str

    Returns
    -------
    Peeled
        With the text as it is where no number is inside.
    """
    marks, unit, inner = [], "", text
    wrapped = WRAPPED.fullmatch(inner)
    if wrapped:
        inner = next(filter(None, wrapped.groups()), "").strip()
        marks.append(f"{text[: text.find(inner)]!r} before numbers")
    noted = FOOTNOTES.fullmatch(inner)
    if noted:
        inner = noted["number"]
        marks.append(repr(noted["mark"]))
    spread = PLUS_MINUS.fullmatch(inner)
    if spread:
        inner = spread["number"] + spread["rest"]
        marks.append("uncertainties behind ±")
    measured = UNIT.fullmatch(inner.strip())
    if measured:
        inner, unit = measured["number"], measured["unit"]
    inner = inner.strip()
    return (
        Peeled(inner, unit, tuple(marks)) if NUMBER.fullmatch(inner) else Peeled(text)
    )


def is_marked(text):
    """Whether a text is a number with marks around it."""
    peeled = peel(text)
    return bool(peeled.unit or peeled.marks)


def alike_marked(one, other):
    """Whether two texts are numbers with the same marks, and both have a unit or none."""
    one, other = peel(one), peel(other)
    return (bool(one.unit), one.marks) == (bool(other.unit), other.marks)


def common_unit(peeled, counts):
    """The unit of half the rows or more, or "".

    Parameters
    ----------
    peeled : sequence of Peeled
    counts : ndarray of int
        How often each comes.

    Returns
    -------
    str
    """
    units = Counter()
    for entry, count in zip(peeled, counts, strict=True):
        if entry.unit:
            units[entry.unit] += int(count)
    unit, rows = units.most_common(1)[0] if units else ("", 0)
    return unit if 2 * rows >= np.sum(counts) else ""


def begins_with_number(text):
    """Whether a text begins with a number, whatever follows."""
    return bool(BEGINNING.match(text))
