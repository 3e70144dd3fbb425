# SPDX-License-Identifier: Apache-2.0
"""Traces that are with the workers of an executor: every analysis gives the table that one process gives."""
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import warnings

import pytest

import holotrace
from holotrace import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]
DDP, PIPELINE = str(ROOT / "examples/ddp"), str(ROOT / "tests/data/pipeline")
LONG = bool(os.environ.get("HOLOTRACE_LONG"))


def rendered(table):
    return table._core.render("json")


def compare_all(executor, *, also=({},), every=1, **options):
    """Every analysis over one set or two, with an executor and without; each second or third of those over one, unless HOLOTRACE_LONG is set,
    for how they come together is the same for all executors."""
    one, other = holotrace.open(PIPELINE), holotrace.open(DDP)
    far, far_other = (holotrace.open(path, executor=executor, **options) for path in (PIPELINE, DDP))
    assert far.ranks == one.ranks and far.paths == one.paths and far.n_events == one.n_events
    n, every = 0, 1 if LONG else every
    for i, analysis in enumerate(_core.analyses()):
        for arguments in also:
            if analysis["n_sets"] == 1 and i % every:
                continue
            if analysis["n_sets"] == 1:
                here, there = one.run(analysis["name"], **arguments), far.run(analysis["name"], **arguments)
            elif analysis["n_sets"] == 2 and analysis["name"] != "gate":
                here = one.run(analysis["name"], other, **arguments)
                there = far.run(analysis["name"], far_other, **arguments)
            else:
                continue
            assert rendered(there) == rendered(here), (analysis["name"], arguments)
            n += 1
    assert rendered(holotrace.gate(far, far_other)) == rendered(holotrace.gate(one, other))
    assert n > 20 * len(also) / every


def test_threads():
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        compare_all(executor, also=({}, {"hta_compat": True}))
        compare_all([executor], shares=1, every=3)


def test_processes():
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        compare_all(executor, also=({}, {"hta_compat": True}), every=2)


def test_a_report():
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        assert str(holotrace.open(DDP, executor=executor).report()) == str(holotrace.open(DDP).report())


def test_dask():
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                                      silence_logs=50) as cluster, distributed.Client(cluster) as client:
            compare_all(client.get_executor(), every=3)
            # one executor per worker, as for machines that see different files
            workers = list(client.scheduler_info()["workers"])
            assert len(workers) == 2
            with pytest.raises(holotrace.UsageError, match="same executor"):
                holotrace.open(DDP, executor=client.get_executor()).diff(
                    holotrace.open(DDP, executor=client.get_executor()))


def refuse(*unused):
    raise holotrace.UsageError("not this", hint="another")


def die(*unused):
    os.kill(os.getpid(), signal.SIGKILL)


def test_ray():
    ray = pytest.importorskip("ray")
    from holotrace.ray import RayExecutor

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
             runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}})
    try:
        executor = RayExecutor()
        assert executor._max_workers == 2
        compare_all(executor)
        # what was raised comes back as it was
        with pytest.raises(holotrace.UsageError, match="not this") as raised:
            executor.submit(refuse).result()
        assert raised.value.hint == "another"
        with pytest.raises(holotrace.UsageError, match="no such rank"):
            holotrace.open(DDP, executor=executor).kernel_types(rank=5)
        with pytest.raises(ray.exceptions.WorkerCrashedError):
            RayExecutor(max_retries=0).submit(die).result()
    finally:
        ray.shutdown()


def test_mpi4py(tmp_path):
    """As a program of its own under mpirun: MPI ends with the process that it started in."""
    pytest.importorskip("mpi4py.futures")
    program = f"""
        import sys
        sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
        from mpi4py.futures import MPIPoolExecutor
        from test_executor import compare_all

        if __name__ == "__main__":
            with MPIPoolExecutor() as executor:
                compare_all(executor, every=3)
            print("all the same")
        """
    (tmp_path / "program.py").write_text(textwrap.dedent(program))
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    for launcher in ("mpirun", "mpirun.openmpi"):
        try:
            done = subprocess.run(
                [launcher, "--oversubscribe", "-np", "3", sys.executable, "-m", "mpi4py.futures",
                 str(tmp_path / "program.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, env=env)
        except FileNotFoundError:
            continue
        assert "all the same" in done.stdout.decode(), done.stderr.decode()
        return
    pytest.skip("no mpirun")


def write_trace(path, rank):
    events = [{"ph": "X", "cat": "kernel", "name": f"k{rank}", "pid": 0, "tid": 7, "ts": 100, "dur": 5,
               "args": {"device": 0, "stream": 7}}]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"traceEvents": events, "distributedInfo": {"rank": rank}}))


def go_to(folder):
    os.chdir(folder)


def test_files_that_only_workers_see(tmp_path):
    """Two machines, played by processes in two folders; this process is in neither."""
    for rank in range(4):
        write_trace(tmp_path / f"node{rank % 2}/traces/rank{rank}.json", rank)
        write_trace(tmp_path / f"all/traces/rank{rank}.json", rank)
    pools = [concurrent.futures.ProcessPoolExecutor(1, initializer=go_to, initargs=(str(tmp_path / f"node{i}"),))
             for i in range(2)]
    try:
        far = holotrace.open("traces", executor=pools, cache=False)
        assert far.ranks == [0, 1, 2, 3]
        assert far.paths[3] == "traces/rank3.json"
        before = os.getcwd()
        try:
            os.chdir(tmp_path / "all")
            assert rendered(far.info()) == rendered(holotrace.open("traces", cache=False).info())
        finally:
            os.chdir(before)
        with pytest.raises(holotrace.MissingError, match="with the workers"):
            far.convert(tmp_path / "x.json")
        with pytest.raises(holotrace.MissingError, match="with the workers"):
            far.sql("SELECT 1")
        with pytest.raises(holotrace.MissingError, match="with the workers"):
            far.export(tmp_path / "dataset")
    finally:
        for pool in pools:
            pool.shutdown()


def test_a_file_that_two_executors_see_is_refused(tmp_path):
    for rank in range(2):
        write_trace(tmp_path / f"rank{rank}.json", rank)
    with concurrent.futures.ThreadPoolExecutor(1) as a, concurrent.futures.ThreadPoolExecutor(1) as b:
        with pytest.raises(holotrace.UsageError, match="rank0.json is the same file for two executors"):
            holotrace.open(tmp_path, executor=[a, b], cache=False)
        assert holotrace.open(tmp_path, executor=[a], cache=False).ranks == [0, 1]


def test_errors_come_back(tmp_path):
    write_trace(tmp_path / "rank0.json", 0)
    (tmp_path / "rank1.json").write_text("nothing")
    files = [tmp_path / "rank0.json", tmp_path / "rank1.json", tmp_path / "rank2.json"]
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        with pytest.raises(holotrace.InputError, match="rank2.json.*No such file"):
            holotrace.open(files, executor=executor)
        with pytest.raises(holotrace.InputError, match="rank1.json.*not a trace"):
            holotrace.open(files[:2], executor=executor)
        with pytest.raises(holotrace.UsageError, match="no such rank"):
            holotrace.open(files[:1], executor=executor).kernel_types(rank=5)
        far, here = (holotrace.open(files, partial=True, **more) for more in ({"executor": executor}, {}))
        assert far.ranks == here.ranks == [0]
        assert rendered(far.kernel_types()) == rendered(here.kernel_types())
        assert "missing from this result, 2 files" in rendered(far.kernel_types()).decode()


class Fragile(concurrent.futures.Executor):
    """A pool per task, so that a worker which dies takes one task along, as on a cluster."""

    def __init__(self, victim):
        self.victim = victim

    def submit(self, fn, *args, **kwargs):
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            future = pool.submit(die_with, self.victim, fn, *args, **kwargs)
            concurrent.futures.wait([future])
            return future


def die_with(victim, fn, *args, **kwargs):
    if fn.__name__ == "make" and any(victim in source for side in args[3] for source in side[0]):
        os.kill(os.getpid(), signal.SIGKILL)
    return fn(*args, **kwargs)


def test_a_worker_that_is_killed(tmp_path):
    for rank in range(3):
        write_trace(tmp_path / f"rank{rank}.json", rank)
    with pytest.raises(holotrace.LimitError, match="a worker failed: BrokenProcessPool"):
        holotrace.open(tmp_path, executor=Fragile("rank1"), shares=3).kernel_types()
    far = holotrace.open(tmp_path, executor=Fragile("rank1"), shares=3, partial=True)
    text = rendered(far.kernel_breakdown()).decode()
    assert "missing from this result, 1 file: " in text and "rank1.json: BrokenProcessPool" in text
    assert far.ranks == [0, 2]
    rest = holotrace.open([tmp_path / "rank0.json", tmp_path / "rank2.json"])
    assert list(far.kernel_breakdown()["name"]) == list(rest.kernel_breakdown()["name"])
