// SPDX-License-Identifier: Apache-2.0
// The main table of a view with a run to compare with: what it measures first, as the baseline has it, the change, and whether that is more than noise (noise.ts).
// Rows are the same whose keys are.
import { useMemo } from "preact/hooks";
import type { Cell, Column, Table } from "../model";
import type { Query } from "./api";
import { analysisOf, useApp } from "./context";
import { useTable } from "./hooks";
import { gapCells, gapColumns, useGaps, withGaps } from "./noise";
import type { Gap } from "./noise";

const MEASURED: readonly string[] = ["duration", "duration_float", "bytes"];

const keysOf = (table: Table): number[] => table.columns.flatMap((column, i) => (column.role === "key" ? [i] : []));
const keyText = (row: readonly Cell[], keys: readonly number[]): string => JSON.stringify(keys.map((i) => row[i] ?? null));

function rowsByKey(table: Table, keys: readonly number[]): Map<string, readonly Cell[]> | null {
  const rows = new Map(table.rows.map((row) => [keyText(row, keys), row]));
  return rows.size === table.rows.length ? rows : null;
}

function columnsOf(measure: Column): [Column, Column] {
  const plain = { type: measure.type, unit: measure.unit, role: "measure" as const };
  return [
    { ...plain, name: "baseline", label: "baseline", sentence: `${measure.sentence}, in the baseline`, added: "plain" },
    { ...plain, name: "change", label: "change", sentence: "this run minus the baseline, over the steps that are chosen in each", added: "signed" },
  ];
}

const measureAt = (table: Table): number => table.columns.findIndex((column) => column.role === "measure" && MEASURED.includes(column.type));

// null where rows cannot be matched: without keys, or with keys that come twice.
export function withBaseline(table: Table, base: Table, gaps: ReadonlyMap<string, Gap> | null = null): { table: Table; of: Map<readonly Cell[], readonly Cell[]> } | null {
  const at = measureAt(table), measure = table.columns[at];
  const there = base.columns.findIndex((column) => column.name === measure?.name);
  const keys = keysOf(table), keysThere = keys.map((i) => base.columns.findIndex((column) => column.name === table.columns[i]?.name));
  const rowsThere = measure && there >= 0 && keys.length > 0 && !keysThere.includes(-1) ? rowsByKey(base, keysThere) : null;
  if (!measure || !rowsThere || !rowsByKey(table, keys)) return null;
  const put = <T>(list: readonly T[], ...more: T[]): T[] => [...list.slice(0, at + 1), ...more, ...list.slice(at + 1)];
  const of = new Map<readonly Cell[], readonly Cell[]>();
  const rows = table.rows.map((row) => {
    const before = rowsThere.get(keyText(row, keys))?.[there] ?? null, now = row[at] ?? null;
    const change = before === null || now === null ? null : Number(now) - Number(before);
    const wider = put(row, before, change, ...(gaps ? gapCells(gaps.get(keyText(row, keys)), measure) : []));
    of.set(wider, row);
    return wider;
  });
  return { table: { ...table, columns: put(table.columns, ...columnsOf(measure), ...(gaps ? gapColumns(measure) : [])), rows }, of };
}

// The same question to the baseline; null without one, and where the verb compares or lists events itself.
export function useBaseline(verb: string | null, query: Query): Table | null {
  const app = useApp(), analysis = verb === null ? undefined : analysisOf(app, verb);
  const wanted = app.base !== null && analysis !== undefined && analysis.n_sets === 1 && !analysis.lists_events;
  const { table } = useTable(app.base ?? app.run, wanted ? verb : null, { ...query, span: undefined, base: undefined });
  return wanted ? table : null;
}

// What a table of differences compares: the intervals are those of the verb that has it of one run.
export interface Compared { verb: string; query: Query; key: string; measure: string }

export function useAgainst(table: Table, verb: string | null, query: Query, compared?: Compared): ReturnType<typeof withBaseline> {
  const base = useBaseline(verb, query), measure = table.columns[measureAt(table)]?.name, keys = keysOf(table).map((i) => table.columns[i]?.name ?? "");
  const given = compared && { ...query, view: undefined, base: undefined, ...compared.query };
  // rows of single steps have nothing to vary over
  const stepwise = table.columns.findIndex((column) => column.name === "step"), single = stepwise >= 0 && table.rows.some((row) => (row[stepwise] ?? null) !== null);
  const gaps = useGaps(compared?.verb ?? (base && !single ? verb : null), given ?? query, compared ? [compared.key] : keys, compared?.measure ?? measure);
  return useMemo(() => {
    if (compared) return gaps ? withGaps(table, gaps, compared.key, `diff_${compared.measure}`) : null;
    return base ? withBaseline(table, base, gaps) : null;
  }, [table, base, gaps, compared?.measure]);
}
