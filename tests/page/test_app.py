# SPDX-License-Identifier: Apache-2.0
"""What the page computes itself: places in the URL, links, filters, trees. Numbers are the engine's."""
import json
import shlex

import support
from test_errors import NAMES, hostile_trace
from web import evaluate, needs_node

pytestmark = needs_node


def test_places_survive_the_url():
    routes = [{"run": run, "view": "kernels", "sub": "", "query": {"name": name}}
              for run in ("a", "a~b", "ü/ö ?&#%") for name in (*(n for n in NAMES if len(n) < 1000), "a=b&c", "%41", "+ +")]
    source = """import { formatRoute, parseRoute } from "./app/route";
answer = input.map((route: any) => parseRoute(formatRoute(route)));"""
    assert evaluate(source, routes) == routes


def test_what_is_chosen_at_the_top_stays():
    source = """import { linkTo, linkWith, parseRoute } from "./app/route";
const here = parseRoute("#/r/operators?rank=2&step=3&base=b&span=1&sort=-calls&name=x");
answer = [linkTo(here, "kernels", { by: "core" }), linkWith(here, { name: null, by: "shape" }), parseRoute(""), parseRoute("#/r/kernels?a=%zz")];"""
    kept, same, empty, broken = evaluate(source, None)
    assert kept == "#/r/kernels?rank=2&step=3&span=1&base=b&by=core"
    assert same == "#/r/operators?rank=2&step=3&base=b&span=1&sort=-calls&by=shape"
    assert empty == {"run": "", "view": "overview", "sub": "", "query": {}}
    assert broken["view"] == "kernels"


def rows_of(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def test_next_is_cells():
    """Verb and options come from cells of their own, and are those of the command line beside them."""
    verbs = support.output("list", "--names").decode().split()
    table = json.loads(support.output("summary", support.ROOT / "examples" / "straggler", "--format", "json"))
    source = ('import { findingsOf } from "./app/findings"; import { Rows } from "./app/rows";'
              'answer = findingsOf(new Rows(input)).map(one => one.next);')
    found = evaluate(source, table)
    assert {one["verb"] for one in found} <= set(verbs)
    for one, row in zip(found, rows_of(table)):
        assert [one["verb"], *(f"--{name}" for name in one["options"])] == [
            word for i, word in enumerate(shlex.split(row["next"])) if i == 0 or word.startswith("--")]


def test_headlines_are_cells(tmp_path):
    """The heading is that of what bounds the run; where data is missing, or there are no steps, nothing is bound by it."""
    source = ('import { findingsOf, headline } from "./app/findings"; import { Rows } from "./app/rows";'
              'const { head, missing } = headline(findingsOf(new Rows(input)));'
              'answer = [head?.kind, head?.heading, missing?.kind ?? null];')

    def ask(run):
        table = json.loads(support.output("summary", support.ROOT / "examples" / run, "--format", "json"))
        return evaluate(source, table), {row["kind"]: row for row in rows_of(table)}
    (kind, heading, missing), rows = ask("straggler")
    assert (kind, heading, missing) == ("bound-by", rows["bound-by"]["heading"], None)
    assert heading.startswith("Bound by waiting for rank 2")
    (kind, heading, missing), rows = ask("cpu")
    assert (kind, heading, missing) == ("step-time", rows["step-time"]["heading"], "missing")
    trace = tmp_path / "no_steps.json"
    trace.write_text(json.dumps({"traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 2, "args": {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 5, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 1}}]}))
    (kind, heading, missing), rows = ask(trace)
    assert (kind, heading, missing) == ("gpu", rows["gpu"]["heading"], None)
    assert "step-time" not in rows and rows["recording"]["value_ns"] == 25_000
    names = evaluate(('import { FIGURES, figureName, findingsOf } from "./app/findings"; import { Rows } from "./app/rows";'
                                'const all = findingsOf(new Rows(input)); answer = FIGURES.map(([kind, , label]) => figureName(all, kind, label, "GPU"));'),
                     json.loads(support.output("summary", trace, "--format", "json")))
    assert not [name for name in names if "per step" in name] and "recorded" in names


def test_quoted_names_are_filters_that_find_them(tmp_path):
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps(hostile_trace()))
    names = [name for name in NAMES if len(name) < 1000]
    quoted = evaluate('import { quoted } from "./app/links"; answer = input.map(quoted);', names)
    for name, text in zip(names, quoted):
        table = json.loads(support.output("kernels", trace, "--where", f"name == {text}", "--format", "json"))
        assert [row[0] for row in table["rows"]] == [name]


def test_events_behind_cells():
    source = """import { eventOf } from "./app/links";
const column = (name: string, type = "int64") => ({ name, type, unit: null, role: "key", sentence: "" });
const columns: any[] = ["rank", "index", "last_rank", "last_row", "index_launch", "evidence", "calls", "id"].map((name) => column(name, name === "id" ? "event" : "int64"));
const table: any = { columns, rows: [] };
const row = [3, 17, 1, 8, null, "2:5, 2:6", 9, "0:4"];
answer = columns.map((one) => eventOf(table, one, row) ?? null);"""
    assert evaluate(source, None) == [None, "3:17", None, "1:8", None, "2:5", None, "0:4"]


def test_devices_are_called_what_they_are():
    runs = [["gpu"], ["npu", "npu"], ["cpu"], ["npu", "cpu", None], ["gpu", "npu"], []]
    source = """import { deviceWord } from "./views/ranks";
answer = input.map((vendors: any[]) => deviceWord({ workers: vendors.map((vendor) => ({ vendor })) } as any));"""
    assert evaluate(source, runs) == ["GPU", "NPU", "GPU", "NPU", "GPU", "GPU"]


def test_lists_of_numbers():
    source = """import { formatRanges, parseRanges } from "./app/ranges";
answer = input.map((text: string) => { const found = parseRanges(text); return found && formatRanges(found); });"""
    assert evaluate(source, ["0,2-3", "5,4,3", "1", "7-9,8-10", "all", "1,,2", "3-x"]) == \
        ["0,2-3", "3-5", "1", "7-10", None, None, None]


RANGES = [
    {"from": 1200, "to": 3400, "tracks": None}, {"from": -5, "to": 2**52, "tracks": ["0:3", "0:4", "0:5", "0:9", "12:0"]},
    {"from": 7, "to": 7, "tracks": ["1:1"]},
]
#: What somebody may type, and what is made of it.
TYPED = [("", None), ("5", None), ("9..5", None), ("a..b", None), ("1..2@", {"from": 1, "to": 2, "tracks": None}),
         ("1..2@x:1;0:a,4", {"from": 1, "to": 2, "tracks": ["0:4"]}), ("1..99999999999999999999", None)]


def test_selections_and_marks_survive_the_url():
    named = [{"at": 3, "name": ""}, {"at": -4, "name": "a,b~c %41 ü"}, {"at": 5, "name": "x"}]
    source = """import { keysText, marksText, parseKeys, parseMarks, parseRange, rangeText } from "./timeline/places";
answer = [input.ranges.map((range: any) => parseRange(rangeText(range) ?? "")), input.typed.map(parseRange),
  rangeText(null), rangeText(input.ranges[1]), parseMarks(marksText(input.marks) ?? ""), marksText([]), parseMarks("1,,x,2"),
  parseRange("0..1@0:0-999999999")?.tracks?.length, ["", "-", keysText(new Set(["r0", "python, 3"])), "%zz"].map((text) => parseKeys(text) && [...parseKeys(text)!])];"""
    ranges, typed, none, text, marks, no_marks, odd, most, keys = evaluate(source, {"ranges": RANGES, "typed": [text for text, _ in TYPED], "marks": named})
    assert ranges == RANGES and typed == [range for _, range in TYPED]
    assert none is None and text == f"-5..{2**52}@0:3-5,9;12:0"
    assert marks == named and no_marks is None and odd == [{"at": 1, "name": ""}, {"at": 2, "name": ""}]
    assert keys == [None, [], ["r0", "python, 3"], ["%zz"]]
    assert most == 100000


def test_bars_are_as_high_as_the_step():
    """Also where waiting is known of some ranks only: of the others communication is drawn whole."""
    names = ["step_ns", "computation_ns", "overlapped_ns", "exposed_transfer_ns", "exposed_wait_ns", "exposed_ns", "other_ns"]
    rows = [[100, 20, 5, 30, 15, 45, 30], [80, 10, 0, None, None, 50, 20], [70, 70, 0, 0, 0, 0, 0]]
    source = """import { DISTRIBUTED_PARTS, stackOf } from "./views/stacks";
import { Rows } from "./app/rows";
const table = (rows: any[]) => new Rows({ columns: input.names.map((name: string) => ({ name, type: "duration", unit: "ns", role: "measure", sentence: "" })), rows, notes: [] } as any);
answer = [input.rows, [input.rows[0]], [input.rows[1]]].map((rows) => stackOf(table(rows), DISTRIBUTED_PARTS));"""
    both, known, unknown = evaluate(source, {"names": names, "rows": rows})
    for i, row in enumerate(rows):
        assert sum(part["values"][i] or 0 for part in both) == row[0]
    assert [part["name"] for part in known] == ["compute", "compute and communication", "transfer", "waiting for a rank", "idle"]
    assert [part["name"] for part in unknown] == ["compute", "exposed communication", "idle"]


def test_flame_is_as_wide_as_what_is_inside():
    rows = [{"path": ["a"], "self": 1}, {"path": ["a", "b"], "self": 2}, {"path": ["a", "b"], "self": 3}, {"path": ["c"], "self": 4}]
    tree = evaluate('import { treeOf } from "./views/tree"; answer = treeOf(input, "all", () => "host");', rows)
    assert tree["value"] == 10
    a, c = tree["children"]
    assert (a["name"], a["value"], a["self"], a["children"][0]["value"]) == ("a", 6, 1, 5)
    assert (c["value"], c["children"]) == (4, [])

