"""Tables of other people: CSV and Parquet files as points, and a word on each column."""

from mebnb.your_data.reading import check_path
from mebnb.your_data.table import Table, beside_ours, read_rows, read_table
from mebnb.your_data.words import TableError

__all__ = [
    "Table",
    "TableError",
    "beside_ours",
    "check_path",
    "read_rows",
    "read_table",
]
