// SPDX-License-Identifier: Apache-2.0
// A change in words, on the page and in the report: signs and words say the direction, and what may be noise is called so.
import { changeText, human } from "../ui/format";
import type { Row, Rows } from "../app/rows";

export function signed(rows: Rows, row: Row, name: string): string {
  return changeText(rows.cell(row, name), rows.column(name) ?? { type: "duration", unit: "ns" });
}

export interface Word {
  text: string;
  tone: "more" | "less" | "dim";
  interval: string | null; // of 95 % over steps
}

// The interval over steps decides; one that spans zero may be noise.
export function changeWord(rows: Rows, row: Row): Word {
  const low = rows.number(row, "low_ns"), high = rows.number(row, "high_ns");
  if (low === null || high === null) {
    const diff = rows.number(row, "diff_ns") ?? 0;
    return { text: `${diff > 0 ? "slower" : "faster"}, one step: no interval`, tone: diff > 0 ? "more" : "less", interval: null };
  }
  const interval = `${signed(rows, row, "low_ns")} to ${signed(rows, row, "high_ns")}`;
  if (low > 0) return { text: "slower", tone: "more", interval };
  if (high < 0) return { text: "faster", tone: "less", interval };
  return { text: "within noise", tone: "dim", interval };
}

// What the metrics of a comparison are called.
export function metricWord(metric: string, device: string): string {
  return { step: "step time", host: "host span", comm: "communication" }[metric] ?? `${device} time`;
}

// "54.6 ms → 172 ms (+215 %)"
export function became(rows: Rows, row: Row): string {
  const time = (name: string) => human(rows.cell(row, name), { type: "duration", unit: "ns" });
  return `${time("control_ns")} → ${time("test_ns")} (${signed(rows, row, "change_share")})`;
}

// Bars of the ranks that changed most; those within noise are grey.
export function rankBars(rows: Rows, most: number) {
  const size = (row: Row) => Math.abs(rows.number(row, "diff_ns") ?? 0);
  const largest = new Set([...rows.all].sort((a, b) => size(b) - size(a)).slice(0, most));
  const shown = rows.all.filter((row) => largest.has(row));
  const bars = shown.map((row) => {
    const value = rows.number(row, "diff_ns") ?? 0, word = rows.text(row, "change"), known = rows.number(row, "low_ns") !== null;
    return {
      name: `rank ${rows.text(row, "rank")}: ${word}`,
      value,
      color: word === "within noise" || word === "equal" ? "var(--idle)" : value > 0 ? "var(--more)" : "var(--less)",
      detail: [
        ...(known ? [{ name: "95 % interval", value: `${signed(rows, row, "low_ns")} to ${signed(rows, row, "high_ns")}` }] : []),
        { name: "waiting for ranks", value: signed(rows, row, "diff_wait_ns") },
      ],
    };
  });
  const of = `GPU activities of a step without waiting for other ranks${rows.all.length > most ? `; the ${most} that changed most of ${rows.all.length}` : ""}`;
  return { shown, bars, of };
}
