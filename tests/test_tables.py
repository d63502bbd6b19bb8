"""CSV and Parquet files of other people: what is read, what is left out, what is refused."""

import gzip
import os
import threading

import numpy as np
import pandas as pd
import pytest

from mebnb.datasets import dataset_file, load_dataset
from mebnb.your_data import TableError, read_rows, read_table
from mebnb.your_data.dialect import find_dialect
from mebnb.your_data.numbers import (
    bare,
    is_number,
    looks_like_dates,
    read_numbers,
    read_truth,
    sign_votes,
)
from mebnb.your_data.sources import open_source

PLAIN = [[1.5, 20.0], [2.5, 30.0], [4.0, 10.0]]


@pytest.fixture
def write(tmp_path):
    """Write a file and return its path."""

    def written(content, name="some.csv", encoding="utf-8"):
        path = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode(encoding)
        path.write_bytes(data)
        return path

    return written


# --- ways of writing one table -----------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1.5,20\n2.5,30\n4.0,10\n",
        "a;b\n1.5;20\n2.5;30\n4.0;10\n",
        "a;b\n1,5;20\n2,5;30\n4,0;10\n",
        "a\tb\n1.5\t20\n2.5\t30\n4.0\t10\n",
        "a|b\n1.5|20\n2.5|30\n4.0|10\n",
        "a b\n1.5 20\n2.5  30\n4.0 10\n",
        "a, b\r\n 1.5, 20\r\n2.5 , 30\r\n4.0,10\r\n",
        '"a","b"\n"1.5","20"\n"2.5","30"\n"4.0","10"\n',
        '"a","b"\n"1,5","20"\n"2,5","30"\n"4,0","10"\n',
        "a,b\n1.5,20 %\n2.5,30 %\n4.0,10 %\n",
        "exported on a Monday\n\na,b\n1.5,20\n2.5,30\n4.0,10\n",
        "# one line\n# another, with a comma\na,b\n1.5,20\n2.5,30\n4.0,10\n",
        "a,b\n1.5,20\n\n2.5,30\n4.0,10\n\n\n",
        "a,b,\n1.5,20,\n2.5,30,\n4.0,10,\n",
        "a,b\n1.5,20,\n2.5,30,\n4.0,10,\n",
    ],
)
def test_one_table_in_many_ways_of_writing(write, text):
    table = read_table(write(text))
    assert table.values.to_numpy().tolist() == PLAIN
    assert list(table.values) == ["a", "b"]
    assert table.rows.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"]
)
def test_encoding_is_found_out(write, encoding):
    path = write("größe;länge\n1,5;20\n2,5;30\n4,0;10\n", encoding=encoding)
    table = read_table(path)
    assert list(table.values) == ["größe", "länge"]
    assert table.values.to_numpy().tolist() == PLAIN


def test_bytes_that_are_no_utf8_far_below_are_read(write):
    lines = "".join(f"{i * 7 % 11},{i % 5},plain\n" for i in range(60_000))
    path = write(b"a,b,note\n" + lines.encode() + b"3,4,caf\xe9\n")
    table = read_table(path)
    assert len(table.rows) == 60_001
    assert table.notes[0] == "fields separated by commas, text in Windows-1252"


def test_packed_file_and_parquet_are_read_as_the_plain_one(write, tmp_path):
    text = b"a,b\n1.5,20\n2.5,30\n4.0,10\n"
    packed = write(gzip.compress(text), "some.csv.gz")
    frame = pd.DataFrame(PLAIN, columns=["a", "b"])
    frame.to_parquet(tmp_path / "some.parquet")
    for path in (packed, tmp_path / "some.parquet"):
        assert read_table(path).values.to_numpy().tolist() == PLAIN


def test_parquet_types_are_understood(tmp_path):
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3, 5], dtype="Int64"),
            "yes": [True, False, True, True],
            "day": pd.date_range("2024-01-01", periods=4),
            "word": pd.Categorical(["a", "b", "a", "a"]),
            "text": ["1,5", "2,5", "3,0", "9,5"],
        },
        index=pd.Index(["w", "x", "y", "z"], name="key"),
    )
    frame.to_parquet(tmp_path / "typed.parquet")
    readings = read_table(tmp_path / "typed.parquet", columns=["yes", "text"]).readings
    assert readings["type"].to_dict() == {
        "key": "text",
        "whole": "number",
        "yes": "yes or no",
        "day": "date",
        "word": "text",
        "text": "number, decimal comma",
    }


@pytest.mark.parametrize(
    "text, names",
    [
        ("1.5,20\n2.5,30\n4.0,10\n", ["column 1", "column 2"]),
        ("x,x\n1.5,20\n2.5,30\n4.0,10\n", ["x", "x (2)"]),
        (",y\n1.5,20\n2.5,30\n4.0,10\n", ["column 1", "y"]),
        ("2001,2002\n1.5,20\n2.5,30\n4.0,10\n", ["2001", "2002"]),
        ("0,1\n1.5,20\n2.5,30\n4.0,10\n", ["0", "1"]),
        ("x,y\nr1,1.5,20\nr2,2.5,30\nr3,4.0,10\n", ["x", "y"]),
    ],
)
def test_names_of_columns(write, text, names):
    table = read_table(write(text))
    assert list(table.values) == names
    assert table.values.to_numpy().tolist() == PLAIN


def test_thousands_apart_are_told_from_decimal_commas(write):
    apart = write('a,b\n"1,500",1\n"2,500",2\n"12,345",4\n', "apart.csv")
    assert read_table(apart).values["a"].tolist() == [1500.0, 2500.0, 12345.0]
    comma = write("a;b\n1.500,5;1\n2.500,25;2\n12.345,0;4\n", "comma.csv")
    assert read_table(comma).values["a"].tolist() == [1500.5, 2500.25, 12345.0]


@pytest.mark.parametrize(
    "text, values",
    [
        # blanks and apostrophes set thousands apart, and nothing else
        ("y;x\n3;1 234\n1;22 500\n4;3 100\n", {"y": [3, 1, 4], "x": [1234, 22500, 3100]}),
        ("y;x\n3;12 5\n1;2 5\n4;3 10\n", {"y": [3, 1, 4]}),
        ("y,x\n3,5'11\n1,6'1\n4,5'9\n", {"y": [3, 1, 4]}),
        # a first line of numbers is data, but for years and counting on from 0
        ("1,2\n5,7\n3,3\n4,9\n", {"column 1": [1, 5, 3, 4], "column 2": [2, 7, 3, 9]}),
        ("al,30,31\nbo,27,44\ncy,55,12\n", {"column 2": [30, 27, 55],
                                              "column 3": [31, 44, 12]}),
        ("land,2019\nA,3\nB,4\nC,7\n", {"2019": [3, 4, 7]}),
        ("3,4\n5,6\n7,9\n", {"column 1": [3, 5, 7], "column 2": [4, 6, 9]}),
        # R: quotes, blanks, names of rows
        ('"x" "y"\n"1" 1.5 20\n"2" 2.5 25\n"3" 1.0 7\n', {"x": [1.5, 2.5, 1],
                                                          "y": [20, 25, 7]}),
        ('"a","b"\n"r1",1,2\n"r2",2,9\n"r3",3,1\n', {"a": [1, 2, 3], "b": [2, 9, 1]}),
        ("a,b\n1,2,\n2,5,\n3,1,\n", {"a": [1, 2, 3], "b": [2, 5, 1]}),
        (",y\n0,1\n1,5\n2,7\n3,9\n4,1\n", {"y": [1, 5, 7, 9, 1]}),
        (",,v\n0,1,2\n0,2,5\n1,1,7\n", {"column 1": [0, 0, 1], "column 2": [1, 2, 1],
                                        "v": [2, 5, 7]}),
        ('"a" "b" "c" "d"\n"1" 10 20 30 40\n"2" 9 8 1 2\n"3" 5 5 1 1\n',
         {"a": [10, 9, 5], "b": [20, 8, 5], "c": [30, 1, 1], "d": [40, 2, 1]}),
        ("a,b,c,d,e\n10,20,30,40,50,\n4,5,6,1,1,\n7,8,1,2,2,\n",
         {"a": [10, 4, 7], "b": [20, 5, 8], "c": [30, 6, 1], "d": [40, 1, 2],
          "e": [50, 1, 2]}),
        ("E1,E2\n1.5,2\n2.5,5\n7,1\n", {"E1": [1.5, 2.5, 7], "E2": [2, 5, 1]}),
        ("p,icd,bp\nx,I10,120\ny,E11,140\nz,J45,118\n", {"bp": [120, 140, 118]}),
        ("a\n1,5\n2,5\n5,7\n", {"a": [1.5, 2.5, 5.7]}),
        ('"2019" "2020"\n"k" 1 2\n"l" 3 9\n"m" 2 4\n', {"2019": [1, 3, 2], "2020": [2, 9, 4]}),
        ("a b\n1,5 2,5\n2,5 5,5\n3,5 7,1\n", {"a": [1.5, 2.5, 3.5], "b": [2.5, 5.5, 7.1]}),
        ("sep=\t\nx\ty\n1.5\t1\n2.5\t7\n", {"x": [1.5, 2.5], "y": [1, 7]}),
        # Excel's first line, remarks, units, totals, a title that fills one field
        ("sep=;\na;b\n1,5;2\n2,5;7\n", {"a": [1.5, 2.5], "b": [2, 7]}),
        ("#a b\n1 2\n2 5\n3 1\n", {"a": [1, 2, 3], "b": [2, 5, 1]}),
        ("# a b\n1 2\n2 5\n3 1\n", {"a": [1, 2, 3], "b": [2, 5, 1]}),
        ("Log;;\nHall 4;;\nt;p;q\n°C;bar;\n1,5;2;3\n2,5;7;1\n4,5;7;2\n",
         {"t": [1.5, 2.5, 4.5], "p": [2, 7, 7], "q": [3, 1, 2]}),
        ("day;a;b\nMo;1;2\nTu;2;7\nSumme;3;9\n", {"a": [1, 2], "b": [2, 7]}),
        ("Report\x0c\na,b\n1,9\n2,7\n3,5\n", {"a": [1, 2, 3], "b": [9, 7, 5]}),
        # which sign is the decimal one
        ('a,b\n1.5,"0,250"\n2.5,"0,755"\n', {"a": [1.5, 2.5], "b": [0.25, 0.755]}),
        ('y,x\n"1,5","2,250"\n"2,5","3,755"\n', {"y": [1.5, 2.5], "x": [2.25, 3.755]}),
        ("p;q;s\n1,250;2,000;0.5\n3,100;4,500;0.25\n", {"p": [1250, 3100],
                                                        "q": [2000, 4500],
                                                        "s": [0.5, 0.25]}),
        ("f;u\nA;1.011\nB;940\nC;2.300\n", {"u": [1011, 940, 2300]}),
        ("f;u\nA;1.011\nB;0.940\nC;2.300\n", {"u": [1.011, 0.94, 2.3]}),
        ("y;x\n" + "2;5\n7;1\n" * 200 + "3,5;21,125\n",
         {"y": [2, 7] * 200 + [3.5], "x": [5, 1] * 200 + [21.125]}),
        ("a;b\n1.125;3\n2;4\n7.875;1\n", {"a": [1.125, 2, 7.875], "b": [3, 4, 1]}),
        ("a;b\n1,234;5\n940;6\n2,500;7\n", {"a": [1234, 940, 2500], "b": [5, 6, 7]}),
        # money and units, and percent signs in some rows
        ('a,b\n"$1,728.11",1\n"($1,234.00)",2\n$5,7\n', {"a": [1728.11, -1234, 5],
                                                         "b": [1, 2, 7]}),
        ("k;b\n2 294,17 zł;1\n8,5 zł;2\n12 zł;9\n", {"k": [2294.17, 8.5, 12], "b": [1, 2, 9]}),
        ("day;a;b\nMo;1;2\nTu;2;7\nTOTAL GÉNÉRAL;3;9\n", {"a": [1, 2], "b": [2, 7]}),
        ("id;t;p\nx;-;bar\na;1;2\nb;3;9\nc;2;2\n", {"t": [1, 3, 2], "p": [2, 9, 2]}),
        ("a\n1\n\u22122\n3.5\n", {"a": [1, -2, 3.5]}),
    ],
)  # fmt: skip
def test_numbers_are_read_as_they_are_meant(write, text, values):
    table = read_table(write(text))
    assert {name: column.tolist() for name, column in table.values.items()} == values


def test_what_was_decided_is_said(write):
    table = read_table(write("a,b\n10%,1\n0.2,2\n30%,7\n"))
    assert table.readings.loc["a", "why"] == (
        "percent signs taken off in 2 of 3 rows; the others are taken as they are"
    )
    table = read_table(write('a,b\n"1,250",1\n"2,500",2\n'))
    assert table.readings.loc["a", "why"] == "1,250 is read as 1250"
    table = read_table(write("a,b\nx,1\n2,2\ny,7\nx,5\n"))
    assert (
        table.readings.loc["a", "why"] == "numbers in 1 row only; others are 'x', 'y'"
    )
    assert (
        "no header: the first line, 5, 6, counts as data"
        in read_table(write("5,6\n1,4\n2,8\n")).notes
    )
    table = read_table(write("Account ID,is fraud,state fault\n5,0,a\n9,1,b\n7,0,a\n"))
    assert table.notes[-3:] == [
        "Account ID sounds like a name or code; leave it out (--leave 'Account ID') if it "
        "measures nothing",
        "is fraud sounds like a label; name it (--label 'is fraud'), or leave it out",
        "state fault sounds like a label; name it (--label 'state fault') if it tells good "
        "rows from bad",
    ]


@pytest.mark.parametrize(
    "text, sentence",
    [
        (
            "a,b\n1,2,3\n4,5\n6,7\n",
            "some.csv has rows of more fields than the 2 of its",
        ),
        (
            "a,b\n1,5,2,5\n2,5,3,5\n",
            "some.csv, line 1: 2 fields where most lines have 4",
        ),
        ("x y\n1 2\n3 5\n4 4\n6\n", "some.csv holds one column of text; expected"),
        (",,\n,,\n", "some.csv holds no values, delimiters only"),
        ("a,b\n1,2\n", "some.csv holds one row; a ball needs two or more"),
    ],
)
def test_what_cannot_be_meant_is_refused(write, text, sentence):
    with pytest.raises(TableError) as refused:
        read_table(write(text))
    assert str(refused.value).startswith(sentence)


def test_parquet_of_other_things_is_read_or_refused(tmp_path):
    path = tmp_path / "other.parquet"
    frame = pd.DataFrame(
        {"list": [[1], [2], [3, 4]], "a": [1.0, 5.0, 2.0], "b": ["1", "?", "3"]}
    )
    frame.to_parquet(path)
    assert read_table(path, columns=["a"]).readings["type"].tolist() == [
        "nested",
        "number",
        "number",
    ]
    frame[["a"]].iloc[:0].to_parquet(path)
    with pytest.raises(TableError, match="^other.parquet has a header and no rows$"):
        read_table(path)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2"])
def test_damaged_archive_is_refused(write, suffix):
    with pytest.raises(TableError, match=f"^bad.csv{suffix} cannot be read: "):
        read_table(write(b"a,b\n1,2\n3,4\n", f"bad.csv{suffix}"))


@pytest.mark.parametrize("nominal, known", [(True, "true"), (1, "1"), (1.0, "1")])
def test_nominal_may_be_given_as_the_value_it_is(write, nominal, known):
    other = {"true": "false", "1": "0"}[known]
    path = write(f"a,y\n1,{known}\n2,{other}\n5,{known}\n")
    assert read_table(path, label="y", nominal=nominal).is_nominal.tolist() == [
        True,
        False,
        True,
    ]


def test_rows_for_scoring_are_read_one_by_one(write):
    path = write("b;a;id\n2,5;1;x\n?;2;y\noops;3;z\n")
    table = read_rows(path, ["a", "b"], identity="id")
    assert table.rows.tolist() == [1]
    assert table.total == 3
    assert table.identities.tolist() == ["x", "y", "z"]
    commas = write('a,b\n"5,125",1\n', "commas.csv")
    assert read_rows(commas, ["a"], decimal=",").values["a"].tolist() == [5.125]
    points = write("a,b\n5.125,1\n", "points.csv")
    assert read_rows(points, ["a"], decimal=",").values["a"].tolist() == [5.125]
    # The file leaves the sign open: that of the model decides.
    path = write("a;b\n2.936;7\n1.250;8\n")
    assert read_rows(path, ["a"], decimal=",").values["a"].tolist() == [2936.0, 1250.0]
    assert read_rows(path, ["a"], decimal=".").values["a"].tolist() == [2.936, 1.25]
    with pytest.raises(
        TableError, match="^some.csv lacks 'q'; it must have the columns of"
    ):
        read_rows(path, ["a", "q"])


# --- what is done about each column and row -------------------------------------------


def test_each_column_is_told_what_was_done_and_why(write):
    text = (
        "id,size,copy,day,colour,flag,same,holes,none,share,mixed\n"
        "1,1.5,1.5,2024-01-01,red,True,7,,,10%,1\n"
        "2,2.5,2.5,2024-01-02,red,False,7,,,20%,2\n"
        "3,9.0,9.0,2024-01-03,blue,True,7,1,,30%,inf\n"
        "4,3.5,3.5,2024-01-04,blue,True,7,,,5%,4\n"
        "5,4.5,4.5,2024-01-05,blue,True,7,2,,5%,4\n"
        "6,0.5,0.5,2024-01-05,blue,True,7,2,,5%,8\n"
    )
    table = read_table(write(text))
    assert table.readings["why"].to_dict() == {
        "id": "a running number, which names the row",
        "size": "",
        "copy": "repeats column size",
        "day": "a date is no distance; turn it into a number, such as days, to use it",
        "colour": "words have no distance; turn them into numbers to use them",
        "flag": "true is 1, false is 0",
        "same": "constant",
        "holes": "missing in 50% of the rows",
        "none": "every value is missing",
        "share": "percent signs taken off",
        "mixed": "infinite in 1 row, which counts as missing",
    }
    assert list(table.values) == ["size", "flag", "share", "mixed"]
    assert table.rows.tolist() == [1, 2, 4, 5, 6]
    assert table.identity.tolist() == [1, 2, 4, 5, 6]
    assert (
        table.notes[-1] == "rows left out for a missing value: 1 of 6 (mixed lacks 1)"
    )


def test_mixed_column_is_one_of_numbers_where_most_entries_are(write):
    rows = "".join(f"{i % 13},{i * i % 7}\n" for i in range(30))
    table = read_table(write(f"a,b\n{rows}oops,3\n"))
    assert table.readings.loc["a", "why"] == (
        "no number in 1 row, which counts as missing: 'oops'"
    )
    assert (len(table.rows), table.total) == (30, 31)
    mostly_words = read_table(write("a,b\nx,1\ny,2\n3,9\nz,4\n", "other.csv"))
    assert list(mostly_words.values) == ["b"]


@pytest.mark.parametrize("word", ["", "NA", "n/a", "?", "-", "null", "None", "#DIV/0!"])
def test_words_for_missing_values(write, word):
    table = read_table(write(f"a,b,c\n1.5,20,1\n{word},5,2\n2.5,30,7\n4,10,2\n5,0,1\n"))
    assert table.rows.tolist() == [1, 3, 4, 5]
    assert table.readings.loc["a", "missing"] == 1


def test_missing_words_are_labels_in_the_label_column(write):
    text = "a,fault\n1,none\n2,none\n9,crack\n4,NA\n5,\n"
    table = read_table(write(text), label="fault")
    assert table.nominal == "none"
    assert table.is_nominal.tolist() == [True, True, False, False, False]
    assert table.is_judged.tolist() == [True, True, True, True, False]
    assert "rows without a label, which are scored only: 1" in table.notes


def test_numeric_labels_are_named_as_they_are_written(write):
    table = read_table(write("a,y\n1,0\n2,0\n3,1\n"), label="y", nominal=1)
    assert table.nominal == "1"
    assert table.is_nominal.tolist() == [False, False, True]


def test_codes_for_missing_values_are_pointed_out(write):
    table = read_table(write("a,b\n1.5,1\n-999,2\n2.5,4\n-999,3\n3,9\n"))
    assert table.notes[-1] == (
        "-999 comes 2 times in a, far from all else; if it stands for a missing value, "
        "blank it"
    )


def test_columns_asked_for_are_used_in_that_order_though_constant(write):
    table = read_table(write("a,b,c\n1,5,7\n2,5,8\n3,5,1\n"), columns=["c", "b"])
    assert list(table.values) == ["c", "b"]
    assert table.readings.loc["a", "why"] == "not among the columns asked for"


def test_wide_file_is_read(write):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20, 5000)).round(3))
    path = write(frame.to_csv(index=False))
    assert read_table(path).values.shape == (20, 5000)


def test_data_set_of_the_clone_is_read_as_the_loader_reads_it():
    table = read_table(
        dataset_file("maternal_risk"), label="RiskLevel", nominal="low risk"
    )
    data = load_dataset("maternal_risk")
    assert table.values.equals(data.features.astype(float))
    assert table.labels.tolist() == data.labels.tolist()


def test_sample_keeps_row_numbers_and_labels_together(write):
    text = "id,a,y\n" + "".join(f"k{i},{i * 7 % 13},{i % 3}\n" for i in range(1, 31))
    table = read_table(write(text), label="y", identity="id")
    drawn = table.sample(10, seed=3)
    assert drawn.sample(10) is drawn and len(drawn.rows) == 10
    named = drawn.named(np.arange(10))
    assert named["id"].tolist() == [f"k{row}" for row in named["row"]]
    assert named["y"].tolist() == [str(row % 3) for row in named["row"]]
    assert drawn.values["a"].tolist() == [row * 7 % 13 for row in named["row"]]


def test_dialect_says_how_the_file_is_written(write):
    dialect = find_dialect(open_source(write("from the till\na;b\n1,5;2\n2,5;3\n")))
    assert (dialect.delimiter, dialect.decimal, dialect.above) == (";", ",", 2)
    assert dialect.notes == (
        "fields separated by semicolons, text in UTF-8",
        "lines above the table, skipped: 1",
        "decimal commas",
    )


# --- what is refused --------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("", "some.csv is empty"),
        ("\n\n", "some.csv is empty"),
        ("a,b\n", "some.csv has a header and no rows"),
        (
            "a\nsome words\nother words\n",
            "some.csv holds one column of text; expected numbers separated by commas, "
            "semicolons, tabs, bars or spaces",
        ),
        (
            "a~b\n1~2\n3~4\n",
            "some.csv holds one column of text; expected numbers separated by commas, "
            "semicolons, tabs, bars or spaces",
        ),
        (
            "a,b\nx,2024-01-01\ny,2024-01-02\n",
            "some.csv has no column of numbers that can be used: words have no distance; "
            "turn them into numbers to use them (1); a date is no distance; turn it into a "
            "number, such as days, to use it (1)",
        ),
        (
            "a,b\n1,2\n3,4,5\n",
            "some.csv, line 3: 3 fields where 2 are expected; the fields are separated by "
            "commas, and a field that holds one must stand in quotes",
        ),
        ('a,b\n1,2\n"3,4\n', "some.csv, a quoted field is opened and never closed"),
        (
            "a,b,c,d,e,f\n"
            + "".join(
                ",".join("" if (i + j) % 6 == 0 else str((i * i + 2 * i * j + j) % 7) for j in range(6))
                + "\n"
                for i in range(6)
            ),
            "some.csv has no row without a missing value; leave out the columns that lack "
            "most: a (in 1 row), b (in 1 row), c (in 1 row)",
        ),
        (b"PK\x03\x04rest", "some.csv is a spreadsheet or a ZIP archive; save the sheet as "
         "CSV first"),
        (b"\x00\x01\x02\x03", "some.csv holds no text; expected CSV or Parquet"),
        (b"PAR1 and then nothing", "some.csv is no Parquet that can be read: "),
    ],
)  # fmt: skip
def test_file_that_is_no_table_is_refused_in_one_sentence(write, text, sentence):
    with pytest.raises(TableError) as refused:
        read_table(write(text))
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "options, sentence",
    [
        (
            {"label": "Y"},
            "label must name a column of the file (a, b, y), found 'Y'; did you mean 'y'?",
        ),
        ({"label": "z"}, "label must name a column of the file (a, b, y), found 'z'"),
        (
            {"columns": ["q"]},
            "columns must name a column of the file (a, b, y), found 'q'",
        ),
        ({"leave": ["q"]}, "leave must name a column of the file (a, b, y), found 'q'"),
        (
            {"identity": "q"},
            "identity must name a column of the file (a, b, y), found 'q'",
        ),
        ({"columns": ["y"]}, "column 'y' must hold numbers, found text: 'u', 'v'"),
        (
            {"label": "y", "nominal": "w"},
            "nominal must be a value of 'y' (u, v), found 'w'",
        ),
        ({"nominal": "u"}, "nominal needs a label, found 'u' and no label"),
        (
            {"label": "b"},
            "label must name a column of two or more values, found 1 in 'b'",
        ),
        (
            {"label": "y", "columns": ["a", "y"]},
            "columns and label both name 'y'; keep one of them",
        ),
    ],
)
def test_senseless_wishes_are_refused(write, options, sentence):
    path = write("a,b,y\n1,5,u\n2,5,u\n4,5,v\n")
    with pytest.raises(TableError) as refused:
        read_table(path, **options)
    assert str(refused.value) == sentence


def test_file_that_is_not_there_and_folder_are_refused(tmp_path):
    with pytest.raises(TableError, match="^there is no file .*nowhere.csv$"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(
        TableError, match="is a folder; expected a CSV or Parquet file$"
    ):
        read_table(tmp_path)
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(TableError, match="^a.xlsx is a spreadsheet; save it as CSV"):
        read_table(tmp_path / "a.xlsx")


# --- columns that could shift, marks, codes, sums, encodings -----------------------------


@pytest.mark.parametrize(
    "header, row",
    [
        ("age,weight,city", "20,{n},Paris, France"),
        ("temp,load", "21,5,{n}"),
        ("temp,load", "{n},5,80"),
        ("name,temp,load", "k{n},21,5,80"),
        ("name,size,load", "k{n},8,776.6,80.5"),
        ("age weight city", "{n} 60 New York"),
        ("id age city", "{n} 20 New York"),
    ],
)
def test_header_that_a_cut_field_makes_short_is_refused(write, header, row):
    rows = "\n".join(row.format(n=n) for n in range(1, 41))
    with pytest.raises(TableError) as refused:
        read_table(write(f"{header}\n{rows}\n"))
    assert "line" in str(refused.value) and "header" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_commas_within_quotes_are_no_delimiter(write):
    rows = "".join(
        f'"{n}";"{n % 7},4 ± 0,9";"{n % 5},42";00921\n' for n in range(1, 40)
    )
    title = "Height, and so on, north, south\n\n"
    table = read_table(write(f'{title}"size";"flow";"plz"\n{rows}'))
    assert table.values["flow"].tolist() == [n % 5 + 0.42 for n in range(1, 40)]


def test_values_that_rise_by_chance_are_no_header(write):
    rows = "".join(
        f"r{n};{n % 7};{n % 5};3;{n * n % 11};{n % 3}\n" for n in range(2, 40)
    )
    table = read_table(write(f"a;b;c;d;e\nr1;-1,5;-1,16;40,1;1032612;20240510\n{rows}"))
    assert table.values["a"].iloc[0] == -1.5


def test_a_number_with_a_rare_unit_makes_no_rising_header(write):
    rows = "".join(f"{n}.5,{4408 + n},{n % 5} kg,191.7,39,Rome,\n" for n in range(40))
    names = "t,nr,size,dose,plz,city"
    table = read_table(write(f"{names}\n7.9,4398,-0.5 g,231,7241,Paris,\n{rows}"))
    assert table.values["t"].tolist() == [n + 0.5 for n in range(40)]
    assert "rows left out for a missing value: 1 of 41 (size lacks 1)" in table.notes


def test_a_range_above_ranges_names_no_column(write):
    rows = "".join(f"-{n % 7},8,{n}-{n + 9}\n" for n in range(2, 40))
    with pytest.raises(TableError, match="line 2: 3 fields where the header has 2"):
        read_table(write(f"temp,speed\n-0,1,8-11\n{rows}"))


@pytest.mark.parametrize(
    "header, row",
    [
        ("flow       dose", "8.{n}0E+00  11,089.{n}"),
        ("name      dose", "Zoe {n}x    10,089.{n}"),
        ("dose         load", "239,213.{n}  197,448.8"),
        ("flow dose", "8.{n} 11,089.{n}"),
    ],
)
def test_thousands_among_columns_set_by_blanks_are_no_delimiter(write, header, row):
    rows = "\n".join(row.format(n=n) for n in range(10, 50))
    with pytest.raises(TableError, match="line 1: 1 field where most lines have [23]"):
        read_table(write(f"{header}\n{rows}\n8 9 10,5\n"))


def test_row_names_below_one_name_with_a_blank(write):
    rows = "".join(f"r{n},{n % 7}.5\n" for n in range(40))
    table = read_table(write(f"body mass\n{rows}"))
    assert table.values["body mass"].tolist() == [n % 7 + 0.5 for n in range(40)]


def test_row_names_that_repeat_far_below_are_refused(write):
    rows = "".join(f'"{n}",{n % 7}.5,{n % 5}.25\n' for n in range(1, 500))
    with pytest.raises(TableError, match="'12' in line 501"):
        read_table(write(f'"a","b"\n{rows}"12",1.5,2.5\n'))


def test_quotes_behind_backslashes_shift_nothing(write):
    rows = "".join(f'"he said \\"hi, {n}\\"",{n % 7},{n % 5}\n' for n in range(30))
    table = read_table(write(f"said,a,b\n{rows}"))
    assert table.values["a"].tolist() == [n % 7 for n in range(30)]
    assert table.identities[3] == 'he said "hi, 3"'


def test_field_that_is_blank_between_blanks_is_refused(write):
    rows = "".join(f"{n % 7} {n % 5} {n % 3}\n" for n in range(30))
    with pytest.raises(TableError, match="line 33: 2 fields where 3 are expected"):
        read_table(write(f"a b c\n{rows}1 2 3\n1    3\n"))


@pytest.mark.parametrize(
    "written, told",
    [
        ("{}°C", "'°C' taken off"),
        ("{} mg/dL", "'mg/dL' taken off"),
        ("{}*", "'*' taken off"),
        ("{} [2]", "'[2]' taken off"),
        ("{} ± 0.1", "uncertainties behind ± taken off"),
        ("{} +/- 0.1", "uncertainties behind ± taken off"),
        ('="{}"', "'=\"' before numbers taken off"),
        ("'{}", '"\'" before numbers taken off'),
    ],
)
def test_marks_around_numbers_are_taken_off_and_said(write, written, told):
    values = [10.2, 9.7, -11.5, 0.5, 3.25, 8.0]
    rows = "".join(f"{written.format(v)};{k * k % 5}\n" for k, v in enumerate(values))
    table = read_table(
        write(f"t;k\n{rows}".replace('="', '"=""').replace('";', '""";'))
    )
    assert table.values["t"].tolist() == values
    assert table.readings.loc["t", "why"] == told


@pytest.mark.parametrize(
    "cell, told",
    [
        ("{}-{}", "begins with numbers and is none: '1-2'"),
        ("{} {}/9", "begins with numbers and is none: '1 2/9'"),
        ("{}x{}", "begins with numbers and is none: '1x2'"),
    ],
)
def test_what_begins_with_a_number_never_names_the_rows(write, cell, told):
    rows = "".join(f"{cell.format(n, n + 1)},{n % 3}.5\n" for n in range(1, 31))
    table = read_table(write(f"a,b\n{rows}"))
    assert table.identities is None
    assert table.readings.loc["a", "why"].startswith(told)
    assert table.readings.loc["a", "type"] == "numbers in text"


@pytest.mark.parametrize(
    "texts, values",
    [
        (["1,025E+01", "2,5E+00", "3,125E-01"], [10.25, 2.5, 0.3125]),
        (["1_000", "2_500.5", "12_345"], [1000.0, 2500.5, 12345.0]),
        (["١٢٫٥", "٣", "٤٫٢٥"], [12.5, 3.0, 4.25]),
        (["٠٫١٢٣٤", "٥٦٧", "٨٩"], [0.1234, 567.0, 89.0]),
    ],
)
def test_numbers_of_other_habits_are_read(write, texts, values):
    rows = "".join(f"{t};{k * k}\n" for k, t in enumerate(texts))
    assert read_table(write(f"a;b\n{rows}")).values["a"].tolist() == values


@pytest.mark.parametrize(
    "text, number",
    [
        ("(5)", "-5"),
        ("( $ 7.5 )", "-7.5"),
        ("(5", "(5"),
        ("5)", "5)"),
        ("- 5 €", "-5"),
        ("$5%", "5"),
        ("1 234 567", "1234567"),
        ("1 23", "1 23"),
        ("１２：３０", "12：30"),
    ],
)
def test_what_is_left_of_a_number_without_its_signs(text, number):
    assert bare(text) == number


def test_a_unit_that_only_some_entries_have_is_told_with_their_number():
    entries = [f"{n}.5 kg" for n in range(9)] + ["40"]
    codes = np.arange(10).repeat(2)
    read = read_numbers(codes, entries)
    assert read.done == ("'kg' taken off in 18 of 20 rows",)
    assert (
        read.values.tolist() == [n + 0.5 for n in range(9) for _ in "ab"] + [40.0] * 2
    )


@pytest.mark.parametrize("entries, led", [(["07", "1"], True), (["0", "7"], False)])
def test_a_zero_before_digits_makes_a_code(entries, led):
    assert read_numbers(np.arange(2), entries).zero_led is led


@pytest.mark.parametrize(
    "entry, rounded",
    [
        ("9007199254740993", True),
        ("9007199254740992", False),
        ("0.12345678901234567", False),
    ],
)
def test_whole_numbers_that_a_double_cannot_hold_are_told(entry, rounded):
    assert read_numbers(np.zeros(1, int), [entry]).rounded is rounded


@pytest.mark.parametrize(
    "decimal, told", [(",", "1,234 is read as 1.234"), (".", "1,234 is read as 1234")]
)
def test_a_comma_that_may_be_either_is_told(decimal, told):
    assert read_numbers(np.arange(2), ["1,234", "2,500"], decimal).done == (told,)


@pytest.mark.parametrize("slips, kind", [(10, "number"), (11, "number, decimal comma")])
def test_nine_in_ten_entries_keep_the_decimal_sign_of_the_file(write, slips, kind):
    # By the point of the file the slips are no numbers; by a comma 1.234 is a thousand.
    cells = ["1.234"] * (100 - slips) + ["3,5"] * slips
    path = write("a;b\n" + "".join(f"{a};{n % 7}.5 %\n" for n, a in enumerate(cells)))
    table = read_table(path)
    assert table.decimal == "."
    assert table.readings.loc["a", "type"] == kind


@pytest.mark.parametrize(
    "cell, told",
    [
        (lambda n: 1000 + 7 * n, "a running number, which names the row"),
        (lambda n: 40 - n, "a running number, which names the row"),
        (lambda n: 0.5 + 0.1 * n, "a running number, which names the row"),
        (lambda n: 100_000 + n * n * 37 % 9973, "whole numbers that all differ"),
        (lambda n: f"{n * n % 11:03d}", "whole numbers with leading zeros"),
        (lambda n: 1_600_000_000 + n * n % 89 * 1000, "times, counted from 1970 in seconds"),
        (lambda n: f"{1_600_000_000 + n * n % 89}000", "times, counted from 1970 in milli"),
        (lambda n: 20240101 + n * n % 28, "dates as year, month and day"),
        (lambda n: 10**18 + n * n % 89, "whole numbers of more digits than can be told"),
        (lambda n: 10**20 + n * n % 89, "whole numbers of more digits than can be told"),
    ],
)  # fmt: skip
def test_codes_and_times_are_left_out_and_said(write, cell, told):
    rows = "".join(f"{cell(n)},{n * n % 7}\n" for n in range(1, 41))
    path = write(f"code,b\n{rows}")
    table = read_table(path)
    assert list(table.values) == ["b"]
    assert table.readings.loc["code", "why"].startswith(told)
    if "digits" in told:
        with pytest.raises(
            TableError, match="column 'code' must hold numbers, found co"
        ):
            read_table(path, columns=["code", "b"])
    else:
        asked = read_table(path, columns=["code"]).values["code"]
        assert asked.tolist() == [float(cell(n)) for n in range(1, 41)]


def test_leading_zeros_far_below_are_seen(write):
    rows = "".join(f"{10_000 + n * n % 977},{n % 7}\n" for n in range(2000))
    table = read_table(write(f"plz,b\n{rows}01234,3\n"))
    assert list(table.values) == ["b"]


def test_measurements_in_nineteen_rows_may_all_differ(write):
    path = write("a,b\n" + "".join(f"{n * n},{n % 3}\n" for n in range(19)))
    assert list(read_table(path).values) == ["a", "b"]
    path = write("a,b\n" + "".join(f"{n * n},{n % 3}\n" for n in range(20)), "more.csv")
    assert list(read_table(path).values) == ["b"]


def test_values_that_differ_in_their_last_digits_are_left_out(write):
    rows = "".join(f"{3 * 10**15 + n * n % 7 / 2},{n % 3}\n" for n in range(30))
    table = read_table(write(f"a,b\n{rows}"))
    assert table.readings.loc["a", "why"].startswith(
        "values that differ in the last dig"
    )


@pytest.mark.parametrize(
    "words", [["Mean"], ["Total"], ["Sum", "Mean"], ["Std", "Max"]]
)
def test_closing_sums_are_no_rows(write, words):
    rows = "".join(f"d{n % 4},{n * n % 7},{n % 3}\n" for n in range(30))
    sums = "".join(f"{word},99,88\n" for word in words)
    table = read_table(write(f"day,a,b\n{rows}{sums}"))
    assert table.total == len(table.rows) == 30
    assert all(any(repr(word) in note for note in table.notes) for word in words)


def test_label_that_is_called_like_a_sum_is_none(write):
    rows = "".join(
        f"{word},{n % 7},{n % 3}\n" for word in ("mean", "max") for n in range(9)
    )
    assert len(read_table(write(f"kind,a,b\n{rows}")).rows) == 18


def test_subtotals_are_left_out_and_keep_their_number(write):
    one = "".join(f"k{n},{n % 7}.5,{n % 3}\n" for n in range(12))
    path = write(f"name,a,b\n{one}Subtotal,99,88\n{one.replace('k', 'j')}")
    table = read_table(path)
    assert table.total == 25 and 13 not in table.rows and len(table.rows) == 24
    assert table.identity.iloc[12] == "j0"
    assert any("row 13, which begins with 'Subtotal'" in note for note in table.notes)
    assert read_rows(path, ["a", "b"]).rows.tolist() == table.rows.tolist()


def test_rows_without_a_value_are_none(write):
    table = read_table(write("a,b\n1.5,20\n,\n2.5,30\nNA,\n4.0,10\n"))
    assert table.values.to_numpy().tolist() == PLAIN and table.rows.tolist() == [
        1,
        2,
        3,
    ]
    assert "lines without any value, which are no rows: 2" in table.notes


def test_few_bad_bytes_near_the_top_leave_the_text_utf8(write):
    text = (
        "größe,länge,ort\n1.5,20,K".encode()
        + b"\xf6ln\n2.5,30,Z\xc3\xbcrich\n4.0,10,x\n"
    )
    table = read_table(write(text))
    assert list(table.values) == ["größe", "länge"]
    assert "bytes that stand for no letter, read as \ufffd: 1" in table.notes


def test_utf16_without_a_mark_is_read(write):
    for name in ("utf-16-le", "utf-16-be", "utf-32"):
        table = read_table(write("größe,b\n1.5,20\n2.5,30\n4.0,10\n", encoding=name))
        assert table.values.to_numpy().tolist() == PLAIN


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_lines_above_the_table_cost_no_row(write, end):
    lines = ["A title, with a comma", "", "a,b", "1.5,20", "2.5,30", "4.0,10", ""]
    assert read_table(write(end.join(lines))).values.to_numpy().tolist() == PLAIN


def test_pipe_is_read_once_and_a_device_is_refused(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(
        target=path.write_bytes, args=(b"a,b\n1.5,20\n2.5,30\n4.0,10\n",)
    )
    writer.start()
    assert read_table(path).values.to_numpy().tolist() == PLAIN
    writer.join()
    with pytest.raises(TableError, match="^/dev/null is a device; expected a CSV or"):
        read_table("/dev/null")


def test_pipe_without_a_writer_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("mebnb.your_data.sources.FIRST_BYTE", 0.01)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(TableError, match="is a pipe into which nothing was written$"):
        read_table(path)


def test_packed_parquet_and_unnamed_text_index_are_read(tmp_path):
    frame = pd.DataFrame(PLAIN, columns=["a", "b"], index=["x", "y", "z"])
    frame.to_parquet(tmp_path / "some.parquet")
    packed = tmp_path / "some.parquet.gz"
    packed.write_bytes(gzip.compress((tmp_path / "some.parquet").read_bytes()))
    for path in (tmp_path / "some.parquet", packed):
        table = read_table(path)
        assert table.values.to_numpy().tolist() == PLAIN
        assert table.identity.tolist() == ["x", "y", "z"]


def test_table_of_too_many_columns_is_refused_by_its_limit(write):
    line = ",".join(["1.5"] * 30_001)
    with pytest.raises(TableError, match="has 30001 columns; expected 30000 at most$"):
        read_table(write(f"{line}\n" * 3))


def test_json_is_called_so(write):
    with pytest.raises(
        TableError, match="^some.json is JSON; expected a CSV or Parquet"
    ):
        read_table(write('{"a": [1, 2], "b": [3, 4]}', "some.json"))


def test_an_entry_votes_once_or_as_often_as_it_comes():
    texts = ["1,5", "2.5", "1,500", "7"]
    assert sign_votes(texts) == (1, 1)
    assert sign_votes(texts, [3, 4, 5, 6]) == (3, 4)


@pytest.mark.parametrize(
    ("text", "number"),
    [("-$5", "-5"), ("+ 5 \u20ac", "+5"), ("$ -5", "-5"), ("($5)", "-5"), ("5 %", "5")],
)
def test_signs_of_money_are_taken_off_on_either_side_of_the_minus(text, number):
    assert bare(text) == number


@pytest.mark.parametrize("text", ["NA", "-inf", "Infinity", "1,5", "1.5", "-$5"])
def test_what_counts_as_a_number(text):
    assert is_number(text)
    assert not is_number(f"x{text}")


def test_the_first_five_entries_that_are_no_numbers_are_told():
    numbers = read_numbers(np.arange(8), ["1", *"abcdefg"])
    assert numbers.unread == tuple("abcde")
    assert (numbers.read_rows, numbers.unread_rows) == (1, 7)


def test_true_and_false_are_one_and_zero_and_other_words_are_not():
    codes = np.array([1, 0, -1, 1])
    read = read_truth(codes, ["TRUE", "False"])
    np.testing.assert_array_equal(read, [0.0, 1.0, np.nan, 0.0])
    np.testing.assert_array_equal(read_truth(np.array([0, -1]), ["true"]), [1, np.nan])
    for entries in ([], ["true", "no"], ["true", "false", "maybe"], ["yes"]):
        assert read_truth(np.zeros(1, int), entries) is None


def test_dates_are_more_than_nine_in_ten_of_the_first_entries():
    dates = [f"2024-01-{day:02d}" for day in range(1, 20)]
    assert looks_like_dates([*dates, "x"]) and not looks_like_dates([*dates[:9], "x"])
    assert not looks_like_dates([dates[0], *"abcdefghi"])
    assert looks_like_dates([*dates, *"abcdefghi"], looked_at=19)
    assert not looks_like_dates([*dates, *"abcdefghi"])
