"""Call stacks of threads with GPU work as leaves."""

from dataclasses import dataclass, field
from typing import Callable, Dict, List, NamedTuple, Optional

import pandas as pd

from holotrace._hta.call_tree import NON_EXISTENT_NODE_INDEX, NULL_NODE_INDEX, Tree
from holotrace.common.types import DeviceType

EVENT_START = 1
EVENT_END = -1
OPEN_END = -1
CLOSE_END = 1

__all__ = ["CallStackGraph", "CallStackIdentity", "CallStackNode", "NON_EXISTENT_NODE_INDEX",
           "NULL_NODE_INDEX"]


class CallStackIdentity(NamedTuple):
    rank: int = -1
    pid: int = -1
    tid: int = -1


@dataclass
class CallStackNode:
    parent: int = -1
    depth: int = -1
    height: int = -1
    device: DeviceType = DeviceType.CPU
    children: List[int] = field(default_factory=list)


class CallStackGraph:
    """The call tree of one thread: host rows, and the GPU work that they launch.

    full_df has the columns of a call graph (parent, depth, height); df is the thread's part of it.
    """

    def __init__(self, df: pd.DataFrame, identity: CallStackIdentity, full_df: pd.DataFrame,
                 label: str = "", root_index: int = NULL_NODE_INDEX) -> None:
        self.identity = identity
        self.label = label
        self.root_index = root_index
        self.df, self.full_df = df, full_df
        host = dict(zip(df["index"].tolist(), df["parent"].tolist()))
        launched = full_df[(full_df["stream"] >= 0) & full_df["parent"].isin(host)]
        self.kernels = dict(zip(launched["index"].tolist(), launched["parent"].tolist()))
        self.tree = Tree({**host, **self.kernels}, root_index)
        self._host = Tree(host, root_index)

    def _tree(self, with_gpu: bool) -> Tree:
        return self.tree if with_gpu else self._host

    def get_nodes(self) -> Dict[int, CallStackNode]:
        columns = self.full_df.set_index("index")[["depth", "height"]]
        nodes = {self.root_index: CallStackNode(children=self.tree.get_children(self.root_index))}
        for node, up in self.tree.parent.items():
            depth, height = columns.loc[node]
            device = DeviceType.GPU if node in self.kernels else DeviceType.CPU
            nodes[node] = CallStackNode(up if up in self.tree.parent else self.root_index, int(depth),
                                        int(height), device, self.tree.get_children(node))
        return nodes

    def get_parent(self, idx: int) -> int:
        return self.tree.get_parent(idx)

    def get_children(self, idx: int) -> List[int]:
        return self.tree.get_children(idx)

    def get_root(self, idx: int) -> int:
        """The outermost row around a node."""
        path = self.tree.get_path_to_root(idx)
        return path[-2] if len(path) > 1 else NON_EXISTENT_NODE_INDEX

    def get_path_to_root(self, idx: int) -> List[int]:
        return self.tree.get_path_to_root(idx)

    def get_paths_to_leaves(self, idx: int, include_cuda_kernel: bool = False) -> List[List[int]]:
        return self._tree(include_cuda_kernel).paths_to_leaves(idx)

    def get_leaf_nodes(self, idx: int, include_gpu_kernel: bool = False) -> List[int]:
        return self._tree(include_gpu_kernel).leaves(idx)

    def get_descendants(self, idx: int, include_gpu_kernel: bool = False) -> List[int]:
        return self._tree(include_gpu_kernel).descendants(idx)

    def get_dataframe(self) -> pd.DataFrame:
        return self.df

    def get_depth(self) -> pd.Series:
        return self.df.set_index("index")["depth"]

    def dfs_traverse(self, enter_func: Callable[[int, CallStackNode], None],
                     exit_func: Optional[Callable[[int, CallStackNode], None]] = None) -> None:
        nodes = self.get_nodes()
        self.tree.walk(lambda node: enter_func(node, nodes[node]),
                       (lambda node: exit_func(node, nodes[node])) if exit_func else None)
