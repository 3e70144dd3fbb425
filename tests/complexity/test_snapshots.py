# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots and timelines: four times the events, failed requests or files take four times as long, not sixteen."""
import functools
import pickle

import pytest

import support
from meter import is_linear

BASE, SIZE = 0x7F0000000000, 1 << 21


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A function that answers the file of a kind and size, which is written once."""
    folder = tmp_path_factory.mktemp("files")
    return functools.lru_cache(maxsize=None)(lambda make, n: make(folder / f"{make.__name__}-{n}.pickle", n))


def measure(meter, *words):
    seconds, memory, code, message = meter.measure([support.EXE, *words, "--jobs", "1", "--no-cache", "--format", "csv"])
    assert code == 0, message
    return seconds, memory


def snapshot(path, events, n_blocks):
    """One segment, free at the end, behind events that each have their time."""
    for i, event in enumerate(events):
        event.update(stream=0, time_us=1_700_000_000_000_000 + i, frames=[])
    segment = {"device": 0, "address": BASE, "total_size": n_blocks * SIZE, "allocated_size": 0, "active_size": 0, "requested_size": 0,
               "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
               "blocks": [{"address": BASE, "size": n_blocks * SIZE, "requested_size": 0, "state": "inactive", "frames": []}]}
    path.write_bytes(pickle.dumps({"segments": [segment], "device_traces": [events], "allocator_settings": {}}))
    return path


def block(action, i):
    return {"action": action, "addr": BASE + i * SIZE, "size": SIZE}


def many_failures(path, n):
    """Requests that fail one after the other, each with a few blocks there."""
    events = []
    for i in range(n):
        live = range(1 + i % 8)
        events += [block("alloc", k) for k in live]
        events.append({"action": "oom", "device_free": 0, "size": 16 * SIZE})
        events += [block(action, k) for k in live for action in ("free_requested", "free_completed")]
    return snapshot(path, events, 8)


def many_blocks(path, n):
    """Ever more blocks, and a few requests that fail among them."""
    events = []
    for i in range(n):
        events.append(block("alloc", i))
        if i % (n // 8) == 0:
            events.append({"action": "oom", "device_free": 0, "size": n * SIZE})
    events += [block(action, i) for i in range(n) for action in ("free_requested", "free_completed")]
    return snapshot(path, events, n)


def failures_among_blocks(path, n):
    """A request that fails after every allocation: as many failures as blocks, each of which is there at half of them."""
    events = []
    for i in range(n):
        events += [block("alloc", i), {"action": "oom", "device_free": 0, "size": n * SIZE}]
    events += [block(action, i) for i in range(n) for action in ("free_requested", "free_completed")]
    return snapshot(path, events, n)


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
@pytest.mark.parametrize("view", ("oom", "timeline", "blocks", "map", "fragmentation"))
@pytest.mark.parametrize("make, n", ((many_failures, 10_000), (many_blocks, 40_000), (failures_among_blocks, 20_000)), ids=("failures", "blocks", "both"))
def test_views(make, n, view, meter, files):
    large = files(make, n)
    seconds, memory = measure(meter, "memory-snapshot", large, "--view", view)
    assert is_linear(seconds, lambda: measure(meter, "memory-snapshot", large, "--view", view)[0],
                     lambda: measure(meter, "memory-snapshot", files(make, n // 4), "--view", view)[0])
    assert memory < 256 << 20


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
def test_timelines_beside_their_raw_form(meter, tmp_path):
    """A folder in which every timeline is there twice: which of two is the sum of the other is not asked file by file."""
    def folder(name, n):
        (tmp_path / name).mkdir()
        for i in range(n):
            (tmp_path / name / f"rank{i}.raw.json").write_text("[[1000, 2, 512, 0]]")
            (tmp_path / name / f"rank{i}.json").write_text("[[1], [[0, 512, 0, 0, 0, 0, 0, 0, 0]]]")
        return tmp_path / name
    small, large = folder("small", 250), folder("large", 1000)

    def seconds(path):
        return measure(meter, "memory-timeline", path)[0]

    assert is_linear(seconds(large), lambda: seconds(large), lambda: seconds(small))
