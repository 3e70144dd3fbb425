# SPDX-License-Identifier: Apache-2.0
"""Selectors and values of `what-if --scale`, and ready questions, on a job whose every millisecond is known.

A step of each of two ranks, on one thread and one stream:

    host 1 ms, garbage collection 8 ms, launches, then a wait for all of
    encode 20 ms        launched by aten::mm in nn.Module: Encoder_0
    all-reduce 10 ms    of group g1
    decode 30 ms        launched by aten::bmm in nn.Module: Decoder_0
    all-reduce 5 ms     of group g2
    again 25 ms         launched by an operator that a checkpoint runs again in the backward pass

All wait for each other in this order, so what a part loses the step loses: 90 ms of GPU activity after 9 ms of host.
"""
import csv
import io
import json

import pytest

import support

MS = 1000.0
GC, ENCODE, G1, DECODE, G2, AGAIN = 8, 20, 10, 30, 5, 25


class Rank:
    def __init__(self):
        self.events, self.correlation, self.at, self.ready = [], 0, 0.0, 0.0

    def event(self, cat, name, start, end, tid=1, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 1 if tid < 100 else 0, "tid": tid, "ts": round(start * MS, 3),
                            "dur": round((end - start) * MS, 3), "args": args})

    def launch(self, name, dur, around=(), **args):
        """A kernel behind the one before it. around: (category, name, arguments) from the outside in, 0.1 ms each."""
        self.correlation += 1
        for depth, (cat, what, more) in enumerate(around):
            self.event(cat, what, self.at + 0.01 * depth, self.at + 0.1 - 0.01 * depth, **more)
        self.event("cuda_runtime", "cudaLaunchKernel", self.at + 0.045, self.at + 0.05, correlation=self.correlation)
        start = max(self.ready, self.at + 0.055)
        self.event("kernel", name, start, start + dur, 107, correlation=self.correlation, device=0, stream=7, **args)
        self.ready = start + dur
        self.at += 0.12

    def reduce(self, group, dur):
        self.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", dur, **{
            "Collective name": "allreduce", "Process Group Name": group, "Process Group Ranks": "[0, 1]", "Group size": 2,
            "In msg nelems": 1024, "Out msg nelems": 1024, "dtype": "Float"})

    def step(self, number, encode=ENCODE):
        begin = self.at
        self.event("python_function", "<built-in function collect>", begin + 1, begin + 1 + GC)
        self.at = begin + 1 + GC
        self.launch("encode", encode, [("python_function", "nn.Module: Encoder_0", {}), ("cpu_op", "aten::mm", {})])
        self.reduce("g1", G1)
        self.launch("decode", DECODE, [("python_function", "nn.Module: Decoder_0", {}), ("cpu_op", "aten::bmm", {})])
        self.reduce("g2", G2)
        self.launch("again", AGAIN, [("cpu_op", "autograd::engine::evaluate_function: CheckpointFunctionBackward", {"Sequence number": number}),
                                     ("cpu_op", "CheckpointFunctionBackward", {"Sequence number": number}),
                                     ("cpu_op", "aten::linear", {"Sequence number": 1000 + number})])
        self.event("cuda_runtime", "cudaDeviceSynchronize", self.at, self.ready + 0.01)
        self.at = self.ready + 0.02
        self.event("user_annotation", f"ProfilerStep#{number}", begin, self.at)


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    for number in range(2):
        rank = Rank()
        for step in range(1, 6):
            rank.step(step)
        (folder / f"rank{number}.json").write_text(json.dumps({
            "schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": number, "world_size": 2}, "traceEvents": rank.events}))
    return folder


def answers(path, *args):
    done = support.run("what-if", str(path), *args, "--format", "csv")
    assert done.returncode == 0, done.stderr
    return {row["question"]: row for row in csv.DictReader(io.StringIO(done.stdout.decode()))}


def saved_ms(row):
    assert float(row["replay_error"]) < 1e-6
    assert float(row["mean_step_time_ns"]) == pytest.approx((1 + GC + ENCODE + G1 + DECODE + G2 + AGAIN) * 1e6, rel=0.002)
    return float(row["saved_ns"]) / 1e6


@pytest.mark.parametrize("rule, saved", [
    ("@module:Encoder=0.5", ENCODE / 2),
    ("@module:coder_0=0", ENCODE + DECODE),
    ("@module:Attention=0", 0),
    ("@operator:bmm=0", DECODE),
    ("@operator:aten::mm=0.5", ENCODE / 2),
    ("@operator:aten::linear=0", AGAIN),
    ("@module:Decoder@operator:bmm=0.5", DECODE / 2),
    ("@module:Encoder@operator:bmm=0", 0),
    ("@group:g1=0", G1),
    ("@group:g2=0.5", G2 / 2),
    ("@group:g[12]=remove", G1 + G2),
    ("@group:g3=0", 0),
    ("@group:g1@rank:5=0", 0),
    ("@group:g1=apart", G1),
    ("communication=apart", G1 + G2),
    ("decode=2", -DECODE),
    ("@group:g1=apart,@module:Encoder=0.5", G1 + ENCODE / 2),
    ("@operator:bmm@rank:0=0", 0),  # the other rank is waited for at the next all-reduce
    ("@operator:bmm@rank:0=median", 0),
    ("decode=+7ms", -7),
    ("decode=12ms", DECODE - 12),
    ("@group:g1=3ms", G1 - 3),
    ("collect>=1ms", GC - 1),
    ("collect>=+4ms", -4),
    ("@module:Encoder=repeat:2", -ENCODE),
    ("@module:coder_0=repeat:2", -ENCODE - DECODE),
    ("@module:coder_0=repeat:1.5", -DECODE),  # of two in a step the second once more
    ("@module:coder_0=repeat:0", ENCODE + DECODE),
    ("@group:g1=repeat:3", -2 * G1),
    ("@size:4KiB=0", G1 + G2),
    ("@size:4097-=0", 0),
    ("@size:-1KB=0", 0),
    # edits that change nothing
    (".=1", 0),
    ("decode=30ms", 0),
    ("decode=+0ms", 0),
    (".=repeat:1", 0),
    ("@module:coder_0=repeat:1", 0),
], ids=str)
def test_a_rule_saves_what_it_selects(job, rule, saved):
    assert saved_ms(answers(job, "--scale", rule)[rule]) == pytest.approx(saved, abs=0.15)


def test_ready_questions(job):
    got = answers(job)
    for question, saved in (("no garbage collection", GC), ("no recomputation", AGAIN), ("communication instant", G1 + G2),
                            ("communication overlapped, on a stream of its own", G1 + G2), ("20 % faster: decode", DECODE / 5),
                            ("communication twice as fast", (G1 + G2) / 2), ("no stragglers", 0)):
        assert saved_ms(got[question]) == pytest.approx(saved, abs=0.15), question
    assert {name for name in got if name.startswith("group ")} == {"group g1 [0, 1] twice as fast", "group g2 [0, 1] twice as fast"}
    assert saved_ms(got["group g1 [0, 1] twice as fast"]) == pytest.approx(G1 / 2, abs=0.15)


@pytest.mark.parametrize("rule", ["{}=+{}us", "{}=repeat:{}"], ids=str)
def test_more_never_takes_less(job, rule):
    """Work that is put in, or done again, ends no step earlier, and more of it none earlier than less."""
    for what in ("encode", "nccl", "@operator:bmm", "collect>"):
        times = [float(answers(job, "--scale", rule.format(what, n))[rule.format(what, n)]["new_mean_step_time_ns"]) for n in (0 if "+" in rule else 1, 2, 20)]
        assert times == sorted(times), what


def test_rules_that_cannot_be_answered_have_no_number(job):
    """g1 and g2 have one size each: what more ranks would cost is not known. Kernels without shapes have no bytes."""
    for rule in ("@group:g1=ranks:16", ".=fuse"):
        row = answers(job, "--scale", rule)[rule]
        assert row["new_mean_step_time_ns"] == "" and float(row["mean_step_time_ns"]) > 0


def test_what_is_not_there_is_not_asked(job, tmp_path):
    """Without collections and checkpoints the questions go away."""
    for file in job.glob("rank*.json"):
        document = json.loads(file.read_text())
        document["traceEvents"] = [e for e in document["traceEvents"] if "collect>" not in e["name"] and "Checkpoint" not in e["name"]]
        (tmp_path / file.name).write_text(json.dumps(document))
    got = answers(tmp_path)
    assert "no garbage collection" not in got and "no recomputation" not in got and "no stragglers" in got


def test_the_interval_is_that_of_steps_drawn_again(tmp_path):
    """Four steps count, of which one is 40 ms longer. Of four draws k are that one with a chance of C(4, k) 3^(4 - k) / 256: none with 32 %, three or
    more with 5 %, all four with 0.4 %. So the 95 % interval of the mean is from a plain step to 30 ms above it."""
    rank = Rank()
    for step in range(1, 6):
        rank.step(step, ENCODE + (40 if step == 4 else 0))
    (tmp_path / "rank0.json").write_text(json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": rank.events}))
    row = answers(tmp_path, "--scale", "nothing=0")["nothing=0"]
    plain, mean = float(row["low_ns"]), float(row["new_mean_step_time_ns"])
    assert row["steps"] == "4" and mean - plain == pytest.approx(10e6, rel=0.001)
    assert float(row["high_ns"]) - plain == pytest.approx(30e6, rel=0.001)
