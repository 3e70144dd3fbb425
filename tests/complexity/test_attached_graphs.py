# SPDX-License-Identifier: Apache-2.0
"""Time and memory grow with the files where graphs are read against what is attached: recordings, and logs of torch.compile."""
import functools
import json

import pytest

import support
from meter import is_linear


pytestmark = pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")


def event(cat, name, ts, dur, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0 if cat == "kernel" else 1, "tid": tid, "ts": ts, "dur": dur, "args": args}


def launched(number, ts, at, *names, call="cudaLaunchKernel"):
    """A call and the kernels that it runs."""
    return [event("cuda_runtime", call, ts, 1, correlation=number),
            *(event("kernel", name, at + 2 * i, 1, 7, correlation=number, device=0, stream=7) for i, name in enumerate(names))]


def graph(number, ts, at, *names):
    return launched(number, ts, at, *names, call="cudaGraphLaunch")


def write(path, events):
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "numSms": 132}],
                                "traceEvents": events}))
    return path


def grows(meter, folder, make, n, view, memory=None):
    """make(folder, n) writes a trace and what is attached to it; n is the larger size."""
    @functools.cache
    def words(size):
        (folder / str(size)).mkdir()
        trace, attached = make(folder / str(size), size)
        return [support.EXE, "attribution", trace, *(("--attach", attached) if attached else ()), "--view", view, "--jobs", "1", "--no-cache"]

    def measure(size):
        seconds, used, code, message = meter.measure(words(size))
        assert code == 0, message
        return seconds, used

    seconds, used = measure(n)
    assert is_linear(seconds, lambda: measure(n)[0], lambda: measure(n // 4)[0], 0.02)
    assert memory is None or used < memory


# ---- kinds of graphs ----


def kinds(folder, n):
    """Every launch is a graph of its own."""
    return write(folder / "trace.json", [e for i in range(n) for e in graph(i + 1, 10 * i, 10 * i + 5, f"k{i}")]), None


def test_kinds_of_graphs(meter, tmp_path):
    grows(meter, tmp_path, kinds, 30_000, "graphs")


# ---- recordings ----


def one_graph(folder, *names):
    return write(folder / "trace.json", graph(1, 0, 5, *names))


def windows(folder, n):
    """An eager run of n launches, and n annotations behind them: none has what the graph has."""
    return one_graph(folder, "k", "l"), write(folder / "eager.json", [
        *(e for i in range(n) for e in [event("cpu_op", "aten::k", 10 * i, 8), *launched(i + 1, 10 * i + 1, 10 * n + 2 * i, f"k{i % 2}")]),
        *(event("user_annotation", "note", 10 * n + i, 0.5) for i in range(n))])


def test_annotations_of_an_eager_run(meter, tmp_path):
    grows(meter, tmp_path, windows, 16_000, "origins")


def captures(folder, n):
    """n annotations of captures, each around the next, and ten launches in the innermost one for each."""
    return one_graph(folder, "k", "l"), write(folder / "capture.json", [
        *(event("user_annotation", f"capture_{i % 7 + 1}_FULL", 0, 100 * n) for i in range(n)),
        *(event("cuda_runtime", "cudaLaunchKernel", 10 * i + 1, 1, correlation=i + 1) for i in range(10 * n))])


def test_captures_inside_each_other(meter, tmp_path):
    grows(meter, tmp_path, captures, 3_200, "graphs", memory=64 << 20)


# ---- logs of torch.compile ----


def record(head, *payload):
    return "".join([f"V0521 11:50:39.474000 1 a.py:1] {json.dumps(head)}\n", *(f"\t{line}\n" for line in payload)])


def write_log(path, handles):
    """The code of one graph, of key kk, that makes these calls."""
    ids = {"frame_id": 0, "frame_compile_id": 0}
    code = ["# Topologically Sorted Source Nodes: [x], Original ATen: [aten.add]",
            *(f"# [Provenance debug handles] {handle}:1" for handle in handles)]
    path.write_text(record({"inductor_output_code": {}, **ids}, *code) +
                    record({"artifact": {"name": "fx_graph_cache_miss"}, **ids}, '{"key": "kk"}'))
    return path


def region(dur):
    return event("user_annotation", "## Call CompiledFxGraph kk ##", 0, dur)


def unlike(folder, n):
    """The kernels of a graph are products, and none of the library's calls is."""
    return (write(folder / "trace.json", [region(100), *graph(1, 5, 10, *["some_gemm_kernel_with_a_name"] * n)]),
            write_log(folder / "trace.log", ["extern_kernels.q"] * (n + 1)))


def test_library_calls_of_another_family(meter, tmp_path):
    grows(meter, tmp_path, unlike, 2_000, "origins")


def strangers(folder, n):
    """Operators of a compiled graph, each with a kernel, and calls of its code: of n names each, and none is the other's."""
    events = [e for i in range(n) for e in [event("cpu_op", f"x::op.{i}", 10 * i + 1, 5), *launched(i + 1, 10 * i + 2, 10 * n + 2 * i, "triton_k")]]
    return write(folder / "trace.json", [region(10 * n), *events]), write_log(folder / "trace.log", [f"x.op.{i}x" for i in range(n)])


def test_operators_that_are_no_call(meter, tmp_path):
    grows(meter, tmp_path, strangers, 8_000, "origins")


def compilations(folder, n):
    """n spans of one name at one time, and n events of that name within a millisecond."""
    log = folder / "trace.log"
    log.write_text("".join(record({"chromium_event": {}}, json.dumps({"name": "c", "ph": ph, "ts": 1000, "tid": 1}))
                           for _ in range(n) for ph in "BE"))
    return write(folder / "trace.json", [*(event("cpu_op", "c", 1000 + i / 100, 0.001) for i in range(n)), *launched(1, 2000, 2010, "k")]), log


def test_spans_of_one_name(meter, tmp_path):
    grows(meter, tmp_path, compilations, 24_000, "compile-timeline")
