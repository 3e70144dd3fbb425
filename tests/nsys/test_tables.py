# SPDX-License-Identifier: Apache-2.0
"""Every table that docs/formats/nsys.md names, with random rows, against plain SQL over the same file."""
import json
import pathlib
import random
import re
import sqlite3

import pytest

import support
from exports import gpid, gtid
from test_nsys import sql

PID, OTHER = 7, 9
DOC = pathlib.Path(__file__).parents[2] / "docs" / "formats" / "nsys.md"
NAMES = ["alpha", "beta", "gamma", "delta"]
CALLS = ["cudaLaunchKernel_v7000", "cuLaunchKernel", "cudaMemcpyAsync_v3020", "cudaFree", "cuMemAlloc_v2"]

#: table -> columns, besides start, "end" and globalTid, of spans of a thread; as NVIDIA's schema has them.
SPANS = {
    "CUDNN_EVENTS": ("library_call", ("eventClass", "nameId")),
    "CUBLAS_EVENTS": ("library_call", ("eventClass", "nameId")),
    "NCCL_EVENTS": ("library_call", ("nameId",)),
    "MPI_P2P_EVENTS": ("library_call", ("textId", "commHandle", "tag", "remoteRank", "size", "requestHandle")),
    "MPI_COLLECTIVES_EVENTS": ("library_call", ("textId", "commHandle", "rootRank", "size", "recvSize")),
    "MPI_START_WAIT_EVENTS": ("library_call", ("textId", "requestHandle")),
    "MPI_OTHER_EVENTS": ("library_call", ("textId",)),
    "UCX_EVENTS": ("library_call", ("textId",)),
    "UCP_EVENTS": ("library_call", ("textId",)),
    "UCP_SUBMIT_EVENTS": ("library_call", ("textId", "size", "tag")),
    "UCP_PROGRESS_EVENTS": ("library_call", ("textId",)),
    "OPENSHMEM_EVENTS": ("library_call", ("nameId",)),
    "NVSHMEM_EVENTS": ("library_call", ("nameId",)),
    "OSRT_API": ("os_runtime", ("nameId", "returnValue", "nestingLevel")),
    "PROFILER_OVERHEAD": ("overhead", ("nameId", "overheadType")),
    "CUPTI_ACTIVITY_KIND_OVERHEAD": ("overhead", ("nameId", "correlationId", "overheadType")),
    "CUDA_GRAPH_EVENTS": ("graph_node", ("nameId", "graphId", "originalGraphId", "graphExecId")),
    "CUDA_GRAPH_NODE_EVENTS": ("graph_node", ("nameId", "graphNodeId", "originalGraphNodeId")),
}
ACTIVITY = ("deviceId", "contextId", "streamId", "correlationId", "globalPid")
ACTIVITIES = {
    "CUPTI_ACTIVITY_KIND_KERNEL": ("kernel", ("demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ")),
    "CUPTI_ACTIVITY_KIND_MEMCPY": ("gpu_memcpy", ("bytes", "copyKind", "srcKind", "dstKind")),
    "CUPTI_ACTIVITY_KIND_MEMSET": ("gpu_memset", ("bytes", "value", "memKind")),
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": ("gpu_graph", ("graphId", "graphExecId")),
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": ("cuda_sync", ("syncType", "eventId", "eventSyncId")),
}
#: Read for other things than events of their own, or tested beside their fellow.
OTHERS = {"SAMPLING_CALLCHAINS", "TARGET_INFO_GPU_METRICS", "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE", "DIAGNOSTIC_EVENT",
          "TARGET_INFO_SESSION_START_TIME", "META_DATA_EXPORT", "META_DATA_CAPTURE", "TARGET_INFO_SYSTEM_ENV", "ThreadNames", "PROCESSES",
          "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "COMPOSITE_EVENTS", "SCHED_EVENTS", "GPU_METRICS",
          "CUDA_GPU_MEMORY_USAGE_EVENTS", "MPI_RANKS", "StringIds"}


def fill(db, name, columns, rows):
    db.execute("CREATE TABLE %s (%s)" % (name, ", ".join(f'"{c}"' for c in columns)))
    db.executemany("INSERT INTO %s VALUES (%s)" % (name, ",".join("?" * len(columns))), rows)


def cell(chance, column):
    if column in ("nameId", "textId", "demangledName", "shortName"):
        return chance.randint(1, len(NAMES) + 1)  # the last one is not in the dictionary
    if column in ("copyKind", "srcKind", "dstKind", "memKind", "syncType"):
        return chance.randint(0, 4)
    if column == "deviceId":
        return 0
    return chance.randint(0, 500)


def span(chance, n=1_000_000):
    start = chance.randint(1, n)
    return start, start + chance.randint(0, 5_000)


@pytest.fixture(name="files", scope="module")
def random_export(tmp_path_factory):
    """A file of two processes, and its database."""
    if b"SQLite" not in support.output("version"):
        pytest.skip("skipped: built without SQLite")
    chance = random.Random(28)
    path = tmp_path_factory.mktemp("tables") / "a.sqlite"
    db = sqlite3.connect(path)
    fill(db, "StringIds", ("id", "value"), list(enumerate(NAMES, 1)) + list(enumerate(CALLS, 100)))
    for name, (_, more) in SPANS.items():
        fill(db, name, ("start", "end", "globalTid", *more), [
            (*span(chance), gtid(chance.choice((PID, OTHER)), chance.randint(1, 3)), *[cell(chance, c) for c in more]) for _ in range(40)])
    for name, (_, more) in ACTIVITIES.items():
        fill(db, name, ("start", "end", *ACTIVITY, *more), [
            (*span(chance), 0, 1, chance.choice((7, 13)), i, gpid(chance.choice((PID, OTHER))), *[cell(chance, c) for c in more])
            for i in range(60)])
    fill(db, "CUPTI_ACTIVITY_KIND_RUNTIME", ("start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue"), [
        (*span(chance), 0, gtid(chance.choice((PID, OTHER)), 1), i, 100 + chance.randrange(len(CALLS)), chance.choice((0, 0, 2))) for i in range(80)])
    fill(db, "COMPOSITE_EVENTS", ("id", "start", "cpu", "threadState", "globalTid", "cpuCycles"), [
        (i, chance.randint(1, 10 ** 6), i % 4, 1, gtid(PID, 1), i * 10) for i in range(30)])
    fill(db, "SAMPLING_CALLCHAINS", ("id", "symbol", "module", "stackDepth"), [
        (i, chance.randint(1, 4), 1, depth) for i in range(30) for depth in range(i % 4)])
    fill(db, "SCHED_EVENTS", ("start", "cpu", "isSchedIn", "globalTid"), [
        (100 * i + chance.randint(0, 99), cpu, (i + 1) % 2, gtid(PID, 1)) for i in range(50) for cpu in range(2)])
    fill(db, "GPU_METRICS", ("timestamp", "typeId", "metricId", "value"), [
        (chance.randint(1, 10 ** 6), 0, chance.randint(1, 3), chance.randint(0, 100)) for _ in range(60)])
    fill(db, "TARGET_INFO_GPU_METRICS", ("typeId", "metricId", "metricName"), [(0, 1, "SM Active"), (0, 2, "DRAM Read")])
    fill(db, "CUDA_GPU_MEMORY_USAGE_EVENTS", ("start", "globalPid", "deviceId", "address", "bytes", "memoryOperationType", "memKind"), [
        (1_000 + i, gpid(PID), 0, 4096 * i, chance.randint(1, 10 ** 6), chance.choice((0, 0, 1)), chance.choice((0, 1, 2))) for i in range(50)])
    kinds = (33, 34, 59, 60, 64, 65, 70, 71, 75, 99)
    fill(db, "NVTX_EVENTS", ("start", "end", "eventType", "text", "textId", "globalTid", "domainId", "rangeId"), [
        (*span(chance), chance.choice(kinds), *chance.choice(((f"range {i}", None), (None, chance.randint(1, 4)))), gtid(chance.choice((PID, OTHER)), 1), 0, i)
        for i in range(120)])
    fill(db, "MPI_RANKS", ("globalTid", "rank"), [(gtid(OTHER, 1), 3), (gtid(PID, 1), 5), (gtid(77, 1), 9)])
    db.commit()
    yield str(path), db
    db.close()


def ours(path, cat, process):
    rank = {PID: 5, OTHER: 3}[process]
    return sorted((name, int(ts), int(dur or 0), int(tid)) for name, ts, dur, tid in sql(
        path, f"SELECT name, ts_ns, dur_ns, tid FROM events WHERE rank = {rank} AND cat = '{cat}'"))


def written(path, process, tmp_path):
    target = tmp_path / "written.json"
    support.output("convert", f"{path}#{process}", "-o", target)
    return json.loads(target.read_bytes())["traceEvents"]


def theirs(db, query, process):
    own = gpid(process)
    return sorted(tuple(r) for r in db.execute(query, (own, own + 0xffffff)))


def name_of(column):
    return f"coalesce((SELECT value FROM StringIds WHERE id = {column}), '<id ' || {column} || '>')"


def test_the_document_names_the_tables_that_are_tested():
    """Names in the first column; "CUPTI_ACTIVITY_KIND_MEMCPY, _MEMSET" and "MPI_*_EVENTS" stand for several."""
    rows = re.findall(r"^\| (`.*?) \|", DOC.read_text(), re.M)
    named = {n for row in rows for n in re.findall(r"`(\w+)`", row) if not n.startswith("_")}
    assert named <= set(SPANS) | set(ACTIVITIES) | OTHERS, named - set(SPANS) - set(ACTIVITIES) - OTHERS


@pytest.mark.parametrize("process", [PID, OTHER])
@pytest.mark.parametrize("cat", sorted({cat for cat, _ in SPANS.values()}))
def test_spans_of_threads(files, cat, process):
    path, db = files
    want = []
    for name, (of, more) in SPANS.items():
        if of == cat:
            id_ = "nameId" if "nameId" in more else "textId"
            want += theirs(db, f'SELECT {name_of(id_)}, start, "end" - start, globalTid & 0xffffff FROM {name}'
                               " WHERE globalTid BETWEEN ? AND ?", process)
    assert want and ours(path, cat, process) == sorted(want)


@pytest.mark.parametrize("process", [PID, OTHER])
@pytest.mark.parametrize("name", ACTIVITIES)
def test_activities(files, name, process):
    path, db = files
    cat = ACTIVITIES[name][0]
    found = db.execute(f'SELECT start, "end" - start, streamId, * FROM {name} WHERE globalPid = ?', (gpid(process),)).fetchall()
    assert found and [x[1:] for x in sorted(ours(path, cat, process), key=lambda x: x[1:])] == sorted(r[:3] for r in found)
    if cat == "kernel":
        # without the text of the one name it is that of the other
        names = {i + 1: n for i, n in enumerate(NAMES)}
        want = sorted((names.get(d, names.get(s, "<id %d>" % d)), a, b, c) for d, s, a, b, c in db.execute(
            f'SELECT demangledName, shortName, start, "end" - start, streamId FROM {name} WHERE globalPid = ?', (gpid(process),)))
        assert ours(path, cat, process) == want


@pytest.mark.parametrize("process", [PID, OTHER])
def test_calls(files, process):
    path, db = files
    want = {"cuda_runtime": [], "cuda_driver": []}
    for name, start, dur, tid in theirs(db, 'SELECT value, start, "end" - start, globalTid & 0xffffff FROM CUPTI_ACTIVITY_KIND_RUNTIME r'
                                            " JOIN StringIds s ON s.id = r.nameId WHERE globalTid BETWEEN ? AND ?", process):
        want["cuda_runtime" if name.startswith("cuda") else "cuda_driver"].append((re.sub(r"_v\d+$", "", name), start, dur, tid))
    for cat, rows in want.items():
        assert rows and ours(path, cat, process) == sorted(rows)
    # launches are found in the process
    linked = "SELECT count(*) FROM {0} k WHERE globalPid = ? AND EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME r" \
             " WHERE r.correlationId = k.correlationId AND r.globalTid >> 24 = k.globalPid >> 24)"
    count = db.execute(linked.format("CUPTI_ACTIVITY_KIND_KERNEL"), (gpid(process),)).fetchone()[0]
    rank = {PID: 5, OTHER: 3}[process]
    assert count and sql(path, f"SELECT count(*) FROM events WHERE rank = {rank} AND cat = 'kernel' AND launch IS NOT NULL") == [(str(count),)]


@pytest.mark.parametrize("process", [PID, OTHER])
def test_nvtx_of_all_types(files, process):
    path, db = files
    query = f"SELECT coalesce(text, {name_of('textId')}), start, %s, globalTid & 0xffffff FROM NVTX_EVENTS WHERE globalTid BETWEEN ? AND ?" \
            " AND eventType IN (%s)"
    assert ours(path, "user_annotation", process) == theirs(db, query % ('"end" - start', "59, 70"), process)
    assert ours(path, "nvtx_mark", process) == theirs(db, query % ("0", "34, 65"), process)
    loose = theirs(db, query % ("0", "60, 71"), process) + theirs(db, query.replace("start,", '"end",', 1) % ("0", "60, 71"), process)
    assert loose and ours(path, "nvtx_range", process) == sorted(loose)


def test_samples_and_scheduling(files):
    path, db = files
    want = sorted((row[0] or "CPU sample", row[1], 0, 1) for row in db.execute(
        "SELECT (SELECT value FROM SAMPLING_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol WHERE c.id = e.id AND stackDepth = 0), start"
        " FROM COMPOSITE_EVENTS e"))
    assert ours(path, "cpu_sample", PID) == want
    switches = db.execute("SELECT cpu, start, isSchedIn, lead(start) OVER (PARTITION BY cpu ORDER BY start) FROM SCHED_EVENTS")
    want = sorted(("thread 1", start, next_ - start, cpu) for cpu, start, is_in, next_ in switches if is_in and next_ is not None)
    assert want and ours(path, "cpu_sched", PID) == want


def test_metrics(files):
    path, db = files
    want = theirs(db, "SELECT coalesce((SELECT metricName FROM TARGET_INFO_GPU_METRICS t WHERE t.metricId = m.metricId), '<metric ' || metricId || '>'),"
                      " timestamp, 0, 0 FROM GPU_METRICS m WHERE ?1 < ?2", PID)
    assert want and ours(path, "gpu_metric", PID) == want


def test_memory(files, tmp_path):
    path, db = files
    total, want = 0, []
    for start, bytes_, freed, kind in db.execute("SELECT start, bytes, memoryOperationType, memKind FROM CUDA_GPU_MEMORY_USAGE_EVENTS ORDER BY rowid"):
        change = -bytes_ if freed == 1 else bytes_
        total += change if kind == 2 else 0
        want.append((start, change, total if kind == 2 else None))
    got = [(e["ts"], e["args"]["Bytes"], e["args"].get("Total Allocated")) for e in written(path, PID, tmp_path) if e.get("name") == "[memory]"]
    assert got == [(start / 1000, change, total) for start, change, total in want]


def test_args_of_mpi(files, tmp_path):
    path, db = files
    events = [e for e in written(path, OTHER, tmp_path) if e.get("cat") == "library_call"]
    rows = db.execute("SELECT start, commHandle, remoteRank, size, tag FROM MPI_P2P_EVENTS WHERE globalTid >> 24 = ?", (gpid(OTHER) >> 24,)).fetchall()
    assert rows
    for start, *cells in rows:
        want = dict(zip(("communicator", "peer rank", "bytes", "tag"), cells))
        assert any(e["ts"] == start / 1000 and want == e["args"] for e in events), want
