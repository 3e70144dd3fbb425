# SPDX-License-Identifier: Apache-2.0
"""Writing traces with what analyses found drawn into them."""

import os
import tempfile

from holotrace._hta.engine import compat
from holotrace.common.trace_file import read_trace

#: How files are named that were made from a trace; they are no traces of other ranks.
COUNTERS_SUFFIX = "_with_counters"
CRITICAL_PATH_PREFIX = "overlaid_critical_path_"
SEQUENCES_PREFIX = "overlaid_"


def _arguments(t, values):
    given = {key: value for key, value in values.items() if value is not None}
    given["hta-rows"] = True
    if t.include_last:
        given["step"] = "all"
    if compat():
        given["hta-compat"] = True
    return given


def _write(t, rank, target, **what):
    """The engine writes the file, unless write_raw_trace() was replaced: that then gets the document."""
    if getattr(type(t).write_raw_trace, "writes_files", False):
        t.core.convert(target, ranks=str(rank), partial=True, **what)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json.gz")
        t.core.convert(path, ranks=str(rank), partial=True, **what)
        t.write_raw_trace(target, read_trace(path))


def write_sequences(t, rank, target, arguments, compress_other_kernels=True):
    """The trace of a rank with the patterns of kernel sequences in the arguments of their events.

    compress_other_kernels is accepted for HTA's sake: names and arguments of other events are kept,
    and the file is small because it is compressed.
    """
    _write(t, rank, target, overlay="kernel-sequences", overlay_args=_arguments(t, arguments))


def write_critical_path(t, rank, target, arguments):
    """The trace of a rank with the critical path as arrows."""
    _write(t, rank, target, overlay="critical-path", overlay_args=_arguments(t, arguments))


def write_counters(t, rank, target):
    """The trace of a rank with queue lengths and bandwidths as counters."""
    _write(t, rank, target, with_counters=True)


def with_suffix(path, suffix):
    """a/b.json.gz with the suffix before the ending of its name: a/b_suffix.json.gz."""
    folder, name = os.path.split(path)
    stem, dot, ending = name.partition(".json")
    return os.path.join(folder, f"{stem}{suffix}{dot}{ending}" if dot else name + suffix)
