// SPDX-License-Identifier: Apache-2.0
// Two measures of many things against each other, both as powers of ten: sizes and rates. A mark per thing, a colour per kind.
import { useWidth } from "../hooks";
import { Frame, type FrameProps, full, tick, type Unit, useTip } from "./frame";

export interface Dot { name: string; kind: string; color: string; x: number; y: number }

export interface ScatterProps extends FrameProps {
  dots: Dot[];
  xUnit: Unit;
  yUnit: Unit;
  xName: string;
  yName: string;
  onClick?: (index: number) => void;
}

const HEIGHT = 260, LEFT = 76, BOTTOM = 36, TOP = 20, RIGHT = 34;

// Whole powers of the base around the values, and at least one step.
function powers(values: number[], base: number): [number, number] {
  const logs = values.map(value => Math.log(value) / Math.log(base));
  const low = Math.floor(Math.min(...logs)), high = Math.ceil(Math.max(...logs));
  return [low, Math.max(high, low + 1)];
}

export function Scatter(props: ScatterProps) {
  const [box, width] = useWidth<HTMLDivElement>(560);
  const { tip, show, hide } = useTip();
  const dots = props.dots.filter(dot => dot.x > 0 && dot.y > 0);
  if (dots.length === 0) return null;
  const base = props.xUnit === "bytes" ? 2 : 10;
  const [x0, x1] = powers(dots.map(dot => dot.x), base), [y0, y1] = powers(dots.map(dot => dot.y), 10);
  const x = (value: number) => LEFT + (Math.log(value) / Math.log(base) - x0) / (x1 - x0) * (width - LEFT - RIGHT);
  const y = (value: number) => TOP + (y1 - Math.log10(value)) / (y1 - y0) * (HEIGHT - TOP - BOTTOM);
  const skip = Math.max(1, Math.ceil((x1 - x0) * 72 / (width - LEFT - RIGHT)));
  const marks = (from: number, to: number, step: number) => Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);
  const kinds = [...new Map(dots.map(dot => [dot.kind, dot.color]))].map(([name, color]) => ({ name, color }));
  return (
    <Frame {...props} legend={kinds}>
      <div ref={box} class="ht-plot">
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} width="100%" role="img" onMouseLeave={hide}
          aria-label={`${props.title}: ${dots.length} marks, ${props.yName} over ${props.xName}`}>
          {marks(x0, x1, skip).map(power => <g key={power}>
            <line class="ht-grid" x1={x(base ** power)} x2={x(base ** power)} y1={TOP} y2={HEIGHT - BOTTOM} />
            <text class="ht-axis" x={x(base ** power)} y={HEIGHT - BOTTOM + 14} text-anchor="middle">{tick(base ** power, props.xUnit)}</text></g>)}
          {marks(y0, y1, 1).map(power => <g key={power}>
            <line class="ht-grid" x1={LEFT} x2={width - RIGHT} y1={y(10 ** power)} y2={y(10 ** power)} />
            <text class="ht-axis" x={LEFT - 6} y={y(10 ** power) + 4} text-anchor="end">{tick(10 ** power, props.yUnit)}</text></g>)}
          <text class="ht-axis" x={(LEFT + width) / 2} y={HEIGHT - 4} text-anchor="middle">{props.xName}</text>
          {dots.map((dot, i) => <circle key={i} cx={x(dot.x)} cy={y(dot.y)} r={4} fill={dot.color} fill-opacity={0.6}
            class={props.onClick ? "ht-click" : undefined} onClick={props.onClick && (() => props.onClick?.(props.dots.indexOf(dot)))}
            onMouseMove={e => show(e, dot.name, [
              { color: dot.color, name: props.xName, value: full(dot.x, props.xUnit) },
              { name: props.yName, value: full(dot.y, props.yUnit) }])} />)}
        </svg>
      </div>
      {tip}
    </Frame>
  );
}
