# SPDX-License-Identifier: Apache-2.0
"""Filters around one call of an operator: what runs under, after or before it."""

import logging
from enum import Enum
from typing import List, Optional

import pandas as pd

from holotrace.common.trace_df import find_op_occurrence
from holotrace.common.trace_filter import Filter, FirstIterationFilter
from holotrace.common.trace_symbol_table import TraceSymbolTable
from holotrace.utils.utils import get_symbol_column_names

logger = logging.getLogger("hta")

_CALLS = ("cuda_runtime", "cuda_driver", "mtia_runtime")


class OperatorFilterMethod(Enum):
    Under = 0
    After = 1
    Before = 2
    Ancestors = 3
    Stack = 4


def get_matching_kernels(df_ops: pd.DataFrame, df_both: pd.DataFrame, cat_column: str) -> pd.DataFrame:
    """Rows of df_both that were launched by the calls in df_ops."""
    calls = df_ops.loc[df_ops[cat_column].isin(_CALLS), "index"]
    launched = df_both["index_correlation"].isin(calls)
    return df_both[launched & (df_both["stream"] >= 0) if "stream" in df_both.columns else launched]


class OperatorFilter(Filter):
    """Rows relative to the position-th call of an operator."""

    def __init__(self, op_name: str, position: int, method: OperatorFilterMethod,
                 include_gpu_kernels: bool = False, name_column: Optional[str] = None) -> None:
        self.op_name = op_name
        self.position = position
        self.method = method
        self.include_gpu_kernels = include_gpu_kernels
        self.name_column = name_column

    def __call__(self, df: pd.DataFrame,
                 symbol_table: Optional[TraceSymbolTable] = None) -> pd.DataFrame:
        name_column, cat_column = get_symbol_column_names(df)
        name_column = self.name_column or name_column
        if not name_column:
            logger.warning("%s: names must be text; call decode_symbol_ids() first", type(self).__name__)
            return df
        found, op = find_op_occurrence(df, self.op_name, self.position, name_column)
        if not found:
            return df.iloc[0:0]
        kept = df[self._mask(df, op) & (df["stream"] == op["stream"])]
        if self.include_gpu_kernels:
            kept = pd.concat([kept, get_matching_kernels(kept, df, cat_column)])
        return kept

    def _mask(self, df, op):
        start, end = df["ts"], df["ts"] + df["dur"]
        op_end = op["ts"] + op["dur"]
        if self.method is OperatorFilterMethod.Under:
            return (start >= op["ts"]) & (end <= op_end)
        if self.method is OperatorFilterMethod.After:
            return start >= op_end
        if self.method is OperatorFilterMethod.Before:
            return end <= op["ts"]
        raise NotImplementedError(f"{self.method} is not a filter; use the call graph")


class UnderOperatorFilter(OperatorFilter):
    """Rows within the call."""

    def __init__(self, op_name: str, position: int, include_gpu_kernels: bool = False,
                 name_column: Optional[str] = None) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.Under, include_gpu_kernels, name_column)


class AfterOperatorFilter(OperatorFilter):
    """Rows that start after the call has ended."""

    def __init__(self, op_name: str, position: int, include_gpu_kernels: bool = False,
                 name_column: Optional[str] = None) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.After, include_gpu_kernels, name_column)


class BeforeOperatorFilter(OperatorFilter):
    """Rows that end before the call starts."""

    def __init__(self, op_name: str, position: int, include_gpu_kernels: bool = False,
                 name_column: Optional[str] = None) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.Before, include_gpu_kernels, name_column)


class CombinedOperatorFilter(Filter):
    """Rows of the first step under one operator, after another and before a third."""

    def __init__(self, root_op_name: str, preceding_op_name: str, following_op_name: str,
                 include_gpu_kernels: bool = False, stack_depths: Optional[List[int]] = None) -> None:
        self.root_op_name = root_op_name
        self.preceding_op_name = preceding_op_name
        self.following_op_name = following_op_name
        self.include_gpu_kernels = include_gpu_kernels
        self.stack_depths = stack_depths

    def __call__(self, df: pd.DataFrame,
                 symbol_table: Optional[TraceSymbolTable] = None) -> pd.DataFrame:
        name_column, cat_column = get_symbol_column_names(df)
        if not name_column:
            logger.warning("%s: names must be text; call decode_symbol_ids() first", type(self).__name__)
            return df
        kept = FirstIterationFilter()(df)
        steps = [(self.root_op_name, UnderOperatorFilter, 0),
                 (self.preceding_op_name, AfterOperatorFilter, -1),
                 (self.following_op_name, BeforeOperatorFilter, 0)]
        for name, make, position in steps:
            if name and (kept[name_column] == name).any():
                kept = make(name, position)(kept)
        if self.include_gpu_kernels:
            kept = pd.concat([kept, get_matching_kernels(kept, df, cat_column)])
        if self.stack_depths is not None and "depth" in kept.columns:
            kept = kept[(kept["stream"] >= 0) | kept["depth"].isin(self.stack_depths)]
        return kept
