"""What a reader of the results should know of a table."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd

from mebnb.report.words import counted

__all__ = ["no_complete_row", "nothing_to_use", "remarks"]

CODES = (-99999, -9999, -999, -99, 99, 999, 9999, 99999)
"""Numbers that often stand for a missing value."""

NAMED_AS_LABEL = ("label", "class", "target", "fraud", "anomaly", "outlier", "fault")

NAMED_AS_IDENTITY = ("id", "ids", "key", "code", "zip", "plz", "postcode")


def nothing_to_use(path, readings):
    name, found = path.name, readings["why"].value_counts()
    if len(readings) == 1 and "text" in readings["type"].iloc[0]:
        return (
            f"{name} holds one column of text; expected numbers separated by commas, "
            "semicolons, tabs, bars or spaces"
        )
    reasons = "; ".join(f"{why} ({count})" for why, count in found.items())
    return f"{name} has no column of numbers that can be used: {reasons}"


def no_complete_row(path, readings):
    used = readings[readings["used"] == "yes"]
    worst = used["missing"].sort_values(ascending=False, kind="stable").head(3)
    worst = ", ".join(
        f"{name} (in {counted(count, 'row')})" for name, count in worst.items()
    )
    return (
        f"{path.name} has no row without a missing value; leave out the columns "
        f"that lack most: {worst}"
    )


def remarks(table, total):
    """What in the values a reader of the results should know; `total` are its rows."""
    told, kept = [], len(table.rows)
    if kept < total:
        lost = f"rows left out for a missing value: {total - kept} of {total}"
        lost += f" ({_lacking(table.readings)})"
        if kept < total / 2:
            lost += "; fill the values in, or leave out the columns that lack most"
        told.append(lost)
    if table.labels is not None:
        unknown = int(table.labels.isna().sum())
        if unknown:
            told.append(f"rows without a label, which are scored only: {unknown}")
    repeated = int(
        pd.util.hash_pandas_object(table.values, index=False).duplicated().sum()
    )
    if repeated:
        told.append(
            f"rows whose values repeat an earlier row: {repeated}; they change no hard "
            "ball and count as often as they come in a soft one"
        )
    for name in table.values:
        values = table.values[name].to_numpy()
        told += _suspicious(name, values) + _named_as(
            name, values, table.labels is None
        )
    if table.labels is None:
        told += [
            f"{name} sounds like a label; name it (--label {shlex.quote(name)}) if it tells "
            "good rows from bad"
            for name in table.readings.index[table.readings["type"] == "text"]
            if _sounds_like(name, NAMED_AS_LABEL)
        ]
    return told


def _lacking(readings):
    """The used columns that lack most values."""
    missing = readings.loc[readings["used"] == "yes", "missing"]
    most = missing[missing > 0].sort_values(ascending=False, kind="stable").head(3)
    return ", ".join(f"{name} lacks {count}" for name, count in most.items())


def _sounds_like(name, words):
    return any(word in words for word in re.split(r"[^a-z]+", name.lower()))


def _named_as(name, values, unlabelled):
    """A sentence for a used column whose name says that it is no measurement."""
    if _sounds_like(name, NAMED_AS_IDENTITY) and (values == np.floor(values)).all():
        return [
            f"{name} sounds like a name or code; leave it out (--leave {shlex.quote(name)}) "
            "if it measures nothing"
        ]
    two = unlabelled and np.isin(values, (values.min(), values.max())).all()
    if two and _sounds_like(name, NAMED_AS_LABEL):
        return [
            f"{name} sounds like a label; name it (--label {shlex.quote(name)}), or leave "
            "it out"
        ]
    return []


def _suspicious(name, values):
    """A sentence for each end of a column that looks like a code for a missing value."""
    found = []
    for end in (values.min(), values.max()):
        if end in CODES:
            others = values[values != end]
            width = np.ptp(others) if others.size else 0.0
            apart = np.abs(others - end).min() if others.size else 0.0
            if apart > width > 0 and (values == end).sum() > 1:
                found.append(
                    f"{end:g} comes {(values == end).sum()} times in {name}, far from "
                    "all else; if it stands for a missing value, blank it"
                )
    return found
