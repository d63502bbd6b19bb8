# The public names, and where each of them lives; `__init__.py` reads this file.
from .datasets import list_datasets, load_dataset
from .documents.checks import check_derivations
from .learning.alarms import ConformalAlarms
from .learning.detectors import BallDetector, ExcludingEllipsoids, SoftBallDetector
from .learning.local_balls import (
    Committee,
    KernelBallDetector,
    LocalBallDetector,
    SeveralBallsDetector,
    WhitenedBallDetector,
)
from .solvers.balls import Solution, Trace
from .solvers.certificates import verify
from .solvers.core_sets import core_set
from .solvers.ellipsoids import excluding_ellipsoid
from .solvers.exact import minimum_enclosing_ball
from .solvers.frank_wolfe import (
    away_step,
    blended_pairwise,
    frank_wolfe,
    pairwise,
)
from .solvers.soft import soft_ball
from .solvers.sources import Blocks

__all__ = [
    "BallDetector",
    "Blocks",
    "Committee",
    "ConformalAlarms",
    "ExcludingEllipsoids",
    "KernelBallDetector",
    "LocalBallDetector",
    "SeveralBallsDetector",
    "SoftBallDetector",
    "Solution",
    "Trace",
    "WhitenedBallDetector",
    "away_step",
    "blended_pairwise",
    "check_derivations",
    "core_set",
    "excluding_ellipsoid",
    "frank_wolfe",
    "list_datasets",
    "load_dataset",
    "minimum_enclosing_ball",
    "pairwise",
    "soft_ball",
    "verify",
]
__version__: str
