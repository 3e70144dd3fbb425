// SPDX-License-Identifier: Apache-2.0
// The pieces that views are made of: switches, what to show while waiting or when there is nothing, and a
// verb's table with its options.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Param, Problem, Table } from "../model";
import { DataTable } from "../ui/DataTable";
import type { DataTableProps, SortKey } from "../ui/DataTable";
import { tableUrl } from "./api";
import type { Query } from "./api";
import { useAgainst } from "./baseline";
import type { Compared } from "./baseline";
import { lineText, useLines, withLines, YOUR_CODE } from "./code";
import { analysisOf, chosen, useApp } from "./context";
import { conclusionOf, Findings, queryOf } from "./Head";
import { useTable } from "./hooks";
import type { Asked } from "./hooks";
import { cellLink } from "./links";
import { eventLink, go, linkWith } from "./route";
import type { Route } from "./route";
import { Rows } from "./rows";
import type { Row } from "./rows";

export interface Option {
  value: string;
  label: string;
  title?: string;
}

// One of a few, kept in the URL by the caller.
export function Switch(props: {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
}) {
  return (
    <div class="switch" role="radiogroup" aria-label={props.label}>
      <span class="switch-label">{props.label}</span>
      {props.options.map((option) => (
        <button
          key={option.value}
          type="button"
          role="radio"
          aria-checked={option.value === props.value}
          class={option.value === props.value ? "pill on" : "pill"}
          title={option.title}
          onClick={() => props.onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

// A switch over a parameter of the view, in the URL. The first option is the default and leaves no trace there.
export function UrlSwitch(props: { name: string; label: string; options: readonly Option[] }) {
  const { route } = useApp();
  const first = props.options[0]?.value ?? "";
  return (
    <Switch
      label={props.label}
      options={props.options}
      value={route.query[props.name] ?? first}
      onChange={(value) => go(linkWith(route, { [props.name]: value === first ? null : value }))}
    />
  );
}

export function options(...values: string[]): Option[] {
  return values.map((value) => ({ value, label: value.replace(/-/g, " ") }));
}

export function Busy(props: { what: string }) {
  return (
    <div class="state busy" role="status">
      <span class="spin" aria-hidden="true" />
      {props.what}
    </div>
  );
}

// What was looked for, where, and what to do.
export function Empty(props: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state empty" role="status">
      <strong>{props.title}</strong>
      {props.children}
    </div>
  );
}

export function ProblemBox(props: { problem: Problem; status: number; children?: ComponentChildren }) {
  const { problem } = props;
  const lacks = props.status === 422;
  return (
    <div class={lacks ? "state empty" : "state problem"} role={lacks ? "status" : "alert"}>
      <strong>{lacks ? "The trace does not hold what this needs" : "This could not be answered"}</strong>
      <p>{problem.error}</p>
      {problem.file ? (
        <p class="dim">
          {problem.file}
          {problem.offset !== null ? `, byte ${problem.offset}` : ""}
        </p>
      ) : null}
      {problem.hint ? <p>{problem.hint}</p> : null}
      {props.children}
    </div>
  );
}

function AskedState(props: { asked: Asked; what: string }) {
  const { route } = useApp();
  const { asked } = props;
  if (asked.problem) {
    const narrowed = route.query.rank || route.query.step;
    return (
      <ProblemBox problem={asked.problem} status={asked.status}>
        {narrowed ? (
          <p>
            <a href={linkWith(route, { rank: null, step: null })}>Look at all ranks and steps</a>
          </p>
        ) : null}
      </ProblemBox>
    );
  }
  return <Busy what={props.what} />;
}

// Asks for a verb's table and shows its children with it; what is missing is said in its place.
export function Ask(props: {
  verb: string;
  query?: Query;
  what?: string;
  title?: string;
  brief?: boolean;
  empty?: ComponentChildren;
  tools?: ComponentChildren; // beside what is missing: the way to another choice
  children: (rows: Rows) => ComponentChildren;
}) {
  const app = useApp();
  const query = { ...chosen(app, props.verb), ...props.query };
  const asked = useTable(app.run, props.verb, query, app.base?.generation ?? 0);
  const rows = useMemo(() => (asked.table ? new Rows(asked.table) : null), [asked.table]);
  const tools = props.tools ? <div class="block-tools">{props.tools}</div> : null;
  if (!rows)
    return (
      <>
        {asked.problem ? tools : null}
        <AskedState asked={asked} what={props.what ?? `Computing ${props.verb} …`} />
      </>
    );
  if (rows.all.length === 0) {
    const notes = props.empty ?? rows.table.notes.map((note) => <p key={note}>{note}</p>);
    if (props.brief)
      return (
        <div class="dim" role="status">
          {notes}
        </div>
      );
    return (
      <>
        {tools}
        <Empty title={`${props.title ?? rows.table.title}: nothing to show`}>
          {notes}
          <p class="dim">Looked at: {rows.table.method}</p>
        </Empty>
      </>
    );
  }
  return <div class={asked.busy ? "stale" : "fresh"}>{props.children(rows)}</div>;
}

export interface VerbTableProps {
  verb: string;
  query?: Query;
  title?: string;
  height?: number | string;
  top?: number;
  hide?: readonly string[]; // columns that the context already says
  keep?: (rows: Rows, row: Row) => boolean; // rows chosen by a click in a chart
  onRow?: (rows: Rows, row: Row) => void;
  tools?: ComponentChildren;
  quiet?: boolean; // its notes are said elsewhere on the page
  code?: "name" | "op"; // its names are those of kernels or operators, and the line of the user's code is told beside them
  compared?: Compared; // of a table of differences: what it compares
  url?: boolean; // its order and filter are the URL's: for the main table of a view
}

const SEARCH_FROM = 8;
const EXTRA = { column: YOUR_CODE.name, text: lineText };
const HEIGHT = "min(72vh, 900px)";

interface View {
  table: Table;
  whole: Map<Row, Row>;
} // whole: the row as asked for, of a row as shown

function shown(rows: Rows, props: VerbTableProps): View {
  const keep = props.keep;
  const hide = props.hide ?? [];
  const at = rows.table.columns.map((_, i) => i).filter((i) => !hide.includes(rows.table.columns[i]?.name ?? ""));
  const whole = new Map<Row, Row>();
  const out: Table["rows"] = [];
  for (const row of rows.table.rows) {
    if (keep && !keep(rows, row)) continue;
    const cut = at.length === rows.table.columns.length ? row : at.map((i) => row[i] ?? null);
    whole.set(cut, row);
    out.push(cut);
  }
  return { table: { ...rows.table, columns: at.flatMap((i) => rows.table.columns[i] ?? []), rows: out }, whole };
}

// A verb's table as the registry has it: title, method, rows, notes, download.
export function VerbTable(props: VerbTableProps) {
  const app = useApp();
  const query = queryOf(app, props.verb, props.query, props.top);
  return (
    <section class="block" data-verb={props.verb}>
      <Ask verb={props.verb} query={query} title={props.title} tools={props.tools}>
        {(rows) => <Shown rows={rows} given={props} query={query} />}
      </Ask>
    </section>
  );
}

const sortKeys = (text: string): SortKey[] =>
  text
    .split(",")
    .filter(Boolean)
    .map((word) => ({ column: word.replace(/^-/, ""), down: word.startsWith("-") }));

const sortText = (keys: readonly SortKey[]): string => keys.map((key) => (key.down ? "-" : "") + key.column).join(",");

// Order and filter as the URL has them.
function urlOrder(route: Route): Pick<DataTableProps, "sort" | "onSort" | "query" | "onQuery"> {
  return {
    sort: sortKeys(route.query.sort ?? ""),
    onSort: (keys) => go(linkWith(route, { sort: sortText(keys) || null })),
    query: route.query.find ?? "",
    onQuery: (find) => go(linkWith(route, { find: find || null }), true),
  };
}

function Shown(props: { rows: Rows; given: VerbTableProps; query: Query }) {
  const app = useApp(), { route, run } = app;
  const { rows, given, query } = props;
  const view = useMemo(() => shown(rows, given), [rows, given.keep, given.hide?.join()]);
  const lines = useLines(given.code);
  const against = useAgainst(view.table, given.url ? given.verb : null, query, given.compared), both = against?.table ?? view.table;
  const lined = useMemo(() => (lines ? withLines(both, lines) : null), [both, lines]);
  const table = lined?.table ?? both;
  const wholeOf = (row: Row): Row => {
    const wide = lined?.of.get(row) ?? row, cut = against?.of.get(wide) ?? wide;
    return view.whole.get(cut) ?? cut;
  };
  const onRow = given.onRow;
  return (
    <>
      <div class="block-head">
        <h2>
          {given.title ?? table.title} <span class="method">{table.method}</span>
        </h2>
        {given.tools ? <div class="block-tools">{given.tools}</div> : null}
      </div>
      <DataTable
        table={table}
        search={table.rows.length > SEARCH_FROM}
        height={given.height ?? HEIGHT}
        notes={false}
        {...(given.url ? urlOrder(route) : {})}
        onEvent={(id) => go(eventLink(route, id))}
        onRow={onRow ? (row) => onRow(rows, wholeOf(row)) : undefined}
        linkOf={(column, row) => cellLink(app, table, column, row)}
        extra={lined ? EXTRA : undefined}
        downloadUrl={(format) => tableUrl(run.id, given.verb, { ...query, top: "all" }, format)}
      />
      {given.quiet ? null : <Findings table={rows.table} without={given.url ? conclusionOf(rows.table) : undefined} />}
    </>
  );
}

// The options of a parameter with choices, from the registry: a new choice needs no new code here.
export function choicesOf(param: Param | undefined): Option[] {
  return options(...(param?.choices ?? []));
}

// A switch over a parameter with choices.
export function ParamSwitch(props: { verb: string; name: string; label: string }) {
  const { route } = useApp();
  const param = useParam(props.verb, props.name);
  if (!param?.choices) return null;
  return (
    <Switch
      label={props.label}
      options={choicesOf(param)}
      value={route.query[props.name] ?? param.default ?? ""}
      onChange={(value) => go(linkWith(route, { [props.name]: value === param.default ? null : value }))}
    />
  );
}

// A verb's table, or with a run to compare with the same rows of both: what changed is what was asked for then.
export function BothTable(props: VerbTableProps & { view: string }) {
  const { route, base } = useApp();
  const { view, compared, ...given } = props;
  if (!base) return <VerbTable {...given} />;
  const both = route.query.rows !== "this";
  const tools = (
    <>
      <UrlSwitch
        name="rows"
        label="rows:"
        options={[
          { value: "both", label: `change against ${base.name}` },
          { value: "this", label: "this run" },
        ]}
      />
      {both ? null : given.tools}
    </>
  );
  if (!both) return <VerbTable {...given} tools={tools} />;
  // of kernels the rows have intervals over steps
  const query = view === "kernels" ? { view: "rows", device: "gpu", "all-rows": "true" } : { view };
  return <VerbTable verb="diff" query={query} url onRow={given.onRow} tools={tools} compared={compared} />;
}

export function useParam(verb: string, name: string): Param | undefined {
  return analysisOf(useApp(), verb)?.params.find((param) => param.name === name);
}
