# SPDX-License-Identifier: Apache-2.0
"""What the tests of the critical path share: traces by hand, its views as Python values, and what holds for any path."""
import collections
import os
import pathlib
import re

import tiny

EXAMPLES = tiny.EXAMPLES
VERB = "critical-path"


def rows(*args):
    return tiny.rows(VERB, *args)


class Tiny(tiny.Tiny):
    """A trace in microseconds of one step; calls and the work they bring are added one by one."""

    def __init__(self, step=None):
        super().__init__()
        if step:
            self.add("user_annotation", "ProfilerStep#1", *step)

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
    return {k: int(v) for k, v in row.items() if v}


def launch_bound(folder):
    """The example of critical_path.c."""
    t = Tiny((0, 15))
    t.op("aten::mm", 0, 10)
    t.call("cudaLaunchKernel", 2, 2)
    t.work("gemm<float>(int)", 7, 13)
    return t.write(folder)


TRACES = [EXAMPLES / name for name in ("ddp", "train", "graph", "straggler", "cpu")]
if os.environ.get("HOLOTRACE_EXTRA_DATA"):
    TRACES += [p for kind in ("h200", "hta") for p in sorted(
        (pathlib.Path(os.environ["HOLOTRACE_EXTRA_DATA"]) / kind).glob("*"))
        if p.is_dir() and p.name not in ("diff", "trace_compare", "trace_diff", "memory_analysis")]
IDS = [f"{t.parent.name}-{t.name}" for t in TRACES]
ON_GPU = {"gpu_compute_bound", "gpu_communication_bound", "gpu_memory_bound"}


def check_path(trace, one_stream, *args):
    """End to end, each nanosecond once, and on one stream no more off the GPU than it is idle."""
    window, idle, total, off = {}, {}, collections.Counter(), collections.Counter()
    for r in rows(trace, *args):
        key = r["rank"], r["instance"]
        window[key] = int(r["window_ns"])
        # without GPU work nothing is idle, and the whole path is the host's
        idle[key] = int(r["idle_ns"]) if r["idle_ns"] else window[key]
        total[key] += int(r["duration_ns"])
        if r["bound_by"] not in ON_GPU:
            off[key] += int(r["duration_ns"])
    assert total == window
    pieces = collections.defaultdict(list)
    for r in rows(trace, "--view", "path", *args):
        pieces[r["rank"], r["instance"]].append((int(r["ts_ns"]), int(r["duration_ns"])))
    for key, found in pieces.items():
        assert all(a + d == b for (a, d), (b, _) in zip(found, found[1:]))
        assert sum(d for _, d in found) == window[key]
    if one_stream:
        assert all(off[key] <= idle[key] for key in window)
    return window


def rule(name, factor):
    escaped = re.sub(r"([][\\.^$*+?{}|()])", r"\\\1", name)
    return f"^{escaped}$".replace(",", "\\,") + f"={factor}"
