"""Which lines of the report's Algorithms 1 and 2 hold with which reading of Phi.

The report calls Phi the dual value, which is maximised (19), and writes it again where
a function is minimised. Each line that names Phi is put, as printed and in one reading,
into an otherwise right algorithm.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from mebnb.documents.toolkit.lines_of_the_report import (
    AwayLines,
    BlendedLines,
    line_minimum,
    run_away_step,
    run_blended,
    shortfall,
)

__all__ = ["phi_readings"]

CONCAVE = "Phi is the dual value of (19)"
CONVEX = "Phi stands for f = -Phi of (19)"
_SIGNS = {CONCAVE: -1.0, CONVEX: 1.0}
_TOLERANCE = 1e-6
_WHOLE = "whole"


def phi_readings():
    """Put the lines that name Phi, and the whole algorithms, to the test.

    Returns
    -------
    pandas.DataFrame
        Indexed by algorithm and line; `says`, the line in words, and one column a
        reading: "holds" where all small clouds get their ball, else "fails".
    """
    rows = []
    for algorithm, run, right, printed in (
        ("Algorithm 1", run_away_step, AwayLines(), _away_lines),
        ("Algorithm 2", run_blended, BlendedLines(), _blended_lines),
    ):
        for line, says in _SAYS[algorithm].items():
            rows.append({"algorithm": algorithm, "line": line, "says": says})
            for reading, sign in _SIGNS.items():
                forms = printed(sign)
                if line != _WHOLE:
                    forms = forms[line]
                else:
                    forms = {
                        n: form for part in forms.values() for n, form in part.items()
                    }
                off = shortfall(run, replace(right, **forms))
                rows[-1][reading] = "holds" if off <= _TOLERANCE else "fails"
    return pd.DataFrame(rows).set_index(["algorithm", "line"])


_SAYS = {
    "Algorithm 1": {
        "3": "s by the linear oracle for grad Phi",
        "4": "v: argmax of <grad Phi, v> over S",
        "5": "stop when <-grad Phi, s - u> is small",
        "6": "compare <-grad Phi, d> of both directions",
        "11": "argmin of Phi(u + alpha d)",
        _WHOLE: "lines 3, 4, 5, 6 and 11",
    },
    "Algorithm 2": {
        "3": "a: argmax of <grad Phi, v> over S",
        "4": "s: argmax of <grad Phi, v> over S",
        "5": "w: argmax of grad Phi",
        "6": "compare <grad Phi, a - s> and <grad Phi, u - w>",
        "9": "argmax of Phi(u - alpha (a - s))",
        "17": "argmin of Phi(u - alpha (u - w))",
        _WHOLE: "lines 3, 4, 5, 6, 9 and 17",
    },
}


def _away_lines(sign):
    """Line -> printed form of Algorithm 1, where grad Phi = sign * grad f.

    With the dual value the whole algorithm ends in line 5 at once, before line 6 is
    asked.
    """
    return {
        "3": {"towards": lambda g: int(np.argmin(sign * g))},
        "4": {"away": lambda g, active: max(active, key=lambda i: sign * g[i])},
        "5": {"gap": lambda g, u, s: sign * float(g @ u - g[s])},
        "6": {"prefer_towards": lambda towards, away: sign * towards >= sign * away},
        "11": {"search": _least(sign)},
    }


def _blended_lines(sign):
    """The same for Algorithm 2."""
    return {
        "3": {"away": lambda g, active: max(active, key=lambda i: sign * g[i])},
        "4": {"local": lambda g, active: max(active, key=lambda i: sign * g[i])},
        "5": {"globally": lambda g: int(np.argmax(sign * g))},
        "6": {"prefer_pair": lambda pair, towards: sign * pair >= sign * towards},
        "9": {"pair_search": _least(-sign)},
        "17": {"search": _least(sign)},
    }


def _least(sign):
    """Line search for the least value of sign * f."""
    return lambda curvature, slope, upper: line_minimum(
        sign * curvature, sign * slope, upper
    )
