# SPDX-License-Identifier: Apache-2.0
"""Files that the program writes: they appear whole, replace nothing that is being read, and leave no trace of
a run that was ended."""
import gzip
import html
import json
import os
import resource
import shutil
import signal
import subprocess
import time

import pytest

import support

TRAIN = support.ROOT / "examples/train/train.json.gz"
DDP = support.ROOT / "examples/ddp"

# a name that a terminal would obey, that HTML would take for a tag, and a spreadsheet for a formula
NASTY = "=k\x1b]0;title\x07<b>\u009b"


def end_runs(signal_number, delays_s, args, **env):
    """Start a run again and again and end it by a signal after a while; how many were ended."""
    n_ended = 0
    for delay_s in delays_s:
        process = subprocess.Popen([support.EXE, *map(os.fspath, args)], env=support.environment(**env),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=support.default_signals)
        try:
            process.wait(delay_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal_number)
            code = process.wait(60)
            assert code in (0, -signal_number)  # it may have come to its end just now
            n_ended += code != 0
    return n_ended


def delays(args):
    """Moments spread over the time that one run takes."""
    start = time.monotonic()
    support.output(*args)
    whole_s = time.monotonic() - start
    return [whole_s * i / 16 for i in range(1, 16)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL],
                         ids=lambda number: number.name)
@pytest.mark.parametrize("verb", ["convert", "events"])
def test_ended_runs_leave_nothing(verb, number, tmp_path):
    """Whichever way a run ends, there is the old file or the new one, and nothing else. What cannot be caught can
    fall between a new file's first name and its last; then the next run clears the first one away."""
    folder = tmp_path / "out"
    folder.mkdir()
    path = folder / ("t.json.gz" if verb == "convert" else "t.csv")
    args = [verb, DDP / "ddp_rank0.json.gz", "--no-cache", "-o", path]
    moments = delays(args)
    whole = path.read_bytes()
    path.write_bytes(b"old")
    assert end_runs(number, moments, args) > 0
    assert path.read_bytes() in (b"old", whole)
    if number == signal.SIGKILL:
        support.output(*args)
    assert os.listdir(folder) == [path.name]


def test_ended_cache_writers_leave_nothing(tmp_path):
    """kill -9 while the cache is written: nothing but whole files, and no more of them than traces."""
    cache = tmp_path / "cache"
    args = ["load", TRAIN, "--cache-dir", cache]
    moments = delays(args)
    shutil.rmtree(cache)
    assert end_runs(signal.SIGKILL, moments * 3, args) > 0
    support.output(*args)
    assert [f.suffix for f in cache.iterdir()] == [".htc"]


# ---- what is read is not written ---------------------------------------------------------------

def refuse(*args, cwd, stdin=None):
    done = support.run(*args, cwd=cwd, stdin=stdin)
    assert done.returncode == 2, done.stderr
    assert b"cannot write over" in done.stderr, done.stderr


@pytest.mark.parametrize("how", ["same", "dots", "symlink", "hardlink"])
@pytest.mark.parametrize("verb", ["events", "report", "convert", "kernel-breakdown"])
def test_trace_is_not_written_over(verb, how, tmp_path):
    trace = tmp_path / "x.json.gz"
    shutil.copy(TRAIN, trace)
    before = trace.read_bytes()
    target = {"same": trace, "dots": f"../{tmp_path.name}/x.json.gz", "symlink": "link.json.gz",
              "hardlink": "hard.json.gz"}[how]
    if how == "symlink":
        (tmp_path / target).symlink_to("x.json.gz")
    if how == "hardlink":
        os.link(trace, tmp_path / target)
    for _ in range(2):  # read, then from the cache
        refuse(verb, trace, "-o", target, "--cache-dir", tmp_path / "cache",
               *(["--format", "html"] if verb == "report" else []), cwd=tmp_path)
    assert trace.read_bytes() == before
    assert (tmp_path / target).read_bytes() == before


@pytest.mark.parametrize("verb", ["events", "convert"])
def test_standard_input_is_not_written_over(verb, tmp_path):
    trace = tmp_path / "x.json.gz"
    shutil.copy(TRAIN, trace)
    with trace.open("rb") as stdin:
        refuse(verb, "-", "-o", trace, cwd=tmp_path, stdin=stdin)
    assert trace.read_bytes() == TRAIN.read_bytes()


def test_ranks_are_not_written_over(tmp_path):
    """Not one file is written when one of them would replace a trace."""
    for rank in range(3):
        shutil.copy(DDP / f"ddp_rank{rank}.json.gz", tmp_path / f"r{rank}.json.gz")
    (tmp_path / "out1.json.gz").symlink_to("r2.json.gz")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    refuse("convert", ".", "-o", "r{rank}.json.gz", cwd=tmp_path)
    refuse("convert", "r0.json.gz", "r1.json.gz", "r2.json.gz", "-o", "out{rank}.json.gz", cwd=tmp_path)
    refuse("convert", "r0.json.gz", "r1.json.gz", "--merge", "-o", "r1.json.gz", cwd=tmp_path)
    refuse("critical-path", "r0.json.gz", "--save-trace", "r0.json.gz", cwd=tmp_path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_other_inputs_are_not_written_over(tmp_path):
    shutil.copy(TRAIN, tmp_path / "x.json.gz")
    (tmp_path / "list.txt").write_text("x.json.gz\n")
    (tmp_path / "rules").write_text("")
    refuse("events", "list.txt", "-o", "list.txt", cwd=tmp_path)
    refuse("events", "x.json.gz", "--kernel-rules", "rules", "-o", "rules", cwd=tmp_path)
    refuse("diff", "x.json.gz", "x.json.gz,x.json.gz", "-o", "x.json.gz", cwd=tmp_path)
    support.output("events", "x.json.gz", "--top", "1", "-o", "y.json.gz", cwd=tmp_path)
    assert json.loads(gzip.decompress((tmp_path / "y.json.gz").read_bytes()))["rows"]


# ---- names are a stranger's bytes --------------------------------------------------------------

@pytest.fixture(name="nasty")
def nasty_trace(tmp_path):
    path = tmp_path / "nasty.json"
    events = [{"ph": "X", "cat": "kernel", "name": NASTY, "pid": 0, "tid": 7, "ts": 10 * i, "dur": 5,
               "args": {"device": 0, "stream": 7, "correlation": i}} for i in range(1, 4)]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def controls(data):
    """Control characters other than tabs and line breaks."""
    return [c for c in data.decode() if (ord(c) < 32 or 0x7f <= ord(c) < 0xa0) and c not in "\t\r\n"]


@pytest.mark.parametrize("format", ["text", "csv", "json", "md", "html"])
def test_no_format_writes_controls(format, nasty):
    for verb in ("events", "kernel-breakdown"):
        data = support.output(verb, nasty, "--format", format)
        assert b"k\\" in data and not controls(data), data


@pytest.mark.parametrize("format", ["text", "md", "html"])
def test_reports_write_no_controls(format, nasty):
    data = support.output("report", nasty, "--format", format)
    assert not controls(data)
    if format == "html":
        # in the JSON of the page with charts, or in the cells of plain tables
        assert rb"=k\u001b]0;title\u0007\u003cb>\u009b" in data or \
            r"=k\x1b]0;title\x07<b>\x9b" in html.unescape(data.decode())


def test_safe_csv(nasty):
    columns = ("events", nasty, "--columns", "name,dur_ns", "--format", "csv")
    assert support.output(*columns).splitlines()[1] == rb"=k\x1b]0;title\x07<b>\x9b,5000"
    assert support.output(*columns, "--safe-csv").splitlines()[1] == \
        b'"' + rb"'=k\x1b]0;title\x07<b>\x9b" + b'",5000'


def test_compressed_results(tmp_path):
    """The ending before .gz or .zst picks the format."""
    plain = support.output("kernel-breakdown", TRAIN, "--format", "csv")
    support.output("kernel-breakdown", TRAIN, "-o", tmp_path / "t.csv.gz")
    support.output("kernel-breakdown", TRAIN, "-o", tmp_path / "t.csv.zst")
    assert gzip.decompress((tmp_path / "t.csv.gz").read_bytes()) == plain
    assert support.trace_bytes(tmp_path / "t.csv.zst") == plain


def test_a_full_cache_is_said_once_and_keeps_what_it_has(tmp_path):
    """The ranks of one run do not drive each other out; the next run finds those that were kept."""
    args = ["steps", DDP, "--cache-dir", tmp_path / "c", "--cache-max", "5M", "--format", "csv"]
    kept = set()
    for _ in range(2):
        done = support.run(*args)
        assert done.stdout == support.run("steps", DDP, "--no-cache", "--format", "csv").stdout
        assert done.stderr == (b"holotrace: the cache is full: 1 trace is not kept there. --cache-max (now 5M) makes "
                               b"room\n")
        names = {path.name for path in (tmp_path / "c").glob("*.trace.htc")}
        assert len(names) == 3 and names == (kept or names)
        kept = names
    assert support.run(*args, "-q").stderr == b""


@pytest.mark.parametrize("args", [["report"], ["events", "--format", "csv"], ["part", "events"]], ids=lambda args: args[0])
def test_a_file_that_cannot_grow_is_named(args, tmp_path):
    """As on a full disk: the write fails in the middle, and what failed then is not what is said."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

    target = tmp_path / "out.html"
    done = subprocess.run([support.EXE, *args, DDP, "--no-cache", "-q", "-o", target], env=support.environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit)
    assert done.returncode == 4 and not target.exists()
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1 and f"{target}: cannot write: File too large" in lines[0]


@pytest.mark.parametrize("command", [
    ["info", "no\x1b]0;x\x07such\u009b"], ["info", "{bad}"], ["in\x1bfo", "{trace}"], ["info", "{trace}", "--\x1b[31m"],
    ["events", "{trace}", "--where", "name\x1b"], ["events", "{trace}", "--columns", "a\x07"],
    ["convert", "{trace}", "-o", "/no\x1b/x.json"], ["merge", "\x1b", "{bad}"], ["info", "{lossy}"]])
def test_messages_show_controls(command, tmp_path):
    """A file's name is whoever's wrote it: what is said about it may not reach the terminal as an order."""
    paths = {key: tmp_path / f"{key}\x1b]0;x\x07\n.json" for key in ("trace", "bad", "lossy")}
    event = '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}'
    paths["trace"].write_text(f'{{"traceEvents": [{event}]}}')
    paths["bad"].write_text("no trace")
    paths["lossy"].write_text(f'{{"traceEvents": [{event}, {event[:30]}')
    done = subprocess.run([support.EXE, *(word.format(**paths) for word in command), "--no-cache"], env=support.environment(),
                          stdin=subprocess.DEVNULL, capture_output=True)
    said = done.stderr.decode()
    assert said and (done.returncode or "lossy" in command[-1]), done.stdout
    assert not any(c < "\x20" or "\x7f" <= c < "\xa0" for c in said.replace("\n", ""))
    assert r"\x1b" in said or r"\x07" in said
