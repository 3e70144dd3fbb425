# SPDX-License-Identifier: Apache-2.0
"""Holotrace: what PyTorch profiler traces say, from a native engine.

    import holotrace
    run = holotrace.open("traces/")            one or many files, one per rank
    run.temporal_breakdown()                   every analysis is a method that returns a Table
    run.kernel_breakdown(rank=0, top=20).to_pandas()

The page of `holotrace serve`, in a notebook's cell or a browser:

    holotrace.serve("runs")                    or run.serve()

Many runs over time, and where their numbers changed:

    holotrace.history("runs.db", add=run, label=commit)

Users of HTA replace hta by holotrace in their imports:

    from holotrace.trace_analysis import TraceAnalysis

Programs that use PyTorch record execution traces with holotrace.ExecutionTraceObserver.
"""
from ._core import version as _version
from ._errors import (CancelledError, Error, InputError, LimitError, LossWarning, MissingError,
                      UsageError)
from ._session import Session, diff, et_check, et_link, et_nodes, gate, open
from ._table import Column, Table
from ._serve import Server, serve
from ._history import history
from .options import options

__version__ = _version()
__all__ = ["open", "diff", "gate", "et_nodes", "et_check", "et_link", "options", "Session", "Report", "serve", "Server", "history", "Table", "Column",
           "Error", "InputError", "UsageError", "LimitError", "MissingError", "CancelledError", "LossWarning"]


def __getattr__(name):
    """What few programs need is loaded when it is asked for; the observer is for those that use torch."""
    if name == "ExecutionTraceObserver":
        from .torch import ExecutionTraceObserver
        return ExecutionTraceObserver
    if name == "Report":
        from ._report import Report
        return Report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
