# SPDX-License-Identifier: Apache-2.0
"""Critical path analysis: which events the time of an annotation hangs on.

The graph, its longest way and the breakdown come from the engine. CPGraph shows them with HTA's
names; nodes and edges become Python objects when they are first looked at.
"""

import io
import json
import logging
import os
import zipfile
from typing import Any, Dict, List, Optional, Set, Tuple, Union

import numpy as np
import pandas as pd

from holotrace._errors import Error
from holotrace._hta import overlay, plots
from holotrace._hta.critical_path import (CPEdge, CPEdgeType, CPNode, EdgeData, Graph, chain,
                                          number_nodes)
from holotrace.common.trace_file import read_trace, write_trace
from holotrace.configs import env_options
from holotrace.utils.utils import is_comm_kernel

__all__ = ["CPEdge", "CPEdgeType", "CPGraph", "CPNode", "CriticalPathAnalysis",
           "DEFAULT_EDGE_TYPES_IN_VIZ", "bound_by", "restore_cpgraph"]

logger = logging.getLogger("hta")

DEFAULT_EDGE_TYPES_IN_VIZ = {CPEdgeType.DEPENDENCY, CPEdgeType.KERNEL_LAUNCH_DELAY,
                             CPEdgeType.SYNC_DEPENDENCY}
_BLOCKING = {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery",
             "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpyAsync"}
_BOUND_OF_TYPE = {
    CPEdgeType.KERNEL_KERNEL_DELAY.value: "gpu_kernel_kernel_overhead",
    CPEdgeType.KERNEL_LAUNCH_DELAY.value: "gpu_kernel_launch_overhead",
    CPEdgeType.DEPENDENCY.value: "",
    CPEdgeType.SYNC_DEPENDENCY.value: "",
}


def bound_by(row: Dict[str, Any]) -> str:
    """What bounds an edge: a row of get_critical_path_breakdown(), or a dict with type, stream, s_name."""
    if row["type"] in _BOUND_OF_TYPE:
        return _BOUND_OF_TYPE[row["type"]]
    if row["stream"] < 0:
        return "cpu_bound"
    return "gpu_communication_bound" if is_comm_kernel(row["s_name"]) else "gpu_compute_bound"


def _times(ns: np.ndarray) -> np.ndarray:
    return ns // 1000 if not (ns % 1000).any() else ns / 1000


class CPGraph(Graph):
    """Nodes are starts and ends of events, edges say "not before" and weigh the time between.

    Change graph.edges[u, v]["weight"] and call critical_path() to ask "what if".
    """

    BLOCKING_SYNC_CALLS = sorted(_BLOCKING)
    bound_by = staticmethod(bound_by)

    def __init__(self, t, t_full, rank: int, arguments: Optional[Dict[str, Any]] = None,
                 exact: bool = False) -> None:
        super().__init__()
        self.t = t
        self.t_full = self.full_trace = t_full or t
        self.rank = rank
        self.arguments = dict(arguments or {})
        self.exact = exact
        self.modified = False
        self._tables: Dict[str, Any] = {}
        self._nodes: Optional[List[CPNode]] = None
        self._event_rows: Dict[int, int] = {}
        self._path: Optional[List[int]] = None
        self._sizes = self._table("graph") if arguments is not None else None
        self.edge_to_event_map: Dict[Tuple[int, int], int] = {}

    # ---- the engine's tables ----

    def _table(self, view):
        if view not in self._tables:
            self._tables[view] = self.full_trace.run(
                "critical-path", ranks=[self.rank], hta=not self.exact, view=view, **self.arguments)
        return self._tables[view]

    def _build(self):
        """Nodes and edges as objects."""
        if self._nodes is not None:
            return
        events, edges = self._table("events"), self._table("edges")
        index = events.ints("index")
        start = events.ints("ts_ns")
        end = start + events.ints("dur_ns")
        first, last, order = number_nodes(index, start, end)
        names = events.texts("name")
        time = _times(np.concatenate([start, end]) - self.full_trace.zero_ns)  # the clock of trace_df
        n = len(index)
        self._nodes = [
            CPNode(i, int(index[p % n]), time[p].item(), bool(p < n), names[p % n] in _BLOCKING)
            for i, p in enumerate(order.tolist())]
        self._event_rows = {int(one): row for row, one in enumerate(index.tolist())}
        self._starts, self._ends = first, last
        self._build_edges(edges)

    def _node_ids(self, edges, side):
        points = np.where(edges.texts(f"{side}_point") == "start", 0, 1)
        rows = np.array([self._event_rows[i] for i in edges.ints(f"{side}_index").tolist()],
                        dtype=np.int64)
        return np.where(points == 0, self._starts[rows], self._ends[rows]).tolist()

    def _build_edges(self, edges):
        begin, end = self._node_ids(edges, "from"), self._node_ids(edges, "to")
        kinds = {kind.value: kind for kind in CPEdgeType}
        weights = _times(edges.ints("duration_ns")).tolist()
        owners = edges.ints("index").tolist()
        owned = edges.valid("index").tolist()
        for u, v, weight, kind, owner, has in zip(begin, end, weights, edges.texts("type").tolist(),
                                                  owners, owned):
            edge = CPEdge(u, v, weight, kinds[kind])
            self._data[u, v] = EdgeData(weight=max(weight, 0), object=edge, type=edge.type)
            if has:
                self.edge_to_event_map[u, v] = owner
        if self.exact:  # critical edges are all without slack there, not one way
            self._path = self.longest_path() or []
            return
        critical = edges.ints("critical").astype(bool)
        self._path = chain(np.array(begin)[critical].tolist(), np.array(end)[critical].tolist())

    # ---- networkx's side: the graph is built when it is needed ----

    def __getattribute__(self, name):
        if name in ("edges", "nodes", "adj", "add_edge", "remove_edge", "has_edge", "get_edge_data",
                    "successors", "predecessors", "out_edges", "in_edges", "out_degree", "in_degree",
                    "to_networkx", "longest_path"):
            object.__getattribute__(self, "_build")()
        return object.__getattribute__(self, name)

    def __getitem__(self, node):
        self._build()
        return super().__getitem__(node)

    def __iter__(self):
        self._build()
        return super().__iter__()

    def __contains__(self, node):
        self._build()
        return super().__contains__(node)

    def number_of_nodes(self) -> int:
        if self._nodes is None:
            return int(self._sizes.ints("graph_nodes")[0])
        return super().number_of_nodes()

    def number_of_edges(self) -> int:
        if self._nodes is None:
            return int(self._sizes.ints("graph_edges")[0])
        return super().number_of_edges()

    # ---- nodes, edges and events ----

    @property
    def node_list(self) -> List[CPNode]:
        self._build()
        return self._nodes

    @property
    def event_to_start_node_map(self) -> Dict[int, int]:
        self._build()
        return {event: int(self._starts[row]) for event, row in self._event_rows.items()}

    @property
    def event_to_end_node_map(self) -> Dict[int, int]:
        self._build()
        return {event: int(self._ends[row]) for event, row in self._event_rows.items()}

    @property
    def symbol_table(self):
        return self.full_trace.symbol_table

    @property
    def sym_table(self) -> List[str]:
        return self.symbol_table.get_sym_table()

    @property
    def data_load_events(self) -> Optional[List[str]]:
        """The texts that were given for events that load data."""
        given = self.arguments.get("data-load-events")
        return given[1:-1].split(")|(") if given else None

    @property
    def trace_df(self) -> pd.DataFrame:
        return self.full_trace.get_trace(self.rank)

    @property
    def full_trace_df(self) -> pd.DataFrame:
        return self.full_trace.get_trace(self.rank)

    def _get_node_name(self, ev_id: int) -> str:
        """Name of an event."""
        return self.sym_table[self.trace_df["name"].loc[ev_id]] if ev_id >= 0 else "ROOT"

    def get_nodes_for_event(self, ev_id: int) -> Tuple[Optional[CPNode], Optional[CPNode]]:
        """(start, end) of an event; (None, None) when it has no nodes."""
        self._build()
        row = self._event_rows.get(ev_id)
        if row is None:
            return None, None
        return self._nodes[self._starts[row]], self._nodes[self._ends[row]]

    def get_events_for_edge(self, edge: CPEdge) -> Tuple[int, int]:
        self._build()
        return self._nodes[edge.begin].ev_idx, self._nodes[edge.end].ev_idx

    def get_event_attribution_for_edge(self, edge: CPEdge) -> Optional[int]:
        """The event that the time on an edge belongs to."""
        self._build()
        return self.edge_to_event_map.get((edge.begin, edge.end))

    def get_edges_attributed_to_event(self, ev_idx: int) -> List[CPEdge]:
        self._build()
        return [self._data[pair]["object"] for pair, event in self.edge_to_event_map.items()
                if event == ev_idx and pair in self._data]

    # ---- the path ----

    @property
    def critical_path_nodes(self) -> List[int]:
        self._build()
        return self._path

    @property
    def critical_path_edges_set(self) -> Set[CPEdge]:
        self._build()
        return {self._data[pair]["object"] for pair in zip(self._path, self._path[1:])}

    @property
    def critical_path_events_set(self) -> Set[int]:
        self._build()
        return {self._nodes[node].ev_idx for node in self._path}

    def critical_path(self) -> bool:
        """Find the longest way again, with the weights as they are now."""
        path = self.longest_path()
        if path is None or len(path) < 2:
            logger.error("the graph has no critical path")
            return False
        self._path = path
        self.modified = True
        return True

    def _path_frame(self) -> pd.DataFrame:
        if self.modified:
            return self._changed_path_frame()
        path = self._table("path")
        owned = path.valid("index")
        event = np.where(owned, path.ints("index"), np.nan)
        cats, cat_texts = path.codes("cat")
        cat_ids = self.full_trace.intern(cat_texts)

        def number(column, missing=np.nan):
            values = np.where(path.valid(column), path.ints(column).astype(np.float64), missing)
            return np.where(owned, values, np.nan)

        return pd.DataFrame({
            "event_idx": event,
            "duration": _times(path.ints("duration_ns")),
            "type": path.texts("type"),
            "s_name": np.where(owned, path.texts("short_name"), np.nan),
            "cat": np.where(owned, cat_ids[cats], np.nan),
            "pid": number("pid"),
            "tid": number("tid"),
            "stream": number("stream", -1),
            "index": event,
            "bound_by": path.texts("bound_by"),
        })

    def _changed_path_frame(self) -> pd.DataFrame:
        """The breakdown of a path that was found again after weights had changed."""
        pairs = list(zip(self._path, self._path[1:]))
        events = self._table("events")
        rows = np.array([self._event_rows.get(self.edge_to_event_map.get(pair), -1) for pair in pairs])
        owned = rows >= 0
        kinds = [self._data[pair]["type"].value for pair in pairs]
        bounds = self._bounds_of_edges()
        index = np.where(owned, events.ints("index")[rows], np.nan)
        cats, cat_texts = events.codes("cat")
        cat_ids = self.full_trace.intern(cat_texts)

        def taken(values):
            return np.where(owned, values[rows], np.nan)

        return pd.DataFrame({
            "event_idx": index,
            "duration": [self._data[pair]["weight"] for pair in pairs],
            "type": kinds,
            "s_name": np.where(owned, events.texts("short_name")[rows], np.nan),
            "cat": taken(cat_ids[cats]),
            "pid": taken(events.ints("pid")),
            "tid": taken(events.ints("tid")),
            "stream": taken(events.ints("stream")),
            "index": index,
            "bound_by": [bounds.get(pair) or _BOUND_OF_TYPE.get(kind, "cpu_bound")
                         for pair, kind in zip(pairs, kinds)],
        })

    def _bounds_of_edges(self) -> Dict[Tuple[int, int], str]:
        edges = self._table("edges")
        return dict(zip(zip(self._node_ids(edges, "from"), self._node_ids(edges, "to")),
                        edges.texts("bound_by").tolist()))

    def get_critical_path_breakdown(self) -> Optional[pd.DataFrame]:
        """One row per edge of the path, in its order."""
        df = self._path_frame()
        df.index = pd.Index(np.arange(len(df), dtype=np.int64))
        return df

    def summary(self) -> pd.Series:
        """Share of the path in percent by what bounds it."""
        df = self._path_frame()
        total = df["duration"].sum()
        shares = 100 * df.groupby("bound_by")["duration"].sum() / total
        for name, share in shares.items():
            logger.info("%s %.2f %%", name or "no time", share)
        return shares

    def plot(self):
        """A plotly figure of what bounds the path; None without plotly."""
        return plots.critical_path(self.summary())

    def show_critical_path(self) -> None:
        for node in self.critical_path_nodes:
            logger.info("%s", self._nodes[node])

    def save(self, out_dir: str) -> str:
        """Write graph and rows to <out_dir>.zip and return its name."""
        self._build()
        document = {
            "rank": self.rank, "arguments": self.arguments, "exact": self.exact,
            "path": [int(node) for node in self._path], "modified": self.modified,
            "edges": [[u, v, data["weight"], data["object"].weight, data["type"].value]
                      for (u, v), data in self._data.items()],
        }
        target = out_dir.rstrip(os.sep) + ".zip"
        os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("cp_graph.json", json.dumps(document))
            text = io.StringIO()
            self.trace_df.to_csv(text, index=False)
            archive.writestr("trace_data.csv", text.getvalue())
        return target


def restore_cpgraph(zip_filename: str, t_full, rank: int) -> CPGraph:
    """A graph that save() wrote, over the same traces."""
    with zipfile.ZipFile(zip_filename) as archive:
        document = json.loads(archive.read("cp_graph.json"))
    graph = CPGraph(t_full, t_full, rank, document["arguments"], document["exact"])
    graph._build()
    kinds = {kind.value: kind for kind in CPEdgeType}
    graph._data = {
        (u, v): EdgeData(weight=weight, object=CPEdge(u, v, original, kinds[kind]), type=kinds[kind])
        for u, v, weight, original, kind in document["edges"]}
    graph._out = graph._in = None
    graph._path = document["path"]
    graph.modified = document["modified"]
    return graph


class CriticalPathAnalysis:
    """The critical path as class methods over a Trace."""

    @staticmethod
    def _is_zero_weight_launch_edge(e: CPEdge) -> bool:
        return e.type is CPEdgeType.KERNEL_LAUNCH_DELAY and e.weight == 0

    @classmethod
    def critical_path_analysis(cls, t, rank: int, annotation: str,
                               instance_id: Union[Optional[int], Tuple[int, int]] = None,
                               data_load_events: Optional[List[str]] = None,
                               exact: bool = False) -> Optional[Tuple[CPGraph, bool]]:
        """(graph, whether it is sound) of the instance_id-th annotation whose name contains a text.

        By default the graph has HTA's edges; exact follows every kernel of a graph launch and
        corrects what HTA's rules get wrong (docs/analyses/critical-path.md).
        """
        if rank not in t.traces:
            raise ValueError(f"there is no rank {rank}; the traces have {t.get_ranks()}")
        if instance_id is None:
            instance = "0"
        elif isinstance(instance_id, (int, np.integer)):
            instance = str(int(instance_id))
        elif isinstance(instance_id, tuple) and len(instance_id) == 2:
            instance = f"{int(instance_id[0])}-{int(instance_id[1])}"
        else:
            logger.error("instance_id is a number or a pair of numbers, not %r", instance_id)
            return None
        arguments: Dict[str, Any] = {"annotation": annotation, "instance": instance}
        if data_load_events:
            arguments["data-load-events"] = "|".join(f"({one})" for one in data_load_events)
        if not exact or env_options.critical_path_add_zero_weight_launch_edges():
            arguments["zero-weight-launch-edges"] = (
                env_options.critical_path_add_zero_weight_launch_edges())
        try:
            graph = CPGraph(t, t, rank, arguments, exact)
        except Error:
            if any(annotation in name for name in t.symbol_table.sym_table):
                raise
            graph = None
        if graph is None or not graph._sizes.n:
            logger.error("there is no instance %s of %r in rank %d", instance, annotation, rank)
            return None
        ok = True
        if env_options.critical_path_strict_negative_weight_check():
            ok = all(data["object"].weight >= -1 for _, _, data in graph.edges(data=True))
        return graph, ok

    @classmethod
    def overlay_critical_path_analysis(cls, t, rank: int, critical_path_graph: CPGraph,
                                       output_dir: str, only_show_critical_events: bool,
                                       show_all_edges: bool,
                                       edge_types_to_viz: Optional[Set[CPEdgeType]] = None) -> str:
        """Write the trace with the path drawn as arrows, and return the file's name."""
        os.makedirs(output_dir, exist_ok=True)
        if not os.path.isdir(output_dir):
            logger.error("%s is not a directory", output_dir)
            return ""
        target = os.path.join(
            output_dir, overlay.CRITICAL_PATH_PREFIX + os.path.basename(t.trace_files[rank]))
        show_all_edges = show_all_edges and not only_show_critical_events
        graph = critical_path_graph
        types = DEFAULT_EDGE_TYPES_IN_VIZ if edge_types_to_viz is None else edge_types_to_viz
        if graph.modified or set(types) != DEFAULT_EDGE_TYPES_IN_VIZ:
            cls._write_overlay(t, rank, graph, target, only_show_critical_events, show_all_edges, types)
        else:
            overlay.write_critical_path(t, rank, target, {
                **graph.arguments, "only-critical": only_show_critical_events,
                "all-edges": show_all_edges, "hta-compat": not graph.exact})
        return target

    @classmethod
    def _write_overlay(cls, t, rank, graph, target, only_critical, all_edges, types):
        """The overlay of a graph that the user changed, by way of Python objects."""
        document = read_trace(t.trace_files[rank])
        events = document["traceEvents"]
        path = graph.critical_path_edges_set
        for event in graph.critical_path_events_set:
            events[event].setdefault("args", {})["critical"] = 1
        shown = [data["object"] for _, _, data in graph.edges(data=True)] if all_edges else [
            edge for edge in path if edge.type in types]
        arrows = []
        for number, edge in enumerate(sorted(shown, key=lambda edge: (edge.begin, edge.end))):
            args = {"weight": edge.weight, "critical": edge in path, "type": edge.type.value}
            for node_id, is_start in ((edge.begin, True), (edge.end, False)):
                node = graph.node_list[node_id]
                event = events[node.ev_idx]
                ts = event["ts"]
                if not node.is_start:
                    ts += event["dur"]
                    if event.get("args", {}).get("device", -1) >= 0:
                        ts -= min(1, event["dur"])
                arrows.append(t.flow_event(number, event["pid"], event["tid"], ts, is_start,
                                           "critical_path", "critical_path", args))
        if only_critical:
            events = [event for event in events
                      if event.get("ph") != "X" or event.get("args", {}).get("critical")
                      or event.get("cat") in ("user_annotation", "python_function")]
        document["traceEvents"] = events + arrows
        write_trace(document, target)
