# SPDX-License-Identifier: Apache-2.0
"""Comparing runs in which one rank, one kernel is slower by a known time: what the page says first, and what it shows of both."""
import re

import pytest

import planted
import served
from web import evaluate, needs_browser, needs_node

SLOWER_US = 30000.0  # each gemm of rank 3


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("planted")
    planted.write(root / "before", {})
    planted.write(root / "after", {3: SLOWER_US}, seed=2)
    return root


def rows_of(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def conclusion(before, after):
    return next(one for one in served.table("diff", before, after, "--view", "summary")["findings"] if one["kind"] == "step-change")


def test_the_cause_has_rank_kernel_line_and_cost(runs):
    """30 ms more per step, on one rank of four: not the call that waits for it, and not a quarter of it."""
    found = conclusion(runs / "before", runs / "after")
    values = found["values"]
    assert (values["subject"], values["rank"], values["source"]) == (planted.GEMM, 3, planted.LINES[planted.GEMM])
    assert abs(values["cost"] - SLOWER_US * 1e3) < 0.01 * SLOWER_US * 1e3
    assert re.fullmatch(r"step time \+\d+\.\d ms \(\+\d+\.\d %\), .*: kernel \S+ takes 30\.\d ms more per step on rank 3 alone, launched at "
                        r"train\.py\(65\): forward", found["sentence"]), found["sentence"]
    # the other way the same is faster
    assert "takes 30.0 ms less per step on rank 3 alone" in conclusion(runs / "after", runs / "before")["sentence"]


def test_several_slow_ranks_are_named_together(tmp_path):
    planted.write(tmp_path / "a", {})
    planted.write(tmp_path / "b", {1: SLOWER_US, 2: SLOWER_US}, seed=3)
    assert re.search(r"takes 30\.\d ms more per step on each of ranks 1, 2, launched at", conclusion(tmp_path / "a", tmp_path / "b")["sentence"])
    planted.write(tmp_path / "c", dict.fromkeys(range(4), SLOWER_US), seed=4)
    assert re.search(r"takes 30\.\d ms more per step, launched at", conclusion(tmp_path / "a", tmp_path / "c")["sentence"])


def test_a_slow_host_is_named_where_no_kernel_is(tmp_path):
    """Rank 0 spends 30 ms of each step in Python: all kernels take what they took."""
    planted.write(tmp_path / "a", {})
    planted.write(tmp_path / "b", {}, seed=5, host_us=30000.0)
    found = conclusion(tmp_path / "a", tmp_path / "b")
    assert "cpu" in found["values"] and found["values"]["rank"] == 0, found
    assert re.search(r"takes 30\.\d ms more CPU time per step on rank 0 alone", found["sentence"]), found["sentence"]


def test_causes_before_consequences(runs):
    """The other ranks wait for 30 ms: that is a consequence, and so is the call of the host that waits for the device."""
    rows = rows_of(served.table("diff", runs / "before", runs / "after", "--view", "causes"))
    assert [row["role"] for row in rows] == sorted((row["role"] for row in rows), key=["cause", "consequence"].index)
    first = rows[0]
    assert (first["what"], first["ranks"], first["name"], first["source"]) == ("kernel", "rank 3", planted.GEMM, planted.LINES[planted.GEMM])
    assert first["low_ns"] <= first["step_diff_ns"] <= first["high_ns"] and abs(first["share"] - 1) < 0.01
    assert first["test_step_ns"] - first["control_step_ns"] == pytest.approx(first["step_diff_ns"])
    after = {(row["what"], row["ranks"], row["name"]) for row in rows if row["role"] == "consequence"}
    assert ("rank wait", "ranks 0–2", None) in after
    assert ("device wait", "all ranks", "cudaEventSynchronize") in after
    assert not any(row["role"] == "cause" and row["name"] == "cudaEventSynchronize" for row in rows)


def test_ranks_without_waiting(runs):
    """GPU activities of a rank: 20 + 5 + 4 ms, and 30 ms more on rank 3; waiting is apart."""
    rows = rows_of(served.table("diff", runs / "before", runs / "after", "--view", "ranks"))
    assert [row["rank"] for row in rows] == [0, 1, 2, 3]
    for row in rows:
        slow = row["rank"] == 3
        assert row["control_ns"] == pytest.approx(29e6, rel=0.01) and row["diff_ns"] == pytest.approx(30e6 if slow else 0, abs=0.2e6)
        assert row["diff_wait_ns"] == pytest.approx(0 if slow else 30e6, abs=0.2e6)
        assert row["change"] == ("slower" if slow else row["change"]) and (slow or row["change"] in ("within noise", "faster", "slower"))


@needs_node
def test_rows_of_both_are_matched_by_their_keys():
    """The first time that is measured, beside that of the baseline; rows that only one has, and tables whose keys repeat."""
    source = """import { withBaseline } from "./app/baseline";
const table = (rows: any[]): any => ({ title: "", method: "", notes: [], hidden: 0, bar: null, rows, columns: [
  { name: "name", type: "string", unit: null, role: "key", sentence: "" }, { name: "calls", type: "int64", unit: null, role: "measure", sentence: "" },
  { name: "total_ns", type: "duration", unit: "ns", role: "measure", sentence: "time" }] });
const both = withBaseline(table([["a", 1, 30], ["b", 2, 5]]), table([["c", 9, 9], ["a", 1, 20]]));
answer = [both?.table.columns.map((one: any) => one.name), both?.table.rows, withBaseline(table([["a", 1, 1], ["a", 2, 2]]), table([["a", 1, 1]]))];"""
    columns, rows, twice = evaluate(source, None)
    assert columns == ["name", "calls", "total_ns", "baseline", "change"]
    assert rows == [["a", 1, 30, 20, 10], ["b", 2, 5, None, None]] and twice is None


@needs_node
def test_runs_of_other_numbers_of_steps_are_compared_by_the_mean():
    """Rank 0 has steps of 10 and 20, rank 1 one of 30 whose waiting is not known."""
    source = """import { meanByRank } from "./views/both"; import { Rows } from "./app/rows";
const columns = ["rank", "step", "step_ns", "exposed_wait_ns"].map(name => ({ name, type: "int64", unit: null, role: "key", sentence: "" }));
answer = meanByRank(new Rows({ title: "", method: "", notes: [], hidden: 0, bar: null, columns, rows: input } as any)).table.rows;"""
    assert evaluate(source, [[0, 3, 10, 4], [1, 3, 30, None], [0, 4, 20, 8]]) == [[0, None, 15, 6], [1, None, 30, None]]


@needs_node
def test_the_axis_of_both():
    """The start of a step on its first rank is where both are aligned; without a step in common their first events are."""
    source = """import { commonSteps, shiftOf } from "./timeline/Baseline";
const step = (rank: number, name: string, start_ns: number) => ({ rank, name, start_ns, end_ns: start_ns + 50 });
const tracks = (from_ns: number, steps: any[]): any => ({ from_ns, steps });
const one = tracks(5, [step(0, "3", 100), step(1, "3", 90), step(0, "4", 200)]), other = tracks(0, [step(0, "3", 1000), step(0, "4", 1400)]);
answer = [commonSteps(one.steps, other.steps), shiftOf(one, other, "3"), shiftOf(one, other, "4"), shiftOf(one, other, "9"), shiftOf(one, other, undefined)];"""
    assert evaluate(source, None) == [["3", "4"], -910, -1200, 5, 5]


@needs_browser
@served.needs_serve
def test_the_page_shows_both(runs):
    with served.serving(runs) as url:
        served.wait_ready(url, 2)
        served.drive("compare.mjs", url)


@needs_browser
@served.needs_serve
def test_the_critical_path_goes_over_the_events(runs):
    """From rank to rank: the path of a step is the gemm of rank 3 and what follows from it."""
    path = rows_of(served.table("critical-path", runs / "after", "--across", "--view", "path"))
    longest = max(path, key=lambda row: row["duration_ns"])
    assert (longest["rank"], longest["name"]) == (3, planted.GEMM)
    with served.serving(runs) as url:
        served.wait_ready(url, 2)
        served.drive("path.mjs", url, f"{longest['rank']}:{longest['index']}")
