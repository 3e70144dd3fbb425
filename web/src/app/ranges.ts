// SPDX-License-Identifier: Apache-2.0
// Lists of ranks and steps as on the command line: 0,2-3.

// "0,2-3" as numbers; null when it is not such a list.
export function parseRanges(text: string): Set<number> | null {
  const out = new Set<number>();
  for (const part of text.split(",")) {
    const found = /^\s*(\d+)(?:\s*-\s*(\d+))?\s*$/.exec(part);
    if (!found) return null;
    const from = Number(found[1]);
    const to = Number(found[2] ?? found[1]);
    if (to - from > 1e6) return null;
    for (let i = from; i <= to; i++) out.add(i);
  }
  return out;
}

export function formatRanges(numbers: Iterable<number>): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (end + 1 < sorted.length && sorted[end + 1] === (sorted[end] ?? 0) + 1) end++;
    parts.push(end > i ? `${sorted[i]}-${sorted[end]}` : `${sorted[i]}`);
    i = end + 1;
  }
  return parts.join(",");
}
