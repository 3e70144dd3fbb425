# SPDX-License-Identifier: Apache-2.0
"""Traces written again: nothing lost, nothing changed, filters and merges say what they do.

Expectations are derived from the source with Python's json module and decimal arithmetic. Round trips
judged by the canonical dump are in tests/property.
"""
import collections
import decimal
import functools
import json
import random
import re

import pytest

import support

SMALL = support.sample_traces(max_bytes=6_000_000)
TRAIN = support.ROOT / "examples" / "train" / "train.json.gz"
DDP = sorted((support.ROOT / "examples" / "ddp").glob("ddp_rank*.json.gz"))
TIMES = ("ts", "dur")

MIXED = rb'''{"schemaVersion": 1, "user": {"a": [1, "\u20ac"], "b": null}, "distributedInfo": {"rank": 5},
"traceEvents": [
{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python"}},
{"ph": "M", "name": "process_sort_index", "pid": 7, "tid": 0, "args": {"sort_index": 7}},
{"ph": "X", "cat": "cpu_op", "name": "a\"b\\c\n", "pid": 7, "tid": 8, "ts": 10.001, "dur": 5,
 "args": {"u": 18446744073709551615, "i": -9223372036854775808, "f": 0.1, "big": 1e300, "t": true,
 "n": null, "l": [1, {"x": [ ]}], "s": "", "": 0}},
{"name": "no args", "ts": 20, "ph": "X", "dur": 0.5, "pid": 7, "tid": 8, "extra": {"k": 1}, "cat": "k"},
{"ph": "s", "id": 3, "pid": 7, "tid": 8, "ts": 21, "cat": "ac2g", "name": "ac2g"},
{"ph": "f", "id": 3, "pid": "Spans", "tid": "t/1", "ts": 30, "cat": "ac2g", "name": "ac2g", "bp": "e"},
{"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 40},
{}
], "traceName": "x]}.json", "user2": -0.5}'''


def parse(path):
    """A document with numbers as they are written."""
    return json.loads(support.trace_bytes(path), parse_float=decimal.Decimal)


bundled = functools.lru_cache(parse)  # read by many tests, changed by none


def convert(source, target, *options):
    support.output("convert", *([source] if not isinstance(source, list) else source),
                   "-o", target, "--no-cache", *options)
    return parse(target)


def ns(event, key="ts"):
    value = event.get(key)
    return None if value is None else int(decimal.Decimal(value) * 1000)


def plain(event):
    """An event with times in ns and floats as doubles, as an ordered list of pairs."""
    def value(v):
        if isinstance(v, decimal.Decimal):
            return float(v)
        if isinstance(v, dict):
            return [(k, value(x)) for k, x in v.items()]
        return [value(x) for x in v] if isinstance(v, list) else v
    return [(k, ns(event, k) if k in TIMES else value(v)) for k, v in event.items()]


def write(path, data):
    path.write_bytes(data)
    return path


@pytest.fixture
def mixed(tmp_path):
    return write(tmp_path / "mixed.json", MIXED)


@pytest.mark.parametrize("path", SMALL, ids=support.short)
def test_every_event_and_key(path, tmp_path):
    """Same events, keys in the same order, same values; header keys too."""
    before, after = parse(path), convert(path, tmp_path / "b.json")
    if isinstance(before, list):
        before = {"traceEvents": before}
    assert [k for k in before if k != "traceEvents"] == [k for k in after if k != "traceEvents"]
    for key in before:
        if key != "traceEvents":
            assert before[key] == after[key]
    assert len(before["traceEvents"]) == len(after["traceEvents"])
    for old, new in zip(before["traceEvents"], after["traceEvents"]):
        assert plain(old) == plain(new)



def layouts(chance):
    """Events laid out in many ways that differ early and late, in turns: keys and their order, phases, categories (more
    than the scanner takes for part of a layout), types of the same arg, numbers that others begin with, spaces."""
    values = [lambda: chance.randint(0, 10 ** chance.randint(1, 18)), lambda: -chance.randint(1, 99),
              lambda: chance.choice(["", "x", "y" * 70, "a\"b", "\u20ac"]), lambda: chance.randint(1, 99) / 8,
              lambda: chance.choice([True, False, None]), lambda: [chance.randint(0, 3)] * chance.randint(0, 30)]
    kinds = []
    for i in range(60):
        args = chance.sample(["a", "b", "c", "d e", "f"], chance.randint(0, 5))
        keys = ["ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args"][chance.choice([0, 0, 0, 1, 2]):]
        if i % 3 == 0:
            chance.shuffle(keys)
        kinds.append((keys, args, f"cat{i % chance.choice([4, 40])}" + "z" * chance.choice([0, 0, 70]),
                      chance.choice("XXXis"), chance.choice([(", ", ": "), (",", ":"), (",\n  ", ": ")])))
    at = 0
    for _ in range(3000):
        at = chance.choice([at, at, (at + 1) % 60, chance.randrange(60)])
        keys, args, cat, ph, spaces = kinds[at]
        fields = {"ph": ph, "cat": cat, "name": chance.choice(["n", "m" * 40, "k" * 300]),
                  "pid": chance.choice([1, 12, 123, "p"]), "tid": chance.choice([5, 51, 512, 5123456789012, -5, "t"]),
                  "ts": chance.randint(0, 10 ** 7), "dur": chance.randint(0, 9), "id": chance.choice(values)(),
                  "args": {key: chance.choice(values[:1] * 4 + values)() for key in args}}
        yield json.dumps({key: fields[key] for key in keys}, separators=spaces, ensure_ascii=chance.random() < 0.5)


@pytest.mark.parametrize("seed", range(6))
def test_many_layouts(tmp_path, seed):
    path = tmp_path / "in.json"
    path.write_text('{"traceEvents": [' + ",\n".join(layouts(random.Random(seed))) + "]}")
    wanted = [plain(event) for event in parse(path)["traceEvents"]]
    for jobs in ("1", "3"):
        got = convert(path, tmp_path / "out.json", "--jobs", jobs)["traceEvents"]
        assert [plain(event) for event in got] == wanted


def test_values(mixed, tmp_path):
    """Every kind of value, escapes, ids as text, keys that are not of the format."""
    before, after = parse(mixed), convert(mixed, tmp_path / "b.json")
    assert list(before) == list(after)
    assert [plain(e) for e in before["traceEvents"]] == [plain(e) for e in after["traceEvents"]]
    assert (before["user"], before["user2"]) == (after["user"], after["user2"])
    text = (tmp_path / "b.json").read_bytes()
    assert b'"u":18446744073709551615' in text and b'"i":-9223372036854775808' in text
    assert b'[1, {"x": [ ]}]' in text, "nested values are kept as they were written"


@pytest.mark.parametrize("path", [TRAIN, DDP[0]], ids=support.short)
def test_times_have_three_decimals(path, tmp_path):
    convert(path, tmp_path / "b.json")
    text = (tmp_path / "b.json").read_bytes()
    times = re.findall(rb'"(?:ts|dur)":([^,}]*)', text)
    assert times and all(re.fullmatch(rb"-?\d+\.\d{3}", t) for t in times)


def test_second_conversion_changes_nothing(mixed, tmp_path):
    for source in (mixed, TRAIN):
        convert(source, tmp_path / "b.json")
        convert(tmp_path / "b.json", tmp_path / "c.json")
        assert (tmp_path / "b.json").read_bytes() == (tmp_path / "c.json").read_bytes()


def test_compression_by_ending(mixed, tmp_path):
    for name, magic in (("b.json.gz", b"\x1f\x8b"), ("b.json.zst", b"\x28\xb5\x2f\xfd"), ("b", b"{")):
        convert(mixed, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(magic)
    convert(mixed, tmp_path / "b.json")
    plain_text = (tmp_path / "b.json").read_bytes()
    assert support.trace_bytes(tmp_path / "b.json.gz") == plain_text
    assert support.trace_bytes(tmp_path / "b.json.zst") == plain_text
    assert support.output("convert", mixed, "-o", "-") == plain_text


def test_documents(mixed, tmp_path):
    """Documents that follow each other stay apart; one can be picked."""
    both = write(tmp_path / "both.json", MIXED + b"\n" + MIXED.replace(b'"tid": 8', b'"tid": 9'))
    support.output("convert", both, "-o", tmp_path / "b.json")
    text = (tmp_path / "b.json").read_text()
    first, end = json.JSONDecoder().raw_decode(text)
    second, _ = json.JSONDecoder().raw_decode(text[end:].lstrip())
    assert len(first["traceEvents"]) == len(second["traceEvents"]) == 8
    assert support.dump(both).split(b"# stats")[0] == \
        support.dump(tmp_path / "b.json").split(b"# stats")[0]
    picked = convert(both, tmp_path / "c.json", "--document", "1")
    assert {e["tid"] for e in picked["traceEvents"] if e.get("ph") == "X"} == {9}
    done = support.run("convert", both, "-o", tmp_path / "d.json", "--document", "2")
    assert done.returncode != 0 and b"document" in done.stderr
    assert not (tmp_path / "d.json").exists()


def split(events):
    """Metadata, and the rest."""
    return [e for e in events if e.get("ph") == "M"], [e for e in events if e.get("ph") != "M"]


def key(event):
    return json.dumps(plain(event))


def check_filtered(path, target, expected, *options):
    """What is left is all metadata and exactly the expected events, in order."""
    metadata, _ = split(bundled(path)["traceEvents"])
    kept_metadata, kept = split(convert(path, target, *options)["traceEvents"])
    assert [key(e) for e in kept_metadata] == [key(e) for e in metadata]
    assert [key(e) for e in kept] == [key(e) for e in expected]
    assert kept, "a test that keeps nothing tests nothing"


def test_category(tmp_path):
    _, events = split(bundled(TRAIN)["traceEvents"])
    expected = [e for e in events if e.get("cat") in ("kernel", "cpu_op")]
    check_filtered(TRAIN, tmp_path / "b.json", expected, "--category", "kernel,cpu_op")


def test_thread(tmp_path):
    _, events = split(bundled(TRAIN)["traceEvents"])
    threads = collections.Counter((e["pid"], e["tid"]) for e in events)
    (first, _), (second, _) = threads.most_common(2)
    expected = [e for e in events if (e["pid"], e["tid"]) in (first, second)]
    check_filtered(TRAIN, tmp_path / "b.json", expected,
                   "--thread", f"{first[0]}/{first[1]},{second[0]}/{second[1]}")
    expected = [e for e in events if e["pid"] == first[0]]
    check_filtered(TRAIN, tmp_path / "c.json", expected, "--thread", str(first[0]))


def test_window(tmp_path):
    _, events = split(bundled(TRAIN)["traceEvents"])
    timed = sorted(ns(e) for e in events if "ts" in e)
    start, end = timed[len(timed) // 3], timed[len(timed) // 2]
    expected = [e for e in events if "ts" in e and ns(e) <= end and
                ns(e) + (ns(e, "dur") or 0) >= start]
    check_filtered(TRAIN, tmp_path / "b.json", expected, "--from", str(start), "--to", str(end))
    expected = [e for e in events if "ts" in e and ns(e) <= end]
    check_filtered(TRAIN, tmp_path / "c.json", expected, "--to", str(end))


def test_step(tmp_path):
    """Host events by the step they start in; GPU work by the step that launched it."""
    events = bundled(TRAIN)["traceEvents"]
    steps = {int(e["name"].split("#")[1]): (ns(e), ns(e) + ns(e, "dur")) for e in events
             if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#")}
    number = sorted(steps)[1]
    start, end = steps[number]
    launches = {e["args"]["correlation"]: ns(e) for e in events
                if e.get("cat") in ("cuda_runtime", "cuda_driver")}
    ops = [e for e in events if e.get("cat") in ("cpu_op", "cuda_runtime") and start <= ns(e) < end]
    kernels = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and
               start <= launches.get(e["args"]["correlation"], -1) < end]
    kept = convert(TRAIN, tmp_path / "b.json", "--step", str(number))["traceEvents"]

    def of(*cats):
        return [key(e) for e in kept if e.get("cat") in cats]
    assert of("cpu_op", "cuda_runtime") == [key(e) for e in ops] and ops
    assert of("kernel", "gpu_memcpy", "gpu_memset") == [key(e) for e in kernels] and kernels
    assert {e["name"] for e in kept if e.get("cat") == "user_annotation" and "Step#" in e["name"]} == \
        {f"ProfilerStep#{number}"}


def test_filters_add_up(tmp_path):
    both = convert(TRAIN, tmp_path / "b.json", "--category", "kernel", "--step", "3-")["traceEvents"]
    assert {e.get("cat") for e in split(both)[1]} == {"kernel"}


def test_ranks(tmp_path):
    support.output("convert", *DDP, "-o", tmp_path / "r{rank}-{rank}.json.gz", "--rank", "1,3-")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r1-1.json.gz", "r3-3.json.gz"]
    after = parse(tmp_path / "r3-3.json.gz")
    assert after["distributedInfo"]["rank"] == 3
    assert [plain(e) for e in after["traceEvents"]] == [plain(e) for e in bundled(DDP[3])["traceEvents"]]
    convert(DDP, tmp_path / "one.json", "--rank", "2")


LINKS = ("correlation", "External id", "Record function id", "wait_on_cuda_event_record_corr_id")
FRAMES = ("Ev Idx", "Python id", "Python parent id")


def moved(args, rank):
    """Numbers that link events are a rank's own, so that none meets those of another; 0 links nothing."""
    def one(key, value):
        own = isinstance(value, int) and (key in LINKS and value > 0 or key in FRAMES and value >= 0)
        return value + (rank << 40) if own else value
    return args and {key: one(key, value) for key, value in args.items()}


def test_merge(tmp_path):
    """All events of all ranks in one list; processes and flows of different ranks do not meet."""
    sources = [bundled(p)["traceEvents"] for p in DDP]
    merged = convert(DDP, tmp_path / "m.json", "--merge")
    assert merged["holotrace_merged_ranks"] == [0, 1, 2, 3]
    assert merged["distributedInfo"]["rank"] == 0
    names = {e["pid"]: e["args"]["name"] for e in merged["traceEvents"]
             if e.get("ph") == "M" and e["name"] == "process_name"}
    at, seen_pids, seen_ids = 0, set(), set()
    for rank, source in enumerate(sources):
        pids, ids, shifts = {}, set(), set()
        for old, new in zip(source, merged["traceEvents"][at:]):
            assert list(old) == list(new)
            assert pids.setdefault(old.get("pid"), new.get("pid")) == new.get("pid")
            assert (old.get("name"), old.get("tid"), ns(old, "dur")) == \
                (new.get("name"), new.get("tid"), ns(new, "dur"))
            if "ts" in old:
                shifts.add(ns(new) - ns(old))
            if old["ph"] in "sf":
                ids.add((old["cat"], new["id"]))
            if old["ph"] != "M":
                assert moved(old.get("args"), rank) == new.get("args")
        at += len(source)
        # names of processes that had none
        unnamed = {p for p in pids if isinstance(p, int)} - \
            {e["pid"] for e in source if e["ph"] == "M" and e["name"] == "process_name"}
        for event in merged["traceEvents"][at:at + len(unnamed)]:
            assert (event["ph"], event["name"]) == ("M", "process_name")
        at += len(unnamed)
        assert len(shifts) == 1, "one clock per rank"
        assert len(set(pids.values())) == len(pids)
        assert not seen_pids & set(pids.values()) and not seen_ids & ids
        seen_pids |= set(pids.values())
        seen_ids |= ids
        for old, new in pids.items():
            assert str(new).startswith(f"rank {rank} ") if isinstance(old, str) else \
                names[new].startswith(f"rank {rank} pid {old}")
    assert at == len(merged["traceEvents"])


def test_merged_trace_is_a_trace(tmp_path):
    convert(DDP, tmp_path / "m.json.gz", "--merge", "--category", "kernel")
    n = sum(e.get("cat") == "kernel" for p in DDP for e in bundled(p)["traceEvents"])
    names, rows = support.read_csv(support.output(
        "events", tmp_path / "m.json.gz", "--where", "cat = kernel", "--format", "csv"))
    assert len(rows) == n


def test_merged_launches_keep_their_work(tmp_path):
    """Ranks count correlations alike; read again, each launch has the work of its own rank."""
    convert(DDP, tmp_path / "m.json", "--merge")
    args = ("--step", "all", "--format", "csv", "--columns", "name,count,launch_delay_ns,cpu_ns,gpu_ns")
    merged = support.output("launch-stats", tmp_path / "m.json", *args)
    assert merged == support.output("launch-stats", *DDP, *args)


def test_counters(tmp_path):
    before, after = bundled(TRAIN), convert(TRAIN, tmp_path / "b.json", "--with-counters")
    n = len(before["traceEvents"])
    assert [plain(e) for e in after["traceEvents"][:n]] == [plain(e) for e in before["traceEvents"]]
    counters = after["traceEvents"][n:]
    assert counters and all(e["ph"] == "C" and len(e["args"]) == 1 for e in counters)
    assert {"Queue Length"} <= {e["name"] for e in counters}
    assert all(e["args"]["Queue Length"] >= 0 for e in counters if e["name"] == "Queue Length")


def test_what_is_drawn_into_a_trace_is_no_other_rank(tmp_path):
    """It names its source, also when it is written again; a plain copy says nothing of the kind."""
    source = tmp_path / "train.json.gz"
    source.write_bytes(TRAIN.read_bytes())
    key = "holotrace_made_from"
    (tmp_path / "elsewhere").mkdir()
    assert key not in convert(source, tmp_path / "elsewhere" / "copy.json.gz")
    assert convert(source, tmp_path / "with counters.json.gz", "--with-counters")[key] == source.name
    assert convert(source, tmp_path / "drawn.json.gz", "--overlay", "critical-path")[key] == source.name
    again = convert(tmp_path / "drawn.json.gz", tmp_path / "again.json", "--with-counters")
    assert again[key] == source.name
    names, rows = support.read_csv(support.output("info", tmp_path, "--format", "csv"))
    paths = [row[names.index("value")] for row in rows if row[names.index("item")] == "path"]
    assert paths == [str(source)]
    assert b" ".join(support.output("info", tmp_path).split()).count(b": made from ") == 3


@pytest.mark.parametrize("options, says", [
    ((), b"{rank}"),
    (("--rank", "1-x"), b"1-x"),
    (("--merge", "--step", "one"), b"one"),
    (("--merge", "--from", "1.5"), b"1.5"),
], ids=["no-rank", "rank", "step", "time"])
def test_wrong_usage(options, says, tmp_path):
    done = support.run("convert", *DDP, "-o", tmp_path / "b.json", *options)
    assert done.returncode == 2 and says in done.stderr
    assert not list(tmp_path.iterdir())


def test_missing_rank(tmp_path):
    done = support.run("convert", *DDP, "-o", tmp_path / "b.json", "--rank", "9")
    assert done.returncode != 0 and b"rank 9" in done.stderr


def test_full_disk():
    done = support.run("convert", TRAIN, "-o", "/dev/full")
    assert done.returncode not in (0, 2) and b"space" in done.stderr.lower()
