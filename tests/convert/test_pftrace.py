# SPDX-License-Identifier: Apache-2.0
"""Perfetto traces: what is written reads back as the same trace, an independent decoder sees what it should, and
traces of other producers become timelines. Numbers of foreign traces are worked out by hand in each test."""
import csv
import gzip
import io
import json
import random
import zlib
from collections import Counter

import pytest

import support
from pftrace import BEGIN, COUNTER, END, INSTANT, Trace, field, fixed64, message, one, packet

EXAMPLES = [p for p in support.sample_traces() if "examples" in str(p)]


def convert(source, target, *options):
    support.output("convert", source, "-o", target, "--no-cache", *options)
    return target


def round_trip(tmp_path, *sources, options=()):
    """The JSON that the options write, and that of the pftrace that the same options write."""
    straight = tmp_path / "straight.json"
    around = tmp_path / "around.json"
    support.output("convert", *sources, "-o", straight, "--no-cache", *options)
    support.output("convert", *sources, "-o", tmp_path / "t.pftrace", "--no-cache", *options)
    convert(tmp_path / "t.pftrace", around)
    return straight.read_bytes(), around.read_bytes()


def rows(path, verb, *options):
    text = support.output(verb, path, "--format", "csv", "--no-cache", *options)
    return list(csv.DictReader(io.StringIO(text.decode())))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_examples_read_back_byte_by_byte(tmp_path, path):
    straight, around = round_trip(tmp_path, path)
    assert straight == around


VERBS = ("summary", "operators", "kernels", "temporal-breakdown", "kernel-breakdown", "idle-breakdown", "launch-stats",
         "memory-stats", "steps", "critical-path", "modules", "events")


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_answer_the_same(tmp_path, verb):
    source = support.ROOT / "examples/train/train.json.gz"
    there = convert(source, tmp_path / "train.pftrace")
    assert support.output(verb, there, "--format", "csv", "--no-cache") == \
        support.output(verb, source, "--format", "csv", "--no-cache")


ODD = {"schemaVersion": 1, "x": [1, {"y": "\u00e9"}], "traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "main"}},
    {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 1, "ts": 1.001, "dur": 9.5, "args": {
        "i": -1, "u": 18446744073709551615, "f": 0.1, "s": "[1]", "l": [1, 1.5, [], {}, "x"], "b": True, "n": None, "e": ""}},
    {"name": "text ids", "ph": "X", "pid": "p", "tid": "t", "ts": -5, "dur": 1},
    {"ph": "B", "name": "b", "pid": 7, "tid": 2, "ts": 1}, {"ph": "E", "pid": 7, "tid": 2, "ts": 4, "args": {"end": 1}},
    {"ph": "i", "name": "mark", "s": "g", "pid": 7, "tid": 2, "ts": 2, "args": {}},
    {"ph": "C", "name": "count", "pid": 7, "ts": 2, "args": {"a": 1, "b": 2.5}},
    {"ph": "b", "cat": "x", "id": 5, "name": "async", "pid": 7, "tid": 3, "ts": 1},
    {"ph": "e", "cat": "x", "id": 5, "name": "async", "pid": 7, "tid": 3, "ts": 8},
    {"ph": "s", "id": 9, "cat": "fwdbwd", "name": "fwdbwd", "pid": 7, "tid": 1, "ts": 1.001},
    {"ph": "f", "id": 9, "cat": "fwdbwd", "name": "fwdbwd", "pid": 7, "tid": 2, "ts": 1, "bp": "e"},
    {"args": {"q": 1}, "dur": 0, "ts": 3, "tid": -4, "pid": -3, "name": "other order", "ph": "X", "extra": {"k": 1}},
    {"ph": "X", "name": "no time", "pid": 7, "tid": 1, "dur": 3},
    {"ph": "X", "name": "no pid", "ts": 3, "dur": 3},
], "after": "end"}


def test_everything_that_events_can_have(tmp_path):
    source = tmp_path / "odd.json"
    source.write_text(json.dumps(ODD) + json.dumps({"traceEvents": ODD["traceEvents"][:2]}))
    straight, around = round_trip(tmp_path, source)
    assert straight == around
    straight, around = round_trip(tmp_path, source, options=["--document", "1"])
    assert straight == around


@pytest.mark.parametrize("options", [["--merge"], ["--merge", "--with-counters"], ["--merge", "--overlay", "critical-path"],
                                     ["--merge", "--step", "4"], ["--merge", "--category", "kernel,cpu_op"]],
                         ids=lambda o: o[-1].lstrip("-"))
def test_options_mean_the_same(tmp_path, options):
    straight, around = round_trip(tmp_path, support.ROOT / "examples/ddp", options=options)
    assert straight == around


@pytest.mark.parametrize("seed", support.seeds(20))
def test_random_traces(tmp_path, seed):
    """Overlaps of all kinds, equal times, empty spans: nothing is lost, and no two spans of a track overlap in part."""
    rng = random.Random(seed)
    events = []
    for i in range(rng.randrange(1, 400)):
        event = {"ph": "X", "cat": rng.choice(["cpu_op", "kernel", "cuda_runtime", "odd"]), "name": f"n{rng.randrange(9)}",
                 "pid": rng.randrange(3), "tid": rng.randrange(3), "ts": rng.randrange(200), "dur": rng.randrange(60)}
        if rng.random() < 0.6:
            event["args"] = {f"k{rng.randrange(5)}": rng.choice([1, -2, 0.5, "t", [1, 2], {"a": []}, None, True])
                             for _ in range(rng.randrange(4))}
        events.append(event)
    source = tmp_path / "random.json"
    source.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    straight, around = round_trip(tmp_path, source)
    assert straight == around
    trace = Trace((tmp_path / "t.pftrace").read_bytes())
    wanted = Counter((e["ts"] * 1000, e["dur"] * 1000, e["name"], e["cat"]) for e in events)
    assert Counter(s[1:5] for s in trace.slices) == wanted
    assert trace.unclosed == 0
    check_nesting(trace)


def check_nesting(trace):
    by_track = {}
    for uuid, ts, dur, *_ in trace.slices:
        by_track.setdefault(uuid, []).append((ts, -(ts + dur)))
    for spans in by_track.values():
        open_ends = []
        for ts, end in sorted(spans):
            while open_ends and open_ends[-1] <= ts:
                open_ends.pop()
            assert not open_ends or -end <= open_ends[-1], "two spans of a track overlap in part"
            open_ends.append(-end)


def test_decoder_sees_tracks_flows_and_counters(tmp_path):
    source = support.ROOT / "examples/train/train.json.gz"
    trace = Trace(convert(source, tmp_path / "t.pftrace", "--with-counters").read_bytes())
    events = json.loads(support.trace_bytes(source))["traceEvents"]
    spans = [e for e in events if e["ph"] == "X" and "ts" in e]
    assert Counter(s[3] for s in trace.slices) == Counter(e["name"] for e in spans)
    assert sum(s[2] for s in trace.slices) == sum(round(e["dur"] * 1000) for e in spans)
    assert len(trace.instants) == sum(e["ph"] == "i" for e in events)
    check_nesting(trace)
    # each kernel that a call launched has a flow that begins at the call of the same correlation
    ends = {}
    for s in trace.slices:
        for flow in s[6]:
            ends.setdefault(flow, []).append(s)
    calls = {e["args"]["correlation"] for e in spans if e["cat"] in ("cuda_runtime", "cuda_driver") and
             "correlation" in e["args"]}
    launched = [e for e in spans if e["cat"] == "kernel" and e["args"]["correlation"] in calls]
    arrows = 0
    for pair in ends.values():
        kinds = sorted(s[4] for s in pair)
        if "kernel" in kinds:
            call, kernel = sorted(pair, key=lambda s: s[4] == "kernel")
            assert one(call[5]["correlation"], 4) == one(kernel[5]["correlation"], 4)
            arrows += 1
    assert arrows == len(launched) > 0
    names = {one(trace.tracks[uuid], 2, b"").decode() for uuid in trace.counters}
    assert any("Memory" in n for n in names) and any("ueue" in n for n in names)


def test_smaller_than_json(tmp_path):
    """A quarter of the JSON at most, of GPU and CPU traces."""
    for path in (support.ROOT / f"examples/{name}.json.gz" for name in ("train/train", "ddp/ddp_rank0", "graph/graph", "cpu/cpu")):
        there = convert(path, tmp_path / "t.pftrace")
        assert there.stat().st_size * 4 <= len(support.trace_bytes(path))


def test_compressed_files(tmp_path):
    source = support.ROOT / "examples/cpu/cpu.json.gz"
    plain = convert(source, tmp_path / "a.pftrace").read_bytes()
    assert gzip.decompress(convert(source, tmp_path / "b.pftrace.gz").read_bytes()) == plain
    assert rows(tmp_path / "b.pftrace.gz", "operators") == rows(source, "operators")


def test_folders_of_ranks(tmp_path):
    """A folder of them is a set of ranks, as a folder of JSON is."""
    source = support.ROOT / "examples/ddp"
    support.output("convert", source, "-o", tmp_path / "rank{rank}.pftrace", "--no-cache")
    assert rows(tmp_path, "temporal-breakdown") == rows(source, "temporal-breakdown")


def test_json_behind_line_feeds_is_json(tmp_path):
    """Packets begin with the byte of a line feed."""
    path = tmp_path / "t.json"
    for n in range(1, 40):
        path.write_text("\n" * n + json.dumps({"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2}]}))
        assert spans(path) == [("a", 1000, 2000)]


# ---- others' traces ----

CLEAR, NEED = 1, 2


def event(ts, kind, track, *pairs, sequence=1, flags=NEED, clock=None):
    head = [(8, ts), (10, sequence), (13, flags)] + ([(58, clock)] if clock else [])
    return packet(*head, (11, message((9, kind), (11, track), *pairs)))


def thread(uuid, pid, tid, name, parent=None):
    return packet((60, message((1, uuid), (4, message((1, pid), (2, tid), (5, name))),
                               *([(5, parent)] if parent else []))))


def process(uuid, pid, name):
    return packet((60, message((1, uuid), (3, message((1, pid), (6, name))))))


def names(*texts, kind=2):
    return packet((10, 1), (13, CLEAR), (12, message(*((kind, message((1, i), (2, t))) for i, t in enumerate(texts, 1)))))


def write(tmp_path, *packets, name="t.pftrace"):
    path = tmp_path / name
    path.write_bytes(b"".join(packets))
    return path


def spans(path):
    return [(r["name"], int(r["ts_ns"]), int(r["dur_ns"])) for r in rows(path, "events", "--columns", "name,ts_ns,dur_ns,ph")
            if r["ph"] == "X"]


def health(path):
    return {r["check"]: int(r["count"]) for r in rows(path, "health") if r["check"]}


def test_monitor_of_pytorch(tmp_path):
    """Begins of a group stand before its ends, ends at the time of the next begin; a kernel is told by its grid, a call by
    its correlation, and the flow between them is a launch."""
    path = write(
        tmp_path, process(1, 613, "python"), thread(2, 613, 613, "main", 1), process(3, 0, "GPU 0"),
        thread(4, 0, 7, "stream 7", 3), names("cudaLaunchKernel", "gemm", "relu"),
        packet((8, 100), (10, 1), (13, NEED), (11, message((9, BEGIN), (11, 2), (10, 1), (4, message((10, "correlation"), (4, 5)))) +
                                               fixed64(47, 9))),
        event(130, END, 2),
        packet((8, 200), (10, 1), (13, NEED), (11, message(
            (9, BEGIN), (11, 4), (10, 2), (4, message((10, "correlation"), (4, 5))), (4, message((10, "device"), (4, 0))),
            (4, message((10, "stream"), (4, 7))),
            (4, message((10, "grid"), *((12, message((4, n))) for n in (4, 1, 1)))))
            + fixed64(47, 9))),
        event(250, BEGIN, 4, (10, 3), (4, message((10, "grid"), (12, message((4, 1))))), (4, message((10, "stream"), (4, 7))),
              (4, message((10, "device"), (4, 0)))),
        event(250, END, 4), event(300, END, 4),
        event(150, BEGIN, 2, (10, 1)), event(160, END, 2))
    assert sorted(spans(path)) == [("cudaLaunchKernel", 100, 30), ("cudaLaunchKernel", 150, 10), ("gemm", 200, 50), ("relu", 250, 50)]
    kernels = rows(path, "kernels")
    assert {k["name"] for k in kernels} == {"gemm", "relu"}
    launches = rows(path, "launch-stats", "--columns", "name")
    assert launches


def test_clocks_go_by_snapshots(tmp_path):
    """CUSTOM 3503 = MONO 3703 = BOOT 7703 (Perfetto's own example), and 1 000 000 more on the clock of the world."""
    snapshot = [packet((10, 1), (6, message(*((1, message((1, c), (2, t))) for c, t in pair))))
                for pair in (((128, 3000), (3, 3200)), ((3, 1200), (6, 5200)), ((6, 5000), (1, 1005000)))]
    path = write(tmp_path, *snapshot, thread(5, 1, 1, "t"), event(3503, BEGIN, 5, (23, "a"), clock=128, flags=0),
                 event(3603, END, 5, clock=128, flags=0))
    assert spans(path) == [("a", 1007703, 100)]


def test_incremental_clock_and_state(tmp_path):
    """Differences in microseconds from 7000 ns on; a name whose state was cleared is its number."""
    path = write(tmp_path, packet((10, 1), (13, CLEAR), (59, message((58, 64))), (12, message((2, message((1, 4), (2, "x"))))),
                                  (6, message((1, message((1, 64), (2, 7), (3, 1), (4, 1000))), (1, message((1, 1), (2, 7000)))))),
                 thread(5, 1, 1, "t"), event(1, BEGIN, 5, (10, 4)), event(2, END, 5),
                 packet((10, 1), (13, CLEAR)), event(20000, BEGIN, 5, (10, 4), clock=1), event(20010, END, 5, clock=1))
    assert spans(path) == [("x", 8000, 2000), ("<iid 4>", 20000, 10)]
    assert health(path)["unknown_iid"] == 1


def test_compressed_packets_and_counters(tmp_path):
    """zlib inside a packet; an incremental counter of 2, 3 with factor 10 is 20, 50."""
    inner = b"".join([
        packet((60, message((1, 8), (2, "heap"), (8, message((5, 1), (4, 10)))))),
        event(10, COUNTER, 8, (30, 2), flags=0), event(20, COUNTER, 8, (30, 3), flags=0), thread(5, 1, 1, "t"),
        event(5, INSTANT, 5, (23, "mark"), flags=0)])
    damaged = bytearray(zlib.compress(inner))
    damaged[-1] ^= 1
    path = write(tmp_path, packet((50, zlib.compress(inner))), packet((50, bytes(damaged))))
    text = convert(path, tmp_path / "t.json", "--partial").read_text()
    events = json.loads(text)["traceEvents"]
    assert [(e["ts"], e["args"]["value"]) for e in events if e["ph"] == "C"] == [(0.01, 20.0), (0.02, 50.0)]
    assert [e["name"] for e in events if e["ph"] == "i"] == ["mark"]
    assert health(path)["packet_lost"] == 1


def test_render_stages_are_kernels(tmp_path):
    path = write(tmp_path, packet((10, 1), (13, CLEAR), (12, message((24, message((1, 3), (2, "compute"))), (24, message((1, 4), (2, "q0")))))),
                 packet((8, 100), (10, 1), (53, message((2, 40), (11, 1), (13, 4), (14, 3), (10, 6)))))
    assert spans(path) == [("compute", 100, 40)]
    assert rows(path, "kernels")[0]["name"] == "compute"


def test_open_and_unmatched(tmp_path):
    """A begin without an end lasts to the end of the trace, an end without a begin is counted."""
    path = write(tmp_path, thread(5, 1, 1, "t"), event(10, BEGIN, 5, (23, "open"), flags=0), thread(6, 1, 2, "u"),
                 event(50, END, 6, flags=0), event(60, INSTANT, 6, (23, "i"), flags=0))
    assert spans(path) == [("open", 10, 50)]
    found = health(path)
    assert found["unmatched_begin"] == 1 and found["unmatched_end"] == 1


# ---- old producers ----

def legacy(phase, *pairs):
    return (6, message((2, ord(phase)), *pairs))


def json_of(path, tmp_path):
    written = convert(path, tmp_path / "written.json", "--partial")
    return [e for e in json.loads(written.read_bytes())["traceEvents"] if e["ph"] != "M"]


def test_events_of_chrome(tmp_path):
    """All on the thread of the sequence, which starts at 1000 us; times are differences, or absolute."""
    def at(us, *pairs, absolute=False):
        return packet((10, 1), (13, NEED), (11, message((16 if absolute else 1, us), *pairs)))

    path = write(tmp_path,
                 packet((10, 1), (13, CLEAR), (44, message((1, 7), (2, 8), (5, "main"), (6, 1000))), (12, message(
                     (2, message((1, 1), (2, "whole"))), (2, message((1, 2), (2, "begun"))), (1, message((1, 1), (2, "cc")))))),
                 packet((10, 1), (43, message((1, 7), (6, "chrome")))),
                 at(10, legacy("X", (1, 1), (3, 30)), (3, 1)),            # 1010 us, 30 long
                 at(5, legacy("B", (1, 2)), (3, 1)),                      # 1015 us
                 at(10, legacy("E"), (3, 1)),                             # 1025 us
                 at(1030, legacy("i", (14, 3)), (23, "now"), absolute=True),
                 at(10, legacy("C"), (23, "heap"), (4, message((10, "bytes"), (4, 512)))),  # 1035 us: 10 behind the last difference
                 at(1, legacy("b", (1, 1), (6, 77), (7, "s")), (3, 1)),
                 at(4, legacy("e", (1, 1), (6, 77), (7, "s")), (3, 1)),
                 at(1, legacy("S", (1, 2), (10, 5)), (3, 1)),
                 at(1, legacy("F", (1, 2), (10, 5)), (3, 1)),
                 at(1, legacy("X", (1, 1), (3, 2), (18, 9), (19, 10))),
                 at(1, legacy("?", (1, 1))))
    got = [(e["ph"], e.get("name"), e["ts"], e.get("dur"), e["pid"], e["tid"], e.get("id"), e.get("args") or {}) for e in json_of(path, tmp_path)]
    assert got == [
        ("X", "whole", 1010, 30, 7, 8, None, {}), ("X", "begun", 1015, 10, 7, 8, None, {}), ("i", "now", 1030, None, 7, 8, None, {}),
        ("C", "heap", 1035, None, 7, 8, None, {"bytes": 512}), ("b", "whole", 1036, None, 7, 8, 77, {}), ("e", "whole", 1040, None, 7, 8, 77, {}),
        ("b", "begun", 1041, None, 7, 8, 5, {}), ("e", "begun", 1042, None, 7, 8, 5, {}), ("X", "whole", 1043, 2, 9, 10, None, {})]
    assert health(path)["packet_lost"] == 1
    metadata = [e for e in json.loads((tmp_path / "written.json").read_bytes())["traceEvents"] if e["ph"] == "M"]
    assert {(e["name"], e["args"]["name"]) for e in metadata} == {("process_name", "chrome"), ("thread_name", "main")}


def test_flows_of_chrome(tmp_path):
    path = write(tmp_path, thread(5, 1, 1, "t"), thread(6, 1, 2, "u"),
                 event(10, 0, 5, legacy("X", (3, 1), (8, 99), (13, 2)), (23, "out"), flags=0),
                 event(9000, 0, 6, legacy("X", (3, 1), (8, 99), (13, 1)), (23, "in"), flags=0))
    arrows = [(e["ph"], e["ts"], e["tid"]) for e in json_of(path, tmp_path) if e["ph"] in "sf"]
    assert arrows == [("s", 0.01, 1), ("f", 9, 2)]


def test_call_stacks_and_further_counters(tmp_path):
    counter = lambda uuid, name: packet((60, message((1, uuid), (2, name), (8, b""))))
    path = write(tmp_path, thread(5, 1, 1, "t"), counter(8, "cycles"), counter(9, "ipc"),
                 packet((10, 1), (13, CLEAR), (12, message(
                     (5, message((1, 1), (2, b"main"))), (5, message((1, 2), (2, b"run"))), (6, message((1, 11), (2, 1))),
                     (6, message((1, 12), (2, 2))), (7, message((1, 21), (2, 11), (2, 12)))))),
                 event(10, INSTANT, 5, (23, "sample"), (56, 21), (31, 8), (12, 300), (45, 9), (46, 1.5)))
    found = {e["name"]: e for e in json_of(path, tmp_path)}
    assert found["sample"]["args"] == {"Call stack": "run\nmain"}
    assert found["cycles"]["args"] == {"value": 300} and found["ipc"]["args"] == {"value": 1.5}


def test_counters_of_gpus(tmp_path):
    spec = message((1, message((1, 3), (2, "GPU Active"))))
    path = write(tmp_path, packet((8, 50), (52, message((1, spec), (2, message((1, 3), (2, 70))), (3, 1)))),
                 packet((8, 60), (52, message((2, message((1, 3), (3, 80.5))), (2, message((1, 4), (2, 9))), (3, 1)))))
    assert [(e["ph"], e["name"], e["ts"], e["pid"], e["args"]) for e in json_of(path, tmp_path)] == [
        ("C", "GPU Active", 0.05, 1, {"value": 70}), ("C", "GPU Active", 0.06, 1, {"value": 80.5}),
        ("C", "GPU counter 4", 0.06, 1, {"value": 9})]


def zstd(data):
    """A frame of one raw block: magic, no checksum, window of 1 MiB."""
    return b"\x28\xb5\x2f\xfd\x00\x50" + (len(data) << 3 | 1).to_bytes(3, "little") + data


def test_packets_compressed_with_zstd(tmp_path):
    inner = b"".join([thread(5, 1, 1, "t"), event(1, BEGIN, 5, (23, "a"), flags=0), event(4, END, 5, flags=0)])
    path = write(tmp_path, packet((133, zstd(inner))))
    assert spans(path) == [("a", 1, 3)]
    damaged = write(tmp_path, packet((133, zstd(inner)[:-5])), packet((133, b"no zstd at all")), packet((133, zstd(packet((133, zstd(inner)))))),
                    *sample(), name="bad.pftrace")
    assert spans(damaged) == [("a", 1, 1), ("b", 3, 1)] and health(damaged)["packet_lost"] == 3


def test_what_is_not_read_is_counted(tmp_path):
    """A packet of ftrace, and an event with a log message (21) and a source location (34): one event with fields."""
    path = write(tmp_path, thread(5, 1, 1, "t"), packet((1, b"\x08\x01")), event(1, INSTANT, 5, (23, "a"), (21, b""), (34, 1), flags=0))
    found = health(path)
    assert found["packet_unread"] == 1 and found["field_unread"] == 1
    quiet = health(write(tmp_path, *sample(), name="quiet.pftrace"))
    assert "packet_unread" not in quiet and "field_unread" not in quiet


# ---- damage ----

def sample():
    marker = bytes.fromhex("82477a76b28d42ba81dc33326d57a079")
    return [thread(5, 1, 1, "t"), event(1, BEGIN, 5, (23, "a"), flags=0), event(2, END, 5, flags=0),
            packet((36, marker)), event(3, BEGIN, 5, (23, "b"), flags=0), event(4, END, 5, flags=0)]


def test_truncated_and_garbage(tmp_path):
    whole = b"".join(sample())
    cut = tmp_path / "cut.pftrace"
    cut.write_bytes(whole[:-3])
    assert spans(cut)[0] == ("a", 1, 1) and health(cut)["truncated"] == 1
    parts = sample()
    parts.insert(3, b"\xff\xff\xff\xff\xff")
    assert spans(write(tmp_path, *parts, name="skip.pftrace")) == [("a", 1, 1), ("b", 3, 1)]
    assert health(tmp_path / "skip.pftrace")["bytes_skipped"] > 0


def test_state_that_never_came(tmp_path):
    """Packets that need state before any cleared it, dropped packets, a loop of parents and of clocks."""
    path = write(tmp_path, event(1, BEGIN, 5, (10, 1)), packet((10, 1), (42, 1)),
                 packet((60, message((1, 7), (5, 8)))), packet((60, message((1, 8), (5, 7)))),
                 packet((6, message((1, message((1, 6), (2, 5))), (1, message((1, 128), (2, 6)))))),
                 packet((6, message((1, message((1, 128), (2, 5))), (1, message((1, 6), (2, 6)))))),
                 event(9, INSTANT, 7, (23, "i"), flags=0, clock=128), event(9, INSTANT, 8, (23, "j"), flags=0, clock=200))
    found = health(path)
    assert found["packet_lost"] == 1 and found["packets_dropped"] == 1 and found["clock_unrelated"] == 1


@pytest.mark.parametrize("seed", range(4))
def test_any_damage_is_survived(tmp_path, seed):
    rng = random.Random(seed)
    whole = convert(support.ROOT / "examples/cpu/cpu.json.gz", tmp_path / "w.pftrace").read_bytes()[:40000]
    for i in range(15):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 20)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path = tmp_path / f"{i}.pftrace"
        path.write_bytes(data[:rng.randrange(100, len(data))])
        assert support.run("health", path, "--no-cache").returncode in (0, 3)


def about(path):
    return {(r["topic"], r["item"]): r["value"] for r in rows(path, "info")}


def test_info_names_the_format_and_who_wrote_it(tmp_path):
    """Ours by its version, a tracing service by what it says of itself, and nobody else."""
    ours = about(convert(support.ROOT / "examples/train/train.json.gz", tmp_path / "a.pftrace"))
    version = support.output("version").decode().split()[1]
    assert ours["file", "producer"] == f"holotrace {version}"
    assert ours["file", "dialect"] == "Perfetto, with events of Kineto" and ("file", "json") not in ours
    plain = thread(5, 7, 8, "main") + event(1000, BEGIN, 5, (23, "a"), flags=CLEAR) + event(3000, END, 5)
    foreign = tmp_path / "b.pftrace"
    foreign.write_bytes(plain)
    assert about(foreign)["file", "dialect"] == "Perfetto"
    assert not any(item == "producer" for _, item in about(foreign))
    # SystemInfo.tracing_service_version
    foreign.write_bytes(plain + packet((45, message((4, "Perfetto v57.2")))))
    assert about(foreign)["capture", "producer"] == "Perfetto v57.2"
