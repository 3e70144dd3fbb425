#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Make the seed corpora from the bundled traces and the cases.

    tests/fuzz/make_seeds.py        rewrites tests/fuzz/corpus/<target>/seed-*

Seeds are small: the inline traces of the cases, and a few events of each (phase, category) of the real
traces under a shortened header. Files that do not start with "seed-" (kept findings) stay.
"""
import gzip
import hashlib
import json
import pathlib
import pickle
import random
import sqlite3
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "cases")]

import support  # noqa: E402
import test_cases  # noqa: E402

HEADER_KEYS = ("schemaVersion", "deviceProperties", "distributedInfo", "displayTimeUnit",
               "baseTimeNanoseconds", "traceName")
WHERE = ["dur_ns > 1ms and name ~ nccl\n-dur_ns,name\nindex,name,dur_ns", "name == 'aten::add'\n\n",
         "not (cat == kernel or ts_ns <= -5) and pid != 3", "args.f >= 0.25\nargs.s\nargs.External id,event.id",
         "count >= 1\n-count\ncheck,count", "(((((name ~ \".*\"))))) and 1us < dur_ns", "name", "and", "'", "=",
         "dur_ns > 18446744073709551615", "dur_ns > 1e308ms or dur_ns < -1.5s", "name ~ /(a*)*b/ or name !~ 'x'", ",\n,\n,"]


# a byte that chooses the reader, then its file
TABLES = [
    'Step Id,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Block Dim,Input Shapes,mac_ratio\r\n'
    '5,16,MatMul_1,MatMulV2,AI_CORE,1736408883704643.212\t,10.5,32,"""8,16;16,8""",0.5\r\n'
    '5,N/A,hcom_allReduce__1,N/A,HCCL,1736408883704663,30,0,N/A,N/A\r\n',
    '\ufeffComponent,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n'
    'PTA+GE,1736408883704643.212\t,1.5,4,1.25,1,NPU:1\nAPP,1736408883704643.5,,8,,,NPU:1\n',
    'Device_id,Component,Timestamp(us),Total Reserved(MB),Device\n0,SLOG,1736408883704643.212\t,0.5,NPU:0\n',
    'Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),Device Type\n'
    'aten::empty,2,1736408883704643,1736408883704646,1,NPU:1\ncann::Add,-1,,1736408883704646,,CPU\n',
    'Name,Input Shapes,Call Stack,Host Self Duration(us)\n"op","2,3;\r\n4","a.py(1): f;\r\nb ""q""",1.5\nx,,,N/A\n',
    '{"step5": {"collective": {"hcom_x@77": {"Communication Time Info": {"Start Timestamp(us)": 1736408883704643.5, '
    '"Elapse Time(ms)": 1.5}, "Communication Bandwidth Info": {"HCCS": {"Transit Size(MB)": 2.5, "Size Distribution": '
    '{"2.5": [1, 0.5]}}}}}, "p2p": {}}}',
    '{"step": {"p2p": {"send-top1@77": {"3-12": {"Transport Type": "HCCS", "Transit Size(MB)": 1e-6, "Op Name": "s"}}}}}',
    '{"rank_id": 3, "config": {"a": [1, null, "x"]}}',
    '[[-1, 0, 100, 0], [5000, 1, 7, 4], [5000, "create", 8, 3], [9000, 3, -7, 4]]',
]


_FRAMES = [{"filename": "train.py", "line": 7, "name": "step"}, {"filename": "a.cpp", "line": 0, "name": "malloc"}]
SNAPSHOT = {
    "segments": [{"device": 0, "address": 1 << 40, "total_size": 2097152, "allocated_size": 512, "active_size": 512,
                  "requested_size": 100, "stream": 0, "segment_type": "small", "segment_pool_id": (0, 0),
                  "is_expandable": False, "frames": [], "blocks": [
                      {"address": 1 << 40, "size": 512, "requested_size": 100, "state": "active_allocated",
                       "frames": _FRAMES},
                      {"address": (1 << 40) + 512, "size": 2096640, "requested_size": 0, "state": "inactive",
                       "frames": []}]}],
    "device_traces": [[
        {"action": "segment_alloc", "addr": 1 << 40, "size": 2097152, "stream": 0, "time_us": 10**15, "frames": []},
        {"action": "alloc", "addr": 1 << 40, "size": 100, "stream": 0, "time_us": 10**15 + 1, "frames": _FRAMES,
         "compile_context": "N/A", "user_metadata": "", "pool_id": (0, 0)},
        {"action": "oom", "device_free": 5, "size": 1 << 50, "stream": 0, "time_us": 10**15 + 2, "frames": _FRAMES}], []],
    "allocator_settings": {"max_split_size": -1, "expandable_segments": False, "roundup_power2_divisions": {"1": 0}},
    "external_annotations": [{"stage": "START", "name": "ProfilerStep#1", "device": 0, "time_us": 10**15}],
}


def pieces():
    """One small document per bundled trace: up to two events of each (phase, category)."""
    for path in support.bundled_traces():
        document = json.loads(support.trace_bytes(path))
        header = {k: document[k] for k in HEADER_KEYS if k in document}
        seen, events = {}, []
        for event in document["traceEvents"]:
            key = (event.get("ph"), event.get("cat"), event["name"][:12] if event["ph"] == "M" else "")
            seen[key] = seen.get(key, 0) + 1
            if seen[key] <= 2:
                events.append(dict(event, name=event["name"][:60]))
        yield json.dumps(dict(header, traceEvents=events[:24]), indent=None).encode()


def case_traces():
    for path in test_cases.CASES:
        if path.parent.name == "et":
            continue
        for kind, _, body in test_cases.parse(path):
            if kind in ("trace", "trace-escaped"):
                yield test_cases.unescape(body) if kind == "trace-escaped" else body


def execution_traces():
    """Those of the cases, without the longest."""
    for path in test_cases.CASES:
        if path.parent.name == "et":
            for kind, _, body in test_cases.parse(path):
                if kind == "trace" and b'"nodes"' in body and len(body) < 6000:
                    yield body


def chakra_files(texts):
    """The same as Chakra's messages, where they can be converted."""
    for text in texts:
        done = subprocess.run([support.EXE, "et-convert", "0=/dev/stdin", "--to", "chakra", "--partial", "-o", "-"],
                              input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if done.returncode == 0 and done.stdout:
            yield done.stdout


def write_execution_traces():
    texts = list(dict.fromkeys(execution_traces()))[::3]
    write("et", texts)
    write("chakra", list(dict.fromkeys(chakra_files(texts)))[::2])


NS = 1736408883704643212
SCHEMA = 1 << 24
STRINGS = ["MatMul_1", "MatMulV2", "AI_CORE", '"8,16;16,8"', "hcom_allReduce__1", "aten::mm", "PTA+GE", "aten::empty",
           "aic_mac_ratio", "launch", "Notify Wait", "group", "a.py(1): f", "main", "ProfilerStep#5", "FLOAT;FLOAT"]
DATABASES = [{
    "STRING_IDS": ("id INTEGER PRIMARY KEY, value TEXT", list(enumerate(STRINGS, 1))),
    "PYTORCH_API": ("startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, sequenceNumber INTEGER,"
                    " inputShapes INTEGER, callchainId INTEGER, type INTEGER",
                    [(str(NS - 9000), str(NS - 6000), (7 << 32) + 8, 40, 6, 1, 4, 3, 50001),
                     (str(NS - 10000), str(NS + 90000), (7 << 32) + 8, None, 15, None, None, None, 50001)]),
    "PYTORCH_CALLCHAINS": ("id INTEGER, stack INTEGER, stackDepth INTEGER", [(3, 14, 1), (3, 13, 0)]),
    "CONNECTION_IDS": ("id INTEGER, connectionId INTEGER", [(40, 9), (40, 10)]),
    "CANN_API": ("startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER",
                 [(NS - 5000, NS - 4000, 10000, (7 << 32) + 9, 9, 10), (NS - 3000, NS - 2000, 20000, (7 << 32) + 9, 10, 10)]),
    "TASK": ("startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,"
             " taskType INTEGER, streamId INTEGER", [(NS + 1, NS + 10501, 1, 9, 100, 3, 16), (NS + 21000, NS + 21500, 1, 10, 101, 11, 17)]),
    "COMPUTE_TASK_INFO": ("name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, taskType INTEGER, opType INTEGER,"
                          " inputShapes INTEGER, inputDataTypes INTEGER, waitNs INTEGER", [(1, 100, 32, 3, 2, 4, 16, 5)]),
    "COMMUNICATION_TASK_INFO": ("globalTaskId INTEGER, transportType INTEGER, linkType INTEGER, size INTEGER", [(101, 0, 1, 1025)]),
    "ENUM_HCCL_TRANSPORT_TYPE": ("id INTEGER, name TEXT", [(0, "SDMA")]),
    "ENUM_HCCL_LINK_TYPE": ("id INTEGER, name TEXT", [(1, "HCCS")]),
    "COMMUNICATION_OP": ("opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, count INTEGER",
                         [(5, NS + 20002, NS + 50002, 10, 12, 4)]),
    "TASK_PMU_INFO": ("globalTaskId INTEGER, name INTEGER, value NUMERIC", [(100, 9, .5), (999, 9, 1)]),
}, {
    "STRING_IDS": ("id INTEGER PRIMARY KEY, value TEXT", list(enumerate(STRINGS, 1))),
    "MEMORY_RECORD": ("component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, deviceId INTEGER",
                      [(7, NS + 500, 3 << 19, 4 << 20, 0)]),
    "OP_MEMORY": ("name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, streamPtr INTEGER, deviceId INTEGER",
                  [(8, 2048, NS, NS + 3000, 1, 0), (8, -1024, None, NS + 4000, None, 0)]),
    "NPU_MODULE_MEM": ("timestampNs INTEGER, deviceId INTEGER, moduleId INTEGER, totalReserved INTEGER", [(NS, 0, 3, 4096)]),
    "ENUM_MODULE": ("id INTEGER, name TEXT", [(3, "HCCL")]),
    "RANK_DEVICE_MAP": ("rankId INTEGER, deviceId INTEGER", [(4, 0)]),
    "STEP_TIME": ("id INTEGER, startNs INTEGER, endNs INTEGER", [(5, NS, NS + 90000)]),
    "AICORE_FREQ": ("deviceId INTEGER, timestampNs INTEGER, freq NUMERIC", [(0, NS, 1800), (0, NS + 9, 800)]),
    "META_DATA": ("name TEXT, value TEXT", [("ENV_VARIABLES", '{"ACLNN_CACHE_LIMIT": ""}'), ("SCHEMA_VERSION", "1.0.0")]),
}, {
    "StepTraceTime": ("step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC, overlapped NUMERIC, free NUMERIC",
                      [("13", 231290.1, 4.5, 0, 7), ("", 1, 1, 1, 1)]),
    "CommAnalyzerTime": ("hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC, transit_time NUMERIC,"
                         " step TEXT, type TEXT", [("hcom_x", "77", 1736408883704643.2, 1.5, 1, "step5", "collective")]),
    "CommAnalyzerBandwidth": ("hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC,"
                              " package_size NUMERIC, count NUMERIC, total_duration NUMERIC, step TEXT, type TEXT",
                              [("hcom_x", "77", "HCCS", 20, 2, 16, 1, 1.5, "step5", "collective"),
                               ("hcom_x", "77", "HCCS", 20, 2, 2, 2, .5, "step5", "collective")]),
    "CommAnalyzerMatrix": ("hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT, transport_type TEXT,"
                           " transit_size NUMERIC, transit_time NUMERIC, step TEXT, type TEXT",
                           [("allreduce-total", "77", "0", "1", "HCCS", 37.5, 2.25, "step5", "collective")]),
}, {
    # an export of Nsight Systems
    "StringIds": ("id INTEGER PRIMARY KEY, value TEXT", [(1, "void gemm<float>(float *)"), (2, "cudaLaunchKernel_v7000"), (3, "ncclAllReduce")]),
    "CUPTI_ACTIVITY_KIND_KERNEL": ("start, end, deviceId, streamId, correlationId, globalPid, demangledName, gridX, gridY, gridZ, blockX,"
                                   " blockY, blockZ, graphNodeId", [(200, 300, 0, 7, 1, 7 << 24, 1, 4, 1, 1, 64, 1, 1, None),
                                                                    (250, 350, 1, 8, 1, 9 << 24, 1, 4, 1, 1, 64, 1, 1, 3)]),
    "CUPTI_ACTIVITY_KIND_RUNTIME": ("start, end, eventClass, globalTid, correlationId, nameId, returnValue",
                                    [(100, 120, 0, (7 << 24) + 7, 1, 2, 0), (110, 130, 0, (9 << 24) + 9, 1, 2, 1)]),
    "CUPTI_ACTIVITY_KIND_MEMCPY": ("start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind",
                                   [(400, 410, 0, 7, 2, 7 << 24, 4096, 1, 0, 2)]),
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": ("start, end, deviceId, streamId, correlationId, globalPid, syncType, eventId",
                                            [(420, 430, 0, 7, 3, 7 << 24, 2, 5)]),
    "NVTX_EVENTS": ("start, end, eventType, text, textId, globalTid, domainId, category, rangeId, binaryData",
                    [(90, 150, 59, "aten::mm, seq = 4, op_id = 9, sizes = [[2, 3]]", None, (7 << 24) + 7, 0, None, None, None),
                     (95, 99, 59, None, 3, (7 << 24) + 7, 1, 2, None, bytes(range(24))), (1, None, 60, "a", None, (7 << 24) + 7, 0, None, 6, None),
                     (2, None, 75, "NCCL", None, (7 << 24) + 7, 1, None, None, None)]),
    "SCHED_EVENTS": ("start, cpu, isSchedIn, globalTid", [(90, 1, 1, (7 << 24) + 7), (99, 1, 0, (7 << 24) + 7)]),
    "GPU_METRICS": ("timestamp, typeId, metricId, value", [(100, 0, 1, 50)]),
}, {
    # payloads by their schemas, and enumerations
    "StringIds": ("id INTEGER PRIMARY KEY, value TEXT", [(1, "cudaMemcpyAsync_v3020")]),
    "ENUM_NSYS_EVENT_TYPE": ("id, name, label", [(59, "NvtxPushPopRange", ""), (75, "NvtxDomainCreate", "")]),
    "ENUM_CUDA_MEMCPY_OPER": ("id, name, label", [(1, "CUDA_MEMCPY_KIND_UVM_HTOD", "")]),
    "ENUM_CUDA_MEM_KIND": ("id, name, label", [(2, "", "Device")]),
    "CUPTI_ACTIVITY_KIND_MEMCPY": ("start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind",
                                   [(400, 410, 0, 7, 2, 7 << 24, 4096, 1, 0, 2)]),
    "NVTX_PAYLOAD_SCHEMAS": ("domainId, schemaId, payloadSize", [(1, SCHEMA, 24)]),
    "NVTX_PAYLOAD_SCHEMA_ENTRIES": ("domainId, schemaId, idx, flags, type, name, offset",
                                    [(1, SCHEMA, 0, None, 18, "NCCL communicator ID", None), (1, SCHEMA, 1, None, 22, "Message size [bytes]", 8),
                                     (1, SCHEMA, 2, None, SCHEMA + 1, "Reduction operation", 16), (1, SCHEMA, 3, 0, 19, "f", None)]),
    "NVTX_PAYLOAD_ENUM_ENTRIES": ("domainId, schemaId, idx, name, value", [(1, SCHEMA + 1, 0, "Sum", 0), (1, SCHEMA + 1, 1, "P", None)]),
    "NVTX_EVENTS": ("start, end, eventType, text, textId, globalTid, domainId, jsonText, binaryData",
                    [(2, None, 75, "NCCL", None, (7 << 24) + 7, 1, None, None),
                     (95, 99, 59, "ncclAllReduce", None, (7 << 24) + 7, 1, None, struct.pack("<QQQQQQQ", 1, SCHEMA, 24, 32, 77, 4096, 1)),
                     (96, 97, 59, "ncclSend", None, (7 << 24) + 7, 1, None, struct.pack("<QQQ", 77, 4096, 1).hex()),
                     (97, 98, 59, "x", None, (7 << 24) + 7, 1, '{"a": 1}', None)]),
}]


def database(tables):
    """The bytes of a small one."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.db"
        db = sqlite3.connect(path)
        db.execute("PRAGMA page_size = 512")
        for name, (columns, values) in tables.items():
            db.execute(f"CREATE TABLE {name} ({columns})")
            db.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(values[0]))})", values)
        db.commit()
        db.close()
        return path.read_bytes()


def statements(tables):
    """The text that makes a database, a statement per line."""
    lines = []
    for name, (columns, values) in tables.items():
        lines.append(f"CREATE TABLE {name}({columns});")
        for row in values:
            cells = ("NULL" if cell is None else f"X'{cell.hex()}'" if isinstance(cell, bytes)
                     else "'" + cell.replace("'", "''") + "'" if isinstance(cell, str) else str(cell) for cell in row)
            lines.append(f"INSERT INTO {name} VALUES({','.join(cells)});")
    return "\n".join(lines).encode()


def description():
    """What a process says of a rank without steps, and of one with a step and a counter; see src/store/roster_file.c."""
    def words(*numbers):
        return b"".join((n & (1 << 64) - 1).to_bytes(8, "little") for n in numbers)

    def rank(number, steps, stats):
        text = words(number, -1, number, -1, 6) + b"r.json" + words(7, 900, 0, 1000, 90000, 2, 1, 5)
        return text + words(len(steps)) + b"".join(words(*s) for s in steps) + words(len(stats)) + b"".join(words(*s) for s in stats)
    facts = words(1) + (words(1000, 1000, 1000, 14) + b"ProfilerStep#4" + words(0)) * 2
    ranks = rank(1, [], []) + rank(2, [(4, 1, 1000, 21000, 21000, 2, 0, 7)], [(1, 3, 40)])
    note = words(1, 4) + b"note"
    return [words(0, 0, 0, 0, 0), words(2) + ranks + words(0) + note + note + words(0),
            words(2) + ranks + words(0) + words(0, 0) + facts]


def requests():
    """What a worker of holotrace-mpi is asked; see mpi/desk.c."""
    def number(*numbers):
        return b"".join(n.to_bytes(8, "little") for n in numbers)

    def text(word):
        return number(0) if word is None else number(len(word) + 1) + word.encode() + b"\0"

    def request(kind, body):
        return bytes([kind]) + len(body).to_bytes(2, "little") + body
    options = number(4) + text(None) + number(0) + text(None) + number(0) + text(None)
    question = number(1) + text("kernel-types") + number(1) + text("step") + text("all") + text(None) * 3 + number(0, 0)
    listing = request(1, options + number(1) + text("other"))
    opening = request(2, number(1, 1, 0) + options + number(0) + number(0, 2) + number(1) + text("0=other") + number(1) + text("1=other"))
    helping = request(2, number(1, 1, 0) + options + question + number(5, 2) + number(1) + text("0=other") + number(1) + text("1=other"))
    # sets, texts and lists that are not there
    lies = [request(kind, number(1 << 40) + opening[11:]) for kind in (2, 3, 4, 5, 6)]
    lies += [request(4, number(0, 1 << 40)), request(5, number(1, 5) + question), request(1, options + number(1) + text(None)),
             request(2, number(1, 1, 0) + options + number(0) + number(5, 2) + number(1) + text(None) + number(1) + text(None))]
    return [*lies, listing, opening, helping + request(3, number(1)) + request(6, number(1)), request(3, number(0)), request(6, number(0)),
            request(4, number(0, 2) + number(1) + b"x" + number(1) + b"y"), request(5, number(1, 0) + question),
            request(5, number(2, 0, 0) + question.replace(b"kernel-types", b"temporal-sum"))]


def recordings():
    """What a killed program left, as the target takes it: a byte, then each chunk with its kind and stream, number, length."""
    program = pathlib.Path(support.EXE).parent / "fake_ops"
    for how in (0, 1):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.json"
            subprocess.run([program, "killed", path, *([] if how else [path.with_suffix(".trace.json")])],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            data = path.with_suffix(".json.part").read_bytes()
        text, at = bytes([how]), 4096
        while at + 64 <= len(data):
            magic, kind, stream, number, n_bytes, _, _, used = struct.unpack_from("<IIIIQqQQ", data, at)
            if magic != 0x4b4e4843:
                at += 4096
                continue
            records = data[at + 64:at + 64 + min(used, 900)]
            text += bytes([kind | stream << 2, number]) + len(records).to_bytes(2, "little") + records
            at += n_bytes
        yield text[:4000]


def mutate(text, seed):
    """Damage of the kind that real writers and disks do."""
    random.seed(seed)
    data = bytearray(text)
    for _ in range(4):
        at = random.randrange(len(data))
        action = random.randrange(4)
        if action == 0:
            data[at] = random.choice(b'"{}[],:\\\x00\xff0')
        elif action == 1:
            del data[at:at + random.randrange(1, 9)]
        elif action == 2:
            data[at:at] = data[max(0, at - 40):at]
        else:
            data = data[:max(at, len(data) // 2)]
    return bytes(data)


def perfetto_traces():
    """Packets of all kinds, with and without compression."""
    sys.path.insert(0, str(HERE.parent / "convert"))
    from pftrace import field, fixed64, message, packet
    thread = packet((60, message((1, 5), (4, message((1, 1), (2, 7), (5, "stream 7"))))))
    texts = packet((10, 1), (13, 1), (12, message((2, message((1, 1), (2, "gemm"))), (3, message((1, 1), (2, "grid"))))),
                   (59, message((58, 64), (11, message((11, 5))))),
                   (6, message((1, message((1, 64), (2, 5), (3, 1))), (1, message((1, 1), (2, 9))))))
    begin = packet((8, 3), (10, 1), (13, 2), (11, message((9, 1), (10, 1), (4, message((1, 1), (12, message((4, 2)))))) + fixed64(47, 3)))
    end = packet((8, 4), (10, 1), (11, message((9, 2))))
    counter = packet((60, message((1, 6), (2, "heap"), (8, message((5, 1)))))) + packet((8, 1), (11, message((9, 4), (11, 6), (30, 2))))
    stage = packet((8, 9), (53, message((2, 4), (11, 1), (13, 4), (17, "draw"))))
    own = packet((994, message((1, "0.1.0"), (2, 4), (3, 1)))) + packet((10, 1), (993, message((1, 1), (2, "X"), (3, "ph"), (3, "ts"), (3, "args"))))
    row = packet((8, 3), (10, 1), (990, 2), (11, message((9, 1), (10, 1))))
    whole = thread + texts + begin + end + counter + stage
    chrome = packet((10, 2), (13, 1), (44, message((1, 7), (2, 8), (5, "main"), (6, 1000))), (12, message(
        (2, message((1, 1), (2, "frame"))), (5, message((1, 1), (2, "f"))), (6, message((1, 2), (2, 1))), (7, message((1, 3), (2, 2), (2, 2))))))
    for phase, more in (("X", ((3, 4),)), ("B", ()), ("E", ()), ("b", ((6, 9), (7, "s"))), ("e", ((6, 9),)), ("C", ()), ("i", ((14, 3),)),
                        ("s", ((10, 4),)), ("X", ((8, 5), (13, 2), (18, 1), (19, 2)))):
        chrome += packet((10, 2), (11, message((1, 5), (6, message((1, 1), (2, ord(phase)), *more)), (56, 3), (31, 6), (12, 8))))
    gpu = packet((8, 5), (52, message((1, message((1, message((1, 3), (2, "busy"))))), (2, message((1, 3), (2, 7))), (2, message((1, 4), (3, 1.5))))))
    compute = packet((10, 1), (13, 1), (12, message((1000, message((1, 1), (2, "_Z1k"), (3, "k()"))), (1001, message((1, 2), (2, "regs"))), (47, message(
        (1, 3), (2, message((1, message((1, 9), (2, "watt"))))), (3, 1))))))
    compute += packet((8, 1), (10, 1), (11, message((9, 1), (11, 5), (23, "call"), (3000, message((1, 901), (1, 902))),
                                                    (55, message((1, message((1, "f"))), (1, message((1, "g"))))))))
    compute += packet((8, 3), (10, 1), (13, 2), (53, message((1, 901), (2, 4), (19, 1), (18, 9), (21, message(
        (1, message((1, 8))), (2, message((1, 64), (3, 2))), (3, message((1, 2), (4, 40))), (3, message((2, "t"), (6, "x"))), (3, message((2, "d"), (5, 1.5))))))))
    compute += packet((8, 4), (10, 1), (52, message((4, 3), (2, message((1, 9), (2, 7))))))
    compute += packet((2, message((1, message((1, 1), (3, "python"), (3, "a.py"))), (2, message((1, 7), (2, "loader"), (3, 1))))))
    raw = whole + chrome
    zstd = packet((133, b"\x28\xb5\x2f\xfd\x00\x50" + (len(raw) << 3 | 1).to_bytes(3, "little") + raw))
    marker = packet((36, bytes.fromhex("82477a76b28d42ba81dc33326d57a079")))
    return [whole, packet((50, zlib.compress(whole, 9))), whole[:-5], whole + b"\xff\xff" + marker + whole,
            texts + own + thread + row + end, field(1, b""), chrome + gpu, zstd, compute, thread + compute]


def write(target, texts):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("seed-*"):
        old.unlink()
    for text in texts:
        (folder / ("seed-" + hashlib.sha256(text).hexdigest()[:12])).write_bytes(text)


def main():
    real, cases = list(dict.fromkeys(pieces())), list(dict.fromkeys(case_traces()))
    real = real[:4] + real[4::3]
    plain = real + cases
    write("read", plain + [mutate(t, i) for i, t in enumerate(real[:4])])
    write("convert", real[:4] + cases[::2])
    events = [t.split(b'"traceEvents": [', 1)[1] for t in plain if b'"traceEvents": [' in t]
    write("events", events[:6] + events[6::2])
    write("scan", events[:6] + events[7::3])
    small = real[:2] + cases[:6]
    write("gzip", [gzip.compress(t, 9, mtime=0)[10:] for t in small]
          + [gzip.compress(small[2], 9, mtime=0)[10:] + gzip.compress(small[3], 9, mtime=0)]
          + [zlib.compressobj(0, zlib.DEFLATED, -15).compress(small[2])])
    zstd = [subprocess.run(["zstd", "-q", "-c"], input=t, check=True, stdout=subprocess.PIPE).stdout
            for t in small]
    write("zstd", [z[4:] for z in zstd] + [zstd[2][4:] + zstd[3], zstd[2][4:-8]])
    write("where", [w.encode() for w in WHERE])
    tables = [bytes([i]) + text.encode() for i, text in enumerate(TABLES)]
    write("tables", tables + [t[:1] + mutate(t[1:], i) for i, t in enumerate(tables)])
    write("csv", [bytes([255, i]) + text.encode() for i, text in enumerate(TABLES)] + [b"\3\2" + TABLES[4].encode()])
    write("rows", [statements(tables) for tables in DATABASES])
    write("share", [b"\0" + text for text in description()] + [b"\1", b"\1\x40\0\3", b"\1\x78\0\7\x10\0\1"])
    write("recover", list(recordings()))
    write("wire", requests())
    databases = [database(tables)[16:] for tables in DATABASES]
    write("db", databases + [mutate(d, i) for i, d in enumerate(databases)])
    # one of each analysis as it is, some with a byte changed, and what is none
    write("bundle", [bytes([i]) for i in range(100)] + [bytes([i]) + at.to_bytes(4, "little") + b"\xff" for i in range(0, 100, 3)
                                                        for at in (200 + 7 * i, 400 + 11 * i)] + [b"\xf0holotrace bundle 4\n"])
    write_execution_traces()
    snapshots = [pickle.dumps(SNAPSHOT, protocol) for protocol in (2, 4, 5)] + [json.dumps(SNAPSHOT).encode()]
    write("snapshot", snapshots + [mutate(s, i) for i, s in enumerate(snapshots)])
    perfetto = perfetto_traces()
    write("perfetto", perfetto + [mutate(t, i) for i, t in enumerate(perfetto)])
    random.seed(3)
    write("cache", [b"\0" + random.randbytes(5 * n) for n in (1, 2, 5, 20)]
          + [b"\0" + bytes([at, 0, 0, 0, 255]) for at in range(0, 64, 7)] + [b"\1", b"\1" + bytes(64)]
          + [b"\2" + random.randbytes(5 * n) for n in (1, 2, 3)]
          + [b"\2" + at.to_bytes(4, "little") + b"\xff" for at in range(80, 2000, 97)]
          + [bytes([240, section, 0, 0, 0, 7]) for section in range(0, 52, 3)])


if __name__ == "__main__":
    main()
