# SPDX-License-Identifier: Apache-2.0
"""Exports of Nsight Systems, made as its exporter makes them: tables that are empty are not there."""
import sqlite3

HOST = 1 << 48


def gpid(pid):
    return HOST + (pid << 24)


def gtid(pid, tid):
    return gpid(pid) + tid


KERNEL = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "demangledName", "shortName",
          "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory",
          "dynamicSharedMemory", "graphNodeId")
COLUMNS = {
    "StringIds": ("id", "value"),
    "CUPTI_ACTIVITY_KIND_KERNEL": KERNEL,
    "CUPTI_ACTIVITY_KIND_MEMCPY": ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes",
                                   "copyKind", "srcKind", "dstKind"),
    "CUPTI_ACTIVITY_KIND_MEMSET": ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "value", "bytes",
                                   "memKind"),
    "CUPTI_ACTIVITY_KIND_RUNTIME": ("start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue"),
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": ("start", "end", "deviceId", "streamId", "correlationId", "globalPid",
                                            "syncType", "eventId", "eventSyncId"),
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": ("timestamp", "deviceId", "streamId", "correlationId", "globalPid", "eventId",
                                       "eventSyncId"),
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId",
                                        "graphExecId"),
    "NVTX_EVENTS": ("start", "end", "eventType", "text", "textId", "globalTid", "domainId", "rangeId", "endGlobalTid",
                    "category", "int64Value", "jsonText", "binaryData"),
    "NVTX_PAYLOAD_SCHEMAS": ("domainId", "schemaId", "name", "type", "flags", "numEntries", "payloadSize", "alignTo"),
    "NVTX_PAYLOAD_SCHEMA_ENTRIES": ("domainId", "schemaId", "idx", "flags", "type", "name", "description",
                                    "arrayOrUnionDetail", "offset"),
    "NVTX_PAYLOAD_ENUM_ENTRIES": ("domainId", "schemaId", "idx", "name", "value", "isFlag"),
    "ENUM_NSYS_EVENT_TYPE": ("id", "name", "label"),
    "ENUM_CUDA_MEMCPY_OPER": ("id", "name", "label"),
    "ENUM_CUDA_MEM_KIND": ("id", "name", "label"),
    "OSRT_API": ("start", "end", "globalTid", "nameId", "returnValue", "nestingLevel"),
    "CUBLAS_EVENTS": ("start", "end", "globalTid", "nameId"),
    "DIAGNOSTIC_EVENT": ("timestamp", "severity", "text"),
    "COMPOSITE_EVENTS": ("id", "start", "cpu", "cpuCycles", "globalTid"),
    "SAMPLING_CALLCHAINS": ("id", "symbol", "stackDepth"),
    "SCHED_EVENTS": ("start", "cpu", "isSchedIn", "globalTid"),
    "GPU_METRICS": ("timestamp", "typeId", "metricId", "value"),
    "TARGET_INFO_GPU_METRICS": ("metricId", "metricName"),
    "CUDA_GPU_MEMORY_USAGE_EVENTS": ("start", "globalTid", "address", "bytes", "memoryOperationType", "memKind", "deviceId"),
    "CUDA_GRAPH_NODE_EVENTS": ("start", "end", "globalTid", "nameId", "graphNodeId", "originalGraphNodeId"),
    "META_DATA_EXPORT": ("name", "value"),
    "META_DATA_CAPTURE": ("name", "value"),
    "TARGET_INFO_SESSION_START_TIME": ("utcEpochNs",),
    "ANALYSIS_DETAILS": ("duration",),
    "TARGET_INFO_GPU": ("id", "name", "smCount", "totalMemory"),
    "PROCESSES": ("globalPid", "pid", "name"),
    "ThreadNames": ("globalTid", "nameId"),
}


class Export:
    """Rows by table, columns by name; texts get their numbers."""

    def __init__(self):
        self.rows = {"StringIds": []}
        self.ids = {}
        self.row("META_DATA_EXPORT", name="EXPORT_PRODUCT_NAME", value="NVIDIA Nsight Systems")
        self.row("META_DATA_EXPORT", name="EXPORT_PRODUCT_VERSION", value="2026.2.1.210")
        self.row("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value="3.25.0")

    def string(self, text):
        if text not in self.ids:
            self.ids[text] = len(self.ids) + 1
            self.row("StringIds", id=self.ids[text], value=text)
        return self.ids[text]

    def row(self, table, **cells):
        self.rows.setdefault(table, []).append(cells)

    def kernel(self, start, end, correlation, name="k", pid=7, device=0, stream=7, **more):
        cells = dict(gridX=4, gridY=1, gridZ=1, blockX=256, blockY=1, blockZ=1, registersPerThread=16, staticSharedMemory=8,
                     dynamicSharedMemory=16)
        cells.update(more)
        self.row("CUPTI_ACTIVITY_KIND_KERNEL", start=start, end=end, deviceId=device, contextId=1, streamId=stream,
                 correlationId=correlation, globalPid=gpid(pid), demangledName=self.string(name),
                 shortName=self.string(name), **cells)

    def call(self, start, end, correlation, name="cudaLaunchKernel_v7000", pid=7, tid=7, **more):
        self.row("CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=end, eventClass=more.pop("eventClass", 0),
                 globalTid=gtid(pid, tid), correlationId=correlation, nameId=self.string(name), **more)

    def nvtx(self, start, end, text, type_=59, pid=7, tid=7, domain=0, **more):
        self.row("NVTX_EVENTS", start=start, end=end, eventType=type_, text=text, globalTid=gtid(pid, tid),
                 domainId=domain, **more)

    def schema(self, domain, schema, n_bytes, *fields):
        """Fields: (type, name, offset)."""
        self.row("NVTX_PAYLOAD_SCHEMAS", domainId=domain, schemaId=schema, type=1, numEntries=len(fields), payloadSize=n_bytes)
        for i, (type_, name, offset) in enumerate(fields):
            self.row("NVTX_PAYLOAD_SCHEMA_ENTRIES", domainId=domain, schemaId=schema, idx=i, type=type_, name=name, offset=offset)

    def write(self, path, without=(), ending=None):
        """without: columns ("TABLE.column") that the version does not have."""
        db = sqlite3.connect(path)
        for table, rows in self.rows.items():
            columns = [c for c in COLUMNS[table] if table + "." + c not in without]
            kind = {"id": "INTEGER PRIMARY KEY" if table == "StringIds" else "INTEGER"}
            db.execute("CREATE TABLE %s (%s)" % (table, ", ".join('"%s" %s' % (c, kind.get(c, "")) for c in columns)))
            db.executemany("INSERT INTO %s VALUES (%s)" % (table, ",".join("?" * len(columns))),
                           [[row.get(c) for c in columns] for row in rows])
        if ending:
            db.executescript(ending)
        db.commit()
        db.close()
        return str(path)
