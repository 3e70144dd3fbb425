# SPDX-License-Identifier: Apache-2.0
"""Sessions of agents over HTTP: what is remembered between requests, what one request cancels of another, and their end."""
import json
import os
import threading

import pytest

import support
from test_mcp import held
from test_mcp_http import EXAMPLES, events_of, post, serving

#: as many as the server keeps
MAX_SESSIONS = 500
#: never ends, but by the time that a request has
ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"


@pytest.fixture(scope="module")
def server():
    with serving(EXAMPLES, "--request-time", "600") as one:
        one.ready()
        yield one


def greet(server, version="2025-06-18"):
    """The id of a new session."""
    got = post(server, "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}})
    assert got.status == 200 and got.json()["result"]["protocolVersion"] == version
    session = got.headers["Mcp-Session-Id"]
    assert all("!" <= letter <= "~" for letter in session)
    assert post(server, "notifications/initialized", number=None, Mcp_Session_Id=session).status == 202
    return session


def end(server, session):
    return server.ask("/mcp", method="DELETE", Mcp_Session_Id=session).status


def is_there(server, session):
    status = post(server, "ping", Mcp_Session_Id=session).status
    assert status in (200, 404)
    return status == 200


def cancel(server, session, number):
    got = post(server, "notifications/cancelled", {"requestId": number}, number=None, Mcp_Session_Id=session)
    assert got.status == 202 and got.body == b""


class Asking:
    """A call of the tool sql on its way."""

    def __init__(self, server, session, number, query=ENDLESS, meta=None, **headers):
        question = {"name": "sql", "arguments": {"run": "train", "query": query}, "_meta": meta or {}}
        body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": question})
        headers = {"Accept": "application/json, text/event-stream", "Mcp_Session_Id": session, **headers}
        self.thread = threading.Thread(
            target=lambda: setattr(self, "got", server.ask("/mcp", method="POST", body=body, timeout=120, **headers)))
        self.thread.start()

    def is_over(self):
        return not self.thread.is_alive()

    def until_over(self, act):
        """What it got, with something done until it is there: nobody can see from outside when it has come in."""
        support.wait_until(lambda: act() or self.is_over(), 100)
        self.thread.join()
        return self.got


def test_a_session_from_beginning_to_end(server):
    first, second = greet(server), greet(server)
    assert first != second and len(first) >= 32
    assert post(server, "ping", Mcp_Session_Id=first).json()["result"] == {}
    assert end(server, first) == 204
    gone = post(server, "ping", Mcp_Session_Id=first)
    assert gone.status == 404 and "initialize" in gone.json()["hint"]
    assert end(server, first) == 404 and is_there(server, second)
    assert server.ask("/mcp", method="DELETE").status == 400
    for unknown in ("", "x", "0" * 32, second[:-1], second + "0", "é"):
        assert not is_there(server, unknown), unknown
    assert end(server, second) == 204


def test_who_has_no_session_is_answered(server):
    """As ever: only initialize begins one, and only where it is answered with a result."""
    for method, params in (("ping", {}), ("tools/list", {}), ("initialize", {}), ("logging/setLevel", {"level": "error"})):
        got = post(server, method, params)
        assert got.status == 200 and "Mcp-Session-Id" not in got.headers, method
    assert post(server, "notifications/cancelled", {"requestId": 1}, number=None).status == 202


def test_the_same_request_twice_is_answered_twice(server):
    """Answers of a session are nobody else's, whatever the id."""
    sessions = [greet(server) for _ in range(2)]
    got = [post(server, "ping", number="same", Mcp_Session_Id=session) for session in sessions * 2]
    assert [one.json() for one in got] == [{"jsonrpc": "2.0", "id": "same", "result": {}}] * 4
    assert all("ETag" not in one.headers and one.headers["Cache-Control"] == "no-store" for one in got)
    assert [end(server, session) for session in sessions] == [204, 204]


def test_the_version_is_remembered(server):
    question = {"name": "summary", "arguments": {"run": "train"}}
    for version, has_structure in (("2025-06-18", True), ("2024-11-05", False)):
        session = greet(server, version)
        result = post(server, "tools/call", question, Mcp_Session_Id=session).json()["result"]
        assert ("structuredContent" in result) == has_structure
        assert end(server, session) == 204


def test_the_level_is_the_sessions(tmp_path):
    text = (EXAMPLES / "train" / "train.json.gz").read_bytes()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "train.json.gz").write_bytes(text[:len(text) // 2])
    with serving(tmp_path) as server:
        server.ready()

        def told(session, number):
            got = post(server, "tools/call", {"name": "summary"}, number=number, Mcp_Session_Id=session)
            return [message["params"]["level"] for message in events_of(got)[:-1]] if got.headers[
                "Content-Type"] == "text/event-stream" else []

        def set_level(session, level):
            return post(server, "logging/setLevel", {"level": level}, Mcp_Session_Id=session).json()

        quiet, other = greet(server), greet(server)
        assert told(quiet, 1) == ["warning"]
        assert set_level(quiet, "error")["result"] == {}
        assert told(quiet, 2) == [] and told(other, 2) == ["warning"]
        assert set_level(quiet, "loud")["error"]["code"] == -32602
        assert told(quiet, 3) == []
        # the same message as before is not taken for done
        for level, heard in (("debug", ["warning"]), ("error", []), ("debug", ["warning"])):
            set_level(quiet, level)
            assert told(quiet, level) == heard


@pytest.mark.parametrize("accept, status, kind", [
    ("application/json, text/event-stream", 200, "text/event-stream"), ("application/json", 204, None)])
def test_a_cancelled_call_has_no_answer(server, accept, status, kind):
    session = greet(server)
    asking = Asking(server, session, "slow", Accept=accept)
    got = asking.until_over(lambda: cancel(server, session, "slow"))
    assert got.status == status and got.body == b"" and (not kind or got.headers["Content-Type"] == kind)
    assert is_there(server, session) and end(server, session) == 204


def test_a_stream_that_has_begun_ends_without_an_answer(server):
    """Two requests of a session: each ends when it is cancelled itself, and has at most its progress before."""
    session = greet(server)
    other, told = Asking(server, session, 5), Asking(server, session, 6, meta={"progressToken": 5})
    got = told.until_over(lambda: cancel(server, session, 6))
    assert all(message["method"] == "notifications/progress" for message in events_of(got))
    assert not other.is_over()
    assert other.until_over(lambda: cancel(server, session, 5)).body == b""
    assert end(server, session) == 204


def test_others_cannot_cancel(server):
    """Neither another session, nor who has none, nor by another id: the call has its answer."""
    mine, other = greet(server), greet(server)
    counted = ENDLESS.replace("FROM c)", "FROM c WHERE n < 2000000)")

    def try_all():
        cancel(server, other, 9)
        cancel(server, mine, "9")
        post(server, "notifications/cancelled", {"requestId": 9}, number=None)

    got = Asking(server, mine, 9, counted).until_over(try_all)
    assert got.json()["result"]["structuredContent"]["tables"][0]["rows"] == [[2000000]]
    assert [end(server, session) for session in (mine, other)] == [204, 204]


def test_cancelling_does_not_wait_for_a_worker(server):
    """More endless calls than there are workers: a message that cancels one is taken while all are busy."""
    session = greet(server)
    asking = {number: Asking(server, session, number) for number in range(20)}

    def cancel_all():
        for number in [number for number, one in asking.items() if not one.is_over()]:
            cancel(server, session, number)
        return all(one.is_over() for one in asking.values())

    support.wait_until(cancel_all, 100)
    for one in asking.values():
        one.thread.join()
        assert (one.got.status, one.got.body) == (200, b"")
    assert post(server, "none", number=None, Mcp_Session_Id=session).status == 202
    broken = server.ask("/mcp", method="POST", body=b"{", Mcp_Session_Id=session)
    assert broken.status == 200 and broken.json()["error"]["code"] == -32700
    assert end(server, session) == 204


def test_the_end_of_a_session_cancels_what_it_has_under_way(server):
    session = greet(server)
    asking = [Asking(server, session, number) for number in range(8)]
    # some run, some wait for a worker; what comes in behind the end is refused
    ended = []
    support.wait_until(lambda: ended.append(end(server, session)) or all(one.is_over() for one in asking), 100)
    assert ended[0] == 204 and set(ended[1:]) <= {404}
    for one in asking:
        one.thread.join()
        assert (one.got.status, one.got.body) == (200, b"") or one.got.status == 404


def test_the_guard_is_before_sessions():
    with serving(EXAMPLES / "train", "--token", "correct-horse") as guarded:
        allowed = {"Authorization": "Bearer correct-horse"}
        got = post(guarded, "initialize", {"protocolVersion": "2025-06-18"}, **allowed)
        session = got.headers["Mcp-Session-Id"]
        assert post(guarded, "ping", Mcp_Session_Id=session).status == 403
        assert end(guarded, session) == 403
        assert post(guarded, "ping", Mcp_Session_Id=session, Origin="http://evil.example", **allowed).status == 403
        assert post(guarded, "ping", Mcp_Session_Id=session, **allowed).status == 200


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_a_thousand_sessions():
    """Memory and descriptors stay: the longest idle ones go, and who is used stays."""
    with serving(EXAMPLES / "train") as server:
        server.ready()
        used = greet(server)
        first = [greet(server) for _ in range(MAX_SESSIONS - 1)]
        n_files, n_pages = held(server.process)
        second = []
        for i in range(1000):
            if i % 100 == 0:
                assert is_there(server, used)
            second.append(greet(server))
        support.wait_until(lambda: held(server.process)[0] <= n_files)
        if not support.is_sanitized():
            # what threads keep for the next allocation comes and goes: 8 MiB of 4 KiB pages
            assert held(server.process)[1] - n_pages < 2048
        assert len({used, *first, *second}) == 1 + len(first) + len(second)
        assert not any(is_there(server, session) for session in first[::50])
        assert not is_there(server, second[1000 - MAX_SESSIONS])
        assert is_there(server, second[1000 - MAX_SESSIONS + 1]) and is_there(server, second[-1]) and is_there(server, used)
