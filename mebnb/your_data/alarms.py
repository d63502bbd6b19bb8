"""Alarms for a table at a rate that is set: p-values, what is flagged, and why.

A part of the nominal rows is kept from the detector; a row's p-value is its place among
them (`ConformalAlarms`). Rows of the file itself get theirs from a detector that has
not seen them.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field, replace
from numbers import Real

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from mebnb.learning.alarms import ConformalAlarms, benjamini_hochberg, tie_borders
from mebnb.learning.choice import ChosenBallDetector, candidates
from mebnb.learning.clusters import WhitenedBallsDetector
from mebnb.learning.detectors import BallDetector
from mebnb.learning.keeping import from_plain, to_plain
from mebnb.learning.local_balls import Committee, LocalBallDetector
from mebnb.learning.reasons import named_columns, replacement_gains, squared_form
from mebnb.learning.splits import SCALERS
from mebnb.writing import write_file
from mebnb.your_data import TableError
from mebnb.your_data.model import check_nu, checked_points, common_parts

__all__ = [
    "DETECTORS",
    "AlarmModel",
    "Reasons",
    "fit_alarms",
    "own_scores",
    "restored_alarms",
]

FORMAT = "mebnb ball, version 2"
DETECTORS = ("auto", "ball", "soft", "local", "whitened", "committee")
ALPHA = 0.05
SEED = 0
MOST_ROWS = 20_000
"""Nominal rows that are learned from, at most: a model holds rows of theirs."""

FEWEST = 4
"""Nominal rows below which there are no two to fit on and two to keep."""

NEARLY = 0.8
"""A second column is named too where replacing it gains this share of the first."""

MOST_REASONS = 1000
"""Flagged rows that get reasons by replacement, the most abnormal first."""


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why rows are flagged.

    Attributes
    ----------
    rows : ndarray of int, shape (k,)
        Places in the scored values; the most abnormal first.
    exact : bool
        Whether they come from the detector's squared distance, in closed form.
        Otherwise by replacing one column at a time: approximate.
    named : list of tuple of str
        The column, or the pair of columns, that most makes each row abnormal.
    contributions : pandas.DataFrame, shape (k, n)
        Share of the squared distance that each column adds, half of a pair to either
        (exact); else share of what the score gains when the column is replaced by the
        nearest nominal row's.
    clears_at : pandas.DataFrame or None, shape (k, n)
        The value at which the column alone clears the flag, missing where none does.
    together : pandas.DataFrame or None, shape (k, n)
        The values of the smallest change of all columns that clears it.
    """

    rows: np.ndarray
    exact: bool
    named: list
    contributions: pd.DataFrame
    clears_at: pd.DataFrame | None = None
    together: pd.DataFrame | None = None

    def words(self):
        """`named` as words: "x", or "x with y" for a pair."""
        return [" with ".join(names) for names in self.named]


@dataclass(frozen=True, eq=False)
class AlarmModel:
    """A detector with p-values, and what is needed to judge rows by it.

    Attributes
    ----------
    columns : list of str
    scaling : {"standard", "minmax", "none"}
    asked : str
        One of `DETECTORS`.
    detector : str
        The one that was taken: `asked`, or what "auto" chose.
    nu : float
    alpha : float
        A row is an alarm when its p-value is at most this.
    fdr : float or None
        The share of false ones among the discoveries, where these are asked for.
    origin : list of float
        Subtracted from the columns before anything else.
    alarms : ConformalAlarms
        Fitted, over a Pipeline of scaler and detector.
    training_rows : int
        Rows the detector was fitted on.
    calibration_rows : int
        Rows kept from it, which p-values are counted over.
    shares : dict of str to float, or None
        What "auto" chose by: the share of made-up rows that each detector finds.
    identity, decimal, medians
        As in `BallModel`.
    """

    columns: list[str]
    scaling: str
    asked: str
    detector: str
    nu: float
    alpha: float
    fdr: float | None
    origin: list[float]
    alarms: ConformalAlarms
    training_rows: int
    calibration_rows: int
    shares: dict[str, float] | None = None
    identity: str | None = None
    decimal: str | None = None
    medians: list[float] = field(default_factory=list)

    @property
    def name(self):
        """Such as "whitened, chosen by auto"."""
        taken = NAMES[self.detector]
        if self.detector == "soft":
            taken = f"soft ball, nu = {self.nu:g}" if self.nu else NAMES["ball"]
        return f"{taken}, taken by auto" if self.asked == "auto" else taken

    @property
    def smallest_p_value(self):
        """No row has a smaller one: one over the calibration rows plus one."""
        return self.alarms.smallest_p_value_

    def points(self, values):
        """Values as the detector has them, apart from the origin.

        Parameters
        ----------
        values : pandas.DataFrame
            With the model's columns, in any order.

        Returns
        -------
        ndarray, shape (m, n)
        """
        points = np.array(values[self.columns], dtype=np.float64, order="C")
        return points - np.asarray(self.origin)

    @threadpool_limits.wrap(limits=1)
    def score(self, values):
        """Judge rows that the detector was not fitted on.

        Parameters
        ----------
        values : pandas.DataFrame, shape (k, n)

        Returns
        -------
        pandas.DataFrame
            score (the higher, the more abnormal), p_value, alarm, and, where fdr is
            set, discovery, for the rows judged together.
        """
        points = self.points(values)
        if not len(points):
            return self.judged(np.empty(0), np.empty(0))
        # Scores of rows so far out that squares overflow are as high as can be.
        with np.errstate(over="ignore", invalid="ignore"):
            scores = -self.alarms.detectors_[0].score_samples(points)
            return self.judged(scores, self.alarms.p_values(points))

    def judged(self, scores, p_values, among=None):
        """What is flagged, from scores and p-values.

        Parameters
        ----------
        scores, p_values : ndarray, shape (k,)
        among : ndarray of bool, shape (k,), optional
            Rows that can be discoveries; all by default.

        Returns
        -------
        pandas.DataFrame
            As `score`.
        """
        told = {"score": scores, "p_value": p_values, "alarm": p_values <= self.alpha}
        if self.fdr is not None:
            told["discovery"] = np.zeros(len(p_values), dtype=bool)
            chosen = np.arange(len(p_values)) if among is None else among
            if len(p_values[chosen]):
                found = benjamini_hochberg(p_values[chosen], self.fdr)
                told["discovery"][chosen] = found
        return pd.DataFrame(told)

    def flagged(self, scores):
        """The rows that are flagged: discoveries where fdr is set, alarms otherwise.

        Parameters
        ----------
        scores : pandas.DataFrame
            From `score`.

        Returns
        -------
        ndarray of int
            The most abnormal first.
        """
        flag = scores["alarm" if self.fdr is None else "discovery"].to_numpy(bool)
        order = np.lexsort((-scores["score"], scores["p_value"]))
        return order[flag[order]]

    @threadpool_limits.wrap(limits=1)
    def reasons(self, values, scores, judges=None):
        """Why the flagged rows are flagged.

        Parameters
        ----------
        values : pandas.DataFrame
        scores : pandas.DataFrame
            Of these rows.
        judges : list of Judge, optional
            From `own_scores`; by default the model's detector judges every row.

        Returns
        -------
        Reasons
        """
        rows = self.flagged(scores)
        level = self.alpha
        if self.fdr is not None and len(rows):
            level = scores["p_value"].to_numpy()[rows].max()
        fitted = self.alarms.detectors_[0]
        judges = judges or [Judge(fitted, np.arange(len(scores)))]
        judges = [judge.at(level, scores, self.alarms) for judge in judges]
        if isinstance(fitted[-1], (LocalBallDetector, Committee)):
            return self._by_replacement(rows[:MOST_REASONS], values, judges)
        return self._closed_form(rows, values, judges)

    def _closed_form(self, rows, values, judges):
        points = self.points(values.iloc[rows])
        shape = (len(rows), len(self.columns))
        named, shares = [()] * len(rows), np.empty(shape)
        clears, together = np.empty(shape), np.empty(shape)
        for form, own in _forms(judges, rows, points):
            X = points[own]
            with np.errstate(over="ignore", invalid="ignore"):  # of rows far out
                shares[own] = _shares(form.contributions(X))
                clears[own] = X + form.single_changes(X)
                together[own] = X + form.joint_changes(X)
                columns = named_columns(form, X)
            for row, names in zip(own, columns, strict=True):
                named[row] = tuple(self.columns[column] for column in names)
        origin = np.asarray(self.origin)
        frames = (self._frame(part) for part in (clears + origin, together + origin))
        return Reasons(rows, True, named, self._frame(shares), *frames)

    def _by_replacement(self, rows, values, judges):
        points = self.points(values.iloc[rows])
        gains = np.empty(points.shape)
        for judge in judges:
            own = np.flatnonzero(np.isin(rows, judge.rows))
            if len(own):
                known = _known_rows(judge.fitted)
                gains[own] = replacement_gains(judge.fitted, points[own], known)
        gains = np.maximum(_shares(gains, of_whole=False), 0.0)
        order = np.argsort(-gains, axis=1, kind="stable")[:, :2]
        named = []
        for gain, places in zip(gains, order, strict=True):
            nearly = gain[places[-1]] >= NEARLY * gain[places[0]] > 0.0
            places = places if len(places) > 1 and nearly else places[:1]
            named.append(tuple(self.columns[at] for at in places))
        whole = gains.sum(axis=1, keepdims=True)
        shares = gains / np.where(whole > 0.0, whole, 1.0)
        return Reasons(rows, False, named, self._frame(shares))

    def _frame(self, values):
        return pd.DataFrame(values, columns=self.columns)

    def to_dict(self):
        """Everything as plain values, the detector and calibration scores included."""
        told = {
            name: getattr(self, name)
            for name in self.__dataclass_fields__
            if name != "alarms"
        }
        return told | {"alarms": to_plain(self.alarms)}

    def summary(self):
        """What is told of the model, as plain values: not the detector's insides."""
        told = self.to_dict() | {"smallest_p_value": float(self.smallest_p_value)}
        del told["alarms"]
        return told

    def save(self, path):
        """Write the model as JSON; `score_file` reads it back to the bit.

        Parameters
        ----------
        path : path

        Raises
        ------
        CannotWrite
            When the file cannot be written; what stood there stays.
        """
        write_file(path, json.dumps({"format": FORMAT, **self.to_dict()}) + "\n")


NAMES = {
    "ball": "hard ball",
    "soft": "soft ball",
    "local": "local ball",
    "whitened": "whitened ball",
    "committee": "committee of the soft, whitened and local ball",
}


@dataclass(frozen=True, eq=False)
class Judge:
    """The detector that judged some rows, and its border.

    Attributes
    ----------
    fitted : Pipeline
    rows : ndarray of int
        Places in the scored values.
    among_themselves : bool
        Whether the rows' p-values are their places among themselves, not among the
        rows that were kept from the model's detector.
    reach : float or None
        A row with a higher score is flagged.
    """

    fitted: Pipeline
    rows: np.ndarray
    among_themselves: bool = False
    reach: float | None = None

    def at(self, level, scores, alarms):
        """The judge with the border of the rows whose p-value is at most a level."""
        if not self.among_themselves:
            return replace(self, reach=-alarms.threshold_at(level))
        own = scores.iloc[self.rows]
        passed = own["score"][own["p_value"] > level]
        return replace(self, reach=float(passed.max()) if len(passed) else 0.0)


def restored_alarms(kept):
    """The model that `AlarmModel.save` wrote.

    Parameters
    ----------
    kept : dict
        Without its format.

    Returns
    -------
    AlarmModel

    Raises
    ------
    ValueError, TypeError
        When its parts do not fit together.
    """
    model = AlarmModel(**kept | {"alarms": from_plain(kept["alarms"])})
    width = len(model.columns)
    sound = (
        isinstance(model.columns, list)
        and all(isinstance(name, str) for name in model.columns)
        and 0 < width == len(set(model.columns)) == model.alarms.n_features_in_
        and all(
            isinstance(part, list) and np.shape(part) == (width,)
            for part in (model.origin, model.medians)
        )
        and np.isfinite([*model.origin, *model.medians]).all()
        and model.alarms.method == "split"
        and model.alarms.alpha == model.alpha
        and isinstance(model.alarms.detectors_[0], Pipeline)
        and len(model.alarms.calibration_rows_) == model.calibration_rows
        and type(model.training_rows) is int
        and model.training_rows > 0
        and model.asked in DETECTORS
        and model.detector in NAMES
        and model.scaling in list(SCALERS)
        and (model.fdr is None or _is_share(model.fdr))
        and (model.shares is None or _are_shares(model.shares))
        and isinstance(model.identity, (str, type(None)))
        and model.decimal in (".", ",", None)
    )
    if not sound:
        raise ValueError("the parts of the model do not fit together")
    check_nu(model.nu)
    return model


@threadpool_limits.wrap(limits=1)
def fit_alarms(table, *, detector="auto", alpha=ALPHA, fdr=None, nu=0.05, scaling):
    """Fit a detector to a part of the nominal rows, and keep the rest for p-values.

    Parameters
    ----------
    table : Table
        Of more than 20,000 nominal rows so many are drawn.
    detector : {"auto", "ball", "soft", "local", "whitened", "committee"}
        "auto" takes "soft", "whitened" or "local", as `ChosenBallDetector` does.
    alpha : float
        The rate of false alarms, strictly between 0 and 1.
    fdr : float, optional
        The share of false ones among discoveries, strictly between 0 and 1.
    nu : float
        Of the soft ball; 0 makes it the hard one.
    scaling : {"standard", "minmax", "none"}
        Fitted on the detector's part of the rows.

    Returns
    -------
    AlarmModel

    Raises
    ------
    TableError
        When an argument is out of range, or the rows do not suffice.
    """
    _check_options(detector, alpha, fdr)
    check_nu(nu)
    points = checked_points(table)
    if len(points) < FEWEST:
        raise TableError(
            f"{table.name} must hold at least {FEWEST} nominal rows to fit on some and keep "
            f"others for p-values, found {len(points)}"
        )
    if scaling not in list(SCALERS):
        raise TableError(
            f"scaling must be one of {', '.join(SCALERS)}; found {scaling!r}"
        )
    medians = np.median(points, axis=0).tolist()
    origin = points[0].copy()
    points -= origin
    drawn = _drawn(len(points))
    alarms = ConformalAlarms(
        _pipeline(_unfitted(detector, nu), scaling), alpha, random_state=SEED
    )
    alarms = _fitted(alarms, points[drawn], detector)
    taken, shares = detector, None
    if detector == "auto":
        taken, shares = _keep_the_chosen(alarms)
    return AlarmModel(
        columns=list(table.values),
        scaling=scaling,
        asked=detector,
        detector=taken,
        nu=float(nu),
        alpha=float(alpha),
        fdr=None if fdr is None else float(fdr),
        origin=origin.tolist(),
        alarms=alarms,
        training_rows=len(drawn) - len(alarms.calibration_rows_),
        calibration_rows=len(alarms.calibration_rows_),
        shares=shares,
        medians=medians,
        **common_parts(table),
    )


def _check_options(detector, alpha, fdr):
    if detector not in DETECTORS:
        raise TableError(
            f"detector must be one of {', '.join(DETECTORS)}; found {detector!r}"
        )
    for name, value in (("alpha", alpha), ("fdr", fdr)):
        if (name, value) != ("fdr", None) and not _is_share(value):
            raise TableError(
                f"{name} must be a number strictly between 0 and 1, found {value!r}"
            )


def _is_share(value):
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < value < 1


def _are_shares(shares):
    return set(shares) <= set(NAMES) and all(0 <= one <= 1 for one in shares.values())


def _unfitted(detector, nu):
    """The detector of a name."""
    if detector == "auto":
        return ChosenBallDetector(nu=nu, random_state=SEED)
    if detector == "ball":
        return BallDetector()
    if detector == "committee":
        return Committee(list(candidates(nu).values()), random_state=SEED)
    return candidates(nu)[detector]


def _pipeline(detector, scaling):
    scaler = SCALERS[scaling]
    return Pipeline(
        [*([("scaler", scaler())] if scaler else []), ("detector", detector)]
    )


def _fitted(estimator, points, detector):
    """A fitted estimator; what it has to say of alpha is said among the cautions."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return estimator.fit(points)
    except ValueError as error:
        raise TableError(f"detector {detector} cannot be fitted: {error}") from None


def _keep_the_chosen(alarms):
    """In place of the one that chooses, the detector that it has chosen, and why."""
    pipeline = alarms.detectors_[0]
    choice = pipeline.steps[-1][1]
    pipeline.steps[-1] = ("detector", choice.detector_)
    shares = choice.shares_
    return choice.chosen_, None if shares is None else shares["mean"].to_dict()


def _drawn(rows):
    """The nominal rows that are learned from."""
    if rows <= MOST_ROWS:
        return np.arange(rows)
    rng = np.random.default_rng(SEED)
    return np.sort(rng.choice(rows, MOST_ROWS, replace=False))


@threadpool_limits.wrap(limits=1)
def own_scores(table, model):
    """Scores of the rows of the file that a model was fitted to.

    A nominal row that was fitted on is judged by a detector that is fitted on the rows
    kept from the first, and p-values of nominal rows are their places among themselves.
    Of a file with labels the nominal rows cannot be discoveries: they are what others
    are held against.

    Parameters
    ----------
    table : Table
    model : AlarmModel
        From `fit_alarms` of this table.

    Returns
    -------
    scores : pandas.DataFrame
        As `AlarmModel.score`.
    judges : list of Judge
        Which detector judged which of the rows.
    """
    points = checked_points(table) - np.asarray(model.origin)
    drawn = _drawn(len(points))
    told = model.score(table.values)
    scores, p_values = (told[name].to_numpy(copy=True) for name in ("score", "p_value"))
    nominal = np.flatnonzero(table.is_nominal)[drawn]
    held_out = np.zeros(len(drawn), dtype=bool)
    held_out[model.alarms.calibration_rows_] = True
    other = clone(model.alarms.detectors_[0])
    other = _fitted(other, points[drawn[held_out]], model.detector)
    scores[nominal[~held_out]] = -other.score_samples(points[drawn[~held_out]])
    fitted = model.alarms.detectors_[0]
    judges = [
        Judge(fitted, nominal[held_out], among_themselves=True),
        Judge(other, nominal[~held_out], among_themselves=True),
    ]
    for judge in judges:
        p_values[judge.rows] = _places(scores[judge.rows])
    others = np.setdiff1d(np.arange(len(scores)), nominal)
    judges.append(Judge(fitted, others))
    return model.judged(scores, p_values, _candidates(table)), judges


def _places(scores):
    """The share of scores that are as high or higher: p-values among themselves."""
    borders = tie_borders(scores, np.median(np.abs(scores)))
    lower = np.searchsorted(np.sort(scores), borders, side="left")
    return (len(scores) - lower) / len(scores)


def _candidates(table):
    """Rows of a file that can be discoveries."""
    return None if table.labels is None else ~table.is_nominal


def _forms(judges, rows, points):
    """Squared forms, each with the places of the rows that it measures."""
    for judge in judges:
        own, pipeline = np.flatnonzero(np.isin(rows, judge.rows)), judge.fitted
        detector = pipeline[-1]
        if not len(own):
            continue
        if not isinstance(detector, WhitenedBallsDetector):
            yield _reaching(squared_form(pipeline), judge.reach), own
            continue
        nearest = detector.nearest(_scaled(pipeline, points[own]))
        for cluster in np.unique(nearest):
            alone = Pipeline([*pipeline.steps[:-1], ("ball", detector.ball(cluster))])
            form = _reaching(squared_form(alone), judge.reach)
            yield form, own[nearest == cluster]


def _shares(parts, of_whole=True):
    """Parts of a row as shares of their sum; of a row far out the infinite ones count."""
    endless = ~np.isfinite(parts)
    far = endless.any(axis=1, keepdims=True)
    parts = np.where(far, np.isinf(parts) & (parts > 0), parts)
    if not of_whole:
        return parts
    whole = parts.sum(axis=1, keepdims=True)
    return parts / np.where(whole == 0.0, 1.0, whole)


def _scaled(pipeline, points):
    return pipeline[0].transform(points) if len(pipeline) > 1 else points


def _reaching(form, reach):
    return type(form)(form.center, form.matrix, reach)


def _known_rows(pipeline):
    """Nominal rows that the detector holds, in the units of the file."""
    detector = pipeline[-1]
    if isinstance(detector, Committee):
        parts = [
            one.rows_
            for member in detector.members_
            for one in member.detectors_
            if isinstance(one, LocalBallDetector)
        ]
        rows = np.unique(np.vstack(parts), axis=0)
    else:
        rows = detector.rows_
    return pipeline[0].inverse_transform(rows) if len(pipeline) > 1 else rows
