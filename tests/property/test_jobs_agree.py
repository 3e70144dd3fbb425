# SPDX-License-Identifier: Apache-2.0
"""Verbs that look at one job from different sides say the same: step time, idle and exposed time, matched calls, what a slow rank costs.

On the bundled runs and on simulated jobs (tests/oracle) of 8 to 64 ranks: data parallel with buckets, tensor parallel,
pipelines, experts, sharded weights, with slow ranks, clocks that are off, stalls at the ends of steps, recordings that are cut.
"""
import json
import pathlib
import statistics
import sys

import pytest

import support
from test_consistency import by, rows, runs, total

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import runs as simulated  # noqa: E402

#: kinds of simulated jobs, and whether every rank has all of it
KINDS = {"healthy": True, "buckets": True, "slow_node": True, "tensor_parallel": True, "pipeline_many": True, "pipeline_slow": True, "moe": True,
         "fsdp": True, "three_dimensions": True, "hybrid_shards": True, "many_ranks": True, "clocks_off": True, "checkpoint_of_one": True,
         "every_fourth": True, "late_start": True, "cut_slow": False, "missing_rank": False}


def findings(verb, run, *options):
    """{kind: row} with the values by name."""
    said = json.loads(support.output(verb, run, "--format", "json", *options))
    columns = [column["name"] for column in said["columns"]]
    found = [dict(zip(columns, cells)) for cells in said["rows"]]
    return {row.get("kind") or row["rule"]: row for row in found}


def job_steps(run, *options):
    """{step: time of the rank that takes longest}, by default of steps that all ranks have, without what is the first of a recording
    unless there is nothing else."""
    table = [r for r in rows("steps", run, *options) if r["step_time_ns"] is not None]
    steps = by([r for r in table if r["part"] != "first"] or table, "step")
    common = {step: of for step, of in steps.items() if options or len(of) == max(map(len, steps.values()))}
    return {step: max(int(r["step_time_ns"]) for r in of) for (step,), of in common.items()}


def check_step_time(run, summary, *options):
    """The summary's median is of the job's steps; the windows of a path have the same times."""
    steps = rows("steps", run, *options)
    if "step-time" not in summary or not steps or steps[0]["step"] is None:
        return
    times = list(job_steps(run, *options).values())
    assert summary["step-time"]["value_ns"] == pytest.approx(statistics.median(times), abs=1), (run, options)
    by_step = {key: of[0]["step_time_ns"] for key, of in by(rows("critical-path", run, *options), "rank", "step").items()}
    for r in steps:
        if (r["rank"], r["step"]) in by_step:
            assert by_step[r["rank"], r["step"]] == r["step_time_ns"], (r["rank"], r["step"])


def check_replay(run, *options):
    """The replay starts from recorded step times: their mean lies between those of the fastest rank and of the slowest."""
    for row in rows("what-if", run, *options)[:1]:
        usual = [r for r in rows("steps", run, *options) if r["step_time_ns"] is not None and r["part"] != "first"]
        means = [statistics.mean(int(r["step_time_ns"]) for r in of) for of in by(usual, "rank").values() if len(of) == int(row["steps"])]
        if means:
            assert 0.99 * min(means) <= float(row["mean_step_time_ns"]) <= 1.01 * max(means), (run, row)


def check_savings(run, summary, *options):
    """No edit of compute or communication that the replay knows saves more than the summary's upper bound for all of it."""
    items = json.loads(summary["savings"]["values"])["items"] if summary.get("savings", {}).get("state") == "found" else []
    most = {item["name"]: item["ns"] for item in items}
    if "compute" in most:   # a slow rank's kernels are what the others wait for
        most["compute"] += sum(ns for name, ns in most.items() if name.startswith("waiting for rank"))
    for row in rows("what-if", run, *options):
        part = "compute" if row["question"].startswith("20 % faster: ") and "nccl" not in row["question"] else \
            "communication transfer" if row["question"] == "communication twice as fast" else None
        if part in most:
            assert float(row["saved_ns"]) <= 1.1 * most[part] + 20_000, (row, most)


def check_exposed(run, *options):
    """Exposed communication of a device is one number."""
    temporal = by(rows("temporal-breakdown", run, *options), "rank", "device")
    overlap = by(rows("comm-overlap", run, *options), "rank", "device")
    for key, table in overlap.items():
        if key in temporal:
            assert total(table, "exposed_ns") == total(temporal[key], "exposed_ns"), key


def check_waiting(run, *options):
    """Waiting and transfer are all of the exposed time, in every table that has both."""
    for verb in ("temporal-breakdown", "comm-overlap"):
        for r in rows(verb, run, *options):
            if r["exposed_wait_ns"] is not None and r["exposed_transfer_ns"] is not None:
                assert int(r["exposed_wait_ns"]) + int(r["exposed_transfer_ns"]) == int(r["exposed_ns"]), (verb, r)


def check_slow_rank(run, summary, *options):
    """Who is slow, and by how much, is the same everywhere."""
    table = rows("stragglers", run, *options)
    found = sorted(int(r["rank"]) for r in table if r["candidate"] == "true")
    slow, advice = summary.get("slow-rank"), findings("advice", run, *options).get("slow-rank")
    if not slow:
        return
    assert (slow["state"] == "found") == bool(found), (slow["finding"], found)
    if found:
        cost = max(int(r["step_cost_ns"] or 0) for r in table)
        assert slow["value_ns"] == cost and (not advice or advice["cost_ns"] == cost), (slow["value_ns"], cost, advice)


def check_matches(run, n_calls, *options):
    """Where every rank has every call, none is without its counterparts."""
    said = support.output("collectives", run, *options).decode()
    assert "no counterpart" not in said and "not every call" not in said, said
    if n_calls is not None:
        assert total(rows("collectives", run, *options), "calls") == n_calls


def check_all(run, n_calls, *options):
    summary = findings("summary", run, *options)
    check_step_time(run, summary, *options)
    check_replay(run, *options)
    check_savings(run, summary, *options)
    check_exposed(run, *options)
    check_waiting(run, *options)
    check_slow_rank(run, summary, *options)
    if n_calls is not None:
        check_matches(run, n_calls, *options)


@pytest.mark.parametrize("options", [(), ("--step", "all")], ids=["default", "all"])
@pytest.mark.parametrize("run", runs(), ids=support.short)
def test_runs(run, options):
    check_all(run, None, *options)


@pytest.mark.parametrize("kind", KINDS)
def test_simulated(kind, tmp_path):
    run = simulated.make(kind, 1)
    run.job.write(tmp_path, **run.write)
    n_calls = sum(len(joint.members) for joint in run.job.joints.values()) if KINDS[kind] else None
    check_all(tmp_path, n_calls, "--step", "all")
    check_all(tmp_path, None)
