"""Parameters of the notebooks, checked before anything runs."""

from __future__ import annotations

from mebnb.experiments.report_tables import REPORT_ALGORITHMS, SCALINGS
from mebnb.experiments.slides_tables import SLIDES_STEPS
from mebnb.solvers.steps import STEP_RULES

__all__ = [
    "check_choice",
    "check_parameters",
]


def check_parameters(*, known=tuple(REPORT_ALGORITHMS), **values):
    """Refuse senseless notebook parameters, in one sentence each.

    Parameters
    ----------
    known : sequence of str
        The names that `algorithms` may hold.
    **values
        Any of seed, points, m, n, eps, epsilons, algorithms, step, steps, rules,
        max_iter, features, components, repeats, nominal_fraction, extra_splits,
        honest_splits, scaling, n_uniform, n_gaussian, dimensions, perturbations, nu,
        alpha, nus, counts, top, sample, rows, columns, machines, card_rate.

    Raises
    ------
    ValueError
        Naming the parameter, what was found and what is expected.
    """
    accepted = _ACCEPTED | {"algorithms": _names_from(known)}
    for name, value in values.items():
        expected, accepts = accepted[name]
        if not accepts(value):
            raise ValueError(f"{name} must be {expected}, found {value!r}")


def check_choice(name, value, known):
    """Refuse a notebook parameter that is not one of the known words.

    Raises
    ------
    ValueError
        Naming the parameter, what was found and the known words.
    """
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, found {value!r}")


def _whole(value, lowest):
    return isinstance(value, int) and not isinstance(value, bool) and value >= lowest


def _number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _filled_list(value, accepts):
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(accepts(item) for item in value) and len(set(value)) == len(value)


def _names_from(known):
    return (
        f"a list of different names from {', '.join(known)}",
        lambda v: _filled_list(v, lambda name: name in known),
    )


_ACCEPTED = {
    "rows": (
        "a whole number from 1000000 to 10**15",
        lambda v: _whole(v, 10**6) and v <= 10**15,
    ),
    "columns": ("a whole number from 1 to 1000", lambda v: _whole(v, 1) and v <= 1000),
    "machines": (
        "a whole number from 1 to 10**6",
        lambda v: _whole(v, 1) and v <= 10**6,
    ),
    "card_rate": ("a number > 0 and <= 1000", lambda v: _number(v) and 0 < v <= 1000),
    "seed": (
        "a whole number from 0 to 2**32 - 1",
        lambda v: _whole(v, 0) and v < 2**32,
    ),
    "points": (
        "a whole number from 1 to 100000",
        lambda v: _whole(v, 1) and v <= 100_000,
    ),
    "nominal_fraction": (
        "a number strictly between 0 and 1",
        lambda v: _number(v) and 0 < v < 1,
    ),
    "epsilons": (
        "a list of different numbers > 0 and <= 10",
        lambda v: _filled_list(v, lambda e: _number(e) and 0 < e <= 10),
    ),
    "m": ("a whole number from 2 to 100000", lambda v: _whole(v, 2) and v <= 100_000),
    "n": ("a whole number from 1 to 1000", lambda v: _whole(v, 1) and v <= 1000),
    "n_uniform": (
        "a whole number from 1 to 1000",
        lambda v: _whole(v, 1) and v <= 1000,
    ),
    "n_gaussian": (
        "a whole number from 1 to 1000",
        lambda v: _whole(v, 1) and v <= 1000,
    ),
    "dimensions": (
        "a list of different whole numbers from 1 to 1000",
        lambda v: _filled_list(v, lambda n: _whole(n, 1) and n <= 1000),
    ),
    "eps": (
        "a number from 1e-13 to 0.1",
        lambda v: _number(v) and 1e-13 <= v <= 0.1,
    ),
    "step": (
        f"one of {', '.join(STEP_RULES)}",
        lambda v: isinstance(v, str) and v in STEP_RULES,
    ),
    "max_iter": (
        "a whole number from 10 to 100000",
        lambda v: _whole(v, 10) and v <= 100_000,
    ),
    "rules": _names_from(STEP_RULES),
    "steps": (
        f"a list of different names from {', '.join(SLIDES_STEPS)}",
        lambda v: _filled_list(v, lambda step: step in SLIDES_STEPS),
    ),
    "scaling": (
        f"one of {', '.join(SCALINGS)}",
        lambda v: isinstance(v, str) and v in SCALINGS,
    ),
    "features": ("a whole number >= 1", lambda v: _whole(v, 1)),
    "components": ("a whole number >= 1", lambda v: _whole(v, 1)),
    "honest_splits": (
        "a whole number from 2 to 1000",
        lambda v: _whole(v, 2) and v <= 1000,
    ),
    "repeats": ("a whole number from 1 to 1000", lambda v: _whole(v, 1) and v <= 1000),
    "perturbations": (
        "a whole number from 1 to 1000",
        lambda v: _whole(v, 1) and v <= 1000,
    ),
    "nu": ("a number strictly between 0 and 1", lambda v: _number(v) and 0 < v < 1),
    "alpha": ("a number strictly between 0 and 1", lambda v: _number(v) and 0 < v < 1),
    "nus": (
        "a list of one to three different numbers strictly between 0 and 1",
        lambda v: (
            _filled_list(v, lambda nu: _number(nu) and 0 < nu < 1) and len(v) <= 3
        ),
    ),
    "counts": (
        "a list of different whole numbers from 0 to 100",
        lambda v: _filled_list(v, lambda k: _whole(k, 0) and k <= 100),
    ),
    "top": ("a whole number from 1 to 1000", lambda v: _whole(v, 1) and v <= 1000),
    "sample": (
        "a whole number from 10 to 20000",
        lambda v: _whole(v, 10) and v <= 20_000,
    ),
    "extra_splits": (
        "a whole number from 0 to 1000",
        lambda v: _whole(v, 0) and v <= 1000,
    ),
}
