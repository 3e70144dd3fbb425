# SPDX-License-Identifier: Apache-2.0
"""Ascend's own samples: what its plugin and its exporter say of them."""
import csv
import decimal
import os
import pathlib
import shutil

import pytest

from ascend import cells
from tiny import rows

EXTRA = os.environ.get("HOLOTRACE_EXTRA_DATA")
extra = pytest.mark.skipif(not EXTRA, reason="no extra data")


def sample(name):
    return pathlib.Path(EXTRA) / "ascend" / name


def cores(path, number):
    """Time by accelerator core, us."""
    sums = {}
    for r in rows("events", path, "--rank", str(number), "--columns", "dur_ns,args.Accelerator Core"):
        if r["args.Accelerator Core"]:
            sums[r["args.Accelerator Core"]] = sums.get(r["args.Accelerator Core"], 0) + int(r["dur_ns"])
    return {core: ns / 1000 for core, ns in sums.items()}


@extra
def test_sample_with_a_timeline():
    """What torch-tb-profiler-ascend computes on the same files."""
    path = sample("ddp2_level1")
    found = cores(path, 0)
    assert {k: round(v, 1) for k, v in found.items()} == {
        "AI_VECTOR_CORE": 5823.4, "AI_CORE": 2805.9, "DSA_SQE": 5.5, "MIX_AIV": 239.0, "HCCL": 105991.9}
    kernels = [r for r in rows("events", path, "--rank", "0", "--columns", "name,args.Accelerator Core")
               if r["args.Accelerator Core"]]
    assert len(kernels) == 191 and len({r["name"] for r in kernels}) == 82
    peaks = {r["category"]: int(r["peak_bytes"]) / (1 << 20) for r in rows("memory-timeline", path, "--rank", "0")}
    assert {c: round(peaks[c], 1) for c in ("PTA+GE allocated", "APP reserved", "PTA reserved", "GE reserved")} == {
        "PTA+GE allocated": 1261.0, "APP reserved": 2113.7, "PTA reserved": 1452.0, "GE reserved": 74.8}
    assert round(peaks["module HCCL reserved"], 4) == 404.0625
    assert len(rows("memory-events", path, "--rank", "0")) == 184
    transfers = [int(c["transit_ns"]) for c in cells(path / "rank0_1736408884023_ascend_pt", "communication")
                 if c["op"] != "Total Op Info"]
    assert len(transfers) == 4
    sizes = {}
    for c in cells(path / "rank0_1736408884023_ascend_pt", "communication_bandwidth"):
        if c["op"] != "Total Op Info":
            sizes[c["transport"]] = sizes.get(c["transport"], 0) + int(c["transit_bytes"])
    assert sizes["SDMA"] == 427596096


@extra
@pytest.mark.parametrize("name, want", (
    # rank, computing without communication, both, communication alone, free; transit, synchronization; us
    ("ddp2_level1", [(0, 4845.081, 4028.675, 101963.203, 25744.05, 3683.353, 5615.712),
                     (1, 4862.056, 4016.239, 96359.047, 26675.274, 3859.677, 20.9)]),
    ("legacy_2023", [(0, 68187.271, 6987.303, 146614.02, 69909.504, 6277.668, 115756.663),
                     (1, 68292.76, 7129.46, 151303.54, 67860.8, 6269.94, 114018.5)]),
    ("pp4_2025_deviceid", [(0, 231290.1, 0, 420174.26, None, 0, 164143.54), (1, 230903.72, 0, None, None, 6.58, 169598.78),
                           (2, 400448.26, 0, None, None, 12.56, 10811.44), (3, 401131.7, 0, None, None, 16.66, 807.38)]),
))
def test_samples_of_exporters(name, want):
    """What torch-tb-profiler-ascend shows of them in its distributed view."""
    path = sample(name)
    waits = {}
    for row in rows("distributed", path, "--view", "collectives"):
        sums = waits.setdefault(int(row["rank"]), [0, 0])
        sums[0] += int(row["transit_ns"])
        sums[1] += int(row["synchronization_ns"])
    for row, (number, *times) in zip(rows("distributed", path, "--view", "steps"), want):
        have = [int(row["computing_ns"]) - int(row["overlapped_ns"]), int(row["overlapped_ns"]), int(row["exposed_ns"]),
                int(row["free_ns"]), *waits[number]]
        assert int(row["rank"]) == number
        for got, time in zip(have, times):
            assert time is None or abs(got / 1000 - time) < .01, (number, have, times)


@extra
@pytest.mark.parametrize("name", ("ddp2_level1", "db_level1"))
def test_steps_and_exporter_agree(name):
    """What is computed from events is what the exporter says, but for the length of the step: the exporter's begins with the
    first work, and the database's events and sums are rounded on their own."""
    path = sample(name)
    for ours, theirs in zip(rows("distributed", path), rows("distributed", path, "--view", "steps")):
        assert ours["rank"] == theirs["rank"] and ours["step"] == theirs["step"]
        computing = int(ours["computation_ns"]) + int(ours["overlapped_ns"])
        assert abs(computing - int(theirs["computing_ns"])) < .01 * computing
        assert abs(int(ours["exposed_ns"]) - int(theirs["exposed_ns"])) < 100_000
    (calls,) = {tuple(r.values())[2:7] for r in rows("distributed", path, "--view", "collectives")}
    assert calls[3:] == ("4", "427596096")


@extra
def test_samples_of_other_ages():
    assert {k: round(v, 1) for k, v in cores(sample("ddp2_level0"), 0).items()} == {"N/A": 8827.5, "HCCL": 85516.9}
    assert round(cores(sample("pp4_2025_deviceid"), 0)["COMMUNICATION"], 2) == 420174.26
    steps = [c for r in range(4) for c in cells(next(sample("pp4_2025_deviceid").glob(f"rank{r}_*")), "step_trace_time")]
    assert [c["Step"] for c in steps] == ["13"] * 4 and [c["Device_id"] for c in steps] == ["0", "1", "4", "5"]
    assert [round(float(c["Computing"]), 2) for c in steps] == [231290.1, 230903.72, 400448.26, 401131.7]
    counts = {}
    for r in rows("events", sample("kernel_only"), "--columns", "rank,name"):
        counts.setdefault(r["rank"], []).append(r["name"])
    assert {k: (len(v), len(set(v))) for k, v in counts.items()} == {"0": (29, 7), "1": (591, 201)}
    assert cores(sample("legacy_2023"), 0)["AI_CPU"] == pytest.approx(145.0223, abs=0.001)


@extra
@pytest.mark.parametrize("name", ("db_level1", "ddp2_level0", "trace_only"))
def test_the_call_tree_has_the_device_time_of_the_operators(name):
    path = sample(name)
    calls = rows("call-tree", path, "--monitor-cat", "cpu_op", "--preset", "all", "--max-depth", "1", "--no-lists")
    # named steps are of the timeline, and so is the call tree; the exporter's table has fractions of nanoseconds
    operators = rows("operators", path, "--step", ",".join(sorted({r["step"] for r in rows("steps", path)})) or "all")
    device_ns = sum(int(c["device_ns"]) for c in calls)
    assert device_ns == sum(int(o["device_self_ns"]) for o in operators) > 0


@extra
def test_operators_of_the_exporter(tmp_path):
    """Without the timeline the operators are those of operator_details.csv, as the plugin shows them."""
    path = tmp_path / "run"
    shutil.copytree(sample("ddp2_level1"), path, ignore=shutil.ignore_patterns("trace_view.json*"))
    found = {r["name"]: r for r in rows("operators", path, "--rank", "0")}
    assert len(found) == 133 and len(rows("operators", path, "--rank", "0", "--by", "shape")) == 366
    columns = ("calls", "device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns")
    assert [int(found["HcclAllreduce"][c]) for c in columns] == [8, 105991878, 211983756, 58870, 84120]
    assert found["HcclAllreduce"]["tc_eligible"] == "false"
    add = found["aclnnForeachAddListV2"]
    assert (add["calls"], round(int(add["device_self_ns"]) / 1e3, 2), add["tc_self_pct"]) == ("3", 1959.08, "100")
    assert (found["Conv2D"]["calls"], round(int(found["Conv2D"]["device_self_ns"]) / 1e3, 1)) == ("5", 1116.4)
    top = max(found.values(), key=lambda r: int(r["host_self_ns"]))
    assert [top[c] for c in ("name", "calls", "host_self_ns")] == ["aten::_local_scalar_dense", "27", "92923050"]


CELLS = {"device_self_ns": "Device Self Duration(us)", "device_total_ns": "Device Total Duration(us)",
         "host_self_ns": "Host Self Duration(us)", "host_total_ns": "Host Total Duration(us)"}


def exporters_rows(table, by_shape):
    """{(name, shape or None): {column: sum over its calls}}, from the definition of the file: a row is a call."""
    found = {}
    with open(table, encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            shape = "[" + ", ".join(f"[{', '.join(one.strip().split(','))}]" for one in row["Input Shapes"].split(";")) + "]"
            shape = "[]" if not row["Input Shapes"].strip() else shape
            sums = found.setdefault((row["Name"], shape if by_shape else None), dict.fromkeys(["calls", *CELLS], 0))
            sums["calls"] += 1
            for cell, title in CELLS.items():
                ns = decimal.Decimal(row[title]) * 1000
                sums[cell] += int(ns.to_integral_value(decimal.ROUND_HALF_UP))
    return found


@extra
@pytest.mark.parametrize("by", ("name", "shape"))
def test_operators_are_the_exporters_rows_cell_by_cell(by):
    """Also where there is a timeline, for all of a recording: by default, when no step is left out, and with --step all."""
    tables = sorted((sample("ddp2_level1").parent).glob("*/*/ASCEND_PROFILER_OUTPUT/operator_details.csv"))
    assert len(tables) >= 5
    for table in tables:
        right = exporters_rows(table, by == "shape")
        for chosen in ((), ("--step", "all")):
            said = rows("operators", table.parent.parent, "--by", by, *chosen)
            found = {(r["name"], r.get("input_shape") if by == "shape" else None): {c: int(r[c]) for c in ("calls", *CELLS)} for r in said}
            assert found == right, (table, chosen)
