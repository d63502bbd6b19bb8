"""Parquet files of more rows than memory holds: a ball around all, scores row by row.

A folder or a pattern of files is read block by block, one or two of them in memory. What
needs all rows at once, such as p-values over rows that are split off, is for one file.
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from mebnb.learning.splits import SCALERS
from mebnb.report.words import for_spreadsheets, printable
from mebnb.solvers.balls import dual_value
from mebnb.solvers.exact import minimum_enclosing_ball
from mebnb.solvers.soft import soft_ball, verify_soft
from mebnb.solvers.sources import Blocks, Stream
from mebnb.your_data import TableError
from mebnb.your_data.model import (
    CERTIFIED,
    ROUNDING,
    BallModel,
    check_nu,
    check_reach,
)
from mebnb.your_data.packing import write_packed

__all__ = ["ManyFit", "files_of", "fit_many", "is_many", "score_many"]

SAMPLE = 100_000
"""Rows that the medians and a soft ball are computed from."""

LISTED = 10
"""Rows in the list of the most abnormal ones."""


def is_many(path):
    """Whether a path names a folder or a pattern of files.

    Parameters
    ----------
    path : path

    Returns
    -------
    bool
    """
    return os.path.isdir(path) or (
        glob.has_magic(os.fspath(path)) and not os.path.exists(path)
    )


def files_of(path):
    """The files that a folder or a pattern stands for.

    Parameters
    ----------
    path : path

    Returns
    -------
    list of pathlib.Path
    """
    if os.path.isdir(path):
        return [file for file in sorted(Path(path).rglob("*")) if file.is_file()]
    return [Path(file) for file in sorted(glob.glob(os.fspath(path)))]


@dataclass(frozen=True, eq=False)
class ManyFit:
    """A model, and what it says of the rows of many files.

    Attributes
    ----------
    model : BallModel
    name : str
        The folder or pattern that was scored.
    blocks : Blocks
        Its rows, in the units of the files.
    files, alarms : int
        How many there are.
    top : pandas.DataFrame
        The most abnormal rows, as `scores` gives them.
    note : str
        What was computed from a sample, if anything was.
    """

    model: BallModel
    name: str
    blocks: Blocks
    files: int
    alarms: int
    top: pd.DataFrame
    note: str = ""

    @property
    def rows(self):
        """How many rows were scored."""
        return self.blocks.shape[0]

    def write_scores(self, path):
        """Write a line for each row as CSV, packed where the name ends in .gz and such.

        Parameters
        ----------
        path : path

        Raises
        ------
        CannotWrite
            When the file cannot be written; what stood there stays.
        """

        def write(file):
            for at, scores in enumerate(_scores(self.model, self.blocks)):
                scores["file"] = _for_spreadsheets(scores["file"])
                scores["mostly"] = _for_spreadsheets(scores["mostly"])
                scores.to_csv(file, index=False, header=at == 0, mode="wb")

        write_packed(path, write)

    def to_dict(self):
        """The whole of it as plain values, for JSON."""
        top = self.top.astype({"file": str, "mostly": str})
        return {
            "model": asdict(self.model),
            "scored": {
                "name": self.name,
                "files": self.files,
                "rows": self.rows,
                "alarms": self.alarms,
            },
            "most_abnormal": top.to_dict("records"),
            "note": self.note or None,
        }

    def __str__(self):
        lines = [
            f"{self.name}: {self.rows} rows of {self.files} files, read block by block",
            self.model.told(),
            *([self.note] if self.note else []),
            f"{self.alarms} of {self.rows} rows lie outside. The most abnormal (score: "
            "distance from the center in radii):",
            self.top.to_string(index=False, float_format=lambda value: f"{value:.6g}"),
        ]
        return printable("\n\n".join(lines))


def fit_many(path, *, columns=(), scaling="standard", nu=0):
    """Fit a ball to all rows of a folder or pattern of Parquet files, and score them.

    Parameters
    ----------
    path : path
    columns : sequence of str
        The columns that are used; all by default, which must then hold numbers.
    scaling : {"standard", "minmax", "none"}
        Computed from all rows.
    nu : float
        0 for the hard ball, which holds all rows. Else the soft ball of at most SAMPLE
        rows, drawn without replacement by a fixed seed; `note` says so.

    Returns
    -------
    ManyFit

    Raises
    ------
    TableError
        When there is no such file or column, a value is missing, not finite or out of
        range, or an argument makes no sense.
    """
    check_nu(nu)
    if scaling not in list(SCALERS):
        known = ", ".join(SCALERS)
        raise TableError(f"scaling must be one of {known}; found {scaling!r}")
    blocks, columns = _opened(path, columns)
    shift, scale, sample = _looked_at(blocks, columns, scaling, str(path))
    scaled = Blocks(
        lambda k: (blocks.block(k) - shift) / scale, blocks.count, blocks.rows
    )
    points = (sample - shift) / scale
    ball, gap = _ball(scaled, points, nu)
    if ball.radius <= ROUNDING * np.ptp(points):
        raise TableError(
            f"nu must leave a ball of positive radius, found {nu:g}: so many rows of "
            f"{path} are equal; choose a smaller one"
        )
    model = BallModel(
        columns=columns,
        scaling=scaling,
        shift=shift.tolist(),
        scale=scale.tolist(),
        center=ball.center.tolist(),
        radius=float(ball.radius),
        nu=float(nu),
        training_rows=blocks.shape[0],
        outside=0,
        relative_gap=gap,
        certified=gap <= CERTIFIED,
        medians=np.median(sample, axis=0).tolist(),
    )
    made = _judged(model, blocks, str(path))
    note = ""
    if nu and len(sample) < blocks.shape[0]:
        note = (
            f"The soft ball is that of {len(sample)} rows, drawn by chance. All rows were "
            "scored by it; how many of them lie outside is counted, no bound holds."
        )
    return replace(made, model=replace(model, outside=made.alarms), note=note)


def score_many(model, path):
    """Score all rows of a folder or pattern of Parquet files by a model.

    Parameters
    ----------
    model : BallModel
    path : path

    Returns
    -------
    ManyFit

    Raises
    ------
    TableError
        When there is no such file or column, or a value is missing or not finite.
    """
    return _judged(model, _opened(path, model.columns)[0], str(path))


def _opened(path, columns):
    """The rows of the files as blocks, and the names of their columns."""
    columns = list(columns)
    repeated = [name for name, times in Counter(columns).items() if times > 1]
    if repeated:
        raise TableError(
            f"columns must name each column once, found {repeated[0]!r} again"
        )
    try:
        blocks = Blocks.from_parquet(path, columns or None)
        _ = blocks.shape
    except (ValueError, TypeError, OSError) as error:
        told = str(error)
        told = told if str(path) in told else f"{path}: {told}"
        raise TableError(told) from None
    return blocks, blocks.names


def _blocks(blocks, columns):
    """Walk over the rows; what is missing or not finite is named."""
    walk = Stream(blocks).blocks()
    while True:
        try:
            start, block = next(walk)
        except StopIteration:
            return
        except (ValueError, TypeError, OSError) as error:
            raise TableError(str(error)) from None
        finite = np.isfinite(block)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            ((file, place),) = blocks.locate([start + row])
            raise TableError(
                f"{file} must hold finite numbers, found {block[row, column]} in row "
                f"{place + 1}, column {columns[column]!r}"
            )
        if len(block):
            yield start, block


@threadpool_limits.wrap(limits=1)
def _looked_at(blocks, columns, scaling, name):
    """One pass: shift and scale of each column, and a sample of the rows."""
    m, n = blocks.shape
    if m < 2:
        raise TableError(f"{name} must hold at least 2 rows to fit a ball, found {m}")
    drawn = np.random.default_rng(0).choice(m, min(m, SAMPLE), replace=False)
    drawn.sort()
    scaler = SCALERS[scaling]() if SCALERS[scaling] else SCALERS["standard"]()
    sample, largest, first = [], np.zeros(n), None
    for start, block in _blocks(blocks, columns):
        block = block.astype(np.float64, copy=False)
        first = block[0].copy() if first is None else first
        # From differences to the first row: far from zero squares lose the spread.
        with np.errstate(over="ignore", invalid="ignore"):  # told below
            scaler.partial_fit(block - first)
        largest = np.maximum(largest, np.abs(block).max(axis=0))
        here = slice(*np.searchsorted(drawn, [start, start + len(block)]))
        sample.append(block[drawn[here] - start])
    check_reach(name, columns, largest)
    spread = scaler.var_ if hasattr(scaler, "var_") else scaler.data_range_
    if not spread.any():
        raise TableError(f"{name}: all rows are equal in the columns that are used")
    if scaling == "minmax":
        return first + scaler.data_min_, 1.0 / scaler.scale_, np.concatenate(sample)
    scale = scaler.scale_ if scaling == "standard" else np.ones(n)
    return first + scaler.mean_, scale, np.concatenate(sample)


@threadpool_limits.wrap(limits=1)
def _ball(scaled, sample, nu):
    """The ball, and its relative gap, recomputed from the points and the weights."""
    if nu:
        ball = soft_ball(sample, nu)
        return ball, float(verify_soft(sample, ball))
    ball = minimum_enclosing_ball(scaled)
    values, _ = Stream(scaled).gather(ball.support)
    blocks = (block for _, block in Stream(scaled).blocks() if len(block))
    radius = max(ball.distances(block).max() for block in blocks)
    lower = np.sqrt(dual_value(values, ball.weights))
    return ball, max(float(radius / lower - 1.0), 0.0) if lower else np.inf


def _judged(model, blocks, name):
    """One pass: alarms counted, the most abnormal rows kept."""
    alarms, top = 0, None
    for scores in _scores(model, blocks):
        alarms += int(scores["alarm"].sum())
        best = scores.nlargest(LISTED, "score")
        top = best if top is None else pd.concat([top, best]).nlargest(LISTED, "score")
    firsts = [blocks.start(k) for k, rows in enumerate(blocks.rows) if rows]
    files = len({file for file, _ in blocks.locate(firsts)})
    return ManyFit(model, name, blocks, files, alarms, top.reset_index(drop=True))


def _scores(model, blocks):
    """Walk over the scores: file, row in it from 1, score, alarm, mostly."""
    for start, block in _blocks(blocks, model.columns):
        ((file, first),) = blocks.locate([start])
        scores = model.score(pd.DataFrame(block, columns=model.columns))
        scores["mostly"] = scores["mostly"].astype(str)
        scores.insert(0, "file", file)
        scores.insert(1, "row", np.arange(first + 1, first + 1 + len(block)))
        yield scores


def _for_spreadsheets(words):
    """Words that come again and again, each looked at once."""
    different = words.unique()
    safe = for_spreadsheets(pd.DataFrame({"word": different}))["word"]
    return words.map(dict(zip(different, safe, strict=True)))
