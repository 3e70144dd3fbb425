# SPDX-License-Identifier: Apache-2.0
"""Snapshots and files of Ascend in which little says much: one list that many records share, long names that come again and again, cells that
most rows do not have. Time and memory stay with the size of the file, or the file is refused with what is wrong with it."""
import functools
import json
import pickle
import random

import pytest

import support
from meter import is_linear

MEMORY = 64 << 20
BASE = 0x7F0000000000
pytestmark = pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")


def measure(meter, *words):
    return meter.measure([support.EXE, *words, "--jobs", "1", "--no-cache", "--format", "csv"])


def grows(meter, make, n, *words, memory=MEMORY):
    """A file of n and one of a quarter of it are read, in time that does not grow with the square."""
    large, small = make(n), functools.cache(lambda: make(n // 4))
    seconds, used, code, message = measure(meter, words[0], large, *words[1:])
    assert code == 0, message
    assert is_linear(seconds, lambda: measure(meter, words[0], large, *words[1:])[0],
                     lambda: measure(meter, words[0], small(), *words[1:])[0], 0.03)
    assert used < memory


def refused(meter, path, *words, says):
    seconds, used, code, message = measure(meter, words[0], path, *words[1:])
    assert code == 4 and says in message, message
    assert seconds < 1 and used < 2 * MEMORY


def alloc(i, **more):
    return {"action": "alloc", "addr": BASE + 512 * i, "size": 512, "stream": 0, "time_us": i, **more}


def write(path, **parts):
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [[]], **parts}))
    return path


def segment(i, **more):
    return {"device": 0, "address": BASE + 4096 * i, "total_size": 512, "stream": 0, **more}


# ---- snapshots ----

def test_segments_that_share_their_blocks(meter, tmp_path):
    blocks = [{"address": BASE + 512 * i, "size": 512, "state": "active_allocated"} for i in range(3000)]
    path = write(tmp_path / "x.pickle", segments=[segment(i, blocks=blocks) for i in range(3000)])
    refused(meter, path, "memory-snapshot", says="the segments share lists of blocks")
    # two of a few are one list now and then, and can be read
    path = write(tmp_path / "y.pickle", segments=[segment(i, blocks=blocks[:100]) for i in range(2)])
    assert measure(meter, "memory-snapshot", path)[2] == 0


def test_settings_that_say_one_text_many_times(meter, tmp_path):
    path = write(tmp_path / "x.pickle", allocator_settings=dict.fromkeys(range(500), "x" * 1_000_000))
    refused(meter, path, "memory-snapshot", says="too long to be written down")


def test_settings_of_many_keys(meter, tmp_path):
    def make(n):
        return write(tmp_path / f"{n}.pickle", allocator_settings={f"key{i}": i for i in range(n)})
    grows(meter, make, 40_000, "memory-snapshot")


def test_settings_that_set_a_key_again_and_again(meter, tmp_path):
    """K 1 K 1 is an entry of 1 with the value 1: Python has it once, and looking at it costs what it costs."""
    start = b"\x80\x04}(\x8c\x08segments](e\x8c\x01D}\x94(" + b"K\x01K\x01" * 50_000 + b"u\x8c\x12allocator_settings}("
    path = tmp_path / "x.pickle"
    path.write_bytes(start + b"".join(b"M" + i.to_bytes(2, "little") + b"h\x00" for i in range(5000)) + b"uu.")
    refused(meter, path, "memory-snapshot", says="too long to be written down")


def test_events_that_share_a_long_stack(meter, tmp_path):
    def make(n):
        frames = [{"filename": "a.cpp", "name": "f", "line": 1}] * (2 * n)
        return write(tmp_path / f"{n}.pickle", device_traces=[[alloc(i, frames=frames) for i in range(n)]])
    grows(meter, make, 8000, "memory-snapshot")


def test_long_names_of_frames_and_annotations(meter, tmp_path):
    frames = [{"filename": "a.cpp", "name": "F" * 30_000, "line": 1}] * 5000
    notes = [{"stage": "START", "name": "N" * 300_000, "device": 0, "time_us": i} for i in range(70)]
    path = write(tmp_path / "x.pickle", device_traces=[[alloc(1000, frames=frames)]], external_annotations=notes)
    for by in ("stack", "annotation"):
        _, used, code, message = measure(meter, "memory-snapshot", path, "--view", "peak", "--by", by)
        assert code == 0, message
        assert used < MEMORY
    said = support.output("memory-snapshot", path, "--view", "peak", "--by", "stack", "--format", "csv", "--no-cache").decode()
    assert ";...," in said and said.count("a.cpp:1 F") > 1


def test_devices_that_all_fail(meter, tmp_path):
    """Each device has a request that failed, and all segments are those of the first one."""
    def make(n):
        failures = [[{"action": "oom", "device_free": 0, "size": 512, "stream": 0, "time_us": 1}] for _ in range(3000)]
        return write(tmp_path / f"{n}.pickle", device_traces=failures, segments=[segment(i) for i in range(n)])
    _, used, code, message = measure(meter, "memory-snapshot", make(3000), "--view", "oom")
    assert code == 0 and used < MEMORY, message


@pytest.mark.parametrize("step", (-1, 0), ids=("descending", "in one place"))
def test_segments_out_of_order(step, meter, tmp_path):
    def make(n):
        return write(tmp_path / f"{n}.pickle", segments=[segment(n + step * i) for i in range(n)])
    grows(meter, make, 80_000, "memory-snapshot", memory=2 * MEMORY)


def test_segments_that_go_in_any_order(meter, tmp_path):
    def make(n):
        order = random.Random(n).sample(range(n), n)
        return write(tmp_path / f"{n}.pickle", segments=[segment(-1)],
                     device_traces=[[{**alloc(i, time_us=k), "addr": BASE + 4096 * i, "action": "segment_free"} for k, i in enumerate(order)] + [alloc(-8)]])
    grows(meter, make, 80_000, "memory-snapshot")


def segments_with_a_block(n):
    return {"segments": [segment(i, blocks=[{"size": 512, "state": "active_allocated", "address": BASE + 4096 * i}]) for i in range(n)]}


def annotations(n):
    return {"external_annotations": [{"name": "a", "time_us": i, "stage": "START", "device": 0} for i in range(n)]}


def steps(n):
    return {"external_annotations": [{"name": f"step {i // 2}", "time_us": i, "stage": ("START", "END")[i % 2], "device": 0} for i in range(n)]}


@pytest.mark.parametrize("view", ("summary", "peak", "leaks", "fragmentation", "churn", "blocks"))
@pytest.mark.parametrize("more", (segments_with_a_block, annotations, steps))
def test_devices_with_one_event_each(more, view, meter, tmp_path):
    """And as many segments, annotations or steps as there are devices."""
    def make(n):
        return write(tmp_path / f"{n}.pickle", device_traces=[[alloc(i)] for i in range(n)], **more(n))
    grows(meter, make, 40_000, "memory-snapshot", "--view", view, memory=2 * MEMORY)


def test_ends_of_annotations_that_none_began(meter, tmp_path):
    def make(n):
        notes = [{"stage": stage, "name": name, "device": 0, "time_us": 1} for stage, name in (("START", "a"), ("END", "b")) for _ in range(n)]
        return write(tmp_path / f"{n}.pickle", device_traces=[[alloc(1000)]], external_annotations=notes)
    grows(meter, make, 40_000, "memory-snapshot", "--view", "peak", "--by", "annotation")


# ---- Ascend ----

def database(path, *statements):
    import sqlite3
    if b"SQLite" not in support.output("version"):
        pytest.skip("skipped: built without SQLite")
    db = sqlite3.connect(path)
    for statement, values in statements:
        db.executemany(statement, values) if values else db.execute(statement)
    db.commit()
    db.close()
    return path


def test_counters_of_one_task(meter, tmp_path):
    """The counters of a task come in two turns, those of the other between them: its number is written as a number and as a text."""
    def make(n):
        return database(
            tmp_path / f"ascend_pytorch_profiler_{n}.db",
            ("CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT)", ()), ("INSERT INTO STRING_IDS VALUES(?,?)", [(1, "x"), (2, "y")]),
            ("CREATE TABLE TASK(startNs, endNs, deviceId, connectionId, globalTaskId, taskType, streamId)", ()),
            ("INSERT INTO TASK VALUES(?,?,0,1,?,1,0)", [(1, 2, 1), (3, 4, 2)]), ("CREATE TABLE TASK_PMU_INFO(globalTaskId, name, value)", ()),
            ("INSERT INTO TASK_PMU_INFO VALUES(?,?,1.0)", [(1, 1)] * n + [("1", 2)] * n + [(2, 1)]))
    grows(meter, make, 60_000, "health")


def test_two_files_of_one_table(meter, tmp_path):
    """One of 500 columns and one of 50,000 rows: 25 million cells, of which all but 100,000 are empty."""
    rank = tmp_path / "w_17_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    rank.mkdir(parents=True)
    (rank / "step_trace_time.csv").write_text(",".join(f"c{i}" for i in range(500)) + "\n" + ",".join(["1"] * 500) + "\n")
    (rank / "step_trace_time.1.csv").write_text("a,b\n" + "1,2\n" * 50_000)
    refused(meter, tmp_path / "w_17_ascend_pt", "health", says="table step_trace_time has 502 columns and 50001 rows")


def test_cells_with_doubled_quotes(meter, tmp_path):
    def make(n):
        path = tmp_path / f"{n}" / "step_trace_time.csv"
        path.parent.mkdir()
        # text behind the row, so that its end is not that of the file
        path.write_text("Step,Computing\n" + ",".join(['"a""b"'] * n) + "\n" + "1,2\n" * 200_000)
        return path
    grows(meter, make, 16_000, "tables")


def test_tasks_of_one_name_at_one_time(meter, tmp_path):
    def make(n):
        rank = tmp_path / f"{n}" / "w_17_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        rank.mkdir(parents=True)
        (rank / "trace_view.json").write_text(json.dumps([{"ph": "X", "name": "k", "ts": "5.000", "dur": 1, "pid": 1, "tid": 1}] * n))
        (rank / "kernel_details.csv").write_text("Name,Start Time(us),Duration(us),Accelerator Core\n" + "k,5.000,1,AI_CORE\n" * n)
        return rank.parent
    grows(meter, make, 40_000, "health", memory=2 * MEMORY)
