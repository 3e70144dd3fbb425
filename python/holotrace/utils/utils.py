# SPDX-License-Identifier: Apache-2.0
"""Names of kernels, merged intervals and other helpers under HTA's names."""

import logging
import multiprocessing
import os
import re
from enum import Enum
from typing import Any, Dict, Tuple

import numpy as np
import pandas as pd

logger = logging.getLogger("hta")


class KernelType(Enum):
    COMMUNICATION = 0
    MEMORY = 1
    COMPUTATION = 2
    OTHER = 3


class IdleTimeType(Enum):
    HOST_WAIT = 0
    KERNEL_WAIT = 1
    OTHER = 2


NCCL_KERNEL_RE = re.compile(r"nccl|hip|hccl|.*ncclKernel")
MEMORY_KERNEL_RE = re.compile(r"(hip)?Memcpy|(hip)?Memset|dma")
NCCL_COMPUTE_KERNEL_RE = re.compile(
    r"nccl|.*Memcpy|.*Memset|.*dma|.*Sync|Stream Wait Event|cuda.*LaunchKernel|runFunction|hip"
    r"|job_exe|packet|pe_exe|cpum_exe_subgraph|hccl|collective_subgraph_execution")


def is_comm_kernel(name: str) -> bool:
    return NCCL_KERNEL_RE.match(name) is not None


def is_memory_kernel(name: str) -> bool:
    return MEMORY_KERNEL_RE.match(name) is not None


def is_compute_kernel(name: str) -> bool:
    return NCCL_COMPUTE_KERNEL_RE.match(name) is None


is_computer_kernel = is_compute_kernel


def get_kernel_type(name: str) -> str:
    """Type by name alone, as HTA has it. The analyses go by category first."""
    if is_comm_kernel(name):
        return KernelType.COMMUNICATION.name
    if is_memory_kernel(name):
        return KernelType.MEMORY.name
    return KernelType.COMPUTATION.name if is_compute_kernel(name) else KernelType.OTHER.name


def get_memory_kernel_type(name: str) -> str:
    """Kind of copy: "Memcpy HtoD", "Memset", ..."""
    if name.startswith("Memset"):
        return "Memset"
    return name[:11] if name.startswith("Memcpy") else "Memcpy Unknown"


def shorten_name(name: str) -> str:
    """The name without template arguments, parameters and return type; copies and sets unchanged."""
    if is_memory_kernel(name) or ("<" not in name and "(" not in name):
        return name
    kept = ""
    for letter in name.replace("->", ""):
        if letter in ">)":
            kept = kept[:max(0, kept.rfind("<" if letter == ">" else "("))]
        else:
            kept += letter
    return kept.split(" ")[-1]


def merge_kernel_intervals(kernel_df: pd.DataFrame) -> pd.DataFrame:
    """Union of the rows' spans as rows (ts, end); touching spans join."""
    if kernel_df.empty:
        return pd.DataFrame({"ts": kernel_df["ts"], "end": kernel_df["ts"]})
    order = np.argsort(kernel_df["ts"].to_numpy(), kind="stable")
    start = kernel_df["ts"].to_numpy()[order]
    end = np.maximum.accumulate(start + kernel_df["dur"].to_numpy()[order])
    first = np.flatnonzero(np.r_[True, start[1:] > end[:-1]])
    last = np.r_[first[1:] - 1, len(start) - 1]
    return pd.DataFrame({"ts": start[first], "end": end[last]})


def holds_text(column: pd.Series) -> bool:
    """Whether a column is of text, however pandas stores it."""
    return not pd.api.types.is_numeric_dtype(column)


def get_symbol_column_names(df: pd.DataFrame) -> Tuple[str, str]:
    """Columns of df that hold names and categories as text, "" where there is none."""

    def text_column(column: str) -> str:
        for candidate in (column, f"s_{column}"):
            if candidate in df.columns and holds_text(df[candidate]):
                return candidate
        return ""

    return text_column("name"), text_column("cat")


def flatten_column_names(df: pd.DataFrame) -> None:
    """("dur", "sum") becomes "dur_sum", in place."""
    if df.columns.nlevels > 1:
        df.columns = ["_".join(str(part) for part in column).rstrip("_") for column in df.columns]


def normalize_gpu_stream_numbers(df: pd.DataFrame) -> None:
    """stream as int in place; what is no number becomes -1."""
    if "stream" not in df.columns:
        logger.error("there is no column stream")
        return
    streams = pd.to_numeric(df["stream"], errors="coerce").fillna(-1).astype("int64")
    df["stream"] = streams.mask(streams == 2**32 - 1, -1)


def normalize_path(path: str) -> str:
    """A path that begins with ./ or ~/ from the root; others as they are."""
    for prefix, place in (("./", os.getcwd()), ("~/", os.path.expanduser("~"))):
        if path.startswith(prefix):
            return os.path.join(place, path[2:]) if path[2:] else place
    return path


def get_mp_pool_size(obj_size: int, num_objs: int) -> int:
    """How many processes HTA would use. The engine uses threads of its own."""
    return max(1, min(multiprocessing.cpu_count(), num_objs))


def get_value_from_dict(config: Dict[str, Any], dot_path: str, default_value: Any = None) -> Any:
    """The value at "a.b.c" in nested dicts, default_value where there is none."""
    found: Any = config
    for key in dot_path.split("."):
        if not isinstance(found, dict) or key not in found:
            return default_value
        found = found[key]
    return found
