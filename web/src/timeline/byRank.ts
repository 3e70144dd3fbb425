// SPDX-License-Identifier: Apache-2.0
// Tracks and steps of a rank: looked up for every row of every frame, so they are grouped once.
import type { Step, Track } from "../model";

function grouped<T extends { rank: number }>(list: readonly T[], cache: WeakMap<readonly T[], Map<number, T[]>>): Map<number, T[]> {
  const known = cache.get(list);
  if (known) return known;
  const out = new Map<number, T[]>();
  for (const one of list) {
    const own = out.get(one.rank);
    if (own) own.push(one);
    else out.set(one.rank, [one]);
  }
  cache.set(list, out);
  return out;
}

const trackCache = new WeakMap<readonly Track[], Map<number, Track[]>>(), stepCache = new WeakMap<readonly Step[], Map<number, Step[]>>();
const sorted = new WeakSet<readonly unknown[]>();

function inOrder<T>(list: T[], order: (a: T, b: T) => number): readonly T[] {
  if (!sorted.has(list)) {
    list.sort(order);
    sorted.add(list);
  }
  return list;
}

// In one order, that of the first who asks.
export const tracksOfRank = (tracks: readonly Track[], rank: number, order: (a: Track, b: Track) => number): readonly Track[] =>
  inOrder(grouped(tracks, trackCache).get(rank) ?? [], order);
export const stepsOfRank = (steps: readonly Step[], rank: number): readonly Step[] =>
  inOrder(grouped(steps, stepCache).get(rank) ?? [], (a, b) => a.start_ns - b.start_ns);
