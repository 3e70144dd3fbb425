# SPDX-License-Identifier: Apache-2.0
"""Helpers of the straggler analysis under HTA's names."""

from typing import Tuple

import numpy as np
import pandas as pd

from holotrace._hta import plots
from holotrace._hta.engine import microseconds
from holotrace.common.trace_symbol_table import TraceSymbolTable
from holotrace.utils.utils import is_comm_kernel

MIN_NORMALIZED_DURATION = 0.01


def extract_iteration_info(trace) -> pd.DataFrame:
    """Profiler steps that are loaded: rank, iter, ts, dur, end."""
    result = trace.run("events", ranks=trace.get_ranks(), only="host",
                       columns=["rank", "name", "hta.ts_ns", "dur_ns"])
    codes, texts = result.codes("name")
    prefix = "ProfilerStep#"
    numbers = [int(text[len(prefix):]) if text.startswith(prefix) and text[len(prefix):].isdigit()
               else -1 for text in texts]
    number = np.array([*numbers, -1], dtype=np.int64)[codes]
    rows = number >= 0
    ts, dur = microseconds(result.ints("hta.ts_ns")[rows], result.ints("dur_ns")[rows])
    return pd.DataFrame({"rank": result.ints("rank")[rows], "iter": number[rows], "ts": ts,
                         "dur": dur, "end": ts + dur})


def _compute_normalized_start_time_of_significant_comm_kernels(
        df: pd.DataFrame, symbol_table: TraceSymbolTable, visualize: bool = False,
        min_normalized_duration: float = MIN_NORMALIZED_DURATION) -> Tuple[pd.DataFrame, str]:
    """Starts of the last long collective per rank, stream, step and name, in units of a step."""
    first = df["ts"].min()
    length = ((df["ts"] + df["dur"]).max() - first) / max(1, df["iteration"].nunique())
    ids = [i for name, i in symbol_table.sym_index.items() if is_comm_kernel(name)]
    rows = df[df["name"].isin(ids) & (df["stream"] >= 0) & (df["iteration"] >= 0)
              & (df["dur"] >= min_normalized_duration * length)]
    rows = rows.sort_values("ts", kind="stable").drop_duplicates(
        ["rank", "stream", "iteration", "name"], keep="last")
    rows = rows.assign(normalized_start_time=(rows["ts"] - first) / length,
                       normalized_duration=rows["dur"] / length)
    spread = (rows.groupby(["stream", "iteration", "name"])["normalized_duration"].std()
              .groupby(["stream", "name"]).mean())
    if not spread.notna().any():
        return rows.iloc[0:0], "normalized_start_time"
    stream, name = spread.idxmax()
    return rows[(rows["stream"] == stream) & (rows["name"] == name)], "normalized_start_time"


def _get_top_k_stragglers_with_metric(metric_df: pd.DataFrame, metric_name: str,
                                      n_stragglers: int = 2, visualize: bool = False) -> pd.Series:
    """How often each rank is among the n latest of a step, most often first."""
    late = metric_df.groupby("iteration")[metric_name].rank(ascending=False, method="min")
    counts = metric_df[late <= n_stragglers].groupby("rank").size()
    if visualize and len(metric_df):
        plots.show(plots.late_starts(metric_df, metric_name, late <= n_stragglers))
    return counts.sort_values(ascending=False, kind="stable")


def find_stragglers_with_late_start_comm_kernels(df: pd.DataFrame, symbol_table: TraceSymbolTable,
                                                 n_stragglers: int = 2,
                                                 visualize: bool = False) -> pd.Series:
    """Scores by rank: in how many steps its main collective starts among the latest."""
    rows, metric = _compute_normalized_start_time_of_significant_comm_kernels(
        df, symbol_table, visualize)
    return _get_top_k_stragglers_with_metric(rows, metric, n_stragglers, visualize)
