# SPDX-License-Identifier: Apache-2.0
"""Whose kernel it is: operators of graph kernels by capture and eager run, refusals, and totals that stay."""
import ast
import csv
import functools
import gzip
import io
import json
import os
import pathlib
import random

import pytest

from support import ROOT, output, run

GRAPHS = ROOT / "tests/data/graphs"
REPLAY, CAPTURE, EAGER = (GRAPHS / f"{name}.json.gz" for name in ("replay", "capture", "eager"))
SERVING = pathlib.Path(os.environ.get("HOLOTRACE_EXTRA_DATA", "/nowhere")) / "serving"


def table(*args):
    return list(csv.DictReader(io.StringIO(output(*args, "--format", "csv").decode())))


def methods(trace, *attach, view="methods"):
    args = sum((["--attach", path] for path in attach), [])
    return table("attribution", trace, "--step", "all", "--view", view, *args)


def read(path):
    with gzip.open(path) as file:
        return json.load(file)


def write(path, document):
    path.write_bytes(gzip.compress(json.dumps(document).encode(), 1))
    return path


def activities(document):
    """{correlation: activities by start}, from the definition: kernels, copies and sets of each graph launch."""
    launches = {e["args"]["correlation"]: e for e in document["traceEvents"]
                if "GraphLaunch" in e.get("name", "")}
    found = {c: [] for c in launches}
    for event in document["traceEvents"]:
        if event.get("cat") in ("kernel", "gpu_memset", "gpu_memcpy"):
            found.get(event["args"]["correlation"], []).append(event)
    return {c: sorted(list_, key=lambda e: e["ts"]) for c, list_ in found.items()}


@functools.cache
def eager_operators():
    """{size: operators of the GPU activities of eager_<size>, in order of their launches}, by External id alone."""
    events = read(EAGER)["traceEvents"]
    names = {e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"}
    calls = {e["args"]["correlation"]: e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver")}
    found = {}
    for note in events:
        if note.get("cat") != "user_annotation" or not note["name"].startswith("eager_"):
            continue
        inside = [e for e in events if e.get("cat") in ("kernel", "gpu_memset")
                  and note["ts"] <= calls[e["args"]["correlation"]]["ts"] < note["ts"] + note["dur"]]
        inside.sort(key=lambda e: calls[e["args"]["correlation"]]["ts"])
        found[int(note["name"][6:])] = [names[e["args"]["External id"]] for e in inside]
    return found


def operators_of(trace, attach):
    """{correlation: operators as events has them, by start}"""
    rows = table("events", trace, "--attach", attach, "--only", "gpu", "--columns",
                 "ts_ns,correlation,cat,name,origin_op,origin_module,origin_method,origin_confidence")
    found = {}
    for row in sorted(rows, key=lambda r: int(r["ts_ns"])):
        if row["cat"] in ("kernel", "gpu_memset", "gpu_memcpy"):
            found.setdefault(int(row["correlation"]), []).append(row)
    return found


def sizes_of(document):
    """{correlation of a graph launch: n of the annotation execute_<n> around it}"""
    notes = [e for e in document["traceEvents"] if e.get("name", "").startswith("execute_")
             and e["cat"] == "user_annotation"]
    return {e["args"]["correlation"]: next(int(n["name"][8:]) for n in notes
                                           if n["ts"] <= e["ts"] < n["ts"] + n["dur"])
            for e in document["traceEvents"] if "GraphLaunch" in e.get("name", "")}


@pytest.mark.parametrize("attach, method", [(CAPTURE, "graph-capture"), (EAGER, "graph-eager")])
def test_every_activity_has_the_operator_of_the_eager_run(attach, method):
    """552 kernels and 52 memsets of 12 replays, confidence 1, at every position the eager run's operator."""
    (row,) = methods(REPLAY, attach)
    assert (row["method"], row["confidence"], row["kernels"], row["share"]) == (method, "1", "604", "1")
    wanted, sizes = eager_operators(), sizes_of(read(REPLAY))
    found = operators_of(REPLAY, attach)
    assert len(found) == 12
    for correlation, rows in found.items():
        assert [r["origin_op"] for r in rows] == wanted[sizes[correlation]]
        assert all("nn.Module: GPT_0" in r["origin_module"] for r in rows)


def test_a_capture_comes_before_an_eager_run():
    (row,) = methods(REPLAY, EAGER, CAPTURE)
    assert row["method"] == "graph-capture"


def test_eager_work_of_the_trace_itself():
    """examples/graph has the same kernels launched one by one: 150 of 150."""
    found = {r["method"]: r["kernels"] for r in methods(ROOT / "examples/graph")}
    assert found["graph-eager"] == "150"


def test_without_a_recording_names_are_all_there_is():
    assert {r["method"] for r in methods(REPLAY)} <= {"name-rule", "none"}
    assert all("attach one" in r["why"] for r in methods(REPLAY, view="graphs"))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("what", ["shuffle", "drop"])
@pytest.mark.parametrize("attach", [EAGER, CAPTURE], ids=["names", "positions"])
def test_what_was_touched_does_not_spoil_the_rest(tmp_path, attach, what, seed):
    """Five kernels of every replay change places, or are missing. By names no other kernel may get a wrong operator; by
    position alone the join must not claim to be certain."""
    pick = random.Random(f"{what}{seed}")
    document, wanted = read(REPLAY), eager_operators()
    sizes, touched, truth, gone, changed = sizes_of(document), set(), {}, set(), set()
    for correlation, list_ in activities(document).items():
        for at, event in enumerate(list_):
            truth[id(event)] = wanted[sizes[correlation]][at]
        chosen = pick.sample([e for e in list_ if e["cat"] == "kernel"], 5)
        if what == "drop":
            gone |= {id(e) for e in chosen}
            changed.add(correlation)
            continue
        touched |= {id(e) for e in chosen}
        names = [e["name"] for e in chosen]
        for event, name in zip(chosen, names[1:] + names[:1]):
            changed |= {correlation} if event["name"] != name else set()
            event["name"] = name
    document["traceEvents"] = [e for e in document["traceEvents"] if id(e) not in gone]
    right = {(c, round(e["ts"] * 1000)): truth[id(e)]
             for c, list_ in activities(document).items() for e in list_ if id(e) not in touched}
    n_checked = 0
    for correlation, rows in operators_of(write(tmp_path / "touched.json.gz", document), attach).items():
        matched = [r for r in rows if r["origin_method"].startswith("graph-")]
        known = [(r["origin_op"], right[key]) for r in matched
                 if (key := (correlation, int(r["ts_ns"]))) in right]
        n_checked += len(known)
        if attach is EAGER:
            assert all(found == wanted for found, wanted in known)
        elif correlation in changed:
            assert all(float(r["origin_confidence"]) < 1 for r in matched)
    assert n_checked > 400 if attach is EAGER else n_checked > 400 or what == "drop"


def test_shuffled_positions_are_less_than_certain(tmp_path):
    """A gemm where the capture has a norm: the join by position says so."""
    document = read(REPLAY)
    for list_ in activities(document).values():
        gemm = next(e for e in list_ if "nvjet" in e["name"])
        norm = next(e for e in list_ if "layer_norm" in e["name"])
        gemm["name"], norm["name"] = norm["name"], gemm["name"]
    found = methods(write(tmp_path / "swapped.json.gz", document), CAPTURE, view="graphs")
    assert all(0.5 < float(r["confidence"]) < 1 and float(r["matched_share"]) < 1 for r in found)


def test_a_dropped_kernel_refuses_a_join_by_position(tmp_path):
    document = read(REPLAY)
    gone = {id(list_[7]) for list_ in activities(document).values()}
    document["traceEvents"] = [e for e in document["traceEvents"] if id(e) not in gone]
    trace = write(tmp_path / "dropped.json.gz", document)
    found = methods(trace, CAPTURE, view="graphs")
    assert {r["method"] for r in found} == {"none"} and all("another model" in r["why"] for r in found)


def test_an_elided_set_leaves_the_kernels_their_operators(tmp_path):
    """The driver may drop a captured memset from the graph: kernels join by position among kernels, less than certain."""
    document = read(REPLAY)
    gone = {id(next(e for e in inside if e["cat"] == "gpu_memset")) for inside in activities(document).values() if inside}
    document["traceEvents"] = [e for e in document["traceEvents"] if id(e) not in gone]
    replay, sizes, wanted = write(tmp_path / "replay.json.gz", document), sizes_of(document), eager_operators()
    kernels = {c: [e["cat"] == "kernel" for e in inside] for c, inside in activities(read(REPLAY)).items()}
    n = 0
    for correlation, rows in operators_of(replay, CAPTURE).items():
        if correlation not in sizes:
            continue
        rows = [row for row in rows if row["cat"] == "kernel"]
        truth = [op for op, is_kernel in zip(wanted[sizes[correlation]], kernels[correlation]) if is_kernel]
        assert len(rows) == len(truth)
        joined = [(row, op) for row, op in zip(rows, truth) if row["origin_method"] == "graph-capture"]
        assert all(row["origin_op"] == op and 0 < float(row["origin_confidence"]) < 1 for row, op in joined)
        n += len(joined)
    # one of a launch whose neighbour went is left to its name
    assert n == 552 - len(gone)


def test_sizes_decide_between_equal_counts(tmp_path):
    """Sizes 4 and 2 have 50 nodes each: without the annotation they are ambiguous and refused; a batch of 3 is padded to 4."""
    document = read(REPLAY)
    for event in document["traceEvents"]:
        if event.get("name", "").startswith("execute_4"):
            event["name"] = "execute_3"
    found = {r["size"]: r for r in methods(write(tmp_path / "padded.json.gz", document), CAPTURE, view="graphs")}
    assert found["3"]["method"] == "graph-capture" and found["3"]["kernels_per_launch"] == "50"
    for event in document["traceEvents"]:
        if event.get("name", "").startswith("execute_"):
            event["name"] = "step"
    found = methods(write(tmp_path / "bare.json.gz", document), CAPTURE, view="graphs")
    assert {(r["kernels_per_launch"], r["method"]) for r in found} == {("51", "graph-capture"), ("50", "none")}
    assert all("ambiguous" in r["why"] for r in found if r["method"] == "none")


def test_two_captures_of_one_size_are_said(tmp_path):
    """The one that was captured last is used, whichever is attached first, with a warning; a copy that says the same is none."""
    older = read(CAPTURE)
    for event in older["traceEvents"]:
        if event.get("name") == "aten::addmm":
            event["name"] = "aten::baddbmm"
    older["baseTimeNanoseconds"] -= 10**9
    older = write(tmp_path / "older.json.gz", older)
    (tmp_path / "copy.json.gz").write_bytes(CAPTURE.read_bytes())
    for attach in [(older, CAPTURE), (CAPTURE, older)]:
        found = methods(REPLAY, *attach, view="graphs")
        assert {r["from"] for r in found} == {str(CAPTURE)}
        assert all(r["note"] == f"2 captures of size {r['size']} fit and differ: the newest one is used" for r in found)
        args = sum((["--attach", path] for path in attach), [])
        lines = table("info", REPLAY, *args, "--where", "topic = attached")
        assert any("warning: 2 captures of size 8 fit and differ" in r["value"] for r in lines)
    assert not any(r["note"] for r in methods(REPLAY, CAPTURE, tmp_path / "copy.json.gz", view="graphs"))


def test_another_model_is_refused(tmp_path):
    """A model with one block less, and the graph of another program."""
    document = read(CAPTURE)
    calls = sorted((e for e in document["traceEvents"] if "Launch" in e.get("name", "")), key=lambda e: e["ts"])
    gone = {id(e) for e in calls[60:72]}
    document["traceEvents"] = [e for e in document["traceEvents"] if id(e) not in gone]
    found = methods(REPLAY, write(tmp_path / "other.json.gz", document), view="graphs")
    assert [r["method"] for r in found if r["size"] == "4"] == ["none"]
    found = methods(ROOT / "examples/graph", EAGER, view="graphs")
    assert all(r["from"] == "this trace" for r in found)


@pytest.mark.parametrize("trace", [REPLAY, ROOT / "examples/graph", ROOT / "examples/train",
                                   ROOT / "tests/data/compile"], ids=lambda p: p.name)
def test_methods_add_up_to_all_gpu_time(trace):
    """Attached or not: the sum over methods is the summed time of kernels, copies and sets."""
    events = table("events", trace, "--only", "gpu", "--columns", "rank,cat,dur_ns")
    whole = sum(int(r["dur_ns"]) for r in events if r["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"))
    for attach in ([], [CAPTURE], [EAGER, CAPTURE]):
        assert sum(int(r["gpu_ns"]) for r in methods(trace, *attach)) == whole
        assert sum(int(r["gpu_ns"]) for r in methods(trace, *attach, view="origins")) == whole


def test_sql_and_events_agree():
    rows = table("sql", REPLAY, "--attach", CAPTURE,
                 "select origin_method m, count(*) n, min(origin_confidence) c from gpu group by 1")
    assert rows == [{"m": "graph-capture", "n": "604", "c": "1"}]


def test_times_that_pass_64_bits_are_a_share_still(tmp_path):
    """16,000 kernels of 7 days are 9.7e18 ns, more than a sum has; nine in ten have a partner in the eager run."""
    def event(cat, name, tid, ts, dur, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": int(tid == 7), "tid": tid, "ts": ts, "dur": dur, "args": args}

    long, names = 604_000_000_000, ["k"] * 14_400 + ["l"] * 1_600
    kernels = [event("kernel", name, 7, 5 + i / 1000, long, correlation=1, device=0, stream=7) for i, name in enumerate(names)]
    replay = [event("cuda_runtime", "cudaGraphLaunch", 1, 0, 1, correlation=1), *kernels, event("cpu_op", "end", 1, 2 * long, 1)]
    eager = [e for i in range(len(names)) for e in (
        event("cpu_op", "aten::k", 1, 10 * i, 8), event("cuda_runtime", "cudaLaunchKernel", 1, 10 * i + 1, 1, correlation=i + 1),
        event("kernel", "k", 7, 10 ** 6 + 10 * i, 1, correlation=i + 1, device=0, stream=7))]
    rows = methods(write(tmp_path / "replay.json.gz", {"traceEvents": replay}), write(tmp_path / "eager.json.gz", {"traceEvents": eager}),
                   view="graphs")
    assert [(r["method"], r["why"]) for r in rows] == [("graph-eager", "")]


def test_two_ranks_have_their_own(tmp_path):
    """Without any of rank 1, captures of rank 0 are for both; nothing else changes with threads."""
    for rank in range(2):
        (tmp_path / f"rank{rank}.json.gz").write_bytes(REPLAY.read_bytes())
    args = ["attribution", tmp_path, "--step", "all", "--attach", f"0={CAPTURE}", "--format", "csv"]
    assert output(*args, "--jobs", "1") == output(*args, "--jobs", "4")
    assert [r["kernels"] for r in table(*args[:-2])] == ["604", "604"]


COMPILED = ROOT / "tests/data/compiled"
#: a verb, its options, and the column whose sum is a total
TOTALS = [(["operators"], "device_self_ns"), (["operators", "--by", "shape-stack"], "device_self_ns"),
          (["modules"], "device_self_ns"), (["kernels"], "total_ns"), (["kernels", "--by", "properties"], "total_ns"),
          (["kernels", "--by", "shape"], "total_ns"), (["stacks", "--time", "device"], "self_ns"),
          (["kernel-types"], "sum_ns"), (["annotation-breakdown"], "sum_ns"),
          (["annotation-breakdown", "--view", "origins"], "sum_ns"), (["critical-path"], "duration_ns"),
          (["critical-path", "--view", "path"], "duration_ns"), (["critical-path", "--view", "events"], "dur_ns"), (["launch-stats"], "gpu_ns"),
          (["launch-stats", "--view", "graphs"], "gpu_ns"), (["attribution"], "gpu_ns")]


@pytest.mark.parametrize("verb, column", TOTALS, ids=lambda v: " ".join(v) if isinstance(v, list) else "")
@pytest.mark.parametrize("trace, attach", [
    (REPLAY, CAPTURE), (REPLAY, EAGER),
    (COMPILED / "reduce-overhead.json.gz", COMPILED / "dedicated_log_torch_trace.log.gz")],
    ids=["capture", "eager", "trees"])
def test_attaching_changes_no_total(trace, attach, verb, column):
    """What is attached moves time between rows and never adds or loses any."""
    def total(*more):
        rows = table(verb[0], trace, *verb[1:], "--step", "all", "--all-rows" if "stacks" in verb else "--wide", *more)
        return sum(int(r[column]) for r in rows), rows

    alone, before = total()
    together, after = total("--attach", attach)
    assert alone == together and (alone > 0 or not before)


def test_methods_add_up_to_kernel_types():
    for attach in ([], [CAPTURE]):
        args = sum((["--attach", path] for path in attach), [])
        types = table("kernel-types", REPLAY, "--step", "all", *args)
        assert sum(int(r["gpu_ns"]) for r in methods(REPLAY, *attach)) == sum(int(r["sum_ns"]) for r in types)


def test_tables_have_graph_kernels_under_their_origin():
    """By hand from the events: time by origin_op, and by the whole path of modules."""
    args = [REPLAY, "--attach", CAPTURE, "--step", "all"]
    events = [r for r in table("events", *args, "--only", "gpu", "--columns",
                               "cat,dur_ns,origin_op,origin_module,origin_shapes")
              if r["cat"] in ("kernel", "gpu_memset", "gpu_memcpy")]
    by_op, by_path = {}, {}
    for row in events:
        by_op[row["origin_op"]] = by_op.get(row["origin_op"], 0) + int(row["dur_ns"])
        path = row["origin_module"].replace("nn.Module: ", "")
        by_path[path] = by_path.get(path, 0) + int(row["dur_ns"])
        assert row["origin_shapes"].startswith("[[")
    assert {r["name"]: int(r["device_self_ns"]) for r in table("operators", *args)} == by_op
    assert {r["path"]: int(r["device_self_ns"]) for r in table("modules", *args)
            if int(r["device_self_ns"])} == by_path


FIELDS = ["origin_op", "origin_module", "origin_source", "origin_method", "origin_confidence"]


@pytest.mark.parametrize("view", ["path", "events"])
def test_the_critical_path_says_whose_kernel_it_is(view):
    """Every GPU row has what events has for it, every other row nothing; across ranks the same."""
    args = [REPLAY, "--attach", CAPTURE, "--step", "all"]
    wanted = {r["index"]: [r[f] for f in FIELDS] for r in table("events", *args, "--only", "gpu", "--columns",
                                                                 "index," + ",".join(FIELDS))}
    for more in [[], ["--across"]] if view == "path" else [[]]:
        rows = table("critical-path", *args, "--view", view, "--columns", "index,cat," + ",".join(FIELDS), *more)
        on_gpu = [r for r in rows if r["cat"] in ("kernel", "gpu_memset")]
        assert on_gpu and {r["origin_method"] for r in on_gpu} == {"graph-capture"}
        assert all([r[f] for f in FIELDS] == wanted[r["index"]] for r in on_gpu)
        assert all(not any(r[f] for f in FIELDS) for r in rows if r["cat"] not in ("kernel", "gpu_memset"))


def test_annotations_by_origin():
    """By hand from the events; an annotation's rows add up to what kernel-annotations has for it."""
    args = [REPLAY, "--attach", CAPTURE, "--step", "all"]
    wanted = {}
    for row in table("events", *args, "--only", "gpu", "--columns", "cat,dur_ns,annotation," + ",".join(FIELDS)):
        if row["cat"] in ("kernel", "gpu_memset", "gpu_memcpy"):
            key = (row["annotation"], *(row[f] for f in FIELDS))
            count, ns = wanted.get(key, (0, 0))
            wanted[key] = count + 1, ns + int(row["dur_ns"])
    rows = table("annotation-breakdown", *args, "--view", "origins")
    assert {(r["name"], *(r[f] for f in FIELDS)): (int(r["count"]), int(r["sum_ns"])) for r in rows} == wanted
    for whole in table("kernel-annotations", *args):
        parts = [r for r in rows if r["name"] == whole["annotation"]]
        assert sum(int(r["sum_ns"]) for r in parts) == int(whole["dur_ns"])
        assert sum(int(r["count"]) for r in parts) == int(whole["count"])


# ---- annotations of graph nodes ----


def annotated(tmp_path, n_missing=0):
    """The replay with node ids: position i of a graph of n nodes has id n << 32 | i + 1; and annotations of all but the last nodes."""
    document, notes = read(REPLAY), {}
    for list_ in activities(document).values():
        for at, event in enumerate(list_):
            node = len(list_) << 32 | at + 1
            event["args"].update({"graph node id": node, "graph id": len(list_)})
            if at < len(list_) - n_missing:
                notes[str(node)] = [{"name": "outer", "stream": 7}, {"name": f"part{at % 3}", "module_fqn": f"layers.{at // 10}"}]
    (tmp_path / "kernel_annotations_rank0_1.json").write_text(json.dumps(notes))
    return write(tmp_path / "replay.json.gz", document), tmp_path / "kernel_annotations_rank0_1.json"


def test_annotations_by_node_id(tmp_path):
    """All activities by annotation, later dictionaries before earlier ones; a capture adds the operator, the module stays the annotation's."""
    trace, notes = annotated(tmp_path)
    (row,) = methods(trace, notes)
    assert (row["method"], row["confidence"], row["kernels"]) == ("graph-annotation", "1", "604")
    for rows in operators_of(trace, notes).values():
        assert [r["origin_op"] for r in rows] == [f"part{i % 3}" for i in range(len(rows))]
        assert [r["origin_module"] for r in rows] == [f"layers.{i // 10}" for i in range(len(rows))]
    rows = table("events", trace, "--attach", notes, "--attach", CAPTURE, "--only", "gpu", "--columns",
                 "cat,origin_op,origin_module,origin_method,origin_shapes")
    rows = [r for r in rows if r["cat"] in ("kernel", "gpu_memset")]
    assert len(rows) == 604 and all(r["origin_op"].startswith("aten::") and r["origin_shapes"] and
                                    r["origin_module"].startswith("layers.") for r in rows)
    totals = [sum(int(r["device_self_ns"]) for r in table("operators", trace, "--step", "all", *more))
              for more in ([], ["--attach", notes])]
    assert totals[0] == totals[1] > 0


def test_a_node_that_is_annotated_twice_is_the_later_one(tmp_path):
    trace, notes = annotated(tmp_path)
    text = notes.read_text()
    notes.write_text(text.replace('"outer"', '"first"').replace("part", "first")[:-1] + ", " + text[1:])
    for rows in operators_of(trace, notes).values():
        assert [r["origin_op"] for r in rows] == [f"part{i % 3}" for i in range(len(rows))]


def test_annotations_of_another_capture_are_said(tmp_path):
    trace, notes = annotated(tmp_path, n_missing=10)
    (row,) = [r for r in table("info", trace, "--attach", notes) if r["topic"] == "attached"]
    assert f"{604 - 12 * 10} of 604" in row["value"] and "captured again" in row["value"]
    (row,) = [r for r in table("info", REPLAY, "--attach", notes) if r["topic"] == "attached"]
    assert "no graph node ids" in row["value"]


def test_annotations_that_the_exporter_merged(tmp_path):
    document = read(REPLAY)
    for list_ in activities(document).values():
        for event in list_:
            event["args"]["module_fqn"] = "layers.0.mlp"
    (row,) = methods(write(tmp_path / "inline.json.gz", document))
    assert (row["method"], row["kernels"]) == ("graph-annotation", "604")


@pytest.mark.parametrize("text", ['{"1": [', '{"1": [{}]} x', '{"99999999999999999999": [{"name": "x"}]}', '{"1": [3, "x", {"name": 4}]}',
                                  '{"1": [{"name": "\\ud800"}]}'])
def test_damaged_annotations(tmp_path, text):
    path = tmp_path / "kernel_annotations_rank0.json"
    path.write_text(text)
    done = run("attribution", REPLAY, "--attach", path)
    assert done.returncode in (0, 3) and (done.returncode == 0 or b"hint" in done.stderr or b"annotations" in done.stderr
                                          or b"attach" in done.stderr)


# ---- serving engines, recorded by others ----


@pytest.mark.skipif(not SERVING.exists(), reason="HOLOTRACE_EXTRA_DATA has no serving/")
@pytest.mark.parametrize("folder, capture, trace, n", [
    ("vllm_decode", "graph_capture_rank_0.pt.trace.json.gz", "graph_execution.json.gz", 421),
    ("sglang_decode", "bs_32_rank0.json.gz", "sglang_Qwen3-8B_decode.json.gz", 544)])
def test_hip_graphs_by_name(folder, capture, trace, n):
    """Every kernel by name, and matrix products have the shapes that TraceLens reports for the same files."""
    folder = SERVING / folder
    (graph,) = methods(folder / trace, folder / capture, view="graphs")
    assert (graph["kernels_per_launch"], graph["matched_share"], graph["confidence"]) == (str(n), "1", "1")
    found = {(r["name"], r["input_shape"]): r for r in table("operators", folder / trace, "--attach", folder / capture, "--by",
                                                             "shape", "--step", "all")}
    with open(folder / "tracelens_ops_unique_args.csv") as file:
        products = [r for r in csv.DictReader(file) if r["op category"] == "GEMM"]
    csv_rows = {}
    for row in products:
        key = (row["name"], json.dumps(ast.literal_eval(row["Input Dims"])))
        calls, us = csv_rows.get(key, (0, 0))
        csv_rows[key] = (calls + int(row["operation_count"]), us + float(row["total_direct_kernel_time_sum"]))
    assert csv_rows
    for key, (calls, us) in csv_rows.items():
        assert int(found[key]["calls"]) == calls
        assert abs(int(found[key]["device_self_ns"]) - 1000 * us) <= calls


@pytest.mark.skipif(not SERVING.exists(), reason="HOLOTRACE_EXTRA_DATA has no serving/")
@pytest.mark.parametrize("folder, capture, trace, kv, entry", [
    # 24 layers of 8 KV heads of 64, and 36 of 8 of 128, in bf16: keys and values
    ("vllm_decode", "graph_capture_rank_0.pt.trace.json.gz", "graph_execution.json.gz", 55086, 2 * 24 * 8 * 64 * 2),
    ("sglang_decode", "bs_32_rank0.json.gz", "sglang_Qwen3-8B_decode.json.gz", 32785, 2 * 36 * 8 * 128 * 2)])
def test_kv_entries_of_a_replay_are_those_of_its_capture(folder, capture, trace, kv, entry):
    (row,) = table("iterations", SERVING / folder / trace, "--attach", SERVING / folder / capture)
    assert (row["kv_tokens"], row["kv_entry_bytes"], row["kv_from"], row["kv_bytes"]) == (str(kv), str(entry), "shapes", str(kv * entry))
    (row,) = table("iterations", SERVING / folder / trace)
    assert (row["kv_entry_bytes"], row["kv_bytes"]) == ("", "")
