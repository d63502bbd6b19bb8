"""Step rules on lines whose best step is known."""

import math

import numpy as np
import pytest

from mebnb import away_step
from mebnb.solvers.faulty_steps import (
    ArmijoOffTheSimplex,
    ArmijoWithoutTheEnd,
    GoldenSectionMidpoint,
    GoldenSectionWithSignSlip,
    GrowingStep,
)
from mebnb.solvers.steps import (
    STEP_RULES,
    Armijo,
    DiminishingStep,
    ExactStep,
    GoldenSection,
    Line,
    RelaxedStep,
    ShortStep,
    backtracked,
    golden_midpoint,
    lipschitz_constant,
    step_rule,
)

INTERIOR = Line(slope=2.0, curvature=4.0, largest=1.0, norm2=lambda: 2.0)
CLIPPED = Line(slope=2.0, curvature=4.0, largest=0.1, norm2=lambda: 2.0)
FLAT_AT_THE_END = Line(slope=2.0, curvature=4.0, largest=0.25, norm2=lambda: 2.0)
SEARCHES = [ExactStep(), GoldenSection(), Armijo()]


def test_change_is_the_parabola():
    assert INTERIOR.change(0.25) == -0.25
    assert INTERIOR.change(0.0) == 0.0


def test_exact_step_is_the_minimiser_on_a_grid():
    rng = np.random.default_rng(0)
    for _ in range(200):
        slope, curvature = rng.uniform(0, 2, size=2)
        line = Line(slope, curvature, largest=rng.uniform(0.01, 2.0))
        grid = np.linspace(0.0, line.largest, 2001)
        assert line.change(ExactStep()(line)) <= line.change(grid).min() + 1e-15


@pytest.mark.parametrize("rule", SEARCHES, ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("line", [CLIPPED, FLAT_AT_THE_END], ids=["falling", "flat"])
def test_searches_return_the_largest_step_exactly_where_f_still_falls(rule, line):
    assert rule(line) == line.largest


@pytest.mark.parametrize("rule", [ExactStep(), RelaxedStep(0.5), RelaxedStep(1.5)])
def test_on_a_line_without_slope_and_curvature_the_largest_step_is_as_good(rule):
    assert rule(Line(slope=0.0, curvature=0.0, largest=0.3)) == 0.3


@pytest.mark.parametrize("omega", [0.1, 0.7, 1.0, 1.3, 1.9])
def test_a_relaxed_step_gains_its_part_of_the_exact_one(omega):
    rng = np.random.default_rng(3)
    lines = [
        Line(*rng.uniform(0.01, 2.0, 2), rng.uniform(0.01, 2.0)) for _ in range(300)
    ]
    lines += [INTERIOR, CLIPPED, FLAT_AT_THE_END]
    clipped = 0
    for line in lines:
        step, exact = RelaxedStep(omega)(line), ExactStep()(line)
        least = omega * (2.0 - omega)
        assert 0.0 < step <= line.largest
        assert line.change(step) <= least * line.change(exact) + 1e-15
        clipped += step == line.largest
        if step < line.largest:
            best = line.slope**2 / (4.0 * line.curvature)
            assert line.change(step) == pytest.approx(-least * best, abs=1e-14)
    assert 0 < clipped < len(lines)


def test_a_relaxed_step_of_one_is_exact():
    rng = np.random.default_rng(4)
    for _ in range(100):
        line = Line(*rng.uniform(0.0, 2.0, 2), rng.uniform(0.01, 2.0))
        lowest = min(line.slope / (2.0 * line.curvature), line.largest)
        assert RelaxedStep(1.0)(line) == ExactStep()(line) == pytest.approx(lowest)


@pytest.mark.parametrize("omega", [0.0, 2.0, math.nan])
def test_omega_is_between_0_and_2(omega):
    with pytest.raises(ValueError, match="omega must be"):
        RelaxedStep(omega)


@pytest.mark.parametrize("rule", [ShortStep(lipschitz=0.5), DiminishingStep()])
def test_formula_rules_clip_at_the_largest_step_exactly(rule):
    assert rule(CLIPPED) == CLIPPED.largest


@pytest.mark.parametrize("rule", SEARCHES, ids=lambda r: type(r).__name__)
def test_no_curvature_means_the_largest_step(rule):
    assert rule(Line(slope=1.0, curvature=0.0, largest=0.5)) == 0.5


def test_golden_section_finds_the_interior_minimum():
    assert GoldenSection()(INTERIOR) == pytest.approx(0.25, abs=1e-7)


@pytest.mark.parametrize(("tol", "shrinks"), [(0.1, 5), (0.15, 4), (1.0, 0)])
def test_golden_section_stops_at_its_width_with_one_look_for_each_shrink(tol, shrinks):
    # 0.618^4 = 0.146, 0.618^5 = 0.090; a bracket that is as wide as tol is narrow enough.
    looks = []

    def change(step):
        looks.append(step)
        return (step - 0.7) ** 2

    assert golden_midpoint(change, 1.0, tol) == pytest.approx(0.7, abs=tol / 2)
    assert len(looks) == 2 + shrinks


def test_armijo_halves_until_the_decrease_is_enough():
    # Trials 1, 1/2, 1/4: change = a (4a - 2) <= -0.1 a 2 first holds at a <= 0.45.
    assert Armijo()(INTERIOR) == 0.25
    step = Armijo()(INTERIOR)
    assert INTERIOR.change(step) <= -0.1 * step * INTERIOR.slope


def test_armijo_asks_for_its_fraction_of_the_decrease_and_no_more():
    # The first trial is accepted up to (1 - fraction) slope / curvature, here 0.45.
    for fraction, limit in [(0.1, 0.45), (0.5, 0.25), (0.01, 0.495)]:
        rule = Armijo(fraction=fraction)
        for largest, taken in [(0.999 * limit, 1.0), (1.001 * limit, 0.5)]:
            line = Line(slope=2.0, curvature=4.0, largest=largest)
            assert rule(line) == taken * largest
    assert Armijo() == Armijo(shrink=0.5, fraction=0.1)


@pytest.mark.parametrize("shrink", [0.5, 0.9, 0.999, 1.0 - 2.0**-53])
def test_backtracking_takes_the_first_trial_that_is_accepted(shrink):
    rng = np.random.default_rng(0)
    for largest, curvature, accepted in np.exp(8.0 * rng.normal(size=(300, 3))):
        step = backtracked(largest, shrink, curvature, accepted)
        assert step * curvature <= accepted
        # The trial before was too long, but for the last bits of the powers.
        before = step / shrink * (1.0 + 1e-12)
        assert step == largest or before * curvature > accepted
        tried = largest
        while shrink <= 0.999 and tried * curvature > accepted:
            tried *= shrink
        assert shrink > 0.999 or step == pytest.approx(tried, rel=1e-9)
        assert shrink != 0.5 or step == tried


@pytest.mark.parametrize(
    ("largest", "shrink", "curvature", "accepted", "step"),
    [
        (1.0, 0.5, 4.0, 1.0, 0.25),  # an equality is accepted
        (0.7, 0.5, 0.0, 0.0, 0.7),  # also where nothing changes
        (1.0, 0.5, 4.0, 0.0, 0.0),  # no step is short enough
        (5e-324, 0.9, 3.0, 1e-323, 5e-324),  # no number is smaller but 0
    ],
)
def test_backtracking_at_its_edges(largest, shrink, curvature, accepted, step):
    assert backtracked(largest, shrink, curvature, accepted) == step


RULES_THAT_SEARCH = [
    GoldenSection(tol=5e-324),
    GoldenSectionWithSignSlip(tol=5e-324),
    GoldenSectionMidpoint(tol=5e-324),
    Armijo(shrink=1.0 - 2.0**-53),
    Armijo(shrink=5e-324),
    ArmijoWithoutTheEnd(shrink=1.0 - 2.0**-53),
]


@pytest.mark.parametrize("rule", RULES_THAT_SEARCH, ids=repr)
@pytest.mark.parametrize("largest", [5e-324, 1e-8, 1.0, 1e16, 1e300])
def test_every_search_ends_with_a_feasible_step(rule, largest):
    for slope in (5e-324, 1e-300, 1.0, 1e300):
        assert 0.0 <= rule(Line(slope, 4.0, largest)) <= largest


def test_a_search_at_the_limit_of_its_parameter_leaves_the_solver_its_limits():
    points = np.random.default_rng(0).normal(size=(30, 3))
    best = away_step(points, tol=1e-9, gap="relative").radius
    for rule in (GoldenSection(tol=5e-324), Armijo(shrink=1.0 - 2.0**-53)):
        ball = away_step(points, step=rule, tol=1e-9, gap="relative")
        assert ball.converged and ball.radius == pytest.approx(best, rel=1e-8)
        short = away_step(points, step=rule, tol=0.0, time_limit=1e-9)
        assert "time limit" in short.message


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        (GoldenSection, {"tol": 0}, "tol must be positive, found 0"),
        (GoldenSection, {"tol": -1.0}, "tol must be finite and at least 0.0, found -1"),
        (GoldenSection, {"tol": math.nan}, "tol must be finite .*, found nan"),
        (GoldenSectionMidpoint, {"tol": 0.0}, "tol must be positive, found 0.0"),
        (GoldenSectionWithSignSlip, {"tol": math.inf}, "tol must be finite"),
        (Armijo, {"shrink": 1}, r"shrink must be in \(0, 1\), found 1"),
        (Armijo, {"shrink": 0.0}, r"shrink must be in \(0, 1\), found 0.0"),
        (Armijo, {"shrink": math.nan}, "shrink must be finite .*, found nan"),
        (Armijo, {"fraction": 0.0}, r"fraction must be in \(0, 0.5\], found 0.0"),
        (Armijo, {"fraction": 0.6}, r"fraction must be in \(0, 0.5\], found 0.6"),
        (ArmijoWithoutTheEnd, {"shrink": 1.0}, "shrink must be in"),
        (ArmijoOffTheSimplex, {"shrink": 1.0}, "shrink must be in"),
        (ShortStep, {"lipschitz": math.nan}, "lipschitz must be finite .*, found nan"),
        (ShortStep, {"lipschitz": math.inf}, "lipschitz must be finite .*, found inf"),
        (ShortStep, {"lipschitz": -1.0}, "lipschitz must be finite and at least 0.0"),
    ],
)
def test_senseless_parameters_are_refused(rule, options, message):
    with pytest.raises(ValueError, match=message):
        rule(**options)
    with pytest.raises(TypeError, match=f"{next(iter(options))} must be a number"):
        rule(**{next(iter(options)): "much"})


def test_short_step_formula():
    assert ShortStep(lipschitz=10.0)(INTERIOR) == pytest.approx(2.0 / (10.0 * 2.0))


@pytest.mark.parametrize(
    ("slope", "step"), [(0.5, 0.7), (1e-300, 0.7), (0.0, 0.0), (-0.5, 0.0)]
)
def test_short_step_without_a_constant_goes_to_the_end_or_nowhere(slope, step):
    line = Line(slope, curvature=1.0, largest=0.7, norm2=lambda: 2.0)
    assert ShortStep(lipschitz=0.0)(line) == step


def test_short_step_takes_its_constant_from_centred_points_unless_it_is_given():
    points = np.array([[1.0], [3.0]])
    assert ShortStep().prepare(points).lipschitz == 4.0
    assert ShortStep(centered=False).prepare(points).lipschitz == 20.0
    assert ShortStep(lipschitz=7.0).prepare(points).lipschitz == 7.0
    line = Line(slope=0.1, curvature=1.0, largest=1.0, norm2=lambda: 1.0)
    assert ShortStep(lipschitz=0.5)(line) == 0.2


def test_diminishing_step_formula():
    line = Line(slope=1.0, curvature=1.0, largest=1.0, iteration=6)
    assert DiminishingStep()(line) == 0.25
    assert DiminishingStep()(Line(slope=1.0, curvature=1.0, largest=3.0)) == 1.0


@pytest.mark.parametrize("shape", [(40, 3), (3, 40)], ids=["n side", "m side"])
def test_lipschitz_constant_is_the_largest_eigenvalue_of_the_hessian(shape):
    points = np.random.default_rng(1).normal(size=shape) + 3.0
    hessian = 2.0 * points @ points.T
    assert lipschitz_constant(points, centered=False) == pytest.approx(
        np.linalg.eigvalsh(hessian)[-1], rel=1e-12
    )


def test_centred_lipschitz_constant_does_not_depend_on_the_origin():
    points = np.random.default_rng(1).normal(size=(30, 4))
    assert lipschitz_constant(points + 100.0) == pytest.approx(
        lipschitz_constant(points)
    )
    assert lipschitz_constant(points + 100.0, centered=False) > 1e5


def test_step_rule_maps_names_and_passes_rules():
    assert {type(step_rule(name)) for name in STEP_RULES} == set(STEP_RULES.values())
    rule = Armijo(shrink=0.7)
    assert step_rule(rule) is rule


@pytest.mark.parametrize("step", ["exakt", 3, None])
def test_unknown_rule_is_refused_with_the_list(step):
    with pytest.raises(ValueError) as caught:
        step_rule(step)
    assert str(caught.value) == (
        "step must be one of exact, short, diminishing, golden, armijo or a StepRule, "
        f"found {step!r}"
    )


def test_sign_slip_makes_the_golden_section_stand_still():
    assert GoldenSectionWithSignSlip()(INTERIOR) < 1e-6


def test_midpoint_of_the_golden_section_never_reaches_the_end():
    step = GoldenSectionMidpoint()(CLIPPED)
    assert step < CLIPPED.largest
    assert step == pytest.approx(CLIPPED.largest, abs=1e-6)


def test_armijo_off_the_simplex_ignores_the_direction():
    points = np.array([[2.0], [4.0]])
    rule = ArmijoOffTheSimplex().prepare(points)
    steps = {
        rule(Line(slope, 1.0, largest=1.0, center=lambda: np.array([3.0])))
        for slope in (1e-6, 1.0, 100.0)
    }
    assert len(steps) == 1
    assert 0.0 < steps.pop() < 1.0


@pytest.mark.parametrize("largest", [1.0, 3.0, 0.01])
def test_armijo_off_the_simplex_is_the_printed_test_tried_step_by_step(largest):
    rng = np.random.default_rng(3)
    rule = ArmijoOffTheSimplex(shrink=0.9)
    for _ in range(20):
        points, u = rng.normal(size=(6, 2)) + 1.0, rng.dirichlet(np.ones(6))
        squares = (points**2).sum(axis=1)
        f = lambda u: np.square(u @ points).sum() - u @ squares  # noqa: B023, E731
        gradient = 2.0 * points @ (u @ points) - squares
        alpha, needed = 0.9 * largest, 0.1 * gradient @ gradient
        while f(u - alpha * gradient) > f(u) - alpha * needed:
            alpha *= 0.9
        line = Line(1.0, 1.0, largest, center=lambda: u @ points)  # noqa: B023
        assert rule.prepare(points)(line) == pytest.approx(alpha, rel=1e-9)


def test_growing_step_formula():
    line = Line(slope=1.0, curvature=1.0, largest=1.0, iteration=6)
    assert GrowingStep()(line) == 0.75
    assert GrowingStep()(Line(1.0, 1.0, largest=0.5, iteration=6)) == 0.5


def test_slope_that_is_not_positive_gives_no_step():
    line = Line(slope=-1.0, curvature=1.0, largest=1.0, norm2=lambda: 1.0)
    assert ExactStep()(line) == 0.0
    assert RelaxedStep(1.5)(line) == 0.0
    assert Armijo()(line) == 0.0
    assert Armijo()(Line(slope=0.0, curvature=0.0, largest=1.0)) == 0.0
    assert ShortStep(lipschitz=1.0)(line) == 0.0
    assert math.isclose(GoldenSection()(line), 0.0, abs_tol=1e-7)
