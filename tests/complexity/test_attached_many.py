# SPDX-License-Identifier: Apache-2.0
"""Time and memory grow with the files where there is much of one thing: names of many words, keys, wrappers, notes."""
import json

import pytest

import support
from meter import is_linear

pytestmark = pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")


def measure(meter, *words):
    seconds, memory, code, message = meter.measure([support.EXE, *words, "--jobs", "1", "--no-cache"])
    assert code == 0, message
    return seconds, memory


def grows_with(meter, large, small):
    """Does a command take what it may, as one with a quarter of its files says?"""
    return is_linear(measure(meter, *large)[0], lambda: measure(meter, *large)[0], lambda: measure(meter, *small)[0], 0.02)


def event(cat, name, ts, dur, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0 if cat == "kernel" else 1, "tid": tid, "ts": ts, "dur": dur, "args": args}


def launched(number, ts, start, name, **args):
    """A kernel, and the call that launched it."""
    return [event("cuda_runtime", "cudaLaunchKernel", ts, 1, correlation=number),
            event("kernel", name, start, 1, tid=7, correlation=number, device=0, stream=7, **args)]


def save(path, events):
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "numSms": 132}],
                                "traceEvents": events}))
    return path


def test_names_of_many_words(meter, tmp_path):
    """Names of 63 words cost about what names of one word as long do."""
    def trace_of(mark, n=1000):
        names = (f"triton_poi_fused_{mark.join(['ab'] * 63)}x{i}" for i in range(n))
        return save(tmp_path / f"fused{mark}.json", [event("cpu_op", name, i, 0.5) for i, name in enumerate(names)]
                    + launched(1, n, n + 5, "k"))

    # names of one word stand for what is there in any case
    words, one = (("events", trace_of(mark), "--only", "gpu", "--columns", "origin_op") for mark in "_q")
    assert grows_with(meter, words, one)


def test_one_note_on_all_kernels(meter, tmp_path):
    """The long path of a module is one text, not one for each kernel of the graph."""
    n = 3000
    kernels = [launched(1, 0, 5 + 2 * i, "k", **{"graph node id": 1})[1] for i in range(n)]
    trace = save(tmp_path / "replay.json", [event("cuda_runtime", "cudaGraphLaunch", 0, 1, correlation=1), *kernels])
    notes = tmp_path / "kernel_annotations_rank0.json"
    notes.write_text(json.dumps({"1": [{"name": "x", "module_fqn": "a" * 10 * n}]}))
    assert measure(meter, "attribution", trace, "--attach", notes)[1] < 64 << 20


def trace_of_graphs(path, n):
    """Compiled graphs with a generated kernel each."""
    events = []
    for i in range(n):
        events += [event("user_annotation", f"## Call CompiledFxGraph k{i} ##", 10 * i, 9),
                   event("cpu_op", "triton_a", 10 * i + 1, 5), *launched(i + 1, 10 * i + 2, 10 * n + 2 * i, "triton_a")]
    return save(path, events)


def test_many_files_that_name_one_rank(meter, tmp_path):
    """Whether they are for another rank is asked of each, for each graph of the trace."""
    trace = trace_of_graphs(tmp_path / "rank0.json", 400)

    def logs_of(n):
        folder = tmp_path / f"logs{n}"
        folder.mkdir()
        for i in range(n):
            (folder / f"log_{i}_rank_5.log").write_text('V0521 11:50:39.474000 1 a.py:1] {"a": 1}\n')
        return folder

    small, large = logs_of(300), logs_of(1200)
    assert grows_with(meter, ("attribution", trace, "--attach", large), ("attribution", trace, "--attach", small))


def test_code_for_many_graphs(meter, tmp_path):
    """What a graph calls is found among its own rows, and is not kept; its last call is looked for once for all graphs."""
    trace, larger = (trace_of_graphs(tmp_path / f"graphs{n}.json", n) for n in (4000, 16_000))
    code = tmp_path / "output_code.py"
    code.write_text("# AOT ID: ['0_forward']\n# Topologically Sorted Source Nodes: [x], Original ATen: [aten.add]\n"
                    "# [Provenance debug handles] triton_a:1\ntriton_a.run(buf0)\n")
    said = support.output("attribution", trace, "--attach", code, "--format", "csv", "--no-cache")
    assert b"triton-op" in said
    assert measure(meter, "attribution", trace, "--attach", code)[1] < 64 << 20
    assert grows_with(meter, ("attribution", larger, "--attach", code), ("attribution", trace, "--attach", code))


def test_many_wrappers_beside_one_file_of_lines(meter, tmp_path):
    """What is said of calls is read once, not once for each wrapper of its folder."""
    trace = save(tmp_path / "plain.json", [event("cpu_op", "a", 0, 50), *launched(1, 1, 60, "k")])

    def folder_of(n):
        folder = tmp_path / f"code{n}"
        folder.mkdir()
        for i in range(n):
            (folder / f"w{i}.py").write_text("# AOT ID: ['0_forward']\n# Topologically Sorted Source Nodes: [x], "
                                             "Original ATen: [aten.add]\nextern_kernels.mm(a)\n")
        (folder / "k.json").write_text(json.dumps({f"triton_a:{i}": ['  File "a", line 1, in f'] for i in range(40 * n)}))
        return folder

    small, large = folder_of(125), folder_of(500)
    assert grows_with(meter, ("info", trace, "--attach", large), ("info", trace, "--attach", small))


@pytest.mark.parametrize("verb, rule, name", [
    ("iterations", lambda n: "iteration auto *{batch}x\n", lambda n: "1" * n),
    ("iterations", lambda n: "iteration auto *0{tokens}y{batch}x\n", lambda n: "0" * (n // 2) + "y" + "0" * (n // 2)),
    ("efficiency", lambda n: f"*{'a' * (n // 2)}b flops=1\n", lambda n: "a" * n)])
def test_long_names_against_patterns(meter, tmp_path, verb, rule, name):
    """What does not fit behind a star is tried again one byte later: without reading the same bytes again."""
    def words(n):
        trace = save(tmp_path / f"{n}.json", [event("user_annotation", name(n), 0, 50), event("cpu_op", name(n), 1, 20),
                                              *launched(1, 2, 60, "k")])
        rules = tmp_path / f"{n}.rules"
        rules.write_text(rule(n))
        return verb, trace, "--attach", rules

    small, large = words(20_000), words(80_000)
    assert grows_with(meter, large, small)
