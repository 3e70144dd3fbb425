# SPDX-License-Identifier: Apache-2.0
"""The progress bar of a load: a line on a terminal, a line of HTML in a notebook, else nothing.

    rank3.json.gz:  45%|█████████▏          | 121M/267M [00:01<00:01, 98.3MB/s]

It appears when a load takes longer than half a second and goes away when it is done.
"""
import os
import sys
import time

DELAY_S = 0.5
INTERVAL_S = 0.1
BLOCKS = " ▏▎▍▌▋▊▉█"


def amount(n_bytes):
    """121M: three digits and a power of 1000."""
    value = float(n_bytes)
    for unit in ("", "k", "M", "G"):
        if value < 999.5:
            break
        value /= 1000
    else:
        unit = "T"
    if not unit or value >= 99.95:
        return f"{value:.0f}{unit}"
    return f"{value:.1f}{unit}" if value >= 9.995 else f"{value:.2f}{unit}"


def clock(seconds):
    """01:05, or 1:01:05."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def bar(share, width):
    """A bar in eighths of a character."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    full, part = divmod(eighths, 8)
    return ("█" * full + (BLOCKS[part] if part else "")).ljust(width)


def line(what, done, total, seconds, width=80):
    """The text of a bar that is `seconds` into its file."""
    rate = done / seconds if seconds > 0.05 else 0
    per_second = f"{amount(rate)}B/s" if rate else "?B/s"
    name = os.path.basename(what) or what
    if total <= 0:
        return f"{name}: {amount(done)}B [{clock(seconds)}, {per_second}]"[:width]
    left = clock((total - done) / rate) if rate else "?"
    tail = f"| {amount(done)}/{amount(total)} [{clock(seconds)}<{left}, {per_second}]"
    head = f"{name}: {100 * done / total:3.0f}%|"
    room = width - len(head) - len(tail)
    return (head + bar(done / total, min(room, 40)) + tail)[:width] if room >= 4 else (head + tail)[:width]


class Terminal:
    """Writes over one line of standard error."""

    def __init__(self, stream):
        self.stream = stream

    def show(self, what, done, total, seconds):
        try:
            width = os.get_terminal_size(self.stream.fileno()).columns or 80
        except (OSError, ValueError):
            width = 80
        self.stream.write("\r\033[K" + line(what, done, total, seconds, width - 1))
        self.stream.flush()

    def clear(self):
        self.stream.write("\r\033[K")
        self.stream.flush()


class Notebook:
    """Keeps one output of the cell up to date."""

    def __init__(self, display, html):
        self.display, self.html, self.handle = display, html, None

    def show(self, what, done, total, seconds):
        from html import escape
        text = self.html('<pre style="margin:0">' + escape(line(what, done, total, seconds)) + "</pre>")
        if self.handle is None:
            self.handle = self.display(text, display_id=True)
        elif self.handle is not False:
            self.handle.update(text)

    def clear(self):
        if self.handle:
            self.handle.update(self.html(""))


def surface():
    """Where a bar can be drawn here, or None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None and getattr(shell, "kernel", None) is not None:
        from IPython.display import HTML, display
        return Notebook(display, HTML)
    stream = sys.stderr
    try:
        if stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb":
            return Terminal(stream)
    except ValueError:
        pass  # standard error has been closed
    return None


class Progress:
    """A callback for _core.open(); close() takes the bar away."""

    def __init__(self, where):
        self.where = where
        self.begun = self.phase_begun = time.monotonic()
        self.what, self.drawn, self.shown = None, 0.0, False

    def __call__(self, what, done, total):
        now = time.monotonic()
        if what != self.what:
            self.what, self.phase_begun = what, now
        if now - self.begun >= DELAY_S and now - self.drawn >= INTERVAL_S:
            self.where.show(what, done, total, now - self.phase_begun)
            self.drawn, self.shown = now, True
        return True

    def close(self):
        if self.shown:
            self.where.clear()


def make(wanted):
    """A callback for `wanted` (None, bool or a callable of the user) and what ends it."""
    if callable(wanted):
        return wanted, _nothing
    where = surface() if wanted is None or wanted else None
    if where is None and wanted:
        where = Terminal(sys.stderr) if sys.stderr is not None else None
    if where is None:
        return None, _nothing
    progress = Progress(where)
    return progress, progress.close


def _nothing():
    pass
