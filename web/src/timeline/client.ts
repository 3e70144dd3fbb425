// SPDX-License-Identifier: Apache-2.0
// The timeline's questions to the server.
import { get, queryText, runPath } from "../app/api";
import type { EventDetails, Flows, Found, Overlay, Run, Sums, Tracks } from "../model";
import type { TileKey } from "./tiles";

export type RunKey = Pick<Run, "id" | "generation">;

// Times beyond 2^53 come as texts: files of other years in one run are that far apart. To draw them numbers are close enough.
const numbered = <T,>(one: T): T =>
  Object.fromEntries(Object.entries(one as object).map(([key, value]) => [key, key.endsWith("_ns") && value !== null ? Number(value) : value])) as T;

// open: the ranks whose tracks are listed; null: all.
export async function askTracks(run: RunKey, span: string | undefined, open: string | null, signal: AbortSignal): Promise<Tracks> {
  const answer = await get<Tracks>(runPath(run.id, "tracks"), { span, open }, signal);
  if (typeof answer.to_ns === "number" && typeof answer.from_ns === "number") return answer;
  return { ...numbered(answer), ranks: answer.ranks.map(numbered), tracks: answer.tracks.map(numbered), steps: answer.steps.map(numbered) };
}

export const askEvent = (run: RunKey, id: string, span: string | undefined, signal?: AbortSignal) =>
  get<EventDetails>(runPath(run.id, "event"), { id, span }, signal);
export const askFlows = (run: RunKey, id: string, span: string | undefined, signal?: AbortSignal) =>
  get<Flows>(runPath(run.id, "flows"), { id, span }, signal);

export interface SearchFrom { text: string; backwards: boolean; from: number | null; id: string | null; rank: string | undefined; limit: number }

export const askSearch = (run: RunKey, search: SearchFrom, span: string | undefined, signal?: AbortSignal) =>
  get<Found>(runPath(run.id, "search"), {
    q: search.text, direction: search.backwards ? "previous" : "next", from: search.from === null ? null : Math.round(search.from),
    after: search.id, rank: search.rank, limit: search.limit, span,
  }, signal);

export const askSums = (run: RunKey, from: number, to: number, tracks: string | null, rank: string | undefined, span: string | undefined, signal?: AbortSignal) =>
  get<Sums>(runPath(run.id, "range"), { from: Math.round(from), to: Math.round(to), tracks, rank, span }, signal);

export const askOverlay = (run: RunKey, name: string, rank: number, from: number, to: number, points: number, span: string | undefined, signal?: AbortSignal, series?: string) =>
  get<Overlay>(runPath(run.id, "overlay"), { name, rank, from: Math.floor(from), to: Math.ceil(to), points, span, series }, signal);

// Tiles follow from the run's generation, so the browser may keep them.
export async function fetchTile(run: RunKey, key: TileKey, span: string | undefined, signal: AbortSignal): Promise<ArrayBuffer> {
  const path = runPath(run.id, "tile") + queryText({ rank: key.rank, level: key.level, index: key.index, span, generation: run.generation });
  const response = await fetch(path, { credentials: "same-origin", signal });
  if (!response.ok) throw new Error(`tile: the server answered ${response.status}`);
  return response.arrayBuffer();
}
