# SPDX-License-Identifier: Apache-2.0
"""Traces whose numbers are as large as files can write them, and every verb with every option.

Each trace is a small, complete run (steps, annotations, operators, launches, kernels, copies, collectives, waits,
memory, counters, flows, Python frames) in which one kind of number is extreme: times, durations, ids, sizes.
"""
import json
import random

import support

#: What a time, duration, id or size can be; microseconds where a unit matters.
TIMES = [0, -1, 1 << 31, -(1 << 31), 1 << 52, -(1 << 52), 4611686018427387.903, -4611686018427387.903,
         4611686018427387.905, 9223372036854775.807, -9223372036854775.808, 9007199254740993, 1 << 62,
         -(1 << 62), (1 << 63) - 1, -(1 << 63), 1 << 64, 1e18, 1e300, -1e300, 0.0004]
DURATIONS = [0, -1, 1 << 31, 604800000000, 604800000000.001, 1 << 52, 9223372036854775.807, (1 << 63) - 1, -(1 << 63),
             1 << 64, 1e300]
IDS = [0, -1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, -(1 << 63), 1 << 63, (1 << 64) - 1, 1e300, "x", None, 0.5]
SIZES = [0, -1, 1 << 31, 1 << 62, (1 << 63) - 1, -(1 << 63), 1 << 63, 1e300]


def span(cat, name, pid, tid, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": {k.replace("_", " "): v for k, v in args.items()}}


def gpu(cat, name, stream, ts, dur, correlation, **args):
    event = span(cat, name, 0, stream, ts, dur)
    event["args"] = {"device": 0, "stream": stream, "correlation": correlation, **args}
    return event


def step(number, at):
    """One step of 100 us with something of every kind in it."""
    ids = range(number * 100, number * 100 + 20)
    comm = {"Collective name": "allreduce", "In msg nelems": 10, "Out msg nelems": 10, "Group size": 2,
            "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": number}
    events = [
        span("user_annotation", f"ProfilerStep#{number}", 9, 9, at, 100, External_id=ids[0]),
        span("user_annotation", "## forward ##", 9, 9, at + 1, 40, External_id=ids[1]),
        span("python_function", "nn.Module: Net_0", 9, 9, at + 2, 30, Python_id=ids[2], Python_parent_id=0),
        span("cpu_op", "aten::mm", 9, 9, at + 3, 10, External_id=ids[3], Sequence_number=number, Fwd_thread_id=0),
        span("cuda_runtime", "cudaLaunchKernel", 9, 9, at + 4, 2, correlation=ids[4], External_id=ids[3]),
        gpu("kernel", "gemm", 7, at + 8, 20, ids[4], **{"External id": ids[3], "est. achieved occupancy %": 50}),
        span("cuda_runtime", "cudaMemcpyAsync", 9, 9, at + 15, 2, correlation=ids[5]),
        gpu("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 7, at + 30, 5, ids[5], bytes=4096,
            **{"memory bandwidth (GB/s)": 0.8}),
        span("cpu_op", "record_param_comms", 9, 9, at + 18, 9, External_id=ids[6]),
        span("cuda_runtime", "cudaLaunchKernel", 9, 9, at + 20, 2, correlation=ids[7], External_id=ids[6]),
        gpu("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, at + 25, 15, ids[7], **comm),
        gpu("gpu_user_annotation", "## forward ##", 7, at + 8, 27, ids[4], **{"External id": ids[1]}),
        span("cuda_runtime", "cudaEventRecord", 9, 9, at + 30, 1, correlation=ids[8]),
        span("cuda_runtime", "cudaStreamWaitEvent", 9, 9, at + 32, 1, correlation=ids[9]),
        gpu("cuda_sync", "Stream Wait Event", 20, at + 35, 1, ids[9], cuda_sync_kind="Stream Wait Event",
            wait_on_stream=7, wait_on_cuda_event_record_corr_id=ids[8], wait_on_cuda_event_id=1),
        span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 9, 10, at + 50, 30,
             Sequence_number=number, Fwd_thread_id=1, External_id=ids[10]),
        span("cuda_runtime", "cudaLaunchKernel", 9, 10, at + 55, 2, correlation=ids[11], External_id=ids[10]),
        gpu("kernel", "gemm_bwd", 7, at + 60, 20, ids[11]),
        span("cuda_runtime", "cudaDeviceSynchronize", 9, 9, at + 85, 10, correlation=ids[12]),
        gpu("cuda_sync", "Context Sync", 7, at + 85, 9, ids[12], cuda_sync_kind="Context Sync"),
        gpu("cuda_profiler_range", "gemm", 7, at + 8, 20, ids[4],
            **{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 5}),
        {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 9, "tid": 9, "ts": at + 5,
         "args": {"Device Type": 1, "Device Id": 0, "Addr": 4096, "Bytes": 512, "Total Allocated": 512 * number,
                  "Total Reserved": 1 << 20}},
        {"ph": "C", "name": "util", "pid": 9, "ts": at + 5, "args": {"value": 5}},
        {"ph": "s", "id": ids[4], "cat": "ac2g", "name": "ac2g", "pid": 9, "tid": 9, "ts": at + 4},
        {"ph": "f", "id": ids[4], "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": at + 8, "bp": "e"},
    ]
    return events


def run_of(random_, what, share):
    """Three steps in which about a share of one kind of number is extreme."""
    events = [e for number in range(1, 4) for e in step(number, number * 100)]
    header = {"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 2},
              "baseTimeNanoseconds": 1700000000000000000}
    for event in events:
        if what in ("time", "all") and random_.random() < share:
            event["ts"] = random_.choice(TIMES)
        if what in ("duration", "all") and "dur" in event and random_.random() < share:
            event["dur"] = random_.choice(DURATIONS)
        for key, value in event.get("args", {}).items():
            if isinstance(value, int) and random_.random() < share:
                if what in ("id", "all") and ("id" in key.lower() or key in ("correlation", "stream", "device", "Seq")):
                    event["args"][key] = random_.choice(IDS)
                elif what in ("size", "all"):
                    event["args"][key] = random_.choice(SIZES)
    if what in ("base", "all"):
        header["baseTimeNanoseconds"] = random_.choice([(1 << 63) - 1, -(1 << 63), 1 << 62, -1, 1 << 64])
    return dict(header, traceEvents=events)


def long_run():
    """So many kernels of a week each that their sum does not fit 64 bits."""
    week = 604800000000
    events = []
    for i in range(16000):
        events.append(span("cpu_op", "aten::mm", 9, 9, i * 10, week, External_id=i))
        events.append(span("cuda_runtime", "cudaLaunchKernel", 9, 9, i * 10 + 1, week, correlation=i))
        events.append(gpu("kernel", ("gemm", "ncclAllReduce", "relu")[i % 3], i % 3, i * 10 + 2, week, i))
        events.append(gpu("gpu_memcpy", "Memcpy HtoD", i % 3, i * 10 + 3, week, i, bytes=(1 << 62)))
        # so many inside each other are another thing to be slow with: a sixteenth is, around the operators
        events.append(span("user_annotation", "a", 9, 9 + i % 16, i * 10, week))
    return {"schemaVersion": 1, "traceEvents": events}


def traces(seed, n):
    """(name, document) of n small traces of each kind."""
    for what in ("time", "duration", "id", "size", "base", "all"):
        for i in range(n):
            random_ = random.Random(f"{seed} {what} {i}")
            yield f"{what}{i}", run_of(random_, what, (0.02, 0.1, 0.5)[i % 3])


#: Values for options that take any; extreme where a number is meant.
VALUES = {"N": ["0", "-1", "9223372036854775807"], "SHARE": ["0", "1"], "DURATION": ["0", "9223372036854775807"],
          "TIME": ["0", "9223372036854775807", "-9223372036854775807"]}


def command_lines():
    """(verb, number of sets, options): each verb plain, then with one option at a time, then as HTA."""
    said = json.loads(support.output("help", "--json"))
    for verb in said["verbs"]:
        if verb["kind"] != "analysis" or not verb["n_sets"]:
            continue
        yield verb["name"], verb["n_sets"], []
        for option in verb["options"]:
            if option["heading"] == "This analysis":
                for value in values_of(option):
                    yield verb["name"], verb["n_sets"], [f"--{option['name']}" + (f"={value}" if value else "")]
        for more in (["--step", "all"], ["--step", "2"], ["--annotation", "forward"], ["--hta-compat"]):
            yield verb["name"], verb["n_sets"], more


def values_of(option):
    if option["choices"]:
        return option["choices"].split("|")
    if option["value"] is None:
        return [None]
    return VALUES.get(option["value"], [])
