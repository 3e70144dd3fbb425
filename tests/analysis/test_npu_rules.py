"""Rules of advice about NPUs: each fires on what it is for, costs what it should, and cannot tell without its data."""
import json

from test_ascend import T0, event, operation, rank, timeline
from tiny import rows

COLUMNS = ("Step Id,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Input Shapes,Input Data Types,Output Shapes,"
           "Output Data Types,aic_mac_ratio,aic_mte2_ratio,aiv_vec_ratio,aiv_mte2_ratio,aiv_mte3_ratio\n")
NPU_RULES = {"uneven-steps", "free-time", "ai-cpu", "no-bound", "vector-use", "cube-use", "flash-attention", "format-changes", "dynamic-shapes",
             "core-clock", "op-compile", "launch-blocking", "gc", "fused-optimizer", "slow-link", "small-packets", "unaligned",
             "contention", "rdma-retries", "environment"}


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
    assert found["ai-cpu"]["state"] == "fires" and found["ai-cpu"]["us"] == 30
    # product: 1 - .45 of 400, add: 1 - .3 of 200; change is not above .8: 1 - .8 of 70
    assert found["no-bound"]["us"] == 220 + 140 + 14
    # add alone: 1 - (.1 + .2 + .3) of 200; change has one above .7
    assert found["vector-use"]["us"] == 80
    # to .8 of the cube .5 are missing, to .95 of memory as much
    assert found["cube-use"]["us"] == 200 and "1 of them have an inner axis" in found["cube-use"]["finding"]
    assert found["format-changes"]["us"] == 70 and "7.0 %" in found["format-changes"]["finding"]
    assert found["dynamic-shapes"]["state"] == "fires" and found["dynamic-shapes"]["us"] is None
    assert {row["rank"] for row in found.values() if row["state"] == "fires"} == {"0"}
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
    assert found["state"] == "fires" and found["us"] == 100
    assert "forward most of all" in found["finding"] and "in 1 of them a head or the sequence" in found["finding"]
    assert advice(rank(tmp_path / "other", kernel_details__csv=COLUMNS + kernel("add", 0, 100)))["flash-attention"][
        "state"] == "cannot tell"


def test_kernels_that_are_fine(tmp_path):
    text = COLUMNS + (kernel("short", 0, 15, core="AI_CPU", state="static") +
                      kernel("bound", 20, 900, kind="MatMulV3", ratios=(.85, .2, 0, 0, 0),
                             shapes=("8192,4096;4096,1024", "FLOAT;FLOAT", "8192,1024", "FLOAT")) +
                      kernel("unmeasured", 920, 80, core="AI_VECTOR_CORE", ratios=(0, 0, 0, 0, 0)))
    found = advice(rank(tmp_path, kernel_details__csv=text))
    for rule in ("ai-cpu", "no-bound", "cube-use", "format-changes", "dynamic-shapes"):
        assert found[rule]["state"] == "no", rule
    assert found["vector-use"]["state"] == "cannot tell"  # counters that are all 0 were not recorded


def test_no_rule_without_data(tmp_path):
    """Level 0: no types, cores, states or counters, no calls, no tables."""
    text = ("Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
            f"5,a,N/A,N/A,{T0},100\n5,b,N/A,N/A,{T0 + 200},100\n")
    found = advice(rank(tmp_path, kernel_details__csv=text))
    told = {rule for rule, state in states(found).items() if state != "cannot tell"}
    assert told <= {"format-changes"} and found["format-changes"]["state"] != "fires"


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
    assert "1 of 3 transfers" in found["unaligned"]["finding"] and found["unaligned"]["state"] == "fires"
    assert "33.3 %" in found["contention"]["finding"] and found["contention"]["state"] == "fires"


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
    assert found["uneven-steps"]["finding"].startswith("computing") and "30.0 %" in found["uneven-steps"]["finding"]
    assert found["free-time"]["us"] == 200
    assert found["communication"]["us"] == 500 and found["communication"]["rank"] == "0"
    # 1.00 GB/s against 0.00025 over RDMA is further apart than 10 and 20 GB/s over SDMA
    assert found["slow-link"]["state"] == "fires" and "RDMA" in found["slow-link"]["finding"]
    assert "3 of 4 packets over SDMA" in found["small-packets"]["finding"]
    assert found["rdma-retries"]["us"] == 4001000 and found["rdma-retries"]["rank"] == "1"
    assert found["environment"]["finding"] == "not as recommended: ASCEND_LAUNCH_BLOCKING=1"
    assert found["environment"]["rank"] == "1"


def test_other_traces_have_no_such_rules():
    from tiny import EXAMPLES
    assert not NPU_RULES & set(advice(EXAMPLES / "train"))
