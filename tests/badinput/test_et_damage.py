# SPDX-License-Identifier: Apache-2.0
"""Execution traces that are hard: a million nodes deep, cut anywhere, little memory."""
import gzip
import os

import pytest

import support

ET = support.ROOT / "examples/et/with_kineto.et.json.gz"


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """A million calls, each inside of the one before; children end first."""
    n = 1_000_000
    path = tmp_path_factory.mktemp("deep") / "deep.json"
    with open(path, "w") as file:
        file.write('{"schema": "1.0.2-chakra.0.0.4", "pid": 1, "time": "", "start_ts": 1, "nodes": [\n'
                   '{"id": 2, "name": "[pytorch|profiler|execution_trace|thread]", "ctrl_deps": 1, "inputs": {}, "outputs": {}},\n')
        for i in range(n, 2, -1):
            file.write(f'{{"id": {i}, "name": "n{i % 10}", "ctrl_deps": {i - 1}, "inputs": {{}}, "outputs": {{}}}},\n')
        file.write('{"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "inputs": {}, "outputs": {}}],'
                   '"finish_ts": 2}')
    return path


def test_a_million_deep(deep, tmp_path):
    """Walks end and need no stack; memory stays within the store's."""
    out = support.output("et-nodes", str(deep), "--descendants-of", "999990", "--format", "csv", "--columns", "id",
                         "--memory-limit", "1G").decode().split()
    assert out[1:] == [str(i) for i in range(1_000_000, 999_989, -1)]
    done = support.run("et-check", str(deep), "--limit", "1", "--format", "csv", "--memory-limit", "1500M")
    assert done.returncode == 1 and b"1000000 nodes" in done.stdout
    assert b"ET015" not in done.stdout and b"ET017" not in done.stdout
    support.output("et-convert", str(deep), "--to", "dot", "-o", str(tmp_path / "x.dot"), "--memory-limit", "2G")


def test_cut_anywhere(tmp_path):
    """However a file is cut, it is read up to the cut or refused; nodes before the cut stay as they are."""
    text = gzip.decompress(ET.read_bytes())
    whole = support.output("et-nodes", str(ET), "--format", "csv", "--columns", "id,name,parent").splitlines()
    path = tmp_path / "cut.json"
    for at in range(40, len(text), len(text) // 40):
        path.write_bytes(text[:at])
        done = support.run("et-nodes", str(path), "--format", "csv", "--columns", "id,name,parent")
        assert done.returncode in (0, 3), done.stderr
        if done.returncode == 0:
            lines = done.stdout.splitlines()
            assert lines[:-1] == whole[:len(lines) - 1] and lines[-1] == whole[-1]


def test_little_memory():
    """A limit is told, not crossed."""
    done = support.run("et-nodes", str(support.ROOT / "tests/data/et/ddp_rank0.et.json.gz"), "--memory-limit", "2M")
    assert done.returncode == 4 and b"memory" in done.stderr


@pytest.mark.parametrize("text", ['{"id":', '{"id": 3, "name": "', '{"id": 3, "name": "a", "attrs": [{"name": "',
                                  '{"id": 1, "a\\"": ["', '{"id": 3, "name": "a"b", '])
def test_beginnings_without_end(text, tmp_path):
    """Text that begins nodes over and over and ends none is not searched again from each beginning."""
    path = tmp_path / "a.json"
    path.write_text('{"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [' + text * (5_000_000 // len(text)))
    before = os.times()
    done = support.run("et-nodes", str(path), "--format", "csv", "--columns", "id")
    after = os.times()
    assert done.returncode == 0 and b"skipped" in done.stderr
    assert after.children_user - before.children_user < 5
