# SPDX-License-Identifier: Apache-2.0
"""A run of NPUs speaks of NPUs: every view of the page, the report, every verb in the terminal. A small run made by hand, and with
HOLOTRACE_EXTRA_DATA the samples of an Ascend profiler below it."""
import os
import pathlib
import re
import shutil
import sys

import pytest

import served
import support
from web import evaluate, needs_browser, needs_node

sys.path.insert(0, str(support.ROOT / "tests" / "analysis"))
from ascend import small_run  # noqa: E402

EXTRA = os.environ.get("HOLOTRACE_EXTRA_DATA")
FOREIGN = re.compile(r"\b(GPUs?|CUDA|NCCL|[Tt]ensor [Cc]ores?)\b|PYTORCH_CUDA|torch\.cuda")
pytestmark = [needs_browser, served.needs_serve]


def look(source, tmp_path):
    root = tmp_path / "runs"
    shutil.copytree(source, root / "npu")
    report = tmp_path / "report.html"
    support.output("report", root / "npu", "-o", report)
    with served.serving(root) as url:
        served.wait_ready(url)
        run = served.runs_of(url)["runs"][0]
        names = [one["name"] for one in served.get(url, "analyses")["analyses"] if one["n_sets"] == 1]
        served.drive("npu_words.mjs", url, run["id"], report)
    for verb in names:
        done = support.run(verb, root / "npu")
        text = (done.stdout + done.stderr).decode()
        assert not FOREIGN.search(text), f"{verb}: {text}"


@needs_node
def test_words_of_the_engine():
    """Each of its list, alone or in the plural, and no part of another word."""
    words = re.findall(r'^NPU_WORD\("([^"]+)", "([^"]+)"\)$', (support.ROOT / "src" / "registry" / "npu_words.def").read_text(), re.M)
    assert ("GPU", "NPU") in words
    cases = [(f"of {a}x, ({a}) it", f"of {b}x, ({b}) it") if a.endswith(".") else (f"{a}, no {a}x but {a}s.", f"{b}, no {a}x but {b}s.") for a, b in words]
    said = evaluate('import { npuWords } from "./ui/npu"; answer = input.map(npuWords);', [case for case, _ in cases])
    assert said == [wanted for _, wanted in cases]


@needs_node
def test_tasks_of_hccl_are_communication():
    """Of two tracks of rank 0, the first of the layer communication: its copy and its wait, which is all wait, are; what is known stays."""
    source = """
    import { markHccl } from "./timeline/hccl";
    const tile = { tracks: new Map([[4, [0, 3]], [5, [3, 4]]]), wait: new Map(),
      name: new Uint32Array([1, 2, 1, 2]), start: new Float64Array([0, 10, 20, 30]), end: new Float64Array([5, 17, 21, 31]), work: new Uint8Array([255, 255, 2, 255]) } as any;
    markHccl([{ rank: 0, track: 4, layer: "communication" }, { rank: 0, track: 5, layer: "hardware" }, { rank: 1, track: 5, layer: "communication" }])(0, tile, new Map([[1, "Memcpy"], [2, "Notify_Wait"]]));
    answer = { work: [...tile.work], wait: [...tile.wait] };"""
    assert evaluate(source, None) == {"work": [1, 1, 2, 255], "wait": [[1, 7]]}


@needs_node
def test_cores_have_the_colour_of_what_they_do():
    source = """
    import { Rows } from "./app/rows"; import { coreParts } from "./views/cores";
    const column = (name: string) => ({ name, type: "string", unit: null, role: "key", sentence: "" });
    answer = coreParts(new Rows({ columns: ["core", "total_ns"].map(column), rows: input.map((core: string, i: number) => [core, i]) } as any)).map(part => [part.name, part.color]);"""
    wanted = [["HCCL", "HCCL", "var(--communication)"], ["COMMUNICATION", "HCCL", "var(--communication)"], ["AI_CORE", "AI Core (Cube)", "var(--compute)"],
              ["AI_VECTOR_CORE", "AI Vector Core", "var(--python)"], ["MIX_AIC", "mixed, mostly Cube", "var(--compute)"], ["AI_CPU", "AI CPU", "var(--host)"],
              ["tensor cores", "tensor cores", "var(--compute)"], ["other cores", "other cores", "var(--host)"]]
    assert evaluate(source, [core for core, _, _ in wanted]) == [[name, color] for _, name, color in wanted]


def test_a_small_run(tmp_path):
    look(small_run(tmp_path / "made"), tmp_path)


@pytest.mark.skipif(not EXTRA, reason="skipped: HOLOTRACE_EXTRA_DATA names no further samples")
@pytest.mark.parametrize("sample", ["ddp2_level1", "db_level1", "kernel_only"])
def test_samples(tmp_path, sample):
    look(pathlib.Path(EXTRA) / "ascend" / sample, tmp_path)
