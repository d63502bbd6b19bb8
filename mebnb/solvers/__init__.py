"""Solvers: each takes points and returns a ball, or an ellipsoid, with a certificate.

`exact` is the fast one; `frank_wolfe` and `core_sets` are the family that the
documents are about; `soft` allows points outside at a price; `ellipsoids` keeps points
out. `balls` holds what they share: the `Solution`, distances and gaps; `certificates`
checks what any of them returns. `plain` has each algorithm as a textbook has it, to be
read and compared with.
"""
