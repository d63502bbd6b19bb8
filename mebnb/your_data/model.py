"""A ball fitted to a table: scores for its rows and for new files, kept as JSON."""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import asdict, dataclass, field
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from mebnb.learning.splits import SCALERS, fitted_scaler
from mebnb.solvers.balls import beyond, squared_distances
from mebnb.solvers.certificates import verify
from mebnb.solvers.exact import minimum_enclosing_ball
from mebnb.solvers.soft import soft_ball, verify_soft
from mebnb.writing import write_file
from mebnb.your_data import Table, TableError, check_path

__all__ = [
    "BallModel",
    "check_nu",
    "check_reach",
    "checked_points",
    "common_parts",
    "damaged",
    "fit_balls",
    "fit_model",
    "is_model",
    "load_model",
    "read_kept",
]

FORMAT = "mebnb ball, version 1"
OUR_FORMAT = re.compile(rb'\s*\{\s*"format"\s*:\s*"mebnb ball')
ENTRIES = 1 << 21  # of a block of scaled values
ROUNDING = 1e-12
CERTIFIED = 1e-6  # a relative gap that moves no digit that is shown


@dataclass(frozen=True, eq=False)
class BallModel:
    """A ball in scaled columns, and what is needed to score rows by it.

    Attributes
    ----------
    columns : list of str
    scaling : {"standard", "minmax", "none"}
    shift, scale : list of float
        A column is scaled as (value - shift) / scale.
    center : list of float
        In scaled units.
    radius : float
        In scaled units: the threshold.
    nu : float
        Share of the training rows that could lie outside; 0 for the hard ball.
    training_rows : int
    outside : int
        Training rows outside.
    relative_gap : float
        Recomputed from the points and the weights alone: radius / lower bound - 1 of a
        hard ball, (primal - dual) / dual of a soft one.
    certified : bool
        Whether that proves the ball.
    identity : str or None
        The column that names rows.
    decimal : {".", ","} or None
        How the training file wrote numbers, for new files that leave it open; None where
        it held whole numbers only.
    medians : list of float
        Of the training rows, in the units of the file.
    """

    columns: list[str]
    scaling: str
    shift: list[float]
    scale: list[float]
    center: list[float]
    radius: float
    nu: float
    training_rows: int
    outside: int
    relative_gap: float
    certified: bool
    identity: str | None = None
    decimal: str | None = None
    medians: list[float] = field(default_factory=list)

    @property
    def name(self):
        """ "hard ball" or "soft ball, nu = ..."."""
        return f"soft ball, nu = {self.nu:g}" if self.nu else "hard ball"

    def told(self):
        """A line on the ball: its radius, its proof, what lies outside."""
        proof = "certified" if self.certified else "NOT certified"
        return (
            f"{self.name}: radius {self.radius:.6g} in {len(self.columns)} columns, "
            f"scaling {self.scaling}; {proof}, relative gap {self.relative_gap:.1e}; "
            f"{self.outside} of {self.training_rows} training rows outside"
        )

    def scaled(self, values):
        """Values in the units of the ball.

        Parameters
        ----------
        values : pandas.DataFrame
            With the model's columns, in any order.

        Returns
        -------
        ndarray, shape (m, n)
        """
        points = np.array(values[self.columns], dtype=np.float64, order="C")
        return _rescale(points, np.asarray(self.shift), np.asarray(self.scale))

    def score(self, values):
        """Judge rows.

        Parameters
        ----------
        values : pandas.DataFrame, shape (k, n)
            With the model's columns, without missing values.

        Returns
        -------
        pandas.DataFrame
            score, the distance from the center in radii; alarm, whether that is more
            than 1 by more than rounding; mostly, the column with the largest part in
            the squared distance.
        """
        score = np.empty(len(values))
        mostly = np.empty(len(values), dtype=np.int64)
        rows = max(1, ENTRIES // len(self.columns))
        for start in range(0, len(values), rows):
            block = slice(start, start + rows)
            score[block], mostly[block] = self._distances(values.iloc[block])
        return pd.DataFrame(
            {
                "score": score,
                "alarm": beyond(score, 1.0),
                "mostly": pd.Categorical.from_codes(mostly, self.columns),
            }
        )

    def _distances(self, values):
        """Distances in radii, and the columns with the largest parts in them."""
        with np.errstate(over="ignore", invalid="ignore"):
            parts = np.abs(self.scaled(values) - np.asarray(self.center))
            # In units of the largest part no square overflows or vanishes.
            largest = np.maximum(parts.max(axis=1), np.finfo(float).tiny)
            mostly = parts.argmax(axis=1)
            parts /= largest[:, None]
            norms = np.sqrt(np.einsum("ij,ij->i", parts, parts))
            score = largest / self.radius * norms
        return np.where(np.isnan(score), np.inf, score), mostly

    def save(self, path):
        """Write the model as JSON; `load_model` reads it back to the bit.

        Parameters
        ----------
        path : path

        Raises
        ------
        CannotWrite
            When the file cannot be written; what stood there stays.
        """
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n"
        write_file(path, text)


def is_model(path):
    """Whether a file is a model, sound or not: JSON that names a format of ours.

    Parameters
    ----------
    path : path

    Returns
    -------
    bool
        Also for a name *.json of which there is no file.
    """
    path = Path(path)
    if path.suffix.lower() != ".json":
        return False
    if not path.is_file():
        return True
    with open(path, "rb") as file:
        return OUR_FORMAT.match(file.read(200)) is not None


def load_model(path):
    """Read a model that `BallModel.save` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    BallModel

    Raises
    ------
    TableError
        When the file holds something else.
    """
    path = check_path(path)
    kept = read_kept(path)
    if not isinstance(kept, dict) or kept.pop("format", None) != FORMAT:
        raise TableError(f"{path.name} must be a model of format {FORMAT!r}")
    try:
        model = BallModel(**kept)
        sound = _is_sound(model)
    except (TypeError, ValueError, OverflowError):
        sound = False
    if not sound:
        raise damaged(path)
    return model


def read_kept(path):
    """What a JSON file holds.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    object

    Raises
    ------
    TableError
        When it cannot be read.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise TableError(f"{path.name} is nested too deeply to be a model") from None
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise TableError(f"{path.name} is not JSON") from None


def damaged(path):
    """The error for a model whose parts do not fit together."""
    return TableError(f"{path.name} is a damaged model: its parts do not fit together")


def _is_sound(model):
    columns, width = model.columns, len(model.columns)
    vectors = (model.shift, model.scale, model.center, model.medians)
    scalars = (model.radius, model.nu, model.relative_gap)
    counts = (model.training_rows, model.outside)
    return (
        isinstance(columns, list)
        and all(isinstance(name, str) for name in columns)
        and width == len(set(columns)) > 0
        and all(isinstance(v, list) and len(v) == width for v in vectors)
        and all(_is_finite(x) for x in (*itertools.chain(*vectors), *scalars))
        and all(x > 1e-150 for x in (*model.scale, model.radius))
        and 0 <= model.nu < 1
        and model.relative_gap >= 0
        and all(type(x) is int and x >= 0 for x in counts)
        and model.scaling in list(SCALERS)
        and isinstance(model.certified, bool)
        and isinstance(model.identity, (str, type(None)))
        and model.decimal in (".", ",", None)
    )


def _is_finite(value):
    return type(value) in (int, float) and math.isfinite(value)


def fit_model(table, *, nu=0.05, scaling="standard"):
    """Fit a ball to the nominal rows of a table and certify it.

    Parameters
    ----------
    table : Table
    nu : float
        0 for the hard ball; else, in (0, 1), a bound on the share of rows outside.
    scaling : {"standard", "minmax", "none"}
        Mean 0 and deviation 1, or least 0 and greatest 1, on the nominal rows.

    Returns
    -------
    BallModel
    Solution or SoftBall
        The ball, in scaled units; its rows are those of the nominal rows.

    Raises
    ------
    TableError
        When an argument is out of range, there are fewer than two nominal rows, they
        are equal, or their values are too large or too small to be squared.
    """
    check_nu(nu)
    return _fitted(_scaled_rows(table, scaling), nu)


def fit_balls(table, *, nu=0.05, scaling="standard"):
    """Fit the ball that is asked for, and the hard ball beside it.

    Parameters as in `fit_model`.

    Returns
    -------
    asked, hard : (BallModel, Solution or SoftBall)
        The same for nu = 0.
    """
    check_nu(nu)
    rows = _scaled_rows(table, scaling)
    asked = _fitted(rows, nu)
    return asked, asked if nu == 0 else _fitted(rows, 0)


def check_nu(nu):
    """Refuse a nu that is no share."""
    if not isinstance(nu, Real) or isinstance(nu, bool) or not 0 <= nu < 1:
        raise TableError(f"nu must be a number from 0 to less than 1, found {nu!r}")


@dataclass(frozen=True)
class _ScaledRows:
    """The nominal rows of a table, checked and scaled."""

    table: Table
    points: np.ndarray
    scaling: str
    shift: np.ndarray
    scale: np.ndarray
    medians: np.ndarray


def _scaled_rows(table, scaling):
    points = checked_points(table)
    medians = np.median(points, axis=0)
    try:
        shift, scale = _affine(scaling, points)
    except ValueError as error:
        raise TableError(error) from None
    return _ScaledRows(
        table, _rescale(points, shift, scale), scaling, shift, scale, medians
    )


def checked_points(table):
    """The nominal rows of a table as an array, which can be squared and written to.

    Parameters
    ----------
    table : Table

    Returns
    -------
    ndarray, shape (m, n)

    Raises
    ------
    TableError
        When there are fewer than two, or values are too large or small to be squared.
    """
    points = _nominal_points(table)
    if len(points) < 2:
        raise TableError(
            f"{table.name} must hold at least 2 nominal rows to fit a ball, found "
            f"{len(points)}"
        )
    check_reach(table.name, table.values, np.abs(points).max(axis=0))
    return points


def common_parts(table):
    """What every model of a table keeps of how its file was written."""
    return {
        "identity": None if table.identities is None else table.identities.name,
        "decimal": table.decimal if _has_fractions(table) else None,
    }


@threadpool_limits.wrap(limits=1)  # sums over several threads end in other last digits
def _fitted(rows, nu):
    table, points = rows.table, rows.points
    ball = soft_ball(points, nu) if nu else minimum_enclosing_ball(points)
    if ball.radius <= ROUNDING * np.ptp(points):
        raise TableError(_no_radius(table, points, nu))
    gap, certified = _certificate(points, ball, nu)
    distances = np.sqrt(squared_distances(points, ball.center))
    model = BallModel(
        columns=list(table.values),
        scaling=rows.scaling,
        shift=rows.shift.tolist(),
        scale=rows.scale.tolist(),
        center=ball.center.tolist(),
        radius=float(ball.radius),
        nu=float(nu),
        training_rows=len(points),
        outside=int(beyond(distances, ball.radius).sum()),
        relative_gap=gap,
        certified=certified,
        medians=rows.medians.tolist(),
        **common_parts(table),
    )
    return model, ball


def _certificate(points, ball, nu):
    """The relative gap, recomputed, and whether it proves the ball."""
    if nu:
        gap = verify_soft(points, ball)
        return float(gap), bool(gap <= CERTIFIED)
    found = verify(points, ball)
    gap = found.radius / found.lower_bound - 1.0 if found.lower_bound > 0 else np.inf
    return max(float(gap), 0.0), found.passed


def check_reach(name, columns, largest):
    """Refuse values whose squares overflow or vanish.

    Parameters
    ----------
    name : str
        Of the file.
    columns : sequence of str
    largest : ndarray, shape (n,)
        The largest absolute value in each.
    """
    for column, value in zip(columns, largest, strict=True):
        if not (value == 0 or 1e-30 < value < 1e30):
            raise TableError(
                f"column {column!r} of {name} reaches {value:.3g}, which cannot be "
                "squared safely; bring it to other units"
            )


def _has_fractions(table):
    return any((values != np.floor(values)).any() for _, values in table.values.items())


def _no_radius(table, points, nu):
    if not np.ptp(points, axis=0).any():
        return f"{table.name}: all nominal rows are equal in the columns that are used"
    return (
        f"nu must leave a ball of positive radius, found {nu:g}: so many nominal rows of "
        f"{table.name} are equal; choose a smaller one"
    )


def _nominal_points(table):
    """The nominal rows of a table as an array of its own, which may be written to."""
    values = table.values
    if table.labels is not None:
        values = values[table.is_nominal]
    return np.array(values, dtype=np.float64, order="C")


@threadpool_limits.wrap(limits=1)
def _affine(scaling, points):
    """Shift and scale of each column.

    They come from differences to the first row: of values near 1e15 that vary by a few
    units no square would tell the spread.
    """
    first = points[0].copy()
    apart = points - first
    scaler = fitted_scaler(scaling, apart)
    if scaler is None:  # moved to the mean all the same: far from zero digits get lost
        return first + apart.mean(axis=0), np.ones(points.shape[1])
    if scaling == "standard":
        return first + scaler.mean_, scaler.scale_
    return points.min(axis=0), 1.0 / scaler.scale_


def _rescale(points, shift, scale):
    """(points - shift) / scale, in place."""
    points -= shift
    points /= scale
    return points
