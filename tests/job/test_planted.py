# SPDX-License-Identifier: Apache-2.0
"""`what-if` on jobs that were made twice, with and without something slow: without it, the replay of the slow one takes what the other took.

A small machine makes the traces by its own rules: a thread launches and goes on, a stream runs one kernel after the other, an all-reduce
begins with its last rank, and the end of a step waits for the device. Durations are random, the same for both jobs.
"""
import csv
import io
import json
import random

import pytest

import support

LATENCY, CALL, PAUSE, THINK = 6.0, 3.0, 1.0, 2.0  # microseconds
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


class Rank:
    def __init__(self, number):
        self.number, self.events, self.now, self.busy, self.correlation = number, [], 1000.0 * number % 7, {}, 0

    def event(self, cat, name, start, end, tid, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 0 if tid >= 100 else 1, "tid": tid, "ts": round(start, 3),
                            "dur": round(end - start, 3), "args": args})

    def work(self, us):
        self.now += us

    def launch(self, name, us, stream=7, late=0):
        """When it could begin, and what is needed to say when it ended."""
        self.correlation += 1
        call = self.now
        self.event("cuda_runtime", "cudaLaunchKernel", call, call + CALL, 1, correlation=self.correlation)
        self.now += CALL + THINK
        start = max(call + LATENCY, self.busy.get(stream, -1e9) + PAUSE) + late
        if us is not None:
            self.end(name, self.correlation, start, start + us, stream)
        return start, self.correlation, stream

    def end(self, name, correlation, start, end, stream):
        self.event("kernel", name, start, end, 100 + stream, correlation=correlation, device=0, stream=stream)
        self.busy[stream] = end

    def synchronise(self):
        end = max(self.now, max(self.busy.values())) + 1.0
        self.event("cuda_runtime", "cudaDeviceSynchronize", self.now, end, 1)
        self.now = end


def all_reduce(ranks, us):
    ready = [rank.launch(ALL_REDUCE, None) for rank in ranks]
    begin = max(start for start, _, _ in ready)
    for rank, (start, correlation, stream) in zip(ranks, ready):
        rank.end(ALL_REDUCE, correlation, start, begin + us, stream)


def job(folder, slow, n_ranks=4, n_steps=6, seed=1, late=lambda step: 0):
    """slow(rank, step): microseconds of a sleep in `## data ##`, and a list of extra kernels."""
    chance = random.Random(seed)
    plan = [[[chance.uniform(200, 900) for _ in range(5)] for _ in range(2)] for _ in range(n_steps)]
    noise = [[chance.uniform(0.95, 1.05) for _ in range(n_steps)] for _ in range(n_ranks)]
    ranks = [Rank(i) for i in range(n_ranks)]
    for step in range(n_steps):
        begins = [rank.now for rank in ranks]
        for rank in ranks:
            sleep, _ = slow(rank.number, step)
            begin = rank.now
            rank.work(50 + sleep)
            rank.event("user_annotation", "## data ##", begin, rank.now, 1)
        for layer in range(2):
            for rank in ranks:
                for k, us in enumerate(plan[step][layer]):
                    rank.launch(f"gemm_{k}", us * noise[rank.number][step], late=late(step) if layer == k == 0 else 0)
                begin = rank.now
                for us in slow(rank.number, step)[1] if layer == 0 else []:
                    rank.launch("extra", us)
                rank.event("user_annotation", "## extra ##", begin, rank.now + 0.5, 1)
                rank.work(1.0)
            all_reduce(ranks, 400.0)
        for rank in ranks:
            rank.synchronise()
            rank.event("user_annotation", f"ProfilerStep#{step + 1}", begins[rank.number], rank.now, 1)
            rank.work(5.0)
    folder.mkdir()
    for rank in ranks:
        trace = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank.number, "world_size": n_ranks},
                 "traceEvents": rank.events}
        (folder / f"rank{rank.number}.json").write_text(json.dumps(trace))
    return folder


def answers(path, *args):
    done = support.run("what-if", str(path), *args, "--format", "csv")
    assert done.returncode == 0, done.stderr
    return {row["question"]: row for row in csv.DictReader(io.StringIO(done.stdout.decode()))}


def recorded_ms(got):
    return float(next(iter(got.values()))["mean_step_time_ns"]) / 1e6


def new_ms(row):
    return float(row["new_mean_step_time_ns"]) / 1e6


NOTHING = lambda rank, step: (0, [])  # noqa: E731


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return job(tmp_path_factory.mktemp("jobs") / "clean", NOTHING)


def test_an_unchanged_job_takes_what_it_took(clean):
    """No start is kept: those of the replay follow from launches, streams and collectives."""
    got = answers(clean)
    assert all(float(row["replay_error"]) < 0.001 and float(row["worst_replay_error"]) < 0.001 for row in got.values())


PLANTED = {
    "a host that sleeps": (lambda rank, step: (30000 if rank == 1 and step % 2 else 0, []), "@annotation:## data ##@rank:1=median"),
    "extra kernels": (lambda rank, step: (0, [2500.0] * 6 if rank == 2 else []), "@annotation:## extra ##=remove"),
    "extra kernels by name": (lambda rank, step: (0, [2500.0] * 6 if rank == 2 else []), "^extra$=0"),
    "both": (lambda rank, step: (30000 if rank == 1 and step % 2 else 0, [2500.0] * 6 if rank == 2 else []),
             "@annotation:## data ##@rank:1=median,^extra$@rank:2=remove"),
}


@pytest.mark.parametrize("what", PLANTED)
def test_without_what_was_planted_it_is_the_clean_job(what, clean, tmp_path):
    slow, rules = PLANTED[what]
    usual = recorded_ms(answers(clean))
    got = answers(job(tmp_path / "slow", slow), "--scale", rules)
    assert recorded_ms(got) > 1.2 * usual
    assert new_ms(got[rules]) == pytest.approx(usual, rel=0.01)
    assert new_ms(got["no stragglers"]) == pytest.approx(usual, rel=0.033)


def test_the_slow_rank_alone_explains_it(clean, tmp_path):
    usual = recorded_ms(answers(clean))
    got = answers(job(tmp_path / "slow", PLANTED["extra kernels"][0]))
    assert new_ms(got["rank 2 like its peers"]) == pytest.approx(usual, rel=0.033)
    for row in (row for name, row in got.items() if name.endswith("like its peers") and not name.startswith("rank 2")):
        assert new_ms(row) == pytest.approx(recorded_ms(got), rel=0.033)


def test_two_slow_ranks_hide_each_other(clean, tmp_path):
    """Ranks 1 and 2 take 15 ms longer each: without one the other is waited for all the same, without both it is the clean job."""
    usual = recorded_ms(answers(clean))
    assert not any(question.startswith("ranks ") for question in answers(clean))
    got = answers(job(tmp_path / "slow", lambda rank, step: (0, [2500.0] * 6 if rank in (1, 2) else [])))
    for rank in (1, 2):
        assert new_ms(got[f"rank {rank} like its peers"]) == pytest.approx(recorded_ms(got), rel=0.033)
    pair, = (question for question in got if question.startswith("ranks "))
    assert sorted(pair.split()[1:4:2]) == ["1", "2"]
    assert new_ms(got[pair]) == pytest.approx(usual, rel=0.033) and recorded_ms(got) > 1.2 * usual


def test_where_a_rule_applies(tmp_path):
    """Twelve times 2.5 ms on rank 2, six in each of two steps: half of them in one step."""
    path = job(tmp_path / "slow", lambda rank, step: (0, [2500.0] * 6 if rank == 2 and step in (2, 4) else []))
    plain = new_ms(answers(path, "--scale", "^nothing$=0")["^nothing$=0"])
    one = answers(path, "--scale", "^extra$@step:3=0")["^extra$@step:3=0"]
    both = answers(path, "--scale", "^extra$@step:3-5=0")["^extra$@step:3-5=0"]
    other = answers(path, "--scale", "^extra$@rank:0\\,1=0")["^extra$@rank:0\\,1=0"]
    lane = answers(path, "--scale", "^extra$@stream:7=0")["^extra$@stream:7=0"]
    assert plain - new_ms(one) == pytest.approx(15 / 5, rel=0.02)
    assert plain - new_ms(both) == pytest.approx(30 / 5, rel=0.02)
    assert new_ms(other) == pytest.approx(plain, rel=1e-9)
    assert new_ms(lane) == pytest.approx(new_ms(both), rel=1e-9)


def test_words_instead_of_factors(tmp_path):
    path = job(tmp_path / "slow", PLANTED["extra kernels"][0])
    removed = new_ms(answers(path, "--scale", "^extra$=remove")["^extra$=remove"])
    for value in ("median", "ideal"):
        rule = f"^extra$={value}"
        assert new_ms(answers(path, "--scale", rule)[rule]) == pytest.approx(removed, rel=1e-6)
    best = answers(path, "--scale", "^gemm=best")["^gemm=best"]
    assert new_ms(best) < recorded_ms({"": best})


def test_slower_is_never_shorter(clean):
    last = 0
    for factor in ("0", "0.5", "1", "1.5", "3"):
        rule = f"gemm={factor}"
        now = new_ms(answers(clean, "--scale", rule)[rule])
        assert now >= last
        last = now


@pytest.mark.parametrize("rule", ["x@rank:y=0", "x@step:=0=0=", "x@annotation:(=0", "x=fast", "@rank:1"])
def test_rules_that_are_none(rule, clean):
    done = support.run("what-if", str(clean), "--scale", rule)
    assert done.returncode == 2, done.stdout


def test_one_rank_has_the_same_grammar(clean):
    """`critical-path --view what-if` takes what one rank knows, and says where the rest is answered."""
    file = str(clean / "rank0.json")
    run = lambda rule: support.run("critical-path", file, "--view", "what-if", "--scale", rule, "--format", "csv")  # noqa: E731
    assert run("gemm@step:3=0.5").returncode == 0
    for rule in ("gemm=median", "gemm@rank:1=0", "gemm@stage:0=0", "gemm@group:x=0"):
        done = run(rule)
        assert done.returncode == 2 and b"what-if" in done.stderr


def test_starts_that_nothing_explains(tmp_path):
    """From the third step on the first kernel begins 5 ms after all that it waits for: steps of some 6 ms are not replayed, and there
    are no savings but a list of what is not explained."""
    folder = job(tmp_path / "gaps", NOTHING, n_ranks=1, n_steps=6, late=lambda step: 5000 if step >= 2 else 0)
    done = support.run("what-if", str(folder))
    assert done.returncode == 0 and b"no savings are shown" in done.stdout and b"no CPU time" not in done.stdout
    assert not answers(folder)
    gaps = support.run("what-if", str(folder), "--view", "gaps", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(gaps.stdout.decode())))
    assert [(row["name"], int(row["gap_ns"])) for row in rows] == [("gemm_0", 5000000)] * 4


def test_nothing_to_replay(tmp_path):
    """Only allocations, which take no time: no step has an end."""
    event = {"ph": "i", "name": "[memory]", "cat": "cpu_instant_event", "pid": 1, "tid": 1, "s": "t", "args": {"Bytes": 8, "Device Type": 0}}
    file = tmp_path / "memory.json"
    file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [{**event, "ts": ts} for ts in (1.0, 5.0)]}))
    done = support.run("what-if", str(file))
    assert done.returncode == 0 and b"n/a" in done.stdout and b"inf" not in done.stdout


def batches(folder, n_batches, n_steps=4):
    """Two ranks that accumulate gradients: kernels of every micro-batch are launched under an annotation, and are reduced at its end."""
    ranks = [Rank(i) for i in range(2)]
    for step in range(n_steps):
        begins = [rank.now for rank in ranks]
        for _ in range(n_batches):
            starts = [rank.now for rank in ranks]
            for rank in ranks:
                rank.work(20)
                for us in (300.0, 150.0 + 100 * rank.number):
                    rank.launch("gemm", us)
            all_reduce(ranks, 200.0)
            for rank, start in zip(ranks, starts):
                rank.event("user_annotation", "microbatch", start, rank.now, 1)
        for rank in ranks:
            rank.launch("optimizer", 250.0)
            rank.synchronise()
            rank.event("user_annotation", f"ProfilerStep#{step + 1}", begins[rank.number], rank.now, 1)
            rank.work(5.0)
    folder.mkdir()
    for rank in ranks:
        trace = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank.number, "world_size": 2}, "traceEvents": rank.events}
        (folder / f"rank{rank.number}.json").write_text(json.dumps(trace))
    return folder


def test_other_numbers_of_micro_batches(tmp_path):
    """A job of m micro-batches, replayed with another number of them, takes what a job with that number took."""
    recorded = {n: recorded_ms(answers(batches(tmp_path / str(n), n))) for n in (2, 3, 4, 8)}
    for before, after in ((2, 3), (2, 4), (2, 8), (4, 8), (4, 3), (8, 2), (3, 3)):
        rule = f"@annotation:microbatch=repeat:{after / before}"
        got = answers(tmp_path / str(before), "--scale", rule)[rule]
        assert new_ms(got) == pytest.approx(recorded[after], rel=0.01), (before, after)
