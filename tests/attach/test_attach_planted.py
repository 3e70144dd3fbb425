# SPDX-License-Identifier: Apache-2.0
"""Runs that are made up, so that every answer is known: a serving engine with graphs of two sizes that schedules ahead, and a compiled
model with two graphs and a recompilation inside the window."""
import csv
import hashlib
import io
import json
import math
import random

import pytest

from support import output

SIZES = (8, 16)
OPS = [("aten::native_layer_norm", "vectorized_layer_norm_kernel"), ("aten::addmm", "nvjet_tst_{}x64"), ("aten::gelu", "vectorized_elementwise_kernel<GeluCUDAKernelImpl>"),
       ("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel<{}>"), ("aten::add", "vectorized_elementwise_kernel<CUDAFunctor_add>")]


def table(*args):
    return list(csv.DictReader(io.StringIO(output(*args, "--format", "csv").decode())))


def event(cat, name, tid, ts, dur, **args):
    pid = 0 if cat in ("kernel", "gpu_memset") else 9
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def write(path, events, **more):
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events, **more}))
    return path


def graph_of(size):
    """(operator, kernel) of each node; sizes differ in one node more and in the shapes."""
    return [(op, kernel.format(size)) for _ in range(6) for op, kernel in OPS] + [("aten::add", OPS[4][1])] * (size == 16)


def write_capture(path):
    events, at, number = [], 0, 0
    for size in SIZES:
        nodes = graph_of(size)
        start = at
        events.append(event("cuda_runtime", "cudaStreamBeginCapture", 9, at + 1, 1, correlation=10_000 + size))
        for i, (op, _) in enumerate(nodes):
            number += 1
            events += [event("cpu_op", op, 9, at + 5 + 10 * i, 8, **{"External id": number, "Input Dims": [[size, 64]]}),
                       event("cuda_runtime", "cudaLaunchKernel", 9, at + 7 + 10 * i, 2, **{"External id": number, "correlation": number})]
        at += 10 * len(nodes) + 10
        events += [event("cuda_runtime", "cudaStreamEndCapture", 9, at - 3, 1, correlation=20_000 + size),
                   event("user_annotation", f"capture_{size}_FULL", 9, start, at - start)]
        at += 5
    return write(path, events)


class Serving:
    """Iterations that start every 400 us; what they launch runs when the GPU is free, often when the next one has begun."""

    def __init__(self, seed, engine):
        self.pick, self.engine, self.events, self.truth, self.kernels = random.Random(seed), engine, [], [], []
        self.busy_until, self.correlation = 0, 100
        for i in range(60):
            self.iteration(i, prefill=i % 15 == 0)

    def names(self, prefill, requests, tokens, kv):
        context = (requests, tokens, kv) if prefill else (0, 0, 0)
        generation = (0, 0, 0) if prefill else (requests, tokens, kv)
        sums = [f"{r}(sq{q}sk{k}sqsq{q}sqsk{k})" for r, q, k in (context, generation)]
        vllm = f"execute_{tokens}_context_{sums[0]}_generation_{sums[1]}"
        sglang = f"step[EXTEND bs={requests} toks={tokens}]" if prefill else f"step[DECODE bs={requests} g_sq={tokens} g_sk={kv}]"
        return {"vllm": [vllm], "sglang": [sglang], "both": [vllm, sglang]}[self.engine]

    def iteration(self, i, prefill):
        pick, start = self.pick, 400 * i + self.pick.randrange(20)
        requests = pick.randrange(1, 4) if prefill else pick.randrange(5, 17)
        tokens, kv = (requests * 20, requests * 20) if prefill else (requests, requests * pick.randrange(50, 90))
        for depth, name in enumerate(self.names(prefill, requests, tokens, kv)):
            self.events.append(event("user_annotation", name, 9, start + depth, 300 - 2 * depth))
        nodes = [(op, kernel.format("eager")) for op, kernel in OPS] if prefill else graph_of(8 if requests <= 8 else 16)
        self.correlation += 1
        own = self.correlation
        if not prefill:
            self.events.append(event("cuda_runtime", "cudaGraphLaunch", 9, start + 50, 20, correlation=own))
        at, gpu_ns = max(self.busy_until, start + 80 + pick.randrange(60)), 0
        first = at
        for k, (op, kernel) in enumerate(nodes):
            if prefill:
                self.correlation += 1
                own = self.correlation
                self.events += [event("cpu_op", op, 9, start + 20 + 20 * k, 15, **{"External id": own}),
                                event("cuda_runtime", "cudaLaunchKernel", 9, start + 22 + 20 * k, 3, **{"External id": own, "correlation": own})]
                at = max(at, start + 30 + 20 * k)
                first = at if not k else first
            dur = pick.randrange(2, 16)
            self.events.append(event("kernel", kernel, 7, at, dur, device=0, stream=7, correlation=own))
            self.kernels.append((at * 1000, op, "op" if prefill else "graph-capture", dur * 1000))
            gpu_ns += dur * 1000
            at += dur
        gap = max(0, first - self.busy_until) * 1000 if self.truth else 0
        self.truth.append({"phase": "prefill" if prefill else "decode", "requests": requests, "tokens": tokens, "kv": 0 if prefill else kv, "start": start * 1000,
                           "gpu": gpu_ns, "gap": gap, "end": max(start + 300, at) * 1000})
        self.busy_until = at


def wanted_phase(truth, phase):
    for at, one in enumerate(truth):
        one["wall"] = (truth[at + 1]["start"] if at + 1 < len(truth) else one["end"]) - one["start"]
    own = [one for one in truth if one["phase"] == phase]
    walls = sorted(one["wall"] for one in own)
    sums = {key: sum(one[key] for one in own) for key in ("requests", "tokens", "wall", "gpu", "gap", "kv")}
    return {"iterations": len(own), "requests": sums["requests"], "tokens": sums["tokens"], "wall_ns": sums["wall"], "gpu_ns": sums["gpu"], "gap_ns": sums["gap"],
            "p50_ns": walls[math.ceil(0.5 * len(walls)) - 1], "p99_ns": walls[math.ceil(0.99 * len(walls)) - 1]}, sums


@pytest.mark.parametrize("engine", ["vllm", "sglang", "both"])
@pytest.mark.parametrize("seed", range(3))
def test_a_serving_run(tmp_path, engine, seed):
    run = Serving(f"{engine}{seed}", engine)
    trace, capture = write(tmp_path / "replay.json", run.events), write_capture(tmp_path / "capture.json")
    found = {r["phase"]: r for r in table("iterations", trace)}
    assert set(found) == {"prefill", "decode"}
    for phase, row in found.items():
        wanted, sums = wanted_phase(run.truth, phase)
        assert {key: int(row[key]) for key in wanted} == wanted
        assert float(row["tokens_per_s"]) == pytest.approx(wanted["tokens"] * 1e9 / wanted["wall_ns"])
        if phase == "decode":
            assert int(row["kv_tokens"]) == sums["kv"]
    check_origins(run, trace, capture)


def check_origins(run, trace, capture):
    """Every kernel has its planted operator; tables agree with each other and with the whole."""
    args = [trace, "--attach", capture]
    rows = sorted(table("events", *args, "--only", "gpu", "--columns", "ts_ns,dur_ns,origin_op,origin_method"), key=lambda r: int(r["ts_ns"]))
    assert [(int(r["ts_ns"]), r["origin_op"], r["origin_method"], int(r["dur_ns"])) for r in rows] == sorted(run.kernels)
    by_op = {}
    for _, op, _, ns in run.kernels:
        by_op[op] = by_op.get(op, 0) + ns
    assert {r["name"]: int(r["device_self_ns"]) for r in table("operators", *args)} == by_op
    whole = sum(by_op.values())
    for verb, column in [(["attribution"], "gpu_ns"), (["attribution", "--view", "lines"], "gpu_ns"), (["kernel-types"], "sum_ns"), (["iterations"], "gpu_ns"),
                         (["annotation-breakdown", "--view", "origins"], "sum_ns")]:
        assert sum(int(r[column]) for r in table(verb[0], *args, *verb[1:])) == whole
    graphs = table("attribution", *args, "--view", "graphs")
    assert {int(r["kernels_per_launch"]) for r in graphs} == {30, 31}
    assert all(r["method"] == "graph-capture" and r["confidence"] == "1" for r in graphs)
    assert sum(int(r["launches"]) for r in graphs) == sum(one["phase"] == "decode" for one in run.truth)


# ---- a compiled model ----

STACK = '  File "/w/net.py", line {outer}, in forward\n    x = self.inner(x)\n  File "/w/net.py", line {line}, in forward\n    y\n'
#: key, compile id, calls: (name, operators, lines of net.py; those below 50 are of the inner module, called at line 50)
GRAPHS = {"fA": ("0/0", [("triton_poi_fused_add_relu_0", "aten.add, aten.relu", [10, 11]), ("extern_kernels.mm", "aten.mm", [60]),
                         ("triton_poi_fused_mul_1", "aten.mul", [12, 61, 62])]),
          "fB": ("0/1", [("triton_poi_fused_add_relu_0", "aten.add, aten.relu", [10]), ("extern_kernels.mm", "aten.mm", [60])]),
          "fC": ("1/0", [("triton_per_fused_native_layer_norm_sum_0", "aten.native_layer_norm, aten.sum", [20])])}
#: the calls, in order; 0/1 is compiled inside the window, before its first call
CALLS = ["fA", "fC", "fA", "fC", "fB", "fC", "fB"]


def record(head, payload=None):
    text = "V0521 11:50:39.474000 7 torch/x.py:1] "
    if payload is None:
        return text + json.dumps(head) + "\n"
    head["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
    return text + json.dumps(head) + "\n" + "".join(f"\t{line}\n" for line in payload.split("\n"))


def write_log(path):
    out, handle = "", 0
    for key, (id_, calls) in GRAPHS.items():
        frame, number = id_.split("/")
        ids = {"frame_id": int(frame), "frame_compile_id": int(number), "attempt": 0}
        code, stacks = "", {}
        for name, ops, lines in calls:
            handle += 1
            code += f"# Topologically Sorted Source Nodes: [n{handle}], Original ATen: [{ops}]\n# [Provenance debug handles] {name}:{handle}\n{name}.run()\n"
            stacks[f"{name}:{handle}"] = [STACK.format(outer=50, line=line) if line < 50 else f'  File "/w/net.py", line {line}, in forward\n    y\n'
                                          for line in lines]
        if number != "0":
            out += record({"artifact": {"name": "recompile_reasons", "encoding": "string"}, **ids}, f"{frame}/0: tensor 'x' size mismatch")
        out += record({"inductor_output_code": {"filename": f"/tmp/{key}.py"}, **ids}, code)
        out += record({"artifact": {"name": "inductor_provenance_tracking_kernel_stack_traces", "encoding": "json"}, **ids}, json.dumps(stacks))
        out += record({"artifact": {"name": "fx_graph_cache_miss", "encoding": "json"}, **ids}, json.dumps({"key": key}))
    path.write_text(out)
    return path


def write_compiled(path):
    events, truth, at, number = [], [], 0, 0
    for i, key in enumerate(CALLS):
        id_, calls = GRAPHS[key]
        if key == "fB" and "fB" not in CALLS[:i]:
            events += [event("cpu_op", "entire_frame_compile", 9, at, 5000),
                       event("user_annotation", f"entire_frame_compile_data: compile_id={id_}, fn_name=x", 9, at + 1, 1)]
            at += 6000
        events += [event("cpu_op", f"Torch-Compiled Region: {id_}", 9, at, 100), event("user_annotation", f"## Call CompiledFxGraph {key} ##", 9, at + 5, 90)]
        for k, (name, ops, lines) in enumerate(calls):
            number += 1
            dur = 7 + number
            op = "aten::mm" if name.startswith("extern") else name
            events += [event("cpu_op", op, 9, at + 10 + 20 * k, 15, **{"External id": number}),
                       event("cuda_driver", "cuLaunchKernel", 9, at + 12 + 20 * k, 3, **{"External id": number, "correlation": number}),
                       event("kernel", name if op != "aten::mm" else "nvjet_tst", 7, at + 200 + 40 * k, dur, device=0, stream=7, correlation=number)]
            truth.append((id_, name, ops, lines, dur * 1000))
        at += 400
    return write(path, events), truth


def test_a_compiled_run(tmp_path):
    log = write_log(tmp_path / "dedicated_log_torch_trace_x.log")
    trace, truth = write_compiled(tmp_path / "trace.json")
    args = [trace, "--attach", log]
    rows = sorted(table("events", *args, "--only", "gpu", "--columns", "ts_ns,origin_op,origin_source,origin_module,origin_method"), key=lambda r: int(r["ts_ns"]))
    for row, (id_, name, ops, lines, _) in zip(rows, truth, strict=True):
        assert row["origin_source"] == " + ".join(f"/w/net.py({line}): forward" for line in lines)
        assert row["origin_op"] == (ops if name.startswith("triton") else "aten::mm")
        inside = " / net.py(50): forward" if all(line < 50 for line in lines) else ""
        assert row["origin_module"] == f"Torch-Compiled Region: {id_}{inside}"
    by_line, by_path = {}, {}
    for id_, _, _, lines, ns in truth:
        path = f"Torch-Compiled Region: {id_}" + (" / net.py(50): forward" if all(line < 50 for line in lines) else "")
        by_path[path] = by_path.get(path, 0) + ns
        for i, line in enumerate(lines):
            source = f"/w/net.py({line}): forward"
            by_line[source] = by_line.get(source, 0) + ns // len(lines) + (i < ns % len(lines))
    found = {}
    for row in table("attribution", *args, "--view", "lines"):
        found[row["source"]] = found.get(row["source"], 0) + int(row["gpu_ns"])
    assert found == by_line
    assert {r["path"]: int(r["device_self_ns"]) for r in table("modules", *args) if int(r["device_self_ns"])} == by_path
    graphs = {r["graph_key"]: r for r in table("attribution", *args, "--view", "compile")}
    assert {k: int(r["calls"]) for k, r in graphs.items()} == {key: CALLS.count(key) for key in GRAPHS}
    assert {k: int(r["gpu_ns"]) for k, r in graphs.items()} == {key: sum(t[4] for t in truth if t[0] == id_) for key, (id_, _) in GRAPHS.items()}
    assert {k: r["recompilations"] for k, r in graphs.items()} == {"fA": "0", "fB": "1", "fC": "0"}
    assert graphs["fB"]["reason"] == "0/0: tensor 'x' size mismatch" and int(graphs["fB"]["compile_ns"]) == 5_000_000
    (line,) = table("info", *args, "--where", "topic = attached")
    assert f"3 graphs, 6 of 6 calls with lines, 1 recompilation, {len(truth)} of {len(truth)}" in line["value"] and "warning" not in line["value"]


def test_a_launch_is_of_the_innermost_capture(tmp_path):
    """A capture around two others has what is in neither: graphs of one, two and three launches are told by their numbers."""
    notes = [("capture_4_FULL", 0, 200), ("capture_2_FULL", 50, 30), ("capture_1_FULL", 100, 30)]
    starts = [10, 20, 150, 60, 70, 110]
    capture = write(tmp_path / "capture.json", [
        *(event("user_annotation", name, 9, ts, dur) for name, ts, dur in notes),
        *(e for i, ts in enumerate(starts) for e in (event("cpu_op", f"x::at_{ts}", 9, ts, 8),
                                                     event("cuda_runtime", "cudaLaunchKernel", 9, ts + 1, 1, correlation=i + 1)))])
    replay = write(tmp_path / "replay.json", [e for n in (1, 2, 3) for e in (
        event("cuda_runtime", "cudaGraphLaunch", 9, 100 * n, 1, correlation=n),
        *(event("kernel", f"k{n}_{i}", 7, 100 * n + 10 + 10 * i, 5, correlation=n, device=0, stream=7) for i in range(n)))])
    rows = table("attribution", replay, "--attach", capture, "--view", "origins", "--step", "all")
    assert {r["name"]: r["op"] for r in rows} == {"k1_0": "x::at_110", "k2_0": "x::at_60", "k2_1": "x::at_70",
                                                  "k3_0": "x::at_10", "k3_1": "x::at_20", "k3_2": "x::at_150"}
