"""Benchmarks: our solvers beside others on one grid, each in a process of its own.

`python -m benchmarks.run` measures the grid and checks the project's bounds;
`python -m benchmarks.frank_wolfe` compares the Frank-Wolfe family with versions that
multiply by the data twice a step; `python -m benchmarks.soft` compares the soft ball
with scikit-learn's one-class SVM. `make bench` runs them all.
"""
