# SPDX-License-Identifier: Apache-2.0
"""The package under test is the one beside the built program: build/python, or HOLOTRACE's folder."""
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("HOLOTRACE") or ROOT / "build" / "holotrace").absolute()
PACKAGE = PROGRAM.parent / "python"
sys.path[:0] = [str(PACKAGE), str(ROOT / "tests")]  # the latter for support.py


def pytest_sessionstart(session):
    if not (PACKAGE / "holotrace" / "_core.abi3.so").exists():
        pytest.exit(f"no package at {PACKAGE}: run make, or set HOLOTRACE", returncode=2)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """No test sees the user's cache; child processes inherit the place and the package."""
    before = dict(os.environ)
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["PYTHONPATH"] = str(PACKAGE)
    os.environ.pop("HOLOTRACE_NO_CACHE", None)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def examples():
    return ROOT / "examples"


@pytest.fixture(scope="session")
def large_trace(tmp_path_factory):
    """A trace that takes a while to read: 400,000 events."""
    path = tmp_path_factory.mktemp("large") / "large.json"
    with open(path, "w") as file:
        file.write('{"traceEvents": [\n')
        for i in range(400_000):
            file.write(f'{{"ph": "X", "cat": "cpu_op", "name": "aten::op{i % 97}", "pid": 1, "tid": 1, '
                       f'"ts": {i * 3}.125, "dur": 2.5, "args": {{"External id": {i}}}}},\n')
        file.write('{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "p"}}]}\n')
    return path
