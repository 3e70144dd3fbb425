# SPDX-License-Identifier: Apache-2.0
"""Time grows with the file for what is beside traces: tables of many columns, execution traces of many groups."""
import functools
import json

import pytest

import support
from meter import is_linear

EVENT = '[{"ph":"X","name":"a","ts":"1","dur":5,"pid":1,"tid":1,"args":{}}]'
HEADS = {
    "operator_memory.csv": ("Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us)", "k,1,1.0,2.0,3.0"),
    "memory_record.csv": ("Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type", "PTA,1.0,2.0,3.0,NPU:0"),
    "op_statistic.csv": ("OP Type,Core Type,Count,Total Time(us)", "MatMul,AI_CORE,2,3.0"),
}


def measure(meter, *words):
    seconds, memory, code, message = meter.measure([support.EXE, *words, "--jobs", "1", "--no-cache"])
    assert code == 0, message
    return seconds, memory


def rank_of_columns(folder, name, n):
    """A rank of an NPU with a table of so many columns that nobody knows, in two rows."""
    rank = folder / f"{name}-{n}" / "w_17_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    rank.mkdir(parents=True)
    (rank / "trace_view.json").write_text(EVENT)
    head, row = HEADS[name]
    # a header that does not fit where files are told apart by it is no table; names as short as can be
    more = [f"{i:x}" for i in range(n)]
    (rank / name).write_text("\n".join([",".join([head, *more]), *[",".join([row, *("1" for _ in more)])] * 2, ""]))
    return rank.parent


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
@pytest.mark.parametrize("name", HEADS)
def test_columns(name, meter, tmp_path):
    verb, n = (["tables"], 10_000) if name == "op_statistic.csv" else (["health"], 80_000)
    large, small = rank_of_columns(tmp_path, name, n), functools.cache(lambda: rank_of_columns(tmp_path, name, n // 4))
    said = support.output("health", large, "--format", "csv", "--columns", "check", "--no-cache")
    assert b"file_lost" not in said
    seconds, memory = measure(meter, *verb, large)
    assert is_linear(seconds, lambda: measure(meter, *verb, large)[0], lambda: measure(meter, *verb, small())[0])
    assert memory < 96 << 20


def trace_of_groups(path, n):
    none = {"values": [], "shapes": [], "types": [], "strides": []}

    def node(number, name, parent, inputs=none, **more):
        attrs = {"rf_id": ("uint64", number), "fw_parent": ("uint64", 0), "seq_id": ("int64", -1), "scope": ("uint64", 0),
                 "tid": ("uint64", 1), "fw_tid": ("uint64", 0), "op_schema": ("string", ""), **more}
        return {"id": number, "name": name, "ctrl_deps": parent, "inputs": inputs, "outputs": none,
                "attrs": [{"name": key, "type": kind, "value": value} for key, (kind, value) in attrs.items()]}

    declared = json.dumps([{"pg_name": str(i), "ranks": [0, 1], "group_size": 2} for i in range(n)] + [{"pg_name": "7"}])
    nodes = [node(2, "[pytorch|profiler|execution_trace|thread]", 1),
             node(3, "## process_group:init ##", 2, {**none, "values": [declared], "shapes": [[]], "types": ["String"],
                                                     "strides": [[]]}),
             *(node(4 + i, "record_param_comms", 2, pg_name=("string", str(n - 1 - i if i else n))) for i in range(n)),
             node(1, "[pytorch|profiler|execution_trace|process]", 1)]
    path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 7, "time": "2026-01-01 00:00:00", "start_ts": 10,
                                "nodes": nodes, "finish_ts": 20}))
    return path


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
def test_process_groups(meter, tmp_path):
    small, large = (trace_of_groups(tmp_path / f"et-{n}.json", n) for n in (10_000, 40_000))
    said = support.run("et-check", small, "--format", "csv", "--no-cache", "--limit", "0").stdout.decode()
    assert said.count("is declared twice") == 1 and "process group 7 is declared twice" in said
    assert said.count("is not declared by") == 1 and "process group 10000 is not declared by" in said
    def seconds(path):
        return meter.measure([support.EXE, "et-check", path, "--no-cache"])[0]

    assert is_linear(seconds(large), lambda: seconds(large), lambda: seconds(small))
