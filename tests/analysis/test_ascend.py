# SPDX-License-Identifier: Apache-2.0
"""Ascend's directories: tables of every age become events and side tables, by the names of their columns."""
import gzip
import json
import random

import pytest

import support
from ascend import KERNELS, T0, cells, event, operation, rank, timeline, work
from tiny import rows


def test_kernels_without_a_timeline(tmp_path):
    path = rank(tmp_path, kernel_details__csv="\ufeff" + KERNELS)
    found = rows("events", path, "--columns", "ts_ns,dur_ns,name,kind,device,stream,args.*")
    assert [(r["ts_ns"], r["dur_ns"], r["name"], r["kind"]) for r in found] == [
        (f"{T0}001", "10500", "MatMul_1", "kernel"), (f"{T0 + 20}002", "30000", "hcom_allReduce__1", "kernel")]
    first, second = found
    assert first["stream"] == "16" and first["args.Accelerator Core"] == "AI_CORE"
    assert first["args.Input Shapes"] == "8,16;16,8" and first["args.aic_mac_ratio"] == "0.5"
    assert first["args.Block Dim"] == "32" and first["args.Step Id"] == "5"
    # N/A is no number, and a text where texts are
    assert second["args.aic_mac_ratio"] is None and second["args.Task ID"] is None
    assert second["args.Type"] == "N/A"
    kinds = {r["kernel_type"]: r for r in rows("kernel-types", path)}
    assert kinds["compute"]["sum_ns"] == "10500" and kinds["communication"]["sum_ns"] == "30000"


def test_as_many_steps_as_kernels_name(tmp_path):
    """Two kernels each, of 10 us, and of a step that comes again later; none is left out, however many there are."""
    n = 9000
    lines = ["Step Id,Name,Accelerator Core,Start Time(us),Duration(us)"]
    lines += [f"{step},k{half},AI_CORE,{T0 + 30 * step + 12 * half},10" for step in range(n) for half in (0, 1)]
    path = rank(tmp_path, kernel_details__csv="\n".join(lines) + "\n")
    found = rows("steps", path, "--columns", "step,kernel_ns")
    assert [int(r["step"]) for r in found] == list(range(n))
    assert {r["kernel_ns"] for r in found} == {"20000"}


def all_reduces(folder, *links):
    """Two ranks of which the second comes 30 us late to an allreduce of group ..586; links of the group as the exporter lists them."""
    matrix = {"step5": {"collective": {"allreduce-top1@17522688603477080586": {link: {
        "Transport Type": "HCCS", "Transit Size(MB)": 1, "Transit Time(ms)": 1, "Bandwidth(GB/s)": 1, "Op Name": "x"} for link in links}}}}
    for number, late in ((0, 0), (1, 30)):
        path = rank(folder, f"rank{number}_123_ascend_pt", communication_matrix__json=json.dumps(matrix), kernel_details__csv=(
            "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
            f"5,a,Add,AI_CORE,{T0},10\n5,hcom_allReduce__586_0_1,hcom_allReduce_,HCCL,{T0 + 20 + late},{80 - late}\n"
            f"5,b,Add,AI_CORE,{T0 + 100},10\n"))
        (path / f"profiler_info_{number}.json").write_text(json.dumps({"rank_id": number}))
    return folder


def test_waiting_is_known_when_all_ranks_of_the_group_are_here(tmp_path):
    both = rows("comm-overlap", all_reduces(tmp_path / "two", "0-0", "0-1"))
    assert [(r["exposed_wait_ns"], r["exposed_transfer_ns"]) for r in both] == [("30000", "50000"), ("0", "50000")]
    # the third rank of the group may have come later still
    some = rows("comm-overlap", all_reduces(tmp_path / "three", "0-0", "0-1", "0-2"))
    assert [(r["exposed_ns"], r["exposed_wait_ns"], r["exposed_transfer_ns"]) for r in some] == [
        ("80000", None, None), ("50000", None, None)]
    assert [r["sentence"] for r in rows("health", tmp_path / "three") if r["check"] == "missing_ranks"] == [
        "the job has 3 ranks or more, of which 2 are here"]


def test_what_tables_tell_of_kernels(tmp_path):
    """Core, blocks, types, shapes and every counter of the file, whatever it is called."""
    def line(name, kind, core, start, us, blocks, mix, shapes, ratio, other):
        return f'5,7,{name},{kind},{core},{T0 + start},{us},{blocks},{mix},"{shapes}",{ratio},{other}\n'

    header = "Step Id,Task ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),{0},Mix {0},Input Shapes,aic_mac_ratio,new_counter(%)\n"
    text = (line("mm", "MatMulV2", "AI_CORE", 0, 30, 20, 0, "8,16;16,8", .5, 10) +
            line("mm", "MatMulV2", "AI_CORE", 30, 10, 16, 0, "8,16;16,8", .1, "N/A") +
            line("mm2", "MatMulV2", "AI_CORE", 40, 10, 20, 0, "4,4;4,4", 0, 30) +
            line("hcom_allReduce__1", "N/A", "HCCL", 60, 40, 0, "N/A", "N/A", "N/A", "N/A"))
    for number, blocks in enumerate(("Block Dim", "Block Num")):
        path = rank(tmp_path / str(number), kernel_details__csv=header.format(blocks) + text)
        found = rows("kernels", path, "--by", "properties", "--columns", "name,core,block_dim,mix_block_dim,calls,total_ns")
        assert [tuple(r.values()) for r in found] == [
            ("hcom_allReduce__1", "HCCL", "0", None, "1", "40000"), ("mm", "AI_CORE", "20", "0", "1", "30000"),
            ("mm", "AI_CORE", "16", "0", "1", "10000"), ("mm2", "AI_CORE", "20", "0", "1", "10000")]
    found = rows("kernels", path, "--by", "type", "--columns", "type,calls,total_ns")
    assert [tuple(r.values()) for r in found] == [("MatMulV2", "3", "50000"), ("hcom_allReduce__1", "1", "40000")]
    found = rows("kernels", path, "--by", "shape", "--columns", "type,input_shapes,calls", "--where", "type == MatMulV2")
    assert [tuple(r.values()) for r in found] == [("MatMulV2", "8,16;16,8", "2"), ("MatMulV2", "4,4;4,4", "1")]
    # weighted by duration: (.5 * 30 + .1 * 10) / 40
    found = rows("kernels", path, "--by", "counters", "--columns", "name,core,counter,calls,mean,min,max,total_ns")
    assert [tuple(r.values()) for r in found] == [
        ("mm", "AI_CORE", "aic_mac_ratio", "2", "0.4", "0.1", "0.5", "40000"),
        ("mm", "AI_CORE", "new_counter(%)", "1", "10", "10", "10", "30000"),
        ("mm2", "AI_CORE", "aic_mac_ratio", "1", "0", "0", "0", "10000"),
        ("mm2", "AI_CORE", "new_counter(%)", "1", "30", "30", "30", "10000")]


def test_operators_without_a_timeline(tmp_path):
    """The exporter's list of calls: names, shapes over several lines, stacks; times of all calls."""
    text = ("\ufeffName,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
            "Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)\r\n"
            'aten::mm,"2,3;\r\n3,4","a.py(1): f;\r\nb.py(2): g",1.5,2.5,0,30.25,0,20.0\r\n'
            'aten::mm,"2,3;\r\n3,4",N/A,0.5,0.5,0,10.0,0,0\r\n'
            "aclnnMm,,,1,1,40.25,40.25,20.0,20.0\r\n")
    path = rank(tmp_path, operator_details__csv=text)
    found = rows("operators", path, "--by", "shape")
    assert [(r["name"], r["input_shape"], r["calls"], r["device_self_ns"], r["device_total_ns"], r["host_self_ns"], r["host_total_ns"],
             r["tc_eligible"]) for r in found] == [
        ("aclnnMm", "[]", "1", "40250", "40250", "1000", "1000", "true"),
        ("aten::mm", "[[2, 3], [3, 4]]", "2", "0", "40250", "2000", "3000", "true")]
    assert float(found[0]["tc_self_pct"]) == pytest.approx(100 * 20 / 40.25)
    assert len(rows("operators", path, "--by", "stack")) == 3
    # its calls are in no step
    (path / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").write_text(work((5, "k", "AI_CORE", 0, 10)))
    assert rows("operators", path, "--step", "5") == []
    top = [r for r in rows("summary", path) if r["topic"] == "operators"]
    assert top[0]["finding"].startswith("aclnnMm 40.3 µs, 1 call, 100 %") and not top[0]["evidence"]
    # of all of a recording they are the answer where there is a timeline, too; of a part of it that is
    both = rank(tmp_path / "both", operator_details__csv=text, trace_view__json=timeline(
        event("aten::add", T0, 5, 1) | {"cat": "cpu_op"}, event("forward", T0 - 1, 9, 1) | {"cat": "user_annotation"}))
    assert [(r["name"], r["calls"], r["host_self_ns"]) for r in rows("operators", both)] == [
        ("aclnnMm", "1", "1000"), ("aten::mm", "2", "2000")]
    assert [r["name"] for r in rows("operators", both, "--annotation", "forward")] == ["aten::add"]
    # a step is no choice as long as nobody names it
    stepped = rank(tmp_path / "stepped", operator_details__csv=text, trace_view__json=timeline(
        event("aten::add", T0, 5, 1) | {"cat": "cpu_op"}, event("ProfilerStep#1", T0 - 1, 9, 1) | {"cat": "user_annotation"}))
    assert [r["name"] for r in rows("operators", stepped)] == ["aclnnMm", "aten::mm"]
    assert [r["name"] for r in rows("operators", stepped, "--step", "1")] == ["aten::add"]


def test_summary_of_steps_that_only_the_exporter_has(tmp_path):
    path = rank(tmp_path, step_trace_time__csv="Step,Computing,Communication(Not Overlapped),Overlapped,Free\n5,300,500,0,200\n")
    found = {r["topic"]: r["finding"] for r in rows("summary", path)}
    assert found["step time"].startswith("1.00 ms")
    assert found["time breakdown"] == "Computing 30 %, exposed communication 50 %, Free 20 %, of the exporter's steps"


def test_ranks_without_events_do_not_communicate_for_0_ns(tmp_path):
    rank(tmp_path, "rank0_123_ascend_pt", kernel_details__csv=work((5, "hcom_allReduce__1_0_1", "HCCL", 0, 10)))
    rank(tmp_path, "rank1_123_ascend_pt", step_trace_time__csv=(
        "Step,Computing,Communication(Not Overlapped),Overlapped,Free\n5,300,500,0,200\n"))
    found = rows("comm-overlap", tmp_path)
    assert [(r["rank"], r["count"], r["communication_ns"], r["exposed_ns"]) for r in found] == [
        ("0", "1", "10000", "10000"), ("1", None, None, None)]
    assert [r["exposed_ns"] for r in rows("distributed", tmp_path)] == ["10000", "500000"]


#: Two steps, the second of which begins to communicate before the first has ended.
NAMED_STEPS = work((4, "MatMul", "AI_CORE", 0, 10), (4, "hcom_allReduce_", "HCCL", 30, 30), (5, "hcom_allGather_", "HCCL", 50, 20),
                   (5, "MatMul", "AI_CORE", 90, 30))


def test_named_steps_in_every_verb(tmp_path):
    """Each is from its first work to its last, not before the one before it has ended; work is of the one that it names."""
    path = rank(tmp_path, kernel_details__csv=NAMED_STEPS)
    found = rows("steps", path)
    assert [(r["step"], r["total_ns"], r["kernel_ns"], r["exposed_ns"], r["other_ns"], r["n_work"]) for r in found] == [
        ("4", "60000", "10000", "30000", "20000", "2"), ("5", "60000", "30000", "10000", "20000", "2")]
    assert [r["step"] for r in rows("events", path, "--columns", "step")] == ["4", "4", "5", "5"]
    # any verb takes them, and by default nothing is left out: all work of the last one is there
    assert {r["name"]: r["calls"] for r in rows("kernels", path, "--step", "5")} == {"MatMul": "1", "hcom_allGather_": "1"}
    assert {r["name"]: r["calls"] for r in rows("kernels", path)} == {"MatMul": "2", "hcom_allReduce_": "1", "hcom_allGather_": "1"}
    types = {r["kernel_type"]: r["sum_ns"] for r in rows("kernel-types", path)}
    assert types["compute"] == "40000" and types["communication"] == "40000"  # the two overlap by 10 us
    types = {r["kernel_type"]: r["sum_ns"] for r in rows("kernel-types", path, "--step", "4")}
    assert types["compute"] == "10000" and types["communication"] == "30000"
    refused = support.run("kernels", path, "--step", "6", "--no-cache")
    assert refused.returncode == 2 and b"there are 4 to 5" in refused.stderr


def test_a_path_without_a_host(tmp_path):
    """Nothing of the host was recorded: what the device waited for cannot be told, and nobody is blamed."""
    path = rank(tmp_path, kernel_details__csv=NAMED_STEPS)
    found = rows("critical-path", path)
    assert {(r["step"], r["bound_by"]): int(r["duration_ns"]) for r in found} == {
        ("4", "gpu_compute_bound"): 10000, ("4", "host_unrecorded"): 20000, ("4", "gpu_communication_bound"): 30000,
        ("5", "gpu_compute_bound"): 30000, ("5", "host_unrecorded"): 20000, ("5", "gpu_communication_bound"): 10000}
    text = support.run("critical-path", path, "--no-cache").stdout.decode()
    assert "cpu_bound" not in text and "work of the host" not in text
    summary = {r["topic"]: r["finding"] for r in rows("summary", path)}
    assert summary["bound by"].startswith("n/a: no CPU activity recorded")


def test_rules_about_launches_need_launches(tmp_path):
    """A rank whose file has no host: that nothing was launched, or how often, is not known, and no rule says 0 %."""
    path = rank(tmp_path, kernel_details__csv=NAMED_STEPS)
    said = {r["rule"]: r["finding"] for r in rows("advice", path, "--view", "rules")}
    for rule in ("launch", "tiny-kernels", "sync"):
        assert said[rule].startswith("n/a"), said[rule]


def test_ranks_that_are_not_here(tmp_path):
    """Links to other ranks say that the job has them; health tells how many are missing, and of a whole job nothing."""
    link = {"Transport Type": "HCCS", "Transit Size(MB)": 1.0, "Transit Time(ms)": 1.0, "Bandwidth(GB/s)": 1.0}
    for me in (0, 1):
        matrix = {"step1": {"p2p": {}, "collective": {"allReduce-top1@1": {f"{me}-{other}": link for other in (0, 1, 3)}}}}
        rank(tmp_path, f"rank{me}_12{me}_ascend_pt", kernel_details__csv=work((1, "MatMul", "AI_CORE", 0, 10)),
             communication_matrix__json=json.dumps(matrix))
    missing = [r for r in rows("health", tmp_path) if r["check"] == "missing_ranks"]
    assert [(r["rank"], r["count"], r["sentence"]) for r in missing] == [
        (None, "2", "the job has 4 ranks or more, of which 2 are here")]
    for other in (2, 3):
        rank(tmp_path, f"rank{other}_12{other}_ascend_pt", kernel_details__csv=work((1, "MatMul", "AI_CORE", 0, 10)))
    assert not [r for r in rows("health", tmp_path) if r["check"] == "missing_ranks"]


@pytest.mark.parametrize("verb", ("summary", "critical-path", "steps", "advice", "health", "idle-breakdown"))
def test_npus_are_called_npus(tmp_path, verb):
    path = rank(tmp_path, kernel_details__csv=NAMED_STEPS)
    for more in ((), ("--view", "rules") if verb == "advice" else ()):
        text = support.run(verb, path, *more, "--no-cache").stdout.decode()
        assert "GPU" not in text, text
    if verb == "summary":
        assert "NPU" in text


CELLS = {  # what a cell may hold, and what comes out; more than a block of rows, so that blocks differ
    "few digits": lambda rng: f"{rng.randint(0, 10 ** rng.randint(0, 7))}.{rng.randint(0, 999)}",
    "whole": lambda rng: str(rng.randint(0, 2 ** rng.choice((1, 31, 53, 62)))),
    "ratio": lambda rng: f"{rng.random():.{rng.randint(1, 14)}f}",
    "constant": lambda rng: "4294967295",
    "signed": lambda rng: str(rng.choice((-1, 1)) * rng.randint(0, 10 ** 12)),
    "exponents": lambda rng: rng.choice(("0.5", "1e-7", "2.5E+20", "17", "0.1234567890123456789")),
    "beyond": lambda rng: rng.choice(("7", "18446744073709551615", "12345678901234567890123")),
    "text": lambda rng: rng.choice(("forward", "backward", "12", "a, b", "\u00e4" * rng.randint(1, 30))),
    "late text": lambda rng: rng.choice(("1", "2.5", "3", "4", "5", "wait")),
    "odd": lambda rng: rng.choice(("007", "1.", ".5", "+1", "-0", "0x1", "1.2.3", "0.0", "00")),
}


def as_table(text):
    """The value that a cell is, as the tables write it: a JSON number is one, all else is a text."""
    try:
        number = json.loads(text)
    except ValueError:
        return text
    return number if isinstance(number, (int, float)) else text


@pytest.mark.parametrize("seed", range(4))
def test_cells_of_many_rows(tmp_path, seed):
    """Packed columns hold what is written, whatever comes together: every cell against Python's reading of it."""
    rng = random.Random(seed)
    names, written = list(CELLS), []
    lines = ["Name,Start Time(us),Duration(us),Accelerator Core,Stream ID," + ",".join(names)]
    for i in range(rng.choice((255, 257, 1500))):
        row = {name: "N/A" if rng.random() < rng.choice((0, 0, .3)) else CELLS[name](rng) for name in names}
        written.append(row)
        lines.append(f"k{i % 300},{T0 + i}.25,1.5,AI_CORE,{rng.choice((2, 3, 'N/A'))}," +
                     ",".join(f'"{row[name]}"' for name in names))
    path = rank(tmp_path, kernel_details__csv="\n".join(lines) + "\n")
    shown = ",".join(f"args.{name}" for name in names)
    first = rows("events", path, "--columns", shown, "--format", "csv")
    assert len(first) == len(written)
    texts = {name: False for name in names}
    for i, (want, got) in enumerate(zip(written, first)):
        for name in names:
            cell = got[f"args.{name}"]
            if want[name] == "N/A":
                assert cell is None, (i, name)
                continue
            value = as_table(want[name])
            texts[name] |= isinstance(value, str) and name == "text"
            if isinstance(value, str) or texts[name]:
                assert cell == want[name], (i, name)
            else:
                assert float(cell) == float(value), (i, name, want[name])
                assert not isinstance(value, int) or abs(value) > 2 ** 63 or int(float(cell)) == int(float(value))
    # and once more, from the cache
    assert rows("events", path, "--columns", shown, "--format", "csv") == first


def test_columns_are_found_by_name(tmp_path):
    """Another order, older and newer names, case, unknown columns, extra cells."""
    text = ("Surprise,DURATION(us),Block Num,Device_id,name,Start Time,accelerator core\n"
            f"x,2,8,3,k,{T0}.5,AI_CPU,more\n")
    path = rank(tmp_path, kernel_details__csv=text)
    (row,) = rows("events", path, "--columns", "ts_ns,dur_ns,name,device,args.*")
    assert (row["ts_ns"], row["dur_ns"], row["name"], row["device"]) == (f"{T0}500", "2000", "k", "3")
    assert row["args.Block Dim"] == "8" and row["args.Surprise"] == "x"


@pytest.mark.parametrize("change", (str.lower, str.upper, str.title))
def test_the_case_of_a_header_changes_nothing(tmp_path, change):
    """Columns that views ask for are known by one name, whatever case the header is in."""
    header, rest = KERNELS.replace(",0.5", ",0.9").split("\r\n", 1)
    plain = rank(tmp_path / "plain", kernel_details__csv=f"{header}\r\n{rest}")
    other = rank(tmp_path / "other", kernel_details__csv=f"{change(header)}\r\n{rest}")
    for verb, *more in (("steps",), ("kernels",), ("kernels", "--by", "properties"), ("advice",),
                        ("events", "--columns", "name,args.*")):
        assert rows(verb, other, *more) == rows(verb, plain, *more), verb
    assert rows("steps", other)[0]["step"] == "5"


def quoted(text, rng):
    """A cell as it may be written."""
    plain = text if not set(text) & set(',"\n') else None
    doubled = text.replace('"', '""')
    return rng.choice([w for w in (plain, f'"{doubled}"', f' {plain}\t' if plain else None) if w is not None])


@pytest.mark.parametrize("n_shapes", (3, 6000))
def test_texts_of_many_rows(tmp_path, n_shapes):
    """Few texts that come again and again, and more than are remembered: every cell is what was written."""
    rng = random.Random(n_shapes)
    columns = ("Type", "OP State", "Accelerator Core", "Input Shapes", "Output Shapes")
    kinds = [{"Type": rng.choice(("Mul", "Add", "")), "OP State": rng.choice(("dynamic", "N/A")),
              "Accelerator Core": "AI_CORE", "Input Shapes": f'{i},2;"{i}"\n7', "Output Shapes": rng.choice(("N/A", "", f"{i}"))}
             for i in range(n_shapes)]
    order = [i % n_shapes if i < 7000 else rng.randrange(n_shapes) for i in range(9000)]
    lines = ["Start Time(us),Duration(us),Name," + ",".join(columns)]
    lines += [f"{T0 + k},1.5,k{i}," + ",".join(quoted(kinds[i][c], rng) for c in columns) for k, i in enumerate(order)]
    path = rank(tmp_path, kernel_details__csv="\n".join(lines) + "\n")
    found = rows("events", path, "--columns", "name," + ",".join(f"args.{c}" for c in columns))
    assert [{c: r[f"args.{c}"] or "" for c in columns} for r in found] == [kinds[i] for i in order]
    assert [r["name"] for r in found] == [f"k{i}" for i in order]


def test_tables_add_to_the_tasks_of_a_timeline(tmp_path):
    """No task twice: what is in both has the args of both, the clocks of the two may differ by rounding."""
    trace = timeline(event("aclrtLaunch", T0 - 5, 1, 1, connection_id=9),
                     event("MatMul_1", T0 + .001, 10.5, Task_Type="x", connection_id=9),
                     event("hcom_allReduce__1", T0 + 20.001, 30, 3),
                     event("MatMul_1", T0 + 100, 10.5))
    path = rank(tmp_path, trace_view__json=trace, kernel_details__csv=KERNELS +
                f"5,1,2,16,Lonely,Add,AI_CORE,{T0 + 50},1,0,1,N/A,N/A\n")
    found = rows("events", path, "--columns", "ts_ns,name,kind,args.*", "--where", "kind = kernel")
    assert [(r["name"], r["args.Accelerator Core"], r["args.connection_id"]) for r in found] == [
        ("MatMul_1", "AI_CORE", "9"), ("hcom_allReduce__1", "HCCL", None), ("MatMul_1", None, None),
        ("Lonely", "AI_CORE", None)]
    health = {r["check"]: r["count"] for r in rows("health", path)}
    assert health["unmatched_kernels"] == "1"
    # the links of the timeline are those of its tasks, and what was added survives a cache and a copy
    copy = tmp_path / "copy.json"
    assert support.run("convert", path, "-o", copy).returncode == 0
    assert rows("events", copy, "--columns", "ts_ns,name,args.*") == rows(
        "events", path, "--columns", "ts_ns,name,args.*")


def test_memory(tmp_path):
    record = ("Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n"
              f"PTA+GE,{T0}.5\t,1.5,4,1.25,1,NPU:1\nAPP,{T0 + 1}.5\t,,8,,,NPU:1\n")
    operator = ("Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),Device Type\n"
                f"aten::empty,2,{T0},{T0 + 3},1,NPU:1\ncann::Add,-1,,{T0 + 4},,NPU:1\naten::x,3,{T0 + 5},,2,NPU:1\n"
                "aten::lost,3,,,2,NPU:1\n")
    path = rank(tmp_path, memory_record__csv=record, operator_memory__csv=operator)
    found = rows("memory-curve", path)
    assert {(r["device"], r["component"], r["allocated_bytes"], r["reserved_bytes"], r["active_bytes"])
            for r in found} >= {("npu:1", "PTA+GE", str(3 << 19), str(4 << 20), str(5 << 18)),
                                ("npu:1", "APP", None, str(8 << 20), None)}
    found = {r["operator"]: r for r in rows("memory-events", path)}
    assert found["aten::empty"]["size_bytes"] == "2048" and found["aten::empty"]["duration_ns"] == "3000"
    # the row names its operator though only the release is in the recording
    assert found["cann::Add"]["size_bytes"] == "1024" and found["cann::Add"]["allocated_ts_ns"] is None
    assert "<unknown>" not in found and found["cann::Add"]["op_index"] is None
    assert found["aten::x"]["released_ts_ns"] is None and "aten::lost" not in found
    assert {r["check"]: r["count"] for r in rows("health", path)}["row_lost"] == "1"


def test_memory_of_steps_that_only_work_names(tmp_path):
    """Without a timeline a step lasts from its first work to its last, 0.001 to 50.002 us here."""
    memory = ("Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Device Type\n"
              f"inside,1,{T0 + 15},{T0 + 16},1,NPU:0\noutside,2,{T0 + 500},{T0 + 501},1,NPU:0\n")
    path = rank(tmp_path, kernel_details__csv=KERNELS, operator_memory__csv=memory)
    assert [r["operator"] for r in rows("memory-events", path)] == ["inside", "outside"]
    assert [r["operator"] for r in rows("memory-events", path, "--step", "5")] == ["inside"]
    later = rank(tmp_path / "later", kernel_details__csv=KERNELS,
                 operator_memory__csv=memory.replace(f"{T0 + 15}", f"{T0 + 95}").replace(f"{T0 + 16}", f"{T0 + 96}"))
    for verb in ("memory-events", "memory-stats", "memory-curve"):
        text = support.output(verb, later, "--step", "5").decode()
        assert "no memory events in the selection" in text and "profile_memory" not in text


def test_older_memory_tables(tmp_path):
    record = f"Tag,Timestamp(us),Total Reserved(KB),Total Allocated(KB),Device Type\nPTA,{T0},4,2,NPU:0\n"
    operator = f"Tag,Operator,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Device Type\nx,op,1,{T0},,,CPU\n"
    path = rank(tmp_path, memory_record__csv=record, operator_memory__csv=operator)
    (row,) = [r for r in rows("memory-curve", path) if r["device"] == "npu:0"]
    assert (row["allocated_bytes"], row["reserved_bytes"]) == ("2048", "4096")
    assert [(r["device"], r["operator"]) for r in rows("memory-events", path)] == [("cpu", "op")]


COMMUNICATION = {"step5": {"collective": {"hcom_x@77": {
    "Communication Time Info": {"Start Timestamp(us)": T0 + .5, "Elapse Time(ms)": 1.5, "Wait Time(ms)": 0.25},
    "Communication Bandwidth Info": {"HCCS": {"Transit Size(MB)": 2.5, "Transit Time(ms)": 0.5, "Bandwidth(GB/s)": 5,
                                              "Size Distribution": {"2.5": [1, 0.5]}}}}}, "p2p": {}}}
MATRIX = {"step": {"p2p": {"send-top1@77": {"3-12": {"Transport Type": "HCCS", "Transit Size(MB)": 1e-6,
                                                    "Transit Time(ms)": 0.001, "Op Name": "hcom_send_"}}}}}


def test_side_tables(tmp_path):
    step = "\ufeffDevice_id,Step,Computing,Overlapped,Odd\r\n0,13,231290.1,,N/A\r\n0,,2,3,x\r\n"
    path = rank(tmp_path, step_trace_time__csv=step, communication__json=json.dumps(COMMUNICATION),
                communication_matrix__json=json.dumps(MATRIX))
    assert cells(path, "step_trace_time") == [
        {"Device_id": "0", "Step": "13", "Computing": "231290.1"},
        {"Device_id": "0", "Computing": "2", "Overlapped": "3", "Odd": "x"}]
    assert cells(path, "communication") == [
        {"step": "5", "type": "collective", "op": "hcom_x", "group": "77", "start_ns": f"{T0}500",
         "elapse_ns": "1500000", "wait_ns": "250000"}]
    (link,) = cells(path, "communication_bandwidth")
    assert link["transport"] == "HCCS" and link["transit_bytes"] == "2500000" and link["transit_ns"] == "500000"
    assert json.loads(link["size_distribution"]) == {"2.5": [1, 0.5]}
    (link,) = cells(path, "communication_matrix")
    assert (link["src_rank"], link["dst_rank"], link["transit_bytes"], link["op_name"]) == ("3", "12", "1", "hcom_send_")
    assert "step" not in link


def test_embedded_line_ends(tmp_path):
    text = 'Name,Input Shapes,Call Stack,Host Self Duration(us)\n"op","2,3;\r\n4","a.py(1): f;\r\nb ""q""",1.5\n'
    path = rank(tmp_path, operator_details__csv=text)
    assert cells(path, "operator_details") == [{"Name": "op", "Input Shapes": "2,3;\r\n4",
                                               "Call Stack": 'a.py(1): f;\r\nb "q"', "Host Self Duration(us)": "1.5"}]


def test_bytes_that_are_no_text(tmp_path):
    table = b"Name,Od\xffd\nop\xfe,1\n"
    kernels = KERNELS.encode().replace(b"MatMul_1", b"Mat\xffMul").replace(b"aic_mac_ratio", b"ratio\xff")
    path = rank(tmp_path, operator_details__csv=table, kernel_details__csv=kernels)
    assert cells(path, "operator_details") == [{"Name": "op\ufffd", "Od\ufffdd": "1"}]
    (row,) = rows("events", path, "--columns", "name,args.*", "--top", "1")
    assert row["name"] == "Mat\ufffdMul" and row["args.ratio\ufffd"] == "0.5"
    assert "invalid_utf8" in {r["check"] for r in rows("health", path)}


def test_more_columns_than_can_be_kept(tmp_path):
    names = [f"c{i}" for i in range(17000)]
    text = "Name,Start Time(us),Duration(us),Accelerator Core," + ",".join(names) + f"\nk,{T0},1,x," + ",".join("1" * 17000)
    path = rank(tmp_path, kernel_details__csv=text + "\n")
    assert [r["name"] for r in rows("events", path)] == ["k"]
    assert "too_many_keys" in {r["check"] for r in rows("health", path)}


def test_a_damaged_file_costs_itself_only(tmp_path):
    path = rank(tmp_path, kernel_details__csv=KERNELS[:-20], communication__json='{"step": {"collective": {"a',
                memory_record__csv="")
    health = {r["check"]: r for r in rows("health", path)}
    assert health["file_lost"]["count"] == "2" and health["truncated"]["severity"] == "data loss"
    assert [r["name"] for r in rows("events", path)] == ["MatMul_1"]
    assert support.run("info", path, "--strict").returncode == 3
    path = rank(tmp_path, "rank1_1_ascend_pt", communication__json="{")
    assert support.run("info", path).returncode == 3


def test_health_says_what_is_missing(tmp_path):
    path = rank(tmp_path, kernel_details__csv=KERNELS)
    health = {r["check"]: r for r in rows("health", path)}
    assert {c for c in health if c.startswith("missing_")} == {
        "missing_trace", "missing_operators", "missing_memory", "missing_communication"}
    assert "critical path" in health["missing_trace"]["weakens"]
    path = rank(tmp_path, "rank1_1_ascend_pt", step_trace_time__csv="Step,Computing\n1,2.5\n", trace_view__json="""[{"name": "aten::add", "ph": "X", "cat": "cpu_op",
        "pid": 1, "tid": 1, "ts": "%s", "dur": 1}]""" % T0)
    assert "missing_kernels" in {r["check"] for r in rows("health", path)}


def test_the_rank_is_in_profiler_info(tmp_path):
    for i, number in enumerate((7, 3)):
        path = rank(tmp_path, f"host_{i}_99_ascend_pt", kernel_details__csv=KERNELS)
        (path / f"profiler_info_{number}.json").write_text(json.dumps({"rank_id": number, "config": {}}))
    assert sorted({r["rank"] for r in rows("info", tmp_path)}) == ["3", "7"]


def test_a_log_directory_is_a_tree(tmp_path):
    """Runs below a log directory are found without being told to look there; GPU and NPU side by side."""
    rank(tmp_path / "first", "host_1_20_ascend_pt", kernel_details__csv=KERNELS)
    rank(tmp_path / "first", "host_1_3_ascend_pt", kernel_details__csv=KERNELS)
    (tmp_path / "second" / "deep").mkdir(parents=True)
    (tmp_path / "second" / "deep" / "w0.7.pt.trace.json").write_text('{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1}]}')
    found = rows("info", tmp_path, "--view", "runs")
    assert [(r["run"], r["worker"], r["span"], r["stamp"], r["target"], r["node"], r["process"], r["events"])
            for r in found] == [("first", "host_1", "1", "20", "npu", "host", "1", "2"),
                                ("first", "host_1", "2", "3", "npu", "host", "1", "2"),
                                ("second/deep", "w0", "1", "7", "gpu", "w0", None, "1")]
    facts = [(r["item"], r["value"]) for r in rows("info", tmp_path / "first") if r["topic"] == "run"]
    assert ("span", "2, stamp 3") in facts and ("worker", "host_1") in facts
    # what is no run of either layout is not looked for
    (tmp_path / "other" / "sub").mkdir(parents=True)
    (tmp_path / "other" / "sub" / "a.json").write_text('{"traceEvents":[]}')
    done = support.run("info", tmp_path / "other")
    assert done.returncode == 3 and b"--recursive" in done.stderr


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_threads_and_compression_do_not_matter(tmp_path, jobs):
    files = {"kernel_details__csv": KERNELS, "memory_record__csv":
             f"Component,Timestamp(us),Total Allocated(MB),Device Type\nPTA,{T0},1,NPU:0\n"}
    plain = rank(tmp_path / "a", **files)
    packed = rank(tmp_path / "b", **{k + "__gz": gzip.compress(v.encode()) for k, v in files.items()})
    want = rows("events", plain, "--columns", "ts_ns,name,args.*")
    assert rows("events", packed, "--columns", "ts_ns,name,args.*", "--jobs", jobs) == want


def test_the_cache_sees_every_file(tmp_path):
    path = rank(tmp_path, kernel_details__csv=KERNELS, step_trace_time__csv="Step,Computing\n1,2\n")
    before = rows("tables", path, "--view", "cells")
    assert rows("tables", path, "--view", "cells") == before
    (path / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv").write_text("Step,Computing\n1,3\n")
    assert rows("tables", path, "--view", "cells") != before


def test_hidden_files_are_no_tables(tmp_path):
    path = rank(tmp_path, kernel_details__csv=KERNELS, step_trace_time__csv="Step,Computing\n1,2\n")
    before = rows("tables", path), rows("health", path)
    for name in (".step_trace_time.csv", ".csv"):
        (path / "ASCEND_PROFILER_OUTPUT" / name).write_text("Step,Computing\n1,9\n")
    assert (rows("tables", path), rows("health", path)) == before


def test_output_is_never_written_over_a_file_of_the_rank(tmp_path):
    path = rank(tmp_path, kernel_details__csv=KERNELS)
    done = support.run("convert", path, "-o", path / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv")
    assert done.returncode == 2
    assert (path / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").read_bytes() == KERNELS.encode()


STEP_TIMES = ("Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Preparing\n"
              "0,5,100.5,40.25,10,50.25,9.25,150,1,2\n0,6,10,4,1,5,1,15,0,\n")
MOVED = {"RDMA": (0.5, 0.25, {"0.25": [2, 0.25]}), "HCCS": (20, 2, {"16": [1, 1.5], "2": [2, 0.5]}), "PCIE": (0, 0, {}),
         "SDMA": (20, 2, {}), "SIO": (0, 0, {})}


def link(transport, size, ms):
    return {"Transport Type": transport, "Transit Size(MB)": size, "Transit Time(ms)": ms, "Bandwidth(GB/s)": 1, "Op Name": "x"}


def exporter_files():
    """Two allreduces and a send in step 5; links of one group, whose ranks are known, and of another."""
    ops = {"hcom_allReduce__586_0_1@77": operation(4, 2, 1, MOVED), "hcom_allReduce__586_1_1@77": operation(3, 1, 1, MOVED)}
    matrix = {"allreduce-top1@77": {"0-1": link("HCCS", 20, 2)}, "allreduce-total@77":
              {"0-0": link("LOCAL", 1, .5), "0-1": link("HCCS", 40, 4)}, "send-total@88": {"0-1": link("RDMA", 1, 1)}}
    return {"step_trace_time__csv": STEP_TIMES,
            "communication__json": json.dumps({"step5": {
                "p2p": {"hcom_send__9_0@88": operation(1, 1, 0, {})},
                "collective": dict(ops, **{"Total Op Info": operation(7, 3, 2, MOVED)})}}),
            "communication_matrix__json": json.dumps({"step5": {"p2p": {}, "collective": matrix}})}


def view(path, name, *more):
    """The rows of a view of the exporter's tables, as tuples."""
    return [tuple(row.values()) for row in rows("distributed", path, "--view", name, *more)]


def test_views_of_the_exporter(tmp_path):
    path = rank(tmp_path, **exporter_files())
    (path / "profiler_metadata.json").write_text(json.dumps(
        {"parallel_group_info": {"77": {"group_name": "dp", "group_rank": 0, "global_ranks": [4, 6]}}}))
    # computing + exposed communication + free: 100.5 + 40.25 + 9.25 = 150 us
    assert view(path, "steps") == [
        ("0", "5", "150000", "100500", "10000", "40250", "9250", "2000", "1000", "150000"),
        ("0", "6", "15000", "10000", "1000", "4000", "1000", None, "0", "15000")]
    steps = [event(f"ProfilerStep#{n}", T0 + n, 1, 1, connection_id=n) | {"cat": "cpu_op"} for n in (5, 6, 7)]
    (path / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").write_text(timeline(*steps))
    assert view(path, "steps", "--step", "6") == view(path, "steps")[1:]
    assert view(path, "steps", "--by", "rank") == [
        ("0", None, "165000", "110500", "11000", "44250", "10250", "2000", "1000", "165000")]
    # SDMA and RDMA of both calls: 2 * 20.5 MB; Total Op Info is no call; wait of wait and transit: 2 / 5
    assert view(path, "collectives") == [
        ("0", "5", "collective", "hcom_allReduce__", "77", "2", "41000000", "7000000", "3000000", "2000000", "0", "2000000",
         "0.4"),
        ("0", "5", "p2p", "hcom_send__", "88", "1", None, "1000000", "1000000", "0", "0", "1000000", "0")]
    # packets of 16 MB are not small, those of RDMA are below 1 MB
    assert view(path, "bandwidth") == [
        ("0", "5", "HCCS", "40000000", "4000000", "10", "6", "4", repr(4 / 6), "false"),
        ("0", "5", "RDMA", "1000000", "500000", "2", "4", "4", "1", "false"),
        ("0", "5", "SDMA", "40000000", "4000000", "10", None, None, None, "true")]
    assert view(path, "links") == [
        ("0", "5", "77", "0", "0", "LOCAL", "4", "4", "1000000", "500000", "2"),
        ("0", "5", "77", "0", "1", "HCCS", "4", "6", "40000000", "4000000", "10"),
        ("0", "5", "88", "0", "1", "RDMA", None, None, "1000000", "1000000", "1")]


def test_steps_of_a_rank_without_events(tmp_path):
    """Where there is nothing to compute from, the exporter's steps are shown, and a note says so."""
    path = rank(tmp_path, **exporter_files())
    (five, six) = rows("steps", path)
    assert (five["step"], five["total_ns"], five["kernel_ns"], five["exposed_ns"], five["other_ns"]) == (
        "5", "150000", "100500", "40250", "9250")
    assert five["memcpy_ns"] is None and six["step"] == "6"
    (mean,) = rows("steps", path, "--view", "mean")
    assert (mean["n_steps"], mean["total_ns"], mean["kernel_ns"]) == ("2", "82500", "55250")
    (five, six) = rows("distributed", path)
    assert (five["step"], five["step_ns"], five["computation_ns"], five["overlapped_ns"], five["exposed_ns"],
            five["other_ns"], five["exposed_wait_ns"]) == ("5", "150000", "90500", "10000", "40250", "9250", None)
    assert b"no events" in support.output("distributed", path)


def test_a_summary_without_the_host(tmp_path):
    """Tables of kernels alone do not tell what bounds a step."""
    path = rank(tmp_path, kernel_details__csv=KERNELS)
    found = {r["topic"]: r["finding"] for r in rows("summary", path)}
    assert found["bound by"].startswith("n/a") and found["savings"].startswith("n/a")
    assert "cause n/a" in found["NPU"] and "launch" not in found["NPU"]


def test_modules_of_work_that_cann_launched(tmp_path):
    """CANN's calls are a process of their own: what is around the operator counts, for the summary as for modules."""
    def host(name, start, length, kind="cpu_op", **args):
        return {"ph": "X", "name": name, "cat": kind, "pid": 7, "tid": 8, "ts": f"{T0 + start}", "dur": length, "args": args}

    flow = {"bp": "e", "name": "torch_to_npu", "cat": "async_npu", "id": 9}
    trace = json.loads(timeline(event("Node@launch", T0 + 30, 5, 1, connection_id=9),
                                event("MatMul_1", T0 + 50, 10.5, connection_id=9))) + [
        host("ProfilerStep#5", 0, 100), host("nn.Module: Linear_0", 10, 50, "python_function", **{"Python id": 1, "Python module id": 0}),
        host("note", 15, 40, "user_annotation"), host("aten::mm", 20, 30),
        dict(flow, ph="s", pid=7, tid=8, ts=f"{T0 + 20}"), dict(flow, ph="f", pid=2, tid=7, ts=f"{T0 + 50}")]
    path = rank(tmp_path, trace_view__json=json.dumps(trace))
    (module,) = rows("modules", path)
    assert (module["path"], module["device_total_ns"]) == ("Linear_0", "10500")
    found = {r["topic"]: r["finding"] for r in rows("summary", path)}
    assert found["modules"].startswith("Linear_0 10.5 µs, 100 %")
    assert [r["annotation"] for r in rows("kernel-annotations", path)] == ["note"]


def test_steps_that_only_work_names(tmp_path):
    """Without a timeline: from the first work to the last, and not before the one before has ended."""
    assert [r["step"] for r in rows("steps", rank(tmp_path / "one", kernel_details__csv=KERNELS))] == ["5"]
    text = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n" + "".join(
        f"{step},k,Add,AI_CORE,{T0 + start},{length}\n" for step, start, length in
        ((7, 0, 10), (8, 40, 20), (7, 30, 15), ("", 200, 5), (9, 100, 10)))
    path = rank(tmp_path / "three", kernel_details__csv=text)
    # 7: [0, 45), 8: [45, 60) of [40, 60), 9: [100, 110); step times are 45, which is the first, 15 and 50
    assert [(r["step"], r["total_ns"], r["kernel_ns"]) for r in rows("steps", path)] == [
        ("7", "45000", "25000"), ("8", "15000", "15000"), ("9", "10000", "10000")]
    assert [(r["step"], r["step_ns"]) for r in rows("distributed", path)] == [("7", "45000"), ("8", "15000"), ("9", "10000")]
    assert rows("summary", path)[1]["finding"].startswith("32.5 µs, median of 2 steps")


def test_collectives_of_two_runs_are_compared(tmp_path):
    """Their names have the number of a group and of the call, which are others in every run."""
    for run, group, us in (("a", "586", 10), ("b", "210", 25)):
        calls = [(5, f"hcom_allReduce__{group}_{number}_1", "HCCL", 50 * number, us) for number in (0, 1)]
        rank(tmp_path / run, kernel_details__csv=work(*calls, (5, "MatMul", "AI_CORE", 90, 30)))
    found = rows("diff", tmp_path / "a", tmp_path / "b", "--view", "kernels")
    assert [(r["name"], r["control_calls"], r["test_calls"], r["diff_total_ns"]) for r in found] == [
        ("hcom_allReduce__", "2", "2", "30000"), ("MatMul", "1", "1", "0")]
    found = {r["name"]: r for r in rows("diff", tmp_path / "a", tmp_path / "b")}
    assert not [name for name in found if "586" in name or "210" in name]
    assert found["hcom_allReduce__"]["diff_count"] == "0" and found["hcom_allReduce__"]["diff_ns"] == "30000"
    top = [r["finding"] for r in rows("summary", tmp_path / "a") if r["topic"] == "collectives"]
    assert top[0].startswith("hcom_allReduce__ 20.0 µs, 2 calls, 100 %")


def test_health_says_that_work_is_missing(tmp_path):
    """The exporter counts 100 us of computing and 50 of communication; a table that was cut has less."""
    steps = "Step,Computing,Communication(Not Overlapped),Overlapped,Free\n5,100,30,20,10\n"
    whole = work((5, "a", "AI_CORE", 0, 60), (5, "b", "AI_CORE", 60, 40), (5, "hcom_allReduce__1_0_1", "HCCL", 80, 50))

    def missing(path):
        return [r["sentence"] for r in rows("health", path) if r["check"] == "missing_work"]

    assert missing(rank(tmp_path / "whole", kernel_details__csv=whole, step_trace_time__csv=steps)) == []
    cut = "\n".join(whole.splitlines()[:2]) + "\n"
    assert missing(rank(tmp_path / "cut", kernel_details__csv=cut, step_trace_time__csv=steps)) == [
        "the exporter's steps have 100 µs of computing, the NPU work that is here 60.0 µs",
        "the exporter's steps have 50.0 µs of communication, the NPU work that is here 0"]
    assert missing(rank(tmp_path / "none", step_trace_time__csv=steps)) == []  # missing_kernels says that


def test_a_column_that_is_named_like_an_arg_of_ours(tmp_path):
    """A task that the timeline does not have, and columns called device and stream beside those that become them: each is there once."""
    path = rank(tmp_path, trace_view__json=timeline(event("b", T0 + 5, 1)), kernel_details__csv=(
        "Name,Start Time(us),Duration(us),Accelerator Core,Device_id,Stream ID,device,stream\n"
        f"a,{T0}.000,1,AI_CORE,3,4,8,9\n"))
    support.output("convert", path, "-o", tmp_path / "out.json", "--no-cache")
    text = (tmp_path / "out.json").read_text()
    assert text.count('"device":') == 1 and '"device":3,"stream":4' in text and text.count('"stream":') == 1


@pytest.mark.parametrize("stamp", ("9223372036854775.807", "-9223372036854775.808"))
def test_stamps_at_the_edge_are_near_nothing(stamp, tmp_path):
    path = rank(tmp_path, trace_view__json=timeline(event("a", T0, 1)), kernel_details__csv=(
        f"Name,Start Time(us),Duration(us),Accelerator Core\na,{stamp},1,AI_CORE\na,{T0}.000,1,AI_CORE\n"))
    done = support.run("events", path, "--columns", "ts_ns,name,args.*", "--format", "csv", "--no-cache")
    assert done.returncode == 0 and b"runtime error" not in done.stderr
    # the row without a time that can be is a task of its own, and that of the timeline has the other
    assert [line.rsplit(",", 1)[1] for line in done.stdout.decode().splitlines() if line.startswith(f"{T0}000,a,")] == ["AI_CORE"]
    assert done.stdout.count(b"AI_CORE") == 2


def test_rows_take_the_nearest_task_that_is_free(tmp_path):
    """Tasks of one name at 0, 0, 400 and 900 ns. Of rows at 500, 650, 500, 500 the first takes that at 400, the second that at 900, which is all
    that is near behind it, and the others those at 0, in their order; then none is left."""
    tasks = [event("k", T0 + at, 1, order=i) for i, at in enumerate((0, 0, .4, .9))]
    stamps = ("000.500", "000.650", "000.500", "000.500", "000.500", "001.500")
    path = rank(tmp_path, trace_view__json=timeline(*tasks), kernel_details__csv="Name,Start Time(us),Duration(us),Accelerator Core,Task ID\n"
                + "".join(f"k,{str(T0)[:-3]}{stamp},1,AI_CORE,{i}\n" for i, stamp in enumerate(stamps)))
    found = rows("events", path, "--columns", "ts_ns,name,args.order,args.Task ID")
    taken = {r["args.order"]: r["args.Task ID"] for r in found if r["args.order"] is not None}
    assert taken == {"2": "0", "3": "1", "0": "2", "1": "3"}
    assert [r["args.Task ID"] for r in found if r["name"] == "k" and r["args.order"] is None] == ["4", "5"]
