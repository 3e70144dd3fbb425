# SPDX-License-Identifier: Apache-2.0
"""steps, operators, kernels and modules against the TensorBoard plugin's own tables, cell by cell.

tests/golden-tensorboard has what torch-tb-profiler 0.4.3 computes for recordings of this repository; for more of them
and for the plugin's own sample it is read from beside $HOLOTRACE_EXTRA_DATA. Where the plugin is wrong
(docs/departures-from-tensorboard.md) the definition says what is right, and the plugin's way gives its cells.
"""
import csv
import functools
import io
import json
import os
import pathlib

import pytest

import support
import tensorboard

csv.field_size_limit(1 << 30)
BUNDLED = support.ROOT / "tests" / "golden-tensorboard"
TRACES = {
    "h200_train": "examples/train/train.json.gz",
    "h200_ddp": "examples/ddp/ddp_rank0.json.gz",
    "h200_cpu": "examples/cpu/cpu.json.gz",
    "h200_graph": "examples/graph/graph.json.gz",
    "h200_compile": "tests/data/compile/compile.json.gz",
    "h200_resnet": "tests/data/resnet/resnet.json.gz",
    "h200_memory": "tests/data/memory/memprof.json.gz",
}
SAMPLE = "tb_plugin/worker0.1623143089861.pt.trace.json.gz"
US = 1000


def folders():
    extra = os.environ.get("HOLOTRACE_EXTRA_DATA")
    for case, trace in TRACES.items():
        for folder in [BUNDLED / case] + ([pathlib.Path(extra, "..", "golden", "tb_plugin", case)] if extra else []):
            if folder.exists():
                yield pytest.param(folder, support.ROOT / trace, id=f"{folder.parent.name}-{case}")
    if extra:
        yield pytest.param(pathlib.Path(extra, "..", "golden", "tb_plugin", "tb_resnet50"),
                           pathlib.Path(extra, SAMPLE), id="sample")


CASES = list(folders())
every_case = pytest.mark.parametrize("folder, path", CASES)


def golden(folder, name):
    file = folder / f"{name}.json"
    if not file.exists():
        pytest.skip("the plugin has no such table here, or it is not bundled")
    return json.loads(file.read_text())


@functools.lru_cache(maxsize=None)  # each is asked for by every table
def trace_of(path):
    return tensorboard.Trace(path)


def table(verb, path, *options):
    """The plugin looks at the whole trace; what is outside of steps is no step to it."""
    text = support.output(verb, path, "--step", "all", *options, "--format", "csv", "--quiet").decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    return [row for row in rows if row.get("part") != "outside steps"]


def near(ns, us, slack=0.5):
    """Equal within the rounding of the plugin, which works in doubles of about 1e12 us."""
    return abs(ns / US - us) <= slack + 0.002


# ---- steps ----

PARTS = ["total_ns", "kernel_ns", "memcpy_ns", "memset_ns", "exposed_ns", "runtime_ns", "dataloader_ns",
         "cpu_exec_ns", "other_ns"]
ROLES = ["Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec", "Other"]


@every_case
def test_steps(folder, path):
    said = golden(folder, "overview")
    trace = trace_of(path)
    names = [c["name"] for c in said["steps"]["columns"] if c.get("role") != "tooltip"]
    theirs, right = tensorboard.steps(trace, True), tensorboard.steps(trace, False)
    rows = {int(row["step"]): [int(row[part]) for part in PARTS] for row in table("steps", path)}
    assert rows == right
    # to the plugin the GPU's copy of a step is one more step, of no length
    copies = tensorboard.step_copies(trace)
    shown = [row for row in said["steps"]["rows"] if any(row[1:]) or not copies]
    assert list(rows) == [int(row[0]) for row in shown]
    for row in shown:
        plugin = dict(zip(ROLES, theirs[int(row[0])][1:]))
        for name, value in zip(names[1:], row[1:]):
            # each interval is off by up to 1/2048 us
            assert near(plugin[name], value, 2), (row[0], name)
    mean = table("steps", path, "--view", "mean")[0]
    if not copies:
        assert near(float(mean["total_ns"]), said["performance"][0]["value"])


@every_case
def test_gpu_summary(folder, path):
    said = {item["title"]: item["value"] for item in golden(folder, "gpu_summary")}
    row = table("steps", path, "--view", "gpu")[0]
    assert row["name"] == said["Name"] and row["compute_capability"] == said["Compute Capability"]
    assert f"{round(int(row['memory_bytes']) / 2**30, 2)} GB" == said["Memory"]
    for column, title, scale in (("utilization", "GPU Utilization", 100), ("sm_efficiency", "Est. SM Efficiency", 100),
                                 ("occupancy_pct", "Est. Achieved Occupancy", 1)):
        assert abs(float(row[column]) * scale - float(said[title].split()[0])) <= 0.0051, title
    # to the plugin only kernels count that it finds below operators
    trace = trace_of(path)
    tensorboard.operators(trace, True)
    unknown = trace.lost_work | tensorboard.not_launched_by_runtime(trace)
    for plugin, value in ((False, float(row["tensor_core_share"])),
                          (True, float(said["Kernel Time using Tensor Cores"].split()[0]) / 100)):
        kernels = [e for e in trace.of(tensorboard.KERNEL) if not plugin or e not in unknown]
        on_tc = sum(e.dur for e in kernels if tensorboard.runs_on_tc(e, plugin))
        assert abs(on_tc / sum(e.dur for e in kernels) - value) <= (1e-9 if not plugin else 6e-5)


# ---- operators ----

VALUES = ["calls", "device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns"]
THEIRS = ["calls", "device_self_duration", "device_total_duration", "host_self_duration", "host_total_duration"]


def check_operators(folder, path, name, shapes):
    said = golden(folder, name)["data"]
    trace = trace_of(path)
    right = tensorboard.operators(trace, False, shapes)
    options = ["--by", "shape"] if shapes else []
    ours = {(row["name"], row["input_shape"]) if shapes else row["name"]: row for row in table("operators", path, *options)}
    assert {key: [int(row[v]) for v in VALUES] for key, row in ours.items()} == \
        {key: row[:5] for key, row in right.items()}
    for key, row in ours.items():
        device, total, on_tc, total_on_tc = right[key][1], right[key][2], right[key][5], right[key][6]
        assert abs(float(row["tc_self_pct"]) - (100 * on_tc / device if device else 0)) < 1e-9
        assert abs(float(row["tc_total_pct"]) - (100 * total_on_tc / total if total else 0)) < 1e-9
    plugin = tensorboard.operators(trace, True, shapes)
    assert {(row["name"], row["input_shape"]) if shapes else row["name"] for row in said} == set(plugin)
    for row in said:
        key = (row["name"], row["input_shape"]) if shapes else row["name"]
        for i, name in enumerate(THEIRS):
            if name in row:
                assert near(plugin[key][i] * (US if i == 0 else 1), row[name], 0.5 if i else 0), (key, name)
        # eligible stays eligible; more operators are, by a longer list
        assert row["tc_eligible"] == "No" or ours[key]["tc_eligible"] == "true"


@every_case
def test_operators(folder, path):
    check_operators(folder, path, "operation_table_by_name", False)


@every_case
def test_operators_by_shape(folder, path):
    check_operators(folder, path, "operation_table_by_name_input", True)


@every_case
def test_operators_by_stack(folder, path):
    said = golden(folder, "operation_stack_by_name")
    if not said:
        pytest.skip("no call stacks in the trace")
    ours = {(row["name"], row["call_stack"]): row for row in table("operators", path, "--by", "stack")}
    n = 0
    for part in said.values():
        for row in part["data"]:
            mine = ours[row["name"], row["call_stack"]]
            for column, name in zip(VALUES, THEIRS):
                assert near(int(mine[column]) * (US if column == "calls" else 1), row[name]), (row["name"], name)
            n += 1
    assert n > 100


# ---- kernels ----

@every_case
def test_kernels(folder, path):
    said = golden(folder, "kernel_table")["data"]
    right = tensorboard.kernels(trace_of(path))
    ours = {row["name"]: row for row in table("kernels", path)}
    assert set(ours) == set(right) == {row[0] for row in said["rows"]}
    names = [c["name"] for c in said["columns"]]
    for row in said["rows"]:
        row = dict(zip(names, row))
        mine, (calls, total, longest, shortest, blocks, occupancy) = ours[row["Name"]], right[row["Name"]]
        assert [int(mine[c]) for c in ("calls", "total_ns", "max_ns", "min_ns")] == [calls, total, longest, shortest]
        assert calls == row["Calls"]
        assert near(total, row["Total Duration (us)"]) and near(total / calls, row["Mean Duration (us)"])
        assert near(longest, row["Max Duration (us)"]) and near(shortest, row["Min Duration (us)"])
        for column, area, title in (("mean_blocks_per_sm", blocks, "Mean Blocks Per SM"),
                                    ("mean_occupancy_pct", occupancy, "Mean Est. Achieved Occupancy (%)")):
            if mine[column]:
                assert abs(float(mine[column]) - area / total) < 1e-6 * max(1, area / total)
            if title in row and total:
                assert abs(area / total - row[title]) <= 0.0051, (row["Name"], title)
        # tensor cores: the plugin's list is part of ours
        assert row["Tensor Cores Used"] == "No" or mine["tensor_cores"] == "true"
        assert (mine["tensor_cores"] == "true") == any(
            text in row["Name"] for text in tensorboard.TC_KERNELS + tensorboard.TC_KERNELS_SINCE)


@every_case
def test_kernels_by_properties(folder, path):
    said = golden(folder, "kernel_op_table")["data"]
    names = [c["name"] for c in said["columns"]]
    keys = ["name", "grid", "block", "registers", "shared_memory"]
    theirs = ["Name", "Grid", "Block", "Register Per Thread", "Shared Memory"]
    ours, by_op, lost, twice = {}, {}, {}, {}
    for row in table("kernels", path, "--by", "properties"):
        key = tuple(row[k] for k in keys)
        ours.setdefault(key, []).append(row)
        by_op[(*key, row["operator"])] = row
    trace = trace_of(path)
    tensorboard.operators(trace, True)
    # kernels without a launch are shown once per main thread
    doubled = tensorboard.not_launched_by_runtime(trace) if tensorboard.step_copies(trace) else set()
    for events, group in ((trace.lost_work, lost), (doubled, twice)):
        for e in events:
            if e.cat in tensorboard.KERNEL:
                key = (e.name, str(e.args["grid"]), str(e.args["block"]), str(e.args["registers per thread"]),
                       str(e.args["shared memory"]))
                group.setdefault(key, []).append(e)
    found = {}
    for row in said["rows"]:
        row = dict(zip(names, row))
        key = tuple(str(row[t]) for t in theirs)
        found.setdefault(key, []).append(row)
        # what the driver launched, or a call without External id, is the root's or the first module's there
        if row["Operator"] in ("CallTreeRoot", "N/A", "") or row["Operator"].startswith(tensorboard.MODULE):
            continue
        mine = by_op[(*key, row["Operator"])]
        if int(mine["calls"]) == row["Calls"]:
            assert near(int(mine["total_ns"]), row["Total Duration (us)"])
            assert near(int(mine["max_ns"]), row["Max Duration (us)"])
            assert near(int(mine["min_ns"]), row["Min Duration (us)"])
    for key, mine in ours.items():
        gone, more, rows = lost.get(key, []), twice.get(key, []), found.get(key, [])
        assert sum(int(row["calls"]) for row in mine) == len(gone) - len(more) + sum(row["Calls"] for row in rows)
        assert near(sum(int(row["total_ns"]) for row in mine) - sum(e.dur for e in gone) + sum(e.dur for e in more),
                    sum(row["Total Duration (us)"] for row in rows), len(rows))
    assert set(found) <= set(ours)


# ---- modules ----

@every_case
def test_modules(folder, path):
    said = golden(folder, "module_stats")
    ours = {row["path"]: row for row in table("modules", path)}
    paths = []
    # the plugin knows no launches by the driver
    by_driver = bool(trace_of(path).of(tensorboard.DRIVER))

    def check(node, around):
        name, _, calls, operators, host, host_self, device, device_self, _, children = node
        where = f"{around} / {name}" if around else name
        mine = ours[where]
        paths.append(where)
        assert [int(mine["calls"]), int(mine["operators"])] == [calls, operators]
        # sums of differences of doubles of 1e12 us
        assert near(int(mine["host_total_ns"]), host, 0.01 * calls), where
        # calls without an External id are the first module's to the plugin
        if len(paths) > 1:
            assert near(int(mine["host_self_ns"]), host_self, 0.01 * (calls + operators)), where
            if not by_driver:
                assert near(int(mine["device_total_ns"]), device, 0.01 * calls), where
                assert near(int(mine["device_self_ns"]), device_self, 0.01 * calls), where
        if len(paths) > 1:
            assert int(mine["device_total_ns"]) / US >= device - 0.01 * (calls + operators)
        for child in children:
            check(child, where)

    for root in said:
        check(root, "")
    assert set(paths) == set(ours)


def test_the_sample_has_what_was_published():
    """Numbers of views.md's authors for the plugin's ResNet sample, to the digit."""
    extra = os.environ.get("HOLOTRACE_EXTRA_DATA")
    if not extra:
        pytest.skip("no extra data")
    path = pathlib.Path(extra, SAMPLE)
    rows = table("steps", path)
    assert [int(row["step"]) for row in rows] == [5, 6, 7, 8, 9, 10]
    assert [int(rows[0][part]) // US for part in PARTS[1:]] == [98598, 1941, 90, 0, 2796, 69317, 14091, 1115]
    mean = table("steps", path, "--view", "mean")[0]
    assert [round(float(mean[part]) / US) for part in PARTS] == [177592, 98589, 1915, 89, 0, 2908, 59262, 13674, 1156]
    assert len(table("operators", path)) == 76 and len(table("operators", path, "--by", "shape")) == 577
    assert len(table("kernels", path)) == 67 and len(table("kernels", path, "--by", "properties")) == 226
    first = table("operators", path)[0]
    assert [first["name"]] + [int(first[v]) for v in VALUES] == [
        "aten::cudnn_convolution_backward_weight", 318, 142461 * US, 142461 * US, 22804 * US, 40246 * US]
    kernel = table("kernels", path)[0]
    assert "dgrad_engine<float, 512, 6, 5, 3, 3, 3" in kernel["name"] or "dgrad_engine" in kernel["name"]
    assert [int(kernel["calls"]), int(kernel["total_ns"])] == [162, 80756 * US]
