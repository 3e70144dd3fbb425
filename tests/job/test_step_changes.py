"""`step-changes`: runs whose steps change in a known way."""
import csv
import io
import json
import random

import support


def write(folder, times_ms, work_ms=None, rank=0, n_ranks=1):
    """A step lasts as long as its list says; its kernel runs for the time of work, from the start on."""
    events, now = [], 0.0
    for i, time in enumerate(times_ms):
        work = work_ms[i] if work_ms else time * 0.5
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i + 1}", "pid": 1, "tid": 1, "ts": now * 1e3, "dur": time * 1e3},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": now * 1e3 + 10, "dur": 5,
             "args": {"correlation": i + 1}},
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": now * 1e3 + 20, "dur": work * 1e3,
             "args": {"correlation": i + 1, "device": 0, "stream": 7}}]
        now += time
    (folder / f"rank{rank}.json").write_text(json.dumps(
        {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": n_ranks}, "traceEvents": events}))


def changes(folder):
    done = support.run("step-changes", str(folder), "--format", "csv")
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def noisy(rng, value, share=0.005):
    return value * (1 + rng.gauss(0, share))


def test_steps_that_do_not_change(tmp_path):
    rng = random.Random(1)
    write(tmp_path, [noisy(rng, 100) for _ in range(60)])
    assert changes(tmp_path) == []


def test_every_tenth_step(tmp_path):
    """A checkpoint of 50 ms in steps 10, 20, ...: 100 ms and 150 ms"""
    rng = random.Random(2)
    write(tmp_path, [noisy(rng, 150 if i % 10 == 0 else 100) for i in range(1, 62)])
    rows = changes(tmp_path)
    assert [(row["change"], row["every"], row["step"]) for row in rows] == [("period", "10", "10")]
    assert 0.48 < float(rows[0]["change_share"]) < 0.52


def test_a_new_level(tmp_path):
    rng = random.Random(3)
    write(tmp_path, [noisy(rng, 100 if i < 40 else 106) for i in range(1, 81)])
    rows = changes(tmp_path)
    assert [(row["change"], row["what"], row["rank"]) for row in rows] == [("level", "step time", "")]
    assert abs(int(rows[0]["step"]) - 40) <= 1
    assert 0.05 < float(rows[0]["change_share"]) < 0.07


def test_a_slow_drift(tmp_path):
    """0.05 % a step over 20 steps, too little for a level at any of them"""
    write(tmp_path, [100 + 0.15 * i for i in range(20)])
    rows = changes(tmp_path)
    assert rows and all(float(row["change_share"]) > 0 for row in rows)


def test_a_rank_that_gets_slower_while_all_wait(tmp_path):
    """All steps take 200 ms; the work of rank 2 grows from 100 to 120 ms in step 30, and that of all ranks in step 45: only the first is a rank's."""
    rng = random.Random(4)
    for rank in range(4):
        work = [noisy(rng, 100 + (20 if rank == 2 and i >= 30 else 0) + (30 if i >= 45 else 0)) for i in range(1, 61)]
        write(tmp_path, [200] * 60, work, rank, 4)
    rows = changes(tmp_path)
    assert [(row["what"], row["rank"]) for row in rows] == [("GPU activity", "2")]
    assert abs(int(rows[0]["step"]) - 30) <= 1


def test_few_steps_say_nothing(tmp_path):
    write(tmp_path, [100] * 5)
    assert changes(tmp_path) == []
