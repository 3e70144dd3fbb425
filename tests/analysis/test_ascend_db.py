# SPDX-License-Identifier: Apache-2.0
"""Ascend's databases: the same answers as from the tables of the same rank."""
import os

import pytest

import support
from ascend import KERNELS, T0, cells, rank
from tiny import rows

STRINGS = {1: "MatMul_1", 2: "MatMulV2", 3: "AI_CORE", 4: "8,16;16,8", 5: "hcom_allReduce__1", 6: "aten::mm", 7: "PTA+GE",
           8: "aten::empty", 9: "aic_mac_ratio", 10: "launch", 11: "Notify Wait", 12: "group", 13: "a.py(1): f",
           14: "main", 15: "ProfilerStep#5"}


def database(path, drop=()):
    """The rank of KERNELS and of the memory tables, as torch_npu's database has it."""
    import sqlite3
    if b"SQLite" not in support.output("version"):
        pytest.skip("skipped: built without SQLite")
    ns = T0 * 1000
    db = sqlite3.connect(path)
    tables = {
        "STRING_IDS": ("id INTEGER PRIMARY KEY, value TEXT", list(STRINGS.items())),
        "PYTORCH_API": ("startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, callchainId INTEGER,"
                        " type INTEGER", [(str(ns - 9000), str(ns - 6000), (7 << 32) + 8, 40, 6, 3, 50001),
                                          (str(ns - 10000), str(ns + 90000), (7 << 32) + 8, None, 15, None, 50001)]),
        "PYTORCH_CALLCHAINS": ("id INTEGER, stack INTEGER, stackDepth INTEGER", [(3, 14, 1), (3, 13, 0)]),
        "CONNECTION_IDS": ("id INTEGER, connectionId INTEGER", [(40, 9)]),
        "CANN_API": ("startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER",
                     [(ns - 5000, ns - 4000, 10000, (7 << 32) + 9, 9, 10)]),
        "TASK": ("startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,"
                 " taskType INTEGER, streamId INTEGER", [(ns + 1, ns + 10501, 0, 9, 100, 3, 16),
                                                         (ns + 21000, ns + 21500, 0, 10, 101, 11, 17)]),
        "COMPUTE_TASK_INFO": ("name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, taskType INTEGER,"
                              " opType INTEGER, inputShapes INTEGER", [(1, 100, 32, 3, 2, 4)]),
        "COMMUNICATION_TASK_INFO": ("globalTaskId INTEGER", [(101,)]),
        "COMMUNICATION_OP": ("opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER",
                             [(5, ns + 20002, ns + 50002, 10, 12)]),
        "TASK_PMU_INFO": ("globalTaskId INTEGER, name INTEGER, value NUMERIC", [(100, 9, .5), (999, 9, 1)]),
        "MEMORY_RECORD": ("component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER,"
                          " deviceId INTEGER", [(7, ns + 500, 3 << 19, 4 << 20, 0)]),
        "OP_MEMORY": ("name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, streamPtr INTEGER,"
                      " deviceId INTEGER", [(8, 2048, ns, ns + 3000, 1, 0)]),
        "RANK_DEVICE_MAP": ("rankId INTEGER, deviceId INTEGER", [(4, 0)]),
        "StepTraceTime": ("step TEXT, computing NUMERIC", [("13", 231290.1)]),
        "CommAnalyzerTime": ("hccl_op_name TEXT, group_name TEXT, elapse_time NUMERIC, step TEXT, type TEXT",
                             [("hcom_x", "77", 1.5, "step5", "collective")]),
        "CommAnalyzerBandwidth": ("hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC,"
                                  " transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC, package_size NUMERIC,"
                                  " count NUMERIC, total_duration NUMERIC, step TEXT, type TEXT",
                                  [("hcom_x", "77", "HCCS", 20, 2, 10, 0, 16, 1, 1.5, "step5", "collective"),
                                   ("hcom_x", "77", "HCCS", 20, 2, 10, 0, 2, 2, .5, "step5", "collective"),
                                   ("hcom_x", "77", "SDMA", 20, 2, 10, 0, 0, 0, 0, "step5", "collective")]),
    }
    for name, (columns, values) in tables.items():
        if name not in drop:
            db.execute(f"CREATE TABLE {name} ({columns})")
            db.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(values[0]))})", values)
    db.commit()
    db.close()


BOTH = {"kernel_details__csv": KERNELS, "memory_record__csv":
        f"Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\nPTA+GE,{T0}.5,1.5,4,NPU:0\n",
        "operator_memory__csv": "Name,Size(KB),Allocation Time(us),Release Time(us),Device Type\n"
                                f"aten::empty,2,{T0},{T0 + 3},NPU:0\n"}


def needs_databases(path):
    done = support.run("info", path, "--prefer", "db")
    if b"cannot read databases" in done.stderr:
        pytest.skip("built without SQLite")


def test_database_and_text_give_the_same_answers(tmp_path):
    path = rank(tmp_path, **BOTH)
    database(path / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_4.db")
    needs_databases(path)
    for verb, columns in (("kernels", "name,calls,total_ns,accelerator_core"), ("memory-events", "operator,size_bytes,duration_ns"),
                          ("memory-timeline", "device,category,peak_bytes,final_bytes"), ("kernel-types", "kernel_type,sum_ns")):
        have = rows(verb, path)[0].keys()
        columns = ",".join(c for c in columns.split(",") if c in have)
        assert rows(verb, path, "--columns", columns) == rows(verb, path, "--columns", columns, "--prefer", "db"), verb
    assert "other_form" in {r["check"] for r in rows("health", path)}
    (matmul,) = rows("events", path, "--prefer", "db", "--columns", "ts_ns,dur_ns,stream,args.*", "--where", "name = MatMul_1")
    (other,) = rows("events", path, "--columns", "ts_ns,dur_ns,stream,args.*", "--where", "name = MatMul_1")
    for key in ("ts_ns", "dur_ns", "stream", "args.Type", "args.Accelerator Core", "args.Block Dim", "args.Input Shapes",
                "args.aic_mac_ratio"):
        assert matmul[key] == other[key], key


def test_database(tmp_path):
    path = rank(tmp_path)
    out = path / "ASCEND_PROFILER_OUTPUT"
    database(out / "ascend_pytorch_profiler_4.db")
    needs_databases(path)
    names = sorted(os.listdir(out))
    assert {r["rank"] for r in rows("info", path)} == {"4"}
    (op,) = [r for r in rows("operators", path) if r["name"] == "aten::mm"]
    assert op["device_self_ns"] == "10500" and op["host_self_ns"] == "3000"
    (op,) = rows("events", path, "--columns", "args.Call stack", "--where", "name = aten::mm")
    assert op["args.Call stack"] == "a.py(1): f;\r\nmain"
    assert {(r["name"], r["kind"]) for r in rows("events", path, "--columns", "name,kind")} >= {
        ("Node@launch", "runtime"), ("Notify Wait", "sync"), ("ProfilerStep#5", "annotation")}
    assert cells(path, "step_trace_time") == [{"Step": "13", "Computing": "231290.1"}]
    assert cells(path, "communication") == [
        {"step": "5", "type": "collective", "op": "hcom_x", "group": "77", "elapse_ns": "1500000"}]
    assert sorted(os.listdir(out)) == names  # nothing was written beside it


@pytest.mark.parametrize("drop", ["STRING_IDS", "PYTORCH_CALLCHAINS", "CONNECTION_IDS", "COMPUTE_TASK_INFO", "TASK",
                                  "COMMUNICATION_TASK_INFO", "COMMUNICATION_OP", "TASK_PMU_INFO", "RANK_DEVICE_MAP"])
def test_databases_without_some_table(tmp_path, drop):
    path = rank(tmp_path)
    database(path / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_4.db", {drop})
    needs_databases(path)
    assert rows("events", path)


def test_damaged_databases_are_told(tmp_path):
    path = rank(tmp_path)
    file = path / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_4.db"
    database(file)
    needs_databases(path)
    whole = file.read_bytes()
    for text in (whole[:100], whole[:4096], whole[:200] + b"\xff" * 4000 + whole[4200:]):
        file.write_bytes(text)
        done = support.run("info", path)
        assert done.returncode in (0, 3), done.stderr


def more_of(path, **tables):
    import sqlite3
    db = sqlite3.connect(path)
    for name, values in tables.items():
        db.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(values[0]))})", values)
    db.commit()
    db.close()


def test_a_size_that_has_no_opposite(tmp_path):
    """-2^63 bytes: as many as there are numbers for are allocated, and freed."""
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    database(path)
    more_of(path, OP_MEMORY=[(8, -2**63, 10, 20, 1, 0)])
    found = [int(r["args.Bytes"]) for r in rows("events", path, "--columns", "ts_ns,args.Bytes") if r["args.Bytes"]]
    assert sorted(found) == [1 - 2**63, -2048, 2048, 2**63 - 1]


def test_two_counters_that_are_one_column(tmp_path):
    """aic_total_time and total_time are both the aicore_time of kernel_details.csv: the first is kept, and the event has it once."""
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    database(path)
    more_of(path, STRING_IDS=[(20, "aic_total_time"), (21, "total_time")], TASK_PMU_INFO=[(100, 20, 1000), (100, 21, 7000), (100, 21, 9000)])
    support.output("convert", path, "-o", tmp_path / "out.json", "--no-cache")
    text = (tmp_path / "out.json").read_text()
    assert text.count("aicore_time(us)") == 1 and '"aicore_time(us)":1.0' in text
