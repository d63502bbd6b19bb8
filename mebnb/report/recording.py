"""Values that a notebook records, for tables over many runs."""

from __future__ import annotations

import math
import numbers
import textwrap

KEY = "mebnb_record"


def record(**values):
    """Record values of this run, so that `mebnb sweep` finds them.

    The values are kept in the metadata of the cell's output, the output itself
    shows them with six digits. The last value under a name counts.

    Parameters
    ----------
    **values : int, float, str, bool or None
        Also NumPy scalars. NaN is kept as a missing value.

    Raises
    ------
    TypeError
        For anything else; the message names it.
    ValueError
        For an infinite number, which a notebook file cannot hold.

    Examples
    --------
    >>> record(radius=2.5, support=4)
    recorded: radius = 2.5, support = 4
    """
    from IPython.display import display

    kept = {name: _plain(name, value) for name, value in values.items()}
    shown = ", ".join(f"{name} = {_short(value)}" for name, value in kept.items())
    line = textwrap.fill(f"recorded: {shown}", 88, break_on_hyphens=False)
    display(_Line(line), metadata={KEY: kept})


def cells_of(table, index, columns):
    """Cells of a table under names of their own, for `record`.

    Parameters
    ----------
    table : pandas.DataFrame
    index : list of str
        Columns whose values make the first part of a name.
    columns : list of str
        The columns to take.

    Returns
    -------
    dict
        Such as "ASFW_0.1_iterations" -> 39.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"set": ["a b"], "eps": [0.1], "steps": [4]})
    >>> for name, value in cells_of(table, ["set", "eps"], ["steps"]).items():
    ...     print(name, value)
    a_b_0.1_steps 4
    """
    return {
        "_".join(_word(part) for part in [*key, column]): table[column].iloc[at]
        for at, key in enumerate(zip(*(table[name] for name in index), strict=True))
        for column in columns
    }


def _word(part):
    text = f"{part:g}" if isinstance(part, float) else str(part)
    return "_".join(text.split())


class _Line(str):
    """Text that is shown without quotes."""

    __repr__ = str.__str__


def recorded_values(notebook):
    """What an executed notebook recorded, name -> value."""
    values = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            values.update(output.get("metadata", {}).get(KEY, {}))
    return values


def _plain(name, value):
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, numbers.Real):
        value = float(value)
        if math.isinf(value):
            raise ValueError(f"{name} must be finite or NaN, found {value}")
        return None if math.isnan(value) else value
    raise TypeError(
        f"{name} must be a number, a text, a bool or None, found {type(value).__name__}"
    )


def _short(value):
    return f"{value:.6g}" if isinstance(value, float) else str(value)
