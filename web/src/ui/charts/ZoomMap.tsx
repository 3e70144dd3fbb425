// SPDX-License-Identifier: Apache-2.0
// A map of many rows by many columns, drawn pixel by pixel: dark is much, from zero. Where several cells share a pixel the largest counts, so that nothing
// that stands out is lost. Dragging a rectangle, ctrl and the wheel, or + and - go closer; a double click or 0 shows all.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { resolve } from "../colors";
import { sans, textWidth, useTheme, useWidth } from "../hooks";
import { Frame, type FrameProps, full, shown, type Unit, useTip } from "./frame";
import { mix, rgb } from "./heat";
import { every, inside } from "./scale";

export interface Grid {
  rows: string[];
  columns: string[];
  values: Float64Array;     // by row, then column; NaN: unknown
  faint: Uint8Array | null; // 1: cannot be told from nothing, drawn paler
}

export interface Window { r0: number; r1: number; c0: number; c1: number }

export interface ZoomMapProps extends FrameProps {
  grid: Grid;
  unit: Unit;
  marked?: readonly number[];  // rows with a frame around them
  unsure?: string;             // what paler means
  height?: number;
  onOpen?: (row: number, column: number) => void;
}

const TOP = 18, THIN = 3, LEVELS = 256, FAINT = 0.25, MIN_DRAG = 5, FONT = 11;

export function wholeOf(grid: Grid): Window {
  return { r0: 0, r1: grid.rows.length, c0: 0, c1: grid.columns.length };
}

// Around a place that stays where it is, not beyond the map, and no closer than a cell.
export function zoomed(now: Window, factor: number, row: number, column: number, grid: Grid): Window {
  const span = (from: number, to: number, at: number, n: number): [number, number] => {
    const size = Math.min(n, Math.max(Math.min(1, n), (to - from) * factor)), share = (at - from) / Math.max(1e-9, to - from);
    const begin = Math.min(n - size, Math.max(0, at - share * size));
    return [begin, begin + size];
  };
  const [r0, r1] = span(now.r0, now.r1, row, grid.rows.length), [c0, c1] = span(now.c0, now.c1, column, grid.columns.length);
  return { r0, r1, c0, c1 };
}

// For each pixel the cells [from, to) that it stands for: one where they are larger than pixels.
function pixels(from: number, to: number, n: number, size: number): Int32Array {
  const out = new Int32Array(2 * n);
  for (let i = 0; i < n; i++) {
    const begin = Math.floor(from + (to - from) * i / n), end = Math.ceil(from + (to - from) * (i + 1) / n - 1e-9);
    out[2 * i] = Math.min(size - 1, begin);
    out[2 * i + 1] = Math.min(size, Math.max(begin + 1, to - from <= n ? begin + 1 : end));
  }
  return out;
}

// The largest of the cells of rows and columns, as a place in the palette; -1: unknown.
function levelOf(grid: Grid, r0: number, r1: number, c0: number, c1: number, most: number): number {
  const n = grid.columns.length;
  let best = -1, pale = 0;
  for (let r = r0; r < r1; r++)
    for (let c = c0; c < c1; c++) {
      const value = grid.values[r * n + c] as number;
      if (value > best) {
        best = value;
        pale = grid.faint?.[r * n + c] ?? 0;
      }
    }
  return best < 0 ? -1 : Math.round((pale ? FAINT : 1) * Math.min(1, best / (most || 1)) * (LEVELS - 1));
}

// The pixels of a window, line by line: cells that are wider or higher than a pixel are filled at once. What is unknown stays 0.
export function shade(grid: Grid, view: Window, width: number, height: number, most: number, colors: Uint32Array, out: Uint32Array): void {
  const xs = pixels(view.c0, view.c1, width, grid.columns.length), ys = pixels(view.r0, view.r1, height, grid.rows.length);
  for (let y = 0; y < height; y++) {
    const r0 = ys[2 * y] as number, r1 = ys[2 * y + 1] as number, line = y * width;
    if (y > 0 && ys[2 * y - 2] === r0 && ys[2 * y - 1] === r1) {
      out.copyWithin(line, line - width, line);
      continue;
    }
    for (let x = 0; x < width;) {
      const c0 = xs[2 * x] as number, c1 = xs[2 * x + 1] as number;
      let end = x + 1;
      while (end < width && xs[2 * end] === c0 && xs[2 * end + 1] === c1) end++;
      const level = levelOf(grid, r0, r1, c0, c1, most);
      out.fill(level < 0 ? 0 : (colors[level] as number), line + x, line + end);
      x = end;
    }
  }
}

function palette(): Uint32Array {
  const low = rgb("var(--heat-low)"), high = rgb("var(--heat-high)");
  return Uint32Array.from({ length: LEVELS }, (_, i) => {
    const [r, g, b] = mix(low, high, i / (LEVELS - 1));
    return (255 << 24) | (b << 16) | (g << 8) | r;
  });
}

interface Drawing { grid: Grid; view: Window; left: number; width: number; height: number; most: number; colors: Uint32Array; marked: readonly number[]; room: { image: ImageData | null } }

function drawLabels(ctx: CanvasRenderingContext2D, d: Drawing): void {
  const { grid, view } = d, dim = resolve("var(--dim)"), bad = resolve("var(--bad)"), room = d.width - d.left;
  const high = d.height / (view.r1 - view.r0), wide = room / (view.c1 - view.c0);
  ctx.font = sans(FONT);
  ctx.textAlign = "center";
  ctx.fillStyle = dim;
  const names = grid.columns.slice(Math.floor(view.c0), Math.ceil(view.c1));
  const skip = every(names.length, room, Math.max(...names.slice(0, 400).map((name) => textWidth(name, sans(FONT)))) + 10);
  for (let c = Math.ceil(Math.floor(view.c0) / skip) * skip; c < view.c1; c += skip) {
    const name = grid.columns[c] as string, x = d.left + (c + 0.5 - view.c0) * wide;
    if (x >= d.left) ctx.fillText(name, inside(x, 0, d.width, textWidth(name, sans(FONT))), 12);
  }
  ctx.textAlign = "right";
  let free = -Infinity;
  const step = every(Math.ceil(view.r1 - view.r0), d.height, 15);
  const label = (row: number, color: string, weight: number) => {
    const y = TOP + (row + 0.5 - view.r0) * high + 4;
    ctx.font = sans(FONT, weight);
    ctx.fillStyle = color;
    ctx.fillText(grid.rows[row] as string, d.left - 6, Math.max(TOP + 9, Math.min(TOP + d.height, y)), d.left - 8);
    return y;
  };
  const marked = d.marked.filter((row) => row >= Math.floor(view.r0) && row < view.r1).slice(0, 40);
  const taken: number[] = [];
  for (const row of marked) if (!taken.some((y) => Math.abs(y - (TOP + (row + 0.5 - view.r0) * high + 4)) < 13)) taken.push(label(row, bad, 650));
  for (let row = Math.ceil(Math.floor(view.r0) / step) * step; row < view.r1; row += step) {
    const y = TOP + (row + 0.5 - view.r0) * high + 4;
    if (y < free || marked.includes(row) || taken.some((other) => Math.abs(other - y) < 13)) continue;
    free = label(row, dim, 400) + 13;
  }
}

function draw(canvas: HTMLCanvasElement, d: Drawing): void {
  const density = devicePixelRatio || 1, ctx = canvas.getContext("2d"), { view } = d;
  const width = Math.round(d.width * density), height = Math.round((d.height + TOP + 2) * density);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  if (!ctx || d.grid.rows.length === 0 || d.grid.columns.length === 0) return;
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.clearRect(0, 0, width, height);
  const w = Math.max(1, Math.round((d.width - d.left) * density)), h = Math.max(1, Math.round(d.height * density));
  if (!d.room.image || d.room.image.width !== w || d.room.image.height !== h) d.room.image = new ImageData(w, h);
  shade(d.grid, view, w, h, d.most, d.colors, new Uint32Array(d.room.image.data.buffer));
  ctx.putImageData(d.room.image, Math.round(d.left * density), Math.round(TOP * density));
  ctx.scale(density, density);
  const high = d.height / (view.r1 - view.r0), wide = (d.width - d.left) / (view.c1 - view.c0);
  ctx.fillStyle = resolve("var(--bg)");
  if (high > 6) for (let r = Math.ceil(view.r0); r < view.r1; r++) ctx.fillRect(d.left, TOP + (r - view.r0) * high - 1, d.width - d.left, 1);
  if (wide > 6) for (let c = Math.ceil(view.c0); c < view.c1; c++) ctx.fillRect(d.left + (c - view.c0) * wide - 1, TOP, 1, d.height);
  ctx.strokeStyle = resolve("var(--bad)");
  ctx.lineWidth = 1.25;
  for (const row of d.marked.slice(0, 40))
    if (row + 1 > view.r0 && row < view.r1) ctx.strokeRect(d.left + 0.5, TOP + (row - view.r0) * high - 1, d.width - d.left - 1, Math.max(3, high + 1));
  drawLabels(ctx, d);
}

export function ZoomMap(props: ZoomMapProps) {
  const { grid, unit } = props, [box, width] = useWidth<HTMLDivElement>(560), theme = useTheme();
  const { tip, show, hide } = useTip();
  const canvas = useRef<HTMLCanvasElement>(null), view = useRef<Window>(wholeOf(grid)), due = useRef(0), room = useRef<{ image: ImageData | null }>({ image: null });
  const [drag, setDrag] = useState<{ x: number; y: number; w: number; h: number } | null>(null);
  const [close, setClose] = useState(false);
  const start = useRef<{ x: number; y: number } | null>(null);
  const most = useMemo(() => grid.values.reduce((a, b) => (b > a ? b : a), 0), [grid]);
  const colors = useMemo(palette, [theme]);
  const left = useMemo(() => Math.min(110, Math.max(24, ...grid.rows.slice(0, 400).map((name) => textWidth(name, sans(FONT, 650)))) + 10), [grid]);
  const height = Math.max(60, Math.min(props.height ?? 400, grid.rows.length * 22));
  const paint = () => {
    due.current = 0;
    if (canvas.current) draw(canvas.current, { grid, view: view.current, left, width, height, most, colors, marked: props.marked ?? [], room: room.current });
  };
  const latest = useRef(paint);
  latest.current = paint;
  const redraw = () => { if (due.current === 0) due.current = requestAnimationFrame(() => latest.current()); };
  const look = (next: Window) => {
    view.current = next;
    setClose(next.r1 - next.r0 < grid.rows.length - 1e-6 || next.c1 - next.c0 < grid.columns.length - 1e-6);
    if (canvas.current) canvas.current.dataset.window = [next.r0, next.r1, next.c0, next.c1].map((one) => one.toFixed(1)).join(" ");
    redraw();
  };
  useEffect(() => look(wholeOf(grid)), [grid]);
  useEffect(paint, [grid, width, height, colors, props.marked]);
  useEffect(() => () => cancelAnimationFrame(due.current), []);
  const place = (e: { clientX: number; clientY: number }): { row: number; column: number; x: number; y: number } | null => {
    const area = canvas.current?.getBoundingClientRect(), now = view.current;
    if (!area) return null;
    const x = e.clientX - area.left, y = e.clientY - area.top;
    const row = now.r0 + (y - TOP) / height * (now.r1 - now.r0), column = now.c0 + (x - left) / (width - left) * (now.c1 - now.c0);
    return x >= left && x <= width && y >= TOP && y <= TOP + height ? { row, column, x, y } : null;
  };
  // the page scrolls with the wheel unless it is meant for the map
  useEffect(() => {
    const target = canvas.current;
    const wheel = (e: WheelEvent) => {
      const at = place(e);
      if (!at || !(e.ctrlKey || e.metaKey)) return;
      e.preventDefault();
      look(zoomed(view.current, Math.exp(Math.max(-240, Math.min(240, e.deltaY)) / 300), at.row, at.column, grid));
    };
    target?.addEventListener("wheel", wheel, { passive: false });
    return () => target?.removeEventListener("wheel", wheel);
  }, [grid, width, height, left]);
  const cellAt = (at: { row: number; column: number }): [number, number] =>
    [Math.min(grid.rows.length - 1, Math.floor(at.row)), Math.min(grid.columns.length - 1, Math.floor(at.column))];
  const move = (e: MouseEvent) => {
    const at = place(e);
    if (start.current && at) {
      hide();
      setDrag({ x: Math.min(at.x, start.current.x), y: Math.min(at.y, start.current.y), w: Math.abs(at.x - start.current.x), h: Math.abs(at.y - start.current.y) });
      return;
    }
    if (!at) return hide();
    const [row, column] = cellAt(at), value = grid.values[row * grid.columns.length + column] as number;
    const pale = grid.faint?.[row * grid.columns.length + column] ? props.unsure : undefined;
    show(e, `${grid.rows[row]} · ${grid.columns[column]}`, [{ name: pale ?? props.title, value: full(Number.isNaN(value) ? null : value, unit) }]);
  };
  const release = (e: MouseEvent) => {
    const from = start.current, at = place(e), now = view.current, chosen = drag;
    start.current = null;
    setDrag(null);
    if (!from || !at) return;
    if (!chosen || (chosen.w < MIN_DRAG && chosen.h < MIN_DRAG)) {
      props.onOpen?.(...cellAt(at));
      return;
    }
    const row = (y: number) => now.r0 + (y - TOP) / height * (now.r1 - now.r0), column = (x: number) => now.c0 + (x - left) / (width - left) * (now.c1 - now.c0);
    // a line across chooses columns alone, one down rows alone
    const rows = chosen.h < THIN * 3 ? [now.r0, now.r1] as const : [Math.floor(row(chosen.y)), Math.ceil(row(chosen.y + chosen.h))] as const;
    const columns = chosen.w < THIN * 3 ? [now.c0, now.c1] as const : [Math.floor(column(chosen.x)), Math.ceil(column(chosen.x + chosen.w))] as const;
    look({ r0: rows[0], r1: rows[1], c0: columns[0], c1: columns[1] });
  };
  const press = (e: KeyboardEvent) => {
    const now = view.current, row = (now.r0 + now.r1) / 2, column = (now.c0 + now.c1) / 2;
    const size = now.r1 - now.r0, wide = now.c1 - now.c0, step: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const by = step[e.key];
    if (e.key === "+" || e.key === "=") look(zoomed(now, 0.7, row, column, grid));
    else if (e.key === "-") look(zoomed(now, 1 / 0.7, row, column, grid));
    else if (e.key === "0") look(wholeOf(grid));
    else if (by) {
      const r0 = Math.max(0, Math.min(grid.rows.length - size, now.r0 + by[0] * size / 4)), c0 = Math.max(0, Math.min(grid.columns.length - wide, now.c0 + by[1] * wide / 4));
      look({ r0, r1: r0 + size, c0, c1: c0 + wide });
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <Frame {...props} actions={<>{props.actions}{close ? <button type="button" class="pill" onClick={() => look(wholeOf(grid))}>show all</button> : null}</>}>
      <div ref={box} class="ht-plot ht-zoom">
        <canvas ref={canvas} tabIndex={0} role="img" class="ht-click" style={{ width: "100%", height: `${height + TOP + 2}px`, display: "block" }}
          aria-label={`${props.title}: ${grid.rows.length} by ${grid.columns.length}, from 0 to ${shown(most, unit)}. Plus and minus zoom, arrows move, 0 shows all.`}
          onMouseDown={(e) => { const at = place(e); start.current = at && e.button === 0 ? { x: at.x, y: at.y } : null; }} onMouseMove={move} onMouseUp={release}
          onDblClick={() => look(wholeOf(grid))} onMouseLeave={() => { hide(); start.current = null; setDrag(null); }} onKeyDown={press} />
        {drag ? <i class="ht-zoom-drag" style={{ left: `${drag.x}px`, top: `${drag.y}px`, width: `${drag.w}px`, height: `${drag.h}px` }} /> : null}
        <div class="ht-heat-key"><span>0</span><i /><span>{shown(most, unit)}</span>{props.unsure ? <span>pale: {props.unsure}</span> : null}</div>
      </div>
      {tip}
    </Frame>
  );
}
