// SPDX-License-Identifier: Apache-2.0
// Strips of pieces side by side, each as long as it is large: what lies where. On a canvas, as there may be very many.
import { useEffect, useRef } from "preact/hooks";
import { resolve } from "../colors";
import { sans, textWidth, useTheme, useWidth } from "../hooks";
import { Frame, type FrameProps, full, type TipLine, type Unit, useTip } from "./frame";

export interface Piece { start: number; size: number; color: string | null; name: string; detail?: TipLine[] } // no colour: empty
export interface Strip { name: string; size: number; pieces: Piece[] } // pieces by start

export interface StripsProps extends FrameProps {
  strips: Strip[];
  unit: Unit;
  maxHeight?: number;                // strips become thinner, down to four pixels
  onPick?: (strip: number, piece: number) => void;
}

const GAP = 2;

export function Strips(props: StripsProps) {
  const { strips, unit } = props;
  const [box, width] = useWidth<HTMLDivElement>(640);
  const { tip, show, hide } = useTip();
  const canvas = useRef<HTMLCanvasElement>(null), theme = useTheme();
  const high = Math.max(4, Math.min(22, Math.floor((props.maxHeight ?? 480) / Math.max(1, strips.length)) - GAP));
  const left = high >= 10 ? Math.min(150, Math.max(0, ...strips.map(strip => textWidth(strip.name, sans(11)))) + 8) : 0;
  const height = strips.length * (high + GAP) + GAP, most = strips.reduce((a, strip) => Math.max(a, strip.size), 1);
  const scale = (width - left) / most;
  useEffect(() => {
    const area = canvas.current, context = area?.getContext("2d");
    if (!area || !context) return;
    const dense = window.devicePixelRatio || 1, colors = new Map<string, string>();
    area.width = Math.round(width * dense);
    area.height = Math.round(height * dense);
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = sans(11);
    context.textBaseline = "middle";
    strips.forEach((strip, row) => {
      const top = GAP + row * (high + GAP);
      context.fillStyle = resolve("var(--dim)");
      if (left > 0) context.fillText(strip.name, 0, top + high / 2, left - 6);
      context.fillStyle = resolve("var(--grid)");
      context.fillRect(left, top, Math.max(1, strip.size * scale), high);
      for (const piece of strip.pieces) {
        if (!piece.color) continue;
        if (!colors.has(piece.color)) colors.set(piece.color, resolve(piece.color));
        context.fillStyle = colors.get(piece.color) ?? piece.color;
        const long = piece.size * scale;
        context.fillRect(left + piece.start * scale, top, Math.max(0.5, long - (long > 4 ? 1 : 0)), high);
      }
    });
  }, [strips, width, height, high, left, scale, theme]);
  const at = (e: MouseEvent): [number, number] | null => {
    const area = canvas.current?.getBoundingClientRect();
    if (!area) return null;
    const row = Math.floor((e.clientY - area.top - GAP) / (high + GAP)), place = (e.clientX - area.left - left) / scale;
    const pieces = strips[row]?.pieces ?? [];
    let first = 0, after = pieces.length;
    while (first < after) {
      const middle = (first + after) >> 1, piece = pieces[middle] as Piece;
      if (piece.start + piece.size <= place) first = middle + 1;
      else after = middle;
    }
    return pieces[first] && (pieces[first] as Piece).start <= place ? [row, first] : null;
  };
  return (
    <Frame {...props}>
      <div ref={box} class="ht-plot">
        <canvas ref={canvas} style={{ width: "100%", height: `${height}px`, display: "block" }} role="img" class={props.onPick ? "ht-click" : undefined}
          aria-label={`${props.title}: ${strips.length} strips, the longest ${full(most, unit)}`} onMouseLeave={hide}
          onMouseMove={e => {
            const found = at(e), piece = found && strips[found[0]]?.pieces[found[1]];
            if (piece) show(e, piece.name, [{ name: "size", value: full(piece.size, unit) }, ...(piece.detail ?? [])]);
            else hide();
          }}
          onClick={e => { const found = at(e); if (found) props.onPick?.(...found); }} />
      </div>
      {tip}
    </Frame>
  );
}
