# SPDX-License-Identifier: Apache-2.0
"""--attach: what a file is, is told by its content; it belongs to ranks; wrong ones are said; totals stay."""
import json
import shutil
import subprocess
import sys

import pytest

import support
from support import ROOT, output, read_csv, run

GRAPHS = ROOT / "tests/data/graphs"
COMPILE = ROOT / "tests/data/compile/compile.json.gz"
ET = ROOT / "tests/data/et/compile.et.json.gz"


def attached(*args):
    names, found = read_csv(output("info", *args, "--format", "csv"))
    found = [dict(zip(names, row)) for row in found]
    return [(r["rank"], r["item"], r["value"]) for r in found if r["topic"] == "attached"]


def test_kinds_are_told_by_content(tmp_path):
    """Names say nothing: a trace, an execution trace and a memory timeline without endings."""
    shutil.copy(GRAPHS / "capture.json.gz", tmp_path / "a")
    shutil.copy(ET, tmp_path / "b")
    (tmp_path / "c").write_text("[[-1, 0, 100, 0], [5000, 1, 7, 4]]")
    found = attached(COMPILE, *sum((["--attach", tmp_path / name] for name in "abc"), []))
    assert [(path, value.split(":")[0].split(",")[0]) for _, path, value in found] == [
        (str(tmp_path / "a"), "trace"), (str(tmp_path / "b"), "execution-trace"),
        (str(tmp_path / "c"), "memory-timeline")]


def test_folders_are_walked_and_strangers_passed_over(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    shutil.copy(ET, tmp_path / "deep" / "er" / "x.json.gz")
    (tmp_path / "notes.txt").write_text("nothing of interest")
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8b\x08 no gzip")
    found = attached(COMPILE, "--attach", tmp_path)
    assert [value.split(",")[0] for _, _, value in found] == ["execution-trace"]


def test_a_folder_is_walked_once_however_links_lead_to_it(tmp_path):
    """Links to where they are, up and in a ring would be a million paths; one to a folder elsewhere is followed."""
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    (folder / "deep").mkdir(parents=True)
    elsewhere.mkdir()
    for i in range(4):
        (folder / f"l{i}").symlink_to(".")
        (folder / "deep" / f"l{i}").symlink_to("..")
    (folder / "out").symlink_to(elsewhere)
    (elsewhere / "ring").symlink_to(folder)
    shutil.copy(ET, folder / "deep" / "x.json.gz")
    shutil.copy(ET, elsewhere / "y.json.gz")
    before = support.children_seconds()
    found = attached(COMPILE, "--attach", folder)
    assert support.children_seconds() - before < 5
    assert [(path, value.split(",")[0]) for _, path, value in found] == [
        (str(folder / "deep" / "x.json.gz"), "execution-trace"), (str(folder / "out" / "y.json.gz"), "execution-trace")]


def test_matched_share_of_an_execution_trace():
    """All operators of the trace have their node; those of another run have none, and that is said."""
    ((_, _, value),) = attached(COMPILE, "--attach", ET)
    assert value.startswith("execution-trace, ") and value.endswith("(100.0 %)")
    ((_, _, value),) = attached(ROOT / "examples/train", "--attach", ET)
    assert "(100.0 %)" not in value


@pytest.mark.parametrize("text", [b"", b"hello\n", b'{"a": 1}', b"\x00" * 100, b"[1, 2]"])
def test_a_file_of_no_kind_is_an_error(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_bytes(text)
    done = run("info", COMPILE, "--attach", path)
    assert done.returncode == 3, done.stderr
    assert b"nothing that can be attached" in done.stderr and b"execution trace" in done.stderr


def test_a_pattern_that_is_too_long_is_said(tmp_path):
    path = tmp_path / "x.rules"
    path.write_text("# mine\niteration decode " + "x" * 1024 + "\n")
    done = run("iterations", COMPILE, "--attach", path)
    assert done.returncode == 3
    assert b"line 2 of the rules: the annotation is longer than a pattern may be" in done.stderr


def test_a_missing_file_and_an_empty_folder_are_errors(tmp_path):
    assert run("info", COMPILE, "--attach", tmp_path / "none").returncode == 3
    done = run("info", COMPILE, "--attach", tmp_path)
    assert done.returncode == 3 and b"nothing that can be attached" in done.stderr


def ranks_of(tmp_path, n):
    folder = tmp_path / "run"
    folder.mkdir()
    for rank in range(n):
        shutil.copy(GRAPHS / "replay.json.gz", folder / f"rank{rank}.json.gz")
    return folder


def test_attachments_name_their_rank(tmp_path):
    """By RANK=PATH, by the file's name, or for all."""
    folder = ranks_of(tmp_path, 2)
    shutil.copy(GRAPHS / "capture.json.gz", tmp_path / "graph_capture_rank1.json.gz")
    shutil.copy(GRAPHS / "capture.json.gz", tmp_path / "for_all.json.gz")
    found = attached(folder, "--attach", tmp_path / "graph_capture_rank1.json.gz",
                     "--attach", tmp_path / "for_all.json.gz", "--attach", f"0={GRAPHS / 'eager.json.gz'}")
    assert {(rank, path.rsplit("/")[-1]) for rank, path, _ in found} == {
        ("0", "for_all.json.gz"), ("0", "eager.json.gz"), ("1", "graph_capture_rank1.json.gz"),
        ("1", "for_all.json.gz")}


def test_what_names_one_other_rank_is_for_all(tmp_path):
    """Captures are often recorded on the first rank only."""
    folder = ranks_of(tmp_path, 2)
    shutil.copy(GRAPHS / "capture.json.gz", tmp_path / "graph_capture_rank0.json.gz")
    found = attached(folder, "--attach", tmp_path / "graph_capture_rank0.json.gz")
    assert [rank for rank, _, _ in found] == ["0", "1"]


def test_old_options_are_aliases(tmp_path):
    columns = ["--columns", "index,et.node,et.op_schema", "--format", "csv"]
    assert output("events", COMPILE, "--attach", ET, *columns) == output("events", COMPILE, "--et", ET, *columns)
    raw = tmp_path / "timeline.json"
    raw.write_text(json.dumps([[-1, 0, 100, 0], [5000, 1, 7, 4], [9000, 3, -7, 4]]))
    columns = ["--columns", "category,peak_bytes,final_bytes", "--format", "csv"]
    assert output("memory-timeline", COMPILE, "--attach", raw, *columns) == \
        output("memory-timeline", "--file", raw, *columns)
    assert output("et-link", ET, "--attach", COMPILE, "--format", "csv") == \
        output("et-link", ET, "--kineto", COMPILE, "--format", "csv")


def test_the_cache_is_the_same(tmp_path):
    """Attachments are no part of a trace's key: what was cached without them is used with them."""
    cache = tmp_path / "cache"
    output("info", COMPILE, "--cache-dir", cache)
    before = sorted(p.name for p in cache.rglob("*") if p.is_file())
    output("events", COMPILE, "--cache-dir", cache, "--attach", ET, "--top", "1")
    assert sorted(p.name for p in cache.rglob("*") if p.is_file()) == before


def test_parts_read_attachments_where_ranks_are_read(tmp_path):
    folder = ranks_of(tmp_path, 2)
    parts = []
    for rank in range(2):
        parts.append(tmp_path / f"{rank}.part")
        output("part", "info", folder / f"rank{rank}.json.gz", "--attach", GRAPHS / "capture.json.gz",
               "--where", "topic = attached", "-o", parts[-1])
    merged = output("merge", "info", *parts, "--format", "csv")
    whole = output("info", folder, "--attach", GRAPHS / "capture.json.gz", "--where", "topic = attached",
                   "--format", "csv")
    assert merged == whole and whole.count(b"attached") == 2


def test_python_takes_paths_lists_and_ranks():
    code = f"""
import holotrace, pathlib
for attach in ({str(ET)!r}, [pathlib.Path({str(ET)!r})], {{0: {str(ET)!r}}}):
    with holotrace.open({str(COMPILE)!r}, attach=attach, cache=False) as session:
        print([row["value"] for row in session.info(where="topic = attached")])
"""
    package = ROOT / "build" / "python"
    if not package.exists():
        pytest.skip("the Python package is not built")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env=support.environment(PYTHONPATH=str(package)))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and len(set(lines)) == 1 and "execution-trace" in lines[0]
