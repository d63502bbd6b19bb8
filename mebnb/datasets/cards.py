"""The catalogue: what each data set is, its source, and how it is recognised."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

__all__ = ["CARDS", "Card", "card_of"]

UCI = "https://archive.ics.uci.edu/static/public/"
CC_BY = "CC BY 4.0"


@dataclass(frozen=True, repr=False)
class Card:
    """What is known about a data set before a byte of it is read.

    Attributes
    ----------
    name : str
        The name that `load_dataset` takes.
    title : str
    source : str
        Who published it, in a form fit for a list of references.
    doi : str
    licence : str
    rows, columns : int
        Rows and features.
    counts : dict
        Label -> number of rows.
    nominal : tuple
        The labels that count as nominal; every other label is an anomaly.
    nominal_reason : str
        Who chose them.
    quirks : tuple of str
        What surprises in the data.
    file : str
        Path in `data/` and in a mirror folder; empty where no file is read.
    file_sha256 : str
        Hash of the file's official bytes (unpacked); empty where they are not
        established.
    value_sha256 : str
        Hash of the parsed values, see `mebnb.datasets.values_hash`.
    address : str
        Official address; empty where there is none.
    archive_path : tuple of str
        The members to open, from the downloaded archive inwards, the last one
        being the file.
    parent : str
        The data set that this one is derived from, or empty.
    """

    name: str
    title: str
    source: str
    doi: str
    licence: str
    rows: int
    columns: int
    counts: dict
    nominal: tuple
    nominal_reason: str
    quirks: tuple[str, ...] = ()
    file: str = ""
    file_sha256: str = ""
    value_sha256: str = ""
    address: str = ""
    archive_path: tuple[str, ...] = ()
    parent: str = field(default="")

    @property
    def sha256(self):
        """The hash that the data are checked against: the file's, else the values'."""
        return self.file_sha256 or self.value_sha256

    def _lines(self):
        counts = ", ".join(f"{label} {n}" for label, n in self.counts.items())
        nominal = ", ".join(str(label) for label in self.nominal)
        of_what = "file" if self.file_sha256 else "parsed values"
        lines = [
            ("name", self.name),
            ("title", self.title),
            ("source", self.source),
            ("DOI", self.doi or "none"),
            ("licence", self.licence),
            ("rows x features", f"{self.rows} x {self.columns}"),
            ("counts", counts),
            ("nominal", f"{nominal} ({self.nominal_reason})"),
            (f"sha256 ({of_what})", self.sha256 or "not established"),
        ]
        return lines + [("quirk", quirk) for quirk in self.quirks]

    def __repr__(self):
        return "\n".join(f"{name}: {value}" for name, value in self._lines())

    def _repr_html_(self):
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
            f'<td style="text-align:left;overflow-wrap:anywhere">{escape(value)}</td>'
            "</tr>"
            for name, value in self._lines()
        )
        return f"<table><tbody>{rows}</tbody></table>"


MOST_FREQUENT = "the most frequent class; no document names one"

_ORIGINALS = [
    Card(
        name="breast_cancer",
        title="Breast Cancer Wisconsin (Diagnostic)",
        source="UCI 17, Wolberg, Mangasarian, Street and Street, 1995, as shipped with "
        "scikit-learn",
        doi="10.24432/C5DW2B",
        licence=CC_BY,
        rows=569,
        columns=30,
        counts={"benign": 357, "malignant": 212},
        nominal=("benign",),
        nominal_reason="report and slides",
        quirks=(
            "Three versions of ten measurements (mean, standard error, worst), many of "
            "them nearly proportional: radius, perimeter and area.",
            "Rows with a concavity of exactly 0.",
        ),
        value_sha256="4be0fe1a0d60dfdb45831c35ae33e74f408c8a2493c74f492a32c9ed4c9680ac",
    ),
    Card(
        name="iranian_churn",
        title="Iranian Churn",
        source="UCI 563, 2020",
        doi="10.24432/C5JW3Z",
        licence=CC_BY,
        rows=3150,
        columns=13,
        counts={0: 2655, 1: 495},
        nominal=(0,),
        nominal_reason="report: customers who stay",
        quirks=(
            "Column names hold double spaces (mended here) and lines end with CR LF.",
            "300 rows repeat an earlier one.",
            "14 feature vectors carry both labels.",
            "Charge Amount is a class from 0 to 9 by the description, but reaches 10.",
            "Age is a function of Age Group.",
        ),
        file="iranian_churn/Customer Churn.csv",
        file_sha256="90d5fb6bd1630cd4de4b4d28fcf8b4cb92a8f6ab7484605b0799d47386f7dbe1",
        address=UCI + "563/iranian+churn+dataset.zip",
        archive_path=("Customer Churn.csv",),
        value_sha256="96602ab3e7fb1b7a18992f441d7c9f22fa175062d2aa365930d39b66c4fa9c1e",
    ),
    Card(
        name="vertebral_column",
        title="Vertebral Column, two classes",
        source="UCI 212, Barreto and Neto, 2005",
        doi="10.24432/C5K89B",
        licence=CC_BY,
        rows=310,
        columns=6,
        counts={"Abnormal": 210, "Normal": 100},
        nominal=("Normal",),
        nominal_reason="slides",
        quirks=(
            "The anomalies outnumber the nominal rows.",
            "One degree_spondylolisthesis of 418.54, far beyond all others.",
            "The .dat file of the same archive is rounded to two decimals; the slides "
            "used that, this is the full ARFF file.",
        ),
        file="vertebral_column/column_2C_weka.arff",
        address=UCI + "212/vertebral+column.zip",
        archive_path=("column_2C_weka.arff",),
        value_sha256="9b56915f70143c1773767bc6664e598373f815bc19715d94eb2eb5ef6b0b10ff",
    ),
    Card(
        name="vertebral_column_3c",
        title="Vertebral Column, three classes",
        source="UCI 212, Barreto and Neto, 2005",
        doi="10.24432/C5K89B",
        licence=CC_BY,
        rows=310,
        columns=6,
        counts={"Spondylolisthesis": 150, "Normal": 100, "Hernia": 60},
        nominal=("Normal",),
        nominal_reason="slides",
        quirks=(
            "The anomalies outnumber the nominal rows.",
            "One degree_spondylolisthesis of 418.54, far beyond all others.",
        ),
        file="vertebral_column/column_3C_weka.arff",
        address=UCI + "212/vertebral+column.zip",
        archive_path=("column_3C_weka.arff",),
        value_sha256="422b23271c8969bc78731260763e654d9d6bb08056357d979f250e454e311a92",
    ),
    Card(
        name="maternal_risk",
        title="Maternal Health Risk",
        source="UCI 863, Ahmed, 2020",
        doi="10.24432/C5DP5D",
        licence=CC_BY,
        rows=1014,
        columns=6,
        counts={"low risk": 406, "mid risk": 336, "high risk": 272},
        nominal=("low risk", "mid risk"),
        nominal_reason="slides: high risk is the anomaly",
        quirks=(
            "UCI's page says 1013 rows; the file has 1014.",
            "The file begins with a byte order mark; lines end with CR LF.",
            "562 rows repeat an earlier one, so a random split puts the same woman's "
            "values on both sides.",
            "35 feature vectors carry more than one label.",
            "HeartRate is 7 in two rows.",
        ),
        file="maternal_risk/Maternal Health Risk Data Set.csv",
        file_sha256="a1f7025719f84715096e0d1f95ae2e56b57809b9b15449e1836c96a7d976ae9b",
        address=UCI + "863/maternal+health+risk.zip",
        archive_path=("Maternal Health Risk Data Set.csv",),
        value_sha256="84f3a60027abd18097f4bf877a9af10d73d23cdb22854f5966c54f177e796078",
    ),
]

CARDS = {card.name: card for card in _ORIGINALS}


def card_of(name):
    """Return the card of a data set, or list the known names.

    Parameters
    ----------
    name : str

    Returns
    -------
    Card

    Raises
    ------
    ValueError
        When no data set has this name.
    """
    if name not in CARDS:
        raise ValueError(
            f"name must be one of {', '.join(CARDS)}; found {name!r}"
        )
    return CARDS[name]
