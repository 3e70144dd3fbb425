// SPDX-License-Identifier: Apache-2.0
// From event to event by keyboard: the next of a lane, what is around it, inside it and below it. Tiles are asked, as for the picture, so a
// step costs some of them however large the trace is: finer ones where several events share a unit, coarser ones over a gap.
import { useEffect, useRef } from "preact/hooks";
import type { Run } from "../model";
import { fetchTile } from "./client";
import { rowsBetween } from "./layout";
import type { Stage } from "./stage";
import { decodeTile } from "./tile";
import type { Tile } from "./tile";
import { MAX_LEVEL, TILE_UNITS } from "./tiles";
import type { TileKey } from "./tiles";

export interface Spot { rank: number; track: number; lane: number }
export interface Met { row: number; start: number; end: number }
export type Load = (key: TileKey) => Promise<Tile>;

const FINER = 4, COARSER = 3;

// Of the spans of a lane the first that starts at a time or later, or the last before it. Several that come together may be on both sides.
function pick(tile: Tile, spot: Spot, time: number, forwards: boolean): (Met & { count: number }) | null {
  const [first, end] = tile.tracks.get(spot.track) ?? [0, 0];
  let found = -1;
  for (let i = first; i < end; i++) {
    if (tile.lane[i] !== spot.lane) continue;
    const start = tile.start[i] as number, together = (tile.count[i] as number) > 1;
    if (forwards ? start >= time || (together && (tile.end[i] as number) >= time) : start < time) found = i;
    if (forwards && found >= 0) break;
  }
  return found < 0 ? null : { row: tile.row[found] as number, start: tile.start[found] as number, end: tile.end[found] as number, count: tile.count[found] as number };
}

// The first event of a lane that starts at a time or later, or the last that starts before it, within bounds.
export async function nearest(load: Load, spot: Spot, time: number, forwards: boolean, bounds: { from: number; to: number }, from: number): Promise<Met | null> {
  let level = from, at = time;
  while (forwards ? at <= bounds.to : at > bounds.from) {
    const length = TILE_UNITS * 2 ** level, index = Math.floor((forwards ? at : at - 1) / length);
    const found = pick(await load({ rank: spot.rank, level, index }), spot, time, forwards);
    if (found && (found.count === 1 || level === 0)) return found;
    if (found) {
      level = Math.max(0, level - FINER);
      at = forwards ? Math.max(found.start, time) : Math.min(found.end + 1, time);
    } else {
      at = forwards ? (index + 1) * length : index * length;
      level = Math.min(MAX_LEVEL, level + COARSER);
    }
  }
  return null;
}

type Way = "next" | "previous" | "in" | "out";
interface Here extends Spot { id: string; start: number; end: number }

// The tracks that have rows, in their order.
const trackSpots = (stage: Stage): Spot[] =>
  [...stage.layout.pinned, ...stage.layout.rows].flatMap((row) => (row.kind === "track" ? [{ rank: row.rank, track: row.track.track, lane: 0 }] : []));

// Where to begin: the first track on screen, also of a rank that is a band.
function firstSpot(stage: Stage): Spot | null {
  for (const row of [...stage.layout.pinned, ...rowsBetween(stage.layout.rows, stage.scroll, stage.scroll + stage.height)]) {
    const track = row.kind === "track" ? row.track : row.kind === "rank" && row.collapsed ? row.tracks[0] : undefined;
    if (track) return { rank: row.rank, track: track.track, lane: 0 };
  }
  return null;
}

// What a key leads to from an event; null: there is nothing that way.
async function step(stage: Stage, load: Load, here: Here, way: Way): Promise<(Spot & Met) | null> {
  const bounds = { from: stage.tracks?.from_ns ?? 0, to: stage.tracks?.to_ns ?? 0 };
  const ask = async (spot: Spot, time: number, forwards: boolean) => {
    const met = await nearest(load, spot, time, forwards, bounds, stage.level());
    return met && { ...spot, ...met };
  };
  if (way === "next") return ask(here, Math.max(here.end, here.start + 1), true);
  if (way === "previous") return ask(here, here.start, false);
  const inside = { ...here, lane: here.lane + (way === "in" ? 1 : -1) };
  if (way === "out" && inside.lane >= 0) return ask(inside, here.start + 1, false);
  const child = way === "in" ? await ask(inside, here.start, true) : null;
  if (child && child.start < here.end) return child;
  const spots = trackSpots(stage), at = spots.findIndex((one) => one.rank === here.rank && one.track === here.track);
  const other = spots[at + (way === "in" ? 1 : -1)];
  if (at < 0 || !other) return null;
  const before = await ask(other, here.start + 1, false);
  return before && before.end > here.start ? before : ((await ask(other, here.start, true)) ?? before);
}

// chosen: the event that the page shows now; choose shows another one. Every press counts, in order.
export function useWalk(stage: Stage, run: Run, span: string | undefined, chosen: string | null, choose: (id: string) => void): (way: Way) => void {
  const now = useRef({ chosen, choose }), here = useRef<Here | null>(null), queue = useRef(Promise.resolve()), stop = useRef(new AbortController());
  now.current = { chosen, choose };
  useEffect(() => {
    stop.current = new AbortController();
    return () => stop.current.abort();
  }, [stage]);
  const load: Load = async (key) => stage.tiles.get(key) ?? decodeTile(await fetchTile(run, key, span, stop.current.signal));
  const walk = async (way: Way) => {
    const known = here.current?.id === now.current.chosen ? here.current : stage.chosen;
    const first = known ? null : firstSpot(stage);
    const from: Here | null = known ?? (first && { ...first, id: "", start: Math.round(stage.view.from) - 1, end: Math.round(stage.view.from) });
    const met = from && (await step(stage, load, from, known ? way : "next"));
    if (!met || stop.current.signal.aborted) return;
    const id = `${met.rank}:${met.row}`;
    here.current = { rank: met.rank, track: met.track, lane: met.lane, id, start: met.start, end: met.end };
    now.current = { ...now.current, chosen: id };
    now.current.choose(id);
  };
  return (way) => {
    // an answer that does not come leaves everything as it is
    queue.current = queue.current.then(() => walk(way)).catch(() => undefined);
  };
}
