# SPDX-License-Identifier: Apache-2.0
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


def test_long_runs_of_one_level_are_told_to_be_that(tmp_path):
    """Twelve runs of 1,200 steps and three ranks, all noise: at a level of 5 % one may tell a change, three are impossible (p < 0.02)."""
    rng, n_told = random.Random(6), 0
    for k in range(12):
        (tmp_path / str(k)).mkdir()
        for rank in range(3):
            write(tmp_path / str(k), [100] * 1200, [noisy(rng, 50, 0.02) for _ in range(1200)], rank, 3)
        n_told += any(row["change"] == "level" for row in changes(tmp_path / str(k)))
    assert n_told <= 2


def part_of(trace, to):
    assert support.run("part", "step-changes", str(trace), "-o", str(to)).returncode == 0
    return to


def test_a_part_has_some_bytes_a_step(tmp_path):
    """However many kernels there are, a step of a rank is a row of numbers: a run of weeks fits. Parts of ranks that come one by one
    merge to the answer over all of them."""
    rng = random.Random(7)
    for rank in range(3):
        (tmp_path / str(rank)).mkdir()
        write(tmp_path / str(rank), [noisy(rng, 100 if i < 500 else 106) for i in range(1000)], rank=rank, n_ranks=3)
        file = tmp_path / str(rank) / f"rank{rank}.json"
        small = part_of(file, tmp_path / f"{rank}.part").stat().st_size
        assert small < 200 * 1000
        document = json.loads(file.read_text())
        document["traceEvents"] += [{"ph": "X", "cat": "kernel", "name": f"kernel_{i % 50}", "pid": 0, "tid": 8, "ts": 100 * i, "dur": 1,
                                     "args": {"device": 0, "stream": 8}} for i in range(5000)]
        (tmp_path / "many.json").write_text(json.dumps(document))
        assert part_of(tmp_path / "many.json", tmp_path / "many.part").stat().st_size < small + 1000
        shown = support.run("merge", "step-changes", *(str(tmp_path / f"{k}.part") for k in range(rank + 1)), "--format", "csv")
        whole = support.run("step-changes", *(str(tmp_path / str(k) / f"rank{k}.json") for k in range(rank + 1)), "--format", "csv")
        assert shown.returncode == 0 and shown.stdout == whole.stdout and b"level,step time," in whole.stdout


def test_a_folder_that_grows_is_read_bit_by_bit(tmp_path):
    """Ranks that come one by one: each look reads the new file, and takes the others from the cache as they are."""
    rng, folder, cache = random.Random(8), tmp_path / "run", tmp_path / "cache"
    folder.mkdir()
    known = {}
    for rank in range(3):
        write(folder, [noisy(rng, 100) for _ in range(30)], rank=rank, n_ranks=3)
        for verb in ("step-changes", "summary"):
            done = support.run(verb, str(folder), "--cache-dir", str(cache), "--format", "text")
            assert done.returncode == 0, done.stderr
            now = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in cache.rglob("*.trace.htc")}
            assert {path: now.get(path) for path in known} == known  # nothing was read again
            assert len(now) == rank + 1
            known = now
            if verb == "step-changes":
                assert f"29 steps of {rank + 1} rank{'s' if rank else ''}\n".encode() in done.stdout
