"""`what-if` on traces: jobs whose step times with other durations are known.

A job is made of ranks that compute, reduce together and wait for that, step by step; what it would take otherwise follows from the recipe.
"""
import csv
import io
import json

import pytest

import support

MS = 1000.0


def rank_trace(rank, n_ranks, computes, transfer_ms=1.0, sleeps=None):
    """computes: milliseconds of compute of all ranks; a step lasts from its launch to the end of the reduction, and 7 ms of host before it."""
    events, now, correlation = [], 0.0, 0

    def event(cat, name, start, dur, tid, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 1 if tid < 100 else 0, "tid": tid,
                       "ts": start * MS, "dur": dur * MS, "args": args})

    def launch(name, call_at, start, dur):
        nonlocal correlation
        correlation += 1
        event("cuda_runtime", "cudaLaunchKernel", call_at, 0.01, 1, correlation=correlation)
        event("kernel", name, start, dur, 107, correlation=correlation, device=0, stream=7)

    for step in range(5):
        own = list(computes[rank]) if isinstance(computes[rank], (list, tuple)) else [("gemm", computes[rank])]
        longest = max(sum(d for _, d in c) if isinstance(c, (list, tuple)) else c for c in computes)
        begin = now + 7
        at = begin + 0.02
        for i, (name, dur) in enumerate(own):
            launch(name, begin + 0.001 * i, at, dur)
            at += dur
        end = begin + 0.02 + longest + transfer_ms
        launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + 0.01, at, end - at)
        event("cuda_runtime", "cudaDeviceSynchronize", begin + 0.05, end - begin - 0.05 + 0.01, 1)
        event("user_annotation", f"ProfilerStep#{step + 1}", now, end + 0.02 - now, 1)
        now = end + 0.02
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": n_ranks}, "traceEvents": events}


def make(folder, computes, **more):
    for rank in range(len(computes)):
        (folder / f"rank{rank}.json").write_text(json.dumps(rank_trace(rank, len(computes), computes, **more)))
    return folder


def answers(path, *args):
    done = support.run("what-if", str(path), *args, "--format", "csv")
    assert done.returncode == 0, done.stderr
    return {row["question"]: row for row in csv.DictReader(io.StringIO(done.stdout.decode()))}


def ms(row, column="new_mean_step_time_ns"):
    return float(row[column]) / 1e6


def test_an_all_reduce_that_equalises_phases_hides_nobody(tmp_path):
    """Compute of 92, 292, 92, 92 ms: everybody is 293 ms in compute and reduction, and rank 1 costs 200 of them."""
    got = answers(make(tmp_path, [92, 292, 92, 92]))
    assert ms(got["no stragglers"], "mean_step_time_ns") == pytest.approx(300.04, rel=0.001)
    assert ms(got["no stragglers"]) == pytest.approx(100.04, rel=0.01)
    assert ms(got["rank 1 like its peers"]) == pytest.approx(100.04, rel=0.01)
    assert [name for name in got if name.endswith("like its peers")] == ["rank 1 like its peers"]
    assert ms(got["communication instant"]) == pytest.approx(299.04, rel=0.001)
    assert all(float(row["replay_error"]) < 1e-6 for row in got.values())


def test_two_causes_hide_each_other(tmp_path):
    """With 92, 292, 192, 92 ms rank 1 alone saves what it has above rank 2."""
    got = answers(make(tmp_path, [92, 292, 192, 92]))
    assert ms(got["no stragglers"]) == pytest.approx(100.04, rel=0.01)
    assert ms(got["rank 1 like its peers"]) == pytest.approx(200.04, rel=0.01)
    assert ms(got["rank 2 like its peers"]) == pytest.approx(300.04, rel=0.001)


def test_rules_of_your_own(tmp_path):
    """Rank 1 has 200 ms of extra work; without it, or with half of it, the others wait less."""
    make(tmp_path, [92, [("gemm", 92), ("extra", 200)], 92, 92])
    assert ms(answers(tmp_path, "--scale", "extra=0")["extra=0"]) == pytest.approx(100.04, rel=0.01)
    assert ms(answers(tmp_path, "--scale", "extra=0.5")["extra=0.5"]) == pytest.approx(200.04, rel=0.01)
    assert ms(answers(tmp_path, "--scale", "extra=1")["extra=1"]) == pytest.approx(300.04, rel=1e-6)
    assert ms(answers(tmp_path, "--scale", "nothing=0")["nothing=0"]) == pytest.approx(300.04, rel=1e-6)
    assert ms(answers(tmp_path, "--scale", "extra=2")["extra=2"]) == pytest.approx(500.04, rel=0.01)
    done = support.run("what-if", str(tmp_path), "--scale", "extra")
    assert done.returncode == 2 and b"is not a rule" in done.stderr


def test_one_rank_has_no_peers(tmp_path):
    got = answers(make(tmp_path, [100]))
    assert not [name for name in got if "straggler" in name or "peers" in name]
    assert ms(got["20 % faster: gemm"]) == pytest.approx(ms(got["20 % faster: gemm"], "mean_step_time_ns") - 20, rel=0.01)


@pytest.mark.parametrize("name", ["ddp", "straggler"])
def test_recorded_jobs_are_replayed(name):
    """The replay of what was recorded is off by 3.3 % at most, and ideal steps are not longer than recorded ones."""
    for row in answers(support.ROOT / "examples" / name).values():
        assert float(row["replay_error"]) <= 0.033
        assert float(row["saved_ns"]) >= -0.033 * float(row["mean_step_time_ns"])
        assert float(row["low_ns"]) <= float(row["new_mean_step_time_ns"]) <= float(row["high_ns"])


def test_parts_merge_to_the_same_answers(tmp_path):
    make(tmp_path, [92, 292, 92, 92])
    files = sorted(tmp_path.glob("rank*.json"))
    for i, file in enumerate(files):
        assert support.run("part", "what-if", str(file), "-o", str(tmp_path / f"{i}.part")).returncode == 0
    merged = support.run("merge", "what-if", *(str(tmp_path / f"{i}.part") for i in range(4)), "--format", "csv")
    assert merged.stdout == support.run("what-if", *map(str, files), "--format", "csv").stdout


def slowdown(path):
    done = support.run("what-if", str(path), "--view", "slowdown", "--format", "csv")
    assert done.returncode == 0, done.stderr
    return {(row["metric"], row["key"]): float(row["value"]) for row in csv.DictReader(io.StringIO(done.stdout.decode()))}


def test_slowdown_is_that_of_one_rank(tmp_path):
    """With 292 instead of 92 ms on rank 1 a step takes 300.04 instead of 100.04 ms: S is their ratio, and all of it is rank 1's."""
    got = slowdown(make(tmp_path, [92, 292, 92, 92]))
    assert got["T", ""] == pytest.approx(0.30004, rel=0.001)
    assert got["T_id", ""] == pytest.approx(0.10004, rel=0.01)
    assert got["S", ""] == pytest.approx(got["S_w", "1"])
    assert got["S_w", "1"] == pytest.approx(3.0, rel=0.01)
    assert [got["S_w", str(rank)] for rank in (0, 2, 3)] == [1, 1, 1]
    assert ("worst", "1") in got
    assert got["M_W", ""] == pytest.approx(1) and got["A_W", ""] == pytest.approx(1)
    assert got["T_rem", "M_W"] == pytest.approx(got["T_id", ""])


def test_slowdown_that_two_share(tmp_path):
    """292 and 192 ms: ideal for the worst rank leaves the other: (300 - 200) / (300 - 100) of it goes away, all comes back with the worst alone."""
    got = slowdown(make(tmp_path, [92, 292, 192, 92, 92]))
    assert got["M_W", ""] == pytest.approx(0.5, rel=0.01)
    assert got["A_W", ""] == pytest.approx(1, rel=0.01)
    assert got["S_w", "2"] == pytest.approx(2.0, rel=0.01)


def test_ranks_that_are_even_have_no_slowdown_to_share(tmp_path):
    got = slowdown(make(tmp_path, [92, 92, 92]))
    assert got["S", ""] == pytest.approx(1) and ("M_W", "") not in got
