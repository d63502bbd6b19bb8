"""A ball fitted to a table: scores for its rows and for new files, kept as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from mebnb.balls import squared_distances
from mebnb.evaluation import ON_THE_BORDER
from mebnb.evaluation.splits import SCALERS
from mebnb.exact import minimum_enclosing_ball
from mebnb.soft import soft_ball
from mebnb.tables import TableError

__all__ = ["BallModel", "fit_model", "load_model"]

FORMAT = "mebnb ball, version 1"
BLOCK = 1 << 18
ROUNDING = 1e-12


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
        What certifies the ball: of the radius for the hard ball, radius / lower bound
        - 1; of the dual value for the soft ball.
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

    @property
    def name(self):
        """ "hard ball" or "soft ball, nu = ..."."""
        return f"soft ball, nu = {self.nu:g}" if self.nu else "hard ball"

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
        for start in range(0, len(values), BLOCK):
            block = slice(start, start + BLOCK)
            parts = self.scaled(values.iloc[block])
            parts -= np.asarray(self.center)
            np.square(parts, out=parts)
            score[block] = np.sqrt(parts.sum(axis=1)) / self.radius
            mostly[block] = parts.argmax(axis=1)
        return pd.DataFrame(
            {
                "score": score,
                "alarm": score > 1.0 + ON_THE_BORDER,
                "mostly": pd.Categorical.from_codes(mostly, self.columns),
            }
        )

    def save(self, path):
        """Write the model as JSON; `load_model` reads it back to the bit.

        Parameters
        ----------
        path : path

        Raises
        ------
        TableError
            When the file cannot be written.
        """
        try:
            text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1)
            Path(path).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise TableError(f"cannot write {path}: {error.strerror}") from None


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
    path = Path(path)
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise TableError(f"{path.name} is not JSON") from None
    if not isinstance(kept, dict) or kept.pop("format", None) != FORMAT:
        raise TableError(f"{path.name} must be a model of format {FORMAT!r}")
    try:
        model = BallModel(**kept)
        width = len(model.columns)
        vectors = (model.shift, model.scale, model.center)
        sound = all(np.asarray(v, float).shape == (width,) for v in vectors)
        sound = sound and width > 0 and np.isfinite(np.sum(vectors))
    except (TypeError, ValueError):
        sound = False
    if not sound or not model.radius > 0:
        raise TableError(f"{path.name} is a damaged model: its parts do not fit together")
    return model


def fit_model(table, *, nu=0.05, scaling="standard"):
    """Fit a ball to the nominal rows of a table.

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
        When an argument is out of range, there are fewer than two nominal rows, or all
        of them are equal.
    """
    if not isinstance(nu, (int, float)) or isinstance(nu, bool) or not 0 <= nu < 1:
        raise TableError(f"nu must be a number from 0 to less than 1, found {nu!r}")
    if scaling not in SCALERS:
        raise TableError(f"scaling must be one of {', '.join(SCALERS)}, found {scaling!r}")
    points = nominal_points(table)
    if len(points) < 2:
        raise TableError(
            f"{table.name} must hold at least 2 rows to fit a ball, found {len(points)}"
        )
    shift, scale = _affine(scaling, points)
    points = _rescale(points, shift, scale)
    if nu:
        ball = soft_ball(points, nu)
        gap = ball.relative_gap
    else:
        ball = minimum_enclosing_ball(points)
        gap = _relative_gap(ball)
    if ball.radius <= ROUNDING * np.ptp(points):
        raise TableError(f"{table.name}: all rows are equal in the columns that are used")
    distances = np.sqrt(squared_distances(points, ball.center))
    model = BallModel(
        columns=list(table.values),
        scaling=scaling,
        shift=shift.tolist(),
        scale=scale.tolist(),
        center=ball.center.tolist(),
        radius=float(ball.radius),
        nu=float(nu),
        training_rows=len(points),
        outside=int((distances > ball.radius * (1.0 + ON_THE_BORDER)).sum()),
        relative_gap=float(gap),
    )
    return model, ball


def nominal_points(table):
    """The nominal rows of a table as an array of its own, which may be written to."""
    values = table.values
    if table.labels is not None:
        values = values[table.is_nominal]
    return np.array(values, dtype=np.float64, order="C")


def _affine(scaling, points):
    """Shift and scale of each column."""
    if SCALERS[scaling] is None:
        return np.zeros(points.shape[1]), np.ones(points.shape[1])
    scaler = SCALERS[scaling]().fit(points)
    if scaling == "standard":
        return scaler.mean_, scaler.scale_
    return scaler.data_min_, 1.0 / scaler.scale_


def _rescale(points, shift, scale):
    """(points - shift) / scale, in place."""
    points -= shift
    points /= scale
    return points


def _relative_gap(ball):
    return ball.radius / ball.lower_bound - 1.0 if ball.lower_bound > 0 else 0.0
