# SPDX-License-Identifier: Apache-2.0
"""Things that must not matter do not matter: chunking, threads, cache, compression, order.

The judge is the canonical dump, a text that determines the whole store.
"""
import gzip
import json
import os
import random
import subprocess

import pytest

import support

SMALL = support.sample_traces(max_bytes=1_600_000)
ALL = support.sample_traces() + support.extra_traces()
CHUNKS = (1, 2, 3, 7, 64, 1000, 4096, 65_537, 1 << 20)

# Everything that makes it hard to see where an event starts: braces, quotes and commas inside
# strings, strings that end in backslashes, text that looks like an event, nested values.
TRICKY = r'''{"schemaVersion": 1, "k\"]}": [{"ph": "X"}, "\\"], "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "a\\", "pid": 1, "tid": 1, "ts": 1.001, "dur": 9.5, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "}, {\"ph\": \"X\", \"ts\": 1", "pid": 1, "tid": 1, "ts": 2.002, "dur": 3,
"args": {"Input Dims": [[2, 3], [], [{"ph": "X"}]], "u": 18446744073709551615, "\u00e9\n": "x\\\\", "e": {}}},
{"name":"é😀","ph":"B","pid":"p]","tid":"t}","ts":"3.25"},{"ph":"E","pid":"p]","tid":"t}","ts":4},
{"ph": "s", "id": 7, "pid": 1, "tid": 1, "ts": 2.002, "cat": "ac2g", "name": "ac2g"}
], "distributedInfo": {"rank": 4}, "traceName": "x]},"}
'''.encode()

# The same with defects: what is lost or repaired must not depend on the chunking either.
BROKEN = (TRICKY.replace(b'"a\\\\"', b'"a "b" c"').replace(b'"dur": 3,', b'"dur": 3,, "bad": \\x,')
          .replace(b"\xc3\xa9", b"\xff\x01").replace(b'{"ph": "s"', b'17, {"ph": "s"')[:-40])


def write(folder, name, text):
    path = folder / name
    path.write_bytes(text)
    return path


def zstd(text):
    return subprocess.run(["zstd", "-q"], input=text, check=True, stdout=subprocess.PIPE).stdout


def differs(a, b, what):
    """The first differing line, for a message that one can read."""
    for number, (x, y) in enumerate(zip(a.splitlines(), b.splitlines()), 1):
        if x != y:
            return f"{what}: line {number} of the dump: {x[:300]!r} became {y[:300]!r}"
    return f"{what}: dumps of {len(a)} and {len(b)} bytes"


def same(a, b, what):
    assert a == b, differs(a, b, what)


@pytest.mark.parametrize("text", [TRICKY, BROKEN], ids=["tricky", "broken"])
def test_every_chunk_size(tmp_path, text):
    """Each chunk size from one byte to the whole file, so that each offset is a border; of the larger ones each second."""
    path = write(tmp_path, "t.json", text)
    whole = support.dump(path, "--no-cache", "--jobs", "1")
    for n in [*range(1, 40), *range(40, len(text) + 2, 1 if support.LONG else 2)]:
        for jobs in ("1", "3") if n < 40 else ("2",):
            cut = support.dump(path, "--no-cache", "--chunk-bytes", str(n), "--jobs", jobs)
            same(whole, cut, f"chunks of {n} bytes, {jobs} jobs")


@pytest.mark.parametrize("text", [TRICKY, BROKEN], ids=["tricky", "broken"])
def test_every_cut(tmp_path, text):
    """A file cut at any byte never crashes, and chunking still does not matter."""
    for n in range(1, len(text), 3):
        path = write(tmp_path, "t.json", text[:n])
        a = support.run("dump", path, "--no-cache", "--jobs", "1")
        b = support.run("dump", path, "--no-cache", "--chunk-bytes", "16", "--jobs", "2")
        assert a.returncode == b.returncode and a.returncode in (0, 3), f"cut at {n}"
        same(a.stdout, b.stdout, f"cut at {n}")


DAMAGED = [TRICKY.replace(old, new, 1) for old, new in (
    (b"[2, 3]", b"[2, 3}"), (b'"X"}]],', b'"X"}],'), (b'"traceEvents": [', b'"traceEvents": '), (b"traceEvents", b"traceEvenus"),
    (b'{"ph": "s"', b'"ph": "s"'), (b'"tid":"t}"', b'"tid":"t}'), (b'"rank": 4}', b'"rank": 4'), (b'"cat": "cpu_op",',
    b'"cat": "cpu_op"l'), (b'"e": {}}},', b'"e": {}}],'), (b'"ac2g"}\n]', b'"ac2g"}\n}'), (b'"\\\\"], "tr', b'"\\\\", "tr'))]


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_damage_in_every_chunk_size(tmp_path, text):
    """Where reading resumes behind damage does not depend on chunks; padding makes room for looking ahead."""
    assert text != TRICKY
    events = b",".join(b'{"ph":"X","cat":"c","name":"%s","pid":1,"tid":1,"ts":%d,"dur":1}' % (b"n" * (i % 90), i)
                       for i in range(150))
    text = text.replace(b'{"ph": "X", "cat": "cpu_op", "name": "a', events + b',{"ph": "X", "cat": "cpu_op", "name": "a', 1)
    text = text.replace(b'], "distributedInfo"', b"," + events + b'], "distributedInfo"', 1)
    path = write(tmp_path, "t.json", text)
    whole = support.dump(path, "--no-cache", "--jobs", "1")
    for n in (1, 2, 3, 5, 17, 100, 999, 4095, 4096, 4097, 5000, 8192, 9001, 12_288, 16_000, 20_000):
        same(whole, support.dump(path, "--no-cache", "--chunk-bytes", str(n), "--jobs", "2"), f"chunks of {n}")


@pytest.mark.parametrize("path", SMALL, ids=support.short)
def test_chunks(path, tmp_path):
    text = support.trace_bytes(path)
    plain = write(tmp_path, "t.json", text)
    whole = support.dump(plain, "--no-cache", "--jobs", "1")
    for n in CHUNKS if len(text) < 200_000 else CHUNKS[4:]:
        same(whole, support.dump(plain, "--no-cache", "--chunk-bytes", str(n), "--jobs", "2"),
             f"chunks of {n} bytes")


@pytest.mark.parametrize("path", SMALL, ids=support.short)
def test_jobs(path, tmp_path):
    plain = write(tmp_path, "t.json", support.trace_bytes(path))
    one = support.dump(plain, "--no-cache", "--jobs", "1", "--chunk-bytes", "5000")
    for jobs in range(2, 9):
        same(one, support.dump(plain, "--no-cache", "--jobs", str(jobs), "--chunk-bytes", "5000"),
             f"{jobs} jobs")


@pytest.mark.parametrize("path", ALL, ids=support.short)
def test_compression_and_stdin(path, tmp_path):
    text = support.trace_bytes(path)
    plain = support.dump(write(tmp_path, "t.json", text), "--no-cache")
    half = len(text) // 2
    members = gzip.compress(text[:half], 1) + gzip.compress(text[half:], 1)
    for name, data in (("t.json.gz", gzip.compress(text, 1)), ("t.json.gz", members),
                       ("t.json.zst", zstd(text)), ("t.json.zst", zstd(text[:half]) + zstd(text[half:]))):
        same(plain, support.dump(write(tmp_path, name, data), "--no-cache"), name)
    rank = support.read_csv(support.output(
        "events", tmp_path / "t.json", "--format", "csv", "--columns", "rank", "--top", "1"))[1]
    if rank and rank[0][0] == "0":
        same(plain, support.dump("-", "--no-cache", stdin=text), "standard input")
        same(plain, support.dump("-", "--no-cache", stdin=gzip.compress(text, 1)), "gzip on stdin")


@pytest.mark.parametrize("path", ALL, ids=support.short)
def test_cache(path, tmp_path):
    """Without cache, while writing it, and from it: the same store."""
    cache = tmp_path / "cache"
    fresh = support.dump(path, "--no-cache")
    same(fresh, support.dump(path, "--cache-dir", cache), "first open with a cache")
    files = [f for f in cache.rglob("*") if f.is_file()]
    assert files, "no cache file was written"
    stamps = [f.stat().st_mtime_ns for f in files]
    same(fresh, support.dump(path, "--cache-dir", cache), "second open, from the cache")
    assert [f.stat().st_mtime_ns for f in files] == stamps, "the second open wrote the cache again"


def test_ranks_that_the_cache_knows(tmp_path):
    """With more ranks than threads, what the cache says of them is believed until they are opened: the answers are the
    same, also when a file of it is damaged anywhere, cut or gone."""
    args = ("stragglers", support.ROOT / "examples/ddp", "--jobs", "2", "--format", "csv")
    fresh = support.output(*args, "--no-cache")
    cache = tmp_path / "cache"
    same(fresh, support.output(*args, "--cache-dir", cache), "first open with a cache")
    same(fresh, support.output(*args, "--cache-dir", cache), "ranks known by the cache")
    files = sorted(cache.rglob("*.trace.htc"))
    assert len(files) == 4
    random_ = random.Random(5)
    for i in range(24):
        file = files[i % 4]
        # they would answer, and the trace would not be opened
        for part in cache.rglob("*.part-*.htc"):
            part.unlink()
        good = bytearray(file.read_bytes())
        bad = bytearray(good)
        # the head and what is known of the rank, or any byte
        at = random_.randrange(2000 if i % 2 else len(bad))
        bad[at] ^= 1 << random_.randrange(8)
        file.write_bytes(bad[:at] if i % 6 == 5 else bad)
        if i % 6 == 3:
            file.unlink()
        same(fresh, support.output(*args, "--cache-dir", cache), f"byte {at} of {file.name}")
        assert file.read_bytes() == good, "the cache was not mended"


def test_cache_rejects_damage(tmp_path):
    """A stale, truncated, foreign or bit-flipped cache file is never believed."""
    path = write(tmp_path, "t.json", TRICKY)
    cache = tmp_path / "cache"
    fresh = support.dump(path, "--no-cache")
    support.dump(path, "--cache-dir", cache)
    (file,) = [f for f in cache.rglob("*") if f.is_file()]
    good = file.read_bytes()
    random.seed(7)
    spots = sorted(set(random.sample(range(len(good)), min(150, len(good)))) | set(range(0, 128, 3)))
    damaged = [good[:i] + bytes([good[i] ^ (1 << i % 8)]) + good[i + 1:] for i in spots if i < len(good)]
    damaged += [good[:n] for n in (0, 1, 16, 64, len(good) // 2, len(good) - 1)]
    damaged += [good + b"\0", b"\0" * len(good), TRICKY, good[:64] + b"\xff" * (len(good) - 64)]
    for data in damaged:
        file.write_bytes(data)
        same(fresh, support.dump(path, "--cache-dir", cache), "with a damaged cache")


@pytest.mark.parametrize("how", ["in place", "replaced"])
@pytest.mark.parametrize("n_blanks", [0, 1 << 20], ids=["small", "large"])
def test_cache_sees_changed_file(how, n_blanks, tmp_path):
    """The same path with other content of the same size and time is another trace."""
    text = TRICKY.rstrip() + b" " * n_blanks
    path = write(tmp_path, "t.json", text)
    cache = tmp_path / "cache"
    before = support.dump(path, "--cache-dir", cache)
    stat = path.stat()
    # the clock of file systems ticks slowly
    support.wait_until(lambda: write(tmp_path, "tick", b"").stat().st_ctime_ns > stat.st_ctime_ns, every=0.001)
    other = path if how == "in place" else tmp_path / "other.json"
    with open(other, "r+b" if how == "in place" else "wb") as file:
        file.write(text.replace(b'"dur": 9.5', b'"dur": 8.5'))
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    os.replace(other, path)
    assert path.stat().st_mtime_ns == stat.st_mtime_ns and path.stat().st_size == stat.st_size
    after = support.dump(path, "--cache-dir", cache)
    assert before != after
    same(support.dump(path, "--no-cache"), after, "changed file")


def test_verify_cache(tmp_path):
    """--verify-cache reads the trace once more unless the whole file was hashed when it was stored."""
    path = write(tmp_path, "t.json", TRICKY)
    cache = tmp_path / "cache"
    fresh = support.dump(path, "--cache-dir", cache)

    def stored():
        (file,) = cache.iterdir()
        return file.stat().st_ino

    first = stored()
    same(fresh, support.dump(path, "--cache-dir", cache, "--verify-cache"), "not yet verified")
    second = stored()
    assert second != first
    same(fresh, support.dump(path, "--cache-dir", cache, "--verify-cache"), "verified")
    same(fresh, support.dump(path, "--cache-dir", cache), "not asked for")
    assert stored() == second


def test_cache_survives_kill(tmp_path):
    """kill -9 while loading leaves no cache that is read as good but is not."""
    trace = max(support.bundled_traces(), key=lambda p: p.stat().st_size)
    path = write(tmp_path, "t.json", support.trace_bytes(trace))
    fresh = support.dump(path, "--no-cache")
    cache = tmp_path / "cache"
    for delay_ms in (2, 5, 10, 15, 20, 25, 30, 40, 60, 80):
        process = subprocess.Popen(
            [support.EXE, "load", path, "--cache-dir", cache], env=support.environment(),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(delay_ms / 1000)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    same(fresh, support.dump(path, "--cache-dir", cache), "after kill -9")


def test_cache_dir_not_writable(tmp_path):
    """A cache that cannot be written is no error."""
    path = write(tmp_path, "t.json", TRICKY)
    blocked = write(tmp_path, "file", b"in the way")
    same(support.dump(path, "--no-cache"), support.dump(path, "--cache-dir", blocked / "x"), "no cache")


def events_only(dump_text):
    """The dump less what tells of the file itself: sizes, offsets of repairs, compression."""
    return b"\n".join(line for line in dump_text.split(b"\n")
                      if not line.startswith((b"file ", b"stat ", b"file_", b"meta file")))


@pytest.mark.parametrize("path", ALL, ids=support.short)
def test_convert_round_trip(path, tmp_path):
    """Writing a trace and reading it back gives the same store, in each compression."""
    source = write(tmp_path, "t.json", support.trace_bytes(path))
    first = events_only(support.dump(source, "--no-cache"))
    for name in ("u.json", "u.json.gz", "u.json.zst"):
        support.output("convert", source, "--no-cache", "-o", tmp_path / name)
        again = events_only(support.dump(tmp_path / name, "--no-cache"))
        same(first, again, f"convert to {name}")
    json.loads(support.trace_bytes(tmp_path / "u.json"), strict=True)


@pytest.mark.parametrize("text", [TRICKY, BROKEN], ids=["tricky", "broken"])
def test_convert_is_clean(tmp_path, text):
    """What was repaired is written clean: the second reading has nothing to repair."""
    source = write(tmp_path, "t.json", text)
    target = tmp_path / "u.json"
    support.output("convert", source, "-o", target, "--partial")
    json.loads(target.read_text())
    repairs = {"truncated", "events_lost", "invalid_utf8", "unescaped_quote", "stray_comma",
               "bad_escape", "missing_comma", "control_bytes", "element_not_event"}
    assert not repairs & set(support.health(target))


@pytest.mark.parametrize("path", SMALL[:3], ids=support.short)
def test_shuffled_events(path, tmp_path):
    """The order of events in the file changes row numbers and nothing else."""
    document = json.loads(support.trace_bytes(path))
    random.seed(11)
    columns = "ph,cat,name,pid,tid,ts_ns,dur_ns,device,stream,correlation,args.External id"
    plain = write(tmp_path, "t.json", json.dumps(document).encode())
    before = support.output("events", plain, "--format", "csv", "--columns", columns)
    health_before = support.health(plain)
    random.shuffle(document["traceEvents"])
    mixed = write(tmp_path, "s.json", json.dumps(document).encode())
    after = support.output("events", mixed, "--format", "csv", "--columns", columns)
    assert sorted(before.splitlines()) == sorted(after.splitlines())
    assert set(support.health(mixed)) == set(health_before)


def test_ranks_permute(tmp_path):
    """The order of the arguments does not matter when the files name their ranks."""
    ranks = [p for p in support.bundled_traces() if "ddp_rank" in p.name]
    assert len(ranks) > 1
    same(support.dump(*ranks), support.dump(*reversed(ranks)), "reversed arguments")


VALUES = ["0", "7", "-1", "2147483648", "-9223372036854775808", "18446744073709551615", "1e300", "0.5", "-0.0",
          "123456789012345678", "true", "false", "null", '""', '"a"', r'"\u00e9\n"', '"[}"', "[]", "[1, [2, {}]]",
          '["a", "b\\"]"]', "{}", '{"x": [null]}', '[["long", "long", "long", "long", "long", "long", "long"], [[[1]]]]']


def event_of(random_, layout):
    """Text of an event with a given layout: the same texts between values that change their type at will."""
    values = [random_.choice(VALUES) if random_.random() < 0.3 else "7" for _ in range(4)]
    fields = {"ph": random_.choice(['"X"', '"X"', '"XY"', '""']),
              "cat": random_.choice(['"cpu_op"', '"kernel"', "3"]), "name": '"n%d"' % random_.randrange(9),
              "pid": random_.choice(["1", '"p"', "1.5"]), "tid": "2", "ts": random_.choice(["1.001", '"5"', "null"]),
              "dur": random_.choice(["0.25", "3", "1e-3"])}
    order = sorted(fields, key=lambda k: (layout * 7919 + len(k) * 31 + ord(k[0])) % 13)
    gap = ["", " ", "\n    ", "\t"][layout % 4]
    parts = [f'{gap}"{k}":{gap}{fields[k]}' for k in order]
    args = ",".join(f'{gap}"k{layout % 3}{i}":{gap}{v}' for i, v in enumerate(values))
    extra = f',{gap}"k{layout % 3}0": 1' if random_.random() < 0.05 else ""  # a repeated key
    whole = f"{{{args}{extra}{gap}}}" if random_.random() < 0.9 else random_.choice(VALUES)
    parts.insert(layout % 8, f'"args":{gap}{whole}')
    return "{" + ",".join(parts) + gap + "}"


def test_layouts_that_repeat_with_other_types(tmp_path):
    """Events are read by the layouts before them: what comes out is what is written, in any chunking."""
    random_ = random.Random(11)
    events = [event_of(random_, random_.randrange(16)) for _ in range(3000)]
    path = write(tmp_path, "t.json", ('{"traceEvents": [' + ",\n".join(events) + "]}").encode())
    support.output("convert", path, "-o", tmp_path / "back.json")
    ours = json.loads((tmp_path / "back.json").read_bytes())["traceEvents"]
    theirs = [json.loads(text) for text in events]
    for mine, event in zip(ours, theirs):
        assert mine["args"] == event["args"], event
        assert [mine[k] for k in ("ph", "cat", "name", "pid")] == [event[k] for k in ("ph", "cat", "name", "pid")]
    assert len(ours) == len(theirs)
    _, phases = support.read_csv(support.output("events", path, "--columns", "ph", "--format", "csv"))
    assert [(cell or "") for cell, in phases] == [e["ph"] if len(e["ph"]) == 1 else "" for e in theirs]
    whole = support.dump(path, "--no-cache")
    for chunk in (61, 4096, 50_001):
        cut = support.dump(path, "--no-cache", "--chunk-bytes", str(chunk), "--jobs", "3")
        same(whole, cut, f"chunks of {chunk}")


def test_columns_of_every_size(tmp_path):
    """Columns are joined by moving or by copying, whichever their size allows."""
    n, parts = 90_000, range(1, 17)
    lines = []
    for i in range(n):
        args = ",".join(f'"k{k}":{i * k}' for k in parts if i % 16 < k)
        lines.append(f'{{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":1,"ts":{i}.5,"dur":1,"args":{{{args}}}}}')
    path = write(tmp_path, "t.json", ('{"traceEvents": [' + ",\n".join(lines) + "]}").encode())
    columns = ",".join(f"args.k{k}" for k in parts)
    _, cells = support.read_csv(support.output("events", path, "--no-cache", "--columns", columns, "--format", "csv"))
    assert len(cells) == n
    for i, row in enumerate(cells):
        assert row == [str(i * k) if i % 16 < k else None for k in parts], i
    whole = support.dump(path, "--no-cache")
    for chunk in ("70000", "300000"):
        same(whole, support.dump(path, "--no-cache", "--chunk-bytes", chunk, "--jobs", "2"), chunk)


def test_text_of_a_list_as_string(tmp_path):
    """A string that spells a broken list does not make the list valid, whoever reads it first."""
    text = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"s":"[1,,2]"}}'
    broken = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"l":[1,,2]}}'
    for order in ([text, broken], [broken, text], [text] + [broken] * 3):
        path = write(tmp_path, "t.json", ('{"traceEvents": [' + ",".join(order) + "]}").encode())
        support.output("convert", path, "--no-cache", "-o", tmp_path / "back.json")
        args = [e["args"] for e in json.loads((tmp_path / "back.json").read_bytes())["traceEvents"]]
        assert args == [{"s": "[1,,2]"} if line is text else {"l": [1, 2]} for line in order]
        assert support.health(path, "--no-cache")["stray_comma"] == order.count(broken)


def test_many_repeated_keys(tmp_path):
    """The last one wins, in time that grows with the text, not with its square."""
    event = '{"ph":"X","ts":1,"dur":1,' + '"k":1,' * 400_000 + '"k":2}'
    args = '{"ph":"X","ts":1,"dur":1,"args":{' + ",".join(f'"a{i % 9000}":{i}' for i in range(200_000)) + '},"args":{}}'
    path = write(tmp_path, "t.json", ('{"traceEvents": [' + event + "," + args + "]}").encode())
    support.output("convert", path, "--no-cache", "-o", tmp_path / "back.json", timeout=60)
    first, second = json.loads((tmp_path / "back.json").read_bytes())["traceEvents"]
    assert first["k"] == 2 and second["args"] == {}


def test_cache_files_hold_nothing_else(tmp_path):
    """Bytes of a cache file depend on the trace, not on what the memory held before."""
    files = []
    for number in ("1", "170"):
        folder = tmp_path / number
        folder.mkdir()
        support.output("load", SMALL[0], "--cache-dir", folder, env=support.environment(MALLOC_PERTURB_=number))
        files.append([f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()])
    assert files[0] and files[0] == files[1]
