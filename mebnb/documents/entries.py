"""What an entry of the check list is, and how it is run.

An entry states one equation, algorithm line, lemma, claim or table rule. Its
`measure` takes a *form* of the statement (a callable, an expression, a set of
numbers) and returns by how much that form is violated. The same measure is run
on the printed form, on the corrected form and on deliberately spoiled forms, so
that a check which cannot fail shows itself.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

DOCUMENTS = ("report", "slides", "me2", "derived")
LOST = "LOST IN THE SCAN"
VERDICTS = ("HOLDS", "HARMLESS", "AMBIGUOUS", LOST, "WRONG")
FAILS_AS_READ = (LOST, "WRONG")


class DataMissing(Exception):
    """Raised by a measure whose data set is not at hand; the message names it."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One checkable statement.

    Attributes
    ----------
    id : str
        "R-E13": document letter (R report, S slides, P paper, X derived) and place.
    document : str
        "report", "slides", "me2" or "derived".
    place : str
        Where it stands: "(13)", "Alg 1 L9", "Table 3", "Convergence". The first three
        need not be said: "R-E13", "R-A1-L9" and "R-T3" say them.
    statement : str
        The formula as printed, LaTeX between dollars; a verbal claim in our words.
    verdict : str
        HOLDS, HARMLESS (right after a slip without consequence), AMBIGUOUS (right in
        one reading only), LOST IN THE SCAN (only the text we read lacks a sign, a
        power or an index: no error of the authors) or WRONG.
    measure : callable
        form -> float, the violation (0 when it holds exactly).
    true : object
        The form that must pass: the printed one where it holds, else the corrected.
    spoiled : mapping
        Name of the damage -> damaged form, written by hand; the measure must reject
        each.
    spoil : callable or None
        true form -> mapping like `spoiled`: damaged forms that can be generated.
    printed : object or None
        The printed form where it differs from `true`; for what is LOST IN THE SCAN the
        form in the text we read. With either verdict it must fail.
    corrected : str
        The corrected statement; empty where the printed one stands.
    witness : str
        The instance on which the printed form fails; every entry that fails as it is
        read has one.
    tolerance : float
        A form passes when its violation is at most this.
    kind : str
        "symbolic", "numeric", "arithmetic" or "data".
    """

    id: str
    document: str
    statement: str
    measure: Callable[[Any], float]
    true: Any
    place: str = ""
    verdict: str = "HOLDS"
    spoiled: Mapping[str, Any] = field(default_factory=dict)
    spoil: Callable[[Any], Mapping[str, Any]] | None = None
    printed: Any = None
    corrected: str = ""
    witness: str = ""
    tolerance: float = 1e-9
    kind: str = "numeric"

    def __post_init__(self):
        if self.document not in DOCUMENTS or self.verdict not in VERDICTS:
            raise ValueError(f"{self.id}: unknown document or verdict")
        if not self.spoiled and self.spoil is None:
            raise ValueError(f"{self.id}: a check needs a spoiled form it must reject")
        if self.fails_as_read and (self.printed is None or not self.witness):
            raise ValueError(
                f"{self.id}: {self.verdict} needs the printed form and a witness"
            )
        if not self.place:
            object.__setattr__(self, "place", _place_in(self.id))

    @property
    def fails_as_read(self):
        """Whether the verdict says that the form we read fails."""
        return self.verdict in FAILS_AS_READ

    def spoiled_forms(self):
        """Every form that the measure must reject.

        Returns
        -------
        dict of str to object
            Name of the damage -> damaged form, the generated ones after the others.
        """
        generated = {} if self.spoil is None else self.spoil(self.true)
        return {**self.spoiled, **generated}


_PLACES = {
    r".-E0*(\d+)": "({})",
    r".-A(\d)-L(\d+)": "Alg {} L{}",
    r".-T(\d)(?:-run)?": "Table {}",
}


def _place_in(name):
    """The equation, line or table whose number an id bears."""
    for pattern, place in _PLACES.items():
        if found := re.fullmatch(pattern, name):
            return place.format(*found.groups())
    raise ValueError(f"{name}: a place is needed, this id does not say it")


@dataclass(frozen=True)
class Outcome:
    """What running one entry gave."""

    entry: Entry
    status: str
    """"run" or "data missing: ..."."""
    violation: float | None = None
    printed_violation: float | None = None
    seconds: float = field(default=0.0, compare=False)

    @property
    def passed(self):
        """True or False; None where data were missing."""
        if self.violation is None:
            return None
        tolerance = self.entry.tolerance
        holds = self.violation <= tolerance
        if self.entry.fails_as_read:
            return holds and not self.printed_violation <= tolerance
        return holds


def run_entry(entry):
    """Run one entry: its true form and, where there is one, its printed form.

    Parameters
    ----------
    entry : Entry

    Returns
    -------
    Outcome
    """
    start = time.perf_counter()
    try:
        violation = float(entry.measure(entry.true))
        printed = None if entry.printed is None else float(entry.measure(entry.printed))
    except DataMissing as missing:
        return Outcome(entry, f"data missing: {missing}", seconds=_since(start))
    return Outcome(entry, "run", violation, printed, _since(start))


def spoiled_forms_that_pass(entry):
    """Names of the spoiled forms that the entry's measure fails to reject.

    Parameters
    ----------
    entry : Entry

    Returns
    -------
    list of str
        Empty for a check that can fail.

    Raises
    ------
    DataMissing
        When the entry's data set is not at hand.
    """
    return [
        name
        for name, form in entry.spoiled_forms().items()
        if float(entry.measure(form)) <= entry.tolerance
    ]


def _since(start):
    return time.perf_counter() - start
