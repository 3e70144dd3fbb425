# SPDX-License-Identifier: Apache-2.0
"""holotrace record: a program with NVTX ranges, run unchanged."""
import json
import pathlib
import signal
import subprocess

import pytest
import support
from et_rules import is_special, load, problems

PROGRAM = pathlib.Path(support.EXE).with_name("nvtx_ranges")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="built without the recorder")
RANGES = {"inner", 'outer "quoted"', "registered", "started", "thread", "wide \u00e9"}


def annotations(path):
    events = json.loads(pathlib.Path(path).read_text())["traceEvents"]
    return {e["name"]: e for e in events if e["ph"] == "X" and e["cat"] == "user_annotation"}


def test_ranges_become_annotations(tmp_path):
    done = support.run("record", "-o", tmp_path / "run.json", "--et", tmp_path / "run.et.json", "--", PROGRAM)
    assert done.returncode == 0 and b"wrote" in done.stderr, done.stderr
    found = annotations(tmp_path / "run.json")
    assert set(found) == RANGES
    outer, inner = found['outer "quoted"'], found["inner"]
    assert outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    assert found["thread"]["tid"] != outer["tid"] == found["started"]["tid"]
    # it was pushed in a domain of its own, and outlives what was popped from the other
    assert found["registered"]["ts"] + found["registered"]["dur"] > outer["ts"] + outer["dur"]
    trace = load(tmp_path / "run.et.json")
    assert problems(trace) == []
    assert {n["name"] for n in trace["nodes"] if not is_special(n)} == RANGES
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.et.json", "run.json"]


def test_exit_status_is_the_programs(tmp_path):
    assert support.run("record", "-o", tmp_path / "a.json", "--", PROGRAM, "seven").returncode == 7
    assert set(annotations(tmp_path / "a.json")) == RANGES


def test_a_program_that_dies_keeps_what_it_recorded(tmp_path):
    done = support.run("record", "-o", tmp_path / "a.json", "--", PROGRAM, "abort")
    assert done.returncode == 128 + signal.SIGABRT and b"killed" in done.stderr
    assert set(annotations(tmp_path / "a.json")) == RANGES
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_default_name_has_the_process(tmp_path):
    done = support.run("record", "--", PROGRAM, cwd=tmp_path)
    [path] = tmp_path.iterdir()
    assert path.name in done.stderr.decode() and path.name.startswith("holotrace-")
    assert json.loads(path.read_text())["traceEvents"][0]["pid"] == int(path.stem.split("-")[1])


def test_each_process_has_a_file(tmp_path):
    support.run("record", "-o", tmp_path / "a.json", "--", "sh", "-c", f"{PROGRAM}; {PROGRAM}; true")
    names = sorted(p.name for p in tmp_path.iterdir())
    assert len(names) == 2 and all(name.startswith("a.") and name != "a.json" for name in names)


def test_programs_that_are_not_recorded(tmp_path):
    done = support.run("record", "-o", tmp_path / "a.json", "--", "true")
    assert done.returncode == 0 and b"neither CUDA nor NVTX" in done.stderr
    done = support.run("record", "-o", tmp_path / "a.json", "--", "echo", "-n", "--as-is", "x")
    assert done.stdout == b"--as-is x"
    assert support.run("record", "--", tmp_path / "none").returncode == 127
    assert support.run("record").returncode == 2
    assert support.run("record", "-o", "/nowhere/a.json", "--", PROGRAM).returncode == 3


def test_recover(tmp_path):
    fake_ops = PROGRAM.with_name("fake_ops")
    done = subprocess.run([fake_ops, "killed", tmp_path / "t.json", tmp_path / "t.trace.json"])
    assert done.returncode == -signal.SIGKILL
    part = tmp_path / "t.json.part"
    assert support.run("record", "--recover", part, "--et", tmp_path / "other.json").returncode == 0
    assert problems(load(tmp_path / "other.json")) == []
    assert part.exists()
    done = support.run("record", "--recover", tmp_path / "other.json")
    assert done.returncode == 3 and b"not an unfinished recording" in done.stderr


def killed_part(tmp_path):
    done = subprocess.run([PROGRAM.with_name("fake_ops"), "killed", tmp_path / "t.json", tmp_path / "t.trace.json"])
    assert done.returncode == -signal.SIGKILL
    return tmp_path / "t.json.part"


def test_a_link_at_the_part_is_not_written_through(tmp_path):
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "t.json.part").symlink_to(tmp_path / "precious")
    killed_part(tmp_path)
    assert (tmp_path / "precious").read_text() == "mine"
    assert not (tmp_path / "t.json.part").is_symlink()


def test_a_part_of_another_program_is_left_alone(tmp_path):
    """What lies there under the name of the part was recorded by another program, or forged: no files are made of it."""
    part = killed_part(tmp_path)
    before = part.read_bytes()
    done = support.run("record", "-o", tmp_path / "new.json", "--et", tmp_path / "t.json", "--", "true")
    assert done.returncode == 0 and b"of an earlier program" in done.stderr and b"was killed" not in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == [part.name] and part.read_bytes() == before
    done = support.run("record", "-o", tmp_path / "new.json", "--et", tmp_path / "t.json", "--", PROGRAM, "abort")
    assert done.returncode == 128 + signal.SIGABRT and b"was killed" in done.stderr
    assert set(annotations(tmp_path / "new.json")) == RANGES and not part.exists()


def test_recovery_stays_beside_the_part(tmp_path):
    """The part says where its files were to go; whoever recovers it wants them here, and keeps what is there."""
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    part = killed_part(there)
    moved = here / part.name
    part.rename(moved)
    assert support.run("record", "--recover", moved).returncode == 0
    assert sorted(p.name for p in here.iterdir()) == ["t.json", "t.json.part", "t.trace.json"] and not list(there.iterdir())
    (here / "t.json").write_text("mine")
    done = support.run("record", "--recover", moved)
    assert done.returncode == 3 and b"exists already" in done.stderr and (here / "t.json").read_text() == "mine"
    assert support.run("record", "--recover", moved, "--et", here / "t.json", "-o", here / "n.json").returncode == 0
    assert problems(load(here / "t.json")) == []


def test_recovery_of_what_had_not_begun(tmp_path):
    part = killed_part(tmp_path)
    data = bytearray(part.read_bytes())
    at = data.index(str(tmp_path / "t.json").encode())
    data[at:4096] = bytes(4096 - at)
    part.write_bytes(data)
    done = support.run("record", "--recover", part)
    assert done.returncode == 3 and b"killed before it began" in done.stderr
    data[at:at + 3] = b"a/."
    part.write_bytes(data)
    assert support.run("record", "--recover", part).returncode == 3
