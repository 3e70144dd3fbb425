# SPDX-License-Identifier: Apache-2.0
"""The official clients list and call every tool: PyPI's `mcp` and npm's SDK, where they are installed.

HOLOTRACE_MCP_PYTHON is a Python that has `mcp`, HOLOTRACE_MCP_NODE a folder node_modules that has the SDK; without them the
tests are skipped. Runs are those of HOLOTRACE_EXTRA_DATA where it is set, which nothing here was made for, else ours.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import support

sys.path.insert(0, str(support.ROOT / "tests" / "serve"))

from client import serving  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LOGS = support.ROOT / "examples" / "straggler"
#: what a run may lack is told as an error of the tool
MAY_LACK = {"memory_peak", "timeline", "events"}


def python():
    found = os.environ.get("HOLOTRACE_MCP_PYTHON") or sys.executable
    if subprocess.run([found, "-c", "import mcp"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("needs the package mcp of PyPI: set HOLOTRACE_MCP_PYTHON")
    return found


def run(*command):
    done = subprocess.run(list(map(str, command)), env=support.environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.splitlines()[-1])


def check(said):
    assert len(said["tools"]) >= 18 and said["resource"] and said["prompts"] == ["diagnose", "compare"]
    failed = {name for name, ok in said["tools"].items() if not ok}
    assert not failed, said["errors"]


def test_the_package_of_pypi():
    said = run(python(), HERE / "sdk_client.py", support.EXE, LOGS)
    check(said)
    assert said["version"] == "2025-06-18" and said["runs"][0] in said["prompt"]


def test_the_package_of_pypi_over_http():
    with serving(LOGS) as server:
        server.ready()
        check(run(python(), HERE / "sdk_client.py", support.EXE, LOGS, f"http://127.0.0.1:{server.port}/mcp"))


def test_the_sdk_of_npm():
    modules = os.environ.get("HOLOTRACE_MCP_NODE")
    if not modules or not shutil.which("node"):
        pytest.skip("needs @modelcontextprotocol/sdk of npm: set HOLOTRACE_MCP_NODE")
    check(run("node", HERE / "sdk_client.mjs", modules, support.EXE, LOGS))


def test_runs_that_nobody_saw():
    """The traces of HOLOTRACE_EXTRA_DATA: every tool has an answer, or says what the run lacks."""
    extra = os.environ.get("HOLOTRACE_EXTRA_DATA")
    if not extra:
        pytest.skip("needs HOLOTRACE_EXTRA_DATA")
    said = run(python(), HERE / "sdk_client.py", support.EXE, extra)
    failed = {name for name, ok in said["tools"].items() if not ok}
    assert failed <= MAY_LACK, said["errors"]
