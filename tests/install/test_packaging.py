# SPDX-License-Identifier: Apache-2.0
"""packaging/: what the recipes say agrees with the build; Debian's is built and installed, in make nightly."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import support

PACKAGING = support.ROOT / "packaging"
VERSION = re.search(r"version: '([\d.]+)'", (support.ROOT / "meson.build").read_text())[1]


def names(manager, what="build"):
    """The packages that tools/packages names for a job."""
    line = subprocess.run([support.ROOT / "tools" / "packages", "line", manager, what], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return set(line.split())


def libraries(manager):
    """Of those, the libraries: what has to do with compression, hashing, databases, editing and HTTP."""
    return {name for name in names(manager) if re.search("isa|zstd|xxhash|sqlite|edit|microhttpd", name)}


def test_versions():
    assert f'version: "{VERSION}"' in (PACKAGING / "conda" / "meta.yaml").read_text()
    assert f"holotrace-{VERSION}.tar.gz" in (PACKAGING / "homebrew" / "holotrace.rb").read_text()
    assert (PACKAGING / "debian" / "changelog").read_text().startswith(f"holotrace ({VERSION})")


@pytest.mark.parametrize("manager, path, pattern", [
    ("apt", "debian/control", r"\b([\w.+-]+-dev)\b"),
    ("conda", "conda/meta.yaml", r"^    - ([\w-]+)"),
    ("brew", "homebrew/holotrace.rb", r'depends_on "([\w-]+)"'),
])
def test_libraries(manager, path, pattern):
    named = set(re.findall(pattern, (PACKAGING / path).read_text(), re.MULTILINE))
    assert len(libraries(manager)) == 6 and libraries(manager) <= named


def test_options_exist():
    """A word that Meson does not know would end the build of a packager."""
    known = set(re.findall(r"^option\('(\w+)'", (support.ROOT / "meson_options.txt").read_text(), re.MULTILINE))
    for path in PACKAGING.rglob("*"):
        if path.is_file():
            for option in re.findall(r"-D(\w+)=", path.read_text()):
                assert option in known, (path, option)


@pytest.mark.long
@pytest.mark.skipif(not support.LONG, reason="skipped: compiles everything once more; make nightly does")
@pytest.mark.skipif(not shutil.which("dh") or os.getuid() != 0, reason="skipped: no debhelper, or not root")
def test_debian_packages(tmp_path):
    """Built by dpkg-buildpackage, installed by dpkg into a system of their own, complete, and working there."""
    env = dict(os.environ, DEB_BUILD_OPTIONS="nocheck noopt parallel=2", CCACHE_NOHASHDIR="1", CCACHE_BASEDIR="/tmp")
    done = subprocess.run([PACKAGING / "build-deb", tmp_path / "out", "-Pnocheck"], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    packages = sorted(path for path in (tmp_path / "out").glob("*.deb") if "dbgsym" not in path.name)
    assert [path.name.split("_")[0] for path in packages] == [
        "holotrace", "libholotrace-dev", "libholotrace0", "python3-holotrace"]
    root = tmp_path / "root"
    for folder in ("info", "updates", "triggers"):
        (root / "var/lib/dpkg" / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    subprocess.run(["dpkg", f"--root={root}", "--force-depends", "-i", *packages], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    said = subprocess.run([root / "usr/bin/holotrace", "summary", support.ROOT / "examples/train"], check=True,
                          stdout=subprocess.PIPE, env=support.environment()).stdout
    assert said == support.output("summary", support.ROOT / "examples/train")
    place = root / "usr/lib/python3/dist-packages"
    code = "import holotrace, sys; print(len(holotrace.open(sys.argv[1]).temporal_breakdown()))"
    rows = subprocess.run(["/usr/bin/python3", "-c", code, support.ROOT / "examples/ddp"], check=True, stdout=subprocess.PIPE,
                          cwd=tmp_path, env=support.environment(PYTHONPATH=str(place))).stdout
    assert rows == b"4\n"
    libraries_, = (path for path in (root / "usr/lib").iterdir() if (path / "libholotrace.so").exists())
    assert (libraries_ / "pkgconfig" / "holotrace.pc").exists() and (root / "usr/include/holotrace.h").exists()
    subprocess.run(["dpkg", f"--root={root}", "--force-depends", "--purge", "holotrace", "python3-holotrace",
                    "libholotrace-dev", "libholotrace0"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert not [path for path in pathlib.Path(root, "usr").rglob("*") if path.is_file() and path.suffix != ".pyc"]
