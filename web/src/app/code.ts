// SPDX-License-Identifier: Apache-2.0
// The line of the user's own code beside rows of kernels and operators: a column that the page adds to the engine's.
import { useMemo } from "preact/hooks";
import type { Cell, Column, Table } from "../model";
import { chosen, useApp } from "./context";
import { useTable } from "./hooks";
import { Rows } from "./rows";

export const YOUR_CODE: Column = {
  name: "your_code", label: "your code", type: "string", unit: null, role: "measure",
  sentence: "line of your own code that launches most of its device time; backward of: the line of the forward pass whose gradient it computes (attribution --view origins)",
};

const BACKWARD = "backward of ";

// As the engine writes a line: FILE(LINE): FUNCTION.
const LINE = /^(.+?)\((\d+)\)(?:: .*)?$/;

export function placeOf(source: string): { file: string; line: string } | null {
  const found = LINE.exec(source);
  return found ? { file: found[1] ?? "", line: found[2] ?? "" } : null;
}

// Without its folders: train.py:55. What is no line of a file stays as it is.
export function lineText(source: string): string {
  if (source.startsWith(BACKWARD)) return BACKWARD + lineText(source.slice(BACKWARD.length));
  const place = placeOf(source);
  return place ? `${place.file.replace(/^.*[\\/]/, "")}:${place.line}` : source;
}

// Per name the line with the most GPU time: a name comes once per module, too, so the times of a line are added up. Threads of the backward pass have no lines of
// their own: theirs is that of the forward operator, and says so.
export function linesOf(origins: Table, of: string): Map<string, string> {
  const rows = new Rows(origins), sums = new Map<string, Map<string, number>>();
  for (const row of rows.all) {
    const name = rows.text(row, of), forward = rows.text(row, "forward_source"), source = rows.text(row, "source") || (forward && BACKWARD + forward);
    if (!name || !source) continue;
    const lines = sums.get(name) ?? new Map<string, number>();
    lines.set(source, (lines.get(source) ?? 0) + (rows.number(row, "gpu_ns") ?? 0));
    sums.set(name, lines);
  }
  return new Map([...sums].map(([name, lines]) => [name, [...lines].reduce((a, b) => (b[1] > a[1] ? b : a))[0]] as const));
}

// The rows with their lines behind the name, where any is known. The cells of the table stay those of the engine.
export function withLines(table: Table, lines: ReadonlyMap<string, string>): { table: Table; of: Map<readonly Cell[], readonly Cell[]> } | null {
  const at = table.columns.findIndex((column) => column.name === "name");
  if (at < 0 || !table.rows.some((row) => lines.has(String(row[at])))) return null;
  const put = <T>(list: readonly T[], one: T): T[] => [...list.slice(0, at + 1), one, ...list.slice(at + 1)];
  const of = new Map<readonly Cell[], readonly Cell[]>();
  const rows = table.rows.map((row) => {
    const wider = put(row, lines.get(String(row[at])) ?? null);
    of.set(wider, row);
    return wider;
  });
  return { table: { ...table, columns: put(table.columns, YOUR_CODE), rows }, of };
}

// One question for the whole table. of: the column of the origins that the names are of; undefined asks nothing.
export function useLines(of: "name" | "op" | undefined): ReadonlyMap<string, string> | null {
  const app = useApp();
  const query = { ...chosen(app, "attribution"), view: "origins", where: "source is not null or forward_source is not null", columns: `${of},source,forward_source,gpu_ns`, top: "all" };
  const { table } = useTable(app.run, of ? "attribution" : null, query);
  return useMemo(() => (table && of ? linesOf(table, of) : null), [table, of]);
}
