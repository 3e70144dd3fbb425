# SPDX-License-Identifier: Apache-2.0
"""Rules of advice about NPUs: each fires on what it is for, costs what it should, and is unknown without its data."""
import json

from ascend import T0, event, operation, rank, timeline
from tiny import rows

COLUMNS = ("Step Id,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Input Shapes,Input Data Types,Output Shapes,"
           "Output Data Types,aic_mac_ratio,aic_mte2_ratio,aiv_vec_ratio,aiv_mte2_ratio,aiv_mte3_ratio\n")
NPU_RULES = {"uneven-steps", "free-time", "ai-cpu", "no-bound", "vector-use", "cube-use", "flash-attention", "format-changes", "dynamic-shapes",
             "core-clock", "op-compile", "launch-blocking", "gc", "fused-optimizer", "slow-link", "small-packets", "unaligned",
             "contention", "rdma-retries", "environment", "block-dim", "fusible-kernels", "fused-operators"}


def kernel(name, start, us, core="AI_CORE", kind="Add", state="dynamic", ratios=("N/A",) * 5, shapes=("N/A",) * 4):
    quoted = ",".join(f'"{s}"' for s in shapes)
    return f"5,{name},{kind},{state},{core},{T0 + start},{us},{quoted},{','.join(map(str, ratios))}\n"


def advice(path):
    """{rule: row}, with cost in us."""
    found = {r["rule"]: r for r in rows("advice", path, "--view", "rules")}
    for row in found.values():
        row["us"] = row["cost_ns"] and int(row["cost_ns"]) / 1000
    return found


def states(found):
    return {rule: row["state"] for rule, row in found.items() if rule in NPU_RULES}


def test_kernels(tmp_path):
    """One step of 1000 us, all of it kernels."""
    large = ("8192,4096;4096,1000", "FLOAT;FLOAT", "8192,1000", "FLOAT")  # 134 + 16 + 33 MB, inner axis 1000
    text = COLUMNS + (
        kernel("cpu", 0, 30, core="AI_CPU", kind="Cast") +
        kernel("change", 30, 70, core="AI_VECTOR_CORE", kind="TransData", ratios=(0, 0, .1, .5, .8)) +
        kernel("product", 100, 400, kind="MatMulV3", ratios=(.3, .45, 0, 0, 0), shapes=large) +
        kernel("add", 500, 200, core="AI_VECTOR_CORE", ratios=(0, 0, .1, .2, .3)) +
        kernel("rest", 700, 300, core="MIX_AIC", kind="Rest", ratios=(.9, .1, 0, 0, 0)))
    found = advice(rank(tmp_path, kernel_details__csv=text))
    assert found["ai-cpu"]["state"] == "found" and found["ai-cpu"]["us"] == 30
    # product: 1 - .45 of 400, add: 1 - .3 of 200; change is not above .8: 1 - .8 of 70
    assert found["no-bound"]["us"] == 220 + 140 + 14
    # add alone: 1 - (.1 + .2 + .3) of 200; change has one above .7
    assert found["vector-use"]["us"] == 80
    # to .8 of the cube .5 are missing, to .95 of memory as much
    assert found["cube-use"]["us"] == 200 and "1 of them have an inner axis" in found["cube-use"]["finding"]
    assert found["format-changes"]["us"] == 70 and "7.0 %" in found["format-changes"]["finding"]
    assert found["dynamic-shapes"]["state"] == "found" and found["dynamic-shapes"]["us"] is None
    assert {row["rank"] for row in found.values() if row["state"] == "found"} == {"0"}
    for rule in ("ai-cpu", "no-bound", "vector-use", "cube-use", "format-changes", "dynamic-shapes"):
        assert found[rule]["evidence"] and found[rule]["next"] and found[rule]["advice"], rule


def test_flash_attention(tmp_path):
    """Forward lacks .25 of 400 us to .75 of vectors and .3 to .8 of memory: 100 us; backward is bound by fixpipe."""
    columns = COLUMNS.replace("aiv_mte3_ratio", "aiv_mte3_ratio,aic_fixpipe_ratio")
    query = ("4096,1,2048;4096,1,2048;4096,1,2048", "DT_BF16;DT_BF16;DT_BF16", "1,16,4096,8;4096,1,2048", "FLOAT;DT_BF16")
    odd = ("1,16,1000,96;1,16,1000,96", "DT_BF16;DT_BF16", "1,16,1000,8;1,16,1000,96", "FLOAT;DT_BF16")

    def row(name, start, us, kind, ratios, shapes, fixpipe):
        return kernel(name, start, us, core="MIX_AIC", kind=kind, ratios=ratios, shapes=shapes).rstrip("\n") + f",{fixpipe}\n"
    text = columns + (row("forward", 0, 400, "FlashAttentionScore", (.4, .5, .5, .2, .1), query, .1) +
                      row("backward", 400, 500, "FlashAttentionScoreGrad", (.4, .5, .5, .2, .1), query, .8) +
                      row("odd", 900, 100, "FlashAttentionScore", (.4, .9, .5, .2, .1), odd, .1))
    found = advice(rank(tmp_path, kernel_details__csv=text))["flash-attention"]
    assert found["state"] == "found" and found["us"] == 100
    assert "mostly forward" in found["finding"] and "in 1 of them a head or the sequence" in found["finding"]
    assert advice(rank(tmp_path / "other", kernel_details__csv=COLUMNS + kernel("add", 0, 100)))["flash-attention"][
        "state"] == "unknown"


def test_kernels_that_are_fine(tmp_path):
    text = COLUMNS + (kernel("short", 0, 15, core="AI_CPU", state="static") +
                      kernel("bound", 20, 900, kind="MatMulV3", ratios=(.85, .2, 0, 0, 0),
                             shapes=("8192,4096;4096,1024", "FLOAT;FLOAT", "8192,1024", "FLOAT")) +
                      kernel("unmeasured", 920, 80, core="AI_VECTOR_CORE", ratios=(0, 0, 0, 0, 0)))
    found = advice(rank(tmp_path, kernel_details__csv=text))
    for rule in ("ai-cpu", "no-bound", "cube-use", "format-changes", "dynamic-shapes"):
        assert found[rule]["state"] == "none", rule
    assert found["vector-use"]["state"] == "unknown"  # counters that are all 0 were not recorded


def test_no_rule_without_data(tmp_path):
    """Level 0: no types, cores, states or counters, no calls, no tables."""
    text = ("Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
            f"5,a,N/A,N/A,{T0},100\n5,b,N/A,N/A,{T0 + 200},100\n")
    found = advice(rank(tmp_path, kernel_details__csv=text))
    told = {rule for rule, state in states(found).items() if state != "unknown"}
    assert told <= {"format-changes"} and found["format-changes"]["state"] != "found"


def host_events():
    """A step [0, 1000) us; two cards' worth of calls, clocks and transfers."""
    def call(name, start, us, **more):
        return event(name, T0 + start, us, 1, **more)

    step = call("ProfilerStep#5", 0, 1000) | {"cat": "cpu_op", "tid": 1}
    optimizer = call("Optimizer.step#AdamW.step", 0, 40) | {"cat": "cpu_op", "tid": 1}
    compiles = [call("AscendCL@aclopCompileAndExecute", 45 + 2 * i, 1) for i in range(20)]
    # three launches, two of them followed by a wait; what is inside a launch is not behind it
    launches = [call("Node@launch", 100, 10), call("Runtime@x", 102, 1), call("AscendCL@aclrtSynchronizeStream", 110, 20),
                call("Node@launch", 200, 10), call("AscendCL@aclrtSynchronizeStream", 210, 30), call("Node@launch", 300, 10)]
    gc = [call("GC", 2000, 1), call("GC", 400, 1200) | {"tid": 99}]
    clocks = [{"ph": "C", "name": "AI Core Freq", "pid": 9, "tid": 0, "ts": f"{T0 + at}", "args": {"MHz": mhz}}
              for at, mhz in ((0, 2000), (500, 1000))]
    work = [event("MatMul", T0 + 400, 200, 2, **{"Task Type": "AI_CORE"})]

    def transfer(start, size, link, speed):
        return event("Memcpy", T0 + start, 10, 3, **{"transport type": "SDMA", "size(Byte)": size, "link type": link,
                                                     "bandwidth(GB/s)": speed})

    transfers = [transfer(410, 1025, "HCCS", 5.0), transfer(430, 1024, "HCCS", 15.0), transfer(450, 700, "ON_CHIP", 1.0),
                 transfer(700, 2048, "HCCS", 5.0), transfer(720, 100, "HCCS", 5.0)]
    return timeline(step, optimizer, *compiles, *launches, *gc, *clocks, *work, *transfers)


def test_host_and_transfers(tmp_path):
    table = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n" f"MatMul,MatMulV3,AI_CORE,{T0 + 400}.000,200\n"
    found = advice(rank(tmp_path, trace_view__json=host_events(), kernel_details__csv=table))
    assert found["op-compile"]["us"] == 20 and found["launch-blocking"]["us"] == 50
    assert "2 of 3 launches" in found["launch-blocking"]["finding"]
    assert found["gc"]["us"] == 1200 and found["fused-optimizer"]["us"] == 40
    # half of the kernel's 200 us at half the clock: it loses 50 us, a quarter
    assert found["core-clock"]["us"] == 50 and "25.0 %" in found["core-clock"]["finding"]
    # of three over links and above 512 bytes one is no multiple; one of 30 us is slow while the product runs
    assert "1 of 3 transfers" in found["unaligned"]["finding"] and found["unaligned"]["state"] == "found"
    assert "33.3 %" in found["contention"]["finding"] and found["contention"]["state"] == "found"


def test_tables_of_exporters(tmp_path):
    def files(computing, mb, rdma_ms, **environment):
        moved = {"SDMA": (mb, 1, {}), "HCCS": (mb, 1, {"1": [3, .5], "20": [1, .5]}), "RDMA": (1, rdma_ms, {"2": [1, rdma_ms]})}
        return {"step_trace_time__csv": "Step,Computing,Communication(Not Overlapped),Overlapped,Free\n"
                                        f"5,{computing},{800 - computing},0,200\n",
                "communication__json": json.dumps({"step5": {"collective": {"hcom_allReduce__1_0@7": operation(1, 1, 0, moved)}}})}

    for number, (computing, mb, ms) in enumerate(((300, 10, 1), (600, 20, 4001))):
        path = rank(tmp_path, f"rank{number}_123_ascend_pt", **files(computing, mb, ms))
        (path / f"profiler_info_{number}.json").write_text(json.dumps({"rank_id": number}))
        (path / "profiler_metadata.json").write_text(json.dumps({"ENV_VARIABLES": {
            "ASCEND_LAUNCH_BLOCKING": str(number), "ACLNN_CACHE_LIMIT": "20000", "HCCL_ALGO": ""}}))
    found = advice(tmp_path)
    assert found["uneven-steps"]["us"] == 300 and found["uneven-steps"]["rank"] == "1"
    assert "more Computing" in found["uneven-steps"]["finding"] and "30.0 %" in found["uneven-steps"]["finding"]
    assert found["free-time"]["us"] == 200
    assert found["communication"]["us"] == 500 and found["communication"]["rank"] == "0"
    # 1.00 GB/s against 0.00025 over RDMA is further apart than 10 and 20 GB/s over SDMA
    assert found["slow-link"]["state"] == "found" and "RDMA" in found["slow-link"]["finding"]
    assert "3 of 4 packets over SDMA" in found["small-packets"]["finding"]
    assert found["rdma-retries"]["us"] == 4001000 and found["rdma-retries"]["rank"] == "1"
    assert found["environment"]["finding"] == "not as recommended: ASCEND_LAUNCH_BLOCKING=1"
    assert found["environment"]["rank"] == "1"


def test_other_traces_have_no_such_rules():
    from tiny import EXAMPLES
    assert not NPU_RULES & set(advice(EXAMPLES / "train"))


BLOCKS = ("Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Block Dim,Mix Block Dim,aicore_time(us),aiv_time(us),"
          "cube_utilization(%)\n")


def blocks(name, start, us, core, n, mix=0, aicore=0.0, use=0.0):
    return f"5,{name},{name},{core},{T0 + start},{us},{n},{mix},{aicore},{0 if aicore else us},{use}\n"


def test_blocks_that_leave_cores_idle(tmp_path):
    """20 cube cores, as the exporter's utilisation says: 100 us x 20 blocks are 100 % of 20 cores for 100 us."""
    text = BLOCKS + (
        blocks("full", 0, 100, "AI_CORE", 20, aicore=100, use=100) +
        # 16 of 20: a fifth of 200 us; busy 200 us x 16 blocks of 200 us x 20 cores
        blocks("part", 100, 200, "AI_CORE", 16, aicore=200, use=80) +
        # 40 vector cores: all of them; 50 take two rounds of 40, of which 30 of 80 rest: 37.5 of 100 us
        blocks("all", 300, 100, "AI_VECTOR_CORE", 40) + blocks("more", 400, 100, "AI_VECTOR_CORE", 50) +
        # the cube is full, a quarter of the vectors beside it is not: 10 of 40 us
        blocks("mix", 500, 40, "MIX_AIC", 20, mix=30, aicore=40, use=100) +
        # no rule for these
        blocks("cpu", 540, 100, "AI_CPU", 1) + blocks("dsa", 640, 100, "DSA_SQE", 0))
    found = advice(rank(tmp_path, kernel_details__csv=text))["block-dim"]
    assert found["state"] == "found" and found["us"] == 40 + 37.5 + 10
    assert "the blocks of 3 kernels" in found["finding"] and "part, 16 blocks on 20 cores" in found["finding"]
    assert found["evidence"] and found["next"]
    # the new names of the columns
    renamed = text.replace("Block Dim", "Block Num")
    assert advice(rank(tmp_path / "new", kernel_details__csv=renamed))["block-dim"]["us"] == 87.5


def test_blocks_without_the_number_of_cores(tmp_path):
    text = BLOCKS + blocks("part", 100, 200, "AI_CORE", 16, aicore=200, use=80)
    for number, (old, new) in enumerate(((",cube_utilization(%)", ",other"), (",aicore_time(us)", ",other"), (",80\n", ",77\n"))):
        # nothing says it, or what does is no whole number: 16 x 200 / (200 x .77) = 20.8
        path = rank(tmp_path / str(number), kernel_details__csv=text.replace(old, new))
        assert advice(path)["block-dim"]["state"] == "unknown", old
    # no kernel uses 40 blocks: vector cores are not known, and are not judged
    path = rank(tmp_path / "cube", kernel_details__csv=text + blocks("one", 300, 900, "AI_VECTOR_CORE", 1))
    assert advice(path)["block-dim"]["us"] == 40
    path = rank(tmp_path / "full", kernel_details__csv=BLOCKS + blocks("full", 0, 100, "AI_CORE", 20, aicore=100, use=100))
    assert advice(path)["block-dim"]["state"] == "none"


def repeated(n, gap, us, core="AI_VECTOR_CORE", moves=(.1, .1), kinds=("Cast", "Mul", "Add"), between=""):
    """n times three kernels one behind the other with gaps, then 1000 us of something else."""
    lines, at = [], 0
    for i in range(n):
        for kind in kinds:
            lines.append(f"5,{kind}{i},{kind},{core},{T0 + at},{us},2,{moves[0]},{moves[1]}\n")
            at += us + gap
        lines.append(f"5,Other{i},Other{i},AI_CORE,{T0 + at},1,2,N/A,N/A\n")
        at += 1
    return "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Stream ID,aiv_mte2_ratio,aiv_mte3_ratio\n" + "".join(
        lines) + between


def test_kernels_that_could_be_one(tmp_path):
    # launched too slowly: three kernels of 10 us with two gaps of 30 us between them run a third of the time
    found = advice(rank(tmp_path / "slow", kernel_details__csv=repeated(6, 30, 10)))["fusible-kernels"]
    assert found["state"] == "found" and found["us"] == 6 * 2 * 30
    assert "6 times in a row: Cast, Mul, Add; kernels run 33 %" in found["finding"]
    # bound by memory, without gaps: two of three kernels could go
    found = advice(rank(tmp_path / "memory", kernel_details__csv=repeated(6, 0, 10, moves=(.5, .4))))["fusible-kernels"]
    assert found["state"] == "found" and found["us"] == 6 * 20 and "90 % of their time moves data" in found["finding"]
    for name, text in (("few", repeated(5, 30, 10)), ("computes", repeated(6, 0, 10)),
                       ("products", repeated(6, 0, 10, core="AI_CORE", moves=(.5, .4))),
                       # the device is not idle: communication runs on another stream
                       ("hidden", repeated(6, 30, 10, between=f"5,hcom_allReduce__1,hcom_allReduce_,HCCL,{T0},800,3,N/A,N/A\n"))):
        assert advice(rank(tmp_path / name, kernel_details__csv=text))["fusible-kernels"]["state"] == "none", name


def operators(*names, us=20):
    """A step with operators one behind the other, each with a kernel of that many us (or its own, as a pair)."""
    def host(name, start, dur, **more):
        return event(name, T0 + start, dur, 1, **more) | {"cat": "cpu_op", "tid": 1}

    events, at = [], 1
    for number, name in enumerate(names):
        name, own = name if isinstance(name, tuple) else (name, us)
        events += [host(name, at, 5), event("k", T0 + at + 3000, own, 2, **{"Task Type": "AI_CORE"})]
        events += [{"ph": ph, "cat": "async_npu", "name": "torch_to_npu", "id": str(number), "pid": pid, "tid": tid,
                    "ts": f"{T0 + ts}.000", "bp": "e"}
                   for ph, pid, tid, ts in (("s", 1, 1, at), ("f", 2, 7, at + 3000))]
        at += max(own, 5) + 5
    return timeline(host("ProfilerStep#5", 0, 8000), *events)


def fused(tmp_path, *names):
    return advice(rank(tmp_path / str(abs(hash(names))), trace_view__json=operators(*names)))["fused-operators"]


def test_operators_that_npus_have_fused(tmp_path):
    found = fused(tmp_path, "aten::matmul", ("aten::div", 100), "aten::add", ("aten::softmax", 200), "aten::dropout", "aten::matmul")
    assert found["state"] == "found" and found["us"] == 100 + 20 + 200 + 20
    assert "npu_fusion_attention for 1 x matmul..softmax..matmul" in found["finding"]
    # all but the longest; casts and views are passed over
    found = fused(tmp_path, "aten::to", "aten::pow", "aten::mean", "aten::to", "aten::add", "aten::rsqrt", ("aten::mul", 300))
    assert found["us"] == 100 and "npu_rms_norm for 1 x" in found["finding"]
    found = fused(tmp_path, "aten::slice", "aten::slice", "aten::neg", "aten::cat", "aten::mul", "aten::add")
    assert found["us"] == 100 and "npu_rotary_mul" in found["finding"]
    found = fused(tmp_path, "aten::chunk", ("aten::silu", 200), "aten::mul", ("aten::gelu", 150))
    assert found["us"] == 40 + 150 and "npu_swiglu for 1 x chunk-silu-mul, fast_gelu for 1 x gelu" in found["finding"]
    for names in (("aten::matmul", "aten::softmax", "aten::add"), ("aten::pow", "aten::mean", "aten::sub", "aten::rsqrt", "aten::mul"),
                  ("aten::neg", "aten::cat", "aten::mul", "aten::add"), ("aten::silu", "aten::mul")):
        assert fused(tmp_path, *names)["state"] == "none", names


def test_fused_operators_need_links(tmp_path):
    """Without links nobody knows what operators cost."""
    text = [e for e in json.loads(operators("aten::gelu", "aten::gelu")) if e["ph"] in "XM"]
    table = f"Name,Type,Accelerator Core,Start Time(us),Duration(us)\nk,Gelu,AI_CORE,{T0 + 3001}.000,20\n"
    path = rank(tmp_path, trace_view__json=json.dumps(text), kernel_details__csv=table)
    assert advice(path)["fused-operators"]["state"] == "unknown"
