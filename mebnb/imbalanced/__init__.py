"""The experiments of the paper on maximum excluding ellipsoids, and what lies beside.

`methods` lists the classifiers, `running` fits them as the paper did, `tables` sets
what comes out beside what was published.
"""

from mebnb.imbalanced.methods import (
    ABLATION,
    C5_TREES,
    METHODS,
    PAPER,
    READINGS,
    RIVALS,
    RankRule,
    Resampled,
)
from mebnb.imbalanced.running import (
    FEWER,
    SETS,
    examples,
    fresh_splits,
    full_protocol,
    run,
    split,
    stored_run,
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
    "RankRule",
    "Resampled",
    "examples",
    "fresh_splits",
    "full_protocol",
    "run",
    "split",
    "stored_run",
]
