# SPDX-License-Identifier: Apache-2.0
"""Pairs of simulated recordings for the gate: of the same program, with one kernel slower, with one rank slower, with slower links, with a
CPU that does more in every step, and of the same program with more steps recorded.

Recordings of one program differ: every kernel by a factor of its own for the whole recording (0.3 % deviation), and every call
(1 %). So a pair without a change is two recordings of the same job, not one job twice.
"""
import random

import judging
import runs
import simulate

KERNELS = {"sm90_gemm_forward": 400.0, "sm90_gemm_backward": 800.0, "layer_norm": 60.0, "flash_fwd": 150.0}
KINDS = ("same", "kernel", "rank", "links", "host", "longer")


def recording(n, seed, slow=None, steps=6, links=1.0, host=0.0):
    """slow: (kernel or None, rank or None, factor); links: factor of transfers; host: microseconds of the CPU before each step's launches"""
    draws = random.Random(seed)
    typical = {name: us * (1 + 0.003 * draws.gauss(0, 1)) for name, us in KERNELS.items()}
    job = simulate.Job(n)
    for rank in job.ranks:
        noise = runs.Noise(seed * 1009 + rank.number, 0.01)

        def kernel(name, rank=rank, noise=noise):
            slower = slow and slow[0] in (None, name) and slow[1] in (None, rank.number)
            return rank.kernel(name, noise(typical[name]) * (slow[2] if slower else 1.0), op="aten::mm")
        for step in range(1, steps + 1):
            with rank.step(step):
                rank.host(200 + host, "aten::prepare")
                for _ in range(8):
                    kernel("sm90_gemm_forward")
                    kernel("flash_fwd")
                    kernel("layer_norm")
                last = None
                for _ in range(8):
                    last = rank.collective("0", list(range(n)), 250 * links * (1 + 0.01 * draws.gauss(0, 1)),
                                           after=[kernel("sm90_gemm_backward")])
                rank.wait(last)
                rank.sync()
    return job.solve()


def judge_elsewhere(kind, said):
    """No kernel is slower, and communication only where links are. One run on a side does not show what CPUs vary by: the step is unclear."""
    metrics = {metric for metric, _, _ in said}
    wrong = [f"a kernel is slower: {said}"] if "kernel" in metrics else []
    wrong += [f"communication: {said}"] if ("comm" in metrics) != (kind == "links") else []
    return wrong


def trial(kind, seed, folder):
    """Sentences about what is wrong; none: right."""
    rng = random.Random(f"gate {kind} {seed}")
    n = rng.choice([2, 4, 8])
    change = {"kernel": {"slow": (rng.choice(list(KERNELS)), None, 1.05)}, "rank": {"slow": (None, rng.randrange(n), 1.1)},
              "links": {"links": 6.0}, "host": {"host": 1500.0}, "longer": {"steps": 10}}.get(kind, {})
    slow = change.get("slow")
    recording(n, rng.randrange(1 << 30)).write(folder / "base")
    recording(n, rng.randrange(1 << 30), **change).write(folder / "test")
    rows = judging.ask("gate", "--base", folder / "base", "--test", folder / "test", whole=False)
    slower = [row for row in rows if row["verdict"] == "slower"]
    said = [(row["metric"], row["name"], row["rank"]) for row in slower]
    if kind in ("same", "longer"):
        return [f"false alarm: {said}"] if slower else []
    if kind in ("links", "host"):
        return judge_elsewhere(kind, said)
    kernels = {(row["name"], row["rank"]) for row in slower if row["metric"] == "kernel"}
    wrong = [f"{row['metric']} is slower" for row in slower if row["metric"] == "comm"]
    if kind == "kernel":
        if kernels != {(slow[0], "")}:
            wrong.append(f"{slow[0]} is slower, not {sorted(kernels)}")
        return wrong
    ranks = {rank for _, rank in kernels if rank}
    if ranks != {str(slow[1])}:
        wrong.append(f"rank {slow[1]} is slower, not {sorted(kernels)}")
    return wrong
