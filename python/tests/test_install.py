# SPDX-License-Identifier: Apache-2.0
"""The package as users install it: from a clean clone into a new environment, and gone again.

Twice: with Debian's meson-python alone, and, with HOLOTRACE_LONG, with what pip fetches. Each skips where its tools are not.
HOLOTRACE_SKIP_INSTALL=1 leaves both out, since each builds the library anew: the first as the program under test was
built, whose objects are in the cache of the compiler where there is one; the second as users have it.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import pytest
import support

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
pytestmark = [pytest.mark.long, pytest.mark.skipif(
    bool(os.environ.get("HOLOTRACE_SKIP_INSTALL")) or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="HOLOTRACE_SKIP_INSTALL is set, or a sanitizer is loaded")]
CHECK = """
import holotrace, sys
assert holotrace.__file__.startswith(sys.prefix), holotrace.__file__
print(len(holotrace.open(sys.argv[1]).temporal_breakdown()), "rows")
"""


def run(*command, **options):
    env = support.compiler_environment(tempfile.gettempdir())
    env.pop("PYTHONPATH", None)
    done = subprocess.run([*map(os.fspath, command)], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def files(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """What a clean clone holds, and no more."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    folder = tmp_path_factory.mktemp("clone") / "holotrace"
    run("git", "clone", "-q", "--no-hardlinks", ROOT, folder)
    return folder


def install_and_remove(what, folder, venv_options, pip_options):
    run(sys.executable, "-m", "venv", *venv_options, folder)
    python = folder / "bin" / "python"
    before = files(folder)
    run(python, "-m", "pip", "install", "-q", *pip_options, what)
    assert run(python, "-c", CHECK, ROOT / "examples" / "ddp", cwd=folder).endswith("4 rows\n")
    assert run(folder / "bin" / "holotrace", "version").startswith("holotrace ")
    run(python, "-m", "pip", "uninstall", "-q", "-y", "holotrace")
    assert files(folder) == before


def test_with_debian_packages(clone, tmp_path):
    """Through a wheel, which must be one for every Python."""
    pytest.importorskip("mesonpy", reason="python3-mesonpy is not installed")
    # the hook that pip calls, which takes several options also where pip takes one; in a folder as deep as make's
    build = "import backend, sys; backend.build_wheel(sys.argv[1], {'builddir': 'build', 'setup-args': sys.argv[2:]})"
    run(sys.executable, "-c", "import sys; sys.path[:0] = ['python/build_backend']; " + build, tmp_path,
        *support.options_of_build(), cwd=clone)
    wheel, = tmp_path.glob("*.whl")
    assert "-cp39-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
    assert "holotrace/_core.abi3.so" in names and "holotrace/__init__.pyi" in names
    assert "holotrace/py.typed" in names and not [name for name in names if name.endswith(".c")]
    install_and_remove(wheel, tmp_path / "venv", [], ["--no-index", "--no-deps"])


@pytest.mark.skipif(not os.environ.get("HOLOTRACE_LONG"), reason="the other test builds the same; make nightly runs both")
def test_with_fetched_packages(clone, tmp_path):
    look = subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--timeout", "5", "--retries", "0",
         "-d", tmp_path / "look", "iniconfig"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if look.returncode != 0:
        pytest.skip("packages cannot be fetched here")
    install_and_remove(clone, tmp_path / "venv", [], [])
