// SPDX-License-Identifier: Apache-2.0
// More bars or cells than pixels: neighbours come together, and nothing that stands out among them is lost.
import { every } from "./scale";

export interface Part { name: string; color: string; values: (number | null)[] }

// Of the wholes in one bin: which is the most, and whether no other one of all is as large.
export interface Spread { least: number; median: number; most: number; at: number; alone: boolean }

export interface Bins {
  k: number;                         // so many stand in a bin; 1: each for itself
  first: string[];                   // the name of a bin's first, and of all of it
  names: string[];
  series: Part[];                    // means, which add up to the mean of the wholes
  spreads: Spread[] | null;          // null: each for itself
}

export const median = (sorted: number[]): number => {
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[half] as number) : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2;
};

const rangeName = (names: readonly string[], from: number, to: number): string =>
  to - from > 1 ? `${names[from]} … ${names[to - 1]}` : String(names[from]);

// room: pixels for all; thin: what a bar needs to be told from the next one; wide: what a bin needs.
export function binBars(names: string[], series: Part[], room: number, thin: number, wide: number): Bins {
  const k = names.length * thin <= room ? 1 : every(names.length, room, wide);
  if (k === 1) return { k, first: names, names, series, spreads: null };
  const firsts = names.flatMap((_, i) => (i % k === 0 ? [i] : [])), last = (from: number) => Math.min(from + k, names.length);
  // what has no part at all is unknown, and not zero
  const wholes = names.map((_, i) => series.some(part => part.values[i] !== null && part.values[i] !== undefined)
    ? series.reduce((sum, part) => sum + Math.max(0, part.values[i] ?? 0), 0) : null);
  const times = new Map<number, number>();
  for (const whole of wholes) if (whole !== null) times.set(whole, (times.get(whole) ?? 0) + 1);
  const known = firsts.map(from => wholes.slice(from, last(from)).filter((whole): whole is number => whole !== null));
  return {
    k,
    first: firsts.map(i => names[i] as string),
    names: firsts.map(i => rangeName(names, i, last(i))),
    series: series.map(part => ({ ...part, values: firsts.map((from, bin) => {
      const n = known[bin]?.length ?? 0;
      return n === 0 ? null : part.values.slice(from, last(from)).reduce<number>((sum, value) => sum + Math.max(0, value ?? 0), 0) / n;
    }) })),
    spreads: firsts.map((from, bin) => {
      const sorted = [...(known[bin] ?? [])].sort((a, b) => a - b), most = sorted[sorted.length - 1] ?? 0;
      return { least: sorted[0] ?? 0, median: sorted.length > 0 ? median(sorted) : 0, most, at: Math.max(from, wholes.indexOf(most, from)), alone: times.get(most) === 1 };
    }),
  };
}

export interface CellBins { k: number; first: string[]; names: string[]; values: (number | null)[][]; at: number[][] }

// The columns of a map, each with the largest of its neighbours in the row, and which that is.
export function binCells(names: string[], values: (number | null)[][], room: number, thin: number): CellBins {
  const k = names.length * thin <= room ? 1 : every(names.length, room, thin);
  const firsts = names.flatMap((_, i) => (i % k === 0 ? [i] : [])), last = (from: number) => Math.min(from + k, names.length);
  const at = values.map(row => firsts.map(from => {
    let best = from;
    for (let i = from + 1; i < last(from); i++) if ((row[i] ?? -Infinity) > (row[best] ?? -Infinity)) best = i;
    return best;
  }));
  return { k, first: firsts.map(i => names[i] as string), names: firsts.map(i => rangeName(names, i, last(i))), at,
    values: at.map((row, r) => row.map(i => values[r]?.[i] ?? null)) };
}
