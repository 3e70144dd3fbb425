# SPDX-License-Identifier: Apache-2.0
"""Plots of tables with plotly, in the colours of the classes of work."""
from html import escape

import plotly.graph_objects as graph

from . import _show

MEASURES = ("duration", "duration_float", "ratio", "bytes", "float64", "int64", "uint64")
SCALES = {"duration": (1e-6, "ms"), "duration_float": (1e-6, "ms"), "bytes": (2**-20, "MiB"),
          "ratio": (100, "%")}
#: More lines than this tell nothing: bars then.
MAX_LINES = 64


def plain(texts):
    """Names as plotly shows them: it reads tags in texts, and names of traces are no tags."""
    return [escape(text, quote=False) for text in texts]


def scaled(table, name, n_rows):
    """Values of a column in a readable unit, and that unit."""
    info = table.info(name)
    factor, unit = SCALES.get(info["type"], (1, info["unit"]))
    values = table._core.values(name, 0, n_rows)
    return [None if value is None else value * factor for value in values], unit


def axis(table, name, unit):
    """An axis title: what it is, and its unit."""
    sentence = table.info(name)["sentence"] or name
    return f"{sentence} [{unit}]" if unit else sentence


def pick_measure(table, y):
    """The column to draw."""
    if y is not None:
        if table.info(y)["type"] not in MEASURES:
            raise ValueError(f"column {y!r} holds no numbers to draw")
        return y
    names = [name for name in table.columns if table.info(name)["role"] == "measure"]
    if table.bar:
        return table.bar
    for kind in MEASURES:
        found = next((name for name in names if table.info(name)["type"] == kind), None)
        if found:
            return found
    raise ValueError("the table has no measure to draw; name a column: plot(y=...)")


def series(table, time, y):
    """{label: (instants in ms, values)}, one per combination of the other keys, and the unit."""
    instants = table._core.values(time)
    zero = min((at for at in instants if at is not None), default=0)
    keys = [name for name in table.columns
            if table.info(name)["role"] == "key" and name not in (time, y)]
    values, unit = scaled(table, y, len(table))
    groups = {}
    for at, value, *key in zip(instants, values, *(table._core.values(name) for name in keys)):
        if at is not None:
            label = " ".join(f"{name} {part}" for name, part in zip(keys, key) if part is not None)
            groups.setdefault(label, ([], []))
            groups[label][0].append((at - zero) / 1e6)
            groups[label][1].append(value)
        if len(groups) > MAX_LINES:
            return {}, unit
    return groups, unit


def lines(table, y, groups, unit):
    """A measure over time."""
    figure = graph.Figure()
    for label, (at, value) in groups.items():
        figure.add_trace(graph.Scattergl(x=at, y=value, name=escape(label, quote=False), mode="lines",
                                         line=dict(shape="hv", color=_show.color_of(label))))
    figure.update_layout(xaxis_title="time since the first sample [ms]", yaxis_title=axis(table, y, unit),
                         showlegend=len(groups) > 1)
    return figure


def shares(table, names, top):
    """One stacked bar per row."""
    labels = plain(table.labels(top))
    figure = graph.Figure()
    for name in names:
        kind = _show.WORDS[name[:-len("_share")]]
        values, _ = scaled(table, name, top)
        figure.add_trace(graph.Bar(x=values, y=labels, orientation="h", name=kind,
                                   marker_color=_show.COLORS[kind],
                                   hovertemplate="%{y}<br>" + kind + " %{x:.2f} %<extra></extra>"))
    figure.update_layout(barmode="stack", xaxis_title="share [%]")
    return figure


def bars(table, y, top):
    """One bar per row."""
    full = table.labels(top)
    values, unit = scaled(table, y, top)
    figure = graph.Figure(graph.Bar(
        x=values, y=list(range(len(full))), orientation="h", customdata=plain(full),
        marker_color=[_show.color_of(label) for label in full],
        hovertemplate="%{customdata}<br>%{x:.4g} " + (unit or "") + "<extra></extra>"))
    figure.update_yaxes(tickvals=list(range(len(full))),
                        ticktext=plain(_show.shorten(label, 48) for label in full))
    figure.update_layout(xaxis_title=axis(table, y, unit))
    return figure


def column_of_unit(table, unit):
    """The first column in a unit, None when there is none."""
    return next((name for name in table.columns if table.info(name)["unit"] == unit), None)


def roofline(table, x, y, roofs):
    """A mark per row: operations per second over operations per byte, its area the time; a roof per type."""
    time = next(name for name in table.columns if table.info(name)["type"] == "duration")
    labels = plain(table.labels(len(table)))
    rows = [row for row in zip(table._core.values(x), table._core.values(y), table._core.values(time), labels)
            if row[0] and row[1] and row[2]]
    longest = max((row[2] for row in rows), default=1)
    figure = graph.Figure(graph.Scatter(
        x=[row[0] for row in rows], y=[row[1] for row in rows], mode="markers", customdata=[row[3] for row in rows],
        marker=dict(size=[6 + 30 * (row[2] / longest) ** 0.5 for row in rows], opacity=0.65),
        hovertemplate="%{customdata}<br>%{x:.4g} FLOP/byte<br>%{y:.4g} FLOP/s<extra></extra>", showlegend=False))
    for peak, memory, dtype in zip(*(roofs._core.values(name) for name in ("peak_flops_per_s", "memory_bytes_per_s", "dtype"))
                                   if roofs is not None else ((), (), ())):
        if peak and memory:
            ridge = peak / memory
            figure.add_trace(graph.Scatter(x=[ridge / 1000, ridge, ridge * 10], y=[peak / 1000, peak, peak],
                                           mode="lines", name=escape(str(dtype), quote=False)))
    figure.update_xaxes(type="log", title=axis(table, x, "FLOP/byte"))
    figure.update_yaxes(type="log", title=axis(table, y, "FLOP/s"))
    return figure


def figure(table, y=None, top=30, roofs=None):
    """The plot that fits the table."""
    intensity, rate = column_of_unit(table, "FLOP/byte"), column_of_unit(table, "FLOP/s")
    if y is None and intensity and rate and len(table):
        result = roofline(table, intensity, rate, roofs)
        result.update_layout(title=table.title, template="plotly_white", legend_title_text="")
        return result
    names = _show.share_columns(table) if y is None else []
    time = next((name for name in table.columns if table.info(name)["type"] == "time"), None)
    groups = {}
    if len(names) < 2:
        y = pick_measure(table, y)
    if len(names) < 2 and time is not None:
        groups, unit = series(table, time, y)
    if groups:
        result = lines(table, y, groups, unit)
    else:
        result = shares(table, names, top) if len(names) > 1 else bars(table, y, top)
        result.update_yaxes(autorange="reversed")
        result.update_layout(height=140 + 24 * min(len(table), top))
    result.update_layout(title=table.title, template="plotly_white", legend_title_text="")
    return result
