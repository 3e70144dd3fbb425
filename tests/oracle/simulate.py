# SPDX-License-Identifier: Apache-2.0
"""A small simulator of training jobs: what hosts launch, what GPUs run, who waits for whom; written as traces.

A job is a graph of nodes. Those of a host follow each other; a kernel starts when its launch has arrived, the kernel before
it on its stream is done and everything it waits for is; a collective ends on all its ranks at the same time: its transfer
after the last of them has started. So what a step would take without a slow rank is not estimated but simulated again.

    job = Job(2)
    for rank in job.ranks:
        with rank.step(1):
            rank.kernel("gemm", 300)
            rank.collective("0", [0, 1], 100)
            rank.sync()
    job.solve()
    job.write(folder)

Times are microseconds. Everything is deterministic: whoever wants noise draws it from a seeded generator.
"""
import contextlib
import gzip
import json

LATENCY = 3.0   # from the end of a launch to the earliest start of its kernel
LAUNCH = 5.0    # a launch on the host
EPOCH = 1_000_000_000.0   # a double has nanoseconds there


class Node:
    __slots__ = ("after", "lag", "dur", "start", "end", "joint", "n_open", "next", "event", "since")

    def __init__(self, dur, after=(), lag=0.0, event=None):
        self.after = [node for node in after if node is not None]
        self.lag, self.dur, self.event = lag, dur, event
        self.start = self.end = self.since = None   # since: the node after which its event begins, which waits in it
        self.joint, self.next = None, []


class Joint:
    """The members of one collective: all end transfer after the last start; one that is not there is nobody's."""

    def __init__(self, transfer):
        self.members, self.transfer, self.n_started, self.last = [], transfer, 0, 0.0


class Rank:
    def __init__(self, job, number):
        self.job, self.number = job, number
        self.thread = 1
        self.last = {}      # by thread: the host's last node
        self.streams = {}   # by stream: its last node
        self.spans = []     # (category, name, thread, first node or None, last node)
        self.nodes = []
        self.correlation = 0
        self.calls = {}     # by group: number of its collectives
        self.steps = []     # (number, node before, node that ends it)

    def _add(self, node):
        self.nodes.append(node)
        return node

    def host(self, dur, name=None, cat="cpu_op", after=()):
        """So much on the host; without a name nothing is recorded of it."""
        event = name and {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": self.thread}
        node = Node(dur, [self.last.get(self.thread), *after], event=event)
        self.last[self.thread] = node
        return self._add(node)

    @contextlib.contextmanager
    def span(self, name, cat="user_annotation"):
        before, thread = self.last.get(self.thread), self.thread
        yield
        self.spans.append((cat, name, thread, before, self.last.get(thread)))

    @contextlib.contextmanager
    def step(self, number):
        before, thread = self.last.get(self.thread), self.thread
        yield
        self.spans.append(("user_annotation", f"ProfilerStep#{number}", thread, before, self.last.get(thread)))
        self.steps.append((number, before, self.last.get(thread)))

    def _launch(self, name, cost, after=()):
        self.correlation += 1
        node = self.host(cost, name, "cuda_runtime", after)
        node.event["args"] = {"correlation": self.correlation}
        return node

    def kernel(self, name, dur, stream=7, after=(), launch=LAUNCH, cat="kernel", args=None, op=None, call="cudaLaunchKernel"):
        before = self.last.get(self.thread)
        launched = self._launch(call, launch)
        if op:
            self.spans.append(("cpu_op", op, self.thread, before, launched))
        event = {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream,
                 "args": {"device": 0, "stream": stream, "correlation": self.correlation, **(args or {})}}
        start = Node(0, [launched], LATENCY)
        self._add(start)
        node = Node(dur, [start, self.streams.get(stream), *after], event=event)
        self.streams[stream] = node
        return self._add(node)

    def memcpy(self, dur, nbytes, kind="Memcpy HtoD (Pinned -> Device)", stream=7, after=(), call="cudaMemcpyAsync"):
        return self.kernel(kind, dur, stream, after, cat="gpu_memcpy", call=call,
                           args={"bytes": nbytes, "memory bandwidth (GB/s)": round(nbytes / dur / 1e3, 3)})

    def collective(self, group, members, transfer, stream=20, after=(), kind="allreduce", elements=1 << 20,
                   peers=None, launch=LAUNCH):
        """A collective of a group; send and recv between two ranks have peers = (from, to)."""
        name = {"allreduce": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                "allgather": "ncclDevKernel_AllGather_RING_LL", "reduce_scatter": "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL",
                "all_to_all": "ncclDevKernel_SendRecv", "send": "ncclDevKernel_SendRecv", "recv": "ncclDevKernel_SendRecv",
                }[kind]
        key = (group, peers)
        nth = self.calls[key] = self.calls.get(key, 0) + 1
        args = {"Collective name": kind, "dtype": "BFloat16", "In msg nelems": elements, "Out msg nelems": elements,
                "Group size": len(members), "Process Group Name": group,
                "Process Group Description": f"pg{group}", "Process Group Ranks": str(list(members))}
        if peers:
            args.update({"Src Rank": peers[0], "Dst Rank": peers[1]})
        node = self.kernel(name, 0, stream, after, launch=launch, args=args)
        joint = self.job.joints.setdefault((group, peers, nth), Joint(transfer))
        joint.members.append(node)
        node.joint = joint
        return node

    def wait(self, node, stream=7):
        """The stream goes on when the node is done."""
        gate = Node(0, [self.streams.get(stream), node])
        self.streams[stream] = self._add(gate)

    def sync(self, name="cudaDeviceSynchronize", streams=None):
        """The host is in the call until the streams are done, and a little longer."""
        before = self.last.get(self.thread)
        node = self._launch(name, 2.0, [node for stream, node in self.streams.items() if not streams or stream in streams])
        node.since = before
        return node


class Job:
    def __init__(self, n_ranks, device="NVIDIA H200", capability=(9, 0), hosts=None):
        self.ranks = [Rank(self, number) for number in range(n_ranks)]
        self.joints, self.device, self.capability, self.hosts = {}, device, capability, hosts

    def solve(self):
        ready = []
        for rank in self.ranks:
            for node in rank.nodes:
                node.n_open = len(node.after)
                for before in node.after:
                    before.next.append(node)
                if not node.n_open:
                    ready.append(node)
        done = 0
        while ready:
            node = ready.pop()
            if node.start is None:
                node.start = max([before.end for before in node.after], default=0.0) + node.lag
                if node.joint:
                    joint = node.joint
                    joint.n_started += 1
                    joint.last = max(joint.last, node.start)
                    if joint.n_started == len(joint.members):
                        ready.extend(joint.members)
                    continue
            node.end = node.joint.last + node.joint.transfer if node.joint else node.start + node.dur
            done += 1
            for after in node.next:
                after.n_open -= 1
                if not after.n_open:
                    ready.append(after)
        assert done == sum(len(rank.nodes) for rank in self.ranks), "the job never ends"
        return self

    def step_ends(self, rank=0):
        """When the GPU work of each step ends: the latest node launched in it."""
        ends = []
        for number, before, last in self.ranks[rank].steps:
            start = before.end if before else 0.0
            inside = [node for node in self.ranks[rank].nodes
                      if node.event and node.event["pid"] == 0 and start <= node.after[0].start <= last.end + LATENCY]
            ends.append(max([node.end for node in inside] + [last.end]))
        return ends

    def step_time(self):
        """Mean time of a step over the job: from the end of the first to that of the last, over their number less one."""
        ends = [max(by_rank) for by_rank in zip(*(self.step_ends(rank) for rank in range(len(self.ranks))))]
        return (ends[-1] - ends[0]) / (len(ends) - 1)

    def events(self, rank):
        out = []
        for cat, name, thread, first, last in rank.spans:
            start = first.end if first else 0.0
            if last is not None and last.end > start:
                out.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": thread, "ts": start, "dur": last.end - start})
        for node in rank.nodes:
            if node.event:
                start = node.since.end if node.since else node.start
                out.append(dict(node.event, ts=start, dur=node.end - start))
        for event in out:
            event["dur"] = round(EPOCH + event["ts"] + event["dur"], 3) - round(EPOCH + event["ts"], 3)
            event["dur"] = round(event["dur"], 3)
            event["ts"] = round(EPOCH + event["ts"], 3)
        return sorted(out, key=lambda event: (event["ts"], -event["dur"]))

    def write(self, folder, skip=(), cut=None, world=None, offset=None):
        """A file per rank; cut: by rank a function of its events; offset: by rank its clock's."""
        folder.mkdir(parents=True, exist_ok=True)
        for rank in self.ranks:
            if rank.number in skip:
                continue
            events = self.events(rank)
            if cut and rank.number in cut:
                events = cut[rank.number](events)
            if offset:
                for event in events:
                    event["ts"] = round(event["ts"] + offset.get(rank.number, 0.0), 3)
            document = {"schemaVersion": 1, "displayTimeUnit": "ms",
                        "distributedInfo": {"backend": "nccl", "rank": rank.number,
                                            "world_size": world or len(self.ranks)},
                        "deviceProperties": [{"id": 0, "name": self.device, "totalGlobalMem": 150_000_000_000,
                                              "computeMajor": self.capability[0], "computeMinor": self.capability[1],
                                              "numSms": 132}], "traceEvents": events}
            if self.hosts:
                document["hostname"] = self.hosts(rank.number)
            with gzip.GzipFile(folder / f"rank{rank.number}.json.gz", "wb", 1, mtime=0) as file:
                file.write(json.dumps(document).encode())
