# SPDX-License-Identifier: Apache-2.0
"""Critical path: graphs worked out by hand, rule by rule.

Whole answers worked out by hand are in tests/cases/critical-path.
"""
import pytest

import support
from critical import KERNEL, LAUNCH, OPERATOR, ORDER, SYNC, VERB, Tiny, edges, launch_bound, path, rows, sizes


@pytest.fixture(name="launch_bound")
def launch_bound_trace(tmp_path):
    return launch_bound(tmp_path)


def test_path_goes_through_the_launch(launch_bound):
    assert path(launch_bound) == [(1, OPERATOR, 2), (3, LAUNCH, 5), (3, OPERATOR, 13)]
    found = {r["bound_by"]: (int(r["duration_ns"]), float(r["share"])) for r in rows(launch_bound)}
    assert found == {"cpu_bound": (2000, 0.1), "gpu_kernel_launch_overhead": (5000, 0.25),
                     "gpu_compute_bound": (13000, 0.65)}
    size = sizes(launch_bound)
    assert size["length_ns"] == size["window_ns"] == 20000 and size["step_ns"] == 15000
    assert (size["n_nodes"], size["n_edges"], size["n_events"]) == (4, 3, 2)


def test_header(launch_bound):
    head = support.output(VERB, launch_bound, "--format", "csv").split(b"\n")[0]
    assert head.startswith(b"rank,instance,step,bound_by,duration_ns,share,inferred_ns,window_ns")


def test_names_on_the_path(launch_bound):
    last = rows(launch_bound, "--view", "path")[-1]
    assert (last["name"], last["short_name"], last["cat"]) == ("gemm<float>(int)", "gemm", "kernel")
    assert (last["pid"], last["tid"], last["stream"]) == ("0", "7", "7")
    assert last["ts_ns"] == "7000"


def test_slack_says_how_much_longer(launch_bound):
    found = {r["name"]: (int(r["slack_ns"]), int(r["path_ns"]), r["critical"])
             for r in rows(launch_bound, "--view", "events")}
    # what comes after the launch only has to be over when the kernel is: at 20 instead of 15
    assert found["cudaLaunchKernel"] == (5000, 0, "false")
    assert found["aten::mm"] == (0, 2000, "true")  # its part before the launch
    assert found["gemm<float>(int)"] == (0, 13000, "true")


def test_kernels_of_a_stream_follow_each_other(tmp_path):
    t = Tiny((0, 70))
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
    assert found[r2, "start", k2, "start"] == (LAUNCH, 5)  # at least: the shortest launch there is
    assert found[r3, "start", k3, "start"] == (LAUNCH, 5)  # the stream was idle at the launch
    assert found[k2, "end", k3, "start"] == (KERNEL, 0)
    assert path(trace) == [(k1, LAUNCH, 10), (k1, OPERATOR, 20), (k2, KERNEL, 2), (k2, OPERATOR, 20),
                           (0, OPERATOR, 8), (k3, LAUNCH, 5), (k3, OPERATOR, 10)]


def test_a_launch_that_is_still_under_way_is_late(tmp_path):
    """The stream went idle while the host was in the call."""
    t = Tiny((0, 30))
    t.call("cudaLaunchKernel", 0, 1)
    t.work("k1", 5, 10)
    t.call("cudaLaunchKernel", 8, 20)
    k2 = t.work("k2", 30, 10)
    assert (k2, LAUNCH, 15) in path(t.write(tmp_path))


@pytest.mark.parametrize("start, waited", [(32, True), (60, False)])
def test_a_device_waits_for_another_that_has_just_ended(tmp_path, start, waited):
    t = Tiny((0, 100))
    t.call("cudaLaunchKernel", 0, 1)
    k1 = t.work("k1", 10, 20, device=0)
    t.call("cudaLaunchKernel", 2, 1)
    k2 = t.work("k2", start, 20, device=1)
    trace = t.write(tmp_path)
    assert ((k1, "end", k2, "start") in edges(trace)) == waited
    assert (k1, "end", k2, "start") in edges(trace, "--hta-compat")


@pytest.mark.parametrize("told", [True, False], ids=["cuda_sync", "guessed"])
def test_a_wait_ends_after_the_work(tmp_path, told):
    t = Tiny((0, 60))
    t.call("cudaLaunchKernel", 0, 1)
    k = t.work("k", 5, 40)
    s = t.call("cudaStreamSynchronize", 2, 45)
    if told:
        t.wait("Stream Sync", 3, 43)
    after = t.op("after", 50, 10)
    trace = t.write(tmp_path)
    found = edges(trace)
    assert found[k, "end", s, "end"] == (SYNC, 2) and found[s, "start", s, "end"] == (OPERATOR, 0)
    # the wait costs what passes after the kernel; between the calls the step is at work
    assert path(trace) == [(k, LAUNCH, 5), (k, OPERATOR, 40), (s, OPERATOR, 2), (0, OPERATOR, 3),
                           (after, OPERATOR, 10)]
    assert {r["inferred"] for r in rows(trace, "--view", "path")} == {"false"}  # there is one stream


def test_a_call_that_did_not_wait_keeps_its_time(tmp_path):
    t = Tiny((0, 100))
    t.call("cudaLaunchKernel", 0, 1)
    t.work("k", 5, 10)
    s = t.call("cudaDeviceSynchronize", 30, 8)
    t.wait("Context Sync", 30, 8)
    trace = t.write(tmp_path)
    found = edges(trace)
    assert found[s, "start", s, "end"] == (OPERATOR, 8)
    assert (s, OPERATOR, 8) in path(trace)
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
    assert found[m, "end", c, "end"] == (SYNC, 6) and found[c, "start", c, "end"] == (OPERATOR, 0)
    assert found[d, "start", d, "end"] == (OPERATOR, 5)


def events_between_streams(t, known=True):
    """launch a on 7, record, wait on 9, launch b on 9"""
    t.call("cudaLaunchKernel", 0, 1)
    a = t.work("a", 5, 50)
    t.call("cudaEventRecord", 2, 1)
    record = t.correlation
    t.call("cudaStreamWaitEvent", 4, 1)
    t.wait("Stream Wait Event", 4, 51, stream=9, wait_on_stream=7 if known else -1,
           wait_on_cuda_event_record_corr_id=record if known else -1)
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
    for more, delays in (((), (1, 3)), (("--hta-compat",), (0, 0))):
        found = edges(trace, *more)
        assert found[a, "end", b, "start"] == (SYNC, delays[0])
        assert found[a, "end", s, "end"] == (SYNC, delays[1])
    assert {r["inferred"] for r in rows(trace, "--view", "path")} == {"false"}


@pytest.mark.parametrize("end,inferred", [(55, True), (52, True), (45, False)])
def test_a_wait_without_its_record_is_inferred_within_the_tolerance(tmp_path, end, inferred):
    """b starts at 56; what ended at most 10 us before it and was launched before it held it back."""
    t = Tiny((0, 30))
    a, b, _ = events_between_streams(t, known=False)
    t.events[a]["dur"] = end - 5
    trace = t.write(tmp_path)
    assert ((a, "end", b, "start") in edges(trace)) == inferred
    on_path = {int(r["index"]): r["inferred"] for r in rows(trace, "--view", "path") if r["index"]}
    assert on_path[a] == "true"  # the device was busy with it in any case


def test_what_was_launched_later_held_nothing_back(tmp_path):
    t = Tiny((0, 30))
    t.call("cudaLaunchKernel", 0, 1)
    b = t.work("b", 56, 10, stream=9)
    t.call("cudaLaunchKernel", 2, 1)
    a = t.work("a", 5, 50)
    assert (a, "end", b, "start") not in edges(t.write(tmp_path))


def test_a_wait_that_names_its_stream_only(tmp_path):
    """The record is missing; the last work that was launched there before the wait is meant."""
    t = Tiny((0, 30))
    a, b, _ = events_between_streams(t)
    for event in t.events:
        if event["cat"] == "cuda_sync":
            event["args"]["wait_on_cuda_event_record_corr_id"] = -1
    trace = t.write(tmp_path)
    assert edges(trace)[a, "end", b, "start"] == (SYNC, 1)
    (piece,) = [r for r in rows(trace, "--view", "path") if r["name"] == "a" and r["type"] == OPERATOR]
    assert piece["inferred"] == "true"


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
    assert all(found[s, "end", b, "start"][0] == SYNC for s in sources)


def test_a_graph_launch_brings_all_its_kernels(tmp_path):
    t = Tiny((0, 20))
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
    t = Tiny((0, 10))
    t.call("cudaLaunchKernel", 0, 1)
    a = t.work("a", 5, 20)
    t.call("cudaLaunchKernel", 2, 1)
    b = t.work("b", 20, 20)
    trace = t.write(tmp_path)
    assert edges(trace)[a, "start", b, "start"] == (OPERATOR, 15)
    assert path(trace)[1:] == [(a, OPERATOR, 15), (b, OPERATOR, 20)]


def test_autograd_thread_follows_the_main_thread(tmp_path):
    t = Tiny((0, 100))
    f = t.op("forward", 0, 10)
    b = t.op("autograd::engine::evaluate_function: MmBackward0", 12, 20, tid=2)
    o = t.op("optimizer", 40, 10)
    trace = t.write(tmp_path)
    found = edges(trace)
    assert found[f, "end", b, "start"] == (ORDER, 2) and found[b, "end", o, "start"] == (ORDER, 8)
    assert path(trace) == [(f, OPERATOR, 10), (0, OPERATOR, 2), (b, OPERATOR, 20), (0, OPERATOR, 8),
                           (o, OPERATOR, 10), (0, OPERATOR, 50)]


def test_a_row_that_outlives_its_parent_ends_with_it(tmp_path):
    t = Tiny((0, 45))
    a, b, c = t.op("a", 0, 20), t.op("b", 10, 20), t.op("c", 40, 5)
    assert path(t.write(tmp_path)) == [(a, OPERATOR, 10), (b, OPERATOR, 10), (0, OPERATOR, 20),
                                       (c, OPERATOR, 5)]


def test_the_runtime_lock_of_hta(tmp_path):
    t = Tiny((0, 100))
    a = t.call("cudaLaunchKernel", 0, 10, tid=1)
    b = t.call("cudaLaunchKernel", 5, 10, tid=2)
    hta = edges(t.write(tmp_path), "--hta-compat")
    assert hta[b, "start", a, "end"] == (ORDER, 0) and (b, "start", b, "end") not in hta


def test_amd_kernels_on_stream_zero(tmp_path):
    t = Tiny((0, 100))
    r = t.call("hipLaunchKernel", 0, 1)
    k = t.work("Cijk_gemm", 5, 40, stream=0)
    s = t.call("hipDeviceSynchronize", 2, 45)
    trace = t.write(tmp_path)
    found = edges(trace)
    assert found[r, "start", k, "start"] == (LAUNCH, 5) and found[k, "end", s, "end"] == (SYNC, 2)


def test_mtia_runtime_calls_have_nodes(tmp_path):
    t = Tiny((0, 100))
    r = t.add("mtia_runtime", "runFunction - job_prep_and_submit_for_execution", 0, 1,
              correlation=5)
    k = t.add("mtia_ccp_events", "kernel", 5, 10, pid=0, tid=3, stream=3, device=0, correlation=5)
    assert edges(t.write(tmp_path))[r, "start", k, "start"] == (LAUNCH, 5)


def test_data_loading(tmp_path):
    t = Tiny((0, 40))
    t.add("user_annotation", "enumerate(DataLoader)#_Iter.__next__", 0, 30)
    t.op("aten::stack", 5, 10)
    t.op("aten::add", 30, 10)
    trace = t.write(tmp_path)
    for more in ([], ["--data-load-events", "DataLoader|next_batch"]):
        found = {r["bound_by"]: r["duration_ns"] for r in rows(trace, *more)}
        assert found == {"data_loading": "30000", "cpu_bound": "10000"}
    assert {r["bound_by"] for r in rows(trace, "--data-load-events", "nothing")} == {"cpu_bound"}
    assert "data_loading" not in {r["bound_by"] for r in rows(trace, "--hta-compat")}


def test_bounds_of_gpu_work(tmp_path):
    t = Tiny((0, 60))
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


def test_work_whose_launch_was_lost_waits_for_the_host(tmp_path):
    t = Tiny((0, 100))
    t.call("cudaLaunchKernel", 0, 1)
    t.work("k1", 5, 10)
    o = t.op("aten::mm", 20, 60)
    k2 = t.work("k2", 70, 20, correlation=9999)
    trace = t.write(tmp_path)
    found = {(r["name"], r["bound_by"]): (r["duration_ns"], r["inferred"])
             for r in rows(trace, "--view", "path")}
    assert found["aten::mm", "cpu_bound"] == ("50000", "true")
    assert found["k2", "gpu_compute_bound"] == ("20000", "false")
    assert o < k2


def test_launches_into_a_full_queue_are_no_host_time(tmp_path):
    """200 kernels of 100 us from 10 us on. The first 81 launches take 0.1 us each; then the queue of 80 is full, and launch 81 + j is in
    its call [12, 110) + 100 j until kernel j is over and the next one begins. A wait up to 20010 ends the step.

    Without computing kernels begin 10 us after their launch, as the first did. No call waits then: they begin at 12, 14, ... and
    the last at 12 + 2 * 118 = 248, so its kernel ends the step at 258."""
    trace = Tiny()
    trace.add("user_annotation", "ProfilerStep#1", 0, 20010)
    for i in range(200):
        j = i - 81
        start, dur = (i / 10, 0.05) if j < 0 else (100 * j + 12, 98)
        trace.add("cuda_runtime", "cudaLaunchKernel", start, dur, correlation=i + 1)
        trace.add("kernel", "gemm", 10 + 100 * i, 100, pid=0, tid=7, device=0, stream=7, correlation=i + 1)
    trace.add("cuda_runtime", "cudaDeviceSynchronize", 100 * 118 + 112, 20010 - 11912)
    name = trace.write(tmp_path / "full.json")
    found = {r["scale"]: (int(r["length_ns"]), int(r["new_length_ns"])) for r in rows(name, "--view", "what-if")}
    assert found["gpu_compute_bound=0"] == (20010000, 258000)
    # the host keeps nothing waiting: nothing is saved without it
    assert found["cpu_bound=0"] == (20010000, 20010000)
