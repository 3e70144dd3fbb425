# SPDX-License-Identifier: Apache-2.0
"""Simulated runs with known truth (runs.py, more_runs.py): who is slow, by how much, why, and what a step is bound by."""
import csv
import io
import json
import random
import statistics

import pytest

import gating
import judging
import runs
import support

pytestmark = pytest.mark.long

# bench/verdicts runs all kinds with many seeds
KINDS = ["one_slow", "buckets", "slow_node", "alternating", "every_other", "slow_host", "tensor_parallel", "pipeline_healthy",
         "moe", "fsdp", "missing_rank", "cut_rank", "cut_slow", "clocks_off", "healthy", "jittery", "compute_bound",
         "tiny_kernels", "queue_before", "sleeping", "checkpoint", "memcpy_bound", "requests", "two_threads", "fp32",
         "many_ranks", "pipeline_slow", "pipeline_many", "hot_expert", "three_dimensions", "hybrid_shards", "pauses", "checkpoint_of_one", "every_fourth",
         "throttling", "slow_copies", "accumulation", "bound_by_transfer", "late_start", "links_differ", "prefetch", "saved_aside",
         "items", "warm_up", "bubbles"]
# nobody is slow in these, or one rank is, and others are its victims
INNOCENT = ["healthy", "jittery", "pipeline_healthy", "moe", "cut_rank", "clocks_off", "tensor_parallel", "cut_slow",
            "pipeline_many", "three_dimensions", "pauses", "late_start", "links_differ", "accumulation"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_of_each_kind(kind, tmp_path):
    assert judging.judge(runs.make(kind, 0), tmp_path) == []


@pytest.mark.parametrize("kind", INNOCENT)
def test_nobody_is_accused(kind, tmp_path):
    """200 runs in make nightly."""
    for seed in range(1, 26 if support.LONG else 3):
        assert judging.judge(runs.make(kind, seed), tmp_path / str(seed)) == [], seed


def test_every_step_waits_for_another_rank(tmp_path):
    """Batches of different lengths: nobody is slow, and what each step waits for is told."""
    draws = random.Random(7)
    lengths = {(rank, step): draws.uniform(0.6, 1.6) for rank in range(8) for step in range(1, 9)}
    job = runs.ddp(8, lambda rank, step: lengths[rank, step], 7, steps=8, sync=True)
    job.write(tmp_path)
    found, = [row for row in judging.ask("summary", tmp_path) if row["topic"] == "slow rank"]
    assert found["state"] == "none" and found["reason"] == "spread" and "each step waits for another one" in found["finding"], found
    values = json.loads(found["values"])
    compute = {}
    for rank in range(8):
        for step in range(1, 9):
            compute[rank, step] = sum(int(row["dur_ns"]) for row in csv.DictReader(io.StringIO(support.output(
                "events", tmp_path, "--rank", str(rank), "--step", str(step), "--where", "kind == kernel and name !~ nccl", "--format", "csv").decode())))
    lost = [max(times) - statistics.median_low(times) for step in range(2, 9) for times in [[compute[rank, step] for rank in range(8)]]]
    assert values["lost"] == pytest.approx(statistics.mean(lost), rel=0.15), (values, lost)
    assert values["n_latest"] > 2


@pytest.mark.parametrize("kind", gating.KINDS)
def test_the_gate(kind, tmp_path):
    """60 pairs in make nightly: no false alarm, and what is slower by its name in 95 % of them."""
    trials = 60 if support.LONG else 3
    wrong = {seed: found for seed in range(trials) if (found := gating.trial(kind, seed, tmp_path / str(seed)))}
    assert len(wrong) <= (0 if kind in ("same", "longer") else trials // 20), wrong
