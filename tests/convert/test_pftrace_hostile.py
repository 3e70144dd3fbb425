# SPDX-License-Identifier: Apache-2.0
"""Perfetto traces that were made to mislead: nothing is read that is not there, what is written can be read, nothing is lost unsaid."""
import json
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


def ours(n_documents):
    """A file of ours of so many documents, with the keys that its rows have."""
    return [packet((10, 1), (994, message((1, "0.1.0"), (3, n_documents)))),
            packet((10, 1), (993, message((1, 1), (2, "X"), *((3, key) for key in ("ph", "name", "pid", "tid", "ts", "dur")))))]


def own_track(uuid, document):
    return packet((10, 1), (60, message((1, uuid), (990, 2), (992, 2), (994, document))))


def own_row(uuid, name, ts):
    return packet((8, ts), (10, 1), (991, 1), (992, message((11, uuid), (23, name), (990, 5))))


def documents_of(path, tmp_path):
    """The documents that are written for it."""
    written = tmp_path / "written.json"
    support.output("convert", path, "-o", written, "--no-cache", "--partial")
    text, found, decoder = written.read_text(), [], json.JSONDecoder()
    while text:
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:].lstrip()
    return found


def names_of(path, tmp_path):
    return [[e["name"] for e in document["traceEvents"]] for document in documents_of(path, tmp_path)]


def test_no_row_is_lost_to_a_document_that_comes_late_or_never(tmp_path):
    late = write(tmp_path, *ours(2), own_track(5, 1), own_track(6, 0), own_row(5, "a", 1000), own_row(6, "b", 2000), own_row(5, "c", 3000))
    assert names_of(late, tmp_path) == [["b"], ["a", "c"]]
    never = write(tmp_path, *ours(2), own_track(5, 7), own_track(6, 65536), own_row(5, "a", 1000), own_row(6, "b", 2000))
    assert names_of(never, tmp_path) == [[], ["a", "b"]]
    # a track that says so in a file that is none of ours
    foreign = write(tmp_path, own_track(5, 7), event(10, INSTANT, 5, (23, "a"), flags=0))
    assert names_of(foreign, tmp_path) == [["a"]]


def test_no_header_is_lost_to_a_document_that_comes_late_or_never(tmp_path):
    header = lambda key, place: (1, message((1, key), (2, 1), (990, place)))
    path = write(tmp_path, *ours(3), own_track(5, 0), own_row(5, "a", 1000),
                 packet((126, message(header("z", 1 << 18), header("c", 5), header("b", 2), header("d", 3), header("a", 0), header("y", 4)))))
    found = documents_of(path, tmp_path)
    assert [[key for key in document if key != "traceEvents"] for document in found] == [["a"], ["b", "d"], ["z", "y", "c"]]


def test_texts_that_call_themselves_json_are_checked(tmp_path):
    """As they were, as another text of the number, and as a key of the number."""
    def of(*texts, kind=29):
        return (12, message(*((kind, message((1, 7), (2, text), *([(990, 1)] if is_json else []))) for text, is_json in texts)))

    def args(*interned):
        path = write(tmp_path, packet((8, 1000), (10, 1), (13, CLEAR), *interned,
                                      (11, message((9, INSTANT), (11, 5), (23, "n"), (4, message((10, "k"), (17, 7)))))))
        return json_of(path, tmp_path)[0]["args"]

    assert args(of(('[1, {"a": 2}]', True))) == {"k": [1, {"a": 2}]}
    assert args(of(('1,"evil":"}', True))) == {"k": '1,"evil":"}'}
    assert args(of(("[1]", True), ("[2", False))) == {"k": "[2"}
    assert args((12, message((29, message((1, 7), (2, "x]"))), (3, message((1, 7), (2, "[]"), (990, 1)))))) == {"k": "x]"}


def test_packets_go_on_behind_the_first_marker_that_has_one(tmp_path):
    """Behind a marker bytes that say they are a packet to the end of the file, of fields that make no sense."""
    marker = packet((36, bytes.fromhex("82477a76b28d42ba81dc33326d57a079")))
    rest = event(2, INSTANT, 5, (23, "b"), flags=0) + b"\x07"
    path = write(tmp_path, thread(5, 1, 1, "t"), event(1, INSTANT, 5, (23, "a"), flags=0), b"\xff\xff", marker,
                 b"\x0a", bytes([len(rest)]), rest)
    assert [e["name"] for e in json_of(path, tmp_path)] == ["a", "b"]


def test_a_list_repeats_a_text_by_its_number_up_to_a_bound(tmp_path):
    """1 MiB of one list: three times 300,000 bytes, from then on the number; a short text is always there."""
    text = "x" * 300_000
    path = write(tmp_path, packet(
        (8, 1000), (10, 1), (13, CLEAR), (12, message((29, message((1, 7), (2, text))), (29, message((1, 8), (2, "short"))))),
        (11, message((9, INSTANT), (11, 5), (23, "n"), (4, message((10, "k"), *[(12, message((17, 7)))] * 5, (12, message((17, 8)))))))))
    assert json_of(path, tmp_path)[0]["args"] == {"k": [text] * 3 + ["<iid 7>"] * 2 + ["short"]}
    assert health(path)["unknown_iid"] == 2
