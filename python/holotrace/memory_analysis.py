# SPDX-License-Identifier: Apache-2.0
"""MemoryAnalysis: memory over time from a file of PyTorch's memory profiler.

The file is what export_memory_timeline("x.raw.json.gz") writes: a list of [time in ns, action, bytes,
category], bytes being negative when memory is freed.
"""

import gzip
import json
from enum import Enum
from typing import List, Tuple

import holotrace._hta  # noqa: F401  first: says what is missing without pandas

import numpy as np
import pandas as pd

from holotrace._hta import plots


class Category(Enum):
    INPUT = 1
    TEMPORARY = 2
    ACTIVATION = 3
    GRADIENT = 4
    AUTOGRAD_DETAIL = 5
    PARAMETER = 6
    OPTIMIZER_STATE = 7


# position in the sizes of a sample
CATEGORY_NAMES = ["Parameter", "Optimizer state", "Input", "Temporary", "Activation", "Gradient",
                  "Autograd detail", "Unknown"]


class MemoryAnalysis:
    """Memory held per category after every event of a raw memory timeline.

        memory = MemoryAnalysis("memory.raw.json.gz")
        memory.get_memory_peaks()
    """

    def __init__(self, path):
        self.path = path

    def _read(self) -> np.ndarray:
        with open(self.path, "rb") as file:
            data = file.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        events = json.loads(data)
        if not isinstance(events, list):
            raise ValueError(f"{self.path} is not a raw memory timeline")
        return np.array(events, dtype=np.int64).reshape(-1, 4)

    def _samples(self) -> Tuple[np.ndarray, np.ndarray]:
        """Times, and sizes by time and category. Events of one time in a row make one sample.

        Memory from before the recording has a negative time and counts from the first real one.
        """
        events = self._read()
        if not len(events):
            return np.empty(0, dtype=np.int64), np.empty((0, len(CATEGORY_NAMES)), dtype=np.int64)
        time, size = events[:, 0], events[:, 2]
        category = np.clip(events[:, 3], 0, len(CATEGORY_NAMES) - 1)
        positive = time[time > 0]
        shown = np.where(time < 0, positive.min() if len(positive) else 0, time)
        change = np.zeros((len(events), len(CATEGORY_NAMES)), dtype=np.int64)
        change[np.arange(len(events)), category] = size
        last = np.flatnonzero(np.r_[time[1:] != time[:-1], True])
        return shown[last], change.cumsum(axis=0)[last]

    def _process_raw_events(self) -> Tuple[List[int], List[List[int]]]:
        times, sizes = self._samples()
        return times.tolist(), sizes.tolist()

    def get_memory_timeline(self) -> pd.DataFrame:
        """Bytes per category over time; time_ms is from the first event."""
        times, sizes = self._samples()
        df = pd.DataFrame(sizes, columns=CATEGORY_NAMES)
        df.insert(0, "time_ms", (times - times[0]) / 1e6 if len(times) else times.astype(float))
        return df

    def get_memory_peaks(self) -> pd.DataFrame:
        """Largest size of every category and of the total, and when."""
        df = self.get_memory_timeline()
        columns = {**{name: df[name] for name in CATEGORY_NAMES}, "Total": df[CATEGORY_NAMES].sum(axis=1)}
        return pd.DataFrame(
            [(name, int(column.max()), df["time_ms"][column.idxmax()])
             for name, column in columns.items() if len(column)],
            columns=["category", "peak_bytes", "time_ms"])

    def plot_memory_timeline(self, save_graph=False) -> None:
        """Stacked areas of the categories; save_graph writes images/memory_plot.png."""
        figure = plots.memory(self.get_memory_timeline(), CATEGORY_NAMES)
        plots.show_or_save(figure, True, "images/memory_plot.png" if save_graph else None)
