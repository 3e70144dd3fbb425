# SPDX-License-Identifier: Apache-2.0
"""Call stacks of threads: CallGraph(trace).get_stack_of_node(index, rank)."""

from enum import Enum
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import pandas as pd

from holotrace._hta.call_tree import NON_EXISTENT_NODE_INDEX, NULL_NODE_INDEX, Tree, clip_to_parents, nest
from holotrace.common.trace_filter import Filter
from holotrace.configs.env_options import disable_call_graph_depth

EVENT_START = 1
EVENT_END = -1

__all__ = ["CallGraph", "CallStackGraph", "CallStackIdentity", "CallStackNode", "DeviceType",
           "Event", "NON_EXISTENT_NODE_INDEX", "NULL_NODE_INDEX", "compare_events", "infer_device_type"]

DFSCallback = Callable[[int, "CallStackNode"], None]


class DeviceType(Enum):
    UNKNOWN = 0
    CPU = 1
    GPU = 2


class Event(NamedTuple):
    """One end of a row: type is EVENT_START or EVENT_END."""

    idx: int
    time: Any
    dur: Any
    type: int


def compare_events(x: Event, y: Event) -> int:
    """Below 0 when x comes first: so that a stack of started rows is the call stack."""
    if x.idx == y.idx:
        return y.type - x.type
    if x.time != y.time:
        return -1 if x.time < y.time else 1
    if x.type != y.type and (x.dur == 0 or y.dur == 0):
        return x.idx - y.idx if x.dur == y.dur else y.type - x.type
    if x.type != y.type:
        return x.type - y.type
    longer_first = (y.dur - x.dur) or (x.idx - y.idx)
    return longer_first * x.type


class CallStackIdentity(NamedTuple):
    """Where a call stack was recorded."""

    rank: int = -1
    pid: int = -1
    tid: int = -1


class CallStackNode(NamedTuple):
    """A row in a tree; depth is 0 at the top."""

    parent: int = -1
    depth: int = -1
    children: List[int] = []


def infer_device_type(df: pd.DataFrame) -> DeviceType:
    if len(df) and (df["stream"] >= 0).all():
        return DeviceType.GPU
    return DeviceType.CPU if len(df) and (df["stream"] < 0).all() else DeviceType.UNKNOWN


class CallStackGraph:
    """The call tree of one thread."""

    def __init__(self, df: pd.DataFrame, identity: CallStackIdentity,
                 filter_func: Optional[Filter] = None) -> None:
        if "index_correlation" not in df.columns:
            raise ValueError("the frame has no column index_correlation")
        self.identity = identity
        self.filter_func = filter_func
        self.df = filter_func(df) if filter_func else df
        self.correlations = self.df["index_correlation"]
        self.device_type = infer_device_type(self.df)
        parent: Dict[int, int] = {}
        if self.device_type is not DeviceType.GPU:
            parent = nest(self.df["index"].to_numpy(), self.df["ts"].to_numpy(),
                          self.df["dur"].to_numpy())
        self.tree = Tree(parent)
        self._depths = self.tree.depths()

    def __repr__(self) -> str:
        rows = "".join(f"    {index}: {node}\n" for index, node in self.nodes.items())
        return f"CallStackGraph\n{rows}"

    @property
    def nodes(self) -> Dict[int, CallStackNode]:
        return self.get_nodes()

    @property
    def depth(self) -> pd.Series:
        return self.get_depth()

    def get_nodes(self) -> Dict[int, CallStackNode]:
        """{index: node}, with the root -1; empty for a stream of the GPU."""
        if self.device_type is DeviceType.GPU:
            return {}
        return {node: CallStackNode(self.tree.get_parent(node) if node >= 0 else NULL_NODE_INDEX,
                                    depth, self.tree.get_children(node))
                for node, depth in self._depths.items()}

    def get_parent(self, idx: int) -> int:
        """Parent of a node; -1 at the top, -2 when it is not in this stack."""
        return self.tree.get_parent(idx)

    def get_children(self, idx: int) -> List[int]:
        return self.tree.get_children(idx)

    def get_path_to_root(self, idx: int) -> List[int]:
        return self.tree.get_path_to_root(idx)

    def get_paths_to_leaves(self, idx: int) -> List[List[int]]:
        return self.tree.paths_to_leaves(idx)

    def get_leaf_nodes(self, idx: int) -> List[int]:
        return self.tree.leaves(idx)

    def get_dataframe(self) -> pd.DataFrame:
        return self.df

    def get_depth(self) -> pd.Series:
        depths = {node: depth for node, depth in self._depths.items() if node >= 0}
        return pd.Series(depths, name="depth", dtype="int64")

    def dfs_traverse(self, enter_func: Callable[[int, CallStackNode], None],
                     exit_func: Callable[[int, CallStackNode], None]) -> None:
        nodes = self.get_nodes()
        self.tree.walk(lambda node: enter_func(node, nodes[node]),
                       lambda node: exit_func(node, nodes[node]))


class CallGraph:
    """The call trees of all threads. Writes depth and parent into the frames of the trace.

    remapped_tids            {rank: {thread: the thread whose calls they are}}
    pre_process_trace_data   first shorten what ends after the Python frame that called it, in the frames
    """

    def __init__(self, trace, ranks: Optional[List[int]] = None, filter_func: Optional[Filter] = None,
                 remapped_tids: Optional[Dict[int, Dict[int, int]]] = None,
                 pre_process_trace_data: bool = False) -> None:
        self.trace_data = trace
        self.ranks = list(ranks) if ranks else sorted(trace.get_all_traces())
        self.call_stacks: List[CallStackGraph] = []
        rows = []
        for rank in self.ranks:
            df = trace.get_trace(rank)
            if pre_process_trace_data:
                self.constrain_child_time_withinin_parent(df)
            tids = df["tid"].replace((remapped_tids or {}).get(rank, {}))
            for (pid, tid), part in df.groupby([df["pid"], tids], sort=True):
                if (part["stream"] > 0).any():
                    part = part[part["stream"] > 0]
                stack = CallStackGraph(part, CallStackIdentity(rank, pid, tid), filter_func)
                rows.append((rank, pid, tid, len(self.call_stacks)))
                self.call_stacks.append(stack)
            self._write(df, rank)
        self.mapping = pd.DataFrame(rows, columns=["rank", "pid", "tid", "csg_index"])

    @staticmethod
    def constrain_child_time_withinin_parent(df: pd.DataFrame) -> None:
        """Shorten rows, in place, that end after the Python frame that called them on the same thread."""
        clip_to_parents(df)

    def _write(self, df: pd.DataFrame, rank: int) -> None:
        parent = pd.Series(-1, index=df["index"].to_numpy())
        depth = parent.copy()
        for stack in self.call_stacks:
            if stack.identity.rank == rank and stack.tree.parent:
                parent.update(pd.Series(stack.tree.parent, dtype="int64"))
                depth.update(stack.get_depth())
        gpu = (df["stream"] >= 0).to_numpy()
        parent.iloc[gpu.nonzero()[0]] = df["index_correlation"].to_numpy()[gpu]
        df["parent"] = parent.to_numpy()
        if not disable_call_graph_depth():
            df["depth"] = depth.to_numpy()

    def _stack_of(self, node_id: int, rank: int) -> Optional[CallStackGraph]:
        return next((stack for stack in self.call_stacks
                     if stack.identity.rank == rank and node_id in stack.tree.parent), None)

    def get_stack_of_node(self, node_id: int, rank: int, skip_ancestors: bool = False) -> pd.DataFrame:
        """Rows around and under a node with the GPU work they launch; for GPU work those of its launch."""
        df = self.trace_data.get_trace(rank)
        row = df[df["index"] == node_id].iloc[0]
        host = int(row["index_correlation"]) if row["stream"] >= 0 else node_id
        stack = self._stack_of(host, rank)
        if stack is None:
            return df[df["index"] == node_id]
        nodes = {host, *stack.tree.descendants(host)}
        if not skip_ancestors:
            nodes.update(node for node in stack.get_path_to_root(host) if node >= 0)
        kernels = (df["stream"] >= 0) & df["index_correlation"].isin(nodes) & (df["index_correlation"] > 0)
        return df[df["index"].isin(nodes) | kernels].sort_values("ts", kind="stable")
