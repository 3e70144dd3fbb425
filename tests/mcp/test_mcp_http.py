# SPDX-License-Identifier: Apache-2.0
"""Agents over HTTP: POST /mcp of `serve` answers what `holotrace mcp` does, behind the same guard as the page."""
import json
import socket
import sys

import pytest

import support
from agent import Client

sys.path.insert(0, str(support.ROOT / "tests" / "serve"))

from client import serving  # noqa: E402

EXAMPLES = support.ROOT / "examples"
MAX_BYTES = 20000


@pytest.fixture(scope="module")
def server():
    with serving(EXAMPLES) as one:
        one.ready()
        yield one


def post(server, method, params=None, number=1, **headers):
    message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    if number is not None:
        message["id"] = number
    return server.ask("/mcp", method="POST", body=json.dumps(message), Content_Type="application/json",
                      Accept="application/json, text/event-stream", **headers)


def call(server, tool, **arguments):
    got = post(server, "tools/call", {"name": tool, "arguments": arguments})
    assert got.status == 200 and len(got.body) <= MAX_BYTES
    return got.json()["result"]


def test_handshake(server):
    got = post(server, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}})
    assert got.status == 200 and got.headers["Content-Type"] == "application/json"
    assert got.json()["result"]["protocolVersion"] == "2025-06-18"
    taken = post(server, "notifications/initialized", number=None)
    assert taken.status == 202 and taken.body == b""
    for version, status in (("2025-06-18", 200), ("2024-11-05", 200), ("1999-01-01", 400), ("", 400)):
        assert post(server, "ping", MCP_Protocol_Version=version).status == status, version


def test_answers_are_those_of_the_other_door(server):
    with Client(EXAMPLES) as other:
        assert post(server, "tools/list").json()["result"] == other.ask("tools/list")["result"]
        for tool, arguments in (("summary", {"run": "straggler"}), ("top_kernels", {"run": "train", "limit": 3}),
                                ("compare_runs", {"run": "diff/test", "base": "diff/control"})):
            assert call(server, tool, **arguments) == other.call(tool, **arguments), tool
    runs = call(server, "find_runs")["structuredContent"]["tables"][0]["rows"]
    assert {row[0] for row in runs} >= {"straggler", "train", "diff/test"} and all(row[1] == "ready" for row in runs)


def events_of(got):
    """The messages of a stream of events."""
    assert got.status == 200 and got.headers["Content-Type"] == "text/event-stream"
    parts = got.body.decode().split("\n\n")
    assert parts.pop() == "" and all(part.startswith("event: message\ndata: ") for part in parts)
    return [json.loads(part.split("data: ", 1)[1]) for part in parts]


@pytest.fixture(name="forgetful")
def without_cache():
    """Of answers that are kept there is no progress."""
    with serving(EXAMPLES, "--no-cache") as one:
        one.ready()
        yield one


def test_progress_comes_before_the_answer(forgetful):
    """As a stream of events to who takes one and gave a token; else the answer alone, which is the same."""
    server = forgetful
    question = {"name": "advice", "arguments": {"run": "ddp"}, "_meta": {"progressToken": "mine"}}
    *told, answer = events_of(post(server, "tools/call", question, number="a"))
    assert told and all(message["method"] == "notifications/progress" for message in told)
    assert [message["params"]["progressToken"] for message in told] == ["mine"] * len(told)
    numbers = [message["params"]["progress"] for message in told]
    assert numbers == sorted(set(numbers))
    plain = server.ask("/mcp", method="POST", Accept="application/json",
                       body=json.dumps({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": question}))
    assert plain.headers["Content-Type"] == "application/json" and plain.json() == answer
    del question["_meta"]
    assert post(server, "tools/call", question, number="a").json() == answer


def test_warnings_come_before_the_answer(tmp_path):
    text = (EXAMPLES / "train" / "train.json.gz").read_bytes()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "train.json.gz").write_bytes(text[:len(text) // 2])
    with serving(tmp_path) as server:
        server.ready()
        warning, answer = events_of(post(server, "tools/call", {"name": "summary"}))
        assert warning["method"] == "notifications/message" and warning["params"]["level"] == "warning"
        assert "cut" in warning["params"]["data"] and not answer["result"]["isError"]


def test_clients_that_leave_in_the_middle(server):
    """Who goes away while events are sent costs one computation and nothing else."""
    for i in range(40):
        body = json.dumps({"jsonrpc": "2.0", "id": 1000 + i, "method": "tools/call", "params": {
            "name": "advice", "arguments": {"run": "straggler"}, "_meta": {"progressToken": i}}}).encode()
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: text/event-stream\r\n"
                               b"Content-Length: %d\r\n\r\n" % (server.port, len(body)) + body)
            if i % 2:
                assert connection.recv(64).startswith(b"HTTP/1.1 200")
    assert post(server, "ping").json()["result"] == {}


def test_what_is_wrong_has_an_answer(server):
    got = server.ask("/mcp", method="POST", body=b"{")
    assert got.status == 200 and got.json()["error"]["code"] == -32700
    assert post(server, "none").json()["error"]["code"] == -32601
    assert call(server, "summary", run="../train")["isError"]
    got = server.ask("/mcp")
    assert got.status == 405 and got.headers["Allow"] == "POST, DELETE"
    assert server.ask("/mcp", method="POST", body=b"x" * (2 << 20)).status == 413


def test_other_sites_and_strangers_are_refused(server):
    assert post(server, "ping", Origin="http://evil.example").status == 403
    assert post(server, "ping", host="evil.example").status == 403
    assert post(server, "ping", Sec_Fetch_Site="cross-site").status == 403
    assert post(server, "ping", Origin=f"http://127.0.0.1:{server.port}").status == 200
    with serving(EXAMPLES / "train", "--token", "correct-horse") as guarded:
        assert post(guarded, "ping").status == 403
        assert post(guarded, "ping", Authorization="Bearer wrong-horse").status == 403
        assert post(guarded, "ping", Authorization="Bearer correct-horse").status == 200
