# SPDX-License-Identifier: Apache-2.0
"""The gate: planted slowdowns are found, noise is not."""
import json
import random

import pytest

import support
from tiny import EXAMPLES, Tiny, notes, rows


def gate(*args):
    """(exit code, rows by metric and name, notes)"""
    done = support.run("gate", *args, "--format", "json")
    assert done.returncode in (0, 1), done.stderr.decode()
    said = json.loads(done.stdout)
    names = [c["name"] for c in said["columns"]]
    table = [dict(zip(names, row)) if isinstance(row, list) else row for row in said["rows"]]
    return done.returncode, {(r["metric"], r["name"]): r for r in table}, said.get("notes", [])


KERNELS = {"gemm": 400, "softmax": 120, "layer_norm": 80, "gelu": 60, "copy_kernel": 40}


def record(path, seed, kernels=KERNELS, n_steps=6, host_noise=0.1, run_noise=0.002, step_noise=0.004, ranks=1):
    """A run of a program: kernels (name: us, four calls a step), a host that varies from run to run."""
    rng = random.Random(seed)
    host = 3000 * (1 + rng.gauss(0, host_noise))
    factors = {name: 1 + rng.gauss(0, run_noise) for name in KERNELS | kernels}
    for rank in range(ranks):
        t = Tiny()
        at = 0.0
        for step in range(1, n_steps + 1):
            length = host * (1 + rng.gauss(0, 0.02))
            t.step(step, at, length)
            start = at + 200
            for k, (name, us) in enumerate(list(kernels.items()) * 4):
                dur = us * factors[name] * (1 + rng.gauss(0, step_noise))
                t.add("cpu_op", "aten::" + name, at + 10 + 20 * k, 15)
                t.work(name, start, dur, launch=at + 12 + 20 * k)
                start += dur
            at += length
        t.write(path, rank)
    return path


def test_alike_runs_pass(tmp_path):
    runs = [record(tmp_path / f"r{i}", i) for i in range(6)]
    for metric in ("all", "step", "gpu", "kernel"):
        for base in runs[:3]:
            for test in runs[3:]:
                code, table, said = gate("--base", base, "--test", test, "--metric", metric)
                assert code == 0 and said[-1].startswith("passed"), (metric, table, said)
        sides = [a for r in runs[:3] for a in ("--base", r)] + [a for r in runs[3:] for a in ("--test", r)]
        assert gate(*sides, "--metric", metric)[0] == 0


@pytest.mark.parametrize("n_steps", [2, 3, 6])
@pytest.mark.parametrize("name", ["gemm", "layer_norm"])
def test_a_planted_slowdown_of_a_kernel_is_named(tmp_path, name, n_steps):
    slow = KERNELS | {name: KERNELS[name] * 1.1}
    base = record(tmp_path / "base", 1, n_steps=n_steps)
    test = record(tmp_path / "test", 2, slow, n_steps=n_steps)
    code, table, said = gate("--base", base, "--test", test)
    assert code == 1 and table["kernel", name]["verdict"] == "slower", table
    assert table["kernel", name]["change_share"] == pytest.approx(0.1, abs=0.02)
    assert f"kernel {name} +" in said[-1] and said[-1].startswith("failed")
    others = [n for m, n in table if m == "kernel" and n != name]
    assert not others, table
    # the other way round it got faster
    code, table, _ = gate("--base", test, "--test", base)
    assert code == 0 and table["kernel", name]["verdict"] == "faster"


def test_runs_and_steps_are_told_apart(tmp_path):
    """The host varies by 10 % from run to run and 2 % from step to step; kernels hardly at all."""
    base = [record(tmp_path / f"a{i}", i) for i in range(4)]
    test = [record(tmp_path / f"b{i}", 10 + i) for i in range(4)]
    sides = [a for r in base for a in ("--base", r)] + [a for r in test for a in ("--test", r)]
    code, table, _ = gate(*sides)
    step, gpu = table["step", None], table["gpu", None]
    assert code == 0 and step["noise_source"] == gpu["noise_source"] == "measured"
    assert step["base_runs"] == 4 and step["test_runs"] == 4
    assert 0.01 < step["step_noise"] < 0.04 and 0.04 < step["run_noise"] < 0.2
    assert gpu["run_noise"] < 0.005 and gpu["detectable_share"] == pytest.approx(0.03)
    assert step["detectable_share"] > 0.1


def test_a_slow_host_needs_several_runs(tmp_path):
    """A quiet machine: +30 % of the step is no news with one run each, and is with three."""
    def host(path, seed, us):
        rng = random.Random(seed)
        t = Tiny()
        at = 0.0
        for step in range(1, 6):
            length = us * (1 + rng.gauss(0, 0.005))
            t.step(step, at, length + 10)
            t.add("cpu_op", "aten::slow", at + 1, length)
            at += length + 20
        return t.write(path)
    base = [host(tmp_path / f"a{i}", i, 1000) for i in range(3)]
    test = [host(tmp_path / f"b{i}", 10 + i, 1300) for i in range(3)]
    code, table, said = gate("--base", base[0], "--test", test[0])
    assert code == 0 and table["step", None]["verdict"] == "unclear"
    assert table["step", None]["noise_source"] == "assumed" and any("several" in n for n in said)
    sides = [a for r in base for a in ("--base", r)] + [a for r in test for a in ("--test", r)]
    code, table, said = gate(*sides)
    assert code == 1 and table["step", None]["verdict"] == "slower"
    assert any("aten::slow" in note for note in said)


def test_the_limit_is_the_users(tmp_path):
    base = record(tmp_path / "a", 1)
    test = record(tmp_path / "b", 2, KERNELS | {"gemm": KERNELS["gemm"] * 1.1})
    assert gate("--base", base, "--test", test, "--max-slowdown", "20%")[0] == 0
    assert gate("--base", base, "--test", test, "--max-slowdown", "0.05")[0] == 1
    # softmax is judged from a share of the GPU time on
    wide = gate("--base", base, "--test", test, "--all-rows", "--min-share", "10%")[1]
    assert {n for m, n in wide if m == "kernel"} == {"gemm", "softmax", "layer_norm"}
    # what the view shows is no part of the answer
    assert support.run("gate", "--base", base, "--test", test, "--where", "metric = step").returncode == 1


def test_calls_that_were_held_up_are_no_regression(tmp_path):
    """Where processes share a GPU, single calls take some milliseconds more."""
    base = record(tmp_path / "a", 1, ranks=4)
    test = record(tmp_path / "b", 2, ranks=4)
    rng = random.Random(3)
    for path in sorted((tmp_path / "b").glob("*.json")):
        trace = json.loads(path.read_text())
        for event in trace["traceEvents"]:
            if event["cat"] == "kernel" and rng.random() < 0.05:
                event["dur"] += 7000
        path.write_text(json.dumps(trace))
    code, table, said = gate("--base", base, "--test", test, "--all-rows")
    assert table["gpu", None]["change_share"] > 1, "the means did move"
    assert code == 0, said


def test_kernels_of_one_side_count_in_gpu(tmp_path):
    base = record(tmp_path / "a", 1)
    swapped = {("fast_" + n if n == "gemm" else n): us for n, us in KERNELS.items()}
    code, table, said = gate("--base", base, "--test", record(tmp_path / "b", 2, swapped), "--all-rows")
    assert code == 0
    assert table["kernel", "gemm"]["verdict"] == "removed" and table["kernel", "fast_gemm"]["verdict"] == "added"
    more = KERNELS | {"extra": 100}
    code, table, said = gate("--base", base, "--test", record(tmp_path / "c", 3, more))
    assert code == 1 and table["gpu", None]["verdict"] == "slower"
    assert any("extra +" in note for note in said), said


def test_communication_is_a_metric_of_its_own(tmp_path):
    kernels = KERNELS | {"ncclDevKernel_AllReduce_Sum_f32_RING_LL": 200}
    base = record(tmp_path / "a", 1, kernels)
    slow = kernels | {"ncclDevKernel_AllReduce_Sum_f32_RING_LL": 900}
    test = record(tmp_path / "b", 2, slow)
    code, table, _ = gate("--base", base, "--test", test, "--metric", "comm")
    assert code == 1 and table["comm", None]["change_share"] == pytest.approx(3.5, abs=0.1)
    code, table, _ = gate("--base", base, "--test", test, "--metric", "gpu")
    assert code == 0 and table["gpu", None]["verdict"] == "same"


def test_what_cannot_be_judged_is_refused(tmp_path):
    base = record(tmp_path / "a", 1)
    done = support.run("gate", "--base", EXAMPLES / "cpu", "--test", EXAMPLES / "cpu", "--metric", "gpu")
    assert done.returncode == 3 and b"nothing in common" in done.stderr
    done = support.run("gate", "--base", base, "--test", base, "--step", "99")
    assert done.returncode == 2 and b"no such step; there are 1 to 6" in done.stderr
    for args in (["--base", base], ["--test", base], [base], [], [base, base, base]):
        assert support.run("gate", *args).returncode == 2
    for option, value in (("--max-slowdown", "3"), ("--max-slowdown", "-1%"), ("--confidence", "1")):
        done = support.run("gate", "--base", base, "--test", base, option, value)
        assert done.returncode == 2 and option.encode() in done.stderr
    done = support.run("gate", *["--base", base] * 40, *["--test", base] * 40)
    assert done.returncode == 2 and b"up to 64" in done.stderr


def test_two_arguments_are_base_and_test(tmp_path):
    base, test = record(tmp_path / "a", 1), record(tmp_path / "b", 2)
    assert rows("gate", base, test) == rows("gate", "--base", base, "--test", test)


def test_parts_make_the_same_gate(tmp_path):
    base, test = record(tmp_path / "a", 1, ranks=2), record(tmp_path / "b", 2, ranks=2)
    more = record(tmp_path / "c", 3, ranks=2)
    sides = ["--base", base, "--base", more, "--test", test]
    support.output("part", "gate", *sides, "-o", tmp_path / "part")
    merged = support.output("merge", "gate", tmp_path / "part", "--format", "csv")
    assert merged == support.output("gate", *sides, "--format", "csv")


def test_the_answer_does_not_depend_on_threads(tmp_path):
    base, test = record(tmp_path / "a", 1, ranks=3), record(tmp_path / "b", 2, ranks=3)
    one, four = (support.output("gate", "--base", base, "--test", test, "--all-rows", "--format", "csv", "-j", j)
                 for j in ("1", "4"))
    assert one == four


def test_recorded_runs_equal_themselves():
    for trace in ("ddp", "train", "graph", "straggler"):
        code, table, _ = gate("--base", EXAMPLES / trace, "--test", EXAMPLES / trace, "--all-rows")
        assert code == 0 and all(r["change_share"] == 0 for r in table.values())
    assert notes("gate", EXAMPLES / "ddp", EXAMPLES / "ddp")[-1].startswith("passed")
