"""Which ball suits the rows, told without labels, and a detector that takes that one.

A detector whose alarms leave nominal rows alone and yet cover much of the space around
them has a small nominal region: that is the quality of Clemencon and Jakubowicz
("Scoring anomalies: a M-estimation formulation", AISTATS 2013) and of Goix ("How to
evaluate the quality of unsupervised anomaly detection algorithms?", 2016). Here rows
that are made up from the nominal ones stand for the space, and p-values for the share
of nominal rows. What real anomalies look like is not known: a detector that is better
here need not be better on them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from mebnb.learning.alarms import ConformalAlarms
from mebnb.learning.clusters import WhitenedBallsDetector
from mebnb.learning.detectors import BallDetector, SoftBallDetector
from mebnb.learning.local_balls import LocalBallDetector

__all__ = ["MADE_UP", "ChosenBallDetector", "made_up_rows", "shares_found"]

MADE_UP = ("shuffled", "spread", "between")
EACH = 500
ALPHA = 0.05
CALIBRATION = 0.4
# Rows beyond these change no share in the second decimal.
MOST_ROWS = 2000
# Distinct rows below which nothing is compared.
FEWEST = 50
# A detector that is better by less than this is not.
MARGIN = 0.02


def made_up_rows(X, random_state=0):
    """Rows that keep some of what nominal rows are like, and break the rest.

    Parameters
    ----------
    X : ndarray, shape (m, n)
        Nominal rows.
    random_state : int

    Returns
    -------
    dict of str to ndarray, shape (500, n)
        "shuffled": each column's values drawn by themselves, so that correlations
        break; "spread": even over the columns' ranges; "between": somewhere on the way
        from one row to another.

    Examples
    --------
    >>> import numpy as np
    >>> made = made_up_rows(np.array([[0.0, 0.0], [1.0, 2.0]]))
    >>> {kind: rows.shape for kind, rows in made.items()}
    {'shuffled': (500, 2), 'spread': (500, 2), 'between': (500, 2)}
    """
    rng = np.random.default_rng(random_state)
    shuffled = np.column_stack([rng.choice(column, EACH) for column in X.T])
    spread = rng.uniform(X.min(axis=0), X.max(axis=0), (EACH, X.shape[1]))
    start, end = X[rng.integers(len(X), size=(2, EACH))]
    between = start + rng.random((EACH, 1)) * (end - start)
    return dict(zip(MADE_UP, (shuffled, spread, between), strict=True))


def shares_found(detectors, X, random_state=0):
    """The share of made-up rows that each detector finds, at one rate of false alarms.

    A part of the rows gives p-values; a made-up row is found where its own is at most
    .05.

    Parameters
    ----------
    detectors : dict of str to estimator
        Unfitted.
    X : ndarray, shape (m, n)
        Nominal rows; of more than 2000 so many are drawn.
    random_state : int

    Returns
    -------
    pandas.DataFrame or None
        Index: the detectors. Columns: `MADE_UP` and their mean. None where fewer than
        50 rows differ.
    """
    X = np.asarray(X, dtype=float)
    if len(X) > MOST_ROWS:
        drawn = np.random.default_rng(random_state).choice(
            len(X), MOST_ROWS, replace=False
        )
        X = X[np.sort(drawn)]
    if len(np.unique(X, axis=0)) < FEWEST:
        return None
    made = made_up_rows(X, random_state)
    rows = {}
    for name, detector in detectors.items():
        alarms = ConformalAlarms(
            clone(detector), ALPHA, calibration=CALIBRATION, random_state=random_state
        ).fit(X)
        rows[name] = {
            kind: float(np.mean(alarms.predict(new) == -1))
            for kind, new in made.items()
        }
    shares = pd.DataFrame.from_dict(rows, orient="index").rename_axis("detector")
    return shares.assign(mean=shares.mean(axis=1))


class ChosenBallDetector(BaseEstimator):
    """The ball with slack, the whitened or the local ball: the one that suits the rows.

    Of those whose mean share of made-up rows found (`shares_found`) is within .02 of
    the best the first in this order is taken. The choice sees the rows of `fit` alone,
    so that `ConformalAlarms` over it is exact.

    Parameters
    ----------
    nu : float
        Of the ball with slack.
    random_state : int

    Attributes
    ----------
    chosen_ : {"soft", "whitened", "local"}
        "soft" where fewer than 50 rows differ.
    shares_ : pandas.DataFrame or None
    detector_ : estimator
        Fitted on all rows.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> first, second = np.random.default_rng(0).normal(size=(2, 300))
    >>> X = np.column_stack([first, first + 0.1 * second])
    >>> ChosenBallDetector().fit(X).chosen_
    'whitened'
    """

    def __init__(self, *, nu=0.05, random_state=0):
        self.nu = nu
        self.random_state = random_state

    def fit(self, X, y=None):
        """Choose a detector and fit it.

        Parameters
        ----------
        X : array_like, shape (m, n)
            Nominal rows.
        y : ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, dtype=np.float64)
        detectors = candidates(self.nu)
        self.shares_ = shares_found(detectors, X, self.random_state)
        self.chosen_ = next(iter(detectors))
        if self.shares_ is not None:
            mean = self.shares_["mean"]
            self.chosen_ = mean.index[(mean >= mean.max() - MARGIN).argmax()]
        self.detector_ = detectors[self.chosen_].fit(X)
        return self

    def score_samples(self, X):
        """The scores of the detector that was taken: the lower, the more abnormal.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray, shape (k,)
        """
        check_is_fitted(self)
        return self.detector_.score_samples(X)


def candidates(nu=0.05):
    """What is chosen from, unfitted; those with reasons in closed form come first."""
    return {
        "soft": SoftBallDetector(nu=nu) if nu else BallDetector(),
        "whitened": WhitenedBallsDetector(),
        "local": LocalBallDetector(),
    }
