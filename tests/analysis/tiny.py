# SPDX-License-Identifier: Apache-2.0
"""Tiny traces by hand, and HTA's tables, for the tests of analyses."""
import csv
import glob
import json
import math
import os
import pathlib

import support

EXAMPLES = support.ROOT / "examples"


class Tiny:
    """A trace in microseconds, written as the profiler writes it."""

    def __init__(self, base_ns=None):
        self.events = []
        self.correlation = 100
        self.header = {"schemaVersion": 1}
        if base_ns is not None:
            self.header["baseTimeNanoseconds"] = base_ns

    def add(self, cat, name, ts, dur, pid=4000, tid=1, args=None, **more):
        event = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
                 "args": dict(args or {}, **more)}
        self.events.append(event)
        return len(self.events) - 1

    def work(self, name, ts, dur, launch, stream=7, cat="kernel", call="cudaLaunchKernel",
             call_dur=1, tid=1, device=0, args=None):
        """GPU work and its launch call (launch is its time, None for no call)."""
        self.correlation += 1
        if launch is not None:
            self.add("cuda_runtime", call, launch, call_dur, tid=tid, correlation=self.correlation)
        return self.add(cat, name, ts, dur, pid=device, tid=stream, args=args, device=device,
                        stream=stream, correlation=self.correlation)

    def graph(self, launch, kernels, stream=7):
        """One graph launch of several (name, ts, dur)."""
        self.correlation += 1
        self.add("cuda_runtime", "cudaGraphLaunch", launch, 1, correlation=self.correlation)
        for name, ts, dur in kernels:
            self.add("kernel", name, ts, dur, pid=0, tid=stream, device=0, stream=stream,
                     correlation=self.correlation)

    def memory(self, ts, delta, allocated=None, reserved=None, device_type=1):
        args = {"Device Type": device_type, "Device Id": 0, "Bytes": delta, "Addr": 4096}
        if allocated is not None:
            args.update({"Total Allocated": allocated, "Total Reserved": reserved})
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
                            "pid": 4000, "tid": 1, "ts": ts, "args": args})

    def step(self, number, ts, dur):
        self.add("user_annotation", f"ProfilerStep#{number}", ts, dur)

    def write(self, folder, rank=0, name=None):
        path = pathlib.Path(folder) / (name or f"rank{rank}.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(dict(self.header, distributedInfo={"rank": rank},
                                        traceEvents=self.events)))
        return path


def rows(verb, *args):
    """The table as a list of dicts; null cells are None."""
    names, cells = support.read_csv(support.output(verb, *args, "--format", "csv"))
    return [dict(zip(names, row)) for row in cells]


def notes(verb, *args):
    return json.loads(support.output(verb, *args, "--format", "json")).get("notes", [])


def number(cell):
    return math.nan if cell is None or cell == "" else float(cell)


def close(value, expected, absolute=0.002):
    """Both missing, or equal within the noise of HTA's doubles."""
    value, expected = number(value), number(expected)
    if math.isnan(value) or math.isnan(expected):
        return math.isnan(value) and math.isnan(expected)
    return abs(value - expected) <= max(absolute, 1e-9 * abs(expected))


def golden_cases():
    """(folder of HTA's tables, traces): our recordings, and more beside $HOLOTRACE_EXTRA_DATA."""
    found = []
    for folder in sorted((support.ROOT / "tests" / "golden-hta").glob("*")):
        traces = sorted((EXAMPLES / folder.name).glob("*.json.gz"))
        if traces:
            found.append((folder, traces))
    extra = os.environ.get("HOLOTRACE_EXTRA_DATA")
    for data in sorted(glob.glob(os.path.join(extra, "..", "golden", "hta", "*", "DATA.txt"))
                       if extra else []):
        folder = pathlib.Path(data).parent
        pattern = (folder / "DATA.txt").read_text().strip()
        found.append((folder, sorted(glob.glob(os.path.join(extra, pattern)))))
    return found


def golden(folder, name):
    """The rows of one of HTA's tables, None when HTA has none."""
    path = pathlib.Path(folder) / f"{name}.csv"
    if not path.exists():
        return None
    with open(path, newline="") as file:
        return list(csv.reader(file))
