"""What was published: the tables as CSV, their comparison, and the map of the documents."""
