# SPDX-License-Identifier: Apache-2.0
"""Links do not depend on how rows are cut into ranges and tracks into slices of time.

Small pieces of text (--chunk-bytes) mean small ranges of rows, too, so that a trace of some hundred events has
hundreds of them. The judge is the dump of the whole store, of one thread and no cuts.
"""
import json
import random

import pytest

import shapes
import support

#: Threads and piece sizes; a range has a sixteenth of the bytes as rows.
CUTS = (("1", "1"), ("1", "40"), ("3", "16"), ("3", "200"), ("4", "1000"))
HOST = ("cpu_op", "python_function", "user_annotation", "cuda_runtime")
DEVICE = ("kernel", "gpu_memcpy", "gpu_user_annotation", "cuda_sync")


def write(path, events):
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def check(path, what):
    whole = support.dump(path, "--no-cache", "--jobs", "1")
    for jobs, piece in CUTS:
        cut = support.dump(path, "--no-cache", "--jobs", jobs, "--chunk-bytes", piece)
        for a, b in zip(whole.splitlines(), cut.splitlines()):
            assert a == b, f"{what}, {jobs} jobs, pieces of {piece} bytes: {a[:300]!r} became {b[:300]!r}"
        assert len(whole) == len(cut)


class Nested:
    """Threads of nested calls, as Python stacks are, with launches, kernels and flows; some spans end late."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.late = self.random.choice((0, 0, 0.003, 0.02))
        self.events = []
        for tid in range(self.random.choice((1, 2))):
            self.call(tid, 0, self.random.choice((100, 2000, 100_000)), 0)
        if self.random.random() < 0.3:
            self.random.shuffle(self.events)

    def call(self, tid, start, end, depth):
        draw = self.random
        while start < end and len(self.events) < 600:
            number = len(self.events)
            dur = draw.randrange(max(1, (end - start) // draw.choice((1, 2, 5)) + 1))
            beyond = draw.randrange(20) if draw.random() < self.late else 0
            args = {"External id": number, "correlation": number, "Python id": number, "Record function id": number}
            self.events.append({"ph": "X", "cat": draw.choice(HOST), "name": f"o{number % 7}", "pid": 7, "tid": tid,
                                "ts": start, "dur": dur + beyond, "args": args})
            if draw.random() < 0.3:
                at = start + draw.choice((0, 0, dur // 2, dur, dur + 1))
                self.events.append({"ph": "s", "cat": "ac2g", "name": "f", "id": number, "pid": 7, "tid": tid, "ts": at})
            if draw.random() < 0.3:
                self.launch(number, start + dur)
            # where a record ends, the frame that ends it outlives it
            if dur > 4 and draw.random() < 0.2:
                self.events.append({"ph": "X", "cat": "python_function", "name": "__exit__", "pid": 7, "tid": tid,
                                    "ts": start + dur - 1, "dur": 3})
            if dur > 1 and depth < 9:
                self.call(tid, start, start + dur, depth + 1)
            start += dur + draw.choice((0, 0, 1, 3))

    def launch(self, number, ts):
        dur = 400 if self.random.random() < 0.02 else self.random.randrange(1, 9)
        self.events.append({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": ts, "dur": dur,
                            "args": {"External id": number, "correlation": number, "device": 0, "stream": 7}})
        self.events.append({"ph": "f", "cat": "ac2g", "name": "f", "id": number, "pid": 0, "tid": 7, "ts": ts})


def args_of(draw, cat, tid, number, n):
    args = {}
    if draw.random() < 0.8:
        args["External id"] = draw.randrange(n)
    if cat in ("cuda_runtime", "kernel", "gpu_memcpy") and draw.random() < 0.9:
        args["correlation"] = draw.randrange(n) if draw.random() < 0.95 else 10**12 + draw.randrange(9)
    if cat in DEVICE:
        args.update({"device": draw.randrange(2), "stream": tid})
    if cat == "python_function":
        args.update({"Python id": number, "Python parent id": draw.randrange(n)})
    if cat == "cpu_op":
        args.update({"Record function id": draw.randrange(n), "Sequence number": draw.randrange(9)})
    if draw.random() < 0.05:
        args["wait_on_cuda_event_record_corr_id"] = draw.randrange(-2, 5)
    return args


def name_of(draw, cat, ts, end):
    if draw.random() < 0.2:
        return draw.choice(("record_param_comms", "autograd::engine::evaluate_function: A",
                            "autograd::engine::evaluate_function: B"))
    return {"user_annotation": f"ProfilerStep#{ts * 5 // end}", "cuda_runtime": "cudaLaunchKernel",
            "cuda_sync": "Stream Sync"}.get(cat, f"op{draw.randrange(9)}")


def one_event(draw, number, n, end, longest):
    cat = draw.choice(HOST + DEVICE)
    tid = draw.randrange(3) + (10 if cat in DEVICE and draw.random() < 0.9 else 0)
    ts = draw.randrange(end) if draw.random() < 0.5 else number * end // n
    event = {"pid": 0 if cat in DEVICE else 7, "tid": tid, "ts": ts}
    what = draw.random()
    if what < 0.15:
        flow = draw.randrange(n) if draw.random() < 0.9 else f"q{draw.randrange(4)}"
        return {**event, "ph": draw.choice("ssffft"), "cat": draw.choice(("ac2g", "fwdbwd")), "name": "x", "id": flow}
    if what < 0.17:
        return {**event, "ph": draw.choice("BE"), "cat": cat, "name": "be"}
    if what < 0.2:
        return {**event, "ph": "i", "name": "[memory]", "args": {
            "Bytes": draw.randrange(-5, 5), "Device Id": draw.randrange(2), "Total Allocated": draw.randrange(9)}}
    event.update({"ph": "X", "cat": cat, "name": name_of(draw, cat, ts, end), "args": args_of(draw, cat, tid, number, n),
                  "dur": 0 if draw.random() < 0.15 else draw.randrange(longest)})
    if what < 0.22:
        del event["ts"]
    elif what < 0.24:
        event["ts"] = event["dur"] = 0
    return event


def noise(seed):
    """Spans of all kinds anywhere, damaged in every way: overlapping, without times, with ids of others."""
    draw = random.Random(seed)
    n, end = draw.choice((60, 300, 800)), draw.choice((50, 400, 3000))
    longest = draw.choice((3, 40, end))
    events = [one_event(draw, number, n, end, longest) for number in range(n)]
    if draw.random() < 0.3:
        events.append({"ph": "i", "name": "Record Window End", "ts": end * 3 // 4, "pid": "", "tid": "", "s": "g"})
    return events


@pytest.mark.parametrize("seed", support.seeds(40))
def test_nested_calls(tmp_path, seed):
    check(write(tmp_path / "t.json", Nested(seed).events), f"seed {seed}")


@pytest.mark.parametrize("seed", support.seeds(40))
def test_noise(tmp_path, seed):
    check(write(tmp_path / "t.json", noise(seed)), f"seed {seed}")


@pytest.mark.parametrize("shape", ("nest", "nested_launches", "same_time", "partial", "annotations", "streams", "threads",
                                   "one_correlation", "overlap", "flows", "steps", "named_steps", "waits", "memory",
                                   "begin_end", "python_calls", "flows_after_nest", "stream_waits"))
def test_shapes(tmp_path, shape):
    path = tmp_path / "t.json"
    shapes.write(shape, 300, path)
    check(path, shape)
