"""Run notebooks in place and store them clean: `make store NOTEBOOK=...`.

What is stored holds outputs and execution counts 1..n, and nothing of the machine:
no timings, no version of the interpreter, no widget state. Cells that the map of the
documents links to keep their ids, and so do those named as a figure or table
(`figure-levels`) for references to it; the others are numbered.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from mebnb.published.map import linked_cells
from mebnb.report.notebooks import write_notebook

NAMED = re.compile(r"(figure|table)-[a-z][a-z-]*")
KERNEL = {
    "display_name": "Python 3 (ipykernel)",
    "language": "python",
    "name": "python3",
}


def store(path, timeout=1800):
    """Run a notebook and write it back, clean.

    Parameters
    ----------
    path : path
    timeout : float
        Seconds that one cell may take.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        When a cell fails; the file is left as it was.
    """
    path = Path(path)
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name=KERNEL["name"],
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    )
    linked = linked_cells(path.stem)
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if cell["id"] not in linked and not NAMED.fullmatch(cell["id"]):
            cell["id"] = f"cell-{number:02d}"
    write_notebook(notebook, path)


def main(argv=None):
    """Store each notebook named on the command line."""
    parser = argparse.ArgumentParser(
        description="Run notebooks in place and store them clean: `make store NOTEBOOK=...`."
    )
    parser.add_argument("notebooks", nargs="+", type=Path)
    for path in parser.parse_args(argv).notebooks:
        store(path)
        print(f"stored {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
