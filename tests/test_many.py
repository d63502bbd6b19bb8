"""`mebnb fit` on a folder or a pattern of Parquet files: as on one file, block by block."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mebnb.cli import main
from mebnb.solvers.sources import Blocks
from mebnb.your_data import TableError, many
from mebnb.your_data.fit import fit_file, load_any_model
from mebnb.your_data.many import fit_many, is_many, score_many


@pytest.fixture
def rows():
    points = np.random.default_rng(0).normal(size=(900, 3)) * [1.0, 5.0, 0.01]
    points += [0.0, 1000.0, -3.0]
    return pd.DataFrame(points, columns=["a", "b", "c"]).assign(word="=1+1")


@pytest.fixture
def folder(rows, tmp_path, monkeypatch):
    """Three files of 300 rows, in row groups of 70, and all rows in one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many").mkdir()
    for k in range(3):
        write(rows[300 * k : 300 * k + 300], f"many/{k}.parquet")
    write(rows, "one.parquet")
    return tmp_path / "many"


def write(frame, path):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, path, row_group_size=70)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "none"])
@pytest.mark.parametrize("path", ["many", "many/*.parquet"])
def test_the_ball_of_many_files_is_that_of_one(folder, scaling, path):
    made = fit_many(path, columns=["a", "b", "c"], scaling=scaling)
    one = fit_file("one.parquet", scaling=scaling, nu=0, columns=["a", "b", "c"])
    assert (made.rows, made.files, made.alarms, made.note) == (900, 3, 0, "")
    assert made.model.certified and made.model.relative_gap < 1e-9
    for name in ("shift", "scale", "center", "radius", "medians"):
        found, expected = getattr(made.model, name), getattr(one.model, name)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    made.write_scores("scores.csv")
    written = pd.read_csv("scores.csv")
    expected = one.all_scores()
    np.testing.assert_allclose(written["score"], expected["score"], rtol=1e-9)
    assert (written["mostly"] == expected["mostly"]).all()
    assert (written["row"] == np.tile(np.arange(1, 301), 3)).all()
    assert list(dict.fromkeys(written["file"])) == [
        f"many/{k}.parquet" for k in range(3)
    ]


def test_the_soft_ball_is_that_of_a_sample_and_says_so(folder, monkeypatch):
    whole = fit_many("many", columns=["a", "b"], nu=0.1)
    one = fit_file("one.parquet", nu=0.1, columns=["a", "b"])
    assert whole.note == "" and whole.model.radius == pytest.approx(one.model.radius)
    assert whole.alarms == whole.model.outside == one.model.outside
    monkeypatch.setattr(many, "SAMPLE", 200)
    part = fit_many("many", columns=["a", "b"], nu=0.1)
    assert "that of 200 rows, drawn by chance" in str(part)
    assert part.model.certified and 0.05 < part.alarms / 900 < 0.15
    assert part.model.radius != whole.model.radius


def test_the_most_abnormal_rows_are_found_wherever_they_stand(folder, rows):
    model = fit_many("many", columns=["a", "b", "c"]).model
    rows.loc[[10, 650], "a"] = [30.0, -40.0]
    write(rows[:300], "many/0.parquet")
    write(rows[600:], "many/2.parquet")
    made = score_many(model, "many")
    assert made.alarms == 2 and made.top["score"].is_monotonic_decreasing
    found = made.top.loc[made.top["alarm"], ["file", "row", "mostly"]]
    assert found.to_numpy().tolist() == [
        ["many/2.parquet", 51, "a"],
        ["many/0.parquet", 11, "a"],
    ]


def test_the_command_fits_keeps_scores_and_scores_again(folder, capsys):
    words = ["fit", "many/*.parquet", "--columns", "a", "b", "--nu", "0.1"]
    assert main([*words, "-o", "s.csv", "--model", "ball.json"]) == 0
    assert "900 rows of 3 files, read block by block" in capsys.readouterr().out
    assert main(["fit", "ball.json", "--score", "many", "-o", "t.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    alarms = int(pd.read_csv("t.csv")["alarm"].sum())
    assert told["scored"] == {"name": "many", "files": 3, "rows": 900, "alarms": alarms}
    with open("s.csv", "rb") as one, open("t.csv", "rb") as other:
        assert one.read() == other.read()
    assert main(["fit", "ball.json", "--score", "one.parquet"]) == 0
    assert load_any_model("ball.json").training_rows == 900


@pytest.mark.parametrize(
    "words, told",
    [
        ("many", "column 'word' must hold real numbers, found"),
        ("many --columns a zz", "no column is called 'zz'"),
        ("many --columns a a", "must name each column once, found 'a' again"),
        ("many --columns a --label word", "leave --label out"),
        ("many --columns a --fdr 0.1", "leave --fdr out"),
        ("many --columns a --identity b", "leave --identity out"),
        ("many --columns a --nu 1.5", "nu must be a number from 0"),
        ("many --columns a --scaling max", "scaling must be one of"),
        ("many --columns a --score one.parquet", "fitted or scored alone"),
        ("nothing*.parquet", "no file is called"),
        ("many --columns a -o many/0.parquet", "-o would overwrite many/0.parquet"),
        ("many/*.parquet --columns a -o many/1.parquet", "-o would overwrite"),
    ],
)
def test_what_cannot_be_done_is_said(folder, words, told, capsys):
    assert main(["fit", *words.split()]) == 2
    assert told in capsys.readouterr().err


def test_values_that_cannot_be_used_are_named(folder, rows):
    for value, told in (
        (np.nan, "found nothing in column 'b'"),
        (
            np.inf,
            r"many/1.parquet must hold finite numbers, found inf in row 81, .*'b'",
        ),
        (1e200, "column 'b' of many reaches 1e.200"),
    ):
        rows.loc[380, "b"] = value
        write(rows[300:600], "many/1.parquet")
        with pytest.raises(TableError, match=told):
            fit_many("many", columns=["a", "b"])
    write(rows[:600].assign(a=1.0), "many/1.parquet")
    for k in (0, 2):
        write(rows[:9].assign(a=1.0), f"many/{k}.parquet")
    with pytest.raises(TableError, match="all rows are equal"):
        fit_many("many", columns=["a"])


def test_a_model_with_p_values_takes_one_file(folder, capsys):
    fit_file("one.parquet", alpha=0.1, columns=["a", "b"]).model.save("alarms.json")
    assert main(["fit", "alarms.json", "--score", "many"]) == 2
    assert "--score must name one file" in capsys.readouterr().err


def test_words_of_files_are_no_formulas(folder, rows, monkeypatch):
    (folder / "0.parquet").rename(folder / "=2+3.parquet")
    write(rows.rename(columns={"a": "@a"}), "many/=2+3.parquet")
    for k in (1, 2):
        write(rows.rename(columns={"a": "@a"}), f"many/{k}.parquet")
    monkeypatch.chdir(folder)
    made = fit_many("=*.parquet", columns=["@a"])
    made.write_scores("s.csv")
    assert set(pd.read_csv("s.csv")["file"]) == {"'=2+3.parquet"}
    assert set(pd.read_csv("s.csv")["mostly"]) == {"'@a"}


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("nu", [0, 0.1])
def test_files_without_rows_are_passed_over(folder, rows, k, nu):
    write(rows[:0], f"many/{k}.parquet")
    made = fit_many("many", columns=["a", "b"], nu=nu)
    assert (made.rows, made.files) == (600, 2)
    assert (score_many(made.model, "many").rows, made.model.training_rows) == (600, 600)


def test_each_pass_reads_each_block_once(folder, monkeypatch):
    reads, block = [], Blocks.block
    monkeypatch.setattr(
        Blocks, "block", lambda self, k: [reads.append(k), block(self, k)][1]
    )
    made = fit_many("many", columns=["a", "b", "c"])
    reads.clear()
    score_many(made.model, "many")
    # One is read first, for the number of columns.
    assert sorted(reads) == [0, *range(15)]


def test_folders_and_patterns_are_many_files_are_not(folder):
    assert is_many("many") and is_many("many/*.parquet") and is_many("not/there-?.csv")
    assert not is_many("one.parquet") and not is_many("nowhere.parquet")
    (folder / "a[1].parquet").touch()
    assert not is_many(folder / "a[1].parquet")


def test_a_file_without_rows_is_passed_over(folder, rows):
    before = fit_many("many", columns=["a", "b"])
    write(rows[:0], "many/0a.parquet")
    after = fit_many("many", columns=["a", "b"])
    assert (after.rows, after.model.radius) == (before.rows, before.model.radius)


def test_a_folder_whose_name_is_a_pattern_is_that_folder(folder):
    folder.rename("many[1]")
    assert fit_many("many[1]", columns=["a"]).rows == 900


def test_a_folder_of_nothing_is_told(tmp_path):
    with pytest.raises(TableError, match="must hold Parquet files, found none"):
        fit_many(tmp_path, columns=["a"])


def test_the_file_that_has_other_columns_is_named(folder, rows):
    for change, told in (
        (rows.drop(columns="b"), "many/2.parquet: no column is called 'b'"),
        (rows.assign(b="7"), "many/2.parquet: column 'b' must hold real numbers"),
        (rows.assign(b=None), "many/2.parquet: column 'b' must hold real numbers"),
        (rows.assign(b=np.nan), "rows 1 and on of many/2.parquet must hold numbers"),
    ):
        write(change[600:], "many/2.parquet")
        with pytest.raises(TableError, match=told):
            fit_many("many", columns=["a", "b"])


def test_whole_numbers_in_the_first_file_cut_nothing_off(folder, rows):
    for number, kind in enumerate(("int64", "float64", "float32")):
        part = rows[300 * number : 300 * number + 300]
        write(part.assign(b=part["b"].round().astype(kind)), f"many/{number}.parquet")
    write(rows[600:].assign(b=rows["b"][600:] + 0.25), "many/2.parquet")
    found = Blocks.from_parquet("many", ["b"])
    values = np.concatenate([found.block(k) for k in range(found.count)]).ravel()
    np.testing.assert_array_equal(values[:600], rows["b"][:600].round())
    np.testing.assert_array_equal(values[600:], rows["b"][600:] + 0.25)
    assert fit_many("many", columns=["a", "b"]).model.certified


def test_words_of_files_do_not_steer_the_terminal(folder, rows, capsys):
    (folder / "0.parquet").rename(folder / "\x1b[31m.parquet")
    assert main(["fit", "many", "--columns", "a", "b"]) == 0
    rows["b"] = np.inf
    write(rows, "many/\x1b[31m.parquet")
    assert main(["fit", "many", "--columns", "a", "b"]) == 2
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert "\ufffd[31m.parquet" in told.out and "\ufffd[31m.parquet" in told.err
