# SPDX-License-Identifier: Apache-2.0
"""Queue length and memory bandwidth over time."""

from typing import Dict, List, Optional

import numpy as np
import pandas as pd

from holotrace._hta import plots
from holotrace._hta.engine import STATISTICS, Result


def _summary(frames: Dict[int, pd.DataFrame], by: str, value: str) -> Optional[pd.DataFrame]:
    """Statistics of value per (rank, by)."""
    if not frames:
        return None
    joined = pd.concat([df.assign(rank=rank) for rank, df in frames.items()])
    if joined.empty:
        columns = pd.MultiIndex.from_product([[value], STATISTICS])
        return pd.DataFrame(index=pd.RangeIndex(0), columns=columns)
    return joined[["rank", by, value]].groupby(["rank", by]).describe()


def _engine_summary(result: Result, by: str, keys: np.ndarray, value: str,
                    unit: str = "") -> Optional[pd.DataFrame]:
    """The same as the engine gives it, which spares the series."""
    if not result.n:
        return None
    columns = ["count", *(name + unit for name in ("mean", "std", "min", "p25", "p50", "p75", "max"))]
    return pd.DataFrame(
        np.column_stack([result.floats(name) for name in columns]),
        pd.MultiIndex.from_arrays([result.ints("rank"), keys], names=["rank", by]),
        pd.MultiIndex.from_product([[value], STATISTICS])).sort_index()


class TraceCounters:
    """Queue length and bandwidth, as class methods over a Trace."""

    @classmethod
    def get_queue_length_time_series(cls, t, ranks: Optional[List[int]] = None,
                                     exact: bool = False,
                                     visualize: bool = False) -> Dict[int, pd.DataFrame]:
        """Launched and not started, per stream, at every change.

        By default launches are those that HTA knows by name; exact counts every launch.
        """
        ranks = chosen_ranks(t, ranks)
        result = t.run("queue-length", ranks=ranks, hta=not exact, view="series")
        if not exact:
            t.warn_if_more(result, "exact=True", "queue-length", ranks, view="series")
        frame = pd.DataFrame({
            "ts": t.clock(result.ints("ts_ns")),
            "pid": result.ints("pid"),
            "tid": result.ints("tid"),
            "stream": result.ints("stream"),
            "queue_length": result.ints("queue_length"),
        }, index=pd.Index(result.ints("index"), name="index"))
        frames = split_by_rank(frame, result.ints("rank"), ranks)
        if visualize:
            plots.show(plots.series(frames, "stream", "queue_length", "Launched and not started",
                                    "pieces of work"))
        return frames

    @classmethod
    def get_queue_length_summary_from_time_series(
            cls, queue_length_dict: Dict[int, pd.DataFrame]) -> Optional[pd.DataFrame]:
        return _summary(queue_length_dict, "stream", "queue_length")

    @classmethod
    def get_queue_length_summary(cls, t, ranks: Optional[List[int]] = None,
                                 exact: bool = False) -> Optional[pd.DataFrame]:
        if exact:  # the engine tells devices apart, which this summary joins
            return cls.get_queue_length_summary_from_time_series(
                cls.get_queue_length_time_series(t, ranks, exact))
        ranks = chosen_ranks(t, ranks)
        result = t.run("queue-length", ranks=ranks, hta=True)
        t.warn_if_more(result, "exact=True", "queue-length", ranks)
        return _engine_summary(result, "stream", result.ints("stream"), "queue_length")

    @classmethod
    def get_time_spent_blocked_on_full_queue(cls, t, queue_length_dict: Dict[int, pd.DataFrame],
                                             max_queue_length: int) -> Optional[pd.DataFrame]:
        """Time per stream with the queue at its limit, of all streams that reach it."""
        rows = []
        for rank, series in queue_length_dict.items():
            if not (series["queue_length"] >= max_queue_length).any():
                continue
            total = t.get_trace_duration(rank)
            for stream, points in series.groupby("stream", sort=True):
                full = points["queue_length"].to_numpy()[:-1] >= max_queue_length
                if (points["queue_length"] >= max_queue_length).any():
                    blocked = np.diff(points["ts"].to_numpy())[full].sum()
                    rows.append((rank, stream, blocked, blocked / total if total else np.nan))
        return pd.DataFrame(rows, pd.RangeIndex(len(rows)),
                            ["rank", "stream", "duration_at_max_queue_length",
                             "relative_duration_at_max_queue_length"])

    @classmethod
    def get_memory_bw_time_series(cls, t, ranks: Optional[List[int]] = None,
                                  visualize: bool = False) -> Dict[int, pd.DataFrame]:
        """GB/s of all running copies of a kind, at every start and end of one."""
        ranks = chosen_ranks(t, ranks)
        result = t.run("memory-bandwidth", ranks=ranks, hta=True, view="series")
        frame = pd.DataFrame({
            "ts": t.clock(result.ints("ts_ns")),
            "pid": result.ints("pid"),
            "name": result.texts("name"),
            "memory_bw_gbps": result.floats("memory_bw_gbps"),
        }, index=result.ints("index"))
        if frame["ts"].dtype.kind == "f" and t.has_doubles():
            is_end = result.ints("is_end").astype(bool)
            frame["ts"] = np.where(is_end, cls._ends(t, result), frame["ts"])
        frames = split_by_rank(frame, result.ints("rank"), ranks)
        ends = split_by_rank(pd.DataFrame({"is_end": result.ints("is_end")}), result.ints("rank"), ranks)
        for rank, df in frames.items():
            df.index = cls._copy_labels(df.index.to_numpy(), ends[rank]["is_end"].to_numpy())
        if visualize:
            plots.show(plots.series(frames, "name", "memory_bw_gbps", "Bandwidth of copies", "GB/s"))
        return frames

    @staticmethod
    def _ends(t, result) -> np.ndarray:
        """Ends of copies in HTA's doubles: start plus duration."""
        order = np.lexsort((result.ints("is_end"), result.ints("index"), result.ints("rank")))
        ts_ns, length = result.ints("ts_ns"), np.zeros(result.n)
        length[order[1::2]] = (ts_ns[order[1::2]] - ts_ns[order[::2]]) / 1000
        return t.starts(result, "index") + length

    @staticmethod
    def _copy_labels(index, is_end) -> pd.Index:
        """Copies are numbered in file order: number k labels the start of a copy, n + k its end."""
        copies = np.unique(index)
        return pd.Index(np.searchsorted(copies, index) + is_end * len(copies))

    @classmethod
    def get_memory_bw_summary(cls, t, ranks: Optional[List[int]] = None) -> Optional[pd.DataFrame]:
        """Statistics of the bandwidths above 0 per rank and kind."""
        ranks = chosen_ranks(t, ranks)
        result = t.run("memory-bandwidth", ranks=ranks, hta=True)
        if not result.n:  # copies without a rate are an empty summary, no copies are none
            series = cls.get_memory_bw_time_series(t, ranks)
            return _summary({rank: df[:0] for rank, df in series.items()}, "name", "memory_bw_gbps")
        return _engine_summary(result, "name", result.texts("name"), "memory_bw_gbps", "_gbps")


def chosen_ranks(t, ranks: Optional[List[int]]) -> List[int]:
    """The ranks asked for; rank 0 by default, the first one where there is no rank 0."""
    if not ranks:
        return [0] if 0 in t.traces else t.get_ranks()[:1]
    for rank in ranks:
        if rank not in t.traces:
            raise ValueError(f"there is no rank {rank}; the traces have {t.get_ranks()}")
    return list(ranks)


def split_by_rank(frame: pd.DataFrame, rank_of_row: np.ndarray, ranks: List[int]
                  ) -> Dict[int, pd.DataFrame]:
    """{rank: its rows} for the ranks that have any."""
    frames = {}
    for rank in ranks:
        mask = rank_of_row == rank
        if mask.any():
            frames[rank] = frame[mask].copy()
    return frames
