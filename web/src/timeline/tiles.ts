// SPDX-License-Identifier: Apache-2.0
// Tiles of all ranks: asked for when they are looked at, given up when they are not any more, kept while there is
// room. What is missing is shown from a coarser tile until it comes.
import { decodeTile } from "./tile";
import type { Tile } from "./tile";

export const TILE_UNITS = 512;
export const MAX_LEVEL = 44;

export interface TileKey { rank: number; level: number; index: number }

const MAX_BYTES = 192 << 20, AT_ONCE = 6, RETRY_MS = 1500;

const NO_NAMES: ReadonlyMap<number, string> = new Map();
const keyText = (key: TileKey) => `${key.rank}/${key.level}/${key.index}`;

export type Fetch = (key: TileKey, signal: AbortSignal) => Promise<ArrayBuffer>;

export class Tiles {
  private readonly kept = new Map<string, Tile>();       // least recently used first
  private readonly asked = new Map<string, AbortController>();
  private readonly failed = new Map<string, number>();   // when
  private wanted: TileKey[] = [];
  private bytes = 0;
  private readonly names = new Map<number, Map<number, string>>();
  error: unknown = null;
  onTile: (rank: number, tile: Tile, names: ReadonlyMap<number, string>) => void = () => undefined;   // sees each tile as it comes, before it is drawn

  constructor(private readonly fetchTile: Fetch, private readonly changed: () => void) {}

  // The finest level whose units are no wider than a pixel.
  static levelOf(nsPerPixel: number): number {
    return Math.max(0, Math.min(MAX_LEVEL, Math.floor(Math.log2(nsPerPixel))));
  }

  // The tiles of a level over a stretch of time.
  static over(level: number, from: number, to: number): [number, number] {
    const length = TILE_UNITS * 2 ** level;
    return [Math.floor(from / length), Math.floor(to / length)];
  }

  nameOf(rank: number, id: number): string {
    return this.names.get(rank)?.get(id) ?? "";
  }

  // The names of a rank as far as they have come.
  namesOf(rank: number): ReadonlyMap<number, string> {
    return this.names.get(rank) ?? NO_NAMES;
  }

  get(key: TileKey): Tile | undefined {
    const text = keyText(key);
    const tile = this.kept.get(text);
    if (!tile) return undefined;
    this.kept.delete(text);
    this.kept.set(text, tile);
    return tile;
  }

  // The tile, or the finest coarser one that covers it.
  best(key: TileKey): Tile | undefined {
    for (let level = key.level, index = key.index; level <= MAX_LEVEL && level < key.level + 12; level++) {
      const tile = this.get({ rank: key.rank, level, index });
      if (tile) return tile;
      index = Math.floor(index / 2);
    }
    return undefined;
  }

  // What is looked at now, the most important first; the rest need not come any more.
  want(keys: TileKey[]): void {
    this.wanted = keys;
    const texts = new Set(keys.map(keyText));
    for (const [text, abort] of this.asked) {
      if (texts.has(text)) continue;
      this.asked.delete(text);
      abort.abort();
    }
    this.ask();
  }

  get waiting(): number {
    return this.wanted.filter((key) => !this.kept.has(keyText(key))).length;
  }

  close(): void {
    this.want([]);
    this.kept.clear();
  }

  private ask(): void {
    for (const key of this.wanted) {
      if (this.asked.size >= AT_ONCE) return;
      const text = keyText(key);
      if (this.kept.has(text) || this.asked.has(text)) continue;
      if (performance.now() - (this.failed.get(text) ?? -Infinity) < RETRY_MS) continue;
      const abort = new AbortController();
      this.asked.set(text, abort);
      this.fetchTile(key, abort.signal).then((buffer) => this.take(key, buffer), (error: unknown) => {
        if (abort.signal.aborted) return;
        this.failed.set(text, performance.now());
        this.error = error;
        setTimeout(this.changed, RETRY_MS + 50);
      }).finally(() => {
        if (this.asked.get(text) === abort) this.asked.delete(text);
        this.ask();
      });
    }
  }

  private take(key: TileKey, buffer: ArrayBuffer): void {
    let names = this.names.get(key.rank);
    if (!names) this.names.set(key.rank, names = new Map());
    const tile = decodeTile(buffer, names), text = keyText(key);
    for (const [id, name] of tile.names) names.set(id, name);
    this.onTile(key.rank, tile, names);
    this.error = null;
    this.failed.delete(text);
    this.kept.set(text, tile);
    this.bytes += tile.bytes;
    for (const [old, one] of this.kept) {
      if (this.bytes <= MAX_BYTES || old === text) break;
      this.kept.delete(old);
      this.bytes -= one.bytes;
    }
    this.changed();
  }
}
