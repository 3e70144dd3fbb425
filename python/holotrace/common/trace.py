"""Trace: the traces of a run under HTA's name.

Files are read by the engine when load_traces() or parse_traces() is called. t.traces[rank] is a
DataFrame that is built when it is first looked at; analyses ask the engine and do not need it.
"""

import json
import logging
import os
import tempfile
from collections.abc import MutableMapping
from typing import Any, Dict, List, Optional, Union

import numpy as np
import pandas as pd

from holotrace._hta.engine import Result, compat, doubles, microseconds
from holotrace._hta.events import build_frame, build_gpu_rows, user_annotations
from holotrace.common.trace_file import read_trace, write_trace
from holotrace.common.trace_symbol_table import TraceSymbolTable, decode_symbol_id_to_symbol_name
from holotrace.configs.default_values import DEFAULT_TRACE_DIR, AttributeSpec, ValueType
from holotrace.configs.env_options import disable_ns_rounding
from holotrace.configs.parser_config import ParserBackend, ParserConfig
from holotrace.utils.utils import normalize_path

logger = logging.getLogger("holotrace")

PHASE_COUNTER = "C"
PHASE_FLOW_START = "s"
PHASE_FLOW_END = "f"

MetaData = Dict[str, Any]


class _Frames(MutableMapping):
    """{rank: DataFrame}, each built when first asked for."""

    def __init__(self, trace: "Trace", ranks):
        self._trace = trace
        self._frames: Dict[int, Optional[pd.DataFrame]] = {rank: None for rank in ranks}

    def __getitem__(self, rank):
        if self._frames[rank] is None:
            self._frames[rank] = build_frame(self._trace, rank)
        return self._frames[rank]

    def __setitem__(self, rank, df):
        self._frames[rank] = df

    def __delitem__(self, rank):
        del self._frames[rank]

    def __contains__(self, rank):
        return rank in self._frames

    def __iter__(self):
        return iter(list(self._frames))

    def __len__(self):
        return len(self._frames)

    def built(self, rank) -> Optional[pd.DataFrame]:
        return self._frames.get(rank)

    def forget(self):
        for rank in self._frames:
            self._frames[rank] = None


class _Headers(MutableMapping):
    """{rank: what the file says besides its events}, read when asked for."""

    def __init__(self, trace: "Trace"):
        self._trace = trace
        self._read: Dict[int, MetaData] = {}

    def __getitem__(self, rank):
        if rank not in self._read:
            if rank not in self._trace.get_ranks():
                raise KeyError(rank)
            self._read[rank] = self._trace._read_header(rank)
        return self._read[rank]

    def __setitem__(self, rank, value):
        self._read[rank] = value

    def __delitem__(self, rank):
        del self._read[rank]

    def __iter__(self):
        return iter(self._trace.get_ranks())

    def __len__(self):
        return len(self._trace.get_ranks())


class Trace:
    """One run: a trace per rank.

    trace_files   None: the traces in trace_dir; a list of files; or {rank: file}
    """

    def __init__(self, trace_files: Optional[Union[List[str], Dict[int, str]]] = None,
                 trace_dir: str = DEFAULT_TRACE_DIR,
                 parser_config: Optional[ParserConfig] = None) -> None:
        self.trace_path = normalize_path(trace_dir)
        self.parser_config = parser_config or ParserConfig.get_default_cfg()
        self.known_symbols = TraceSymbolTable()
        self._all_symbols_known = False
        self.is_parsed = False
        self.aligned = False
        self.include_last = False
        self.traces = _Frames(self, [])
        self.meta_data = _Headers(self)
        self._core = None
        self._min_ts_ns: Optional[int] = None
        self._with_graph: set = set()
        self._annotated: set = set()
        self._sources = self._check_sources(trace_files)

    def _check_sources(self, trace_files):
        if trace_files is None:
            if not os.path.isdir(self.trace_path):
                raise ValueError(f"{self.trace_path} is not a directory with traces")
            return self.trace_path
        if not isinstance(trace_files, (dict, list, tuple)):
            raise ValueError(f"trace_files is a list of files or a dict of them, not {trace_files!r}")

        def located(path):
            path = os.fspath(path)
            if not path.startswith((self.trace_path, "/")):
                path = os.path.join(self.trace_path, path)
            if not os.access(path, os.R_OK):
                raise ValueError(f"{path} does not exist or cannot be read")
            return path

        if isinstance(trace_files, dict):
            return {int(rank): located(path) for rank, path in trace_files.items()}
        return [located(path) for path in trace_files]

    # ---- the engine ----

    @property
    def core(self):
        """The engine's set of traces."""
        if self._core is None:
            from holotrace._session import core_open

            self._core = core_open(self._sources)
            if self._core.loss_note:
                logger.warning("%s", self._core.loss_note)
        return self._core

    def run_core(self, name, arguments, columns=None, other=None):
        """A table of the engine over the rows that are loaded."""
        given = {key: value for key, value in arguments.items() if value is not None}
        if self.include_last and "step" not in given:
            given["step"] = "all"
        if compat():
            given.setdefault("hta-compat", True)
        return self.core.run(name, given, columns=None if columns is None else ",".join(columns),
                             other=other)

    def run(self, name, ranks=None, columns=None, hta=False, **arguments) -> Result:
        """An analysis over HTA's rows; with hta also by HTA's definitions."""
        given = {key.replace("_", "-"): value for key, value in arguments.items()}
        given["hta-rows"] = True
        if hta:
            given["hta-compat"] = True
        if ranks is not None:
            given["rank"] = ",".join(str(rank) for rank in ranks)
        return Result(self.run_core(name, given, columns))

    @property
    def trace_files(self) -> Dict[int, str]:
        return dict(zip(self.core.ranks, self.core.paths))

    @property
    def symbol_table(self) -> TraceSymbolTable:
        """Names and categories of all events that have a duration.

        known_symbols is the same table with only what frames and results have needed so far.
        """
        for rank in self.get_ranks() if not self._all_symbols_known else ():
            result = Result(self.core.run("events", {"rank": str(rank)}, columns="cat,name,dur_ns"))
            valid = result.valid("dur_ns")
            for column in ("cat", "name"):
                codes, texts = result.codes(column)
                used = np.unique(codes[valid])
                self.known_symbols.add_symbols(texts[code] for code in used if code >= 0)
        self._all_symbols_known = True
        return self.known_symbols

    @symbol_table.setter
    def symbol_table(self, table: TraceSymbolTable) -> None:
        self.known_symbols = table
        self._all_symbols_known = True

    def intern(self, texts) -> np.ndarray:
        """Ids of texts in the symbol table, and -1 after the last for cells without text."""
        self.known_symbols.add_symbols(texts)
        index = self.known_symbols.sym_index
        return np.array([*(index[text] for text in texts), -1], dtype=np.int64)

    def has_category(self, category: str) -> bool:
        """Whether any file has events of a category."""
        result = Result(self.core.run("info", {}, columns="topic,item"))
        return bool(((result.texts("topic") == "events") & (result.texts("item") == category)).any())

    # ---- loading ----

    def load_traces(self, include_last_profiler_step: Optional[bool] = False,
                    use_multiprocessing: bool = True, use_memory_profiling: bool = True) -> None:
        """Read all ranks, put them on one clock that starts at 0, and cut the last profiler step."""
        if self.is_parsed and self.aligned:
            logger.warning("the traces are loaded already")
            return
        self.parse_traces(-1, use_multiprocessing, use_memory_profiling)
        self.align_and_filter_trace(include_last_profiler_step)

    def parse_traces(self, max_ranks: int = -1, use_multiprocessing: bool = True,
                     use_memory_profiling: bool = True) -> None:
        """Read ranks without aligning or cutting them."""
        ranks = sorted(self.core.ranks)
        self.parse_multiple_ranks(ranks[:max_ranks] if max_ranks > 0 else ranks)

    def parse_multiple_ranks(self, ranks: List[int], use_multiprocessing: bool = True,
                             use_memory_profiling: bool = True) -> None:
        events = dict(zip(self.core.ranks, self.core.n_events))
        for rank in ranks:
            if rank not in events:
                raise ValueError(f"there is no rank {rank}; the traces have {sorted(events)}")
            if events[rank]:
                self.traces[rank] = None
            else:
                logger.warning("the trace of rank %d is empty", rank)
        self.is_parsed = True

    def parse_single_rank(self, rank: int) -> None:
        self.parse_multiple_ranks([rank])

    def align_and_filter_trace(self, include_last_profiler_step: Optional[bool] = False) -> None:
        if not self.traces:
            logger.error("there are no traces")
            return
        self.aligned = True
        self.include_last = bool(include_last_profiler_step)
        self.traces.forget()

    # ---- what is loaded ----

    def get_ranks(self) -> List[int]:
        return sorted(self.traces)

    def _first_rank(self) -> int:
        ranks = self.get_ranks()
        if not ranks:
            raise ValueError("there are no traces; call load_traces() first")
        return ranks[0]

    def get_trace(self, rank: int) -> pd.DataFrame:
        if rank not in self.traces:
            raise ValueError(f"there is no rank {rank}; the traces have {self.get_ranks()}")
        return self.traces[rank]

    def get_all_traces(self) -> Dict[int, pd.DataFrame]:
        return self.traces

    def get_iterations(self, rank: Optional[int] = None) -> List[int]:
        rank = self._first_rank() if rank is None else rank
        iterations = self.get_trace(rank)["iteration"].dropna().unique()
        return sorted(int(i) for i in iterations if i >= 0)

    def get_trace_duration(self, rank: Optional[int] = None) -> Union[int, float]:
        """From the first start to the last end in us; with hta_compat to the last start."""
        rank = self._first_rank() if rank is None else rank
        if rank not in self.traces:
            raise ValueError(f"there is no rank {rank}; the traces have {self.get_ranks()}")
        result = self.run("events", ranks=[rank], columns=["hta.ts_ns", "hta.end_ns"])
        if not result.n:
            return 0
        start, end = result.ints("hta.ts_ns"), result.ints("hta.end_ns")
        length = int((start if compat() else end).max() - start.min())
        return length // 1000 if length % 1000 == 0 else length / 1000

    def get_device_type(self) -> str:
        """NVIDIA GPU, AMD GPU, MTIA or UNKNOWN GPU, by the first rank."""
        header = self.meta_data[self._first_rank()]
        if "mtia:hccl" in str(header.get("distributedInfo", {})):
            return "MTIA"
        symbols = self.symbol_table.sym_index
        if any(name.startswith(("cudaLaunch", "cuLaunch", "cudaGraphLaunch")) for name in symbols):
            return "NVIDIA GPU"
        if any(name.startswith("hip") and "Launch" in name for name in symbols):
            return "AMD GPU"
        if "runFunction - job_prep_and_submit_for_execution" in symbols:
            return "MTIA"
        return "UNKNOWN GPU"

    @property
    def min_ts(self) -> Union[int, float]:
        """Where the loaded times are 0, in us of the files' clock."""
        ns = self.min_ts_ns
        return ns // 1000 if ns % 1000 == 0 else ns / 1000

    @property
    def min_ts_ns(self) -> int:
        for only in ("gpu", "host") if self._min_ts_ns is None else ():
            result = Result(self.core.run("events", {"hta-rows": True, "only": only},
                                          columns="ts_ns,hta.ts_ns"))
            if result.n:
                self._min_ts_ns = int(result.ints("ts_ns")[0] - result.ints("hta.ts_ns")[0])
                break
        return self._min_ts_ns or 0

    @min_ts.setter
    def min_ts(self, us) -> None:
        self._min_ts_ns = round(us * 1000)

    def clock(self, *columns):
        """Columns of ns since min_ts as us: exact, or in HTA's doubles where the user asks for them."""
        if self.has_doubles() and (
                self.min_ts_ns % 1000 or any((column % 1000).any() for column in columns)):
            zero = self.min_ts_ns
            made = [doubles(column + zero) - doubles(zero) for column in columns]
            return made[0] if len(made) == 1 else made
        return microseconds(*columns)

    @staticmethod
    def has_doubles() -> bool:
        """Whether times are to have the noise of HTA's doubles."""
        return compat() or disable_ns_rounding()

    def starts(self, result: Result, column: str) -> np.ndarray:
        """us, as doubles, at which the events start whose index is in a column of a result."""
        index, rank_of_row = result.ints(column), result.ints("rank")
        start = np.zeros(len(index))
        for rank in np.unique(rank_of_row):
            of_rank = Result(self.core.run("events", {"rank": str(rank)}, columns="ts_ns"))
            rows = rank_of_row == rank
            start[rows] = doubles(of_rank.ints("ts_ns")[index[rows]]) - doubles(self.min_ts_ns)
        return start

    def get_trace_start_unixtime_ns(self, rank: int) -> int:
        """Unix time of the first loaded event of all ranks."""
        base = int(self.meta_data[rank]["baseTimeNanoseconds"])
        return self.min_ts_ns + base

    def _read_header(self, rank) -> MetaData:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "header.json")
            self.core.convert(path, ranks=str(rank), categories="-", partial=True)
            with open(path, encoding="utf-8") as file:
                header = json.load(file)
        header.pop("traceEvents", None)
        return header

    # ---- what analyses leave behind ----

    def has_call_graph(self, rank) -> bool:
        return rank in self._with_graph

    def mark_annotated(self, rank) -> None:
        """From now on the frame of the rank has the column user_annotation."""
        if rank in self._annotated:
            return
        self._annotated.add(rank)
        df = self.traces.built(rank)
        if df is not None:
            df["user_annotation"] = user_annotations(self, rank, df["index"].to_numpy())

    def is_annotated(self, rank) -> bool:
        return rank in self._annotated

    def add_call_graph(self, rank) -> None:
        """From now on the rank's frame has the columns of a call graph."""
        if rank in self._with_graph:
            return
        self._with_graph.add(rank)
        df = self.traces.built(rank)
        if df is not None:
            fresh = build_frame(self, rank)
            names = [name for name in fresh.columns if name not in df.columns]
            df[names] = fresh[names].loc[df.index].to_numpy() if len(fresh) != len(df) else fresh[names]

    def gpu_rows(self, rank) -> pd.DataFrame:
        """HTA's GPU rows of a rank as a frame of its own."""
        return build_gpu_rows(self, rank)

    # ---- arguments ----

    def skips_events(self) -> bool:
        backend = self.parser_config.parser_backend
        return bool(self.parser_config.skip_event_types) and backend not in (None, ParserBackend.JSON)

    def _argument_keys(self, rank) -> List[str]:
        for only in ("gpu", "host"):
            result = self.run("events", ranks=[rank], columns=["hta.arg_keys"], only=only)
            if result.n:
                codes, texts = result.codes("hta.arg_keys")
                return list(dict.fromkeys(texts[codes[0]].split("\n")))
        return []

    def all_arguments(self, rank, known) -> List[AttributeSpec]:
        """Specs of all arguments that have none yet."""
        raw_names = {spec.raw_name for spec in known}
        names = {spec.name for spec in known}
        specs = []
        by_raw = {spec.raw_name: spec for spec in ParserConfig.get_all_available_args().values()}
        for key in self._argument_keys(rank):
            if key in raw_names or not key or "," in key:
                continue
            spec = by_raw.get(key)
            if spec is None or spec.name == "name":
                spec = AttributeSpec(ParserConfig.transform_arg_name(key), key, ValueType.Object,
                                     None, self.parser_config.version)
            if spec.name not in names:
                names.add(spec.name)
                specs.append(spec)
        return specs

    def counter_arguments(self, rank, known) -> List[AttributeSpec]:
        """Specs of the counters of CUPTI ranges, one column each, -1 where a row has none."""
        if not self.has_category("cuda_profiler_range"):
            return []
        names = {spec.raw_name for spec in known}
        result = self.run("cupti-counters", ranks=[rank])
        own = {"rank", "index", "ts_ns", "dur_ns", "name", "index_launch", "top_level_op",
               "bottom_level_op", "op_stack", "flops"}
        return [AttributeSpec(key, key, ValueType.Int, -1, self.parser_config.version)
                for key in result.names if key not in own and key not in names]

    # ---- files and symbols ----

    def get_raw_trace_for_one_rank(self, rank: int = 0) -> Dict[str, Any]:
        """The whole file of a rank as Python objects."""
        return read_trace(self.trace_files[rank])

    def write_raw_trace(self, output_file: str, trace_contents: Dict[str, Any]) -> None:
        """Write a document: gzip when the name ends in .gz."""
        write_trace(trace_contents, output_file)

    def decode_symbol_ids(self, use_shorten_name: bool = True) -> None:
        """Add s_name and s_cat to the frames of all ranks."""
        for rank in self.get_ranks():
            decode_symbol_id_to_symbol_name(self.traces[rank], self.symbol_table, use_shorten_name)

    def convert_time_series_to_events(self, series: pd.DataFrame, counter_name: str,
                                      counter_col: str) -> List[Dict[str, Any]]:
        """Counter events from a series with the columns ts, pid, counter_col, and maybe stream."""
        missing = {"ts", "pid", counter_col} - set(series.columns)
        if missing:
            logger.error("the series has no column %s", ", ".join(sorted(missing)))
            return []
        start = series["ts"].to_numpy() + self.min_ts
        events = []
        streams = series["stream"].tolist() if "stream" in series.columns else None
        rows = zip(start.tolist(), series["pid"].tolist(), series[counter_col].tolist())
        for i, (ts, pid, value) in enumerate(rows):
            event = {"ph": PHASE_COUNTER, "name": counter_name, "pid": pid, "ts": ts,
                     "args": {counter_name: value}}
            if streams is not None:
                event["id"] = streams[i]
            events.append(event)
        return events

    @staticmethod
    def flow_event(id: int, pid: int, tid: int, ts: int, is_start: bool, name: str, cat: str,
                   args: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """One end of an arrow."""
        event: Dict[str, Any] = {
            "ph": PHASE_FLOW_START if is_start else PHASE_FLOW_END, "id": id, "pid": pid, "tid": tid,
            "ts": ts, "cat": cat, "name": name, "args": args or {}}
        if not is_start:
            event["bp"] = "e"
        return event


def parse_trace_file(trace_file_path: str, cfg: Optional[ParserConfig] = None):
    """(header, frame, symbol table) of one file, neither aligned nor cut."""
    if not trace_file_path.endswith((".gz", ".json")):
        raise ValueError(f"{trace_file_path}: the name of a trace must end in .gz or .json")
    trace = Trace(trace_files=[os.path.abspath(trace_file_path)], trace_dir="/", parser_config=cfg)
    trace.parse_traces()
    rank = trace.get_ranks()[0]
    return trace.meta_data[rank], trace.traces[rank], trace.symbol_table


def get_cpu_gpu_correlation(df: pd.DataFrame) -> pd.DataFrame:
    """(gpu_index, cpu_index) of GPU rows and their launches."""
    linked = df[(df["stream"] >= 0) & (df["index_correlation"] > 0)]
    return pd.DataFrame({"gpu_index": linked["index"].to_numpy(),
                         "cpu_index": linked["index_correlation"].to_numpy()})


def trace_event_timestamp_to_unixtime_ns(trace_event_ts_us: float, trace_metadata: MetaData) -> int:
    return int(trace_event_ts_us * 1000) + int(trace_metadata["baseTimeNanoseconds"])


def transform_correlation_to_index(df: pd.DataFrame, symbol_table: TraceSymbolTable) -> pd.DataFrame:
    """Add index_correlation: launch of GPU work, last GPU row of a launch; 0 none found, -1 none."""
    from holotrace.common.trace_filter import is_gpu_row

    if "correlation" not in df.columns:
        return df
    df["index_correlation"] = np.minimum(df["correlation"], 0)
    gpu = is_gpu_row(df, symbol_table)
    linked = df["correlation"] != -1
    sides = [df[linked & gpu], df[linked & ~gpu]]
    for here, there in (sides, sides[::-1]):
        last = there.drop_duplicates("correlation", keep="last").set_index("correlation")["index"]
        partner = here["correlation"].map(last).dropna()
        df.loc[partner.index, "index_correlation"] = partner.astype("int64")
    return df


def add_iteration(df: pd.DataFrame, symbol_table: TraceSymbolTable) -> pd.DataFrame:
    """Add iteration: the profiler step of the host in which a row starts; GPU rows have their launch's."""
    names = pd.Series(symbol_table.texts(df["name"]), index=df.index)
    cats = symbol_table.texts(df["cat"])
    numbers = names.str.extract(r"^ProfilerStep\s*#\s*(\d+)", expand=False)
    steps = df[numbers.notna() & (cats != "gpu_user_annotation")]
    iteration = np.full(len(df), -1, dtype=np.int64)
    start = df["ts"].to_numpy()
    for label, step in steps.iterrows():
        inside = (start >= step["ts"]) & (start < step["ts"] + step["dur"])
        iteration[inside] = int(numbers[label])
    df["iteration"] = iteration
    launched = (df["stream"] >= 0) & (df["index_correlation"] > 0)
    of_index = pd.Series(iteration, index=df["index"])
    df.loc[launched, "iteration"] = df.loc[launched, "index_correlation"].map(of_index).fillna(-1)
    return df
