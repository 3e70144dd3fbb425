#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An export of Nsight Systems as large as asked: make_nsys.py FILE [RANGES [KERNELS]] (10,400,000 and 1,100,000).

Ranges are nested operators as emit_nvtx names them, some with shapes; launches and kernels are spread over them. Time and memory of
reading it:  /usr/bin/time -v build/holotrace info FILE --no-cache --jobs 1
"""
import os
import sqlite3
import sys

NVTX = """start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, text TEXT,
globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL,
uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT"""
CALLS = """start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,
nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER"""
KERNELS = ["start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid", "demangledName",
           "shortName", "mangledName", "launchType", "cacheConfig", "registersPerThread", "gridX", "gridY", "gridZ", "blockX",
           "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread", "localMemoryTotal", "gridId",
           "sharedMemoryExecuted", "graphNodeId", "sharedMemoryLimitConfig", "qmdBulkReleaseDone", "qmdPreexitDone",
           "qmdLastCtaDone", "graphId", "clusterX", "clusterY", "clusterZ", "clusterSchedulingPolicy", "maxPotentialClusterSize",
           "maxActiveClusters", "sharedMemoryRequestedPercentage", "tensorSizeMinusOneElements"]
NAMES = ["aten::linear", "aten::addmm", "aten::copy_", "aten::mul", "aten::add", "aten::empty_strided", "aten::view", "aten::to"]
PID = (1 << 48) + (4000 << 24)
TID = PID + 4000
STEP = 1000  # ns from one range to the next


def ranges(n):
    """Groups of four: an operator with three inside."""
    for i in range(n):
        inner = i % 4
        name = NAMES[(i // 4 * 3 + inner) % len(NAMES)]
        start = 1_000_000 + i * STEP
        end = start + (4 * STEP - 100 if inner == 0 else STEP - 200)
        text = f"{name}, seq = {i // 4}, op_id = {i}"
        if inner == 1:
            text += f", sizes = [[{i % 7 * 512 + 512}], [4680, 3072], [3072, {i % 5 * 1024 + 1024}], [], []]"
        yield start, end, 59, None, None, None, text, TID, None, None, 0, *[None] * 9


def spread(n_ranges, n_kernels):
    """The range that each kernel is launched in."""
    return (i * n_ranges // n_kernels for i in range(n_kernels))


def calls(n_ranges, n_kernels):
    for i, at in enumerate(spread(n_ranges, n_kernels)):
        start = 1_000_000 + at * STEP + 100
        yield start, start + 300, 0, TID, i + 1, 1, 0, None


def kernels(n_ranges, n_kernels):
    for i, at in enumerate(spread(n_ranges, n_kernels)):
        start = 1_005_000 + at * STEP
        yield (start, start + 3000 + i % 977, 0, 1, 0, 7, i + 1, PID, 2 + i % 40, 2 + i % 40, 2 + i % 40, 1, 1, 32, i % 900 + 1, 1, 1,
               128, 1, 1, 0, 1024, 0, 250871808, i, 32768, None, 0, None, None, None, None, 0, 0, 0, 1, 0, 0, None, "[]")


def main():
    path = sys.argv[1]
    n_ranges = int(sys.argv[2]) if len(sys.argv) > 2 else 10_400_000
    n_kernels = int(sys.argv[3]) if len(sys.argv) > 3 else 1_100_000
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("BEGIN")
    db.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    db.execute("INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000')")
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", ((2 + i, f"void kernel_{i}<float, {i}>(float const *, float *)") for i in range(40)))
    db.execute("CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT)")
    db.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.2.1.210')")
    db.execute(f"CREATE TABLE NVTX_EVENTS ({NVTX})")
    db.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME ({CALLS})")
    db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (%s)" % ", ".join(KERNELS))
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (%s)" % ",".join("?" * 20), ranges(n_ranges))
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?, ?, ?, ?)", calls(n_ranges, n_kernels))
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (%s)" % ",".join("?" * 40), kernels(n_ranges, n_kernels))
    db.execute("COMMIT")
    db.close()
    print(f"{path}: {os.path.getsize(path):,} bytes, {n_ranges:,} ranges, {n_kernels:,} kernels")


if __name__ == "__main__":
    main()
