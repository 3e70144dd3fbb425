// SPDX-License-Identifier: Apache-2.0
// What the heat maps of ranks and steps show, on the page and in the report: the first is how late a rank is, so that the rank which keeps
// the others waiting is the dark one. (Waiting is the others'.)
import type { Row, Rows } from "../app/rows";
import type { Grid } from "../ui/charts/ZoomMap";

export interface HeatMetric {
  value: string;
  label: string;
  verb: string;
  view?: string; // of the verb, where it is not the first
  query: Readonly<Record<string, string>>; // besides
  column: string;
  faint?: string; // column up to which a value cannot be told from nothing
  says: string;
}

export const HEAT_METRICS: readonly HeatMetric[] = [
  { value: "late", label: "lateness", verb: "collectives", view: "lateness", query: {}, column: "late_ns", faint: "uncertainty_ns",
    says: "after the first rank, worst collective of the step" },
  { value: "total", label: "step time", verb: "steps", query: {}, column: "step_time_ns", says: "from the completion of the step before to its own" },
  { value: "compute", label: "compute", verb: "steps", query: {}, column: "kernel_ns", says: "time with a kernel that computes" },
  { value: "comm", label: "exposed communication", verb: "steps", query: {}, column: "exposed_ns", says: "communication while nothing computes" },
  { value: "wait", label: "waiting", verb: "distributed", query: {}, column: "exposed_wait_ns", says: "waiting for another rank, hidden by nothing" },
  { value: "host", label: "CPU", verb: "steps", query: {}, column: "cpu_exec_ns", says: "time with operators on the CPU only" },
  { value: "idle", label: "idle", verb: "temporal-breakdown", query: { by: "step" }, column: "idle_ns", says: "time with nothing on the device" },
];

export interface HeatGrid {
  ranks: number[];
  steps: number[];
  values: (number | null)[][]; // by rank, then step
  faint?: (number | null)[][];
}

function fill(rows: Rows, has: Row[], ranks: number[], steps: number[], column: string): (number | null)[][] {
  const values: (number | null)[][] = ranks.map(() => steps.map(() => null));
  const rankAt = new Map(ranks.map((rank, i) => [rank, i])), stepAt = new Map(steps.map((step, i) => [step, i]));
  for (const row of has) {
    const line = values[rankAt.get(rows.number(row, "rank") ?? -1) ?? -1], at = stepAt.get(rows.number(row, "step") ?? -1);
    if (line && at !== undefined) line[at] = rows.number(row, column);
  }
  return values;
}

// One value per rank and step; null where nothing is known of any.
export function heatGrid(rows: Rows, metric: HeatMetric): HeatGrid | null {
  const has = rows.all.filter((row) => rows.cell(row, "step") !== null && rows.cell(row, "rank") !== null);
  const sorted = (name: string) => [...new Set(has.map((row) => rows.number(row, name) ?? 0))].sort((a, b) => a - b);
  const ranks = sorted("rank"), steps = sorted("step"), values = fill(rows, has, ranks, steps, metric.column);
  if (!values.some((line) => line.some((value) => value !== null))) return null;
  return { ranks, steps, values, faint: metric.faint ? fill(rows, has, ranks, steps, metric.faint) : undefined };
}

// The same for a map of many ranks: unknown is NaN.
export function zoomGrid(grid: HeatGrid): Grid {
  const n = grid.steps.length, values = new Float64Array(grid.ranks.length * n), faint = new Uint8Array(values.length);
  grid.values.forEach((line, r) => line.forEach((value, c) => {
    values[r * n + c] = value ?? NaN;
    faint[r * n + c] = value !== null && value <= (grid.faint?.[r]?.[c] ?? -1) ? 1 : 0;
  }));
  return { rows: grid.ranks.map((rank) => `rank ${rank}`), columns: grid.steps.map((step) => `step ${step}`), values, faint };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const heatTitle = (metric: HeatMetric): string =>
  metric.value === "late" ? "Rank lateness" : `${capital(metric.label)} of each rank and step`;
