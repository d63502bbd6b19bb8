"""What the checks of the documents share: clouds, symbols, and lines as printed."""
