"""The paper on maximum excluding ellipsoids: every equation, claim and table rule.

One file a part of the paper: the problem (Sections 2 and 3), its dual (equations 7
and 8, appendix A), stability (Section 4 to Proposition 1, appendix B), the bound
(Lemmas 3 and 4, Theorem 2), the experiments (Section 5).
Figure 3 has no printed numbers beside its rates; what it shows is for a run to say.
"""

from __future__ import annotations

from mebnb.documents.me2 import (
    bound as _me2_bound,
)
from mebnb.documents.me2 import (
    dual as _me2_dual,
)
from mebnb.documents.me2 import (
    experiments as _me2_experiments,
)
from mebnb.documents.me2 import (
    problem as _me2_problem,
)
from mebnb.documents.me2 import (
    stability as _me2_stability,
)

ENTRIES = (
    _me2_problem.ENTRIES
    + _me2_dual.ENTRIES
    + _me2_stability.ENTRIES
    + _me2_bound.ENTRIES
    + _me2_experiments.ENTRIES
)
