# SPDX-License-Identifier: Apache-2.0
"""Execution traces under HTA's names: load one, correlate a rank's frame with it, add its columns.

Nodes and events are joined by the engine on record function ids; HTA joins on External ids, which are another
counter in traces of PyTorch since 2024. For old traces the result is the same.
"""
import json
import logging
import os
from collections.abc import Mapping
from typing import Any, Dict, Iterator, List, Optional

import numpy as np
import pandas as pd

from holotrace import _core
from holotrace._errors import Error
from holotrace._hta.engine import Result
from holotrace.common.trace import Trace
from holotrace.utils.utils import normalize_path

logger = logging.getLogger("hta")

#: Categories of events that have a node.
EXECUTION_TRACE_SUPPORTED_EVENTS: List[str] = ["cpu_op", "user_annotation"]

_NUMBERS = ("rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid")
_TEXTS = ("name", "op_schema", "kernel_backend", "kernel_file", "tensor_range", "collective", "pg_name", "pg_desc")
_LISTS = ("inputs", "input_shapes", "input_types", "input_strides", "outputs", "output_shapes", "output_types",
          "output_strides")


class Node:
    """One recorded function: numbers and texts as attributes, lists parsed when looked at."""

    __slots__ = ("_et", "_row")

    def __init__(self, et: "ExecutionTrace", row: int):
        self._et, self._row = et, row

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._et._value(self._row, name)

    def __dir__(self):
        return ["id", "parent_id", "parent", "children", *_NUMBERS, *_TEXTS, *_LISTS]

    def __repr__(self):
        return f"<Node {self.id}: {self.name}>"


class _Nodes(Mapping):
    """{node id: Node}; of ids that repeat, the first."""

    def __init__(self, et: "ExecutionTrace", ids: np.ndarray):
        self._et = et
        self._rows: Dict[int, int] = {}
        for row, node_id in enumerate(ids.tolist()):
            self._rows.setdefault(node_id, row)

    def __getitem__(self, node_id) -> Node:
        return Node(self._et, self._rows[int(node_id)])

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class ExecutionTrace:
    """The nodes of one execution trace, by id."""

    def __init__(self, path: str):
        self.path = os.fspath(path)
        table = _core.run("et-nodes", {"et": self.path})
        self._result = Result(table)
        for note in table.findings:
            if note["severity"] == "warning":
                logger.warning(note["sentence"])
        self._columns: Dict[str, Any] = {}
        self.nodes = _Nodes(self, self._column("id"))
        self._children: Optional[Dict[int, List[int]]] = None

    def _column(self, name: str):
        if name not in self._columns:
            result = self._result
            if result.is_text(name):
                self._columns[name] = result.codes(name)
            else:
                self._columns[name] = result.ints(name, missing=-1 if name == "seq_id" else 0)
        return self._columns[name]

    def _value(self, row: int, name: str) -> Any:
        if name in ("id", *_NUMBERS):
            return int(self._column(name)[row])
        if name == "parent_id":
            return int(self._column("parent")[row])
        if name == "parent":
            return self.nodes.get(self._value(row, "parent_id"))
        if name == "children":
            return [self.nodes[node_id] for node_id in self._ids_of_children().get(self._value(row, "id"), [])]
        if name in _TEXTS or name in _LISTS:
            codes, texts = self._column(name)
            text = texts[codes[row]] if codes[row] >= 0 else None
            if name in _TEXTS:
                return text or ""
            return json.loads(text) if text is not None else []
        raise AttributeError(f"a node has no {name!r}")

    def _ids_of_children(self) -> Dict[int, List[int]]:
        if self._children is None:
            self._children = {}
            for node_id, parent in sorted(zip(self._column("id").tolist(), self._column("parent").tolist())):
                if node_id != parent:
                    self._children.setdefault(parent, []).append(node_id)
        return self._children

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self):
        return f"<ExecutionTrace {self.path}: {len(self.nodes)} nodes>"


def load_execution_trace(et_file: str) -> ExecutionTrace:
    """Read an execution trace: JSON of any schema version or Chakra's protobuf, compressed or not."""
    return ExecutionTrace(normalize_path(os.fspath(et_file)))


def correlate_execution_trace(trace: Trace, rank: int, et: ExecutionTrace) -> None:
    """Add the column et_node to the frame of a rank: the id of the node that an operator or annotation is.

    How many were joined is logged. When the two are not of the same run, that is logged as an error and the frame
    stays as it is.
    """
    frame = trace.get_trace(rank)
    arguments = {"et": f"{rank}={et.path}", "rank": str(rank)}
    try:
        summary = Result(trace.core.run("et-link", arguments))
        linked = Result(trace.core.run("et-link", {**arguments, "view": "nodes"}, columns="id,event"))
    except Error as error:
        logger.error("the traces cannot be correlated: %s", error)
        return
    if summary.n:
        logger.info("%s: %d nodes and events joined, %d of them with other names, %d nodes and %d events alone",
                    summary.texts("joined_by")[0], *(summary.ints(name)[0] for name in
                                                     ("linked", "other_names", "only_in_et", "only_in_kineto")))
    has_event = linked.valid("event")
    # an event is rank and row; the row is the frame's index
    rows = (linked.ints("event")[has_event] & 0xffffffff).astype(np.int64)
    nodes = pd.Series(linked.ints("id")[has_event], index=rows, dtype=np.float64)
    frame["et_node"] = nodes.reindex(frame["index"].to_numpy()).to_numpy()


def add_et_column(trace_df: pd.DataFrame, et: ExecutionTrace, column: str) -> None:
    """Add what the nodes say: op_schema, input_shapes, input_types, output_shapes, output_types or et_node_name.

    The frame needs the column et_node of correlate_execution_trace.
    """
    if "et_node" not in trace_df:
        logger.error("Please run correlate_execution_trace() first")
        return
    if column not in ("op_schema", "input_shapes", "input_types", "output_shapes", "output_types", "et_node_name"):
        logger.error("Unknown column %s", column)
        return
    name = "name" if column == "et_node_name" else column
    values = np.empty(len(trace_df), dtype=object)
    for i, node_id in enumerate(trace_df["et_node"].to_numpy()):
        values[i] = getattr(et.nodes[int(node_id)], name) if node_id == node_id else np.nan
    trace_df[column] = values
