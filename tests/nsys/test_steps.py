# SPDX-License-Identifier: Apache-2.0
"""Steps of exports: ranges that the program calls so, where they repeat regularly."""
import pytest

from exports import Export
from test_nsys import sql, table


def loop(names, more=(), tid=7, length=900):
    """A range of each name, a microsecond apart, with a kernel in it that runs into the next."""
    e = Export()
    for i, name in enumerate(names):
        at = 1_000 + 1_000 * i
        e.nvtx(at, at + length, name, tid=tid)
        e.nvtx(at + 700, at + 800, "Optimizer.step#Adam.step", tid=tid)
        e.call(at + 30, at + 40, i + 1, tid=tid)
        e.kernel(at + 950, at + 1_050 + i, i + 1)
    for start, end, name in more:
        e.nvtx(start, end, name, tid=tid)
    return e


def steps(e, tmp_path):
    path = e.write(tmp_path / "a.sqlite")
    return [int(n) for n, in sql(path, "SELECT step FROM steps ORDER BY ts_ns")], path


@pytest.mark.parametrize("names, numbers", [
    ([f"iteration {i}" for i in (4, 5, 6)], [4, 5, 6]),
    ([f"iteration{i}" for i in (4, 5, 6)], [4, 5, 6]),
    ([f"Step #{i}" for i in (0, 10, 20)], [0, 10, 20]),
    ([f"train_step({i})" for i in (1, 2, 3)], [1, 2, 3]),
    (["training-iter: 7", "training-iter: 8", "training-iter: 9"], [7, 8, 9]),
    (["iteration"] * 4, [0, 1, 2, 3]),
    ([f"batch {i}" for i in (0, 1, 0, 1)], [0, 1, 2, 3]),  # of two epochs
    ([f"epoch={i}" for i in (1, 2, 3)], [1, 2, 3]),
    ([f"ProfilerStep#{i}" for i in (3, 4)], [3, 4]),
    (["step 1", "step 2"], []),  # twice is no rhythm
    (["step 1", "step 7", "step 9"], []),
    (["step 3", "step 2", "step 1"], []),
    (["optimizer step"] * 4, []),
    (["step forward 1", "step forward 2", "step forward 3"], []),
    (["stepper 1", "stepper 2", "stepper 3"], []),
    ([f"request {i}" for i in (1, 2, 3)], []),
    (["step 1", "step", "step 3"], []),
])
def test_names(tmp_path, names, numbers):
    found, path = steps(loop(names), tmp_path)
    assert found == numbers
    if numbers and not names[0].startswith("P"):
        # a kernel is of the step that launched it, where the range around its start is over
        by_step = table("temporal-breakdown", path, "--by", "step", "--step", "all")
        assert [(int(r["step"]), int(r["compute_ns"])) for r in by_step] == [(n, 100 + i) for i, n in enumerate(numbers)]


def test_ranges_that_overlap_are_none(tmp_path):
    assert steps(loop([f"step {i}" for i in range(4)], length=1_100), tmp_path)[0] == []


def test_of_several_names_the_finer_one(tmp_path):
    names = [f"iteration {i}" for i in range(4)]
    epochs = [(900 + 2_000 * i, 2_950 + 2_000 * i - 60, f"epoch {i}") for i in range(3)]
    batches = [(1_000 + 1_000 * i, 1_950 + 1_000 * i, f"batch {i + 50}") for i in range(4)]
    assert steps(loop(names, epochs + batches), tmp_path)[0] == [0, 1, 2, 3]


def test_of_two_threads_the_one_with_the_longer_ranges(tmp_path):
    e = loop([f"step {i}" for i in range(3)])
    for i in range(5):
        e.nvtx(1_000 + 500 * i, 1_100 + 500 * i, f"step {i + 90}", tid=8)
    assert steps(e, tmp_path)[0] == [0, 1, 2]


def test_ranges_of_other_domains_are_none(tmp_path):
    e = Export()
    e.nvtx(1, 1, "loader", type_=75, domain=3)
    e.kernel(10, 20, 1)
    for i in range(4):
        e.nvtx(1_000 * i, 1_000 * i + 500, f"step {i}", domain=3)
    assert steps(e, tmp_path)[0] == []
