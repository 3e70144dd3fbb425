# SPDX-License-Identifier: Apache-2.0
"""Call stacks of threads with GPU work as leaves."""

import logging
from dataclasses import dataclass, field
from functools import cmp_to_key
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional

import numpy as np
import pandas as pd

from holotrace._hta.call_tree import NON_EXISTENT_NODE_INDEX, NULL_NODE_INDEX, nest
from holotrace.common.trace_symbol_table import TraceSymbolTable
from holotrace.common.types import DeviceType, infer_device_type

logger = logging.getLogger("hta")

EVENT_START = 1
EVENT_END = -1
OPEN_END = -1
CLOSE_END = 1

__all__ = ["CallStackGraph", "CallStackIdentity", "CallStackNode", "NON_EXISTENT_NODE_INDEX",
           "NULL_NODE_INDEX", "is_events_sorted", "sort_events"]

_INDEX, _DUR, _KIND, _TIME = range(4)  # columns of an array of ends of events


def _order(x, y) -> int:
    """Below 0 when end x of an event comes before end y of another: what encloses opens first and
    closes last, and an event without length lies inside what begins or ends where it is."""
    if x[_TIME] != y[_TIME]:
        return -1 if x[_TIME] < y[_TIME] else 1
    if x[_INDEX] == y[_INDEX] or (x[_DUR] == 0 and y[_DUR] == 0 and x[_KIND] != y[_KIND]):
        return x[_KIND] - y[_KIND]
    if (x[_DUR] == 0) != (y[_DUR] == 0):  # the one with length opens before, or closes after
        return y[_KIND] * -1 if x[_DUR] == 0 else x[_KIND]
    if x[_KIND] != y[_KIND]:
        return y[_KIND] - x[_KIND]
    longer_first = (y[_DUR] - x[_DUR]) or (x[_INDEX] - y[_INDEX])
    return longer_first * (1 if x[_KIND] == OPEN_END else -1)


def _less_than(x, y) -> bool:
    return bool(_order(x, y) < 0)


def _cmp_events_with_zero_duration(x, y) -> bool:
    if x[_DUR] != 0 and y[_DUR] != 0:
        raise ValueError("neither of the events is without length")
    return _less_than(x, y)


def sort_events(a: np.ndarray) -> None:
    """Sort ends of events, rows (index, dur, OPEN_END or CLOSE_END, time), in place, so that a stack
    of open events is the call stack."""
    a[:] = sorted(a.tolist(), key=cmp_to_key(_order))


def is_events_sorted(arr: np.ndarray) -> bool:
    """Whether the rows are in the order of sort_events()."""
    return all(_less_than(x, y) for x, y in zip(arr, arr[1:]))


class CallStackIdentity(NamedTuple):
    """Where a call stack was recorded."""

    rank: int = -1
    pid: int = -1
    tid: int = -1


@dataclass
class CallStackNode:
    """A row in a tree: depth is 0 at the top, height 0 for GPU work and 1 for a row that calls nothing."""

    parent: int = NULL_NODE_INDEX
    depth: int = -1
    height: int = -1
    device: DeviceType = DeviceType.CPU
    children: List[int] = field(default_factory=list)


DFSCallback = Callable[[int, CallStackNode], None]


def _root_of(tid, taken: Iterable[int]) -> int:
    """A node for the top of a thread: minus its number, or the next negative one that is free."""
    root = -abs(int(tid)) if isinstance(tid, (int, np.integer)) and tid else NULL_NODE_INDEX
    while root in taken:
        root -= 1
    return root


class CallStackGraph:
    """The call tree of one thread: host rows, and the GPU work that they launch.

    df                           rows of the thread
    identity                     which thread
    cpu_gpu_correlation          columns cpu_index, gpu_index: launches and what they launched
    full_df                      all rows of the rank, which get the columns of the tree
    nodes                        {index: CallStackNode} to share with other threads of the rank
    use_existing_stack_columns   take parents from full_df where it has them
    save_call_stack_to_df        write them to full_df otherwise
    """

    def __init__(self, df: pd.DataFrame, identity: CallStackIdentity, cpu_gpu_correlation: pd.DataFrame,
                 full_df: pd.DataFrame, symbol_table: Optional[TraceSymbolTable],
                 nodes: Optional[Dict[int, CallStackNode]] = None,
                 use_existing_stack_columns: bool = True, save_call_stack_to_df: bool = True) -> None:
        self.df, self.full_df = df, full_df
        self.identity = identity
        self.device_type = infer_device_type(df)
        self.correlations = cpu_gpu_correlation
        self.symbol_table = symbol_table
        self.nodes: Dict[int, CallStackNode] = {} if nodes is None else nodes
        self.root_index = _root_of(identity.tid, self.nodes)
        if self.device_type is DeviceType.GPU:
            logger.error("rows of a GPU stream have no call stack: %s", identity)
            return
        self.nodes[self.root_index] = CallStackNode(NULL_NODE_INDEX, -1, -1, self.device_type)
        existing = use_existing_stack_columns and self._has_valid_stack_columns()
        self._build(existing)
        self.measure([self.root_index])
        if save_call_stack_to_df and not existing:
            self.save_call_stack_to_dataframe()

    def _has_valid_stack_columns(self) -> bool:
        if not {"parent", "depth", "height"} <= set(self.full_df.columns):
            return False
        own = self.full_df.loc[self.full_df["index"].isin(self.df["index"]), ["parent", "depth", "height"]]
        return not own.isna().to_numpy().any() and bool(((own["depth"] >= 0) & (own["parent"] != -1)).any())

    def _build(self, existing: bool) -> None:
        host = self.df[self.df["stream"] == -1]
        if existing:
            columns = self.full_df.set_index("index")
            host = host[columns["depth"].reindex(host["index"]).to_numpy() >= 0]
            index = host["index"].tolist()
            parent = dict(zip(index, columns["parent"].reindex(index).astype("int64").tolist()))
        else:
            if "index_correlation" not in self.df.columns:
                raise ValueError("the frame has no column index_correlation")
            parent = nest(host["index"].to_numpy(), host["ts"].to_numpy(), host["dur"].to_numpy())
        # A parent in another thread is that of a backward pass, which the graph of all threads links.
        for node in parent:
            self._add(node, DeviceType.CPU)
        for node, up in parent.items():
            self._attach(node, up if up in parent else self.root_index)
        launched = self.correlations[self.correlations["cpu_index"].isin(parent)]
        for cpu, gpu in zip(launched["cpu_index"].tolist(), launched["gpu_index"].tolist()):
            if self._add(int(gpu), DeviceType.GPU):
                self._attach(int(gpu), int(cpu))

    def _add(self, node: int, device: DeviceType) -> bool:
        if node in self.nodes:
            logger.debug("event %d is in a call stack already", node)
            return False
        self.nodes[node] = CallStackNode(device=device)
        return True

    def _attach(self, node: int, parent: int) -> None:
        self.nodes[node].parent = parent
        self.nodes[parent].children.append(node)

    def _below(self, idx: int) -> List[int]:
        """A node and everything under it, parents first."""
        found = [idx] if idx in self.nodes else []
        for node in found:
            found.extend(self.nodes[node].children)
        return found

    def measure(self, roots: Optional[Iterable[int]] = None) -> None:
        """Depths and heights anew under some roots, or in all threads that share nodes."""
        for root in self._roots() if roots is None else roots:
            self.nodes[root].depth = -1
            order = self._below(root)
            for node in order:
                for child in self.nodes[node].children:
                    self.nodes[child].depth = self.nodes[node].depth + 1
            for node in reversed(order):
                own = self.nodes[node]
                below = max((self.nodes[child].height for child in own.children), default=0)
                own.height = 0 if own.device is DeviceType.GPU else below + 1

    def _roots(self) -> List[int]:
        return [node for node in self.nodes if node < 0]

    def save_call_stack_to_dataframe(self, apply_whole_graph: bool = False) -> None:
        """Depths and heights anew, and those columns of full_df that it has; of all threads if asked."""
        if self.device_type is DeviceType.GPU:
            return
        roots = self._roots() if apply_whole_graph else [self.root_index]
        self.measure(roots)
        order = [node for root in roots for node in self._below(root) if node >= 0]
        rows = self.full_df["index"].isin(order)
        index = self.full_df.loc[rows, "index"]
        values = {name: {node: getattr(self.nodes[node], name) for node in order}
                  for name in ("parent", "depth", "height")}
        values.update(kernel_columns(self.full_df, self.nodes, order))
        for name, made in values.items():
            if name in self.full_df.columns:
                self.full_df.loc[rows, name] = index.map(made).to_numpy()

    def __repr__(self) -> str:
        rows = "".join(f"    {index}: {node}\n" for index, node in self.nodes.items())
        return f"CallStackGraph\n{rows}"

    def get_nodes(self) -> Dict[int, CallStackNode]:
        """{index: node}, with those of other threads when they are shared."""
        return self.nodes

    def update_parent_of_first_layer_nodes(self, new_parent_index: int) -> None:
        """Hang the rows at the top of this thread that lie within a row of another one under it."""
        if new_parent_index not in self.nodes:
            raise ValueError(f"event {new_parent_index} is in no call stack")
        found = self.full_df[self.full_df["index"] == new_parent_index]
        if found.empty:
            raise ValueError(f"the frame has no event {new_parent_index}")
        start, length = found.iloc[0][["ts", "dur"]]
        if self.get_root(new_parent_index) == self.root_index:
            return
        top = self.full_df[self.full_df["index"].isin(self.nodes[self.root_index].children)]
        inside = (top["ts"] >= start) & (top["ts"] + top["dur"] <= start + length)
        for node in top.loc[inside, "index"].tolist():
            self.move(node, new_parent_index)

    def move(self, node: int, new_parent_index: int) -> None:
        """Hang a row at the top of this thread under another; a root that has none left goes."""
        root = self.nodes[self.root_index]
        root.children.remove(node)
        self._attach(node, new_parent_index)
        if not root.children:
            del self.nodes[self.root_index]
            self.root_index = self.get_root(new_parent_index)

    def get_parent(self, idx: int) -> int:
        """Parent of a node; the root at the top, -2 when it is not in this graph."""
        return self.nodes[idx].parent if idx in self.nodes else NON_EXISTENT_NODE_INDEX

    def get_children(self, idx: int) -> List[int]:
        return self.nodes[idx].children if idx in self.nodes else []

    def get_root(self, idx: int) -> int:
        """The root, a negative number, of the tree that a node is in; -1 when it is in none."""
        path = self.get_path_to_root(idx)
        return path[-1] if path else NULL_NODE_INDEX

    def get_path_to_root(self, idx: int) -> List[int]:
        """The node, its ancestors and the root."""
        path = [idx] if idx in self.nodes else []
        while path and path[-1] >= 0 and path[-1] in self.nodes:
            path.append(self.nodes[path[-1]].parent)
        return path

    def get_paths_to_leaves(self, idx: int, include_cuda_kernel: bool = False) -> List[List[int]]:
        """Ways from a node down to rows that call nothing, or to GPU work if asked."""
        paths: List[List[int]] = []
        stack = [[idx]] if idx in self.nodes else []
        while stack:
            path = stack.pop()
            children = [child for child in self.nodes[path[-1]].children
                        if include_cuda_kernel or self.nodes[child].device is not DeviceType.GPU]
            if children:
                stack.extend([*path, child] for child in reversed(children))
            else:
                paths.append(path)
        return paths

    def get_leaf_nodes(self, idx: int, include_gpu_kernel: bool = False) -> List[int]:
        return [path[-1] for path in self.get_paths_to_leaves(idx, include_gpu_kernel)]

    def get_descendants(self, idx: int, include_gpu_kernel: bool = False) -> List[int]:
        """A node and everything under it, parents first."""
        return [node for node in self._below(idx)
                if include_gpu_kernel or self.nodes[node].device is not DeviceType.GPU]

    def get_dataframe(self) -> pd.DataFrame:
        return self.df

    def get_depth(self) -> pd.Series:
        """Depths by index of the rows of this thread."""
        index = [node for node in self.df["index"].tolist() if node in self.nodes]
        return pd.Series([self.nodes[node].depth for node in index], index=index, name="depth", dtype="Int16")

    def dfs_traverse(self, enter_func: DFSCallback, exit_func: Optional[DFSCallback] = None) -> None:
        """Call enter_func(index, node) on the way down and exit_func on the way up."""
        stack = [(self.root_index, False)]
        while stack:
            index, done = stack.pop()
            node = self.nodes[index]
            if done:
                if exit_func:
                    exit_func(index, node)
                continue
            enter_func(index, node)
            stack.append((index, True))
            stack.extend((child, False) for child in reversed(node.children))


def kernel_columns(df: pd.DataFrame, nodes: Dict[int, CallStackNode], order: List[int]) -> Dict[str, dict]:
    """GPU work under each node of order, which has parents first: {column: {index: value}}."""
    start = dict(zip(df["index"].tolist(), df["ts"].tolist()))
    length = dict(zip(df["index"].tolist(), df["dur"].tolist()))
    sums: Dict[int, list] = {node: [0, 0, None, None] for node in order}
    for node in reversed(order):
        own = sums[node]
        if nodes[node].device is DeviceType.GPU and node in start:
            own[:] = [1, length[node], start[node], start[node] + length[node]]
        up = sums.get(nodes[node].parent)
        if up is None or not own[0]:
            continue
        up[0] += own[0]
        up[1] += own[1]
        up[2] = own[2] if up[2] is None else min(up[2], own[2])
        up[3] = own[3] if up[3] is None else max(up[3], own[3])
    return {
        "num_kernels": {node: row[0] for node, row in sums.items()},
        "kernel_dur_sum": {node: row[1] for node, row in sums.items()},
        "first_kernel_start": {node: -1 if row[2] is None else row[2] for node, row in sums.items()},
        "last_kernel_end": {node: -1 if row[3] is None else row[3] for node, row in sums.items()},
        "kernel_span": {node: 0 if row[2] is None else row[3] - row[2] for node, row in sums.items()},
    }
