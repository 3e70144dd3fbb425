# SPDX-License-Identifier: Apache-2.0
"""Modules of generated code by the parameters that its calls read and the gradients that they write, and fused time by what lines compute."""
import json
import re

import pytest

from test_attach_planted import event, record
from test_compile import LOG, RECOMPILE, records, table

IDS = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}


# ---- made up ----

#: what Dynamo says the inputs are, and the sizes that the wrapper asserts
INPUTS = [("L['self']._modules['emb']._parameters['weight']", "f32[64, 4][4, 1]cuda:0", "(64, 4)"), ("L['x']", "f32[2, 4][4, 1]cuda:0", "(2, 4)"),
          ("L['self']._modules['blocks']._modules['0']._modules['_orig_mod']._modules['fc_in']._parameters['weight']", "f32[8, 4][4, 1]cuda:0", "(8, 4)"),
          ("L['self']._modules['blocks']._modules['0']._modules['_orig_mod']._modules['fc_in']._parameters['bias']", "f32[8][1]cuda:0", "(8, )"),
          ("L['self']._modules['blocks']._modules['0']._modules['norm']._buffers['mean']", "f32[8][1]cuda:0", "(8, )"),
          ("L['self']._parameters['scale']", "f32[][]cuda:0", "()")]
GRAPH = """class GraphModule(torch.nn.Module):
    def forward(self, {inputs}):
        # File: /w/net.py:10 in forward, code: h = self.fc_in(x)
        h: "f32[2, 8][8, 1]cuda:0" = torch._C._nn.linear(l_x_, w)
        # File: /w/net.py:11 in forward, code: r = torch.relu(h).half()
        r: "f16[2, 8][8, 1]cuda:0" = torch.relu(h)
        view: "f16[16][1]cuda:0" = r.view(16)
        # File: /w/net.py:12 in forward, code: a, b = torch.var_mean(r)
        var_mean = torch.var_mean(r)
        return (r,)
"""
#: name, nodes, lines, the call; its modules below the region, how they are known and how surely; what each line gets of 96 ns
FORWARD = [("extern_kernels.addmm", "h", [10], "extern_kernels.addmm(primals_4, primals_2, reinterpret_tensor(primals_3, (4, 8), (1, 4), 0), alpha=1, out=buf0)",
            "blocks.0 / fc_in", "parameters", 1, {10: 96}),
           # no parameters, between two calls of the same block
           ("triton_poi_fused_tanh_5", "h", [10], "triton_poi_fused_tanh_5.run(buf0, buf4, 16, stream=stream0)", "blocks.0", "neighbours", .5, {10: 96}),
           # 2 x 8 x 4 bytes are computed at line 10, 2 x 8 x 2 at line 11, where the view computes none
           ("triton_poi_fused_relu_0", "h, r, view", [10, 11], "triton_poi_fused_relu_0.run(buf0, primals_4, primals_5, 16, stream=stream0)",
            "blocks.0", "parameters", .5, {10: 64, 11: 32}),
           # what var_mean computes is not printed
           ("triton_poi_fused_mul_1", "h, var_mean", [10, 12], "triton_poi_fused_mul_1.run(buf0, buf3, 16, stream=stream0)", "", "frames", 1, {10: 48, 12: 48}),
           ("triton_poi_fused_mul_2", "r", [11], "triton_poi_fused_mul_2.run(buf0, primals_6, 16, stream=stream0)", "", "frames", 1, {11: 96}),
           ("extern_kernels.mm", "h", [10], "extern_kernels.mm(primals_2, primals_1, out=buf9)", "emb", "parameters", 1, {10: 96})]
#: buf1 is the gradient of the third input, buf2 that of the first; buf22 is another one
BACKWARD = [("extern_kernels.mm", "mm", [10], "extern_kernels.mm(tangents_1, buf7, out=buf1)", "blocks.0 / fc_in", "parameters", 1, {10: 96}),
            ("triton_red_fused_sum_3", "sum_1", [10], "triton_red_fused_sum_3.run(tangents_1, buf2, 16, stream=stream0)", "emb", "parameters", 1, {10: 96}),
            ("triton_red_fused_sum_4", "sum_2", [10], "triton_red_fused_sum_4.run(tangents_1, buf22, 16, stream=stream0)", "", "frames", 1, {10: 96})]
RETURNED = "(buf2, None, reinterpret_tensor(buf1, (8, 4), (4, 1), 0), None, None, None, )"


def write_code(title, calls, handle, returned, sizes):
    text = f"# AOT ID: ['0_{title}']\nclass Runner:\n    def call(self, args):\n"
    for i, (_, _, size) in enumerate(sizes):
        text += f"        assert_size_stride(primals_{i + 1}, {size}, (1, ))\n"
    for name, nodes, _, code, *_ in calls:
        handle += 1
        text += (f"            # Topologically Sorted Source Nodes: [{nodes}], Original ATen: [aten.mul]\n            # [Provenance debug handles] {name}:{handle}\n"
                 f"            stream0 = get_raw_stream(0)\n            {code}\n            del primals_1\n            buf8 = empty_strided_cuda((2, primals_1), (1, ))\n")
    return text + f"        return {returned}\n", handle


def write_log(path, sizes=INPUTS, sources=True, trains=True, gradients=RETURNED):
    out, handle = "", 0
    for i, (source, _, _) in enumerate(INPUTS if sources else []):
        out += record({"describe_source": {"describer_id": 0, "id": i, "source": source}, **IDS})
    names = ", ".join(f'{re.sub("[^a-zA-Z0-9]+", "_", source)}: "{kind}"' for source, kind, _ in INPUTS)
    out += record({"dynamo_output_graph": {"sizes": {}}, **IDS}, GRAPH.replace("{inputs}", names))
    for key, title, calls, returned in [("fA", "forward", FORWARD, "(buf0, )"), ("fB", "backward", BACKWARD, gradients)]:
        first = handle
        code, handle = write_code(title, calls, handle, returned, sizes)
        if not trains and title == "forward":
            code = re.sub(r"primals_(\d+)", lambda match: f"arg{int(match[1]) - 1}_1", code.replace("0_forward", "0_inference"))
        stacks = {f"{c[0]}:{first + 1 + i}": [f'  File "/w/net.py", line {line}, in forward\n    y\n' for line in c[2]] for i, c in enumerate(calls)}
        out += record({"inductor_output_code": {"filename": f"/tmp/{key}.py"}, **IDS}, code)
        out += record({"artifact": {"name": "inductor_provenance_tracking_kernel_stack_traces", "encoding": "json"}, **IDS}, json.dumps(stacks))
        out += record({"artifact": {"name": "fx_graph_cache_miss", "encoding": "json"}, **IDS}, json.dumps({"key": key}))
    path.write_text(out)
    return path


def write_trace(path):
    events, at, number = [], 0, 0
    for key, calls in ("fA", FORWARD), ("fB", BACKWARD):
        events += [event("cpu_op", "Torch-Compiled Region: 0/0", 9, at, 300), event("user_annotation", f"## Call CompiledFxGraph {key} ##", 9, at + 5, 290)]
        for k, call in enumerate(calls):
            number += 1
            events += [event("cpu_op", call[0].replace("extern_kernels.", "aten::"), 9, at + 10 + 20 * k, 15, **{"External id": number}),
                       event("cuda_driver", "cuLaunchKernel", 9, at + 12 + 20 * k, 3, **{"External id": number, "correlation": number}),
                       event("kernel", f"k{number}", 7, at + 400 + 40 * k, 0.096, device=0, stream=7, correlation=number)]
        at += 1000
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def region(modules):
    return "Torch-Compiled Region: 0/0" + (f" / {modules}" if modules else "")


@pytest.mark.parametrize("trains", [True, False], ids=["primals", "arguments without gradients"])
def test_modules_by_parameters_and_gradients(tmp_path, trains):
    args = [write_trace(tmp_path / "t.json"), "--attach", write_log(tmp_path / "dedicated_log_torch_trace_x.log", trains=trains)]
    calls = FORWARD + BACKWARD
    rows = {r["name"]: r for r in table("attribution", *args, "--view", "origins")}
    for i, (_, _, _, _, modules, via, confidence, _) in enumerate(calls):
        row = rows[f"k{i + 1}"]
        assert (row["module"], row["module_via"], float(row["module_confidence"])) == (region(modules), via, confidence), calls[i]
    by_path = {}
    for call in calls:
        by_path[region(call[4])] = by_path.get(region(call[4]), 0) + 96
    assert {r["path"]: int(r["device_self_ns"]) for r in table("modules", *args) if int(r["device_self_ns"])} == by_path


def test_fused_time_by_what_lines_compute(tmp_path):
    args = [write_trace(tmp_path / "t.json"), "--attach", write_log(tmp_path / "dedicated_log_torch_trace_x.log")]
    wanted = {}
    for *_, parts in FORWARD + BACKWARD:
        for line, ns in parts.items():
            wanted[line] = wanted.get(line, 0) + ns
    rows = table("attribution", *args, "--view", "lines")
    found = {}
    for row in rows:
        line = int(re.search(r"net\.py\((\d+)\)", row["source"])[1])
        found[line] = found.get(line, 0) + int(row["gpu_ns"])
    assert found == wanted
    assert {(r["split"], int(r["shared_ns"])) for r in rows if r["split"]} == {("bytes", 64), ("bytes", 32), ("evenly", 48)}


@pytest.mark.parametrize("change", [{"sizes": INPUTS[:2] + [("", "", "(4, 8)")] + INPUTS[3:]}, {"sources": False}], ids=["another order", "no sources"])
def test_what_does_not_fit_says_nothing(tmp_path, change):
    """Sizes that are not those of the inputs are of another order; inputs that nobody describes are of no module."""
    args = [write_trace(tmp_path / "t.json"), "--attach", write_log(tmp_path / "dedicated_log_torch_trace_x.log", **change)]
    assert {(r["module"], r["module_via"]) for r in table("attribution", *args, "--view", "origins")} == {(region(""), "frames")}


@pytest.mark.parametrize("gradients", ["(buf2, None, buf1)", RETURNED.replace(", )", ", buf22)")], ids=["fewer", "one more"])
def test_gradients_of_other_inputs_say_nothing(tmp_path, gradients):
    args = [write_trace(tmp_path / "t.json"), "--attach", write_log(tmp_path / "dedicated_log_torch_trace_x.log", gradients=gradients)]
    rows = {r["name"]: r for r in table("attribution", *args, "--view", "origins")}
    assert {rows[f"k{len(FORWARD) + i + 1}"]["module_via"] for i in range(len(BACKWARD))} == {"frames"}


# ---- recorded ----


def owners():
    """{graph key: [(call, modules whose parameters it reads)]} by the log: the order of inputs is that of the sizes in the graph's record."""
    sources, inputs, found, code = {}, {}, {}, None
    for head, payload in records():
        id_ = (head.get("frame_id"), head.get("frame_compile_id"))
        if "describe_source" in head:
            text = head["describe_source"]["source"]
            sources[re.sub("[^a-z0-9]+", "_", text.lower())] = ".".join(re.findall(r"_modules\['(\w+)'\]", text)) if "_parameters[" in text else None
        elif "dynamo_output_graph" in head:
            inputs[id_] = [sources[name] for name in head["dynamo_output_graph"]["sizes"] if name.startswith("l_")]
        elif "inductor_output_code" in head:
            code = payload
        elif head.get("artifact", {}).get("name", "").startswith("fx_graph_cache_"):
            calls = re.findall(r"debug handles\] (\S+):\d+\n((?:.*\n)*?.*\((?!0\)).*)\n", code)
            found[json.loads(payload)["key"]] = [(name, {inputs[id_][int(i) - 1] for i in re.findall(r"\bprimals_(\d+)\b", text.splitlines()[-1])} - {None})
                                                 for name, text in calls]
    return found


def test_recorded_modules_are_those_of_the_parameters():
    """The k-th generated kernel of a graph is the k-th generated call of its wrapper: of the forward graphs, whose calls write no gradients."""
    rows = table("events", RECOMPILE, "--attach", LOG, "--only", "gpu", "--columns", "ts_ns,cat,name,annotation,origin_module")
    by_key, checked = owners(), 0
    for key, calls in by_key.items():
        wanted = [names for name, names in calls if name.startswith("triton_")]
        got = [r["origin_module"] for r in sorted((r for r in rows if key in r["annotation"] and r["name"].startswith("triton_")), key=lambda r: int(r["ts_ns"]))]
        if not got or any("backward" in name for name, _ in calls):
            continue
        for i, module in enumerate(got):
            names = wanted[i % len(wanted)]
            if len(names) == 1:
                (name,) = names
                assert module.endswith(" / " + re.sub(r"\.(?!\d)", " / ", name)), (key, i, module, name)
                checked += 1
    assert checked == 36


def test_blocks_that_do_the_same_have_the_same_activities():
    """Of four equal blocks those in the middle: what has parameters and what lies between, forward and backward; only what is fused with the neighbours is apart."""
    rows = table("attribution", RECOMPILE, "--attach", LOG, "--step", "all", "--view", "origins")
    found = {}
    for row in rows:
        if match := re.search(r"Region: 0/0 / blocks\.([12])(.*)", row["module"]):
            kind = found.setdefault(match[1], {})
            key = (match[2], re.sub(r"_\d+$", "", row["name"]), row["module_via"])
            kind[key] = kind.get(key, 0) + int(row["count"])
    assert found["1"] == found["2"] and {key[2] for key in found["1"]} == {"parameters", "neighbours"}
    assert sum(n for (_, name, via), n in found["1"].items() if "flash_fprop" in name and via == "neighbours") > 0
