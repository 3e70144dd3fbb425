// SPDX-License-Identifier: Apache-2.0
// The side panel: everything about the chosen event, and the sums of the selected range.
import { useState } from "preact/hooks";
import type { EventDetails, EventLink, Sums, Table } from "../model";
import { isOwn, withoutAddresses } from "../app/frames";
import { classColor, classOf } from "../ui/colors";
import { exact, human, isNumber, label, nsText, shortName } from "../ui/format";
import { npuWords } from "../ui/npu";
import { PanelCode } from "../views/YourCode";
import { valueText } from "./draw";
import { classOfSpan } from "./palette";
import type { CounterSum, CounterSums } from "./counters";
import { tickText } from "./ruler";
import type { Range } from "./stage";

const WORK = ["compute", "communication", "memcpy", "memset", "sync"];

export function swatch(kind: string | undefined, work: string | null | undefined, name: string | undefined): string {
  return classColor(classOfSpan(kind ?? "other", work ? WORK.indexOf(work) : 255, name ?? ""));
}

function Pair(props: { name: string; value: string; title?: string }) {
  return <tr title={props.title}><th scope="row">{props.name}</th><td>{props.value}</td></tr>;
}

function LinkTo(props: { link: EventLink; word: string; own?: boolean; onEvent: (id: string) => void }) {
  const { link } = props, name = shortName(withoutAddresses(link.name ?? link.id), 60);
  return (
    <li>
      <button type="button" class="tl-plain tl-link" onClick={() => props.onEvent(link.id)} title={link.name}>
        <span class="dim">{props.word}</span> {props.own ? <strong>{name}</strong> : name}
      </button>
    </li>
  );
}

// How a link reads from the event's side.
function linkWord(link: EventLink): string {
  switch (link.link) {
    case "launch": return link.outgoing ? "launched →" : "launch ←";
    case "operator": return link.outgoing ? "its work →" : "operator ←";
    case "forward": return link.outgoing ? "backward →" : "forward ←";
    case "collective": return `on rank ${link.rank ?? link.id.split(":")[0] ?? "?"} →`;
    default: return `${link.link} ${link.outgoing ? "→" : "←"}`;
  }
}

const MAX_LINKS = 24, LONG_VALUE = 400;

function Links(props: { event: EventDetails; onEvent: (id: string) => void }) {
  const [all, setAll] = useState(false);
  const { links } = props.event, shown = all ? links : links.slice(0, MAX_LINKS);
  if (links.length === 0) return null;
  return (
    <section>
      <h3>Links</h3>
      <ul class="tl-links">{shown.map((link, i) => <LinkTo key={i} link={link} word={linkWord(link)} onEvent={props.onEvent} />)}</ul>
      {shown.length < links.length ? <button type="button" class="tl-plain" onClick={() => setAll(true)}>{links.length - shown.length} more</button> : null}
    </section>
  );
}

function Stack(props: { event: EventDetails; onEvent: (id: string) => void }) {
  const { stack } = props.event, own = stack.find((link) => isOwn(link.name ?? ""));
  if (stack.length === 0) return null;
  return (
    <section>
      <h3>Call stack</h3>
      <ol class="tl-links">{stack.map((link, i) => <LinkTo key={i} link={link} word={`${stack.length - i}`} own={link === own} onEvent={props.onEvent} />)}</ol>
    </section>
  );
}

function Value(props: { text: string }) {
  const [open, setOpen] = useState(false);
  if (props.text.length <= LONG_VALUE) return <>{props.text}</>;
  return (
    <>
      {open ? props.text : props.text.slice(0, LONG_VALUE) + " …"}{" "}
      <button type="button" class="tl-plain" onClick={() => setOpen(!open)}>{open ? "less" : `all ${props.text.length} characters`}</button>
    </>
  );
}

function Fields(props: { title: string; fields: [string, string][]; open: boolean }) {
  if (props.fields.length === 0) return null;
  return (
    <details open={props.open}>
      <summary>{props.title} ({props.fields.length})</summary>
      <table class="tl-fields"><tbody>
        {props.fields.map(([name, value]) => <tr key={name}><th scope="row">{name.replace(/^args\./, "")}</th><td class="mono"><Value text={value} /></td></tr>)}
      </tbody></table>
    </details>
  );
}

// Whose GPU activity it is, and how that is known: of kernels of graphs and of generated ones the stack around the launch says little.
function Origin(props: { get: (name: string) => string | undefined }) {
  const method = props.get("origin_method"), confidence = Number(props.get("origin_confidence") ?? "0");
  if (method === undefined || method === "none") return null;
  const rows: [string, string | undefined][] = [
    ["operator", props.get("origin_op")], ["module", props.get("origin_module")], ["line", props.get("origin_source")], ["shapes", props.get("origin_shapes")],
    ["known by", `${method}${confidence > 0 ? `, confidence ${human(String(confidence), { type: "ratio", unit: null })}` : ""}`],
  ];
  return (
    <section aria-label="Origin">
      <h3>Belongs to</h3>
      <table class="tl-fields"><tbody>
        {rows.map(([name, value]) => value ? <tr key={name}><th scope="row">{name}</th><td class="mono">{name === "line" ? <strong><Value text={value} /></strong> : <Value text={value} />}</td></tr> : null)}
      </tbody></table>
    </section>
  );
}

// The rows of the tables that the event counts in.
function Rows(props: { event: EventDetails; link: (view: string, change: Record<string, string>) => string }) {
  const { event } = props;
  if (!event.name) return null;
  const links: [string, string][] = [];
  if (event.kind === "kernel") links.push(["kernel row →", props.link("kernels", { name: event.name })]);
  if (event.kind === "cpu_op") links.push(["operator row →", props.link("operators", { name: event.name })]);
  const operator = event.links.find((link) => link.link === "operator" && !link.outgoing);
  if (operator?.name) links.push(["operator row →", props.link("operators", { name: operator.name })]);
  if (event.class === "communication") links.push(["all calls →", props.link("communication", {})]);
  if (links.length === 0) return null;
  return <p class="tl-rows">{links.map(([text, href]) => <a key={text} href={href}>{text}</a>)}</p>;
}

export function Details(props: { event: EventDetails; track: string; onEvent: (id: string) => void; link: (view: string, change: Record<string, string>) => string }) {
  const { event } = props, get = (name: string) => event.fields.find(([key]) => key === name)?.[1];
  const duration = event.end_ns !== undefined && event.start_ns !== undefined ? event.end_ns - event.start_ns : null;
  const wait = get("collective.wait_ns"), transfer = get("collective.transfer_ns"), bytes = get("collective.bytes");
  const args = event.fields.filter(([key]) => key.startsWith("args."));
  const others = event.fields.filter(([key]) => !key.startsWith("args.") && key !== "name");
  return (
    <div class="tl-details" aria-label="Chosen event">
      <h2>Selected</h2>
      <p class="tl-name mono" title={event.name} tabIndex={0}><i style={{ background: swatch(event.kind, event.class, event.name) }} /><span>{shortName(event.name ?? event.id, 400)}</span></p>
      <table class="tl-pairs"><tbody>
        <Pair name="rank, track" value={`${event.rank ?? "–"}, ${props.track}`} />
        <Pair name="kind" value={`${event.kind ?? "–"}${event.class ? ` · ${event.class}` : ""}`} />
        {event.start_ns !== undefined ? <Pair name="start" value={tickText(event.start_ns, 1000)} title={`${event.start_ns} ns`} /> : null}
        {duration !== null ? <Pair name="duration" value={nsText(duration)} title={`${duration} ns`} /> : null}
        {wait !== undefined ? <Pair name={Number(wait) > 0 ? `waiting for rank ${get("collective.last_rank") ?? "?"}` : "waiting"} value={nsText(Number(wait))} title={`${wait} ns`} /> : null}
        {transfer !== undefined ? <Pair name="transfer" value={nsText(Number(transfer))} title={`${transfer} ns`} /> : null}
        {get("collective.group") !== undefined ? <Pair name="group, sequence" value={`${get("collective.group")}, ${get("collective.sequence") ?? "–"}`} /> : null}
        {bytes !== undefined ? <Pair name="bytes" value={human(bytes, { type: "bytes", unit: "bytes" })} title={`${bytes} bytes`} /> : null}
      </tbody></table>
      <Rows event={event} link={props.link} />
      <PanelCode event={event} source={get("origin_source")} />
      <Origin get={get} />
      <Links event={event} onEvent={props.onEvent} />
      <Fields title="Arguments" fields={args} open />
      <Stack event={event} onEvent={props.onEvent} />
      <Fields title="Fields" fields={others} open={false} />
    </div>
  );
}

// ---- sums ----

const TOP_NAMES = 40;

function SumTable(props: { table: Table; columns: string[]; caption: string; rows: number; device: string; onEvent?: (id: string) => void }) {
  const { table } = props, words = (text: string) => (props.device === "NPU" ? npuWords(text) : text);
  const at = props.columns.map((name) => table.columns.findIndex((column) => column.name === name)).filter((i) => i >= 0);
  const nameAt = table.columns.findIndex((column) => column.name === "name"), longest = table.columns.findIndex((column) => column.name === "longest");
  return (
    <table class="tl-sums">
      <caption>{props.caption}</caption>
      <thead><tr>{at.map((i) => <th key={i} scope="col" data-column={table.columns[i]?.name} class={isNumber(table.columns[i]?.type ?? "string") && table.columns[i]?.role !== "key" ? "number" : ""} title={words(table.columns[i]?.sentence ?? "")}>{label(table.columns[i] ?? { name: "" })}</th>)}</tr></thead>
      <tbody>
        {table.rows.slice(0, props.rows).map((row, k) => (
          <tr key={k}>
            {at.map((i) => {
              const column = table.columns[i], cell = row[i] ?? null;
              if (!column) return null;
              if (i === nameAt && props.onEvent && longest >= 0)
                return <td key={i}><button type="button" class="tl-plain tl-link" title={`${String(cell)} · go to the longest`} onClick={() => props.onEvent?.(String(row[longest]))}>{shortName(String(cell), 32)}</button></td>;
              if (column.name === "device") return <td key={i}>{cell === null ? "host" : `${props.device} ${cell}`}</td>;
              if (column.name === "class") return <td key={i}><i style={{ background: classColor(classOf(String(cell)) ?? "host") }} />{String(cell)}</td>;
              return <td key={i} class="number" title={exact(cell, column)}>{human(cell, column)}</td>;
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// A value of each curve at a time, so the mean is over the time in which it has one.
function Counters(props: { counters: CounterSums; onAll: () => void }) {
  const { sums, left } = props.counters, ranks = new Set(sums.map((one) => one.rank)).size > 1;
  if (sums.length === 0 && left === 0) return null;
  const cell = (one: CounterSum, value: number | null) =>
    <td class="number" title={value === null ? "no value" : `${value}${one.unit ? ` ${one.unit}` : ""}`}>{value === null ? "–" : valueText(value, one.unit)}</td>;
  return (
    <>
    <table class="tl-sums tl-counters">
      <caption>Counters, mean over time</caption>
      <thead><tr>{ranks ? <th scope="col" class="number">rank</th> : null}<th scope="col">counter</th>{["min", "mean", "max"].map((name) => <th key={name} scope="col" class="number">{name}</th>)}</tr></thead>
      <tbody>
        {sums.map((one) => (
          <tr key={`${one.rank} ${one.label}`}>
            {ranks ? <td class="number">{one.rank}</td> : null}
            <td class="tl-counter" title={one.label}>{one.label}</td>{cell(one, one.min)}{cell(one, one.mean)}{cell(one, one.max)}
          </tr>
        ))}
      </tbody>
    </table>
    {left > 0 ? <p class="dim tl-left">Counters of {left} more {left === 1 ? "rank" : "ranks"} are not summed. <button type="button" class="tl-plain" onClick={props.onAll}>sum all</button></p> : null}
    </>
  );
}

export function Selection(props: { range: Range; ranks: number | null; sums: Sums | null; counters: CounterSums | null; onAllCounters: () => void; problem: string | null; device: string; onEvent: (id: string) => void; onClear: () => void }) {
  const { range, sums } = props;
  const rank = sums ? new Set(sums.classes.rows.map((row) => row[0])).size > 1 : false;
  return (
    <div class="tl-selection" aria-label="Selected range">
      <h2>In the selection <button type="button" class="tl-plain" onClick={props.onClear} aria-label="Clear the selection">✕</button></h2>
      <p class="dim">{nsText(range.to - range.from)}, from {tickText(range.from, 1000)} to {tickText(range.to, 1000)}{range.tracks ? ` · ${range.tracks.length} ${range.tracks.length === 1 ? "track" : "tracks"}` : ` · all tracks${props.ranks === null ? "" : ` of the ${props.ranks} open ranks`}`}</p>
      {props.problem ? <p class="bad">{props.problem}</p> : null}
      {!sums && !props.problem ? <p class="dim">summing …</p> : null}
      {sums ? <SumTable table={sums.classes} columns={[...(rank ? ["rank"] : []), "device", "class", "n", "busy_ns", "busy_share"]} caption="By class, of the selected time" rows={200} device={props.device} /> : null}
      {props.counters ? <Counters counters={props.counters} onAll={props.onAllCounters} /> : null}
      {sums ? <SumTable table={sums.names} columns={["name", "n", "sum_ns"]} caption={sums.names.rows.length > TOP_NAMES ? `By name, the first ${TOP_NAMES}` : "By name"} rows={TOP_NAMES} device={props.device} onEvent={props.onEvent} /> : null}
    </div>
  );
}
