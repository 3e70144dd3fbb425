// SPDX-License-Identifier: Apache-2.0
// One box that finds: views, analyses, runs, operators and kernels of the run, and events by name.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Cell, Found, Table } from "../model";
import { shortName } from "../ui/format";
import { get, runPath } from "./api";
import { chosen, useApp } from "./context";
import type { App } from "./context";
import { useTable } from "./hooks";
import { eventLink, formatRoute, go, linkTo } from "./route";
import { Rows } from "./rows";
import { PLACES, tabsOf } from "../views/registry";

interface Hit {
  kind: string;
  text: string;
  note: string;
  link: string;
}

const PER_KIND = 8;
const EVENT_HITS = 12;
const EVENT_CHARS = 2;

function matches(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

function names(table: Table | null, column: string): string[] {
  if (!table) return [];
  const rows = new Rows(table);
  return rows.all.map((row) => rows.cell(row, column)).filter((cell: Cell): cell is string => typeof cell === "string");
}

function useEvents(run: string, text: string, query: Record<string, string | undefined>): Hit[] {
  const app = useApp();
  const [hits, setHits] = useState<Hit[]>([]);
  const key = `${run} ${text} ${query.rank ?? ""} ${query.span ?? ""}`;
  useEffect(() => {
    setHits([]);
    if (text.length < EVENT_CHARS) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get<Found>(runPath(run, "search"), { q: text, limit: EVENT_HITS, ...query }, stop.signal).then(
        (found) => {
          if (stop.signal.aborted) return; // what was typed is another text by now
          setHits(
            found.events.slice(0, EVENT_HITS).map((event) => ({
              kind: "event",
              text: event.name ?? event.id,
              note: event.id,
              link: eventLink(app.route, event.id),
            })),
          );
        },
        () => undefined,
      ); // the other kinds are found without the server
    }, 200);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  return hits;
}

// What is found without asking: views, runs, and of names only what was typed.
function localHits(app: App, words: readonly string[], operators: string[], kernels: string[]): Hit[] {
  const { route, run } = app;
  const pick = (hits: Hit[]) => hits.filter((hit) => matches(`${hit.text} ${hit.note}`, words)).slice(0, PER_KIND);
  const hit = (kind: string, text: string, link: string, note = ""): Hit => ({ kind, text, note, link });
  const runLink = (id: string) => formatRoute({ run: id, view: route.view, sub: route.sub, query: {} });
  const others = app.runs.runs.filter((one) => one.id !== run.id);
  const found = [
    ...pick(
      PLACES.flatMap((place) =>
        tabsOf(app, place).map((view) => hit("view", view.title, linkTo(route, view.id), place.title)),
      ),
    ),
    ...pick(others.map((one) => hit("run", one.name, runLink(one.id)))),
  ];
  if (words.length === 0) return found;
  const verbs = app.analyses.analyses.filter((one) => one.n_sets > 0);
  return [
    ...found,
    ...pick(operators.map((name) => hit("operator", name, linkTo(route, "operators", { name })))),
    ...pick(kernels.map((name) => hit("kernel", name, linkTo(route, "kernels", { name })))),
    ...pick(verbs.map((one) => hit("analysis", one.name, linkTo(route, "analysis", {}, one.name), one.question))),
  ];
}

function useHits(text: string): Hit[] {
  const app = useApp();
  const { route, run } = app;
  const operators = useTable(run, "operators", { ...chosen(app, "operators"), columns: "name" });
  const kernels = useTable(run, "kernels", { ...chosen(app, "kernels"), columns: "name" });
  const events = useEvents(run.id, text.trim(), { rank: route.query.rank, span: route.query.span });
  return useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const local = localHits(app, words, names(operators.table, "name"), names(kernels.table, "name"));
    return words.length > 0 ? [...local, ...events] : local;
  }, [text, operators.table, kernels.table, events, route]);
}

function HitList(props: { hits: readonly Hit[]; at: number; setAt: (at: number) => void; open: (hit: Hit) => void }) {
  return (
    <ul id="hits" role="listbox">
      {props.hits.map((hit, i) => (
        <li
          key={`${hit.kind} ${hit.link}`}
          id={`hit-${i}`}
          role="option"
          aria-selected={i === props.at}
          class={i === props.at ? "on" : ""}
          onPointerMove={() => props.setAt(i)}
          onClick={() => props.open(hit)}
          title={hit.text}
        >
          <span class="hit-kind">{hit.kind}</span>
          <span class="hit-text">{shortName(hit.text, 90)}</span>
          <span class="dim hit-note">{hit.note}</span>
        </li>
      ))}
      {props.hits.length === 0 ? <li class="dim">Nothing in this run is called that.</li> : null}
    </ul>
  );
}

export function Palette(props: { close: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const box = useRef<HTMLInputElement>(null);
  const hits = useHits(text);
  useLayoutEffect(() => box.current?.focus(), []); // before the next key: what is typed at once belongs here
  const open = (hit: Hit | undefined) => {
    if (!hit) return;
    go(hit.link);
    props.close();
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(hits.length - 1, at + step)));
    } else if (event.key === "Enter") {
      open(hits[at]);
    } else if (event.key === "Escape") {
      props.close();
    }
  };
  return (
    <div
      class="veil"
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) props.close();
      }}
    >
      <div class="palette" role="dialog" aria-label="Search">
        <input
          ref={box}
          role="combobox"
          aria-expanded="true"
          aria-controls="hits"
          aria-activedescendant={`hit-${at}`}
          placeholder="Events, operators, kernels, views, runs"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
        <HitList hits={hits} at={at} setAt={setAt} open={open} />
      </div>
    </div>
  );
}
