# SPDX-License-Identifier: Apache-2.0
"""HTA's objects: traces, symbols, filters, call graphs, critical paths, diffs, memory, charts."""
import gzip
import importlib
import json
import warnings

import numpy as np
import pandas as pd
import pytest

import holotrace
from holotrace.analyzers.critical_path_analysis import CPEdgeType, restore_cpgraph
from holotrace.common.trace import Trace, parse_trace_file
from holotrace.common.trace_call_graph import CallGraph
from holotrace.common.trace_filter import (CompositeFilter, CPUOperatorFilter, FirstIterationFilter,
                                           GPUKernelFilter, IterationFilter, IterationIndexFilter,
                                           MemCopyEventFilter, NameFilter, RankFilter,
                                           TimeRangeFilter, ZeroDurationFilter)
from holotrace.common.trace_stack_filter import (AfterOperatorFilter, BeforeOperatorFilter,
                                                 CombinedOperatorFilter, UnderOperatorFilter)
from holotrace.common.trace_symbol_table import TraceSymbolTable
from holotrace.configs.parser_config import ParserConfig
from holotrace.memory_analysis import MemoryAnalysis
from holotrace.trace_analysis import TraceAnalysis
from holotrace.trace_diff import DeviceType, LabeledTrace, TraceDiff
from holotrace.utils.utils import get_kernel_type, merge_kernel_intervals, shorten_name


@pytest.fixture(scope="module")
def ddp(examples):
    return TraceAnalysis(trace_dir=str(examples / "ddp"))


@pytest.fixture(scope="module")
def frame(ddp):
    return ddp.t.traces[0]


@pytest.mark.parametrize("module", [
    "trace_analysis", "trace_diff", "memory_analysis", "common.trace", "common.trace_file",
    "common.trace_filter", "common.trace_parser", "common.trace_stack_filter",
    "common.trace_symbol_table", "common.trace_call_graph", "common.trace_call_stack",
    "common.call_stack", "common.trace_df", "common.timeline", "common.types", "common.constants",
    "analyzers.breakdown_analysis", "analyzers.communication_analysis",
    "analyzers.critical_path_analysis", "analyzers.cuda_kernel_analysis",
    "analyzers.cupti_counter_analysis", "analyzers.straggler", "analyzers.straggler_analysis",
    "analyzers.timeline", "analyzers.trace_counters", "configs.config", "configs.default_values",
    "configs.env_options", "configs.parser_config", "utils.checker", "utils.utils",
    "utils.validate_trace", "utils.test_utils"])
def test_modules_have_htas_names(module):
    importlib.import_module(f"holotrace.{module}")


# ---- traces ----

def test_frames_are_built_when_looked_at(examples):
    t = TraceAnalysis(trace_dir=str(examples / "ddp")).t
    assert sorted(t.traces) == [0, 1, 2, 3] and 2 in t.traces
    assert all(t.traces.built(rank) is None for rank in range(4))
    assert t.traces[2] is t.traces[2] and t.traces.built(1) is None


def test_frame(ddp, frame):
    assert frame.index.equals(pd.Index(frame["index"]))
    assert frame["ts"].min() == 0 or ddp.t.traces[1]["ts"].min() == 0 or (frame["ts"] >= 0).all()
    assert np.allclose(frame["end"], frame["ts"] + frame["dur"])
    assert set(frame["iteration"].unique()) <= {-1, 3, 4, 5}
    assert ddp.t.get_iterations(0) == [3, 4]
    kernels = frame[(frame["stream"] > 0) & (frame["index_correlation"] > 0)]
    assert (kernels["index_correlation"].isin(frame["index"])).all()
    shapes = frame["input_dims"][frame["input_dims"].map(type) == list]
    assert len(shapes)


def test_whole_microseconds_stay_integers(tmp_path):
    events = [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 2, "ts": 100, "dur": 50,
               "args": {"External id": 3}}]
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": events}))
    df = TraceAnalysis(trace_dir=str(tmp_path)).t.traces[0]
    assert df[["ts", "dur", "end"]].iloc[0].tolist() == [0, 50, 50]
    assert df["ts"].dtype == np.int64 and df["external_id"].tolist() == [3]
    assert df["stream"].tolist() == [-1] and df["input_dims"].tolist() == ["-1"]


def test_trace_accessors(ddp):
    t = ddp.t
    assert t.get_device_type() == "NVIDIA GPU"
    assert t.get_trace_duration(0) == pytest.approx(t.traces[0]["end"].max() - t.traces[0]["ts"].min())
    assert t.meta_data[0]["distributedInfo"]["rank"] == 0
    raw = t.get_raw_trace_for_one_rank(1)
    spans = [e["ts"] for e in raw["traceEvents"] if "dur" in e and e.get("cat") != "Trace"]
    assert t.min_ts <= min(spans)
    start = t.get_trace_start_unixtime_ns(1)
    assert start == pytest.approx(t.min_ts * 1000 + raw["baseTimeNanoseconds"], abs=1000)
    with pytest.raises(ValueError):
        t.get_trace(9)


def test_parsing_alone_neither_aligns_nor_cuts(examples):
    path = next((examples / "train").glob("*.json.gz"))
    header, df, symbols = parse_trace_file(str(path))
    raw = json.loads(gzip.decompress(path.read_bytes()))
    rows = [e for e in raw["traceEvents"] if "dur" in e and "cat" in e and e["cat"] != "Trace"]
    assert len(df) == len(rows) and df["ts"].iloc[0] == rows[0]["ts"]
    assert symbols.sym_table[df["name"].iloc[0]] == rows[0]["name"]
    assert "traceEvents" not in header


def test_parser_config_chooses_columns(examples):
    config = ParserConfig(ParserConfig.get_minimum_args())
    t = Trace(trace_dir=str(examples / "train"), parser_config=config)
    t.load_traces()
    assert "input_dims" not in t.traces[0].columns and "stream" in t.traces[0].columns
    everything = Trace(trace_dir=str(examples / "train"),
                       parser_config=ParserConfig().set_parse_all_args(True))
    everything.load_traces()
    assert {"grid", "registers_per_thread", "sequence"} <= set(everything.traces[0].columns)
    assert ParserConfig.transform_arg_name("est. achieved occupancy %") == "est_achieved_occupancy"


def test_symbols():
    table = TraceSymbolTable()
    table.add_symbols(["b", "a", "b"])
    assert table.sym_table == ["b", "a"] and table.get_sym_id_map() == {"b": 0, "a": 1}
    df = pd.DataFrame({"name": ["x", "a"], "cat": ["c", "c"]})
    table.encode_df(df)
    table.decode_df(df)
    assert df["s_name"].tolist() == ["x", "a"]
    assert table.find_matched_symbols(["^a$"]) == ["a"]
    gaps = TraceSymbolTable.create_from_symbol_id_map({"z": 2})
    assert gaps.sym_table == ["Undefined-0", "Undefined-1", "z"]
    assert table.texts(pd.Series([0, -1, 99])).tolist() == ["b", "", ""]


def test_names():
    assert shorten_name("void at::native::(anonymous namespace)::k<int>(x)") == "at::native::::k"
    assert shorten_name("Memcpy HtoD (Pinned -> Device)") == "Memcpy HtoD (Pinned -> Device)"
    assert get_kernel_type("ncclDevKernel_AllReduce") == "COMMUNICATION"
    assert get_kernel_type("Memset (Device)") == "MEMORY"
    assert get_kernel_type("gemm") == "COMPUTATION" and get_kernel_type("Stream Sync") == "OTHER"
    merged = merge_kernel_intervals(pd.DataFrame({"ts": [5, 0, 2, 9], "dur": [2, 3, 3, 1]}))
    assert merged.to_numpy().tolist() == [[0, 7], [9, 10]]


# ---- filters ----

def test_filters(ddp, frame):
    table = ddp.t.symbol_table
    gpu, cpu = GPUKernelFilter()(frame, table), CPUOperatorFilter()(frame, table)
    assert len(gpu) + len(cpu) == len(frame) and len(gpu) == 966
    assert set(IterationFilter([3])(frame)["iteration"]) == {3}
    assert FirstIterationFilter()(frame).equals(IterationIndexFilter(0)(frame))
    assert IterationIndexFilter(-1)(frame).empty
    names = NameFilter("aten::linear", table)(frame)["name"].map(lambda i: table.sym_table[i])
    assert len(names) and names.str.startswith("aten::linear").all()
    inside = TimeRangeFilter((0, 5000))(frame)
    assert (inside["end"] <= 5000).all()
    copies = MemCopyEventFilter("Memcpy DtoD (Device -> Device)", table)(frame)
    assert len(copies)
    both = CompositeFilter([GPUKernelFilter(), ZeroDurationFilter])(frame)
    assert (both["dur"] > 0).all()
    assert RankFilter(3)(frame.assign(rank=3)).shape[0] == len(frame)
    assert RankFilter(3)(frame) is frame
    with pytest.raises(ValueError):
        TimeRangeFilter((2, 1))
    with pytest.raises(TypeError, match="instances of Filter"):
        CompositeFilter([lambda df: df])


def test_stack_filters(examples):
    t = TraceAnalysis(trace_dir=str(examples / "ddp")).t
    CallGraph(t, [0])
    t.decode_symbol_ids(use_shorten_name=False)
    df = t.traces[0]
    op = df[df["s_name"] == "## forward ##"].sort_values("ts").iloc[0]
    under = UnderOperatorFilter("## forward ##", 0, include_gpu_kernels=True)(df)
    host = under[under["stream"] == -1]
    assert (host["ts"] >= op["ts"]).all() and (host["end"] <= op["end"]).all()
    assert (under["stream"] >= 0).any()
    assert (AfterOperatorFilter("## forward ##", 0)(df)["ts"] >= op["end"]).all()
    assert (BeforeOperatorFilter("## forward ##", 0)(df)["end"] <= op["ts"]).all()
    assert UnderOperatorFilter("no such operator", 0)(df).empty
    combined = CombinedOperatorFilter("## step ##", "## forward ##", "## optimizer ##", True)(df)
    assert len(combined)


# ---- call graphs and critical paths ----

def test_call_graph(examples):
    t = TraceAnalysis(trace_dir=str(examples / "ddp")).t
    graph = CallGraph(t)
    df = t.traces[0]
    assert {"main", "bwd"} <= set(graph.mapping["label"])
    names = t.symbol_table.texts(df["name"])
    linear = df[(names == "aten::linear") & (df["num_kernels"] > 0)].iloc[0]
    stack = graph.get_stack_of_node(int(linear["index"]), rank=0, skip_ancestors=True)
    work = stack[(stack["stream"] >= 0) & (stack["dur"] > 0)]
    assert work["ts"].min() == pytest.approx(linear["first_kernel_start"])
    assert (work["end"].max() - work["ts"].min()) == pytest.approx(linear["kernel_span"])
    csg = graph.get_csg_of_node(int(linear["index"]), rank=0)
    path = csg.get_path_to_root(int(linear["index"]))
    assert len(path) >= 3 and csg.get_parent(path[0]) == path[1]
    with_ancestors = graph.get_stack_of_node(int(linear["index"]), rank=0)
    assert len(with_ancestors) > len(stack)


def test_call_graph_of_a_frame():
    df = pd.DataFrame({
        "index": [0, 1, 2, 3], "name": ["op", "inner", "cudaLaunchKernel", "kernel"], "cat": "x",
        "pid": [1, 1, 1, 0], "tid": [1, 1, 1, 7], "ts": [0, 1, 2, 20], "dur": [10, 8, 1, 5],
        "stream": [-1, -1, -1, 7], "index_correlation": [-1, -1, 3, 2]})
    graph = CallGraph.from_dataframe(df)
    df = graph.trace_data.get_trace(-1)
    assert df["parent"].tolist() == [-1, 0, 1, 2] and df["depth"].tolist() == [0, 1, 2, 3]
    assert df["height"].tolist() == [3, 2, 1, 0] and df["num_kernels"].tolist() == [1, 1, 1, 1]
    assert df["first_kernel_start"].tolist() == [20] * 4 and df["kernel_span"].tolist() == [5] * 4
    assert graph.get_stack_of_node(1)["index"].tolist() == [0, 1, 2, 3]


def test_critical_path(ddp, tmp_path):
    graph, ok = ddp.critical_path_analysis(rank=0, annotation="ProfilerStep", instance_id=0)
    assert ok and graph.number_of_nodes() == 6418 and graph.number_of_edges() == 6403
    summary = graph.summary()
    assert summary.sum() == pytest.approx(100) and summary["cpu_bound"] == pytest.approx(4.1719, abs=1e-4)
    df = graph.get_critical_path_breakdown()
    assert list(df.columns) == ["event_idx", "duration", "type", "s_name", "cat", "pid", "tid",
                                "stream", "index", "bound_by"]
    assert len(graph.critical_path_nodes) == 1638 and len(graph.critical_path_edges_set) == 1637
    assert len(df) == 1637
    # the engine's path is the longest way that plain Python finds
    length = sum(edge.weight for edge in graph.critical_path_edges_set)
    assert graph.critical_path() and length == pytest.approx(
        sum(edge.weight for edge in graph.critical_path_edges_set))
    pd.testing.assert_series_equal(graph.summary(), summary)
    start, end = graph.get_nodes_for_event(int(df["event_idx"].dropna().iloc[0]))
    assert start.is_start and not end.is_start and start.ts <= end.ts
    assert graph.get_nodes_for_event(-5) == (None, None)
    edges = graph.get_edges_attributed_to_event(start.ev_idx)
    assert edges and all(graph.get_event_attribution_for_edge(edge) == start.ev_idx for edge in edges)
    # what if communication cost nothing
    graph, _ = ddp.critical_path_analysis(0, "ProfilerStep", 0)
    for u, v, data in graph.edges(data=True):
        if data["object"].type is CPEdgeType.OPERATOR_KERNEL and data["weight"] > 30000:
            graph.edges[u, v]["weight"] = 0
    assert graph.critical_path() and graph.summary().get("gpu_communication_bound", 0) < 50
    saved = graph.save(str(tmp_path / "graph"))
    restored = restore_cpgraph(saved, ddp.t, 0)
    pd.testing.assert_series_equal(restored.summary(), graph.summary())
    for one in (graph, ddp.critical_path_analysis(0, "ProfilerStep", 0)[0]):
        written = ddp.overlay_critical_path_analysis(0, one, str(tmp_path / "out"))
        events = json.loads(gzip.open(written).read())["traceEvents"]
        assert any(e.get("cat") == "critical_path" for e in events)
        assert any(e.get("args", {}).get("critical") for e in events)
    assert ddp.critical_path_analysis(0, "no such annotation", 0) is None


# ---- diffs ----

def test_diff(examples):
    folders = sorted(p for p in (examples / "diff").iterdir() if p.is_dir())
    control, test = (LabeledTrace(p.name, trace_dir=str(p)) for p in folders)
    df = TraceDiff.compare_traces(control, test)
    assert list(df.columns) == [
        "control_counts", "control_total_duration", "test_counts", "test_total_duration",
        "diff_counts", "diff_duration", "counts_change_categories"]
    assert np.allclose(df["diff_duration"], df["test_total_duration"] - df["control_total_duration"])
    ops = TraceDiff.ops_diff(control, test, device_type=DeviceType.CPU)
    assert list(ops) == ["added", "deleted", "increased", "decreased", "unchanged"]
    assert "aten::_fused_adamw_" in ops["added"]
    short = TraceDiff.compare_traces(control, test, use_short_name=True, device_type=DeviceType.GPU)
    assert short.index.name == "short_name" and len(short) < len(df)
    same = TraceDiff.compare_traces(str(folders[0]), str(folders[0]))
    assert (same["diff_counts"] == 0).all() and list(same.columns)[0] == "Control_counts"
    rows = control.extract_ops(device_type=DeviceType.GPU)
    assert (rows["stream"] >= 0).all() and set(rows["rank"]) == {0}
    summary = control.get_ops_summary(rows)
    assert list(summary.columns) == ["cat", "name", "short_name", "counts", "total_duration", "cat_id",
                                     "name_id"]
    with pytest.raises(ValueError):
        TraceDiff.compare_traces(control, test, control_iteration=99)
    with pytest.raises(ValueError):
        TraceDiff.compare_traces(control, test, test_rank=[0, 7])


# ---- memory ----

def test_memory_timeline(tmp_path):
    events = [[-1, 0, 100, 0], [5000000, 1, 10, 3], [5000000, 1, 20, 4], [7000000, 2, -20, 4]]
    path = tmp_path / "memory.raw.json.gz"
    path.write_bytes(gzip.compress(json.dumps(events).encode()))
    memory = MemoryAnalysis(str(path))
    times, sizes = memory._process_raw_events()
    assert times == [5000000, 5000000, 7000000]
    assert sizes[0] == [100, 0, 0, 0, 0, 0, 0, 0] and sizes[1][3:5] == [10, 20]
    assert sizes[2] == [100, 0, 0, 10, 0, 0, 0, 0]
    peaks = memory.get_memory_peaks().set_index("category")
    assert peaks.loc["Total", "peak_bytes"] == 130


# ---- charts ----

@pytest.fixture
def shown(monkeypatch):
    plotly = pytest.importorskip("plotly.graph_objects")
    figures = []
    monkeypatch.setattr(plotly.Figure, "show", lambda self, *a, **k: figures.append(self))
    return figures


def test_charts(ddp, examples, shown, tmp_path):
    ddp.get_temporal_breakdown()
    ddp.get_comm_comp_overlap()
    ddp.get_idle_time_breakdown()
    ddp.get_idle_time_breakdown(visualize_pctg=False)
    ddp.get_cuda_kernel_launch_stats()
    ddp.get_aten_op_kernels_and_delay()
    assert len(shown) == 8
    ddp.get_gpu_kernel_breakdown()
    ddp.get_gpu_user_annotation_breakdown()
    ddp.get_gpu_kernels_with_user_annotations(0, visualize=True)
    ddp.get_queue_length_time_series(visualize=True)
    ddp.get_memory_bw_time_series(visualize=True)
    ddp.get_potential_stragglers(visualize=True)
    ddp.get_frequent_cuda_kernel_sequences("aten::linear", str(tmp_path), visualize=True)
    assert len(shown) > 30
    kinds = {trace.type for figure in shown for trace in figure.data}
    assert {"bar", "pie", "histogram", "table", "icicle", "scattergl"} <= kinds
    assert all(figure.layout.title.text for figure in shown)
    assert ddp.critical_path_analysis(0, "ProfilerStep", 0)[0].plot().data
    folders = sorted(p for p in (examples / "diff").iterdir() if p.is_dir())
    df = TraceDiff.compare_traces(*map(str, folders))
    TraceDiff.visualize_counts_diff(df, export_image_path=str(tmp_path / "counts.html"))
    TraceDiff.visualize_duration_diff(df, show_image=False)
    assert (tmp_path / "counts.html").stat().st_size > 1000


def test_timelines(ddp, frame, shown):
    from holotrace.analyzers.timeline import plot_timeline_gpu_kernels_from_trace
    from holotrace.common.timeline import Timeline, align_module_with_kernels

    plot_timeline_gpu_kernels_from_trace("kernels", ddp.t, ranks=[0, 1])
    CallGraph(ddp.t, [0])
    df = ddp.t.traces[0]
    aligned = align_module_with_kernels(df, ["## forward ##"], ddp.t.symbol_table)
    assert (aligned["stream"] == 0).sum() == 2
    Timeline(aligned, ddp.t.symbol_table).plot("forward")
    Timeline(df, ddp.t.symbol_table, GPUKernelFilter()).plot("gpu")
    assert len(shown) == 3


def test_without_plotly_tables_come_with_a_word(ddp, monkeypatch):
    from holotrace._hta import plots

    monkeypatch.setattr(plots.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(plots, "_told", False)
    with pytest.warns(UserWarning, match="plotly"):
        assert len(ddp.get_temporal_breakdown()) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ddp.get_gpu_kernel_breakdown()


# ---- compatible mode ----

def test_hta_compat_gives_htas_values(examples):
    with holotrace.options.override(hta_compat=True):
        odd = TraceAnalysis(trace_dir=str(examples / "ddp")).get_gpu_kernel_breakdown(visualize=False)[1]
    own = TraceAnalysis(trace_dir=str(examples / "ddp")).get_gpu_kernel_breakdown(visualize=False)[1]
    assert odd[["name", "rank", "kernel_type"]].equals(own[["name", "rank", "kernel_type"]])
    assert (odd["max (us)"] == odd["sum (us)"]).sum() > (own["max (us)"] == own["sum (us)"]).sum()
