# SPDX-License-Identifier: Apache-2.0
"""One recording as text and as database: every verb gives the same answer, and health says so, or what differs."""
import json
import re
import sqlite3

import pytest

import support
from ascend import T0, rank
from tiny import rows

#: start and length in us. Operators; launches, with the task that each starts; work of the device; allocations.
OPS = [("ProfilerStep#5", 0, 400), ("aten::mm", 10, 60), ("aten::add", 100, 40), ("ProfilerStep#6", 400, 400), ("aten::mm", 410, 50)]
WORK = [("mm_1", "MatMulV2", "AI_CORE", 30, 80, 1), ("add_1", "Add", "AI_VECTOR_CORE", 150, 20, 2),
        ("mm_2", "MatMulV2", "AI_CORE", 430, 100, 4)]
LAUNCHES = [(20, 5, 1), (110, 5, 2), (120, 4, 3), (415, 5, 4)]  # of connection 1 to 4; 3 starts the collective
COLLECTIVES = [("hcom_allReduce__7_0_1", 180, 90, 3)]
OPERATOR_OF = {1: 1, 2: 2, 3: 2, 4: 4}
ALLOCATIONS = [("aten::empty", 2048, 15, 60), ("aten::add", 4096, 105, None)]
SAMPLES = [(15, 2048), (60, 0), (105, 4096)]
#: Columns that number events, or count what only one of the two forms writes down.
NUMBERS = {"index", "allocated_index", "op_index", "release_index", "evidence", "row", "first_index", "last_index", "event", "launch_index",
           "gpu_index", "parent", "parent_index", "id", "track", "id_parent", "evidence_event"}
#: The same inside the cells of a finding.
EVENT = re.compile(r'"event":\d+')
#: Verbs about files, forms and events as they stand there; those that need other input.
OTHER = {"info", "health", "events", "tables", "diff", "gate"}


def us(time):
    return f"{T0 + time}.000"


def text_files():
    events = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
              for pid, name in ((7, "Python"), (1, "CANN"), (2, "Ascend Hardware"), (3, "HCCL"))]
    for name, start, length in OPS:
        events.append({"ph": "X", "name": name, "cat": "cpu_op", "pid": 7, "tid": 8, "ts": us(start), "dur": length, "args": {}})
    for start, length, connection in LAUNCHES:
        events.append({"ph": "X", "name": "Node@launch", "pid": 1, "tid": 8, "ts": us(start), "dur": length,
                       "args": {"connection_id": connection}})
    for name, _, core, start, length, connection in WORK:
        events.append({"ph": "X", "name": name, "pid": 2, "tid": 16, "ts": us(start), "dur": length,
                       "args": {"Task Type": core, "connection_id": connection, "Physic Stream Id": 16}})
    for name, start, length, connection in COLLECTIVES:
        events.append({"ph": "X", "name": name, "pid": 3, "tid": 0, "ts": us(start), "dur": length,
                       "args": {"connection_id": connection}})
    for connection, operator in OPERATOR_OF.items():
        work = [w for w in WORK if w[5] == connection]
        place = {"pid": 2, "tid": 16, "ts": us(work[0][3])} if work else {"pid": 3, "tid": 0, "ts": us(COLLECTIVES[0][1])}
        events.append({"ph": "s", "bp": "e", "name": "torch_to_npu", "cat": "async_npu", "id": connection, "pid": 7, "tid": 8,
                       "ts": us(OPS[operator][1])})
        events.append(dict({"ph": "f", "bp": "e", "name": "torch_to_npu", "cat": "async_npu", "id": connection}, **place))
    kernels = "Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
    for i, (name, kind, core, start, length, _) in enumerate(WORK):
        kernels += f"5,4294967295,{i},16,{name},{kind},{core},{us(start)},{length},0,8\n"
    for name, start, length, _ in COLLECTIVES:
        kernels += f"5,4294967295,N/A,N/A,{name},hcom_allReduce_,HCCL,{us(start)},{length},0,0\n"
    memory = "Name,Size(KB),Allocation Time(us),Release Time(us),Device Type\n"
    for name, size, start, end in ALLOCATIONS:
        memory += f"{name},{size // 1024},{us(start)},{us(end) if end else ''},NPU:0\n"
    record = "Component,Timestamp(us),Total Allocated(MB),Device Type\n"
    for start, size in SAMPLES:
        record += f"PTA+GE,{us(start)},{size / (1 << 20)},NPU:0\n"
    return {"trace_view__json": json.dumps(events), "kernel_details__csv": kernels, "operator_memory__csv": memory,
            "memory_record__csv": record, "step_trace_time__csv":
            "Step,Computing,Communication(Not Overlapped),Overlapped,Free\n5,100,90,0,60\n6,100,0,0,20\n"}


def database(path, work=WORK):
    db, strings = sqlite3.connect(path), {}
    ns = T0 * 1000

    def string(text):
        return strings.setdefault(text, len(strings) + 1)

    def table(name, columns, values):
        db.execute(f"CREATE TABLE {name} ({columns})")
        db.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(columns.split(',')))})", values)

    tid = (7 << 32) + 8
    table("PYTORCH_API", "startNs, endNs, globalTid, connectionId, name, type",
          [(ns + s * 1000, ns + (s + d) * 1000, tid, 100 + i, string(n), 50001) for i, (n, s, d) in enumerate(OPS)])
    table("CONNECTION_IDS", "id, connectionId", [(100 + op, c) for c, op in OPERATOR_OF.items()])
    table("CANN_API", "startNs, endNs, type, globalTid, connectionId, name",
          [(ns + s * 1000, ns + (s + d) * 1000, 10000, tid, c, string("launch")) for s, d, c in LAUNCHES])
    table("TASK", "startNs, endNs, deviceId, connectionId, globalTaskId, taskType, streamId, taskId, modelId",
          [(ns + s * 1000, ns + (s + d) * 1000, 0, c, i, string(core), 16, i, 4294967295)
           for i, (_, _, core, s, d, c) in enumerate(work)])
    table("COMPUTE_TASK_INFO", "globalTaskId, name, taskType, opType, blockDim, waitNs",
          [(i, string(n), string(core), string(kind), 8, 0) for i, (n, kind, core, _, _, _) in enumerate(work)])
    table("COMMUNICATION_OP", "opName, startNs, endNs, connectionId, opType",
          [(string(n), ns + s * 1000, ns + (s + d) * 1000, c, string("hcom_allReduce_")) for n, s, d, c in COLLECTIVES])
    table("OP_MEMORY", "name, size, allocationTime, releaseTime, streamPtr, deviceId",
          [(string(n), size, ns + s * 1000, e and ns + e * 1000, 1, 0) for n, size, s, e in ALLOCATIONS])
    table("MEMORY_RECORD", "component, timestamp, totalAllocated, deviceId",
          [(string("PTA+GE"), ns + s * 1000, size, 0) for s, size in SAMPLES])
    table("StepTraceTime", "step, computing, communication_not_overlapped, overlapped, free",
          [("5", 100, 90, 0, 60), ("6", 100, 0, 0, 20)])
    table("STRING_IDS", "id, value", [(i, text) for text, i in strings.items()])
    db.commit()
    db.close()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    if b"SQLite" not in support.output("version"):
        pytest.skip("skipped: built without SQLite")
    path = rank(tmp_path_factory.mktemp("both"), **text_files())
    database(path / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db")
    return path


def verbs():
    said = json.loads(support.output("help", "--json"))["verbs"]
    return [v["name"] for v in said if v["kind"] == "analysis" and v["usage"] == "TRACE..." and v["name"] not in OTHER]


VIEWS = [("distributed", "--view", view) for view in ("waiting", "operations", "groups", "steps")] + [
    ("steps", "--view", "mean"), ("steps", "--view", "gpu"), ("kernels", "--by", "core"), ("memory-curve", "--view", "peaks"),
    ("temporal-breakdown", "--by", "step"), ("operators", "--by", "shape"), ("advice", "--view", "rules")]


@pytest.mark.parametrize("asked", [(v,) for v in verbs()] + VIEWS, ids=" ".join)
def test_both_forms_give_the_same_answers(both, asked):
    def answer(form):
        table = rows(asked[0], both, *asked[1:], "--prefer", form)
        return [{k: EVENT.sub("", v or "") for k, v in row.items() if k not in NUMBERS} for row in table]

    assert answer("text") == answer("db")


def forms(path, *more):
    return [(r["check"], r["severity"], r["sentence"]) for r in rows("health", path, *more) if r["check"].startswith("forms_")]


def test_health_compares_the_forms(both):
    agree = [("forms_agree", "info", "text and database have the same kernels: 3 with 200 µs, collectives: 1 with 90.0 µs, "
              "allocations: 2 with 6144 bytes, memory samples: 3 with 6144 bytes, steps: 2 with 370 µs")]
    assert forms(both) == forms(both, "--prefer", "db") == agree


def test_health_says_what_differs(tmp_path):
    path = rank(tmp_path, **text_files())
    # a kernel less, and one that is 30 us longer
    longer = [WORK[0][:4] + (110, 1)] + WORK[2:]
    database(path / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db", longer)
    (differ, agree) = forms(path)
    assert differ == ("forms_differ", "notice", "kernels: 3 with 200 µs in the text, 2 with 210 µs in the database; -10000 ns "
                      "apart, and rounding explains 6")
    assert agree[0] == "forms_agree" and "kernels" not in agree[2]
    # the cache knows which form was read
    for form, calls in (("text", "3"), ("db", "2"), ("text", "3")):
        assert str(sum(int(r["calls"]) for r in rows("kernels", path, "--step", "all", "--prefer", form)) - 1) == calls


def test_one_form_is_not_compared(tmp_path):
    assert not forms(rank(tmp_path, **text_files()))
