"""Numbers that measure nothing: running numbers, identifiers, codes, dates and times."""

from __future__ import annotations

import numpy as np

__all__ = ["NAMES_ROWS", "NAMING", "why_no_measurement"]

NAMES_ROWS = "names the rows"

RUNNING = "a running number, which names the row"

DIFFERENT = "whole numbers that all differ: a name or a code; ask for it to use it"

NAMING = (RUNNING, NAMES_ROWS, DIFFERENT)
"""Reasons by which a column may name the rows."""

FEWEST_STEPS = 4
"""Equal steps from row to row of which fewer may be chance."""

FEWEST_DIFFERENT = 20
"""Rows of which fewer may all differ by chance."""

FIRST, LAST = 631_152_000, 2_524_608_000
"""1990 and 2050, in seconds from 1970."""

UNITS = {
    "seconds": 1,
    "milliseconds": 10**3,
    "microseconds": 10**6,
    "nanoseconds": 10**9,
}


def why_no_measurement(values, zero_led=False):
    """Why numbers are none that measure, or None.

    Parameters
    ----------
    values : ndarray of float, shape (m,)
        Two different ones at least; NaN where missing.
    zero_led : bool
        Whether they are written with leading zeros.

    Returns
    -------
    str or None
    """
    known = values[~np.isnan(values)]
    if _is_running(values):
        return RUNNING
    if zero_led:
        return "whole numbers with leading zeros: a code; ask for it to use it"
    unit = _time_unit(known)
    if unit:
        return f"times, counted from 1970 in {unit}; ask for it to use it"
    if not (known == np.floor(known)).all():
        return _lost_in_size(known)
    if _is_calendar(known):
        return "dates as year, month and day in one number; ask for it to use it"
    if len(known) >= FEWEST_DIFFERENT and len(np.unique(known)) == len(known):
        return DIFFERENT
    return None


def _is_running(values):
    """Whether the values go from row to row in equal steps, but for rounding."""
    if len(values) <= FEWEST_STEPS:
        return False
    step = values[1] - values[0]
    rounding = 4 * np.finfo(float).eps * max(abs(values[0]), abs(values[-1]))
    if not 2 * rounding < abs(step) < np.inf:
        return False
    return bool((np.abs(np.diff(values) - step) <= rounding + 1e-9 * abs(step)).all())


def _time_unit(known):
    """The unit in which all values are times between 1990 and 2050, or None."""
    least, greatest = known.min(), known.max()
    for unit, size in UNITS.items():
        if FIRST * size <= least and greatest <= LAST * size:
            return unit
    return None


def _is_calendar(known):
    """Whether all are days as 20240131, maybe with hours, minutes and seconds behind."""
    for digits in (8, 12, 14):
        days = np.floor(known / 10.0 ** (digits - 8))
        year, month, day = days // 10_000, days // 100 % 100, days % 100
        times = [known // 100.0**at % 100 for at in range((digits - 8) // 2)]
        if (
            ((year >= 1800) & (year <= 2199)).all()
            and ((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all()
            and all((part < 60).all() for part in times)
        ):
            return True
    return False


def _lost_in_size(known):
    """Why values that differ in the last digits of a double only do not serve, or None."""
    if np.ptp(known) >= 1000 * np.spacing(np.abs(known).max()):
        return None
    return (
        "values that differ in the last digits only, which are rounded; subtract what they "
        "have in common"
    )
