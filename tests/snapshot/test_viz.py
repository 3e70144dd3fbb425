# SPDX-License-Identifier: Apache-2.0
"""What torch's own viewer prints of a snapshot, `python -m torch.cuda._memory_viz`, equals our numbers.

The texts of the viewer (torch 2.15) about our snapshots are kept as digests in data/viz.json: the lines of its flame graph of
memory, each stack once with its sum, and the totals of its segment summary. Where torch is installed, or HOLOTRACE_MEMORY_VIZ names its
_memory_viz.py, the viewer itself runs.
"""
import collections
import csv
import gzip
import hashlib
import importlib.util
import io
import json
import os
import pathlib
import pickle

import pytest

import support

DATA = pathlib.Path(__file__).parent / "data"
ALL = [f"{kind}/{name}" for kind in ("plain", "expandable") for name in ("clean", "leak", "frag", "oom")]


def rows(name, *options):
    text = support.output("memory-snapshot", "--no-cache", "--format", "csv", DATA / f"{name}.pickle.gz", *options).decode()
    return list(csv.DictReader(io.StringIO(text)))


def digest(sums):
    text = "".join(f"{key} {value}\n" for key, value in sorted(sums.items()) if value)
    return hashlib.sha256(text.encode()).hexdigest()


def frame(text):
    """"train.py:62 step" as the viewer writes it; what has no place in a file has its name alone with us."""
    place, _, name = text.partition(" ")
    return f"{place}:{name}" if name and place.rpartition(":")[2].lstrip("-").isdigit() else text


def ours(name):
    """The viewer's lines from our blocks: what was asked for under its stack, the rest of a block as gaps. A free block has
    no stack of its own; the viewer shows an old one with an old size, so only the whole of its bytes is compared."""
    sums = collections.Counter()
    for block in rows(name, "--view", "blocks", "--at", "end"):
        if block["state"] == "inactive":
            sums["inactive"] += int(block["bytes"])
            continue
        prefix = f"stream_{block['stream']};{block['state']};"
        stack = ";".join(map(frame, block["stack"].split(";"))) if block["stack"] != "(no stack)" else "<non-python>"
        sums[prefix + stack] += int(block["requested_bytes"])
        sums[prefix + "<gaps>"] += int(block["bytes"]) - int(block["requested_bytes"])
    return sums


def theirs(viz, snapshot):
    sums = collections.Counter()
    for line in viz.memory(snapshot, format_flamegraph=lambda text: text).splitlines():
        key, _, size = line.rpartition(" ")
        if ";inactive;" in key:
            key = "inactive"
        else:
            stream, state, *frames = key.split(";")
            # "??:0:name" is a frame without a place
            key = ";".join([stream, state, *(one.removeprefix("??:0:") for one in frames)])
        sums[key] += int(size)
    return sums


def totals(viz, snapshot):
    """Exact totals by the viewer's own definitions; its text has them rounded, and fails where they do not add up."""
    viz.segsum(snapshot)
    blocks = [block for segment in snapshot["segments"] for block in segment["blocks"]]
    held = [block for block in blocks if block["state"] == "active_allocated"]
    return {"reserved": sum(segment["total_size"] for segment in snapshot["segments"]),
            "requested": sum(block["requested_size"] for block in held),
            "internal": sum(block["size"] - block["requested_size"] for block in held)}


def viewer():
    path = os.environ.get("HOLOTRACE_MEMORY_VIZ")
    try:
        spec = importlib.util.spec_from_file_location("viz", path) if path else \
            importlib.util.find_spec("torch.cuda._memory_viz")
    except ModuleNotFoundError:
        spec = None
    if not spec:
        pytest.skip("skipped: no torch, and HOLOTRACE_MEMORY_VIZ is not set")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ALL)
def test_digests_of_the_viewers_texts(name):
    wanted = json.loads((DATA / "viz.json").read_text())[name]
    summary, = rows(name)
    space, = rows(name, "--view", "fragmentation", "--at", "end")
    assert digest(ours(name)) == wanted["memory"]
    assert int(summary["reserved_bytes"]) == wanted["reserved"]
    assert int(summary["requested_bytes"]) == wanted["requested"]
    assert int(space["waste_bytes"]) == wanted["internal"]


@pytest.mark.parametrize("name", ALL)
def test_the_viewer_itself(name):
    viz = viewer()
    snapshot = pickle.loads(gzip.decompress((DATA / f"{name}.pickle.gz").read_bytes()))
    found = {"memory": digest(theirs(viz, snapshot)), **totals(viz, snapshot)}
    assert {key: value for key, value in ours(name).items() if value} == \
        {key: value for key, value in theirs(viz, snapshot).items() if value}
    assert found == json.loads((DATA / "viz.json").read_text())[name]
