# SPDX-License-Identifier: Apache-2.0
"""Every analysis answers on traces of every vendor, on CPU-only ones, and on one rank."""
import csv
import io
import json

import pytest

import support

STEP = {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 10, "tid": 10, "ts": 0, "dur": 100}
OP = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 10, "tid": 10, "ts": 1, "dur": 20,
      "args": {"External id": 1}}


def launched(cat, call, work_cat, name, **work_args):
    """An operator that launches one piece of work: 10 us from 30 on."""
    return [STEP, OP,
            {"ph": "X", "cat": cat, "name": call, "pid": 10, "tid": 10, "ts": 5, "dur": 3,
             "args": {"correlation": 7, "External id": 1}},
            {"ph": "X", "cat": work_cat, "name": name, "pid": 0, "tid": 3, "ts": 30, "dur": 10,
             "args": {"correlation": 7, "External id": 1, "device": 0, **work_args}}]


VENDORS = {
    "cuda": launched("cuda_runtime", "cudaLaunchKernel", "kernel", "gemm", stream=3),
    "driver": launched("cuda_driver", "cuLaunchKernelEx", "kernel", "triton_fused", stream=3),
    "rocm": launched("cuda_runtime", "hipLaunchKernel", "kernel", "Cijk_gemm", stream=0),
    "xpu": launched("xpu_runtime", "urEnqueueKernelLaunch", "kernel", "gemm_kernel", **{"sycl queue": "0x1"}),
    "mtia": launched("mtia_runtime", "runFunction - job_prep_and_submit_for_execution", "mtia_ccp_events", "fba_op",
                     stream=3),
    "cpu": [STEP, OP],
    "empty": [],
}


def analyses():
    verbs = json.loads(support.output("help", "--json"))["verbs"]
    return [v["name"] for v in verbs if v["kind"] == "analysis" and v.get("n_sets", 1) == 1]


def rows(*args):
    return list(csv.DictReader(io.StringIO(support.output(*args, "--no-cache", "--format", "csv").decode())))


@pytest.fixture(params=sorted(VENDORS))
def trace(request, tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": VENDORS[request.param]}))
    return request.param, path


def test_every_analysis_answers(trace):
    vendor, path = trace
    for name in analyses():
        for compat in ([], ["--hta-compat"]):
            done = support.run(name, path, "--no-cache", "--format", "csv", *compat)
            assert done.returncode == 0, (vendor, name, compat, done.stderr)
            assert done.stdout.count(b"\n") >= 1, (vendor, name)


def test_work_is_found_by_category(trace):
    vendor, path = trace
    found = rows("temporal-breakdown", path)
    if vendor in ("cpu", "empty"):
        assert [r["compute_ns"] for r in found] in ([], ["0"], [""])
        return
    assert [(r["span_ns"], r["compute_ns"], r["idle_ns"]) for r in found] == [("10000", "10000", "0")]
    launches = rows("launch-stats", path, "--view", "all")
    assert [(r["cpu_ns"], r["gpu_ns"], r["launch_delay_ns"]) for r in launches] == [("3000", "10000", "22000")]
