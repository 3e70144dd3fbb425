# SPDX-License-Identifier: Apache-2.0
# Types of the package. Written by tools/gen_python_stubs; the methods of Session come from the registry.
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from typing import IO, Any, Literal, TypedDict, overload

import numpy
import pandas
import plotly.graph_objects
import polars
import pyarrow

_Path = str | bytes | os.PathLike[str]
_Sources = _Path | Iterable[_Path] | Mapping[int, _Path]
_Progress = bool | None | Callable[[str, int, int], bool | None]
_Value = int | float | str | bool | None

__version__: str

class Error(Exception):
    message: str
    file: str | None
    offset: int | None
    hint: str | None
    def __init__(
        self, message: str, file: str | None = None, offset: int | None = None, hint: str | None = None
    ) -> None: ...

class InputError(Error): ...
class UsageError(Error, ValueError): ...
class LimitError(Error): ...
class MissingError(Error): ...
class CancelledError(Error): ...
class LossWarning(UserWarning): ...

class _Options:
    hta_compat: bool
    cache: bool | None
    cache_dir: str | os.PathLike[str] | None
    cache_max_bytes: int
    jobs: int
    memory_limit: int
    progress: _Progress
    max_rows: int
    def reset(self) -> None: ...
    def override(self, **values: Any) -> _Override: ...

class _Override:
    def __enter__(self) -> _Options: ...
    def __exit__(self, *unused: object) -> None: ...

options: _Options

class ExecutionTraceObserver:
    output_file_path: str
    resources_dir: str
    extra_resources_collection: bool
    @staticmethod
    def build_execution_trace_obs_from_env() -> ExecutionTraceObserver | None: ...
    def register_callback(self, output_file_path: str | os.PathLike[str]) -> ExecutionTraceObserver: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def unregister_callback(self) -> None: ...
    def cleanup(self) -> None: ...
    @property
    def is_registered(self) -> bool: ...
    def is_running(self) -> bool: ...
    def get_output_file_path(self) -> str | None: ...
    def set_extra_resource_collection(self, val: bool) -> None: ...
    def get_resources_dir(self, can_create: bool = False) -> str | None: ...
    @staticmethod
    def get_resources_dir_for_et_path(trace_path: str, create_dir: bool = False) -> str | None: ...

class _ColumnInfo(TypedDict):
    name: str
    label: str
    type: str
    role: Literal["key", "measure", "detail"]
    sentence: str
    unit: str | None

class Column:
    name: str
    type: str
    role: str
    sentence: str
    unit: str | None
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> _Value: ...
    @overload
    def __getitem__(self, index: slice) -> list[_Value]: ...
    def __iter__(self) -> Iterator[_Value]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]: ...
    def to_list(self) -> list[_Value]: ...
    def to_numpy(self) -> numpy.ndarray[Any, Any]: ...

class Table:
    @property
    def title(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def bar(self) -> str | None: ...
    @property
    def n_hidden(self) -> int: ...
    @property
    def check_failed(self) -> bool: ...
    @property
    def says_no(self) -> bool: ...
    def info(self, column: str | int) -> _ColumnInfo: ...
    def labels(self, n_rows: int | None = None) -> list[str]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, _Value]]: ...
    @overload
    def __getitem__(self, key: str) -> Column: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, _Value]: ...
    @overload
    def __getitem__(self, key: slice) -> list[dict[str, _Value]]: ...
    def __contains__(self, name: object) -> bool: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def render(
        self,
        format: Literal["text", "csv", "json", "ndjson", "md", "html", "folded", "arrow", "feather"],
        *,
        color: bool = False,
        bars: bool = False,
        wide: bool = False,
        width: int = 0,
        no_title: bool = False,
        safe_csv: bool = False,
    ) -> str | bytes: ...
    def to_dict(self) -> dict[str, list[_Value]]: ...
    def to_csv(
        self, path: str | os.PathLike[str] | IO[str] | None = None, *, safe_csv: bool = False
    ) -> str | None: ...
    def to_pandas(self, *, categorical: bool = False, copy: bool = True) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def plot(self, y: str | None = None, *, top: int = 30, roofs: Table | None = None) -> plotly.graph_objects.Figure: ...

def open(
    sources: _Sources,
    *,
    recursive: bool = False,
    strict: bool = False,
    cache: bool | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    memory_limit: int | None = None,
    kernel_rules: str | os.PathLike[str] | None = None,
    progress: _Progress = None,
    verify_cache: bool = False,
    prefer_db: bool = False,
    partial: bool = False,
    attach: _Sources | None = None,
    executor: Executor | list[Executor] | tuple[Executor, ...] | None = None,
    shares: int | None = None,
) -> Session: ...
def serve(
    logdir: _Sources,
    *,
    port: int | None = None,
    height: int = 900,
    path_prefix: str | None = None,
) -> Server: ...
def history(
    store: _Path,
    *,
    add: Session | _Sources | None = None,
    label: str | None = None,
    file: _Path | None = None,
    view: Literal["changes", "series", "latest"] = "changes",
    path: str | None = None,
    since: str | None = None,
    max_pvalue: float = 0.001,
    min_change: float = 0.0,
    window: int = 50,
    columns: str | Iterable[str] | None = None,
    where: str | None = None,
    sort: str | Iterable[str] | None = None,
    top: int = 0,
) -> Table: ...
def diff(baseline: Session | _Sources, run: Session | _Sources, **arguments: Any) -> Table: ...

_Run = Session | _Path

def gate(base: _Run | list[_Run], test: _Run | list[_Run], **arguments: Any) -> Table: ...
def et_nodes(et: _Path | list[_Path], **arguments: Any) -> Table: ...
def et_check(et: _Path | list[_Path], kineto: Session | _Sources | None = None, **arguments: Any) -> Table: ...
def et_link(et: _Path | list[_Path], kineto: Session | _Sources, **arguments: Any) -> Table: ...

class Report:
    about: str
    tables: dict[str, Table]
    empty: list[str]
    problems: dict[str, str]
    def __getitem__(self, name: str) -> Table: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def to_html(self, title: str = "Holotrace report") -> str: ...
    def to_markdown(self) -> str: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...

class Server:
    height: int
    @property
    def url(self) -> str | None: ...
    @property
    def port(self) -> int: ...
    def stop(self) -> None: ...
    def __enter__(self) -> Server: ...
    def __exit__(self, *_: object) -> None: ...

class Session:
    @property
    def ranks(self) -> list[int]: ...
    @property
    def paths(self) -> dict[int, str]: ...
    @property
    def n_events(self) -> dict[int, int]: ...
    @property
    def loss_note(self) -> str | None: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Session: ...
    def __exit__(self, *unused: object) -> None: ...
    def run(
        self,
        name: str,
        other: Session | Iterable[Session] | None = None,
        *,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
        **arguments: Any,
    ) -> Table: ...
    def sql(
        self,
        query: str,
        params: Mapping[str, _Value] | None = None,
        *,
        base: Session | None = None,
        timeout: float = 0,
        max_rows: int = 0,
    ) -> Table: ...
    def export(
        self,
        folder: str | os.PathLike[str],
        *,
        tables: str | Iterable[str] | None = None,
        format: Literal["arrow", "parquet"] = "arrow",
        rows_a_file: int = 0,
    ) -> None: ...
    def report(self, path: str | os.PathLike[str] | None = None, *, top: int = 10) -> Report: ...
    def serve(self, port: int | None = None) -> Server: ...
    def convert(
        self,
        path: str | os.PathLike[str],
        *,
        ranks: int | str | Iterable[int] | None = None,
        steps: int | str | Iterable[int] | None = None,
        categories: str | Iterable[str] | None = None,
        threads: str | Iterable[str] | None = None,
        from_ns: int | str | None = None,
        to_ns: int | str | None = None,
        document: int | str | None = None,
        merge: bool = False,
        with_counters: bool = False,
        overlay: Literal["critical-path", "kernel-sequences"] | None = None,
        overlay_args: Mapping[str, Any] | None = None,
    ) -> None: ...
    def summary(
        self,
        *,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How long is a step, what bounds it, and what should be looked at first?

        Conclusions from steps, temporal-breakdown, idle-breakdown, critical-path and stragglers, each with the events behind it.

            holotrace.open("traces/").summary(top=10)

        Arguments:
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            topic: what the line is about
            finding: what was found
            evidence [events]: events behind it, each as rank:event
            next: verb and options that show more
            value_ns [ns]: value where its unit is ns: of a step; of lists, of the first in all
            share [ratio]: share of the whole that denominator names
            upper_bound_ns [ns]: upper bound on savings per step
            kind: what the finding is, the same in every language
            state: found, none or unknown
            reason: why it is unknown, or which form of it was found
            subject_kind: what the subject is: rank, device, kernel, operator, module, group or cause
            subject: what the finding is about
            value: the number that it is about, in unit
            unit: of value: ns, bytes, count or ratio
            denominator: what the share is of
            denominator_rank: rank whose whole that is; null: all ranks
            upper_bound_share [ratio]: upper bound on savings over the mean step time
            confidence [ratio]: how much of the evidence is measured, not inferred; null: all of it
            evidence_rank: rank of the first event
            evidence_event: the first event, a row of that rank
            next_verb: verb of next
            next_args: options of next, a JSON object
            heading: the finding as a heading
            detail: what the finding says beyond its heading
            values: further values and lists of it, a JSON object
            saves_ns [ns]: upper_bound_ns under its former name
        """
        ...
    def advice(
        self,
        *,
        view: Literal['fired', 'rules'] = 'fired',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What could be done to make a step shorter, and what would that save?

        Checks with thresholds over what was measured; each finding shows its events and an upper bound on savings per step.

            holotrace.open("traces/").advice(top=10)

        Arguments:
            view: checks that found something, or all with why they did not (fired, rules)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rule: name of the check
            finding: what it found, or why it found nothing
            advice: what could be done
            evidence [events]: events behind it, each as rank:event
            next: verb and options that show more
            value_ns [ns]: value where its unit is ns: of a step; of lists, of the first in all
            share [ratio]: share of the whole that denominator names
            upper_bound_ns [ns]: upper bound on savings per step
            kind: what the finding is, the same in every language
            state: found, none or unknown
            reason: why it is unknown, or which form of it was found
            subject_kind: what the subject is: rank, device, kernel, operator, module, group or cause
            subject: what the finding is about
            value: the number that it is about, in unit
            unit: of value: ns, bytes, count or ratio
            denominator: what the share is of
            denominator_rank: rank whose whole that is; null: all ranks
            upper_bound_share [ratio]: upper bound on savings over the mean step time
            confidence [ratio]: how much of the evidence is measured, not inferred; null: all of it
            evidence_rank: rank of the first event
            evidence_event: the first event, a row of that rank
            next_verb: verb of next
            next_args: options of next, a JSON object
            heading: the finding as a heading
            detail: what the finding says beyond its heading
            values: further values and lists of it, a JSON object
            cost_ns [ns]: upper_bound_ns under its former name
            rank: rank where it does most
        """
        ...
    def health(
        self,
        *,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What could not be read, what was repaired, and which results does that weaken?

        Counters raised while reading, and checks of each trace against itself and the others.

            holotrace.open("traces/").health(top=10)

        Arguments:
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            check: name of the counter
            severity: info, notice, repair (not stored as written) or data loss
            count: how often it was met
            first_offset: byte offset of the first one in the decompressed file; absent when not tied to a place
            sentence: what was met and what was done about it
            weakens: which results to read with care
        """
        ...
    def info(
        self,
        *,
        view: Literal['facts', 'runs'] = 'facts',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which ranks, devices, versions, capture options, events, steps and streams are in the files?

        Facts from the files' headers and counts over their events.

            holotrace.open("traces/").info(top=10)

        Arguments:
            view: a fact per row, or the tree of runs, workers and spans (facts, runs)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            topic: what kind of fact it is
            item: what the fact is about
            value: the fact, with its unit
        """
        ...
    def tables(
        self,
        *,
        view: Literal['list', 'cells'] = 'list',
        table: str | Iterable[str] | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which tables came with the traces, and what do they say?

        Tables of the exporter that are no events, as they are in its files.

            holotrace.open("traces/").tables(top=10)

        Arguments:
            view: which tables there are, or their values (list, cells)
            table: only the table of this name
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            table: name of the table: its file without the ending
            rows: rows of it
            columns: columns of it
            names: names of the columns
        """
        ...
    def events(
        self,
        *,
        ancestors_of: int | None = None,
        descendants_of: int | None = None,
        kernels_under: str | Iterable[str] | None = None,
        et: str | Iterable[str] | None = None,
        leaves: bool = False,
        from_: int | str | None = None,
        only: Literal['all', 'gpu', 'host'] = 'all',
        to: int | str | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which events are behind a number?

        The events as read, one per row, in file order unless sorted.

            holotrace.open("traces/").events(top=10)

        Arguments:
            ancestors_of: only the events around this index on the call tree
            descendants_of: only the events inside this index on the call tree
            kernels_under: only GPU activity launched inside this index, or operator name
            et: execution traces for columns et.node, et.op_schema, ...: files, folders or RANK=FILE, one per line
            leaves: only spans that enclose no other span
            from_: only events that end at this time of the file's clock or later
            only: only rows of the GPU's timelines, or only those of the host (all, gpu, host)
            to: only events that start at this time of the file's clock or earlier
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            index: position in the file's traceEvents, from 0
            ts_ns [ns]: start as in the file, base time not added
            dur_ns [ns]: duration as in the file; absent when the file has none
            ph: phase: X span, i instant, C counter, M metadata, s t f flow, B E b n e
            cat: category as in the file
            name: name
            pid: process id or name; device index for GPU activity
            tid: thread id or name; stream for GPU activity
            device: device of GPU activity
            stream: stream argument
            correlation: correlation id that launch and GPU activity share
        """
        ...
    def counters(
        self,
        *,
        view: Literal['summary', 'series'] = 'summary',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What do the counters of the traces say over time: bandwidth, clocks, memory?

        One series per number in the args of counter events of one name and process; a sample holds until the next. time_mean is weighted by time.

            holotrace.open("traces/").counters(top=10)

        Arguments:
            view: statistics per series, or every sample (summary, series)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            process: process of the counter, as in the file
            counter: name of the counter events
            series: which number of their args
            value_unit: what their names have in brackets at the end; null: nothing
            count: samples
            min: smallest sample, in value_unit
            time_mean: mean weighted by time, in value_unit; null: one moment only
            max: largest sample, in value_unit
            max_ts_ns [ns]: time of the first of those
        """
        ...
    def steps(
        self,
        *,
        view: Literal['steps', 'mean', 'gpu'] = 'steps',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What does the time of a step go to, and how well is the GPU used?

        Step time runs from the completion of the step before to its own; completion is the later of the end of its host span and of its last activity. The breakdown is of total_ns, as TensorBoard has it: each moment goes to the first of kernel, memcpy, memset, communication, runtime call, data loader, other operators, nothing.

            holotrace.open("traces/").steps(top=10)

        Arguments:
            view: each step, the mean step of each rank, or how GPUs were used (steps, mean, gpu)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            step: profiler step; 0 for a trace without steps, null outside steps (step="all")
            step_time_ns [ns]: from the completion of the step before to its own; the first one from its start, or from the end of GPU activity of before that it waits for
            latency_ns [ns]: from its start to its completion
            total_ns [ns]: from its start or the end of the one before, the later, to its last GPU activity
            kernel_ns [ns]: time with a kernel that computes
            memcpy_ns [ns]: time with a copy and none of the above
            memset_ns [ns]: time with a fill and none of the above
            exposed_ns [ns]: time with communication and none of the above
            runtime_ns [ns]: time with a runtime or driver call and none of the above
            dataloader_ns [ns]: time in a data loader and none of the above
            cpu_exec_ns [ns]: time in another operator or annotation and none of the above
            other_ns [ns]: time with nothing of the above
            kernel_share [ratio]: kernel_ns over total_ns
            n_work: GPU activities that belong to the step
            part: first: no step before it tells when it began; cut: not recorded whole; outside steps: the rest of the trace
        """
        ...
    def step_changes(
        self,
        *,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Do steps get longer while the run goes on, at once, bit by bit, or every k-th?

        Change points of step time (Hunter) and, per rank, of GPU activity less the median of all ranks; the median slope; steps that stand out at even distances.

            holotrace.open("traces/").step_changes(top=10)

        Arguments:
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            change: level, trend or period
            what: step time of the job, or GPU activity of a rank
            rank: rank; null for the job
            step: first step of the new level, or of the period
            every: of a period: steps from one to the next
            before_ns [ns]: mean of the level before; of a trend at its start, of a period the median of other steps
            after_ns [ns]: mean of the new level; of a trend at its end, of a period the mean of its steps
            change_share [ratio]: after over before, less 1
            p_value: of a level: chance that it is none, by Student's t
            steps: steps that were looked at
        """
        ...
    def operators(
        self,
        *,
        by: Literal['name', 'shape', 'stack', 'shape-stack'] = 'name',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which operators take the time, on the host and on the device?

        Times of operators summed over calls: total with and self without what is inside; device times are the GPU activity that was launched there. Largest device_self_ns first, host_self_ns when there is no GPU activity.

            holotrace.open("traces/").operators(top=10)

        Arguments:
            by: one row per name; name and input shapes; name and call stack; or all three (name, shape, stack, shape-stack)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            name: operator
            calls: events
            device_self_ns [ns]: GPU activity that it launched itself
            device_total_ns [ns]: GPU activity launched from inside it
            host_self_ns [ns]: its time without operators and runtime calls inside
            host_total_ns [ns]: its time
            tc_eligible: it, or an operator inside it, can run on tensor cores, or did
            tc_self_pct [%]: share of device_self_ns known to be on tensor cores, 0 without any
            tc_total_pct [%]: share of device_total_ns known to be on tensor cores, 0 without any
            device_share [ratio]: device_self_ns over that of all rows
            host_share [ratio]: host_self_ns over that of all rows
        """
        ...
    def kernels(
        self,
        *,
        by: Literal['name', 'properties', 'stream', 'core', 'type', 'shape', 'counters'] = 'name',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which kernels take the device's time, and how well do they fill it?

        Durations of single kernels by name, or by name, operator and launch properties; estimates of blocks per SM and occupancy are weighted by duration. Largest total_ns first.

            holotrace.open("traces/").kernels(top=10)

        Arguments:
            by: one row per name; name, launching operator and launch properties; name and stream; core; type; type and shapes of inputs; or name and recorded number (name, properties, stream, core, type, shape, counters)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            name: kernel
            tensor_cores: whether it runs on tensor cores, by its name or the types of its operator; null when neither tells
            calls: kernels
            total_ns [ns]: sum of their durations
            mean_ns [ns]: mean duration
            max_ns [ns]: longest
            min_ns [ns]: shortest
            mean_blocks_per_sm: blocks per SM, weighted by duration; null when no kernel says
            mean_occupancy_pct [%]: estimated achieved occupancy, weighted by duration; null when no kernel says
            share [ratio]: total_ns over that of all rows
        """
        ...
    def efficiency(
        self,
        *,
        view: Literal['groups', 'totals', 'unmodelled', 'roofs'] = 'groups',
        by: Literal['op', 'shape', 'module', 'step', 'rank', 'dtype', 'kernel'] = 'op',
        causal: Literal['exact', 'half', 'full'] = 'exact',
        device_spec: str | Iterable[str] | None = None,
        model: str | Iterable[str] | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How close do operators come to what the device can do, and what could they save?

        FLOPs and bytes from the recorded shapes, against the dense peaks of the device; GPU time is the union of the activities that a call launched. Largest could_save_ns first, then excess_ns and gpu_ns.

            holotrace.open("traces/").efficiency(top=10)

        Arguments:
            view: rows by what by= says, utilisation of steps, what has no formula, or the peaks that are used (groups, totals, unmodelled, roofs)
            by: what makes a row (op, shape, module, step, rank, dtype, kernel)
            causal: pairs that causal attention counts: those below the diagonal, half of all, or all (exact, half, full)
            device_spec: peaks of a device: name=X,bf16=TFLOP/s,hbm=GB/s, also fp64, fp32, tf32, fp16, fp8, fp4, int8, cube (bf16 and fp16), vector, fabric
            model: totals: MFU by PaLM's definition, of n=parameters,layers=,heads=,head=size,seq=length and tokens=per rank and step, which is counted where there is an embedding
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            key: operator, operator and shapes, module, step, type, or longest kernel; null: none
            calls: calls that launched GPU activity
            gpu_ns [ns]: GPU time: union of the activities of a call, summed over calls
            flops [FLOP]: floating-point operations of GEMM, convolution and attention; a multiply-add is two
            bytes [bytes]: compulsory memory traffic: inputs read and results written once
            intensity [FLOP/byte]: flops over bytes
            dtype: type that most of the time computes with
            bound: what limits most of the time at best: compute, memory, latency, link
            ideal_ns [ns]: least time at the peaks of the device, of the calls that have one
            efficiency [ratio]: ideal_ns over the GPU time of those calls
            could_save_ns [ns]: of excess_ns, what the steps would be shorter by: an upper bound, by the what-if of the critical path
            method: how flops and bytes are known: formula, interval (lower bounds are shown), or why not
            vector_flops [FLOP]: operations of elementwise, norm and reduction work, outside of flops, HFU and MFU
            excess_ns [ns]: GPU time above what well-tuned kernels attain
            flops_max [FLOP]: upper bound of flops
            bytes_max [bytes]: upper bound of bytes
            modelled_ns [ns]: GPU time of the calls that have a formula
            flops_per_s [FLOP/s]: flops over modelled_ns
            above_peak: efficiency above 105 %: remark has the likely reason
            ceiling [ratio]: best efficiency of a call of this run with the same bound and type
            wave_loss [ratio]: of the time of its kernels, block slots that are empty in the last wave, or SMs without a block
            misaligned_ns [ns]: GPU time of products on Tensor Cores with rows of no multiple of 16 bytes
            cube_ratio [ratio]: of the time of its kernels, the Cube unit of an NPU works, by the vendor's PMU
            vector_ratio [ratio]: of the time of its kernels, the Vector unit of an NPU works, by the vendor's PMU
            remark: why efficiency is above the peak, most likely
            event: longest activity
        """
        ...
    def modules(
        self,
        *,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which modules of the model take the time, forward and backward?

        Times of module calls by path, total with and self without what is inside; GPU activity by where it was launched, of the backward pass by the forward operator. In the order of the model.

            holotrace.open("traces/").modules(top=10)

        Arguments:
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            path: the modules around it and itself, / between
            calls: calls of the module
            operators: operators that it called itself
            host_self_ns [ns]: time of its calls without modules, operators and runtime calls inside
            host_total_ns [ns]: time of its calls
            device_self_ns [ns]: GPU activity launched inside, but not inside a module inside
            device_total_ns [ns]: GPU activity launched inside
            backward_host_self_ns [ns]: time of the operators of its own backward pass
            backward_host_total_ns [ns]: with those of the modules inside
            backward_device_self_ns [ns]: GPU activity of its own backward pass
            backward_device_total_ns [ns]: with that of the modules inside
            device_share [ratio]: its own GPU activity, forward and backward, of that of all modules
            name: module
            depth: 1 for a module inside no other
        """
        ...
    def stacks(
        self,
        *,
        time: Literal['host', 'device'] = 'host',
        all_rows: bool = False,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which stacks of Python functions and operators is the time spent in?

        Time of GPU activity under the events around its launch, or own time of host events under those around them; equal stacks are one row. format= folded writes the lines that flame graph programs read. Largest self_ns first.

            holotrace.open("traces/").stacks(top=10)

        Arguments:
            time: time of the host, or of GPU activity by where it was launched (host, device)
            all_rows: show every stack, not only the 65,536 with most time
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            stack: names from the outermost in, ; between; others: stacks beyond the 65,536 with most time
            self_ns [ns]: time in this stack and in none inside it
            count: events, or GPU activities
            share [ratio]: self_ns of that of all stacks
        """
        ...
    def call_tree(
        self,
        *,
        host_cat: str | Iterable[str] | None = None,
        device_cat: str | Iterable[str] | None = None,
        monitor_cat: str = 'python_function',
        preset: Literal['default', 'all'] = 'default',
        max_depth: int = 1024,
        min_depth: int = -1,
        modules_only: bool = False,
        any_thread: bool = False,
        aggregate: bool = False,
        follow_fwdbwd: bool = False,
        with_args: bool = False,
        lists: bool = True,
        cells: Literal['json', 'python'] = 'json',
        sep: str = '$$',
        whole: bool = False,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which call on the host started which device activity, call by call?

        One row per monitored event with the path of calls around it; launches inside it on its thread and the device activity with their correlation, counted whole. Inclusive: do not add up rows of different depth.

            holotrace.open("traces/").call_tree(top=10)

        Arguments:
            host_cat: categories of launches, separated by commas (default: cuda_runtime, on NPUs CANN)
            device_cat: categories of device activity, separated by commas (default: kernel, on NPUs their kernels)
            monitor_cat: categories of the events to list
            preset: all: host_cat cuda_runtime,cuda_driver,xpu_runtime and device_cat kernel,gpu_memcpy,gpu_memset (default, all)
            max_depth: rows up to this depth; -1: no limit
            min_depth: rows from this depth on; -1: no limit
            modules_only: only events whose name starts with nn.Module
            any_thread: launches count in events of all threads
            aggregate: one row for all events with the same path
            follow_fwdbwd: also list the backward pass under its forward operator, as $$[backward]
            with_args: with the args of each event
            lists: with the lists of launches and device activity
            cells: how lists are written (json, python)
            sep: what joins the names of a path
            whole: paths and lists whole, however long they are together
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            name: path from the outermost monitored event, joined by sep
            host_ns [ns]: duration of the event
            device_ns [ns]: durations of the device activity launched inside, whole
            launch_ns [ns]: durations of the launches inside
            cuda_runtime: the launches inside, with their durations in ms
            kernels: the device activity, with its durations in ms
            kernel_infos: the device activity, with its args
            rank: rank of the trace
            depth: 1 for an event inside no other
            thread: pid/tid
            event: the event, the first of several
            n_work: device activities
            calls: events in this row: more than 1 with aggregate
            args: args of the event, with with_args
        """
        ...
    def temporal_breakdown(
        self,
        *,
        by: Literal['rank', 'step'] = 'rank',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How much of the GPU's time is idle, computing, or spent on anything else?

        Per device. Span is first start to last end of the chosen GPU activity, idle is when nothing at all runs on the device, compute is the union of compute kernels, non-compute is the rest of the busy time; its parts count only what no earlier class hides.

            holotrace.open("traces/").temporal_breakdown(top=10)

        Answers what get_temporal_breakdown of HTA answers.

        Arguments:
            by: one row per rank, or per rank and step (rank, step)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            device: GPU index; null when the file does not say
            step: profiler step that launched the work; null for all of it
            span_ns [ns]: first start to last end of GPU activity
            idle_ns [ns]: time inside the span with nothing on the GPU
            outside_ns [ns]: time inside the span with only work of steps that were not chosen
            leading_ns [ns]: idle time before the first launch call in the file
            compute_ns [ns]: time with a compute kernel running
            non_compute_ns [ns]: busy time without a compute kernel
            exposed_ns [ns]: communication that no compute kernel hides
            exposed_wait_ns [ns]: of that, waiting for a rank; null unless all ranks are there
            exposed_transfer_ns [ns]: of that, the rest: data can move; null unless all ranks are there
            memcpy_ns [ns]: copies that neither compute nor communication hides
            memset_ns [ns]: fills that nothing of the above hides
            other_ns [ns]: kernels that only synchronise or control, alone on the GPU
            idle_share [ratio]: idle over span
            compute_share [ratio]: compute over span
            non_compute_share [ratio]: non-compute over span
            exposed_share [ratio]: exposed communication over span
            memory_share [ratio]: exposed memcpy and memset over span
            n_work: kernels, memcpy and memset
        """
        ...
    def gpu_use(
        self,
        *,
        view: Literal['summary', 'series'] = 'summary',
        bucket: int | str | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How busy is each GPU over time, and when is it not?

        Busy share of buckets of time: the union of all that runs on the device over the length of the bucket.

            holotrace.open("traces/").gpu_use(top=10)

        Arguments:
            view: one row per device, or one per bucket of time (summary, series)
            bucket: length of a bucket; by default a round one, so that there are at most 1000
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            device: GPU index; null when unknown
            span_ns [ns]: from the first start to the last end of the chosen GPU activity
            busy_share [ratio]: of that time, with anything running on the device
            compute_share [ratio]: of that time, with a chosen compute kernel
            bucket_ns [ns]: length of a bucket
            buckets: how many there are
            min_share [ratio]: busy share of the least busy bucket
            min_ts_ns [ns]: start of the first such one
            p50_share [ratio]: median of the buckets' busy shares
            max_share [ratio]: busy share of the busiest bucket
        """
        ...
    def attribution(
        self,
        *,
        view: Literal['methods', 'origins', 'lines', 'graphs', 'compile', 'compile-timeline'] = 'methods',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How much of the GPU time belongs to a known operator, module and line, and how is that known?

        Every kernel, memcpy and memset has one method. op: an operator launched it. triton-op: a generated kernel. Kernels of graph launches are read against what is attached: a capture trace (graph-capture, by names, or by position with a check of every position) or an eager run of the same code (graph-eager). name-rule: only the name says what it computes. Times are summed, so methods add up to the summed GPU time.

            holotrace.open("traces/").attribution(top=10)

        Arguments:
            view: GPU time by method, by kernel and origin, by line of code, kinds of graph launches, graphs of torch.compile, or what it did when (methods, origins, lines, graphs, compile, compile-timeline)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            method: how the origin is known: op, triton-op, graph-annotation, graph-capture, graph-eager, graph-inductor, name-rule, none
            confidence [ratio]: 1: proven by ids or names; of a join by position, share of positions that fit; 0: only the name is known, or nothing
            kernels: GPU activities: kernels, memcpy, memset
            gpu_ns [ns]: their summed time
            share [ratio]: of the summed GPU time of the rank
            via: of generated kernels, where their operators are known from: provenance, code (comments of the generated code), name
        """
        ...
    def iterations(
        self,
        *,
        view: Literal['phases', 'list'] = 'phases',
        kv_bytes_per_token: int = 0,
        device_spec: str | Iterable[str] | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How fast are prefill and decode, and does the GPU wait between iterations?

        Iterations are the annotations of vLLM (execute_...), SGLang (step[...]) and ATOM (prefill[...], decode[...]). Wall time is from start to next start; GPU time is what an iteration launched, whenever it ran, because scheduling runs ahead; gap is GPU idle time between the work of two iterations. p50 and p99 are those of single iterations.

            holotrace.open("traces/").iterations(top=10)

        Arguments:
            view: sums by phase, or a row per iteration (phases, list)
            kv_bytes_per_token: bytes of the KV entry of a token over all layers: 2 x layers x KV heads x head size x bytes of an element; 0: what attached rules say, or the shapes of operators that write the cache
            device_spec: what the device can do, as efficiency takes it: hbm=3350
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            phase: prefill, decode, mixed or other
            iterations: iterations of the phase
            requests: requests handled, summed over iterations
            tokens: tokens scheduled
            wall_ns [ns]: from the start of each iteration to that of the next one, summed
            gpu_ns [ns]: summed time of the GPU activities that they launched
            gap_ns [ns]: GPU idle between the work of the iteration before and theirs
            tokens_per_s: tokens over wall time
            p50_ns [ns]: median wall time of an iteration; of decode, time per output token
            p99_ns [ns]: 99th percentile of it
            batch_fill [ratio]: requests over the padded batch size, where annotations say both
            kv_tokens: KV entries that decoding requests read, summed over iterations
            steady_iterations: longest run of decode iterations whose batch stays within 10 % of the median, the first 10 % left out
            steady_tokens_per_s: tokens over wall time in it
            steady_p50_ns [ns]: median wall time of its iterations
            steady_p99_ns [ns]: 99th percentile of it
            kv_bytes [bytes]: KV entries read x bytes of one; null where the size of one is not known
            kv_bytes_per_s: of them, per second of the phase's GPU time
            kv_bandwidth_share [ratio]: of the peak memory bandwidth of the device; null where that is not known
            kv_entry_bytes [bytes]: KV entry of one token over all layers of the rank
            kv_from: how the entry is known: given (kv_bytes_per_token), rules (attached), shapes (of operators that write the cache)
        """
        ...
    def kernel_types(
        self,
        *,
        by: Literal['all', 'rank'] = 'all',
        include_memory: bool = True,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What kinds of work fill the GPU's busy time, and what runs at the same time?

        Every moment of busy time is labelled with the types active in it (compute, communication, memory, other); labels exclude each other and add up to the busy time of the devices. Longest first, then in the order of the types.

            holotrace.open("traces/").kernel_types(top=10)

        Answers what get_gpu_kernel_breakdown of HTA answers.

        Arguments:
            by: sum over ranks, or one group of rows per rank (all, rank)
            include_memory: count memcpy and memset as memory; False leaves them out
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace; null for all ranks together
            kernel_type: the types of GPU activity active at the same time: compute, communication, memory, other
            sum_ns [ns]: time in which exactly these types were active
            share [ratio]: of the time in which any type was active
        """
        ...
    def kernel_breakdown(
        self,
        *,
        by: Literal['rank', 'all'] = 'rank',
        num_kernels: int = 10,
        duration_ratio: float = 0.8,
        ratio_of: Literal['names', 'time'] = 'names',
        include_memory: bool = True,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which kernels take the time, and is it even over ranks?

        Durations of GPU activity by type and full name. With more than num_kernels names at most the num_kernels longest stay, duration_ratio may leave fewer, and the rest is pooled as others. Largest sum first over all types and ranks, then rank, type and name; others last.

            holotrace.open("traces/").kernel_breakdown(top=10)

        Answers what get_gpu_kernel_breakdown of HTA answers.

        Arguments:
            by: rows per rank, or all ranks pooled with their spread (rank, all)
            num_kernels: names to show per type (and rank); 0: as many as duration_ratio asks for
            duration_ratio: how much the shown names cover when some are folded
            ratio_of: duration_ratio is a quantile over names as in HTA, or a share of time (names, time)
            include_memory: show memcpy and memset too; False leaves them out
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            kernel_type: compute, communication, memory or other; HTA's words with hta_compat
            name: full name, or others for all names that were folded
            count: events
            sum_ns [ns]: sum of their durations
            share [ratio]: of the summed GPU time of the rank
            mean_ns [ns]: mean duration
            std_ns [ns]: standard deviation, null for one event
            min_ns [ns]: shortest event
            max_ns [ns]: longest event
            n_names: names in this row: more than 1 for others
        """
        ...
    def annotation_breakdown(
        self,
        *,
        view: Literal['annotations', 'origins'] = 'annotations',
        source: Literal['gpu', 'cpu'] = 'gpu',
        num_kernels: int = 1000,
        duration_ratio: float = 0.8,
        ratio_of: Literal['names', 'time'] = 'names',
        allowlist: str | Iterable[str] | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How long did each user annotation take, on the GPU or on the host?

        Durations of user annotations by name. On the GPU an annotation lasts from the first to the last kernel launched inside it, per stream. By rank, sum descending, name; others last. Origins: GPU activity by the innermost annotation around its launch, each activity once.

            holotrace.open("traces/").annotation_breakdown(top=10)

        Answers what get_gpu_user_annotation_breakdown of HTA answers.

        Arguments:
            view: durations of annotations, or their GPU activity by operator, module and line (annotations, origins)
            source: annotations on the GPU or on the host (gpu, cpu)
            num_kernels: names to show per rank; 0: as many as duration_ratio asks for
            duration_ratio: how much the shown names cover when some are folded
            ratio_of: duration_ratio is a quantile over names as in HTA, or a share of time (names, time)
            allowlist: names that match this regular expression are never folded
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            name: annotation, or others for all names that were folded
            count: occurrences
            sum_ns [ns]: sum of their durations
            mean_ns [ns]: mean duration
            std_ns [ns]: standard deviation, null for one
            min_ns [ns]: shortest occurrence
            max_ns [ns]: longest occurrence
            n_names: names in this row: more than 1 for others
        """
        ...
    def kernel_annotations(
        self,
        *,
        group_by: Literal['annotation', 'stack', 'name', 'none'] = 'annotation',
        source: Literal['host', 'gpu'] = 'host',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which user annotation does each kernel belong to?

        GPU activity belongs to the annotations that are open where its launch starts: on that thread, or on the one that waits for its backward pass; work without a launch in the file to those of its stream that it starts in. Sums by annotation, longest first; single pieces by rank and start.

            holotrace.open("traces/").kernel_annotations(top=10)

        Answers what get_gpu_kernels_with_user_annotations of HTA answers.

        Arguments:
            group_by: sums per annotation, stack, or annotation and name; none: one row per piece of work (annotation, stack, name, none)
            source: annotations around the launch, or those drawn on the GPU (host, gpu)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            annotation: innermost annotation, null when there is none
            count: GPU activities in the row
            dur_ns [ns]: sum of their durations
            share [ratio]: of the summed GPU time of the rank
        """
        ...
    def idle_breakdown(
        self,
        *,
        threshold: int | str = '30us',
        streams: str | Iterable[str] | None = None,
        by: Literal['stream', 'device'] = 'stream',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What did each stream wait for while it was idle?

        The gap before a GPU activity is host_wait until its launch starts; the rest is kernel_wait when shorter than threshold, else communication_wait while communication runs on another stream, and other; before the first recorded launch it is leading, which is also shown for the device as a whole. By rank, device, stream, category.

            holotrace.open("traces/").idle_breakdown(top=10)

        Answers what get_idle_time_breakdown of HTA answers.

        Arguments:
            threshold: a launched gap shorter than this is kernel_wait
            streams: streams to look at: 7,16-18
            by: one group of rows per stream, or per device (stream, device)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            device: GPU index, null when the file does not say
            stream: stream; null by device
            idle_category: host_wait, kernel_wait, communication_wait, other or leading
            count: gaps, or parts of gaps
            idle_ns [ns]: their total length
            idle_share [ratio]: of the stream's idle time
            span_share [ratio]: of the stream's first start to last end
        """
        ...
    def idle_intervals(
        self,
        *,
        threshold: int | str = '30us',
        streams: str | Iterable[str] | None = None,
        by: Literal['stream', 'device'] = 'stream',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How long are the idle gaps of each stream?

        Count, mean, deviation and quartiles of the gaps that idle-breakdown adds up. By rank, device, stream, category.

            holotrace.open("traces/").idle_intervals(top=10)

        Answers what get_idle_time_breakdown of HTA answers.

        Arguments:
            threshold: a launched gap shorter than this is kernel_wait
            streams: streams to look at: 7,16-18
            by: one group of rows per stream, or per device (stream, device)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            device: GPU index, null when the file does not say
            stream: stream; null by device
            idle_category: host_wait, kernel_wait, communication_wait, other or leading
            count: gaps, or parts of gaps
            mean_ns [ns]: mean length
            std_ns [ns]: standard deviation, null for one gap
            min_ns [ns]: shortest gap
            p25_ns [ns]: a quarter of the gaps are at most this long
            p50_ns [ns]: median
            p75_ns [ns]: three quarters are at most this long
            max_ns [ns]: longest gap
        """
        ...
    def comm_overlap(
        self,
        *,
        by: Literal['rank', 'group', 'collective'] = 'rank',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How much communication is hidden behind computation, and how much is exposed?

        Overlap is the part of the union of communication kernels during which a compute kernel runs on the rank; the rest is exposed: waiting until the last rank has arrived, and transfer. By rank, communication descending, group, collective.

            holotrace.open("traces/").comm_overlap(top=10)

        Answers what get_comm_comp_overlap of HTA answers.

        Arguments:
            by: rows per rank, per process group, or per collective (rank, group, collective)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            device: GPU index; null when the file does not say
            group: process group; null by rank or when the file does not say
            collective: collective, or short kernel name; null by rank and group
            count: communication kernels
            communication_ns [ns]: time with such a kernel running
            compute_ns [ns]: time with a compute kernel running on the device
            overlap_ns [ns]: communication while a compute kernel runs
            exposed_ns [ns]: communication while no compute kernel runs
            exposed_wait_ns [ns]: exposed while all such kernels wait for a rank; null unless all ranks are there
            exposed_transfer_ns [ns]: the rest of exposed: data can move; null unless all ranks are there
            overlap_share [ratio]: overlap over communication; null without any
        """
        ...
    def queue_length(
        self,
        *,
        view: Literal['summary', 'series'] = 'summary',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How much launched work waits on each stream, and does the GPU run dry?

        Length = launch calls started minus GPU activity started, per stream, of all work in the trace; a graph launch counts each of its kernels. Statistics are over the change points; time_mean and empty_share are weighted by time.

            holotrace.open("traces/").queue_length(top=10)

        Answers what get_queue_length_time_series, get_queue_length_summary of HTA answers.

        Arguments:
            view: statistics per stream, or every change point (summary, series)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            device: GPU index; null when unknown or with hta_compat
            stream: stream on the GPU
            count: change points of the length
            mean: mean length over the change points
            std: standard deviation over the change points (n - 1)
            min: smallest length
            p25: first quartile over the change points
            p50: median over the change points
            p75: third quartile over the change points
            max: largest length
            time_mean: mean length weighted by time
            empty_share [ratio]: share of the time from first to last point with an empty queue
        """
        ...
    def queue_blocked(
        self,
        *,
        max_queue_length: int | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Does the host block because a stream's launch queue is full?

        Sum of the time between change points with a queue length of at least the limit, per stream, over the duration of the trace. The limit is where the length stays while launch calls wait, else 1024.

            holotrace.open("traces/").queue_blocked(top=10)

        Answers what get_time_spent_blocked_on_full_queue of HTA answers.

        Arguments:
            max_queue_length: length from which the queue counts as full; by default found from the data, else 1024
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            device: GPU index; null when unknown or with hta_compat
            stream: stream on the GPU
            blocked_ns [ns]: time with the queue at or above the limit
            blocked_share [ratio]: that time over the duration of the rank's trace
            max_queue_length: largest length seen on the stream
            limit: length from which the queue counts as full
            limit_from: where the limit comes from: data, given or assumed
        """
        ...
    def memory_bandwidth(
        self,
        *,
        view: Literal['summary', 'series'] = 'summary',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How fast are copies between host and device, and sets?

        Per kind, the sum of the GB/s of all running copies over time. Statistics are over the points above zero; time_mean_gbps is over the busy time.

            holotrace.open("traces/").memory_bandwidth(top=10)

        Answers what get_memory_bw_time_series, get_memory_bw_summary of HTA answers.

        Arguments:
            view: statistics per kind, or every change point (summary, series)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            device: GPU index; null when unknown or with hta_compat
            name: kind of copy: Memcpy HtoD, DtoH, DtoD, PtoP, or Memset
            count: points with bandwidth above zero
            mean_gbps [GB/s]: mean bandwidth over those points
            std_gbps [GB/s]: standard deviation over those points (n - 1)
            min_gbps [GB/s]: smallest bandwidth of those points
            p25_gbps [GB/s]: first quartile over those points
            p50_gbps [GB/s]: median over those points
            p75_gbps [GB/s]: third quartile over those points
            max_gbps [GB/s]: largest bandwidth
            copies: memcpy or memset of this kind
            bytes [bytes]: bytes they moved; null when the file does not say
            busy_ns [ns]: time with at least one of them running
            time_mean_gbps [GB/s]: mean bandwidth over the busy time; null when the file does not say
            memory: memory they copy from and to; null when the names do not say, or with hta_compat
        """
        ...
    def launch_stats(
        self,
        *,
        view: Literal['summary', 'all', 'short', 'runtime-outliers', 'delay-outliers', 'graphs'] = 'summary',
        runtime_cutoff: int | str = '50us',
        launch_delay_cutoff: int | str = '100us',
        include_memory: bool = True,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How long do launches take, and how long does launched work wait?

        Per GPU activity with its launch call: duration of both, and the delay from the end of the call to the start of the work.

            holotrace.open("traces/").launch_stats(top=10)

        Answers what get_cuda_kernel_launch_stats of HTA answers.

        Arguments:
            view: sums by name, all launches, those that stand out, or graph launches with idle time inside and between them (summary, all, short, runtime-outliers, delay-outliers, graphs)
            runtime_cutoff: a launch call longer than this is an outlier
            launch_delay_cutoff: a delay longer than this is an outlier
            include_memory: memcpy and memset too
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            name: kernel, copy or set
            count: launches of it
            launch_delay_mean_ns [ns]: from the end of the call to the start of the work
            launch_delay_max_ns [ns]: the longest
            cpu_mean_ns [ns]: duration of the launch calls
            cpu_max_ns [ns]: the longest
            gpu_mean_ns [ns]: duration of the work
            gpu_max_ns [ns]: the longest
            n_short: work that ran shorter than its launch call, which launched nothing else
            launch_delay_ns [ns]: sum of the delays
            cpu_ns [ns]: sum of the calls
            gpu_ns [ns]: sum of the work
        """
        ...
    def op_launch_delay(
        self,
        *,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How long does an operator take to launch its first kernel, and that one to start?

        Per call of an aten operator that launches kernels itself: time to its first launch call, and from there to the kernel's start; means per operator and kernel sequence.

            holotrace.open("traces/").op_launch_delay(top=10)

        Answers what get_aten_op_kernels_and_delay of HTA answers.

        Arguments:
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            operator: name of the aten operator
            count: calls with this kernel sequence
            op_launch_delay_ns [ns]: mean time from the operator's start to its first launch call
            runtime_delay_ns [ns]: mean time from that launch call's start to its kernel's start
            kernels: kernels in the sequence
            kernel_sequence: its kernels in order of launch, joined by ' -> '
        """
        ...
    def kernel_sequences(
        self,
        *,
        operator: str | Iterable[str] | None = None,
        min_length: int = 3,
        top_patterns: int = 5,
        short_names: bool = True,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which sequences of kernels does an operator launch again and again?

        The GPU activity launched inside each outermost operator of that name, by start time, counted by the sequence of names.

            holotrace.open("traces/").kernel_sequences(top=10)

        Answers what get_frequent_cuda_kernel_sequences of HTA answers.

        Arguments:
            operator: text that the operator's name contains; without it every outermost operator
            min_length: least number of kernels, memcpy and memset in a sequence
            top_patterns: saved trace: how many of the most frequent patterns are marked
            short_names: kernel names without template arguments and parameters; hta_compat shows all
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            operator: name of the operator that starts the sequence
            count: times the sequence occurs
            kernels: kernels, memcpy and memset in one sequence
            gpu_ns [ns]: duration of its GPU activity, all occurrences
            op_ns [ns]: duration of the operator on the host, all occurrences
            pattern: operator and GPU activity in order of start, joined by |
        """
        ...
    def cupti_counters(
        self,
        *,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What do the hardware counters say about each kernel and its operator?

        One row per cuda_profiler_range with its counters as further columns, matched to the launch call by kernel name and order.

            holotrace.open("traces/").cupti_counters(top=10)

        Answers what get_cupti_counter_data_with_operators of HTA answers.

        Arguments:
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            index: row of the profiler range
            ts_ns [ns]: start of the range, from the first event of all ranks
            dur_ns [ns]: duration of the range as written
            name: kernel
            index_launch: row of the launch call, null when unknown
            top_level_op: outermost operator around the launch
            bottom_level_op: innermost operator around the launch
            op_stack: operators around the launch, outermost first, joined by |
            flops: floating point operations from the thread-instruction counters, null without them
        """
        ...
    def critical_path(
        self,
        *,
        view: Literal['summary', 'graph', 'path', 'edges', 'events', 'what-if', 'collectives'] = 'summary',
        across: bool = False,
        instance: str | Iterable[str] | None = None,
        tolerance: int | str = '10us',
        data_load_events: str | Iterable[str] | None = None,
        scale: str | Iterable[str] | None = None,
        zero_weight_launch_edges: bool = False,
        only_critical: bool = True,
        all_edges: bool = False,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What is the time of each step spent on, and what would shorten it?

        Walked back from the end of a step: each nanosecond belongs to what was waited for last. Host time counts only while the GPU activity that must be waited for is idle.

            holotrace.open("traces/").critical_path(top=10)

        Answers what critical_path_analysis of HTA answers.

        Arguments:
            view: which table (summary, graph, path, edges, events, what-if, collectives)
            across: one path through all ranks, from rank to rank at collectives: summary, path or collectives
            instance: which steps or annotations, from 0 in time order: 0,2-3; all, with hta_compat the first, a-b as one window
            tolerance: work that starts later than this after all it is known to wait for has waited for other work, that ended at most this long before it
            data_load_events: expression for names of host events that load data: time in them is data_loading; by default those of PyTorch's data loaders
            scale: what-if rules, name expression or word = factor: 'nccl=0.5,cpu_bound=0'
            zero_weight_launch_edges: with hta_compat: order work after its launch also where the launch cost no time
            only_critical: saved trace: drop events that are not on the path
            all_edges: saved trace: draw every edge of the graph; needs only_critical off
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            instance: which step or annotation, from 0 in time order
            step: number of the step; null outside of steps
            bound_by: what the time depends on
            duration_ns [ns]: time on the path so bound
            share [ratio]: of the window
            inferred_ns [ns]: of this, time that rests on dependencies without a record in the trace
            window_ns [ns]: from the start of the step to its end or that of its last work
            step_ns [ns]: duration of the step on the host
            idle_ns [ns]: time of the window in which no GPU of the rank worked; windows begin on the CPU and may overlap, so that it is not idle_ns of temporal-breakdown, which is of the GPU span; null without GPU activity
            n_edges: pieces of the path
            step_time_ns [ns]: from the completion of the step before to its own; less than the window where the CPU runs ahead and windows overlap; null where windows are no steps
        """
        ...
    def what_if(
        self,
        *,
        view: Literal['answers', 'slowdown', 'gaps'] = 'answers',
        scale: str | Iterable[str] | None = None,
        operations: str | Iterable[str] | None = None,
        meta: str | Iterable[str] | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What slows a job down, and how long would its steps take without?

        Every start is computed anew over all ranks: work begins when its launch, its stream and the events before it are over, a collective with its last rank; CPU time keeps its length. Peers are ranks that communicate alike; like its peers is their median. Whose slowdown it is: ideal is the mean time of compute and the median of communication.

            holotrace.open("traces/").what_if(top=10)

        Arguments:
            view: step times with other durations, whose slowdown it is (of operations always), or gaps that the replay does not explain (answers, slowdown, gaps)
            scale: a question of your own: name expression or word, conditions, = value: 'nccl=0.5', '@annotation:data@rank:1=median', 'gemm@stage:1@step:5-=best', 'extra=remove', 'gemm=2ms', '@annotation:data=+5ms', 'elementwise=fuse', '@group:dp@size:1MB-=ranks:64', '@annotation:microbatch=repeat:2'
            operations: table of operations of a job (CSV, also compressed) instead of traces
            meta: with operations: what is known of the job (YAML)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            question: what is different, or the rules of scale
            mean_step_time_ns [ns]: mean step time as recorded: from the last end of the step before on any rank to that of this one
            new_mean_step_time_ns [ns]: mean step time of the replay
            saved_ns [ns]: savings per step: the replay without edits less this one
            saved_share [ratio]: that, of replayed step time
            low_ns [ns]: new step time: lower end of its 95 % interval, steps resampled
            high_ns [ns]: upper end
            replay_error [ratio]: how far the replay without edits is off the recorded step time, in the median
            worst_replay_error [ratio]: the same of the step that is off the most
            steps: steps that were replayed
        """
        ...
    def collectives(
        self,
        *,
        view: Literal['summary', 'calls', 'lateness', 'ranks'] = 'summary',
        link: float | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What do collectives wait for, and how fast do they move data?

        Calls matched over ranks on one clock: wait is until the last rank has started, transfer is the rest of the duration; bandwidths as in nccl-tests, over transfer.

            holotrace.open("traces/").collectives(top=10)

        Arguments:
            view: sums by group and kind, every call, how late each rank is in each step, or which rank waits for which (summary, calls, lateness, ranks)
            link: bandwidth of a link in one direction in GB/s, of NVLink or the network, for peak_share
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            group: process group and its ranks, or the pair of a send
            kind: kind of collective
            ranks: ranks of the group that are there
            collectives: collectives matched over ranks
            calls: their calls on all ranks
            bytes [bytes]: larger side of each collective, added up
            duration_ns [ns]: duration of the calls, added up
            wait_ns [ns]: of that, until the last rank had arrived; null unless all ranks are there
            transfer_ns [ns]: the rest of the duration
            wait_share [ratio]: wait over duration
            skew_mean_ns [ns]: mean of first to last arrival
            skew_max_ns [ns]: largest first to last arrival
            uncertainty_ns [ns]: how far the clocks of two of its ranks leave arrivals open, at most
            algbw_gb_per_s [GB/s]: bytes of all calls over their transfer
            busbw_gb_per_s [GB/s]: that times the factor of its kind and group size
            peak_share [ratio]: bus bandwidth over that of a link in one direction: link=, else half of the fabric where the ranks are those of one node
            busbw_alone_gb_per_s [GB/s]: bus bandwidth of the calls during which the device hardly computes
            busbw_overlapped_gb_per_s [GB/s]: that of the other calls, which share the device with compute kernels
        """
        ...
    def stragglers(
        self,
        *,
        view: Literal['ranks', 'collectives'] = 'ranks',
        num_candidates: int | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which ranks keep the others waiting, by how much, why, and at which collectives?

        Per collective, matched over ranks, how long after the earliest start each rank starts; delay: gap between the last and the second-last rank. A candidate has more to do than the others in most steps, alone or as one of several.

            holotrace.open("traces/").stragglers(top=10)

        Answers what get_potential_stragglers of HTA answers.

        Arguments:
            view: sums per rank, or every collective (ranks, collectives)
            num_candidates: at most so many candidates; by default all
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank
            candidate: whether it is late in most steps, beyond its own variation and that of the others
            delay_ns [ns]: time in which collectives wait for it alone, those that wait at the same time counted once
            delay_share [ratio]: that over the time its trace covers
            uncertainty_ns [ns]: how far clocks and ends of collectives leave the delay open
            lateness_ns [ns]: what a step would lose without it, on average; of a rank that is no candidate its time between waits above that of the latest other rank, in the median step
            step_cost_ns [ns]: what a step would lose, on average, if all candidates of its group were as fast as the rest
            late_steps: steps in which it is late
            steps: steps with collectives
            cause: kernel or host: what explains a candidate's delay
            cause_name: the kernel, or the annotation or function on the host
            cause_ns [ns]: its time per step above the median of the other ranks of its group
            cause_row: index of its longest event in the rank's trace
            collectives: collectives that could be compared
            times_last: of them with this rank the last to start
            late_mean_ns [ns]: mean start after the earliest rank
            late_max_ns [ns]: largest start after the earliest rank
            worst_step: step of that collective
            worst_collective: that collective
            worst_row: index of its kernel in the rank's trace
            gpu_excess_ns [ns]: GPU time per step above the median of the other ranks of its group
            gpu_excess_name: GPU activity with the largest such time
            host_excess_ns [ns]: host time per step, without CUDA calls, above the median of the other ranks of its group
            host_excess_name: annotation or function with the largest such time
        """
        ...
    def distributed(
        self,
        *,
        view: Literal['overlap', 'waiting', 'operations', 'groups', 'steps', 'collectives', 'bandwidth', 'links'] = 'overlap',
        by: Literal['step', 'rank'] = 'step',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How do computing and communicating share each rank's steps, and what does communication wait for?

        Computation, both at once, exposed communication and neither add up to the step. Exposed communication is waiting for the last rank, then transfer.

            holotrace.open("traces/").distributed(top=10)

        Arguments:
            view: which table (overlap, waiting, operations, groups, steps, collectives, bandwidth, links)
            by: a row per rank and step, or the sum of a rank's steps (step, rank)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            step: profiler step; null for all of them
            step_ns [ns]: length of the step, up to its last GPU activity
            computation_ns [ns]: computing without communication
            overlapped_ns [ns]: computing and communicating at once
            exposed_ns [ns]: communicating without computing: exposed
            exposed_kernel_ns [ns]: of that, with a kernel of communication running, or a call of the host that does it
            exposed_wait_ns [ns]: of that, waiting for a rank; null unless all ranks are there
            exposed_transfer_ns [ns]: of that, the rest: data can move; null unless all ranks are there
            other_ns [ns]: neither
            exposed_share [ratio]: exposed_ns over step_ns
        """
        ...
    def topology(
        self,
        *,
        view: Literal['ranks', 'axes'] = 'ranks',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which node is each rank on, and where does it stand in tensor, pipeline, data, context and expert parallelism?

        Places in process groups whose description names one way of splitting; nodes by hosts in file names, else by the devices that ranks work on, else by process groups of eight.

            holotrace.open("traces/").topology(top=10)

        Arguments:
            view: one row per rank, or one per way of splitting the job (ranks, axes)
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            node: machine: its name, or its number by the order of ranks; null: unknown
            stage: pipeline stage, from 0; null: not in a pipeline-parallel group
            replica: place in its data-parallel group, from 0; null: not in one
            tensor_group: first rank of its tensor-parallel group; null: not in one
            tensor_place: place in that group, from 0
            context_group: first rank of its context-parallel group; null: not in one
            context_place: place in that group, from 0
            expert_group: first rank of its expert-parallel group; null: not in one
            expert_place: place in that group, from 0
            device: GPU index on its node; null: none, or several
        """
        ...
    def memory_timeline(
        self,
        *,
        view: Literal['summary', 'series', 'categories', 'rows'] = 'summary',
        file: str | Iterable[str] | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How much memory is in use over time, what holds it, and when does it peak?

        The allocator's totals after every allocation and free of the traces, or the running sums per category of a raw memory timeline file; with an attached execution trace categories are derived from what operators do with the tensors.

            holotrace.open("traces/").memory_timeline(top=10)

        Answers what MemoryAnalysis of HTA answers.

        Arguments:
            view: peaks per category, every change of the total, or of each category; rows as export_memory_timeline sums them up (summary, series, categories, rows)
            file: raw memory timeline file to show instead of the traces
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace, null for a file
            device: cpu, cuda:0, ...; null for a raw timeline
            category: allocated or reserved, of allocators that report apart (NPU) behind the name; of a raw timeline what the memory holds, or total
            peak_bytes [bytes]: most that was held at once
            peak_ts_ns [ns]: first time of that, from the first event of all ranks or of the file
            at_total_peak_bytes [bytes]: what it held when the device's or timeline's total peaked
            share_at_peak [ratio]: that over the total's peak
            final_bytes [bytes]: held after the last event
            changes: points at which it changed
            source: who says the category: recorded (memory timeline), execution-trace (derived); null for totals
        """
        ...
    def memory_curve(
        self,
        *,
        view: Literal['curve', 'peaks', 'operators', 'fullest'] = 'curve',
        points: int = 10240,
        bands: int = 12,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How much memory is allocated, reserved and active over time on each device, and by which operators?

        The allocator's totals after every memory event, per device and component; the running sum of bytes where the file has no totals.

            holotrace.open("traces/").memory_curve(top=10)

        Arguments:
            view: every point, the peaks of each curve, or what operators hold, of all devices or the fullest (curve, peaks, operators, fullest)
            points: at most so many points per curve; 0: all
            bands: operators that view operators shows by name
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            device: cpu, cuda:0, ...
            component: allocator, where several report apart; null: the only one
            ts_ns [ns]: time of the point, from the first event of all ranks
            allocated_bytes [bytes]: in use from this time on
            reserved_bytes [bytes]: held by the allocator from this time on
            active_bytes [bytes]: in use or waited for by a stream from this time on
            delta_bytes [bytes]: bytes allocated, negative when freed; 0: a sample
            index: row of the memory event
        """
        ...
    def memory_events(
        self,
        *,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What was allocated by whom, how large is it, and how long does it live?

        Allocations paired with the next free of the same address on the device, and the operator that was running on the thread.

            holotrace.open("traces/").memory_events(top=10)

        Arguments:
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            device: cpu, cuda:0, ...
            operator: operator that allocated it, or <unknown>
            size_bytes [bytes]: size of the allocation
            allocated_ts_ns [ns]: when it was allocated, from the first event of all ranks; null: before the recording
            released_ts_ns [ns]: when it was freed, from the first event of all ranks; null: not in the recording
            duration_ns [ns]: from the one to the other; null without both
            at_peak: alive when the device's allocated total peaks
            op_index: row of the operator; null: none
            index: row of the allocation; null: before the recording
            release_index: row of the free; null: not in the recording
        """
        ...
    def memory_stats(
        self,
        *,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which operators allocate memory, and how much do they leave allocated?

        Memory events of the operator that was running on the thread; increase is allocated less freed while it ran, kept what nobody frees, self without the operators inside.

            holotrace.open("traces/").memory_stats(top=10)

        Arguments:
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the trace
            device: cpu, cuda:0, ...
            operator: name of the operator
            calls: calls of the operator
            increase_bytes [bytes]: allocated less freed while it ran, with the operators inside it
            self_increase_bytes [bytes]: the same without those
            allocations: allocations, with those of the operators inside it
            self_allocations: the same without those
            allocated_bytes [bytes]: bytes of allocations, with those of the operators inside it
            self_allocated_bytes [bytes]: the same without those
            kept_bytes [bytes]: of those bytes, not freed in the recording; null: nothing says
            self_kept_bytes [bytes]: the same without those of the operators inside it
            index: row of the call that allocates the most itself
        """
        ...
    def memory_snapshot(
        self,
        *,
        view: Literal['summary', 'peak', 'leaks', 'oom', 'fragmentation', 'segments', 'churn', 'pools', 'blocks', 'map', 'events', 'timeline', 'fullest'] = 'summary',
        by: Literal['frame', 'stack', 'module', 'annotation', 'category', 'pool', 'size', 'operator', 'step'] = 'frame',
        at: str | Iterable[str] | None = None,
        rules: str | Iterable[str] | None = None,
        every: int | str = '0',
        range: str | Iterable[str] | None = None,
        points: int = 500,
        bands: int = 10,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """What makes the peak of GPU memory, what leaks, and why did it run out?

        Events of the caching allocator replayed with its own rounding and splitting; blocks live from alloc to free_requested.

            holotrace.open("traces/").memory_snapshot(top=10)

        Arguments:
            view: what to show (summary, peak, leaks, oom, fragmentation, segments, churn, pools, blocks, map, events, timeline, fullest)
            by: what blocks are grouped by: the user's own line, the stack, the module's forward, annotations, the category, the pool, the size; with attach= the operator or step of the trace (frame, stack, module, annotation, category, pool, size, operator, step)
            at: moment that peak, fragmentation, blocks and map show: peak, end, oom, number of an event, or time since the first (1.5s)
            rules: categories of your own, tried first: "category=text,...", text of a frame like "train.py:62 step"
            every: length of a step where no annotation names steps
            range: part of the history to look at, from A to B: "1s:1.5s", "4000:5000", "peak:"; summary, segments and pools are of the whole file
            points: points of the timeline, and of the longest segment of map
            bands: keys of the timeline; the rest is one
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the snapshot
            device: index of the GPU
            peak_allocated_bytes [bytes]: most bytes in blocks that tensors hold, as max_memory_allocated counts
            peak_reserved_bytes [bytes]: most bytes reserved from the driver
            allocated_bytes [bytes]: bytes in blocks that tensors hold at the end
            reserved_bytes [bytes]: bytes reserved from the driver at the end
            active_bytes [bytes]: allocated, and held for other streams, at the end
            requested_bytes [bytes]: bytes that were asked for of these
            n_events: recorded events of the allocator
            lost_events: known to be missing: allocations of blocks that the history only frees, and entries that could not be read
            base_bytes [bytes]: allocated before the first event
            peak_requested_bytes [bytes]: most bytes asked for of active blocks, as memory_viz draws them
            held_for_streams_bytes [bytes]: most bytes that were freed but waited for other streams
            peak_event: event of the peak, from 0
            peak_time_ns [ns]: its time since the first event
            peak_annotation: annotations around it, the outermost first
            peak_key: who holds most at the peak, by the parameter by
            peak_share [ratio]: its share of the peak
            mosaic_dynamic_bytes [bytes]: peak of what the history allocates, as mosaic reports it
            mosaic_static_bytes [bytes]: blocks at the end that no event names, as mosaic reports it
            leak_key: line whose blocks pile up most from step to step; null: none
            leak_bytes_per_step [bytes]: by how much
            oom_class: why the first request that failed did so; null: none failed
            fragmentation_ratio: free in pieces over what was wanted when a segment was taken, at most; fragmented from 4 on, where that is a fifth of what was reserved
            idle_pool_bytes [bytes]: reserved and not active at the end in private pools, such as those of CUDA graphs
            peak_key_2: who holds most but one
            peak_share_2 [ratio]: its share of the peak
            peak_key_3: who holds most but two
            peak_share_3 [ratio]: its share of the peak
            steps: steps that are known, four of which a leak needs
            leaks: stacks whose blocks pile up
            oom_key: line whose request failed first
            oom_requested_bytes [bytes]: what it asked for
            oom_driver_free_bytes [bytes]: what the driver had free then
            oom_allocated_bytes [bytes]: what tensors held then
            oom_free_bytes [bytes]: free in the pool and stream of the request
            oom_largest_free_bytes [bytes]: longest free run of it
            oom_other_pools_free_bytes [bytes]: free in other pools and streams
            oom_outside_bytes [bytes]: neither reserved here nor free, where the size of the device is known
            fragmentation_wanted_bytes [bytes]: what was wanted at the event of fragmentation_ratio
            fragmentation_free_bytes [bytes]: what was free in pieces then
            expandable_segments: the setting was on
            private_pool_bytes [bytes]: reserved in private pools at the end
        """
        ...
    def et_nodes(
        self,
        *,
        et: str | Iterable[str] | None = None,
        view: Literal['nodes', 'tensors', 'groups'] = 'nodes',
        ancestors_of: int | None = None,
        descendants_of: int | None = None,
        producers_of: int | None = None,
        consumers_of: int | None = None,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Which operators were recorded, with which arguments, tensors and process groups?

        The nodes as recorded, one per row, in file order unless sorted.

            holotrace.open("traces/").et_nodes(top=10)

        Arguments:
            et: execution traces: files, folders or RANK=FILE, one per line
            view: nodes, the tensors that they use, or process groups (nodes, tensors, groups)
            ancestors_of: only this node and those around it
            descendants_of: only this node and those inside it
            producers_of: only nodes that give this tensor
            consumers_of: only nodes that take this tensor
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the execution trace
            id: node id; ids ascend in the order of starts
            parent: id of the node that called it (ctrl_deps)
            name: operator, annotation or kernel
            kind: op, process or thread
            rf_id: record function id, which Kineto's events carry too
            tid: logical thread, from 1
            seq_id: autograd sequence number, -1 when none
            scope: record scope: 0 function, 1 backward, 7 user
            fw_parent: node around the call to backward, 0 when none
            fw_tid: thread of the forward operator, 0 when none
            op_schema: schema of the operator
            inputs: values of the inputs
            input_shapes: shapes of the inputs
            input_types: types of the inputs
            input_strides: strides of the inputs
            outputs: values of the outputs
            output_shapes: shapes of the outputs
            output_types: types of the outputs
            output_strides: strides of the outputs
            input_tensors: ids of the tensors that it takes
            output_tensors: ids of the tensors that it gives
            collective: collective that it records
            dtype: data type of the collective
            in_msg_nelems: elements that go into the collective
            out_msg_nelems: elements that come out of it
            in_split_size: elements per peer that go out
            out_split_size: elements per peer that come in
            global_rank_start: first rank of the group
            global_rank_stride: distance of its ranks
            pg_name: process group
            pg_desc: what the process group is for
            pg_size: ranks in the process group
            kernel_backend: triton for generated kernels
            kernel_file: file of a generated kernel
            tensor_range: least and greatest values of integral inputs
            other_attrs: further attributes, as a JSON object
            node_type: of Chakra's files: what the node is
            data_deps: of Chakra's files: nodes that it waits for
            start_us [us]: of Chakra's files: start time
            duration_us [us]: of Chakra's files: duration
        """
        ...
    def et_check(
        self,
        *,
        et: str | Iterable[str] | None = None,
        limit: int = 20,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Is an execution trace sound, and does it belong to its Kineto trace?

        Rules ET001 to ET070 over the file, its tree, arguments and attributes; with the Kineto trace of the same window also ids, names, parents and threads.

            holotrace.open("traces/").et_check(top=10)

        Arguments:
            et: execution traces: files, folders or RANK=FILE, one per line
            limit: findings that are told one by one per rule; 0 tells all
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the execution trace
            rule: rule that is broken
            severity: error, warning or info
            node: id of the node, absent when it is about the file
            message: what was found
        """
        ...
    def et_link(
        self,
        *,
        et: str | Iterable[str] | None = None,
        view: Literal['summary', 'nodes', 'gpu'] = 'summary',
        mode: Literal['ours', 'chakra'] = 'ours',
        gap: int | str = '1ms',
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """When did each node of an execution trace run, and what did it launch and wait for?

        Nodes and events with the same record function id are the same call; GPU activity belongs to the call around its launch.

            holotrace.open("traces/").et_link(top=10)

        Answers what correlate_execution_trace of HTA answers.

        Arguments:
            et: execution traces: files, folders or RANK=FILE, one per line
            view: a row per rank, per node, or per GPU activity (summary, nodes, gpu)
            mode: ours, or what Chakra's linker does (ours, chakra)
            gap: calls of a thread that are further apart wait for what another thread did before
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            rank: rank of the traces
            joined_by: what joins them: rf_id, external_id or none
            nodes: nodes of the execution trace
            linked: nodes that have an event
            other_names: of these, names that differ
            only_in_et: nodes with an id that no event has
            only_in_kineto: events with an id that no node has
            kernels: kernels attached to nodes
            copies: copies attached to nodes
            sets: memory sets attached to nodes
            orphans: GPU activity launched before the window
            thread_deps: nodes that wait for one of another thread
            sync_deps: waits of nodes for GPU activity
            self_ns [ns]: time of calls without the calls inside, profiler steps left out
        """
        ...
    def diff(
        self,
        other: Session,
        *,
        view: Literal['rows', 'summary', 'causes', 'ranks', 'operators', 'kernels', 'modules', 'memory'] = 'rows',
        device: Literal['all', 'cpu', 'gpu'] = 'all',
        by: Literal['name', 'path', 'shape', 'line'] = 'name',
        all_rows: bool = False,
        control_rank: str | Iterable[str] | None = None,
        test_rank: str | Iterable[str] | None = None,
        control_step: str | Iterable[str] | None = None,
        test_step: str | Iterable[str] | None = None,
        short_names: bool = False,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """How much longer is a step, and which operators and kernels explain it?

        Every moment of a step belongs to the innermost row of its thread, or of the backward pass that this waits for; GPU activity counts by its duration. Per name over the chosen ranks and steps of both runs, this run minus the baseline, with 95 % intervals over steps; what may be noise is folded.

            holotrace.open("before/").diff(holotrace.open("after/"))

        Answers what TraceDiff.compare_traces, TraceDiff.ops_diff of HTA answers.

        Arguments:
            other: the session to compare with; self is the baseline
            view: names that explain the difference; step and GPU time only; causes before consequences; each rank by itself; or operators, kernels, modules, or lines that hold memory of both side by side (rows, summary, causes, ranks, operators, kernels, modules, memory)
            device: which rows to compare (all, cpu, gpu)
            by: what makes two events the same, line: the function of your code around them; of operators name or shape (name, path, shape, line)
            all_rows: show every row, also those that may be noise
            control_rank: ranks of the baseline: 0,2-3 or all
            test_rank: ranks of this run: 0,2-3 or all
            control_step: steps of the baseline: 3-5,7 or all
            test_step: steps of this run: 3-5,7 or all
            short_names: without template arguments and parameters
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            name: operator, annotation, runtime call, kernel, copy or set; others: names within noise, and beyond the 65,536 largest changes
            device: cpu: on the thread of the steps or in the backward pass that it waits for; background: other host threads; gpu; null with hta_compat
            control_count: events of this name in the baseline
            test_count: events of this name in this run
            diff_count: this run minus the baseline
            control_ns [ns]: their own time in the baseline, over all ranks and steps
            test_ns [ns]: their own time in this run
            diff_ns [ns]: this run minus the baseline
            change_share [ratio]: diff_ns over control_ns, null without a baseline
            change: added, removed, more or fewer calls; slower, faster or within noise; equal
            control_step_ns [ns]: control_ns per step and rank
            test_step_ns [ns]: test_ns per step and rank
            step_diff_ns [ns]: this run minus the baseline, per step and rank
            low_ns [ns]: lower end of its 95 % interval over steps
            high_ns [ns]: upper end
            share [ratio]: step_diff_ns of the difference in host spans of steps (cpu) or in GPU time (gpu); null where that is within noise
            n_names: names in this row: more than 1 for others
        """
        ...
    def gate(
        self,
        other: Session | Iterable[Session],
        *,
        max_slowdown: float = 0.03,
        metric: Literal['all', 'step', 'gpu', 'kernel', 'comm', 'efficiency'] = 'all',
        confidence: float = 0.99,
        min_share: float = 0.005,
        all_rows: bool = False,
        n_base: int = 1,
        rank: int | str | Iterable[int] | None = 'all',
        step: int | str | Iterable[int] | None = None,
        annotation: str | Iterable[str] | None = None,
        hta_compat: bool | None = None,
        hta_rows: bool = False,
        columns: str | Iterable[str] | None = None,
        where: str | None = None,
        sort: str | Iterable[str] | None = None,
        top: int = 0,
    ) -> Table:
        """Is this run slower than the baseline, beyond what is allowed and beyond noise?

        Means over runs of the means over steps; Student's t over the spread of runs, which one run on each side cannot show and which is assumed then (15 % on the host, 0.5 % of the GPU's kernels together, 0.6 % of each). Fails when a change is above max_slowdown and its interval above 0.

            holotrace.open("before/").gate(holotrace.open("after/"))

        Arguments:
            other: the other sessions: those of base besides self, then those of test
            max_slowdown: how much slower this run may be: 0.03 or 3%
            metric: what to judge; all is all but efficiency, which is GPU time over the least time at the roofs of the device (all, step, gpu, kernel, comm, efficiency)
            confidence: how sure to be before failing, over all that is judged
            min_share: share of the GPU time from which a kernel is judged
            all_rows: show kernels that are neither slower nor faster too, and those of one side only
            n_base: how many of the runs are the baseline, from the first
            rank: ranks to look at: numbers, ranges, all
            step: profiler steps: numbers, ranges, last, all (the whole trace); by default all complete steps, the whole trace where there are none
            annotation: only what runs inside annotations whose name contains this
            hta_compat: HTA's values where its oddities are selectable
            hta_rows: HTA's choice of rows when it cuts the last step
            columns: which columns, in which order: "a,b" or a list
            where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
            sort: order by columns; a minus means descending: "-sum_ns,name"
            top: only the first rows; 0: all

        Columns:
            metric: step, gpu, comm, kernel or efficiency
            name: of the kernel
            rank: rank that alone changed; null: all
            verdict: slower: fails the gate; faster; same: a slowdown beyond the limit is excluded; unclear: it is not; added, removed: on one side only
            base_ns [ns]: per step and rank, mean over the runs of the baseline
            test_ns [ns]: likewise of this run
            change_share [ratio]: this run over the baseline, less 1
            low_share [ratio]: lower end of its interval
            high_share [ratio]: upper end
            detectable_share [ratio]: slowdown that the gate would have found four times of five
            typical_share [ratio]: change of the typical call, which accidents do not move; must be above the limit too
            step_noise [ratio]: deviation between the steps of a run
            run_noise [ratio]: deviation between runs beyond that
            noise_source: whether run_noise was measured or is assumed
            base_runs: runs of the baseline
            test_runs: runs that are compared with them
        """
        ...
