# SPDX-License-Identifier: Apache-2.0
"""What every execution trace must satisfy, whoever wrote it; and whether two of them say the same.

Written from the format's description, not from the recorder: ids and parents, threads, order in the file,
parallel lists of values, shapes, types and strides, tensor tuples, attributes. `problems` lists what is
wrong. `same_graph` compares two traces up to ids and times.
"""
import gzip
import json
import re

PROCESS = "[pytorch|profiler|execution_trace|process]"
THREAD = "[pytorch|profiler|execution_trace|thread]"
BASE = [("rf_id", "uint64"), ("fw_parent", "uint64"), ("seq_id", "int64"), ("scope", "uint64"),
        ("tid", "uint64"), ("fw_tid", "uint64"), ("op_schema", "string"), ("kernel_backend", "string"),
        ("kernel_file", "string"), ("tensor_range", "string")]


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return json.loads(data.decode())


def attributes(node):
    return {attr["name"]: attr["value"] for attr in node["attrs"]}


def is_special(node):
    return node["name"] in (PROCESS, THREAD)


def split_type(text):
    """The element types of "GenericList[...]" or "Tuple[...]", or None."""
    match = re.match(r"(?:GenericList|Tuple)\[(.*)\]$", text, re.S)
    if not match:
        return None
    parts, depth, current = [], 0, ""
    for char in match.group(1):
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
            continue
        depth += char in "[(<"
        depth -= char in "])>"
        current += char
    return parts + [current] if match.group(1) else []


def check_value(value, shape, kind, stride, say):
    inner = split_type(kind)
    if inner is not None:
        if not (isinstance(value, list) and len(value) == len(inner) == len(shape) == len(stride)):
            say(f"{kind}: lists of different length")
            return
        for one in zip(value, shape, inner, stride):
            check_value(*one, say)
        return
    if kind.startswith("Tensor("):
        if not (isinstance(value, list) and len(value) == 6 and isinstance(value[5], str)
                and all(isinstance(x, int) and x >= 0 for x in value[:5])):
            say(f"not a tensor: {value}")
        elif value[1] and shape:
            count = 1
            for size in shape:
                count *= size
            if count != value[3] or len(stride) != len(shape):
                say(f"{value}: sizes {shape} and strides {stride}")
    elif shape != [] or stride != []:
        say(f"{kind} with a shape")


def check_io(node, key, say):
    values, shapes, types, strides = (node[key][part] for part in ("values", "shapes", "types", "strides"))
    if len(strides) == len(values) - 1 and attributes(node)["kernel_backend"] == "triton":
        strides = strides + [[]]
    if not len(values) == len(shapes) == len(types) == len(strides):
        say(f"{key}: {len(values)} values, {len(shapes)} shapes, {len(types)} types, {len(strides)} strides")
        return
    for one in zip(values, shapes, types, strides):
        check_value(*one, say)


def check_tree(nodes, say):
    by_id = {node["id"]: node for node in nodes}
    if len(by_id) != len(nodes):
        say("ids are not unique")
    if nodes[-1]["name"] != PROCESS or nodes[-1]["id"] != 1 or nodes[-1]["ctrl_deps"] != 1:
        say("the process node is not last, with id and parent 1")
    threads = {attributes(node)["tid"]: node for node in nodes if node["name"] == THREAD}
    if len(threads) != sum(node["name"] == THREAD for node in nodes):
        say("two nodes for one thread")
    place = {node["id"]: i for i, node in enumerate(nodes)}
    for node in nodes:
        parent = by_id.get(node["ctrl_deps"])
        where = f"node {node['id']} ({node['name']})"
        if parent is None:
            say(f"{where}: no parent {node['ctrl_deps']}")
        elif node["id"] != 1 and parent["id"] >= node["id"]:
            say(f"{where}: parent {parent['id']} is younger")
        elif not is_special(node):
            tid = attributes(node)["tid"]
            if parent is not threads.get(tid) and attributes(parent)["tid"] != tid:
                say(f"{where}: on thread {tid}, its parent is not")
            if tid not in threads or place[threads[tid]["id"]] > place[node["id"]]:
                say(f"{where}: before the node of its thread")


def check_attributes(node, say):
    got = [(attr["name"], attr["type"]) for attr in node["attrs"]]
    if got[:len(BASE)] != BASE:
        say(f"node {node['id']}: attributes {got}")
    values = attributes(node)
    if is_special(node) != (values["rf_id"] == 0) or not 0 <= values["scope"] <= 9:
        say(f"node {node['id']}: rf_id {values['rf_id']}, scope {values['scope']}")


def problems(trace):
    """Everything that is wrong with a trace, as sentences."""
    found = []
    say = found.append
    if list(trace) != ["schema", "pid", "time", "start_ts", "nodes", "finish_ts"]:
        say(f"keys {list(trace)}")
        return found
    if trace["schema"] != "1.1.1-chakra.0.0.4" or trace["finish_ts"] < trace["start_ts"]:
        say("schema or times")
    check_tree(trace["nodes"], say)
    for node in trace["nodes"]:
        check_attributes(node, say)
        for key in ("inputs", "outputs"):
            check_io(node, key, lambda text, node=node: say(f"node {node['id']} ({node['name']}): {text}"))
    ids = [attributes(node)["rf_id"] for node in trace["nodes"] if not is_special(node)]
    if len(set(ids)) != len(ids):
        say("rf_ids are not unique")
    return found


# ---- two traces of one run --------------------------------------------------------------------------

class Renaming:
    """Ids of one trace as ids of the other, one to one."""

    def __init__(self):
        self.forth, self.back = {}, {}

    def agrees(self, a, b):
        return self.forth.setdefault(a, b) == b and self.back.setdefault(b, a) == a


def same_value(a, b, kind, ids):
    inner = split_type(kind)
    if inner is not None:
        return len(a) == len(b) and all(same_value(x, y, t, ids) for x, y, t in zip(a, b, inner))
    if kind.startswith("Tensor("):
        return ids.agrees(a[0], b[0]) and ids.agrees(a[1], b[1]) and a[2:] == b[2:]
    return a == b


def same_graph(a, b):
    """Differences of two traces of the same calls, matched by rf_id. Ids of nodes, tensors and memory may
    differ, but one to one; times and the order in the file may differ."""
    found = []
    one = {attributes(n)["rf_id"]: n for n in a["nodes"] if not is_special(n)}
    two = {attributes(n)["rf_id"]: n for n in b["nodes"] if not is_special(n)}
    for only, name in ((one.keys() - two.keys(), "first"), (two.keys() - one.keys(), "second")):
        if only:
            found.append(f"{len(only)} calls only in the {name}, the first of them rf_id {min(only)}")
    nodes, objects = Renaming(), Renaming()
    nodes.agrees(0, 0)
    objects.agrees(0, 0)
    special = {n["id"]: ("thread", attributes(n)["tid"]) for n in a["nodes"] if is_special(n)}
    special_two = {n["id"]: ("thread", attributes(n)["tid"]) for n in b["nodes"] if is_special(n)}
    for rf_id in sorted(one.keys() & two.keys()):
        x, y = one[rf_id], two[rf_id]
        where = f"rf_id {rf_id} ({x['name']})"
        if x["name"] != y["name"]:
            found.append(f"{where}: the other is {y['name']}")
        if not nodes.agrees(x["id"], y["id"]):
            found.append(f"{where}: ids {x['id']} and {y['id']}")
        pairs = [("parent", x["ctrl_deps"], y["ctrl_deps"])]
        p, q = attributes(x), attributes(y)
        pairs.append(("fw_parent", p.pop("fw_parent"), q.pop("fw_parent")))
        for what, i, j in pairs:
            if special.get(i) != special_two.get(j) or not (i in special or nodes.agrees(i, j)):
                found.append(f"{where}: {what} {i} and {j}")
        if p != q:
            found.append(f"{where}: attributes differ in {sorted(k for k in p | q if p.get(k) != q.get(k))}")
        for key in ("inputs", "outputs"):
            s, t = x[key], y[key]
            # PyTorch leaves out the strides of a Triton kernel's stream.
            for side in (s, t):
                if p["kernel_backend"] == "triton":
                    side["strides"] += [[]] * (len(side["values"]) - len(side["strides"]))
            if s["shapes"] != t["shapes"] or s["types"] != t["types"] or s["strides"] != t["strides"]:
                found.append(f"{where}: {key} of another shape or type")
            elif not all(same_value(v, w, kind, objects)
                         for v, w, kind in zip(s["values"], t["values"], s["types"])):
                found.append(f"{where}: {key} {s['values']} and {t['values']}")
    return found
