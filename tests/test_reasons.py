"""Reasons: contributions add up, and the smallest change is on the threshold."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from mebnb.learning.alarms import ConformalAlarms
from mebnb.learning.detectors import (
    BallDetector,
    MahalanobisDetector,
    MeanDetector,
    SoftBallDetector,
)
from mebnb.learning.reasons import (
    SquaredForm,
    named_columns,
    nearest_rows,
    reason_table,
    replacement_gains,
    squared_form,
)

UNITS = np.array([1.0, 1e-3, 50.0, 1e4])


def rows_in_units(m=120, seed=0):
    """Four columns in units of their own, two of them correlated."""
    rows = np.random.default_rng(seed).normal(size=(m, 4))
    rows[:, 1] = 0.95 * rows[:, 0] + 0.3 * rows[:, 1]
    return 7.0 + rows * UNITS


DETECTORS = {
    "ball": BallDetector(),
    "soft ball": SoftBallDetector(nu=0.1),
    "mean": MeanDetector(quantile=0.9),
    "Mahalanobis": MahalanobisDetector(),
}
SCALED = {
    f"{name}, {scaler.__class__.__name__}": make_pipeline(scaler, detector)
    for name, detector in DETECTORS.items()
    for scaler in (StandardScaler(), MinMaxScaler())
}


@pytest.mark.parametrize("name", [*DETECTORS, *SCALED])
@pytest.mark.parametrize("conformal", [False, True])
def test_the_form_is_the_detector_in_the_units_of_the_file(name, conformal):
    detector = (DETECTORS | SCALED)[name]
    rows, new = rows_in_units(), rows_in_units(40, seed=1)
    new[::2] += 3.0 * UNITS
    if conformal:
        detector = ConformalAlarms(detector, random_state=0)
    fitted = detector.fit(rows)
    form = squared_form(fitted)
    own = fitted.detectors_[0] if conformal else fitted
    distances = -own.score_samples(new)
    np.testing.assert_allclose(form.squared_distances(new), distances**2, rtol=1e-9)
    outside = distances > form.reach
    np.testing.assert_array_equal(fitted.predict(new) == -1, outside)
    assert 0 < outside.sum() < len(new)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    n=st.integers(1, 8),
    seed=st.integers(0, 10_000),
    far=st.sampled_from([0.1, 3.0, 1e3]),
    diagonal=st.booleans(),
)
def test_contributions_add_up_and_changes_reach_the_threshold(n, seed, far, diagonal):
    rng = np.random.default_rng(seed)
    root = np.eye(n) if diagonal else rng.normal(size=(n + 3, n))
    form = SquaredForm(rng.normal(size=n), root.T @ root, rng.uniform(0.5, 2.0))
    X = form.center + far * rng.normal(size=(6, n))
    whole = ((X - form.center) @ root.T if not diagonal else X - form.center) ** 2
    whole = whole.sum(axis=1)
    np.testing.assert_allclose(form.contributions(X).sum(axis=1), whole, rtol=1e-12)
    pairs = form.pair_contributions(X)
    np.testing.assert_allclose(pairs.sum(axis=(1, 2)), whole, rtol=1e-12)
    alarm = whole > form.reach**2

    together = form.joint_changes(X)
    moved = np.sqrt(form.squared_distances(X + together))
    np.testing.assert_allclose(moved[alarm], form.reach, rtol=1e-9)
    assert (together[~alarm] == 0.0).all()

    single = form.single_changes(X)
    assert (single[~alarm] == 0.0).all()
    for column in range(n):
        change = np.zeros_like(X)
        change[:, column] = single[:, column]
        enough = alarm & ~np.isnan(single[:, column])
        moved = np.sqrt(form.squared_distances(X + change))
        np.testing.assert_allclose(moved[enough], form.reach, rtol=1e-9)
        # Half of it does not clear the alarm: there is no smaller one.
        halfway = np.sqrt(form.squared_distances(X + 0.5 * change))
        assert (halfway[enough] > form.reach).all()
        for row in np.flatnonzero(alarm & np.isnan(single[:, column])):
            # The best value of this column leaves the row outside.
            best = X[row].copy()
            pull = (X[row] - form.center) @ form.matrix
            best[column] -= pull[column] / form.matrix[column, column]
            assert np.sqrt(form.squared_distances(best[None, :]))[0] >= form.reach


def test_the_joint_change_is_the_smallest():
    fitted = MahalanobisDetector().fit(rows_in_units() / UNITS)
    form = squared_form(fitted)
    row = rows_in_units(1, 3) / UNITS + 5.0
    change = form.joint_changes(row)
    size = np.einsum("ij,jk,ik->i", change, form.matrix, change)
    rng = np.random.default_rng(0)
    for other in change + rng.normal(size=(500, 4)) * np.abs(change):
        if form.squared_distances(row + other)[0] <= form.reach**2:
            assert other @ form.matrix @ other >= size


def test_a_broken_correlation_is_a_pair_and_a_wild_value_a_column():
    pipeline = make_pipeline(StandardScaler(), MahalanobisDetector())
    form = squared_form(pipeline.fit(rows_in_units(400)))
    broken = np.full(4, 7.0) + UNITS * [1.5, -1.5, 0.2, 0.1]
    wild = np.full(4, 7.0) + UNITS * [0.0, 0.0, 6.0, 0.1]
    named = form.pair_contributions([broken, wild])
    assert np.unravel_index(named[0].argmax(), (4, 4)) == (0, 1)
    assert np.unravel_index(named[1].argmax(), (4, 4)) == (2, 2)
    assert (np.tril(named, -1) == 0.0).all()


def test_the_table_of_one_row_says_what_clears_it():
    names = ["a", "b", "c", "d"]
    rows = rows_in_units()
    form = squared_form(
        ConformalAlarms(
            make_pipeline(StandardScaler(), BallDetector()), random_state=0
        ).fit(rows)
    )
    row = rows.mean(axis=0)
    row[2] += 9.0 * UNITS[2]
    table = reason_table(form, row, names)
    assert table.index[0] == "c"
    assert table["share"].sum() == pytest.approx(1.0)
    cleared = row.copy()
    cleared[2] = table.loc["c", "clears_at"]
    assert form.squared_distances([cleared]) == pytest.approx(form.reach**2)
    together = table.loc[names, "together"].to_numpy()
    assert form.squared_distances([together]) == pytest.approx(form.reach**2)
    assert table.loc[["a", "b", "d"], "clears_at"].isna().all()


def plainly_named(center, covariance, reach, row):
    """What `named_columns` says of a row, by solving for one column after the other."""
    precision, columns = np.linalg.inv(covariance), range(len(center))
    best = []
    for column in columns:
        changed, others = row.copy(), np.delete(columns, column)
        slopes = np.linalg.solve(
            covariance[np.ix_(others, others)], covariance[others, column]
        )
        changed[column] = center[column] + slopes @ (row - center)[others]
        best.append((changed - center) @ precision @ (changed - center))
    first = int(np.argmin(best))
    deviation = np.sqrt(covariance[first, first])
    if abs(row[first] - center[first]) > 2 * deviation and best[first] <= reach**2:
        return {first}
    planes = {}
    for pair in itertools.combinations(columns, 2):
        apart, part = (row - center)[list(pair)], covariance[np.ix_(pair, pair)]
        planes[pair] = apart @ np.linalg.solve(part, apart)
    return set(max(planes, key=planes.get))


def test_names_are_those_of_one_column_after_the_other():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 4))
    covariance, center = root @ root.T, rng.normal(size=4)
    form = SquaredForm(center, np.linalg.inv(covariance), reach=2.5)
    rows = center + 2.0 * rng.standard_t(4, size=(400, 4)) * np.sqrt(
        np.diag(covariance)
    )
    named = named_columns(form, rows)
    expected = [plainly_named(center, covariance, 2.5, row) for row in rows]
    assert [set(names) for names in named] == expected
    assert 50 < sum(len(names) == 1 for names in named) < 350
    # The column that takes the most off comes first.
    for row, names in zip(rows, named, strict=True):
        pull = (row - center) @ form.matrix
        taken = pull**2 / np.diag(form.matrix)
        assert len(names) == 1 or taken[names[0]] > taken[names[1]]


def test_columns_that_are_one_another_make_no_pair():
    covariance = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    form = SquaredForm(np.zeros(3), np.linalg.pinv(covariance, hermitian=True), 1.0)
    ((one, other),) = named_columns(form, [[1.5, 1.4, -1.5]])
    assert {one, other} == {0, 2}


def test_two_columns_that_are_one_another_are_named_once_each():
    form = SquaredForm(np.zeros(2), np.full((2, 2), 0.25), reach=1.0)
    assert named_columns(form, [[1.5, 1.4]]) in ([(0, 1)], [(1, 0)])


def test_a_column_that_counts_for_nothing_is_in_no_pair():
    matrix = np.zeros((3, 3))
    matrix[1:, 1:] = np.linalg.inv([[1.0, 0.9], [0.9, 1.0]])
    form = SquaredForm(np.zeros(3), matrix, reach=2.0)
    (named,) = named_columns(form, [[99.0, 1.5, -1.4]])
    assert set(named) == {1, 2}


def test_names_do_not_depend_on_the_units():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(4, 4))
    matrix = np.linalg.inv(root @ root.T)
    rows = 3.0 * rng.normal(size=(60, 4)) @ np.diag(np.linalg.norm(root, axis=1))
    plain = named_columns(SquaredForm(np.zeros(4), matrix, reach=2.5), rows)
    assert {len(names) for names in plain} == {1, 2}
    for unit in (1e-4, 1e4):
        scaled = SquaredForm(np.zeros(4), matrix / unit**2, reach=2.5)
        assert named_columns(scaled, unit * rows) == plain


def test_a_column_that_clears_the_alarm_to_the_bit_is_named_alone():
    # With the best value in the first column 16 is left, the square of 4.
    matrix = np.array([[25.0, 15.0], [15.0, 25.0]])
    for reach, names in ((4.0, {0}), (3.999, {0, 1})):
        form = SquaredForm(np.zeros(2), matrix, reach)
        assert set(named_columns(form, [[3.0, 1.0]])[0]) == names


def test_a_change_that_only_touches_the_ball_is_enough():
    form = SquaredForm(np.zeros(2), np.eye(2), reach=1.0)
    np.testing.assert_array_equal(form.single_changes([[2.0, 1.0]]), [[-2.0, np.nan]])
    point = SquaredForm(np.zeros(2), np.eye(2), reach=0.0)
    assert (point.single_changes([[0.0, 0.0]]) == 0.0).all()
    assert (point.joint_changes([[0.0, 0.0]]) == 0.0).all()


@pytest.mark.parametrize("rows", [rows_in_units(), np.array([[-1.0], [1.0], [0.5]])])
def test_a_form_is_carried_back_through_several_scalers(rows):
    fitted = make_pipeline(StandardScaler(), MinMaxScaler(), BallDetector()).fit(rows)
    form = squared_form(fitted)
    expected = fitted.score_samples(rows) ** 2
    np.testing.assert_allclose(form.squared_distances(rows), expected, atol=1e-12)
    # The center of this ball is 0 where the form is taken.
    middle = make_pipeline(StandardScaler(), BallDetector()).fit([[-1.0], [1.0]])
    assert squared_form(middle).squared_distances([[3.0]]) == [9.0]


def test_nearest_rows_are_the_nearest():
    nominal = np.array([[0.0], [1.0], [5.0], [6.0]])
    distances, rows = nearest_rows(nominal, [[4.0], [0.1]], count=2)
    assert rows.tolist() == [[2, 3], [0, 1]]
    np.testing.assert_allclose(distances, [[1.0, 2.0], [0.1, 0.9]])


def test_replacement_names_the_column_that_is_odd():
    rows = rows_in_units()
    fitted = make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True)).fit(rows)
    odd = rows[:8].copy()
    for row in range(8):
        odd[row, row % 4] += 8.0 * UNITS[row % 4]
    gains = replacement_gains(fitted, odd, rows)
    assert gains.argmax(axis=1).tolist() == [0, 1, 2, 3] * 2


def test_a_gain_is_the_score_with_the_nominal_value_less_the_score():
    nominal = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0], [4.0, 3.0]])
    fitted = MeanDetector().fit(nominal)  # about (2, 1.5)
    gains = replacement_gains(fitted, [[2.0, 9.5], [10.0, 7.5]], nominal)
    np.testing.assert_allclose(
        gains,
        [
            [8.0 - np.hypot(2.0, 8.0), 6.5],
            [10.0 - np.hypot(2.0, 6.0), 10.0 - np.hypot(8.0, 1.5)],
        ],
    )


def test_forms_that_are_none_are_refused():
    rows = rows_in_units()
    with pytest.raises(ValueError, match="must measure from one center"):
        squared_form(SoftBallDetector(kernel="rbf").fit(rows))
    with pytest.raises(ValueError, match="steps must be of StandardScaler"):
        squared_form(make_pipeline(PCA(), BallDetector()).fit(rows))
    with pytest.raises(ValueError, match='method must be "split"'):
        squared_form(ConformalAlarms(BallDetector(), method="cross").fit(rows))
