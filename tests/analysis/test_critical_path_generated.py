# SPDX-License-Identifier: Apache-2.0
"""Critical path of generated traces: those of a simulated machine, whose answers are known, and senseless ones."""
import collections
import random

import pytest

import support
from critical import Tiny, check_path, rows, rule

LAUNCH_US, RETURN_US, CALL_US = 5, 0, 2


class Machine:
    """A host thread and streams that obey exactly what the model says; writes what a profiler would.

    Work starts when its stream is free, the events it waits for are over, and 5 us after its launch
    call began. Synchronising returns when the stream is free.
    """

    def __init__(self, program, factor=None):
        self.trace = Tiny()
        self.trace.add("user_annotation", "ProfilerStep#1", 0, 0)
        self.now = 0
        self.free = collections.defaultdict(int)    # stream -> when
        self.pending = collections.defaultdict(list)  # stream -> [(end, record)]
        self.last = 0
        for step in program:
            getattr(self, step[0])(*step[1:], factor=factor or {})
        self.trace.events[0]["dur"] = self.now
        self.window = max(self.now, self.last)

    def think(self, name, dur, factor):
        dur = round(dur * factor.get(name, 1))
        if dur:
            self.trace.op(name, self.now, dur)
        self.now += dur

    def launch(self, name, stream, dur, factor):
        self.trace.call("cudaLaunchKernel", self.now, CALL_US)
        start = max([self.free[stream], self.now + LAUNCH_US] +
                    [end for end, _ in self.pending.pop(stream, [])])
        self.free[stream] = start + round(dur * factor.get(name, 1))
        self.last = max(self.last, self.free[stream])
        if self.free[stream] > start:
            self.trace.work(name, start, self.free[stream] - start, stream=stream)
        self.now += CALL_US

    def event(self, source, target, factor):
        self.trace.call("cudaEventRecord", self.now, CALL_US)
        record = self.trace.correlation
        self.now += CALL_US
        self.trace.call("cudaStreamWaitEvent", self.now, CALL_US)
        self.trace.wait("Stream Wait Event", self.now, 1, stream=target, wait_on_stream=source,
                        wait_on_cuda_event_record_corr_id=record)
        self.pending[target].append((self.free[source], record))
        self.now += CALL_US

    def synchronize(self, stream, factor):
        end = max(self.now + CALL_US, self.free[stream] + RETURN_US)
        self.trace.call("cudaStreamSynchronize", self.now, end - self.now)
        self.trace.wait("Stream Sync", self.now, end - self.now, stream=stream)
        self.now = end


def make_program(seed, streams):
    r = random.Random(seed)
    program = [("launch", f"k0_{s}", s, 10) for s in streams]
    for i in range(r.randrange(10, 40)):
        what = r.random()
        stream = r.choice(streams)
        if what < 0.3:
            program.append(("think", f"op{i}", r.choice((1, 10, 100, 400))))
        elif what < 0.8:
            program.append(("launch", f"k{i}", stream, r.choice((3, 30, 300, 900))))
        elif what < 0.93 and len(streams) > 1:
            other = r.choice([s for s in streams if s != stream])
            # an event is about what was launched, and holds back the next launch
            program += [("event", other, stream), ("launch", f"k{i}e", stream, r.choice((5, 50)))]
        else:
            program.append(("synchronize", stream))
    return program


@pytest.mark.parametrize("seed", support.seeds(24))
def test_simulated_runs(tmp_path, seed):
    """The window is the machine's, the path covers it, and what-if says what the machine would do."""
    streams = (7,) if seed % 3 == 0 else (7, 16) if seed % 3 == 1 else (7, 16, 20)
    program = make_program(seed, streams)
    machine = Machine(program)
    trace = machine.trace.write(tmp_path)
    found = rows(trace)
    assert {int(r["window_ns"]) for r in found} == {machine.window * 1000}
    assert sum(int(r["duration_ns"]) for r in found) == machine.window * 1000
    assert {r["inferred_ns"] for r in found} == {"0"}
    check_path(trace, one_stream=len(streams) == 1)
    names = sorted({s[1] for s in program if s[0] in ("launch", "think")})
    saved = {}
    for r in rows(trace, "--view", "what-if", "--scale", ",".join(f"^{n}$=0.5" for n in names)):
        saved[r["scale"][1:-5]] = int(r["saved_ns"]) / 1000
    n_syncs = sum(s[0] == "synchronize" for s in program)
    for name in names:
        truth = machine.window - Machine(program, {name: 0.5}).window
        # a call that no longer waits costs its 2 us, which the trace cannot tell
        assert truth - 1 <= saved[name] <= truth + 1 + CALL_US * n_syncs, name


def scramble(seed, streams):
    """Events that no machine could produce: any times, any links, rows that overlap as they like."""
    r = random.Random(seed)
    span = r.choice((20, 200, 5000))
    n = r.randrange(3, 80)
    t = Tiny()
    for i in range(r.randrange(4)):
        t.add("user_annotation", f"ProfilerStep#{i}", r.randrange(span), r.randrange(span))
    calls = ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaEventSynchronize",
             "cudaDeviceSynchronize", "cudaEventRecord", "cudaStreamWaitEvent")
    for _ in range(n):
        kind, at, dur = r.random(), r.randrange(span), r.randrange(span // 2)
        t.correlation = r.randrange(1, n)
        if kind < 0.3:
            t.op(r.choice(("a", "b", "autograd::engine::evaluate_function: X")), at, dur,
                 tid=r.choice((1, 2)))
        elif kind < 0.6:
            t.add("cuda_runtime", r.choice(calls), at, dur, tid=r.choice((1, 2)),
                  correlation=t.correlation)
        elif kind < 0.9:
            t.work(r.choice(("k", "ncclDevKernel_X", "m")), at, dur, stream=r.choice(streams),
                   cat=r.choice(("kernel", "gpu_memcpy")))
        else:
            t.wait(r.choice(("Stream Sync", "Event Sync", "Context Sync", "Stream Wait Event")), at,
                   r.randrange(9), stream=r.choice(streams), wait_on_stream=r.choice((-1, 7, 16)),
                   wait_on_cuda_event_record_corr_id=r.choice((-1, r.randrange(1, n))))
    return t


@pytest.mark.parametrize("seed", support.seeds(36))
def test_any_trace(tmp_path, seed):
    """The path covers the window and slack holds, whatever the events are."""
    streams = ((7,), (7, 16), (7, 16, 20))[seed % 3]
    trace = scramble(seed, streams).write(tmp_path)
    check_path(trace, one_stream=len(streams) == 1)
    for r in rows(trace, "--view", "what-if", "--scale", "no such name=0"):
        assert r["saved_ns"] == "0"
    groups = collections.defaultdict(list)
    for r in rows(trace, "--view", "events"):
        groups[r["instance"], r["name"]].append(r)
    for (instance, name), events in sorted(groups.items()):
        if any(e["critical"] == "true" for e in events):
            continue
        slack = min((int(e["slack_ns"]) for e in events if e["slack_ns"]), default=0)
        (r,) = rows(trace, "--instance", instance, "--view", "what-if", "--scale", rule(name, 0))
        assert int(r["saved_ns"]) <= slack, name
    total, window = collections.Counter(), {}
    for r in rows(trace, "--across"):
        total[r["instance"]] += int(r["duration_ns"])
        window[r["instance"]] = int(r["window_ns"])
    assert total == window
