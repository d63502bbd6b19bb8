"""The benchmark's harness: limits, marks and bounds. Nothing here is about speed."""

import json
import math
import sys

import numpy as np
import pandas as pd
import pytest

from benchmarks import frank_wolfe
from benchmarks.cases import CASES, Case, NotHere, select
from benchmarks.limits import MATRIX_BYTES, Outcome, watch
from benchmarks.run import WRITTEN, lines_of, measure_case, not_started, write
from benchmarks.solvers import SOLVERS, Answer, by_name, farthest_distance
from benchmarks.verdicts import OURS, check_bounds, judge
from benchmarks.worker import checked, measure
from mebnb import away_step

SQUARE = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]])


LOW = [(m, n) for m in (10**6, 10**7) for n in (2, 3)]


# --- cases and solvers -------------------------------------------------------------


def test_the_grid_is_the_one_that_was_asked_for():
    normal = {(c.m, c.n) for c in CASES if c.kind == "normal"}
    asked = {
        (m, n) for m in (10**3, 10**4, 10**5, 10**6) for n in (2, 3, 10, 30, 100)
    } | {(1000, 1000), (10_000, 1000), (100, 10_000), (800, 20_000)}
    asked |= {(10**7, 2), (10**7, 3)}
    assert normal == asked
    assert {c.name for c in CASES if c.kind != "normal"} == {
        *("uniform:8000x15", "sphere:10000x3", "sphere:10000x10", "sphere:10000x100"),
        *("simplex:1000x1000", "duplicates:10000x10", "thin:10000x10"),
        *("offset:10000x10", "cauchy:10000x10", "collinear:10000x3"),
        *("cube:1024x10", "churn:1327x13"),
        *(f"{kind}:{m}x{n}" for kind in ("sphere", "ball") for m, n in LOW),
    }


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if c.m * c.n <= 200_000 and c.kind != "churn"],
    ids=lambda case: case.name,
)
def test_points_are_the_same_every_time(case):
    points = case.points()
    assert points.shape == (case.m, case.n)
    assert points.dtype == np.float64 and points.flags.c_contiguous
    np.testing.assert_array_equal(points, case.points())


def test_points_in_a_ball_fill_it_evenly():
    points = next(c for c in CASES if c.name == "ball:1000000x3").points()
    lengths = np.linalg.norm(points, axis=1)
    assert lengths.max() <= 1.0
    # Half of the radius holds an eighth of the volume.
    assert (lengths <= 0.5).mean() == pytest.approx(1 / 8, abs=2e-3)


def test_clouds_are_what_their_names_say():
    cases = {
        case.kind: case.points()
        for case in CASES
        if case.m <= 10_000
        and (
            case.kind in ("cube", "duplicates", "collinear", "sphere") and case.n <= 10
        )
    }
    assert len(np.unique(cases["cube"], axis=0)) == 1024
    assert np.all(np.unique(cases["duplicates"], axis=0, return_counts=True)[1] == 10)
    centred = cases["collinear"] - cases["collinear"].mean(axis=0)
    singular = np.linalg.svd(centred, compute_uv=False)
    assert singular[1] < 1e-12 * singular[0]
    np.testing.assert_allclose(np.linalg.norm(cases["sphere"], axis=1), 1.0, rtol=1e-14)


def test_churn_without_a_mirror_is_skipped_by_name(monkeypatch):
    monkeypatch.delenv("MEBNB_DATA_MIRROR", raising=False)
    churn = next(case for case in CASES if case.kind == "churn")
    with pytest.raises(NotHere, match="MEBNB_DATA_MIRROR.*iranian_churn"):
        churn.points()


def test_select_takes_patterns_apart_by_commas():
    names = [case.name for case in select(CASES, "normal:1000x[23],cube:*")]
    assert names == ["normal:1000x2", "normal:1000x3", "cube:1024x10"]


def test_farthest_distance_crosses_blocks_and_keeps_nan():
    points = np.zeros((100_000, 2))
    points[70_000] = [3.0, 4.0]
    assert farthest_distance(points, np.zeros(2)) == 5.0
    assert math.isnan(farthest_distance(points, np.array([math.nan, 0.0])))


@pytest.mark.parametrize("name", ["quadprog", "daqp", "piqp_primal", "piqp_dual",
                                  "clarabel_dual", "one_class_svm", "bpcg_gram",
                                  "miniballcpp"])  # fmt: skip
@pytest.mark.parametrize("shape", [(60, 3), (5, 40)], ids=["tall", "wide"])
def test_peers_that_are_installed_agree_with_ours(name, shape):
    solver = by_name(name)
    try:
        call = solver.load()
    except ImportError:
        pytest.skip(f"{name} comes with the extra `bench`")
    # Far from the origin, where a program posed without centring would fail.
    points = np.random.default_rng(7).normal(1e4, 2.0, shape)
    ours = away_step(points, gap="relative", tol=1e-10, max_iter=10_000, trace=False)
    answer = call(points)
    assert answer.radius == pytest.approx(ours.lower_bound, rel=1e-6)
    assert farthest_distance(points, answer.center) <= answer.radius * (1 + 1e-6)


# --- limits ------------------------------------------------------------------------


def script(*events, then=""):
    """A worker that says these events and then does something."""
    says = "".join(f"print({json.dumps(e)!r}, flush=True);" for e in events)
    return [sys.executable, "-S", "-c", says + then]


SLEEP = "import time; time.sleep(600)"


def test_watch_returns_what_the_worker_measured():
    events = [{"event": "ready"}, {"event": "second", "extra_bytes": 5}]
    outcome = watch(script(*events, {"event": "done", "radius": 1.5}))
    assert outcome == Outcome("done", "", {"extra_bytes": 5, "radius": 1.5})


@pytest.mark.parametrize("stage", ["ready", "first"])
def test_a_call_over_its_time_is_killed_and_marked(stage):
    outcome = watch(script({"event": stage}, then=SLEEP), call_seconds=0.05)
    assert outcome.status == "time"
    assert outcome.note == "a call took more than 0.05 s"


def test_a_slow_check_is_not_charged_to_the_solver():
    outcome = watch(script({"event": "timed"}, then=SLEEP), aside_seconds=0.5)
    assert outcome.status == "error"
    assert outcome.note == "the stage after 'timed' took more than 0.5 s"


def test_a_worker_that_says_why_it_failed_is_believed():
    failed = {"event": "failed", "status": "memory", "note": "too much"}
    assert watch(script(failed)) == Outcome("memory", "too much", {})


@pytest.mark.parametrize(
    ("end", "status", "note"),
    [
        ("import os; os.abort()", "memory", "signal 6"),
        ("import os; os.kill(os.getpid(), 11)", "error", "signal 11"),
        ("raise SystemExit(3)", "error", "code 3"),
    ],
)
def test_a_worker_that_dies_is_marked(end, status, note):
    outcome = watch(script({"event": "ready"}, then=end))
    assert outcome.status == status
    assert note in outcome.note


def test_a_whole_worker_process(tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, SQUARE)
    command = [sys.executable, "-m", "benchmarks.worker", "bpcg_gram", str(path), "4"]
    outcome = watch(command)
    assert outcome.status == "done"
    assert len(outcome.values["times"]) == 4
    assert outcome.values["radius"] == pytest.approx(math.sqrt(2.0), rel=1e-6)


def test_measure_tells_every_stage_and_counts_calls():
    told, calls = [], []

    def call(points):
        calls.append(points)
        return Answer(np.zeros(2), 1.0)

    answer = measure(call, SQUARE, 6, lambda e, **v: told.append((e, v)), calls.append)
    assert [event for event, _ in told] == ["ready", "first", "second", "timed"]
    timed = told[-1][1]
    assert len(timed["times"]) == len(timed["products"]) == 6
    # One call to warm up and one for the memory, beside those that are timed.
    assert len(calls) == 2 + 2 * 6
    assert answer.radius == 1.0


def test_memory_of_the_second_call_is_seen():
    told = {}

    def call(points):
        np.ones(8 * 2**20).sum()
        return Answer(np.zeros(2), 1.0)

    measure(call, SQUARE, 1, lambda event, **values: told.update(values))
    if math.isnan(told["extra_bytes"]):
        pytest.skip("this system does not tell a process's peak")
    assert 60 * 2**20 < told["extra_bytes"] < 100 * 2**20


def test_an_answer_of_ours_comes_with_its_certificate():
    ball = away_step(SQUARE, tol=1e-12, max_iter=10_000)
    values = checked(Answer(ball.center, ball.radius, ball), SQUARE)
    assert values["verified"] is True
    assert values["lower_bound"] == pytest.approx(math.sqrt(2.0), rel=1e-10)
    assert values["passes"] == ball.passes
    assert "verified" not in checked(Answer(ball.center, ball.radius), SQUARE)


# --- who is started ----------------------------------------------------------------


def cloud(m, n, kind="normal"):
    return Case(kind, m, n, lambda rng, m, n: rng.random((m, n)))


def test_a_matrix_over_the_limit_is_not_started():
    gram = by_name("bpcg_gram")
    most = math.isqrt(MATRIX_BYTES // 8)
    assert not_started(cloud(most, 2), gram, {}) is None
    outcome = not_started(cloud(100_000, 2), gram, {})
    assert (outcome.status, outcome.note) == (
        "matrix",
        "not started: a matrix of 75 GiB",
    )


def test_out_of_time_on_a_smaller_cloud_of_the_kind_is_enough():
    late = {"miniball": [cloud(1000, 30)], "quadprog": [cloud(1000, 30)]}
    miniball = by_name("miniball")
    outcome = not_started(cloud(2000, 30), miniball, late)
    assert outcome.note == "not started: out of time at normal:1000x30"
    assert not_started(cloud(2000, 10), miniball, late) is None
    assert not_started(cloud(2000, 30, "sphere"), miniball, late) is None
    # The peers that matter most are always asked.
    assert not_started(cloud(2000, 30), by_name("quadprog"), late) is None


def test_the_peers_that_must_be_in_the_table_are_always_started():
    required = {"cyminiball", "miniballcpp", "quadprog", "daqp", OURS}
    assert {solver.name for solver in SOLVERS if solver.always} == required


def test_solvers_that_are_close_take_turns(tmp_path):
    names, seen = (OURS, "cyminiball", "miniballcpp", "cgal"), []
    ms = {OURS: [1.0, 3.0, 2.0], "cyminiball": [2.9, 1.5, 2.5], "miniballcpp": [3.1]}

    def start(solver, path, repeats):
        seen.append(solver.name)
        if solver.name == "cgal":
            return Outcome("error", "no", {})
        time = ms[solver.name][seen.count(solver.name) - 1]
        return Outcome("done", "", {"times": [time / 1e3], "radius": 1.0})

    solvers = [by_name(name) for name in names]
    rows = measure_case(cloud(20, 2), solvers, 1, tmp_path, start, {})
    assert seen == [*names, *2 * names[:2]]
    assert [row["runs"] for row in rows] == [3, 3, 1, 1]
    assert rows[0]["run_ms"] == pytest.approx([1.0, 3.0, 2.0])
    assert [row["median_ms"] for row in rows[:3]] == pytest.approx([2.0, 2.5, 3.1])
    seen.clear()
    measure_case(cloud(20, 2), [*solvers[:1], solvers[2]], 1, tmp_path, start, {})
    assert seen == [OURS, "miniballcpp"]


def test_measure_case_gives_a_row_for_each_solver(tmp_path):
    solvers = [by_name("miniball"), by_name("bpcg_gram")]
    seen, late = [], {}

    def start(solver, path, repeats):
        seen.append((solver.name, np.load(path).shape, repeats))
        if solver.name == "miniball":
            return Outcome("time", "a call took more than 10 s", {})
        return Outcome("done", "", {"times": [0.002, 0.001, 0.004], "radius": 1.0})

    rows = measure_case(cloud(20, 2), solvers, 7, tmp_path, start, late)
    assert seen == [("miniball", (20, 2), 7), ("bpcg_gram", (20, 2), 7)]
    assert [row["status"] for row in rows] == ["time", "done"]
    assert (rows[1]["median_ms"], rows[1]["min_ms"]) == (2.0, 1.0)
    assert [case.name for case in late["miniball"]] == ["normal:20x2"]
    assert not list(tmp_path.iterdir())


# --- marks -------------------------------------------------------------------------


def row(solver, ms, case="normal:10x2", status="done", radius=1.0, **other):
    ours = solver == OURS
    found = {
        "case": case,
        "kind": case.split(":")[0],
        "m": int(case.split(":")[1].split("x")[0]),
        "n": int(case.split("x")[1]),
        "solver": solver,
        "ours": ours,
        "status": status,
        "note": "",
        "median_ms": ms,
        "min_ms": ms,
        "run_ms": [ms],
        "runs": 1,
        "radius": radius,
        "enclosing": radius,
        "lower_bound": 1.0 if ours else math.nan,
        "verified": True if ours else None,
        "gap": 0.0 if ours else math.nan,
        "extra_bytes": 0.0,
        "extra_mib": 0.0,
        "passes": math.nan,
        "product_ms": 1.0 if ours else math.nan,
    }
    return found | other


def judged(*rows):
    return judge(pd.DataFrame(rows)).set_index("solver")


def test_a_right_answer_counts_and_a_wrong_one_does_not():
    table = judged(
        row(OURS, 2.0),
        row("wrong_radius", 0.1, radius=1.0 + 3e-6),
        row("too_small", 0.1, radius=1.0 - 3e-6, enclosing=1.0),
        row("leaves_out", 0.1, enclosing=1.0 + 3e-6),
        row("nan", 0.1, radius=math.nan, enclosing=math.nan),
        row("late", math.nan, status="time", radius=math.nan, enclosing=math.nan),
        row("slow", 8.0),
        row("good", 4.0, radius=1.0 + 1e-9, enclosing=1.0),
    )
    assert dict(table["status"]) == {
        OURS: "right",
        "wrong_radius": "wrong",
        "too_small": "wrong",
        "leaves_out": "wrong",
        "nan": "wrong",
        "late": "time",
        "slow": "right",
        "good": "right",
    }
    assert table.loc[OURS, "ratio"] == 0.5
    assert table.loc["slow", "ratio"] == 2.0
    assert table.loc["leaves_out", "inside"] is False
    assert table.loc["good", "inside"] is True
    assert table.loc["too_small", "outside"] == pytest.approx(3e-6, rel=1e-3)


def test_an_answer_of_ours_that_fails_its_certificate_is_wrong_and_bounds_nothing():
    table = judged(row(OURS, 1.0, verified=False), row("peer", 1.0))
    assert table.loc[OURS, "status"] == "wrong"
    assert table.loc["peer", "status"] == "unchecked"


def test_the_best_lower_bound_is_taken_cloud_by_cloud():
    table = judged(
        row(OURS, 1.0, lower_bound=0.9999),
        row("away_step", 1.0) | {"ours": True, "lower_bound": 1.0, "verified": True},
        row("other_cloud", 1.0, case="normal:20x2", radius=7.0),
    )
    assert list(table["best_lower_bound"].fillna(-1)) == [1.0, 1.0, -1.0]
    # Ours is right by the better bound though its own is poor.
    assert table.loc[OURS, "status"] == "right"


def test_a_ball_of_radius_zero_is_right():
    ours = row(OURS, 1.0, radius=0.0, lower_bound=0.0)
    table = judged(ours, row("peer", 1.0, radius=0.0))
    assert list(table["status"]) == ["right", "right"]


# --- bounds ------------------------------------------------------------------------


def bound(table, start):
    (found,) = [b for b in check_bounds(judge(table)) if b.text.startswith(start)]
    return found


def test_ahead_names_the_clouds_on_which_a_peer_wins():
    table = pd.DataFrame(
        [
            *(row(OURS, 1.0, c) for c in ("normal:1000x30", "normal:10x100")),
            row("peer", 2.0, "normal:1000x30"),
            row("peer", 0.8, "normal:10x100"),
            # A wrong answer wins nothing.
            row("wrong", 0.1, "normal:1000x30", radius=2.0),
        ]
    )
    found = bound(table, "ahead")
    assert found.met is False
    assert found.figure == "1 of 2 clouds: normal:10x100 (0.8)"
    assert str(found).startswith("NOT MET")


def test_ahead_must_hold_in_every_run():
    ours = row(OURS, 1.0) | {"run_ms": [1.0, 0.9, 1.2]}
    near = row("near", 1.3) | {"run_ms": [1.3, 1.5, 1.25]}
    far = row("far", 9.0, status="time")
    table = pd.DataFrame([ours, near, far, row("slow", 1.1, radius=2.0)])
    assert judge(table)["worst_ratio"][0] == 1.2 / 1.25
    assert bound(table, "ahead").met
    other = row("away_step", 9.0, lower_bound=1.0, verified=True) | {"ours": True}
    wrong = pd.DataFrame([ours | {"verified": False}, near, other])
    assert not bound(wrong, "ahead").met
    table.loc[1, "run_ms"][2] = 1.1
    assert bound(table, "ahead").figure == "1 of 1 clouds: normal:10x2 (0.917)"
    assert judge(table)["ratio"][0] == 1.0 / 1.3


def test_a_cloud_that_no_peer_solves_is_won_by_solving_it():
    late = row("peer", math.nan, "normal:10x100", status="time", radius=math.nan)
    won = pd.DataFrame([row(OURS, 1.0, "normal:10x100"), late])
    assert bound(won, "ahead").met is True
    lost = row(OURS, math.nan, "normal:10x100", status="time", radius=math.nan)
    lost |= {"verified": None, "lower_bound": math.nan, "gap": math.nan}
    assert bound(pd.DataFrame([lost, late]), "ahead").met is False
    assert bound(pd.DataFrame([lost, late]), "relative gap <= 1e-12").met is False


def test_without_peers_nothing_is_compared():
    table = pd.DataFrame([row(OURS, 1.0, "normal:10x100")])
    assert bound(table, "ahead").met is None
    assert str(bound(table, "ahead")).startswith("not measured")


@pytest.mark.parametrize(("ms", "met"), [(7.9, False), (8.1, True)])
def test_factors_are_held_at_their_clouds(ms, met):
    case = "normal:100000x100"
    table = pd.DataFrame([row(OURS, 1.0, case), row("peer", ms, case)])
    assert bound(table, "8 times ahead at 100000 x 100").met is met
    assert bound(table, "5 times ahead at 100000 x 30").met is None


@pytest.mark.parametrize(("ms", "met"), [(3.9, True), (4.1, False)])
def test_time_is_held_against_one_product(ms, met):
    table = pd.DataFrame([row(OURS, ms, "normal:1000000x10")])
    assert bound(table, "at most 4 matrix-vector products at 1000000 x 10").met is met


def test_gap_inside_and_memory():
    fine = row(OURS, 1.0, extra_bytes=60 * 2**20)
    offset = row(OURS, 1.0, "offset:10x2", gap=1e-9)
    table = pd.DataFrame([fine, offset])
    for start in ("relative gap <= 1e-12", "relative gap <= 1e-8", "every", "extra"):
        assert all(
            b.met for b in check_bounds(judge(table)) if b.text.startswith(start)
        )
    bad = fine | {"gap": 2e-12, "enclosing": 1.0 + 1e-11, "extra_bytes": 65 * 2**20}
    table = pd.DataFrame([bad, offset])
    assert not bound(table, "relative gap <= 1e-12").met
    assert not bound(table, "every point").met
    assert not bound(table, "extra memory").met
    # For large data a quarter of it is allowed.
    large = row(OURS, 1.0, "normal:1000000x100", extra_bytes=150 * 2**20)
    assert bound(pd.DataFrame([large]), "extra memory").met


def test_a_line_for_every_row_and_files_that_can_be_read_again(tmp_path):
    late = row("peer", math.nan, status="time", radius=math.nan) | {"note": "too slow"}
    frame = pd.DataFrame([row(OURS, 2.0), late]).assign(
        version="1", repeats=3, support=2
    )
    table = judge(frame)
    lines = lines_of(table)
    assert len(lines) == 3
    assert lines[1].startswith("normal:10x2") and OURS in lines[1]
    assert lines[2].endswith("too slow")
    write(table, {"cpu": "some, kind", "cores": "2"}, tmp_path)
    grid = pd.read_csv(tmp_path / "grid.csv")
    assert tuple(grid.columns) == WRITTEN
    assert list(grid["status"]) == ["right", "time"]
    machine = pd.read_csv(tmp_path / "machine.csv", index_col="fact")["value"]
    assert machine["cpu"] == "some, kind"


# --- Frank-Wolfe without anything kept ---------------------------------------------


@pytest.mark.parametrize("name", list(frank_wolfe.PLAIN))
def test_plain_versions_reach_the_ball(name):
    points = np.random.default_rng(3).standard_normal((40, 3))
    weights, steps = frank_wolfe.PLAIN[name](points, 1e-9)
    ball = away_step(points, gap="relative", tol=1e-12, max_iter=10_000, trace=False)
    assert 0 < len(steps) < 10_000
    assert farthest_distance(points, weights @ points) == pytest.approx(
        ball.radius, rel=1e-8
    )


def test_compare_counts_the_steps_of_both_sides():
    points = np.random.default_rng(3).standard_normal((40, 3))
    table = frank_wolfe.compare(points, repeats=1).set_index("algorithm")
    assert list(table.index) == ["away_step", "pairwise", "blended_pairwise"]
    # Away steps are decided by gaps that rounding does not touch.
    away = table.loc["away_step"]
    assert away["ours_iterations"] == away["plain_iterations"] > 0
    np.testing.assert_allclose(table["ratio"], table["plain_ms"] / table["ours_ms"])
