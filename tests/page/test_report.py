# SPDX-License-Identifier: Apache-2.0
"""The report as one page: what is in the file, and what Chromium makes of it."""
import json
import pathlib
import re

import pytest

import planted
import support
from web import drive, has_page, needs_browser

EXAMPLES = support.ROOT / "examples"
SCREENSHOTS = pathlib.Path(support.EXE).parent / "screenshots"
MAX_BYTES = 5 << 20
HOSTILE = "</script><script>globalThis.hacked = 1</script><img src=x onerror='globalThis.hacked = 2'><!--"

needs_page = pytest.mark.skipif(not has_page(), reason="skipped: built without the page")


def data_of(page):
    """The JSON of the page, found as a browser finds it: up to the first end of a script."""
    text = page.decode() if isinstance(page, bytes) else page
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def table(*args):
    return json.loads(support.output(*args, "--format", "json", cwd=support.ROOT))


@needs_page
@pytest.mark.parametrize("run", ["cpu", "ddp", "graph", "straggler", "train"])
def test_the_file_is_whole_and_small(run):
    page = support.output("report", EXAMPLES / run, "--format", "html")
    assert len(page) < MAX_BYTES
    text = page.decode()
    assert text.count("<script") == 2 and "<link" not in text and re.search(r"(src|href)=\"http", text) is None
    assert "script-src 'sha256-" in text and "default-src 'none'" in text
    data = data_of(page)
    shown = {section["name"] for section in data["sections"]} | set(data["empty"])
    plain = support.output("report", EXAMPLES / run).decode()
    assert shown >= set(re.findall(r" · holotrace ([a-z-]+)$", plain, re.M))


@needs_page
def test_numbers_are_those_of_the_analyses():
    data = data_of(support.output("report", EXAMPLES / "straggler", "--format", "html"))
    for section in data["sections"]:
        whole = table(section["name"], EXAMPLES / "straggler")
        mine = section["table"]
        assert [c["name"] for c in mine["columns"]] == [c["name"] for c in whole["columns"]]
        if section["name"] == "info":
            continue  # its overview leaves rows out
        assert len(mine["rows"]) + mine["hidden"] == len(whole["rows"]), section["name"]
        if mine["hidden"] == 0:
            assert mine["rows"] == whole["rows"], section["name"]


@needs_page
def test_long_tables_keep_what_costs_most():
    data = data_of(support.output("report", EXAMPLES / "straggler", "--format", "html", "--top", "5"))
    for section in data["sections"]:
        mine = section["table"]
        if mine["hidden"] == 0 or not mine["bar"]:
            continue
        at = [c["name"] for c in mine["columns"]].index(mine["bar"])
        whole = table(section["name"], EXAMPLES / "straggler")
        largest = sorted((row[at] for row in whole["rows"] if row[at] is not None), reverse=True)[:len(mine["rows"])]
        assert [row[at] for row in mine["rows"]] == largest, section["name"]


@needs_page
def test_curves_keep_their_peaks():
    """A thinned curve has points of the analysis only, its first, last, least and most among them."""
    data = data_of(support.output("report", EXAMPLES / "straggler", "--format", "html"))
    queue = data["extras"]["queue-length"]
    assert 0 < queue["series"] <= 6 and queue["of"] >= queue["series"]
    whole = table("queue-length", "--view", "series", EXAMPLES / "straggler")
    names = [c["name"] for c in whole["columns"]]
    of, at, length = [names.index(n) for n in ("rank", "device", "stream")], names.index("ts_ns"), names.index("queue_length")
    assert [c["name"] for c in queue["table"]["columns"]] == names
    curves, drawn = {}, {}
    for row in whole["rows"]:
        curves.setdefault(tuple(row[i] for i in of), []).append(row)
    for row in queue["table"]["rows"]:
        drawn.setdefault(tuple(row[i] for i in of), []).append(row)
    assert len(drawn) == queue["series"] and len(curves) == queue["of"]
    peaks = sorted((max(row[length] for row in rows) for rows in curves.values()), reverse=True)
    for key, rows in drawn.items():
        everything = {tuple(row) for row in curves[key]}
        assert all(tuple(row) in everything for row in rows)
        assert rows[0] == curves[key][0] and rows[-1] == curves[key][-1]
        assert {min(r[length] for r in rows), max(r[length] for r in rows)} == \
            {min(r[length] for r in curves[key]), max(r[length] for r in curves[key])}
        assert max(r[length] for r in rows) >= peaks[queue["series"] - 1]
        assert [r[at] for r in rows] == sorted(r[at] for r in rows) and len(rows) <= 3 * 500 + 3


@needs_page
def test_timeline_is_the_busiest_step():
    data = data_of(support.output("report", EXAMPLES / "straggler", "--format", "html"))
    steps = table("steps", EXAMPLES / "straggler")
    names = [c["name"] for c in steps["columns"]]
    work = [names.index(n) for n in ("kernel_ns", "memcpy_ns", "memset_ns", "exposed_ns")]
    busiest = max(steps["rows"], key=lambda row: sum(row[i] for i in work))
    timeline = data["timeline"]
    assert (timeline["rank"], timeline["step"]) == (busiest[names.index("rank")], busiest[names.index("step")])
    assert timeline["busy_ns"] == sum(busiest[i] for i in work)
    assert [rank["rank"] for rank in timeline["ranks"]] == [0, 1, 2, 3]
    for rank in timeline["ranks"]:
        for track in rank["tracks"]:
            for lane, start, length, name, n, wait, cls in track["spans"]:
                assert start < timeline["length_ns"] and start + length >= 0 and n >= 1
                assert 0 <= wait <= length and name < len(rank["names"])


@needs_page
def test_a_run_to_compare_with():
    test, control = EXAMPLES / "diff" / "test", EXAMPLES / "diff" / "control"
    data = data_of(support.output("report", test, "--base", control, "--format", "html"))
    whole = table("diff", control, test, "--view", "summary")
    assert data["extras"]["diff.summary"]["table"]["rows"] == whole["rows"]
    assert "diff" in {section["name"] for section in data["sections"]}
    assert "holotrace diff" in support.output("report", test, "--base", control).decode()
    assert "diff" not in {s["name"] for s in data_of(support.output("report", test, "--format", "html"))["sections"]}


@pytest.fixture
def hostile(tmp_path):
    """Names that end scripts and comments, and one of a megabyte."""
    events, at = [], 0
    names = [HOSTILE, "<!--<script>", "]]>", "\u2028\u2029", "x" * (1 << 20), "void <b>k</b><4, a::<i>F</i>>(int)"]
    for i in range(60):
        name = names[i % len(names)]
        events += [
            {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 10, "args": {"External id": i}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 1, "dur": 2,
             "args": {"correlation": i, "External id": i}},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 5, "dur": 6,
             "args": {"correlation": i, "stream": 7, "device": 0, "External id": i}},
        ]
        at += 20
    events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": HOSTILE}})
    events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": i * 600, "dur": 599}
               for i in range(2)]
    path = tmp_path / f"{HOSTILE[:9].replace('/', '_')}.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


@needs_page
def test_hostile_names_stay_in_their_quotes(hostile):
    page = support.output("report", hostile, "--format", "html")
    assert len(page) < MAX_BYTES
    data = data_of(page)
    names = {row[0] for section in data["sections"] if section["name"] == "kernels" for row in section["table"]["rows"]}
    assert HOSTILE in names
    body = page.decode().split("</head>")[1]
    assert body.count("<script") == 2 and body.count("</script>") == 2 and "<img" not in body and "<!--" not in body


@needs_page
@needs_browser
def test_hostile_names_in_a_browser(hostile, tmp_path):
    path = tmp_path / "report.html"
    support.output("report", hostile, "-o", path)
    drive("hostile.mjs", path.as_uri(), HOSTILE)


@needs_page
@needs_browser
def test_the_page(tmp_path):
    path, expected = tmp_path / "report.html", tmp_path / "expected.json"
    SCREENSHOTS.mkdir(exist_ok=True)
    support.output("report", "examples/straggler", "-o", path, cwd=support.ROOT)
    verbs = ["summary", "kernels", "operators", "steps", "temporal-breakdown", "collectives", "launch-stats", "stragglers"]
    expected.write_text(json.dumps({verb: table(verb, "examples/straggler") for verb in verbs}))
    drive("report.mjs", path.as_uri(), expected, SCREENSHOTS / "report")


@needs_page
@needs_browser
def test_what_changed_comes_first(tmp_path):
    """With a base the page begins with the cause of the change, in the words of diff, and its causes."""
    before, after, path = planted.write(tmp_path / "before", {}), planted.write(tmp_path / "after", {3: 30000.0}, seed=2), tmp_path / "report.html"
    support.output("report", after, "--base", before, "-o", path)
    findings = table("diff", before, after, "--view", "summary")["findings"]
    said = next(one["sentence"] for one in findings if one["kind"] == "step-change")
    drive("report_base.mjs", path.as_uri(), said[0].upper() + said[1:])


@needs_page
@needs_browser
@pytest.mark.parametrize("run", ["cpu", "train", "ddp"])
def test_every_run_is_drawn(tmp_path, run):
    path = tmp_path / "report.html"
    SCREENSHOTS.mkdir(exist_ok=True)
    support.output("report", EXAMPLES / run, "-o", path)
    assert drive("shoot.mjs", path.as_uri(), SCREENSHOTS / f"report-{run}", "1400", "light") == ""
