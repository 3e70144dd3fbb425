# SPDX-License-Identifier: Apache-2.0
"""Execution traces against Python's own JSON reader: every node, field by field."""
import csv
import gzip
import io
import json
import os
import pathlib

import pytest

import support

FILES = [support.ROOT / f"tests/data/et/{name}.et.json.gz" for name in ("compile", "ddp_rank0", "pp_rank1")] + \
    sorted((support.ROOT / "examples/et").glob("*.et.json.gz"))
EXTRA = os.environ.get("HOLOTRACE_EXTRA_DATA")
if EXTRA:
    FILES += sorted(pathlib.Path(EXTRA).rglob("*et*.json.gz"))
BASE = ("rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid", "op_schema", "kernel_backend",
        "kernel_file", "tensor_range")


def nodes_of(path):
    with gzip.open(path) as file:
        document = json.load(file)
    return document.get("nodes") if "schema" in document else None


def fields(node):
    """What et-nodes must say about a node, by column; None where the file has nothing."""
    attrs = {a["name"]: a["value"] for a in node.get("attrs", [])}
    found = {"id": node["id"], "name": node["name"], "parent": node.get("ctrl_deps", node.get("parent"))}
    for name in BASE:
        found[name] = attrs.get(name, node.get(name))
    for side, plural in (("input", "inputs"), ("output", "outputs")):
        whole = node[plural]
        nested = isinstance(whole, dict)
        found[plural] = whole["values"] if nested else whole
        for part in ("shapes", "types", "strides"):
            found[f"{side}_{part}"] = whole.get(part) if nested else node.get(f"{side}_{part}")
    found["collective"] = attrs.get("collective_name")
    found["pg_name"] = attrs.get("pg_name")
    found["pg_size"] = attrs.get("pg_size")
    return found


def tensors(types, values):
    """Ids of tensors in flat order, by a walk over types of its own."""
    out = []

    def split(text):
        depth, start = 0, 0
        for i, c in enumerate(text):
            depth += c in "[(" or 0
            depth -= c in "])" or 0
            if c == "," and depth == 0:
                yield text[start:i]
                start = i + 1
        if text[start:]:
            yield text[start:]

    def walk(kind, value):
        if kind.startswith("Tensor("):
            out.append(value[0])
        elif kind.startswith(("GenericList[", "Tuple[")):
            for inner, element in zip(split(kind[kind.index("[") + 1:-1]), value):
                walk(inner, element)

    for kind, value in zip(types, values):
        walk(kind, value)
    return out


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_field(path):
    nodes = nodes_of(path)
    if nodes is None:
        pytest.skip("skipped: not an execution trace")
    csv.field_size_limit(1 << 30)
    rows = list(csv.DictReader(io.StringIO(support.output("et-nodes", str(path), "--format", "csv").decode())))
    assert len(rows) == len(nodes)
    for row, node in zip(rows, nodes):
        wanted = fields(node)
        for name, value in wanted.items():
            if value is None:
                assert row[name] == "", (node["id"], name)
            elif isinstance(value, list):
                assert json.loads(row[name]) == value, (node["id"], name)
            else:
                assert row[name] == str(value), (node["id"], name)
        assert json.loads(row["input_tensors"]) == tensors(wanted["input_types"], wanted["inputs"])
        assert json.loads(row["output_tensors"]) == tensors(wanted["output_types"], wanted["outputs"])


#: (execution trace, Kineto trace): nodes, linked, only in ET, kernels, copies, sets, orphans, self time in ns. Numbers of
#: independent scripts over the files.
LINKS = {
    ("examples/et/with_kineto.et.json.gz", "examples/et/with_kineto.json.gz"): (147, 144, 0, 26, 10, 0, 0, 18229292),
    ("tests/data/et/compile.et.json.gz", "tests/data/compile/compile.json.gz"): (1597, 1594, 0, 650, 2, 26, 0, 179946014),
    ("tests/data/et/ddp_rank0.et.json.gz", "examples/ddp/ddp_rank0.json.gz"): (6463, 6459, 1, 966, 165, 78, 64, 1309565978),
}
EXTRA_LINKS = {
    ("hta/benchmark_simple_add_et.json.gz", "hta/benchmark_simple_add_trace.json.gz"): (38, 36, 0, 4, 0, 0, 0, 19814157000),
}
PAIRS = [*LINKS, ("tests/data/et/train.et.json.gz", "examples/train/train.json.gz")] + \
    [(f"tests/data/et/pp_rank{i}.et.json.gz", f"tests/data/pipeline/pp_rank{i}.json.gz") for i in range(4)]


def links():
    for (et, kineto), numbers in LINKS.items():
        yield support.ROOT / et, support.ROOT / kineto, numbers
    for (et, kineto), numbers in EXTRA_LINKS.items():
        found = sorted(pathlib.Path(EXTRA).rglob(et)) if EXTRA else []
        if found:
            yield found[0], found[0].parent.parent / kineto, numbers


@pytest.mark.parametrize("et, kineto, numbers", list(links()), ids=lambda x: getattr(x, "name", None))
def test_links(et, kineto, numbers):
    out = support.output("et-link", str(et), "--kineto", str(kineto), "--format", "csv", "--columns",
                         "nodes,linked,only_in_et,kernels,copies,sets,orphans,self_ns").decode()
    assert out.splitlines()[1] == ",".join(map(str, numbers))


@pytest.mark.parametrize("et, kineto", PAIRS, ids=lambda x: pathlib.Path(x).name)
def test_pairs_are_sound(et, kineto):
    """No errors, and every node with a record function id but the declaration of groups has its event."""
    done = support.run("et-check", et, "--kineto", kineto, "--format", "csv", cwd=support.ROOT)
    assert done.returncode == 0 and b",error," not in done.stdout, done.stdout.decode()
    names = {n["name"]: n for n in nodes_of(support.ROOT / et)}
    out = support.output("et-link", et, "--kineto", kineto, "--view", "nodes", "--format", "csv", "--where",
                         "rf_id > 0 and event is null", "--columns", "name", cwd=support.ROOT).decode()
    left = [line for line in out.splitlines()[1:] if "process_group:init" not in line]
    assert names and not left


def test_chakra_sample():
    """Numbers of independent scripts over Chakra's own sample."""
    found = sorted(pathlib.Path(EXTRA).rglob("chakra.0.et.gz")) if EXTRA else []
    if not found:
        pytest.skip("skipped: no sample of Chakra")
    csv.field_size_limit(1 << 30)
    out = support.output("et-nodes", str(found[0]), "--format", "csv", "--columns",
                         "id,node_type,data_deps,start_us").decode()
    rows = list(csv.DictReader(io.StringIO(out)))
    types = [row["node_type"] for row in rows]
    assert len(rows) == 3664 and types.count("comp") == 3643 and types.count("coll") == 21
    assert all(row["start_us"] == "0" for row in rows)
    ids = {int(row["id"]) for row in rows}
    deps = [dep for row in rows for dep in json.loads(row["data_deps"])]
    assert len(deps) == 181878 and set(deps) <= ids and min(ids) == 216
