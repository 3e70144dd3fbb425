# SPDX-License-Identifier: Apache-2.0
"""Exports of Nsight Systems against plain SQL over the same file, and rules of the reader one by one."""
import csv
import gzip
import io
import json
import os
import pathlib
import sqlite3
import struct

import pytest

import support
from exports import Export, gpid, gtid

EXTRA = pathlib.Path(os.environ.get("HOLOTRACE_EXTRA_DATA", "/nonexistent")) / "thirdparty" / "nsys"


@pytest.fixture(autouse=True)
def has_sqlite():
    if b"SQLite" not in support.output("version"):
        pytest.skip("skipped: built without SQLite")


def table(*args):
    return list(csv.DictReader(io.StringIO(support.output(*args, "--format", "csv").decode())))


def sql(path, query):
    return [tuple(row.values()) for row in table("sql", path, query)]


def args_of(path, name, tmp_path):
    """What the first event of a name says, as it is written back."""
    written = tmp_path / "written.json"
    support.output("convert", path, "-o", written)
    return next(e for e in json.loads(written.read_bytes())["traceEvents"] if e.get("name") == name)["args"]


def memory(path, tmp_path):
    written = tmp_path / "memory.json"
    support.output("convert", path, "-o", written)
    return [e["args"] for e in json.loads(written.read_bytes())["traceEvents"] if e.get("name") == "[memory]"]


def failure(*args):
    done = support.run(*args)
    assert done.returncode == 3, done
    return done.stderr.decode()


def small():
    """Two operators on the thread, each with a launch; the second launch has two kernels."""
    e = Export()
    e.row("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_700_000_000_000_000_000)
    e.row("ANALYSIS_DETAILS", duration=10_000)
    e.row("TARGET_INFO_GPU", id=0, name="NVIDIA H100", smCount=8, totalMemory=1 << 36)
    e.nvtx(100, 900, "forward")
    e.nvtx(110, 400, "aten::linear, seq = 5, op_id = 40, sizes = [[2, 3], [4, 3], []]")
    e.nvtx(120, 390, "aten::addmm, seq = 5, op_id = 41")
    e.call(150, 160, 1)
    e.call(500, 520, 2, name="cuLaunchKernel", eventClass=1)
    e.nvtx(450, 600, "aten::relu")
    e.kernel(200, 300, 1, name="gemm")
    e.kernel(600, 650, 2, name="relu")
    e.kernel(640, 700, 2, name="relu")
    return e


# ---- rules ----

def test_operators_annotations_and_links(tmp_path):
    path = small().write(tmp_path / "a.sqlite")
    assert sql(path, "SELECT name, cat, ts_ns, dur_ns FROM events WHERE cat IN ('cpu_op', 'user_annotation') ORDER BY ts_ns") == [
        ("forward", "user_annotation", "100", "800"), ("aten::linear", "cpu_op", "110", "290"),
        ("aten::addmm", "cpu_op", "120", "270"), ("aten::relu", "cpu_op", "450", "150")]
    ops = {row["name"]: row for row in table("operators", path)}
    # 100 of gemm; 50 and 60 of relu, whose launch is a driver call
    assert {name: (int(row["device_self_ns"]), int(row["calls"])) for name, row in ops.items()} == {
        "aten::linear": (0, 1), "aten::addmm": (100, 1), "aten::relu": (110, 1)}
    assert args_of(path, "aten::linear", tmp_path) == {
        "Sequence number": 5, "Record function id": 40, "Input Dims": [[2, 3], [4, 3], []]}
    # union of 600-650 and 640-700, and 200-300
    row = table("temporal-breakdown", path)[0]
    assert (row["span_ns"], row["compute_ns"], row["idle_ns"]) == ("500", "200", "300")


def test_kernel_args(tmp_path):
    path = small().write(tmp_path / "a.sqlite")
    assert args_of(path, "gemm", tmp_path) == {
        "grid": [4, 1, 1], "block": [256, 1, 1], "registers per thread": 16, "shared memory": 24, "correlation": 1, "device": 0,
        "context": 1, "stream": 7, "blocks per SM": 0.5, "warps per SM": 4}


def test_processes_are_ranks_and_correlations_are_theirs(tmp_path):
    e = Export()
    for pid, device in ((30, 1), (20, 0)):
        e.nvtx(0, 100, "aten::op%d" % device, pid=pid, tid=pid)
        e.call(10, 20, 5, pid=pid, tid=pid)
        e.kernel(50, 60 + 10 * device, 5, name="k%d" % device, pid=pid, device=device)
    e.nvtx(1, 2, "loader", pid=99, tid=99)
    path = e.write(tmp_path / "rank9.sqlite")
    assert sql(path, "SELECT rank, name, dur_ns FROM events WHERE cat = 'kernel' ORDER BY rank") == [
        ("0", "k0", "10"), ("1", "k1", "20")]
    assert sorted((r["name"], r["device_self_ns"]) for r in table("operators", path)) == [("aten::op0", "10"), ("aten::op1", "20")]
    # the process that is no rank is with the first one of the file
    assert sql(path, "SELECT rank FROM events WHERE name = 'loader'") == [("0",)]
    assert sql(path + "#30", "SELECT DISTINCT name FROM events WHERE cat = 'kernel'") == [("k1",)]
    assert "there is no process 31" in failure("info", path + "#31")


def test_rank_of_a_process(tmp_path):
    e = small()
    e.row("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT_VARIABLE", value='RANK="3"')
    e.row("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT_VARIABLE", value='WORLD_SIZE="8"')
    e.row("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT_VARIABLE", value='API_KEY="hunter2"')
    path = e.write(tmp_path / "a.sqlite")
    facts = support.output("info", path).decode()
    assert {row["rank"] for row in table("info", path)} == {"3"} and "world size" in facts and "Nsight Systems 2026.2.1.210" in facts
    for verb in (("info",), ("events",), ("health",), ("tables",)):
        assert b"hunter2" not in support.run(*verb, path, "--format", "json").stdout
    written = tmp_path / "b.json"
    support.output("convert", path, "-o", written)
    assert b"hunter2" not in written.read_bytes()


def test_nccl_payload_names_rank_and_collective(tmp_path):
    e = small()
    e.nvtx(1, 2, "NCCL", type_=75, domain=1)
    e.nvtx(3, 4, "ncclCommInitRank", domain=1, binaryData=struct.pack("<Qiii", 77, 4, 2, 0))
    e.nvtx(1000, 1200, "ncclAllReduce", domain=1, binaryData=struct.pack("<QQi", 77, 4096, 0))
    e.call(1100, 1110, 9)
    e.kernel(1300, 1800, 9, name="ncclDevKernel_AllReduce_Sum_bf16_RING_LL")
    path = e.write(tmp_path / "a.sqlite")
    assert {row["rank"] for row in table("info", path)} == {"2"}
    assert sql(path, "SELECT cat FROM events WHERE name = 'NCCL:ncclAllReduce'") == [("library_call",)]
    assert args_of(path, "NCCL:ncclAllReduce", tmp_path) == {
        "Collective name": "allreduce", "In msg nelems": 4096, "dtype": "Byte", "Group size": 4, "Process Group Name": "0x4d",
        "domain": "NCCL"}


def test_other_kinds_of_nvtx(tmp_path):
    e = small()
    e.nvtx(20, None, "left open")
    e.nvtx(30, 60, "anywhere", type_=60, rangeId=8, endGlobalTid=gtid(7, 9))
    e.nvtx(40, None, "mark", type_=34)
    e.nvtx(50, 55, None, textId=e.string("registered"))
    e.nvtx(56, 58, "", textId=e.string("older exporters"))
    e.nvtx(60, 65, "{'Module': 'layers.0', 'Inputs': []}")
    e.nvtx(70, 75, "mine", domain=4)
    e.nvtx(1, 1, "my_lib", type_=75, domain=4)
    path = e.write(tmp_path / "a.sqlite")
    got = sql(path, "SELECT name, ph, ts_ns, dur_ns, tid FROM events WHERE ts_ns BETWEEN 20 AND 75 ORDER BY ts_ns")
    assert got == [("left open", "X", "20", "9980", "7"), ("anywhere", "b", "30", "", "7"), ("mark", "i", "40", "", "7"),
                   ("registered", "X", "50", "5", "7"), ("older exporters", "X", "56", "2", "7"), ("nn.Module: layers.0", "X", "60", "5", "7"),
                   ("anywhere", "e", "60", "", "9"), ("my_lib:mine", "X", "70", "5", "7")]


def test_samples_scheduling_metrics_and_memory(tmp_path):
    e = small()
    e.row("COMPOSITE_EVENTS", id=1, start=130, cpu=2, cpuCycles=900, globalTid=gtid(7, 7))
    for depth, name in enumerate(("memcpy", "main")):
        e.row("SAMPLING_CALLCHAINS", id=1, symbol=e.string(name), stackDepth=depth)
    for start, isin in ((100, 1), (250, 0), (300, 1), (400, 0)):
        e.row("SCHED_EVENTS", start=start, cpu=3, isSchedIn=isin, globalTid=gtid(7, 7))
    e.row("TARGET_INFO_GPU_METRICS", metricId=5, metricName="SM Active [%]")
    e.row("GPU_METRICS", timestamp=220, typeId=0, metricId=5, value=83)
    for start, bytes_, freed in ((140, 1000, 0), (160, 500, 0), (180, 1000, 1)):
        e.row("CUDA_GPU_MEMORY_USAGE_EVENTS", start=start, globalTid=gtid(7, 7), address=4096, bytes=bytes_,
              memoryOperationType=freed, memKind=2, deviceId=0)
    e.row("CUDA_GRAPH_NODE_EVENTS", start=155, end=155, globalTid=gtid(7, 7), nameId=e.string("node"), graphNodeId=9, originalGraphNodeId=4)
    path = e.write(tmp_path / "a.sqlite")
    assert args_of(path, "memcpy", tmp_path) == {"Call stack": "memcpy\nmain", "cpu": 2, "cpu cycles": 900}
    assert sql(path, "SELECT ts_ns, dur_ns, tid FROM events WHERE cat = 'cpu_sched' ORDER BY 1") == [("100", "150", "3"), ("300", "100", "3")]
    assert args_of(path, "SM Active [%]", tmp_path) == {"value": 83}
    # 1000, 1500, 500
    assert [row["Total Allocated"] for row in memory(path, tmp_path)] == [1000, 1500, 500]
    assert args_of(path, "node", tmp_path) == {"graph node id": 9, "original graph node id": 4}
    # what was added is no operator and cuts none
    assert {r["name"]: r["device_self_ns"] for r in table("operators", path)}["aten::relu"] == "110"


@pytest.mark.parametrize("without", [
    (), ("NVTX_EVENTS.domainId", "NVTX_EVENTS.textId", "NVTX_EVENTS.jsonText", "NVTX_EVENTS.binaryData",
         "CUPTI_ACTIVITY_KIND_KERNEL.graphNodeId", "CUPTI_ACTIVITY_KIND_KERNEL.contextId",
         "CUPTI_ACTIVITY_KIND_RUNTIME.eventClass", "CUPTI_ACTIVITY_KIND_RUNTIME.returnValue")])
def test_older_schemas_give_the_same(tmp_path, without):
    e = small()
    if without:  # 2021: no facts about export or session
        for name in ("META_DATA_EXPORT", "TARGET_INFO_SESSION_START_TIME", "ANALYSIS_DETAILS"):
            e.rows.pop(name)
    path = e.write(tmp_path / "a.sqlite", without=without)
    assert sql(path, "SELECT name, cat FROM events WHERE cat LIKE 'cuda%' OR cat = 'kernel' ORDER BY ts_ns, name") == [
        ("cudaLaunchKernel", "cuda_runtime"), ("gemm", "kernel"), ("cuLaunchKernel", "cuda_driver"), ("relu", "kernel"), ("relu", "kernel")]
    assert {r["name"]: r["device_self_ns"] for r in table("operators", path)}["aten::relu"] == "110"


def test_warnings_of_the_profiler(tmp_path):
    e = small()
    for severity, text in ((1, "Profiling has started."), (2, "No NVTX events collected."), (3, "Lost 7 events."), (4, "details")):
        e.row("DIAGNOSTIC_EVENT", timestamp=1, severity=severity, text=text)
    path = e.write(tmp_path / "a.sqlite")
    assert [row["sentence"] for row in table("health", path) if row["check"] == "profiler_warning"] == [
        "No NVTX events collected.", "Lost 7 events."]


def test_graphs_as_a_whole_and_other_schemas(tmp_path):
    e = small()
    e.rows["META_DATA_EXPORT"][2]["value"] = "4.1.0"
    for start in (1000, 2000):
        e.row("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=start, end=start + 300, deviceId=0, streamId=7, correlationId=start,
              globalPid=gpid(7), graphId=3, graphExecId=4)
    e.call(950, 960, 1000, name="cudaGraphLaunch_v10000")
    path = e.write(tmp_path / "a.sqlite")
    checks = {row["check"]: row["count"] for row in table("health", path)}
    assert checks["graph_as_whole"] == "2" and checks["schema_unknown"] == "1"
    # busy: 200 of the kernels, 600 of the graphs; the second launch is not in the file
    assert table("temporal-breakdown", path)[0]["compute_ns"] == "800"
    assert sql(path, "SELECT name, launch IS NULL FROM events WHERE cat = 'gpu_graph' ORDER BY ts_ns") == [
        ("CUDA graph 3", "0"), ("CUDA graph 3", "1")]


def graph_export():
    """A capture of three nodes in two operators of one module and of one node in an annotation alone, copied when it is
    instantiated (ids + 100) and copied again (ids + 200); two launches of the one and one of the other."""
    e = small()
    e.row("ANALYSIS_DETAILS", duration=20_000)
    e.nvtx(2000, 3000, "capture")
    e.nvtx(2010, 2500, "{'Module': 'layers.0'}")
    e.nvtx(2020, 2200, "aten::softmax, seq = 9, sizes = [[8, 8]]")
    e.nvtx(2300, 2400, "aten::mul")

    def node(start, id_, original=None, name="Graph Node Creation"):
        e.row("CUDA_GRAPH_NODE_EVENTS", start=start, end=start, globalTid=gtid(7, 7), nameId=e.string(name), graphNodeId=id_,
              originalGraphNodeId=original)

    for start, id_ in ((2050, 11), (2060, 12), (2350, 13), (2600, 14)):
        node(start, id_)
    e.nvtx(4000, 4500, "aten::instantiated_here")
    for turn, base in ((0, 100), (1, 200)):
        for id_ in (11, 12, 13, 14):
            node(4100 + 100 * turn + id_, base + id_, base - 100 + id_)
    node(4300, 350, 9999)  # its original was made before the window
    e.nvtx(5000, 9000, "aten::replay")
    for correlation, base in ((50, 100), (51, 100), (52, 200)):
        start = 5100 + 1000 * (correlation - 50)
        e.call(start, start + 10, correlation, name="cudaGraphLaunch_v10000")
        for i, (id_, ns) in enumerate(((11, 30), (12, 40), (13, 50), (14, 60))):
            at = start + 100 + 100 * i
            e.kernel(at, at + ns, correlation, name="vectorized_kernel%d" % i, graphNodeId=base + id_)
    e.kernel(8000, 8007, 52, name="vectorized_kernel9", graphNodeId=350)
    e.kernel(8100, 8103, 99, name="vectorized_kernel8", graphNodeId=13)  # its launch was cut off
    return e


def test_graph_kernels_by_the_creation_of_their_nodes(tmp_path):
    path = graph_export().write(tmp_path / "a.sqlite")
    rows = table("events", path, "--only", "gpu", "--columns",
                 "name,dur_ns,correlation,origin_op,origin_module,origin_method,origin_confidence,origin_shapes")
    found = {(r["name"], r["correlation"]): r for r in rows}
    wanted = {"vectorized_kernel0": ("aten::softmax", "nn.Module: layers.0", "[[8, 8]]"),
              "vectorized_kernel1": ("aten::softmax", "nn.Module: layers.0", "[[8, 8]]"),
              "vectorized_kernel2": ("aten::mul", "nn.Module: layers.0", ""), "vectorized_kernel3": ("capture", "", "")}
    for correlation in ("50", "51", "52"):
        for name, want in wanted.items():
            row = found[name, correlation]
            assert (row["origin_op"], row["origin_module"], row["origin_shapes"]) == want, row
            assert (row["origin_method"], row["origin_confidence"]) == ("graph-capture", "1")
    assert found["vectorized_kernel8", "99"]["origin_op"] == "aten::mul"
    # where a node was copied says nothing about it
    assert found["vectorized_kernel9", "52"]["origin_method"] in ("none", "name-rule")
    assert not any(r["origin_op"] == "aten::instantiated_here" for r in rows)
    ops = {r["name"]: (int(r["device_self_ns"]), int(r["calls"])) for r in table("operators", path)}
    # 3 x (30 + 40); 3 x 50 + 3; 3 x 60; what nothing is known of stays with the operator around the launch. Calls: that of the
    # capture, one of each replay, and the one whose launch was cut off
    assert {name: ops[name] for name in ("aten::softmax", "aten::mul", "capture", "aten::replay", "aten::addmm")} == {
        "aten::softmax": (210, 4), "aten::mul": (153, 5), "capture": (180, 3), "aten::replay": (7, 1), "aten::addmm": (100, 1)}
    # 3 x 4 of the launches, and the one without
    methods = {r["method"]: (r["kernels"], r["gpu_ns"]) for r in table("attribution", path, "--step", "all")}
    assert methods["graph-capture"] == ("13", str(3 * 180 + 3)) and methods["op"] == ("3", "210")
    graphs = table("attribution", path, "--step", "all", "--view", "graphs")
    assert {(g["method"], g["why"]) for g in graphs} == {("graph-capture", "")}
    # launches stay those of the graph
    launched = "SELECT count(*), count(DISTINCT k.launch) FROM events k JOIN events l ON l.id = k.launch WHERE k.cat = 'kernel' AND l.name = 'cudaGraphLaunch'"
    assert sql(path, launched) == [("13", "3")]


def test_copies_of_nodes_in_circles_lead_nowhere(tmp_path):
    e = small()
    for start, id_, original in ((700, 1, 2), (710, 2, 1), (720, 3, 3)):
        e.row("CUDA_GRAPH_NODE_EVENTS", start=start, end=start, globalTid=gtid(7, 7), nameId=e.string("node"), graphNodeId=id_,
              originalGraphNodeId=original)
        e.kernel(1000 + id_, 1002 + id_, 60 + id_, name="k%d" % id_, graphNodeId=id_)
    rows = table("events", e.write(tmp_path / "a.sqlite"), "--only", "gpu", "--columns", "name,origin_op,origin_method")
    assert {r["name"]: r["origin_op"] for r in rows if r["name"] in ("k1", "k2", "k3")} == {"k1": "", "k2": "", "k3": "forward"}


def test_files_in_directories(tmp_path):
    small().write(tmp_path / "a.sqlite")
    other = sqlite3.connect(tmp_path / "mlruns.sqlite")
    other.execute("CREATE TABLE runs (id INTEGER)")
    other.commit()
    other.close()
    (tmp_path / "a.nsys-rep").write_bytes(b"\0" * 100)
    assert {row["value"] for row in table("info", tmp_path) if row["item"] == "path"} == {str(tmp_path / "a.sqlite")}


def test_exports_whose_schema_is_far_behind_the_start(tmp_path):
    """Rows were written before most tables were made: no name of a table is where files are told apart."""
    path = tmp_path / "a.sqlite"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE filler (x)")
    db.executemany("INSERT INTO filler VALUES (?)", (("y" * 1000,) for _ in range(200)))
    for i in range(40):
        db.execute(f"CREATE TABLE more{i} ({', '.join(f'column_{k}' for k in range(30))})")
    db.execute("DROP TABLE filler")
    db.commit()
    db.close()
    e = small()
    e.kernel(50, 60, 1, name="other", pid=30, device=1)
    e.write(path)
    assert b"StringIds" not in path.read_bytes()[:65536]
    rows = table("info", tmp_path)
    assert [r["value"] for r in rows if r["item"] == "path"] == [f"{path}#7", f"{path}#30"]
    assert sql(path, "SELECT rank, count(*) FROM events WHERE cat = 'kernel' GROUP BY 1 ORDER BY 2") == [("1", "1"), ("0", "3")]


# ---- bad input ----

def test_reports_and_interrupted_exports_name_the_command(tmp_path):
    report = tmp_path / "x.nsys-rep"
    report.write_bytes(b"\x01\x02closed")
    assert f"nsys export --type sqlite -o {tmp_path}/x.sqlite {report}" in " ".join(failure("summary", report).split())
    zeroed = tmp_path / "y.sqlite"
    zeroed.write_bytes(bytes(8192))
    assert "interrupted" in failure("summary", zeroed)


def test_odd_cells(tmp_path):
    e = small()
    e.kernel(None, 5, 3, name="no start")
    e.kernel("soon", 5, 3, name="text for start")
    e.kernel(800, 790, 3, name="backwards")
    e.kernel(-50, -40, 3, name="before zero")
    e.kernel(2 ** 63 - 1, 5, 3, name="far")
    e.row("CUPTI_ACTIVITY_KIND_KERNEL", start=810, end=820, demangledName=4711, globalPid=gpid(7))
    e.row("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=0, end=0, graphId=1, globalPid=gpid(7))
    e.nvtx(1, 2, "x" * 1_000_000)
    e.nvtx(3, 4, None)
    path = e.write(tmp_path / "a.sqlite")
    names = [row[0] for row in sql(path, "SELECT name FROM events WHERE cat = 'kernel'")]
    assert "<id 4711>" in names and "before zero" in names and "no start" not in names and len(names) == 7
    checks = {row["check"]: row["count"] for row in table("health", path)}
    assert checks["row_lost"] == "2" and checks["negative_duration"] == "2" and checks["zero_kernels"] == "1"
    assert checks["absurd_time"] == "1"


def test_what_the_schema_computes_is_not_evaluated(tmp_path):
    huge = "hex(zeroblob(300000000))"
    path = tmp_path / "a.sqlite"
    db = sqlite3.connect(path)
    db.executescript(f"""
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT AS ({huge}));
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, globalPid INTEGER, demangledName INTEGER);
        INSERT INTO StringIds (id) VALUES (1);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, {gpid(7)}, 1);
        CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start, 2 AS "end", {huge} AS text;""")
    db.close()
    done = support.run("events", path, "--format", "csv", memory_bytes=4 * support.GIB)
    assert done.returncode == 0 and b"<id 1>" in done.stdout


def test_truncated_files_are_errors_that_say_so(tmp_path):
    e = small()
    for i in range(2000):
        e.nvtx(2000 + i, 2001 + i, f"aten::op{i}, op_id = {i}")
    whole = pathlib.Path(e.write(tmp_path / "a.sqlite")).read_bytes()
    for part in (20, 100, 4096, len(whole) // 2, len(whole) - 4096):
        path = tmp_path / "cut.sqlite"
        path.write_bytes(whole[:part])
        done = support.run("info", path)
        assert done.returncode in (0, 3) and (done.returncode == 0 or b"cut.sqlite" in done.stderr), done


def test_of_a_cut_file_tables_are_read_as_far_as_they_go(tmp_path):
    """Pages in order of the tables: NVTX is whole, kernels come behind the cut; then NVTX itself is cut at a page."""
    e = small()
    for i in range(2000):
        e.nvtx(2000 + i, 2001 + i, f"aten::op{i}, op_id = {i}")
    kernels = e.rows.pop("CUPTI_ACTIVITY_KIND_KERNEL")
    for i in range(2000):
        kernels.append(dict(kernels[0], start=10_000 + 10 * i, end=10_005 + 10 * i))
    e.rows["CUPTI_ACTIVITY_KIND_KERNEL"] = kernels  # written last
    whole = pathlib.Path(e.write(tmp_path / "a.sqlite"))
    bytes_, pages = whole.read_bytes(), whole.stat().st_size // 4096
    counts = lambda path: dict(sql(path, "SELECT cat, count(*) FROM events WHERE cat IN ('kernel', 'cpu_op') GROUP BY 1"))
    assert counts(whole) == {"cpu_op": "2003", "kernel": "2003"}
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes(bytes_[:(pages - 10) * 4096])
    found, rows = counts(cut), table("health", cut)
    assert found["cpu_op"] == "2003" and 0 < int(found["kernel"]) < 2003
    sentences = [r["sentence"] for r in rows if r["check"] == "profiler_warning"]
    assert len(sentences) == 1 and sentences[0].startswith(
        f"Table CUPTI_ACTIVITY_KIND_KERNEL is damaged: {found['kernel']} of its rows were read"), sentences
    assert [r["count"] for r in rows if r["check"] == "truncated"] == ["1"]
    cut.write_bytes(bytes_[:pages // 4 * 4096])
    assert 0 < int(counts(cut)["cpu_op"]) < 2003 and "kernel" not in counts(cut)
    damaged = " ".join(r["sentence"] for r in table("health", cut))
    assert "Table NVTX_EVENTS is damaged" in damaged and "Table CUPTI_ACTIVITY_KIND_KERNEL is damaged: 0 of its rows" in damaged
    cut.write_bytes(bytes_[:4096])
    assert "no event in it can be read" in failure("info", cut)


def packed(whole, ending):
    """A raw block each in a frame of zstd: magic, no checksum, window of 1 MiB, then blocks with their lengths."""
    if ending == "gz":
        return gzip.compress(whole)
    blocks = [whole[i:i + 65536] for i in range(0, len(whole), 65536)]
    return b"\x28\xb5\x2f\xfd\x00\x50" + b"".join(
        (len(b) << 3 | (i == len(blocks) - 1)).to_bytes(3, "little") + b for i, b in enumerate(blocks))


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_compressed_exports_are_read_like_others(tmp_path, ending):
    e = small()
    e.nvtx(0, 100, "aten::other", pid=30, tid=30)
    e.kernel(50, 60, 5, name="other", pid=30, device=1)
    folder = tmp_path / "run"
    folder.mkdir()
    plain, path = pathlib.Path(e.write(tmp_path / "a.sqlite")), folder / f"a.sqlite.{ending}"
    path.write_bytes(packed(plain.read_bytes(), ending))
    before = sorted(os.listdir("/var/tmp"))
    for words in (["operators"], ["kernels"], ["summary"], ["events"]):
        want = support.output(*words, plain, "--format", "csv", "--no-cache")
        assert support.output(*words, path, "--format", "csv", "--no-cache") == want
        assert support.output(*words, folder, "--format", "csv", "--no-cache") == want
    for _ in range(2):  # the second time from the cache
        cached = ["--cache-dir", tmp_path / "cache"]
        assert sql(f"{path}#30", "SELECT name FROM events WHERE cat = 'kernel'") == [("other",)]
        rows = list(csv.DictReader(io.StringIO(support.output("info", path, "--format", "csv", *cached).decode())))
        assert [r["value"] for r in rows if r["item"] == "path"] == [f"{path}#7", f"{path}#30"]
        assert {r["value"] for r in rows if r["item"] == "compression"} == {"gzip" if ending == "gz" else "zstd"}
    assert sorted(os.listdir("/var/tmp")) == before
    # what comes before the damage is a database that ends early
    path.write_bytes(path.read_bytes()[:-20 if ending == "gz" else -4096])
    done = support.run("info", path)
    assert done.returncode in (0, 3) and (done.returncode == 0 or b"copy or export the file again" in done.stderr), done


def test_a_database_in_a_pipe_is_refused(tmp_path):
    with open(small().write(tmp_path / "a.sqlite"), "rb") as file:
        done = support.run("info", "-", stdin=file)
    assert done.returncode == 3 and b"Save it to a file first" in done.stderr, done


def test_random_damage_never_crashes(tmp_path):
    import random
    whole = pathlib.Path(small().write(tmp_path / "a.sqlite")).read_bytes()
    chance = random.Random(5)
    for _ in range(600 if support.LONG else 15):
        bytes_ = bytearray(whole)
        for _ in range(chance.randint(1, 30)):
            bytes_[chance.randrange(100, len(bytes_))] = chance.randrange(256)
        path = tmp_path / "bad.sqlite"
        path.write_bytes(bytes_)
        done = support.run("summary", path, timeout=60, memory_bytes=None if support.is_sanitized() else 4 * support.GIB)
        assert done.returncode in (0, 3, 4), done


# ---- against SQL, on real exports ----

def unpacked(name, folder):
    source = EXTRA / name
    if not source.exists():
        pytest.skip("skipped: HOLOTRACE_EXTRA_DATA has no exports of Nsight Systems")
    if name.endswith(".gz"):
        target = folder / name[:-3]
        target.write_bytes(gzip.decompress(source.read_bytes()))
        return str(target)
    return str(source)


def union(spans):
    total, end = 0, None
    for a, b in sorted(spans):
        if end is None or a > end:
            total, end = total + b - a, b
        elif b > end:
            total, end = total + b - end, b
    return total


@pytest.mark.parametrize("name", ["mfu_2gpu_before.sqlite.gz", "h100_2gpu_1s.sqlite.gz", "nsight-2025.5.2.sqlite"])
def test_real_exports_by_sql(tmp_path, name):
    path = unpacked(name, tmp_path)
    db = sqlite3.connect(path)
    pids = [row[0] for row in db.execute("SELECT DISTINCT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1")]
    matched = "SELECT k.rowid FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId" \
              " AND r.globalTid / 16777216 = k.globalPid / 16777216 WHERE k.globalPid = ? GROUP BY k.rowid"
    for pid in pids:
        own = path if len(pids) == 1 else f"{path}#{pid >> 24 & 0xffffff}"
        spans = db.execute('SELECT start, "end" FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE globalPid = ?', (pid,)).fetchall()
        ours = [(int(a), int(a) + int(d)) for a, d in sql(own, "SELECT ts_ns, dur_ns FROM events WHERE cat = 'kernel'")]
        assert sorted(ours) == sorted(spans) and union(ours) == union(spans)
        linked = sql(own, "SELECT count(*) FROM events WHERE cat = 'kernel' AND launch IS NOT NULL")[0][0]
        assert int(linked) == len(db.execute(matched, (pid,)).fetchall())
        calls = db.execute("SELECT eventClass, count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid / 16777216 = ? / 16777216 GROUP BY 1", (pid,))
        kinds = {0: "cuda_runtime", 1: "cuda_driver"}
        assert dict(sql(own, "SELECT cat, count(*) FROM events WHERE cat LIKE 'cuda_runtime' OR cat = 'cuda_driver' GROUP BY 1")) == {
            kinds[c]: str(n) for c, n in calls}


def test_figures_of_the_training_export(tmp_path):
    path = unpacked("mfu_2gpu_before.sqlite.gz", tmp_path)
    kernels = sql(path, "SELECT rank, count(*), sum(dur_ns) FROM events WHERE cat = 'kernel' GROUP BY rank ORDER BY rank")
    assert kernels == [("0", "1993", "270875926"), ("1", "2017", "264324724")]
    nccl = sql(path, "SELECT rank, count(*), sum(dur_ns) FROM events WHERE cat = 'kernel' AND name LIKE 'nccl%' GROUP BY rank ORDER BY rank")
    assert nccl == [("0", "33", "17172652"), ("1", "33", "8229100")]
    by_op = dict((name, (int(n), int(ns))) for name, n, ns in sql(
        path, "SELECT o.name, count(*), sum(k.dur_ns) FROM events k JOIN events o ON o.id = k.op WHERE k.cat = 'kernel' GROUP BY 1"))
    assert sum(n for n, _ in by_op.values()) == 3986
    for op, want in {"flash_attn::_flash_attn_forward": (66, 256586234), "aten::copy_": (1816, 64364656),
                     "aten::addmm": (335, 57595448), "aten::mul": (501, 42979045), "nccl:all_to_all": (64, 25179513)}.items():
        assert by_op[op] == want, op


def test_figures_of_the_graph_export(tmp_path):
    path = unpacked("nsight-2025.5.2.sqlite", tmp_path)
    assert sql(path, "SELECT cat, count(*), sum(dur_ns) FROM events WHERE cat IN ('kernel', 'gpu_memcpy', 'gpu_graph') GROUP BY 1 ORDER BY 1") == [
        ("gpu_graph", "2", "3104"), ("gpu_memcpy", "1", "864"), ("kernel", "3", "3840")]
    assert sql(path, "SELECT name FROM events WHERE cat = 'gpu_memcpy'") == [("Memcpy HtoD (Pageable -> Device)",)]
    info = support.output("info", path).decode()
    assert "RTX 3060" in info and "28 SMs" in info and "2025.5.2" in info
    # the first kernel at 1785620044762835733 ns since 1970
    first = sql(path, "SELECT min(ts_ns) FROM events WHERE cat = 'kernel'")[0][0]
    assert int(first) + 1785620044423518993 == 1785620044762835733
