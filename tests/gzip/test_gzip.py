# SPDX-License-Identifier: Apache-2.0
"""A .json.gz is the same store with one thread, which inflates alone, and with eight, which inflate together.

ahead_test.c compares the two ways byte by byte with chunks of its own choice. Here chunks are as large as they are, so
files are of some MB compressed, as several compressors write them, whole and damaged.
"""
import random
import zlib

import pytest

import support


def text():
    """Events that compress badly, so that little text makes many chunks."""
    rng = random.Random(7)
    events = [b'{"ph": "X", "cat": "cpu_op", "name": "op%d", "pid": 1, "tid": %d, "ts": %d.%03d, "dur": %d, '
              b'"args": {"id": %d, "text": "%s"}}' % (
                  rng.randrange(90), i % 3, 10 * i, rng.randrange(1000), rng.randrange(9), i,
                  rng.randbytes(60).hex().encode()) for i in range(16_000)]
    return b'{"schemaVersion": 1, "traceEvents": [\n' + b",\n".join(events) + b"\n]}\n"


TEXT = text()


def packed(level=6, memory=8, strategy=zlib.Z_DEFAULT_STRATEGY, flush=None, data=TEXT):
    """A gzip file; flush: a point to go on from after every so many bytes of text."""
    packer = zlib.compressobj(level, zlib.DEFLATED, 31, memory, strategy)
    step = flush or len(data)
    parts = []
    for at in range(0, len(data), step):
        parts.append(packer.compress(data[at:at + step]))
        if flush:
            parts.append(packer.flush(zlib.Z_SYNC_FLUSH))
    return b"".join(parts) + packer.flush()


KINDS = {
    "fast": {"level": 1},
    "usual": {},
    "best": {"level": 9},
    "tiny-blocks": {"memory": 1},
    "large-blocks": {"memory": 9},
    "flushed": {"flush": 128 << 10},
    "stored": {"level": 0},
    "fixed": {"strategy": zlib.Z_FIXED},
    "huffman-only": {"strategy": zlib.Z_HUFFMAN_ONLY},
    "runs": {"strategy": zlib.Z_RLE},
}


def dumps(tmp_path, data):
    """Dumps, messages and status, which have to be the same with one thread and with eight."""
    path = tmp_path / "t.json.gz"
    path.write_bytes(data)
    one, eight = [support.run("dump", path, "--no-cache", "--jobs", jobs) for jobs in ("1", "8")]
    assert (one.returncode, one.stderr) == (eight.returncode, eight.stderr)
    assert one.stdout == eight.stdout, "dumps differ"
    return one


@pytest.mark.parametrize("kind", KINDS)
def test_whole(tmp_path, kind):
    plain = tmp_path / "t.json"
    plain.write_bytes(TEXT)
    data = packed(**KINDS[kind])
    assert len(data) > 1 << 20, "too short to be inflated by many"
    done = dumps(tmp_path, data)
    assert done.returncode == 0
    assert done.stdout == support.dump(plain, "--no-cache")


@pytest.mark.parametrize("kind", ["usual", "flushed", "stored"])
@pytest.mark.parametrize("share", [0.3, 0.97, 1])
def test_damaged(tmp_path, kind, share):
    """Cut, and with a bit flipped, at the start of the rest or in the checksum."""
    data = packed(**KINDS[kind])
    at = min(int(len(data) * share), len(data) - 6)
    assert dumps(tmp_path, data[:at]).returncode == 0
    dumps(tmp_path, data[:at] + bytes([data[at] ^ 4]) + data[at + 1:])


@pytest.mark.parametrize("tail", [b"\0" * 4000, b"not gzip", packed(data=TEXT[-100:])[:-3], packed(data=b"\n" * 9)],
                         ids=["zeros", "other", "half-a-member", "member"])
def test_followed(tmp_path, tail):
    dumps(tmp_path, packed() + tail)


def test_members(tmp_path):
    half = len(TEXT) // 2
    done = dumps(tmp_path, packed(data=TEXT[:half]) + packed(data=TEXT[half:]))
    assert done.stdout == dumps(tmp_path, packed()).stdout
