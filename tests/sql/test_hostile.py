# SPDX-License-Identifier: Apache-2.0
"""Queries that mean harm: each ends within its limits of time and memory, soon, whatever it asks for.

Functions of SQLite that would not end have bounded twins, whose answers are those of SQLite itself, as Python has it.
"""
import json
import os
import random
import resource
import sqlite3
import subprocess
import time

import pytest

import support

TRAIN = support.ROOT / "examples" / "train" / "train.json.gz"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
LONG = "printf('%.*c', 900000, 'a')"
#: What is endless reaches any limit: the trace needs some MiB of it.
LIMIT = "64M" if support.LONG else "16M"


@pytest.fixture(scope="module", autouse=True)
def needs_sqlite():
    if b"no databases" in support.output("version"):
        pytest.skip("the program was built without SQLite")


def end_of(query, *options):
    """(exit code, what was said, seconds, MiB) of a query."""
    before = time.monotonic()
    process = subprocess.Popen([support.EXE, "sql", TRAIN, query, "--format", "csv", *options], env=support.environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (30, 30)))
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert status >= 0 and not status & 0x7f, f"{query}: signal {status & 0x7f}"
    return status >> 8, (out + err).decode(errors="replace"), time.monotonic() - before, usage.ru_maxrss / 1024


@pytest.mark.parametrize("query", [
    f"{ENDLESS} SELECT count(*) FROM n",
    f"{ENDLESS} SELECT max(hex(zeroblob(900000)) || i) FROM n",
    f"{ENDLESS} SELECT group_concat(i || hex(zeroblob(100000))) FROM n",
    f"{ENDLESS} SELECT i FROM n, events a, events b WHERE a.name = 'no such' AND b.name = 'no such'",
    "SELECT count(*) FROM events a, events b, events c, events d",
    f"SELECT sum(length(replace({LONG}, 'a', 'b'))) FROM events a, events b",
    f"SELECT sum(regexp('(a|b)*c|(a|ab)*c', {LONG} || a.id)) FROM events a, events b",
    f"SELECT sum(instr({LONG} || a.id, substr({LONG}, 400000) || 'b')) FROM events a, events b",
    "SELECT count(*) FROM events a, events b WHERE stack(a.id) = stack(b.id)",
], ids=lambda query: query[:60])
def test_time(query):
    code, said, seconds, _ = end_of(query, "--timeout", "300ms")
    assert code == 4 and "longer than 300 ms" in said
    assert seconds < 15  # that and what a busy machine makes of it


@pytest.mark.parametrize("query", [
    f"{ENDLESS} SELECT i, hex(zeroblob(400000)) AS b FROM n ORDER BY b",
    f"{ENDLESS} SELECT DISTINCT hex(zeroblob(400000)) || i FROM n",
    f"{ENDLESS} SELECT printf('%.*c', 900000, 'x') || i FROM n",
    f"{ENDLESS}, m(t) AS MATERIALIZED (SELECT hex(zeroblob(400000)) FROM n) SELECT count(*) FROM m a, m b",
    f"{ENDLESS} SELECT json_group_array(i) FROM n",
    f"{ENDLESS} SELECT median(i) FROM n",
    f"{ENDLESS} SELECT union_ns(-3 * i, -3 * i + 1) FROM n",
    f"{ENDLESS} SELECT sum(length(i)) OVER (ORDER BY i) FROM n",
], ids=lambda query: query[:90])
def test_memory(query):
    code, said, _, mib = end_of(query, "--memory-limit", LIMIT, "--timeout", "60s")
    assert code == 4 and ("memory" in said or "too long" in said)
    assert mib < 400  # the limit, as much between two looks, and what the program itself takes


@pytest.mark.parametrize("query", [
    "SELECT printf('%.*c', 2147483647, 'x')", "SELECT printf('%2000000000d', 5)", "SELECT format('%.2000000000f', 1.5)",
    "SELECT hex(zeroblob(2000000000))", "SELECT length(randomblob(1000000000))",
    "SELECT replace(hex(zeroblob(4000000)), '0', printf('%.*c', 1000, 'x'))",
    "SELECT length(quote(zeroblob(16000000)))", f"SELECT group_concat({LONG}) FROM events",
], ids=lambda query: query[:60])
def test_long_values(query):
    """No limit is given, and none is needed."""
    code, said, seconds, mib = end_of(query)
    assert code == 4 and "too long" in said and seconds < 15 and mib < 400


@pytest.mark.parametrize("query, answer", [
    (f"SELECT instr({LONG}, substr({LONG}, 450000) || 'b')", "0"),
    (f"SELECT length(replace({LONG}, substr({LONG}, 450000) || 'b', 'x'))", "900000"),
    (f"SELECT length(trim({LONG}, printf('%.*c', 900000, 'b') || 'a'))", "0"),
    (f"SELECT regexp('(a|b)*c|(a|ab)*c', {LONG}), regexp('^a+$', {LONG}), regexp('b|$', {LONG})", "0,1,1"),
])
def test_long_values_in_linear_time(query, answer):
    code, said, seconds, _ = end_of(query)
    assert code == 0 and said.splitlines()[1] == answer and seconds < 15


def test_patterns_that_take_too_long():
    code, said, seconds, _ = end_of(f"SELECT {LONG} LIKE '%' || printf('%.*c', 4000, 'a') || 'b'")
    assert code == 2 and "pattern too complex" in said and seconds < 15


def test_intervals_beyond_all_times():
    query = ("SELECT union_ns(-9223372036854775808, 9223372036854775807) > 0, "
             "overlap_ns(-9223372036854775808, 9223372036854775807, -9223372036854775808, 9223372036854775807) > 0")
    assert end_of(query)[1].splitlines()[1] == "1,1"


# ---- bounded twins ----

TEXTS = ["", "a", "abc", "aab", "äöü", "日本", "a%b", "it's", "  x  ", "aaaaab", "日本日本x", "\U0001F600b"]
VALUES = TEXTS + [None, 0, 1, -1, 5, 1234567, 1.5, -2.25, 1e300, b"", b"ab"]
PATTERNS = ["a%", "%b", "%", "_", "a_b", "*a*", "a*", "[a-c]*", "?bc", "A%", "日%", "%本_", "äö_"]


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def expressions(chance):
    any_of = lambda values=VALUES: literal(chance.choice(values))  # noqa: E731
    for _ in range(300):
        spec = "".join("%" + "".join(chance.choices("-+ #!0,", k=chance.choice((0, 0, 1, 2)))) + chance.choice(
            ["", "", "5", "12", "*"]) + chance.choice(["", "", ".3", ".0", ".*"]) + chance.choice(["", "", "l", "ll"]) +
            chance.choice("diuxXofeEgGsqQwczprn%kTS") + chance.choice(["", "é", "x%%"]) for _ in range(chance.randint(1, 3)))
        arguments = [literal(spec + chance.choice(["", "tail", "%", "%5"]))] + [any_of() for _ in range(chance.randint(0, 6))]
        yield f"printf({', '.join(arguments)})"
        yield f"instr({any_of()}, {any_of()})"
        yield f"replace({any_of()}, {any_of(TEXTS + [None, 5])}, {any_of()})"
        yield f"{chance.choice(['trim', 'ltrim', 'rtrim'])}({', '.join(any_of() for _ in range(chance.randint(1, 2)))})"
        yield any_of() + chance.choice([" LIKE {}", " GLOB {}", " LIKE {} ESCAPE 'a'", " LIKE {} ESCAPE 'ä'",
                                        " LIKE {} ESCAPE NULL"]).format(any_of(VALUES + PATTERNS))


def test_answers_are_those_of_sqlite(tmp_path):
    database = sqlite3.connect(":memory:")
    if support.output("sql", TRAIN, "SELECT sqlite_version() AS v", "--format", "csv").decode().split()[1] != \
            sqlite3.sqlite_version:
        pytest.skip("Python has another SQLite")
    asked = list(expressions(random.Random(15)))
    parts = [asked[i:i + 400] for i in range(0, len(asked), 400)]
    for part in parts:
        query = " UNION ALL ".join(f"SELECT {i} AS i, hex({text}) || typeof({text}) AS v" for i, text in enumerate(part))
        (tmp_path / "q.sql").write_text(query)
        got = json.loads(support.output("sql", TRAIN, "-f", tmp_path / "q.sql", "--format", "json"))["rows"]
        for i, wanted in database.execute(query):
            assert got[i][1] == wanted, part[i]
