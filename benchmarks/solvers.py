"""Every solver of the table behind one call: points in, `Answer` out.

What a solver needs is imported in its loader, since some live in another environment.
All work on the same float64 rows. Quadratic programs are posed on data that are
centred and scaled to radius one: better conditioned, and safe far from the origin.
Solvers that return a center or weights but no ball are charged for the farthest
distance, without which there is no answer.

Matrices (what a solver builds beside the data) are counted in bytes before a solver is
started; see `benchmarks.run`.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["SOLVERS", "Answer", "Solver", "by_name", "farthest_distance"]

# Relative gap to which iterative methods are run, ours and others: it bounds the
# radius error by half of that, so that they count as right (see verdicts.py).
GAP = 1e-6


@dataclass(frozen=True)
class Answer:
    """A ball as a solver gives it; `solution` is ours, with its certificate."""

    center: np.ndarray
    radius: float
    solution: Any = None


@dataclass(frozen=True)
class Solver:
    """A row of the table.

    Attributes
    ----------
    name : str
    load : callable
        () -> (points -> Answer), with the imports.
    package : str
        The distribution whose version is reported.
    matrix_bytes : callable
        (m, n) -> size of the largest matrix that the solver builds.
    ours : bool
    environment : str
        "main", or "peers" for the environment of `peers.txt`.
    always : bool
        Start it on every cloud, also where it ran out of time on a smaller one.
    prepare : callable or None
        Called with the number of columns before the solver is loaded, in its own time.
    version : callable or None
        () -> str, where the solver is in no distribution.
    """

    name: str
    load: Callable
    package: str
    matrix_bytes: Callable = lambda m, n: 0
    ours: bool = False
    environment: str = "main"
    always: bool = False
    prepare: Callable | None = None
    version: Callable | None = None


def farthest_distance(points, center):
    """max_i |a_i - c| by differences, in blocks, without anything of mebnb."""
    largest = 0.0
    rows = max(1, 32_768 // points.shape[1])
    for start in range(0, points.shape[0], rows):
        difference = points[start : start + rows] - center
        squares = np.einsum("ij,ij->i", difference, difference)
        # A NaN must come through; max() of Python would lose it.
        largest = np.maximum(largest, squares.max())
    return float(np.sqrt(largest))


# --- ours --------------------------------------------------------------------------


def _ours(name, **arguments):
    def load():
        import mebnb

        solve = getattr(mebnb, name)

        def call(points):
            ball = solve(points, **arguments)
            return Answer(ball.center, ball.radius, ball)

        return call

    return load


# As many steps as the time allows, and nothing recorded.
_FREELY = {"max_iter": 10**7, "trace": False}
_TO_GAP = {"gap": "relative", "tol": GAP, **_FREELY}


# --- balls -------------------------------------------------------------------------


def _cyminiball():
    import cyminiball

    def call(points):
        center, squared = cyminiball.compute(points)
        return Answer(np.asarray(center), float(np.sqrt(squared)))

    return call


def _miniballcpp():
    from miniball import Miniball

    def call(points):
        ball = Miniball(points.tolist())
        return Answer(np.array(ball.center()), float(np.sqrt(ball.squared_radius())))

    return call


def _miniball():
    from miniball import get_bounding_ball

    def call(points):
        center, squared = get_bounding_ball(points, rng=np.random.default_rng(0))
        return Answer(center, float(np.sqrt(squared)))

    return call


def _build_cgal(columns):
    """Compile the ball of CGAL (Debian: libcgal-dev) for so many columns."""
    source, target = Path(__file__).with_name("cgal_ball.cpp"), _cgal_library(columns)
    if not target.is_file() or target.stat().st_mtime < source.stat().st_mtime:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = f"{target}.{os.getpid()}"
        command = ["g++", "-O3", "-DNDEBUG", "-march=native", "-shared", "-fPIC"]
        subprocess.run(
            [
                *command,
                f"-DDIM={columns}",
                "-o",
                beside,
                str(source),
                "-lgmp",
                "-lmpfr",
            ],
            check=True,
            capture_output=True,
        )
        os.replace(beside, target)


def _cgal_version():
    """As Debian numbers it."""
    command = ["dpkg-query", "--show", "--showformat=${Version}", "libcgal-dev"]
    return subprocess.run(command, capture_output=True, text=True).stdout


def _cgal_library(columns):
    return Path(__file__).parent.parent / ".venv" / "cgal" / f"{columns}.so"


def _cgal():
    def call(points):
        columns = points.shape[1]
        solve = ctypes.CDLL(str(_cgal_library(columns))).smallest_ball
        solve.restype = ctypes.c_double
        solve.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p]
        center = np.empty(columns)
        radius = solve(points.ctypes.data, len(points), center.ctypes.data)
        return Answer(center, radius)

    return call


# --- the primal as a quadratic program ---------------------------------------------
# min |c|^2 + t subject to |a_i|^2 - 2 a_i.c <= t; the radius is sqrt(t + |c|^2).


@dataclass(frozen=True)
class _Unit:
    """Points moved to their mean and scaled to radius one, and the way back."""

    points: np.ndarray
    squares: np.ndarray
    origin: np.ndarray
    scale: float

    @classmethod
    def of(cls, points):
        origin = points.mean(axis=0)
        centred = points - origin
        squares = np.einsum("ij,ij->i", centred, centred)
        scale = float(np.sqrt(squares.max())) or 1.0
        centred /= scale
        return cls(centred, squares / scale**2, origin, scale)

    def ball(self, center, level):
        """From c and t, as the program gives them."""
        radius = np.sqrt(level + center @ center)
        return Answer(self.origin + self.scale * center, self.scale * float(radius))

    def around(self, center, points):
        """From a center alone: the farthest point sets the radius."""
        center = self.origin + self.scale * np.asarray(center)
        return Answer(center, farthest_distance(points, center))


def _primal_bytes(m, n):
    return 8 * (n + 1) * max(m, n + 1)


# quadprog wants a strictly convex objective: (1e-7 / 2) (t - 1)^2 is added. With t
# between 0 and 1 that moves the solution by 1e-7 times the center's distance from the
# origin of the centred data, and the radius by much less.
CURVATURE_OF_LEVEL = 1e-7


def _quadprog():
    from quadprog import solve_qp

    def call(points):
        unit = _Unit.of(points)
        m, n = points.shape
        inverse_root = np.diag(
            np.append(np.full(n, 0.5**0.5), CURVATURE_OF_LEVEL**-0.5)
        )
        linear = np.append(np.zeros(n), CURVATURE_OF_LEVEL - 1.0)
        rows = np.empty((n + 1, m), order="F")
        rows[:n] = 2.0 * unit.points.T
        rows[n] = 1.0
        x = solve_qp(inverse_root, linear, rows, unit.squares, 0, True)[0]
        return unit.ball(x[:n], x[n])

    return call


def _primal_program(unit, order):
    m, n = unit.points.shape
    quadratic = np.diag(np.append(np.full(n, 2.0), 0.0))
    linear = np.append(np.zeros(n), 1.0)
    rows = np.empty((m, n + 1), order=order)
    rows[:, :n] = -2.0 * unit.points
    rows[:, n] = -1.0
    return quadratic, linear, rows, -unit.squares


def _daqp():
    import daqp

    def call(points):
        unit = _Unit.of(points)
        quadratic, linear, rows, upper = _primal_program(unit, "C")
        m = upper.size
        x, _, flag, _ = daqp.solve(
            quadratic,
            linear,
            rows,
            upper,
            np.full(m, -1e30),
            np.zeros(m, dtype=np.int32),
            iter_limit=10**6,
        )
        if flag != 1:
            raise RuntimeError(f"daqp stopped with flag {flag}")
        return unit.ball(x[:-1], x[-1])

    return call


def _piqp_primal():
    import piqp

    def call(points):
        unit = _Unit.of(points)
        quadratic, linear, rows, upper = _primal_program(unit, "F")
        solver = piqp.DenseSolver()
        solver.setup(np.asfortranarray(quadratic), linear, G=rows, h_u=upper)
        _solve_piqp(solver)
        return unit.ball(solver.result.x[:-1], solver.result.x[-1])

    return call


def _solve_piqp(solver):
    status = solver.solve()
    if status.name != "PIQP_SOLVED":
        raise RuntimeError(f"piqp stopped with {status.name}")


def _proxqp():
    from proxsuite import proxqp

    def call(points):
        unit = _Unit.of(points)
        quadratic, linear, rows, upper = _primal_program(unit, "C")
        program = proxqp.dense.QP(linear.size, 0, upper.size)
        program.settings.eps_abs, program.settings.eps_rel = GAP / 10, 0.0
        lower = np.full(upper.size, -1e30)
        program.init(quadratic, linear, None, None, rows, lower, upper)
        program.solve()
        if program.results.info.status != proxqp.QPSolverOutput.PROXQP_SOLVED:
            raise RuntimeError(f"proxqp stopped with {program.results.info.status}")
        x = program.results.x
        return unit.around(x[:-1], points)

    return call


def _qpalm():
    import qpalm
    from scipy import sparse

    def call(points):
        unit = _Unit.of(points)
        quadratic, linear, rows, upper = _primal_program(unit, "C")
        data = qpalm.Data(linear.size, upper.size)
        data.Q, data.q = sparse.csc_matrix(quadratic), linear
        data.A, data.bmax = sparse.csc_matrix(rows), upper
        data.bmin = np.full(upper.size, -1e20)
        settings = qpalm.Settings()
        settings.eps_abs, settings.eps_rel, settings.verbose = GAP / 10, 0.0, 0
        settings.max_iter = 10**6
        solver = qpalm.Solver(data, settings)
        solver.solve()
        if solver.info.status != "solved":
            raise RuntimeError(f"qpalm stopped with {solver.info.status}")
        return unit.around(np.array(solver.solution.x)[:-1], points)

    return call


def _highs():
    import highspy

    def call(points):
        unit = _Unit.of(points)
        m, n = points.shape
        model = highspy.HighsModel()
        program = model.lp_
        program.num_col_, program.num_row_ = n + 1, m
        program.col_cost_ = np.append(np.zeros(n), 1.0)
        program.col_lower_ = np.full(n + 1, -highspy.kHighsInf)
        program.col_upper_ = np.full(n + 1, highspy.kHighsInf)
        program.row_lower_ = np.full(m, -highspy.kHighsInf)
        program.row_upper_ = -unit.squares
        matrix = program.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.start_ = np.arange(0, m * (n + 1) + 1, n + 1)
        matrix.index_ = np.tile(np.arange(n + 1), m)
        matrix.value_ = np.hstack([-2.0 * unit.points, np.full((m, 1), -1.0)]).ravel()
        hessian = model.hessian_
        hessian.dim_ = n + 1
        hessian.format_ = highspy.HessianFormat.kTriangular
        hessian.start_ = np.append(np.arange(n + 1), n)
        hessian.index_, hessian.value_ = np.arange(n), np.full(n, 2.0)
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.passModel(model)
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"HiGHS stopped with {solver.getModelStatus()}")
        return unit.around(np.array(solver.getSolution().col_value)[:n], points)

    return call


# --- the dual as a quadratic program -----------------------------------------------
# min |c|^2 - z'u subject to c = A u, u on the simplex. For m <= n in u alone, with the
# Gram matrix; else in (c, u), so that nothing of size m x m appears.


def _dual_bytes(m, n):
    return 8 * m * m if m <= n else 12 * (n + 2) * m


def _gram_program(unit):
    return 2.0 * (unit.points @ unit.points.T), -unit.squares


def _split_program(unit):
    from scipy import sparse

    m, n = unit.points.shape
    quadratic = sparse.diags(np.append(np.full(n, 2.0), np.zeros(m)), format="csc")
    linear = np.append(np.zeros(n), -unit.squares)
    rows = sparse.block_array(
        [
            [-sparse.identity(n), sparse.csc_array(unit.points.T)],
            [None, sparse.csc_array(np.ones((1, m)))],
        ],
        format="csc",
    )
    right = np.append(np.zeros(n), 1.0)
    return quadratic, linear, sparse.csc_matrix(rows), right


def _piqp_dual():
    import piqp

    def call(points):
        unit = _Unit.of(points)
        m, n = points.shape
        if m <= n:
            gram, linear = _gram_program(unit)
            solver = piqp.DenseSolver()
            ones = np.ones((1, m), order="F")
            solver.setup(
                np.asfortranarray(gram), linear, A=ones, b=np.ones(1), x_l=np.zeros(m)
            )
            _solve_piqp(solver)
            return unit.around(solver.result.x @ unit.points, points)
        quadratic, linear, rows, right = _split_program(unit)
        solver = piqp.SparseSolver()
        lowest = np.append(np.full(n, -1e30), np.zeros(m))
        solver.setup(quadratic, linear, A=rows, b=right, x_l=lowest)
        _solve_piqp(solver)
        return unit.around(solver.result.x[:n], points)

    return call


def _clarabel_dual():
    import clarabel
    from scipy import sparse

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1

    def solve(quadratic, linear, rows, right, bounded):
        size = linear.size
        lower = sparse.hstack(
            [sparse.csc_matrix((bounded, size - bounded)), -sparse.identity(bounded)]
        )
        solution = clarabel.DefaultSolver(
            sparse.csc_matrix(sparse.triu(quadratic)),
            linear,
            sparse.csc_matrix(sparse.vstack([rows, lower])),
            np.append(right, np.zeros(bounded)),
            [clarabel.ZeroConeT(right.size), clarabel.NonnegativeConeT(bounded)],
            settings,
        ).solve()
        if str(solution.status) not in ("Solved", "AlmostSolved"):
            raise RuntimeError(f"clarabel stopped with {solution.status}")
        return np.array(solution.x)

    def call(points):
        unit = _Unit.of(points)
        m, n = points.shape
        if m <= n:
            gram, linear = _gram_program(unit)
            ones = sparse.csc_matrix(np.ones((1, m)))
            weights = solve(sparse.csc_matrix(gram), linear, ones, np.ones(1), m)
            return unit.around(weights @ unit.points, points)
        return unit.around(solve(*_split_program(unit), m)[:n], points)

    return call


# --- others ------------------------------------------------------------------------


def _cvxpy_clarabel():
    import cvxpy

    def call(points):
        unit = _Unit.of(points)
        center, radius = cvxpy.Variable(points.shape[1]), cvxpy.Variable()
        inside = [
            cvxpy.norm(unit.points - cvxpy.reshape(center, (1, -1), order="C"), axis=1)
            <= radius
        ]
        cvxpy.Problem(cvxpy.Minimize(radius), inside).solve(solver=cvxpy.CLARABEL)
        return Answer(
            unit.origin + unit.scale * center.value, unit.scale * float(radius.value)
        )

    return call


def _one_class_svm():
    """The ball as a one-class SVM with nu = 1 / m: with D the squared distances, the
    dual value is u'Du / 2, and the kernel s - D / 2 shifts it by s on the simplex."""
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.svm import OneClassSVM

    def call(points):
        unit = _Unit.of(points)
        kernel = euclidean_distances(unit.points, squared=True)
        kernel *= -0.5
        kernel += 2.0
        machine = OneClassSVM(
            kernel="precomputed", nu=1.0 / points.shape[0], tol=GAP, cache_size=1000
        ).fit(kernel)
        weights = machine.dual_coef_[0] / machine.dual_coef_.sum()
        return unit.around(weights @ unit.points[machine.support_], points)

    return call


def _bpcg_gram():
    """Blended pairwise conditional gradients as one writes it from the formulas: the
    whole Gram matrix first, the gradient 2 A'A u - z anew in every step."""

    def call(points):
        unit = _Unit.of(points)
        gram, z = unit.points @ unit.points.T, unit.squares
        weights = np.zeros(z.size)
        weights[0] = 1.0
        while True:
            product = gram @ weights
            gradient = 2.0 * product - z
            active = np.flatnonzero(weights)
            away = active[gradient[active].argmax()]
            local = active[gradient[active].argmin()]
            towards = int(gradient.argmin())
            gap = gradient @ weights - gradient[towards]
            dual = z @ weights - weights @ product
            if gap <= GAP * dual:
                return unit.around(weights @ unit.points, points)
            if gradient[away] - gradient[local] >= gap:
                curvature = (
                    gram[away, away] - 2.0 * gram[away, local] + gram[local, local]
                )
                step = (gradient[away] - gradient[local]) / (2.0 * curvature)
                if step >= weights[away]:
                    weights[local] += weights[away]
                    weights[away] = 0.0
                else:
                    weights[local] += step
                    weights[away] -= step
            else:
                curvature = (
                    gram[towards, towards] - 2.0 * product[towards] + weights @ product
                )
                step = min(gap / (2.0 * curvature), 1.0)
                weights *= 1.0 - step
                weights[towards] += step

    return call


def _square(m, n):
    return 8 * m * m


SOLVERS = (
    Solver(
        "minimum_enclosing_ball",
        _ours("minimum_enclosing_ball"),
        "mebnb",
        ours=True,
        always=True,
    ),
    *(
        Solver(name, _ours(name, **_TO_GAP), "mebnb", ours=True)
        for name in ("away_step", "pairwise", "blended_pairwise")
    ),
    Solver(
        "core_set_away",
        _ours("core_set", eps=GAP / 2, away=True, **_FREELY),
        "mebnb",
        ours=True,
    ),
    Solver("cyminiball", _cyminiball, "cyminiball", environment="peers", always=True),
    Solver("miniballcpp", _miniballcpp, "miniballcpp", always=True),
    # Every level of its recursion keeps a list of the rows that are left.
    Solver(
        "miniball",
        _miniball,
        "miniball",
        lambda m, n: 4 * m * m,
        environment="peers",
    ),
    # Its tables are squares of the columns; its time is exponential in them.
    Solver(
        "cgal",
        _cgal,
        "",
        lambda m, n: 40 * n * n,
        prepare=_build_cgal,
        version=_cgal_version,
    ),
    Solver("quadprog", _quadprog, "quadprog", _primal_bytes, always=True),
    Solver("daqp", _daqp, "daqp", _primal_bytes, always=True),
    Solver("piqp_primal", _piqp_primal, "piqp", _primal_bytes),
    # Dense, with a factor over variables and constraints together.
    Solver("proxqp", _proxqp, "proxsuite", lambda m, n: 8 * (m + n) ** 2),
    Solver("qpalm", _qpalm, "qpalm", lambda m, n: 12 * (n + 1) * m),
    Solver("highs", _highs, "highspy", lambda m, n: 12 * (n + 1) * m),
    Solver("piqp_dual", _piqp_dual, "piqp", _dual_bytes),
    Solver("clarabel_dual", _clarabel_dual, "clarabel", _dual_bytes),
    Solver("cvxpy_clarabel", _cvxpy_clarabel, "cvxpy", lambda m, n: 12 * (n + 2) * m),
    Solver("one_class_svm", _one_class_svm, "scikit-learn", _square),
    Solver("bpcg_gram", _bpcg_gram, "numpy", _square),
)


def by_name(name):
    return next(solver for solver in SOLVERS if solver.name == name)
