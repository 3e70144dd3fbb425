# SPDX-License-Identifier: Apache-2.0
"""Time and memory grow with the file for Perfetto traces and exports of Nsight Systems that were made to cost more."""
import functools
import sqlite3

import pytest

import support
from meter import is_linear


def measure(meter, *words):
    seconds, memory, code, message = meter.measure([support.EXE, *words, "--jobs", "1", "--no-cache"])
    assert code == 0, message
    return seconds, memory


def check_growth(meter, make, n, *words):
    """Of make(n // 4) and make(n); words behind the file."""
    large, small = make(n), functools.cache(lambda: make(n // 4))
    seconds, memory = measure(meter, words[0], large, *words[1:])
    assert is_linear(seconds, lambda: measure(meter, words[0], large, *words[1:])[0],
                     lambda: measure(meter, words[0], small(), *words[1:])[0])
    return memory


# ---- Perfetto traces ----

def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*pairs):
    return b"".join(field(number, value) for number, value in pairs)


def packet(*pairs):
    return field(1, message(*pairs))


def event(*pairs, interned=b"", ts=1000):
    return packet((8, ts), (10, 1), *([(12, interned)] if interned else []), (11, message((9, 3), (11, 5), (23, "n"), *pairs)))


def of_correlations(n):
    return event(*[(4, message((1, 9), (4, 1)))] * n, interned=message((3, message((1, 9), (2, "corr_id")))))


def of_markers(n):
    """Each with a packet behind it that says it ends where the file ends, in a byte that is no field."""
    one = message((36, bytes.fromhex("82477a76b28d42ba81dc33326d57a079")))
    head = 5  # of such a packet: its key, and its length in four bytes
    unit = len(one) + head + 4
    parts = [event()]
    for i in range(n):
        left = (n - i - 1) * unit + 4 + 1
        length = bytes([left & 127 | 128, left >> 7 & 127 | 128, left >> 14 & 127 | 128, left >> 21])
        parts.append(one + b"\x0a" + length + b"\x0a\x02\x08\x01")
    return b"".join([*parts, b"\x07"])


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
@pytest.mark.parametrize("make, n", [(of_correlations, 200_000), (of_markers, 80_000)], ids=["correlations", "markers"])
def test_packets(make, n, meter, tmp_path):
    def file(n):
        path = tmp_path / f"{n}.pftrace"
        path.write_bytes(make(n))
        return path

    assert check_growth(meter, file, n, "health") < 64 << 20


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
def test_headers_of_documents(meter, tmp_path):
    def file(n):
        path = tmp_path / f"{n}.pftrace"
        headers = message(*((1, message((1, f"k{i}"), (2, i))) for i in range(n)))
        path.write_bytes(packet((10, 1), (994, message((1, "0.1.0"), (3, n)))) + packet((126, headers)))
        return path

    check_growth(meter, file, 60_000, "convert", "-o", tmp_path / "written.json")


def of_nested(n):
    """Lists that repeat a long text by its number."""
    interned = message((29, message((1, 7), (2, "x" * n))))
    return event(*((4, message((10, "k%d" % i), *[(12, message((17, 7)))] * 50, (12, message((4, i))))) for i in range(n // 100)),
                 interned=interned)


def of_stacks(n):
    """Stacks of a function with a long name, and two that make each another one."""
    functions = message(*((5, message((1, i + 1), (2, f"f{i}"))) for i in range(300)), (5, message((1, 1000), (2, "L" * 8000))))
    frames = message(*((6, message((1, i), (2, i))) for i in [*range(1, 301), 1000]))
    stacks = message(*((7, message((1, i + 1), (2, 1000), (2, i // 300 + 1), (2, i % 300 + 1))) for i in range(n)))
    return event(interned=functions + frames + stacks)


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
@pytest.mark.parametrize("make, n", [(of_nested, 100_000), (of_stacks, 20_000)], ids=["lists", "stacks"])
def test_repeated_texts(make, n, meter, tmp_path):
    path = tmp_path / "t.pftrace"
    path.write_bytes(make(n))
    seconds, memory = measure(meter, "health", path)
    assert seconds < 2 and memory < 160 << 20
    assert b"unknown_iid" in support.output("health", path, "--format", "csv", "--columns", "check", "--no-cache")


# ---- exports ----

TABLES = """
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid, domainId, binaryData);
CREATE TABLE SAMPLING_CALLCHAINS(id INTEGER, symbol INTEGER, stackDepth INTEGER);
CREATE TABLE COMPOSITE_EVENTS(id INTEGER, start INTEGER, globalTid INTEGER);
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, schemaId, idx, type, flags, offset, name);
CREATE TABLE NVTX_PAYLOAD_SCHEMAS(domainId, schemaId, payloadSize);
"""


def fill_chain(db, n):
    """One call chain, of frames whose names nobody knows, that all samples have."""
    db.executemany("INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 1, ?)", ((i,) for i in range(n)))
    db.executemany("INSERT INTO COMPOSITE_EVENTS VALUES (1, ?, NULL)", ((i,) for i in range(n)))


def fill_fields(db, n):
    """One schema of fields that are none, by the size of its payload and by its number."""
    db.executemany("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (0, 1, ?, 16777216, 0, 0, '')", ((i,) for i in range(n)))
    db.executemany("INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (0, 1, 1)", ((),) * n)
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (0, 1, 59, 'x', NULL, NULL, x'00')", ((),) * n)


def fill_schemas(db, n):
    """As many schemas, of one size each."""
    db.executemany("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (0, ?, 0, 1, 0, 0, '')", ((i,) for i in range(n)))
    db.executemany("INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (0, ?, 1)", ((i,) for i in range(n)))
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (0, 1, 59, 'x', NULL, NULL, x'0000')", ((),) * n)


def fill_name(db, n):
    """A field with a long name."""
    db.execute("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (0, 1, 0, 1, 0, 0, ?)", ("x" * 20 * n,))
    db.execute("INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (0, 1, 1)")
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (0, 1, 59, 'x', NULL, NULL, x'00')", ((),) * n)


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
@pytest.mark.parametrize("fill", [fill_chain, fill_fields, fill_schemas, fill_name], ids=lambda f: f.__name__[5:])
def test_exports(fill, meter, tmp_path):
    if b"SQLite" not in support.output("version"):
        pytest.skip("skipped: built without SQLite")

    def file(n):
        path = tmp_path / f"{n}.sqlite"
        with sqlite3.connect(path) as db:
            db.executescript(TABLES)
            fill(db, n)
        return path

    assert check_growth(meter, file, 20_000, "health") < 64 << 20
