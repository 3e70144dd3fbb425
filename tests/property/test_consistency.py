# SPDX-License-Identifier: Apache-2.0
"""Tables that cannot both be true: what one analysis says, another one must not deny.

On the bundled runs, on those of $HOLOTRACE_EXTRA_DATA, and on small traces at random: several devices, streams,
copies, lost launches, clocks that disagree, equal times, work without length, steps. The random ones are
also compared with oracle/breakdown.py.
"""
import collections
import functools
import json
import pathlib
import random
import sys

import pytest

import support

sys.path.insert(0, str(support.ROOT / "tests" / "oracle"))

import breakdown  # noqa: E402

CLASSES = {"gemm": "compute", "ncclDevKernel_AllReduce_Sum_f32_RING_LL": "communication", "job_exe": "other",
           "Memcpy HtoD (Pinned -> Device)": "memcpy", "Memset (Device)": "memset"}


@functools.lru_cache(maxsize=64)
def rows(verb, *args):
    """The rows of a verb; what is compared with several tables is asked for once. Nobody changes them."""
    names, cells = support.read_csv(support.output(verb, *args, "--format", "csv"))
    return [dict(zip(names, row)) for row in cells]


def by(table, *keys):
    """{key: rows}"""
    found = collections.defaultdict(list)
    for row in table:
        found[tuple(row[k] for k in keys)].append(row)
    return found


def total(table, column):
    return sum(int(row[column] or 0) for row in table)


def runs():
    """Folders and files: one run each."""
    found = [support.ROOT / "examples" / name for name in ("cpu", "ddp", "graph", "straggler", "train")]
    found += [support.ROOT / "tests" / "data" / name for name in ("compile", "memory", "pipeline", "resnet")]
    extra = collections.defaultdict(list)
    for path in support.extra_traces():
        extra[path.parent].append(path)
    for folder, files in extra.items():
        found += files if len(files) > 8 else [folder]
    return found


# ---- traces at random ----


def random_trace(rng):
    """(events, pieces): a few pieces of work on few streams, with times from a coarse grid so that they tie."""
    n_steps = rng.choice((0, 0, 1, 3))
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 9, "tid": 1, "ts": 0, "dur": 200}]
    steps = [(50 * i, 50 * i + 50) for i in range(n_steps)]
    for i, (start, end) in enumerate(steps):
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 9, "tid": 1,
                       "ts": start, "dur": end - start})
    work = []
    for k in range(rng.randint(1, 9)):
        name = rng.choice(list(CLASSES))
        # work at 0 without length is a lost record
        start, length = 4 * rng.randint(1, 45), rng.choice((0, 2, 4, 8, 20, 40))
        # mostly before the start; where clocks disagree after it
        launch = rng.choice((None, start - 4 * rng.randint(0, 20), start - 4 * rng.randint(0, 3), start + 4))
        launch = launch if launch is None else max(launch, 0)
        device, stream = rng.choice((0, 0, 0, 1)), rng.choice((7, 7, 9, 20))
        if launch is not None:
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 1,
                           "ts": launch, "dur": 1, "args": {"correlation": k + 1}})
        cat = {"memcpy": "gpu_memcpy", "memset": "gpu_memset"}.get(CLASSES[name], "kernel")
        events.append({"ph": "X", "cat": cat, "name": name, "pid": device, "tid": stream, "ts": start,
                       "dur": length, "args": {"device": device, "stream": stream, "correlation": k + 1}})
        work.append((start, start + length, device, stream, CLASSES[name], launch))
    return events, choose(work, steps)


def choose(work, steps):
    """By default what belongs to complete steps: of its launch; lost launches by their own start, unless they precede all
    launched work of their stream, which is then of no step. A step is complete unless it alone has no work."""
    pieces, step_of = [], []
    for start, end, device, stream, cls, launch in work:
        launched = [w[0] for w in work if w[2:4] == (device, stream) and w[5] is not None]
        when = launch if launch is not None else start
        early = launch is None and launched and start < min(launched)
        step_of.append(None if early else next((s for s in steps if s[0] <= when < s[1]), None))
    complete = [s for s in steps if len(steps) == 1 or s in step_of or not any(step_of)]
    for (start, end, device, stream, cls, launch), step in zip(work, step_of):
        chosen = step in complete if complete else True
        pieces.append(breakdown.Piece(*(1000 * t for t in (start, end)), device, stream, cls,
                                      None if launch is None else 1000 * launch, chosen))
    return pieces


def write_random(folder, seed):
    rng = random.Random(seed)
    events, pieces = random_trace(rng)
    rng.shuffle(events)
    # times before 0 are times as others; none of them lands on 0, where work without length is a lost record
    offset = rng.choice((0, 0, -98))
    for event in events:
        event["ts"] += offset
    pieces = [p._replace(start=p.start + 1000 * offset, end=p.end + 1000 * offset,
                         launch=None if p.launch is None else p.launch + 1000 * offset) for p in pieces]
    path = pathlib.Path(folder) / "a.json"
    path.write_text(json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": events}))
    return path, pieces


# ---- relations ----


def check_times(run, *options):
    """Temporal breakdown against overlap, types, idling and the names."""
    temporal = rows("temporal-breakdown", run, *options)
    overlap = by(rows("comm-overlap", run, *options), "rank", "device")
    idle = by(rows("idle-breakdown", run, "--by", "device", *options), "rank", "device")
    busy = collections.Counter()
    n_work = collections.Counter()
    for row in temporal:
        n_work[row["rank"]] += int(row["n_work"] or 0)
        if row["span_ns"] is None:
            assert not idle[row["rank"], row["device"]]
            continue
        time = {k[:-3]: int(v) for k, v in row.items() if k.endswith("_ns") and v is not None}
        key = row["rank"], row["device"]
        assert time["non_compute"] == sum(time[k] for k in ("exposed", "memcpy", "memset", "other"))
        assert time["span"] == time["idle"] + time["outside"] + time["compute"] + time["non_compute"]
        assert 0 <= time["leading"] <= time["idle"]
        (both,) = overlap[key]
        assert int(both["exposed_ns"]) == time["exposed"] and int(both["compute_ns"]) == time["compute"]
        for part in ("exposed_wait_ns", "exposed_transfer_ns"):
            assert both[part] == row[part] or not int(both["count"]), (part, both, row)
        assert total(idle[key], "idle_ns") == time["idle"]
        assert total([r for r in idle[key] if r["idle_category"] == "leading"], "idle_ns") == time["leading"]
        busy[row["rank"], "compute"] += time["compute"]
        busy[row["rank"], "communication"] += time["exposed"]
        busy[row["rank"], "all"] += time["compute"] + time["non_compute"]
    check_types(run, options, busy)
    return n_work


def check_types(run, options, busy):
    types = by(rows("kernel-types", run, "--by", "rank", *options), "rank")
    for rank in {rank for rank, _ in busy}:
        found = [(set(r["kernel_type"].split(" overlapping ")), int(r["sum_ns"])) for r in types[rank,]]
        assert sum(t for _, t in found) == busy[rank, "all"]
        assert sum(t for kinds, t in found if "compute" in kinds) == busy[rank, "compute"]
        assert sum(t for kinds, t in found if "communication" in kinds and "compute" not in kinds) == (
            busy[rank, "communication"])
    pooled = {r["kernel_type"]: int(r["sum_ns"]) for r in rows("kernel-types", run, *options)}
    summed = collections.Counter()
    for table in types.values():
        for r in table:
            summed[r["kernel_type"]] += int(r["sum_ns"])
    assert pooled == summed


def check_counts(run, n_work, *options):
    """As many pieces of work in every table that counts them."""
    names = rows("kernel-breakdown", run, "--num-kernels", "100000", *options)
    for table in (names, rows("kernel-annotations", run, *options)):
        counted = collections.Counter()
        for r in table:
            counted[r["rank"]] += int(r["count"])
        assert {k: v for k, v in counted.items() if v} == {k: v for k, v in n_work.items() if v}
    copies = rows("memory-bandwidth", run, *options)
    assert total(copies, "copies") == total([r for r in names if r["kernel_type"] == "memory"], "count")
    launches = rows("launch-stats", run, "--view", "all", *options)
    assert total(rows("launch-stats", run, *options), "count") == len(launches) <= sum(n_work.values())
    for r in rows("queue-length", run, *options):
        assert 0 <= int(r["min"]) <= int(r["max"])
    calls = total(rows("comm-overlap", run, *options), "count")
    assert calls == total([r for r in names if r["kernel_type"] == "communication"], "count")


def check_gaps(run, *options):
    """Sums of gaps against their statistics, by stream and by device."""
    for how in ("stream", "device"):
        key = "rank", "device", "stream", "idle_category"
        sums = by([r for r in rows("idle-breakdown", run, "--by", how, *options) if int(r["count"])], *key)
        stats = by(rows("idle-intervals", run, "--by", how, *options), *key)
        assert set(sums) == set(stats)
        for k, (row,) in sums.items():
            (other,) = stats[k]
            n, ns = int(row["count"]), int(row["idle_ns"])
            assert int(other["count"]) == n and float(other["mean_ns"]) == pytest.approx(ns / n)
            assert float(other["min_ns"]) <= ns / n * (1 + 1e-12) and float(other["max_ns"]) <= ns


def check_groupings(run):
    """Kernels and operators add up to the same, however they are grouped, and to what other tables say."""
    names = rows("kernel-breakdown", run, "--num-kernels", "100000", "--step", "all")
    kernels = [r for r in names if r["kernel_type"] in ("compute", "communication")]
    for how in ("name", "stream", "properties", "core"):
        table = rows("kernels", run, "--by", how, "--step", "all")
        assert total(table, "total_ns") == total(kernels, "sum_ns"), how
        assert total(table, "calls") == total(kernels, "count"), how
    grouped = {how: rows("operators", run, "--by", how, "--step", "all") for how in ("name", "shape", "stack")}
    sums = {how: [total(t, c) for c in ("calls", "device_self_ns", "host_self_ns")] for how, t in grouped.items()}
    assert sums["name"] == sums["shape"] == sums["stack"]
    assert sums["name"][1] <= total(names, "sum_ns")
    for r in grouped["name"]:
        assert int(r["host_self_ns"]) <= int(r["host_total_ns"])
        assert int(r["device_self_ns"]) <= int(r["device_total_ns"])


def check_steps(run):
    """Parts of a step add up to it."""
    roles = ("kernel_ns", "memcpy_ns", "memset_ns", "exposed_ns", "runtime_ns", "dataloader_ns", "cpu_exec_ns",
             "other_ns")
    shares = ("computation_ns", "overlapped_ns", "exposed_ns", "other_ns")
    for r in rows("steps", run):
        assert sum(int(r[c]) for c in roles) == int(r["total_ns"]), r
    for r in rows("distributed", run):
        assert sum(int(r[c]) for c in shares) == int(r["step_ns"]), r
        if r["exposed_wait_ns"] is not None:
            assert int(r["exposed_wait_ns"]) + int(r["exposed_transfer_ns"]) == int(r["exposed_kernel_ns"])


#: What a path is bound by while the GPU works.
ON_GPU = ("gpu_compute_bound", "gpu_memory_bound", "gpu_communication_bound")


def check_paths(run):
    streams = collections.defaultdict(set)
    for r in rows("idle-breakdown", run, "--step", "all"):
        if r["stream"] is not None:
            streams[r["rank"]].add((r["device"], r["stream"]))
    for key, table in by(rows("critical-path", run), "rank", "instance").items():
        # null: what the stream holds only waits, so nothing works and nothing is idle
        if len(streams[key[0]]) == 1 and table[0]["idle_ns"]:
            others = total([r for r in table if r["bound_by"] not in ON_GPU], "duration_ns")
            assert others <= int(table[0]["idle_ns"]), key
        assert total(table, "duration_ns") == int(table[0]["window_ns"]), key
        assert {r["window_ns"] for r in table} == {table[0]["window_ns"]}
        assert int(table[0]["idle_ns"] or 0) <= int(table[0]["window_ns"])
        # what a trace without steps has in place of one is the same for all
        of_rank = [r for r in rows("steps", run) if r["rank"] == key[0]]
        if table[0]["step"] is None and len(of_rank) == 1:
            # work whose launch is lost is in the path, and in no step of the profiler's plugin
            lost = len(rows("launch-stats", run, "--view", "all", "--rank", key[0])) < int(of_rank[0]["n_work"])
            window, whole = int(table[0]["window_ns"]), int(of_rank[0]["total_ns"])
            assert window >= whole if lost else window == whole, key
    for r in rows("critical-path", run, "--view", "what-if", "--scale", "cpu_bound=0"):
        (window, *_) = [w for w in rows("critical-path", run) if (w["rank"], w["instance"]) == (r["rank"], r["instance"])]
        if len(streams[r["rank"]]) == 1 and window["idle_ns"]:
            assert int(r["saved_ns"]) <= int(window["idle_ns"]), r


def check_findings(run):
    """The lines of one screen: a part is no more than its whole, slow steps are slow, and advice counts as many."""
    found = {r["kind"]: (r, json.loads(r["values"] or "{}")) for r in rows("summary", run) if r["state"] == "found"}
    for kind, (r, values) in found.items():
        shares = [float(value) for value in (r["share"], r["upper_bound_share"]) if value is not None]
        # efficiency above its roof has a reason of its own
        assert kind == "efficiency" or all(0 <= share <= 1 + 1e-6 for share in shares), r
    if "bound-by" in found:
        r, values = found["bound-by"]
        assert values.get("hot_share", 0) <= float(r["share"]) + 1e-9, r
        assert values.get("second_share", 0) + float(r["share"]) <= 1 + 1e-9, r
    if "slow-steps" in found:
        _, values = found["slow-steps"]
        assert values["usual"] < values["mean"] and values["n_slow"] < values["n_steps"] and values.get("more", 1) > 0
    lines = [(r, json.loads(r["values"] or "{}")) for r in rows("advice", run) if r["kind"] == "slow-step"]
    if rows("info", run) and len({r["rank"] for r in rows("steps", run)}) == 1:
        counts = [found["slow-steps"][1]["n_slow"]] if "slow-steps" in found else []
        for _, values in lines:
            assert [values.get("n_slow", 1)] == counts, (run, counts)


ON_RUNS = pytest.mark.parametrize("run", runs(), ids=support.short)


#: Views of diff: the verb whose table each side is, its key, and the columns that are compared.
DIFFS = {"operators": ("name", ("calls", "device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns")),
         "kernels": ("name", ("calls", "total_ns")),
         "modules": ("path", ("calls", "device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns",
                              "backward_device_self_ns"))}


@pytest.mark.parametrize("view", DIFFS)
@pytest.mark.parametrize("control, test", [("examples/train", "tests/data/resnet"), ("examples/ddp", "examples/straggler"),
                                           ("examples/ddp", "examples/ddp")])
def test_sides_of_a_diff_are_tables_of_their_runs(control, test, view):
    key, columns = DIFFS[view]
    paths = {"control": support.ROOT / control, "test": support.ROOT / test}
    table = rows("diff", paths["control"], paths["test"], "--view", view, "--control-step", "all", "--test-step", "all")
    for side, path in paths.items():
        alone = by(rows(view, path, "--step", "all"), key)
        compared = by(table, key)
        for name, found in compared.items():
            for column in columns:
                assert total(found, f"{side}_{column}") == total(alone.get(name, ()), column), (side, name, column)
        assert set(alone) <= set(compared)
    for row in table:
        for column in columns:
            assert int(row[f"diff_{column}"]) == int(row[f"test_{column}"]) - int(row[f"control_{column}"])
    if control == test:
        assert {row["change"] for row in table} <= {"equal"}


def ascend_runs():
    """Of $HOLOTRACE_EXTRA_DATA: runs that have tables of Ascend's exporter."""
    return sorted({path.parent.parent.parent for path in support.extra_files("step_trace_time.csv")})


@pytest.mark.parametrize("run", ascend_runs(), ids=support.short)
def test_views_of_an_exporter_agree(run):
    """What links, transports and operations move is one number of bytes; the parts of a step are the step."""
    steps = rows("distributed", run, "--view", "steps", "--by", "rank")
    for row in steps:
        assert int(row["step_ns"]) == sum(int(row[c]) for c in ("computing_ns", "exposed_ns", "free_ns"))
        assert int(row["overlapped_ns"]) <= int(row["computing_ns"])
    assert total(steps, "step_ns") == total(rows("distributed", run, "--view", "steps"), "step_ns")
    operations = by(rows("distributed", run, "--view", "collectives"), "rank")
    for key, table in by(rows("distributed", run, "--view", "bandwidth"), "rank").items():
        moved = {r["transport"]: int(r["bytes"]) for r in table}
        parts = sum(moved.get(name, 0) for name in ("HCCS", "PCIE", "SIO"))
        assert abs(moved.get("SDMA", 0) - parts) <= len(operations[key])
        assert moved.get("SDMA", 0) + moved.get("RDMA", 0) == total(operations[key], "bytes")
        for r in operations[key]:
            assert int(r["transit_ns"]) + int(r["wait_ns"]) <= int(r["elapsed_ns"]) + 1000


@ON_RUNS
@pytest.mark.parametrize("options", [(), ("--step", "all")], ids=["default", "all"])
def test_runs(run, options):
    n_work = check_times(run, *options)
    check_counts(run, n_work, *options)
    check_gaps(run, *options)
    if not options:
        check_paths(run)
        check_groupings(run)
        check_steps(run)


@ON_RUNS
def test_findings_do_not_deny_each_other(run):
    check_findings(run)


@ON_RUNS
def test_steps_partition_the_work(run):
    """Every piece of work is in one step or in none, however rows are grouped."""
    whole = collections.Counter()
    for r in rows("temporal-breakdown", run, "--step", "all"):
        whole[r["rank"], r["device"]] += int(r["n_work"] or 0)
    parts = collections.Counter()
    for r in rows("temporal-breakdown", run, "--step", "all", "--by", "step"):
        parts[r["rank"], r["device"]] += int(r["n_work"] or 0)
        if r["step"] is not None and r["span_ns"] is not None:
            (alone,) = [x for x in rows("temporal-breakdown", run, "--step", r["step"], "--rank", r["rank"])
                        if x["device"] == r["device"]]
            assert {k: v for k, v in alone.items() if k != "step" and not k.startswith("exposed")} == {
                k: v for k, v in r.items() if k != "step" and not k.startswith("exposed")}
    assert whole == parts


PER_RANK = ("kernel-types --by rank", "kernel-breakdown", "annotation-breakdown", "kernel-annotations",
            "idle-breakdown", "idle-breakdown --by device", "idle-intervals", "queue-length", "memory-bandwidth", "op-launch-delay",
            "kernel-sequences", "launch-stats --view all", "critical-path", "steps", "memory-timeline")


@pytest.mark.parametrize("question", PER_RANK)
@pytest.mark.parametrize("run", ["examples/ddp", "tests/data/pipeline"])
def test_a_rank_alone_is_its_rows(run, question):
    """--rank asks for rows, it does not change them."""
    verb, *options = question.split()
    whole = by(rows(verb, support.ROOT / run, *options), "rank")
    for rank in ("0", "2"):
        assert rows(verb, support.ROOT / run, *options, "--rank", rank) == whole[rank,]


def random_collectives(folder, seed):
    """[(rank, start, end)] of each collective, in us: nobody leaves before the last has come."""
    rng = random.Random(seed)
    n_ranks, calls, at = rng.randint(2, 4), [], 0
    for _ in range(rng.randint(1, 6)):
        starts = [at + rng.randint(0, 40) for _ in range(n_ranks)]
        end = max(starts) + rng.randint(5, 30)
        calls.append([(rank, start, end) for rank, start in enumerate(starts)])
        at = end + rng.randint(1, 20)
    for rank in range(n_ranks):
        events = []
        for k, call in enumerate(calls):
            _, start, end = call[rank]
            args = {"correlation": k + 1}
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 1,
                           "ts": max(start - 3, 0), "dur": 1, "args": args})
            events.append({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0,
                           "tid": 20, "ts": start, "dur": end - start, "args": {
                               **args, "device": 0, "stream": 20, "Collective name": "allreduce", "dtype": "Float",
                               "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": n_ranks,
                               "Process Group Name": "0", "Process Group Ranks": str(list(range(n_ranks)))}})
        document = {"schemaVersion": 1, "baseTimeNanoseconds": 10 ** 18, "distributedInfo": {"rank": rank},
                    "traceEvents": events}
        (pathlib.Path(folder) / f"r{rank}.json").write_text(json.dumps(document))
    return n_ranks, calls


@pytest.mark.parametrize("seed", support.seeds(15))
def test_random_collectives(tmp_path, seed):
    """Waits by definition, in every table that has them."""
    n_ranks, calls = random_collectives(tmp_path, seed)
    expected, waits, lasts = [], collections.Counter(), collections.Counter()
    for call in calls:
        first, last = min(s for _, s, _ in call), max(s for _, s, _ in call)
        starts = sorted(s for _, s, _ in call)
        late = [rank for rank, s, _ in call if s == last]
        if len(late) == 1:
            lasts[late[0]] += starts[-1] - starts[-2]
        for rank, start, end in call:
            waits[rank] += last - start
            expected.append((rank, 1000 * (start - first), 1000 * (last - first), 1000 * (last - start),
                             1000 * (end - last)))
    table = rows("collectives", tmp_path, "--view", "calls")
    columns = ("rank", "late_ns", "skew_ns", "wait_ns", "transfer_ns")
    assert sorted(tuple(int(r[c]) for c in columns) for r in table) == sorted(expected)
    for verb in ("comm-overlap", "temporal-breakdown"):
        assert {int(r["rank"]): int(r["exposed_wait_ns"]) for r in rows(verb, tmp_path)} == {
            rank: 1000 * waits[rank] for rank in range(n_ranks)}
    (summary,) = rows("collectives", tmp_path)
    assert int(summary["wait_ns"]) == 1000 * sum(waits.values())
    assert {int(r["rank"]): int(r["delay_ns"]) for r in rows("stragglers", tmp_path)} == {
        rank: 1000 * lasts[rank] for rank in range(n_ranks)}


@pytest.mark.parametrize("seed", support.seeds(60))
def test_random_traces(tmp_path, seed):
    path, pieces = write_random(tmp_path, seed)
    compare_with_oracle(path, pieces)
    n_work = check_times(path)
    check_counts(path, n_work)
    check_gaps(path)
    check_paths(path)
    check_groupings(path)
    check_steps(path)


def write_steps(folder, seed):
    """Steps of one thread whose kernels run one after the other: the CPU is ahead, or behind, and some steps and kernels take long."""
    rng = random.Random(seed)
    events, ts, free = [], 0, 0
    for number in range(rng.randint(5, 12)):
        span = rng.choice((20, 50, 80, 100, 120, rng.choice((100, 700))))
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 9, "tid": 1, "ts": ts, "dur": span})
        for k in range(rng.randint(1, 3)):
            launch, length = ts + rng.randint(0, span - 3), rng.choice((5, 20, 60, rng.choice((30, 500))))
            free = max(free, launch + 3) + rng.choice((0, 0, 4))
            ids = {"correlation": 10 * number + k + 1}
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 1, "ts": launch, "dur": 1,
                           "args": ids})
            events.append({"ph": "X", "cat": "kernel", "name": rng.choice(("gemm", "softmax")), "pid": 0, "tid": 7, "ts": free,
                           "dur": length, "args": dict(ids, device=0, stream=7)})
            free += length
        ts += span + rng.choice((0, 0, 0, 30))
    path = pathlib.Path(folder) / "a.json"
    path.write_text(json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": events}))
    return path


@pytest.mark.parametrize("seed", support.seeds(40))
def test_random_steps(tmp_path, seed):
    path = write_steps(tmp_path, seed)
    check_findings(path)
    check_paths(path)
    windows = {r["instance"]: int(r["window_ns"]) for r in rows("critical-path", path, "--across")}
    times = {r["step"]: r for r in rows("steps", path)}
    # each moment of the recording is of one step, but for what is between a completion and the next start
    assert sum(windows.values()) <= sum(int(r["step_time_ns"]) for r in times.values())
    for r in rows("critical-path", path, "--across"):
        assert times[r["step"]]["part"] == "first" or int(r["window_ns"]) <= int(times[r["step"]]["step_time_ns"])


def compare_with_oracle(path, pieces):
    found = {int(r["device"]): r for r in rows("temporal-breakdown", path) if r["span_ns"] is not None}
    devices = {p.device: [q for q in pieces if q.device == p.device] for p in pieces if p.chosen}
    assert set(found) == set(devices)
    overlap = {int(r["device"]): r for r in rows("comm-overlap", path) if r["device"] is not None}
    types = collections.Counter()
    for device, work in devices.items():
        row, expected = found[device], breakdown.temporal(work)
        for name in ("span", "idle", "outside", "leading", "compute", "communication", "memcpy", "memset", "other"):
            column = "exposed_ns" if name == "communication" else f"{name}_ns"
            assert int(row[column]) == expected[name], (device, name)
        assert int(overlap[device]["overlap_ns"]) == expected["overlap"]
        types.update(breakdown.labels(work))
        compare_idle(path, device, work)
    assert {frozenset(r["kernel_type"].split(" overlapping ")): int(r["sum_ns"])
            for r in rows("kernel-types", path)} == dict(types)


def compare_idle(path, device, work):
    launches = [p.launch for p in work if p.launch is not None]
    leads_to = min(launches, default=None)
    groups = {None: work, **{p.stream: [q for q in work if q.stream == p.stream] for p in work if p.chosen}}
    for stream, group in groups.items():
        how = "device" if stream is None else "stream"
        table = [r for r in rows("idle-breakdown", path, "--by", how) if r["device"] == str(device)
                 and r["stream"] == (None if stream is None else str(stream))]
        expected = breakdown.idle(group, 30_000, leads_to, [p for p in work if p.cls == "communication"])
        assert {r["idle_category"]: (int(r["count"]), int(r["idle_ns"])) for r in table if int(r["count"])} == {
            k: (len(v), sum(v)) for k, v in expected.items() if v}, (device, stream)
        if stream is not None:
            alone = rows("idle-breakdown", path, "--streams", str(stream))
            assert [r for r in alone if r["device"] == str(device)] == table
