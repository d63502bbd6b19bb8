"""What `mebnb fit --fdr 0.1` finds in tables with planted anomalies, beside rivals.

Each table has nominal rows to learn from and new rows, of which 30 are planted: between
two nominal clusters, or of five kinds among six columns that two hidden ones fix up to
noise. Rivals get the same scaling, the same split of rows, the same p-values and the
same rule of discoveries. Two kinds have a planted column or pair of columns, and it is
counted how often the reasons name just that. Seeds start at `FIRST`: settings were
settled on lower ones. Writes own_tables.csv, own_tables_seeds.csv
and own_tables_reasons.csv: `python -m benchmarks.own_tables`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

__all__ = ["TABLES", "compare", "judge", "main", "summarise"]

RESULTS = Path(__file__).with_name("results")
FDR = 0.1
OURS = "mebnb fit"
PLANTED = 30
FIRST = 100
NAMED_KINDS = ("broken correlation", "single column")


@dataclass(frozen=True, eq=False)
class Made:
    """Rows to learn from, new rows, and what is planted among them."""

    old: np.ndarray
    new: np.ndarray
    kind: np.ndarray
    planted: dict = field(default_factory=dict)
    """Of a new row, the columns that were changed."""


def clusters(seed, columns, apart):
    """Two clusters, apart in the first columns, and rows between them."""
    rng = np.random.default_rng([len(apart), seed])
    way = np.zeros(columns)
    way[: len(apart)] = apart

    def nominal(rows):
        side = rng.choice([-1.0, 1.0], (rows, 1))
        return side * way + rng.normal(size=(rows, columns))

    old, same = nominal(400), nominal(200)
    between = 0.5 * rng.normal(size=(PLANTED, columns))
    kind = np.repeat(["nominal", "between"], [len(same), PLANTED])
    return Made(old, np.vstack([same, between]), kind)


def five_kinds(seed):
    """Six columns from two hidden ones; six rows of each of five kinds of anomalies."""
    rng = np.random.default_rng([6, seed])
    loads = rng.normal(size=(6, 2))
    loads /= np.linalg.norm(loads, axis=1, keepdims=True)

    def nominal(rows):
        return rng.normal(size=(rows, 2)) @ loads.T + 0.3 * rng.normal(size=(rows, 6))

    each = PLANTED // 5
    old, same = nominal(600), nominal(300)
    directions = np.linalg.qr(np.hstack([loads, rng.normal(size=(6, 4))]))[0].T
    sign = rng.choice([-1.0, 1.0], each)

    alike = loads @ loads.T
    np.fill_diagonal(alike, 0.0)
    pair = np.unravel_index(np.abs(alike).argmax(), alike.shape)
    broken = nominal(each)
    size = rng.uniform(1.5, 2.0, each)
    broken[:, pair[0]] = sign * size
    broken[:, pair[1]] = -np.sign(alike[pair]) * sign * size

    off_plane = 0.5 * nominal(each) + 2.0 * np.outer(sign, directions[2])
    clump = 2.0 * directions[3] + 0.1 * rng.normal(size=(each, 6))
    single = nominal(each)
    column = rng.integers(6, size=each)
    single[np.arange(each), column] += 4.0 * sign
    far = nominal(each)
    far *= 6.0 / np.linalg.norm(far, axis=1, keepdims=True)

    names = [*NAMED_KINDS[:1], "off-plane", "clump", *NAMED_KINDS[1:], "global"]
    kind = np.repeat(["nominal", *names], [len(same), *[each] * 5])
    first = len(same)
    planted = {first + row: {int(at) for at in pair} for row in range(each)}
    planted |= {first + 3 * each + row: {int(at)} for row, at in enumerate(column)}
    new = np.vstack([same, broken, off_plane, clump, single, far])
    return Made(old, new, kind, planted)


TABLES = {
    "two clusters, apart in 3 of 3 columns": lambda seed: clusters(seed, 3, [3.0] * 3),
    "two clusters, apart in 2 of 4 columns": lambda seed: clusters(seed, 4, [4.0] * 2),
    "five kinds in six columns": five_kinds,
}


def rivals():
    """Other people's detectors by name, unfitted; no. of neighbours as is usual."""
    from mebnb.learning.detectors import rival_detectors
    from mebnb.learning.local_balls import LocalBallDetector

    kept = ("Mahalanobis distance", "one-class SVM", "isolation forest")
    known = rival_detectors()
    return {
        "distance to neighbour 5": LocalBallDetector(neighbors=5),
        "distance to neighbour 20": LocalBallDetector(neighbors=20),
        **{name: known[name] for name in (*kept, "local outlier factor")},
    }


def judge(made, detectors):
    """What the command and rivals find in one table.

    Parameters
    ----------
    made : Made
    detectors : sequence of str
        Of `mebnb fit --detector`. The first judges as the command does; the others
        without its cautions, which take most of the time and change no p-value.

    Returns
    -------
    found : dict of str to ndarray of bool
        The new rows that are discoveries.
    fit : AlarmFit
        Of the first of the detectors.
    """
    from mebnb import ConformalAlarms
    from mebnb.your_data import read_table
    from mebnb.your_data.alarms import fit_alarms
    from mebnb.your_data.fit import fit_file

    names = [f"c{column}" for column in range(made.old.shape[1])]
    first, *others = detectors
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder, "old.csv"), Path(folder, "new.csv")
        for path, rows in ((old, made.old), (new, made.new)):
            pd.DataFrame(rows, columns=names).to_csv(path, index=False)
        fit = fit_file(old, new, detector=first, fdr=FDR)
        table = read_table(old)
    found = {OURS: fit.scores["discovery"].to_numpy()}
    for one in others:
        model = fit_alarms(table, detector=one, fdr=FDR, scaling="standard")
        told = model.score(fit.scored.values)["discovery"]
        found[f"{OURS} --detector {one}"] = told.to_numpy()
    for name, rival in rivals().items():
        alarms = ConformalAlarms(
            make_pipeline(StandardScaler(), rival), random_state=0
        ).fit(made.old)
        found[name] = alarms.discoveries(made.new, FDR)
    return found, fit


def compare(table, seeds, detectors=("auto",)):
    """What is found in a table over many seeds, and what reasons name.

    Parameters
    ----------
    table : str
        Of `TABLES`.
    seeds : sequence of int
    detectors : sequence of str
        The first is the one whose reasons are looked at.

    Returns
    -------
    found : pandas.DataFrame
        A row for each seed and method: found, the share of planted rows that are
        discoveries; of each kind too; false, the share of discoveries that are nominal.
    reasons : pandas.DataFrame
        A row for each discovery with a planted column or pair: kind, exact (whether in
        closed form), named (whether just that).
    """
    rows, reasons = [], []
    for seed in seeds:
        made = TABLES[table](seed)
        found, fit = judge(made, detectors)
        odd = made.kind != "nominal"
        for name, discovered in found.items():
            row = {"table": table, "seed": seed, "method": name}
            row["found"] = discovered[odd].mean()
            row["false"] = discovered[~odd].sum() / max(1, discovered.sum())
            kinds = dict.fromkeys(made.kind[odd])
            row |= {kind: discovered[made.kind == kind].mean() for kind in kinds}
            row["taken"] = fit.model.detector if name == OURS else ""
            rows.append(row)
        for row, names in zip(fit.reasons.rows, fit.reasons.named, strict=True):
            if row in made.planted:
                said = {int(name[1:]) for name in names}
                reasons.append(
                    {
                        "kind": made.kind[row],
                        "exact": fit.reasons.exact,
                        "named": said == made.planted[row],
                    }
                )
    return pd.DataFrame(rows), pd.DataFrame(reasons)


def summarise(frame):
    """Means over the seeds; and how much more the command finds, seed by seed.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `compare`, of one table.

    Returns
    -------
    pandas.DataFrame
        A row for each method. "more" is what the command finds beyond it, with the ends
        of a 95 % interval of the mean over the seeds.
    """
    wide = frame.pivot(index="seed", columns="method", values="found")
    numbers = frame.drop(columns=["seed", "taken"]).dropna(axis=1, how="all")
    table = numbers.groupby(["table", "method"], sort=False).mean().reset_index()
    spread = frame.groupby("method", sort=False)["false"].sem().to_numpy()
    table.insert(4, "false_error", spread)
    more = [wide[OURS] - wide[name] for name in table["method"]]
    table["more"] = [one.mean() for one in more]
    reach = stats.t.ppf(0.975, len(wide) - 1)
    table["more_from"] = [one.mean() - reach * one.sem() for one in more]
    table["more_to"] = [one.mean() + reach * one.sem() for one in more]
    return table.assign(seeds=len(wide))


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.own_tables",
        description="What `mebnb fit --fdr 0.1` finds beside rivals, and what it names.",
    )
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="for the CSV files"
    )
    options = parser.parse_args(arguments)
    if options.seeds < 2:
        parser.error(f"--seeds must be at least 2, found {options.seeds}")
    options.out.mkdir(parents=True, exist_ok=True)
    tables, all_rows, reasons = [], [], []
    with threadpool_limits(1):
        for name in TABLES:
            began = time.perf_counter()
            detectors = ("auto", "soft", "local", "whitened")
            found, named = compare(name, range(FIRST, FIRST + options.seeds), detectors)
            tables.append(summarise(found))
            all_rows.append(found)
            reasons.append(named)
            print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    named = pd.concat(reasons).groupby(["kind", "exact"])["named"]
    named = named.agg(discoveries="size", named="sum", share="mean").reset_index()
    _write(pd.concat(tables), options.out / "own_tables.csv")
    _write(pd.concat(all_rows), options.out / "own_tables_seeds.csv")
    _write(named, options.out / "own_tables_reasons.csv")


def _write(table, path):
    if len(table) < 100:
        print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    table.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    main()
