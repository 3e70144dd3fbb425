# SPDX-License-Identifier: Apache-2.0
"""The recorder against a stream of fake operators: every scenario of PyTorch's own test of its observer,
and what threads, forks, exits, kills and limits do to a recording."""
import json
import pathlib
import re
import resource
import shutil
import signal
import subprocess

import pytest
import support
from et_rules import PROCESS, THREAD, attributes, is_special, load, problems

PROGRAM = pathlib.Path(support.EXE).with_name("fake_ops")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="built without the recorder")


def run(scenario, path, *more, status=0):
    done = subprocess.run([PROGRAM, scenario, path, *more], capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr + done.stdout
    return done.stdout


def record(tmp_path, scenario, name="t.et.json"):
    """The checked trace of a scenario; nothing else is left behind."""
    run(scenario, tmp_path / name)
    trace = load(tmp_path / name)
    assert problems(trace) == []
    assert [p.name for p in tmp_path.glob("*.part*")] == []
    return trace


def names(trace):
    return [node["name"] for node in sorted(trace["nodes"], key=lambda node: node["id"])]


def loops(trace):
    return [int(name.split()[2]) for name in names(trace) if name.startswith("## LOOP ")]


def by_name(trace, name):
    return [node for node in trace["nodes"] if node["name"] == name]


def parent(trace, node):
    return next(other for other in trace["nodes"] if other["id"] == node["ctrl_deps"])


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_alone(tmp_path, name):
    trace = record(tmp_path, "alone", name)
    assert (tmp_path / name).read_bytes()[:2] == (b"\x1f\x8b" if name.endswith("gz") else b"{\n")
    assert loops(trace) == [0, 1, 2, 3, 4]
    [test_2] = by_name(trace, "## TEST 2 ##")
    assert len(test_2["inputs"]["values"][3][0]) == 6
    assert test_2["inputs"]["types"] == ["Bool", "Double", "String", "GenericList[Tensor(float)]"]
    assert test_2["inputs"]["values"][:3] == [True, 2.5, "quote \" back \\ line \n \u00e9 \ufffd"]
    # 3 operators in each loop, the first of them with one inside
    assert len(trace["nodes"]) == 5 * 4 + 1 + 2
    assert len(by_name(trace, THREAD)) == 1
    for node in by_name(trace, "aten::empty"):
        assert parent(trace, node)["name"] == "aten::add"


def test_ids_are_given_as_pytorch_gives_them(tmp_path):
    """Node, then the tensors and memory of its inputs, at its begin; those of outputs at its end."""
    trace = record(tmp_path, "alone")
    first = {node["id"]: node for node in trace["nodes"] if node["id"] < 13}
    assert {i: node["name"] for i, node in first.items()} == {
        1: PROCESS, 2: THREAD, 3: "## LOOP 0 ##", 4: "aten::add", 7: "aten::empty", 10: "aten::add"}
    assert first[4]["inputs"]["values"] == [[5, 6, 0, 16, 4, "cpu"], [5, 6, 0, 16, 4, "cpu"], 1]
    assert first[7]["outputs"]["values"] == [[8, 9, 0, 16, 4, "cpu"]]
    assert first[10]["outputs"]["values"] == [[11, 12, 0, 16, 4, "cpu"]]
    order = [node["name"] for node in trace["nodes"][:4]]
    assert order == [THREAD, "aten::empty", "aten::add", "aten::add"]


def test_schedule(tmp_path):
    trace = record(tmp_path, "schedule")
    assert loops(trace) == [5, 6]
    steps = [name for name in names(trace) if name.startswith("ProfilerStep")]
    assert steps == ["ProfilerStep#5", "ProfilerStep#6"]
    for node in trace["nodes"]:
        if node["name"].startswith("## LOOP"):
            assert parent(trace, node)["name"].startswith("ProfilerStep#")


def test_schedule_with_cycles(tmp_path):
    trace = record(tmp_path, "schedule-repeat")
    assert loops(trace) == [1, 2, 4]
    assert len(by_name(trace, THREAD)) == 1


def test_start_stop(tmp_path):
    assert loops(record(tmp_path, "start-stop")) == [3, 4, 8]


def test_repeat(tmp_path):
    run("repeat", tmp_path / "t")
    traces = [load(tmp_path / f"t.{i}.json") for i in range(4)]
    assert [problems(trace) for trace in traces] == [[]] * 4
    assert [loops(trace) for trace in traces] == [[0], [1], [2], [3]]
    assert [by_name(trace, PROCESS)[0]["id"] for trace in traces] == [1] * 4
    ids = [[attributes(n)["rf_id"] for n in t["nodes"] if not is_special(n)] for t in traces]
    assert len({i for one in ids for i in one}) == sum(map(len, ids))


def test_no_capture(tmp_path):
    trace = record(tmp_path, "no-capture")
    assert [node["name"] for node in trace["nodes"]] == [PROCESS]


def test_structs_of_other_versions(tmp_path):
    """What the recorder does not know is refused; it was cut off."""
    assert names(record(tmp_path, "sizes"))[2:] == ["newer"]


def test_nested_windows(tmp_path):
    assert loops(record(tmp_path, "nested")) == [0, 2]


def test_edges(tmp_path):
    trace = record(tmp_path, "edges")
    assert loops(trace) == [0, 1, 2, 3]
    assert not by_name(trace, "before") and not by_name(trace, "cut")
    parents = {int(n["name"].split()[2]): parent(trace, n)["name"] for n in trace["nodes"]
               if n["name"].startswith("## LOOP")}
    assert parents == {0: THREAD, 1: THREAD, 2: THREAD, 3: "inner"}
    [inner] = by_name(trace, "inner")
    assert parent(trace, inner)["name"] == "outer"


def test_threads(tmp_path):
    run("threads", tmp_path / "t.json", tmp_path / "t.trace.json")
    trace = load(tmp_path / "t.json")
    assert problems(trace) == []
    assert sorted(loops(trace)) == sorted(list(range(800)) + [0])
    assert len(by_name(trace, THREAD)) == 9
    [over] = by_name(trace, "handed over")
    assert parent(trace, over)["name"] == THREAD
    # it had ended when the main thread went on
    last = max(by_name(trace, "## LOOP 0 ##"), key=lambda node: node["id"])
    assert parent(trace, last)["name"] == THREAD
    events = json.loads((tmp_path / "t.trace.json").read_text())["traceEvents"]
    calls = [e for e in events if e["ph"] == "X"]
    assert {e["args"]["Record function id"] for e in calls} == {
        attributes(n)["rf_id"] for n in trace["nodes"] if not is_special(n)}
    meta = [e for e in events if e["name"] == "thread_name"]
    assert sorted(re.sub(r"\d+", "N", e["args"]["name"]) for e in meta) == sorted(
        ["thread N (fake_ops)", "thread N (finisher)"] + ["thread N (worker)"] * 7)
    assert {e["tid"] for e in calls} == {e["tid"] for e in meta}


def test_a_call_ends_on_another_thread(tmp_path):
    trace = record(tmp_path, "hand_over")
    assert problems(trace) == []
    parents = {n["name"]: parent(trace, n)["name"] for n in trace["nodes"] if n["name"].startswith("## LOOP")}
    assert parents == {"## LOOP 0 ##": "handed over", "## LOOP 1 ##": THREAD}


def test_a_backward_node_has_the_node_that_waits_for_it(tmp_path):
    """The call that waits ends after the nodes of the other thread, though nothing of its own thread lies between."""
    trace = record(tmp_path, "backward")
    assert problems(trace) == []
    waiting = [n["id"] for n in trace["nodes"] if n["name"] == "loss.backward"]
    found = [attributes(n)["fw_parent"] for n in trace["nodes"] if n["name"] == "MmBackward0"]
    assert found == 3 * waiting


def test_threads_in_a_storm_of_windows(tmp_path):
    trace = record(tmp_path, "storm")
    assert loops(trace) == [0]


def test_fork(tmp_path):
    trace = record(tmp_path, "fork")
    assert loops(trace) == [0]
    child = load(tmp_path / "t.et.json.child.json")
    assert problems(child) == [] and loops(child) == [8]
    assert child["pid"] != trace["pid"]


def test_exit_without_stop(tmp_path):
    assert loops(record(tmp_path, "exit")) == [0]


def test_kill_and_recover(tmp_path):
    path = tmp_path / "t.json"
    run("killed", path, tmp_path / "t.trace.json", status=-signal.SIGKILL)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.json.part"]
    run("recover", path)
    trace = load(path)
    assert problems(trace) == []
    assert loops(trace) == list(range(1001))
    assert not by_name(trace, "open when killed")
    assert (tmp_path / "t.trace.json").exists()


def test_recover_what_is_damaged(tmp_path):
    """Cut or altered anywhere, a .part file gives a correct trace or a clear refusal."""
    path = tmp_path / "t.json"
    part = tmp_path / "t.json.part"
    run("killed", path, status=-signal.SIGKILL)
    whole = part.read_bytes()
    for i in range(0, 60, 1 if support.LONG else 5):
        data = bytearray(whole[:len(whole) * (i + 1) // 60] if i % 2 else whole)
        for j in range(0, i * 7 % 40):
            data[(i * 7919 + j * 104729) % len(data)] ^= 1 << j % 8
        part.write_bytes(data)
        path.unlink(missing_ok=True)
        done = subprocess.run([PROGRAM, "recover", path], capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1), done
        if done.returncode == 1:
            assert str(part) in done.stdout
        elif path.exists():
            load(path)
    part.write_bytes(b"not a recording" * 1000)
    assert "not an unfinished recording" in run("recover", path, status=1)


def test_values_of_every_kind(tmp_path):
    run("kinds", tmp_path / "t.json", tmp_path / "t.trace.json")
    text = (tmp_path / "t.json").read_text()
    trace = load(tmp_path / "t.json")
    assert problems(trace) == []
    [node] = [n for n in trace["nodes"] if not is_special(n)]
    values, types = node["inputs"]["values"], node["inputs"]["types"]
    assert node["name"] == 'a "name"\n'
    assert values[0] == "<None>" and types[0] == "None"
    assert values[1] == [-2**63, 2**63 - 1, 1e300, 0.0, "inf", "-inf", "nan"]
    assert "0.000000,\"inf\"" in text
    assert len(values[2]) == 4097
    assert types[1] == "Tuple[Int,Int,Double,Double,Double,Double,Double]"
    assert types[3] == "GenericList[Tensor(float),Tensor(nullptr (uninitialized))]"
    assert values[3][0][1] == 0 and values[3][1][1:] == [0, 0, 0, 0, ""]
    assert values[4:7] == [[], "cuda:1", "<Generator>"]
    assert types[4:7] == ["GenericList[]", "Device", "Generator"]
    assert values[7][2:] == [3, 6, 8, "cuda:1"] and types[7] == "Tensor(c10::complex<float>)"
    assert node["inputs"]["shapes"][7] == [2, 3] and node["inputs"]["strides"][7] == [1, 2]
    attrs = attributes(node)
    thread = by_name(trace, THREAD)[0]["id"]
    assert {key: attrs[key] for key in attrs if key != "fw_parent"} == {
        "rf_id": 123456789, "seq_id": 7, "scope": 1, "tid": 5, "fw_tid": 5,
        "op_schema": "x::y(int a) -> ()", "kernel_backend": "triton", "kernel_file": "k.py",
        "tensor_range": '{"0":[1,4]}', "collective_name": "allreduce", "in_msg_nelems": 42}
    assert attrs["fw_parent"] == thread
    [event] = [e for e in json.loads((tmp_path / "t.trace.json").read_text())["traceEvents"]
               if e["ph"] == "X"]
    assert event["args"]["Sequence number"] == 7 and event["args"]["Fwd thread id"] == 5
    assert event["args"]["Input type"][3:] == ["TensorList", "ScalarList", "", "", "c10::complex<float>"]
    assert event["args"]["Input Dims"][7] == [2, 3] and event["args"]["Concrete Inputs"][7] == ""


def test_new_ids_for_freed_addresses(tmp_path):
    trace = record(tmp_path, "freed")
    one, two = [n["inputs"]["values"][0] for n in by_name(trace, "aten::add")]
    assert one[0] != two[0] and one[1] == two[1]


def test_limit(tmp_path):
    n_calls, n_lost = map(int, run("limit", tmp_path / "t.json").split())
    trace = load(tmp_path / "t.json")
    assert problems(trace) == []
    assert 0 < len(trace["nodes"]) <= n_calls + 2 and n_lost > 0


def full_disk(tmp_path, program, size):
    """A command that runs a program with a disk of that size at tmp_path, in a name space of its own."""
    command = f"mount -t tmpfs -o size={size} none {tmp_path} && exec {program}"
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", command]


@pytest.mark.alone
def test_full_disk(tmp_path):
    """Records are lost and counted, and the program goes on about as fast as before."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not shutil.which("unshare") or subprocess.run(full_disk(disk, "true", "64k"), capture_output=True).returncode:
        pytest.skip("no disk of a chosen size can be mounted here")
    free_ns, n_lost, failed = map(int, run("full", tmp_path / "t.json").split())
    assert n_lost == 0 and failed == 0
    said = subprocess.run(full_disk(disk, f"{PROGRAM} full {disk}/t.json", "2m"), capture_output=True, text=True, timeout=120)
    assert said.returncode == 0, said.stderr
    full_ns, n_lost, failed = map(int, said.stdout.split())
    assert n_lost > 5000
    assert full_ns < 2 * free_ns + 1000, (full_ns, free_ns)


@pytest.mark.parametrize("limit", [4096, 1 << 20, 3 << 20])
def test_a_limit_on_files_does_not_end_the_program(tmp_path, limit):
    """The kernel sends SIGXFSZ to who writes beyond it, which ends programs that do not expect it."""

    def low():
        support.default_signals()
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run([PROGRAM, "full", tmp_path / "t.json"], capture_output=True, text=True, timeout=120, preexec_fn=low)
    if "register" in done.stderr:  # not even its head fits
        assert limit == 4096 and done.returncode > 0
        return
    assert done.returncode == 0, done.stderr
    _, n_lost, failed = map(int, done.stdout.split())
    assert n_lost > 0 or failed != 0


def test_nothing_is_done_with_nothing(tmp_path):
    trace = record(tmp_path, "nothing")
    assert loops(trace) == [0]


def test_a_signal_handler_may_ask(tmp_path):
    n = int(run("signals", tmp_path / "t.json"))
    trace = load(tmp_path / "t.json")
    assert problems(trace) == [] and loops(trace) == list(range(n))


def test_large_record(tmp_path):
    trace = record(tmp_path, "large")
    assert loops(trace) == [0, 1]
    assert by_name(trace, "large")[0]["inputs"]["values"] == ["x" * (3 << 20)]


def test_timeline_is_read_by_the_analyses(tmp_path):
    run("schedule", tmp_path / "t.json", tmp_path / "run.json")
    done = support.run("health", tmp_path / "run.json")
    assert done.returncode == 0, done.stderr
    events = [e for e in json.loads((tmp_path / "run.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert {e["cat"] for e in events} == {"user_annotation", "cpu_op"}
    ends = {e["args"]["External id"]: (e["ts"], e["ts"] + e["dur"]) for e in events}
    trace = load(tmp_path / "t.json")
    ids = {n["id"]: attributes(n)["rf_id"] for n in trace["nodes"]}
    for node in trace["nodes"]:
        if not is_special(node) and ids[node["ctrl_deps"]]:
            child, outer = ends[ids[node["id"]]], ends[ids[node["ctrl_deps"]]]
            assert outer[0] <= child[0] <= child[1] <= outer[1]


# ---- the GPU side, from a CUPTI that is none ------------------------------------------------------------

@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    """(execution trace, timeline, events by category) of two steps of GPU work."""
    folder = tmp_path_factory.mktemp("cuda")
    run("cuda", folder / "t.et.json", folder / "t.json")
    timeline = json.loads((folder / "t.json").read_text())
    by_category = {}
    for event in timeline["traceEvents"]:
        if event["ph"] == "X":
            by_category.setdefault(event["cat"], []).append(event)
    return load(folder / "t.et.json"), timeline, by_category, folder / "t.json"


def test_gpu_events_are_all_there(cuda):
    trace, timeline, events, _ = cuda
    assert problems(trace) == []
    assert timeline["distributedInfo"] == {"backend": "", "rank": 2, "world_size": 4}
    assert {cat: len(found) for cat, found in events.items()} == {
        "user_annotation": 2, "cpu_op": 2, "cuda_runtime": 14, "kernel": 4, "gpu_memcpy": 2,
        "gpu_memset": 2, "cuda_sync": 4, "gpu_user_annotation": 4}
    assert sorted({e["name"] for e in events["cuda_runtime"]}) == [
        "cudaEventRecord", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync",
        "cudaStreamSynchronize", "cudaStreamWaitEvent"]


def test_gpu_work_keeps_its_facts(cuda):
    _, _, events, _ = cuda
    kernel = events["kernel"][0]
    assert kernel["name"] == "scale(float*, float)" and kernel["dur"] == 7.0
    assert (kernel["pid"], kernel["tid"]) == (1, 7)
    args = dict(kernel["args"])
    del args["External id"], args["correlation"]
    assert args == {"device": 1, "context": 3, "stream": 7, "registers per thread": 32,
                    "shared memory": 1040, "grid": [4, 1, 1], "block": [128, 1, 1]}
    assert events["kernel"][1]["name"] == "plain_name"
    copy = events["gpu_memcpy"][0]
    assert copy["name"] == "Memcpy HtoD (Pinned -> Device)"
    assert copy["args"]["bytes"] == 4096 and copy["args"]["memory bandwidth (GB/s)"] == 4096 / 500
    assert events["gpu_memset"][0]["name"] == "Memset (Device)"


def test_gpu_work_knows_who_launched_it(cuda):
    _, timeline, events, _ = cuda
    ids = {e["args"]["External id"]: e["name"] for e in events["user_annotation"] + events["cpu_op"]}
    who = {(e["name"], ids.get(e["args"]["External id"])) for cat in ("kernel", "gpu_memcpy", "gpu_memset")
           for e in events[cat]}
    assert who == {("scale(float*, float)", "op"), ("plain_name", "step"),
                   ("Memcpy HtoD (Pinned -> Device)", "step"), ("Memset (Device)", None)}
    launches = {e["args"]["correlation"]: e for e in events["cuda_runtime"]}
    for event in events["kernel"] + events["gpu_memcpy"] + events["gpu_memset"]:
        launch = launches[event["args"]["correlation"]]
        assert launch["args"]["External id"] == event["args"]["External id"] and launch["ts"] < event["ts"]
    flows = [e for e in timeline["traceEvents"] if e.get("cat") == "ac2g"]
    assert sorted(e["id"] for e in flows if e["ph"] == "s") == sorted(
        e["id"] for e in flows if e["ph"] == "f") and len(flows) == 16


def test_annotations_reach_over_their_work_on_each_stream(cuda):
    _, _, events, _ = cuda
    launches = {e["args"]["correlation"]: e["ts"] for e in events["cuda_runtime"]}
    for step in events["user_annotation"]:
        mine = [e for e in events["gpu_user_annotation"]
                if e["args"]["External id"] == step["args"]["External id"]]
        assert [(e["name"], e["tid"]) for e in mine] == [("step", 7), ("step", 20)]
        for shadow in mine:
            work = [e for e in events["kernel"] + events["gpu_memcpy"] if e["tid"] == shadow["tid"]
                    and step["ts"] <= launches[e["args"]["correlation"]] <= step["ts"] + step["dur"]]
            assert shadow["ts"] == min(e["ts"] for e in work)
            assert shadow["dur"] == pytest.approx(max(e["ts"] + e["dur"] for e in work) - shadow["ts"], abs=1e-3)


def test_synchronisation_knows_what_it_waits_for(cuda):
    _, _, events, _ = cuda
    waits = [e for e in events["cuda_sync"] if e["name"] == "Stream Wait Event"]
    records = sorted(e["args"]["correlation"] for e in events["cuda_runtime"]
                     if e["name"] == "cudaEventRecord")
    assert [e["args"]["wait_on_cuda_event_record_corr_id"] for e in waits] == records
    assert {e["args"]["wait_on_stream"] for e in waits} == {7}
    assert {(e["args"]["stream"], e["args"]["device"]) for e in events["cuda_sync"]} == {(20, 1)}


@pytest.mark.parametrize("verb", ["temporal-breakdown", "kernel-breakdown", "launch-stats",
                                  "kernel-annotations", "queue-length", "critical-path"])
def test_analyses_work_without_pytorch(cuda, verb):
    done = support.run(verb, "--format", "csv", cuda[3])
    assert done.returncode == 0 and len(done.stdout.splitlines()) > 1, done.stderr
