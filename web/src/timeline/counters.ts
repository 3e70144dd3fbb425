// SPDX-License-Identifier: Apache-2.0
// What the curves of the timeline are over a selection: least, mean over time and most, by the server from every sample.
import { askOverlay } from "./client";
import type { RunKey } from "./client";
import { OVERLAYS } from "./layout";
import type { OverlayRow } from "./layout";
import type { Range } from "./stage";

export interface CounterSum { rank: number; label: string; unit: string | null; min: number; mean: number | null; max: number }

export interface CounterSums { sums: CounterSum[]; left: number }   // left: ranks and results that were not asked for

// Ranks and results that are asked for at first; whoever wants them all says so.
const FIRST_QUESTIONS = 64;

// Of the rows of curves, those of the ranks whose tracks are selected.
export async function askCounters(run: RunKey, rows: readonly OverlayRow[], range: Range, span: string | undefined, all: boolean, signal: AbortSignal): Promise<CounterSums> {
  const ranks = range.tracks ? new Set(range.tracks.map((track) => Number(track.split(":")[0]))) : null;
  const from = Math.round(range.from), to = Math.max(from + 1, Math.round(range.to));
  const asked = new Map<string, { rank: number; overlay: string; rows: OverlayRow[] }>();
  for (const row of rows) {
    if (ranks && !ranks.has(row.rank)) continue;
    const key = `${row.rank} ${row.overlay}`, group = asked.get(key) ?? { rank: row.rank, overlay: row.overlay, rows: [] };
    group.rows.push(row);
    asked.set(key, group);
  }
  const groups = [...asked.values()].slice(0, all ? undefined : FIRST_QUESTIONS);
  const answers = await Promise.all(groups.map(async (group) => {
    const verb = OVERLAYS.find((one) => one.id === group.overlay)?.verb ?? group.overlay;
    // a trace without the data has a row that says so
    const overlay = await askOverlay(run, verb, group.rank, from, to, 1, span, signal).catch(() => null);
    return (overlay?.series ?? []).flatMap((one): CounterSum[] => {
      const curve = group.rows.find((row) => row.curve?.key === one.name)?.curve;
      if (!one.range || (group.overlay === "counters" && !curve)) return [];
      const label = curve?.label ?? `${group.rows[0]?.label ?? ""} ${one.name}`.trim();
      return [{ rank: group.rank, label, unit: curve ? curve.unit : (overlay?.unit ?? null), ...one.range }];
    });
  }));
  return { sums: answers.flat(), left: asked.size - groups.length };
}
