// SPDX-License-Identifier: Apache-2.0
// Memory over time as bands, of a snapshot or of the profiler's events: the keys of its rows in the order of the engine, which is
// by weight; what is left is grey, and paler what the recording has not. The same key has the same colour in the map of addresses.
import { nameHue, SERIES } from "../ui/colors";
import type { Band } from "../ui/charts";
import type { Row, Rows } from "../app/rows";

export const OTHERS = "(others)";
export const UNSEEN = "(not in the recording)";

// What the columns are called.
export interface BandColumns {
  event: string;
  time: string;
  key: string;
}
const SNAPSHOT: BandColumns = { event: "event", time: "time_ns", key: "key" };
export const OPERATORS: BandColumns = { event: "index", time: "ts_ns", key: "operator" };

export interface Bands {
  bands: Band[];
  xs: number[];
  end: number;
  events: number[]; // by point
  reserved: number[];
  peak: number; // point with the most; -1: there is none
}

export function colorOf(key: string, order: readonly string[]): string {
  if (key === UNSEEN) return "var(--idle)";
  if (key === OTHERS) return "var(--rest)";
  const at = order.indexOf(key);
  return at >= 0 && at < SERIES.length ? (SERIES[at] as string) : nameHue(key, "memory");
}

export function bandsOf(rows: Rows, keep: (row: Row) => boolean, overEvents: boolean, names = SNAPSHOT): Bands {
  const events: number[] = [];
  const xs: number[] = [];
  const reserved: number[] = [];
  const allocated: number[] = [];
  const values = new Map<string, number[]>();
  const timed = !overEvents && rows.all.every((row) => rows.number(row, names.time) !== null);
  for (const row of rows.all) {
    if (!keep(row)) continue;
    const event = rows.number(row, names.event) ?? 0;
    const key = rows.text(row, names.key);
    if (events.length === 0 || events[events.length - 1] !== event) {
      events.push(event);
      xs.push(timed ? (rows.number(row, names.time) ?? 0) : event);
      reserved.push(rows.number(row, "reserved_bytes") ?? 0);
      allocated.push(rows.number(row, "allocated_bytes") ?? 0);
    }
    if (!values.has(key)) values.set(key, []);
    (values.get(key) as number[])[events.length - 1] = rows.number(row, "bytes") ?? 0;
  }
  const order = [...values.keys()];
  const most = allocated.reduce((a, b) => Math.max(a, b), -1);
  const last = xs[xs.length - 1] ?? 0;
  return {
    bands: order.map((name) => ({ name, color: colorOf(name, order), values: values.get(name) as number[] })),
    xs,
    end: last + Math.max(1, (last - (xs[0] ?? 0)) / Math.max(1, xs.length)),
    events,
    reserved,
    peak: allocated.indexOf(most),
  };
}
