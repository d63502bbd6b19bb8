"""Outlier detectors in scikit-learn's form: a center, a distance and a threshold.

`BallDetector` is the hard minimum enclosing ball. Its plainest rivals, the
distance to the mean and the Mahalanobis distance, are here because scikit-learn
has neither; `rival_detectors` names all that the notebooks compare.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM
from sklearn.utils.validation import check_is_fitted, validate_data

from mebnb.balls import squared_distances
from mebnb.exact import minimum_enclosing_ball

__all__ = [
    "BallDetector",
    "MahalanobisDetector",
    "MeanDetector",
    "rival_detectors",
]


class _DistanceDetector(OutlierMixin, BaseEstimator):
    """What the detectors share: a point is abnormal by its distance from a center.

    A subclass says in `_locate` how the center is found and in `_distances` how far
    points are from it. The threshold is the largest training distance times
    `factor`, or the `quantile` of the training distances; a point beyond it is an
    outlier. There is no contamination: training points are taken to be nominal.
    """

    def __init__(self, *, factor=1.0, quantile=None):
        self.factor = factor
        self.quantile = quantile

    def fit(self, X, y=None):
        """Fit the center and the threshold.

        Parameters
        ----------
        X : array_like, shape (m, n)
            Training points, nominal ones.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            When the points are not finite numbers in two dimensions, the factor is
            less than 1, the quantile is not in (0, 1], or both are given.
        """
        self._check_threshold()
        X = validate_data(self, X, dtype=np.float64)
        self._locate(X)
        distances = self._distances(X)
        if self.quantile is None:
            threshold = self.factor * self._reach(distances)
        else:
            threshold = np.quantile(distances, self.quantile)
        self.offset_ = -float(threshold)
        return self

    def score_samples(self, X):
        """Minus the distance from the center: the lower, the more abnormal.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray, shape (k,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return -self._distances(X)

    def decision_function(self, X):
        """Threshold minus distance: negative for outliers.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray, shape (k,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X):
        """+1 for a point within the threshold, -1 for an outlier.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray of int, shape (k,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def __sklearn_tags__(self):
        # An outlier detector, in scikit-learn's checks, calls some of its training
        # points outliers. Without a quantile none is, by construction.
        tags = super().__sklearn_tags__()
        if self.quantile is None:
            tags.estimator_type = None
        return tags

    def _reach(self, distances):
        return distances.max()

    def _check_threshold(self):
        if not self.factor >= 1:
            raise ValueError(f"factor must be at least 1, found {self.factor!r}")
        if self.quantile is None:
            return
        if not 0 < self.quantile <= 1:
            raise ValueError(
                f"quantile must be None or in (0, 1], found {self.quantile!r}"
            )
        if self.factor != 1:
            raise ValueError(
                f"factor must stay 1 where a quantile is given, found {self.factor!r}"
            )


class BallDetector(_DistanceDetector):
    """The minimum enclosing ball of the training points as an outlier detector.

    The hard ball of the report and the slides, solved to optimality: the threshold
    is its radius, so that no training point is an outlier.

    Parameters
    ----------
    factor : float
        The threshold is the radius times this number, at least 1.
    quantile : float, optional
        The threshold is this quantile of the training points' distances from the
        center instead.

    Attributes
    ----------
    ball_ : Solution
        The ball with its support and weights.
    center_ : ndarray, shape (n,)
    radius_ : float
    offset_ : float
        Minus the threshold.
    n_features_in_ : int

    See Also
    --------
    mebnb.minimum_enclosing_ball : the solver.

    Examples
    --------
    >>> import numpy as np
    >>> ball = BallDetector().fit(np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.5]]))
    >>> print(ball.predict([[0.0, 0.9], [0.0, 1.1]]), round(ball.radius_, 12))
    [ 1 -1] 1.0
    """

    def _locate(self, X):
        self.ball_ = minimum_enclosing_ball(X)
        self.center_ = self.ball_.center
        self.radius_ = self.ball_.radius

    def _distances(self, X):
        return np.sqrt(squared_distances(X, self.center_))

    def _reach(self, distances):
        # The two are equal up to rounding; no training point may fall outside.
        return max(self.radius_, distances.max())


class MeanDetector(_DistanceDetector):
    """Distance from the mean of the training points.

    Parameters
    ----------
    factor, quantile
        As in `BallDetector`.

    Attributes
    ----------
    center_ : ndarray, shape (n,)
        The mean.
    offset_ : float
        Minus the threshold.
    n_features_in_ : int

    Examples
    --------
    >>> MeanDetector().fit([[-1.0], [0.0], [1.0]]).predict([[0.5], [3.0]])
    array([ 1, -1])
    """

    def _locate(self, X):
        self.center_ = X.mean(axis=0)

    def _distances(self, X):
        return np.sqrt(squared_distances(X, self.center_))


class MahalanobisDetector(_DistanceDetector):
    """Mahalanobis distance from the mean of the training points.

    The covariance is shrunk as Ledoit and Wolf have it (Journal of Multivariate
    Analysis 88, 2004), so that it can be inverted with more features than points.

    Parameters
    ----------
    factor, quantile
        As in `BallDetector`.

    Attributes
    ----------
    covariance_ : LedoitWolf
        The fitted estimate, with `location_` and `precision_`.
    center_ : ndarray, shape (n,)
        The mean.
    offset_ : float
        Minus the threshold.
    n_features_in_ : int

    Examples
    --------
    >>> wide = [[-9.0, 0.0], [9.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    >>> MahalanobisDetector().fit(wide).predict([[8.0, 0.0], [0.0, 8.0]])
    array([ 1, -1])
    """

    def _locate(self, X):
        self.covariance_ = LedoitWolf().fit(X)
        self.center_ = self.covariance_.location_

    def _distances(self, X):
        return np.sqrt(self.covariance_.mahalanobis(X))


def rival_detectors(seed=0):
    """What a practitioner would set beside the hard ball, in a fixed order.

    Parameters
    ----------
    seed : int
        Of the isolation forest, the only one that draws random numbers.

    Returns
    -------
    dict of str to estimator
        Unfitted; for `mebnb.evaluation.evaluate_repeatedly`.
    """
    return {
        "hard ball": BallDetector(),
        "distance to the mean": MeanDetector(),
        "Mahalanobis distance": MahalanobisDetector(),
        "one-class SVM": OneClassSVM(nu=0.05, gamma="scale"),
        "isolation forest": IsolationForest(random_state=seed),
        "local outlier factor": LocalOutlierFactor(novelty=True),
    }
