"""Tables of other people: CSV and Parquet files as points, and a word on each column."""

from mebnb.tables.errors import TableError
from mebnb.tables.reading import check_path
from mebnb.tables.table import Table, beside_ours, read_rows, read_table

__all__ = [
    "Table",
    "TableError",
    "beside_ours",
    "check_path",
    "read_rows",
    "read_table",
]
