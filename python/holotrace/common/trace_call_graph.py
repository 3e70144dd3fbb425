"""CallGraph: host call trees with GPU work as leaves, autograd threads under their backward pass.

For a Trace the columns parent, depth, height, num_kernels, ... come from the engine and stay in
t.traces[rank]; frames from elsewhere get them here.
"""

from typing import Generator, List, Optional

import numpy as np
import pandas as pd

from holotrace._hta.call_tree import NULL_NODE_INDEX, Tree, nest
from holotrace.common.trace_call_stack import CallStackGraph, CallStackIdentity
from holotrace.common.trace_symbol_table import TraceSymbolTable
from holotrace.utils.utils import holds_text


class CallGraph:
    """Call stacks of the chosen ranks."""

    stack_columns = ["parent", "depth", "height", "first_kernel_start", "last_kernel_end",
                     "num_kernels", "kernel_dur_sum", "kernel_span"]

    def __init__(self, trace, ranks: Optional[List[int]] = None) -> None:
        self._begin()
        self.symbol_table = trace.symbol_table
        for rank in list(ranks) if ranks else trace.get_ranks():
            trace.add_call_graph(rank)
            self._add(rank, trace.get_trace(rank))
        self._finish()

    @staticmethod
    def from_dataframe(df: pd.DataFrame, symbol_table: Optional[TraceSymbolTable] = None,
                       rank: int = -1) -> "CallGraph":
        """Of one frame of events; the columns are added to it."""
        graph = CallGraph.__new__(CallGraph)
        graph._begin()
        graph.symbol_table = symbol_table
        _add_columns(df, graph._names(df))
        graph._add(rank, df)
        graph._finish()
        return graph

    def _begin(self) -> None:
        self.call_stacks: List[CallStackGraph] = []
        self.frames: dict = {}
        self._rows: list = []

    def _names(self, df: pd.DataFrame) -> np.ndarray:
        if holds_text(df["name"]):
            return df["name"].to_numpy()
        if self.symbol_table is None:
            return df["name"].astype(str).to_numpy()
        return self.symbol_table.texts(df["name"])

    def _add(self, rank: int, df: pd.DataFrame) -> None:
        self.frames[rank] = df
        df = df.reset_index(drop=True)
        host = df[(df["stream"] == -1) & (df["depth"] >= 0)]
        names = pd.Series(self._names(host), index=host.index)
        for (pid, tid), part in host.groupby(["pid", "tid"], sort=True):
            own = names[part.index]
            if own.str.startswith("ProfilerStep#").any():
                label = "main"
            elif own.str.contains("autograd::", regex=False).any():
                label = "bwd"
            else:
                label = own.iloc[0]
            stack = CallStackGraph(part, CallStackIdentity(rank, pid, tid), df, label)
            self._rows.append((rank, pid, tid, label, len(self.call_stacks), stack.root_index, len(part)))
            self.call_stacks.append(stack)

    def _finish(self) -> None:
        self.mapping = pd.DataFrame(self._rows, columns=["rank", "pid", "tid", "label", "stack_index",
                                                         "stack_root", "count"])

    def _frame(self, rank: Optional[int]) -> pd.DataFrame:
        if rank is None:
            return next(iter(self.frames.values()))
        if rank not in self.frames:
            raise ValueError(f"the call graph has no rank {rank}; it has {sorted(self.frames)}")
        return self.frames[rank]

    def _rank(self, rank: Optional[int]) -> int:
        self._frame(rank)
        return next(iter(self.frames)) if rank is None else rank

    def get_call_stacks(self, rank: Optional[int] = None, pid: Optional[int] = None,
                        tid: Optional[int] = None, stack_index: Optional[int] = None
                        ) -> Generator[CallStackGraph, None, None]:
        """The stacks for which everything given holds."""
        for i, stack in enumerate(self.call_stacks):
            wanted = ((rank, stack.identity.rank), (pid, stack.identity.pid), (tid, stack.identity.tid),
                      (stack_index, i))
            if all(asked is None or asked == has for asked, has in wanted):
                yield stack

    def get_node_attributes(self, index: int, rank: Optional[int] = None) -> pd.Series:
        df = self._frame(rank)
        found = df[df["index"] == index]
        if found.empty:
            raise ValueError(f"there is no event {index}")
        return found.iloc[0]

    def get_csg_of_node(self, index: int, rank: Optional[int] = None) -> CallStackGraph:
        """The stack that has a node; GPU work is in that of its launch."""
        rank = self._rank(rank)
        for stack in self.get_call_stacks(rank=rank):
            if index in stack.tree.parent:
                return stack
        raise ValueError(f"event {index} of rank {rank} is in no call stack")

    def get_stack_of_node(self, index: int, rank: Optional[int] = None,
                          skip_ancestors: bool = False) -> pd.DataFrame:
        """Rows under a node, GPU work included, and around it; by start."""
        df = self._frame(rank)
        children = df.groupby("parent")["index"].apply(list)
        nodes, level = [index], [index]
        while level:
            level = [child for node in level for child in children.get(node, [])]
            nodes += level
        if not skip_ancestors:
            parent = dict(zip(df["index"].tolist(), df["parent"].tolist()))
            up = parent.get(index, NULL_NODE_INDEX)
            while up in parent:
                nodes.append(up)
                up = parent[up]
        return df[df["index"].isin(nodes)].sort_values("ts", kind="stable")

    def get_gpu_kernels(self, rank: Optional[int] = None) -> pd.DataFrame:
        df = self._frame(rank)
        return df[df["stream"] >= 0]


def _adopt_backward(df: pd.DataFrame, names: np.ndarray, parent: dict) -> None:
    """Hang the top rows of the one autograd thread under the backward pass of the one main thread."""
    host = (df["stream"] == -1).to_numpy()
    names = pd.Series(names.astype(str), index=df.index)[host]
    threads = df[host].groupby(["pid", "tid"]).groups
    main = [rows for rows in threads.values() if names[rows].str.startswith("ProfilerStep#").any()]
    backward = [rows for rows in threads.values() if rows is not main[0]
                and names[rows].str.contains("autograd::", regex=False).any()] if len(main) == 1 else []
    if len(backward) != 1:
        return
    of_main = names[main[0]]
    adopters = df.loc[of_main.index[of_main.str.startswith("## backward ##")]]
    if adopters.empty:
        adopters = df.loc[of_main.index[of_main.str.startswith("ProfilerStep#")]]
    top = df.loc[backward[0]]
    top = top[top["index"].map(parent) == NULL_NODE_INDEX]
    for index, start, length in zip(adopters["index"], adopters["ts"], adopters["dur"]):
        inside = (top["ts"] >= start) & (top["ts"] + top["dur"] <= start + length)
        parent.update(dict.fromkeys(top.loc[inside, "index"].tolist(), int(index)))


def _add_columns(df: pd.DataFrame, names: np.ndarray) -> None:
    """The columns of a call graph, for a frame that is not the engine's."""
    index = df["index"].to_numpy()
    host = df[df["stream"] == -1]
    parent: dict = {}
    for _, part in host.groupby(["pid", "tid"]):
        parent.update(nest(part["index"].to_numpy(), part["ts"].to_numpy(), part["dur"].to_numpy()))
    _adopt_backward(df, names, parent)
    launched = df[(df["stream"] >= 0) & df["index_correlation"].isin(parent)]
    kernels = dict(zip(launched["index"].tolist(), launched["index_correlation"].tolist()))
    tree = Tree({**parent, **kernels})
    depth = tree.depths()
    start = dict(zip(index.tolist(), df["ts"].tolist()))
    length = dict(zip(index.tolist(), df["dur"].tolist()))
    sums = {node: [1, 0, 0, None, None] for node in tree.parent}
    for node in reversed(tree.descendants(NULL_NODE_INDEX)):
        own = sums[node]
        if node in kernels:
            own[:] = [0, 1, length[node], start[node], start[node] + length[node]]
        up = sums.get(tree.parent[node])
        if up is None:
            continue
        up[0] = max(up[0], own[0] + 1)
        up[1] += own[1]
        up[2] += own[2]
        if own[1]:
            up[3] = own[3] if up[3] is None else min(up[3], own[3])
            up[4] = own[4] if up[4] is None else max(up[4], own[4])
    none = [-1, 0, 0, None, None]
    rows = [sums.get(node, none) for node in index.tolist()]
    df["parent"] = [tree.parent.get(node, -1) for node in index.tolist()]
    df["depth"] = [depth.get(node, -1) for node in index.tolist()]
    df["height"] = [row[0] for row in rows]
    df["num_kernels"] = [row[1] for row in rows]
    df["kernel_dur_sum"] = [row[2] for row in rows]
    df["first_kernel_start"] = [-1 if row[3] is None else row[3] for row in rows]
    df["last_kernel_end"] = [-1 if row[4] is None else row[4] for row in rows]
    df["kernel_span"] = np.where(df["num_kernels"] > 0, df["last_kernel_end"] - df["first_kernel_start"], 0)
