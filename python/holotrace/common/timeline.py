# SPDX-License-Identifier: Apache-2.0
"""Timelines of events with plotly: Timeline(events, symbol_table).plot(title)."""

import logging
import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import List, Optional

import pandas as pd

from holotrace._hta import plots
from holotrace.common.trace_filter import Filter
from holotrace.common.trace_symbol_table import TraceSymbolTable
from holotrace.utils.utils import holds_text

logger = logging.getLogger("hta")
__getattr__ = plots.px_only

CPUStreamID = -1
AnnotationStreamID = 0
DefaultMustHaveColumns = ["name", "ts", "dur"]
DefaultTaskLabelColumns = ["stream", "rank", "trace", "depth"]
DefaultHoverColumns = ["trace", "rank", "iteration", "stream", "cat", "index"]
DefaultCallStackHoverColumns = ["name", "cat", "index", "ts", "dur", "rank", "stream", "height",
                                "depth", "tid", "index_correlation"]
REQUIRED_COLUMNS_FOR_CPU_GPU_ALIGNMENT = {"dur", "stream", "ts", "kernel_span", "num_kernels", "name",
                                          "first_kernel_start", "index"}


class EventType(Enum):
    GPUEvents = 0
    CPUEvents = 1
    AllEvents = 2


class PlotFormat(Enum):
    HTML = "html"
    Inline = "inline"
    File = "file"


@dataclass
class TimelinePlotSetting:
    """How a timeline is drawn; auto_detect finds event_type and multi_* from the events."""

    auto_detect: bool = True
    event_type: EventType = EventType.GPUEvents
    multi_ranks: bool = False
    multi_traces: bool = False
    multi_streams: bool = True
    x_start_column: str = "calibrated_start_global"
    x_end_column: str = "calibrated_end_global"
    task_column: str = "task"
    color_column: str = "name"
    task_height: int = 30
    amplify_short_events: bool = True
    short_events_display_duration: int = 1000
    use_global_time: bool = False
    plot_format: PlotFormat = PlotFormat.Inline
    compress_threads: bool = True


DefaultTimelinePlotSetting = TimelinePlotSetting()


def auto_detect_setting(events: pd.DataFrame, setting: TimelinePlotSetting) -> None:
    """Set event_type and multi_* from the events, in place."""
    for column, name in (("rank", "multi_ranks"), ("trace", "multi_traces"), ("stream", "multi_streams")):
        if column in events.columns:
            setattr(setting, name, events[column].nunique() > 1)
    if "stream" in events.columns and len(events):
        host = events["stream"] == CPUStreamID
        if host.all():
            setting.event_type = EventType.CPUEvents
        else:
            setting.event_type = EventType.AllEvents if host.any() else EventType.GPUEvents


def _simplify_name(name: str, max_length: int = 45) -> str:
    """A label for an event: annotations, copies and sets whole, kernels without arguments."""
    max_length = max(20, max_length)
    if re.match(r"##.*##|<.*>|Mem\w+[^(]*\(", name):
        text = name
    else:
        text = name.replace("(anonymous namespace)::", "anon::").replace("void ", "")
        text = text.replace("autograd::engine::evaluate_function: ", "autograd::")
        text = text.partition("(")[0].rstrip() or text
    return text if len(text) < max_length else text[:max_length - 3] + "..."


def _task_names(events: pd.DataFrame, setting: TimelinePlotSetting) -> pd.Series:
    """Which line of the chart an event is on."""
    names = pd.Series("", index=events.index)
    if setting.multi_traces and "trace" in events.columns:
        names += "[" + events["trace"].astype(str) + "]"
    if setting.multi_ranks and "rank" in events.columns:
        names += "[rank " + events["rank"].astype(str) + "]"
    if "stream" not in events.columns:
        return names + "events"
    gpu = names + "gpu stream " + events["stream"].map("{:03d}".format)
    if "depth" in events.columns and setting.compress_threads:
        host = names + "cpu level " + events["depth"].astype(int).map("{:03d}".format)
    elif "tid" in events.columns and not setting.compress_threads:
        host = names + events["tid"].astype(str)
    else:
        host = names + "cpu events"
    made = host.where(events["stream"] == CPUStreamID, gpu)
    if setting.event_type is EventType.AllEvents:
        made = made.mask(events["stream"] == AnnotationStreamID, names + "gpu annotate")
    return made


def _problem(missing: List[str]) -> str:
    return f"the events have no column {', '.join(missing)}" if missing else "there are no events"


def prepare_timeline_events(df: pd.DataFrame,
                            setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
                            symbol_table: Optional[TraceSymbolTable] = None,
                            hover_columns: Optional[List[str]] = None) -> pd.DataFrame:
    """Events with the columns that plot_events_timeline needs: start, end, task, label.

    Times are us since the first event, or dates with setting.use_global_time. Events shorter than
    setting.short_events_display_duration (us) are drawn as long as that if setting.amplify_short_events.
    """
    missing = [column for column in DefaultMustHaveColumns if column not in df.columns]
    if missing or df.empty:
        logger.error("%s", _problem(missing))
        return pd.DataFrame()
    events = df.reset_index(drop=True).copy()
    if setting.auto_detect:
        auto_detect_setting(events, setting)
    for column in ("name", "cat"):
        if column in events.columns and not holds_text(events[column]) and symbol_table is not None:
            events[column] = symbol_table.texts(events[column])
    start = events["ts"] if setting.use_global_time else events["ts"] - events["ts"].min()
    length = events["dur"]
    if setting.amplify_short_events:
        length = length.clip(lower=setting.short_events_display_duration)
    for column, time in ((setting.x_start_column, start), (setting.x_end_column, start + length)):
        events[column] = pd.to_datetime(time, unit="us") if setting.use_global_time else time
    events[setting.task_column] = _task_names(events, setting)
    events["label"] = [_simplify_name(str(name)) for name in events["name"]]
    order = [column for column in ("trace", "rank", "stream", "tid", "depth", "ts") if column in events]
    return events.sort_values(order, kind="stable", ignore_index=True)


def plot_events_timeline(title: str, events: pd.DataFrame,
                         setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
                         hover_columns: Optional[List[str]] = None,
                         output_image_path: Optional[str] = None) -> Optional[str]:
    """Draw prepared events inline, as text of HTML (returned), or into a file.

    title               of the chart
    events              what prepare_timeline_events() returned
    setting             how it is drawn, and setting.plot_format where to
    hover_columns       columns that show when the mouse is over an event
    output_image_path   a file to write as well: .html, or an image
    """
    needed = {setting.x_start_column, setting.x_end_column, setting.task_column} - set(events.columns)
    if events.empty or needed:
        logger.error("%s", _problem(sorted(needed) if len(events) else []))
        return None
    tasks = events[setting.task_column].nunique()
    height = 150 + tasks * (80 if tasks < 20 else setting.task_height)
    color = "label" if setting.color_column == "name" else setting.color_column
    figure = plots.timeline(events, title, setting.x_start_column, setting.x_end_column,
                            setting.task_column, color, hover_columns or DefaultHoverColumns, height)
    if figure is None:
        return None
    path = output_image_path
    if setting.plot_format is PlotFormat.File and not path:
        path = get_fig_name_from_fig_title(title) + ".html"
    if path:
        plots.show_or_save(figure, False, path)
    if setting.plot_format is PlotFormat.HTML:
        return figure.to_html()
    if setting.plot_format is PlotFormat.Inline:
        plots.show(figure)
    return None


class Timeline:
    """Events to draw, filtered and prepared once: timeline_events.

        Timeline(t.get_trace(0), t.symbol_table, GPUKernelFilter()).plot("kernels")
    """

    def __init__(self, timeline_events: pd.DataFrame, symbol_table: TraceSymbolTable,
                 filter_func: Optional[Filter] = None,
                 setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
                 hover_columns: Optional[List[str]] = None) -> None:
        self.timeline_events = timeline_events
        self.symbol_table = symbol_table
        self.setting = replace(setting)
        self.hover_columns = hover_columns or DefaultHoverColumns
        self.prepare(filter_func)

    @staticmethod
    def is_timeline_events(df: pd.DataFrame, setting: TimelinePlotSetting) -> bool:
        return {setting.x_start_column, setting.x_end_column, setting.task_column} <= set(df.columns)

    def prepare(self, filter_func: Optional[Filter] = None) -> None:
        """Filter the events and give them what a timeline needs; again, it changes nothing."""
        if self.is_timeline_events(self.timeline_events, self.setting):
            return
        events = filter_func(self.timeline_events, self.symbol_table) if filter_func else self.timeline_events
        self.timeline_events = prepare_timeline_events(events, self.setting, self.symbol_table)

    def plot(self, title: str, save_path: Optional[str] = None) -> Optional[str]:
        """Draw them as the setting says, and into a file if one is named."""
        return plot_events_timeline(title, self.timeline_events, self.setting, self.hover_columns, save_path)


def align_module_with_kernels(events_df: pd.DataFrame, module_list: List[str],
                              sym_table: Optional[TraceSymbolTable] = None,
                              include_original_cpu_events: bool = False) -> pd.DataFrame:
    """Kernels, and host rows that match a pattern as annotations over the kernels they launch."""
    missing = REQUIRED_COLUMNS_FOR_CPU_GPU_ALIGNMENT - set(events_df.columns)
    if missing:
        raise ValueError(f"the events have no column {', '.join(sorted(missing))}; make a CallGraph first")
    names = events_df["name"]
    if not holds_text(names):
        if sym_table is not None:
            names = pd.Series(sym_table.texts(names), index=events_df.index)
        elif "s_name" in events_df.columns and holds_text(events_df["s_name"]):
            names = events_df["s_name"]
        else:
            raise ValueError("names are ids: a symbol table or the column s_name is needed")
    pattern = re.compile("|".join(f"(?:{one})" for one in module_list))
    wanted = names.map(lambda name: pattern.search(name) is not None).astype(bool)
    modules = events_df[wanted & (events_df["stream"] == CPUStreamID) & (events_df["num_kernels"] > 0)].copy()
    modules["ts"], modules["dur"] = modules["first_kernel_start"], modules["kernel_span"]
    modules["stream"] = AnnotationStreamID
    kept = events_df[events_df["stream"] > 0]
    if include_original_cpu_events:
        kept = events_df[events_df["stream"] != AnnotationStreamID]
    return pd.concat([kept, modules])


def get_fig_name_from_fig_title(title: str) -> str:
    """A file name from a title."""
    return re.sub(r"\W+", "_", title.strip().lower()).strip("_") or "untitled_figure"


def get_fig_title_from_fig_name(fig_name: str, sep: str = r"\s+|_+|-+") -> str:
    """A title from a file name."""
    words = re.split(sep, fig_name.rsplit("/", 1)[-1].rsplit(".", 1)[0])
    return " ".join(word.capitalize() for word in words if word) or "Untitled Figure"
