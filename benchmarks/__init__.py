"""Benchmarks: our solvers beside others on one grid, each in a process of its own.

`python -m benchmarks.run` measures the grid and checks the project's bounds;
`python -m benchmarks.frank_wolfe` compares the Frank-Wolfe family with versions that
multiply by the data twice a step. `make bench` runs both.
"""
