"""What notebook 17 measures of the exact ball, and its pictures."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from mebnb import minimum_enclosing_ball, plots
from mebnb.experiments import exact_ball as study
from mebnb.experiments.sets import normal_cloud, sphere_cloud
from mebnb.report.folding import show_folded
from mebnb.solvers import plain, plain_balls
from mebnb.solvers.balls import enclosing_radius

PLANE = normal_cloud(24, 2, 5)


def test_watching_counts_stops_and_puts_back():
    before = plain_balls.ball_through, plain.uphill
    with study.watching(1000) as seen:
        ball = plain_balls.pivoting(PLANE)
        plain.minimum_enclosing_ball(PLANE, 1e-12)
    balls = [found for found in seen if isinstance(found, plain_balls.Ball)]
    assert balls[0].support == [0] and balls[-1].square <= ball.square
    assert len(seen) > len(balls) > 3
    with pytest.raises(study.TooManyBalls), study.watching(2) as seen:
        plain_balls.pivoting(PLANE)
    assert len(seen) == 2
    assert (plain_balls.ball_through, plain.uphill) == before


def test_balls_are_counted_up_to_the_limit():
    counts = study.balls_counted([2, 6], 30, 1, 40)
    assert list(counts) == list(study.METHODS) and list(counts.index) == [2, 6]
    assert counts.loc[6, "welzl"] == 40
    assert 1 < counts.loc[6, "walking_center"] < 40


def test_a_prefix_ball_grows_through_the_row_that_was_outside():
    grown = study.prefix_balls(PLANE)
    assert len(grown) > 3
    for row, before, after in grown:
        assert before.radius < after.radius
        assert math.dist(PLANE[row], after.center) == pytest.approx(after.radius)
        assert math.dist(PLANE[row], before.center) > before.radius
    assert grown[-1].after.radius == pytest.approx(minimum_enclosing_ball(PLANE).radius)


def test_core_set_rounds_grow_to_the_exact_ball():
    rounds = study.core_set_rounds(PLANE)
    radii = [ball.radius for ball, _, _ in rounds]
    assert len(rounds) > 2 and np.all(np.diff(radii) > 0)
    for ball, support, _ in rounds:
        assert enclosing_radius(PLANE[support], ball.center) <= ball.radius * (1 + 1e-9)
    assert radii[-1] == pytest.approx(minimum_enclosing_ball(PLANE).radius)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_sampling_keeps_to_clarksons_bound(n):
    counts = study.sampling_counts(normal_cloud(400, n, 3), [n + 2, 30, 150], 80, 1)
    assert (counts["outside"] > 0).all()
    assert (counts["outside"] <= counts["bound"] + 4 * counts["error"]).all()
    # By the rows that every support holds it is the mean itself.
    near = (counts["outside"] - counts["by needed"]).abs()
    assert (near <= 5 * counts["error"]).all()
    assert (counts["by needed"] <= counts["bound"] * (1 + 1e-12)).all()


def test_needed_rows_are_in_every_support():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert study.needed_rows(square) == []
    assert study.needed_rows(square[:3]) == [1, 2]
    assert study.needed_rows(square[[0, 1, 2, 1]]) == [2]
    assert study.needed_rows(square[[0, 0]]) == []


def test_best_sample_balances_both_parts():
    r, rows = study.best_sample(10_000, 4)
    assert rows == r + 5 * (10_000 - r) / (r + 1)
    assert r == round(study.balanced_sample(10_000, 4))
    assert r == pytest.approx(5 * (10_000 - r) / (r + 1), rel=0.05)
    for other in (r - 1, r + 1):
        assert other + 5 * (10_000 - other) / (other + 1) >= rows


def test_looks_and_rows_let_go():
    points = normal_cloud(300, 2, 123)
    _, looks = plain_balls.sampling_ball(points, 10)
    table = study.looks_table(looks)
    assert list(table["stop"]) == [False] * (len(looks) - 1) + [True]
    assert (table["shift"] <= table["at most"] + 1e-12).all()
    assert study.let_go(points, looks) <= table["inner + shift"].iloc[-1]
    _, all_kept = plain_balls.sampling_ball(points[:8], 8)
    assert study.let_go(points[:8], all_kept) == 0.0


def test_inner_alone_does_not_stop_in_time():
    points, look = study.too_soon(30, 1)
    assert look.inner <= look.new.radius < enclosing_radius(points, look.new.center)
    assert look.inner + look.shift > look.new.radius


def test_rows_that_no_support_holds():
    points = normal_cloud(500, 3, 2)
    u, _ = plain.frank_wolfe(points, 0.05)
    ruled_out = study.never_support(points, u)
    assert 250 < ruled_out.sum() < 500
    assert not ruled_out[minimum_enclosing_ball(points).support].any()
    assert not study.never_support(points, np.eye(500)[0]).any()


def test_a_row_of_the_support_is_never_ruled_out():
    for seed in range(40):
        points = np.random.default_rng(seed).normal(size=(12, 2))
        for u in np.random.default_rng(seed).dirichlet(np.ones(12), size=5):
            ruled_out = study.never_support(points, u)
            assert not ruled_out[minimum_enclosing_ball(points).support].any()


def test_failures_tell_what_happens():
    kinds = ["normal, 20 x 3", "offset 1e8, 20 x 3", "unit vectors, 16 x 16"]
    kinds += ["a full stack, n = 2"]
    clouds = {kind: study.CLOUDS[kind] for kind in kinds}
    table = study.failures(clouds, study.METHODS, 2, 1, 100)
    assert table.loc[kinds[0], "walking_center"] == "right"
    assert table.loc[kinds[1], "pivoting"] == "stopped"
    assert table.loc[kinds[2], "move_to_front"] == "stopped"
    assert table.loc[kinds[3], "welzl"] == "too deep"
    assert set(table["exact ball"]) == {"right"}
    assert not table["verify"].str.contains("failed").any()
    assert table.loc[kinds[0], "verify"] == "passed"


def test_a_wrong_center_is_called_wrong(monkeypatch):
    off = plain_balls.Ball(np.full(3, 0.01), 1.0, [0], np.ones(1))
    monkeypatch.setitem(study.METHODS, "pivoting", lambda points: off)
    clouds = {"one": lambda rng: sphere_cloud(20, 3, rng)}
    assert study.failures(clouds, ["pivoting"], 1, 0, 10).iloc[0, 0] == "wrong"


def test_without_slack_pivoting_stops_and_the_slack_is_put_back():
    clouds = {"one": study.CLOUDS["offset 1e4, 20 x 3"]}
    tried = [
        study.failures(clouds, ["pivoting"], 3, 123, 200, **slack).iloc[0, 0]
        for slack in ({"slack": 0.0}, {})
    ]
    assert tried == ["stopped", "right"]
    assert plain_balls.SLACK == 1e-12


def test_an_offset_costs_the_digits_of_the_center_and_not_of_the_bound():
    table = study.offset_table(normal_cloud(40, 3, 1), [0, 1e8, 1e12])
    assert list(table.index) == ["0", "1e+08", "1e+12"]
    assert table["gap within it"].all()
    assert table["lower bound right to 1e-12"].all()
    assert table.loc["0", "verify"] == "passed"
    assert table.loc["1e+12", "verify"] == "cannot certify"
    squares = list(table["the same from squares"])
    assert squares == ["right to 1e-6", "off by over 1 %", "off by over 1 %"]


def test_seconds_tells_a_time_or_why_not():
    assert study.seconds(plain_balls.pivoting, PLANE, runs=1).endswith(" ms")

    def endless(points):
        while True:
            plain_balls.ball_through(points, [0])

    def deep(points):
        return deep(points)

    assert study.seconds(endless, PLANE) == "over 2000 balls"
    assert study.seconds(deep, PLANE) == "too deep"


def test_pictures_have_their_panels_and_a_legend():
    ball = (np.zeros(2), 1.0)
    scenes = [
        plots.Scene("one", {"ball": ball}, ringed=[0, 1]),
        plots.Scene("two", {"ball": ball}, [0], [2], [0, 1, 2], [PLANE[0], PLANE[1]]),
    ]
    fig = plots.scenes_2d(PLANE, scenes, ringed="support")
    first, second = fig.axes
    assert [ax.get_title() for ax in fig.axes] == ["one", "two"]
    assert first.get_xlim() == second.get_xlim()
    told = {text.get_text() for text in fig.legends[0].get_texts()}
    assert told == {
        *("rows", "others", "ball", "support", "outside", "path of the center")
    }
    fig = plots.balls_tried_2d(PLANE, {"m": [ball, (np.ones(2), 2.0)]})
    assert len(fig.axes[0].patches) == 2
    plt.close("all")


def test_a_folded_table_is_one_closed_element_with_its_numbers(monkeypatch):
    shown = []
    monkeypatch.setattr(
        "IPython.display.display", lambda data, raw: shown.append(data) or raw
    )
    show_folded(pd.DataFrame({"a $": [7]}), summary="See < this")
    html, text = shown[0]["text/html"], shown[0]["text/plain"]
    assert html.startswith("<details><summary>See &#60; this</summary><table")
    assert html.endswith("</table></details>") and "$" not in html
    assert text.split() == ["a", "$", "0", "7"]
