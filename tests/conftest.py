# SPDX-License-Identifier: Apache-2.0
"""Options and fixtures of all Python tests; helpers are in support.py."""
import gc
import os
import pathlib
import sys

import pytest

# pytest takes seconds to prepare our files, in each of its processes: kept beside them also where Python is told to keep nothing
sys.dont_write_bytecode = False
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
# documents of traces are a million objects without a cycle, and looking for cycles in them took a sixth of what tests compute
gc.set_threshold(200_000, 20, 100)

import support  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--accept", action="store_true", default=False,
                     help="rewrite the expected output of cases with what the program prints")


def pytest_sessionstart(session):
    if not os.access(support.EXE, os.X_OK):
        pytest.exit(f"no program at {support.EXE}: run make, or set HOLOTRACE", returncode=2)


def pytest_collection_modifyitems(items):
    """Files are handed out in the order of their tests."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture
def accept(request):
    return request.config.getoption("--accept")
