# SPDX-License-Identifier: Apache-2.0
"""What call-tree writes grows with what it says: deep calls with many inside do not repeat all of their paths and lists."""
import csv
import json

import pytest

import support

DEPTH = 600


def span(cat, name, ts, dur, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1 if tid == 1 else 0, "tid": tid, "ts": ts, "dur": dur, "args": args}


def deep(path, n):
    """Calls DEPTH deep around n that launch a kernel each."""
    end = 10 * n + 2 * DEPTH
    events = [span("python_function", f"layer_number_{i}.py(12): forward", i, end - 2 * i) for i in range(DEPTH)]
    for i in range(n):
        at = DEPTH + 10 * i
        events += [span("python_function", f"leaf {i % 7}", at, 8), span("cuda_runtime", "cudaLaunchKernel", at + 1, 2, correlation=i + 1),
                   span("kernel", "k", at + 3, 5, tid=7, stream=7, correlation=i + 1)]
    path.write_text(json.dumps({"traceEvents": events}))
    return path


@pytest.fixture(name="trace", scope="module")
def deep_trace(tmp_path_factory):
    return deep(tmp_path_factory.mktemp("deep") / "deep.json", 4000)


@pytest.mark.parametrize("how", [["--format", "text"], ["--wide"], ["--format", "csv"], ["--format", "json"]])
def test_output(trace, how):
    n_rows = 4000 + DEPTH
    assert len(support.output("call-tree", trace, *how, "--no-cache")) < 6000 * n_rows


def test_what_is_left_out_is_counted(trace):
    csv.field_size_limit(1 << 30)
    rows = list(csv.DictReader(support.output("call-tree", trace, "--format", "csv", "--no-cache").decode().splitlines()))
    assert len(rows) == 4000 + DEPTH
    names = rows[-1]["name"].split("$$")
    # eight names at each end, and the number of the others: DEPTH around the leaf, and itself
    assert len(names) == 17 and names[8] == f"… {DEPTH + 1 - 16} more …" and names[-1] == f"leaf {3999 % 7}"
    for column in ("cuda_runtime", "kernels", "kernel_infos"):
        entries = json.loads(rows[0][column])
        assert len(entries) == 17 and entries[16] == {"more": 4000 - 16} and "name" in entries[15]
        assert len(json.loads(rows[-1][column])) == 1
    assert rows[0]["n_work"] == "4000" and rows[0]["device_ns"] == "20000000"


def test_whole(trace, tmp_path):
    small = deep(tmp_path / "small.json", 3)
    rows = list(csv.DictReader(support.output("call-tree", trace, "--whole", "--format", "csv", "--no-cache", "--columns", "name",
                                              "--where", "depth > 600", "--top", "5").decode().splitlines()))
    assert rows and all(len(row["name"].split("$$")) == DEPTH + 1 for row in rows)
    # where all of it is short nothing is left out
    said = support.output("call-tree", small, "--format", "csv", "--no-cache").decode()
    assert "more" not in said and said.count("$$leaf") == 3
    # the drop-in of profile_parser leaves nothing out
    support.output("call-tree", "-s", trace, "-d", tmp_path / "out.csv", "--max_depth", "3")
    with open(tmp_path / "out.csv", encoding="utf-8") as file:
        assert file.read().count("cudaLaunchKernel") == 3 * 4000


def test_paths_are_told_apart_by_what_is_not_shown(trace):
    """Leaves of one path come together; with the middle left out others may look the same and are not."""
    rows = list(csv.DictReader(support.output("call-tree", trace, "--aggregate", "--format", "csv", "--no-cache", "--columns",
                                              "calls,depth").decode().splitlines()))
    assert [row["calls"] for row in rows if row["depth"] == str(DEPTH + 1)] == ["572", "572", "572", "571", "571", "571", "571"]
    assert len(rows) == DEPTH + 7


def test_two_paths_that_look_alike(tmp_path):
    """A hundred deep twice, a name in the middle differs: two rows each from there on, though the ends are the same. So many siblings
    are in it that names in the middle are left out."""
    events, at = [], 0
    for turn in range(2):
        n = 30000
        for i in range(100):
            events.append(span("python_function", f"other {turn}" if i == 50 else f"call {i}", at + i, 10 * n + 300 - 2 * i))
        events += [span("python_function", "leaf", at + 100 + 10 * i, 8) for i in range(n)]
        at += 10 * n + 1000
    (tmp_path / "a.json").write_text(json.dumps({"traceEvents": events}))
    rows = list(csv.DictReader(support.output("call-tree", tmp_path / "a.json", "--aggregate", "--format", "csv", "--no-cache", "--no-lists",
                                              "--columns", "name,calls,depth").decode().splitlines()))
    leaves = [row for row in rows if row["depth"] == "101"]
    assert [row["calls"] for row in leaves] == ["30000", "30000"]
    assert leaves[0]["name"] == leaves[1]["name"] and "… 85 more …" in leaves[0]["name"]
