# SPDX-License-Identifier: Apache-2.0
"""Advice: what the TensorBoard plugin recommends for its sample, what is planted in ours, hints that can be followed."""
import os
import pathlib
import re
import shlex

import pytest

import support
from tiny import EXAMPLES, Tiny, rows

EXTRA = os.environ.get("HOLOTRACE_EXTRA_DATA")
RUNS = ["cpu", "ddp", "graph", "straggler", "train"]


def fired(*args):
    return {row["rule"]: row for row in rows("advice", *args, "--quiet")}


@pytest.mark.parametrize("name", RUNS)
def test_what_fires_can_be_followed(name):
    run, known = EXAMPLES / name, {}
    for row in rows("advice", run, "--quiet"):
        assert row["advice"] and row["state"] == "found"
        done = support.run(*shlex.split(row["next"]), run, "--format", "csv", "--quiet")
        assert done.returncode == 0, (row["next"], done.stderr)
        if not row["evidence"]:
            continue
        rank, index = row["evidence"].split(":")
        if rank not in known:
            known[rank] = {r["index"] for r in rows("events", run, "--rank", rank, "--quiet", "--columns", "index",
                                                    "--top", "0")}
        assert index in known[rank], row


def test_every_rule_has_a_reason():
    found = rows("advice", EXAMPLES / "cpu", "--view", "rules", "--quiet")
    page = (EXAMPLES.parent / "docs/analyses/advice.md").read_text()
    documented = re.findall(r"^\| ([a-z-]+) \|", page.split("| rule | fires when |")[1], flags=re.M)
    assert {row["rule"] for row in found} == set(documented)
    assert all(row["finding"] for row in found)
    assert {row["state"] for row in found} == {"none", "unknown"}


def test_straggler():
    found = fired(EXAMPLES / "straggler")
    stragglers = [r for r in rows("stragglers", EXAMPLES / "straggler", "--quiet") if r["candidate"] == "true"]
    assert found["slow-rank"]["rank"] == "2" == stragglers[0]["rank"]
    assert found["slow-rank"]["evidence"] == f"2:{stragglers[0]['cause_row']}"
    assert found["imbalance"]["rank"] == "2"


def test_nothing_fires_without_data(tmp_path):
    t = Tiny()
    t.add("odd", "thing", 0, 1000)
    assert fired(t.write(tmp_path)) == {}


def test_shares_are_those_of_steps():
    run = EXAMPLES / "ddp"
    found = fired(run)["communication"]
    steps = [r for r in rows("steps", run, "--rank", found["rank"], "--quiet")]
    alone = sum(int(r["exposed_ns"]) for r in steps)
    # of step times; of the first step only what is in it
    whole = sum(int(r["total_ns" if r["part"] == "first" else "step_time_ns"]) for r in steps)
    waits = sum(int(r["exposed_wait_ns"]) for r in rows("distributed", run, "--rank", "all", "--quiet")
                if r["rank"] == found["rank"])
    assert 0 < waits < alone
    assert float(found["share"]) == pytest.approx((alone - waits) / whole, rel=1e-6)


@pytest.mark.skipif(not EXTRA, reason="HOLOTRACE_EXTRA_DATA is not set")
def test_sample_of_the_plugin():
    """It recommends the same for resnet50_num_workers_0: data loading has 33.4 %, mixed precision could help 68 %."""
    path = pathlib.Path(EXTRA) / "tb_plugin" / "worker0.1623143089861.pt.trace.json.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    found = fired(path, "--step", "all")
    assert round(100 * float(found["data-loading"]["share"]), 1) == 33.4
    assert "67.6 %" in found["tensor-cores"]["finding"]  # they round
    assert "communication" not in found and "gpu-use" not in found and "memory-limit" not in found
