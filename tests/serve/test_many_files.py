# SPDX-License-Identifier: Apache-2.0
"""Runs of many files: what the page opens with is found out while they are read, and kept in the cache."""
import json

import pytest
import support

from client import serving

N_MANY = 48


def trace(rank, n_steps=3):
    """Steps with an operator, its kernel and an all-reduce; rank 1 computes longer, and comes last."""
    events, late = [], 40 if rank == 1 else 0
    for step in range(n_steps):
        at = 1000 * step
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": at, "dur": 400, "pid": 1, "tid": 1},
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": at + 10, "dur": 50, "pid": 1, "tid": 1, "args": {"External id": 10 * step + 1}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 20, "dur": 10, "pid": 1, "tid": 1, "args": {"correlation": 10 * step + 1}},
            {"ph": "X", "cat": "kernel", "name": "gemm", "ts": at + 40, "dur": 100 + late, "pid": 0, "tid": 7,
             "args": {"device": 0, "stream": 7, "correlation": 10 * step + 1}},
            {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32", "ts": at + 150 + late, "dur": 150 - late, "pid": 0, "tid": 7,
             "args": {"device": 0, "stream": 7, "correlation": 10 * step + 2, "Collective name": "allreduce", "Process Group Name": "0",
                      "In msg nelems": 1024, "dtype": "Float", "Group size": N_MANY, "Process Group Ranks": f"[0, {N_MANY - 1}]"}},
        ]
    return json.dumps({"distributedInfo": {"rank": rank, "world_size": N_MANY, "backend": "nccl"}, "traceEvents": events})


def write(folder, n):
    folder.mkdir()
    for rank in range(n):
        (folder / f"rank{rank:03d}.json").write_text(trace(rank))


def is_ready(runs):
    return bool(runs["runs"]) and all(run["state"] == "ready" for run in runs["runs"])


def kept(cache, name):
    """Parts of a question that the cache keeps, by what they begin with."""
    return [path for path in cache.glob("*.part-*") if name in path.read_bytes()[:64]]


@pytest.mark.parametrize("is_read_before", [False, True])
def test_the_verdict_needs_no_events(tmp_path, is_read_before):
    run, cache = tmp_path / "run", tmp_path / "cache"
    write(run, N_MANY)
    if is_read_before:
        support.output("info", run, "--cache-dir", cache)
        assert not kept(cache, b"findings")
    with serving(run, "--cache-dir", cache) as server:
        server.until(is_ready)
        assert len(kept(cache, b"findings")) == len(kept(cache, b"advice")) == len(kept(cache, b"Communication calls")) == N_MANY
        traces = list(cache.glob("*.trace.htc"))
        assert len(traces) == N_MANY
        for path in traces:  # who opens one reads its source anew, and replaces it
            path.write_bytes(b"")
        for verb in ("summary", "advice"):
            table = server.ask(f"/api/v1/runs/{server.runs()['runs'][0]['id']}/table/{verb}").json()
            expected = json.loads(support.output(verb, run, "--no-cache", "--format", "json"))
            assert table["rows"] == expected["rows"] and len(table["rows"]) > 0
        assert all(path.stat().st_size == 0 for path in traces)


def test_few_files_wait_for_who_asks(tmp_path):
    run, cache = tmp_path / "run", tmp_path / "cache"
    write(run, 4)
    with serving(run, "--cache-dir", cache) as server:
        server.until(is_ready)
        assert not kept(cache, b"findings") and not kept(cache, b"advice")
