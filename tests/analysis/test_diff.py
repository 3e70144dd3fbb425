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


def test_diff_counts_and_times(two):
    found = rows("diff", *two)
    table = by_name(found)
    gemm = table["gpu", "gemm"]
    # two steps of each: the last one is left out, and test has one more
    assert (gemm["control_count"], gemm["test_count"], gemm["diff_count"]) == ("2", "4", "2")
    assert (gemm["control_ns"], gemm["test_ns"], gemm["diff_ns"]) == ("30000", "24000", "-6000")
    assert gemm["change"] == "increased" and float(gemm["change_share"]) == -0.2
    assert table["gpu", "relu"]["change"] == "removed"
    assert table["gpu", "gelu"]["change"] == "added" and table["gpu", "gelu"]["change_share"] is None
    assert table["cpu", "forward"]["change"] == "equal"
    assert not any(name.startswith("ProfilerStep") for _, name in table)
    sizes = [abs(int(r["diff_ns"])) for r in found]
    assert sizes == sorted(sizes, reverse=True)
    assert "steps 1,2; test: rank 0, steps 5,6" in notes("diff", *two)[-1]


def test_diff_of_chosen_steps_and_devices(two):
    table = by_name(rows("diff", *two, "--control-step", "1", "--test-step", "5-8"))
    assert (table["gpu", "gemm"]["control_count"], table["gpu", "gemm"]["test_count"]) == ("1", "8")
    assert {r["device"] for r in rows("diff", *two, "--device", "gpu")} == {"gpu"}
    assert {r["device"] for r in rows("diff", *two, "--device", "cpu")} == {"cpu"}


def test_diff_by_path_and_shape(two):
    names = {r["name"] for r in rows("diff", *two, "--by", "path")}
    assert "forward / aten::mm / gemm" in names and "forward / aten::gelu" in names
    names = {r["name"] for r in rows("diff", *two, "--by", "shape")}
    assert any(n.startswith("aten::mm [[0,") for n in names), names
    assert any(n.startswith("gemm [[1,") for n in names), names


def test_diff_of_ranks(tmp_path):
    for rank, dur in ((0, 1), (1, 10)):
        build(tmp_path / "a", [("aten::mm", "gemm", dur)], rank=rank)
    for rank, dur in ((1, 20), (2, 50)):
        build(tmp_path / "b", [("aten::mm", "gemm", dur)], rank=rank)
    pair = tmp_path / "a", tmp_path / "b"
    gemm = by_name(rows("diff", *pair))["gpu", "gemm"]  # rank 1 is on both sides
    assert (gemm["control_ns"], gemm["test_ns"]) == ("20000", "40000")
    gemm = by_name(rows("diff", *pair, "--control-rank", "0-1", "--test-rank", "2"))["gpu", "gemm"]
    assert (gemm["control_ns"], gemm["test_ns"]) == ("22000", "100000")
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
    (row,) = rows("diff", tmp_path / "a", tmp_path / "b")
    assert (row["control_count"], row["test_count"], row["diff_ns"]) == ("1", "3", "10000")


@pytest.mark.parametrize("by", ["name", "path", "shape"])
@pytest.mark.parametrize("trace", ["ddp", "train", "graph", "cpu"])
def test_a_run_equals_itself(trace, by):
    found = rows("diff", EXAMPLES / trace, EXAMPLES / trace, "--by", by)
    assert found
    for r in found:
        assert r["change"] == "equal" and r["diff_ns"] == "0" and r["diff_count"] == "0"


@pytest.mark.parametrize("by", ["name", "path", "shape"])
def test_every_way_of_grouping_has_the_same_sums(by):
    pair = EXAMPLES / "diff" / "control", EXAMPLES / "diff" / "test"
    sums = [{k: sum(int(r[k]) for r in rows("diff", *pair, "--by", b))
             for k in ("control_count", "test_count", "control_ns", "test_ns")} for b in ("name", by)]
    assert sums[0] == sums[1]


def test_swapping_the_sides_negates(two):
    forth, back = by_name(rows("diff", *two)), by_name(rows("diff", *reversed(two)))
    assert forth.keys() == back.keys()
    for key, r in forth.items():
        assert int(r["diff_ns"]) == -int(back[key]["diff_ns"])


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
