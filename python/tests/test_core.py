# SPDX-License-Identifier: Apache-2.0
"""Opening traces, methods from the registry, options, errors, threads, signals, memory."""
import ast
import inspect
import itertools
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading

import holotrace
import pytest
import support
from holotrace import _core, _progress

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def ddp(examples):
    with holotrace.open(examples / "ddp") as session:
        yield session


def test_open_forms(examples):
    one = examples / "train" / "train.json.gz"
    for sources in (one, str(one), os.fsencode(one), [one], (str(one),), {3: one}, iter([one])):
        with holotrace.open(sources) as session:
            assert len(session.ranks) == 1
            assert list(session.paths.values()) == [str(one)]
            assert list(session.n_events.values())[0] > 1000
    assert holotrace.open({3: one}).ranks == [3]
    assert holotrace.open(examples / "ddp").ranks == [0, 1, 2, 3]
    assert "4 ranks" in repr(holotrace.open(str(examples / "ddp" / "*.json.gz")))


def test_every_analysis_is_a_method(ddp):
    for analysis in _core.analyses():
        method = getattr(ddp, analysis["name"].replace("-", "_"))
        signature = inspect.signature(method)
        for param in analysis["params"]:
            name = param["name"].replace("-", "_")
            assert name in signature.parameters or name + "_" in signature.parameters
        for name in ("rank", "step", "annotation", "hta_compat", "columns", "where", "sort", "top"):
            assert signature.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert analysis["question"] in method.__doc__
        assert all(column["name"] in method.__doc__ for column in analysis["columns"])
        table = method(ddp) if analysis["n_sets"] == 2 else method()
        assert isinstance(table, holotrace.Table) and table.columns
        repr(table), table._repr_html_(), table.to_csv(), list(itertools.islice(table, 3))


def test_arguments(ddp):
    assert set(ddp.kernel_types(by="rank", rank=[1, 3])["rank"]) == {1, 3}
    assert set(ddp.kernel_types(by="rank", rank=range(2))["rank"]) == {0, 1}
    assert set(ddp.kernel_types(by="rank", rank="2-3")["rank"]) == {2, 3}
    assert ddp.temporal_breakdown(columns=["rank", "idle_ns"]).columns == ["rank", "idle_ns"]
    assert ddp.temporal_breakdown(sort="-rank")["rank"].to_list() == [3, 2, 1, 0]
    assert len(ddp.temporal_breakdown(where="rank > 1")) == 2
    table = ddp.temporal_breakdown(top=3)
    assert (len(table), table.n_hidden) == (3, 1)
    assert ddp.run("temporal_breakdown", rank=0).to_csv() == ddp.temporal_breakdown(rank=0).to_csv()
    assert ddp.idle_breakdown(threshold="20us").to_csv() == ddp.idle_breakdown(threshold=20_000).to_csv()


def test_same_as_program(ddp, examples):
    program = os.environ.get("HOLOTRACE") or ROOT / "build" / "holotrace"
    for verb in ("temporal-breakdown", "kernel-breakdown", "launch-stats"):
        csv = subprocess.run([program, verb, examples / "ddp", "--format", "csv"],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
        assert ddp.run(verb).to_csv() == csv


def test_diff(examples):
    control, test = examples / "diff" / "control", examples / "diff" / "test"
    table = holotrace.diff(control, test)
    with holotrace.open(control) as one, holotrace.open(test) as two:
        assert one.diff(two).to_csv() == table.to_csv() == holotrace.diff(one, two).to_csv()
        assert not one.closed
        with pytest.raises(TypeError):
            one.diff("elsewhere")


def test_old_names(ddp):
    table = ddp.kernel_breakdown()
    with pytest.warns(DeprecationWarning, match="check_failed"):
        assert table.says_no is table.check_failed is False


def test_options(ddp, monkeypatch):
    options = holotrace.options
    with options.override(hta_compat=True, jobs=1):
        assert options.hta_compat is True
        by_option = ddp.launch_stats().to_csv()
    assert options.hta_compat is False and options.jobs == 0
    assert by_option == ddp.launch_stats(hta_compat=True).to_csv()
    with options.override(hta_compat=True):
        assert ddp.launch_stats(hta_compat=False).to_csv() == ddp.run("launch-stats", hta_compat=False).to_csv()
    for name, value in (("no_such", 1), ("jobs", -1), ("max_rows", "ten"), ("jobs", True)):
        with pytest.raises((AttributeError, ValueError)):
            setattr(options, name, value)
    with pytest.raises(AttributeError), options.override(jobs=2, no_such=1):
        pass
    assert options.jobs == 0
    assert "hta_compat" in repr(options)


def test_cache(examples, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    trace = examples / "train" / "train.json.gz"
    with monkeypatch.context() as patch:
        patch.setenv("HOLOTRACE_NO_CACHE", "1")
        holotrace.open(trace)
        assert not list(tmp_path.rglob("*"))
    holotrace.open(trace, cache=False)
    assert not list(tmp_path.rglob("*"))
    first = holotrace.open(trace)
    assert (tmp_path / "holotrace").is_dir() and list((tmp_path / "holotrace").iterdir())
    assert holotrace.open(trace)._core.dump() == first._core.dump()
    holotrace.open(trace, cache_dir=tmp_path / "mine")
    (stored,) = (tmp_path / "mine").iterdir()
    inode = stored.stat().st_ino
    holotrace.open(trace, cache_dir=tmp_path / "mine", verify_cache=True)
    verified = stored.stat().st_ino
    assert verified != inode  # stored again with the hash of the whole file, then believed
    again = holotrace.open(trace, cache_dir=tmp_path / "mine", verify_cache=True)
    assert stored.stat().st_ino == verified and again._core.dump() == first._core.dump()


@pytest.mark.parametrize("how", ["cut", "emptied", "overwritten", "removed"])
def test_cache_file_changes_in_use(how, examples, tmp_path):
    """What was opened from the cache stays as it was, whatever happens to the file."""
    trace = examples / "train" / "train.json.gz"
    before = holotrace.open(trace, cache_dir=tmp_path)._core.dump()
    (stored,) = tmp_path.iterdir()
    session = holotrace.open(trace, cache_dir=tmp_path)
    if how == "cut":
        os.truncate(stored, 5000)
    elif how == "emptied":
        stored.write_bytes(b"")
    elif how == "overwritten":
        with open(stored, "r+b") as file:
            file.write(b"\xff" * stored.stat().st_size)
    else:
        stored.unlink()
    assert session._core.dump() == before
    assert holotrace.open(trace, cache_dir=tmp_path)._core.dump() == before


def test_errors(ddp, tmp_path):
    with pytest.raises(holotrace.InputError) as caught:
        holotrace.open(tmp_path / "absent.json")
    assert "absent.json" in str(caught.value) and isinstance(caught.value, holotrace.Error)
    broken = tmp_path / "broken.json"
    broken.write_text('{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2},\n'
                      '{"ph": "X", "name": "a", "ts": 1, "dur": ')
    with pytest.raises(holotrace.InputError) as caught:
        holotrace.open(broken, strict=True)
    assert caught.value.file == str(broken) and caught.value.message
    with pytest.warns(holotrace.LossWarning):
        holotrace.open(broken)
    for wrong in (lambda: ddp.run("no-such-analysis"), lambda: ddp.kernel_types(by="nothing"),
                  lambda: ddp.kernel_types(columns="nothing"), lambda: ddp.kernel_types(where="((")):
        with pytest.raises(holotrace.UsageError) as caught:
            wrong()
        assert isinstance(caught.value, ValueError)
    with pytest.raises(TypeError):
        ddp.kernel_types(no_such_argument=1)
    with pytest.raises(holotrace.LimitError):
        holotrace.open(ddp.paths[0], memory_limit=10_000, cache=False)
    error = holotrace.InputError("m", "f", 3, "do it")
    assert str(error) == "f: m at byte 3. Do it"
    import pickle
    assert pickle.loads(pickle.dumps(error)).offset == 3


def test_closed(examples):
    session = holotrace.open(examples / "train")
    table = session.info()
    session.close()
    session.close()
    assert session.closed and "closed" in repr(session)
    assert len(table) and table.to_csv()
    for use in (session.info, lambda: session.ranks, lambda: session.convert("x.json")):
        with pytest.raises(ValueError):
            use()


def test_perfetto_traces_in_and_out(examples, tmp_path):
    there = tmp_path / "train.pftrace"
    with holotrace.open(examples / "train" / "train.json.gz") as session:
        session.convert(there)
        wanted = session.kernels().to_dict()
    with holotrace.open(there) as session:
        assert list(session.paths.values()) == [str(there)]
        assert wanted["name"] and session.kernels().to_dict() == wanted


def test_convert(ddp, tmp_path):
    ddp.convert(tmp_path / "merged.json.gz", merge=True, ranks=[0, 1])
    assert len(holotrace.open(tmp_path / "merged.json.gz").events(top=10)) == 10
    ddp.convert(str(tmp_path / "rank{rank}.json"), ranks="2-3")
    assert holotrace.open(tmp_path / "rank3.json").ranks == [3]


def test_progress_callback(large_trace):
    seen = []
    holotrace.open(large_trace, cache=False, progress=lambda *told: seen.append(told))
    assert seen and all(what == str(large_trace) and 0 < done <= total for what, done, total in seen)
    with pytest.raises(holotrace.CancelledError):
        holotrace.open(large_trace, cache=False, progress=lambda *told: False)
    with pytest.raises(ZeroDivisionError):
        holotrace.open(large_trace, cache=False, progress=lambda *told: 1 / 0)
    with pytest.raises(TypeError):
        _core.open([str(large_trace)], progress=3)


def test_interrupt(large_trace):
    """A signal that arrives while the engine reads ends the load."""
    def ring(*unused):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(KeyboardInterrupt):
            for _ in range(50):
                signal.setitimer(signal.ITIMER_REAL, 0.02)
                _core.open([str(large_trace)], no_cache=True, jobs=1)
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    code = (f"import holotrace, os, signal, threading\n"
            f"signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a runner may ignore it
            f"threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            f"while True: holotrace.open({str(large_trace)!r}, cache=False)\n")
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, timeout=60)
    assert b"KeyboardInterrupt" in done.stderr


def test_gil_is_released(large_trace):
    opened = []
    worker = threading.Thread(
        target=lambda: opened.append(_core.open([str(large_trace)], no_cache=True, jobs=1)))
    worker.start()
    n_steps = 0
    while worker.is_alive():
        n_steps += 1
        worker.join(0.001)
    assert opened and n_steps > 5


def test_threads(examples):
    expected = holotrace.open(examples / "train").kernel_breakdown().to_csv()
    shared, results, errors = holotrace.open(examples / "train"), [], []

    def work():
        try:
            for _ in range(5):
                with holotrace.open(examples / "train") as session:
                    results.append(session.kernel_breakdown().to_csv())
                results.append(shared.kernel_breakdown().to_csv())
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors and len(results) == 60 and set(results) == {expected}


def test_close_while_in_use(examples):
    """Calls under way finish, later ones are refused; nothing crashes."""
    for _ in range(10):
        session, seen = holotrace.open(examples / "train"), []

        def work():
            try:
                while True:
                    seen.append(len(session.kernel_breakdown()))
            except ValueError:
                seen.append("closed")

        threads = [threading.Thread(target=work) for _ in range(3)]
        [thread.start() for thread in threads]
        support.wait_until(lambda: len(seen) >= len(threads))
        session.close()
        [thread.join() for thread in threads]
        assert seen.count("closed") == 3


def rss_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="ASan keeps freed memory")
def test_no_leak(examples):
    """Open, ask and close over and over: memory stays flat. HOLOTRACE_CYCLES=10000 is the long run."""
    trace = examples / "train" / "train.json.gz"
    n_cycles = int(os.environ.get("HOLOTRACE_CYCLES", "300"))

    def cycle(i):
        with holotrace.open(trace) as session:
            table = session.kernel_breakdown(top=5)
            table._core.__arrow_c_stream__(), table._core.strings("name"), table["sum_ns"].to_list()
        if i % 10 == 0:
            with pytest.raises(holotrace.Error):
                holotrace.open("/nowhere/at/all")
            with pytest.raises(holotrace.UsageError):
                holotrace.open(trace).run("nothing")

    for i in range(100):
        cycle(i)
    before = rss_bytes()
    for i in range(n_cycles):
        cycle(i)
    assert rss_bytes() - before < 3 << 20


def garbage(chance):
    """Something that no function expects, or nearly what one does."""
    return chance.choice([
        None, True, -1, 0, 2**63, -2**70, 10**30, 3.5, float("nan"), float("inf"), "", "x", "\0", "a\0b",
        "\ud800", "é" * 1000, b"", b"\xff", b"a\0", [], [None], [[]], (), {}, {1: 2}, {"rank": "x"},
        {"by": object()}, {"\0": 1}, {"rank": 10**5000}, object(), type, len, range(3), iter([1]), set(), "rank",
        "kernel-types", "events", "csv", "-rank", "rank > 0", "name", slice(1), memoryview(b"ab"), ...,
    ])


@pytest.mark.parametrize("seed", range(4))
def test_garbage_raises(examples, tmp_path, monkeypatch, seed):
    """Any argument gives a result or an exception of Python, never a crash."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(seed)
    opened = _core.open([str(examples / "train" / "train.json.gz")])
    table = opened.run("kernel-types", {})
    array = table.column("sum_ns")
    functions = [
        _core.open, _core.analyses, _core.common_params, _core.version, _core.formats, opened.run,
        opened.convert, table.column, table.validity, table.strings, table.values, table.column_info,
        table.render, table.__arrow_c_stream__, table.__arrow_c_schema__, array.__getitem__,
        array.__len__, type(opened), type(table), type(array), holotrace.open, holotrace.diff,
        holotrace.Table(table).__getitem__, holotrace.Table(table).info, holotrace.Column,
        holotrace.Session(opened).kernel_types, holotrace.Session(opened).run,
    ]
    words = ["sources", "recursive", "cache_dir", "jobs", "memory_limit", "kernel_rules", "progress", "name",
             "args", "columns", "where", "sort", "top", "other", "path", "ranks", "steps", "merge", "overlay",
             "overlay_args", "format", "width", "by", "rank", "step", "requested_schema"]
    for _ in range(1500):
        function = chance.choice(functions)
        positional = [garbage(chance) for _ in range(chance.randrange(4))]
        named = {chance.choice(words): garbage(chance) for _ in range(chance.randrange(3))}
        try:
            function(*positional, **named)
        except Exception:
            pass
    assert opened.run("kernel-types", {}).n_rows == table.n_rows


def test_types_are_not_made_directly():
    for kind in (_core.Set, _core.Table, _core.Array):
        for make in (kind, lambda: kind.__new__(kind), lambda: object.__new__(kind)):
            with pytest.raises(TypeError):
                make()


def import_seconds(what):
    """Processor time, and which of the large packages it brought along."""
    code = (f"import sys; sys.path[:0] = {sys.path!r}\nimport time; begun = time.process_time(); import {what}; print(time.process_time() - begun); "
            "print([name for name in ('numpy', 'pandas', 'pyarrow', 'plotly', 'typing') if name in sys.modules])")
    seconds, packages, _ = subprocess.run([sys.executable, "-I", "-c", code], stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n")
    return float(seconds), packages


@pytest.mark.alone
def test_import_is_quick():
    """Not in seconds, as machines differ, but beside modules of Python's own (33 ms where this package takes 27)."""
    runs = [(import_seconds("holotrace"), import_seconds("argparse, dataclasses, inspect, json, subprocess, tempfile")) for _ in range(7)]
    assert all("numpy" not in packages and "pandas" not in packages for (_, packages), _ in runs), runs
    assert min(seconds for (seconds, _), _ in runs) <= 1.5 * min(seconds for _, (seconds, _) in runs)


def test_stub_is_up_to_date():
    build = pathlib.Path(_core.__file__).parent.parent.parent
    done = subprocess.run([sys.executable, ROOT / "tools" / "gen_python_stubs", build, "--check"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


def test_stubs_have_what_the_module_has():
    """They are Python, and name every function that users call, with its parameters."""
    stubs = pathlib.Path(holotrace.__file__).parent
    for path in stubs.rglob("*.pyi"):
        ast.parse(path.read_text(), str(path))
    told = {node.name: node for node in ast.parse((stubs / "__init__.pyi").read_text()).body if isinstance(node, ast.FunctionDef)}
    for name in ("open", "diff", "history", "serve"):
        names = [arg.arg for arg in told[name].args.posonlyargs + told[name].args.args + told[name].args.kwonlyargs]
        real = [one.name for one in inspect.signature(getattr(holotrace, name)).parameters.values()
                if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        assert names == real, name


def test_progress_line():
    text = _progress.line("/a/rank3.json.gz", 121_000_000, 267_000_000, 1.25)
    assert text.startswith("rank3.json.gz:  45%|") and "121M/267M [00:01<00:01, 96.8MB/s]" in text
    assert _progress.line("-", 5_000, 0, 0.5) == "-: 5.00kB [00:00, 10.0kB/s]"
    assert all(len(_progress.line("n" * 50, 1, 3, 1, width)) <= width for width in range(10, 120))
    assert _progress.clock(3661) == "1:01:01"
    assert _progress.bar(0.5, 4) == "██  " and len(_progress.bar(2, 4)) == 4


def test_progress_bar_is_drawn(monkeypatch):
    shown = []

    class Surface:
        def show(self, *what):
            shown.append(what)

        def clear(self):
            shown.append("clear")

    progress = _progress.Progress(Surface())
    assert progress("a", 1, 10) and not shown
    progress.begun -= 10
    assert progress("a", 2, 10) and progress("a", 3, 10)
    progress.close()
    assert len(shown) == 2 and shown[-1] == "clear"


def test_sql(ddp):
    table = ddp.sql("SELECT rank, count(*) AS n FROM gpu WHERE dur_ns > :least GROUP BY rank", {"least": 0})
    assert list(table["rank"]) == ddp.ranks and all(n > 0 for n in table["n"])
    with pytest.raises(holotrace.UsageError, match="gpus"):
        ddp.sql("SELECT * FROM gpus")
    with pytest.raises(holotrace.UsageError, match=r'as in \{"NAME": VALUE\} after the query'):
        ddp.sql("SELECT :least")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(holotrace.LimitError, match="longer"):
        ddp.sql(endless, timeout=0.1)
    assert len(ddp.sql("SELECT * FROM events", max_rows=3)) == 3


def test_sql_compares_with_a_base(ddp, examples):
    with holotrace.open(examples / "straggler") as other:
        for name in ("diff", "gate"):
            got = other.sql(f"SELECT * FROM {name}", base=ddp)
            assert got.to_csv() == (ddp.diff(other) if name == "diff" else holotrace.gate(ddp, other)).to_csv()
    with pytest.raises(holotrace.UsageError, match="none is given"):
        ddp.sql("SELECT * FROM diff")
    with pytest.raises(ValueError, match="closed"):
        ddp.sql("SELECT * FROM diff", base=other)


def test_ctrl_c_ends_a_query(ddp):
    import signal
    import threading

    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner may ignore it
    try:
        threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            ddp.sql(endless, timeout=30)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(ddp.sql("SELECT 1 AS one")) == 1


def test_sql_on_threads(ddp):
    from concurrent.futures import ThreadPoolExecutor

    queries = ["SELECT name, sum(dur_ns) FROM gpu GROUP BY name", "SELECT * FROM temporal_breakdown",
               "SELECT count(*) FROM events WHERE correlation = 5", "SELECT module, count(*) FROM gpu GROUP BY 1"]
    alone = [ddp.sql(query).to_csv() for query in queries]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda query: ddp.sql(query).to_csv(), queries * 4))
    assert together == alone * 4


def test_export(ddp, tmp_path):
    ddp.export(tmp_path / "a", tables=["gpu", "ranks"])
    assert (tmp_path / "a" / "gpu" / "rank=3" / "part-0.arrow").exists()
    parquet = pytest.importorskip("pyarrow.parquet")
    ddp.export(tmp_path / "p", tables="gpu", format="parquet")
    assert parquet.read_table(tmp_path / "p" / "gpu").num_rows == len(ddp.sql("SELECT id FROM gpu"))
    assert not list((tmp_path / "p").rglob("*.arrow"))
