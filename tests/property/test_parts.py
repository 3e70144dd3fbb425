# SPDX-License-Identifier: Apache-2.0
"""Ranks in pieces: however ranks are grouped into parts, and in whatever order parts are merged, the table is
that of one run over all of them."""
import itertools
import json
import subprocess

import pytest

from support import EXE, LONG, ROOT, environment

RUNS = {"ddp": "examples/ddp", "straggler": "examples/straggler"}
#: Options that lead to other parts or other columns than the defaults do.
OPTIONS = {
    "steps": [["--view", "mean"], ["--view", "gpu"]],
    "operators": [["--by", "shape"], ["--by", "stack"]],
    "kernels": [["--by", "properties"], ["--by", "stream"], ["--by", "core"]],
    "stacks": [["--time", "device"]],
    "call-tree": [["--monitor-cat", "cpu_op", "--preset", "all", "--max-depth", "2"]],
    "temporal-breakdown": [["--by", "step"]],
    "kernel-types": [["--by", "rank"]],
    "kernel-breakdown": [["--by", "all"], ["--num-kernels", "3"]],
    "comm-overlap": [["--by", "collective"]],
    "queue-length": [["--view", "series", "--top", "50"]],
    "memory-bandwidth": [["--view", "series", "--top", "50"]],
    "stragglers": [["--view", "collectives"]],
    "what-if": [["--view", "slowdown"], ["--view", "gaps"], ["--scale", "@rank:1=median,gemm=0.5"],
                ["--scale", "@annotation:forward=repeat:2,@group:.*=ranks:64,elementwise=+1us"], ["--scale", "elementwise=fuse"]],
    "critical-path": [["--view", "path", "--instance", "0"]],
    "events": [["--columns", "rank,index,name,time_ns,ts_ns,args.correlation", "--where",
                "cat = kernel", "--top", "200"]],
}


def run(*args):
    done = subprocess.run([EXE, *args], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment())
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def analyses():
    said = json.loads(run("help", "--json"))
    for verb in said["verbs"]:
        if verb["kind"] == "analysis" and "TRACE" in verb["usage"]:
            for options in [[]] + OPTIONS.get(verb["name"], []):
                yield pytest.param(verb["name"], options, id="-".join([verb["name"], *options[:2]]))


def groups_of(files):
    """Every rank alone, and one against the rest; with HOLOTRACE_LONG also in halves and all together."""
    yield [[f] for f in files]
    yield [files[1:2], files[:1] + files[2:]]
    if LONG:
        yield [files[: len(files) // 2], files[len(files) // 2:]]
        yield [files]


def in_turn(cases):
    """Each case with one run after the other; with HOLOTRACE_LONG with all of them."""
    for i, case in enumerate(cases):
        for name in list(RUNS)[0 if LONG else i % len(RUNS):][:None if LONG else 1]:
            yield pytest.param(name, *case.values, id=f"{name}-{case.id}")


@pytest.mark.parametrize("name, analysis, options", in_turn(analyses()))
def test_any_grouping_gives_the_same_bytes(name, analysis, options, tmp_path):
    files = sorted(str(f) for f in (ROOT / RUNS[name]).glob("*.json.gz"))
    assert len(files) == 4
    whole = run(analysis, *options, "--format", "json", *files)
    for k, groups in enumerate(groups_of(files)):
        parts = []
        for i, group in enumerate(groups):
            parts.append(str(tmp_path / f"{k}-{i}.part"))
            run("part", analysis, *options, "-o", parts[-1], *group)
        for order in itertools.islice(itertools.permutations(parts), 0, 24, 11):
            assert run("merge", analysis, "--format", "json", *order) == whole


@pytest.mark.parametrize("by", ["name", "path", "shape"])
def test_parts_of_a_comparison(by, tmp_path):
    """Two sets at once; paths of all ranks become one tree, whoever comes first."""
    sides = [sorted(str(f) for f in (ROOT / run).glob("*.json.gz")) for run in RUNS.values()]
    options = ["--by", by, "--step", "3", "--all-rows"]
    whole = run("diff", *options, "--format", "json", *(str(ROOT / name) for name in RUNS.values()))
    assert len(json.loads(whole)["rows"]) > 20
    parts = []
    for i, pair in enumerate(zip(*sides)):
        parts.append(str(tmp_path / f"{i}.part"))
        run("part", "diff", *options, "-o", parts[-1], *pair)
    for order in itertools.islice(itertools.permutations(parts), 0, 24, 5):
        assert run("merge", "diff", "--format", "json", *order) == whole


def test_a_rank_twice_is_refused(tmp_path):
    trace = str(ROOT / "examples/ddp/ddp_rank0.json.gz")
    part = str(tmp_path / "0.part")
    run("part", "kernel-types", "-o", part, trace)
    done = subprocess.run([EXE, "merge", "kernel-types", part, part], stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"rank 0 is in two parts" in done.stderr


def test_different_questions_are_refused(tmp_path):
    files = sorted((ROOT / "examples/ddp").glob("*.json.gz"))
    run("part", "kernel-types", "-o", str(tmp_path / "0.part"), str(files[0]))
    run("part", "kernel-types", "--by", "rank", "-o", str(tmp_path / "1.part"), str(files[1]))
    done = subprocess.run([EXE, "merge", "kernel-types", tmp_path / "0.part",
                           tmp_path / "1.part"], stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"different questions" in done.stderr


def test_damaged_parts_are_refused(tmp_path):
    part = tmp_path / "0.part"
    run("part", "kernel-types", "-o", str(part), str(next((ROOT / "examples/ddp").glob("*.json.gz"))))
    good = part.read_bytes()
    step = max(1, len(good) // 200)
    for at in range(0, len(good), step):
        part.write_bytes(good[:at] + bytes([good[at] ^ 0x41]) + good[at + 1:])
        done = subprocess.run([EXE, "merge", "kernel-types", part], stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL)
        assert done.returncode == 3, at
    for at in range(0, len(good), step):
        part.write_bytes(good[:at])
        done = subprocess.run([EXE, "merge", "kernel-types", part], stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL)
        assert done.returncode == 3, at


def refused(*args):
    """The exit code and the one line that says why."""
    done = subprocess.run([EXE, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    assert done.stdout == b"" and done.stderr.count(b"\n") == 1, done.stderr
    return done.returncode, done.stderr.decode()


def test_parts_of_another_version_are_refused(tmp_path):
    part = tmp_path / "0.part"
    run("part", "kernel-types", "-o", str(part), "examples/ddp")
    version = json.loads(run("help", "--json"))["version"].encode()
    part.write_bytes(part.read_bytes().replace(version, b"9" * len(version), 1))
    code, why = refused("merge", "kernel-types", part)
    assert code == 3 and f"was made by version {'9' * len(version)}, this is {version.decode()}" in why
    assert str(part) in why


def test_a_part_on_a_full_disk_is_refused():
    code, why = refused("part", "kernel-types", "-o", "/dev/full", "examples/ddp")
    assert code == 4 and "/dev/full" in why


def test_partial_merges_what_there_is(tmp_path):
    """A part that is damaged, one that is not there, and a trace that was not there when its part was made."""
    files = sorted(str(f) for f in (ROOT / "examples/ddp").glob("*.json.gz"))
    run("part", "kernel-types", "--partial", "-o", str(tmp_path / "0.part"), files[0], "no_such_trace.json")
    run("part", "kernel-types", "--partial", "-o", str(tmp_path / "1.part"), files[1])
    (tmp_path / "2.part").write_bytes((tmp_path / "1.part").read_bytes()[:-9])
    parts = [tmp_path / f"{i}.part" for i in range(4)]
    assert refused("merge", "kernel-types", *parts)[0] == 3
    notes = json.loads(run("merge", "kernel-types", "--partial", "--format", "json", *map(str, parts)))["notes"]
    assert [note for note in notes if note.startswith("warning: ")] == [
        f"warning: missing from this result, 3 files: {parts[2]}: the part is damaged or cut short; "
        f"{parts[3]}: cannot be read; no_such_trace.json: cannot open: No such file or directory"]
    whole = json.loads(run("kernel-types", "--format", "json", *files[:2]))
    merged = json.loads(run("merge", "kernel-types", "--partial", "--format", "json", *map(str, parts)))
    assert merged["rows"] == whole["rows"]
    assert refused("merge", "kernel-types", "--partial", parts[2])[0] == 3


def test_ranks_without_a_common_clock_are_told(tmp_path):
    """Each part alone has one clock; together they have none, and info says so."""
    paths = []
    for rank in range(2):
        trace = {"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1}],
                 "distributedInfo": {"rank": rank}}
        if rank:
            trace["baseTimeNanoseconds"] = 1_700_000_000_000_000_000
        (tmp_path / f"{rank}.json").write_text(json.dumps(trace))
        run("part", "info", "-o", str(tmp_path / f"{rank}.part"), str(tmp_path / f"{rank}.json"))
        paths.append(str(tmp_path / f"{rank}.json"))
    whole = run("info", *paths)
    assert b"no common clock" in whole
    assert run("merge", "info", str(tmp_path / "0.part"), str(tmp_path / "1.part")) == whole


def test_a_rank_with_one_step_among_others_with_two(tmp_path):
    """Every rank has its own complete steps, so that a part can be made alone. HTA's rows are cut when there are two steps
    anywhere: who made a part of one step could not know."""
    for rank, steps in ((0, (1, 2)), (1, (1,))):
        events = []
        for i, step in enumerate(steps):
            events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1,
                        "ts": 100 * i, "dur": 90},
                       {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                        "ts": 100 * i + 1, "dur": 2, "args": {"correlation": i + 1}},
                       {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 100 * i + 10, "dur": 5,
                        "args": {"device": 0, "stream": 7, "correlation": i + 1}}]
        (tmp_path / f"{rank}.json").write_text(json.dumps({"traceEvents": events, "distributedInfo": {"rank": rank}}))
    paths = [str(tmp_path / f"{rank}.json") for rank in range(2)]
    parts = [str(tmp_path / f"{rank}.part") for rank in range(2)]
    for how in ([], ["--hta-rows"], ["--step", "1"]):
        for path, part in zip(paths, parts):
            run("part", "kernel-types", "--by", "rank", *how, "-o", part, path)
        if how == ["--hta-rows"]:
            code, why = refused("merge", "kernel-types", *parts)
            assert code == 2 and "rules depend on all" in why
        else:
            assert run("merge", "kernel-types", *parts) == run("kernel-types", "--by", "rank", *how, *paths)
