// SPDX-License-Identifier: Apache-2.0
// Numbers and names as people read them: the rules of src/table/format.c and src/table/shorten.c, so that terminal,
// page and report show the same text for the same value (tests/page/test_format.py compares them).
import type { Cell, Column } from "../model";
import unitLists from "../../../src/table/units.def";
import { entriesOf } from "./def";
import { shorten } from "./shorten";

export type ColumnLook = Pick<Column, "type" | "unit"> & Partial<Pick<Column, "role">>;

const THIN_SPACE = "\u2009";
const DASH = "–";
const UNITS = new Map(entriesOf(unitLists).map(([what, ...units]) => [what, units]));
const unitsOf = (what: string): readonly string[] => UNITS.get(what) ?? [];
const TIME_UNITS = unitsOf("time_units"), BYTE_UNITS = unitsOf("byte_units"), PREFIXES = unitsOf("prefixes"), PREFIXED_UNITS = unitsOf("prefixed_units");

// Controls and characters that cannot be seen or turn the text around, as in a terminal: \x1b, \u202e.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;
const BLANKS: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

export function visible(text: string): string {
  return text.replace(UNSEEN, c => {
    const code = c.codePointAt(0) ?? 0, digits = code.toString(16);
    return BLANKS[c] ?? (code < 0x100 ? `\\x${digits.padStart(2, "0")}` : `\\u${digits.padStart(4, "0")}`);
  });
}

// At most `max` characters of a name, safe to show; hover has the whole.
export function shortName(name: string, max: number): string {
  return shorten(visible(name), max);
}

// Digits in groups of three.
function group(digits: string): string {
  let text = "";
  for (let i = 0; i < digits.length; i++) {
    if (i > 0 && (digits.length - i) % 3 === 0) text += THIN_SPACE;
    text += digits[i];
  }
  return text;
}

export function count(value: number): string {
  return value < 0 ? "-" + group(String(-value)) : group(String(value));
}

// A value of 0 or more with so many decimals; halves go up, as in C.
function fixed(value: number, decimals: number): string {
  const ten = 10 ** decimals;
  const scaled = Math.floor(value * ten + 0.5);
  const whole = group(String(Math.floor(scaled / ten)));
  return decimals === 0 ? whole : `${whole}.${String(scaled % ten).padStart(decimals, "0")}`;
}

function threeDigits(value: number): number {
  return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

// %.2e of C: an exponent of two digits at least; of two nearest the even one, which can only happen to integers.
function power(value: number): string {
  let [digits = "0", exponent = "+0"] = value.toExponential(2).split("e");
  if (Number.isInteger(value)) {
    const shown = BigInt(digits.replace(".", "")), step = 10n ** BigInt(Number(exponent) - 2);
    if (2n * (shown * step - BigInt(value)) === step && shown % 2n === 1n) {
      const even = String(shown - 1n);
      digits = `${even[0]}.${even.slice(1)}`;
    }
  }
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

function scaled(value: number, units: readonly string[], base: number, whole: boolean): string {
  let u = 0;
  for (; u + 1 < units.length && value >= base - 0.5; u++) value /= base;
  const number = value < 1e15 ? fixed(value, whole && u === 0 ? 0 : threeDigits(value)) : power(value);
  return `${number} ${units[u]}`;
}

function plain(value: number): string {
  if (value >= 1e15 || value < 0.0001) return power(value);
  if (value >= 0.9995) return fixed(value, threeDigits(value));
  return fixed(value, value >= 0.09995 ? 3 : value >= 0.009995 ? 4 : value >= 0.0009995 ? 5 : 6);
}

// A number of a column of doubles, 0 and signs included.
function double(value: number, type: Column["type"]): string {
  if (value === 0) return "0";
  const sign = value < 0 ? "-" : "", size = Math.abs(value);
  if (type === "ratio" && size < 1e12) return `${sign}${fixed(size * 100, 1)} %`;
  if (type === "duration_float") return sign + scaled(size, TIME_UNITS, 1000, false);
  return sign + plain(size);
}

// An integer as digits: JSON numbers, or texts of digits beyond 2^53.
function integer(digits: string, column: ColumnLook): string {
  const sign = digits.startsWith("-") ? "-" : "", size = sign ? digits.slice(1) : digits;
  if (size === "0" && column.type !== "time") return "0";
  switch (column.type) {
    case "duration": return sign + scaled(Number(size), TIME_UNITS, 1000, true);
    case "bytes": return sign + scaled(Number(size), BYTE_UNITS, 1024, true);
    case "time": {
      const padded = size.padStart(4, "0");
      return `${sign}${group(padded.slice(0, -3))}.${padded.slice(-3)} µs`;
    }
    default: return sign + (column.role === "key" ? size : group(size));
  }
}

function isDouble(type: Column["type"]): boolean {
  return type === "float64" || type === "ratio" || type === "duration_float";
}

export function isNumber(type: Column["type"]): boolean {
  return type !== "string" && type !== "bool" && type !== "event";
}

function digitsOf(value: Cell): string {
  return typeof value === "number" ? BigInt(Math.trunc(value)).toString() : String(value);
}

// Units that are counted in thousands, "590 GFLOP", and bytes.
function prefixed(value: number, column: ColumnLook): string {
  const size = Math.abs(value);
  if (!column.unit || column.role === "key" || size < 1) return "";
  if (column.unit === "bytes") return (value < 0 ? "-" : "") + scaled(size, BYTE_UNITS, 1024, column.type !== "float64"); // means of bytes
  if (!PREFIXED_UNITS.includes(column.unit)) return "";
  return `${value < 0 ? "-" : ""}${scaled(size, PREFIXES, 1000, column.type !== "float64")}${column.unit}`;
}

// "41.2 ms", "12.4 %", "3.50 MiB", "1 234", "–" for no value: three significant digits.
export function human(value: Cell | undefined, column: ColumnLook): string {
  if (value === null || value === undefined || (typeof value === "number" && !Number.isFinite(value))) return DASH;
  if (column.type === "bool") return value === true || value === "true" ? "yes" : "no";
  if (column.type === "string" || column.type === "event") return visible(String(value));
  const text = isDouble(column.type) ? double(Number(value), column.type) : integer(digitsOf(value), column);
  const own = column.type === "int64" || column.type === "uint64" || column.type === "float64";
  const short = own && prefixed(Number(value), column);
  if (short) return short;
  return own && column.unit && !(Number(value) === 0 && column.type !== "float64")
    ? `${text} ${column.unit}` : text;
}

// A difference: what is more has a plus, what is less its minus.
export const changeText = (value: Cell | undefined, column: ColumnLook): string => (Number(value) > 0 ? "+" : "") + human(value, column);

// All digits, for tooltips.
export function exact(value: Cell | undefined, column: ColumnLook): string {
  if (value === null || value === undefined) return "no value";
  if (!isNumber(column.type)) return human(value, column);
  if (column.type === "ratio") return `${Number((Number(value) * 100).toPrecision(12))} %`;
  const digits = isDouble(column.type) ? String(value) : digitsOf(value);
  const whole = /^-?\d+$/.test(digits);
  const text = !whole || column.role === "key" ? digits
    : digits.startsWith("-") ? `-${group(digits.slice(1))}` : group(digits);
  return column.unit ? `${text} ${column.unit}` : text;
}

export function nsText(ns: number): string {
  return human(Math.round(ns), { type: "duration", unit: "ns" });
}

// A column's heading, as the engine makes it: the unit is in the cells.
export function label(column: Pick<Column, "name" | "label"> & Partial<Pick<Column, "type" | "unit">>): string {
  let name = column.label ?? column.name;
  // a unit stands in the cells; where a column of that name is there besides, it is the time of that
  if (column.unit === "GB/s") name = name.replace(/_(gb_per_s|gbps)$/, "");
  if (column.type === "duration" || column.type === "duration_float") name = name.replace(/_ns$/, /(^|_)time_ns$/.test(name) ? "" : "_time");
  return name.replaceAll("_", " ");
}
