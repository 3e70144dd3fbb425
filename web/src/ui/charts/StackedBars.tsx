// SPDX-License-Identifier: Apache-2.0
// Parts of a whole by category: steps, ranks, streams. The total stands on each bar, parts where they fit. Of very many, neighbours stand in
// one bar with the mean of each part, a line from the least to the most of them, the median on it, and the one that takes most has its name.
import { useMemo } from "preact/hooks";
import { shortNames } from "../brief";
import { textOn } from "../colors";
import { sans, textWidth, useWidth } from "../hooks";
import { Frame, type FrameProps, full, shown, tick, type Unit, useTip } from "./frame";
import { binBars, type Part } from "./bins";
import { apart, every, inside, ticks } from "./scale";

export type { Part } from "./bins";

export interface StackedBarsProps extends FrameProps {
  categories: string[];
  series: Part[];
  unit: Unit;
  height?: number;
  totals?: boolean;                  // on each bar, on unless false
  most?: number;                     // the scale reaches so far at least: charts side by side have the same
  onClick?: (category: number, part: number) => void;
}

const TOP = 22, BOTTOM = 22, MAX_BAR = 56;

const LETTER = 6.5; // pixels of one in a label
const THIN = 5, BIN = 8; // pixels of a bar with its gap, and of what stands for several
const AXIS = 90;

export function StackedBars(props: StackedBarsProps) {
  const { unit } = props;
  const [box, width] = useWidth<HTMLDivElement>(560);
  const { k, first, names, series, spreads } = useMemo(() => binBars(props.categories, props.series, Math.max(1, width - AXIS), THIN, BIN),
    [props.categories, props.series, width]);
  const { tip, show, hide } = useTip();
  const n = names.length;
  const totals = names.map((_, i) => series.reduce((sum, part) => sum + Math.max(0, part.values[i] ?? 0), 0));
  const top = Math.max(...totals, ...(spreads ?? []).map(one => one.most), props.most ?? 0) || 1;
  const height = props.height ?? 208, inner = height - TOP - BOTTOM;
  const marks = ticks(top, 4, unit === "bytes" ? 1024 : 10);
  const left = Math.max(...marks.map(mark => textWidth(tick(mark, unit), sans(11)))) + 12;
  const right = n > 12 ? 28 : 4;
  const step = (width - left - right) / Math.max(1, n), bar = spreads ? step : Math.max(1, Math.min(MAX_BAR, step * 0.62));
  const y = (value: number) => TOP + inner - value / top * inner;
  const labels = shortNames(first, Math.max(8, Math.floor((width - left - right) / Math.min(n, 2) / LETTER)));
  const widest = Math.max(...first.map(name => textWidth(labels.get(name) ?? "", sans(11))), 12);
  const placed = (texts: string[], font: string, from: number) => texts.map((text, i) => {
    const size = textWidth(text, font);
    return { at: inside(left + step * (i + 0.5), from, width, size), size };
  });
  const skip = every(n, width - left, widest + 10), below = placed(first.map(name => labels.get(name) ?? ""), sans(11), 0);
  const sums = placed(totals.map(total => shown(total, unit)), sans(11.5, 600), left);
  const named = apart(below, skip), summed = apart(sums, every(n, width - left, Math.max(...sums.map(one => one.size), 0) + 6));
  const used = series.filter(part => part.values.some(value => (value ?? 0) > 0));
  const sumsOf = (i: number) => {
    const one = spreads?.[i];
    return !one ? [{ name: "sum", value: full(totals[i] ?? 0, unit) }] : [{ name: "mean", value: full(totals[i] ?? 0, unit) },
      { name: "least", value: full(one.least, unit) }, { name: "median", value: full(one.median, unit) },
      { name: `most, ${props.categories[one.at] ?? ""}`, value: full(one.most, unit) }];
  };
  const whisker = (i: number) => {
    const one = spreads?.[i], middle = left + step * (i + 0.5);
    return one ? `M${middle} ${y(one.least)}V${y(one.most)}M${middle - 2} ${y(one.median)}h4` : "";
  };
  const highest = (spreads ?? []).reduce((best, one, i, all) => (one.most > (all[best]?.most ?? 0) ? i : best), 0);
  const peak = spreads?.[highest]?.alone ? `${props.categories[spreads[highest]?.at ?? 0] ?? ""}: ${shown(top, unit)}` : `at most ${shown(top, unit)}`;
  return (
    <Frame {...props} of={k > 1 ? `${props.of ?? ""}; each bar is the mean of ${k}, the line least to most, its mark the median` : props.of} legend={props.legend ?? used.map(({ name, color }) => ({ name, color }))}>
      <div ref={box} class="ht-plot">
        <svg viewBox={`0 0 ${width} ${height}`} width="100%" role="img" onMouseLeave={hide}
          aria-label={`${props.title}: ${names.slice(0, 8).map((name, i) => `${name} ${shown(totals[i] ?? 0, unit)}`).join(", ")}`}>
          {marks.map(mark => <g key={mark}><line class="ht-grid" x1={left} x2={width} y1={y(mark)} y2={y(mark)} />
            <text class="ht-axis" x={left - 6} y={y(mark) + 4} text-anchor="end">{tick(mark, unit)}</text></g>)}
          {names.map((name, i) => {
            const x = left + step * i + (step - bar) / 2;
            let under = 0;
            const lines = [...used].reverse().map(part => ({ color: part.color, name: part.name,
              value: full(part.values[i] ?? null, unit) }));
            return <g key={i} onMouseMove={e => show(e, name, [...lines, ...sumsOf(i)])}>
              <rect x={left + step * i} y={TOP} width={step} height={inner} fill="transparent" />
              {used.map((part, p) => {
                const value = Math.max(0, part.values[i] ?? 0), h = value / top * inner, at = y(under + value);
                under += value;
                const text = shown(value, unit);
                const fits = h > 14 && textWidth(text, sans(10.5)) < bar - 4;
                return value > 0 && <g key={p} onClick={props.onClick && (() => props.onClick?.(spreads?.[i]?.at ?? i, series.indexOf(part)))}
                  class={props.onClick ? "ht-click" : undefined}>
                  <rect x={x} y={at} width={spreads ? bar + 0.5 : bar} height={Math.max(h, 0.75)} fill={part.color} />
                  {fits && <text x={x + bar / 2} y={at + h / 2 + 4} text-anchor="middle" class="ht-inside"
                    style={{ fill: textOn(part.color) }}>{text}</text>}
                </g>;
              })}
              {spreads && <path class="ht-whisker" d={whisker(i)} />}
              {!spreads && props.totals !== false && summed[i] &&
                <text class="ht-total" x={sums[i]?.at} y={y(under) - 5} text-anchor="middle">{shown(totals[i] ?? 0, unit)}</text>}
              {named[i] && <text class="ht-axis" x={below[i]?.at} y={height - 6} text-anchor="middle">{labels.get(first[i] ?? "")}</text>}
            </g>;
          })}
          {spreads && props.totals !== false && <text class="ht-total" text-anchor="middle" y={y(top) - 6}
            x={inside(left + step * (highest + 0.5), left, width, textWidth(peak, sans(11.5, 600)))}>{peak}</text>}
        </svg>
      </div>
      {tip}
    </Frame>
  );
}
