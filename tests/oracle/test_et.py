"""Execution traces against Python's own JSON reader: every node, field by field."""
import csv
import gzip
import io
import json
import os
import pathlib

import pytest

import support

FILES = sorted((support.ROOT / "tests/data/et").glob("*.et.json.gz")) + \
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
