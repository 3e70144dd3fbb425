# SPDX-License-Identifier: Apache-2.0
"""The events of a rank as the DataFrame that HTA's users know: t.traces[rank].

Columns: index, the keys of the events in file order, one column per argument of the parser's
configuration, index_correlation, iteration, end; then what call graphs and annotations add. Rows and
derived columns come from the engine; here they only get HTA's names, units and defaults.
"""

import numpy as np
import pandas as pd

from holotrace._hta.engine import Result, compat, doubles, microseconds, objects, parse_json
from holotrace.configs.default_values import ValueType

_FIELDS = ["index", "cat", "name", "pid", "tid", "ts_ns", "dur_ns", "hta.ts_ns", "hta.stream",
           "hta.correlation", "hta.index_correlation", "hta.iteration", "hta.keys"]
_GRAPH = ["depth", "height", "parent", "num_kernels", "kernel_dur_sum", "kernel_span",
          "first_kernel_start", "last_kernel_end"]
_GRAPH_TIMES = ("kernel_dur_sum", "kernel_span", "first_kernel_start", "last_kernel_end")
_OWN_KEYS = ("cat", "name", "pid", "tid", "ts", "dur")
_DROPPED_KEYS = ("ph", "id", "bp", "s", "args")


def _numbers(codes, texts):
    """Ids of threads or processes: int64 when all are whole numbers, else as the file has them."""
    values = [int(text) if text.lstrip("-").isdigit() else text for text in texts]
    if (codes < 0).any() or not all(isinstance(value, int) for value in values):
        return objects(codes, values, None)
    return np.array(values or [0], dtype=np.int64)[codes]


def _may_be_json(result, column, spec):
    """Whether an argument has texts that are lists or objects, or look as if they were."""
    return (spec.value_type is ValueType.Object and result.is_text(column)
            and any(text[:1] in ("[", "{") for text in result.codes(column)[1]))


def _argument(result, column, spec, kinds=None):
    """The cells of one argument, its default where the file has none; kinds are their types in the file."""
    if result.is_text(column):
        codes, texts = result.codes(column)
        if not texts:
            return np.full(result.n, spec.default_value,
                           dtype=object if isinstance(spec.default_value, (str, type(None))) else None)
        if spec.value_type is ValueType.Object:
            made = objects(codes, [parse_json(text) for text in texts], spec.default_value)
            if kinds is not None:
                strings = kinds == "string"
                made[strings] = objects(codes[strings], list(texts), spec.default_value)
            return made
        if spec.value_type in (ValueType.Int, ValueType.Float):
            values = [_number(text, spec.value_type) for text in texts]
            made = objects(codes, values, spec.default_value)
            return pd.Series(made).infer_objects().to_numpy()
        return objects(codes, list(texts), spec.default_value)
    valid = result.valid(column)
    values = np.array(result.table.column(column))
    if isinstance(spec.default_value, (str, type(None))):
        values = values.astype(object)
    elif isinstance(spec.default_value, float):
        values = values.astype(np.float64)
    values[~valid] = spec.default_value
    return values


def _number(text, value_type):
    try:
        return int(text) if value_type is ValueType.Int else float(text)
    except ValueError:
        return text


def _symbols(trace, result, column):
    """Ids in the trace's symbol table."""
    codes, texts = result.codes(column)
    return trace.intern(texts)[codes]


def _column_order(keys):
    known = [key for key in keys if key not in _DROPPED_KEYS]
    return known + [key for key in _OWN_KEYS if key not in known]


class Builder:
    """One rank's frame in the making."""

    def __init__(self, trace, rank, only="all", graph=False):
        self.trace, self.rank, self.only = trace, rank, only
        self.graph = graph
        self.config = trace.parser_config

    def run(self, columns):
        arguments = {"rank": str(self.rank), "only": self.only}
        if self.trace.aligned:
            arguments["hta-rows"] = True
        elif self.graph:
            arguments["step"] = "all"  # or GPU work of the last step would be nobody's
        return Result(self.trace.run_core("events", arguments, columns=columns))

    def rows(self, result):
        """Which rows of the result are HTA's: with duration and category, in a raw table too."""
        if self.trace.aligned:
            keep = None
        else:
            cats, texts = result.codes("cat")
            is_trace = np.array([text == "Trace" for text in texts] + [True])
            keep = result.valid("dur_ns") & ~is_trace[cats]
        if self.trace.skips_events():
            cats, texts = result.codes("cat")
            skipped = np.array([text in self.config.skip_event_types for text in texts] + [False])
            keep = ~skipped[cats] if keep is None else keep & ~skipped[cats]
        return keep

    def specs(self):
        specs = [spec for spec in self.config.get_args() if spec.name != "name"]
        if self.config.parse_all_args:
            specs += self.trace.all_arguments(self.rank, specs)
        return specs + self.trace.counter_arguments(self.rank, specs)

    def build(self):
        specs = self.specs()
        asked = {spec.name: f"args.{spec.raw_name}" for spec in specs
                 if spec.name not in ("stream", "correlation")}
        columns = _FIELDS + list(dict.fromkeys(asked.values()))
        if self.graph:
            columns += [f"hta.{name}{'_ns' * (name in _GRAPH_TIMES)}" for name in _GRAPH]
        result = self.run(columns)
        data = self.fields(result)
        unclear = [f"type.{spec.raw_name}" for spec in specs
                   if spec.name in asked and _may_be_json(result, asked[spec.name], spec)]
        # "[0, 1]" and [0, 1] are different arguments with one text
        kinds = self.run([*unclear, "hta.ts_ns"]) if unclear else ()
        for spec in specs:
            if spec.name in asked:
                kind = f"type.{spec.raw_name}"
                data[spec.name] = _argument(result, asked[spec.name], spec,
                                            kinds.texts(kind) if kind in kinds else None)
            else:
                data[spec.name] = result.ints(f"hta.{spec.name}")
        data["index_correlation"] = result.ints("hta.index_correlation")
        data["iteration"] = self.iteration(result)
        data["end"] = self.end(result, data)
        if self.graph:
            self.add_graph(result, data)
        df = pd.DataFrame(data, copy=False)
        keep = self.rows(result)
        return df if keep is None else df[keep].reset_index(drop=True)

    def end(self, result, data):
        """ts + dur, added as nanoseconds: a sum of doubles has digits that nobody recorded."""
        if data["ts"].dtype.kind == "i" or self.trace.has_doubles():
            return data["ts"] + data["dur"]
        start = result.ints("hta.ts_ns" if self.trace.aligned else "ts_ns", missing=0)
        end = start + result.ints("dur_ns", missing=0)
        return end / 1000 if self.trace.aligned else doubles(end)

    def fields(self, result):
        """index and the keys of the events, in the order of the file."""
        start = result.ints("hta.ts_ns" if self.trace.aligned else "ts_ns", missing=0)
        ts, dur = microseconds(start, result.ints("dur_ns", missing=0))
        if ts.dtype.kind == "f":
            ts = self.trace.clock(start) if self.trace.aligned else doubles(start)
        made = {"ts": ts, "dur": dur}
        codes, texts = result.codes("hta.keys")
        extra = {}
        order = _column_order(texts[codes[0]].split(",") if result.n else [])
        for key in order:
            if key not in _OWN_KEYS:
                extra[key] = f"event.{key}"
        if extra:
            extra = self.extra_fields(extra)
        data = {"index": result.ints("index")}
        for key in order:
            if key in ("cat", "name"):
                data[key] = _symbols(self.trace, result, key)
            elif key in ("pid", "tid"):
                data[key] = _numbers(*result.codes(key))
            else:
                data[key] = made[key] if key in made else extra[key]
        return data

    def extra_fields(self, columns):
        result = self.run(list(columns.values()))
        made = {}
        for key, column in columns.items():
            if result.is_text(column):
                codes, texts = result.codes(column)
                made[key] = objects(codes, [parse_json(text) for text in texts], np.nan)
            else:
                made[key] = result.floats(column)
        return made

    @staticmethod
    def iteration(result):
        valid = result.valid("hta.iteration")
        values = result.ints("hta.iteration")
        return values if valid.all() else np.where(valid, values, np.nan)

    def add_graph(self, result, data):
        for name in _GRAPH:
            if name in ("kernel_dur_sum", "kernel_span"):
                data[name] = result.ints(f"hta.{name}_ns") / 1000
            elif name in _GRAPH_TIMES:
                times = result.ints(f"hta.{name}_ns")
                made = (self.trace.clock(times) if self.trace.aligned
                        else doubles(times + self.trace.min_ts_ns))
                data[name] = np.where(result.valid(f"hta.{name}_ns"), made, -1.0)
            else:
                data[name] = result.ints(f"hta.{name}")
        top = (data["depth"] == 0) & (data["parent"] == -1)
        if data["tid"].dtype.kind == "i":  # HTA's root of a thread is minus its number
            data["parent"] = np.where(top, -np.abs(data["tid"]), data["parent"])
        if self.trace.has_doubles() and self.trace.aligned:
            self.add_graph_oddities(data)

    def add_graph_oddities(self, data):
        """HTA leaves the last end on the file's clock; it also subtracts and narrows what it should not."""
        some = data["last_kernel_end"] != -1
        data["last_kernel_end"] = data["last_kernel_end"] + some * doubles(np.int64(self.trace.min_ts_ns))
        if compat():
            data["kernel_span"] = some * (data["last_kernel_end"] - data["first_kernel_start"])
            data["parent"] = data["parent"].astype(np.int8).astype(np.int64)


def build_frame(trace, rank):
    """t.traces[rank]: labelled by index."""
    df = Builder(trace, rank, graph=trace.has_call_graph(rank)).build()
    if trace.is_annotated(rank):
        df["user_annotation"] = user_annotations(trace, rank, df["index"].to_numpy())
    df.index = pd.Index(df["index"].to_numpy())
    return df


def user_annotations(trace, rank, index):
    """Symbol ids of the annotation on the GPU's timeline around each row, -1 where there is none."""
    result = trace.run("kernel-annotations", ranks=[rank], hta=True, group_by="none",
                       columns=["index", "annotation"])
    ids = _symbols(trace, result, "annotation")
    rows = result.ints("index")
    if not len(rows):
        return np.full(len(index), -1)
    order = np.argsort(rows, kind="stable")
    at = np.minimum(np.searchsorted(rows[order], index), len(rows) - 1)
    return np.where(rows[order][at] == index, ids[order][at], -1)


def build_gpu_rows(trace, rank):
    """HTA's GPU rows of a rank only, without building the whole frame; labels 0 to n-1."""
    return Builder(trace, rank, only="gpu", graph=trace.has_call_graph(rank)).build()
