# SPDX-License-Identifier: Apache-2.0
"""HTA's tables as the drop-in makes them, beside HTA's own results.

The calls and their order are those that HTA's results were made with: kernel sequences leave columns behind
that later tables show.
"""
import contextlib
import csv
import os
import pathlib
import tempfile

import pandas as pd

from holotrace.trace_analysis import TraceAnalysis

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUNDLED = ROOT / "tests" / "golden-hta"
EXTRA = pathlib.Path(os.environ.get("HOLOTRACE_EXTRA_DATA") or "/nowhere")
OPERATORS = ("aten::linear", "aten::mm", "aten::add", "aten::conv2d")


class Case:
    """One run: HTA's tables and the traces they were made from."""

    def __init__(self, folder, files):
        self.folder, self.files = folder, files
        self.name = folder.name if folder.parent != BUNDLED else f"bundled-{folder.name}"
        #: the run, whether its tables are the bundled ones or not
        self.run = folder.name.removeprefix("h200_")

    def failed(self):
        """Calls that HTA raised at; None where that was not kept."""
        status = self.folder / "STATUS.txt"
        if not status.exists():
            return None
        return {line.split(":")[0] for line in status.read_text().splitlines() if ": FAILED" in line}

    def golden(self):
        """{table: path} of HTA's results."""
        return {path.name: path for path in sorted(self.folder.iterdir())
                if path.suffix in (".csv", ".txt") and path.name not in ("DATA.txt", "STATUS.txt")}

    @contextlib.contextmanager
    def analysis(self):
        with tempfile.TemporaryDirectory() as links:
            for path in self.files:
                os.symlink(path, os.path.join(links, path.name))
            yield TraceAnalysis(trace_dir=links)


def cases():
    found = []
    for folder in sorted(BUNDLED.iterdir()):
        files = sorted((ROOT / "examples" / folder.name).glob("*.json.gz"))
        if folder.is_dir() and files:
            found.append(Case(folder, files))
    for data in sorted((EXTRA.parent / "golden" / "hta").glob("*/DATA.txt")):
        files = sorted(EXTRA.glob(data.read_text().strip()))
        if files and (data.parent / "STATUS.txt").exists():
            found.append(Case(data.parent, files))
    return found


def calls(analysis):
    """(name, call) in HTA's order."""
    ranks = sorted(analysis.t.traces)
    yield "temporal_breakdown", lambda: analysis.get_temporal_breakdown(visualize=False)
    for memory in (True, False):
        yield f"gpu_kernel_breakdown.mem_{memory}", lambda: analysis.get_gpu_kernel_breakdown(
            visualize=False, include_memory_kernels=memory)
    yield "gpu_kernel_breakdown.top3", lambda: analysis.get_gpu_kernel_breakdown(
        visualize=False, num_kernels=3)
    yield "idle_time_breakdown", lambda: analysis.get_idle_time_breakdown(
        visualize=False, ranks=ranks, show_idle_interval_stats=True)
    yield "comm_comp_overlap", lambda: analysis.get_comm_comp_overlap(visualize=False)
    yield "memory_bw_summary", lambda: analysis.get_memory_bw_summary(ranks=ranks)
    yield "memory_bw_time_series", lambda: analysis.get_memory_bw_time_series(ranks=ranks)
    yield "queue_length_summary", lambda: analysis.get_queue_length_summary(ranks=ranks)
    yield "queue_length_time_series", lambda: analysis.get_queue_length_time_series(ranks=ranks)
    yield "time_blocked_on_full_queue", lambda: analysis.get_time_spent_blocked_on_full_queue(
        analysis.get_queue_length_time_series(ranks=ranks), 1024)
    yield "cuda_kernel_launch_stats", lambda: analysis.get_cuda_kernel_launch_stats(
        ranks=ranks, visualize=False)
    for operator in OPERATORS:
        yield f"frequent_sequences.{operator.replace('::', '_')}", lambda: sequences(
            analysis, operator, ranks[0])
    for host in (False, True):
        yield f"annotation_breakdown.{'cpu' if host else 'gpu'}", lambda: (
            analysis.get_gpu_user_annotation_breakdown(use_gpu_annotation=not host, visualize=False))
    for rank in ranks:
        yield f"kernels_with_annotations.rank{rank}", lambda: (
            analysis.get_gpu_kernels_with_user_annotations(rank=rank, expand_names=True))
    yield "profiler_steps", analysis.get_profiler_steps
    yield "potential_stragglers", analysis.get_potential_stragglers
    yield "cupti_counters", lambda: analysis.get_cupti_counter_data_with_operators(ranks=ranks)


def sequences(analysis, operator, rank):
    with tempfile.TemporaryDirectory() as folder:
        return analysis.get_frequent_cuda_kernel_sequences(operator, folder, rank=rank, visualize=False)


def critical_path(analysis, instance, annotation):
    graph, found = analysis.critical_path_analysis(
        rank=sorted(analysis.t.traces)[0], annotation=annotation, instance_id=instance)
    sizes = (f"success={found} nodes={len(graph.critical_path_nodes)} "
             f"edges={len(graph.critical_path_edges_set)} graph_nodes={graph.number_of_nodes()} "
             f"graph_edges={graph.number_of_edges()}\n")
    return {"summary.csv": graph.summary(), "breakdown.csv": graph.get_critical_path_breakdown(),
            "nodes.txt": sizes}


def flat(name, value):
    """{file: cells or text} of a result, as the results of HTA were written."""
    if isinstance(value, (pd.DataFrame, pd.Series)):
        index = isinstance(value, pd.Series) or not isinstance(value.index, pd.RangeIndex)
        return {f"{name}.csv": list(csv.reader(value.to_csv(index=index).splitlines()))}
    if isinstance(value, dict) and value:
        return {k: v for rank, df in value.items() for k, v in flat(f"{name}.rank{rank}", df).items()}
    if isinstance(value, (tuple, list)) and any(isinstance(item, (pd.DataFrame, dict)) for item in value):
        return {k: v for i, item in enumerate(value) for k, v in flat(f"{name}.{i}", item).items()}
    return {} if value is None else {f"{name}.txt": repr(value)}


def annotation_of(case):
    """What the critical paths of a case are of."""
    if case.name in ("critical_path_alexnet", "critical_path_simple_add"):
        return "[param|pytorch.model.alex_net|0|0|0|measure|forward]"
    return "ProfilerStep"


def tables(case, analysis):
    """{file: cells or text}: everything that HTA's results hold, as we give it."""
    found = {}
    failed = case.failed()
    for name, call in calls(analysis):
        try:
            found.update(flat(name, call()))
        except ValueError:
            assert failed is None or name in failed, f"{name}: HTA answers, we do not"
    for instance in (0, 1):
        wanted = f"critical_path.{instance}."
        if any(name.startswith(wanted) for name in case.golden()):
            for name, value in critical_path(analysis, instance, annotation_of(case)).items():
                made = {name: value} if isinstance(value, str) else flat(name.removesuffix(".csv"), value)
                found.update({wanted + k: v for k, v in made.items()})
    return found
