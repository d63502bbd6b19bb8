"""The report's tables: recomputed, run again, and what the text reads off them."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np

from mebnb.documents.entries import Entry
from mebnb.documents.report.runs import (
    ALGORITHMS,
    BREAST,
    CHURN,
    EPSILONS,
    GAUSSIAN,
    TABLES,
    UNIFORM,
    ball_of,
    cpu,
    f1_of,
    numbers,
    rounding_of,
    run_table,
    split_of,
)
from mebnb.documents.toolkit.clouds import reach
from mebnb.experiments.report_tables import outside, report_solution, report_threshold
from mebnb.published.compare import (
    DIFFERS,
    EQUAL,
    compare,
    one_unit_off,
    published_table,
)

report = partial(Entry, document="report", kind="data")
arithmetic = partial(Entry, document="report", kind="arithmetic")

# --- the tables --------------------------------------------------------------------


def _beside_a_run(frame):
    """A published table, or what was made of it, beside a run of the same table."""
    keys = [key for key in ("algorithm", "epsilon") if key in frame]
    run = run_table(frame.attrs["name"])
    run = run[[name for name in run if name in frame]]
    times = [name for name in frame if name.startswith("cpu")]
    return compare(frame, run, keys, times=times)


def _cells_that_differ(frame):
    """Cells that a run does not give back."""
    return float(len(_beside_a_run(frame).only(DIFFERS)))


def _each_cell_spoiled(frame):
    """The table with one cell that the run gives back a unit of its last digit off."""
    spoiled = {}
    found = _beside_a_run(frame)
    for cell in found.only(EQUAL).to_dict("records"):
        key = [cell[name] for name in found.keys]
        row = (frame[list(found.keys)] == key).all(axis=1)
        edited = frame.copy()
        edited.loc[row, cell["column"]] = one_unit_off(cell["published"])
        spoiled[", ".join([*key, cell["column"]])] = edited
    return spoiled


def _score_faults(table, positives):
    """Measure: rows whose recall or F1 is not what the rule makes of FN and FP."""

    def measure(rule):
        faults = 0
        for row in published_table(table).to_dict("records"):
            fn, fp = int(row["fn"]), int(row["fp"])
            recall, f1 = rule(positives - fn, fn, fp)
            faults += abs(100 * recall - float(row["recall_pct"])) > 5.001e-4
            faults += abs(100 * f1 - float(row["f1_pct"])) > 5.001e-4
        return float(faults)

    return measure


def _recall(tp, fn, fp):
    return tp / (tp + fn)


def _scores(tp, fn, fp):
    return _recall(tp, fn, fp), f1_of(tp, fn, fp)


_SPOILED_SCORES = {
    "precision for recall": lambda tp, fn, fp: (tp / (tp + fp), f1_of(tp, fn, fp)),
    "factor 2 lost in F1": lambda tp, fn, fp: (
        _recall(tp, fn, fp),
        tp / (tp + fp + fn),
    ),
}


def _uniform_radius(upper):
    """|published radius - radius of points uniform on [0, upper)|."""
    points = np.random.RandomState(123).uniform(0, upper, (15, 8000)).T
    found = report_threshold("ASFW", report_solution("ASFW", points, 0.001))
    return abs(found - numbers(UNIFORM)["ASFW"]["radius"])


def _uniform_f1(scale):
    """|100 - F1 on the uniform set with the threshold scaled|."""
    split = split_of(UNIFORM)
    ball = ball_of(UNIFORM, "ASFW")
    flagged = outside(split.test, ball.center, scale * ball.lower_bound)
    tp, fn = int(flagged.sum()), int((~flagged).sum())
    return abs(100 - 100 * f1_of(tp, fn, 0))


def _range_faults(form):
    """Share of perturbed BPFW runs outside the claimed ranges of iterations."""
    table, claimed = form
    split_of(table)
    ranges = rounding_of(table)
    worst = 0
    for epsilon, (low, high) in claimed.items():
        seen = ranges["BPFW", epsilon, "iterations"]
        worst = max(worst, low - seen[0], seen[1] - high)
    return float(worst)


def _false_alarms(form):
    """Of the Gaussian set: number of false alarms and how far they lie outside."""
    count, share = form
    split = split_of(GAUSSIAN)
    worst = 0.0
    for algorithm in ALGORITHMS:
        ball = ball_of(GAUSSIAN, algorithm)
        radius = report_threshold(algorithm, ball)
        flagged = outside(split.test, ball.center, radius) & ~split.test_is_anomaly
        far = reach(split.test[flagged], ball.center)
        worst = max(worst, abs(int(flagged.sum()) - count), far / radius - 1 - share)
    return float(worst)


TABLE_ENTRIES = [
    report(
        id="R-T1",
        statement="Iterations 379, 272, 747; radii 1.019375, 1.019365, 1.019697; "
        "active sets 15, 14, 18; recall and F1 100 %.",
        measure=_cells_that_differ,
        true=published_table(UNIFORM),
        corrected="every cell but the times comes back",
        spoil=_each_cell_spoiled,
    ),
    report(
        id="R-T1-header",
        place="Table 1",
        statement="The training points come from $U[0,7)$.",
        verdict="HARMLESS",
        measure=_uniform_radius,
        true=0.7,
        printed=7.0,
        tolerance=1e-6,
        corrected="$U[0,0.7)$, as the text and the radius say",
        witness="with 7 the radius is 10.19",
        spoiled={"1": 1.0},
    ),
    report(
        id="R-T1-f1",
        place="Table 1",
        statement="F1 of 100 % on the uniform set.",
        measure=_uniform_f1,
        true=1.0,
        corrected="the test set holds anomalies only: a ball of radius 0 scores 100 % "
        "too, false alarms cannot show",
        spoiled={"twice the radius": 2.0, "three times the radius": 3.0},
    ),
    report(
        id="R-T2",
        place="Table 2 and text",
        statement=r"Iterations 177, 130, 733 ($\varepsilon=0.1$: 62, 51, 7); radii "
        "5.45032, 5.45032, 5.45191; active sets 9, 9, 12; recall 100 %, F1 99.85 %.",
        measure=_cells_that_differ,
        true=published_table(GAUSSIAN),
        corrected="every cell comes back but the times and the iterations of BPFW "
        "(121 and 53 here), which rounding decides",
        spoil=_each_cell_spoiled,
    ),
    report(
        id="R-T2-f1",
        place="Table 2",
        statement="Three false positives and no false negative give F1 99.85 %.",
        kind="arithmetic",
        measure=lambda f1: abs(100 * f1(1000, 0, 3) - 99.85),
        true=lambda tp, fn, fp: f1_of(tp, fn, fp),
        tolerance=5e-3,
        spoiled={
            "accuracy": lambda tp, fn, fp: (2000 - fp - fn) / 2001.5,
            "precision": lambda tp, fn, fp: tp / (tp + fp),
        },
    ),
    report(
        id="R-T2-fp",
        place="Gaussian text",
        statement="3 of 1000 nominal points are flagged; they lie just outside of the "
        "ball.",
        measure=_false_alarms,
        true=(3, 0.12),
        corrected="by 7 to 11 % of the radius",
        spoiled={"2 points": (2, 0.12), "by 1 %": (3, 0.01)},
    ),
    report(
        id="R-T3",
        statement="Recall and F1 follow from FN and FP with 212 anomalies.",
        kind="arithmetic",
        measure=_score_faults(BREAST, 212),
        true=_scores,
        spoiled=_SPOILED_SCORES,
    ),
    report(
        id="R-T3-run",
        statement="Iterations, radii, active sets, FN, FP and scores of the nine rows.",
        measure=_cells_that_differ,
        true=published_table(BREAST),
        corrected="every cell comes back but the times and, for BPFW, the iterations "
        "and what was not converged at 0.1 and 0.01, which rounding decides",
        spoil=_each_cell_spoiled,
    ),
    report(
        id="R-T4",
        statement="Recall and F1 follow from FN and FP with 495 anomalies.",
        kind="arithmetic",
        measure=_score_faults(CHURN, 495),
        true=_scores,
        spoiled=_SPOILED_SCORES,
    ),
    report(
        id="R-T4-run",
        statement="Iterations, radii, active sets, FN, FP and scores of the nine rows.",
        measure=_cells_that_differ,
        true=published_table(CHURN),
        corrected="every cell comes back but the times and, for BPFW, the iterations "
        "and what was not converged at 0.1 and 0.01, which rounding decides",
        spoil=_each_cell_spoiled,
    ),
    report(
        id="R-T34-its",
        place="Table 3",
        statement="BPFW takes 32, 50 and 66 iterations on breast cancer.",
        verdict="AMBIGUOUS",
        measure=_range_faults,
        true=(BREAST, {0.1: (15, 80), 0.01: (20, 110), 0.001: (25, 130)}),
        printed=(BREAST, {0.1: (32, 32), 0.01: (50, 50), 0.001: (66, 66)}),
        corrected="no reproducible number: an exact pairwise step leaves two atoms "
        "equally far, and rounding decides the tie",
        witness="coordinates changed by 1e-15: 41 to 77 iterations for the published "
        "66",
        spoiled={"within five": (BREAST, {0.001: (61, 71)})},
    ),
    report(
        id="R-T34-its-churn",
        place="Table 4",
        statement="BPFW takes 32, 40 and 54 iterations on churn.",
        verdict="AMBIGUOUS",
        measure=_range_faults,
        true=(CHURN, {0.1: (15, 80), 0.01: (20, 110), 0.001: (25, 130)}),
        printed=(CHURN, {0.1: (32, 32), 0.01: (40, 40), 0.001: (54, 54)}),
        corrected="no reproducible number, as in Table 3",
        witness="coordinates changed by 1e-15: 60 to 82 iterations for the published "
        "54",
        spoiled={"within three": (CHURN, {0.001: (51, 57)})},
    ),
]

# --- what the text reads off the tables --------------------------------------------


def _inversions(orders):
    """Number of claimed orders (table, epsilon, column, algorithms) that fail."""
    faults = 0
    for table, epsilon, column, order in orders:
        rows = numbers(table, epsilon)
        values = [
            cpu(rows[name]) if column == "cpu" else rows[name][column] for name in order
        ]
        faults += any(b <= a for a, b in itertools.pairwise(values))
    return float(faults)


def _everywhere(column, order, epsilons=(0.001,), tables=TABLES):
    return [
        (table, epsilon, column, order)
        for table, epsilon in itertools.product(tables, epsilons)
        if epsilon in EPSILONS[table]
    ]


def _percent(form, found):
    return abs(form - found)


def _change(table, algorithm, column, before, after):
    """Relative change in percent of a published cell between two epsilons."""
    low = numbers(table, before)[algorithm]
    high = numbers(table, after)[algorithm]
    if column == "cpu":
        return 100 * (cpu(high) / cpu(low) - 1)
    return 100 * (high[column] / low[column] - 1)


def _speedups(factors):
    """Largest relative error of the factors (ASFW, BPFW, APPFW) from eps .001 to .1."""
    fine, coarse = numbers(GAUSSIAN), numbers(GAUSSIAN, 0.1)
    true = [cpu(fine[name]) / cpu(coarse[name]) for name in ALGORITHMS]
    return max(abs(f / t - 1) for f, t in zip(factors, true, strict=True))


def _advantages():
    """How many times better APPFW is at eps = 0.1, in iterations and in time."""
    factors = []
    for table in (GAUSSIAN, BREAST, CHURN):
        rows = numbers(table, 0.1)
        for other in ("ASFW", "BPFW"):
            factors.append(cpu(rows[other]) / cpu(rows["APPFW"]))
            factors.append(rows[other]["iterations"] / rows["APPFW"]["iterations"])
    return factors


def _outside_range(bounds):
    low, high = bounds
    return max(0.0, low - min(_advantages()), max(_advantages()) - high)


def _deviations(form):
    """Rows of a table whose F1 is more than 1 point off the table's usual one."""
    table, claimed = form
    frame = published_table(table)
    f1 = frame["f1_pct"].astype(float)
    usual = f1.mode().iloc[0]
    rows = frame[(f1 - usual).abs() > 1]
    found = {(a, float(e)) for a, e in zip(rows["algorithm"], rows["epsilon"])}
    return float(len(found ^ claimed))


def _at(table, column, algorithm, epsilon):
    row = numbers(table, epsilon)[algorithm]
    return cpu(row) if column == "cpu" else row[column]


def _fallen(values):
    """Claims (table, column, at 0.001, at 0.1) on APPFW that the table refutes."""
    return float(
        sum(
            math.floor(_at(table, column, "APPFW", epsilon)) != value
            for table, column, fine, coarse in values
            for epsilon, value in ((0.001, fine), (0.1, coarse))
        )
    )


def _rows_with_sizes():
    """Tables and tolerances for which active set sizes were printed."""
    for table in TABLES:
        for epsilon in EPSILONS[table] if table in (BREAST, CHURN) else (0.001,):
            yield table, epsilon


def _sparser(rule):
    """Rows in which the active sets of BPFW and ASFW do not stand as claimed."""
    faults = 0
    for table, epsilon in _rows_with_sizes():
        rows = numbers(table, epsilon)
        sizes = [rows[name]["active_set_size"] for name in ("BPFW", "ASFW")]
        faults += not rule(*sizes)
    return float(faults)


def _breast_gamma():
    return numbers(BREAST)["BPFW"]["radius"] ** 2


_BEST_AT_FINE = (
    _everywhere("iterations", ("BPFW", "ASFW"))
    + _everywhere("iterations", ("BPFW", "APPFW"))
    + _everywhere("cpu", ("BPFW", "ASFW"))
    + _everywhere("cpu", ("BPFW", "APPFW"))
)

READINGS = [
    arithmetic(
        id="R-X-t1text",
        place="Uniform text",
        statement="BPFW needs the fewest iterations (272) and the least time; ASFW "
        "needs fewer iterations and a little more time than APPFW.",
        measure=_inversions,
        true=[
            (UNIFORM, 0.001, "iterations", ("BPFW", "ASFW", "APPFW")),
            (UNIFORM, 0.001, "cpu", ("BPFW", "APPFW", "ASFW")),
            (UNIFORM, 0.001, "active_set_size", ("BPFW", "ASFW", "APPFW")),
        ],
        spoiled={
            "times as iterations": [
                (UNIFORM, 0.001, "cpu", ("BPFW", "ASFW", "APPFW")),
            ],
            "ASFW first": [(UNIFORM, 0.001, "iterations", ("ASFW", "BPFW", "APPFW"))],
        },
    ),
    arithmetic(
        id="R-X-t2text",
        place="Gaussian text",
        statement="APPFW takes most iterations and most time.",
        measure=_inversions,
        true=[
            (GAUSSIAN, 0.001, "iterations", ("BPFW", "ASFW", "APPFW")),
            (GAUSSIAN, 0.001, "cpu", ("BPFW", "ASFW", "APPFW")),
        ],
        spoiled={
            "also at 0.1": [(GAUSSIAN, 0.1, "iterations", ("BPFW", "ASFW", "APPFW"))],
        },
    ),
    arithmetic(
        id="R-X-epsdir",
        place="Gaussian text",
        statement=r"The high $\varepsilon$ of 0.001 is reduced to 0.1.",
        verdict="WRONG",
        measure=lambda claimed: abs(np.sign(0.1 - 0.001) - claimed),
        true=1,
        printed=-1,
        corrected="0.001 is the low one, 0.1 an increase",
        witness="0.1 > 0.001",
        spoiled={"unchanged": 0},
    ),
    arithmetic(
        id="R-X-x3",
        place="Gaussian text",
        statement=r"From $\varepsilon=0.001$ to 0.1, BPFW and ASFW gain a factor of "
        "about 3 in time, APPFW one of 100.",
        verdict="HARMLESS",
        measure=_speedups,
        true=(2.8, 2.5, 109),
        printed=(3, 3, 100),
        tolerance=0.01,
        corrected="2.8 (ASFW), 2.5 (BPFW) and 109 (APPFW)",
        witness="7.219 s / 2.884 s = 2.5",
        spoiled={"ASFW and APPFW exchanged": (109, 2.5, 2.8)},
    ),
    arithmetic(
        id="R-X-t3text",
        place="Breast cancer text",
        statement="BPFW converges fastest in iterations and time; ASFW needs 118 "
        "iterations where APPFW needs 608, and less time.",
        measure=_inversions,
        true=[
            (BREAST, 0.001, "iterations", ("BPFW", "ASFW", "APPFW")),
            (BREAST, 0.001, "cpu", ("BPFW", "ASFW", "APPFW")),
        ],
        spoiled={
            "also at 0.1": [(BREAST, 0.1, "cpu", ("BPFW", "ASFW", "APPFW"))],
        },
    ),
    arithmetic(
        id="R-X-60",
        place="Breast cancer text",
        statement="ASFW takes 60 % less time than APPFW.",
        verdict="WRONG",
        measure=lambda percent: _percent(
            percent,
            100
            * (
                1
                - _at(BREAST, "cpu", "ASFW", 0.001) / _at(BREAST, "cpu", "APPFW", 0.001)
            ),
        ),
        true=32.6,
        printed=60,
        tolerance=0.1,
        corrected="32.6 % less (APPFW takes 48.3 % more)",
        witness="98.634 ms against 146.278 ms",
        spoiled={"the excess of APPFW": 48.3},
    ),
    arithmetic(
        id="R-X-t3dev",
        place="Breast cancer text",
        statement=r"Only APPFW at $\varepsilon=0.1$ stands out among the scores.",
        measure=_deviations,
        true=(BREAST, {("APPFW", 0.1)}),
        spoiled={
            "none": (BREAST, set()),
            "APPFW at 0.01 too": (BREAST, {("APPFW", 0.1), ("APPFW", 0.01)}),
        },
    ),
    arithmetic(
        id="R-X-t4dev",
        place="Churn text",
        statement=r"Only APPFW at $\varepsilon=0.1$ stands out among the scores.",
        verdict="HARMLESS",
        measure=_deviations,
        true=(CHURN, {("APPFW", 0.1), ("APPFW", 0.01)}),
        printed=(CHURN, {("APPFW", 0.1)}),
        corrected=r"at $\varepsilon=0.01$ its F1 is 15.27 where the others have 17.6",
        witness="F1 15.27 at 0.01",
        spoiled={"none": (CHURN, set())},
    ),
    arithmetic(
        id="R-X-t3drop",
        place="Breast cancer and churn text",
        statement="APPFW falls from 146 ms to 2 ms and from 608 to 4 iterations on "
        "breast cancer, from 178 ms to 5 ms and from 178 to 3 on churn.",
        measure=_fallen,
        true=[
            (BREAST, "cpu", 146, 2),
            (BREAST, "iterations", 608, 4),
            (CHURN, "cpu", 178, 5),
            (CHURN, "iterations", 178, 3),
        ],
        corrected="(178.887 ms is cut to 178)",
        spoiled={"tables exchanged": [(CHURN, "cpu", 146, 2)]},
    ),
    arithmetic(
        id="R-X-7",
        place="Churn text",
        statement=r"From $\varepsilon=0.01$ to 0.1 the radius of APPFW is reduced by 7 "
        "%.",
        verdict="WRONG",
        measure=lambda percent: _percent(
            percent, _change(CHURN, "APPFW", "radius", 0.01, 0.1)
        ),
        true=6.4,
        printed=-7,
        tolerance=0.05,
        corrected="it grows by 6.4 % (to 7.1 % above the smallest one)",
        witness="6.753838 becomes 7.184624",
        spoiled={"reduced by 6.4 %": -6.4},
    ),
    arithmetic(
        id="R-X-f1x10",
        place="Churn text",
        statement="The F1 score falls to a tenth.",
        verdict="HARMLESS",
        measure=lambda factor: abs(
            _at(CHURN, "f1_pct", "APPFW", 0.01) / _at(CHURN, "f1_pct", "APPFW", 0.1)
            - factor
        ),
        true=9.54,
        printed=10,
        tolerance=0.01,
        corrected="15.27 / 1.6 = 9.5",
        witness="15.27 to 1.6",
        spoiled={"recall for F1": 10.25},
    ),
    arithmetic(
        id="R-X-churncpu",
        place="Churn text",
        statement="ASFW needs fewer iterations and less time than APPFW, as on breast "
        "cancer.",
        verdict="WRONG",
        measure=_inversions,
        true=[
            (CHURN, 0.001, "iterations", ("ASFW", "APPFW")),
            (CHURN, 0.001, "cpu", ("APPFW", "ASFW")),
        ],
        printed=[
            (CHURN, 0.001, "iterations", ("ASFW", "APPFW")),
            (CHURN, 0.001, "cpu", ("ASFW", "APPFW")),
        ],
        corrected="fewer iterations (100 against 178) but more time",
        witness="Table 4: 217.184 ms against 178.887 ms",
        spoiled={"more iterations": [(CHURN, 0.001, "iterations", ("APPFW", "ASFW"))]},
    ),
    arithmetic(
        id="R-X-periter",
        place="Churn text",
        statement="APPFW needs most iterations but less time for each.",
        measure=lambda order: float(
            sorted(
                ALGORITHMS,
                key=lambda name: (
                    _at(CHURN, "cpu", name, 0.001)
                    / _at(CHURN, "iterations", name, 0.001)
                ),
            )[0]
            != order
        ),
        true="APPFW",
        spoiled={"ASFW": "ASFW", "BPFW": "BPFW"},
    ),
    arithmetic(
        id="R-X-best",
        place="Abstract, Conclusion",
        statement="BPCG beats the others consistently, in iterations, time and active "
        "set size.",
        verdict="WRONG",
        measure=_inversions,
        true=_BEST_AT_FINE,
        printed=_BEST_AT_FINE
        + _everywhere("iterations", ("BPFW", "APPFW"), (0.1,))
        + _everywhere("cpu", ("BPFW", "APPFW"), (0.1,))
        + _everywhere("active_set_size", ("BPFW", "ASFW")),
        corrected=r"in iterations and time at $\varepsilon=0.001$; active sets are as "
        "large as those of ASFW but for Table 1",
        witness="Table 3, eps = 0.1: 32 iterations against 4 of APPFW",
        spoiled={
            "also at 0.1": _everywhere("cpu", ("BPFW", "APPFW"), (0.1,)),
            "smaller sets": _everywhere("active_set_size", ("BPFW", "ASFW")),
        },
    ),
    arithmetic(
        id="R-X-sparser",
        place="BPCG text",
        statement="BPCG gives much sparser solutions than away steps.",
        verdict="AMBIGUOUS",
        measure=_sparser,
        true=lambda bpfw, asfw: bpfw <= asfw,
        printed=lambda bpfw, asfw: bpfw < asfw,
        corrected="said of other problems; in the report's own tables it is never "
        "larger, and smaller only in Table 1 (14 against 15)",
        witness="Tables 2 to 4: 9 and 9, 6 and 6, 6 and 6",
        spoiled={"larger": lambda bpfw, asfw: bpfw > asfw},
    ),
    arithmetic(
        id="R-X-a3cpu",
        place="Conclusion",
        statement=r"At $\varepsilon=0.001$ Algorithm 3 takes more time, more "
        "iterations and larger active sets than both others.",
        verdict="WRONG",
        measure=_inversions,
        true=_everywhere("iterations", ("BPFW", "ASFW", "APPFW"))
        + _everywhere("active_set_size", ("ASFW", "APPFW"))
        + _everywhere("cpu", ("BPFW", "APPFW")),
        printed=_everywhere("iterations", ("BPFW", "ASFW", "APPFW"))
        + _everywhere("active_set_size", ("ASFW", "APPFW"))
        + _everywhere("cpu", ("ASFW", "APPFW")),
        corrected="iterations and active sets yes; in time it beats ASFW in Tables 1 "
        "and 4",
        witness="Table 1: 22.108 s against 23.632 s of ASFW",
        spoiled={"fewer iterations": _everywhere("iterations", ("APPFW", "ASFW"))},
    ),
    arithmetic(
        id="R-X-x10",
        place="Conclusion",
        statement=r"At $\varepsilon=0.1$ Algorithm 3 is ten times better than the "
        "others in time and in iterations.",
        verdict="AMBIGUOUS",
        measure=_outside_range,
        true=(7.2, 25),
        printed=(10, math.inf),
        corrected="9 to 25 times in time, 7 to 18 times in iterations, at an accuracy "
        "that is far looser (see R-X-eps-bc, R-X-x10-fair)",
        witness="Gaussian set: 51 iterations against 7",
        spoiled={"at most ten": (0, 10)},
    ),
    arithmetic(
        id="R-X-eps-bc",
        place="Table 3",
        statement=r"$\varepsilon=0.1$ means the same in all rows of the table.",
        verdict="AMBIGUOUS",
        measure=lambda factor: abs(
            0.1 / (math.sqrt(1 + 0.1 / _breast_gamma()) - 1) / factor - 1
        ),
        true=245.4,
        printed=1.0,
        tolerance=0.01,
        corrected="0.1 of Algorithms 1 and 2 is 0.00041 of Algorithm 3, 245 times "
        "tighter",
        witness="gamma = 11.077^2: sqrt(1 + 0.1 / gamma) - 1 = 4.1e-4",
        spoiled={"without the root": 122.7},
    ),
    arithmetic(
        id="R-X-f1text",
        place="Conclusion",
        statement="F1 is 85 % on breast cancer and around 17 % on churn.",
        verdict="HARMLESS",
        measure=lambda form: max(
            abs(form[0] - _at(BREAST, "f1_pct", "BPFW", 0.001)),
            abs(form[1] - _at(CHURN, "f1_pct", "BPFW", 0.001)),
        ),
        true=(85.5, 17.6),
        printed=(85, 17),
        tolerance=0.05,
        corrected="85.5 % and 17.6 %",
        witness="17.615 rounds to 18",
        spoiled={"exchanged": (17.6, 85.5)},
    ),
    arithmetic(
        id="R-X-239",
        place="Fig 4 text",
        statement="BPFW has 10 drop steps in 239 iterations.",
        verdict="WRONG",
        measure=lambda count: (
            abs(numbers(UNIFORM)["BPFW"]["iterations"] - count)
            + abs(ball_of(UNIFORM, "BPFW").iterations + 1 - count)
        ),
        true=272,
        printed=239,
        corrected="of 272, as Table 1 says and a run gives",
        witness="Table 1: 272",
        spoiled={"steps for evaluations": 271},
    ),
]

ENTRIES = [*TABLE_ENTRIES, *READINGS]
