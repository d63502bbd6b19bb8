"""Make a report: run what was asked for, reuse what is unchanged, export all of it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from mebnb.report import CELL_TIMEOUT, ReportError
from mebnb.report.index import write_index
from mebnb.report.notebooks import (
    list_notebooks,
    read_notebook,
    title_of,
    write_notebook,
)
from mebnb.report.pages import build_pages, write_pages
from mebnb.report.reference import write_reference
from mebnb.report.running import (
    FAILED,
    OK,
    Interrupted,
    fingerprint,
    run_notebook,
    status_of,
)

KEPT = "notebooks"  # the folder of the report that keeps the executed notebooks


@dataclass
class Report:
    """What came out.

    Attributes
    ----------
    index : Path
    pages : list of Path
    failed : list of str
        Notebooks of this run that failed, also by a problem of their page.
    interrupted : list of str
        Notebooks that were not finished.
    problems : list of str
        What is wrong with pages: notebook, cell and what.
    notes : list of str
        Links that lead nowhere and are plain text on the page.
    """

    index: Path
    pages: list[Path] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    interrupted: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _say(line):
    """Print a line at once, also into a file or a pipe."""
    print(line, flush=True)


def make_report(
    paths,
    parameters,
    out,
    *,
    jobs=1,
    with_code=True,
    force=False,
    timeout=CELL_TIMEOUT,
    say=_say,
):
    """Run notebooks and write their pages and an index.

    Parameters
    ----------
    paths : list of Path
        The notebooks, in reading order.
    parameters : dict
        path -> {name: value}, as `assign_parameters` returns it.
    out : path
        The report's folder. Pages of other notebooks that an earlier run left there
        stay in the index.
    jobs : int
        Notebooks that run at the same time.
    with_code : bool
        Whether the pages hold the code cells.
    force : bool
        Run also what has not changed since the last run.
    timeout : float
        Seconds that one cell may take.
    say : callable
        Gets one line of progress for each notebook.

    Returns
    -------
    Report
    """
    kept = Path(out) / KEPT
    kept.mkdir(parents=True, exist_ok=True)

    def make(path, stop):
        return _run_or_reuse(path, parameters[path], kept, force, timeout, stop)

    interrupted = _run_all(paths, make, jobs, say)
    return _export(paths, kept, interrupted, with_code, say)


def export_stored(paths, out, *, with_code=True, say=_say):
    """Write the pages of notebooks as they lie in the clone, running nothing.

    Parameters and result as in `make_report`.
    """
    kept = Path(out) / KEPT
    kept.mkdir(parents=True, exist_ok=True)
    for path in paths:
        write_notebook(read_notebook(path), kept / path.name)
    return _export(paths, kept, [], with_code, say, stored=True)


def export_files(paths, out, *, with_code=True):
    """Write pages of executed notebooks from anywhere, with an index if several.

    Parameters
    ----------
    paths : list of Path
        Their names must differ.
    out : path
        The folder of the pages.
    with_code : bool
        Whether the pages hold the code cells.

    Returns
    -------
    files : list of Path
        The pages, the index first where there is one.
    problems : list of str
        What is wrong with pages: notebook, cell and what.

    Raises
    ------
    ReportError
        For a file that is no notebook, and for two of the same name.
    """
    names = Counter(path.stem for path in paths)
    double = [name for name, count in names.items() if count > 1]
    if double:
        raise ReportError(f"two notebooks have the name {double[0]}; rename one")
    notebooks = {path.stem: (read_notebook(path), path.parent) for path in paths}
    several = len(paths) > 1
    pages = build_pages(notebooks, own=False, with_code=with_code, has_index=several)
    write_pages(pages, out)
    files = [write_index(out, pages)] if several else []
    files += [Path(out) / page.file for page in pages]
    return files, [f"{page.name}, {text}" for page in pages for text in page.problems]


# --- running -------------------------------------------------------------------------


def _run_or_reuse(path, parameters, kept, force, timeout, stop):
    """Run one notebook; return its status and whether an earlier run was reused."""
    target = kept / path.name
    if not force and is_current(target, path, parameters):
        return OK, True
    notebook = run_notebook(path, parameters, timeout=timeout, stop=stop)
    write_notebook(notebook, target)
    return status_of(notebook), False


def is_current(target, path, parameters):
    """Whether an executed notebook is what running it again would give."""
    if not target.exists():
        return False
    earlier = read_notebook(target)
    noted = earlier.metadata.get("mebnb", {}).get("fingerprint")
    return status_of(earlier) == OK and noted == fingerprint(path, parameters)


def _run_all(paths, make, jobs, say):
    """Run notebooks side by side; return those that an interruption left undone."""
    stop = threading.Event()
    width = max(len(path.stem) for path in paths)
    undone = list(paths)

    def timed(path):
        if stop.is_set():
            raise Interrupted(path)
        clock = time.perf_counter()
        status, reused = make(path, stop)
        return status, reused, time.perf_counter() - clock

    def tell(future):
        path = futures[future]
        try:
            status, reused, seconds = future.result()
        except Interrupted:
            return
        undone.remove(path)
        note = "unchanged, reused" if reused else status
        number = len(paths) - len(undone)
        say(f"[{number}/{len(paths)}] {path.stem:<{width}}  {note}  {seconds:.1f} s")

    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(timed, path): path for path in paths}
        waiting = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    tell(future)
        except KeyboardInterrupt:
            stop.set()
            for future in wait(waiting).done:
                tell(future)
    return undone


# --- exporting -----------------------------------------------------------------------


def _export(paths, kept, interrupted, with_code, say, stored=False):
    out = kept.parent
    chosen = {path.name: path for path in paths if path not in interrupted}
    folder = paths[0].parent
    skipped = {path.name for path in interrupted}
    notebooks = {
        path.stem: (read_notebook(path), folder)
        for path in list_notebooks(kept)
        if path.name in chosen or path.name not in skipped
    }
    pages = build_pages(notebooks, with_code=with_code)
    write_pages(pages, out)
    mine = {path.stem for path in chosen.values()}
    index = write_index(
        out,
        pages,
        interrupted=[(p.stem, title_of(read_notebook(p), p.stem)) for p in interrupted],
        stored=stored,
        earlier={page.name for page in pages} - mine,
        reference=write_reference(out).name,
    )
    new = [page for page in pages if page.name in mine]
    return Report(
        index,
        pages=[out / page.file for page in pages],
        failed=[page.name for page in new if page.status == FAILED],
        interrupted=[path.stem for path in interrupted],
        problems=[f"{page.name}, {text}" for page in new for text in page.problems],
        notes=[f"{page.name}, {text}" for page in new for text in page.notes],
    )
