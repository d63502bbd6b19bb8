"""Arrays on a device: the ball of the same rows in memory, bit for bit."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

from mebnb import minimum_enclosing_ball
from mebnb.solvers import balls, devices, exact
from mebnb.solvers.devices import DeviceRows, on_a_device
from mebnb.solvers.passes import Rows, farthest_rows
from tests.test_workers import KINDS, as_large, draw, same  # noqa: F401 (a fixture)

xp = pytest.importorskip("array_api_strict")
pytest.importorskip("array_api_compat")
try:
    import torch
except ImportError:
    torch = None


def strict(points, device="device1"):
    return xp.asarray(np.array(points), device=xp.Device(device))


def in_torch(points):
    if torch is None:
        pytest.skip("PyTorch is not installed")
    return torch.from_numpy(np.array(points))


LIBRARIES = {"array-api-strict": strict, "PyTorch": in_torch}


@pytest.fixture
def elsewhere(monkeypatch):
    """Arrays of these libraries count as lying on a device, and come in small pieces."""
    ours = type(strict([0.0])), *([torch.Tensor] if torch else [])
    for module in (balls, exact):
        monkeypatch.setattr(module, "on_a_device", lambda x: isinstance(x, ours))
    monkeypatch.setattr(devices, "COPIED_ENTRIES", 1000)
    monkeypatch.setattr(devices, "HOST_ENTRIES", 100)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 28), marks=pytest.mark.large)]
)
def test_a_device_gives_the_ball_of_the_array(
    as_large,  # noqa: F811
    elsewhere,
    library,
    kind,
    seeds,
):
    for seed in seeds:
        for dtype in (np.float64, np.float32):
            points = draw(kind, seed).astype(dtype)
            ball = minimum_enclosing_ball(LIBRARIES[library](points))
            same(ball, minimum_enclosing_ball(points))


@pytest.mark.parametrize("library", LIBRARIES)
def test_small_and_wide_arrays_are_copied(elsewhere, library):
    points = np.random.default_rng(0).normal(size=(30, 40))
    ball = minimum_enclosing_ball(LIBRARIES[library](points))
    same(ball, minimum_enclosing_ball(points))


def test_half_precision_is_read_as_the_numbers_that_it_holds(as_large, elsewhere):  # noqa: F811
    points = draw("normal", 1).astype(np.float16)
    same(minimum_enclosing_ball(in_torch(points)), minimum_enclosing_ball(points))


@pytest.mark.parametrize("kind", ["normal", "whole numbers", "sphere", "repeats"])
def test_the_last_bits_of_a_device_change_nothing(
    as_large,  # noqa: F811
    elsewhere,
    kind,
    monkeypatch,
):
    sums, rng = devices._NamespaceArray._squared, np.random.default_rng(0)

    def rough(self, start, stop, *rest):
        squared = np.from_dlpack(sums(self, start, stop, *rest))
        off = np.random.default_rng(start).uniform(-1, 1, squared.size)
        return strict(squared * (1.0 + off * self.shape[1] * devices.EPS))

    monkeypatch.setattr(devices._NamespaceArray, "_squared", rough)
    for seed in range(3):
        points = draw(kind, seed)
        same(minimum_enclosing_ball(strict(points)), minimum_enclosing_ball(points))
        # Cuts just below a row, on one and beyond all, and shells that overflow.
        center = rng.integers(-1, 2, points.shape[1]) / 2 if seed else 0.0 * points[0]
        every = farthest_rows(Rows(points), center, 1.0, len(points), -1.0).squared
        middle = np.sort(every)[len(points) // 2]
        for cut in (0.0, np.nextafter(middle, 0.0), middle, np.inf):
            for most in (1, 20):
                there = farthest_rows(
                    DeviceRows(strict(points)), center, 1.0, most, cut
                )
                here = farthest_rows(Rows(points), center, 1.0, most, cut)
                for name in ("rows", "squared", "inner"):
                    one, other = getattr(there, name), getattr(here, name)
                    np.testing.assert_array_equal(one, other)
                np.testing.assert_array_equal(there.values, points[there.rows])


def test_few_rows_come_to_the_host(elsewhere, monkeypatch):
    points, copied = np.random.default_rng(3).normal(size=(60_000, 20)), []
    gather = devices._NamespaceArray.gather
    monkeypatch.setattr(
        devices._NamespaceArray,
        "gather",
        lambda self, rows: [copied.append(len(rows)), gather(self, rows)][1],
    )
    same(minimum_enclosing_ball(strict(points)), minimum_enclosing_ball(points))
    assert 0 < sum(copied) < 60_000 / 8


def test_what_is_not_finite_is_named(as_large, elsewhere):  # noqa: F811
    points = draw("normal", 1)
    for value, word in ((np.nan, "NaN"), (-np.inf, "infinity")):
        points[33, 0] = value
        with pytest.raises(ValueError, match=f"points.* must be finite, found {word}"):
            minimum_enclosing_ball(strict(points))


def test_arrays_that_cannot_be_read_on_their_device(elsewhere):
    for points in (np.ones(3), np.ones((0, 2)), np.ones((3, 0)), np.ones((2, 2, 2))):
        with pytest.raises(
            ValueError, match=r"^points must have two dimensions.*\(.*\)"
        ):
            minimum_enclosing_ball(strict(points))
    with pytest.raises(TypeError, match="must hold real floating numbers, found .*int"):
        minimum_enclosing_ball(strict(np.ones((3, 2), int)))
    with pytest.raises(TypeError, match="found .*complex"):
        minimum_enclosing_ball(strict(np.ones((3, 2), complex)))
    if "no_float64" in str(xp.__array_namespace_info__().devices()):
        short = strict(np.ones((3, 2), np.float32), "no_float64")
        with pytest.raises(TypeError, match="that computes in float64, found"):
            minimum_enclosing_ball(short)


def test_without_the_package_the_array_is_to_be_copied(elsewhere, monkeypatch):
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(TypeError, match="must be on the CPU, .*copy .*mebnb.gpu"):
        minimum_enclosing_ball(strict(np.ones((3, 2))))


def test_distances_stay_on_the_device(elsewhere):
    points = draw("normal", 2)
    ball = minimum_enclosing_ball(points)
    there = ball.distances(strict(points))
    assert there.device == xp.Device("device1") and there.dtype == xp.float64
    here = ball.distances(points)
    np.testing.assert_allclose(np.from_dlpack(there), here, rtol=1e-14)
    told = f"must have {points.shape[1]} columns, found {points.shape[1] + 1}"
    with pytest.raises(ValueError, match=told):
        ball.distances(strict(np.ones((4, points.shape[1] + 1))))


class Spoken:
    """An array that says where it lives."""

    def __init__(self, kind):
        self.kind = kind

    def __dlpack_device__(self):
        return self.kind, 0


def test_where_an_array_lives():
    assert on_a_device(Spoken(2)) and on_a_device(Spoken(8))
    for here in (Spoken(1), np.ones(3), [[1.0]], "file.npy"):
        assert not on_a_device(here)


def test_rows_between_two_numbers_by_hand():
    points = np.array([[9.0, 9.0], [3.0, 4.0], [0.0, 1.0], [0.0, 2.0], [1.0, 0.0]])
    array = devices._NamespaceArray(strict(points))

    def sift(low, high, scale=1.0, start=1, shift=0.0):
        center = array.hosted(np.full(2, shift))
        rows, rest = array.sift(start, 5, center, scale, low, high)
        return rows.tolist(), rest

    # Squared distances from 0 of the last four: 25, 1, 4, 1.
    assert sift(1.0, 25.0) == ([1, 3], 1.0)
    assert sift(0.5, 24.0) == ([2, 3, 4], 0.0)
    assert sift(4.0, np.inf, scale=2.0) == ([1, 3], 4.0)
    assert sift(1.0, np.inf, scale=0.5, start=2) == ([], 1.0)
    # From (1, 1) they are 13, 1, 2 and 1.
    assert sift(1.0, 12.0, shift=1.0) == ([3], 1.0)
    for bad in (np.nan, np.inf, -np.inf):
        points[3, 0] = bad
        array = devices._NamespaceArray(strict(points))
        assert sift(1.0, 25.0)[1] == np.inf


def test_pieces_of_rows():
    assert devices._pieces(7, 3) == [(0, 3), (3, 6), (6, 7)]
    assert devices._pieces(2, 0) == [(0, 1), (1, 2)]
    assert devices._pieces(0, 3) == []


def test_what_is_read_of_an_array_and_how_far_sums_may_differ(elsewhere):
    points = np.random.default_rng(4).normal(size=(40, 5))
    rows = DeviceRows(strict(points))
    assert rows.slack == 4.0 * 9 * devices.EPS
    values, part = rows.gather([30, 7, 7])
    np.testing.assert_array_equal(values, points[[30, 7, 7]])
    assert part == 3 / 40
    np.testing.assert_array_equal(rows.whole(), points)
    blocks = list(rows.blocks())
    np.testing.assert_array_equal(np.vstack([b for _, b in blocks]), points)
    assert [start for start, _ in blocks] == [0, 20]


@pytest.mark.parametrize(
    ("kind", "there", "read"),
    [
        ("<f4", True, "card"),
        ("<f8", True, "card"),
        ("<f2", True, ""),
        ("<f8", False, ""),
    ],
)
def test_a_kernel_of_ours_reads_what_it_can(kind, there, read, monkeypatch):
    from numba import cuda

    class Card:
        shape = (3, 2)
        __cuda_array_interface__ = {"typestr": kind}

    monkeypatch.setattr(cuda, "is_available", lambda: there)
    monkeypatch.setattr("mebnb.solvers.cuda.CardArray", lambda points, shape: "card")
    monkeypatch.setattr(devices, "_NamespaceArray", lambda points: "")
    assert devices._reader(Card()) == read
    assert on_a_device(Card())


PROGRAM = """
import numpy as np
from numba import cuda
from mebnb import minimum_enclosing_ball
from mebnb.solvers import cuda as card, devices, exact
from tests.test_workers import KINDS, same

class OnCard:
    def __init__(self, points):
        self.array, self.shape = cuda.to_device(points), points.shape
        self.__cuda_array_interface__ = {"typestr": points.dtype.str}

cuda.as_cuda_array = lambda points: points.array
card.THREADS, card.LEAST_BLOCKS, card.MOST_BLOCKS = 32, 1, 2
for n in (1, 9, 300):
    points = np.random.default_rng(n).integers(-9, 9, (21, n)).astype(np.float32)
    there = devices.DeviceRows(OnCard(points)).array
    center = np.arange(n) % 5 / 2.0
    squared = ((points / 2.0 - center) ** 2).sum(axis=1)
    low, high = np.sort(squared)[[6, 17]]
    rows, rest = there.sift(2, 21, there.hosted(center), 0.5, low, high)
    inside = (squared > low) & (squared <= high)
    assert rows.tolist() == [i for i in range(2, 21) if inside[i]], n
    assert rest == squared[2:][squared[2:] <= low].max(), n
    np.testing.assert_array_equal(there.gather(np.array([20, 3])), points[[20, 3]])
    for bad in (np.nan, np.inf):
        points[5, n // 2] = bad
        there = devices.DeviceRows(OnCard(points)).array
        assert there.sift(0, 21, there.hosted(center), 0.5, low, high)[1] == np.inf
exact.SMALL, exact.SPARSE, exact.SHELL_BYTES = 0, 1, 1
card.CARD_ENTRIES, devices.HOST_ENTRIES = 100, 40
for kind in ("normal", "repeats"):
    for dtype in (np.float32, np.float64):
        points = KINDS[kind](np.random.default_rng(0), 40, 2).astype(dtype)
        same(minimum_enclosing_ball(OnCard(points)), minimum_enclosing_ball(points))
print("all the same")
"""


@pytest.mark.skipif(
    importlib.util.find_spec("numba.cuda") is None, reason="needs numba-cuda"
)
def test_the_kernel_on_a_simulated_card_gives_the_ball_of_the_array():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
    )
    assert "all the same" in done.stdout, done.stderr
