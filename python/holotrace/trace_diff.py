# SPDX-License-Identifier: Apache-2.0
"""TraceDiff: which operators and kernels were added, removed, or take more or less time.

    from holotrace.trace_diff import TraceDiff, LabeledTrace, DeviceType
    control, test = LabeledTrace("before", trace_dir="a/"), LabeledTrace("after", trace_dir="b/")
    TraceDiff.compare_traces(control, test)
"""

import os
import random
from enum import Enum
from typing import Dict, List, Optional, Union

import holotrace._hta  # noqa: F401  first: says what is missing without pandas

import numpy as np
import pandas as pd

from holotrace._hta import plots
from holotrace._hta.engine import Result
from holotrace.common.trace import Trace
from holotrace.utils.utils import shorten_name

__all__ = ["DeviceType", "LabeledTrace", "TraceDiff"]

TraceDir = str


class DeviceType(Enum):
    """Which rows to compare."""

    CPU = 1
    GPU = 2
    ALL = 3


def _as_list(value) -> list:
    return list(value) if isinstance(value, (list, tuple, set, range)) else [value]


class LabeledTrace:
    """Traces of a run with a label for tables: of a Trace, or of those in a directory.

        before = LabeledTrace("before", trace_dir="before/")
        before.ranks(), before.iterations()
    """

    def __init__(self, label: Optional[str] = None, t: Optional[Trace] = None,
                 trace_dir: Optional[str] = None):
        if t is None:
            if trace_dir is None or not os.path.isdir(trace_dir):
                raise ValueError(f"give a Trace or a directory of traces, not {trace_dir!r}")
            t = Trace(trace_dir=trace_dir)
        if not t.is_parsed:
            t.parse_traces()
        self.label = label if label is not None else f"t{random.randint(0, 10)}"
        self.t = t
        self.iteration_df = self._extract_iterations()

    @property
    def s_map(self) -> pd.Series:
        """Ids by name."""
        return self.t.symbol_table.get_sym_index_series()

    @property
    def s_tab(self) -> pd.Series:
        """Names by id."""
        return self.t.symbol_table.get_sym_table_series()

    def _extract_iterations(self) -> pd.DataFrame:
        prefix = "ProfilerStep#"
        rows = [(name, i, int(name[len(prefix):])) for name, i in self.t.symbol_table.sym_index.items()
                if name.startswith(prefix) and name[len(prefix):].isdigit()]
        return pd.DataFrame(rows, columns=["symbol", "id", "iteration"])

    def ranks(self) -> List[int]:
        """Ranks, ascending."""
        return sorted(self.t.traces)

    def iterations(self) -> List[int]:
        """Numbers of the profiler steps, of all ranks."""
        return sorted(self.iteration_df["iteration"].tolist())

    def _chosen(self, what: str, asked, available: List[int]) -> List[int]:
        if not available:
            raise ValueError(f"{self.label} has no {what}s")
        if asked is None:
            return available[:1]
        if not isinstance(asked, (int, np.integer, list, tuple, set, range)):
            raise ValueError(f"a {what} is a number or a list of them, not {asked!r}")
        chosen = [int(one) for one in _as_list(asked)]
        for one in chosen:
            if one not in available:
                raise ValueError(f"{self.label} has no {what} {one}; it has {available}")
        return chosen

    def chosen_ranks(self, rank) -> List[int]:
        return self._chosen("rank", rank, self.ranks())

    def chosen_iterations(self, iteration) -> List[int]:
        return self._chosen("iteration", iteration, self.iterations())

    def extract_ops(self, rank: Optional[Union[int, List[int]]] = None,
                    iteration: Optional[Union[int, List[int]]] = None,
                    device_type: DeviceType = DeviceType.ALL) -> pd.DataFrame:
        """Rows of the chosen ranks and steps, with the column rank; the first of each by default."""
        frames = []
        steps = self.chosen_iterations(iteration)
        for one in self.chosen_ranks(rank):
            df = self.t.get_trace(one)
            df = df[df["iteration"].isin(steps)]
            if device_type is not DeviceType.ALL:
                df = df[(df["stream"] == -1) == (device_type is DeviceType.CPU)]
            frames.append(df.assign(rank=one))
        return pd.concat(frames)

    def get_ops_summary(self, ops: pd.DataFrame) -> pd.DataFrame:
        """Counts and summed durations per category and name."""
        grouped = ops.groupby(["cat", "name"], sort=True)["dur"].agg(["count", "sum"]).reset_index()
        table = self.t.symbol_table
        names = table.texts(grouped["name"])
        return pd.DataFrame({
            "cat": table.texts(grouped["cat"]),
            "name": names,
            "short_name": np.array([shorten_name(name) for name in names], dtype=object),
            "counts": grouped["count"],
            "total_duration": grouped["sum"],
            "cat_id": grouped["cat"],
            "name_id": grouped["name"],
        })


def _labeled(t: Union[LabeledTrace, Trace, str], default_label: str) -> LabeledTrace:
    if isinstance(t, LabeledTrace):
        return t
    if isinstance(t, Trace):
        return LabeledTrace(default_label, t)
    if isinstance(t, str):
        return LabeledTrace(default_label, trace_dir=t)
    raise ValueError(f"compare LabeledTraces, Traces or directories, not {type(t).__name__}")


class TraceDiff:
    """Comparisons of two runs."""

    @classmethod
    def compare_traces(cls, control: Union[LabeledTrace, Trace, str],
                       test: Union[LabeledTrace, Trace, str],
                       control_rank: Optional[Union[int, List[int]]] = None,
                       test_rank: Optional[Union[int, List[int]]] = None,
                       control_iteration: Optional[Union[int, List[int]]] = None,
                       test_iteration: Optional[Union[int, List[int]]] = None,
                       device_type: DeviceType = DeviceType.ALL,
                       use_short_name: bool = False) -> pd.DataFrame:
        """Counts and durations by name in both runs, and test minus control.

            control, test                      LabeledTraces, Traces or directories
            control_rank, test_rank            which ranks; by default the first
            control_iteration, test_iteration  which profiler steps; by default the first
            device_type                        DeviceType.CPU, .GPU or .ALL
            use_short_name                     names without templates and arguments

        Returns per name: counts and total durations (us) of both, diff_counts, diff_duration and
        counts_change_categories (+, - or =). Rows are control's names in order, then those that only
        test has.

            TraceDiff.compare_traces("before/", "after/", device_type=DeviceType.GPU)
        """
        control, test = _labeled(control, "Control"), _labeled(test, "Test")
        arguments = {
            "hta-compat": True,
            "control-rank": control.chosen_ranks(control_rank),
            "test-rank": test.chosen_ranks(test_rank),
            "control-step": control.chosen_iterations(control_iteration),
            "test-step": test.chosen_iterations(test_iteration),
            "device": device_type.name.lower(),
            "short-names": bool(use_short_name),
        }
        given = {key: ",".join(map(str, value)) if isinstance(value, list) else value
                 for key, value in arguments.items()}
        result = Result(control.t.core.run("diff", given, other=test.t.core))
        return cls._frame(result, control.label, test.label, use_short_name)

    @classmethod
    def _frame(cls, result: Result, control: str, test: str, use_short_name: bool) -> pd.DataFrame:
        if test == control:
            test = f"{control}_test"
        counts = [result.ints("control_count"), result.ints("test_count")]
        times = [result.ints("control_ns"), result.ints("test_ns")]
        if (counts[0] == 0).any() or (counts[1] == 0).any():
            counts = [column.astype(np.float64) for column in counts]
            times = [column / 1000 for column in times]
        elif not any((column % 1000).any() for column in times):
            times = [column // 1000 for column in times]
        else:
            times = [column / 1000 for column in times]
        difference = counts[1] - counts[0]
        longer = np.round(times[1] - times[0], 3)  # nanoseconds; what is below is noise of doubles
        return pd.DataFrame({
            f"{control}_counts": counts[0],
            f"{control}_total_duration": times[0],
            f"{test}_counts": counts[1],
            f"{test}_total_duration": times[1],
            "diff_counts": difference,
            "diff_duration": longer,
            "counts_change_categories": np.where(difference > 0, "+", np.where(difference < 0, "-", "=")),
        }, index=pd.Index(result.texts("name"), name="short_name" if use_short_name else "name"))

    @classmethod
    def ops_diff(cls, control: Union[LabeledTrace, Trace, str],
                 test: Union[LabeledTrace, Trace, str],
                 control_rank: Optional[Union[int, List[int]]] = None,
                 test_rank: Optional[Union[int, List[int]]] = None,
                 control_iteration: Optional[Union[int, List[int]]] = None,
                 test_iteration: Optional[Union[int, List[int]]] = None,
                 device_type: DeviceType = DeviceType.ALL) -> Dict[str, List[str]]:
        """Names by what happened to their counts: added, deleted, increased, decreased, unchanged.

        Arguments as for compare_traces().

            TraceDiff.ops_diff("before/", "after/")["added"]
        """
        df = cls.compare_traces(control, test, control_rank, test_rank, control_iteration,
                                test_iteration, device_type)
        before, after = df.iloc[:, 0], df.iloc[:, 2]
        masks = {
            "added": (before == 0) & (after > 0),
            "deleted": (before > 0) & (after == 0),
            "increased": (before > 0) & (after > before),
            "decreased": (after > 0) & (after < before),
            "unchanged": (after > 0) & (after == before),
        }
        return {key: df.index[mask].tolist() for key, mask in masks.items()}

    @classmethod
    def visualize_counts_diff(cls, df: pd.DataFrame, show_image: bool = True,
                              export_image_path: Optional[str] = None) -> None:
        """Bars of the counts of both runs and their difference.

            df                  rows of compare_traces()
            show_image          show the chart
            export_image_path   a file to write it to, .html or an image
        """
        plots.show_or_save(plots.difference(df, "counts"), show_image, export_image_path)

    @classmethod
    def visualize_duration_diff(cls, df: pd.DataFrame, show_image: bool = True,
                                export_image_path: Optional[str] = None) -> None:
        """Bars of the durations of both runs and their difference; arguments as for the counts."""
        plots.show_or_save(plots.difference(df, "duration"), show_image, export_image_path)
