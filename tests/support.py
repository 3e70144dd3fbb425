# SPDX-License-Identifier: Apache-2.0
"""What the Python tests share: where the program is, how to run it, which traces are bundled.

The program is build/holotrace, or what the environment variable HOLOTRACE names. Every run gets a
cache directory of its own, so that no test sees the user's cache or another test's.
"""
import functools
import gzip
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXE = os.path.abspath(os.environ.get("HOLOTRACE") or ROOT / "build" / "holotrace")
GIB = 1 << 30
#: `make nightly`: inputs as large as they were thought of; otherwise as small as shows the same.
LONG = bool(os.environ.get("HOLOTRACE_LONG"))
_cache = tempfile.TemporaryDirectory(prefix="holotrace-test-cache-")


def seeds(n):
    """The seeds of a test of things at random: n of them in `make nightly`, and a third of these with every change."""
    return range(n if LONG else (n + 2) // 3)


@functools.lru_cache
def is_sanitized():
    """True when the program has a sanitizer inside, which needs address space without end."""
    with open(EXE, "rb") as file:
        program = file.read()
    return b"__asan_init" in program or b"__tsan_init" in program


def environment(**more):
    env = dict(os.environ, XDG_CACHE_HOME=_cache.name, LC_ALL="C.UTF-8", NO_COLOR="1")
    env.pop("HOLOTRACE_CACHE_DIR", None)
    env.update(more)
    return env


def compiler_environment(folder):
    """Where a copy of the tree below a folder is built, so that the cache of the compiler knows it for what it has."""
    return dict(os.environ, CCACHE_BASEDIR=os.fspath(folder), CCACHE_NOHASHDIR="1")


def options_of_build():
    """Those that Meson compiled the program under test with, so that another build finds what is the same in the cache of the compiler."""
    said = json.loads(subprocess.run(["meson", "introspect", pathlib.Path(EXE).parent, "--buildoptions"], check=True,
                                     stdout=subprocess.PIPE).stdout)
    return [f"-D{option['name']}={str(option['value']).lower()}" for option in said
            if option["name"] in ("werror", "buildtype", "optimization", "debug", "portable")]


def default_signals():
    """For preexec_fn of what a test ends by a signal: a runner that was started in the background, or by nohup, ignores
    some, and every child inherits that."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def children_seconds():
    """Processor seconds of what this process ran and waited for: what others do meanwhile is not in them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def wait_until(holds, seconds=60, every=0.01):
    """What `holds` answers as soon as that is true. Tests wait for conditions with this, and for nothing else."""
    end = time.monotonic() + seconds
    while True:
        answer = holds()
        if answer:
            return answer
        assert time.monotonic() < end, f"did not come in {seconds} s: {holds.__doc__ or holds.__qualname__}"
        time.sleep(every)


def run(*args, cwd=None, stdin=None, timeout=300, memory_bytes=None, env=None):
    """Run the program; answers a CompletedProcess with bytes. Never raises for the exit status."""
    # the shell limits itself and becomes the program: with preexec_fn all of this process would be forked, which costs more than most runs
    limit = ["sh", "-c", f'ulimit -v {memory_bytes >> 10}; exec "$@"', "sh"] if memory_bytes and not is_sanitized() else []
    return subprocess.run(
        [*limit, EXE, *map(os.fspath, args)], cwd=cwd, timeout=timeout, env=environment(**(env or {})),
        stdin=stdin if hasattr(stdin, "fileno") else subprocess.DEVNULL if stdin is None else None,
        input=stdin if isinstance(stdin, bytes) else None,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def output(*args, **options):
    """Standard output as bytes of a run that must succeed."""
    done = run(*args, **options)
    assert done.returncode == 0, (
        f"holotrace {' '.join(map(str, args))}: exit {done.returncode}\n"
        f"{done.stderr.decode(errors='replace')}")
    return done.stdout


def dump(*args, **options):
    """The canonical dump of a store."""
    return output("dump", *args, **options)


def trace_bytes(path):
    """The JSON text of a trace file, whatever its compression."""
    path = os.fspath(path)
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return file.read()


def looks_like_trace(head, tail=b""):
    """Kineto object, or an array of events: told by the first and last bytes."""
    start = head.lstrip()[:1]
    if start == b"[":
        return b'"ph"' in head
    return start == b"{" and (b'"traceEvents"' in head or b'"traceEvents"' in tail)


def find_traces(folder):
    """Traces below a folder, sorted; execution traces and other JSON files are left out."""
    found = []
    for path in sorted(pathlib.Path(folder).rglob("*.json*")):
        if path.is_file() and path.name.endswith((".json", ".json.gz", ".json.zst")):
            try:
                text = trace_bytes(path)
            except (OSError, EOFError, subprocess.CalledProcessError):
                continue
            if looks_like_trace(text[:1 << 20], text[-(1 << 20):]):
                found.append((path, len(text)))
    return found


_bundled = None


def bundled_traces(max_bytes=None):
    """Paths of the traces in the repository whose JSON text is at most max_bytes."""
    global _bundled
    if _bundled is None:
        _bundled = [t for f in ("examples", "tests/data") for t in find_traces(ROOT / f)]
    return [path for path, n in _bundled if max_bytes is None or n <= max_bytes]


#: Of the bundled traces few that have every phase, category, key and type of value that all of them have (tests/oracle/test_oracle.py
#: looks), a fifth of the bytes.
SAMPLE = ("examples/cpu/cpu.json.gz", "examples/ddp/ddp_rank0.json.gz", "examples/et/with_kineto.json.gz",
          "tests/data/compiled/recompile.json.gz", "tests/data/graphs/capture.json.gz", "tests/data/pipeline/pp_rank0.json.gz")


def sample_traces(max_bytes=None):
    """The traces of SAMPLE whose text is at most max_bytes; with HOLOTRACE_LONG all that are bundled."""
    if LONG:
        return bundled_traces(max_bytes)
    return [ROOT / name for name in SAMPLE if max_bytes is None or len(trace_bytes(ROOT / name)) <= max_bytes]


def extra_traces():
    """Traces below $HOLOTRACE_EXTRA_DATA, none when it is not set."""
    folder = os.environ.get("HOLOTRACE_EXTRA_DATA")
    return [path for path, _ in find_traces(folder)] if folder else []


def extra_files(name):
    """Files of this name below $HOLOTRACE_EXTRA_DATA."""
    folder = os.environ.get("HOLOTRACE_EXTRA_DATA")
    return sorted(pathlib.Path(folder).rglob(name)) if folder else []


def short(path):
    """A test id; pytest asks also for the parameter that an empty list leaves."""
    if not isinstance(path, (str, os.PathLike)):
        return None
    for base in (ROOT, os.environ.get("HOLOTRACE_EXTRA_DATA") or ROOT):
        try:
            return str(pathlib.Path(path).relative_to(base))
        except ValueError:
            pass
    return str(path)


_CELL = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)')


def read_csv(data):
    """CSV bytes as (names, rows). A cell without quotes and without text is None, "" is ''."""
    rows, row, at = [], [], 0
    text = data.decode("utf-8", "surrogateescape")
    next_quote = text.find('"')
    while at < len(text):
        if not row and (end := text.find("\n", at)) >= 0 and (next_quote < 0 or end < next_quote):
            # without quotes no cell needs a look of its own
            rows.append([cell or None for cell in text[at:end].split(",")])
            at = end + 1
            continue
        match = _CELL.match(text, at)
        quoted, bare, end = match.groups()
        row.append(bare or None if quoted is None else quoted.replace('""', '"'))
        at = match.end()
        if quoted is not None:
            next_quote = text.find('"', at)
        if end != ",":
            rows.append(row)
            row = []
    return (rows[0] if rows else []), rows[1:]


@functools.lru_cache
def formats():
    """The names of the formats that results are written in, as the program lists them."""
    verbs = json.loads(output("help", "--json"))["verbs"]
    return next(option["choices"].split("|") for verb in verbs if verb["name"] == "events"
                for option in verb["options"] if option["name"] == "format")


def health(*traces, **options):
    """{check: count} summed over ranks."""
    names, rows = read_csv(output("health", *traces, "--format", "csv", **options))
    check, count = names.index("check"), names.index("count")
    result = {}
    for row in rows:
        result[row[check]] = result.get(row[check], 0) + int(row[count] or 0)
    return result
