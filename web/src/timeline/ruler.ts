// SPDX-License-Identifier: Apache-2.0
// Ticks of the time axis, ns to s: steps of 1, 2 or 5 powers of ten, labelled in the unit that the step needs.
const UNITS: readonly [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// The step between ticks that leaves about so many pixels between them.
export function tickStep(nsPerPixel: number, pixels: number): number {
  const raw = Math.max(1, nsPerPixel * pixels), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((one) => one >= raw - 1e-9) ?? 10 * power;
  return Math.max(1, Math.round(step));
}

export function ticks(from: number, to: number, step: number): number[] {
  const out: number[] = [];
  for (let k = Math.ceil(from / step); k * step <= to && out.length < 500; k++) out.push(k * step);
  return out;
}

// A time as the ticks of a step show it: exact for multiples of the step.
export function tickText(ns: number, step: number): string {
  if (ns === 0) return "0";
  const [size, unit] = UNITS.find(([one]) => Math.abs(ns) >= one) ?? [1, "ns"];
  const decimals = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / step) - 1e-9)));
  const text = (ns / size).toFixed(decimals);
  const [whole = "0", rest] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
  return `${grouped}${rest ? "." + rest : ""} ${unit}`;
}
