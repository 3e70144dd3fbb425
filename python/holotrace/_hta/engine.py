# SPDX-License-Identifier: Apache-2.0
"""Asking the engine, and reading its tables as numpy arrays and pandas frames.

Tables of the engine are in nanoseconds, bytes and ratios; HTA's are in microseconds and percent. All
conversion is by whole columns.
"""

import json

import numpy as np
import pandas as pd


def options():
    import holotrace

    return holotrace.options


def compat():
    """Whether the user asked for HTA's own values, oddities included."""
    return bool(getattr(options(), "hta_compat", False))


class Result:
    """A table of the engine, column by column."""

    def __init__(self, table):
        self.table = table
        self.n = table.n_rows
        self.names = list(table.column_names)

    def __contains__(self, name):
        return name in self.names

    def valid(self, name):
        """Boolean array: which cells have a value."""
        validity = self.table.validity(name)
        if validity is None:
            return np.ones(self.n, dtype=bool)
        return np.asarray(validity).astype(bool)

    def is_text(self, name):
        return self.table.column_info(name)["type"] == "string"

    def ints(self, name, missing=-1):
        """int64; null cells read as missing."""
        values = np.array(self.table.column(name), dtype=np.int64)
        validity = self.table.validity(name)
        if validity is not None:
            values[~np.asarray(validity).astype(bool)] = missing
        return values

    def floats(self, name):
        """float64; null cells read as NaN."""
        values = np.array(self.table.column(name), dtype=np.float64)
        validity = self.table.validity(name)
        if validity is not None:
            values[~np.asarray(validity).astype(bool)] = np.nan
        return values

    def codes(self, name):
        """(codes, texts): text i of a cell is texts[codes[i]]; -1 is null."""
        codes, texts = self.table.strings(name)
        return np.array(codes, dtype=np.int64), texts

    def texts(self, name, missing=""):
        """Array of str."""
        codes, texts = self.codes(name)
        return np.array([*texts, missing], dtype=object)[codes]


def microseconds(*columns):
    """Columns of ns as columns of us: int64 when all are whole, as a trace of whole us has them."""
    whole = all(c.dtype.kind == "i" and not (c % 1000).any() for c in columns)
    made = [c // 1000 if whole else c / 1000 for c in columns]
    return made[0] if len(made) == 1 else made


def doubles(ns):
    """Microseconds as a reader of JSON has them: the nearest doubles, even of absolute times."""
    return ns // 1000 + ns % 1000 / 1000


def parse_json(text):
    """The value of an argument that the file holds as list or object; other text as it is."""
    if text[:1] in "[{":
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def objects(codes, values, missing):
    """Array of values by code, null cells as missing. Lists stay one cell."""
    table = np.empty(len(values) + 1, dtype=object)
    for i, value in enumerate(values):
        table[i] = value
    table[-1] = missing
    return table[codes]


def plain_index(n):
    """0..n-1 as the index that a merge or a filter leaves, which CSV files show."""
    return pd.Index(np.arange(n, dtype=np.int64))


def describe(values):
    """count, mean, std, min, quartiles, max, as pandas' describe has them."""
    values = values[~np.isnan(values)]
    n = len(values)
    if not n:
        return [0.0] + [np.nan] * 7
    std = values.std(ddof=1) if n > 1 else np.nan
    return [float(n), values.mean(), std, values.min(), *np.percentile(values, [25, 50, 75]),
            values.max()]


STATISTICS = ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]
