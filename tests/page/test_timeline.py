# SPDX-License-Identifier: Apache-2.0
"""The trace view in Chromium on bundled traces: search, links and arrows, clicks, keys, selection, state in the URL. What
is right is what the command line says: events with their times, launches and classes.

With HOLOTRACE_EXTRA_DATA a sample of an Ascend profiler below it is looked at too.
"""
import json
import os
import pathlib
import shutil
import urllib.parse

import pytest

import served
import support
from test_errors import NAMES, hostile_trace
from web import has_page, needs_browser

pytestmark = [needs_browser, pytest.mark.skipif(not has_page(), reason="skipped: built without the page")]

COLUMNS = "id,index,name,time_ns,span_ns,kind,class,launch,parent,pid,tid,stream,device,thread_name"


def events(path, *args):
    """All spans of the run, as dictionaries, in order of time."""
    table = served.table("events", path, "--columns", COLUMNS, "--where", "span_ns >= 0", *args)
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row)) for row in table["rows"]]
    return sorted(rows, key=lambda e: (e["time_ns"], *map(int, e["id"].split(":"))))


def depth(by_index, kernel):
    """Spans around the kernel's launch, and the launch."""
    at, n = kernel["launch"], 0
    while at is not None:
        n += 1
        at = by_index[at]["parent"]
    return n


def facts_of(path, word):
    all_events = events(path)
    first = [e for e in all_events if e["id"].startswith("0:")]
    by_index = {e["index"]: e for e in first}
    matches = [e for e in all_events if word in e["name"].lower()]
    assert len(matches) > 3
    # on the thread with the steps, so that the call stack is that of one thread
    steps = [e for e in first if e["name"].startswith("ProfilerStep#") and e["kind"] == "annotation"]
    thread = steps[0]["tid"]
    kernel = max((e for e in first if e["class"] == "compute" and e["kind"] == "kernel" and e["launch"] is not None
                  and by_index[e["launch"]]["tid"] == thread), key=lambda e: e["span_ns"])
    same_track = [e for e in first if (e["pid"], e["tid"]) == (kernel["pid"], kernel["tid"])]
    lane = sum(1 for e in same_track if e is not kernel and e["time_ns"] <= kernel["time_ns"]
               and e["time_ns"] + e["span_ns"] > kernel["time_ns"])
    return all_events, {
        "to_ns": max(e["time_ns"] + e["span_ns"] for e in all_events),
        "search": word,
        "matches": [{"id": e["id"], "start_ns": e["time_ns"], "end_ns": e["time_ns"] + e["span_ns"]} for e in matches],
        "steps": [[e["time_ns"], e["time_ns"] + e["span_ns"]] for e in steps],
        "kernel": {"id": kernel["id"], "start_ns": kernel["time_ns"], "dur_ns": kernel["span_ns"], "lane": lane,
                   "launch": f"0:{kernel['launch']}", "depth": depth(by_index, kernel), "short": kernel["name"][:10],
                   "label": f"GPU {kernel['device']} · {kernel['thread_name'].strip()}",
                   "args": [["correlation", str(cell("correlation", path, kernel))]],
                   "tid": kernel["tid"], "pid": kernel["pid"]},
    }


def cell(name, path, event):
    table = served.table("events", path, "--rank", "0", "--columns", f"index,args.{name}", "--where", f"index = {event['index']}")
    return table["rows"][0][1]


def clipped(event, start, end):
    return max(0, min(event["time_ns"] + event["span_ns"], end) - max(event["time_ns"], start))


def number(text):
    return int("".join(c for c in text if c.isdigit() or c == "-"))


def check_sums(said, all_events, kernel):
    """The sums of the panel against the events of the stream, cut to the selection."""
    on_track = [e for e in all_events if e["id"].startswith("0:") and (e["pid"], e["tid"]) == (kernel["pid"], kernel["tid"])]
    start, end, slack = said["from"], said["to"], said["pixel"]
    inside = [e for e in on_track if e["time_ns"] < end and e["time_ns"] + e["span_ns"] > start]
    assert inside
    for row in said["names"]:
        same = [e for e in inside if e["name"] == row["name"].split(" · go to")[0]]
        assert abs(sum(clipped(e, start, end) for e in same) - number(row["sum_ns"])) <= 2 * slack * max(1, len(same)), row
        assert abs(len(same) - number(row["n"])) <= 2, row
    classes = {row["class"]: row for row in said["classes"]}
    compute = [e for e in inside if e["class"] == "compute"]
    assert abs(sum(clipped(e, start, end) for e in compute) - number(classes["compute"]["busy_ns"])) <= 4 * slack
    work = [e for e in inside if e["class"]]
    idle = (end - start) - sum(clipped(e, start, end) for e in work)  # one stream: nothing overlaps
    assert abs(idle - number(classes["idle"]["busy_ns"])) <= 4 * slack


@pytest.mark.parametrize("name, word", [("train", "elementwise"), ("straggler", "allreduce")])
def test_timeline(tmp_path, name, word):
    shutil.copytree(support.ROOT / "examples" / name, tmp_path / name)
    all_events, facts = facts_of(tmp_path / name, word)
    facts["pictures"] = name == "straggler"
    served.SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with served.serving(tmp_path) as url:
        run = served.wait_ready(url)["runs"][0]["id"]
        said = json.loads(served.drive("timeline.mjs", url, run, json.dumps(facts), served.SCREENSHOTS).splitlines()[-1])
    check_sums(said, all_events, facts["kernel"])


def test_what_is_kept(tmp_path):
    for name in ("straggler", "train"):
        shutil.copytree(support.ROOT / "examples" / name, tmp_path / name)
    with served.serving(tmp_path) as url:
        ids = {run["name"]: run["id"] for run in served.wait_ready(url, 2)["runs"]}
        served.drive("keeps.mjs", url, ids["straggler"], ids["train"])


def test_counters(tmp_path):
    """Of the case of `counters`, whose numbers are worked out there."""
    text = (support.ROOT / "tests" / "cases" / "counters" / "series.test").read_text()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "trace.json").write_text(text.split("--- trace a.json")[1].split("--- run")[0])
    with served.serving(tmp_path) as url:
        served.drive("counters.mjs", url, served.wait_ready(url)["runs"][0]["id"])


def test_by_keyboard(tmp_path):
    """From event to event, to the panel and the table, without a pointer; in both themes, on a phone too."""
    shutil.copytree(support.ROOT / "examples" / "train", tmp_path / "train")
    with served.serving(tmp_path) as url:
        served.wait_ready(url)
        served.drive("walk.mjs", url, "train")


def test_gpu_use_and_many_counters(tmp_path):
    """Kernels [0,4) and [6,10) us and a copy [10,12) us, as in the case of gpu-use; 300 series of counters. One curve can be asked for by its name."""
    gpu = {"ph": "X", "pid": 0, "tid": 7, "args": {"device": 0, "stream": 7}}
    events = [dict(gpu, cat="kernel", name="gemm", ts=0, dur=4), dict(gpu, cat="kernel", name="gemm", ts=6, dur=4),
              dict(gpu, cat="gpu_memcpy", name="Memcpy DtoH (Device -> Pinned)", ts=10, dur=2),
              {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 12}]
    # 200 labels in the first picture
    events += [{"ph": "X", "cat": "user_annotation", "name": f"a{depth}", "pid": 1, "tid": 2, "ts": i * 0.6, "dur": 0.55}
               for i in range(20) for depth in range(10)]
    events += [{"ph": "C", "pid": 1, "name": f"c{i:03}", "ts": t, "args": {"value": i + t}} for i in range(300) for t in (1, 5)]
    (tmp_path / "runs" / "run").mkdir(parents=True)
    (tmp_path / "runs" / "run" / "trace.json").write_text(json.dumps({"traceEvents": events}))
    with served.serving(tmp_path / "runs") as url:
        served.wait_ready(url)
        asked = "runs/run/overlay?name=counters&rank=0&from=0&to=12000&points=100"
        every = served.get(url, asked)["series"]
        assert len(every) == 300
        one = served.get(url, asked + "&series=" + urllib.parse.quote(every[299]["name"]))["series"]
        assert one == [every[299]] and [point[3] for point in one[0]["points"]] == [300, 304]
        use = served.get(url, "runs/run/overlay?name=gpu-use&rank=0&from=0&to=12000&points=12")
        assert use["unit"] == "ratio" and use["series"][0]["range"]["max"] == 1 and use["series"][0]["range"]["min"] == 0
        served.drive("gpu_use.mjs", url)


def test_hostile_names(tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "trace.json").write_text(json.dumps(hostile_trace()))
    with served.serving(tmp_path) as url:
        run = served.wait_ready(url)["runs"][0]["id"]
        served.drive("timeline_names.mjs", url, run, json.dumps([n for n in NAMES if len(n) < 1000]))


def samples():
    root = os.environ.get("HOLOTRACE_EXTRA_DATA")
    return sorted(p.parent.parent for p in pathlib.Path(root).glob("**/ASCEND_PROFILER_OUTPUT/trace_view.json")) if root else []


@pytest.mark.skipif(not samples(), reason="skipped: no sample of an Ascend profiler in HOLOTRACE_EXTRA_DATA")
def test_layers_and_flows_of_an_npu(tmp_path):
    sample = samples()[0]
    shutil.copytree(sample, tmp_path / "run" / sample.name)
    served.SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with served.serving(tmp_path) as url:
        run = served.wait_ready(url)["runs"][0]["id"]
        served.drive("timeline_npu.mjs", url, run, served.SCREENSHOTS)
