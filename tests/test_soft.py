"""The ball with slack: duality, counts, degenerate C, kernels, relatives, bad input."""

import math
import pickle
from dataclasses import replace
from fractions import Fraction
from functools import partial

import cvxpy
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import check_estimator

from benchmarks import soft as benchmark
from mebnb import BallDetector, SoftBallDetector, minimum_enclosing_ball, soft_ball
from mebnb.learning.detectors import PlainSoftBallDetector
from mebnb.solvers import soft
from mebnb.solvers.soft import least_radii, verify_soft
from mebnb.solvers.soft_plain import (
    PlainSoftBall,
    _newton,
    _smoothed,
    plain_soft_ball,
)

NUS = (0.02, 0.1, 0.3, 0.5, 1.0)
SIZES = ((1, 2), (2, 1), (3, 2), (7, 3), (40, 2), (60, 10), (200, 4), (30, 80))
CLARABEL = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def cloud(m, n, seed=0):
    rng = np.random.default_rng([seed, m, n])
    return np.exp(rng.standard_normal((m, n))) + 3.0


def cubic(x, y):
    return (x @ y.T / x.shape[1] + 1.0) ** 3


def rbf(x, y, gamma=0.3):
    return np.exp(-gamma * cdist(x, y, "sqeuclidean"))


KERNELS = {
    "linear": (None, lambda x, y: x @ y.T),
    "rbf": ("rbf", rbf),
    "cubic": (cubic, cubic),
    "precomputed": ("precomputed", cubic),
}


def solve(points, kernel, **options):
    """A soft ball and the kernel matrix of its problem."""
    given_kernel, matrix = KERNELS[kernel]
    gamma = {"gamma": 0.3} if kernel == "rbf" else {}
    gram = matrix(points, points)
    data = gram if kernel == "precomputed" else points
    return soft_ball(data, kernel=given_kernel, **gamma, **options), gram


def values(gram, ball, m):
    """Squared distances of all points, primal and dual, from the weights alone."""
    u = np.zeros(m)
    u[ball.support] = ball.weights
    share = u / u.sum()
    distances = np.diag(gram) - 2 * gram @ share + share @ gram @ share
    slack = np.maximum(distances - ball.rho, 0.0)
    return distances, ball.rho + ball.C * slack.sum(), u @ distances


def reference(gram, C):
    """The optimal value by an interior-point method on the dual."""
    m = len(gram)
    centred = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    eigenvalues, vectors = np.linalg.eigh(centred)
    scale = np.trace(centred) / m or 1.0
    root = vectors * np.sqrt(np.maximum(eigenvalues / scale, 0.0))
    own = np.einsum("ij,ij->i", root, root)
    u = cvxpy.Variable(m, nonneg=True)
    problem = cvxpy.Problem(
        cvxpy.Maximize(own @ u - cvxpy.sum_squares(root.T @ u)),
        [cvxpy.sum(u) == 1, u <= C],
    )
    return scale * problem.solve(solver=cvxpy.CLARABEL, **CLARABEL)


# --- optimality --------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize(("m", "n"), SIZES)
def test_it_is_optimal_and_counts_hold(m, n, nu, kernel):
    points = cloud(m, n)
    ball, gram = solve(points, kernel, nu=nu)
    distances, primal, dual = values(gram, ball, m)
    scale = max(ball.primal, 1e-300)
    rounding = 1e-13 * np.abs(gram).max()
    assert ball.converged
    assert ball.relative_gap <= 1e-8
    assert abs(primal - ball.primal) <= 1e-10 * scale + rounding
    assert abs(dual - ball.dual) <= 1e-10 * scale + rounding
    assert (ball.weights > 0).all() and (ball.weights <= ball.C).all()
    assert ball.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert ball.outside.size <= nu * m + 1e-9 <= ball.support.size + 2e-9
    assert ball.rho_interval[0] <= ball.rho <= ball.rho_interval[1]
    if m > 2:
        best = reference(gram, min(ball.C, 1.0))
        assert abs(best - ball.dual) <= 3e-8 * scale + rounding
        assert abs(best - ball.primal) <= 3e-8 * scale + rounding


@settings(max_examples=60, deadline=None)
@given(
    m=st.integers(1, 60),
    n=st.integers(1, 5),
    nu=st.floats(0.001, 1.0),
    seed=st.integers(0, 1000),
    decimals=st.sampled_from([0, 1, 12]),
    kernel=st.sampled_from(["linear", "rbf"]),
)
def test_counts_hold_on_every_instance(m, n, nu, seed, decimals, kernel):
    points = np.random.default_rng(seed).standard_normal((m, n)).round(decimals)
    ball, gram = solve(points, kernel, nu=nu)
    assert ball.relative_gap <= 1e-8 or ball.gap <= 1e-14 * np.abs(gram).max()
    assert ball.dual <= ball.primal + 1e-14 * np.abs(gram).max()
    assert ball.outside.size <= nu * m * (1 + 1e-12)
    assert ball.support.size >= nu * m * (1 - 1e-12)
    assert set(ball.free) <= set(ball.support)


def test_the_center_and_rho_are_what_they_claim():
    points = cloud(300, 4)
    ball = soft_ball(points, 0.1, tol=1e-12)
    np.testing.assert_allclose(ball.center, ball.weights @ points[ball.support])
    distances = ((points - ball.center) ** 2).sum(axis=1)
    np.testing.assert_allclose(ball.squared_distances(points), distances, rtol=1e-12)
    assert ball.free.size > 0
    np.testing.assert_allclose(distances[ball.free], ball.rho, rtol=1e-6)
    assert ball.radius == ball.rho**0.5
    full = np.setdiff1d(ball.support, ball.free)
    assert (distances[full] >= ball.rho * (1 - 1e-6)).all()
    others = np.setdiff1d(np.arange(300), ball.support)
    assert (distances[others] <= ball.rho * (1 + 1e-6)).all()


def test_it_minimises_the_mean_of_the_farthest_squared_distances():
    points, nu = cloud(100, 3), 0.2
    ball = soft_ball(points, nu, tol=1e-12)

    def tail(center):
        return np.sort(((points - center) ** 2).sum(axis=1))[-20:].mean()

    assert tail(ball.center) == pytest.approx(ball.primal, rel=1e-12)
    rng = np.random.default_rng(0)
    for length in (1e-3, 1e-1, 1.0):
        for step in length * rng.standard_normal((20, 3)):
            assert tail(ball.center + step) > ball.primal


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_frank_wolfe_steps_go_to_the_same_ball(kernel, seed):
    points = cloud(80, 3, seed)
    best, gram = solve(points, kernel, nu=0.2, tol=1e-12)
    slow, _ = solve(
        points, kernel, nu=0.2, tol=1e-4, method="frank_wolfe", max_iter=20_000
    )
    assert slow.converged
    assert 0 <= best.dual - slow.dual <= 1e-4 * best.dual
    _, primal, dual = values(gram, slow, 80)
    assert slow.primal == pytest.approx(primal, rel=1e-9)
    assert slow.dual == pytest.approx(dual, rel=1e-9)
    assert slow.gaps.size == slow.iterations + 1


def test_a_limit_of_rounds_is_told():
    ball = soft_ball(cloud(300, 4), 0.1, tol=1e-12, max_iter=1)
    assert not ball.converged and ball.iterations == 1
    assert "after 1 iterations" in ball.message
    assert ball.dual <= ball.primal


@pytest.mark.parametrize("kernel", KERNELS)
def test_small_working_sets_and_a_small_cache_change_nothing(kernel, monkeypatch):
    points = np.random.default_rng(0).standard_normal((200, 6))
    large, _ = solve(points, kernel, nu=0.2, tol=1e-11)
    monkeypatch.setattr(soft._Linear, "working", 8)
    monkeypatch.setattr(soft._Kernel, "working", 8)
    monkeypatch.setattr(soft, "CACHE_BYTES", 5 * 200 * 8)
    small, _ = solve(points, kernel, nu=0.2, tol=1e-11)
    assert small.converged and small.iterations > 2
    assert small.dual == pytest.approx(large.dual, rel=1e-10)
    assert small.rho == pytest.approx(large.rho, rel=1e-5)


def test_columns_are_kept_within_their_bound_the_least_used_go_first(monkeypatch):
    points = cloud(50, 2)
    monkeypatch.setattr(soft, "CACHE_BYTES", 3 * 50 * 8)
    space = soft._Kernel(points, rbf)
    for row in (1, 2, 3, 1, 4):
        np.testing.assert_allclose(
            space._column(row, np.array([row])), rbf(points, points)[row]
        )
    assert sorted(space.columns) == [1, 3, 4]


def test_large_clouds_start_from_a_sample():
    points = cloud(5000, 3)
    ball = soft_ball(points, 0.05)
    assert ball.converged
    best = soft_ball(points[::-1].copy(), 0.05)
    assert ball.rho == pytest.approx(best.rho, rel=1e-6)
    assert ball.outside.size <= 250 <= ball.support.size


# --- degenerate C and rho ------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_cheap_slack_gives_the_mean_and_no_radius(kernel):
    points = cloud(20, 3)
    ball, gram = solve(points, kernel, C=0.8 / 20)
    distances, primal, dual = values(gram, ball, 20)
    np.testing.assert_allclose(ball.weights, 0.8 / 20)
    assert ball.rho == 0.0 and ball.rho_interval == (0.0, 0.0)
    assert ball.nu == pytest.approx(1 / 0.8)
    assert ball.primal == pytest.approx(0.8 * distances.mean(), rel=1e-9)
    assert ball.relative_gap <= 1e-12 and ball.steps == ball.iterations == 0
    seen = (gram, np.diagonal(gram)) if kernel == "precomputed" else (points,)
    np.testing.assert_allclose(ball.squared_distances(*seen), distances, rtol=1e-9)
    if kernel == "linear":
        np.testing.assert_allclose(ball.center, points.mean(axis=0))


def test_all_points_outside_at_nu_one():
    points = cloud(20, 3)
    ball = soft_ball(points, 1.0)
    np.testing.assert_allclose(ball.center, points.mean(axis=0))
    distances = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    assert ball.rho_interval == pytest.approx((0.0, distances.min()))
    assert ball.outside.size == 20 == ball.support.size


@pytest.mark.parametrize("C", [1.0, 1.5, 100.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_expensive_slack_gives_the_hard_ball(kernel, C):
    points = cloud(40, 3)
    ball, gram = solve(points, kernel, C=C)
    distances, _, dual = values(gram, ball, 40)
    assert ball.outside.size == 0
    assert ball.rho == pytest.approx(distances.max(), rel=1e-9)
    assert ball.rho == pytest.approx(dual, rel=1e-8)
    if kernel == "linear":
        hard = minimum_enclosing_ball(points)
        np.testing.assert_array_equal(ball.weights, hard.weights)
        np.testing.assert_allclose(ball.center, hard.center)
        assert ball.radius == pytest.approx(hard.radius, rel=1e-12)


def test_nu_below_one_over_m_is_the_hard_ball():
    points = cloud(40, 3)
    assert soft_ball(points, 0.01).radius == pytest.approx(
        minimum_enclosing_ball(points).radius, rel=1e-12
    )


def test_rho_is_the_middle_of_an_interval_when_no_point_is_free():
    ball = soft_ball([[-1.0], [1.0], [0.0]], C=0.5)
    assert ball.free.size == 0
    assert ball.rho_interval == (0.0, 1.0)
    assert ball.rho == 0.5
    assert ball.primal == ball.dual == 1.0


def test_equal_points_and_one_point():
    for points in (np.full((10, 3), 7.0), [[1.0, 2.0]]):
        ball = soft_ball(points, 0.3)
        assert ball.rho == 0.0 and ball.primal == 0.0 and ball.converged
        kernel = soft_ball(points, 0.3, kernel="rbf")
        assert kernel.rho == pytest.approx(0.0, abs=1e-14)
        assert kernel.outside.size <= 3


def test_repeated_points():
    points = np.repeat(cloud(20, 2), 5, axis=0)
    ball = soft_ball(points, 0.25)
    assert ball.converged and ball.outside.size <= 25 <= ball.support.size
    once = soft_ball(points[::5], 0.25)
    assert ball.rho == pytest.approx(once.rho, rel=1e-6)


def test_far_from_the_origin():
    points = np.random.default_rng(0).standard_normal((300, 3))
    near, far = soft_ball(points, 0.1), soft_ball(points + 1e8, 0.1)
    assert far.rho == pytest.approx(near.rho, rel=1e-6)
    assert far.relative_gap < 1e-6
    near, far = (soft_ball(p, 0.1, kernel="rbf") for p in (points, points + 1e6))
    assert far.rho == pytest.approx(near.rho, rel=1e-6)


def test_the_shifted_kernel_makes_the_linear_ball_a_one_class_svm():
    points = cloud(300, 3)
    weights = benchmark.one_class_svm(points, linear=True, tol=1e-9)
    ball = soft_ball(points, benchmark.NU, tol=1e-12)
    assert abs(benchmark.relative_gap(points, weights, linear=True)) < 1e-8
    np.testing.assert_allclose(weights @ points, ball.center, rtol=1e-4)


def test_the_benchmark_compares_the_same_problems():
    row = benchmark.compare("skewed", 300, 3, linear=False, repeats=1)
    assert row["soft_ball_gap"] <= row["one_class_svm_gap"] < 1e-3
    row = benchmark.compare("normal", 300, 3, linear=True, repeats=1)
    assert max(row["soft_ball_gap"], row["one_class_svm_gap"]) <= benchmark.TOLERANCE
    rows = benchmark.grow("normal", (100, 200), 3, repeats=1)
    assert [row["points"] for row in rows] == ["normal 100 x 3", "normal 200 x 3"]
    first, second = (row["soft_ball_s"] for row in rows)
    assert [row["ratio"] for row in rows] == [1.0, pytest.approx(second / first / 2.0)]
    shared = [benchmark.share("normal", 100, 3, linear, 1) for linear in (True, False)]
    assert [row["ratio"] for row in shared] == [
        row["two_workers_s"] / row["soft_ball_s"] for row in shared
    ]
    table = pd.DataFrame(rows + shared).assign(ratio=[1.0, 1.3, 1.1, 0.5])
    said = [line.split("  ")[0] for line in benchmark.verdicts(table)]
    assert said == ["met", "NOT MET", "NOT MET", "met", "met"]


# --- kernels and relatives -----------------------------------------------------------


@pytest.mark.parametrize("nu", [0.05, 0.1, 0.37])
@pytest.mark.parametrize("gamma", [0.02, 0.5, "scale"])
def test_the_rbf_ball_is_the_one_class_svm(nu, gamma):
    rng = np.random.default_rng(1)
    points, new = rng.standard_normal((300, 4)), 2.0 * rng.standard_normal((100, 4))
    machine = OneClassSVM(kernel="rbf", nu=nu, gamma=gamma, tol=1e-10).fit(points)
    ball = soft_ball(points, nu, kernel="rbf", gamma=gamma, tol=1e-12)
    # d^2 = const - 2 sum_i u_i k(x, a_i), and its weights are nu m u.
    for x in (points, new):
        ours = 0.5 * nu * 300 * (ball.rho - ball.squared_distances(x))
        np.testing.assert_allclose(ours, machine.decision_function(x), atol=1e-6)
    detector = SoftBallDetector(nu=nu, kernel="rbf", gamma=gamma).fit(points)
    agree = detector.predict(new) == machine.predict(new)
    assert agree.mean() >= 0.99


def test_the_linear_one_class_svm_is_another_problem():
    points = cloud(200, 3)
    machine = OneClassSVM(kernel="linear", nu=0.1, tol=1e-10).fit(points)
    ball = soft_ball(points, 0.1)
    agree = (points @ machine.coef_[0] >= machine.offset_[0]) == (
        ball.squared_distances(points) <= ball.rho
    )
    assert agree.mean() < 0.99


def test_a_kernel_may_come_as_a_name_a_function_or_a_matrix():
    points, new = cloud(150, 3), cloud(20, 3, seed=5)
    function = partial(rbf, gamma=0.1)
    by_name = soft_ball(points, 0.2, kernel="rbf", gamma=0.1)
    by_function = soft_ball(points, 0.2, kernel=function)
    by_matrix = soft_ball(function(points, points), 0.2, kernel="precomputed")
    for other in (by_function, by_matrix):
        assert other.rho == pytest.approx(by_name.rho, rel=1e-6)
    expected = by_name.squared_distances(new)
    np.testing.assert_allclose(by_function.squared_distances(new), expected, rtol=1e-6)
    np.testing.assert_allclose(
        by_matrix.squared_distances(function(new, points), np.ones(20)),
        expected,
        rtol=1e-6,
    )
    assert by_name.center is None
    linear = soft_ball(points, 0.2, kernel="linear")
    product = soft_ball(points, 0.2, kernel=lambda x, y: x @ y.T)
    assert product.rho == pytest.approx(linear.rho, rel=1e-6)
    np.testing.assert_allclose(
        product.squared_distances(new), linear.squared_distances(new), rtol=1e-6
    )


def test_shift_and_scale():
    points = cloud(100, 3)
    ball, moved = soft_ball(points, 0.1), soft_ball(1e3 * (points + 5.0), 0.1)
    np.testing.assert_allclose(moved.center, 1e3 * (ball.center + 5.0), rtol=1e-6)
    assert moved.rho == pytest.approx(1e6 * ball.rho, rel=1e-6)


def test_single_precision_read_only_and_fortran_order():
    points = cloud(200, 3).astype(np.float32)
    ball = soft_ball(points.astype(np.float64), 0.1)
    assert soft_ball(points, 0.1).rho == pytest.approx(ball.rho, rel=1e-6)
    frozen = np.asfortranarray(points.astype(np.float64))
    frozen.flags.writeable = False
    assert soft_ball(frozen, 0.1).rho == pytest.approx(ball.rho, rel=1e-12)
    assert soft_ball(points, 0.1, kernel="rbf").converged


def test_the_same_input_gives_the_same_output():
    points = cloud(2500, 3)
    for kernel in (None, "rbf"):
        one, two = (soft_ball(points, 0.1, kernel=kernel) for _ in range(2))
        np.testing.assert_array_equal(one.weights, two.weights)
        assert one.rho == two.rho


# --- the edges of float64 ------------------------------------------------------------


def exact_gap(points, ball):
    """(primal - dual) / dual and dual of a linear ball, in rational arithmetic.

    The primal is taken at the center and the radius that the result states.
    """
    rows = [[Fraction(x) for x in row] for row in points.tolist()]
    weights = [Fraction(w) for w in ball.weights.tolist()]
    total = sum(weights)
    held = [rows[i] for i in ball.support.tolist()]
    mean = [sum(w * x for w, x in zip(weights, c)) / total for c in zip(*held)]

    def squared(row, center):
        return sum((x - c) ** 2 for x, c in zip(row, center))

    dual = sum(w * squared(row, mean) for w, row in zip(weights, held)) / total
    center, rho = [Fraction(c) for c in ball.center.tolist()], Fraction(ball.rho)
    slack = sum(max(squared(row, center) - rho, 0) for row in rows)
    primal = rho + Fraction(min(ball.C, 1.0)) * slack
    return (float((primal - dual) / dual) if dual else float(primal)), dual


@settings(max_examples=80, deadline=None)
@given(
    m=st.integers(2, 25),
    n=st.integers(1, 4),
    nu=st.sampled_from([5e-324, 0.03, 0.2, 0.5, 1.0]),
    seed=st.integers(0, 1000),
    decimals=st.sampled_from([0, 3, 12]),
    noise=st.sampled_from([1.0, 1e-6, 1e-12]),
    exponent=st.integers(-450, 450),
    offset=st.sampled_from([0.0, 1e3, 2.0**20, 1e8, 1e12]),
    column=st.sampled_from([None, 7.0, 1e9, 2.0**60]),
)
def test_no_ball_is_called_optimal_that_is_not(
    m, n, nu, seed, decimals, noise, exponent, offset, column
):
    points = np.random.default_rng(seed).standard_normal((m, n)).round(decimals)
    points[m // 2 :] *= noise
    points = points + offset
    if column is not None:
        points = np.column_stack([points, np.full(m, column)])
    points = np.ldexp(points, exponent)
    try:
        ball = soft_ball(points, nu)
    except ValueError as error:
        assert "squared distances that float64 can hold" in str(error)
        assert np.ptp(points, axis=0).max() < 1e-139
        return
    gap, dual = exact_gap(points, ball)
    told = verify_soft(points, ball)
    assert gap <= 1.001 * told + 1e-13
    if ball.converged:
        assert gap <= 1e-8 * 1.001 and told <= 1e-8 * 1.001
    else:
        assert "least that rounding allows" in ball.message
    spread = np.ptp(points, axis=0).max()
    assert ball.converged or np.ldexp(offset, exponent) > 1e3 * spread
    # The values that the result states are those of its weights.
    largest = max(float(dual), ball.primal)
    assert abs(float(Fraction(ball.dual) - dual)) <= 1e-12 * largest


@settings(max_examples=60, deadline=None)
@given(
    m=st.integers(2, 30),
    n=st.integers(1, 4),
    nu=st.sampled_from([0.05, 0.3, 1.0]),
    seed=st.integers(0, 1000),
    apart=st.sampled_from([0.0, 1.0, 1e3, 1e6, 1e9]),
    offset=st.sampled_from([0.0, 1e3, 1e7]),
    gamma=st.sampled_from(["scale", 1e-3, 1.0, 1e6, 1e300]),
)
def test_the_rbf_dual_is_that_of_its_weights(m, n, nu, seed, apart, offset, gamma):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((m, n)) + offset + apart * rng.integers(0, 2, (m, 1))
    ball = soft_ball(points, nu, kernel="rbf", gamma=gamma)
    g = 1.0 / (n * points.var()) if gamma == "scale" else gamma
    held, u = points[ball.support], ball.weights
    with np.errstate(over="ignore"):
        kernel = np.exp(-g * cdist(points, held, "sqeuclidean"))
    dual = 1.0 - u @ kernel[ball.support] @ u
    distances = 1.0 - 2.0 * kernel @ u + (1.0 - dual)
    primal = ball.rho + ball.C * np.maximum(distances - ball.rho, 0.0).sum()
    assert abs(ball.dual - dual) <= 1e-13
    assert abs(ball.primal - primal) <= 1e-13
    assert ball.converged == (ball.relative_gap <= 1e-8 and 1e8 * ball.rounding <= dual)
    np.testing.assert_array_equal(
        np.diagonal(ball.kernel(points, points)) > 1 - 1e-13, 1
    )


def test_the_rbf_kernel_is_right_far_from_the_origin_and_at_any_gamma():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((40, 3))
    ball = soft_ball(points, 0.1, kernel="rbf", gamma=1.0)
    for far in (1e7, 1e9, 1e160):
        assert (np.diagonal(ball.kernel(points + far, points + far)) == 1.0).all()
    two = np.vstack([rng.standard_normal((20, 2)) + s for s in (1e6, -1e6)])
    apart = soft_ball(two, 0.2, kernel="rbf", gamma=1.0)
    u = np.zeros(40)
    u[apart.support] = apart.weights
    gram = np.exp(-cdist(two, two, "sqeuclidean"))
    assert apart.converged and apart.dual == pytest.approx(1 - u @ gram @ u, abs=1e-15)
    # Every point is alone: equal weights, |c|^2 = 1 / m.
    alone = soft_ball(points, 0.1, kernel="rbf", gamma=1e300)
    assert alone.converged and alone.dual == pytest.approx(1 - 1 / 40, abs=1e-9)
    together = soft_ball(points, 0.1, kernel="rbf", gamma=5e-324)
    assert not together.converged and "rounding allows: it may be" in together.message


@pytest.mark.parametrize("exponent", [-1000, -560, 530, 1015])
def test_the_rbf_ball_of_scaled_points_is_the_same(exponent):
    points = cloud(60, 3)
    once = soft_ball(points, 0.1, kernel="rbf")
    scaled = soft_ball(np.ldexp(points, exponent), 0.1, kernel="rbf")
    np.testing.assert_array_equal(scaled.weights, once.weights)
    assert scaled.rho == once.rho and scaled.converged


@pytest.mark.parametrize("factor", [1e80, 1e-90, 1e135, 1e-135])
@pytest.mark.parametrize("method", ["pairwise", "frank_wolfe"])
def test_the_linear_ball_of_scaled_points_is_as_good(factor, method):
    points = np.random.default_rng(0).standard_normal((60, 3))
    tol, rounds = (1e-8, 1000) if method == "pairwise" else (1e-3, 20_000)
    options = {"tol": tol, "method": method, "max_iter": rounds}
    once = soft_ball(points, 0.1, **options)
    scaled = soft_ball(factor * points, 0.1, **options)
    assert scaled.converged
    assert scaled.rho / factor**2 == pytest.approx(once.rho, rel=20 * tol)
    assert exact_gap(factor * points, scaled)[0] <= 1.001 * tol


@pytest.mark.parametrize("factor", [2.0**-840, 2.0**840])
def test_a_kernel_matrix_may_be_of_any_size(factor):
    gram = cubic(cloud(40, 2), cloud(40, 2))
    once = soft_ball(gram, 0.2, kernel="precomputed")
    scaled = soft_ball(factor * gram, 0.2, kernel="precomputed")
    np.testing.assert_array_equal(scaled.weights, once.weights)
    assert scaled.rho == factor * once.rho and scaled.converged == once.converged


def test_the_smallest_nu_is_the_hard_ball():
    points = cloud(40, 3)
    hard = minimum_enclosing_ball(points)
    ball = soft_ball(points, 5e-324)
    assert ball.radius == pytest.approx(hard.radius, rel=1e-12)
    assert ball.converged and ball.nu == 5e-324 and np.isfinite(ball.C)
    assert np.isfinite(ball.primal) and verify_soft(points, ball) <= 1e-12
    assert soft_ball(points, 5e-324, kernel="rbf").outside.size == 0
    plain = plain_soft_ball(points, 5e-324)
    assert plain.radius == pytest.approx(hard.radius, rel=1e-7)


def test_a_kernel_of_zeros_is_positive_semidefinite():
    def nothing(x, y):
        return np.zeros((len(x), len(y)))

    for ball in (
        soft_ball(np.zeros((5, 5)), 0.3, kernel="precomputed"),
        soft_ball(cloud(30, 2), 0.3, kernel=nothing),
    ):
        assert ball.converged and ball.rho == ball.dual == ball.primal == 0.0


def test_a_kernel_that_loses_its_digits_is_not_called_optimal():
    points = cloud(40, 3) + 1e8
    ball = soft_ball(points, 0.1, kernel=lambda x, y: x @ y.T)
    assert not ball.converged and "rounding allows: it may be" in ball.message
    assert ball.rounding > ball.dual
    assert soft_ball(points, 0.1).converged


@pytest.mark.parametrize("factor", [1e155, 1e-170, 1e300, 1e-300])
def test_plain_slack_at_any_scale(factor):
    points = np.random.default_rng(0).standard_normal((60, 3))
    once, scaled = plain_soft_ball(points, 0.1), plain_soft_ball(factor * points, 0.1)
    assert scaled.radius / factor == pytest.approx(once.radius, rel=1e-7)
    np.testing.assert_allclose(scaled.center / factor, once.center, atol=1e-7)
    assert once.converged and scaled.converged


def test_plain_slack_of_equal_points_and_of_points_too_far_apart():
    ball = plain_soft_ball(np.full((6, 2), 0.1), 0.4)
    assert ball.radius == ball.primal == 0.0 and ball.converged
    with pytest.raises(ValueError, match="differences that float64 can hold"):
        plain_soft_ball([[-1.5e308], [-1e308], [1.5e308]], 0.4)


SPOILED = {
    "center": lambda ball: ball.center + 0.1 * ball.radius,
    "rho": lambda ball: 2.0 * ball.rho,
    "rho_interval": lambda ball: (0.5 * ball.rho, ball.rho),
    "support": lambda ball: ball.support[::-1],
    "weights": lambda ball: np.roll(ball.weights, 1),
    "outside": lambda ball: ball.outside[1:],
    "C": lambda ball: 2.0 * ball.C,
    "nu": lambda ball: 2.0 * ball.nu,
    "primal": lambda ball: 2.0 * ball.primal,
    "dual": lambda ball: 0.5 * ball.dual,
    "support_points": lambda ball: ball.support_points + 1.0,
}


@pytest.mark.parametrize("field", SPOILED)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_field_that_is_wrong_is_seen(field, offset):
    points = cloud(100, 3) + offset
    ball = soft_ball(points, 0.115)
    assert ball.outside.size > 2 and ball.free.size > 1
    assert verify_soft(points, ball) <= 1e-8
    spoiled = [SPOILED[field](ball)]
    if field != "support" and field not in ("outside", "support_points"):
        spoiled.append(np.nan * np.asarray(getattr(ball, field)))
    for value in spoiled:
        assert verify_soft(points, replace(ball, **{field: value})) > 1e-4


def test_a_ball_of_something_else_is_not_verified():
    points = cloud(30, 2)
    with pytest.raises(ValueError, match="ball must be of the linear kernel"):
        verify_soft(points, soft_ball(points, kernel="rbf"))
    with pytest.raises(ValueError, match="points must have 2 features"):
        verify_soft(cloud(30, 3), soft_ball(points))
    assert verify_soft(points[:5], soft_ball(points, 0.1)) == np.inf
    equal = np.ones((4, 2))
    assert verify_soft(equal, soft_ball(equal)) == 0.0


# --- outliers ------------------------------------------------------------------------


def pull(solver):
    """Shift of the center for one unit of a far outlier's shift."""
    points = np.random.default_rng(3).standard_normal((19, 2))
    near, far = (solver(np.vstack([points, [[t, 0.0]]])).center for t in (1e3, 2e3))
    return np.linalg.norm(far - near) / 1e3


def test_an_outlier_pulls_less_but_without_bound():
    assert pull(minimum_enclosing_ball) == pytest.approx(0.5, abs=0.01)
    assert pull(partial(soft_ball, nu=0.2)) == pytest.approx(0.25, abs=0.01)
    assert pull(partial(soft_ball, nu=0.5)) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("m", [1, 2, 3, 7])
@pytest.mark.parametrize("C", [0.15, 0.2, 0.25, 0.3, 1 / 3, 0.5, 0.7, 1.0, 1.5])
def test_the_best_radii_about_a_center_are_the_lowest_of_their_primal(m, C):
    if C * m < 1.0:  # no ball at all costs less
        return
    distances = np.random.default_rng(m).uniform(size=m)
    ends = np.append(0.0, np.sort(distances))
    primal = [r + C * np.maximum(distances - r, 0.0).sum() for r in ends]
    best = ends[np.isclose(primal, min(primal), rtol=1e-12)]
    found = least_radii(distances, min(C, 1.0), C > 1.0)
    np.testing.assert_array_equal(found, (best.min(), best.max()))


def test_plain_slack_bounds_the_pull():
    assert pull(partial(plain_soft_ball, nu=0.2)) < 1e-5


@pytest.mark.parametrize(
    ("m", "n", "nu"), [(30, 1, 0.2), (60, 2, 0.1), (80, 5, 0.23), (40, 3, 0.01)]
)
def test_plain_slack_is_optimal(m, n, nu):
    points = cloud(m, n)
    ball = plain_soft_ball(points, nu)
    center, radius = cvxpy.Variable((1, n)), cvxpy.Variable(nonneg=True)
    apart = cvxpy.norm(points - np.ones((m, 1)) @ center, axis=1)
    cost = radius + ball.C * cvxpy.sum(cvxpy.pos(apart - radius))
    best = cvxpy.Problem(cvxpy.Minimize(cost)).solve(solver=cvxpy.CLARABEL)
    assert ball.primal == pytest.approx(best, rel=1e-6)
    assert 0 <= ball.primal - ball.dual <= 1e-7 * ball.primal
    assert ball.outside.size <= nu * m
    distances = np.linalg.norm(points - ball.center, axis=1)
    # The largest of the best radii leaves fewer than nu m points outside.
    best_radius = np.sort(distances)[-math.ceil(nu * m)]
    assert ball.radius == pytest.approx(best_radius, rel=1e-12)
    assert ball.nu == pytest.approx(nu, rel=1e-15)
    slack = np.maximum(distances - ball.radius, 0.0)
    assert ball.radius + ball.C * slack.sum() == pytest.approx(ball.primal, rel=1e-12)


@pytest.mark.parametrize("smoothing", [0.3, 0.01])
def test_smoothed_plain_slack_is_its_formula_with_its_derivatives(smoothing):
    rng = np.random.default_rng(0)
    points, C = rng.normal(size=(7, 2)), 0.3
    state = np.array([0.4, -0.2, 0.9])

    def value(state):
        from_center = np.linalg.norm(points - state[:2], axis=1)
        excess = np.hypot(from_center, smoothing) - state[2]
        return state[2] + C * sum(
            0.5 * (e + np.hypot(e, 2.0 * smoothing)) for e in excess
        )

    def differences(function, h=1e-5):
        sides = [(state + h * e, state - h * e) for e in np.eye(3)]
        return np.array([(function(a) - function(b)) / (2.0 * h) for a, b in sides])

    found, slope, curvature, forces = _smoothed(points, state, C, smoothing)
    assert found == pytest.approx(value(state), rel=1e-14)
    np.testing.assert_allclose(slope, differences(value), rtol=1e-6)
    np.testing.assert_allclose(
        curvature,
        differences(lambda state: _smoothed(points, state, C, smoothing)[1]),
        rtol=1e-5,
        atol=1e-7,
    )
    np.testing.assert_allclose(-forces.sum(axis=0), slope[:2], rtol=1e-13)
    assert np.linalg.norm(forces, axis=1).max() < C
    start = np.array([5.0, 5.0, 1.0])
    end, pulls = _newton(points, start, C, smoothing)
    _, flat, _, forces = _smoothed(points, end, C, smoothing)
    assert np.abs(flat).max() < 1e-12
    np.testing.assert_array_equal(pulls, forces)


def test_a_plain_ball_says_how_far_it_is_from_the_optimum():
    def plain(primal, dual):
        return PlainSoftBall(np.zeros(1), 1.0, np.arange(0), 0.5, 0.5, primal, dual)

    assert plain(2.0, 1.5).relative_gap == 0.25 and not plain(2.0, 1.5).converged
    assert plain(2.0, 1.5).message == "(primal - dual) / primal = 2.5e-01"
    assert plain(0.0, 0.0).relative_gap == plain(1.0, 1.1).relative_gap == 0.0
    assert plain(2.0, 2.0 - 1.9e-6).converged
    assert not plain(2.0, 2.0 - 2.1e-6).converged


def test_plain_slack_needs_nu_below_one():
    with pytest.raises(ValueError, match="nu must be less than 1 for plain slack"):
        plain_soft_ball(cloud(10, 2), 1.0)
    with pytest.raises(ValueError, match=r"nu must be in \(0, 1\], found 2.0"):
        plain_soft_ball(cloud(10, 2), 2.0)
    assert plain_soft_ball(np.ones((5, 2)), 0.4).radius == pytest.approx(0.0, abs=1e-6)


# --- the pieces of the solver --------------------------------------------------------


@pytest.mark.parametrize("cap", [1.0, 0.7, 0.5, 0.4, 1 / 3, 0.3, 0.2, 1 / 7])
def test_the_best_vertex_fills_the_farthest_first(cap):
    distances = np.random.default_rng(0).uniform(size=7)
    expected, left = np.zeros(7), 1.0
    for row in np.argsort(-distances):
        expected[row] = min(cap, left)
        left -= expected[row]
    found = soft._vertex(distances, cap)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    weights = np.random.default_rng(1).dirichlet(np.ones(7))
    gap, dual = soft._values(distances, weights, cap)
    assert dual == pytest.approx(weights @ distances, rel=1e-15)
    assert gap == pytest.approx((expected - weights) @ distances, rel=1e-10)


def test_the_working_set_holds_rows_of_violating_pairs_the_worst_first():
    distances = np.array([1.0, 5.0, 3.0, 4.0, 2.0, 0.5])
    weights = np.array([0.2, 0.5, 0.3, 0.0, 0.0, 0.0])  # row 1 has no room
    rows, violation = soft._working_set(distances, weights, 0.5, 10)
    # Rows 2, 3 and 4 are farther than row 0; rows 0 and 2 are nearer than row 3.
    assert rows.tolist() == [0, 2, 3, 4] and violation == 3.0
    assert soft._working_set(distances, weights, 0.5, 2)[0].tolist() == [0, 3]
    assert soft._working_set(distances, weights, 0.5, 4)[0].tolist() == [0, 2, 3]
    full = soft._working_set(distances, np.full(6, 0.5), 0.5, 4)
    assert full[0].size == 0 and full[1] == -np.inf


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("cap", [0.25, 0.4, 1.0])
def test_one_step_of_the_climb_is_the_pair_of_the_largest_gain(seed, cap):
    points = cloud(6, 3, seed=seed)
    weights = np.array([0.25, 0.2, 0.25, 0.1, 0.2, 0.0])
    distances = ((points - weights @ points) ** 2).sum(axis=1)
    room, held = np.flatnonzero(weights < cap), np.flatnonzero(weights > 0.0)
    towards = room[distances[room].argmax()]
    slopes = distances[towards] - distances[held]
    between = ((points[towards] - points[held]) ** 2).sum(axis=1)
    gains = np.where(slopes > 0.0, slopes**2 / np.where(between > 0, between, 1.0), 0.0)
    best = gains.argmax()
    away, step = held[best], slopes[best] / (2.0 * between[best])
    step = min(step, weights[away], cap - weights[towards])
    expected = weights.copy()
    expected[[towards, away]] += [step, -step]
    found, seen = weights.copy(), distances.copy()
    gram = points @ points.T
    assert soft._climb(gram, seen, found, cap, 1e-12, 1) == 1
    np.testing.assert_allclose(found, expected, atol=1e-15)
    after = ((points - expected @ points) ** 2).sum(axis=1)
    np.testing.assert_allclose(seen - seen[0], after - after[0], atol=1e-12)
    # To the end: no pair violates by more than the aim, and the weights stay lawful.
    taken = soft._climb(gram, seen, found, cap, 1e-9, 10_000)
    assert 0 < taken < 10_000
    after = ((points - found @ points) ** 2).sum(axis=1)
    assert after[found < cap].max() - after[found > 0.0].min() <= 1.1e-9
    assert found.min() >= 0.0 and found.max() <= cap
    assert found.sum() == pytest.approx(1.0, rel=1e-14)
    assert soft._climb(gram, seen, found, cap, 1e-9, 5) == 0


def test_a_gram_matrix_of_no_points_is_noticed():
    gram = np.array([[1.0, 2.0], [2.0, 1.0]])
    found = soft._climb(gram, np.array([1.0, 0.0]), np.full(2, 0.5), 1.0, 1e-9, 9)
    assert found == -1


@pytest.mark.parametrize("root", [0.05, 1.0, 30.0])
def test_the_rbf_kernel_is_its_formula_near_and_far(root):
    x, y = cloud(9, 3), cloud(5, 3, seed=1)
    kernel = soft._Rbf(root, x.mean(axis=0))
    apart = ((x[:, None] - y[None]) ** 2).sum(axis=2)
    expected = np.exp(-(root**2) * apart)
    np.testing.assert_allclose(kernel(x, y), expected, rtol=1e-9, atol=1e-300)
    weights = np.arange(5.0)
    sums = soft._weighted(kernel, x, y, weights)
    np.testing.assert_allclose(sums, expected @ weights, rtol=1e-9, atol=1e-300)
    np.testing.assert_array_equal(soft._diagonal(kernel, x), 1.0)


def spaces():
    """Each kind of space over the same points, with the kernel matrix if it has one."""
    points = cloud(30, 3)
    cube = (points @ points.T + 1.0) ** 3

    def cubic(x, y):
        return (x @ y.T + 1.0) ** 3

    return {
        "linear": (soft._Linear.of(points), points @ points.T),
        "far": (soft._Linear.of(points + 1e6), points @ points.T),
        "kernel": (soft._space(points, cubic, None), cube),
        "precomputed": (soft._space(cube, "precomputed", None), cube),
    }


@pytest.mark.parametrize("name", ["linear", "far", "kernel", "precomputed"])
def test_a_space_sees_the_distances_of_its_inner_products(name):
    space, inner = spaces()[name]
    rng = np.random.default_rng(0)
    weights, rows = np.zeros(30), np.array([2, 7, 11, 20])
    weights[rows] = rng.dirichlet(np.ones(4))

    def from_mean(u):
        return np.diagonal(inner) - 2.0 * inner @ u + u @ inner @ u

    close = {"rtol": 1e-7 if name == "far" else 1e-11, "atol": 1e-8}
    view = space.view(weights)
    np.testing.assert_allclose(view.distances, from_mean(weights), **close)
    change = np.array([0.1, -0.2, 0.05, 0.05]) * weights[rows].min()
    new = weights.copy()
    new[rows] += change
    moved = space.moved(view, rows, change)
    np.testing.assert_allclose(moved.distances, from_mean(new), **close)
    np.testing.assert_allclose(moved.distances, space.view(new).distances, **close)
    assert moved.norm2 == pytest.approx(space.view(new).norm2, rel=1e-11)
    gram = space.gram(rows, view)
    apart = np.add.outer(np.diagonal(gram), np.diagonal(gram)) - 2.0 * gram
    part = inner[np.ix_(rows, rows)]
    expected = np.add.outer(np.diagonal(part), np.diagonal(part)) - 2.0 * part
    np.testing.assert_allclose(apart, expected, **close)
    inside = space.subset(rows).view(np.full(4, 0.25)).distances
    center = np.zeros(30)
    center[rows] = 0.25
    np.testing.assert_allclose(inside, from_mean(center)[rows], **close)


def test_a_sample_is_of_different_rows_in_order_and_the_same_each_time():
    assert soft._sample(5, 5).tolist() == soft._sample(5, 9).tolist() == [0, 1, 2, 3, 4]
    rows = soft._sample(100, 30)
    assert rows.size == 30 and (np.diff(rows) > 0).all() and rows[-1] < 100
    assert rows.tolist() == soft._sample(100, 30).tolist()


def test_a_gap_is_relative_and_infinite_above_nothing():
    assert soft._relative(0.5, 2.0) == 0.25 and soft._relative(1.0, 0.0) == math.inf
    assert soft._relative(0.0, 0.0) == soft._relative(-1.0, 2.0) == 0.0


@pytest.mark.parametrize("cap", [0.2, 0.55, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_frank_wolfe_step_goes_where_the_dual_is_largest(cap, seed):
    points = cloud(7, 2, seed)
    space = soft._Linear.of(points)

    def dual(weights):
        return weights @ ((points - weights @ points) ** 2).sum(axis=1)

    start = np.zeros(7)
    start[: math.ceil(1 / cap)] = 1 / math.ceil(1 / cap)
    towards = soft._vertex(space.view(start).distances, cap)
    way = [start + step * (towards - start) for step in np.linspace(0.0, 1.0, 1001)]
    found = soft._frank_wolfe(space, start, cap, 0.0, 1)[0]
    assert dual(found) >= max(map(dual, way))
    assert np.abs(np.array(way) - found).max(axis=1).min() < 1e-3


def test_a_frank_wolfe_step_may_go_all_the_way():
    # All weight on the nearest of three in a row: half way would be too far for none.
    space = soft._Linear.of(np.array([[0.0], [1.0], [9.0], [10.0]]))
    start = np.array([0.5, 0.5, 0.0, 0.0])
    found, steps, _ = soft._frank_wolfe(space, start, 0.5, 0.0, 1)
    distances = np.array([0.25, 0.25, 72.25, 90.25])
    vertex = np.array([0.0, 0.0, 0.5, 0.5])
    gap, apart = (vertex - start) @ distances, 81.0
    step = gap / (2 * apart)
    np.testing.assert_allclose(found, (1 - step) * start + step * vertex, rtol=1e-14)
    near = soft._Linear.of(np.array([[0.0], [0.1], [-1.0], [1.0]]))
    assert soft._frank_wolfe(near, start, 0.5, 0.0, 1)[0].tolist() == [0, 0, 0.5, 0.5]


def test_prices_and_shares_at_their_borders():
    price = soft.price_of_slack
    assert price(None, 0.5, 10) == (2.0, 0.5) and price(None, 4.0, 10) == (0.25, 4.0)
    assert price(1.0, None, 4) == (4.0, 0.25) and price(0.25, None, 8) == (2.0, 0.5)
    assert price(None, None, 40) == (2.0, 0.5)
    assert price(None, 6e-309, 10)[1] == 6e-309
    assert soft._check_limits(0.0, 1) == (0.0, 1) == soft._check_limits(0, np.int8(1))
    assert soft._check_limits(0.5, 2) == (0.5, 2)
    for gamma in (0.5, np.float32(2.0)):
        assert soft_ball(cloud(9, 2), kernel="rbf", gamma=gamma).converged


@pytest.mark.parametrize("largest", [5.0, 1.0, 0.75, 2.0**-300])
def test_the_unit_is_a_power_of_two_near_one_over_the_largest(largest):
    unit = soft._unit(np.array([0.1 * largest, -largest]), np.array([0.3 * largest]))
    assert 0.5 <= unit * largest < 1.0 and math.frexp(unit)[0] == 0.5
    assert soft._unit(np.array([2.0**1020])) == 2.0**-1000
    assert soft._unit(np.array([2.0**-1020])) == 2.0**1000


@pytest.mark.parametrize("block", [1, 3, 2**16])
def test_a_kernel_matrix_is_looked_at_whole(block, monkeypatch):
    monkeypatch.setattr(soft, "BLOCK", block)
    gram = 4.0 * np.eye(40) + 1.0
    assert soft._check_kernel_matrix(gram) is gram
    for row, column in ((0, 39), (39, 0), (17, 16), (38, 39)):
        skew = gram.copy()
        skew[row, column] += 0.9e-8 * 5.0
        soft._check_kernel_matrix(skew)
        skew[row, column] += 0.2e-8 * 5.0
        with pytest.raises(ValueError, match="symmetric kernel matrix"):
            soft._check_kernel_matrix(skew)


@pytest.mark.parametrize("size", [1.0, 2.0**-600, 2.0**600])
def test_an_eigenvalue_is_negative_beyond_rounding(size):
    soft._refuse_indefinite(size * np.array([[2.0, 2.0 + 1e-8], [2.0 + 1e-8, 2.0]]))
    for beyond in (3e-8, 0.5, 1.5):
        with pytest.raises(ValueError, match="positive semidefinite"):
            soft._refuse_indefinite(
                size * np.array([[2.0, 2.0 + beyond], [2.0 + beyond, 2.0]])
            )


@pytest.mark.parametrize("root", [0.1, 3.0])
def test_blocks_of_a_kernel_are_the_kernel(root, monkeypatch):
    x, y = cloud(9, 3), cloud(5, 3, seed=1)
    kernel = soft._Rbf(root, x.mean(axis=0))
    whole, weights = kernel(x, y), np.arange(5.0)
    for block in (1, 12, 10_000):
        monkeypatch.setattr(soft, "BLOCK", block)
        np.testing.assert_allclose(kernel(x, y), whole, rtol=1e-13)
        sums = soft._weighted(kernel, x, y, weights)
        np.testing.assert_allclose(sums, whole @ weights, rtol=1e-12)
    own = soft._diagonal(cubic, x, width=4)
    np.testing.assert_allclose(own, np.diagonal(cubic(x, x)), rtol=1e-14)


def test_only_points_far_from_the_origin_for_their_extent_are_moved():
    points = np.array([[1.0], [5.0], [3.0]])  # extent 4, seen from the first
    for shift, moved in ((0.0, False), (4000.0, False), (4200.0, True)):
        space = soft._Linear.of(points + shift)
        assert np.array_equal(space.origin, [1.0 + shift]) == moved
        expected = points - 1.0 if moved else points + shift
        np.testing.assert_array_equal(space.points, expected)
    assert space.kept(np.array([1])).tolist() == [[4205.0]]
    assert soft_ball(points, 0.5).norm2 == 0.0


def test_a_far_ball_is_that_of_the_center_it_states():
    points = np.random.default_rng(0).standard_normal((30, 2)) + 2.0**40
    ball = soft_ball(points, 0.2)
    gap, dual = exact_gap(points, ball)
    primal = float(dual * (1 + Fraction(gap)))
    # The stated center is rounded by more than the solver's would cost.
    assert ball.primal == pytest.approx(primal, rel=1e-13)
    assert ball.primal > float(dual) * (1 + 1e-12)


def test_rounding_is_that_of_the_center_and_of_the_reach():
    space = soft._Linear.of(np.array([[2.0], [4.0]]))
    view = space.view(np.full(2, 0.5))
    assert space.rounding(view) == 8.0 * soft.EPS * 1.0 * (3.0 + 1.0)
    points = cloud(9, 2)
    assert soft_ball(points, 0.5, kernel="rbf").rounding == 32.0 * soft.EPS
    assert soft_ball(np.ones((4, 2)), 0.5, kernel="rbf").rounding == 0.0


def test_squares_at_the_edges_of_float64():
    for square, good in ((2e-280, True), (0.5e-280, False), (0.5e280, True)):
        points = np.array([[0.0], [2.0 * math.sqrt(square)]])
        if good:
            assert soft_ball(points).rho == pytest.approx(square, rel=1e-14)
        else:
            with pytest.raises(ValueError, match="squared distances that float64"):
                soft_ball(points)
    with pytest.raises(ValueError, match="squared distances that float64"):
        soft_ball([[0.0], [2e140], [2e140]], 0.9)


def test_a_matrix_whose_first_row_is_constant_is_of_different_points():
    points = np.vstack([[[0.0, 0.0]], cloud(12, 2)])
    by_matrix = soft_ball(points @ points.T, 0.3, kernel="precomputed")
    expected = soft_ball(points, 0.3)
    assert by_matrix.rho == pytest.approx(expected.rho, rel=1e-6)
    assert by_matrix.dual == pytest.approx(expected.dual, rel=1e-8)


def test_a_working_set_of_all_points_is_no_sample(monkeypatch):
    points = cloud(8, 2)
    expected = soft_ball(points, 0.3)
    monkeypatch.setattr(soft._Linear, "working", 8)
    assert soft_ball(points, 0.3).rho == pytest.approx(expected.rho, rel=1e-7)


@pytest.fixture
def asked(monkeypatch):
    """The sizes asked for, of working sets that six rows of 64 always fill."""
    sizes = []

    def working_set(distances, weights, cap, most):
        sizes.append(most)
        takers = np.flatnonzero(weights < cap)
        givers = np.flatnonzero(weights > 0.0)
        apart = distances[takers].max() - distances[givers].min()
        return np.sort([takers[0], givers[-1], *range(60, 64)]), apart

    monkeypatch.setattr(soft, "_working_set", working_set)
    return sizes


def test_a_working_set_that_stays_crowded_is_doubled(asked, monkeypatch):
    monkeypatch.setattr(soft, "PATIENCE", 3)
    monkeypatch.setattr(soft, "LARGEST", 11)
    monkeypatch.setattr(soft._Linear, "working", 4)
    points = cloud(64, 2)
    weights = np.full(64, 1.0 / 64)
    soft._pairwise(soft._Linear.of(points), weights, 0.2, 0.0, 14)
    # Six rows crowd 4 and 8, whose halves are fewer, and not 11 or 12 any more.
    assert asked[:7] == [4, 4, 4, 8, 8, 8, 11]
    assert set(asked[7:]) == {11}


def test_a_hard_ball_has_one_best_radius():
    points = cloud(12, 2)
    for C in (1.5, 3.0):
        for kernel in (None, "rbf"):
            ball = soft_ball(points, C=C, kernel=kernel)
            assert ball.rho_interval == (ball.rho, ball.rho)
    assert soft._relative(0.5, 0.5) == 1.0


LAWLESS = {
    "a negative row": {"support": lambda rows, m: [-1, *rows[1:]]},
    "a row beyond the last": {"support": lambda rows, m: [*rows[:-1], m]},
    "a row twice": {"support": lambda rows, m: [rows[0], *rows[:-1]]},
    "rows that are no numbers of rows": {"support": lambda rows, m: rows + 0.0},
    "no row": {"support": lambda rows, m: [], "weights": lambda weights: []},
    "fewer weights": {"weights": lambda weights: weights[:-1]},
    "a negative weight": {"weights": lambda weights: [-1e-3, *weights[1:]]},
    "a weight above the price": {
        "weights": lambda w: [w[0] + w[1] * 0.5, w[1] * 0.5, *w[2:]]
    },
    "weights of a smaller sum": {"weights": lambda w: w * (1 - 2e-9)},
}


@pytest.mark.parametrize("what", LAWLESS)
def test_weights_that_no_soft_ball_has_are_seen(what):
    points = cloud(100, 3)
    ball = soft_ball(points, 0.115)
    assert ball.weights[0] == ball.C == ball.weights[1]
    spoil = LAWLESS[what]
    support, weights = ball.support, ball.weights
    if "support" in spoil:
        support = np.array(spoil["support"](support, 100))
    if "weights" in spoil:
        weights = np.array(spoil["weights"](weights))
    assert not soft._lawful(weights, support, ball, 100)
    assert soft._lawful(ball.weights, ball.support, ball, 100)


def test_lawful_weights_of_each_price():
    points = cloud(10, 2)
    for C in (0.05, 0.1, 0.37, 1.0, 1.5, 40.0):
        ball = soft_ball(points, C=C)
        assert verify_soft(points, ball) <= 1e-8
        # The price and nu say the same.
        for nu in (0.5 * ball.nu, 2.0 * ball.nu):
            wrong = replace(ball, nu=nu)
            lawful = C >= 1.0 and nu * 10 <= 1.0
            assert soft._lawful(ball.weights, ball.support, wrong, 10) == lawful


def test_verification_states_no_less_than_its_own_rounding():
    points = np.array([[-1.0], [1.0]])
    assert verify_soft(points, soft_ball(points, 0.5)) == 16.0 * soft.EPS


def test_frank_wolfe_keeps_the_distances_of_its_weights():
    space, cap = soft._Linear.of(cloud(20, 3)), 0.2
    start = soft._vertex(space.view(np.full(20, 0.05)).distances, cap)
    for count in (1, 2, 5):
        weights, steps, gaps = soft._frank_wolfe(space, start, cap, 0.0, count)
        gap, dual = soft._values(space.view(weights).distances, weights, cap)
        assert steps == len(gaps) - 1 == count
        assert gaps[-1] == pytest.approx(gap / dual, rel=1e-10)


def test_a_matrix_of_kernel_values_needs_a_column_for_each_support_point():
    points = cloud(20, 2)
    ball = soft_ball(rbf(points, points), 0.3, kernel="precomputed")
    last = int(ball.support[-1])
    assert ball.support[-2] < last and ball.support[0] < last
    new = rbf(cloud(2, 2, seed=5), points)
    assert ball.squared_distances(new[:, : last + 1], np.ones(2)).shape == (2,)
    with pytest.raises(ValueError, match=f"training point, found {last} columns"):
        ball.squared_distances(new[:, :last], np.ones(2))
    # What rounding leaves below 0 is no squared distance.
    shifted = replace(ball, norm2=ball.norm2 - 10.0)
    assert shifted.squared_distances(new, np.ones(2)).tolist() == [0.0, 0.0]


def test_the_scale_of_equal_points_is_one():
    ball = soft_ball(np.ones((3, 2)), 0.5, kernel="rbf")
    found = ball.squared_distances([[1.0, 2.0]])
    assert found[0] == pytest.approx(2.0 - 2.0 * math.exp(-1.0), rel=1e-14)
    points = cloud(30, 3)
    root = soft_ball(points, 0.5, kernel="rbf").kernel.root
    assert root == pytest.approx((3.0 * points.var()) ** -0.5, rel=1e-14)


def test_zeros_on_the_diagonal_beside_others_are_no_kernel():
    with pytest.raises(ValueError, match="positive semidefinite"):
        soft._refuse_indefinite(np.array([[0.0, 1.0], [1.0, 0.0]]))
    soft._refuse_indefinite(np.zeros((2, 2)))


def test_products_are_taken_while_no_exponent_can_be_large(monkeypatch):
    far = []
    monkeypatch.setattr(soft, "_fill_exponents", lambda *arguments: far.append(1))
    kernel = soft._Rbf(1.0, np.zeros(1))
    for a, b, products in ((4.0, 4.0, 1), (4.0, 4.01, 0), (4.0, 5.0, 0), (1.0, 5.5, 1)):
        far.clear()
        kernel(np.array([[a]]), np.array([[-b]]))
        assert len(far) == 1 - products


def test_an_rbf_value_is_at_most_one():
    x = np.repeat(np.random.default_rng(2).normal(size=(40, 3)), 2, axis=0)
    values = soft._Rbf(0.7, x.mean(axis=0))(x, x)
    assert values.max() == 1.0


def test_so_many_columns_are_computed_at_a_time(monkeypatch):
    asked = []

    def counted(x, y):
        asked.append(len(x))
        return rbf(x, y)

    for m, block, size, at_once in (
        *((200, 2**16, 2**20, 64), (200, 25, 2**20, 8), (201, 25, 2**20, 7)),
        *((200, 1, 2**20, 1), (200, 2**16, 5 * 8 * 200, 5), (200, 2**16, 1, 1)),
    ):
        points = cloud(m, 2)
        space = soft._Kernel(points, counted)
        monkeypatch.setattr(soft, "BLOCK", block)
        monkeypatch.setattr(soft, "CACHE_BYTES", size)
        asked.clear()
        column = space._column(3, np.arange(m))
        assert asked == [at_once] and list(space.columns)[-1] == 3
        np.testing.assert_allclose(column, rbf(points, points)[3])
        assert len(space.columns) == at_once


@pytest.mark.parametrize("size", [3 * 400, 4 * 400 - 1])
def test_columns_beyond_the_bound_go(size, monkeypatch):
    monkeypatch.setattr(soft, "CACHE_BYTES", size)
    space = soft._Kernel(cloud(50, 2), rbf)
    for row in range(6):
        space._column(row, np.array([row]))
    assert list(space.columns) == [3, 4, 5]


def test_squares_at_the_very_edges_are_taken_and_kernels_are_not(monkeypatch):
    space = soft._Linear.of(np.array([[0.0], [4.0]]))
    kernel = soft._Kernel(np.array([[2.0], [1.0]]), lambda x, y: x @ y.T)
    assert kernel.size == 4.0 and space.view(np.full(2, 0.5)).farthest == 4.0
    monkeypatch.setattr(soft, "TINY", 4.0)
    assert space.view(np.full(2, 0.5)).farthest == 4.0
    with pytest.raises(ValueError, match="k.x, x. of 4.0e"):
        soft._Kernel(kernel.points, kernel.kernel)
    monkeypatch.setattr(soft, "TINY", 3.0)
    monkeypatch.setattr(soft, "HUGE", 4.0)
    with pytest.raises(ValueError, match="found about 4.0e"):
        space.view(np.full(2, 0.5))
    with pytest.raises(ValueError, match="k.x, x. of 4.0e"):
        soft._Kernel(kernel.points, kernel.kernel)


def test_squared_distances_in_a_kernel_are_not_negative():
    points = np.repeat(cloud(6, 2), 2, axis=0)
    space = soft._Kernel(points, cubic)
    least = []
    for seed in range(20):
        weights = np.zeros(12)
        weights[:2] = np.random.default_rng(seed).dirichlet(np.ones(2))
        least.append(space.view(weights).distances.min())
    assert min(least) >= 0.0 and max(least) < 1e-8
    rounding = soft_ball(points, 0.3, kernel=cubic).rounding
    assert rounding == 32.0 * soft.EPS * np.diagonal(cubic(points, points)).max()


def test_a_sample_is_solved_roughly_for_the_price_that_it_has(monkeypatch):
    asked, points = [], cloud(80, 2)

    def pairwise(space, weights, cap, tol, max_iter):
        asked.append((space.m, cap, tol, max_iter))
        return weights, 0, []

    monkeypatch.setattr(soft, "_pairwise", pairwise)
    monkeypatch.setattr(soft._Linear, "working", 10)
    space = soft._Linear.of(points)
    guess = soft._guess(space, 0.03125, 7)
    assert asked == [(10, 0.25, 1e-2, 7)]
    # The best vertex about the ball of the sample, whose guess is returned here.
    rows = soft._sample(80, 10)
    weights = np.zeros(80)
    weights[rows] = soft._guess(space.subset(rows), 0.25, 7)
    expected = soft._vertex(space.view(weights).distances, 0.03125)
    np.testing.assert_array_equal(guess, expected)
    asked.clear()
    soft._guess(space, 0.5, 7)
    assert asked[0][:2] == (10, 1.0)


def test_the_origin_is_looked_for_among_some_rows():
    rows = np.arange(1500.0)[:, None]
    assert soft._Linear.of(rows).origin == 0.0
    far = soft._Linear.of(rows + 2.0**30)
    assert far.origin == [2.0**30]
    np.testing.assert_array_equal(far.points, rows)
    edge = np.array([[4096.0], [4100.0], [4098.0]])  # as far as allowed
    assert soft._Linear.of(edge).origin == 0.0


@pytest.mark.parametrize(
    ("points", "tilt", "told"),
    [
        # The gap is 4 tilt; rounding is 8 EPS here, four times of which are allowed.
        ([[-1.0], [1.0]], 7 * soft.EPS, True),
        ([[-1.0], [1.0]], 9 * soft.EPS, False),
        # Far away the spacing of the center counts, times the reach.
        ([[2.0**40 - 64.0], [2.0**40 + 64.0]], 0.9 * 2.0**34 * soft.EPS, True),
        ([[2.0**40 - 64.0], [2.0**40 + 64.0]], 1.1 * 2.0**34 * soft.EPS, False),
    ],
)
def test_a_gap_that_rounding_may_cause_is_told_to_be_that(points, tilt, told):
    space = soft._Linear.of(np.array(points))
    weights = np.array([0.5 - tilt, 0.5 + tilt])
    ball = soft._certified(space, 2.0, 1.0, 0.0, weights, 0, [1.0, 1.0])
    assert not ball.converged and ball.iterations == 1
    assert ("rounding allows: it may be" in ball.message) == told
    assert ("after 1 iterations" in ball.message) == (not told)


def test_a_limit_of_rounds_is_told_for_a_kernel_too():
    ball = soft_ball(cloud(40, 2), 0.1, kernel="rbf", tol=1e-10, max_iter=1)
    assert not ball.converged and ball.iterations == 1
    assert "after 1 iterations" in ball.message
    assert repr(ball).endswith(", not converged)")
    equal = soft_ball(np.ones((3, 2)), 0.5, tol=0.0)
    assert equal.converged and equal.message.endswith("within tol = 0")
    assert repr(equal).endswith(", converged)")


@pytest.mark.parametrize("method", ["pairwise", "frank_wolfe"])
def test_at_the_optimum_no_step_is_taken(method):
    ball = soft_ball([[-1.0], [1.0], [0.0]], C=0.5, tol=0.0, method=method)
    assert (ball.steps, ball.iterations, ball.primal) == (0, 0, 1.0)


def test_verification_of_radii_and_of_who_is_outside():
    points = np.array([[-1.0], [1.0], [0.0]])
    ball = soft_ball(points, C=0.5)
    assert (ball.rho, ball.rho_interval) == (0.5, (0.0, 1.0))
    assert verify_soft(points, ball) < 1e-14
    for interval in ((0.6, 1.0), (0.0, 0.4)):
        assert verify_soft(points, replace(ball, rho_interval=interval)) == np.inf
    for rows in ([0, 1, 2], [0], []):
        outside = np.array(rows, dtype=int)
        assert verify_soft(points, replace(ball, outside=outside)) == np.inf
    # Radii that are not optimal cost what their primal values say.
    for interval, gap in (((0.25, 2.0), 1.0), ((-1.0, 1.0), 0.5)):
        found = verify_soft(points, replace(ball, rho_interval=interval))
        assert found == pytest.approx(gap, rel=1e-12)
    equal = np.ones((3, 2))
    on_it = replace(soft_ball(equal), outside=np.array([0]))
    assert verify_soft(equal, on_it) == 0.0


def test_slack_of_a_hard_ball_is_verified_at_the_lowest_price():
    points, short = np.array([[-1.0], [1.0]]), 1.0 - 1e-10
    ball = replace(soft_ball(points, C=5.0), rho=short, rho_interval=(short, short))
    assert verify_soft(points, ball) == pytest.approx(1e-10, rel=1e-4)


@pytest.mark.parametrize("offset", [0.0, 2.0**33])
def test_fields_may_be_off_by_rounding_and_no_more(offset):
    points = np.array([[-4.0], [4.0]]) + offset
    ball = soft_ball(points, C=1.0)
    # A part of the squared radius, and what the rounded center moves it.
    near = 1e-9 * 16.0 + 4.0 * soft.EPS * offset * 4.0
    for part, fits in ((0.85, True), (1.15, False), (-0.85, True), (-1.15, False)):
        off = part * near
        rho = 16.0 + off
        primal = max(rho, rho - 2.0 * off)
        wrong = [
            replace(ball, primal=16.0 + off),
            replace(ball, dual=16.0 + off),
            replace(ball, rho=rho, rho_interval=(rho, rho), primal=primal),
        ]
        if off > 0.0:
            wrong.append(replace(wrong[-1], outside=np.array([0])))
        for other in wrong[:2]:
            assert math.isfinite(verify_soft(points, other)) == fits
        for other in wrong[2:]:
            inside = off > 0.0 and other.outside.size == 0
            assert math.isfinite(verify_soft(points, other)) == (fits or inside)


def test_lawful_weights_at_their_borders():
    points = np.array([[-1.0], [1.0], [0.0]])
    ball, rows = soft_ball(points, C=1.0), np.arange(3)
    assert soft._lawful(np.array([0.5, 0.5, 0.0]), rows, ball, 3)
    assert not soft._lawful(np.array([-0.25, 0.25, 1.0]), rows, ball, 3)
    dear = soft_ball(points, C=1.5)
    assert soft._lawful(dear.weights, dear.support, replace(dear, nu=1 / 3), 3)
    assert not soft._lawful(dear.weights, dear.support, replace(dear, nu=0.5), 3)
    cheap = soft_ball(cloud(10, 2), C=0.05)
    for off, lawful in ((0.5e-9, True), (1.5e-9, False)):
        weights = cheap.weights * (1.0 - off)
        assert soft._lawful(weights, cheap.support, cheap, 10) == lawful


def test_a_round_aims_at_what_is_worth_it(monkeypatch):
    asked, space = [], soft._Linear.of(np.array([[0.0], [1.0], [3.0], [4.0]]))

    def climb(gram, slack, new, cap, aim, limit):
        asked.append((gram, slack, aim, limit))
        return 0

    monkeypatch.setattr(soft, "_climb", climb)
    # About 1/2 the squares are 1/4, 1/4, 25/4 and 49/4; the best vertex has 37/4.
    weights = np.array([0.5, 0.5, 0.0, 0.0])
    dual, gap, violation = 0.25, 9.0, 12.0
    loose = 0.9 * gap / dual
    for tol, rounding, aim in (
        (1e-12, 0.0, 0.1 * violation),
        (loose, 0.0, 0.3 * loose * dual),
        (1e-12, 6.0, 0.5 * 6.0),
    ):
        monkeypatch.setattr(space, "rounding", lambda view, r=rounding: r)
        asked.clear()
        assert soft._pairwise(space, weights.copy(), 0.5, tol, 1)[1] == 0
        ((gram, slack, found, limit),) = asked
        assert found == pytest.approx(aim / 16.0, rel=1e-12) and limit == 4000
        np.testing.assert_allclose(slack, np.array([0.25, 0.25, 6.25, 12.25]) / 16.0)
        np.testing.assert_allclose(np.diagonal(gram), slack)


def test_a_kernel_that_shows_itself_in_a_step_is_refused(monkeypatch):
    monkeypatch.setattr(soft, "_climb", lambda *arguments: -1)
    with pytest.raises(ValueError, match="positive semidefinite"):
        soft_ball(cloud(9, 2), 0.3)


def test_a_working_set_that_is_half_full_is_not_crowded(asked, monkeypatch):
    monkeypatch.setattr(soft, "PATIENCE", 2)
    monkeypatch.setattr(soft._Linear, "working", 6)
    weights = np.full(64, 1.0 / 64)
    soft._pairwise(soft._Linear.of(cloud(64, 2)), weights, 0.2, 0.0, 9)
    assert asked[:5] == [6, 6, 12, 12, 12] and set(asked[5:]) == {12}


def test_the_nearest_give_and_the_farthest_take():
    distances, half = np.array([0.0, 1.0, 2.0, 3.0, 10.0]), np.full(5, 0.25)
    half[4] = 0.0

    def rows(most):
        return soft._working_set(distances, half, 1.0, most)[0].tolist()

    assert rows(4) == [0, 1, 3, 4] and rows(2) == [0, 4]
    assert rows(8) == rows(512) == [0, 1, 2, 3, 4]
    # Rows as near as the nearest have nothing to take, as far as the farthest to give.
    level = np.array([1.0, 2.0, 2.0, 1.0])
    found, violation = soft._working_set(level, np.array([0.5, 0.5, 0, 0]), 0.5, 8)
    assert found.tolist() == [0, 2] and violation == 1.0


def test_the_climb_allows_for_rounding_and_for_no_more():
    def climb(own, other, aim=1e-9):
        gram = np.array([[own, other], [other, own]])
        weights, seen = np.full(2, 0.5), np.array([1.0, 0.0])
        return soft._climb(gram, seen, weights, 1.0, aim, 9), weights.tolist()

    for own in (1.0, 1000.0, 1.0 / 1024):
        # Squared distances below 0, by parts of 1e-9 and of 1e-7.
        assert climb(own, own * (1.0 + 0.5e-9))[1] == [1.0, 0.0]
        assert climb(own, own * (1.0 + 0.5e-7))[0] == -1
        assert climb(own, 1.25 * own)[0] == -1
    level = np.ones(2)
    assert soft._climb(np.eye(2), level, np.full(2, 0.5), 1.0, 0.0, 9) == 0


# --- the detector --------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{}, {"quantile": 0.9}, {"kernel": "rbf"}, {"nu": 0.5, "factor": 1.1}],
    ids=["default", "quantile", "rbf", "factor"],
)
def test_scikit_learns_own_checks_pass(options):
    check_estimator(SoftBallDetector(**options), on_skip=None)


def test_the_plain_detector_passes_them_and_is_its_ball():
    for options in ({}, {"nu": 0.3, "quantile": 0.9}):
        check_estimator(PlainSoftBallDetector(**options), on_skip=None)
    points, new = cloud(100, 3), cloud(50, 3, seed=2)
    detector, ball = (
        PlainSoftBallDetector(nu=0.1).fit(points),
        plain_soft_ball(points, 0.1),
    )
    expected = np.linalg.norm(new - ball.center, axis=1)
    np.testing.assert_allclose(-detector.score_samples(new), expected)
    assert detector.offset_ == -ball.radius


def test_the_detector_is_the_ball():
    points, new = cloud(200, 3), cloud(50, 3, seed=2)
    detector = SoftBallDetector(nu=0.1).fit(points)
    ball = soft_ball(points, 0.1)
    np.testing.assert_array_equal(detector.center_, ball.center)
    assert detector.radius_ == ball.radius == -detector.offset_
    expected = np.where(ball.squared_distances(new) > ball.rho, -1, 1)
    np.testing.assert_array_equal(detector.predict(new), expected)
    assert (detector.predict(points) == -1).sum() <= 20
    wide = SoftBallDetector(nu=0.1, factor=1.2).fit(points)
    assert wide.offset_ == pytest.approx(1.2 * detector.offset_)


def test_the_detector_with_expensive_slack_is_the_hard_ball():
    points = cloud(60, 3)
    soft_detector, hard = SoftBallDetector(nu=0.001).fit(points), BallDetector()
    np.testing.assert_allclose(
        soft_detector.score_samples(points), hard.fit(points).score_samples(points)
    )
    assert (soft_detector.predict(points) == 1).all()


def test_the_detector_takes_a_function_and_can_be_stored():
    points = cloud(60, 3)
    detector = SoftBallDetector(kernel=cubic).fit(points)
    assert detector.center_ is None
    again = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(
        again.decision_function(points), detector.decision_function(points)
    )
    with pytest.raises(ValueError, match="kernel must be 'linear', 'rbf' or a"):
        SoftBallDetector(kernel="precomputed").fit(points)


def test_one_anomaly_among_the_training_rows_hurts_the_hard_ball_more():
    data = load_breast_cancer()
    benign, malignant = (data.data[data.target == label] for label in (1, 0))
    train = benign[:178]
    scale, shift = train.std(axis=0), train.mean(axis=0)
    train, anomalies = (train - shift) / scale, (malignant - shift) / scale
    worst = anomalies[np.linalg.norm(anomalies, axis=1).argmax()]
    spoiled = np.vstack([train, worst])

    def lost(detector):
        before, after = (
            (detector.fit(rows).predict(anomalies) == -1).mean()
            for rows in (train, spoiled)
        )
        return before - after

    assert lost(BallDetector()) > 0.2
    assert lost(SoftBallDetector(nu=0.1)) < 0.1


# --- bad input -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"nu": 0.0}, ValueError, r"nu must be in \(0, 1\], found 0.0"),
        ({"nu": 1.1}, ValueError, r"nu must be in \(0, 1\], found 1.1"),
        ({"nu": float("nan")}, ValueError, "nu must be finite, found nan"),
        ({"nu": "few"}, TypeError, "nu must be a number, found 'few'"),
        ({"C": 0.0}, ValueError, "C must be positive, found 0.0"),
        ({"C": True}, TypeError, "C must be a number, found True"),
        ({"C": 5e-309}, ValueError, "C must be large enough for 1 / C, found 5e-309"),
        ({"nu": 0.1, "C": 0.1}, ValueError, "nu and C say the same"),
        ({"tol": -1.0}, ValueError, "tol must be at least 0, found -1.0"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1, found 0"),
        ({"max_iter": 1.5}, TypeError, "max_iter must be an integer, found 1.5"),
        ({"method": "smo"}, ValueError, "method must be one of 'pairwise', 'frank_wol"),
        ({"kernel": "poly"}, ValueError, "kernel must be None, 'linear', 'rbf', 'prec"),
        ({"gamma": 1.0}, ValueError, "gamma goes with kernel='rbf', found kernel=None"),
        ({"kernel": "rbf", "gamma": 0.0}, ValueError, "gamma must be positive"),
        ({"kernel": "rbf", "gamma": "auto"}, ValueError, "positive number or 'scale'"),
        ({"kernel": "precomputed"}, ValueError, r"square kernel matrix .* \(30, 2\)"),
        ({"kernel": lambda x, y: x}, ValueError, "kernel must return shape"),
        (
            {"kernel": lambda x, y: np.full((len(x), len(y)), np.nan)},
            ValueError,
            "kernel must return finite values",
        ),
        ({"kernel": cdist}, ValueError, "positive semidefinite"),
        ({"kernel": lambda x, y: -x @ y.T}, ValueError, "positive semidefinite"),
    ],
)
def test_senseless_arguments_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        soft_ball(cloud(30, 2), **options)


def test_senseless_points_are_refused():
    with pytest.raises(ValueError, match="points must be finite, found NaN in row 1"):
        soft_ball([[0.0, 1.0], [np.nan, 2.0]])
    with pytest.raises(ValueError, match="points must have two dimensions"):
        soft_ball([0.0, 1.0])
    with pytest.raises(ValueError, match="points must be less than 2"):
        soft_ball(1.7e308 * np.sign(cloud(30, 2) - 4.0), kernel="rbf")
    with pytest.raises(ValueError, match="largest k.x, x. of 1.0e"):
        soft_ball(1e300 * np.eye(4), kernel="precomputed")
    with pytest.raises(ValueError, match="positive semidefinite"):
        soft_ball([[0.0, 1.0], [1.0, 0.0]], kernel="precomputed")
    skew = np.arange(9.0).reshape(3, 3)
    with pytest.raises(ValueError, match="symmetric kernel matrix"):
        soft_ball(skew, kernel="precomputed")
    with pytest.raises(ValueError, match="positive semidefinite"):
        soft_ball(cdist(cloud(9, 2), cloud(9, 2)), kernel="precomputed")


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_points_whose_squares_no_float64_holds_are_refused(factor):
    with pytest.raises(ValueError, match="squared distances that float64 can hold"):
        soft_ball(factor * cloud(30, 2))


def test_senseless_new_points_are_refused():
    points = cloud(30, 2)
    for kernel in (None, "rbf"):
        with pytest.raises(ValueError, match="points must have 2 features"):
            soft_ball(points, kernel=kernel).squared_distances(cloud(5, 3))
    ball = soft_ball(rbf(points, points), kernel="precomputed")
    with pytest.raises(ValueError, match="diagonal must give"):
        ball.squared_distances(rbf(points, points))
    with pytest.raises(ValueError, match="one column for each training point"):
        ball.squared_distances(np.ones((5, 1)), np.ones(5))


def test_it_can_be_read():
    ball = soft_ball(cloud(100, 2), 0.1)
    assert "10 outside" in repr(ball) or "9 outside" in repr(ball)
    assert '<th scope="row">points outside</th>' in ball._repr_html_()
