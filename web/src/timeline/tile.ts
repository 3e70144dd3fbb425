// SPDX-License-Identifier: Apache-2.0
// A tile as it comes from the server (serve/tile.h has the layout): columns over the answer's bytes, nothing copied.
export interface Tile {
  n: number;
  from: number; to: number; unit: number;       // ns
  start: Float64Array; end: Float64Array; sum: Float64Array;
  row: Uint32Array; count: Uint32Array; name: Uint32Array;
  lane: Uint16Array; kind: Uint8Array; work: Uint8Array;
  wait: Map<number, number>;                    // by span: ns at its start
  tracks: Map<number, readonly [number, number]>; // the spans of a track
  names: [number, string][];                    // those that were not known
  bytes: number;
}

const MAGIC = 0x31545448; // "HTT1"

// The spans of each track: they come track by track.
function slices(track: Uint32Array): Map<number, readonly [number, number]> {
  const out = new Map<number, readonly [number, number]>();
  let first = 0;
  for (let i = 1; i <= track.length; i++) {
    if (i < track.length && track[i] === track[first]) continue;
    if (track.length > 0) out.set(track[first] as number, [first, i]);
    first = i;
  }
  return out;
}

const decoder = new TextDecoder();

// Names that are known already are not decoded again: tiles of a rank repeat them.
export function decodeTile(buffer: ArrayBuffer, known?: ReadonlyMap<number, string>): Tile {
  const head = new DataView(buffer);
  if (buffer.byteLength < 40 || head.getUint32(0, true) !== MAGIC) throw new Error("not a tile");
  const n = head.getUint32(4, true), nNames = head.getUint32(8, true), nWaits = head.getUint32(12, true);
  let at = 40;
  const f64 = (count: number) => { const out = new Float64Array(buffer, at, count); at += count * 8; return out; };
  const u32 = (count: number) => { const out = new Uint32Array(buffer, at, count); at += count * 4; return out; };
  const u8 = (count: number) => { const out = new Uint8Array(buffer, at, count); at += count; return out; };
  const start = f64(n), end = f64(n), sum = f64(n), waits = f64(nWaits), waitAt = u32(nWaits);
  const row = u32(n), count = u32(n), name = u32(n), track = u32(n), nameId = u32(nNames), nameEnd = u32(nNames);
  const lane = new Uint16Array(buffer, at, n);
  at += n * 2;
  const kind = u8(n), work = u8(n);
  const wait = new Map<number, number>();
  waitAt.forEach((i, k) => wait.set(i, waits[k] as number));
  const names: [number, string][] = [];
  for (let i = 0, begin = 0; i < nNames; i++) {
    const id = nameId[i] as number, stop = nameEnd[i] as number;
    if (!known?.has(id)) names.push([id, decoder.decode(new Uint8Array(buffer, at + begin, stop - begin))]);
    begin = stop;
  }
  return {
    n, from: head.getFloat64(16, true), to: head.getFloat64(24, true), unit: head.getFloat64(32, true),
    start, end, sum, row, count, name, lane, kind, work, wait, tracks: slices(track), names, bytes: buffer.byteLength,
  };
}
