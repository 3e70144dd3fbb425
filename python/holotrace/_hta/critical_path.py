# SPDX-License-Identifier: Apache-2.0
"""The graph of a critical path: made by the engine, held as columns, looked at like networkx's."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Dict, Iterator, List, Optional, Tuple

import numpy as np


class CPEdgeType(Enum):
    """What the time on an edge is."""

    OPERATOR_KERNEL = "critical_path_operator"
    DEPENDENCY = "critical_path_dependency"
    KERNEL_LAUNCH_DELAY = "critical_path_kernel_launch_delay"
    KERNEL_KERNEL_DELAY = "critical_path_kernel_kernel_delay"
    SYNC_DEPENDENCY = "critical_path_sync_dependency"


@dataclass
class CPNode:
    """Start or end of an event."""

    idx: int = -1
    ev_idx: int = -1
    ts: float = 0
    is_start: bool = False
    is_blocking: bool = False


@dataclass(frozen=True)
class CPEdge:
    """begin does not end before end starts: weight is the time that passes between, in us."""

    begin: int
    end: int
    weight: float = 0
    type: CPEdgeType = CPEdgeType.OPERATOR_KERNEL


class EdgeData(dict):
    """Attributes of an edge: weight (which may be changed), type, object."""


class EdgeView(Mapping):
    """graph.edges: iterate over (begin, end), index by them, call with data=True for attributes."""

    def __init__(self, graph):
        self._graph = graph

    def __getitem__(self, pair) -> EdgeData:
        return self._graph._data[pair]

    def __iter__(self) -> Iterator[Tuple[int, int]]:
        return iter(self._graph._data)

    def __len__(self) -> int:
        return len(self._graph._data)

    def __call__(self, data=False):
        if data is False:
            return list(self._graph._data)
        if data is True:
            return [(u, v, attributes) for (u, v), attributes in self._graph._data.items()]
        return [(u, v, attributes.get(data)) for (u, v), attributes in self._graph._data.items()]

    def data(self, name=True):
        return self(data=name)


class Graph:
    """A directed graph with the part of networkx's interface that HTA's users need."""

    def __init__(self):
        self._data: Dict[Tuple[int, int], EdgeData] = {}
        self._out: Optional[Dict[int, List[int]]] = None
        self._in: Optional[Dict[int, List[int]]] = None

    def _neighbours(self):
        if self._out is None:
            self._out, self._in = {}, {}
            for u, v in self._data:
                for node in (u, v):
                    self._out.setdefault(node, [])
                    self._in.setdefault(node, [])
                self._out[u].append(v)
                self._in[v].append(u)
        return self._out, self._in

    @property
    def edges(self) -> EdgeView:
        return EdgeView(self)

    @property
    def nodes(self) -> List[int]:
        return list(self._neighbours()[0])

    def __iter__(self):
        return iter(self.nodes)

    def __contains__(self, node) -> bool:
        return node in self._neighbours()[0]

    def __getitem__(self, node) -> Dict[int, EdgeData]:
        return {v: self._data[node, v] for v in self._neighbours()[0][node]}

    adj = property(lambda self: {node: self[node] for node in self.nodes})

    def add_edge(self, u, v, **attributes):
        self._data.setdefault((u, v), EdgeData()).update(attributes)
        self._out = self._in = None

    def remove_edge(self, u, v):
        del self._data[u, v]
        self._out = self._in = None

    def has_edge(self, u, v) -> bool:
        return (u, v) in self._data

    def get_edge_data(self, u, v, default=None):
        return self._data.get((u, v), default)

    def successors(self, node):
        return iter(self._neighbours()[0][node])

    def predecessors(self, node):
        return iter(self._neighbours()[1][node])

    def out_edges(self, node):
        return [(node, v) for v in self._neighbours()[0][node]]

    def in_edges(self, node):
        return [(u, node) for u in self._neighbours()[1][node]]

    def out_degree(self, node) -> int:
        return len(self._neighbours()[0][node])

    def in_degree(self, node) -> int:
        return len(self._neighbours()[1][node])

    def number_of_edges(self) -> int:
        return len(self._data)

    def number_of_nodes(self) -> int:
        return len(self._neighbours()[0])

    def to_networkx(self):
        """The same graph as networkx.DiGraph; networkx must be installed."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_edges_from(self.edges(data=True))
        return graph

    def longest_path(self) -> Optional[List[int]]:
        """Nodes of the way with the largest sum of weights; None when there is a cycle."""
        out, into = self._neighbours()
        left = {node: len(before) for node, before in into.items()}
        order = [node for node, n in left.items() if n == 0]
        best: Dict[int, Tuple[float, Optional[int]]] = {}
        for node in order:
            length, source = 0.0, None
            for before in into[node]:
                candidate = best[before][0] + self._data[before, node]["weight"]
                if source is None or candidate > length:
                    length, source = candidate, before
            if length < 0:
                length, source = 0.0, None
            best[node] = (length, source)
            for after in out[node]:
                left[after] -= 1
                if left[after] == 0:
                    order.append(after)
        if len(order) != len(left):
            return None
        end = max(order, key=lambda node: best[node][0], default=None)
        path: List[int] = []
        while end is not None:
            path.append(end)
            end = best[end][1]
        return path[::-1]


def chain(begin, end) -> List[int]:
    """Nodes of a path from its edges in any order."""
    after = dict(zip(begin, end))
    node = next(iter(set(begin) - set(end)), None)
    nodes = []
    while node is not None:
        nodes.append(node)
        node = after.get(node)
    return nodes


def number_nodes(index, start, end) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(start node, end node) of every event and the order of the points: by time, then event."""
    n = len(index)
    time = np.concatenate([start, end])
    event = np.concatenate([index, index])
    is_end = np.repeat([0, 1], n)
    order = np.lexsort((is_end, event, time))
    node = np.empty(2 * n, dtype=np.int64)
    node[order] = np.arange(2 * n)
    return node[:n], node[n:], order
