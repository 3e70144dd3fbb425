// SPDX-License-Identifier: Apache-2.0
// The chart of each analysis, from its table: what costs most, parts of a whole, curves over time. A table that is not
// named here gets bars of the share or time that it measures.
import type { ComponentChildren } from "preact";
import type { Cell, Column, Table } from "../model";
import { Rows, type Row } from "../app/rows";
import { classColor, SERIES } from "../ui/colors";
import { human, isNumber, label } from "../ui/format";
import { Areas, Bars, Flame, HeatMap, Lines, type Line, MinMaxBars, Shares, StackedBars } from "../ui/charts";
import { HEAT_METRICS, heatGrid, type HeatMetric, heatTitle } from "../views/heat";
import { kernelColor, stackClass, typeClass } from "../views/names";
import { BOUND_WORDS, COLLECTIVE_PARTS, DISTRIBUTED_PARTS, IDLE_WORDS, OVERLAP_PARTS, type Part, STEP_PARTS, stackOf, stragglerColor, TEMPORAL_PARTS } from "../views/stacks";
import { bandsOf, OPERATORS } from "../views/bands";
import { treeOf } from "../views/tree";
import { type Extra, extraOf, type Report, tableOf } from "./data";

const TOP = 10;

// "rank 0, device 1, stream 7": what a row is about, from its keys.
function labelOf(rows: Rows, row: Row, names: string[]): string {
  return names.filter(name => rows.cell(row, name) !== null)
    .map(name => typeof rows.cell(row, name) === "string" ? rows.text(row, name) : `${label(rows.column(name) ?? { name })} ${rows.text(row, name)}`).join(", ");
}

// Only those keys that differ tell rows apart.
function telling(rows: Rows, names: string[]): string[] {
  const differ = names.filter(name => rows.has(name) && rows.distinct(name).length > 1);
  return differ.length > 0 ? differ : names.slice(0, 1);
}

const unitOf = (column: Column | undefined): string => {
  if (!column) return "";
  if (column.type === "duration" || column.type === "duration_float" || column.type === "time") return "ns";
  if (column.type === "bytes") return "bytes";
  if (column.type === "ratio") return "ratio";
  return column.unit ?? (column.type === "int64" || column.type === "uint64" ? "count" : "");
};

function largest(rows: Rows, column: string, n: number): Row[] {
  const value = (row: Row) => Math.abs(rows.number(row, column) ?? 0);
  return [...rows.all].filter(row => value(row) > 0).sort((a, b) => value(b) - value(a)).slice(0, n);
}

const ofRows = (table: Table, shown: number): string => {
  const all = table.rows.length + table.hidden;
  return shown < all ? ` · the ${shown} largest of ${human(all, { type: "int64", unit: null })}` : "";
};

interface TopProps { title: string; of: string; column: string; keys: string[]; share?: string; color?: (rows: Rows, row: Row) => string; n?: number }

export function Top({ table, title, of, column, keys, share, color, n }: TopProps & { table: Table }) {
  const rows = new Rows(table), top = largest(rows, column, n ?? TOP);
  if (top.length === 0) return null;
  const names = telling(rows, keys);
  return <Bars title={title} of={of + ofRows(table, top.length)} unit={unitOf(rows.column(column))} bars={top.map(row => ({
    name: labelOf(rows, row, names), value: rows.number(row, column) ?? 0, share: share ? rows.number(row, share) : null,
    color: color?.(rows, row) ?? classColor("compute"),
  }))} />;
}

function stacked(parts: readonly Part[], title: string, of: string, keys = ["rank", "device", "step"]) {
  return (table: Table) => {
    const rows = new Rows(table), names = telling(rows, keys);
    return <StackedBars title={title} of={of} unit="ns" categories={rows.all.map(row => labelOf(rows, row, names))} series={stackOf(rows, parts)} />;
  };
}

// Rows of one bar each by some keys, and one part per word of another column.
function pivoted(title: string, of: string, keys: string[], by: string, value: string, known: readonly Part[]) {
  return (table: Table) => {
    const rows = new Rows(table), names = telling(rows, keys), bars = new Map<string, Map<string, number>>(), words = new Map<string, number>();
    for (const row of rows.all) {
      const name = labelOf(rows, row, names), word = rows.text(row, by), here = bars.get(name) ?? new Map<string, number>();
      bars.set(name, here);
      here.set(word, (here.get(word) ?? 0) + (rows.number(row, value) ?? 0));
      words.set(word, (words.get(word) ?? 0) + (rows.number(row, value) ?? 0));
    }
    const order = [...words].sort((a, b) => b[1] - a[1]).map(([word]) => word), looks = new Map(known.map(([word, name, color]) => [word, { name, color }]));
    return <StackedBars title={title} of={of} unit={unitOf(rows.column(value))} categories={[...bars.keys()]} series={order.map((word, i) => {
      const look = looks.get(word) ?? { name: word.replaceAll("_", " "), color: SERIES[(i + 4) % SERIES.length] as string };
      return { ...look, values: [...bars.values()].map(bar => bar.get(word) ?? null) };
    })} />;
  };
}

function curves(extra: Extra | null, value: string, keys: string[], title: string, of: string, what: string) {
  if (!extra) return null;
  const rows = new Rows(extra.table), names = telling(rows, keys), found = new Map<string, [number, number | null][]>();
  const start = rows.all.reduce((first, row) => Math.min(first, rows.number(row, "ts_ns") ?? first), Infinity);
  for (const row of rows.all) {
    const name = extra.series > 1 ? labelOf(rows, row, names) || what : what, points = found.get(name) ?? [];
    found.set(name, points);
    points.push([(rows.number(row, "ts_ns") ?? 0) - (start > 1e15 ? start : 0), rows.number(row, value)]);
  }
  const series: Line[] = [...found].map(([name, points], i) => ({ name, points, stepped: true, fill: found.size === 1, color: SERIES[i % SERIES.length] as string }));
  const few = extra.of > extra.series ? ` · the ${extra.series} with the highest peaks of ${extra.of}` : "";
  return <Lines title={title} of={of + few} xUnit="ns" yUnit={unitOf(rows.column(value))} series={series} />;
}

export const memoryCurve = (report: Report) => curves(extraOf(report, "memory-curve"), "allocated_bytes", ["rank", "device", "component"],
  "Memory over time", "allocated, of each device", "allocated");
export const queueCurve = (report: Report) => curves(extraOf(report, "queue-length"), "queue_length", ["rank", "device", "stream"],
  "Work that waits on a stream", "launched and not started, over time", "queue");
export const bandwidthCurve = (report: Report) => curves(extraOf(report, "memory-bandwidth"), "memory_bw_gbps", ["rank", "device", "name"],
  "Copy bandwidth over time", "sum of the running copies", "bandwidth");

// The sums of each rank, as the page has them; null where the report does not hold all steps.
function byRank(table: Table | null): Table | null {
  const at = table?.columns.findIndex(column => column.name === "rank") ?? -1;
  if (!table || table.hidden > 0 || at < 0) return null;
  const sums = new Map<Cell, Cell[]>();
  for (const row of table.rows) {
    const sum = sums.get(row[at] ?? null);
    if (!sum) sums.set(row[at] ?? null, [...row]);
    else row.forEach((cell, i) => { if (i !== at) sum[i] = typeof cell === "number" && typeof sum[i] === "number" ? sum[i] + cell : null; });
  }
  return { ...table, rows: [...sums.values()] };
}

// As on the page: the steps of each rank together, with waiting apart from transfer, or each step of the only one.
export function StepStack({ report }: { report: Report }) {
  const ranks = byRank(tableOf(report, "distributed")), mean = extraOf(report, "steps.mean"), steps = tableOf(report, "steps");
  if (report.ranks > 1 && ranks) return stacked(DISTRIBUTED_PARTS, "Time breakdown of the steps", "sum over the steps of each rank", ["rank"])(ranks);
  if (report.ranks > 1 && mean) return stacked(STEP_PARTS, "Time breakdown of a step", "the mean step of each rank", ["rank"])(mean.table);
  if (!steps) return null;
  return stacked(STEP_PARTS, "Time breakdown of the steps", "each step", ["rank", "step"])(steps);
}

// Fewer than three steps are no curve.
export function hasStepTimes(report: Report): boolean {
  const table = tableOf(report, "steps");
  return table !== null && new Rows(table).distinct("step").length > 2;
}

// What the GPU's time goes to, where there is GPU work.
export function gpuTime(report: Report): ComponentChildren {
  const table = tableOf(report, "temporal-breakdown");
  return table && CHARTS["temporal-breakdown"]?.(table, report);
}

// Step times as lines: for one rank, or the few ranks with the longest.
export function StepTimes({ report }: { report: Report }) {
  const table = tableOf(report, "steps");
  if (!table || !hasStepTimes(report)) return null;
  const rows = new Rows(table), byRank = new Map<number, [number, number | null][]>();
  for (const row of rows.all) {
    const rank = rows.number(row, "rank") ?? 0, points = byRank.get(rank) ?? [];
    byRank.set(rank, points);
    points.push([rows.number(row, "step") ?? 0, rows.number(row, "total_ns")]);
  }
  const longest = [...byRank].map(([rank, points]) => ({ rank, points, most: Math.max(...points.map(point => point[1] ?? 0)) }))
    .sort((a, b) => b.most - a.most || a.rank - b.rank).slice(0, 8).sort((a, b) => a.rank - b.rank);
  const few = byRank.size > longest.length ? ` · the ${longest.length} ranks with the longest steps of ${byRank.size}` : "";
  return <Lines title="Step time over steps" of={`of each rank${few}`} xUnit="count" yUnit="ns" xName="step" series={longest.map(({ rank, points }, i) => ({
    name: `rank ${rank}`, points, color: SERIES[i % SERIES.length] as string }))} />;
}

// The table of a map: that of its section, or the one that the report has for its charts.
const heatTable = (report: Report, metric: HeatMetric): Table | null =>
  metric.query.by ? null : metric.view ? extraOf(report, `${metric.verb}.${metric.view}`)?.table ?? null : tableOf(report, metric.verb);

export function metricsOf(report: Report): HeatMetric[] {
  return HEAT_METRICS.filter(metric => {
    const table = heatTable(report, metric);
    return table !== null && heatGrid(new Rows(table), metric) !== null;
  });
}

export function RankMap({ report, metric, actions }: { report: Report; metric: HeatMetric; actions: ComponentChildren }) {
  const table = heatTable(report, metric), grid = table && heatGrid(new Rows(table), metric);
  if (!grid) return null;
  return <HeatMap title={heatTitle(metric)} of={metric.says} unit="ns" values={grid.values} faint={grid.faint}
    rows={grid.ranks.map(rank => `rank ${rank}`)} columns={grid.steps.map(step => `step ${step}`)} actions={actions} maxHeight={260} />;
}

const colorOfKernel = (rows: Rows, row: Row) => kernelColor(rows.text(row, "name"), rows.text(row, "kernel_type"));

export const KernelBars = ({ table }: { table: Table }) => <Top table={table} title="Kernels that cost most" of="sum over all ranks, share of their time"
  column="total_ns" keys={["name"]} share="share" color={colorOfKernel} />;

// By device time where there is any, else by host time.
export function OperatorBars({ table }: { table: Table }) {
  const device = new Rows(table).any("device_self_ns");
  return <Top table={table} title="Operators that cost most" of={device ? "device time launched by the operator itself" : "time on the host, without what they call"}
    column={device ? "device_self_ns" : "host_self_ns"} keys={["name"]} share={device ? "device_share" : "host_share"} color={() => classColor(device ? "compute" : "host")} />;
}

function ranges(title: string, of: string, keys: string[]) {
  return (table: Table) => {
    const rows = new Rows(table), top = largest(rows, rows.has("sum_ns") ? "sum_ns" : "mean_ns", TOP), names = telling(rows, keys);
    if (top.length === 0) return null;
    return <MinMaxBars title={title} of={of + ofRows(table, top.length)} unit="ns" bars={top.map(row => ({ name: labelOf(rows, row, names), value: rows.number(row, "mean_ns") ?? 0,
      min: rows.number(row, "min_ns") ?? 0, max: rows.number(row, "max_ns") ?? 0, color: colorOfKernel(rows, row) }))} />;
  };
}

function flame(table: Table) {
  const rows = new Rows(table);
  const root = treeOf(rows.all.map(row => ({ path: rows.text(row, "stack").split(";"), self: rows.number(row, "self_ns") ?? 0 })), "all", stackClass);
  return <Flame title="Where the host's time goes, by call stack" of={`widths are sums over calls and ranks; click to go in${table.hidden > 0 ? ` · the ${table.rows.length} longest stacks of ${table.rows.length + table.hidden}` : ""}`} unit="ns" root={root} />;
}

function byRankAndStep(column: string, title: string) {
  return (table: Table) => {
    const rows = new Rows(table);
    if (rows.distinct("step").length < 2 || rows.distinct("rank").length < 2) return stacked(DISTRIBUTED_PARTS, "Time breakdown of a step", "of each rank and step")(table);
    const ranks = rows.distinct("rank").map(Number), steps = rows.distinct("step").filter(step => step !== null).map(Number);
    return <HeatMap title={title} of="of each rank and step" unit={unitOf(rows.column(column))} rows={ranks.map(rank => `rank ${rank}`)} columns={steps.map(step => `step ${step}`)}
      values={ranks.map(rank => steps.map(step => { const row = rows.all.find(one => rows.number(one, "rank") === rank && rows.number(one, "step") === step); return row ? rows.number(row, column) : null; }))} />;
  };
}

// Live bytes of the fullest device that has a memory snapshot.
function snapshotCurve(summary: Table, report: Report): ComponentChildren {
  const extra = extraOf(report, "memory-snapshot.fullest"), first = extra?.table.rows[0];
  if (!extra || !first) return null;
  const rows = new Rows(extra.table), told = new Rows(summary), drawn = bandsOf(rows, () => true, false);
  const peak = told.all.find(row => ["rank", "device"].every(name => told.text(row, name) === rows.text(first, name))), at = peak && told.number(peak, "peak_time_ns");
  return <Areas title={`Live memory of rank ${rows.text(first, "rank")}, device ${rows.text(first, "device")}`}
    of={`bytes that tensors hold, by who allocated them${told.all.length > 1 ? `; the fullest of ${told.all.length} devices` : ""}`}
    note={summary.notes.join(" ")} xs={drawn.xs} end={drawn.end} bands={[...drawn.bands].reverse()} above={{ name: "reserved", values: drawn.reserved }} xUnit="ns" yUnit="bytes"
    moments={peak && at !== null && at !== undefined ? [{ at, name: `peak ${human(told.cell(peak, "peak_allocated_bytes"), { type: "bytes", unit: "bytes" })}` }] : []} />;
}

// What operators hold of the fullest device, by the profiler's [memory] events.
function operatorBands(report: Report): ComponentChildren {
  const extra = extraOf(report, "memory-curve.fullest"), first = extra?.table.rows[0];
  if (!extra || !first) return null;
  const rows = new Rows(extra.table), drawn = bandsOf(rows, () => true, false, OPERATORS), at = drawn.xs[drawn.peak];
  const most = Math.max(...rows.all.map(row => rows.number(row, "allocated_bytes") ?? 0));
  return <Areas title={`Memory of rank ${rows.text(first, "rank")}, ${rows.text(first, "device")} by operator`}
    of={`bytes that tensors hold, by the operator that allocated them${report.ranks > 1 ? `; the fullest device of ${report.ranks} ranks` : ""}`}
    note={extra.table.notes.join(" ")} xs={drawn.xs} end={drawn.end} bands={[...drawn.bands].reverse()} above={{ name: "reserved", values: drawn.reserved }} xUnit="ns" yUnit="bytes"
    moments={at === undefined ? [] : [{ at, name: `peak ${human(most, { type: "bytes", unit: "bytes" })}` }]} />;
}

type Draw = (table: Table, report: Report) => ComponentChildren;

const top = (props: TopProps): Draw => table => <Top table={table} {...props} />;

const CHARTS: Record<string, Draw> = {
  steps: (_, report) => <StepTimes report={report} />,
  "temporal-breakdown": stacked(TEMPORAL_PARTS, "Time breakdown of the device", "each moment once"),
  "kernel-types": table => {
    const rows = new Rows(table);
    return <Shares title="What the device's busy time is" of="all ranks" unit="ns" parts={rows.all.map(row => ({ name: rows.text(row, "kernel_type"), value: rows.number(row, "sum_ns") ?? 0,
      color: classColor(typeClass(rows.text(row, "kernel_type"))) }))} />;
  },
  "kernel-breakdown": ranges("How long a kernel takes", "mean, with least and most, of the kernels with the largest sums", ["rank", "name"]),
  "annotation-breakdown": ranges("How long an annotation takes", "mean, with least and most, of those with the largest sums", ["rank", "name"]),
  "kernel-annotations": top({ title: "Device time by annotation", of: "share of summed device time", column: "dur_ns", keys: ["rank", "annotation"], share: "share" }),
  "idle-breakdown": pivoted("Idle time by cause", "sum of the gaps of each stream", ["rank", "device", "stream"], "idle_category", "idle_ns", IDLE_WORDS),
  "comm-overlap": stacked(OVERLAP_PARTS, "Communication, hidden and not", "of each rank", ["rank", "device", "group", "collective"]),
  distributed: byRankAndStep("exposed_share", "Exposed communication, share of the step"),
  stragglers: top({ title: "Rank lateness", of: "delay, summed over collectives: gap between the last and the second-last rank", column: "delay_ns", keys: ["rank"], share: "delay_share", color: (rows, row) => stragglerColor(rows.cell(row, "candidate") === true) }),
  collectives: stacked(COLLECTIVE_PARTS, "Waiting and transfer of collectives", "sums over calls", ["group", "kind"]),
  "critical-path": pivoted("What each step waits for", "the critical path of each rank and step", ["rank", "step"], "bound_by", "duration_ns", BOUND_WORDS),
  "queue-length": (_, report) => queueCurve(report),
  "memory-curve": (_, report) => <>{operatorBands(report)}{memoryCurve(report)}</>,
  "memory-bandwidth": (_, report) => bandwidthCurve(report),
  "memory-snapshot": snapshotCurve,
  "memory-timeline": top({ title: "Peak of memory", of: "of each device and kind", column: "peak_bytes", keys: ["rank", "device", "category"], color: () => classColor("memory") }),
  "memory-stats": top({ title: "Operators that allocate most", of: "bytes allocated by the operator itself", column: "self_allocated_bytes", keys: ["device", "operator"], color: () => classColor("memory") }),
  "memory-events": top({ title: "Largest allocations", of: "each one allocation", column: "size_bytes", keys: ["rank", "device", "operator"], color: () => classColor("memory") }),
  modules: table => <Top table={table} title="Modules that cost most" of="with what is inside them, forward" column={new Rows(table).any("device_total_ns") ? "device_total_ns" : "host_total_ns"} keys={["path"]} n={12} />,
  kernels: table => <KernelBars table={table} />,
  operators: table => <OperatorBars table={table} />,
  stacks: flame,
  "launch-stats": top({ title: "Launched work that waits longest", of: "sum of the delays from launch to start", column: "launch_delay_ns", keys: ["name"], color: colorOfKernel }),
  "op-launch-delay": top({ title: "Operators that launch late", of: "mean from operator to its first launch", column: "op_launch_delay_ns", keys: ["rank", "operator"], color: () => classColor("host") }),
  "kernel-sequences": top({ title: "Sequences that cost most", of: "device time of the sequence", column: "gpu_ns", keys: ["rank", "operator"] }),
  "idle-intervals": ranges("How long the gaps are", "mean, with least and most", ["rank", "device", "stream", "idle_category"]),
  "queue-blocked": top({ title: "Time that the host is blocked", of: "share of its time", column: "blocked_ns", keys: ["rank", "device", "stream"], share: "blocked_share" }),
};

// The share that is drawn in the table, else the first time or size that is measured.
function generic(table: Table): ComponentChildren {
  const rows = new Rows(table), keys = table.columns.filter(column => column.role === "key").map(column => column.name);
  const measure = table.columns.find(column => column.name === table.bar) ??
    table.columns.find(column => column.role === "measure" && ["duration", "bytes", "ratio"].includes(column.type));
  if (!measure || keys.length === 0 || !isNumber(measure.type) || !rows.any(measure.name)) return null;
  return <Top table={table} title={`By ${label(measure)}`} of={measure.sentence} column={measure.name} keys={keys} />;
}

export function chartOf(report: Report, verb: string, table: Table): ComponentChildren {
  if (table.rows.length === 0) return null;
  return CHARTS[verb] ? CHARTS[verb](table, report) : generic(table);
}

