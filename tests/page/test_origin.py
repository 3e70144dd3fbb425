# SPDX-License-Identifier: Apache-2.0
"""The timeline's panel says whose kernel it is: of one that a graph launched, by the capture that lies beside the trace."""
import json
import shutil

import served
import support
from web import needs_browser

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
