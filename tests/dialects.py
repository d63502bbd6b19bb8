"""Random files as strangers write them, and what became of each when it was read.

Every file is made from a seed: a table, marks around its numbers, columns that measure
nothing, a way of writing it all. `outcome` compares what was written with what was read.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field

import numpy as np

from mebnb.your_data import TableError, read_table

WORDS = ("north", "south", "Süd", "east", "höher", "low", "mid")
CITIES = ("Paris, France", "New York", "Köln", "São Paulo, BR", "Rome", 'The "Hub", IE')
MEASURES = ("size", "weight", "temp", "flow", "größe", "speed", "dose")
ENDS = ("\n", "\r\n", "\r")


@dataclass
class Made:
    """A file, and what is in it.

    Attributes
    ----------
    text : str
    content : bytes
    measures : dict of str to ndarray
        What each column measures, NaN where missing or where no number is meant.
    others : dict of str to list of str
        Cells of the columns that measure nothing.
    numbers : ndarray of int
        The number of each row, counted from 1; totals between rows count.
    features : list of str
        What makes this file hard.
    """

    text: str = ""
    content: bytes = b""
    measures: dict = field(default_factory=dict)
    others: dict = field(default_factory=dict)
    numbers: np.ndarray | None = None
    features: list = field(default_factory=list)


# --- cells ---------------------------------------------------------------------------


def _written(values, digits, decimal):
    return [f"{value:.{digits}f}".replace(".", decimal) for value in values]


def _measure(rng, rows, decimal, made, name):
    """A column of measurements as cells; its values go into `made`."""
    digits = int(rng.choice([1, 1, 2, 2, 2, 3]))
    values = np.round(
        rng.normal(rng.choice([0, 10, 200]), rng.choice([1, 30]), rows), digits
    )
    mark = str(rng.choice(list(MARKS) + ["plain"] * len(MARKS)))
    if mark != "plain":
        made.features.append(f"{mark} in {name}")
    cells, values = MARKS.get(mark, _plain)(rng, values, digits, decimal)
    # In one column only: a row that lacks all is no row.
    gaps = rng.random(rows) < (0 if made.measures else rng.choice([0, 0.05]))
    made.measures[name] = np.where(gaps, np.nan, values)
    word = str(rng.choice(["", "NA", "?"]))
    return [word if gap else cell for cell, gap in zip(cells, gaps, strict=True)]


def _plain(rng, values, digits, decimal):
    return _written(values, digits, decimal), values


def _behind(marks, share=1.0):
    def marked(rng, values, digits, decimal):
        chosen = rng.choice(marks)
        cells = _written(values, digits, decimal)
        return [c + chosen if rng.random() < share else c for c in cells], values

    return marked


def _within(before, behind):
    def wrapped(rng, values, digits, decimal):
        return [
            f"{before}{c}{behind}" for c in _written(values, digits, decimal)
        ], values

    return wrapped


def _plus_minus(rng, values, digits, decimal):
    sign = rng.choice([" ± ", "±", " +/- "])
    spread = _written(rng.random(len(values)), digits, decimal)
    cells = _written(values, digits, decimal)
    return [c + sign + s for c, s in zip(cells, spread, strict=True)], values


def _grouped(sign):
    def grouped(rng, values, digits, decimal):
        values = np.round(np.abs(values) * 997 + 1000, digits)
        apart = sign or {".": ",", ",": "."}[decimal]
        cells = [f"{value:,.{digits}f}" for value in values]
        table = str.maketrans({",": apart, ".": decimal})
        return [cell.translate(table) for cell in cells], values

    return grouped


def _exponents(rng, values, digits, decimal):
    return [f"{value:.3E}".replace(".", decimal) for value in values], np.array(
        [float(f"{value:.3E}") for value in values]
    )


def _ranges(rng, values, digits, decimal):
    low = rng.integers(1, 40, len(values))
    cells = [
        f"{a}-{a + b}"
        for a, b in zip(low, rng.integers(1, 9, len(values)), strict=True)
    ]
    return cells, np.full(len(values), np.nan)


def _mixed_units(rng, values, digits, decimal):
    units = rng.choice([" kg", " g"], len(values))
    cells = _written(values, digits, decimal)
    factor = np.where(units == " g", 1e-3, 1.0)
    return [c + u for c, u in zip(cells, units, strict=True)], values * factor


def _other_script(rng, values, digits, decimal):
    digits_there = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
    return [
        c.translate(digits_there) for c in _written(values, digits, decimal)
    ], values


def _fractions(rng, values, digits, decimal):
    cells = [f"{n} 1/2" for n in rng.integers(0, 9, len(values))]
    return cells, np.full(len(values), np.nan)


def _whole(rng, values, digits, decimal):
    values = rng.integers(0, 12, len(values)).astype(float)
    return [f"{value:.0f}" for value in values], values


MARKS = {
    "unit": _behind(["°C", " kg", " mg/dL", " m²", "kPa"]),
    "unit in most rows": _behind(["°C", " kg"], 0.95),
    "footnotes": _behind(["*", "†", " [1]", "**"], 0.2),
    "footnotes everywhere": _behind(["*", "†", " [1]"]),
    "percent": _behind(["%", " %"]),
    "plus-minus": _plus_minus,
    "formula": _within('="', '"'),
    "apostrophe": _within("'", ""),
    "underscores": _grouped("_"),
    "blanks between thousands": _grouped("\u202f"),
    "thousands": _grouped(None),
    "exponents": _exponents,
    "ranges": _ranges,
    "mixed units": _mixed_units,
    "other script": _other_script,
    "fractions": _fractions,
    "whole numbers": _whole,
}
"""Ways to write a column of measurements."""


def _others(rng, rows):
    """Kinds of columns that measure nothing, each with its cells."""
    start, step = int(rng.integers(-50, 5000)), int(rng.choice([1, 2, 10, -1]))
    days = rng.integers(1, 28, rows)
    epoch = 1_600_000_000 + rng.integers(0, 10**7, rows)
    return {
        "nr": [str(start + step * at) for at in range(rows)],
        "transaction": map(str, rng.choice(10**6, rows, replace=False) + 10**6),
        "plz": [f"{n:05d}" for n in [*rng.integers(0, 9999, 3), *rng.integers(0, 99999, rows - 3)]],
        "seconds": map(str, epoch),
        "millis": [f"{n}{k:03d}" for n, k in zip(epoch, rng.integers(0, 999, rows), strict=True)],
        "day": [f"2024{m:02d}{d:02d}" for m, d in zip(rng.integers(1, 12, rows), days, strict=True)],
        "date": [f"2024-{m:02d}-{d:02d}" for m, d in zip(rng.integers(1, 12, rows), days, strict=True)],
        "long": [f"1{n:018d}" for n in rng.choice(10**9, rows, replace=False)],
        "site": rng.choice(WORDS, rows),
        "city": rng.choice(CITIES, rows),
        "name": [f"{rng.choice(['Ann', 'Bob', 'Zoë'])} {at}x" for at in range(rows)],
    }  # fmt: skip


# --- ways of writing -----------------------------------------------------------------


def _delimited(sign, **options):
    def write(rng, header, rows):
        out = io.StringIO()
        writer = csv.writer(out, delimiter=sign, lineterminator="\n", **options)
        writer.writerows([header, *rows])
        return out.getvalue()

    return write


def _with_index(rng, header, rows):
    rows = [[str(at), *row] for at, row in enumerate(rows)]
    return _delimited(",")(rng, ["", *header], rows)


def _excel(rng, header, rows):
    return "sep=;\n" + _delimited(";")(rng, header, rows)


def _trailing(rng, header, rows):
    return _delimited(",")(rng, header, [[*row, ""] for row in rows])


def _of_r(sign, quoted=True):
    def write(rng, header, rows):
        def cell(text):
            number = text.replace(".", "").replace("-", "").isdecimal() or text == "NA"
            if not quoted or number:
                return text
            inner = text.replace('"', r"\"" if sign == " " else '""')
            return f'"{inner}"'

        names = rng.choice([0, 1])
        named = [f"r{at}" if names else str(at) for at in range(1, len(rows) + 1)]
        lines = [sign.join(f'"{h}"' if quoted else h for h in header)]
        for name, row in zip(named, rows, strict=True):
            first = f'"{name}"' if quoted else name
            lines.append(sign.join([first, *(cell(text or "NA") for text in row)]))
        return "\n".join(lines) + "\n"

    return write


def _fixed_width(rng, header, rows):
    widths = [max(map(len, column)) + 1 for column in zip(header, *rows, strict=True)]
    right = rng.random() < 0.5
    lines = [
        " ".join(
            c.rjust(w) if right else c.ljust(w)
            for c, w in zip(row, widths, strict=True)
        )
        for row in [header, *rows]
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _unquoted(rng, header, rows):
    return "\n".join(",".join(row) for row in [header, *rows]) + "\n"


WRITERS = {
    "comma": (_delimited(","), "."),
    "comma, all quoted": (_delimited(",", quoting=csv.QUOTE_ALL), "."),
    "quoted decimal commas": (_delimited(","), ","),
    "semicolon": (_delimited(";"), ","),
    "semicolon, points": (_delimited(";"), "."),
    "tab": (_delimited("\t"), "."),
    "bar": (_delimited("|"), ","),
    "backslashes": (
        _delimited(",", quoting=csv.QUOTE_ALL, doublequote=False, escapechar="\\"),
        ".",
    ),
    "pandas": (_with_index, "."),
    "Excel": (_excel, ","),
    "trailing": (_trailing, "."),
    "R, blanks": (_of_r(" "), "."),
    "R, commas": (_of_r(","), "."),
    "R, semicolons": (_of_r(";"), ","),
    "R, unquoted": (_of_r(",", quoted=False), "."),
    "fixed width": (_fixed_width, "."),
    "unquoted": (_unquoted, "."),
    "unquoted decimal commas": (_unquoted, ","),
}
"""Ways to write a table, and the decimal sign that goes with each."""


def _encoded(rng, text, made):
    choices = (
        "utf-8",
        "utf-8",
        "utf-8-sig",
        "utf-16",
        "utf-16-le",
        "cp1252",
        "bad bytes",
    )
    encoding = str(rng.choice(choices))
    if encoding != "utf-8":
        made.features.append(encoding)
    if encoding == "bad bytes":
        # in a word near the top, beside sound letters beyond ASCII
        end = next(end for end in ("\r\n", "\r", "\n") if end in text)
        titled = f"Größe, Höhe und Süden, Ärger, am Straßenrand{end}{end}{text}"
        return titled.encode().replace("Höhe".encode(), b"H\xf6he", 1)
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode("utf-8")


def _sums(rng, header, rows, made):
    """Closing and inner sums, and rows without a value."""
    total = ["9.9" for _ in header]
    numbers = np.arange(1, len(rows) + 1)
    kind = str(rng.choice(["none"] * 6 + ["closing", "two", "inner", "empty"]))
    if kind != "none":
        made.features.append(f"sums: {kind}")
    if kind == "closing":
        rows = [*rows, [str(rng.choice(["Mean", "Total", "Sum"])), *total[1:]]]
    elif kind == "two":
        rows = [*rows, ["Sum", *total[1:]], ["Mean", *total[1:]]]
    elif kind == "inner":
        at = len(rows) // 2
        rows = [*rows[:at], ["Subtotal", *total[1:]], *rows[at:]]
        numbers[at:] += 1
    elif kind == "empty":
        for at in sorted(rng.integers(0, len(rows), 2), reverse=True):
            rows = [*rows[:at], ["" for _ in header], *rows[at:]]
    return rows, numbers


def make(seed):
    """A random file.

    Parameters
    ----------
    seed : int

    Returns
    -------
    Made
    """
    rng = np.random.default_rng(seed)
    made = Made()
    rows = int(rng.integers(24, 60))
    way = str(rng.choice(list(WRITERS)))
    write, decimal = WRITERS[way]
    made.features.append(way)
    names = [str(n) for n in rng.choice(MEASURES, rng.integers(2, 5), replace=False)]
    columns = {name: _measure(rng, rows, decimal, made, name) for name in names}
    others = _others(rng, rows)
    for name in rng.choice(list(others), rng.integers(0, 4), replace=False):
        columns[str(name)] = made.others[str(name)] = list(map(str, others[name]))
    order = [str(name) for name in rng.permutation(list(columns))]
    cells = [list(row) for row in zip(*(columns[name] for name in order), strict=True)]
    if not way.startswith(("R,", "fixed", "pandas")):
        cells, made.numbers = _sums(rng, order, cells, made)
    else:
        made.numbers = np.arange(1, rows + 1)
    text = write(rng, order, cells).replace("\n", str(rng.choice(ENDS)))
    made.content = _encoded(rng, text, made)
    return made


# --- what became of it ---------------------------------------------------------------


def outcome(made, path):
    """Write a file, read it, and say what became of it.

    Parameters
    ----------
    made : Made
    path : pathlib.Path

    Returns
    -------
    str
        "exact", "refused", "said" or "silent".
    list of str
        What differs, without a word of it.
    """
    path.write_bytes(made.content)
    try:
        table = read_table(path)
    except TableError:
        return "refused", []
    said, silent = [], []
    for name, meant in made.measures.items():
        if name not in table.readings.index:
            silent.append(f"{name} is not there")
            continue
        why = table.readings.loc[name, "why"]
        if name not in table.values:
            (said if why else silent).append(f"{name} is left out: {why}")
            continue
        wrong = _differs(table, made.numbers, meant, name)
        if wrong:
            (said if "read as" in why or "as they are" in why else silent).append(wrong)
    for name in set(table.values) - set(made.measures):
        told = any(note.startswith(f"{name} ") for note in table.notes)
        (said if told else silent).append(f"{name} is used")
    lost = _lost_rows(table, made)
    if lost:
        unread = any(
            "counts as missing" in why for why in table.readings["why"].to_list()
        )
        (said if unread else silent).append(f"rows that are not read: {lost}")
    named = table.identities
    if named is not None and named.name in made.others:
        there = [str(named.iloc[at - 1]).strip() for at in table.rows]
        meant = dict(zip(made.numbers, made.others[named.name], strict=True))
        if there != [meant.get(at, "").strip() for at in table.rows]:
            silent.append(f"names of rows in {named.name} differ")
    return "silent" if silent else "said" if said else "exact", silent


def _differs(table, numbers, meant, name):
    """What is wrong with the values of a column, or nothing."""
    known = dict(zip(numbers, meant, strict=True))
    strange = [row for row in table.rows if row not in known]
    if strange:
        return f"{name} has row {strange[0]}, which is none"
    right = np.array([known[row] for row in table.rows])
    same = np.isclose(table.values[name].to_numpy(), right, rtol=1e-14, atol=0)
    if same.all():
        return ""
    at = int((~same).argmax())
    return f"{name}: {table.values[name].iloc[at]!r} was {right[at]!r}"


def _lost_rows(table, made):
    """Rows that hold all that is used and are not in the table."""
    used = [made.measures[name] for name in table.values if name in made.measures]
    if not used:
        return 0
    whole = made.numbers[np.logical_and.reduce([np.isfinite(v) for v in used])]
    return len(set(whole) - set(table.rows))
