# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots that are well formed and make no sense: blocks over each other, segments that come and go anywhere, sizes at the edge of
64 bits. Every view answers; nothing is negative, and no free run is longer than what is free."""
import csv
import io
import json
import random

import pytest

import support

ACTIONS = ("alloc", "free", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom", "oom")
BASES = (0, 1, 4096, 2**63, 2**64 - 4096, 2**64 - 1, 0x7F0000000000)
SIZES = (0, 1, 512, 4096, 2**20, 2**21, 2**40, 2**59, 2**63 - 1)


def nonsense(seed):
    draw = random.Random(seed)
    places = [(draw.choice(BASES) + draw.randrange(64) * 512 * draw.choice((1, 1, 4096))) % 2**64 for _ in range(12)]
    events = []
    for time in range(draw.randrange(20, 200)):
        action = draw.choice(ACTIONS)
        where = {"device_free": draw.choice((0, 2**40))} if action == "oom" else {"addr": draw.choice(places)}
        events.append({"action": action, "size": draw.choice((*SIZES, draw.randrange(2**24))), "stream": draw.choice((0, 0, 7)),
                       "time_us": time, "pool_id": [draw.choice((0, 1)), 0], **where})
    segments = [{"device": 0, "address": draw.choice(places), "total_size": draw.choice(SIZES), "allocated_size": 0, "active_size": 0,
                 "requested_size": 0, "stream": draw.choice((0, 7)), "segment_type": draw.choice(("small", "large")),
                 "segment_pool_id": [draw.choice((0, 1)), 0], "is_expandable": draw.random() < 0.5, "blocks": []}
                for _ in range(draw.randrange(6))]
    return {"segments": segments, "device_traces": [events]}


@pytest.mark.parametrize("seed", range(60 if support.LONG else 15))
def test_views(seed, tmp_path):
    path = tmp_path / "nonsense.json"
    path.write_text(json.dumps(nonsense(seed)))
    for view in ("oom", "summary", "fragmentation", "map", "peak", "timeline", "leaks", "churn"):
        done = support.run("memory-snapshot", path, "--no-cache", "--view", view, "--format", "csv")
        assert done.returncode == 0 and b"runtime error" not in done.stderr, (view, done.stderr)
        if view == "oom":
            for row in csv.DictReader(io.StringIO(done.stdout.decode())):
                assert 0 <= int(row["largest_free_bytes"]) <= int(row["free_bytes"]) and int(row["other_pools_free_bytes"]) >= 0, row


def test_blocks_that_each_seem_to_have_the_whole_segment(tmp_path):
    """40 blocks of 2 MiB one behind the other, of which none may be split: each reaches to the end of a segment of 2^59 bytes when it comes,
    which is more than 2^63 together. All are freed, so that nothing is left, and at no moment is anything negative."""
    base, size, n = 2**61, 2 << 20, 40
    steps = [("segment_alloc", base, 2**59), *(("alloc", base + i * size, size) for i in range(n)),
             *(("free_completed", base + i * size, size) for i in range(n))]
    events = [{"action": action, "addr": addr, "size": n_bytes, "stream": 0, "time_us": i} for i, (action, addr, n_bytes) in enumerate(steps)]
    path = tmp_path / "whole.json"
    path.write_text(json.dumps({"segments": [], "device_traces": [events], "allocator_settings": {"max_split_size": 1}}))
    said = support.output("memory-snapshot", path, "--no-cache", "--view", "timeline", "--format", "csv").decode()
    left = [int(row["allocated_bytes"]) for row in csv.DictReader(io.StringIO(said))]
    assert left[-1] == 0 and min(left) >= 0
    said = support.output("memory-snapshot", path, "--no-cache", "--view", "peak", "--at", "peak", "--format", "csv").decode()
    assert [row["blocks"] for row in csv.DictReader(io.StringIO(said))] == [str(n)] and float(said.splitlines()[1].split(",")[4]) == 1
