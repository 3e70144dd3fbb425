# SPDX-License-Identifier: Apache-2.0
"""SQL over traces: what it answers, against other verbs and against plain computations over the file itself."""
import collections
import json
import signal
import statistics
import subprocess

import pytest

import support

TRAIN = support.ROOT / "examples" / "train" / "train.json.gz"
DDP = support.ROOT / "examples" / "ddp"
EVENT = 1 << 32  # an event is rank * EVENT + row


@pytest.fixture(scope="module", autouse=True)
def needs_sqlite():
    if b"no databases" in support.output("version"):
        pytest.skip("the program was built without SQLite")


def sql(query, *args, trace=TRAIN):
    """(names, rows) of a query, cells as text or None."""
    return support.read_csv(support.output("sql", trace, query, "--format", "csv", *args))


def rows(query, *args, trace=TRAIN):
    return sql(query, *args, trace=trace)[1]


def refused(*args, trace=TRAIN, code=2):
    """What is said about a query that must fail."""
    done = support.run("sql", trace, *args)
    assert done.returncode == code, done.stderr.decode()
    assert done.stdout == b""
    return done.stderr.decode()


def verb(name, *args, trace=TRAIN):
    return support.read_csv(support.output(name, trace, "--format", "csv", *args))


@pytest.fixture(scope="module")
def file_events():
    return json.loads(support.trace_bytes(TRAIN))["traceEvents"]


# ---- tables against the file and other verbs ----

def test_events_are_those_of_the_file(file_events):
    got = rows("SELECT row, name, cat, ph, pid, tid FROM events ORDER BY row")
    assert len(got) == len(file_events)
    for row, event in zip(got, file_events):
        wanted = [event.get(key) for key in ("name", "cat", "ph", "pid", "tid")]
        assert row[1:] == [None if value is None else str(value) for value in wanted], row


@pytest.mark.parametrize("trace", [TRAIN, DDP], ids=["train", "ddp"])
def test_events_are_those_of_the_verb(trace):
    shared = ["rank", "ts_ns", "dur_ns", "end_ns", "time_ns", "name", "cat", "ph", "pid", "tid", "kind", "class",
              "device", "stream", "correlation", "step", "thread_name", "process_name", "annotation",
              "annotation_stack", "module", "span_ns", "unix_ns", "document"]
    links = ["parent", "launch", "op", "python_parent", "forward_op"]
    columns = ["index", *shared, *links]
    wanted = verb("events", "--columns", ",".join(columns), trace=trace)[1]
    got = rows(f"SELECT row, {', '.join(shared + links)} FROM events", trace=trace)
    assert len(got) == len(wanted) > 1000
    for a, b in zip(got, wanted):
        # links are events here and rows there; both are text in CSV: rank:row
        b[len(shared) + 1:] = [row and f"{b[1]}:{row}" for row in b[len(shared) + 1:]]
        assert a == b


def test_gpu_sums_are_those_of_the_file(file_events):
    wanted = collections.Counter()
    for event in file_events:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            wanted[event["name"]] += round(event["dur"] * 1000)
    got = {name: int(total) for name, total in rows("SELECT name, sum(dur_ns) FROM gpu GROUP BY name")}
    assert got == dict(wanted)
    # the same without the groups that the table makes
    plain = {name: int(total) for name, total in rows("SELECT name, sum(dur_ns) FROM gpu GROUP BY name || ''")}
    assert plain == got


def test_groups_over_ranks_are_in_order():
    got = rows("SELECT name, rank, count(*), sum(dur_ns) FROM gpu GROUP BY name, rank", trace=DDP)
    wanted = rows("SELECT name || '', rank + 0, count(*), sum(dur_ns) FROM gpu GROUP BY 1, 2 ORDER BY 1, 2", trace=DDP)
    assert got == wanted
    names = [row[0] for row in rows("SELECT name FROM gpu ORDER BY name DESC", trace=DDP)]
    assert names == sorted(names, reverse=True, key=lambda name: name.encode())
    distinct = rows("SELECT DISTINCT name FROM gpu", trace=DDP)
    assert sorted(row[0] for row in distinct) == sorted(set(names))
    # another column of the row is looked at: all rows of a group must be seen
    assert rows("SELECT DISTINCT name FROM gpu WHERE dur_ns > 20000 AND dur_ns % 7 = 3", trace=DDP) == \
        sorted(rows("SELECT DISTINCT name || '' FROM gpu WHERE dur_ns > 20000 AND dur_ns % 7 = 3", trace=DDP))


def test_launches_and_their_work():
    got = rows("SELECT l.id, l.n_work, l.work, count(g.id), min(g.id) FROM launches l JOIN gpu g ON g.launch = l.id "
               "GROUP BY l.id")
    assert len(got) > 100
    for launch, n_work, work, count, first in got:
        assert n_work == count and work == f"0:{int(first) % EVENT}"
    total, linked = rows("SELECT sum(n_work), (SELECT count(*) FROM gpu WHERE launch IS NOT NULL) FROM launches")[0]
    assert total == linked


def test_arguments(file_events):
    wanted = {i: event["args"]["stream"] for i, event in enumerate(file_events)
              if "stream" in event.get("args", {})}
    assert {int(a): int(b) for a, b in rows("SELECT row, stream FROM args WHERE stream IS NOT NULL")} == wanted
    assert {int(a): int(b) for a, b in rows("SELECT row, value FROM arg_values WHERE key = 'stream'")} == wanted
    assert {int(a): int(b) for a, b in rows(
        "SELECT row, arg(id, 'stream') FROM events WHERE arg(id, 'stream') IS NOT NULL")} == wanted
    with_args = [i for i, event in enumerate(file_events) if event.get("args")]
    assert [int(row[0]) for row in rows("SELECT row FROM args")] == with_args
    n_values = sum(len(event.get("args", {})) for event in file_events)
    assert rows("SELECT count(*) FROM arg_values") == [[str(n_values)]]
    row = with_args[7]
    got = dict(rows(f"SELECT key, value FROM arg_values WHERE id = {row}"))
    assert set(got) == set(file_events[row]["args"])


def test_names_of_arguments_that_sql_confuses(tmp_path):
    """Case and names of fixed columns: each argument still has a column of its own."""
    events = [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
               "args": {"id": 7, "Stream": "x", "stream": 3, "rank": 9, "big": 2**64 - 1, "b": True}},
              {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 3, "dur": 1,
               "args": {"big": 5, "Stream": 4, "n": None}}]
    trace = tmp_path / "t.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    names, got = sql("SELECT * FROM args", trace=trace)
    assert names[:3] == ["id", "rank", "row"]
    assert [dict(zip(names, row)) for row in got] == [
        {"id": "0:0", "rank": "0", "row": "0", "args.id": "7", "Stream": "x", "args.stream": "3", "args.rank": "9",
         "big": str(2**64 - 1), "b": "true", "n": None},
        {"id": "0:1", "rank": "0", "row": "1", "args.id": None, "Stream": "4", "args.stream": None,
         "args.rank": None, "big": "5", "b": None, "n": None}]
    assert rows("SELECT count(*) FROM args WHERE Stream = '4'", trace=trace) == [["1"]]
    assert rows("SELECT count(*) FROM args WHERE Stream = 4", trace=trace) == [["1"]]
    assert rows("SELECT tid FROM events WHERE tid = '1' AND tid = 1 LIMIT 1", trace=trace) == [["1"]]


def test_steps_ranks_tracks():
    steps = rows("SELECT rank, steps.step, dur_ns, name FROM steps JOIN events USING (id, rank, dur_ns, ts_ns, end_ns, time_ns)", trace=DDP)
    n_steps = len(verb("events", "--where", 'cat = user_annotation and name ~ "ProfilerStep#"', trace=DDP)[1])
    assert len(steps) == n_steps == 12 and all(row[3] == f"ProfilerStep#{row[1]}" for row in steps)
    ranks = rows("SELECT r.rank, r.n_events, count(*) FROM ranks r JOIN events e ON e.rank = r.rank GROUP BY r.rank",
                 trace=DDP)
    assert [row[0] for row in ranks] == ["0", "1", "2", "3"] and all(row[1] == row[2] for row in ranks)
    tracks = rows("SELECT t.n_events, count(*) FROM tracks t JOIN events e ON e.rank = t.rank AND e.track = t.track "
                  "WHERE e.ts_ns IS NOT NULL AND e.kind <> 'metadata' GROUP BY t.rank, t.track", trace=DDP)
    assert tracks and all(a == b for a, b in tracks)


def test_strings():
    assert rows("SELECT count(DISTINCT text) = count(*) FROM strings") == [["1"]]
    assert rows("SELECT text, n_bytes FROM strings WHERE text = 'aten::mm'") == [["aten::mm", "8"]]


ANALYSES = [verb for verb in json.loads(support.output("help", "--json"))["verbs"] if verb["kind"] == "analysis"]
OFFERED = [verb for verb in ANALYSES if verb["n_sets"] == 1 and verb["name"] != "events"]


@pytest.mark.parametrize("verb_", OFFERED, ids=lambda verb_: verb_["name"])
def test_every_analysis_is_a_table(verb_):
    """With every view that it has, columns and cells are those of the verb."""
    name = verb_["name"].replace("-", "_") + ("_analysis" if verb_["name"] == "steps" else "")
    for view in verb_["views"]:
        given, argument = [], ""
        if "chosen_by" in verb_:
            given, argument = [f"--{verb_['chosen_by']}", view["name"]], f"('{verb_['chosen_by']}={view['name']}')"
        done = support.run(verb_["name"], TRAIN, *given, "--format", "csv", cwd=support.ROOT)
        if done.returncode != 0:
            refused(f"SELECT * FROM {name}{argument}", code=done.returncode)
            continue
        names, wanted = support.read_csv(done.stdout)
        names = names[:len(view["columns"])]
        got_names, got = sql(f"SELECT * FROM {name}{argument}")
        assert got_names == names, view["name"]
        assert got == [row[:len(names)] for row in wanted], view["name"]


COMPARING = [verb for verb in ANALYSES if verb["n_sets"] == 2]
STRAGGLER = support.ROOT / "examples/straggler"


@pytest.mark.parametrize("verb_", COMPARING, ids=lambda verb_: verb_["name"])
def test_comparisons_are_tables_where_there_is_a_base(verb_):
    for view in verb_["views"]:
        given, argument = [], ""
        if "chosen_by" in verb_:
            given, argument = [f"--{verb_['chosen_by']}", view["name"]], f"('{verb_['chosen_by']}={view['name']}')"
        wanted = support.run(verb_["name"], DDP, STRAGGLER, *given, "--format", "csv")
        assert wanted.returncode in (0, 1), wanted.stderr
        got = support.run("sql", STRAGGLER, "--base", DDP, f"SELECT * FROM {verb_['name']}{argument}", "--format", "csv")
        assert got.returncode == 0, got.stderr
        assert got.stdout == wanted.stdout, view["name"]
        assert got.stdout.count(b"\n") > 1 or view["name"] in ("modules", "memory")  # of which these have none


def test_comparisons_open_no_files():
    for verb_ in COMPARING:
        for query in (verb_["name"], f"{verb_['name']}('')"):
            assert "none is given" in refused(f"SELECT * FROM {query}") and "--base" in refused(f"SELECT * FROM {query}")
        for name in ("base", "control", "test", "file", "path"):
            assert "has no argument" in refused(f"SELECT * FROM {verb_['name']}('{name}={DDP}')")
    assert COMPARING
    # what is over files is no table, and says what is instead
    names = [verb_["name"] for verb_ in ANALYSES if verb_["n_sets"] == 0]
    assert names
    for name in names:
        message = refused(f"SELECT * FROM {name.replace('-', '_')}")
        assert f"holotrace {name} FILE" in message and "opens none" in message
    assert support.run("sql", TRAIN, "--base", "no-such-trace", "SELECT 1").returncode == 3


def test_arguments_of_an_analysis():
    one = rows("SELECT name FROM kernel_breakdown('by=all, num_kernels=2, rank=0,1') ", trace=DDP)
    other = verb("kernel-breakdown", "--by", "all", "--num-kernels", "2", "--rank", "0,1", "--columns", "name", trace=DDP)
    assert one == other[1]
    # two views in one query
    both = rows("SELECT count(a.rank), count(b.n_ranks) FROM kernel_breakdown a, kernel_breakdown('by=all') b LIMIT 1")
    assert both and all(int(cell) > 0 for cell in both[0])
    assert "it takes: by, num-kernels" in refused("SELECT * FROM kernel_breakdown('bye=all')").lower()
    assert "by" in refused("SELECT * FROM kernel_breakdown('by=none')")


def test_collectives_and_health():
    names, got = sql("SELECT * FROM collectives", trace=DDP)
    assert (names, got) == verb("collectives", "--view", "calls", trace=DDP)
    assert sql("SELECT * FROM collectives('view=summary')", trace=DDP) == verb("collectives", trace=DDP)
    assert sql("SELECT * FROM health") == verb("health")


# ---- functions ----

def test_union_and_overlap_against_plain_python():
    spans = [(int(a), int(b), c) for a, b, c in rows("SELECT ts_ns, end_ns, class FROM gpu WHERE rank = 1", trace=DDP)]

    def covered(wanted):
        marks = collections.Counter()
        for start, end, class_ in spans:
            if wanted(class_):
                marks[start] += 1
                marks[end] -= 1
        total, depth, before = 0, 0, 0
        inside = []
        for time in sorted(marks):
            if depth > 0:
                total += time - before
                inside.append((before, time))
            depth, before = depth + marks[time], time
        return total, inside

    union, _ = covered(lambda class_: True)
    comm, comm_inside = covered(lambda class_: class_ == "communication")
    rest, rest_inside = covered(lambda class_: class_ != "communication")
    got = rows("SELECT union_ns(ts_ns, end_ns), overlap_ns(ts_ns, end_ns, class = 'communication') "
               "FROM gpu WHERE rank = 1", trace=DDP)[0]
    assert got == [str(union), str(comm + rest - union)]
    # in any order
    assert rows("SELECT union_ns(ts_ns, end_ns) FROM (SELECT * FROM gpu WHERE rank = 1 ORDER BY dur_ns * 7919 % 1009)",
                trace=DDP)[0] == [str(union)]
    assert rows("SELECT overlap_ns(0, 10, 5, 20), overlap_ns(0, 4, 5, 9), overlap_ns(0, NULL, 5, 9), "
                "union_ns(1, NULL), union_ns(5, 3)") == [["5", "0", None, "0", "0"]]


def test_texts():
    assert rows("SELECT short_name('void at::k<int, (x)1>(int, float)'), human_ns(1234567), human_ns(NULL)") == \
        [["at::k", "1.23 ms", None]]
    row, = rows("SELECT id, launch, stack(id), stack(launch), name FROM gpu WHERE launch IS NOT NULL LIMIT 1")
    assert row[2] == row[3] + ";" + row[4]
    assert rows("SELECT stack(-1), stack(NULL), arg(0, 'no such'), stack(99999999)") == [[None] * 4]


def test_walk_over_parents_is_the_stack():
    got = rows("""WITH RECURSIVE up(id, parent, text) AS (
        SELECT id, parent, name FROM events WHERE name = 'aten::mm' AND row < 3000
        UNION ALL SELECT up.id, e.parent, e.name || ';' || up.text FROM up JOIN events e ON e.id = up.parent)
        SELECT text, stack(id) FROM up WHERE parent IS NULL""")
    assert got and all(a == b for a, b in got)
    # and down: everything inside a step
    down, = rows("""WITH RECURSIVE inside(id) AS (
        SELECT id FROM steps WHERE step = 3
        UNION ALL SELECT e.id FROM inside JOIN events e ON e.parent = inside.id)
        SELECT count(*) FROM inside""")
    step = rows("SELECT id % 4294967296 FROM steps WHERE step = 3")[0][0]
    children = collections.defaultdict(list)
    for row, parent in verb("events", "--columns", "index,parent")[1]:
        children[parent].append(row)
    inside = [step]
    for row in inside:
        inside += children[row]
    assert int(down[0]) == len(inside) > 100


# ---- results ----

def test_results_are_tables():
    text = support.output("sql", TRAIN, "SELECT name, sum(dur_ns) AS total_ns FROM gpu GROUP BY name",
                          "--where", "total_ns > 100us and name ~ reduce", "--sort", "-total_ns", "--top", "1",
                          "--format", "json")
    document = json.loads(text)
    assert [column["type"] for column in document["columns"]] == ["string", "duration"]
    assert document["columns"][0]["sentence"] == "name"
    assert len(document["rows"]) == 1
    names, _ = sql("SELECT name AS a, name AS A, 1, 1, '' AS '' FROM gpu LIMIT 1")
    assert len({name.lower() for name in names}) == 5
    for form in support.formats():
        assert support.output("sql", TRAIN, "SELECT name, dur_ns FROM gpu LIMIT 2", "--format", form)


def test_types_widen():
    assert rows("SELECT 1 AS x UNION ALL SELECT 2.5 UNION ALL SELECT 'a' UNION ALL SELECT NULL") == \
        [["1"], ["2.5"], ["a"], [None]]
    assert rows("SELECT NULL AS x UNION ALL SELECT 2.5") == [[None], ["2.5"]]
    assert rows("SELECT x'414200ff' AS x") is not None


def test_parameters_files_and_limits(tmp_path):
    assert rows("SELECT count(*) FROM gpu WHERE name = :name AND dur_ns > :least",
                "--set", "name=Memset (Device)", "--set", "least=0") == \
        [[str(len(verb("events", "--where", 'name == "Memset (Device)"')[1]))]]
    assert "parameter :x has no value" in refused("SELECT :x")
    script = tmp_path / "q.sql"
    script.write_text("-- two; of them\nSELECT ';' AS a;\n/* ; */ SELECT 2 AS b;\n")
    out = support.output("sql", TRAIN, "-f", script, "--format", "csv")
    assert out == b'a\n;\n\nb\n2\n'
    assert support.output("sql", TRAIN, "--format", "csv", stdin=b"SELECT 3 AS c") == b"c\n3\n"
    names, got = sql("SELECT row FROM events", "--max-rows", "5")
    assert len(got) == 5


def test_schema():
    names, got = support.read_csv(support.output("sql", ".schema", "--format", "csv"))
    assert len({row[0] for row in got}) > 40
    assert all(row[names.index("sentence")] for row in got)
    tables = support.read_csv(support.output("sql", ".tables", "--format", "csv"))[1]
    assert all(row[2] for row in tables)
    for table in ("events", "gpu", "ops", "launches", "collectives", "steps", "ranks", "tracks", "args", "strings",
                  "health"):
        assert table in {row[0] for row in tables}


# ---- mistakes and what is not allowed ----

@pytest.mark.parametrize("query, hint", [
    ("SELECT * FROM kernel", "kernels"), ("SELECT * FROM kernel_brakdown", "kernel_breakdown"),
    ("SELECT durns FROM gpu", "dur_ns"), ("SELECT g.nme FROM gpu g", "name"),
    ("SELECT unoin_ns(1, 2)", "union_ns"), ("SELECT * FROM zzzzzzzzz", "sql_tables"),
    ("SELECT sum(duration) FROM gpu", "Did you mean dur_ns?"), ("SELECT dur FROM gpu", "Did you mean dur_ns?"),
    ("SELECT dur_ms FROM gpu", "Did you mean dur_ns?"), ("SELECT kernel FROM gpu", "table_name = 'gpu'"),
    ("SELECT duration FROM collectives", "Did you mean duration_ns?"),
    ("SELECT * FROM temporal-breakdown", "it is temporal_breakdown here"),
    ("SELECT * FROM kernel_breakdown(by = 'all')", "kernel_breakdown('by=...')"),
    ("SELECT * FROM kernel_breakdown(num_kernels = 3)", "kernel_breakdown('num-kernels=...')"),
    ("SELECT rank FROM gpu g JOIN launches l ON l.id = g.launch", "g.rank"),
    ("SELECT xyzzy(1)", "SELECT name FROM sql_tables WHERE kind = 'function'"),
    ("SELECT name FROM gpu WHERE name REGEXP '('", "the pattern '(': "),
    ('SELECT count(*) FROM args WHERE "no such arg" = 1', "SELECT DISTINCT key FROM arg_values"),
    ('SELECT count(*) FROM ops WHERE name = "aten::mm"', "a text stands in single quotes"),
    ("SELECT percentile(dur_ns, 101) FROM gpu", "from 0 to 100"),
    ("SELECT percentile(dur_ns, row % 7) FROM gpu", "one number"), ("", "the query is empty")])
def test_hints(query, hint):
    assert hint.lower() in refused(query).lower()


def test_the_query_comes_last():
    done = support.run("sql", "SELECT 1", "examples/train")
    assert done.returncode == 2 and b"the query comes last" in done.stderr


def test_statistics():
    """By the definition: linear interpolation, n - 1; nulls and texts do not count."""
    values = sorted(int(row[0]) for row in rows("SELECT dur_ns FROM gpu WHERE rank = 1", trace=DDP))

    def at(percent):
        place = percent / 100 * (len(values) - 1)
        below = int(place)
        above = min(below + 1, len(values) - 1)
        return values[below] + (place - below) * (values[above] - values[below])

    got = rows("SELECT median(dur_ns), percentile(dur_ns, 0), percentile(dur_ns, 99), percentile(dur_ns, 12.5), "
               "percentile(dur_ns, 100), stddev(dur_ns) FROM gpu WHERE rank = 1", trace=DDP)[0]
    assert [float(cell) for cell in got[:5]] == pytest.approx([at(50), at(0), at(99), at(12.5), at(100)], rel=1e-12)
    assert float(got[5]) == pytest.approx(statistics.stdev(values), rel=1e-9)
    assert rows("SELECT median(x), percentile(x, 50), stddev(x) FROM (SELECT 7 AS x UNION ALL SELECT NULL UNION ALL SELECT 'a')") \
        == [["7", "7", None]]
    assert rows("SELECT median(1), stddev(1) FROM gpu WHERE rank = 999") == [[None, None]]
    # the deviation of a table is the same one
    table = rows("SELECT name, std_ns FROM kernel_breakdown('num-kernels=3') WHERE rank = 1 AND std_ns IS NOT NULL LIMIT 3",
                 trace=DDP)
    for name, std in table:
        mine, = rows(f"SELECT stddev(dur_ns) FROM gpu WHERE rank = 1 AND step IS NOT NULL AND name = '{name}'", trace=DDP)
        assert float(mine[0]) == pytest.approx(float(std), rel=1e-9)


def test_patterns():
    like = rows("SELECT count(*) FROM gpu WHERE name LIKE '%nccl%'", trace=DDP)
    assert rows("SELECT count(*) FROM gpu WHERE name REGEXP 'nccl'", trace=DDP) == like != [["0"]]
    assert rows("SELECT 'abc' REGEXP '^a.c$', 'abc' REGEXP 'x|bc', 'abc' REGEXP '^b', NULL REGEXP 'a', 'a' REGEXP NULL, "
                "regexp('b+', 'abbc')") == [["1", "1", "0", None, None, "1"]]


@pytest.mark.parametrize("query", [
    "ATTACH '/tmp/x.db' AS x", "DETACH main", "CREATE TABLE t(a)", "CREATE TEMP TABLE t(a)",
    "CREATE VIEW v AS SELECT 1", "CREATE VIRTUAL TABLE t USING fts5(a)", "INSERT INTO gpu(name) VALUES ('x')",
    "UPDATE gpu SET name = 'x'", "DELETE FROM gpu", "DROP TABLE gpu", "PRAGMA writable_schema = 1",
    "PRAGMA temp_store_directory = '/tmp'", "PRAGMA journal_mode = wal", "SELECT load_extension('x')",
    "SELECT writefile('/tmp/x', 'y')", "SELECT readfile('/etc/passwd')", "VACUUM INTO '/tmp/x'", "BEGIN;",
    "UPDATE sqlite_master SET type = 'x'", "INSERT INTO sqlite_master VALUES (1,2,3,4,5)", "REINDEX;", "ANALYZE;",
    "SELECT * FROM memory_timeline('file=/etc/passwd')", "PRAGMA trusted_schema = 1", "PRAGMA database_list"])
def test_queries_only_read(query):
    assert refused(query)


def test_no_parameter_of_an_analysis_names_a_file():
    """What would open files must be refused; a new parameter of that kind must show up here."""
    for verb_ in OFFERED:
        for option in verb_["options"]:
            if option["heading"] != "This analysis" or option["name"] == "save-trace":
                continue
            looks = (option["value"] or "") in ("FILE", "DIR", "PATH") or option["name"] in ("file", "path", "et")
            if looks:
                name = verb_["name"].replace("-", "_")
                assert "opens no files" in refused(f"SELECT * FROM {name}('{option['name']}=/etc/passwd')")


def test_limits():
    limit = "64M" if support.LONG else "16M"  # endless queries reach any
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
    assert "longer than 200 ms" in refused(endless + "count(*) FROM n", "--timeout", "200ms", code=4)
    assert "memory" in refused(endless + "i FROM n", "--memory-limit", limit, "--timeout", "60s", code=4)
    assert "memory" in refused(endless + "max(i) FROM (SELECT DISTINCT i FROM n)", "--memory-limit", limit,
                               "--timeout", "60s", code=4)
    assert refused("SELECT hex(zeroblob(400000000))", code=4)
    assert refused("SELECT 1 FROM; SELECT 2")
    # joins walk our tables, and groups are sorted by SQLite: both look at the limits
    join = "FROM events a, events b, events c WHERE a.dur_ns + b.dur_ns = c.ts_ns"
    assert "longer than 200 ms" in refused(f"SELECT count(*) {join}", "--timeout", "200ms", code=4)
    assert "memory" in refused("SELECT a.name || b.name AS n, count(*) FROM events a, events b GROUP BY n",
                               "--memory-limit", limit, "--timeout", "60s", code=4)


def test_ctrl_c_ends_a_query():
    for query in ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
                  "SELECT count(*) FROM events a, events b, events c WHERE a.dur_ns + b.dur_ns = c.ts_ns"):
        process = subprocess.Popen([support.EXE, "sql", TRAIN, query], env=support.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, preexec_fn=support.default_signals)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=10)
        assert process.returncode == -signal.SIGINT and out == b""


def test_usage():
    assert support.run("sql").returncode == 2
    assert support.run("sql", TRAIN, "SELECT 1", "--timeout", "soon").returncode == 2
    assert support.run("sql", TRAIN, "SELECT 1", "--set", "x").returncode == 2
    assert support.run("sql", TRAIN, "-f", "no such file").returncode == 3
    assert support.run("sql", "no-such-trace", "SELECT 1").returncode == 3
    assert support.run("sql", TRAIN, "SELECT 1", "-o", TRAIN).returncode == 2
