# SPDX-License-Identifier: Apache-2.0
"""Categories derived from an execution trace, on a recording of ours: against the definition, and against what the model must hold.

The oracle walks the two JSON files as docs/memory.md words it: addresses of storages from allocations inside operators with one new
output that fits, then uses of storages by nodes at times when their blocks live.
"""
import collections
import csv
import gzip
import io
import json
import re

import support

TRACE = support.ROOT / "examples" / "train" / "train.json.gz"
ET = support.ROOT / "tests" / "data" / "et" / "train.et.json.gz"
NAMES = ("parameter", "optimizer_state", "temporary", "activation", "gradient")


def tensors(values, types):
    """Of each argument, those of lists behind each other."""
    return [([value] if kind.startswith("Tensor(") else
             [v for v in value if isinstance(v, list) and len(v) == 6] if kind.startswith(("GenericList", "Tuple")) else [])
            for value, kind in zip(values, types)]


class Node:
    def __init__(self, raw, events):
        attrs = {attr["name"]: attr["value"] for attr in raw["attrs"]}
        self.id, self.parent_id, self.name, self.scope = raw["id"], raw["ctrl_deps"], raw["name"], attrs["scope"]
        self.takes = tensors(raw["inputs"]["values"], raw["inputs"]["types"])
        self.gives = [t for arg in tensors(raw["outputs"]["values"], raw["outputs"]["types"]) for t in arg]
        self.event = events.get(attrs["rf_id"])
        inside = re.match(r"[^(]*\((.*)\) ->", attrs["op_schema"])
        args = re.split(r", (?![^(\[]*[)\]])", inside[1]) if inside else []
        self.changes = [i for i, arg in enumerate(a for a in args if a != "*") if "!" in arg.split(" ")[0]]

    def around(self, nodes):
        yield self
        if self.parent_id != self.id and self.parent_id in nodes:
            yield from nodes[self.parent_id].around(nodes)


def read():
    trace = json.loads(gzip.decompress(TRACE.read_bytes()), parse_float=lambda text: int(text.replace(".", "")))["traceEvents"]
    for event in trace:
        if event["ph"] == "X":
            event["end"] = event["ts"] + event["dur"]
    events = {event["args"]["Record function id"]: event for event in trace
              if event.get("cat") in ("cpu_op", "user_annotation") and (event.get("args") or {}).get("Record function id")}
    nodes = {raw["id"]: Node(raw, events) for raw in json.loads(gzip.decompress(ET.read_bytes()))["nodes"]}
    memory = sorted((event for event in trace if event["name"] == "[memory]" and event["args"]["Device Type"] == 1),
                    key=lambda event: event["ts"])
    return nodes, memory


def lives_of(memory):
    lives = collections.defaultdict(list)
    for i, event in enumerate(memory):
        addr, size = event["args"]["Addr"], event["args"]["Bytes"]
        if size > 0:
            lives[addr].append({"alloc": event, "from": event["ts"], "to": float("inf"), "bytes": size, "of": [i], "uses": set()})
        elif lives[addr] and lives[addr][-1]["to"] == float("inf"):
            lives[addr][-1].update(to=event["ts"])
            lives[addr][-1]["of"].append(i)
        else:
            lives[addr].append({"alloc": None, "from": float("-inf"), "to": event["ts"], "bytes": -size, "of": [i], "uses": set()})
    return lives


def chains_of(nodes, memory):
    """By allocation: nodes of its thread around it, the innermost first."""
    chains, moments = {}, collections.defaultdict(list)
    for node in nodes.values():
        if node.event:
            moments[node.event["tid"]].append((node.event["ts"], 0, -node.event["dur"], node.id))
    for event in memory:
        if event["args"]["Bytes"] > 0:
            moments[event["tid"]].append((event["ts"], 1, 0, id(event)))
    for list_ in moments.values():
        open_ = []
        for time, is_memory, _, key in sorted(list_):
            open_ = [node for node in open_ if node.event["end"] > time]
            if is_memory:
                chains[key] = open_[::-1]
            else:
                open_.append(nodes[key])
    return chains


def categories(nodes, memory):
    lives, chains = lives_of(memory), chains_of(nodes, memory)
    said = collections.defaultdict(set)
    for addr, list_ in lives.items():
        for life in list_:
            life["chain"] = chains[id(life["alloc"])] if life["alloc"] else []
            if not life["chain"]:
                continue
            node = life["chain"][0]
            taken = {t[1] for arg in node.takes for t in arg}
            fitting = set()
            for t in node.gives:
                size = (t[2] + t[3]) * t[4]
                rest = life["bytes"] - size
                if t[1] and t[1] not in taken and size and (0 <= rest < 512 or size > 1 << 20 and 0 <= rest <= 1 << 20):
                    fitting.add(t[1])
            if len(fitting) == 1:
                said[fitting.pop()].add(addr)
    uses_of, size_of, first_taken = collections.defaultdict(set), collections.defaultdict(int), {}

    def use(t, time, what):
        if not t[1] or len(said[t[1]]) > 1:
            return
        if not said[t[1]]:
            uses_of[t[1]].add(what)
        for life in lives[min(said[t[1]])] if said[t[1]] else []:
            if life["from"] <= time < life["to"]:
                life["uses"].add(what)
    for node in sorted(nodes.values(), key=lambda node: node.id):
        for is_taken, t in [(True, t) for arg in node.takes for t in arg] + [(False, t) for t in node.gives]:
            size_of[t[1]] = max(size_of[t[1]], (t[2] + t[3]) * t[4])
            first_taken.setdefault(t[1], is_taken)
        if not node.event:
            continue
        above = list(node.around(nodes))
        in_step = any(n.name.startswith("Optimizer.step") for n in above)
        in_optimizer = in_step or any(n.name.startswith("Optimizer.zero_grad") for n in above)
        in_backward = any(n.scope == 1 or n.name.startswith("autograd::engine::evaluate_function") for n in above)
        in_accumulate = any("AccumulateGrad" in n.name for n in above)
        for i, arg in enumerate(node.takes):
            for t in arg:
                if not in_optimizer:
                    use(t, node.event["ts"], "read backward" if in_backward else "read forward")
                if node.name.endswith("AccumulateGrad") or in_accumulate and i in node.changes:
                    use(t, node.event["ts"], "gradient")
                if in_step and i in node.changes:
                    use(t, node.event["ts"], "changed")
        for t in node.gives:
            if not in_optimizer and not in_backward:
                use(t, node.event["end"], "given forward")

    def category(uses):
        if "gradient" in uses:
            return "gradient"
        if "changed" in uses:
            return "parameter" if "read forward" in uses else "optimizer_state"
        return "activation" if {"given forward", "read backward"} <= uses else "unknown"
    of_event = {}
    for life in (life for list_ in lives.values() for life in list_):
        name = category(life["uses"])
        steps = [n for n in life["chain"] if n.name.startswith("Optimizer.step")]
        ops = [n for n in life["chain"] if n.event["cat"] == "cpu_op"]
        freed = len(life["of"]) == 2 and memory[life["of"][1]]
        if freed and steps and freed["ts"] <= steps[0].event["end"]:
            name = "temporary"
        if name == "unknown" and freed and ops and freed["tid"] == ops[-1].event["tid"] and freed["ts"] <= ops[-1].event["end"]:
            name = "temporary"
        of_event.update((i, name) for i in life["of"])
    before = collections.Counter()
    for storage, uses in uses_of.items():
        if category(uses) in ("parameter", "optimizer_state") and first_taken[storage]:
            before[category(uses)] += size_of[storage]
    for life in (life for list_ in lives.values() for life in list_ if not life["alloc"]):
        before[of_event[life["of"][0]]] += life["bytes"]
    return of_event, before


def table(view):
    text = support.output("memory-timeline", "--no-cache", "--view", view, "--format", "csv", TRACE, "--attach", ET).decode()
    return [row for row in csv.DictReader(io.StringIO(text)) if row["source"] == "execution-trace"]


def test_against_the_definition():
    nodes, memory = read()
    of_event, now = categories(nodes, memory)
    got = table("categories")
    assert len(got) == len(memory)
    for i, (event, row) in enumerate(zip(memory, got)):
        now[of_event[i]] += event["args"]["Bytes"]
        assert {name: int(row[f"{name}_bytes"]) for name in NAMES} == {name: now[name] for name in NAMES}, i
        assert int(row["total_bytes"]) == event["args"]["Total Allocated"]


def test_against_the_model():
    """AdamW has two floats of state per parameter and a step of four bytes per tensor; gradients are as large as parameters, in blocks."""
    fused = [node for node in json.loads(gzip.decompress(ET.read_bytes()))["nodes"] if node["name"] == "aten::_fused_adamw_"][0]
    sizes = [tensor[3] * tensor[4] for tensor in fused["inputs"]["values"][0]]
    peaks = {row["category"]: int(row["peak_bytes"]) for row in table("summary")}
    assert peaks["parameter"] == sum(sizes)
    assert peaks["optimizer_state"] == 2 * sum(sizes) + 4 * len(sizes)
    # of a large block up to 1 MiB is not split off
    rest = peaks["gradient"] - sum(-(-size // 512) * 512 for size in sizes)
    assert 0 <= rest <= sum(size > 1 << 20 for size in sizes) << 20
