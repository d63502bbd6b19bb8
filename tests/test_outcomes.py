"""The documents' core-set algorithms line by line, and the pictures of core sets."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest

from mebnb import away_step, core_set, frank_wolfe, minimum_enclosing_ball, plots
from mebnb.documents.outcomes import (
    compare_iterates,
    meb_a_outcomes,
    report_core_set_iterates,
    slides_meb_a_iterates,
)
from mebnb.documents.readings import CONCAVE, CONVEX, phi_readings
from mebnb.experiments.published_splits import report_gaussian, report_uniform
from mebnb.experiments.sets import normal_cloud
from mebnb.plots import plane

KITE = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 2.5], [3.0, -2.6]])
CLOUD = normal_cloud(60, 2, 123)
RELATIVE = {"start": "pair", "gap": "relative", "tol": 0.001 * 2.001}


def test_every_wrong_line_of_the_slides_fails_on_the_kite():
    table = meb_a_outcomes([KITE])
    assert table.loc["all lines corrected", "right ball"] == 1
    printed = table.drop(index="all lines corrected")
    assert len(printed) == 6 and (printed["right ball"] == 0).all()
    assert table.loc["S-A4-c0 as printed", "wrong ball"] == 1
    assert table.loc["S-A4-c0 as printed", "worst"] == pytest.approx(1.586, abs=1e-3)
    assert table.loc["S-A4-X0 as printed", "does not end"] == 1
    assert table.loc["S-A4-plus as printed", "cannot run"] == 1


def test_algorithm_1_has_a_reading_of_phi_and_algorithm_2_has_none():
    table = phi_readings()
    first, second = table.loc["Algorithm 1"], table.loc["Algorithm 2"]
    assert set(first[CONVEX]) == {"holds"} and set(first[CONCAVE]) == {"fails"}
    assert set(second.loc["whole", [CONCAVE, CONVEX]]) == {"fails"}
    lines = second.drop(index="whole")
    assert ((lines[CONCAVE] == "holds") != (lines[CONVEX] == "holds")).all()
    assert list(lines.index[lines[CONCAVE] == "holds"]) == ["4", "5", "9"]


def test_outcomes_count_every_cloud():
    clouds = [normal_cloud(6, 2, seed) for seed in range(4)]
    table = meb_a_outcomes(clouds, eps=0.01, limit=50)
    assert (table.drop(columns="worst").sum(axis=1) == 4).all()


def test_first_algorithm_is_frank_wolfe_from_the_pair():
    states = []
    frank_wolfe(CLOUD, **RELATIVE, max_iter=99, callback=states.append)
    literal = report_core_set_iterates(CLOUD, eps=0.001, limit=100)
    seen = compare_iterates(CLOUD, literal, states)
    assert len(seen) == 100 and not seen["tie"].any()
    assert seen["apart"].max() < 1e-12


def test_second_algorithm_is_away_step_from_the_pair():
    states = []
    away_step(CLOUD, **RELATIVE, callback=states.append)
    literal = slides_meb_a_iterates(CLOUD, eps=0.001)
    seen = compare_iterates(CLOUD, literal, states, away=True)
    assert not seen["tie"].any() and seen["apart"].max() < 1e-12
    names = {"FW": "plus", "away": "minus"}
    assert list(seen["solver"].replace(names)) == list(seen["literal"])
    assert "drop" in set(seen["literal"])


def test_a_wrong_start_is_seen():
    states = []
    frank_wolfe(CLOUD, start="first", tol=0.0, max_iter=9, callback=states.append)
    literal = report_core_set_iterates(CLOUD, eps=0.001, limit=10)
    assert compare_iterates(CLOUD, literal, states)["apart"].min() > 1e-6


def test_ties_are_told():
    states = []
    frank_wolfe(np.eye(4), start="pair", tol=0.0, max_iter=2, callback=states.append)
    literal = report_core_set_iterates(np.eye(4), eps=1e-9, limit=3)
    seen = compare_iterates(np.eye(4), literal, states)
    assert seen["tie"].iloc[0]


# --- pictures ------------------------------------------------------------------------


@pytest.mark.parametrize("away", [False, True])
def test_ends_of_plus_and_minus_steps(away):
    states = []
    core_set(CLOUD, eps=0.001, away=away, max_iter=40, callback=states.append)
    for now, then in itertools.pairwise(states):
        towards, gone = plane._ends(now, then)
        if then.kind == "plus":
            assert (towards, gone) == (now.farthest, None)
        else:
            assert towards is None and gone in now.support


def test_core_set_pictures_are_drawn():
    ball = minimum_enclosing_ball(CLOUD)
    circles = {
        name: (ball.center, share * ball.radius)
        for name, share in (("ball", 1.0), ("half", 0.5))
    }
    panels = {"a": (CLOUD, ball.support, circles), "b": (CLOUD, [0], {})}
    lines = {"core_set": ([1e-3, 1e-1], [100, 2]), "core_set_away": ([0.1], [2])}
    detectors = {
        make.__name__: (split, minimum_enclosing_ball(split.train))
        for make in (report_uniform, report_gaussian)
        for split in [make(m=80, n=2)]
    }
    figures = [
        plots.circles_2d(panels),
        plots.in_panels({"s": lines}, "eps", "y", guides={"1/eps": lambda e: 1 / e}),
        plots.in_panels({"s": lines}, "eps", {"s": "size"}, yscale="linear"),
        plots.detectors_2d(detectors),
    ]
    assert [len(fig.axes) for fig in figures] == [2, 1, 1, 2]
    for fig in figures:
        fig.canvas.draw()
        plt.close(fig)
