// SPDX-License-Identifier: Apache-2.0
// Names of one list in few characters, so that those that differ look different (src/table/brief.c, of letters of one cell the same):
// what became equal by shortening is shown by some of its front and the word in which it parts from its neighbour.
import { shortName, visible } from "./format";

// Lists narrower than this show the difference only.
const HEAD_FROM = 14;
const TYPE = "void ", NAMELESS = "(anonymous namespace)";
const JOINS = /[A-Za-z0-9\u0080-\uffff]/;

function sharedFront(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  return i;
}

// What nobody reads at the front of a kernel, among its first n letters: its type and namespaces.
function noise(name: string, n: number): number {
  if (n <= TYPE.length || !name.startsWith(TYPE)) return 0;
  let found = TYPE.length;
  for (let i = found; i + 1 < n && name[i] !== "<"; i++) {
    if (n - i > NAMELESS.length && name.startsWith(NAMELESS, i)) i += NAMELESS.length;
    if (name[i] === "(") break;
    if (name[i] === ":" && name[i + 1] === ":") found = i + 2;
  }
  return found;
}

function difference(name: string, differsAt: number, max: number): string {
  let from = differsAt;
  while (from > 0 && JOINS.test(name[from - 1] as string)) from--;
  const head = max >= HEAD_FROM ? Math.floor(max / 3) : 0, begin = noise(name, from);
  const front = name.slice(begin, Math.min(from, begin + head));
  let gap = begin + front.length < from ? "…" : "", room = max - front.length - gap.length;
  // the difference itself must be seen
  if (from + room <= differsAt && differsAt < name.length) {
    from = differsAt;
    gap = "…";
    room = max - front.length - 1;
  }
  return front + gap + name.slice(from, from + room);
}

export function shortNames(names: Iterable<string>, max: number): Map<string, string> {
  const shown = new Map<string, string>(), alike = new Map<string, string[]>();
  for (const name of names) {
    if (shown.has(name)) continue;
    const short = shortName(name, max), group = alike.get(short);
    shown.set(name, short);
    if (group) group.push(name);
    else alike.set(short, [name]);
  }
  for (const group of alike.values()) {
    if (group.length < 2) continue;
    const sorted = group.map(name => ({ name, text: visible(name) })).sort((a, b) => (a.text < b.text ? -1 : 1));
    sorted.forEach(({ name, text }, i) => {
      const shared = Math.max(sharedFront(text, sorted[i - 1]?.text ?? ""), sharedFront(text, sorted[i + 1]?.text ?? ""));
      shown.set(name, difference(text, shared, max));
    });
  }
  return shown;
}
