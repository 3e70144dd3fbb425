# SPDX-License-Identifier: Apache-2.0
"""Every route over the bundled runs: the numbers are the command line's, and what is described is what is there."""
import concurrent.futures
import gzip
import json
import os
import re
import shutil
import socket
import subprocess

import pytest
import support

from client import serving

EXAMPLES = support.ROOT / "examples"


@pytest.fixture(scope="module")
def server():
    with serving(EXAMPLES) as one:
        one.ready()
        yield one


def described():
    return json.loads((support.ROOT / "serve" / "openapi.json").read_text())


def test_the_description_has_the_routes():
    text = (support.ROOT / "serve" / "routes.def").read_text()
    routes = {(path, method.lower()) for method, path in re.findall(r'^ROUTE\((\w+), "([^"]+)"', text, re.M)}
    assert routes == {(path, method) for path, item in described()["paths"].items() for method in item}


def test_the_description_names_its_parts():
    document = described()
    assert set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document))) <= set(document["components"]["schemas"])
    for path, item in document["paths"].items():
        for operation in item.values():
            placed = {given["name"] for given in operation["parameters"] if given["in"] == "path"}
            assert placed == set(re.findall(r"\{(\w+)\}", path)), path


def conforms(value, schema, where=""):
    """A little of JSON Schema: what the description uses."""
    if "$ref" in schema:
        return conforms(value, described()["components"]["schemas"][schema["$ref"].split("/")[-1]], where)
    if "enum" in schema:
        assert value in schema["enum"], f"{where}: {value}"
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None),
             "array": list, "object": dict}
    if types:
        assert any(isinstance(value, kinds[kind]) for kind in types), f"{where}: {value!r} is no {types}"
    for name in schema.get("required", []):
        assert name in value, f"{where}.{name}"
    if isinstance(value, dict):
        assert set(value) <= set(schema.get("properties", value)), f"{where}: {set(value)}"
        for name, part in schema.get("properties", {}).items():
            conforms(value[name], part, f"{where}.{name}")
    for part in (value if isinstance(value, list) and "items" in schema else [])[:50]:
        conforms(part, schema["items"], f"{where}[]")


@pytest.mark.parametrize("path, schema", [
    ("/api/v1/runs", "Runs"), ("/api/v1/analyses", "Analyses"), ("/api/v1/runs/ddp/table/steps", "Table"),
    ("/api/v1/runs/ddp/tracks", "Tracks"), ("/api/v1/runs/nothing/table/steps", "Problem"),
])
def test_answers_are_as_described(server, path, schema):
    conforms(server.ask(path).json(), {"$ref": f"#/components/schemas/{schema}"})


def test_runs_are_those_of_the_directory(server):
    runs = {run["name"]: run for run in server.runs()["runs"]}
    assert {"cpu", "ddp", "train", "straggler", "diff/control", "diff/test"} <= set(runs)
    assert runs["diff/control"]["id"] == "diff~control"
    ddp = runs["ddp"]
    assert [worker["rank"] for worker in ddp["workers"]] == [0, 1, 2, 3]
    assert [worker["vendor"] for worker in ddp["workers"]] == ["gpu"] * 4
    assert "H200" in ddp["workers"][0]["device"]
    assert runs["cpu"]["workers"][0]["vendor"] == "cpu"
    assert ddp["state"] == "ready" and ddp["spans"] == []
    for worker in ddp["workers"]:
        file, = worker["files"]
        assert file["done"] == file["bytes"] == (EXAMPLES / file["path"]).stat().st_size
        assert file["error"] is None


def test_every_analysis_is_the_command_lines(server):
    """The registry's analyses over a run: rows, columns and notes as `holotrace VERB --format json` has them."""
    analyses = server.ask("/api/v1/analyses").json()["analyses"]
    assert len(analyses) > 30
    for analysis in analyses:
        if analysis["n_sets"] != 1:
            continue
        query = {"top": 20} if analysis["lists_events"] else {}
        got = server.table("train", analysis["name"], **query)
        options = [word for name, value in query.items() for word in (f"--{name}", str(value))]
        done = support.run(analysis["name"], EXAMPLES / "train", "--format", "json", *options)
        if done.returncode > 1:
            assert got.status in (400, 422), analysis["name"]
            assert got.json()["error"] in done.stderr.decode()
            continue
        assert got.status == 200, (analysis["name"], got.body)
        want, table = json.loads(done.stdout), got.json()
        for name in ("title", "method", "columns", "notes"):
            assert table[name] == want[name], analysis["name"]
        assert table["hidden"] == want["n_hidden"]
        exact = [[str(cell) if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) >= 2**53 else cell
                  for cell in row] for row in want["rows"]]
        assert table["rows"] == exact, analysis["name"]


#: What a browser is told of each, and as what it keeps those that are for programs; none is shown as a page.
TYPES = {"text": ("text/plain", None), "csv": ("text/csv", "table.csv"), "json": ("application/json", None),
         "ndjson": ("application/x-ndjson", None), "md": ("text/markdown", None), "html": ("text/plain", None),
         "folded": ("text/plain", "table.folded"),
         "arrow": ("application/vnd.apache.arrow.stream", "table.arrow"),
         "feather": ("application/vnd.apache.arrow.file", "table.feather")}


def given(path, name):
    """The schema of an option of a route."""
    return next(one["schema"] for one in described()["paths"][path]["get"]["parameters"] if one["name"] == name)


def test_the_description_has_the_formats():
    """Those that the program writes, and as what each comes."""
    for path in ("/api/v1/runs/{run}/table/{verb}", "/api/v1/histories/{history}"):
        assert given(path, "format") == {"type": "string", "enum": support.formats(), "default": "json"}
        answer = described()["paths"][path]["get"]["responses"]["200"]["content"]
        assert set(answer) == {TYPES[format_][0] for format_ in support.formats()}


def test_the_description_has_the_choices(server):
    """Of every option with choices, they are those that are taken, and the others say that they are not."""
    verbs = {verb["name"]: verb["options"] for verb in json.loads(support.output("help", "--json"))["verbs"]}
    view = next(option for option in verbs["history"] if option["name"] == "view")
    assert given("/api/v1/histories/{history}", "view") == {"type": "string", "enum": view["choices"].split("|"), "default": view["default"]}
    search = given("/api/v1/runs/{run}/search", "direction")
    assert search["enum"] == ["next", "previous"] and search["default"] == "next"
    names = [one["name"] for one in server.ask("/api/v1/analyses").json()["analyses"]]
    drawn = {name for name in names if server.ask(f"/api/v1/runs/train/overlay?name={name}").status != 400}
    assert set(given("/api/v1/runs/{run}/overlay", "name")["enum"]) == drawn
    listed = {(path, one["name"]) for path, item in described()["paths"].items() for operation in item.values()
              for one in operation["parameters"] if "enum" in one["schema"]}
    assert {name for _, name in listed} == {"format", "view", "direction", "name"} and len(listed) == 5


@pytest.mark.parametrize("format_", TYPES)
def test_every_format_has_its_type(server, format_):
    got = server.table("ddp", "stacks", format=format_, top=2)
    type_, name = TYPES[format_]
    assert got.status == 200 and got.body
    assert got.headers["Content-Type"].split(";")[0] == type_
    assert got.headers.get("Content-Disposition") == (name and f'attachment; filename="{name}"')


@pytest.mark.parametrize("format_", ["csv", "md", "arrow", "feather"])
def test_other_formats_are_the_same_bytes(server, format_):
    got = server.table("ddp", "temporal-breakdown", format=format_, sort="-rank", columns="rank,idle_ns")
    want = support.output("temporal-breakdown", EXAMPLES / "ddp", "--format", format_, "--sort", "-rank",
                          "--columns", "rank,idle_ns")
    assert got.status == 200 and got.body == want


def test_ranks_in_several_files_are_one_set(server):
    """Clocks and collectives over ranks: read file by file, and the numbers are those of the whole."""
    for verb in ("stragglers", "comm-overlap", "health"):
        want = json.loads(support.output(verb, EXAMPLES / "ddp", "--format", "json"))
        assert server.table("ddp", verb).json()["rows"] == want["rows"], verb


def test_comparisons(server):
    got = server.table("diff~test", "diff", base="diff~control", top=10).json()
    want = json.loads(support.output("diff", EXAMPLES / "diff/control", EXAMPLES / "diff/test", "--top", "10",
                                     "--format", "json"))
    assert got["rows"] == want["rows"] and got["hidden"] == want["n_hidden"]
    assert server.table("diff~test", "diff").status == 400
    assert server.table("diff~test", "diff", base="none").status == 404


def test_pages_of_rows(server):
    whole = server.table("train", "operators").json()["rows"]
    assert server.table("train", "operators", top=3, offset=2).json()["rows"] == whole[2:5]


def test_sql(server):
    ask = lambda body: server.ask("/api/v1/runs/ddp/sql", "POST", body, Content_Type="application/json")
    got = ask(json.dumps({"query": "select rank, count(*) as n from events group by rank order by rank"}))
    if got.status == 400 and "SQLite" in got.json()["error"]:
        pytest.skip(got.json()["error"])
    counts = {worker["rank"]: worker["events"]
              for run in server.runs()["runs"] if run["id"] == "ddp" for worker in run["workers"]}
    assert dict(map(tuple, got.json()["rows"])) == counts
    assert ask(json.dumps({"query": "select '\u20ac\U0001f600\"' as x"})).json()["rows"] == [["\u20ac\U0001f600\""]]
    for bad in ("", "{", '{"query": 1}', '{"query": "drop table events"}', '{"query": "\\ud800"}', '{"x": "y"}'):
        assert ask(bad).status == 400, bad
    assert ask(json.dumps({"query": "select * from memory_timeline('file=/etc/passwd')"})).status == 400


def test_timeline(server):
    tracks = server.ask("/api/v1/runs/ddp/tracks").json()
    assert {track["rank"] for track in tracks["tracks"]} == {0, 1, 2, 3} and len(tracks["steps"]) == 12
    tile = server.ask("/api/v1/runs/ddp/tile?rank=1&level=24&index=0")
    assert tile.status == 200 and tile.body[:4] == b"HTT1"
    found = server.ask("/api/v1/runs/ddp/search?q=AllReduce&limit=3").json()
    assert len(found["events"]) == 3 and "allreduce" in found["events"][0]["name"].lower()
    event = found["events"][0]["id"]
    assert server.ask(f"/api/v1/runs/ddp/event?id={event}").status == 200
    assert server.ask(f"/api/v1/runs/ddp/flows?id={event}").status == 200
    assert server.ask("/api/v1/runs/ddp/range?from=0&to=1000000").status == 200
    for path, status in [("tile?rank=9&level=1&index=0", 404), ("tile?rank=0&level=99&index=0", 400),
                         ("tile?rank=0,1&level=1&index=0", 400), ("event?id=0:99999999", 404), ("event?id=x", 400),
                         ("event", 400), ("search", 400), ("search?q=a&limit=0", 400), ("range?from=x", 400)]:
        assert server.ask(f"/api/v1/runs/ddp/{path}").status == status, path


@pytest.mark.parametrize("path, status", [
    ("/nothing", 404), ("/api/v1/runs/ddp/table/nothing", 404), ("/api/v1/runs/ddp/table/et-nodes", 404),
    ("/api/v1/runs/none/table/steps", 404), ("/api/v1/runs//table/steps", 404), ("/api/v1/runs/ddp/table/steps/x", 404),
    ("/api/v1/runs/ddp/table/steps?nothing=1", 400), ("/api/v1/runs/ddp/table/steps?where=(", 400),
    ("/api/v1/runs/ddp/table/steps?top=x", 400), ("/api/v1/runs/ddp/table/steps?top=-1", 400),
    ("/api/v1/runs/ddp/table/steps?format=xml", 400), ("/api/v1/runs/ddp/table/steps?rank=99", 400),
    ("/api/v1/runs/ddp/table/steps?span=7", 404), ("/api/v1/runs/ddp/table/steps?x=%00", 400),
    ("/api/v1/runs/ddp/table/steps?x=%zz", 400), ("/api/v1/runs/%00/table/steps", 404),
    ("/api/v1/runs?after=x", 400), ("/assets/none.js", 404),
])
def test_wrong_questions(server, path, status):
    answer = server.ask(path)
    assert answer.status == status, answer.body
    assert set(answer.json()) == {"error", "file", "offset", "hint"} and answer.json()["error"]


@pytest.mark.parametrize("path", ["/etc/passwd", "/../../etc/passwd", "/assets/../../../etc/passwd",
                                  "/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/api/v1/runs/..%2f..%2fetc/table/info",
                                  "/api/v1/runs/~etc/table/info", "//etc/passwd", "/assets//etc/passwd"])
def test_no_way_out(server, path):
    answer = server.ask(path)
    assert answer.status == 404 and b"root:" not in answer.body


def test_parameters_that_name_files_are_refused(server):
    answer = server.table("train", "memory-timeline", file="/etc/passwd")
    assert answer.status == 400 and "files" in answer.json()["error"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST"])
def test_methods(server, method):
    answer = server.ask("/api/v1/runs", method)
    assert answer.status == 405 and answer.headers["Allow"] == "GET, HEAD"
    assert server.ask("/api/v1/rescan").status == 405


def test_head(server):
    whole, head = server.table("ddp", "steps"), server.ask("/api/v1/runs/ddp/table/steps", "HEAD")
    assert head.status == 200 and head.body == b""
    assert int(head.headers["Content-Length"]) == len(whole.body)


def test_conditional_requests(server):
    path = "/api/v1/runs/ddp/table/kernel-breakdown"
    first = server.ask(path)
    tag = first.headers["ETag"]
    assert tag and first.headers["Cache-Control"] == "private, no-cache"
    again = server.ask(path, If_None_Match=f'"other", {tag}')
    assert again.status == 304 and again.body == b"" and again.headers["ETag"] == tag
    assert server.ask(path, If_None_Match='"other"').status == 200
    assert server.ask(path + "?top=1").headers["ETag"] != tag
    assert server.ask(path, Accept_Encoding="gzip").headers["ETag"] != tag
    assert server.ask("/api/v1/runs/none/table/steps").headers["ETag"] is None


def test_encodings(server):
    path = "/api/v1/runs/ddp/table/kernel-breakdown"
    plain = server.ask(path)
    assert plain.headers["Content-Encoding"] is None and plain.headers["Vary"] == "Accept-Encoding"
    packed = server.ask(path, Accept_Encoding="gzip, deflate")
    assert packed.headers["Content-Encoding"] == "gzip" and gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body)
    if shutil.which("zstd"):
        packed = server.ask(path, Accept_Encoding="gzip, deflate, br, zstd")
        assert packed.headers["Content-Encoding"] == "zstd"
        done = subprocess.run(["zstd", "-dc"], input=packed.body, stdout=subprocess.PIPE, check=True)
        assert done.stdout == plain.body
    for refused in ("identity", "br", "gzip;q=0", "zstd;q=0.0, gzip; q=0"):
        assert server.ask(path, Accept_Encoding=refused).headers["Content-Encoding"] is None, refused


def test_headers_that_guard_browsers(server):
    for path in ("/", "/api/v1/runs", "/nothing", "/api/v1/runs/ddp/table/steps?format=html"):
        headers = server.ask(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
        assert policy.endswith("frame-ancestors 'self'")
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert server.ask("/api/v1/runs/ddp/table/steps?format=html").headers["Content-Type"].startswith("text/plain")


def test_many_at_once(server):
    """Readers beside each other get what one alone gets."""
    paths = [f"/api/v1/runs/{run}/table/{verb}?top={top}" for run in ("ddp", "train", "straggler")
             for verb in ("steps", "kernel-breakdown", "operators", "summary", "temporal-breakdown")
             for top in (3, 4)]
    want = {path: server.ask(path).body for path in paths[:10]}
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(server.ask, paths * 8))
    assert {answer.status for answer in answers} == {200}
    for path, answer in zip(paths * 8, answers):
        want.setdefault(path, answer.body)
        assert answer.body == want[path]


def test_waiting_for_news(server):
    generation = server.runs()["generation"]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waits = pool.submit(server.runs, after=generation)
        with pytest.raises(concurrent.futures.TimeoutError):
            waits.result(timeout=0.5)
        assert server.ask("/api/v1/rescan", "POST", "").status == 202
        assert waits.result(timeout=10)["generation"] > generation


def test_a_large_body_is_refused(server):
    answer = server.ask("/api/v1/runs/ddp/sql", "POST", b"x" * (2 << 20))
    assert answer.status == 413


@pytest.mark.parametrize("leave", [lambda one: one.shutdown(socket.SHUT_WR), socket.socket.close], ids=["half", "whole"])
def test_who_left_waits_for_no_news(server, leave):
    """Waiting takes 20 s; a client that has ended its side, or is gone, is let go within a tick of the server."""
    folder = f"/proc/{server.process.pid}/fd"
    before = len(os.listdir(folder))
    generation = server.runs()["generation"]
    one = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    one.sendall(f"GET /api/v1/runs?after={generation} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    support.wait_until(lambda: len(os.listdir(folder)) > before)
    # whoever waits is answered after this one was
    assert server.runs()["generation"] == generation
    leave(one)
    support.wait_until(lambda: len(os.listdir(folder)) <= before, 10)
    if leave is not socket.socket.close:
        assert one.recv(12) == b"HTTP/1.1 200"
    one.close()
