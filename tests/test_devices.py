"""Arrays on a device: the ball of the same rows in memory, bit for bit."""

import os
import subprocess
import sys

import numpy as np
import pytest

from mebnb import minimum_enclosing_ball
from mebnb.solvers import devices, exact
from mebnb.solvers.devices import DeviceRows, on_a_device
from mebnb.solvers.passes import Rows, farthest_rows
from tests.test_workers import KINDS, as_large, draw, same  # noqa: F401 (a fixture)

xp = pytest.importorskip("array_api_strict")
pytest.importorskip("array_api_compat")
try:
    import torch
except ImportError:
    torch = None

DEVICE = xp.Device("device1")


def strict(points, device=DEVICE):
    return xp.asarray(np.array(points), device=device)


def in_torch(points):
    if torch is None:
        pytest.skip("needs PyTorch")
    return torch.from_numpy(np.array(points))


LIBRARIES = {"array-api-strict": strict, "torch": in_torch}


@pytest.fixture
def elsewhere(monkeypatch):
    """Arrays of the libraries count as lying on a device, in small pieces."""
    ours = (xp.asarray([0.0]).__class__, *([torch.Tensor] if torch else []))
    monkeypatch.setattr(exact, "on_a_device", lambda points: isinstance(points, ours))
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
            expected = minimum_enclosing_ball(points)
            same(minimum_enclosing_ball(LIBRARIES[library](points)), expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_small_and_wide_arrays_are_copied(elsewhere, library):
    points = np.random.default_rng(0).normal(size=(30, 40))
    ball = minimum_enclosing_ball(LIBRARIES[library](points))
    same(ball, minimum_enclosing_ball(points))
