# SPDX-License-Identifier: Apache-2.0
"""The summary says what the other verbs say, its hints can be followed, and it names what was planted."""
import gzip
import json
import shlex
import statistics

import pytest

import support
from tiny import EXAMPLES, rows

RUNS = ["cpu", "ddp", "graph", "straggler", "train"]


def lines(*args):
    return {row["topic"]: row for row in rows("summary", *args, "--quiet")}


def chosen_steps(run):
    """Those of the default."""
    return sorted({int(row["step"]) for row in rows("steps", run, "--quiet")})


def as_list(steps):
    return ",".join(map(str, steps))


@pytest.mark.parametrize("name", RUNS)
def test_ten_lines_that_can_be_followed(name):
    run = EXAMPLES / name
    found = rows("summary", run, "--quiet")
    missing = {"cpu"}  # no GPU activity, which is said first
    assert [row["kind"] for row in found][0] == ("missing" if name in missing else "step-time")
    efficiency = [row["kind"] for row in found].count("efficiency")
    assert efficiency == (name not in missing)
    assert len(found) == 10 + (name in missing) + efficiency
    known = {}
    for row in found:
        done = support.run(*shlex.split(row["next"]), run, "--format", "csv", "--quiet")
        assert done.returncode == 0, (row["next"], done.stderr)
        for event in filter(None, (row["evidence"] or "").split(", ")):
            rank, index = map(int, event.split(":"))
            if rank not in known:
                known[rank] = {int(r["index"]) for r in rows("events", run, "--rank", str(rank), "--quiet",
                                                             "--columns", "index", "--top", "0")}
            assert index in known[rank], (row["topic"], event)


@pytest.mark.parametrize("name", RUNS)
def test_agrees_with_the_verbs(name):
    run, said = EXAMPLES / name, lines(EXAMPLES / name)
    steps = as_list(chosen_steps(run))
    times = {}
    for r in rows("steps", run, "--quiet"):
        if r["part"] != "first":
            times[r["step"]] = max(times.get(r["step"], 0), int(r["step_time_ns"]))
    assert int(said["step time"]["value_ns"]) == int(statistics.median(times.values()))
    gpus = rows("steps", run, "--view", "gpu", "--step", steps, "--quiet")
    if gpus:
        busy, window = (sum(int(r[key]) for r in gpus) for key in ("busy_ns", "window_ns"))
        assert float(said["GPU"]["share"]) == pytest.approx(busy / window)
    path = rows("critical-path", run, "--across", "--step", steps, "--quiet")
    by_bound, whole = {}, 0
    for r in path:
        # what the device did before the recording is no part of a step
        if r["bound_by"] != "queued_before_recording":
            by_bound[r["bound_by"]] = by_bound.get(r["bound_by"], 0) + int(r["duration_ns"])
            whole += int(r["duration_ns"])
    candidates = [r for r in rows("stragglers", run, "--quiet") if r["candidate"] == "true"]
    if not candidates:
        launch = [key for key in by_bound if key.endswith("_overhead")]
        by_bound["launch"] = sum(by_bound.pop(key) for key in launch)
        assert float(said["bound by"]["share"]) == pytest.approx(max(by_bound.values()) / whole)
    else:
        assert f"waiting for rank {candidates[0]['rank']}" in said["bound by"]["finding"]
        assert said["slow rank"]["evidence"] == f"{candidates[0]['rank']}:{candidates[0]['cause_row']}"
    kernels = {}
    for r in rows("kernels", run, "--quiet", "--step", steps) if gpus else []:
        kernels[r["name"]] = kernels.get(r["name"], 0) + int(r["total_ns"])
    assert bool(kernels) == (said["kernels"]["value_ns"] not in (None, ""))


def test_head_of_the_report():
    text = support.output("report", EXAMPLES / "straggler", "--format", "md").decode()
    assert text.index("waiting for rank 2") < text.index("Health")


# ---- what was planted ----

def load(path):
    return json.loads(support.trace_bytes(path))


def write(trace, path):
    with gzip.open(path, "wt", compresslevel=1) as file:
        json.dump(trace, file)
    return path


def insert(trace, when, length):
    """Time stands still for a while (us): what is open goes on, what comes later comes so much later."""
    for event in trace["traceEvents"]:
        if "ts" not in event or event["ph"] == "M":
            continue
        if event["ts"] >= when:
            event["ts"] += length
        elif event.get("dur", 0) and event["ts"] + event["dur"] > when:
            event["dur"] += length


def spans(trace, text, cat=None):
    return sorted((e["ts"], e["dur"]) for e in trace["traceEvents"]
                  if e.get("ph") == "X" and text in e.get("name", "") and (not cat or e.get("cat") == cat))


def test_sleep_in_the_data_loader(tmp_path):
    trace = load(next((EXAMPLES / "train").glob("*.json.gz")))
    for ts, dur in reversed(spans(trace, "enumerate(DataLoader)", "user_annotation")):
        insert(trace, ts + dur / 2, 300_000)
    said = lines(write(trace, tmp_path / "slow.json.gz"))
    assert said["bound by"]["finding"].startswith("data loading:")
    assert 300e6 * 0.95 <= int(said["bound by"]["saves_ns"]) <= 300e6 * 1.05


def test_slow_kernel(tmp_path):
    trace = load(next((EXAMPLES / "train").glob("*.json.gz")))
    kernels = [e for e in trace["traceEvents"] if e.get("cat") == "kernel" and "layer_norm" in e["name"]]
    name = kernels[0]["name"]
    # the device falls behind by 20 ms with each of them, while the host goes on
    behind = 0
    device = [e for e in trace["traceEvents"] if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation")]
    for event in sorted(device, key=lambda e: e["ts"]):
        event["ts"] += behind
        if event["name"] == name:
            event["dur"] += 20_000
            behind += 20_000
    said = lines(write(trace, tmp_path / "slow.json.gz"))
    assert said["bound by"]["finding"].startswith("compute:")
    assert "layer_norm" in said["bound by"]["finding"] and "layer_norm" in said["kernels"]["finding"]
