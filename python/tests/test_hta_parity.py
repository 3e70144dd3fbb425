# SPDX-License-Identifier: Apache-2.0
"""HTA's own results, cell by cell: equal, or a departure that is listed and gives what it says.

Bundled runs always; with HOLOTRACE_EXTRA_DATA also the runs whose results lie beside it in golden/hta.
"""
import csv
import fnmatch
import math
import os
import pathlib
import re
import tomllib

import pytest

import hta_rules
import hta_tables
import holotrace
from holotrace.trace_diff import DeviceType, LabeledTrace, TraceDiff

CASES = hta_tables.cases()
MODES = {"default": False, "compat": True}
#: Of the two runs of four ranks, which are of one kind, one mode each; with HOLOTRACE_LONG both.
ONLY = {} if os.environ.get("HOLOTRACE_LONG") else {"bundled-ddp": "compat", "bundled-straggler": "default"}
DEPARTURES = tomllib.loads(pathlib.Path(__file__).with_name("hta_departures.toml").read_text())["departure"]
#: HTA's times are differences of doubles of microseconds; other numbers are exact but for their last digits.
NEAR_US, NEAR = 0.0011, 1e-9
TIMES = re.compile(r".*us\)|stddev|ts|dur|end|kernel_(dur_sum|span)|(first|last)_kernel_(start|end)|"
                   r"idle_time|mean|std|min|max|\d\d%|(cpu_|gpu_)?duration|launch_delay")
COUNTS = ("queue_length_summary.csv", "memory_bw_summary.csv")
#: Numbers of symbols are arbitrary, and texts beside them say the same.
SYMBOLS = {"cat": None, "name": "s_name", "user_annotation": "s_user_annotation"}
#: What tells rows of a table apart where both sides may lack some.
KEYS = {"gpu_kernel_breakdown.*.1.csv": ("kernel_type", "name", "rank"),
        "gpu_kernel_breakdown.*.0.csv": ("kernel_type",)}


def equal(a, b, table="", column=""):
    if str(a) == str(b):
        return True
    is_time = TIMES.fullmatch(column) and table not in COUNTS
    near = getattr(a, "distance", NEAR_US if is_time else NEAR)
    try:
        x, y = float(a if a != "" else "nan"), float(b if b != "" else "nan")
    except ValueError:
        return False
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return abs(x - y) <= max(near, 1e-9 * abs(x))


def cells(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def records(name, lines):
    """Rows as dicts, without the columns whose numbers mean nothing."""
    head, body = lines[0], lines[1:]
    if name.endswith("_summary.csv") and len(lines) > 2 and lines[1][2:3] == ["count"]:
        head, body = lines[2][:2] + lines[1][2:], lines[3:]
    path = name.startswith("critical_path") and "breakdown" in name
    kept = [c for c in head if not (c in SYMBOLS and (SYMBOLS[c] is None or SYMBOLS[c] in head))
            and not (path and c == "")]
    rows = [dict(zip(head, row)) for row in body]
    rows = [{c: row[c] for c in kept} for row in rows]
    return sorted(rows, key=path_order) if path else rows


def path_order(row):
    """A critical path is a set for HTA."""
    return [f"{float(v):020.3f}" if re.fullmatch(r"-?\d+(\.\d*)?(e-?\d+)?", v) else v for v in row.values()]


def pairs(name, theirs, mine):
    """(their row or None, our row or None)"""
    keys = next((k for pattern, k in KEYS.items() if fnmatch.fnmatch(name, pattern)), None)
    if keys is None:
        assert len(theirs) == len(mine), f"{name}: {len(theirs)} rows against {len(mine)}"
        return list(zip(theirs, mine))
    ours = {tuple(row[k] for k in keys): row for row in mine}
    hta = {tuple(row[k] for k in keys): row for row in theirs}
    assert len(ours) == len(mine) and len(hta) == len(theirs), name
    shared = [key for key in ours if key in hta]
    assert name.endswith(".0.csv") or shared == [key for key in hta if key in ours], f"{name}: order"
    return [(row, ours.get(key)) for key, row in hta.items()] + [
        (None, row) for key, row in ours.items() if key not in hta]


class Comparison:
    """Collects what differs in one run and mode."""

    def __init__(self, case, mode, facts):
        self.case, self.mode, self.facts = case, mode, facts
        self.used, self.wrong = set(), []
        self.series = {name: records(name, cells(path)) for name, path in case.golden().items()
                       if path.suffix == ".csv"}

    def run(self, made):
        for name, path in self.case.golden().items():
            assert name in made, f"HTA has {name}"
            if path.suffix == ".csv":
                self.table(name, self.series[name], records(name, made[name]))
            else:
                self.cell(name, {}, "(text)", path.read_text(), made[name])

    def table(self, name, theirs, mine):
        for hta, ours in pairs(name, theirs, mine):
            if hta is None or ours is None:
                self.cell(name, hta or ours, "(row)", "row" if hta else "", "row" if ours else "")
                continue
            if set(hta) != set(ours):
                self.wrong.append(f"{name}: columns {sorted(set(hta) ^ set(ours))}")
                return
            for column, value in hta.items():
                self.cell(name, hta, column, value, ours[column])

    def cell(self, name, row, column, theirs, mine):
        if equal(theirs, mine, name, column):
            return
        cell = hta_rules.Cell(self.facts, name, row, column, self.series, MODES[self.mode])
        for i, rule in enumerate(DEPARTURES):
            if (self.mode in rule["modes"] and fnmatch.fnmatch(name, rule["tables"])
                    and column in rule["columns"] and hta_rules.WHEN[rule["when"]](cell)
                    and equal(hta_rules.OURS[rule["ours"]](cell), mine, name, column)):
                self.used.add(i)
                return
        self.wrong.append(f"{name} {column}: HTA {theirs}, ours {mine}; {list(row.items())[:6]}")


@pytest.mark.parametrize("case, mode", [pytest.param(case, mode, id=f"{case.name}-{mode}") for case in CASES for mode in MODES
                                        if ONLY.get(case.name, mode) == mode])
def test_every_cell(case, mode, monkeypatch):
    monkeypatch.setenv("HTA_DISABLE_NS_ROUNDING", "1")
    with holotrace.options.override(hta_compat=MODES[mode]), case.analysis() as analysis:
        made = hta_tables.tables(case, analysis)
        compared = Comparison(case, mode, hta_rules.Facts(case, analysis))
        compared.run(made)
    n = len(compared.wrong)
    assert not n, "\n".join([f"{n} cells differ and no departure says so:", *compared.wrong[:20]])
    unused = [rule["quirk"] + " " + rule["tables"] for i, rule in enumerate(DEPARTURES)
              if mode in rule["modes"] and case.run in rule["seen_in"] and i not in compared.used
              and any(fnmatch.fnmatch(name, rule["tables"]) for name in case.golden())]
    assert not unused, f"departures that no cell needs: {unused}"
    unseen = [DEPARTURES[i]["quirk"] for i in compared.used if case.run not in DEPARTURES[i]["seen_in"]]
    assert not unseen, f"seen_in lacks {case.run}: {unseen}"


@pytest.mark.parametrize("case", [c for c in CASES if c.failed() is not None], ids=lambda case: case.name)
def test_what_hta_does_not_answer(case):
    """A table that HTA does not have is one at which it fails."""
    with case.analysis() as analysis:
        made = hta_tables.tables(case, analysis)
    extra = {name for name in set(made) - set(case.golden())
             if not any(name.startswith(failed) for failed in case.failed())}
    assert not extra


def test_departures_are_on_the_page():
    page = (hta_tables.ROOT / "docs" / "departures-from-hta.md").read_text()
    listed = set(re.findall(r"^\| `([\w-]+)` \|", page.split("## Quirks")[1].split("\n## ")[0], re.MULTILINE))
    assert {rule["quirk"] for rule in DEPARTURES} <= listed
    for rule in DEPARTURES:
        assert rule["when"] in hta_rules.WHEN and rule["ours"] in hta_rules.OURS and rule["seen_in"]
    assert {rule["when"] for rule in DEPARTURES} == set(hta_rules.WHEN)
    assert {rule["ours"] for rule in DEPARTURES} == set(hta_rules.OURS)


DIFFS = [(hta_tables.BUNDLED / "diff", *(hta_tables.ROOT / "examples" / "diff" / side
                                         for side in ("control", "test")))]
DIFFS += [(hta_tables.EXTRA.parent / "golden" / "hta" / name, hta_tables.EXTRA / control, hta_tables.EXTRA / test)
          for name, control, test in (("h200_diff", "h200/diff/control", "h200/diff/test"),
                                      ("trace_diff", "hta/trace_diff/control", "hta/trace_diff/test"))
          if (hta_tables.EXTRA / control).is_dir()]


@pytest.mark.parametrize("golden, control, test", DIFFS, ids=lambda path: path.parent.name + "-" + path.name)
def test_diffs(golden, control, test):
    labeled = [LabeledTrace(label, trace_dir=str(folder))
               for label, folder in (("control", control), ("test", test))]
    compared = 0
    for device in DeviceType:
        for short in (False, True):
            path = golden / f"compare.{device.name}{'.short' if short else ''}.csv"
            if not path.exists():
                continue
            df = TraceDiff.compare_traces(*labeled, device_type=device, use_short_name=short)
            theirs = cells(path)
            mine = list(csv.reader(df.to_csv(index=theirs[0][0] != df.columns[0]).splitlines()))
            assert len(theirs) == len(mine) and theirs[0] == mine[0]
            assert all(equal(a, b, path.name, column) for x, y in zip(theirs, mine)
                       for column, a, b in zip(theirs[0], x, y)), path.name
            compared += 1
    assert compared
