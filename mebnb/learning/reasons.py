"""Why a row is an alarm, and what would clear it, in the units of the file.

The squared distance of a ball is a sum over columns, that of a whitened ball a sum
over pairs of columns: what each adds is exact, and the smallest change that puts a row
on the threshold has a closed form. For any other detector `replacement_gains` asks what
the score gains when one column takes the value of a nominal row: an approximation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from mebnb.learning.alarms import ConformalAlarms

__all__ = [
    "SquaredForm",
    "named_columns",
    "nearest_rows",
    "reason_table",
    "replacement_gains",
    "squared_form",
]

# Deviations from the center beyond which a value is odd by itself.
ODD = 2.0

# Affine maps: a ball behind them is an ellipsoid in the units of the file.
SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler)


@dataclass(frozen=True, eq=False)
class SquaredForm:
    """A detector whose squared distance is (x - center)' matrix (x - center).

    Attributes
    ----------
    center : ndarray, shape (n,)
    matrix : ndarray, shape (n, n)
        Symmetric, positive semidefinite.
    reach : float
        A row is an alarm when its distance is larger.

    Examples
    --------
    >>> import numpy as np
    >>> form = SquaredForm(np.zeros(2), np.eye(2), reach=2.0)
    >>> print(form.contributions([[3.0, 1.0]]), form.single_changes([[3.0, 1.0]]).round(3))
    [[9. 1.]] [[-1.268    nan]]
    """

    center: np.ndarray
    matrix: np.ndarray
    reach: float

    def squared_distances(self, X):
        """Squared distances of rows, shape (k,)."""
        return self.contributions(X).sum(axis=1)

    def contributions(self, X):
        """What each column adds to the squared distance; a row sums to it.

        With a matrix that is not diagonal half of each pair goes to either column, and
        a column can take away.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray, shape (k, n)
        """
        apart = np.asarray(X, dtype=float) - self.center
        return apart * (apart @ self.matrix)

    def pair_contributions(self, X):
        """What each column and each pair of columns adds to the squared distance.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray, shape (k, n, n)
            Of a row: columns on the diagonal, pairs above it, zeros below; the entries
            sum to the squared distance. A pair that is high adds by being unlike what
            its correlation says.
        """
        apart = np.asarray(X, dtype=float) - self.center
        upper = np.triu(2.0 * self.matrix, 1) + np.diag(np.diag(self.matrix))
        return np.einsum("ki,kj,ij->kij", apart, apart, upper)

    def single_changes(self, X):
        """The smallest change of each column alone that puts a row on the threshold.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray, shape (k, n)
            To be added to the value; 0 in rows that are no alarm, NaN where no change
            of this column is enough.
        """
        apart = np.asarray(X, dtype=float) - self.center
        pull = apart @ self.matrix
        excess = (apart * pull).sum(axis=1, keepdims=True) - self.reach**2
        # Roots d of curve d^2 + 2 pull d + excess = 0: the smaller one, without
        # a difference of two near numbers.
        inside = pull**2 - np.diag(self.matrix) * excess
        root = np.sqrt(np.where(inside >= 0.0, inside, np.nan))
        with np.errstate(divide="ignore", invalid="ignore"):
            changes = -excess / (pull + np.copysign(root, pull))
        return np.where(excess > 0.0, changes, 0.0)

    def joint_changes(self, X):
        """The smallest change of all columns that puts a row on the threshold.

        Smallest in the distance of the detector: straight towards the center.

        Parameters
        ----------
        X : array_like, shape (k, n)

        Returns
        -------
        ndarray, shape (k, n)
            To be added to the values; 0 in rows that are no alarm.
        """
        apart = np.asarray(X, dtype=float) - self.center
        squared = np.einsum("ij,ij->i", apart, apart @ self.matrix)
        outside = squared > self.reach**2
        distances = np.sqrt(np.where(outside, squared, 1.0))
        share = np.where(outside, 1.0 - self.reach / distances, 0.0)
        return -share[:, None] * apart


def squared_form(fitted):
    """The squared form of a fitted detector, in the units of the rows it was given.

    Parameters
    ----------
    fitted : estimator
        With a `center_`, such as BallDetector, SoftBallDetector (linear),
        MahalanobisDetector or WhitenedBallDetector; behind scalers in a Pipeline; or
        ConformalAlarms of one of these by the method "split", whose threshold counts.

    Returns
    -------
    SquaredForm

    Raises
    ------
    ValueError
        When the detector's distance is not of this form.
    """
    if isinstance(fitted, ConformalAlarms):
        if fitted.method != "split":
            raise ValueError(
                'method must be "split" for one distance and one threshold, found '
                f"{fitted.method!r}"
            )
        inner = squared_form(fitted.detectors_[0])
        return SquaredForm(inner.center, inner.matrix, -fitted.score_threshold_)
    if isinstance(fitted, Pipeline):
        return _behind_scalers(fitted)
    center = getattr(fitted, "center_", None)
    if center is None:
        raise ValueError(f"fitted must measure from one center, found {fitted!r}")
    covariance = getattr(fitted, "covariance_", None)
    matrix = np.eye(len(center)) if covariance is None else covariance.precision_
    return SquaredForm(center, matrix, -float(fitted.offset_))


def _behind_scalers(pipeline):
    """A Pipeline's form: that of its last step, carried back through the scalers."""
    form = squared_form(pipeline[-1])
    for _, scaler in reversed(pipeline.steps[:-1]):
        if not isinstance(scaler, SCALERS):
            known = ", ".join(one.__name__ for one in SCALERS)
            raise ValueError(f"steps must be of {known}; found {scaler!r}")
        ends = scaler.transform(np.vstack([0.0 * form.center, 0.0 * form.center + 1.0]))
        slopes = ends[1] - ends[0]
        center = scaler.inverse_transform(form.center[None, :])[0]
        matrix = form.matrix * slopes * slopes[:, None]
        form = SquaredForm(center, matrix, form.reach)
    return form


def reason_table(form, row, names=None):
    """What one row's columns add, and what would clear it.

    Parameters
    ----------
    form : SquaredForm
    row : array_like, shape (n,)
    names : sequence of str, optional
        Of the columns.

    Returns
    -------
    pandas.DataFrame
        Index: the columns, the largest contribution first. Columns: value, nominal
        (the center's), contribution (to the squared distance), share, clears_at (the
        value that clears the alarm alone, NaN where none does) and together (the
        value where all are changed).
    """
    row = np.asarray(row, dtype=float)
    contributions = form.contributions(row[None, :])[0]
    table = {
        "value": row,
        "nominal": form.center,
        "contribution": contributions,
        "share": contributions / contributions.sum(),
        "clears_at": row + form.single_changes(row[None, :])[0],
        "together": row + form.joint_changes(row[None, :])[0],
    }
    table = pd.DataFrame(table, index=names).rename_axis("column")
    return table.sort_values("contribution", ascending=False, kind="stable")


def named_columns(form, X):
    """The column, or the pair of columns, that most makes each row an alarm.

    One column is named where setting it to what the others say takes the most off the
    squared distance and clears the alarm, and its value lies more than two deviations
    from the center; so it is wherever the columns are not correlated. Otherwise it is
    the pair that is the farthest out in its own plane: its correlation is broken.

    Parameters
    ----------
    form : SquaredForm
    X : array_like, shape (k, n)
        Alarms.

    Returns
    -------
    list of tuple of int
        One or two columns for each row, the one that takes the most off first.

    Examples
    --------
    >>> form = SquaredForm(np.zeros(2), np.array([[5.3, -4.7], [-4.7, 5.3]]), reach=2.0)
    >>> named_columns(form, [[1.0, -1.0], [3.0, 0.5]])
    [(0, 1), (0,)]
    """
    apart = np.asarray(X, dtype=float) - form.center
    pull = apart @ form.matrix
    taken = pull**2 / np.maximum(np.diag(form.matrix), np.finfo(float).tiny)
    first = taken.argmax(axis=1)
    if not np.triu(form.matrix, 1).any():
        return [(int(column),) for column in first]
    covariance = np.linalg.pinv(form.matrix, hermitian=True)
    at = np.arange(len(apart))
    left = (apart * pull).sum(axis=1) - taken[at, first]
    odd = apart[at, first] ** 2 > ODD**2 * np.diag(covariance)[first]
    alone = odd & (left <= form.reach**2)
    named = [(int(column),) for column in first]
    for row in np.flatnonzero(~alone):
        pair = _farthest_pair(apart[row], covariance)
        named[row] = tuple(sorted(pair, key=lambda column: -taken[row, column]))
    return named


def _farthest_pair(apart, covariance):
    """The two columns whose plane, by itself, has the row the farthest out."""
    variance = np.diag(covariance)
    determinant = np.outer(variance, variance) - covariance**2
    scaled = apart**2 * variance[:, None]  # [i, j]: variance of i, square of j
    distance = scaled + scaled.T - 2.0 * np.outer(apart, apart) * covariance
    least = 1e-12 * np.outer(variance, variance)
    distance = np.where(determinant > least, distance, 0.0)
    distance /= np.maximum(determinant, np.finfo(float).tiny)
    first, second = np.triu_indices(len(variance), 1)
    best = distance[first, second].argmax()
    return int(first[best]), int(second[best])


def nearest_rows(nominal, X, count=3):
    """The nominal rows nearest to each row.

    Parameters
    ----------
    nominal : array_like, shape (m, n)
    X : array_like, shape (k, n)
        Scaled as the detector has it.
    count : int

    Returns
    -------
    distances : ndarray, shape (k, count)
    rows : ndarray of int, shape (k, count)
        Numbers of nominal rows, the nearest first.
    """
    return NearestNeighbors(n_neighbors=count).fit(nominal).kneighbors(X)


def replacement_gains(fitted, X, nominal):
    """What the score gains when one column takes the nearest nominal row's value.

    An approximation for detectors without a closed form: gains of columns do not add
    up, and of two columns that only together are odd each may get all of it.

    Parameters
    ----------
    fitted : estimator
        With `score_samples`.
    X : array_like, shape (k, n)
    nominal : array_like, shape (m, n)
        Nearness is that of columns divided by their standard deviations.

    Returns
    -------
    ndarray, shape (k, n)
    """
    X, nominal = np.asarray(X, dtype=float), np.asarray(nominal, dtype=float)
    scaler = StandardScaler().fit(nominal)
    _, rows = nearest_rows(scaler.transform(nominal), scaler.transform(X), 1)
    donors = nominal[rows[:, 0]]
    before = fitted.score_samples(X)
    gains = np.empty(X.shape)
    for column in range(X.shape[1]):
        changed = X.copy()
        changed[:, column] = donors[:, column]
        with np.errstate(invalid="ignore"):  # of rows endlessly far out
            gains[:, column] = fitted.score_samples(changed) - before
    return gains
