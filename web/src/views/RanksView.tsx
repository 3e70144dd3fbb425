// SPDX-License-Identifier: Apache-2.0
// A job of any size on one screen: nodes, stages, replicas, groups or ranks, the slowest first; how late each is in each step; and where the steps go, as bands over
// ranks. A click opens a group, and a rank in the timeline.
import { useMemo, useRef, useState } from "preact/hooks";
import { human } from "../ui/format";
import { useWidth } from "../ui/hooks";
import { ZoomMap } from "../ui/charts";
import { chosen, useApp } from "../app/context";
import { Head, queryOf } from "../app/Head";
import { useTable } from "../app/hooks";
import type { Query } from "../app/api";
import { Ask, Busy, Empty, Switch } from "../app/parts";
import { go, linkTo, linkWith } from "../app/route";
import type { Row, Rows as Table } from "../app/rows";
import { Rows } from "../app/rows";
import { axesOf, bySlowness, byRank, groupsOf, judge, lateGrid, measure, RANKS, shapeOf, spreadOf } from "./jobs";
import type { Axis, Group, Spread } from "./jobs";
import { DISTRIBUTED_PARTS } from "./stacks";
import "./ranks.css";

const NS = { type: "duration", unit: "ns" } as const;
const ns = (value: number | null) => human(value, NS);
const ROW = 30, SHOWN = 400, ALL = "all";

function useRows(verb: string, query: Query): Table | null {
  const app = useApp();
  const { table } = useTable(app.run, verb, { ...chosen(app, verb), ...query });
  return useMemo(() => (table ? new Rows(table) : null), [table]);
}

// Least to most as a bar, the median as a line, on one scale for all.
function Band(props: { of: Spread | null; from: number; to: number; color?: string }) {
  const { of, from, to } = props;
  if (!of) return <span class="rk-band" />;
  const at = (value: number) => ((value - from) / Math.max(1, to - from)) * 100;
  return (
    <span class="rk-band" title={`min ${ns(of.least)}, median ${ns(of.median)}, max ${ns(of.most)}`}>
      <i style={{ left: `${at(of.least)}%`, width: `max(3px, ${at(of.most) - at(of.least)}%)`, background: props.color }} />
      <b style={{ left: `calc(${at(of.median)}% - 1px)` }} />
    </span>
  );
}

function Why(props: { late: Table; group: Group }) {
  const { late, group } = props, row = group.worst;
  if (!row || !group.candidate) return <span class="dim">{row ? "within noise" : "–"}</span>;
  const name = late.text(row, "cause_name"), rank = late.text(row, "rank");
  return <span title={name}>{name ? `${name} +${ns(late.number(row, "cause_ns"))}` : "no single cause"}{group.ranks.length > 1 ? `, rank ${rank}` : ""}</span>;
}

// The groups, slowest first. Only rows in sight exist, however many there are.
function Slowest(props: { groups: readonly Group[]; axis: Axis; late: Table | null; parts: Table | null; onGroup: (group: Group) => void }) {
  const { groups, axis, late } = props, box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const known = groups.flatMap((group) => group.own ?? []), from = Math.min(...known.map((one) => one.least)), to = Math.max(...known.map((one) => one.most));
  const margin = (to - from) * 0.05 || 1, first = Math.max(0, Math.floor(top / ROW) - 4), shown = groups.slice(first, first + Math.ceil(SHOWN / ROW) + 9);
  const steps = (row: Row | null) => (row && late ? `${late.text(row, "late_steps") || "0"} of ${late.text(row, "steps") || "–"}` : "–");
  return (
    <>
    <div class="rk-list" role="table" aria-label={`${axis.title}, slowest first`} aria-rowcount={groups.length + 1}>
      <div class="rk-row rk-head" role="row">
        <span role="columnheader">{axis === RANKS ? "rank" : axis.one.replace(/ of rank$/, "")}</span>
        <span role="columnheader" class="num" title="What a step would lose without its latest rank, on average">lateness</span>
        <span role="columnheader" class="num" title="Steps in which that rank is late">late steps</span>
        <span role="columnheader" title="Step time less waiting for other ranks, summed over the steps: least to most of its ranks, and the median">
          own time
        </span>
        <span role="columnheader">why</span>
      </div>
      <div class="rk-scroll" ref={box} role="rowgroup" tabIndex={0} aria-label="Rows" style={{ height: `${Math.min(SHOWN, Math.max(1, groups.length) * ROW)}px` }} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <div class="rk-space" style={{ height: `${groups.length * ROW}px` }}>
          {shown.map((group, i) => (
            <div key={group.key} role="row" aria-rowindex={first + i + 2} class={`rk-row${group.candidate ? " slow" : ""}`} style={{ top: `${(first + i) * ROW}px` }}>
              <span role="cell"><button type="button" class="plain" onClick={() => props.onGroup(group)}>{group.name.replace(/^(node|rank|.* of rank) /, "")}</button></span>
              <span role="cell" class="num">{ns(group.lateness)}</span>
              <span role="cell" class="num">{steps(group.worst)}</span>
              <span role="cell"><Band of={group.own} from={from - margin} to={to + margin} /></span>
              <span role="cell" class="rk-why">{late ? <Why late={late} group={group} /> : null}</span>
            </div>
          ))}
        </div>
      </div>
    </div>
    {known.length > 0 ? <p class="dim rk-scale">own time: step time less waiting for other ranks, over the steps; from {ns(from)} to {ns(to)}</p>
      : props.parts ? <p class="dim rk-scale">own time is n/a: waiting is not known of any rank</p> : null}
    </>
  );
}

// Each part of the steps over these ranks.
function WhereStepsGo(props: { parts: Table; ranks: ReadonlySet<number> | null }) {
  const rows = [...byRank(props.parts)].filter(([rank]) => !props.ranks || props.ranks.has(rank)).map(([, row]) => row);
  const split = props.parts.any("exposed_wait_ns") || props.parts.any("exposed_transfer_ns");
  const bands = DISTRIBUTED_PARTS.filter(([column]) => column !== "exposed_ns" || !split)
    .map(([column, name, color]) => ({ name, color, of: spreadOf(rows.map((row) => props.parts.number(row, column))) }))
    .filter(({ of }) => of !== null && of.most > 0);
  const most = Math.max(...bands.map(({ of }) => of?.most ?? 0), 1);
  return (
    <figure class="rk-parts">
      <figcaption><b>Where the steps go</b> <span class="dim">sum over the steps; bands over {rows.length} ranks: min – median – max</span></figcaption>
      {bands.map(({ name, color, of }) => (
        <div key={name} class="rk-part">
          <span>{name}</span>
          <Band of={of} from={0} to={most} color={color} />
          <span class="num">{ns(of?.median ?? null)}</span>
        </div>
      ))}
    </figure>
  );
}

// The tab that is open, and the group whose ranks are looked at, as "node:77".
function useChoice(places: Table) {
  const { route } = useApp(), axes = useMemo(() => axesOf(places), [places]);
  const [id = "", ...rest] = (route.query.in ?? "").split(":"), key = rest.join(":"), inside = axes.find((axis) => axis.id === id) ?? null;
  const within = useMemo(() => (inside ? new Set(groupsOf(places, inside, null).find((group) => group.key === key)?.ranks ?? []) : null), [places, inside, key]);
  const usual = inside || places.all.length <= 16 ? RANKS : (axes[0] ?? RANKS);
  const axis = axes.find((one) => one.id === route.query.by) ?? usual;
  return { axes, axis, usual, inside, key, within: within && within.size > 0 ? within : null };
}

function Job(props: { places: Table }) {
  const { route, run } = useApp(), { places } = props;
  const { axes, axis, usual, inside, key, within } = useChoice(places);
  const late = useRows("stragglers", { top: ALL }), parts = useRows("distributed", { view: "overlap", by: "rank", top: ALL });
  const steps = useRows("collectives", { view: "lateness", columns: "rank,step,late_ns,uncertainty_ns", top: ALL });
  const [box, width] = useWidth<HTMLDivElement>(1000);
  const groups = useMemo(() => {
    const found = groupsOf(places, axis, within);
    if (late) judge(found, late);
    if (parts) measure(found, parts);
    return found;
  }, [places, axis, within, late, parts]);
  const sorted = useMemo(() => [...groups].sort(bySlowness), [groups]);
  const grid = useMemo(() => (steps ? lateGrid(groups, steps) : null), [groups, steps]);
  const marked = useMemo(() => groups.flatMap((group, i) => (group.candidate ? [i] : [])), [groups]);
  const open = (group: Group, step?: number) => {
    if (axis === RANKS) go(linkTo(route, "timeline", { rank: group.key, step: step === undefined ? route.query.step : String(step) }));
    else go(linkWith(route, { in: `${axis.id}:${group.key}`, by: null }));
  };
  return (
    <>
      <div class="rk-tools">
        <Switch label="by:" value={axis.id} options={axes.map((one) => ({ value: one.id, label: one.title }))}
          onChange={(value) => go(linkWith(route, { by: value === usual.id ? null : value }))} />
        {inside && within ? (
          <p class="filter-note">
            The {within.size} ranks of {inside.one} {key} <button type="button" class="pill" onClick={() => go(linkWith(route, { in: null, by: null }))}>show all</button>
          </p>
        ) : null}
      </div>
      <div ref={box} class={width > 900 ? "rk-two" : "rk-one"}>
        <section class="block chart">
          {!grid ? <Busy what="Computing lateness …" /> : grid.columns.length === 0 ? <Empty title="Rank lateness is n/a"><p>No collective is shared by these ranks.</p></Empty> : (
            <ZoomMap title={`Lateness, ${axis === RANKS ? "rank" : axis.one.replace(/ of rank$/, "")} × step`} grid={grid} unit="ns" marked={marked} height={Math.min(460, Math.max(120, innerHeight - 380))}
              of={`after the first rank, worst collective${axis === RANKS ? "" : " of its latest rank"}; drag to zoom, click to open`} unsure="within the clock uncertainty"
              onOpen={(row, column) => { const group = groups[row]; if (group) open(group, grid.steps[column]); }} />
          )}
        </section>
        <section class="block">
          <div class="block-head"><h2>Slowest first <span class="method">{groups.length} {axis.title.toLowerCase()} of {run.name}; band = min to max of the ranks</span></h2></div>
          <Slowest groups={sorted} axis={axis} late={late} parts={parts} onGroup={(group) => open(group)} />
          {parts ? <WhereStepsGo parts={parts} ranks={within} /> : <Busy what="Computing where the steps go …" />}
        </section>
      </div>
    </>
  );
}

// How many ranks, on which nodes, in which groups.
function Shape(props: { n: number }) {
  const axes = useRows("topology", { view: "axes" });
  const shape = axes ? shapeOf(axes) : "";
  return <>{props.n} ranks{shape ? ` · ${shape}` : axes ? " · nodes and groups are unknown" : ""}</>;
}

export function Ranks() {
  const app = useApp();
  return (
    <Ask verb="topology" query={{ top: ALL }} what="Reading where ranks stand …">
      {(places) => places.all.length < 2 ? (
        <>
          <Head title="Ranks" />
          <Empty title="One rank is read"><p>With the traces of several ranks in one folder, they are compared here.</p></Empty>
        </>
      ) : (
        <>
          <Head verb="stragglers" query={queryOf(app, "stragglers", {}, ALL)} title="Ranks" lead={<Shape n={places.all.length} />} />
          <Job places={places} />
        </>
      )}
    </Ask>
  );
}
