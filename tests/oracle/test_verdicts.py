"""Simulated runs with known truth (runs.py): who is slow, by how much, why, and what a step is bound by."""
import pytest

import judging
import runs

# bench/verdicts runs all kinds with many seeds
KINDS = ["one_slow", "buckets", "slow_node", "alternating", "every_other", "slow_host", "tensor_parallel", "pipeline_healthy",
         "moe", "fsdp", "missing_rank", "cut_rank", "cut_slow", "clocks_off", "healthy", "jittery", "compute_bound",
         "tiny_kernels", "two_threads", "fp32"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_of_each_kind(kind, tmp_path):
    assert judging.judge(runs.make(kind, 0), tmp_path) == []
