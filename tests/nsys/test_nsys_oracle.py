# SPDX-License-Identifier: Apache-2.0
"""Exports of a made-up job of two GPUs, and what verbs say of them against sums over the rows that were written."""
import csv
import io
import random
from collections import defaultdict

import pytest

import support
from exports import Export, gtid
from test_nsys import table, union

MODULES = ["aten::linear", "aten::addmm", "aten::mul", "flash::attention", "aten::copy_"]
KERNELS = ["gemm_128x64<float>(float *)", "elementwise<4>(int)", "void softmax(float const *)"]
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
COPIES = {1: "Memcpy HtoD (Pageable -> Device)", 2: "Memcpy DtoH (Device -> Pageable)"}


class Rank:
    """What was written of one process."""

    def __init__(self):
        self.kernels, self.copies, self.ops, self.by_op = [], [], defaultdict(int), defaultdict(int)


def operators(chance, e, rank, pid, start, end, depth=0, around=None):
    """Operators that follow each other in [start, end), some with others inside; launches in the innermost. Returns them as (launch time, op). One whose only
    child has its name would be one with it (op_tree.h), so none has."""
    at, launches = start, []
    while at + 400 < end and len(launches) < 40:
        stop = min(end, at + chance.randint(300, 3_000))
        name = chance.choice([m for m in MODULES if m != around])
        rank.ops[name] += 1
        suffix = chance.choice(("", ", seq = 5", ", op_id = 9, sizes = [[2, 3]]"))
        e.nvtx(at, stop, name + suffix, pid=pid, tid=pid)
        inner = operators(chance, e, rank, pid, at + 50, stop - 150, depth + 1, name) if depth < 2 and chance.random() < .5 else []
        launches += inner
        # behind what is inside, so the innermost range around it is this one
        if stop - 100 > at and chance.random() < .8:
            launches.append((stop - 100, name))
        at = stop + chance.randint(10, 200)
    return launches


def make(seed, path):
    chance = random.Random(seed)
    e, ranks = Export(), {}
    e.row("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_750_000_000_000_000_000)
    for device, pid in enumerate(chance.sample(range(100, 60_000), 2)):
        rank = ranks[device] = Rank()
        free = defaultdict(int)
        for correlation, (launch, op) in enumerate(operators(chance, e, rank, pid, 1_000, 200_000), 1):
            e.call(launch, launch + 20, correlation, pid=pid, tid=pid)
            stream = chance.choice((7, 7, 13))
            start = max(free[stream], launch + chance.randint(30, 500))
            end = free[stream] = start + chance.randint(1, 900)
            if chance.random() < .15:
                kind = chance.choice((1, 2))
                e.row("CUPTI_ACTIVITY_KIND_MEMCPY", start=start, end=end, deviceId=device, streamId=stream, correlationId=correlation,
                      globalPid=gtid(pid, 0), bytes=4096, copyKind=kind, srcKind=2 * (kind == 2), dstKind=2 * (kind == 1))
                rank.copies.append((start, end, COPIES[kind]))
            else:
                name = NCCL if stream == 13 else chance.choice(KERNELS)
                e.kernel(start, end, correlation, name=name, pid=pid, device=device, stream=stream)
                rank.kernels.append((start, end, name))
            rank.by_op[op] += end - start
    e.nvtx(5, 9, "loader", pid=99, tid=99)
    e.write(path)
    return ranks


@pytest.mark.parametrize("seed", range(4))
def test_two_gpus(tmp_path, seed):
    path = tmp_path / "job.sqlite"
    ranks = make(seed, path)
    breakdown = {int(r["rank"]): r for r in table("temporal-breakdown", path)}
    assert set(breakdown) == set(ranks) == {0, 1}
    for number, rank in ranks.items():
        every = rank.kernels + rank.copies
        compute = [k[:2] for k in rank.kernels if k[2] != NCCL]
        communication = [k[:2] for k in rank.kernels if k[2] == NCCL]
        span = max(k[1] for k in every) - min(k[0] for k in every)
        row = breakdown[number]
        assert int(row["span_ns"]) == span and int(row["n_work"]) == len(every)
        assert int(row["idle_ns"]) == span - union([k[:2] for k in every])
        assert int(row["compute_ns"]) == union(compute)
        assert int(row["exposed_ns"]) == union(compute + communication) - union(compute)
        kernels = {r["name"]: (int(r["calls"]), int(r["total_ns"])) for r in table("kernels", path, "--rank", str(number))}
        want = defaultdict(lambda: [0, 0])
        for start, end, name in rank.kernels:
            want[name][0] += 1
            want[name][1] += end - start
        assert kernels == {name: tuple(v) for name, v in want.items()}
        ops = {r["name"]: (int(r["calls"]), int(r["device_self_ns"])) for r in table("operators", path, "--rank", str(number))}
        assert ops == {name: (n, rank.by_op[name]) for name, n in rank.ops.items()}
    summary = support.output("summary", path).decode()
    assert "2 ranks" in summary and ("aten::" in summary or "flash::" in summary)
    assert not [r for r in table("health", path) if r["severity"] in ("data loss", "repair", "severe")], support.output("health", path).decode()
    info = [(r["rank"], r["value"]) for r in table("info", path) if r["item"] == "path"]
    assert [r for r, _ in info] == ["0", "1"] and all("job.sqlite#" in p for _, p in info)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_cut_short(tmp_path, seed):
    """What is left is some of what was written, and health says which tables end early."""
    path = tmp_path / "job.sqlite"
    ranks = make(seed, path)
    whole, cut = path.read_bytes(), tmp_path / "cut.sqlite"
    written = {k for rank in ranks.values() for k in rank.kernels}
    for pages in range(2, len(whole) // 4096, 7):
        cut.write_bytes(whole[:4096 * pages])
        done = support.run("events", cut, "--only", "gpu", "--columns", "ts_ns,dur_ns,name,cat", "--format", "csv", "--no-cache")
        if done.returncode == 3:
            assert b"unusable database" in done.stderr, done.stderr
            continue
        got = {(int(r["ts_ns"]), int(r["ts_ns"]) + int(r["dur_ns"]), r["name"])
               for r in csv.DictReader(io.StringIO(done.stdout.decode())) if r["cat"] == "kernel"}
        assert got <= written
        if got != written:
            assert [r for r in table("health", cut) if r["check"] == "truncated"]
