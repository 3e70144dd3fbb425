# SPDX-License-Identifier: Apache-2.0
"""The rules of python/tests/hta_departures.toml: where a cell departs from HTA, and what stands there instead.

A condition (when) looks at the trace, never at our value. A formula (ours) says what we must give, worked out
here from the JSON text in whole nanoseconds: nothing of it comes from the engine but HTA's choice of rows.
"""
import collections
import functools
import gzip
import json
import math
import statistics

COPIES = {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"}
WORK = COPIES | {"kernel", "Kernel", "mtia_ccp_events"}
NOT_HOST = {"cuda_sync", "gpu_user_annotation", "cuda_profiler_range"}
TYPES = ("COMPUTATION", "COMMUNICATION", "MEMORY")
IDLE = ("host_wait", "kernel_wait", "other")


def ns(text):
    """Microseconds as written, to whole nanoseconds."""
    whole, _, part = str(text).partition(".")
    return int(whole) * 1000 + (-1 if whole.startswith("-") else 1) * int((part + "000")[:3])


class Near(float):
    """A number that another one stands for when it is at most this far away."""

    def __new__(cls, value, distance):
        made = super().__new__(cls, value)
        made.distance = distance * (1 + 1e-6)
        return made


def half_even(value, digits):
    return round(value + 0.0, digits)


class Row:
    """One event of a file."""

    def __init__(self, index, event):
        args = event.get("args") or {}
        self.index, self.cat, self.name = index, event.get("cat"), event.get("name")
        self.thread = event.get("pid"), event.get("tid")
        self.ts, self.dur = ns(event["ts"]), ns(event.get("dur") or 0)
        self.end = self.reach = self.ts + self.dur
        self.stream = args.get("stream", -1)
        self.stream = self.stream if isinstance(self.stream, int) else -1
        self.correlation = args.get("correlation", -1)

    @property
    def type(self):
        if self.cat in COPIES:
            return "MEMORY"
        return "COMMUNICATION" if "nccl" in self.name.lower() else "COMPUTATION"


def read(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        return json.loads(file.read(), strict=False, parse_float=str)


class Facts:
    """What is in the traces of a run, among the rows that HTA keeps."""

    def __init__(self, case, analysis):
        self.traces = {}
        self.by_file = {path.name: path for path in case.files}
        for rank, path in analysis.t.trace_files.items():
            name = str(path).rsplit("/", 1)[-1]
            kept = set(analysis.t.traces[rank]["index"].tolist())
            events = read(self.by_file[name])["traceEvents"]
            self.traces[rank] = {i: Row(i, event) for i, event in enumerate(events) if i in kept}

    @functools.lru_cache(maxsize=None)
    def work(self, rank):
        """Kernels, copies and sets, by category."""
        return [row for row in self.traces[rank].values() if row.cat in WORK]

    @functools.lru_cache(maxsize=None)
    def is_taken_for_work(self, rank):
        """Has rows with a stream that are no GPU work: waits, host-side Triton operators."""
        return any(row.stream >= 0 and row.cat not in WORK for row in self.traces[rank].values())

    @functools.lru_cache(maxsize=None)
    def ulp_us(self, rank):
        """What a double of the trace's times in microseconds can tell apart."""
        return math.ulp(max(row.end for row in self.traces[rank].values()) / 1000)

    @functools.lru_cache(maxsize=None)
    def has_fractions(self, rank):
        return any(row.ts % 1000 or row.dur % 1000 for row in self.work(rank))

    @functools.lru_cache(maxsize=None)
    def launch_of(self, rank):
        """{row with a stream: row of its call}"""
        calls = {}
        for row in self.traces[rank].values():
            if row.cat not in WORK and row.stream < 0 and row.correlation >= 0:
                calls[row.correlation] = row
        return {row.index: calls[row.correlation] for row in self.traces[rank].values()
                if row.stream >= 0 and row.correlation in calls}


def union(rows):
    """Length of the union of spans."""
    total, reach = 0, None
    for row in sorted(rows, key=lambda r: r.ts):
        if reach is None or row.ts > reach:
            total += row.dur
            reach = row.end
        elif row.end > reach:
            total += row.end - reach
            reach = row.end
    return total


# ---- breakdowns ----


def temporal(facts, rank):
    """Columns of the temporal breakdown, from unions of intervals."""
    work = facts.work(rank)
    span = max(r.end for r in work) - min(r.ts for r in work)
    idle = span - union(work)
    compute = union(r for r in work if r.type == "COMPUTATION")
    parts = {"idle": idle, "compute": compute, "non_compute": span - idle - compute}
    cells = {f"{name}_time(us)": value / 1000 for name, value in parts.items()}
    cells.update({f"{name}_time_pctg": half_even(100 * value / span, 2) for name, value in parts.items()})
    return dict(cells, **{"kernel_time(us)": span / 1000})


def segments(work, types):
    """{label: ns}: which types run at once."""
    points = collections.Counter()
    for row in work:
        points[row.ts, row.type] += 1
        points[row.end, row.type] -= 1
    running, found, before = collections.Counter(), collections.Counter(), None
    for at, kind in sorted(points):
        now = [name for name in types if running[name]]
        if now and at > before:
            found[" overlapping ".join(now)] += at - before
        running[kind] += points[at, kind]
        before = at
    return found


def kernel_types(facts, memory):
    total = collections.Counter()
    for rank in facts.traces:
        work = [r for r in facts.work(rank) if memory or r.type != "MEMORY"]
        total.update(segments(work, TYPES))
    everything = sum(total.values())
    return {name: {"sum": half_even(value / 1000, 0), "percentage": half_even(100 * value / everything, 1)}
            for name, value in total.items()}


def kernel_names(facts, rank, kind):
    """{name: durations}, the most expensive first."""
    found = collections.defaultdict(list)
    for row in facts.work(rank):
        if row.type == kind:
            found[row.name].append(row.dur)
    return dict(sorted(found.items(), key=lambda item: -sum(item[1])))


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def kernel_table(facts, rank, kind, n_kernels):
    """{name: statistics of its events}; beyond n_kernels names the tail is pooled as HTA chooses it."""
    names = kernel_names(facts, rank, kind)
    kept = collections.defaultdict(list)
    sums, total = [], 0
    for durations in names.values():
        total += sum(durations)
        sums.append(total)
    limit = quantile(sums, 0.8) if sums else 0
    for at, (name, durations) in enumerate(names.items()):
        folded = len(names) > n_kernels and (sums[at] > limit or at >= n_kernels)
        kept["others" if folded else name] += durations
    return {name: describe_durations(durations) for name, durations in kept.items()}


def describe_durations(durations):
    return {"sum (us)": sum(durations) / 1000, "max (us)": max(durations) / 1000,
            "min (us)": min(durations) / 1000, "mean (us)": sum(durations) / len(durations) / 1000,
            "stddev": statistics.stdev(durations) / 1000 if len(durations) > 1 else 0}


# ---- idle time ----


def gaps(facts, rank, stream, is_exact):
    """{category: gaps in us}, each from the end of the row before, whole; else in HTA's doubles."""
    first = min(row.ts for row in facts.traces[rank].values())

    def at(time):
        return time if is_exact else time / 1000 - first / 1000

    found, before = {name: [] for name in IDLE}, None
    scale = 1000 if is_exact else 1
    launches = facts.launch_of(rank)
    for row in sorted((r for r in facts.work(rank) if r.stream == stream), key=lambda r: (r.ts, r.index)):
        if before is not None:
            gap = (at(row.ts) - before) / scale
            launch = launches.get(row.index)
            name = ("host_wait" if launch and at(launch.ts) > before else "kernel_wait" if gap < 30 else "other")
            found[name].append(gap)
        before = at(row.ts) + row.dur * scale / 1000
    return found


def describe(values):
    """pandas' describe, without the count."""
    return {"mean": statistics.fmean(values), "std": statistics.stdev(values) if len(values) > 1 else math.nan,
            "min": min(values), "25%": quantile(values, 0.25), "50%": quantile(values, 0.5),
            "75%": quantile(values, 0.75), "max": max(values)}


def idle(cell, is_exact):
    """The cell before it is rounded to two digits."""
    found = gaps(cell.facts, cell.rank, int(cell["stream"]), is_exact)[cell["idle_category"]]
    return sum(found) if cell.column == "idle_time" else describe(found)[cell.column]


# ---- queues ----


def queue(facts, rank, indexes):
    """[(index, length)] of one stream: by time, launches before starts, then as in the file."""
    rows = [facts.traces[rank][i] for i in indexes]
    rows.sort(key=lambda r: (r.ts, r.cat in WORK, r.index))
    length, found = 0, []
    for row in rows:
        length += -1 if row.cat in WORK else 1
        found.append((row.index, length))
    return found


def stream_rows(cell, series):
    return [row for row in series if row["stream"] == cell["stream"]]


# ---- the call tree ----


@functools.lru_cache(maxsize=None)
def first_crossing(facts, rank):
    """{thread: when a span first started inside another one that it outlives}"""
    found = {}
    for row in facts.traces[rank].values():
        inside = around(facts, rank).get(row.index)
        if inside and min(other.end for other in inside) < row.end:
            found[row.thread] = min(row.ts, found.get(row.thread, row.ts))
    return found


@functools.lru_cache(maxsize=None)
def around(facts, rank):
    """{host row: spans of its thread around it, outermost first}; an open frame ends with its caller."""
    found, threads = {}, collections.defaultdict(list)
    for row in facts.traces[rank].values():
        if row.cat not in WORK | NOT_HOST:
            threads[row.thread].append(row)
    for rows in threads.values():
        open_rows = []
        for row in sorted(rows, key=lambda r: (r.ts, -r.end, r.index)):
            open_rows = [other for other in open_rows if holds(other, row)]
            found[row.index] = open_rows
            row.reach = row.end
            if row.cat == "python_function":
                frames = [other.reach for other in open_rows if other.cat == "python_function"]
                row.reach = min([row.end, *frames])
            open_rows = open_rows + [row]
    return found


def waits_for(facts, rank, row):
    """The span of the stepping thread that a row of the backward thread belongs to, or None."""
    threads = collections.defaultdict(set)
    for other in facts.traces[rank].values():
        if other.cat == "cpu_op" and other.name.startswith("autograd::"):
            threads["backward"].add(other.thread)
        if other.cat == "user_annotation" and other.name.startswith("ProfilerStep#"):
            threads["main"].add(other.thread)
    if len(threads["main"]) != 1 or row.thread not in threads["backward"] - threads["main"]:
        return None
    main = [other for other in facts.traces[rank].values() if other.thread in threads["main"]]
    for prefix in ("## backward ##", "ProfilerStep#"):
        named = [other for other in main if other.name.startswith(prefix)]
        if named:
            return next((o for o in named if o.ts <= row.ts and row.end <= o.end), None)
    return None


def path_to(facts, rank, row):
    """Spans around a row, over both threads of a backward pass."""
    path = around(facts, rank)[row.index]
    outer = waits_for(facts, rank, path[0] if path else row)
    waiting = [*around(facts, rank)[outer.index], outer] if outer else []
    return [other for other in waiting if holds(other, row)] + path


def holds(outer, inner):
    return outer.reach > inner.ts or outer.ts == inner.ts


# ---- cells ----


class Cell:
    """One cell of HTA's table, with the row around it."""

    def __init__(self, facts, table, row, column, series, is_compat):
        self.facts, self.table, self.row, self.column, self.series = facts, table, row, column, series
        self.is_compat = is_compat
        ranks = sorted(facts.traces)
        if "rank" in row and row["rank"]:
            self.rank = int(row["rank"])
        elif ".rank" in table:
            self.rank = int(table.split(".rank")[1].split(".")[0])
        else:
            self.rank = ranks[0]

    def __getitem__(self, column):
        return self.row[column]

    @property
    def n_kernels(self):
        return 3 if ".top3." in self.table else 10

    @property
    def has_memory(self):
        return "mem_False" not in self.table

    @property
    def source(self):
        """The event of a row that stands for one."""
        return self.facts.traces[self.rank][int(self["index"])]

    @property
    def launch(self):
        return self.facts.launch_of(self.rank).get(int(self["index"]))


WHEN, OURS = {}, {}


def when(function):
    WHEN[function.__name__] = function
    return function


def ours(function):
    OURS[function.__name__] = function
    return function


@when
def more_names_than_asked_for(cell):
    return len(kernel_names(cell.facts, cell.rank, cell["kernel_type"])) > cell.n_kernels


@when
def host_rows_carry_a_stream(cell):
    return cell.facts.is_taken_for_work(cell.rank)


@when
def times_have_fractions(cell):
    return any(cell.facts.has_fractions(rank) for rank in cell.facts.traces)


@when
def doubles_are_coarse(cell):
    return cell.facts.ulp_us(cell.rank) > 0.1


@when
def first_rank_has_a_launch(cell):
    """The call graph's columns are of the rank whose sequences were asked for."""
    return cell.rank == min(cell.facts.traces) and cell["stream"] != "0" and cell.launch is not None


@when
def spans_cross_or_carry_a_stream(cell):
    """Around the launch: HTA's stack pops the wrong one, or lacks operators that it takes for GPU work."""
    if not first_rank_has_a_launch(cell):
        return False
    crossings = first_crossing(cell.facts, cell.rank)
    path = path_to(cell.facts, cell.rank, cell.launch)
    return any(crossings.get(row.thread, cell.launch.end) <= cell.launch.ts or row.stream >= 0
               for row in [*path, cell.launch])


@when
def on_stream_0(cell):
    return cell["stream"] == "0" and cell.launch is not None


@when
def another_point_at_its_time(cell):
    at = float(cell["ts"])
    near = [r for r in stream_rows(cell, cell.series[cell.table])
            if abs(float(r["ts"]) - at) <= cell.facts.ulp_us(cell.rank)]
    return len(near) > 1


@when
def points_of_one_time(cell):
    series = stream_rows(cell, cell.series[f"queue_length_time_series.rank{cell.rank}.csv"])
    times = [float(r["ts"]) for r in series]
    return any(b - a <= cell.facts.ulp_us(cell.rank) for a, b in zip(times, times[1:]))


@when
def doubles_decide_the_digit(cell):
    """HTA's digit is that of its doubles."""
    return abs(idle(cell, is_exact=False) - float(cell[cell.column])) <= 0.005 * (1 + 1e-6)


@when
def all_is_sent_between_two(cell):
    names = {r.name for rank in cell.facts.traces for r in cell.facts.work(rank)
             if r.type == "COMMUNICATION"}
    return names and all("SendRecv" in name for name in names)


@ours
def statistic_of_events(cell):
    found = kernel_table(cell.facts, cell.rank, cell["kernel_type"], cell.n_kernels)
    return found[cell["name"]][cell.column] if cell["name"] in found else None


@ours
def in_the_table_of_events(cell):
    """"row" where the row stands in the table, "" where it does not."""
    found = kernel_table(cell.facts, cell.rank, cell["kernel_type"], cell.n_kernels)
    return "row" if cell["name"] in found else ""


@ours
def length_of_segments(cell):
    return kernel_types(cell.facts, cell.has_memory)[cell["kernel_type"]][cell.column]


@ours
def length_of_unions(cell):
    return temporal(cell.facts, cell.rank)[cell.column]


@ours
def index_of_the_launch(cell):
    return cell.launch.index


@ours
def own_duration(cell):
    return cell.source.dur / 1000


@ours
def depth_below_the_launch(cell):
    return len(path_to(cell.facts, cell.rank, cell.launch)) + 1


@ours
def rounded(cell):
    """Either neighbour will do for a value in the middle of two; coarse doubles are the drop-in's too."""
    return Near(idle(cell, is_exact=not doubles_are_coarse(cell)), 0.005)


@ours
def queue_in_order(cell):
    rows = stream_rows(cell, cell.series[cell.table])
    at = rows.index(cell.row)
    index, length = queue(cell.facts, cell.rank, [int(r["index"]) for r in rows])[at]
    return index if cell.column == "index" else length


@ours
def statistic_of_the_queue(cell):
    rows = stream_rows(cell, cell.series[f"queue_length_time_series.rank{cell.rank}.csv"])
    return describe([n for _, n in queue(cell.facts, cell.rank, [int(r["index"]) for r in rows])])[cell.column]


@ours
def nobody(cell):
    return "[]"


@ours
def of_one_kernel(cell):
    """What the call graph says of a kernel; HTA's span ends on another clock than it starts."""
    first = min(row.ts for rows in cell.facts.traces.values() for row in rows.values())
    return {"height": 0, "num_kernels": 1, "kernel_dur_sum": cell.source.dur / 1000,
            "kernel_span": (cell.source.dur + first * cell.is_compat) / 1000, "first_kernel_start": float(cell["ts"]),
            "last_kernel_end": cell.source.end / 1000}[cell.column]


@ours
def step_of_the_launch(cell):
    steps = [r for r in cell.facts.traces[cell.rank].values() if r.name.startswith("ProfilerStep#")
             and r.cat == "user_annotation" and r.ts <= cell.launch.ts < r.end]
    return int(steps[-1].name.split("#")[1])
