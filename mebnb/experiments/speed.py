"""What notebook 19 shows: committed measurements, and what follows from their rates."""

from __future__ import annotations

import math
import time

import numpy as np
import pandas as pd

from mebnb.experiments.sets import normal_cloud
from mebnb.published.compare import published_table
from mebnb.solvers.core_sets import core_set
from mebnb.solvers.exact import minimum_enclosing_ball

__all__ = [
    "core_sets_beside",
    "costs",
    "leads",
    "outcomes",
    "plan",
    "published_beside_measured",
    "times_by_workers",
]

OURS = "minimum_enclosing_ball"
# The solver of this package for each algorithm of the report that the grid has.
OF_REPORT = {"ASFW": "away_step", "BPFW": "blended_pairwise"}
WORDS = ("right", "wrong", "time", "matrix", "error")


def leads(grid):
    """The exact ball beside the fastest right answer of other people's solvers.

    Parameters
    ----------
    grid : pandas.DataFrame
        As `measured("grid")`.

    Returns
    -------
    pandas.DataFrame
        One row a cloud: ours_ms, peer, peer_ms, and lead, their quotient.
    """
    right = grid[grid["status"] == "right"]
    ours = right[right["solver"] == OURS].set_index("case")
    peers = right[~right["ours"]]
    best = peers.loc[peers.groupby("case")["median_ms"].idxmin()].set_index("case")
    table = pd.DataFrame(
        {
            "ours_ms": ours["median_ms"],
            "peer": best["solver"].reindex(ours.index),
            "peer_ms": best["median_ms"].reindex(ours.index),
        }
    )
    return table.assign(lead=table["peer_ms"] / table["ours_ms"])


def kinds(grid):
    """What kind of cloud each one of the grid is, normal ones by their columns.

    Parameters
    ----------
    grid : pandas.DataFrame
        As `measured("grid")`.

    Returns
    -------
    pandas.Series of str
        By case: first the normal clouds, the fewest columns first, then the others.
    """
    cases = grid.drop_duplicates("case").set_index("case")
    normal = cases[cases["kind"] == "normal"].sort_values("n", kind="stable")
    many = normal["n"].map(lambda n: f"{n}" if n < 1000 else "1000 or more")
    others = pd.Series("other clouds", index=cases.index.drop(normal.index))
    return pd.concat(["normal, n = " + many, others])


def outcomes(grid):
    """How many clouds each solver answered, and what became of the others.

    Parameters
    ----------
    grid : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame of int
        One row a solver, a column for each word that occurs.
    """
    table = pd.crosstab(grid["solver"], grid["status"])
    table = table[[word for word in WORDS if word in table]]
    return table.sort_values("right", ascending=False, kind="stable")


def costs(grid):
    """What an entry costs the exact ball on draws of the normal law.

    Parameters
    ----------
    grid : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame
        m, n, ms, ns_an_entry, passes (the data read, in multiples of all rows),
        products (the time in products of the matrix with a vector, each of which reads
        the data once) and support.
    """
    ours = grid[(grid["solver"] == OURS) & (grid["kind"] == "normal")]
    return pd.DataFrame(
        {
            "m": ours["m"],
            "n": ours["n"],
            "ms": ours["median_ms"],
            "ns_an_entry": ours["median_ms"] * 1e6 / (ours["m"] * ours["n"]),
            "passes": ours["passes"],
            "products": ours["median_ms"] / ours["product_ms"],
            "support": ours["support"],
        }
    ).reset_index(drop=True)


def published_beside_measured(grid):
    """CPU times that the report prints, beside the grid's on the same rows.

    Parameters
    ----------
    grid : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame
        One row for each algorithm and set: what was printed, the time of the same
        algorithm here and that of the exact ball, in ms.
    """
    uniform = published_table("report_table1_uniform")
    churn = published_table("report_table4_iranian_churn")
    churn = churn[churn["epsilon"].astype(float) == 1e-3]
    printed = [
        ("uniform", row.algorithm, float(row.cpu_s) * 1e3)
        for row in uniform.itertuples()
    ]
    printed += [
        ("churn", row.algorithm, float(row.cpu_ms)) for row in churn.itertuples()
    ]
    here = grid.set_index(["kind", "solver"])["median_ms"]
    return pd.DataFrame(
        [
            {
                "set": kind,
                "algorithm": name,
                "printed, ms": ms,
                "here, ms": here[kind, OF_REPORT[name]],
                "exact ball, ms": here[kind, OURS],
            }
            for kind, name, ms in printed
            if name in OF_REPORT
        ]
    )


def times_by_workers(m, n, seed, workers=(1, 2), runs=3):
    """The least time of the exact ball for several numbers of workers.

    Parameters
    ----------
    m, n, seed : int
        Of a normal cloud.
    workers : sequence of int
    runs : int
        Timed calls of each, in turn.

    Returns
    -------
    pandas.Series
        Milliseconds by workers.
    """
    points = normal_cloud(m, n, seed)
    minimum_enclosing_ball(points)
    least = dict.fromkeys(workers, math.inf)
    for _ in range(runs):
        for count in workers:
            began = time.perf_counter()
            minimum_enclosing_ball(points, workers=count)
            least[count] = min(least[count], 1e3 * (time.perf_counter() - began))
    return pd.Series(least, name=f"{m} x {n}").rename_axis("workers")


def plan(rows, columns, rate, machines=1, passes=2, entry_bytes=4):
    """What the exact ball of many rows takes where each machine has its share.

    The sample has sqrt(m (n + 1)) rows. A shell is cut so that about twice as many
    pass, and never has more than four times as many on a machine; sample and shell
    travel as float64 to the one process that solves them.

    Parameters
    ----------
    rows, columns : int
    rate : float
        Bytes that a machine reads in a second.
    machines, passes, entry_bytes : int

    Returns
    -------
    dict
        sample (rows), share_bytes, seconds (of the passes alone), moved_bytes (of
        sample and one shell a pass), most_bytes (what shells may take where the cut
        lets every machine fill its own).
    """
    sample = math.isqrt(rows * (columns + 1))
    share = entry_bytes * rows * columns / machines
    row_bytes = 8 * columns
    return {
        "sample": sample,
        "share_bytes": share,
        "seconds": passes * share / rate,
        "moved_bytes": (1 + 2 * passes) * sample * row_bytes,
        "most_bytes": machines * 4 * sample * row_bytes,
    }


def core_sets_beside(points, epsilons):
    """Core sets for several tolerances beside the exact ball.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    epsilons : sequence of float

    Returns
    -------
    pandas.DataFrame
        rows kept, times that all rows were read, and how much larger the ball is than
        the smallest one; the last row is the exact ball's.
    """
    exact = minimum_enclosing_ball(points)
    found = {
        f"core set, eps = {eps:g}": core_set(points, eps, away=True, max_iter=10**6)
        for eps in epsilons
    }
    found["exact ball"] = exact
    return pd.DataFrame(
        {
            name: {
                "rows kept": ball.support.size,
                "passes": ball.passes,
                "larger by": np.maximum(ball.radius / exact.radius - 1.0, 0.0),
            }
            for name, ball in found.items()
        }
    ).T
