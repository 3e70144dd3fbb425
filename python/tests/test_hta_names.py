# SPDX-License-Identifier: Apache-2.0
"""The drop-in answers to HTA's names: modules, attributes, error types and return values."""
import json
import logging
import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from holotrace.analyzers.cuda_kernel_analysis import CudaKernelAnalysis
from holotrace.analyzers.timeline import plot_timeline_gpu_kernels_from_trace
from holotrace.common import call_stack, trace_call_stack
from holotrace.common.timeline import (PlotFormat, Timeline, TimelinePlotSetting, _simplify_name,
                                       get_fig_name_from_fig_title, get_fig_title_from_fig_name,
                                       plot_events_timeline, prepare_timeline_events)
from holotrace.common.trace import Trace, add_fwd_bwd_links, add_iteration
from holotrace.common.trace_call_graph import CallGraph
from holotrace.common.trace_df import find_op_occurrence, get_iterations
from holotrace.common.trace_file import create_rank_to_trace_dict, create_rank_to_trace_dict_from_dir
from holotrace.common.trace_filter import (CompositeFilter, GPUKernelFilter, IterationFilter,
                                           IterationIndexFilter, RankFilter, TimeRangeFilter)
from holotrace.common.trace_parser import infer_gpu_type
from holotrace.common.trace_stack_filter import UnderOperatorFilter, get_matching_kernels
from holotrace.common.trace_symbol_table import TraceSymbolTable, decode_symbol_id_to_symbol_name
from holotrace.common.types import DeviceType, GroupingPattern, infer_device_type, to_grouping_pattern
from holotrace.configs.default_values import AttributeSpec, ValueType, YamlVersion
from holotrace.configs.env_options import HTAEnvOptions, disable_ns_rounding
from holotrace.configs.event_args_yaml_parser import ARGS_INDEX_FUNC
from holotrace.configs.parser_config import ParserConfig
from holotrace.trace_analysis import TraceAnalysis
from holotrace.trace_diff import LabeledTrace
from holotrace.utils.checker import is_valid_directory
from holotrace.utils.memory_utils import analyze_memory_usage
from holotrace.utils.test_utils import data_provider, get_test_data_dir
from holotrace.utils.utils import get_value_from_dict, normalize_gpu_stream_numbers, normalize_path
from holotrace.utils.validate_trace import get_argument_spec, get_expected_arguments


@pytest.fixture(scope="module")
def ddp(examples):
    return TraceAnalysis(trace_dir=str(examples / "ddp"))


# ---- import hta ----

def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_as_hta_is_the_same_modules():
    done = run("""
import holotrace.as_hta
import hta, hta.version
from hta.common.trace import Trace
from hta.trace_analysis import TraceAnalysis
import hta.analyzers.critical_path_analysis as cpa
import holotrace.common.trace, holotrace.trace_analysis, sys
assert Trace is holotrace.common.trace.Trace and TraceAnalysis is holotrace.trace_analysis.TraceAnalysis
assert sys.modules["hta.common.trace"] is sys.modules["holotrace.common.trace"]
assert holotrace.common.trace.__name__ == holotrace.common.trace.__spec__.name == "holotrace.common.trace"
assert cpa.CPGraph.__module__.startswith("holotrace")
assert hta.__version__ == ".".join(map(str, hta.version.__version_tuple__)) == "0.6.1"
for name in ("hta.nothing", "hta._session", "hta.common.nothing"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        assert name in str(error), error
    else:
        raise AssertionError(name)
""")
    assert done.returncode == 0, done.stderr


def test_as_hta_wins_over_an_hta_on_the_path(tmp_path):
    (tmp_path / "hta").mkdir()
    (tmp_path / "hta" / "__init__.py").write_text("x = 1\n")
    path = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    done = run(path + "import holotrace.as_hta, hta\n"
               f"assert not hasattr(hta, 'x') and hta.__file__ == {str(tmp_path / 'hta' / '__init__.py')!r}")
    assert done.returncode == 0, done.stderr
    done = run(path + "import hta, holotrace.as_hta")
    assert done.returncode and "import holotrace.as_hta before it" in done.stderr


# ---- lookups and filters ----

def test_lookups_of_wrong_frames():
    for df in (pd.DataFrame({"a": [1]}), pd.DataFrame({"iteration": ["x"]})):
        with pytest.raises(TypeError, match="iteration"):
            get_iterations(df)
    assert get_iterations(pd.DataFrame({"iteration": [2, -1, 1, np.nan]})) == [1, 2]
    for df in (pd.DataFrame(), pd.DataFrame({"a": [1]})):
        found, row = find_op_occurrence(df, "op", 0)
        assert not found and row.empty


@pytest.mark.parametrize("make, error, text", [
    (lambda: IterationFilter("3"), TypeError, "Iterations must"),
    (lambda: IterationIndexFilter(1.5), TypeError, "iteration_index"),
    (lambda: RankFilter(["0"]), TypeError, "ranks"),
    (lambda: TimeRangeFilter([1, 2]), ValueError, "tuple of two"),
    (lambda: TimeRangeFilter((2, 1)), ValueError, "less than or equal"),
    (lambda: to_grouping_pattern(7), ValueError, "Unsupported pattern type int"),
])
def test_filters_refuse_wrong_types(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_filters_accept_numpy_and_warn_of_text():
    assert IterationFilter(np.int64(3)).iterations == [3]
    assert RankFilter(range(2)).ranks == [0, 1]
    one = CompositeFilter([])
    with pytest.raises(ValueError, match="itself"):
        one.__init__([one])
    df = pd.DataFrame({"name": [1], "cat": [2]})
    assert UnderOperatorFilter("op", 0)(df) is df
    kernels = get_matching_kernels(pd.DataFrame({"index": [1, 2], "cat": ["cuda_runtime", "cpu_op"]}),
                                   pd.DataFrame({"index": [8, 9], "index_correlation": [1, 2]}), "cat")
    assert kernels["index"].tolist() == [8]


def test_types():
    one = GroupingPattern(to_grouping_pattern("^a").pattern)
    assert hash(one) == hash(to_grouping_pattern("^a")) and {one: 1}[to_grouping_pattern("^a")] == 1
    assert to_grouping_pattern(one) is one
    frame = pd.DataFrame({"stream": [-1], "pid": [0], "tid": [5]})
    assert infer_device_type(frame) is DeviceType.GPU
    assert infer_device_type(frame.assign(pid=1)) is DeviceType.CPU


# ---- symbols ----

def test_symbol_table_names(tmp_path):
    table = TraceSymbolTable()
    table.add_symbols(["cpu_op", "kernel", "cuda_runtime", "mtia_runtime", "cudaLaunchKernel"])
    ids = table.get_sym_id_map()
    df = pd.DataFrame({"cat": [ids["cpu_op"], ids["kernel"], ids["cuda_runtime"], ids["mtia_runtime"]],
                       "name": [ids["cudaLaunchKernel"], ids["cudaLaunchKernel"], 0, 99],
                       "index_correlation": [3, 0, 3, 3]})
    assert table.get_operator_or_cuda_runtime_mask(df).tolist() == [True, False, True, False]
    assert table.get_operator_or_device_runtime_mask(df).tolist() == [True, False, True, True]
    assert table.get_runtime_launch_events_mask(df).tolist() == [True, False, False, False]
    assert not table.get_events_mask(df, None).any()
    table.add_symbols_to_trace_df(df, "name")
    assert df["name"].tolist() == ["cudaLaunchKernel", "cudaLaunchKernel", "cpu_op", ""]
    assert "s_name" not in df.columns
    decode_symbol_id_to_symbol_name(df, table, True)
    assert "s_name" not in df.columns and df["s_cat"].tolist()[1] == "kernel"
    table.to_csv_file(str(tmp_path / "symbols.csv"))
    assert TraceSymbolTable.from_csv_file(str(tmp_path / "symbols.csv")).sym_table == table.sym_table
    (tmp_path / "other.csv").write_text("a\n1\n")
    with pytest.raises(ValueError, match="expect a column symbol"):
        TraceSymbolTable.from_csv_file(str(tmp_path / "other.csv"))


# ---- settings ----

def test_yaml_version():
    assert YamlVersion.from_string("1.20.3") == (1, 20, 3)
    assert YamlVersion(1, 20, 3).get_version_str() == "1.20.3"
    for text in ("", "1.0", "1.0.x", "-1.0.0"):
        with pytest.raises(ValueError):
            YamlVersion.from_string(text)


def test_specs():
    one = AttributeSpec("a", "A", ValueType.Int, -1, YamlVersion(1, 0, 0))
    assert one == one._replace(min_supported_version=YamlVersion(2, 0, 0))
    assert one != one._replace(default_value=0) and one != "a"
    assert len({one, one._replace(min_supported_version=YamlVersion(2, 0, 0))}) == 1
    assert ARGS_INDEX_FUNC({"index::external_id": one, "other": one}) == [one]
    assert get_argument_spec("complete") == ParserConfig.ARGS_COMPLETE
    with pytest.raises(KeyError):
        get_argument_spec("some")
    table = get_expected_arguments([one])
    assert table.to_dict("records") == [{"arg_keys": "A", "arg_value_types": ValueType.Int,
                                         "arg_default_values": -1, "trace_df_column_name": "a"}]


def test_env_options(monkeypatch):
    monkeypatch.setattr(HTAEnvOptions, "_instance", None)
    assert not disable_ns_rounding()
    monkeypatch.setenv("HTA_DISABLE_NS_ROUNDING", "1")
    assert disable_ns_rounding() and HTAEnvOptions.instance() is HTAEnvOptions.instance()
    HTAEnvOptions.instance().set_disable_ns_rounding(False)
    assert not disable_ns_rounding()
    assert "disable_ns_rounding=False" in HTAEnvOptions.instance().get_options_str()


def test_helpers(tmp_path, monkeypatch):
    assert get_value_from_dict({"a": {"b": 1}}, "a.b") == 1
    assert get_value_from_dict({"a": 1}, "a.b", 7) == 7
    monkeypatch.chdir(tmp_path)
    assert normalize_path("./") == str(tmp_path) and normalize_path("./x") == str(tmp_path / "x")
    df = pd.DataFrame({"a": [1]})
    normalize_gpu_stream_numbers(df)
    assert list(df.columns) == ["a"]
    used = analyze_memory_usage(pd.DataFrame({"a": np.zeros(2**20)}))
    assert used.loc["a"].tolist() == [8.0, 2**20, "float64", 8.0]
    assert "non-empty" in is_valid_directory("").reason
    assert "does not exist" in is_valid_directory(str(tmp_path / "no")).reason
    monkeypatch.delenv("TEST_DATA_PREFIX_PATH", raising=False)
    with pytest.raises(FileNotFoundError):
        get_test_data_dir("x")
    (tmp_path / "tests" / "data" / "x").mkdir(parents=True)
    assert get_test_data_dir("x") == str(tmp_path / "tests" / "data" / "x")
    seen = []

    @data_provider(lambda: [{"b": 1}, (2,), 3])
    def method(self, a, b):
        seen.append((a, b))

    method(None, "a")
    assert seen == [("a", 1), ("a", 2), ("a", 3)]


# ---- Trace ----

class Frames:
    """What other people's code has in place of a Trace."""

    def __init__(self, frames, symbols=()):
        self.frames = frames
        self.symbol_table = TraceSymbolTable()
        self.symbol_table.add_symbols(symbols)

    def get_all_traces(self):
        return self.frames.keys()

    def get_trace(self, rank):
        return self.frames[rank]


@pytest.mark.parametrize("maker", ["cuda", "hip"])
def test_launch_statistics_of_frames(maker):
    names = ["k", f"{maker}LaunchKernel", f"{maker}MemcpyAsync", "other"]
    frame = pd.DataFrame({
        "name": [1, 2, 3, 0, 0, 0, 1], "stream": [-1, -1, -1, 0, 7, 7, -1],
        "correlation": [11, 12, 13, 11, 12, 13, -1], "ts": [100, 200, 300, 140, 205, 340, 400],
        "dur": [10, 20, 5, 50, 60, 70, 1]})
    t = Frames({0: frame, 4: frame.iloc[:0]}, names)
    stats = CudaKernelAnalysis.cuda_kernel_launch_stats(t, ranks=[0, 4], visualize=False)
    assert stats[0].values.tolist() == [[11, 10, 50, 30], [12, 20, 60, 0]] and stats[4].empty
    stats = CudaKernelAnalysis.cuda_kernel_launch_stats(t, include_memory_events=False, visualize=False)
    assert list(stats) == [0] and stats[0]["correlation"].tolist() == [11]


def test_calls_that_outlive_their_callers():
    """A Python frame ends with its caller at the latest, on the same thread, all the way down."""
    def durations(caller, tid=(1, 1, 1, 1, 1), start=(0, 2, 4, 6, 20)):
        frame = pd.DataFrame({
            "index": range(5), "ts": start, "dur": [15, 10, 30, 30, 3], "pid": 1, "tid": tid, "stream": -1,
            "index_correlation": -1, "python_id": [7, 8, 9, 10, 11], "python_parent_id": caller})
        call_stack.CallGraph(Frames({0: frame}), pre_process_trace_data=True)
        return frame["dur"].tolist()

    assert durations([-1, 7, 8, 9, -1]) == [15, 10, 8, 6, 3]
    assert durations([-1, 7, 8, 9, -1], tid=[1, 1, 2, 2, 1]) == [15, 10, 30, 28, 3]
    assert durations([-1, 7, 8, 9, 7]) == [15, 10, 8, 6, 0]  # starts after its caller has ended
    assert durations([99, 7, 10, 9, 10]) == [15, 10, 30, 28, 3]  # unknown callers, and a circle
    plain = pd.DataFrame({"ts": [0], "dur": [1], "tid": 1})
    call_stack.CallGraph.constrain_child_time_withinin_parent(plain)
    assert plain["dur"].tolist() == [1]


def test_a_trace_of_frames_only():
    t = Trace(trace_files={})
    t.traces = {3: pd.DataFrame({"ts": [0, 100, 250], "iteration": [-1, 0, 1]})}
    t.symbol_table = TraceSymbolTable()
    t.meta_data = {3: {"device_type": "GPU", "baseTimeNanoseconds": 1000}}
    t.min_ts = 5
    t.is_parsed = True
    assert t.get_ranks() == [3] and t.get_iterations() == [0, 1] and t.get_iterations(9) == []
    assert t.get_trace_duration() == 250 and t.get_device_type() == "GPU"
    t.trace_files = {3: "/no/such/file.json"}
    assert t.get_trace_duration() == 250  # frames that were put in count, not the files
    t.trace_files = {}
    assert t.get_trace_start_unixtime_ns(3) == 6000
    with pytest.raises(ValueError, match="No trace found"):
        t.get_trace_start_unixtime_ns(9)
    with pytest.raises(ValueError):
        t.get_raw_trace_for_one_rank(9)
    t.load_traces()  # there is nothing to load
    events = t.convert_time_series_to_events(
        pd.DataFrame({"pid": [1], "ts": [10], "value": [2], "name": ["own"], "id": [7]}), "counter", "value")
    assert events == [{"ph": "C", "name": "own", "pid": 1, "ts": 15, "args": {"counter": 2}, "id": 7}]
    assert t.convert_time_series_to_events(pd.DataFrame({"ts": [1]}), "counter", "value") == []


def test_trace_files(examples, tmp_path, caplog):
    t = Trace(trace_dir=str(examples / "ddp"))
    files = t.trace_files
    assert sorted(files) == [0, 1, 2, 3]
    t.trace_files = {7: files[0]}
    t.parse_traces()
    assert t.get_ranks() == [7]
    empty = Trace(trace_files={})
    empty.parse_traces()
    assert not empty.is_parsed
    with pytest.raises(ValueError, match="validation failed"):
        Trace(trace_files={0: "/no/such/file.json"}, trace_dir="")
    nothing = Trace(trace_files=42, trace_dir="")
    assert "nothing is loaded" in caplog.text
    assert not hasattr(nothing, "traces") and repr(nothing) == "<Trace: no ranks, not read yet>"


def write_ranked(path, rank=None):
    about = {} if rank is None else {"distributedInfo": {"rank": rank}}
    path.write_text(json.dumps({**about, "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}))
    return str(path)


def test_ranks_of_files(tmp_path, caplog):
    """As in HTA: a rank that two files say is that of the last, one that is not said is 0."""
    a, b = write_ranked(tmp_path / "a.json", 5), write_ranked(tmp_path / "b.json", 5)
    assert create_rank_to_trace_dict([a, b]) == (True, {5: b})
    assert create_rank_to_trace_dict([b, a]) == (True, {5: a})
    assert "has the same rank" in caplog.text
    c = write_ranked(tmp_path / "c.json")
    assert create_rank_to_trace_dict_from_dir(str(tmp_path)) == (True, {5: b, 0: c})
    assert caplog.text.count("does not have the rank") == 1
    d = write_ranked(tmp_path / "rank-3.json")
    assert create_rank_to_trace_dict([d]) == (True, {3: d})
    assert create_rank_to_trace_dict([]) == (False, {})
    assert create_rank_to_trace_dict([str(tmp_path / "none.json")]) == (False, {})


def test_files_of_our_own_are_no_ranks(examples, tmp_path):
    source = next((examples / "train").glob("*.json*"))
    (tmp_path / source.name).write_bytes(source.read_bytes())
    analysis = TraceAnalysis(trace_dir=str(tmp_path))
    analysis.generate_trace_with_counters()
    analysis.generate_trace_with_counters(output_suffix="_of_mine")
    graph, _ = analysis.critical_path_analysis(0, "ProfilerStep", 0)
    analysis.overlay_critical_path_analysis(0, graph, str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 4
    again = TraceAnalysis(trace_dir=str(tmp_path))
    assert again.t.get_ranks() == [0] and again.t.trace_files == {0: str(tmp_path / source.name)}


def test_the_index_of_frames_has_no_name(ddp):
    df = ddp.t.get_trace(0)
    assert df.index.name is None and df.index.tolist() == df["index"].tolist()
    assert len(df.sort_values(["ts", "index"])) == len(df.merge(df[["index"]], on="index")) == len(df)
    assert df.groupby("index").size().max() == 1
    assert "index" in df.drop(columns="index").reset_index().columns


def test_links_and_iterations_of_frames():
    df = pd.DataFrame({"index": [0, 1, 2, 3], "ts": [0, 0, 90, 90], "tid": 1, "pid": 1, "ph": list("XsXf"),
                       "cat": ["cpu_op", "fwdbwd", "cpu_op", "fwdbwd"], "bp": ["", "", "", "e"],
                       "id": [-1, 5, -1, 5]})
    add_fwd_bwd_links(df)
    assert df["fwdbwd_index"].tolist() == [2, -1, 0, -1] and df["fwdbwd"].tolist() == [0, -1, 1, -1]
    table = TraceSymbolTable()
    table.add_symbols(["ProfilerStep#5", "op"])
    df = pd.DataFrame({"ts": [0, 1, 50], "dur": [10, 1, 1], "stream": -1, "cat": 1, "name": [0, 1, 1],
                       "index_correlation": -1})
    steps = add_iteration(df, table)
    assert steps["iter"].tolist() == [5] and df["iteration"].tolist() == [5, 5, -1]


# ---- call stacks ----

def test_call_stack_of_a_thread():
    df = pd.DataFrame({"index": [0, 1, 2, 3], "ts": [0, 2, 8, 10], "dur": [10, 8, 4, 0], "stream": -1,
                       "index_correlation": -1})
    old = call_stack.CallStackGraph(df, call_stack.CallStackIdentity(0, 1, 2))
    # 2 starts in 1 and outlives it; 3 has no length and is where 0 and 1 end
    assert {i: node.parent for i, node in old.nodes.items()} == {-1: -1, 0: -1, 1: 0, 2: 1, 3: 2}
    assert old.get_leaf_nodes(0) == [3] and old.get_path_to_root(9) == []
    assert "CallStackGraph" in repr(old)
    with pytest.raises(ValueError, match="index_correlation"):
        call_stack.CallStackGraph(df.drop(columns="index_correlation"), call_stack.CallStackIdentity())
    gpu = call_stack.CallStackGraph(df.assign(stream=7), call_stack.CallStackIdentity())
    assert gpu.nodes == {}
    new = trace_call_stack.CallStackGraph(
        df, trace_call_stack.CallStackIdentity(0, 1, 9), pd.DataFrame({"cpu_index": [3], "gpu_index": [7]}),
        df.copy(), None)
    assert new.root_index == -9 and new.get_path_to_root(7) == [7, 3, 2, 1, 0, -9]
    assert new.nodes[7].height == 0 and new.nodes[-9].height == 5 and new.get_root(1) == -9
    assert new.get_leaf_nodes(0) == [3] and new.get_leaf_nodes(0, True) == [7]
    assert new.get_parent(99) == -2 and new.get_children(99) == [] and new.get_root(99) == -1


def test_order_of_ends():
    opens, closes = trace_call_stack.OPEN_END, trace_call_stack.CLOSE_END
    wanted = [[1, 9, opens, 0], [2, 5, opens, 0], [3, 0, opens, 0], [3, 0, closes, 0], [2, 5, closes, 5],
              [4, 4, opens, 5], [5, 0, opens, 9], [5, 0, closes, 9], [4, 4, closes, 9], [1, 9, closes, 9]]
    shuffled = np.array([wanted[i] for i in (9, 3, 5, 1, 7, 0, 8, 2, 6, 4)])
    assert not trace_call_stack.is_events_sorted(shuffled)
    trace_call_stack.sort_events(shuffled)
    assert shuffled.tolist() == wanted and trace_call_stack.is_events_sorted(np.array(wanted))
    event = call_stack.Event
    assert call_stack.compare_events(event(1, 0, 9, 1), event(2, 0, 5, 1)) < 0
    assert call_stack.compare_events(event(1, 9, 9, -1), event(2, 9, 5, -1)) > 0
    assert call_stack.compare_events(event(1, 9, 9, -1), event(2, 9, 5, 1)) < 0
    assert call_stack.compare_events(event(1, 9, 0, 1), event(1, 9, 0, -1)) < 0


def test_call_graph_after_parse_traces(examples):
    t = Trace(trace_dir=str(examples / "ddp"))
    t.parse_traces()
    graph = CallGraph(t, ranks=[0])
    assert graph.trace_data is t and list(graph.rank_to_stacks) == list(graph.rank_to_nodes) == [0]
    df = t.get_trace(0)
    loaded = TraceAnalysis(trace_dir=str(examples / "ddp"), include_last_profiler_step=True).t
    CallGraph(loaded, ranks=[0])
    other = loaded.get_trace(0)
    both = df.index.intersection(other.index)
    assert len(both) == len(other)
    for column in ("parent", "depth", "height", "num_kernels"):
        assert (df.loc[both, column] == other.loc[both, column]).all(), column
    some = df.loc[both].query("num_kernels > 0")
    starts = other.loc[some.index, "first_kernel_start"] + loaded.min_ts
    assert np.allclose(some["first_kernel_start"], starts, atol=1e-2, rtol=0)
    nodes = graph.rank_to_nodes[0]
    assert all(nodes[i].depth == depth for i, depth in df["depth"].items() if depth >= 0)
    assert (df.loc[df["depth"] == 0, "parent"] == -df.loc[df["depth"] == 0, "tid"].astype(int)).all()


def test_call_graph_follows_a_changed_frame(examples):
    t = Trace(trace_dir=str(examples / "train"))
    t.parse_traces()
    df = t.get_trace(0)
    linear = df.index[t.symbol_table.texts(df["name"]) == "aten::linear"]
    df.drop(linear, inplace=True)
    graph = CallGraph(t)
    assert len(linear) and not set(graph.rank_to_nodes[0]) & set(linear)
    assert (t.get_trace(0)["num_kernels"] > 0).any()


# ---- critical path, diff, timelines ----

def test_critical_path_names(ddp):
    graph, _ = ddp.critical_path_analysis(0, "ProfilerStep", 0, data_load_events=["enumerate", "load"])
    assert graph.t is ddp.t and graph.full_trace_df is ddp.t.get_trace(0)
    assert graph.data_load_events == ["enumerate", "load"]
    start, end = graph.get_nodes_for_event(graph.node_list[0].ev_idx)
    row = graph.trace_df.loc[start.ev_idx]
    assert start.ts == pytest.approx(row["ts"], abs=1e-6) and end.ts == pytest.approx(row["end"], abs=1e-6)
    assert graph.bound_by({"type": "critical_path_operator", "stream": 7, "s_name": "ncclDevKernel_x"}) == (
        "gpu_communication_bound")
    df = graph.get_critical_path_breakdown()
    again = df[df["event_idx"].notna()].apply(graph.bound_by, axis=1)
    assert (again == df.loc[again.index, "bound_by"]).mean() > 0.9  # copies are memory here


def test_labeled_trace(ddp, tmp_path):
    labeled = LabeledTrace("a", ddp.t)
    assert labeled.s_map["ProfilerStep#3"] == ddp.t.symbol_table.sym_index["ProfilerStep#3"]
    assert labeled.iteration_df["iteration"].tolist() == labeled.iterations()
    for arguments in ({"rank": "x"}, {"rank": 99}, {"iteration": "x"}, {"iteration": 99}):
        with pytest.raises(ValueError):
            labeled.extract_ops(**arguments)
    for folder in (None, str(tmp_path / "none")):
        with pytest.raises(ValueError):
            LabeledTrace("a", trace_dir=folder)


def test_timeline_names(ddp, tmp_path):
    line = Timeline(ddp.t.get_trace(0), ddp.t.symbol_table, GPUKernelFilter())
    assert Timeline.is_timeline_events(line.timeline_events, line.setting)
    setting = TimelinePlotSetting(plot_format=PlotFormat.File)
    pytest.importorskip("plotly")
    plot_events_timeline("t", line.timeline_events, setting, output_image_path=str(tmp_path / "x.html"))
    assert (tmp_path / "x.html").stat().st_size
    assert plot_events_timeline("t", pd.DataFrame()) is None
    assert prepare_timeline_events(pd.DataFrame({"a": [1]})).empty
    assert _simplify_name("void k<float>(float const*, long)") == "k<float>"
    assert _simplify_name("Memcpy HtoD (Pinned -> Device)") == "Memcpy HtoD (Pinned -> Device)"
    assert get_fig_title_from_fig_name("") == "Untitled Figure"
    assert get_fig_name_from_fig_title("") == "untitled_figure"


def test_short_events_of_a_timeline():
    """Times are numbers since the first event, ends at least the shown length later; dates on the global clock."""
    df = pd.DataFrame({"name": ["a", "b"], "ts": [5000, 9000], "dur": [10, 2500]})
    for amplify, ends in ((True, [1000, 6500]), (False, [10, 6500])):
        made = prepare_timeline_events(df, TimelinePlotSetting(amplify_short_events=amplify))
        assert made["calibrated_start_global"].tolist() == [0, 4000]
        assert made["calibrated_end_global"].tolist() == ends
    made = prepare_timeline_events(df, TimelinePlotSetting(use_global_time=True))
    assert made["calibrated_end_global"].tolist() == [pd.Timestamp(6000, unit="us"), pd.Timestamp(11500, unit="us")]
    pytest.importorskip("plotly")
    from holotrace.common import timeline
    with pytest.MonkeyPatch.context() as patched:
        drawn = []
        patched.setattr(timeline.px, "timeline", lambda frame, **unused: drawn.append(frame) or Mock())
        plot_events_timeline("t", made, TimelinePlotSetting(plot_format=PlotFormat.HTML))
    assert len(drawn) == 1


@pytest.mark.parametrize("chosen, text", [({"iterations": [99]}, "iteration 99; there 3, 4"),
                                          ({"streams": [1000]}, "stream 1000; there 7"),
                                          ({"ranks": [0], "iterations": []}, "iteration none")])
def test_a_timeline_of_nothing_says_so(ddp, chosen, text):
    with pytest.raises(ValueError, match=text):
        plot_timeline_gpu_kernels_from_trace("t", ddp.t, **chosen)


def test_messages_are_on_the_logger_hta(ddp, caplog):
    """As in HTA: its level silences them, its handlers get them."""
    from holotrace.configs.config import logger
    assert logger is logging.getLogger("hta")
    for level, lines in ((logging.ERROR, 0), (logging.WARNING, 1)):
        caplog.clear()
        caplog.set_level(level, logger="hta")
        ddp.t.load_traces()
        assert [record.name for record in caplog.records] == ["hta"] * lines


def test_parser_config_shows_what_it_takes():
    shown = repr(ParserConfig(ParserConfig.get_minimum_args(), skip_event_types={"b", "a"}))
    assert shown.startswith("ParserConfig(args=['stream', 'correlation'") and "skip_event_types=['a', 'b']" in shown
    assert "parse_all_args" not in shown and "parse_all_args=True" in repr(ParserConfig(parse_all_args=True))


@pytest.mark.parametrize("header, names, device", [
    ({"distributedInfo": {"backend": "cpu:gloo,mtia:hccl"}}, ["cudaLaunchKernel"], "MTIA"),
    (None, ["runFunction - job_prep_and_submit_for_execution"], "MTIA"),
    ({}, {"cudaLaunchKernel": 1}, "NVIDIA GPU"),
    ({}, ["cuLaunchKernelEx"], "NVIDIA GPU"),
    (None, ["hipLaunchKernel", "x"], "AMD GPU"),
    (None, ["x"], "UNKNOWN GPU"),
])
def test_infer_gpu_type(header, names, device):
    assert infer_gpu_type(header, names) == device


def test_meta_data_knows_the_device(ddp):
    assert ddp.t.meta_data[0]["device_type"] == ddp.t.get_device_type() == "NVIDIA GPU"
    assert json.dumps(ddp.t.meta_data[0])


def test_arguments_keep_their_types(tmp_path):
    span = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "dur": 1}
    events = [{**span, "name": str(i), "ts": i, "args": {"Process Group Ranks": value, "Input Dims": value}}
              for i, value in enumerate(["[0, 1]", [0, 1], "[0, 1", {"a": 1}, "text"])]
    (tmp_path / "a.json").write_text(json.dumps({"traceEvents": events}))
    config = ParserConfig(ParserConfig.ARGS_COMPLETE)
    t = Trace(trace_dir=str(tmp_path), parser_config=config)
    t.parse_traces()
    df = t.get_trace(0)
    for column in ("process_group_ranks", "input_dims"):
        assert df[column].tolist() == ["[0, 1]", [0, 1], "[0, 1", {"a": 1}, "text"]


def test_repr_of_an_analysis(ddp, examples):
    assert repr(ddp).startswith("<TraceAnalysis: 4 ranks, 59,644 events, without the last step, ")
    assert repr(ddp).endswith("ddp>")
    assert repr(ddp.t) == "<Trace: 4 ranks, loaded>" and repr(Trace(trace_files={})) == (
        "<Trace: no ranks, not read yet>")
    assert repr(ddp.t.symbol_table).endswith("names and categories>")
    assert repr(CallGraph(ddp.t, [0])).startswith("<CallGraph: 1 ranks, 3 threads, ")
    one = TraceAnalysis(trace_dir=str(examples / "train"), include_last_profiler_step=True)
    assert "rank 0" in repr(one) and "with the last step" in repr(one)


def test_docstrings_name_all_arguments():
    import inspect
    for name, method in inspect.getmembers(TraceAnalysis, inspect.isfunction):
        if name.startswith("get_") or name.endswith("_analysis"):
            for argument in list(inspect.signature(method).parameters)[1:]:
                assert argument in (method.__doc__ or ""), (name, argument)


def test_stragglers_without_steps(tmp_path, caplog):
    def trace(rank):
        work = [{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7, "dur": 50,
                 "ts": 100 * i + 10 * rank, "args": {"stream": 7, "correlation": i}} for i in range(9)]
        return {"distributedInfo": {"rank": rank}, "traceEvents": work}

    for rank in (0, 1):
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(trace(rank)))
    analysis = TraceAnalysis(trace_dir=str(tmp_path))
    assert analysis.get_profiler_steps() == [] and analysis.get_potential_stragglers() == []
    assert "no verdict" in caplog.text
    scores = analysis.get_potential_stragglers(
        num_candidates=1, straggler_identification_impl=lambda df, *rest: df.groupby("rank")["ts"].max()
        .sort_values(ascending=False))
    assert scores == [1]
    with pytest.raises(ValueError, match="none of the steps"):
        analysis.get_potential_stragglers([3])


def test_annotations_that_hta_drops(tmp_path, caplog):
    """A GPU annotation that starts after the last step began on the host is in no row of HTA's."""
    def span(cat, name, ts, dur, tid, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}

    events = [span("user_annotation", "ProfilerStep#1", 0, 10, 1),
              span("user_annotation", "ProfilerStep#2", 20, 10, 1),
              span("cuda_runtime", "cudaLaunchKernel", 2, 1, 1, correlation=5),
              span("kernel", "k", 100, 9, 7, stream=7, correlation=5),
              span("gpu_user_annotation", "forward", 99, 20, 7)]
    (tmp_path / "a.json").write_text(json.dumps({"traceEvents": events}))
    analysis = TraceAnalysis(trace_dir=str(tmp_path))
    assert analysis.get_gpu_user_annotation_breakdown(visualize=False).empty
    assert "include_last_profiler_step=True keeps all" in caplog.text
    caplog.clear()
    rows = analysis.get_gpu_kernels_with_user_annotations(0, shorten_names=False)
    assert rows["s_user_annotation"].tolist() == [""] and "keeps all" in caplog.text
    caplog.clear()
    analysis = TraceAnalysis(trace_dir=str(tmp_path), include_last_profiler_step=True)
    assert analysis.get_gpu_user_annotation_breakdown(visualize=False)["name"].tolist() == ["forward"]
    assert not caplog.text


def test_times_have_the_digits_of_the_file(ddp):
    df = ddp.t.get_trace(0)
    for column in ("ts", "dur", "end"):
        assert (df[column] == df[column].round(3)).all(), column
    series = ddp.get_queue_length_time_series()[0]
    events = ddp.t.convert_time_series_to_events(series, "q", "queue_length")
    assert all(len(repr(event["ts"]).partition(".")[2]) <= 4 for event in events)


def test_an_own_writer_gets_the_documents(examples, tmp_path):
    analysis = TraceAnalysis(trace_dir=str(examples / "train"))
    written = {}

    class Writer(Trace):
        def write_raw_trace(self, output_file, trace_contents):
            written[output_file] = trace_contents

    analysis.t.__class__ = Writer
    analysis.generate_trace_with_counters()
    (path, document), = written.items()
    assert "_with_counters.json" in path and any(event["ph"] == "C" for event in document["traceEvents"])


def test_what_hta_does_not_know_is_said(examples, tmp_path, caplog):
    """Launches of names that HTA has not heard of."""
    def span(cat, name, ts, dur, tid, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}

    events = [span("cuda_runtime", "cudaLaunchCooperativeKernel", 2, 1, 1, correlation=5),
              span("kernel", "k", 9, 3, 7, stream=7, correlation=5)]
    (tmp_path / "a.json").write_text(json.dumps({"traceEvents": events}))
    analysis = TraceAnalysis(trace_dir=str(tmp_path))
    assert analysis.get_cuda_kernel_launch_stats(visualize=False)[0].empty
    assert "all_launches=True finds 1 rows" in caplog.text
    assert analysis.get_queue_length_time_series() == {} and "exact=True finds 2 rows" in caplog.text
    caplog.clear()
    assert len(analysis.get_cuda_kernel_launch_stats(visualize=False, all_launches=True)[0]) == 1
    assert not caplog.text


def test_work_without_a_launch_has_no_iteration(tmp_path):
    """HTA's iteration of GPU rows is that of their launch; our tables go by the work's own start."""
    def span(cat, name, ts, dur, tid, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}

    events = [span("user_annotation", "ProfilerStep#1", 0, 50, 1),
              span("cuda_runtime", "cudaLaunchKernel", 2, 1, 1, correlation=5),
              span("kernel", "k", 9, 3, 7, stream=7, correlation=5),
              span("kernel", "lost", 20, 3, 7, stream=7, correlation=6)]
    (tmp_path / "a.json").write_text(json.dumps({"traceEvents": events}))
    t = Trace(trace_dir=str(tmp_path))
    t.parse_traces()
    assert t.get_trace(0)["iteration"].tolist() == [1, 1, 1, -1]
