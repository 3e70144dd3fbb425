// SPDX-License-Identifier: Apache-2.0
// Bands on top of each other over time or over events: each point holds until the next one. A click names a band and a
// point, dragging chooses a range; marks are moments with their words.
import { useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../hooks";
import { Frame, type FrameProps, full, tick, type Unit, useTip } from "./frame";

export interface Band { name: string; color: string; values: number[] }
export interface Moment { at: number; name: string }

export interface AreasProps extends FrameProps {
  xs: number[];                      // ascending, one per point
  end: number;                       // where the last point ends
  bands: Band[];                     // the lowest first
  above?: { name: string; values: number[] }; // a line over the bands
  moments?: Moment[];
  xUnit: Unit;
  yUnit: Unit;
  height?: number;
  onPick?: (band: number, point: number) => void;
  onRange?: (from: number, to: number) => void;
}

const LEFT = 76, RIGHT = 12, TOP = 20, BOTTOM = 24, MIN_DRAG = 4;

// Sums from the lowest band up: edges[b][i] is where band b begins at point i, and the last where all end.
function edgesOf(bands: Band[], n: number): Float64Array[] {
  const edges = [new Float64Array(n)];
  for (const band of bands) {
    const below = edges[edges.length - 1] as Float64Array;
    edges.push(below.map((value, i) => value + (band.values[i] ?? 0)));
  }
  return edges;
}

// A stepped line through the points, and its way back for an area.
function steps(xs: number[], ys: number[], end: number, back: boolean): string {
  const parts: string[] = [];
  for (let i = 0; i < xs.length; i++) {
    const from = xs[i] as number, to = xs[i + 1] ?? end, y = (ys[i] as number).toFixed(1);
    parts.push(back ? `${to.toFixed(1)},${y} ${from.toFixed(1)},${y}` : `${from.toFixed(1)},${y} ${to.toFixed(1)},${y}`);
  }
  return (back ? parts.reverse() : parts).join(" ");
}

// Round numbers of a range, powers of two for bytes.
function ticks(most: number, unit: Unit): number[] {
  if (!(most > 0)) return [0];
  const base = unit === "bytes" ? 2 : 10, rough = most / 5;
  const power = base ** Math.floor(Math.log(rough) / Math.log(base));
  const step = unit === "bytes" ? power * (rough > power ? 2 : 1) : power * ([1, 2, 5, 10].find(factor => power * factor >= rough) ?? 10);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

export function Areas(props: AreasProps) {
  const { xs, bands, xUnit, yUnit } = props, height = props.height ?? 280;
  const [box, width] = useWidth<HTMLDivElement>(640);
  const { tip, show, hide } = useTip();
  const picture = useRef<SVGSVGElement>(null), dragged = useRef<number | null>(null);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const edges = useMemo(() => edgesOf(bands, xs.length), [bands, xs]);
  const first = xs[0] ?? 0, span = Math.max(props.end - first, 1);
  const held = useMemo(() => (edges[edges.length - 1] ?? new Float64Array()).reduce((a, b) => Math.max(a, b), 0), [edges]);
  const most = (props.above?.values ?? []).reduce((a, b) => Math.max(a, b), held);
  const x = (value: number) => LEFT + (value - first) / span * (width - LEFT - RIGHT);
  const y = (value: number) => TOP + (1 - value / Math.max(most, 1)) * (height - TOP - BOTTOM);
  const drawn = useMemo(() => {
    const places = xs.map(x), right = x(props.end);
    const line = (values: ArrayLike<number>, back: boolean) => steps(places, Array.from(values, y), right, back);
    return { areas: bands.map((_, b) => `${line(edges[b + 1] as Float64Array, false)} ${line(edges[b] as Float64Array, true)}`),
      above: props.above ? line(props.above.values, false) : "" };
  }, [edges, bands, xs, props.end, props.above, width, height, most]);
  const place = (e: MouseEvent): { value: number; point: number; band: number } | null => {
    const area = picture.current?.getBoundingClientRect();
    if (!area || xs.length === 0) return null;
    const scale = width / area.width, value = first + ((e.clientX - area.left) * scale - LEFT) / (width - LEFT - RIGHT) * span;
    let point = 0, after = xs.length;
    while (after - point > 1) {
      const middle = (point + after) >> 1;
      if ((xs[middle] as number) <= value) point = middle;
      else after = middle;
    }
    const bytes = (1 - ((e.clientY - area.top) * scale - TOP) / (height - TOP - BOTTOM)) * most;
    return { value: Math.min(Math.max(value, first), props.end), point, band: bands.findIndex((_, b) => bytes >= (edges[b]?.[point] ?? 0) && bytes < (edges[b + 1]?.[point] ?? 0)) };
  };
  const tell = (e: MouseEvent) => {
    const here = place(e);
    if (!here) return hide();
    if (dragged.current !== null) setDrag([dragged.current, here.value]);
    const band = bands[here.band], total = edges[edges.length - 1]?.[here.point] ?? 0;
    show(e, band?.name ?? full(xs[here.point] ?? 0, xUnit), [
      ...(band ? [{ color: band.color, name: "holds", value: full(band.values[here.point] ?? 0, yUnit) }] : []),
      { name: "all", value: full(total, yUnit) },
      ...(props.above ? [{ name: props.above.name, value: full(props.above.values[here.point] ?? 0, yUnit) }] : []),
      { name: "at", value: full(xs[here.point] ?? 0, xUnit) }]);
  };
  const release = (e: MouseEvent) => {
    const here = place(e), from = dragged.current;
    dragged.current = null;
    setDrag(null);
    if (!here || from === null) return;
    if (props.onRange && Math.abs(x(here.value) - x(from)) > MIN_DRAG) props.onRange(Math.min(from, here.value), Math.max(from, here.value));
    else if (here.band >= 0) props.onPick?.(here.band, here.point);
  };
  return (
    <Frame {...props} legend={props.legend ?? [...bands].reverse().map(({ name, color }) => ({ name, color }))}>
      <div ref={box} class="ht-plot">
        <svg ref={picture} viewBox={`0 0 ${width} ${height}`} width="100%" role="img" class={props.onPick ? "ht-click" : undefined}
          aria-label={`${props.title}: at most ${full(held, yUnit)}; ${bands.map(band => band.name.slice(0, 60)).join(", ")}`}
          onMouseMove={tell} onMouseLeave={() => { hide(); dragged.current = null; setDrag(null); }}
          onMouseDown={e => { dragged.current = place(e)?.value ?? null; }} onMouseUp={release}>
          {ticks(most, yUnit).map(value => <g key={value}>
            <line class="ht-grid" x1={LEFT} x2={width - RIGHT} y1={y(value)} y2={y(value)} />
            <text class="ht-axis" x={LEFT - 6} y={y(value) + 4} text-anchor="end">{tick(value, yUnit)}</text></g>)}
          {ticks(span, xUnit).slice(0, Math.max(2, Math.floor(width / 110))).map(value =>
            <text key={value} class="ht-axis" x={x(first + value)} y={height - 8} text-anchor="middle">{tick(first + value, xUnit)}</text>)}
          {drawn.areas.map((points, b) => <polygon key={b} points={points} fill={bands[b]?.color} data-band={bands[b]?.name} />)}
          {drawn.above && <polyline class="ht-above" points={drawn.above} />}
          {(props.moments ?? []).filter(one => one.at >= first && one.at <= props.end).map(one => <g key={one.name}>
            <line class="ht-moment" x1={x(one.at)} x2={x(one.at)} y1={TOP} y2={height - BOTTOM} />
            <text x={x(one.at)} y={TOP - 6} text-anchor={x(one.at) > width - 120 ? "end" : x(one.at) < LEFT + 80 ? "start" : "middle"}>{one.name}</text></g>)}
          {drag && <rect class="ht-drag" x={Math.min(x(drag[0]), x(drag[1]))} width={Math.abs(x(drag[1]) - x(drag[0]))} y={TOP} height={height - TOP - BOTTOM} />}
        </svg>
      </div>
      {tip}
    </Frame>
  );
}
