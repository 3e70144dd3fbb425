# SPDX-License-Identifier: Apache-2.0
"""tools/check_licence, asked of small trees: who names no licence is told, and so is a path of REUSE.toml without a purpose."""
import shutil
import subprocess

import pytest
import support

LINE = "SPDX-License-Identifier: Apache-2.0"
SOUND = {"a.c": f"/* {LINE} */\n", "run": f"#!/bin/sh\n# {LINE}\n", "empty.py": "", "docs/deep/page.md": "# Page\n", "data.csv": "1,2\n",
         "REUSE.toml": f'# {LINE}\npath = [\n    "docs/**.md",\n    "*.csv",\n]\n'}


@pytest.mark.parametrize("broken,said", [
    ({}, ""),
    ({"b.toml": "x = 1\n"}, f"b.toml: add a line with {LINE}, or its path to REUSE.toml\n"),
    ({"deep/data.csv": "1\n"}, f"deep/data.csv: add a line with {LINE}, or its path to REUSE.toml\n"),
    ({"data.csv": f"# {LINE}\n"}, "REUSE.toml: no file needs *.csv\n"),
])
def test_licence(tmp_path, broken, said):
    (tmp_path / "tools").mkdir()
    shutil.copy(support.ROOT / "tools" / "check_licence", tmp_path / "tools")
    for name, text in {**SOUND, **broken}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "tools" / "check_licence"], stdout=subprocess.PIPE, text=True)
    assert (done.returncode == 0, done.stdout) == (not said, said)
