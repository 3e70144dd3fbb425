# SPDX-License-Identifier: Apache-2.0
"""Timelines of GPU kernels."""

import re
from typing import List, Optional

import pandas as pd

from holotrace._hta import plots
from holotrace.common.trace_symbol_table import TraceSymbolTable
from holotrace.utils.utils import holds_text

__getattr__ = plots.px_only

_DRAWN = ["calibrated_start_global", "calibrated_end_global", "task", "label"]
_NEEDED = ["iteration", "name", "cat", "rank", "stream", "ts", "dur"]


def _get_unique_values(df: pd.DataFrame, column: str) -> list:
    """Values of a column, ascending, without -1."""
    if column not in df.columns:
        raise ValueError(f"the events have no column {column}")
    return sorted(value for value in df[column].unique().tolist() if value != -1)


def _listed(values: list) -> str:
    return ", ".join(map(str, values)) or "none"


def _simplify_name(name: str) -> str:
    """A label without arguments, templates and spaces."""
    text = re.sub(r"^void ", "", name)
    while True:
        shorter = re.sub(r"\([^()]*\)|<[^<>]*>", "", text)
        if shorter == text:
            break
        text = shorter
    text = text.replace(" ", "").replace("autograd::engine::evaluate_function", "")
    return text if len(text) < 45 else text[:42] + "..."


def prepare_timeline_gpu_events(df: pd.DataFrame, symbol_table: TraceSymbolTable,
                                ranks: Optional[List[int]] = None,
                                iterations: Optional[List[int]] = None,
                                streams: Optional[List[int]] = None,
                                duration_threshold: int = 1000) -> pd.DataFrame:
    """GPU rows of the chosen ranks, steps and streams with times as dates, task and label."""
    missing = [column for column in _NEEDED if column not in df.columns]
    if missing:
        raise ValueError(f"the events have no column {', '.join(missing)}")
    for column, chosen in (("rank", ranks), ("iteration", iterations), ("stream", streams)):
        there = _get_unique_values(df, column)
        if chosen is not None and not set(chosen) & set(there):
            raise ValueError(f"no GPU row has {column} {_listed(chosen)}; there {_listed(there)}")
        df = df[df[column].isin(chosen)] if chosen is not None else df[df[column] != -1]
    df = df.copy()
    df["calibrated_start_global"] = pd.to_datetime(df["ts"], unit="us")
    df["calibrated_end_global"] = pd.to_datetime(df["ts"] + df["dur"].clip(lower=duration_threshold),
                                                 unit="us")
    df["task"] = "rank " + df["rank"].astype(str) + " stream " + df["stream"].astype(str)
    names = df["name"] if holds_text(df["name"]) else symbol_table.texts(df["name"])
    df["label"] = [_simplify_name(name) for name in names]
    return df.sort_values(["rank", "stream", "ts"], kind="stable")


def plot_timeline(title: str, events: pd.DataFrame, ranks: Optional[List[int]] = None) -> None:
    """Draw what prepare_timeline_gpu_events() returned, of some ranks if asked."""
    missing = [column for column in _DRAWN if column not in events.columns]
    if missing:
        raise ValueError(f"the events have no column {', '.join(missing)}; prepare them first")
    if ranks is not None and "rank" in events.columns:
        events = events[events["rank"].isin(ranks)]
    if events.empty:
        raise ValueError("there are no events to draw")
    plots.show(plots.timeline(events, title, height=150 + 40 * events["task"].nunique()))


def plot_timeline_gpu_kernels(title: str, df: pd.DataFrame, symbol_table: TraceSymbolTable,
                              ranks: Optional[List[int]] = None,
                              iterations: Optional[List[int]] = None,
                              streams: Optional[List[int]] = None,
                              duration_threshold: int = 1000) -> None:
    """Draw the GPU rows of a frame that has the column rank."""
    plot_timeline(title, prepare_timeline_gpu_events(df, symbol_table, ranks, iterations, streams,
                                                     duration_threshold))


def plot_timeline_gpu_kernels_from_trace(title: str, trace_data, ranks: Optional[List[int]] = None,
                                         iterations: Optional[List[int]] = None,
                                         streams: Optional[List[int]] = None,
                                         duration_threshold: int = 1000) -> None:
    """Draw the GPU rows of a Trace."""
    chosen = trace_data.get_ranks() if ranks is None else ranks
    df = pd.concat([trace_data.gpu_rows(rank).assign(rank=rank) for rank in chosen])
    plot_timeline_gpu_kernels(title, df, trace_data.symbol_table, chosen, iterations, streams,
                              duration_threshold)
