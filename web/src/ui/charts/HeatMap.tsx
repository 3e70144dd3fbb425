// SPDX-License-Identifier: Apache-2.0
// Rows by columns of one unit: ranks by steps. Dark is much, and the scale begins at zero. Few cells have their number; many are a picture with
// a tip under the pointer.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { resolve } from "../colors";
import { sans, textWidth, useTheme, useWidth } from "../hooks";
import { Frame, type FrameProps, full, type Unit, shown, useTip } from "./frame";
import { binCells } from "./bins";
import { mix, rgb, type Rgb } from "./heat";
import { every, inside } from "./scale";

export interface HeatMapProps extends FrameProps {
  rows: string[];
  columns: string[];
  values: (number | null)[][];       // by row, then column
  unit: Unit;
  faint?: (number | null)[][];       // up to here a value cannot be told from nothing: drawn paler, and said
  maxHeight?: number;                // rows become thinner, down to a pixel
  most?: number;                     // the scale reaches so far at least
  onClick?: (row: number, column: number) => void;
}

const THIN = 3; // pixels of a column that can be told from the next one

function luminance(color: Rgb): number {
  const [r, g, b] = color.map(c => c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function HeatMap(props: HeatMapProps) {
  const { rows, columns, values, unit } = props;
  const [box, width] = useWidth<HTMLDivElement>(560);
  const { tip, show, hide } = useTip();
  const canvas = useRef<HTMLCanvasElement>(null), theme = useTheme();
  const all = values.flat().filter((value): value is number => value !== null);
  const least = Math.min(0, ...extent(all, Math.min)), most = Math.max(...extent(all, Math.max), props.most ?? 0);
  const unsure = Math.max(...extent((props.faint ?? []).flat().map(value => value ?? 0), Math.max));
  const left = Math.min(120, Math.max(...rows.slice(0, 400).map(name => textWidth(name, sans(11)))) + 10);
  const bins = useMemo(() => binCells(columns, values, Math.max(1, width - left), THIN), [columns, values, width, left]);
  const cell = (width - left) / Math.max(1, bins.first.length);
  const high = Math.max(1, Math.min(28, Math.floor((props.maxHeight ?? 560) / Math.max(1, rows.length))));
  const height = 20 + rows.length * high + 2;
  useEffect(() => {
    if (canvas.current) draw(canvas.current, { rows, columns: bins.first, values: bins.values, at: bins.at, unit, left, cell, high, width, height, least, most, faint: props.faint });
  }, [rows, bins, left, cell, high, width, height, theme]);
  const at = (e: MouseEvent): [number, number] | null => {
    const area = canvas.current?.getBoundingClientRect();
    if (!area) return null;
    const column = Math.floor((e.clientX - area.left - left) / cell), row = Math.floor((e.clientY - area.top - 20) / high);
    return column >= 0 && column < bins.first.length && row >= 0 && row < rows.length ? [row, column] : null;
  };
  return (
    <Frame {...props} of={bins.k > 1 ? `${props.of ?? ""}; each column is the most of ${bins.k}` : props.of}>
      <div ref={box} class="ht-plot">
        <canvas ref={canvas} style={{ width: "100%", display: "block" }} role="img" class={props.onClick ? "ht-click" : undefined}
          aria-label={`${props.title}: ${rows.length} by ${columns.length}, from ${shown(least, unit)} to ${shown(most, unit)}`}
          onMouseMove={e => {
            const place = at(e);
            if (!place) return hide();
            const [row, column] = place;
            const most = bins.k > 1 ? `most, ${columns[bins.at[row]?.[column] ?? 0]}` : null;
            show(e, `${rows[row]} · ${bins.names[column]}`, [{ name: most ?? props.of ?? "value", value: full(bins.values[row]?.[column] ?? null, unit) }]);
          }} onMouseLeave={hide} onClick={e => { const place = at(e); if (place) props.onClick?.(place[0], bins.at[place[0]]?.[place[1]] ?? 0); }} />
        <div class="ht-heat-key"><span>{shown(least, unit)}</span><i /><span>{shown(most, unit)}</span>
          {unsure > 0 ? <span>pale: within the clock uncertainty of two ranks, at most ±{shown(unsure, unit)}</span> : null}</div>
      </div>
      {tip}
    </Frame>
  );
}

// Of many values, without spreading them all over the stack.
function extent(values: number[], pick: (a: number, b: number) => number): number[] {
  return values.length === 0 ? [0] : [values.reduce((a, b) => pick(a, b))];
}

interface Drawing {
  rows: string[]; columns: string[]; values: (number | null)[][]; at: number[][]; unit: Unit;
  left: number; cell: number; high: number; width: number; height: number; least: number; most: number; faint: HeatMapProps["faint"];
}

const FAINT = 0.25;

function draw(canvas: HTMLCanvasElement, d: Drawing): void {
  const density = devicePixelRatio || 1, ctx = canvas.getContext("2d");
  canvas.width = Math.round(d.width * density);
  canvas.height = Math.round(d.height * density);
  if (!ctx) return;
  ctx.scale(density, density);
  const low = rgb("var(--heat-low)"), top = rgb("var(--heat-high)"), dim = resolve("var(--dim)");
  const gap = d.cell > 6 ? 2 : 0, gapY = d.high > 6 ? 2 : 0, span = d.most - d.least || 1;
  ctx.font = sans(11);
  ctx.fillStyle = dim;
  ctx.textAlign = "center";
  const skip = every(d.columns.length, d.width - d.left, Math.max(...d.columns.slice(0, 500).map(name => textWidth(name, sans(11)))) + 8);
  d.columns.forEach((name, i) => { if (i % skip === 0) ctx.fillText(name, inside(d.left + d.cell * (i + 0.5), 0, d.width, textWidth(name, sans(11))), 13); });
  ctx.textAlign = "right";
  const skipRows = every(d.rows.length, d.rows.length * d.high, 14);
  d.rows.forEach((name, i) => { if (i % skipRows === 0) ctx.fillText(name, d.left - 8, 20 + d.high * (i + 0.5) + 4, d.left - 10); });
  ctx.textAlign = "center";
  d.values.forEach((row, r) => row.forEach((value, c) => {
    if (value === null) return;
    const color = mix(low, top, (value <= (d.faint?.[r]?.[d.at[r]?.[c] ?? c] ?? 0) ? FAINT : 1) * (value - d.least) / span);
    ctx.fillStyle = `rgb(${color.join(" ")})`;
    ctx.fillRect(d.left + d.cell * c, 20 + d.high * r, Math.max(0.5, d.cell - gap), d.high - gapY);
    const text = shown(value, d.unit);
    if (d.high < 16 || textWidth(text, sans(11)) > d.cell - 6) return;
    ctx.fillStyle = luminance(color) > 0.2 ? "#14100a" : "#ffffff";
    ctx.fillText(text, d.left + d.cell * (c + 0.5) - gap / 2, 20 + d.high * (r + 0.5) + 3);
  }));
}
