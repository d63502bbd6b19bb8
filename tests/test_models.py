"""A ball fitted to a table: scores, the file it is kept in, and `mebnb fit`."""

import errno
import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import threadpoolctl

from mebnb import BallDetector, SoftBallDetector, cli, soft_ball
from mebnb.datasets import dataset_file
from mebnb.learning.detectors import MahalanobisDetector
from mebnb.solvers.soft import verify_soft
from mebnb.your_data import TableError, read_table
from mebnb.your_data.advice import (
    agreement,
    balls_compared,
    both_kinds,
    cautions,
    honest_scores,
    plane,
    ranked,
    readings_shown,
    support_rows,
)
from mebnb.your_data.fit import fit_file
from mebnb.your_data.model import fit_balls, fit_model, load_model

EXAMPLE = dataset_file("maternal_risk")
LABELS = {"label": "RiskLevel", "nominal": "low risk"}


@pytest.fixture(scope="module")
def table():
    return read_table(EXAMPLE, **LABELS)


@pytest.fixture
def square(tmp_path):
    """Corners of a square, its middle, and rows for later."""
    path = tmp_path / "square.csv"
    path.write_text("name,x,y\nsw,-1,-1\nse,1,-1\nnw,-1,1\nne,1,1\nmid,0,0\n")
    return path


# --- the model -------------------------------------------------------------------------


def test_hard_ball_of_a_square_is_its_circumcircle(square):
    table = read_table(square)
    model, ball = fit_model(table, nu=0, scaling="none")
    assert model.center == pytest.approx([0.0, 0.0], abs=1e-12)
    assert model.certified and model.relative_gap < 1e-12
    assert model.radius == pytest.approx(np.sqrt(2), rel=1e-12)
    scores = model.score(table.values)
    assert scores["score"].tolist() == pytest.approx([1, 1, 1, 1, 0], abs=1e-12)
    assert not scores["alarm"].any()
    assert set(support_rows(table, model, ball)["name"]) <= {"sw", "se", "nw", "ne"}
    beyond = model.score(pd.DataFrame({"y": [0.0, 9.0], "x": [1.4, 1.0]}))
    assert beyond["alarm"].tolist() == [False, True]
    assert beyond["mostly"].tolist() == ["x", "y"]


@pytest.mark.parametrize("nu", [0, 0.1])
@pytest.mark.parametrize("scaling", ["standard", "minmax", "none"])
def test_scores_are_those_of_the_detector_on_scaled_columns(table, nu, scaling):
    model, _ = fit_model(table, nu=nu, scaling=scaling)
    points = table.values.to_numpy()
    nominal = points[table.is_nominal]
    if scaling == "standard":
        shift, scale = nominal.mean(axis=0), nominal.std(axis=0)
    elif scaling == "minmax":
        shift, scale = nominal.min(axis=0), np.ptp(nominal, axis=0)
    else:
        shift, scale = 0.0, 1.0
    detector = SoftBallDetector(nu=nu) if nu else BallDetector()
    detector.fit((nominal - shift) / scale)
    distances = -detector.score_samples((points - shift) / scale)
    scores = model.score(table.values)
    np.testing.assert_allclose(scores["score"], distances / detector.radius_, rtol=1e-8)
    assert model.outside <= nu * model.training_rows
    assert scores["alarm"][table.is_nominal].sum() == model.outside


def test_saved_model_scores_to_the_bit(table, tmp_path):
    model, _ = fit_model(table)
    model.save(tmp_path / "ball.json")
    again = load_model(tmp_path / "ball.json")
    pd.testing.assert_frame_equal(again.score(table.values), model.score(table.values))


def test_long_tables_are_scored_in_blocks(table, monkeypatch):
    model, _ = fit_model(table)
    whole = model.score(table.values)
    monkeypatch.setattr("mebnb.your_data.model.ENTRIES", 600)
    pd.testing.assert_frame_equal(model.score(table.values), whole)


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"nu": 1.0}, "nu must be a number from 0 to less than 1, found 1.0"),
        ({"nu": -0.1}, "nu must be a number from 0 to less than 1, found -0.1"),
        ({"nu": float("nan")}, "nu must be a number from 0 to less than 1, found nan"),
        (
            {"scaling": "robust"},
            "scaling must be one of standard, minmax, none; found 'robust'",
        ),
    ],
)
def test_senseless_fits_are_refused(table, options, sentence):
    with pytest.raises(TableError) as refused:
        fit_model(table, **options)
    assert str(refused.value) == sentence


def test_too_few_or_equal_rows_are_refused(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("a,y\n1,u\n2,v\n3,w\n")
    with pytest.raises(
        TableError, match="^few.csv must hold at least 2 nominal rows to fi"
    ):
        fit_model(read_table(path, label="y", nominal="u"))
    path.write_text("a,y\n1,u\n1,u\n3,w\n")
    for nu in (0, 0.5):
        with pytest.raises(
            TableError, match="^few.csv: all nominal rows are equal in the colu"
        ):
            fit_model(read_table(path, label="y", nominal="u"), nu=nu)


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("no json", "bad.json is not JSON"),
        ("[]", "bad.json must be a model of format 'mebnb ball, version 1'"),
        (
            '{"format": "x"}',
            "bad.json must be a model of format 'mebnb ball, version 1'",
        ),
        (
            '{"format": "mebnb ball, version 1"}',
            "bad.json is a damaged model: its parts do not fit together",
        ),
    ],
)
def test_file_that_is_no_model_is_refused(tmp_path, text, sentence):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(TableError) as refused:
        load_model(path)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    "part, value",
    [
        ("center", [0.0]),
        ("columns", ["Age"] * 6),
        ("columns", "abcdef"),
        ("radius", "3"),
        ("radius", float("inf")),
        ("radius", 0.0),
        ("scale", [0.0] * 6),
        ("shift", [float("nan")] * 6),
        ("nu", None),
        ("shift", ["0"] * 6),
        ("scale", [True] * 6),
        ("outside", -3),
        ("nu", 5.0),
        ("scaling", "robust"),
        ("decimal", "x"),
    ],
)
def test_model_whose_parts_do_not_fit_is_refused(table, tmp_path, part, value):
    model, _ = fit_model(table)
    model.save(tmp_path / "ball.json")
    kept = json.loads((tmp_path / "ball.json").read_text())
    (tmp_path / "ball.json").write_text(json.dumps(kept | {part: value}))
    with pytest.raises(
        TableError, match="^ball.json is a damaged model: its parts do not"
    ):
        load_model(tmp_path / "ball.json")


def test_ball_that_many_equal_rows_shrink_to_a_point_is_refused(tmp_path):
    path = tmp_path / "cross.csv"
    path.write_text("a,b\n" + "0,0\n" * 70 + "1,0\n-1,0\n0,1\n0,-1\n" * 7)
    with pytest.raises(TableError) as refused:
        fit_model(read_table(path), nu=0.5)
    assert str(refused.value) == (
        "nu must leave a ball of positive radius, found 0.5: so many nominal rows of "
        "cross.csv are equal; choose a smaller one"
    )
    assert fit_model(read_table(path), nu=0.05)[0].radius > 0


@pytest.mark.parametrize("size", [1e-200, 1e-60, 1e60, 1e200])
def test_values_that_cannot_be_squared_are_refused(tmp_path, size):
    path = tmp_path / "huge.csv"
    path.write_text("".join(f"{size * k * k!r},{k * k % 7}\n" for k in range(2, 12)))
    with pytest.raises(
        TableError, match="^column 'column 1' of huge.csv reaches .*, which ca"
    ):
        fit_model(read_table(path))


def test_far_rows_have_finite_scores(square):
    model, _ = fit_model(read_table(square), nu=0)
    scores = model.score(pd.DataFrame({"x": [1e200, 1e-200], "y": [0.0, 0.0]}))
    assert scores["score"][0] == pytest.approx(1e200 / model.radius / model.scale[0])
    assert scores["score"][1] == pytest.approx(0.0, abs=1e-12)
    beyond_all = model.score(
        pd.DataFrame({"x": [1e308, -1.7e308], "y": [1.7e308, 0.0]})
    )
    assert beyond_all["alarm"].all()


def test_far_from_zero_no_digits_are_lost(tmp_path):
    path = tmp_path / "far.csv"
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 1000, size=(60, 3)), columns=list("abc"))
    frame.to_csv(path, index=False)
    near, _ = fit_model(read_table(path), scaling="none")
    (frame + 10**12).to_csv(path, index=False)
    far, _ = fit_model(read_table(path, columns=list("abc")), scaling="none")
    assert far.certified
    assert far.radius == pytest.approx(near.radius, rel=1e-9)


def test_soft_certificate_sees_weights_that_are_wrong(table):
    points = fit_model(table)[0].scaled(table.values)
    ball = soft_ball(points, 0.1)
    assert verify_soft(points, ball) <= 1e-8
    order = np.argsort(ball.weights)
    moved = ball.weights.copy()
    moved[order[0]], moved[order[-1]] = 0.0, moved[order[-1]] + moved[order[0]]
    assert verify_soft(points, replace(ball, weights=moved)) == np.inf
    other = np.full(len(points), 1 / len(points))
    uniform = replace(ball, weights=other, support=np.arange(len(points)))
    assert verify_soft(points, uniform) > 1e-3


# --- what the notebook shows ---------------------------------------------------------


def test_balls_are_certified_side_by_side(table):
    (model, ball), (hard_model, hard) = fit_balls(table, nu=0.05)
    shown = balls_compared([hard_model, model])
    assert shown.index.tolist() == ["hard ball", "soft ball, nu = 0.05"]
    assert shown["certified"].all()
    asked, beside = fit_balls(table, nu=0)
    assert asked is beside and asked[0].radius == hard_model.radius


def test_ball_that_the_check_does_not_prove_is_called_so(table, monkeypatch):
    monkeypatch.setattr("mebnb.your_data.model.verify_soft", lambda points, ball: 1e-3)
    model, _ = fit_model(table)
    assert not model.certified
    told = cautions(
        table,
        model,
        model.score(table.values),
        support_rows(table, *fit_model(table, nu=0)),
    )
    assert told[0].startswith("The ball is not certified: its relative gap is 1.0e-03.")


def test_readings_of_a_long_table_are_those_of_which_there_is_something_to_tell(
    tmp_path,
):
    path = tmp_path / "long.csv"
    head = ",".join(f"c{k}" for k in range(40))
    rows = [
        ",".join(str((k + 2) * i * i % 101) for k in range(39)) for i in range(1, 9)
    ]
    path.write_text(f"{head}\n" + "".join(f"{row},5 %\n" for row in rows))
    shown = readings_shown(read_table(path))
    assert shown["used"].to_dict() == {"c39": "no: constant"}
    assert len(readings_shown(read_table(path), most=40)) == 40


def test_ranked_rows_are_the_farthest_in_order(table):
    model, _ = fit_model(table)
    scores = model.score(table.values)
    listed = ranked(table, model, scores, 7)
    different = scores["score"][~table.values.duplicated()]
    assert listed["score"].tolist() == sorted(different, reverse=True)[:7]
    values = table.values.to_numpy()
    first_row = values[listed["row"].iloc[0] - 1]
    assert listed["equal rows"].iloc[0] == (values == first_row).all(axis=1).sum()
    first = listed.iloc[0]
    assert table.values[first["mostly"]].iloc[first["row"] - 1] == first["value there"]


def test_rivals_agree_with_themselves_and_labels_judge_them(table):
    model, _ = fit_model(table, nu=0)
    together = agreement(table, model)
    assert together.loc["hard ball", "rank correlation"] == pytest.approx(1.0, abs=1e-4)
    drawn = both_kinds(table, 300, seed=1)
    assert (len(drawn.rows), int(drawn.is_nominal.sum())) == (300, 150)
    judged = honest_scores(drawn, model, range(2)).frame
    assert judged["seed"].nunique() == 2
    assert set(judged["detector"]) == set(together.index)
    assert judged["test_anomalies"].between(100, 150).all()
    assert judged["auroc"].between(0.5, 1.0).all()
    points = model.scaled(table.values)
    theirs = -MahalanobisDetector().fit(points[table.is_nominal]).score_samples(points)
    ours = model.score(table.values)["score"]
    assert together.loc["Mahalanobis distance", "rank correlation"] == pytest.approx(
        ours.corr(pd.Series(theirs), method="spearman"), abs=1e-3
    )


def test_too_few_rows_are_not_judged(square):
    few = read_table(square)
    model, _ = fit_model(few, nu=0)
    with pytest.raises(
        TableError, match="^rivals need 50 different nominal rows, found 5$"
    ):
        agreement(few, model)
    with pytest.raises(
        TableError, match="^honest splits need 50 different nominal rows and"
    ):
        honest_scores(few, model, range(2))


def test_equal_rows_are_one_row_to_rivals_and_many_of_them_a_caution(tmp_path):
    path = tmp_path / "equal.csv"
    rows = [f"{n * n % 31},{n % 7}" for n in range(49)]
    path.write_text("\n".join(["a,b", *rows, *20 * [rows[0]]]))
    table = read_table(path)
    different = len(set(rows))
    with pytest.raises(TableError, match=f"different nominal rows, found {different}$"):
        agreement(table, fit_model(table)[0])
    said = "21 of the 69 rows are equal"
    assert any(word.startswith(said) for word in fit_file(path).cautions)
    path.write_text("\n".join(["a,b", *rows, *19 * [rows[0]]]))
    assert not any("rows are equal" in word for word in fit_file(path).cautions)


@pytest.mark.parametrize("rows, least, most", [(60, 0.1, 0.3), (400, 0.055, 0.1)])
def test_nu_is_told_of_the_fitted_rows_and_a_rate_of_new_ones(
    tmp_path, rows, least, most
):
    path = tmp_path / "normal.csv"
    rng = np.random.default_rng(3)
    pd.DataFrame(rng.normal(size=(rows, 30))).to_csv(path, index=False)
    made = fit_file(path, nu=0.05)
    (told,) = [word for word in made.cautions if "of new rows" in word]
    assert told.startswith(f"{made.model.outside} of the {rows} rows that fix the ball")
    assert "nu = 0.05 bounds their share and not that of new rows" in told
    rate = int(re.search(r"about (\d+)%", told)[1]) / 100
    new = pd.DataFrame(rng.normal(size=(2000, 30)), columns=made.model.columns)
    alarms = made.model.score(new)["alarm"].mean()
    assert least < alarms < most
    assert least < rate < most
    assert not any("set by nu" in word for word in made.cautions)


def test_slow_rival_is_left_out_of_wide_tables(tmp_path):
    path = tmp_path / "wide.csv"
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(60, 501)).round(4)).to_csv(path, index=False)
    wide = read_table(path)
    together = agreement(wide, fit_model(wide)[0])
    assert "Mahalanobis distance" not in together.index
    assert "distance to the mean" in together.index


def test_ball_in_the_plane_of_two_components_holds_its_rows(table):
    model, _ = fit_model(table, nu=0)
    nominal = table.take(np.flatnonzero(table.is_nominal))
    points, center, explained = plane(nominal, model)
    distances = np.linalg.norm(points - center, axis=1)
    assert distances.max() <= model.radius * (1 + 1e-12)
    assert 0 < explained <= 1


def test_cautions_speak_of_what_is_there(square, table):
    few = read_table(square)
    model, _ = fit_model(few, nu=0.05, scaling="none")
    support = support_rows(few, *fit_model(few, nu=0, scaling="none"))
    told = cautions(few, model, model.score(few.values), support)
    least = 1 / (5 * support["weight"].max())
    assert told[0] == (
        f"nu = 0.05 leaves no row outside; here only a nu above {least:.2g} can."
    )
    assert fit_model(few, nu=0.99 * least)[0].outside == 0
    assert "Nothing is scaled: a column in larger units counts more." in told
    assert any(
        sentence.startswith("5 nominal rows fix a ball in 2") for sentence in told
    )
    model, _ = fit_model(table, nu=0)
    scores = model.score(table.values)
    support = support_rows(table, *fit_model(table, nu=0))
    told = cautions(table, model, scores, support)
    assert told[-1].startswith("The ball knows rows with RiskLevel = low risk only.")
    row = np.flatnonzero(table.is_nominal)[3]
    scores.loc[row, "score"] = 9.0
    told = cautions(table, model, scores, support)
    assert told[0].startswith(f"Row {row + 1} lies 9 radii out.")


def test_names_of_our_own_columns_are_kept_apart(tmp_path):
    path = tmp_path / "clash.csv"
    path.write_text(
        "row,score,a\n" + "".join(f"k{i},{i % 2},{i * i % 17}\n" for i in range(9))
    )
    table = read_table(path, label="score")
    model, _ = fit_model(table, nu=0)
    listed = ranked(table, model, model.score(table.values), 3)
    assert list(listed)[:4] == ["row", "row (file)", "score (file)", "score"]
    made = fit_file(path, label="score", nu=0).all_scores()
    assert list(made) == ["row", "row (file)", "score", "alarm", "mostly"]


# --- the command -------------------------------------------------------------------------


def test_fit_prints_the_ball_and_the_most_abnormal_rows(square, capsys):
    assert cli.main(["fit", str(square), "--nu", "0", "--scaling", "none"]) == 0
    out = capsys.readouterr().out
    assert "hard ball: radius 1.41421 in 2 columns, scaling none" in out
    assert "0 of 5 rows of square.csv lie outside." in out


def test_fit_scores_another_file_in_its_own_order(square, tmp_path, capsys):
    new = tmp_path / "new.csv"
    new.write_text("y;x;name\n0;0;a\n;1;b\n3;0,5;c\n")
    out, kept = tmp_path / "scores.csv", tmp_path / "ball.json"
    fitting = [
        "fit",
        str(square),
        "--nu",
        "0",
        "--scaling",
        "none",
        "--model",
        str(kept),
    ]
    assert cli.main([*fitting, "--score", str(new), "-o", str(out)]) == 0
    scores = pd.read_csv(out)
    assert scores["row"].tolist() == [1, 2, 3]
    assert scores["name"].tolist() == ["a", "b", "c"]
    assert scores["score"][0] == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(scores["score"][1])
    assert scores["alarm"].isna().tolist() == [False, True, False]
    assert scores["alarm"][0] in (False, "False") and scores["alarm"][2] in (
        True,
        "True",
    )
    first = out.read_bytes()
    assert cli.main(["fit", str(kept), "--score", str(new), "-o", str(out)]) == 0
    assert out.read_bytes() == first


def test_column_in_other_units_is_doubted(square, tmp_path, capsys):
    new = tmp_path / "new.csv"
    new.write_text("name,x,y\na,1000,0.5\nb,900,0.1\n")
    assert cli.main(["fit", str(square), "--score", str(new)]) == 0
    assert "x: most rows lie far from all training rows; check units" in (
        capsys.readouterr().out
    )


def test_scores_that_cannot_be_written_are_said(square, capsys):
    assert cli.main(["fit", str(square), "-o", "/dev/full"]) == 2
    assert capsys.readouterr().err.startswith("mebnb: cannot write /dev/full: ")


def test_alarms_are_told_by_label(capsys):
    words = ["fit", str(EXAMPLE), "--label", "RiskLevel", "--nominal", "low risk"]
    assert cli.main(words) == 0
    out = capsys.readouterr().out
    made = fit_file(EXAMPLE, **LABELS)
    alarms = made.scores["alarm"][made.scored.is_nominal].sum()
    assert re.search(rf"low risk +406 +True +{alarms}\b", out)


def test_fit_gives_json_that_scripts_can_read(capsys):
    words = ["fit", str(EXAMPLE), "--label", "RiskLevel", "--nominal", "low risk"]
    assert cli.main([*words, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    table = read_table(EXAMPLE, **LABELS)
    model, _ = fit_model(table)
    assert made["model"]["radius"] == model.radius
    assert made["scored"]["rows"] == 1014
    assert made["scored"]["alarms"] == int(model.score(table.values)["alarm"].sum())
    assert (
        made["most_abnormal"][0]["row"]
        == ranked(table, model, model.score(table.values), 1)["row"].iloc[0]
    )


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["nowhere.csv"], "there is no file nowhere.csv"),
        (["{square}", "--label", "z"],
         "label must name a column of the file (name, x, y), found 'z'"),
        (["{square}", "--nu", "2"], "nu must be a number from 0 to less than 1, found 2.0"),
        (["{square}", "--label", ""],
         "label must name a column of the file (name, x, y), found ''"),
        (["{square}", "-o", "{square}"], "-o would overwrite {square}"),
        (["{square}", "-o", "{ball}", "--model", "{ball}"],
         "--model would overwrite {ball}"),
        (["{square}", "--model", "nowhere/ball.json"],
         "--model names a folder that is not there, nowhere"),
        (["{square}", "--model", "ball.txt"],
         "--model must name a file *.json, found ball.txt"),
        (["{square}", "-o", "nowhere/scores.csv"],
         "-o names a folder that is not there, nowhere"),
        (["{square}", "--columns", "-5V"],
         "columns must name a column of the file (name, x, y), found '-5V'"),
        (["{square}", "--score", "{other}"],
         "other.csv lacks 'y'; it must have the columns of the model, found x, z"),
        (["{ball}"], "{ball} is a model; name a file to --score"),
        (["{ball}", "--score", "{square}", "--nu", "0"],
         "{ball} is fitted already; leave --nu out"),
        (["{ball}", "--score", "{square}"], "there is no file {ball}"),
    ],
)  # fmt: skip
def test_senseless_fit_commands_are_refused(square, tmp_path, words, sentence, capsys):
    other = tmp_path / "other.csv"
    other.write_text("x,z\n1,2\n3,4\n")
    paths = {"square": square, "other": other, "ball": tmp_path / "ball.json"}
    assert cli.main(["fit", *(word.format(**paths) for word in words)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"mebnb: {sentence.format(**paths)}")
    assert err.count("\n") == 1


@pytest.fixture(scope="module")
def ten_million_rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.csv"
    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        file.write("a,b,c,d,e\n")
        for _ in range(50):
            part = pd.DataFrame(rng.normal(size=(200_000, 5)).round(6))
            part.to_csv(file, header=False, index=False)
    return path


def peak_memory(words):
    """Run a command in a process of its own; its output, and the bytes it needed."""
    code = (
        "import resource, sys; from mebnb.cli import main; code = main(sys.argv[1:]); "
        "peaks = [resource.getrusage(who).ru_maxrss * 1024 for who in "
        "(resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]; "
        "print(max(peaks)); sys.exit(code)"
    )
    command = [sys.executable, "-c", code, *map(str, words)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    *lines, peak = run.stdout.splitlines()
    return lines, int(peak)


@pytest.mark.large
def test_ten_million_rows_are_fitted_and_scored_within_six_gibibytes(
    ten_million_rows, tmp_path
):
    out = tmp_path / "scores.csv"
    lines, peak = peak_memory(["fit", ten_million_rows, "-o", out])
    assert lines[0] == "long.csv: 10000000 of 10000000 rows and 5 of 5 columns are used"
    assert peak < 6 << 30
    with open(out) as file:
        assert sum(1 for _ in file) == 10_000_001


@pytest.mark.large
def test_ten_million_rows_end_in_a_report_within_six_gibibytes(
    ten_million_rows, tmp_path
):
    out = tmp_path / "out.ipynb"
    words = ["run", "18", "-p", "path", ten_million_rows, "-o", out, "--html"]
    _, peak = peak_memory(words)
    assert peak < 6 << 30
    page = out.with_suffix(".html").read_text(encoding="utf-8")
    assert "10000000 of 10000000 rows, 5 columns" in page
    assert "drawn: 2000 of 10000000 rows" in page


# --- outputs, threads, and what is done once ---------------------------------------------


def run_cli(words, **options):
    command = [sys.executable, "-m", "mebnb", *map(str, words)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, **options)


def test_full_disk_leaves_the_old_file_whole(square, tmp_path, monkeypatch, capsys):
    out, kept = tmp_path / "scores.csv", tmp_path / "ball.json"
    for path in (out, kept):
        path.write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)  # half is written: the disk says it late
    assert cli.main(["fit", str(square), "-o", str(out)]) == 2
    assert cli.main(["fit", str(square), "--model", str(kept)]) == 2
    err = capsys.readouterr().err.splitlines()
    assert err == [
        f"mebnb: cannot write {path}: No space left on device" for path in (out, kept)
    ]
    assert out.read_text() == kept.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {
        "scores.csv",
        "ball.json",
        "square.csv",
    }


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.bz2", ".csv.xz"])
def test_scores_are_the_same_bytes_whenever_they_are_written(square, tmp_path, ending):
    first, second = tmp_path / f"first{ending}", tmp_path / f"second{ending}"
    fit = fit_file(square)
    fit.write_scores(first)
    pd.testing.assert_frame_equal(
        pd.read_csv(first)[["row"]], fit.all_scores()[["row"]], check_dtype=False
    )
    with first.open("rb") as file:
        head = file.read()
    fit.write_scores(second)
    assert second.read_bytes() == head
    if ending == ".csv.gz":
        assert head[4:8] == bytes(4), "a time of day is packed with it"


def test_read_only_folder_is_refused_before_anything_is_fitted(
    square, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(
        "os.access", lambda path, mode: False
    )  # root may write anywhere
    for option, name in (("-o", "scores.csv"), ("--model", "ball.json")):
        assert cli.main(["fit", str(square), option, str(tmp_path / name)]) == 2
        said = capsys.readouterr().err
        assert said == f"mebnb: {option} names a folder that is read-only, {tmp_path}\n"


def test_linked_file_is_written_where_the_link_points(square, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real.csv").write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to("folder/real.csv")
    assert cli.main(["fit", str(square), "-o", str(link)]) == 0
    assert link.is_symlink() and len(pd.read_csv(tmp_path / "folder" / "real.csv")) == 5


def test_output_that_is_full_gets_a_sentence(square):
    with open("/dev/full", "w") as full:
        run = run_cli(["fit", square], stdout=full)
    assert run.returncode == 2
    assert run.stderr == "mebnb: standard output: No space left on device\n"


def test_ascii_terminal_gets_letters_by_their_code(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("größe,b\n1.5,2\n2.5,9\n4.5,1\n", encoding="utf-8")
    run = run_cli(
        ["fit", path],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert run.returncode == 0 and run.stderr == ""
    assert r"gr\xf6\xdfe" in run.stdout


def test_json_of_data_is_called_data(tmp_path, capsys):
    path = tmp_path / "data.json"
    path.write_text('[{"a": 1}, {"a": 2}]')
    assert cli.main(["fit", str(path)]) == 2
    assert (
        "data.json is JSON; expected a CSV or Parquet file" in capsys.readouterr().err
    )


def test_ball_is_fitted_on_one_thread(table, monkeypatch):
    seen = []

    def recorded(points, nu):
        seen.extend(pool["num_threads"] for pool in threadpoolctl.threadpool_info())
        return soft_ball(points, nu)

    monkeypatch.setattr("mebnb.your_data.model.soft_ball", recorded)
    with threadpoolctl.threadpool_limits(2):
        fit_balls(table)
    assert seen and set(seen) == {1}


def test_same_bytes_with_one_thread_and_two(tmp_path):
    path = tmp_path / "many.csv"
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(40_000, 4)).round(4)).to_csv(path, index=False)
    made = []
    for threads in ("1", "2"):
        kept = tmp_path / f"ball{threads}.json"
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        env = {**os.environ, **dict.fromkeys(names, threads), "PYTHONHASHSEED": threads}
        run_cli(
            ["fit", path, "--model", kept],
            env=env,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        made.append(kept.read_bytes())
    assert made[0] == made[1]


def test_rows_are_checked_and_scaled_once_for_both_balls(table, monkeypatch):
    from mebnb.your_data import model

    calls = []
    for name in ("_nominal_points", "check_reach", "_affine", "_rescale"):
        whole = getattr(model, name)
        monkeypatch.setattr(
            model,
            name,
            lambda *given, _name=name, _whole=whole: (
                calls.append(_name) or _whole(*given)
            ),
        )
    fit_balls(table, nu=0.1)
    assert sorted(calls) == ["_affine", "_nominal_points", "_rescale", "check_reach"]


def test_column_far_from_zero_is_scaled_by_its_spread(tmp_path):
    path = tmp_path / "far.csv"
    near = np.array([n * n % 7 for n in range(60)], dtype=float)
    pd.DataFrame({"a": (near + 3e15).astype(int), "b": near[::-1] ** 2}).to_csv(
        path, index=False
    )
    model, _ = fit_model(read_table(path))
    assert model.scale[0] == pytest.approx(near.std())


@pytest.mark.parametrize("rows, warned", [(19, True), (20, False)])
def test_few_rows_are_a_caution_below_ten_for_each_column(tmp_path, rows, warned):
    path = tmp_path / "few.csv"
    path.write_text("a,b\n" + "".join(f"{n * n % 7},{n % 3}\n" for n in range(rows)))
    told = fit_file(path).cautions
    assert any("fix a ball in 2 columns poorly" in word for word in told) == warned


def test_flag_that_names_a_label_is_recommended(tmp_path, capsys):
    path = tmp_path / "some.csv"
    path.write_text(
        "a,is_fraud\n" + "".join(f"{n * n % 7},{n % 2}\n" for n in range(15))
    )
    assert cli.main(["fit", str(path)]) == 0
    assert "name it (--label is_fraud)" in capsys.readouterr().out
