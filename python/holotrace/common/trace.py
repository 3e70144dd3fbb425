# SPDX-License-Identifier: Apache-2.0
"""Trace: the traces of a run under HTA's name.

Files are read by the engine when load_traces() or parse_traces() is called. t.traces[rank] is a
DataFrame that is built when it is first looked at; analyses ask the engine and do not need it.
"""

import logging
import os
from collections.abc import MutableMapping
from typing import Any, Dict, List, Optional, Union

import numpy as np
import pandas as pd

from holotrace._hta.engine import Result, compat, doubles, microseconds
from holotrace._hta.events import build_frame, build_gpu_rows, user_annotations
from holotrace._hta.overlay import COUNTERS_SUFFIX, CRITICAL_PATH_PREFIX, SEQUENCES_PREFIX
from holotrace.common.trace_df import get_iterations
from holotrace.common.trace_file import read_header, read_trace, write_trace
from holotrace.common.trace_parser import infer_gpu_type, parse_trace_dict
from holotrace.common.trace_symbol_table import TraceSymbolTable, decode_symbol_id_to_symbol_name
from holotrace.configs.default_values import DEFAULT_TRACE_DIR, AttributeSpec, ValueType
from holotrace.configs.env_options import disable_ns_rounding
from holotrace.configs.parser_config import ParserBackend, ParserConfig
from holotrace.utils.utils import normalize_path

__all__ = ["PHASE_COUNTER", "PHASE_FLOW_END", "PHASE_FLOW_START", "Trace", "add_fwd_bwd_links",
           "add_iteration", "get_cpu_gpu_correlation", "parse_trace_dict", "parse_trace_file",
           "trace_event_timestamp_to_unixtime_ns", "transform_correlation_to_index"]

logger = logging.getLogger("hta")

PHASE_COUNTER = "C"
PHASE_FLOW_START = "s"
PHASE_FLOW_END = "f"

MetaData = Dict[str, Any]


def _without_own_files(folder: str):
    """A folder, or its traces where it also holds what this package made of them: x_with_counters.json.gz
    and overlaid_x.json.gz beside x.json.gz are no ranks of their own."""
    names = set(os.listdir(folder))
    prefixes = (CRITICAL_PATH_PREFIX, SEQUENCES_PREFIX)

    def original(name: str) -> str:
        stem, dot, ending = name.partition(".json")
        if dot and stem.endswith(COUNTERS_SUFFIX):
            return stem[:-len(COUNTERS_SUFFIX)] + dot + ending
        return next((name[len(prefix):] for prefix in prefixes if name.startswith(prefix)), "")

    made = {name for name in names if original(name) in names}
    if not made:
        return folder
    logger.info("%s: %s left out, made from other files there", folder, ", ".join(sorted(made)))
    return sorted(os.path.join(folder, name) for name in names - made
                  if name.endswith((".json", ".gz", ".zst")))


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

        t = Trace(trace_dir="traces/")
        t.load_traces()
        t.get_trace(0)                   # the events of rank 0 as a DataFrame

    trace_files     None: the traces in trace_dir; a list of files; or {rank: file}
    trace_dir       where they are; files that are not named from the root are looked for in it
    parser_config   which arguments become columns of the frames

    Frames can also be put in by hand, without any file: Trace(trace_files={}), then t.traces[rank] = df
    and t.symbol_table = table.
    """

    def __new__(cls, *unused, **also_unused):
        self = super().__new__(cls)
        self.trace_path = ""
        self.parser_config = ParserConfig.get_default_cfg()
        self.known_symbols = TraceSymbolTable()
        self._all_symbols_known = False
        self.is_parsed = False
        self.aligned = False
        self.include_last = False
        self.traces = _Frames(self, [])
        self.meta_data = _Headers(self)
        self._core = None
        self._min_ts_ns = None
        self._with_graph = set()
        self._annotated = set()
        self._sources = None
        self._files = None
        return self

    def __init__(self, trace_files: Optional[Union[List[str], Dict[int, str]]] = None,
                 trace_dir: str = DEFAULT_TRACE_DIR,
                 parser_config: Optional[ParserConfig] = None) -> None:
        self.trace_path = normalize_path(trace_dir)
        if parser_config is not None:
            self.parser_config = parser_config
        self._sources = self._check_sources(trace_files)
        if self._sources is None:
            del self.traces

    def _check_sources(self, trace_files):
        if trace_files is None:
            if not os.path.isdir(self.trace_path):
                raise ValueError(f"{self.trace_path} is not a directory with traces")
            return _without_own_files(self.trace_path)
        if isinstance(trace_files, dict):
            return {int(rank): self._located(path) for rank, path in trace_files.items()}
        if isinstance(trace_files, (list, tuple)):
            return [self._located(path) for path in trace_files]
        logger.error("trace_files is a list of files or {rank: file}, not %r; nothing is loaded", trace_files)
        return None

    def _located(self, path):
        path = os.fspath(path)
        if not path.startswith((self.trace_path, "/")):
            path = os.path.join(self.trace_path, path)
        if not os.access(path, os.R_OK):
            raise ValueError(f"trace files: validation failed: {path} does not exist or cannot be read")
        return path

    def __repr__(self) -> str:
        ranks = self.get_ranks()
        how = "loaded" if self.aligned else "parsed" if self.is_parsed else "not read yet"
        named = "no ranks" if not ranks else f"rank {ranks[0]}" if len(ranks) == 1 else f"{len(ranks)} ranks"
        return f"<Trace: {named}, {how}>"

    # ---- the engine ----

    @property
    def core(self):
        """The engine's set of traces."""
        if self._core is None:
            from holotrace._session import core_open

            sources = self._sources if self._files is None else self._files
            if not sources:
                raise ValueError("this Trace has no files that an analysis could read")
            self._core = core_open(sources)
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

    def warn_if_more(self, result: Result, argument: str, name, ranks, **arguments) -> None:
        """Say so when HTA's definition leaves nothing and ours, which an argument asks for, would not."""
        if result.n:
            return
        rows = self.run(name, ranks=ranks, **arguments).n
        if rows:
            logger.warning("HTA's definition finds nothing here; %s finds %d rows", argument, rows)

    @property
    def has_files(self) -> bool:
        """Whether there is anything that the engine could read."""
        return bool(self._sources if self._files is None else self._files)

    @property
    def trace_files(self) -> Dict[int, str]:
        """{rank: file}. Assign another before the traces are loaded to read other files."""
        if self._files is None:
            self._files = dict(zip(self.core.ranks, self.core.paths)) if self.has_files else {}
        return self._files

    @trace_files.setter
    def trace_files(self, files: Dict[int, str]) -> None:
        self._files, self._core = files, None

    @property
    def symbol_table(self) -> TraceSymbolTable:
        """Names and categories of all events that have a duration.

        known_symbols is the same table with only what frames and results have needed so far.
        """
        for rank in self.get_ranks() if self.has_files and not self._all_symbols_known else ():
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
        if self.is_parsed and (self.aligned or not self.has_files):
            logger.warning("the traces are loaded already")
            return
        self.parse_traces(-1, use_multiprocessing, use_memory_profiling)
        self.align_and_filter_trace(include_last_profiler_step)

    def parse_traces(self, max_ranks: int = -1, use_multiprocessing: bool = True,
                     use_memory_profiling: bool = True) -> None:
        """Read ranks without aligning or cutting them."""
        if not self.has_files:
            logger.error("there are no trace files to read")
            return
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
        if isinstance(self.traces, _Frames):
            self.traces.forget()

    # ---- what is loaded ----

    def get_ranks(self) -> List[int]:
        return sorted(getattr(self, "traces", ()))

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
        """Profiler steps of a rank, the first by default; none for a rank that is not there."""
        rank = self._first_rank() if rank is None and self.traces else rank
        if rank not in self.traces or "iteration" not in self.traces[rank].columns:
            return []
        return get_iterations(self.traces[rank])

    def get_trace_duration(self, rank: Optional[int] = None) -> Union[int, float]:
        """From the first start to the last end in us; with hta_compat to the last start."""
        rank = self._first_rank() if rank is None else rank
        if rank not in self.traces:
            raise ValueError(f"there is no rank {rank}; the traces have {self.get_ranks()}")
        if not self.has_files or not isinstance(self.traces, _Frames):
            df = self.traces[rank]
            end = df["ts"] if compat() or "dur" not in df.columns else df["ts"] + df["dur"]
            return end.max() - df["ts"].min()
        result = self.run("events", ranks=[rank], columns=["hta.ts_ns", "hta.end_ns"])
        if not result.n:
            return 0
        start, end = result.ints("hta.ts_ns"), result.ints("hta.end_ns")
        length = int((start if compat() else end).max() - start.min())
        return length // 1000 if length % 1000 == 0 else length / 1000

    def get_device_type(self) -> str:
        """NVIDIA GPU, AMD GPU, MTIA or UNKNOWN GPU, by the first rank."""
        return self.meta_data[self._first_rank()]["device_type"]

    @property
    def min_ts(self) -> Union[int, float]:
        """Where the loaded times are 0, in us of the files' clock."""
        ns = self.min_ts_ns
        return ns // 1000 if ns % 1000 == 0 else ns / 1000

    @property
    def min_ts_ns(self) -> int:
        if self._min_ts_ns is None and self.has_files:
            self._min_ts_ns = self._zero("ts_ns")
        return self._min_ts_ns or 0

    @property
    def zero_ns(self) -> int:
        """Where the loaded times are 0 on the clock that results of the engine have."""
        return self._zero("time_ns")

    def _zero(self, clock: str) -> int:
        for only in ("gpu", "host"):
            result = Result(self.core.run("events", {"hta-rows": True, "only": only},
                                          columns=f"{clock},hta.ts_ns"))
            if result.n:
                return int(result.ints(clock)[0] - result.ints("hta.ts_ns")[0])
        return 0

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
        if rank not in self.traces:
            raise ValueError(f"No trace found for rank {rank}; the traces have {self.get_ranks()}")
        base = int(self.meta_data[rank]["baseTimeNanoseconds"])
        return self.min_ts_ns + base

    def _read_header(self, rank) -> MetaData:
        header = read_header(self.core, rank)
        header["device_type"] = infer_gpu_type(header, self.symbol_table.sym_index)
        return header

    # ---- what analyses leave behind ----

    def has_call_graph(self, rank) -> bool:
        return rank in self._with_graph

    def mark_annotated(self, rank) -> None:
        """From now on the frame of the rank has the column user_annotation."""
        if rank in self._annotated:
            return
        self._annotated.add(rank)
        df = self._built(rank)
        if df is not None:
            df["user_annotation"] = user_annotations(self, rank, df["index"].to_numpy())

    def is_annotated(self, rank) -> bool:
        return rank in self._annotated

    def _built(self, rank) -> Optional[pd.DataFrame]:
        """The frame of a rank if there is one yet."""
        return self.traces.built(rank) if isinstance(self.traces, _Frames) else self.traces.get(rank)

    def add_call_graph(self, rank, check=False) -> bool:
        """From now on the rank's frame has the columns of a call graph.

        With check: False when the frame is not as the file has it, so that they must be made from it.
        """
        if not self.has_files:
            return False
        before = rank in self._with_graph
        if before and not check:
            return True
        self._with_graph.add(rank)
        df = self._built(rank)
        if df is None:
            return True
        fresh = build_frame(self, rank)
        if any(name not in df.columns or not np.array_equal(df[name].to_numpy(), fresh[name].to_numpy())
               for name in ("index", "pid", "tid", "ts", "dur", "stream")):
            return False
        if not before:
            for name in fresh.columns:
                if name not in df.columns:
                    df[name] = fresh[name].to_numpy()
        return True

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
        if rank not in self.trace_files:
            raise ValueError(f"there is no rank {rank}; the traces have {sorted(self.trace_files)}")
        return read_trace(self.trace_files[rank])

    def write_raw_trace(self, output_file: str, trace_contents: Dict[str, Any]) -> None:
        """Write a document: gzip when the name ends in .gz.

        Overlays and counters are written by the engine; a subclass that has its own write_raw_trace()
        gets their documents instead.
        """
        write_trace(trace_contents, output_file)

    write_raw_trace.writes_files = True  # type: ignore[attr-defined]

    def decode_symbol_ids(self, use_shorten_name: bool = True) -> None:
        """Add s_name and s_cat to the frames of all ranks."""
        for rank in self.get_ranks():
            decode_symbol_id_to_symbol_name(self.traces[rank], self.symbol_table, use_shorten_name)

    def convert_time_series_to_events(self, series: pd.DataFrame, counter_name: str,
                                      counter_col: str) -> List[Dict[str, Any]]:
        """Counter events from a series with the columns ts, pid and counter_col.

        A column name has names of their own for events; id, or else stream, tells counters apart.
        """
        missing = {"ts", "pid", counter_col} - set(series.columns)
        if missing:
            logger.error("the series has no column %s", ", ".join(sorted(missing)))
            return []
        start = np.round(series["ts"].to_numpy() + self.min_ts, 3)
        names = series["name"].tolist() if "name" in series.columns else [counter_name] * len(series)
        events = [{"ph": PHASE_COUNTER, "name": name, "pid": pid, "ts": ts, "args": {counter_name: value}}
                  for name, ts, pid, value in zip(names, start.tolist(), series["pid"].tolist(),
                                                  series[counter_col].tolist())]
        for column in ("id", "stream"):
            if column in series.columns:
                for event, number in zip(events, series[column].tolist()):
                    event["id"] = number
                break
        return events

    @staticmethod
    def flow_event(id: int, pid: int, tid: int, ts: int, is_start: bool, name: str, cat: str,
                   args: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """One end of an arrow."""
        event: Dict[str, Any] = {
            "ph": PHASE_FLOW_START if is_start else PHASE_FLOW_END, "id": id, "pid": pid, "tid": tid,
            "ts": ts, "cat": cat, "name": name}
        if not is_start:
            event["bp"] = "e"
        if args is not None:
            event["args"] = args
        return event


def parse_trace_file(trace_file_path: str, cfg: Optional[ParserConfig] = None):
    """(header, frame, symbol table) of one file, neither aligned nor cut."""
    if not trace_file_path.endswith((".gz", ".json")):
        raise ValueError(f"{trace_file_path}: the name of a trace must end in '.gz' or 'json'")
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
    """Add iteration: the profiler step of the host in which a row starts; GPU rows have their launch's.

    Returns the rows of the steps, with their numbers in iter.
    """
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
    of_index = pd.Series(iteration, index=df["index"] if "index" in df.columns else df.index)
    df.loc[launched, "iteration"] = df.loc[launched, "index_correlation"].map(of_index).fillna(-1)
    return steps.assign(iter=numbers[steps.index].astype("int64"))


def add_fwd_bwd_links(df: pd.DataFrame) -> None:
    """Add fwdbwd_index, the partner of a forward or backward operator, and fwdbwd, 0 or 1, in place.

    The frame has cat as text and the flows of the file: cat fwdbwd, ph s at the start of the forward
    operator, ph f with bp e at that of the backward one, equal id. -1 for rows without a partner.
    """
    flows = df[df["cat"] == "fwdbwd"]
    if flows.empty:
        return
    df["fwdbwd_index"] = -1
    df["fwdbwd"] = -1
    place = ["ts", "tid", "pid"]
    operators = df.loc[df["cat"] == "cpu_op", ["index", *place]]
    ends = {"s": flows[flows["ph"] == "s"], "f": flows[(flows["ph"] == "f") & (flows["bp"] == "e")]}
    found = [ends[kind][["id", *place]].merge(operators, on=place).groupby("id")["index"].max()
             for kind in ("s", "f")]
    pairs = pd.concat(found, axis=1, join="inner", keys=["forward", "backward"])
    for own, other, kind in (("forward", "backward", 0), ("backward", "forward", 1)):
        partner = df["index"].map(dict(zip(pairs[own], pairs[other])))
        linked = partner.notna()
        df.loc[linked, "fwdbwd_index"] = partner[linked].astype("int64")
        df.loc[linked, "fwdbwd"] = kind
