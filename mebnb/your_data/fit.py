"""From a file to a ball and scores in one go, for the command line and for scripts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd

from mebnb.report.words import for_spreadsheets
from mebnb.your_data import (
    Table,
    TableError,
    beside_ours,
    check_path,
    read_rows,
    read_table,
)
from mebnb.your_data.advice import (
    alarm_cautions,
    cautions,
    chosen_by,
    first_of_equal,
    flagged,
    label_counts,
    ranked,
    support_rows,
)
from mebnb.your_data.alarms import (
    ALPHA,
    FORMAT,
    AlarmModel,
    Reasons,
    fit_alarms,
    own_scores,
    restored_alarms,
)
from mebnb.your_data.model import (
    BallModel,
    damaged,
    fit_balls,
    load_model,
    read_kept,
)
from mebnb.your_data.packing import write_packed

__all__ = ["AlarmFit", "Fit", "fit_file", "load_any_model", "score_file"]

FAR_COLUMN = 50.0
"""Scales from the training rows at which a whole column is doubted."""

ANOTHER_LAW = 1e-3
"""A p-value below which new rows are said to be of another kind, as a whole."""

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
        scores = self.scores.astype({"alarm": "boolean", "mostly": "string"})
        return _beside_rows(self.scored, scores)

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
        write_packed(path, lambda file: scores.to_csv(file, index=False, mode="wb"))

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
        parts.append([self.model.told()])
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


@dataclass(frozen=True, eq=False)
class AlarmFit(Fit):
    """A model with p-values and the rows that it judged.

    Attributes
    ----------
    model : AlarmModel
    scored, trained_on, cautions
        As in `Fit`.
    scores : pandas.DataFrame
        Of the scored table's complete rows: score, p_value, alarm and, where fdr is
        set, discovery.
    reasons : Reasons
        Of the flagged rows: the discoveries where fdr is set, the alarms otherwise.
    """

    reasons: Reasons | None = None

    def all_scores(self):
        """What is known of every row of the scored file, in its order.

        Returns
        -------
        pandas.DataFrame
            row, the row's name where there is one, score, p_value, alarm, discovery
            where fdr is set; of flagged rows mostly (the column or pair that counts
            most), reason ("exact" or "approximate") and, of exact ones, clears_at (the
            value of the first column that clears the flag alone).
        """
        scores = self.scores.astype(
            {name: "boolean" for name in ("alarm", "discovery") if name in self.scores}
        )
        reasons, rows = self.reasons, self.reasons.rows
        told = pd.DataFrame({"mostly": reasons.words()}, index=rows, dtype="string")
        told["reason"] = "exact" if reasons.exact else "approximate"
        if reasons.clears_at is not None:
            told["clears_at"] = [
                reasons.clears_at[names[0]].iloc[at]
                for at, names in enumerate(reasons.named)
            ]
        return _beside_rows(self.scored, scores.join(told))

    def to_dict(self):
        """The whole of it as plain values, for JSON."""
        scored = _file(self.scored)
        for name, key in (("alarm", "alarms"), ("discovery", "discoveries")):
            if name in self.scores:
                scored[key] = int(self.scores[name].sum())
        return {
            "model": self.model.summary(),
            "trained_on": _file(self.trained_on) if self.trained_on else None,
            "scored": scored,
            "flagged": self._flagged_records(),
            "cautions": self.cautions,
        }

    def _flagged_records(self):
        reasons = self.reasons
        every = np.arange(len(reasons.rows))
        records = _records(self._flagged(every))
        parts = {"contributions": reasons.contributions}
        if reasons.exact:
            parts |= {"clears_at": reasons.clears_at, "together": reasons.together}
        for at, record in enumerate(records):
            record["mostly"] = list(reasons.named[at])
            record["reason"] = "exact" if reasons.exact else "approximate"
            for name, frame in parts.items():
                record[name] = _records(frame.iloc[[at]])[0]
        return records

    def __str__(self):
        parts = []
        if self.trained_on:
            parts.append(_described(self.trained_on))
            if self.trained_on.labels is not None:
                own = self._own_scores()
                parts.append([label_counts(self.trained_on, own).to_string()])
        parts.append(_told_alarms(self.model))
        if self.scored is not self.trained_on:
            parts.append(_described(self.scored))
        parts.append([*self._said(), *self._listed()])
        if self.cautions:
            parts.append(["What to believe:", *(f"  {word}" for word in self.cautions)])
        return "\n\n".join("\n".join(lines) for lines in parts)

    def _said(self):
        model, scores, name = self.model, self.scores, self.scored.name
        lines = [
            f"{int(scores['alarm'].sum())} of {len(scores)} rows of {name} are alarms: "
            f"their p-value is at most {model.alpha:g}."
        ]
        if model.fdr is not None:
            lines.append(
                f"{int(scores['discovery'].sum())} are discoveries, of which a share of "
                f"at most {model.fdr:g} is false on average."
            )
        return lines

    def _listed(self):
        reasons = self.reasons
        if not len(reasons.rows):
            return []
        how = (
            "in closed form"
            if reasons.exact
            else "approximate: each column is replaced by that of the nearest nominal row"
        )
        shown = self._flagged(first_of_equal(self.scored, reasons, LISTED))
        return [f"The most abnormal of them, and why ({how}):", _printed(shown)]

    def _flagged(self, chosen):
        return flagged(self.scored, self.model, self.scores, self.reasons, chosen)


def fit_file(
    train,
    new=None,
    *,
    nu=0.05,
    scaling="standard",
    detector=None,
    alpha=None,
    fdr=None,
    **reading,
):
    """Fit a ball to a file and score that file or another.

    Parameters
    ----------
    train : path
        CSV or Parquet.
    new : path, optional
        The file to score; `train` itself by default.
    nu, scaling
        As in `fit_model`.
    detector, alpha, fdr : optional
        As in `fit_alarms`; where one is given, a part of the nominal rows is kept from
        the detector, and rows are judged by p-values.
    **reading
        label, nominal, columns, leave and identity, as in `read_table`.

    Returns
    -------
    Fit
        An `AlarmFit` where rows are judged by p-values.

    Raises
    ------
    TableError
        As `read_table`, `fit_model` and `score_file`.
    """
    table = read_table(train, **reading)
    if (detector, alpha, fdr) != (None, None, None):
        asked = {"detector": detector or "auto", "fdr": fdr, "nu": nu}
        asked["alpha"] = ALPHA if alpha is None else alpha
        return _fit_with_alarms(table, new, scaling=scaling, **asked)
    (model, _), (hard_model, hard) = fit_balls(table, nu=nu, scaling=scaling)
    support = support_rows(table, hard_model, hard)
    scores = model.score(table.values)
    told = cautions(table, model, scores, support)
    made = Fit(model, table, scores, table, support, told)
    if new is None:
        return made
    scored = score_file(model, new)
    return replace(made, scored=scored.scored, scores=scored.scores)


def _fit_with_alarms(table, new, *, fdr, **asked):
    if fdr is not None and new is None and table.is_nominal.all():
        raise TableError(
            "fdr must have rows to judge beside those that are learned from, found none "
            f"in {table.name}; name a label, or a file to score"
        )
    model = fit_alarms(table, fdr=fdr, **asked)
    told = alarm_cautions(table, model, own=new is None)
    if new is None:
        scores, judges = own_scores(table, model)
        told = _resolution(model, int((~table.is_nominal).sum())) + told
        reasons = model.reasons(table.values, scores, judges)
        told += _not_all(model, scores, reasons)
        return AlarmFit(model, table, scores, table, None, told, reasons)
    scored = score_file(model, new)
    told = [*scored.cautions, *told]
    return replace(scored, trained_on=table, cautions=told)


def _scored_with_alarms(model, table):
    scores = model.score(table.values)
    told = _resolution(model, len(scores))
    if len(scores):
        same = model.alarms.same_law(model.points(table.values))
        if same < ANOTHER_LAW:
            told.append(
                f"The rows of {table.name} are not drawn as the nominal rows (Kolmogorov "
                f"and Smirnov, p = {same:.1g}): many are anomalies, or something has "
                "changed, and then no rate of false alarms is promised."
            )
    reasons = model.reasons(table.values, scores)
    told += _not_all(model, scores, reasons)
    return AlarmFit(model, table, scores, cautions=told, reasons=reasons)


def _not_all(model, scores, reasons):
    """A sentence where more rows are flagged than get reasons."""
    flagged_rows, told = len(model.flagged(scores)), len(reasons.rows)
    if told == flagged_rows:
        return []
    return [
        f"{flagged_rows} rows are flagged; the {told} most abnormal are listed with reasons."
    ]


def _resolution(model, judged):
    """A sentence where so few rows are held out that one row alone is no discovery."""
    if model.fdr is None or not judged:
        return []
    needed = int(np.ceil(model.smallest_p_value * judged / model.fdr * (1 - 1e-12)))
    if needed < 2:
        return []
    return [
        f"No p-value is below {model.smallest_p_value:.3g}: of {judged} rows judged together "
        f"at least {needed} must lie beyond all {model.calibration_rows} rows kept from "
        "the detector before one is a discovery."
    ]


def load_any_model(path):
    """Read a model that `BallModel.save` or `AlarmModel.save` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    BallModel or AlarmModel

    Raises
    ------
    TableError
        When the file holds something else.
    """
    path = check_path(path)
    kept = read_kept(path)
    if not isinstance(kept, dict) or kept.pop("format", None) != FORMAT:
        return load_model(path)
    try:
        return restored_alarms(kept)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise damaged(path) from None


def score_file(model, new, *, identity=None):
    """Score a file by a model.

    Parameters
    ----------
    model : BallModel, AlarmModel or path
        Or the JSON file of one.
    new : path
        CSV or Parquet, with the model's columns in any order.
    identity : str, optional
        The column that names the rows, where the file has it; the model's by default.

    Returns
    -------
    Fit
        Without what is known of the training rows; an `AlarmFit` of an AlarmModel, whose
        cautions are on the new rows.

    Raises
    ------
    TableError
        As `load_any_model` and `read_rows`.
    """
    if not isinstance(model, (BallModel, AlarmModel)):
        model = load_any_model(model)
    table = read_rows(new, model.columns, identity or model.identity, model.decimal)
    if isinstance(model, AlarmModel):
        return _scored_with_alarms(model, table)
    return Fit(model, _with_far_columns(table, model), model.score(table.values))


def _beside_rows(table, scores):
    """Every row of a file, with its name and, where no value is missing, its scores."""
    named = pd.DataFrame({"row": np.arange(1, table.total + 1)})
    if table.identities is not None:
        named[beside_ours(table.identities.name)] = table.identities.to_numpy()
    return named.join(scores.set_axis(table.rows - 1))


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
    if isinstance(value, float) and not np.isfinite(value):
        return None  # JSON has no word for it
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


def _told_alarms(model):
    return [
        f"{model.name}: fitted on {model.training_rows} nominal rows in "
        f"{len(model.columns)} columns, scaling {model.scaling}; p-values are counted over "
        f"{model.calibration_rows} other nominal rows, which were split off by chance, and "
        f"none is below {model.smallest_p_value:.3g}",
        *chosen_by(model),
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
