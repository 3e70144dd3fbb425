// SPDX-License-Identifier: Apache-2.0
// The run that is compared with, below the other and on its axis: the same stretch of time, from the start of a step that both have.
// Moving one moves both. What is chosen here is of the baseline and shown here.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EventDetails, Run, Step, Tracks } from "../model";
import { useAnswer } from "../app/answer";
import { linkTo, parseRoute } from "../app/route";
import { nsText, shortName } from "../ui/format";
import { askEvent, askTracks, fetchTile } from "./client";
import { Changes } from "./Changes";
import { Labels } from "./Labels";
import { layOut, rankKey, trackLabel } from "./layout";
import type { Choice } from "./layout";
import { Details } from "./Panel";
import { keysText, parseKeys, parseRange } from "./places";
import { Stage } from "./stage";
import "./baseline.css";

interface Props {
  run: Run;
  base: Run;
  stage: Stage;                                   // of the run that is looked at
  tracks: Tracks;
  choice: Choice;
  state: Readonly<Record<string, string>>;
  onState: (change: Readonly<Record<string, string | null>>, replace?: boolean) => void;
}

// When a step begins: on the first rank that is in it.
function startOf(steps: readonly Step[], name: string): number | null {
  const own = steps.filter((step) => step.name === name).map((step) => step.start_ns);
  return own.length > 0 ? Math.min(...own) : null;
}

export function commonSteps(one: readonly Step[], other: readonly Step[]): string[] {
  const names = new Set(other.map((step) => step.name));
  return [...new Set(one.map((step) => step.name))].filter((name) => names.has(name)).sort((a, b) => Number(a) - Number(b));
}

// How much later the run is than the baseline: by the start of the step, else by the first event.
export function shiftOf(tracks: Tracks, base: Tracks, step: string | undefined): number {
  const here = step === undefined ? null : startOf(tracks.steps, step), there = step === undefined ? null : startOf(base.steps, step);
  return here !== null && there !== null ? here - there : tracks.from_ns - base.from_ns;
}

export function Baseline(props: Props) {
  const { base, state } = props;
  const [read, setRead] = useState<{ of: string; tracks: Tracks } | null>(null);
  const key = { id: base.id, generation: base.generation }, of = `${base.id} ${base.generation}`;
  const own = useMemo(() => new Stage((tile, signal) => fetchTile(key, tile, undefined, signal)), [of]);
  useEffect(() => () => own.close(), [own]);
  useEffect(() => {
    const stop = new AbortController();
    askTracks(key, undefined, null, stop.signal).then((tracks) => setRead({ of, tracks }), () => undefined);
    return () => stop.abort();
  }, [of]);
  const tracks = read?.of === of ? read.tracks : null;
  if (!tracks) return <div class="tl-below"><p class="dim">Reading {base.name} …</p></div>;
  return <Below {...props} own={own} baseTracks={tracks} key={`${of} ${state.rank ?? ""}`} />;
}

function Below(props: Props & { own: Stage; baseTracks: Tracks }) {
  const { own, stage, tracks, baseTracks, base, choice, state, onState } = props;
  const canvas = useRef<HTMLCanvasElement>(null), ruler = useRef<HTMLCanvasElement>(null), scroller = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState(0), [scroll, setScroll] = useState(0);
  const folded = useMemo(() => parseKeys(state.bfold), [state.bfold]), chosen = state.bevent ?? null;
  const setChosen = (id: string | null) => onState({ bevent: id }, true);
  const [tip, setTip] = useState<{ x: number; y: number; text: string; more: string } | null>(null);
  const steps = useMemo(() => commonSteps(tracks.steps, baseTracks.steps), [tracks, baseTracks]);
  const step = [state.align, state.step].find((one) => one !== undefined && steps.includes(one)) ?? steps[0];
  const shift = shiftOf(tracks, baseTracks, step);
  const collapsed = folded ?? new Set(baseTracks.ranks.map(({ rank }) => rankKey(rank)).filter((one) => choice.collapsed.has(one)));
  const layout = useMemo(() => layOut(baseTracks, { ranks: choice.ranks, collapsed, pinned: new Set(), hidden: choice.hidden, overlays: [], counters: [] }), [baseTracks, choice, folded]);
  own.tracks = baseTracks;
  own.layout = layout;
  const range = useMemo(() => parseRange(state.sel), [state.sel]);
  const [event] = useAnswer<EventDetails>(chosen && `${base.id} ${base.generation} ${chosen}`, (signal) => askEvent(base, chosen ?? "", undefined, signal));
  own.chosen = event && event.start_ns !== undefined ? { id: event.id, rank: event.rank ?? 0, track: event.track ?? 0, lane: event.lane ?? 0, start: event.start_ns, end: event.end_ns ?? event.start_ns } : null;

  // One axis: whatever the other shows is shown here.
  useEffect(() => {
    const follow = () => {
      const { from, to } = stage.view, range = stage.range;
      own.view = { from: from - shift, to: to - shift };
      own.range = range && { from: range.from - shift, to: range.to - shift, tracks: null };
      own.redraw();
    };
    stage.followers.add(follow);
    follow();
    return () => void stage.followers.delete(follow);
  }, [stage, own, shift]);
  useEffect(() => own.attach(canvas.current, ruler.current), [own]);
  useEffect(() => own.redraw());
  useEffect(() => {
    const body = scroller.current;
    if (!body) return;
    const observer = new ResizeObserver(() => setSize(body.clientHeight));
    observer.observe(body);
    const recolor = () => { own.palette.refresh(); own.redraw(); };
    const theme = new MutationObserver(recolor), system = matchMedia("(prefers-color-scheme: dark)");
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    system.addEventListener("change", recolor);
    const wheel = (turn: WheelEvent) => {
      if (!turn.ctrlKey && !turn.metaKey) return;
      turn.preventDefault();
      stage.zoom(Math.exp(Math.max(-240, Math.min(240, turn.deltaY)) / 300), own.timeAt(placeOf(turn).x) + shift, false);
    };
    body.addEventListener("wheel", wheel, { passive: false });
    return () => {
      observer.disconnect();
      theme.disconnect();
      system.removeEventListener("change", recolor);
      body.removeEventListener("wheel", wheel);
    };
  }, [own, stage, shift]);

  const placeOf = (pointer: MouseEvent) => {
    const box = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    return { x: pointer.clientX - box.left, y: pointer.clientY - box.top };
  };
  const drag = useRef<{ x: number; moved: boolean } | null>(null);
  const down = (pointer: PointerEvent) => {
    (pointer.currentTarget as HTMLElement).setPointerCapture(pointer.pointerId);
    drag.current = { x: pointer.clientX, moved: false };
    setTip(null);
  };
  const move = (pointer: PointerEvent) => {
    const from = drag.current, at = placeOf(pointer);
    if (from) {
      if (Math.abs(pointer.clientX - from.x) > 3) from.moved = true;
      if (from.moved) {
        stage.panPixels(from.x - pointer.clientX);
        from.x = pointer.clientX;
      }
      return;
    }
    const hit = own.hit(at.x, at.y);
    if (!hit) return setTip(null);
    const { tile, i } = hit, count = tile.count[i] as number;
    setTip({ x: pointer.clientX, y: pointer.clientY, text: shortName(hit.name, 200), more: count > 1 ? `${count} spans, ${nsText(tile.sum[i] as number)} together` : nsText((tile.end[i] as number) - (tile.start[i] as number)) });
  };
  const up = (pointer: PointerEvent) => {
    const from = drag.current, at = placeOf(pointer);
    drag.current = null;
    if (!from || from.moved) {
      if (from) stage.onMoved(true);
      return;
    }
    const hit = own.hit(at.x, at.y), row = own.rowAt(at.y);
    if (hit) setChosen(`${hit.row.rank}:${hit.tile.row[hit.i]}`);
    else if (row?.kind === "rank" && row.collapsed) fold(row.key);
    else setChosen(null);
  };
  const fold = (row: string) => {
    const next = new Set(collapsed);
    if (!next.delete(row)) next.add(row);
    onState({ bfold: keysText(next) }, true);
  };
  const link = (view: string, change: Readonly<Record<string, string>>) => linkTo({ ...parseRoute(location.hash), run: base.id }, view, { ...change, base: null });
  const track = own.chosen ? baseTracks.tracks.find((one) => one.rank === own.chosen?.rank && one.track === own.chosen.track) : undefined;
  return (
    <section class="tl-below" aria-label={`Baseline ${base.name}`}>
      <div class="tl-below-head">
        <strong>Baseline {base.name}</strong>
        {steps.length > 0 ? (
          <label class="dim">
            on the same axis, aligned at the start of step{" "}
            <select value={step} onChange={(change) => onState({ align: change.currentTarget.value }, true)}>
              {steps.map((one) => <option key={one} value={one}>{one}</option>)}
            </select>
          </label>
        ) : <span class="dim">on the same axis, from its first event</span>}
      </div>
      <canvas ref={ruler} class="tl-below-ruler" aria-hidden="true" />
      <div ref={scroller} class="tl-scroll" onScroll={(e) => { own.scroll = e.currentTarget.scrollTop; setScroll(e.currentTarget.scrollTop); own.redraw(); }}>
        <div class="tl-space" style={{ height: `${Math.max(layout.height, size)}px` }}>
          <div class="tl-sticky">
            <canvas ref={canvas} class="tl-canvas" style={{ height: `${size}px` }} role="img" data-shift={String(shift)}
              aria-label={`Timeline of the baseline ${base.name}: ${baseTracks.tracks.length} tracks`}
              onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={() => { drag.current = null; }} onPointerLeave={() => setTip(null)} />
          </div>
          <Labels layout={layout} scroll={scroll} height={size} noteOf={() => ""} onCollapse={fold} onPin={() => undefined} />
        </div>
      </div>
      {chosen && event ? (
        <aside class="tl-panel tl-below-panel" aria-label="Details of the baseline">
          <p class="dim">In the baseline {base.name} <button type="button" class="tl-plain" aria-label="Close" onClick={() => setChosen(null)}>✕</button></p>
          <Details event={event} track={track ? trackLabel(track) : "–"} onEvent={setChosen} link={link} />
        </aside>
      ) : range && !chosen ? (
        <Changes run={props.run} base={base} range={range} shift={shift} rank={state.rank} span={state.span} onClear={() => onState({ sel: null }, true)} />
      ) : null}
      {tip ? <div class="tl-tip" style={{ left: `${Math.min(tip.x + 14, innerWidth - 480)}px`, top: `${tip.y - 48}px` }}><span class="mono">{tip.text}</span><br /><span class="dim">{tip.more}</span></div> : null}
    </section>
  );
}
