"""Run one notebook over a grid of parameters and gather what it records."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import itertools
import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat

from mebnb.report import CELL_TIMEOUT, ReportError
from mebnb.report.making import REUSED, is_current
from mebnb.report.notebooks import read_notebook, title_of, write_notebook
from mebnb.report.pages import build_pages, write_pages
from mebnb.report.parameters import assign_parameters, files_in_full
from mebnb.report.recording import recorded_values
from mebnb.report.runner import Interrupted, run_side_by_side, say
from mebnb.report.running import (
    OK,
    fingerprint,
    mark_if_changed,
    name_as_given,
    provenance,
    run_notebook,
    status_of,
)
from mebnb.report.words import escaped, for_spreadsheets, without_formulas
from mebnb.writing import check_folder, write_file

RUNS = "runs"
RANGE = re.compile(r"(-?\d+):(-?\d+)(?::(-?\d+))?")
STATUS = "status"


@dataclass
class Sweep:
    """What came out.

    Attributes
    ----------
    table : pandas.DataFrame
        One row a run: parameters, status, recorded values.
    files : list of Path
        The summary page first, then the table as CSV and, with pyarrow, Parquet.
    interrupted : bool
    """

    table: object
    files: list[Path]
    interrupted: bool


# --- the grid ------------------------------------------------------------------------


def read_grid(path, grid, fixed=()):
    """All combinations of the values of a grid, checked against the notebook.

    Parameters
    ----------
    path : Path
        The notebook.
    grid : iterable of (str, list of str)
        Names and values as typed; `0:20` and `0:20:5` are ranges without their end.
    fixed : iterable of (str, str)
        Parameters that are the same in every run.

    Returns
    -------
    list of dict
        name -> value, the last name changing fastest.

    Raises
    ------
    ReportError
        As `assign_parameters`; also for a name that comes twice and an empty range.
    """
    names = [name for name, _ in grid] + [name for name, _ in fixed]
    for name in names:
        if names.count(name) > 1:
            raise ReportError(f"parameter {name} is given twice")
    columns = []
    for name, words in grid:
        values = [value for word in words for value in _expand(name, word)]
        columns.append([(name, _checked(path, name, value)) for value in values])
    same = assign_parameters([path], fixed)[path]
    return [{**dict(point), **same} for point in itertools.product(*columns)]


def _expand(name, word):
    match = RANGE.fullmatch(word)
    if not match:
        return [word]
    first, end, step = int(match[1]), int(match[2]), int(match[3] or 1)
    values = list(range(first, end, step)) if step else []
    if not values:
        raise ReportError(f"the range {word} of parameter {name} is empty")
    return values


def _checked(path, name, value):
    return assign_parameters([path], [(name, value)])[path][name]


# --- the runs ------------------------------------------------------------------------


def sweep(path, points, out, *, jobs=1, scheduler=None, timeout=CELL_TIMEOUT, say=say):
    """Run a notebook once for each point of a grid; what is there is not run again.

    Parameters
    ----------
    path : Path
        The notebook.
    points : list of dict
        From `read_grid`.
    out : path
        Folder of the table, the summary page and, in `runs/`, the executed notebooks.
    jobs : int
        Runs at the same time, here.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers run them instead; mebnb must be
        installed there, too.
    timeout : float
        Seconds that one cell may take.
    say : callable
        Gets one line of progress for each run.

    Returns
    -------
    Sweep
        After an interruption with the runs that are finished.

    Raises
    ------
    ReportError
        When the scheduler is not there, or Dask is not installed.
    CannotWrite
        At once where the folder cannot be written to, else at the first file.
    """
    out = Path(out)
    check_folder(out / RUNS, out)
    client = _connect(scheduler) if scheduler else None

    def execute(point, stop):
        if client:
            return _run_there(client, path, point, timeout, stop)
        return run_notebook(path, point, cwd=Path.cwd(), timeout=timeout, stop=stop)

    def run(point, stop):
        target = out / RUNS / f"{name_of(point)}.ipynb"
        words = " ".join(f"{name}={value}" for name, value in point.items())
        if is_current(target, path, point):
            return f"{words}  {REUSED}"
        notebook = execute(point, stop)
        write_notebook(notebook, target)
        return f"{words}  {status_of(notebook)}"

    with client or contextlib.nullcontext():
        if client:
            jobs = max(sum(client.nthreads().values()), 1)
        interrupted = bool(run_side_by_side(points, run, jobs, say))
    table = _table(path, points, out / RUNS)
    return Sweep(table, _write(path, points, table, out, interrupted), interrupted)


def name_of(point):
    """A file name for a run: its parameters, readable, and a short hash of them."""
    words = "_".join(f"{name}-{value}" for name, value in point.items())
    digest = hashlib.sha256(json.dumps(point, sort_keys=True).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', words)[:80].strip('-')}_{digest}"


# --- on a cluster --------------------------------------------------------------------


def _connect(scheduler):
    try:
        from distributed import Client
    except ImportError:
        raise ReportError(
            "--scheduler needs Dask: pip install 'dask[distributed]'"
        ) from None
    try:
        return Client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise ReportError(f"no Dask scheduler at {scheduler}: {error}") from None


def _run_there(client, path, point, timeout, stop):
    """Run a notebook on a worker of the cluster, wherever that is."""
    inputs = fingerprint(path, point)
    text = path.read_text(encoding="utf-8")
    asked = files_in_full(point)
    future = client.submit(_run_text, text, path.name, asked, timeout, pure=False)
    while not future.done():
        if stop.wait(0.1):
            future.cancel()
            raise Interrupted(path)
    notebook = nbformat.reads(future.result(), as_version=4)
    name_as_given(notebook, asked, point)
    # The versions over there may be others; here this counts as this run.
    notebook.metadata["mebnb"]["fingerprint"] = inputs
    mark_if_changed(notebook, path, point)
    return notebook


def _run_text(text, name, point, timeout):
    """Run a notebook given as text and return the executed one as text."""
    with tempfile.TemporaryDirectory(prefix="mebnb-") as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        return nbformat.writes(run_notebook(path, point, timeout=timeout))


# --- the outcome ---------------------------------------------------------------------


def _table(path, points, runs):
    """One row for each finished run, in the order of the grid.

    A run of a notebook that was edited later is marked: rows of two versions are no
    table.
    """
    import pandas as pd

    rows = []
    for point in points:
        file = runs / f"{name_of(point)}.ipynb"
        if file.exists():
            notebook = read_notebook(file)
            cells = {name: _cell(value) for name, value in point.items()}
            recorded = recorded_values(notebook)
            mark_if_changed(notebook, path, point)
            rows.append({**cells, STATUS: status_of(notebook), **recorded})
    return pd.DataFrame(rows)


def _cell(value):
    return json.dumps(value) if isinstance(value, list) else value


# --- what is written -----------------------------------------------------------------


def _write(path, points, table, out, interrupted):
    csv = out / "sweep.csv"
    write_file(csv, for_spreadsheets(table).to_csv(index=False))
    files = [csv]
    try:
        parquet = _of_one_type(table).to_parquet(index=False)
        write_file(out / "sweep.parquet", parquet)
        files.append(out / "sweep.parquet")
    except ImportError:  # pyarrow is optional
        pass
    summary = _summary(path, points, table, interrupted)
    pages = build_pages({"index": (summary, out)}, own=False, has_index=False)
    write_pages(pages, out)
    return [out / pages[0].file, *files]


def _of_one_type(table):
    """A table whose columns of mixed types are text, as Parquet needs it."""
    mixed = [
        name
        for name in table.columns
        if table[name].dtype == object and table[name].dropna().map(type).nunique() > 1
    ]
    text = {name: table[name].map(str, na_action="ignore") for name in mixed}
    return table.assign(**text)


def _summary(path, points, table, interrupted):
    """A notebook that shows the sweep, made without running anything."""
    title = title_of(read_notebook(path), path.stem)
    swept = [n for n in points[0] if len({str(p[n]) for p in points}) > 1]
    counts = table[STATUS].value_counts() if len(table) else {}
    others = [f"{count} {status}" for status, count in counts.items() if status != OK]
    sentence = (
        f"{len(table)} of {len(points)} runs of {_as_code(path.name)} over "
        f"{', '.join(map(_as_code, swept)) or 'one point'}"
        f"{'; of these ' if others else ''}{', '.join(others)}."
    )
    if interrupted:
        sentence += " The sweep was interrupted; the same command completes it."
    cells = [nbformat.v4.new_markdown_cell(f"# Sweep: {title}\n\n{sentence}")]
    good = table[table[STATUS] == OK] if len(table) else table
    values = [
        name
        for name in good.columns
        if name not in points[0] and good[name].dtype.kind in "if"
    ]
    if values:
        cells.append(nbformat.v4.new_markdown_cell("## Recorded values"))
        cells += [_figure_cell(good, name, swept) for name in values]
    cells.append(nbformat.v4.new_markdown_cell("## All runs"))
    rows = without_formulas(table.to_html(index=False))
    cells.append(_output_cell({"text/html": rows}))
    about = {"source": path.name, "provenance": provenance()}
    return nbformat.v4.new_notebook(cells=cells, metadata={"mebnb": about})


def _as_code(words):
    return f"<code>{escaped(words)}</code>"


def _output_cell(data, metadata=None):
    output = nbformat.v4.new_output("display_data", data, metadata=metadata or {})
    return nbformat.v4.new_code_cell(outputs=[output])


def _figure_cell(table, value, swept):
    """A recorded value over the swept parameters, spread over the seeds."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    import seaborn as sns

    from mebnb import plots

    # Seeds are repeats where something else is swept, too.
    axes = [name for name in swept if not name.startswith("seed")] or swept
    across = max(axes, key=lambda name: table[name].nunique(), default=None)
    colour = next((name for name in axes if name != across), None)
    # Names and values are words: a dollar in them begins no formula.
    with plots.style(), plt.rc_context({"text.parse_math": False}):
        figure, ax = plt.subplots(figsize=(6.4, 3.6))
        if across is None:
            plots.strip_plot(table, y=value, ax=ax)
        elif table[across].dtype.kind in "if":
            sns.lineplot(
                table, x=across, y=value, hue=colour, marker="o", ax=ax,
                errorbar=("pi", 100), palette="colorblind" if colour else None,
            )  # fmt: skip
            if (
                table[across].min() > 0
                and table[across].max() >= 50 * table[across].min()
            ):
                ax.set_xscale("log")
        else:
            plots.strip_plot(table, x=across, y=value, hue=colour, ax=ax)
        image = io.BytesIO()
        figure.savefig(image, format="png")
        plt.close(figure)
    low, middle, high = table[value].quantile([0, 0.5, 1])
    alt = (
        f"{value} over {across or 'the run'}: median {middle:.6g}, "
        f"from {low:.6g} to {high:.6g}."
    )
    png = base64.b64encode(image.getvalue()).decode()
    return _output_cell({"image/png": png}, {"image/png": {"alt": alt}})
