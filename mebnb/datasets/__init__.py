"""The data sets: where they come from, how they are verified and loaded.

`load_dataset(name)` gives features, labels, the nominal classes and the card
of a data set; `list_datasets()` shows all of them. Files that may be passed on
lie in the clone's `data/`. The others are read from the folder named by the
environment variable MEBNB_DATA_MIRROR or downloaded into a cache, the user's or
the one named by MEBNB_CACHE.
"""

from mebnb.datasets.cards import Card
from mebnb.datasets.loading import (
    Dataset,
    dataset_file,
    fetch_dataset,
    gene_expression_labels,
    list_datasets,
    load_dataset,
    verify_datasets,
)
from mebnb.datasets.places import CACHE, MIRROR, DatasetNotAvailable

__all__ = [
    "CACHE",
    "MIRROR",
    "Card",
    "Dataset",
    "DatasetNotAvailable",
    "dataset_file",
    "fetch_dataset",
    "gene_expression_labels",
    "list_datasets",
    "load_dataset",
    "verify_datasets",
]
