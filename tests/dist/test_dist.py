# SPDX-License-Identifier: Apache-2.0
"""What make dist made, as users meet it: systems that have nothing of ours.

Looks at dist/, or at what HOLOTRACE_DIST names; without it there is nothing to test. Programs run in a root
file system that holds them and traces only: no libraries, no /etc, no /proc, no home. arm64 runs under
qemu-user. Wheels are tried in environments of every CPython found here (roots.interpreters), and in a root file system with
the newest one alone. Results are compared with those of the program that the source archive gives, and with the golden ones.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import urllib.request
import zipfile

import pytest

import roots
import support

sys.path.insert(0, str(support.ROOT / "tests" / "golden"))
import golden  # noqa: E402

ROOT = support.ROOT
DIST = pathlib.Path(os.environ.get("HOLOTRACE_DIST") or ROOT / "dist").absolute()
pytestmark = pytest.mark.skipif(not (DIST / "SHA256SUMS").exists(), reason="make dist has not been run")
ARCHES = ["x86_64", "aarch64"]
PAGE = {"index.html", "app.js", "app.css", "report.js", "report.css"}
KERNEL = {"x86_64": (3, 2, 0), "aarch64": (3, 7, 0)}
RUNS = ["cpu", "ddp", "graph", "straggler", "train"]
OLDEST_GLIBC = (2, 17)
#: Answers EPERM to calls newer than a container runtime, as those before 2021 did. clone3 ends the program: refused
#: so, glibc starts no thread, and the program would go on with one, slower but with the same results.
FILTER = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		/* rseq, pidfd_*, io_uring_*, openat2, faccessat2 and all later ones */
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 334, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof code[0], code };
	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 99;
	execv(argv[1], argv + 1);
	return 98;
}
"""


def tool(*command):
    return subprocess.run([*map(os.fspath, command)], check=True, stdout=subprocess.PIPE, text=True).stdout


def program(arch):
    found = sorted(DIST.glob(f"holotrace-*-linux-{arch}"))
    if not found:
        pytest.skip(f"no program for {arch} in {DIST}")
    return found[-1]


def wheels():
    return sorted(DIST.glob("*.whl")) if DIST.is_dir() else []


def enter(folder, arch, *probe):
    """The words that run a command for an architecture in a folder as its root, after trying one; skips where nobody may."""
    words = roots.emulator(arch, folder)
    if words is None:
        pytest.skip(f"skipped: no emulator for {arch}")
    root = roots.entering(folder, [*words, *probe])
    if root is None:
        assert os.geteuid() != 0, f"{probe} does not start in a root file system of its own"
        pytest.skip("skipped: no right to change the root file system")
    return [*root, *words]


@pytest.fixture(params=ARCHES)
def inside(request, tmp_path):
    """A function that runs the program in a root file system of its own."""
    shutil.copy(program(request.param), tmp_path / "holotrace")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    root = enter(tmp_path, request.param, "/holotrace", "version")

    def run(*args):
        done = subprocess.run([*root, "/holotrace", *args], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={})
        assert done.returncode == 0, (args, done.stderr.decode(errors="replace")[-2000:])
        return done.stdout

    run.words, run.root = [*root, "/holotrace"], tmp_path
    return run


def has_page():
    return not support.output("version").rstrip().endswith(b", no page")


def ask(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def check_server(words, runs):
    """Start a server with these words, which print where it is; / and the API answer for a folder with these runs."""
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={})
    try:
        url = server.stdout.readline().decode().strip()
        assert url.startswith("http://"), server.stderr.read().decode(errors="replace")
        front = ask(url)
        if has_page():
            assert b"<script" in front and len(ask(url + "assets/app.js")) > 10_000
        support.wait_until(lambda: {run["name"] for run in json.loads(ask(url + "api/v1/runs"))["runs"]} >= runs, 120)
    finally:
        server.terminate()
        server.communicate(timeout=60)


def test_checksums():
    listed = dict(reversed(line.split()) for line in (DIST / "SHA256SUMS").read_text().splitlines())
    files = {path.name: path for path in DIST.iterdir() if path.name != "SHA256SUMS"}
    assert listed.keys() == files.keys()
    for name, path in files.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == listed[name], name
    archive, = DIST.glob("holotrace-*.tar.gz")
    formula = (DIST / "holotrace.rb").read_text()
    assert f'sha256 "{listed[archive.name]}"' in formula and archive.name in formula


def test_source_archive_is_the_commit():
    path, = DIST.glob("holotrace-*.tar.gz")
    packed = path.read_bytes()
    assert packed[4:8] == bytes(4), "gzip recorded a time: the archive differs with every run"
    with tarfile.open(path) as archive:
        commit = archive.pax_headers.get("comment")
        members = {member.name: member for member in archive if member.isfile()}
    known = subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=ROOT)
    if known.returncode != 0:
        pytest.skip("the commit of the archive is not here")
    names = tool("git", "-C", ROOT, "ls-tree", "-r", "--name-only", "-z", commit).split("\0")[:-1]
    prefix = path.name[:-len(".tar.gz")]
    page = PAGE if has_page() else set()
    assert members.keys() == {f"{prefix}/{name}" for name in names} | {f"{prefix}/web/built/{name}" for name in page}


@pytest.mark.parametrize("arch", ARCHES)
def test_program_needs_nothing(arch):
    path = program(arch)
    assert "INTERP" not in tool("readelf", "-lW", path)
    assert "NEEDED" not in tool("readelf", "-dW", path)
    kernel = re.search(r"OS: Linux, ABI: (\d+)\.(\d+)\.(\d+)", tool("readelf", "-nW", path))
    assert tuple(map(int, kernel.groups())) <= KERNEL[arch]


def test_version(inside):
    said = inside("version")
    assert said.startswith(b"holotrace ") and b"ISA-L" in said and b"libmicrohttpd" in said and b"SQLite" in said
    assert said.rstrip().endswith(b", no page") != has_page()


def test_results_are_those_of_the_build(inside):
    """Every analysis of every bundled run, to the byte."""
    said = json.loads(support.output("help", "--json"))
    for verb in [verb["name"] for verb in said["verbs"] if verb["kind"] == "analysis"]:
        for run in RUNS:
            traces = [f"examples/{run}"] * (2 if verb == "diff" else 1)
            words = [verb, *traces, "--format", "csv", "--jobs", "2"]
            here = support.run(*words, cwd=ROOT)
            there = subprocess.run([*inside.words, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={})
            assert (there.returncode, there.stdout) == (here.returncode, here.stdout), words
            # execution traces and tolerances are not among the bundled runs; all else has an answer
            assert here.returncode == 0 or verb.startswith("et-") or verb == "gate", words
            if verb != "diff" and here.returncode == 0:
                assert golden.cut(there.stdout) == golden.path_of(run, verb).read_bytes(), words


def test_report_and_convert(inside):
    assert inside("report", "examples/ddp") == support.output("report", "examples/ddp", cwd=ROOT)
    written = inside("convert", "examples/train", "-o", "-")
    assert written == support.output("convert", "examples/train", "-o", "-", cwd=ROOT)
    inside("convert", "examples/train", "-o", "/examples/again.json.zst")
    inside("convert", "examples/train", "-o", "/examples/again.json.gz")
    for ending in ("zst", "gz"):
        assert inside("convert", f"examples/again.json.{ending}", "-o", "-") == written


def test_sql(inside):
    query = "SELECT rank, class, count(*) AS n, round(sqrt(sum(dur_ns))) AS r FROM gpu GROUP BY rank, class"
    words = ("sql", "examples/ddp", query, "--format", "csv")
    assert inside(*words) == support.output(*words, cwd=ROOT)
    assert inside(*words).count(b"\n") > 4


def ascend_database(folder):
    """A rank of Ascend's profiler with one kernel, as a database alone."""
    path = folder / "rank0_1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db"
    path.parent.mkdir(parents=True)
    db = sqlite3.connect(path)
    db.executescript("""
        CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO STRING_IDS VALUES (1, 'MatMul_1'), (2, 'MatMulV2'), (3, 'AI_CORE'), (4, '8,16;16,8');
        CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
                           taskType INTEGER, streamId INTEGER);
        INSERT INTO TASK VALUES (1736408883000000001, 1736408883000010501, 0, 9, 100, 3, 16);
        CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, taskType INTEGER,
                                        opType INTEGER, inputShapes INTEGER);
        INSERT INTO COMPUTE_TASK_INFO VALUES (1, 100, 32, 3, 2, 4);""")
    db.close()
    return path.parent.parent


def test_ascend_database(inside):
    words = ("kernels", ascend_database(inside.root).name, "--format", "csv")
    assert inside(*words) == support.output(*words, cwd=inside.root)
    assert b"MatMul_1" in inside(*words) and b"10500" in inside(*words)


def test_serve(inside):
    check_server([*inside.words, "serve", "/examples", "--port", "0"], set(RUNS))


def test_threads_start_in_old_containers(tmp_path):
    path = program(os.uname().machine)
    source, launcher = tmp_path / "filter.c", tmp_path / "filter"
    source.write_text(FILTER)
    tool(*os.environ.get("CC", "cc").split(), "-o", launcher, source)
    done = subprocess.run([launcher, path, "report", ROOT / "examples" / "ddp", "--jobs", "4", "--no-cache"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == support.output("report", ROOT / "examples" / "ddp").decode()


def binaries(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return [path for path in folder.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]


@pytest.mark.parametrize("wheel", wheels(), ids=lambda path: path.name)
def test_wheel_asks_for_an_old_glibc_only(wheel, tmp_path):
    assert "-cp39-abi3-" in wheel.name and "manylinux_2_17_" in wheel.name
    found = binaries(wheel, tmp_path)
    assert {path.name for path in found} == {"_core.abi3.so", "holotrace"}
    for path in found:
        needed = set(re.findall(r"NEEDED.*\[(.*?)\]", tool("readelf", "-dW", path)))
        allowed = r"(libc|libm|libpthread|libdl|librt)\.so\.\d|ld-linux-.*"
        assert [name for name in needed if not re.fullmatch(allowed, name)] == []
        asked = re.findall(r"GLIBC_(\d+)\.(\d+)", tool("readelf", "-VW", path))
        assert max((int(major), int(minor)) for major, minor in asked) <= OLDEST_GLIBC
    licenses = "\n".join(path.read_text(errors="replace") for path in tmp_path.rglob("*.dist-info/licenses/**/*")
                         if path.is_file())
    for owner in ("Intel Corporation", "Meta Platforms", "Yann Collet", "Lesser General Public"):
        assert owner in licenses


CHECK = """
import holotrace, sys
assert holotrace.__file__.startswith(sys.argv[1]), holotrace.__file__
for path in sys.argv[2:]:
    table = holotrace.open(path, cache=False).temporal_breakdown()
    print(sys.version_info[:2], len(table), "rows", type(table.__arrow_c_stream__()).__name__)
"""
MAPS = """
maps = open("/proc/self/maps").read()
assert "libisal" not in maps and "libzstd" not in maps, maps
"""


SERVE = """
import holotrace, signal, sys
server = holotrace.serve(sys.argv[1], port=0)
print(server.url, flush=True)
signal.pause()
"""


def said_by_check(version):
    return "".join(f"{version} {rows} rows PyCapsule\n" for rows in (4, 1))


def wheel_of(arch):
    found = [path for path in wheels() if arch in path.name]
    if not found:
        pytest.skip(f"skipped: no wheel for {arch}")
    return found[0]


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A trace in zstd, which the wheel brings along."""
    path = tmp_path_factory.mktemp("packed") / "train.json.zst"
    support.run("convert", ROOT / "examples" / "train", "-o", path)
    return path


@pytest.fixture(scope="module")
def pythons():
    return roots.interpreters()


@pytest.mark.parametrize("minor", range(9, 15))
def test_wheel_in_a_new_environment(minor, pythons, packed, tmp_path):
    wheel = wheel_of(os.uname().machine)
    if (3, minor) not in pythons:
        pytest.skip(f"skipped: no CPython 3.{minor} here; HOLOTRACE_PYTHONS may name one")
    tool(pythons[3, minor], "-m", "venv", tmp_path / "venv")
    here = tmp_path / "venv" / "bin" / "python"
    tool(here, "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([here, "-c", CHECK + MAPS, tmp_path, ROOT / "examples" / "ddp", packed], cwd=tmp_path, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0 and done.stdout == said_by_check((3, minor)), done.stdout
    assert "libmicrohttpd" in tool(tmp_path / "venv" / "bin" / "holotrace", "version")
    check_server([tmp_path / "venv" / "bin" / "holotrace", "serve", ROOT / "examples", "--port", "0", "--no-cache"],
                 set(RUNS))
    check_server([here, "-c", SERVE, ROOT / "examples"], set(RUNS))


@pytest.mark.parametrize("arch", ARCHES)
def test_wheel_in_a_bare_root(arch, packed, tmp_path):
    """The newest CPython and what it is linked with, from Debian's packages, and nothing else: no pip, no /proc, no home."""
    wheel, root = wheel_of(arch), roots.of_python(arch)
    if root is None:
        pytest.skip(f"skipped: Debian's {roots.NEWEST} for {arch} cannot be fetched")
    words = enter(root, arch, f"/usr/bin/{roots.NEWEST}", "-c", "import json")
    place = root / "holotrace"
    shutil.rmtree(place, ignore_errors=True)
    tool(sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-compile", "--only-binary=:all:",
         "--python-version", roots.NEWEST.removeprefix("python"), "--platform", f"manylinux_2_17_{arch}", "--target", place, wheel)
    shutil.copytree(ROOT / "examples" / "ddp", place / "ddp")
    shutil.copy(packed, place)
    done = subprocess.run([*words, f"/usr/bin/{roots.NEWEST}", "-c", CHECK, "/holotrace", "/holotrace/ddp", f"/holotrace/{packed.name}"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={"PYTHONPATH": "/holotrace"})
    assert done.returncode == 0 and done.stdout == said_by_check((3, 14)), done.stdout
    said = subprocess.run([*words, "/holotrace/bin/holotrace", "summary", "/holotrace/ddp", "--format", "csv", "--no-cache"], check=True,
                          stdout=subprocess.PIPE, env={}).stdout
    assert said == (ROOT / "tests/golden/ddp/summary.csv").read_bytes()
