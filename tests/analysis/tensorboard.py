# SPDX-License-Identifier: Apache-2.0
"""The profiler's views computed from their definitions, twice: as they should be, and as the TensorBoard plugin has them.

The plugin's tables are the reference. Where it is wrong on purpose or by mistake (docs/departures-from-tensorboard.md)
the second way shows that the reason given is the whole reason: it gives the plugin's cells, and only those rules
differ between the two. Slow and plain; shares nothing with the engine.
"""
import decimal
import json
import re

import support

TC_KERNELS = ["h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "dgrad_1x1_stride_2x2",
              "first_layer_wgrad_kernel", "conv1x1", "conv2d_c1_k1", "direct_group", "xmma_implicit_gemm",
              "xmma_sparse_conv", "xmma_warp_specialized_implicit_gemm", "xmma_gemm", "xmma_sparse_gemm", "c1688"]
TC_KERNELS_SINCE = ["nvjet", "gmma", "tensorop", "sm80_xmma", "sm90_xmma", "flash_fwd", "flash_bwd",
                    "cutlass3x_sm90", "cutlass3x_sm100", "MmaTensorOp", "AttentionKernel<float, cutlass::arch::Sm80",
                    "AttentionBackwardKernel<cutlass::arch::Sm80, float"]
OPS, ANNOTATIONS = {"cpu_op", "operator"}, {"user_annotation"}
RUNTIME, DRIVER = {"cuda_runtime", "runtime"}, {"cuda_driver"}
KERNEL, MEMCPY, MEMSET = {"kernel"}, {"gpu_memcpy", "memcpy"}, {"gpu_memset", "memset"}
MODULE = "nn.Module: "


def ns(value):
    return int(decimal.Decimal(str(value)) * 1000)


class Event:
    def __init__(self, raw, index):
        self.name = raw["name"]
        self.cat = (raw.get("cat") or "").lower()
        self.track = (str(raw["pid"]), str(raw["tid"]))
        self.start = ns(raw["ts"])
        self.end = self.start + ns(raw["dur"])
        self.args = raw.get("args", {})
        self.index = index
        self.children, self.parent, self.calls, self.work = [], None, [], []

    dur = property(lambda self: self.end - self.start)

    def arg(self, *names):
        return next((self.args[name] for name in names if name in self.args), None)

    def inside(self):
        yield self
        for child in self.children:
            yield from child.inside()


class Trace:
    def __init__(self, path):
        raw = json.loads(support.trace_bytes(path), parse_float=str)
        self.events = [Event(e, i) for i, e in enumerate(raw["traceEvents"])
                       if e.get("ph") == "X" and "dur" in e]
        self.flows = [e for e in raw["traceEvents"] if e.get("cat") in ("fwdbwd", "forward_backward")]

    def of(self, *cats):
        wanted = set().union(*cats)
        return [e for e in self.events if e.cat in wanted]


def is_step(e):
    return e.name.startswith("ProfilerStep")


def step_copies(trace):
    """Steps that are drawn on the GPU, which to the plugin are steps, of one more main thread."""
    return [e for e in trace.of({"gpu_user_annotation"}) if is_step(e)]


def is_loader(e):
    return re.match(r"enumerate\(DataLoader\)#.*\.__next__$|enumerate\(DataPipe\)#", e.name) is not None


def is_comm(e, plugin):
    if plugin:
        return re.match(r"(nccl|gloo):(broadcast|reduce|all_reduce|all_gather|reduce_scatter)$", e.name) is not None
    return re.match(r"(nccl|gloo|hccl|xccl|ucc|mpi):[^:]", e.name) is not None or e.name == "record_param_comms"


# ---- steps ----

def union(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def cut(left, taken):
    """What of the intervals is not taken."""
    rest = []
    for start, end in left:
        for t_start, t_end in taken:
            if t_end <= start or t_start >= end:
                continue
            if t_start > start:
                rest.append([start, t_start])
            start = max(start, t_end)
        if start < end:
            rest.append([start, end])
    return rest


def within(intervals, start, end):
    return sum(max(0, min(end, e) - max(start, s)) for s, e in intervals)


def step_bounds(trace, calls):
    """[number, start, end] up to the last GPU work that was launched in each, the cut-off end left out."""
    steps = sorted([e for e in trace.of(OPS, ANNOTATIONS) if is_step(e)], key=lambda e: e.start)
    bounds = [[int(e.name.split("#")[1]), e.start, e.end, []] for e in steps]
    if not bounds:
        ops = trace.of(OPS)
        bounds = [[0, min(e.start for e in ops), max(e.end for e in ops), []]]
    work = trace.of(KERNEL, MEMCPY, MEMSET)
    launch = {e.arg("correlation"): e for e in calls}
    outside = []
    for e in work:
        by = launch.get(e.arg("correlation"))
        mine = [b for b in bounds if by and by.start >= b[1] and by.end <= b[2]]
        (mine[0][3] if mine else outside).append(e)
    if not any(b[3] for b in bounds):
        return [b[:3] for b in bounds]
    before = bounds[0][1]
    if bounds[0][3]:
        first = min(e.start for e in bounds[0][3])
        before = max([before] + [e.end for e in outside if e.end <= first])
    for b in bounds:
        b[1] = max(before, b[1])
        b[2] = max([b[2], b[1]] + [e.end for e in b[3]])
        before = b[2]
    while bounds and not bounds[-1][3]:
        bounds.pop()
    if len(bounds) > 1 and len(bounds[-1][3]) < 0.8 * len(bounds[-2][3]):
        bounds.pop()
    return [b[:3] for b in bounds]


def steps(trace, plugin):
    """{step: [total, kernel, memcpy, memset, communication, runtime, loader, cpu, other]} in ns"""
    calls = trace.of(RUNTIME) if plugin else trace.of(RUNTIME, DRIVER)
    bounds = step_bounds(trace, calls)
    comm_ids = {e.arg("External id", "external id") for e in trace.of(OPS) if is_comm(e, plugin)}
    kernels = trace.of(KERNEL)
    comm = [e for e in kernels if e.arg("External id", "external id") in comm_ids or
            (not plugin and "nccl" in e.name.lower())]
    host = trace.of(OPS, ANNOTATIONS, {"gpu_user_annotation"} if plugin else set())
    host = [e for e in host if not is_step(e)]

    def communicates(e):
        """Where kernels do, calls that put them into a queue are operators."""
        return is_comm(e, plugin) and (plugin or not comm or re.match("(gloo|mpi|ucc):", e.name) is not None)

    roles = [[e for e in kernels if e not in comm], trace.of(MEMCPY), trace.of(MEMSET),
             comm + [e for e in host if communicates(e)], calls,
             [e for e in host if is_loader(e)],
             [e for e in host if not is_loader(e) and not communicates(e)]]
    result = {b[0]: [b[2] - b[1]] for b in bounds}
    left = union([b[1:3] for b in bounds])
    for role in roles:
        rest = cut(left, union([(e.start, e.end) for e in role]))
        for number, start, end in bounds:
            result[number].append(within(left, start, end) - within(rest, start, end))
        left = rest
    for number, start, end in bounds:
        result[number].append(within(left, start, end))
    return result


# ---- operators ----

def is_node(e):
    if e.cat == "python_function":
        return e.name.startswith(MODULE)
    return e.cat in OPS or (e.cat in ANNOTATIONS and
                            (is_step(e) or is_loader(e) or e.name.startswith("Optimizer.step") or is_comm(e, False)))


def build(events):
    """Trees of one thread: innermost that is open; what outlives its parent ends with it."""
    roots, stack = [], []
    for e in sorted(events, key=lambda e: (e.start, -e.end, e.index)):
        while stack and stack[-1].end <= e.start:
            stack.pop()
        e.children, e.parent, e.calls, e.work = [], stack[-1] if stack else None, [], []
        (stack[-1].children if stack else roots).append(e)
        if stack:
            e.end = min(e.end, stack[-1].end)
        stack.append(e)
    return roots


def is_operator(e):
    return e.cat in OPS and not is_step(e) and not is_loader(e) and not e.name.startswith("Optimizer.step")


def merge(node):
    while len(node.children) == 1 and node.children[0].name == node.name and \
            is_operator(node) and is_operator(node.children[0]):
        child = node.children[0]
        node.calls += child.calls
        node.work += child.work
        node.children = child.children
        for grandchild in child.children:
            grandchild.parent = node
    for child in node.children:
        merge(child)


def lost_roots(trace, roots):
    """Roots of the backward pass that the plugin drops: it hangs them under the modules of their forward operators, and
    these ran in none. What accumulates gradients goes with the root before it."""
    modules = [e for e in trace.of({"python_function"}) if e.name.startswith(MODULE)]
    if not modules or not trace.flows:
        return set()
    begins = {f["id"]: f for f in trace.flows if f["ph"] == "s"}
    targets = {}
    for f in trace.flows:
        if f["ph"] == "f" and f["id"] in begins:
            begin = begins[f["id"]]
            targets[str(f["pid"]), str(f["tid"]), ns(f["ts"])] = \
                (str(begin["pid"]), str(begin["tid"])), ns(begin["ts"])
    lost, before = set(), False
    for root in roots:
        for node in [root] + (root.children if is_step(root) else []):
            if not node.name.startswith("autograd::engine::evaluate_function:"):
                continue
            if "AccumulateGrad" not in node.name:
                from_ = [targets[(*e.track, e.start)] for e in node.inside() if (*e.track, e.start) in targets]
                before = not any(m.track == track and m.start <= ts <= m.end
                                 for track, ts in from_ for m in modules)
            if before:
                lost.add(node)
    return lost


def innermost(nodes, calls):
    """{call: innermost node around it on its thread}"""
    around, tracks = {}, {}
    for e in nodes + calls:
        tracks.setdefault(e.track, []).append(e)
    is_call = set(calls)
    for events in tracks.values():
        stack = []
        for e in sorted(events, key=lambda e: (e.start, -e.end, e in is_call, e.index)):
            while stack and stack[-1].end < e.end:
                stack.pop()
            if e in is_call:
                around[e] = stack[-1] if stack else None
            else:
                stack.append(e)
    return around


def runs_on_tc(e, plugin):
    return any(text in e.name for text in TC_KERNELS + ([] if plugin else TC_KERNELS_SINCE))


def operators(trace, plugin, shapes=False):
    """{name or (name, shape): [calls, device self, total, host self, total, tc self, tc total]} in ns"""
    tracks = {}
    for e in trace.events:
        if is_node(e):
            tracks.setdefault(e.track, []).append(e)
    roots = [root for events in tracks.values() for root in build(events)]
    nodes = [node for root in roots for node in root.inside()]
    by_id = {}
    for node in nodes:
        if node.cat in OPS:
            by_id.setdefault(node.arg("External id"), node)
    hand_out(trace, plugin, nodes, by_id)
    for root in roots:
        merge(root)
    lost = lost_roots(trace, roots) if plugin else set()
    table = {}
    for root in roots:
        if root not in lost:
            count(root, plugin, shapes, lost, table)
    trace.lost_work = {e for root in lost for node in root.inside() for e in node.work}
    return table


def hand_out(trace, plugin, nodes, by_id):
    """Give calls and GPU work to operators. To the plugin both belong to the operator with their External id, so that what is
    inside an annotation inside that operator is subtracted twice. Work belongs to one launch."""
    work, taken = {}, set()
    for e in trace.of(KERNEL, MEMCPY, MEMSET):
        work.setdefault(e.arg("correlation"), []).append(e)
    calls = sorted(trace.of(RUNTIME) if plugin else trace.of(RUNTIME, DRIVER), key=lambda e: (e.start, -e.end))
    around = {} if plugin else innermost(nodes, calls)
    last = {}
    for call in calls:
        named = by_id.get(call.arg("External id", "external id"))
        host = named if plugin else around[call]
        device = named if named is not None else host
        nested = call.track in last and call.end <= last[call.track]
        last[call.track] = max(last.get(call.track, 0), call.end)
        if host is not None and not nested:
            host.calls.append(call)
        if device is not None and call.arg("correlation") not in taken:
            taken.add(call.arg("correlation"))
            device.work += work.get(call.arg("correlation"), [])


def count(node, plugin, shapes, lost, table):
    totals = [count(child, plugin, shapes, lost, table) for child in node.children if child not in lost]
    device_self = sum(e.dur for e in node.work)
    tc_self = sum(e.dur for e in node.work if e.cat in KERNEL and runs_on_tc(e, plugin))
    device = device_self + sum(t[0] for t in totals)
    tc = tc_self + sum(t[1] for t in totals)
    host_self = node.dur - sum(c.dur for c in node.children) - sum(c.dur for c in node.calls)
    if is_operator(node) and not node.name.startswith("Optimizer.") and \
            node.name not in ("DataParallel.forward", "DistributedDataParallel.forward"):
        key = (node.name, spell(node.arg("Input Dims", "Input dims") or [])) if shapes else node.name
        row = table.setdefault(key, [0] * 7)
        for i, value in enumerate([1, device_self, device, host_self, node.dur, tc_self, tc]):
            row[i] += value
    return device, tc


def spell(shape):
    return str(shape)


# ---- kernels ----

def not_launched_by_runtime(trace):
    """Kernels of which the plugin knows no launch: the driver launched them."""
    known = {e.arg("correlation") for e in trace.of(RUNTIME)}
    return {e for e in trace.of(KERNEL) if e.arg("correlation") not in known}


def kernels(trace):
    """{name: [calls, total, max, min, blocks * ns, occupancy * ns]}"""
    table = {}
    for e in trace.of(KERNEL):
        row = table.setdefault(e.name, [0, 0, 0, 1 << 62, 0.0, 0.0])
        row[0] += 1
        row[1] += e.dur
        row[2] = max(row[2], e.dur)
        row[3] = min(row[3], e.dur)
        row[4] += float(e.arg("blocks per SM") or 0) * e.dur
        row[5] += float(e.arg("est. achieved occupancy %") or 0) * e.dur
    return table
