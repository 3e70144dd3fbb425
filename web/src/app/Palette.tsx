// One box that finds: views, analyses, runs, operators and kernels of the run, and events by name.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Cell, Table } from "../model";
import { shortName } from "../ui/format";
import { get, runPath } from "./api";
import { chosen, useApp } from "./context";
import { useTable } from "./hooks";
import { eventLink, formatRoute, go, linkTo } from "./route";
import { Rows } from "./rows";
import { VIEWS } from "../views/registry";

interface Hit {
    kind: string;
    text: string;
    note: string;
    link: string;
}

const PER_KIND = 8;
const EVENT_HITS = 12;
const EVENT_CHARS = 2;

// What the search route answers, as far as this box reads it.
interface Found {
    total: number;
    events: { id: string; name: string; rank: number; start_ns: number }[];
}

function matches(text: string, words: readonly string[]): boolean {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
}

function names(table: Table | null, column: string): string[] {
    if (!table) return [];
    const rows = new Rows(table);
    return rows.all
        .map((row) => rows.cell(row, column))
        .filter((cell: Cell): cell is string => typeof cell === "string");
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
                    setHits(
                        found.events.slice(0, EVENT_HITS).map((event) => ({
                            kind: "event",
                            text: event.name,
                            note: `rank ${event.rank}, ${event.id}`,
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

function useHits(text: string): Hit[] {
    const app = useApp();
    const { route, run } = app;
    const operators = useTable(run, "operators", { ...chosen(app, "operators"), columns: "name" });
    const kernels = useTable(run, "kernels", { ...chosen(app, "kernels"), columns: "name" });
    const events = useEvents(run.id, text.trim(), { rank: route.query.rank, span: route.query.span });
    return useMemo(() => {
        const words = text.toLowerCase().split(/\s+/).filter(Boolean);
        const pick = (hits: Hit[]) =>
            hits.filter((hit) => matches(`${hit.text} ${hit.note}`, words)).slice(0, PER_KIND);
        const all = pick(
            VIEWS.filter((view) => !view.hidden).map((view) => ({
                kind: "view",
                text: view.title,
                note: view.group,
                link: linkTo(route, view.id),
            })),
        );
        all.push(
            ...pick(
                app.runs.runs
                    .filter((one) => one.id !== run.id)
                    .map((one) => ({
                        kind: "run",
                        text: one.name,
                        note: "",
                        link: formatRoute({ run: one.id, view: route.view, sub: route.sub, query: {} }),
                    })),
            ),
        );
        if (words.length > 0) {
            all.push(
                ...pick(
                    names(operators.table, "name").map((name) => ({
                        kind: "operator",
                        text: name,
                        note: "",
                        link: linkTo(route, "operators", { name }),
                    })),
                ),
            );
            all.push(
                ...pick(
                    names(kernels.table, "name").map((name) => ({
                        kind: "kernel",
                        text: name,
                        note: "",
                        link: linkTo(route, "kernels", { name }),
                    })),
                ),
            );
            all.push(
                ...pick(
                    app.analyses.analyses
                        .filter((one) => one.n_sets > 0)
                        .map((one) => ({
                            kind: "analysis",
                            text: one.name,
                            note: one.question,
                            link: linkTo(route, "analysis", {}, one.name),
                        })),
                ),
            );
            all.push(...events);
        }
        return all;
    }, [text, operators.table, kernels.table, events, route]);
}

export function Palette(props: { close: () => void }) {
    const [text, setText] = useState("");
    const [at, setAt] = useState(0);
    const box = useRef<HTMLInputElement>(null);
    const hits = useHits(text);
    useEffect(() => box.current?.focus(), []);
    useEffect(() => setAt(0), [text]);
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
                    onInput={(event) => setText(event.currentTarget.value)}
                    onKeyDown={press}
                />
                <ul id="hits" role="listbox">
                    {hits.map((hit, i) => (
                        <li
                            key={`${hit.kind} ${hit.link}`}
                            id={`hit-${i}`}
                            role="option"
                            aria-selected={i === at}
                            class={i === at ? "on" : ""}
                            onPointerMove={() => setAt(i)}
                            onClick={() => open(hit)}
                            title={hit.text}
                        >
                            <span class="hit-kind">{hit.kind}</span>
                            <span class="hit-text">{shortName(hit.text, 90)}</span>
                            <span class="dim hit-note">{hit.note}</span>
                        </li>
                    ))}
                    {hits.length === 0 ? <li class="dim">Nothing in this run is called that.</li> : null}
                </ul>
            </div>
        </div>
    );
}
