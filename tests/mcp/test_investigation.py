# SPDX-License-Identifier: Apache-2.0
"""Five planted problems, each found by a client that follows `next` and thinks of nothing: four calls at most."""
import json
import os
import re
import shutil

import pytest

import support
from agent import Client

EXAMPLES = support.ROOT / "examples"
MAX_CALLS = 4


def host_bound_trace():
    """Six steps of 10 ms: every millisecond the CPU launches a kernel of 20 us, so the GPU runs 2 % of the time."""
    events, number = [], 0
    for step in range(6):
        start = 1000 + step * 10000
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": start,
                       "dur": 10000})
        for i in range(10):
            number += 1
            at = start + i * 1000
            events += [
                {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": at + 1, "dur": 990,
                 "args": {"External id": number}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 900, "dur": 10,
                 "args": {"correlation": number, "External id": number}},
                {"ph": "X", "cat": "kernel", "name": "add_kernel", "pid": 0, "tid": 7, "ts": at + 915, "dur": 20,
                 "args": {"correlation": number, "External id": number, "device": 0, "stream": 7}}]
    return {"schemaVersion": 1, "traceEvents": events}


def memory_trace():
    """The trace of the case for memory-growth: each step keeps 256 bytes of aten::empty."""
    text = (support.ROOT / "tests/cases/advice/memory-growth.test").read_text()
    return json.loads(re.search(r"--- trace a\.json\n(.*?)--- trace", text, re.S)[1])


def plant(problem, logs):
    """Write the runs of a problem, the older ones first."""
    if problem == "host-bound":
        (logs / "run").mkdir()
        (logs / "run" / "trace.json").write_text(json.dumps(host_bound_trace()))
    elif problem == "slow rank":
        shutil.copytree(EXAMPLES / "straggler", logs / "run")
    elif problem == "recompilation":
        (logs / "run").mkdir()
        shutil.copy(support.ROOT / "tests/data/compiled/recompile.json.gz", logs / "run")
    elif problem == "memory growth":
        (logs / "run").mkdir()
        (logs / "run" / "trace.json").write_text(json.dumps(memory_trace()))
    else:
        # the test of the bundled pair is the faster one: the regression is the way back
        for when, (name, source) in enumerate({"monday": "test", "tuesday": "control"}.items()):
            shutil.copytree(EXAMPLES / "diff" / source, logs / name)
            for file in (logs / name).iterdir():
                os.utime(file, (1.7e9 + when, 1.7e9 + when))


def is_found(problem, data):
    """Whether an answer has the cause as data: a kind of finding, a note, or a measured change."""
    findings = [finding for table in data["tables"] for finding in table.get("findings", []) if finding["state"] == "found"]
    notes = [note["sentence"] for table in data["tables"] for note in table["notes"]]
    if problem == "host-bound":
        return any(f["kind"] in ("launch", "bound-by") and "CPU" in f["sentence"] for f in findings)
    if problem == "slow rank":
        return any(f["kind"] == "slow-rank" and "rank 2 " in f["sentence"] for f in findings)
    if problem == "recompilation":
        return any("recompilation 0/1" in note and "570.0 ms" in note for note in notes)
    if problem == "memory growth":
        return any(f["kind"] == "memory-growth" and "aten::empty" in f["sentence"] for f in findings)
    rows = [dict(zip([column["name"] for column in table["columns"]], row))
            for table in data["tables"] if table["verb"] == "diff" for row in table.get("rows", [])]
    # 22.1 ms to 26.5 ms: a fifth more
    return any(row.get("metric") == "step" and 0.15 < row["change_share"] < 0.25 for row in rows)


@pytest.mark.parametrize("problem", ["host-bound", "slow rank", "recompilation", "memory growth", "regression"])
def test_following_next_finds_it(problem, tmp_path):
    plant(problem, tmp_path)
    asked, question = [], {"tool": "find_runs", "arguments": {}}
    with Client(tmp_path) as client:
        for _ in range(MAX_CALLS):
            asked.append(question)
            result = client.call(question["tool"], **question["arguments"])
            assert not result["isError"], (question, result)
            data = result["structuredContent"]
            if is_found(problem, data):
                return
            question = next(one for one in data["next"] if one not in asked)
    pytest.fail(f"not found by {asked}")
