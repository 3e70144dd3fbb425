# SPDX-License-Identifier: Apache-2.0
"""Critical path of recordings: properties that hold for each, and across ranks."""
import collections

import pytest

import support
from critical import EXAMPLES, IDS, TRACES, check_path, rows, rule


@pytest.mark.parametrize("trace", TRACES, ids=IDS)
def test_the_path_covers_the_window(trace):
    streams = collections.defaultdict(set)
    for r in rows(trace, "--view", "events"):
        if r["stream"]:
            streams[r["rank"]].add((r["pid"], r["stream"]))
    window = check_path(trace, one_stream=max(map(len, streams.values()), default=0) == 1)
    # nothing scaled: the model walks forward to the recorded times
    for r in rows(trace, "--view", "what-if", "--scale", "no such name=0"):
        assert r["length_ns"] == r["new_length_ns"] and r["n_edges"] == "0"
        assert int(r["length_ns"]) == window[r["rank"], r["instance"]]


def test_idle_is_that_of_the_breakdowns():
    """One window over everything: its idle time is that between the GPU work, and before and after it."""
    (g,) = rows(EXAMPLES / "train", "--annotation", "", "--view", "graph")
    names, cells = support.read_csv(support.output(
        "temporal-breakdown", EXAMPLES / "train", "--step", "all", "--format", "csv"))
    busy = dict(zip(names, cells[0]))
    assert int(g["window_ns"]) - int(g["idle_ns"]) == int(busy["span_ns"]) - int(busy["idle_ns"])


@pytest.mark.parametrize("trace", TRACES[:5], ids=IDS[:5])
def test_edges_lead_forward(trace):
    for r in rows(trace, "--view", "edges", "--rank", "0"):
        assert int(r["duration_ns"]) >= 0
        assert (r["critical"] == "true") == (r["slack_ns"] == "0")


@pytest.mark.parametrize("trace", TRACES[:4], ids=IDS[:4])
def test_the_longest_way_is_the_window(trace):
    """By an independent walk over the edges, in the order of their times."""
    when = {}
    for r in rows(trace, "--view", "events", "--rank", "0", "--instance", "0"):
        when[r["index"], "start"] = int(r["ts_ns"])
        when[r["index"], "end"] = int(r["ts_ns"]) + int(r["dur_ns"])
    into = collections.defaultdict(list)
    for r in rows(trace, "--view", "edges", "--rank", "0", "--instance", "0"):
        into[r["to_index"], r["to_point"]].append(
            ((r["from_index"], r["from_point"]), int(r["duration_ns"])))
    longest = {}

    def length(node):
        stack = [node]
        while stack:
            at = stack[-1]
            todo = [u for u, _ in into[at] if u not in longest]
            if todo:
                stack += todo
                continue
            longest[at] = max((longest[u] + w for u, w in into[at]), default=0)
            stack.pop()
        return longest[node]

    (g,) = rows(trace, "--view", "graph", "--rank", "0", "--instance", "0")
    assert max(map(length, list(into))) == int(g["window_ns"])


@pytest.mark.parametrize("trace", TRACES[:4], ids=IDS[:4])
def test_scaling_on_and_off_the_path(trace):
    chosen = ("--rank", "0", "--instance", "0")
    on, off = collections.Counter(), {}
    for r in rows(trace, "--view", "events", *chosen):
        if r["critical"] == "true":
            on[r["name"]] += int(r["dur_ns"])
        elif r["slack_ns"]:
            off[r["name"]] = min(int(r["slack_ns"]), off.get(r["name"], 1 << 60))
    off = {name: off[name] for name in sorted(set(off) - set(on))[:12]}
    for name, slack in off.items():
        (r,) = rows(trace, *chosen, "--view", "what-if", "--scale", rule(name, 0))
        assert 0 <= int(r["saved_ns"]) <= slack
    for name, time in on.most_common(4):
        for factor in (0, 0.5):
            (r,) = rows(trace, *chosen, "--view", "what-if", "--scale", rule(name, factor))
            assert -1 <= int(r["saved_ns"]) <= time * (1 - factor) + 1


def test_the_planted_kernels_are_what_could_be_saved():
    """Six matrix products a step on rank 2: without them each step is shorter by what they take."""
    found = rows(EXAMPLES / "straggler", "--rank", "2", "--view", "what-if", "--scale",
                 "tilesize256x128x8=0")
    assert len(found) >= 3
    for r in found:
        assert int(r["n_edges"]) == 6
        assert 0.85 <= int(r["saved_ns"]) / int(r["matched_ns"]) <= 1.15


def test_across_ranks_the_straggler_is_named():
    trace = EXAMPLES / "straggler"
    total, window = collections.Counter(), {}
    for r in rows(trace, "--across"):
        total[r["instance"]] += int(r["duration_ns"])
        window[r["instance"]] = int(r["window_ns"])
    assert total == window
    products = collections.Counter()
    pieces = collections.defaultdict(list)
    for r in rows(trace, "--across", "--view", "path"):
        pieces[r["instance"]].append((int(r["ts_ns"]), int(r["duration_ns"])))
        if "tilesize256x128x8" in (r["name"] or ""):
            products[r["instance"], r["rank"]] += int(r["duration_ns"])
    for instance, found in pieces.items():
        assert all(a + d == b for (a, d), (b, _) in zip(found, found[1:]))
        assert products[instance, "2"] > 60e6
    assert {rank for _, rank in products} == {"2"}
    first = [r for r in rows(trace, "--view", "collectives") if r["nth"] == "0"]
    assert first and all(r["last_rank"] == "2" and "tilesize256x128x8" in r["waited_for"]
                         for r in first)


@pytest.mark.parametrize("name", ["ddp", "train"])
def test_across_covers_the_job(name):
    total, window = collections.Counter(), {}
    for r in rows(EXAMPLES / name, "--across"):
        total[r["instance"]] += int(r["duration_ns"])
        window[r["instance"]] = int(r["window_ns"])
    assert total == window and window
    own = {}
    for r in rows(EXAMPLES / name, "--view", "graph"):
        start = int(r["window_start_ns"])
        first, last = own.get(r["instance"], (start, start))
        own[r["instance"]] = min(first, start), max(last, start + int(r["window_ns"]))
    expected, over = {}, 0
    for k, (first, last) in sorted(own.items(), key=lambda one: int(one[0])):
        # what the step before still does when the CPU is ahead is of that one
        expected[k], over = last - max(first, over), max(last, over)
    assert window == expected
