// SPDX-License-Identifier: Apache-2.0
// What a whole is made of, as one bar: shares written where they fit, all of them in the legend.
import { textOn } from "../colors";
import { sans, textWidth, useWidth } from "../hooks";
import { Frame, type FrameProps, full, type Unit, shown, useTip } from "./frame";

export interface Share { name: string; value: number; color: string }

export function Shares(props: FrameProps & { parts: Share[]; unit: Unit; onClick?: (index: number) => void }) {
  const [box, width] = useWidth<HTMLDivElement>(560);
  const { tip, show, hide } = useTip();
  const parts = props.parts.filter(part => part.value > 0);
  const sum = parts.reduce((total, part) => total + part.value, 0) || 1;
  let at = 0;
  return (
    <Frame {...props}>
      <div ref={box} class="ht-plot">
        <svg viewBox={`0 0 ${width} 26`} width="100%" role="img" onMouseLeave={hide}
          aria-label={`${props.title}: ${parts.map(part => `${part.name} ${shown(part.value / sum, "ratio")}`).join(", ")}`}>
          {parts.map((part, i) => {
            const x = at / sum * width, w = part.value / sum * width;
            at += part.value;
            const share = shown(part.value / sum, "ratio"), text = textWidth(`${part.name} ${share}`, sans(11)) < w - 8
              ? `${part.name} ${share}` : textWidth(share, sans(11)) < w - 6 ? share : "";
            return <g key={i} class={props.onClick ? "ht-click" : undefined}
              onClick={props.onClick && (() => props.onClick?.(props.parts.indexOf(part)))}
              onMouseMove={e => show(e, part.name, [{ name: "value", value: full(part.value, props.unit) }, { name: "share", value: full(part.value / sum, "ratio") }])}>
              <rect x={x} y={2} width={Math.max(0.75, w - 1)} height={22} fill={part.color} />
              {text && <text x={x + w / 2} y={17} text-anchor="middle" class="ht-inside" style={{ fill: textOn(part.color) }}>{text}</text>}
            </g>;
          })}
        </svg>
      </div>
      <div class="ht-legend">{parts.map((part, i) => <span key={i}><i style={{ background: part.color }} />{part.name} <b>{shown(part.value, props.unit)}</b> {shown(part.value / sum, "ratio")}</span>)}</div>
      {tip}
    </Frame>
  );
}
