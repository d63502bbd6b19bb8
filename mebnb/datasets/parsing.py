"""From the bytes of a published file to features and labels."""

from __future__ import annotations

import hashlib
from functools import partial
from io import BytesIO, StringIO
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

__all__ = ["NEAREST", "PARSERS", "parse", "values_hash"]

# The nearest float to each number as written: what pandas reads from version 3 on.
NEAREST = (
    {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
)
_read = partial(pd.read_csv, **NEAREST)


def parse(name, content):
    """Turn a file's bytes into features and labels.

    Parameters
    ----------
    name : str
        A data set with a file of its own.
    content : bytes
        The unpacked file.

    Returns
    -------
    features : pandas.DataFrame
    labels : pandas.Series

    Raises
    ------
    ValueError
        When the bytes are not such a file.
    """
    try:
        return PARSERS[name](content)
    except (KeyError, IndexError, ValueError, EOFError, BadZipFile) as error:
        why = " ".join(str(error).split())
        raise ValueError(f"not a file of {name} ({why})") from None


def values_hash(features, labels):
    """Hash of what the data say, whatever line ends or spaces the file has.

    Each column counts with its name; numbers as little-endian float64, text as
    UTF-8 lines.

    Parameters
    ----------
    features : pandas.DataFrame
    labels : pandas.Series

    Returns
    -------
    str
        sha256, hexadecimal.
    """
    digest = hashlib.sha256()
    for name, column in [*features.items(), ("labels", labels)]:
        digest.update(f"{name}\n".encode())
        if pd.api.types.is_numeric_dtype(column):
            digest.update(column.to_numpy(dtype="<f8").tobytes())
        else:
            digest.update("\n".join(column.astype(str)).encode())
    return digest.hexdigest()


def breast_cancer():
    """The copy inside scikit-learn, in UCI's row order."""
    bunch = load_breast_cancer(as_frame=True)
    classes = np.array(["malignant", "benign"], dtype=object)
    return bunch.data, pd.Series(classes[bunch.target], name="diagnosis")


def _iranian_churn(content):
    table = _read(BytesIO(content))
    table.columns = [" ".join(name.split()) for name in table.columns]
    return _split_off(table, "Churn")


def _maternal_risk(content):
    return _split_off(_read(BytesIO(content), encoding="utf-8-sig"), "RiskLevel")


def _vertebral_column(content):
    head, body = content.decode("ascii").split("@data")
    names = [line.split()[1] for line in head.splitlines() if "@attribute" in line]
    table = _read(StringIO(body.strip()), header=None, names=names)
    return _split_off(table, "class")


def _abalone(content):
    names = ["Sex", "Length", "Diameter", "Height", "Whole weight", "Shucked weight"]
    names += ["Viscera weight", "Shell weight", "rings"]
    return _split_off(_read(BytesIO(content), header=None, names=names), "rings")


def _yeast(content):
    names = [
        "sequence",
        "mcg",
        "gvh",
        "alm",
        "mit",
        "erl",
        "pox",
        "vac",
        "nuc",
        "class",
    ]
    table = _read(BytesIO(content), header=None, names=names, sep=r"\s+")
    return _split_off(table.drop(columns="sequence"), "class")


def _wine_red(content):
    return _split_off(_read(BytesIO(content), sep=";"), "quality")


def _tissue_expression(content):
    table = _read(BytesIO(content)).drop(columns="rownames")
    features, labels = _split_off(table, "y")
    return features, labels.rename("tissue")


def _all_leukemia(content):
    with np.load(BytesIO(content)) as arrays:
        features = _wide_frame(arrays["X"], arrays["probes"])
        lineage = pd.Series(arrays["BT"]).str[0] + "-lineage"
    return features, lineage.rename("lineage")


def _gene_expression(content):
    with np.load(BytesIO(content)) as arrays:
        features = _wide_frame(arrays["X"], arrays["genes"])
        labels = pd.Series(arrays["labels"], name="tumour")
    return features, labels


def _wide_frame(values, names):
    return pd.DataFrame(values.astype(np.float64), columns=list(map(str, names)))


def _split_off(table, label):
    return table.drop(columns=label), table[label]


PARSERS = {
    "iranian_churn": _iranian_churn,
    "vertebral_column": _vertebral_column,
    "vertebral_column_3c": _vertebral_column,
    "maternal_risk": _maternal_risk,
    "abalone": _abalone,
    "yeast": _yeast,
    "wine_red": _wine_red,
    "tissue_expression": _tissue_expression,
    "all_leukemia": _all_leukemia,
    "gene_expression": _gene_expression,
}
