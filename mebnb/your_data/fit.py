"""From a file to a ball and scores in one go, for the command line and for scripts."""

from __future__ import annotations

import bz2
import gzip
import lzma
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from mebnb.report.words import for_spreadsheets
from mebnb.writing import write_file
from mebnb.your_data import Table, beside_ours, read_rows, read_table
from mebnb.your_data.advice import cautions, label_counts, ranked, support_rows
from mebnb.your_data.model import BallModel, fit_balls, load_model

__all__ = ["Fit", "fit_file", "score_file"]

FAR_COLUMN = 50.0
"""Scales from the training rows at which a whole column is doubted."""

# No time of day goes into a packed file: the same scores are the same bytes.
PACKINGS = {
    ".gz": lambda file: gzip.GzipFile("", "wb", fileobj=file, mtime=0),
    ".bz2": lambda file: bz2.BZ2File(file, "wb"),
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115 (the caller closes)
}

LISTED = 10
"""Rows in the list of the most abnormal ones."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A model and the rows that it scored.

    Attributes
    ----------
    model : BallModel
    scored : Table
    scores : pandas.DataFrame
        Of the scored table's complete rows, from `BallModel.score`.
    trained_on : Table or None
        None where the model was read from a file; then so are the next two.
    support : pandas.DataFrame or None
        The rows that hold the hard ball of the training rows up.
    cautions : list of str or None
        What to keep in mind before the scores of the training rows are believed.
    """

    model: BallModel
    scored: Table
    scores: pd.DataFrame
    trained_on: Table | None = None
    support: pd.DataFrame | None = None
    cautions: list[str] | None = None

    def all_scores(self):
        """Scores of every row of the scored file, in its order.

        Returns
        -------
        pandas.DataFrame
            row, the row's name where there is one, score, alarm, mostly; the last three
            are missing where a value of the row is.
        """
        table = self.scored
        named = pd.DataFrame({"row": np.arange(1, table.total + 1)})
        if table.identities is not None:
            name = beside_ours(table.identities.name)
            named[name] = table.identities.to_numpy()
        scores = self.scores.set_axis(table.rows - 1)
        scores = scores.astype({"alarm": "boolean", "mostly": "string"})
        return named.join(scores)

    def write_scores(self, path):
        """Write `all_scores` as CSV, packed where the name ends in .gz, .bz2 or .xz.

        Parameters
        ----------
        path : path

        Raises
        ------
        CannotWrite
            When the file cannot be written; what stood there stays.
        """
        scores = for_spreadsheets(self.all_scores())
        packed = PACKINGS.get(Path(path).suffix.lower(), nullcontext)

        def write(file):
            with packed(file) as inner:
                scores.to_csv(inner, index=False, mode="wb")

        write_file(path, write)

    def to_dict(self):
        """The whole of it as plain values, for JSON."""
        scored = _file(self.scored) | {"alarms": int(self.scores["alarm"].sum())}
        return {
            "model": asdict(self.model),
            "trained_on": _file(self.trained_on) if self.trained_on else None,
            "support_of_the_hard_ball": _records(self.support),
            "scored": scored,
            "most_abnormal": _records(self._top()),
            "cautions": self.cautions,
        }

    def __str__(self):
        parts = []
        if self.trained_on:
            parts.append(_described(self.trained_on))
            if self.trained_on.labels is not None:
                parts.append(
                    [label_counts(self.trained_on, self._own_scores()).to_string()]
                )
        parts.append(_told(self.model))
        if self.support is not None:
            parts.append(
                [
                    f"The hard ball is held up by {len(self.support)} rows; the heaviest:",
                    _printed(self.support.head(LISTED)),
                ]
            )
        if self.scored is not self.trained_on:
            parts.append(_described(self.scored))
        alarms = int(self.scores["alarm"].sum())
        said = f"{alarms} of {len(self.scores)} rows of {self.scored.name} lie outside."
        if len(self.scores):
            said += " The most abnormal (score: distance from the center in radii):"
            parts.append([said, _printed(self._top())])
        else:
            parts.append([said])
        if self.cautions:
            parts.append(["What to believe:", *(f"  {word}" for word in self.cautions)])
        return "\n\n".join("\n".join(lines) for lines in parts)

    def _own_scores(self):
        """Scores of the training file, where that is the one that was scored."""
        return self.scores if self.scored is self.trained_on else None

    def _top(self):
        return ranked(self.scored, self.model, self.scores, LISTED)


def fit_file(train, new=None, *, nu=0.05, scaling="standard", **reading):
    """Fit a ball to a file and score that file or another.

    Parameters
    ----------
    train : path
        CSV or Parquet.
    new : path, optional
        The file to score; `train` itself by default.
    nu, scaling
        As in `fit_model`.
    **reading
        label, nominal, columns, leave and identity, as in `read_table`.

    Returns
    -------
    Fit

    Raises
    ------
    TableError
        As `read_table`, `fit_model` and `score_file`.
    """
    table = read_table(train, **reading)
    (model, _), (hard_model, hard) = fit_balls(table, nu=nu, scaling=scaling)
    support = support_rows(table, hard_model, hard)
    scores = model.score(table.values)
    told = cautions(table, model, scores, support)
    made = Fit(model, table, scores, table, support, told)
    if new is None:
        return made
    scored = score_file(model, new)
    return replace(made, scored=scored.scored, scores=scored.scores)


def score_file(model, new, *, identity=None):
    """Score a file by a model.

    Parameters
    ----------
    model : BallModel or path
        Or the JSON file of one.
    new : path
        CSV or Parquet, with the model's columns in any order.
    identity : str, optional
        The column that names the rows, where the file has it; the model's by default.

    Returns
    -------
    Fit
        Without what is known of the training rows.

    Raises
    ------
    TableError
        As `load_model` and `read_rows`.
    """
    if not isinstance(model, BallModel):
        model = load_model(model)
    table = read_rows(new, model.columns, identity or model.identity, model.decimal)
    return Fit(model, _with_far_columns(table, model), model.score(table.values))


def _with_far_columns(table, model):
    """The table, with a note on columns that lie far from all training rows."""
    far = [
        name
        for name, shift, scale in zip(
            model.columns, model.shift, model.scale, strict=True
        )
        if len(table.rows)
        and abs(table.values[name].median() - shift) > FAR_COLUMN * scale
    ]
    if not far:
        return table
    note = (
        f"{', '.join(far[:5])}: most rows lie far from all training rows; check units, "
        "decimal sign and thousands"
    )
    return replace(table, notes=[*table.notes, note])


def _records(frame):
    """Rows as plain values, None where one is missing."""
    if frame is None:
        return None
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{name: _plain(value) for name, value in row.items()} for row in rows]


def _plain(value):
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, (str, int, float, type(None))) else str(value)


def _printed(frame):
    return frame.to_string(index=False, float_format=lambda value: f"{value:.6g}")


def _file(table):
    return {
        "name": table.name,
        "rows": table.total,
        "rows_used": len(table.rows),
        "notes": table.notes,
        "columns": _records(table.readings.reset_index()),
    }


def _told(model):
    proof = "certified" if model.certified else "NOT certified"
    return [
        f"{model.name}: radius {model.radius:.6g} in {len(model.columns)} columns, scaling "
        f"{model.scaling}; {proof}, relative gap {model.relative_gap:.1e}; "
        f"{model.outside} of {model.training_rows} training rows outside"
    ]


def _described(table):
    used = table.readings["used"] == "yes"
    lines = [
        f"{table.name}: {len(table.rows)} of {table.total} rows and {used.sum()} of "
        f"{len(used)} columns are used",
        *(f"  {note}" for note in table.notes),
    ]
    told = table.readings[table.readings["why"] != ""]
    for name, reading in told.head(20).iterrows():
        use = "" if reading["used"] == "yes" else "not used: "
        lines.append(f"  {name}: {use}{reading['why']}")
    if len(told) > 20:
        lines.append(f"  and {len(told) - 20} columns more")
    return lines
