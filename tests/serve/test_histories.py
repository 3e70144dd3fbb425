# SPDX-License-Identifier: Apache-2.0
"""Stores of many runs (holotrace history) below a log directory: listed, read and never written, whoever made them."""
import csv
import json
import os
import shutil
import sqlite3
import time

import pytest
import support

from client import quote, serving

EXAMPLES = support.ROOT / "examples"


def make_store(path, n=30, since=18):
    """step is the sum of step/kernel, which takes 50 and from run `since` on 60, and step/other, which stays; plus a ripple of 0.2."""
    table = path.with_suffix(".csv")
    with open(table, "w") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "step", "step/kernel", "step/other"])
        for i in range(n):
            kernel, other = (50 if i < since else 60) + 0.2 * (i % 3), 40 + 0.2 * (i % 2)
            writer.writerow([f"c{i}", kernel + other, kernel, other])
    done = support.run("history", str(path), "--import", str(table))
    assert done.returncode == (1 if since < n else 0), done.stderr
    table.unlink()
    return path


def listed(runs):
    return {one["name"]: one for one in runs["histories"]}


def by_cli(store, *args):
    done = support.run("history", str(store), *args, "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_a_store_is_shown_as_the_command_line_shows_it(tmp_path):
    store = make_store(tmp_path / "runs.db")
    before = store.read_bytes()
    with serving(tmp_path) as server:
        found = listed(server.until(lambda runs: runs["histories"]))["runs.db"]
        path = f"/api/v1/histories/{quote(found['id'])}"
        for query, args in (("", ()), ("?view=series&path=step/kernel", ("--view", "series", "--path", "step/kernel")),
                            ("?view=latest&top=2", ("--view", "latest", "--top", "2")), ("?since=c20", ("--since", "c20"))):
            answer = server.ask(path + query)
            wanted = by_cli(store, *args)
            assert answer.status == 200 and answer.json()["rows"] == wanted["rows"], query
            assert [one["name"] for one in answer.json()["columns"]] == [one["name"] for one in wanted["columns"]]
        changes = server.ask(path).json()
        row = dict(zip((one["name"] for one in changes["columns"]), changes["rows"][0]))
        assert (row["change"], row["path"], row["label"], row["previous_label"]) == ("regression", "step", "c18", "c17")
        assert row["children"] == "step/kernel +19.9 %"  # 10 of 50.2
        latest = server.ask(path + "?view=latest&format=csv").body.decode().splitlines()
        assert latest[0].startswith("metric,path,label,value,unit,level,since") and len(latest) == 4
        for query in ("?view=none", "?window=x", "?min-change=-1", "?add=x", "?label=x", "?import=x", "?top=many"):
            assert server.ask(path + query).status == 400, query
        assert server.ask("/api/v1/histories/other.db").status == 404
        assert server.ask(path, method="POST", body="{}").status == 405
    assert store.read_bytes() == before and [one.name for one in tmp_path.iterdir()] == ["runs.db"]


def test_a_store_that_is_named_and_traces_beside_it(tmp_path):
    store = make_store(tmp_path / "nightly.sqlite3")
    with serving(store) as server:
        runs = server.until(lambda runs: runs["histories"])
        assert list(listed(runs)) == ["nightly.sqlite3"] and runs["runs"] == []
    shutil.copytree(EXAMPLES / "ddp", tmp_path / "ddp")
    with serving(tmp_path) as server:
        runs = server.until(lambda runs: runs["histories"] and runs["runs"])
        assert [run["name"] for run in runs["runs"]] == ["ddp"]


def test_a_store_that_grows_and_goes(tmp_path):
    store = make_store(tmp_path / "runs.db", n=18, since=99)
    with serving(tmp_path) as server:
        first = listed(server.until(lambda runs: runs["histories"]))["runs.db"]
        path = f"/api/v1/histories/{quote(first['id'])}"
        assert server.ask(path).json()["rows"] == []
        make_store(store, n=30, since=0)
        second = listed(server.until(lambda runs: runs["histories"][0]["generation"] > first["generation"]))["runs.db"]
        assert second["id"] == first["id"]
        assert [row[0] for row in server.ask(path).json()["rows"]][:1] == ["regression"]
        store.unlink()
        server.until(lambda runs: not runs["histories"])
        assert server.ask(path).status == 404


# ---- whoever made them ----

def hostile(path, *statements):
    make_store(path, n=6, since=99)
    with sqlite3.connect(path) as file:
        for statement in statements:
            file.execute(statement)
    return path


HOSTILE = {
    "view.db": ["DROP TABLE runs", "CREATE VIEW runs AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
                "SELECT id, 'x' AS label FROM n"],
    "generated.db": ["DROP TABLE series", "CREATE TABLE series(id INTEGER PRIMARY KEY, metric TEXT, "
                     "path AS (hex(zeroblob(100000000))), unit TEXT, higher_is_better INTEGER)", "INSERT INTO series(id, metric) VALUES(1, 'm')"],
    "absent.db": ["DROP TABLE points"],
    "version.db": ["PRAGMA user_version=99"],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_store_defines_is_not_run(tmp_path, name):
    hostile(tmp_path / name, *HOSTILE[name])
    with serving(tmp_path) as server:
        found = listed(server.until(lambda runs: runs["histories"]))[name]
        began = time.monotonic()
        answer = server.ask(f"/api/v1/histories/{quote(found['id'])}")
        assert answer.status in (422, 500) and answer.json()["error"]
        assert time.monotonic() - began < 20
    assert support.run("history", str(tmp_path / name)).returncode == 3


def test_more_rows_than_values(tmp_path):
    """Keys that are none, texts for numbers, an index that lists fewer rows than the table, 3,000 runs and 3,000 series with 3,000 points."""
    store = hostile(tmp_path / "wide.db", "DELETE FROM points", "DROP TABLE runs", "CREATE TABLE runs(id, label)",
                    "CREATE INDEX few ON runs(id) WHERE id < 3",
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO runs SELECT i, 'r' || i FROM n",
                    "INSERT INTO runs VALUES('text', x'ff'), (1, 'again'), (NULL, NULL)",
                    "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 3010) INSERT INTO series "
                    "SELECT i, 'm', 'p' || i, '', 'yes' FROM n",
                    "INSERT INTO points(series, run, value) SELECT id, 7, 1.5 FROM series WHERE id > 10",
                    "INSERT INTO points(series, run, value) VALUES(11, 'x', 3), ('y', 7, 3), (12, 9, 'word'), (12, 99999, 1)")
    began = time.monotonic()
    done = support.run("history", str(store), "--view", "latest", "--format", "csv")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 1 + 3000, done.stderr
    assert time.monotonic() - began < 60


def test_links_lead_nowhere(tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "logs"
    outside.mkdir()
    folder.mkdir()
    make_store(outside / "runs.db")
    make_store(folder / "own.db")
    (folder / "linked.db").symlink_to(outside / "runs.db")
    with sqlite3.connect(folder / "other.db") as other:
        other.execute("CREATE TABLE t(x)")
    (folder / "text.db").write_text("no database")
    with serving(folder) as server:
        assert list(listed(server.until(lambda runs: runs["histories"]))) == ["own.db"]
        assert server.ask("/api/v1/histories/linked.db").status == 404
        # one that is swapped in after it was listed is not followed either
        (folder / "own.db").unlink()
        (folder / "own.db").symlink_to(outside / "runs.db")
        assert server.ask("/api/v1/histories/own.db").status in (404, 422, 500)


def test_a_store_that_is_being_written(tmp_path):
    store = make_store(tmp_path / "runs.db")
    (tmp_path / "runs.db-journal").write_bytes(b"x" * 512)
    done = support.run("history", str(store))
    assert done.returncode == 3 and b"another program is writing the history" in done.stderr
    os.truncate(tmp_path / "runs.db-journal", 0)
    assert support.run("history", str(store)).returncode == 1
