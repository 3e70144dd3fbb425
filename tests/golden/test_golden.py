# SPDX-License-Identifier: Apache-2.0
"""Every analysis over every bundled run prints what was accepted before. `make accept` rewrites."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import golden  # noqa: E402


@pytest.mark.parametrize("run, analysis, traces", golden.items(),
                         ids=lambda value: value if isinstance(value, str) else "")
def test_golden(run, analysis, traces):
    path = golden.path_of(run, analysis)
    assert path.exists(), f"no golden result for {analysis} over {run}: run make accept"
    assert golden.result(analysis, traces).decode() == path.read_text()
