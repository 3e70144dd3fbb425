// SPDX-License-Identifier: Apache-2.0
// The tracks of a run, asked for as ranks are looked at: of a few ranks all at once; of many those that are on screen for a moment, so that the
// server opens those alone. The others are known by their clock.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Run, Tracks } from "../model";
import { formatRanges } from "../app/ranges";
import { deviceWord, rankList } from "../views/ranks";
import { askTracks } from "./client";
import { parseKeys } from "./places";

export const FEW_RANKS = 48;
const OPEN_FIRST = 8, OPEN_AT_ONCE = 64, LOOK_MS = 90;

export function ranksOf(text: string | undefined): ReadonlySet<number> | null {
  if (!text || text === "all") return null;
  const out = new Set<number>();
  for (const part of text.split(",")) {
    const [first, last = first] = part.split("-").map(Number);
    if (first === undefined || last === undefined || Number.isNaN(first) || Number.isNaN(last)) continue;
    for (let rank = first; rank <= Math.min(last, first + 100000); rank++) out.add(rank);
  }
  return out;
}

// Ranks that must be open for what the address shows: the first that are chosen, those of pinned tracks and of the event.
function firstRanks(run: Run, state: Readonly<Record<string, string>>): number[] | null {
  const all = rankList(run), chosen = ranksOf(state.rank);
  if (all.length <= FEW_RANKS) return null;
  const shown = chosen ? all.filter((rank) => chosen.has(rank)) : all;
  const pinned = [...(parseKeys(state.pin) ?? [])].map((key) => Number(/^t(\d+):/.exec(key)?.[1] ?? NaN));
  const event = Number((state.event ?? "").split(":")[0] || NaN);
  return [...new Set([...shown.slice(0, OPEN_FIRST), ...pinned, event])].filter((rank) => all.includes(rank));
}

export interface ReadTracks {
  tracks: Tracks | null;
  opened: ReadonlySet<number> | null;   // ranks whose tracks are known; null: all
  problem: string | null;
  look: (ranks: readonly number[]) => void; // these are on screen
}

interface Read { of: string; tracks: Tracks; opened: ReadonlySet<number> | null }

function merged(read: Read, more: Tracks, ranks: readonly number[]): Read {
  const opened = new Set([...(read.opened ?? []), ...ranks]);
  return { ...read, opened, tracks: { ...read.tracks, tracks: [...read.tracks.tracks, ...more.tracks], steps: [...read.tracks.steps, ...more.steps] } };
}

// Tracks of an NPU run say so.
async function ask(run: Run, span: string | undefined, open: string | null, signal: AbortSignal): Promise<Tracks> {
  const answer = await askTracks(run, span, open, signal), word = deviceWord(run);
  return word === "NPU" ? { ...answer, tracks: answer.tracks.map((track) => ({ ...track, word })) } : answer;
}

export function useTracks(run: Run, span: string | undefined, state: Readonly<Record<string, string>>): ReadTracks {
  const of = `${run.id} ${span ?? ""}`;
  const [read, setRead] = useState<Read | null>(null);
  const [problem, setProblem] = useState<{ of: string; text: string } | null>(null);
  const wanted = useRef<{ asked: Set<number>; seen: number[]; timer: number; signal: AbortSignal | null }>({ asked: new Set(), seen: [], timer: 0, signal: null });
  useEffect(() => {
    const stop = new AbortController(), now = wanted.current, before = read?.of === of ? read.opened : null;
    // when more of the run is read, what was open stays open
    const first = firstRanks(run, state), open = first && [...new Set([...first, ...(before ?? [])])];
    now.asked = new Set(open ?? []);
    now.signal = stop.signal;
    ask(run, span, open && (formatRanges(open) || "-"), stop.signal).then((tracks) => {
      setRead({ of, tracks, opened: open && new Set(open) });
      setProblem(null);
    }, (error: unknown) => { if (!stop.signal.aborted) setProblem({ of, text: error instanceof Error ? error.message : String(error) }); });
    return () => {
      clearTimeout(now.timer);
      stop.abort();
    };
  }, [run.id, run.generation, span]);
  const look = (ranks: readonly number[]) => {
    const now = wanted.current;
    if (ranks.join() === now.seen.join()) return;
    now.seen = [...ranks];
    clearTimeout(now.timer);
    now.timer = window.setTimeout(() => {
      const fresh = now.seen.filter((rank) => !now.asked.has(rank)).slice(0, OPEN_AT_ONCE), signal = now.signal;
      now.seen = [];
      if (fresh.length === 0 || !signal) return;
      for (const rank of fresh) now.asked.add(rank);
      ask(run, span, formatRanges(fresh), signal).then(
        (more) => setRead((last) => last && merged(last, more, fresh)),
        () => { for (const rank of fresh) now.asked.delete(rank); });
    }, LOOK_MS);
  };
  // the tracks of another run have another time: nothing is placed by them
  const shown = read?.of === of ? read : null;
  return { tracks: shown?.tracks ?? null, opened: shown?.opened ?? null, problem: problem?.of === of ? problem.text : null, look };
}

// What is searched and summed over where no tracks are chosen: of many ranks those that are open.
export function amongOpen(ranks: string | undefined, opened: ReadonlySet<number> | null): string | undefined {
  const chosen = ranksOf(ranks);
  return opened ? formatRanges([...opened].filter((rank) => !chosen || chosen.has(rank))) : ranks;
}
