# SPDX-License-Identifier: Apache-2.0
"""Filters of events: callables filter(df, symbol_table=None) -> rows of df.

A filter whose columns df lacks logs a warning and returns df as it is.
"""

import logging
import re
from abc import ABC, abstractmethod
from typing import List, Optional, Tuple, Union

import numpy as np
import pandas as pd

from holotrace.common.trace_symbol_table import TraceSymbolTable
from holotrace.utils.utils import holds_text

logger = logging.getLogger("hta")

_GPU_SYNCS = ("Event Sync", "Context Sync")


def is_gpu_row(df: pd.DataFrame, symbol_table: Optional[TraceSymbolTable] = None) -> pd.Series:
    """GPU work, and the waits on events and contexts when names are known."""
    gpu = (df["stream"] >= 0) & (df["correlation"] >= 0)
    if symbol_table is not None:
        ids = [symbol_table.sym_index[name] for name in _GPU_SYNCS if name in symbol_table.sym_index]
        gpu |= df["name"].isin(ids)
    return gpu


def _numbers(value, what: str) -> List[int]:
    """One whole number or several as a list; TypeError for anything else."""
    values = list(value) if isinstance(value, (list, tuple, set, range, np.ndarray)) else [value]
    if not all(isinstance(one, (int, np.integer)) for one in values):
        raise TypeError(f"{what} must be a whole number or a list of them, not {value!r}")
    return values


class Filter(ABC):
    @abstractmethod
    def __call__(self, df: pd.DataFrame,
                 symbol_table: Optional[TraceSymbolTable] = None) -> pd.DataFrame:
        """The rows of df that the filter keeps."""

    def _lacks(self, df: pd.DataFrame, *columns: str) -> bool:
        missing = [column for column in columns if column not in df.columns]
        if missing:
            logger.warning("%s: no column %s", type(self).__name__, ", ".join(missing))
        return bool(missing)


class IterationFilter(Filter):
    """Rows of these profiler steps."""

    def __init__(self, iterations: Union[int, List[int]]) -> None:
        self.iterations = _numbers(iterations, "Iterations")

    def __call__(self, df, symbol_table=None):
        if self._lacks(df, "iteration"):
            return df
        return df[df["iteration"].isin(self.iterations)]


class IterationIndexFilter(Filter):
    """Rows of the steps at these positions, 0 being the first step of df; none is a frame without columns."""

    def __init__(self, iteration_index: Union[int, List[int]]) -> None:
        self.iteration_index = _numbers(iteration_index, "iteration_index")

    def __call__(self, df, symbol_table=None):
        if self._lacks(df, "iteration"):
            return df
        steps = sorted(step for step in df["iteration"].dropna().unique() if step != -1)
        if not steps:
            return df
        chosen = [steps[i] for i in self.iteration_index if 0 <= i < len(steps)]
        return df[df["iteration"].isin(chosen)] if chosen else pd.DataFrame()


class FirstIterationFilter(IterationIndexFilter):
    def __init__(self) -> None:
        super().__init__(0)


class RankFilter(Filter):
    """Rows of these ranks, by the column rank."""

    def __init__(self, ranks: Union[int, List[int]]) -> None:
        self.ranks = _numbers(ranks, "ranks")

    def __call__(self, df, symbol_table=None):
        return df if self._lacks(df, "rank") else df[df["rank"].isin(self.ranks)]


class TimeRangeFilter(Filter):
    """Rows that start and end within (first, last), in us."""

    def __init__(self, time_range: Tuple[int, int]) -> None:
        if not isinstance(time_range, tuple) or len(time_range) != 2:
            raise ValueError(f"a time range is a tuple of two times, (first, last), not {time_range!r}")
        self.time_start, self.time_end = time_range
        if self.time_start > self.time_end:
            raise ValueError(f"the first time must be less than or equal to the last: {time_range!r}")
        self.time_range = time_range

    def __call__(self, df, symbol_table=None):
        if self._lacks(df, "ts", "dur"):
            return df
        return df[(df["ts"] >= self.time_start) & (df["ts"] + df["dur"] <= self.time_end)]


class NameStringColumnFilter(Filter):
    """Rows whose text name (name or s_name) matches an expression at its start."""

    def __init__(self, name_pattern: str):
        self.name_pattern = name_pattern

    def __call__(self, df, symbol_table=None):
        for column in ("name", "s_name"):
            if column in df.columns and holds_text(df[column]):
                return df[df[column].str.match(self.name_pattern).fillna(False).astype(bool)]
        logger.warning("NameStringColumnFilter: no column with names as text")
        return df


class NameIdColumnFilter(Filter):
    """Rows whose name, looked up in the symbol table, matches an expression at its start."""

    def __init__(self, name_pattern: str) -> None:
        self.name_pattern = re.compile(name_pattern)
        self.name_column = "name"

    def __call__(self, df, symbol_table=None):
        if symbol_table is None or self._lacks(df, "name"):
            logger.warning("NameIdColumnFilter: a symbol table is needed")
            return df
        ids = [i for name, i in symbol_table.sym_index.items() if self.name_pattern.match(name)]
        return df[df["name"].isin(ids)]


class NameFilter(Filter):
    """Rows whose name matches an expression at its start, by text or by symbol id."""

    def __init__(self, name_pattern: str, symbol_table: Optional[TraceSymbolTable] = None,
                 name_column: Optional[str] = None) -> None:
        self.name_pattern = name_pattern
        self.symbol_table = symbol_table
        self.name_column = name_column

    def __call__(self, df, symbol_table=None):
        if self.name_column in df.columns and holds_text(df[self.name_column]):
            return df[df[self.name_column].str.match(self.name_pattern).fillna(False).astype(bool)]
        table = symbol_table or self.symbol_table
        if table is not None and "name" in df.columns and not holds_text(df["name"]):
            return NameIdColumnFilter(self.name_pattern)(df, table)
        return NameStringColumnFilter(self.name_pattern)(df)


class QueryFilter(Filter):
    """Rows for which an expression of DataFrame.query holds."""

    def __init__(self, query_str: str) -> None:
        self.query_str = self.filter_query = query_str

    def __call__(self, df, symbol_table=None):
        return df.query(self.query_str)


ZeroDurationFilter = QueryFilter("dur > 0")


class GPUKernelFilter(Filter):
    """GPU work, with the waits on events and contexts when a symbol table is given."""

    def __call__(self, df, symbol_table=None):
        if self._lacks(df, "stream", "correlation"):
            return df
        return df[is_gpu_row(df, symbol_table)]


class CPUOperatorFilter(Filter):
    """Rows of the host."""

    def __call__(self, df, symbol_table=None):
        if symbol_table is None:
            return df if self._lacks(df, "stream") else df[df["stream"] == -1]
        return df if self._lacks(df, "stream", "correlation") else df[~is_gpu_row(df, symbol_table)]


class MemCopyEventFilter(Filter):
    """Copies of exactly this name: "Memcpy HtoD (Pinned -> Device)"."""

    def __init__(self, memory_copy_type: str,
                 symbol_table: Optional[TraceSymbolTable] = None) -> None:
        self.memory_copy_type = memory_copy_type
        self.symbol_table = symbol_table

    def __call__(self, df, symbol_table=None):
        table = symbol_table or self.symbol_table
        if table is None or self._lacks(df, "name", "cat"):
            logger.warning("MemCopyEventFilter: a symbol table is needed")
            return df
        name = table.sym_index.get(self.memory_copy_type, TraceSymbolTable.NULL)
        cat = table.sym_index.get("gpu_memcpy", TraceSymbolTable.NULL)
        return df[(df["name"] == name) & (df["cat"] == cat)]


class CompositeFilter(Filter):
    """Several filters one after the other."""

    def __init__(self, filters: List[Filter]) -> None:
        for one in filters:
            if not isinstance(one, Filter):
                raise TypeError(f"filters must be instances of Filter, and {one!r} is not")
            if one is self:
                raise ValueError("a CompositeFilter cannot contain itself")
        self.filters = list(filters)

    def __call__(self, df, symbol_table=None):
        for one in self.filters:
            df = one(df, symbol_table)
        return df
