"""Run one notebook with papermill and say how it went."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import nbformat

from mebnb.report import CELL_TIMEOUT, ReportError
from mebnb.report.folders import without_folders
from mebnb.report.machine import describe_machine
from mebnb.report.notebooks import CLONE, read_notebook, tags
from mebnb.report.parameters import files_in_full, is_file
from mebnb.report.runner import Interrupted
from mebnb.report.stepping import STYLES

OK = "ok"
FAILED = "failed"
DATA_MISSING = "data not available"
INTERRUPTED = "interrupted"
STORED = "as committed"
CHANGED = "inputs changed meanwhile"

WORKER = Path(__file__).with_name("worker.py")
DATA_ERRORS = ("DatasetNotAvailable", "DataMissing")
IN_NOTEBOOKS = (
    "folding.py", "notebooks.py", "recording.py", "source.py", "stepping.py", "words.py",
    *STYLES,
)  # fmt: skip
ERROR_MARKER = "papermill-error-cell-tag"
MARK = "inputs_changed"
PACKAGES = (
    "mebnb", "numpy", "scipy", "numba", "pandas", "scikit-learn", "matplotlib",
    "seaborn", "sympy", "papermill", "nbconvert",
)  # fmt: skip


# --- running -------------------------------------------------------------------------


def run_notebook(path, parameters=None, *, cwd=None, timeout=CELL_TIMEOUT, stop=None):
    """Run a notebook in a kernel of this environment.

    Parameters
    ----------
    path : path
        The notebook; it is not changed.
    parameters : dict, optional
        Checked values, see `assign_parameters`.
    cwd : path, optional
        Where its kernel runs, and what the names of files are relative to. By default
        the kernel runs in the notebook's own folder, as in JupyterLab, and the names
        of files are relative to the caller's.
    timeout : float
        Seconds that one cell may take.
    stop : threading.Event, optional
        Ends the run early when set.

    Returns
    -------
    NotebookNode
        The executed notebook, also when a cell failed; `status_of` tells.

    Raises
    ------
    Interrupted
        When `stop` was set before the end.
    """
    path, given = Path(path).resolve(), parameters or {}
    asked = files_in_full(given) if cwd is None else given
    inputs = fingerprint(path, parameters)
    began, clock = datetime.now(UTC), time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mebnb-") as folder:
        executed = Path(folder) / path.name
        job = {
            "input_path": str(path),
            "output_path": str(executed),
            "parameters": asked,
            "kernel_name": "python3",
            "language": "python",
            "cwd": str(cwd or path.parent),
            "progress_bar": False,
            "execution_timeout": timeout,
        }
        error = _work(job, stop)
        notebook = read_notebook(executed if executed.exists() else path)
    if error:
        _put_error_into_last_cell(notebook, error, timeout)
    name_as_given(notebook, asked, given)
    _tidy(notebook, path)
    notebook.metadata["mebnb"] = {
        "began": began.isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - clock, 1),
        "fingerprint": inputs,
        "provenance": provenance(),
        "machine": describe_machine(),
    }
    mark_if_changed(notebook, path, parameters)
    return notebook


def _work(job, stop):
    """Hand the job to a worker; return the error that no cell shows, or None."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as log,
        subprocess.Popen(
            [sys.executable, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=_quiet_environment(),
            start_new_session=True,  # Ctrl-C is for us to handle, in `stop`
        ) as worker,
    ):
        worker.stdin.write(json.dumps(job) + "\n")
        worker.stdin.flush()
        while worker.poll() is None:
            if stop is not None and stop.is_set():
                worker.stdin.close()
                worker.wait()
                raise Interrupted(job["input_path"])
            try:
                worker.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                continue
        answer = worker.stdout.read()
        if not answer:
            log.seek(0)
            last = (log.read().strip().splitlines() or ["no message"])[-1]
            return {"kind": "WorkerDied", "message": last}
    return json.loads(answer)


def _quiet_environment():
    """One BLAS thread a kernel, the kernel of this environment, no idle warnings."""
    environment = dict(os.environ)
    environment.pop("JUPYTER_PATH", None)
    threads = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM")
    environment.update({f"{name}_NUM_THREADS": "1" for name in threads[:-1]})
    environment["VECLIB_MAXIMUM_THREADS"] = "1"
    environment["JUPYTER_PREFER_ENV_PATH"] = "1"
    environment["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    return environment


def _put_error_into_last_cell(notebook, error, timeout):
    """Show a time-out or a dead kernel where it happened: in the last begun cell."""
    timed_out = error["kind"] == "CellTimeoutError"
    if timed_out:
        kind = "TimeoutError"
        message = f"the cell took longer than {timeout:g} s and was stopped"
    elif error["kind"] == "DeadKernelError":
        kind, message = "DeadKernelError", "the kernel died while the cell ran"
    else:
        kind, message = error["kind"], error["message"].strip()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    begun = [c for c in code if c.metadata.get("papermill", {}).get("start_time")]
    if not code:
        notebook.cells.append(nbformat.v4.new_code_cell())
        code = notebook.cells[-1:]
    cell = begun[-1] if begun else code[0]
    if timed_out:  # the interruption that stopped the cell says nothing more
        cell.outputs = [out for out in cell.outputs if out.output_type != "error"]
    cell.outputs.append(
        nbformat.v4.new_output(
            "error", ename=kind, evalue=message, traceback=[f"{kind}: {message}"]
        )
    )


def _tidy(notebook, path):
    """Remove what papermill adds for its own display, and paths of this machine."""
    notebook.cells = [cell for cell in notebook.cells if ERROR_MARKER not in tags(cell)]
    about = notebook.metadata.get("papermill", {})
    for key in ("input_path", "output_path"):
        if about.get(key):
            about[key] = path.name
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr":
                output.text = without_folders(output.text)


def name_as_given(notebook, asked, given):
    """Name files in an executed notebook as the caller named them, in place.

    Parameters
    ----------
    notebook : NotebookNode
    asked : dict
        The parameters of the run, with files by their full path.
    given : dict
        The same parameters as they were given.
    """
    for name, full in asked.items():
        if full != given[name]:
            for part in (notebook.cells, notebook.metadata):
                _replace(part, full, given[name])


def _replace(node, old, new):
    """Replace text wherever it stands in nested lists and mappings."""
    for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
        if isinstance(value, str):
            node[key] = value.replace(old, new)
        elif isinstance(value, (dict, list)):
            _replace(value, old, new)


# --- how it went ---------------------------------------------------------------------


def errors_of(notebook):
    """The errors that cells show and are not meant to: (number, name, output) triples.

    The number counts all cells from 1; the name is "In [3]" as in JupyterLab, or
    "cell 5" where the cell has no execution count.
    """
    return [
        (number, _name(cell, number), output)
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type == "code" and "raises-exception" not in tags(cell)
        for output in cell.outputs
        if output.output_type == "error"
    ]


def _name(cell, number):
    count = cell.get("execution_count")
    return f"cell {number}" if count is None else f"In [{count}]"


def status_of(notebook):
    """ "ok", "failed", "data not available" or "inputs changed meanwhile"."""
    errors = errors_of(notebook)
    if not errors:
        return CHANGED if notebook.metadata.get("mebnb", {}).get(MARK) else OK
    missing = all(output.ename in DATA_ERRORS for *_, output in errors)
    return DATA_MISSING if missing else FAILED


# --- provenance ----------------------------------------------------------------------


def provenance():
    """Python, package versions and git commit, name -> text."""
    commit = git_commit()
    return {**versions(), "git commit": commit} if commit else versions()


@functools.cache
def versions():
    """Python and package versions, name -> text."""
    facts = {"Python": platform.python_version(), "system": platform.system()}
    for name in PACKAGES:
        try:
            facts[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return facts


def git_commit():
    """The short hash of the clone's commit, or None where there is no git clone."""
    try:
        commit = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{commit} with local changes" if changed else commit


def commit_day(path):
    """The day of the last commit of a file of the clone, "" where there is none."""
    try:
        return _git("log", "-1", "--format=%cs", "--", str(path))
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(*arguments):
    # A clone inside some other project's repository has no commit of its own.
    if not (CLONE / ".git").exists():
        raise FileNotFoundError(".git")
    run = subprocess.run(
        ["git", "-C", str(CLONE), *arguments],
        capture_output=True, text=True, check=True, timeout=20,
    )  # fmt: skip
    return run.stdout.strip()


def fingerprint(path, parameters=None):
    """A hash of all that the outcome of a run depends on.

    The notebook's cells (not their outputs), the parameters and the files that they
    name, the package, the committed data (whatever is downloaded is verified against
    hashes that stand in the package) and the versions of the packages under it.
    """
    digest = hashlib.sha256()
    for cell in read_notebook(path).cells:
        digest.update(json.dumps([cell.cell_type, tags(cell), cell.source]).encode())
    digest.update(json.dumps(parameters or {}, sort_keys=True).encode())
    digest.update(json.dumps(versions(), sort_keys=True).encode())
    for name, value in (parameters or {}).items():
        if is_file(name, value):
            with open(value, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    for file in _files_that_matter():
        digest.update(file.relative_to(CLONE).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def mark_if_changed(notebook, path, parameters=None):
    """Mark a run whose notebook, package or data file is another by now.

    Of such a run nobody can say which version it shows, nor does it belong beside
    runs of the other version.

    Parameters
    ----------
    notebook : NotebookNode
        From `run_notebook`, perhaps read again.
    path : path
        What was run.
    parameters : dict, optional
        As they were given.
    """
    noted = notebook.metadata["mebnb"]
    try:
        current = fingerprint(path, parameters)
    except (ReportError, OSError):  # gone, or half-saved just now
        current = None
    if noted["fingerprint"] != current:
        noted[MARK] = True


def _files_that_matter():
    package = Path(__file__).resolve().parents[1]
    for folder in (package, CLONE / "data", CLONE / "benchmarks" / "results"):
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".pyc", ".nbi", ".nbc") or not file.is_file():
                continue
            # How a page looks changes nothing in what a run gives, but for the modules
            # of the report that notebooks import and the styles that these put out.
            looks = file.is_relative_to(package / "report")
            if not looks or file.name in IN_NOTEBOOKS:
                yield file
