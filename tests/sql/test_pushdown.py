# SPDX-License-Identifier: Apache-2.0
"""What is pushed down into the tables: the plan says so, and answers are the same as without.

A plus before a column keeps SQLite from pushing its constraint down, so each query has a twin that looks at every row.
"""
import json
import pathlib
import random
import sqlite3

import pytest

import support

TRAIN = support.ROOT / "examples" / "train" / "train.json.gz"
DDP = support.ROOT / "examples" / "ddp"


@pytest.fixture(scope="module", autouse=True)
def needs_sqlite():
    if b"no databases" in support.output("version"):
        pytest.skip("the program was built without SQLite")


def rows(query, trace=TRAIN):
    return support.read_csv(support.output("sql", trace, query, "--format", "csv"))[1]


def plan(query, trace=TRAIN):
    return " / ".join(row[-1] for row in rows("EXPLAIN QUERY PLAN " + query, trace))


@pytest.mark.parametrize("where, path", [
    ("id = 77", "by id: id=?"),
    ("rank = 0 AND row = 5", "by row: rank=? AND row=?"),
    ("correlation = 5", "correlation index: correlation=?"),
    ("parent = 9", "children: parent=?"),
    ("launch = 9", "by launch: launch=?"),
    ("ts_ns BETWEEN 1 AND 9", "tracks by start: ts_ns>=? AND ts_ns<=?"),
    ("track = 1 AND time_ns >= 5", "tracks by start: track=? AND time_ns>=?"),
    ("track = 1 AND ts_ns < 9 AND end_ns > 5", "range index: track=? AND ts_ns<? AND end_ns>?"),
    ("name = 'a' AND kind = 'kernel'", "scan: name=? AND kind=?"),
    ("name LIKE '%a%' AND name GLOB '*a*'", "scan: name GLOB ? AND name LIKE ?"),
    ("rank > 0 AND step = 3 AND dur_ns >= 7", "scan: rank>? AND step=? AND dur_ns>=?"),
    ("rank IN (0, 1) AND name IN ('a', 'b')", "scan: rank IN ? AND name IN ?"),
    ("kind = 'kernel' OR kind = 'cpu_op'", "scan: kind IN ?"),
    ("correlation IN (5, 6)", "correlation index: correlation=?"),
])
def test_plans(where, path):
    assert path in plan(f"SELECT * FROM events WHERE {where}")


def test_order_is_served():
    assert "TEMP B-TREE" not in plan("SELECT name, sum(dur_ns) FROM gpu GROUP BY name")
    assert "GROUPED BY name" in plan("SELECT name, sum(dur_ns) FROM gpu GROUP BY name")
    assert "TEMP B-TREE" not in plan("SELECT * FROM events ORDER BY rank, row")
    assert "TEMP B-TREE" not in plan("SELECT rank, class FROM gpu ORDER BY class DESC, rank")
    assert "TEMP B-TREE" in plan("SELECT name FROM gpu ORDER BY name COLLATE NOCASE")
    assert "TEMP B-TREE" in plan("SELECT * FROM gpu ORDER BY dur_ns")
    # a list is one walk, and its rows come in one order
    assert "TEMP B-TREE" not in plan("SELECT name, count(*) FROM gpu WHERE rank IN (0, 1) GROUP BY name", DDP)


def values_of(trace):
    """Some values of each column, and some that no row has."""
    events = rows("SELECT id + 0, rank, row, ts_ns, dur_ns, end_ns, time_ns, track, step, correlation, parent + 0, "
                  "launch + 0, op + 0 FROM events ORDER BY ts_ns * 2654435761 % 1000003 LIMIT 400", trace)
    names = ["id", "rank", "row", "ts_ns", "dur_ns", "end_ns", "time_ns", "track", "step", "correlation", "parent",
             "launch", "op"]
    found = {name: sorted({row[i] for row in events if row[i] is not None}) for i, name in enumerate(names)}
    return {name: values + ["-1", "NULL", "'x'", "1.5", "9223372036854775807"] for name, values in found.items()}


@pytest.mark.parametrize("trace", [TRAIN, DDP], ids=["train", "ddp"])
def test_same_answers(trace, tmp_path):
    """Random constraints, with and without pushing them down, in one query each so that it is quick."""
    values, chance = values_of(trace), random.Random(15)
    columns = {"events": list(values), "gpu": [name for name in values if name != "parent"],
               "ops": [name for name in values if name not in ("launch", "op", "correlation")],
               "launches": [name for name in values if name not in ("launch", "op")]}
    texts = {"name": ["'aten::mm'", "'cudaLaunchKernel'", "NULL", "5"], "kind": ["'kernel'", "'cpu_op'", "'none'"]}
    selects = []
    for _ in range(400):
        table = chance.choice(list(columns))
        tests = []
        for name in chance.sample(columns[table], chance.randint(1, 3)):
            if chance.random() < 0.3:
                listed = ", ".join(chance.choice(values[name]) for _ in range(chance.choice((1, 2, 2, 30))))
                tests.append((name, f"IN ({listed})"))
                continue
            op = "=" if name in ("id", "correlation", "parent", "launch", "op") or chance.random() < 0.3 else \
                chance.choice(["<", "<=", ">", ">=", "BETWEEN"])
            a, b = chance.choice(values[name]), chance.choice(values[name])
            tests.append((name, f"BETWEEN min({a}, {b}) AND max({a}, {b})" if op == "BETWEEN" else f"{op} {a}"))
        if chance.random() < 0.3:
            name = chance.choice(list(texts))
            tests.append((name, chance.choice([f"= {chance.choice(texts[name])}", f"IN ({', '.join(texts[name])})",
                                               f"IN ({texts[name][0]}, {texts[name][1]}, 'x', 7)"])))
        if chance.random() < 0.2:
            tests.append(("name", chance.choice(["LIKE '%LAUNCH%'", "GLOB 'aten::*'", "LIKE 'aten\\_\\_%' ESCAPE '\\'"])))
        pushed = " AND ".join(f"{name} {test}" for name, test in tests)
        plain = " AND ".join(f"+{name} {test}" for name, test in tests)
        selects.append((table, pushed, plain))
    query = " UNION ALL ".join(
        f"SELECT {i} AS i, (SELECT count(*) || ' ' || total(id % 1000003) FROM {table} WHERE {pushed}) AS a, "
        f"(SELECT count(*) || ' ' || total(id % 1000003) FROM {table} WHERE {plain}) AS b"
        for i, (table, pushed, plain) in enumerate(selects))
    (tmp_path / "query.sql").write_text(query)
    got = support.read_csv(support.output("sql", trace, "-f", tmp_path / "query.sql", "--format", "csv"))[1]
    assert len(got) == len(selects)
    for (i, pushed, plain), select in zip(got, selects):
        assert pushed == plain, select
    assert sum(row[1] != "0 0.0" for row in got) > 30


def test_overlap_by_range_index_is_that_by_hand():
    first, last = map(int, rows("SELECT min(ts_ns), max(end_ns) FROM gpu")[0])
    spans = rows("SELECT track, ts_ns, end_ns FROM events WHERE end_ns IS NOT NULL")
    chance = random.Random(3)
    tracks = sorted({row[0] for row in spans})
    for _ in range(12):
        a, b = sorted(chance.randint(first, last) for _ in range(2))
        track = chance.choice(tracks)
        wanted = sum(row[0] == track and int(row[1]) < b and int(row[2]) > a for row in spans)
        query = f"SELECT count(*) FROM events WHERE track = {track} AND ts_ns < {b} AND end_ns > {a}"
        assert rows(query) == [[str(wanted)]]


def test_overlap_in_a_join():
    """Enough questions that the index is made: which host spans of a thread overlap each kernel?"""
    wanted = rows("SELECT g.id, count(*) FROM gpu g JOIN events e ON +e.track = 0 AND +e.ts_ns < g.end_ns AND "
                  "+e.end_ns > g.ts_ns WHERE g.row % 9 = 0 GROUP BY g.id")
    got = rows("SELECT g.id, count(*) FROM gpu g CROSS JOIN events e ON e.track = 0 AND e.ts_ns < g.end_ns AND "
               "e.end_ns > g.ts_ns WHERE g.row % 9 = 0 GROUP BY g.id")
    assert got == wanted and len(got) > 30


def test_rows_without_a_usable_time(tmp_path):
    """Metadata with a time, kernels at time zero, events without a time: an index must not lose them."""
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "ts": 5, "args": {"name": "p", "correlation": 4}},
              {"ph": "X", "cat": "kernel", "name": "zero", "pid": 0, "tid": 7, "ts": 0, "dur": 0,
               "args": {"correlation": 4, "stream": 7, "device": 0}},
              {"ph": "X", "cat": "cpu_op", "name": "absurd", "pid": 1, "tid": 1, "ts": 1e30, "dur": 3,
               "args": {"correlation": 4}},
              {"ph": "i", "name": "no time", "pid": 1, "tid": 1, "args": {"correlation": "4"}},
              {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 4, "dur": 3}]
    trace = tmp_path / "t.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    for where in ("correlation = 4", "ts_ns BETWEEN 0 AND 9000", "track = 0 AND ts_ns < 9000 AND end_ns > -1",
                  "ts_ns < 9000 AND end_ns > -1", "track = 0 AND ts_ns < 5000", "track = 1 AND ts_ns >= 0",
                  "time_ns BETWEEN -99999 AND 99999"):
        for table in ("events", "gpu"):
            plain = " AND ".join("+" + test if not test[0].isdigit() else test for test in where.split(" AND "))
            assert rows(f"SELECT row FROM {table} WHERE {where} ORDER BY +row", trace) == \
                rows(f"SELECT row FROM {table} WHERE {plain} ORDER BY +row", trace), (table, where)
    assert [row[0] for row in rows("SELECT row FROM events WHERE correlation = 4 ORDER BY +row", trace)] == \
        ["0", "1", "2", "3"]


def test_extension():
    """The same tables inside another program's SQLite: Python's own."""
    extension = pathlib.Path(support.EXE).parent / "holotrace_sqlite.so"
    if not extension.exists():
        pytest.skip("the extension was not built")
    with sqlite3.connect(":memory:") as db:
        if not hasattr(db, "enable_load_extension"):
            pytest.skip("this Python's sqlite3 loads no extensions")
        db.enable_load_extension(True)
        db.load_extension(str(extension.with_suffix("")))
        with pytest.raises(sqlite3.OperationalError, match="no traces are open"):
            db.execute("SELECT * FROM gpu").fetchall()
        assert db.execute("SELECT holotrace_open(?)", [str(DDP)]).fetchone() == (4,)
        query = "SELECT name, sum(dur_ns) FROM gpu GROUP BY name"
        assert [[str(cell) for cell in row] for row in db.execute(query)] == rows(query, DDP)
        db.execute("CREATE TABLE mine AS SELECT rank, idle_share FROM temporal_breakdown")
        assert db.execute("SELECT count(*) FROM mine").fetchone() == (4,)
        cursor = db.execute("SELECT name FROM gpu")
        cursor.fetchone()
        # other traces while a statement is under way
        assert db.execute("SELECT holotrace_open(?)", [str(TRAIN)]).fetchone() == (1,)
        assert len(cursor.fetchall()) == 5147
        assert db.execute("SELECT count(*) FROM ranks").fetchone() == (1,)
        with pytest.raises(sqlite3.OperationalError, match="cannot open"):
            db.execute("SELECT holotrace_open('/no/such/trace')")
        with pytest.raises(sqlite3.OperationalError, match="has no argument"):
            db.execute("SELECT * FROM kernel_breakdown('x=1')").fetchall()
        assert db.execute("SELECT count(*) FROM ranks").fetchone() == (1,)
