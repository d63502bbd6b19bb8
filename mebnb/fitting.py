"""From a file to a ball and scores in one go, for the command line and for scripts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from mebnb.models import BallModel, fit_model, load_model
from mebnb.table_studies import ranked, support_rows
from mebnb.tables import Table, TableError, read_table

__all__ = ["Fit", "fit_file", "score_file"]

LISTED = 10
"""Rows in the list of the most abnormal ones."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A model and the rows that it scored.

    Attributes
    ----------
    model : BallModel
    trained_on : Table or None
        None where the model was read from a file.
    support : pandas.DataFrame or None
        The rows that hold the hard ball of the training rows up.
    scored : Table
    scores : pandas.DataFrame
        Of the scored table's rows, from `BallModel.score`.
    """

    model: BallModel
    trained_on: Table | None
    support: pd.DataFrame | None
    scored: Table
    scores: pd.DataFrame

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
            named[table.identities.name] = table.identities.to_numpy()
        scores = self.scores.set_axis(table.rows - 1)
        scores = scores.astype({"alarm": "boolean", "mostly": "string"})
        return named.join(scores)

    def to_dict(self):
        """The whole of it as plain values, for JSON."""
        return {
            "model": asdict(self.model),
            "trained on": _file(self.trained_on) if self.trained_on else None,
            "support of the hard ball": _records(self.support),
            "scored": _file(self.scored)
            | {"alarms": int(self.scores["alarm"].sum())},
            "most abnormal": _records(self._top()),
        }

    def __str__(self):
        model, lines = self.model, []
        if self.trained_on:
            lines += [*_described(self.trained_on), ""]
        lines.append(
            f"{model.name}: radius {model.radius:.6g} in {len(model.columns)} columns, "
            f"scaling {model.scaling}; relative gap {model.relative_gap:.1e}; "
            f"{model.outside} of {model.training_rows} training rows outside"
        )
        if self.support is not None:
            lines += [
                "",
                f"The hard ball is held up by {len(self.support)} rows; the heaviest:",
                _printed(self.support.head(LISTED)),
            ]
        if self.scored is not self.trained_on:
            lines += ["", *_described(self.scored)]
        alarms = int(self.scores["alarm"].sum())
        lines += [
            "",
            f"{alarms} of {len(self.scores)} rows of {self.scored.name} lie outside. The "
            "most abnormal (score: distance from the center in radii):",
            _printed(self._top()),
        ]
        return "\n".join(lines)

    def _top(self):
        return ranked(self.scored, self.scores, LISTED)


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
        As `read_table` and `fit_model`.
    """
    table = read_table(train, **reading)
    model, _ = fit_model(table, nu=nu, scaling=scaling)
    support = support_rows(table, *fit_model(table, nu=0, scaling=scaling))
    if new is None:
        return Fit(model, table, support, table, model.score(table.values))
    made = score_file(model, new, identity=reading.get("identity"))
    return replace(made, trained_on=table, support=support)


def score_file(model, new, *, identity=None):
    """Score a file by a model.

    Parameters
    ----------
    model : BallModel or path
        Or the JSON file of one.
    new : path
        CSV or Parquet, with the model's columns in any order.
    identity : str, optional
        The column that names the rows; where the file has it.

    Returns
    -------
    Fit
        Without `trained_on`.

    Raises
    ------
    TableError
        As `load_model` and `read_table`.
    """
    if not isinstance(model, BallModel):
        model = load_model(model)
    try:
        table = read_table(new, columns=model.columns, identity=identity)
    except TableError as error:
        raise TableError(f"{Path(new).name} cannot be scored: {error}") from None
    return Fit(model, None, None, table, model.score(table.values))


def _records(frame):
    return None if frame is None else json.loads(frame.to_json(orient="records"))


def _printed(frame):
    return frame.to_string(index=False, float_format=lambda value: f"{value:.6g}")


def _file(table):
    return {
        "name": table.name,
        "rows": table.total,
        "rows used": len(table.rows),
        "notes": table.notes,
        "columns": _records(table.readings.reset_index()),
    }


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
