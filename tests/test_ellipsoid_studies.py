"""The measurements of the notebook on excluding ellipsoids."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from mebnb import excluding_ellipsoid, plots
from mebnb.experiments import ellipsoids as studies
from mebnb.solvers.ellipsoids import generalisation_bound


@pytest.fixture(scope="module")
def plane():
    negatives, centers = studies.planar_classes(200, 3)
    found = {
        lam: [excluding_ellipsoid(negatives, c, 0.05, lam, 0.6, 1e-12) for c in centers]
        for lam in (100.0, 1e-4)
    }
    return negatives, found


def classes(seed=0, negatives=120, positives=6):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 5.0, size=(negatives + positives, 3))
    return X, np.repeat([0, 1], [negatives, positives])


def test_the_gaps_are_empty_and_the_square_is_not():
    negatives, centers = studies.planar_classes(500, 0)
    assert 250 < len(negatives) < 500 and centers.shape == (6, 2)
    assert np.all((negatives >= 0) & (negatives <= 4))
    distances = np.linalg.norm(negatives[:, None] - centers, axis=2)
    assert distances.min() >= 0.2
    again, _ = studies.planar_classes(500, 0)
    np.testing.assert_array_equal(negatives, again)


def test_a_small_lambda_keeps_more_negatives_out(plane):
    negatives, found = plane
    table = studies.shape_table(found, negatives)
    round_one, long_one = table.loc[100.0], table.loc[1e-4]
    assert round_one["|M - I|"] < 1e-3 < 1.0 < long_one["|M - I|"]
    assert long_one["negatives inside"] < round_one["negatives inside"]
    assert long_one["R"] > round_one["R"] and long_one["volume"] < round_one["volume"]
    assert round_one["volume"] == pytest.approx(round_one["R"], rel=1e-3)
    assert long_one["inside the ball"] > long_one["negatives inside"]


def test_the_conditions_hold_and_a_wrong_answer_breaks_them(plane):
    negatives, found = plane
    right = found[1e-4][0]
    given = {"negatives": negatives, "mu": 0.05, "B": 0.6}
    assert studies.optimality_table(right, lam=1e-4, **given).max() < 1e-10
    wrong = studies.optimality_table(right, lam=2e-4, **given)
    assert wrong["M in closed form"] > 0.1
    assert (
        studies.optimality_table(right, lam=1e-4, **given | {"mu": 0.1})[
            "R in closed form"
        ]
        > 1e-3
    )


def test_the_scale_of_the_features_decides():
    X, y = classes()
    paths = studies.scale_paths(X, y, [0.75, 10.0], [1.0, 1e-4], 4.0)
    assert list(paths) == list(studies.SCALINGS)
    table = studies.scale_table(paths, 4.0)
    assert table.loc["in [0, 1]", "within sqrt(B)"] == "100.0%"
    negatives, centers = X[y == 0], X[y == 1]
    distances = ((negatives - centers[:, None]) ** 2).sum(axis=2)
    assert table.loc["as they are", "median |x - c|^2"] == f"{np.median(distances):.3f}"
    assert table.loc["as they are", "within sqrt(B)"] == f"{np.mean(distances < 4):.1%}"
    panels = studies.scale_curves(paths, 4.0)
    mus, floor = panels["smallest R"]["floor"]
    np.testing.assert_allclose(floor, [4 - 1 / 1.5, 4 - 1 / 20])
    for name in studies.SCALINGS:
        assert np.all(panels["smallest R"][name][1] >= floor - 1e-9)
        lams, share = panels["negatives inside"][name]
        assert share[0] >= share[1]
    scaled, ellipsoids = paths["in [0, 1]"]
    inside = [path.contains(scaled)[0, 0].mean() for path in ellipsoids]
    _, share = panels["negatives inside"]["in [0, 1]"]
    assert share[0] == pytest.approx(np.mean(inside))


def test_a_negative_on_the_boundary_is_not_inside():
    # Which of those that act the last bit puts inside, differs between builds.
    X, y = classes()
    paths = studies.scale_paths(X, y, [0.75], [1e-4], 4.0)
    inside = studies.scale_curves(paths, 4.0)["negatives inside"]
    for name, (negatives, ellipsoids) in paths.items():
        slack = np.array(
            [
                path.threshold[0, 0] - path.squared_distances(negatives)[0, 0]
                for path in ellipsoids
            ]
        )
        acting = abs(slack) < 1e-4
        assert np.any(slack[acting] >= 0.0) and np.all(abs(slack[~acting]) > 2e-4)
        assert inside[name][1][0] == pytest.approx(np.mean(slack > 2e-4), abs=1e-12)


def test_no_exchange_moves_the_loss_beyond_the_sharp_constant():
    X, y = classes(1)
    negatives = X[y == 0] / 5.0
    table = studies.replacement_table(
        negatives, X[y == 1][0] / 5.0, [20, 60], 0.75, 1.0, 4.0, trials=4
    )
    assert np.all(table["drawn"] <= table["worst"])
    assert np.all(table["worst"] <= table["sharp"] + 1e-4)
    assert np.all(table["sharp"] < table["paper"])
    # Not so loose that the test could not fail.
    assert np.all(table["worst"] > 0.1 * table["sharp"])
    with pytest.raises(ValueError, match="sizes must be less than the 120 negatives"):
        studies.replacement_table(negatives, X[0], [120], 1.0, 1.0, 4.0)


@pytest.mark.parametrize("sharp", [False, True])
def test_the_number_needed_is_the_first_at_which_the_bound_says_something(sharp):
    n = studies.examples_needed(10.0, 100.0, 4.0, sharp=sharp)
    assert generalisation_bound(0.0, n, 10.0, 100.0, 4.0, sharp=sharp) < 4.0
    assert generalisation_bound(0.0, n - 1, 10.0, 100.0, 4.0, sharp=sharp) >= 4.0


def test_the_bounds_lie_above_the_loss_on_new_negatives():
    X, y = classes(2)
    X = X / 5.0
    table = studies.bound_table(X[y == 0], X[y == 1], [(10.0, 100.0), (1.0, 1.0)], 4.0)
    assert table.index.names == ["mu", "lambda"] and np.all(table["n"] == 60)
    assert np.all(table["new"] < table["sharp"])
    assert np.all(table["sharp"] < table["paper"])
    assert table["fitted"].between(0.0, 4.0).all()
    curves = studies.bound_curves([10, 1000], 1.0, 1.0, 4.0)
    assert curves["trivial"][1] == [4.0, 4.0]
    assert curves["paper"][1][0] > curves["paper"][1][1]


# --- pictures ----------------------------------------------------------------------


def test_an_ellipse_is_drawn_where_the_ellipsoid_is(plane):
    negatives, found = plane
    fig = plots.ellipsoids_2d({"long": (negatives, found[1e-4])})
    patches = fig.axes[0].patches
    assert len(patches) == 6
    for patch, ellipsoid in zip(patches, found[1e-4], strict=True):
        # Every third vertex lies on the curve, the others steer it.
        border = patch.get_patch_transform().transform(patch.get_path().vertices[::3])
        distances = ellipsoid.squared_distances(border)
        np.testing.assert_allclose(distances, ellipsoid.R, rtol=1e-2)
    plt.close(fig)


def test_panels_of_methods_and_curves_take_every_name():
    import pandas as pd

    from mebnb.experiments.rare_classes import PAPER, RIVALS

    assert {*PAPER, *RIVALS} <= set(plots.METHOD_STYLES)
    columns = ["published", "published sd", "run", "run sd"]
    panel = pd.DataFrame(0.5, index=["RF", "ME2"], columns=columns)
    fig = plots.published_beside({"one": panel, "two": panel}, "F")
    assert [ax.get_title() for ax in fig.axes] == ["one", "two"]
    plt.close(fig)
    curve = pd.DataFrame({"RF": [0.1, 0.2], "ME2": [0.3, 0.2]}, index=[97.6, 98.3])
    fig = plots.over_rates({"A": curve}, "negatives (%)", "F")
    assert len(fig.axes[0].lines) == 2
    plt.close(fig)
