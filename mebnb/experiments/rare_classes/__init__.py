"""The experiments of the paper on maximum excluding ellipsoids, and what lies beside.

`methods` lists the classifiers, `running` fits them as the paper did, `tables` sets
what comes out beside what was published.
"""

from mebnb.experiments.rare_classes.running import (
    FEWER,
    SETS,
    examples,
    fresh_splits,
    full_protocol,
    run,
    split,
    standardised_protocol,
    stored_run,
    stored_standardised_run,
    unseen,
)
from mebnb.learning.rare_classes import (
    ABLATION,
    C5_TREES,
    METHODS,
    PAPER,
    READINGS,
    RIVALS,
    STANDARDISED,
    RankRule,
    Resampled,
)

__all__ = [
    "ABLATION",
    "C5_TREES",
    "FEWER",
    "METHODS",
    "PAPER",
    "READINGS",
    "RIVALS",
    "SETS",
    "STANDARDISED",
    "RankRule",
    "Resampled",
    "examples",
    "fresh_splits",
    "full_protocol",
    "run",
    "split",
    "standardised_protocol",
    "stored_run",
    "stored_standardised_run",
    "unseen",
]
