# SPDX-License-Identifier: Apache-2.0
"""Breakdowns of GPU time: temporal, kernels, annotations, idling, communication overlap.

Three kinds: tiny traces whose answer is worked out by hand, properties that must hold on every bundled
trace, and HTA's own tables cell by cell (--hta-compat). HTA's tables of our recordings are in
tests/golden-hta; those of other traces are read from beside $HOLOTRACE_EXTRA_DATA when it is set.
"""
import csv
import glob
import json
import math
import os
import pathlib

import pytest

import support

EXAMPLES = support.ROOT / "examples"


def rows(verb, *args):
    names, cells = support.read_csv(support.output(verb, *args, "--format", "csv"))
    return [dict(zip(names, row)) for row in cells]


def number(cell):
    return math.nan if cell is None or cell == "" else float(cell)


# ---- tiny traces ----


class Tiny:
    """A trace in microseconds, written as the profiler writes it."""

    def __init__(self):
        self.events = []
        self.correlation = 100

    def add(self, cat, name, ts, dur, pid=1, tid=1, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts,
                            "dur": dur, "args": {k.replace("_", " ") if k == "External_id" else k: v
                                                 for k, v in args.items()}})

    def kernel(self, name, ts, dur, stream=7, launch=None, cat="kernel", **args):
        self.correlation += 1
        if launch is not None:
            self.add("cuda_runtime", "cudaLaunchKernel", launch, 1, correlation=self.correlation)
        self.add(cat, name, ts, dur, pid=0, tid=stream, device=0, stream=stream,
                 correlation=self.correlation, **args)

    def step(self, number_, ts, dur):
        self.add("user_annotation", f"ProfilerStep#{number_}", ts, dur)

    def write(self, folder, rank=0):
        path = pathlib.Path(folder) / f"rank{rank}.json"
        path.write_text(json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": rank},
                                    "traceEvents": self.events}))
        return path


@pytest.fixture
def overlapping(tmp_path):
    """The example of temporal_breakdown.c."""
    t = Tiny()
    t.kernel("gemm", 0, 4, launch=0)
    t.kernel("ncclDevKernel_AllReduce", 2, 4, stream=20, launch=1)
    t.kernel("Memcpy DtoD (Device -> Device)", 5, 2, stream=9, cat="gpu_memcpy", launch=2)
    t.kernel("gemm", 9, 1, launch=3)
    return t.write(tmp_path)


def test_temporal_breakdown_splits_busy_time(overlapping):
    (row,) = rows("temporal-breakdown", overlapping)
    assert row["rank"] == "0" and row["step"] is None
    times = {k: int(row[k]) for k in ("span_ns", "idle_ns", "compute_ns", "non_compute_ns",
                                      "exposed_ns", "memcpy_ns", "memset_ns", "other_ns")}
    assert times == {"span_ns": 10000, "idle_ns": 2000, "compute_ns": 5000, "non_compute_ns": 3000,
                     "exposed_ns": 2000, "memcpy_ns": 1000, "memset_ns": 0, "other_ns": 0}
    assert float(row["idle_share"]) == 0.2


def test_temporal_breakdown_by_step(tmp_path):
    t = Tiny()
    for step, at in ((1, 0), (2, 100), (3, 200)):
        t.step(step, at, 100)
        t.kernel("gemm", at + 50, 60, launch=at + 10)
        t.kernel("gemm", at + 130, 10, launch=at + 20)
    trace = t.write(tmp_path)
    found = rows("temporal-breakdown", trace, "--by", "step")
    assert [(r["step"], r["span_ns"], r["idle_ns"]) for r in found] == [
        ("1", "90000", "20000"), ("2", "90000", "20000"), ("3", "90000", "20000")]
    found = rows("temporal-breakdown", trace, "--by", "step", "--step", "all")
    assert [r["step"] for r in found] == ["1", "2", "3"]
    (row,) = rows("temporal-breakdown", trace, "--step", "3")
    assert row["span_ns"] == "90000"


def test_work_launched_before_the_recording_is_in_no_step(tmp_path):
    t = Tiny()
    t.step(1, 0, 100)
    t.step(2, 100, 100)
    t.kernel("leftover", 5, 5)
    t.kernel("a", 20, 10, launch=10)
    t.kernel("lost its launch", 40, 10)
    t.kernel("side stream", 1, 2, stream=9)
    t.kernel("b", 120, 10, launch=110)
    trace = t.write(tmp_path)
    for args, names in (((), ["side stream", "a", "lost its launch", "b"]),
                        (("--step", "1"), ["side stream", "a", "lost its launch"]),
                        (("--step", "2"), ["b"]),
                        (("--step", "all"), ["side stream", "leftover", "a", "lost its launch", "b"]),
                        (("--hta-compat",), ["a"])):
        found = rows("kernel-annotations", trace, "--group-by", "none", *args)
        assert [r["name"] for r in found] == names


def test_annotation_restricts_to_its_launches(tmp_path):
    """The same sets as kernel-annotations shows."""
    trace = annotated(tmp_path)
    for text, names in (("forw", ["k1", "void k2<int>(float)", "k4"]), ("attention", ["k1"])):
        found = rows("kernel-annotations", trace, "--group-by", "none", "--annotation", text)
        assert [r["name"] for r in found] == names


def test_cpu_only_answers_with_nulls(tmp_path):
    t = Tiny()
    t.add("cpu_op", "aten::add", 0, 10)
    trace = t.write(tmp_path)
    (row,) = rows("temporal-breakdown", trace)
    assert row["rank"] == "0" and row["span_ns"] is None and row["idle_share"] is None
    for verb in ("kernel-types", "kernel-breakdown", "annotation-breakdown", "kernel-annotations",
                 "idle-breakdown", "idle-intervals"):
        assert rows(verb, trace) == []
    (row,) = rows("comm-overlap", trace)
    assert row["communication_ns"] == "0" and row["overlap_share"] is None


def test_waits_are_not_gpu_work(tmp_path):
    t = Tiny()
    t.kernel("gemm", 0, 10, launch=0)
    t.kernel("Stream Wait Event", 10, 80, cat="cuda_sync", launch=1)
    t.kernel("gemm", 90, 10, launch=2)
    trace = t.write(tmp_path)
    (row,) = rows("temporal-breakdown", trace)
    assert row["idle_ns"] == "80000"
    (row,) = rows("temporal-breakdown", trace, "--hta-compat")
    assert row["idle_ns"] == "0"


def test_kernel_types_are_exclusive(overlapping):
    found = {r["kernel_type"]: int(r["sum_ns"]) for r in rows("kernel-types", overlapping)}
    assert found == {
        "compute": 3000, "compute overlapping communication": 2000, "communication": 1000,
        "communication overlapping memory": 1000, "memory": 1000}
    found = {r["kernel_type"]: int(r["sum_ns"])
             for r in rows("kernel-types", overlapping, "--include-memory=false")}
    assert found == {"compute": 3000, "compute overlapping communication": 2000,
                     "communication": 2000}
    found = {r["kernel_type"] for r in rows("kernel-types", overlapping, "--hta-compat")}
    assert "COMPUTATION overlapping COMMUNICATION" in found


def many_kernels(folder):
    t = Tiny()
    at = 0
    for name, durs in {"a": [40, 20], "b": [20], "c": [10], "d": [6, 2, 2]}.items():
        for dur in durs:
            t.kernel(name, at, dur, launch=at)
            at += dur + 10
    return t.write(folder)


def test_kernel_breakdown_keeps_true_statistics_when_folding(tmp_path):
    trace = many_kernels(tmp_path)
    found = rows("kernel-breakdown", trace, "--num-kernels", "2")
    assert [(r["name"], r["count"], r["sum_ns"], r["min_ns"], r["max_ns"], r["n_names"])
            for r in found] == [("a", "2", "60000", "20000", "40000", "1"),
                                ("b", "1", "20000", "20000", "20000", "1"),
                                ("others", "4", "20000", "2000", "10000", "2")]
    assert float(found[0]["std_ns"]) == pytest.approx(14142.135623730951)
    assert found[1]["std_ns"] is None
    # 10, 6, 2, 2: mean 5, squares 25 + 1 + 9 + 9
    assert float(found[2]["mean_ns"]) == 5000
    assert float(found[2]["std_ns"]) == pytest.approx(math.sqrt(44 / 3) * 1000)
    assert sum(float(r["share"]) for r in found) == pytest.approx(1)


def test_kernel_breakdown_starts_with_what_costs_most(tmp_path):
    """Over types and ranks: a collective of the last rank comes first when it is the longest."""
    for rank, nccl in ((0, 5), (1, 90)):
        t = Tiny()
        t.kernel("gemm", 0, 30 + rank, launch=0)
        t.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 200, nccl, launch=1)
        t.kernel("Memset (Device)", 400, 20, cat="gpu_memset", launch=2)
        t.write(tmp_path, rank)
    found = rows("kernel-breakdown", tmp_path)
    assert [(r["rank"], r["kernel_type"], r["sum_ns"]) for r in found] == [
        ("1", "communication", "90000"), ("1", "compute", "31000"), ("0", "compute", "30000"),
        ("0", "memory", "20000"), ("1", "memory", "20000"), ("0", "communication", "5000")]
    found = rows("kernel-breakdown", tmp_path, "--by", "all")
    assert [(r["kernel_type"], r["sum_ns"]) for r in found] == [
        ("communication", "95000"), ("compute", "61000"), ("memory", "40000")]
    found = rows("kernel-breakdown", tmp_path, "--hta-compat")
    assert [(r["kernel_type"], r["rank"]) for r in found] == [
        (kind, rank) for kind in ("COMMUNICATION", "COMPUTATION", "MEMORY") for rank in ("0", "1")]


def test_kernel_breakdown_by_share_of_time(tmp_path):
    trace = many_kernels(tmp_path)
    for ratio, names in (("0.5", ["a", "others"]), ("0.61", ["a", "b", "others"]),
                         ("0.85", ["a", "b", "c", "others"]), ("1", ["a", "b", "c", "d"])):
        found = rows("kernel-breakdown", trace, "--num-kernels", "0", "--duration-ratio", ratio,
                     "--ratio-of", "time")
        assert [r["name"] for r in found] == names


def test_kernel_breakdown_like_hta_describes_sums(tmp_path):
    trace = many_kernels(tmp_path)
    found = rows("kernel-breakdown", trace, "--num-kernels", "2", "--hta-compat")
    # running sums 60, 80, 90, 100; their 0.8 quantile is 94, so two names stay
    assert [r["name"] for r in found] == ["a", "b", "others"]
    assert found[0]["min_ns"] == found[0]["max_ns"] == "60000" and float(found[0]["std_ns"]) == 0
    assert found[2]["min_ns"] == found[2]["max_ns"] == "10000" and found[2]["sum_ns"] == "20000"


def test_kernel_breakdown_shows_imbalance_over_ranks(tmp_path):
    for rank, durs in enumerate(([4, 6], [30])):
        t = Tiny()
        for i, dur in enumerate(durs):
            t.kernel("a", 100 * i, dur, launch=100 * i)
        if rank == 0:
            t.kernel("b", 900, 1, launch=900)
        t.write(tmp_path, rank)
    a, b = rows("kernel-breakdown", tmp_path, "--by", "all")
    assert a["name"] == "a" and "rank" not in a and a["count"] == "3" and a["sum_ns"] == "40000"
    assert (a["min_ns"], a["max_ns"], a["n_ranks"]) == ("4000", "30000", "2")
    assert (a["rank_min_ns"], a["rank_max_ns"]) == ("10000", "30000")
    assert float(a["rank_mean_ns"]) == 20000 and float(a["imbalance"]) == 1.5
    assert b["n_ranks"] == "1" and b["rank_min_ns"] == "0" and float(b["imbalance"]) == 2
    mean = 40 / 3
    std = math.sqrt(sum((x - mean) ** 2 for x in (4, 6, 30)) / 2) * 1000
    assert float(a["std_ns"]) == pytest.approx(std)


def annotated(folder):
    """forward(attention(k1)) k2 on the host; k3 from another thread; k4 without a launch."""
    t = Tiny()
    t.add("user_annotation", "forward", 0, 100, External_id=1)
    t.add("user_annotation", "attention", 10, 20, External_id=2)
    t.kernel("k1", 200, 10, launch=15)
    t.kernel("void k2<int>(float)", 210, 10, launch=50)
    t.correlation += 1
    t.add("cuda_runtime", "cudaLaunchKernel", 60, 1, tid=2, correlation=t.correlation)
    t.add("kernel", "k3", 220, 10, pid=0, tid=7, device=0, stream=7, correlation=t.correlation)
    t.kernel("k4", 230, 10)
    t.add("gpu_user_annotation", "forward", 200, 38, pid=0, tid=7, External_id=1)
    t.add("gpu_user_annotation", "attention", 200, 10, pid=0, tid=7, External_id=2)
    return t.write(folder)


def test_kernel_annotations_follow_the_launch(tmp_path):
    trace = annotated(tmp_path)
    found = rows("kernel-annotations", trace, "--group-by", "none")
    assert [(r["short_name"], r["annotation"], r["annotation_stack"]) for r in found] == [
        ("k1", "attention", "forward / attention"), ("k2", "forward", "forward"),
        ("k3", None, None), ("k4", "forward", "forward")]
    assert [r["name"] for r in found][1] == "void k2<int>(float)"
    found = rows("kernel-annotations", trace, "--group-by", "none", "--source", "gpu")
    assert [r["annotation"] for r in found] == ["attention", "forward", "forward", "forward"]
    assert found[0]["annotation_stack"] == "forward / attention"


def test_kernel_annotations_group(tmp_path):
    trace = annotated(tmp_path)
    found = rows("kernel-annotations", trace)
    assert found == rows("kernel-annotations", trace, "--group-by", "annotation") and "index" not in found[0]
    assert [(r["annotation"], r["count"], r["dur_ns"]) for r in found] == [
        ("forward", "2", "20000"), (None, "1", "10000"), ("attention", "1", "10000")]
    found = rows("kernel-annotations", trace, "--group-by", "stack")
    assert [r["annotation_stack"] for r in found] == ["forward", None, "forward / attention"]
    found = rows("kernel-annotations", trace, "--group-by", "name")
    assert [(r["annotation"], r["name"]) for r in found] == [
        (None, "k3"), ("attention", "k1"), ("forward", "k4"), ("forward", "void k2<int>(float)")]


def test_annotation_breakdown_sources_and_allowlist(tmp_path):
    trace = annotated(tmp_path)
    found = rows("annotation-breakdown", trace, "--source", "cpu")
    assert [(r["name"], r["sum_ns"]) for r in found] == [("forward", "100000"),
                                                         ("attention", "20000")]
    found = rows("annotation-breakdown", trace)
    assert [(r["name"], r["sum_ns"]) for r in found] == [("forward", "38000"),
                                                         ("attention", "10000")]
    found = rows("annotation-breakdown", trace, "--num-kernels", "1")
    assert [r["name"] for r in found] == ["forward", "others"]
    found = rows("annotation-breakdown", trace, "--num-kernels", "1", "--allowlist", "^att|zzz")
    assert [r["name"] for r in found] == ["forward", "attention"]
    done = support.run("annotation-breakdown", trace, "--allowlist", "(")
    assert done.returncode == 2 and b"not a regular expression" in done.stderr


def test_idle_breakdown_splits_a_gap_at_the_launch(tmp_path):
    t = Tiny()
    t.kernel("a", 0, 4, launch=0)
    t.kernel("b", 20, 4, launch=10)
    t.kernel("c", 100, 4, launch=15)
    trace = t.write(tmp_path)
    found = {r["idle_category"]: (int(r["idle_ns"]), int(r["count"]))
             for r in rows("idle-breakdown", trace)}
    assert found == {"host_wait": (6000, 1), "kernel_wait": (10000, 1), "other": (76000, 1)}
    found = {r["idle_category"]: int(r["idle_ns"])
             for r in rows("idle-breakdown", trace, "--threshold", "100us")}
    assert found == {"host_wait": 6000, "kernel_wait": 86000, "other": 0}
    found = {r["idle_category"]: int(r["idle_ns"])
             for r in rows("idle-breakdown", trace, "--hta-compat")}
    assert found == {"host_wait": 16000, "other": 76000}


def test_idle_breakdown_ignores_overlap_on_a_stream(tmp_path):
    t = Tiny()
    t.kernel("long", 0, 50, launch=0)
    t.kernel("short", 5, 5, launch=1)
    t.kernel("last", 60, 5, launch=2)
    trace = t.write(tmp_path)
    found = rows("idle-breakdown", trace)
    assert sum(int(r["idle_ns"]) for r in found) == 10000
    found = rows("idle-breakdown", trace, "--hta-compat")
    assert sum(int(r["idle_ns"]) for r in found) == 5000


def test_idle_by_device_and_streams(tmp_path):
    t = Tiny()
    t.kernel("a", 0, 10, stream=7, launch=0)
    t.kernel("b", 5, 20, stream=9, launch=1)
    t.kernel("c", 30, 10, stream=7, launch=2)
    trace = t.write(tmp_path)
    found = rows("idle-breakdown", trace, "--by", "device")
    assert sum(int(r["idle_ns"]) for r in found) == 5000 and found[0]["stream"] is None
    found = rows("idle-breakdown", trace, "--streams", "7")
    assert {r["stream"] for r in found} == {"7"} and sum(int(r["idle_ns"]) for r in found) == 20000
    done = support.run("idle-breakdown", trace, "--streams", "x")
    assert done.returncode == 2


def test_idle_intervals_describe_gaps(tmp_path):
    t = Tiny()
    at = 0
    for gap in (0, 2, 4, 12):
        at += gap
        t.kernel("k", at, 1, launch=at)
        at += 1
    (row,) = rows("idle-intervals", t.write(tmp_path))
    assert row["idle_category"] == "host_wait" and row["count"] == "3"
    values = [float(row[k]) for k in ("mean_ns", "std_ns", "min_ns", "p25_ns", "p50_ns", "p75_ns",
                                      "max_ns")]
    assert values == pytest.approx([6000, math.sqrt(28) * 1000, 2000, 3000, 4000, 8000, 12000])


def test_comm_overlap_by_rank_group_and_collective(tmp_path):
    t = Tiny()
    group = {"Process Group Name": "0", "Collective name": "allreduce"}
    t.kernel("gemm", 6, 6, launch=0)
    t.kernel("ncclDevKernel_A", 0, 10, stream=20, launch=1, **group)
    t.kernel("ncclDevKernel_B(int)", 30, 5, stream=21, launch=2)
    trace = t.write(tmp_path)
    (row,) = rows("comm-overlap", trace)
    assert (row["communication_ns"], row["overlap_ns"], row["exposed_ns"], row["count"]) == (
        "15000", "4000", "11000", "2")
    assert float(row["overlap_share"]) == pytest.approx(4 / 15)
    found = rows("comm-overlap", trace, "--by", "group")
    assert [(r["group"], r["exposed_ns"]) for r in found] == [("0", "6000"), (None, "5000")]
    found = rows("comm-overlap", trace, "--by", "collective")
    assert [(r["group"], r["collective"]) for r in found] == [
        ("0", "allreduce"), (None, "ncclDevKernel_B")]


# ---- properties ----

TRACES = [EXAMPLES / name for name in ("ddp", "train", "graph", "straggler")]
ids = [t.name for t in TRACES]


@pytest.mark.parametrize("trace", TRACES, ids=ids)
def test_parts_add_up(trace):
    busy = {}
    for r in rows("temporal-breakdown", trace):
        span, idle, compute, other = (int(r[k]) for k in ("span_ns", "idle_ns", "compute_ns",
                                                          "non_compute_ns"))
        assert idle >= 0 and span == idle + compute + other
        assert other == sum(int(r[k]) for k in ("exposed_ns", "memcpy_ns", "memset_ns",
                                                "other_ns"))
        busy[r["rank"]] = compute + other
    types = {}
    for r in rows("kernel-types", trace, "--by", "rank"):
        types[r["rank"]] = types.get(r["rank"], 0) + int(r["sum_ns"])
    assert types == busy
    total = sum(int(r["sum_ns"]) for r in rows("kernel-types", trace))
    assert total == sum(busy.values())
    per_rank = rows("kernel-breakdown", trace)
    pooled = rows("kernel-breakdown", trace, "--by", "all")
    for key in ("sum_ns", "count"):
        assert sum(int(r[key]) for r in per_rank) == sum(int(r[key]) for r in pooled)
    for r in rows("comm-overlap", trace):
        assert int(r["overlap_ns"]) + int(r["exposed_ns"]) == int(r["communication_ns"])


@pytest.mark.parametrize("trace", TRACES, ids=ids)
def test_idle_of_a_device_is_idle_of_its_span(trace):
    idle = {}
    for r in rows("idle-breakdown", trace, "--by", "device"):
        idle[r["rank"]] = idle.get(r["rank"], 0) + int(r["idle_ns"])
    assert idle == {r["rank"]: int(r["idle_ns"]) for r in rows("temporal-breakdown", trace)}
    counts = {}
    for verb in ("idle-breakdown", "idle-intervals"):
        counts[verb] = {(r["rank"], r["stream"], r["idle_category"]): int(r["count"])
                        for r in rows(verb, trace) if int(r["count"])}
    assert counts["idle-breakdown"] == counts["idle-intervals"]


@pytest.mark.parametrize("trace", TRACES, ids=ids)
def test_every_piece_of_work_is_listed_once(trace):
    listed = rows("kernel-annotations", trace, "--group-by", "none")
    assert len({(r["rank"], r["index"]) for r in listed}) == len(listed)
    total = sum(int(r["dur_ns"]) for r in listed)
    assert total == sum(int(r["sum_ns"]) for r in rows("kernel-breakdown", trace))
    for by in ("annotation", "stack", "name"):
        grouped = rows("kernel-annotations", trace, "--group-by", by)
        assert sum(int(r["dur_ns"]) for r in grouped) == total
        assert sum(int(r["count"]) for r in grouped) == len(listed)


def test_permuting_ranks_permutes_rows(tmp_path):
    files = sorted((EXAMPLES / "ddp").glob("*.json.gz"))
    order = [2, 0, 3, 1]
    moved = [f"{order.index(i)}={files[i]}" for i in range(4)]
    for verb in ("temporal-breakdown", "comm-overlap", "idle-breakdown", "annotation-breakdown"):
        before, after = rows(verb, *files), rows(verb, *moved)
        for i in range(4):
            pick = [[v for k, v in r.items() if k != "rank"] for r in before if r["rank"] == str(i)]
            same = [[v for k, v in r.items() if k != "rank"] for r in after
                    if r["rank"] == str(order.index(i))]
            assert pick == same


# ---- HTA's own tables ----


def golden_cases():
    """(folder of HTA's tables, traces)"""
    found = []
    for folder in sorted((support.ROOT / "tests" / "golden-hta").glob("*")):
        found.append((folder, sorted((EXAMPLES / folder.name).glob("*.json.gz"))))
    extra = os.environ.get("HOLOTRACE_EXTRA_DATA")
    for data in sorted(glob.glob(os.path.join(extra, "..", "golden", "hta", "*", "DATA.txt"))
                       if extra else []):
        folder = pathlib.Path(data).parent
        pattern = (folder / "DATA.txt").read_text().strip()
        found.append((folder, sorted(glob.glob(os.path.join(extra, pattern)))))
    return found


CASES = golden_cases()


def golden(folder, name):
    path = folder / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"HTA has no {name} here")
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def close(value, expected, digits=None, noise=0):
    """Both numbers missing, or equal within HTA's noise and its own rounding; sums of n differences
    of its doubles carry n times half a nanosecond."""
    value, expected = number(value), number(expected)
    if math.isnan(value) or math.isnan(expected):
        return math.isnan(value) and math.isnan(expected)
    slack = 0.002 if digits is None else 0.5 * 10 ** -digits + 0.002
    slack += noise
    return abs(value - expected) <= max(slack, 1e-9 * abs(expected))


def us(cell):
    return number(cell) / 1000


cases = pytest.mark.parametrize("folder, traces", CASES, ids=[f.name for f, _ in CASES])


@cases
def test_hta_temporal_breakdown(folder, traces):
    expected = golden(folder, "temporal_breakdown")
    found = rows("temporal-breakdown", *traces, "--hta-compat")
    assert len(found) == len(expected)
    for f, e in zip(found, expected):
        assert f["rank"] == e["rank"]
        for ours, theirs in (("idle", "idle"), ("compute", "compute"), ("non_compute", "non_compute")):
            assert close(us(f[ours + "_ns"]), e[theirs + "_time(us)"])
            assert close(100 * number(f[ours + "_share"]), e[theirs + "_time_pctg"], 2)
        assert close(us(f["span_ns"]), e["kernel_time(us)"])


@cases
def test_hta_comm_overlap(folder, traces):
    expected = golden(folder, "comm_comp_overlap")
    found = rows("comm-overlap", *traces, "--hta-compat")
    assert [f["rank"] for f in found] == [e["rank"] for e in expected]
    for f, e in zip(found, expected):
        assert close(100 * number(f["overlap_share"]), e["comp_comm_overlap_pctg"], 2)


@cases
@pytest.mark.parametrize("memory", ["True", "False"])
def test_hta_kernel_types(folder, traces, memory):
    expected = golden(folder, f"gpu_kernel_breakdown.mem_{memory}.0")
    found = rows("kernel-types", *traces, "--hta-compat", "--include-memory=" + memory.lower())
    assert [f["kernel_type"] for f in found] == [e["kernel_type"] for e in expected]
    for f, e in zip(found, expected):
        assert int(f["sum_ns"]) == 1000 * int(e["sum"])
        assert close(100 * number(f["share"]), e["percentage"], 1)


@cases
@pytest.mark.parametrize("options", ["mem_True", "mem_False", "top3"])
def test_hta_kernel_breakdown(folder, traces, options):
    expected = golden(folder, f"gpu_kernel_breakdown.{options}.1")
    args = {"mem_True": (), "mem_False": ("--include-memory=false",),
            "top3": ("--num-kernels", "3")}[options]
    found = rows("kernel-breakdown", *traces, "--hta-compat", *args)
    assert [(f["kernel_type"], f["name"], f["rank"]) for f in found] == [
        (e["kernel_type"], e["name"], e["rank"]) for e in expected]
    for f, e in zip(found, expected):
        for ours, theirs in (("sum_ns", "sum (us)"), ("max_ns", "max (us)"), ("min_ns", "min (us)"),
                             ("std_ns", "stddev"), ("mean_ns", "mean (us)")):
            assert close(us(f[ours]), e[theirs]), (f, e)


@cases
@pytest.mark.parametrize("source", ["gpu", "cpu"])
def test_hta_annotation_breakdown(folder, traces, source):
    expected = golden(folder, f"annotation_breakdown.{source}")
    found = rows("annotation-breakdown", *traces, "--hta-compat", "--source", source)
    assert [(f["rank"], f["name"]) for f in found] == [(e["rank"], e["name"]) for e in expected]
    for f, e in zip(found, expected):
        for ours, theirs in (("sum_ns", "sum (us)"), ("max_ns", "max (us)"), ("min_ns", "min (us)"),
                             ("std_ns", "stddev"), ("mean_ns", "mean (us)")):
            assert close(us(f[ours]), e[theirs]), (f, e)


@cases
def test_hta_idle_breakdown(folder, traces):
    expected = golden(folder, "idle_time_breakdown.0")
    found = rows("idle-breakdown", *traces, "--hta-compat")
    keys = ("rank", "stream", "idle_category")
    assert [[f[k] for k in keys] for f in found] == [[e[k] for k in keys] for e in expected]
    for f, e in zip(found, expected):
        assert close(us(f["idle_ns"]), e["idle_time"], 2, noise=int(f["count"]) * 0.0005)
        assert close(f["idle_share"], e["idle_time_ratio"], 2)


@cases
def test_hta_idle_intervals(folder, traces):
    expected = golden(folder, "idle_time_breakdown.1")
    found = rows("idle-intervals", *traces, "--hta-compat")
    keys = ("rank", "stream", "idle_category")
    assert [[f[k] for k in keys] for f in found] == [[e[k] for k in keys] for e in expected]
    for f, e in zip(found, expected):
        assert int(f["count"]) == float(e["count"])
        for ours, theirs in (("mean", "mean"), ("std", "std"), ("min", "min"), ("p25", "25%"),
                             ("p50", "50%"), ("p75", "75%"), ("max", "max")):
            assert close(us(f[ours + "_ns"]), e[theirs], 2), (f, e)


@cases
def test_hta_kernel_annotations(folder, traces):
    files = sorted(folder.glob("kernels_with_annotations.rank*.csv"))
    if not files:
        pytest.skip("HTA has no kernels_with_annotations here")
    found = rows("kernel-annotations", *traces, "--hta-compat")
    for path in files:
        expected = golden(folder, path.stem)
        rank = path.stem.rsplit("rank", 1)[1]
        mine = [f for f in found if f["rank"] == rank]
        assert [f["index"] for f in mine] == [e["index"] for e in expected]
        for f, e in zip(mine, expected):
            assert close(us(f["dur_ns"]), e["dur"]) and f["short_name"] == e["s_name"]
            assert shorten(f["annotation"] or "") == e["s_user_annotation"], (f, e)


def shorten(name):
    """HTA shortens annotations as it does kernels."""
    if "<" not in name and "(" not in name:
        return name
    out = []
    for c in name.replace("->", ""):
        if c in ">)":
            while out and out[-1] != {">": "<", ")": "("}[c]:
                out.pop()
            if out:
                out.pop()
        else:
            out.append(c)
    return "".join(out).split(" ")[-1]
