"""Yildirim's two (1 + eps) algorithms: core sets by way of the same loop.

The first adds points to the core set only (plus steps); it is Frank-Wolfe with exact
steps from the farthest pair. The second also takes weight away (minus and drop
steps); it is away-step Frank-Wolfe with exact steps from that pair.
"""

from __future__ import annotations

import math

import numpy as np

from mebnb.solvers.frank_wolfe import Stop, relative_gap, run, two_sided_gap

__all__ = ["core_set"]


def _plus(iterate):
    return "plus", iterate.farthest, None


def _plus_or_minus(iterate):
    if iterate.fw_gap > iterate.away_gap:
        return "plus", iterate.farthest, None
    return "minus", None, iterate.nearest


def core_set(
    points,
    eps=1e-3,
    away=False,
    max_iter=1000,
    *,
    start="pair",
    two_sided=None,
    time_limit=None,
    callback=None,
    trace=True,
):
    """A ball within a factor 1 + eps of the smallest, and a core set for it.

    Stops when delta+ <= (1 + eps)^2 - 1, delta+ being the FW gap over gamma; then
    radius <= (1 + eps) r*, and the support is an eps-core set.

    Parameters
    ----------
    points : array_like, shape (m, n)
        One point a row.
    eps : float
        Relative tolerance on the radius, > 0.
    away : bool
        False: plus steps only (report Algorithm 3, APPFW). True: plus, minus and
        drop steps (slides Algorithms 3 and 4, MEB(A)).
    max_iter : int
        Most steps taken; 1000 is the report's limit.
    start : str, Solution or (indices, weights)
        As in `away_step`; the documents start from the farthest "pair".
    two_sided : bool or None
        Stop on max(delta+, delta-), as Yildirim's second algorithm does, instead of
        delta+ alone, which is all that the guarantee needs. None: where `away`.
    time_limit, callback, trace
        As in `away_step`.

    Returns
    -------
    Solution
        Its support is the core set.

    Raises
    ------
    ValueError, TypeError
        For senseless arguments, and for points whose squared distances overflow or
        vanish.

    References
    ----------
    E. A. Yildirim, SIAM Journal on Optimization 19 (2008), 1368-1391.

    Examples
    --------
    >>> core_set([[0, 0], [2, 0], [2, 2], [0, 2]], eps=0.01).support
    array([0, 2])
    """
    if not (isinstance(eps, (int, float, np.number)) and 0.0 < eps < math.inf):
        raise ValueError(f"eps must be a finite number > 0, found {eps!r}")
    two_sided = away if two_sided is None else two_sided
    name, measure = (
        ("max(delta+, delta-)", two_sided_gap)
        if two_sided
        else ("delta+", relative_gap)
    )
    stop = Stop(measure, eps * (2.0 + eps), name)
    direction = _plus_or_minus if away else _plus
    return run(
        points, direction, stop, "exact", start, max_iter, time_limit, callback, trace
    )
