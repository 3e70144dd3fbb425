# SPDX-License-Identifier: Apache-2.0
"""The server for agents: the protocol, every tool, what it refuses, and that nothing is left behind."""
import base64
import json
import os
import pathlib
import shutil
import struct
import xml.etree.ElementTree
import zlib

import pytest

import support
from agent import Client, text_of

EXAMPLES = support.ROOT / "examples"
MAX_BYTES = 20000


@pytest.fixture(scope="module")
def session():
    with Client(EXAMPLES) as client:
        yield client


def tools(client):
    return {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}


#: arguments that each tool needs; all others are called with a run alone
ARGUMENTS = {
    "find_runs": {},
    "compare_runs": {"run": "diff/test", "base": "diff/control"},
    "check_regression": {"run": "diff/test", "base": "diff/control"},
    "events": {"run": "straggler", "events": "2:10006"},
    "sql": {"run": "straggler", "query": "SELECT rank, count(*) AS n FROM events GROUP BY rank"},
    "analyze": {"run": "straggler", "verb": "kernel-types"},
}


# ---- the protocol ----

@pytest.mark.parametrize("asked, given", [("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"),
                                          ("1999-01-01", "2025-06-18")])
def test_versions(asked, given):
    with Client(EXAMPLES, version=asked) as client:
        assert client.welcome["protocolVersion"] == given
        assert set(client.welcome["capabilities"]) == {"tools", "resources", "prompts", "logging"}
        result = client.call("summary", run="train")
        # the old protocol has no structured content: it is a second text
        assert ("structuredContent" in result) == (given != "2024-11-05")
        data = result.get("structuredContent") or json.loads(result["content"][1]["text"])
        assert data["run"] == "train" and data["tables"][0]["findings"]
    assert client.code == 0 and client.errors == ""


def test_ping_and_log_levels(session):
    assert session.ask("ping")["result"] == {}
    assert session.ask("logging/setLevel", level="warning")["result"] == {}
    assert session.ask("logging/setLevel", level="loud")["error"]["code"] == -32602


def test_every_tool_is_listed_with_a_schema(session):
    session.ask("tools/list")
    assert session.size <= MAX_BYTES
    jsonschema = pytest.importorskip("jsonschema")
    listed = tools(session)
    assert {"find_runs", "summary", "explain_step", "top_kernels", "top_operators", "top_modules", "why_idle", "slow_ranks",
            "compare_runs", "events", "sql", "timeline", "memory_peak", "efficiency", "attribution"} <= set(listed)
    for name, tool in listed.items():
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        assert tool["description"] and tool["annotations"]["readOnlyHint"] is True
        jsonschema.validate(ARGUMENTS.get(name, {"run": "x"}), tool["inputSchema"])


def test_every_tool_answers_within_its_bytes(session):
    for name in tools(session):
        result = session.call(name, **ARGUMENTS.get(name, {"run": "straggler"}))
        assert not result["isError"], (name, text_of(result))
        assert session.size <= MAX_BYTES, name
        assert result["content"][0]["type"] == "text" and result["content"][0]["text"], name
        data = result["structuredContent"]
        assert all(set(question) == {"tool", "arguments"} for question in data["next"])


def test_next_can_be_called(session):
    """Whatever an answer names next is a tool that takes these arguments."""
    jsonschema = pytest.importorskip("jsonschema")
    listed = tools(session)
    for name in ("find_runs", "summary", "advice", "slow_ranks"):
        for question in session.call(name, **ARGUMENTS.get(name, {"run": "straggler"}))["structuredContent"]["next"]:
            jsonschema.validate(question["arguments"], listed[question["tool"]]["inputSchema"])
            assert not session.call(question["tool"], **question["arguments"])["isError"], question


# ---- what tools answer ----

def test_rows_are_those_of_the_command_line(session):
    want = json.loads(support.output("kernels", EXAMPLES / "ddp", "--top", "10", "--format", "json"))
    table = session.call("top_kernels", run="ddp")["structuredContent"]["tables"][0]
    at = [column["name"] for column in want["columns"]].index("total_ns")
    mine = [column["name"] for column in table["columns"]].index("total_ns")
    assert [row[mine] for row in table["rows"]] == [row[at] for row in want["rows"]][:len(table["rows"])]
    assert len(table["rows"]) == 10 and table["left_out_rows"] == want["n_hidden"]
    assert table["columns"][mine]["unit"] == "ns" and table["columns"][mine]["meaning"]


def test_cursors_walk_all_rows(session):
    want = json.loads(support.output("operators", EXAMPLES / "ddp", "--columns", "name", "--format", "json"))["rows"]
    got, more = [], {}
    while True:
        table = session.call("top_operators", run="ddp", limit=7, **more)["structuredContent"]["tables"][0]
        got += [row[0] for row in table["rows"]]
        if not table["truncated"]:
            break
        more = {"cursor": table["next_cursor"]}
    assert got == [row[0] for row in want] and len(got) > 20


def test_what_is_left_out_is_said(session):
    result = session.call("analyze", run="ddp", verb="events", limit=200)
    table = result["structuredContent"]["tables"][0]
    assert session.size <= MAX_BYTES and table["truncated"]
    n_events = int(json.loads(support.output(
        "sql", EXAMPLES / "ddp", "SELECT count(*) FROM events", "--format", "json"))["rows"][0][0])
    assert len(table["rows"]) + table["left_out_rows"] == n_events
    assert table["next_cursor"] == f"row:{len(table['rows'])}"
    assert "more rows" in text_of(result)


def test_events_behind_a_finding(session):
    data = session.call("slow_ranks", run="straggler")["structuredContent"]
    assert data["tables"][0]["rows"]
    summary = session.call("summary", run="straggler")["structuredContent"]["tables"][0]["findings"]
    slow = next(finding for finding in summary if finding["kind"] == "slow-rank")
    rank, row = slow["evidence"].split(",")[0].split(":")
    table = session.call("events", run="straggler", events=slow["evidence"])["structuredContent"]["tables"][0]
    values = {key: value for key, value in table["rows"]}
    assert (values["rank"], values["index"]) == (rank, row)
    assert slow["share"] == pytest.approx(0.484, abs=0.001) and slow["denominator"]


def test_the_picture_is_one(session):
    result = session.call("timeline", run="train")
    picture = next(part for part in result["content"] if part["type"] == "image")
    data = base64.b64decode(picture["data"])
    assert picture["mimeType"] == "image/png" and data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        body = data[at + 4:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(body)
        chunks[body[:4]] = body[4:]
        at += 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    pixels = zlib.decompress(chunks[b"IDAT"])
    assert len(pixels) == (width + 1) * height
    # compute and operators are both in it
    assert {1, 6} <= set(pixels)
    svg = session.call("timeline", run="train", format="svg")["content"][1]["resource"]
    assert svg["mimeType"] == "image/svg+xml" and "</svg>" in svg["text"] and "nn.Module: GPT" in svg["text"]


def test_names_in_pictures(tmp_path):
    """A picture is well-formed XML of boxes and texts, whatever names it shows and wherever they are cut."""
    names = ["<script>alert(1)</script>", '"/><image href="//evil/x"/>', "]]></text></svg><svg onload=x>", "&amp;&#0;<!-- -->", "\u00e9" * 300,
             "a" + "\u4f60" * 300, "\U0001f600" * 300, "\x01\x1b[31m\ufffe", "<?xml version='1.0'?>"]
    events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 100 * i, "dur": 90 + i} for i, name in enumerate(names)]
    (tmp_path / "a.json").write_text(json.dumps({"traceEvents": events}))
    with Client(tmp_path) as client:
        (run,) = [resource["name"] for resource in client.ask("resources/list")["result"]["resources"]]
        text = client.call("timeline", run=run, format="svg")["content"][1]["resource"]["text"]
    assert "\ufffd" not in text
    elements = list(xml.etree.ElementTree.fromstring(text).iter())
    assert {element.tag.split("}")[1] for element in elements} == {"svg", "rect", "text"}
    assert {key for element in elements for key in element.attrib} <= {"viewBox", "x", "y", "width", "height", "fill", "font-size"}
    assert sum(element.tag.endswith("text") for element in elements) >= len(names) - 1


def test_resources(session):
    listed = session.ask("resources/list")["result"]["resources"]
    uris = {resource["name"]: resource["uri"] for resource in listed}
    assert uris["diff/test"] == "holotrace://run/diff%2Ftest/summary"
    text = session.ask("resources/read", uri=uris["diff/test"])["result"]["contents"][0]["text"]
    finding = support.read_csv(support.output("summary", EXAMPLES / "diff" / "test", "--format", "csv"))
    (step_time,) = [row[finding[0].index("finding")] for row in finding[1] if row[0] == "step time"]
    assert " ".join(step_time.split()) in " ".join(text.split())
    assert session.ask("resources/templates/list")["result"]["resourceTemplates"][0]["uriTemplate"]
    for uri in ("holotrace://run/none/summary", "file:///etc/passwd", "holotrace://run/train/nothing", 7):
        assert session.ask("resources/read", uri=uri)["error"]["code"] == -32002


def test_prompts(session):
    prompts = {prompt["name"] for prompt in session.ask("prompts/list")["result"]["prompts"]}
    assert prompts == {"diagnose", "compare"}
    text = session.ask("prompts/get", name="diagnose", arguments={"run": "train"})["result"]["messages"][0]["content"]["text"]
    names = set(tools(session))
    assert '"train"' in text and "what_if" in text and "check_regression" in text
    assert {word.strip(".,;:()") for word in text.split() if "_" in word} <= names
    assert session.ask("prompts/get", name="compare", arguments={"run": "a"})["error"]["code"] == -32602
    assert session.ask("prompts/get", name="none")["error"]["code"] == -32602


# ---- what it refuses ----

BAD = [b"", b"{", b"[]", b"7", b'"x"', b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
       b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":7}', b"\xff\xfe{}",
       b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', b"[" * 5000, b'{"a":' * 300, b'{"jsonrpc":"2.0","id":1,"method":"a\\u0000b"}']


def test_malformed_messages_have_an_answer():
    with Client(EXAMPLES) as client:
        for bad in BAD[1:]:
            client.write(bad + b"\n")
            answer = client.receive()
            assert answer["error"]["code"] in (-32700, -32600), bad
        client.write(b"\n  \n")
        assert client.ask("ping")["result"] == {}
        assert client.ask("no/such")["error"]["code"] == -32601
        # a notification that nobody knows, and a response, have no answer
        client.send({"jsonrpc": "2.0", "method": "notifications/none"})
        client.send({"jsonrpc": "2.0", "id": 99, "result": {}})
        assert client.ask("ping")["result"] == {} and not client.heard
    assert client.code == 0 and client.errors == ""


@pytest.mark.parametrize("params, words", [
    ({"name": "none"}, "no tool"), ({}, "no tool"), ({"name": "summary", "arguments": []}, "object"),
    ({"name": "summary", "arguments": {"run": {}}}, "run"), ({"name": "summary", "arguments": {"limit": 0}}, "limit"),
    ({"name": "summary", "arguments": {"cursor": "x"}}, "cursor"), ({"name": "analyze", "arguments": {"options": 3}}, "options"),
    ({"name": "summary", "arguments": {"run": "a\0b"}}, "run")])
def test_wrong_parameters(session, params, words):
    answer = session.ask("tools/call", **params)
    assert answer["error"]["code"] == -32602 and words in answer["error"]["message"]


@pytest.mark.parametrize("tool, arguments, words", [
    ("summary", {}, "several runs"), ("summary", {"run": "../examples/train"}, "no run"), ("summary", {"run": "/etc"}, "no run"),
    ("summary", {"run": "train", "colour": "red"}, "no argument colour"), ("top_kernels", {"run": "train", "by": "x"}, "by"),
    ("analyze", {"run": "train"}, "verb is missing"), ("analyze", {"run": "train", "verb": "diff"}, "no analysis"),
    ("compare_runs", {"run": "train"}, "base"), ("events", {"run": "train", "events": "9:1"}, "no event"),
    ("events", {"run": "train", "events": "x"}, "ids"), ("events", {"run": "train"}, "missing"),
    ("sql", {"run": "train", "query": "DROP TABLE events"}, ""), ("sql", {"run": "train", "query": "ATTACH 'x' AS y"}, ""),
    ("timeline", {"run": "train", "step": 999}, "no step"), ("timeline", {"run": "train", "rank": 7}, "no rank"),
    ("analyze", {"run": "train", "verb": "memory-timeline", "options": {"raw": "/etc/passwd"}}, "no argument"),
    ("summary", {"run": "train", "step": "999"}, "no such step")])
def test_tools_say_what_is_wrong(session, tool, arguments, words):
    result = session.call(tool, **arguments)
    assert result["isError"] and words in text_of(result)


def test_huge_arguments(session):
    """Long texts are refused in a short answer; a message beyond the limit is not even kept."""
    result = session.call("summary", run="x" * 500000)
    assert result["isError"] and session.size < 2000
    result = session.call("analyze", run="train", verb="events", where="name == " + "(" * 100000)
    assert result["isError"] and session.size < 4000
    session.write(b'{"jsonrpc":"2.0","id":1,"method":"' + b"y" * (5 << 20) + b'"}\n')
    assert session.receive()["error"]["code"] == -32700
    many = {f"a{i}": "1" for i in range(1000)}
    assert session.ask("tools/call", name="summary", arguments=many)["error"]["code"] == -32602
    assert session.ask("ping")["result"] == {}


def test_only_what_is_below_the_log_directory(tmp_path):
    logs, other = tmp_path / "logs", tmp_path / "other"
    (logs / "a").mkdir(parents=True)
    other.mkdir()
    trace = EXAMPLES / "train" / "train.json.gz"
    shutil.copy(trace, logs / "a")
    shutil.copy(trace, other / "secret.json.gz")
    os.symlink(other, logs / "link")
    (logs / "b").mkdir()
    os.symlink(other / "secret.json.gz", logs / "b" / "train.json.gz")
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    with Client(logs) as client:
        for run in ("link", "b", "../other", str(other)):
            assert client.call("summary", run=run)["isError"], run
        assert not client.call("summary", run="a")["isError"]
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


def test_new_and_changed_runs_are_seen(tmp_path):
    trace = EXAMPLES / "train" / "train.json.gz"
    with Client(tmp_path) as client:
        assert client.call("find_runs")["structuredContent"]["tables"][0]["rows"] == []
        (tmp_path / "late").mkdir()
        shutil.copy(trace, tmp_path / "late")
        support.wait_until(lambda: client.call("find_runs")["structuredContent"]["tables"][0]["rows"])
        # the only run needs no name
        assert client.call("summary")["structuredContent"]["run"] == "late"


# ---- many at once ----

def test_a_thousand_calls_at_once():
    with Client(EXAMPLES) as client:
        numbers = [client.start("tools/call", name="top_kernels", arguments={"run": "train", "limit": 1 + i % 3})
                   for i in range(1000)]
        sizes = set()
        for i, number in enumerate(numbers):
            rows = client.wait(number)["result"]["structuredContent"]["tables"][0]["rows"]
            assert len(rows) == 1 + i % 3
            sizes.add((i % 3, json.dumps(rows)))
        assert len(sizes) == 3, "the same question has the same answer"
    assert client.code == 0 and client.rest == b"" and client.errors == ""


def test_cancelled_calls_have_no_answer():
    """Those that wait and those that run; what comes afterwards is answered."""
    with Client(EXAMPLES) as client:
        numbers = [client.start("tools/call", name="advice", arguments={"run": "straggler"}) for _ in range(200)]
        for number in numbers:
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        last = client.ask("tools/call", name="find_runs", arguments={})
        assert not last["result"]["isError"]
        answered = [message for message in client.heard if message.get("id") in numbers]
        assert len(answered) < len(numbers) // 2
    assert client.code == 0 and client.errors == ""


def test_progress_and_messages(tmp_path):
    """A long call tells how far it is, when asked to; the number grows."""
    name = 'a "quoted" \\ \udcff folder'
    shutil.copytree(EXAMPLES / "ddp", tmp_path / "logs" / name)
    # without a cache: of answers that were kept there is no progress
    with Client(tmp_path / "logs", "--no-cache") as client:
        client.ask("tools/call", name="advice", arguments={}, _meta={"progressToken": "mine"})
        told = [message["params"] for message in client.heard if message.get("method") == "notifications/progress"]
        # at least one for each of the two verbs that are run, and for files, whatever these are called
        assert {"Advice", "Attribution"} <= {params["message"].split(" ")[0] for params in told}
        assert [params for params in told if 'a "quoted" \\ ' in params["message"]]
        assert all(params["progressToken"] == "mine" for params in told)
        numbers = [params["progress"] for params in told]
        assert numbers == sorted(set(numbers))
        client.heard.clear()
        client.call("advice")
        assert client.heard == [], "who did not ask for progress is told nothing"
    text = (EXAMPLES / "train" / "train.json.gz").read_bytes()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "train.json.gz").write_bytes(text[:len(text) // 2])
    with Client(tmp_path / "cut") as client:
        result = client.call("summary")
        logs = [message["params"] for message in client.heard if message.get("method") == "notifications/message"]
        assert not result["isError"] and logs and logs[0]["level"] == "warning" and "cut" in logs[0]["data"]
    with Client(tmp_path / "cut") as client:
        client.ask("logging/setLevel", level="error")
        client.call("summary")
        assert not [message for message in client.heard if message.get("method") == "notifications/message"]


def held(process):
    """Descriptors that are open, and pages in memory, of a process."""
    pages = int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return len(os.listdir(f"/proc/{process.pid}/fd")), pages


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
@pytest.mark.skipif(support.is_sanitized(), reason="a sanitizer keeps what was freed; LeakSanitizer looks instead")
def test_many_calls_keep_nothing():
    """Descriptors and memory stay flat, whatever is asked: good calls, wrong ones, and those that are cancelled."""
    questions = [("top_kernels", {"run": "train", "limit": 2}), ("summary", {"run": "train"}), ("summary", {"run": "none"}),
                 ("sql", {"run": "train", "query": "SELECT count(*) FROM gpu"}), ("sql", {"run": "train", "query": "SELECT"}),
                 ("timeline", {"run": "train"}), ("find_runs", {}), ("events", {"run": "train", "events": "0:9999999"})]
    n_rounds = 1250 if support.LONG else 60

    def ask_all(client, n):
        for _ in range(n):
            numbers = [client.start("tools/call", name=name, arguments=arguments) for name, arguments in questions]
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": numbers[1]}})
            for number in numbers[:1] + numbers[2:]:
                client.wait(number)
            client.heard.clear()

    with Client(EXAMPLES) as client:
        ask_all(client, 20)
        n_files, n_pages = held(client.process)
        ask_all(client, n_rounds)
        # calls that were cancelled may end a little later
        support.wait_until(lambda: held(client.process)[0] <= n_files)
        n_pages_then = held(client.process)[1]
        # what threads keep for the next allocation comes and goes: 16 MiB of 4 KiB pages
        assert n_pages_then - n_pages < 4096, (n_pages, n_pages_then)
    assert client.code == 0 and client.errors == ""


def test_it_ends_when_nobody_reads():
    client = Client(EXAMPLES)
    client.process.stdout.close()
    client.send({"jsonrpc": "2.0", "id": 7, "method": "ping"})
    client.process.stdin.close()
    client.process.wait(timeout=30)
    client.process.stderr.close()


def test_usage(tmp_path):
    assert support.run("mcp", tmp_path / "none").returncode == 3
    assert support.run("mcp", tmp_path, "--answer-size", "1").returncode == 2
    done = support.run("mcp", tmp_path, stdin=b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert done.returncode == 0 and json.loads(done.stdout)["result"] == {}


def test_folders_with_memory_alone_are_runs(tmp_path):
    """Beside folders of traces, too: a snapshot, and a memory timeline. With a trace beside it a snapshot is no run."""
    snapshot = support.ROOT / "tests" / "snapshot" / "data" / "plain" / "leak.pickle.gz"
    for name in ("both", "snapshot", "timeline", "trace"):
        (tmp_path / name).mkdir()
    shutil.copy(EXAMPLES / "train" / "train.json.gz", tmp_path / "trace")
    shutil.copy(EXAMPLES / "train" / "train.json.gz", tmp_path / "both")
    shutil.copy(snapshot, tmp_path / "both")
    shutil.copy(snapshot, tmp_path / "snapshot")
    (tmp_path / "timeline" / "memory.json").write_text("[[1, 2], [[0, 512, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]]")
    with Client(tmp_path) as client:
        found = client.call("find_runs")["structuredContent"]["tables"][0]
        files = [column["name"] for column in found["columns"]].index("files")
        assert {row[0]: row[files] for row in found["rows"]} == {"both": 1, "snapshot": 1, "timeline": 1, "trace": 1}
        assert "train" in text_of(client.call("memory_peak", run="snapshot"))
        assert not client.call("analyze", run="timeline", verb="memory-timeline")["isError"]
