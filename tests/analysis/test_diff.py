# SPDX-License-Identifier: Apache-2.0
"""Comparing two runs."""
import json
import os
import pathlib

import pytest

import support
from tiny import EXAMPLES, Tiny, close, golden, notes, rows


def build(folder, calls, steps=(1, 2, 3), rank=0):
    """calls: (operator, kernel, its duration) once per step."""
    t = Tiny()
    for i, step in enumerate(steps):
        at = 1000 * i
        t.step(step, at, 1000)
        t.add("user_annotation", "forward", at + 1, 900)
        for k, (op, kernel, dur) in enumerate(calls):
            t.add("cpu_op", op, at + 10 + 20 * k, 15, args={"Input Dims": [[k, 8]]})
            t.work(kernel, at + 500 + 20 * k, dur, launch=at + 12 + 20 * k)
    t.write(folder, rank)
    return folder


@pytest.fixture
def two(tmp_path):
    control = build(tmp_path / "control", [("aten::mm", "gemm", 15), ("aten::relu", "relu", 3)])
    test = build(tmp_path / "test", [("aten::mm", "gemm", 8), ("aten::mm", "gemm", 4),
                                     ("aten::gelu", "gelu", 2)], steps=(5, 6, 7, 8))
    return control, test


def by_name(found):
    return {(r["device"], r["name"]): r for r in found}


def total(found, device, column):
    return sum(float(r[column]) for r in found if r["device"] == device)


def test_diff_counts_and_times(two):
    steps = "--control-step", "1-2", "--test-step", "5-6"
    found = rows("diff", *two, *steps)
    table = by_name(found)
    gemm = table["gpu", "gemm"]
    assert (gemm["control_count"], gemm["test_count"], gemm["diff_count"]) == ("2", "4", "2")
    assert (gemm["control_ns"], gemm["test_ns"], gemm["diff_ns"]) == ("30000", "24000", "-6000")
    assert gemm["change"] == "more calls, faster" and float(gemm["change_share"]) == -0.2
    assert (gemm["control_step_ns"], gemm["test_step_ns"], gemm["step_diff_ns"]) == ("15000", "12000", "-3000")
    assert table["gpu", "relu"]["change"] == "removed"
    assert table["gpu", "gelu"]["change"] == "added" and table["gpu", "gelu"]["change_share"] is None
    # forward has a call more inside: 15 us less of its 900 us a step are its own, and as often called
    forward = table["cpu", "forward"]
    assert (forward["control_step_ns"], forward["test_step_ns"]) == ("870000", "855000")
    assert forward["change"] == "faster" and forward["control_count"] == forward["test_count"] == "2"
    # the step itself is 100 us in both, and folded with what is equal
    assert not any(name.startswith("ProfilerStep") for _, name in table)
    assert table["cpu", "others"]["change"] == "equal" and table["cpu", "others"]["control_step_ns"] == "100000"
    sizes = [abs(int(r["diff_ns"])) for r in found if r["name"] != "others"]
    assert sizes == sorted(sizes, reverse=True) and found[-1]["name"] == "others"
    assert "steps 1–2; this run: rank 0, steps 5–6" in notes("diff", *two, *steps)[-1]
    # all complete steps, as many as each side has
    gemm = by_name(rows("diff", *two))["gpu", "gemm"]
    assert (gemm["control_count"], gemm["test_count"]) == ("3", "8")
    assert (gemm["control_step_ns"], gemm["test_step_ns"]) == ("15000", "12000")


def test_one_change_is_one_row(tmp_path):
    """An operator that gets slower under three callers is no change of the callers."""
    for side, dur in (("a", 10), ("b", 60)):
        t = Tiny()
        for step in (1, 2, 3, 4):
            at = 1000 * step
            t.step(step, at, 500 + dur)
            t.add("user_annotation", "forward", at + 10, 400 + dur)
            t.add("cpu_op", "aten::linear", at + 20, 100 + dur)
            t.add("cpu_op", "aten::addmm", at + 30, 50 + dur)
        t.write(tmp_path / side)
    found = rows("diff", tmp_path / "a", tmp_path / "b")
    assert [(r["name"], r["step_diff_ns"], r["change"], r["share"]) for r in found] == [
        ("aten::addmm", "50000", "slower", "1"), ("others", "0", "equal", "0")]
    step, host = rows("diff", tmp_path / "a", tmp_path / "b", "--view", "summary")
    assert (host["metric"], host["control_ns"], host["test_ns"], host["diff_ns"]) == (
        "host", "510000", "560000", "50000")
    assert (host["control_std_ns"], host["low_ns"], host["high_ns"]) == ("0", "50000", "50000")
    # a step begins every 1000 us, so one is complete as often
    assert (step["metric"], step["control_ns"], step["test_ns"], step["control_steps"]) == ("step", "1000000", "1000000", "3")


def test_the_backward_pass_takes_the_time_of_the_thread_that_waits(tmp_path):
    for side, dur in (("a", 100), ("b", 150)):
        t = Tiny()
        for step in (1, 2, 3):
            at = 1000 * step
            t.step(step, at, 400 + dur)
            t.add("user_annotation", "backward", at + 100, 200 + dur)
            # as the engine names it, on a thread of its own, while the first one waits
            t.add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", at + 150, 100 + dur, tid=2)
            t.add("cpu_op", "MmBackward0", at + 160, 50 + dur, tid=2)
            # a loader works beside all that
            t.add("cpu_op", "aten::stack", at + 110, 30 + dur, tid=3)
        t.write(tmp_path / side)
    found = rows("diff", tmp_path / "a", tmp_path / "b", "--all-rows")
    table = by_name(found)
    assert table["cpu", "MmBackward0"]["step_diff_ns"] == "50000"
    # before and after the engine's 150 to 250+dur: 50 us each
    assert table["cpu", "backward"]["control_step_ns"] == table["cpu", "backward"]["test_step_ns"] == "100000"
    assert table["background", "aten::stack"]["step_diff_ns"] == "50000"
    assert table["background", "aten::stack"]["share"] is None
    assert total(found, "cpu", "step_diff_ns") == 50000 and total(found, "cpu", "control_step_ns") == 500000


def noisy(path, values, name="gemm", gpu=True):
    """A trace whose steps take these times, in microseconds."""
    t = Tiny()
    at = 0
    for step, value in enumerate(values, 1):
        t.step(step, at, 1000 + (0 if gpu else value))
        if gpu:
            t.work(name, at + 100, value, launch=at + 10)
        else:
            t.add("cpu_op", name, at + 10, value)
        at += 10000
    return t.write(path)


def test_what_may_be_noise_is_folded(tmp_path):
    a = noisy(tmp_path / "a", [100, 104, 96, 100])
    b = noisy(tmp_path / "b", [101, 97, 103, 102])
    found = rows("diff", a, b)
    assert {r["name"] for r in found} == {"others"}
    shown = by_name(rows("diff", a, b, "--all-rows"))["gpu", "gemm"]
    assert shown["change"] == "within noise" and shown["step_diff_ns"] == "750"
    assert int(shown["low_ns"]) < 0 < int(shown["high_ns"])
    c = noisy(tmp_path / "c", [121, 117, 123, 122])
    shown = by_name(rows("diff", a, c))["gpu", "gemm"]
    assert shown["change"] == "slower" and int(shown["low_ns"]) > 0


def test_an_interval_is_students(tmp_path):
    """100, 104 against 113, 115: the step has variance (8 + 2) / 2 = 5 with 2 degrees of freedom."""
    a = noisy(tmp_path / "a", [100, 104], name="aten::mm", gpu=False)
    b = noisy(tmp_path / "b", [113, 115], name="aten::mm", gpu=False)
    step, host = rows("diff", a, b, "--view", "summary")
    reach = 4.302653 * 5 ** 0.5 * 1000
    assert (step["metric"], host["metric"], host["diff_ns"]) == ("step", "host", "12000")
    assert abs(int(host["low_ns"]) - (12000 - reach)) < 2 and abs(int(host["high_ns"]) - (12000 + reach)) < 2


def test_one_step_each_cannot_tell_noise(tmp_path):
    a, b = noisy(tmp_path / "a", [100]), noisy(tmp_path / "b", [101])
    gemm = by_name(rows("diff", a, b))["gpu", "gemm"]
    assert gemm["change"] == "slower" and gemm["low_ns"] is None
    assert any("one step on each side" in note for note in notes("diff", a, b))


def test_diff_inside_annotations(two):
    """With an annotation the headline is the time inside it, and rows still add up."""
    found = rows("diff", *two, "--annotation", "forward", "--all-rows")
    assert total(found, "cpu", "control_step_ns") == total(found, "cpu", "test_step_ns") == 900000
    assert not any(r["name"].startswith("outside of") for r in found)


def test_diff_of_chosen_steps_and_devices(two):
    table = by_name(rows("diff", *two, "--control-step", "1", "--test-step", "5-8"))
    assert (table["gpu", "gemm"]["control_count"], table["gpu", "gemm"]["test_count"]) == ("1", "8")
    assert {r["device"] for r in rows("diff", *two, "--device", "gpu")} == {"gpu"}
    assert {r["device"] for r in rows("diff", *two, "--device", "cpu")} == {"cpu"}


def test_diff_by_path_and_shape(two):
    names = {r["name"] for r in rows("diff", *two, "--by", "path")}
    assert "forward / aten::mm / gemm" in names and "forward / aten::gelu" in names
    names = {r["name"] for r in rows("diff", *two, "--by", "shape", "--all-rows")}
    assert any(n.startswith("aten::mm [[0,") for n in names), names
    assert any(n.startswith("gemm [[1,") for n in names), names


def test_diff_of_ranks(tmp_path):
    for rank, dur in ((0, 1), (1, 10)):
        build(tmp_path / "a", [("aten::mm", "gemm", dur)], rank=rank)
    for rank, dur in ((1, 20), (2, 50)):
        build(tmp_path / "b", [("aten::mm", "gemm", dur)], rank=rank)
    pair = tmp_path / "a", tmp_path / "b"
    gemm = by_name(rows("diff", *pair))["gpu", "gemm"]  # rank 1 is on both sides
    assert (gemm["control_ns"], gemm["test_ns"]) == ("30000", "60000")
    gemm = by_name(rows("diff", *pair, "--control-rank", "0-1", "--test-rank", "2"))["gpu", "gemm"]
    assert (gemm["control_ns"], gemm["test_ns"]) == ("33000", "150000")
    done = support.run("diff", *pair, "--test-rank", "7")
    assert done.returncode == 2 and b"--test-rank 7: no such rank" in done.stderr
    done = support.run("diff", *pair, "--test-step", "x")
    assert done.returncode == 2 and b"--test-step" in done.stderr


def test_diff_without_steps_compares_everything(tmp_path):
    for side, n in (("a", 1), ("b", 3)):
        t = Tiny()
        for i in range(n):
            t.add("cpu_op", "aten::add", 10 * i, 5)
        t.write(tmp_path / side)
    table = by_name(rows("diff", tmp_path / "a", tmp_path / "b"))
    row = table["cpu", "aten::add"]
    assert (row["control_count"], row["test_count"], row["diff_ns"]) == ("1", "3", "10000")
    # the span of 25 us: the rest is between the calls
    assert table["cpu", "outside of operators"]["test_ns"] == "10000"


@pytest.mark.parametrize("by", ["name", "path", "shape", "line"])
@pytest.mark.parametrize("trace", ["ddp", "train", "graph", "cpu"])
def test_a_run_equals_itself(trace, by):
    found = rows("diff", EXAMPLES / trace, EXAMPLES / trace, "--by", by)
    assert found
    for r in found:
        assert r["change"] == "equal" and r["diff_ns"] == "0" and r["diff_count"] == "0"


PAIRS = {"diff": (EXAMPLES / "diff" / "control", EXAMPLES / "diff" / "test"),
         "ranks": (EXAMPLES / "ddp", EXAMPLES / "straggler"), "graph": (EXAMPLES / "graph", EXAMPLES / "train"),
         "cpu": (EXAMPLES / "cpu", EXAMPLES / "train")}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("more", [[], ["--all-rows"], ["--by", "path"], ["--by", "shape"], ["--by", "line"]], ids=" ".join)
def test_rows_add_up_to_the_headline(pair, more):
    found = rows("diff", *PAIRS[pair], *more)
    summary = {r["metric"]: r for r in rows("diff", *PAIRS[pair], "--view", "summary")}
    for device, metric in (("cpu", "host"), ("gpu", "gpu")):
        for column, of in (("step_diff_ns", "diff_ns"), ("control_step_ns", "control_ns"), ("test_step_ns", "test_ns")):
            whole = float(summary[metric][of]) if metric in summary else 0
            assert total(found, device, column) == pytest.approx(whole, rel=1e-9, abs=1e-3), (device, column)
    shares = [float(r["share"]) for r in found if r["device"] == "cpu" and r["share"]]
    low, high = (float(summary["host"][end] or "nan") for end in ("low_ns", "high_ns"))
    # a part of what may be noise is no share
    assert shares == [] if low <= 0 <= high else sum(shares) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("by", ["name", "path", "shape"])
def test_every_way_of_grouping_has_the_same_sums(by):
    pair = EXAMPLES / "diff" / "control", EXAMPLES / "diff" / "test"
    sums = [{k: sum(int(r[k]) for r in rows("diff", *pair, "--by", b))
             for k in ("control_count", "test_count", "control_ns", "test_ns")} for b in ("name", by)]
    assert sums[0] == sums[1]


@pytest.mark.parametrize("pair", [*PAIRS, None])
def test_swapping_the_sides_negates(pair, two):
    sides = PAIRS[pair] if pair else two
    forth, back = (by_name(rows("diff", *s, "--all-rows")) for s in (sides, tuple(reversed(sides))))
    assert forth.keys() == back.keys()
    for key, r in forth.items():
        b = back[key]
        assert int(r["diff_ns"]) == -int(b["diff_ns"]) and float(r["step_diff_ns"]) == -float(b["step_diff_ns"])
        assert (r["low_ns"] is None) == (b["high_ns"] is None)
        if r["low_ns"] is not None:
            assert abs(int(r["low_ns"]) + int(b["high_ns"])) <= 1
        opposite = {"slower": "faster", "faster": "slower", "added": "removed", "removed": "added",
                    "more calls": "fewer calls", "fewer calls": "more calls"}
        assert [opposite.get(word, word) for word in r["change"].split(", ")] == b["change"].split(", ")


def test_steps_of_one_trace_are_alike():
    """A run against itself, step by step: what is found is noise, so hardly anything may be."""
    trace = EXAMPLES / "straggler"
    for control, test in (("1,3", "2,4"), ("1,2", "3,4"), ("1,4", "2,3")):
        found = [r for r in rows("diff", trace, trace, "--control-step", control, "--test-step", test,
                                 "--device", "gpu") if r["name"] != "others"]
        assert len(found) <= 3, found


# ---- HTA's own tables ----


def cases():
    found = [(support.ROOT / "tests" / "golden-hta" / "diff", EXAMPLES / "diff" / "control",
              EXAMPLES / "diff" / "test")]
    extra = os.environ.get("HOLOTRACE_EXTRA_DATA")
    if extra:
        top = pathlib.Path(extra).parent / "golden" / "hta"
        data = pathlib.Path(extra)
        found += [(top / "h200_diff", data / "h200/diff/control", data / "h200/diff/test"),
                  (top / "trace_diff", data / "hta/trace_diff/control", data / "hta/trace_diff/test"),
                  (top / "trace_compare", data / "hta/trace_compare/base",
                   data / "hta/trace_compare/test")]
    return found


on_cases = pytest.mark.parametrize("folder, control, test", cases(),
                                   ids=[c[0].name for c in cases()])
SIGNS = {"added": "+", "increased": "+", "removed": "-", "decreased": "-", "equal": "="}


@on_cases
@pytest.mark.parametrize("device", ["ALL", "CPU", "GPU"])
@pytest.mark.parametrize("short", ["", ".short"])
def test_hta_compare(folder, control, test, device, short):
    expected = golden(folder, f"compare.{device}{short}")
    if expected is None:
        pytest.skip("HTA has no such table here")
    found = rows("diff", control, test, "--hta-compat", "--device", device.lower(),
                 "--short-names=" + ("true" if short else "false"))
    assert [r["name"] or "" for r in found] == [e[0] for e in expected[1:]]
    for r, e in zip(found, expected[1:]):
        assert int(r["control_count"]) == float(e[1]) and int(r["test_count"]) == float(e[3])
        assert close(int(r["control_ns"]) / 1000, e[2]) and close(int(r["test_ns"]) / 1000, e[4])
        assert int(r["diff_count"]) == float(e[5]) and close(int(r["diff_ns"]) / 1000, e[6])
        assert SIGNS[r["change"]] == e[7]


@on_cases
@pytest.mark.parametrize("device", ["ALL", "CPU", "GPU"])
def test_hta_ops_diff(folder, control, test, device):
    path = folder / f"ops_diff.{device}.json"
    if not path.exists():
        pytest.skip("HTA has no such answer here")
    expected = json.loads(path.read_text())
    found = {key: set() for key in expected}
    words = {"removed": "deleted", "equal": "unchanged"}
    for r in rows("diff", control, test, "--hta-compat", "--device", device.lower()):
        found[words.get(r["change"], r["change"])].add(r["name"])
    assert found == {key: set(names) for key, names in expected.items()}


def test_beyond_the_largest_changes_rows_are_folded(tmp_path):
    """More names than anyone reads: the largest changes are shown, the rest as one row, and all of it adds up."""
    n_names, most = 65_600, 65_536
    for side, more in (("a", 0), ("b", 1)):
        with open(tmp_path / f"{side}.json", "w", encoding="utf-8") as file:
            file.write('{"traceEvents": [')
            file.write(",\n".join(f'{{"ph": "X", "cat": "cpu_op", "name": "op{i}", "pid": 1, "tid": 1, "ts": {10 * i}, '
                                  f'"dur": {1 + more * (i % 3 != 0)}}}' for i in range(n_names)))
            file.write("]}")
    found = rows("diff", tmp_path / "a.json", tmp_path / "b.json")
    everything = rows("diff", tmp_path / "a.json", tmp_path / "b.json", "--all-rows")
    assert len(found) == most + 1 and len(everything) == n_names + 1
    assert found[-1]["name"] == "others" and int(found[-1]["n_names"]) == len(everything) - most
    assert [r["name"] for r in found[:most]] == [r["name"] for r in everything[:most]]
    for column in ("control_count", "control_ns", "test_ns", "diff_ns"):
        assert sum(int(r[column]) for r in found) == sum(int(r[column]) for r in everything)
    assert found[-1]["change"] == "equal"


def test_paths_of_a_deep_stack(tmp_path):
    """A path shows both ends; those around come before those inside when changes are equal."""
    for side, more in (("a", 0), ("b", 5)):
        t = Tiny()
        for i in range(20):
            t.add("cpu_op", f"op{i}", i, 100 - 2 * i + (more if i == 0 else 0))
        t.write(tmp_path / side)
    found = rows("diff", tmp_path / "a", tmp_path / "b", "--by", "path", "--all-rows")
    assert found[0]["name"] == "op0" and found[0]["diff_ns"] == "5000"
    names = [r["name"] for r in found[1:] if r["name"] != "outside of operators"]
    assert names[0] == "op0 / op1" and names[1] == "op0 / op1 / op2"
    assert [name.split(" / ")[-1] for name in names] == [f"op{i}" for i in range(1, 20)]
    assert names[-1].startswith("op0 / op1 / op2 / op3 / op4 / op5 / op6 / op7 / … 4 more, ")
    assert names[-1].endswith(" … / " + " / ".join(f"op{i}" for i in range(12, 20)))
