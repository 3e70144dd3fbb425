"""Critical path: graphs worked out by hand, properties on bundled traces, HTA's own results.

HTA's results of our recordings are in tests/golden-hta; those of other traces are read from beside
$HOLOTRACE_EXTRA_DATA when it is set.
"""
import collections
import csv
import json
import math
import os
import pathlib
import re

import pytest

import support

EXAMPLES = support.ROOT / "examples"
VERB = "critical-path"


def rows(*args):
    names, cells = support.read_csv(support.output(VERB, *args, "--format", "csv"))
    return [dict(zip(names, row)) for row in cells]


class Tiny:
    """A trace in microseconds, one step, written as the profiler writes it."""

    def __init__(self, step=None):
        self.events = []
        self.correlation = 100
        if step:
            self.add("user_annotation", "ProfilerStep#1", *step)

    def add(self, cat, name, ts, dur, pid=1, tid=1, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts,
                            "dur": dur, "args": args})
        return len(self.events) - 1

    def op(self, name, ts, dur, **where):
        return self.add("cpu_op", name, ts, dur, **where)

    def call(self, name, ts, dur, **args):
        self.correlation += 1
        return self.add("cuda_runtime", name, ts, dur, correlation=self.correlation, **args)

    def work(self, name, ts, dur, stream=7, cat="kernel", device=0, correlation=None):
        """GPU work of the last call."""
        return self.add(cat, name, ts, dur, pid=device, tid=stream, device=device, stream=stream,
                        correlation=correlation or self.correlation)

    def wait(self, name, ts, dur, stream=7, **args):
        return self.add("cuda_sync", name, ts, dur, pid=0, tid=stream, device=0, stream=stream,
                        correlation=self.correlation, **args)

    def write(self, folder, rank=0):
        path = pathlib.Path(folder) / f"rank{rank}.json"
        path.write_text(json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": rank},
                                    "traceEvents": self.events}))
        return path


OPERATOR, ORDER, LAUNCH, KERNEL, SYNC = (
    f"critical_path_{x}" for x in ("operator", "dependency", "kernel_launch_delay",
                                   "kernel_kernel_delay", "sync_dependency"))


def edges(trace, *args):
    """{(from row, point, to row, point): (type, microseconds)}"""
    return {(int(r["from_index"]), r["from_point"], int(r["to_index"]), r["to_point"]):
            (r["type"], int(r["duration_ns"]) / 1000) for r in rows(trace, "--view", "edges", *args)}


def path(trace, *args):
    return [(r["index"] and int(r["index"]), r["type"], int(r["duration_ns"]) / 1000)
            for r in rows(trace, "--view", "path", *args)]


def sizes(trace, *args):
    (row,) = rows(trace, "--view", "graph", *args)
    return {k: int(v) for k, v in row.items()}


# ---- by hand ----


@pytest.fixture
def launch_bound(tmp_path):
    """The example of critical_path.c."""
    t = Tiny((0, 30))
    t.op("aten::mm", 0, 10)
    t.call("cudaLaunchKernel", 2, 2)
    t.work("gemm<float>(int)", 7, 13)
    return t.write(tmp_path)


def test_path_goes_through_the_launch(launch_bound):
    assert path(launch_bound) == [(1, OPERATOR, 2), (None, LAUNCH, 5), (3, OPERATOR, 13)]
    found = {r["bound_by"]: (int(r["duration_ns"]), float(r["share"])) for r in rows(launch_bound)}
    assert found == {"cpu_bound": (2000, 0.1), "gpu_kernel_launch_overhead": (5000, 0.25),
                     "gpu_compute_bound": (13000, 0.65)}
    size = sizes(launch_bound)
    assert size["length_ns"] == 20000 and size["window_ns"] == 30000
    assert (size["graph_nodes"], size["n_nodes"], size["n_edges"], size["n_events"]) == (6, 4, 3, 3)


def test_names_on_the_path(launch_bound):
    last = rows(launch_bound, "--view", "path")[-1]
    assert (last["name"], last["short_name"], last["cat"]) == ("gemm<float>(int)", "gemm", "kernel")
    assert (last["pid"], last["tid"], last["stream"]) == ("0", "7", "7")
    assert last["ts_ns"] == "7000"


def test_slack_says_how_much_longer(launch_bound):
    found = {r["name"]: (int(r["slack_ns"]), int(r["path_ns"]), r["critical"])
             for r in rows(launch_bound, "--view", "events")}
    # the operator's edge to its own end: 2 + 2 + 6 = 10 of 20
    assert found["cudaLaunchKernel"] == (10000, 0, "true")
    assert found["aten::mm"] == (0, 2000, "true")
    assert found["gemm<float>(int)"] == (0, 13000, "true")


def test_gaps_between_operators_weigh_nothing_unless_counted(tmp_path):
    t = Tiny((0, 100))
    a, b = t.op("a", 0, 10), t.op("b", 40, 10)
    trace = t.write(tmp_path)
    assert edges(trace)[a, "end", b, "start"] == (ORDER, 0)
    assert sizes(trace)["length_ns"] == 20000
    assert sizes(trace, "--count-gaps")["length_ns"] == 50000
    (gap,) = [r for r in rows(trace, "--count-gaps") if r["bound_by"] == "host_gap"]
    assert gap["duration_ns"] == "30000"


def test_kernels_of_a_stream_follow_each_other(tmp_path):
    t = Tiny((0, 100))
    r1 = t.call("cudaLaunchKernel", 0, 1)
    k1 = t.work("k1", 10, 20)
    r2 = t.call("cudaLaunchKernel", 2, 1)
    k2 = t.work("k2", 32, 20)
    r3 = t.call("cudaLaunchKernel", 60, 1)
    k3 = t.work("k3", 65, 10)
    trace = t.write(tmp_path)
    found = edges(trace)
    assert found[r1, "start", k1, "start"] == (LAUNCH, 10)
    assert found[k1, "end", k2, "start"] == (KERNEL, 2)
    assert found[r2, "start", k2, "start"] == (LAUNCH, 0)  # order only
    assert found[r3, "start", k3, "start"] == (LAUNCH, 5)  # the stream was idle at the launch
    assert (k2, "end", k3, "start") not in found
    without = edges(trace, "--no-zero-weight-launch-edges")
    assert (r2, "start", k2, "start") not in without


def test_streams_of_two_devices_do_not_mix(tmp_path):
    t = Tiny((0, 100))
    t.call("cudaLaunchKernel", 0, 1)
    k1 = t.work("k1", 10, 20, device=0)
    t.call("cudaLaunchKernel", 2, 1)
    k2 = t.work("k2", 32, 20, device=1)
    trace = t.write(tmp_path)
    assert (k1, "end", k2, "start") not in edges(trace)
    assert (k1, "end", k2, "start") in edges(trace, "--hta-compat")


@pytest.mark.parametrize("told", [True, False], ids=["cuda_sync", "guessed"])
def test_a_wait_ends_after_the_work(tmp_path, told):
    t = Tiny((0, 100))
    t.call("cudaLaunchKernel", 0, 1)
    k = t.work("k", 5, 40)
    s = t.call("cudaStreamSynchronize", 2, 45)
    if told:
        t.wait("Stream Sync", 3, 43)
    after = t.op("after", 50, 10)
    trace = t.write(tmp_path)
    assert edges(trace)[k, "end", s, "end"] == (SYNC, 0)
    # launch 5, kernel 40, the wait itself costs nothing, then the operator
    assert path(trace) == [(None, LAUNCH, 5), (k, OPERATOR, 40), (None, SYNC, 0), (None, ORDER, 0),
                           (after, OPERATOR, 10)]
    assert sizes(trace)["length_ns"] == 55000


def test_a_call_that_did_not_wait_keeps_its_time(tmp_path):
    t = Tiny((0, 100))
    t.call("cudaLaunchKernel", 0, 1)
    t.work("k", 5, 10)
    s = t.call("cudaDeviceSynchronize", 30, 8)
    t.wait("Context Sync", 30, 8)
    trace = t.write(tmp_path)
    found = edges(trace)
    assert found[s, "start", s, "end"] == (OPERATOR, 8)
    hta = edges(trace, "--hta-compat")
    assert hta[s, "start", s, "end"] == (OPERATOR, 0)


def test_a_copy_call_waits_for_its_copy(tmp_path):
    t = Tiny((0, 100))
    c = t.call("cudaMemcpyAsync", 0, 30)
    m = t.work("Memcpy DtoH (Device -> Pageable)", 4, 20, cat="gpu_memcpy")
    d = t.call("cudaMemcpyAsync", 40, 5)
    t.work("Memcpy HtoD (Pinned -> Device)", 42, 20, cat="gpu_memcpy")
    trace = t.write(tmp_path)
    found = edges(trace)
    assert found[m, "end", c, "end"] == (SYNC, 0) and found[c, "start", c, "end"] == (OPERATOR, 0)
    assert found[d, "start", d, "end"] == (OPERATOR, 5)


def events_between_streams(t):
    """launch a on 7, record, wait on 9, launch b on 9"""
    t.call("cudaLaunchKernel", 0, 1)
    a = t.work("a", 5, 50)
    t.call("cudaEventRecord", 2, 1)
    record = t.correlation
    t.call("cudaStreamWaitEvent", 4, 1)
    t.wait("Stream Wait Event", 4, 51, stream=9, wait_on_stream=7,
           wait_on_cuda_event_record_corr_id=record)
    t.call("cudaLaunchKernel", 6, 1)
    b = t.work("b", 56, 10, stream=9)
    return a, b, record


def test_streams_wait_for_events(tmp_path):
    t = Tiny((0, 100))
    a, b, record = events_between_streams(t)
    s = t.call("cudaEventSynchronize", 8, 50)
    t.wait("Event Sync", 8, 49, stream=-1, wait_on_stream=7,
           wait_on_cuda_event_record_corr_id=record)
    trace = t.write(tmp_path)
    for more in ((), ("--hta-compat",)):
        found = edges(trace, *more)
        assert found[a, "end", b, "start"] == (SYNC, 0)
        assert found[a, "end", s, "end"] == (SYNC, 0)


def test_all_sources_of_a_stream_wait_count(tmp_path):
    t = Tiny((0, 100))
    sources = []
    records = []
    for k, stream in enumerate((7, 8)):
        t.call("cudaLaunchKernel", 10 * k, 1)
        sources.append(t.work("a", 10 * k + 5, 20, stream=stream))
        t.call("cudaEventRecord", 10 * k + 2, 1)
        records.append(t.correlation)
    for k, stream in enumerate((7, 8)):
        t.call("cudaStreamWaitEvent", 20 + k * 2, 1)
        t.wait("Stream Wait Event", 20 + k * 2, 5, stream=9, wait_on_stream=stream,
               wait_on_cuda_event_record_corr_id=records[k])
    t.call("cudaLaunchKernel", 30, 1)
    b = t.work("b", 50, 10, stream=9)
    found = edges(t.write(tmp_path))
    assert all(found[s, "end", b, "start"] == (SYNC, 0) for s in sources)


def test_a_graph_launch_brings_all_its_kernels(tmp_path):
    t = Tiny((0, 100))
    g = t.call("cudaGraphLaunch", 0, 3)
    ks = [t.work(f"k{i}", 10 + 10 * i, 8) for i in range(4)]
    trace = t.write(tmp_path)
    found = edges(trace)
    assert found[g, "start", ks[0], "start"] == (LAUNCH, 10)
    assert all(found[a, "end", b, "start"] == (KERNEL, 2) for a, b in zip(ks, ks[1:]))
    assert sizes(trace)["length_ns"] == 48000
    hta = edges(trace, "--hta-compat")
    assert {k for e in hta for k in (e[0], e[2])} == {g, ks[-1]}


def test_work_that_overlaps_on_a_stream(tmp_path):
    t = Tiny((0, 100))
    t.call("cudaLaunchKernel", 0, 1)
    a = t.work("a", 5, 20)
    t.call("cudaLaunchKernel", 2, 1)
    b = t.work("b", 20, 20)
    trace = t.write(tmp_path)
    assert edges(trace)[a, "start", b, "start"] == (OPERATOR, 15)
    assert sizes(trace)["length_ns"] == 40000


def test_autograd_thread_follows_the_main_thread(tmp_path):
    t = Tiny((0, 100))
    f = t.op("forward", 0, 10)
    b = t.op("autograd::engine::evaluate_function: MmBackward0", 12, 20, tid=2)
    o = t.op("optimizer", 40, 10)
    trace = t.write(tmp_path)
    found = edges(trace)
    assert found[f, "end", b, "start"] == (ORDER, 0) and found[b, "end", o, "start"] == (ORDER, 0)
    assert sizes(trace)["length_ns"] == 40000


def test_the_runtime_lock_orders_ends(tmp_path):
    t = Tiny((0, 100))
    a = t.call("cudaLaunchKernel", 0, 10, tid=1)
    b = t.call("cudaLaunchKernel", 5, 10, tid=2)
    trace = t.write(tmp_path)
    found = edges(trace)
    assert found[a, "end", b, "end"] == (ORDER, 0)
    assert found[a, "start", a, "end"] == (OPERATOR, 10)
    assert found[b, "start", b, "end"] == (OPERATOR, 10)
    hta = edges(trace, "--hta-compat")
    assert hta[b, "start", a, "end"] == (ORDER, 0) and (b, "start", b, "end") not in hta


def test_partly_overlapping_operators_keep_their_order(tmp_path):
    t = Tiny((0, 100))
    t.op("a", 0, 20)
    t.op("b", 10, 20)
    t.op("c", 40, 5)
    trace = t.write(tmp_path)
    assert sizes(trace)["length_ns"] <= 45000
    assert all(d >= 0 for _, d in edges(trace).values())


def test_amd_kernels_on_stream_zero(tmp_path):
    t = Tiny((0, 100))
    r = t.call("hipLaunchKernel", 0, 1)
    k = t.work("Cijk_gemm", 5, 40, stream=0)
    s = t.call("hipDeviceSynchronize", 2, 45)
    trace = t.write(tmp_path)
    found = edges(trace)
    assert found[r, "start", k, "start"] == (LAUNCH, 5) and found[k, "end", s, "end"] == (SYNC, 0)


def test_mtia_runtime_calls_have_nodes(tmp_path):
    t = Tiny((0, 100))
    r = t.add("mtia_runtime", "runFunction - job_prep_and_submit_for_execution", 0, 1,
              correlation=5)
    k = t.add("mtia_ccp_events", "kernel", 5, 10, pid=0, tid=3, stream=3, device=0, correlation=5)
    assert edges(t.write(tmp_path))[r, "start", k, "start"] == (LAUNCH, 5)


def test_data_loading(tmp_path):
    t = Tiny((0, 100))
    t.add("user_annotation", "enumerate(DataLoader)#_Iter.__next__", 0, 30)
    t.op("aten::add", 30, 10)
    trace = t.write(tmp_path)
    assert {r["bound_by"] for r in rows(trace)} == {"cpu_bound"}
    found = {r["bound_by"]: r["duration_ns"]
             for r in rows(trace, "--data-load-events", "DataLoader|next_batch")}
    assert found == {"data_loading": "30000", "cpu_bound": "10000"}


def test_bounds_of_gpu_work(tmp_path):
    t = Tiny((0, 200))
    at = 0
    for name, cat in (("gemm", "kernel"), ("ncclDevKernel_AllReduce_Sum", "kernel"),
                      ("Memcpy DtoD (Device -> Device)", "gpu_memcpy")):
        t.call("cudaLaunchKernel", at / 10, 0.5)
        t.work(name, 10 + at, 20, cat=cat)
        at += 20
    trace = t.write(tmp_path)
    found = {r["bound_by"]: r["duration_ns"] for r in rows(trace)}
    assert {k: found[k] for k in found if k.endswith("_bound")} == {
        "gpu_compute_bound": "20000", "gpu_communication_bound": "20000",
        "gpu_memory_bound": "20000"}
    found = {r["bound_by"]: r["duration_ns"] for r in rows(trace, "--hta-compat")}
    assert found["gpu_compute_bound"] == "40000"


# ---- windows ----


def two_steps(folder, rank=0):
    t = Tiny()
    for i, length in enumerate((10, 20)):
        t.add("user_annotation", f"ProfilerStep#{i + 3}", 100 * i, 90)
        t.op("aten::add", 100 * i + 5, length + rank)
    return t.write(folder, rank)


def test_instances_and_steps(tmp_path):
    trace = two_steps(tmp_path)
    assert sizes(trace)["length_ns"] == 10000
    assert sizes(trace, "--instance", "1")["length_ns"] == 20000
    assert sizes(trace, "--instance", "0-1")["length_ns"] == 30000
    assert sizes(trace, "--step", "4")["length_ns"] == 20000
    assert sizes(trace, "--annotation", "")["length_ns"] == 30000
    assert sizes(trace, "--annotation", "Step#4")["length_ns"] == 20000


def test_window_that_does_not_exist(tmp_path):
    trace = two_steps(tmp_path)
    done = support.run(VERB, trace, "--instance", "5")
    assert done.returncode == 2 and b"instance 5 of 'ProfilerStep' does not exist" in done.stderr
    done = support.run(VERB, trace, "--instance", "x")
    assert done.returncode == 2
    done = support.run(VERB, trace, "--annotation", "nowhere")
    assert done.returncode == 0 and b"named 'nowhere'" in done.stdout
    assert rows(trace, "--annotation", "nowhere") == []


def test_without_steps_the_whole_trace_counts(tmp_path):
    t = Tiny()
    t.op("aten::add", 0, 10)
    trace = t.write(tmp_path)
    assert sizes(trace)["length_ns"] == 10000
    assert b"no ProfilerStep" in support.output(VERB, trace)


def test_every_rank_has_its_rows(tmp_path):
    for rank in range(3):
        two_steps(tmp_path, rank)
    found = rows(tmp_path, "--view", "graph")
    assert [(r["rank"], r["length_ns"]) for r in found] == [
        ("0", "10000"), ("1", "11000"), ("2", "12000")]
    (one,) = rows(tmp_path, "--view", "graph", "--rank", "1")
    assert one == found[1]


# ---- what if ----


def test_what_if_scales_and_finds_the_next_path(tmp_path):
    t = Tiny((0, 100))
    t.call("cudaLaunchKernel", 0, 1)
    t.work("big", 5, 50)
    t.call("cudaLaunchKernel", 2, 1)
    t.work("ncclDevKernel", 6, 30, stream=9)
    s = t.call("cudaDeviceSynchronize", 4, 52)
    t.wait("Context Sync", 4, 52, stream=-1)
    trace = t.write(tmp_path)
    assert sizes(trace)["length_ns"] == 55000
    found = {r["scale"]: (int(r["new_length_ns"]), int(r["saved_ns"]), int(r["n_edges"]))
             for r in rows(trace, "--view", "what-if", "--scale", "^big$=0.5,nccl=0,big=0")}
    # with big at 25: 5 + 25; the other way: first call 1, second launch 4, nccl 30
    assert found["^big$=0.5"] == (35000, 20000, 1)
    assert found["nccl=0"] == (55000, 0, 1)
    assert found["^big$=0.5,nccl=0,big=0"] == (30000, 25000, 2)
    words = {r["scale"]: int(r["saved_ns"]) for r in rows(trace, "--view", "what-if")}
    assert words["gpu_communication_bound=0"] == 0
    assert set(words) == {"cpu_bound=0", "gpu_communication_bound=0", "gpu_compute_bound=0",
                          "gpu_kernel_launch_overhead=0"}


@pytest.mark.parametrize("text", ["big", "=1", "a=x", "a=-1", "(=1"])
def test_bad_rules(launch_bound, text):
    done = support.run(VERB, launch_bound, "--view", "what-if", "--scale", text)
    assert done.returncode == 2 and b"is not a rule" in done.stderr


# ---- properties ----

TRACES = [EXAMPLES / name for name in ("ddp", "train", "graph", "straggler", "cpu")]
ids = [t.name for t in TRACES]


@pytest.mark.parametrize("compat", [(), ("--hta-compat",)], ids=["own", "hta"])
@pytest.mark.parametrize("trace", TRACES, ids=ids)
def test_length_is_the_sum_of_its_edges_and_fits_the_window(trace, compat):
    graphs = {r["rank"]: r for r in rows(trace, "--view", "graph", *compat)}
    total = collections.Counter()
    n = collections.Counter()
    for r in rows(trace, "--view", "path", *compat):
        total[r["rank"]] += int(r["duration_ns"])
        n[r["rank"]] += 1
    by_bound = collections.Counter()
    for r in rows(trace, *compat):
        by_bound[r["rank"]] += int(r["duration_ns"])
    noise = 0 if not compat else 2000
    for rank, g in graphs.items():
        assert abs(total[rank] - int(g["length_ns"])) <= noise
        assert abs(by_bound[rank] - int(g["length_ns"])) <= noise
        assert n[rank] == int(g["n_edges"])
        if not compat:
            assert int(g["length_ns"]) <= int(g["window_ns"])


@pytest.mark.parametrize("trace", TRACES, ids=ids)
def test_edges_lead_forward_and_form_the_path(trace):
    found = rows(trace, "--view", "edges", "--rank", "0")
    when = {}
    for r in rows(trace, "--view", "events", "--rank", "0"):
        when[r["index"], "start"] = int(r["ts_ns"])
        when[r["index"], "end"] = int(r["ts_ns"]) + int(r["dur_ns"])
    critical = 0
    for r in found:
        dt = when[r["to_index"], r["to_point"]] - when[r["from_index"], r["from_point"]]
        assert 0 <= int(r["duration_ns"]) <= dt
        assert int(r["slack_ns"]) >= 0
        if r["critical"] == "true":
            critical += 1
            assert r["slack_ns"] == "0"
    assert critical == sizes(trace, "--rank", "0")["n_edges"]


@pytest.mark.parametrize("trace", TRACES[:4], ids=ids[:4])
def test_scaling_on_and_off_the_path(trace):
    events = rows(trace, "--view", "events", "--rank", "0")
    on, off = collections.Counter(), set()
    for r in events:
        if r["critical"] == "true" or int(r["path_ns"]):
            on[r["name"]] += int(r["path_ns"])
        else:
            off.add(r["name"])
    length = sizes(trace, "--rank", "0")["length_ns"]

    def rule(name, factor):
        escaped = re.sub(r"([][\\.^$*+?{}|()])", r"\\\1", name)
        return f"^{escaped}$".replace(",", "\\,") + f"={factor}"

    off = sorted(off - set(on))[:5]
    for r in rows(trace, "--rank", "0", "--view", "what-if", "--scale",
                  ",".join(rule(name, 0) for name in off)) if off else []:
        assert int(r["new_length_ns"]) == length
    for name, time in on.most_common(4):
        for factor in (0, 0.5):
            r = rows(trace, "--rank", "0", "--view", "what-if", "--scale", rule(name, factor))[0]
            assert length - time * (1 - factor) - 1 <= int(r["new_length_ns"]) <= length


def test_slack_is_what_an_event_can_grow(tmp_path):
    t = Tiny((0, 100))
    t.call("cudaLaunchKernel", 0, 1)
    t.work("long", 5, 50)
    t.call("cudaLaunchKernel", 2, 1)
    t.work("short", 7, 20, stream=9)
    trace = t.write(tmp_path)
    (short,) = [r for r in rows(trace, "--view", "events") if r["name"] == "short"]
    slack = int(short["slack_ns"])
    assert slack > 0
    length = sizes(trace)["length_ns"]
    for extra, same in ((slack, True), (slack + 1000, False)):
        factor = (20000 + extra) / 20000
        (r,) = rows(trace, "--view", "what-if", "--scale", f"short={factor}")
        assert (int(r["new_length_ns"]) == length) == same


# ---- HTA's own results ----


ALEX = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"


def golden_cases():
    """(folder, instance, traces, annotation)"""
    found = []
    for folder in sorted((support.ROOT / "tests" / "golden-hta").glob("*")):
        files = [p for p in sorted((EXAMPLES / folder.name).glob("*.json.gz"))]
        found.append((folder, files))
    extra = os.environ.get("HOLOTRACE_EXTRA_DATA")
    if extra:
        for folder in sorted((pathlib.Path(extra).parent / "golden" / "hta").glob("*")):
            if (folder / "DATA.txt").exists():
                pattern = (folder / "DATA.txt").read_text().strip()
                files = [p for p in sorted(pathlib.Path(extra).glob(pattern))
                         if not p.name.endswith(".et.json.gz")]
                found.append((folder, files))
    for folder, files in found:
        for nodes in sorted(folder.glob("critical_path.*.nodes.txt")):
            annotation = ALEX if folder.name.startswith("critical_path_") else "ProfilerStep"
            yield folder, nodes.name.split(".")[1], files, annotation


CASES = list(golden_cases())


@pytest.mark.parametrize("folder,instance,files,annotation", CASES,
                         ids=[f"{c[0].parent.name}-{c[0].name}-{c[1]}" for c in CASES])
def test_golden(folder, instance, files, annotation):
    args = ("--hta-compat", "--instance", instance, "--annotation", annotation)
    first = rows(*files, "--view", "graph", *args)[0]
    rank = ("--rank", first["rank"])
    text = (folder / f"critical_path.{instance}.nodes.txt").read_text()
    want = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", text)}
    assert {"nodes": int(first["n_nodes"]), "edges": int(first["n_edges"]),
            "graph_nodes": int(first["graph_nodes"]),
            "graph_edges": int(first["graph_edges"])} == want
    with open(folder / f"critical_path.{instance}.summary.csv", newline="") as file:
        want = {r["bound_by"]: float(r["duration"]) for r in csv.DictReader(file)}
    got = {r["bound_by"] or "": 100 * float(r["share"]) for r in rows(*files, *args, *rank)}
    assert got == pytest.approx(want, abs=1e-4)
    breakdown = folder / f"critical_path.{instance}.breakdown.csv"
    if not breakdown.exists():
        return

    got, want = collections.defaultdict(list), collections.defaultdict(list)
    for r in rows(*files, "--view", "path", *args, *rank):
        where = (r["index"], r["type"], r["short_name"],
                 r["stream"] if r["stream"] else "-1" if r["index"] else None, r["bound_by"] or "")
        got[where].append(int(r["duration_ns"]) / 1000)
    with open(breakdown, newline="") as file:
        for r in csv.DictReader(file):
            index = str(int(float(r["event_idx"]))) if r["event_idx"] else None
            stream = str(int(float(r["stream"]))) if r["stream"] else None
            where = (index, r["type"], r["s_name"] if index else None, stream, r["bound_by"])
            want[where].append(float(r["duration"]))
    assert set(got) == set(want)
    for where in want:
        for a, b in zip(sorted(got[where]), sorted(want[where])):
            assert math.isclose(a, b, rel_tol=1e-9, abs_tol=0.002), where
        assert len(got[where]) == len(want[where])
