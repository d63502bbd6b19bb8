"""Fitted detectors as plain values, for JSON, and back to the bit; nothing is pickled.

Only what scores hang on is kept: a detector that was read scores rows, and cannot be
asked how it was found.
"""

from __future__ import annotations

import numpy as np
from sklearn.covariance import LedoitWolf
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from mebnb.learning.alarms import METHODS, ConformalAlarms
from mebnb.learning.clusters import WhitenedBallsDetector
from mebnb.learning.detectors import BallDetector, SoftBallDetector
from mebnb.learning.local_balls import Committee, LocalBallDetector

__all__ = ["from_plain", "to_plain"]

VECTORS = {
    BallDetector: ("center_",),
    SoftBallDetector: ("center_",),
    StandardScaler: ("mean_", "scale_", "var_"),
    MinMaxScaler: ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
}
MATRICES = {LocalBallDetector: ("rows_",), WhitenedBallsDetector: ("centers_",)}
KINDS = {
    one.__name__: one
    for one in (*VECTORS, *MATRICES, Pipeline, Committee, ConformalAlarms)
}


def to_plain(fitted):
    """A fitted detector as dicts, lists and numbers.

    Parameters
    ----------
    fitted : estimator
        BallDetector, SoftBallDetector (linear), LocalBallDetector,
        WhitenedBallsDetector or Committee; in a Pipeline behind StandardScaler or
        MinMaxScaler, or in ConformalAlarms.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        For another estimator, or a kernel's ball, which has no center to keep.

    Examples
    --------
    >>> kept = to_plain(BallDetector().fit([[-1.0], [1.0]]))
    >>> print(from_plain(kept).predict([[0.5], [2.0]]))
    [ 1 -1]
    """
    kind = type(fitted).__name__
    if KINDS.get(kind) is not type(fitted) or (
        isinstance(fitted, SoftBallDetector) and fitted.center_ is None
    ):
        raise ValueError(f"fitted must be one of {', '.join(KINDS)}; found {fitted!r}")
    kept = {"kind": kind}
    if isinstance(fitted, Pipeline):
        return kept | {"steps": [to_plain(step) for _, step in fitted.steps]}
    kept["columns"] = int(fitted.n_features_in_)
    if isinstance(fitted, Committee):
        return kept | {"members": [to_plain(one) for one in fitted.members_]}
    if isinstance(fitted, ConformalAlarms):
        return kept | _plain_alarms(fitted)
    for name in (*VECTORS.get(type(fitted), ()), *MATRICES.get(type(fitted), ())):
        kept[name] = getattr(fitted, name).tolist()
    if hasattr(fitted, "offset_"):
        kept["offset_"] = float(fitted.offset_)
    if isinstance(fitted, LocalBallDetector):
        kept["neighbors"] = int(fitted.neighbors)
    if isinstance(fitted, WhitenedBallsDetector):
        kept["precision_"] = fitted.covariance_.precision_.tolist()
    return kept


def _plain_alarms(alarms):
    return {
        "alpha": float(alarms.alpha),
        "method": alarms.method,
        "detectors": [to_plain(one) for one in alarms.detectors_],
        "calibration_rows": len(alarms.calibration_rows_),
        "calibration": [
            {"detectors": detectors.tolist(), "scores": borders.tolist()}
            for detectors, borders in alarms._rivals
        ],
    }


def from_plain(kept):
    """The detector that `to_plain` kept.

    Parameters
    ----------
    kept : dict

    Returns
    -------
    estimator
        Fitted; it scores as the one that was kept.

    Raises
    ------
    ValueError
        When the parts do not fit together.
    """
    try:
        return _restored(kept)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as why:
        raise ValueError(f"kept must be what to_plain made, found {why}") from None


def _restored(kept):
    kind = KINDS[kept["kind"]]
    if kind is Pipeline:
        steps = [_restored(step) for step in kept["steps"]]
        _check(len({step.n_features_in_ for step in steps}) == 1)
        return Pipeline([(f"step {at}", step) for at, step in enumerate(steps)])
    columns = kept["columns"]
    _check(type(columns) is int and columns > 0)
    if kind is Committee:
        fitted = Committee()
        fitted.members_ = [_restored(one) for one in kept["members"]]
        _check(fitted.members_)
    elif kind is ConformalAlarms:
        fitted = _restored_alarms(kept)
    else:
        fitted = kind()
        for name in VECTORS.get(kind, ()):
            setattr(fitted, name, _numbers(kept[name], (columns,)))
        _check(np.all(getattr(fitted, "scale_", 1.0)))
        for name in MATRICES.get(kind, ()):
            setattr(fitted, name, _numbers(kept[name], (len(kept[name]), columns)))
        if "offset_" in kept:
            fitted.offset_ = float(_numbers(kept["offset_"], ()))
        _complete(fitted, kept, columns)
    fitted.n_features_in_ = columns
    return fitted


def _complete(fitted, kept, columns):
    """What is built anew from the parts that were kept."""
    if isinstance(fitted, LocalBallDetector):
        fitted.neighbors = kept["neighbors"]
        fitted._locate(fitted.rows_)
    if isinstance(fitted, WhitenedBallsDetector):
        fitted.covariance_ = LedoitWolf()
        precision = _numbers(kept["precision_"], (columns, columns))
        fitted.covariance_.precision_ = precision


def _restored_alarms(kept):
    fitted = [_restored(one) for one in kept["detectors"]]
    _check(all(hasattr(one, "score_samples") for one in fitted))
    _check({one.n_features_in_ for one in fitted} == {kept["columns"]})
    alarms = ConformalAlarms(fitted[0], float(_numbers(kept["alpha"], ())))
    _check(kept["method"] in METHODS and 0 < alarms.alpha < 1)
    alarms.method, alarms.detectors_ = kept["method"], fitted
    alarms.calibration_rows_ = np.arange(kept["calibration_rows"])
    alarms._rivals = []
    for group in kept["calibration"]:
        detectors = np.array(group["detectors"])
        _check(detectors.dtype.kind == "i" and detectors.min() >= 0)
        _check(detectors.max() < len(fitted))
        scores = _numbers(group["scores"], (len(group["scores"]),), finite=False)
        _check((np.diff(scores[np.isfinite(scores)]) >= 0).all())
        alarms._rivals.append((detectors, scores))
    if alarms.method == "split":
        _check(len(fitted) == 1 and len(alarms._rivals) == 1)
    counted = sum(len(scores) for _, scores in alarms._rivals)
    _check(counted == kept["calibration_rows"] > 0)
    alarms._set_threshold()
    return alarms


def _numbers(values, shape, finite=True):
    numbers = np.array(values)
    _check(numbers.dtype.kind in "if" and numbers.shape == shape)
    _check(np.isfinite(numbers).all() if finite else not np.isnan(numbers).any())
    return numbers.astype(float)


def _check(sound):
    if not sound:
        raise ValueError("kept must be what to_plain made: its parts do not fit")
