# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots on the page and in the report, in Chromium, against the command line's numbers."""
import json
import shutil
import subprocess
import sys
import urllib.parse

import pytest

import served
import support
from web import needs_browser

pytestmark = [pytest.mark.long, needs_browser, served.needs_serve]

DATA = support.ROOT / "tests" / "snapshot" / "data" / "plain"
RANKS = ("leak", "oom", "frag")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("snapshots")
    (root / "run").mkdir()
    for rank, name in enumerate(RANKS):
        shutil.copy(DATA / f"{name}.pickle.gz", root / "run" / f"rank{rank}.pickle.gz")
    return root


def rows_of(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def wanted_of(root, run):
    def asked(view, *options):
        return served.table("memory-snapshot", root / "run", "--view", view, *options)

    here = f"#/{urllib.parse.quote(run, safe='')}/memory?"
    timeline = [row for row in rows_of(asked("timeline", "--points", "1000", "--bands", "8", "--rank", "1"))]
    pick = next(row["key"] for row in timeline if row["key"].startswith("wave3"))
    most = max(row["allocated_bytes"] for row in rows_of(asked("events", "--rank", "1", "--range", "400:900")))
    event = "300"
    where = f'key == "{pick}" and device == 0 and state == "active_allocated"'
    return {"at": here + "snapshot=1.0", "findings": [[one["sentence"], one["next"]["args"]["view"]] for one in asked("summary")["findings"]],
            "keys": sorted({row["key"] for row in timeline}), "pick": pick, "event": event,
            "picked": here + urllib.parse.urlencode({"snapshot": "1.0", "key": pick, "at": event}),
            "blocks": asked("blocks", "--rank", "1", "--at", event, "--where", where, "--sort", "-bytes"),
            "zoomed": here + urllib.parse.urlencode({"snapshot": "1.0", "over": "event", "range": "400:900"}),
            "zoomedMost": digits(most)}


def digits(number):
    """All of them, as tips have them: a thin space between thousands."""
    return f"{number:,}".replace(",", "\u2009")


def test_memory_view(folder, tmp_path):
    served.SCREENSHOTS.mkdir(exist_ok=True)
    with served.serving(folder) as url:
        run, = served.wait_ready(url)["runs"]
        wanted = tmp_path / "wanted.json"
        wanted.write_text(json.dumps(wanted_of(folder, run["id"])))
        served.drive("snapshot.mjs", url, wanted, *served.PICTURES)


def test_diff(tmp_path):
    """Two runs of snapshots: the lines that hold more or less, as the command line compares them."""
    for side, name in (("control", "clean"), ("test", "leak")):
        (tmp_path / "runs" / side).mkdir(parents=True)
        shutil.copy(DATA / f"{name}.pickle.gz", tmp_path / "runs" / side / "rank0.pickle.gz")
    served.SCREENSHOTS.mkdir(exist_ok=True)
    table = served.table("diff", tmp_path / "runs" / "control", tmp_path / "runs" / "test")
    said = table["findings"][0]["sentence"]
    with served.serving(tmp_path / "runs") as url:
        found = {run["name"]: run["id"] for run in served.wait_ready(url, 2)["runs"]}
        here = f"#/{urllib.parse.quote(found['test'], safe='')}/diff?base={urllib.parse.quote(found['control'], safe='')}"
        wanted = tmp_path / "wanted.json"
        wanted.write_text(json.dumps([{"at": here, "charts": 1, "name": "diff-memory", "heading": said[0].upper() + said[1:],
                                       "tables": [{"verb": "diff", "wanted": table}]},
                                      {"at": here + "&measure=end", "charts": 1, "tables": [{"verb": "diff", "wanted": table}]}]))
        served.drive("views.mjs", url, wanted, *served.PICTURES)


@(pytest.mark.alone if support.LONG else pytest.mark.usefixtures())  # which measures frames
def test_large(tmp_path):
    """What is sent for a picture does not grow with the file; of 1 GB the timeline is there in two seconds, at 50 frames/s."""
    (tmp_path / "run").mkdir()
    subprocess.run([sys.executable, support.ROOT / "bench" / "make_snapshot.py", "1000" if support.LONG else "20",
                    tmp_path / "run" / "rank0.pickle", "8"], check=True)
    with served.serving(tmp_path) as url:
        run, = served.wait_ready(url)["runs"]
        said = json.loads(served.drive("snapshot_large.mjs", url, f"#/{urllib.parse.quote(run['id'], safe='')}/memory"))
    assert said["errors"] == [] and said["n"] == 9, said
    sent = {urllib.parse.parse_qs(one["name"][1:]).get("view", ["summary"])[0]: one["bytes"] for one in said["sent"]}
    assert {"summary", "timeline", "map", "peak"} <= set(sent) and max(sent.values()) < 1_500_000, sent
    if support.LONG:
        assert said["shown"] <= 2000 and said["perSecond"] >= 50, said


def test_report(folder, tmp_path):
    page = tmp_path / "report.html"
    support.output("report", folder / "run", "-o", page)
    timeline = rows_of(served.table("memory-snapshot", folder / "run", "--view", "fullest"))
    assert {row["rank"] for row in timeline} == {RANKS.index("oom")}
    peak = next(note for note in served.table("memory-snapshot", folder / "run")["notes"] if "allocated at the peak" in note)
    served.drive("snapshot_report.mjs", page, "Live memory of rank", json.dumps(sorted({row["key"] for row in timeline})), peak)


def test_report_of_a_trace(tmp_path):
    """Without a snapshot the profiler's [memory] events have the same picture, by operator."""
    page, trace = tmp_path / "report.html", support.ROOT / "examples" / "train"
    support.output("report", trace, "-o", page)
    table = served.table("memory-curve", trace, "--view", "fullest")
    bands = rows_of(table)
    curve = rows_of(served.table("memory-curve", trace, "--view", "peaks"))
    gpu = next(row for row in curve if row["device"] == "cuda:0")
    assert {(row["rank"], row["device"]) for row in bands} == {(0, "cuda:0")}
    at_peak = [row for row in bands if row["index"] == gpu["allocated_index"]]
    assert sum(row["bytes"] for row in at_peak) == gpu["allocated_bytes"] and len({row["index"] for row in bands}) <= 500
    note, = table["notes"]
    first = max(at_peak, key=lambda row: row["bytes"])
    named = "from before the recording" if first["operator"] == "(not in the recording)" else first["operator"]
    assert f'{named} {100 * first["bytes"] / gpu["allocated_bytes"]:.0f}' in note
    served.drive("snapshot_report.mjs", page, "by operator", json.dumps(sorted({row["operator"] for row in bands})), note)


def test_a_run_without_snapshots_has_no_section(tmp_path):
    page = tmp_path / "report.html"
    support.output("report", support.ROOT / "examples" / "train", "-o", page)
    data = json.loads(page.read_text().split('id="data">', 1)[1].split("</script>", 1)[0])
    assert "memory-snapshot" not in {section["name"] for section in data["sections"]}
