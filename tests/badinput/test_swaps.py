# SPDX-License-Identifier: Apache-2.0
"""Links that are swapped in while files are written: whoever may write to a folder cannot lead us out of it.

A thread swaps names for links that lead outside and back, as fast as it can, while the program runs again and again.
"""
import contextlib
import os
import threading

import pytest
import support

TRACE = support.ROOT / "tests" / "data" / "pipeline"
#: Who is first is no matter of memory: under sanitizers the program takes this way once more, for what it does there.
RUNS = 400 if support.LONG else 2 if support.is_sanitized() else 12
KEPT = "precious"


class Swapper(threading.Thread):
    """Each path is what it is, or a link to the place outside, in turn."""

    def __init__(self, pairs):
        super().__init__(daemon=True)
        self.pairs, self.done, self.turns = pairs, threading.Event(), 0

    def run(self):
        while not self.done.is_set():
            self.turns += 1
            for path, target in self.pairs:
                aside, link = path.with_name(path.name + ".aside"), path.with_name(path.name + ".link")
                steps = [(os.symlink, target, link), (os.rename, path, aside), (os.rename, link, path)]
                for step, *names in steps if self.turns % 2 else [(os.rename, path, link), (os.rename, aside, path)]:
                    with contextlib.suppress(OSError):
                        step(*names)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.join()


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file").write_text(KEPT)
    yield folder
    assert [entry.name for entry in folder.iterdir()] == ["file"], "something was written outside"
    assert (folder / "file").read_text() == KEPT


@pytest.fixture
def shared(tmp_path):
    """A folder where everybody may put and move things."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def test_results_do_not_leave_the_folder(shared, outside):
    out = shared / "out.csv"
    (shared / "sub").mkdir()
    codes = set()
    with Swapper([(out, outside / "file"), (shared / "sub", outside)]) as swapper:
        for i in range(RUNS):
            done = support.run("steps", TRACE, "--no-cache", "-o", (out, shared / "sub" / "x.csv")[i % 2])
            codes.add(done.returncode)
            assert done.returncode == 0 or b"cannot" in done.stderr, done.stderr
    assert swapper.turns > RUNS and codes <= {0, 4}


def test_a_link_where_everybody_may_write_is_refused(shared, outside):
    (shared / "out.csv").symlink_to(outside / "file")
    (shared / "sub").symlink_to(outside)
    for path in (shared / "out.csv", shared / "sub" / "x.csv"):
        done = support.run("steps", TRACE, "--no-cache", "-o", path)
        assert done.returncode == 4 and b"a link in a folder that everybody can write to" in done.stderr
    done = support.run("export", TRACE, "--no-cache", "--tables", "steps", "-o", shared / "sub")
    assert done.returncode == 4 and b"cannot make the folder" in done.stderr


@pytest.mark.parametrize("name", ["steps", "steps/rank=0", "steps/rank=0/part-0.arrow", "manifest.json"])
def test_exports_do_not_leave_the_folder(tmp_path, outside, name):
    """One name at a time, or the swapper would go out through its own links."""
    folder = tmp_path / "out"
    (folder / "steps" / "rank=0").mkdir(parents=True)
    with Swapper([(folder / name, outside / "file" if "." in name else outside)]) as swapper:
        for _ in range(RUNS):
            done = support.run("export", TRACE, "--no-cache", "--tables", "steps", "-o", folder)
            assert done.returncode in (0, 2, 4), done.stderr
            with contextlib.suppress(OSError):
                (folder / "manifest.json").unlink()
    assert swapper.turns > RUNS


@pytest.mark.parametrize("is_folder", [False, True])
def test_the_cache_does_not_leave_its_folder(shared, outside, is_folder):
    cache = shared / "cache"
    honest = support.output("info", TRACE, "--cache-dir", cache)
    names = [entry.name for entry in cache.iterdir()]
    assert names
    pairs = [(cache, outside)] if is_folder else [(cache / name, outside / "file") for name in names]
    with Swapper(pairs) as swapper:
        for _ in range(RUNS):
            assert support.output("info", TRACE, "--cache-dir", cache) == honest
    assert swapper.turns > RUNS
