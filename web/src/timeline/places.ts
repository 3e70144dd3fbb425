// The selection and the marks as texts of the URL, and back. A selection is FROM..TO in ns, with @ and its tracks where it is
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

export function marksText(marks: readonly number[]): string | null {
  return marks.map(Math.round).join(",") || null;
}

export function parseMarks(text: string | undefined): number[] {
  return (text ?? "").split(",").map(whole).filter((at): at is number => at !== null);
}
