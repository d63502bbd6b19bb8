"""Detectors, honest splits, scores, and detectors compared over many splits.

`honest_split` keeps no nominal point on both sides, fits nothing on test rows and uses no
label but to leave the anomalies out of training. `score_detector` judges one fit, `evaluate_repeatedly`
many detectors over the same splits, with their differences split by split.
"""

from mebnb.learning.scores import (
    SCORES,
    Evaluation,
    evaluate_repeatedly,
    evaluate_splits,
    own_and_conformal,
    precision_at,
    recall_at_false_alarms,
    rounded_scores,
    score_detector,
)
from mebnb.learning.splits import Split, honest_split, seen_in_training, without_repeats

__all__ = [
    "SCORES",
    "Evaluation",
    "Split",
    "evaluate_repeatedly",
    "evaluate_splits",
    "honest_split",
    "own_and_conformal",
    "precision_at",
    "recall_at_false_alarms",
    "rounded_scores",
    "score_detector",
    "seen_in_training",
    "without_repeats",
]
