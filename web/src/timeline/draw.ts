// SPDX-License-Identifier: Apache-2.0
// What is drawn over the tracks: steps, curves, the selection, arrows, marks and the ruler.
import { human, nsText, shortName } from "../ui/format";
import { classOf, classText, resolve } from "../ui/colors";
import type { Overlay } from "../model";
import type { OverlayRow, RankRow } from "./layout";
import { tickStep, tickText, ticks } from "./ruler";
import type { Stage } from "./stage";

const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

export function drawSteps(context: CanvasRenderingContext2D, stage: Stage, row: RankRow): void {
  const y = stage.topOf(row) + row.height / 2, { theme } = stage.palette;
  if (y < stage.layout.pinnedHeight) return;
  context.font = FONT;
  context.textBaseline = "middle";
  context.fillStyle = theme.dim;
  for (const step of stage.stepsOf(row.rank)) {
    const x0 = Math.max(0, stage.xAt(step.start_ns)), x1 = Math.min(stage.width, stage.xAt(step.end_ns));
    if (x1 - x0 < 24) continue;
    const text = x1 - x0 < 50 ? step.name : x1 - x0 < 110 ? `step ${step.name}` : `step ${step.name} · ${nsText(step.end_ns - step.start_ns)}`;
    context.fillText(text, x0 + 5, y);
  }
}

// ---- overlays ----

export function valueText(value: number, unit: string | null): string {
  return human(value, { type: unit === "bytes" || unit === "ratio" ? unit : "float64", unit });
}

function drawCurves(context: CanvasRenderingContext2D, stage: Stage, overlay: Overlay, top: number, height: number): void {
  const colors = ["compute", "communication", "memory", "sync", "python", "data"] as const;
  const most = overlay.unit === "ratio" ? 1 : Math.max(...overlay.series.map((one) => one.max), 0) || 1;
  let x = 6;
  const yOf = (value: number) => top + height - 2 - (value / most) * (height - 6);
  overlay.series.forEach((one, i) => {
    const color = stage.palette.class(colors[i % colors.length] ?? "compute");
    context.beginPath();
    one.points.forEach(([at, least, highest, last], k) => {
      const here = stage.xAt(at);
      if (k === 0) context.moveTo(here, yOf(last));
      context.lineTo(here, yOf(highest));
      context.lineTo(here, yOf(least));
      context.lineTo(here, yOf(last));
      const next = one.points[k + 1];
      if (next) context.lineTo(stage.xAt(next[0]), yOf(last));
    });
    context.strokeStyle = color;
    context.lineWidth = 1.25;
    context.stroke();
    context.fillStyle = color;
    const text = `${one.name} · at most ${valueText(one.max, overlay.unit)}`;
    context.fillText(text, x, top + 8);
    x += context.measureText(text).width + 24;
  });
}

function drawSpans(context: CanvasRenderingContext2D, stage: Stage, overlay: Overlay, top: number, height: number): void {
  for (const [start, end, cls, name] of overlay.spans) {
    const x0 = Math.max(0, stage.xAt(start)), x1 = Math.min(stage.width, Math.max(stage.xAt(end), stage.xAt(start) + 1));
    if (x1 < 0 || x0 > stage.width || x1 <= x0) continue;
    const known = classOf(cls.replace(/^(gpu|cpu)_/, "")) ?? classOf(cls) ?? "host";
    context.fillStyle = stage.palette.class(known);
    context.fillRect(x0, top + 3, Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0)), height - 7);
    if (x1 - x0 < 40) continue;
    context.fillStyle = resolve(classText(known));
    context.fillText(shortName(name, Math.floor((x1 - x0 - 8) / 6)), x0 + 4, top + height / 2);
  }
}

export function drawOverlay(context: CanvasRenderingContext2D, stage: Stage, row: OverlayRow, overlay: Overlay | undefined): void {
  const top = stage.topOf(row);
  if (top + row.height < stage.layout.pinnedHeight) return;
  context.save();
  context.beginPath();
  context.rect(0, Math.max(top, stage.layout.pinnedHeight), stage.width, row.height);
  context.clip();
  context.font = FONT;
  context.textBaseline = "middle";
  if (!overlay) {
    context.fillStyle = stage.palette.theme.dim;
    context.fillText("computing …", 6, top + row.height / 2);
  } else if (overlay.series.length === 0 && overlay.spans.length === 0) {
    context.fillStyle = stage.palette.theme.dim;
    context.fillText(row.overlay === "critical" ? "not on this rank" : `the trace has nothing for ${row.label} here`, 6, top + row.height / 2);
  } else {
    drawCurves(context, stage, overlay, top, row.height);
    drawSpans(context, stage, overlay, top, row.height);
  }
  context.restore();
}

// ---- selection, arrows, marks ----

export function drawSelection(context: CanvasRenderingContext2D, stage: Stage): void {
  const { theme } = stage.palette, { range, chosen } = stage;
  if (range) {
    const x0 = stage.xAt(range.from), x1 = stage.xAt(range.to);
    context.fillStyle = theme.accent;
    context.globalAlpha = 0.12;
    context.fillRect(x0, 0, x1 - x0, stage.height);
    if (range.tracks) {
      for (const row of stage.layout.rows) {
        if (row.kind !== "track" || !range.tracks.includes(`${row.rank}:${row.track.track}`)) continue;
        context.fillRect(x0, stage.topOf(row), x1 - x0, row.height);
      }
    }
    context.globalAlpha = 1;
    context.fillRect(x0 - 0.5, 0, 1, stage.height);
    context.fillRect(x1 - 0.5, 0, 1, stage.height);
  }
  if (!chosen) return;
  const row = stage.trackRow(chosen.rank, chosen.track);
  const y = stage.laneY(chosen.rank, chosen.track, chosen.lane);
  if (y === null) return;
  const height = row && !row.collapsed ? row.laneHeight : 10;
  const x0 = Math.max(-4, stage.xAt(chosen.start)), x1 = Math.min(stage.width + 4, stage.xAt(chosen.end));
  context.strokeStyle = theme.text;
  context.lineWidth = 2;
  context.strokeRect(x0 - 1, y - height / 2 - 1, Math.max(3, x1 - x0) + 2, height + 1);
}

export function drawArrows(context: CanvasRenderingContext2D, stage: Stage): void {
  const { theme } = stage.palette;
  for (const { from, to } of stage.flows) {
    if (from.start_ns === undefined || to.start_ns === undefined || from.end_ns === undefined) continue;
    const y0 = stage.laneY(from.rank ?? 0, from.track ?? 0, from.lane ?? 0), y1 = stage.laneY(to.rank ?? 0, to.track ?? 0, to.lane ?? 0);
    if (y0 === null || y1 === null) continue;
    // from where it began, or from its end when that is before the other
    const leaves = from.end_ns <= to.start_ns ? from.end_ns : from.start_ns;
    const x0 = stage.xAt(leaves), x1 = stage.xAt(to.start_ns), bend = Math.max(20, Math.min(160, Math.abs(x1 - x0) / 2));
    context.strokeStyle = theme.text;
    context.fillStyle = theme.text;
    context.lineWidth = 1.5;
    context.globalAlpha = 0.85;
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    context.stroke();
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 6, y1 - 3.5);
    context.lineTo(x1 - 6, y1 + 3.5);
    context.fill();
    context.globalAlpha = 1;
  }
}

export function drawMarks(context: CanvasRenderingContext2D, stage: Stage, height: number): void {
  context.fillStyle = stage.palette.theme.accent;
  for (const mark of stage.marks) context.fillRect(stage.xAt(mark.at) - 0.75, 0, 1.5, height);
  for (const mark of stage.marks) if (mark.name) context.fillText(mark.name, stage.xAt(mark.at) + 4, 10);
}

// ---- ruler ----

export function drawRuler(context: CanvasRenderingContext2D, stage: Stage): void {
  const { theme } = stage.palette, { from, to } = stage.view, height = context.canvas.clientHeight;
  const step = tickStep(stage.nsPerPixel, 110);
  context.clearRect(0, 0, stage.width, height);
  context.font = FONT;
  context.textBaseline = "middle";
  for (const at of ticks(from, to, step)) {
    const x = stage.xAt(at);
    context.fillStyle = theme.line;
    context.fillRect(Math.round(x), height - 7, 1, 7);
    const text = tickText(at, step);
    if (x + 6 + context.measureText(text).width > stage.width) continue;
    context.fillStyle = theme.dim;
    context.fillText(text, x + 4, height / 2);
  }
  if (stage.range) {
    const x0 = stage.xAt(stage.range.from), x1 = stage.xAt(stage.range.to), text = nsText(stage.range.to - stage.range.from);
    context.fillStyle = theme.selected;
    context.fillRect(x0, 0, x1 - x0, height);
    const width = context.measureText(text).width, x = Math.max(2, Math.min(stage.width - width - 2, (x0 + x1 - width) / 2));
    context.fillStyle = theme.selected;
    context.fillRect(x - 4, 2, width + 8, height - 4);
    context.fillStyle = theme.text;
    context.fillText(text, x, height / 2);
  }
  drawMarks(context, stage, height);
}
