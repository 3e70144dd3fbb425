# SPDX-License-Identifier: Apache-2.0
"""Every line of docs/cookbook.md works: commands, queries and Python, on the bundled traces."""
import os
import re
import shlex
import subprocess
import sys

import pytest

import support

BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
TEXT = (support.ROOT / "docs" / "cookbook.md").read_text()
SECTIONS = re.split(r"^## ", TEXT, flags=re.M)[1:]


def blocks(kind):
    """(title, head, body) of every block that begins so."""
    return [pytest.param(head, body, id=section.split(".")[0]) for section in SECTIONS
            for head, body in BLOCK.findall(section) if head.split(" ")[0].split("=")[0] == kind]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "examples").symlink_to(support.ROOT / "examples")
    return tmp_path


def test_there_are_twenty_one_questions_each_in_three_ways():
    assert len(SECTIONS) == 21
    for section in SECTIONS:
        kinds = [head.split(" ")[0].split("=")[0] for head, _ in BLOCK.findall(section)]
        assert sorted(kinds, key=len) in (["", "sql", "python"], ["sql", "exit", "python"]), section.split("\n")[0]


@pytest.mark.parametrize("head, body", blocks("") + blocks("exit"))
def test_commands(head, body, folder):
    expected = int(head.partition("=")[2] or 0)
    for line in body.splitlines():
        program, *args = shlex.split(line)
        assert program == "holotrace"
        done = support.run(*args, cwd=folder)
        assert done.returncode == expected, done.stderr.decode()
        assert done.stdout or "-o" in args


@pytest.mark.parametrize("head, body", blocks("sql"))
def test_queries(head, body, folder):
    done = support.run("sql", *head.split()[1:], body, "--format", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    names, rows = support.read_csv(done.stdout)
    assert names and rows


@pytest.mark.parametrize("head, body", blocks("python"))
def test_python(head, body, folder):
    package = os.path.join(os.path.dirname(support.EXE), "python")
    if not os.path.isdir(package):
        pytest.skip("built without Python")
    done = subprocess.run([sys.executable, "-c", "import holotrace\nresult = " + body.strip() + "\nprint(result)"], cwd=folder,
                          env=support.environment(PYTHONPATH=package), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
