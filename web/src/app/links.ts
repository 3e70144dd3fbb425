// SPDX-License-Identifier: Apache-2.0
// Where cells and words lead: events to the timeline, "next" of a conclusion to the view that shows more, names of
// operators and kernels to their rows.
import type { Column, Table } from "../model";
import { YOUR_CODE } from "./code";
import { analysisOf } from "./context";
import type { App } from "./context";
import { eventsOf, nextOf } from "./findings";
import type { Next } from "./findings";
import { Rows } from "./rows";
import type { Row } from "./rows";
import { eventLink, linkTo, linkWith } from "./route";
import type { Change } from "./route";

// The view of a verb takes its by, view and time options; what it does not know is for the analysis' own page.
export function verbLink(app: App, verb: string, options: Change = {}): string {
  const view = analysisOf(app, verb)?.page_view, { route } = app;
  const fits = Object.keys(options).every((name) => ["by", "view", "time"].includes(name));
  return view && fits ? linkTo(route, view, options) : linkTo(route, "analysis", options, verb);
}

export function nextLink(app: App, next: Next): string {
  return verbLink(app, next.verb, next.options);
}

const ROW_COLUMN = /(^|_)(index|row)(_|$)/;

// The event that a cell names: itself, or the row of the trace of the row's rank.
export function eventOf(table: Table, column: Column, row: Row): string | undefined {
  const at = table.columns.indexOf(column);
  const value = row[at];
  if (value === null || value === undefined) return undefined;
  if (column.type === "event") return String(value);
  if (column.name === "evidence") return eventsOf(String(value))[0];
  if (!ROW_COLUMN.test(column.name) || typeof value === "boolean") return undefined;
  if (table.columns.some((other) => other.name === "table")) return undefined; // its rows are those of that table
  const own = column.name.replace(ROW_COLUMN, "$1rank");
  const rank = table.columns.findIndex((other) => other.name === own);
  const rankAt = rank >= 0 ? rank : table.columns.findIndex((other) => other.name === "rank");
  const rankValue = rankAt >= 0 ? row[rankAt] : null;
  return rankValue === null || rankValue === undefined ? undefined : `${rankValue}:${value}`;
}

// A text as the operand of a filter expression.
export function quoted(text: string): string {
  return '"' + text.replace(/[\\"]/g, "\\$&") + '"';
}

const MAX_OPERAND = 1000;

// The filter for rows of this name. A request has room for so much: of longer names, the beginning must do.
export function isNamed(column: string, name: string): string {
  return name.length <= MAX_OPERAND
    ? `${column} == ${quoted(name)}`
    : `${column} ~ ${quoted(name.slice(0, MAX_OPERAND))}`;
}

// The link behind a cell of a table.
export function cellLink(app: App, table: Table, column: Column, row: Row): string | undefined {
  const event = eventOf(table, column, row), { route } = app;
  if (event) return eventLink(route, event);
  const value = row[table.columns.indexOf(column)];
  if (typeof value !== "string" || !value) return undefined;
  if (column.name === "next") {
    const next = nextOf(new Rows(table), row);
    return next ? nextLink(app, next) : undefined;
  }
  if (column.name === YOUR_CODE.name) return linkWith(route, { name: new Rows(table).text(row, "name") });
  // an allocation inside another operator is named after both
  const operator = value.replace(/ \(aten::empty\w*\)$/, "");
  if (column.name === "operator") return linkTo(route, "operators", { name: operator });
  return undefined;
}
