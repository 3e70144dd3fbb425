# SPDX-License-Identifier: Apache-2.0
"""Looking things up in frames of events."""

from typing import List, Tuple

import pandas as pd

from holotrace.common.trace_symbol_table import TraceSymbolTable


def get_iterations(df: pd.DataFrame) -> List[int]:
    """Profiler steps of the rows, ascending; TypeError when there is no column iteration of numbers."""
    if "iteration" not in df.columns or not pd.api.types.is_numeric_dtype(df["iteration"]):
        raise TypeError("the frame needs a column iteration of whole numbers")
    return sorted(int(step) for step in df["iteration"].dropna().unique() if step >= 0)


def find_op_occurrence(df: pd.DataFrame, op_name: str, position: int,
                       name_column: str = "s_name") -> Tuple[bool, pd.Series]:
    """(found, row) of the position-th operator of that name by start; negative counts from the end.

    (False, empty) when there is none, or the frame has no names as text.
    """
    if not {name_column, "ts"} <= set(df.columns):
        return False, pd.Series(dtype=object)
    found = df[df[name_column] == op_name].sort_values("ts", kind="stable")
    if not -len(found) <= position < len(found):
        return False, pd.Series(dtype=object)
    return True, found.iloc[position]


def find_events_by_name_patterns_using_symbol_table(df: pd.DataFrame, list_name_patterns: List[str],
                                                    symbol_table: TraceSymbolTable) -> pd.Series:
    """index of the rows whose name matches any of the patterns."""
    return df.loc[symbol_table.get_events_mask(df, list_name_patterns), "index"]


def find_events_by_name_patterns_using_decoded_names(df: pd.DataFrame, list_name_patterns: List[str],
                                                     name_column: str = "s_name") -> pd.Series:
    """index of the rows whose text name matches any of the patterns."""
    pattern = "|".join(f"(?:{one})" for one in list_name_patterns)
    return df.loc[df[name_column].str.contains(pattern, regex=True), "index"]
