// SPDX-License-Identifier: Apache-2.0
// How a view opens: with what its rows conclude, in the engine's words, and where that leads; its title alone until the
// answer is there. And what else a table has to say, below it.
import type { ComponentChildren } from "preact";
import type { Table, TableFinding } from "../model";
import type { Query } from "./api";
import { analysisOf, chosen, useApp } from "./context";
import type { App } from "./context";
import { capital, findingsOf } from "./findings";
import type { Next } from "./findings";
import { useTable } from "./hooks";
import { nextLink } from "./links";
import { Rows } from "./rows";
import { useWords } from "./words";
import { viewOf } from "../views/registry";

export const TOP = 10000;

// A verb's table as the views ask for it: who asks the same twice waits for one answer.
export function queryOf(app: App, verb: string, query: Query = {}, top: number | string = TOP): Query {
  return { ...chosen(app, verb), top, ...query };
}

// The view that a "next" opens, in its own words.
export function viewTitle(app: App, next: Next): string {
  const view = viewOf(analysisOf(app, next.verb)?.page_view ?? "");
  return view && view.id !== "overview" ? view.title : capital(next.verb.split("-").join(" "));
}

export function NextLink(props: { next: Next | null; title?: string }) {
  const app = useApp();
  if (!props.next) return null;
  return (
    <a class="next" href={nextLink(app, props.next)} title={props.title}>
      {viewTitle(app, props.next)} →
    </a>
  );
}

// What is shown here needs no way to it.
const isHere = (app: App, next: Next): boolean => analysisOf(app, next.verb)?.page_view === app.route.view;

interface Said {
  finding: TableFinding | null;
  sentence: string;
  next: Next | null;
}

// The name of something of the trace stays as it is written there.
export function sentenceOf(finding: TableFinding): string {
  const { name, subject } = finding.values;
  const named = [name, subject].some((value) => typeof value === "string" && finding.sentence.startsWith(value));
  return named ? finding.sentence : capital(finding.sentence);
}

const nextOf = (finding: TableFinding): Next | null =>
  finding.next ? { verb: finding.next.verb, options: { ...finding.next.args } } : null;

export function conclusionOf(table: Table | null): TableFinding | undefined {
  return table?.findings?.find((finding) => finding.state === "found");
}

// What the table of a verb concludes; where it concludes nothing itself, what the summary says about it.
function useSaid(verb: string | undefined, query?: Query): Said | null {
  const app = useApp();
  const base = app.base?.generation ?? 0;
  const asked = useTable(app.run, verb ?? null, verb ? queryOf(app, verb, query) : {}, base);
  // that there is nothing is a conclusion, too
  const own = conclusionOf(asked.table) ?? asked.table?.findings?.find((finding) => finding.state === "none");
  // an empty table says why
  const why = asked.table?.rows.length === 0 ? asked.table.findings?.find((finding) => finding.kind === "note") : undefined;
  const silent = verb !== undefined && asked.table !== null && !own && !why;
  const summary = useTable(app.run, silent ? "summary" : null, chosen(app, "summary"));
  if (own) return { finding: own, sentence: sentenceOf(own), next: nextOf(own) };
  if (why) return { finding: null, sentence: sentenceOf(why), next: null };
  if (!silent || !summary.table) return null;
  const found = findingsOf(new Rows(summary.table)).find((one) => one.state === "found" && one.next?.verb === verb);
  return found ? { finding: null, sentence: found.heading, next: null } : null;
}

export function Head(props: {
  title: string;
  lead?: ComponentChildren;
  verb?: string; // whose table concludes
  query?: Query; // as the view asks for it
  level?: 1 | 2;
  say?: (rows: Rows) => string | null; // of the table, where it concludes nothing itself
  cause?: (finding: TableFinding) => ComponentChildren; // more about what it concludes
  children?: ComponentChildren;
}) {
  const app = useApp(), found = useSaid(props.verb, props.query), words = useWords();
  const { table } = useTable(app.run, props.say && props.verb ? props.verb : null, props.verb ? queryOf(app, props.verb, props.query) : {}, app.base?.generation ?? 0);
  const own = props.say && table && !found && table.rows.length > 0 ? props.say(new Rows(table)) : null, said = found ?? (own ? { finding: null, sentence: own, next: null } : null);
  const lead = typeof props.lead === "string" ? words(props.lead) : props.lead;
  const Title = props.level === 2 ? "h2" : "h1";
  return (
    <header class="head">
      <div class="head-words">
        <Title class={said ? "said" : ""}>{said ? said.sentence : props.title}</Title>
        {said?.finding ? props.cause?.(said.finding) : null}
        {lead || (said?.next && !isHere(app, said.next)) ? (
          <p class="lead">
            {lead} {said?.next && !isHere(app, said.next) ? <NextLink next={said.next} /> : null}
          </p>
        ) : null}
      </div>
      {props.children ? <div class="head-tools">{props.children}</div> : null}
    </header>
  );
}

const FEW_NOTES = 2;

// What a table says besides its rows: conclusions with where they lead, warnings, then how it was made.
export function Findings(props: { table: Table; without?: TableFinding }) {
  const { table } = props;
  const all = table.findings?.filter((finding) => finding !== props.without) ?? [];
  const said = all.filter((finding) => finding.state !== null || finding.severity === "warning");
  const notes = all.filter((finding) => !said.includes(finding));
  const line = (finding: TableFinding, i: number) => (
    <li key={i} class={finding.severity === "warning" ? "warning" : finding.state ? "conclusion" : "dim"}>
      {sentenceOf(finding)} <NextLink next={nextOf(finding)} />
    </li>
  );
  if (all.length === 0) return null;
  return (
    <div class="table-findings">
      {said.length > 0 ? <ul>{said.map(line)}</ul> : null}
      {notes.length > FEW_NOTES ? (
        <details>
          <summary class="dim">{notes.length} notes</summary>
          <ul>{notes.map(line)}</ul>
        </details>
      ) : notes.length > 0 ? (
        <ul>{notes.map(line)}</ul>
      ) : null}
    </div>
  );
}
