// SPDX-License-Identifier: Apache-2.0
// Reading a table by the names of its columns. A column that is not there reads as null, so that a view copes
// with what a trace lacks.
import type { Cell, Column, Table } from "../model";

export type Row = readonly Cell[];

export class Rows {
  private readonly at = new Map<string, number>();

  constructor(readonly table: Table) {
    table.columns.forEach((column, i) => this.at.set(column.name, i));
  }

  get all(): readonly Row[] {
    return this.table.rows;
  }

  has(name: string): boolean {
    return this.at.has(name);
  }

  column(name: string): Column | undefined {
    const i = this.at.get(name);
    return i === undefined ? undefined : this.table.columns[i];
  }

  cell(row: Row, name: string): Cell {
    const i = this.at.get(name);
    return i === undefined ? null : (row[i] ?? null);
  }

  text(row: Row, name: string): string {
    const value = this.cell(row, name);
    return value === null ? "" : String(value);
  }

  // A number to draw. Texts of digits are numbers beyond 2^53: close enough for a pixel.
  number(row: Row, name: string): number | null {
    const value = this.cell(row, name);
    if (typeof value === "number") return value;
    if (typeof value === "string" && /^-?[0-9]+$/.test(value)) return Number(value);
    return null;
  }

  // The different values of a column, in order of appearance.
  distinct(name: string): Cell[] {
    return [...new Set(this.table.rows.map((row) => this.cell(row, name)))];
  }

  // What a column adds up to for each value of another, in order of appearance.
  sumBy(name: string, column: string): [string, number][] {
    const sums = new Map<string, number>();
    for (const row of this.table.rows) sums.set(this.text(row, name), (sums.get(this.text(row, name)) ?? 0) + (this.number(row, column) ?? 0));
    return [...sums];
  }

  // Whether any row has a value other than null and zero: what is all zero need not be drawn.
  any(name: string): boolean {
    return this.table.rows.some((row) => (this.number(row, name) ?? 0) !== 0);
  }
}

// The same table with some of its rows.
export function only(table: Table, keep: (row: Row) => boolean): Table {
  return { ...table, rows: table.rows.filter(keep) };
}
