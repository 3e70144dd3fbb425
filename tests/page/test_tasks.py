# SPDX-License-Identifier: Apache-2.0
"""Five tasks with no help text: why slow and which rank without a click; what changed, which line launches a kernel and where memory peaks
with one. What must be in sight is what the command line concludes."""
import json
import shutil

import served
import support
from web import needs_browser

pytestmark = [needs_browser, served.needs_serve]


def findings(verb, *args):
    """{kind: row as a dictionary} of what a table of findings says, the first of each kind."""
    table = served.table(verb, *args)
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row)) for row in table["rows"]]
    return {row["kind"]: row for row in reversed(rows)}


def test_answers_without_help(tmp_path):
    examples = support.ROOT / "examples"
    for name in ("straggler", "train"):
        shutil.copytree(examples / name, tmp_path / name)
    for side in ("control", "test"):
        shutil.copytree(examples / "diff" / side, tmp_path / side)
    said = findings("summary", tmp_path / "straggler")
    late = said["slow-rank"]
    diff = served.table("diff", tmp_path / "control", tmp_path / "test")
    changed = next(one for one in diff["findings"] if one["state"] == "found")
    lines = served.table("attribution", tmp_path / "train", "--view", "origins", "--where", "source is not null", "--columns", "source,gpu_ns")
    longest = max(lines["rows"], key=lambda row: row[1])[0]
    peak = next(one for one in served.table("memory-curve", tmp_path / "train", "--view", "fullest")["findings"] if one["state"] == "found")
    wanted = {"slow": [said["bound-by"]["heading"]], "rank": [late["heading"], late["detail"]], "changed": [changed["sentence"]],
              "line": [longest.rsplit("/", 1)[-1].split("(")[0]], "memory": [peak["sentence"]]}
    with served.serving(tmp_path) as url:
        served.wait_ready(url, 4)
        served.drive("tasks.mjs", url, json.dumps(wanted))
