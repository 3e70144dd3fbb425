// SPDX-License-Identifier: Apache-2.0
// Parts of wholes as bars one below the other, on one scale: what is longer is longer on paper, too.
import { textOn } from "../colors";
import { sans, textWidth, useWidth } from "../hooks";
import { Frame, type FrameProps, full, shown, type Unit, useTip } from "./frame";

export interface Stretch { name: string; strong?: boolean; parts: { name: string; color: string; value: number }[]; note?: string }

const ROW = 28, BAR = 20;

export function Stretches(props: FrameProps & { bars: Stretch[]; unit: Unit }) {
  const { bars, unit } = props;
  const [box, width] = useWidth<HTMLDivElement>(720);
  const { tip, show, hide } = useTip();
  const sums = bars.map(bar => bar.parts.reduce((sum, part) => sum + part.value, 0)), most = Math.max(...sums, 0) || 1;
  const texts = bars.map((bar, i) => `${shown(sums[i] ?? 0, unit)}${bar.note ? ` ${bar.note}` : ""}`);
  const left = Math.min(width * 0.34, Math.max(...bars.map(bar => textWidth(bar.name, sans(12, 600))), 40) + 12);
  const right = Math.max(...texts.map(text => textWidth(text, sans(12, 600))), 40) + 10;
  const scale = Math.max(20, width - left - right) / most;
  const legend = [...new Map(bars.flatMap(bar => bar.parts).map(part => [part.name, part])).values()];
  return (
    <Frame {...props} legend={legend.map(({ name, color }) => ({ name, color }))}>
      <div ref={box} class="ht-plot">
        <svg viewBox={`0 0 ${width} ${bars.length * ROW + 4}`} width="100%" role="img" onMouseLeave={hide}
          aria-label={`${props.title}: ${bars.map((bar, i) => `${bar.name} ${texts[i]}`).join(", ")}`}>
          {bars.map((bar, i) => {
            let x = left;
            const y = i * ROW + 2;
            return <g key={i} onMouseMove={e => show(e, bar.name, [...bar.parts.map(part => ({ color: part.color, name: part.name, value: full(part.value, unit) })), { name: "sum", value: full(sums[i] ?? 0, unit) }])}>
              <rect x={0} y={y} width={width} height={ROW} fill="transparent" />
              <text class={bar.strong ? "ht-total" : "ht-value"} x={0} y={y + 15}>{bar.name}</text>
              {bar.parts.map((part, p) => {
                const w = part.value * scale, at = x, text = shown(part.value, unit);
                x += w;
                return <g key={p}><rect x={at} y={y} width={Math.max(0.75, w)} height={BAR} fill={part.color} />
                  {textWidth(text, sans(11)) < w - 6 && <text x={at + w / 2} y={y + 14} text-anchor="middle" class="ht-inside" style={{ fill: textOn(part.color) }}>{text}</text>}</g>;
              })}
              <text class="ht-total" x={x + 6} y={y + 15}>{texts[i]}</text>
            </g>;
          })}
        </svg>
      </div>
      {tip}
    </Frame>
  );
}
