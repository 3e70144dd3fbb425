#!/usr/bin/python3
"""Make the seed corpora from the bundled traces and the cases.

    tests/fuzz/make_seeds.py        rewrites tests/fuzz/corpus/<target>/seed-*

Seeds are small: the inline traces of the cases, and a few events of each (phase, category) of the real
traces under a shortened header. Files that do not start with "seed-" (kept findings) stay.
"""
import gzip
import hashlib
import json
import pathlib
import random
import subprocess
import sys
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
    write_execution_traces()
    random.seed(3)
    write("cache", [b"\0" + random.randbytes(5 * n) for n in (1, 2, 5, 20)]
          + [b"\0" + bytes([at, 0, 0, 0, 255]) for at in range(0, 64, 7)] + [b"\1", b"\1" + bytes(64)]
          + [b"\2" + random.randbytes(5 * n) for n in (1, 2, 3)]
          + [b"\2" + at.to_bytes(4, "little") + b"\xff" for at in range(80, 2000, 97)])


if __name__ == "__main__":
    main()
