# SPDX-License-Identifier: Apache-2.0
# Types of the extension module.
import os
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

_Path = str | bytes | os.PathLike[Any]
_Value = int | float | str | bool | None

class ColumnInfo(TypedDict):
    name: str
    type: str
    role: str
    sentence: str | None
    unit: str | None

class ParamInfo(TypedDict):
    name: str
    type: str
    default: str | None
    help: str | None
    choices: str | None

class AnalysisInfo(TypedDict):
    name: str
    group: str
    title: str
    question: str
    method: str
    hta: str | None
    columns: list[ColumnInfo]
    params: list[ParamInfo]
    n_sets: int
    lists_events: bool
    tells_losses: bool
    sides: tuple[str | None, str | None]

class Array:
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> int | float: ...

class Table:
    title: str
    method: str
    notes: list[str]
    n_rows: int
    n_columns: int
    n_hidden: int
    check_failed: bool
    bar: str | None
    column_names: list[str]
    def column(self, column: str | int, /) -> Array: ...
    def validity(self, column: str | int, /) -> Array | None: ...
    def strings(self, column: str | int, /) -> tuple[Array, list[str]]: ...
    def values(self, column: str | int, start: int = 0, stop: int = ..., /) -> list[_Value]: ...
    def column_info(self, column: str | int, /) -> ColumnInfo: ...
    def save(self) -> bytes: ...
    def render(
        self,
        format: str,
        *,
        color: bool = False,
        bars: bool = False,
        wide: bool = False,
        width: int = 0,
        no_title: bool = False,
        safe_csv: bool = False,
    ) -> bytes: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Set:
    ranks: list[int]
    paths: list[str]
    n_events: list[int]
    loss_note: str | None
    closed: bool
    def run(
        self,
        name: str,
        args: Mapping[str, _Value] | None = None,
        columns: str | None = None,
        where: str | None = None,
        sort: str | None = None,
        top: int = 0,
        other: Set | list[Set] | None = None,
    ) -> Table: ...
    def sql(
        self,
        query: str,
        params: Mapping[str, _Value] | None = None,
        timeout_ms: int = 0,
        max_rows: int = 0,
        base: Set | None = None,
    ) -> Table: ...
    def export(self, folder: _Path, tables: str | None = None, rows_a_file: int = 0) -> None: ...
    def convert(
        self,
        path: _Path,
        *,
        ranks: str | None = None,
        steps: str | None = None,
        categories: str | None = None,
        threads: str | None = None,
        from_ns: str | None = None,
        to_ns: str | None = None,
        document: str | None = None,
        merge: bool = False,
        with_counters: bool = False,
        overlay: str | None = None,
        overlay_args: Mapping[str, _Value] | None = None,
        partial: bool = False,
    ) -> None: ...
    def dump(self) -> bytes: ...
    def describe(self, with_facts: bool, /) -> bytes: ...
    def make(
        self,
        name: str,
        args: Mapping[str, _Value] | None = None,
        columns: str | None = None,
        where: str | None = None,
        sort: str | None = None,
        top: int = 0,
        other: Set | list[Set] | None = None,
    ) -> bytes: ...
    def lacks_facts(
        self,
        name: str,
        args: Mapping[str, _Value] | None = None,
        columns: str | None = None,
        where: str | None = None,
        sort: str | None = None,
        top: int = 0,
        other: Set | list[Set] | None = None,
    ) -> bool: ...
    def finish(self, parts: list[bytes], other: list[Set] | None = None, /) -> Table: ...
    def close(self) -> None: ...

class Server:
    @property
    def url(self) -> str | None: ...
    @property
    def port(self) -> int: ...
    def stop(self) -> None: ...

def load_table(bytes: bytes, /) -> Table: ...
def history(
    store: _Path,
    *,
    add: Set | None = None,
    label: str | None = None,
    source: str | None = None,
    file: _Path | None = None,
    view: str | None = None,
    path: str | None = None,
    since: str | None = None,
    columns: str | None = None,
    where: str | None = None,
    sort: str | None = None,
    max_pvalue: float = 0,
    min_change: float = 0,
    window: int = 0,
    top: int = 0,
    progress: Callable[[str, int, int], bool | None] | None = None,
) -> Table: ...
def serve(
    sources: list[str],
    port: int = 0,
    or_next_port: bool = False,
    cache_dir: str | None = None,
    jobs: int = 0,
    path_prefix: str | None = None,
    rescan_ms: int = 0,
) -> Server: ...
def open(
    sources: list[_Path] | tuple[_Path, ...],
    *,
    recursive: bool = False,
    strict: bool = False,
    no_cache: bool = False,
    cache_dir: _Path | None = None,
    cache_max_bytes: int = 0,
    jobs: int = 0,
    memory_limit: int = 0,
    kernel_rules: _Path | None = None,
    progress: Callable[[str, int, int], bool | None] | None = None,
    verify_cache: bool = False,
    prefer_db: bool = False,
    partial: bool = False,
    listed: bool = False,
    attach: str | None = None,
) -> Set: ...
def list_files(
    sources: list[_Path] | tuple[_Path, ...],
    recursive: bool = False,
    partial: bool = False,
    prefer_db: bool = False,
) -> tuple[bytes, list[tuple[str, int]]]: ...
def deal(sizes: list[int], n_shares: int, /) -> list[int]: ...
def describe_missing(lines: list[str], /) -> bytes: ...
def join(own: Set | None, i_own: int, descriptions: list[bytes], /) -> Set: ...
def run(
    name: str,
    args: Mapping[str, _Value] | None = None,
    columns: str | None = None,
    where: str | None = None,
    sort: str | None = None,
    top: int = 0,
    other: None = None,
) -> Table: ...
def analyses() -> list[AnalysisInfo]: ...
def common_params() -> list[ParamInfo]: ...
def formats() -> list[str]: ...
def version() -> str: ...
