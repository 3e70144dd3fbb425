# SPDX-License-Identifier: Apache-2.0
"""The profiler's views agree with each other and with the breakdowns: what one of them adds up, another one has too."""
import collections
import json
import random

import pytest

import support

RUNS = ["examples/cpu", "examples/ddp", "examples/graph", "examples/straggler", "examples/train", "tests/data/compile",
        "tests/data/memory", "tests/data/pipeline", "tests/data/resnet"]
PARTS = ["kernel_ns", "memcpy_ns", "memset_ns", "exposed_ns", "runtime_ns", "dataloader_ns", "cpu_exec_ns",
         "other_ns"]


def rows(verb, *args):
    names, cells = support.read_csv(support.output(verb, *args, "--format", "csv", "--quiet"))
    return [dict(zip(names, row)) for row in cells]


def total(table, column):
    return sum(int(row[column] or 0) for row in table)


def check(run):
    gpu = [row for row in rows("events", run, "--only", "gpu", "--columns", "cat,dur_ns", "--step", "all")
           if row["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")]
    kernels = [row for row in gpu if row["cat"] == "kernel"]
    for row in rows("steps", run, "--step", "all"):
        assert sum(int(row[part]) for part in PARTS) == int(row["total_ns"])
        assert all(int(row[part]) >= 0 for part in PARTS)
    by_name = rows("kernels", run, "--step", "all")
    assert total(by_name, "total_ns") == total(kernels, "dur_ns") and total(by_name, "calls") == len(kernels)
    for by in ("properties", "stream", "core"):
        table = rows("kernels", run, "--step", "all", "--by", by)
        assert (total(table, "total_ns"), total(table, "calls")) == (total(by_name, "total_ns"), len(kernels))
    stacks = rows("stacks", run, "--step", "all", "--time", "device")
    assert (total(stacks, "self_ns"), total(stacks, "count")) == (total(gpu, "dur_ns"), len(gpu))
    operators = rows("operators", run, "--step", "all")
    for by in ("shape", "stack", "shape-stack"):
        table = rows("operators", run, "--step", "all", "--by", by)
        for column in ("calls", "device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns"):
            assert total(table, column) == total(operators, column), (by, column)
    assert total(operators, "device_self_ns") <= total(gpu, "dur_ns")
    for row in operators:
        assert int(row["device_self_ns"]) <= int(row["device_total_ns"])
    modules = rows("modules", run, "--step", "all")
    for family in ("device", "backward_device", "backward_host"):
        own = total(modules, f"{family}_self_ns")
        whole = total([row for row in modules if row["depth"] == "1"], f"{family}_total_ns")
        assert own == whole, family


@pytest.mark.parametrize("run", RUNS)
def test_bundled(run):
    check(support.ROOT / run)


def random_trace(rng):
    """Operators, frames, calls and kernels at random on few threads: nested, overlapping in part, equal, without length."""
    events = []
    for i in range(rng.randrange(60)):
        cat, name = rng.choice((("cpu_op", "aten::mm"), ("cpu_op", "aten::add"), ("cuda_runtime", "cudaLaunchKernel"),
                                ("cuda_driver", "cuLaunchKernel"), ("python_function", "f"),
                                ("python_function", "nn.Module: A_0"), ("python_function", "nn.Module: B_0"),
                                ("user_annotation", "nccl:all_reduce"), ("user_annotation", "ProfilerStep#%d" % (i % 3)),
                                ("kernel", "gemm_h1688"), ("kernel", "ncclDevKernel_X"), ("gpu_memcpy", "Memcpy"),
                                ("gpu_memset", "Memset")))
        event = {"ph": "X", "cat": cat, "name": name, "ts": rng.randrange(40), "dur": rng.choice((0, 1, 2, 5, 10, 30)),
                 "pid": 9, "tid": rng.randrange(2), "args": {}}
        if cat in ("kernel", "gpu_memcpy", "gpu_memset"):
            event.update(pid=0, tid=7 + rng.randrange(2))
            event["args"].update(device=0, stream=event["tid"], correlation=rng.randrange(8))
        elif cat.startswith("cuda"):
            event["args"]["correlation"] = rng.randrange(8)
        elif rng.random() < 0.5:
            event["args"].update({"External id": rng.randrange(9), "Input Dims": [[rng.randrange(2)]]})
        events.append(event)
    return events


@pytest.mark.parametrize("seed", support.seeds(40))
def test_random(seed, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": random_trace(random.Random(seed))}))
    check(path)


# ---- the call tree, by brute force ----

def call_tree(events):
    """[(path, depth, device, launch)] from the rules: closed intervals, one tree per thread."""
    monitored = [e for e in events if e["cat"] == "cpu_op"]
    launches = [e for e in events if e["cat"] == "cuda_runtime"]
    end = lambda e: e["ts"] + e["dur"]  # noqa: E731
    # the earliest launch of a correlation has its work
    owner = {}
    for e in sorted(launches, key=lambda e: (e["ts"], events.index(e))):
        if e["args"]["correlation"]:
            owner.setdefault(e["args"]["correlation"], e)
    work = collections.defaultdict(list)
    for e in events:
        if e["cat"] == "kernel" and e["args"]["correlation"] in owner:
            work[id(owner[e["args"]["correlation"]])].append(e)
    threads = collections.defaultdict(list)
    for e in monitored:
        threads[e["tid"]].append(e)
    found = []
    for tid, list_ in sorted(threads.items(), key=lambda item: (min(e["ts"] for e in item[1]), first(events, item[1]))):
        list_.sort(key=lambda e: (e["ts"], -e["dur"], events.index(e)))
        paths = []
        for i, e in enumerate(list_):
            around = [k for k in range(i) if end(list_[k]) >= end(e)]
            path = (paths[around[-1]] if around else []) + [e["name"]]
            paths.append(path)
            later = any(x["ts"] == end(e) and x["dur"] > 0 for x in list_[i + 1:]) and e["dur"] > 0
            mine = [c for c in launches if c["tid"] == tid and c["ts"] >= e["ts"] and end(c) <= end(e) and
                    not (later and c["dur"] == 0 and c["ts"] == end(e))]
            outer = [c for c in mine if not any(is_around(o, c, events) for o in launches)]
            found.append(("$$".join(path), len(path), sum(w["dur"] for c in mine for w in work[id(c)]) * 1000,
                          sum(c["dur"] for c in outer) * 1000))
    return found


def first(events, list_):
    return min(events.index(e) for e in list_)


def is_around(outer, inner, events):
    """Does a launch contain another one of its thread? Of equal ones the first does."""
    if outer is inner or outer["tid"] != inner["tid"]:
        return False
    before = (outer["ts"], -outer["dur"], events.index(outer)) < (inner["ts"], -inner["dur"], events.index(inner))
    return before and outer["ts"] + outer["dur"] >= inner["ts"] + inner["dur"]


@pytest.mark.parametrize("seed", support.seeds(40))
def test_call_tree(seed, tmp_path):
    events = random_trace(random.Random(1000 + seed))
    # times that are no whole microseconds: nothing may end later than what it is inside of
    events.append({"ph": "X", "cat": "user_annotation", "name": "odd", "ts": 0.5, "dur": 0, "pid": 9, "tid": 5,
                   "args": {}})
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    found = [(row["name"], int(row["depth"]), int(row["device_ns"]), int(row["launch_ns"]))
             for row in rows("call-tree", path, "--monitor-cat", "cpu_op", "--no-lists")]
    assert sorted(found) == sorted(call_tree(events))
