# SPDX-License-Identifier: Apache-2.0
"""A run of NPUs speaks of NPUs: every view of the page, the report, every verb in the terminal. A small run made by hand, and with
HOLOTRACE_EXTRA_DATA the samples of an Ascend profiler below it."""
import json
import os
import pathlib
import re
import shutil
import sys

import pytest

import served
import support
from web import needs_browser

sys.path.insert(0, str(support.ROOT / "tests" / "analysis"))
from ascend import T0, event, rank, timeline, work  # noqa: E402

EXTRA = os.environ.get("HOLOTRACE_EXTRA_DATA")
FOREIGN = re.compile(r"\b(GPUs?|CUDA|NCCL|[Tt]ensor [Cc]ores?)\b|PYTORCH_CUDA|torch\.cuda")
pytestmark = [needs_browser, served.needs_serve]


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


def look(source, tmp_path):
    root = tmp_path / "runs"
    shutil.copytree(source, root / "npu")
    report = tmp_path / "report.html"
    support.output("report", root / "npu", "-o", report)
    with served.serving(root) as url:
        served.wait_ready(url)
        run = served.runs_of(url)["runs"][0]
        names = [one["name"] for one in served.get(url, "analyses")["analyses"] if one["n_sets"] == 1]
        served.drive("npu_words.mjs", url, run["id"], report, timeout=500)
    for verb in names:
        done = support.run(verb, root / "npu")
        text = (done.stdout + done.stderr).decode()
        assert not FOREIGN.search(text), f"{verb}: {text}"


def test_a_small_run(tmp_path):
    look(small_run(tmp_path / "made"), tmp_path)


@pytest.mark.skipif(not EXTRA, reason="skipped: HOLOTRACE_EXTRA_DATA names no further samples")
@pytest.mark.parametrize("sample", ["ddp2_level1", "db_level1", "kernel_only"])
def test_samples(tmp_path, sample):
    look(pathlib.Path(EXTRA) / "ascend" / sample, tmp_path)
