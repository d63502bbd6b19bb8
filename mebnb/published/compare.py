"""The published tables, and the comparison of a reproduction with them, cell by cell.

`published_table(name)` gives a table as printed: every cell is text, so that
"0.50" keeps its two decimals. `compare` sets a run beside it and gives each
cell a verdict; no cell is left without one.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from html import escape
from importlib.resources import files
from numbers import Real

import pandas as pd

__all__ = [
    "DIFFERS",
    "EQUAL",
    "NOT_COMPARABLE",
    "ROUNDING",
    "SPREAD",
    "VERDICTS",
    "Comparison",
    "compare",
    "list_published",
    "one_unit_off",
    "published_table",
    "said_of",
]

EQUAL = "equal as printed"
ROUNDING = "decided by rounding"
SPREAD = "agrees within the spread"
DIFFERS = "differs"
NOT_COMPARABLE = "not comparable"
VERDICTS = (EQUAL, ROUNDING, SPREAD, DIFFERS, NOT_COMPARABLE)

CELL = ("column", "published", "reproduced", "verdict", "remark")
COLOURS = {
    EQUAL: "#1b6e3c",
    ROUNDING: "#7a5200",
    SPREAD: "#205d9e",
    DIFFERS: "#a3201d",
    NOT_COMPARABLE: "#5c5c5c",
}

WORDS = {
    "active_set_size": "active set",
    "breast_cancer": "breast cancer",
    "cpu_ms": "CPU (ms)",
    "cpu_s": "CPU (s)",
    "dataset": "data set",
    "f1_pct": "F1 (%)",
    "fn": "FN",
    "fp": "FP",
    "gaussian": "Gaussian",
    "gene_expression": "gene expression",
    "iranian_churn": "churn",
    "maternal_risk": "maternal risk",
    "MEB_A": "MEB(A)",
    "optimal_k": "optimal K",
    "recall_diminishing_step": "recall, diminishing step",
    "recall_short_step": "recall, short step",
    "recall_test": "recall, test",
    "recall_train": "recall, training",
    "time_ms": "time (ms)",
    "vertebral_column": "vertebral column",
}
"""What columns, tables, algorithms and data sets are called, where that is not their name."""

TABLE = re.compile(r"(report|slides|me2)_table(\d+)_(\w+)")
DOCUMENTS = {"report": "Report", "slides": "Slides", "me2": "Paper"}


def list_published():
    """Names of the published tables.

    Returns
    -------
    list of str
    """
    return sorted(entry.name.removesuffix(".csv") for entry in _tables().iterdir())


def published_table(name):
    """A published table as printed.

    Parameters
    ----------
    name : str
        One of `list_published()`.

    Returns
    -------
    pandas.DataFrame of str
        Blank where nothing was published. `attrs["name"]` is the table's name.

    Raises
    ------
    ValueError
        When no table has this name.

    Examples
    --------
    >>> published_table("report_table1_uniform")[["algorithm", "radius"]]
      algorithm    radius
    0      ASFW  1.019375
    1      BPFW  1.019365
    2     APPFW  1.019697
    """
    if name not in list_published():
        known = ", ".join(list_published())
        raise ValueError(f"name must be one of {known}; found {name!r}")
    with (_tables() / f"{name}.csv").open(encoding="utf-8") as file:
        table = pd.read_csv(file, dtype=str, keep_default_na=False)
    table.attrs["name"] = name
    return table


def one_unit_off(printed, units=1):
    """A printed number moved by units of its last digit, with the same decimals.

    Parameters
    ----------
    printed : str
    units : int

    Returns
    -------
    str

    Examples
    --------
    >>> one_unit_off("0.50"), one_unit_off("380", -1)
    ('0.51', '379')
    """
    return str(Decimal(printed) + Decimal(units).scaleb(-_decimals(printed)))


def _tables():
    return files("mebnb.published") / "tables"


# --- the comparison ----------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """A published table beside its reproduction.

    Attributes
    ----------
    name : str
        Name of the published table.
    keys : tuple of str
        The columns that name a row.
    frame : pandas.DataFrame
        One row for each published cell: the keys, column, published, reproduced,
        verdict, remark; all text.
    unpublished : int
        Rows of the reproduction that the published table does not have.
    """

    name: str
    keys: tuple[str, ...]
    frame: pd.DataFrame
    unpublished: int = 0

    def counts(self):
        """Number of cells for each verdict that occurs.

        Returns
        -------
        pandas.Series of int
        """
        found = self.frame["verdict"].value_counts()
        return found.reindex([v for v in VERDICTS if v in found]).rename("cells")

    def wide(self):
        """The table in its published shape, each cell with both numbers and verdict.

        Returns
        -------
        pandas.DataFrame of str
            Index: the keys. "64, equal as printed" or "66 / 67, decided by rounding"
            (published / reproduced).
        """
        table = {
            key: {column: f"{_both(c)}, {c['verdict']}" for column, c in cells.items()}
            for key, cells in self._rows().items()
        }
        wide = pd.DataFrame(list(table.values()), columns=self._columns()).fillna("")
        wide.index = pd.MultiIndex.from_tuples(table, names=self.keys)
        return wide

    def _rows(self):
        """Row keys -> column -> the cell's record, in published order."""
        rows = {}
        for record in self.frame.to_dict("records"):
            key = tuple(record[name] for name in self.keys)
            rows.setdefault(key, {})[record["column"]] = record
        return rows

    def _columns(self):
        return list(dict.fromkeys(self.frame["column"]))

    def only(self, *verdicts):
        """The cells with one of these verdicts.

        Parameters
        ----------
        *verdicts : str
            From `VERDICTS`.

        Returns
        -------
        pandas.DataFrame
            Rows of `frame`.

        Raises
        ------
        ValueError
            When a word is not a verdict.
        """
        for verdict in verdicts:
            if verdict not in VERDICTS:
                raise ValueError(
                    f"verdict must be one of {', '.join(VERDICTS)}; found {verdict!r}"
                )
        return self.frame[self.frame["verdict"].isin(verdicts)]

    def summary(self):
        """How many cells have which verdict, in one line."""
        cells = ", ".join(f"{n} {verdict}" for verdict, n in self.counts().items())
        summary = f"{self.name}: {len(self.frame)} published cells: {cells}"
        if self.unpublished:
            summary += f"; {self.unpublished} reproduced rows were not published"
        return summary

    def _caption(self):
        """The summary in the words of a reader."""
        cells = ", ".join(
            f"{n} {said_of(n, verdict)}" for verdict, n in self.counts().items()
        )
        caption = f"{_spoken(self.name)}: {len(self.frame)} published cells, {cells}"
        if self.unpublished:
            rows = "row was" if self.unpublished == 1 else "rows were"
            caption += f"; {self.unpublished} reproduced {rows} not published"
        return caption

    def __repr__(self):
        return f"{self.summary()}\n{self.frame.to_string(index=False)}"

    def _repr_html_(self):
        return self._table_html() + self._remarks_html()

    def _table_html(self):
        columns = self._columns()
        heads = [escape(_words(name)) for name in (*self.keys, *columns)]
        head = "".join(f'<th scope="col">{name}</th>' for name in heads)
        body = []
        for key, cells in self._rows().items():
            names = "".join(
                f'<th scope="row">{escape(WORDS.get(part, part))}</th>' for part in key
            )
            values = "".join(_cell_html(cells.get(column)) for column in columns)
            body.append(f"<tr>{names}{values}</tr>")
        return (
            '<div style="overflow-x:auto"><table>'
            f"<caption>{escape(self._caption())}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
            "</table></div>"
        )

    def _remarks_html(self):
        """One line for each remark, with the rows that it speaks of."""
        told = {}
        rows = self._rows()
        for key, cells in rows.items():
            for column, cell in cells.items():
                if cell["remark"]:
                    remark = (column, cell["verdict"], cell["remark"])
                    told.setdefault(remark, []).append(
                        ", ".join(WORDS.get(part, part) for part in key)
                    )
        items = []
        for (column, verdict, remark), whose in told.items():
            of_whom = "every row" if len(whose) == len(rows) > 1 else "; ".join(whose)
            line = f"{_words(column)} of {of_whom}: {verdict}; {remark}."
            items.append(f"<li>{escape(line)}</li>")
        return f"<ul>{''.join(items)}</ul>" if items else ""


def _both(cell):
    alone = cell["reproduced"] in ("", cell["published"]) or cell["verdict"] == EQUAL
    return cell["published"] if alone else f"{cell['published']} / {cell['reproduced']}"


def _cell_html(cell):
    if cell is None:
        return "<td></td>"
    verdict = cell["verdict"]
    return (
        f"<td>{escape(_both(cell))}<br>"
        f'<small style="color:{COLOURS[verdict]}">{verdict}</small></td>'
    )


def said_of(count, verdict):
    """A verdict as it is said of so many cells.

    Parameters
    ----------
    count : int
    verdict : str

    Returns
    -------
    str

    Examples
    --------
    >>> said_of(1, "differs"), said_of(4, "differs"), said_of(2, EQUAL)
    ('differs', 'differ', 'equal as printed')
    """
    verb, _, rest = verdict.partition(" ")
    many = {"differs": "differ", "agrees": "agree"}.get(verb, verb)
    return verdict if count == 1 else f"{many} {rest}".strip()


def _spoken(name):
    """Where a published table stands: "Report, Table 1 (uniform)"."""
    match = TABLE.fullmatch(name)
    if match is None:
        return name
    return f"{DOCUMENTS[match[1]]}, Table {match[2]} ({_words(match[3])})"


def _words(name):
    percent = " (%)" if name.endswith("_pct") else ""
    return WORDS.get(name, name.removesuffix("_pct").replace("_", " ") + percent)


def _short(value):
    """Two digits of a number, without a power of ten."""
    return f"{float(f'{value:.2g}'):g}"


def compare(
    published,
    reproduced,
    keys,
    *,
    times=(),
    rounding=None,
    spread=None,
    reasons=None,
):
    """Set a reproduction beside a published table and judge every published cell.

    The verdicts, in this order of precedence:

    - "not comparable": a time, or a cell that was not reproduced;
    - "decided by rounding": a perturbation far below the data's precision
      changes the value; the remark gives the observed range;
    - "equal as printed": the run, rounded to the printed decimals, is the
      printed text (halfway cases may round to either side);
    - "agrees within the spread": at most two standard errors apart;
    - "differs": with the caller's reason, or "unexplained".

    Parameters
    ----------
    published : str or pandas.DataFrame
        Name of a published table, or (a part of) what `published_table` gives.
    reproduced : pandas.DataFrame
        The key columns and columns named as in `published`, with numbers. A
        missing row or column, NaN and None mean "not reproduced"; rows that were
        not published are counted and left out.
    keys : str or sequence of str
        The columns that name a row; numbers match by value (0.001 is 1e-3).
    times : sequence of str
        Columns that are shown and never judged. Leave them out of `reproduced`
        where the output must be the same in every run.
    rounding : mapping, optional
        Cell -> (lowest, highest) value seen under perturbation.
    spread : mapping, optional
        Cell -> (standard error of the difference, number of repeats).
    reasons : mapping, optional
        Cell -> why it differs, or why it was not reproduced.

        A cell is a tuple of the row's keys and the column, "*" standing for any:
        ``("BPFW", "*", "iterations")``; the entry with fewest stars wins. A lone
        column name is short for that column in every row.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        When a key or column is missing, a row is ambiguous, or a mapping names a
        column that the published table does not have.
    """
    if isinstance(published, str):
        published = published_table(published)
    keys = (keys,) if isinstance(keys, str) else tuple(keys)
    columns = [column for column in published.columns if column not in keys]
    times = {times} if isinstance(times, str) else set(times)
    _check_columns("keys", keys, published.columns)
    _check_columns("keys", keys, reproduced.columns, where="reproduced")
    _check_columns("times", times, columns)
    runs = _rows_by_key(reproduced, keys, "reproduced")
    rows = _rows_by_key(published, keys, "published")
    _check_columns("reproduced", set(reproduced.columns) - set(keys), columns)

    judge = _Judge(
        times,
        _Cells("rounding", rounding, len(keys), columns),
        _Cells("spread", spread, len(keys), columns),
        _Cells("reasons", reasons, len(keys), columns),
    )
    cells = []
    for key, row in rows.items():
        for column in (column for column in columns if row[column] != ""):
            printed, value = row[column], runs.get(key, {}).get(column)
            names = [row[k] for k in keys]
            shown = _shown(value, printed)
            cells.append(
                [*names, column, printed, shown, *judge(key, column, printed, value)]
            )
    frame = pd.DataFrame(cells, columns=[*keys, *CELL])
    unpublished = len(set(runs) - set(rows))
    return Comparison(published.attrs.get("name", "table"), keys, frame, unpublished)


@dataclass(frozen=True)
class _Judge:
    """The verdict and the remark of one cell."""

    times: set
    rounding: _Cells
    spread: _Cells
    reasons: _Cells

    def __call__(self, key, column, printed, value):
        reason = self.reasons.of(key, column) or ""
        if column in self.times:
            return NOT_COMPARABLE, "times of different machines"
        if _missing(value):
            return NOT_COMPARABLE, reason or "not reproduced here"
        seen = self.rounding.of(key, column)
        if seen is not None and _is_wide(seen, printed):
            return ROUNDING, _range_remark(printed, seen)
        if _equal_as_printed(value, printed):
            return EQUAL, ""
        error = self.spread.of(key, column)
        if error is not None and isinstance(value, Real):
            standard_error, repeats = error
            difference = abs(float(value) - float(printed))
            remark = (
                f"difference {_short(difference)}, standard error {_short(standard_error)}, "
                f"{repeats} repeats"
            )
            # A difference of exactly two errors must not be decided by its last bit.
            if difference <= 2 * standard_error * (1 + 1e-12):
                return SPREAD, remark
            return DIFFERS, f"{reason or 'unexplained'} ({remark})"
        return DIFFERS, reason or "unexplained"


class _Cells:
    """Notes on cells, by row keys and column; "*" stands for any."""

    def __init__(self, name, notes, width, columns):
        self.notes = {
            self._pattern(name, cell, width, columns): note
            for cell, note in (notes or {}).items()
        }

    @staticmethod
    def _pattern(name, cell, width, columns):
        if isinstance(cell, str):
            cell = ("*",) * width + (cell,)
        if len(cell) != width + 1 or cell[-1] not in (*columns, "*"):
            raise ValueError(
                f"{name} names the cell {cell!r}, where a cell is {width} row keys "
                f"and one of the columns {', '.join(columns)}"
            )
        return (*(_canonical(part) for part in cell[:-1]), cell[-1])

    def of(self, key, column):
        """The note of the most specific pattern that fits, or None."""
        fitting = [pattern for pattern in self.notes if _fits(pattern, (*key, column))]
        if not fitting:
            return None
        return self.notes[min(fitting, key=lambda pattern: pattern.count("*"))]


def _fits(pattern, cell):
    return all(part in ("*", found) for part, found in zip(pattern, cell, strict=True))


def _rows_by_key(table, keys, name):
    rows = {}
    for record in table.to_dict("records"):
        key = tuple(_canonical(record[k]) for k in keys)
        if key in rows:
            raise ValueError(f"{name} has more than one row {', '.join(key)}")
        rows[key] = record
    if not rows:
        raise ValueError(f"{name} must have at least one row, found none")
    return rows


def _canonical(part):
    """A key by which "0.001", 0.001 and 1e-3 are the same."""
    try:
        return repr(float(part))
    except (TypeError, ValueError):
        return str(part)


def _check_columns(name, wanted, known, where="published"):
    for column in wanted:
        if column not in known:
            raise ValueError(
                f"{name} names the column {column!r}, but {where} has "
                f"{', '.join(known)}"
            )


def _missing(value):
    return value is None or pd.isna(value)


def _shown(value, printed=""):
    """A value with two decimals more than the published one has."""
    if _missing(value):
        return ""
    if not isinstance(value, Real):
        return str(value)
    if float(value).is_integer() and not _decimals(printed):
        return str(int(value))
    return f"{float(value):.{_decimals(printed) + 2}f}"


def _decimals(printed):
    return len(printed.partition(".")[2])


def _equal_as_printed(value, printed):
    if not isinstance(value, Real):
        return str(value) == printed
    return _number(printed) in _roundings(value, printed)


def _roundings(value, printed):
    """What a value may look like with the printed decimals: two at a halfway case."""
    if not math.isfinite(value):
        return set()
    unit = Decimal(1).scaleb(-_decimals(printed))
    exact, short = Decimal(float(value)), Decimal(repr(float(value)))
    return {
        exact.quantize(unit, ROUND_HALF_EVEN),
        short.quantize(unit, ROUND_HALF_EVEN),
        short.quantize(unit, ROUND_HALF_UP),
    }


def _number(printed):
    """The printed number, or None for a word."""
    try:
        return Decimal(printed)
    except InvalidOperation:
        return None


def _is_wide(seen, printed):
    """Whether the ends of a range look different with the printed decimals."""
    low, high = (_roundings(end, printed) for end in seen)
    return not low & high


def _range_remark(printed, seen):
    low, high = seen
    inside = low <= float(printed) <= high
    return (
        f"{_shown(low, printed)} to {_shown(high, printed)} seen under perturbation, "
        f"the published value {'within' if inside else 'outside'}"
    )
