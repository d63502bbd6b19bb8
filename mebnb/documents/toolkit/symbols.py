"""The documents' formulas in symbols: when two of them agree, and how to damage one.

SymPy is loaded on first use, so that listing the entries stays quick.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace


@cache
def ball():
    """Three points in the plane with weights, and what follows from them.

    Returns
    -------
    types.SimpleNamespace
        `sp` (SymPy); `A` (2, 3) with the `points` as columns, `z` their squared norms,
        weights `u` and their sum `total`, a direction `d`, a center `c`, the numbers
        `r`, `gamma`, `alpha`; `ones` and `unit` vectors; the dual value as functions
        `Phi` and `f` = -Phi and as `phi` = Phi(u); `center` = Au and the squared
        `distances` from it; `lagrangian`, summed constraint by constraint from (3) of
        the report rather than expanded.
    """
    import sympy as sp

    def column(name, length):
        return sp.Matrix(sp.symbols(f"{name}1:{length + 1}", real=True))

    A = sp.Matrix(2, 3, lambda k, i: sp.Symbol(f"a{k + 1}{i + 1}", real=True))
    u, c = column("u", 3), column("c", 2)
    r, gamma, alpha = sp.symbols("r gamma alpha", real=True)
    points = [A[:, i] for i in range(3)]
    z = sp.Matrix([squared_norm(point) for point in points])
    center = A * u

    def Phi(weights):
        return z.dot(weights) - squared_norm(A * weights)

    return SimpleNamespace(
        sp=sp,
        A=A,
        points=points,
        z=z,
        u=u,
        total=sum(u),
        d=column("d", 3),
        c=c,
        r=r,
        gamma=gamma,
        alpha=alpha,
        ones=sp.ones(3, 1),
        unit=[sp.Matrix([int(i == j) for j in range(3)]) for i in range(3)],
        Phi=Phi,
        f=lambda weights: -Phi(weights),
        phi=Phi(u),
        center=center,
        distances=[squared_norm(point - center) for point in points],
        lagrangian=r**2
        + sum(w * (squared_norm(point - c) - r**2) for w, point in zip(u, points)),
    )


@cache
def ellipsoid():
    """Three negatives in the plane, with every multiplier of the paper as a symbol.

    Returns
    -------
    types.SimpleNamespace
        `sp` (SymPy), the numbers `n` and `d`, scalars `R B mu lam beta delta`, the
        lists `alpha gamma xi`, the rows `y` of x - c, a general matrix `M`, the
        identity `I`, the Gram matrix `G`, its entrywise square `G2`, `total`, the sum
        of alpha, and `outer`, that of alpha_k y_k y_k'; `lagrangian`, the objective
        plus multipliers times constraints written as g <= 0.
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
    s.outer = s.y.T * sp.diag(*s.alpha) * s.y
    constraints = [(s.beta, -s.R), (s.delta, s.R - s.B)]
    for k in range(n):
        constraints.append((s.alpha[k], s.R - s.xi[k] - in_metric(s, k, s.M)))
        constraints.append((s.gamma[k], -s.xi[k]))
    s.lagrangian = (
        sum(s.xi) / sp.Integer(n)
        + s.mu * (s.B - s.R) ** 2
        + s.lam * frobenius(s.M - s.I)
        + sum(multiplier * constraint for multiplier, constraint in constraints)
    )
    return s


def squared_norm(vector):
    """|v|^2 of a column."""
    return vector.dot(vector)


def frobenius(matrix):
    """Squared Frobenius norm of a symbolic matrix."""
    return sum(entry**2 for entry in matrix)


def in_metric(s, k, matrix):
    """Squared distance y_k' M y_k of the ellipsoid's negative k."""
    row = s.y.row(k)
    return (row * matrix * row.T)[0]


@cache
def stationary():
    """R and M at which the ellipsoid's Lagrangian is stationary, solved for by SymPy."""
    s = ellipsoid()
    sp = s.sp
    R = sp.solve(sp.diff(s.lagrangian, s.R), s.R)[0]
    return R, s.M.applyfunc(lambda m: sp.solve(sp.diff(s.lagrangian, m), m)[0])


def gradient_of(expression, variables):
    """Column of the partial derivatives by a column of variables."""
    return variables.applyfunc(expression.diff)


def on_simplex(expression):
    """The expression with u_3 = 1 - u_1 - u_2."""
    u = ball().u
    return expression.subs(u[2], 1 - u[0] - u[1])


# --- when two expressions agree ----------------------------------------------------


def equals(expected, symbols=ball, modulo=lambda expression: expression):
    """A measure: the form, one expression or several, is identical with the expected.

    Parameters
    ----------
    expected : callable
        `symbols()` -> expression, matrix or sequence of both, as the forms are.
    symbols : callable
        `ball` or `ellipsoid`.
    modulo : callable
        What is put into the differences, `on_simplex` for example.

    Returns
    -------
    callable
        form -> float, by `residual`.
    """

    @cache
    def wanted():
        return _parts(expected(symbols()))

    def measure(form):
        pairs = zip(_parts(form(symbols())), wanted(), strict=True)
        return residual(*(modulo(found - right) for found, right in pairs))

    return measure


def residual(*differences):
    """By how much expressions differ from zero.

    Parameters
    ----------
    *differences : sympy expressions, matrices or sequences of them

    Returns
    -------
    float
        0.0 when every one vanishes identically, else the sum of their sizes at a
        rational point (1e-3 where that point happens to be a root).
    """
    import sympy as sp

    parts = _parts(differences)
    sizes = [abs(complex(sp.N(part.xreplace(_sample(part))))) for part in parts]
    violation = sum(size for size in sizes if size > 1e-12)
    if violation > 0.0:
        return violation
    identities = (sp.expand(sp.numer(sp.together(part))) == 0 for part in parts)
    return 0.0 if all(identities) else 1e-3


def _sample(expression):
    """Distinct rational numbers, positive and of order one, for the free symbols."""
    import sympy as sp

    free = sorted(expression.free_symbols, key=str)
    return {
        symbol: sp.Rational(sp.prime(i + 3), sp.prime(len(free) - i + 2))
        for i, symbol in enumerate(free)
    }


def _parts(value):
    """The expressions of a matrix or a nested sequence, one after the other."""
    if not hasattr(value, "__len__"):
        return [value]
    return [part for entry in value for part in _parts(entry)]


# --- how to damage an expression ---------------------------------------------------


def damaged(symbols=ball):
    """Spoils a claim in every term: its sign turned, doubled, left out.

    Of a sum inside of a sum the signs alone are turned.

    Parameters
    ----------
    symbols : callable
        `ball` or `ellipsoid`, whose symbols the claim is written in.

    Returns
    -------
    callable
        claim -> dict of damaged claims, for `Entry.spoil`.
    """

    def spoil(claim):
        damages = _in_parts(claim(symbols()))
        return {name: lambda s, value=value: value for name, value in damages}

    return spoil


def damaged_formula(*names):
    """The same for a formula, a function of as many numbers as there are names."""

    def spoil(formula):
        import sympy as sp

        unknowns = sp.symbols(names, positive=True)
        damages = _in_parts(formula(*unknowns))
        return {name: sp.lambdify(unknowns, new, "sympy") for name, new in damages}

    return spoil


def _in_parts(value, place=""):
    """(what was done, value with one term damaged), through sequences and matrices."""
    if isinstance(value, str):
        return
    if not hasattr(value, "__len__"):
        yield f"sign{place}", -value
        yield f"doubled{place}", 2 * value
        yield from ((name + place, new) for name, new in _in_terms(value))
    elif isinstance(value, tuple | list):
        for k, part in enumerate(value):
            for name, new in _in_parts(part, f"{place}, part {k + 1}"):
                yield name, (*value[:k], new, *value[k + 1 :])
    else:
        for k, part in enumerate(value):
            for name, new in _in_parts(part, f"{place}, entry {k + 1}"):
                copy = value.copy()
                copy[k] = new
                yield name, copy


def _in_terms(expression, inner=False):
    """The same through the terms of a sum; of sums inside of it the signs alone."""
    if expression.is_Add:
        for term in expression.args:
            rest = expression - term
            where = f" in {expression}" if inner else ""
            yield f"sign of {term}{where}", rest - term
            if not inner:
                yield f"{term} doubled", rest + 2 * term
                yield f"{term} left out", rest
    for k, part in enumerate(expression.args):
        for name, new in _in_terms(part, inner or expression.is_Add):
            args = (*expression.args[:k], new, *expression.args[k + 1 :])
            yield name, expression.func(*args)
