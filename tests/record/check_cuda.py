# SPDX-License-Identifier: Apache-2.0
"""What the recordings of cuda_work.cu must hold: check_cuda.py TIMELINE [EXECUTION_TRACE]."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from et_rules import attributes, is_special, load, problems  # noqa: E402


def main():
    trace = json.loads(pathlib.Path(sys.argv[1]).read_text())
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    cats = {}
    for event in events:
        cats.setdefault(event["cat"], []).append(event)
    print({cat: len(found) for cat, found in sorted(cats.items())})
    assert trace["deviceProperties"] and "NVIDIA" in trace["deviceProperties"][0]["name"]
    kernels = cats["kernel"]
    names = sorted(e["name"] for e in kernels)
    assert len(kernels) == 12 and names[0].startswith("scale(") and "shift<float>" in names[-1], names
    for event in kernels:
        assert event["args"]["grid"] == [4096, 1, 1] and event["args"]["block"] == [256, 1, 1]
        assert event["dur"] > 0
    copies = cats["gpu_memcpy"]
    assert sorted(e["name"] for e in copies) == ["Memcpy DtoH (Device -> Pinned)"] * 3 + \
        ["Memcpy HtoD (Pinned -> Device)"] * 3
    assert {e["args"]["bytes"] for e in copies} == {4 << 20}
    assert len(cats["gpu_memset"]) == 3
    launches = {e["args"]["correlation"]: e for e in cats["cuda_runtime"] + cats.get("cuda_driver", [])}
    for event in kernels + copies + cats["gpu_memset"]:
        launch = launches[event["args"]["correlation"]]
        assert launch["ts"] <= event["ts"], (launch, event)
        assert launch["args"]["External id"] == event["args"]["External id"]
    annotations = {e["args"]["External id"]: e for e in cats["user_annotation"] + cats.get("cpu_op", [])}
    for event in kernels:
        around = annotations[event["args"]["External id"]]
        launch = launches[event["args"]["correlation"]]
        assert around["ts"] <= launch["ts"] <= around["ts"] + around["dur"] and around["tid"] == launch["tid"]
    waits = [e for e in cats["cuda_sync"] if e["name"] == "Stream Wait Event"]
    assert len(waits) == 3, [e["name"] for e in cats["cuda_sync"]]
    stream_of = {e["args"]["correlation"]: e["args"]["stream"] for e in kernels}
    first = kernels[0]["args"]["stream"]
    assert {e["args"]["wait_on_stream"] for e in waits} == {first}, (waits, stream_of)
    for event in waits:
        record = launches[event["args"]["wait_on_cuda_event_record_corr_id"]]
        assert record["name"].startswith("cudaEventRecord"), record
    flows = [e for e in trace["traceEvents"] if e["ph"] in "sf"]
    assert sorted(e["id"] for e in flows if e["ph"] == "s") == sorted(
        e["id"] for e in flows if e["ph"] == "f") == sorted(
        e["args"]["correlation"] for e in kernels + copies + cats["gpu_memset"])
    assert cats["gpu_user_annotation"]
    if len(sys.argv) > 2:
        et = load(sys.argv[2])
        assert not problems(et), problems(et)[:3]
        ids = {attributes(n)["rf_id"] for n in et["nodes"] if not is_special(n)}
        assert ids == set(annotations)
        assert {annotations[e["args"]["External id"]]["name"] for e in kernels} == {"op::scale", "op::shift"}
    print("ok")


main()
