# SPDX-License-Identifier: Apache-2.0
"""call-tree over recorded traces: sums that a script of its own found, and sums against lists.

The traces of the repository run always; one below $HOLOTRACE_EXTRA_DATA when it is set.
"""
import collections
import csv
import io
import json
import os

import pytest

import support

csv.field_size_limit(1 << 30)
ET = "tests/data/et/with_kineto.json.gz"
COMPILE = "tests/data/compile/compile.json.gz"
TRAIN = "examples/train/train.json.gz"
SIMPLE = "execution-trace/hta/benchmark_simple_add_trace.json.gz"

# trace, options, rows by depth, ms of device work and of launches at depth 1, rows with device time
NUMBERS = [
    (ET, ["-mc", "cpu_op"], [44, 48, 28, 8, 8], "0.020993", "0.556522", None),
    (ET, ["-mc", "user_annotation"], [2, 2, 2, 2], "0.008063", "0.293639", None),
    (ET, ["-mc", "user_annotation", "--any-thread"], [2, 2, 2, 2], "0.020993", None, None),
    (ET, ["-mc", "cpu_op", "--preset=all"], [44, 48, 28, 8, 8], "0.032577", "0.556522", 74),
    (COMPILE, ["-mc", "cpu_op"], [210, 234, 790, 196, 92, 50], "0.911131", "1.224052", None),
    (COMPILE, ["-mc", "cpu_op", "-hc", "cuda_runtime,cuda_driver"], [210, 234, 790, 196, 92, 50],
     "3.774633", "7.159534", 694),
    (TRAIN, ["-hc", "cuda_runtime,cuda_driver"], 21, "1.889487", "3.973466", None),
    (TRAIN, ["-hc", "cuda_runtime,cuda_driver", "--modules-only"], 3, None, None, None),
    (SIMPLE, ["-mc", "cpu_op"], [10, 10, 4, 4], "0.016", "19582.658", None),
]
ROWS = {(TRAIN, 21): 4053, (TRAIN, 3): 94}


def path_of(trace):
    if trace != SIMPLE:
        return support.ROOT / trace
    extra = os.environ.get("HOLOTRACE_EXTRA_DATA")
    if not extra:
        pytest.skip("no extra data")
    return os.path.join(extra, trace)


def rows_of(trace, options):
    """The rows as (path, depth, host, device, launch in ns, lists)."""
    text = support.output("call-tree", path_of(trace), *options, "--format", "csv", "--quiet")
    return list(csv.DictReader(io.StringIO(text.decode())))


def ns(ms):
    whole, _, part = ms.partition(".")
    return int(whole) * 1000000 + int(part.ljust(6, "0"))


@pytest.mark.parametrize("trace, options, depths, device, launch, n_device", NUMBERS)
def test_numbers(trace, options, depths, device, launch, n_device):
    rows = rows_of(trace, options)
    found = collections.Counter(int(row["depth"]) for row in rows)
    if isinstance(depths, int):
        assert sorted(found) == list(range(1, depths + 1))
        assert len(rows) == ROWS[trace, depths]
    else:
        assert [found[depth] for depth in sorted(found)] == depths
    roots = [row for row in rows if row["depth"] == "1"]
    if device is not None:
        assert sum(int(row["device_ns"]) for row in roots) == ns(device)
    if launch is not None:
        assert sum(int(row["launch_ns"]) for row in roots) == ns(launch)
    if n_device is not None:
        assert sum(int(row["device_ns"]) > 0 for row in rows) == n_device


@pytest.mark.parametrize("trace, options", [(ET, ["-mc", "cpu_op", "--preset=all"]),
                                            (TRAIN, ["--preset=all", "--max-depth", "9"])])
def test_sums_are_those_of_the_lists(trace, options):
    for row in rows_of(trace, options):
        works = json.loads(row["kernels"] or "[]")
        assert sum(ns(f"{work['ms']:.6f}") for work in works) == int(row["device_ns"])
        assert len(works) == int(row["n_work"]) == len(json.loads(row["kernel_infos"] or "[]"))


def test_the_file_has_seven_columns(tmp_path):
    out = tmp_path / "out.csv"
    support.output("call-tree", "-s", support.ROOT / ET, "-d", out, "-mc", "cpu_op", "-q")
    text = out.read_text()
    names, rows = support.read_csv(text.encode())
    assert names == ["name", "host duration(ms)", "device duration(ms)", "cuda launch duration(ms)",
                     "cuda_runtime", "kernels", "kernel infos"]
    assert len(rows) == 136 and all(len(row) == 7 for row in rows)
    assert all(line.startswith('"') and line.endswith('"') for line in text.splitlines())


def test_a_file_that_cannot_be_read_leaves_nothing(tmp_path):
    out = tmp_path / "out.csv"
    done = support.run("call-tree", "-s", tmp_path / "missing.json", "-d", out)
    assert done.returncode == 2 and not out.exists()


def test_the_trace_is_not_written_over(tmp_path):
    trace = tmp_path / "a.json"
    trace.write_text('{"traceEvents": []}')
    done = support.run("call-tree", "-s", trace, "-d", trace)
    assert done.returncode == 2 and trace.read_text() == '{"traceEvents": []}'
