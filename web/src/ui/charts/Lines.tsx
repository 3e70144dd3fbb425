// SPDX-License-Identifier: Apache-2.0
// Curves over time or over steps, by uPlot. Dragging chooses a range; the legend shows the values under the pointer.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { resolve } from "../colors";
import { sans, textWidth, useTheme, useWidth } from "../hooks";
import { Frame, type FrameProps, full, shown, tick, type Unit } from "./frame";

export interface Line { name: string; color: string; points: [number, number | null][]; stepped?: boolean; fill?: boolean; dashed?: boolean }

export interface PlaceMark { at: number; text: string; color: string }

export interface LinesProps extends FrameProps {
  series: Line[];
  xUnit: Unit;
  yUnit: Unit;
  xName?: string;
  height?: number;
  xLabels?: string[];                // what places 0, 1, ... are called
  marks?: PlaceMark[];               // places on the x axis, with a line and a word
  fit?: boolean;                     // the y axis holds the values, and need not begin at 0
  peaks?: boolean;                   // the highest point of each curve has its value
  onRange?: (from: number, to: number) => void;
}

// One list of places on the x axis; a curve has no value where it has no point, and is drawn through.
function align(series: Line[]): uPlot.AlignedData {
  const tables = series.map(line => {
    const sorted = [...line.points].sort((a, b) => a[0] - b[0]);
    return [sorted.map(point => point[0]), sorted.map(point => point[1])] as uPlot.AlignedData;
  });
  if (tables.length === 0) return [[]];
  return tables.length === 1 ? tables[0] as uPlot.AlignedData : uPlot.join(tables);
}

// Steps of an axis that counts.
const WHOLE = Array.from({ length: 48 }, (_, i) => [1, 2, 5][i % 3] as number * 10 ** Math.floor(i / 3));

function axisSize(_: uPlot, values: string[] | null): number {
  return Math.ceil(Math.max(24, ...(values ?? []).map(value => textWidth(value, sans(11))))) + 14;
}

// A ring around the highest point of each curve, and its value where no other one stands.
function drawPeaks(plot: uPlot, props: LinesProps): void {
  const { ctx } = plot, scale = devicePixelRatio || 1, placed: [number, number, number][] = [];
  ctx.save();
  ctx.font = sans(11 * scale, 600);
  ctx.textAlign = "left";
  for (const line of props.series) {
    const top = line.points.reduce((best, point) => ((point[1] ?? 0) > (best?.[1] ?? 0) ? point : best), line.points[0]);
    if (!top?.[1]) continue;
    const x = plot.valToPos(top[0], "x", true), y = plot.valToPos(top[1], "y", true), text = `peak ${shown(top[1], props.yUnit)}`;
    const width = textWidth(text, sans(11, 600)) * scale, left = Math.min(x + 6 * scale, plot.bbox.left + plot.bbox.width - width);
    ctx.strokeStyle = ctx.fillStyle = resolve(line.color);
    ctx.lineWidth = 2 * scale;
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.arc(x, y, 4 * scale, 0, 2 * Math.PI);
    ctx.stroke();
    if (placed.some(([a, b, h]) => left < b && left + width > a && Math.abs(h - y) < 14 * scale)) continue;
    placed.push([left, left + width, y]);
    ctx.fillText(text, left, y + 14 * scale);
  }
  ctx.restore();
}

// A line from top to bottom and its word, each a line lower than the one before.
function drawMarks(plot: uPlot, marks: readonly PlaceMark[]): void {
  const { ctx, bbox } = plot, scale = devicePixelRatio || 1;
  ctx.save();
  ctx.font = sans(11 * scale, 600);
  ctx.lineWidth = scale;
  marks.forEach((mark, i) => {
    const x = plot.valToPos(mark.at, "x", true), room = bbox.left + bbox.width - x;
    ctx.strokeStyle = ctx.fillStyle = resolve(mark.color);
    ctx.setLineDash([4 * scale, 3 * scale]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const right = ctx.measureText(mark.text).width + 8 * scale < room;
    ctx.textAlign = right ? "left" : "right";
    ctx.fillText(mark.text, x + (right ? 4 : -4) * scale, bbox.top + (12 + 13 * (i % 4)) * scale);
  });
  ctx.restore();
}

// A tenth of their spread around the values.
function fitted(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null || min === max) return [(min ?? 0) - 1, (max ?? 0) + 1];
  return [min - (max - min) / 10, max + (max - min) / 10];
}

function options(props: LinesProps, width: number, height: number): uPlot.Options {
  const dim = resolve("var(--dim)"), grid = { stroke: resolve("var(--grid)"), width: 1 }, font = sans(11);
  const bytes = props.yUnit === "bytes";
  const steps = Array.from({ length: 60 }, (_, i) => 2 ** i);
  const place = (value: number, otherwise: string) => props.xLabels ? props.xLabels[value] ?? "" : otherwise;
  return {
    width, height,
    padding: [10, 28, 0, 0],
    cursor: { drag: { x: true, y: false, setScale: !props.onRange }, points: { size: 5 } },
    legend: { live: true },
    scales: { x: { time: false }, y: { range: (_, min, max) => props.fit ? fitted(min, max) : [0, max > 0 ? max * 1.06 : 1] } },
    axes: [
      { stroke: dim, font, grid, ticks: { show: false }, size: 24, space: 90, ...(props.xUnit === "count" ? { incrs: WHOLE } : {}),
        values: (_, marks) => marks.map(mark => place(mark, tick(mark, props.xUnit))) },
      { stroke: dim, font, grid, ticks: { show: false }, size: axisSize, ...(bytes ? { incrs: steps } : props.yUnit === "count" ? { incrs: WHOLE } : {}),
        values: (_, marks) => marks.map(mark => tick(mark, props.yUnit)) },
    ],
    series: [
      { label: props.xName ?? "at", value: (_, value) => value === null ? "" : place(value, full(value, props.xUnit)) },
      ...props.series.map(line => {
        const color = resolve(line.color), paths = line.stepped ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
        return {
          label: line.name, stroke: color, width: 1.5, spanGaps: true,
          points: { show: line.points.length <= 40, size: 5, fill: color },
          ...(paths ? { paths } : {}), ...(line.fill ? { fill: color + "26" } : {}), ...(line.dashed ? { dash: [5, 4] } : {}),
          value: (_: uPlot, value: number | null) => value === null ? "" : full(value, props.yUnit),
        } as uPlot.Series;
      }),
    ],
    hooks: {
      draw: [plot => {
        if (props.peaks) drawPeaks(plot, props);
        if (props.marks) drawMarks(plot, props.marks);
      }],
      setSelect: [plot => {
        if (!props.onRange || plot.select.width < 3) return;
        props.onRange(plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x"));
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
    },
  };
}

export function Lines(props: LinesProps) {
  const [box, width] = useWidth<HTMLDivElement>(560);
  const place = useRef<HTMLDivElement>(null), theme = useTheme();
  const height = props.height ?? 208;
  useEffect(() => {
    if (!place.current) return;
    const plot = new uPlot(options(props, width, height), align(props.series), place.current);
    return () => plot.destroy();
  }, [props.series, width, height, theme]);
  return (
    <Frame {...props}>
      <div ref={box} class="ht-plot">
        <div ref={place} role="img" aria-label={`${props.title}: ${[...props.series.map(line => line.name), ...(props.marks ?? []).map(mark => mark.text)].join(", ")}`} />
      </div>
    </Frame>
  );
}
