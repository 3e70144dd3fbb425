# SPDX-License-Identifier: Apache-2.0
"""CallGraph: host call trees with GPU work as leaves, autograd threads under their backward pass.

For a Trace the columns parent, depth, height, num_kernels, ... come from the engine and stay in
t.traces[rank]; frames from elsewhere get them here.
"""

import logging
from typing import Dict, Generator, List, Optional

import numpy as np
import pandas as pd

from holotrace._hta.call_tree import NULL_NODE_INDEX
from holotrace.common.trace import Trace, get_cpu_gpu_correlation
from holotrace.common.trace_call_stack import CallStackGraph, CallStackIdentity, CallStackNode
from holotrace.common.trace_symbol_table import TraceSymbolTable
from holotrace.common.types import DeviceType, infer_device_type
from holotrace.utils.utils import holds_text

logger = logging.getLogger("hta")


class CallGraph:
    """Call stacks of the chosen ranks.

        graph = CallGraph(analysis.t)
        graph.get_stack_of_node(1234)          # an event with what calls it and what it calls

    trace_data       the Trace; its frames have the columns in stack_columns from now on
    rank_to_stacks   {rank: {CallStackIdentity: CallStackGraph}}
    rank_to_nodes    {rank: {index of an event: CallStackNode}}
    call_stacks      all CallStackGraphs
    mapping          which of them is which thread
    """

    stack_columns = ["parent", "depth", "height", "first_kernel_start", "last_kernel_end",
                     "num_kernels", "kernel_dur_sum", "kernel_span"]

    def __init__(self, trace, ranks: Optional[List[int]] = None) -> None:
        self.trace_data = trace
        available = trace.get_ranks()
        self.ranks = [rank for rank in ranks if rank in available] if ranks else available
        if not self.ranks:
            raise ValueError(f"No rank was found: the trace has {available}, and {ranks} was asked for")
        self.symbol_table = trace.symbol_table
        self.call_stacks: List[CallStackGraph] = []
        self.rank_to_stacks: Dict[int, Dict[CallStackIdentity, CallStackGraph]] = {}
        self.rank_to_nodes: Dict[int, Dict[int, CallStackNode]] = {}
        rows: list = []
        for rank in self.ranks:
            rows += self._add(rank, trace.get_trace(rank), trace.add_call_graph(rank, check=True))
        self.mapping = pd.DataFrame(rows, columns=["rank", "pid", "tid", "label", "stack_index",
                                                   "stack_root", "count"])
        self.mapping["count"] = self.mapping.groupby(["rank", "stack_root"]).cumcount() + 1

    def __repr__(self) -> str:
        nodes = sum(len(nodes) for nodes in self.rank_to_nodes.values())
        return f"<CallGraph: {len(self.ranks)} ranks, {len(self.call_stacks)} threads, {nodes:,} nodes>"

    @staticmethod
    def from_dataframe(df: pd.DataFrame, symbol_table: Optional[TraceSymbolTable] = None,
                       rank: int = -1) -> "CallGraph":
        """Of one frame of events, which is copied: trace_data.get_trace(rank) has the columns."""
        trace = Trace(trace_files={})
        trace.symbol_table = symbol_table or (
            TraceSymbolTable.create_from_df(df) if holds_text(df["name"]) else TraceSymbolTable())
        trace.traces[rank] = df.copy()
        trace.is_parsed = True
        return CallGraph(trace)

    def _names(self, df: pd.DataFrame) -> np.ndarray:
        return df["name"].to_numpy() if holds_text(df["name"]) else self.symbol_table.texts(df["name"])

    def _add(self, rank: int, df: pd.DataFrame, known: bool) -> list:
        """The stacks of a rank; the frame has the columns already when known."""
        nodes = self.rank_to_nodes[rank] = {}
        stacks = self.rank_to_stacks[rank] = {}
        if not known:
            for column in self.stack_columns:
                counts = column in ("num_kernels", "kernel_dur_sum", "kernel_span")
                df[column] = 0 if counts else -1
        host = df[df["stream"] == -1]
        if known:
            host = host[host["depth"] >= 0]
        launches = get_cpu_gpu_correlation(df)
        busy = set(zip(df.loc[df["stream"] >= 0, "pid"], df.loc[df["stream"] >= 0, "tid"]))
        rows = []
        for (pid, tid), part in host.groupby(["pid", "tid"], sort=True):
            # annotations on a stream of the GPU are nobody's callers
            if (pid, tid) in busy or infer_device_type(part) is DeviceType.GPU:
                continue
            identity = CallStackIdentity(rank, pid, tid)
            stack = CallStackGraph(part, identity, launches, df, self.symbol_table, nodes, known, False)
            stacks[identity] = stack
            rows.append([rank, pid, tid, self._label(part), len(self.call_stacks), stack, 1])
            self.call_stacks.append(stack)
        self._link(df, rows, known)
        if rows and known:
            rows[-1][5].measure()
        elif rows:
            rows[-1][5].save_call_stack_to_dataframe(apply_whole_graph=True)
        return [[*row[:5], row[5].root_index, 1] for row in rows]

    def _label(self, part: pd.DataFrame) -> str:
        names = pd.Series(self._names(part), dtype=object).astype(str)
        if names.str.startswith("ProfilerStep#").any():
            return "main"
        return "bwd" if names.str.contains("autograd::", regex=False).any() else names.iloc[0]

    def _link(self, df: pd.DataFrame, rows: list, known: bool) -> None:
        """Hang threads of the backward pass under the row of the main thread that waits for them."""
        if known:
            parent = dict(zip(df["index"].tolist(), df["parent"].tolist()))
            for row in rows:
                stack = row[5]
                for node in list(stack.get_children(stack.root_index)):
                    if parent[node] in stack.nodes and parent[node] >= 0:
                        stack.move(node, parent[node])
                own = df["index"].isin(stack.get_children(stack.root_index))
                df.loc[own, "parent"] = stack.root_index
            return
        main = [row[5] for row in rows if row[3] == "main"]
        backward = [row[5] for row in rows if row[3] == "bwd"]
        if len(main) != 1 or len(backward) != 1:
            return
        names = pd.Series(self._names(main[0].df), index=main[0].df["index"].to_numpy()).astype(str)
        found = names[names.str.startswith("## backward ##")]
        if found.empty:
            found = names[names.str.startswith("ProfilerStep#")]
        for up in found.index.tolist():
            backward[0].update_parent_of_first_layer_nodes(up)

    def _frame(self, rank: Optional[int]) -> pd.DataFrame:
        return self.trace_data.get_trace(self._rank(rank))

    def _rank(self, rank: Optional[int]) -> int:
        if rank is not None and rank not in self.ranks:
            raise ValueError(f"the call graph has no rank {rank}; it has {self.ranks}")
        return self.ranks[0] if rank is None else rank

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
        df, host = self._frame(rank), index
        row = df[df["index"] == index]
        if len(row) and row["stream"].iloc[0] >= 0:
            host = int(row["index_correlation"].iloc[0])
        for stack in self.get_call_stacks(rank=rank):
            if host in stack.nodes and (stack.df["index"] == host).any():
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
