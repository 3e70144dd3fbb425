# SPDX-License-Identifier: Apache-2.0
"""How a table looks: as text in a terminal, as HTML in a notebook.

Units stand in the header, one per column, chosen by its largest shown value; cells have three
significant digits. Exact values are what columns and exports give.
"""
import json
import math
import re
import textwrap
from html import escape

THIN = "\u202f"
ABSENT = "–"
#: Colours by class of work; the same as on pages and in reports.
COLORS = {
    "compute": "#2f6fd0", "communication": "#d9730d", "communication overlapped": "#f4c99a",
    "memory": "#2e8b57", "sync": "#7d4fb8", "idle": "#d5dae1", "host": "#64748b",
    "python": "#0f8a8a", "data": "#8b5e34",
}
#: How columns and cells name the classes.
WORDS = {
    "compute": "compute", "computation": "compute", "communication": "communication",
    "comm": "communication", "exposed": "communication", "overlapped": "communication overlapped",
    "overlap": "communication overlapped", "memory": "memory", "memcpy": "memory", "memset": "memory",
    "sync": "sync", "idle": "idle", "host": "host", "host_wait": "host", "runtime": "host",
    "cpu": "host", "cpu_op": "host", "python": "python", "kernel": "compute",
}
#: Characters that a cell of a notebook has room for, what the bars take of them, and ranks that a session lists.
HTML_WIDTH = 140
CHART_WIDTH = 22
SESSION_RANKS = 8
_SCALES = {
    "ns": (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1)),
    "bytes": (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1)),
}


def class_of(text):
    """The class of work that a word or a label's first words name, or None."""
    words = re.split(r"[^a-z_]+", str(text).lower())
    return next((WORDS[word] for word in words if word in WORDS), None)


def color_of(text):
    """The colour of a class, or a stable one hashed from the name (FNV-1a)."""
    found = class_of(text)
    if found:
        return COLORS[found]
    value = 0x811C9DC5
    for byte in str(text).encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"hsl({value % 360},55%,45%)"


def distinct_colors(labels):
    """{label: colour}, no two alike: its own colour for a label where that is free, else the next of
    a round of hues that stay far apart."""
    colors, used, turn = {}, set(), 0
    for label in labels:
        if label in colors:
            continue
        color = color_of(label)
        while color in used:
            hue, turn = round(turn * 137.508) % 360, turn + 1  # the golden angle
            color = f"hsl({hue},{(70, 45, 95)[turn // 360 % 3]}%,{(50, 35, 65)[turn // 120 % 3]}%)"
        colors[label] = color
        used.add(color)
    return colors


def digits(value):
    """Three significant digits, no exponent for what people read."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e15 or size < 1e-6:
        return f"{value:.3g}"
    places = max(0, 2 - math.floor(math.log10(size)))
    return f"{value:,.{places}f}".replace(",", THIN)


def shorten(text, width):
    """Fit a name into width: template arguments and parameters first, then the middle."""
    text = " ".join(text.split())
    while len(text) > width:
        # The innermost first; what is folded already may lie inside.
        shorter = re.sub(r"<[^<>]*>", "‹…›", text, count=1)
        if shorter == text:
            break
        text = shorter
    text = text.replace("‹", "<").replace("›", ">")
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head):]}"


def share_columns(table):
    """The shares to draw: of several classes of work, or the one the analysis names."""
    names = table.columns
    found = {}
    for name in names:
        if name.endswith("_share") and table.info(name)["type"] == "ratio":
            kind = WORDS.get(name[:-len("_share")])
            if kind:
                found.setdefault(kind, name)
    if len(found) > 1:
        return list(found.values())
    bar = table.bar
    return [bar] if bar in names and table.info(bar)["type"] == "ratio" else []


def _label(info, unit):
    return f"{info['label']} [{unit}]" if unit else info["label"]


def _number_cells(values, info):
    """Cells of a numeric column and the unit for its header."""
    kind, unit = info["type"], info["unit"]
    known = [abs(value) for value in values if value is not None]
    if kind == "ratio":
        return [None if value is None else digits(value * 100) for value in values], "%"
    if kind in ("duration", "duration_float", "bytes"):
        largest = max(known, default=0)
        scales = _SCALES["bytes" if kind == "bytes" else "ns"]
        unit, factor = next((scale for scale in scales if largest >= scale[1]), scales[-1])
        return [None if value is None else digits(value / factor) for value in values], unit
    if kind == "float64":
        return [None if value is None else digits(value) for value in values], unit
    if kind == "bool" or kind == "time" or info["role"] == "key":
        return [None if value is None else str(value).lower() for value in values], unit
    return [None if value is None else f"{value:,}".replace(",", THIN) for value in values], unit


def grid(table, n_rows, width):
    """(header, cells, full texts, whether right-aligned) of each column for the first rows."""
    columns = []
    for name in table.columns:
        info, values = table.info(name), table._core.values(name, 0, n_rows)
        if info["type"] == "string":
            cells = [None if value is None else shorten(value, width) for value in values]
            columns.append((_label(info, None), cells, values, False))
        else:
            cells, unit = _number_cells(values, info)
            columns.append((_label(info, unit), cells, [None] * len(cells), True))
    return columns


def more_line(table, n_rows):
    """What is not shown, or None."""
    left, hidden = len(table) - n_rows, table.n_hidden
    parts = [f"{left:,} more rows".replace(",", THIN)] if left > 0 else []
    if hidden:
        parts.append(f"{hidden:,} rows cut by top".replace(",", THIN))
    return " · ".join(parts) or None


def _fitting(columns, infos, width):
    """Which columns fit: from the right, details give way first."""
    sizes = [max(map(len, cells)) + 2 for cells, _ in columns]
    kept = list(range(len(columns)))
    for role in ("detail", "measure", "key"):
        for i in [i for i in reversed(kept) if infos[i]["role"] == role]:
            if sum(sizes[j] for j in kept) <= width + 2 or len(kept) == 1:
                return kept
            kept.remove(i)
    return kept


def is_prose(table):
    """Whether rows are findings, each with its sentence."""
    return {"finding", "heading", "next_verb"} <= set(table.columns)


def findings_text(table, width):
    """Label and sentence of each finding, wrapped; advice and what to ask next below it."""
    from ._speech import call_line

    rows = list(table)
    label = table.columns[0]
    indent = max([len(row[label]) for row in rows], default=0) + 2
    lines = [table.title, ""]
    for row in rows:
        lines += textwrap.wrap(row[label].ljust(indent) + row["finding"], width, subsequent_indent=" " * indent,
                               break_on_hyphens=False) or [row[label]]
        for text in filter(None, [row.get("advice"), row["next_verb"] and
                                  "next: " + call_line(row["next_verb"], json.loads(row["next_args"] or "{}"))]):
            lines += textwrap.wrap(text, width, initial_indent=" " * indent, subsequent_indent=" " * indent)
    return "\n".join(lines + table.notes)


def findings_html(table):
    """The same for notebooks: whole sentences, wrapped by the browser."""
    from ._speech import call_line

    label = table.columns[0]
    out = [f'<div class="holotrace" style="max-width:100ch"><div><b>{escape(table.title)}</b></div><dl>']
    for row in table:
        out.append(f'<dt><b>{escape(row[label])}</b></dt><dd>{escape(row["finding"])}')
        if row.get("advice"):
            out.append(f'<div style="opacity:.7">{escape(row["advice"])}</div>')
        if row["next_verb"]:
            call = call_line(row["next_verb"], json.loads(row["next_args"] or "{}"))
            out.append(f'<div style="opacity:.7">next: <code>{escape(call)}</code></div>')
        out.append("</dd>")
    out.append("</dl>" + "".join(f'<div style="opacity:.7">{escape(note)}</div>' for note in table.notes))
    return "".join(out) + "</div>"


def as_text(table, n_rows, width=100):
    """For print() and the terminal."""
    if is_prose(table):
        return findings_text(table, width)
    n_rows = min(n_rows, len(table))
    infos = [table.info(name) for name in table.columns]
    columns = [([header] + [ABSENT if cell is None else cell for cell in cells], right)
               for header, cells, _, right in grid(table, n_rows, 48)]
    kept = _fitting(columns, infos, width)
    padded = []
    for cells, right in (columns[i] for i in kept):
        size = max(map(len, cells))
        padded.append([cell.rjust(size) if right else cell.ljust(size) for cell in cells])
    lines = [table.title, ""] + ["  ".join(cells).rstrip() for cells in zip(*padded)]
    lines += filter(None, [more_line(table, n_rows)])
    if len(kept) < len(columns):
        left_out = (info["label"] for i, info in enumerate(infos) if i not in kept)
        lines.append("not shown: " + ", ".join(left_out))
    return "\n".join(lines + table.notes)


def _bar_html(shares):
    """One stacked bar: (share, colour, word) from the left."""
    parts = []
    for share, color, word in shares:
        percent = min(max(share or 0.0, 0.0), 1.0) * 100
        if percent > 0:
            parts.append(f'<span title="{escape(word)} {digits(percent)} %" style="display:inline-block;'
                         f'height:9px;width:{percent:.2f}%;background:{color}"></span>')
    return ('<div style="width:120px;white-space:nowrap;font-size:0;line-height:9px;'
            f'background:rgba(128,128,128,.15)">{"".join(parts)}</div>')


def _chart(table, n_rows):
    """Header and cells of the chart column, or None when nothing is a share."""
    names = share_columns(table)
    if not names:
        return None
    values = [table._core.values(name, 0, n_rows) for name in names]
    if len(names) > 1:
        kinds = [WORDS[name[:-len("_share")]] for name in names]
        header = " ".join(f'<span style="color:{COLORS[kind]}">■</span>&nbsp;{escape(kind)}'
                          for kind in kinds)
        cells = [_bar_html([(row[i], COLORS[kind], kind) for i, kind in enumerate(kinds)])
                 for row in zip(*values)]
        return header, cells
    labels = table.labels(n_rows)
    cells = [_bar_html([(share, COLORS[class_of(label) or "compute"], label)])
             for share, label in zip(values[0], labels)]
    return escape(names[0]), cells


def as_html(table, n_rows):
    """For notebooks: title, method, first rows, bars, what is left. Columns that a cell has no room for give way, and are named."""
    if is_prose(table):
        return findings_html(table)
    n_rows = min(n_rows, len(table))
    infos = [table.info(name) for name in table.columns]
    columns, chart = grid(table, n_rows, 60), _chart(table, n_rows)
    sized = [([header] + [ABSENT if cell is None else cell for cell in cells], right) for header, cells, _, right in columns]
    kept = _fitting(sized, infos, HTML_WIDTH - (CHART_WIDTH if chart else 0))
    left_out = [info["label"] for i, info in enumerate(infos) if i not in kept]
    columns = [columns[i] for i in kept]
    out = [f'<div class="holotrace"><div><b>{escape(table.title)}</b></div>']
    if table.method:
        out.append(f'<div style="opacity:.7;max-width:100ch">{escape(table.method)}</div>')
    out.append('<div style="overflow-x:auto"><table style="font-variant-numeric:tabular-nums"><thead><tr>')
    for (header, *_, right), info in zip(columns, (infos[i] for i in kept)):
        side, sentence = "right" if right else "left", escape(info["sentence"] or "")
        out.append(f'<th style="text-align:{side}" title="{sentence}">{escape(header)}</th>')
    if chart:
        out.append(f'<th style="text-align:left;font-weight:normal">{chart[0]}</th>')
    out.append("</tr></thead><tbody>")
    for row in range(n_rows):
        out.append("<tr>")
        for _, cells, full, right in columns:
            text = ABSENT if cells[row] is None else cells[row]
            hover = f' title="{escape(full[row])}"' if full[row] not in (None, text) else ""
            out.append(f'<td style="text-align:{"right" if right else "left"}"{hover}>{escape(text)}</td>')
        out.append((f'<td style="text-align:left">{chart[1][row]}</td>' if chart else "") + "</tr>")
    out.append("</tbody></table></div>")
    for note in [more_line(table, n_rows), left_out and "not shown: " + ", ".join(left_out)] + table.notes:
        if note:
            out.append(f'<div style="opacity:.7;max-width:100ch">{escape(note)}</div>')
    return "".join(out) + "</div>"


def session_html(session):
    """For notebooks: which ranks were read from where, what was lost, and what to ask first."""
    ranks, paths, events = session.ranks, session.paths, session.n_events
    total = f"{sum(events.values()):,}".replace(",", THIN)
    out = [f'<div class="holotrace" style="max-width:100ch"><div><b>{len(ranks)} rank{"s" * (len(ranks) != 1)}, {total} events</b></div>']
    if session.loss_note:
        out.append(f"<div>{escape(session.loss_note)}</div>")
    out.append('<div style="overflow-x:auto"><table style="font-variant-numeric:tabular-nums"><thead><tr><th style="text-align:right">rank</th>'
               '<th style="text-align:left">file</th><th style="text-align:right">events</th></tr></thead><tbody>')
    for rank in ranks[:SESSION_RANKS]:
        path, n = str(paths[rank]), f"{events[rank]:,}".replace(",", THIN)
        out.append(f'<tr><td style="text-align:right">{rank}</td><td style="text-align:left" title="{escape(path)}">'
                   f'{escape(shorten(path, 80))}</td><td style="text-align:right">{n}</td></tr>')
    out.append("</tbody></table></div>")
    if len(ranks) > SESSION_RANKS:
        out.append(f'<div style="opacity:.7">{len(ranks) - SESSION_RANKS} more ranks</div>')
    out.append('<div style="opacity:.7">next: <code>.summary()</code> says what the time goes to, <code>.serve()</code> shows the page</div>')
    return "".join(out) + "</div>"
