"""The catalogue: what each data set is, its source, and how it is recognised."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

__all__ = ["CARDS", "RULES", "Card", "Rule", "card_of"]

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
        Path in `data/`, in the cache and in a mirror folder; empty where no file
        is read.
    file_sha256 : str
        Hash of the official file's bytes; empty where they are not established.
    value_sha256 : str
        Hash of the parsed values; empty where they are not established.
    address : str
        Official address; empty where there is none.
    member : str
        The official file in the downloaded zip; empty where it is not packed.
    converted : bool
        Whether the official file is turned into a compact one, which is what is
        kept and read.
    committed : bool
        Whether the file lies in the clone's `data/`.
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
    member: str = ""
    converted: bool = False
    committed: bool = False
    parent: str = ""

    @property
    def sha256(self):
        """The hash that the data are checked against: the file's, else the values'."""
        return self.file_sha256 or self.value_sha256

    @property
    def mirror_file(self):
        """Where a mirror folder holds it: the file, or what it is made from.

        A compact file is taken from others only if its values can be verified.
        """
        if not self.converted or self.value_sha256:
            return self.file
        return f"{self.file.split('/')[0]}/{self.member}"

    @property
    def official_names(self):
        """File names under which a person may keep what is at the address."""
        names = (self.address.rsplit("/", 1)[-1], self.member)
        return tuple(name for name in names if name)

    def _lines(self):
        counts = ", ".join(f"{label}: {n}" for label, n in self.counts.items())
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
RING_COUNTS = [
    1,
    1,
    15,
    57,
    115,
    259,
    391,
    568,
    689,
    634,
    487,
    267,
    203,
    126,
    103,
    67,
    58,
    42,
] + [32, 26, 14, 6, 9, 2, 1, 1, 2, 0, 1]
ABALONE_RINGS = {rings: n for rings, n in enumerate(RING_COUNTS, 1) if n}

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
        member="Customer Churn.csv",
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
        member="column_2C_weka.arff",
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
        member="column_3C_weka.arff",
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
        member="Maternal Health Risk Data Set.csv",
        committed=True,
        value_sha256="84f3a60027abd18097f4bf877a9af10d73d23cdb22854f5966c54f177e796078",
    ),
    Card(
        name="abalone",
        title="Abalone",
        source="UCI 1, Nash, Sellers, Talbot, Cawthorn and Ford, 1994",
        doi="10.24432/C55C7W",
        licence=CC_BY,
        rows=4177,
        columns=8,
        counts=ABALONE_RINGS,
        nominal=(9,),
        nominal_reason=MOST_FREQUENT,
        quirks=(
            "Sex (M, F, I for infant) is nominal; `encoded()` gives it three columns.",
            "Height is 0 in rows 1257 and 3996 and far too large in two others.",
        ),
        file="abalone/abalone.data",
        file_sha256="de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f",
        address=UCI + "1/abalone.zip",
        member="abalone.data",
        committed=True,
        value_sha256="79d5b769af4accfbc903ec4df5af43bdae956541a38cac63b62be33bde180332",
    ),
    Card(
        name="yeast",
        title="Yeast, where proteins are localised",
        source="UCI 110, Nakai, 1991",
        doi="10.24432/C5KG68",
        licence=CC_BY,
        rows=1484,
        columns=8,
        counts={
            "CYT": 463,
            "NUC": 429,
            "MIT": 244,
            "ME3": 163,
            "ME2": 51,
            "ME1": 44,
            "EXC": 35,
            "VAC": 30,
            "POX": 20,
            "ERL": 5,
        },
        nominal=("CYT",),
        nominal_reason=MOST_FREQUENT,
        quirks=(
            "The sequence name is left out; 22 of the 1484 names come twice.",
            "erl takes two values and pox three: nearly constant columns.",
        ),
        file="yeast/yeast.data",
        file_sha256="7cf61776fc04f527f93bf57a327b863893a1225d82df02d457e8950173218258",
        address=UCI + "110/yeast.zip",
        member="yeast.data",
        committed=True,
        value_sha256="4fad54e411a582fc31e40225569a9141d6555c9f86a6d7f449f7793b347abdc5",
    ),
    Card(
        name="wine_red",
        title="Wine Quality, red wines",
        source="UCI 186, Cortez, Cerdeira, Almeida, Matos and Reis, 2009",
        doi="10.24432/C56S3T",
        licence=CC_BY,
        rows=1599,
        columns=11,
        counts={5: 681, 6: 638, 7: 199, 4: 53, 8: 18, 3: 10},
        nominal=(5,),
        nominal_reason=MOST_FREQUENT,
        quirks=(
            "Values are separated by semicolons; names are quoted.",
            "240 rows repeat an earlier one.",
        ),
        file="wine_red/winequality-red.csv",
        file_sha256="4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
        address=UCI + "186/wine+quality.zip",
        member="winequality-red.csv",
        committed=True,
        value_sha256="7e59d73135e2cfe68f8bf97713d39478855ba02f4c6b27b813b82356bb99461f",
    ),
    Card(
        name="tissue_expression",
        title="Gene expression in seven tissues (microarray)",
        source="R package dslabs, data set tissue_gene_expression",
        doi="",
        licence="Artistic-2.0",
        rows=189,
        columns=500,
        counts={
            "kidney": 39,
            "cerebellum": 38,
            "colon": 34,
            "hippocampus": 31,
            "liver": 26,
            "endometrium": 15,
            "placenta": 6,
        },
        nominal=("kidney",),
        nominal_reason=MOST_FREQUENT,
        quirks=("500 features chosen by the package's authors; more than points.",),
        file="tissue_expression/tissue_gene_expression.csv",
        file_sha256="444c3fca6356c301fe63fb8f2f5176098552b78b6b003766cad0c4a12e374f7a",
        committed=True,
        value_sha256="dfd6f8f9e6ad23ff20c3436a283e82d235f6ab48b10d836337d1525bdc2db6e1",
    ),
    Card(
        name="all_leukemia",
        title="Acute lymphoblastic leukaemia (microarray)",
        source="Bioconductor package ALL, Chiaretti et al., Blood 103, 2004",
        doi="10.18129/B9.bioc.ALL",
        licence="Artistic-2.0",
        rows=128,
        columns=12625,
        counts={"B-lineage": 95, "T-lineage": 33},
        nominal=("B-lineage",),
        nominal_reason=MOST_FREQUENT,
        quirks=(
            "Kept as float32; the package holds float64.",
            "A hundred times as many features as points.",
        ),
        file="all_leukemia/all_leukemia.npz",
        file_sha256="6c52471acf4bb77ed86e71c25e69ce5cc5235acec50785107b212934c6eec5db",
        converted=True,
        address="https://bioconductor.org/packages/3.18/data/experiment/src/contrib/"
        "ALL_1.44.0.tar.gz",
        value_sha256="120d244682a868c5f10a4424360c5c276032f181e6f7d415ff40314bec652b5a",
    ),
    Card(
        name="gene_expression",
        title="Gene expression cancer RNA-Seq",
        source="UCI 401, Fiorini, 2016; from The Cancer Genome Atlas",
        doi="10.24432/C5R88H",
        licence=CC_BY,
        rows=801,
        columns=20531,
        counts={"BRCA": 300, "KIRC": 146, "LUAD": 141, "PRAD": 136, "COAD": 78},
        nominal=("BRCA",),
        nominal_reason="slides: breast invasive carcinoma",
        quirks=(
            "267 genes are 0 in every sample.",
            "The archive is a tar.gz inside a zip; its table is 206,186,150 bytes.",
        ),
        file="gene_expression/gene_expression.npz",
        file_sha256="e6ea3628f9656efa2d7cf382bf5a403e2cc214df3d90312b1928f5650b43a559",
        converted=True,
        address=UCI + "401/gene+expression+cancer+rna+seq.zip",
        member="TCGA-PANCAN-HiSeq-801x20531.tar.gz",
    ),
]


@dataclass(frozen=True)
class Rule:
    """How an imbalanced set is cut out of a data set.

    Attributes
    ----------
    parent : str
        The data set that it is derived from.
    positive : tuple
        Labels of the rare class.
    negative : tuple or None
        Labels of the other class; None for all that are not positive.
    without : tuple of int
        Row numbers, from 0, that the published sets leave out.
    """

    parent: str
    positive: tuple
    negative: tuple | None = None
    without: tuple[int, ...] = ()


RULES = {
    "yeast3": Rule("yeast", ("ME3",)),
    "yeast6": Rule("yeast", ("EXC",)),
    "wine4": Rule("wine_red", (4,)),
    "abalone6": Rule("abalone", (1, 2, 3, 4, 5, 6)),
    "abalone17": Rule("abalone", (17,), (7, 8, 9, 10), without=(716, 805)),
    "abalone20": Rule("abalone", (20,), (8, 9, 10), without=(716,)),
    "abalone19": Rule("abalone", (19,), without=(716, 805, 4176)),
}

_DERIVED = [
    ("yeast3", "Yeast3: class ME3 against the rest", 163, 1321),
    ("yeast6", "Yeast6: class EXC against the rest", 35, 1449),
    ("wine4", "Wine: quality 4 against the rest", 53, 1546),
    ("abalone6", "Abalone: at most 6 rings against more", 448, 3729),
    ("abalone17", "Abalone17: 17 rings against 7 to 10", 58, 2280),
    ("abalone20", "Abalone20: 20 rings against 8 to 10", 26, 1890),
    ("abalone19", "Abalone19: 19 rings against the rest", 32, 4142),
]


_DERIVED_VALUES = {
    "yeast3": "a1225e746a457a9c4aee11823791b56c5f941ce2bcf92f6de8bb38c0fab4f8f5",
    "yeast6": "2e4c852f4e91c73ce5f0702fb5e21aec014c0f1a0de3f5e7e0b34323e1111bb5",
    "wine4": "6392bcef4cb5b8d70009cc3e7c361760c1b0ef87d5605dea8bcf7d0f635dda02",
    "abalone6": "5c1e29194d3a9515402dc2dd003cdba7a2bd026855e7e6ffdac57408df6d747b",
    "abalone17": "b67f883c231acd80b1453235a775fc5704734f255672332319a830168b4216fa",
    "abalone20": "fce28aedaadd3854fb856cee6e378be1ae5d71feeb3b0a1e739805757f6687a0",
    "abalone19": "17f99e798ef4bd12cb148c615907219d14c2c04cb5f7b359d6017ef5ca233380",
}


def _derived_card(parent, name, title, positives, negatives):
    rule = RULES[name]
    quirks = parent.quirks
    if rule.without:
        rows = ", ".join(map(str, rule.without))
        quirks += (f"Without rows {rows} of {parent.name}, which KEEL's file lacks.",)
    return replace(
        parent,
        name=name,
        title=title,
        source=f"derived from {parent.name} ({parent.source}), as KEEL and the paper "
        "on excluding ellipsoids have it",
        rows=positives + negatives,
        counts={"negative": negatives, "positive": positives},
        nominal=("negative",),
        nominal_reason="the rare class is the one to find",
        quirks=quirks,
        file="",
        file_sha256="",
        value_sha256=_DERIVED_VALUES[name],
        address="",
        member="",
        committed=False,
        parent=parent.name,
    )


CARDS = {card.name: card for card in _ORIGINALS}
for _name, *_facts in _DERIVED:
    CARDS[_name] = _derived_card(CARDS[RULES[_name].parent], _name, *_facts)


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
        raise ValueError(f"name must be one of {', '.join(CARDS)}; found {name!r}")
    return CARDS[name]
