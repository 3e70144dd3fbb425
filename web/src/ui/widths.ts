// SPDX-License-Identifier: Apache-2.0
// How wide the columns of a table are: numbers and short words as wide as they need, names take what is left.
import type { Cell, Column, Table } from "../model";
import { human, isNumber, label } from "./format";
import { mono, sans, textWidth } from "./hooks";

export const BAR_PX = 72;
const PADDING = 20, SAMPLE = 120, NAME_MIN = 150, NAME_MAX = 900, PROSE_MIN = 220;

export type Kind = "number" | "name" | "prose" | "word";

// width is what the cells need, want what the heading needs besides.
export interface Laid { column: Column; index: number; kind: Kind; width: number; want: number; empty: boolean; extra: boolean }

// Sentences wrap; names do not. A name may have blanks in its brackets, a sentence has them between words.
export function kindOf(column: Column, rows: Cell[][], index: number): Kind {
  if (column.added) return column.type === "string" ? "word" : "number";
  if (column.type !== "string") return isNumber(column.type) ? "number" : "word";
  let longest = 0, sentences = 0, n = 0;
  for (const row of rows.slice(0, SAMPLE)) {
    const text = row[index];
    if (typeof text !== "string") continue;
    n++;
    longest = Math.max(longest, text.length);
    if (text.length > 24 && !/[<>]|::/.test(text) && text.split(" ").length > 4) sentences++;
  }
  if (sentences > 0 && sentences * 3 >= n) return "prose";
  return longest > 14 ? "name" : "word";
}

function sampled(rows: Cell[][]): Cell[][] {
  if (rows.length <= SAMPLE) return rows;
  const step = rows.length / SAMPLE;
  return Array.from({ length: SAMPLE }, (_, i) => rows[i < SAMPLE / 2 ? i : Math.floor(i * step)] ?? []);
}

// What each column wants, before the room is known.
export function measure(table: Table, added?: { column: string; text: (whole: string) => string }): Laid[] {
  const rows = sampled(table.rows), plain = sans(13), code = mono(12), bold = `bold ${code}`;
  return table.columns.map((column, index) => {
    const extra = column.name === added?.column;
    const kind = extra ? "name" : kindOf(column, rows, index);
    // a heading wraps between its words
    let width = Math.max(...label(column).split(" ").map(word => textWidth(word, plain))) + 14, empty = true;
    for (const row of rows) {
      const value = row[index] ?? null;
      if (value === null) continue;
      empty = false;
      const text = (extra ? added.text(String(value)) : human(value, column)).slice(0, 400);
      width = Math.max(width, textWidth(text, extra ? bold : kind === "name" ? code : plain));
    }
    if (empty) empty = table.rows.every(row => (row[index] ?? null) === null);
    if (table.bar === column.name) width += BAR_PX;
    const want = Math.max(width, textWidth(label(column), plain) + 14);
    return { column, index, kind, width: Math.ceil(width) + PADDING, want: Math.ceil(want) + PADDING, empty, extra };
  });
}

function least(laid: Laid): number {
  if (laid.extra) return Math.min(laid.width, PROSE_MIN);
  if (laid.kind === "name") return Math.min(laid.width, NAME_MIN);
  if (laid.kind === "prose") return Math.min(laid.width, PROSE_MIN);
  return laid.width;
}

const NARROW = 940, KEPT = 2;

// The columns that are shown, and their widths. Details go first when the room is short; a choice of the reader counts
// more. Returns too how many went.
export function layOut(wanted: Laid[], room: number, chosen: Map<string, boolean>, resized: Map<string, number>):
    { shown: Laid[]; dropped: number } {
  let shown = wanted.filter(laid => chosen.get(laid.column.name) ?? !laid.empty);
  let total = shown.reduce((sum, laid) => sum + least(laid), 0), dropped = 0;
  for (let i = shown.length - 1; i > 0 && total > room; i--) {
    const laid = shown[i] as Laid;
    if (laid.column.role !== "detail" || chosen.has(laid.column.name)) continue;
    total -= least(laid);
    shown = shown.filter(other => other !== laid);
    dropped++;
  }
  // in a panel or on a phone measures go, too, what was added to them first: half of a column tells nothing
  const added = shown.find(laid => laid.extra);
  if (added && total > room && room < NARROW && !chosen.has(added.column.name)) {
    total -= least(added);
    shown = shown.filter(laid => laid !== added);
    dropped++;
  }
  for (let i = shown.length - 1; i >= KEPT && total > room && room < NARROW; i--) {
    const laid = shown[i] as Laid;
    if (chosen.has(laid.column.name)) continue;
    total -= least(laid);
    shown = shown.filter(other => other !== laid);
    dropped++;
  }
  const widths = share(shown, Math.max(0, room - total));
  return { shown: shown.map((laid, i) => ({ ...laid, width: resized.get(laid.column.name) ?? widths[i] ?? laid.width })), dropped };
}

// What is left goes to those that want more, alike, until they have what they want.
function share(shown: Laid[], left: number): number[] {
  const widths = shown.map(least), wants = shown.map(laid => Math.min(laid.want, NAME_MAX));
  for (;;) {
    const hungry = widths.flatMap((width, i) => width + 0.5 < (wants[i] ?? 0) ? [i] : []);
    if (hungry.length === 0 || left < 1) return widths.map(Math.floor);
    const part = left / hungry.length;
    for (const i of hungry) {
      const more = Math.min(part, (wants[i] ?? 0) - (widths[i] ?? 0));
      widths[i] = (widths[i] ?? 0) + more;
      left -= more;
    }
  }
}
