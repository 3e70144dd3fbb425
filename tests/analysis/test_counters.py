# SPDX-License-Identifier: Apache-2.0
"""Queues, copy bandwidth, launches, kernel sequences and hardware counters."""
import collections
import math

import pytest

from tiny import EXAMPLES, Tiny, close, golden, golden_cases, notes, rows

TRACES = [EXAMPLES / name for name in ("ddp", "train", "graph", "straggler")]
on_examples = pytest.mark.parametrize("trace", TRACES, ids=[t.name for t in TRACES])
CASES = golden_cases()
on_cases = pytest.mark.parametrize("folder, traces", CASES, ids=[f.name for f, _ in CASES])


# ---- queue length ----


@pytest.fixture
def queue(tmp_path):
    """The example of queue_length.c."""
    t = Tiny()
    t.work("a", 3, 1, launch=0)
    t.work("b", 4, 1, launch=1)
    t.add("cpu_op", "aten::add", 0, 10)
    return t.write(tmp_path)


def test_queue_series(queue):
    found = rows("queue-length", queue, "--view", "series")
    assert [(r["ts_ns"], r["queue_length"]) for r in found] == [
        ("0", "1"), ("1000", "2"), ("3000", "1"), ("4000", "0")]
    assert [(r["rank"], r["stream"], r["pid"], r["tid"]) for r in found] == [("0", "7", "0", "7")] * 4
    assert [r["index"] for r in found] == ["0", "2", "1", "3"]


def test_queue_summary_weighs_by_time(queue):
    (row,) = rows("queue-length", queue)
    assert row["count"] == "4" and float(row["mean"]) == 1 and row["max"] == "2"
    assert float(row["time_mean"]) == 1.5 and float(row["empty_share"]) == 0
    assert float(row["std"]) == pytest.approx(math.sqrt(2 / 3))


def test_queue_counts_launch_before_start_at_the_same_time(tmp_path):
    t = Tiny()
    t.work("a", 5, 1, launch=5)
    found = rows("queue-length", t.write(tmp_path), "--view", "series")
    assert [r["queue_length"] for r in found] == ["1", "0"]


def test_queue_counts_every_kernel_of_a_graph(tmp_path):
    t = Tiny()
    t.graph(0, [("a", 2, 1), ("b", 3, 1), ("c", 4, 1)])
    trace = t.write(tmp_path)
    found = rows("queue-length", trace, "--view", "series")
    assert [r["queue_length"] for r in found] == ["3", "2", "1", "0"]
    assert rows("queue-length", trace, "--hta-compat") == []


def test_queue_keeps_devices_apart(tmp_path):
    t = Tiny()
    t.work("a", 5, 1, launch=0)
    t.work("b", 6, 1, launch=1, device=1)
    trace = t.write(tmp_path)
    assert [(r["device"], r["max"]) for r in rows("queue-length", trace)] == [("0", "1"), ("1", "1")]
    assert [(r["device"], r["max"]) for r in rows("queue-length", trace, "--hta-compat")] == [
        (None, "2")]


@on_examples
def test_queues_end_empty_and_never_go_negative(trace):
    found = collections.defaultdict(list)
    for r in rows("queue-length", trace, "--view", "series", "--step", "all"):
        found[r["rank"], r["device"], r["stream"]].append((int(r["ts_ns"]), int(r["queue_length"])))
    assert found
    for points in found.values():
        assert points == sorted(points, key=lambda p: p[0])
        assert points[-1][1] == 0
        assert min(length for _, length in points) >= 0
    assert len(rows("queue-length", trace, "--step", "all")) == len(found)


@on_examples
def test_a_queue_is_the_same_whatever_is_looked_at(trace):
    """The chosen steps say from when to when, not what is in the queue."""
    def lengths(*options):
        found = collections.defaultdict(dict)
        for r in rows("queue-length", trace, "--view", "series", *options):
            found[r["rank"], r["device"], r["stream"]][r["ts_ns"], r["index"]] = r["queue_length"]
        return found

    whole, chosen = lengths("--step", "all"), lengths()
    assert chosen
    for key, points in chosen.items():
        assert points.items() <= whole[key].items()


# ---- blocked ----


def test_blocked_sums_time_at_the_limit(queue):
    (row,) = rows("queue-blocked", queue, "--max-queue-length", "2")
    assert row["blocked_ns"] == "2000" and float(row["blocked_share"]) == 0.2
    (row,) = rows("queue-blocked", queue, "--max-queue-length", "2", "--hta-compat")
    assert float(row["blocked_share"]) == 0.5  # HTA ends the trace at the last start, 4 us
    assert rows("queue-blocked", queue) == []
    assert "longest is 2" in notes("queue-blocked", queue)[0]


def test_blocked_lists_every_stream(tmp_path):
    t = Tiny()
    for stream in (7, 9):
        t.work("a", 5, 1, launch=0, stream=stream)
    found = rows("queue-blocked", t.write(tmp_path), "--max-queue-length", "1")
    assert [(r["stream"], r["blocked_ns"]) for r in found] == [("7", "5000"), ("9", "5000")]


def full_queue(tmp_path, call_us):
    """400 launches that fill a queue of 100: from then on each call waits for a kernel to start."""
    t = Tiny()
    for i in range(400):
        start = 1000 + 10 * i
        t.work("a", start, 9, launch=2 * i if i < 100 else start - 999.5,
               call_dur=1 if i < 100 else call_us)
    return t.write(tmp_path)


def test_blocked_finds_the_limit_where_launch_calls_wait(tmp_path):
    (row,) = rows("queue-blocked", full_queue(tmp_path, 9))
    assert row["limit_from"] == "data" and 90 <= int(row["limit"]) <= 100
    assert int(row["blocked_ns"]) > 2_500_000


def test_blocked_assumes_the_limit_where_no_call_waits(tmp_path):
    trace = full_queue(tmp_path, 1)
    assert rows("queue-blocked", trace) == []
    assert "assumed" in notes("queue-blocked", trace)[0]
    (row,) = rows("queue-blocked", trace, "--max-queue-length", "50")
    assert row["limit_from"] == "given" and row["limit"] == "50"


# ---- bandwidth ----


def copies(*items):
    t = Tiny()
    for name, ts, dur, gbps in items:
        t.work(name, ts, dur, launch=None, cat="gpu_memcpy" if "Memcpy" in name else "gpu_memset",
               args={"memory bandwidth (GB/s)": gbps, "bytes": int(gbps * dur * 1000)})
    return t


def test_bandwidth_of_overlapping_copies(tmp_path):
    """The example of memory_bandwidth.c."""
    trace = copies(("Memcpy HtoD (Pinned -> Device)", 0, 4, 10),
                   ("Memcpy HtoD (Pinned -> Device)", 2, 2, 20)).write(tmp_path)
    found = rows("memory-bandwidth", trace, "--view", "series")
    assert [(r["ts_ns"], float(r["memory_bw_gbps"])) for r in found] == [
        ("0", 10), ("2000", 30), ("4000", 20), ("4000", 0)]
    (row,) = rows("memory-bandwidth", trace)
    assert row["name"] == "Memcpy HtoD" and row["count"] == "3" and float(row["mean_gbps"]) == 20
    assert row["copies"] == "2" and row["bytes"] == "80000" and row["busy_ns"] == "4000"
    assert float(row["time_mean_gbps"]) == 20


def test_bandwidth_leaves_no_residue(tmp_path):
    """0.1 + 0.2 - 0.1 - 0.2 is not 0 in doubles."""
    items = [("Memset (Device)", 10 * i + j, 5, [0.1, 0.2, 0.3, 0.7][j]) for i in range(50)
             for j in range(4)]
    (row,) = rows("memory-bandwidth", copies(*items).write(tmp_path))
    assert row["name"] == "Memset"
    # each round of four has seven points above zero and ends at exactly zero
    assert row["count"] == str(50 * 7)
    assert float(row["min_gbps"]) == 0.1


def test_back_to_back_copies_do_not_stack(tmp_path):
    trace = copies(("Memcpy DtoH (Device -> Pinned)", 0, 5, 10),
                   ("Memcpy DtoH (Device -> Pinned)", 5, 5, 10)).write(tmp_path)
    (row,) = rows("memory-bandwidth", trace)
    assert float(row["max_gbps"]) == 10 and row["count"] == "2"


@on_examples
def test_bandwidth_counts_every_copy(trace):
    for r in rows("memory-bandwidth", trace):
        assert float(r["max_gbps"]) >= float(r["time_mean_gbps"]) * (1 - 1e-12)
    series = collections.Counter((r["rank"], r["name"], r["is_end"])
                                 for r in rows("memory-bandwidth", trace, "--view", "series"))
    for r in rows("memory-bandwidth", trace):
        assert series[r["rank"], r["name"], "false"] == series[r["rank"], r["name"], "true"] == int(
            r["copies"])


# ---- launches ----


@pytest.fixture
def launches(tmp_path):
    t = Tiny()
    t.work("short", 20, 3, launch=10, call_dur=4)
    t.work("early", 32, 9, launch=30, call_dur=5)
    t.work("slow call", 400, 200, launch=100, call_dur=60)
    t.work("Memset (Device)", 700, 1, launch=650, cat="gpu_memset", call="cudaMemsetAsync")
    t.work("driver", 810, 5, launch=800, call="cuLaunchKernel")
    return t.write(tmp_path)


def test_launch_stats_of_every_launch(launches):
    found = rows("launch-stats", launches, "--view", "all")
    assert [(r["name"], r["cpu_ns"], r["gpu_ns"], r["launch_delay_ns"]) for r in found] == [
        ("short", "4000", "3000", "6000"), ("early", "5000", "9000", "0"),
        ("slow call", "60000", "200000", "240000"), ("Memset (Device)", "1000", "1000", "49000"),
        ("driver", "1000", "5000", "9000")]
    assert [(r["launch"], r["index_launch"], r["index_gpu"], r["correlation"]) for r in found][0] == (
        "cudaLaunchKernel", "0", "1", "101")


def test_launch_stats_views(launches):
    def names(*args):
        return [r["name"] for r in rows("launch-stats", launches, *args)]

    assert names("--view", "short") == ["short"]
    assert names("--view", "runtime-outliers") == ["slow call"]
    assert names("--view", "delay-outliers") == ["slow call"]
    # the worst first: 240, 49, 9 and 6 us
    assert names("--view", "delay-outliers", "--launch-delay-cutoff", "5us") == [
        "slow call", "Memset (Device)", "driver", "short"]
    assert names("--view", "delay-outliers", "--launch-delay-cutoff", "5us", "--top", "2") == [
        "slow call", "Memset (Device)"]
    assert names("--view", "runtime-outliers", "--runtime-cutoff", "1us") == ["slow call", "early", "short"]
    assert names("--view", "all", "--include-memory=false") == ["short", "early", "slow call", "driver"]
    assert names("--hta-compat") == ["short", "early", "slow call", "Memset (Device)"]


def test_launch_stats_start_with_a_summary(tmp_path):
    """By name over ranks: calls of 4 and 6 us, delays of 6 and 90 us on one rank, 2 us on the other."""
    t = Tiny()
    t.work("gemm", 20, 3, launch=10, call_dur=4)
    t.work("gemm", 200, 30, launch=104, call_dur=6)
    t.work("relu", 300, 9, launch=290, call_dur=2)
    t.write(tmp_path, 0)
    t = Tiny()
    t.work("gemm", 20, 3, launch=14, call_dur=4)
    t.write(tmp_path, 1)
    found = rows("launch-stats", tmp_path)
    assert found == rows("launch-stats", tmp_path, "--view", "summary")
    gemm, relu = found
    assert (gemm["name"], gemm["count"], gemm["n_short"]) == ("gemm", "3", "2")
    assert (float(gemm["launch_delay_mean_ns"]), gemm["launch_delay_max_ns"]) == (98000 / 3, "90000")
    assert (float(gemm["cpu_mean_ns"]), gemm["cpu_max_ns"]) == (14000 / 3, "6000")
    assert (float(gemm["gpu_mean_ns"]), gemm["gpu_max_ns"]) == (12000, "30000")
    assert (relu["name"], relu["count"], relu["launch_delay_mean_ns"], relu["n_short"]) == ("relu", "1", "8000", "0")


def test_launch_stats_has_a_row_per_kernel_of_a_graph(tmp_path):
    t = Tiny()
    t.graph(0, [("a", 2, 1), ("b", 3, 1)])
    assert [r["name"] for r in rows("launch-stats", t.write(tmp_path), "--view", "all")] == ["a", "b"]


# ---- operators to launches ----


def test_op_launch_delay(tmp_path):
    t = Tiny()
    for at in (0, 100):
        t.add("cpu_op", "aten::linear", at, 50)
        t.add("cpu_op", "aten::addmm", at + 2, 40)
        t.work("gemm", at + 60 + at / 10, 5, launch=at + 6)
        t.work("bias", at + 80, 5, launch=at + 20)
    t.add("cpu_op", "aten::other", 0, 300, tid=2)  # another thread, encloses everything in time
    found = rows("op-launch-delay", t.write(tmp_path))
    assert len(found) == 1
    assert (found[0]["operator"], found[0]["kernel_sequence"], found[0]["count"]) == (
        "aten::addmm", "gemm -> bias", "2")
    assert float(found[0]["op_launch_delay_ns"]) == 4000
    assert float(found[0]["runtime_delay_ns"]) == 59000  # 54 and 64 us


def test_op_launch_delay_tolerates_launches_without_kernels(tmp_path):
    t = Tiny()
    t.add("cpu_op", "aten::mm", 0, 50)
    t.add("cuda_runtime", "cudaLaunchKernel", 5, 1, correlation=9)
    assert rows("op-launch-delay", t.write(tmp_path)) == []


# ---- kernel sequences ----


def sequences(folder):
    t = Tiny()
    for at in (0, 100, 200):
        t.add("cpu_op", "aten::linear", at, 50)
        for i, name in enumerate(("void gemm<4>(int)", "bias", "relu")):
            t.work(name, at + 50 + 2 * i, 2, launch=at + 5 + 10 * i)
    t.add("cpu_op", "aten::deep", 300, 90)
    t.add("cpu_op", "aten::linear", 305, 50)
    for i, name in enumerate(("a", "b", "c")):
        t.work(name, 400 + i, 1, launch=310 + i * 5)
    t.add("cpu_op", "aten::linear", 500, 50)
    t.work("alone", 560, 1, launch=510)
    return t.write(folder)


def test_sequences_of_an_operator_at_any_depth(tmp_path):
    trace = sequences(tmp_path)
    found = rows("kernel-sequences", trace, "--operator", "aten::linear")
    assert [(r["pattern"], r["count"], r["gpu_ns"], r["op_ns"]) for r in found] == [
        ("aten::linear|gemm|bias|relu", "3", "18000", "150000"),
        ("aten::linear|a|b|c", "1", "3000", "50000")]
    found = rows("kernel-sequences", trace, "--operator", "aten::linear", "--hta-compat")
    assert [(r["pattern"], r["count"]) for r in found] == [
        ("aten::linear|void gemm<4>(int)|bias|relu", "3")]
    found = rows("kernel-sequences", trace, "--operator", "aten::linear", "--min-length", "1")
    assert "aten::linear|alone" in [r["pattern"] for r in found]


def test_sequences_of_every_outermost_operator(tmp_path):
    found = rows("kernel-sequences", sequences(tmp_path))
    assert [r["pattern"] for r in found] == ["aten::linear|gemm|bias|relu", "aten::deep|a|b|c"]


def test_sequences_say_when_there_are_none(tmp_path):
    trace = sequences(tmp_path)
    assert rows("kernel-sequences", trace, "--operator", "nothing") == []
    assert "no 'nothing' launches 3" in notes("kernel-sequences", trace, "--operator", "nothing")[0]


# ---- CUPTI ----


FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
FADD = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"


def ranges(t, *names):
    for i, name in enumerate(names):
        t.add("cuda_profiler_range", name, 1000 * i, 1000, pid=0, tid=0,
              args={FFMA: 10 * (i + 1), FADD: 1} if i else {FFMA: 10})


def two_operators():
    t = Tiny()
    for at, op in ((0, "aten::conv2d"), (100, "aten::relu")):
        t.add("cpu_op", op, at, 50)
        t.add("cpu_op", op + "_inner", at + 1, 40)
        t.add("cuda_runtime", "cudaLaunchKernel", at + 5, 1, correlation=at + 1)
    return t


def test_cupti_ranges_in_order_of_launches(tmp_path):
    t = two_operators()
    ranges(t, "k1", "k2")
    found = rows("cupti-counters", t.write(tmp_path))
    assert [(r["name"], r["top_level_op"], r["bottom_level_op"], r["op_stack"]) for r in found] == [
        ("k1", "aten::conv2d", "aten::conv2d_inner", "aten::conv2d|aten::conv2d_inner"),
        ("k2", "aten::relu", "aten::relu_inner", "aten::relu|aten::relu_inner")]
    assert [(r[FFMA], r[FADD], r["flops"]) for r in found] == [("10", None, "20"), ("20", "1", "41")]


def test_cupti_without_a_match_keeps_the_counters(tmp_path):
    t = two_operators()
    ranges(t, "k1", "k2", "k3")
    trace = t.write(tmp_path)
    found = rows("cupti-counters", trace)
    assert [r["top_level_op"] for r in found] == [None] * 3 and found[0][FFMA] == "10"
    assert "3 profiler ranges and 2 kernel launches" in notes("cupti-counters", trace)[0]


def test_cupti_by_kernel_name(tmp_path):
    t = Tiny()
    for at, op, kernel in ((0, "aten::a", "k1"), (100, "aten::b", "k2"), (200, "aten::c", "k1")):
        t.add("cpu_op", op, at, 50)
        t.work(kernel, at + 60, 5, launch=at + 5)
    ranges(t, "k2", "k1", "k1")
    found = rows("cupti-counters", t.write(tmp_path))
    assert [r["top_level_op"] for r in found] == ["aten::b", "aten::a", "aten::c"]


# ---- nothing to say ----


@pytest.mark.parametrize("verb", ["queue-length", "queue-blocked", "memory-bandwidth",
                                  "launch-stats", "op-launch-delay", "kernel-sequences",
                                  "cupti-counters"])
def test_cpu_only_answers_with_a_note(verb, tmp_path):
    t = Tiny()
    t.add("cpu_op", "aten::add", 0, 10)
    trace = t.write(tmp_path)
    assert rows(verb, trace) == [] and len(notes(verb, trace)) == 1
    assert rows(verb, EXAMPLES / "cpu") == []


# ---- HTA's own tables ----
#
# Listed in docs/departures-from-hta.md: HTA leaves the order of equal times open; and in a trace with
# absolute unix times its doubles resolve a quarter of a microsecond only.


def noise(folder):
    return 0.5 if folder.name == "ns_resolution_trace" else 0.002


OPEN_TIES = {"critical_path_simple_add", "ns_resolution_trace"}


def described(cells):
    """HTA's summary: two header lines, an index line, then key, key, eight numbers."""
    return {tuple(row[:2]): row[2:] for row in cells[3:]}


@on_cases
def test_hta_queue_summary(folder, traces):
    expected = golden(folder, "queue_length_summary")
    found = rows("queue-length", *traces, "--hta-compat")
    if expected is None:
        assert found == []
        return
    keys = ("count", "mean", "std", "min", "p25", "p50", "p75", "max")
    found = {(r["rank"], r["stream"]): [r[k] for k in keys] for r in found}
    expected = described(expected)
    assert list(found) == list(expected)
    for key, values in found.items():
        near = 0.02 if folder.name in OPEN_TIES else 1e-9
        assert all(close(v, e, near) for v, e in zip(values, expected[key])), (key, values)


@on_cases
def test_hta_queue_series(folder, traces):
    files = sorted(folder.glob("queue_length_time_series.rank*.csv"))
    if not files:
        pytest.skip("HTA has no series here")
    found = rows("queue-length", *traces, "--hta-compat", "--view", "series")
    for path in files:
        expected = golden(folder, path.stem)[1:]
        mine = [r for r in found if r["rank"] == path.stem.rsplit("rank", 1)[1]]
        assert len(mine) == len(expected)
        mine = {(r["index"], r["stream"]): r for r in mine}
        times = sorted((e[4], float(e[1])) for e in expected)
        crowded = {b for a, b in zip(times, times[1:])
                   if a[0] == b[0] and b[1] - a[1] <= noise(folder)}
        crowded |= {a for a, b in zip(times, times[1:]) if b in crowded}
        for index, ts, pid, tid, stream, length in expected:
            r = mine[index, stream]
            assert close(int(r["ts_ns"]) / 1000, ts, noise(folder))
            assert (r["pid"], r["tid"]) == (pid, tid)
            if (stream, float(ts)) not in crowded:
                assert r["queue_length"] == length


@on_cases
def test_hta_blocked(folder, traces):
    expected = golden(folder, "time_blocked_on_full_queue")
    if expected is None:
        pytest.skip("HTA has no answer here")
    found = rows("queue-blocked", *traces, "--hta-compat")
    assert len(found) == len(expected) - 1


@on_cases
def test_hta_bandwidth_summary(folder, traces):
    expected = golden(folder, "memory_bw_summary")
    found = rows("memory-bandwidth", *traces, "--hta-compat")
    if expected is None:
        assert found == []
        return
    keys = ("count", "mean_gbps", "std_gbps", "min_gbps", "p25_gbps", "p50_gbps", "p75_gbps",
            "max_gbps")
    found = {(r["rank"], r["name"]): [r[k] for k in keys] for r in found}
    expected = described(expected)
    assert list(found) == list(expected)
    for key, values in found.items():
        if float(values[0]) != float(expected[key][0]):
            # HTA counts residues of its floating point sum as samples
            assert float(values[0]) < float(expected[key][0])
            assert float(expected[key][3]) < 1e-6 and close(values[7], expected[key][7], 1e-6)
            continue
        assert all(close(v, e, 1e-6) for v, e in zip(values, expected[key])), (key, values)


@on_cases
def test_hta_bandwidth_series(folder, traces):
    files = sorted(folder.glob("memory_bw_time_series.rank*.csv"))
    if not files:
        pytest.skip("HTA has no series here")
    found = rows("memory-bandwidth", *traces, "--hta-compat", "--view", "series")
    for path in files:
        expected = golden(folder, path.stem)[1:]
        mine = [r for r in found if r["rank"] == path.stem.rsplit("rank", 1)[1]]
        assert len(mine) == len(expected)
        times = collections.Counter((e[1], e[3]) for e in expected)
        for r, (_, ts, pid, name, gbps) in zip(mine, expected):
            assert r["name"] == name and r["pid"] == pid
            assert close(int(r["ts_ns"]) / 1000, ts, noise(folder))
            if times[ts, name] == 1:
                assert close(r["memory_bw_gbps"], gbps, 1e-6)


@on_cases
def test_hta_launch_stats(folder, traces):
    files = sorted(folder.glob("cuda_kernel_launch_stats.rank*.csv"))
    if not files:
        pytest.skip("HTA has no launch statistics here")
    found = rows("launch-stats", *traces, "--hta-compat")
    for path in files:
        expected = golden(folder, path.stem)[1:]
        mine = [r for r in found if r["rank"] == path.stem.rsplit("rank", 1)[1]]
        assert [r["correlation"] for r in mine] == [e[1] for e in expected]
        for r, (_, _, cpu, gpu, delay) in zip(mine, expected):
            assert close(int(r["cpu_ns"]) / 1000, cpu) and close(int(r["gpu_ns"]) / 1000, gpu)
            assert close(int(r["launch_delay_ns"]) / 1000, delay, noise(folder))


@on_cases
@pytest.mark.parametrize("operator", ["aten::linear", "aten::mm", "aten::add", "aten::conv2d"])
def test_hta_sequences(folder, traces, operator):
    expected = golden(folder, "frequent_sequences." + operator.replace("::", "_"))
    if expected is None:
        pytest.skip("HTA has no sequences here")
    first = rows("info", *traces)[0]["rank"]
    found = rows("kernel-sequences", *traces, "--hta-compat", "--operator", operator, "--rank", first)
    assert [(r["pattern"], r["count"]) for r in found] == [(e[0], e[1]) for e in expected[1:]]
    for r, e in zip(found, expected[1:]):
        assert close(int(r["gpu_ns"]) / 1000, e[2]) and close(int(r["op_ns"]) / 1000, e[3])


@on_cases
def test_hta_cupti(folder, traces):
    expected = golden(folder, "cupti_counters.0")
    if expected is None:
        pytest.skip("HTA has no counters here")
    names, expected = expected[0], expected[1:]
    found = rows("cupti-counters", *traces, "--hta-compat")
    assert [r["index"] for r in found] == [e[0] for e in expected]
    for r, cells in zip(found, expected):
        e = dict(zip(names, cells))
        assert r["name"] == e["name"]
        for column in names:
            if column.startswith("smsp__"):
                assert (r[column] or "-1") == e[column]
        assert r["index_launch"] == e["index_runtime"]
        assert r["top_level_op"] == e["top_level_op"]
        assert r["bottom_level_op"] == e["bottom_level_op"]
