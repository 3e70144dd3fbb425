# SPDX-License-Identifier: Apache-2.0
"""Payloads of NVTX by their schemas, and numbers that the file's own enumerations explain."""
import struct

import pytest

import support
from test_nsys import args_of, small, sql, table

COMM, MESSAGE, PEER, SUM = 1 << 24 | 2, 1 << 24 | 4, 1 << 24 | 10, 1 << 24 | 16
UINT64, SIZE, INT = 18, 22, 5


def packed(domain, schema, payload, header=32):
    """As the exporter writes them: domain, schema, size, where the payload begins."""
    return struct.pack("<QQQQ", domain, schema, len(payload), header) + bytes(header - 32) + payload


def with_schemas(domain=1):
    e = small()
    for _ in range(2):  # every process registers them
        e.schema(domain, COMM, 24, (UINT64, "NCCL communicator ID", None), (INT, "No. of ranks", 8), (INT, "Rank", 12),
                 (INT, "CUDA device", 16))
        e.schema(domain, MESSAGE, 24, (UINT64, "NCCL communicator ID", None), (SIZE, "Message size [bytes]", 8),
                 (SUM, "Reduction operation", 16))
        e.schema(domain, PEER, 24, (UINT64, "NCCL communicator ID", None), (SIZE, "Message size [bytes]", 8), (INT, "Peer rank", 16))
    e.row("NVTX_PAYLOAD_ENUM_ENTRIES", domainId=domain, schemaId=SUM, idx=0, name="Sum", value=0)
    e.row("NVTX_PAYLOAD_ENUM_ENTRIES", domainId=domain, schemaId=SUM, idx=1, name="Product", value=1)
    e.nvtx(1, 2, "NCCL", type_=75, domain=domain)
    return e


@pytest.mark.parametrize("form", ["blob", "hex", "longer header"])
def test_nccl_by_schema(tmp_path, form):
    def cell(schema, payload):
        blob = packed(1, schema, payload, 48 if form == "longer header" else 32)
        return blob.hex().upper() if form == "hex" else blob
    e = with_schemas()
    big = 0xF0E0D0C0B0A09080  # ids are hashes: above 2^63
    e.nvtx(3, 4, "ncclCommInitRank", domain=1, binaryData=cell(COMM, struct.pack("<QiiiI", big, 4, 2, 0, 0)))
    e.nvtx(1000, 1200, "ncclAllReduce", domain=1, binaryData=cell(MESSAGE, struct.pack("<QQII", big, 4096, 1, 0)))
    e.nvtx(1300, 1310, "ncclSend", domain=1, binaryData=cell(PEER, struct.pack("<QQiI", big, 512, 3, 0)))
    path = e.write(tmp_path / "a.sqlite")
    assert {row["rank"] for row in table("info", path)} == {"2"}
    assert args_of(path, "NCCL:ncclAllReduce", tmp_path) == {
        "Collective name": "allreduce", "In msg nelems": 4096, "dtype": "Byte", "Group size": 4, "Process Group Name": hex(big),
        "domain": "NCCL", "payload data": {"NCCL communicator ID": big, "Message size [bytes]": 4096, "Reduction operation": "Product"}}
    assert args_of(path, "NCCL:ncclSend", tmp_path)["Dst Rank"] == 3
    assert args_of(path, "NCCL:ncclCommInitRank", tmp_path)["payload data"] == {
        "NCCL communicator ID": big, "No. of ranks": 4, "Rank": 2, "CUDA device": 0}


def test_every_type_by_its_size_and_sign(tmp_path):
    """One schema of that size in the domain: bytes without a header are of it. Offsets that are not given follow from alignment."""
    e = small()
    types = [(1, "b", -5), (4, "H", 65535), (5, "i", -70000), (10, "Q", 2**64 - 1), (11, "b", -1), (12, "B", 255), (13, "h", -2),
             (16, "I", 2**32 - 1), (17, "q", -(2**63)), (19, "f", 0.5), (20, "d", 1e300), (23, "Q", 4096)]
    layout = "".join(code for _, code, _ in types)
    payload = struct.pack("@" + layout, *[value for _, _, value in types])
    e.schema(5, 1 << 24, len(payload), *[(kind, 'f"%d\\' % kind, None) for kind, _, _ in types])
    e.nvtx(1, 1, "mine", type_=75, domain=5)
    e.nvtx(50, 60, "x", domain=5, binaryData=payload)
    e.nvtx(60, 70, "short", domain=5, binaryData=payload[:-1])
    path = e.write(tmp_path / "a.sqlite")
    assert args_of(path, "mine:x", tmp_path)["payload data"] == {'f"%d\\' % kind: value for kind, _, value in types}
    assert "payload data" not in args_of(path, "mine:short", tmp_path)


def test_a_payload_behind_a_longer_one(tmp_path):
    e = small()
    e.nvtx(1, 1, "mine", type_=75, domain=5)
    e.schema(5, 1 << 24, 4, (INT, "a", 0))
    e.schema(5, 1 << 24 | 1, 8, (INT, "a", 0), (INT, "b", 4))
    for i, numbers in enumerate([(1,), (1, 2), (1,), (3,), (5, 6)]):
        e.nvtx(50 + 10 * i, 55 + 10 * i, f"x{i}", domain=5, binaryData=struct.pack(f"<{len(numbers)}i", *numbers))
    path = e.write(tmp_path / "a.sqlite")
    assert [args_of(path, f"mine:x{i}", tmp_path).get("payload data") for i in range(5)] == [
        {"a": 1}, {"a": 1, "b": 2}, {"a": 1}, {"a": 3}, {"a": 5, "b": 6}]


def test_a_message_that_also_says_its_ranks_has_them_once(tmp_path):
    e = small()
    said = '{"NCCL communicator ID": 5, "Message size [bytes]": 8, "No. of ranks": %d, "Rank": 0}'
    e.nvtx(50, 60, "ncclAllReduce", jsonText=said % 2)
    e.nvtx(70, 80, "ncclReduce", jsonText=said % 4)
    path = e.write(tmp_path / "a.sqlite")
    written = tmp_path / "written.json"
    support.output("convert", path, "-o", written)
    lines = [line for line in written.read_text().splitlines() if '"Collective name"' in line]
    assert [line.count('"Group size"') for line in lines] == [1, 1]
    assert ['"Group size":%d' % n in line for n, line in zip((2, 4), lines)] == [True, True]


@pytest.mark.parametrize("cell", [
    b"", b"\0" * 31, packed(1, 99, b"x" * 24), packed(2, COMM, b"x" * 24), packed(1, COMM, b"x" * 24)[:-1],
    struct.pack("<QQQQ", 1, COMM, 2**64 - 1, 32), struct.pack("<QQQQ", 1, COMM, 8, 2**64 - 1), struct.pack("<QQQQ", 1, COMM, 1, 0),
    packed(1, COMM, b""), "zz" * 40, "0" * 81, 7, 1.5, b"\xff" * 5000, "ab" * 5000])
def test_odd_payloads_are_left(tmp_path, cell):
    e = with_schemas()
    e.nvtx(50, 60, "odd", domain=1, binaryData=cell)
    path = e.write(tmp_path / "a.sqlite")
    assert "payload data" not in args_of(path, "NCCL:odd", tmp_path)
    assert sql(path, "SELECT ts_ns, dur_ns FROM events WHERE name = 'NCCL:odd'") == [("50", "10")]


def test_odd_schemas_are_left(tmp_path):
    """Fields behind the payload, arrays, unknown types and schemas without fields."""
    e = small()
    e.nvtx(1, 1, "mine", type_=75, domain=5)
    e.schema(5, 1, 16, (INT, "in", 0), (INT, "behind", 16), (INT, "before", -4), (INT, "across", 14), (77, "text", 4),
             (1 << 24 | 9, "nobody", 8), (INT, "lost", None), (INT, "again", 12))
    e.rows["NVTX_PAYLOAD_SCHEMA_ENTRIES"].append(dict(domainId=5, schemaId=1, idx=20, type=INT, name="array", flags=16, offset=4))
    e.row("NVTX_PAYLOAD_SCHEMAS", domainId=5, schemaId=2, payloadSize=16)
    e.nvtx(50, 60, "x", domain=5, binaryData=packed(5, 1, struct.pack("<iiii", 1, 2, 3, 4)))
    e.nvtx(60, 70, "y", domain=5, binaryData=packed(5, 2, bytes(16)))
    path = e.write(tmp_path / "a.sqlite")
    assert args_of(path, "mine:x", tmp_path)["payload data"] == {"in": 1, "again": 4}
    assert "payload data" not in args_of(path, "mine:y", tmp_path)


def test_kinds_of_rows_by_the_enumeration_of_the_file(tmp_path):
    e = small()
    for row in e.rows["NVTX_EVENTS"]:
        row["eventType"] += 100
    e.row("ENUM_NSYS_EVENT_TYPE", id=159, name="NvtxPushPopRange", label="")
    e.row("ENUM_NSYS_EVENT_TYPE", id=134, name="NvtxMark", label="")
    e.row("ENUM_NSYS_EVENT_TYPE", id=175, name="NvtxDomainCreate", label="")
    e.nvtx(40, None, "mark", type_=134)
    e.nvtx(70, 75, "mine", type_=159, domain=4)
    e.nvtx(1, 1, "lib", type_=175, domain=4)
    e.nvtx(80, 85, "no kind any more", type_=59)
    path = e.write(tmp_path / "a.sqlite")
    assert sql(path, "SELECT name, ph FROM events WHERE name IN ('mark', 'lib:mine', 'no kind any more') ORDER BY ts_ns") == [
        ("mark", "i"), ("lib:mine", "X")]
    plain = small().write(tmp_path / "b.sqlite")
    query = "SELECT count(*), sum(dur_ns) FROM events WHERE cat IN ('cpu_op', 'user_annotation') AND name <> 'lib:mine'"
    assert sql(path, query) == sql(plain, query) != [("0", "")]


def test_words_of_copies_by_the_enumerations_of_the_file(tmp_path):
    e = small()
    e.row("ENUM_CUDA_MEMCPY_OPER", id=20, name="CUDA_MEMCPY_KIND_UVM_DTOH", label="")
    e.row("ENUM_CUDA_MEMCPY_OPER", id=21, name="odd", label="")
    e.row("ENUM_CUDA_MEM_KIND", id=30, name="", label="Moon")
    for i, (way, kind) in enumerate([(20, 30), (21, 2), (1, 0)]):
        e.row("CUPTI_ACTIVITY_KIND_MEMCPY", start=5000 + i * 10, end=5005 + i * 10, deviceId=0, streamId=7, correlationId=50 + i,
              globalPid=(1 << 48) + (7 << 24), bytes=8, copyKind=way, srcKind=kind, dstKind=2)
    path = e.write(tmp_path / "a.sqlite")
    assert sql(path, "SELECT name FROM events WHERE cat = 'gpu_memcpy' AND ts_ns >= 5000 ORDER BY ts_ns") == [
        ("Memcpy DtoH (Moon -> Device)",), ("Memcpy Unknown (Device -> Device)",), ("Memcpy HtoD (Pageable -> Device)",)]
