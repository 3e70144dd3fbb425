// SPDX-License-Identifier: Apache-2.0
// Parts of a whole by category: steps, ranks, streams. The total stands on each bar, parts where they fit.
import { textOn } from "../colors";
import { sans, textWidth, useWidth } from "../hooks";
import { Frame, type FrameProps, full, shown, tick, type Unit, useTip } from "./frame";
import { every, ticks } from "./scale";

export interface Part { name: string; color: string; values: (number | null)[] }

export interface StackedBarsProps extends FrameProps {
  categories: string[];
  series: Part[];
  unit: Unit;
  height?: number;
  totals?: boolean;                  // on each bar, on unless false
  onClick?: (category: number, part: number) => void;
}

const TOP = 22, BOTTOM = 22, MAX_BAR = 56;

const THIN = 3; // pixels: what is thinner cannot be told from what is beside it
const AXIS = 90;

// So many neighbours stand in one bar, with the mean of each part, as leave each bar room.
function together(props: StackedBarsProps, width: number): { k: number; categories: string[]; series: Part[] } {
  const { categories, series } = props;
  const k = Math.max(1, Math.ceil((categories.length * THIN) / 0.62 / Math.max(1, width - AXIS)));
  if (k === 1) return { k, categories, series };
  const firsts = categories.map((_, i) => i).filter((i) => i % k === 0);
  const mean = (values: (number | null)[]) => {
    const known = values.filter((value): value is number => value !== null);
    return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
  };
  return {
    k,
    categories: firsts.map((i) => `${categories[i]} … ${categories[Math.min(i + k, categories.length) - 1]}`),
    series: series.map((part) => ({ ...part, values: firsts.map((i) => mean(part.values.slice(i, i + k))) })),
  };
}

export function StackedBars(props: StackedBarsProps) {
  const { unit } = props;
  const [box, width] = useWidth<HTMLDivElement>(560);
  const { k, categories, series } = together(props, width);
  const { tip, show, hide } = useTip();
  const n = categories.length;
  const totals = categories.map((_, i) => series.reduce((sum, part) => sum + Math.max(0, part.values[i] ?? 0), 0));
  const top = Math.max(...totals, 0) || 1;
  const height = props.height ?? 208, inner = height - TOP - BOTTOM;
  const marks = ticks(top, 4, unit === "bytes" ? 1024 : 10);
  const left = Math.max(...marks.map(mark => textWidth(tick(mark, unit), sans(11)))) + 12;
  const right = n > 12 ? 28 : 4;
  const step = (width - left - right) / Math.max(1, n), bar = Math.max(1, Math.min(MAX_BAR, step * 0.62));
  const y = (value: number) => TOP + inner - value / top * inner;
  const widest = Math.max(...categories.map(name => textWidth(name, sans(11))), 12);
  const skip = every(n, width - left, widest + 10);
  const totalSkip = every(n, width - left, Math.max(...totals.map(total => textWidth(shown(total, unit), sans(11, 600)))) + 6);
  const used = series.filter(part => part.values.some(value => (value ?? 0) > 0));
  return (
    <Frame {...props} of={k > 1 ? `${props.of ?? ""}; each bar is the mean of ${k}` : props.of} legend={props.legend ?? used.map(({ name, color }) => ({ name, color }))}>
      <div ref={box} class="ht-plot">
        <svg viewBox={`0 0 ${width} ${height}`} width="100%" role="img" onMouseLeave={hide}
          aria-label={`${props.title}: ${categories.slice(0, 8).map((name, i) => `${name} ${shown(totals[i] ?? 0, unit)}`).join(", ")}`}>
          {marks.map(mark => <g key={mark}><line class="ht-grid" x1={left} x2={width} y1={y(mark)} y2={y(mark)} />
            <text class="ht-axis" x={left - 6} y={y(mark) + 4} text-anchor="end">{tick(mark, unit)}</text></g>)}
          {categories.map((name, i) => {
            const x = left + step * i + (step - bar) / 2;
            let below = 0;
            const lines = [...used].reverse().map(part => ({ color: part.color, name: part.name,
              value: full(part.values[i] ?? null, unit) }));
            return <g key={i} onMouseMove={e => show(e, name, [...lines, { name: "sum", value: full(totals[i] ?? 0, unit) }])}>
              <rect x={left + step * i} y={TOP} width={step} height={inner} fill="transparent" />
              {used.map((part, p) => {
                const value = Math.max(0, part.values[i] ?? 0), h = value / top * inner, at = y(below + value);
                below += value;
                const text = shown(value, unit);
                const fits = h > 14 && textWidth(text, sans(10.5)) < bar - 4;
                return value > 0 && <g key={p} onClick={props.onClick && (() => props.onClick?.(i * k, series.indexOf(part)))}
                  class={props.onClick ? "ht-click" : undefined}>
                  <rect x={x} y={at} width={bar} height={Math.max(h, 0.75)} fill={part.color} />
                  {fits && <text x={x + bar / 2} y={at + h / 2 + 4} text-anchor="middle" class="ht-inside"
                    style={{ fill: textOn(part.color) }}>{text}</text>}
                </g>;
              })}
              {props.totals !== false && i % totalSkip === 0 &&
                <text class="ht-total" x={x + bar / 2} y={y(below) - 5} text-anchor="middle">{shown(totals[i] ?? 0, unit)}</text>}
              {i % skip === 0 && <text class="ht-axis" x={x + bar / 2} y={height - 6} text-anchor="middle">{name}</text>}
            </g>;
          })}
        </svg>
      </div>
      {tip}
    </Frame>
  );
}
