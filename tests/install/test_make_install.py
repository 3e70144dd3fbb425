# SPDX-License-Identifier: Apache-2.0
"""make install as packagers call it: below DESTDIR, with everything where the system looks for it; and make alone asks for
nothing that only root may do."""
import json
import pathlib
import shutil
import subprocess

import pytest
import support

BUILD = pathlib.Path(support.EXE).parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """(the folder that stands for /, the prefix) of an installation of the build under test."""
    said = json.loads(subprocess.run(["meson", "introspect", BUILD, "--buildoptions"], check=True,
                                     stdout=subprocess.PIPE).stdout)
    options = {option["name"]: option["value"] for option in said}
    folder = tmp_path_factory.mktemp("root")
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder], check=True,
                   stdout=subprocess.DEVNULL)
    return folder, pathlib.Path(options["prefix"]), options


def below(installed, *parts):
    folder, prefix, _ = installed
    return folder.joinpath(*prefix.parts[1:], *parts)


def test_program_manual_and_completion(installed):
    said = subprocess.run([below(installed, "bin/holotrace"), "version"], check=True, stdout=subprocess.PIPE).stdout
    assert said.startswith(b"holotrace ")
    pages = {page.name for page in below(installed, "share/man/man1").iterdir()}
    assert {"holotrace.1", "holotrace-summary.1", "holotrace-mpi.1"} <= pages
    assert below(installed, "share/bash-completion/completions/holotrace").exists()


def test_library_compiles_and_links(installed, tmp_path):
    folder, prefix, options = installed
    configs, = folder.rglob("pkgconfig")
    env = support.environment(PKG_CONFIG_PATH=str(configs), PKG_CONFIG_SYSROOT_DIR=str(folder))
    words = subprocess.run(["pkg-config", "--cflags", "--libs", "holotrace"], check=True, env=env, stdout=subprocess.PIPE,
                           text=True).stdout.split()
    libraries = folder.joinpath(*prefix.parts[1:], options["libdir"])
    subprocess.run(["cc", "-o", tmp_path / "api", support.ROOT / "examples/api.c", *words], check=True)
    done = subprocess.run([tmp_path / "api", support.ROOT / "examples/train/train.json.gz"], stdout=subprocess.PIPE,
                          env=support.environment(LD_LIBRARY_PATH=str(libraries)))
    assert done.returncode == 0 and done.stdout


def test_python_is_where_python_looks(installed):
    """In a folder of sys.path, as far as the prefix is one that this Python knows."""
    python = "/usr/bin/python3"
    folder, prefix, options = installed
    if not list(folder.rglob("_core.abi3.so")):
        pytest.skip("built without Python")
    known = subprocess.run([python, "-c", "import site; print(*site.getsitepackages(), sep='\\n')"], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split()
    found, = folder.rglob("_core.abi3.so")
    place = found.parent.parent
    if str(prefix) in ("/usr", "/usr/local") and options["python.platlibdir"]:
        assert "/" + str(place.relative_to(folder)) in known
    said = subprocess.run([python, "-c", "import holotrace; print(holotrace.__file__)"], check=True, text=True,
                          stdout=subprocess.PIPE, env=support.environment(PYTHONPATH=str(place)), cwd=folder).stdout
    assert said.startswith(str(place))


def test_make_alone_asks_for_nothing():
    """What make and make install would run has neither apt nor sudo nor the net in it; setup, demo and test have."""
    def words(target):
        return subprocess.run(["make", "-n", target], cwd=support.ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout

    for target in ("all", "install"):
        assert "tools/setup" not in words(target)
    for target in ("setup", "demo", "test"):
        assert "tools/setup" in words(target)


def test_flags_of_packagers_reach_the_compiler(tmp_path):
    """CFLAGS, LDFLAGS, prefix and libdir, as words of make; other flags set the directory up anew."""
    for flag in ("-DFIRST=1", "-DSECOND=1"):
        subprocess.run(["make", "-s", "-C", support.ROOT, f"BUILD={tmp_path / 'b'}", f"CFLAGS={flag}", "LDFLAGS=-Wl,-z,now",
                        "prefix=/usr", "libdir=lib/here", "MESON_ARGS=-Dpage=disabled -Dmpi=disabled", "configure"],
                       check=True, stdout=subprocess.DEVNULL)
        commands = (tmp_path / "b" / "build.ninja").read_text()
        assert flag in commands and "-Wl,-z,now" in commands
        said = json.loads(subprocess.run(["meson", "introspect", tmp_path / "b", "--buildoptions"], check=True,
                                         stdout=subprocess.PIPE).stdout)
        options = {option["name"]: option["value"] for option in said}
        assert (options["prefix"], options["libdir"]) == ("/usr", "lib/here")
        assert options["python.platlibdir"].startswith("/usr/lib/python3")
    assert "-DFIRST=1" not in commands


@pytest.fixture
def small(tmp_path):
    """(a function that runs make in it without variables of compilers, its folder): our Makefile over a program of one line."""
    folder = tmp_path / "tree"
    (folder / "tools").mkdir(parents=True)
    for name in ("Makefile", "tools/configure", "tools/list_sources", "tools/python_place"):
        shutil.copy(support.ROOT / name, folder / name)
    (folder / "main.c").write_text("int main(void) { return 0; }\n")
    (folder / "meson.build").write_text("project('small', 'c')\nexecutable('holotrace', 'main.c', install: true)\n")

    def make(*words, **more):
        env = {name: value for name, value in support.environment().items()
               if name not in ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS", "PREFIX", "prefix", "LIBDIR", "libdir", "DESTDIR", "MAKEFLAGS")}
        subprocess.run(["make", "-s", "-C", folder, *words], check=True, stdout=subprocess.DEVNULL, env=dict(env, **more))

    return make, folder


def test_install_takes_what_is_built(small, tmp_path):
    """sudo drops CFLAGS and CC, and nobody says PREFIX twice: nothing is compiled anew, and nothing goes elsewhere."""
    make, folder = small
    make("PREFIX=/opt/here", CC="cc", CFLAGS="-DFIRST=1")
    built = (folder / "build/holotrace").stat().st_mtime_ns
    make("install", f"DESTDIR={tmp_path / 'root'}")
    assert (tmp_path / "root/opt/here/bin/holotrace").exists()
    make("install", f"DESTDIR={tmp_path / 'root'}", "PREFIX=/opt/there")
    assert (tmp_path / "root/opt/there/bin/holotrace").exists()
    assert "-DFIRST=1" in (folder / "build/build.ninja").read_text()
    assert (folder / "build/holotrace").stat().st_mtime_ns == built


def test_install_builds_what_is_not_there(small, tmp_path):
    make, folder = small
    make("install", f"DESTDIR={tmp_path / 'root'}")
    assert (tmp_path / "root/usr/local/bin/holotrace").exists()
