"""Run the notebooks of an archive again and compare all that they show.

An archive may come from anybody, so nothing in it is run: the notebooks of this clone
are, with the archive's parameters, and only where their cells are the same as those in
the archive. Its pages are not compared: whoever made it may have written other numbers
there than in the notebooks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from mebnb.report import CELL_TIMEOUT, ReportError
from mebnb.report.comparing import (
    DIFFERS,
    EQUAL,
    IGNORED,
    ROUNDING,
    RTOL,
    VERDICTS,
    compare_notebooks,
    own_cells,
)
from mebnb.report.notebooks import notebooks_folder, read_notebook, tags
from mebnb.report.parameters import assign_parameters, given_parameters, own_files
from mebnb.report.runner import run_side_by_side, say
from mebnb.report.running import OK, errors_of, provenance, run_notebook, status_of
from mebnb.report.unpacking import read_archive
from mebnb.report.words import printable

MOST_TOLD = 10  # differences told of one notebook


@dataclass
class Rerun:
    """One notebook of the archive.

    Attributes
    ----------
    name : str
    refusal : str
        Why nothing was compared, "" otherwise.
    compared : list of Compared
    versions : list of str
        What the two runs were made with where it differs.
    """

    name: str
    refusal: str = ""
    compared: list = field(default_factory=list)
    versions: list[str] = field(default_factory=list)

    @property
    def counts(self):
        """Verdict -> number of outputs."""
        return Counter(one.verdict for one in self.compared)


@dataclass
class Verified:
    """All notebooks of an archive; as text it is the table of comparisons.

    Attributes
    ----------
    reruns : list of Rerun
    interrupted : bool
    """

    reruns: list[Rerun]
    interrupted: bool = False

    @property
    def passed(self):
        """Whether every notebook was compared and nothing differs."""
        return not self.interrupted and not any(
            rerun.refusal or rerun.counts[DIFFERS] for rerun in self.reruns
        )

    def __str__(self):
        return "\n".join([*_table(self.reruns), *_told(self.reruns), _sum(self)])


def verify_archive(file, *, jobs=1, timeout=CELL_TIMEOUT, say=say):
    """Run the clone's notebooks as the archive's were run, and compare the outputs.

    Parameters
    ----------
    file : path
    jobs : int
        Notebooks that run at the same time.
    timeout : float
        Seconds that one cell may take.
    say : callable
        Gets one line of progress for each notebook.

    Returns
    -------
    Verified

    Raises
    ------
    ReportError
        When the file is not an archive of a report, see `read_archive`.
    """
    archived = read_archive(file)
    folder, reruns = notebooks_folder(), {}
    width = max(map(len, archived))

    def run(name, stop):
        rerun = _rerun(name, archived[name], folder / f"{name}.ipynb", timeout, stop)
        reruns[name] = rerun
        return f"{name:<{width}}  {rerun.refusal or _brief(rerun.counts)}"

    interrupted = run_side_by_side(list(archived), run, jobs, say)
    return Verified(
        [reruns[name] for name in archived if name in reruns], bool(interrupted)
    )


def _rerun(name, before, path, timeout, stop):
    given = given_parameters(before)
    refusal = _refusal(before, path, given)
    if refusal:
        return Rerun(name, _printable(refusal))
    after = run_notebook(path, given, timeout=timeout, stop=stop)
    if status_of(after) != OK:
        what = [f", {cell}: {error.evalue}" for _, cell, error in errors_of(after)[:1]]
        return Rerun(name, _printable(f"{status_of(after)}{''.join(what)}"))
    return Rerun(name, "", compare_notebooks(before, after), _versions(before))


def _refusal(before, path, given):
    """Why the notebook is not run again, "" where it is."""
    if not path.is_file():
        return "no notebook of this clone"
    if sources(before) != sources(read_notebook(path)):
        return "its code or text is another in this clone; nothing of it was run"
    if own_files(given):
        return "it was run on a file of its own, which no archive holds"
    try:
        assign_parameters([path], given.items())
    except ReportError as error:
        return str(error)
    return ""


def sources(notebook):
    """The cells as they are run, without the parameters that a run was given."""
    return [(cell.cell_type, tags(cell), cell.source) for cell in own_cells(notebook)]


def _versions(before):
    """Versions of the archive's run that are others here."""
    now = provenance()
    then = before.metadata.get("mebnb", {}).get("provenance", {})
    return [
        f"{name} {then[name]} -> {now[name]}"
        for name in now
        if name in then and then[name] != now[name]
    ]


# --- what is told --------------------------------------------------------------------


def _table(reruns):
    width = max([len(rerun.name) for rerun in reruns] + [len("notebook")])
    yield f"{'notebook':<{width}}  outputs  " + "  ".join(VERDICTS)
    for rerun in reruns:
        if rerun.refusal:
            yield f"{rerun.name:<{width}}  not compared: {rerun.refusal}"
            continue
        counts = [f"{rerun.counts[v]:>{len(v)}}" for v in VERDICTS]
        yield f"{rerun.name:<{width}}  {len(rerun.compared):>7}  " + "  ".join(counts)


def _told(reruns):
    """The differences, and what the runs were made with."""
    for rerun in reruns:
        told = [one for one in rerun.compared if one.verdict in (DIFFERS, ROUNDING)]
        told.sort(key=lambda one: one.verdict != DIFFERS)
        for one in told[:MOST_TOLD]:
            words = f"cell {one.cell}, {one.kind} {one.verdict}: {one.note}"
            yield f"{rerun.name}, {_printable(words)}"
        if len(told) > MOST_TOLD:
            yield f"{rerun.name}: {len(told) - MOST_TOLD} more"
    for line in dict.fromkeys(line for rerun in reruns for line in rerun.versions):
        yield f"made with other versions: {_printable(line)}"


def _sum(verified):
    outputs = [one for rerun in verified.reruns for one in rerun.compared]
    figures = Counter(
        one.note or "same numbers"
        for one in outputs
        if one.kind == "figure" and one.verdict == EQUAL
    )
    kinds = Counter(one.kind for one in outputs if one.verdict != IGNORED)
    parts = [f"{count} {kind}s" for kind, count in sorted(kinds.items())]
    equal = ", ".join(f"{count} by {how}" for how, count in sorted(figures.items()))
    lines = [f"compared: {', '.join(parts) or 'nothing'}"]
    if equal:
        lines.append(f"figures equal: {equal}")
    lines.append(
        f"rounding: a relative difference of at most {RTOL:g}, whole numbers none; "
        "a color one step of 255"
    )
    total = sum((rerun.counts for rerun in verified.reruns), Counter())
    refused = sum(bool(rerun.refusal) for rerun in verified.reruns)
    verdict = "verified" if verified.passed else "NOT verified"
    refusals = f", {refused} notebooks not compared" if refused else ""
    lines.append("pages are not compared: export the notebooks for your own")
    lines.append(f"{verdict}: {_brief(total)}{refusals}")
    return "\n".join(lines)


def _brief(counts):
    return ", ".join(f"{counts[v]} {v}" for v in VERDICTS if counts[v]) or "no output"


def _printable(text):
    """A line of an archive's words, in which nothing steers the terminal."""
    return printable(" ".join(str(text).split()))
