// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: how much longer a step is, and what explains it. Signs and words say the direction; colour
// only repeats them.
import { Bars } from "../ui/charts";
import type { Run } from "../model";
import type { Query } from "../app/api";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, choicesOf, Empty, options, UrlSwitch, useParam, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { DiffFigures } from "./Against";
import { CauseLinks, Causes } from "./Causes";

const VIEW_MEASURE: Readonly<Record<string, [difference: string, name: string]>> = {
  rows: ["step_diff_ns", "name"],
  operators: ["diff_device_self_ns", "name"],
  kernels: ["diff_total_ns", "name"],
  modules: ["diff_device_self_ns", "path"],
};

// What a change of lines that hold memory is measured by, beside allocations.
const HELD: Readonly<Record<string, string>> = { time: "diff_peak_bytes", end: "diff_end_bytes" };
const CALLS: readonly string[] = ["diff_count", "diff_calls", "diff_allocations"];

function measureOf(rows: Rows, view: string, measure: string): [string, string] {
  const counts = measure === "calls";
  const held = HELD[measure] ?? "diff_peak_bytes";
  const [difference, name] = rows.has(held) ? [held, "key"] : (VIEW_MEASURE[view] ?? ["diff_ns", "name"]);
  const calls = CALLS.find((column) => rows.has(column));
  if (counts && calls) return [calls, name];
  return [rows.any(difference) ? difference : rows.has("diff_host_self_ns") ? "diff_host_self_ns" : difference, name];
}

// The engine's word is about time, or the peak; of calls and of the end the sign says it.
function changeWord(change: string, value: number, measure: string, holds: boolean): string {
  if (measure === "time" || change === "added" || change === "removed") return change;
  if (measure === "calls") return value > 0 ? `more ${holds ? "allocations" : "calls"}` : `fewer ${holds ? "allocations" : "calls"}`;
  return value > 0 ? "more" : "less";
}

const MEASURES = [
  { value: "time", label: "time" },
  { value: "calls", label: "calls" },
];
const HELD_MEASURES = [
  { value: "time", label: "peak" },
  { value: "end", label: "end" },
  { value: "calls", label: "allocations" },
];

function Changes(props: { query: Query; view: string }) {
  const { route } = useApp();
  const measure = route.query.measure ?? "time";
  return (
    <Ask verb="diff" query={props.query}>
      {(rows) => {
        const holds = rows.has("diff_peak_bytes");
        const [column, name] = measureOf(rows, props.view, measure);
        const size = (row: Row) => Math.abs(rows.number(row, column) ?? 0);
        const top = [...rows.all]
          .filter((row) => size(row) > 0 && rows.text(row, name) !== "others")
          .sort((a, b) => size(b) - size(a))
          .slice(0, 12);
        if (top.length === 0) return null;
        return (
          <section class="block chart">
            <Bars
              title="What changed most"
              of={`${rows.column(column)?.sentence ?? ""}; click to filter the table`}
              unit={CALLS.includes(column) ? "count" : holds ? "bytes" : "ns"}
              actions={<UrlSwitch name="measure" label="change of:" options={holds ? HELD_MEASURES : MEASURES} />}
              bars={top.map((row) => {
                const value = rows.number(row, column) ?? 0;
                return {
                  name: `${changeWord(rows.text(row, "change"), value, measure, holds)}: ${rows.text(row, name)}`,
                  value,
                  color: value > 0 ? "var(--more)" : "var(--less)",
                };
              })}
              onClick={(i) => {
                const row = top[i];
                if (row) go(linkWith(route, { find: rows.text(row, name) }));
              }}
            />
          </section>
        );
      }}
    </Ask>
  );
}

function Choose() {
  const { route, run, runs } = useApp();
  const others = runs.runs.filter((other) => other.id !== run.id);
  if (others.length === 0)
    return (
      <Empty title="There is only one run">
        <p>
          Put the traces of another run into a folder of their own below <code>{runs.logdir}</code>: it appears here.
        </p>
      </Empty>
    );
  return (
    <Empty title="Compare with which run?">
      <p>{run.name} is compared with the run chosen here, the baseline.</p>
      <ul>
        {others.map((other) => (
          <li key={other.id}>
            <a href={linkWith(route, { base: other.id })}>{other.name}</a>
          </li>
        ))}
      </ul>
    </Empty>
  );
}

// Memory snapshots have no events: there is nothing to compare but what holds memory.
const isSnapshots = (run: Run) => run.workers.length > 0 && run.workers.every((worker) => worker.events === 0);

export function Diff() {
  const { route, run, base } = useApp();
  const onlyMemory = base !== null && isSnapshots(run) && isSnapshots(base);
  const view = onlyMemory ? "memory" : (route.query.view ?? "causes");
  const known = choicesOf(useParam("diff", "view")).filter((choice) => choice.value !== "summary");
  const choices = [...known.filter((choice) => choice.value === "causes"), ...known.filter((choice) => choice.value !== "causes")];
  const query: Query = { view, "all-rows": route.query["all-rows"], by: route.query.by };
  if (!base)
    return (
      <>
        <Head title="Diff" lead="How much longer is a step, and which operators and kernels explain it?" />
        <Choose />
      </>
    );
  return (
    <>
      <Head
        title={`${run.name} against ${base.name}`}
        verb="diff"
        query={{ view: onlyMemory ? "memory" : "summary" }}
        cause={({ values }) => (onlyMemory ? null : <CauseLinks values={values} />)}
        lead={
          <>
            This run ({run.name}) minus the baseline ({base.name}): {view === "memory" ? "+ holds more memory, − less" : "+ is slower, − is faster"};{" "}
            {view === "memory" ? "sums over ranks and devices" : "intervals are over steps"}.
          </>
        }
      >
        {["memory", "causes", "ranks"].includes(view) ? null : <UrlSwitch
          name="all-rows"
          label="rows:"
          options={[
            { value: "", label: "beyond noise" },
            { value: "true", label: "all" },
          ]}
        />}
        {view === "rows" || view === "operators" ? (
          <UrlSwitch
            name="by"
            label="same when equal in:"
            options={view === "rows" ? options("name", "path", "line") : options("name", "shape")}
          />
        ) : null}
      </Head>
      {onlyMemory ? null : <DiffFigures />}
      {onlyMemory ? null : <UrlSwitch name="view" label="compare:" options={choices} />}
      {view === "causes" ? (
        <Causes />
      ) : (
        <>
          {view === "ranks" ? null : <Changes view={view} query={query} />}
          <VerbTable url verb="diff" query={query} />
        </>
      )}
    </>
  );
}
