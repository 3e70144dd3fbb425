# SPDX-License-Identifier: Apache-2.0
"""Time and memory grow with the file for logs of torch.compile and generated wrappers that are attached."""
import json
import re

import pytest

import shapes
import support
from meter import is_linear

IDS = {"frame_id": 0, "frame_compile_id": 0}
#: A log is read for a compiled graph.
EVENTS = [{"ph": "X", "cat": "user_annotation", "name": "## Call CompiledFxGraph kk ##", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
          {"ph": "X", "cat": "cpu_op", "name": "triton_a", "pid": 1, "tid": 1, "ts": 0.5, "dur": 9},
          {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"correlation": 1}},
          {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 5, "args": {"correlation": 1, "device": 0, "stream": 7}}]


def record(what, payload=None):
    lines = [] if payload is None else payload.split("\n")
    return "V0521 11:50:39.474000 1 a.py:1] " + json.dumps({**what, **IDS}) + "\n" + "".join(f"\t{line}\n" for line in lines)


def code_of(text):
    return record({"inductor_output_code": {}}, text)


def source_of(base, module):
    return f"L['{base}']._modules['{module}']._parameters['w']"


def inputs_of(sources):
    names = ", ".join(re.sub("[^a-zA-Z0-9]+", "_", one) + ': "f32[4]"' for one in sources)
    return "".join(record({"describe_source": {"source": one}}) for one in sources) + record({"dynamo_output_graph": {}}, f"def forward(self, {names}):")


def stacks_of(stacks):
    return record({"artifact": {"name": "inductor_provenance_tracking_kernel_stack_traces"}}, json.dumps(stacks))


def long_names(n):
    return inputs_of([source_of("p", ".a" * 1900), source_of("q", ".a" * 1900)]) + code_of("# [Provenance debug handles] triton_a:1\nf(" + "primals_1," * n + ")")


def nodes_of_a_long_path(n):
    return record({"inductor_post_grad_graph": {}}, "# File: " + "p" * 10 * n + ":1 in f, code: z\nx = 1\n") + code_of(
        "# Topologically Sorted Source Nodes: [" + "x, " * n + "], Original ATen: [aten.add]\n# [Provenance debug handles] triton_a:1")


LOGS = {
    "lines that are no records": (160_000, lambda n: record({"a": 1}) + "V0521 x\n" * n),
    "sizes in one line": (40_000, lambda n: inputs_of([source_of("self", "a")]) + code_of("assert_size_stride(primals_1, (" * n)),
    "sizes of an input": (40_000, lambda n: inputs_of([source_of("self", "a")]).replace("f32[4]", "f32[" + "4, " * n + "s0]") +
                          code_of("assert_size_stride(primals_1, (4, ), (1, ))\n" * n)),
    "graphs of the same sources": (16_000, lambda n: "".join(record({"describe_source": {"source": source_of("self", f"a{i}")}}) for i in range(n)) +
                                   record({"dynamo_output_graph": {}}, "def forward(self):") * n),
    "stacks of no call": (40_000, lambda n: code_of("# [Provenance debug handles] triton_a:1\n" * n) + stacks_of({f"triton_b{i}:1": [] for i in range(n)})),
    "stacks beside a long path": (20_000, lambda n: code_of("# [Provenance debug handles] triton_a:1") +
                                  stacks_of({"triton_a:1": [f'File "{"ab" * n * 20}b", line 1, in f'] + ['File "b", line 1, in f'] * n})),
    "parameters of long names": (20_000, long_names),
    "nodes of a long path": (8_000, nodes_of_a_long_path),
}


def measure(meter, trace, attached, text):
    attached.write_text(text)
    seconds, memory, code, message = meter.measure([support.EXE, "attribution", trace, "--attach", attached, "--jobs", "1", "--no-cache"])
    assert code == 0, message
    return seconds, memory


def grows(meter, tmp_path, name, n, make):
    trace = tmp_path / "t.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": EVENTS}))
    small = measure(meter, trace, tmp_path / name, make(n // 4))
    large = measure(meter, trace, tmp_path / name, make(n))
    return large[1] - small[1] > 64 << 20 or not is_linear(
        large[0], lambda: measure(meter, trace, tmp_path / name, make(n))[0], lambda: measure(meter, trace, tmp_path / name, make(n // 4))[0], 0.03)


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
@pytest.mark.parametrize("shape", LOGS)
def test_log(shape, meter, tmp_path):
    assert not grows(meter, tmp_path, "dedicated_log_torch_trace_x.log", *LOGS[shape])


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
def test_many_graphs_and_recompilations(meter, tmp_path):
    """Each graph that is called, and each that was compiled again, is in the log."""
    def take(n):
        trace, log = tmp_path / f"{n}.json", tmp_path / f"dedicated_log_torch_trace_{n}.log"
        shapes.write("compiled", 10 * n, trace)
        trace.write_text(trace.read_text().replace("/0", "/1"))
        log.write_text("".join(code_of("# [Provenance debug handles] triton_a:1") +
                               record({"artifact": {"name": "fx_graph_cache_miss"}}, json.dumps({"key": f"f{i}"})) +
                               record({"artifact": {"name": "recompile_reasons"}}, "0/0: a guard").replace('"frame_id": 0', f'"frame_id": {i}')
                               .replace('"frame_compile_id": 0', '"frame_compile_id": 1') for i in range(n)))
        seconds, _, code, message = meter.measure([support.EXE, "attribution", trace, "--view", "compile", "--attach", log, "--jobs", "1", "--no-cache",
                                                   "--format", "csv"])
        assert code == 0, message
        return seconds
    assert is_linear(take(16_000), lambda: take(16_000), lambda: take(4000), 0.03)


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
def test_paths_of_kernels(meter, tmp_path):
    assert not grows(meter, tmp_path, "output_code.py", 16_000, lambda n: "# AOT ID: ['0_forward']\n" + "# kernel path: " * n +
                     "\n# Topologically Sorted Source Nodes: [x], Original ATen: [aten.add]\nextern_kernels.mm(a)\n")
