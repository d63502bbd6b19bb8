"""The paper on maximum excluding ellipsoids: every equation, claim and table rule.

One file a part of the paper: the problem (Sections 2 and 3), its dual (equations 7
and 8, appendix A), stability (Section 4 to Proposition 1, appendix B), the bound
(Lemmas 3 and 4, Theorem 2), the experiments (Section 5).
Figure 3 has no printed numbers beside its rates; what it shows is for a run to say.
"""

from __future__ import annotations

from mebnb.documents.me2 import bound, dual, experiments, problem, stability

__all__ = ["ENTRIES"]

_PARTS = (problem, dual, stability, bound, experiments)
ENTRIES = [entry for part in _PARTS for entry in part.ENTRIES]
