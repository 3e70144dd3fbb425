# SPDX-License-Identifier: Apache-2.0
"""What the trace view asks, against the list of events: search in both directions, sums of selections, links, curves."""
import fractions
import json
import random

import pytest
import shapes
import support

from client import cpu_seconds, quote, serving

RUN = support.ROOT / "examples" / "straggler"
COLUMNS = "id,index,name,time_ns,span_ns,kind,class,device,launch,op,parent,pid,tid"


@pytest.fixture(scope="module")
def server():
    with serving(RUN) as one:
        one.run = one.ready()["runs"][0]["id"]
        yield one


def ask(server, path):
    answer = server.ask(f"/api/v1/runs/{quote(server.run)}/{path}")
    assert answer.status == 200, answer.body
    return answer.json()


def table(verb, *args):
    answer = json.loads(support.output(verb, RUN, *args, "--format", "json"))
    names = [column["name"] for column in answer["columns"]]
    return [dict(zip(names, row)) for row in answer["rows"]]


def place(event):
    return (event["time_ns"], *map(int, event["id"].split(":")))


@pytest.fixture(scope="module")
def events():
    return sorted(table("events", "--columns", COLUMNS, "--where", "span_ns >= 0"), key=place)


@pytest.mark.parametrize("word", ["AllReduce", "aten::add", "no such name"])
def test_search_walks_all_matches(server, events, word):
    wanted = [e["id"] for e in events if word.lower() in e["name"].lower()]
    times = {e["id"]: e["time_ns"] for e in events}
    for direction, order in (("next", wanted), ("previous", wanted[::-1])):
        seen, at = [], ""
        while True:
            found = ask(server, f"search?q={quote(word)}&limit=37&direction={direction}{at}")
            assert found["total"] == len(wanted)
            if not found["events"]:
                break
            ids = [e["id"] for e in found["events"]]
            earliest = ids[0] if direction == "next" else ids[-1]
            assert found["before"] == wanted.index(earliest)
            seen += ids
            at = f"&from={times[ids[-1]]}&after={ids[-1]}"
        assert seen == order


def test_search_from_a_time_and_over_some_ranks(server, events):
    middle = events[len(events) // 2]["time_ns"]
    wanted = [e["id"] for e in events if "nccl" in e["name"].lower() and e["id"].startswith("2:") and e["time_ns"] >= middle]
    found = ask(server, f"search?q=NCCL&rank=2&from={middle}&limit=5")
    assert [e["id"] for e in found["events"]] == wanted[:5]


def union(intervals):
    total, end = 0, None
    for start, stop in sorted(intervals):
        if end is None or start > end:
            total, end = total + stop - start, stop
        elif stop > end:
            total, end = total + stop - end, stop
    return total


def rows_of(answer):
    names = [column["name"] for column in answer["columns"]]
    return [dict(zip(names, row)) for row in answer["rows"]]


@pytest.mark.parametrize("seed", range(6))
def test_sums_are_those_of_the_events(server, events, seed):
    pick = random.Random(seed)
    last = max(e["time_ns"] + e["span_ns"] for e in events)
    start, end = sorted(pick.randrange(last) for _ in range(2))
    rank = pick.randrange(4)
    inside = [(e, max(e["time_ns"], start), min(e["time_ns"] + e["span_ns"], end)) for e in events
              if e["id"].startswith(f"{rank}:") and e["time_ns"] < end and (e["time_ns"] + e["span_ns"] > start or e["time_ns"] >= start)]
    answer = ask(server, f"range?from={start}&to={end}&rank={rank}&top=0")
    by_class, by_name = {}, {}
    for e, a, b in inside:
        key = e["class"] or e["kind"]
        by_class.setdefault(key, []).append((a, b))
        by_name.setdefault((e["name"], key), []).append((a, b))
    said = {}
    for row in rows_of(answer["classes"]):
        assert row["rank"] == rank
        if row["class"] == "idle":
            work = [pair for key in ("compute", "communication", "memcpy", "memset", "sync") for pair in by_class.get(key, [])]
            assert row["busy_ns"] == end - start - union(work)
        else:
            n, sum_ns = said.get(row["class"], (0, 0))  # of devices and of the host
            said[row["class"]] = (n + row["n"], sum_ns + row["sum_ns"])
    assert said == {key: (len(list_), sum(b - a for a, b in list_)) for key, list_ in by_class.items()}
    names = {(row["name"], row["class"]): (row["n"], row["sum_ns"]) for row in rows_of(answer["names"])}
    assert names == {key: (len(list_), sum(b - a for a, b in list_)) for key, list_ in by_name.items()}


def test_links_of_a_kernel(server, events):
    calls = {(row["rank"], row["row"]): row for row in table("collectives", "--view", "calls", "--step", "all")}
    kernel = next(e for e in events if e["class"] == "communication" and (int(e["id"].split(":")[0]), e["index"]) in calls
                  and e["launch"] is not None and e["op"] is not None)
    rank = int(kernel["id"].split(":")[0])
    call = calls[(rank, kernel["index"])]
    said = ask(server, f"event?id={kernel['id']}")
    links = {(link["link"], link["id"]) for link in said["links"]}
    assert ("launch", f"{rank}:{kernel['launch']}") in links and ("operator", f"{rank}:{kernel['op']}") in links
    same = {f"{r}:{row}" for (r, row), other in calls.items() if r != rank and all(
        other[key] == call[key] for key in ("group", "kind", "step", "sequence"))}
    assert {id_ for link, id_ in links if link == "collective"} == same and len(same) == 3
    assert said["wait_ns"] == call["wait_ns"] and dict(said["fields"])["collective.transfer_ns"] == str(call["transfer_ns"])
    flows = ask(server, f"flows?id={kernel['id']}")["flows"]
    peers = [flow["to"] for flow in flows if flow["link"] == "collective"]
    assert all("start_ns" in peer and peer["rank"] != rank for peer in peers) and len(peers) == 3


def values_at(rows, start, end, n):
    """Least, most and last of a step curve per piece of time, and what it was before."""
    piece, out, before = max(1, (end - start) // n), {}, None
    for at, value in rows:
        if at < start:
            before = value
        elif at < end:
            out.setdefault((at - start) // piece, []).append((at, value))
    points = [] if before is None else [[start, before, before, before]]
    return points + [[list_[0][0], min(v for _, v in list_), max(v for _, v in list_), list_[-1][1]] for list_ in out.values()]


def held_over(rows, start, end):
    """Least, most and mean over time of a step curve between two times: a value holds until the next, the last for no time."""
    values = [v for at, v in rows if start <= at < end]
    area = covered = 0
    for (at, value), (until, _) in zip(rows, rows[1:]):
        length = min(until, end) - max(at, start)
        if length > 0:
            values.append(value)
            area, covered = area + fractions.Fraction(value) * length, covered + length
    return {"min": min(values), "max": max(values), "mean": float(area / covered) if covered else None} if values else None


@pytest.mark.parametrize("verb, keys, value", [
    ("queue-length", ["device", "stream"], "queue_length"), ("memory-bandwidth", ["device", "name"], "memory_bw_gbps")])
def test_curves_keep_their_peaks(server, verb, keys, value):
    rows = table(verb, "--view", "series", "--step", "all", "--rank", "1")
    start, end = 100_000_000, 700_000_000
    answer = ask(server, f"overlay?name={verb}&rank=1&from={start}&to={end}&points=50")
    curves = {}
    for row in rows:
        name = " ".join(f"{key} {row[key]}" if isinstance(row[key], int) else row[key] for key in keys)
        curves.setdefault(name, []).append((row["ts_ns"], row[value]))
    assert {one["name"] for one in answer["series"]} == set(curves)
    for one in answer["series"]:
        assert one["max"] == max(v for _, v in curves[one["name"]])
        assert one["points"] == values_at(curves[one["name"]], start, end, 50)
    for start, end in ((start, end), (123_456_789, 234_567_891), (300_000_000, 300_000_001), (-5, 7), (10**12, 10**12 + 5)):
        answer = ask(server, f"overlay?name={verb}&rank=1&from={start}&to={end}&points=1")
        for one in answer["series"]:
            wanted = held_over(curves[one["name"]], start, end)
            assert (one["range"] is None) == (wanted is None)
            if wanted:
                assert (one["range"]["min"], one["range"]["max"]) == (wanted["min"], wanted["max"])
                assert one["range"]["mean"] == (wanted["mean"] and pytest.approx(wanted["mean"], rel=1e-12))


def test_the_critical_path_is_all_there(server):
    rows = [row for row in table("critical-path", "--view", "path", "--step", "all", "--rank", "0") if row["duration_ns"] > 0]
    first, last = min(r["ts_ns"] for r in rows), max(r["ts_ns"] + r["duration_ns"] for r in rows)
    spans = ask(server, f"overlay?name=critical-path&rank=0&from={first}&to={last + 1}&points=100000")["spans"]
    piece = (last + 1 - first) // 100000
    told = {(start, end, cls, id_) for start, end, cls, _, id_ in spans}
    for row in rows:
        if row["duration_ns"] >= piece:
            id_ = None if row["index"] is None else f"0:{row['index']}"
            assert (row["ts_ns"], row["ts_ns"] + row["duration_ns"], row["bound_by"], id_) in told


@pytest.mark.parametrize("path", ["overlay", "overlay?name=steps", "overlay?name=queue-length&from=5&to=5", "overlay?name=queue-length&points=0"])
def test_what_cannot_be_drawn(server, path):
    assert server.ask(f"/api/v1/runs/{quote(server.run)}/{path}").status == 400


def test_long_names_are_whole_where_they_are_asked_for(tmp_path):
    long = "ü" * 300_000
    spans = [{"ph": "X", "cat": "cpu_op", "name": long, "pid": 1, "tid": 1, "ts": i, "dur": 100 - 2 * i} for i in range(30)]
    spans.append({"ph": "X", "cat": "cpu_op", "name": "inside", "pid": 1, "tid": 1, "ts": 40, "dur": 1})
    (tmp_path / "trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": spans}))
    with serving(tmp_path) as server:
        server.run = server.ready()["runs"][0]["id"]
        inside = ask(server, "event?id=0:30")
        assert len(inside["stack"]) == 30 and all(len(one["name"]) == 501 and one["name"].endswith("…") for one in inside["stack"])
        assert len(ask(server, "search?q=%C3%BC&limit=1")["events"][0]["name"]) == 501
        assert ask(server, "event?id=0:3")["name"] == long


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time of their own")
def test_many_devices_are_looked_at_once(tmp_path):
    """A selection over 15,000 devices, and a curve for each: both took seconds, four times as long for twice as many."""
    shapes.write("devices", 60000, tmp_path / "x.pt.trace.json")
    with serving(tmp_path) as one:
        run = quote(one.ready()["runs"][0]["id"])
        for route in ("range?from=0&to=1000000000000", "overlay?name=queue-length&rank=0"):
            before = cpu_seconds(one.process.pid)
            assert one.ask(f"/api/v1/runs/{run}/{route}", timeout=300).status == 200
            assert cpu_seconds(one.process.pid) - before < 1, route
