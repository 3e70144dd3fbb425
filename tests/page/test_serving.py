# SPDX-License-Identifier: Apache-2.0
"""The tab of serving engines: iterations over time, coloured by phase, with the command line's numbers; without any it is not there."""
import json
import shutil

import served
import support
from web import needs_browser

pytestmark = [needs_browser, served.needs_serve]


def write_run(path):
    """Iterations that start when the one before ends: prompts of 900 us, tokens of 300 to 330 us, both at once 600 us; each runs one kernel."""
    events, at = [], 0
    for i in range(40):
        kind = "prefill" if i % 20 == 0 else "mixed" if i % 20 == 1 else "decode"
        name, dur = {"prefill": ("execute_context_2(512)_generation_0(0)", 900), "mixed": ("execute_context_1(256)_generation_4(4)", 600),
                     "decode": ("execute_context_0(0)_generation_8(8)", 300 + 10 * (i % 4))}[kind]
        events += [{"ph": "X", "cat": "user_annotation", "name": name, "pid": 9, "tid": 9, "ts": at, "dur": dur - 20},
                   {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": at + 10, "dur": 5, "args": {"correlation": i + 1}},
                   {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": at + 30, "dur": dur - 60,
                    "args": {"correlation": i + 1, "device": 0, "stream": 7}}]
        at += dur
    path.parent.mkdir()
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "x"}], "traceEvents": events}))
    return path


def digits(ns):
    """All of them, as tips have them: a thin space between thousands."""
    return f"{ns:,}".replace(",", "\u2009")


def test_iterations_over_time(tmp_path):
    run = write_run(tmp_path / "engine" / "rank0.json")
    shutil.copytree(support.ROOT / "examples" / "graph", tmp_path / "other")
    table = served.table("iterations", run, "--view", "list", "--sort", "start_ns")
    rows = [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]
    end = rows[-1]["start_ns"] + rows[-1]["wall_ns"] - rows[0]["start_ns"]
    tips = [{"at": (rows[i]["start_ns"] - rows[0]["start_ns"] + rows[i]["wall_ns"] / 2) / end,
             "words": [f"{rows[i]['phase']}: {rows[i]['name']}", digits(rows[i]["wall_ns"]), digits(rows[i]["gpu_ns"])]} for i in (0, 1, 9)]
    wanted = {"phases": ["decode", "prefill", "mixed"], "n": len(rows), "tips": tips}
    assert [row["phase"] for row in rows[:3]] == ["prefill", "mixed", "decode"]
    served.SCREENSHOTS.mkdir(exist_ok=True)
    with served.serving(tmp_path) as url:
        found = {one["name"]: one["id"] for one in served.wait_ready(url, 2)["runs"]}
        served.drive("serving.mjs", url, found["engine"], found["other"], json.dumps(wanted), served.SCREENSHOTS)
