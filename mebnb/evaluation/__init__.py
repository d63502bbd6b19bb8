"""Splits, scores, and detectors compared over many splits.

The published splits are rebuilt to the row; `honest_split` is the one to trust: no
point on both sides, nothing fitted on test rows, no label used but to leave the
anomalies out of training. `score_detector` judges one fit, `evaluate_repeatedly`
many detectors over the same splits, with their differences split by split.
"""

from mebnb.evaluation.scores import (
    SCORES,
    Evaluation,
    evaluate_repeatedly,
    evaluate_splits,
    recall_at_false_alarms,
    score_detector,
)
from mebnb.evaluation.splits import (
    SLIDES_PROTOCOL,
    SlidesProtocol,
    Split,
    honest_split,
    report_gaussian,
    report_split,
    report_uniform,
    seen_in_training,
    slides_split,
)

__all__ = [
    "SCORES",
    "SLIDES_PROTOCOL",
    "Evaluation",
    "SlidesProtocol",
    "Split",
    "evaluate_repeatedly",
    "evaluate_splits",
    "honest_split",
    "recall_at_false_alarms",
    "report_gaussian",
    "report_split",
    "report_uniform",
    "score_detector",
    "seen_in_training",
    "slides_split",
]
