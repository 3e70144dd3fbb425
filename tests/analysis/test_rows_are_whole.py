# SPDX-License-Identifier: Apache-2.0
"""A row that lacks a cell is an error, wherever the cell is forgotten.

Statements that put a cell into a table are taken out of the sources one at a time, in a scratch folder: the one object is
compiled, linked in front of the library, and asked what the program is asked. Either the program refuses, with the status of
an internal fault and the names of table and column, or it never comes by the statement and says what it said before.

Which statements is drawn by HOLOTRACE_SEED (1); how many is what a minute allows, a hundred with HOLOTRACE_LONG.
"""
import json
import os
import pathlib
import random
import re
import shlex
import subprocess

import pytest

import support

BUILD = pathlib.Path(support.EXE).parent
N = 100 if support.LONG else 6
PUT = re.compile(r"\bht_table_put_\w+\(")
#: what is asked where the source is no analysis; they come by most of the model
ASKED = ["summary", "temporal-breakdown", "critical-path", "distributed", "stragglers", "steps", "efficiency"]
#: the views of a verb whose rows are the model's
SNAPSHOT = [f"memory-snapshot --view {view}" for view in
            ("summary", "peak", "leaks", "oom", "fragmentation", "segments", "churn", "pools", "blocks", "events", "timeline")]
TRACES = {"memory-snapshot": ["tests/snapshot/data/plain/oom.pickle.gz"],
          "diff": ["examples/diff/control", "examples/diff/test"],
          "gate": ["--base", "examples/diff/control", "--test", "examples/diff/test"]}


def statements(path):
    """(from, to) of every whole statement that puts a cell."""
    text = path.read_text()
    for found in PUT.finditer(text):
        depth, end = 0, found.end() - 1
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        if text[end] == ";" and text[:found.start()].rstrip(" \t\n")[-1:] in ";{})":
            yield found.start(), end + 1


def candidates():
    for path in sorted((support.ROOT / "src").glob("*/**/*.c")):
        folder = path.relative_to(support.ROOT / "src").parts[0]
        if folder in ("analysis", "model", "graph", "verdict") and not path.stem.endswith("_test"):
            for place in statements(path):
                yield path, place


def verbs_of(path):
    name = re.search(r'\.name = "([a-z-]+)"', path.read_text())
    if "snapshot" in path.parts:
        return SNAPSHOT
    if "analysis" not in path.parts or not name:
        return ASKED
    return [name.group(1)]


def commands():
    """How a source is compiled, and how the program is linked."""
    listed = BUILD / "compile_commands.json"
    if not listed.exists():
        pytest.skip("not a build directory of Meson")
    link = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "holotrace"], check=True, capture_output=True,
                          text=True).stdout.splitlines()[-1]
    compiled = {os.path.normpath(os.path.join(one["directory"], one["file"])): one["command"]
                for one in json.loads(listed.read_text()) if "libholotrace.so" in one["output"]}
    return compiled, link


def build_without(path, place, scratch, compiled, link):
    """The program without the statement."""
    text = path.read_text()
    changed, made, program = scratch / path.name, scratch / "changed.o", scratch / "holotrace"
    changed.write_text(text[:place[0]] + ";" + text[place[1]:])
    words = shlex.split(compiled[str(path)])
    words = words[:words.index("-MD")] + ["-w", "-Wno-error", "-O0", "-o", str(made), "-c", str(changed)]
    subprocess.run(words, cwd=BUILD, check=True)
    words = shlex.split(link)
    at = words.index("-o")
    words[at + 1] = str(program)
    subprocess.run(words[:at + 2] + [str(made)] + words[at + 2:], cwd=BUILD, check=True)
    return program


def ask(program, verb):
    verb, *options = verb.split()
    return subprocess.run([program, verb, *TRACES.get(verb, ["examples/ddp"]), *options, "--format", "csv", "--quiet", "--no-cache"], cwd=support.ROOT, capture_output=True,
                          env=support.environment(), timeout=120)


@pytest.mark.skipif(support.is_sanitized(), reason="one program is enough")
def test_a_forgotten_cell_is_an_error(tmp_path):
    compiled, link = commands()
    every = sorted(candidates())
    random.Random(int(os.environ.get("HOLOTRACE_SEED", "1"))).shuffle(every)
    n_refused = n_tried = 0
    for path, place in every:
        # not every one is come by with what is asked: until some were
        if n_tried >= N and n_refused >= N // 3:
            break
        n_tried += 1
        program = build_without(path, place, tmp_path, compiled, link)
        line = path.read_text().count("\n", 0, place[0]) + 1
        for verb in verbs_of(path):
            done, before = ask(program, verb), ask(support.EXE, verb)
            if done.returncode == before.returncode:
                assert done.stdout == before.stdout, f"{path}:{line}: {verb} answers otherwise without the cell"
            else:
                n_refused += 1
                assert done.returncode == 4, f"{path}:{line}: {verb}: {done.stderr.decode()}"
                assert re.search(rb"table '[^']*': .*column \w+", done.stderr), f"{path}:{line}: {done.stderr.decode()}"
                break
        assert n_tried < 4 * N, f"only {n_refused} of {n_tried} statements were come by: ask more"
