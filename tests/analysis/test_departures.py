# SPDX-License-Identifier: Apache-2.0
"""One departure of each class in docs/departures-from-hta.md, on bundled traces.

Each test asserts our value of the steps that HTA looks at and HTA's value with --hta-compat, where that is offered.
HTA's values are those of its own run (see the page); times are in ns, rounded from its microseconds.
"""
import re

import pytest

import support
from tiny import EXAMPLES, Tiny, notes, rows

DATA = support.ROOT / "tests" / "data"
PAGE = support.ROOT / "docs" / "departures-from-hta.md"
HTA = "--hta-compat"


def but_last(path):
    """The steps that HTA looks at, for what differs beside its cut (last-step)."""
    numbers = [r["step"] for r in rows("steps", path, "--step", "all", "--rank", "0") if r["part"] != "outside steps"]
    return ("--step", ",".join(numbers[:-1])) if len(numbers) > 1 else ()


def both(verb, path, *args):
    """The table as we give it of the steps that HTA looks at, and as HTA does."""
    return rows(verb, path, *args, *but_last(path)), rows(verb, path, *args, HTA)


def pick(table, column, **where):
    (row,) = [r for r in table if all(r[k] == v for k, v in where.items())]
    return row[column]


def length_us(table):
    """Length of a critical path from its rows."""
    return sum(int(r["duration_ns"]) for r in table) / 1000


# ---- which rows count ----


def test_waits_are_no_work():
    ours, hta = both("temporal-breakdown", EXAMPLES / "ddp")
    assert [pick(t, "idle_ns", rank="0") for t in (ours, hta)] == ["37030961", "37019744"]
    ours, hta = both("kernel-annotations", EXAMPLES / "ddp", "--rank", "0", "--group-by", "none")
    assert (len(ours), len(hta)) == (806, 966)


def test_triton_operators_are_no_kernels():
    ours, hta = both("temporal-breakdown", DATA / "compile")
    assert pick(ours, "compute_ns", rank="0") == "1888410"
    assert int(pick(hta, "compute_ns", rank="0")) == pytest.approx(9790902, abs=2)
    ours, hta = both("critical-path", DATA / "compile", "--view", "events", "--instance", "0")
    assert [sum("triton" in r["name"] and r["cat"] == "cpu_op" for r in t) for t in (ours, hta)] == [213, 0]


def test_host_steps_decide_the_cut():
    ours, hta = both("temporal-breakdown", DATA / "resnet")
    assert (ours[0]["span_ns"], hta[0]["span_ns"]) == ("13087679", "13396254")
    assert rows("temporal-breakdown", DATA / "resnet", "--hta-rows")[0]["span_ns"] == "13396254"
    ours, hta = both("annotation-breakdown", DATA / "resnet", "--source", "cpu")
    assert [any(r["name"] == "ProfilerStep#3" for r in t) for t in (ours, hta)] == [False, True]


def test_rows_without_own_correlation_do_not_multiply(tmp_path):
    """HTA pairs all launches with all kernels when every id is 0; it would fill the memory."""
    tiny = Tiny()
    for step in range(3):
        tiny.step(step, step * 10000, 9000)
        for k in range(2000):
            at = step * 10000 + 4 * k
            tiny.add("cuda_runtime", "cudaLaunchKernel", at, 1, correlation=0)
            tiny.add("kernel", "k", at + 2, 1, pid=0, tid=7, device=0, stream=7, correlation=0)
    trace = tiny.write(tmp_path)
    assert len(rows("temporal-breakdown", trace)) == 1
    done = support.run("temporal-breakdown", trace, "--hta-rows")
    assert done.returncode != 0
    assert "24000000 rows for 12003 events" in done.stderr.decode()


def test_gpu_annotations_go_with_their_step():
    ours, hta = both("annotation-breakdown", EXAMPLES / "ddp")
    assert [pick(t, "sum_ns", rank="0", name="nccl:all_reduce") for t in (ours, hta)] == [
        "732474612", "452970407"]
    ours, hta = both("annotation-breakdown", DATA / "pipeline")
    assert (len(ours), len(hta)) == (40, 0)


def test_steps_are_no_annotations():
    ours, hta = both("kernel-annotations", DATA / "resnet", "--group-by", "none")
    labelled = [sum(r["annotation"] == "ProfilerStep#2" for r in t) for t in (ours, hta)]
    assert labelled == [0, 319]


def test_kernels_are_labelled_by_their_launch():
    ours, hta = both("kernel-annotations", EXAMPLES / "train", "--group-by", "none")
    by_gpu = rows("kernel-annotations", EXAMPLES / "train", "--source", "gpu", "--group-by", "none", "--step", "3")
    n = [sum(r["annotation"] == "## backward ##" for r in t) for t in (ours, hta, by_gpu)]
    assert n == [266, 1, 1]


# ---- arithmetic ----


def test_segments_are_not_cut_to_microseconds():
    ours, hta = both("kernel-types", EXAMPLES / "train")
    for words, values in {("compute", "COMPUTATION"): ["2567192", "2374000"],
                          ("memory", "MEMORY"): ["31071", "1000"]}.items():
        assert [pick(t, "sum_ns", kernel_type=word) for t, word in zip((ours, hta), words)] == values


def test_statistics_are_of_events():
    name = "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT"
    ours, hta = (next(r for r in t if r["name"] == name) for t in both("kernel-breakdown",
                                                                       EXAMPLES / "train"))
    assert ours["sum_ns"] == hta["sum_ns"] == hta["min_ns"] == hta["max_ns"] == "153568"
    assert (ours["min_ns"], ours["max_ns"], ours["count"]) == ("4832", "25408", "19")
    assert float(ours["mean_ns"]) == pytest.approx(153568 / 19)
    assert float(ours["std_ns"]) == pytest.approx(4513.371, abs=0.001) and float(hta["std_ns"]) == 0


def test_deviation_of_one_event_is_unknown():
    ours, hta = both("annotation-breakdown", EXAMPLES / "train")
    ours, hta = (pick(t, "std_ns", name="## forward ##") for t in (ours, hta))
    assert ours is None and float(hta) == 0


# ---- idle time ----


def idle(table):
    return {r["idle_category"]: int(r["idle_ns"]) for r in table}


def test_gaps_are_split_at_the_launch():
    ours, hta = map(idle, both("idle-breakdown", EXAMPLES / "train"))
    assert ours == {"host_wait": 62953813, "kernel_wait": 4560728, "other": 102685}
    assert hta == pytest.approx({"host_wait": 67355180, "kernel_wait": 262040, "other": 0}, abs=5000)
    assert sum(ours.values()) == pytest.approx(sum(hta.values()), abs=500)
    ours, hta = both("idle-intervals", EXAMPLES / "train")
    assert [pick(t, "count", idle_category="kernel_wait") for t in (ours, hta)] == ["408", "41"]


def test_gaps_start_at_the_latest_end():
    ours = idle(rows("idle-breakdown", DATA / "resnet", "--hta-rows"))
    hta = idle(rows("idle-breakdown", DATA / "resnet", HTA))
    span = rows("temporal-breakdown", DATA / "resnet", "--hta-rows")
    assert sum(ours.values()) == int(span[0]["idle_ns"]) == 10634879
    assert sum(hta.values()) == pytest.approx(10615970, abs=5)


def test_the_first_row_is_no_gap():
    ours, hta = both("idle-breakdown", DATA / "pipeline")
    assert len([r for r in ours if r["idle_category"] != "communication_wait"]) - len(hta) == 10
    ours, hta = both("idle-intervals", DATA / "resnet")
    assert "other" not in {r["idle_category"] for r in ours}
    assert pick(hta, "count", idle_category="other") == "0"


def test_a_rank_without_gpu_work_is_answered():
    (row,) = rows("temporal-breakdown", EXAMPLES / "cpu")
    assert row["rank"] == "0" and row["span_ns"] is None
    assert rows("idle-breakdown", EXAMPLES / "cpu") == [] and notes("idle-breakdown", EXAMPLES / "cpu")
    assert {r["bound_by"] for r in rows("critical-path", EXAMPLES / "cpu")} == {"cpu_bound"}


# ---- launches and queues ----


def test_every_launch_counts():
    ours, hta = both("launch-stats", EXAMPLES / "graph", "--view", "all")
    assert (len(ours), len(hta)) == (234, 92)
    assert {r["launch"] for r in ours} - {r["launch"] for r in hta} == {"cudaGraphLaunch",
                                                                       "cuLaunchKernelEx"}
    ours, hta = both("queue-length", EXAMPLES / "graph")
    assert (ours[0]["count"], hta[0]["count"]) == ("370", "268")
    assert float(ours[0]["mean"]) == pytest.approx(7.254054) and float(hta[0]["mean"]) == 0.5


def test_every_full_stream_is_listed():
    limit = ("--max-queue-length", "2")
    ours, hta = both("queue-blocked", EXAMPLES / "ddp", *limit)
    assert len({r["rank"] for r in ours}) < len({(r["rank"], r["stream"]) for r in ours})
    # HTA sees only what was launched in the steps it keeps, so its queues are full for less time
    by_rank = {r["rank"]: r for r in hta}
    for mine in ours:
        if mine["stream"] == by_rank[mine["rank"]]["stream"]:
            assert int(mine["blocked_ns"]) >= int(by_rank[mine["rank"]]["blocked_ns"])


def test_sequences_at_every_depth():
    ours, hta = both("kernel-sequences", EXAMPLES / "train", "--operator", "aten::linear")
    assert [int(r["count"]) for r in ours] == [12, 6, 6, 1]
    assert [int(r["count"]) for r in hta] == [1]
    assert "<" in hta[0]["pattern"] and "<" not in ours[0]["pattern"]


def test_operators_of_a_rank_are_its_own():
    each = [rows("op-launch-delay", EXAMPLES / "ddp", "--rank", str(rank)) for rank in range(4)]
    assert rows("op-launch-delay", EXAMPLES / "ddp") == [r for table in each for r in table]
    assert len(each[3]) < 2 * len(each[0])


# ---- critical path ----


@pytest.mark.parametrize("name,rank,ours_us,hta_us", [
    ("train", "0", 73008.150, 59901.467), ("resnet", "0", 13546.343, 9112.329),
    ("ddp", "0", 739512.871, 384242.216), ("pipeline", "0", 159652.605, 72208.651)])
def test_the_path_is_the_window(name, rank, ours_us, hta_us):
    folder = EXAMPLES / name if (EXAMPLES / name).is_dir() else DATA / name
    args = ("critical-path", folder, "--rank", rank, "--instance", "0")
    ours, hta = both(*args, "--view", "path")
    assert length_us(ours) == ours_us
    (graph,) = rows(*args, "--view", "graph", HTA)
    assert int(graph["length_ns"]) / 1000 == pytest.approx(hta_us, abs=0.002)


def test_a_wait_for_the_step_before_is_not_the_hosts():
    ours, hta = (pick(t, "share", bound_by="cpu_bound") for t in both(
        "critical-path", EXAMPLES / "ddp", "--rank", "0", "--instance", "1"))
    assert float(ours) == pytest.approx(0.0035, abs=5e-5) and float(hta) == pytest.approx(0.0406, abs=5e-5)


def test_the_host_is_not_blamed_while_the_gpu_works():
    ours, hta = (pick(t, "share", bound_by="cpu_bound") for t in both(
        "critical-path", DATA / "resnet", "--instance", "0"))
    assert float(ours) == pytest.approx(0.626, abs=5e-4) and float(hta) == pytest.approx(0.944, abs=5e-4)


def test_all_kernels_of_a_graph_launch():
    """All of them are in the graph, one after the other: the launch leads to the first."""
    launch = rows("events", EXAMPLES / "graph", "--where", "name == cudaGraphLaunch", "--sort", "ts_ns")[0]
    kernels = {r["index"] for r in rows("events", EXAMPLES / "graph", "--where",
                                        f"correlation == {launch['correlation']}")} - {launch["index"]}
    tables = both("critical-path", EXAMPLES / "graph", "--view", "edges", "--instance", "0")
    assert [len(kernels & {r["to_index"] for r in t}) for t in tables] == [50, 1]
    assert [len({r["to_index"] for r in t if r["from_index"] == launch["index"] and "launch" in r["type"]})
            for t in tables] == [1, 0]


def test_copies_are_not_compute():
    ours, hta = ({r["bound_by"]: r["duration_ns"] for r in t}
                 for t in both("critical-path", DATA / "resnet", "--instance", "0"))
    assert "gpu_memory_bound" in ours and "gpu_memory_bound" not in hta


def test_calls_cost_nothing_only_when_they_waited():
    ours, hta = (length_us([r for r in t if r["name"] == "cudaEventQuery"]) for t in both(
        "critical-path", EXAMPLES / "train", "--view", "path", "--instance", "0"))
    assert ours > 5 and hta == 0


def test_a_copy_call_that_waits_costs_what_comes_after_its_copy():
    tables = both("critical-path", EXAMPLES / "graph", "--view", "path", "--instance", "0")
    assert [length_us([r for r in t if r["name"] == "cudaMemcpyAsync"])
            for t in tables] == pytest.approx([6.223, 27.821], abs=0.002)


def test_paths_begin_with_the_window():
    ours, hta = both("critical-path", DATA / "pipeline", "--rank", "0", "--view", "path",
                     "--instance", "0")
    (graph,) = rows("critical-path", DATA / "pipeline", "--rank", "0", "--view", "graph",
                    "--instance", "0")
    assert ours[0]["ts_ns"] == graph["window_start_ns"] and hta[0]["stream"]


def test_no_edge_runs_back_in_time():
    ours, hta = both("critical-path", DATA / "compile", "--view", "path", "--instance", "0")
    assert min(int(r["duration_ns"]) for r in ours) > 0
    assert min(int(r["duration_ns"]) for r in hta) == pytest.approx(-3014387, abs=2)


def test_time_between_operators_has_an_owner():
    ours, hta = ({r["cat"] for r in t} for t in both(
        "critical-path", EXAMPLES / "train", "--view", "path", "--instance", "0"))
    assert "python_function" in ours and "python_function" not in hta


def test_the_last_step_can_be_asked_for():
    last = rows("critical-path", EXAMPLES / "train", "--instance", "1", "--view", "graph")
    assert last[0]["length_ns"] == "83919814"


# ---- ranks and runs ----


def test_stragglers_of_new_nccl():
    found = {r["rank"]: r for r in rows("stragglers", EXAMPLES / "straggler")}
    assert [r for r in found if found[r]["candidate"] == "true"] == ["2"]
    assert rows("stragglers", EXAMPLES / "train") == []


def test_diff_leaves_steps_and_copies_out():
    pair = EXAMPLES / "diff" / "control", EXAMPLES / "diff" / "test"
    ours, hta = both("diff", *pair)
    assert [any(r["name"] == "ProfilerStep#3" for r in t) for t in (ours, hta)] == [False, True]
    assert [pick(t, "control_count", name="## mlp ##") for t in (ours, hta)] == ["6", "12"]


def test_diff_counts_own_time():
    pair = EXAMPLES / "diff" / "control", EXAMPLES / "diff" / "test"
    ours, hta = both("diff", *pair)
    for table, column, inclusive in ((ours, "control_ns", False), (hta, "control_ns", True)):
        time = {r["name"]: int(r[column]) for r in table if r["device"] in (None, "cpu")}
        # a matrix product is the innermost operator, and linear little but a way to it
        assert (time["aten::linear"] > time["aten::addmm"]) == inclusive, (time["aten::linear"], time["aten::addmm"])


def test_diff_compares_as_many_steps():
    ours, hta = both("diff", EXAMPLES / "ddp", EXAMPLES / "ddp", "--all-rows")
    ours, hta = (pick(t, "control_count", name="## forward ##", device=d)
                 for t, d in ((ours, "cpu"), (hta, None)))
    # four ranks and two steps, against one of each with the GPU's copy
    assert (ours, hta) == ("8", "2")


# ---- the page ----


def test_the_page_defines_what_it_uses():
    defined, used = set(), set()
    for line in PAGE.read_text().splitlines():
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[3].split(",")[0] in ("yes", "no"):
            defined.add(cells[0].strip("`"))
        if len(cells) == 6 and cells[5] != "quirk" and not cells[5].startswith("-"):
            used.update(cells[5].split(", "))
    assert len(defined) > 30 and used == defined
