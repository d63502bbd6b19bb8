"""Runs that the notebooks show: one module for each subject, each a function of its seed."""
