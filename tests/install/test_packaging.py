# SPDX-License-Identifier: Apache-2.0
"""packaging/: what the recipes say agrees with the build; Debian's is built and installed, in make nightly."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import roots
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


def is_shell(text):
    return subprocess.run(["sh", "-n"], input=text, text=True, stderr=subprocess.DEVNULL).returncode == 0


def test_conda():
    """A recipe that can be read, with all that tools/packages names, whose commands are shell and know the build's options."""
    yaml = pytest.importorskip("yaml", reason="skipped: no PyYAML")
    recipe = yaml.safe_load((PACKAGING / "conda" / "meta.yaml").read_text().replace("{{ compiler('c') }}", "c-compiler"))
    wanted = recipe["requirements"]
    named = {line.split()[0] for part in ("build", "host") for line in wanted[part]}
    assert names("conda") & named == named
    assert libraries("conda") <= {line.split()[0] for line in wanted["host"]}
    assert all(map(is_shell, recipe["build"]["script"] + recipe["test"]["commands"]))
    assert (support.ROOT / recipe["about"]["license_file"]).exists()
    assert (PACKAGING / "conda" / recipe["source"]["url"]).resolve() == support.ROOT / "dist" / f"holotrace-{VERSION}.tar.gz"


def test_homebrew():
    """Each block has its end, and commands are words: Homebrew's system takes no options of Ruby's."""
    text = (PACKAGING / "homebrew" / "holotrace.rb").read_text()
    if shutil.which("ruby"):
        assert subprocess.run(["ruby", "-c"], input=text, text=True, stdout=subprocess.DEVNULL).returncode == 0
    assert len(re.findall(r"^ *(?:class|def) |\bdo$", text, re.M)) == len(re.findall(r"^ *end$", text, re.M))
    assert not [line for line in text.splitlines() if "system" in line and re.search(r"\b\w+: ", line)]
    assert re.search(r'^  sha256 "@SHA256@"$', text, re.M)
    assert names("brew") - {"brew", "install"} <= set(re.findall(r'depends_on "([\w-]+)"', text))


def needed(path):
    """The packages of the libraries that a file is linked with, where dpkg knows them."""
    found = set()
    said = subprocess.run(["ldd", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    direct = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", path], check=True, stdout=subprocess.PIPE, text=True).stdout)
    for name, place in re.findall(r"^\s*(\S+) => (/\S+)", said, re.M):
        if name in direct:
            file = os.path.realpath(place)
            for one in (file, file.removeprefix("/usr")):
                owner = subprocess.run(["dpkg", "-S", one], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
                found |= {owner.split(":")[0]} - {""}
    return found


def test_container():
    """Its commands are shell, its targets and variables those of the Makefile, and the image has what the programs are linked with."""
    text = (PACKAGING / "Containerfile").read_text().replace("\\\n", " ")
    commands = re.findall(r"^RUN (.*)$", text, re.M)
    assert len(commands) == 3 and all(map(is_shell, commands))
    makefile = (support.ROOT / "Makefile").read_text()
    for line in re.findall(r"make ([^&]*)", commands[1]):
        for word in re.sub(r'"[^"]*"', "", line).split():
            name, is_variable, _ = word.partition("=")
            assert re.search(rf"^{name} *\?=" if is_variable else rf"^{name}:", makefile, re.M) or name == "DESTDIR", word
    ignored = (support.ROOT / ".containerignore").read_text().splitlines()
    assert {".git", "build*", "dist", "web/node_modules"} <= set(ignored)
    release, = set(re.findall(r"^FROM debian:(\w+)-slim", text, re.M))
    if support.is_sanitized() or not shutil.which("dpkg") or f"VERSION_CODENAME={release}" not in pathlib.Path("/etc/os-release").read_text():
        pytest.skip(f"skipped: not on {release}, whose packages it names")
    there = set(commands[2].split()) | {"libc6"}
    build = pathlib.Path(support.EXE).parent
    for name in ("holotrace", "libholotrace.so"):
        assert needed(build / name) <= there, name


@pytest.mark.long
@pytest.mark.skipif(not support.LONG, reason="skipped: compiles everything once more; make nightly does")
@pytest.mark.skipif(not shutil.which("dh") or os.getuid() != 0, reason="skipped: no debhelper, or not root")
def test_debian_packages(tmp_path):
    """Built by dpkg-buildpackage from the source archive, and working in a system of what they depend on alone; taken away by dpkg
    they leave nothing."""
    env = dict(support.compiler_environment("/tmp"), DEB_BUILD_OPTIONS="nocheck noopt parallel=2")
    done = subprocess.run([PACKAGING / "build-deb", tmp_path / "out", "-Pnocheck"], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    packages = sorted(path for path in (tmp_path / "out").glob("*.deb") if "dbgsym" not in path.name)
    assert [path.name.split("_")[0] for path in packages] == [
        "holotrace", "libholotrace-dev", "libholotrace0", "python3-holotrace"]
    check_installed(packages, tmp_path / "system")
    root = tmp_path / "root"
    for folder in ("info", "updates", "triggers"):
        (root / "var/lib/dpkg" / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    for words in (["--unpack", *packages], ["--purge", "holotrace", "python3-holotrace", "libholotrace-dev", "libholotrace0"]):
        subprocess.run(["dpkg", f"--root={root}", "--force-depends", *words], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        assert (words[0] == "--purge") != bool([path for path in (root / "usr").rglob("*") if path.is_file()])


def check_installed(packages, folder):
    """Dependencies name all that programs, libraries and Python need; the page and the reference are there."""
    release = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.M)[1]
    arch = subprocess.run(["dpkg", "--print-architecture"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    root = roots.of_debian(folder, release, arch, *packages)
    if root is None:
        pytest.skip(f"skipped: packages of Debian {release} cannot be fetched")
    shutil.copytree(support.ROOT / "examples" / "ddp", root / "ddp")
    enter = roots.entering(root, ["/usr/bin/holotrace", "version"])

    def output(*words):
        return subprocess.run([*enter, *words], check=True, stdout=subprocess.PIPE, env={}).stdout

    assert output("/usr/bin/holotrace", "summary", "/ddp", "--no-cache", "--format", "csv") == \
        (support.ROOT / "tests/golden/ddp/summary.csv").read_bytes()
    if (support.ROOT / "web" / "node_modules" / ".package-lock.json").exists():
        assert b"no page" not in output("/usr/bin/holotrace", "version")
    code = "import holotrace; print(len(holotrace.open('/ddp', cache=False).temporal_breakdown()))"
    assert output("/usr/bin/python3", "-c", code) == b"4\n"
    libraries_, = (path for path in (root / "usr/lib").iterdir() if (path / "libholotrace.so").exists())
    assert (libraries_ / "pkgconfig" / "holotrace.pc").exists() and (root / "usr/include/holotrace.h").exists()
    assert (root / "usr/share/doc/libholotrace-dev/reference.html").exists()
