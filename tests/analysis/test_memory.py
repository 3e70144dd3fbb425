# SPDX-License-Identifier: Apache-2.0
"""Memory timelines of traces and of raw timeline files."""
import gzip
import json
import os

import pytest

import support
from tiny import EXAMPLES, Tiny, notes, rows

MIB = 1 << 20


@pytest.fixture
def trace(tmp_path):
    t = Tiny()
    t.step(1, 0, 100)
    t.step(2, 100, 100)
    t.memory(10, 4 * MIB, 4 * MIB, 20 * MIB)
    t.memory(20, 2 * MIB, 6 * MIB, 20 * MIB)
    t.memory(30, -2 * MIB, 4 * MIB, 22 * MIB)
    t.memory(110, 1 * MIB, 5 * MIB, 22 * MIB)
    t.memory(120, 100, device_type=0)
    t.memory(130, -40, device_type=0)
    return t.write(tmp_path)


def test_summary_of_a_trace(trace):
    found = {(r["device"], r["category"]): r for r in rows("memory-timeline", trace)}
    assert set(found) == {("cpu", "allocated"), ("cuda:0", "allocated"), ("cuda:0", "reserved")}
    gpu = found["cuda:0", "allocated"]
    assert (gpu["peak_bytes"], gpu["peak_ts_ns"], gpu["final_bytes"]) == (
        str(6 * MIB), "20000", str(5 * MIB))
    reserved = found["cuda:0", "reserved"]
    assert (reserved["peak_bytes"], reserved["at_total_peak_bytes"]) == (str(22 * MIB), str(20 * MIB))
    assert found["cpu", "allocated"]["final_bytes"] == "60"  # from the bytes alone


def test_series_and_steps_of_a_trace(trace):
    found = rows("memory-timeline", trace, "--view", "series")
    assert [(r["device"], r["ts_ns"], r["delta_bytes"], r["allocated_bytes"]) for r in found][:3] == [
        ("cpu", "120000", "100", "100"), ("cpu", "130000", "-40", "60"),
        ("cuda:0", "10000", str(4 * MIB), str(4 * MIB))]
    found = rows("memory-timeline", trace, "--view", "series", "--step", "2")
    assert [r["ts_ns"] for r in found] == ["120000", "130000", "110000"]


def test_traces_without_memory_say_so():
    assert rows("memory-timeline", EXAMPLES / "ddp") == []
    assert "profile_memory=True" in notes("memory-timeline", EXAMPLES / "ddp")[0]


def test_totals_of_an_example_follow_the_bytes():
    """Where the profiler wrote totals they are what the running sum of bytes gives."""
    last = {}
    for r in rows("memory-timeline", EXAMPLES / "train", "--view", "series"):
        allocated, delta = int(r["allocated_bytes"]), int(r["delta_bytes"])
        if r["device"] in last and r["device"] != "cpu":
            assert allocated == last[r["device"]] + delta
        last[r["device"]] = allocated
    assert last


# ---- raw timeline files ----


def raw(folder, events, name="timeline.raw.json.gz"):
    path = folder / name
    text = json.dumps(events).encode()
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    return path


@pytest.mark.parametrize("name", ["timeline.raw.json.gz", "timeline.json"])
def test_summary_of_a_file(tmp_path, trace, name):
    path = raw(tmp_path, [[-1, 0, 4 * MIB, 0], [-1, 0, 10, 7], [1000, 1, 2 * MIB, 4],
                          [1000, 1, 50, 5], [3000, 3, -2 * MIB, 4]], name)
    found = {r["category"]: r for r in rows("memory-timeline", trace, "--file", path)}
    assert found["total"]["peak_bytes"] == str(6 * MIB + 60)
    assert found["activation"]["peak_bytes"] == str(2 * MIB)
    assert found["activation"]["at_total_peak_bytes"] == str(2 * MIB)
    assert found["activation"]["final_bytes"] == "0"
    assert found["parameter"]["peak_ts_ns"] == "0"
    shares = sum(float(r["share_at_peak"]) for c, r in found.items() if c != "total")
    assert shares == pytest.approx(1)


def test_series_of_a_file(tmp_path, trace):
    path = raw(tmp_path, [[-1, 0, 100, 0], [5000, 1, 7, 4], [5000, "create", 8, 3], [9000, 3, -7, 4]])
    found = rows("memory-timeline", trace, "--file", path, "--view", "series")
    assert [(r["ts_ns"], r["parameter_bytes"], r["activation_bytes"], r["temporary_bytes"],
             r["total_bytes"]) for r in found] == [
        ("0", "100", "0", "0", "100"), ("0", "100", "7", "8", "115"), ("4000", "100", "0", "8", "108")]


EVENTS = [[-1, 0, 100, 0], [5000, 1, 7, 4], [5000, "create", 8, 3], [9000, 3, -7, 4]]


def test_a_timeline_is_a_trace_of_its_own(tmp_path):
    """Named as a trace it is recognised, has a rank, and answers what --file answers."""
    path = raw(tmp_path, EVENTS)
    assert [r["value"] for r in rows("info", path) if r["item"] == "dialect"] == ["memory timeline"]
    named = rows("memory-timeline", f"3={path}")
    assert {r["rank"] for r in named} == {"3"} and len(named) == 9
    assert [dict(r, rank=None) for r in named] == rows("memory-timeline", "--file", path)
    found = rows("memory-timeline", path, "--view", "categories")
    assert [dict(r, rank=None) for r in found] == rows("memory-timeline", "--file", path, "--view", "series")
    found = rows("memory-timeline", path, "--view", "series")
    assert [(r["device"], r["ts_ns"], r["delta_bytes"], r["allocated_bytes"], r["reserved_bytes"])
            for r in found] == [(None, "0", "100", "100", None), (None, "0", "15", "115", None),
                                (None, "4000", "-7", "108", None)]
    found = rows("events", path, "--columns", "ts_ns,kind,name,args.Bytes,args.Action,args.Preexisting")
    assert [(r["name"], r["args.Bytes"], r["args.Action"], r["args.Preexisting"]) for r in found] == [
        ("parameter", "100", "0", "true"), ("activation", "7", "1", None), ("temporary", "8", "create", None),
        ("activation", "-7", "3", None)]
    assert {r["kind"] for r in found} == {"memory_timeline"}


def test_a_timeline_survives_conversion_and_the_cache(tmp_path):
    path, copy = raw(tmp_path, EVENTS), tmp_path / "copy.json"
    assert support.run("convert", path, "-o", copy).returncode == 0
    for _ in range(2):
        for view in ("summary", "series", "categories"):
            assert rows("memory-timeline", copy, "--view", view) == rows("memory-timeline", path, "--view", view)


def test_directories_hold_traces_not_timelines(tmp_path, trace):
    raw(trace.parent if hasattr(trace, "parent") else tmp_path, EVENTS)
    done = support.run("info", tmp_path)
    assert done.returncode == 0 and b"skipped timeline.raw.json.gz: a memory timeline" in done.stdout + done.stderr


def test_nested_lists_of_events_are_no_timeline(tmp_path):
    path = tmp_path / "nested.json"
    path.write_text('[[{"ph":"X","name":"a","ts":1,"dur":2}]]')
    assert [r["name"] for r in rows("events", path)] == ["a"]


@pytest.mark.parametrize("text", [b"{}", b"[[1, 2]]", b"[[1, 2, 3, 9]]", b"[[1, 2, 3, 0]", b"[[1,",
                                  b""])
def test_other_files_are_told(tmp_path, trace, text):
    path = tmp_path / "other.json"
    path.write_bytes(text)
    done = support.run("memory-timeline", trace, "--file", path)
    assert done.returncode == 3 and b"memory timeline" in done.stderr


@pytest.mark.skipif(not os.environ.get("HOLOTRACE_EXTRA_DATA"), reason="no extra data")
def test_hta_memory_analysis(trace):
    """What HTA's own test expects of its sample."""
    path = os.path.join(os.environ["HOLOTRACE_EXTRA_DATA"], "hta/memory_analysis/memory_timeline.raw.gz")
    found = rows("memory-timeline", trace, "--file", path, "--view", "series")
    names = ("parameter", "optimizer_state", "input", "temporary", "activation", "gradient",
             "autograd_detail", "unknown")
    assert [int(found[744][n + "_bytes"]) for n in names] == [
        102440608, 102228128, 19395584, 0, 2618160128, 58417152, 41811968, 25494440]
