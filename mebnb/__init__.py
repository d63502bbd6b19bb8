"""The minimum enclosing ball as an optimisation problem and as an anomaly detector."""

from mebnb.balls import Solution, Trace, verify
from mebnb.core_sets import core_set
from mebnb.datasets import list_datasets, load_dataset
from mebnb.derivations import check_derivations
from mebnb.detectors import BallDetector, ExcludingEllipsoids, SoftBallDetector
from mebnb.ellipsoids import excluding_ellipsoid
from mebnb.exact import minimum_enclosing_ball
from mebnb.frank_wolfe import away_step, blended_pairwise, frank_wolfe, pairwise
from mebnb.soft import soft_ball

__version__ = "0.1.0"
