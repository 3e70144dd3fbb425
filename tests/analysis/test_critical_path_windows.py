# SPDX-License-Identifier: Apache-2.0
"""Critical path: which window it is of, what happens when events take longer or shorter, and how much they may."""
import pytest

import support
from critical import VERB, Tiny, launch_bound, rows, sizes


@pytest.fixture(name="launch_bound")
def launch_bound_trace(tmp_path):
    return launch_bound(tmp_path)


def two_steps(folder, rank=0):
    t = Tiny()
    for i, length in enumerate((90, 80)):
        t.add("user_annotation", f"ProfilerStep#{i + 3}", 100 * i, length + rank)
        t.op("aten::add", 100 * i + 5, 10)
    return t.write(folder, rank)


def windows(trace, *args):
    return [(r["instance"], r["step"], int(r["window_ns"]) // 1000)
            for r in rows(trace, "--view", "graph", *args)]


def test_instances_and_steps(tmp_path):
    trace = two_steps(tmp_path)
    assert windows(trace) == [("0", "3", 90), ("1", "4", 80)]
    assert windows(trace, "--instance", "1") == [("1", "4", 80)]
    assert windows(trace, "--instance", "0-1") == windows(trace)
    assert windows(trace, "--step", "4") == [("1", "4", 80)]
    assert windows(trace, "--annotation", "") == [("0", None, 180)]
    assert windows(trace, "--annotation", "Step#4") == [("0", "4", 80)]
    assert windows(trace, "--hta-compat") == [("0", None, 90)]
    assert windows(trace, "--hta-compat", "--instance", "0-1", "--step", "all") == [("0", None, 180)]


def test_window_that_does_not_exist(tmp_path):
    trace = two_steps(tmp_path)
    done = support.run(VERB, trace, "--instance", "5")
    assert done.returncode == 2 and b"instance 5 of 'ProfilerStep' does not exist" in done.stderr
    for text in ("x", "-1"):
        assert support.run(VERB, trace, "--instance=" + text).returncode == 2
    done = support.run(VERB, trace, "--annotation", "nowhere")
    assert done.returncode == 0 and b"named 'nowhere'" in done.stdout
    assert rows(trace, "--annotation", "nowhere") == []
    done = support.run(VERB, trace, "--step", "9")
    assert done.returncode == 2 and b"no such step; there are 3 to 4" in done.stderr


def test_without_steps_the_whole_trace_counts(tmp_path):
    t = Tiny()
    t.op("aten::add", 0, 10)
    trace = t.write(tmp_path)
    assert sizes(trace)["length_ns"] == 10000
    assert b"no ProfilerStep" in support.output(VERB, trace)


def test_every_rank_has_its_rows(tmp_path):
    for rank in range(3):
        two_steps(tmp_path, rank)
    found = rows(tmp_path, "--view", "graph", "--instance", "0")
    assert [(r["rank"], r["length_ns"]) for r in found] == [
        ("0", "90000"), ("1", "91000"), ("2", "92000")]
    (one,) = rows(tmp_path, "--view", "graph", "--instance", "0", "--rank", "1")
    assert one == found[1]


def test_what_if_scales_and_finds_the_next_path(tmp_path):
    t = Tiny((0, 56))
    t.call("cudaLaunchKernel", 0, 1)
    t.work("big", 5, 50)
    t.call("cudaLaunchKernel", 2, 1)
    t.work("ncclDevKernel", 7, 30, stream=9)
    t.call("cudaDeviceSynchronize", 4, 52)
    t.wait("Context Sync", 4, 52, stream=-1)
    trace = t.write(tmp_path)
    found = {r["scale"]: (int(r["new_length_ns"]), int(r["saved_ns"]), int(r["n_edges"]))
             for r in rows(trace, "--view", "what-if", "--scale", "^big$=0.5,nccl=0,big=0")}
    # with big at 25 the other stream is the longer one, 7 + 30, and the call for the device returns 1 later, as it did
    assert found["^big$=0.5"] == (38000, 18000, 1)
    assert found["nccl=0"] == (56000, 0, 1)
    assert found["^big$=0.5,nccl=0,big=0"] == (31000, 25000, 2)
    words = {r["scale"]: int(r["saved_ns"]) for r in rows(trace, "--view", "what-if")}
    assert words["gpu_communication_bound=0"] == 0
    assert set(words) == {"cpu_bound=0", "gpu_communication_bound=0", "gpu_compute_bound=0",
                          "gpu_kernel_launch_overhead=0"}


@pytest.mark.parametrize("text", ["big", "=1", "a=x", "a=-1", "(=1"])
def test_bad_rules(launch_bound, text):
    done = support.run(VERB, launch_bound, "--view", "what-if", "--scale", text)
    assert done.returncode == 2 and b"is not a rule" in done.stderr


def test_slack_is_what_an_event_can_grow(tmp_path):
    t = Tiny((0, 20))
    t.call("cudaLaunchKernel", 0, 1)
    t.work("long", 5, 50)
    t.call("cudaLaunchKernel", 2, 1)
    t.work("short", 7, 20, stream=9)
    trace = t.write(tmp_path)
    (short,) = [r for r in rows(trace, "--view", "events") if r["name"] == "short"]
    assert short["slack_ns"] == "28000"
    for extra, saved in ((28000, 0), (29000, -1000)):
        (r,) = rows(trace, "--view", "what-if", "--scale", f"short={(20000 + extra) / 20000}")
        assert int(r["saved_ns"]) == saved
