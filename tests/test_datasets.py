"""Data sets: read, verified against their cards, derived as published."""

import dataclasses
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mebnb.datasets import (
    CACHE,
    MIRROR,
    DatasetNotAvailable,
    gene_expression_labels,
    list_datasets,
    load_dataset,
    places,
)
from mebnb.datasets.cards import CARDS, RULES
from mebnb.datasets.parsing import parse, values_hash

CLONE = Path(__file__).resolve().parents[1]
EVERYWHERE = ["breast_cancer", "maternal_risk", "abalone", "yeast", "wine_red"]
EVERYWHERE += ["tissue_expression", *RULES]
FROM_MIRROR = ["iranian_churn", "vertebral_column", "vertebral_column_3c"]
FROM_MIRROR += ["all_leukemia"]


def needs_mirror(path):
    folder = os.environ.get(MIRROR, "")
    missing = not folder or not (Path(folder) / path).exists()
    return pytest.mark.skipif(missing, reason=f"{path} is not in {MIRROR}")


MIRRORED = [
    pytest.param(name, marks=needs_mirror(CARDS[name].file)) for name in FROM_MIRROR
]


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """An installation without clone and with an empty mirror folder."""
    monkeypatch.setattr(places, "CLONE", tmp_path / "no clone")
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    monkeypatch.setenv(MIRROR, str(tmp_path / "mirror"))
    (tmp_path / "mirror").mkdir()
    return tmp_path / "mirror"


# --- what is loaded ----------------------------------------------------------------


@pytest.mark.parametrize("name", EVERYWHERE + MIRRORED)
def test_a_data_set_is_what_its_card_says(name):
    dataset = load_dataset(name)
    card = dataset.card
    assert dataset.features.shape == (card.rows, card.columns)
    assert dataset.labels.value_counts().to_dict() == card.counts
    assert sum(card.counts.values()) == card.rows
    assert dataset.is_nominal.sum() == sum(card.counts[c] for c in card.nominal)
    np.testing.assert_array_equal(dataset.is_anomaly, ~dataset.is_nominal)
    assert dataset.features.columns.is_unique
    assert not any("  " in column for column in dataset.features.columns)
    assert list(dataset.features.index) == list(range(card.rows))
    assert len(dataset.labels) == card.rows
    assert np.isfinite(dataset.encoded().to_numpy()).all()
    assert card.source
    assert card.licence
    assert len(card.sha256) == 64


def test_the_list_has_every_set_in_the_order_of_the_catalogue():
    listed = list_datasets()
    assert list(listed.index) == list(CARDS)
    assert len(listed) == 18
    assert listed.loc["breast_cancer", "place"] == "scikit-learn"
    assert listed.loc["abalone19", "place"] == listed.loc["abalone", "place"] == "clone"


def test_an_unknown_name_is_refused_with_the_list():
    with pytest.raises(ValueError, match="one of breast_cancer, .*found 'iris'"):
        load_dataset("iris")


def test_a_dataset_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        load_dataset("breast_cancer").name = "other"


def test_the_card_shows_its_source_and_quirks():
    card = load_dataset("maternal_risk").card
    html = card._repr_html_()
    assert "10.24432/C5DP5D" in html
    assert "HeartRate is 7 in two rows." in html
    assert "<th" in html
    assert "DOI: 10.24432/C5DP5D" in repr(card)


def test_text_columns_become_indicator_columns():
    encoded = load_dataset("abalone").encoded()
    sexes = ["Sex_F", "Sex_I", "Sex_M"]
    assert encoded.shape == (4177, 10)
    assert (encoded[sexes].sum(axis=1) == 1).all()
    numeric = load_dataset("wine_red")
    pd.testing.assert_frame_equal(
        numeric.encoded(), numeric.features.astype(float), check_dtype=True
    )


def test_the_quirks_are_in_the_data():
    maternal = load_dataset("maternal_risk")
    rows = maternal.features.assign(label=maternal.labels)
    assert rows.duplicated().sum() == 562
    assert len(maternal.features.drop_duplicates()) == 416
    assert (maternal.features["HeartRate"] == 7).sum() == 2
    abalone = load_dataset("abalone").features
    assert list(abalone.index[abalone["Height"] == 0]) == [1257, 3996]
    wine = load_dataset("wine_red")
    assert wine.features.assign(label=wine.labels).duplicated().sum() == 240


@needs_mirror("iranian_churn")
def test_the_quirks_of_churn():
    churn = load_dataset("iranian_churn")
    rows = churn.features.assign(label=churn.labels)
    assert rows.duplicated().sum() == 300
    both = rows.groupby(list(churn.features.columns))["label"].nunique()
    assert (both > 1).sum() == 14
    assert churn.features["Charge Amount"].max() == 10
    assert (churn.features.groupby("Age Group")["Age"].nunique() == 1).all()


def test_a_card_tells_how_many_rows_each_label_has():
    assert "benign: 357, malignant: 212" in repr(CARDS["breast_cancer"])


@needs_mirror("rnaseq_labels")
def test_the_label_counts_of_the_rna_set_are_those_of_its_labels():
    labels = gene_expression_labels(download=False)
    assert labels.name == "Class"
    assert labels.value_counts().to_dict() == CARDS["gene_expression"].counts


# --- the imbalanced sets -----------------------------------------------------------

KEEL = {
    "yeast3": "yeast3.dat",
    "yeast6": "yeast6.dat",
    "wine4": "winequality-red-4.dat",
    "abalone17": "abalone-17_vs_7-8-9-10.dat",
    "abalone20": "abalone-20_vs_8-9-10.dat",
    "abalone19": "abalone19.dat",
}


def as_multiset(rows):
    def value(cell):
        try:
            return float(cell)
        except ValueError:
            return cell

    return Counter(tuple(value(cell) for cell in row) for row in rows)


@needs_mirror("keel")
@pytest.mark.parametrize("name", KEEL)
def test_derived_sets_equal_keels_files_as_multisets(name):
    path = Path(os.environ[MIRROR]) / "keel" / KEEL[name]
    lines = path.read_text(encoding="ascii").split("@data", 1)[1].split("\n")
    keel = [[cell.strip() for cell in line.split(",")] for line in lines if line]
    dataset = load_dataset(name)
    ours = dataset.features.assign(label=dataset.labels).astype(str).to_numpy()
    assert as_multiset(ours) == as_multiset(keel)


def test_abalone_at_most_six_rings():
    dataset = load_dataset("abalone6")
    assert dataset.card.counts == {"positive": 448, "negative": 3729}
    rings = load_dataset("abalone").labels
    np.testing.assert_array_equal(dataset.is_anomaly, rings <= 6)


def test_rows_left_out_are_left_out_of_the_parent_by_number():
    abalone = load_dataset("abalone")
    derived = load_dataset("abalone19")
    kept = abalone.features.drop(index=[716, 805, 4176]).reset_index(drop=True)
    pd.testing.assert_frame_equal(derived.features, kept)


# --- what is refused ---------------------------------------------------------------


def test_a_missing_set_is_told_in_one_sentence(nowhere):
    with pytest.raises(DatasetNotAvailable) as error:
        load_dataset("tissue_expression")
    assert "a clone of the project has it in data/" in str(error.value)
    assert "tissue_expression" in str(error.value)
    assert "dslabs" in str(error.value)
    assert "MEBNB_DATA_MIRROR" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_mirror_that_is_no_folder_is_named(nowhere, monkeypatch):
    monkeypatch.setenv(MIRROR, str(nowhere / "typo"))
    with pytest.raises(DatasetNotAvailable, match="typo, which is not a folder"):
        load_dataset("iranian_churn", download=False)


def test_a_derived_set_names_the_parent_that_is_missing(nowhere):
    with pytest.raises(DatasetNotAvailable, match="data set yeast "):
        load_dataset("yeast3", download=False)


def test_a_changed_file_is_refused(nowhere):
    target = nowhere / CARDS["maternal_risk"].file
    target.parent.mkdir()
    original = (CLONE / "data" / CARDS["maternal_risk"].file).read_bytes()
    target.write_bytes(original)
    assert len(load_dataset("maternal_risk").labels) == 1014
    target.write_bytes(original.replace(b"130,80,15", b"130,80,16", 1))
    with pytest.raises(DatasetNotAvailable, match=r"not the published one \(sha256"):
        load_dataset("maternal_risk")


def vertebral(nowhere, change):
    """Put a vertebral file made of the card's shape, then changed, into the mirror."""
    card = CARDS["vertebral_column"]
    lines = ["@relation x", ""]
    lines += [f"@attribute f{j} numeric" for j in range(6)]
    lines += ["@attribute class {Abnormal, Normal}", "", "@data"]
    for i in range(card.rows):
        numbers = [f"{(i * 7 + j * 3) % 11}.5" for j in range(6)]
        lines.append(",".join([*numbers, "Abnormal" if i < 210 else "Normal"]))
    target = nowhere / card.file
    target.parent.mkdir(exist_ok=True)
    target.write_bytes("\r\n".join(change(lines)).encode())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], r"309 x 6 values"),
        (lambda lines: [*lines[:-1], lines[-1].replace("No", "no")], "counts"),
        (lambda lines: lines, "other values"),
        (lambda lines: ["<html>moved</html>"], "not a file of vertebral_column"),
    ],
)
def test_values_that_are_not_the_published_ones_are_refused(nowhere, change, message):
    vertebral(nowhere, change)
    with pytest.raises(DatasetNotAvailable, match=message):
        load_dataset("vertebral_column")


@needs_mirror("vertebral_column")
def test_line_ends_and_spaces_do_not_change_the_value_hash():
    path = Path(os.environ[MIRROR]) / CARDS["vertebral_column"].file
    content = path.read_bytes()
    original = parse("vertebral_column", content)
    other = content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") + b"\r\n"
    assert values_hash(*parse("vertebral_column", other)) == values_hash(*original)
    other = content.replace(b"63.0278175", b"63.0278176", 1)
    assert values_hash(*parse("vertebral_column", other)) != values_hash(*original)


def test_the_value_hash_sees_names_values_and_labels():
    features = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    labels = pd.Series(["p", "q"])
    hashes = {
        values_hash(features, labels),
        values_hash(features.rename(columns={"a": "c"}), labels),
        values_hash(features.assign(a=[1, 3]), labels),
        values_hash(features.assign(b=["x", "z"]), labels),
        values_hash(features[["b", "a"]], labels),
        values_hash(features, labels[::-1]),
    }
    assert len(hashes) == 6
    assert values_hash(features.astype({"a": float}), labels) in hashes


# --- what is committed -------------------------------------------------------------


def test_the_committed_files_are_listed_with_hash_and_licence():
    readme = (CLONE / "data" / "README.md").read_text(encoding="utf-8")
    folders = sorted(path.name for path in (CLONE / "data").iterdir() if path.is_dir())
    assert folders == [
        "abalone",
        "maternal_risk",
        "tissue_expression",
        "wine_red",
        "yeast",
    ]
    assert folders == sorted(card.name for card in CARDS.values() if card.committed)
    for name in folders:
        card = CARDS[name]
        (line,) = [line for line in readme.splitlines() if f"`{name}/`" in line]
        assert card.file_sha256 in line
        assert card.licence in line
        assert card.doi in line
