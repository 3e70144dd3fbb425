// SPDX-License-Identifier: Apache-2.0
// Horizontal bars, largest first or as given: name, bar, value and share. Also with the range from least to most.
import { shortNames } from "../brief";
import { mono, sans, textWidth, useWidth } from "../hooks";
import { Frame, type FrameProps, full, shown, shownChange, tick, type TipLine, type Unit, useTip } from "./frame";
import { ticks } from "./scale";

export interface Bar {
  name: string;
  value: number;
  share?: number | null;             // of what the chart says
  color?: string;
  detail?: TipLine[];
  before?: number;                   // the same of another run: a mark on its bar
}

export interface BarsProps extends FrameProps {
  bars: Bar[];
  unit: Unit;
  signed?: boolean;                  // of differences: + before what is more
  onClick?: (index: number) => void;
}

const ROW = 22, CODE_PX = 7.23;

const namesOf = (bars: { name: string }[], left: number) =>
  shortNames(bars.map(bar => bar.name), Math.max(6, Math.floor((left - 8) / CODE_PX)));

export function Bars(props: BarsProps) {
  const { bars, unit } = props;
  const [box, width] = useWidth<HTMLDivElement>(560);
  const { tip, show, hide } = useTip();
  const most = Math.max(...bars.map(bar => Math.max(Math.abs(bar.value), bar.before ?? 0)), 0) || 1;
  const texts = bars.map(bar => (props.signed ? shownChange(bar.value, unit) : shown(bar.value, unit)) +
    (bar.share !== undefined && bar.share !== null ? `  ${shown(bar.share, "ratio")}` : ""));
  const right = Math.max(...texts.map(text => textWidth(text, sans(11.5))), 20) + 12;
  const widest = Math.max(...bars.map(bar => textWidth(bar.name.slice(0, 120), mono(12))), 20);
  const left = Math.min(widest + 10, Math.max(90, width * 0.46));
  const room = Math.max(20, width - left - right), names = namesOf(bars, left);
  return (
    <Frame {...props}>
      <div ref={box} class="ht-plot">
        <svg viewBox={`0 0 ${width} ${bars.length * ROW + 4}`} width="100%" role="img" onMouseLeave={hide}
          aria-label={`${props.title}: ${bars.slice(0, 8).map((bar, i) => `${bar.name.slice(0, 60)} ${texts[i]}`).join(", ")}`}>
          {bars.map((bar, i) => {
            const y = i * ROW, w = Math.max(0.75, Math.abs(bar.value) / most * room);
            const lines: TipLine[] = [{ name: "value", value: full(bar.value, unit) },
              ...(bar.share !== undefined && bar.share !== null ? [{ name: "share", value: full(bar.share, "ratio") }] : []),
              ...(bar.before !== undefined ? [{ name: "baseline", value: full(bar.before, unit) }] : []),
              ...(bar.detail ?? [])];
            return <g key={i} class={props.onClick ? "ht-click" : undefined} onClick={props.onClick && (() => props.onClick?.(i))}
              onMouseMove={e => show(e, bar.name.slice(0, 600), lines)}>
              <rect x={0} y={y} width={width} height={ROW} fill="transparent" />
              <text class="ht-code" x={left - 8} y={y + 15} text-anchor="end">{names.get(bar.name)}</text>
              <rect x={left} y={y + 5} width={w} height={12} rx={1} fill={bar.color ?? "var(--compute)"} />
              {bar.before !== undefined && <path class="ht-whisker ht-before" d={`M${left + bar.before / most * room} ${y + 2}v18`} />}
              <text class="ht-value" x={left + Math.max(w, (bar.before ?? 0) / most * room) + 6} y={y + 15}>{texts[i]}</text>
            </g>;
          })}
        </svg>
      </div>
      {tip}
    </Frame>
  );
}

export interface RangeBar { name: string; value: number; min: number; max: number; color?: string; detail?: TipLine[] }

// The mean as a bar and the range from least to most as a line over it.
export function MinMaxBars(props: FrameProps & { bars: RangeBar[]; unit: Unit; onClick?: (index: number) => void }) {
  const { bars, unit } = props;
  const [box, width] = useWidth<HTMLDivElement>(560);
  const { tip, show, hide } = useTip();
  const most = Math.max(...bars.map(bar => Math.max(bar.max, bar.value)), 0) || 1;
  const widest = Math.max(...bars.map(bar => textWidth(bar.name.slice(0, 120), mono(12))), 20);
  const left = Math.min(widest + 10, Math.max(90, width * 0.46));
  const right = Math.max(...bars.map(bar => textWidth(shown(bar.value, unit), sans(11.5))), 20) + 12;
  const names = namesOf(bars, left), room = Math.max(20, width - left - right), height = bars.length * ROW + 22;
  const x = (value: number) => left + value / most * room;
  return (
    <Frame {...props}>
      <div ref={box} class="ht-plot">
        <svg viewBox={`0 0 ${width} ${height}`} width="100%" role="img" onMouseLeave={hide}
          aria-label={`${props.title}: ${bars.slice(0, 8).map(bar => `${bar.name.slice(0, 60)} ${shown(bar.value, unit)}`).join(", ")}`}>
          {ticks(most, Math.max(2, Math.floor(room / 90)), unit === "bytes" ? 1024 : 10).map(mark => <g key={mark}>
            <line class="ht-grid" x1={x(mark)} x2={x(mark)} y1={0} y2={height - 20} />
            <text class="ht-axis" x={x(mark)} y={height - 6} text-anchor="middle">{tick(mark, unit)}</text></g>)}
          {bars.map((bar, i) => {
            const y = i * ROW;
            return <g key={i} class={props.onClick ? "ht-click" : undefined} onClick={props.onClick && (() => props.onClick?.(i))}
              onMouseMove={e => show(e, bar.name.slice(0, 600), [{ name: "mean", value: full(bar.value, unit) },
                { name: "least", value: full(bar.min, unit) }, { name: "most", value: full(bar.max, unit) }, ...(bar.detail ?? [])])}>
              <rect x={0} y={y} width={width} height={ROW} fill="transparent" />
              <text class="ht-code" x={left - 8} y={y + 15} text-anchor="end">{names.get(bar.name)}</text>
              <rect x={left} y={y + 6} width={Math.max(0.75, x(bar.value) - left)} height={10} rx={1} fill={bar.color ?? "var(--compute)"} />
              <path class="ht-whisker" d={`M${x(bar.min)} ${y + 4}v14M${x(bar.max)} ${y + 4}v14M${x(bar.min)} ${y + 11}H${x(bar.max)}`} />
              <text class="ht-value" x={x(Math.max(bar.value, bar.max)) + 6} y={y + 15}>{shown(bar.value, unit)}</text>
            </g>;
          })}
        </svg>
      </div>
      {tip}
    </Frame>
  );
}
