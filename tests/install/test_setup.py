# SPDX-License-Identifier: Apache-2.0
"""tools/setup and tools/packages on systems that are not ours: each is a folder of commands, set as the PATH."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMON = ["sh", "cat", "cut", "dirname", "env", "grep", "mktemp", "rm", "sed", "sort", "tr", "wc"]
LINES = {"dnf": "dnf install ", "apk": "apk add ", "pacman": "pacman -S --needed ", "zypper": "zypper install ",
         "brew": "brew install "}
CONDA = "conda create -n holotrace -c conda-forge "


@pytest.fixture
def system(tmp_path):
    """A function that runs a tool where only the named commands exist; each answers its text."""
    for name in COMMON:
        (tmp_path / name).symlink_to(shutil.which(name))

    def run(words, commands, root=ROOT, **env):
        for name, text in commands.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name).chmod(0o755)
        return subprocess.run([root / "tools" / words[0], *words[1:]], env={"PATH": str(tmp_path), **env},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return run


@pytest.mark.parametrize("manager", LINES)
def test_other_systems_are_told_their_packages(system, manager):
    done = system(["setup", "build"], {manager: "exit 1", "make": ":"})
    assert done.returncode == 1 and done.stdout == ""
    assert "not found: cc meson ninja pkg-config python3" in done.stderr
    line = re.search(rf"^  {LINES[manager]}(.*)$", done.stderr, flags=re.M)
    assert line and "zstd" in line[1] and "xxhash" in line[1] and "meson" in line[1]
    assert (CONDA in done.stderr) == (manager != "brew")


def test_libraries_are_looked_for_too(system):
    tools = dict.fromkeys(["cc", "make", "meson", "ninja", "python3"], ":")
    done = system(["setup", "build"], {"dnf": ":", "pkg-config": "exit 1", **tools})
    assert done.returncode == 1 and "not found: libraries" in done.stderr
    done = system(["setup", "build"], {"pkg-config": ":"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_unknown_systems_are_told_of_conda(system):
    done = system(["setup", "test"], {})
    assert done.returncode == 1 and CONDA in done.stderr and "pytest" in done.stderr


def test_an_active_conda_environment_is_used(system):
    done = system(["setup", "build"], {"dpkg-query": ":"}, CONDA_PREFIX="/home/x/conda")
    assert done.returncode == 1 and "conda install -c conda-forge c-compiler" in done.stderr


def test_debian_without_root(system):
    done = system(["setup", "build"], {"dpkg-query": ":", "id": "echo 1000"})
    assert done.returncode == 1
    assert re.search(r"^  apt-get install .*\blibzstd-dev\b", done.stderr, flags=re.M) and CONDA in done.stderr


def test_debian_with_root_installs_what_is_missing(system, tmp_path):
    log = tmp_path / "log"
    commands = {"dpkg-query": "echo installed gcc; echo config-files make", "id": "echo 0",
                "apt-get": f'echo "$*" >>{log}'}
    done = system(["setup", "build"], commands)
    assert done.returncode == 0 and done.stdout.endswith("Installed.\n")
    assert log.read_text().startswith("-q update\n")
    installed = log.read_text().splitlines()[1].split()
    assert "make" in installed and "libzstd-dev" in installed and "gcc" not in installed


def test_a_page_that_is_there_as_built_is_not_built(system, tmp_path):
    """As in the source archive; elsewhere npm is asked."""
    tree = tmp_path / "tree"
    for name in ("tools/setup", "tools/packages", "web/package-lock.json"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    commands = {**dict.fromkeys(["cc", "make", "meson", "ninja", "python3", "pkg-config", "tail"], ":"), "npm": "exit 1",
                "cksum": "echo 1"}
    assert "npm ci failed" in system(["setup", "build"], commands, tree).stderr
    (tree / "web" / "built").mkdir()
    done = system(["setup", "build"], commands, tree)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_wrong_use(system):
    assert system(["setup", "everything"], {}).returncode == 2
    assert system(["packages"], {}).returncode == 2
    assert system(["packages", "line", "yum"], {}).returncode == 2


def sentence_of(text):
    assert text.count("\n") == 1 and text.endswith(".\n")
    for words in ("apt-get install libisal-dev", "dnf install isa-l-devel", "conda-forge isa-l", "brew install isa-l"):
        assert words in text
    return True


def test_missing_libraries_are_one_sentence(system):
    done = system(["packages", "check"], {"pkg-config": "exit 1"})
    assert done.returncode == 1 and sentence_of(done.stdout)
    done = system(["packages", "libraries"], {})
    assert done.returncode == 0 and sentence_of(done.stdout)


def test_pip_says_that_sentence():
    pytest.importorskip("mesonpy", reason="python3-mesonpy is not installed")
    code = "import backend; backend.get_requires_for_build_wheel()"
    env = dict(os.environ, PYTHONPATH=str(ROOT / "python" / "build_backend"), PKG_CONFIG_LIBDIR="/nowhere")
    done = subprocess.run([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    assert done.returncode == 1 and done.stdout == "" and sentence_of(done.stderr)
