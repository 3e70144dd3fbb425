# SPDX-License-Identifier: Apache-2.0
"""Every view of the page on the bundled traces, in Chromium: the numbers are the command line's, nothing is wider than
the page, and the console is silent. With HOLOTRACE_LONG pictures of both themes at two widths are kept in build/screenshots.

With HOLOTRACE_EXTRA_DATA the samples of an Ascend profiler below it are looked at too.
"""
import json
import os
import pathlib
import shutil
import subprocess
import urllib.parse

import pytest

import served
import support
from web import needs_browser

EXAMPLES = ["cpu", "ddp", "graph", "straggler", "train"]

pytestmark = [pytest.mark.long, needs_browser, served.needs_serve]

# What views show with options, of other runs, and besides the table of the one analysis that names them: view, run, options in the
# URL, tables (verb and options of the command line), charts at least. A view that is not here without options shows that table and a
# chart, and is looked at all the same.
CASES = [
    ("overview", "straggler", "", [("steps", "--view", "gpu")], 2),
    ("overview", "train", "", [("steps", "--view", "gpu")], 1),
    ("overview", "cpu", "", [], 1),
    ("operators", "train", "by=shape&sort=-calls", [("operators", "--by", "shape", "--sort", "-calls")], 1),
    ("kernels", "straggler", "", [("kernels",)], 2),
    ("kernels", "train", "by=properties", [("kernels", "--by", "properties")], 2),
    ("kernels", "straggler", "rank=2&step=3", [("kernels", "--rank", "2", "--step", "3")], 2),
    ("modules", "train", "as=table", [("modules",)], 1),
    ("modules", "train", "", [], 1),
    ("flame", "train", "time=device", [("stacks", "--time", "device")], 1),
    ("flame", "cpu", "", [("stacks",)], 1),
    ("memory", "train", "below=stats", [("memory-stats", "--rank", "0", "--where", 'device == "cuda:0"')], 1),
    ("memory", "train", "", [("memory-events", "--rank", "0", "--where", 'device == "cuda:0"', "--sort", "-size_bytes")], 1),
    ("memory", "train", "memory=operators&op=aten%3A%3Asum",
     [("memory-events", "--rank", "0", "--where", 'device == "cuda:0" and operator == "aten::sum"', "--sort", "-size_bytes")], 1),
    ("communication", "straggler", "", [("collectives",), ("distributed", "--view", "operations")], 3),
    ("communication", "straggler", "view=calls", [("collectives", "--view", "calls")], 1),
    ("distributed", "straggler", "", [("distributed", "--by", "rank")], 2),
    ("ranks", "straggler", "", [], 1),
    ("temporal", "straggler", "", [("temporal-breakdown",)], 2),
    ("temporal", "straggler", "by=step", [("temporal-breakdown", "--by", "step")], 1),
    ("idle", "straggler", "", [("idle-breakdown",), ("idle-intervals",)], 1),
    ("kernel-types", "straggler", "", [("kernel-breakdown",)], 3),
    ("annotations", "straggler", "", [("kernel-annotations",), ("annotation-breakdown", "--source", "cpu")], 1),
    ("queue", "straggler", "", [("queue-length",)], 1),
    ("launch", "straggler", "", [("launch-stats",), ("op-launch-delay",)], 1),
    ("launch", "train", "view=runtime-outliers", [("launch-stats", "--view", "runtime-outliers")], 1),
    ("efficiency", "train", "by=shape", [("efficiency", "--by", "shape")], 1),
    ("critical-path", "straggler", "", [("critical-path", "--across")], 1),
    ("critical-path", "train", "view=what-if", [("critical-path", "--view", "what-if")], 1),
    ("counters", "train", "", [], 0),
    ("analyses", "train", "", [], 0),
    ("analysis/info", "train", "", [("info",)], 0),
    ("analysis/health", "straggler", "", [("health",)], 0),
]


def layout(root):
    """A directory of runs: the examples, each below a name of its own."""
    for name in EXAMPLES:
        shutil.copytree(support.ROOT / "examples" / name, root / name)
    for side in ("control", "test"):
        shutil.copytree(support.ROOT / "examples" / "diff" / side, root / side)
    return root


def ids(url):
    return {run["name"]: run["id"] for run in served.runs_of(url)["runs"]}


def place(run, view, query):
    return f"#/{urllib.parse.quote(run, safe='')}/{view}" + (f"?{query}" if query else "")


def summary_words(directory):
    """What the overview must say: the findings that it shows, in the engine's words."""
    rows = {row[0]: row[1] for row in served.table("summary", directory)["rows"]}
    return [rows["time breakdown"], rows["savings"]]


def wanted_view(root, run_ids, row, pictures):
    view, run, query, tables, charts = row
    name = f"{view.replace('/', '-')}-{run}"
    out = {"at": place(run_ids[run], view, query), "charts": charts, "tables": []}
    if not query and name not in pictures:
        out["name"] = name
        pictures.add(name)
    for verb, *options in tables:
        out["tables"].append({"verb": verb, "wanted": served.table(verb, root / run, *options)})
    if view == "overview":
        out["says"] = summary_words(root / run)
    return out


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    root = layout(tmp_path_factory.mktemp("runs"))
    with served.serving(root) as url:
        served.wait_ready(url, len(EXAMPLES) + 2)
        yield root, url


def look(root, url, rows, tmp_path):
    served.SCREENSHOTS.mkdir(exist_ok=True)
    pictures, found = set(), ids(url)
    wanted = tmp_path / "wanted.json"
    wanted.write_text(json.dumps([wanted_view(root, found, row, pictures) for row in rows]))
    served.drive("views.mjs", url, wanted, *served.PICTURES)


def capital(text):
    return text[0].upper() + text[1:]


def test_numbers_are_those_of_the_command_line(site, tmp_path):
    root, url = site
    known = {view for view, _, query, _, _ in CASES if not query} | {"diff"}  # which has two runs, and a test below
    named = [(analysis["page_view"], analysis["name"]) for analysis in served.get(url, "analyses")["analyses"]
             if analysis["page_view"] and analysis["page_view"] not in known]
    assert len(dict(named)) == len(named), "of several tables the list says which are shown"
    # a run that serves nobody has no iterations: the page says so instead of an empty table (test_origin.py has one that does)
    runs = {(view, verb): next((run for run in ("straggler", "train") if served.table(verb, root / run)["rows"]), None) for view, verb in named}
    assert [view for (view, _), run in runs.items() if not run] == ["iterations"]
    look(root, url, CASES + [(view, run, "", [(verb,)], 1) for (view, verb), run in runs.items() if run], tmp_path)


def most_of(directory, verb, key, column):
    """The key that a column is largest for, its sum, and that of all."""
    table = served.table(verb, directory)
    names, sums = [one["name"] for one in table["columns"]], {}
    for row in table["rows"]:
        sums[row[names.index(key)]] = sums.get(row[names.index(key)], 0) + row[names.index(column)]
    most = max(sums, key=sums.get)
    return most, sums[most], sum(sums.values())


def test_views_open_with_a_sentence(site, tmp_path):
    """Those whose table concludes nothing say what has most of it, or that there is nothing; the timeline says what bounds the run."""
    root, url = site
    found, train = ids(url), root / "train"
    annotation, ns, all_ns = most_of(train, "kernel-annotations", "annotation", "dur_ns")
    copy, n_bytes, all_bytes = most_of(train, "memory-bandwidth", "name", "bytes")
    module, self_ns, all_self = most_of(root / "straggler", "modules", "name", "device_self_ns")
    assert module == "## extra work ##" and (copy, n_bytes) == ("Memcpy HtoD", 32896)
    heading = next(row[1] for row in served.table("summary", train, "--columns", "topic,heading")["rows"] if row[0] == "bound by")
    wanted = [
        {"at": place(found["train"], "annotations", ""), "charts": 1, "heading": f"{annotation} has {100 * ns / all_ns:.1f} % of summed GPU time"},
        {"at": place(found["train"], "bandwidth", ""), "charts": 1, "heading": f"{copy} moves 32.1 KiB at 10.7 GB/s, {100 * n_bytes / all_bytes:.1f} % of all bytes copied or set"},
        {"at": place(found["straggler"], "modules", ""), "charts": 1, "heading": f"{module} takes {100 * self_ns / all_self:.1f} % of GPU time inside modules"},
        {"at": place(found["train"], "queue", ""), "charts": 1, "heading": "Stream 7 has nothing queued for 93.1 % of the time, 2 launches at most"},
        {"at": place(found["train"], "sequences", ""), "charts": 1, "heading": "aten::_fused_adamw_ launches the same 3 kernels 2 times, 447 µs in all"},
        {"at": place(found["train"], "kernel-types", ""), "charts": 1},
        {"at": place(found["train"], "distributed", ""), "heading": "No exposed communication in the steps"},
        {"at": place(found["ddp"], "ranks", ""), "heading": "No rank delays the others in most steps"},
        {"at": place(found["train"], "communication", ""), "heading": "No communication kernels in the selection"},
        {"at": place(found["straggler"], "memory", ""), "heading": "No memory events: record with profile_memory=True"},
        {"at": place(found["cpu"], "annotations", ""), "heading": "No GPU activity in the selection"},
        {"at": place(found["cpu"], "bandwidth", ""), "heading": "No memcpy or memset in the selection"},
        {"at": place(found["train"], "timeline", ""), "heading": heading},
    ]
    path = tmp_path / "wanted.json"
    path.write_text(json.dumps(wanted))
    served.drive("views.mjs", url, path)


def test_shares_have_the_colour_of_their_class(site):
    root, url = site
    names = [row[0] for row in served.table("kernels", root / "straggler", "--top", "6", "--columns", "name")["rows"]]
    assert names[0].startswith("nccl") and not names[1].startswith("nccl")
    served.drive("shares.mjs", url, ids(url)["straggler"])


def test_diff(site, tmp_path):
    """Two runs: rows, operators and kernels of both, in the order of the command line, and the page's words."""
    root, url = site
    found = ids(url)
    base = urllib.parse.quote(found["control"], safe="")
    change = capital(served.table("diff", root / "control", root / "test")["findings"][0]["sentence"])
    wanted = []
    for view in ("causes", "ranks", "rows", "operators", "kernels"):
        wanted.append({"at": place(found["test"], "diff", f"base={base}&view={view}"), "charts": view not in ("ranks", "causes"), "name": f"diff-{view}", "heading": change,
                       "tables": [{"verb": "diff", "wanted": served.table("diff", root / "control", root / "test", "--view", view)}]})
    # the other views show both runs, too
    wanted.append({"at": place(found["test"], "overview", f"base={base}"), "charts": 1, "name": "overview-against",
                   "tables": [], "says": [change]})
    wanted += [{"at": place(found["test"], verb, f"base={base}"), "charts": 1, "name": f"{verb}-against",
                "tables": [{"verb": "diff", "wanted": served.table("diff", root / "control", root / "test", *options)}]}
               for verb, options in (("kernels", ("--view", "rows", "--device", "gpu", "--all-rows")), ("operators", ("--view", "operators")))]
    path = tmp_path / "wanted.json"
    path.write_text(json.dumps(wanted))
    served.drive("views.mjs", url, path, *served.PICTURES)


def test_every_analysis_has_a_page(site, tmp_path):
    """Without code of its own: what the registry lists is shown, with the command line's rows where one run is enough."""
    root, url = site
    listed = {analysis["name"]: analysis["n_sets"] for analysis in served.get(url, "analyses")["analyses"]}
    verbs = support.output("list", "--names").decode().split()
    assert set(listed) == {verb for verb in verbs if not verb.startswith("et-")}  # these read files that are no runs
    single = [verb for verb, n_sets in listed.items() if n_sets == 1]
    rows = [(f"analysis/{verb}", "train", "top=50", [], 0) for verb in single]
    rows += [("analysis/operators", "train", "top=50&by=shape", [("operators", "--by", "shape", "--top", "50")], 0),
             ("analysis/events", "train", "top=50&where=dur_ns > 1ms", [("events", "--where", "dur_ns > 1ms", "--top", "50")], 0)]
    look(root, url, rows, tmp_path)


SQL = "SELECT cat, COUNT(*) AS n, SUM(dur_ns) AS total_ns FROM events WHERE dur_ns > 0 GROUP BY cat ORDER BY n DESC"


def has_sqlite():
    return b"SQLite" in support.output("version")


def test_state_search_and_drill_down(site):
    root, url = site
    found = ids(url)
    served.drive("state.mjs", url, json.dumps(found), json.dumps({
        "by_shape": served.table("operators", root / "train", "--by", "shape", "--sort", "-calls"),
        "rank_2": served.table("temporal-breakdown", root / "straggler", "--rank", "2"),
        "exposed": capital(next(one["sentence"] for one in served.table("temporal-breakdown", root / "straggler", "--rank", "2")
                                ["findings"] if one["state"] == "found")),
        "line": served.table("events", root / "train", "--where", 'origin_op == "aten::addmm" and origin_source is not null',
                             "--sort", "-dur_ns", "--top", "1", "--columns", "origin_source")["rows"][0][0],
        "sql_query": SQL,
        "sql": json.loads(support.output("sql", root / "train", SQL, "--format", "json")) if has_sqlite() else None,
        "csv": support.output("kernels", root / "train", "--format", "csv").decode(),
    }))


EXTRA = os.environ.get("HOLOTRACE_EXTRA_DATA")
ASCEND = [("overview", []), ("operators", [("operators",)]), ("kernels", [("kernels",)]), ("temporal", [("temporal-breakdown",)]),
          ("memory", []), ("distributed", [("distributed", "--by", "rank")]), ("communication", [("collectives",)])]


@pytest.mark.skipif(not EXTRA, reason="skipped: HOLOTRACE_EXTRA_DATA names no further samples")
def test_ascend_samples(tmp_path):
    source = pathlib.Path(EXTRA) / "ascend" / "ddp2_level1"
    root = tmp_path / "runs"
    shutil.copytree(source, root / "npu")
    with served.serving(root) as url:
        served.wait_ready(url)
        look(root, url, [(view, "npu", "", tables, 0) for view, tables in ASCEND], tmp_path)


DOCS = support.ROOT / "docs"


def test_pictures_of_the_readme(tmp_path):
    """The script of `make screenshots` draws every picture of the docs, each of which is named there."""
    for name in ("straggler", "snapshot"):
        shutil.copytree(support.ROOT / "examples" / name, tmp_path / "runs" / name)
    with served.serving(tmp_path / "runs") as url:
        served.wait_ready(url, 2)
        served.drive("readme.mjs", url, ids(url)["straggler"], ids(url)["snapshot"], tmp_path)
    text = "".join(path.read_text() for path in (support.ROOT / "README.md", *DOCS.glob("*.md")))
    pictures = sorted(path.name for path in DOCS.glob("page-*.png"))
    assert pictures == sorted(path.name for path in tmp_path.glob("*.png"))
    for name in pictures:
        assert f"{name})" in text, name
        assert (DOCS / name).read_bytes()[:24] == (tmp_path / name).read_bytes()[:24], "not of the size that the test draws"


def test_pictures_of_an_older_page_are_told(tmp_path):
    """The check of lint: what the pictures are of is hashed beside them."""
    for name in ("docs", "examples/straggler", "examples/snapshot", "web"):
        shutil.copytree(support.ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("node_modules", "analyses", "design"))
    lists = subprocess.run([support.ROOT / "tools" / "list_sources", "web"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    for name in ("tools/screenshots", "tools/list_sources", "tests/page/readme.mjs", *(name for name in lists if name.startswith("src/"))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(support.ROOT / name, tmp_path / name)

    def check():
        done = subprocess.run([tmp_path / "tools" / "screenshots", "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    assert check() == (0, "")
    for name, said in (("web/src/ui/tokens.css", "older page"), ("examples/snapshot/leak.pickle.gz", "older page"), ("docs/page-memory.png", "not those")):
        old = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(old + b"\n")
        code, text = check()
        assert code == 1 and said in text and "make screenshots" in text, name
        (tmp_path / name).write_bytes(old)
    (tmp_path / "docs" / "page-timeline.png").write_bytes(bytes(200_000))
    assert check()[0] == 1 and "larger than" in check()[1]
