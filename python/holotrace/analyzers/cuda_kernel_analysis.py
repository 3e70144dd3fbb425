# SPDX-License-Identifier: Apache-2.0
"""Launches: sequences of kernels, delays, statistics."""

import logging
import os
from typing import Dict, List, Optional

import numpy as np
import pandas as pd

from holotrace._hta import overlay, plots
from holotrace._hta.engine import microseconds, plain_index
from holotrace.analyzers.trace_counters import chosen_ranks, split_by_rank
from holotrace.common.trace import Trace
from holotrace.utils.checker import is_valid_directory

logger = logging.getLogger("hta")

_KERNEL_LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx",
                    "hipLaunchKernel", "hipLaunchKernelExC", "hipExtModuleLaunchKernel",
                    "hipModuleLaunchKernel", "runFunction - job_prep_and_submit_for_execution")
_COPY_LAUNCHES = ("cudaMemcpyAsync", "cudaMemsetAsync", "hipMemcpyAsync", "hipMemsetAsync",
                  "hipMemcpyWithStream")


def _launches_of_frame(df: pd.DataFrame, ids: Dict[str, int], include_memory: bool) -> pd.DataFrame:
    """Launch statistics of a frame that no file is behind; ids are those of the symbol table."""
    names = _KERNEL_LAUNCHES + (_COPY_LAUNCHES if include_memory else ())
    is_launch = df["name"].isin([ids[name] for name in names if name in ids])
    columns = ["correlation", "dur", "ts"]
    calls = df.loc[is_launch & (df["stream"] < 0) & (df["correlation"] >= 0), columns]
    work = df.loc[df["stream"] >= 0, columns]
    pairs = calls.merge(work, on="correlation", suffixes=("_call", "_work"))
    delay = pairs["ts_work"] - (pairs["ts_call"] + pairs["dur_call"])
    return pd.DataFrame({
        "correlation": pairs["correlation"],
        "cpu_duration": pairs["dur_call"],
        "gpu_duration": pairs["dur_work"],
        "launch_delay": delay.clip(lower=0),
    })


class CudaKernelAnalysis:
    @classmethod
    def get_frequent_cuda_kernel_sequences(cls, t, operator_name: str, output_dir: str,
                                           min_pattern_len: int = 3, rank: int = 0, top_k: int = 5,
                                           visualize: bool = True,
                                           compress_other_kernels: bool = True,
                                           exact: bool = False) -> pd.DataFrame:
        """Sequences of kernels that an operator launches, and the trace with the top_k marked.

        By default operators are looked for at their shallowest depth only, as HTA does; exact takes
        every outermost one.
        """
        outcome = is_valid_directory(output_dir, must_be_writable=True)
        if not operator_name or not outcome.success:
            logger.error("%s", outcome.reason or "no operator name was given")
            return pd.DataFrame()
        if rank not in t.traces:
            raise ValueError(f"there is no rank {rank}; the traces have {t.get_ranks()}")
        t.add_call_graph(rank)
        arguments = {"operator": operator_name, "min-length": max(1, int(min_pattern_len))}
        result = t.run("kernel-sequences", ranks=[rank], hta=not exact, **arguments)
        if not exact:
            t.warn_if_more(result, "exact=True", "kernel-sequences", [rank], **arguments)
        if not result.n:
            return pd.DataFrame()
        gpu, cpu = microseconds(result.ints("gpu_ns"), result.ints("op_ns"))
        df = pd.DataFrame({
            "pattern": result.texts("pattern"),
            "count": result.ints("count"),
            "GPU kernel duration (us)": gpu,
            "CPU op duration (us)": cpu,
        }).sort_values(["count", "pattern"], ascending=[False, True], ignore_index=True)
        target = os.path.join(output_dir, overlay.SEQUENCES_PREFIX + os.path.basename(t.trace_files[rank]))
        overlay.write_sequences(t, rank, target, {**arguments, "top-patterns": max(1, int(top_k)),
                                                  "hta-compat": not exact}, compress_other_kernels)
        if visualize:
            plots.show(plots.sequences(df.head(top_k), operator_name))
        return df

    @classmethod
    def cuda_kernel_launch_stats(cls, t, ranks: Optional[List[int]] = None, runtime_cutoff: int = 50,
                                 launch_delay_cutoff: int = 100, include_memory_events: bool = True,
                                 visualize: bool = True,
                                 all_launches: bool = False) -> Dict[int, pd.DataFrame]:
        """Durations of launch calls and of what they launched, and the delay between.

        By default the calls that HTA knows by name; all_launches takes driver, graph and HIP
        launches too. Of frames without files, which any object with get_trace() and symbol_table may
        have, every launch that is known by name.
        """
        if not isinstance(t, Trace) or not t.has_files:
            ids = t.symbol_table.get_sym_id_map()
            return {rank: _launches_of_frame(t.get_trace(rank), ids, include_memory_events)
                    for rank in ranks or [0]}
        ranks = chosen_ranks(t, ranks)
        result = t.run("launch-stats", ranks=ranks, hta=not all_launches, view="all",
                       include_memory=bool(include_memory_events))
        if not all_launches:
            t.warn_if_more(result, "all_launches=True", "launch-stats", ranks, view="all",
                           include_memory=bool(include_memory_events))
        cpu, gpu, delay = microseconds(result.ints("cpu_ns"), result.ints("gpu_ns"),
                                       result.ints("launch_delay_ns"))
        if delay.dtype.kind == "f" and t.has_doubles():
            start, launch = t.starts(result, "index_gpu"), t.starts(result, "index_launch")
            delay = np.maximum(0, start - (launch + cpu))
        frame = pd.DataFrame({
            "correlation": result.ints("correlation"),
            "cpu_duration": cpu,
            "gpu_duration": gpu,
            "launch_delay": delay,
        })
        if all_launches:
            for column in ("name", "launch"):
                frame[column] = result.texts(column)
            for column in ("stream", "index_launch", "index_gpu"):
                frame[column] = result.ints(column)
        frames = split_by_rank(frame, result.ints("rank"), ranks)
        for rank in ranks:
            df = frames.setdefault(rank, frame.iloc[0:0].copy())
            df.index = plain_index(len(df))
            if visualize:
                cls.visualize_cuda_launch_kernel_info(rank, df, runtime_cutoff, launch_delay_cutoff)
        return {rank: frames[rank] for rank in ranks}

    @classmethod
    def visualize_cuda_launch_kernel_info(cls, rank: int, df: pd.DataFrame, runtime_cutoff: int,
                                          launch_delay_cutoff: int) -> None:
        for figure in plots.launches(rank, df, runtime_cutoff, launch_delay_cutoff):
            plots.show(figure)

    @classmethod
    def get_aten_op_kernels_and_delay(cls, trace, ranks: Optional[List[int]] = None,
                                      sort_by: Optional[List[str]] = None,
                                      visualize: bool = True) -> Dict[int, pd.DataFrame]:
        """Delays from an aten operator to its first launch, and from there to the kernel."""
        ranks = chosen_ranks(trace, ranks)
        result = trace.run("op-launch-delay", ranks=ranks)
        frame = pd.DataFrame({
            "aten_op_name": result.texts("operator"),
            "kernel_sequence": result.texts("kernel_sequence"),
            "occurrence_count": result.ints("count"),
            "avg_aten_op_launch_delay": np.round(result.floats("op_launch_delay_ns") / 1000, 3),
            "avg_runtime_delay": np.round(result.floats("runtime_delay_ns") / 1000, 3),
        })
        frames = split_by_rank(frame, result.ints("rank"), ranks)
        for rank in ranks:
            df = frames.setdefault(rank, frame.iloc[0:0].copy())
            frames[rank] = df.sort_values(sort_by or ["occurrence_count"], ascending=False,
                                          kind="stable", ignore_index=True)
            if visualize:
                cls.visualize_aten_op_kernels_and_overhead(rank, frames[rank])
        return {rank: frames[rank] for rank in ranks}

    @classmethod
    def visualize_aten_op_kernels_and_overhead(cls, rank: int, df: pd.DataFrame):
        plots.show(plots.operator_delays(rank, df))
