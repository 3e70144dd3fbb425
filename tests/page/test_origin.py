# SPDX-License-Identifier: Apache-2.0
"""Whose kernel it is: the timeline's panel says it, of one that a graph launched by the capture that lies beside the trace, and rows of
kernels and operators have the line of the user's code."""
import collections
import json
import shutil

import served
import support
from web import evaluate, needs_browser, needs_node

pytestmark = [needs_browser, served.needs_serve]
GRAPHS = support.ROOT / "tests/data/graphs"


def test_the_panel_of_a_graph_kernel(tmp_path):
    run = tmp_path / "run"
    (run / "capture_traces").mkdir(parents=True)
    shutil.copy(GRAPHS / "replay.json.gz", run)
    shutil.copy(GRAPHS / "capture.json.gz", run / "capture_traces")
    fields = ["index", "origin_op", "origin_module", "origin_source", "origin_method"]
    (row,) = served.table("events", run / "replay.json.gz", "--attach", run / "capture_traces", "--where", 'origin_op == "aten::addmm"',
                          "--sort", "-dur_ns", "--top", "1", "--columns", ",".join(fields))["rows"]
    index, op, module, source, method = row
    wanted = {"operator": op, "module": module, "line": source, "known by": f"{method}, confidence 100.0 %"}
    assert method == "graph-capture" and "Linear" in module
    with served.serving(tmp_path) as url:
        served.wait_ready(url, 2)
        served.drive("origin.mjs", url, "run", f"0:{index}", json.dumps(wanted))


def lines_of(run, column):
    """By name the lines that launch most of its GPU time, or whose gradient it computes: several where they are equal."""
    table = served.table("attribution", run, "--view", "origins")
    names = [one["name"] for one in table["columns"]]
    sums = collections.defaultdict(collections.Counter)
    for row in (dict(zip(names, cells)) for cells in table["rows"]):
        line = row["source"] or (row["forward_source"] and f"backward of {row['forward_source']}")
        if row[column] is not None and line:
            sums[row[column]][line] += row["gpu_ns"]
    return {name: [line for line, ns in lines.items() if ns == max(lines.values())] for name, lines in sums.items()}


def test_rows_have_the_line_of_the_users_code(tmp_path):
    for name in ("train", "straggler"):
        shutil.copytree(support.ROOT / "examples" / name, tmp_path / name)
    wanted = {"run": "train", "without": "straggler",
              "lines": {"kernels": lines_of(tmp_path / "train", "name"), "operators": lines_of(tmp_path / "train", "op")}}
    assert any(lines[0].startswith("backward of ") for lines in wanted["lines"]["kernels"].values())
    assert len(wanted["lines"]["kernels"]) > 5 and not lines_of(tmp_path / "straggler", "name")
    with served.serving(tmp_path) as url:
        served.wait_ready(url, 2)
        served.drive("code.mjs", url, json.dumps(wanted))


@needs_node
def test_lines_without_their_folders():
    """What is shown of a line: the file and the number. Names of a function may have brackets, folders may be of Windows."""
    source = 'import { lineText } from "./app/code"; answer = input.map(lineText);'
    texts = {"/home/u/p/train.py(55): step": "train.py:55", "train.py(7)": "train.py:7", "C:\\x\\a b.py(3): f(1)": "a b.py:3", "<built-in f>": "<built-in f>"}
    assert evaluate(source, list(texts)) == list(texts.values())
