# SPDX-License-Identifier: Apache-2.0
"""Reading one trace file. Backends have HTA's names and are all the same reader."""

import gzip
import json
from typing import Any, Dict, Iterable, Optional, Tuple

import pandas as pd

from holotrace.common.trace_file import read_trace
from holotrace.common.trace_symbol_table import TraceSymbolTable
from holotrace.configs.parser_config import ParserBackend, ParserConfig

MetaData = Dict[str, Any]
_backend = ParserBackend.JSON


def get_default_trace_parsing_backend() -> ParserBackend:
    return _backend


def set_default_trace_parsing_backend(parser_backend: ParserBackend) -> None:
    global _backend
    _backend = ParserBackend(parser_backend)


def _auto_detect_parser_backend() -> ParserBackend:
    """All backends are one reader."""
    return _backend


def infer_gpu_type(metadata: Optional[MetaData], symbols: Iterable[str]) -> str:
    """NVIDIA GPU, AMD GPU, MTIA or UNKNOWN GPU, from a file's header and the names of its events."""
    if "mtia:hccl" in str((metadata or {}).get("distributedInfo", {})):
        return "MTIA"
    names = set(symbols)
    if any(name.startswith(("cudaLaunch", "cuLaunch", "cudaGraphLaunch")) for name in names):
        return "NVIDIA GPU"
    if any(name.startswith("hip") and "Launch" in name for name in names):
        return "AMD GPU"
    return "MTIA" if "runFunction - job_prep_and_submit_for_execution" in names else "UNKNOWN GPU"


def _open_trace_file(trace_file_path: str):
    """A file to read bytes from, decompressed."""
    return (gzip.open if trace_file_path.endswith("gz") else open)(trace_file_path, "rb")


def parse_trace_dict(trace_file_path: str) -> Dict[str, Any]:
    """The whole document as Python objects."""
    return read_trace(trace_file_path)


def parse_trace_dataframe(trace_file_path: str,
                          cfg: ParserConfig) -> Tuple[MetaData, pd.DataFrame, TraceSymbolTable]:
    """(header, frame, symbol table) of one file."""
    from holotrace.common.trace import parse_trace_file

    return parse_trace_file(trace_file_path, cfg)


def parse_metadata_ijson(fh) -> MetaData:
    """What an open file says besides its events."""
    text = fh.read()
    if text[:2] == b"\x1f\x8b":
        text = gzip.decompress(text)
    header = json.loads(text)
    header.pop("traceEvents", None)
    return header


def round_down_time_stamps(df: pd.DataFrame) -> None:
    """HTA rounds fractional microseconds here. Times are exact in this package, so nothing is done."""
