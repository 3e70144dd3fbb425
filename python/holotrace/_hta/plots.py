# SPDX-License-Identifier: Apache-2.0
"""HTA's charts with plotly, in the colours of the classes of work.

Functions return a figure, a list of figures, or None (an empty list) without plotly or data.
"""

import functools
import importlib.util
import logging
import os
import warnings
from html import escape

import pandas as pd

from holotrace._show import COLORS, color_of, distinct_colors, shorten

logger = logging.getLogger("hta")

_MAX_NAME = 60
_told = False


def has_plotly():
    """Whether plotly is there; says once what to install when not."""
    global _told
    if importlib.util.find_spec("plotly") is not None:
        return True
    if not _told:
        _told = True
        warnings.warn("charts need plotly: pip install plotly, or python3-plotly from Debian; "
                      "visualize=False asks for tables only", stacklevel=4)
    return False


def _chart(many=False):
    """Decorator: nothing without plotly."""

    def decorate(make):
        @functools.wraps(make)
        def guarded(*arguments, **keywords):
            if not has_plotly():
                return [] if many else None
            return make(*arguments, **keywords)

        return guarded

    return decorate


def px_only(name):
    """__getattr__ of modules that have plotly.express as px, which is imported when it is asked for."""
    if name != "px":
        raise AttributeError(f"there is no {name}")
    return importlib.import_module("plotly.express")


def show(figure, renderer=None):
    """Show a figure as plotly is set up to, or with a renderer of plotly's."""
    if figure is None:
        return
    try:
        figure.show(renderer=renderer or None)
    except ValueError as error:
        # plotly lacks something to show with, such as IPython; tables must not fail for that
        warnings.warn(f"plotly cannot show the chart: {error}", stacklevel=3)


def show_or_save(figure, show_image, path):
    """Show a figure, and write it to a file whose ending says how: .html, or an image."""
    if figure is None:
        return
    if path:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        if path.endswith(".html"):
            figure.write_html(path)
        else:
            try:
                figure.write_image(path)
            except ValueError as error:
                raise ValueError(f"images need kaleido (pip install kaleido); {path} with the ending "
                                 ".html needs nothing") from error
    if show_image:
        figure.show()


def _layout(figure, title, x="", y="", **more):
    figure.update_layout(title=title, xaxis_title=x, yaxis_title=y, template="plotly_white", **more)
    return figure


def _plain(name):
    """As plotly shows it: it reads tags in texts, and names of traces are no tags."""
    return escape(str(name), quote=False)


def _short(name):
    return _plain(shorten(str(name), _MAX_NAME))


# ---- breakdowns ----

@_chart()
def overlap(df):
    import plotly.graph_objects as go

    figure = go.Figure(go.Bar(x=df["rank"], y=df["comp_comm_overlap_pctg"],
                              marker_color=COLORS["communication overlapped"],
                              hovertemplate="rank %{x}: %{y:.2f} %<extra></extra>"))
    figure.update_xaxes(type="category")
    return _layout(figure, "Communication hidden behind computation", "rank",
                   "share of communication time [%]")


@_chart()
def temporal(df):
    import plotly.graph_objects as go

    kinds = [("idle", "idle_time"), ("compute", "compute_time"), ("communication", "non_compute_time")]
    figure = go.Figure([
        go.Bar(name=column, x=df["rank"], y=df[f"{column}_pctg"], marker_color=COLORS[kind],
               customdata=df[f"{column}(us)"],
               hovertemplate="rank %{x}: %{y:.2f} %, %{customdata:,.0f} us<extra></extra>")
        for kind, column in kinds])
    figure.update_xaxes(type="category")
    return _layout(figure, "Idle, compute and other time", "rank", "share of the GPU's span [%]",
                   barmode="stack")


@_chart()
def kernel_types(df):
    import plotly.graph_objects as go

    df = df[df["percentage"] > 0]
    colors = distinct_colors(df["kernel_type"])
    figure = go.Figure(go.Pie(labels=df["kernel_type"], values=df["sum"], sort=False,
                              marker_colors=[colors[label] for label in df["kernel_type"]]))
    return _layout(figure, "Types of kernels, of GPU busy time")


def _labels(names):
    """{name: short label}, numbered where two would be alike: plotly adds up slices of one label."""
    labels, used = {}, {}
    for name in dict.fromkeys(names):
        label = _short(name)
        used[label] = used.get(label, 0) + 1
        labels[name] = label if used[label] == 1 else f"{label} ({used[label]})"
    return labels


def _pies(df, title):
    """Sums by name, one pie per rank, two in a row."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    ranks = sorted(df["rank"].unique())
    rows = (len(ranks) + 1) // 2
    figure = make_subplots(rows=rows, cols=2, specs=[[{"type": "domain"}] * 2] * rows,
                           subplot_titles=[f"rank {rank}" for rank in ranks])
    colors, labels = distinct_colors(df["name"]), _labels(df["name"])
    for i, rank in enumerate(ranks):
        part = df[df["rank"] == rank]
        figure.add_trace(
            go.Pie(labels=[labels[name] for name in part["name"]], values=part["sum (us)"],
                   text=part["name"].map(_plain), textinfo="percent", hoverinfo="text+value+percent",
                   marker_colors=[colors[name] for name in part["name"]]),
            row=i // 2 + 1, col=i % 2 + 1)
    return _layout(figure, title, height=300 * rows + 150)


def _mean_bars(df, name):
    """Mean duration of one name over ranks, with the way to its extremes."""
    import plotly.graph_objects as go

    part = df[df["name"] == name]
    mean = part["mean (us)"]
    figure = go.Figure(go.Bar(
        x=part["rank"], y=mean, marker_color=color_of(name),
        error_y={"type": "data", "symmetric": False, "array": part["max (us)"] - mean,
                 "arrayminus": mean - part["min (us)"]}))
    figure.update_xaxes(type="category")
    return _layout(figure, _short(name), "rank", "mean duration [us]")


def _name_bars(df):
    return [_mean_bars(df, name) for name in df["name"].unique() if name != "others"]


@_chart(many=True)
def kernel_breakdown(df):
    figures = []
    for kind, part in df.groupby("kernel_type"):
        figures.append(_pies(part, f"{kind}: time by kernel"))
        figures += _name_bars(part)
    return figures


@_chart(many=True)
def annotation_breakdown(df, on_gpu):
    if df.empty:
        return []
    place = "the GPU" if on_gpu else "the host"
    return [_pies(df, f"Time by annotation on {place}"), *_name_bars(df)]


@_chart()
def annotations(result):
    """Icicle over the annotation stack: what the engine groups by stack."""
    import plotly.graph_objects as go

    own = {}
    for path, ns in zip(result.texts("annotation_stack", "no annotation"), result.ints("dur_ns").tolist()):
        parts = tuple(map(_plain, path.split(" / ")))
        own[parts] = own.get(parts, 0) + ns
    nodes = {parts[:i] for parts in own for i in range(1, len(parts) + 1)}
    order = sorted(nodes)
    total = {node: sum(ns for parts, ns in own.items() if parts[:len(node)] == node) for node in order}
    figure = go.Figure(go.Icicle(
        ids=[" / ".join(node) for node in order], labels=[node[-1] for node in order],
        parents=[" / ".join(node[:-1]) for node in order],
        values=[total[node] / 1e6 for node in order], branchvalues="total",
        marker_colors=[color_of(node[-1]) for node in order],
        hovertemplate="%{id}<br>%{value:.3f} ms<extra></extra>"))
    return _layout(figure, "GPU time by annotation")


@_chart()
def idle(df, in_percent):
    import plotly.graph_objects as go

    colors = {"host_wait": COLORS["host"], "kernel_wait": COLORS["compute"], "other": COLORS["idle"]}
    column = "idle_time_ratio" if in_percent else "idle_time"
    figure = go.Figure([
        go.Bar(name=category, x=part["stream"].astype(str), y=part[column], marker_color=colors[category])
        for category, part in df.groupby("idle_category")])
    ranks = ", ".join(str(rank) for rank in df["rank"].unique())
    figure.update_xaxes(type="category")
    return _layout(figure, f"What streams of rank {ranks} wait for", "stream",
                   "share of idle time" if in_percent else "idle time [us]", barmode="stack")


# ---- launches and counters ----

@_chart(many=True)
def launches(rank, df, runtime_cutoff, delay_cutoff):
    import plotly.graph_objects as go

    short = df[(df["cpu_duration"] <= runtime_cutoff) & (df["gpu_duration"] < df["cpu_duration"])]
    slow = df[df["cpu_duration"] > runtime_cutoff]
    late = df[df["launch_delay"] > delay_cutoff]
    figures = []
    for title, values, kind, bins in (
            ("kernels that are shorter than their launch", short["gpu_duration"], "compute", None),
            (f"launch calls of more than {runtime_cutoff} us", slow["cpu_duration"], "host", 300),
            (f"launch delays of more than {delay_cutoff} us", late["launch_delay"], "sync", 300)):
        figure = go.Figure(go.Histogram(x=values, nbinsx=bins, marker_color=COLORS[kind]))
        figures.append(_layout(figure, f"Rank {rank}: {title}", "duration [us]", "count"))
    return figures


@_chart()
def sequences(df, operator):
    import plotly.graph_objects as go

    figure = go.Figure(go.Bar(x=[_short(pattern) for pattern in df["pattern"]], y=df["count"],
                              text=df["pattern"].map(_plain), textposition="none", hoverinfo="text+y",
                              marker_color=COLORS["compute"]))
    return _layout(figure, f"Kernel sequences of {_plain(operator)}", "pattern", "count")


@_chart()
def operator_delays(rank, df):
    import plotly.graph_objects as go

    figure = go.Figure(go.Table(header={"values": list(df.columns)},
                                cells={"values": [df[column] for column in df.columns]}))
    return _layout(figure, f"Rank {rank}: delays of aten operators")


@_chart()
def series(frames, by, value, title, unit):
    """Step functions over time, one line per rank and by."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for rank, df in frames.items():
        for key, part in df.groupby(by):
            label = f"rank {rank} {by} {key}" if by == "stream" else f"rank {rank} {key}"
            figure.add_trace(go.Scattergl(x=part["ts"] / 1000, y=part[value], name=_plain(label), mode="lines",
                                          line={"shape": "hv", "color": color_of(label)}))
    return _layout(figure, title, "time [ms]", unit)


# ---- ranks, paths, runs, memory ----

@_chart(many=True)
def stragglers(result, order):
    import plotly.graph_objects as go

    ranks = result.ints("rank")[order]
    chosen = result.ints("candidate", missing=0)[order].astype(bool)
    figure = go.Figure(go.Bar(
        x=ranks, y=result.ints("delay_ns", missing=0)[order] / 1e6,
        marker_color=[COLORS["communication"] if one else COLORS["host"] for one in chosen]))
    figure.update_xaxes(type="category")
    return [_layout(figure, "How much ranks delay the others", "rank", "delay [ms]")]


@_chart()
def late_starts(df, metric, late):
    import plotly.graph_objects as go

    figure = go.Figure([
        go.Bar(name="straggler" if flag else "others", x=[part["iteration"], part["rank"].astype(str)],
               y=part[metric], marker_color=COLORS["communication"] if flag else COLORS["host"])
        for flag, part in df.groupby(late.to_numpy())])
    return _layout(figure, "Start of the main collective by step and rank", "step, rank",
                   "start [steps]")


_BOUNDS = {"cpu_bound": "host", "data_loading": "data", "gpu_compute_bound": "compute",
           "gpu_communication_bound": "communication", "gpu_memory_bound": "memory",
           "gpu_kernel_kernel_overhead": "idle", "gpu_kernel_launch_overhead": "sync"}


@_chart()
def critical_path(shares):
    """What bounds the path, as one bar."""
    import plotly.graph_objects as go

    figure = go.Figure([
        go.Bar(name=name, x=[share], y=["critical path"], orientation="h",
               marker_color=COLORS[_BOUNDS.get(name, "idle")],
               hovertemplate=name + " %{x:.2f} %<extra></extra>")
        for name, share in shares.items() if name])
    return _layout(figure, "What bounds the critical path", "share of its length [%]", barmode="stack")


@_chart()
def difference(df, what):
    import plotly.graph_objects as go

    columns = [column for column in df.columns if column.endswith(
        "_counts" if what == "counts" else "_duration")]
    control, test, diff = columns[0], columns[1], f"diff_{what}"
    names = [_short(name) for name in df.index]
    colors = {control: COLORS["host"], test: COLORS["compute"], diff: COLORS["communication"]}
    figure = go.Figure([
        go.Bar(name="Difference" if column == diff else column, x=names, y=df[column],
               text=[_plain(name) for name in df.index], textposition="none", marker_color=colors[column])
        for column in (control, test, diff)])
    return _layout(figure, f"{test} minus {control}", "name", "count" if what == "counts" else "us",
                   barmode="group")


@_chart()
def memory(df, categories):
    import plotly.graph_objects as go

    figure = go.Figure([
        go.Scatter(x=df["time_ms"], y=df[category] / 2**30, name=category, mode="lines",
                   line={"shape": "hv", "width": 0.5, "color": color_of(category)}, stackgroup="all")
        for category in categories])
    return _layout(figure, "Memory by category", "time [ms]", "memory [GiB]")


@_chart()
def timeline(df, title, start="calibrated_start_global", end="calibrated_end_global", task="task",
             color="label", hover=(), height=None):
    """Events as bars over time, one line per task; times are dates, or us, which are drawn as dates since 0."""
    import plotly.express as px

    df = df.assign(**{column: pd.to_datetime(df[column], unit="us") for column in (start, end)
                      if pd.api.types.is_numeric_dtype(df[column])})
    df = df.assign(**{column: df[column].map(_plain) for column in {task, color, *hover} & set(df.columns)
                      if not pd.api.types.is_numeric_dtype(df[column])})
    names = {name: color_of(name) for name in pd.unique(df[color])}
    figure = px.timeline(df, x_start=start, x_end=end, y=task, color=color, title=title,
                         color_discrete_map=names,
                         hover_data=[column for column in hover if column in df.columns])
    figure.update_yaxes(categoryorder="array", categoryarray=list(pd.unique(df[task])[::-1]))
    figure.update_layout(template="plotly_white", showlegend=False, height=height)
    return figure
