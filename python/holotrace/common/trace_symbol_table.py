# SPDX-License-Identifier: Apache-2.0
"""TraceSymbolTable: names and categories as small integers.

Ids follow the order of first appearance, so they are the same in every run.
"""

import re
from typing import Dict, Iterable, List, Optional

import numpy as np
import pandas as pd

from holotrace.common.types import (CPU_EVENTS_CATEGORY_PATTERN, KERNEL_CATEGORY_PATTERN,
                                    KERNEL_LAUNCH_CATEGORY_PATTERN, GroupingPattern,
                                    MemoryKernelGroupingPattern, ProfilerStepGroupingPattern)
from holotrace.utils.utils import holds_text, shorten_name

MAX_NUM_PROCESSES_SMALL = 4

_OPERATOR_CATEGORIES = ("cpu_op", "cuda_driver", "cuda_runtime")
_DEVICE_RUNTIMES = ("mtia_runtime", "hip_runtime", "xpu_runtime", "privateuse1_runtime")
_LAUNCHES = (
    "cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx",
    "cudaMemcpyAsync", "cudaMemsetAsync", "hipLaunchKernel", "hipExtModuleLaunchKernel",
    "hipMemcpyAsync", "hipMemsetAsync", "hipMemcpyWithStream",
    "runFunction - job_prep_and_submit_for_execution")


class TraceSymbolTable:
    """Texts by id (sym_table) and ids by text (sym_index)."""

    NULL: int = -128

    def __init__(self) -> None:
        self.sym_table: List[str] = []
        self.sym_index: Dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.sym_table)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<TraceSymbolTable: {len(self):,} names and categories>"

    def is_empty(self) -> bool:
        return not self.sym_table

    def add_symbols(self, symbols: Iterable[str]) -> None:
        for symbol in symbols:
            if symbol not in self.sym_index:
                self.sym_index[symbol] = len(self.sym_table)
                self.sym_table.append(symbol)

    def add_symbols_mp(self, symbols_list: List[Iterable[str]]) -> None:
        for symbols in symbols_list:
            self.add_symbols(symbols)

    def get_sym_id_map(self) -> Dict[str, int]:
        return self.sym_index

    def get_sym_index(self) -> Dict[str, int]:
        return self.sym_index

    def get_sym_table(self) -> List[str]:
        return self.sym_table

    def get_sym_index_series(self) -> pd.Series:
        return pd.Series(self.sym_index)

    def get_sym_table_series(self) -> pd.Series:
        return pd.Series(self.sym_table, dtype=object)

    def find_matched_symbols(self, patterns: List[str]) -> List[str]:
        """Symbols that contain any of the patterns, each a text or a regular expression."""
        expressions = []
        for pattern in patterns:
            expressions.append(re.escape(pattern))
            try:
                re.compile(pattern)
                expressions.append(f"(?:{pattern})")
            except re.error:
                continue
        found = re.compile("|".join(expressions)) if expressions else None
        return [symbol for symbol in self.sym_table if found and found.search(symbol)]

    def find_matches(self, patterns: List[str]) -> List[int]:
        return [self.sym_index[symbol] for symbol in self.find_matched_symbols(patterns)]

    def get_symbol_ids(self, symbol_pattern: GroupingPattern) -> Dict[str, int]:
        return {name: i for name, i in self.sym_index.items() if symbol_pattern.match(name)}

    def get_symbol_names(self, symbol_ids: List[int]) -> Dict[int, str]:
        return {i: self.sym_table[i] for i in symbol_ids if 0 <= i < len(self.sym_table)}

    @staticmethod
    def from_csv_file(file_path: str) -> "TraceSymbolTable":
        """From a file with a column symbol, as to_csv_file() writes it."""
        df = pd.read_csv(file_path, keep_default_na=False)
        if "symbol" not in df.columns:
            raise ValueError(f"{file_path}: expect a column symbol, not {', '.join(df.columns)}")
        table = TraceSymbolTable()
        table.add_symbols(df["symbol"].astype(str))
        return table

    def to_csv_file(self, file_path: str) -> None:
        """Write the texts in the order of their ids."""
        pd.DataFrame({"symbol": self.sym_table}).to_csv(file_path, index=False)

    _to_csv_file = to_csv_file

    @staticmethod
    def combine_symbol_tables(tables: List["TraceSymbolTable"]) -> "TraceSymbolTable":
        combined = TraceSymbolTable()
        combined.add_symbols_mp([table.sym_table for table in tables])
        return combined

    @staticmethod
    def clone(symbol_table: "TraceSymbolTable") -> "TraceSymbolTable":
        return TraceSymbolTable.combine_symbol_tables([symbol_table])

    @staticmethod
    def create_from_df(df: pd.DataFrame) -> "TraceSymbolTable":
        """From a frame whose name and cat are text."""
        for column in ("name", "cat"):
            if column not in df.columns or not holds_text(df[column]):
                raise ValueError(f"the name and cat columns must hold text, and {column} does not")
        table = TraceSymbolTable()
        table.add_symbols(df["cat"].unique())
        table.add_symbols(df["name"].unique())
        return table

    @staticmethod
    def create_from_symbol_id_map(symbol_id_map: Dict[str, int]) -> "TraceSymbolTable":
        """From {text: id}; ids nobody has become Undefined-<id>."""
        by_id = {i: symbol for symbol, i in symbol_id_map.items()}
        table = TraceSymbolTable()
        table.sym_table = [by_id.get(i, f"Undefined-{i}") for i in range(max(by_id, default=-1) + 1)]
        table.sym_index = {symbol: i for i, symbol in enumerate(table.sym_table)}
        return table

    def encode_df(self, df: pd.DataFrame) -> None:
        """name and cat from text to ids, in place; new texts are added."""
        for column in ("cat", "name"):
            if column in df.columns and holds_text(df[column]):
                self.add_symbols(df[column].unique())
                df[column] = df[column].map(self.sym_index)

    def decode_df(self, df: pd.DataFrame, create_new_columns: bool = True) -> None:
        """name and cat from ids to text, in place or as s_name and s_cat."""
        for column in ("cat", "name"):
            if column in df.columns and not holds_text(df[column]):
                df[f"s_{column}" if create_new_columns else column] = self.texts(df[column])

    def update_encoded_df(self, df: pd.DataFrame, old_symbol_table: "TraceSymbolTable") -> None:
        """Ids of another table to ids of this one, in place."""
        self.add_symbols(old_symbol_table.sym_table)
        new_id = np.array([self.sym_index[symbol] for symbol in old_symbol_table.sym_table])
        for column in ("cat", "name"):
            if column in df.columns:
                df[column] = new_id[df[column].to_numpy()]

    def add_symbols_to_trace_df(self, trace_df: pd.DataFrame, col: str) -> None:
        """The ids in col replaced by their texts, "" for ids that do not exist."""
        trace_df[col] = self.texts(trace_df[col])

    def texts(self, ids, shorten: bool = False) -> np.ndarray:
        """Texts of an array of ids, "" for ids that do not exist."""
        names = [shorten_name(name) for name in self.sym_table] if shorten else self.sym_table
        table = np.array([*names, ""], dtype=object)
        ids = np.asarray(ids)
        ids = np.where(np.isnan(ids), -1, ids).astype(np.int64) if ids.dtype.kind == "f" else ids
        return table[np.where((ids >= 0) & (ids < len(names)), ids, len(names))]

    def get_events_mask(self, df: pd.DataFrame, patterns: Optional[List[str]]) -> pd.Series:
        """Rows whose name matches any of the patterns; none without patterns."""
        return df["name"].isin(self.find_matches(patterns or []))

    def get_operator_or_cuda_runtime_mask(self, df: pd.DataFrame) -> pd.Series:
        """Rows that are operators, or calls of CUDA's runtime or driver."""
        return df["cat"].isin(self._ids_of(_OPERATOR_CATEGORIES))

    def get_operator_or_device_runtime_mask(self, df: pd.DataFrame) -> pd.Series:
        """Rows that are operators, or calls of any device's runtime or driver."""
        return df["cat"].isin(self._ids_of((*_OPERATOR_CATEGORIES, *_DEVICE_RUNTIMES)))

    def get_runtime_launch_events_mask(self, df: pd.DataFrame) -> pd.Series:
        """Rows that are calls which launched something."""
        return df["name"].isin(self._ids_of(_LAUNCHES)) & (df["index_correlation"] > 0)

    def _ids_of(self, symbols: Iterable[str]) -> List[int]:
        return [self.sym_index.get(symbol, self.NULL) for symbol in symbols]

    def get_operator_or_cuda_runtime_query(self) -> str:
        """Operators, runtime and driver calls, as an expression for DataFrame.query."""
        return f"cat in {self._ids_of(_OPERATOR_CATEGORIES)}"

    def get_runtime_launch_events_query(self) -> str:
        """Calls that launched something, as an expression for DataFrame.query."""
        return f"name in {self._ids_of(_LAUNCHES)} and index_correlation > 0"

    def _matching(self, pattern: GroupingPattern) -> List[int]:
        return list(self.get_symbol_ids(pattern).values())

    def get_cpu_event_cat_ids(self) -> List[int]:
        return self._matching(CPU_EVENTS_CATEGORY_PATTERN)

    def get_gpu_kernel_cat_ids(self) -> List[int]:
        return self._matching(KERNEL_CATEGORY_PATTERN)

    def get_profiler_step_ids(self) -> List[int]:
        return self._matching(ProfilerStepGroupingPattern)

    def get_memory_name_ids(self) -> List[int]:
        return self._matching(MemoryKernelGroupingPattern)

    def get_kernel_launch_ids(self) -> List[int]:
        return self._matching(KERNEL_LAUNCH_CATEGORY_PATTERN)


_ANNOTATIONS = ("user_annotation", "gpu_user_annotation")


def decode_symbol_id_to_symbol_name(df: pd.DataFrame, symbol_table: TraceSymbolTable,
                                    use_shorten_name: bool) -> None:
    """Add s_name and s_cat (and s_user_annotation) in place. Annotations are never shortened.

    A column that holds text already gets no second one.
    """
    ids = [column for column in ("name", "cat", "user_annotation")
           if column in df.columns and not holds_text(df[column])]
    for column in ids:
        df[f"s_{column}"] = symbol_table.texts(df[column], shorten=use_shorten_name and column == "name")
    if use_shorten_name and "name" in ids and "s_cat" in df.columns:
        annotations = df["s_cat"].isin(_ANNOTATIONS).to_numpy()
        if annotations.any():
            names = df["s_name"].to_numpy(copy=True)
            names[annotations] = symbol_table.texts(df["name"].to_numpy()[annotations])
            df["s_name"] = names
