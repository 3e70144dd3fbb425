# SPDX-License-Identifier: Apache-2.0
"""Ranks on one clock: shifting or stretching a rank's clock changes no answer by more than its uncertainty, and what
different tables say about the same collectives agrees."""
import csv
import decimal
import gzip
import io
import json
import shutil
from decimal import Decimal

import pytest

import support

RUNS = {"straggler": support.ROOT / "examples" / "straggler", "ddp": support.ROOT / "examples" / "ddp",
        "pipeline": support.ROOT / "tests" / "data" / "pipeline"}


def table(verb, *args):
    text = support.output(verb, *args, "--format", "csv").decode()
    return list(csv.DictReader(io.StringIO(text)))


def files_of(folder):
    return sorted(f for f in folder.glob("*rank*.json.gz") if ".et." not in f.name)


def rank_of(path):
    return int(path.name.split("rank")[1].split(".")[0])


def rewritten(source, target, change):
    """The trace with change(ts, first ts) instead of each ts, exactly."""
    decimal.getcontext().prec = 40
    trace = json.loads(support.trace_bytes(source), parse_float=Decimal)
    timed = [e for e in trace["traceEvents"] if "ts" in e and e.get("ph") != "M"]
    first = min(Decimal(e["ts"]) for e in timed)
    for event in timed:
        event["ts"] = change(Decimal(event["ts"]), first).quantize(Decimal("0.001"))
    # numbers keep their digits: a double would round what is being tested
    text = json.dumps(trace, default=lambda d: f"\0{d}\0").replace('"\\u0000', "").replace('\\u0000"', "")
    with gzip.open(target, "wt", compresslevel=1) as out:
        out.write(text)


def shifted(folder, run, rank, change):
    for source in files_of(RUNS[run]):
        if rank_of(source) == rank:
            rewritten(source, folder / source.name, change)
        else:
            shutil.copy(source, folder / source.name)
    return folder


def clock_of(folder):
    """{rank: {item: value}} of info."""
    found = {}
    for row in table("info", folder, "--where", "topic = clock"):
        found.setdefault(int(row["rank"]), {})[row["item"]] = row["value"]
    return found


def milliseconds(text):
    return float(text.split(" ")[0])


SHIFTS = [("straggler", 0, 50), ("straggler", 2, 3_600_000), ("straggler", 1, -5), ("straggler", 2, -700),
          ("ddp", 1, 5), ("ddp", 3, 500), ("ddp", 0, -3_600_000), ("pipeline", 0, 50), ("pipeline", 3, -5),
          ("pipeline", 2, 3_600_000)]


@pytest.mark.parametrize("run, rank, by_ms", SHIFTS)
def test_a_shift_changes_nothing_beyond_the_uncertainty(tmp_path, run, rank, by_ms):
    before = {r["rank"]: r for r in table("stragglers", RUNS[run])}
    folder = shifted(tmp_path, run, rank, lambda ts, first: ts + 1000 * by_ms)
    after = {r["rank"]: r for r in table("stragglers", folder)}
    for number, row in before.items():
        other = after[number]
        assert other["candidate"] == row["candidate"]
        if run != "pipeline":  # elsewhere waits of pairs depend on clocks, within their uncertainty
            assert other["lateness_ns"] == row["lateness_ns"]
        unsure = max(int(row["uncertainty_ns"]), int(other["uncertainty_ns"]))
        if row["candidate"] == "true":
            assert abs(int(other["delay_ns"]) - int(row["delay_ns"])) <= unsure
    clocks = clock_of(folder)
    moved = {r for r, c in clocks.items() if "as in the file" not in c["offset"]}
    health = support.health(folder)
    assert health.get("clock_moved", 0) == len(moved) and "impossible_clocks" not in health
    if abs(by_ms) >= 50:  # no collective is so long that such a clock could fit
        assert moved == {rank}
        assert abs(milliseconds(clocks[rank]["offset"]) + by_ms) <= milliseconds(
            clocks[rank]["uncertainty"])


@pytest.mark.parametrize("run, rank", [("straggler", 1), ("straggler", 2), ("ddp", 0), ("pipeline", 3)])
def test_a_drift_of_50_ppm_changes_nothing_beyond_the_uncertainty(tmp_path, run, rank):
    """A clock that is 50 ppm fast since the machine started: both far off and drifting."""
    before = {r["rank"]: r for r in table("stragglers", RUNS[run])}
    folder = shifted(tmp_path, run, rank, lambda ts, first: ts + ts * 50 / 1_000_000)
    after = {r["rank"]: r for r in table("stragglers", folder)}
    for number, row in before.items():
        assert after[number]["candidate"] == row["candidate"]
        if row["lateness_ns"] and run != "pipeline":
            assert abs(int(after[number]["lateness_ns"]) - int(row["lateness_ns"])) <= 50_000
    assert "impossible_clocks" not in support.health(folder)


def test_the_order_of_ranks_does_not_matter(tmp_path):
    """Ranks with other numbers: the same verdict about the same trace, on clocks that had to be moved."""
    folder = shifted(tmp_path, "straggler", 1, lambda ts, first: ts + 50_000)
    files, order = files_of(folder), [2, 0, 3, 1]
    plain = {r["rank"]: r for r in table("stragglers", *files)}
    other = {r["rank"]: r for r in table("stragglers", *[f"{order.index(i)}={f}"
                                                         for i, f in enumerate(files)])}
    for i in range(4):
        a, b = plain[str(i)], other[str(order.index(i))]
        assert (a["candidate"], a["lateness_ns"], a["cause_name"]) == (
            b["candidate"], b["lateness_ns"], b["cause_name"])


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("step", [[], ["--step", "all"]])
def test_tables_agree_about_collectives(run, step):
    calls = table("collectives", RUNS[run], *step, "--view", "calls")
    assert calls
    by_rank, by_kind = {}, {}
    for call in calls:
        duration, wait = int(call["duration_ns"]), int(call["wait_ns"])
        assert 0 <= wait <= duration and wait + int(call["transfer_ns"]) == duration
        for sums, key in ((by_rank, call["rank"]), (by_kind, (call["group"], call["kind"]))):
            total = sums.setdefault(key, [0, 0, 0])
            for i, value in enumerate((1, duration, wait)):
                total[i] += value
    for row in table("collectives", RUNS[run], *step):
        assert [int(row[c]) for c in ("calls", "duration_ns", "wait_ns")] == by_kind.pop(
            (row["group"], row["kind"]))
        assert int(row["duration_ns"]) == int(row["wait_ns"]) + int(row["transfer_ns"])
    assert not by_kind
    breakdown = {r["rank"]: r for r in table("temporal-breakdown", RUNS[run], *step)}
    for row in table("comm-overlap", RUNS[run], *step):
        other = breakdown[row["rank"]]
        assert row["exposed_ns"] == other["exposed_ns"]
        for column in ("exposed_wait_ns", "exposed_transfer_ns"):
            assert row[column] == other[column]
        n, duration, wait = by_rank[row["rank"]]
        if int(row["count"]) != n:
            assert row["exposed_wait_ns"] == ""  # a kernel without a counterpart: not known
            continue
        assert int(row["exposed_wait_ns"]) + int(row["exposed_transfer_ns"]) == int(row["exposed_ns"])
        assert int(row["exposed_wait_ns"]) <= wait
        if int(row["communication_ns"]) == duration:  # no two at once: only compute hides
            assert wait - int(row["exposed_wait_ns"]) <= int(row["overlap_ns"])


@pytest.mark.parametrize("run", RUNS)
def test_what_is_chosen_does_not_change_waits(run):
    """A collective has the same wait whatever ranks and steps are asked for."""
    columns = ["--view", "calls", "--columns", "rank,row,wait_ns,transfer_ns,start_ns"]
    whole = {tuple(r.values()) for r in table("collectives", RUNS[run], "--step", "all", *columns)}
    for options in (["--rank", "1"], ["--rank", "0,3", "--step", "all"], []):
        some = {tuple(r.values()) for r in table("collectives", RUNS[run], *options, *columns)}
        assert some and some <= whole
