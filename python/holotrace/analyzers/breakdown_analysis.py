# SPDX-License-Identifier: Apache-2.0
"""Where GPU time goes: kernels, annotations, idling."""

import logging
import re
from typing import List, Optional, Tuple

import numpy as np
import pandas as pd

from holotrace._hta import plots
from holotrace._hta.engine import STATISTICS, microseconds
from holotrace.common.trace_symbol_table import decode_symbol_id_to_symbol_name

logger = logging.getLogger("hta")

_MEASURES = [("sum (us)", "sum_ns"), ("max (us)", "max_ns"), ("min (us)", "min_ns"),
             ("stddev", "std_ns"), ("mean (us)", "mean_ns")]
_TEMPORAL = [("idle_time(us)", "idle_ns"), ("compute_time(us)", "compute_ns"),
             ("non_compute_time(us)", "non_compute_ns"), ("kernel_time(us)", "span_ns")]


def _statistics(result) -> dict:
    """Sum, max, min, deviation and mean of durations under HTA's names."""
    data = {"name": result.texts("name")}
    for name, column in _MEASURES:
        values = result.floats(column) / 1000
        data[name] = np.nan_to_num(values) if name == "stddev" else values
    whole = [name for name, _ in _MEASURES[:3]]
    if result.n and all((data[name] == np.rint(data[name])).all() for name in whole):
        for name in whole:
            data[name] = data[name].astype(np.int64)
    return data


def _allowlist(patterns: Optional[List[str]]) -> Optional[str]:
    """One expression for names that contain any of the patterns, as text or expression."""
    if not patterns:
        return None
    kept = []
    for pattern in patterns:
        kept.append(re.sub(r"([][\\.^$*+?(){}|])", r"\\\1", pattern))
        try:
            re.compile(pattern)
            kept.append(pattern)
        except re.error:
            continue
    return "|".join(f"({one})" for one in dict.fromkeys(kept))


#: The engine's words for types of work, as HTA has them.
_HTA_TYPES = {"compute": "COMPUTATION", "communication": "COMMUNICATION", "memory": "MEMORY", "other": "OTHER"}


def _warn_of_annotations(t, on_gpu: bool) -> None:
    """Why HTA's rows have no annotation although the files do."""
    why = "none of them is in what was loaded"
    if not t.include_last:
        why = ("HTA keeps those that start before the last profiler step does on the host; "
               "include_last_profiler_step=True keeps all")
    logger.warning("the traces have %s annotations, but no row has one: %s",
                   "GPU" if on_gpu else "host", why)


class BreakdownAnalysis:
    """Where GPU time goes, as class methods over a Trace."""

    @classmethod
    def get_gpu_kernel_breakdown(cls, t, visualize: bool = True, duration_ratio: float = 0.8,
                                 num_kernels: int = 10, include_memory_kernels: bool = False,
                                 image_renderer: str = "notebook"
                                 ) -> Tuple[pd.DataFrame, pd.DataFrame]:
        types = cls._kernel_types(t, include_memory_kernels)
        result = t.run("kernel-breakdown", ranks=t.get_ranks(), by="rank", ratio_of="names",
                       num_kernels=max(1, int(num_kernels)), duration_ratio=float(duration_ratio),
                       include_memory=bool(include_memory_kernels))
        kernels = pd.DataFrame(_statistics(result))
        kernels["kernel_type"] = [_HTA_TYPES.get(word, word) for word in result.texts("kernel_type")]
        kernels["rank"] = result.ints("rank")
        kernels = kernels[kernels["kernel_type"] != "OTHER"]
        kernels = kernels.sort_values(["kernel_type", "name", "rank"], ignore_index=True)
        if visualize:
            plots.show(plots.kernel_types(types), image_renderer)
            for figure in plots.kernel_breakdown(kernels):
                plots.show(figure, image_renderer)
        return types, kernels

    @classmethod
    def _kernel_types(cls, t, include_memory: bool) -> pd.DataFrame:
        """Time per combination of types. HTA has no type for rows that are none of the three."""
        result = t.run("kernel-types", ranks=t.get_ranks(), include_memory=bool(include_memory))
        sums: dict = {}
        for label, ns in zip(result.texts("kernel_type"), result.ints("sum_ns").tolist()):
            parts = [_HTA_TYPES.get(part, part) for part in label.split(" overlapping ")]
            known = [part for part in parts if part != "OTHER"]
            if known:
                label = " overlapping ".join(known)
                sums[label] = sums.get(label, 0) + ns
        order = sorted(sums, key=lambda label: -sums[label])
        df = pd.DataFrame({
            "kernel_type": pd.Series(order, dtype=object),
            "sum": np.array([round(sums[label] / 1000) for label in order], dtype=np.int64),
        })
        total = sum(sums.values())
        df["percentage"] = np.round([100 * sums[label] / total for label in order], 1) if total else 0.0
        return df

    @classmethod
    def get_gpu_kernels_with_user_annotations(cls, t, rank: int, expand_names: bool = True,
                                              shortern_names: bool = True, visualize: bool = False, *,
                                              shorten_names: Optional[bool] = None
                                              ) -> Optional[pd.DataFrame]:
        shortern_names = shortern_names if shorten_names is None else shorten_names
        if rank not in t.traces:
            raise ValueError(f"there is no rank {rank}; the traces have {t.get_ranks()}")
        t.mark_annotated(rank)
        if not t.has_category("gpu_user_annotation"):
            return None
        df = t.gpu_rows(rank)
        labels = t.run("kernel-annotations", ranks=[rank], hta=True, group_by="none", columns=["annotation"])
        codes, texts = labels.codes("annotation")
        df["user_annotation"] = t.intern(texts)[codes]
        if len(df) and (df["user_annotation"] == -1).all():
            _warn_of_annotations(t, True)
        if expand_names:
            decode_symbol_id_to_symbol_name(df, t.known_symbols, shortern_names)
        if visualize:
            plots.show(plots.annotations(t.run("kernel-annotations", ranks=[rank], group_by="stack")))
        return df

    @classmethod
    def get_gpu_user_annotation_breakdown(cls, t, use_gpu_annotation: bool = True,
                                          visualize: bool = True, duration_ratio: float = 0.8,
                                          num_kernels: int = 1000,
                                          allowlist_patterns: Optional[List[str]] = None,
                                          image_renderer: Optional[str] = None
                                          ) -> Optional[pd.DataFrame]:
        cat = "gpu_user_annotation" if use_gpu_annotation else "user_annotation"
        if not t.has_category(cat):
            return None
        result = t.run("annotation-breakdown", ranks=t.get_ranks(), ratio_of="names",
                       source="gpu" if use_gpu_annotation else "cpu",
                       num_kernels=max(1, int(num_kernels)), duration_ratio=float(duration_ratio),
                       allowlist=_allowlist(allowlist_patterns))
        df = pd.DataFrame(_statistics(result))
        df["rank"] = result.ints("rank")
        df = df.sort_values(["rank", "name"], ignore_index=True)
        if df.empty:
            _warn_of_annotations(t, use_gpu_annotation)
        if visualize:
            for figure in plots.annotation_breakdown(df, use_gpu_annotation):
                plots.show(figure, image_renderer)
        return df

    @classmethod
    def get_temporal_breakdown(cls, t, visualize: bool = True) -> pd.DataFrame:
        result = t.run("temporal-breakdown", ranks=t.get_ranks())
        data = {"rank": result.ints("rank")}
        if all(result.valid(column).all() for _, column in _TEMPORAL):
            times = microseconds(*(result.ints(column) for _, column in _TEMPORAL))
        else:
            times = [result.floats(column) / 1000 for _, column in _TEMPORAL]
        for (name, _), values in zip(_TEMPORAL, times):
            data[name] = values
        for name in ("idle_time", "compute_time", "non_compute_time"):
            with np.errstate(invalid="ignore", divide="ignore"):
                share = 100 * data[f"{name}(us)"] / data["kernel_time(us)"]
            data[f"{name}_pctg"] = np.round(share, 2)
        df = pd.DataFrame(data)
        if visualize:
            plots.show(plots.temporal(df))
        return df

    @classmethod
    def get_idle_time_breakdown(cls, t, consecutive_kernel_delay: int, rank: int = 0,
                                streams: Optional[List[int]] = None, visualize: bool = True,
                                visualize_pctg: bool = True, show_idle_interval_stats=False,
                                exact: bool = False) -> Tuple[pd.DataFrame, Optional[pd.DataFrame]]:
        """Gaps of each stream by cause.

        By default a gap counts whole for one cause, as HTA has it; exact splits it where the launch
        came and counts no gap that is negative.
        """
        if rank not in t.traces:
            raise ValueError(f"there is no rank {rank}; the traces have {t.get_ranks()}")
        arguments = {
            "threshold": f"{int(round(consecutive_kernel_delay * 1000))}",
            "streams": ",".join(str(stream) for stream in streams) if streams else None,
        }
        result = t.run("idle-breakdown", ranks=[rank], hta=not exact, **arguments)
        df = pd.DataFrame({
            "rank": result.ints("rank"),
            "stream": result.ints("stream"),
            "idle_category": result.texts("idle_category"),
            "idle_time": np.round(result.floats("idle_ns") / 1000, 2),
            "idle_time_ratio": np.round(result.floats("idle_share"), 2),
        })
        statistics = cls._idle_statistics(t, rank, exact, arguments) if show_idle_interval_stats else None
        if visualize:
            plots.show(plots.idle(df, visualize_pctg))
        return df, statistics

    @classmethod
    def _idle_statistics(cls, t, rank, exact, arguments) -> pd.DataFrame:
        result = t.run("idle-intervals", ranks=[rank], hta=not exact, **arguments)
        names = ["mean_ns", "std_ns", "min_ns", "p25_ns", "p50_ns", "p75_ns", "max_ns"]
        data = {"rank": result.ints("rank"), "stream": result.ints("stream"),
                "count": result.floats("count")}
        for name, column in zip(STATISTICS[1:], names):
            data[name] = np.round(result.floats(column) / 1000, 2)
        index = pd.Index(result.texts("idle_category"), name="idle_category")
        return pd.DataFrame(data, index=index)
