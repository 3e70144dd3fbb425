# SPDX-License-Identifier: Apache-2.0
"""Profiler steps, and ranks that keep the others waiting."""

import logging
from typing import Callable, List, Optional

import numpy as np
import pandas as pd

from holotrace._hta import plots
from holotrace.analyzers.straggler import find_stragglers_with_late_start_comm_kernels

logger = logging.getLogger("hta")


class StragglerAnalysis:
    """Profiler steps and stragglers, as class methods over a Trace."""

    @classmethod
    def get_profiler_steps(cls, t) -> List[int]:
        """Numbers of the profiler steps that are loaded, ascending."""
        prefix, names = "ProfilerStep#", set()
        for source in ("cpu", "gpu"):
            result = t.run("annotation-breakdown", ranks=t.get_ranks(), source=source, num_kernels=10**9,
                           columns=["name"])
            names.update(result.codes("name")[1])
        return sorted(int(name[len(prefix):]) for name in names
                      if name.startswith(prefix) and name[len(prefix):].isdigit())

    @classmethod
    def get_potential_stragglers(
            cls, t, profiler_steps: Optional[List[int]] = None, num_candidates: int = 2,
            visualize: bool = False,
            straggler_identification_impl: Callable[..., pd.Series] =
            find_stragglers_with_late_start_comm_kernels) -> List[int]:
        """The ranks that delay the others most, worst first; nobody when nobody does.

        Of the chosen steps, of all by default, and of everything in traces without steps.
        By default the engine matches collectives over ranks and adds up how much earlier each would
        have begun without its last rank, once where several wait at a time. Another function gets (df, symbol_table, num_candidates,
        visualize) and returns scores by rank.
        """
        num_candidates = max(1, int(num_candidates))
        available = cls.get_profiler_steps(t)
        steps = [step for step in available if profiler_steps is None or step in profiler_steps]
        if not steps and profiler_steps:
            raise ValueError(f"profiler_steps={profiler_steps} has none of the steps {available}")
        if straggler_identification_impl is not find_stragglers_with_late_start_comm_kernels:
            df = pd.concat([(df[df["iteration"].isin(steps)] if steps else df).assign(rank=rank)
                            for rank, df in t.traces.items()])
            scores = straggler_identification_impl(df, t.symbol_table, num_candidates, visualize)
            return [int(rank) for rank in scores.index[:num_candidates]]
        result = t.run("stragglers", ranks=t.get_ranks(), view="ranks", num_candidates=num_candidates,
                       step=",".join(str(step) for step in steps) if steps else "all")
        order = np.argsort(-result.ints("delay_ns", missing=0), kind="stable")
        if visualize:
            for figure in plots.stragglers(result, order):
                plots.show(figure)
        candidates = result.ints("candidate", missing=0)
        if not candidates.any():
            for finding in result.table.findings:
                if finding["kind"] == "slow-rank" and finding["state"] == "unknown":
                    logger.warning("no verdict: %s", finding["sentence"])
        return [int(result.ints("rank")[i]) for i in order if candidates[i]][:num_candidates]
