// SPDX-License-Identifier: Apache-2.0
// Whether a change against the baseline is more than noise, of tables of which the engine does not tell (diff does, of kernels, causes and ranks): the same
// question step by step to both runs, and per row Student's interval of the difference of a step. It comes after the table, and only where it costs little.
import { useMemo } from "preact/hooks";
import type { Cell, Column, Run, Table } from "../model";
import { human } from "../ui/format";
import { useAnswer } from "./answer";
import { table as askTable } from "./api";
import type { Query } from "./api";
import { useApp } from "./context";
import { useTable } from "./hooks";
import { Rows } from "./rows";

// Of one step, this run minus the baseline: 95 %. only: in one of the runs alone.
export interface Gap { low: number; high: number; only?: "added" | "removed" }

const MOST_STEPS = 12, MOST_EVENTS = 3e7; // events that all questions together look at

// Student's t between whose minus and plus are 95 % (ht_student_quantile), of whole degrees of freedom: as an angle its distribution is a finite sum.
export function t95(df: number): number {
  const between = (angle: number): number => {
    let term = df % 2 === 1 ? Math.cos(angle) : 1, sum = df === 1 ? 0 : term;
    for (let i = df % 2 === 1 ? 3 : 2; i <= df - 2; i += 2) sum += term *= ((i - 1) / i) * Math.cos(angle) ** 2;
    return df % 2 === 1 ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
  };
  let low = 0, high = Math.PI / 2;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (between(middle) < 0.95) low = middle;
    else high = middle;
  }
  return Math.sqrt(df) * Math.tan(high);
}

const T95: number[] = [];

// Two or more values on each side; null where they tell nothing of noise.
export function gapOf(before: readonly number[], after: readonly number[]): Gap | null {
  const df = before.length + after.length - 2;
  if (before.length < 2 || after.length < 2) return null;
  const mean = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
  const [was, is] = [mean(before), mean(after)], squares = (list: readonly number[], of: number) => list.reduce((sum, one) => sum + (one - of) ** 2, 0);
  const error = Math.sqrt(((squares(before, was) + squares(after, is)) / df) * (1 / before.length + 1 / after.length));
  const reach = error * (T95[df] ??= t95(df));
  return { low: is - was - reach, high: is - was + reach };
}

const keyText = (rows: Rows, row: readonly Cell[], keys: readonly string[]): string => JSON.stringify(keys.map((key) => rows.cell(row, key)));

// What a row is not in a step: nothing of a sum, and not known of a mean.
const isSum = (measure: string): boolean => !/mean|median|min|max|std|p\d+|share/.test(measure);

// Values of rows by step; null where rows cannot be told apart.
function valuesOf(steps: readonly Table[], keys: readonly string[], measure: string): Map<string, number[]> | null {
  const out = new Map<string, (number | null)[]>();
  for (const [i, table] of steps.entries()) {
    const rows = new Rows(table), seen = new Set<string>();
    for (const row of rows.all) {
      const key = keyText(rows, row, keys), values = out.get(key) ?? steps.map((one) => (isSum(measure) && one.hidden === 0 ? 0 : null));
      if (seen.has(key)) return null;
      seen.add(key);
      values[i] = rows.number(row, measure);
      out.set(key, values);
    }
  }
  return new Map([...out].map(([key, values]) => [key, values.filter((value): value is number => value !== null)]));
}

// By the keys of rows. Where no row varies from step to step the verb does not look at steps, and nothing is known.
export function gapsOf(before: readonly Table[], after: readonly Table[], keys: readonly string[], measure: string): Map<string, Gap> | null {
  const was = valuesOf(before, keys, measure), is = valuesOf(after, keys, measure), gaps = new Map<string, Gap>();
  const zeros = (n: number) => (isSum(measure) ? Array<number>(n).fill(0) : []);
  for (const key of new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])) {
    const gap = gapOf(was?.get(key) ?? zeros(before.length), is?.get(key) ?? zeros(after.length)), only = was?.has(key) ? (is?.has(key) ? undefined : "removed") : "added";
    if (gap) gaps.set(key, { ...gap, only });
  }
  return was && is && [...gaps.values()].some((gap) => gap.high > gap.low) ? gaps : null;
}

function useSteps(run: Run, wanted: boolean, query: Query): string[] | null {
  const { table } = useTable(run, wanted ? "steps" : null, { rank: query.rank, step: query.step, span: query.span, columns: "step", top: "all" });
  return useMemo(() => (table ? [...new Set(table.rows.flatMap((row) => (row[0] === null || row[0] === undefined ? [] : [String(row[0])])))] : null), [table]);
}

const eventsOf = (run: Run): number => run.workers.reduce((sum, worker) => sum + (worker.events ?? 0), 0);

// verb null: not asked. keys and measure are columns of its table.
export function useGaps(verb: string | null, query: Query, keys: readonly string[], measure: string | undefined): ReadonlyMap<string, Gap> | null {
  const { run, base } = useApp(), wanted = verb !== null && base !== null && measure !== undefined && keys.length > 0;
  const there = { ...query, span: undefined, base: undefined };
  const here = useSteps(run, wanted, query), before = useSteps(base ?? run, wanted, there);
  const few = (steps: string[] | null, of: Run): boolean => steps !== null && steps.length > 1 && steps.length <= MOST_STEPS && steps.length * eventsOf(of) <= MOST_EVENTS;
  const asked = wanted && base && few(here, run) && few(before, base) ? `${run.id} ${run.generation} ${base.id} ${base.generation} ${verb} ${JSON.stringify(query)} ${here?.join()} ${before?.join()} ${measure}` : null;
  const [gaps] = useAnswer(asked, async () => {
    // one after the other: what the page shows first is not kept waiting
    const each = async (of: Run, steps: readonly string[], how: Query) => {
      const out: Table[] = [];
      for (const step of steps) out.push(await askTable(of, verb ?? "", { ...how, step }));
      return out;
    };
    return gapsOf(await each(base ?? run, before ?? [], there), await each(run, here ?? [], query), keys, measure ?? "");
  });
  return gaps;
}

// "+414 to +416 µs": the unit once where it is the same.
function rangeText(gap: Gap, of: Column): string {
  const [low, high] = [gap.low, gap.high].map((value) => `${value > 0 ? "+" : ""}${human(value, of)}`), unit = /[^\d.]+$/.exec(high ?? "")?.[0] ?? "";
  return `${unit && low?.endsWith(unit) ? low.slice(0, -unit.length) : low} to ${high}`;
}

const WORDS: Readonly<Record<string, readonly [string, string]>> = { bytes: ["more", "less"] };

// The two cells of a row: its interval in words, and what follows from it.
export function gapCells(gap: Gap | undefined, of: Column): [Cell, Cell] {
  if (!gap) return [null, null];
  const [more, less] = WORDS[of.type] ?? ["slower", "faster"];
  return [rangeText(gap, of), gap.only ?? (gap.low > 0 ? more : gap.high < 0 ? less : gap.low === gap.high ? "equal" : "within noise")];
}

export function gapColumns(measure: Column): [Column, Column] {
  const plain = { type: "string" as const, unit: null, role: "measure" as const, added: "plain" as const };
  return [
    { ...plain, name: "interval", label: "95 % interval a step", sentence: `change of one step: ${measure.sentence}, this run minus the baseline; Student's interval over the steps of both` },
    { ...plain, name: "significance", label: "significance", sentence: "within noise where the interval has 0 in it" },
  ];
}

// A comparison's own table with the intervals of what it compares, behind the difference. named: its column of the key; at: of the difference.
export function withGaps(table: Table, gaps: ReadonlyMap<string, Gap>, named: string, at: string): { table: Table; of: Map<readonly Cell[], readonly Cell[]> } | null {
  const place = table.columns.findIndex((column) => column.name === at), measure = table.columns[place], rows = new Rows(table);
  if (!measure || !rows.has(named)) return null;
  const put = <T>(list: readonly T[], more: readonly T[]): T[] => [...list.slice(0, place + 1), ...more, ...list.slice(place + 1)];
  const of = new Map<readonly Cell[], readonly Cell[]>();
  const wider = table.rows.map((row) => {
    const out = put<Cell>(row, gapCells(gaps.get(keyText(rows, row, [named])), measure));
    of.set(out, row);
    return out;
  });
  return { table: { ...table, columns: put(table.columns, gapColumns(measure)), rows: wider }, of };
}
