"""The report's symbols for m = 3 points in R^2, and when two expressions agree."""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace

import sympy as sp

from mebnb.documents.toolkit.clouds import algebra


@lru_cache(maxsize=1)
def symbols():
    """A, u, z, c, r, gamma, alpha, d and what is built of them.

    Returns
    -------
    types.SimpleNamespace
        `A` (2, 3) with the points as columns, `z` the squared norms of the points,
        `ones` a column of three; `total` = 1'u; `Phi` and `f` = -Phi as functions;
        `lagrangian`, summed constraint by constraint from (3) rather than expanded.
    """

    def column(name, length):
        return sp.Matrix(sp.symbols(f"{name}1:{length + 1}", real=True))

    base = algebra()
    A, u, points, z = base.A, base.u, base.a, base.z
    d, c = column("d", 3), column("c", 2)
    r, gamma, alpha = sp.symbols("r gamma alpha", real=True)

    def Phi(weights):
        return z.dot(weights) - (A * weights).dot(A * weights)

    return SimpleNamespace(
        sp=sp,
        A=A,
        points=points,
        u=u,
        d=d,
        c=c,
        r=r,
        gamma=gamma,
        alpha=alpha,
        z=z,
        ones=sp.ones(3, 1),
        total=sum(u),
        unit=[sp.Matrix([int(i == j) for j in range(3)]) for i in range(3)],
        Phi=Phi,
        f=lambda weights: -Phi(weights),
        lagrangian=r**2
        + sum(u[i] * ((points[i] - c).dot(points[i] - c) - r**2) for i in range(3)),
    )


def squared_norm(vector):
    """|v|^2 of a column."""
    return vector.dot(vector)


def equals(expected):
    """A measure: the form, one expression or several, is identical with the expected.

    Parameters
    ----------
    expected : callable
        `symbols()` -> expression or tuple of expressions, as the forms are.

    Returns
    -------
    callable
        form -> float, by `residual`.
    """

    def measure(form):
        s = symbols()
        found, wanted = form(s), expected(s)
        if not isinstance(found, tuple):
            found, wanted = (found,), (wanted,)
        return residual(*(a - b for a, b in zip(found, wanted, strict=True)))

    return measure


def gradient_of(expression, variables):
    """Column of the partial derivatives.

    Parameters
    ----------
    expression : sympy expression
    variables : sympy Matrix, column

    Returns
    -------
    sympy Matrix, column
    """
    return sp.Matrix([sp.diff(expression, variable) for variable in variables])


def on_simplex(expression):
    """The expression with u_3 = 1 - u_1 - u_2."""
    return expression.subs(algebra().simplex)


def residual(*differences):
    """By how much expressions differ from zero.

    Parameters
    ----------
    *differences : sympy expressions or matrices

    Returns
    -------
    float
        0.0 when every one is zero identically, else the sum of their sizes at a
        rational point (1e-3 where that point happens to be a root).
    """
    violation = 0.0
    for difference in differences:
        for entry in sp.Matrix([difference]):
            size = abs(complex(sp.N(_at_sample(entry))))
            if size > 1e-12:
                violation += size
            elif sp.expand(sp.numer(sp.together(entry))) != 0:
                violation += 1e-3
    return violation


def _at_sample(expression):
    """Put distinct rational numbers, positive and of order one, in for the symbols."""
    free = sorted(expression.free_symbols, key=str)
    return expression.subs(
        {
            symbol: sp.Rational(sp.prime(i + 3), sp.prime(len(free) - i + 2))
            for i, symbol in enumerate(free)
        }
    )
