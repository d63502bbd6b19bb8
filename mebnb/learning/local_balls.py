"""Balls that are local, see correlation or know several modes, and a committee of them.

One global ball fails by its shape: it spans what lies between clusters and takes no
note of correlated columns. The detectors here mend one of these each; `Committee`
joins them without labels. Their thresholds promise no more than any other's: wrap
them in `ConformalAlarms`.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy.linalg import cholesky
from scipy.spatial import KDTree
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, clone
from sklearn.mixture import GaussianMixture
from sklearn.utils.validation import check_is_fitted, validate_data

from mebnb.learning.alarms import ConformalAlarms
from mebnb.learning.detectors import (
    MahalanobisDetector,
    SoftBallDetector,
    _DistanceDetector,
    _lengths,
)
from mebnb.solvers.soft import soft_ball
from mebnb.solvers.sources import by_blocks

__all__ = [
    "Committee",
    "KernelBallDetector",
    "LocalBallDetector",
    "SeveralBallsDetector",
    "WhitenedBallDetector",
    "contending_balls",
]

MOST_BALLS = 5
FEWEST_MEMBERS = 10
# Rows beyond these add nothing to a median of distances.
MEDIAN_ROWS = 1000


class LocalBallDetector(_DistanceDetector):
    """The radius of the smallest ball about a row that holds k training rows.

    A ball about the row holds k training rows from the distance of its k-th neighbour
    on, so that this distance is the radius. Training rows that repeat one another
    count once: copies would shrink the ball about them to nothing.

    Parameters
    ----------
    neighbors : int
        k; all distinct training rows where there are fewer.
    factor, quantile
        As in `BallDetector`. A training row counts itself among its k, so that the
        threshold without a quantile is on the low side.

    Attributes
    ----------
    rows_ : ndarray, shape (d, n)
        The distinct training rows.
    offset_ : float
        Minus the threshold.
    n_features_in_ : int

    Examples
    --------
    >>> local = LocalBallDetector(neighbors=2).fit([[0.0], [0.0], [1.0], [10.0], [11.0]])
    >>> print(local.score_samples([[0.5], [5.5]]))
    [-0.5 -4.5]
    """

    def __init__(self, *, neighbors=5, factor=1.0, quantile=None):
        super().__init__(factor=factor, quantile=quantile)
        self.neighbors = neighbors

    def _locate(self, X):
        if not isinstance(self.neighbors, Integral) or self.neighbors < 1:
            raise ValueError(
                f"neighbors must be an int of at least 1, found {self.neighbors!r}"
            )
        # Zero added: -0.0 and 0.0 are the same value.
        self.rows_ = np.unique(X + 0.0, axis=0)
        self._tree = KDTree(self.rows_)

    def _distances(self, X):
        place = min(self.neighbors, len(self.rows_))
        return self._tree.query(X, k=[place])[0][:, 0]


class WhitenedBallDetector(MahalanobisDetector):
    """The ball with slack in the space where the training rows are uncorrelated.

    The covariance is that of `MahalanobisDetector`, shrunk as Ledoit and Wolf have it;
    the center is the ball's, which need not be the mean.

    Parameters
    ----------
    nu : float
        As in `SoftBallDetector`.
    factor, quantile
        As in `BallDetector`.

    Attributes
    ----------
    ball_ : SoftBall
        In the whitened space.
    covariance_ : LedoitWolf
    center_ : ndarray, shape (n,)
        In the space of the rows.
    radius_ : float
        In the whitened space.
    offset_ : float
        Minus the threshold.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> first, second = np.random.default_rng(0).normal(size=(2, 300))
    >>> X = np.column_stack([first, first + 0.1 * second])
    >>> WhitenedBallDetector().fit(X).predict([[1.5, 1.5], [1.0, 0.0]])
    array([ 1, -1])
    """

    def __init__(self, *, nu=0.05, factor=1.0, quantile=None):
        super().__init__(factor=factor, quantile=quantile)
        self.nu = nu

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "outlier_detector"
        return tags

    def _locate(self, X):
        super()._locate(X)
        # precision = root root': lengths after x -> x root are Mahalanobis distances.
        root = cholesky(self.covariance_.precision_, lower=True)
        mean = self.covariance_.location_
        self.ball_ = soft_ball((X - mean) @ root, self.nu)
        self.center_ = mean + np.linalg.solve(root.T, self.ball_.center)
        self.radius_ = self.ball_.radius

    def _reach(self, distances):
        # Rows on the border are not put outside by the way into the space and back.
        reach = self.radius_ * (1.0 + 1e-9)
        return max(reach, distances.max()) if self.ball_.C >= 1 else reach


class SeveralBallsDetector(_DistanceDetector):
    """A ball with slack about each cluster; the nearest, in its own radii, counts.

    Clusters are those of a Gaussian mixture with a diagonal covariance; their number,
    up to five, is the one of the smallest BIC whose clusters all have at least ten
    rows. Each ball comes with its certificate.

    Parameters
    ----------
    nu : float
        As in `SoftBallDetector`, for each ball.
    factor, quantile
        As in `BallDetector`; without them the threshold is 1, the radius.
    random_state : int, RandomState or None
        Of the mixtures.

    Attributes
    ----------
    balls_ : list of SoftBall
    centers_ : ndarray, shape (c, n)
    radii_ : ndarray, shape (c,)
    offset_ : float
        Minus the threshold.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[:100] += 20.0
    >>> several = SeveralBallsDetector(random_state=0).fit(X)
    >>> print(len(several.balls_), several.predict([[0.0, 0.0], [10.0, 10.0]]))
    2 [ 1 -1]
    """

    def __init__(self, *, nu=0.05, factor=1.0, quantile=None, random_state=None):
        super().__init__(factor=factor, quantile=quantile)
        self.nu = nu
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "outlier_detector"
        return tags

    def _locate(self, X):
        cluster = _clusters(X, self.random_state)
        members = [X[cluster == one] for one in np.unique(cluster)]
        self.balls_ = [soft_ball(rows, self.nu) for rows in members]
        self.centers_ = np.array([ball.center for ball in self.balls_])
        radii = np.array([ball.radius for ball in self.balls_])
        # A cluster of equal rows has no radius of its own to measure in.
        self.radii_ = np.maximum(radii, max(1e-9 * radii.max(), 1e-150))

    def _distances(self, X):
        lengths = np.column_stack([_lengths(X, center) for center in self.centers_])
        return (lengths / self.radii_).min(axis=1)

    def _reach(self, distances):
        return 1.0 if self.nu * len(distances) > 1 else max(1.0, distances.max())


def _clusters(X, random_state):
    """The cluster of each row, by a Gaussian mixture whose BIC is smallest."""
    scale = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / np.where(scale > 0.0, scale, 1.0)
    best, cluster = np.inf, np.zeros(len(X), dtype=int)
    for count in range(1, min(MOST_BALLS, len(X) // FEWEST_MEMBERS) + 1):
        mixture = GaussianMixture(
            count, covariance_type="diag", n_init=2, random_state=random_state
        )
        own = mixture.fit_predict(scaled)
        sizes = np.bincount(own, minlength=count)
        quality = mixture.bic(scaled)
        if quality < best and sizes.min() >= FEWEST_MEMBERS:
            best, cluster = quality, own
    return cluster


class KernelBallDetector(SoftBallDetector):
    """The ball with slack by an RBF kernel whose width is chosen without labels.

    gamma is one over the median squared distance between distinct training rows (the
    median heuristic), of at most a thousand of them in the order of their values.

    Parameters
    ----------
    nu, factor, quantile
        As in `SoftBallDetector`.

    Attributes
    ----------
    gamma_ : float
    ball_, radius_, offset_, n_features_in_
        As in `SoftBallDetector`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> KernelBallDetector().fit(X).predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    def __init__(self, *, nu=0.05, factor=1.0, quantile=None):
        super().__init__(nu=nu, kernel="rbf", factor=factor, quantile=quantile)

    def _locate(self, X):
        rows = np.unique(X + 0.0, axis=0)
        rows = rows[:: -(-len(rows) // MEDIAN_ROWS)]
        typical = np.median(pdist(rows, "sqeuclidean")) if len(rows) > 1 else 0.0
        self.gamma_ = 1.0 / typical if typical > 0.0 else 1.0
        self.ball_ = soft_ball(X, self.nu, kernel="rbf", gamma=self.gamma_)
        self.center_ = self.ball_.center
        self.radius_ = self.ball_.radius


class Committee(BaseEstimator):
    """Several detectors as one: the mean of the logarithms of their p-values.

    Each member's p-values are cross-conformal, so that scores of any scale can be
    joined and no label is used. The mean itself is no p-value: members depend on each
    other, and what would be valid whatever they do costs a factor, 2 for the mean of
    p-values and e for the geometric one (Vovk and Wang, "Combining p-values via
    averaging", Biometrika 107, 2020). Nothing is paid when the joined score is held
    against rows that no member has seen: ``ConformalAlarms(Committee())`` is as exact
    as with any detector.

    Parameters
    ----------
    detectors : list of estimator, optional
        Unfitted, with `score_samples`; `contending_balls()` where none is given.
    random_state : int, RandomState or None
        Of the folds.

    Attributes
    ----------
    members_ : list of ConformalAlarms
        Fitted, in the order of the detectors.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> alarms = ConformalAlarms(Committee(random_state=0), random_state=0).fit(X)
    >>> alarms.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    def __init__(self, detectors=None, *, random_state=None):
        self.detectors = detectors
        self.random_state = random_state

    def fit(self, X, y=None):
        """Fit each member on five parts of the rows.

        Parameters
        ----------
        X : array_like, shape (m, n)
            Nominal rows.
        y : ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        detectors = contending_balls() if self.detectors is None else self.detectors
        # Members only give p-values: an alpha that none can pass must not be told.
        self.members_ = [
            ConformalAlarms(
                clone(one), 0.5, "cross", random_state=self.random_state
            ).fit(X)
            for one in detectors
        ]
        return self

    def score_samples(self, X):
        """The mean logarithm of the members' p-values: the lower, the more abnormal.

        Parameters
        ----------
        X : array_like, path, table or Blocks; shape (k, n)

        Returns
        -------
        ndarray, or of a Dask array or frame a lazy Dask array; shape (k,)
        """
        check_is_fitted(self)
        return by_blocks(self._score_rows, X)

    def _score_rows(self, X):
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.mean([np.log(one.p_values(X)) for one in self.members_], axis=0)


def contending_balls():
    """The members of a `Committee`: a soft, a whitened and a local ball.

    Returns
    -------
    list of estimator
        Unfitted.
    """
    return [SoftBallDetector(), WhitenedBallDetector(), LocalBallDetector()]
