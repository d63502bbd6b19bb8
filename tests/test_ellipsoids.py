"""Excluding ellipsoids: another solver, identities, theory, and the classifier."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from mebnb import ExcludingEllipsoids
from mebnb.datasets import DatasetNotAvailable, load_dataset
from mebnb.solvers import ellipsoids
from mebnb.solvers.ellipsoids import (
    excluding_ellipsoid,
    excluding_path,
    generalisation_bound,
    stability_constant,
)

MUS = (0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 2.0, 10.0)
LAMS = tuple(10.0**k for k in range(2, -7, -1))


def cloud(seed, n, d, scale=0.6):
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=(n, d)), 0.2 * rng.normal(size=d)


def clarabel(negatives, center, mu, lam, B, plain):
    """Optimal value, R and M of the primal, by cvxpy with Clarabel."""
    cp = pytest.importorskip("cvxpy")
    y = negatives - center
    n, d = y.shape
    M, R = cp.Variable((d, d), symmetric=True), cp.Variable()
    outer = np.einsum("ij,ik->ijk", y, y).reshape(n, d * d)
    distances = outer @ cp.vec(M, order="C")
    loss = cp.sum(cp.pos((cp.square(R) if plain else R) - distances)) / n
    value = loss + mu * cp.square(B - R) + lam * cp.sum_squares(M - np.eye(d))
    problem = cp.Problem(cp.Minimize(value), [R >= 0, R <= B])
    accuracy = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
    problem.solve(solver="CLARABEL", **accuracy)
    return problem.value, float(R.value), M.value


def value_at(R, M, negatives, center, mu, lam, B):
    """The primal objective, written out as problem 2 has it."""
    y = negatives - center
    distances = np.array([row @ M @ row for row in y])
    penalty = mu * (B - R) ** 2 + lam * np.sum((M - np.eye(len(M))) ** 2)
    return np.mean(np.maximum(0.0, R - distances)) + penalty


# --- against an independent solver --------------------------------------------------


@pytest.mark.parametrize(
    "n, d, mu, lam, B, radius",
    [
        (60, 3, 1.0, 0.1, 4.0, "squared"),
        (60, 3, 0.75, 1e-3, 4.0, "squared"),
        (80, 2, 10.0, 1e-2, 4.0, "squared"),
        (12, 6, 2.0, 1e-3, 4.0, "squared"),  # fewer negatives than entries of M
        (40, 2, 0.05, 1.0, 1.0, "squared"),  # R >= 0 acts
        (1, 4, 1.0, 1e-2, 2.0, "squared"),
        (60, 3, 1.0, 0.1, 4.0, "plain"),
        (60, 3, 0.75, 1e-2, 2.0, "plain"),
        (12, 6, 10.0, 1e-2, 4.0, "plain"),
    ],
)
def test_agrees_with_clarabel(n, d, mu, lam, B, radius):
    negatives, center = cloud(n + d, n, d)
    found = excluding_ellipsoid(negatives, center, mu, lam, B, 1e-10, radius=radius)
    value, R, M = clarabel(negatives, center, mu, lam, B, radius == "plain")
    assert found.converged and found.gap <= 1e-10 * max(1.0, found.primal)
    assert found.primal == pytest.approx(value, abs=1e-8)
    assert pytest.approx(R, abs=1e-4) == found.R
    np.testing.assert_allclose(found.M, M, atol=1e-3 * max(1.0, np.abs(M).max()))


def unit_features(name):
    try:
        data = load_dataset(name)
    except DatasetNotAvailable as missing:
        pytest.skip(str(missing))
    points = data.encoded().to_numpy()
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    return points[data.is_nominal], points[data.is_anomaly]


@pytest.mark.parametrize("name", ["yeast6", "wine4", "abalone19"])
def test_every_problem_of_the_papers_grid_is_certified(name):
    negatives, positives = unit_features(name)
    for center in positives[:2]:
        path = excluding_path(negatives, center, MUS, LAMS)
        assert path.converged
        assert np.all(path.gap <= 1e-8 * np.maximum(1.0, path.primal))
        lowest = 4.0 - 0.5 / np.array(MUS)
        assert np.all((lowest - 1e-12 <= path.R) & (path.R <= 4.0))


@pytest.mark.parametrize("mu, lam", [(0.75, 1e-6), (1.0, 1e-3), (10.0, 1e2)])
def test_agrees_with_clarabel_on_yeast(mu, lam):
    negatives, positives = unit_features("yeast6")
    found = excluding_ellipsoid(negatives, positives[0], mu, lam)
    value, *_ = clarabel(negatives, positives[0], mu, lam, 4.0, plain=False)
    assert found.primal == pytest.approx(value, abs=2e-8)


# --- identities ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_the_optimality_conditions(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 80)), int(rng.integers(1, 6))
    negatives, center = cloud(seed, n, d, scale=float(rng.choice([0.1, 0.5, 2.0])))
    mu, lam = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-4, 1)
    B = float(rng.choice([0.5, 4.0]))
    found = excluding_ellipsoid(negatives, center, mu, lam, B, 1e-13)
    alpha, y = found.multipliers, negatives - center
    distances = found.squared_distances(negatives)

    assert np.all((alpha >= 0) & (alpha <= 1 / n + 1e-15))
    np.testing.assert_allclose(
        found.M, np.eye(d) + (y.T * alpha) @ y / (2 * lam), rtol=1e-12
    )
    assert pytest.approx(max(0.0, B - alpha.sum() / (2 * mu)), abs=1e-12) == found.R
    assert max(0.0, B - 0.5 / mu) - 1e-12 <= found.R <= B
    # Complementarity: a negative clearly outside has no multiplier, one inside the cap.
    assert np.all(alpha[distances > found.R + 1e-4] < 1e-8)
    if found.R > 0:
        np.testing.assert_allclose(alpha[distances < found.R - 1e-4], 1 / n, rtol=1e-6)
    # X-ME2-SCREEN: what acts lies within R, hence B, already in the plain metric.
    assert np.all(np.sum(y**2, axis=1)[alpha > 1e-8] <= found.R + 1e-6)
    np.testing.assert_allclose(found.L @ found.L.T, found.M, rtol=1e-12, atol=1e-12)
    assert np.array_equal(found.L, np.tril(found.L))


@pytest.mark.parametrize("seed", range(6))
def test_the_values_are_those_of_the_problems(seed):
    negatives, center = cloud(seed, 30, 3)
    mu, lam, B = 0.8, 0.05, 2.0
    found = excluding_ellipsoid(negatives, center, mu, lam, B)
    alpha, y = found.multipliers, negatives - center
    gram = y @ y.T
    total = alpha.sum()
    dual = (
        B * total
        - total**2 / (4 * mu)
        - alpha @ np.diag(gram)
        - alpha @ gram**2 @ alpha / (4 * lam)
    )
    primal = value_at(found.R, found.M, negatives, center, mu, lam, B)
    assert found.primal == pytest.approx(primal, abs=1e-12)
    assert found.dual == pytest.approx(dual, abs=1e-12)
    assert found.gap == pytest.approx(primal - dual, abs=1e-12)
    # No other parameters do better, whichever way one moves.
    rng = np.random.default_rng(seed)
    for size in (1e-3, 1e-1):
        step = size * rng.normal(size=(3, 3))
        R = np.clip(found.R + size * rng.normal(), 0, B)
        other = value_at(R, found.M + step + step.T, negatives, center, mu, lam, B)
        assert other >= found.dual


def test_the_l2_regularised_hinge_problem_has_the_same_value():
    # X-ME2-HINGE: |v|^2 + (1/n) sum [B - |y|^2 - <v, psi>]_+, d (d + 1) / 2 + 1 numbers
    from scipy.optimize import minimize

    negatives, center = cloud(3, 25, 2)
    mu, lam, B = 1.0, 0.1, 2.0
    y = negatives - center
    psi = np.column_stack(
        [
            np.full(25, 1 / math.sqrt(mu)),
            y[:, 0] ** 2 / math.sqrt(lam),
            math.sqrt(2 / lam) * y[:, 0] * y[:, 1],
            y[:, 1] ** 2 / math.sqrt(lam),
        ]
    )
    margins = B - np.sum(y**2, axis=1)

    def value(v):
        return v[:4] @ v[:4] + v[4:].mean()

    hinge = minimize(
        value,
        np.concatenate([np.zeros(4), np.maximum(0, margins)]),
        bounds=[(None, None)] * 4 + [(0, None)] * 25,
        constraints={
            "type": "ineq",
            "fun": lambda v: v[4:] - margins + psi @ v[:4],
            "jac": lambda v: np.hstack([psi, np.eye(25)]),
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    found = excluding_ellipsoid(negatives, center, mu, lam, B, 1e-11)
    assert found.primal == pytest.approx(hinge.fun, abs=1e-8)
    assert math.sqrt(mu) * (B - found.R) == pytest.approx(hinge.x[0], abs=1e-5)


def test_both_ends_of_the_range_of_R_are_attained():
    far = np.array([[2.0, 0.0], [0.0, 3.0]])
    alone = excluding_ellipsoid(far, [0.0, 0.0], mu=0.5, lam=1.0)
    assert alone.R == 4.0 and alone.primal == 0.0
    assert np.array_equal(alone.M, np.eye(2)) and not alone.multipliers.any()
    on_top = excluding_ellipsoid(np.zeros((5, 2)), [0.0, 0.0], mu=0.5, lam=1.0)
    assert pytest.approx(4.0 - 1.0, abs=1e-9) == on_top.R
    gone = excluding_ellipsoid(np.zeros((5, 2)), [0.0, 0.0], mu=0.1, lam=1.0)
    assert pytest.approx(0.0, abs=1e-9) == gone.R


def test_far_negatives_count_in_n_and_nowhere_else():
    near, center = cloud(5, 20, 2)
    far = near[:20] + 100.0
    both = excluding_ellipsoid(np.vstack([near, far]), center, 1.0, 0.01, tol=1e-12)
    assert not both.multipliers[20:].any()
    # Half the weight on every near loss: the same as doubling both penalties.
    alone = excluding_ellipsoid(near, center, 2.0, 0.02, tol=1e-12)
    assert pytest.approx(alone.R, abs=1e-6) == both.R
    assert both.primal == pytest.approx(alone.primal / 2, abs=1e-11)


def test_moves_turns_and_scales_with_the_data():
    negatives, center = cloud(8, 40, 3)
    found = excluding_ellipsoid(negatives, center, 1.0, 0.02, 4.0, 1e-12)
    moved = excluding_ellipsoid(negatives + 1e3, center + 1e3, 1.0, 0.02, 4.0, 1e-12)
    assert pytest.approx(found.R, abs=1e-6) == moved.R
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    turned = excluding_ellipsoid(negatives @ turn, center @ turn, 1.0, 0.02, 4.0, 1e-12)
    np.testing.assert_allclose(turned.M, turn.T @ found.M @ turn, atol=1e-5)
    s = 7.0
    scaled = excluding_ellipsoid(
        s * negatives, s * center, 1.0 / s**2, 0.02 * s**2, 4.0 * s**2, 1e-12
    )
    assert scaled.R / s**2 == pytest.approx(found.R, abs=1e-5)
    np.testing.assert_allclose(scaled.M, found.M, atol=1e-4)


@pytest.mark.parametrize("shift", [2.0**30, -(2.0**42)])
@pytest.mark.parametrize("shape", [(40, 3), (6, 12)], ids=["features", "gram"])
def test_far_from_the_origin_not_a_bit_changes(shape, shift):
    # Multiples of 1/1024 move without rounding; a sum from the origin would round.
    negatives, center = (np.round(part * 1024) / 1024 for part in cloud(3, *shape))
    lams = (0.1, 0.01)
    near = excluding_ellipsoid(negatives, center, 1.0, 0.02)
    far = excluding_ellipsoid(negatives + shift, center + shift, 1.0, 0.02)
    assert (far.R, far.primal, far.dual) == (near.R, near.primal, near.dual)
    assert 0.0 < near.R < 4.0
    np.testing.assert_array_equal(far.M, near.M)
    inside = far.contains(negatives + shift)
    np.testing.assert_array_equal(inside, near.contains(negatives))
    near = excluding_path(negatives, center, (1.0, 2.0), lams)
    far = excluding_path(negatives + shift, center + shift, (1.0, 2.0), lams)
    np.testing.assert_array_equal(far.R, near.R)
    np.testing.assert_array_equal(far.M, near.M)


@pytest.mark.parametrize("plain", [False, True])
def test_the_curvature_is_that_of_the_radius_where_it_bends_most(plain):
    # k' is what distances are held against, at a sum of multipliers t.
    def bend(t, h=1e-6):
        high, low = (ellipsoids._radius(t + s, 0.7, 2.0, plain)[1] for s in (-h, h))
        return (high - low) / (2.0 * h)

    for total, alpha, slope in [(0.5, 0.2, 1.0), (0.5, 0.2, -1.0), (0.3, 0.3, 1.0)]:
        found = ellipsoids._curvature(total, alpha, slope, 0.7, 2.0, plain)
        where = total - alpha if slope > 0.0 else total
        assert found == pytest.approx(bend(where), rel=1e-8)
    # R and its square, where mu (B - R)^2 and R times the sum are balanced.
    R, threshold = ellipsoids._radius(0.5, 0.7, 2.0, plain)
    assert threshold == (R * R if plain else R)
    balance = 2.0 * 0.7 * (2.0 - R) - 0.5 * (2.0 * R if plain else 1.0)
    assert balance == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("mu", [0.01, 1.0])
def test_the_first_guess_is_the_best_multiple_of_all_at_their_cap(mu, lam):
    y, center = cloud(2, 30, 3)
    problem = ellipsoids._prepare(y - center, 2.0, False)

    def dual(alpha):
        inside, total = problem.y, alpha.sum()
        matrix = (inside.T * alpha) @ inside
        return (
            total * 2.0
            - total**2 / (4.0 * mu)
            - np.trace(matrix)
            - (matrix**2).sum() / (4.0 * lam)
        )

    guess = ellipsoids._first_guess(problem, mu, lam, 2.0)
    share = guess[0] / problem.cap
    np.testing.assert_allclose(guess, share * problem.cap)
    at = dual(guess)
    others = [dual(np.full(len(guess), s * problem.cap)) for s in np.linspace(0, 1, 99)]
    assert at >= max(others) and 0.0 < share <= 1.0


def test_on_the_border_is_inside():
    far, center = np.full((1, 2), 9.0), [0.0, 0.0]  # R = B = 4 and M = I
    points = [[2.0, 0.0], [0.0, np.nextafter(2.0, 3.0)]]
    found = excluding_ellipsoid(far, center, 1.0, 1.0)
    path = excluding_path(far, center, [1.0], [1.0])
    assert found.contains(points).tolist() == [True, False]
    assert path.contains(points).tolist() == [[[True, False]]]


def test_a_path_says_when_its_gap_is_out_of_reach(recwarn):
    negatives, center = cloud(9, 40, 3)
    assert excluding_path(negatives, center, [1.0], [0.1]).converged
    assert not recwarn.list
    # Where rounding happens to leave no gap at all, there is nothing to say.
    path = excluding_path(negatives, center, [0.5, 1.0, 2.0], [0.01, 0.1], tol=1e-300)
    assert path.converged == (path.gap.max() <= 1e-300)
    told = [str(warning.message) for warning in recwarn.list]
    assert ["the gap stays at" in text for text in told] == [True] * (
        not path.converged
    )


def test_the_same_call_gives_the_same_bits():
    negatives, center = cloud(9, 200, 4)
    first, second = (
        excluding_ellipsoid(negatives, center, 0.75, 1e-4) for _ in range(2)
    )
    assert first.primal == second.primal
    assert np.array_equal(first.multipliers, second.multipliers)


# --- the path -----------------------------------------------------------------------


@pytest.mark.parametrize("n, d", [(60, 3), (9, 5)])
@pytest.mark.parametrize("radius", ["squared", "plain"])
def test_a_path_holds_the_same_ellipsoids(n, d, radius):
    negatives, center = cloud(n, n, d)
    mus, lams = (0.75, 2.0, 10.0), (1.0, 1e-1, 1e-3)
    path = excluding_path(negatives, center, mus, lams, tol=1e-11, radius=radius)
    points, _ = cloud(77, 50, d, scale=1.0)
    inside = path.contains(points)
    for i, lam in enumerate(lams):
        for j, mu in enumerate(mus):
            alone = excluding_ellipsoid(
                negatives, center, mu, lam, tol=1e-11, radius=radius
            )
            assert path.primal[i, j] == pytest.approx(alone.primal, abs=1e-10)
            assert path.R[i, j] == pytest.approx(alone.R, abs=1e-5)
            np.testing.assert_allclose(path.M[i, j], alone.M, atol=1e-3)
            clear = np.abs(alone.squared_distances(points) - alone.threshold) > 1e-2
            assert np.array_equal(inside[i, j][clear], alone.contains(points)[clear])


# --- theory -------------------------------------------------------------------------


def test_the_constants_are_those_of_the_corrected_paper():
    k = 4 * 4.0**2
    assert stability_constant(0.75, 0.1) == pytest.approx(4 * k**2 / 0.1)
    assert stability_constant(2.0, 5.0, B=0.1) == pytest.approx(4 / 2.0)
    assert stability_constant(2.0, 5.0, B=3.0, sharp=True) == pytest.approx(0.5 + 9 / 5)
    width = math.sqrt(math.log(1 / 0.05) / 200)
    beta = 4 * k**2 / 0.1
    expected = 0.3 + 2 * beta / 100 + (4 * beta + 4.0) * width
    assert generalisation_bound(0.3, 100, 0.75, 0.1) == pytest.approx(expected)
    beta = 1 / 0.75 + 16 / 0.1
    expected = 0.3 + beta / 100 + (2 * beta + 4.0) * width
    sharp = generalisation_bound(0.3, 100, 0.75, 0.1, sharp=True)
    assert sharp == pytest.approx(expected)


def test_replacing_one_negative_moves_no_loss_beyond_the_constants():
    rng = np.random.default_rng(0)
    worst = 0.0
    for seed in range(40):
        n, d = int(rng.integers(4, 30)), int(rng.integers(1, 4))
        negatives, center = cloud(seed, n, d, scale=0.4)
        mu, lam, B = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-3, 1), 1.0
        other = negatives.copy()
        other[0] = center + rng.choice([0.0, 0.5, 3.0]) * rng.normal(size=d)
        one, two = (
            excluding_ellipsoid(x, center, mu, lam, B, 1e-12)
            for x in (negatives, other)
        )
        tests = np.vstack([negatives, other, center, center + rng.normal(size=(40, d))])
        losses = [
            np.maximum(0, found.R - found.squared_distances(tests))
            for found in (one, two)
        ]
        moved = np.abs(losses[0] - losses[1]).max() * n
        sharp = stability_constant(mu, lam, B, sharp=True)
        assert moved <= sharp + 1e-5
        assert sharp <= stability_constant(mu, lam, B)
        worst = max(worst, moved / sharp)
    # Not so loose that the test could not fail.
    assert worst > 0.2


# --- input --------------------------------------------------------------------------

GOOD = dict(negatives=np.eye(2), center=[0.0, 0.0], mu=1.0, lam=1.0)


@pytest.mark.parametrize(
    "change, error, words",
    [
        ({"negatives": np.ones(3)}, ValueError, "negatives must have two dimensions"),
        ({"negatives": [[np.nan, 1.0]]}, ValueError, "negatives must be finite"),
        ({"negatives": [["a", "b"]]}, TypeError, "negatives must hold real numbers"),
        ({"center": [0.0, 0.0, 0.0]}, ValueError, "center's 3 features, found 2"),
        ({"center": [[0.0, 0.0]]}, ValueError, r"center must be one point"),
        ({"center": [0.0, np.inf]}, ValueError, "center must be finite"),
        ({"mu": 0.0}, ValueError, "mu must be a positive number, found 0.0"),
        ({"mu": "much"}, TypeError, "mu must be a positive number, found 'much'"),
        ({"lam": -1.0}, ValueError, "lam must be a positive number"),
        ({"B": np.inf}, ValueError, "B must be a positive number"),
        ({"tol": 0.0}, ValueError, "tol must be a positive number"),
        ({"radius": "square"}, ValueError, "radius must be one of 'squared', 'plain'"),
    ],
)
def test_bad_input_is_named(change, error, words):
    with pytest.raises(error, match=words):
        excluding_ellipsoid(**(GOOD | change))


@pytest.mark.parametrize(
    "change, words",
    [
        ({"mus": []}, "mus must hold at least one"),
        ({"lams": [1.0, 0.0]}, "lams must be a positive number, found 0.0"),
    ],
)
def test_a_bad_grid_is_named(change, words):
    good = dict(negatives=np.eye(2), center=[0.0, 0.0], mus=[1.0], lams=[1.0])
    with pytest.raises(ValueError, match=words):
        excluding_path(**(good | change))


def test_points_of_another_width_are_refused():
    found = excluding_ellipsoid(**GOOD)
    with pytest.raises(ValueError, match="points must have the center's 2 features"):
        found.contains(np.ones((3, 5)))


@pytest.mark.parametrize("words", [{"n": 0}, {"delta": 1.0}, {"delta": -0.1}])
def test_a_bound_needs_a_sample_and_a_confidence(words):
    with pytest.raises(ValueError, match=next(iter(words))):
        generalisation_bound(
            **({"empirical_risk": 0.1, "n": 10, "mu": 1, "lam": 1} | words)
        )


def test_a_gap_out_of_reach_is_said():
    negatives, center = cloud(2, 50, 3)
    with pytest.warns(UserWarning, match="the gap stays at"):
        found = excluding_ellipsoid(negatives, center, 1.0, 1e-3, tol=1e-300)
    assert not found.converged and found.gap < 1e-10


# --- the classifier -----------------------------------------------------------------


def two_classes(seed=0, negatives=90, positives=12):
    rng = np.random.default_rng(seed)
    X = np.vstack(
        [rng.normal(size=(negatives, 3)), 0.8 + 0.6 * rng.normal(size=(positives, 3))]
    )
    y = np.repeat(["many", "few"], [negatives, positives])
    order = rng.permutation(len(y))
    return X[order], y[order]


def test_the_classifier_is_a_scikit_learn_estimator():
    check_estimator(ExcludingEllipsoids(), on_skip=None)


def by_hand(model, X, positive, x):
    """The rule for one example, with loops; X and x are scaled."""
    centers = X[positive]
    k = int(np.argmin([np.sum((x - c) ** 2) for c in centers]))
    c, M = centers[k], model.M_[k]
    negatives = X[~positive]
    if model.rank_among == "all":
        negatives = np.array([row for row in X if not np.array_equal(row, c)])

    def distance(point):
        metric = M if model.rank_metric == "learned" else np.eye(len(c))
        return (point - c) @ metric @ (point - c)

    closer = sum(distance(row) < distance(x) for row in negatives)
    inside = (x - c) @ M @ (x - c) <= model.thresholds_[k]
    return k, inside, model.m is None or closer < model.m


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rank_metric": "learned"},
        {"rank_among": "all"},
        {"m": None},
        {"m": 1, "scaling": "standard"},
        {"radius": "plain", "B": 1.0, "scaling": None},
    ],
)
def test_the_rule_is_that_of_the_paper(options):
    X, y = two_classes()
    model = ExcludingEllipsoids(
        random_state=0, B=0.5, mus=(1.0, 10.0), lams=(1e-3, 1.0)
    )
    model.set_params(**options).fit(X, y)
    tests, _ = two_classes(1)
    scaled = [X, tests]
    if model.scaler_ is not None:
        scaled = [model.scaler_.transform(Z) for Z in scaled]
    expected = [by_hand(model, scaled[0], y == "few", x) for x in scaled[1]]
    found = model.explain(tests)
    assert found["center"].tolist() == [k for k, _, _ in expected]
    assert found["inside"].tolist() == [inside for _, inside, _ in expected]
    assert found["near"].tolist() == [near for _, _, near in expected]
    called = np.array([inside and near for _, inside, near in expected])
    assert np.array_equal(model.predict(tests), np.where(called, "few", "many"))
    assert 0 < called.sum() < len(called)


@pytest.mark.parametrize("rank_metric", ["euclidean", "learned"])
def test_an_example_that_repeats_the_last_near_negative_is_near(rank_metric):
    X, y = two_classes(6)
    model = ExcludingEllipsoids(
        B=1.0, scaling=None, rank_metric=rank_metric, random_state=0
    ).fit(X, y)
    negatives = X[y == "many"]
    seen = 0
    for k, c in enumerate(model.centers_):
        metric = model.M_[k] if rank_metric == "learned" else np.eye(3)
        gaps = negatives - c
        order = np.argsort(np.einsum("ki,ij,kj->k", gaps, metric, gaps))
        # The third nearest is near, the fourth is not, where this center owns them.
        found = model.explain(negatives[order[2:4]])
        for row, near in zip(found.itertuples(), (True, False), strict=True):
            if row.center == k:
                assert row.near == near
                seen += 1
    assert seen > 5


@pytest.mark.parametrize("ties", ["smallest", "largest"])
def test_each_ellipsoid_is_tuned_on_the_other_fold(ties):
    from mebnb.learning.detectors import _two_folds

    X, y = two_classes(3)
    few = y == "few"
    mus, lams = (0.75, 10.0), (1e-4, 1e-2, 1.0)
    model = ExcludingEllipsoids(
        mus=mus, lams=lams, B=1.0, scaling=None, ties=ties, random_state=7
    )
    model.fit(X, y)
    fold = _two_folds(few, np.random.RandomState(7))
    for k, row in enumerate(np.flatnonzero(few)):
        own = fold == fold[row]
        rivals, negatives = X[own & few], X[own & ~few]
        c = X[row]
        others = np.flatnonzero(~own)
        mine = [
            i
            for i in others
            if np.argmin(np.sum((rivals - X[i]) ** 2, axis=1))
            == np.argmin(np.sum((rivals - c) ** 2, axis=1))
        ]
        merit = {}
        for lam in lams:
            for mu in mus:
                shape = excluding_ellipsoid(negatives, c, mu, lam, 1.0, 1e-10)
                called = [
                    bool(
                        shape.contains(X[i][None])[0]
                        and np.sum(
                            np.sum((negatives - c) ** 2, axis=1)
                            < np.sum((X[i] - c) ** 2)
                        )
                        < 3
                    )
                    for i in mine
                ]
                right = sum(a and few[i] for a, i in zip(called, mine, strict=True))
                false = sum(a and not few[i] for a, i in zip(called, mine, strict=True))
                truths = sum(few[i] for i in mine)
                merit[lam, mu] = (
                    2 * right / (right + false + truths) if truths else -false
                )
        best = sorted(pair for pair in merit if merit[pair] == max(merit.values()))
        assert model.tied_[k] == len(best)
        chosen = best[0] if ties == "smallest" else best[-1]
        assert (model.lam_[k], model.mu_[k]) == chosen
        final = excluding_ellipsoid(X[~few], c, chosen[1], chosen[0], 1.0)
        assert model.R_[k] == pytest.approx(final.R, abs=1e-4)
    assert len(set(model.tied_)) > 1


def test_the_answer_depends_on_the_seed_alone():
    X, y = two_classes(5)
    models = [
        ExcludingEllipsoids(random_state=seed, n_jobs=jobs, B=1.0).fit(X, y)
        for seed, jobs in ((0, None), (0, 2), (1, None))
    ]
    assert np.array_equal(models[0].M_, models[1].M_)
    assert np.array_equal(models[0].tied_, models[1].tied_)
    assert not np.array_equal(models[0].tied_, models[2].tied_)


def test_the_rarer_class_is_positive_unless_named():
    X, y = two_classes()
    model = ExcludingEllipsoids(mus=(1.0,), lams=(1.0,), random_state=0).fit(X, y)
    assert model.positive_ == "few" and len(model.centers_) == 12
    # classes_[1] is "many": its side of the decision function is the upper one.
    assert np.array_equal(model.decision_function(X) > 0, model.predict(X) == "many")
    other = model.set_params(positive="many").fit(X, y)
    assert other.positive_ == "many" and len(other.centers_) == 90


@pytest.mark.parametrize("positives", [1, 2])
def test_a_handful_of_positives_is_enough(positives):
    X, y = two_classes(2, negatives=20, positives=positives)
    model = ExcludingEllipsoids(random_state=0).fit(X, y)
    assert np.all(model.predict(X[y == "few"]) == "few")


@pytest.mark.parametrize(
    "change, words",
    [
        (
            {"radius": "cubed"},
            "radius must be one of 'squared', 'plain', found 'cubed'",
        ),
        ({"scaling": "rank"}, "scaling must be one of 'unit', 'standard', None"),
        ({"rank_among": "none"}, "rank_among must be one of"),
        ({"rank_metric": "L1"}, "rank_metric must be one of"),
        ({"ties": "random"}, "ties must be one of"),
        ({"m": 0}, "m must be None or a whole number >= 1, found 0"),
        ({"mus": []}, "mus must be a list of positive numbers"),
        ({"lams": (1.0, -1.0)}, "lams must be a list of positive numbers"),
        ({"B": -1.0}, "B must be a positive number"),
        ({"positive": "none"}, "positive must be one of the classes"),
    ],
)
def test_a_bad_option_is_named(change, words):
    X, y = two_classes()
    with pytest.raises(ValueError, match=words):
        ExcludingEllipsoids(**change).fit(X, y)


def test_one_class_or_three_are_refused():
    X, y = two_classes()
    with pytest.raises(ValueError, match="two classes, found one class"):
        ExcludingEllipsoids().fit(X[y == "few"], y[y == "few"])
    with pytest.raises(ValueError, match="two classes, found 3"):
        ExcludingEllipsoids().fit(X, np.arange(len(y)) % 3)
