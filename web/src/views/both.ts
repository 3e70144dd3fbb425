// SPDX-License-Identifier: Apache-2.0
// The run that is compared with, asked the same as the one that is looked at.
import { useMemo } from "preact/hooks";
import type { Cell, Run } from "../model";
import type { Query } from "../app/api";
import { useApp } from "../app/context";
import { useTable } from "../app/hooks";
import { Rows } from "../app/rows";
import type { Row } from "../app/rows";
import { changeText } from "../ui/format";
import { DISTRIBUTED_PARTS, STEP_PARTS } from "./stacks";
import type { Part } from "./stacks";

// Of a run, with the ranks and steps that are chosen; null until it is there, or where the run cannot tell.
function useRows(run: Run | null, verb: string | null, query: Query): Rows | null {
  const app = useApp(), { rank, step } = app.route.query;
  const span = run?.id === app.run.id ? app.route.query.span : undefined;
  const { table } = useTable(run ?? app.run, run ? verb : null, { rank, step, span, ...query });
  return useMemo(() => (table ? new Rows(table) : null), [table]);
}

// Of the baseline; null without one.
export const useBaseRows = (verb: string | null, query: Query = {}): Rows | null => useRows(useApp().base, verb, query);

// The value of another row, and how far the first is from it: "+3.1 ms".
export function change(rows: Rows, column: string, value: number | null, before: number | null): string {
  const of = rows.column(column) ?? { type: "duration", unit: "ns" };
  if (value === null || before === null) return value === null ? "–" : "added";
  return value === before ? "0" : changeText(value - before, of);
}

// Rows by the text of a column.
export function byName(rows: Rows | null, column = "name"): Map<string, Row> {
  return new Map((rows?.all ?? []).map((row) => [rows?.text(row, column) ?? "", row]));
}

// Rows of ranks and steps as the mean step of each rank: runs with other numbers of steps can be compared. What is unknown of a step is unknown of the mean.
export function meanByRank(rows: Rows): Rows {
  const { table } = rows, at = table.columns.findIndex((column) => column.name === "rank"), step = table.columns.findIndex((column) => column.name === "step");
  const groups = new Map<Cell, Row[]>();
  for (const row of table.rows) groups.set(row[at] ?? null, [...(groups.get(row[at] ?? null) ?? []), row]);
  const mean = (mine: readonly Row[], i: number): Cell => {
    const values = mine.map((row) => row[i] ?? null);
    return values.every((value): value is number => typeof value === "number") ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  };
  const all = [...groups].map(([rank, mine]) => table.columns.map((_, i) => (i === at ? rank : i === step ? null : mean(mine, i))));
  return new Rows({ ...table, rows: all });
}

// ---- the mean step ----

export interface MeanStep {
  steps: number; // over ranks and steps
  parts: { name: string; color: string; value: number }[];
  sum: number;
}

const SPLIT = ["exposed_transfer_ns", "exposed_wait_ns"];

// Parts of the mean of some rows; waiting and transfer are parts of exposed communication where all rows know them.
export function meanStep(rows: Rows, parts: readonly Part[], mine: readonly Row[]): MeanStep | null {
  const isSplit = rows.has("exposed_wait_ns") && mine.every((row) => rows.number(row, "exposed_wait_ns") !== null);
  const own = parts
    .filter(([column]) => (column === "exposed_ns" ? !isSplit : !SPLIT.includes(column) || isSplit))
    .map(([column, name, color]) => ({ name, color, value: mine.reduce((sum, row) => sum + (rows.number(row, column) ?? 0), 0) / Math.max(1, mine.length) }))
    .filter((part) => part.value > 0);
  return mine.length > 0 ? { steps: mine.length, parts: own, sum: own.reduce((sum, part) => sum + part.value, 0) } : null;
}

const severalRanks = (run: Run) => new Set(run.workers.flatMap((worker) => worker.rank ?? [])).size > 1;

// Of a run: the mean step of one rank, and that of the others; without a rank that of all.
export function useMeanSteps(run: Run, rank: number | null): { own: MeanStep | null; others: MeanStep | null } | null {
  const several = severalRanks(run);
  const rows = useRows(run, several ? "distributed" : "steps", several ? { view: "overlap" } : {});
  return useMemo(() => {
    if (!rows) return null;
    const parts = several ? DISTRIBUTED_PARTS : STEP_PARTS, isOwn = (row: Row) => rank === null || !several || rows.number(row, "rank") === rank;
    return { own: meanStep(rows, parts, rows.all.filter(isOwn)), others: meanStep(rows, parts, rows.all.filter((row) => !isOwn(row))) };
  }, [rows, rank, several]);
}
