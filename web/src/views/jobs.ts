// SPDX-License-Identifier: Apache-2.0
// A large job by nodes and parallel groups: which ranks belong together, and what the engine's numbers of ranks are over each group. Everything is picked from
// rows of topology, stragglers, distributed and collectives; here are only least, median and most.
import type { Grid } from "../ui/charts";
import { median } from "../ui/charts/bins";
import type { Row, Rows } from "../app/rows";

export interface Axis {
  id: string;
  column: string;  // of topology
  title: string;   // of the tab
  one: string;     // what one of them is called
}

export const AXES: readonly Axis[] = [
  { id: "node", column: "node", title: "Nodes", one: "node" },
  { id: "stage", column: "stage", title: "Pipeline stages", one: "stage" },
  { id: "replica", column: "replica", title: "Data-parallel replicas", one: "replica" },
  { id: "tensor", column: "tensor_group", title: "Tensor-parallel groups", one: "TP group of rank" },
  { id: "context", column: "context_group", title: "Context-parallel groups", one: "CP group of rank" },
  { id: "expert", column: "expert_group", title: "Expert-parallel groups", one: "EP group of rank" },
  { id: "rank", column: "rank", title: "Ranks", one: "rank" },
];
export const RANKS = AXES[AXES.length - 1] as Axis;

// Axes that part these ranks into several; ranks themselves always do.
export function axesOf(places: Rows): Axis[] {
  return AXES.filter((axis) => axis === RANKS || places.distinct(axis.column).filter((value) => value !== null).length > 1);
}

const WORDS: Readonly<Record<string, string>> = { pipeline: "PP", data: "DP", tensor: "TP", context: "CP", expert: "EP" };

// "128 nodes × 8 ranks · TP 8 · PP 4 · DP 32 (process groups)"
export function shapeOf(axes: Rows): string {
  const parts: string[] = [], from = new Set<string>();
  for (const row of axes.all) {
    const axis = axes.text(row, "axis"), word = WORDS[axis];
    from.add(axes.text(row, "from"));
    if (axis === "node") parts.push(`${axes.text(row, "groups")} ${axes.number(row, "groups") === 1 ? "node" : "nodes"} × ${axes.text(row, "ranks")}`);
    else if (word) parts.push(`${word} ${axes.text(row, "size")}`);
  }
  return parts.length > 0 ? `${parts.join(" · ")} (from ${[...from].join(" and ")})` : "";
}

export interface Spread { least: number; median: number; most: number }

export function spreadOf(values: readonly (number | null)[]): Spread | null {
  const known = values.filter((value): value is number => value !== null).sort((a, b) => a - b);
  if (known.length === 0) return null;
  return { least: known[0] as number, median: median(known), most: known[known.length - 1] as number };
}

export interface Group {
  key: string;
  name: string;               // "node 77"
  ranks: number[];
  worst: Row | null;          // of stragglers: the latest rank of them, candidates first
  lateness: number | null;
  candidate: boolean;
  own: Spread | null;         // step time less waiting, per rank
}

// Ranks of each group in the order of keys; those that are in none are left out.
export function groupsOf(places: Rows, axis: Axis, within: ReadonlySet<number> | null): Group[] {
  const found = new Map<string, Group>();
  for (const row of places.all) {
    const key = places.text(row, axis.column), rank = places.number(row, "rank");
    if (key === "" || rank === null || (within && !within.has(rank))) continue;
    let group = found.get(key);
    if (!group) found.set(key, (group = { key, name: `${axis.one} ${key}`, ranks: [], worst: null, lateness: null, candidate: false, own: null }));
    group.ranks.push(rank);
  }
  return [...found.values()].sort((a, b) => a.key.localeCompare(b.key, undefined, { numeric: true }));
}

export const byRank = (rows: Rows): Map<number, Row> => new Map(rows.all.map((row) => [rows.number(row, "rank") ?? -1, row]));

// How late each group is, by the latest of its ranks.
export function judge(groups: readonly Group[], late: Rows): void {
  const rows = byRank(late);
  const score = (row: Row) => (late.cell(row, "candidate") === true ? 1e18 : 0) + (late.number(row, "lateness_ns") ?? -1e17);
  for (const group of groups) {
    for (const rank of group.ranks) {
      const row = rows.get(rank);
      if (row && (!group.worst || score(row) > score(group.worst))) group.worst = row;
    }
    group.lateness = group.worst ? late.number(group.worst, "lateness_ns") : null;
    group.candidate = group.worst !== null && late.cell(group.worst, "candidate") === true;
  }
}

// The step without what a rank waits for others: what it needs itself.
export function ownTime(parts: Rows, row: Row): number | null {
  const step = parts.number(row, "step_ns"), wait = parts.number(row, "exposed_wait_ns");
  return step === null || wait === null ? null : step - wait;
}

export function measure(groups: readonly Group[], parts: Rows): void {
  const rows = byRank(parts);
  for (const group of groups)
    group.own = spreadOf(group.ranks.map((rank) => { const row = rows.get(rank); return row ? ownTime(parts, row) : null; }));
}

// Candidates first, then the latest; what nothing is known of comes last.
export function bySlowness(a: Group, b: Group): number {
  return Number(b.candidate) - Number(a.candidate) || (b.lateness ?? -Infinity) - (a.lateness ?? -Infinity) || a.key.localeCompare(b.key, undefined, { numeric: true });
}

// Groups by steps: the latest rank of the group in the step.
export function lateGrid(groups: readonly Group[], rows: Rows): Grid & { steps: number[] } {
  const at = new Map<number, number>();
  groups.forEach((group, i) => { for (const rank of group.ranks) at.set(rank, i); });
  const steps = [...new Set(rows.all.flatMap((row) => rows.number(row, "step") ?? []))].sort((a, b) => a - b), place = new Map(steps.map((step, i) => [step, i]));
  const values = new Float64Array(groups.length * steps.length).fill(NaN), faint = new Uint8Array(values.length);
  for (const row of rows.all) {
    const group = at.get(rows.number(row, "rank") ?? -1), step = place.get(rows.number(row, "step") ?? NaN), late = rows.number(row, "late_ns");
    if (group === undefined || step === undefined || late === null) continue;
    const i = group * steps.length + step;
    if (late <= (values[i] as number)) continue;
    values[i] = late;
    faint[i] = late <= (rows.number(row, "uncertainty_ns") ?? 0) ? 1 : 0;
  }
  return { rows: groups.map((group) => group.name), columns: steps.map((step) => `step ${step}`), values, faint, steps };
}
