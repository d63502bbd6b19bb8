"""What a report found as a whole, gathered from the sentences that notebooks show.

A comparison with a published table and a table of checks each begin with a sentence
of fixed form (`published.Comparison`, `derivations.DerivationTable`); they are read
from the stored outputs, so that nothing needs to run.
"""

from __future__ import annotations

import re
from collections import Counter

COMPARISON = re.compile(r"^(\w+): (\d+) published cells: ([^;\n]+)", re.MULTILINE)
CHECKS = re.compile(
    r"^\d+ entries \(.*?\): (\d+) passed, (\d+) failed.*?, (\d+) without data",
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
    tables, verdicts, checks = 0, Counter(), Counter()
    for notebook in notebooks:
        text = "\n".join(_texts(notebook))
        for _, _, counts in set(COMPARISON.findall(text)):
            tables += 1
            for part in counts.split(", "):
                number, _, verdict = part.partition(" ")
                verdicts[verdict] += int(number)
        for passed, failed, missing in set(CHECKS.findall(text)):
            checks.update(
                {
                    "passed": int(passed),
                    "failed": int(failed),
                    "without data": int(missing),
                }
            )
    sentences = []
    if tables:
        noun = "table" if tables == 1 else "tables"
        sentences.append(
            f"Published numbers beside ours: {verdicts.total()} in {tables} {noun}, "
            f"{_listed(verdicts)}."
        )
    if checks:
        sentences.append(
            f"Derivations checked by machine: {checks.total()}, {_listed(checks)}."
        )
    return sentences


def _texts(notebook):
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            yield output.get("text", "") or output.get("data", {}).get("text/plain", "")


def _listed(counts):
    return ", ".join(f"{count} {name}" for name, count in counts.items())
