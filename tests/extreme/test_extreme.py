# SPDX-License-Identifier: Apache-2.0
"""No number in a file, however large, makes arithmetic overflow: every verb and option on extreme traces.

Under `make sanitize` the program reports signed overflow, bad shifts and conversions itself, and any report fails
here: every verb and option, in one process, in Python (in_process.py). Without sanitizers the test still sees crashes, hangs and
exit codes that are none of ours: every verb is a process for each trace. With HOLOTRACE_LONG both builds take both ways.
"""
import json
import os
import pathlib
import subprocess
import sys

import pytest

import extreme
import support

N_TRACES = int(os.environ.get("HOLOTRACE_EXTREME_TRACES", "1"))
SEED = os.environ.get("HOLOTRACE_EXTREME_SEED", "1")
TRACES = list(extreme.traces(SEED, N_TRACES))
LINES = list(extreme.command_lines())
PLAIN = [line for line in LINES if not line[2]]
PACKAGE = pathlib.Path(support.EXE).parent / "python"


def assert_no_report(text, line):
    assert "runtime error" not in text and "AddressSanitizer" not in text, f"{line}: {text[:3000]}"


def check(folder, verb, n_sets, paths):
    arguments = [paths[0]] * 2 if n_sets == 2 else paths
    if verb == "gate":
        arguments = ["--base", paths[0], "--test", paths[0]]
    done = support.run(verb, *arguments, "--no-cache", "--format", "csv", cwd=folder, timeout=120)
    text = done.stderr.decode(errors="replace")
    assert_no_report(text, verb)
    assert done.returncode in (0, 2, 3, 4), f"{verb}: exit {done.returncode}: {text[:3000]}"


def preloaded():
    """A program of the system that loads sanitized code needs the sanitizers' libraries first."""
    if not support.is_sanitized():
        return {}
    names = [subprocess.check_output(["gcc", f"-print-file-name=lib{name}.so"], text=True).strip()
             for name in ("asan", "ubsan")]
    return {"LD_PRELOAD": " ".join(names), "ASAN_OPTIONS": "detect_leaks=0:handle_sigill=1"}


def check_all(folder, lines, paths):
    """All lines in one process. What was said of the last line is the end of what it prints."""
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("in_process.py"), *paths], cwd=folder,
                          input=json.dumps(lines).encode(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600,
                          env=support.environment(PYTHONPATH=str(PACKAGE), **preloaded()))
    text = done.stderr.decode(errors="replace")
    at = max(text.find("runtime error"), text.find("AddressSanitizer"), 0)
    assert_no_report(text[max(0, at - 300):], "in one process")
    assert done.returncode == 0, text[-3000:]


HAS_PACKAGE = (PACKAGE / "holotrace").is_dir()
#: What overflows, or reads beyond an end, is seen with sanitizers; without the package every verb is a process there too.
with_sanitizers = pytest.mark.skipif(not HAS_PACKAGE or not (support.is_sanitized() or support.LONG),
                                     reason="skipped: make sanitize takes every option, where built with Python")
as_processes = pytest.mark.skipif(HAS_PACKAGE and support.is_sanitized() and not support.LONG, reason="skipped: the options below have every verb")


@pytest.fixture(params=TRACES, ids=[name for name, _ in TRACES])
def ranks(request, tmp_path):
    """An extreme trace, as a file of its own and as one of two ranks with clocks of their own."""
    document = request.param[1]
    (tmp_path / "a.json").write_text(json.dumps(document))
    other = dict(document, distributedInfo={"rank": 1, "world_size": 2}, baseTimeNanoseconds=1 << 60)
    (tmp_path / "b.json").write_text(json.dumps(other))
    return tmp_path


@as_processes
def test_every_verb(ranks):
    for i, (verb, n_sets, _) in enumerate(PLAIN):
        check(ranks, verb, n_sets, ["a.json", "b.json"] if i % 2 else ["a.json"])


@with_sanitizers
def test_every_option(ranks):
    check_all(ranks, LINES, ["a.json", "b.json"])


@with_sanitizers
def test_sums_beyond_64_bits(tmp_path):
    (tmp_path / "long.json").write_text(json.dumps(extreme.long_run()))
    lines = [(verb, n_sets, options) for verb, n_sets, _ in PLAIN for options in ([], ["--hta-compat"])]
    check_all(tmp_path, lines, ["long.json"])
