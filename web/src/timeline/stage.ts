// SPDX-License-Identifier: Apache-2.0
// The picture of the timeline and what moves it: which time and rows are on screen, and one frame after the other
// while something changes. Knows nothing of the page around it.
import type { Mark } from "./places";
import type { Flow, Overlay, Step, Tracks } from "../model";
import type { Layout, Row, TrackRow } from "./layout";
import { rankKey, rowsBetween, trackKey } from "./layout";
import { drawArrows, drawMarks, drawOverlay, drawRuler, drawSelection, drawSteps } from "./draw";
import { hitSpan, Painter } from "./paint";
import type { Hit, View } from "./paint";
import { Palette } from "./palette";
import { stepsOfRank } from "./byRank";
import { Tiles } from "./tiles";
import type { TileKey } from "./tiles";

export interface Range { from: number; to: number; tracks: string[] | null }   // tracks "rank:track"; null: all
export interface Chosen { id: string; rank: number; track: number; lane: number; start: number; end: number }

export const RULER_HEIGHT = 26;
const MIN_SPAN_NS = 16;
const KEY_RATE = 1.6;      // how much of the view a held key moves in a second
const ZOOM_RATE = 5;       // by what factor a held key zooms in a second
const REST_MS = 120;       // so long after the last change of scale a picture has all its labels
const TAP = 0.12;          // what a key that is only tapped does of that

export class Stage {
  view: View = { from: 0, to: 1 };
  layout: Layout = { rows: [], pinned: [], height: 0, pinnedHeight: 0 };
  tracks: Tracks | null = null;
  range: Range | null = null;
  chosen: Chosen | null = null;
  flows: Flow[] = [];
  marks: readonly Mark[] = [];
  overlays = new Map<string, Overlay>();
  pointer: { x: number; y: number } | null = null;
  scroll = 0;
  placedFor: string | null = null;  // the event that this view was chosen for: it need not be brought on screen
  readonly tiles: Tiles;
  readonly palette = new Palette();
  private readonly painter = new Painter();
  private canvas: HTMLCanvasElement | null = null;
  private ruler: HTMLCanvasElement | null = null;
  private unlabelled = 0;
  private drawn: { width: number; height: number } | null = null;
  private zoomedAt = -Infinity;
  private resting: ReturnType<typeof setTimeout> | undefined;
  private due = 0;
  private last = 0;
  private readonly held = new Set<string>();
  onMoved: (settled: boolean) => void = () => undefined;
  onDrawn: () => void = () => undefined;
  onPaint: (context: CanvasRenderingContext2D) => void = () => undefined;  // over the tracks, below the selection
  readonly followers = new Set<() => void>();                              // who shows the same stretch of time
  opened: ReadonlySet<number> | null = null; // ranks whose tracks are known; null: all
  onRanks: (ranks: readonly number[]) => void = () => undefined; // on screen, and not known

  constructor(fetchTile: (key: TileKey, signal: AbortSignal) => Promise<ArrayBuffer>) {
    this.tiles = new Tiles(fetchTile, () => this.redraw());
  }

  attach(canvas: HTMLCanvasElement | null, ruler: HTMLCanvasElement | null): void {
    this.canvas = canvas;
    this.ruler = ruler;
    this.redraw();
  }

  close(): void {
    cancelAnimationFrame(this.due);
    this.due = -1;
    clearTimeout(this.resting);
    this.tiles.close();
  }

  // Asked for very often, and each question to the document lays it out: known for the time of a frame.
  get width(): number { return this.drawn?.width ?? this.canvas?.clientWidth ?? 1; }
  get height(): number { return this.drawn?.height ?? this.canvas?.clientHeight ?? 1; }
  get nsPerPixel(): number { return (this.view.to - this.view.from) / Math.max(1, this.width); }
  timeAt(x: number): number { return this.view.from + x * this.nsPerPixel; }
  xAt(ns: number): number { return (ns - this.view.from) / this.nsPerPixel; }

  // ---- moving ----

  show(from: number, to: number, settled = true): void {
    if (!this.tracks) return;
    const all = Math.max(MIN_SPAN_NS, this.tracks.to_ns - this.tracks.from_ns);
    const span = Math.max(MIN_SPAN_NS, Math.min(all * 1.2, to - from)), middle = (from + to) / 2;
    const low = this.tracks.from_ns - span * 0.5, high = this.tracks.to_ns + span * 0.5;
    const begin = Math.max(low, Math.min(high - span, middle - span / 2));
    this.view = { from: begin, to: begin + span };
    this.onMoved(settled);
    this.redraw();
  }

  showAll(): void {
    if (!this.tracks) return;
    const margin = (this.tracks.to_ns - this.tracks.from_ns) * 0.01;
    this.show(this.tracks.from_ns - margin, this.tracks.to_ns + margin);
  }

  zoom(factor: number, at: number, settled = true): void {
    const { from, to } = this.view;
    if (factor < 1 && to - from <= MIN_SPAN_NS) return;
    this.show(at - (at - from) * factor, at + (to - at) * factor, settled);
    if (settled) return;
    this.zoomedAt = performance.now();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.redraw(), REST_MS);
  }

  pan(share: number, settled = true): void {
    const span = this.view.to - this.view.from;
    this.show(this.view.from + span * share, this.view.to + span * share, settled);
  }

  panPixels(pixels: number): void {
    const ns = pixels * this.nsPerPixel;
    this.show(this.view.from + ns, this.view.to + ns, false);
  }

  // A key that moves goes down: a tap moves a little, holding it goes on.
  press(key: string): void {
    if (this.held.has(key)) return;
    this.move(key, TAP);
    this.held.add(key);
    this.last = performance.now();
    this.redraw();
  }

  release(key?: string): void {
    const moved = key === undefined ? this.held.size > 0 : this.held.has(key);
    if (key === undefined) this.held.clear();
    else this.held.delete(key);
    if (moved) this.onMoved(true);
  }

  private move(key: string, seconds: number): void {
    const inside = this.pointer && this.pointer.x >= 0 && this.pointer.x <= this.width;
    const at = inside && this.pointer ? this.timeAt(this.pointer.x) : (this.view.from + this.view.to) / 2;
    if (key === "w") this.zoom(ZOOM_RATE ** -seconds, at, false);
    if (key === "s") this.zoom(ZOOM_RATE ** seconds, at, false);
    if (key === "a") this.pan(-KEY_RATE * seconds, false);
    if (key === "d") this.pan(KEY_RATE * seconds, false);
  }

  // ---- what is where ----

  rowAt(y: number): Row | null {
    const { layout } = this, top = layout.pinnedHeight;
    if (y < top) return layout.pinned.find((row) => y >= row.y && y < row.y + row.height) ?? null;
    const at = y - top + this.scroll;
    return rowsBetween(layout.rows, at, at + 1)[0] ?? null;
  }

  // Where a row begins on the canvas.
  topOf(row: Row): number {
    return row.pinned ? row.y : row.y - this.scroll + this.layout.pinnedHeight;
  }

  hit(x: number, y: number): Hit | null {
    const row = this.rowAt(y);
    if (!row || row.kind !== "track") return null;
    const lane = row.collapsed ? 0 : Math.floor((y - this.topOf(row)) / row.laneHeight);
    return hitSpan(this.tiles, row, lane, this.timeAt(x), this.level(), 2 * this.nsPerPixel);
  }

  level(): number {
    return Tiles.levelOf(this.nsPerPixel / devicePixelRatio);
  }

  trackRow(rank: number, track: number): TrackRow | null {
    const key = trackKey({ rank, track });
    for (const row of [...this.layout.pinned, ...this.layout.rows]) if (row.kind === "track" && row.key === key) return row;
    return null;
  }

  // The middle of a lane of a track on the canvas, or of the band of its rank; null when it is not shown.
  laneY(rank: number, track: number, lane: number): number | null {
    const row = this.trackRow(rank, track);
    if (row) return this.topOf(row) + (row.collapsed ? 4 : (lane + 0.5) * row.laneHeight);
    const band = this.layout.rows.find((one) => one.key === rankKey(rank));
    return band ? this.topOf(band) + band.height / 2 : null;
  }

  // Of a rank by start, or all.
  stepsOf(rank?: number): readonly Step[] {
    const steps = this.tracks?.steps ?? [];
    return rank === undefined ? steps : stepsOfRank(steps, rank);
  }

  // ---- drawing ----

  redraw(): void {
    if (this.due === 0) this.due = requestAnimationFrame((now) => this.frame(now));
  }

  private frame(now: number): void {
    this.due = 0;
    if (this.held.size > 0) {
      const seconds = Math.min(0.1, Math.max(0, (now - this.last) / 1000));
      for (const key of this.held) this.move(key, seconds);
      this.last = now;
    }
    this.drawn = this.canvas && { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
    this.draw(now - this.zoomedAt < REST_MS);
    this.drawn = null;
    if (this.held.size > 0) this.redraw();
  }

  private size(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
    const ratio = devicePixelRatio, width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    return canvas.getContext("2d", { alpha: canvas === this.ruler });
  }

  private want(zooming: boolean): void {
    const { view } = this, level = this.level(), keys: TileKey[] = [];
    const [first, last] = Tiles.over(level, view.from, view.to), ranks = new Set<number>();
    for (const row of [...this.layout.pinned, ...rowsBetween(this.layout.rows, this.scroll, this.scroll + this.height)]) ranks.add(row.rank);
    const unknown = this.opened ? [...ranks].filter((rank) => !this.opened?.has(rank)) : [];
    for (const rank of unknown) ranks.delete(rank);
    if (unknown.length > 0) this.onRanks(unknown);
    const middle = (first + last) / 2;
    const indexes = Array.from({ length: last - first + 1 }, (_, i) => first + i).sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    for (const index of indexes) for (const rank of ranks) keys.push({ rank, level, index });
    // what is next to the picture is not wanted for a scale that is left in a moment
    if (!zooming) for (const index of [first - 1, last + 1]) for (const rank of ranks) keys.push({ rank, level, index });
    this.tiles.want(keys);
  }

  // What the picture shows, for whoever reads the document: programs, and tests.
  private tell(canvas: HTMLCanvasElement): void {
    const said: Record<string, string> = {
      from: String(Math.round(this.view.from)), to: String(Math.round(this.view.to)), waiting: String(this.tiles.waiting), unlabelled: String(this.unlabelled),
      arrows: String(this.flows.length), marks: String(this.marks.length), chosen: this.chosen?.id ?? "",
    };
    for (const name of Object.keys(said)) if (canvas.dataset[name] !== said[name]) canvas.dataset[name] = said[name];
  }

  private draw(zooming: boolean): void {
    const canvas = this.canvas, ruler = this.ruler;
    if (!canvas || !ruler || !this.tracks) return;
    const context = this.size(canvas), top = this.size(ruler);
    if (!context || !top) return;
    this.want(zooming);
    this.unlabelled = this.painter.paint(context, {
      tiles: this.tiles, palette: this.palette, kinds: this.tracks.kinds, view: this.view, width: this.width, height: this.height,
      ratio: devicePixelRatio, layout: this.layout, scroll: this.scroll, steps: this.tracks.steps, zooming,
    });
    context.save();
    context.scale(devicePixelRatio, devicePixelRatio);
    for (const row of rowsBetween(this.layout.rows, this.scroll, this.scroll + this.height)) {
      if (row.kind === "overlay") drawOverlay(context, this, row, this.overlays.get(row.key));
      if (row.kind === "rank" && !row.collapsed) drawSteps(context, this, row);
    }
    this.onPaint(context);
    drawSelection(context, this);
    drawArrows(context, this);
    drawMarks(context, this, this.height);
    context.restore();
    top.save();
    top.scale(devicePixelRatio, devicePixelRatio);
    drawRuler(top, this);
    top.restore();
    this.tell(canvas);
    this.onDrawn();
    for (const follow of this.followers) follow();
  }
}
