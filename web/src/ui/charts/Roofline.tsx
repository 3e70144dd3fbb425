// SPDX-License-Identifier: Apache-2.0
// A roofline: operations per second over operations per byte, both as powers of ten. A mark per row, its area the time; a roof
// per type, slanted where memory limits and flat where arithmetic does.
import { useWidth } from "../hooks";
import { Frame, type FrameProps, type TipLine, useTip } from "./frame";

export interface Mark {
  name: string;
  intensity: number;                 // operations per byte
  rate: number;                      // operations per second
  time: number;                      // ns
  color: string;
  detail: TipLine[];
}

// achieved: what is published to be attained, 0 where nothing is.
export interface Roof { name: string; rate: number; bytes: number; achieved: number }

export interface RooflineProps extends FrameProps {
  marks: Mark[];
  roofs: Roof[];
  onClick?: (index: number) => void;
}

const HEIGHT = 340, LEFT = 84, BOTTOM = 34, TOP = 18, RIGHT = 14, LARGEST = 16, SMALLEST = 3;

// Whole powers of ten around the values.
function decades(values: number[], least: number, most: number): [number, number] {
  const logs = values.filter(value => value > 0).map(Math.log10);
  return [Math.floor(Math.min(...logs, least)), Math.ceil(Math.max(...logs, most))];
}

const PREFIXES: [number, string][] = [[15, "P"], [12, "T"], [9, "G"], [6, "M"], [3, "k"], [0, ""]];

function rateText(power: number): string {
  const [base, prefix] = PREFIXES.find(([from]) => power >= from) ?? [0, ""];
  return `${10 ** (power - base)} ${prefix}FLOP/s`;
}

export function Roofline(props: RooflineProps) {
  const { marks, roofs } = props;
  const [box, width] = useWidth<HTMLDivElement>(640);
  const { tip, show, hide } = useTip();
  const [x0, x1] = decades([...marks.map(mark => mark.intensity), ...roofs.map(roof => roof.rate / roof.bytes)], -1, 3);
  const [y0, y1] = decades([...marks.map(mark => mark.rate), ...roofs.map(roof => roof.rate)], 10, 12);
  const x = (value: number) => LEFT + (Math.log10(value) - x0) / (x1 - x0) * (width - LEFT - RIGHT);
  const y = (value: number) => TOP + (y1 - Math.log10(value)) / (y1 - y0) * (HEIGHT - TOP - BOTTOM);
  const longest = Math.max(...marks.map(mark => mark.time), 1);
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const label = `${props.title}: ${marks.slice(0, 8).map(mark => mark.name.slice(0, 60)).join(", ")}`;
  return (
    <Frame {...props}>
      <div ref={box} class="ht-plot">
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} width="100%" role="img" aria-label={label} onMouseLeave={hide}>
          {range(x0, x1).map(power => <g key={power}>
            <line class="ht-grid" x1={x(10 ** power)} x2={x(10 ** power)} y1={TOP} y2={HEIGHT - BOTTOM} />
            <text class="ht-axis" x={x(10 ** power)} y={HEIGHT - BOTTOM + 14} text-anchor="middle">{10 ** power}</text></g>)}
          {range(y0, y1).map(power => <g key={power}>
            <line class="ht-grid" x1={LEFT} x2={width - RIGHT} y1={y(10 ** power)} y2={y(10 ** power)} />
            <text class="ht-axis" x={LEFT - 6} y={y(10 ** power) + 4} text-anchor="end">{rateText(power)}</text></g>)}
          <text class="ht-axis" x={(LEFT + width) / 2} y={HEIGHT - 4} text-anchor="middle">FLOP per byte</text>
          {roofs.map(roof => <RoofLine key={roof.name} roof={roof} x={x} y={y} from={10 ** x0} to={10 ** x1} bottom={10 ** y0} />)}
          {marks.map((mark, i) => (
            <circle key={i} class={props.onClick ? "ht-click" : undefined} cx={x(mark.intensity)} cy={y(mark.rate)}
              r={Math.max(SMALLEST, LARGEST * Math.sqrt(mark.time / longest))} fill={mark.color} fill-opacity={0.65} stroke={mark.color}
              onMouseMove={e => show(e, mark.name.slice(0, 600), mark.detail)} onClick={props.onClick && (() => props.onClick?.(i))} />))}
        </svg>
      </div>
      {tip}
    </Frame>
  );
}

interface RoofLineProps { roof: Roof; x: (v: number) => number; y: (v: number) => number; from: number; to: number; bottom: number }

function RoofLine({ roof, x, y, from, to, bottom }: RoofLineProps) {
  const ridge = roof.rate / roof.bytes, start = Math.max(from, bottom / roof.bytes);
  return (
    <g>
      <polyline class="ht-roof" points={`${x(start)},${y(start * roof.bytes)} ${x(ridge)},${y(roof.rate)} ${x(to)},${y(roof.rate)}`} />
      {roof.achieved > 0 && <line class="ht-roof" stroke-dasharray="5 4" x1={x(roof.achieved / roof.bytes)} x2={x(to)}
        y1={y(roof.achieved)} y2={y(roof.achieved)} />}
      <text class="ht-axis" x={x(to) - 4} y={y(roof.rate) - 4} text-anchor="end">{roof.name}</text>
    </g>
  );
}
