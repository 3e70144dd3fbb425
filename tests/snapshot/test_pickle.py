# SPDX-License-Identifier: Apache-2.0
"""Pickles are read as Python reads them, and nothing in them runs.

The oracle is Python's own pickle module. A tree stands where a snapshot has its settings, which converting writes out
as JSON: what comes back is what the reader understood. HOLOTRACE_PICKLE_TREES trees (2,000; 10,000 in `make nightly`) are made for each protocol, from the same seed.
"""
import base64
import gzip
import json
import os
import pickle
import pickletools
import random
import struct

import pytest

import support

N_TREES = int(os.environ.get("HOLOTRACE_PICKLE_TREES", "10000" if support.LONG else "2000"))
A_FILE = 500  # trees in one file
EMPTY = {"segments": [], "device_traces": [[]]}


def read_back(path, *options):
    """The settings of a snapshot, as understood."""
    out = path.with_suffix(".out.json")
    support.output("convert", "--no-cache", path, "-o", out, *options)
    return json.loads(out.read_bytes())["allocator_settings"]


def random_text(rng):
    return "".join(rng.choice(("a", "Z", "\u00e9", "\u4e2d", "\U0001f40d", "\n", '"', "\\", "\0", " "))
                   for _ in range(rng.choice((0, 1, 3, 12, 40, 300))))


def random_tree(rng, depth=0):
    kind = rng.randrange(10 if depth < 5 else 7)
    if kind == 0:
        return rng.choice((None, True, False))
    if kind == 1:
        return rng.choice((0, 1, -1, 255, 256, 65535, 65536, 2**31 - 1, -2**31, 2**31, 2**63 - 1, -2**63, 2**63,
                           2**64 - 1, 2**59, -2**59, 2**59 - 1))
    if kind == 2:
        return rng.getrandbits(rng.randrange(1, 64)) * rng.choice((1, -1))
    if kind == 3:
        return rng.choice((0.0, -1.5, 1e300, 5e-324, 0.1, 2.0**53, rng.random()))
    if kind < 7:
        return random_text(rng)
    if kind == 7:
        return [random_tree(rng, depth + 1) for _ in range(rng.choice((0, 1, 2, 5)))]
    if kind == 8:
        return tuple(random_tree(rng, depth + 1) for _ in range(rng.choice((0, 1, 2, 3, 4))))
    return {"k" + random_text(rng): random_tree(rng, depth + 1) for _ in range(rng.choice((0, 1, 2, 6)))}


def plain(tree):
    """As JSON has it: tuples are lists."""
    return json.loads(json.dumps(tree))


def equal(a, b):
    """Equality that tells 1 from 1.0 and True."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_trees_are_read_as_python_reads_them(tmp_path, protocol):
    rng = random.Random(protocol)
    for first in range(0, N_TREES, A_FILE):
        shared = [random_tree(rng) for _ in range(3)]
        trees = {f"t{i}": random_tree(rng) for i in range(first, first + A_FILE)}
        # the same object in many places is memoized once
        trees["shared"] = [shared] * 5 + [trees["t%d" % first]] * 3
        # longer than a batch of Python's pickler
        trees["long"] = list(range(2345))
        trees["wide"] = {f"w{i}": i for i in range(2345)}
        path = tmp_path / "tree.pickle"
        path.write_bytes(pickle.dumps(dict(EMPTY, allocator_settings=trees), protocol=protocol))
        assert equal(read_back(path), plain(trees))


def test_settings_of_a_snapshot_in_every_wrapping(tmp_path):
    settings = {"max_split_size": -1, "roundup_power2_divisions": {"1": 0}}
    snapshot = dict(EMPTY, allocator_settings=settings)
    data = pickle.dumps(snapshot, protocol=4)
    padded = base64.b64encode(data + b"\0\0").decode()
    wrappings = {
        "plain.pickle": data,
        "gzip.pickle.gz": gzip.compress(data),
        "optimized.pickle": pickletools.optimize(pickle.dumps(snapshot, protocol=2)),
        "mosaic.json": json.dumps(snapshot).encode(),
        "indented.json": b"\xef\xbb\xbf" + json.dumps(snapshot, indent=2).encode(),
        "viz.html": b"<!DOCTYPE html><script>\nconst local_files = [{\"name\": \"a\", \"base64\": \""
                    + padded.encode() + b"\"}]\nadd_local_files(local_files)</script>",
    }
    for name, content in wrappings.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert read_back(path) == settings, name


class CppPickler:
    """The form of torch's own writer: protocol 2, every text BINUNICODE, every number LONG1 of eight bytes, memo by
    BINPUT, containers filled at once."""

    def __init__(self):
        self.out, self.memo, self.n = bytearray(b"\x80\x02"), {}, 0

    def put(self):
        self.out += b"q" + bytes([self.n]) if self.n < 256 else b"r" + struct.pack("<I", self.n)
        self.n += 1

    def write(self, value):
        if isinstance(value, str):
            if value in self.memo:
                index = self.memo[value]
                self.out += b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index)
                return
            self.memo[value] = self.n
            self.out += b"X" + struct.pack("<I", len(value.encode())) + value.encode()
            self.put()
        elif isinstance(value, bool):
            self.out += b"\x88" if value else b"\x89"
        elif isinstance(value, int):
            self.out += b"\x8a\x08" + value.to_bytes(8, "little", signed=True)
        elif isinstance(value, float):
            self.out += b"G" + struct.pack(">d", value)
        elif value is None:
            self.out += b"N"
        elif isinstance(value, tuple):
            self.out += b"("
            for item in value:
                self.write(item)
            self.out += b"t"
            self.put()
        elif isinstance(value, list):
            self.out += b"]"
            self.put()
            self.out += b"("
            for item in value:
                self.write(item)
            self.out += b"e"
        else:
            self.out += b"}"
            self.put()
            self.out += b"("
            for key, item in value.items():
                self.write(key)
                self.write(item)
            self.out += b"u"


def test_form_of_torchs_own_writer(tmp_path):
    rng = random.Random(7)
    trees = {f"t{i}": random_tree(rng) for i in range(200)}
    trees = json.loads(json.dumps(trees), parse_int=lambda text: min(max(int(text), -2**63), 2**63 - 1))
    pickler = CppPickler()
    pickler.write(dict(EMPTY, allocator_settings=trees))
    data = bytes(pickler.out) + b"."
    assert equal(pickle.loads(data)["allocator_settings"], trees)
    path = tmp_path / "cpp.pickle"
    path.write_bytes(data)
    assert equal(read_back(path), trees)


# bytes that end in the opcode or hold it, its place among them, what is said
FORBIDDEN = [
    (b"cos\nsystem\n", 0, "os.system (GLOBAL)"), (b"\x8c\x02os\x8c\x06system\x93", 12, "os.system (STACK_GLOBAL)"),
    (b"N)R", 2, "REDUCE"), (b"}}b", 2, "BUILD"), (b"(ios\nsystem\n", 1, "INST"), (b"(No", 2, "OBJ"),
    (b"N)\x81", 2, "NEWOBJ"), (b"N)}\x92", 3, "NEWOBJ_EX"), (b"\x82\x01", 0, "EXT1"), (b"\x83\x01\x00", 0, "EXT2"),
    (b"\x84\x01\x00\x00\x00", 0, "EXT4"), (b"Pid\n", 0, "PERSID"), (b"NQ", 1, "BINPERSID"), (b"\x97", 0, "NEXT_BUFFER"),
    (b"N\x98", 1, "READONLY_BUFFER"), (b"\x96" + bytes(8), 0, "BYTEARRAY8"),
]


@pytest.mark.parametrize("op, at, name", FORBIDDEN, ids=[name.split()[-1].strip("()") for _, _, name in FORBIDDEN])
@pytest.mark.parametrize("before", [b"\x80\x04", b"\x80\x04}(\x8c\x08segments]"], ids=["first", "inside"])
def test_what_could_run_code_is_refused_by_name_and_place(tmp_path, op, at, name, before):
    path = tmp_path / "evil.pickle"
    path.write_bytes(before + op + b".")
    done = support.run("health", "--no-cache", path, memory_bytes=support.GIB)
    text = done.stderr.decode()
    assert done.returncode == 3
    assert name in text and f"at byte {len(before) + at}." in text
    assert name == "BYTEARRAY8" or "run code" in text


BOMBS = {
    "deep lists": b"\x80\x04" + b"]" * 10**6 + b"a" * (10**6 - 1) + b".",
    "deep marks": b"\x80\x04" + b"(" * 10**6 + b".",
    "deep tuples": b"\x80\x04)" + b"\x85" * 10**6 + b".",
    "far memo": b"\x80\x02]r" + struct.pack("<I", 2**32 - 1) + b".",
    "long text": b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b"x.",
    "long number": b"\x80\x04\x8b" + struct.pack("<i", 2**30) + b"x.",
    "unknown get": b"\x80\x04h\x07.",
    "pops the empty stack": b"\x80\x040.",
    "key without value": b"\x80\x04}(Nu.",
    "two values": b"\x80\x04NN.",
    "a mark as item": b"\x80\x04]((e.",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_in_little_memory(tmp_path, name):
    path = tmp_path / "bomb.pickle"
    path.write_bytes(BOMBS[name])
    done = support.run("health", "--no-cache", path, memory_bytes=support.GIB)
    assert done.returncode in (3, 4), done.stderr


def test_sharing_costs_nothing(tmp_path):
    """2^30 leaves by sharing, and a list in itself: neither is expanded, and nothing is said of them."""
    value = ["x"]
    for _ in range(30):
        value = [value, value]
    cyclic = []
    cyclic.append(cyclic)
    path = tmp_path / "shared.pickle"
    path.write_bytes(pickle.dumps(dict(EMPTY, laughs=value, cyclic=cyclic), protocol=4))
    support.output("health", "--no-cache", path)
    path.write_bytes(pickle.dumps(dict(EMPTY, allocator_settings={"x": value}), protocol=4))
    done = support.run("health", "--no-cache", path, memory_bytes=support.GIB)
    assert done.returncode == 4 and b"too long" in done.stderr


def test_other_files_are_named(tmp_path):
    cases = {
        "model.pickle": (b"\x80\x02}q\x00X\x01\x00\x00\x00wq\x01ctorch._utils\n_rebuild_tensor_v2\nq\x02.",
                         "torch._utils._rebuild_tensor_v2"),
        "list.pickle": (pickle.dumps([1, 2, 3], protocol=4), "no memory snapshot"),
        "other.pickle": (pickle.dumps({"a": 1}, protocol=5), "no memory snapshot"),
        "empty.pickle": (b"", "empty"),
        "zip.pickle": (b"PK\x03\x04" + b"\0" * 40, "zip archive"),
        "timeline.html": (b"<html><head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML</title></head>"
                          b"<body><img src='data:image/png;base64,AAAA'></body></html>", "picture"),
    }
    for name, (data, word) in cases.items():
        path = tmp_path / name
        path.write_bytes(data)
        done = support.run("health", "--no-cache", path)
        assert done.returncode == 3 and word in done.stderr.decode(), (name, done.stderr)


def small_snapshot(n):
    stack = [{"filename": "train.py", "line": 7, "name": "step"}, {"filename": "x.cpp", "line": 0, "name": "malloc"}]
    events = [{"action": "alloc", "addr": 4096 * i, "size": 512, "stream": 0, "time_us": 10**15 + i, "frames": stack}
              for i in range(n)]
    return {"segments": [], "device_traces": [events]}


def n_events(path):
    dump = support.dump("--no-cache", path).decode()
    return sum(line.startswith("memory_event ") for line in dump.splitlines())


@pytest.mark.parametrize("protocol", [2, 4, "json"])
def test_what_is_whole_of_a_cut_file_is_kept(tmp_path, protocol):
    n = 1200
    data = json.dumps(small_snapshot(n)).encode() if protocol == "json" else pickle.dumps(small_snapshot(n), protocol)
    path = tmp_path / "cut.pickle"
    found = []
    for share in (0.3, 0.5, 0.7, 0.99):
        path.write_bytes(data[:int(len(data) * share)])
        done = support.run("health", "--no-cache", "--format", "csv", path)
        assert done.returncode == 0, done.stderr
        assert b"truncated" in done.stdout
        found.append(n_events(path))
        # a cut loses at most the event that it cuts
        assert share * n * 0.9 < found[-1] < n, (share, found)
    assert found == sorted(found)
