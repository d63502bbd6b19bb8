"""Clusters of the nominal rows, and a ball about each where columns are uncorrelated.

One covariance of rows in two clusters measures the way from one to the other, so that a
row between them lies in the middle. Within the clusters there is no such way.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.stats import binomtest
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from mebnb.learning.detectors import MahalanobisDetector, whitened_lengths

__all__ = ["WhitenedBallsDetector", "clusters_apart"]

MOST_CLUSTERS = 5
FEWEST_MEMBERS = 10
SEED = 0
# Fewer starts miss two plain clusters in some tables.
STARTS = 10
# Rows that mixtures are fitted to, at most; the others get the nearest cluster.
MOST_ROWS = 1000
# A fifth of the way from center to center.
FIFTH = 0.1
# A gap holds less than this share of the rows that the thinner center holds.
GAP = 0.5
CHANCE = 1e-3


class WhitenedBallsDetector(MahalanobisDetector):
    """The distance to the nearest cluster, where columns are uncorrelated within them.

    Clusters are those of a Gaussian mixture of the whitened rows; their number, up to
    five, grows as long as the BIC falls and each cluster has at least ten rows. The
    covariance is that of the rows about the means of their clusters, shrunk as Ledoit
    and Wolf have it. Of a single cluster it is the Mahalanobis distance.

    Parameters
    ----------
    factor, quantile
        As in `BallDetector`.

    Attributes
    ----------
    centers_ : ndarray, shape (c, n)
        The means of the clusters.
    covariance_ : LedoitWolf
        Within the clusters.
    offset_ : float
        Minus the threshold.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[:100] += 20.0
    >>> balls = WhitenedBallsDetector().fit(X)
    >>> print(len(balls.centers_), balls.predict([[0.0, 0.0], [10.0, 10.0]]))
    2 [ 1 -1]
    """

    def _locate(self, X):
        cluster = mixture_clusters(X)
        means = np.array([X[cluster == one].mean(axis=0) for one in np.unique(cluster)])
        super()._locate(X - means[cluster])
        self.centers_ = means + self.covariance_.location_
        del self.center_

    def _distances(self, X):
        return self._to_centers(X).min(axis=1)

    def _to_centers(self, X):
        precision = self.covariance_.precision_
        return np.column_stack(
            [whitened_lengths(X - center, precision) for center in self.centers_]
        )

    def nearest(self, X):
        """The nearest cluster of each row.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray of int, shape (k,)
            Rows of `centers_`.
        """
        return self._to_centers(np.asarray(X, dtype=float)).argmin(axis=1)

    def ball(self, cluster):
        """The ball about one cluster alone, as a detector.

        Parameters
        ----------
        cluster : int

        Returns
        -------
        MahalanobisDetector
            Fitted, with this detector's covariance and threshold.
        """
        alone = MahalanobisDetector()
        alone.covariance_, alone.offset_ = self.covariance_, self.offset_
        alone.center_ = self.centers_[cluster]
        alone.n_features_in_ = self.n_features_in_
        return alone


def mixture_clusters(X):
    """The cluster of each row, by a mixture in the space where rows are uncorrelated.

    One cluster more is tried as long as the BIC falls and each has ten rows.

    Parameters
    ----------
    X : ndarray, shape (m, n)

    Returns
    -------
    ndarray of int, shape (m,)
        From 0 on.
    """
    best, cluster = np.inf, np.zeros(len(X), dtype=int)
    most = min(MOST_CLUSTERS, len(X) // FEWEST_MEMBERS)
    if most < 2:
        return cluster
    spread = X.std(axis=0)
    if not spread.any():
        return cluster
    whitening = PCA(whiten=True, svd_solver="full").fit(X)
    # Directions without any spread are rounding, blown up.
    kept = whitening.explained_variance_ > 1e-18 * spread.max() ** 2
    whitened = whitening.transform(X)[:, kept]
    part = whitened
    if len(X) > MOST_ROWS:
        rng = np.random.default_rng(SEED)
        part = whitened[np.sort(rng.choice(len(X), MOST_ROWS, replace=False))]
    for count in range(1, most + 1):
        mixture = GaussianMixture(
            count, covariance_type="diag", n_init=STARTS, random_state=SEED
        )
        own = mixture.fit(part).predict(whitened)
        sizes = np.bincount(own, minlength=count)
        quality = mixture.bic(part)
        if quality >= best or sizes.min() < FEWEST_MEMBERS:
            break
        best, cluster = quality, own
    return cluster


def clusters_apart(X):
    """How many clusters there are with a gap between them.

    Clusters of a mixture need not be apart: it takes several to fill a bent cloud. Two
    count as one unless, on the line through their means, the middle fifth of the way
    holds less than half as many of their rows as the fifth about either mean, by more
    than chance.

    Parameters
    ----------
    X : ndarray, shape (m, n)

    Returns
    -------
    ndarray of int
        Rows of each of them, the largest first.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> print(clusters_apart(X), clusters_apart(X + 9.0 * (X[:, :1] > 0.5)))
    [200] [145  55]
    """
    cluster = mixture_clusters(X)
    count = cluster.max() + 1
    joined = np.array(
        [
            [
                one == other or not _gap(X[cluster == one], X[cluster == other])
                for one in range(count)
            ]
            for other in range(count)
        ]
    )
    _, group = connected_components(joined, directed=False)
    return np.sort(np.bincount(group[cluster]))[::-1]


def _gap(first, second):
    """Whether few rows lie halfway between the means of two clusters."""
    start, way = first.mean(axis=0), second.mean(axis=0) - first.mean(axis=0)
    place = (np.vstack([first, second]) - start) @ way / (way @ way)
    at_start, middle, at_end = (
        int((np.abs(place - where) <= FIFTH).sum()) for where in (0.0, 0.5, 1.0)
    )
    thinner = min(at_start, at_end)
    if not middle < GAP * thinner:
        return False
    return binomtest(middle, middle + thinner, 0.5).pvalue < CHANCE
