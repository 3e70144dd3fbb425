// SPDX-License-Identifier: Apache-2.0
// Findings of summary and advice as the engine's cells: sentences are shown as they come, never taken apart.
import type { Row, Rows } from "./rows";

// What to run next: a verb and its options.
export interface Next {
  verb: string;
  options: Record<string, string>;
}

export interface Finding {
  kind: string;
  label: string; // topic or name of the check
  state: string; // found, none, unknown
  reason: string; // why it is unknown, or which form of it was found
  heading: string; // stands alone
  text: string; // the whole sentence
  detail: string; // what it says beyond the heading
  advice: string;
  events: string[]; // "rank:event"
  next: Next | null;
  line: string; // the same as a command line
  row: Row;
}

// The cells next_verb and next_args.
export function nextOf(rows: Rows, row: Row): Next | null {
  const verb = rows.text(row, "next_verb"), args = rows.text(row, "next_args");
  return verb ? { verb, options: args ? (JSON.parse(args) as Record<string, string>) : {} } : null;
}

// The cell evidence: ids "rank:event" with commas between.
export const eventsOf = (cell: string): string[] => (cell ? cell.split(", ") : []);

export function findingsOf(rows: Rows): Finding[] {
  return rows.all.map((row) => ({
    kind: rows.text(row, "kind"),
    label: rows.text(row, rows.has("topic") ? "topic" : "rule"),
    state: rows.text(row, "state"),
    reason: rows.text(row, "reason"),
    heading: rows.text(row, "heading"),
    text: rows.text(row, "finding"),
    detail: rows.text(row, "detail"),
    advice: rows.text(row, "advice"),
    events: eventsOf(rows.text(row, "evidence")),
    next: nextOf(rows, row),
    line: rows.text(row, "next"),
    row,
  }));
}

export const ofKind = (all: readonly Finding[], kind: string): Finding | undefined =>
  all.find((one) => one.kind === kind);

// The mean step that savings are a part of, in nanoseconds; null where the step time stands for it.
export function meanStep(rows: Rows, all: readonly Finding[]): number | null {
  const savings = ofKind(all, "savings"), cell = savings ? rows.text(savings.row, "values") : "";
  const mean = cell ? (JSON.parse(cell) as Record<string, unknown>).mean : null;
  return typeof mean === "number" ? mean : null;
}

// How long a step takes, or in a run without steps how long was recorded.
export const timeOf = (all: readonly Finding[]): Finding | undefined => ofKind(all, "step-time") ?? ofKind(all, "recording");

// What stands above the rest: what bounds a step where that is known, else how busy the device is, else its time. Of a run without
// steps nothing bounds a step: what a serving engine says of its iterations comes first. Where data is missing that is said first
// (missing), and nothing that rests on it is a headline.
export function headline(all: readonly Finding[]): { head: Finding | undefined; missing: Finding | undefined } {
  const missing = ofKind(all, "missing");
  const first = missing ? [] : ofKind(all, "recording") ? ["serving"] : ["bound-by"];
  const found = [...first, "gpu"].map((kind) => ofKind(all, kind)).find((one) => one?.state === "found");
  return { head: found ?? timeOf(all), missing };
}

// What begins with a name of code, such as torch.compile, stays as it is written.
export const capital = (text: string): string => (/^\S*(?:[_(<]|::|\.\w)/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1));

// Numbers beside the headline: a finding's cell, its name, its type.
export const FIGURES: readonly [kind: string, column: string, label: string, type: "duration" | "ratio"][] = [
  ["step-time", "value_ns", "step time", "duration"],
  ["recording", "value_ns", "recorded", "duration"],
  ["gpu", "share", "busy", "ratio"],
  ["bound-by", "share", "critical-path share", "ratio"],
  ["bound-by", "upper_bound_ns", "upper bound on savings per step", "duration"],
  ["slow-rank", "value_ns", "wait per step", "duration"],
];

// The name of such a number; a run without steps has none per step.
export function figureName(all: readonly Finding[], kind: string, label: string, device: string): string {
  if (kind === "gpu") return `${device} ${label}`;
  return ofKind(all, "recording") ? label.replace(" per step", "") : label;
}
