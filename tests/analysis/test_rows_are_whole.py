# SPDX-License-Identifier: Apache-2.0
"""A row that lacks a cell, or is given one twice, is an error, wherever that happens.

Calls that put a cell into a table, or set a key or a value of a group, are taken out of the sources or made twice, one at a
time, in a scratch folder: the one object is compiled, linked in front of the library, and asked what the program is asked.
Either the program refuses, with the status of an internal fault and the names of table and column, or it never comes by the
call and says what it said before.

Which calls is drawn by the sources themselves, so that each change of them looks at others, or by HOLOTRACE_SEED; how many
is what a minute allows, a hundred with HOLOTRACE_LONG. The tables of the timeline (src/registry) are asked by no command.
"""
import functools
import hashlib
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
PUT = re.compile(r"(!)?\b(?:ht_table_put_\w+|ht_pooled_set\w*|cell_(?:text|known|number))\(")
#: where the rows of the sources are asked for; what is neither an analysis nor here comes by what most of the model does
ASKED = {
    "model": [f"{verb} examples/ddp" for verb in ("summary", "temporal-breakdown", "critical-path", "distributed", "stragglers", "steps", "efficiency",
                                                  "operators", "kernels", "advice", "attribution --view origins")],
    "snapshot": [f"memory-snapshot --view {view} tests/snapshot/data/plain/oom.pickle.gz" for view in
                 ("summary", "peak", "leaks", "oom", "fragmentation", "segments", "churn", "pools", "blocks", "events", "timeline")],
    "compare": [f"diff --view {view} examples/diff/control examples/diff/test" for view in
                ("rows", "summary", "operators", "kernels", "modules", "causes", "ranks")],
    "hta": ["events examples/ddp --hta-compat --columns " + ",".join(f"hta.{cell}" for cell in (
                "ts_ns", "stream", "correlation", "index_correlation", "iteration", "depth", "height", "parent", "num_kernels", "kernel_dur_sum_ns",
                "kernel_span_ns", "first_kernel_start_ns", "keys", "arg_keys")) + " --top 3",
            *(f"critical-path --view {view} --hta-compat examples/ddp" for view in ("summary", "graph", "path", "edges", "events")),
            "critical-path --view what-if --scale nccl=0.5 --hta-compat examples/ddp"],
    "job": ["what-if examples/ddp", "what-if examples/ddp --view gaps",
            "what-if --operations examples/job/operations.csv --meta examples/job/meta.yaml"],
    "sql": [*(f"sql examples/ddp 'select * from {table}'" for table in ("ranks", "steps", "tracks")), "sql .tables", "sql '.schema events'",
            *(f"sql tests/snapshot/data/plain/oom.pickle.gz 'select * from mem_{table}'" for table in ("segment", "block", "event", "stack", "annotation"))],
    "history": [f"history --view {view} STORE" for view in ("changes", "series", "latest")],
    "et": ["et-check examples/et/with_kineto.et.json.gz",
           "events examples/et/with_kineto.json.gz --attach examples/et/with_kineto.et.json.gz --columns et.node,et.node_name --where 'et.node > 0'"],
}
FOLDERS = ("analysis", "model", "graph", "verdict", "hta", "job", "sql", "history", "et")
TRACES = {"memory-snapshot": "tests/snapshot/data/plain/oom.pickle.gz",
          "diff": "examples/diff/control examples/diff/test",
          "gate": "--base examples/diff/control --test examples/diff/test",
          "et-check": "examples/et/with_kineto.et.json.gz",
          "et-nodes": "examples/et/with_kineto.et.json.gz",
          "what-if": "--operations examples/job/operations.csv --meta examples/job/meta.yaml"}


def calls(text):
    """(from, to, instead, twice) of every call that puts a cell: what is there instead of it, and when it is made twice."""
    for found in PUT.finditer(text):
        depth, end = 0, found.end() - 1
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        call = text[found.start():end]
        if found.group(1):
            yield found.start(), end, "!true", f"{call} || {call}"
        elif text[end] == ";":
            yield found.start(), end, "(void)0", f"({call}, {call})"


@functools.cache
def sources():
    return {path: path.read_text() for folder in FOLDERS for path in sorted((support.ROOT / "src" / folder).glob("**/*.c"))
            if not path.stem.endswith("_test")}


def candidates():
    """(path, from, to, what is there then)"""
    return [(path, first, end, text) for path, source in sources().items() for first, end, *texts in calls(source) for text in texts]


def seed():
    return os.environ.get("HOLOTRACE_SEED") or hashlib.sha256("".join(sources().values()).encode()).hexdigest()


@functools.cache
def ways(verb):
    """A verb, and each of its views."""
    told = json.loads(support.run("help", verb, "--json").stdout)["verbs"]
    options = [option for option in told[0]["options"] if option["name"] in ("view", "by", "group-by") and option["choices"]]
    return ["", *(f"--{option['name']} {choice}" for option in options for choice in option["choices"].split("|"))]


def questions(path):
    name = re.search(r'\.name = "([a-z-]+)"', sources()[path])
    for part in reversed(path.relative_to(support.ROOT / "src").parts[:-1]):
        if part in ASKED:
            return ASKED[part]
        if part == "analysis" and name:
            verb = name.group(1)
            return [f"{verb} {way} {TRACES.get(verb, 'examples/ddp')}" for way in ways(verb)]
    return ASKED["model"]


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


def build_with(path, first, end, instead, scratch, compiled, link):
    """The program with other words in one place."""
    text = sources()[path]
    changed, made, program = scratch / path.name, scratch / "changed.o", scratch / "holotrace"
    changed.write_text(text[:first] + instead + text[end:])
    words = shlex.split(compiled[str(path)])
    words = words[:words.index("-MD")] + ["-w", "-Wno-error", "-O0", "-o", str(made), "-c", str(changed)]
    subprocess.run(words, cwd=BUILD, check=True)
    words = shlex.split(link)
    at = words.index("-o")
    words[at + 1] = str(program)
    subprocess.run(words[:at + 2] + [str(made)] + words[at + 2:], cwd=BUILD, check=True)
    return program


def ask(program, question, store):
    words = [store if word == "STORE" else word for word in shlex.split(question)]
    return subprocess.run([program, *words, "--format", "csv", "--quiet", "--no-cache"], cwd=support.ROOT, capture_output=True,
                          env=support.environment(), timeout=120)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Of a run whose steps get longer."""
    folder = tmp_path_factory.mktemp("history")
    (folder / "runs.csv").write_text("label,step\n" + "".join(f"r{i},{100 + i % 3 + 50 * (i > 10)}\n" for i in range(20)))
    support.run("history", folder / "store.db", "--import", folder / "runs.csv")
    return str(folder / "store.db")


@pytest.mark.skipif(support.is_sanitized(), reason="one program is enough")
def test_a_cell_that_is_not_put_once_is_an_error(tmp_path, store):
    compiled, link = commands()
    every, drawn = candidates(), seed()
    random.Random(drawn).shuffle(every)
    before = functools.cache(lambda question: ask(support.EXE, question, store))
    n_refused = n_tried = 0
    for path, first, end, instead in every:
        # not every one is come by with what is asked: until some were
        if n_tried >= N and n_refused >= N // 3:
            break
        n_tried += 1
        program = build_with(path, first, end, instead, tmp_path, compiled, link)
        place = f"HOLOTRACE_SEED={drawn}: {path}:{sources()[path].count(chr(10), 0, first) + 1} as {instead}"
        for question in questions(path):
            done = ask(program, question, store)
            if done.returncode == before(question).returncode:
                assert done.stdout == before(question).stdout, f"{place}: {question} answers otherwise"
            else:
                n_refused += 1
                assert done.returncode == 4, f"{place}: {question}: {done.stderr.decode()}"
                assert re.search(rb"table '[^']*': .*column \w+", done.stderr), f"{place}: {done.stderr.decode()}"
                break
        assert n_tried < 4 * N, f"HOLOTRACE_SEED={drawn}: only {n_refused} of {n_tried} calls were come by: ask more"
