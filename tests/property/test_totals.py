# SPDX-License-Identifier: Apache-2.0
"""One selection, one total: every verb that counts GPU activities counts the same ones, whatever steps are chosen.

Every analysis of the registry is here, with what it counts or as one that counts nothing of the kind, so that a new one has
to be placed. On the bundled runs the tables are held against each other, on small traces at random against the definition
(test_consistency.choose).
"""
import collections
import json

import pytest

import support
from test_consistency import by, rows, runs, total, write_random

#: Options that show all rows, and for the classes of activities that a table counts: number and time, where it has them.
#: Classes: k kernels, c communication kernels, o jobs that are no kernels, m copies and sets; l: of these what a known call
#: launched.
COUNTED = {
    "kernel-breakdown": (("--num-kernels", "100000"), "kcom", "count", "sum_ns"),
    "kernel-annotations": ((), "kcom", "count", "dur_ns"),
    "attribution": ((), "kcom", "kernels", "gpu_ns"),
    "temporal-breakdown": ((), "kcom", "n_work", None),
    "steps": ((), "kcom", "n_work", None),
    "steps --view gpu": ((), "kc", "n_kernels", "kernel_ns"),
    "kernels": ((), "kc", "calls", "total_ns"),
    "comm-overlap": ((), "c", "count", None),
    "memory-bandwidth": ((), "m", "copies", None),
    "launch-stats": ((), "kcoml", "count", "gpu_ns"),
    "stacks": (("--time", "device"), "kcoml", "count", "self_ns"),
    "operators": ((), "kcoml", None, "device_self_ns"),
}
KINDS = {"compute": "k", "communication": "c", "other": "o", "memory": "m", "memcpy": "m", "memset": "m"}
#: Analyses that count no activities, or only some by a rule of their own, each with what it counts instead.
OTHERS = {
    "summary": "conclusions", "advice": "conclusions", "health": "what could not be read", "info": "files",
    "tables": "tables of exporters", "events": "rows that the user chooses", "kernel-types": "time of classes side by side",
    "modules": "calls of modules", "call-tree": "calls on the host", "efficiency": "what formulas know",
    "iterations": "iterations of a serving engine", "annotation-breakdown": "annotations", "idle-breakdown": "gaps",
    "idle-intervals": "gaps", "counters": "samples", "cupti-counters": "kernels with counters",
    "queue-length": "launches and starts", "queue-blocked": "blocked launches", "op-launch-delay": "operators", "kernel-sequences": "the most frequent sequences",
    "memory-timeline": "bytes", "memory-curve": "bytes", "memory-events": "allocations", "memory-stats": "allocations",
    "memory-snapshot": "bytes", "critical-path": "the path", "collectives": "calls that have partners",
    "stragglers": "waiting", "distributed": "steps", "et-nodes": "nodes", "et-check": "nodes", "et-link": "nodes",
    "topology": "ranks", "gpu-use": "time of devices", "diff": "two runs", "gate": "two runs", "what-if": "a replay",
    "step-changes": "steps"}


def analyses():
    said = json.loads(support.output("help", "--json"))
    return {v["name"] for v in said["verbs"] if v["kind"] == "analysis"}


def test_every_analysis_is_placed():
    assert analyses() == {verb.split()[0] for verb in COUNTED} | set(OTHERS)
    assert not set(COUNTED) & set(OTHERS)


def classes(run, options):
    """{class: (number, ns)} as kernel-breakdown has them; what is not launched by a known call apart."""
    found = collections.Counter()
    for row in rows("kernel-breakdown", run, "--num-kernels", "100000", *options):
        kind = KINDS[row["kernel_type"]]
        found[kind, "n"] += int(row["count"])
        found[kind, "ns"] += int(row["sum_ns"])
    return found


def check(run, expected, options):
    for verb, (more, kinds, number, time) in COUNTED.items():
        table = rows(*verb.split(), run, *more, *options)
        for column, part in ((number, "n"), (time, "ns")):
            if column is None:
                continue
            want = sum(expected[kind, part] for kind in kinds if kind != "l")
            if "l" in kinds:
                assert total(table, column) <= want, (verb, column)
            else:
                assert total(table, column) == want, (verb, column)
    launched = {verb: total(rows(verb, run, *COUNTED[verb][0], *options), COUNTED[verb][3])
                for verb in ("launch-stats", "stacks")}
    assert launched["stacks"] <= sum(expected[k, "ns"] for k in "kcom")
    assert launched["launch-stats"] <= launched["stacks"]


def steps_of(run):
    """The choices to ask for: by default, everything, the last, and a step that is there."""
    # a run without steps is one row of that number, without the time that a step has
    numbers = [r["step"] for r in rows("steps", run) if r["step_time_ns"] is not None]
    chosen = [(), ("--step", "all")]
    return chosen + ([("--step", "last"), ("--step", numbers[0])] if numbers else [])


@pytest.mark.parametrize("run", runs(), ids=support.short)
def test_runs(run):
    for options in steps_of(run):
        check(run, classes(run, options), options)


@pytest.mark.parametrize("run", runs(), ids=support.short)
def test_idle_is_one_number(run):
    for options in steps_of(run):
        temporal = by(rows("temporal-breakdown", run, *options), "rank", "device")
        idle = by(rows("idle-breakdown", run, "--by", "device", *options), "rank", "device")
        for key, table in temporal.items():
            assert total(table, "idle_ns") == total(idle.get(key, ()), "idle_ns"), (key, options)


#: what summary tells of, the verb with all of it, and its columns of time and number
TOLD = {"operators": ("operators", "device_self_ns", "calls"), "kernels": ("kernels", "total_ns", "calls"),
        "collectives": ("kernels", "total_ns", "calls")}


def test_what_summary_tells_is_what_its_verbs_count():
    """Each operator and kernel that is named has the time and the number of calls that the verb behind the line has."""
    n = 0
    for run in runs():
        said = json.loads(support.output("summary", run, "--format", "json"))
        columns = [column["name"] for column in said["columns"]]
        for row in (dict(zip(columns, cells)) for cells in said["rows"]):
            if row["kind"] not in TOLD or row["state"] != "found" or row["denominator"].startswith("operator self CPU"):
                continue
            verb, ns, count = TOLD[row["kind"]]
            table = by(rows(verb, run), "name")
            for item in json.loads(row["values"])["items"]:
                if (item["name"],) in table:  # others are shortened
                    found = table[item["name"],]
                    assert (total(found, ns), total(found, count)) == (item["ns"], item["count"]), (run, item)
                    n += 1
    assert n > 20


@pytest.mark.parametrize("seed", support.seeds(40))
def test_random(seed, tmp_path):
    path, pieces = write_random(tmp_path, seed)
    expected = collections.Counter()
    for piece in pieces:
        if piece.chosen:
            kind = KINDS[piece.cls]
            expected[kind, "n"] += 1
            expected[kind, "ns"] += piece.end - piece.start
    check(path, expected, ())


@pytest.mark.parametrize("example", ["train", "cpu"])
def test_operators_share_what_is_allocated(example):
    """At every point the bands sum to the allocator's total; over time the highest is that of view peaks."""
    run = support.ROOT / "examples" / example
    points = collections.defaultdict(list)
    for row in rows("memory-curve", run, "--view", "operators", "--points", "200", "--quiet"):
        points[row["rank"], row["device"], row["index"]].append(row)
    assert points
    for point in points.values():
        assert sum(int(row["bytes"]) for row in point) == int(point[0]["allocated_bytes"])
        assert len({row["operator"] for row in point}) == len(point) <= 14
    for peak in rows("memory-curve", run, "--view", "peaks", "--quiet"):
        most = max(int(point[0]["allocated_bytes"]) for key, point in points.items() if key[:2] == (peak["rank"], peak["device"]))
        assert most == int(peak["allocated_bytes"])
