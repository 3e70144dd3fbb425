# SPDX-License-Identifier: Apache-2.0
"""What newer producers write beside slices: compute kernels and counters by numbers, who started GPU work, names of the machine's processes."""
import json

from pftrace import BEGIN, END, INSTANT, message, packet
from test_pftrace import CLEAR, NEED, convert, event, health, json_of, rows, thread, write

def interned(*pairs):
    return packet((10, 1), (13, CLEAR), (12, message(*pairs)))


def stage(ts, *pairs):
    return packet((8, ts), (10, 1), (13, NEED), (53, message(*pairs)))


def test_compute_kernels_and_who_started_them(tmp_path):
    """A call names the work that it started (field 3000): one launch of two kernels, as of a graph, and one that has a correlation."""
    launch = message((1, message((1, 8), (2, 2))), (2, message((1, 128), (2, 1), (3, 4))),
                     (3, message((1, 31), (4, 40))), (3, message((2, "note"), (6, "x"))), (3, message((2, "load"), (5, 0.5))),
                     (3, message((2, "text"), (7, 51))), (3, message((2, "low"), (3, -1))))
    path = write(
        tmp_path, thread(5, 613, 613, "main"),
        interned((1000, message((1, 11), (2, "_Z4gemm"), (3, "gemm(float*)"))), (1000, message((1, 12), (2, "relu"))),
                 (1001, message((1, 31), (2, "registers per thread"))), (24, message((1, 21), (2, "stream 7"))),
                 (29, message((1, 51), (2, "interned")))),
        event(100, BEGIN, 5, (23, "cudaGraphLaunch"), (22, "cuda_runtime"), (3000, message((1, 901), (1, 902)))), event(110, END, 5),
        event(120, BEGIN, 5, (23, "cudaLaunchKernel"), (22, "cuda_runtime"), (4, message((10, "correlation"), (4, 77))),
              (3000, message((1, 903)))), event(130, END, 5),
        stage(200, (1, 901), (2, 40), (11, 0), (13, 21), (19, 11), (21, launch)),
        stage(250, (1, 902), (2, 10), (11, 0), (13, 21), (19, 12)),
        stage(270, (1, 903), (2, 20), (11, 0), (13, 21), (19, 99)),
        stage(300, (1, 904), (2, 5), (11, 0), (13, 21), (17, "alone")),
        stage(310, (1, 905), (2, 5), (11, 0), (13, 21), (17, "Memcpy HtoD (Pinned -> Device)")))
    found = {e["name"]: e for e in json_of(path, tmp_path) if e["ph"] == "X"}
    assert found["gemm(float*)"]["args"] == {
        "grid": [8, 2, 1], "block": [128, 1, 4], "registers per thread": 40, "note": "x", "load": 0.5, "text": "interned", "low": -1,
        "correlation": 901, "device": 0, "stream": 21}
    assert found["relu"]["args"]["correlation"] == 901 == found["cudaGraphLaunch"]["args"]["correlation"]
    assert found["<iid 99>"]["args"]["correlation"] == 77 == found["cudaLaunchKernel"]["args"]["correlation"]
    assert "correlation" not in found["alone"]["args"]
    assert health(path)["unknown_iid"] == 1
    assert found["Memcpy HtoD (Pinned -> Device)"]["cat"] == "gpu_memcpy" and found["alone"]["cat"] == "kernel"
    launches = {r["name"]: r["launch"] for r in rows(path, "events", "--columns", "name,launch,kind", "--where", "kind = kernel")}
    calls = {r["name"]: r["index"] for r in rows(path, "events", "--columns", "name,index")}
    assert launches == {"gemm(float*)": calls["cudaGraphLaunch"], "relu": calls["cudaGraphLaunch"],
                        "<iid 99>": calls["cudaLaunchKernel"], "alone": ""}


def test_counters_by_the_number_of_their_descriptor(tmp_path):
    """Two GPUs count under the same ids; a descriptor that never came is said."""
    def specs(name):
        return message((1, message((1, 3), (2, name))))
    path = write(
        tmp_path, interned((47, message((1, 1), (2, specs("power")), (3, 0))), (47, message((1, 2), (2, specs("clock")), (3, 1)))),
        packet((8, 50), (10, 1), (13, NEED), (52, message((4, 1), (2, message((1, 3), (2, 70)))))),
        packet((8, 60), (10, 1), (13, NEED), (52, message((4, 2), (2, message((1, 3), (3, 1.5)))))),
        packet((8, 70), (10, 1), (13, NEED), (52, message((4, 9), (2, message((1, 8), (2, 1)))))))
    assert [(e["ph"], e["name"], e["pid"], e["args"]) for e in json_of(path, tmp_path)] == [
        ("C", "power", 0, {"value": 70}), ("C", "clock", 1, {"value": 1.5}), ("C", "GPU counter 8", 0, {"value": 1})]
    assert health(path)["unknown_iid"] == 1


def test_call_stacks_in_events(tmp_path):
    """The outermost frame first in the file, the innermost first in the arg; frames without a name are passed over."""
    frames = [(1, message((1, "main"), (2, "a.py"), (3, 7))), (1, message((2, "b.py"))), (1, message((1, "run")))]
    path = write(tmp_path, thread(5, 1, 1, "t"), event(10, INSTANT, 5, (23, "sample"), (55, message(*frames)), flags=0),
                 event(20, INSTANT, 5, (23, "deep"), (55, message(*((1, message((1, f"f{i}"))) for i in range(400)))), flags=0),
                 event(30, INSTANT, 5, (23, "none"), (55, message()), flags=0))
    found = {e["name"]: e.get("args", {}) for e in json_of(path, tmp_path) if e["ph"] == "i"}
    assert found["sample"] == {"Call stack": "run\nmain"}
    assert found["deep"]["Call stack"].split("\n") == [f"f{i}" for i in range(399, 143, -1)]
    assert found["none"] == {}


def test_names_of_the_machines_processes(tmp_path):
    """Only of what has events, and where no descriptor has a name; the first word of a command line is the program."""
    tree = message((1, message((1, 613), (3, "/usr/bin/python3"), (3, "train.py"))), (1, message((1, 700), (3, "other"))),
                   (2, message((1, 614), (2, "autograd"), (3, 613))), (2, message((1, 613), (2, "from the tree"), (3, 613))),
                   (2, message((1, 1), (2, "nobody's"), (3, 700))))
    path = write(tmp_path, packet((2, tree)), thread(5, 613, 613, "main"), packet((60, message((1, 6), (4, message((1, 613), (2, 614)))))),
                 event(10, INSTANT, 5, (23, "a"), flags=0), event(20, INSTANT, 6, (23, "b"), flags=0), packet((2, b"\x0a\xff")))
    written = convert(path, tmp_path / "t.json", "--partial")
    named = [(e["name"], e["pid"], e["tid"], e["args"]["name"])
             for e in json.loads(written.read_bytes())["traceEvents"] if e["ph"] == "M"]
    assert named == [("process_name", 613, 613, "/usr/bin/python3"), ("thread_name", 613, 613, "main"), ("thread_name", 613, 614, "autograd")]
    assert health(path)["packet_lost"] == 1 and "packet_unread" not in health(path)
