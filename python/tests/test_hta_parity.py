"""HTA's own results, cell by cell, where they are at hand: HOLOTRACE_EXTRA_DATA names the data folder.

Beside it lies golden/hta with one folder per case, as HTA 0.6.1 wrote them.
"""
import csv
import math
import os
import pathlib
import tempfile

import pandas as pd
import pytest

from holotrace.trace_analysis import TraceAnalysis
from holotrace.trace_diff import DeviceType, LabeledTrace, TraceDiff

DATA = pathlib.Path(os.environ.get("HOLOTRACE_EXTRA_DATA", "/nowhere"))
GOLDEN = DATA.parent / "golden" / "hta"
CASES = sorted(p.parent.name for p in GOLDEN.glob("*/DATA.txt") if (p.parent / "STATUS.txt").exists())
#: Symbol ids are arbitrary; these columns of GPU rows are wrong in HTA (docs/migrating-from-hta.md).
SKIPPED = {"cat", "name", "user_annotation", "parent", "kernel_span", "depth"}

pytestmark = pytest.mark.skipif(not CASES, reason="HOLOTRACE_EXTRA_DATA is not set")


@pytest.fixture(params=CASES)
def case(request, monkeypatch):
    monkeypatch.setenv("HTA_DISABLE_NS_ROUNDING", "1")
    folder = GOLDEN / request.param
    with tempfile.TemporaryDirectory() as links:
        for path in DATA.glob((folder / "DATA.txt").read_text().strip()):
            os.symlink(path, os.path.join(links, path.name))
        yield folder, TraceAnalysis(trace_dir=links)


def close(a, b):
    try:
        x, y = float(a or "nan"), float(b or "nan")
    except ValueError:
        return a == b
    return (math.isnan(x) and math.isnan(y)) or abs(x - y) <= max(0.011, 1e-6 * abs(x))


def share(golden, df):
    """Cells that agree; 0 when the number of rows differs."""
    theirs = list(csv.reader(open(golden)))
    ours = list(csv.reader(df.to_csv(index=not isinstance(df.index, pd.RangeIndex)).splitlines()))
    if len(theirs) != len(ours):
        return 0
    keep = [i for i, name in enumerate(theirs[0]) if name not in SKIPPED]
    pairs = [close(a[i], b[i]) for a, b in zip(theirs, ours) for i in keep]
    return sum(pairs) / len(pairs)


def test_rows_and_values(case):
    folder, analysis = case
    ranks = analysis.t.get_ranks()
    tables = {
        "comm_comp_overlap": analysis.get_comm_comp_overlap(visualize=False),
        "memory_bw_summary": analysis.get_memory_bw_summary(ranks),
        "queue_length_summary": analysis.get_queue_length_summary(ranks),
    }
    if (folder / "idle_time_breakdown.0.csv").exists():
        idle = analysis.get_idle_time_breakdown(ranks, visualize=False, show_idle_interval_stats=True)
        tables.update({"idle_time_breakdown.0": idle[0], "idle_time_breakdown.1": idle[1]})
    for name, frames in (("queue_length_time_series", analysis.get_queue_length_time_series(ranks)),
                         ("memory_bw_time_series", analysis.get_memory_bw_time_series(ranks)),
                         ("cuda_kernel_launch_stats",
                          analysis.get_cuda_kernel_launch_stats(ranks, visualize=False))):
        tables.update({f"{name}.rank{rank}": df for rank, df in frames.items()})
    for rank in ranks[1:]:
        tables[f"kernels_with_annotations.rank{rank}"] = (
            analysis.get_gpu_kernels_with_user_annotations(rank))
    for name, df in tables.items():
        golden = folder / f"{name}.csv"
        if golden.exists():
            assert share(golden, df) >= 0.97, name
        else:
            assert df is None or df.empty, name


@pytest.mark.parametrize("name, control, test", [
    ("h200_diff", "h200/diff/control", "h200/diff/test"),
    ("trace_diff", "hta/trace_diff/control", "hta/trace_diff/test")])
def test_diffs(name, control, test):
    labeled = [LabeledTrace(label, trace_dir=str(DATA / folder))
               for label, folder in (("control", control), ("test", test))]
    for device in DeviceType:
        for short in (False, True):
            df = TraceDiff.compare_traces(*labeled, device_type=device, use_short_name=short)
            golden = GOLDEN / name / f"compare.{device.name}{'.short' if short else ''}.csv"
            assert share(golden, df) == 1
