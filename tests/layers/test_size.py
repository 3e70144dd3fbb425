# SPDX-License-Identifier: Apache-2.0
"""tools/check_size, in a tree of one header."""
import shutil
import subprocess

import pytest
import support


@pytest.mark.parametrize("folder, line, is_fine", [
    ("include/holotrace", "\t/* " + "─" * 86 + " */", True),
    ("include/holotrace", "\t/* " + "x" * 87 + " */", False),
    ("src", "\t/* " + "x" * 87 + " */", True),
])
def test_lines_of_public_headers(folder, line, is_fine, tmp_path):
    for place in ("tools", folder):
        (tmp_path / place).mkdir(parents=True)
    tool = shutil.copy(support.ROOT / "tools" / "check_size", tmp_path / "tools")
    (tmp_path / folder / "x.h").write_text(line + "\n")
    done = subprocess.run([tool], capture_output=True, text=True)
    assert done.returncode == (0 if is_fine else 1), done.stdout
    assert is_fine or done.stdout == f"{folder}/x.h:1: 101 columns, at most 100\n"
