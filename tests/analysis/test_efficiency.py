# SPDX-License-Identifier: Apache-2.0
"""efficiency against PyTorch's own counter, and against figures worked out from the definitions.

tests/data/flops has one annotation per kind of operator, forward and backward, and what torch.utils.flop_counter says of each.
Its convention is that causal attention counts every pair. For the weights of grouped convolutions it does not divide by
the groups (the true figure is three times the forward pass), and it has no answer for grouped-query attention.
"""
import json
import random

import pytest

import support

DATA = support.ROOT / "tests" / "data"
TRUTH = json.loads((DATA / "flops" / "truth.json").read_text())
#: What an operator is called where the counter sees it, and where it launches kernels.
LAUNCHES = {"aten.convolution": ("aten::cudnn_convolution", "aten::cudnn_convolution_transpose"),
            "aten._scaled_dot_product_cudnn_attention": ("aten::_cudnn_attention_forward",),
            "aten._scaled_dot_product_cudnn_attention_backward": ("aten::_cudnn_attention_backward",)}


def efficiency(*args):
    names, rows = support.read_csv(support.output("efficiency", *args, "--format", "csv"))
    return [dict(zip(names, row)) for row in rows]


def flops_of(rows, *keys):
    return sum(int(row["flops"] or 0) for row in rows if row["key"] in keys)


@pytest.mark.parametrize("kind", [kind for kind in TRUTH if kind not in ("model", "conv_group", "sdpa_gqa")])
def test_operators_equal_the_counter(kind):
    rows = efficiency(DATA / "flops" / "ops.json.gz", "--annotation", f"## {kind} ##", "--causal", "full")
    assert sum(int(row["flops"] or 0) for row in rows) == TRUTH[kind]["total"]
    for operator, flops in TRUTH[kind]["by_op"].items():
        assert flops_of(rows, *LAUNCHES.get(operator, (operator.replace("aten.", "aten::"),))) == flops, operator


def test_weights_of_grouped_convolutions_are_divided_by_the_groups():
    rows = efficiency(DATA / "flops" / "ops.json.gz", "--annotation", "## conv_group ##", "--by", "rank")
    assert int(rows[0]["flops"]) == 3 * TRUTH["conv_group"]["by_op"]["aten.convolution"]


def test_query_heads_that_share_keys():
    """(2, 8, 512, 64) queries, so 2 * 2 * 8 * 512 * 512 * (64 + 64) forward and 2.5 times that backward."""
    rows = efficiency(DATA / "flops" / "ops.json.gz", "--annotation", "## sdpa_gqa ##", "--causal", "full", "--by", "rank")
    forward = 2 * 2 * 8 * 512 * 512 * 128
    assert int(rows[0]["flops"]) == forward + forward * 5 // 2


def test_the_model_and_its_modules_equal_the_counter():
    trace, steps = DATA / "flops" / "model.json.gz", 3
    total = efficiency(trace, "--causal", "full", "--step", "all", "--by", "rank")
    assert int(total[0]["flops"]) == steps * TRUTH["model"]["total"]
    modules = efficiency(trace, "--causal", "full", "--step", "all", "--by", "module")
    assert sum(int(row["flops"] or 0) for row in modules) == steps * TRUTH["model"]["total"]
    by_module = {name: sum(parts.values()) for name, parts in TRUTH["model"]["by_module"].items()}
    for block in range(4):
        inside = [row for row in modules if f"Block_{block}" in (row["key"] or "")]
        assert sum(int(row["flops"] or 0) for row in inside) == steps * by_module[f"GPT.blocks.{block}"]
        for k, name in enumerate(("qkv", "proj", "fc1", "fc2")):
            own = [row for row in inside if row["key"].endswith(f"Linear_{4 * block + k}")]
            assert sum(int(row["flops"]) for row in own) == steps * by_module[f"GPT.blocks.{block}.{name}"]


def test_products_of_a_training_step_are_six_times_parameters_and_tokens():
    """6 layers of 12 * 512^2 parameters and a head of 8192 * 512, 2048 tokens, two steps."""
    rows = efficiency(support.ROOT / "examples" / "train", "--step", "all")
    parameters = 6 * 12 * 512**2 + 8192 * 512
    assert flops_of(rows, "aten::mm", "aten::addmm") == 2 * 6 * parameters * 2048


def test_convolutions_of_resnet():
    """As PyTorch's with_flops prints it for the forward pass; the first layer has no gradient of its input."""
    rows = efficiency(DATA / "resnet" / "resnet.json.gz", "--step", "all")
    assert flops_of(rows, "aten::cudnn_convolution") == 232_135_852_032
    assert flops_of(rows, "aten::convolution_backward") == 449_165_918_208


@pytest.mark.parametrize("by", ["shape", "module", "step", "rank", "dtype", "kernel"])
def test_groupings_add_up_to_the_same(by):
    trace = DATA / "flops" / "model.json.gz"
    expected = efficiency(trace)
    rows = efficiency(trace, "--by", by)
    for column in ("calls", "gpu_ns", "flops", "vector_flops", "excess_ns"):
        assert sum(int(row[column] or 0) for row in rows) == sum(int(row[column] or 0) for row in expected), column


def test_an_unknown_device_has_no_roof(tmp_path):
    """Its operations are counted all the same, and the user can say what it is capable of."""
    trace = support.trace_bytes(DATA / "flops" / "ops.json.gz").replace(b"NVIDIA H200", b"NVIDIA H999")
    (tmp_path / "other.json").write_bytes(trace)
    rows = efficiency(tmp_path / "other.json", "--by", "rank")
    assert rows[0]["flops"] and not rows[0]["ideal_ns"] and not rows[0]["efficiency"]
    said = efficiency(tmp_path / "other.json", "--by", "rank", "--device-spec",
                      "name=NVIDIA H999,fp64=66.9,fp32=66.9,tf32=494.7,bf16=989.4,fp8=1978.9,hbm=4800")
    known = efficiency(DATA / "flops" / "ops.json.gz", "--by", "rank")
    assert said[0]["ideal_ns"] == known[0]["ideal_ns"] and known[0]["ideal_ns"]


def test_a_part_of_a_device_has_a_part_of_its_peaks(tmp_path):
    """Half of the SMs: products take twice as long at best."""
    trace = support.trace_bytes(DATA / "flops" / "ops.json.gz").replace(b'"numSms": 132', b'"numSms": 66')
    (tmp_path / "half.json").write_bytes(trace)
    mm = ("--annotation", "## fp32 ##", "--where", "key = aten::mm")
    half = efficiency(tmp_path / "half.json", *mm)[0]
    whole = efficiency(DATA / "flops" / "ops.json.gz", *mm)[0]
    assert abs(int(half["ideal_ns"]) - 2 * int(whole["ideal_ns"])) <= int(whole["calls"])


@pytest.mark.parametrize("khz, known", [(3125000, True), (1593000, False)])
def test_a_memory_that_does_not_fit_is_another_device(tmp_path, khz, known):
    """A bus of 6144 bits at 3.125 GHz moves 2 * 3.125e9 * 768 = 4.8e12 bytes per second, as listed; at 1.593 GHz half of that."""
    trace = support.trace_bytes(DATA / "flops" / "ops.json.gz").replace(
        b'"numSms": 132', b'"numSms": 132, "memoryClockRate": %d, "memoryBusWidth": 6144' % khz)
    (tmp_path / "memory.json").write_bytes(trace)
    assert bool(efficiency(tmp_path / "memory.json", "--by", "rank")[0]["ideal_ns"]) == known


def test_savings_stay_below_the_what_if(tmp_path):
    """Products of three streams, calls that wait for some of them, and what a kernel saves when it takes no time at all."""
    draw = random.Random(27)
    events, at, correlation = [], 10.0, 0
    free = {7: 0.0, 8: 0.0, 9: 0.0}

    def span(cat, name, ts, dur, tid, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 0 if cat == "kernel" else 1, "tid": tid, "ts": ts, "dur": dur, "args": args})

    for i in range(300):
        correlation += 1
        size = draw.choice([512, 1024, 2048])
        stream, dur = draw.choice(list(free)), draw.choice([20.0, 60.0, 200.0])
        span("cpu_op", "aten::mm", at, 6.0, 1, **{"External id": i + 1, "Input Dims": [[size, size], [size, size]], "Input type": ["float", "float"]})
        span("cuda_runtime", "cudaLaunchKernel", at + 1, 3.0, 1, **{"External id": i + 1, "correlation": correlation})
        start = max(free[stream], at + 5)
        free[stream] = start + dur
        span("kernel", f"gemm_{size}_{stream}", start, dur, stream, **{"External id": i + 1, "correlation": correlation, "device": 0, "stream": stream})
        at += draw.choice([8.0, 30.0, 90.0])
        if i % 7 == 0:
            end = max(at, *free.values()) + 2
            span("cuda_runtime", "cudaDeviceSynchronize", at, end - at, 1, correlation=100000 + i)
            at = end + 5
    span("user_annotation", "ProfilerStep#1", 0.0, at + 50, 1)
    (tmp_path / "three.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    rows = efficiency(tmp_path / "three.json", "--by", "kernel", "--device-spec", "fp32=500,hbm=4000")
    saved = {row["key"]: int(row["could_save_ns"]) for row in rows}
    assert len(saved) == 9 and 0 < sum(saved.values())
    for key, ns in saved.items():
        names, what_if = support.read_csv(support.output("critical-path", tmp_path / "three.json", "--view", "what-if", "--scale", f"^{key}$=0",
                                                         "--columns", "saved_ns", "--format", "csv"))
        assert ns <= sum(int(row[0]) for row in what_if), key
    assert any(int(row["could_save_ns"]) < int(row["excess_ns"]) for row in rows)
    order = [int(row["could_save_ns"]) for row in rows]
    assert order == sorted(order, reverse=True)


@pytest.mark.parametrize("recording", ["capture.json.gz", "eager.json.gz"])
def test_graphs_count_as_their_recordings(recording):
    """A replay of the graph computes what a step of the eager run does; without a recording its kernels are unmodelled."""
    graphs = DATA / "graphs"
    eager = {int(row["flops"]) for row in totals(graphs / "eager.json.gz") if row["step"]}
    replay = {int(row["flops"]) for row in totals(graphs / "replay.json.gz", "--attach", graphs / recording) if row["step"]}
    assert replay == eager and len(eager) == 1
    plain = totals(graphs / "replay.json.gz")[0]
    assert int(plain["flops"]) == 0 and float(plain["modelled_share"]) < 0.1
    assert {row["method"] for row in efficiency(graphs / "replay.json.gz", "--view", "unmodelled")} == {"none: no operator"}


def test_sql_has_the_same_sums():
    """At operators and at GPU activities each call counts once."""
    trace = support.ROOT / "examples" / "train"
    rows = efficiency(trace, "--step", "all")
    for table in ("ops", "gpu"):
        names, cells = support.read_csv(support.output("sql", trace, f"select sum(flops), count(distinct bound) from {table}", "--format", "csv"))
        assert int(cells[0][0]) == sum(int(row["flops"] or 0) for row in rows)
    names, cells = support.read_csv(support.output("sql", trace, "select sum(bytes) from ops where name = 'aten::mm'", "--format", "csv"))
    assert int(cells[0][0]) == next(int(row["bytes"]) for row in rows if row["key"] == "aten::mm")


def test_rules_of_the_user_come_first(tmp_path):
    """A rule for aten::mm that counts a thousand operations for each of its elements replaces the formula; others stay."""
    (tmp_path / "rules.txt").write_text("# ours\naten::m? flops = 1000 * n0 bytes = e0 * n0\n")
    trace = DATA / "flops" / "ops.json.gz"
    mm = ("--annotation", "## mm ##")
    ruled = efficiency(trace, *mm, "--attach", tmp_path / "rules.txt")
    plain = efficiency(trace, *mm)
    sizes = [768 * 1024, 1024 * 768, 1024 * 2304]    # of the first operand: the product, and its two gradients
    assert flops_of(ruled, "aten::mm") in {1000 * (a + b + c) for a in sizes for b in sizes for c in sizes}
    assert flops_of(ruled, "aten::mm") != flops_of(plain, "aten::mm")
    assert [row for row in ruled if row["key"] != "aten::mm"] == [row for row in plain if row["key"] != "aten::mm"]


def test_a_file_that_is_no_rule_is_refused(tmp_path):
    (tmp_path / "rules.txt").write_text("aten::mm flops = 2 *\n")
    done = support.run("efficiency", DATA / "flops" / "ops.json.gz", "--attach", tmp_path / "rules.txt")
    assert done.returncode == 3 and b"line 1 is no rule of efficiency" in done.stderr


def totals(*args):
    return efficiency(*args, "--view", "totals")


def test_utilisation_of_a_training_step():
    """6 N D of products, and attention of 6 layers over the pairs on and below the diagonal: 4 forward and 10 backward per pair and head element."""
    parameters, tokens = 6 * 12 * 512**2 + 8192 * 512, 2048
    attention = 6 * 8 * 8 * (256 * 257 // 2) * 64 * (4 + 10)
    rows = totals(support.ROOT / "examples" / "train", "--model", "n=23068672,layers=6,heads=8,head=64,seq=256")
    step = next(row for row in rows if row["step"] == "3")
    assert int(step["flops"]) == 6 * parameters * tokens + attention
    hfu = int(step["flops"]) / (int(step["step_ns"]) * 1e-9 * 989.4e12)
    assert float(step["hfu"]) == pytest.approx(hfu) == pytest.approx(0.0041, rel=0.01)
    palm = tokens * (6 * parameters + 12 * 6 * 8 * 64 * 256)
    assert int(step["tokens"]) == tokens
    assert float(step["palm_mfu"]) == pytest.approx(palm / (int(step["step_ns"]) * 1e-9 * 989.4e12))


def test_steps_add_up_to_the_rank():
    rows = totals(DATA / "flops" / "model.json.gz")
    whole, steps = rows[0], rows[1:]
    assert whole["step"] is None and len(steps) == int(whole["n_steps"])
    for column in ("step_ns", "gpu_ns", "flops", "recomputed_flops"):
        assert sum(int(row[column]) for row in steps) == int(whole[column]), column
    groups = efficiency(DATA / "flops" / "model.json.gz")
    modelled = sum(int(row["modelled_ns"]) for row in groups)
    gpu = sum(int(row["gpu_ns"]) for row in groups)
    assert float(whole["modelled_share"]) == pytest.approx(modelled / gpu)
    unmodelled = efficiency(DATA / "flops" / "model.json.gz", "--view", "unmodelled")
    assert 0 < sum(int(row["gpu_ns"]) for row in unmodelled) <= gpu - modelled
    assert len(unmodelled) <= 10
