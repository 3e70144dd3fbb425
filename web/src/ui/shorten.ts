// SPDX-License-Identifier: Apache-2.0
// Long names in few characters, keeping what tells them apart: src/table/shorten.c, byte for byte. In this order,
// until it fits: the return type void goes; function arguments become …; namespaces and then arguments go; template
// arguments become … from the innermost out; of the outermost the functor is kept; the middle is cut. Of a stack, names
// with ";" between, the innermost are kept.
import plainTypes from "../../../src/table/plain_types.def";
import { textsOf } from "./def";

const ELLIPSIS = [0xe2, 0x80, 0xa6];
const MAX_DEPTH = 32, MAX_OPERATOR = 8;
const ANONYMOUS = "(anonymous namespace)";
const PLAIN_TYPES = new Set(textsOf(plainTypes));

type Bytes = number[];
const code = (c: string) => c.charCodeAt(0);
const [LESS, GREATER, DASH, EQUALS, COLON, OPEN, CLOSE, SPACE, UNDERSCORE, SEMICOLON] =
  [..."<>-=:() _;"].map(code) as [number, number, number, number, number, number, number, number, number, number];

function begins(text: Bytes, at: number, word: string): boolean {
  if (text.length - at < word.length) return false;
  for (let i = 0; i < word.length; i++) if (text[at + i] !== word.charCodeAt(i)) return false;
  return true;
}

function isAngle(text: Bytes, i: number): boolean {
  if (text[i] !== LESS && text[i] !== GREATER) return false;
  if (i > 0 && text[i] === GREATER && text[i - 1] === DASH) return false;
  let start = i;
  while (start > 0 && i - start < MAX_OPERATOR && (text[start - 1] === LESS || text[start - 1] === GREATER || text[start - 1] === EQUALS)) start--;
  return start < 8 || !begins(text, start - 8, "operator");
}

function templateDepth(text: Bytes): number {
  let depth = 0, deepest = 0;
  for (let i = 0; i < text.length; i++) {
    if (!isAngle(text, i)) continue;
    // a list follows the name of its template: <built-in method mm> is none
    if (depth === 0 && text[i] === LESS && (i === 0 || text[i - 1] === SPACE)) return 0;
    depth += text[i] === LESS ? 1 : -1;
    if (depth < 0 || depth > MAX_DEPTH) return 0;
    deepest = Math.max(deepest, depth);
  }
  return depth !== 0 ? 0 : deepest;
}

// In place, as in C: what was moved already is looked at again by isAngle.
function foldTemplates(text: Bytes, atDepth: number): Bytes {
  let used = 0, open = 0, depth = 0;
  const n = text.length;
  for (let i = 0; i < n; i++) {
    const angle = isAngle(text, i), c = text[i] as number;
    if (angle && c === GREATER && depth-- === atDepth && used - open > ELLIPSIS.length) {
      for (let j = 0; j < ELLIPSIS.length; j++) text[open + j] = ELLIPSIS[j] as number;
      used = open + ELLIPSIS.length;
    }
    text[used++] = c;
    if (angle && c === LESS && ++depth === atDepth) open = used;
  }
  return text.slice(0, used);
}

function isWord(c: number | undefined): boolean {
  return c !== undefined && ((c >= 97 && c <= 122) || (c >= 65 && c <= 90) || (c >= 48 && c <= 57) || c === UNDERSCORE);
}

function isCpp(text: Bytes): boolean {
  if (begins(text, 0, "void ") || templateDepth(text) > 0) return true;
  for (let i = 1; i < text.length; i++) if (text[i - 1] === COLON && text[i] === COLON) return true;
  return false;
}

function foldArguments(text: Bytes): Bytes {
  const n = text.length;
  let open = n, close = n, depth = 0;
  for (let i = 0; i < n; i++) {
    if (isAngle(text, i)) depth += text[i] === LESS ? 1 : -1;
    else if (text[i] === OPEN && depth++ === 0 && !begins(text, i, ANONYMOUS)) open = i;
    else if (text[i] === CLOSE && --depth === 0) close = i;
    if (depth < 0) return text;
  }
  if (depth !== 0 || open === 0 || open === n || text[open - 1] === SPACE || close === n ||
      close < open + 1 + ELLIPSIS.length) return text;
  return [...text.slice(0, open + 1), ...ELLIPSIS, ...text.slice(close)];
}

function dropFoldedArguments(text: Bytes): Bytes {
  const folded = [OPEN, ...ELLIPSIS, CLOSE], at = text.length - folded.length;
  return at > 0 && folded.every((c, i) => text[at + i] === c) ? text.slice(0, at) : text;
}

function dropNamespaces(text: Bytes): Bytes {
  const out: Bytes = [];
  let word = 0;
  for (let i = 0; i < text.length; i++) {
    if (begins(text, i, ANONYMOUS + "::")) {
      i += ANONYMOUS.length + 1;
      continue;
    }
    if (text[i] === COLON && text[i + 1] === COLON && word < out.length) {
      out.length = word;
      i++;
      continue;
    }
    out.push(text[i] as number);
    if (!isWord(text[i])) word = out.length;
  }
  return out;
}

function width(text: Bytes): number {
  let n = 0;
  for (const c of text) if ((c & 0xc0) !== 0x80) n++;
  return n;
}

// Bytes of the first so many characters.
function bytesOf(text: Bytes, cells: number): number {
  let at = 0;
  while (at < text.length && cells-- > 0) {
    at++;
    while (((text[at] ?? 0) & 0xc0) === 0x80) at++;
  }
  return at;
}

function cutMiddle(text: Bytes, most: number): Bytes {
  const front = Math.floor((most - 1) * 3 / 5), back = most - 1 - front;
  return [...text.slice(0, bytesOf(text, front)), ...ELLIPSIS, ...text.slice(bytesOf(text, width(text) - back))];
}

function isTelling(word: string): boolean {
  return word.length >= 3 && !/^[0-9]/.test(word) && !word.endsWith("_t") && !PLAIN_TYPES.has(word);
}

function keepFunctor(text: Bytes, most: number): Bytes {
  const angle = text.indexOf(LESS);
  let at = angle < 0 ? text.length : angle, functor = 0, nFunctor = 0;
  while (at < text.length) {
    let end = at;
    while (end < text.length && isWord(text[end])) end++;
    if (isTelling(textOf(text.slice(at, end)))) {
      functor = at;
      nFunctor = end - at;
      break;
    }
    at = end > at ? end : at + 1;
  }
  if (functor === 0 || most < 12) return text;
  nFunctor = Math.min(nFunctor, most - 1 - Math.floor(most / 3));
  const nHead = bytesOf(text.slice(0, angle), most - 1 - nFunctor);
  if (nHead + ELLIPSIS.length + nFunctor > text.length) return text;
  return [...text.slice(0, nHead), ...ELLIPSIS, ...text.slice(functor, functor + nFunctor)];
}

function shortenCpp(name: Bytes, most: number): Bytes {
  let text = begins(name, 0, "void ") && name.length > 5 ? name.slice(5) : name;
  if (width(text) > most) text = foldArguments(text);
  if (width(text) > most) text = dropNamespaces(text);
  if (width(text) > most) text = dropFoldedArguments(text);
  let depth = templateDepth(text);
  for (; depth > 1 && width(text) > most; depth--) text = foldTemplates(text, depth);
  if (depth > 0 && width(text) > most) text = keepFunctor(text, most);
  if (depth > 0 && width(text) > most) text = foldTemplates(text, 1);
  return text;
}

// The innermost ones that fit; null: not a stack, or too long for any.
function shortenStack(text: Bytes, most: number): Bytes | null {
  let last = 0, rest = width(text);
  for (let i = 0; i < text.length; i++) {
    if (((text[i] as number) & 0xc0) !== 0x80) rest--;
    if (text[i] !== SEMICOLON || i + 1 === text.length) continue;
    if (1 + rest <= most) return [...ELLIPSIS, ...text.slice(i + 1)];
    last = i + 1;
  }
  // the innermost alone is too long; what is before it makes room for the ellipsis
  if (last < ELLIPSIS.length || most < 2) return null;
  return [...ELLIPSIS, ...shortenBytes(text.slice(last), most - 1)];
}

function shortenBytes(name: Bytes, most: number): Bytes {
  let text = name;
  if (width(text) > most) text = shortenStack(text, most) ?? text;
  if (width(text) > most && isCpp(text)) text = shortenCpp(text, most);
  return width(text) > most ? cutMiddle(text, most) : text;
}

const encoder = new TextEncoder(), decoder = new TextDecoder();
const textOf = (text: Bytes): string => decoder.decode(new Uint8Array(text));
const known = new Map<string, string>();

// Of a column of this unit the front is kept.
const INNERMOST_FIRST = "frames, innermost first";

export function shortenCell(name: string, max: number, unit: string | null): string {
  const letters = unit === INNERMOST_FIRST ? [...name] : [];
  return letters.length > max ? letters.slice(0, max - 1).join("") + "…" : shorten(name, max);
}

export function shorten(name: string, max: number): string {
  if (name.length <= max) return name;
  const key = `${max} ${name.length > 512 ? "" : name}`;
  const before = name.length > 512 ? undefined : known.get(key);
  if (before !== undefined) return before;
  const short = textOf(shortenBytes([...encoder.encode(name)], max));
  if (known.size > 20000) known.clear();
  if (name.length <= 512) known.set(key, short);
  return short;
}
