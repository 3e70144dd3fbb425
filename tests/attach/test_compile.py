# SPDX-License-Identifier: Apache-2.0
"""Graphs of torch.compile: source lines from the structured log, recompilations with their reason, CUDA graph trees."""
import csv
import gzip
import io
import json
import re

import pytest

from support import ROOT, output, run

DATA = ROOT / "tests/data/compiled"
LOG = DATA / "dedicated_log_torch_trace.log.gz"
RECOMPILE, TREES = DATA / "recompile.json.gz", DATA / "reduce-overhead.json.gz"


def table(*args):
    return list(csv.DictReader(io.StringIO(output(*args, "--format", "csv").decode())))


def records():
    """The log by its definition: a line with JSON, then lines behind a tab."""
    found = []
    for line in gzip.open(LOG, "rt"):
        if line.startswith("\t"):
            found[-1][1].append(line[1:])
        elif match := re.match(r"[VIWEC]\d{4} \S+ \d+ \S+\] (\{.*)", line):
            found.append((json.loads(match[1]), []))
    return [(head, "".join(payload)) for head, payload in found]


def keys():
    """{graph key: compile id} by the artifacts of the FX graph cache."""
    return {json.loads(payload)["key"]: f"{head['frame_id']}/{head['frame_compile_id']}"
            for head, payload in records() if head.get("artifact", {}).get("name", "").startswith("fx_graph_cache_")}


def test_every_generated_kernel_has_its_lines():
    """And 95 % of the GPU time that compiled graphs launch is at a line of the model's own file."""
    rows = table("events", RECOMPILE, "--attach", LOG, "--only", "gpu", "--columns",
                 "cat,name,dur_ns,annotation,origin_op,origin_source,origin_method")
    triton = [r for r in rows if r["cat"] == "kernel" and r["name"].startswith("triton_")]
    assert len(triton) == 392
    assert all("torch_traces.py(" in r["origin_source"] and r["origin_method"] == "triton-op" for r in triton)
    assert all(r["origin_op"].startswith("aten.") for r in triton)
    inside = [r for r in rows if r["annotation"].startswith("## Call CompiledFxGraph")]
    whole = sum(int(r["dur_ns"]) for r in inside)
    assert sum(int(r["dur_ns"]) for r in inside if "torch_traces.py(" in r["origin_source"]) >= 0.95 * whole > 0


def test_lines_are_those_of_the_log():
    """The k-th launch of a name in a graph is the k-th handle of that name in its wrapper: of the first forward graph."""
    stacks = next(json.loads(payload) for head, payload in records()
                  if head.get("artifact", {}).get("name") == "inductor_provenance_tracking_kernel_stack_traces")
    frames = {}
    for name, list_ in stacks.items():
        lines = [re.findall(r'line (\d+), in (\w+)', stack)[-1] for stack in list_]
        frames.setdefault(name.rsplit(":", 1)[0], []).append([f"({a}): {b}" for a, b in dict.fromkeys(lines)])
    rows = table("events", RECOMPILE, "--attach", LOG, "--only", "gpu", "--columns",
                 "ts_ns,cat,name,annotation,origin_source")
    first = next(k for k, v in keys().items() if v == "0/0")
    mine = sorted((r for r in rows if first in r["annotation"] and r["name"].startswith("triton_")),
                  key=lambda r: int(r["ts_ns"]))
    seen = {}
    for row in mine:
        k = seen.setdefault(row["name"], 0)
        seen[row["name"]] += 1
        wanted = frames[row["name"]][k % len(frames[row["name"]])]
        assert [part[part.index("("):] for part in row["origin_source"].split(" + ")] == wanted


def test_graphs_have_the_compile_ids_of_the_log():
    wanted = keys()
    rows = table("attribution", RECOMPILE, "--attach", LOG, "--view", "compile")
    assert {r["graph_key"]: r["compile_id"] for r in rows} == {k: wanted[k] for k in (r["graph_key"] for r in rows)}
    assert sorted((r["pass"], r["compile_id"], r["calls"]) for r in rows) == [
        ("backward", "0/0", "3"), ("backward", "0/1", "1"), ("forward", "0/0", "3"), ("forward", "0/1", "1")]


def test_the_recompilation_is_found_with_its_reason():
    (row,) = [r for r in table("attribution", RECOMPILE, "--attach", LOG, "--view", "compile")
              if r["recompilations"] != "0"]
    assert row["compile_id"] == "0/1" and row["recompilations"] == "1"
    assert row["reason"] == "0/0: tensor 'idx' size mismatch at index 0. expected 8, actual 5"
    # entire_frame_compile lasts 570036.7 us in the trace
    assert row["compile_ns"] == "570036700"
    done = run("attribution", RECOMPILE, "--view", "compile", "--format", "csv")
    assert b"recompilation 0/1" in done.stderr and b"TORCH_TRACE" in done.stderr


def test_none_is_claimed_where_there_is_none():
    rows = table("attribution", TREES, "--attach", LOG, "--view", "compile")
    assert rows and all(r["recompilations"] == "0" and r["reason"] == "" for r in rows)


def test_graph_trees_by_the_wrapper():
    """Replays of the forward and the backward graph: 41 and 133 activities, generated kernels as anchors."""
    rows = table("attribution", TREES, "--attach", LOG, "--step", "all", "--view", "graphs")
    assert sorted(r["kernels_per_launch"] for r in rows) == ["133", "41"]
    assert {r["method"] for r in rows} == {"graph-inductor"}
    assert all(float(r["matched_share"]) > 0.9 for r in rows)
    events = table("events", TREES, "--attach", LOG, "--only", "gpu", "--columns", "name,origin_method,origin_source")
    triton = [r for r in events if r["name"].startswith("triton_")]
    assert len(triton) == 2 * (15 + 83)
    assert all(r["origin_method"] == "graph-inductor" and "torch_traces.py(" in r["origin_source"] for r in triton)


def test_a_graph_that_nobody_compiled_has_no_wrapper(tmp_path):
    """A log may have code without its key: a graph that is launched in no compiled region is not of it."""
    log, trace = tmp_path / "trace.log", tmp_path / "trace.json"
    log.write_text('V0521 11:50:39.474000 1 a.py:1] {"inductor_output_code": {}, "frame_id": 0, "frame_compile_id": 0}\n'
                   "\t# Topologically Sorted Source Nodes: [x], Original ATen: [aten.mm]\n"
                   "\t# [Provenance debug handles] extern_kernels.mm:1\n"
                   "\textern_kernels.mm(buf0)\n")
    launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": 0, "dur": 1, "args": {"correlation": 1}}
    kernels = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 5 + 2 * i, "dur": 1,
                "args": {"correlation": 1, "device": 0, "stream": 7}} for i, name in enumerate("kl")]
    trace.write_text(json.dumps({"traceEvents": [launch, *kernels]}))
    rows = table("attribution", trace, "--attach", log, "--view", "origins")
    assert [(r["name"], r["op"], r["method"]) for r in rows] == [("k", "", "none"), ("l", "", "none")]


def test_a_namespace_alone_is_no_call(tmp_path):
    """An operator without a name behind its namespace, in a compiled graph with a call."""
    log, trace = tmp_path / "trace.log", tmp_path / "trace.json"
    head = 'V0521 11:50:39.474000 1 a.py:1] {%s, "frame_id": 0, "frame_compile_id": 0}\n'
    log.write_text(head % '"inductor_output_code": {}' + "\t# Topologically Sorted Source Nodes: [x], Original ATen: [aten.add]\n"
                   "\t# [Provenance debug handles] triton_a:1\n\ttriton_a.run(buf0)\n" +
                   head % '"artifact": {"name": "fx_graph_cache_miss"}' + '\t{"key": "kk"}\n')
    host = [("user_annotation", "## Call CompiledFxGraph kk ##", 0, 100), ("cpu_op", "aten::", 1, 50), ("cuda_runtime", "cudaLaunchKernel", 5, 1)]
    events = [{"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": {"correlation": 1} if "cuda" in cat else {}}
              for cat, name, ts, dur in host]
    events.append({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 60, "dur": 5, "args": {"correlation": 1, "device": 0, "stream": 7}})
    trace.write_text(json.dumps({"traceEvents": events}))
    assert [(r["name"], r["op"]) for r in table("attribution", trace, "--attach", log, "--view", "origins")] == [("k", "aten::")]


def test_info_says_what_the_log_was_good_for():
    (row,) = [r for r in table("info", RECOMPILE, "--attach", LOG) if r["topic"] == "attached"]
    assert row["value"].startswith("compile-log: 6 graphs") and "697 of 697" in row["value"]


@pytest.mark.parametrize("cut", [100, 5000, 200000, 1000000, 3000001])
def test_a_log_that_is_cut_keeps_what_it_has(tmp_path, cut):
    path = tmp_path / "cut.log"
    path.write_bytes(gzip.open(LOG).read()[:cut])
    done = run("attribution", RECOMPILE, "--attach", path, "--view", "compile", "--format", "csv")
    assert done.returncode == 0, done.stderr
    whole = table("attribution", RECOMPILE, "--step", "all")
    assert sum(int(r["gpu_ns"]) for r in table("attribution", RECOMPILE, "--attach", path, "--step", "all")) == \
        sum(int(r["gpu_ns"]) for r in whole)


def test_summary_tells_the_recompilation():
    """With guard and shape where the log is attached; nothing where there is none."""
    def told(trace, *attach):
        return [r for r in table("summary", trace, *attach) if r["kind"] == "recompilation"]

    (row,) = told(RECOMPILE, "--attach", LOG)
    assert row["subject"] == "0/1" and row["value_ns"] == "570036700"
    assert "tensor 'idx' size mismatch at index 0. expected 8, actual 5" in row["finding"]
    (row,) = told(RECOMPILE)
    assert "TORCH_TRACE" in row["finding"]
    assert not told(TREES) and not told(ROOT / "tests/data/compile/compile.json.gz")


# ---- modules ----


def by_path(*more):
    return {r["path"]: r for r in table("modules", RECOMPILE, "--step", "all", *more)}


def test_compiled_regions_are_modules():
    """A region has the GPU time of its forward and backward graph, with or without the log; of its calls the trace tells."""
    rows, graphs = by_path(), table("attribution", RECOMPILE, "--step", "all", "--view", "compile")
    assert set(rows) == {"Torch-Compiled Region: 0/0", "Torch-Compiled Region: 0/1"}
    for more in [], ["--attach", LOG]:
        found = by_path(*more)
        for graph in graphs:
            row = found[graph["region"]]
            column = "device_total_ns" if graph["pass"] == "forward" else "backward_device_total_ns"
            assert int(row[column]) == int(graph["gpu_ns"]) > 0
            assert row["calls"] == next(g["calls"] for g in graphs if g["region"] == graph["region"] and g["pass"] == "forward")


def test_modules_inside_a_region_are_where_the_model_calls_them(tmp_path):
    """By stacks, where no log names parameters: all lines of a kernel are below the call of a block at line 34, or it is the model's own."""
    folder = write_code(tmp_path / "torch_compile_debug")
    rows = by_path("--attach", folder)
    inside = "Torch-Compiled Region: 0/0 / torch_traces.py(34): forward"
    assert [p for p in rows if p.startswith("Torch-Compiled Region: 0/0") and "forward" in p] == [inside]
    events = table("events", RECOMPILE, "--attach", folder, "--only", "gpu", "--columns", "cat,dur_ns,origin_module,origin_source")
    sums = {}
    for row in events:
        if row["cat"] in ("kernel", "gpu_memset", "gpu_memcpy"):
            sums[row["origin_module"]] = sums.get(row["origin_module"], 0) + int(row["dur_ns"])
    for path, row in rows.items():
        assert int(row["device_self_ns"]) + int(row["backward_device_self_ns"]) == sums.get(path, 0)
    # lines 17 to 23 are those of the block's forward, 33 to 35 the model's
    for row in events:
        lines = [int(n) for n in re.findall(r"torch_traces\.py\((\d+)\)", row["origin_source"])]
        if re.fullmatch(r"Torch-Compiled Region: 0/\d( / .*forward)?", row["origin_module"]) and lines:
            assert row["origin_module"].endswith("forward") == all(line < 30 for line in lines)


def test_a_note_says_how_modules_are_known():
    (note,) = [n for n in json.loads(output("modules", RECOMPILE, "--step", "all", "--format", "json"))["notes"] if "exact" in str(n)]
    rows = by_path()
    known = sum(int(r[c]) for r in rows.values() for c in ("device_self_ns", "backward_device_self_ns"))
    whole = sum(int(r["gpu_ns"]) for r in table("attribution", RECOMPILE, "--step", "all"))
    assert f"{100 * known / whole:.0f} % exact" in str(note) and "0 % aligned" in str(note)


# ---- code and provenance on disk ----

NAMES = {"inductor_provenance_tracking_kernel_stack_traces": "inductor_provenance_tracking_kernel_stack_traces.json",
         "inductor_provenance_tracking_node_mappings": "inductor_provenance_tracking_node_mappings.json"}


def write_code(folder, provenance=True, information=False):
    """What the log has of each graph, as TORCH_COMPILE_DEBUG and the cache leave it: a folder per graph."""
    at = None
    for i, (head, payload) in enumerate(records()):
        name = head.get("artifact", {}).get("name")
        if "inductor_output_code" in head:
            at = folder / f"model__{i}"
            at.mkdir(parents=True)
            (at / "output_code.py").write_text(payload)
        elif provenance and information and name == "inductor_provenance_tracking_kernel_stack_traces":
            document = {key: {"stack_traces": stacks, "post_grad_nodes": [], "pre_grad_nodes": []}
                        for key, stacks in json.loads(payload).items()}
            (at / "kernel_information.json").write_text(json.dumps(document))
        elif provenance and not information and name in NAMES:
            (at / NAMES[name]).write_text(payload)
    return folder


def origins(trace, *attach):
    args = sum((["--attach", path] for path in attach), [])
    return [[r["name"], r["origin_op"], r["origin_module"], r["origin_source"], r["origin_method"]] for r in table(
        "events", trace, *args, "--only", "gpu", "--columns", "name,origin_op,origin_module,origin_source,origin_method")]


@pytest.mark.parametrize("trace", [RECOMPILE, TREES], ids=["launches", "trees"])
@pytest.mark.parametrize("information", [False, True], ids=["stacks", "kernel_information"])
def test_code_on_disk_says_what_the_log_says(tmp_path, trace, information):
    """Graphs are told by the names and hashes of their kernels, as no file has their key. Only the log names parameters: elsewhere modules are where they are called."""
    folder = write_code(tmp_path / "torch_compile_debug", information=information)
    named = 0
    for row, logged in zip(origins(trace, folder), origins(trace, LOG), strict=True):
        assert row[:2] + row[3:] == logged[:2] + logged[3:]
        by_parameters = re.search(r"Region: 0/\d / (?!torch_traces)", logged[2])
        named += by_parameters is not None
        assert by_parameters or row[2] == logged[2]
    assert named
    (line,) = table("info", trace, "--attach", folder, "--where", "topic = attached")
    assert "inductor-code: 6 graphs" in line["value"] and "not used" not in line["value"]


def test_each_source_says_what_it_is(tmp_path):
    """Provenance before comments before the name; the same operators, in another order, by all three."""
    code = write_code(tmp_path / "code", provenance=False)
    found = {}
    for via, attach in [("provenance", [LOG]), ("code", [code]), ("name", [])]:
        args = sum((["--attach", path] for path in attach), [])
        rows = [r for r in table("attribution", RECOMPILE, "--step", "all", "--view", "origins", *args) if r["method"] == "triton-op"]
        assert {r["via"] for r in rows} == {via} and sum(int(r["count"]) for r in rows) == 392
        found[via] = {(r["name"], frozenset(r["op"].split(", "))) for r in rows}
        assert bool([r for r in rows if r["nodes"]]) == (via != "name")
    assert found["provenance"] == found["code"]
    # names leave views of inputs out now and then, and never tell an operator that is not there
    code = {}
    for name, ops in found["code"]:
        code[name] = code.get(name, set()) | ops
    assert all(ops <= code[name] for name, ops in found["name"])


def test_provenance_without_its_code_is_not_used(tmp_path):
    for i in range(2):
        (tmp_path / f"{i}").mkdir()
        text = next(p for h, p in records() if h.get("artifact", {}).get("name") in NAMES and "File" in p)
        (tmp_path / f"{i}" / "kernel_stack_traces.json").write_text(text)
    (line,) = table("info", RECOMPILE, "--attach", tmp_path, "--where", "topic = attached")
    assert "without the code beside it" in line["value"] and "not used" in line["value"]
    assert origins(RECOMPILE, tmp_path) == origins(RECOMPILE)


def test_fused_time_is_split_over_its_lines():
    """n lines have a part of n each, to the nanosecond, unless it is split by bytes (test_compile_modules.py); the whole is that of all methods."""
    args = [RECOMPILE, "--step", "all", "--attach", LOG]
    wanted, shared = {}, {}
    rows = table("attribution", *args, "--view", "lines")
    by_bytes = {r["op"] for r in rows if r["split"] == "bytes"}
    assert by_bytes
    for row in table("events", *args, "--only", "gpu", "--columns", "cat,dur_ns,origin_op,origin_source"):
        if row["cat"] not in ("kernel", "gpu_memset", "gpu_memcpy") or row["origin_op"] in by_bytes:
            continue
        lines, ns = row["origin_source"].split(" + "), int(row["dur_ns"])
        for i, line in enumerate(lines):
            part = ns // len(lines) + (i < ns % len(lines))
            wanted[line] = wanted.get(line, 0) + part
            shared[line] = shared.get(line, 0) + (part if len(lines) > 1 else 0)
    found, found_shared = {}, {}
    for row in rows:
        if row["op"] in by_bytes:
            continue
        found[row["source"]] = found.get(row["source"], 0) + int(row["gpu_ns"])
        found_shared[row["source"]] = found_shared.get(row["source"], 0) + int(row["shared_ns"])
    assert found == wanted and found_shared == shared and sum(shared.values()) > 0
    assert sum(int(r["gpu_ns"]) for r in rows) == sum(int(r["gpu_ns"]) for r in table("attribution", *args))


# ---- what was compiled when ----


def logged_spans():
    """(name, compile id, start, duration in ns) of beginnings and ends, by the definition of Chrome's B and E."""
    open_, found = {}, []
    for head, payload in records():
        if "chromium_event" not in head:
            continue
        event = json.loads(payload, parse_float=str, parse_int=str)
        ns = int(event["ts"].split(".")[0]) * 1000 + int((event["ts"] + ".0").split(".")[1].ljust(3, "0")[:3])
        if event["ph"] == "B":
            open_.setdefault((event["tid"], event["name"]), []).append((ns, event["args"].get("compile_id", "")))
        elif event["ph"] == "E":
            start, id_ = open_[event["tid"], event["name"]].pop()
            found.append((event["name"], id_, start, ns - start))
    return found


def test_the_compile_timeline_is_the_logs_on_the_traces_clock():
    rows = table("attribution", RECOMPILE, "--attach", LOG, "--view", "compile-timeline")
    wanted = logged_spans()
    assert len(rows) == len(wanted) == 191
    assert sorted((r["name"], r["compile_id"], int(r["duration_ns"])) for r in rows) == sorted((a, b, d) for a, b, _, d in wanted)
    events = {r["index"]: r for r in table("events", RECOMPILE, "--columns", "index,name,ts_ns")}
    inside = [r for r in rows if r["inside"] == "true"]
    assert len(inside) == 48 and {r["compile_id"] for r in inside} == {"0/1"}
    first = min(int(e["ts_ns"]) for e in events.values() if e["ts_ns"])
    for row in inside:
        # the profiler records the same phases: each is within a millisecond of the log's
        own = events[row["index"]]
        assert own["name"] == row["name"] and abs(int(own["ts_ns"]) - first - int(row["ts_ns"])) < 1e6


@pytest.mark.parametrize("ending", ["json", "pftrace"])
def test_written_traces_have_a_track_of_compilations(tmp_path, ending):
    written = tmp_path / f"out.{ending}"
    output("convert", RECOMPILE, "--attach", LOG, "--overlay", "attribution", "-o", written)
    rows = table("events", written, "--where", "cat = torch.compile", "--columns", "name,ts_ns,dur_ns,tid")
    wanted = [r for r in table("attribution", RECOMPILE, "--attach", LOG, "--view", "compile-timeline") if r["inside"] == "true"]
    assert sorted((r["name"], int(r["dur_ns"])) for r in rows) == sorted((r["name"], int(r["duration_ns"])) for r in wanted)
    assert len({r["tid"] for r in rows}) == 1
    own = "--where", "cat != torch.compile and ph = X"
    assert len(table("events", written, *own, "--columns", "name")) == len(table("events", RECOMPILE, *own, "--columns", "name"))


def test_payloads_that_differ_from_their_checksum_are_said(tmp_path):
    """Used all the same: a comment of one wrapper has another letter."""
    text = gzip.open(LOG, "rt").read()
    (tmp_path / "log.log").write_text(text.replace("# AOT ID: ['1_forward']", "# AOT ID: ['1_Forward']", 1))
    (line,) = table("info", RECOMPILE, "--attach", tmp_path / "log.log", "--where", "topic = attached")
    n = len(records())
    assert f"warning: 1 of {n} records differ from their md5" in line["value"]
    assert origins(RECOMPILE, tmp_path / "log.log") == origins(RECOMPILE, LOG)
    (line,) = table("info", RECOMPILE, "--attach", LOG, "--where", "topic = attached")
    assert "md5" not in line["value"]


def test_code_from_a_cache_has_the_lines_of_its_graph(tmp_path):
    """Where Inductor finds its code in a cache the log has no stacks of calls, but still the graphs with the line of each node: all of these lines
    are in the stacks of the same kernel, and nearly all kernels of the model have one."""
    lines, drops = [], False
    for line in gzip.open(LOG, "rt"):
        if line.startswith("\t") and drops:
            continue
        drops = "inductor_provenance_tracking_kernel_stack_traces" in line
        lines.append(re.sub(r', "has_payload": "\w+"', "", line) if drops else line)
    path = tmp_path / "cached.log"
    path.write_text("".join(lines))
    columns = ("events", RECOMPILE, "--only", "gpu", "--columns", "cat,name,origin_source,origin_method", "--attach")
    pairs = [(a, b) for a, b in zip(table(*columns, LOG), table(*columns, path)) if a["name"].startswith("triton_")]
    own = 0
    for stacked, drawn in pairs:
        wanted, found = (set(row["origin_source"].split(" + ")) for row in (stacked, drawn))
        own += "torch_traces.py(" in drawn["origin_source"]
        assert {one for one in found if "torch_traces.py(" in one} <= wanted
    assert own >= 0.95 * len(pairs) > 0
    (row,) = [r for r in table("info", RECOMPILE, "--attach", path) if r["topic"] == "attached"]
    assert "cannot be read" not in row["value"]


def test_the_kernels_files_are_asked_for(tmp_path):
    """The trace names files of another machine: what is known by name alone is said, with what to attach; nothing of it once that is attached."""
    def notes(*more):
        return [str(n) for n in json.loads(output("attribution", RECOMPILE, "--step", "all", "--format", "json", *more))["notes"]]

    assert [n for n in notes() if "392 generated kernels are known by name alone" in n and "Inductor's cache" in n]
    for attach in LOG, write_code(tmp_path / "code", provenance=False):
        assert not [n for n in notes("--attach", attach) if "by name alone" in n]


def test_a_reason_without_its_artifact_is_in_the_metrics(tmp_path):
    log = tmp_path / "dedicated_log_torch_trace.log"
    text = gzip.decompress(LOG.read_bytes()).replace(b'"name": "recompile_reasons"', b'"name": "something_else"')
    log.write_bytes(text)
    reasons = [[r["reason"] for r in table("attribution", RECOMPILE, "--attach", path, "--view", "compile")] for path in (LOG, log)]
    assert reasons[0] == reasons[1] and [r for r in reasons[1] if "size mismatch" in r]
