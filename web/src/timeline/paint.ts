// SPDX-License-Identifier: Apache-2.0
// Painting tracks: every lane is one line of pixels in a strip, filled span by span, and the canvas draws it as high as
// the lane is. So a frame costs as much as its spans and its lanes; only the canvas sees every pixel, and once.
import { shortName } from "../ui/format";
import { rowsBetween } from "./layout";
import type { Layout, RankRow, Row, TrackRow } from "./layout";
import { mix, textOn } from "./palette";
import type { Palette } from "./palette";
import type { Tile } from "./tile";
import { stepsOfRank } from "./byRank";
import { Tiles } from "./tiles";
import type { TileKey } from "./tiles";
import { ticks, tickStep } from "./ruler";
import type { Step, Track } from "../model";

export interface View { from: number; to: number }

export interface Label { x: number; width: number; y: number; height: number; text: string; color: string }

interface Scene {
  tiles: Tiles; palette: Palette; kinds: readonly string[]; view: View; width: number; height: number; ratio: number;
  layout: Layout; scroll: number; steps: readonly Step[];
  zooming: boolean;   // another frame with another scale follows
}

const LABEL_PIXELS = 28;
const MOVING_LABELS = 120;

interface Colored extends Tile { colors?: Uint32Array; version?: number }

// Colours by rank, then kind and work, then the number of the name: most spans of a tile that comes have been seen in another.
class Colors {
  private readonly known = new Map<number, Map<number, number>>();
  private version = -1;

  of(scene: Scene, rank: number, tile: Tile, i: number, names: ReadonlyMap<number, string>): number {
    const { palette, kinds } = scene, kind = tile.kind[i] as number, work = tile.work[i] as number, name = tile.name[i] as number;
    if (this.version !== palette.theme.version) this.known.clear();
    this.version = palette.theme.version;
    const key = rank * 65536 + kind * 256 + work;
    let ofKind = this.known.get(key);
    if (!ofKind) this.known.set(key, ofKind = new Map());
    let color = ofKind.get(name);
    if (color === undefined) ofKind.set(name, color = palette.of(kinds[kind] ?? "other", work, names.get(name) ?? ""));
    return color;
  }
}

function colorsOf(scene: Scene, known: Colors, rank: number, tile: Colored): Uint32Array {
  const { palette } = scene, names = scene.tiles.namesOf(rank);
  if (tile.colors && tile.version === palette.theme.version) return tile.colors;
  const colors = new Uint32Array(tile.n);
  for (let i = 0; i < tile.n; i++) {
    const own = known.of(scene, rank, tile, i, names);
    const length = (tile.end[i] as number) - (tile.start[i] as number);
    // several short ones: as strong as they fill their place
    colors[i] = tile.count[i] === 1 || length <= 0 ? own
      : mix(palette.theme.background, own, Math.max(0.4, Math.min(1, (tile.sum[i] as number) / length)));
  }
  tile.colors = colors;
  tile.version = palette.theme.version;
  return colors;
}

// Lines of pixels, one below the other, and where each is drawn. The first is the ground: what every other line begins as,
// and what is drawn where there is no line.
class Strip {
  private readonly canvas = document.createElement("canvas");
  private image = new ImageData(1, 1);
  private pixels = new Uint32Array(1);
  private n = 0;
  private bands: { line: number; top: number; bottom: number }[] = [];   // in pixels of the target

  get width(): number { return this.image.width; }

  // Forgets all lines; answers the ground, to be filled in.
  begin(width: number): Uint32Array {
    if (this.image.width !== width) this.grow(width, 64);
    this.n = 1;
    this.bands = [];
    return this.lines(0, 1);
  }

  private grow(width: number, height: number): void {
    const before = this.pixels, isHigher = this.image.width === width;
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    if (isHigher) this.pixels.set(before);
    this.canvas.width = width;
    this.canvas.height = height;
  }

  // The number of the first of n new lines.
  add(n: number): number {
    const first = this.n;
    this.n += n;
    if (this.n > this.image.height) this.grow(this.width, Math.max(this.n, 2 * this.image.height));
    for (let i = first; i < this.n; i++) this.pixels.copyWithin(i * this.width, 0, this.width);
    return first;
  }

  // The pixels of n lines; not valid any more when lines are added.
  lines(first: number, n: number): Uint32Array {
    return this.pixels.subarray(first * this.width, (first + n) * this.width);
  }

  put(line: number, top: number, bottom: number): void {
    if (bottom > top) this.bands.push({ line, top, bottom });
  }

  // Every pixel of the target once.
  draw(context: CanvasRenderingContext2D, height: number): void {
    const own = this.canvas.getContext("2d", { alpha: false });
    if (!own) return;
    own.putImageData(this.image, 0, 0, 0, 0, this.width, this.n);
    context.imageSmoothingEnabled = false;
    const copy = (line: number, top: number, bottom: number) => {
      if (bottom > top) context.drawImage(this.canvas, 0, line, this.width, 1, 0, top, this.width, bottom - top);
    };
    let y = 0;
    for (const { line, top, bottom } of this.bands.sort((a, b) => a.top - b.top)) {
      copy(0, y, top);
      copy(line, Math.max(y, top), bottom);
      y = Math.max(y, bottom);
    }
    copy(0, y, height);
  }
}

interface Piece { tile: Colored; from: number; to: number; colors: Uint32Array }

export class Painter {
  private readonly strip = new Strip();
  private labels: Label[] = [];
  private readonly colors = new Colors();
  private readonly pieces = new Map<number, Piece[]>();   // by rank, of this frame
  private readonly short = new Map<string, string>();
  private average = 0;                                     // width of a letter

  // Everything but overlays; labels, selection and arrows are drawn over it. Answers how many labels wait until the scale rests.
  paint(context: CanvasRenderingContext2D, scene: Scene): number {
    const width = Math.max(1, Math.round(scene.width * scene.ratio)), height = Math.max(1, Math.round(scene.height * scene.ratio));
    const { layout, scroll } = scene, top = layout.pinnedHeight;
    this.fillGround(scene, this.strip.begin(width));
    this.labels = [];
    this.pieces.clear();
    for (const row of rowsBetween(layout.rows, scroll, scroll + scene.height - top)) this.paintRow(scene, row, row.y - scroll + top, top);
    this.labels = this.labels.filter((label) => label.y >= top);
    for (const row of layout.pinned) this.paintRow(scene, row, row.y, 0);
    this.strip.draw(context, height);
    return this.drawLabels(context, scene);
  }

  // The background with its grid.
  private fillGround(scene: Scene, line: Uint32Array): void {
    const { theme } = scene.palette, { from, to } = scene.view, scale = line.length / (to - from);
    line.fill(theme.background);
    for (const at of ticks(from, to, tickStep((to - from) / scene.width, 110))) {
      const x = Math.round((at - from) * scale);
      if (x >= 0 && x < line.length) line[x] = theme.grid;
    }
  }

  private paintRow(scene: Scene, row: Row, y: number, clipTop: number): void {
    if (row.kind === "rank") this.paintRank(scene, row, y, clipTop);
    else if (row.kind === "track") this.paintTrack(scene, row, y, clipTop);
  }

  // The tiles of a rank over the view, each with the stretch that it is to be drawn in; a coarser one that stands for several is walked once.
  // Every track of the rank needs them, so they are looked up once a frame.
  private tilesOf(scene: Scene, rank: number): readonly Piece[] {
    let pieces = this.pieces.get(rank);
    if (pieces) return pieces;
    const { view, width, ratio } = scene, level = Tiles.levelOf((view.to - view.from) / (width * ratio));
    const [first, last] = Tiles.over(level, view.from, view.to), length = 512 * 2 ** level;
    pieces = [];
    for (let index = first; index <= last; index++) {
      const tile = scene.tiles.best({ rank, level, index }), to = Math.min(view.to, (index + 1) * length), before = pieces.at(-1);
      if (before && before.tile === tile) before.to = to;
      else if (tile) pieces.push({ tile, from: Math.max(view.from, index * length), to, colors: colorsOf(scene, this.colors, rank, tile) });
    }
    this.pieces.set(rank, pieces);
    return pieces;
  }

  // The spans of a track into lines of the strip from line on: those of lanes from first on, or all into one.
  private fill(scene: Scene, track: Track, line: number, first: number, n: number, y: number, laneHeight: number, wanted: (work: number) => boolean): void {
    const { view, ratio } = scene, { width } = this.strip, lines = this.strip.lines(line, n), scale = width / (view.to - view.from), flat = laneHeight === 0;
    for (const { tile, from, to, colors } of this.tilesOf(scene, track.rank)) {
      const [begin, end] = tile.tracks.get(track.track) ?? [0, 0], waiting = tile.wait.size > 0;
      for (let i = begin; i < end; i++) {
        const lane = flat ? 0 : (tile.lane[i] as number) - first;
        if (lane < 0) continue;
        if (lane >= n) break;
        const start = tile.start[i] as number, stop = tile.end[i] as number;
        if (start >= to || (stop <= from && start < from) || !wanted(tile.work[i] as number)) continue;
        const x0 = Math.max(0, Math.round((Math.max(start, from) - view.from) * scale));
        let x1 = Math.min(width, Math.round((Math.min(stop, to) - view.from) * scale));
        if (x1 <= x0) x1 = Math.min(width, x0 + 1);
        const at = lane * width, color = colors[i] as number;
        if (x1 - x0 === 1) {
          lines[at + x0] = color;
          continue;
        }
        const ends = stop <= to && x1 - x0 > 3;
        lines.fill(color, at + x0, at + x1 - (ends ? 1 : 0));
        const wait = waiting ? tile.wait.get(i) : undefined;
        if (wait) {
          const waits = Math.min(x1, Math.round((start + wait - view.from) * scale));
          if (waits > x0) lines.fill(scene.palette.theme.pale, at + x0, at + waits);
        }
        if (!flat && laneHeight >= 11) this.note(scene, track, tile, i, from, to, y + lane * laneHeight, laneHeight, scale / ratio);
      }
    }
  }

  // A label where the visible part of a span begins, once.
  private note(scene: Scene, track: Track, tile: Tile, i: number, from: number, to: number, y: number, height: number, scale: number): void {
    const start = Math.max(tile.start[i] as number, scene.view.from), stop = Math.min(tile.end[i] as number, scene.view.to);
    const width = (stop - start) * scale;
    if (width < LABEL_PIXELS || start < from || start >= to) return;
    const name = scene.tiles.nameOf(track.rank, tile.name[i] as number), count = tile.count[i] as number;
    const work = tile.work[i] as number, kind = scene.kinds[tile.kind[i] as number] ?? "other";
    // what most of the text stands on
    const waits = ((tile.wait.get(i) ?? 0) - (start - (tile.start[i] as number))) * scale > Math.min(width, 6 * name.length) / 2;
    this.labels.push({
      x: (start - scene.view.from) * scale, width, y, height, text: count > 1 ? `${count} × ${name}` : name,
      color: waits ? scene.palette.theme.text : textOn(scene.palette.theme, kind, work, name),
    });
  }

  private paintTrack(scene: Scene, row: TrackRow, y: number, clipTop: number): void {
    const { ratio } = scene, clip = Math.round(clipTop * ratio);
    const laneHeight = row.collapsed ? 8 : row.laneHeight;
    const all = row.collapsed ? 1 : row.track.lanes;
    const first = row.collapsed ? 0 : Math.max(0, Math.floor((clipTop - y) / laneHeight));
    const n = Math.min(all - first, Math.ceil((scene.height - Math.max(y, clipTop)) / laneHeight) + 1);
    if (n <= 0) return;
    const line = this.strip.add(n);
    this.fill(scene, row.track, line, first, n, y + first * laneHeight, row.collapsed ? 0 : laneHeight, () => true);
    const gap = laneHeight * ratio >= 4 ? 1 : 0;
    for (let lane = 0; lane < n; lane++) {
      const top = Math.round((y + (first + lane) * laneHeight) * ratio), bottom = Math.round((y + (first + lane + 1) * laneHeight) * ratio) - gap;
      this.strip.put(line + lane, Math.max(top, clip), bottom);
    }
  }

  // The head of a rank with its steps; when it is collapsed, what its devices do, in one band.
  private paintRank(scene: Scene, row: RankRow, y: number, clipTop: number): void {
    const { ratio, view } = scene, { theme } = scene.palette, { width } = this.strip;
    const line = this.strip.add(1), scale = width / (view.to - view.from);
    if (!row.collapsed) {
      this.strip.lines(line, 1).fill(theme.band);
    } else {
      const devices = row.tracks.filter((track) => track.device !== null || track.layer === "hardware" || track.layer === "communication");
      const shown = devices.length > 0 ? devices : row.tracks.slice(0, 1);
      for (const works of [[255, 4], [2, 3], [1], [0]])
        for (const track of shown) this.fill(scene, track, line, 0, 1, y, 0, (work) => works.includes(work));
    }
    const pixels = this.strip.lines(line, 1);
    for (const step of stepsOfRank(scene.steps, row.rank)) {
      const x = Math.round((step.start_ns - view.from) * scale);
      if (x >= 0 && x < width) pixels[x] = theme.step;
    }
    const inset = row.collapsed ? 2 : 0;
    this.strip.put(line, Math.max(Math.round((y + inset) * ratio), Math.round(clipTop * ratio)), Math.round((y + row.height - inset) * ratio));
  }

  private drawLabels(context: CanvasRenderingContext2D, scene: Scene): number {
    context.save();
    context.scale(scene.ratio, scene.ratio);
    context.textBaseline = "middle";
    context.font = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
    this.average ||= context.measureText("abcdefghij_0").width / 12;
    let shown = this.labels;
    // to write is most of a frame: while the scale changes the widest are there, and in steps of some letters, so that texts are cut once
    if (scene.zooming && shown.length > MOVING_LABELS) shown = [...shown].sort((a, b) => b.width - a.width).slice(0, MOVING_LABELS);
    for (const label of shown) {
      let room = Math.floor((label.width - 8) / this.average);
      if (scene.zooming && room > 8) room -= room % 4;
      if (room < 3) continue;
      context.fillStyle = label.color;
      context.fillText(this.fit(context, label.text, room, label.width - 6), label.x + 4, label.y + label.height / 2);
    }
    context.restore();
    return this.labels.length - shown.length;
  }

  private fit(context: CanvasRenderingContext2D, text: string, room: number, width: number): string {
    const key = `${room} ${text}`;
    let short = this.short.get(key);
    if (short === undefined) {
      short = shortName(text, room);
      for (let less = room - 1; less > 2 && context.measureText(short).width > width; less--) short = shortName(text, less);
      if (this.short.size > 20000) this.short.clear();
      this.short.set(key, short);
    }
    return short;
  }
}

// The span under a point of a track: of those of the lane the one that holds the time, or is within a pixel or two.
export interface Hit { row: TrackRow; tile: Tile; i: number; name: string }

export function hitSpan(tiles: Tiles, row: TrackRow, lane: number, time: number, level: number, slack: number): Hit | null {
  const [index] = Tiles.over(level, time, time);
  const keys: TileKey[] = [index, index - 1].map((one) => ({ rank: row.rank, level, index: one }));
  let found: Hit | null = null, nearest = slack;
  for (const key of keys) {
    const tile = tiles.best(key);
    if (!tile) continue;
    const [begin, end] = tile.tracks.get(row.track.track) ?? [0, 0];
    for (let i = begin; i < end; i++) {
      if (!row.collapsed && tile.lane[i] !== lane) continue;
      const start = tile.start[i] as number, stop = tile.end[i] as number;
      const away = time < start ? start - time : time > stop ? time - stop : 0;
      if (away > nearest || (away === nearest && found && !row.collapsed)) continue;
      nearest = away;
      found = { row, tile, i, name: tiles.nameOf(row.rank, tile.name[i] as number) };
    }
  }
  return found;
}
