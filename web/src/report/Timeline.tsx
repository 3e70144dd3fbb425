// SPDX-License-Identifier: Apache-2.0
// The timeline of one step, drawn on a canvas: streams and threads of some ranks over the same time. Dragging goes
// into a range, a double click comes back; the tip has names and exact times.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { classColor, CLASSES, type Class, nameHue, nameText, resolve } from "../ui/colors";
import { nsText, shortName } from "../ui/format";
import { sans, textWidth, useTheme, useWidth } from "../ui/hooks";
import { Frame, type TipLine, useTip } from "../ui/charts";
import type { Span, TimelineData, TimelineRank, TimelineTrack } from "./data";

const LANE = 13, RULER = 20, HEAD = 20, GAP = 4;

interface Line { rank: TimelineRank; track: TimelineTrack; top: number; lanes: number }

// Lanes that nothing is on take no room.
function packed(track: TimelineTrack): { track: TimelineTrack; lanes: number } {
  const used = [...new Set(track.spans.map(span => span[0]))].sort((a, b) => a - b), at = new Map(used.map((lane, i) => [lane, i]));
  return { track: { ...track, spans: track.spans.map(([lane, ...rest]) => [at.get(lane) ?? 0, ...rest] as Span) }, lanes: Math.max(1, used.length) };
}

interface Layout { lines: Line[]; heads: { text: string; top: number }[]; height: number }

function layOut(data: TimelineData): Layout {
  const lines: Line[] = [], heads: Layout["heads"] = [];
  let top = RULER;
  for (const rank of data.ranks) {
    heads.push({ text: `rank ${rank.rank}`, top });
    top += HEAD;
    for (const { track, lanes } of rank.tracks.map(packed)) {
      lines.push({ rank, track, top, lanes });
      top += lanes * LANE + GAP;
    }
  }
  return { lines, heads, height: top };
}

const asClass = (word: string): Class => CLASSES.find(cls => cls === word) ?? "host";

// GPU work in the colour of its class; names of the host apart by hue.
function colorsOf(name: string, cls: Class): { fill: string; text: string } {
  if (cls === "host" || cls === "python" || cls === "compute") return { fill: nameHue(name, cls), text: nameText(cls) };
  return { fill: resolve(classColor(cls)), text: resolve(`var(--on-${cls.replace("_", "-")})`) };
}

function ruler(length: number, n: number): number {
  const rough = length / Math.max(1, n), step = 10 ** Math.floor(Math.log10(rough));
  return step * ([1, 2, 5, 10].find(factor => factor * step >= rough) ?? 10);
}

interface View { from: number; to: number; left: number; width: number }

function drawSpan(ctx: CanvasRenderingContext2D, line: Line, span: Span, view: View, font: number): void {
  const [lane, start, length, nameAt, n, wait, word] = span, scale = (view.width - view.left) / (view.to - view.from);
  if (start + length < view.from || start > view.to) return;
  const x = Math.max(view.left, view.left + (start - view.from) * scale);
  const end = Math.min(view.width, view.left + (start + length - view.from) * scale), w = Math.max(0.8, end - x);
  const y = line.top + lane * LANE, cls = asClass(word), name = line.rank.names[nameAt] ?? "";
  const { fill, text } = colorsOf(name, cls);
  ctx.globalAlpha = n > 1 ? 0.75 : 1;
  ctx.fillStyle = fill;
  ctx.fillRect(x, y, w, LANE - 1);
  ctx.globalAlpha = 1;
  if (wait > 0) {
    // the waiting part of a collective is pale, its transfer saturated
    const waited = Math.min(end, view.left + (start + wait - view.from) * scale) - x;
    ctx.fillStyle = resolve(classColor("comm_pale"));
    if (waited > 0) ctx.fillRect(x, y, waited, LANE - 1);
  }
  const room = Math.floor((w - 6) / font);
  if (room < 4 || n > 1) return;
  ctx.fillStyle = wait * scale > w / 2 ? resolve("var(--on-comm-pale)") : text;
  ctx.fillText(shortName(name, room), x + 3, y + 9.5);
}

function draw(canvas: HTMLCanvasElement, layout: Layout, view: View): void {
  const density = devicePixelRatio || 1, ctx = canvas.getContext("2d");
  canvas.width = Math.round(view.width * density);
  canvas.height = Math.round(layout.height * density);
  if (!ctx) return;
  ctx.scale(density, density);
  const dim = resolve("var(--dim)"), scale = (view.width - view.left) / (view.to - view.from);
  const step = ruler(view.to - view.from, (view.width - view.left) / 110);
  ctx.font = sans(10.5);
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    const x = view.left + (at - view.from) * scale;
    ctx.fillStyle = resolve("var(--grid)");
    ctx.fillRect(Math.round(x), RULER - 4, 1, layout.height);
    ctx.fillStyle = dim;
    if (x + 50 < view.width) ctx.fillText(at === 0 ? "0" : nsText(at), x + 3, 12);
  }
  for (const head of layout.heads) {
    ctx.fillStyle = resolve("var(--panel)");
    ctx.fillRect(0, head.top + 2, view.width, HEAD - 5);
    ctx.fillStyle = resolve("var(--fg)");
    ctx.font = sans(11, 600);
    ctx.fillText(head.text, 4, head.top + 13);
  }
  for (const line of layout.lines) {
    ctx.font = sans(10.5);
    ctx.fillStyle = dim;
    const name = view.left < 100 ? line.track.name.replace(/^[GN]PU \d+ · /, "") : line.track.name;
    ctx.fillText(shortName(name, Math.floor((view.left - 14) / 6)), 8, line.top + 10);
    ctx.font = sans(9.5);
    const font = textWidth("m0e_", ctx.font) / 4;
    ctx.save();
    ctx.beginPath();
    ctx.rect(view.left, line.top, view.width - view.left, line.lanes * LANE);
    ctx.clip();
    for (const span of line.track.spans) drawSpan(ctx, line, span, view, font);
    ctx.restore();
  }
}

// The span under the pointer: of several in a pixel the longest.
function spanAt(layout: Layout, view: View, x: number, y: number): { line: Line; span: Span } | null {
  const line = layout.lines.find(one => y >= one.top && y < one.top + one.lanes * LANE);
  if (!line || x < view.left) return null;
  const lane = Math.floor((y - line.top) / LANE), scale = (view.to - view.from) / (view.width - view.left);
  const at = view.from + (x - view.left) * scale;
  let best: Span | null = null;
  for (const span of line.track.spans) {
    if (span[0] !== lane || span[1] > at + scale || span[1] + span[2] < at - scale) continue;
    if (!best || span[2] > best[2]) best = span;
  }
  return best && { line, span: best };
}

export function StepTimeline({ data, title, of }: { data: TimelineData; title: string; of: string }) {
  const [box, width] = useWidth<HTMLDivElement>(900);
  const canvas = useRef<HTMLCanvasElement>(null), theme = useTheme(), dragged = useRef<number | null>(null);
  const [range, setRange] = useState<[number, number]>([0, data.length_ns]);
  const [selected, setSelected] = useState<[number, number] | null>(null);
  const { tip, show, hide } = useTip();
  const layout = useMemo(() => layOut(data), [data]);
  const left = width < 700 ? 84 : 150;
  const view: View = { from: range[0], to: range[1], left, width };
  useEffect(() => { if (canvas.current) draw(canvas.current, layout, view); }, [layout, width, range, theme]);
  const place = (e: MouseEvent): [number, number] => {
    const area = canvas.current?.getBoundingClientRect();
    return area ? [(e.clientX - area.left) * width / area.width, e.clientY - area.top] : [0, 0];
  };
  const timeAt = (x: number) => range[0] + (Math.max(left, x) - left) / (width - left) * (range[1] - range[0]);
  const move = (e: MouseEvent) => {
    const [x, y] = place(e);
    if (dragged.current !== null) setSelected([Math.min(x, dragged.current), Math.max(x, dragged.current)]);
    const found = spanAt(layout, view, x, y);
    if (!found) return hide();
    const [, start, length, name, n, wait] = found.span;
    const lines: TipLine[] = [{ name: "starts at", value: nsText(Math.max(0, start)) }, { name: n > 1 ? "together" : "takes", value: nsText(length) }];
    if (wait > 0) lines.push({ name: "of it waiting for a rank", value: nsText(wait) });
    if (n > 1) lines.push({ name: "spans here", value: String(n) });
    show(e, `${found.line.rank.names[name] ?? ""}`.slice(0, 500), [...lines, { name: "on", value: `rank ${found.line.rank.rank}, ${found.line.track.name}` }]);
  };
  const drop = (e: MouseEvent) => {
    const [x] = place(e), from = dragged.current;
    dragged.current = null;
    setSelected(null);
    if (from === null || Math.abs(x - from) < 4) return;
    setRange([timeAt(Math.min(x, from)), timeAt(Math.max(x, from))]);
  };
  const whole = range[0] === 0 && range[1] === data.length_ns;
  return (
    <Frame title={title} of={of} actions={whole ? undefined : <button class="ht-reset" onClick={() => setRange([0, data.length_ns])}>whole step</button>}>
      <div ref={box} class="ht-plot rp-timeline">
        <canvas ref={canvas} style={{ width: "100%", height: `${layout.height}px`, display: "block" }} role="img"
          aria-label={`${title}: ${layout.lines.length} tracks of ${data.ranks.length} ranks over ${nsText(data.length_ns)}`}
          onMouseDown={e => { const [x] = place(e); if (x > left) dragged.current = x; }} onMouseMove={move} onMouseUp={drop}
          onMouseLeave={() => { hide(); dragged.current = null; setSelected(null); }} onDblClick={() => setRange([0, data.length_ns])} />
        {selected && <div class="rp-selection" style={{ left: `${selected[0]}px`, width: `${selected[1] - selected[0]}px` }} />}
      </div>
      <div class="ht-legend rp-legend">{([["compute", "compute"], ["communication", "transfer"], ["comm_pale", "waiting for a rank"], ["memory", "memcpy, memset"], ["host", "CPU"], ["python", "Python"], ["sync", "annotations, waits"]] as [Class, string][])
        .filter(([cls]) => uses(data, cls)).map(([cls, name]) => <span key={cls}><i style={{ background: classColor(cls) }} />{name}</span>)}</div>
      {tip}
    </Frame>
  );
}

function uses(data: TimelineData, cls: Class): boolean {
  return data.ranks.some(rank => rank.tracks.some(track => track.spans.some(span => cls === "comm_pale" ? span[5] > 0 : span[6] === cls)));
}
