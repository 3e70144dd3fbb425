# SPDX-License-Identifier: Apache-2.0
"""Runs the plain-text cases: a why, tiny inline traces, commands, what must come out.

    Prose that says why the case exists, up to the first section.
    --- trace a.json              text of a file; .gz and .zst are compressed; folders are made
    --- trace-escaped b.json      the same with \\xNN, \\n, \\\\ (a backslash at a line's end joins lines)
    --- trace-repeated c.json     the same with <<N|text>>: text N times, commas between, # is its number
    --- timeline d.json           a trace as a list of events, one per line (below)
    --- run                       arguments of holotrace, as in a shell, in the folder of the traces
    events a.json --format csv
    --- stdout                    exactly this; stdout-escaped has escapes as above
    --- stdout-contains           each line occurs in standard output
    --- stderr-contains           each line occurs in standard error
    --- exit 0                    0 when left out
    --- health a.json             "check count" must be reported so, "-check" must not be reported

run, stdout, stderr-contains and exit may repeat; each run owns the sections after it. The newline
before the next section does not belong to a trace. `pytest --accept` rewrites the stdout sections.

A timeline has a line per event, `start duration kind [word]... [name]` with times in microseconds; a line that
starts with # is a comment, and `KEY = JSON` sets a key of the document (rank = 1 the rank). Kinds:

    step 3       ProfilerStep#3                       note NAME    annotation on the host
    op NAME      operator                             python NAME  Python frame
    call NAME    runtime call, cudaLaunchKernel       driver NAME  driver call, cuLaunchKernel
    kernel NAME  on the GPU                           memcpy, memset, sync, gpunote NAME   the same
    range NAME   profiler range of hardware counters  memory       an allocation, an instant

Words: t=2 thread (1), s=9 stream (7), d=1 device (0; "d=" leaves it out), c=5 correlation, 'KEY:VALUE' an
argument with a JSON value or text.
"""
import gzip
import json
import pathlib
import re
import shlex
import subprocess

import pytest

import support

HERE = pathlib.Path(__file__).parent
SECTION = re.compile(rb"^--- (trace|trace-escaped|trace-repeated|timeline|run|stdout|stdout-escaped|stdout-contains|stderr-contains|exit|health)(?: (.+))?$")
ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|[nrt0\\]|\n)")
REPEAT = re.compile(rb"<<(\d+)\|(.*?)>>", re.DOTALL)
SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0", b"\\": b"\\", b"\n": b""}


def parse(path):
    """[[kind, argument, body], ...]; the first has kind 'why'."""
    sections = [["why", None, b""]]
    for line in path.read_bytes().splitlines(keepends=True):
        match = SECTION.match(line.rstrip(b"\n"))
        if match:
            sections.append([match[1].decode(), match[2] and match[2].decode(), b""])
        else:
            assert not line.startswith(b"--- "), f"{path}: unknown section {line!r}"
            sections[-1][2] += line
    return sections


def unescape(body):
    def one(match):
        code = match[1]
        return bytes([int(code[1:], 16)]) if code[:1] == b"x" else SIMPLE[code]
    return ESCAPE.sub(one, body)


HOST = {"step": "user_annotation", "note": "user_annotation", "op": "cpu_op", "python": "python_function",
        "call": "cuda_runtime", "driver": "cuda_driver"}
GPU = {"kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset", "sync": "cuda_sync",
       "gpunote": "gpu_user_annotation", "range": "cuda_profiler_range"}
NAMES = {"call": "cudaLaunchKernel", "driver": "cuLaunchKernel", "memory": "[memory]"}
WORD = re.compile(r"([tsdc])=(-?\d*)$")
ARGUMENT = re.compile(r"([\w ().%/]+):(?!:)(.*)$")   # aten::mm is a name


def value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def timeline_event(line):
    start, duration, kind, *rest = shlex.split(line)
    words, args = {"t": "1", "s": "7", "d": "0", "c": ""}, {}
    while rest and (WORD.match(rest[0]) or ARGUMENT.match(rest[0])):
        word = rest.pop(0)
        if WORD.match(word):
            words[word[0]] = word[2:]
        else:
            args.update([[ARGUMENT.match(word)[1], value(ARGUMENT.match(word)[2])]])
    name = " ".join(rest) or NAMES.get(kind, "")
    if words["c"]:
        args["correlation"] = int(words["c"])
    if kind == "memory":
        return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": name, "pid": 1,
                "tid": int(words["t"]), "ts": value(start), "args": args}
    if kind in GPU:
        args["stream"] = int(words["s"])
        if words["d"]:
            args["device"] = int(words["d"])
    place = (1, int(words["t"])) if kind in HOST else (int(words["d"] or 0), int(words["s"]))
    return {"ph": "X", "cat": {**HOST, **GPU}[kind], "name": f"ProfilerStep#{name}" if kind == "step" else name,
            "pid": place[0], "tid": place[1], "ts": value(start), "dur": value(duration), "args": args}


def timeline(text):
    """The trace that a list of events stands for."""
    document, events = {"schemaVersion": 1, "distributedInfo": {"rank": 0}}, []
    for line in filter(None, map(str.strip, text.splitlines())):
        setting = re.match(r"([A-Za-z]\w*) = (.*)$", line)
        if setting and setting[1] == "rank":
            document["distributedInfo"] = {"rank": value(setting[2])}
        elif setting:
            document[setting[1]] = value(setting[2])
        elif not line.startswith("#"):
            events.append(timeline_event(line))
    return json.dumps(dict(document, traceEvents=events)).encode()


def write_trace(folder, kind, name, body):
    text = body[:-1] if body.endswith(b"\n") else body
    if kind == "timeline":
        text = timeline(text.decode())
    if kind == "trace-escaped":
        text = unescape(text)
    if kind == "trace-repeated":
        text = REPEAT.sub(lambda m: b",".join(m[2].replace(b"#", b"%d" % i) for i in range(int(m[1]))), text)
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".gz"):
        text = gzip.compress(text, mtime=0)
    elif name.endswith(".zst"):
        text = subprocess.run(["zstd", "-q"], input=text, check=True, stdout=subprocess.PIPE).stdout
    target.write_bytes(text)


def check_health(folder, traces, body):
    found = support.health(*shlex.split(traces), cwd=folder)
    for line in body.decode().split("\n"):
        if line.startswith("-"):
            assert line[1:] not in found, f"health reports {line[1:]}: {found[line[1:]]}"
        elif line.strip():
            check, count = line.split()
            assert check in found, f"health does not report {check}; it has {found}"
            assert found[check] == int(count), f"{check} is {found[check]}, expected {count}"


def check_stdout(section, done, accept):
    expected = unescape(section[2]) if section[0] == "stdout-escaped" else section[2]
    if done.stdout != expected and accept and section[0] == "stdout":
        section[2] = expected = done.stdout
    text = done.stdout.decode(errors="backslashreplace")
    assert text == expected.decode(errors="backslashreplace"), done.stderr.decode(errors="replace")


def run_case(sections, folder, accept):
    done = exit_expected = None
    for section in sections:
        kind, argument, body = section
        if kind in ("run", "health") and done is not None:
            assert done.returncode == exit_expected, done.stderr.decode(errors="replace")
        if kind in ("trace", "trace-escaped", "trace-repeated", "timeline"):
            write_trace(folder, kind, argument, body)
        elif kind == "run":
            done, exit_expected = support.run(*shlex.split(body.decode()), cwd=folder), 0
        elif kind in ("stdout", "stdout-escaped"):
            check_stdout(section, done, accept)
        elif kind in ("stdout-contains", "stderr-contains"):
            stream = done.stdout if kind == "stdout-contains" else done.stderr
            for line in body.decode().splitlines():
                assert line in stream.decode(errors="replace")
        elif kind == "exit":
            exit_expected = int(argument)
        elif kind == "health":
            check_health(folder, argument, body)
    if done is not None:
        assert done.returncode == exit_expected, done.stderr.decode(errors="replace")


def render(sections):
    out = b""
    for kind, argument, body in sections:
        if kind != "why":
            out += b"--- " + kind.encode() + (b" " + argument.encode() if argument else b"") + b"\n"
        out += body if not body or body.endswith(b"\n") else body + b"\n"
    return out


CASES = sorted(HERE.rglob("*.test"))


@pytest.mark.parametrize("path", CASES, ids=lambda p: str(p.relative_to(HERE)))
def test_case(path, tmp_path, accept):
    sections = parse(path)
    assert sections[0][2].strip(), "a case starts with its why"
    try:
        run_case(sections, tmp_path, accept)
    finally:
        if accept and render(sections) != path.read_bytes():
            path.write_bytes(render(sections))


def test_every_counter_has_a_case():
    """Each counter of import_stats.def is asked for by at least one case, or by the tests of ranks that are folders, of
    databases and of Perfetto traces, which no case can hold."""
    listed = re.findall(r"^STAT\((\w+)", (support.ROOT / "src/store/import_stats.def").read_text(),
                        re.MULTILINE)
    asked = set()
    for path in CASES:
        for kind, _, body in parse(path):
            if kind == "health":
                asked.update(line.split()[0] for line in body.decode().splitlines()
                             if line.strip() and not line.startswith("-"))
    for path in sorted((support.ROOT / "tests/analysis").glob("test_ascend*.py")):
        asked.update(re.findall(r'"(row_lost|file_lost|other_form|missing_\w+|unmatched_kernels)"',
                                path.read_text()))
    asked.update(re.findall(r'\["(packets_dropped|packet_lost|packet_unread|field_unread|unknown_iid|clock_unrelated)"\]',
                            (support.ROOT / "tests/convert/test_pftrace.py").read_text()))
    exports = (support.ROOT / "tests/nsys/test_nsys.py").read_text()
    asked.update(re.findall(r'checks\["(graph_as_whole|schema_unknown)"\]', exports))
    assert not sorted(set(listed) - asked)
