"""What the published protocols let through: repeated points, thresholds and choices made with labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.preprocessing import StandardScaler

from mebnb.experiments.parameters import check_choice
from mebnb.experiments.published_splits import (
    SLIDES_PROTOCOL,
    SlidesProtocol,
    report_split,
    slides_split,
)
from mebnb.experiments.report_tables import SCALINGS, outside
from mebnb.learning import evaluate_splits
from mebnb.learning.detectors import BallDetector

__all__ = [
    "SELECTIONS",
    "leakage_study",
    "repeated_points",
    "scaling_study",
    "slides_variant",
    "threshold_scores",
]


# --- what the protocols hide -------------------------------------------------------
def repeated_points(dataset):
    """How often rows repeat, and what labels the same features carry.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    pandas.DataFrame
        One column, count.
    """
    vectors = dataset.features.assign(
        label=dataset.labels, nominal=dataset.is_nominal
    ).groupby(list(dataset.features.columns), sort=False)
    sizes, kinds = vectors.size(), vectors["nominal"].nunique()
    return pd.Series(
        {
            "rows": len(dataset.features),
            "distinct feature vectors": len(sizes),
            "largest number of rows with one vector": sizes.max(),
            "vectors with more than one label": (vectors["label"].nunique() > 1).sum(),
            "vectors both nominal and anomalous": (kinds > 1).sum(),
        },
        name="count",
    ).to_frame()


def threshold_scores(split, center, radii):
    """Recall, false alarms, precision and F1 of a fixed center, a row a radius."""
    anomaly = split.test_is_anomaly
    rows = {}
    for radius in radii:
        flagged = outside(split.test, center, radius)
        hits, alarms = np.sum(flagged & anomaly), np.sum(flagged)
        rows[radius] = {
            "recall": flagged[anomaly].mean(),
            "false_alarms": flagged[~anomaly].mean(),
            "precision": hits / alarms if alarms else np.nan,
            "f1": 2 * hits / (alarms + np.sum(anomaly)),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("radius")


SELECTIONS = ("labels", "random", "components", "all")


def slides_variant(
    dataset, seed, *, selection="labels", scaler_sees="all", protocol=None
):
    """The slides' split with another choice of features or another scaler.

    Parameters
    ----------
    dataset : Dataset
    seed : int
        Of the split, and of a random choice.
    selection : str
        "labels": the K features with the largest ANOVA F against the anomaly labels,
        as in the slides; "random": any K features; "components": the K first
        principal components of the nominal training rows; "all": every feature.
    scaler_sees : str
        What the scaler, where the protocol has one, is fitted on: "all" training rows,
        as in the slides, or the "nominal" ones.
    protocol : SlidesProtocol, optional
        By default the published one of this data set.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        For an unknown word.
    """
    check_choice("selection", selection, SELECTIONS)
    check_choice("scaler_sees", scaler_sees, ("all", "nominal"))
    protocol = protocol or SLIDES_PROTOCOL[dataset.name]
    count = dataset.encoded().shape[1]
    whole = SlidesProtocol(features=count, decimals=protocol.decimals)
    split = slides_split(dataset, whole, seed)
    if protocol.scaled:
        seen = split.whole_train if scaler_sees == "all" else split.train
        split = changed(split, StandardScaler().fit(seen).transform)
    if selection == "all":
        return split
    if selection == "components":
        return changed(split, PCA(protocol.features).fit(split.train).transform)
    if selection == "random":
        rng = np.random.default_rng(seed)
        kept = np.sort(rng.choice(count, protocol.features, replace=False))
    else:
        chosen = SelectKBest(f_classif, k=protocol.features)
        chosen.fit(split.whole_train, split.whole_train_is_anomaly)
        kept = chosen.get_support(indices=True)
    names = tuple(split.feature_names[column] for column in kept)
    return replace(changed(split, lambda points: points[:, kept]), feature_names=names)


def changed(split, transform):
    return replace(
        split,
        train=transform(split.train),
        test=transform(split.test),
        whole_train=transform(split.whole_train),
    )


def leakage_study(dataset, seeds, protocol=None):
    """The hard ball on the slides' splits, with and without a look at the labels.

    Parameters
    ----------
    dataset : Dataset
    seeds : sequence of int
    protocol : SlidesProtocol, optional
        By default the published one of this data set.

    Returns
    -------
    Evaluation
        Its "detectors" are the variants: the first is the slides'.
    """
    protocol = protocol or SLIDES_PROTOCOL[dataset.name]
    variants = {"labels pick K features": {}}
    if protocol.scaled:
        variants["labels pick K, scaler on nominal rows"] = {"scaler_sees": "nominal"}
    variants |= {
        "any K features": {"selection": "random", "scaler_sees": "nominal"},
        "K principal components": {
            "selection": "components",
            "scaler_sees": "nominal",
        },
        "all features": {"selection": "all", "scaler_sees": "nominal"},
    }
    splits = {
        name: lambda seed, options=options: slides_variant(
            dataset, seed, protocol=protocol, **options
        )
        for name, options in variants.items()
    }
    return evaluate_splits(BallDetector(), splits, seeds)


def scaling_study(dataset, seeds, nominal_fraction=0.5, scalings=SCALINGS):
    """The hard ball on the report's splits, scaled in several ways.

    Parameters
    ----------
    dataset : Dataset
    seeds : sequence of int
        123 is the report's.
    nominal_fraction : float
    scalings : sequence of str
        From "standard", "minmax", "none".

    Returns
    -------
    Evaluation
        Its "detectors" are the scalings.
    """
    splits = {
        scaling: lambda seed, scaling=scaling: report_split(
            dataset, seed, nominal_fraction, scaling
        )
        for scaling in scalings
    }
    return evaluate_splits(BallDetector(), splits, seeds)
