"""Run the entries and show the outcome as a table."""

from __future__ import annotations

import importlib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from html import escape

import pandas as pd

from mebnb.documents.entries import DOCUMENTS, LOST, VERDICTS, run_entry
from mebnb.published.map import cell_link, entry_places

NOT_HOLDING = ("WRONG", LOST, "AMBIGUOUS", "HARMLESS")
ALSO_CHECKED = "also-checked"  # the cell of a notebook that calls `also_checked`

COLUMNS = [
    "id",
    "place",
    "statement",
    "verdict",
    "violation",
    "printed_violation",
    "tolerance",
    "seconds",
    "passed",
    "status",
    "corrected",
    "witness",
]


def all_entries(document=None, ids=None):
    """The entries of one document or of all, in reading order.

    Parameters
    ----------
    document : str or None
        "report", "slides", "me2", "derived"; None for all.
    ids : iterable of str or None
        Only these ids.

    Returns
    -------
    list of Entry

    Raises
    ------
    ValueError
        For an unknown document or id; the message lists the known ones.
    """
    if document is not None and document not in DOCUMENTS:
        raise ValueError(
            f"document must be one of {', '.join(DOCUMENTS)}, found {document!r}"
        )
    entries = []
    for name in DOCUMENTS if document is None else (document,):
        entries += importlib.import_module(f"mebnb.documents.{name}").ENTRIES
    if ids is None:
        return entries
    wanted = [ids] if isinstance(ids, str) else list(ids)
    known = {entry.id: entry for entry in entries}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(
            f"ids holds unknown entries {', '.join(map(repr, unknown))}; known are "
            f"{', '.join(known)}"
        )
    return [known[name] for name in wanted]


@dataclass(frozen=True)
class DerivationTable:
    """The outcome of `check_derivations`.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row an entry; `violation` belongs to the form that must hold,
        `printed_violation` to the printed one where that differs; `passed` is a
        nullable boolean, missing where data were missing.
    """

    frame: pd.DataFrame

    @property
    def passed(self):
        """Whether no check failed (checks without data do not count as failed)."""
        return not (~self.frame["passed"]).any()

    @property
    def missing(self):
        """The ids whose data were not at hand."""
        return list(self.frame.loc[self.frame["status"] != "run", "id"])

    def outcomes(self):
        """What came out, one readable line an entry, the same on every machine.

        Returns
        -------
        pandas.DataFrame
            Indexed by id; columns place, verdict, outcome.
        """
        rows = [
            {
                "id": row.id,
                "place": row.place,
                "verdict": row.verdict,
                "outcome": _told(row),
            }
            for row in self.frame.itertuples()
        ]
        return pd.DataFrame(rows).set_index("id")

    def ticks(self):
        """The same outcomes, one line an entry, with the statements folded.

        Returns
        -------
        Ticks
        """
        return Ticks(self)

    def __repr__(self):
        return f"{self.outcomes().to_string()}\n{self.summary()}"

    def _repr_html_(self):
        rows = (
            _verdict_row(escape(row.id), row, _told(row))
            for row in self.frame.itertuples()
        )
        return _wide_table(("check", "outcome", "statement"), rows)

    def summary(self):
        """One sentence: how many entries, verdicts, failures and missing data."""
        verdicts = Counter(self.frame["verdict"])
        counted = ", ".join(f"{count} {name}" for name, count in verdicts.most_common())
        passed = self.frame["passed"]
        failed = list(self.frame.loc[(~passed).fillna(False), "id"])
        return (
            f"{len(self.frame)} entries ({counted}): {passed.sum()} passed, "
            f"{len(failed)} failed{': ' + ', '.join(failed) if failed else ''}, "
            f"{len(self.missing)} without data"
            f"{': ' + ', '.join(self.missing) if self.missing else ''}"
        )


@dataclass(frozen=True)
class Ticks:
    """A `DerivationTable` as lines: a tick or a cross, the verdict, the outcome.

    Attributes
    ----------
    table : DerivationTable
    """

    table: DerivationTable

    def __repr__(self):
        return "\n".join(
            f"{mark} {name} {verdict}: {told}"
            for mark, name, verdict, told in self._lines()
        )

    def _repr_html_(self):
        lines = "<br>".join(
            f"{mark} <strong>{escape(name)}</strong> {verdict}: {escape(told)}"
            for mark, name, verdict, told in self._lines()
        )
        folded = (
            f"<details><summary>What was checked</summary>{self.table._repr_html_()}"
        )
        return f"<p>{lines}</p>{folded}</details>"

    def _lines(self):
        for row in self.table.frame.itertuples():
            mark = "?" if row.passed is pd.NA else "✓" if row.passed else "✗"
            yield mark, row.id, row.verdict, _told(row)


def _told(row):
    """The outcome of one entry in words; bounds instead of last digits."""
    if row.passed is pd.NA:
        return row.status
    if not row.passed:
        return f"FAILED: violation {row.violation:.1e}, tolerance {row.tolerance:.0e}"
    within = f"(tolerance {row.tolerance:.0e})"
    if failure := told_failure(row):
        return f"{failure}; corrected form holds {within}"
    return f"{'corrected form holds' if row.corrected else 'holds'} {within}"


def told_failure(row):
    """How the form that was read fails, in words.

    Parameters
    ----------
    row : object
        With `verdict` and `witness`, as an entry has them.

    Returns
    -------
    str
        Empty where the verdict does not say that it fails.
    """
    forms = {"WRONG": "printed form", LOST: "form in the scan"}
    form = forms.get(row.verdict)
    return f"{form} fails: {row.witness}" if form else ""


def _correction(row):
    return f"<br><em>corrected:</em> {escape(row.corrected)}" if row.corrected else ""


@dataclass(frozen=True)
class Errata:
    """The entries of one document, grouped by verdict; nothing is run.

    Attributes
    ----------
    document : str
    frame : pandas.DataFrame
        Columns id, place, statement, verdict, corrected, witness.
    """

    document: str
    frame: pd.DataFrame

    def __repr__(self):
        return self.frame.to_string(index=False)

    def _repr_html_(self):
        parts = []
        for verdict, rows in self.frame.groupby("verdict", sort=False):
            anchor = f"errata-{self.document}-{verdict.lower().replace(' ', '-')}"
            body = (
                f'<tr><th scope="row">{_linked(row.id)}</th><td>{escape(row.place)}</td>'
                f"<td>{escape(row.statement)}</td><td>{escape(row.corrected)}</td>"
                f"<td>{escape(row.witness)}</td></tr>"
                for row in rows.itertuples()
            )
            printed = "in the text we read" if verdict == LOST else "printed"
            head = "id", "place", printed, "corrected, or a remark", "witness"
            parts.append(
                f'<p id="{anchor}"><strong>{verdict}: {len(rows)} items</strong></p>'
                + _wide_table(head, body)
            )
        return "".join(parts) or "<p>no item with this verdict</p>"


def errata(document, verdicts=NOT_HOLDING):
    """What is printed in a document and does not simply hold.

    Parameters
    ----------
    document : str
        "report", "slides", "me2" or "derived".
    verdicts : sequence of str
        In the order in which they are shown.

    Returns
    -------
    Errata

    Raises
    ------
    ValueError
        For an unknown document or verdict.
    """
    for verdict in verdicts:
        if verdict not in VERDICTS:
            raise ValueError(
                f"verdict must be one of {', '.join(VERDICTS)}, found {verdict!r}"
            )
    entries = all_entries(document)
    columns = ["id", "place", "statement", "verdict", "corrected", "witness"]
    rows = [
        [getattr(entry, column) for column in columns]
        for verdict in verdicts
        for entry in entries
        if entry.verdict == verdict
    ]
    return Errata(document, pd.DataFrame(rows, columns=columns))


def _wide_table(head, rows, caption=""):
    """An HTML table that scrolls by itself where it is too wide."""
    names = "".join(f'<th scope="col">{name}</th>' for name in head)
    return (
        f'<div style="overflow-x:auto"><table>{caption}'
        f"<thead><tr>{names}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _verdict_row(name, entry, told):
    """An entry as a row: its name as HTML, verdict and what is told of it, statement."""
    return (
        f'<tr><th scope="row">{name}<br>{escape(entry.place)}</th>'
        f"<td><strong>{entry.verdict}</strong><br>{escape(told)}</td>"
        f"<td>{escape(entry.statement)}{_correction(entry)}</td></tr>"
    )


def _linked(name):
    """An entry's id as a link to the cell that shows it."""
    return cell_link(*entry_places()[name], name)


@dataclass(frozen=True)
class Statements:
    """Entries with their verdicts, folded under a line; nothing is run.

    Attributes
    ----------
    entries : tuple of Entry
    linked : bool
        Whether each id leads to the cell that shows its entry.
    """

    entries: tuple
    linked: bool

    def __repr__(self):
        lines = [f"{e.id} {e.place}: {e.verdict}" for e in self.entries]
        return "\n".join([self._summary(), *lines])

    def _repr_html_(self):
        named = _linked if self.linked else escape
        rows = (_verdict_row(named(e.id), e, told_failure(e)) for e in self.entries)
        caption = (
            "<caption>Verdicts of the check list. Nothing is run here; "
            "<code>mebnb check</code> runs every entry.</caption>"
        )
        table = _wide_table(("id", "verdict", "statement"), rows, caption)
        return f"<details><summary>{self._summary()}</summary>{table}</details>"

    def _summary(self):
        found = Counter(entry.verdict for entry in self.entries)
        counted = ", ".join(f"{found[name]} {name}" for name in VERDICTS if found[name])
        return f"{len(self.entries)} statements: {counted}"


def holding(document):
    """What is printed in a document and holds, each with a link to where it is shown.

    Parameters
    ----------
    document : str
        "report", "slides", "me2" or "derived".

    Returns
    -------
    Statements
    """
    return Statements(
        tuple(e for e in all_entries(document) if e.verdict == "HOLDS"), linked=True
    )


def also_checked(notebook):
    """The entries on a notebook's subject that none of its other cells shows.

    Parameters
    ----------
    notebook : str
        File name without ".ipynb".

    Returns
    -------
    Statements
    """
    here = (notebook, ALSO_CHECKED)
    places = entry_places()
    return Statements(
        tuple(e for e in all_entries() if places[e.id] == here), linked=False
    )


def check_derivations(document=None, ids=None, jobs=1):
    """Run the checks and return what came out.

    Parameters
    ----------
    document : str or None
        "report", "slides", "me2", "derived"; None for all.
    ids : iterable of str or None
        Only these ids.
    jobs : int
        Processes to share the work.

    Returns
    -------
    DerivationTable

    Raises
    ------
    ValueError
        For an unknown document or id.
    """
    entries = all_entries(document, ids)
    if jobs == 1:
        rows = [_row(entry) for entry in entries]
    else:
        with ProcessPoolExecutor(jobs) as pool:
            rows = list(pool.map(_row_by_id, [entry.id for entry in entries]))
    frame = pd.DataFrame(rows, columns=COLUMNS).astype({"passed": "boolean"})
    return DerivationTable(frame)


def _row_by_id(name):
    return _row(all_entries(ids=[name])[0])


def _row(entry):
    outcome = run_entry(entry)
    return {
        "id": entry.id,
        "place": entry.place,
        "statement": entry.statement,
        "verdict": entry.verdict,
        "violation": outcome.violation,
        "printed_violation": outcome.printed_violation,
        "tolerance": entry.tolerance,
        "seconds": outcome.seconds,
        "passed": outcome.passed,
        "status": outcome.status,
        "corrected": entry.corrected,
        "witness": entry.witness,
    }
