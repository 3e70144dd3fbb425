# SPDX-License-Identifier: Apache-2.0
"""Record PyTorch's operators as an execution trace, at a small part of what PyTorch's own observer costs.

    python -m holotrace.torch build            once for each torch that is installed; needs a C++ compiler

    from holotrace import ExecutionTraceObserver
    with torch.profiler.profile(execution_trace_observer=ExecutionTraceObserver().register_callback(path)):
        train()

The observer has the methods of torch.profiler.ExecutionTraceObserver and writes the same file. It keeps
what happens in memory of each thread and makes the file at the end; until then there is PATH.part, from
which `holotrace record --recover PATH.part` makes the file when the process was killed.
"""
from ._observer import ExecutionTraceObserver

__all__ = ["ExecutionTraceObserver"]
