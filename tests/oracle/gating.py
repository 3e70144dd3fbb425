"""Pairs of simulated recordings for the gate: of the same program, with one kernel slower, with one rank slower.

Recordings of one program differ: every kernel by a factor of its own for the whole recording (0.3 % deviation), and every call
(1 %). So a pair without a change is two recordings of the same job, not one job twice.
"""
import random

import judging
import runs
import simulate

KERNELS = {"sm90_gemm_forward": 400.0, "sm90_gemm_backward": 800.0, "layer_norm": 60.0, "flash_fwd": 150.0}
KINDS = ("same", "kernel", "rank")


def recording(n, seed, slow=None, steps=6):
    """slow: (kernel or None, rank or None, factor)"""
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
                for _ in range(8):
                    kernel("sm90_gemm_forward")
                    kernel("flash_fwd")
                    kernel("layer_norm")
                last = None
                for _ in range(8):
                    last = rank.collective("0", list(range(n)), 250 * (1 + 0.01 * draws.gauss(0, 1)),
                                           after=[kernel("sm90_gemm_backward")])
                rank.wait(last)
                rank.sync()
    return job.solve()


def trial(kind, seed, folder):
    """Sentences about what is wrong; none: right."""
    rng = random.Random(f"gate {kind} {seed}")
    n = rng.choice([2, 4, 8])
    slow = {"same": None, "kernel": (rng.choice(list(KERNELS)), None, 1.05), "rank": (None, rng.randrange(n), 1.1)}[kind]
    recording(n, rng.randrange(1 << 30)).write(folder / "base")
    recording(n, rng.randrange(1 << 30), slow).write(folder / "test")
    rows = judging.ask("gate", "--base", folder / "base", "--test", folder / "test")
    slower = [row for row in rows if row["verdict"] == "slower"]
    said = [(row["metric"], row["name"], row["rank"]) for row in slower]
    if kind == "same":
        return [f"false alarm: {said}"] if slower else []
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
