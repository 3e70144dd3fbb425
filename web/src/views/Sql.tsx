// SPDX-License-Identifier: Apache-2.0
// A query over the run's tables, where the server was built with it.
import { useEffect, useState } from "preact/hooks";
import type { Problem, Run, Table } from "../model";
import { DataTable } from "../ui/DataTable";
import { sql } from "../app/api";
import type { App } from "../app/context";
import { useApp } from "../app/context";
import { problemOf } from "../app/hooks";
import { eventOf } from "../app/links";
import { Head } from "../app/Head";
import { Busy, ProblemBox } from "../app/parts";
import { eventLink, go, linkWith } from "../app/route";

const EXAMPLES: readonly [title: string, query: string][] = [
  [
    "Device time by class",
    "SELECT rank, class, COUNT(*) AS n, SUM(dur_ns) AS total_ns\nFROM gpu\nGROUP BY rank, class\nORDER BY rank, total_ns DESC",
  ],
  ["Longest kernels", "SELECT id, rank, step, stream, dur_ns, name\nFROM gpu\nORDER BY dur_ns DESC\nLIMIT 20"],
  [
    "Operators by calls",
    "SELECT name, COUNT(*) AS calls, SUM(dur_ns) AS total_ns\nFROM ops\nGROUP BY name\nORDER BY calls DESC\nLIMIT 20",
  ],
  [
    "An analysis as a table",
    "SELECT kernel_type, name, sum_ns, imbalance\nFROM kernel_breakdown('by=all')\nORDER BY imbalance DESC\nLIMIT 20",
  ],
  ["Which tables there are", "SELECT * FROM sql_tables"],
];

export function sqlIsThere(app: App): boolean {
  return app.routes.some((route) => route.endsWith("/sql"));
}

interface Answer {
  table: Table | null;
  problem: Problem | null;
  status: number;
}

// The answer to the query in the URL; null before the first.
function useAnswer(
  run: Run,
  asked: string | undefined,
  span: string | undefined,
): { answer: Answer | null; busy: boolean } {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (!asked) return;
    let gone = false;
    const tell = (next: Answer) => {
      if (gone) return;
      setAnswer(next);
      setBusy(false);
    };
    setBusy(true);
    sql(run.id, asked, span).then(
      (table) => tell({ table, problem: null, status: 0 }),
      (error: unknown) => tell({ table: null, ...problemOf(error) }),
    );
    return () => {
      gone = true;
    };
  }, [asked, span, run.id, run.generation]);
  return { answer, busy };
}

export function Sql() {
  const { route, run } = useApp();
  const asked = route.query.query;
  const [text, setText] = useState(asked ?? EXAMPLES[0]?.[1] ?? "");
  useEffect(() => {
    if (asked) setText(asked);
  }, [asked]);
  const { answer, busy } = useAnswer(run, asked, route.query.span);
  const ask = () => go(linkWith(route, { query: text.trim() || null }));
  return (
    <>
      <Head title="SQL" lead="Any question to the tables of this run. Ctrl + Enter runs the query; the URL keeps it." />
      <div class="row tools">
        <span class="dim">examples:</span>
        {EXAMPLES.map(([title, query]) => (
          <button key={title} type="button" class="pill" onClick={() => setText(query)}>
            {title}
          </button>
        ))}
      </div>
      <textarea
        class="mono query"
        rows={8}
        aria-label="SQL query"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask();
        }}
      />
      <div class="row tools">
        <button type="button" class="pill on" onClick={ask}>
          Run
        </button>
      </div>
      {busy ? <Busy what="Running the query …" /> : null}
      {answer?.problem ? <ProblemBox problem={answer.problem} status={answer.status} /> : null}
      {answer?.table ? <Result table={answer.table} /> : null}
    </>
  );
}

function Result(props: { table: Table }) {
  const { route } = useApp();
  return (
    <DataTable
      table={props.table}
      search
      sortable
      onEvent={(id) => go(eventLink(route, id))}
      linkOf={(column, row) => {
        const id = column.type === "event" ? eventOf(props.table, column, row) : undefined;
        return id ? eventLink(route, id) : undefined;
      }}
    />
  );
}
