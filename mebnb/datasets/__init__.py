"""The data sets: where they come from, how they are verified and loaded.

`load_dataset(name)` gives features, labels, the nominal classes and the card
of a data set; `list_datasets()` shows all of them. Files that may be passed on
lie in the clone's `data/`; the others are read from the folder named by the
environment variable MEBNB_DATA_MIRROR.
"""

from mebnb.datasets.cards import Card
from mebnb.datasets.loading import Dataset, list_datasets, load_dataset
from mebnb.datasets.places import MIRROR, DatasetNotAvailable

__all__ = [
    "MIRROR",
    "Card",
    "Dataset",
    "DatasetNotAvailable",
    "list_datasets",
    "load_dataset",
]
