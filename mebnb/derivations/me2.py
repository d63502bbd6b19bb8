"""Entries."""

ENTRIES = []
