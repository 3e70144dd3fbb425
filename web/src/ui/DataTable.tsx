// SPDX-License-Identifier: Apache-2.0
// A table to look into: sorted by its headings (shift adds a column), filtered, columns resized and hidden, bars where
// the analysis names a share. Many rows are virtual: only those in sight are in the document.
import { Component, type ComponentChildren } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Cell, Column, Table } from "../model";
import { classColor, classOf } from "./colors";
import { shortNames } from "./brief";
import { changeText, count, exact, human, isNumber, label, visible } from "./format";
import { useWidth } from "./hooks";
import { arrange, clicked, type SortKey } from "./sorting";
import { BAR_PX, type Laid, layOut, measure } from "./widths";
import "./table.css";

export type { SortKey } from "./sorting";

const ROW_PX = 25, OVERSCAN = 12, VIRTUAL_FROM = 200, CODE_PX = 7.23;

export interface DataTableProps {
  table: Table;
  onEvent?: (id: string) => void;
  onRow?: (row: Cell[]) => void;
  linkOf?: (column: Column, row: Cell[]) => string | undefined;
  search?: boolean;
  sortable?: boolean;                // on unless false
  height?: number | string;          // of the rows' window; of itself for few rows
  downloadUrl?: (format: "csv" | "json") => string;
  sort?: SortKey[];                  // with onSort: the order is kept by the owner (URL)
  onSort?: (keys: SortKey[]) => void;
  query?: string;
  onQuery?: (query: string) => void;
  extra?: { column: string; text: (whole: string) => string };  // a column of names that its owner adds, and how they read
  few?: number;                      // show so many rows until asked for all
  hide?: string[];                   // columns hidden at first
  only?: string[];                   // columns shown at first, all others hidden
  selected?: (row: Cell[]) => boolean;
  notes?: boolean;                   // notes of the table below, on unless false
}

// The class that colours a row's bar: the first text that names one.
function rowColor(table: Table, row: Cell[]): string {
  for (let i = 0; i < table.columns.length; i++) {
    const value = row[i];
    if (table.columns[i]?.type !== "string" || typeof value !== "string") continue;
    // of long names only those that begin with what they are
    const cls = value.length <= 24 || /^(nccl|rccl|hccl|hcom|Memcpy|Memset)/i.test(value) ? classOf(value) : undefined;
    if (cls) return classColor(cls);
  }
  return classColor(classOf((table.bar ?? "").replaceAll("_", " ")) ?? "compute");
}

function barScale(table: Table): number {
  const index = table.columns.findIndex(column => column.name === table.bar);
  if (index < 0 || table.columns[index]?.type === "ratio") return 1;
  return table.rows.reduce((most, row) => Math.max(most, Number(row[index] ?? 0)), 0) || 1;
}

// What the columns of names show, by column and name.
type Names = Map<number, Map<string, string>>;

function namesOf(table: Table, shown: Laid[], extra: DataTableProps["extra"]): Names {
  const names: Names = new Map();
  for (const { column, index, kind, width } of shown) {
    if (kind !== "name") continue;
    const room = Math.max(4, Math.floor((width - 21) / CODE_PX));
    const read = column.name === extra?.column ? extra.text : null;
    const texts = new Set(table.rows.flatMap(row => row[index] === null || row[index] === undefined ? [] : [String(row[index])]));
    names.set(index, read ? new Map([...texts].map(text => [text, visible(read(text))] as const)) : shortNames(texts, room, column.unit));
  }
  return names;
}

interface CellProps { table: Table; laid: Laid; names: Names; row: Cell[]; scale: number; props: DataTableProps }

function content({ table, laid, names, row, scale, props }: CellProps): ComponentChildren {
  const { column, index } = laid, value = row[index] ?? null;
  if (value === null) return "–";
  if (column.type === "event") {
    const id = String(value), href = props.linkOf?.(column, row);
    if (href) return <a href={href}>{id}</a>;
    if (!props.onEvent) return id;
    return <button class="plain" onClick={e => { e.stopPropagation(); props.onEvent?.(id); }}>{id}</button>;
  }
  const text = names.get(index)?.get(String(value)) ?? (column.added === "signed" ? changeText : human)(value, column);
  if (table.bar === column.name && isNumber(column.type)) {
    const share = Math.min(1, Math.max(0, Number(value) / scale));
    return <span class="ht-barred"><span class="ht-track" style={{ width: `${BAR_PX - 8}px` }}>
      <span class="ht-bar" style={{ width: `${(share * 100).toFixed(2)}%`, background: rowColor(table, row) }} />
    </span><span>{text}</span></span>;
  }
  const href = props.linkOf?.(column, row);
  return href ? <a href={href} onClick={e => e.stopPropagation()}>{text}</a> : text;
}

interface RowProps { table: Table; shown: Laid[]; names: Names; row: Cell[]; scale: number; props: DataTableProps }

// Rows that stay in sight while scrolling are not made again.
class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const now = this.props;
    return next.row !== now.row || next.shown !== now.shown || next.scale !== now.scale || next.props !== now.props;
  }
  override render() {
    return drawRow(this.props);
  }
}

function drawRow({ table, shown, names, row, scale, props }: RowProps) {
  const act = props.onRow;
  return (
    <tr class={props.selected?.(row) ? "ht-selected" : undefined} data-clickable={act ? "" : undefined}
      tabIndex={act ? 0 : undefined} onClick={act && (() => act(row))}
      onKeyDown={act && (e => { if (e.key === "Enter") act(row); })}>
      {shown.map(laid => {
        const value = row[laid.index] ?? null;
        return <td key={laid.index} class={`ht-${laid.kind}${value === null ? " ht-null" : ""}${laid.extra ? " ht-extra" : ""}`}
          title={exact(value, laid.column)}>{content({ table, laid, names, row, scale, props })}</td>;
      })}
    </tr>
  );
}

function Heading({ laid, keys, sortable, onClick, onResize }: {
  laid: Laid; keys: SortKey[]; sortable: boolean;
  onClick: (add: boolean) => void; onResize: (width: number) => void;
}) {
  const place = keys.findIndex(key => key.column === laid.column.name), key = keys[place];
  const mark = key ? (key.down ? "▾" : "▴") + (keys.length > 1 ? String(place + 1) : "") : "";
  const drag = (e: PointerEvent) => {
    e.preventDefault();
    e.stopPropagation();
    const from = e.clientX, handle = e.currentTarget as HTMLElement;
    handle.setPointerCapture(e.pointerId);
    const move = (m: PointerEvent) => onResize(Math.max(36, laid.width + m.clientX - from));
    const stop = () => {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", stop);
      handle.removeEventListener("pointercancel", stop);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", stop);
    handle.addEventListener("pointercancel", stop);
  };
  return (
    <th class={`ht-${laid.kind}`} scope="col" data-column={laid.column.name} data-extra={laid.extra || laid.column.added ? "" : undefined}
      aria-sort={key ? (key.down ? "descending" : "ascending") : undefined}
      title={`${laid.column.sentence}${laid.column.sentence ? "\n" : ""}(${laid.column.name})`}>
      {sortable
        ? <button class="ht-sort" onClick={e => onClick(e.shiftKey)}>{label(laid.column)}<span>{mark}</span></button>
        : label(laid.column)}
      <span class="ht-resize" onPointerDown={drag} onClick={e => e.stopPropagation()} />
    </th>
  );
}

// As --safe-csv writes it: an apostrophe before what a spreadsheet would compute.
function csvCell(value: Cell): string {
  const formula = typeof value === "string" && /^ *[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(value);
  const text = value === null ? "" : (formula ? "'" : "") + String(value);
  return formula || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The rows as they are shown, as a file made here: where no server can be asked.
function save(table: Table, places: number[]): void {
  const lines = [table.columns.map(column => column.name), ...places.map(place => table.rows[place] ?? [])];
  const url = URL.createObjectURL(new Blob([lines.map(line => line.map(csvCell).join(",")).join("\n") + "\n"],
    { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${table.title.toLowerCase().replace(/[^a-z0-9]+/g, "-") || "table"}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function ColumnMenu({ wanted, shown, choose }:
    { wanted: Laid[]; shown: Laid[]; choose: (name: string, on: boolean) => void }) {
  const ref = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (e: Event) => {
      if (ref.current?.open && !ref.current.contains(e.target as Node)) ref.current.open = false;
    };
    document.addEventListener("pointerdown", close);
    return () => document.removeEventListener("pointerdown", close);
  }, []);
  const hidden = wanted.length - shown.length;
  return (
    <details class="ht-menu" ref={ref}>
      <summary>Columns{hidden > 0 ? ` (${hidden} hidden)` : ""}</summary>
      <div>{wanted.map(laid => (
        <label key={laid.index} title={laid.column.sentence}>
          <input type="checkbox" checked={shown.some(other => other.index === laid.index)}
            onChange={e => choose(laid.column.name, e.currentTarget.checked)} />
          {laid.column.name}{laid.empty ? <span class="dim"> no value</span> : null}
        </label>))}</div>
    </details>
  );
}

function Tools({ props, wanted, shown, choose, query, setQuery, places }: {
  props: DataTableProps; wanted: Laid[]; shown: Laid[]; choose: (name: string, on: boolean) => void;
  query: string; setQuery: (query: string) => void; places: number[];
}) {
  const { table, downloadUrl } = props;
  return (
    <div class="ht-tools">
      {props.search && <input type="search" placeholder="Filter rows" aria-label="Filter rows" value={query}
        onInput={e => setQuery(e.currentTarget.value)} />}
      <ColumnMenu wanted={wanted} shown={shown} choose={choose} />
      {downloadUrl
        ? <span>Download <a href={downloadUrl("csv")} download>CSV</a> <a href={downloadUrl("json")} download>JSON</a></span>
        : <button class="plain" onClick={() => save(table, places)}>Save CSV</button>}
    </div>
  );
}

// First and last row in sight of a scrolled window.
function useWindow(n: number, on: boolean): [(e: Event) => void, number, number] {
  const [seen, setSeen] = useState({ top: 0, height: 800 });
  const scrolled = useCallback((e: Event) => {
    const box = e.currentTarget as HTMLElement;
    setSeen({ top: box.scrollTop, height: box.clientHeight });
  }, []);
  if (!on) return [scrolled, 0, n];
  const first = Math.max(0, Math.floor(seen.top / ROW_PX) - OVERSCAN);
  return [scrolled, Math.min(first, n), Math.min(n, first + Math.ceil(seen.height / ROW_PX) + 2 * OVERSCAN)];
}

function useOrder(props: DataTableProps) {
  const [ownKeys, setOwnKeys] = useState<SortKey[]>([]);
  const [ownQuery, setOwnQuery] = useState("");
  const keys = props.sort ?? ownKeys, query = props.query ?? ownQuery;
  const places = useMemo(() => arrange(props.table, keys, query), [props.table, keys, query]);
  return { keys, query, places, setKeys: props.onSort ?? setOwnKeys, setQuery: props.onQuery ?? setOwnQuery };
}

function Footer({ props, n, of, rest, openAll }:
    { props: DataTableProps; n: number; of: number; rest: number; openAll: () => void }) {
  const { table } = props;
  const words: string[] = [];
  if (n < of) words.push(`${count(n)} of ${count(of)} rows match`);
  if (table.hidden > 0) words.push(`${count(table.hidden)} more rows are not in this table`);
  return (
    <div class="ht-foot">
      {rest > 0 && <button class="plain ht-all" onClick={openAll}>{count(rest)} more {rest === 1 ? "row" : "rows"}</button>}
      {words.length > 0 && <span class="dim">{words.join(" · ")}</span>}
      {props.notes !== false && table.notes.map((note, i) => <p key={i} class="dim">{note}</p>)}
    </div>
  );
}

export function DataTable(props: DataTableProps) {
  const { table } = props;
  const [box, room] = useWidth<HTMLDivElement>(900);
  const [chosen, setChosen] = useState(() => new Map<string, boolean>(table.columns.flatMap(({ name }) =>
    props.hide?.includes(name) || (props.only && !props.only.includes(name)) ? [[name, false] as const] : [])));
  const [resized, setResized] = useState(() => new Map<string, number>());
  const [all, setAll] = useState(false);
  const { keys, query, places, setKeys, setQuery } = useOrder(props);
  const wanted = useMemo(() => measure(table, props.extra), [table, props.extra]);
  const { shown } = useMemo(() => layOut(wanted, room - 2, chosen, resized), [wanted, room, chosen, resized]);
  const scale = useMemo(() => barScale(table), [table]);
  const names = useMemo(() => namesOf(table, shown, props.extra), [table, shown, props.extra]);

  const n = props.few !== undefined && !all ? Math.min(props.few, places.length) : places.length;
  const virtual = n > VIRTUAL_FROM;
  const [scrolled, first, last] = useWindow(n, virtual);
  const choose = (name: string, on: boolean) => setChosen(new Map(chosen).set(name, on));
  const width = shown.reduce((sum, laid) => sum + laid.width, 0);
  const height = props.height ?? (virtual ? "min(70vh, 640px)" : undefined);
  return (
    <div class="ht-table" data-rows={places.length}>
      {(props.search || table.rows.length > 12 || table.columns.length > 8) &&
        <Tools {...{ props, wanted, shown, choose, query, setQuery, places }} />}
      <div class="ht-scroll" ref={box} onScroll={scrolled} style={{ maxHeight: height }} tabIndex={virtual ? 0 : undefined}>
        <table class={virtual ? "ht-virtual" : undefined} style={{ width: `${width}px` }} aria-rowcount={places.length}>
          <colgroup>{shown.map(laid => <col key={laid.index} style={{ width: `${laid.width}px` }} />)}</colgroup>
          <thead><tr>{shown.map(laid => <Heading key={laid.index} laid={laid} keys={keys}
            sortable={props.sortable !== false} onClick={add => setKeys(clicked(keys, laid.column, add))}
            onResize={px => setResized(new Map(resized).set(laid.column.name, px))} />)}</tr></thead>
          <tbody>
            {first > 0 && <tr class="ht-space" aria-hidden="true"><td colSpan={shown.length} style={{ height: `${first * ROW_PX}px` }} /></tr>}
            {places.slice(first, last).map(place => <Row key={place} table={table} shown={shown} names={names}
              row={table.rows[place] ?? []} scale={scale} props={props} />)}
            {last < n && <tr class="ht-space" aria-hidden="true"><td colSpan={shown.length} style={{ height: `${(n - last) * ROW_PX}px` }} /></tr>}
          </tbody>
        </table>
      </div>
      {places.length === 0 && <p class="dim">{query ? "No row has these words." : "No rows."}</p>}
      <Footer props={props} n={places.length} of={table.rows.length} rest={places.length - n} openAll={() => setAll(true)} />
    </div>
  );
}
