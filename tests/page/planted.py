# SPDX-License-Identifier: Apache-2.0
"""Runs of four ranks with a truth in them: in each step every rank computes, then all reduce; a rank that computes for longer is waited for.

    rank r   [ gemm ][ relu ][ all-reduce: waits for the last rank ....][ transfer ]

The host launches everything at the start of a step from known lines and then waits in cudaEventSynchronize. Times of kernels vary by some
microseconds, the same in every call."""
import gzip
import json
import random

RANKS, STEPS = 4, 8
GEMM, RELU, REDUCE = "sm90_xmma_gemm_bf16bf16_f32", "void at::native::vectorized_elementwise_kernel<4, relu>", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
LINES = {GEMM: "train.py(65): forward", RELU: "train.py(71): forward", REDUCE: "train.py(90): step"}
GEMM_US, RELU_US, TRANSFER_US = 20000.0, 5000.0, 4000.0


def event(cat, name, ts, dur, tid=1, pid=100, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": round(ts, 3), "dur": round(dur, 3), "args": args}


class Rank:
    """The events of one rank."""

    def __init__(self, rank):
        self.rank, self.events, self.next_id = rank, [], 1

    def launch(self, at, name, start, dur, stream):
        """A line, its operator and call, and what runs on the device."""
        self.next_id += 1
        ids = {"External id": self.next_id}
        self.events += [
            event("python_function", LINES[name], at, 90, **{"Python id": self.next_id * 10, "Python parent id": None}),
            event("cpu_op", f"aten::{name.split('<')[0].split('_')[-1][:8] or 'op'}", at + 5, 80, **ids),
            event("cuda_runtime", "cudaLaunchKernel", at + 20, 8, correlation=self.next_id, **ids),
            event("kernel", name, start, dur, tid=stream, pid=self.rank, device=self.rank, stream=stream, correlation=self.next_id, **ids)]

    def document(self):
        return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": self.rank, "world_size": RANKS},
                "deviceProperties": [{"id": self.rank, "name": "NVIDIA H200"}], "traceEvents": self.events}


def ranks_of(slower_us, seed=1, host_us=0.0):
    """slower_us: by rank, how much longer each of its gemms takes; host_us: of rank 0, Python before the first launch of a step."""
    noise, ranks, at = random.Random(seed), [Rank(rank) for rank in range(RANKS)], 1000.0
    for step in range(STEPS):
        computed = []
        for one in ranks:
            begin = at + 400 + (host_us if one.rank == 0 else 0)
            gemm, relu = GEMM_US + slower_us.get(one.rank, 0) + noise.uniform(-40, 40), RELU_US + noise.uniform(-10, 10)
            one.launch(at + 100 + (host_us if one.rank == 0 else 0), GEMM, begin, gemm, 7)
            one.launch(at + 200 + (host_us if one.rank == 0 else 0), RELU, begin + gemm + 2, relu, 7)
            computed.append(begin + gemm + relu + 5)
        end = max(computed) + TRANSFER_US + noise.uniform(-10, 10)
        for one, own in zip(ranks, computed):
            begin = at + (host_us if one.rank == 0 else 0)
            one.launch(begin + 300, REDUCE, own, end - own, 20)
            one.events.append(event("cuda_runtime", "cudaEventSynchronize", begin + 420, end - begin - 400))
            one.events.append(event("user_annotation", f"ProfilerStep#{step + 1}", at, end - at + 100))
        at = end + 200
    return [one.document() for one in ranks]


def write(folder, slower_us, seed=1, host_us=0.0):
    """The run as files of a folder."""
    folder.mkdir(parents=True)
    for rank, document in enumerate(ranks_of(slower_us, seed, host_us)):
        (folder / f"rank{rank}.json.gz").write_bytes(gzip.compress(json.dumps(document).encode(), 1))
    return folder
