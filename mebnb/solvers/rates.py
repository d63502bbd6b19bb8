"""Rates fitted to a sequence of gaps, by least squares on logarithms.

Gaps are not monotone; the smallest seen so far is fitted.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["linear_rate", "power_rate"]


def linear_rate(gaps, above=1e-12, below=1e-3):
    """Fit log gap = a + b t where the gap lies in a band.

    Parameters
    ----------
    gaps : array_like
        One value an iteration, from t = 0 on.
    above, below : float
        The band of gaps that is fitted.

    Returns
    -------
    factor : float
        exp(b), by which the gap shrinks an iteration.
    r2 : float
        Coefficient of determination of the fit; both NaN with fewer than 3 points.

    Examples
    --------
    >>> factor, r2 = linear_rate([0.5**t for t in range(40)])
    >>> round(factor, 6), round(r2, 6)
    (0.5, 1.0)
    """
    slope, r2 = _fit(np.arange(len(gaps)), gaps, above, below)
    return math.exp(slope), r2


def power_rate(gaps, above=1e-12, below=1e-1):
    """Fit log gap = a + p log t where the gap lies in a band.

    Parameters
    ----------
    gaps : array_like
    above, below : float
        As in `linear_rate`.

    Returns
    -------
    power : float
        p; -1 is the 1/t rate.
    r2 : float

    Examples
    --------
    >>> power, r2 = power_rate([1.0] + [1 / t for t in range(1, 1000)])
    >>> round(power, 6), round(r2, 6)
    (-1.0, 1.0)
    """
    with np.errstate(divide="ignore"):
        return _fit(np.log(np.arange(len(gaps))), gaps, above, below)


def _fit(x, gaps, above, below):
    """Slope of log gap on x, and R2."""
    gap = np.minimum.accumulate(np.asarray(gaps, dtype=float))
    band = (gap >= above) & (gap <= below) & np.isfinite(x)
    if band.sum() < 3:
        return math.nan, math.nan
    x, y = x[band], np.log(gap[band])
    slope, intercept = np.polyfit(x, y, 1)
    variance = y.var()
    if variance == 0.0:
        return math.nan, math.nan
    return float(slope), float(1.0 - (y - slope * x - intercept).var() / variance)
