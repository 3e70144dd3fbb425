// SPDX-License-Identifier: Apache-2.0
// Blocks over time, each as wide as it lasts and as high as its value: what followed what, and how long it took. On a canvas, as there may be
// very many.
import { useEffect, useRef } from "preact/hooks";
import { resolve } from "../colors";
import { useTheme, useWidth } from "../hooks";
import { Frame, type FrameProps, full, tick, type TipLine, type Unit, useTip } from "./frame";
import { ticks } from "./scale";

export interface Block { start: number; size: number; value: number; color: string; name: string; detail?: TipLine[] }

export interface BlocksProps extends FrameProps {
  blocks: Block[]; // by start
  unit: Unit;      // of times
  valueUnit: Unit;
  valueName: string;
  onPick?: (index: number) => void;
}

const HEIGHT = 240, LEFT = 76, BOTTOM = 24, TOP = 10, RIGHT = 16;

export function Blocks(props: BlocksProps) {
  const { blocks, unit, valueUnit } = props;
  const [box, width] = useWidth<HTMLDivElement>(640);
  const { tip, show, hide } = useTip();
  const canvas = useRef<HTMLCanvasElement>(null), theme = useTheme();
  const from = blocks[0]?.start ?? 0, to = blocks.reduce((end, block) => Math.max(end, block.start + block.size), from + 1);
  const most = blocks.reduce((top, block) => Math.max(top, block.value), 1);
  const x = (value: number) => LEFT + (value - from) / (to - from) * (width - LEFT - RIGHT);
  const y = (value: number) => TOP + (1 - value / most) * (HEIGHT - TOP - BOTTOM);
  useEffect(() => {
    const area = canvas.current, context = area?.getContext("2d");
    if (!area || !context) return;
    const dense = window.devicePixelRatio || 1, colors = new Map<string, string>();
    area.width = Math.round(width * dense);
    area.height = Math.round(HEIGHT * dense);
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, width, HEIGHT);
    for (const block of blocks) {
      if (!colors.has(block.color)) colors.set(block.color, resolve(block.color));
      context.fillStyle = colors.get(block.color) ?? block.color;
      const long = x(block.start + block.size) - x(block.start), top = y(block.value);
      context.fillRect(x(block.start), top, Math.max(1, long - (long > 4 ? 1 : 0)), HEIGHT - BOTTOM - top);
    }
  }, [blocks, width, theme]);
  // the last one that begins before the pointer, where it lasts that long; several ranks may lie over each other
  const at = (e: MouseEvent): number => {
    const area = canvas.current?.getBoundingClientRect();
    const time = area ? from + (e.clientX - area.left - LEFT) / (width - LEFT - RIGHT) * (to - from) : -1;
    let first = 0, after = blocks.length;
    while (first < after) {
      const middle = (first + after) >> 1;
      if ((blocks[middle] as Block).start <= time) first = middle + 1;
      else after = middle;
    }
    const block = blocks[first - 1];
    return block && time < block.start + block.size ? first - 1 : -1;
  };
  return (
    <Frame {...props}>
      <div ref={box} class="ht-plot" style={{ position: "relative" }}>
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} width="100%" style={{ display: "block" }} aria-hidden="true">
          {ticks(most, 5).map(value => <g key={value}>
            <line class="ht-grid" x1={LEFT} x2={width - RIGHT} y1={y(value)} y2={y(value)} />
            <text class="ht-axis" x={LEFT - 6} y={y(value) + 4} text-anchor="end">{tick(value, valueUnit)}</text></g>)}
          {ticks(to - from, Math.max(2, Math.floor((width - LEFT) / 120))).map(value =>
            <text key={value} class="ht-axis" x={x(from + value)} y={HEIGHT - 6} text-anchor="middle">{tick(value, unit)}</text>)}
        </svg>
        <canvas ref={canvas} style={{ position: "absolute", inset: 0, width: "100%", height: `${HEIGHT}px` }} role="img" class={props.onPick ? "ht-click" : undefined}
          aria-label={`${props.title}: ${blocks.length} blocks, the highest ${full(most, valueUnit)}`} onMouseLeave={hide}
          onMouseMove={e => {
            const block = blocks[at(e)];
            if (block) show(e, block.name, [{ color: block.color, name: props.valueName, value: full(block.value, valueUnit) }, ...(block.detail ?? [])]);
            else hide();
          }}
          onClick={e => { const found = at(e); if (found >= 0) props.onPick?.(found); }} />
      </div>
      {tip}
    </Frame>
  );
}
