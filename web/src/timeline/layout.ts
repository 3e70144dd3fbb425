// SPDX-License-Identifier: Apache-2.0
// Which rows there are and where: rank, then its overlays, devices with their streams (or an NPU's layers), host
// threads. A collapsed rank is one band, a collapsed layer its name, a collapsed track a thin line. Heights follow from lanes.
import type { Track, Tracks } from "../model";
import { tracksOfRank } from "./byRank";

export interface Choice {
  ranks: ReadonlySet<number> | null;      // null: all
  collapsed: ReadonlySet<string>;         // keys of ranks and tracks
  pinned: ReadonlySet<string>;
  hidden: ReadonlySet<string>;            // processes that the filter leaves out
  overlays: readonly string[];
  counters: readonly CounterSeries[];     // those that have a row each, where counters are shown
}

// A series of counter events of one rank; key is what its curve is called.
export interface CounterSeries { rank: number; key: string; label: string; unit: string | null }

interface Place { key: string; y: number; height: number; rank: number; pinned: boolean }
export interface RankRow extends Place { kind: "rank"; collapsed: boolean; tracks: readonly Track[] }
export interface TrackRow extends Place { kind: "track"; track: Track; collapsed: boolean; laneHeight: number; label: string; group: string }
export interface OverlayRow extends Place { kind: "overlay"; overlay: string; label: string; curve?: CounterSeries }
export interface LayerRow extends Place { kind: "layer"; label: string; collapsed: boolean }
export type Row = RankRow | TrackRow | OverlayRow | LayerRow;

export interface Layout { rows: Row[]; pinned: Row[]; height: number; pinnedHeight: number }

export const OVERLAYS: readonly { id: string; title: string; verb: string; height: number }[] = [
  { id: "critical", title: "critical path", verb: "critical-path", height: 22 },
  { id: "compile", title: "torch.compile", verb: "attribution", height: 22 },
  { id: "use", title: "GPU use", verb: "gpu-use", height: 40 },
  { id: "queue", title: "queue length", verb: "queue-length", height: 40 },
  { id: "bandwidth", title: "bandwidth", verb: "memory-bandwidth", height: 40 },
  { id: "memory", title: "memory", verb: "memory-curve", height: 48 },
  { id: "counters", title: "counters", verb: "counters", height: 36 },
];

const RANK_HEIGHT = 24, BAND_HEIGHT = 22, LAYER_HEIGHT = 20, GAP = 4, MAX_TRACK_HEIGHT = 6000;
const LAYERS = ["framework", "CANN", "hardware", "communication", "overlap"];

export const rankKey = (rank: number) => `r${rank}`;
export const trackKey = (track: Pick<Track, "rank" | "track">) => `t${track.rank}:${track.track}`;
const deviceOf = (track: Track) => `${track.word ?? "GPU"} ${track.device}`;
// What the process filter calls the process of a track.
export function processOf(track: Track): string {
  if (track.layer) return track.process || track.layer;
  return track.device !== null ? deviceOf(track) : track.process ? `${track.process} ${track.pid}` : `process ${track.pid}`;
}

export function trackLabel(track: Track): string {
  if (track.device !== null && !track.layer) return `${deviceOf(track)} · ${track.thread.trim()}`;
  return track.thread.trim() || `thread ${track.tid}`;
}

function laneHeightOf(lanes: number): number {
  if (lanes <= 12) return 16;
  if (lanes <= 32) return 13;
  return Math.max(1, Math.min(11, Math.floor(MAX_TRACK_HEIGHT / lanes)));
}

// Devices first, then threads, those with most spans first; an NPU's layers in their order.
function order(a: Track, b: Track): number {
  const layer = (track: Track) => (track.layer ? LAYERS.indexOf(track.layer) : 0);
  const host = (track: Track) => (track.device === null ? 1 : 0);
  return layer(a) - layer(b) || host(a) - host(b) || (a.device ?? 0) - (b.device ?? 0)
    || (a.device !== null ? Number(a.tid) - Number(b.tid) || a.tid.localeCompare(b.tid) : b.spans - a.spans) || a.track - b.track;
}

function trackRow(track: Track, choice: Choice): TrackRow {
  const key = trackKey(track), collapsed = choice.collapsed.has(key), laneHeight = laneHeightOf(track.lanes);
  return {
    kind: "track", key, y: 0, height: (collapsed ? 8 : track.lanes * laneHeight) + GAP, rank: track.rank, track, collapsed,
    laneHeight, label: trackLabel(track), group: processOf(track), pinned: choice.pinned.has(key),
  };
}

function layerRow(rank: number, layer: string, choice: Choice): LayerRow {
  const key = `l${rank}:${layer}`;
  return { kind: "layer", key, y: 0, height: LAYER_HEIGHT, rank, label: layer, collapsed: choice.collapsed.has(key), pinned: false };
}

function place(rows: Row[], from: number): number {
  let y = from;
  for (const row of rows) {
    row.y = y;
    y += row.height;
  }
  return y;
}

export function layOut(tracks: Tracks, choice: Choice): Layout {
  const rows: Row[] = [], pinned: Row[] = [];
  for (const { rank } of tracks.ranks) {
    if (choice.ranks && !choice.ranks.has(rank)) continue;
    const all = tracksOfRank(tracks.tracks, rank, order), own = choice.hidden.size === 0 ? all : all.filter((track) => !choice.hidden.has(processOf(track)));
    const key = rankKey(rank), collapsed = choice.collapsed.has(key);
    rows.push({ kind: "rank", key, y: 0, height: collapsed ? BAND_HEIGHT : RANK_HEIGHT, rank, collapsed, tracks: own, pinned: false });
    if (choice.pinned.size > 0)
      for (const track of own) if (choice.pinned.has(trackKey(track))) pinned.push(trackRow(track, choice));
    if (collapsed) continue;
    for (const { id, title, height } of OVERLAYS) {
      if (!choice.overlays.includes(id)) continue;
      const row = { kind: "overlay" as const, key: `o${rank}:${id}`, y: 0, height, rank, overlay: id, label: title.replace("GPU", own[0]?.word ?? "GPU"), pinned: false };
      const series = id === "counters" ? choice.counters.filter((one) => one.rank === rank) : [];
      if (series.length === 0) rows.push(row);
      for (const curve of series) rows.push({ ...row, key: `${row.key}:${curve.key}`, label: curve.label, curve });
    }
    let layer: LayerRow | null = null;
    for (const track of own) {
      const row = trackRow(track, choice);
      if (track.layer && track.layer !== layer?.label) rows.push(layer = layerRow(rank, track.layer, choice));
      if (!row.pinned && !(track.layer && layer?.collapsed)) rows.push(row);
    }
  }
  return { rows, pinned, height: place(rows, 0) + 24, pinnedHeight: place(pinned, 0) };
}

// The rows that are on screen: those that end after top and begin before bottom.
export function rowsBetween(rows: readonly Row[], top: number, bottom: number): Row[] {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1, row = rows[middle] as Row;
    if (row.y + row.height <= top) low = middle + 1;
    else high = middle;
  }
  const out: Row[] = [];
  for (let i = low; i < rows.length && (rows[i] as Row).y < bottom; i++) out.push(rows[i] as Row);
  return out;
}
