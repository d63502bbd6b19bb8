"""Outlier detectors in scikit-learn's form: a center, a distance and a threshold.

`BallDetector` is the hard minimum enclosing ball, `SoftBallDetector` the ball with
slack, also by a kernel. The plainest rivals, the distance to the mean and the
Mahalanobis distance, are here because scikit-learn has neither; `rival_detectors`
names all that the notebooks compare.
`ExcludingEllipsoids`, at the end, is a classifier: it knows both classes.
"""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from mebnb.solvers.balls import squared_distances
from mebnb.solvers.ellipsoids import excluding_path
from mebnb.solvers.exact import minimum_enclosing_ball
from mebnb.solvers.soft import soft_ball
from mebnb.solvers.soft_plain import plain_soft_ball
from mebnb.solvers.sources import Blocks, by_blocks, opened

__all__ = [
    "BallDetector",
    "DistinctLocalOutlierFactor",
    "ExcludingEllipsoids",
    "MahalanobisDetector",
    "MeanDetector",
    "PlainSoftBallDetector",
    "SoftBallDetector",
    "rival_detectors",
]


# Below this a sum of squares may have lost digits that were too small to be held.
SMALLEST_SQUARE = 1e-280
# LedoitWolf forms fourth powers of differences from the mean.
COVARIANCE_RANGE = (1e-70, 1e70)
# The scalers take a feature for constant whose range is about the rounding of 1.
SCALED_RANGE = (1e-14, 1e150)


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
            When the points are not finite numbers in two dimensions, or too large or
            small for what is computed from them, the factor is less than 1, the quantile
            is not in (0, 1], or both are given.

        Warns
        -----
        ConvergenceWarning
            When the ball that was found is not proved to be the right one.
        """
        self._check_threshold()
        X = self._training_rows(X)
        self._locate(X)
        ball = getattr(self, "ball_", None)
        if ball is not None and not ball.converged:
            warnings.warn(ball.message, ConvergenceWarning, stacklevel=2)
        distances = np.asarray(by_blocks(self._distances_of, X))
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
        X : array_like, path, table or Blocks; shape (k, n)
            As `minimum_enclosing_ball` takes them: what lies on disk is read block by
            block. So it is for the other methods that judge rows.

        Returns
        -------
        ndarray, or of a Dask array or frame a lazy Dask array; shape (k,)
        """
        check_is_fitted(self)
        return by_blocks(self._score_rows, X)

    def _distances_of(self, X):
        return self._distances(np.asarray(X))

    def _score_rows(self, X):
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

    def _training_rows(self, X):
        return validate_data(self, X, dtype=np.float64)

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


def _lengths(X, center):
    """Distances from a center, also where their squares overflow or vanish."""
    with np.errstate(over="ignore"):
        squared = squared_distances(X, center)
    distances = np.sqrt(squared)
    lost = ~((squared > SMALLEST_SQUARE) & (squared < np.inf))
    if lost.any():
        most = np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            apart = np.clip(X[lost] - center, -most, most)
            largest = np.abs(apart).max(axis=1, keepdims=True)
            largest[largest == 0.0] = 1.0
            distances[lost] = largest[:, 0] * np.linalg.norm(apart / largest, axis=1)
    return distances


class BallDetector(_DistanceDetector):
    """The minimum enclosing ball of the training points as an outlier detector.

    The hard ball of the report and the slides, solved to optimality: the threshold
    is its radius, so that no training point is an outlier. It may also be fitted to a
    path, a table, a Dask array or `Blocks`, which are read block by block.

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

    def _training_rows(self, X):
        source = opened(X)
        if not isinstance(source, Blocks):
            return super()._training_rows(source)
        one = np.zeros((1, source.shape[1]))
        names = source.names
        validate_data(self, one if names is None else pd.DataFrame(one, columns=names))
        return source

    def _locate(self, X):
        self.ball_ = minimum_enclosing_ball(X)
        self.center_ = self.ball_.center
        self.radius_ = self.ball_.radius

    def _distances(self, X):
        return _lengths(X, self.center_)

    def _reach(self, distances):
        # The two are equal up to rounding; no training point may fall outside.
        return max(self.radius_, distances.max())


class SoftBallDetector(_DistanceDetector):
    """The ball with slack (SVDD) of the training points as an outlier detector.

    The threshold is its radius, so that at most a share nu of the training points is
    called outliers.

    Parameters
    ----------
    nu : float
        In (0, 1], as in scikit-learn's OneClassSVM: at most this share of the training
        points lies outside, at least this share has weight.
    kernel : {"linear", "rbf"} or callable
        "linear" is the ball in the space of the data. With "rbf" it is the one-class
        SVM of the same nu and gamma.
    gamma : float or "scale"
        Of the RBF kernel; other kernels leave it aside.
    factor : float
        The threshold is the radius times this number, at least 1.
    quantile : float, optional
        The threshold is this quantile of the training points' distances from the
        center instead.

    Attributes
    ----------
    ball_ : SoftBall
        The ball with its support, weights and certificate.
    center_ : ndarray, shape (n,), or None
        None for kernels.
    radius_ : float
        In the space of the kernel.
    offset_ : float
        Minus the threshold.
    n_features_in_ : int

    See Also
    --------
    mebnb.soft_ball : the solver.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> soft = SoftBallDetector(nu=0.1).fit(X)
    >>> print((soft.predict(X) == -1).sum())
    20
    """

    def __init__(
        self, *, nu=0.05, kernel="linear", gamma="scale", factor=1.0, quantile=None
    ):
        super().__init__(factor=factor, quantile=quantile)
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "outlier_detector"
        return tags

    def _locate(self, X):
        if isinstance(self.kernel, str) and self.kernel not in ("linear", "rbf"):
            raise ValueError(
                f"kernel must be 'linear', 'rbf' or a function, found {self.kernel!r}"
            )
        rbf = isinstance(self.kernel, str) and self.kernel == "rbf"
        gamma = self.gamma if rbf else None
        self.ball_ = soft_ball(X, self.nu, kernel=self.kernel, gamma=gamma)
        self.center_ = self.ball_.center
        self.radius_ = self.ball_.radius

    def _distances(self, X):
        if self.center_ is not None:
            return _lengths(X, self.center_)
        return np.sqrt(self.ball_.squared_distances(X))

    def _reach(self, distances):
        # Without slack, rounding must not put a training point outside.
        hard = self.ball_.C >= 1
        reach = max(self.radius_, distances.max()) if hard else self.radius_
        if self.center_ is not None:
            return reach
        # The last bits of a kernel hang on which points are asked for together.
        return np.sqrt(reach**2 + 2.0 * self.ball_.rounding)


class PlainSoftBallDetector(_DistanceDetector):
    """The ball whose slack is a plain distance, not a squared one, as a detector.

    Parameters
    ----------
    nu : float
        As in `SoftBallDetector`.
    factor, quantile
        As in `BallDetector`.

    Attributes
    ----------
    ball_ : PlainSoftBall
    center_ : ndarray, shape (n,)
    radius_ : float
    offset_ : float
        Minus the threshold.
    n_features_in_ : int

    See Also
    --------
    mebnb.solvers.soft_plain.plain_soft_ball : the solver.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.append(np.linspace(-1.0, 1.0, 19), 1e6)[:, None]
    >>> PlainSoftBallDetector(nu=0.2).fit(X).predict([[0.5], [3.0]])
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
        self.ball_ = plain_soft_ball(X, self.nu)
        self.center_ = self.ball_.center
        self.radius_ = self.ball_.radius

    def _distances(self, X):
        return _lengths(X, self.center_)

    def _reach(self, distances):
        return max(self.radius_, distances.max()) if self.ball_.C >= 1 else self.radius_


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
        return _lengths(X, self.center_)


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
        with np.errstate(over="ignore"):
            extent = np.abs(X - X[0]).max()
        if extent == 0.0:
            raise ValueError(
                f"X must hold rows that differ to have a covariance, found {len(X)} "
                "samples that do not"
            )
        if not COVARIANCE_RANGE[0] < extent < COVARIANCE_RANGE[1]:
            raise ValueError(
                "X must have a covariance that float64 can hold, found differences of "
                f"{extent:.1e}; multiply X by a constant first"
            )
        self.covariance_ = LedoitWolf().fit(X)
        self.center_ = self.covariance_.location_

    def _distances(self, X):
        return whitened_lengths(X - self.center_, self.covariance_.precision_)


def whitened_lengths(apart, precision):
    """Lengths of rows in the space of a precision; infinite where squares overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        # Row by row, where a matrix product's last bits hang on the other rows.
        there = np.einsum("ij,jk->ik", apart, precision)
        squares = np.einsum("ij,ij->i", there, apart)
    return np.sqrt(np.maximum(np.where(np.isnan(squares), np.inf, squares), 0.0))


class DistinctLocalOutlierFactor(LocalOutlierFactor):
    """The local outlier factor of the distinct training points, for new points.

    Where one vector comes in more rows than there are neighbours, the distance to the
    last neighbour is 0 there and the density beside it infinite: the factor of a
    training point can exceed 1e9, and scikit-learn warns of that without `novelty`
    alone. Here each vector counts once.

    Parameters
    ----------
    n_neighbors : int
        Of how many distinct points.

    References
    ----------
    M. M. Breunig, H.-P. Kriegel, R. T. Ng, J. Sander, LOF: identifying density-based
    local outliers, SIGMOD 2000. Its remark on duplicates asks for distinct neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0], [1.0], [2.0], [3.0]], 9, axis=0)
    >>> lof = DistinctLocalOutlierFactor(n_neighbors=2).fit(X)
    >>> print(lof.predict([[1.5], [9.0]]), lof.n_samples_fit_)
    [ 1 -1] 4
    """

    def __init__(self, n_neighbors=20):
        super().__init__(n_neighbors, novelty=True)

    def fit(self, X, y=None):
        """Fit on the distinct rows of X.

        Parameters
        ----------
        X : array_like, shape (m, n)
            Training points, nominal ones.
        y : ignored

        Returns
        -------
        self
        """
        return super().fit(np.unique(check_array(X), axis=0))


def rival_detectors(seed=0):
    """What a practitioner would set beside the hard ball, in a fixed order.

    Parameters
    ----------
    seed : int
        Of the isolation forest, the only one that draws random numbers.

    Returns
    -------
    dict of str to estimator
        Unfitted; for `mebnb.learning.evaluate_repeatedly`.
    """
    return {
        "hard ball": BallDetector(),
        "distance to the mean": MeanDetector(),
        "Mahalanobis distance": MahalanobisDetector(),
        "one-class SVM": OneClassSVM(nu=0.05, gamma="scale"),
        "isolation forest": IsolationForest(random_state=seed),
        "local outlier factor": DistinctLocalOutlierFactor(),
    }


class ExcludingEllipsoids(ClassifierMixin, BaseEstimator):
    """One excluding ellipsoid per positive example, for classes of very unequal size.

    The method of the paper on maximum excluding ellipsoids (Section 5). An example
    belongs to its nearest positive training example and is called positive when it
    lies in that one's ellipsoid and fewer than `m` negatives lie closer to the
    ellipsoid's center. Each ellipsoid has its own mu and lambda, tuned on two folds:
    fitted on the negatives of its own fold, judged on those examples of the other
    fold that belong to it, then fitted again on all negatives.

    The paper leaves several things open; the defaults are the readings that its
    equations and its published recalls speak for.

    Parameters
    ----------
    mus, lams : sequence of float
        The grid; the paper's by default.
    B : float
        Largest squared radius, in the units of the scaled features.
    m : int or None
        How near an example must be: fewer than m ranked points are closer. None
        leaves this part of the rule out.
    radius : {"squared", "plain"}
        Whether R is a squared radius (problem 2) or a radius (equation 8).
    rank_among : {"negatives", "all"}
        The training points that count: negatives only, or positives too.
    rank_metric : {"euclidean", "learned"}
        The distance they are ranked by.
    ties : {"smallest", "largest"}
        Of equally good pairs the one with the smallest lambda, then the smallest mu,
        is taken, or the largest. Most pairs tie.
    scaling : {"unit", "standard"} or None
        Features are brought to [0, 1] or to mean 0 and variance 1 on the training
        points, or left alone. B = 4 goes with "unit".
    positive : label or None
        The class that gets the ellipsoids; None for the rarer one, the later label
        where both are as frequent.
    n_jobs : int or None
        Threads over the positives; the result is the same.
    random_state : int, RandomState or None
        Of the split into two folds.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    positive_ : label
    centers_ : ndarray, shape (p, d)
        The positive examples, scaled.
    mu_, lam_ : ndarray, shape (p,)
        What was chosen for each.
    tied_ : ndarray of int, shape (p,)
        Pairs of the grid that were as good as the chosen one, itself included.
    R_ : ndarray, shape (p,)
    thresholds_ : ndarray, shape (p,)
        What squared distances in the learned metric are held against.
    M_ : ndarray, shape (p, d, d)
    reaches_ : ndarray, shape (p,)
        Squared distance of the m-th ranked point from each center; infinite where
        there are fewer or m is None.
    scaler_ : transformer or None
    n_features_in_ : int

    See Also
    --------
    mebnb.excluding_ellipsoid : the solver.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> negatives = rng.uniform(size=(200, 2))
    >>> negatives = negatives[np.linalg.norm(negatives - 0.5, axis=1) > 0.2]
    >>> positives = 0.5 + 0.05 * rng.normal(size=(8, 2))
    >>> X = np.vstack([negatives, positives])
    >>> y = np.repeat([0, 1], [len(negatives), 8])
    >>> model = ExcludingEllipsoids(random_state=0).fit(X, y)
    >>> model.predict([[0.5, 0.5], [0.1, 0.9]])
    array([1, 0])
    """

    def __init__(
        self,
        *,
        mus=(0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 2.0, 10.0),
        lams=(1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0),
        B=4.0,
        m=3,
        radius="squared",
        rank_among="negatives",
        rank_metric="euclidean",
        ties="smallest",
        scaling="unit",
        positive=None,
        n_jobs=None,
        random_state=None,
    ):
        self.mus = mus
        self.lams = lams
        self.B = B
        self.m = m
        self.radius = radius
        self.rank_among = rank_among
        self.rank_metric = rank_metric
        self.ties = ties
        self.scaling = scaling
        self.positive = positive
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X, y):
        """Tune and fit an ellipsoid for each positive example.

        Parameters
        ----------
        X : array_like, shape (m, d)
        y : array_like, shape (m,)
            Two classes.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            When there are not two classes, or a parameter is not one of its values.
        """
        self._check_options()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        positive = self._positive_rows(y)
        self.scaler_ = _SCALERS[self.scaling]()
        if self.scaler_ is not None:
            _check_scalable(X)
            X = self.scaler_.fit_transform(X)
        self.centers_ = X[positive]
        fold = _two_folds(positive, check_random_state(self.random_state))
        tuned = self._each(self._tuned, _validation(X, positive, fold))
        self.mu_, self.lam_, self.tied_ = _columns(tuned)
        rows = np.flatnonzero(positive)
        chosen = zip(rows, self.mu_, self.lam_, strict=True)
        fitted = self._each(self._fitted, ((X, positive, *pair) for pair in chosen))
        self.R_, self.thresholds_, self.M_, self.reaches_ = _columns(fitted)
        return self

    def explain(self, X):
        """What the rule finds for each example.

        Parameters
        ----------
        X : array_like, shape (k, d)

        Returns
        -------
        pandas.DataFrame
            Columns center (row of `centers_`), inside (the ellipsoid), near (fewer
            than m closer), positive (both), margin (how clearly, negative where not).
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self.scaler_ is not None:
            X = self.scaler_.transform(X)
        center = cdist(X, self.centers_, "sqeuclidean").argmin(axis=1)
        y = X - self.centers_[center]
        with np.errstate(over="ignore", invalid="ignore"):
            learned = np.einsum("ki,kij,kj->k", y, self.M_[center], y)
            # So far away that the sum overflowed, or both ways at once.
            learned = np.where(np.isfinite(learned), learned, np.inf)
            ranked = learned if self.rank_metric == "learned" else np.sum(y**2, axis=1)
            to_border = self.thresholds_[center] - learned
            to_rival = self.reaches_[center] - ranked
        return pd.DataFrame(
            {
                "center": center,
                "inside": to_border >= 0,
                "near": to_rival >= 0,
                "positive": (to_border >= 0) & (to_rival >= 0),
                "margin": np.fmin(to_border, to_rival),
            }
        )

    def decision_function(self, X):
        """How clearly an example belongs to `classes_[1]`: above 0 where it does.

        Parameters
        ----------
        X : array_like, shape (k, d)

        Returns
        -------
        ndarray, shape (k,)
            The lesser of two differences of squared distances: to the ellipsoid's
            border and to the m-th ranked point.
        """
        margin = self.explain(X)["margin"].to_numpy()
        # An example on the border is in; the sign has to say so.
        margin = np.where(margin == 0, np.finfo(np.float64).tiny, margin)
        return margin if self.positive_ == self.classes_[1] else -margin

    def predict(self, X):
        """The class of each example.

        Parameters
        ----------
        X : array_like, shape (k, d)

        Returns
        -------
        ndarray, shape (k,)
        """
        later = self.decision_function(X) > 0
        return self.classes_[later.astype(int)]

    def _check_options(self):
        for name, known in _READINGS.items():
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, known))}, found "
                    f"{getattr(self, name)!r}"
                )
        for name in ("mus", "lams"):
            grid = np.asarray(getattr(self, name))
            numbers = grid.ndim == 1 and grid.size and grid.dtype.kind in "fiu"
            if not (numbers and np.all(np.isfinite(grid)) and np.all(grid > 0)):
                raise ValueError(
                    f"{name} must be a list of positive numbers, found "
                    f"{getattr(self, name)!r}"
                )
        if self.m is not None and not (isinstance(self.m, Integral) and self.m >= 1):
            raise ValueError(f"m must be None or a whole number >= 1, found {self.m!r}")

    def _positive_rows(self, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        if len(self.classes_) == 1:
            raise ValueError(
                f"y must hold two classes, found one class: {self.classes_[0]!r}"
            )
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. y must hold two classes, "
                f"found {len(self.classes_)}"
            )
        if self.positive is None:
            self.positive_ = self.classes_[0 if counts[0] < counts[1] else 1]
        elif self.positive in self.classes_:
            self.positive_ = self.positive
        else:
            raise ValueError(
                f"positive must be one of the classes {self.classes_.tolist()}, found "
                f"{self.positive!r}"
            )
        return y == self.positive_

    def _each(self, function, arguments):
        return Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(function)(*given) for given in arguments
        )

    def _path(self, negatives, center, mus, lams):
        return excluding_path(negatives, center, mus, lams, self.B, radius=self.radius)

    def _reach(self, path, points):
        """Squared distance of the m-th nearest of the points, for each ellipsoid."""
        if self.m is None or len(points) < self.m:
            return np.full(path.R.shape, np.inf)
        distances = self._ranking(path, points)
        # An example equal to the m-th point counts as near, whatever the rounding.
        return np.partition(distances, self.m - 1, axis=-1)[..., self.m - 1] * (
            1 + 1e-12
        )

    def _ranking(self, path, points):
        """Squared distances that nearness goes by, (..., k), for each ellipsoid."""
        if self.rank_metric == "learned":
            return path.squared_distances(points)
        plain = squared_distances(points, path.center)
        return np.broadcast_to(plain, (*path.R.shape, len(points)))

    def _ranked(self, X, positive, row):
        others = np.arange(len(X)) != row if self.rank_among == "all" else ~positive
        return X[others]

    def _tuned(self, X, positive, row, x, truth):
        """mu, lambda, number of ties for the center X[row], judged on x and truth."""
        lams, mus = np.sort(self.lams), np.sort(self.mus)
        merit = np.zeros((len(lams), len(mus)))
        if len(x) and not positive.all():
            # From the round end down, as the solver likes it.
            path = self._path(X[~positive], X[row], mus, lams[::-1])
            reach = self._reach(path, self._ranked(X, positive, row))
            called = path.contains(x) & (self._ranking(path, x) <= reach[..., None])
            merit = _merit(called, truth)[::-1]
        best = np.argwhere(merit == merit.max())
        i, j = best[0 if self.ties == "smallest" else -1]
        return mus[j], lams[i], len(best)

    def _fitted(self, X, positive, row, mu, lam):
        path = self._path(X[~positive], X[row], [mu], [lam])
        reach = self._reach(path, self._ranked(X, positive, row))
        return tuple(grid[0, 0] for grid in (path.R, path.threshold, path.M, reach))


_READINGS = {
    "radius": ("squared", "plain"),
    "rank_among": ("negatives", "all"),
    "rank_metric": ("euclidean", "learned"),
    "ties": ("smallest", "largest"),
    "scaling": ("unit", "standard", None),
}
_SCALERS = {"unit": MinMaxScaler, "standard": StandardScaler, None: lambda: None}


def _check_scalable(X):
    with np.errstate(over="ignore"):
        ranges = np.ptp(X, axis=0)
    low, high = SCALED_RANGE
    odd = np.flatnonzero((ranges > 0.0) & ~((ranges > low) & (ranges < high)))
    if odd.size:
        raise ValueError(
            f"X must have features whose range is 0 or from {low:g} to {high:g}, found "
            f"{ranges[odd[0]]:.1e} in column {odd[0]}; multiply it by a constant first"
        )


def _columns(rows):
    return [np.array(column) for column in zip(*rows, strict=True)]


def _two_folds(positive, rng):
    """0 or 1 for each example; both classes split evenly, up to one example."""
    fold = np.zeros(len(positive), dtype=int)
    for rows in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        fold[rng.permutation(rows)[1::2]] = 1
    return fold


def _validation(X, positive, fold):
    """For each positive in order: its fold, its row there, what it is judged on."""
    given = {}
    for own in (0, 1):
        inside, outside = fold == own, fold != own
        here, labels = X[inside], positive[inside]
        rows = np.flatnonzero(labels)
        if not len(rows):
            continue
        owner = cdist(X[outside], here[rows], "sqeuclidean").argmin(axis=1)
        for k, row in enumerate(rows):
            mine = owner == k
            given[np.flatnonzero(inside)[row]] = (
                here,
                labels,
                row,
                X[outside][mine],
                positive[outside][mine],
            )
    return [given[row] for row in np.flatnonzero(positive)]


def _merit(called, truth):
    """F where positives are among the examples, else minus the false positives."""
    false = np.sum(called & ~truth, axis=-1)
    if not truth.any():
        return -false
    right = np.sum(called & truth, axis=-1)
    return 2 * right / (right + false + truth.sum())
