# SPDX-License-Identifier: Apache-2.0
"""Parts of ranks and answers that the cache keeps: whatever is there, damaged or not, a table is that of a run without the cache."""
import json
import shutil
import subprocess

import pytest

from support import EXE, LONG, ROOT, environment

RUNS = {"one": "examples/ddp/ddp_rank1.json.gz", "pipeline": "tests/data/pipeline", "ddp": "examples/ddp"}
OPTIONS = {
    "events": [["--columns", "rank,index,name,args.correlation", "--where", "cat = kernel", "--top", "20"]],
    "call-tree": [["--lists", "true", "--columns", "name,kernels", "--top", "5"], ["--lists", "true", "--columns", "name,cuda_runtime", "--top", "5"]],
    "kernels": [["--by", "stream"], ["--annotation", "forward"]],
    "steps": [["--step", "last"], ["--view", "gpu"]],
    "distributed": [["--view", "overlap", "--by", "rank"]],
}
VERBS = [verb["name"] for verb in json.loads(subprocess.run([EXE, "help", "--json"], stdout=subprocess.PIPE, check=True).stdout)["verbs"]
         if verb["kind"] == "analysis" and verb["usage"].count("TRACE") == 1]


def run(*args):
    done = subprocess.run([EXE, *map(str, args)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    return done.returncode, done.stdout, done.stderr


def is_answer(path):
    return path.read_bytes().startswith(b"holotrace kept answer")


def parts(folder):
    return sorted(path for path in folder.glob("*.part-*.htc") if not is_answer(path))


def answers(folder):
    return sorted(path for path in folder.glob("*.part-*.htc") if is_answer(path))


def forget_answers(folder):
    for path in answers(folder):
        path.unlink()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("name", RUNS if LONG else ["one", "pipeline"])
@pytest.mark.parametrize("verb", VERBS)
def test_answers_are_those_without_a_cache(name, verb, cache):
    for options in [[], *OPTIONS.get(verb, [])]:
        asked = [verb, *options, "--format", "json", RUNS[name]]
        without = run(*asked, "--no-cache")
        for jobs, keeps_answers in (("2", False), ("1", True), ("1", False), ("4", True)):
            if not keeps_answers:
                forget_answers(cache)
            assert run(*asked, "--cache-dir", cache, "--jobs", jobs) == without, (options, jobs)


def test_a_report_is_made_of_them(tmp_path):
    asked = ["report", RUNS["ddp"]]
    without = run(*asked, "--no-cache")
    assert without[0] == 0
    assert [run(*asked, "--cache-dir", tmp_path) for _ in range(2)] == [without] * 2
    assert len(parts(tmp_path)) > 40


@pytest.fixture
def kept(tmp_path):
    """A cache with the parts of one question, and its answer."""
    asked = ["summary", "--format", "json", RUNS["ddp"], "--cache-dir", tmp_path / "cache"]
    answer = run(*asked)
    assert answer[0] == 0 and run(*asked) == answer
    assert len(parts(tmp_path / "cache")) == 8  # the part and the calls of each rank
    forget_answers(tmp_path / "cache")
    return tmp_path / "cache", asked, answer


def test_the_events_are_not_needed_again(kept):
    cache, asked, answer = kept
    traces = list(cache.glob("*.trace.htc"))
    assert len(traces) == 4
    for path in traces:  # its columns, not the description at the front
        data = bytearray(path.read_bytes())
        data[len(data) // 2:] = bytes(len(data) - len(data) // 2)
        path.write_bytes(data)
    damaged = {path: path.read_bytes() for path in traces}
    assert run(*asked) == answer
    assert {path: path.read_bytes() for path in traces} == damaged  # else they would have been read anew, and replaced


@pytest.mark.parametrize("damage", ["bit", "cut", "longer", "empty", "of another rank", "of another version", "folder"])
def test_damaged_parts_are_made_anew(kept, damage):
    cache, asked, answer = kept
    good = {path: path.read_bytes() for path in parts(cache)}
    for i, (path, data) in enumerate(good.items()):
        if damage == "bit":
            changed = bytearray(data)
            changed[len(data) * (i + 1) // (len(good) + 1)] ^= 4
            path.write_bytes(changed)
        elif damage == "of another version":
            path.write_bytes(data.replace(b"kept part 1\n", b"kept part 0\n", 1))
        elif damage == "folder":
            path.unlink()
            path.mkdir()
        else:
            path.write_bytes({"cut": data[:-1], "longer": data + b"\0", "empty": b"", "of another rank": good[parts(cache)[i - 1]]}[damage])
    assert run(*asked) == answer
    if damage != "folder":
        assert {path: path.read_bytes() for path in parts(cache)} == good


def test_of_an_answer_no_parts_are_needed(kept):
    cache, asked, answer = kept
    assert run(*asked) == answer and len(answers(cache)) == 1
    for path in parts(cache):
        path.unlink()
    assert run(*asked) == answer and not parts(cache)
    assert run(*asked, "--top", "1", "--columns", "finding") == run(*asked[:4], "--no-cache", "--top", "1", "--columns", "finding")
    assert not parts(cache)  # who chooses rows or columns needs no other answer
    assert run(*asked, "--rank", "0,2") == run(*asked[:4], "--no-cache", "--rank", "0,2")
    assert len(answers(cache)) == 2


@pytest.mark.parametrize("damage", ["bit", "cut", "longer", "empty", "of another version"])
def test_damaged_answers_are_made_anew(kept, damage):
    cache, asked, answer = kept
    assert run(*asked) == answer
    path, = answers(cache)
    good = path.read_bytes()
    for byte in {"bit": [len(good) // 4, len(good) // 2, len(good) - 20]}.get(damage, [0]):
        changed = bytearray(good)
        changed[byte] ^= 4
        path.write_bytes({"cut": good[:-1], "longer": good + b"\0", "empty": b"",
                          "of another version": good.replace(b"kept answer 1\n", b"kept answer 0\n", 1)}.get(damage, changed))
        assert run(*asked) == answer
        assert path.read_bytes() == good


def test_an_answer_is_of_the_ranks_that_there_are(tmp_path):
    run_dir, cache = tmp_path / "run", tmp_path / "cache"
    run_dir.mkdir()
    traces = sorted((ROOT / "examples/ddp").glob("*.json.gz"))
    for n in (2, 3, 4):
        for trace in traces[:n]:
            shutil.copy(trace, run_dir)
        asked = ["summary", "--format", "json", run_dir]
        assert run(*asked, "--cache-dir", cache) == run(*asked, "--cache-dir", cache) == run(*asked, "--no-cache")
    assert len(answers(cache)) == 1  # in place of the one before
    shutil.copy(traces[1], run_dir / traces[0].name)
    assert run(*asked, "--cache-dir", cache) == run(*asked, "--no-cache")


def test_a_file_that_changes_has_other_parts(tmp_path):
    trace, cache = tmp_path / "trace.json.gz", tmp_path / "cache"
    asked = ["summary", "--format", "json", trace, "--cache-dir", cache]
    shutil.copy(ROOT / "examples/ddp/ddp_rank0.json.gz", trace)
    first = run(*asked)
    names = parts(cache)
    shutil.copy(ROOT / "examples/ddp/ddp_rank1.json.gz", trace)
    second = run(*asked)
    assert second == run(*asked[:4], "--no-cache") and second != first
    assert run(*asked) == second
    assert set(names) - set(parts(cache)) == set()  # of the same question: in place of the old ones


def test_parts_go_with_their_trace(tmp_path):
    """The cache is full: the trace that was used longest ago goes, and nothing is left of it."""
    cache = tmp_path / "cache"
    traces = sorted((ROOT / "examples/ddp").glob("*.json.gz"))
    for trace in traces[:3]:
        assert run("kernels", trace, "--cache-dir", cache)[0] == 0
    most = sum(path.stat().st_size for path in cache.iterdir())
    for verb in ("kernels", "operators", "summary"):
        assert run(verb, traces[3], "--cache-dir", cache, "--cache-max", most)[0] == 0
        files = list(cache.iterdir())
        assert sum(path.stat().st_size for path in files) <= most
        assert {path.name[:16] for path in parts(cache)} <= {path.name[:16] for path in cache.glob("*.trace.htc")}
    assert len(list(cache.glob("*.trace.htc"))) < 4 and parts(cache)


def test_no_cache_keeps_nothing(tmp_path):
    assert run("summary", RUNS["ddp"], "--cache-dir", tmp_path, "--no-cache")[0] == 0
    assert list(tmp_path.iterdir()) == []
