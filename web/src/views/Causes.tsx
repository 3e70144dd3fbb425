// SPDX-License-Identifier: Apache-2.0
// What explains the change between two runs: where a step goes in both, on one scale; causes before consequences; and each rank by itself.
import { Bars, Stretches } from "../ui/charts";
import type { Cell, Run } from "../model";
import { useApp } from "../app/context";
import { conclusionOf, queryOf } from "../app/Head";
import { useTable } from "../app/hooks";
import { Ask, VerbTable } from "../app/parts";
import { isNamed } from "../app/links";
import { eventLink, go, linkTo } from "../app/route";
import { Rows } from "../app/rows";
import { useMeanSteps } from "./both";
import type { MeanStep } from "./both";
import { rankBars } from "./changes";
import { CodeLine } from "./YourCode";

// The rank that the comparison names, where it names one.
function useNamedRank(): number | null {
  const app = useApp();
  const { table } = useTable(app.run, "diff", queryOf(app, "diff", { view: "summary" }), app.base?.generation ?? 0);
  const rank = conclusionOf(table)?.values.rank;
  return rank === null || rank === undefined || Number.isNaN(Number(rank)) ? null : Number(rank);
}

// The line of the cause, and the longest call of it in the timeline, beside the baseline.
export function CauseLinks(props: { values: Readonly<Record<string, Cell>> }) {
  const { route, run } = useApp(), { subject, rank, source, kernel } = props.values, name = typeof subject === "string" ? subject : "";
  const { table } = useTable(run, typeof kernel === "string" && name ? "events" : null, {
    rank: rank === null || rank === undefined ? route.query.rank : String(rank), span: route.query.span, step: route.query.step, where: isNamed("name", name), columns: "id,dur_ns", sort: "-dur_ns", top: 1,
  });
  const rows = table ? new Rows(table) : null, row = rows?.all[0];
  if (typeof source !== "string" && !row) return null;
  return (
    <p class="code-of">
      {typeof source === "string" ? (
        <>
          <span class="dim">Your code:</span> <CodeLine source={source} />{" "}
        </>
      ) : null}
      {rows && row ? <a href={eventLink(route, rows.text(row, "id"))}>Show in the timeline</a> : null}
    </p>
  );
}

const bar = (name: string, step: MeanStep | null, strong: boolean) => (step ? [{ name, strong, parts: step.parts }] : []);

// This run and the baseline, the rank that changed first, then the others.
export function BothSteps(props: { base: Run }) {
  const { run } = useApp(), { base } = props, rank = useNamedRank();
  const here = useMeanSteps(run, rank), there = useMeanSteps(base, rank);
  if (!here || !there) return null;
  const of = rank === null ? "" : `, rank ${rank}`;
  const bars = [
    ...bar(`${base.name}${of}`, there.own, false), ...bar(`${run.name}${of}`, here.own, true),
    ...bar(`${base.name}, other ranks`, there.others, false), ...bar(`${run.name}, other ranks`, here.others, true),
  ];
  if (bars.length < 2) return null;
  return (
    <section class="block chart both-steps">
      <Stretches title="Where a step goes" of={`mean step of both runs${rank === null ? "" : `: rank ${rank}, and the mean of the others`}; same scale`} unit="ns" bars={bars} />
    </section>
  );
}

const MOST_RANKS = 24;

// Each rank against itself: without waiting for others only what it does itself is longer.
function RankChanges() {
  const { route } = useApp();
  return (
    <Ask verb="diff" query={{ view: "ranks" }} brief empty={<></>}>
      {(rows) => {
        const { shown, bars, of } = rankBars(rows, MOST_RANKS);
        if (rows.all.length < 2) return null;
        return (
          <section class="block chart">
            <Bars title="Change of each rank" of={of} unit="ns" signed bars={bars} onClick={(i) => go(linkTo(route, "timeline", { rank: rows.text(shown[i] ?? [], "rank") }))} />
          </section>
        );
      }}
    </Ask>
  );
}

export function Causes() {
  const { base, route } = useApp();
  if (!base) return null;
  return (
    <>
      <BothSteps base={base} />
      <VerbTable url verb="diff" query={{ view: "causes" }} title="Causes first" tools={<a href={linkTo(route, "timeline")}>both runs on one timeline →</a>} />
      <RankChanges />
    </>
  );
}
