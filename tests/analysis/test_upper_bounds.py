# SPDX-License-Identifier: Apache-2.0
"""No upper bound of advice exceeds what the critical path's what-if allows without what the check is about."""
import csv
import io

import pytest

import support

CPU = {"cpu_bound", "gpu_kernel_launch_overhead", "gpu_kernel_kernel_overhead"}
IDLE = CPU | {"data_loading", "gpu_memory_bound"}
#: What of the path a check could remove. A GPU also waits between steps, which is on no path.
ABOUT = {"launch": CPU, "tiny-kernels": CPU, "sync": CPU, "slow-launch": CPU, "allocation": CPU, "gpu-use": IDLE}


def rows(*args):
    text = support.output(*args, "--format", "csv", "--quiet").decode()
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("run", ["train", "graph", "et", "compile", "resnet", "flops", "graphs"])
def test_what_if_allows_it(run):
    path = support.ROOT / "examples" / run
    if not path.exists():
        path = support.ROOT / "tests" / "data" / run
    if not path.exists():
        pytest.skip(f"no {run}")
    scaled = rows("critical-path", path, "--view", "what-if")
    lengths = {row["step"]: int(row["length_ns"]) for row in scaled}
    times = [float(row["step_time_ns"]) for row in rows("steps", path) if row["step_time_ns"]]
    between = max(0, sum(times) / len(times) - sum(lengths.values()) / len(lengths))
    joint = rows("critical-path", path, "--view", "what-if", "--scale", ",".join(f"{name}=0" for name in sorted(IDLE)))
    together = sum(int(row["saved_ns"]) for row in joint if "," in row["scale"])
    judged = 0
    for row in rows("advice", path):
        if row["rule"] not in ABOUT or not row["upper_bound_ns"]:
            continue
        if row["rule"] == "gpu-use":
            saved = between * len(lengths) + together
        else:
            saved = sum(int(one["saved_ns"]) for one in scaled if one["scale"].partition("=")[0] in ABOUT[row["rule"]])
        most = saved / len(lengths)
        assert int(row["upper_bound_ns"]) <= most + 1, row["rule"]
        judged += 1
    assert judged or run in ("compile", "resnet")
