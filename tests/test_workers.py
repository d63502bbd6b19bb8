"""One worker or many, blocks of one row or of all: the same ball, bit for bit."""

import functools
import os
import threading
import time

import numpy as np
import pytest

from mebnb import minimum_enclosing_ball
from mebnb.solvers import exact, passes
from mebnb.solvers.passes import Rows, Shell, check_workers, farthest_rows, fold

NEAR = exact._near

KINDS = {
    "normal": lambda rng, m, n: rng.standard_normal((m, n)),
    "whole numbers": lambda rng, m, n: rng.integers(-3, 4, (m, n)).astype(float),
    "sphere": lambda rng, m, n: (
        (x := rng.standard_normal((m, n))) / np.linalg.norm(x, axis=1, keepdims=True)
    ),
    "repeats": lambda rng, m, n: rng.permutation(
        np.repeat(rng.standard_normal((m // 10, n)), 10, axis=0)
    ),
    "offset": lambda rng, m, n: rng.standard_normal((m, n)) + 1e6,
    "Cauchy": lambda rng, m, n: rng.standard_cauchy((m, n)),
    "equal": lambda rng, m, n: np.ones((m, n)),
    "tiny": lambda rng, m, n: rng.standard_normal((m, n)) * 2.0**-700,
}


def same(one, other):
    for name in ("center", "weights", "support"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("radius", "lower_bound", "iterations", "converged", "message"):
        assert getattr(one, name) == getattr(other, name), name


@pytest.fixture
def as_large(monkeypatch):
    """Small clouds take the path of large ones, in many blocks."""
    monkeypatch.setattr(exact, "SMALL", 0)
    monkeypatch.setattr(exact, "SPARSE", 1)
    monkeypatch.setattr(exact, "SHELL_BYTES", 1)
    monkeypatch.setattr(passes, "LEAST_BLOCK_BYTES", 1000)


def draw(kind, seed):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(40, 3000)) // 10 * 10, int(rng.integers(1, 9))
    return KINDS[kind](rng, m, n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 28), marks=pytest.mark.large)]
)
def test_workers_and_layouts_give_one_ball(as_large, kind, seeds):
    for seed in seeds:
        points = draw(kind, seed)
        expected = minimum_enclosing_ball(points, workers=1)
        for workers in (2, 3, 8):
            same(minimum_enclosing_ball(points, workers=workers), expected)
        same(minimum_enclosing_ball(np.asfortranarray(points), workers=2), expected)


def test_every_row_is_measured_whoever_measures_it():
    points = np.random.default_rng(0).integers(-9, 10, (60_000, 5)).astype(float)
    center, squared = np.arange(5.0), np.full(60_000, np.nan)
    passes.measure_rows(Rows(points, 3), center, 0.5, squared)
    np.testing.assert_array_equal(squared, ((points / 2 - center) ** 2).sum(axis=1))


def test_a_pass_keeps_the_distances_of_all_rows():
    points = np.random.default_rng(0).permutation(300).astype(float)[:, None]
    kept = np.full(300, np.nan)
    shell = farthest_rows(Rows(points, 2), np.ones(1), 2.0, 3, 0.0, kept)
    np.testing.assert_array_equal(kept, (2.0 * points[:, 0] - 1.0) ** 2)
    assert np.sort(points[shell.rows, 0]).tolist() == [297.0, 298.0, 299.0]


def test_a_row_that_cannot_be_far_is_not_read_again():
    points = np.random.default_rng(0).standard_normal((60_000, 5))
    old, new, near = np.zeros(5), np.full(5, 0.125), 3.0
    step, squared = float(np.linalg.norm(new - old)), np.full(60_000, np.inf)
    from_old, from_new = (((points - c) ** 2).sum(axis=1) for c in (old, new))
    assert passes.measure_rows(Rows(points, 2), old, 1.0, squared) == 60_000
    points[from_old < 2.0**2] = np.nan
    # A step, and back: what was a bound then leads to one.
    for center, exactly in ((new, from_new), (old, from_old)):
        far = np.sqrt(squared) + step >= near
        read = passes.measure_rows(Rows(points, 2), center, 1.0, squared, step, near)
        assert read == far.sum() and 1_000 < read < 30_000
        np.testing.assert_allclose(squared[far], exactly[far], rtol=1e-14)
        assert (squared[~far] < near**2).all()
        assert (squared[~far] >= exactly[~far]).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "seeds", [range(4), pytest.param(range(4, 28), marks=pytest.mark.large)]
)
def test_rows_that_are_not_read_again_change_no_bit(as_large, kind, seeds, monkeypatch):
    fewer = 0
    for seed in seeds:
        points = draw(kind, seed)
        for sparse in (1, len(points)):  # a sample pays, or never does
            monkeypatch.setattr(exact, "SPARSE", sparse)
            balls = []
            for wide, near in ((1, NEAR), (10**9, lambda gamma: 0.0)):
                monkeypatch.setattr(exact, "WIDE", wide)
                monkeypatch.setattr(exact, "_near", near)
                balls.append(minimum_enclosing_ball(points, workers=2))
            same(*balls)
            fewer += balls[0].passes < balls[1].passes
    assert kind in ("equal", "sphere") or fewer


@pytest.mark.parametrize("m, n", [(40, 60), (200, 700), (700, 40)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_wide_rows_measured_by_threads_give_the_ball_of_one_loop(
    m, n, dtype, monkeypatch
):
    points = np.random.default_rng([m, n]).standard_normal((m, n)).astype(dtype)
    expected = minimum_enclosing_ball(points)
    monkeypatch.setattr(exact, "SMALL", 0)
    monkeypatch.setattr(exact, "SPARSE", m)  # a sample never pays
    monkeypatch.setattr(passes, "LEAST_BLOCK_BYTES", 8 * n)
    for workers in (1, 2, 3):
        same(minimum_enclosing_ball(points, workers=workers), expected)


@pytest.mark.parametrize("kind", ["normal", "sphere", "repeats"])
def test_float32_gives_the_ball_of_its_numbers(as_large, kind):
    points = draw(kind, 5).astype(np.float32)
    expected = minimum_enclosing_ball(points.astype(np.float64))
    same(minimum_enclosing_ball(points, workers=2), expected)


def test_a_shell_is_the_same_for_any_blocks_and_workers():
    points = np.random.default_rng(0).integers(-2, 3, (600, 3)).astype(float)
    center = np.full(3, 0.25)
    squared = ((points - center) ** 2).sum(axis=1)
    order = np.lexsort((np.arange(600), -squared))
    for most in (1, 7, 50):
        for size in (1, 13, 300, 600):
            for workers in (1, 3):
                blocks = [(s, points[s : s + size]) for s in range(0, 600, size)]
                new = functools.partial(Shell, center, 1.0, most, 0.0)
                first, *others = fold(blocks, new, workers)
                shell = first.merged(others)
                np.testing.assert_array_equal(shell.rows, np.sort(order[:most]))
                np.testing.assert_array_equal(shell.values, points[shell.rows])
                assert shell.inner == squared[order[most]]
                assert shell.farthest == squared.max()


def test_a_row_at_the_cut_is_let_go():
    points = np.array([[2.0], [3.0], [1.0], [-2.0]])
    shell = farthest_rows(Rows(points), np.zeros(1), 1.0, 5, 4.0)
    assert shell.rows.tolist() == [1] and shell.squared.tolist() == [9.0]
    assert shell.inner == 4.0 and shell.farthest == 9.0
    none = farthest_rows(Rows(points), np.zeros(1), 1.0, 5, 9.0)
    assert none.rows.size == 0 and none.inner == none.farthest == 9.0
    every = farthest_rows(Rows(points), np.zeros(1), 0.5, 5, 0.0)
    assert every.squared.tolist() == [1.0, 2.25, 0.25, 1.0] and every.inner == 0.0


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("worst", [np.nan, np.inf, -1e200])
def test_a_shell_of_what_is_not_finite_holds_no_row(worst, copies):
    points = np.arange(12.0).reshape(6, 2)
    shell, good = (Shell(np.zeros(2), 1.0, 2, 0.0, copies) for _ in range(2))
    good.take(0, points[:3])
    points[4, 1] = worst
    with np.errstate(over="ignore"):
        shell.take(3, points[3:])
    for whole in (shell, shell.merged([good]), good.merged([shell])):
        assert whole.inner == whole.farthest == np.inf and whole.rows.size == 0
    shell.take(6, points[:3])  # what comes later changes nothing
    assert shell.inner == np.inf and shell.rows.size == shell.squared.size == 0


def test_some_rows_keep_their_numbers_and_values():
    points = np.array([[4.0], [-1.0], [5.0], [3.0], [6.0], [7.0], [2.0], [-8.0]])
    shell = Shell(np.zeros(1), 1.0, 3, 2.5**2)
    shell.take(0, points[:2])
    for some in ([2, 4], [5, 6, 7]):
        shell.take_some(np.array(some), points[some])
    whole = shell.merged([])
    assert whole.rows.tolist() == [4, 5, 7] and whole.inner == 25.0
    np.testing.assert_array_equal(whole.values, points[[4, 5, 7]])
    few = Shell(np.zeros(1), 1.0, 5, 2.5**2)
    few.take_some(np.array([0, 3, 7]), points[[0, 3, 7]])
    assert few.rows.tolist() == [0, 3, 7] and few.inner == 0.0


def test_many_shells_are_merged_into_the_farthest_rows_of_all():
    points = np.random.default_rng(0).normal(size=(4000, 1))
    shells = [Shell(np.zeros(1), 1.0, 100, 0.0) for _ in range(40)]
    for at, shell in enumerate(shells):
        shell.take(100 * at, points[100 * at : 100 * at + 100])
    whole, order = shells[0].merged(shells[1:]), np.abs(points[:, 0]).argsort()
    np.testing.assert_array_equal(whole.rows, np.sort(order[-100:]))
    assert whole.inner == points[order[-101], 0] ** 2


def test_a_shell_that_has_seen_nothing_has_nothing():
    shell = Shell(np.zeros(2), 1.0, 3, 0.0)
    assert shell.rows.size == shell.squared.size == shell.farthest == 0.0
    assert shell.values.shape == (0, 2)
    shell.take(0, np.array([[0.25, 0.0]]))
    assert shell.farthest == 0.0625


def test_the_rows_of_an_array_are_not_copied():
    points = np.arange(12.0).reshape(6, 2)
    shell = farthest_rows(Rows(points), np.zeros(2), 1.0, 6, 0.0)
    assert shell.rows.tolist() == [*range(6)] and shell.values.shape == (0, 2)
    assert Rows(points).locate(shell.rows) is None


def test_a_shell_without_copies_keeps_numbers_alone():
    points = np.arange(40.0).reshape(20, 2)
    shell = Shell(np.zeros(2), 1.0, 3, 0.0, copies=False)
    shell.take(0, points)
    assert shell.values.shape == (0, 2)
    assert shell.merged([]).values.shape == (0, 2)
    assert shell.merged([]).rows.tolist() == [17, 18, 19]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_are_gathered_and_joined_in_their_order(dtype):
    points = np.arange(30.0, dtype=dtype).reshape(10, 3)
    values, read = Rows(points).gather(np.array([7, 2, 7]))
    assert values.dtype == np.float64 and read == 3 / 10
    np.testing.assert_array_equal(values, points[[7, 2, 7]])
    held = np.array([[0.5, 0.25, 0.125]])
    joined = Rows(points).join(held, np.array([9, 0]), None)
    np.testing.assert_array_equal(joined, np.vstack([held, points[[9, 0]]]))
    # Wider than what is copied at a time.
    wide = np.arange(3.0, dtype=dtype)[:, None] + np.zeros(2**17 + 1, dtype)
    values, read = Rows(wide).gather(np.array([2, 0]))
    assert values[:, [0, -1]].tolist() == [[2.0, 2.0], [0.0, 0.0]] and read == 2 / 3


@pytest.mark.parametrize("workers, count", [(1, 4), (2, 8), (3, 12), (50, 32)])
def test_a_worker_gets_about_four_blocks(workers, count, monkeypatch):
    monkeypatch.setattr(passes, "LEAST_BLOCK_BYTES", 500)
    points = np.arange(2000.0).reshape(1000, 2)
    blocks = list(Rows(points, workers).blocks())
    assert [start for start, _ in blocks] == [
        *np.cumsum([0] + [len(block) for _, block in blocks[:-1]])
    ]
    np.testing.assert_array_equal(np.vstack([block for _, block in blocks]), points)
    assert abs(len(blocks) - count) <= 1
    monkeypatch.setattr(passes, "MOST_BLOCK_BYTES", 800)
    assert len(list(Rows(points, workers).blocks())) >= 20


def test_the_farthest_row_let_go_is_known_when_all_others_are_nearer():
    points = np.array([[3.0], [2.0], [4.0], [1.0], [0.0]])
    shell = farthest_rows(Rows(points), np.zeros(1), 1.0, 1, 0.0)
    assert shell.rows.tolist() == [2] and shell.inner == 9.0
    first = farthest_rows(Rows(points[[0, 1, 3, 4]]), np.zeros(1), 1.0, 1, 0.0)
    assert first.rows.tolist() == [0] and first.inner == 4.0


@pytest.mark.parametrize("n", [*range(1, 40), 63, 64, 100, 130, 1000])
def test_a_distance_has_the_same_bits_for_either_type_and_any_place(n):
    rng = np.random.default_rng(n)
    rows, center = rng.standard_normal((30, n)).astype(np.float32), rng.normal(size=n)
    whole = farthest_rows(Rows(rows), center, 1.0, 30, -1.0).squared
    wide = farthest_rows(Rows(rows.astype(np.float64)), center, 1.0, 30, -1.0).squared
    np.testing.assert_array_equal(whole, wide)
    for i in (0, 17, 29):
        alone = farthest_rows(Rows(rows[i : i + 1]), center, 1.0, 1, -1.0).squared
        assert alone[0] == whole[i]


def test_every_block_is_read_once_and_several_threads_take_part():
    seen, together = [], threading.Barrier(2, timeout=30)

    class Taker:
        def take(self, start, block):
            if start < 2:
                together.wait()  # two threads must hold a block at one time
            seen.append((start, threading.get_ident()))

    def slowly():  # a generator that a second thread may not enter meanwhile
        for k in range(40):
            time.sleep(1e-3)
            yield k, None

    takers = fold(slowly(), Taker, 2)
    assert len(takers) == 2
    assert sorted(start for start, _ in seen) == list(range(40))
    assert len({thread for _, thread in seen}) == 2


def test_an_error_while_reading_reaches_the_caller():
    def blocks():
        yield 0, None
        raise OSError("the disk is gone")

    class Taker:
        def take(self, start, block):
            pass

    with pytest.raises(OSError, match="the disk is gone"):
        fold(blocks(), Taker, 3)


def test_what_is_not_finite_is_noticed_by_any_worker():
    points = np.ones((300_000, 4))
    points[299_999, 2] = np.nan
    with pytest.raises(ValueError, match="found NaN in row 299999, column 2"):
        minimum_enclosing_ball(points, workers=3)


def test_the_workers_that_are_told(monkeypatch):
    cores = len(os.sched_getaffinity(0))
    monkeypatch.setattr(passes.config, "NUMBA_NUM_THREADS", 64)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert check_workers(None) == cores
    monkeypatch.setenv("OMP_NUM_THREADS", "1,4")
    assert check_workers(None) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "900")
    assert check_workers(None) == cores
    for senseless in ("0", "-1", "many", ""):
        monkeypatch.setenv("OMP_NUM_THREADS", senseless)
        assert check_workers(None) == cores
    monkeypatch.setenv("OMP_NUM_THREADS", " 3 ,1")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(5 - process))
    assert check_workers(None) == 3
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert check_workers(None) == 5
    monkeypatch.delattr(os, "sched_getaffinity")
    for told, expected in ((7, 7), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda told=told: told)
        assert check_workers(None) == expected
    monkeypatch.setattr(passes.config, "NUMBA_NUM_THREADS", 1)
    assert check_workers(None) == 1 == check_workers(1)
    assert check_workers(5) == 5
    assert check_workers(5, large=False) == 1


@pytest.mark.parametrize(
    "workers, kind", [(0, ValueError), (1.5, TypeError), ("2", TypeError)]
)
def test_workers_that_make_no_sense(workers, kind):
    with pytest.raises(kind, match="workers must be"):
        minimum_enclosing_ball([[0.0], [1.0]], workers=workers)


def test_several_threads_of_python_may_solve_at_once():
    points = np.random.default_rng(0).standard_normal((150_000, 8))
    expected = minimum_enclosing_ball(points, workers=1)
    balls = [None] * 4

    def solve(k):
        balls[k] = minimum_enclosing_ball(points, workers=2)

    threads = [threading.Thread(target=solve, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ball in balls:
        same(ball, expected)


# --- work space that is kept between calls -------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_kept_work_space_changes_no_bit(kind, monkeypatch):
    for seed in range(4):
        points = draw(kind, seed)
        monkeypatch.setattr(exact, "_spare", {})
        fresh = minimum_enclosing_ball(points)
        same(minimum_enclosing_ball(points), fresh)
        for work in exact._spare.values():
            for part in work:  # whoever reads what was left there notices
                part[...] = -1 if part.dtype == np.int64 else np.nan
        same(minimum_enclosing_ball(points), fresh)


def test_a_ball_outlives_the_next_call_of_its_shape():
    clouds = np.random.default_rng(0).standard_normal((2, 50, 3))
    ball = minimum_enclosing_ball(clouds[0])
    inside = exact._core_ball(clouds[0], 1.0, None, 8, 1e-12, 1000)
    (work,) = exact._spare.values()
    for field in (*inside[:3], ball.center, ball.weights, ball.support):
        assert not any(np.shares_memory(field, part) for part in work)
    minimum_enclosing_ball(clouds[1])
    same(ball, minimum_enclosing_ball(clouds[0]))
    minimum_enclosing_ball(clouds[0][:40])
    assert len(exact._spare) == 1


def test_nobody_else_has_the_work_space_of_a_call(monkeypatch):
    points = np.random.default_rng(0).standard_normal((50, 3))
    minimum_enclosing_ball(points)
    rounds, kept = exact._rounds, []

    def spied(*arguments):
        kept.append(len(exact._spare))
        return rounds(*arguments)

    monkeypatch.setattr(exact, "_rounds", spied)
    minimum_enclosing_ball(points)
    assert kept == [0] and len(exact._spare) == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_block_with_an_error_is_named_whoever_is_faster(workers):
    failed, seen = threading.Event(), []

    def take(start, block):
        seen.append(start)
        if start == 1 and workers == 2:
            failed.wait(60)  # the block behind it fails first
        if start in (1, 2):
            failed.set()
            raise ValueError(f"block {start}")

    with pytest.raises(ValueError, match="block 1"):
        passes.share_out(((k, None) for k in range(100)), take, workers)
    assert sorted(seen) == list(range(workers + 1))  # and none is read after that


def test_no_block_is_asked_for_once_there_is_an_error():
    failed, seen = threading.Event(), []

    def take(start, block):
        seen.append(start)
        if start == 1:
            failed.set()
            raise ValueError("block 1")
        if start == 0:
            failed.wait(60)
        else:
            time.sleep(0.01)  # the error has ten seconds to be written down

    with pytest.raises(ValueError, match="block 1"):
        passes.share_out(((k, None) for k in range(1000)), take, 2)
    assert len(seen) < 1000


def test_an_error_of_the_blocks_themselves_is_raised():
    def blocks():
        yield 0, None
        raise ValueError("block 1 is not to be read")

    with pytest.raises(ValueError, match="block 1 is not to be read"):
        passes.share_out(blocks(), lambda start, block: None, 3)
