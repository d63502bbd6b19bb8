"""A notebook whose data is not here: its page shows what the clone has stored."""

from __future__ import annotations

import copy

from mebnb.report.running import DATA_MISSING, OK, errors_of, status_of

NOTE = "missing_data"


def with_stored_outputs(executed, stored, when=""):
    """The stored notebook, marked, in place of a run that lacked its data.

    Parameters
    ----------
    executed, stored : NotebookNode
    when : str
        The day on which the stored outputs came into the clone, "" if unknown.

    Returns
    -------
    NotebookNode
        The executed one where it did not lack data, or where nothing whole is stored.
    """
    has_outputs = any(cell.get("outputs") for cell in stored.cells)
    lacked = status_of(executed) == DATA_MISSING
    if not (lacked and has_outputs and status_of(stored) == OK):
        return executed
    shown = copy.deepcopy(stored)
    message = next(output.evalue for *_, output in errors_of(executed))
    about = {NOTE: {"when": when, "message": message}}
    source = executed.metadata.get("mebnb", {}).get("source")
    shown.metadata["mebnb"] = about | ({"source": source} if source else {})
    return shown


def note_of(notebook):
    """What the banner of such a page says, "" for any other page."""
    note = notebook.metadata.get("mebnb", {}).get(NOTE)
    if not note:
        return ""
    when = f" on {note['when']}" if note["when"] else ""
    return (
        f"shown as stored{when}, with the defaults of all parameters: {note['message']}"
    )
