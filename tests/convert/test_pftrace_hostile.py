# SPDX-License-Identifier: Apache-2.0
"""Perfetto traces that were made to mislead: nothing is read that is not there, what is written can be read, nothing is lost unsaid."""
import struct
import zlib

import pytest

import support
from pftrace import INSTANT, message, packet
from test_pftrace import CLEAR, event, health, json_of, thread, write


@pytest.mark.parametrize("gpu", [5000, 0x7FFFFFF0])
@pytest.mark.parametrize("iid, pairs, shown", [
    (3326683751219013875, lambda iid: [(23, "n"), (3, iid)], {"cat": "<iid 3326683751219013875>"}),
    (12690502212924189900, lambda iid: [(10, iid)], {"name": "<iid 12690502212924189900>"}),
    (None, lambda iid: [(23, "n"), (4, message((1, iid), (4, 1)))], {}),
    (None, lambda iid: [(23, "n"), (4, message((10, "k"), (17, iid)))], {})], ids=["category", "name", "key", "value"])
def test_numbers_of_gpus_are_no_texts(tmp_path, gpu, iid, pairs, shown):
    """A descriptor of counters with the number 1; numbers of texts that a mix of kind and number takes for the same, and the same."""
    mixed = [1 ^ (10 * 0x9E3779B97F4A7C15 + 0x7F4A7C15) ^ (kind * 0x9E3779B97F4A7C15 + 0x7F4A7C15) for kind in range(4)]
    for number in [iid] if iid else [1, *(n & (1 << 64) - 1 for n in mixed)]:
        path = write(tmp_path, packet((8, 1000), (10, 1), (13, CLEAR), (12, message((47, message((1, 1), (3, gpu))))),
                                      (11, message((9, INSTANT), (11, 5), *pairs(number)))))
        assert health(path)["unknown_iid"] == 1
        found, = json_of(path, tmp_path)
        assert shown.items() <= found.items()
        assert iid or f"<iid {number}>" in str(found["args"])


def test_a_compressed_packet_with_the_end_of_gzip_is_damaged(tmp_path):
    inner = event(1000, INSTANT, 5, (23, "inner"), flags=0)
    squeeze = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = squeeze.compress(inner) + squeeze.flush() + struct.pack("<II", zlib.crc32(inner), len(inner))
    path = write(tmp_path, event(1000, INSTANT, 5, (23, "first"), flags=0),
                 packet((50, b"\x78\x9c" + body + bytes(3) + struct.pack(">I", zlib.adler32(inner)))))
    done = support.run("events", path, "--format", "csv", "--columns", "name", "--no-cache", timeout=20)
    assert done.stdout.split() == [b"name", b"first"]
    assert health(path)["packet_lost"] == 1
