// SPDX-License-Identifier: Apache-2.0
// What cli/report_page.c writes into the page.
import type { Table } from "../model";
import { npuWords } from "../ui/npu";

export interface Section {
  name: string; group: string; group_title: string; title: string; question: string; method: string;
  problem: string | null;
  table: Table | null;
}

// A table behind a chart; of curves, how many are here and of how many.
export interface Extra { series: number; of: number; table: Table }

export type Span = [lane: number, start: number, length: number, name: number, n: number, wait: number, cls: string];
export interface TimelineTrack { name: string; device: number; spans: Span[] }
export interface TimelineRank { rank: number; names: string[]; tracks: TimelineTrack[] }
export interface TimelineData {
  rank: number; step: number; from_ns: number | string; length_ns: number; busy_ns: number; ranks: TimelineRank[];
}

export interface Report {
  version: string; name: string; base: string | null;
  ranks: number; events: number; loss: string | null;
  sections: Section[];
  extras: Record<string, Extra>;
  timeline: TimelineData | null;
  empty: string[];
}

export function readReport(): Report | null {
  const text = document.getElementById("data")?.textContent;
  return text ? named(JSON.parse(text) as Report) : null;
}

// A report about NPUs says so also where the registry speaks. The summary names the device.
function named(report: Report): Report {
  const table = sectionOf(report, "summary")?.table;
  const at = (name: string) => table?.columns.findIndex(column => column.name === name) ?? -1;
  const device = table?.rows.find(row => row[at("kind")] === "gpu")?.[at("topic")];
  if (device !== "NPU") return report;
  return { ...report, sections: report.sections.map(one => ({ ...one, title: npuWords(one.title), question: npuWords(one.question), method: npuWords(one.method) })) };
}

export const sectionOf = (report: Report, name: string): Section | undefined =>
  report.sections.find(section => section.name === name);

// The table of a section, when it has rows.
export function tableOf(report: Report, name: string): Table | null {
  const table = sectionOf(report, name)?.table ?? null;
  return table && table.rows.length > 0 ? table : null;
}

export function extraOf(report: Report, key: string): Extra | null {
  const extra = report.extras[key];
  return extra && extra.table.rows.length > 0 ? extra : null;
}
