"""The methods of the paper's Table 2 by their equivalents here, and those beside them.

Every method is a scikit-learn classifier made from a seed. Class 1 is the rare one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mebnb.learning.detectors import ExcludingEllipsoids

__all__ = [
    "ABLATION",
    "C5_TREES",
    "METHODS",
    "PAPER",
    "READINGS",
    "RIVALS",
    "STANDARDISED",
    "Method",
    "RankRule",
    "Resampled",
    "has_c50",
]

COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
# The linear machine needs ten times the iterations for ten times the cost, and stops
# changing long before: the largest cost would take most of the run.
LINEAR_COSTS = COSTS[:-1]
GAMMAS = (0.5, 1.0, 2.0, 4.0)
NEIGHBOURS = (1, 3, 5, 9, 15, 25)


class Resampled(ClassifierMixin, BaseEstimator):
    """A classifier trained on more positives and fewer negatives.

    Parameters
    ----------
    estimator : estimator
    times : int
        Each positive (class 1) is there so many times.
    divisor : int
        So many negatives give one, drawn at random without replacement.
    random_state : int, RandomState or None
        Of the draw.

    Attributes
    ----------
    estimator_ : estimator
        Fitted.
    classes_ : ndarray
    n_features_in_ : int
    """

    def __init__(self, estimator, *, times=1, divisor=1, random_state=None):
        self.estimator = estimator
        self.times = times
        self.divisor = divisor
        self.random_state = random_state

    def fit(self, X, y):
        """Fit the classifier on the resampled examples.

        Parameters
        ----------
        X : array_like, shape (m, d)
        y : array_like of 0 and 1, shape (m,)

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y)
        rng = check_random_state(self.random_state)
        positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        kept = rng.permutation(negatives)[: len(negatives) // self.divisor]
        rows = np.concatenate([np.repeat(positives, self.times), np.sort(kept)])
        self.estimator_ = clone(self.estimator).fit(X[rows], y[rows])
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X):
        """The class of each example, shape (k,)."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    def predict_proba(self, X):
        """Shares of the classes, shape (k, 2)."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)


_RANK_SCALERS = {"unit": MinMaxScaler, "standard": StandardScaler}


class RankRule(ClassifierMixin, BaseEstimator):
    """What is left of the excluding ellipsoids when there are no ellipsoids.

    An example is positive (class 1) when fewer than `m` negatives lie closer to its
    nearest positive training example than it does.

    Parameters
    ----------
    m : int
    any_ball : bool
        True: one positive training example, whichever, is enough.
    scaling : {"unit", "standard"}
        Features are brought to [0, 1] or to mean 0 and variance 1 on the training
        points, as in `ExcludingEllipsoids`.

    Attributes
    ----------
    centers_ : ndarray, shape (p, d)
        The positive training examples, scaled.
    reaches_ : ndarray, shape (p,)
        Squared distance of the m-th nearest negative from each.
    classes_ : ndarray
    n_features_in_ : int
    """

    def __init__(self, m=3, *, any_ball=False, scaling="unit"):
        self.m = m
        self.any_ball = any_ball
        self.scaling = scaling

    def fit(self, X, y):
        """Find the m-th nearest negative of each positive.

        Parameters
        ----------
        X : array_like, shape (n, d)
        y : array_like of 0 and 1, shape (n,)
            At least m zeros.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y)
        self.classes_ = np.unique(y)
        self.scaler_ = _RANK_SCALERS[self.scaling]().fit(X)
        X = self.scaler_.transform(X)
        self.centers_ = X[y == 1]
        distances = cdist(self.centers_, X[y == 0], "sqeuclidean")
        nearest = np.partition(distances, self.m - 1, axis=1)[:, self.m - 1]
        # An example equal to the m-th negative counts as near, whatever the rounding.
        self.reaches_ = nearest * (1 + 1e-12)
        return self

    def decision_function(self, X):
        """Squared distance left to the m-th negative, shape (k,); positive: >= 0."""
        check_is_fitted(self)
        X = self.scaler_.transform(validate_data(self, X, reset=False))
        distances = cdist(X, self.centers_, "sqeuclidean")
        left = self.reaches_ - distances
        if self.any_ball:
            return left.max(axis=1)
        return left[np.arange(len(X)), distances.argmin(axis=1)]

    def predict(self, X):
        """The class of each example, shape (k,)."""
        return (self.decision_function(X) >= 0).astype(int)


# --- the list ----------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """A classifier with what a reader must know of it.

    Attributes
    ----------
    name : str
    make : callable
        seed -> unfitted classifier.
    here : str
        What it is, in words.
    differs : str
        How it differs from what the paper used; empty for methods of our own.
    """

    name: str
    make: Callable[[int], Any]
    here: str
    differs: str = ""


def has_c50():
    """Whether the package c50py (the extra "trees") is installed."""
    return importlib.util.find_spec("c50py") is not None


def _cart(seed):
    return DecisionTreeClassifier(criterion="entropy", random_state=seed)


def _c50(seed):
    from c50py import C5Classifier

    return C5Classifier(min_samples_leaf=1, random_state=seed)


def _resampled(tree, times, divisor):
    return lambda seed: Resampled(
        tree(seed), times=times, divisor=divisor, random_state=seed
    )


def _two_folds(seed):
    return StratifiedKFold(2, shuffle=True, random_state=seed)


def _svm(grid, **options):
    machine = SVC(class_weight="balanced", cache_size=500, **options)
    grid = {f"svc__{name}": values for name, values in grid.items()}
    return lambda seed: GridSearchCV(
        make_pipeline(StandardScaler(), machine),
        grid,
        scoring="f1",
        cv=_two_folds(seed),
    )


def _neighbours(seed):
    return GridSearchCV(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": NEIGHBOURS},
        scoring="average_precision",
        cv=_two_folds(seed),
    )


def _forest(seed):
    return RandomForestClassifier(
        100, class_weight="balanced_subsample", random_state=seed
    )


def _boosting(seed):
    return HistGradientBoostingClassifier(class_weight="balanced", random_state=seed)


def _logistic(seed):
    return make_pipeline(
        StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000)
    )


def _own_threshold(make):
    return lambda seed: TunedThresholdClassifierCV(
        make(seed), scoring="f1", cv=_two_folds(seed)
    )


def _ellipsoids(**options):
    return lambda seed: ExcludingEllipsoids(random_state=seed, **options)


_SAMPLING = {"DT": (1, 1), "DT_O": (5, 1), "DT_U": (1, 2), "DT_OU": (5, 2)}
_SAMPLED = {
    "DT": "",
    "DT_O": ", each positive five times",
    "DT_U": ", half of the negatives, drawn at random",
    "DT_OU": ", each positive five times and half of the negatives",
}


def _trees(make, suffix, here, differs):
    return [
        Method(name + suffix, _resampled(make, *_SAMPLING[name]), here + told, differs)
        for name, told in _SAMPLED.items()
    ]


_PAPER = [
    Method(
        "RF",
        lambda seed: RandomForestClassifier(10, random_state=seed),
        "scikit-learn forest of 10 trees",
        "averages the trees' shares, where the R package counts votes",
    ),
    *_trees(
        _cart,
        "",
        "scikit-learn tree, entropy, grown to pure leaves",
        "not pruned; C5.0 takes the gain ratio and prunes twice",
    ),
    Method(
        "LSVM",
        _svm({"C": LINEAR_COSTS}, kernel="linear"),
        "linear machine of LIBSVM, balanced weights, standardised features",
        "the same library as e1071, which divides by the n - 1 standard deviation; "
        "the largest cost is left out",
    ),
    Method(
        "RBFSVM",
        _svm({"C": COSTS, "gamma": GAMMAS}),
        "RBF machine of LIBSVM, balanced weights, standardised features",
        "the same library as e1071, which divides by the n - 1 standard deviation",
    ),
    Method(
        "ME2",
        _ellipsoids(),
        "ExcludingEllipsoids, features in [0, 1], R a squared radius, ranked among "
        "negatives by the Euclidean distance, ties to the smallest lambda, then mu",
        "solved exactly, where Rsolnp stops somewhere; the reading is ours",
    ),
]
_C5_TREES = _trees(
    _c50,
    " (C5.0)",
    "C5.0 tree of c50py, at least one example in a leaf",
    "C5.0 written anew",
)
_RIVALS = [
    Method(
        "k-NN",
        _own_threshold(_neighbours),
        "number of neighbours and the share of votes that is enough, both tuned",
    ),
    Method(
        "balanced forest",
        _own_threshold(_forest),
        "scikit-learn forest of 100 trees, balanced weights, tuned threshold",
    ),
    Method(
        "gradient boosting",
        _own_threshold(_boosting),
        "histogram boosting of scikit-learn, balanced weights, tuned threshold",
    ),
    Method(
        "logistic regression",
        _own_threshold(_logistic),
        "standardised features, balanced weights, tuned threshold",
    ),
]
_ABLATION = [
    Method("rank rule alone", lambda seed: RankRule(), "ME2 without the ellipsoids"),
    Method("ellipsoid alone", _ellipsoids(m=None), "ME2 without the rank rule"),
    Method(
        "any positive's ball",
        lambda seed: RankRule(any_ball=True),
        "no ellipsoid, and any positive counts, not the nearest alone",
    ),
]
_READINGS = [
    Method(
        "learned metric",
        _ellipsoids(rank_metric="learned"),
        "negatives ranked in the ellipsoid's own metric",
    ),
    Method("R a radius", _ellipsoids(radius="plain"), "R squared in loss and rule"),
    Method(
        "rank among all",
        _ellipsoids(rank_among="all"),
        "positives count among the closer points too",
    ),
    Method("largest tie", _ellipsoids(ties="largest"), "ties to the largest lambda"),
    Method(
        "standardised",
        _ellipsoids(scaling="standard"),
        "features of mean 0 and variance 1",
    ),
    Method("unscaled", _ellipsoids(scaling=None), "features as they are in the file"),
]
_STANDARDISED = [
    Method(
        "standardised rank rule",
        lambda seed: RankRule(scaling="standard"),
        'the reading "standardised" without the ellipsoids',
    ),
]

METHODS = {
    method.name: method
    for group in (_PAPER, _C5_TREES, _RIVALS, _ABLATION, _READINGS, _STANDARDISED)
    for method in group
}
"""Every method by its name."""

PAPER, C5_TREES, RIVALS, ABLATION, READINGS = (
    tuple(method.name for method in group)
    for group in (_PAPER, _C5_TREES, _RIVALS, _ABLATION, _READINGS)
)
STANDARDISED = ("standardised", "standardised rank rule")
