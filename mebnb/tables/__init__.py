"""Tables of other people: CSV and Parquet files read as points, with a word on each column."""

from mebnb.tables.errors import TableError
from mebnb.tables.table import Table, read_table

__all__ = ["Table", "TableError", "read_table"]
