# SPDX-License-Identifier: Apache-2.0
"""Call trees of frames that did not come from the engine, and walks over trees."""

from typing import Callable, Dict, List, Optional

import numpy as np

NULL_NODE_INDEX = -1
NON_EXISTENT_NODE_INDEX = -2


def nest(index, start, length) -> Dict[int, int]:
    """{index: index of the innermost span that is open when it starts, -1 at the top} of one thread.

    Of spans that start together the longer is outside, then the lower index. One without length is
    inside what ends where it is.
    """
    length = np.maximum(length, 0)
    end = start + length
    order = np.lexsort((index, -length, start))
    parent: Dict[int, int] = {}
    open_rows: List[int] = []
    for row in order.tolist():
        while open_rows and (end[open_rows[-1]] < start[row] or (
                end[open_rows[-1]] == start[row] and length[open_rows[-1]] > 0 and length[row] > 0)):
            open_rows.pop()
        parent[int(index[row])] = int(index[open_rows[-1]]) if open_rows else NULL_NODE_INDEX
        open_rows.append(row)
    return parent


def clip_to_parents(df) -> None:
    """Shorten rows, in place, that end after the Python frame that called them on the same thread.

    python_id and python_parent_id say who called whom; a frame without them stays as it is.
    """
    if not {"python_id", "python_parent_id"} <= set(df.columns):
        return
    place = {number: row for row, number in enumerate(df["python_id"].tolist()) if number > -1}
    callers = [place.get(number, -1) for number in df["python_parent_id"].tolist()]
    caller, tid = np.array(callers, dtype=np.int64), df["tid"].to_numpy()
    rows = np.nonzero((caller >= 0) & (df["python_id"].to_numpy() > -1) & (tid[caller] == tid))[0]
    start, length = df["ts"].to_numpy(), df["dur"].to_numpy()
    end = start + length
    last = end.copy()
    while (late := rows[last[caller[rows]] < last[rows]]).size:  # until what callers lost has come down
        last[late] = last[caller[late]]
    df["dur"] = np.where(last < end, np.maximum(last - start, 0), length)


class Tree:
    """Parents, and what follows from them. Nodes are indexes of events; the root is not one."""

    def __init__(self, parent: Dict[int, int], root: int = NULL_NODE_INDEX):
        self.root = root
        self.parent = parent
        self.children: Dict[int, List[int]] = {root: []}
        for node in parent:
            self.children[node] = []
        for node, up in parent.items():
            self.children[up if up in parent else root].append(node)

    def get_parent(self, idx: int) -> int:
        return self.parent.get(idx, NON_EXISTENT_NODE_INDEX)

    def get_children(self, idx: int) -> List[int]:
        return list(self.children.get(idx, []))

    def get_path_to_root(self, idx: int) -> List[int]:
        """The node, its ancestors and the root; nothing for a node that is not here."""
        path = []
        while idx in self.parent:
            path.append(idx)
            idx = self.parent[idx]
        return path + [self.root] if path else []

    def descendants(self, idx: int) -> List[int]:
        """Everything below a node, parents first."""
        found = self.get_children(idx)
        for node in found:
            found.extend(self.children[node])
        return found

    def leaves(self, idx: int) -> List[int]:
        found: List[int] = []
        self.walk(lambda node: found.append(node) if not self.children.get(node) else None, start=idx)
        return [node for node in found if node in self.parent]

    def paths_to_leaves(self, idx: int) -> List[List[int]]:
        paths = []
        for leaf in self.leaves(idx):
            path = [leaf]
            while path[-1] != idx and path[-1] in self.parent:
                path.append(self.parent[path[-1]])
            paths.append(path[::-1])
        return paths

    def depths(self) -> Dict[int, int]:
        """0 at the top; -1 for the root."""
        depth = {self.root: -1}
        for node in self.descendants(self.root):
            up = self.parent[node]
            depth[node] = depth[up if up in self.parent else self.root] + 1
        return depth

    def walk(self, enter: Callable[[int], None], leave: Optional[Callable[[int], None]] = None,
             start: Optional[int] = None) -> None:
        """Depth first from a node, the root by default."""
        stack = [(self.root if start is None else start, False)]
        while stack:
            node, done = stack.pop()
            if done:
                if leave:
                    leave(node)
                continue
            enter(node)
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(self.children.get(node, [])))
