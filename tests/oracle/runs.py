# SPDX-License-Identifier: Apache-2.0
"""Runs whose truth is known: jobs for simulate.py, what is wrong with them, and what each verb should say.

A maker takes a seeded generator and returns a Run. Truth is not copied from the program: what a slow set costs is the
difference to the same job, same noise, with the set as fast as the rest.

    truth["slow"]     ranks that keep the others waiting; empty: nobody does; None: it cannot be known
    truth["cost_us"]  what a step would lose without them; truth["at_most_us"]: where no table can tell it, what it is at most
    truth["cause"]    the kernel or annotation that they have more of; None: nothing that has a name
    truth["bound"]    what the step is bound by: subjects of the summary's finding, any of them
    truth["advice"]   rules that must fire;  truth["not_advice"] rules that must not
"""
import random
from dataclasses import dataclass, field

import simulate


@dataclass
class Run:
    job: simulate.Job
    truth: dict
    write: dict = field(default_factory=dict)   # more arguments of Job.write


class Noise:
    """Multiplies by 1 + a normal deviate; the same sequence for the same seed, whatever it multiplies."""

    def __init__(self, seed, share):
        self.random, self.share = random.Random(seed), share

    def __call__(self, value):
        return value * max(0.5, 1 + self.share * self.random.gauss(0, 1))


def even(rank, step):
    return 1.0


def slower(ranks, factor, when=lambda step: True):
    return lambda rank, step: factor if rank in ranks and when(step) else 1.0


def ddp(n, speed, seed, jitter=0.01, steps=8, layers=10, forward=400.0, transfer=250.0, part="both", sync=True, job=None,
        prepare=None, tail=None):
    """Buckets that overlap the backward pass: speed(rank, step) multiplies the GEMMs of forward, backward or both."""
    job = job or simulate.Job(n)
    everyone = list(range(n))
    for rank in job.ranks:
        noise = Noise(seed * 1009 + rank.number, jitter)
        for step in range(1, steps + 1):
            factor = speed(rank.number, step)
            fast, slow = (factor if part in ("both", "forward") else 1.0), (factor if part in ("both", "backward") else 1.0)
            with rank.step(step):
                if prepare:
                    prepare(rank, step)
                with rank.span("forward"):
                    for layer in range(layers):
                        rank.kernel("sm90_gemm_forward", noise(forward) * fast, op="aten::mm")
                        rank.kernel("layer_norm", noise(20.0), op="aten::layer_norm")
                last = None
                with rank.span("backward"):
                    for layer in range(layers):
                        done = rank.kernel("sm90_gemm_backward", noise(2 * forward) * slow, op="aten::mm")
                        last = rank.collective("0", everyone, transfer, after=[done])
                rank.wait(last)
                with rank.span("optimizer"):
                    rank.kernel("adam", noise(100.0), op="aten::_fused_adamw_")
                if sync:
                    rank.sync()
                if tail:
                    tail(rank, step)
    return job.solve()


def cost(make, speed):
    """The job, and what a step is longer by than with everybody at the same speed."""
    job = make(speed)
    return job, job.step_time() - make(even).step_time()


# ---- ranks ----

def healthy(rng):
    n, jitter = rng.choice([2, 4, 8, 16]), rng.choice([0.0, 0.005, 0.01, 0.02])
    job = ddp(n, even, rng.randrange(1 << 30), jitter, steps=rng.choice([4, 6, 8]), sync=rng.random() < 0.7)
    return Run(job, {"slow": [], "bound": ["compute"]})


def jittery(rng):
    """Every rank is slower now and then, each as often as the others, and inputs have different lengths."""
    n, seed = rng.choice([2, 4, 8, 16]), rng.randrange(1 << 30)
    share, chance, by = rng.uniform(0.02, 0.08), rng.uniform(0, 0.08), rng.uniform(1.05, 1.4)
    draws = random.Random(seed)
    table = {(rank, step): (1 + share * draws.random()) * (by if draws.random() < chance else 1.0)
             for rank in range(n) for step in range(1, 11)}
    job = ddp(n, lambda rank, step: table[rank, step], seed, 0.02, steps=10)
    return Run(job, {"slow": []})


def one_slow(rng):
    n, by = rng.choice([2, 4, 8]), rng.uniform(1.12, 1.5)
    slow, seed = rng.randrange(n), rng.randrange(1 << 30)
    part = rng.choice(["forward", "backward", "both"])
    job, us = cost(lambda speed: ddp(n, speed, seed, part=part), slower({slow}, by))
    cause = {"forward": ["sm90_gemm_forward"], "backward": ["sm90_gemm_backward"]}.get(
        part, ["sm90_gemm_backward", "sm90_gemm_forward"])
    return Run(job, {"slow": [slow], "cost_us": us, "cause": cause})


def buckets(rng):
    """One rank's forward takes longer; ten buckets hide behind the same wait."""
    n, seed, by = rng.choice([2, 4, 8]), rng.randrange(1 << 30), rng.uniform(1.25, 2.0)
    slow, transfer = rng.randrange(n), rng.uniform(300, 760)
    job, us = cost(lambda speed: ddp(n, speed, seed, part="forward", transfer=transfer), slower({slow}, by))
    return Run(job, {"slow": [slow], "cost_us": us, "cause": ["sm90_gemm_forward"]})


def slow_node(rng):
    """Ranks of one node are slower: k of n in a row."""
    n, k = rng.choice([(8, 4), (8, 3), (8, 2), (4, 2), (16, 8), (16, 4)])
    first = rng.choice([0, n - k])
    slow, by, seed = set(range(first, first + k)), rng.uniform(1.12, 1.4), rng.randrange(1 << 30)
    job, us = cost(lambda speed: ddp(n, speed, seed), slower(slow, by))
    return Run(job, {"slow": sorted(slow), "cost_us": us, "cause": ["sm90_gemm_backward", "sm90_gemm_forward"]})


def alternating(rng):
    """Two ranks take turns."""
    n, seed, by = rng.choice([4, 8]), rng.randrange(1 << 30), rng.uniform(1.2, 1.5)
    a, b = rng.sample(range(n), 2)
    speed = lambda rank, step: by if rank == (a if step % 2 else b) else 1.0
    job, us = cost(lambda speed: ddp(n, speed, seed), speed)
    return Run(job, {"slow": sorted([a, b]), "cost_us": us, "late_steps": 4})


def every_other(rng):
    """One rank is slow in every other step."""
    n, seed, by = rng.choice([4, 8]), rng.randrange(1 << 30), rng.uniform(1.2, 1.5)
    a = rng.randrange(n)
    job, us = cost(lambda speed: ddp(n, speed, seed), slower({a}, by, lambda step: step % 2 == 0))
    return Run(job, {"slow": [a], "cost_us": us, "late_steps": 4})


def slow_host(rng):
    """One rank's host prepares its data for longer; nothing of it is GPU work."""
    n, seed, more = rng.choice([2, 4, 8]), rng.randrange(1 << 30), rng.uniform(1500, 4000)
    a = rng.randrange(n)

    def make(speed):
        def prepare(rank, step):
            with rank.span("tokenise"):
                rank.host(200 + (more if speed(rank.number, step) > 1 else 0), "aten::to")
        return ddp(n, even, seed, prepare=prepare)
    job, us = cost(make, slower({a}, 2.0))
    return Run(job, {"slow": [a], "cost_us": us, "cause": ["tokenise"]})


def tensor_parallel(rng, victim=True):
    """TP pairs x DP pairs: a rank is slow, its TP partner waits for it, and the other DP replica for both."""
    seed, by, tp, dp = rng.randrange(1 << 30), rng.uniform(1.15, 1.5), 2, rng.choice([2, 4])
    n = tp * dp
    slow = rng.randrange(n)

    def make(speed):
        job = simulate.Job(n)
        for rank in job.ranks:
            noise = Noise(seed * 1009 + rank.number, 0.01)
            replica, shard = divmod(rank.number, tp)
            pair = [replica * tp + i for i in range(tp)]
            across = [i * tp + shard for i in range(dp)]
            for step in range(1, 9):
                factor = speed(rank.number, step)
                with rank.step(step):
                    for layer in range(8):
                        done = rank.kernel("sm90_gemm_tp", noise(300) * factor, op="aten::mm")
                        rank.collective(f"tp{replica}", pair, 40, stream=7)
                    done = rank.kernel("sm90_gemm_head", noise(200) * factor, op="aten::mm")
                    last = rank.collective(f"dp{shard}", across, 300, after=[done])
                    rank.wait(last)
                    rank.kernel("adam", noise(100))
                    rank.sync()
        return job.solve()
    job, us = cost(make, slower({slow}, by))
    return Run(job, {"slow": [slow], "cost_us": us, "cause": ["sm90_gemm_tp"]})


def pipeline(rng, n=4, seed=None, norm=False):
    """1F1B: stages of the same length; the last one starts its backward passes first. norm: gradients are clipped by their norm over
    all stages, which is a collective of all."""
    seed = rng.randrange(1 << 30) if seed is None else seed
    batches = 8

    def make(speed):
        job = simulate.Job(n)
        for rank in job.ranks:
            stage, noise = rank.number, Noise(seed * 1009 + rank.number, 0.01)

            def forward(step, rank=rank, stage=stage, noise=noise):
                got = rank.collective("p", [stage - 1, stage], 20, stream=30, kind="recv", peers=(stage - 1, stage)) if stage else None
                if got:
                    rank.wait(got)
                done = rank.kernel("sm90_gemm_forward", noise(300) * speed(stage, step), op="aten::mm")
                if stage < n - 1:
                    rank.collective("p", [stage, stage + 1], 20, stream=31, after=[done], kind="send", peers=(stage, stage + 1))

            def backward(step, rank=rank, stage=stage, noise=noise):
                if stage < n - 1:
                    rank.wait(rank.collective("p", [stage, stage + 1], 20, stream=32, kind="recv", peers=(stage + 1, stage)))
                done = rank.kernel("sm90_gemm_backward", noise(600) * speed(stage, step), op="aten::mm")
                if stage:
                    rank.collective("p", [stage - 1, stage], 20, stream=33, after=[done], kind="send", peers=(stage, stage - 1))

            for step in range(1, 7):
                with rank.step(step):
                    warm = n - stage - 1
                    for _ in range(warm):
                        forward(step)
                    for _ in range(batches - warm):
                        forward(step)
                        backward(step)
                    for _ in range(warm):
                        backward(step)
                    if norm:
                        rank.collective("0", list(range(n)), 15, stream=7, elements=1)
                    rank.kernel("adam", noise(50))
                    rank.sync()
        return job.solve()
    return make, seed


def pipeline_healthy(rng):
    make, _ = pipeline(rng, n=rng.choice([2, 4]))
    return Run(make(even), {"slow": []})


def moe(rng):
    """Tokens are routed unevenly, another rank has most of them in each layer and step: nobody is slow."""
    n, seed = rng.choice([4, 8]), rng.randrange(1 << 30)
    draws = random.Random(seed)
    job = simulate.Job(n)
    loads = {}
    for rank in job.ranks:
        noise = Noise(seed * 1009 + rank.number, 0.01)
        for step in range(1, 9):
            with rank.step(step):
                for layer in range(6):
                    rank.kernel("sm90_gemm_attention", noise(200), op="aten::mm")
                    rank.collective("ep", list(range(n)), 60, stream=7, kind="all_to_all")
                    load = loads.setdefault((step, layer, rank.number), draws.uniform(0.6, 1.6))
                    rank.kernel("sm90_gemm_experts", noise(300) * load, op="aten::bmm")
                    rank.collective("ep", list(range(n)), 60, stream=7, kind="all_to_all")
                rank.kernel("adam", noise(100))
                rank.sync()
    return Run(job.solve(), {"slow": []})


def fsdp(rng):
    """The next layer's weights are gathered while this one computes; one rank may be slow."""
    n, seed = rng.choice([4, 8]), rng.randrange(1 << 30)
    slow, by = rng.randrange(n), rng.uniform(1.2, 1.5)
    gather = rng.uniform(100, 250)

    def make(speed):
        job = simulate.Job(n)
        for rank in job.ranks:
            noise = Noise(seed * 1009 + rank.number, 0.01)
            for step in range(1, 9):
                factor = speed(rank.number, step)
                with rank.step(step):
                    gathered = rank.collective("0", list(range(n)), gather, kind="allgather")
                    for layer in range(8):
                        here = gathered
                        if layer < 7:
                            gathered = rank.collective("0", list(range(n)), gather, kind="allgather")
                        rank.wait(here)
                        rank.kernel("sm90_gemm_forward", noise(300) * factor, op="aten::mm")
                    last = None
                    for layer in range(8):
                        done = rank.kernel("sm90_gemm_backward", noise(600) * factor, op="aten::mm")
                        last = rank.collective("0", list(range(n)), gather, stream=21, after=[done], kind="reduce_scatter")
                    rank.wait(last)
                    rank.kernel("adam", noise(100))
                    rank.sync()
        return job.solve()
    job, us = cost(make, slower({slow}, by))
    return Run(job, {"slow": [slow], "cost_us": us, "cause": ["sm90_gemm_backward", "sm90_gemm_forward"]})


def missing_rank(rng):
    """The file of a rank is not there, so it may be the one that all wait for."""
    n, seed = rng.choice([4, 8]), rng.randrange(1 << 30)
    slow = rng.randrange(n)
    job = ddp(n, slower({slow}, 1.4), seed)
    return Run(job, {"slow": None, "missing": [slow]}, {"skip": [slow]})


def cut_rank(rng):
    """The recording of a healthy rank ends early."""
    n, seed = rng.choice([2, 4, 8]), rng.randrange(1 << 30)
    job = ddp(n, even, seed)
    short = rng.randrange(n)

    def cut(events):
        last = max(event["ts"] for event in events)
        first = min(event["ts"] for event in events)
        end = first + rng_share * (last - first)
        return [event for event in events if event["ts"] + event["dur"] <= end]
    rng_share = rng.uniform(0.4, 0.8)
    return Run(job, {"slow": []}, {"cut": {short: cut}})


def cut_slow(rng):
    """A rank is slow, and the recording of another ends early."""
    n, seed, by = rng.choice([4, 8]), rng.randrange(1 << 30), rng.uniform(1.2, 1.4)
    slow, short = rng.sample(range(n), 2)
    job, us = cost(lambda speed: ddp(n, speed, seed), slower({slow}, by))
    run = cut_rank(rng)
    return Run(job, {"slow": [slow], "cost_us": us, "cause": ["sm90_gemm_backward", "sm90_gemm_forward"]},
               {"cut": {short: next(iter(run.write["cut"].values()))}})


def clocks_off(rng):
    """Every rank's clock is off by milliseconds; nobody is slow."""
    n, seed = rng.choice([2, 4, 8]), rng.randrange(1 << 30)
    job = ddp(n, even, seed)
    return Run(job, {"slow": []}, {"offset": {rank: rng.uniform(-5e4, 5e4) for rank in range(n)}})


# ---- one rank ----

def alone(build, truth, steps=8, rng=None):
    job = simulate.Job(1)
    rank, noise = job.ranks[0], Noise(rng.randrange(1 << 30), 0.01)
    for step in range(1, steps + 1):
        build(rank, step, noise)
    return Run(job.solve(), truth)


def compute_bound(rng):
    def build(rank, step, noise):
        with rank.step(step):
            for _ in range(20):
                rank.kernel("sm90_gemm", noise(400), op="aten::mm")
            rank.sync()
    return alone(build, {"bound": ["compute"], "not_advice": ["launch", "tiny-kernels"]}, rng=rng)


def tiny_kernels(rng):
    """Launches take longer than the kernels."""
    launch, length = rng.uniform(9, 14), rng.uniform(3, 9)

    def build(rank, step, noise):
        with rank.step(step):
            for _ in range(300):
                rank.kernel("elementwise", noise(length), launch=noise(launch), op="aten::add")
            rank.sync()
    return alone(build, {"bound": ["CPU", "CPU, mostly launching kernels", "kernel launch"]}, rng=rng)


def queue_before(rng):
    """The device is still busy with what was launched before the recording began."""
    queued = rng.uniform(100_000, 500_000)

    def build(rank, step, noise):
        if step == 1:
            rank.streams[7] = rank._add(simulate.Node(queued))
        with rank.step(step):
            for _ in range(20):
                rank.kernel("sm90_gemm", noise(400), op="aten::mm")
        if step == 8:
            rank.sync()
    return alone(build, {"bound": ["compute"], "saves_most_us": 10_000, "not_advice": ["launch", "tiny-kernels", "slow-step", "sync"]},
                 rng=rng)


def sleeping(rng):
    """The host sleeps in nothing that is recorded."""
    sleep = rng.uniform(6000, 12000)

    def build(rank, step, noise):
        with rank.step(step):
            for _ in range(5):
                rank.kernel("sm90_gemm", noise(400), op="aten::mm")
            rank.host(sleep)
            for _ in range(5):
                rank.kernel("sm90_gemm", noise(400), op="aten::mm")
            rank.sync()
    return alone(build, {"bound": ["CPU"], "no_words": ["CUDA graphs", "torch.compile", "larger batches"]}, rng=rng)


def checkpoint(rng):
    """torch.save, or a garbage collection, at the end of one step."""
    name = rng.choice(["torch.save", "gc.collect"])
    stall = rng.uniform(20_000, 60_000)
    at = rng.randrange(3, 7)

    def build(rank, step, noise):
        with rank.step(step):
            for _ in range(20):
                rank.kernel("sm90_gemm", noise(400), op="aten::mm")
            rank.sync()
            if step == at:
                with rank.span(name):
                    rank.host(stall, "aten::copy_")
    return alone(build, {"bound": ["compute"], "slow_steps": [at], "stall_us": stall}, rng=rng)


def memcpy_bound(rng):
    """Transfers from pinned memory take nearly all of the step."""
    length = rng.uniform(3000, 6000)

    def build(rank, step, noise):
        with rank.step(step):
            for _ in range(3):
                rank.memcpy(noise(length), int(length * 25e3))
                rank.kernel("sm90_gemm", noise(30), op="aten::mm")
            rank.sync()
    return alone(build, {"bound": ["memcpy and memset"], "advice": ["memcpy"], "no_words": ["larger batches"], "not_advice": ["pageable"]}, rng=rng)


def requests(rng):
    """A server waits for requests."""
    def build(rank, step, noise):
        rank.host(noise(rng_gap))
        with rank.step(step):
            for _ in range(10):
                rank.kernel("sm90_gemm", noise(200), op="aten::mm")
            rank.sync()
    rng_gap = rng.uniform(8000, 20000)
    return alone(build, {"bound": ["CPU between steps"], "no_words": ["torch.compile", "CUDA graphs", "larger batches"]}, rng=rng)


def two_threads(rng):
    """Steps of two threads overlap by a few microseconds; the GPU is busy."""
    job = simulate.Job(1)
    rank, noise = job.ranks[0], Noise(rng.randrange(1 << 30), 0.01)
    before = None
    for step in range(1, 9):
        rank.thread = 1 + step % 2
        if before:
            rank.host(0, after=[before])
        with rank.step(step):
            for _ in range(20):
                rank.kernel("sm90_gemm", noise(400), op="aten::mm")
            before = rank.sync()
            rank.host(13)
    return Run(job.solve(), {"bound": ["compute"]})


def fp32(rng):
    """GEMMs in FP32 on the CUDA cores of a device that could do TF32."""
    name = rng.choice(["sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
                       "cutlass_80_simt_sgemm_128x64_8x5_nt_align1", "ampere_sgemm_128x64_tn", "volta_sgemm_64x32_sliced1x4_nn",
                       "sm90_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas"])

    def build(rank, step, noise):
        with rank.step(step):
            for _ in range(20):
                rank.kernel(name, noise(400), op="aten::mm")
            rank.sync()
    return alone(build, {"bound": ["compute"], "advice": ["tensor-cores"]}, rng=rng)


def many_ranks(rng):
    """17 to 64 ranks: nobody, one, a node of eight or half of them slower."""
    n, seed = rng.choice([17, 24, 32, 48, 64]), rng.randrange(1 << 30)
    slow = set(rng.choice([[], [rng.randrange(n)], list(range(8, 16)), list(range(n // 2))]))
    job, us = cost(lambda speed: ddp(n, speed, seed, steps=6), slower(slow, rng.uniform(1.12, 1.4)))
    truth = {"slow": sorted(slow)}
    if slow:
        truth.update(cost_us=us, cause=["sm90_gemm_backward", "sm90_gemm_forward"])
    return Run(job, truth)


MAKERS = {maker.__name__: maker for maker in (
    one_slow, buckets, slow_node, alternating, every_other, slow_host, tensor_parallel, pipeline_healthy, moe, fsdp,
    missing_rank, cut_rank, cut_slow, clocks_off, healthy, jittery, compute_bound, tiny_kernels, queue_before, sleeping,
    checkpoint, memcpy_bound, requests, two_threads, fp32, many_ranks)}


def make(name, seed):
    """Of this file or of more_runs.py."""
    import more_runs  # stands on this file
    return {**MAKERS, **more_runs.MAKERS}[name](random.Random(f"{name} {seed}"))
