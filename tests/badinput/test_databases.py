# SPDX-License-Identifier: Apache-2.0
"""Databases that somebody else wrote: what their schema and pages claim costs no more than their bytes."""
import sqlite3
import struct

import pytest

import support

NS = 1_700_000_000_000_000_000


def folder(tmp_path, name="p_1_ascend_pt"):
    path = tmp_path / name / "ASCEND_PROFILER_OUTPUT"
    path.mkdir(parents=True)
    if b"SQLite" not in support.output("version"):
        pytest.skip("skipped: built without SQLite")
    return path / "ascend_pytorch_profiler_0.db"


def make(path, *statements, rows=()):
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(statement)
    for table, values in rows:
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(values[0]))})", values)
    db.commit()
    db.close()


API = ("CREATE TABLE PYTORCH_API (startNs INTEGER, endNs INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER,"
       " callchainId INTEGER, type INTEGER)")


def calls(n, chain=None):
    return [(NS + 10 * i, NS + 10 * i + 5, (7 << 32) + 8, i, i, chain, 50001) for i in range(n)]


def events(path, *options, **more):
    return support.run("events", path.parent.parent, "--columns", "name", "--format", "csv", *options, **more)


def test_generated_columns_are_not_computed(tmp_path):
    huge = "hex(zeroblob(300000000))"
    for i, (table, column) in enumerate((("STRING_IDS", "value TEXT AS"), ("PYTORCH_CALLCHAINS", "stack AS"),
                                         ("ENUM_MODULE", "name TEXT AS"))):
        path = folder(tmp_path, f"p{i}_ascend_pt")
        make(path, API, f"CREATE TABLE {table} (id INTEGER, stackDepth INTEGER)", f"INSERT INTO {table} (id, stackDepth) VALUES (1, 0)",
             # with the row there, as to insert it would compute it
             f"ALTER TABLE {table} ADD COLUMN {column} ({huge})",
             "CREATE TABLE NPU_MODULE_MEM (timestampNs INTEGER, deviceId INTEGER, moduleId INTEGER, totalReserved INTEGER)",
             rows=[("PYTORCH_API", calls(3, chain=1)), ("NPU_MODULE_MEM", [(NS, 0, 1, 5)])])
        done = events(path, "--memory-limit", "256M", memory_bytes=1 << 30)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout) < 4000


def test_views_and_virtual_tables_are_not_asked(tmp_path):
    path = folder(tmp_path)
    make(path, API, "CREATE VIEW STRING_IDS AS SELECT 1 AS id, hex(zeroblob(300000000)) AS value",
         "CREATE VIEW ht_connection AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)"
         " SELECT id, id AS connectionId FROM n", "CREATE TABLE COMMUNICATION_OP (startNs INTEGER, endNs INTEGER, connectionId"
         " INTEGER)", rows=[("PYTORCH_API", calls(3)), ("COMMUNICATION_OP", [(NS, NS + 1, -7)])])
    done = events(path, memory_bytes=1 << 30, timeout=20)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 5, done.stderr


def test_tables_without_keys_are_read_in_linear_time(tmp_path):
    seconds = []
    for i, n in enumerate((4000, 32000)):
        path = folder(tmp_path, f"p{i}_ascend_pt")
        make(path, API, "CREATE TABLE STRING_IDS (id INTEGER, value TEXT)",
             "CREATE TABLE PYTORCH_CALLCHAINS (id INTEGER, stack INTEGER, stackDepth INTEGER)",
             "CREATE TABLE ENUM_MODULE (id INTEGER, name TEXT)",
             "CREATE TABLE NPU_MODULE_MEM (timestampNs INTEGER, deviceId INTEGER, moduleId INTEGER, totalReserved INTEGER)",
             "CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER,"
             " groupName INTEGER)",
             rows=[("PYTORCH_API", calls(n, chain=1)), ("STRING_IDS", [(i, f"op{i}") for i in range(n)]),
                   ("PYTORCH_CALLCHAINS", [(1, i, i) for i in range(n)]), ("ENUM_MODULE", [(i, f"m{i}") for i in range(n)]),
                   ("NPU_MODULE_MEM", [(NS, 0, i, 5) for i in range(n)]),
                   ("COMMUNICATION_OP", [(i, NS + i, NS + i + 1, i, i) for i in range(n)])])
        begin = support.children_seconds()
        done = support.run("info", path.parent.parent, timeout=60)
        seconds.append(support.children_seconds() - begin)
        assert done.returncode == 0, done.stderr
    assert seconds[1] < 0.5 + 20 * seconds[0], seconds


def test_pages_that_many_point_to(tmp_path):
    """Interior pages whose cells all lead to the next one: each level multiplies the rows, out of a few pages."""
    path = folder(tmp_path)
    make(path, "PRAGMA page_size=4096", API, rows=[("PYTORCH_API", calls(40))])
    data = bytearray(path.read_bytes())
    root = next(i for i in range(1, len(data) // 4096) if data[i * 4096] == 13)
    leaf = bytes(data[root * 4096:(root + 1) * 4096])
    n_pages, depth, fan = len(data) // 4096, 8, 300
    pages = [None] * depth + [leaf]
    for level in range(depth):
        below = n_pages + level + 1  # numbered from 1; the root stays where it is
        cells = b"".join(struct.pack(">IB", below, 1) for _ in range(fan))
        start = 4096 - len(cells)
        head = struct.pack(">BHHHBI", 5, 0, fan, start, 0, below)
        pointers = b"".join(struct.pack(">H", start + 5 * i) for i in range(fan))
        pages[level] = (head + pointers).ljust(start, b"\0") + cells
    data[root * 4096:(root + 1) * 4096] = pages[0]
    for page in pages[1:]:
        data += page
    data[28:32] = struct.pack(">I", len(data) // 4096)
    path.write_bytes(data)
    done = events(path, timeout=60, memory_bytes=2 << 30)
    assert done.returncode == 4 and b"more rows than its bytes" in done.stderr or done.returncode == 3, done.stderr


@pytest.mark.parametrize("table, columns", (
    ("CommAnalyzerMatrix", "op_name TEXT"), ("CommAnalyzerBandwidth", "hccl_op_name TEXT"), ("META_DATA", "value TEXT, name TEXT DEFAULT 'a'")))
def test_a_long_value_that_is_there_many_times(table, columns, tmp_path):
    """One row of a million bytes, on a page that the root leads to 300 times: cells of side tables are counted like others."""
    path = folder(tmp_path)
    make(path, "PRAGMA page_size=4096", f"CREATE TABLE {table}({columns})")
    db = sqlite3.connect(path)
    db.execute(f"INSERT INTO {table}({columns.split()[0]}) VALUES (?)", ('{"a":"' + "z" * 1_000_000 + '"}',))
    db.commit()
    root = db.execute("SELECT rootpage FROM sqlite_master").fetchone()[0] - 1
    db.close()
    data = bytearray(path.read_bytes())
    data += data[root * 4096:(root + 1) * 4096]
    n_pages, fan = len(data) // 4096, 300
    start = 4096 - 5 * fan
    head = struct.pack(">BHHHBI", 5, 0, fan, start, 0, n_pages)
    pointers = b"".join(struct.pack(">H", start + 5 * i) for i in range(fan))
    data[root * 4096:(root + 1) * 4096] = (head + pointers).ljust(start, b"\0") + struct.pack(">IB", n_pages, 1) * fan
    data[28:32] = struct.pack(">I", n_pages)
    path.write_bytes(data)
    done = support.run("tables", path, "--no-cache")
    assert done.returncode == 4 and b"its values are longer than its bytes" in done.stderr, done.stderr


def test_a_write_ahead_log_is_read_and_nothing_is_written(tmp_path):
    path = folder(tmp_path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA wal_autocheckpoint=0")
    db.execute(API)
    db.executemany("INSERT INTO PYTORCH_API VALUES (?,?,?,?,?,?,?)", calls(3))
    db.commit()
    kept = {name.name: name.read_bytes() for name in path.parent.iterdir()}
    db.close()
    for name, data in kept.items():
        (path.parent / name).write_bytes(data)
    (path.parent / (path.name + "-shm")).unlink()
    before = sorted(name.name for name in path.parent.iterdir())
    path.parent.chmod(0o555)
    done = events(path)
    path.parent.chmod(0o755)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 4, done.stderr
    assert sorted(name.name for name in path.parent.iterdir()) == before


def test_a_long_value_is_refused(tmp_path):
    path = folder(tmp_path)
    make(path, API, "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)",
         rows=[("PYTORCH_API", calls(3)), ("STRING_IDS", [(0, "x" * (17 << 20))])])
    done = events(path)
    assert done.returncode == 4 and b"a value is longer than" in done.stderr, done.stderr


def test_what_is_no_trace_is_said(tmp_path):
    path = folder(tmp_path)
    make(path, "CREATE TABLE bookmarks (url TEXT)", rows=[("bookmarks", [("x",)])])
    for verb in ("summary", "kernels"):
        done = support.run(verb, path.parent.parent)
        assert done.returncode == 3 and b"not a trace: a SQLite database" in done.stderr, done.stderr
    for i, text in enumerate(("[1,2,3]", "[null]", '{"traceEvents":[1,2]}', "[[1],[2]]", "[true]", "[[],[]]", "[[[]]]")):
        file = tmp_path / f"l{i}" / "x.json"
        file.parent.mkdir()
        file.write_text(text)
        for source in (file, file.parent):
            done = support.run("summary", source)
            assert done.returncode == 3 and done.stdout == b"", (text, done.stderr)
    (tmp_path / "empty.json").write_text('{"traceEvents":[]}')
    assert support.run("info", tmp_path / "empty.json").returncode == 0
