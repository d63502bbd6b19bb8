"""Make a report: run what was asked for, reuse what is unchanged, export all of it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from mebnb.report import CELL_TIMEOUT, ReportError
from mebnb.report.citing import write_references
from mebnb.report.errata import write_errata
from mebnb.report.front import read_book, write_front
from mebnb.report.index import write_index, write_status
from mebnb.report.missing import with_stored_outputs
from mebnb.report.notebooks import (
    list_notebooks,
    read_notebook,
    title_of,
    write_notebook,
)
from mebnb.report.pages import build_pages, chapters_of, write_pages
from mebnb.report.reference import write_reference
from mebnb.report.runner import run_side_by_side, say
from mebnb.report.running import (
    CHANGED,
    DATA_MISSING,
    FAILED,
    OK,
    commit_day,
    fingerprint,
    mark_if_changed,
    run_notebook,
    status_of,
)
from mebnb.report.search import write_search
from mebnb.writing import check_folder

KEPT = "notebooks"  # the folder of the report that keeps the executed notebooks
REUSED = "unchanged, reused"


@dataclass
class Report:
    """What came out.

    Attributes
    ----------
    index : Path
    pages : list of Path
    failed : list of str
        Notebooks of this run that failed, also by a problem of their page.
    changed : list of str
        Notebooks of this run that were edited meanwhile, or whose data or package was.
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
    changed: list[str] = field(default_factory=list)
    interrupted: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def make_report(
    paths,
    parameters,
    out,
    *,
    jobs=1,
    with_code=True,
    force=False,
    timeout=CELL_TIMEOUT,
    say=say,
    statements=(),
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
    statements : sequence of Entry
        The examined statements, which have a page of their own.

    Returns
    -------
    Report

    Raises
    ------
    CannotWrite
        At once where the folder cannot be written to, else at the first file.
    """
    kept = _kept(out)
    width = max(len(path.stem) for path in paths)

    def run(path, stop):
        clock = time.perf_counter()
        note = _run_or_reuse(path, parameters[path], kept, force, timeout, stop)
        return f"{path.stem:<{width}}  {note}  {time.perf_counter() - clock:.1f} s"

    interrupted = run_side_by_side(paths, run, jobs, say)
    for path in paths:
        if path not in interrupted:
            _mark(kept / path.name, path, parameters[path])
    return _export(paths, kept, interrupted, with_code, statements)


def export_stored(paths, out, *, with_code=True, statements=()):
    """Write the pages of notebooks as they lie in the clone, running nothing.

    Parameters and result as in `make_report`.
    """
    kept = _kept(out)
    for path in paths:
        write_notebook(read_notebook(path), kept / path.name)
    return _export(paths, kept, [], with_code, statements, stored=True)


def _kept(out):
    """The folder of the executed notebooks, which can be written to."""
    kept = Path(out) / KEPT
    check_folder(kept, out)
    return kept


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
    CannotWrite
    """
    names = Counter(path.stem for path in paths)
    double = [name for name, count in names.items() if count > 1]
    if double:
        raise ReportError(f"two notebooks have the name {double[0]}; rename one")
    notebooks = {path.stem: (read_notebook(path), path.parent) for path in paths}
    check_folder(out)
    several = len(paths) > 1
    pages = build_pages(notebooks, own=False, with_code=with_code, has_index=several)
    write_pages(pages, out)
    files = [write_index(out, pages)] if several else []
    files += [Path(out) / page.file for page in pages]
    return files, [f"{page.name}, {text}" for page in pages for text in page.problems]


# --- running -------------------------------------------------------------------------


def _run_or_reuse(path, parameters, kept, force, timeout, stop):
    """Run one notebook; return its status, or that an earlier run is reused."""
    target = kept / path.name
    if not force and is_current(target, path, parameters):
        return REUSED
    notebook = run_notebook(path, parameters, timeout=timeout, stop=stop)
    write_notebook(notebook, target)
    return status_of(notebook)


def _mark(target, path, parameters):
    """Mark what was edited between its own run and the end of all runs."""
    notebook = read_notebook(target)
    before = status_of(notebook)
    mark_if_changed(notebook, path, parameters)
    if status_of(notebook) != before:
        write_notebook(notebook, target)


def is_current(target, path, parameters):
    """Whether an executed notebook is what running it again would give."""
    try:
        earlier = read_notebook(target)
    except ReportError:  # not there, or spoiled
        return False
    noted = earlier.metadata.get("mebnb", {}).get("fingerprint")
    return status_of(earlier) == OK and noted == fingerprint(path, parameters)


def _to_show(target, source):
    """An executed notebook, or the stored one where its data is not here."""
    executed = read_notebook(target)
    if status_of(executed) != DATA_MISSING or not source.is_file():
        return executed
    return with_stored_outputs(executed, read_notebook(source), commit_day(source))


# --- exporting -----------------------------------------------------------------------


def _export(paths, kept, interrupted, with_code, statements, stored=False):
    out = kept.parent
    chosen = {path.name: path for path in paths if path not in interrupted}
    folder = paths[0].parent
    skipped = {path.name for path in interrupted}
    notebooks = {
        path.stem: (_to_show(path, folder / path.name), folder)
        for path in list_notebooks(kept)
        if path.name in chosen or path.name not in skipped
    }
    pages = build_pages(notebooks, with_code=with_code)
    write_pages(pages, out)
    mine = {path.stem for path in chosen.values()}
    write_status(
        out,
        pages,
        interrupted=[(p.stem, title_of(read_notebook(p), p.stem)) for p in interrupted],
        stored=stored,
        earlier={page.name for page in pages} - mine,
    )
    write_reference(out, chapters_of(pages))
    problems = write_errata(out, statements, pages, chapters_of(pages))
    terms = read_book(folder).get("terms", ())
    write_search(out, pages, chapters_of(pages), statements, terms)
    index, of_front = write_front(out, pages, folder, statements)
    _, uncited = write_references(out, pages, folder, chapters_of(pages))
    new = [page for page in pages if page.name in mine]
    return Report(
        index,
        pages=[out / page.file for page in pages],
        failed=[page.name for page in new if page.status == FAILED],
        changed=[page.name for page in new if page.status == CHANGED],
        interrupted=[path.stem for path in interrupted],
        problems=[
            *problems,
            *of_front,
            *uncited,
            *(f"{page.name}, {text}" for page in new for text in page.problems),
        ],
        notes=[f"{page.name}, {text}" for page in new for text in page.notes],
    )
