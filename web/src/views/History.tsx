// SPDX-License-Identifier: Apache-2.0
// The numbers of many runs, as a store of `holotrace history` keeps them: which changed for good, one of them over all runs with its changes
// marked, and what explains them. A store needs no trace beside it: the page shows it alone, too.
import { useMemo } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { History as Store, Table } from "../model";
import { Lines } from "../ui/charts";
import type { PlaceMark } from "../ui/charts";
import { DataTable } from "../ui/DataTable";
import { historyUrl } from "../app/api";
import type { Query } from "../app/api";
import type { App } from "../app/context";
import { useApp } from "../app/context";
import { useHistory } from "../app/hooks";
import { isNamed } from "../app/links";
import { Busy, Empty, ProblemBox } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Route } from "../app/route";
import { Rows } from "../app/rows";
import type { Row } from "../app/rows";

export function historyIsThere(app: App): boolean {
  return app.runs.histories.length > 0;
}

// A level is what runs have between two changes: the mean of their values.
function levels(rows: Rows): [number, number][] {
  const starts = rows.all.flatMap((row, i) => (i === 0 || rows.cell(row, "change") !== null ? [i] : []));
  return starts.flatMap((start, k) => {
    const end = starts[k + 1] ?? rows.all.length;
    const values = rows.all.slice(start, end).map((row) => rows.number(row, "value") ?? 0);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.map((_, i): [number, number] => [start + i, mean]);
  });
}

const COLOR = { regression: "var(--bad)", improvement: "var(--good)" } as const;

function marks(rows: Rows): PlaceMark[] {
  return rows.all.flatMap((row, i) => {
    const change = rows.text(row, "change");
    const color = COLOR[change as keyof typeof COLOR] ?? "var(--dim)";
    return change ? [{ at: i, text: `${change}: ${rows.text(row, "label")}`, color }] : [];
  });
}

function Chart(props: { rows: Rows; name: string }) {
  const { rows, name } = props;
  const series = useMemo(
    () => [
      {
        name: "value",
        color: "var(--compute)",
        points: rows.all.map((row, i): [number, number | null] => [i, rows.number(row, "value")]),
      },
      { name: "level", color: "var(--dim)", points: levels(rows), stepped: true },
    ],
    [rows],
  );
  return (
    <Lines
      title={name}
      of="over runs; a mark where the level changes"
      series={series}
      xUnit="count"
      xName="run"
      xLabels={rows.all.map((row) => rows.text(row, "label"))}
      yUnit={rows.all[0] ? rows.text(rows.all[0], "unit") : ""}
      marks={marks(rows)}
      fit
      height={260}
    />
  );
}

// A table of the store, or what is in its place.
function Shown(props: {
  store: Store;
  query: Query;
  title: string;
  id: string;
  empty: string;
  height?: string;
  children?: (rows: Rows) => ComponentChildren;
  onRow?: (rows: Rows, row: Row) => void;
}) {
  const { store, query, onRow } = props;
  const asked = useHistory(store, query);
  const rows = useMemo(() => (asked.table ? new Rows(asked.table) : null), [asked.table]);
  if (asked.problem) return <ProblemBox problem={asked.problem} status={asked.status} />;
  if (!rows) return <Busy what={`Reading ${store.name} …`} />;
  const table: Table = rows.table;
  return (
    <section class={asked.busy ? "block stale" : "block"} data-verb={props.id}>
      {props.children && rows.all.length > 0 ? props.children(rows) : null}
      <div class="block-head">
        <h2>{props.title}</h2>
      </div>
      {rows.all.length === 0 ? (
        <Empty title={props.empty}>
          {table.notes.map((note) => (
            <p key={note}>{note}</p>
          ))}
        </Empty>
      ) : (
        <DataTable
          table={table}
          search={rows.all.length > 8}
          height={props.height ?? "min(60vh, 640px)"}
          onRow={onRow ? (row) => onRow(rows, row) : undefined}
          downloadUrl={(format) => historyUrl(store.id, { ...query, top: "all" }, format)}
        />
      )}
    </section>
  );
}

const TOP = 10000;

// The view over stores, whether or not there are traces.
export function HistoryView(props: { stores: readonly Store[]; route: Route }) {
  const { stores, route } = props;
  const store = stores.find((one) => one.id === route.query.store) ?? stores[0];
  const choose = (rows: Rows, row: Row) =>
    go(linkWith(route, { metric: rows.text(row, "metric"), path: rows.text(row, "path") }));
  if (!store) return <Empty title="No history of runs here" />;
  const { metric, path } = route.query;
  return (
    <>
      <header class="head">
        <div class="head-words">
          <h1>History of runs</h1>
          <p class="lead">
            Where numbers of <code>{store.name}</code> changed for good, and since which run. Choose a row to see its
            runs.
          </p>
        </div>
        {stores.length > 1 ? (
          <div class="head-tools">
            <label class="chooser">
              <span class="dim">store</span>
              <select
                value={store.id}
                onChange={(event) =>
                  go(linkWith(route, { store: event.currentTarget.value, metric: null, path: null }))
                }
              >
                {stores.map((one) => (
                  <option key={one.id} value={one.id}>
                    {one.name}
                  </option>
                ))}
              </select>
            </label>
          </div>
        ) : null}
      </header>
      {metric && path !== undefined ? (
        <Shown
          store={store}
          id="history-series"
          title="Runs"
          height="232px"
          empty={`No run has ${metric} of ${path}`}
          query={{ view: "series", where: `${isNamed("path", path)} and ${isNamed("metric", metric)}`, top: TOP }}
        >
          {(rows) => <Chart rows={rows} name={`${metric} of ${path}`} />}
        </Shown>
      ) : null}
      <Shown
        store={store}
        id="history-changes"
        title="Changes"
        empty="Nothing changed"
        query={{ view: "changes", top: TOP }}
        onRow={choose}
      />
      <Shown
        store={store}
        id="history-latest"
        title="All numbers, as of the latest run"
        empty="No runs yet"
        query={{ view: "latest", top: TOP }}
        onRow={choose}
      />
    </>
  );
}

export function History() {
  const { route, runs } = useApp();
  return <HistoryView stores={runs.histories} route={route} />;
}
