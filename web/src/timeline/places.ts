// SPDX-License-Identifier: Apache-2.0
// The selection, the marks and what is collapsed or pinned as texts of the URL, and back. A selection is FROM..TO in ns, with @ and its tracks where it is
// not of all of them: 1200..3400@0:3-9,12;1:3. Whatever somebody typed is read as far as it makes sense.
import type { Range } from "./stage";

const MAX_TRACKS = 100000;

const whole = (text: string | undefined): number | null => (text !== undefined && /^-?\d{1,18}$/.test(text) ? Number(text) : null);

// Numbers as 3-9,12.
function runsOf(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b), out: string[] = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (sorted[end + 1] === (sorted[end] as number) + 1) end++;
    out.push(end > i ? `${sorted[i]}-${sorted[end]}` : String(sorted[i]));
    i = end + 1;
  }
  return out.join(",");
}

function tracksText(tracks: readonly string[]): string {
  const byRank = new Map<string, number[]>();
  for (const key of tracks) {
    const [rank = "", track = ""] = key.split(":");
    byRank.set(rank, [...(byRank.get(rank) ?? []), Number(track)]);
  }
  return [...byRank].map(([rank, own]) => `${rank}:${runsOf(own)}`).join(";");
}

function parseTracks(text: string): string[] {
  const out: string[] = [];
  for (const part of text.split(";")) {
    const [rank, list = ""] = part.split(":");
    if (whole(rank) === null) continue;
    for (const run of list.split(",")) {
      const [first, last = first] = run.split("-").map(whole);
      if (first === null || first === undefined || last === null || last === undefined) continue;
      for (let track = first; track <= last && out.length < MAX_TRACKS; track++) out.push(`${rank}:${track}`);
    }
  }
  return out;
}

export function rangeText(range: Range | null): string | null {
  return range && `${Math.round(range.from)}..${Math.round(range.to)}${range.tracks ? `@${tracksText(range.tracks)}` : ""}`;
}

export function parseRange(text: string | undefined): Range | null {
  const [times = "", list] = (text ?? "").split("@"), [from, to] = times.split("..").map(whole);
  if (from === null || from === undefined || to === null || to === undefined || to < from) return null;
  const tracks = list ? parseTracks(list) : [];
  return { from, to, tracks: tracks.length > 0 ? tracks : null };
}

// A moment that somebody marked, with the name that they gave it, "" without.
export interface Mark { at: number; name: string }

// As 1200,3400~first%20step: what stands between marks is escaped in names.
export function marksText(marks: readonly Mark[]): string | null {
  const escaped = (name: string) => encodeURIComponent(name).replace(/~/g, "%7E");
  return marks.map(({ at, name }) => `${Math.round(at)}${name ? `~${escaped(name)}` : ""}`).join(",") || null;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parseMarks(text: string | undefined): Mark[] {
  return (text ?? "").split(",").flatMap((part) => {
    const [time, name = ""] = part.split("~"), at = whole(time);
    return at === null ? [] : [{ at, name: unescaped(name) }];
  });
}

// Keys of rows that are collapsed or pinned, and names of processes that are hidden. Absent: nobody chose; "-": none. Ranks that follow each other are one
// range, r0-998, or an address could not hold a thousand.
export function keysText(keys: ReadonlySet<string>): string {
  const ranks = [...keys].flatMap((key) => (/^r\d+$/.test(key) ? [Number(key.slice(1))] : []));
  const others = [...keys].filter((key) => !/^r\d+$/.test(key)).map((key) => encodeURIComponent(key));
  return [...(ranks.length > 0 ? runsOf(ranks).split(",").map((run) => `r${run}`) : []), ...others].join(",") || "-";
}

function keysOf(text: string): string[] {
  const [, first, last] = /^r(\d{1,6})-(\d{1,6})$/.exec(text) ?? [];
  if (first === undefined) return [unescaped(text)];
  return Array.from({ length: Math.max(0, Number(last) - Number(first) + 1) }, (_, i) => `r${Number(first) + i}`);
}

export function parseKeys(text: string | undefined): Set<string> | null {
  if (!text) return null;
  return new Set(text === "-" ? [] : text.split(",").filter(Boolean).flatMap(keysOf));
}
