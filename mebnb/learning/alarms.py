"""Alarms that keep a promise: conformal p-values over any detector with scores.

A detector's own threshold says nothing about new rows. Rows that the detector has not
seen do: a new row of the same kind is as likely to hold any place among them as any
other, so the share of them that is at least as abnormal as the new row is a p-value.
`ConformalAlarms` holds such rows out; `discoveries` and `false_discovery_bounds` say
what the p-values of many rows are worth together.
"""

from __future__ import annotations

import functools
import warnings
from numbers import Real

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from mebnb.solvers.sources import by_blocks

__all__ = [
    "METHODS",
    "ConformalAlarms",
    "benjamini_hochberg",
    "most_false_alarms",
    "tie_borders",
]

METHODS = ("split", "cross", "jackknife+")
FOLDS = 5
RESAMPLES = 30
# Scores this near to each other, relatively, are ties: a row that repeats another one
# must count it, whatever rows it was scored with. More ties only raise a p-value.
TIE = 1e-9
DRAWS = 10_000
LEVELS = 128


class ConformalAlarms(OutlierMixin, BaseEstimator):
    """Alarms at a rate that is set, over any detector with `score_samples`.

    The p-value of a row is ``(1 + c) / (1 + n)``, where c of n rows that the detector
    has not been fitted on score no higher; a row is an alarm when it is at most
    `alpha`. Where new rows and the rows of `fit` are exchangeable (drawn alike), the
    method "split" raises a false alarm with probability at most `alpha`, whatever the
    detector, the distribution and the number of rows [1]_. The probability is over the
    rows of `fit` too: the rate of one fit varies about it.

    Parameters
    ----------
    detector : estimator
        Unfitted; its `score_samples` is lower where a row is more abnormal.
    alpha : float
        The rate of false alarms, strictly between 0 and 1.
    method : {"split", "cross", "jackknife+"}
        "split" holds a part of the rows out of the detector: exact. "cross" fits five
        detectors, each without a fifth of the rows, and compares a row with each fifth
        by the detector that has not seen it [2]_. "jackknife+" fits thirty, each on
        the distinct rows of a bootstrap sample, and compares a row with each row of
        `fit` by the mean score of those that have not seen that one [3]_. These two
        use all rows and are approximate: a rate near `alpha` is what is seen, and
        nothing is proved of them as done here; for close kin see [3]_ and [4]_.
    calibration : float
        The share of the rows that "split" holds out; the others use all.
    random_state : int, RandomState or None
        Of the parts, not of the detector.

    Attributes
    ----------
    detectors_ : list of estimator
        Fitted; one for "split".
    calibration_rows_ : ndarray of int, shape (n,)
        The rows of `fit` that p-values are counted over.
    smallest_p_value_ : float
        ``1 / (1 + n)``: no row, however far out, has a smaller one.
    offset_ : float
        What p-values are held against, halfway between two that can occur.
    score_threshold_ : float
        Of "split" only: a row is an alarm when the detector scores it below this.
    n_features_in_ : int

    Warns
    -----
    UserWarning
        When `alpha` is below the smallest p-value, so that nothing can be an alarm.

    See Also
    --------
    mebnb.learning.alarms.benjamini_hochberg : many rows at once.

    Notes
    -----
    p-values of rows that were fitted on are not valid. Labels of anomalies are not
    used; anomalies among the rows of `fit` make alarms rarer.

    References
    ----------
    .. [1] S. Bates, E. Candes, L. Lei, Y. Romano, M. Sesia, "Testing for outliers with
       conformal p-values", Annals of Statistics 51 (2023).
    .. [2] V. Vovk, "Cross-conformal predictors", Annals of Mathematics and Artificial
       Intelligence 74 (2015).
    .. [3] B. Kim, C. Xu, R. F. Barber, "Predictive inference is free with the
       jackknife+-after-bootstrap", NeurIPS (2020).
    .. [4] R. F. Barber, E. Candes, A. Ramdas, R. Tibshirani, "Predictive inference with
       the jackknife+", Annals of Statistics 49 (2021).

    Examples
    --------
    >>> import numpy as np
    >>> from mebnb import BallDetector
    >>> X = np.random.default_rng(0).normal(size=(198, 2))
    >>> alarms = ConformalAlarms(BallDetector(), random_state=0).fit(X)
    >>> print(alarms.predict([[0.0, 0.0], [9.0, 9.0]]), alarms.smallest_p_value_)
    [ 1 -1] 0.01
    """

    def __init__(
        self,
        detector,
        alpha=0.05,
        method="split",
        *,
        calibration=0.5,
        random_state=None,
    ):
        self.detector = detector
        self.alpha = alpha
        self.method = method
        self.calibration = calibration
        self.random_state = random_state

    def fit(self, X, y=None):
        """Fit the detectors and score the rows that each has not seen.

        Parameters
        ----------
        X : array_like, shape (m, n)
            Nominal rows.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            When a parameter is out of range, there are fewer than two rows, or a
            score is not a number.
        """
        self._check_parameters()
        X = self._checked(X)
        unseen = self._unseen(_num_samples(X))
        self.detectors_ = [clone(self.detector).fit(_rows(X, ~out)) for out in unseen.T]
        scores = np.full(unseen.shape, np.nan)
        for fitted, out, column in zip(self.detectors_, unseen.T, scores.T):
            column[out] = _scores(fitted, _rows(X, out))
        self.calibration_rows_ = np.flatnonzero(unseen.any(axis=1))
        self._rivals = _grouped(unseen, scores)
        self._set_threshold()
        self._warn_below("alpha", self.alpha, "alarm")
        return self

    def p_values(self, X):
        """The p-value of each row, for the hypothesis that it is nominal.

        Parameters
        ----------
        X : array_like, path, table or Blocks; shape (k, n)
            What lies on disk is read block by block.

        Returns
        -------
        ndarray, or of a Dask array or frame a lazy Dask array; shape (k,)
        """
        check_is_fitted(self)
        return by_blocks(self._p_values_of, X)

    def _p_values_of(self, X):
        X = self._checked(X, reset=False)
        scores = np.column_stack([_scores(fitted, X) for fitted in self.detectors_])
        places = np.ones(len(scores))
        for detectors, borders in self._rivals:
            own = scores[:, detectors].mean(axis=1)
            places += np.searchsorted(borders, own, side="right")
        return places / (len(self.calibration_rows_) + 1)

    def score_samples(self, X):
        """The p-values: the lower, the more abnormal.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray, shape (k,)
        """
        return self.p_values(X)

    def decision_function(self, X):
        """p-value minus `offset_`: negative for alarms.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray, shape (k,)
        """
        return self.p_values(X) - self.offset_

    def predict(self, X):
        """-1 for an alarm, a row whose p-value is at most `alpha`; +1 for others.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray of int, shape (k,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def discoveries(self, X, fdr=0.1):
        """The rows to follow up together, when few of those may be false.

        The procedure of Benjamini and Hochberg on the p-values. Bates et al. (2023)
        prove for "split" that the share of nominal rows among the discoveries is at
        most `fdr` on average; for the other methods it is not proved.

        Parameters
        ----------
        X : array_like, shape (k, n)
            New rows, judged together.
        fdr : float
            The share of false discoveries, strictly between 0 and 1.

        Returns
        -------
        ndarray of bool, shape (k,)

        Warns
        -----
        UserWarning
            When `fdr` is below the smallest p-value: nothing can be a discovery.
        """
        _check_share("fdr", fdr)
        found = benjamini_hochberg(self.p_values(X), fdr)
        self._warn_below("fdr", fdr, "discovery")
        return found

    def false_discovery_bounds(self, X, confidence=0.9):
        """How many of the alarms can be false, for every threshold at once.

        With probability `confidence` all rows of the table hold, so that a threshold
        may be chosen after a look at it.

        Parameters
        ----------
        X : array_like, shape (k, n)
            New rows, judged together.
        confidence : float
            Strictly between 0 and 1.

        Returns
        -------
        pandas.DataFrame
            Index: p_value, those that occur. Columns: alarms (rows with at most this
            p-value), most_false, and most_false_share.

        Raises
        ------
        ValueError
            When the method is not "split": for the others nothing is proved.

        See Also
        --------
        mebnb.learning.alarms.most_false_alarms : the bound without rows.
        """
        check_is_fitted(self)
        if self.method != "split":
            raise ValueError(
                'method must be "split" for bounds that are proved, found '
                f"{self.method!r}"
            )
        p_values, alarms = np.unique(self.p_values(X), return_counts=True)
        alarms = np.cumsum(alarms)
        size = len(self.calibration_rows_)
        most = np.append(most_false_alarms(size, alarms[-1], confidence), alarms[-1])
        false = most[np.rint(p_values * (size + 1)).astype(int) - 1]
        # False ones of a threshold are at most those of a lower one and all between.
        false = alarms + np.minimum(0, np.minimum.accumulate(false - alarms))
        table = {"alarms": alarms, "most_false": false}
        table["most_false_share"] = false / alarms
        return pd.DataFrame(table, index=pd.Index(p_values, name="p_value"))

    def threshold_at(self, level):
        """The score below which a row's p-value is at most `level`; for "split" only.

        Parameters
        ----------
        level : float
            Such as the largest p-value of `discoveries`.

        Returns
        -------
        float
            Minus infinity where no p-value is so small, infinity where all are.
        """
        check_is_fitted(self)
        if self.method != "split":
            raise ValueError(
                f'method must be "split" for one threshold, found {self.method!r}'
            )
        borders = np.concatenate([[-np.inf], self._rivals[0][1], [np.inf]])
        return float(borders[self._places_at(level)])

    def same_law(self, X):
        """Whether rows can be of the same kind as those p-values are counted over.

        The test of Kolmogorov and Smirnov for two samples, on the detector's scores;
        for "split" only. Many anomalies among the rows make it small as a change of
        all rows does.

        Parameters
        ----------
        X : array_like, shape (k, n)
            New rows.

        Returns
        -------
        float
            The p-value of the hypothesis that all of them are exchangeable with the
            rows held out.
        """
        self.threshold_at(self.alpha)  # refuses what is not "split"
        held_out = self._rivals[0][1]
        own = _scores(self.detectors_[0], self._checked(X, reset=False))
        typical = np.median(np.abs(held_out))
        return float(stats.ks_2samp(held_out, tie_borders(own, typical)).pvalue)

    def _places_at(self, level):
        """How many of the p-values that can occur are at most `level`."""
        size = len(self.calibration_rows_)
        # The same quotients as in p_values: "at most" is meant to the bit.
        possible = np.arange(size + 2) / (size + 1)
        return int(np.searchsorted(possible, level, side="right")) - 1

    def _checked(self, X, reset=True):
        # A frame goes on as it is, to detectors that know columns by name and type;
        # what numbers may be is the detector's affair.
        if hasattr(X, "columns"):
            validate_data(self, X, skip_check_array=True, reset=reset)
            return X
        loose = dict(dtype=None, accept_sparse="csr", ensure_all_finite=False)
        return validate_data(self, X, reset=reset, **loose)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.detector).input_tags
        return tags

    def _check_parameters(self):
        _check_share("alpha", self.alpha)
        _check_share("calibration", self.calibration)
        if self.method not in METHODS:
            raise ValueError(
                f"method must be one of {', '.join(METHODS)}; found {self.method!r}"
            )
        if not hasattr(self.detector, "score_samples"):
            raise ValueError(
                f"detector must have score_samples, found {self.detector!r}"
            )

    def _unseen(self, rows):
        """Which row is held out of which detector, shape (rows, detectors)."""
        if rows < 2:
            raise ValueError(
                f"X must hold rows to fit on and rows to hold out, found {rows} sample"
            )
        rng = check_random_state(self.random_state)
        if self.method == "split":
            held = int(np.clip(round(self.calibration * rows), 1, rows - 1))
            return (rng.permutation(rows) < held)[:, None]
        if self.method == "cross":
            folds = min(FOLDS, rows)
            return rng.permutation(np.arange(rows) % folds)[:, None] == range(folds)
        unseen = np.ones((rows, RESAMPLES), dtype=bool)
        for out in unseen.T:
            out[rng.randint(rows, size=rows)] = False
        return unseen

    def _set_threshold(self):
        size = len(self.calibration_rows_)
        self.smallest_p_value_ = 1.0 / (size + 1)
        self.offset_ = (self._places_at(self.alpha) + 0.5) / (size + 1)
        if self.method == "split":
            self.score_threshold_ = self.threshold_at(self.alpha)

    def _warn_below(self, name, value, what):
        if value < self.smallest_p_value_:
            size = len(self.calibration_rows_)
            warnings.warn(
                f"no row can be {'an' if what == 'alarm' else 'a'} {what}: {size} rows "
                f"held out allow no p-value below {self.smallest_p_value_:.3g}, and "
                f"{name} is {value:g}; hold out at least {int(np.ceil(1 / value)) - 1}",
                stacklevel=3,
            )


def benjamini_hochberg(p_values, fdr):
    """The procedure of Benjamini and Hochberg (JRSS B 57, 1995).

    Of k p-values, all up to the largest that is at most fdr times its place over k.

    Parameters
    ----------
    p_values : array_like, shape (k,)
    fdr : float

    Returns
    -------
    ndarray of bool, shape (k,)

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.5, 0.06, 0.05], 0.1)
    array([ True, False,  True,  True])
    """
    # p-values lie on a grid and so may the limits: rounding must not decide.
    return stats.false_discovery_control(p_values) <= fdr * (1 + 1e-12)


@functools.lru_cache(maxsize=32)
def most_false_alarms(calibration, rows, confidence=0.9):
    """How many nominal rows can be alarms, for every threshold at once.

    Places of nominal rows among the calibration rows follow one law whatever the
    detector (Gazin, Blanchard and Roquain, AISTATS 2024): the gaps between calibration
    rows are as a draw from a uniform Dirichlet has them. Draws of that law give, for
    each threshold, the order of its numbers of alarms; the bound is the same place in
    that order for all thresholds, the one that a second set of draws exceeds anywhere
    in a share of at most 1 - confidence.

    Parameters
    ----------
    calibration : int
        Rows that p-values are counted over.
    rows : int
        Rows that are judged; the bound holds for any nominal ones of them.
    confidence : float
        Strictly between 0 and 1.

    Returns
    -------
    ndarray of int, shape (calibration,)
        Entry c - 1 bounds the nominal rows with p-value at most c / (calibration + 1).

    Examples
    --------
    >>> most = most_false_alarms(99, 1000)
    >>> print(most[0], most[4], most[49])
    51 117 621
    """
    _check_share("confidence", confidence)
    levels = np.unique(np.rint(np.geomspace(1, calibration, LEVELS)).astype(int))
    rng = np.random.default_rng(0)
    first, second = (_false_alarms(levels, calibration, rows, rng) for _ in range(2))
    first.sort(axis=0)
    above = [
        DRAWS - np.searchsorted(*columns, side="left")
        for columns in zip(first.T, second.T)
    ]
    lowest = np.sort(np.min(above, axis=0))
    place = lowest[max(int((1 - confidence) * (DRAWS + 1)) - 1, 0)]
    most = first[DRAWS - place] if place else np.full(len(levels), rows)
    # Between two levels the bound is that of the next one.
    most = most[np.searchsorted(levels, np.arange(1, calibration + 1))]
    most.flags.writeable = False
    return most


def _false_alarms(levels, calibration, rows, rng):
    """Draws of the numbers of nominal rows below calibration rows, (DRAWS, levels)."""
    steps = np.diff(levels, prepend=0, append=calibration + 1)
    gaps = rng.dirichlet(steps.astype(float), size=DRAWS)
    return rng.multinomial(rows, gaps)[:, :-1].cumsum(axis=1)


def _grouped(unseen, scores):
    """The held-out rows by the detectors that have not seen them.

    Returns
    -------
    list of (ndarray of int, ndarray)
        Detectors, and the ascending scores from which on a row counts those rows.
    """
    patterns, group = np.unique(unseen, axis=0, return_inverse=True)
    rivals = []
    for number, pattern in enumerate(patterns):
        if pattern.any():
            members = scores[group.ravel() == number][:, pattern].mean(axis=1)
            rivals.append((np.flatnonzero(pattern), members))
    typical = np.median(np.abs(np.concatenate([own for _, own in rivals])))
    return [(pattern, np.sort(tie_borders(own, typical))) for pattern, own in rivals]


def tie_borders(scores, typical):
    """The lowest scores that are ties with these.

    Parameters
    ----------
    scores : ndarray, shape (k,)
    typical : float
        The size of a typical score, of which scores near 0 are parts.

    Returns
    -------
    ndarray, shape (k,)
    """
    with np.errstate(invalid="ignore"):
        lower = scores - TIE * np.maximum(np.abs(scores), typical)
    return np.where(np.isfinite(lower), lower, scores)


def _scores(fitted, X):
    scores = np.asarray(fitted.score_samples(X), dtype=float)
    if np.isnan(scores).any():
        raise ValueError(
            f"score_samples of {fitted!r} must give numbers, found NaN in row "
            f"{np.flatnonzero(np.isnan(scores))[0]}"
        )
    return scores


def _rows(X, chosen):
    return _safe_indexing(X, np.flatnonzero(chosen))


def _check_share(name, value):
    if not isinstance(value, Real) or not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, found {value!r}")
