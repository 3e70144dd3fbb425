# SPDX-License-Identifier: Apache-2.0
"""Causes planted in snapshots that a model of the allocator writes (allocator.py): every view against what the model knows.

A leak whose tensors vary in size, beside state that the first step makes and a cache that is emptied; fragmentation; a CUDA graph's pool that
keeps what others need; a limit; and a clean run whose cache goes up and down. Each finding must be in its own snapshot only.
"""
import csv
import io
import random

import pytest

import support
from allocator import MIB, Allocator, OutOfMemory, line


def train(a, rng, n_steps, in_step, n_layers=6):
    """A model, its optimizer's state made in the first step, activations that come and go; in_step does what is planted."""
    a.weights = [a.alloc(rng.randrange(2 * MIB, 9 * MIB), line(11, "__init__")) for _ in range(n_layers)]
    a.state, sizes = [], [rng.randrange(100_000, 30 * MIB) for _ in range(n_layers)]
    sizes += [rng.randrange(1, 4000) for _ in range(30)]
    for step in range(n_steps):
        a.annotate("START", f"## step {step} ##")
        acts = [a.alloc(size, line(20 + i, "forward")) for i, size in enumerate(sizes)]
        grads = [a.alloc(weight.requested, line(50, "backward")) for weight in a.weights]
        for act in reversed(acts):
            a.free(act)
        if not a.state:
            a.state = [a.alloc(weight.requested, line(60, "step")) for weight in a.weights for _ in range(2)]
        in_step(step)
        for grad in grads:
            a.free(grad)
        a.annotate("END", f"## step {step} ##")


def leaking(rng):
    a, kept, cache = Allocator(), [], []

    def in_step(step):
        # 3 MiB, a fifth more or less, is kept for good; a cache is emptied every fourth step
        kept.append(a.alloc(int(3 * MIB * rng.uniform(0.8, 1.2)), line(88, "log")))
        cache.append(a.alloc(4 * MIB, line(90, "remember")))
        if step % 4 == 3:
            while cache:
                a.free(cache.pop())
    train(a, rng, 16, in_step)
    a.kept = kept
    return a


def clean(rng, n_steps=20, period=5):
    a, cache = Allocator(), []

    def in_step(step):
        if step % period == 0:
            while cache:
                a.free(cache.pop())
        cache.append(a.alloc(int(6 * MIB * rng.uniform(0.9, 1.1)), line(90, "remember")))
    train(a, rng, n_steps, in_step)
    return a


def fragmented(rng):
    a = Allocator()
    train(a, rng, 5, lambda step: None)
    # pairs of 8 MiB in segments of 20: the first of each goes, 8 and 4 MiB are free in each; then 11 MiB are wanted
    pairs = [[a.alloc(8 * MIB, line(70, "load")), a.alloc(8 * MIB, line(71, "load"))] for _ in range(40)]
    for first, _ in pairs:
        a.free(first)
    for _ in range(6):
        a.alloc(13 * MIB, line(72, "batch"))
    return a


def isolated(rng):
    a = Allocator(capacity=1024 * MIB)
    train(a, rng, 5, lambda step: None, n_layers=3)
    graph = [a.alloc(100 * MIB, line(75, "capture"), pool=(1, 0)) for _ in range(6)]
    for block in graph:
        a.free(block)
    a.wanted = 420 * MIB
    with pytest.raises(OutOfMemory):
        a.alloc(a.wanted, line(77, "evaluate"))
    return a


def limited(rng):
    a = Allocator(capacity=80 << 30, limit=600 * MIB)
    train(a, rng, 5, lambda step: None, n_layers=3)
    a.wanted = 700 * MIB
    with pytest.raises(OutOfMemory):
        a.alloc(a.wanted, line(78, "evaluate"))
    return a


PLANTED = {"leak": leaking, "clean": clean, "fragmentation": fragmented, "pool-isolation": isolated, "limit": limited}


@pytest.fixture(scope="module", params=[(name, seed) for name in PLANTED for seed in (1, 2)], ids=lambda param: f"{param[0]}-{param[1]}")
def planted(request, tmp_path_factory):
    name, seed = request.param
    a = PLANTED[name](random.Random(f"{name} {seed}"))
    a.name, a.path = name, a.write(tmp_path_factory.mktemp("planted") / f"{name}.pickle.gz")
    return a


def ask(path, *options):
    return list(csv.DictReader(io.StringIO(support.output("memory-snapshot", "--no-cache", "--format", "csv", path, *options).decode())))


def test_figures(planted):
    row, = ask(planted.path)
    assert int(row["peak_allocated_bytes"]) == planted.peak
    assert int(row["peak_reserved_bytes"]) == planted.reserved_peak
    assert int(row["allocated_bytes"]) == planted.allocated
    assert int(row["reserved_bytes"]) == planted.reserved
    assert sum(int(one["bytes"]) for one in ask(planted.path, "--view", "peak")) == planted.peak
    assert sum(int(one["bytes"]) for one in ask(planted.path, "--view", "map", "--at", "end")) == planted.reserved


def test_leaks(planted):
    found = ask(planted.path, "--view", "leaks")
    assert bool(found) == (planted.name == "leak"), found
    if found:
        row, = found
        per_step = sum(block.requested for block in planted.kept) / len(planted.kept)
        assert row["key"] == "train.py:88 log"
        assert abs(float(row["bytes_per_step"]) - per_step) <= 0.05 * per_step


@pytest.mark.parametrize("same_line", [True, False])
def test_a_leak_whose_stacks_change(tmp_path, same_line):
    """From the eighth step on a profiler is around the call: no stack piles up in four steps of five, the line in all. Two lines that keep
    blocks in half of the steps each are two caches that fill once."""
    a = Allocator()

    def in_step(step):
        frames = line(88 if same_line or step < 8 else 89, "log")
        a.alloc(2 * MIB, frames if step < 8 else [*frames, *line(12, "profiled")])
    train(a, random.Random(1), 16, in_step)
    found = ask(a.write(tmp_path / "changed.pickle.gz"), "--view", "leaks")
    assert [(row["key"], float(row["bytes_per_step"])) for row in found] == ([("train.py:88 log", 2 * MIB)] if same_line else [])


def test_out_of_memory(planted):
    found = ask(planted.path, "--view", "oom")
    failed = planted.name in ("pool-isolation", "limit")
    assert [row["class"] for row in found] == [planted.name] * failed
    if failed:
        row, = found
        assert (int(row["requested_bytes"]), int(row["driver_free_bytes"])) == (planted.wanted, planted.driver_free())
        assert (int(row["allocated_bytes"]), int(row["reserved_bytes"])) == (planted.allocated, planted.reserved)
        assert row["key"] == ("train.py:77 evaluate" if planted.name == "pool-isolation" else "train.py:78 evaluate")
    if planted.name == "pool-isolation":
        pools = {row["pool"]: int(row["idle_bytes"]) for row in ask(planted.path, "--view", "pools")}
        assert pools["(1, 0)"] == 600 * MIB == int(row["other_pools_free_bytes"])


@pytest.mark.parametrize("seed", range(4))
def test_every_failed_request(tmp_path, seed):
    """A small device on which requests fail again and again, among blocks of all sizes and a graph's pool: what was free at each, and its longest run."""
    rng, a, live, want = random.Random(seed), Allocator(capacity=160 * MIB), [], []
    for _ in range(1500):
        if live and rng.random() < 0.45:
            a.free(live.pop(rng.randrange(len(live))))
            continue
        size = rng.choice((rng.randrange(1, 4000), rng.randrange(100_000, MIB), rng.randrange(MIB, 9 * MIB), rng.randrange(10 * MIB, 60 * MIB)))
        try:
            live.append(a.alloc(size, line(30), pool=(1, 0) if len(a.events) < 40 else (0, 0)))
        except OutOfMemory:
            free = [(segment.small, segment.pool, block.size) for segment in a.segments for block in segment.blocks if not block.used]
            own = [length for small, pool, length in free if (small, pool) == (-(-size // 512) * 512 <= MIB, (0, 0))]
            want.append((size, sum(own), max(own, default=0), sum(length for _, _, length in free) - sum(own)))
    names = ("requested_bytes", "free_bytes", "largest_free_bytes", "other_pools_free_bytes")
    got = [tuple(int(row[name]) for name in names) for row in ask(a.write(tmp_path / "full.pickle.gz"), "--view", "oom")]
    assert len(want) > 50 and got == want


def test_fragmentation(planted):
    row, = ask(planted.path, "--view", "fragmentation")
    free = [block.size for segment in planted.segments for block in segment.blocks if not block.used]
    assert (int(row["free_bytes"]), int(row["largest_free_bytes"])) == (sum(free), max(free))
    assert row["finding"] == ("fragmented" if planted.name == "fragmentation" else "not fragmented"), row


def test_findings(planted):
    """Rules that found nothing are not listed."""
    text = support.output("advice", "--no-cache", "--format", "csv", planted.path).decode()
    states = {row["rule"]: row["state"] for row in csv.DictReader(io.StringIO(text))}
    wanted = {"memory-leak": planted.name == "leak", "fragmentation": planted.name == "fragmentation",
              "out-of-memory": planted.name in ("pool-isolation", "limit")}
    assert {rule: states.get(rule) == "found" for rule in wanted} == wanted


@pytest.mark.parametrize("n_steps", (17, 18, 19, 20))
def test_a_cache_that_is_emptied_is_no_leak(tmp_path, n_steps):
    """Wherever in its period the recording ends."""
    for period in (3, 5, 8):
        path = clean(random.Random(n_steps), n_steps, period).write(tmp_path / f"{period}.pickle.gz")
        assert ask(path, "--view", "leaks") == [], period


def test_a_ring_that_lost_its_start(planted, tmp_path):
    """Of the second half of the events: reserved bytes and the end are exact, and the last events have what they had."""
    n = len(planted.events) // 2
    path = planted.write(tmp_path / "half.pickle.gz", n_last=n)
    row, = ask(path)
    assert int(row["allocated_bytes"]) == planted.allocated and int(row["reserved_bytes"]) == planted.reserved
    whole = ask(planted.path, "--view", "events")[-n:]
    half = ask(path, "--view", "events")
    assert [one["reserved_bytes"] for one in half] == [one["reserved_bytes"] for one in whole]
    assert [one["allocated_bytes"] for one in half][-n // 4:] == [one["allocated_bytes"] for one in whole][-n // 4:]
