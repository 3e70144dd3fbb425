// SPDX-License-Identifier: Apache-2.0
// Colours between two, for maps.
import { resolve } from "../colors";

export type Rgb = [number, number, number];

export function rgb(color: string): Rgb {
  const hex = resolve(color);
  return [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)) as Rgb;
}

export const mix = (a: Rgb, b: Rgb, t: number): Rgb => a.map((c, i) => Math.round(c + ((b[i] ?? 0) - c) * t)) as Rgb;
