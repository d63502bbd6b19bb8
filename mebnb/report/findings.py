"""What a report found as a whole, gathered from the sentences that notebooks show.

A comparison with a published table and a table of checks each begin with a sentence
of fixed form (`published.Comparison`, `derivations.DerivationTable`); they are read
from the stored outputs, so that nothing needs to run.
"""

from __future__ import annotations

import re
from collections import Counter

from mebnb.published.compare import VERDICTS, said_of
from mebnb.report.words import counted

# A stranger's output may begin like ours: only short plain numbers are taken for counts.
NUMBER = "[0-9]{1,9}"
COUNT = f"{NUMBER} [a-z ]+"
COMPARISON = re.compile(
    rf"^(\w+): ({NUMBER}) published cells: ({COUNT}(?:, {COUNT})*)(?=;|$)",
    re.MULTILINE,
)
CHECKS = re.compile(
    rf"^{NUMBER} entries \(.*?\): ({NUMBER}) passed, ({NUMBER}) failed.*?, "
    rf"({NUMBER}) without data",
    re.MULTILINE,
)


def findings(notebooks):
    """Sentences about all comparisons and checks of executed notebooks.

    Parameters
    ----------
    notebooks : iterable of NotebookNode

    Returns
    -------
    list of str
        Empty where no notebook compares or checks anything.
    """
    notebooks = list(notebooks)
    return [line for line in (compared(notebooks), checked(notebooks)) if line]


def compared(notebooks):
    """One sentence about published numbers beside ours, or an empty one.

    Of a table that a notebook compares more than once, as with other seeds, the first
    comparison counts.
    """
    tables, verdicts = 0, Counter()
    for notebook in notebooks:
        first = {}
        for name, _, counts in COMPARISON.findall("\n".join(_texts(notebook))):
            first.setdefault(name, counts)
        tables += len(first)
        for part in (part for counts in first.values() for part in counts.split(", ")):
            number, _, verdict = part.partition(" ")
            verdicts[verdict] += int(number)
    if not tables:
        return ""
    return (
        f"Of {counted(verdicts.total(), 'published number')} in "
        f"{counted(tables, 'table')}, {_listed(verdicts)}."
    )


def checked(notebooks):
    """One sentence about the checks that notebooks show, or an empty one."""
    checks = Counter()
    for notebook in notebooks:
        text = "\n".join(_texts(notebook))
        for counts in dict.fromkeys(CHECKS.findall(text)):
            numbers = map(int, counts)
            checks.update(dict(zip(("passed", "failed", "without data"), numbers)))
    if not checks:
        return ""
    shown = f"Notebooks show {counted(checks.total(), 'check')}: "
    if checks["passed"] == checks.total():
        return shown + ("it" if checks.total() == 1 else "all") + " passed."
    return f"{shown}{_listed(checks)}."


def _texts(notebook):
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain")
            if isinstance(text, str):
                yield text


def _listed(counts):
    """The best first; of what there is none, nothing is said."""
    known = {verdict: place for place, verdict in enumerate(VERDICTS)}
    ordered = sorted(counts.items(), key=lambda item: known.get(item[0], len(known)))
    return ", ".join(
        f"{count} {_verb(name, count)}" for name, count in ordered if count
    )


def _verb(name, count):
    """A verdict as it is said of so many: 4 differ, 1 differs, 2 are not comparable."""
    if name.partition(" ")[0] not in ("differs", "agrees", "passed", "failed"):
        return f"{'is' if count == 1 else 'are'} {name}"
    return said_of(count, name)
