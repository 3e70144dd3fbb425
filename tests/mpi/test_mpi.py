# SPDX-License-Identifier: Apache-2.0
"""holotrace-mpi: however many processes, the bytes are those of one; and nobody waits for who is gone.

Skipped where no MPI was found when the program was built."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from support import EXE, ROOT, environment, wait_until

sys.path.insert(0, str(ROOT / "tests/property"))
from test_parts import OPTIONS  # noqa: E402

BUILD = pathlib.Path(EXE).parent
#: How the MPIs of Debian are started by root, with more processes than processors.
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"],
    "mpich": ["mpirun.mpich"],
}
HERE = [name for name, words in LAUNCHERS.items()
        if (BUILD / f"holotrace-mpi.{name}").exists() and shutil.which(words[0])]
SECONDS = 60
LONG = bool(os.environ.get("HOLOTRACE_LONG"))
TIMING = re.compile(r"holotrace: process (\d (?:carries|leads|reads)): (\d+\.\d+) s((?:, [a-z]+ \d+\.\d+ \(\d+\.\d+\))*); "
                    r"user \d+\.\d+, system \d+\.\d+, page faults \d+, switches \d+ \+ \d+, peak \d+ MiB")

pytestmark = [pytest.mark.long, pytest.mark.skipif(not HERE, reason="no MPI was found when the program was built")]


def program(mpi):
    return str(BUILD / f"holotrace-mpi.{mpi}")


def launch(mpi, np, *args, **kwargs):
    """Run to the end; nothing may take longer than SECONDS."""
    return subprocess.run([*LAUNCHERS[mpi], "-np", str(np), program(mpi), *args], cwd=kwargs.pop("cwd", ROOT),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS,
                          env=environment(), **kwargs)


def alone(*args, cwd=ROOT):
    return subprocess.run([EXE, *args], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())


def said(stderr):
    """What the program said, without what launchers add."""
    return [line for line in stderr.decode().splitlines()
            if line.startswith(("holotrace: ", "data was lost"))]


def check(mpi, np, *args):
    one, many = alone(*args), launch(mpi, np, *args)
    assert many.stdout == one.stdout
    assert many.returncode == one.returncode, many.stderr.decode()
    assert said(many.stderr) == said(one.stderr)
    return one


def analyses():
    verbs = json.loads(alone("help", "--json").stdout)["verbs"] if HERE else []
    for verb in verbs:
        if verb["kind"] != "analysis":
            continue
        if "TRACE" in verb["usage"]:
            yield verb["name"], ["examples/straggler"]
        elif "BASELINE" in verb["usage"]:
            yield verb["name"], ["examples/ddp", "examples/straggler"]
        elif "--base" in verb["usage"]:
            yield verb["name"], ["--base", "examples/ddp", "--test", "examples/straggler"]


ANALYSES = list(analyses())
#: Every third, and all that take two runs.
SOME = ANALYSES if LONG else [one for i, one in enumerate(ANALYSES) if i % 3 == 0 or len(one[1]) > 1]


def in_turn(cases):
    """Each case with one MPI after the other; with HOLOTRACE_LONG with all of them."""
    return [(mpi, *case) for i, case in enumerate(cases) for mpi in (HERE if LONG else HERE[i % max(1, len(HERE)):][:1])]


@pytest.mark.parametrize("name, sources", SOME, ids=lambda value: value if isinstance(value, str) else "")
def test_every_analysis_is_the_same(name, sources):
    """Some, in turn with each MPI, over one, two, three processes or more than there are files; with HOLOTRACE_LONG
    every one over all of these. What differs between them is what a part holds: that any grouping of ranks gives the same bytes
    is a test of its own, of all of them (tests/property/test_parts.py)."""
    whole = alone(name, "--format", "json", *sources)
    ways = [(mpi, np) for np in (3, 1, 2, 8) for mpi in HERE]
    for mpi, np in ways if LONG else [ways[ANALYSES.index((name, sources)) % len(ways)]]:
        done = launch(mpi, np, name, "--format", "json", *sources)
        assert done.stdout == whole.stdout, (mpi, np)
        assert done.returncode == whole.returncode, done.stderr.decode()


@pytest.mark.parametrize("name, options", [(name, options) for name, lists in OPTIONS.items() for options in lists][::1 if LONG else 3])
def test_options_are_the_same(name, options):
    """Of each third; with HOLOTRACE_LONG all. What they change in parts is a test of its own (tests/property/test_parts.py)."""
    assert check(HERE[-1], 3, name, *options, "--format", "csv", "examples/ddp").returncode == 0


def test_the_list_of_analyses_is_not_empty():
    assert len(ANALYSES) > 20
    assert any(len(sources) > 1 for _, sources in ANALYSES)


@pytest.mark.parametrize("mpi, args", in_turn((args,) for args in [
    ["report", "examples/ddp"], ["report", "examples/ddp", "--format", "html", "--top", "3"],
    ["kernel-breakdown", "--hta-compat", "examples/ddp"], ["steps", "--hta-rows", "examples/straggler"],
    ["events", "--columns", "rank,index,s_name,ts_ns", "--top", "100", "--format", "csv", "examples/ddp"],
    ["dump", "examples/train"], ["list"], ["version"], ["kernel-types"], ["no-such-verb"],
    ["kernel-types", "--rank", "9", "examples/ddp"], ["info", "no/such/file.json"],
]), ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_other_verbs_and_mistakes_are_the_same(mpi, args):
    check(mpi, 3, *args)


def write_trace(path, rank=None, kernel="k", ts=100, base=None, n=1):
    event = '{"ph": "X", "cat": "kernel", "name": %s, "pid": 0, "tid": 7, "ts": %d, "dur": 5, "args": {"device": 0, "stream": 7}}'
    name, head = json.dumps(kernel), {"schemaVersion": 1}
    if rank is not None:
        head["distributedInfo"] = {"rank": rank, "world_size": 4}
    if base is not None:
        head["baseTimeNanoseconds"] = base
    events = ", ".join(event % (name, ts + 9 * i) for i in range(n))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{json.dumps(head)[:-1]}, "traceEvents": [{events}]}}')


#: Verbs, and over how many processes each unless over all of these.
PROCESSES = {"info": 3, "kernel-breakdown": 2, "health": 8}


@pytest.mark.parametrize("mpi", HERE)
def test_ranks_are_given_as_in_one_process(mpi, tmp_path):
    """Files that do not say their rank, two that say the same, one that is given, a file that is no trace, a second
    name of a file, and clocks that cannot be compared."""
    write_trace(tmp_path / "t/b10.json")
    write_trace(tmp_path / "t/b9.json")
    write_trace(tmp_path / "t/c.json", rank=1)
    write_trace(tmp_path / "t/d.json", rank=1, base=1_700_000_000_000_000_000)
    write_trace(tmp_path / "t/x_rank3.json")
    (tmp_path / "t/note.json").write_text("[1, 2]")
    (tmp_path / "t/same.json").hardlink_to(tmp_path / "t/b9.json")
    write_trace(tmp_path / "other/e.json", rank=0)
    for verb in PROCESSES:
        one = alone(verb, "t", "7=other/e.json", cwd=tmp_path)
        assert one.returncode == 0
        for np in (2, 3, 8) if LONG else (PROCESSES[verb],):
            done = launch(mpi, np, verb, "t", "7=other/e.json", cwd=tmp_path)
            assert done.stdout == one.stdout
            assert said(done.stderr) == said(one.stderr)
    assert b"does not say its rank" in alone("info", "t", cwd=tmp_path).stdout


def test_changes_over_steps_are_the_same(tmp_path):
    """60 steps of three ranks, one of which computes 20 % longer from step 30 on."""
    for rank in range(3):
        events = []
        for i in range(60):
            ts, dur = i * 1000, 500 + i % 3 + (100 if rank == 2 and i >= 29 else 0)
            events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i + 1}", "pid": 1, "tid": 1, "ts": ts, "dur": 1000},
                       {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts + 10, "dur": 5,
                        "args": {"correlation": i + 1}},
                       {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": ts + 20, "dur": dur,
                        "args": {"correlation": i + 1, "device": 0, "stream": 7}}]
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(
            {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 3}, "traceEvents": events}))
    one = check(HERE[0], 2, "step-changes", "--format", "csv", str(tmp_path))
    assert one.stdout.count(b"level,GPU activity,2,30,") == 1


@pytest.mark.parametrize("mpi", HERE)
def test_standard_input(mpi, tmp_path):
    """It is where the launcher puts it, at process 0. A small one: MPICH's launcher gives up when a pipe is full."""
    write_trace(tmp_path / "t.json")
    trace = (tmp_path / "t.json").read_bytes()
    one = subprocess.run([EXE, "kernel-types", "-"], input=trace, stdout=subprocess.PIPE, env=environment())
    done = launch(mpi, 2, "kernel-types", "-", input=trace)
    assert done.stdout == one.stdout and done.returncode == 0


@pytest.mark.parametrize("mpi", HERE)
def test_files_that_cannot_be_read(mpi, tmp_path):
    for rank in range(4):
        write_trace(tmp_path / f"rank{rank}.json", rank=rank)
    (tmp_path / "rank2.json").write_text("this is no trace")
    files = [f"rank{rank}.json" for rank in range(4)]
    one, many = alone("kernel-types", *files, cwd=tmp_path), launch(mpi, 3, "kernel-types", *files, cwd=tmp_path)
    assert one.returncode == many.returncode == 3
    assert said(many.stderr) == said(one.stderr) and len(said(many.stderr)) == 1
    files.append("rank9.json")
    for extra in ([], ["--format", "csv"]):
        one = alone("kernel-breakdown", "--partial", *extra, *files, cwd=tmp_path)
        many = launch(mpi, 3, "kernel-breakdown", "--partial", *extra, *files, cwd=tmp_path)
        assert one.returncode == many.returncode == 0
        assert many.stdout == one.stdout and said(many.stderr) == said(one.stderr)
        text = " ".join((one.stdout + one.stderr).decode().split())
        assert "missing from this result, 2 files: rank2.json: " in text and "rank9.json: " in text
    done = launch(mpi, 2, "kernel-types", "--partial", "rank2.json", "rank9.json", cwd=tmp_path)
    assert done.returncode == 3 and "no trace could be read: rank2.json" in done.stderr.decode()


@pytest.mark.parametrize("mpi", HERE)
def test_a_full_disk(mpi):
    done = launch(mpi, 2, "kernel-types", "examples/ddp", "-o", "/dev/full")
    assert done.returncode == alone("kernel-types", "examples/ddp", "-o", "/dev/full").returncode == 4
    assert len(said(done.stderr)) == 1


@pytest.mark.parametrize("mpi", HERE)
@pytest.mark.parametrize("variable, text", [
    ("HOLOTRACE_MPI_VERSION=9.8.7", "is holotrace-mpi 9.8.7, process 0"),
    ("HOLOTRACE_MPI_ORDER=other", "another byte order")], ids=["version", "byte-order"])
def test_a_node_that_speaks_otherwise(mpi, variable, text):
    """Before anything is asked: one line, an exit code, and all end."""
    name, value = variable.split("=")
    more = ["-x", variable] if mpi == "openmpi" else ["-env", name, value]
    began = time.time()
    question = [program(mpi), "kernel-types", "--partial", "examples/ddp"]
    done = subprocess.run([*LAUNCHERS[mpi], "-np", "2", *question, ":", "-np", "1", *more, *question], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, env=environment())
    assert done.returncode == 3 and done.stdout == b"" and time.time() - began < 30
    lines = said(done.stderr)
    assert len(lines) == 1 and "process 2 (" in lines[0] and text in lines[0] and "one version on all nodes" in lines[0]


@pytest.mark.skipif(len(HERE) < 2, reason="one MPI only")
@pytest.mark.parametrize("mpi", HERE)
def test_a_launcher_of_another_mpi(mpi):
    """Its processes do not find each other: nothing is done twice, and it is said once."""
    other = program(next(name for name in HERE if name != mpi))
    # Three worlds of one: Open MPI's all make /tmp/ompi.HOST.UID, and one that comes second ends with its own error.
    own_folder = ["sh", "-c", 'TMPDIR=$(mktemp -d) && export TMPDIR && "$0" "$@"; status=$?; rm -r "$TMPDIR"; exit $status']
    done = subprocess.run([*LAUNCHERS[mpi], "-np", "3", *own_folder, other, "kernel-types", "examples/ddp"], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, env=environment())
    assert done.returncode == 2 and done.stdout == b""
    lines = said(done.stderr)
    assert len(lines) == 1 and "3 processes were started, but they do not find each other" in lines[0]


@pytest.mark.parametrize("mpi", HERE)
@pytest.mark.parametrize("variables, met", [({"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}, False),
                                            ({"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}, True),
                                            ({"SLURM_NTASKS": "4"}, True), ({}, True)])
def test_without_a_launcher(mpi, variables, met):
    """One process by itself is a run of one; one of four that srun started without an MPI is not."""
    done = subprocess.run([program(mpi), "kernel-types", "examples/ddp"], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=SECONDS, env=dict(environment(), **variables))
    if met:
        assert done.returncode == 0 and done.stdout == alone("kernel-types", "examples/ddp").stdout
    else:
        assert done.returncode == 2 and "srun --mpi=pmix" in said(done.stderr)[0]


@pytest.mark.parametrize("mpi", HERE)
def test_timings(mpi, tmp_path):
    """Every process says where its time went, twice, and the phases are no longer than the whole; the rest is the same."""
    for rank in range(3):
        write_trace(tmp_path / f"rank{rank}.json", rank=rank)
    done = launch(mpi, 2, "--timings", "kernel-types", str(tmp_path))
    assert done.returncode == 0 and done.stdout == alone("kernel-types", str(tmp_path)).stdout
    lines = [TIMING.fullmatch(line) for line in said(done.stderr)]
    assert all(lines), done.stderr.decode()
    assert sorted(line[1] for line in lines) == ["0 carries", "0 leads", "1 carries", "1 reads"]
    for line in lines:
        phases = dict(re.findall(r", ([a-z]+) (\d+\.\d+) \(", line[3]))
        assert "start" in phases and sum(map(float, phases.values())) <= float(line[2]) + 0.01, line[0]


@pytest.mark.parametrize("mpi", HERE)
def test_a_crash_while_mpi_ends(mpi, tmp_path):
    """Open MPI's own threads crash there, seldom: what the run found is there, and its exit code."""
    (tmp_path / "end.c").write_text("#include <signal.h>\nint PMPI_Finalize(void);\n"
                                    "int MPI_Finalize(void) { int code = PMPI_Finalize(); raise(SIGSEGV); return code; }\n")
    library = tmp_path / "end.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "end.c"], check=True)
    for args, code in (["kernel-types", "examples/ddp"], 0), (["kernel-types", "no/such/file.json"], 3):
        done = subprocess.run([*LAUNCHERS[mpi], "-np", "2", "env", f"LD_PRELOAD={library}", program(mpi), *args], cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, env=environment())
        assert (done.returncode, done.stdout) == (code, alone(*args).stdout), done.stderr.decode()


def stays(look, n=2):
    """Wait until a look answers the same, and something, so many times in a row, 20 ms apart."""
    seen = []

    def same():
        seen.append(look())
        return bool(seen[-1]) and seen[-n:] == [seen[-1]] * n

    wait_until(same, SECONDS, every=0.02)


class Stopped:
    """A run whose worker of process 1 is stopped before it is asked anything, so that the run cannot end by itself.

    Process 2 starts only when that is done, and MPI waits for it."""

    def __init__(self, mpi, folder, *args, launch=(), n_ranks=6, n_events=1):
        for rank in range(n_ranks):
            write_trace(folder / f"rank{rank}.json", rank=rank, n=n_events)
        words = [program(mpi), *launch, "kernel-types", *args, str(folder)]
        go = folder.parent / f"{folder.name}.go"
        late = ["sh", "-c", 'until [ -e "$0" ]; do sleep 0.02; done; exec "$@"', str(go), *words]
        self.run = subprocess.Popen([*LAUNCHERS[mpi], "-np", "2", *words, ":", "-np", "1", *late], env=environment(),
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.worker = wait_until(lambda: self.run.poll() is not None or self.find_worker("1"), SECONDS)
        assert self.run.poll() is None, self.run.communicate()
        # Not before it waits for its first question: one that is stopped on its way there has not yet asked the
        # kernel to end it with its carrier.
        stays(lambda: self.waits(self.worker))
        os.kill(self.worker, signal.SIGSTOP)
        go.touch()
        self.carrier = self.parent(self.worker)
        # the others find the files, deal them, read theirs and wait
        other = wait_until(lambda: self.find_worker("2"), SECONDS)
        wait_until(lambda: self.n_moved(other)[1] > 0, SECONDS)
        stays(lambda: (self.n_moved(other), self.n_moved(self.find_worker("0"))), n=10)
        assert self.run.poll() is None

    def processes(self):
        """Processes of the program that this run started."""
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and "holotrace-mpi" in (entry / "cmdline").read_text().split("\0")[0] and \
                        self.is_below(int(entry.name)):
                    yield int(entry.name)
            except OSError:
                pass

    @staticmethod
    def waits(pid):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S"

    def is_below(self, pid):
        while pid > 1 and pid != self.run.pid:
            pid = self.parent(pid)
        return pid == self.run.pid

    @staticmethod
    def parent(pid):
        try:
            return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return 0

    @staticmethod
    def rank(pid):
        try:
            words = pathlib.Path(f"/proc/{pid}/environ").read_text().split("\0")
        except OSError:
            return None
        said = dict(word.split("=", 1) for word in words if "=" in word)
        return said.get("OMPI_COMM_WORLD_RANK", said.get("PMI_RANK"))

    def find_worker(self, rank):
        programs = list(self.processes())
        return next((pid for pid in programs if self.parent(pid) in programs and self.rank(pid) == rank), None)

    def worker_of(self, rank):
        pid = self.find_worker(rank)
        assert pid is not None
        return pid

    @staticmethod
    def n_moved(pid):
        """Bytes that a process has read and written so far."""
        words = pathlib.Path(f"/proc/{pid}/io").read_text().split()
        return int(words[1]), int(words[3])

    @classmethod
    def n_read(cls, pid):
        return cls.n_moved(pid)[0]

    def end(self):
        workers = [pid for pid in self.processes() if pid != self.run.pid]
        try:
            out, err = self.run.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.run.kill()
            raise
        finally:
            with contextlib.suppress(AssertionError):
                wait_until(lambda: not any(map(self.lives, workers)), 5)
            left = [pid for pid in workers if self.lives(pid)]
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        assert not left
        return self.run.returncode, out.decode(), err

    @staticmethod
    def lives(pid):
        try:
            return "holotrace-mpi" in pathlib.Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            return False


@pytest.mark.parametrize("mpi", HERE)
def test_a_worker_that_is_killed(mpi, tmp_path):
    run = Stopped(mpi, tmp_path)
    os.kill(run.worker, signal.SIGKILL)
    code, out, err = run.end()
    assert code == 4 and out == ""
    lines = said(err)
    assert len(lines) == 1 and "process 1 was killed by signal 9; it had 2 traces, the first " in lines[0]
    assert "--partial" in lines[0]


@pytest.mark.parametrize("mpi", HERE)
def test_partial_goes_on_without_a_worker(mpi, tmp_path):
    run = Stopped(mpi, tmp_path, "--partial")
    os.kill(run.worker, signal.SIGKILL)
    code, out, err = run.end()
    assert code == 0, err.decode()
    text = " ".join(out.split())
    missing = [rank for rank in range(6) if f"rank{rank}.json: process 1 was killed by signal 9" in text]
    assert len(missing) == 2 and "missing from this result, 2 files: " in text
    rest = [str(tmp_path / f"rank{rank}.json") for rank in range(6) if rank not in missing]
    assert alone("kernel-types", *rest).stdout.decode().splitlines()[:5] == out.splitlines()[:5]


def let_read(run, pid, until):
    """Let a stopped process go on until what it has read fits."""
    os.kill(pid, signal.SIGCONT)
    deadline = time.time() + SECONDS
    while not until(run.n_read(pid)):
        assert time.time() < deadline


@pytest.mark.parametrize("mpi, when, options", in_turn(
    [("reads", []), ("reads", ["--partial"]), ("has read", ["--partial"]), ("has read", [])]))
def test_a_worker_that_is_killed_later(mpi, options, when, tmp_path):
    """In the middle of its files; or when it has told of them and the others are not through."""
    run = Stopped(mpi, tmp_path, *options, n_events=20000)
    slow, before = run.worker_of("2"), run.n_read(run.worker)
    n_own = 2 * (tmp_path / "rank0.json").stat().st_size
    # nothing ends without this one, also where the other has read more by the time that it is killed
    os.kill(slow, signal.SIGSTOP)
    if when == "reads":
        let_read(run, run.worker, lambda n: n > before + n_own / 4)
    else:
        let_read(run, run.worker, lambda n: n >= before + n_own)
        stays(lambda: (run.waits(run.worker), run.n_moved(run.worker)), n=10)
    os.kill(run.worker, signal.SIGKILL)
    wait_until(lambda: not pathlib.Path(f"/proc/{run.worker}").exists(), SECONDS)
    os.kill(slow, signal.SIGCONT)
    code, out, err = run.end()
    text = " ".join(out.split())
    if options:
        missing = [rank for rank in range(6) if f"rank{rank}.json: process 1 was killed by signal 9" in text]
        rest = [str(tmp_path / f"rank{rank}.json") for rank in range(6) if rank not in missing]
        assert code == 0 and len(missing) == 2 and "missing from this result, 2 files: " in text
        assert alone("kernel-types", *rest).stdout.decode().splitlines()[:5] == out.splitlines()[:5]
    else:
        lines = said(err)
        assert code == 4 and out == "" and len(lines) == 1
        assert "process 1 was killed by signal 9; it had 2 traces, the first " in lines[0]


@pytest.mark.parametrize("mpi, who", in_turn([("worker",), ("leader",), ("carrier",)]))
def test_killed_while_process_0_prints(mpi, who, tmp_path):
    """The table is made by then: who has read is not missed, and without who prints there is an end to it."""
    for rank in range(3):
        write_trace(tmp_path / f"rank{rank}.json", rank=rank, n=30000)
    words = ["events", "--format", "csv", str(tmp_path)]
    run = Stopped.__new__(Stopped)
    run.run = subprocess.Popen([*LAUNCHERS[mpi], "-np", "3", program(mpi), *words], env=environment(), cwd=ROOT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    first = os.read(run.run.stdout.fileno(), 1)
    programs = list(run.processes())
    pids = [pid for pid in programs if (run.parent(pid) in programs) == (who != "carrier") and
            run.rank(pid) == ("0" if who == "leader" else "1")]
    if pids:
        os.kill(pids[0], signal.SIGKILL)
    code, out, err = run.end()
    whole = alone(*words).stdout.decode()
    if who == "worker" or not pids:
        assert code == 0 and first.decode() + out == whole and said(err) == []
    else:
        # it may have been through just then
        assert code != 0 or first.decode() + out == whole


@pytest.mark.parametrize("mpi", HERE)
def test_files_are_taken_from_who_is_slow(mpi, tmp_path):
    """With several files each, the others read those of a worker that does not come to it. When it is killed then,
    nothing is missing."""
    run = Stopped(mpi, tmp_path, "-j", "1", n_ranks=24)
    os.kill(run.worker, signal.SIGKILL)
    code, out, err = run.end()
    assert code == 0 and said(err) == []
    assert out == alone("kernel-types", str(tmp_path)).stdout.decode()


@pytest.mark.parametrize("mpi", HERE)
def test_files_are_read_once(mpi, tmp_path):
    """Whoever takes them: every rank is there, each once, for many processes with many files."""
    for rank in range(64):
        write_trace(tmp_path / f"rank{rank}.json", rank=rank, kernel=f"k{rank}")
    (tmp_path / "rank64.json").write_text("this is no trace")
    words = ["kernel-breakdown", "--format", "csv", "-j", "1", *(str(tmp_path / f"rank{rank}.json") for rank in range(65))]
    one = alone(*words, "--partial")
    assert one.returncode == 0 and one.stdout.count(b"\n") == 65
    for np in (2, 8):
        many = launch(mpi, np, *words, "--partial")
        assert many.returncode == 0 and many.stdout == one.stdout and said(many.stderr) == said(one.stderr)
    one, many = alone(*words), launch(mpi, 3, *words)
    assert one.returncode == many.returncode == 3 and said(many.stderr) == said(one.stderr)


@pytest.mark.parametrize("mpi", HERE)
def test_a_leader_that_is_killed(mpi, tmp_path):
    """Who prints is gone: everything ends, and it is said why."""
    run = Stopped(mpi, tmp_path, "--partial")
    os.kill(run.worker_of("0"), signal.SIGKILL)
    began = time.time()
    code, out, err = run.end()
    assert code != 0 and "Kernel types" not in out and time.time() - began < 30
    assert "process 0 was killed by signal 9; the run ends" in err.decode()


@pytest.mark.parametrize("mpi", HERE)
def test_a_carrier_that_is_killed(mpi, tmp_path):
    """MPI cannot go on without one of its processes: everything ends, and soon."""
    run = Stopped(mpi, tmp_path, "--partial")
    os.kill(run.carrier, signal.SIGKILL)
    began = time.time()
    code, out, err = run.end()
    assert code != 0 and "Kernel types" not in out and time.time() - began < 30
    assert (out + err.decode()).strip()


@pytest.mark.parametrize("mpi", HERE)
def test_a_carrier_that_hangs(mpi, tmp_path):
    """Who is not heard of is taken for dead, also where the launcher sees a process that lives."""
    run = Stopped(mpi, tmp_path, launch=["--timeout", "3"])
    os.kill(run.carrier, signal.SIGSTOP)
    began = time.time()
    code, out, err = run.end()
    assert code != 0 and "Kernel types" not in out and time.time() - began < 30
    assert "process 1 is not heard of any more; the run ends" in err.decode()


@pytest.mark.parametrize("mpi", HERE)
def test_a_process_that_does_not_come(mpi, tmp_path):
    """MPI waits for all at its start, for ever; this does not."""
    write_trace(tmp_path / "rank0.json", rank=0)
    words = [program(mpi), "--timeout", "2", "kernel-types", str(tmp_path)]
    began = time.time()
    done = subprocess.run([*LAUNCHERS[mpi], "-np", "2", *words, ":", "-np", "1", "sh", "-c", 'sleep 40; exec "$@"', "sh", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, env=environment())
    # launchers have a say on either stream; a table is none of it
    assert done.returncode != 0 and b"kernel_type" not in done.stdout and time.time() - began < 30
    assert "the processes do not come together" in done.stderr.decode()


@pytest.mark.parametrize("mpi", HERE)
def test_files_of_each_machine(mpi, tmp_path):
    """Two machines, played by two folders: each process sees its own files only."""
    for node, ranks in (("a", (0, 1, 2)), ("b", (3, 4))):
        for rank in ranks:
            write_trace(tmp_path / node / f"traces/rank{rank}.json", rank=rank, kernel=f"k{rank}")
            write_trace(tmp_path / f"all/traces/rank{rank}.json", rank=rank, kernel=f"k{rank}")
    words = []
    for node, np in (("a", 2), ("b", 1)):
        separator = [":"] if words else []
        directory = ["-wdir", str(tmp_path / node)]
        name = (["-x", f"HOLOTRACE_MPI_NODE={node}"] if mpi == "openmpi"
                else ["-env", "HOLOTRACE_MPI_NODE", node])
        words += separator + ["-np", str(np), *directory, *name, program(mpi), "--local", "info", "traces"]
    done = subprocess.run([*LAUNCHERS[mpi], *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS,
                          env=environment())
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == alone("info", "traces", cwd=tmp_path / "all").stdout


@pytest.mark.parametrize("mpi", HERE)
def test_a_file_that_one_machine_does_not_see(mpi, tmp_path):
    """Process 0 finds six files, the other machine has three of them."""
    for rank in range(6):
        write_trace(tmp_path / f"a/traces/rank{rank}.json", rank=rank, kernel=f"k{rank}")
        if rank < 3:
            write_trace(tmp_path / f"b/traces/rank{rank}.json", rank=rank, kernel=f"k{rank}")

    def ask(*more):
        words = []
        for node in ("a", "b"):
            name = (["-x", f"HOLOTRACE_MPI_NODE={node}"] if mpi == "openmpi"
                    else ["-env", "HOLOTRACE_MPI_NODE", node])
            words += ([":"] if words else []) + ["-np", "1", "-wdir", str(tmp_path / node), *name, program(mpi), "info",
                                                 *more, "traces"]
        return subprocess.run([*LAUNCHERS[mpi], *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS,
                              env=environment())

    done = ask()
    lines = said(done.stderr)
    assert done.returncode == 3 and done.stdout == b"" and len(lines) == 1
    assert re.match(r"holotrace: traces/rank[345]\.json: cannot open: .*Process 1 is on another machine .*--local", lines[0])
    done = ask("--partial")
    text = " ".join(done.stdout.decode().split())
    missing = set(re.findall(r"traces/(rank\d)\.json: cannot open", text))
    assert done.returncode == 0 and missing and missing <= {"rank3", "rank4", "rank5"}
    assert f"missing from this result, {len(missing)} file" in text


@pytest.mark.parametrize("mpi", HERE)
def test_a_shared_folder_is_not_local(mpi, tmp_path):
    for rank in range(2):
        write_trace(tmp_path / f"rank{rank}.json", rank=rank)
    words = []
    for node in ("a", "b"):
        name = (["-x", f"HOLOTRACE_MPI_NODE={node}"] if mpi == "openmpi"
                else ["-env", "HOLOTRACE_MPI_NODE", node])
        words += ([":"] if words else []) + ["-np", "1", *name, program(mpi), "--local", "info", str(tmp_path)]
    done = subprocess.run([*LAUNCHERS[mpi], *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS,
                          env=environment())
    assert done.returncode == 2
    assert "is the same file on two machines. Leave --local out" in done.stderr.decode()
