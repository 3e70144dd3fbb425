# SPDX-License-Identifier: Apache-2.0
"""Packages of a release of Debian, by apt-get with lists and cache of its own: apt checks whose they are, and the system's own
lists, packages and architecture do not matter."""
import shutil


def words(folder, suite, kind="deb", arch=None):
    """What `update`, `source` or `install --download-only` follow; the packages of another architecture on demand. None without
    apt-get, which is Debian's."""
    if not shutil.which("apt-get"):
        return None
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    (folder / "debian.sources").write_text(
        f"Types: {kind}\nURIs: http://deb.debian.org/debian\nSuites: {suite}\nComponents: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n")
    options = [f"Dir::Etc::sourcelist={folder}/debian.sources", "Dir::Etc::sourceparts=-", f"Dir::State::lists={folder}/lists",
               f"Dir::State::status={folder}/status", f"Dir::Cache={folder}/cache", "APT::Sandbox::User=", "Acquire::Languages=none"]
    if arch:
        options += [f"APT::Architecture={arch}", f"APT::Architectures={arch}"]
    return ["apt-get", "-q", "-y", *(word for option in options for word in ("-o", option))]
