# SPDX-License-Identifier: Apache-2.0
"""Root file systems to enter: packages of a release of Debian with what they depend on, unpacked and not installed.

Made of packages that are fetched for it, once where it is below build-dist; nothing is mounted in it.
"""
import os
import pathlib
import shutil
import subprocess
import sys

import support

sys.path.insert(0, str(support.ROOT / "tools"))
import debian_fetch  # noqa: E402

#: The release of Debian that has the newest CPython that wheels are tried with.
SUITE, NEWEST = "forky", "python3.14"
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
QEMU = {"x86_64": "qemu-x86_64-static", "aarch64": "qemu-aarch64-static"}


def quietly(words):
    return subprocess.run([*map(os.fspath, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def of_debian(root, suite, arch, *packages):
    """Make a folder a root with packages of a release, or files of packages, and what they depend on; None where these cannot be
    had, or not all of them."""
    fetched = root.with_name(f"{root.name}-packages")
    apt = debian_fetch.words(fetched, suite, arch=arch)
    if not apt or not quietly([*apt, "update"]) or not quietly([*apt, "install", "--no-install-recommends", "--download-only", *packages]):
        return None
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    for package in [*fetched.glob("cache/archives/*.deb"), *(package for package in packages if isinstance(package, pathlib.Path))]:
        files = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "-x", "--keep-directory-symlink", "-C", root], check=True, input=files)
    shutil.rmtree(fetched)
    return root


def of_python(arch):
    """The folder of a root with NEWEST for an architecture; None where its packages cannot be had."""
    root = support.ROOT / "build-dist" / "roots" / f"{NEWEST}-{arch}"
    if (root / "complete").exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    if of_debian(root, SUITE, DEBIAN[arch], NEWEST):
        (root / "complete").touch()
    return root if root.exists() else None


def emulator(arch, root):
    """The words that run programs of an architecture in a root: the emulator, copied into it; None where there is none."""
    if os.uname().machine == arch:
        return []
    program = shutil.which(QEMU[arch])
    if not program:
        return None
    shutil.copy(program, root / "qemu")
    return ["/qemu"]


def entering(root, words):
    """The words that run a command with a folder as its root, None when nobody may; `words` is one that succeeds there."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin:/sbin:/bin"
    chroot, unshare = shutil.which("chroot", path=path), shutil.which("unshare", path=path)
    for enter in ([chroot], [unshare, "--map-root-user", chroot]):
        if None not in enter and quietly([*enter, root, *words]):
            return [*enter, os.fspath(root)]
    return None


def interpreters():
    """{(major, minor): path} of every CPython that makes environments: what HOLOTRACE_PYTHONS names, in PATH, and pyenv's, whose
    commands in PATH answer for the chosen version only."""
    homes = {pathlib.Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser(), pathlib.Path("~/.pyenv").expanduser()}
    names = [*filter(None, os.environ.get("HOLOTRACE_PYTHONS", "").split(":")), *(f"python3.{minor}" for minor in range(9, 20)),
             *(path for home in homes for path in sorted(home.glob("versions/*/bin/python"))), sys.executable]
    found = {}
    for path in filter(None, map(shutil.which, names)):
        said = subprocess.run([path, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        if said.returncode == 0:
            found.setdefault(tuple(map(int, said.stdout.split())), path)
    return found
