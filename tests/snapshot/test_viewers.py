# SPDX-License-Identifier: Apache-2.0
"""What others report of the same file: the texts of PyTorch's own viewer, and mosaic's peak.

The viewer, torch/cuda/_memory_viz.py, needs nothing but Python. It is that of an installed torch, or the file that
HOLOTRACE_MEMORY_VIZ names; without it its tests are skipped. It is given a snapshot that is made of our tables alone, and
must print of it what it prints of the recording. Mosaic's figures are computed from their definition, which mosaic's own sample ties to what mosaic
reports: its tests (test/test_cmds.py of facebookresearch/mosaic) expect a peak of 2,255,398,132 bytes of it.
"""
import csv
import gzip
import importlib.util
import io
import json
import os
import pathlib
import pickle

import pytest

import support

DATA = pathlib.Path(__file__).parent / "data"
ALL = [(kind, name) for kind in ("plain", "expandable") for name in ("clean", "leak", "frag", "oom")]


def load(path):
    return pickle.loads(gzip.decompress(path.read_bytes()))


def path_of(kind, name):
    return DATA / kind / f"{name}.pickle.gz"


def rows(*options):
    text = support.output("memory-snapshot", "--no-cache", "--format", "csv", *options).decode()
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def viewer():
    path = os.environ.get("HOLOTRACE_MEMORY_VIZ")
    if not path:
        torch = importlib.util.find_spec("torch")
        if not torch:
            pytest.skip("needs torch, or its file cuda/_memory_viz.py by HOLOTRACE_MEMORY_VIZ")
        path = pathlib.Path(torch.origin).parent / "cuda" / "_memory_viz.py"
    spec = importlib.util.spec_from_file_location("memory_viz", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def number(text):
    return int(text, 0)


def rebuilt(path):
    """The dictionary of a snapshot, out of the views segments, blocks and events."""
    blocks = {}
    for row in rows(path, "--view", "blocks", "--at", "end"):
        blocks.setdefault(row["segment"], []).append({
            "address": number(row["address"]), "size": int(row["bytes"]), "state": row["state"], "frames": [],
            "requested_size": int(row["requested_bytes"] or 0)})
    segments = [{"address": number(row["address"]), "total_size": int(row["total_bytes"]), "stream": int(row["stream"]),
                 "allocated_size": int(row["allocated_bytes"]), "blocks": blocks[row["address"]]}
                for row in rows(path, "--view", "segments")]
    entries = [{"action": row["action"], "addr": number(row["address"]) if row["address"] else None, "size": int(row["bytes"])}
               for row in rows(path, "--view", "events")]
    free = iter(rows(path, "--view", "oom"))
    for entry in entries:
        if entry["action"] == "oom":
            entry["device_free"] = int(next(free)["driver_free_bytes"])
    return {"segments": segments, "device_traces": [entries]}


#: others are printed by the viewer as the dictionary that they are, with what we name otherwise
DRAWN = {"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "oom"}


@pytest.mark.parametrize("kind, name", ALL)
def test_texts_of_the_viewer(viewer, kind, name):
    theirs, ours = load(path_of(kind, name)), rebuilt(path_of(kind, name))
    # segments of one size and fill are printed in the order of the file
    assert sorted(viewer.segsum(ours).splitlines()) == sorted(viewer.segsum(theirs).splitlines())
    order = {segment["address"]: i for i, segment in enumerate(theirs["segments"])}
    ours["segments"].sort(key=lambda segment: order[segment["address"]])
    for snapshot in (theirs, ours):
        snapshot["device_traces"] = [[e for e in trace if e["action"] in DRAWN] for trace in snapshot["device_traces"]]
    assert viewer.trace(ours) == viewer.trace(theirs)

    def without_stacks(snapshot):
        for segment in snapshot["segments"]:
            for block in segment["blocks"]:
                block["frames"] = []
                block["requested_size"] *= block["state"] != "inactive"  # a stale value otherwise
        return sorted(viewer.memory(snapshot, format_flamegraph=str).splitlines())
    assert without_stacks(ours) == without_stacks(theirs)


def mosaic_of(snapshot):
    """Dynamic: the most that allocations of the history hold, freed when that completes. Static: blocks that no event names."""
    events = snapshot["device_traces"][0]
    live, now, peak = {}, 0, 0
    for event in events:
        if event["action"] == "alloc":
            live[event["addr"]] = event["size"]
            now += event["size"]
        elif event["action"] == "free_completed":
            now -= live.pop(event["addr"], 0)
        peak = max(peak, now)
    named = {event["addr"] for event in events if event["action"] in ("alloc", "free_requested", "free_completed")}
    static = sum(block["size"] for segment in snapshot["segments"] for block in segment["blocks"]
                 if block["state"] == "active_allocated" and block["address"] not in named)
    return peak, static


def ours_of(path):
    row, = rows(path)
    return int(row["mosaic_dynamic_bytes"]), int(row["mosaic_static_bytes"])


@pytest.mark.parametrize("kind, name", ALL)
def test_peak_of_mosaic(kind, name, tmp_path):
    """The same of the JSON that mosaic writes of a snapshot, where tuples are lists."""
    snapshot = load(path_of(kind, name))
    as_json = tmp_path / "snapshot.json"
    as_json.write_text(json.dumps(snapshot))
    assert ours_of(path_of(kind, name)) == ours_of(as_json) == mosaic_of(snapshot)


def test_peak_that_mosaic_expects_of_its_sample(tmp_path):
    samples = support.extra_files("mosaic_output.pickle.gz")
    if not samples:
        pytest.skip("HOLOTRACE_EXTRA_DATA has no sample of mosaic")
    snapshot = load(samples[0])
    as_json = tmp_path / "snapshot.json"
    as_json.write_text(json.dumps(snapshot))
    assert mosaic_of(snapshot)[0] == 2255398132
    assert ours_of(samples[0]) == ours_of(as_json) == mosaic_of(snapshot)


def test_many_failures_cost_no_more_than_the_history(tmp_path):
    """4,000 requests that fail among 36,000 events: each has the blocks of its moment, in memory for one."""
    events, live, time = [], {}, 0
    base, size = 0x7f0000000000, 1 << 21
    segments = [{"device": 0, "address": base, "total_size": 8 * size, "allocated_size": 0, "active_size": 0,
                 "requested_size": 0, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
                 "frames": [], "blocks": [{"address": base, "size": 8 * size, "requested_size": 0, "state": "inactive",
                                           "frames": []}]}]
    want = []

    def add(action, **more):
        nonlocal time
        time += 1
        events.append({"action": action, "stream": 0, "time_us": 1_700_000_000_000_000 + time, "frames": [], **more})

    for i in range(4000):
        # 1 to 4 blocks from the start: what is behind them is one run
        n = 1 + i % 4
        for k in range(n):
            add("alloc", addr=base + k * size, size=size)
        add("oom", device_free=0, size=16 * size)
        want.append(((8 - n) * size, (8 - n) * size))
        for k in range(n):
            add("free_requested", addr=base + k * size, size=size)
            add("free_completed", addr=base + k * size, size=size)
    path = tmp_path / "many.pickle"
    path.write_bytes(pickle.dumps({"segments": segments, "device_traces": [events], "allocator_settings": {}}))
    done = support.run("memory-snapshot", "--no-cache", "--view", "oom", "--format", "csv", "--memory-limit", "256M", path)
    assert done.returncode == 0, done.stderr
    got = [(int(row["free_bytes"]), int(row["largest_free_bytes"])) for row in csv.DictReader(io.StringIO(done.stdout.decode()))]
    assert got == want


def test_sums_beside_their_events_are_left_out(tmp_path):
    """Of many memory timelines in a folder those event by event are read, and sums that have none."""
    raw = gzip.compress(b"[[1000, 2, 512, 0], [2000, 4, -512, 0]]")
    for i in range(20):
        (tmp_path / f"rank{i}.raw.json.gz").write_bytes(raw)
        (tmp_path / f"rank{i}.json").write_text("[[1, 2], [[0, 512, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]]")
    (tmp_path / "rank20.json").write_text("[[1, 2], [[0, 512, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]]")
    text = support.output("info", "--no-cache", "--format", "csv", tmp_path).decode()
    files = sorted(pathlib.Path(row["value"]).name for row in csv.DictReader(io.StringIO(text)) if row["item"] == "path")
    assert files == sorted([f"rank{i}.raw.json.gz" for i in range(20)] + ["rank20.json"])
