// SPDX-License-Identifier: Apache-2.0
// The order of a table's rows: by several columns, absent values last, the table's own order where all are equal.
import type { Cell, Column, Table } from "../model";
import { isNumber } from "./format";

export interface SortKey { column: string; down: boolean }

// Texts of digits are compared as the integers that they are.
function compareDigits(a: string, b: string): number {
  const x = BigInt(a), y = BigInt(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

function compareEvents(a: string, b: string): number {
  const [rankA = "0", rowA = "0"] = a.split(":"), [rankB = "0", rowB = "0"] = b.split(":");
  return Number(rankA) - Number(rankB) || Number(rowA) - Number(rowB);
}

export function compareCells(a: Cell, b: Cell, type: Column["type"]): number {
  if (isNumber(type)) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return compareDigits(String(a), String(b));
  }
  if (type === "event") return compareEvents(String(a), String(b));
  const x = String(a), y = String(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

// Places of the rows that the words are in, in order. Words are looked for in texts and ids, letters of either case.
export function arrange(table: Table, keys: SortKey[], query: string): number[] {
  const words = query.toLowerCase().split(/\s+/).filter(word => word !== "");
  const texts = table.columns.map((column, i) => ({ column, i }))
    .filter(({ column }) => !isNumber(column.type) || column.role === "key").map(({ i }) => i);
  let places = table.rows.map((_, i) => i);
  if (words.length > 0) {
    places = places.filter(place => {
      const row = table.rows[place] ?? [];
      const text = texts.map(i => row[i] ?? "").join("\n").toLowerCase();
      return words.every(word => text.includes(word));
    });
  }
  const by = keys.flatMap(key => {
    const i = table.columns.findIndex(column => column.name === key.column);
    return i < 0 ? [] : [{ i, type: (table.columns[i] as Column).type, sign: key.down ? -1 : 1 }];
  });
  if (by.length === 0) return places;
  return places.sort((a, b) => {
    for (const { i, type, sign } of by) {
      const x = table.rows[a]?.[i] ?? null, y = table.rows[b]?.[i] ?? null;
      if (x === null || y === null) {
        if (x === y) continue;
        return x === null ? 1 : -1;
      }
      const order = compareCells(x, y, type);
      if (order !== 0) return sign * order;
    }
    return a - b;
  });
}

// What a click on a heading makes of the order: its natural direction, the other one, none; with shift beside others.
export function clicked(keys: SortKey[], column: Column, add: boolean): SortKey[] {
  const first = isNumber(column.type) && column.role !== "key";
  const now = keys.find(key => key.column === column.name);
  const others = add ? keys.filter(key => key.column !== column.name) : [];
  if (!now) return [...others, { column: column.name, down: first }];
  return now.down === first ? [...others, { column: column.name, down: !first }] : others;
}
