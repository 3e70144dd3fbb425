// SPDX-License-Identifier: Apache-2.0
// Names of one list in few characters, so that those that differ look different: src/table/brief.c. What became equal by shortening
// is shown by some of its front and the word in which it parts from its neighbour. The terminal reads mangled names besides; here
// they stay as the trace has them.
import { visible } from "./format";
import { shortenCell } from "./shorten";

// Lists narrower than this show the difference only.
const HEAD_FROM = 14;
const TYPE = "void ", NAMELESS = "(anonymous namespace)";
const JOINS = /[A-Za-z0-9\u0080-\u{10ffff}]/u;

type Letters = readonly string[]; // a character each, as a terminal counts them

function sharedFront(a: Letters, b: Letters): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  return i;
}

// As bytes of UTF-8 are ordered.
function order(a: Letters, b: Letters): number {
  const at = sharedFront(a, b);
  return (a[at]?.codePointAt(0) ?? -1) - (b[at]?.codePointAt(0) ?? -1);
}

// What nobody reads at the front of a kernel, among its first n letters: its type and namespaces.
function noise(name: Letters, n: number): number {
  const text = name.slice(0, n).join("");
  if (n <= TYPE.length || !text.startsWith(TYPE)) return 0;
  let found = TYPE.length;
  for (let i = found; i + 1 < text.length && text[i] !== "<"; i++) {
    if (text.length - i > NAMELESS.length && text.startsWith(NAMELESS, i)) i += NAMELESS.length;
    if (text[i] === "(") break;
    if (text.startsWith("::", i)) found = i + 2;
  }
  return [...text.slice(0, found)].length;
}

function difference(name: Letters, differsAt: number, max: number): string {
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
  return front.join("") + gap + name.slice(from, from + room).join("");
}

export function shortNames(names: Iterable<string>, max: number, unit: string | null = null): Map<string, string> {
  const shown = new Map<string, string>(), alike = new Map<string, string[]>();
  let shortened = false;
  for (const name of names) {
    if (shown.has(name)) continue;
    const text = visible(name), short = shortenCell(text, max, unit), group = alike.get(short);
    shortened ||= short !== text;
    shown.set(name, short);
    if (group) group.push(name);
    else alike.set(short, [name]);
  }
  for (const group of shortened ? alike.values() : []) {
    if (group.length < 2) continue;
    const sorted = group.map(name => ({ name, text: [...visible(name)] })).sort((a, b) => order(a.text, b.text));
    sorted.forEach(({ name, text }, i) => {
      const shared = Math.max(sharedFront(text, sorted[i - 1]?.text ?? []), sharedFront(text, sorted[i + 1]?.text ?? []));
      shown.set(name, difference(text, shared, max));
    });
  }
  return shown;
}
