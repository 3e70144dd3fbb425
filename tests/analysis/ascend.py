# SPDX-License-Identifier: Apache-2.0
"""Ascend's directories made by hand: what tests of several subjects share."""
import json

from tiny import rows

T0 = 1736408883000000  # us; 16 digits and three decimals do not fit a double


def rank(folder, name="rank0_123_ascend_pt", **files):
    """A rank's directory: files of ASCEND_PROFILER_OUTPUT by name, dots as two underscores."""
    out = folder / name / "ASCEND_PROFILER_OUTPUT"
    out.mkdir(parents=True)
    for file, text in files.items():
        data = text if isinstance(text, bytes) else text.encode()
        (out / file.replace("__", ".")).write_bytes(data)
    return folder / name


def event(name, ts, dur, pid=2, **args):
    return {"ph": "X", "name": name, "pid": pid, "tid": 7, "ts": f"{ts:.3f}", "dur": dur, "args": args}


def timeline(*events):
    names = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
             for pid, name in ((1, "CANN"), (2, "Ascend Hardware"), (3, "HCCL"))]
    return json.dumps(names + list(events))


KERNELS = ("Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),"
           "Wait Time(us),Block Dim,Input Shapes,aic_mac_ratio\r\n"
           f'5,4294967295,1,16,MatMul_1,MatMulV2,AI_CORE,{T0}.001\t,10.5,0,32,"""8,16;16,8""",0.5\r\n'
           f"5,4294967295,N/A,N/A,hcom_allReduce__1,N/A,HCCL,{T0 + 20}.002\t,30,9.5,0,N/A,N/A\r\n")


def work(*tasks):
    """Tasks as (step, name, core, start us, duration us)."""
    lines = ["Step Id,Name,Accelerator Core,Start Time(us),Duration(us)"]
    return "\n".join(lines + [f"{step},{name},{core},{T0 + start}.000\t,{dur}" for step, name, core, start, dur in tasks]) + "\n"


def small_run(folder):
    """Two ranks of three steps: operators of the host, a matrix product, a vector operation, a collective."""
    for number in (0, 1):
        events, tasks = [], []
        for step in range(3):
            at = step * 1000
            events += [dict(event(f"ProfilerStep#{step}", T0 + at, 900, pid=4), cat="cpu_op"),
                       dict(event("aten::mm", T0 + at + 10, 100, pid=4), cat="cpu_op")]
            for k, (name, core, start, dur) in enumerate([("MatMulV2", "AI_CORE", 50, 200), ("Add", "AI_VECTOR_CORE", 260, 100 + 50 * number),
                                                         ("hcom_allReduce__1", "HCCL", 420, 300 - 50 * number)]):
                tasks.append((step, name, core, at + start, dur))
                if core != "HCCL":
                    events.append(event(name, T0 + at + start, dur, **{"Task Type": core, "Stream Id": 7, "Task Id": 10 * step + k}))
                else:
                    events.append(event(name, T0 + at + start, dur, pid=3, count=4096, data_type="FP32"))
        names = json.loads(timeline(*events))
        names.insert(0, {"ph": "M", "name": "process_name", "pid": 4, "tid": 0, "args": {"name": "Python"}})
        rank(folder, f"rank{number}_123_ascend_pt", trace_view__json=json.dumps(names), kernel_details__csv=work(*tasks))
    return folder


def cells(path, table):
    found = {}
    for r in rows("tables", path, "--view", "cells", "--table", table):
        found.setdefault(int(r["row"]), {})[r["column"]] = r["integer"] or r["number"] or r["text"]
    return [found[i] for i in sorted(found)]


def operation(elapse, transit, wait, moved):
    return {"Communication Time Info": {"Start Timestamp(us)": T0, "Elapse Time(ms)": elapse, "Transit Time(ms)": transit,
                                        "Wait Time(ms)": wait, "Synchronization Time(ms)": 0, "Idle Time(ms)": 1},
            "Communication Bandwidth Info": {
                name: {"Transit Size(MB)": size, "Transit Time(ms)": ms, "Bandwidth(GB/s)": 1, "Large Packet Ratio": 0,
                       "Size Distribution": sizes} for name, (size, ms, sizes) in moved.items()}}
