// SPDX-License-Identifier: Apache-2.0
// The critical path over the events: its pieces as the engine has them, from rank to rank, and how they are drawn: an outline around each event
// for the time that it is on the path, a line from one to the next, an arrow where the path goes to another rank, dots from a step to the next.
import { useEffect, useMemo } from "preact/hooks";
import { useTable } from "../app/hooks";
import { Rows } from "../app/rows";
import type { OverlaySpan, Run, Table } from "../model";
import { resolve } from "../ui/colors";
import type { Stage } from "./stage";
import type { Tile } from "./tile";
import { Tiles } from "./tiles";

export interface Piece {
  rank: number; step: string; instance: number;
  start: number; end: number;
  event: string | null;          // "rank:row"; null: nobody's
  row: number;
  name: string; bound: string; type: string; inferred: boolean;
}

export interface Path {
  pieces: readonly Piece[];                         // in order of the path
  of: ReadonlyMap<string, readonly number[]>;       // by event: which of the pieces
  hidden: number;                                   // shorter ones that were not asked for
}

const MOST = 20000;
const COLUMNS = "rank,instance,step,index,ts_ns,duration_ns,type,name,bound_by,inferred";

export function pathOf(table: Table): Path {
  const rows = new Rows(table), of = new Map<string, number[]>();
  const pieces = rows.all.map((row): Piece => {
    const rank = rows.number(row, "rank") ?? 0, index = rows.number(row, "index"), start = rows.number(row, "ts_ns") ?? 0;
    return {
      rank, step: rows.text(row, "step"), instance: rows.number(row, "instance") ?? 0, start, end: start + (rows.number(row, "duration_ns") ?? 0),
      event: index === null ? null : `${rank}:${index}`, row: index ?? -1, name: rows.text(row, "name"), bound: rows.text(row, "bound_by"),
      type: rows.text(row, "type"), inferred: rows.cell(row, "inferred") === true,
    };
  }).sort((a, b) => a.instance - b.instance || a.start - b.start || a.end - b.end);
  pieces.forEach((piece, i) => {
    if (piece.event) of.set(piece.event, [...(of.get(piece.event) ?? []), i]);
  });
  return { pieces, of, hidden: table.hidden };
}

// Through all ranks where there are several; asked when it is to be shown.
export function usePath(run: Run, ranks: number, state: Readonly<Record<string, string>>, on: boolean): Path | null {
  const { table } = useTable(run, on ? "critical-path" : null, {
    view: "path", across: ranks > 1 ? "true" : undefined, span: state.span, step: state.step, where: "duration_ns > 0", columns: COLUMNS, sort: "-duration_ns", top: MOST,
  });
  return useMemo(() => (table ? pathOf(table) : null), [table]);
}

// What of it is on a rank, as spans of an overlay.
export const spansOn = (path: Path, rank: number): OverlaySpan[] =>
  path.pieces.filter((piece) => piece.rank === rank).map((piece) => [piece.start, piece.end, piece.bound, piece.name, piece.event]);

// ---- where its events are ----

interface Place { track: number; lane: number }

const spansOf = new WeakMap<Tile, Map<number, number>>();

function spanOf(tile: Tile, row: number): number | undefined {
  let spans = spansOf.get(tile);
  if (!spans) {
    spans = new Map();
    for (let i = 0; i < tile.n; i++) if (tile.count[i] === 1) spans.set(tile.row[i] as number, i);
    spansOf.set(tile, spans);
  }
  return spans.get(row);
}

function trackOf(tile: Tile, span: number): number {
  for (const [track, [first, end]] of tile.tracks) if (span >= first && span < end) return track;
  return -1;
}

// An event that is as long as a pixel stands in the tiles of what is on screen; shorter ones have no place of their own there.
function placeOf(stage: Stage, known: Map<string, Place>, piece: Piece): Place | null {
  const have = known.get(piece.event ?? "");
  if (have || !piece.event) return have ?? null;
  const level = stage.level();
  for (const time of [(piece.start + piece.end) / 2, piece.end]) {
    const tile = stage.tiles.best({ rank: piece.rank, level, index: Tiles.over(level, time, time)[0] });
    const span = tile && spanOf(tile, piece.row);
    if (tile === undefined || span === undefined) continue;
    const place = { track: trackOf(tile, span), lane: tile.lane[span] as number };
    known.set(piece.event, place);
    return place;
  }
  return null;
}

// ---- drawing ----

const LEAST_PIXELS = 0.75;
interface Drawn { piece: Piece; x0: number; x1: number; y: number }

function outline(context: CanvasRenderingContext2D, stage: Stage, one: Drawn, place: Place): void {
  const row = stage.trackRow(one.piece.rank, place.track), height = row && !row.collapsed ? row.laneHeight : 10;
  const width = Math.max(1.5, one.x1 - one.x0);
  if (one.piece.type.endsWith("_delay")) {
    // the time before what is late: nothing of it is there yet
    context.setLineDash([3, 3]);
    context.strokeRect(one.x0, one.y, width, 0.01);
    context.setLineDash([]);
    return;
  }
  context.strokeRect(one.x0 + 0.5, one.y - height / 2 + 0.5, Math.max(1, width - 1), height - 2);
  context.fillRect(one.x0, one.y + height / 2 - 3, width, 2.5);
}

function connect(context: CanvasRenderingContext2D, before: Drawn, now: Drawn, jumps: boolean, next: boolean): void {
  const x0 = Math.min(before.x1, now.x0 + 0.01), x1 = now.x0;
  if (next) context.setLineDash([2, 4]);
  context.lineWidth = jumps ? 2.5 : 1.5;
  context.beginPath();
  context.moveTo(x0, before.y);
  context.lineTo(x1, now.y);
  context.stroke();
  context.setLineDash([]);
  context.lineWidth = 1.5;
  if (!jumps) return;
  const up = now.y < before.y ? 1 : -1;
  context.beginPath();
  context.moveTo(x1, now.y);
  context.lineTo(x1 - 5, now.y + 8 * up);
  context.lineTo(x1 + 5, now.y + 8 * up);
  context.fill();
}

// Answers how many pieces and jumps between ranks are in the picture.
function draw(context: CanvasRenderingContext2D, stage: Stage, path: Path, known: Map<string, Place>): [number, number] {
  const color = resolve("var(--more)"), top = stage.layout.pinnedHeight;
  let before: Drawn | null = null, pieces = 0, jumped = 0;
  context.save();
  context.strokeStyle = color;
  context.fillStyle = color;
  context.lineWidth = 1.5;
  for (const piece of path.pieces) {
    const x0 = stage.xAt(piece.start), x1 = stage.xAt(piece.end);
    if (x1 < -50 || x0 > stage.width + 50 || x1 - x0 < LEAST_PIXELS) continue;
    const place = placeOf(stage, known, piece);
    const y = place && stage.laneY(piece.rank, place.track, place.lane);
    if (!place || y === null) continue;
    const now: Drawn = { piece, x0, x1, y };
    const jumps: boolean = before !== null && before.piece.rank !== piece.rank;
    if (before && (before.y !== y || before.piece.instance !== piece.instance)) connect(context, before, now, jumps, before.piece.instance !== piece.instance);
    if (y >= top && y <= stage.height) {
      outline(context, stage, now, place);
      pieces++;
    }
    if (jumps) jumped++;
    before = now;
  }
  context.restore();
  return [pieces, jumped];
}

// The path on a stage, as long as there is one.
export function useDrawnPath(stage: Stage, path: Path | null): void {
  useEffect(() => {
    const known = new Map<string, Place>();
    stage.onPaint = (context) => {
      const [pieces, jumps] = path ? draw(context, stage, path, known) : [0, 0], said = context.canvas.dataset;
      if (said.path !== String(pieces)) said.path = String(pieces);
      if (said.jumps !== String(jumps)) said.jumps = String(jumps);
    };
    stage.redraw();
    return () => {
      stage.onPaint = () => undefined;
    };
  }, [stage, path]);
}
