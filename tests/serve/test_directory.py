# SPDX-License-Identifier: Apache-2.0
"""A log directory that changes while it is served, and who may ask."""
import contextlib
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
import support

import trickle
from client import Server, cpu_seconds, serving

EXAMPLES = support.ROOT / "examples"


def event(name, ts=1, rank=None):
    header = {} if rank is None else {"distributedInfo": {"rank": rank}}
    return json.dumps({**header, "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": name, "ts": ts, "dur": 5, "pid": 1, "tid": 1}]})


def old(path, text):
    """A file that was written a while ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(path, (time.time() - 60, time.time() - 60))


def by_name(runs):
    return {run["name"]: run for run in runs["runs"]}


@pytest.mark.alone
def test_the_url_comes_at_once(tmp_path):
    with serving(EXAMPLES) as server:
        assert server.seconds_to_url < (5 if support.is_sanitized() else 1)
        assert server.url == f"http://127.0.0.1:{server.port}/"


def test_plain_snapshots_and_perfetto_traces(tmp_path):
    """Names without .json are files all the same: snapshots of two ranks, which no trace is beside, and a Perfetto trace."""
    data = support.ROOT / "tests" / "snapshot" / "data" / "plain"
    for rank, name in enumerate(("leak", "clean")):
        old(tmp_path / "memory" / f"rank{rank}.pickle", gzip.decompress((data / f"{name}.pickle.gz").read_bytes()))
    (tmp_path / "a.json").write_text(event("first"))
    support.output("convert", tmp_path / "a.json", "-o", tmp_path / "out.pftrace")
    (tmp_path / "perfetto").mkdir()
    shutil.move(tmp_path / "out.pftrace", tmp_path / "perfetto" / "rank0.pftrace")
    (tmp_path / "a.json").unlink()
    with serving(tmp_path) as server:
        runs = by_name(server.until(lambda runs: len(runs["runs"]) == 2 and
                                    all(run["state"] in ("ready", "failed") for run in runs["runs"])))
    assert {name: (run["state"], [worker["name"] for worker in run["workers"]]) for name, run in runs.items()} == {
        "memory": ("ready", ["rank0.pickle", "rank1.pickle"]), "perfetto": ("ready", ["rank0.pftrace"])}


def test_a_directory_that_grows(tmp_path):
    with serving(tmp_path) as server:
        assert server.until(lambda runs: not runs["scanning"])["runs"] == []
        old(tmp_path / "a" / "host_0.1700000000001.pt.trace.json", event("first", rank=0))
        first = by_name(server.until(lambda runs: runs["runs"] and runs["runs"][0]["state"] == "ready"))["a"]
        assert [worker["name"] for worker in first["workers"]] == ["host_0"] and first["spans"] == []
        old(tmp_path / "a" / "host_1.1700000000001.pt.trace.json", event("second", rank=1))
        second = by_name(server.until(lambda runs: len(runs["runs"][0]["workers"]) == 2
                                      and runs["runs"][0]["state"] == "ready"))["a"]
        assert second["generation"] > first["generation"] and second["id"] == first["id"]
        assert [worker["rank"] for worker in second["workers"]] == [0, 1]
        rows = server.table("a", "events", columns="rank,name").json()["rows"]
        assert rows == [[0, "first"], [1, "second"]]
        # a second recording of one worker: spans
        old(tmp_path / "a" / "host_0.1700000000002.pt.trace.json", event("third", rank=0))
        third = by_name(server.until(lambda runs: len(runs["runs"][0]["workers"]) == 3
                                     and runs["runs"][0]["state"] == "ready"))["a"]
        assert third["spans"] == ["1", "2"]
        assert [(worker["name"], worker["span"], worker["rank"]) for worker in third["workers"]] == [
            ("host_0", "1", 0), ("host_0", "2", 0), ("host_1", "1", 1)]
        assert server.table("a", "events", columns="name", span="2").json()["rows"] == [["third"]]
        assert server.table("a", "events", columns="name", span="1").json()["rows"] == [["first"], ["second"]]


def bytes_read(pid):
    return int(re.search(r"rchar: (\d+)", pathlib.Path(f"/proc/{pid}/io").read_text())[1])


def large(name, rank, n=20000):
    """About 3 MB, of which a sample of a few blocks shows that it is what it was."""
    events = [{"ph": "X", "cat": "cpu_op", "name": f"{name} {i % 50}", "ts": 10 * i, "dur": 5, "pid": 1, "tid": 1, "args": {"text": "x" * 60}} for i in range(n)]
    return json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": events})


@pytest.mark.skipif(not pathlib.Path("/proc/self/io").exists(), reason="skipped: the system does not count what processes read")
def test_files_that_are_known_are_not_read_again(tmp_path):
    """Ranks come one by one: with each the server, and `summary` with its cache, read the new file and little more, however many there are."""
    folder, cache = tmp_path / "run", tmp_path / "cache"
    with serving(folder.parent, "--cache-dir", cache) as server:
        for rank in range(5):
            before = bytes_read(server.process.pid)
            old(folder / f"host_{rank}.1700000000001.pt.trace.json", large("op", rank))
            size = (folder / f"host_{rank}.1700000000001.pt.trace.json").stat().st_size
            server.until(lambda runs: runs["runs"] and len(runs["runs"][0]["workers"]) == rank + 1 and runs["runs"][0]["state"] == "ready")
            answer = server.table("run", "operators", columns="name,calls").json()
            calls = next(i for i, c in enumerate(answer["columns"]) if c["name"] == "calls")
            assert sum(row[calls] for row in answer["rows"]) == 20000 * (rank + 1)
            assert size < bytes_read(server.process.pid) - before < 1.5 * size + 300_000 * rank
        # the command line takes all from the cache, and one more file from the disk
        for rank, new in ((5, True), (5, False)):
            if new:
                old(folder / f"host_{rank}.1700000000001.pt.trace.json", large("op", rank))
            done = subprocess.Popen([support.EXE, "summary", folder, "--cache-dir", cache], stdout=subprocess.DEVNULL, env=support.environment())
            os.waitid(os.P_PID, done.pid, os.WEXITED | os.WNOWAIT)
            got = bytes_read(done.pid)
            assert done.wait() == 0
            # small stores are read, not mapped
            stored = sum(path.stat().st_size for path in cache.rglob("*.htc"))
            assert (size if new else 0) < got < (1.5 * size if new else 0) + stored + 2_000_000 < 6 * size


@pytest.mark.skipif(not pathlib.Path("/proc/self/maps").exists(), reason="skipped: the system does not tell what processes map")
def test_only_what_is_looked_at_is_opened(tmp_path):
    """What was asked before is answered from parts that the cache keeps, byte for byte, and no trace is opened for it."""
    asked = ("steps", "kernels", "operators", "collectives", "stragglers")
    folder, cache = tmp_path / "run", tmp_path / "cache"
    for rank in range(3):  # large enough to be mapped
        old(folder / f"host_{rank}.1700000000001.pt.trace.json", large("op", rank, 60000))

    def opened(server):
        return set(re.findall(r"\w+\.trace\.htc", pathlib.Path(f"/proc/{server.process.pid}/maps").read_text()))

    def answers(server):
        server.ready()
        return [server.table("run", verb).body for verb in asked]

    with serving(tmp_path, "--cache-dir", cache) as server:
        first = answers(server)
    with serving(tmp_path, "--cache-dir", cache) as server:
        assert answers(server) == first and opened(server) == set()
        tile = server.ask("/api/v1/runs/run/tile?rank=1&level=14&index=0")
        assert tile.status == 200 and len(opened(server)) == 1
    with serving(tmp_path, "--no-cache") as server:
        assert answers(server) == first


def test_files_of_other_formats_are_listed(tmp_path):
    """A Perfetto trace, an export of Nsight Systems and a compressed one of two processes: three runs that answer."""
    if b"SQLite" not in support.output("version"):
        pytest.skip("skipped: built without SQLite")
    (tmp_path / "p").mkdir()
    (tmp_path / "n").mkdir()
    (tmp_path / "z").mkdir()
    support.output("convert", EXAMPLES / "train" / "train.json.gz", "-o", tmp_path / "p" / "train.pftrace", "--no-cache")
    database = tmp_path / "n" / "a.sqlite"
    with contextlib.closing(sqlite3.connect(database)) as db:
        db.executescript("""
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
                correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
            INSERT INTO StringIds VALUES (1, 'gemm');
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 350, 0, 7, 1, 117440512, 1), (400, 650, 0, 7, 2, 117440512, 1);""")
    packed = tmp_path / "z" / "b.sqlite.gz"
    shutil.copy(database, tmp_path / "b.tmp")
    with contextlib.closing(sqlite3.connect(tmp_path / "b.tmp")) as db:
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 150, 1, 7, 1, 150994944, 1)")
        db.commit()
    packed.write_bytes(gzip.compress((tmp_path / "b.tmp").read_bytes()))
    (tmp_path / "b.tmp").unlink()
    for path in (tmp_path / "p" / "train.pftrace", database, packed):
        os.utime(path, (time.time() - 60, time.time() - 60))
    with serving(tmp_path) as server:
        runs = by_name(server.until(lambda runs: len(runs["runs"]) == 3 and all(r["state"] == "ready" for r in runs["runs"])))
        assert set(runs) == {"p", "n", "z"}
        assert {(w["name"], w["vendor"], w["rank"]) for run in runs.values() for w in run["workers"]} == {
            ("train.pftrace", "gpu", 0), ("a.sqlite", "gpu", 0), ("b.sqlite.gz#7", "gpu", 0), ("b.sqlite.gz#9", "gpu", 1)}
        answer = server.table("n", "kernels").json()
        columns = [c["name"] if isinstance(c, dict) else c for c in answer["columns"]]
        assert [dict(zip(columns, row))["name"] for row in answer["rows"]] == ["gemm"]
        assert server.table("p", "kernels").json()["rows"]


def test_a_file_that_changes_is_read_again(tmp_path):
    path = tmp_path / "x.pt.trace.json"
    old(path, event("before"))
    with serving(tmp_path) as server:
        run, = server.ready()["runs"]
        assert run["id"] == "~" and run["name"] == tmp_path.name
        tag = server.table("~", "events").headers["ETag"]
        old(path, event("after, and longer"))
        server.until(lambda runs: runs["runs"][0]["generation"] > run["generation"])
        answer = server.table("~", "events", columns="name")
        assert answer.json()["rows"] == [["after, and longer"]]
        assert server.ask("/api/v1/runs/~/table/events", If_None_Match=tag).status == 200


def test_what_is_being_written_is_read_when_it_rests(tmp_path):
    with serving(tmp_path) as server:
        (tmp_path / "x.pt.trace.json").write_text(event("new"))
        run, = server.until(lambda runs: runs["runs"] and runs["runs"][0]["state"] == "ready")["runs"]
        assert run["workers"][0]["events"] == 1


def test_files_that_go_away(tmp_path):
    for rank in range(2):
        old(tmp_path / "a" / f"w{rank}.pt.trace.json", event(f"rank {rank}", rank=rank))
    with serving(tmp_path) as server:
        server.ready()
        (tmp_path / "a" / "w1.pt.trace.json").unlink()
        run, = server.until(lambda runs: runs["runs"][0]["workers"][1]["files"][0]["state"] == "failed")["runs"]
        assert "gone" in run["workers"][1]["files"][0]["error"]
        server.until(lambda runs: server.table("a", "events", columns="name").json()["rows"] == [["rank 0"]])
        shutil.rmtree(tmp_path / "a")
        server.until(lambda runs: runs["runs"][0]["state"] == "failed")
        answer = server.until(lambda runs: server.table("a", "events").status == 422) and server.table("a", "events")
        assert "gone" in answer.json()["error"]
        assert server.ask("/api/v1/rescan", "POST", "").status == 202
        assert server.until(lambda runs: runs["runs"] == [])
        shutil.rmtree(tmp_path)
        assert server.until(lambda runs: not runs["scanning"])["runs"] == []
        assert server.table("a", "events").status == 404


def test_broken_files_do_not_hide_others(tmp_path):
    old(tmp_path / "r" / "good.pt.trace.json", event("good"))
    old(tmp_path / "r" / "empty.pt.trace.json", b"")
    old(tmp_path / "r" / "noise.pt.trace.json", b"\x00\xff" * 500)
    old(tmp_path / "r" / "cut.pt.trace.json.gz", gzip.compress(event("cut").encode() * 50)[:60])
    old(tmp_path / "r" / "notes.txt", b"nothing")
    old(tmp_path / "r" / "config.json", b"{}")
    with serving(tmp_path) as server:
        run, = server.ready()["runs"]
        states = {worker["name"]: worker["files"][0] for worker in run["workers"]}
        assert states["good"]["state"] == "ready"
        for name in ("empty", "noise"):
            assert states[name]["state"] == "failed" and states[name]["error"], name
        assert "notes.txt" not in json.dumps(run) and "config" not in states
        assert ["good"] in server.table("r", "events", columns="name").json()["rows"]


def test_links_do_not_lead_out(tmp_path):
    old(tmp_path / "outside" / "secret.pt.trace.json", event("secret"))
    inside = tmp_path / "logs"
    old(inside / "a" / "own.pt.trace.json", event("own"))
    (inside / "a" / "link.pt.trace.json").symlink_to(tmp_path / "outside" / "secret.pt.trace.json")
    (inside / "a" / "near.pt.trace.json").symlink_to(inside / "b" / "near.pt.trace.json")
    old(inside / "b" / "near.pt.trace.json", event("near"))
    (inside / "linked").symlink_to(tmp_path / "outside")
    rank = inside / "n" / "w_17_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    rank.mkdir(parents=True)
    (rank / "trace_view.json").symlink_to(tmp_path / "outside" / "secret.pt.trace.json")
    with serving(inside) as server:
        runs = by_name(server.ready())
        assert "link leads out" in json.dumps(runs["a"]) and "linked" not in runs
        for run in runs.values():
            assert b"secret" not in server.table(run["id"], "events", columns="name").body.replace(b"secret.pt", b"")
    with serving(inside, "--follow-links") as server:
        server.ready()
        assert ["secret"] in server.table("a", "events", columns="name").json()["rows"]


def test_a_refused_link_stays_refused(tmp_path):
    old(tmp_path / "outside" / "secret.json", event("secret"))
    inside = tmp_path / "logs"
    old(inside / "a" / "own.pt.trace.json", event("own"))
    (inside / "a" / "s.pt.trace.json").symlink_to(tmp_path / "outside" / "secret.json")
    with serving(inside, "-r") as server:
        for i in range(4):
            run, = [run for run in server.ready()["runs"] if run["id"] == "a"]
            assert [file["error"] is not None for worker in run["workers"] for file in worker["files"]] == [False, True]
            assert b"secret" not in server.table("a", "events", columns="name").body
            # a further run shows that the folder was looked at again
            old(inside / f"b{i}" / "own.pt.trace.json", event("own"))
            server.ask("/api/v1/rescan", "POST", "")
            support.wait_until(lambda: len(server.ready()["runs"]) == i + 2)


def swap(folder, outside, end):
    """A file, a folder and a database that are links out of the log directory every other moment."""
    own, link = folder / "x.own", folder / "x.link"
    for name, target in (("own", None), ("link", outside / "secret.json")):
        if target:
            link.symlink_to(target)
        else:
            old(own, event("own"))
    (folder / "d.own").mkdir()
    old(folder / "d.own" / "deep.pt.trace.json", event("deep"))
    (folder / "d.link").symlink_to(outside)
    turn = 0
    while time.monotonic() < end:
        name = ("own", "link")[turn % 2]
        turn += 1
        for target, kind in (("s.pt.trace.json", "x"), ("d", "d")):
            with contextlib.suppress(OSError):
                (folder / target).rename(folder / f"{kind}.{('link', 'own')[turn % 2]}")
            with contextlib.suppress(OSError):
                (folder / f"{kind}.{name}").rename(folder / target)


def test_a_link_that_is_swapped_in_is_not_followed(tmp_path):
    """Whoever writes to the log directory may swap a file for a link between any two calls of the server."""
    old(tmp_path / "outside" / "secret.json", event("secret"))
    old(tmp_path / "outside" / "secret.pt.trace.json", event("secret"))
    inside = tmp_path / "logs" / "a"
    old(inside / "own.pt.trace.json", event("own"))
    swapper = threading.Thread(target=swap, args=(inside, tmp_path / "outside", time.monotonic() + 6))
    with serving(tmp_path / "logs", "-r") as server:
        server.ready()
        swapper.start()
        while swapper.is_alive():
            server.ask("/api/v1/rescan", "POST", "")
            for run in server.runs()["runs"]:
                answer = server.ask(f"/api/v1/runs/{run['id']}/sql", "POST", json.dumps({"query": "select name from events"}))
                assert b"secret" not in answer.body
                assert b"secret" not in server.table(run["id"], "events", columns="name").body
        swapper.join()


def test_hostile_names(tmp_path):
    script = "<script>alert(1)</script>"
    long = "x" * (1 << 20)
    events = [{"ph": "X", "cat": "cpu_op", "name": name, "ts": i, "dur": 1, "pid": 1, "tid": 1}
              for i, name in enumerate([script, long, "a\u0000b\u001b[2J\u2028", "\"'&%2F../"])]
    old(tmp_path / ("<b>&'\" %2f é") / "w<i>.pt.trace.json", json.dumps({"traceEvents": events}))
    with serving(tmp_path) as server:
        run, = server.ready()["runs"]
        assert run["name"] == "<b>&'\" %2f é" and set(run["id"]) <= set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-~!")
        answer = server.table(run["id"], "events", columns="name")
        names = [row[0] for row in answer.json()["rows"]]
        assert names[0] == script and names[1] == long and answer.headers["Content-Type"] == "application/json"
        for path in ("tracks", "search?q=script", "event?id=0:0", "event?id=0:1", "range?from=0&to=100"):
            got = server.ask(f"/api/v1/runs/{run['id']}/{path}")
            assert got.status == 200 and got.headers["Content-Type"] == "application/json", path
            got.json()
        page = server.table(run["id"], "events", format="html")
        assert script.encode() not in page.body and page.headers["Content-Type"].startswith("text/plain")


# ---- who may ask ----

@pytest.fixture(scope="module")
def local():
    with serving(EXAMPLES / "cpu") as server:
        server.ready()
        yield server


@pytest.mark.parametrize("host, status", [
    ("localhost", 200), ("localhost:1234", 200), ("127.0.0.1", 200), ("127.9.9.9:80", 200), ("[::1]:6006", 200),
    ("my.localhost", 200), ("evil.example", 403), ("localhost.evil.example", 403), ("127.0.0.1.evil.example", 403),
    ("192.168.1.1", 403), ("", 403), ("localhost:x", 403), ("[::1", 403), ("localhost@evil.example", 403),
])
def test_host(local, host, status):
    assert local.ask("/api/v1/runs", host=host).status == status


def test_host_must_be_said_once(local):
    assert b" 403 " in local.raw(b"GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n"
                                 b"Connection: close\r\n\r\n").split(b"\r\n")[0]
    assert b" 200 " not in local.raw(b"GET /api/v1/runs HTTP/1.0\r\n\r\n").split(b"\r\n")[0]


@pytest.mark.parametrize("origin, status", [
    ("http://localhost:7", 200), ("https://localhost:7", 200), ("http://localhost:8", 403),
    ("http://evil.example", 403), ("null", 403), ("file://", 403), ("http://localhost:7.evil.example", 403),
])
def test_origin(local, origin, status):
    assert local.ask("/api/v1/runs", host="localhost:7", Origin=origin).status == status
    assert local.ask("/api/v1/rescan", "POST", "", host="localhost:7", Origin=origin).status == (
        202 if status == 200 else status)


def test_pages_of_other_sites(local):
    for site in ("cross-site", "same-site"):
        assert local.ask("/api/v1/runs", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors").status == 403
        assert local.ask("/api/v1/runs", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate").status == 403
    assert local.ask("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate").status != 403
    assert local.ask("/api/v1/runs", Sec_Fetch_Site="same-origin").status == 200


def test_token():
    with serving(EXAMPLES / "cpu", "--host", "0.0.0.0") as server:
        token = server.url.split("token=")[1]
        assert len(token) == 32
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Bearer " + token[:-1]},
                        {"Cookie": f"holotrace_{server.port}=" + "0" * 32}, {"Authorization": token}):
            answer = server.ask("/api/v1/runs", **headers)
            assert answer.status == 403 and "token" in answer.json()["error"]
        assert server.ask("/").status == 403
        assert server.ask("/api/v1/runs", Authorization=f"Bearer {token}").status == 200
        page = server.ask(f"/?token={token}")
        cookie = page.headers["Set-Cookie"]
        assert page.status in (200, 404) and "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert server.ask("/api/v1/runs", Cookie="a=b; " + cookie.split(";")[0]).status == 200
        assert server.ask("/api/v1/runs", host="any.example", Cookie=cookie.split(";")[0]).status == 200


def test_path_prefix():
    with serving(EXAMPLES / "cpu", "--path_prefix", "/some/where/") as server:
        assert server.url.endswith("/some/where/")
        assert server.ask("/some/where/api/v1/runs").status == 200
        assert server.ask("/api/v1/runs").status == 404
        moved = server.ask("/some/where")
        assert moved.status == 308 and moved.headers["Location"] == "/some/where/"


# ---- the program ----

def test_tensorboards_options(tmp_path):
    old(tmp_path / "x.pt.trace.json", event("x"))
    with serving(f"--logdir={tmp_path}", "--bind_all", "--token", "0123456789") as server:
        assert "token=0123456789" in server.url
        assert server.ask("/api/v1/runs?token=0123456789").status == 200


def test_a_taken_port(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = Server(tmp_path, port=str(port))
        assert server.code == 4 and "port" in server.error


@pytest.mark.parametrize("args, code", [
    ([], 2), (["/no/such/directory"], 3), (["-"], 2), ([".", "--port", "x"], 2), ([".", "--port", "70000"], 2),
    ([".", "--token", "short"], 2), ([".", "--path_prefix", "x"], 2), ([".", "--host", "no.such.name"], 2),
    ([".", "--token", "with blank inside"], 2),
])
def test_wrong_usage(args, code):
    server = Server(*args, port=None)
    assert server.code == code and server.error.startswith("holotrace: ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ending(number):
    """At any time: while it reads, while somebody waits for news, and while somebody computes."""
    for comes in (lambda server: True, lambda server: server.runs()["runs"], Server.ready):
        server = Server(EXAMPLES)
        with socket.create_connection(("127.0.0.1", server.port)) as waiting:
            waiting.sendall(b"GET /api/v1/runs?after=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            support.wait_until(lambda: comes(server))
            begin = time.monotonic()
            code, said = server.stop(number)
        assert code == 0, said
        assert time.monotonic() - begin < 20
        assert "Sanitizer" not in said


def test_nohup_is_obeyed():
    """A server that was started to outlive its terminal does."""
    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    server = Server(EXAMPLES / "cpu", preexec_fn=ignore)
    for number in (signal.SIGINT, signal.SIGHUP):
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        ignored = int(re.search(r"^SigIgn:\s*([0-9a-f]+)", status, re.MULTILINE)[1], 16)
        assert ignored >> (number - 1) & 1
        server.process.send_signal(number)
        assert server.ask("/api/v1/runs").status == 200
    assert server.stop(signal.SIGTERM)[0] == 0


def test_malformed_requests(local):
    """Requests of chance: the server answers or closes, and goes on."""
    chance = random.Random(7)
    seeds = [b"GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
             b"GET /api/v1/runs/~/table/events?top=3&where=name%20~%20x HTTP/1.1\r\nHost: localhost\r\n"
             b"Accept-Encoding: gzip\r\nIf-None-Match: \"x\"\r\nConnection: close\r\n\r\n",
             b"POST /api/v1/runs/~/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 22\r\n"
             b"Connection: close\r\n\r\n{\"query\": \"select 1\"}  ",
             b"POST /api/v1/rescan HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
             b"Connection: close\r\n\r\n4\r\nabcd\r\n0\r\n\r\n"]
    bits = [b"\r\n", b"\0", b"%", b"%00", b"\xff\xfe", b"?", b"&", b"=", b"/", b"A" * 40000, b"Host: x\r\n",
            b"Content-Length: -1\r\n", b"Content-Length: 99999999999999999999\r\n", b" ", b"HTTP/9.9", b"{", b"\\u",
            b"&a=b" * 200, b"~", b"@"]
    for _ in range(120):
        data = bytearray(chance.choice(seeds))
        for _change in range(chance.randint(1, 6)):
            at = chance.randrange(len(data) + 1)
            kind = chance.randrange(4)
            if kind == 0:
                data[at:at] = chance.choice(bits)
            elif kind == 1:
                del data[at:at + chance.randint(1, 20)]
            elif kind == 2 and at < len(data):
                data[at] = chance.randrange(256)
            else:
                data = data[:max(at, 1)]
        local.raw(bytes(data), seconds=0.3)
    assert local.ask("/api/v1/runs").status == 200


# ---- hostile heads and slow clients ----

def status_of(answer):
    return int(answer.split()[1]) if answer.startswith(b"HTTP/") else answer


def test_formulas_in_csv(tmp_path):
    """Programs get what the trace says, a person who downloads for a spreadsheet nothing that it computes."""
    old(tmp_path / "a" / "own.pt.trace.json", event('=HYPERLINK("http://evil")'))
    with serving(tmp_path) as server:
        server.ready()
        plain = server.table("a", "events", columns="name", format="csv")
        assert plain.body == b'name\n"=HYPERLINK(""http://evil"")"\n'
        safe = server.table("a", "events", columns="name", format="csv", **{"safe-csv": "true"})
        assert safe.body == b'name\n"\'=HYPERLINK(""http://evil"")"\n'
        assert server.table("a", "events", format="csv", **{"safe-csv": "2"}).status == 400


@pytest.mark.alone
def test_many_parameters_are_refused_at_once(tmp_path):
    old(tmp_path / "a" / "own.pt.trace.json", event("own"))
    with serving(tmp_path) as server:
        server.ready()
        for n, text in ((100, "a{}=1"), (1000, "a{}=1"), (10000, "a"), (9000, "")):
            begin = time.monotonic()
            query = "&".join(text.format(i) for i in range(n))
            answer = server.raw(f"GET /api/v1/runs?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            assert status_of(answer) == (400 if text else 200), (n, text, answer[:100])
            assert time.monotonic() - begin < 3


def test_a_head_means_one_thing(tmp_path):
    old(tmp_path / "a" / "own.pt.trace.json", event("own"))
    one = b"Host: 127.0.0.1\r\n"
    with serving(tmp_path) as server:
        server.ready()
        for head in (b"Host: 127.0.0.1\0.evil\r\n", one + b"Origin: http://127.0.0.1\r\nOrigin: http://evil\r\n",
                     one + b"Content-Length: 0\r\nContent-Length: 5\r\n",
                     one + b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", one + b"X-Y: a\0b\r\n",
                     one + b"Sec-Fetch-Site: same-origin\r\nsec-fetch-site: cross-site\r\n",
                     one + b"Authorization: a\r\nAuthorization: b\r\n"):
            assert status_of(server.raw(b"GET /api/v1/runs HTTP/1.1\r\n" + head + b"\r\n")) == 400, head
        assert status_of(server.raw(b"GET /api/v1/runs HTTP/1.1\r\n" + one + b"X-Y:z\r\nX-Y: z\r\n\r\n")) == 200


@contextlib.contextmanager
def trickling(port):
    """1,040 who trickle, and come again when they are closed."""
    tricklers = subprocess.Popen([sys.executable, trickle.__file__, str(port), "1040"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 text=True)
    try:
        assert tricklers.stdout.readline() == "all are there\n"
        yield
    finally:
        n_closed, _ = tricklers.communicate("end")
    assert int(n_closed) > 1040, "strangers have little room"


@pytest.mark.alone
def test_clients_who_say_little_keep_nobody_out(tmp_path):
    """Whoever asks for the page has it within a second, of a server with a token and of one without, while many trickle at each."""
    old(tmp_path / "a" / "own.pt.trace.json", event("own"))
    token = "geheim-genug-und-lang"
    took = []
    with serving(tmp_path) as open_, serving(tmp_path, "--host", "127.0.0.1", "--token", token) as closed:
        asked = [(open_, ""), (closed, f"?token={token}")]
        for server, query in asked:
            support.wait_until(lambda: server.ask("/api/v1/runs" + query).json()["runs"])
        with trickling(open_.port), trickling(closed.port):
            end = time.monotonic() + (30 if support.LONG else 6)
            while time.monotonic() < end:
                for path in ("/", "/api/v1/runs", "/api/v1/runs/a/table/events"):
                    for server, query in asked:
                        begin = time.monotonic()
                        assert server.ask(path + query).status == 200
                        took.append(time.monotonic() - begin)
    assert max(took) < (5 if support.is_sanitized() else 1), sorted(took)[-5:]


def test_a_request_has_its_time(tmp_path):
    """The whole of a request has ten seconds, of who trickles its head and of who trickles its body."""
    old(tmp_path / "a" / "own.pt.trace.json", event("own"))
    with serving(tmp_path) as server:
        server.ready()
        begin = time.monotonic()
        slow = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in trickle.HEADS]
        for connection, head in zip(slow, trickle.HEADS):
            connection.sendall(head)
        open_ = dict(enumerate(slow))

        def all_closed():
            for i, connection in list(open_.items()):
                try:
                    connection.send(b"x")
                except OSError:
                    assert time.monotonic() - begin > 5
                    connection.close()
                    del open_[i]
            return not open_

        support.wait_until(all_closed, 25, every=0.5)


def test_strangers_are_refused_before_their_body(tmp_path):
    old(tmp_path / "a" / "own.pt.trace.json", event("own"))
    with serving(tmp_path, "--token", "geheim-genug-und-lang") as server:
        head = b"POST /api/v1/runs/a/sql%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=8) as connection:
            connection.sendall(head % b"")
            assert status_of(connection.recv(4096)) == 403
        with socket.create_connection(("127.0.0.1", server.port), timeout=1) as connection:
            connection.sendall(head % b"?token=geheim-genug-und-lang")
            with pytest.raises(TimeoutError):
                connection.recv(4096)


def test_scripts_come_from_the_page_alone(tmp_path):
    old(tmp_path / "a" / "own.pt.trace.json", event("own"))
    with serving(tmp_path) as server:
        policy = server.ask("/").headers["Content-Security-Policy"]
        assert "require-trusted-types-for 'script'" in policy and "trusted-types 'none'" in policy
        assert policy.endswith("frame-ancestors 'self'")


@pytest.mark.parametrize("ports, allowed", [("8888", ["8888"]), ("8888,6006", ["8888", "6006"]), ("any", ["*"])])
def test_frames_are_those_of_the_ports(tmp_path, ports, allowed):
    old(tmp_path / "a" / "own.pt.trace.json", event("own"))
    with serving(tmp_path, "--frame-ports", ports) as server:
        ancestors = server.ask("/").headers["Content-Security-Policy"].split("frame-ancestors ")[1].split()
        assert ancestors == ["'self'"] + [f"{scheme}://{host}:{port}" for port in allowed for scheme in ("http", "https")
                                          for host in ("localhost", "127.0.0.1")]


@pytest.mark.parametrize("ports", ["", "x", "0", "65536", "1,", "1 2", "8888;script-src *", ",".join(["1"] * 17)])
def test_frames_that_are_no_ports(tmp_path, ports):
    server = Server(tmp_path, "--frame-ports", ports)
    assert server.code == 2 and ("ports" in server.error or "empty" in server.error)


@pytest.mark.alone
def test_many_folders_stall_nobody(tmp_path):
    """Thousands of runs, and thousands of files in one: answers come meanwhile, and an order to stop is obeyed."""
    for i in range(20000 if support.LONG else 3000):
        old(tmp_path / f"r{i}" / "w.pt.trace.json", event("x"))
        old(tmp_path / "all" / f"w{i}.pt.trace.json", event("x"))
    server = Server(tmp_path)
    longest, end = 0, time.monotonic() + 60
    while time.monotonic() < end:
        begin = time.monotonic()
        is_scanning = server.runs()["scanning"]
        longest = max(longest, time.monotonic() - begin)
        if not is_scanning:
            break
    begin = time.monotonic()
    code, said = server.stop(signal.SIGTERM)
    assert code == 0 and not is_scanning, said
    if not support.is_sanitized():
        assert longest < 1 and time.monotonic() - begin < 1


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time of their own")
def test_files_of_one_folder_cost_what_they_are(tmp_path):
    """Neither the folder nor the cache is listed for each file: four times the files take about four times as long to read."""
    took, (few, many) = {}, (800, 3200) if support.LONG else (300, 1200)
    for n in (few, many):
        folder, cache = tmp_path / f"logs{n}", tmp_path / f"cache{n}"
        cache.mkdir()
        for i in range(n):
            old(folder / "all" / f"w{i}.pt.trace.json", event("x"))
            # of other programs, long ago
            old(cache / f"{i:032x}.htc", b"x" * 4096)
        os.utime(folder / "all", (time.time() - 60,) * 2)
        with serving(folder, "--cache-dir", cache, "--cache-max", str(2 * n * 4096)) as server:
            ready = server.until(lambda runs: runs["runs"] and runs["runs"][0]["state"] == "ready", 120, every=0.5)
            assert len(ready["runs"][0]["workers"]) == n
            took[n] = cpu_seconds(server.process.pid)
    assert took[many] < 8 * max(took[few], 0.1), took
