"""The soft ball by one thread or many: the same bits, and no more threads than pay."""

import dataclasses
import threading

import numpy as np
import pytest

from mebnb import soft_ball
from mebnb.solvers import passes, soft
from tests.test_workers import KINDS, draw

KERNELS = {
    "linear": {},
    "rbf": {"kernel": "rbf"},
    "rbf by differences": {"kernel": "rbf", "gamma": 30.0},
}


@pytest.fixture
def as_large(monkeypatch):
    """Small clouds are left to threads, in many blocks."""
    monkeypatch.setattr(soft, "SMALL", 0)
    monkeypatch.setattr(soft, "FEW", 0)
    monkeypatch.setattr(soft, "BLOCK", 1000)
    monkeypatch.setattr(passes, "LEAST_BLOCK_BYTES", 1000)


def outcome(points, **options):
    """Every field of the ball, or the error, for points that have no ball."""
    try:
        ball = soft_ball(points, **options)
    except ValueError as error:
        return {"error": str(error)}
    fields = {field.name for field in dataclasses.fields(ball)} - {"kernel"}
    return {name: getattr(ball, name) for name in fields}


def same(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 12), marks=pytest.mark.large)]
)
def test_workers_give_one_ball(as_large, kernel, kind, seeds):
    for seed in seeds:
        points = draw(kind, seed)[:160]
        nu = float(np.random.default_rng(seed).choice([0.003, 0.05, 0.1, 0.37]))
        expected = outcome(points, nu=nu, workers=1, **KERNELS[kernel])
        for workers in (2, 3):
            found = outcome(points, nu=nu, workers=workers, **KERNELS[kernel])
            same(found, expected)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("m", [1, 2, 3, 7])
@pytest.mark.parametrize("method", ["pairwise", "frank_wolfe"])
def test_so_do_few_points(as_large, kernel, m, method):
    points = np.random.default_rng(m).standard_normal((m, 2))
    options = {"nu": 0.5, "method": method, "tol": 1e-3} | KERNELS[kernel]
    expected = outcome(points, workers=1, **options)
    for workers in (2, 3, 8):
        same(outcome(points, workers=workers, **options), expected)


@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_of_the_size_that_is_used_give_one_ball(kernel):
    points = np.random.default_rng(0).standard_normal((2_500, 5))
    large = np.tile(points, (100, 1)) if kernel == "linear" else points
    one, two = (outcome(large, nu=0.1, workers=w, **KERNELS[kernel]) for w in (1, 2))
    assert one["support"].size > 200
    same(one, two)


@pytest.fixture
def hands(monkeypatch):
    """How many threads share each piece of work: a list that grows."""
    seen = []

    def share_out(blocks, work, workers):
        seen.append(workers)
        passes.share_out(blocks, work, workers)

    monkeypatch.setattr(soft, "share_out", share_out)
    monkeypatch.setattr(soft, "SMALL", 600)
    monkeypatch.setattr(soft, "FEW", 6000)
    return seen


def test_few_entries_are_left_to_one_and_more_are_shared(hands):
    points = np.random.default_rng(0).standard_normal((301, 2))
    soft_ball(points[:300], 0.1, workers=3)
    assert set(hands) == {1}
    hands.clear()
    soft_ball(points, 0.1, workers=3)
    assert set(hands) == {3}


@pytest.mark.parametrize("columns, workers", [(20, 1), (21, 3)])
def test_so_are_the_columns_of_a_kernel(hands, columns, workers):
    points = np.random.default_rng(0).standard_normal((300, 2))
    space = soft._space(points, "rbf", None, workers=3)
    space.view(np.repeat([1.0 / columns, 0.0], [columns, 300 - columns]))
    # The blocks go to threads, what is in a block to one.
    assert hands[0] == workers and set(hands[1:]) == {1}
    hands.clear()
    space._column(0, np.arange(columns))
    assert hands == [workers]


def test_a_sample_has_the_threads_of_the_whole():
    points = np.random.default_rng(0).standard_normal((40, 2))
    for kernel in (None, "rbf"):
        space = soft._space(points, kernel, None, workers=3)
        assert space.subset(np.arange(5)).workers == 3


def test_a_function_of_ones_own_is_called_by_one_thread(as_large):
    callers = set()

    def kernel(x, y):
        callers.add(threading.get_ident())
        return x @ y.T

    points = np.random.default_rng(0).standard_normal((300, 2))
    soft_ball(points, 0.1, kernel=kernel, workers=3)
    soft_ball(points @ points.T, 0.1, kernel="precomputed", workers=3)
    assert callers == {threading.get_ident()}


def test_balls_may_be_asked_for_at_the_same_time(as_large):
    points = np.random.default_rng(0).standard_normal((900, 4))
    expected = {name: outcome(points, nu=0.1, **KERNELS[name]) for name in KERNELS}
    found = []

    def ask(name):
        found.append((name, outcome(points, nu=0.1, workers=2, **KERNELS[name])))

    threads = [threading.Thread(target=ask, args=(name,)) for name in KERNELS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(KERNELS)
    for name, ball in found:
        same(ball, expected[name])


def test_the_hard_ball_has_the_threads_too(monkeypatch):
    given = []

    def ball(points, workers):
        given.append(workers)
        return exact(points, workers=workers)

    exact = soft.minimum_enclosing_ball
    monkeypatch.setattr(soft, "minimum_enclosing_ball", ball)
    soft_ball([[0.0], [1.0]], C=1.0, workers=2)
    assert given == [2]


@pytest.mark.parametrize(
    "workers, kind", [(0, ValueError), (1.5, TypeError), ("2", TypeError)]
)
@pytest.mark.parametrize("kernel", [None, "rbf", "precomputed"])
def test_workers_that_make_no_sense(workers, kind, kernel):
    with pytest.raises(kind, match="workers must be"):
        soft_ball(np.eye(2), 0.5, kernel=kernel, workers=workers)


def test_a_view_is_computed_once_and_anew_for_other_weights():
    entries = []

    def kernel(x, y):
        entries.append(len(x) * len(y))
        return x @ y.T

    points = np.random.default_rng(0).standard_normal((30, 2))
    space = soft._space(points, kernel, None)
    weights = np.zeros(30)
    weights[[3, 4]] = 0.5
    first = space.view(weights)
    entries.clear()
    assert space.view(weights.copy()) is first and not entries
    weights[[3, 4]] = 0.25, 0.75
    distances = ((points - weights @ points) ** 2).sum(axis=1)
    np.testing.assert_allclose(space.view(weights).distances, distances, atol=1e-12)
    assert entries == [60]


def test_what_points_cost_an_rbf_kernel_is_paid_once(monkeypatch):
    local, sizes = soft._Rbf.local, []

    def counted(kernel, points):
        sizes.append(len(points))
        return local(kernel, points)

    points = np.random.default_rng(0).standard_normal((50, 2))
    space = soft._space(points, "rbf", None)
    expected = space.kernel(points[:10], points)
    monkeypatch.setattr(soft, "BLOCK", 50)
    monkeypatch.setattr(soft, "CACHE_BYTES", 8 * 50)
    monkeypatch.setattr(soft._Rbf, "local", counted)
    for row in range(10):
        found = space._column(row, np.arange(row, row + 1))
        np.testing.assert_allclose(found, expected[row], rtol=1e-13)
    assert sizes == [50] + 10 * [1]
    sizes.clear()
    soft._weighted(space.kernel, points, points[:25], np.ones(25))
    assert sizes == [25, 8, 8, 8, 8, 8, 8, 2]
