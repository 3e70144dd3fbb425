# SPDX-License-Identifier: Apache-2.0
"""The page when there is nothing to show, when files are broken or go away, and when names are hostile."""
import gzip
import json
import shutil

import served
import support
from web import needs_browser

EXAMPLES = support.ROOT / "examples"
CPU = EXAMPLES / "cpu" / "cpu.json.gz"

pytestmark = [needs_browser, served.needs_serve]


def drive(scenario, root, n_runs, *args):
    with served.serving(root) as url:
        if n_runs:
            served.wait_ready(url, n_runs)
        served.drive("errors.mjs", scenario, url, root, *args)


def put(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def test_empty_directory_then_a_run_appears(tmp_path):
    drive("empty", tmp_path, 0, CPU)


def test_broken_file(tmp_path):
    put(CPU, tmp_path / "good" / "cpu.json.gz")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "worker.pt.trace.json.gz").write_bytes(b"\x1f\x8b\x08 this is no trace" * 20)
    drive("broken", tmp_path, 2)


def put_ranks(directory):
    """Four ranks, named as PyTorch names them: what is called so is a trace, whatever is in it."""
    for rank in range(4):
        put(EXAMPLES / "straggler" / f"straggler_rank{rank}.json.gz", directory / f"straggler_rank{rank}.pt.trace.json.gz")
    return directory / "straggler_rank1.pt.trace.json.gz"


def test_one_of_four_ranks_is_broken(tmp_path):
    put_ranks(tmp_path / "ranks").write_bytes(b"no gzip and no JSON")
    drive("partial", tmp_path, 1)


def test_one_of_four_ranks_is_cut_off(tmp_path):
    path = put_ranks(tmp_path / "ranks")
    path.write_bytes(path.read_bytes()[:30000])
    drive("cut", tmp_path, 1)


def without_step(path, name):
    """The trace without what begins inside the step of that name."""
    trace = json.loads(gzip.decompress(path.read_bytes()))
    step = next(e for e in trace["traceEvents"] if e.get("name") == name and e["cat"] == "user_annotation")
    start, end = step["ts"], step["ts"] + step["dur"]
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("ph") != "X" or not start <= e["ts"] <= end]
    path.write_bytes(gzip.compress(json.dumps(trace).encode(), 1))


def test_what_is_missing_is_named(tmp_path):
    """Lost data, a step that one rank or all of them lack and a rank that are not there, a file that cannot be read; and a run that has everything."""
    paths = {name: put_ranks(tmp_path / name) for name in ("whole", "cut", "nostep", "hole", "norank", "unread")}
    paths["cut"].write_bytes(paths["cut"].read_bytes()[:30000])
    without_step(paths["nostep"], "ProfilerStep#4")
    for path in sorted((tmp_path / "hole").iterdir()):
        without_step(path, "ProfilerStep#4")
    (tmp_path / "norank" / "straggler_rank2.pt.trace.json.gz").unlink()
    paths["unread"].write_bytes(b"no gzip and no JSON")
    drive("incomplete", tmp_path, 6)


def test_run_is_deleted_while_open(tmp_path):
    put(EXAMPLES / "train" / "train.json.gz", tmp_path / "gone" / "train.json.gz")
    put(EXAMPLES / "train" / "train.json.gz", tmp_path / "stays" / "train.json.gz")
    drive("deleted", tmp_path, 2)


def test_no_gpu_events(tmp_path):
    put(CPU, tmp_path / "cpu" / "cpu.json.gz")
    drive("nogpu", tmp_path, 1)


def test_spans_of_a_worker(tmp_path):
    for stamp, side in ((100, "control"), (200, "test")):
        put(EXAMPLES / "diff" / side / f"{side}.json.gz", tmp_path / "twice" / f"worker.{stamp}.pt.trace.json.gz")
    drive("spans", tmp_path, 1)


NAMES = ["<script>window.hit=1</script>", '"><img src=x onerror=window.hit=1>', "</td></tr></table><iframe src=javascript:window.hit=1>",
         "\u202egnp.exe", "a" * (1 << 20), "${window.hit=1}", "{{constructor.constructor('window.hit=1')()}}", "nl\nand\ttab", "'; DROP TABLE events; --"]


def hostile_trace():
    """Operators, annotations, launches, kernels and steps that are called like markup."""
    events, at = [], 1000
    base = {"ph": "X", "pid": 1, "tid": 1}
    for step in range(3):
        start = at
        for i, name in enumerate(NAMES * 2):
            corr = step * 100 + i + 1
            events += [
                dict(base, cat="user_annotation", name=name, ts=at, dur=90),
                dict(base, cat="cpu_op", name=name, ts=at + 5, dur=80, args={"External id": corr, "Input Dims": [[1, name[:100]]]}),
                dict(base, cat="cuda_runtime", name="cudaLaunchKernel", ts=at + 10, dur=10, args={"correlation": corr, "External id": corr}),
                dict(base, cat="kernel", name=name, pid=0, tid=7, ts=at + 30, dur=40,
                     args={"correlation": corr, "stream": 7, "device": 0, "External id": corr}),
            ]
            at += 100
        events.append(dict(base, cat="user_annotation", name=f"ProfilerStep#{step}", ts=start - 2, dur=at - start + 1))
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": NAMES[1]}], "traceEvents": events}


def test_hostile_names(tmp_path):
    (tmp_path / "hostile").mkdir()
    (tmp_path / "hostile" / "worker.json").write_text(json.dumps(hostile_trace()))
    drive("hostile", tmp_path, 1)


def test_server_goes_away_and_comes_back(tmp_path):
    put(EXAMPLES / "train" / "train.json.gz", tmp_path / "train" / "train.json.gz")
    served.drive("away.mjs", support.EXE, tmp_path, served.free_port(), "train")
