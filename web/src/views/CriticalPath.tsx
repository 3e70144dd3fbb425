// SPDX-License-Identifier: Apache-2.0
// What the time of each step depends on: the critical path by cause, its pieces, and what would shorten it.
import { classColor } from "../ui/colors";
import { StackedBars } from "../ui/charts";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, ParamSwitch, UrlSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { useBaseRows } from "./both";
import { rankList } from "./ranks";
import { BOUND_WORDS } from "./stacks";

const NO_ACROSS = ["graph", "edges", "events", "what-if"];

const key = (rows: Rows, row: Row, across: boolean) =>
  (across ? "" : `rank ${rows.text(row, "rank")} `) + `step ${rows.text(row, "step") || rows.text(row, "instance")}`;

// Bars are steps; on a path across ranks the parts of a cause are one series per rank.
function stacks(rows: Rows, across: boolean) {
  const first = new Map<string, Row>();
  for (const row of rows.all) if (!first.has(key(rows, row, across))) first.set(key(rows, row, across), row);
  const keys = [...first.keys()];
  const known = new Map(BOUND_WORDS.map(([name, label, color]) => [name, { label, color }]));
  const found = new Map<string, { name: string; cause: string; color: string; values: (number | null)[] }>();
  for (const row of rows.all) {
    const bound = rows.text(row, "bound_by");
    const look = known.get(bound) ?? { label: bound.replace(/_/g, " "), color: classColor("python") };
    const name = across ? `${look.label}, rank ${rows.text(row, "rank")}` : look.label;
    let series = found.get(name);
    if (!series)
      found.set(name, (series = { name, cause: look.label, color: look.color, values: keys.map(() => null) }));
    series.values[keys.indexOf(key(rows, row, across))] = rows.number(row, "duration_ns");
  }
  return { keys, bars: [...first.values()], series: [...found.values()] };
}

const tallest = (series: readonly { values: readonly (number | null)[] }[]): number =>
  Math.max(0, ...(series[0]?.values ?? []).map((_, i) => series.reduce((sum, one) => sum + (one.values[i] ?? 0), 0)));

function Bounds(props: { across: boolean }) {
  const { route, base } = useApp(), before = useBaseRows("critical-path", { across: props.across || undefined });
  const there = before && before.all.length > 0 ? stacks(before, props.across) : null;
  return (
    <section class="block chart">
      <Ask verb="critical-path" query={{ across: props.across || undefined }}>
        {(rows) => {
          const { keys, bars, series } = stacks(rows, props.across);
          const overlap = bars.some((row) => (rows.number(row, "window_ns") ?? 0) > 1.1 * (rows.number(row, "step_ns") ?? Infinity));
          const legend = [...new Map(series.map((one) => [one.cause, one])).values()].map((one) => ({
            name: one.cause,
            color: one.color,
          }));
          return (
            <>
            <StackedBars
              most={there ? tallest(there.series) : undefined}
              legend={legend}
              title="What each step waits for"
              of={`${props.across ? "one path through all ranks" : "the path of each rank"}${overlap ? ", from the start of a step on the CPU to its last activity: longer than step time, as steps overlap" : ""}; click to look at one step`}
              categories={keys}
              series={series}
              unit="ns"
              onClick={(i) => {
                const row = bars[i];
                if (row)
                  go(
                    linkWith(route, {
                      step: rows.text(row, "step") || null,
                      rank: props.across ? route.query.rank : rows.text(row, "rank"),
                    }),
                  );
              }}
            />
            {there && base ? <StackedBars title={`The same of ${base.name}`} of="baseline, same scale" legend={legend} categories={there.keys} series={there.series} most={tallest(series)} unit="ns" /> : null}
            </>
          );
        }}
      </Ask>
    </section>
  );
}

export function CriticalPath() {
  const { route, run } = useApp();
  const several = rankList(run).length > 1;
  const view = route.query.view ?? "summary";
  const across = several && (route.query.across ?? "true") === "true";
  const acrossTable = across && !NO_ACROSS.includes(view);
  return (
    <>
      <Head verb="critical-path" query={{ view, across: acrossTable || undefined }}
        title="Critical path"
        lead="What the time of each step depends on: shortening anything else does not shorten the step."
      >
        {several ? (
          <UrlSwitch
            name="across"
            label="path:"
            options={[
              { value: "true", label: "through all ranks" },
              { value: "false", label: "of each rank" },
            ]}
          />
        ) : null}
      </Head>
      <Bounds across={across} />
      <VerbTable
        url
        verb="critical-path"
        query={{ view, across: acrossTable || undefined }}
        tools={<ParamSwitch verb="critical-path" name="view" label="show:" />}
      />
    </>
  );
}
