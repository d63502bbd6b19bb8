"""The paper's problem in symbols: its Lagrangian, and when two expressions agree.

SymPy is loaded on first use, so that listing the entries stays quick.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np


@cache
def symbols():
    """Three negatives in the plane, with every multiplier of the paper as a symbol.

    Returns
    -------
    SimpleNamespace
        `sp` (SymPy), the numbers `n` and `d`, scalars `R B mu lam beta delta`, the
        lists `alpha gamma xi`, the rows `y` of x - c, a general matrix `M`, the
        identity `I`, the Gram matrix `G`, its entrywise square `G2`, and `total`,
        the sum of alpha.
    """
    import sympy as sp

    n, d = 3, 2
    s = SimpleNamespace(sp=sp, n=n, d=d)
    s.mu, s.lam, s.B = sp.symbols("mu lambda B", positive=True)
    s.R, s.beta, s.delta = sp.symbols("R beta delta")
    s.alpha = sp.symbols(f"alpha1:{n + 1}")
    s.gamma = sp.symbols(f"gamma1:{n + 1}")
    s.xi = sp.symbols(f"xi1:{n + 1}")
    s.y = sp.Matrix(n, d, lambda i, j: sp.Symbol(f"y{i + 1}{j + 1}"))
    s.M = sp.Matrix(d, d, lambda i, j: sp.Symbol(f"m{i + 1}{j + 1}"))
    s.I = sp.eye(d)
    s.G = s.y * s.y.T
    s.G2 = s.G.applyfunc(lambda entry: entry**2)
    s.total = sum(s.alpha)
    return s


def quadratic(s, k, matrix=None):
    """Squared distance y_k' M y_k of negative k in the metric M."""
    row = s.y.row(k)
    return (row * (s.M if matrix is None else matrix) * row.T)[0]


def frobenius(matrix):
    """Squared Frobenius norm of a symbolic matrix."""
    return sum(entry**2 for entry in matrix)


def symbolic(derive):
    """A measure that holds a form against an expression derived on its own.

    Parameters
    ----------
    derive : callable
        Takes the symbols and returns the expression (or matrix, or list) that the
        form must equal identically.

    Returns
    -------
    callable
        form -> 0.0 when every difference vanishes identically, else its largest
        size at two rational points.
    """

    def measure(form):
        s = symbols()
        sp = s.sp
        worst = 0.0
        for left, right in zip(_entries(form(s)), _entries(derive(s)), strict=True):
            difference = sp.expand(left - right)
            if difference != 0:
                worst = max(worst, _size(sp, difference))
        return worst

    return measure


def _entries(value):
    return list(value) if hasattr(value, "__len__") else [value]


def _size(sp, difference):
    """The value at two rational points; infinite when nonzero but invisible there."""
    unknowns = sorted(difference.free_symbols, key=str)
    value = max(
        abs(
            float(
                difference.subs(
                    {
                        u: sp.Rational(k + shift + 1, shift)
                        for k, u in enumerate(unknowns)
                    }
                )
            )
        )
        for shift in (3, 7)
    )
    if value > 0:
        return value
    return 0.0 if sp.simplify(difference) == 0 else np.inf


# --- the Lagrangian, equations (3) to (6) -------------------------------------------


def lagrangian(s):
    """Objective plus multipliers times constraints written as g <= 0."""
    n = s.n
    constraints = [(s.beta, -s.R), (s.delta, s.R - s.B)]
    for k in range(n):
        constraints.append((s.alpha[k], s.R - s.xi[k] - quadratic(s, k)))
        constraints.append((s.gamma[k], -s.xi[k]))
    objective = (
        s.sp.Rational(1, n) * sum(s.xi)
        + s.mu * (s.B - s.R) ** 2
        + s.lam * frobenius(s.M - s.I)
    )
    return objective + sum(multiplier * g for multiplier, g in constraints)


def printed_lagrangian(last, positive=None, slack=1, hinge=1):
    """(3) with its last terms left open, so that they can be damaged one by one."""

    def form(s):
        terms = (
            s.sp.Rational(1, s.n) * sum(s.xi)
            + s.mu * (s.B - s.R) ** 2
            + s.lam * frobenius(s.M - s.I)
            - slack * sum(g * x for g, x in zip(s.gamma, s.xi, strict=True))
        )
        for k in range(s.n):
            terms -= s.alpha[k] * (quadratic(s, k) - hinge * s.R + s.xi[k])
        floor = -s.beta * s.R if positive is None else positive(s)
        return terms + floor + last(s)

    return form


@cache
def stationary():
    """R and M at which the Lagrangian is stationary, solved for by SymPy."""
    s = symbols()
    sp = s.sp
    value = lagrangian(s)
    R = sp.solve(sp.diff(value, s.R), s.R)[0]
    M = s.M.applyfunc(lambda m: sp.solve(sp.diff(value, m), m)[0])
    return R, M


def outer_sum(s):
    return s.sp.Matrix(
        s.d,
        s.d,
        lambda i, j: sum(s.alpha[k] * s.y[k, i] * s.y[k, j] for k in range(s.n)),
    )
