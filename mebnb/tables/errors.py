"""What is raised for a file that cannot become points."""


class TableError(ValueError):
    """A file, or what was asked of it, cannot become points; one sentence says why."""
