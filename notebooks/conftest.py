"""Under nbval: skip what needs data that are not on this machine, and say so.

Drawings are no more compared than nbval compares PNG: each version of Matplotlib has its
own.

Whole notebooks are named here. A single cell carries the tag "needs-NAME", NAME being
a data set; the cells after it must do without.
"""

from __future__ import annotations

from functools import cache

import pytest

NOTEBOOKS = {
    "10_iranian_churn": ("iranian_churn",),
    "11_vertebral_column": ("vertebral_column", "vertebral_column_3c"),
}
TAG = "needs-"
DRAWING = "image/svg+xml"


def pytest_collection_modifyitems(items):
    """Mark the cells of such notebooks, and cells with such a tag, as skipped."""
    for notebook in {item.parent for item in items if hasattr(item, "cell")}:
        notebook.skip_compare += (DRAWING,)
    for item in items:
        cell = getattr(item, "cell", None)
        if cell is None:
            continue
        tags = cell.metadata.get("tags", [])
        names = [tag.removeprefix(TAG) for tag in tags if tag.startswith(TAG)]
        for name in (*NOTEBOOKS.get(item.path.stem, ()), *names):
            if reason := missing(name):
                item.add_marker(pytest.mark.skip(reason=f"{item.path.stem}: {reason}"))
                break


@cache
def missing(name):
    """Why a data set is not at hand, in one sentence; empty where it is."""
    from mebnb.datasets import DatasetNotAvailable, load_dataset

    try:
        load_dataset(name, download=False)
    except DatasetNotAvailable as error:
        return str(error)
    return ""
