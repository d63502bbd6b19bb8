"""Step rules on lines whose best step is known."""

import math

import numpy as np
import pytest

from mebnb.solvers.faulty_steps import (
    ArmijoOffTheSimplex,
    GoldenSectionMidpoint,
    GoldenSectionWithSignSlip,
)
from mebnb.solvers.steps import (
    STEP_RULES,
    Armijo,
    DiminishingStep,
    ExactStep,
    GoldenSection,
    Line,
    ShortStep,
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


@pytest.mark.parametrize("rule", [ShortStep(lipschitz=0.5), DiminishingStep()])
def test_formula_rules_clip_at_the_largest_step_exactly(rule):
    assert rule(CLIPPED) == CLIPPED.largest


@pytest.mark.parametrize("rule", SEARCHES, ids=lambda r: type(r).__name__)
def test_no_curvature_means_the_largest_step(rule):
    assert rule(Line(slope=1.0, curvature=0.0, largest=0.5)) == 0.5


def test_golden_section_finds_the_interior_minimum():
    assert GoldenSection()(INTERIOR) == pytest.approx(0.25, abs=1e-7)


def test_armijo_halves_until_the_decrease_is_enough():
    # Trials 1, 1/2, 1/4: change = a (4a - 2) <= -0.1 a 2 first holds at a <= 0.45.
    assert Armijo()(INTERIOR) == 0.25
    step = Armijo()(INTERIOR)
    assert INTERIOR.change(step) <= -0.1 * step * INTERIOR.slope


def test_short_step_formula():
    assert ShortStep(lipschitz=10.0)(INTERIOR) == pytest.approx(2.0 / (10.0 * 2.0))


def test_diminishing_step_formula():
    line = Line(slope=1.0, curvature=1.0, largest=1.0, iteration=6)
    assert DiminishingStep()(line) == 0.25


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


def test_slope_that_is_not_positive_gives_no_step():
    line = Line(slope=-1.0, curvature=1.0, largest=1.0, norm2=lambda: 1.0)
    assert ExactStep()(line) == 0.0
    assert Armijo()(line) == 0.0
    assert ShortStep(lipschitz=1.0)(line) == 0.0
    assert math.isclose(GoldenSection()(line), 0.0, abs_tol=1e-7)
