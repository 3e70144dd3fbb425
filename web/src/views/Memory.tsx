// SPDX-License-Identifier: Apache-2.0
// Memory: what a snapshot of the allocator tells where there is one; and of one device as the profiler recorded it, the curve
// with its peak, and below it allocations, operators or peaks; a range drawn in the curve narrows the allocations.
import { useMemo } from "preact/hooks";
import type { Cell } from "../model";
import { human } from "../ui/format";
import { SERIES } from "../ui/colors";
import { Areas, Lines } from "../ui/charts";
import type { Query } from "../app/api";
import { useApp } from "../app/context";
import { useTable } from "../app/hooks";
import { quoted } from "../app/links";
import { Head, queryOf } from "../app/Head";
import { Ask, Busy, options, Switch, UrlSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import { Rows } from "../app/rows";
import type { Row } from "../app/rows";
import { wordsOf } from "../app/words";
import { bandsOf, OPERATORS, OTHERS, UNSEEN } from "./bands";
import { useBaseRows } from "./both";
import { Snapshot, ToTable } from "./Snapshot";

const CURVES: readonly [column: string, name: string][] = [
  ["allocated_bytes", "allocated"],
  ["reserved_bytes", "reserved"],
  ["active_bytes", "active"],
];

const keyOf = (rows: Rows, row: Row) => `${rows.text(row, "rank")} ${rows.text(row, "device")}`;

interface Place {
  key: string;
  rank: string;
  device: string;
}

function places(peaks: Rows): Place[] {
  const found = new Map<string, Place>();
  for (const row of peaks.all) {
    const key = keyOf(peaks, row);
    if (!found.has(key)) found.set(key, { key, rank: peaks.text(row, "rank"), device: peaks.text(row, "device") });
  }
  return [...found.values()];
}

// A device is more interesting than the host's memory.
function firstPlace(all: readonly Place[]): Place | undefined {
  return all.find((place) => !/^cpu/i.test(place.device)) ?? all[0];
}

// An NPU's file has allocators, and modules of the driver beside them: dozens, most of them empty.
const isModule = (component: Cell) => String(component ?? "").startsWith("module ");

// The components to draw: allocators, or the modules that hold anything.
function shownComponents(rows: Rows, modules: boolean): Cell[] {
  const holds = (component: Cell) =>
    rows.all.some(
      (row) =>
        rows.cell(row, "component") === component && CURVES.some(([column]) => (rows.number(row, column) ?? 0) > 0),
    );
  return rows
    .distinct("component")
    .filter((component) => isModule(component) === modules && (!modules || holds(component)));
}

function seriesOf(rows: Rows, modules: boolean) {
  const components = shownComponents(rows, modules);
  const series = components.flatMap((component) =>
    CURVES.filter(([column]) => rows.any(column)).map(([column, name]) => ({
      name: component === null ? name : `${String(component)} ${name}`,
      stepped: true,
      points: rows.all
        .filter((row) => rows.cell(row, "component") === component)
        .map((row): [number, number | null] => [rows.number(row, "ts_ns") ?? 0, rows.number(row, column)])
        .filter((point): point is [number, number] => point[1] !== null),
    })),
  );
  return series
    .filter((one) => one.points.length > 0)
    .map((one, i) => ({ ...one, color: SERIES[i % SERIES.length] ?? "var(--compute)" }));
}

function peakWords(peaks: Rows, place: Place): string {
  const rows = peaks.all.filter((row) => keyOf(peaks, row) === place.key && !isModule(peaks.cell(row, "component")));
  const amount = (row: Row, name: string, word: string) =>
    peaks.number(row, name) === null ? [] : [`${human(peaks.cell(row, name), BYTES)} ${word}`];
  return rows
    .map((row) => {
      const parts = [...amount(row, "allocated_bytes", "allocated"), ...amount(row, "reserved_bytes", "reserved")];
      return `${peaks.text(row, "component")} ${parts.join(", ")}`.trim();
    })
    .join(" · ");
}

const BYTES = { type: "bytes", unit: "bytes" } as const;

const TABLES = [
  { value: "events", label: "allocations" },
  { value: "stats", label: "operators" },
  { value: "peaks", label: "peaks" },
  { value: "summary", label: "summary" },
];

// Which allocations to list, as filters of the table.
const WHICH = [
  { value: "all", label: "all" },
  { value: "peak", label: "alive at the peak" },
  { value: "kept", label: "not freed" },
];
const WHICH_FILTER: Readonly<Record<string, string>> = {
  peak: " and at_peak == true",
  kept: " and released_ts_ns is null",
};
const SIZES = [
  { value: "all", label: "any" },
  { value: "1MiB", label: "1 MiB" },
  { value: "16MiB", label: "16 MiB" },
  { value: "256MiB", label: "256 MiB" },
];

// The curve as totals, or by who allocated it.
const SHOWN = [
  { value: "totals", label: "totals" },
  { value: "operators", label: "by operator" },
];

function Below(props: { place: Place }) {
  const { route } = useApp();
  const { place } = props;
  const here = `device == ${quoted(place.device)}`;
  const { from, to, below, op } = route.query;
  const tools = <UrlSwitch name="below" label="show:" options={TABLES} />;
  const rank = place.rank || undefined;
  if (below === "stats") return <VerbTable url verb="memory-stats" query={{ rank, where: here }} tools={tools} />;
  if (below === "peaks") return <VerbTable url verb="memory-curve" query={{ view: "peaks" }} tools={tools} />;
  if (below === "summary") return <VerbTable url verb="memory-timeline" tools={tools} />;
  const { which = "all", size = "all" } = route.query;
  const filter =
    (op ? ` and operator == ${quoted(op)}` : "") +
    (WHICH_FILTER[which] ?? "") +
    (SIZES.some((one) => one.value === size) && size !== "all" ? ` and size_bytes >= ${size}` : "");
  const range =
    from && to && /^-?\d+$/.test(from) && /^-?\d+$/.test(to)
      ? ` and allocated_ts_ns >= ${from} and allocated_ts_ns <= ${to}`
      : "";
  return (
    <>
      {range ? (
        <p class="filter-note">
          Allocations from {human(Number(from), { type: "duration", unit: "ns" })} to{" "}
          {human(Number(to), { type: "duration", unit: "ns" })}{" "}
          <button type="button" class="pill" onClick={() => go(linkWith(route, { from: null, to: null }))}>
            show all
          </button>
        </p>
      ) : null}
      {op ? (
        <p class="filter-note" data-operator={op}>
          Allocations of {op}{" "}
          <button type="button" class="pill" onClick={() => go(linkWith(route, { op: null }))}>
            show all
          </button>
        </p>
      ) : null}
      <VerbTable
        url
        verb="memory-events"
        query={{ rank, where: here + range + filter, sort: "-size_bytes" }}
        tools={
          <>
            {tools}
            <UrlSwitch name="which" label="which:" options={WHICH} />
            <UrlSwitch name="size" label="at least:" options={SIZES} />
          </>
        }
      />
    </>
  );
}

// The curves of the baseline from where those of this run begin, dashed.
function besides(rows: Rows, before: Rows | null, modules: boolean, name: string) {
  const own = seriesOf(rows, modules), start = (list: typeof own) => Math.min(...list.flatMap((one) => one.points.slice(0, 1).map(([at]) => at)));
  const others = before ? seriesOf(before, modules) : [], shift = others.length > 0 ? start(own) - start(others) : 0;
  return [...own, ...others.map((one, i) => ({ ...one, color: SERIES[(own.length + i) % SERIES.length] ?? one.color, name: `${one.name}, ${name}`, dashed: true, points: one.points.map(([at, value]): [number, number] => [at + shift, value]) }))];
}

function Drawn(props: { rows: Rows; place: Place; says: string; query: Query }) {
  const { route, base } = useApp();
  const modules = route.query.curves === "modules", before = useBaseRows("memory-curve", props.query);
  const series = useMemo(() => besides(props.rows, before, modules, base?.name ?? ""), [props.rows, before, modules]);
  const hasModules = props.rows.distinct("component").some(isModule);
  return (
    <Lines
      title={`Memory of ${props.place.device}`}
      of={`at most ${props.says}; drag to list what was allocated then${before && base ? `; dashed: ${base.name}, from the same start` : ""}`}
      actions={
        <>
          <UrlSwitch name="memory" label="show:" options={SHOWN} />
          {hasModules ? <UrlSwitch name="curves" label="curves:" options={options("allocators", "modules")} /> : null}
        </>
      }
      series={series}
      xUnit="ns"
      yUnit="bytes"
      peaks
      height={240}
      onRange={(from, to) =>
        go(linkWith(route, { from: String(Math.floor(from)), to: String(Math.ceil(to)), below: null }))
      }
    />
  );
}

// What operators hold of it. A click lists the allocations of one.
function Held(props: { rows: Rows; place: Place; says: string }) {
  const { route } = useApp();
  const { rows } = props;
  const drawn = useMemo(() => {
    const first = rows.all[0];
    const component = first ? rows.cell(first, "component") : null;
    return bandsOf(rows, (row) => rows.cell(row, "component") === component, false, OPERATORS);
  }, [rows]);
  const peak = drawn.xs[drawn.peak];
  return (
    <Areas
      title={`Memory of ${props.place.device} by operator`}
      of={`bytes that tensors hold, by the operator that allocated them; at most ${props.says}; click a band for its allocations`}
      note="Each point is the maximum of its piece. The dashed line is what is reserved from the driver."
      actions={<UrlSwitch name="memory" label="show:" options={SHOWN} />}
      xs={drawn.xs}
      end={drawn.end}
      bands={[...drawn.bands].reverse()}
      above={{ name: "reserved", values: drawn.reserved }}
      moments={peak === undefined ? [] : [{ at: peak, name: "peak" }]}
      xUnit="ns"
      yUnit="bytes"
      onPick={(band) => {
        const name = drawn.bands[drawn.bands.length - 1 - band]?.name ?? null;
        if (name !== OTHERS && name !== UNSEEN) go(linkWith(route, { op: name, below: null }));
      }}
      onRange={(from, to) =>
        go(linkWith(route, { from: String(Math.floor(from)), to: String(Math.ceil(to)), below: null }))
      }
    />
  );
}

// The same of the baseline.
function HeldBefore(props: { place: Place; query: Query }) {
  const { base } = useApp(), rows = useBaseRows("memory-curve", props.query), first = rows?.all[0];
  if (!rows || !base || !first) return null;
  const component = rows.cell(first, "component"), drawn = bandsOf(rows, (row) => rows.cell(row, "component") === component, false, OPERATORS), peak = drawn.xs[drawn.peak];
  return (
    <Areas
      title={`The same of ${base.name}`}
      of="baseline"
      xs={drawn.xs}
      end={drawn.end}
      bands={[...drawn.bands].reverse()}
      above={{ name: "reserved", values: drawn.reserved }}
      moments={peak === undefined ? [] : [{ at: peak, name: "peak" }]}
      xUnit="ns"
      yUnit="bytes"
    />
  );
}

function Curve(props: { place: Place; peaks: Rows }) {
  const { route } = useApp();
  const { place } = props;
  const byOperator = route.query.memory === "operators";
  const query = { rank: place.rank || undefined, where: `device == ${quoted(place.device)}` };
  const bands = { view: "operators", points: 1000, bands: 8, top: "all" };
  const says = peakWords(props.peaks, place);
  return (
    <section class="block chart" data-verb={byOperator ? "memory-operators" : undefined}>
      {byOperator ? (
        <Ask verb="memory-curve" query={{ ...query, ...bands }}>
          {(rows) => (
            <>
              <Held rows={rows} place={place} says={says} />
              <HeldBefore place={place} query={{ ...query, ...bands }} />
            </>
          )}
        </Ask>
      ) : (
        <Ask verb="memory-curve" query={query}>
          {(rows) => <Drawn rows={rows} place={place} says={says} query={query} />}
        </Ask>
      )}
    </section>
  );
}

// From the profiler's [memory] events.
function Profiled(props: { quiet: boolean }) {
  const { route, run } = useApp();
  return (
    <Ask
      verb="memory-curve"
      query={{ view: "peaks" }}
      brief={props.quiet}
      empty={
        props.quiet ? null : (
          <p>
            Memory is recorded with <code>profile_memory=True</code>, or as a memory snapshot by{" "}
            <code>{wordsOf(run, "torch.cuda.memory._record_memory_history")}</code>.
          </p>
        )
      }
    >
      {(peaks) => {
        const all = places(peaks);
        const place = all.find((one) => one.key === route.query.place) ?? firstPlace(all);
        if (!place) return null;
        const label = (one: Place) => (one.rank ? `rank ${one.rank} ${one.device}` : one.device);
        return (
          <>
            {all.length > 1 ? (
              <Switch
                label="device:"
                value={place.key}
                options={all.slice(0, 24).map((one) => ({ value: one.key, label: label(one) }))}
                onChange={(key) => go(linkWith(route, { place: key, from: null, to: null }))}
              />
            ) : null}
            <Curve place={place} peaks={peaks} />
            <Below place={place} />
          </>
        );
      }}
    </Ask>
  );
}

export function Memory() {
  const app = useApp();
  const asked = useTable(app.run, "memory-snapshot", queryOf(app, "memory-snapshot"), app.base?.generation ?? 0);
  const summary = useMemo(() => (asked.table && asked.table.rows.length > 0 ? new Rows(asked.table) : null), [asked.table]);
  const looked = asked.table !== null || asked.problem !== null;
  return (
    <>
      <Head
        verb={summary ? "memory-snapshot" : looked ? "memory-curve" : undefined}
        query={summary ? {} : { view: "fullest", top: 1 }}
        title="Memory"
        lead="How much memory is held over time, who allocated it, and what is alive at the peak."
        cause={(finding) => (summary ? <ToTable finding={finding} /> : null)}
      />
      {summary ? <Snapshot summary={summary} /> : null}
      {looked ? <Profiled quiet={summary !== null} /> : <Busy what="Looking for a memory snapshot …" />}
    </>
  );
}
