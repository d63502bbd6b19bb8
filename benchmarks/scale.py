"""The ball of data larger than memory should be: `python -m benchmarks.scale --rows 20000000`.

A folder of Parquet files, float32, is written block by block into a temporary folder. A
process of its own finds the ball of it and tells its peak memory and how often it read
each block; another one reads blocks as often with the same library and does nothing
else. They take turns twice, and the least times count: the first to come may wait for
the disk where the next one finds the files in memory. Then a process is killed in the
middle and the work started again, and three worker processes of Dask find the ball, one
of which is killed. Rows of earlier sizes in scale.csv are kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["ball_of", "main", "read_plainly", "write_folder"]

RESULTS = Path(__file__).with_name("results")
BLOCK = 500_000
GAP, MOST_MIB, MOST_READS, MOST_RATIO = 1e-9, 1536, 1.1, 1.3
TURNS, WORKERS = 2, 3
# That a killed worker costs time only is seen on this many rows as well as on more.
CLUSTER_ROWS = 20_000_000


# --- what a process of its own does ------------------------------------------------


def write_folder(folder, rows, columns):
    """Normal rows as Parquet files of one row group each, no more than one in memory."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"x{j}" for j in range(columns)]
    for k, start in enumerate(range(0, rows, BLOCK)):
        rng = np.random.default_rng([20080101, rows, columns, k])
        size = min(BLOCK, rows - start)
        values = [rng.standard_normal(size, np.float32) for _ in names]
        parquet.write_table(
            pa.table(dict(zip(names, values, strict=True))),
            Path(folder) / f"part-{k:05d}.parquet",
            row_group_size=BLOCK,
            compression="none",
            use_dictionary=False,
        )


def ball_of(folder):
    """The ball of a folder, its bits, and what it cost.

    Parameters
    ----------
    folder : path

    Returns
    -------
    dict
    """
    from mebnb import Blocks, minimum_enclosing_ball

    held, reads = Blocks.from_parquet(folder), []
    read = held._read

    def counted(k):
        reads.append(k)
        return read(k)

    held._read = counted
    print("begun", flush=True)
    began = time.perf_counter()
    ball = minimum_enclosing_ball(held)
    taken = time.perf_counter() - began
    return {
        "seconds": taken,
        "radius": ball.radius,
        "gap": ball.radius / ball.lower_bound - 1.0,
        "support": len(ball.support),
        "certified": bool(ball.converged),
        "bits": bits(ball),
        "blocks": held.count,
        "passes": ball.passes,
        "reads": len(reads),
        # Linux counts in KiB, macOS in bytes.
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        / (2**20 if sys.platform == "darwin" else 2**10),
    }


def bits(ball):
    """A word that two balls share only if they are the same to the last bit."""
    parts = (ball.center, ball.weights, ball.support, np.float64(ball.radius))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def read_plainly(folder, reads):
    """Seconds to read so many blocks one after another, all columns."""
    from pyarrow import dataset

    pieces = sorted(
        dataset.dataset(folder, format="parquet").get_fragments(),
        key=lambda piece: piece.path,
    )
    began = time.perf_counter()
    for k in range(reads):
        pieces[k % len(pieces)].to_table()
    return {"seconds": time.perf_counter() - began}


def ball_on_cluster(folder, seconds):
    """The ball by worker processes, one of which is killed after some seconds."""
    from dask import dataframe
    from distributed import Client, LocalCluster

    from mebnb import minimum_enclosing_ball

    cluster = LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        frame = dataframe.read_parquet(folder)
        pids = list(client.run(os.getpid).values())
        killer = threading.Timer(seconds, os.kill, [pids[0], signal.SIGKILL])
        began = time.perf_counter()
        killer.start()
        ball = minimum_enclosing_ball(frame)
        taken = time.perf_counter() - began
        killed = not killer.is_alive()
        killer.cancel()
    return {
        "seconds": taken,
        "radius": ball.radius,
        "gap": ball.radius / ball.lower_bound - 1.0,
        "support": len(ball.support),
        "certified": bool(ball.converged),
        "bits": bits(ball),
        "blocks": frame.npartitions,
        "passes": ball.passes,
        "killed": killed,
    }


TASKS = {"ball": ball_of, "plain": read_plainly, "cluster": ball_on_cluster}


# --- the table ---------------------------------------------------------------------


def start(task, *arguments):
    """A process that does one of the tasks."""
    words = [sys.executable, "-m", "benchmarks.scale", "--task", task]
    given = json.dumps([str(arguments[0]), *arguments[1:]])
    return subprocess.Popen([*words, given], stdout=subprocess.PIPE, text=True)


def result(process):
    """What it found, from its last line."""
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a process ended with {process.returncode}")
    return json.loads(out.splitlines()[-1])


def measure(folder, rows, columns):
    """The rows of the table for one folder."""
    shape = {"rows": rows, "columns": columns, "gib": rows * columns * 4 / 2**30}
    turns = []
    for _ in range(TURNS):
        found = result(start("ball", folder))
        turns.append((found, result(start("plain", folder, found["reads"]))))
    found, plain = (min(each, key=_seconds) for each in zip(*turns, strict=True))
    victim = start("ball", folder)
    victim.stdout.readline()  # the imports are done
    time.sleep(found["seconds"] / 2)
    midway = victim.poll() is None
    victim.kill()
    victim.communicate()
    again = result(start("ball", folder))
    print(f"{rows} x {columns}: files measured", flush=True)
    yield {
        "source": "Parquet folder",
        **shape,
        **_kept(found),
        "plain_seconds": plain["seconds"],
        "ratio": found["seconds"] / plain["seconds"],
        "peak_mib": found["peak_mib"],
        "reads_a_pass": found["reads"] / (found["blocks"] * found["passes"]),
        "killed": midway,
        "same_bits": again["bits"] == found["bits"],
    }
    if rows > CLUSTER_ROWS:
        return
    cluster = result(start("cluster", folder, found["seconds"] / 2))
    yield {
        "source": f"Dask, {WORKERS} processes",
        **shape,
        **_kept(cluster),
        "killed": cluster["killed"],
        "same_bits": cluster["bits"] == found["bits"],
    }


def _seconds(found):
    return found["seconds"]


def _kept(found):
    names = ("radius", "gap", "certified", "support", "blocks", "passes", "seconds")
    return {name: found[name] for name in names}


def verdicts(table):
    """Sentences about each row: what was asked for, and whether it was found."""
    for row in table.itertuples():
        name = f"{row.source}, {row.rows} x {row.columns}"
        yield _said(row.certified and row.gap <= GAP, f"{name}: gap {row.gap:.1e}")
        same = row.killed and row.same_bits
        yield _said(same, f"{name}: killed, and the same ball")
        if row.source == "Parquet folder":
            yield _said(row.peak_mib <= MOST_MIB, f"{name}: {row.peak_mib:.0f} MiB")
            reads = f"{name}: {row.reads_a_pass:.3f} reads of a block a pass"
            yield _said(row.reads_a_pass <= MOST_READS, reads)
            times = f"{name}: {row.ratio:.2f} times the plain reading"
            yield _said(row.ratio <= MOST_RATIO, times)


def _said(found, sentence):
    return f"{'met' if found else 'NOT MET':<8} {sentence}"


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale",
        description="The ball of a folder of Parquet files that is read in blocks.",
    )
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="for the CSV file"
    )
    parser.add_argument("--task", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.task:
        name, given = options.task
        print(json.dumps(TASKS[name](*json.loads(given))))
        return
    with tempfile.TemporaryDirectory() as folder:
        needed = 4 * options.rows * options.columns
        if shutil.disk_usage(folder).free < 2 * needed:
            parser.error(f"the disk has no room for twice {needed / 2**30:.1f} GiB")
        write_folder(folder, options.rows, options.columns)
        table = pd.DataFrame(list(measure(folder, options.rows, options.columns)))
    print(*verdicts(table), sep="\n")
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "scale.csv"
    if path.exists():
        table = pd.concat([pd.read_csv(path), table])
        table = table.drop_duplicates(["source", "rows", "columns"], keep="last")
        table = table.sort_values("rows", kind="stable")
    table.to_csv(path, index=False, float_format="%.9g", lineterminator="\n")


if __name__ == "__main__":
    main()
