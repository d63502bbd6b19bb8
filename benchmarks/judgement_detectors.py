"""The detectors of the judgement, and designs of a committee that were tried."""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import KFold
from sklearn.neighbors import KernelDensity
from sklearn.svm import OneClassSVM

__all__ = [
    "DESIGNS",
    "Copod",
    "Ecod",
    "ExtendedForest",
    "contenders",
    "joined_scores",
    "pool",
]

FOLDS = 5
# Beyond this quantile of the held-out scores the tail is a law with one parameter.
TAIL = 0.9


class Ecod(BaseEstimator):
    """Sum over columns of minus the logarithm of empirical tails (Li et al., 2022).

    The tails are those of the training rows alone. PyOD counts the rows that are
    judged in, so that a score hangs on its company.
    """

    def fit(self, X, y=None):
        self.columns_ = np.sort(X, axis=0).T
        # PyOD's program asks for the sign first: one tail, that of the longer side.
        self.longer_ = np.nan_to_num(stats.skew(X, axis=0)) >= 0
        return self

    def score_samples(self, X):
        left, right, skewed = self._tails(X)
        return -np.maximum(np.maximum(left, right), skewed).sum(axis=1)

    def _tails(self, X):
        size = self.columns_.shape[1]
        pairs = list(zip(self.columns_, X.T))
        below = np.array([np.searchsorted(c, x, side="right") for c, x in pairs]).T
        above = (
            size - np.array([np.searchsorted(c, x, side="left") for c, x in pairs]).T
        )
        left, right = (-np.log((count + 1) / (size + 1)) for count in (below, above))
        return left, right, np.where(self.longer_, right, left)


class Copod(Ecod):
    """As `Ecod`, with the mean of the tails in place of the larger (Li et al., 2020)."""

    def score_samples(self, X):
        left, right, skewed = self._tails(X)
        return -np.maximum((left + right) / 2, skewed).sum(axis=1)


class ExtendedForest(BaseEstimator):
    """Isolation forest with cuts in any direction (Hariri, Kind and Brunner, 2021).

    As that paper has it: a hundred trees of 256 rows, the normal of a cut drawn from
    the normal law, its place uniformly from the box of the rows that it parts.
    """

    TREES, ROWS = 100, 256

    def fit(self, X, y=None):
        rng = np.random.default_rng(0)
        size = min(self.ROWS, len(X))
        depth = int(np.ceil(np.log2(max(size, 2))))
        samples = (X[rng.permutation(len(X))[:size]] for _ in range(self.TREES))
        self.trees_ = [_tree(sample, depth, rng) for sample in samples]
        return self

    def score_samples(self, X):
        depths = np.zeros(len(X))
        for tree in self.trees_:
            _descend(tree, X, np.arange(len(X)), 0, depths)
        return depths / self.TREES


def _tree(rows, depth, rng):
    """Nested cuts (normal, border, near side, far side); a leaf is how many it holds."""
    if depth == 0 or len(rows) < 2:
        return len(rows)
    low, high = rows.min(axis=0), rows.max(axis=0)
    normal = rng.standard_normal(rows.shape[1])
    border = rng.uniform(low, high) @ normal
    near = rows @ normal <= border
    sides = rows[near], rows[~near]
    return normal, border, *(_tree(side, depth - 1, rng) for side in sides)


def _descend(tree, X, ids, depth, depths):
    """Add the depth of the leaf of each row, and of the tree that a leaf stands for."""
    if isinstance(tree, tuple):
        normal, border, *sides = tree
        near = X[ids] @ normal <= border
        for side, here in zip(sides, (ids[near], ids[~near])):
            if len(here):
                _descend(side, X, here, depth + 1, depths)
        return
    depths[ids] += depth + _mean_depth(tree)


def _mean_depth(count):
    """Of a random binary search tree of so many rows."""
    if count < 3:
        return max(count - 1, 0)
    return 2 * (np.log(count - 1) + np.euler_gamma) - 2 * (count - 1) / count


class WhitenedLocal(BaseEstimator):
    """The local ball in the space of `WhitenedBallDetector`."""

    def fit(self, X, y=None):
        from mebnb import LocalBallDetector

        covariance = LedoitWolf().fit(X)
        self.root_ = np.linalg.cholesky(covariance.precision_)
        self.local_ = LocalBallDetector().fit(X @ self.root_)
        return self

    def score_samples(self, X):
        return self.local_.score_samples(X @ self.root_)


def contenders():
    """Every detector by its name, unfitted; parameters as their makers have them.

    Returns
    -------
    dict of str to estimator
    """
    import mebnb
    from mebnb.learning import detectors, local_balls

    rivals = [
        local_balls.LocalBallDetector(),
        detectors.DistinctLocalOutlierFactor(),
        Ecod(),
        detectors.MahalanobisDetector(),
    ]
    return {
        "hard ball": mebnb.BallDetector(),
        "soft ball": mebnb.SoftBallDetector(),
        "local ball (kNN)": local_balls.LocalBallDetector(),
        "whitened ball": local_balls.WhitenedBallDetector(),
        "several balls": local_balls.SeveralBallsDetector(random_state=0),
        "kernel ball": local_balls.KernelBallDetector(),
        "committee": local_balls.Committee(random_state=0),
        "LOF": detectors.DistinctLocalOutlierFactor(),
        "isolation forest": IsolationForest(random_state=0),
        "extended forest": ExtendedForest(),
        "one-class SVM": OneClassSVM(nu=0.05, gamma="scale"),
        "Gaussian mixture": GaussianMixture(3, reg_covar=1e-3, random_state=0),
        "kernel density": KernelDensity(bandwidth="scott"),
        "ECOD": Ecod(),
        "COPOD": Copod(),
        "Mahalanobis": detectors.MahalanobisDetector(),
        "distance to the mean": detectors.MeanDetector(),
        "committee of rivals": local_balls.Committee(rivals, random_state=0),
    }


# --- designs of a committee --------------------------------------------------------
def pool():
    """Those that may sit in a committee, cheap enough to be fitted five times."""
    from mebnb.learning import detectors, local_balls

    return {
        "soft": detectors.SoftBallDetector(),
        "whitened": local_balls.WhitenedBallDetector(),
        "local": local_balls.LocalBallDetector(),
        "whitened local": WhitenedLocal(),
        "LOF": detectors.DistinctLocalOutlierFactor(),
        "ECOD": Ecod(),
    }


def held_out(member, X):
    """Detectors of five folds and the scores of the rows that each has not seen."""
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    fitted, out = [], []
    for seen, unseen in folds.split(X):
        one = clone(member).fit(X[seen])
        fitted.append(one)
        out.append(one.score_samples(X[unseen]))
    return fitted, out


def voices(member, X, Y):
    """What a member says of each row of Y, in three languages: logarithms of p-values.

    "counted" is the cross-conformal p-value, which ends at one over the rows of X.
    "exponential" and "Pareto" carry on beyond: nine tenths of the held-out scores are
    counted and the rest follows the tail of that name, fitted by its mean.
    """
    fitted, out = held_out(member, X)
    scores = [one.score_samples(Y) for one in fitted]
    count = sum((own[:, None] <= s).sum(axis=0) for own, s in zip(out, scores))
    counted = np.log((1 + count) / (1 + len(X)))
    abnormal, known = -np.mean(scores, axis=0), -np.concatenate(out)
    told = {"counted": counted, "exponential": _tailed(counted, abnormal, known)}
    # Distances are positive; a factor that falls below zero is counted alone.
    if known.min() > 0 and abnormal.min() > 0:
        told["Pareto"] = _tailed(counted, np.log(abnormal), np.log(known))
    else:
        told["Pareto"] = told["exponential"]
    return told


def _tailed(counted, abnormal, known):
    border = np.quantile(known, TAIL)
    beyond = known[known > border]
    mean = (beyond - border).mean() if len(beyond) else 1.0
    tail = np.log(1 - TAIL) - (abnormal - border) / max(mean, 1e-12)
    return np.where(abnormal > border, tail, np.maximum(counted, np.log(1 - TAIL)))


BALLS = ("soft", "whitened", "local")
# Name -> members, language and how the logarithms of p-values become one score.
DESIGNS = {
    "mean of p-values": (BALLS, "counted", lambda p: np.exp(p).mean(axis=0)),
    "smallest p-value": (BALLS, "counted", lambda p: p.min(axis=0)),
    "largest p-value": (BALLS, "counted", lambda p: p.max(axis=0)),
    "sum of normal quantiles": (
        BALLS,
        "counted",
        lambda p: stats.norm.ppf(np.minimum(np.exp(p), 1 - 1e-6)).mean(axis=0),
    ),
    "local ball counts twice": ((*BALLS, "local"), "counted", lambda p: p.mean(axis=0)),
    "and ECOD": ((*BALLS, "ECOD"), "counted", lambda p: p.mean(axis=0)),
    "and LOF": ((*BALLS, "LOF"), "counted", lambda p: p.mean(axis=0)),
    "local and whitened local": (
        ("local", "whitened local"),
        "counted",
        lambda p: p.mean(axis=0),
    ),
    "exponential tails": (BALLS, "exponential", lambda p: p.mean(axis=0)),
    "Pareto tails": (BALLS, "Pareto", lambda p: p.mean(axis=0)),
    "Pareto tails, smallest": (BALLS, "Pareto", lambda p: p.min(axis=0)),
    "Pareto tails, smallest, LOF and whitened local too": (
        (*BALLS, "whitened local", "LOF"),
        "Pareto",
        lambda p: p.min(axis=0),
    ),
    "Pareto tails, whitened local too": (
        (*BALLS, "whitened local"),
        "Pareto",
        lambda p: p.mean(axis=0),
    ),
    "Pareto tails, LOF and whitened local too": (
        (*BALLS, "whitened local", "LOF"),
        "Pareto",
        lambda p: p.mean(axis=0),
    ),
    "Pareto tails, local, whitened local, LOF": (
        ("local", "whitened local", "LOF"),
        "Pareto",
        lambda p: p.mean(axis=0),
    ),
}


def joined_scores(X, Y, designs=tuple(DESIGNS)):
    """The score of each design for the rows of Y: the lower, the more abnormal.

    Parameters
    ----------
    X : ndarray
        Nominal rows that the members are fitted on.
    Y : ndarray
    designs : sequence of str

    Returns
    -------
    dict of str -> ndarray
    """
    needed = {member for design in designs for member in DESIGNS[design][0]}
    told = {name: voices(pool()[name], X, Y) for name in needed}
    scores = {}
    for design in designs:
        members, language, rule = DESIGNS[design]
        scores[design] = rule(np.array([told[one][language] for one in members]))
    return scores
