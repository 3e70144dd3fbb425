# SPDX-License-Identifier: Apache-2.0
"""More runs whose truth is known, as runs.py has them: jobs in three dimensions, pauses of single ranks, what hides behind other work."""
import random

import simulate
from runs import Noise, Run, alone, cost, ddp, even, pipeline, slower


# ---- ranks ----

def pipeline_slow(rng):
    """One stage of a pipeline takes longer; the others wait in their receives. What it costs is at most what it takes longer: it has
    bubbles of its own to hide in, how large only a replay tells."""
    n, by = rng.choice([2, 4, 8]), rng.uniform(1.25, 1.6)
    slow = rng.randrange(n)
    make, _ = pipeline(rng, n=n, norm=True)
    job, us = cost(make, slower({slow}, by))
    return Run(job, {"slow": [slow], "cost_us": us, "at_most_us": 8 * 900 * (by - 1), "cause": ["sm90_gemm_backward", "sm90_gemm_forward"]})


def pipeline_many(rng):
    """Eight stages, nobody is slow: bubbles are no lateness."""
    make, _ = pipeline(rng, n=8, norm=rng.random() < 0.5)
    return Run(make(even), {"slow": []})


def hot_expert(rng):
    """The router prefers one expert: its rank has more tokens in every layer and step."""
    n, seed, more = rng.choice([4, 8, 16]), rng.randrange(1 << 30), rng.uniform(1.5, 2.0)
    hot = rng.randrange(n)

    def make(speed):
        job, draws = simulate.Job(n), random.Random(seed)
        loads = {(step, layer, rank): draws.uniform(0.95, 1.05) for step in range(1, 9) for layer in range(6) for rank in range(n)}
        for rank in job.ranks:
            noise = Noise(seed * 1009 + rank.number, 0.01)
            for step in range(1, 9):
                with rank.step(step):
                    for layer in range(6):
                        rank.kernel("sm90_gemm_attention", noise(200), op="aten::mm")
                        rank.collective("ep", list(range(n)), 60, stream=7, kind="all_to_all")
                        load = loads[step, layer, rank.number] * speed(rank.number, step)
                        rank.kernel("sm90_gemm_experts", noise(300) * load, op="aten::bmm")
                        rank.collective("ep", list(range(n)), 60, stream=7, kind="all_to_all")
                    rank.kernel("adam", noise(100))
                    rank.sync()
        return job.solve()
    job, us = cost(make, slower({hot}, more))
    return Run(job, {"slow": [hot], "cost_us": us, "cause": ["sm90_gemm_experts"]})


def three_dimensions(rng):
    """TP pairs in two pipeline stages, two replicas of that: 8 ranks; one is slow, its pair, stage and replica wait for it."""
    seed, by, slow = rng.randrange(1 << 30), rng.uniform(1.25, 1.5), rng.choice([None, *range(8)])

    def make(speed):
        job = simulate.Job(8)
        for rank in job.ranks:
            noise, factor = Noise(seed * 1009 + rank.number, 0.01), lambda step, r=rank.number: speed(r, step)
            replica, stage, shard = rank.number // 4, rank.number // 2 % 2, rank.number % 2
            pair = [rank.number - shard, rank.number - shard + 1]
            other = rank.number + (2 if stage == 0 else -2)
            across = [stage * 2 + shard, 4 + stage * 2 + shard]

            def layers(name, us, step, rank=rank, noise=noise, factor=factor, pair=pair):
                for _ in range(4):
                    done = rank.kernel(name, noise(us) * factor(step), op="aten::mm")
                    rank.collective(f"tp{pair[0]}", pair, 30, stream=7)
                return done

            def move(kind, stream, step, forward, rank=rank, other=other, stage=stage, after=()):
                low, high = min(rank.number, other), max(rank.number, other)
                peers = (low, high) if forward else (high, low)
                return rank.collective(f"pp{low}", [low, high], 20, stream=stream, kind=kind, peers=peers, after=after)
            for step in range(1, 8):
                with rank.step(step):
                    last = None
                    for _ in range(4):
                        if stage:
                            rank.wait(move("recv", 30, step, True))
                            layers("sm90_gemm_forward", 200, step)
                            done = layers("sm90_gemm_backward", 400, step)
                            move("send", 33, step, False, after=[done])
                        else:
                            done = layers("sm90_gemm_forward", 200, step)
                            move("send", 31, step, True, after=[done])
                            rank.wait(move("recv", 32, step, False))
                            layers("sm90_gemm_backward", 400, step)
                    last = rank.collective(f"dp{across[0]}", across, 400, stream=20, after=[rank.streams[7]])
                    rank.wait(last)
                    rank.kernel("adam", noise(100))
                    rank.sync()
        return job.solve()
    job, us = cost(make, slower({slow}, by))
    truth = {"slow": [] if slow is None else [slow]}
    if slow is not None:
        truth.update(cost_us=us, cause=["sm90_gemm_backward", "sm90_gemm_forward"])
    return Run(job, truth)


def hybrid_shards(rng):
    """Weights are sharded in a node and replicated over two: the ranks of one node are slower."""
    n, node, seed, by = 8, 4, rng.randrange(1 << 30), rng.uniform(1.15, 1.4)
    slow = set(rng.choice([range(4), range(4, 8), []]))

    def make(speed):
        job = simulate.Job(n, hosts=lambda rank: f"node{rank // node}")
        for rank in job.ranks:
            noise, first = Noise(seed * 1009 + rank.number, 0.01), rank.number // node * node
            shard, replica = list(range(first, first + node)), [rank.number % node, rank.number % node + node]
            for step in range(1, 9):
                factor = speed(rank.number, step)
                with rank.step(step):
                    gathered = rank.collective(f"shard{first}", shard, 120, kind="allgather")
                    for layer in range(6):
                        here = gathered
                        if layer < 5:
                            gathered = rank.collective(f"shard{first}", shard, 120, kind="allgather")
                        rank.wait(here)
                        rank.kernel("sm90_gemm_forward", noise(300) * factor, op="aten::mm")
                    last = None
                    for layer in range(6):
                        done = rank.kernel("sm90_gemm_backward", noise(600) * factor, op="aten::mm")
                        reduced = rank.collective(f"shard{first}", shard, 120, stream=21, after=[done], kind="reduce_scatter")
                        last = rank.collective(f"replica{rank.number % node}", replica, 150, stream=22, after=[reduced])
                    rank.wait(last)
                    rank.kernel("adam", noise(100))
                    rank.sync()
        return job.solve()
    job, us = cost(make, slower(slow, by))
    truth = {"slow": sorted(slow)}
    if slow:
        truth.update(cost_us=us, cause=["sm90_gemm_backward", "sm90_gemm_forward"])
    return Run(job, truth)


def pauses(rng):
    """In every step another rank collects garbage: nobody is late in most steps."""
    n, seed = rng.choice([8, 16]), rng.randrange(1 << 30)
    turn = random.Random(seed).sample(range(n), 8)
    stall = rng.uniform(2000, 6000)

    def prepare(rank, step):
        if turn[step - 1] == rank.number:
            with rank.span("gc.collect"):
                rank.host(stall)
    return Run(ddp(n, even, seed, prepare=prepare), {"slow": []})


def checkpoint_of_one(rng):
    """Rank 0 writes a checkpoint at the end of one step; the others wait in the next one."""
    n, seed, at, stall = rng.choice([2, 4, 8]), rng.randrange(1 << 30), rng.randrange(3, 7), rng.uniform(30_000, 80_000)

    def tail(rank, step):
        if rank.number == 0 and step == at:
            with rank.span("torch.save"):
                rank.host(stall, "aten::copy_")
    return Run(ddp(n, even, seed, tail=tail), {"slow": [], "bound": ["compute"], "slow_steps": [at], "only_slow_steps": [at, at + 1]})


def every_fourth(rng):
    """The data loader of all ranks is empty in every fourth step."""
    n, seed, stall = rng.choice([2, 4, 8]), rng.randrange(1 << 30), rng.uniform(15_000, 40_000)

    def prepare(rank, step):
        with rank.span("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            rank.host(stall if step % 4 == 0 else 100)
    return Run(ddp(n, even, seed, prepare=prepare), {"slow": [], "slow_steps": [4, 8], "only_slow_steps": [4, 8]})


def throttling(rng):
    """A GPU gets hot: its kernels take longer from step to step."""
    n, seed, most = rng.choice([4, 8]), rng.randrange(1 << 30), rng.uniform(0.4, 0.6)
    hot = rng.randrange(n)
    speed = lambda rank, step: 1 + most * step / 8 if rank == hot else 1.0
    job, us = cost(lambda speed: ddp(n, speed, seed), speed)
    # that is of steps 2 to 8, which have 5 eighths of the slowdown; all have 4.5
    return Run(job, {"slow": [hot], "cost_us": us * 4.5 / 5, "cause": ["sm90_gemm_backward", "sm90_gemm_forward"]})


def slow_copies(rng):
    """One rank copies its batch from a slower link, in the stream of its kernels."""
    n, seed, more = rng.choice([2, 4, 8]), rng.randrange(1 << 30), rng.uniform(2000, 4000)
    slow = rng.randrange(n)

    def make(speed):
        def prepare(rank, step):
            us = 400 + (more if speed(rank.number, step) > 1 else 0)
            rank.memcpy(us, 10_000_000)
        return ddp(n, even, seed, prepare=prepare)
    job, us = cost(make, slower({slow}, 2.0))
    return Run(job, {"slow": [slow], "cost_us": us, "cause": ["Memcpy HtoD (Pinned -> Device)"]})


def accumulation(rng):
    """Three micro batches without communication before the one with it."""
    n, seed = rng.choice([4, 8]), rng.randrange(1 << 30)
    slow, by = rng.choice([None, rng.randrange(n)]), rng.uniform(1.15, 1.4)

    def make(speed):
        job = simulate.Job(n)
        for rank in job.ranks:
            noise = Noise(seed * 1009 + rank.number, 0.01)
            for step in range(1, 9):
                factor = speed(rank.number, step)
                with rank.step(step):
                    last = None
                    for micro in range(4):
                        for _ in range(4):
                            rank.kernel("sm90_gemm_forward", noise(300) * factor, op="aten::mm")
                        for _ in range(4):
                            done = rank.kernel("sm90_gemm_backward", noise(600) * factor, op="aten::mm")
                            if micro == 3:
                                last = rank.collective("0", list(range(n)), 250, after=[done])
                    rank.wait(last)
                    rank.kernel("adam", noise(100))
                    rank.sync()
        return job.solve()
    job, us = cost(make, slower({slow}, by))
    truth = {"slow": [] if slow is None else [slow], "bound": ["compute", f"waiting for rank {slow}"]}
    if slow is not None:
        truth.update(cost_us=us, cause=["sm90_gemm_backward", "sm90_gemm_forward"])
    return Run(job, truth)


def bound_by_transfer(rng):
    """Communication that nothing hides takes most of the step, on all ranks alike."""
    n, seed = rng.choice([2, 4, 8]), rng.randrange(1 << 30)
    return Run(ddp(n, even, seed, forward=60.0, transfer=rng.uniform(1500, 3000)),
               {"slow": [], "bound": ["communication transfer", "communication"]})


def late_start(rng):
    """A rank comes to its first step later than the others, and then is as fast as they are."""
    n, seed, late = rng.choice([4, 8]), rng.randrange(1 << 30), rng.uniform(5_000, 60_000)
    a = rng.randrange(n)
    job = simulate.Job(n)
    job.ranks[a].host(late)
    return Run(ddp(n, even, seed, job=job), {"slow": []})


def links_differ(rng):
    """Every bucket takes another time to transfer; nobody is slow."""
    n, seed = rng.choice([4, 8]), rng.randrange(1 << 30)
    draws = random.Random(seed)
    job = simulate.Job(n)
    transfers = [[draws.uniform(100, 900) for _ in range(8)] for _ in range(9)]
    for rank in job.ranks:
        noise = Noise(seed * 1009 + rank.number, 0.01)
        for step in range(1, 9):
            with rank.step(step):
                last = None
                for layer in range(8):
                    rank.kernel("sm90_gemm_forward", noise(300), op="aten::mm")
                for layer in range(8):
                    done = rank.kernel("sm90_gemm_backward", noise(600), op="aten::mm")
                    last = rank.collective("0", list(range(n)), transfers[step][layer], after=[done])
                rank.wait(last)
                rank.kernel("adam", noise(100))
                rank.sync()
    return Run(job.solve(), {"slow": []})


# ---- one rank ----

def prefetch(rng):
    """The next batch is copied on a stream of its own while this one computes."""
    def build(rank, step, noise):
        with rank.step(step):
            rank.memcpy(noise(3000), 75_000_000, stream=14)
            for _ in range(20):
                rank.kernel("sm90_gemm", noise(400), op="aten::mm")
            rank.sync()
    return alone(build, {"bound": ["compute"], "not_advice": ["memcpy", "launch", "pageable"]}, rng=rng)


def saved_aside(rng):
    """Another thread writes checkpoints all the time; the GPU is busy."""
    def build(rank, step, noise):
        with rank.step(step):
            for _ in range(20):
                rank.kernel("sm90_gemm", noise(400), op="aten::mm")
            rank.sync()
        rank.thread = 2
        rank.host(noise(7500), "torch.save", "python_function")
        rank.thread = 1
    return alone(build, {"bound": ["compute"], "not_advice": ["launch", "tiny-kernels", "slow-step"]}, rng=rng)


def items(rng):
    """loss.item() behind every layer: the CPU waits for the GPU, then the GPU for the CPU."""
    host = rng.uniform(300, 600)

    def build(rank, step, noise):
        with rank.step(step):
            for _ in range(20):
                rank.kernel("sm90_gemm", noise(60), op="aten::mm")
                rank.sync("cudaStreamSynchronize")
                rank.host(noise(host), "aten::item")
    return alone(build, {"bound": ["CPU"]}, rng=rng)


def warm_up(rng):
    """The first step compiles for long."""
    def build(rank, step, noise):
        with rank.step(step):
            if step == 1:
                rank.host(400_000, "compile_fx")
            for _ in range(20):
                rank.kernel("sm90_gemm", noise(400), op="aten::mm")
            rank.sync()
    return alone(build, {"bound": ["compute"], "saves_most_us": 60_000}, rng=rng)


def bubbles(rng):
    """Two streams take turns, each waits for the other's event: the GPU is busy although each stream is idle half of the time."""
    def build(rank, step, noise):
        with rank.step(step):
            last = None
            for i in range(20):
                last = rank.kernel("sm90_gemm", noise(400), stream=7 + 10 * (i % 2), after=[last] if last else [], op="aten::mm")
            rank.sync()
    return alone(build, {"bound": ["compute"], "not_advice": ["launch", "tiny-kernels"]}, rng=rng)


MAKERS = {maker.__name__: maker for maker in (
    pipeline_slow, pipeline_many, hot_expert, three_dimensions, hybrid_shards, pauses, checkpoint_of_one, every_fourth, throttling,
    slow_copies, accumulation, bound_by_transfer, late_start, links_differ, prefetch, saved_aside, items, warm_up, bubbles)}
