# SPDX-License-Identifier: Apache-2.0
"""The static library that is installed shows what the shared one exports, and nothing else."""
import os
import pathlib
import shutil
import subprocess

import pytest

import support

BUILD = pathlib.Path(support.EXE).parent
ARCHIVE, SHARED = BUILD / "libholotrace.a", BUILD / "libholotrace.so"
pytestmark = pytest.mark.skipif(
    not ARCHIVE.exists() or not SHARED.exists() or not all(map(shutil.which, ["nm", "objcopy", "ld", "cc", "pkg-config"])) or
    support.is_sanitized(), reason="needs both libraries and binutils")


def symbols(*words):
    said = subprocess.run(["nm", "--defined-only", *map(str, words)], check=True, capture_output=True, text=True).stdout
    return {line.split()[2] for line in said.splitlines() if len(line.split()) == 3}


@pytest.fixture(scope="module")
def hidden(tmp_path_factory):
    copy = tmp_path_factory.mktemp("lib") / "libholotrace.a"
    shutil.copy(ARCHIVE, copy)
    subprocess.run([support.ROOT / "tools" / "hide_symbols", copy], check=True)
    return copy


def test_it_shows_what_the_shared_one_exports(hidden):
    public = {name for name in symbols("-D", SHARED) if name.startswith("ht_")}
    assert len(public) > 100
    assert len(symbols("-g", ARCHIVE)) > 5 * len(public)
    assert symbols("-g", hidden) == public


def test_programs_link_with_it(hidden, tmp_path):
    libraries = subprocess.run(["pkg-config", "--static", "--libs-only-l", "holotrace"], check=True, capture_output=True,
                               text=True, env=dict(os.environ, PKG_CONFIG_PATH=str(BUILD / "meson-private"))).stdout.split()
    program = tmp_path / "api"
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", f"-I{support.ROOT / 'include'}", support.ROOT / "examples" / "api.c",
                    hidden, *[word for word in libraries if word != "-lholotrace"], "-o", program], check=True)
    assert subprocess.run([program, support.ROOT / "examples" / "train" / "train.json.gz"], capture_output=True,
                          cwd=tmp_path).returncode == 0
