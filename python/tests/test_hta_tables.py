# SPDX-License-Identifier: Apache-2.0
"""HTA's names: every method on the bundled traces, its columns, dtypes, indexes and known values."""
import inspect
import os
import shutil

import numpy as np
import pandas as pd
import pytest

import holotrace
from holotrace.trace_analysis import TimeSeriesTypes, TraceAnalysis

STATISTICS = ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]


@pytest.fixture(scope="module")
def ddp(examples):
    return TraceAnalysis(trace_dir=str(examples / "ddp"))


@pytest.fixture(scope="module")
def train(examples):
    return TraceAnalysis(trace_dir=str(examples / "train"))


def test_arguments_have_htas_names_and_defaults():
    def defaults(method):
        return {name: p.default for name, p in inspect.signature(method).parameters.items()
                if name != "self" and p.kind is p.POSITIONAL_OR_KEYWORD}

    assert defaults(TraceAnalysis.__init__) == {
        "trace_files": None, "trace_dir": "/tmp/trace", "include_last_profiler_step": False,
        "parser_config": None}
    assert defaults(TraceAnalysis.get_gpu_kernel_breakdown) == {
        "visualize": True, "duration_ratio": 0.8, "num_kernels": 10, "include_memory_kernels": True,
        "image_renderer": ""}
    assert defaults(TraceAnalysis.get_idle_time_breakdown) == {
        "ranks": None, "streams": None, "visualize": True, "visualize_pctg": True,
        "show_idle_interval_stats": False, "consecutive_kernel_delay": 30}
    assert defaults(TraceAnalysis.get_cuda_kernel_launch_stats) == {
        "ranks": None, "runtime_cutoff": 50, "launch_delay_cutoff": 100,
        "include_memory_events": True, "visualize": True}
    assert list(defaults(TraceAnalysis.get_frequent_cuda_kernel_sequences)) == [
        "operator_name", "output_dir", "min_pattern_len", "rank", "top_k", "visualize",
        "compress_other_kernels"]


def test_temporal_breakdown(ddp):
    df = ddp.get_temporal_breakdown(visualize=False)
    assert list(df.columns) == [
        "rank", "idle_time(us)", "compute_time(us)", "non_compute_time(us)", "kernel_time(us)",
        "idle_time_pctg", "compute_time_pctg", "non_compute_time_pctg"]
    assert isinstance(df.index, pd.RangeIndex) and df["rank"].tolist() == [0, 1, 2, 3]
    parts = df["idle_time(us)"] + df["compute_time(us)"] + df["non_compute_time(us)"]
    assert np.allclose(parts, df["kernel_time(us)"])
    assert df["kernel_time(us)"][0] == pytest.approx(771423.201)


def test_overlap(ddp):
    df = ddp.get_comm_comp_overlap(visualize=False)
    assert list(df.columns) == ["rank", "comp_comm_overlap_pctg"]
    assert df["comp_comm_overlap_pctg"].tolist()[:2] == [0.31, 0.32]


def test_kernel_breakdown(ddp):
    types, kernels = ddp.get_gpu_kernel_breakdown(visualize=False)
    assert list(types.columns) == ["kernel_type", "sum", "percentage"]
    assert types["sum"].dtype == np.int64 and types["sum"].is_monotonic_decreasing
    assert list(kernels.columns) == ["name", "sum (us)", "max (us)", "min (us)", "stddev",
                                     "mean (us)", "kernel_type", "rank"]
    assert not kernels["kernel_type"].isin(["OTHER"]).any()
    order = kernels.sort_values(["kernel_type", "name", "rank"], kind="stable")
    assert order.index.equals(kernels.index)
    # statistics are of events, also of names that stay beside "others"
    named = kernels[kernels["name"] != "others"]
    assert (named["max (us)"] < named["sum (us)"]).any()
    less = ddp.get_gpu_kernel_breakdown(visualize=False, include_memory_kernels=False)[1]
    assert "MEMORY" not in set(less["kernel_type"])


def test_idle(ddp):
    idle, nothing = ddp.get_idle_time_breakdown(visualize=False)
    assert nothing is None
    assert list(idle.columns) == ["rank", "stream", "idle_category", "idle_time", "idle_time_ratio"]
    idle, stats = ddp.get_idle_time_breakdown(ranks=[0, 1], visualize=False,
                                              show_idle_interval_stats=True)
    assert list(stats.columns) == ["rank", "stream", *STATISTICS]
    assert stats.index.name == "idle_category"
    assert idle.index.tolist() == list(range(6)) * 2
    row = idle[(idle["rank"] == 0) & (idle["stream"] == 7) & (idle["idle_category"] == "host_wait")]
    assert row["idle_time"].tolist() == [103997.56]
    one, _ = ddp.get_idle_time_breakdown(streams=[16], visualize=False)
    assert set(one["stream"]) == {16}


def test_queue_and_bandwidth(ddp):
    series = ddp.get_queue_length_time_series([0, 2])
    assert list(series) == [0, 2]
    assert list(series[0].columns) == ["ts", "pid", "tid", "stream", "queue_length"]
    assert series[0].index.name == "index"
    summary = ddp.get_queue_length_summary([0])
    assert summary.index.names == ["rank", "stream"]
    assert summary.columns.tolist() == [("queue_length", name) for name in STATISTICS]
    assert summary.loc[(0, 7), ("queue_length", "count")] == 1580
    same = ddp.get_queue_length_summary_from_time_series(ddp.get_queue_length_time_series([0]))
    pd.testing.assert_frame_equal(summary, same)
    bandwidth = ddp.get_memory_bw_time_series()
    assert list(bandwidth[0].columns) == ["ts", "pid", "name", "memory_bw_gbps"]
    assert bandwidth[0].index[:2].tolist() == [33, 195]
    assert ddp.get_memory_bw_summary().index.names == ["rank", "name"]
    blocked = ddp.get_time_spent_blocked_on_full_queue(series)
    assert list(blocked.columns) == ["rank", "stream", "duration_at_max_queue_length",
                                     "relative_duration_at_max_queue_length"] and blocked.empty
    low = ddp.get_time_spent_blocked_on_full_queue(series, max_queue_length=1)
    assert set(low["stream"]) == {7, 16} and (low["relative_duration_at_max_queue_length"] < 1).all()


def test_launches(ddp):
    tables = ddp.get_cuda_kernel_launch_stats(ranks=[1], visualize=False)
    assert list(tables) == [1]
    assert list(tables[1].columns) == ["correlation", "cpu_duration", "gpu_duration", "launch_delay"]
    assert (tables[1]["launch_delay"] >= 0).all() and len(tables[1]) == 656
    more = ddp.get_cuda_kernel_launch_stats(ranks=[1], visualize=False, all_launches=True)[1]
    assert len(more) > 656 and {"name", "launch", "stream"} <= set(more.columns)
    delays = ddp.get_aten_op_kernels_and_delay(visualize=False)
    assert list(delays[0].columns) == ["aten_op_name", "kernel_sequence", "occurrence_count",
                                       "avg_aten_op_launch_delay", "avg_runtime_delay"]
    assert delays[0]["occurrence_count"].is_monotonic_decreasing


def test_sequences_write_an_overlay_and_leave_columns(examples, tmp_path):
    analysis = TraceAnalysis(trace_dir=str(examples / "train"))
    df = analysis.get_frequent_cuda_kernel_sequences("aten::linear", str(tmp_path))
    assert list(df.columns) == ["pattern", "count", "GPU kernel duration (us)", "CPU op duration (us)"]
    assert df["count"].is_monotonic_decreasing
    [written] = os.listdir(tmp_path)
    assert written.startswith("overlaid_")
    assert holotrace.open(tmp_path / written).ranks
    kernels = analysis.get_gpu_kernels_with_user_annotations(rank=0)
    assert {"depth", "height", "parent", "num_kernels", "kernel_span"} <= set(kernels.columns)
    work = kernels[kernels["depth"] >= 0]
    assert (work["parent"] == work["index_correlation"]).all()
    assert np.allclose(work["kernel_span"], work["dur"]) and np.allclose(work["last_kernel_end"], work["end"])
    assert analysis.get_frequent_cuda_kernel_sequences("", str(tmp_path)).empty
    assert analysis.get_frequent_cuda_kernel_sequences("aten::linear", "/nowhere").empty


def test_annotations(ddp, examples):
    df = ddp.get_gpu_kernels_with_user_annotations(rank=1)
    assert list(df.columns[:9]) == ["index", "cat", "name", "pid", "tid", "ts", "dur", "stream",
                                    "correlation"]
    assert list(df.columns[-4:]) == ["user_annotation", "s_name", "s_cat", "s_user_annotation"]
    assert len(df) == 966 and (df["s_user_annotation"][df["user_annotation"] == -1] == "").all()
    plain = ddp.get_gpu_kernels_with_user_annotations(rank=1, expand_names=False)
    assert "s_name" not in plain.columns
    gpu = ddp.get_gpu_user_annotation_breakdown(visualize=False)
    assert list(gpu.columns) == ["name", "sum (us)", "max (us)", "min (us)", "stddev", "mean (us)", "rank"]
    row = gpu[(gpu["rank"] == 0) & (gpu["name"] == "## attention ##")].iloc[0]
    assert row["sum (us)"] == pytest.approx(11566.243) and row["max (us)"] == pytest.approx(1770.619)
    few = ddp.get_gpu_user_annotation_breakdown(visualize=False, num_kernels=2,
                                                allowlist_patterns=["## back.*##"])
    assert "others" in set(few["name"]) and "## backward ##" in set(few["name"])
    cpu = TraceAnalysis(trace_dir=str(examples / "cpu"))
    assert cpu.get_gpu_user_annotation_breakdown(visualize=False) is None
    assert cpu.get_gpu_kernels_with_user_annotations(rank=0) is None


def test_steps_and_stragglers(ddp, examples):
    assert ddp.get_profiler_steps() == [3, 4]
    everything = TraceAnalysis(trace_dir=str(examples / "ddp"), include_last_profiler_step=True)
    assert everything.get_profiler_steps() == [3, 4, 5]
    slow = TraceAnalysis(trace_dir=str(examples / "straggler"))
    assert slow.get_potential_stragglers(num_candidates=1) == [2]
    with pytest.raises(ValueError):
        ddp.get_potential_stragglers(profiler_steps=[99])
    scores = ddp.get_potential_stragglers(
        num_candidates=1, straggler_identification_impl=lambda df, table, n, visualize:
        df.groupby("rank")["dur"].sum().sort_values(ascending=False))
    assert len(scores) == 1


def test_cpu_only_traces_answer(examples):
    analysis = TraceAnalysis(trace_dir=str(examples / "cpu"))
    assert len(analysis.get_temporal_breakdown(visualize=False)) == 1
    assert analysis.get_idle_time_breakdown(visualize=False)[0].empty
    assert analysis.get_queue_length_time_series() == {}
    assert analysis.get_queue_length_summary() is None and analysis.get_memory_bw_summary() is None
    assert analysis.get_cupti_counter_data_with_operators() == []
    assert np.isnan(analysis.get_comm_comp_overlap(visualize=False)["comp_comm_overlap_pctg"][0])


def test_counters_are_written_beside_the_trace(examples, tmp_path):
    [source] = [name for name in os.listdir(examples / "train") if name.endswith(".json.gz")][:1]
    shutil.copy(examples / "train" / source, tmp_path)
    analysis = TraceAnalysis(trace_dir=str(tmp_path))
    analysis.generate_trace_with_counters()
    analysis.generate_trace_with_counters(TimeSeriesTypes.QUEUE_LENGTH, output_suffix="_queue")
    for suffix in ("_with_counters", "_queue"):
        written = tmp_path / source.replace(".json", f"{suffix}.json")
        assert holotrace.open(written).n_events[0] > analysis.t.core.n_events[0]


def test_wrong_arguments_raise(ddp, tmp_path):
    with pytest.raises(ValueError):
        ddp.get_queue_length_time_series([17])
    with pytest.raises(ValueError):
        ddp.get_gpu_kernels_with_user_annotations(rank=17)
    with pytest.raises(ValueError):
        TraceAnalysis(trace_dir=str(tmp_path / "nothing"))
    with pytest.raises(ValueError):
        TraceAnalysis(trace_files={0: str(tmp_path / "nothing.json")})
    with pytest.raises((ValueError, holotrace.Error)):
        TraceAnalysis(trace_dir=str(tmp_path))


def test_files_by_rank(examples):
    [path] = [examples / "train" / name for name in os.listdir(examples / "train")
              if name.endswith(".json.gz")][:1]
    analysis = TraceAnalysis(trace_files={5: str(path)})
    assert analysis.t.get_ranks() == [5] and analysis.t.trace_files == {5: str(path)}
    assert list(analysis.get_queue_length_time_series()) == [5]


@pytest.mark.parametrize("variable", ["1", "0"])
def test_times_are_exact_unless_htas_doubles_are_asked_for(examples, monkeypatch, variable):
    monkeypatch.setenv("HTA_DISABLE_NS_ROUNDING", variable)
    df = TraceAnalysis(trace_dir=str(examples / "ddp")).t.traces[0]
    exact = (df["ts"] * 1000 - np.rint(df["ts"] * 1000)).abs() < 1e-6
    assert exact.all() == (variable == "0")
