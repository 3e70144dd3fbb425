"""Simulated runs with known truth (runs.py, more_runs.py): who is slow, by how much, why, and what a step is bound by."""
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


@pytest.mark.parametrize("kind", gating.KINDS)
def test_the_gate(kind, tmp_path):
    """60 pairs in make nightly: no false alarm, and what is slower by its name in 95 % of them."""
    trials = 60 if support.LONG else 3
    wrong = {seed: found for seed in range(trials) if (found := gating.trial(kind, seed, tmp_path / str(seed)))}
    assert len(wrong) <= (0 if kind in ("same", "longer") else trials // 20), wrong
