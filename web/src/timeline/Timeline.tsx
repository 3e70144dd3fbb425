// SPDX-License-Identifier: Apache-2.0
// The trace view: all ranks, processes, threads and streams on one clock. The picture is the Stage's; here is the frame
// around it: tools, names of rows, the panel, keys and pointer, and the state in the URL.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EventDetails, EventPlace, Found, Run, Tracks } from "../model";
import { useAnswer } from "../app/answer";
import { useTable } from "../app/hooks";
import { isTyping } from "../app/keys";
import { linkTo, parseRoute } from "../app/route";
import { Rows } from "../app/rows";
import { nsText, shortName } from "../ui/format";
import { deviceWord } from "../views/ranks";
import { askEvent, askFlows, askOverlay, askSearch, askSums, fetchTile } from "./client";
import { Baseline } from "./Baseline";
import { askCounters } from "./counters";
import { valueText } from "./draw";
import { markHccl } from "./hccl";
import { Labels, PinnedLabels } from "./Labels";
import { layOut, OVERLAYS, processOf, rankKey, trackKey, trackLabel } from "./layout";
import type { Choice, CounterSeries } from "./layout";
import { Details, Selection } from "./Panel";
import { keysText, marksText, parseKeys, parseMarks, parseRange, rangeText } from "./places";
import type { Mark } from "./places";
import { spansOn, useDrawnPath, usePath } from "./path";
import type { Path } from "./path";
import { Stage } from "./stage";
import type { Range } from "./stage";
import { amongOpen, FEW_RANKS, ranksOf, useTracks } from "./tracks";
import { useWalk } from "./walk";
import { Why } from "./Why";
import "./timeline.css";

export type TimelineChange = Readonly<Record<string, string | null | undefined>>;
export interface TimelineProps {
  run: Run;
  base?: Run | null;             // what it is compared with, on the same axis
  said?: string | null;          // what the run is bound by, above the picture
  state: Readonly<Record<string, string>>;
  onState: (change: TimelineChange, replace?: boolean) => void;
}

const KEYS: readonly [string, string][] = [
  ["W  S", "zoom in, out"], ["A  D", "to the left, to the right"], ["F", "fit the selection, or everything"], ["drag", "select a range"],
  ["shift-drag", "move"], ["wheel", "scroll tracks"], ["ctrl-wheel", "zoom at the pointer"], ["fingers", "move, zoom"], ["/", "search"], ["N  P", "next, previous match"],
  [",  .", "previous, next event of the lane"], ["↑  ↓", "to what is around the event; inside or below it"],
  ["Enter", "to the details, Esc back"], ["[  ]", "previous, next step"], ["M", "mark the selection"], ["Esc", "clear the selection"], ["?", "these keys"],
];
const ROOM_FOR_OTHERS = 160;
const OVERLAY_POINTS = 2000;
const FIRST_COUNTERS = 256;

const number = (text: string | undefined) => (text !== undefined && text !== "" && Number.isFinite(Number(text)) ? Number(text) : null);

function toggled(set: ReadonlySet<string>, key: string): Set<string> {
  const out = new Set(set);
  if (!out.delete(key)) out.add(key);
  return out;
}

// As many ranks are open as there is room for, but one; the others are bands. Of many ranks the first is open.
function firstCollapsed(tracks: Tracks, ranks: ReadonlySet<number> | null): Set<string> {
  const shown = tracks.ranks.filter(({ rank }) => !ranks || ranks.has(rank)), ends = new Map<number, number>();
  if (tracks.ranks.length > FEW_RANKS) return new Set(shown.slice(1).map(({ rank }) => rankKey(rank)));
  const all = layOut(tracks, { ranks, collapsed: new Set(), pinned: new Set(), hidden: new Set(), overlays: [], counters: [] });
  for (const row of all.rows) ends.set(row.rank, row.y + row.height);
  return new Set(shown.filter(({ rank }, i) => i > 0 && (ends.get(rank) ?? 0) > innerHeight - ROOM_FOR_OTHERS).map(({ rank }) => rankKey(rank)));
}

function clockText(tracks: Tracks): string {
  if (tracks.ranks.length < 2) return "1 rank";
  if (!tracks.aligned) return `${tracks.ranks.length} ranks; their clocks cannot be compared, each starts at its first event`;
  const most = Math.max(...tracks.ranks.map((rank) => rank.uncertainty_ns ?? 0));
  return `${tracks.ranks.length} ranks on one clock${most > 0 ? ` (± ${nsText(most)})` : ""}`;
}

// The same for little room.
function clockShort(tracks: Tracks): string {
  const most = Math.max(...tracks.ranks.map((rank) => rank.uncertainty_ns ?? 0));
  if (tracks.ranks.length < 2) return "";
  return `${tracks.ranks.length} ranks, ${tracks.aligned ? (most > 0 ? `± ${nsText(most)}` : "one clock") : "own clocks"}`;
}

export function Timeline(props: TimelineProps) {
  const { run, state } = props, span = state.span;
  const runKey = { id: run.id, generation: run.generation }, of = `${run.id} ${span ?? ""}`;
  const stage = useMemo(() => new Stage((key, signal) => fetchTile(runKey, key, span, signal)), [run.id, run.generation, span]);
  useEffect(() => () => stage.close(), [stage]);
  const { tracks, opened, problem, look } = useTracks(run, span, state);
  stage.opened = opened;
  stage.onRanks = look;
  if (!tracks) return <div class="tl"><p class="dim" style={{ padding: "16px" }}>{problem ?? "Reading tracks …"}</p></div>;
  return <Loaded {...props} tracks={tracks} stage={stage} key={of} />;
}

// ---- what is chosen, as the URL says ----

// What the server calls the curve with these keys: so much of each, and of all of them.
const curveName = (keys: readonly (string | undefined)[]) => keys.map((key) => (key ?? "").slice(0, 60)).join(" ").slice(0, 159).trimEnd();

// The series of counters that the run has; a server without the analysis has none.
function useCounters(run: Run, state: TimelineProps["state"], wanted: boolean): { list: readonly CounterSeries[]; left: number } {
  const { table } = useTable(run, wanted ? "counters" : null, { rank: state.rank, span: state.span, step: "all", top: state.counters === "all" ? "all" : FIRST_COUNTERS });
  return useMemo(() => {
    if (!table) return { list: [], left: 0 };
    const rows = new Rows(table);
    const list = rows.all.map((row) => {
      const [process, counter, series, unit] = ["process", "counter", "series", "value_unit"].map((name) => rows.text(row, name));
      return { rank: rows.number(row, "rank") ?? 0, key: curveName([process, counter, series]), label: [counter, series].filter(Boolean).join(" "), unit: unit || null };
    });
    return { list, left: table.hidden };
  }, [table]);
}

function useChoice(tracks: Tracks, { run, state, onState }: TimelineProps) {
  const ranks = useMemo(() => ranksOf(state.rank), [state.rank]);
  const first = useMemo(() => firstCollapsed(tracks, ranks), [tracks, ranks]);
  const collapsed = useMemo(() => parseKeys(state.fold) ?? first, [state.fold, first]);
  const pinned = useMemo(() => parseKeys(state.pin) ?? new Set<string>(), [state.pin]);
  const hidden = useMemo(() => parseKeys(state.hide) ?? new Set<string>(), [state.hide]);
  const setCollapsed = (keys: ReadonlySet<string>) => onState({ fold: keysText(keys) }, true);
  const setPinned = (keys: ReadonlySet<string>) => onState({ pin: keys.size > 0 ? keysText(keys) : null }, true);
  const setHidden = (keys: ReadonlySet<string>) => onState({ hide: keys.size > 0 ? keysText(keys) : null }, true);
  const overlays = useMemo(() => (state.show ?? "").split(",").filter(Boolean), [state.show]);
  const counters = useCounters(run, state, overlays.includes("counters"));
  const choice = useMemo<Choice>(() => ({ ranks, collapsed, pinned, hidden, overlays, counters: counters.list }), [ranks, collapsed, pinned, hidden, overlays, counters]);
  return { choice, left: counters.left, setCollapsed, setPinned, setHidden };
}

// The view in the URL: written when movement ends, read when somebody else has written it.
function useViewInUrl(stage: Stage, props: TimelineProps) {
  const written = useRef<{ from?: string; to?: string }>({});
  const latest = useRef(props), shown = useRef<Stage>(stage);
  latest.current = props;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    stage.onMoved = (settled) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        written.current = { from: String(Math.round(stage.view.from)), to: String(Math.round(stage.view.to)) };
        latest.current.onState(written.current, true);
      }, settled ? 120 : 350);
    };
    return () => {
      clearTimeout(timer);
      stage.onMoved = () => undefined;
    };
  }, [stage]);
  const { from, to } = props.state;
  useEffect(() => {
    const a = number(from), b = number(to);
    const own = shown.current === stage && from === written.current.from && to === written.current.to;
    if (a === null || b === null || b <= a || own) return;
    shown.current = stage;   // there is a new one when more of the run is read
    written.current = { from: String(from), to: String(to) };
    stage.placedFor = props.state.event ?? null;
    stage.show(a, b);
  }, [stage, from, to]);
}

// ---- search ----

interface Point { x: number; y: number }

interface Match { event: EventPlace; at: number; total: number }

function useSearch(props: TimelineProps, stage: Stage, onEvent: (id: string) => void) {
  const [match, setMatch] = useState<Match | null>(null);
  const [note, setNote] = useState("");
  const text = props.state.q ?? "";
  const here = useRef<EventPlace | null>(null), queue = useRef<Promise<void>>(Promise.resolve()), stop = useRef(new AbortController());
  const show = (next: Match | null, words: string) => {
    here.current = next?.event ?? null;
    setMatch(next);
    setNote(words);
  };
  const find = async (backwards: boolean, words: string, signal: AbortSignal) => {
    const ask = (from: number | null, id: string | null): Promise<Found> => askSearch(
      props.run, { text: words, backwards, from, id, rank: amongOpen(props.state.rank, stage.opened), limit: 1 }, props.state.span, signal);
    try {
      const at = here.current;
      let found = await ask(at?.start_ns ?? (backwards ? stage.view.to : stage.view.from), at?.id ?? null);
      if (found.events.length === 0 && found.total > 0) found = await ask(null, null);
      const event = found.events[0];
      show(event ? { event, at: found.before + 1, total: found.total } : null, event ? "" : "no match");
      if (event) onEvent(event.id);
    } catch (error) {
      if (!signal.aborted) show(null, error instanceof Error ? error.message : String(error));
    }
  };
  // The next match, from the current one or from what is on screen; round and round. Every press counts, in order.
  const step = (backwards: boolean) => {
    const { signal } = stop.current;
    if (text) queue.current = queue.current.then(() => (signal.aborted ? undefined : find(backwards, text, signal)));
  };
  const clear = () => {
    stop.current.abort();
    stop.current = new AbortController();
    show(null, "");
  };
  return { match, note, step, clear };
}

function Search(props: { text: string; onText: (text: string) => void; onStep: (backwards: boolean) => void; match: Match | null; note: string; ranks: number | null; box: { current: HTMLInputElement | null } }) {
  return (
    <form class="tl-search group" role="search" onSubmit={(event) => { event.preventDefault(); props.onStep(false); }}>
      <input
        ref={props.box} type="search" value={props.text} placeholder="Search by name  /" aria-label="Search events by name"
        onInput={(event) => props.onText(event.currentTarget.value)}
        onKeyDown={(event) => { if (event.key === "Escape") event.currentTarget.blur(); }}
      />
      <button type="button" aria-label="Previous match" title="previous (P)" onClick={() => props.onStep(true)}>‹</button>
      <button type="button" aria-label="Next match" title="next (N)" onClick={() => props.onStep(false)}>›</button>
      <span class="count dim" role="status">{props.match ? `${props.match.at} of ${props.match.total}${props.ranks === null ? "" : ` in ${props.ranks} open ranks`}` : props.note}</span>
    </form>
  );
}

// ---- marks ----

function Marks(props: { marks: readonly Mark[]; set: (marks: readonly Mark[]) => void; go: (mark: Mark) => void }) {
  const { marks, set } = props;
  return (
    <details class="tl-marks">
      <summary>marks ({marks.length})</summary>
      <div class="tl-menu">
        {marks.map((mark, i) => (
          <div key={mark.at} class="tl-mark">
            <button type="button" title="Show it in the middle" onClick={() => props.go(mark)}>{nsText(mark.at)}</button>
            <input type="text" aria-label={`Name of the mark at ${nsText(mark.at)}`} placeholder="name" value={mark.name}
              onChange={(event) => set(marks.map((one, k) => (k === i ? { ...one, name: event.currentTarget.value.trim() } : one)))} />
            <button type="button" aria-label={`Remove the mark at ${nsText(mark.at)}`} onClick={() => set(marks.filter((one) => one !== mark))}>×</button>
          </div>
        ))}
      </div>
    </details>
  );
}

// ---- overlays ----

interface Drawn { from: number; to: number; span: number }

// Curves and paths of the rows on screen, for the view and as much on both sides.
function useOverlays(stage: Stage, props: TimelineProps, choice: Choice, path: Path | null) {
  const drawn = useRef(new Map<string, Drawn>());
  const busy = useRef(new Set<string>());
  useEffect(() => {
    drawn.current.clear();
    stage.overlays.clear();
    const stop = new AbortController();
    stage.onDrawn = () => {
      const { from, to } = stage.view, span = to - from;
      for (const row of stage.layout.rows) {
        if (row.kind !== "overlay" || busy.current.has(row.key)) continue;
        if (row.overlay === "critical") {
          // of one path through all ranks: what of it is on this one
          if (path && !stage.overlays.has(row.key)) stage.overlays.set(row.key, { unit: null, series: [], spans: spansOn(path, row.rank) });
          continue;
        }
        const y = stage.topOf(row), have = drawn.current.get(row.key);
        if (y > stage.height || y + row.height < 0) continue;
        if (have && have.from <= from && have.to >= to && have.span < span * 4 && have.span > span / 4) continue;
        const want = { from: from - span, to: to + span, span };
        const verb = OVERLAYS.find((one) => one.id === row.overlay)?.verb ?? row.overlay;
        busy.current.add(row.key);
        askOverlay(props.run, verb, row.rank, want.from, want.to, OVERLAY_POINTS, props.state.span, stop.signal, row.curve?.key)
          .catch(() => ({ unit: null, series: [], spans: [] }))
          .then((answer) => {
            if (stop.signal.aborted) return;
            drawn.current.set(row.key, want);
            const { curve } = row;
            stage.overlays.set(row.key, curve ? { ...answer, unit: curve.unit, series: answer.series.filter((one) => one.name === curve.key) } : answer);
          })
          .finally(() => {
            busy.current.delete(row.key);
            stage.redraw();
          });
      }
    };
    return () => {
      stop.abort();
      busy.current.clear();
      stage.onDrawn = () => undefined;
    };
  }, [stage, choice.overlays.join(), path]);
}

// ---- all of it ----

function Loaded(props: TimelineProps & { tracks: Tracks; stage: Stage }) {
  const { tracks, stage, run, state, onState } = props;
  const canvas = useRef<HTMLCanvasElement>(null), ruler = useRef<HTMLCanvasElement>(null), scroller = useRef<HTMLDivElement>(null), box = useRef<HTMLInputElement>(null);
  const drag = useRef<{ x: number; y: number; time: number; moved: boolean; pans: boolean; lastX: number } | null>(null);
  const fingers = useRef(new Map<number, Point>());
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [scroll, setScroll] = useState(0);
  const range = useMemo(() => parseRange(state.sel), [state.sel]);
  const setRange = (next: Range | null) => onState({ sel: rangeText(next) }, true);
  const [help, setHelp] = useState(false);
  const [tip, setTip] = useState<{ x: number; y: number; text: string; more: string } | null>(null);
  const marks = useMemo(() => parseMarks(state.marks), [state.marks]);
  const setMarks = (next: readonly Mark[]) => onState({ marks: marksText(next) }, true);
  const { choice, left, setCollapsed, setPinned, setHidden } = useChoice(tracks, props);
  const layout = useMemo(() => layOut(tracks, choice), [tracks, choice]);
  stage.tracks = tracks;
  stage.tiles.onTile = useMemo(() => markHccl(tracks.tracks), [tracks]);
  stage.layout = layout;
  if (!drag.current?.moved) stage.range = range;
  stage.marks = marks;
  useViewInUrl(stage, props);
  const path = usePath(run, tracks.ranks.length, state, choice.overlays.includes("critical"));
  useDrawnPath(stage, path);
  useOverlays(stage, props, choice, path);

  const chooseEvent = (id: string | null, replace = false) => onState({ event: id }, replace);
  const search = useSearch(props, stage, (id) => chooseEvent(id, true));

  const eventId = state.event ?? null, panel = useRef<HTMLElement>(null);
  const walk = useWalk(stage, run, state.span, eventId, (id) => chooseEvent(id, true));
  const [event, eventProblem] = useAnswer<EventDetails>(eventId && `${run.id} ${run.generation} ${eventId}`, (signal) => askEvent(run, eventId ?? "", state.span, signal));
  const [flows] = useAnswer(eventId && `${run.id} ${run.generation} ${eventId}`, (signal) => askFlows(run, eventId ?? "", state.span, signal));
  const among = amongOpen(state.rank, stage.opened);
  const [sums, sumsProblem] = useAnswer(
    range && `${run.id} ${run.generation} ${range.tracks ? "" : among ?? ""} ${Math.round(range.from)} ${Math.round(range.to)} ${range.tracks?.join() ?? ""}`,
    (signal) => askSums(run, range?.from ?? 0, range?.to ?? 0, range?.tracks?.join() ?? null, among, state.span, signal), 120);
  const curves = useMemo(() => layout.rows.filter((row) => row.kind === "overlay"), [layout]);
  const [sumsAll, setSumsAll] = useState(false);
  const [counterSums] = useAnswer(
    range && curves.length > 0 ? `${run.id} ${run.generation} ${Math.round(range.from)} ${Math.round(range.to)} ${range.tracks?.join() ?? ""} ${curves.map((row) => row.key).join()} ${sumsAll}` : null,
    (signal) => askCounters(run, curves, range ?? { from: 0, to: 0, tracks: null }, state.span, sumsAll, signal), 120);

  stage.chosen = event && event.id === eventId && event.start_ns !== undefined
    ? { id: event.id, rank: event.rank ?? 0, track: event.track ?? 0, lane: event.lane ?? 0, start: event.start_ns, end: event.end_ns ?? event.start_ns } : null;
  stage.flows = flows && eventId ? flows.flows : [];

  // Size, theme, and the first view.
  useEffect(() => {
    const body = scroller.current;
    if (!body) return;
    const measure = () => setSize({ width: body.clientWidth, height: body.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(body);
    measure();
    const recolor = () => { stage.palette.refresh(); stage.redraw(); };
    const theme = new MutationObserver(recolor), system = matchMedia("(prefers-color-scheme: dark)");
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    system.addEventListener("change", recolor);
    return () => {
      observer.disconnect();
      theme.disconnect();
      system.removeEventListener("change", recolor);
    };
  }, [stage]);
  useEffect(() => stage.attach(canvas.current, ruler.current), [stage]);
  useEffect(() => {
    if (number(state.from) !== null && number(state.to) !== null) return;
    const step = state.step ? stage.stepsOf().find((one) => one.name === state.step) : undefined;
    if (step) stage.show(step.start_ns, step.end_ns);
    else if (!eventId) stage.showAll();
  }, [stage, state.step]);
  useEffect(() => stage.redraw());

  const bringIntoView = (target: { rank: number; track: number; lane: number }) => {
    const key = rankKey(target.rank);
    if (choice.collapsed.has(key)) {
      setCollapsed(toggled(choice.collapsed, key));
      requestAnimationFrame(() => requestAnimationFrame(() => bringRow(target)));
    } else bringRow(target);
  };
  const bringRow = (target: { rank: number; track: number; lane: number }) => {
    const row = stage.trackRow(target.rank, target.track), body = scroller.current;
    if (!row || row.pinned || !body) return;
    const y = row.y + target.lane * row.laneHeight, visible = stage.height - stage.layout.pinnedHeight;
    if (y < stage.scroll + 8 || y + 32 > stage.scroll + visible) body.scrollTop = Math.max(0, y - visible / 3);
  };
  // An event that is chosen elsewhere is brought on screen.
  useEffect(() => {
    const chosen = stage.chosen;
    // an event without a time has no place
    if (event && !chosen && number(state.from) === null) stage.showAll();
    if (!chosen || !event) return;
    if (stage.opened && !stage.opened.has(chosen.rank)) {
      stage.onRanks([chosen.rank]);
      return;
    }
    const { from, to } = stage.view, length = Math.max(chosen.end - chosen.start, 1), whole = to - from;
    const inside = chosen.start >= from && chosen.end <= to;
    if (stage.placedFor !== event.id && (state.from === undefined || !inside || length < whole / 400)) {
      const around = Math.max(length * 6, 400), middle = chosen.start + length / 2;
      stage.show(middle - around / 2, middle + around / 2);
    }
    stage.placedFor = null;
    bringIntoView(chosen);
  }, [event?.id, stage.opened?.has(event?.rank ?? -1)]);

  // ---- pointer ----
  const place = (pointer: MouseEvent) => {
    const box2 = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    return { x: pointer.clientX - box2.left, y: pointer.clientY - box2.top };
  };
  const tracksBetween = (y0: number, y1: number): string[] => {
    const low = Math.min(y0, y1), high = Math.max(y0, y1), out: string[] = [];
    for (const row of [...layout.pinned, ...layout.rows]) {
      const top = stage.topOf(row);
      if (top + row.height <= low || top >= high + 1) continue;
      if (row.kind === "track") out.push(`${row.rank}:${row.track.track}`);
      else if (row.kind === "rank" && row.collapsed) for (const track of row.tracks) out.push(`${row.rank}:${track.track}`);
    }
    return [...new Set(out)];
  };
  const pointerDown = (pointer: PointerEvent) => {
    if (pointer.button > 1) return;
    const at = place(pointer);
    (pointer.currentTarget as HTMLElement).setPointerCapture(pointer.pointerId);
    if (pointer.pointerType === "touch") fingers.current.set(pointer.pointerId, at);
    if (fingers.current.size < 2) drag.current = { ...at, time: stage.timeAt(at.x), moved: false, pans: pointer.shiftKey || pointer.button === 1, lastX: at.x };
    else if (drag.current) drag.current.moved = true;
    setTip(null);
  };
  // One finger moves the picture, two also zoom it: what is under them stays there.
  const touch = (id: number, at: Point) => {
    const before = [...fingers.current.values()], was = fingers.current.get(id), body = scroller.current;
    if (!was || !body) return;
    fingers.current.set(id, at);
    const after = [...fingers.current.values()], n = after.length;
    const middle = (points: Point[]) => ({ x: points.reduce((sum, one) => sum + one.x, 0) / n, y: points.reduce((sum, one) => sum + one.y, 0) / n });
    const apart = (points: Point[]) => Math.max(24, Math.abs((points[0]?.x ?? 0) - (points[1]?.x ?? 0)));
    const from = middle(before), to = middle(after);
    if (n > 1) stage.zoom(apart(before) / apart(after), stage.timeAt(from.x), false);
    stage.panPixels(from.x - to.x);
    body.scrollTop += from.y - to.y;
  };
  const selectTo = (at: { x: number; y: number }, all: boolean, done: boolean) => {
    const from = drag.current;
    if (!from) return;
    const a = from.time, b = stage.timeAt(at.x), tracksIn = all ? null : tracksBetween(from.y, at.y);
    const next = { from: Math.round(Math.min(a, b)), to: Math.round(Math.max(a, b)), tracks: tracksIn && tracksIn.length > 0 ? tracksIn : null };
    // the panel, which takes room, comes when the pointer is let go
    if (done) setRange(next);
    stage.range = next;
    stage.redraw();
  };
  const pointerMove = (pointer: PointerEvent, onRuler: boolean) => {
    const at = place(pointer), from = drag.current;
    stage.pointer = at;
    if (!from) {
      if (!onRuler) hover(pointer, at);
      return;
    }
    const finger = pointer.pointerType === "touch";
    if (Math.abs(at.x - from.x) > 3 || (finger && Math.abs(at.y - from.y) > 3) || (from.moved && !from.pans)) from.moved = true;
    if (!from.moved) return;
    if (finger) {
      touch(pointer.pointerId, at);
      return;
    }
    if (from.pans) stage.panPixels(from.lastX - at.x);
    else selectTo(at, onRuler, false);
    from.lastX = at.x;
  };
  const pointerUp = (pointer: PointerEvent, onRuler: boolean) => {
    const from = drag.current, at = place(pointer), finger = fingers.current.delete(pointer.pointerId);
    if (from?.moved && !from.pans && !finger) selectTo(at, onRuler, true);
    if (fingers.current.size > 0) return;
    drag.current = null;
    if (!from) return;
    if (from.moved) {
      if (from.pans || finger) stage.onMoved(true);
      return;
    }
    if (onRuler) return;
    const hit = stage.hit(at.x, at.y);
    if (hit) {
      stage.placedFor = `${hit.row.rank}:${hit.tile.row[hit.i]}`;
      chooseEvent(stage.placedFor);
      return;
    }
    const row = stage.rowAt(at.y);
    if (row?.kind === "rank" && row.collapsed) setCollapsed(toggled(choice.collapsed, row.key));
    else if (row?.kind === "overlay") {
      const time = stage.timeAt(at.x), found = stage.overlays.get(row.key)?.spans.find(([start, end]) => start <= time && end >= time);
      if (found?.[4]) chooseEvent(found[4]);
    } else if (eventId) chooseEvent(null);
    else setRange(null);
  };
  // The system took the pointer for something else.
  const forget = (pointer: PointerEvent) => {
    fingers.current.delete(pointer.pointerId);
    drag.current = null;
  };
  // What curves say under the pointer: the last point before it holds.
  const hoverCurve = (pointer: PointerEvent, at: Point) => {
    const row = stage.rowAt(at.y), overlay = row?.kind === "overlay" ? stage.overlays.get(row.key) : undefined;
    const time = stage.timeAt(at.x);
    const values = (overlay?.series ?? []).flatMap((series) => {
      const point = series.points.filter(([start]) => start <= time).at(-1);
      return point ? [`${series.name}: ${valueText(point[3], overlay?.unit ?? null)}`] : [];
    });
    if (row?.kind !== "overlay" || values.length === 0) setTip(null);
    else setTip({ x: pointer.clientX, y: pointer.clientY, text: row.label, more: values.slice(0, 8).join(" · ") });
  };
  const hover = (pointer: PointerEvent, at: { x: number; y: number }) => {
    const hit = stage.hit(at.x, at.y);
    if (!hit) {
      hoverCurve(pointer, at);
      return;
    }
    const { tile, i } = hit, count = tile.count[i] as number, length = (tile.end[i] as number) - (tile.start[i] as number);
    const wait = tile.wait.get(i);
    setTip({
      x: pointer.clientX, y: pointer.clientY, text: shortName(hit.name, 200),
      more: count > 1 ? `${count} spans, ${nsText(tile.sum[i] as number)} together; zoom in to see each` : `${nsText(length)}${wait ? `, of that ${nsText(wait)} waiting` : ""}`,
    });
  };
  useEffect(() => {
    const body = scroller.current, top = ruler.current;
    if (!body || !top) return;
    const wheel = (event2: WheelEvent) => {
      if (event2.ctrlKey || event2.metaKey) {
        event2.preventDefault();
        const at = place(event2);
        stage.zoom(Math.exp(Math.max(-240, Math.min(240, event2.deltaY)) / 300), stage.timeAt(at.x), false);
      } else if (event2.shiftKey || Math.abs(event2.deltaX) > Math.abs(event2.deltaY)) {
        event2.preventDefault();
        stage.panPixels(event2.deltaX || event2.deltaY);
      }
    };
    body.addEventListener("wheel", wheel, { passive: false });
    top.addEventListener("wheel", wheel, { passive: false });
    return () => {
      body.removeEventListener("wheel", wheel);
      top.removeEventListener("wheel", wheel);
    };
  }, [stage]);

  // ---- keys ----
  const fit = () => {
    const target = range ?? (stage.chosen ? { from: stage.chosen.start, to: Math.max(stage.chosen.end, stage.chosen.start + 1) } : null);
    if (!target) stage.showAll();
    else {
      const margin = (target.to - target.from) * 0.05;
      stage.show(target.from - margin, target.to + margin);
    }
  };
  const goStep = (direction: number) => {
    const rank = stage.chosen?.rank ?? layout.rows[0]?.rank, steps = stage.stepsOf(rank), middle = (stage.view.from + stage.view.to) / 2;
    let at = steps.findIndex((step) => step.start_ns <= middle && middle < step.end_ns);
    const shown = at >= 0 && Math.abs((steps[at]?.end_ns ?? 0) - (steps[at]?.start_ns ?? 0) - (stage.view.to - stage.view.from)) < (stage.view.to - stage.view.from) * 0.2;
    if (at < 0) at = direction > 0 ? steps.findIndex((step) => step.start_ns > middle) : steps.filter((step) => step.end_ns <= middle).length - 1;
    else if (shown) at += direction;
    const step = steps[at];
    if (!step) return;
    const margin = (step.end_ns - step.start_ns) * 0.02;
    stage.show(step.start_ns - margin, step.end_ns + margin);
  };
  const mark = () => {
    const at = range ? [range.from, range.to] : stage.chosen ? [stage.chosen.start] : stage.pointer ? [Math.round(stage.timeAt(stage.pointer.x))] : [];
    const there = at.filter((one) => marks.some((other) => other.at === one)), fresh = at.filter((one) => !there.includes(one));
    setMarks(fresh.length === 0 ? marks.filter((one) => !at.includes(one.at)) : [...marks, ...fresh.map((one) => ({ at: one, name: "" }))]);
  };
  const goMark = ({ at }: Mark) => {
    const half = (stage.view.to - stage.view.from) / 2;
    stage.show(at - half, at + half);
  };
  const press = (event2: KeyboardEvent) => {
    if (event2.metaKey || event2.ctrlKey || event2.altKey || isTyping(event2.target)) return;
    const key = event2.key.length === 1 ? event2.key.toLowerCase() : event2.key;
    const arrows: Record<string, string> = { ArrowLeft: "a", ArrowRight: "d" };
    const moves = arrows[key] ?? (["w", "a", "s", "d"].includes(key) ? key : null);
    const actions: Record<string, () => void> = {
      f: fit, "/": () => { box.current?.focus(); box.current?.select(); }, n: () => search.step(false), p: () => search.step(true),
      "[": () => goStep(-1), "]": () => goStep(1), m: mark, "?": () => setHelp(!help), ",": () => walk("previous"), ".": () => walk("next"),
      ...(document.activeElement === canvas.current ? { ArrowUp: () => walk("out"), ArrowDown: () => walk("in"), Enter: () => panel.current?.focus() } : {}),
      Escape: () => { if (panel.current?.contains(document.activeElement)) canvas.current?.focus(); else if (help) setHelp(false); else if (range) setRange(null); else if (eventId) chooseEvent(null); },
    };
    if (moves) stage.press(moves);
    else if (actions[key]) actions[key]();
    else return;
    event2.preventDefault();
  };
  const pressed = useRef(press);
  pressed.current = press;
  useEffect(() => {
    const down = (event2: KeyboardEvent) => pressed.current(event2);
    const up = (event2: KeyboardEvent) => {
      const key = { ArrowLeft: "a", ArrowRight: "d" }[event2.key] ?? event2.key.toLowerCase();
      stage.release(key);
    };
    const away = () => stage.release();
    addEventListener("keydown", down);
    addEventListener("keyup", up);
    addEventListener("blur", away);
    return () => {
      removeEventListener("keydown", down);
      removeEventListener("keyup", up);
      removeEventListener("blur", away);
    };
  }, [stage]);

  const processes = useMemo(() => [...new Set(tracks.tracks.map(processOf))].sort(), [tracks]);
  const toggleOverlay = (id: string) => {
    const next = choice.overlays.includes(id) ? choice.overlays.filter((one) => one !== id) : [...choice.overlays, id];
    onState({ show: next.join(",") || null }, true);
  };
  const chosenTrack = stage.chosen ? tracks.tracks.find((track) => trackKey(track) === trackKey({ rank: stage.chosen?.rank ?? 0, track: stage.chosen?.track ?? 0 })) : undefined;
  const noteOf = (rank: number) => {
    const clock = tracks.ranks.find((one) => one.rank === rank);
    return clock && clock.moved_ns !== 0 ? `clock moved ${nsText(Math.abs(clock.moved_ns))}` : "";
  };
  const onCollapse = (key: string) => setCollapsed(toggled(choice.collapsed, key)), onPin = (key: string) => setPinned(toggled(choice.pinned, key));
  const allCollapsed = tracks.ranks.every(({ rank }) => choice.collapsed.has(rankKey(rank)));
  const link = (view: string, change: TimelineChange) => linkTo(parseRoute(location.hash), view, change);

  return (
    <div class={props.base ? "tl both" : "tl"}>
      <div class="tl-tools">
        <h1 title={props.said ?? undefined}>{props.said ?? "Timeline"}</h1>
        <span class="dim tl-clock">{clockText(tracks)}</span>
        <span class="group" role="group" aria-label="Overlays">
          {OVERLAYS.map(({ id, title }) => <button key={id} type="button" aria-pressed={choice.overlays.includes(id)} onClick={() => toggleOverlay(id)}>{title.replace("GPU", deviceWord(run))}</button>)}
        </span>
        {left > 0 ? <button type="button" class="tl-left" title="Each series of counters is a track" onClick={() => onState({ counters: "all" }, true)}>{left} more counters</button> : null}
        <details>
          <summary>processes{choice.hidden.size > 0 ? ` (${processes.length - choice.hidden.size} of ${processes.length})` : ""}</summary>
          <div class="tl-menu">
            {processes.map((name) => (
              <label key={name}><input type="checkbox" checked={!choice.hidden.has(name)} onChange={() => setHidden(toggled(choice.hidden, name))} /> {shortName(name, 60)}</label>
            ))}
          </div>
        </details>
        {marks.length > 0 ? <Marks marks={marks} set={setMarks} go={goMark} /> : null}
        {tracks.ranks.length > 1 ? <button type="button" onClick={() => setCollapsed(allCollapsed ? new Set() : new Set(tracks.ranks.map(({ rank }) => rankKey(rank))))}>{allCollapsed ? "expand all" : "collapse all"}</button> : null}
        <button type="button" aria-pressed={state.twin === "1"} title="The events of this time as a table" onClick={() => onState({ twin: state.twin ? null : "1" }, true)}>table</button>
        <button type="button" aria-expanded={help} title="Keys of the timeline (?)" onClick={() => setHelp(!help)}>? keys</button>
        <span class="grow" />
        <Search text={state.q ?? ""} box={box} match={search.match} note={search.note} ranks={stage.opened?.size ?? null} onStep={search.step}
          onText={(text) => { search.clear(); onState({ q: text || null }, true); }} />
      </div>
      <div class="tl-body">
        <div class="tl-corner" title={clockText(tracks)}>{clockShort(tracks)}</div>
        <canvas ref={ruler} class="tl-ruler" aria-hidden="true" onPointerDown={pointerDown} onPointerMove={(e) => pointerMove(e, true)} onPointerUp={(e) => pointerUp(e, true)} onPointerCancel={forget} />
        <div ref={scroller} class="tl-scroll" onScroll={(e) => { stage.scroll = e.currentTarget.scrollTop; setScroll(e.currentTarget.scrollTop); stage.redraw(); }}>
          <div class="tl-space" style={{ height: `${Math.max(layout.height + layout.pinnedHeight, size.height)}px` }}>
            <div class="tl-sticky">
              <canvas
                ref={canvas} class="tl-canvas" style={{ height: `${size.height}px` }} tabIndex={0} role="application"
                aria-label={`Timeline of ${run.name}: ${tracks.tracks.length} tracks of ${clockText(tracks)}. Keys: W and S zoom, A and D move, comma and full stop choose events, Enter goes to their details, slash searches, question mark lists all.`}
                onPointerDown={pointerDown} onPointerMove={(e) => pointerMove(e, false)} onPointerUp={(e) => pointerUp(e, false)} onPointerCancel={forget} onPointerLeave={() => { stage.pointer = null; setTip(null); }}
              />
              <PinnedLabels layout={layout} onCollapse={onCollapse} onPin={onPin} />
            </div>
            <Labels layout={layout} scroll={scroll} height={size.height} noteOf={noteOf} onCollapse={onCollapse} onPin={onPin} />
          </div>
        </div>
        {layout.rows.length === 0 ? <p class="tl-none">No rank is chosen, or the trace has no spans.</p> : null}
        {help ? <div class="tl-keys" role="dialog" aria-label="Keys of the timeline"><h2>Keys</h2><dl>{KEYS.map(([key, what]) => <><dt key={key}><kbd>{key}</kbd></dt><dd>{what}</dd></>)}</dl></div> : null}
      </div>
      {props.base ? <Baseline run={run} base={props.base} stage={stage} tracks={tracks} choice={choice} state={state} onState={onState} /> : null}
      {eventId || range ? (
        <aside class="tl-panel" aria-label="Details" ref={panel} tabIndex={-1}>
          {eventId && path ? <Why run={run} state={state} path={path} event={eventId} onEvent={chooseEvent} /> : null}
          {eventId && event ? <Details event={event} track={chosenTrack ? trackLabel(chosenTrack) : "–"} onEvent={chooseEvent} link={link} /> : null}
          {eventId && !event ? <p class={eventProblem ? "bad" : "dim"}>{eventProblem ?? "Reading the event …"}</p> : null}
          {range ? <Selection range={range} ranks={stage.opened?.size ?? null} sums={sums} counters={counterSums} onAllCounters={() => setSumsAll(true)} problem={sumsProblem} device={deviceWord(run)} onEvent={chooseEvent} onClear={() => setRange(null)} /> : null}
        </aside>
      ) : null}
      <p class="tl-said" role="status">{event && event.id === eventId ? `${shortName(event.name ?? event.id, 120)}, ${nsText((event.end_ns ?? 0) - (event.start_ns ?? 0))}, rank ${event.rank ?? "–"}, ${chosenTrack ? trackLabel(chosenTrack) : "no track"}` : ""}</p>
      {tip ? <div class="tl-tip" style={{ left: `${Math.min(tip.x + 14, innerWidth - 480)}px`, top: `${tip.y + 16}px` }}><span class="mono">{tip.text}</span><br /><span class="dim">{tip.more}</span></div> : null}
    </div>
  );
}
