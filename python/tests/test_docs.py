# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/python.md run as they stand."""
import pathlib
import re

import holotrace

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def test_examples_run(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "python.md").read_text(),
                        re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    names = {}
    try:
        for block in blocks:
            exec(compile(block, "docs/python.md", "exec"), names)
    finally:
        holotrace.options.reset()
    assert "nowhere.json" in capsys.readouterr().out
    shown = repr(names["run"].temporal_breakdown()).split("\n")
    page = (ROOT / "docs" / "python.md").read_text()
    assert all(line in page for line in shown[:4])
