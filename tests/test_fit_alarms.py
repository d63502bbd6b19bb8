"""`mebnb fit` with p-values: options, reasons, cautions, and models kept and read."""

import json

import numpy as np
import pandas as pd
import pytest

from mebnb import cli
from mebnb.learning.alarms import benjamini_hochberg
from mebnb.your_data import TableError, read_table
from mebnb.your_data import alarms as alarms_module
from mebnb.your_data.alarms import DETECTORS, fit_alarms, own_scores
from mebnb.your_data.fit import AlarmFit, Fit, fit_file, load_any_model, score_file
from mebnb.your_data.model import BallModel
from mebnb.your_data.structure import structure_cautions

NAMES = ["a", "b", "c"]


def correlated(rows, seed):
    """a and b go together; units differ."""
    points = np.random.default_rng(seed).normal(size=(rows, 3))
    points[:, 1] = 0.97 * points[:, 0] + 0.2 * points[:, 1]
    return points * [1.0, 100.0, 0.01] + [5.0, -3.0, 0.0]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Nominal rows; new ones, the last five of which break the correlation."""
    folder = tmp_path_factory.mktemp("files")
    old, new = folder / "old.csv", folder / "new.csv"
    pd.DataFrame(correlated(240, 0), columns=NAMES).to_csv(old, index=False)
    rows = correlated(45, 1)
    rows[-5:] = [5.0, -3.0, 0.0] + np.outer([1, -1, 1, -1, 1], [1.6, -160.0, 0.001])
    pd.DataFrame(rows, columns=NAMES).to_csv(new, index=False)
    return old, new


@pytest.fixture(scope="module")
def made(files):
    return fit_file(*files, fdr=0.2)


def test_auto_takes_the_ball_that_sees_the_correlation(made):
    assert isinstance(made, AlarmFit)
    assert (made.model.asked, made.model.detector) == ("auto", "whitened")
    assert made.model.training_rows + made.model.calibration_rows == 240
    assert set(made.model.flagged(made.scores)) >= set(range(40, 45))


def test_p_values_are_places_among_rows_that_were_kept(files, made):
    model, new = made.model, read_table(files[1]).values
    own = read_table(files[0]).values.to_numpy()
    kept = own[model.alarms.calibration_rows_] - np.array(model.origin)
    fitted = model.alarms.detectors_[0]
    held = fitted.score_samples(kept)
    scores = fitted.score_samples(model.points(new))
    expected = [(1 + (held <= score).sum()) / (len(held) + 1) for score in scores]
    np.testing.assert_allclose(made.scores["p_value"], expected, rtol=1e-12)
    np.testing.assert_allclose(made.scores["score"], -scores)
    assert (made.scores["alarm"] == (made.scores["p_value"] <= 0.05)).all()
    found = benjamini_hochberg(made.scores["p_value"], 0.2)
    assert (made.scores["discovery"] == found).all()


def test_scaling_has_not_seen_the_rows_that_were_kept(files, made):
    own = read_table(files[0]).values.to_numpy() - np.array(made.model.origin)
    held_out = np.zeros(len(own), dtype=bool)
    held_out[made.model.alarms.calibration_rows_] = True
    scaler = made.model.alarms.detectors_[0][0]
    np.testing.assert_allclose(scaler.mean_, own[~held_out].mean(axis=0), rtol=1e-9)


def test_reasons_name_the_pair_and_clear_the_flag_in_units_of_the_file(files, made):
    reasons, values = made.reasons, read_table(files[1]).values
    assert reasons.exact
    named = dict(zip(reasons.rows, reasons.named, strict=True))
    assert all(set(named[row]) == {"a", "b"} for row in range(40, 45))
    np.testing.assert_allclose(reasons.contributions.sum(axis=1), 1.0, rtol=1e-12)
    limit = made.scores["p_value"][reasons.rows].max()
    for factor, flagged in ((1.0 - 1e-6, True), (1.0 + 1e-6, False)):
        before = values.iloc[reasons.rows].to_numpy()
        moved = before + factor * (reasons.together.to_numpy() - before)
        p_values = made.model.score(pd.DataFrame(moved, columns=NAMES))["p_value"]
        assert ((p_values <= limit) == flagged).all()
    alone = 0
    for row, names, clears in zip(
        reasons.rows, reasons.named, reasons.clears_at.to_dict("records"), strict=True
    ):
        to = clears[names[0]]
        if np.isnan(to):
            continue
        alone += 1
        for factor, flagged in ((1.0 - 1e-6, True), (1.0 + 1e-6, False)):
            moved = values.iloc[[row]].astype(float)
            moved[names[0]] += factor * (to - moved[names[0]])
            assert (made.model.score(moved)["p_value"].item() <= limit) == flagged
    assert alone > 3


def test_without_an_option_the_ball_is_as_before(files):
    made = fit_file(*files)
    assert type(made) is Fit and isinstance(made.model, BallModel)
    assert list(made.all_scores()) == ["row", "score", "alarm", "mostly"]


@pytest.mark.parametrize("detector", DETECTORS)
def test_model_of_each_detector_is_read_back_to_the_bit(files, tmp_path, detector):
    old, new = files
    made = fit_file(old, new, detector=detector, alpha=0.1)
    path = tmp_path / "model.json"
    made.model.save(path)
    again = score_file(path, new)
    assert again.model.name == made.model.name and again.model.alpha == 0.1
    pd.testing.assert_frame_equal(again.all_scores(), made.all_scores())
    assert again.model.to_dict() == made.model.to_dict()
    assert len(made.reasons.rows) and made.reasons.exact == (
        made.model.detector in ("ball", "soft", "whitened")
    )
    again.model.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("scaling", ["minmax", "none"])
def test_other_scalings_are_kept_too(files, tmp_path, scaling):
    made = fit_file(*files, detector="whitened", scaling=scaling)
    made.model.save(tmp_path / "model.json")
    again = score_file(tmp_path / "model.json", files[1])
    pd.testing.assert_frame_equal(again.all_scores(), made.all_scores())


DAMAGE = [
    ("columns", ["a", "b"]),
    ("columns", ["a", "b", "b"]),
    ("origin", [0.0]),
    ("origin", [0.0, float("nan"), 0.0]),
    ("alpha", 0.2),
    ("alpha", "x"),
    ("fdr", 1.5),
    ("nu", -1.0),
    ("detector", "auto"),
    ("training_rows", 0),
    ("calibration_rows", 3),
    ("scaling", "robust"),
    ("decimal", "x"),
    ("alarms", {"kind": "Pipeline", "steps": []}),
    ("alarms", {}),
    ("shares", {"kernel": 0.5}),
    ("shares", {"soft": 2.0}),
    ("more", 1),
]


@pytest.mark.parametrize("part, value", DAMAGE)
def test_model_whose_parts_do_not_fit_is_refused(made, tmp_path, part, value):
    path = tmp_path / "model.json"
    made.model.save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {part: value}))
    with pytest.raises(TableError, match="^model.json is a damaged model: its parts"):
        load_any_model(path)


@pytest.mark.parametrize(
    "where, value",
    [
        (("precision_",), [[1.0]]),
        (("centers_",), [[0.0, 0.0, float("inf")]]),
        (("kind",), "os.system"),
        (("columns",), 2),
        (("offset_",), "far"),
    ],
)
def test_detector_whose_parts_do_not_fit_is_refused(made, tmp_path, where, value):
    path = tmp_path / "model.json"
    made.model.save(path)
    kept = json.loads(path.read_text())
    kept["alarms"]["detectors"][0]["steps"][-1][where[0]] = value
    path.write_text(json.dumps(kept))
    with pytest.raises(TableError, match="^model.json is a damaged model: its parts"):
        load_any_model(path)


# --- the command ------------------------------------------------------------------------


def test_the_command_flags_explains_and_keeps(files, tmp_path, capsys):
    old, new = files
    out, kept = tmp_path / "scores.csv", tmp_path / "model.json"
    words = ["fit", str(old), "--score", str(new), "--fdr", "0.2", "-o", str(out)]
    assert cli.main([*words, "--model", str(kept)]) == 0
    said = capsys.readouterr().out
    assert "whitened ball, taken by auto: fitted on 120 nominal rows" in said
    assert "p-values are counted over 120 other nominal rows" in said
    scores = pd.read_csv(out)
    assert list(scores) == [
        *("row", "score", "p_value", "alarm", "discovery"),
        *("mostly", "reason", "clears_at"),
    ]
    assert scores["mostly"].notna().sum() == scores["discovery"].sum() >= 5
    assert set(scores["mostly"].iloc[-5:]) <= {"a with b", "b with a"}
    first = out.read_bytes()
    assert cli.main(["fit", str(kept), "--score", str(new), "-o", str(out)]) == 0
    assert out.read_bytes() == first


def test_json_carries_p_values_and_reasons(files, capsys):
    old, new = files
    words = ["fit", str(old), "--score", str(new), "--fdr", "0.2", "--alpha", "0.01"]
    assert cli.main([*words, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["model"]["detector"] == "whitened"
    assert (made["model"]["alpha"], made["model"]["fdr"]) == (0.01, 0.2)
    assert made["scored"]["discoveries"] == len(made["flagged"])
    top = made["flagged"][0]
    assert set(top["mostly"]) <= set(NAMES) and top["reason"] == "exact"
    assert 0 < top["p_value"] <= 0.05
    assert sum(top["contributions"].values()) == pytest.approx(1.0)
    assert set(top["together"]) == set(NAMES)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--detector", "kernel"],
         "detector must be one of auto, ball, soft, local, whitened, committee; found "
         "'kernel'"),
        (["--alpha", "0"],
         "alpha must be a number strictly between 0 and 1, found 0.0"),
        (["--alpha", "nan"],
         "alpha must be a number strictly between 0 and 1, found nan"),
        (["--score", "{new}", "--fdr", "1"],
         "fdr must be a number strictly between 0 and 1, found 1.0"),
        (["--fdr", "0.1"],
         "fdr must have rows to judge beside those that are learned from, found none in "
         "old.csv; name a label, or a file to score"),
        (["--detector", "auto", "--scaling", "robust"],
         "scaling must be one of standard, minmax, none; found 'robust'"),
        (["--detector", "auto", "--nu", "1"],
         "nu must be a number from 0 to less than 1, found 1.0"),
    ],
)  # fmt: skip
def test_bad_values_are_refused_in_one_sentence(files, words, sentence, capsys):
    words = [word.format(new=files[1]) for word in words]
    assert cli.main(["fit", str(files[0]), *words]) == 2
    assert capsys.readouterr().err == f"mebnb: {sentence}\n"


def test_a_model_is_fitted_already(files, made, tmp_path, capsys):
    made.model.save(tmp_path / "model.json")
    words = ["fit", str(tmp_path / "model.json"), "--score", str(files[1])]
    assert cli.main([*words, "--fdr", "0.3", "--alpha", "0.1"]) == 2
    assert "is fitted already; leave --alpha, --fdr out" in capsys.readouterr().err


def test_three_rows_do_not_suffice(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("a,b\n1,2\n3,4\n5,9\n")
    with pytest.raises(TableError, match="^few.csv must hold at least 4 nominal rows"):
        fit_file(path, alpha=0.2)


# --- rows of the file itself ---------------------------------------------------------


def test_own_rows_are_judged_by_a_detector_that_has_not_seen_them(files):
    table = read_table(files[0])
    model = fit_alarms(table, detector="local", alpha=0.1, scaling="standard")
    scores, judges = own_scores(table, model)
    assert sorted(np.concatenate([one.rows for one in judges])) == list(range(240))
    held_out = np.zeros(240, dtype=bool)
    held_out[model.alarms.calibration_rows_] = True
    for part in (held_out, ~held_out):
        # Places among themselves: every one once.
        places = np.sort(scores["p_value"][part]) * part.sum()
        np.testing.assert_allclose(places, np.arange(1, part.sum() + 1))
    own = model.score(table.values)["score"]
    assert (own == scores["score"])[held_out].all()
    # Their own neighbours, they are nearer to the detector's rows than to the others.
    assert (own < scores["score"])[~held_out].mean() > 0.6
    told = fit_file(files[0], detector="local", alpha=0.1)
    assert told.scores["alarm"].sum() == 24
    assert any("places among themselves" in word for word in told.cautions)


def test_nominal_rows_are_no_discoveries_and_others_are(tmp_path):
    path = tmp_path / "labelled.csv"
    rows = np.vstack([correlated(200, 3), correlated(12, 4) + [9.0, 0.0, 0.0]])
    frame = pd.DataFrame(rows, columns=NAMES)
    frame.assign(kind=["good"] * 200 + ["bad"] * 12).to_csv(path, index=False)
    made = fit_file(path, label="kind", nominal="good", fdr=0.1)
    assert made.scores["discovery"][200:].all()
    assert not made.scores["discovery"][:200].any()
    assert "kind" in str(made) and "12 are discoveries" in str(made)


# --- cautions -----------------------------------------------------------------------


def told(points, detector="soft", tmp_path=None):
    path = tmp_path / "some.csv"
    names = [f"c{column}" for column in range(points.shape[1])]
    pd.DataFrame(points, columns=names).to_csv(path, index=False)
    return structure_cautions(read_table(path), detector, 0.05)


def test_clusters_and_what_sees_them_are_told(tmp_path):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3)) + 4.0 * rng.choice([-1, 1], (300, 1))
    said = " ".join(told(points, tmp_path=tmp_path))
    assert "form 2 clusters with gaps between them" in said
    assert "detectors whitened and local do not" in said
    assert "is clearly better on rows made up" in said
    quiet = " ".join(told(points, "whitened", tmp_path))
    assert "clusters" in quiet and "do not" not in quiet and "better" not in quiet


def test_correlation_of_a_pair_and_of_many_is_told(tmp_path):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(300, 4))
    assert told(points, tmp_path=tmp_path) == []
    points[:, 3] = points[:, :3].sum(axis=1) + 0.2 * rng.normal(size=300)
    said = " ".join(told(points, tmp_path=tmp_path))
    assert "c3 follows from the other columns" in said
    points[:, 2] = -points[:, 0] + 0.3 * rng.normal(size=300)
    said = " ".join(told(points, tmp_path=tmp_path))
    assert "strongly correlated: c0 and c2 (-0.9" in said
    assert "detector whitened" in said and "clusters" not in said


def test_few_rows_are_not_looked_at(tmp_path):
    points = np.random.default_rng(2).normal(size=(49, 1)) * [1.0, 1.0]
    assert told(points, tmp_path=tmp_path) == []


def test_new_rows_of_another_kind_are_told(files, tmp_path):
    model = fit_file(*files, alpha=0.05).model
    same, other = tmp_path / "same.csv", tmp_path / "other.csv"
    pd.DataFrame(correlated(120, 7), columns=NAMES).to_csv(same, index=False)
    moved = correlated(120, 7) * [1.0, 1.0, 3.0]
    pd.DataFrame(moved, columns=NAMES).to_csv(other, index=False)
    assert not any("not drawn as" in word for word in score_file(model, same).cautions)
    assert any("not drawn as" in word for word in score_file(model, other).cautions)


def test_what_so_few_rows_cannot_do_is_told(files):
    made = fit_file(*files, alpha=0.005, fdr=0.01)
    said = " ".join(made.cautions)
    assert "No row can be an alarm: 120 rows kept from the detector" in said
    assert "at least 38 must lie beyond all 120 rows" in said
    assert not made.scores["alarm"].any()


@pytest.mark.parametrize("detector", ["ball", "soft", "whitened"])
def test_reasons_of_own_rows_are_of_the_detector_that_judged_them(files, detector):
    table = read_table(files[0])
    model = fit_alarms(table, detector=detector, alpha=0.1, scaling="standard")
    scores, judges = own_scores(table, model)
    reasons = model.reasons(table.values, scores, judges)
    unseen = np.setdiff1d(np.arange(240), model.alarms.calibration_rows_)
    assert np.isin(reasons.rows, unseen).sum() > 5
    changed = model.points(reasons.together)
    moved = np.abs(reasons.together - table.values.iloc[reasons.rows].to_numpy())
    assert (moved.max(axis=1) > 0).all()
    for judge in judges[:2]:
        border = judge.at(model.alpha, scores, model.alarms).reach
        own = np.isin(reasons.rows, judge.rows)
        there = -judge.fitted.score_samples(changed[own])
        np.testing.assert_allclose(there, border, rtol=1e-9)


@pytest.mark.parametrize("detector", DETECTORS)
def test_rows_far_beyond_squares_are_alarms_with_their_column(
    files, tmp_path, detector
):
    far = pd.read_csv(files[1]).head(3)
    far.loc[1, NAMES[1]] = 1e200
    far.to_csv(tmp_path / "far.csv", index=False)
    told = fit_file(files[0], tmp_path / "far.csv", detector=detector, alpha=0.1)
    assert told.scores["alarm"].iloc[1]
    at = list(told.reasons.rows).index(1)
    assert NAMES[1] in told.reasons.named[at]
    assert told.reasons.contributions[NAMES[1]].iloc[at] > 0.3
    json.dumps(told.to_dict(), allow_nan=False)


def test_more_flagged_rows_than_reasons_is_said(files, tmp_path, monkeypatch):
    monkeypatch.setattr(alarms_module, "MOST_REASONS", 2)
    far = pd.read_csv(files[1]).head(5) + 50.0
    far.to_csv(tmp_path / "far.csv", index=False)
    told = fit_file(files[0], tmp_path / "far.csv", detector="local", alpha=0.1)
    assert len(told.reasons.rows) == 2
    assert "5 rows are flagged; the 2 most abnormal are listed with reasons." in (
        told.cautions
    )


def test_a_column_that_is_a_sum_of_others_is_told(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(200, 2)), columns=["a", "b"])
    frame.assign(c=frame.a + frame.b).to_csv(tmp_path / "sum.csv", index=False)
    told = fit_file(tmp_path / "sum.csv", detector="soft", alpha=0.1)
    assert any("follows from the other columns together" in c for c in told.cautions)
