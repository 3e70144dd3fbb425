# SPDX-License-Identifier: Apache-2.0
"""The recorder against real PyTorch: the scenarios of its own test of the execution trace observer, with
ours in its place; the graph of a training step compared with PyTorch's; and what both cost.

    python tests/record/torch_check.py [--only NAME] [FOLDER]     needs torch; more is checked with a GPU

Prints one line for each check and a summary; exit status 1 when anything failed. It is no pytest file,
because it runs where torch is: on a machine with a GPU, by hand. tests/record/gpu_check.log is what it
said there last.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import torch
from torch.profiler import ExecutionTraceObserver as TorchObserver
from torch.profiler import ProfilerActivity, profile, record_function, schedule

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from et_rules import PROCESS, THREAD, attributes, is_special, load, problems, same_graph  # noqa: E402

import holotrace  # noqa: E402
from holotrace.torch import _library  # noqa: E402

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"
CHECKS = []
SKIPPED = 77  # exit status


def check(run):
    CHECKS.append(run)
    return run


class Skip(Exception):
    pass


def payload():
    """What PyTorch's test runs: annotations with arguments of every kind around a small backward pass."""
    u = torch.randn(3, 4, 5, requires_grad=True)
    with record_function("## TEST 1 ##", "1, 2, 3"):
        handle = torch.autograd._record_function_with_args_enter(
            "## TEST 2 ##", 1, False, 2.5, [u, u], (u, u), "hello", u)
        x = torch.randn(10, 10, requires_grad=True).to(DEVICE)
        y = torch.randn(10, 10, requires_grad=True).to(DEVICE)
        z = x + y + x * y + x * y
        z.backward(z)
        torch.nn.functional.gelu(torch.randn(20, 20, device=DEVICE)).sum().item()
        torch.autograd._record_function_with_args_exit(handle)


def checked(path):
    trace = load(path)
    found = problems(trace)
    assert not found, found[:5]
    assert not list(pathlib.Path(path).parent.glob("*.part*"))
    return trace


def named(trace, text):
    return [node for node in trace["nodes"] if text in node["name"]]


def calls(trace):
    return {attributes(node)["rf_id"]: node for node in trace["nodes"] if not is_special(node)}


def activities():
    return [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if CUDA else [])


@check
def with_kineto(folder):
    path, kineto = folder / "with_kineto.et.json", folder / "with_kineto.json"
    ready = []

    def on_ready(profiler):
        ready.append(1)
        profiler.export_chrome_trace(str(kineto))

    observer = holotrace.ExecutionTraceObserver()
    with profile(activities=activities(), on_trace_ready=on_ready,
                 schedule=schedule(skip_first=3, wait=1, warmup=1, active=2, repeat=1),
                 execution_trace_observer=observer.register_callback(str(path))) as profiler:
        assert observer.get_output_file_path() == str(path)
        for i in range(10):
            with record_function(f"## LOOP {i} ##"):
                payload()
            profiler.step()
    assert observer.get_output_file_path() == str(path) and len(ready) == 1
    trace = checked(path)
    assert len(named(trace, "## LOOP ")) == 2
    assert [n["name"] for n in named(trace, "ProfilerStep#")] == ["ProfilerStep#5", "ProfilerStep#6"]
    events = [e for e in json.loads(kineto.read_text())["traceEvents"]
              if e.get("cat") in ("cpu_op", "user_annotation") and e["ph"] == "X"]
    ids = sorted(e["args"]["Record function id"] for e in events if "Record function id" in e["args"])
    assert ids == sorted(calls(trace)), (len(ids), len(calls(trace)))
    by_id = calls(trace)
    for event in events:
        assert by_id[event["args"]["Record function id"]]["name"] == event["name"]
    return f"{len(ids)} record function ids are Kineto's"


@check
def alone(folder):
    for name in ("alone.json", "alone.json.gz"):
        observer = holotrace.ExecutionTraceObserver()
        assert observer.get_output_file_path() is None
        observer.register_callback(str(folder / name))
        observer.start()
        for i in range(5):
            with record_function(f"## LOOP {i} ##"):
                payload()
        observer.stop()
        observer.unregister_callback()
        trace = checked(folder / name)
        assert len(named(trace, "## LOOP ")) == 5
        for node in named(trace, "## TEST 2 ##"):
            assert len(node["inputs"]["values"][3][0]) == 6
            assert node["inputs"]["types"][:3] == ["Int", "Bool", "Double"]
            assert node["inputs"]["types"][4] == "Tuple[Tensor(float),Tensor(float)]"
    return f"{len(trace['nodes'])} nodes"


@check
def pt2(folder):
    if not CUDA:
        raise Skip("needs a GPU")

    def body(a, b, c):
        return torch.relu(a + b) * c

    compiled = torch.compile(body)
    args = [torch.randn(4, 4, device="cuda") for _ in range(3)]
    compiled(*args)
    observer = holotrace.ExecutionTraceObserver()
    observer.register_callback(str(folder / "pt2.json"))
    observer.set_extra_resource_collection(True)
    # Inductor records its launches, and with what, only while the profiler runs and asks for shapes.
    with profile(activities=activities(), record_shapes=True, execution_trace_observer=observer):
        with record_function("## LOOP 0 ##"):
            compiled(*args)
    trace = checked(folder / "pt2.json")
    triton = [n for n in named(trace, "triton_") if attributes(n)["kernel_file"]]
    assert triton and named(trace, "Call CompiledFxGraph"), sorted({n["name"] for n in trace["nodes"]})
    for node in triton:
        assert node["inputs"]["values"] and not node["outputs"]["values"]
        assert attributes(node)["kernel_backend"] == "triton"
        assert (folder / "pt2_resources" / attributes(node)["kernel_file"]).exists()
    return triton[0]["name"]


@check
def triton_launch(folder):
    """What Inductor says of a launch, said without a GPU."""
    source = folder / "sources" / "kernel.py"
    source.parent.mkdir()
    source.write_text("# a kernel\n")
    x = torch.ones(2, 3)
    observer = holotrace.ExecutionTraceObserver().register_callback(str(folder / "triton.json"))
    observer.set_extra_resource_collection(True)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, execution_trace_observer=observer):
        with torch._C._profiler._RecordFunctionFast(
                "triton_poi_fused_0", [x, 6],
                {"kernel_backend": "triton", "kernel_file": str(source), "stream": 7, "grid": "grid(6,)"}):
            pass
    [node] = named(checked(folder / "triton.json"), "triton_poi_fused_0")
    values = attributes(node)
    assert (values["kernel_backend"], values["kernel_file"]) == ("triton", "kernel.py"), values
    assert node["inputs"]["values"][1:] == [6, 7] and node["inputs"]["types"] == ["Tensor(float)", "Int", "Int"]
    assert not node["outputs"]["values"]
    assert (folder / "triton_resources" / "kernel.py").read_text() == "# a kernel\n"


@check
def start_stop(folder):
    observer = holotrace.ExecutionTraceObserver().register_callback(str(folder / "start_stop.json"))
    expected = 0
    for i in range(10):
        if i in (3, 8):
            observer.start()
        if i in (5, 9):
            observer.stop()
        expected += observer.is_running()
        with record_function(f"## LOOP {i} ##"):
            payload()
    assert expected == 3
    observer.unregister_callback()
    loops = sorted(node["name"] for node in named(checked(folder / "start_stop.json"), "## LOOP "))
    assert loops == [f"## LOOP {i} ##" for i in (3, 4, 8)], loops


@check
def repeat_in_loop(folder):
    n_loops = 0
    for i in (3, 4, 6, 8):
        path = folder / f"repeat_{i}.json"
        observer = holotrace.ExecutionTraceObserver().register_callback(str(path))
        observer.start()
        with record_function(f"## LOOP {i} ##"):
            payload()
        observer.stop()
        observer.unregister_callback()
        trace = checked(path)
        n_loops += len(named(trace, "## LOOP "))
        assert [node["id"] for node in named(trace, PROCESS)] == [1]
    assert n_loops == 4


@check
def no_capture(folder):
    observer = holotrace.ExecutionTraceObserver().register_callback(str(folder / "no_capture.json"))
    try:
        holotrace.ExecutionTraceObserver().register_callback(str(folder / "second.json"))
        raise AssertionError("a second registration must be refused")
    except holotrace.UsageError:
        pass
    payload()
    observer.unregister_callback()
    assert [n["name"] for n in checked(folder / "no_capture.json")["nodes"]] == [PROCESS]


@check
def nested_tensor(folder):
    observer = holotrace.ExecutionTraceObserver()
    with profile(activities=activities(),
                 execution_trace_observer=observer.register_callback(str(folder / "nested.json"))):
        jagged = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)], layout=torch.jagged)
        jagged.cos()
        strided = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)])
        strided.sin()
        torch.randn(3, 3).to_sparse().sum()
    assert named(checked(folder / "nested.json"), "cos")


@check
def environment(folder):
    build = holotrace.ExecutionTraceObserver.build_execution_trace_obs_from_env
    os.environ["ENABLE_PYTORCH_EXECUTION_TRACE"] = "0"
    assert build() is None
    os.environ["ENABLE_PYTORCH_EXECUTION_TRACE"] = "1"
    os.environ["ENABLE_PYTORCH_EXECUTION_TRACE_EXTRAS"] = "1"
    observer = build()
    del os.environ["ENABLE_PYTORCH_EXECUTION_TRACE"], os.environ["ENABLE_PYTORCH_EXECUTION_TRACE_EXTRAS"]
    path = observer.get_output_file_path()
    assert observer.is_registered and path.endswith(".et.json")
    assert pathlib.Path(observer.get_resources_dir()).is_dir()
    observer.unregister_callback()
    assert not problems(load(path))
    os.rmdir(observer.get_resources_dir())
    os.unlink(path)


@check
def tensor_range(folder):
    name = "ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_"
    os.environ[name + "RANGE"], os.environ[name + "DATA"] = "1", "aten::gather"
    t1 = torch.tensor([[1, 2], [3, 4]])
    t2 = torch.tensor([[0, 0], [1, 0]])
    try:
        observer = holotrace.ExecutionTraceObserver().register_callback(str(folder / "range.json"))
        observer.set_extra_resource_collection(True)
        observer.start()
        torch.gather(t1, 1, t2)
        observer.stop()
        observer.unregister_callback()
    finally:
        del os.environ[name + "RANGE"], os.environ[name + "DATA"]
    [node] = named(checked(folder / "range.json"), "aten::gather")
    assert attributes(node)["tensor_range"] == '{"0":[1,4],"1":[0,1]}', attributes(node)["tensor_range"]
    for i, tensor in enumerate((t1, t2)):
        dump = folder / "range_resources" / f"nid_{node['id']}_tid_{i}.dat"
        assert dump.read_bytes() == tensor.numpy().tobytes()


@contextlib.contextmanager
def both(folder, name):
    """Record with PyTorch's observer and ours at once; what ours is in and what theirs."""
    theirs_path, ours_path = folder / f"{name}.torch.json", folder / f"{name}.ours.json"
    theirs, ours = TorchObserver(), holotrace.ExecutionTraceObserver()
    theirs.register_callback(str(theirs_path))
    ours.register_callback(str(ours_path))
    theirs.start()
    ours.start()
    result = {}
    yield result
    ours.stop()
    theirs.stop()
    ours.unregister_callback()
    theirs.unregister_callback()
    result["ours"], result["theirs"] = checked(ours_path), load(theirs_path)


def compared(result, ignored=()):
    for side in ("ours", "theirs"):
        result[side]["nodes"] = [n for n in result[side]["nodes"] if n["name"] not in ignored]
    found = same_graph(result["theirs"], result["ours"])
    assert not found, f"{len(found)} differences: " + "; ".join(found[:5])
    return len(calls(result["ours"]))


@check
def training_step(folder):
    model = torch.nn.Sequential(
        torch.nn.Embedding(100, 32), torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True),
        torch.nn.Linear(32, 100)).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    tokens = torch.randint(0, 100, (8, 16), device=DEVICE)

    def step():
        optimizer.zero_grad()
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        with record_function("## backward ##"):
            loss.backward()
        optimizer.step()
        return loss.item()

    step()
    with both(folder, "training") as result:
        step()
        step()
    n = compared(result)
    backward = [c for c in calls(result["ours"]).values() if attributes(c)["fw_tid"]]
    if CUDA:
        assert len(named(result["ours"], THREAD)) > 1
    assert backward and all(attributes(c)["fw_parent"] for c in backward)
    return f"{n} calls equal PyTorch's, {len(backward)} of them backward"


@check
def compiled_step(folder):
    if not CUDA:
        raise Skip("needs a GPU")
    model = torch.compile(torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(),
                                              torch.nn.Linear(64, 64)).cuda())
    x = torch.randn(32, 64, device="cuda")
    model(x).sum().backward()
    with both(folder, "compiled") as result:
        model(x).sum().backward()
    return f"{compared(result)} calls equal PyTorch's"


@check
def collectives(folder):
    import torch.distributed as dist
    backend = "nccl" if CUDA else "gloo"
    with tempfile.TemporaryDirectory() as store:
        dist.init_process_group(backend, init_method=f"file://{store}/store", rank=0, world_size=1)
        x = torch.ones(8, device=DEVICE)
        dist.all_reduce(x)
        with both(folder, "collectives") as result:
            dist.all_reduce(x)
            dist.broadcast(x, 0)
            if CUDA:
                dist.all_to_all_single(torch.empty_like(x), x, [8], [8])
                dist.all_gather_into_tensor(torch.empty_like(x), x)
            dist.barrier()
        dist.destroy_process_group()
    comms = [n for n in result["ours"]["nodes"] if n["name"] == "record_param_comms"]
    groups = named(result["ours"], "## process_group:init ##")
    assert groups and json.loads(groups[-1]["inputs"]["values"][0])[0]["pg_name"] == "0"
    # Each observer's start adds one, and ours was not there for the other's. Gloo's work begins on threads
    # of its own, so its place among the others depends on who looks when.
    n = compared(result, ignored=["## process_group:init ##", "gloo:all_reduce", "gloo:broadcast",
                                  "gloo:barrier"])
    if CUDA:
        assert {attributes(n)["collective_name"] for n in comms} >= {"allreduce", "broadcast"}
    return f"{n} calls equal PyTorch's, {len(comms)} of them collectives"


@check
def killed(folder):
    path = folder / "killed.json"
    pid = os.fork()
    if pid == 0:
        observer = holotrace.ExecutionTraceObserver().register_callback(str(path))
        observer.start()
        for i in range(3):
            with record_function(f"## LOOP {i} ##"):
                torch.ones(3).add(1)
        os.kill(os.getpid(), 9)
    os.waitpid(pid, 0)
    assert not path.exists()
    part = str(path) + ".part"
    assert _library.recorder().ht_record_recover(os.fsencode(part), None, None) == 0
    trace = load(path)
    assert not problems(trace) and len(named(trace, "## LOOP ")) == 3
    os.unlink(part)


# ---- cost -----------------------------------------------------------------------------------------------

N_OPS = 5000


def ops(n=N_OPS):
    x = torch.ones(4, 4)
    for _ in range(n):
        x.add(x)


@torch.jit.script
def scripted_ops(x: torch.Tensor, n: int):
    y = x
    for _ in range(n):
        y = x.add(y)
    return y


def seconds_per_op(n_threads):
    """Of each thread's own processor time. Several threads run TorchScript, which needs no lock of Python."""
    spent = [0.0] * n_threads

    def body(i):
        start = time.thread_time()
        if n_threads == 1:
            ops()
        else:
            scripted_ops(torch.ones(4, 4), N_OPS)
        spent[i] = time.thread_time() - start

    workers = [threading.Thread(target=body, args=(i,)) for i in range(n_threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(spent) / n_threads / N_OPS


N_SLICES = 20


def cost_of(make, folder, n_threads):
    """What an observer adds to an operator: it is switched on and off by turns, and the medians of both are
    compared, for the speed of a machine that others use too changes while one looks. Also the bytes of the
    file per op, the recorder's statistics and the seconds of the finish."""
    path = folder / "cost.json"
    off, on = [], []
    observer = make().register_callback(str(path))
    for _ in range(N_SLICES):
        if make is TorchObserver:
            # Registered, it costs something also when it is stopped.
            observer.unregister_callback()
        off.append(seconds_per_op(n_threads))
        if make is TorchObserver:
            observer = make().register_callback(str(path))
        observer.start()
        on.append(seconds_per_op(n_threads))
        observer.stop()
    stats = _library.stats() if make is not TorchObserver else None
    start = time.process_time()
    observer.unregister_callback()
    finish = time.process_time() - start
    n_nodes = sum(1 for node in load(path)["nodes"] if node["name"] == "aten::add")
    size = path.stat().st_size / n_nodes
    path.unlink()
    none = statistics.median(off)
    return none, statistics.median(on) - none, size, stats, finish


@check
def overhead(folder):
    lines, over = [], []
    for n_threads in (1, 8):
        seconds_per_op(n_threads)
        _, theirs, size, _, _ = cost_of(TorchObserver, folder, n_threads)
        none, ours, file_size, stats, finish = cost_of(holotrace.ExecutionTraceObserver, folder, n_threads)
        per_op, rate = stats.n_bytes / stats.n_calls, stats.n_calls / finish
        lines.append(
            f"\n    {n_threads} threads: none {none * 1e6:.2f} us/op; PyTorch +{theirs * 1e6:.2f} us, "
            f"{size:.0f} bytes; ours +{ours * 1e6:.2f} us, {per_op:.0f} bytes before the finish, "
            f"{file_size:.0f} after; finish {rate * 1e-6:.2f} million nodes/s")
        # slow hosts double both: there it is what PyTorch's own observer adds that counts
        over += [n_threads] * (ours > max(1.0e-6, theirs / 12) or per_op > 200 or rate < 1e6)
        assert stats.n_lost == 0
    assert not over, "".join(lines)
    return "".join(lines)


def run_one(name, folder):
    """Run one check in this process; the exit status says how it went."""
    try:
        said = next(run for run in CHECKS if run.__name__ == name)(folder)
    except Skip as reason:
        print(f"skipped {name}: {reason}", flush=True)
        return SKIPPED
    except Exception:
        print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
        return 1
    print(f"ok      {name}" + (f": {said}" if said else ""), flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", help="checks whose name holds this")
    parser.add_argument("--here", metavar="NAME", help="one check, in this process")
    parser.add_argument("folder", nargs="?", help="where files go; else they are removed")
    args = parser.parse_args()
    if args.here:
        sys.exit(run_one(args.here, pathlib.Path(args.folder)))
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name() if CUDA else 'no GPU'}, "
          f"{os.cpu_count()} CPUs", flush=True)
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(args.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for run in CHECKS:
            if args.only and args.only not in run.__name__:
                continue
            # Each in a process of its own: one that dies is one that failed.
            status = subprocess.run([sys.executable, __file__, "--here", run.__name__,
                                     folder]).returncode
            if status not in (0, 1, SKIPPED):
                print(f"FAILED  {run.__name__}: exit {status}", flush=True)
            results.append(status)
    skipped, passed = results.count(SKIPPED), results.count(0)
    failed = len(results) - skipped - passed
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
