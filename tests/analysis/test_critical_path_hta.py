# SPDX-License-Identifier: Apache-2.0
"""Critical path: HTA's own results.

Those of our recordings are in tests/golden-hta; those of other traces are read from beside
$HOLOTRACE_EXTRA_DATA when it is set.
"""
import collections
import csv
import math
import re

import pytest

import tiny
from critical import rows

ALEX = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"


def cases():
    """(folder, instance, traces, annotation)"""
    for folder, files in tiny.golden_cases():
        files = [path for path in files if not str(path).endswith(".et.json.gz")]
        for nodes in sorted(folder.glob("critical_path.*.nodes.txt")):
            annotation = ALEX if folder.name.startswith("critical_path_") else "ProfilerStep"
            yield folder, nodes.name.split(".")[1], files, annotation


CASES = list(cases())


@pytest.mark.parametrize("folder,instance,files,annotation", CASES,
                         ids=[f"{c[0].parent.name}-{c[0].name}-{c[1]}" for c in CASES])
def test_golden(folder, instance, files, annotation):
    args = ("--hta-compat", "--instance", instance, "--annotation", annotation)
    first = rows(*files, "--view", "graph", *args)[0]
    rank = ("--rank", first["rank"])
    text = (folder / f"critical_path.{instance}.nodes.txt").read_text()
    want = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", text)}
    assert {"nodes": int(first["n_nodes"]), "edges": int(first["n_edges"]),
            "graph_nodes": int(first["graph_nodes"]),
            "graph_edges": int(first["graph_edges"])} == want
    with open(folder / f"critical_path.{instance}.summary.csv", newline="") as file:
        want = {r["bound_by"]: float(r["duration"]) for r in csv.DictReader(file)}
    got = {r["bound_by"] or "": 100 * float(r["share"]) for r in rows(*files, *args, *rank)}
    assert got == pytest.approx(want, abs=1e-4)
    breakdown = folder / f"critical_path.{instance}.breakdown.csv"
    if not breakdown.exists():
        return

    got, want = collections.defaultdict(list), collections.defaultdict(list)
    for r in rows(*files, "--view", "path", *args, *rank):
        where = (r["index"], r["type"], r["short_name"],
                 r["stream"] if r["stream"] else "-1" if r["index"] else None, r["bound_by"] or "")
        got[where].append(int(r["duration_ns"]) / 1000)
    with open(breakdown, newline="") as file:
        for r in csv.DictReader(file):
            index = str(int(float(r["event_idx"]))) if r["event_idx"] else None
            stream = str(int(float(r["stream"]))) if r["stream"] else None
            where = (index, r["type"], r["s_name"] if index else None, stream, r["bound_by"])
            want[where].append(float(r["duration"]))
    assert set(got) == set(want)
    for where in want:
        for a, b in zip(sorted(got[where]), sorted(want[where])):
            assert math.isclose(a, b, rel_tol=1e-9, abs_tol=0.002), where
        assert len(got[where]) == len(want[where])
