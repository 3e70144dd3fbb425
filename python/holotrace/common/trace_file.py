# SPDX-License-Identifier: Apache-2.0
"""Trace files: finding, reading and writing them as JSON."""

import gzip
import json
import logging
import os
import tempfile
from typing import Any, Dict, List, Tuple

logger = logging.getLogger("hta")


def _files_in(folder: str) -> List[str]:
    if not os.path.isdir(folder):
        logger.error("%s is not a directory", folder)
        return []
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if name.endswith((".gz", ".json")))


def read_header(core, rank) -> Dict[str, Any]:
    """What the file of a rank says besides its events."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "header.json")
        core.convert(path, ranks=str(rank), categories="-", partial=True)
        header = read_trace(path)
    header.pop("traceEvents", None)
    return header


def _rank_of(path: str) -> int:
    """The rank that a file says; else, with a warning, the one that its name says, or 0."""
    from holotrace._session import core_open

    core = core_open([path])
    try:
        rank = core.ranks[0]
        if "rank" not in (read_header(core, rank).get("distributedInfo") or {}):
            logger.warning("%s: the trace file does not have the rank; taken for rank %d", path, rank)
        return rank
    finally:
        core.close()


def create_rank_to_trace_dict(file_list: List[str]) -> Tuple[bool, Dict[int, str]]:
    """{rank: file} by what the files say of themselves; of files of equal rank the last is kept.

    A Trace of the same files has them all: it gives the others ranks of their own.
    """
    from holotrace._errors import Error

    files: Dict[int, str] = {}
    for path in file_list:
        try:
            rank = _rank_of(path)
        except Error as error:
            logger.error("%s", error)
            return False, {}
        if rank in files:
            logger.warning("%s has the same rank, %d, as %s, which is left out", path, rank, files[rank])
        files[rank] = path
    if not files:
        logger.error("no trace files")
    return bool(files), files


def create_rank_to_trace_dict_from_dir(trace_dir: str) -> Tuple[bool, Dict[int, str]]:
    return create_rank_to_trace_dict(_files_in(trace_dir))


def get_trace_files(trace_path: str) -> Dict[int, str]:
    """{rank: file} of the traces directly in a directory; {} when there are none."""
    return create_rank_to_trace_dict_from_dir(trace_path)[1]


def read_trace(file_path: str) -> Dict[str, Any]:
    """The whole document as Python objects. This is slow: t.traces and the analyses are not."""
    if file_path.endswith(".gz"):
        with gzip.open(file_path, "rt", encoding="utf-8", errors="replace") as file:
            return json.load(file)
    if file_path.endswith(".json"):
        with open(file_path, encoding="utf-8", errors="replace") as file:
            return json.load(file)
    raise ValueError(f"{file_path}: the name of a trace must end in '.gz' or 'json'")


def write_trace(trace_data: Dict[str, Any], file_path: str) -> None:
    """Write a document: gzip when the name ends in .gz, else indented JSON."""
    os.makedirs(os.path.dirname(os.path.abspath(file_path)), exist_ok=True)
    if file_path.endswith(".gz"):
        with gzip.open(file_path, "wt", encoding="utf-8") as file:
            json.dump(trace_data, file)
    else:
        with open(file_path, "w", encoding="utf-8") as file:
            json.dump(trace_data, file, indent=2)


def update_trace_rank(file_path: str, rank: int) -> None:
    """Set distributedInfo.rank of a file, in place."""
    trace = read_trace(file_path)
    trace.setdefault("distributedInfo", {})["rank"] = rank
    write_trace(trace, file_path)
