// SPDX-License-Identifier: Apache-2.0
// Round steps of an axis, in the units that people read.

// At most about n values from 0 to the top, at 1, 2 or 5 times a power of the base.
export function ticks(top: number, n: number, base = 10): number[] {
  if (!(top > 0)) return [0];
  const rough = top / Math.max(1, n);
  let step = base ** Math.floor(Math.log(rough) / Math.log(base));
  const factors = base === 1024 ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] : [1, 2, 5, 10];
  step *= factors.find(factor => factor * step >= rough) ?? base;
  const found: number[] = [];
  for (let i = 0; i * step <= top * 1.0001; i++) found.push(i * step);
  return found;
}

// The middle of a label of so many pixels that stands at x, or beside it where the edges of the picture leave no room.
export function inside(x: number, from: number, to: number, size: number): number {
  return Math.max(from + size / 2 + 1, Math.min(x, to - size / 2 - 1));
}

export interface Label { at: number; size: number }

// Which labels are drawn: every so many, without those that would touch the one before.
export function apart(labels: readonly Label[], skip: number): boolean[] {
  let end = -Infinity;
  return labels.map(({ at, size }, i) => {
    if (i % skip !== 0 || at - size / 2 < end + 4) return false;
    end = at + size / 2;
    return true;
  });
}

// Every so many labels, so that each has its room.
export function every(n: number, room: number, each: number): number {
  const fits = Math.max(1, Math.floor(room / each));
  const rough = Math.ceil(n / fits);
  const steps = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10000];
  return steps.find(step => step >= rough) ?? rough;
}
