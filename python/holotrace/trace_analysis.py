# SPDX-License-Identifier: Apache-2.0
"""TraceAnalysis: HTA's analyses of a run, answered by the engine.

    from holotrace.trace_analysis import TraceAnalysis
    analysis = TraceAnalysis(trace_dir="traces/")
    analysis.get_temporal_breakdown()

Tables have HTA's rows and columns; values are exact where HTA's are not (docs/migrating-from-hta.md).
Methods take one argument more where the engine can answer more than HTA: exact or all_launches.
"""

import logging
import os
from enum import Flag
from typing import Callable, Dict, List, Optional, Tuple, Union

import holotrace._hta  # noqa: F401  first: says what is missing without pandas

import pandas as pd

from holotrace._hta import overlay
from holotrace.analyzers.breakdown_analysis import BreakdownAnalysis
from holotrace.analyzers.communication_analysis import CommunicationAnalysis
from holotrace.analyzers.critical_path_analysis import CPGraph, CriticalPathAnalysis
from holotrace.analyzers.cuda_kernel_analysis import CudaKernelAnalysis
from holotrace.analyzers.cupti_counter_analysis import CuptiCounterAnalysis
from holotrace.analyzers.straggler import find_stragglers_with_late_start_comm_kernels
from holotrace.analyzers.straggler_analysis import StragglerAnalysis
from holotrace.analyzers.trace_counters import TraceCounters, chosen_ranks
from holotrace.common.constants import CUDA_MAX_LAUNCH_QUEUE_PER_STREAM
from holotrace.common.trace import Trace
from holotrace.configs.default_values import DEFAULT_TRACE_DIR
from holotrace.configs.parser_config import ParserConfig

logger = logging.getLogger("hta")


class TimeSeriesTypes(Flag):
    """What generate_trace_with_counters adds."""

    QUEUE_LENGTH = 1
    MEMCPY_BANDWIDTH = 2


class TraceAnalysis:
    """Analyses of the traces of one run.

        analysis = TraceAnalysis(trace_dir="traces/")
        analysis.get_temporal_breakdown()

    trace_dir                    a directory with one trace per rank
    trace_files                  {rank: file}, a list of files, or None for those in trace_dir
    include_last_profiler_step   keep the last step, which profilers usually cut short
    parser_config                which arguments become columns of t.traces
    """

    def __init__(self, trace_files: Optional[Union[Dict[int, str], List[str]]] = None,
                 trace_dir: str = DEFAULT_TRACE_DIR,
                 include_last_profiler_step: Optional[bool] = False,
                 parser_config: Optional[ParserConfig] = None):
        self.t = Trace(trace_files, trace_dir, parser_config)
        self.t.load_traces(include_last_profiler_step=include_last_profiler_step)
        if not self.t.traces:
            raise ValueError("there is no trace with events")

    def __repr__(self) -> str:
        ranks, paths = self.t.get_ranks(), self.t.core.paths
        named = f"rank {ranks[0]}" if len(ranks) == 1 else f"{len(ranks)} ranks"
        place = paths[0] if len(paths) == 1 else os.path.commonpath(paths)
        last = "with" if self.t.include_last else "without"
        return f"<TraceAnalysis: {named}, {sum(self.t.core.n_events):,} events, {last} the last step, {place}>"

    def get_comm_comp_overlap(self, visualize: bool = True) -> pd.DataFrame:
        """Share of communication time during which a compute kernel runs, per rank.

            visualize   draw bars of the shares

        Returns rank, comp_comm_overlap_pctg; NaN for a rank without communication.

            analysis.get_comm_comp_overlap(visualize=False)
        """
        return CommunicationAnalysis.get_comm_comp_overlap(self.t, visualize)

    def get_profiler_steps(self) -> List[int]:
        """Numbers of the loaded profiler steps, ascending.

        The last step is not loaded unless include_last_profiler_step was set.
        """
        return StragglerAnalysis.get_profiler_steps(self.t)

    def get_potential_stragglers(
            self, profiler_steps: Optional[List[int]] = None, num_candidates: int = 2,
            visualize: bool = False,
            straggler_identification_impl: Callable[..., pd.Series] =
            find_stragglers_with_late_start_comm_kernels) -> List[int]:
        """Ranks that keep the others waiting at collectives, worst first; [] when none does.

            profiler_steps   only these steps; by default all that are loaded
            num_candidates   at most so many ranks
            visualize        draw the delays
            straggler_identification_impl   another way to score ranks: f(df, symbol_table,
                             num_candidates, visualize) returns a Series of scores by rank, worst first

            analysis.get_potential_stragglers(num_candidates=1)
        """
        return StragglerAnalysis.get_potential_stragglers(
            self.t, profiler_steps, num_candidates, visualize, straggler_identification_impl)

    def get_gpu_kernel_breakdown(self, visualize: bool = True, duration_ratio: float = 0.8,
                                 num_kernels: int = 10, include_memory_kernels: bool = True,
                                 image_renderer: str = "") -> Tuple[pd.DataFrame, pd.DataFrame]:
        """(time per combination of kernel types, statistics per kernel name and rank).

            visualize                draw pies of types and names, and bars of means
            duration_ratio           with more than num_kernels names: which quantile of names is shown
            num_kernels              names to show per type and rank; the rest is "others"
            include_memory_kernels   copies and sets too
            image_renderer           of plotly: "notebook", "browser", ...

        Returns kernel_type, sum, percentage; and name, sum (us), max (us), min (us), stddev, mean (us),
        kernel_type, rank.

            types, kernels = analysis.get_gpu_kernel_breakdown(num_kernels=5, visualize=False)
        """
        return BreakdownAnalysis.get_gpu_kernel_breakdown(
            self.t, visualize, duration_ratio, num_kernels, include_memory_kernels, image_renderer)

    def get_gpu_kernels_with_user_annotations(
            self, rank: int, expand_names: bool = True, shortern_names: bool = True, *,
            shorten_names: Optional[bool] = None,
            visualize: bool = False) -> Optional[pd.DataFrame]:
        """GPU rows of a rank with the innermost annotation on their stream; None without any.

            rank             which rank
            expand_names     add s_name, s_cat and s_user_annotation, the texts of the ids
            shortern_names   s_name without templates and arguments; shorten_names is the same
            visualize        draw an icicle of annotation stacks

            df = analysis.get_gpu_kernels_with_user_annotations(rank=0)
            df.groupby("s_user_annotation")["dur"].sum()
        """
        shorten = shortern_names if shorten_names is None else shorten_names
        return BreakdownAnalysis.get_gpu_kernels_with_user_annotations(
            self.t, rank, expand_names, shorten, visualize)

    def get_gpu_user_annotation_breakdown(
            self, use_gpu_annotation: bool = True, visualize: bool = True,
            duration_ratio: float = 0.8, num_kernels: int = 1000,
            allowlist_patterns: Optional[List[str]] = None,
            image_renderer: Optional[str] = None) -> Optional[pd.DataFrame]:
        """Statistics per annotation and rank, on the GPU or on the host; None without any.

            use_gpu_annotation   annotations on the GPU's timeline; False: on the host's
            visualize            draw pies and bars
            duration_ratio       as in get_gpu_kernel_breakdown
            num_kernels          names to show per rank; the rest is "others"
            allowlist_patterns   names that match any of these texts or expressions are always shown
            image_renderer       of plotly

        Returns name, sum (us), max (us), min (us), stddev, mean (us), rank.

            analysis.get_gpu_user_annotation_breakdown(use_gpu_annotation=False, visualize=False)
        """
        return BreakdownAnalysis.get_gpu_user_annotation_breakdown(
            self.t, use_gpu_annotation, visualize, duration_ratio, num_kernels, allowlist_patterns,
            image_renderer)

    def get_temporal_breakdown(self, visualize: bool = True) -> pd.DataFrame:
        """Idle, compute and other time of the GPU per rank, in us and percent of its span.

            visualize   draw stacked bars

        Returns rank, idle_time(us), compute_time(us), non_compute_time(us), kernel_time(us), and
        idle_time_pctg, compute_time_pctg, non_compute_time_pctg.

            analysis.get_temporal_breakdown(visualize=False)
        """
        return BreakdownAnalysis.get_temporal_breakdown(self.t, visualize)

    def get_frequent_cuda_kernel_sequences(
            self, operator_name: str, output_dir: str, min_pattern_len: int = 3, rank: int = 0,
            top_k: int = 5, visualize: bool = False, compress_other_kernels: bool = True, *,
            exact: bool = False) -> pd.DataFrame:
        """Sequences of kernels that an operator launches; writes overlaid_<trace> to output_dir.

            operator_name            text that the operator's name contains: "aten::linear"
            output_dir               a directory that exists
            min_pattern_len          shortest sequence
            rank                     which rank
            top_k                    patterns to draw into the trace
            visualize                draw bars of the counts
            compress_other_kernels   accepted, without effect
            exact                    operators at every depth, not only at the smallest

        Returns pattern, count, GPU kernel duration (us), CPU op duration (us), most frequent first.

            analysis.get_frequent_cuda_kernel_sequences("aten::linear", output_dir="/tmp")
        """
        return CudaKernelAnalysis.get_frequent_cuda_kernel_sequences(
            self.t, operator_name, output_dir, min_pattern_len, rank, top_k, visualize,
            compress_other_kernels, exact)

    def get_aten_op_kernels_and_delay(self, ranks: Optional[List[int]] = None,
                                      sort_by: Optional[List[str]] = None, *,
                                      visualize: bool = True) -> Dict[int, pd.DataFrame]:
        """Delays from aten operators to their launches and kernels: {rank: table}.

            ranks       which ranks; by default rank 0
            sort_by     columns to sort by, descending; by default ["occurrence_count"]
            visualize   draw a table

            analysis.get_aten_op_kernels_and_delay(ranks=[0], visualize=False)[0]
        """
        return CudaKernelAnalysis.get_aten_op_kernels_and_delay(self.t, ranks, sort_by, visualize)

    def get_cuda_kernel_launch_stats(self, ranks: Optional[List[int]] = None,
                                     runtime_cutoff: int = 50, launch_delay_cutoff: int = 100,
                                     include_memory_events: bool = True, visualize: bool = True, *,
                                     all_launches: bool = False) -> Dict[int, pd.DataFrame]:
        """Durations of launch calls and of what they launched: {rank: table}.

            ranks                   which ranks; by default rank 0
            runtime_cutoff          us: longer calls are outliers, in charts
            launch_delay_cutoff     us: longer delays are outliers, in charts
            include_memory_events   copies and sets too
            visualize               draw histograms
            all_launches            driver, graph, cooperative and HIP launches too, with names and streams

        Tables have correlation, cpu_duration, gpu_duration, launch_delay, in us.

            analysis.get_cuda_kernel_launch_stats(ranks=[0, 1], visualize=False)[1]
        """
        return CudaKernelAnalysis.cuda_kernel_launch_stats(
            self.t, ranks, runtime_cutoff, launch_delay_cutoff, include_memory_events, visualize,
            all_launches)

    def generate_trace_with_counters(self, time_series: Optional[TimeSeriesTypes] = None,
                                     ranks: Optional[List[int]] = None,
                                     output_suffix: str = overlay.COUNTERS_SUFFIX) -> None:
        """Write each rank's trace, with counters added, beside the original.

            time_series     TimeSeriesTypes.QUEUE_LENGTH, .MEMCPY_BANDWIDTH, or both (the default)
            ranks           which ranks; by default rank 0
            output_suffix   goes before .json in the file's name

            analysis.generate_trace_with_counters(TimeSeriesTypes.QUEUE_LENGTH)
        """
        both = TimeSeriesTypes.QUEUE_LENGTH | TimeSeriesTypes.MEMCPY_BANDWIDTH
        series = both if time_series is None else time_series
        for rank in chosen_ranks(self.t, ranks):
            path = self.t.trace_files[rank]
            target = overlay.with_suffix(path, output_suffix)
            events = self._counter_events(rank, series)
            if not events:
                logger.warning("rank %d has nothing to count", rank)
            elif series == both and not self.t.include_last:
                overlay.write_counters(self.t, rank, target)
            else:
                document = self.t.get_raw_trace_for_one_rank(rank)
                document["traceEvents"].extend(events)
                self.t.write_raw_trace(target, document)

    def _counter_events(self, rank: int, series: TimeSeriesTypes) -> list:
        events: list = []
        if TimeSeriesTypes.QUEUE_LENGTH in series:
            for df in TraceCounters.get_queue_length_time_series(self.t, [rank]).values():
                events += self.t.convert_time_series_to_events(
                    df.rename(columns={"queue_length": "Queue Length"}), "Queue Length", "Queue Length")
        if TimeSeriesTypes.MEMCPY_BANDWIDTH in series:
            for df in TraceCounters.get_memory_bw_time_series(self.t, [rank]).values():
                for kind, points in df.groupby("name"):
                    made = self.t.convert_time_series_to_events(points, kind, "memory_bw_gbps")
                    for event in made:
                        event["args"] = {"Memcpy BW": event["args"][kind]}
                    events += made
        return events

    def get_queue_length_summary(self, ranks: Optional[List[int]] = None, *,
                                 exact: bool = False) -> Optional[pd.DataFrame]:
        """Statistics of the queue length per rank and stream; None without any.

            ranks   which ranks; by default rank 0
            exact   count every launch, also those of graphs

            analysis.get_queue_length_summary(ranks=[0, 1])
        """
        return TraceCounters.get_queue_length_summary(self.t, ranks, exact)

    def get_queue_length_summary_from_time_series(
            self, queue_length_dict: Dict[int, pd.DataFrame]) -> Optional[pd.DataFrame]:
        """The same from series: queue_length_dict is what get_queue_length_time_series returned."""
        return TraceCounters.get_queue_length_summary_from_time_series(queue_length_dict)

    def get_queue_length_time_series(self, ranks: Optional[List[int]] = None, *,
                                     exact: bool = False,
                                     visualize: bool = False) -> Dict[int, pd.DataFrame]:
        """Length of the launch queue of each stream at every change: {rank: table}.

            ranks       which ranks; by default rank 0
            exact       count every launch, also those of graphs
            visualize   draw the series

        Tables have ts (us), pid, tid, stream, queue_length; the row label is the event's index.

            analysis.get_queue_length_time_series()[0]
        """
        return TraceCounters.get_queue_length_time_series(self.t, ranks, exact, visualize)

    def get_time_spent_blocked_on_full_queue(
            self, queue_length_dict: Dict[int, pd.DataFrame],
            max_queue_length: int = CUDA_MAX_LAUNCH_QUEUE_PER_STREAM) -> Optional[pd.DataFrame]:
        """Time per rank and stream with the queue at its limit.

            queue_length_dict   what get_queue_length_time_series returned
            max_queue_length    the limit; on current GPUs a little below 1024

            series = analysis.get_queue_length_time_series()
            analysis.get_time_spent_blocked_on_full_queue(series, max_queue_length=1000)
        """
        return TraceCounters.get_time_spent_blocked_on_full_queue(
            self.t, queue_length_dict, max_queue_length)

    def get_memory_bw_summary(self, ranks: Optional[List[int]] = None) -> Optional[pd.DataFrame]:
        """Statistics of the bandwidth of copies and sets per rank and kind; None without any.

            ranks   which ranks; by default rank 0
        """
        return TraceCounters.get_memory_bw_summary(self.t, ranks)

    def get_memory_bw_time_series(self, ranks: Optional[List[int]] = None, *,
                                  visualize: bool = False) -> Dict[int, pd.DataFrame]:
        """Bandwidth of copies and sets at every change: {rank: table}.

            ranks       which ranks; by default rank 0
            visualize   draw the series

        Tables have ts (us), pid, name, memory_bw_gbps.
        """
        return TraceCounters.get_memory_bw_time_series(self.t, ranks, visualize)

    def get_idle_time_breakdown(self, ranks: Optional[List[int]] = None,
                                streams: Optional[List[int]] = None, visualize: bool = True,
                                visualize_pctg: bool = True, show_idle_interval_stats=False,
                                consecutive_kernel_delay: int = 30, *, exact: bool = False
                                ) -> Tuple[pd.DataFrame, Optional[pd.DataFrame]]:
        """(idle time per stream and cause, statistics of the gaps or None).

            ranks                      which ranks; by default rank 0
            streams                    which streams; by default all
            visualize                  draw stacked bars
            visualize_pctg             of shares rather than times
            show_idle_interval_stats   also return statistics of the gaps
            consecutive_kernel_delay   us: a shorter gap between launched kernels is kernel_wait
            exact                      split gaps where the launch came; none is negative

        Returns rank, stream, idle_category (host_wait, kernel_wait, other), idle_time (us),
        idle_time_ratio.

            idle, _ = analysis.get_idle_time_breakdown(ranks=[0, 1], visualize=False)
        """
        pairs = [BreakdownAnalysis.get_idle_time_breakdown(
            self.t, consecutive_kernel_delay, rank, streams, visualize, visualize_pctg,
            show_idle_interval_stats, exact) for rank in chosen_ranks(self.t, ranks)]
        idle = pd.concat([pair[0] for pair in pairs])
        statistics = pd.concat([pair[1] for pair in pairs]) if show_idle_interval_stats else None
        return idle, statistics

    def get_cupti_counter_data_with_operators(self, ranks: Optional[List[int]] = None
                                              ) -> List[pd.DataFrame]:
        """CUPTI profiler ranges with counters and operators, one frame per rank.

            ranks   which ranks; by default rank 0

        Frames have the columns of t.traces, one per counter, and op_stack, top_level_op, bottom_level_op.
        """
        return CuptiCounterAnalysis.get_counter_data_with_operators(self.t, ranks)

    def critical_path_analysis(self, rank: int, annotation: str,
                               instance_id: Union[Optional[int], Tuple[int, int]] = None,
                               data_load_events: Optional[List[str]] = None, *,
                               exact: bool = False) -> Optional[Tuple[CPGraph, bool]]:
        """(graph with its critical path, whether it is sound) within an annotation; None without it.

            rank               which rank
            annotation         text that the annotation's name contains: "ProfilerStep"; "" for everything
            instance_id        which of them, from 0, or (first, last); by default the first
            data_load_events   texts in names of events that load data and belong to the graph
            exact              what every nanosecond of the window waited for, not HTA's graph

            graph, ok = analysis.critical_path_analysis(0, "ProfilerStep", 1)
            graph.summary()
        """
        return CriticalPathAnalysis.critical_path_analysis(
            self.t, rank, annotation, instance_id, data_load_events, exact)

    def overlay_critical_path_analysis(self, rank: int, critical_path_graph: CPGraph,
                                       output_dir: str, only_show_critical_events: bool = True,
                                       show_all_edges: bool = False) -> str:
        """Write the trace with the critical path drawn into it, and return the file's name.

            rank                        which rank
            critical_path_graph         what critical_path_analysis returned
            output_dir                  where to; it is made if need be
            only_show_critical_events   leave other operators and kernels out
            show_all_edges              draw all edges of the graph

            analysis.overlay_critical_path_analysis(0, graph, output_dir="/tmp")
        """
        return CriticalPathAnalysis.overlay_critical_path_analysis(
            self.t, rank, critical_path_graph, output_dir, only_show_critical_events, show_all_edges)
