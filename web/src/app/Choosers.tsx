// SPDX-License-Identifier: Apache-2.0
// What is looked at, chosen at the top: run, the run to compare with, span, ranks, steps.
import { useState } from "preact/hooks";
import type { Run, Worker } from "../model";
import { useApp } from "./context";
import { useTable } from "./hooks";
import { Popover } from "./Popover";
import { formatRanges, parseRanges } from "./ranges";
import { formatRoute, go, linkTo, linkWith } from "./route";
import { Rows } from "./rows";

function Select(props: {
  label: string;
  value: string;
  options: [value: string, label: string][];
  onChange: (value: string) => void;
}) {
  return (
    <label class="chooser">
      <span class="dim">{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

const STATE_WORD = { waiting: " (waiting)", loading: " (loading)", ready: "", failed: " (failed)" } as const;

function runOptions(runs: readonly Run[]): [string, string][] {
  return runs.map((run) => [run.id, run.name + STATE_WORD[run.state]]);
}

export function RunChooser() {
  const { route, run, runs, base } = useApp();
  // Another run has other ranks, numbers of steps and events; the view stays, what it is compared with, and the whole trace.
  const choose = (id: string) => {
    const query: Record<string, string> = base && base.id !== id ? { base: base.id } : {};
    if (route.query.step === "all") query.step = "all";
    go(formatRoute({ run: id, view: route.view, sub: route.sub, query }));
  };
  const others = runs.runs.filter((other) => other.id !== run.id);
  const comparing = route.view === "diff" || route.view === "analysis";
  return (
    <>
      <Select label="run" value={run.id} options={runOptions(runs.runs)} onChange={choose} />
      {others.length > 0 ? (
        <Select
          label="compare with"
          value={base?.id ?? ""}
          options={[["", "none"], ...runOptions(others)]}
          onChange={(id) =>
            go(id && !comparing ? linkTo(route, "diff", { base: id }) : linkWith(route, { base: id || null }))
          }
        />
      ) : null}
    </>
  );
}

export function SpanChooser() {
  const { route, run } = useApp();
  if (run.spans.length < 2) return null;
  const choices = run.spans.map((span): [string, string] => [span, span]);
  return (
    <Select
      label="span"
      value={route.query.span ?? ""}
      options={choices}
      onChange={(span) => go(linkWith(route, { span }))}
    />
  );
}

const LISTED = 512; // more are typed, not ticked

interface ListProps {
  name: "rank" | "step";
  numbers: readonly number[];
  noteOf?: (n: number) => string;
  whole: string; // the words for "no choice made"
  extra?: [value: string, label: string][];
}

// A list to tick and a field to type the same as on the command line.
function NumberList(props: ListProps & { close: () => void }) {
  const { route } = useApp();
  const given = route.query[props.name] ?? "";
  const [text, setText] = useState(given);
  const set = (value: string | null) => {
    setText(value ?? "");
    go(linkWith(route, { [props.name]: value }));
  };
  const choices: [string | null, string][] = [[null, props.whole], ...(props.extra ?? [])];
  return (
    <form
      class="number-list"
      onSubmit={(event) => {
        event.preventDefault();
        set(text.trim() || null);
        props.close();
      }}
    >
      <div class="row">
        <input
          aria-label={`${props.name}s`}
          placeholder="0,2-3"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="pill">
          set
        </button>
      </div>
      <div class="row">
        {choices.map(([value, label]) => (
          <button
            key={label}
            type="button"
            class={given === (value ?? "") ? "pill on" : "pill"}
            onClick={() => set(value)}
          >
            {label}
          </button>
        ))}
      </div>
      <TickList {...props} given={given} set={set} />
    </form>
  );
}

function TickList(props: ListProps & { given: string; set: (value: string | null) => void }) {
  const ticked = (props.given ? parseRanges(props.given) : null) ?? new Set<number>();
  const tick = (n: number) => {
    const next = new Set(ticked);
    if (!next.delete(n)) next.add(n);
    props.set(next.size && next.size < props.numbers.length ? formatRanges(next) : null);
  };
  return (
    <ul>
      {props.numbers.slice(0, LISTED).map((n) => (
        <li key={n}>
          <label>
            <input type="checkbox" checked={ticked.has(n)} onChange={() => tick(n)} />
            {props.name} {n} <span class="dim">{props.noteOf?.(n)}</span>
          </label>
        </li>
      ))}
    </ul>
  );
}

function workerNote(workers: readonly Worker[], rank: number): string {
  const worker = workers.find((one) => one.rank === rank);
  return worker ? [worker.name, worker.device].filter(Boolean).join(" · ") : "";
}

export function RankChooser() {
  const { route, run } = useApp();
  const span = route.query.span;
  const workers = run.workers.filter((worker) => !span || worker.span === span);
  const ranks = [...new Set(workers.flatMap((worker) => worker.rank ?? []))].sort((a, b) => a - b);
  if (ranks.length < 2 && !route.query.rank) return null;
  const word = route.query.rank ?? `all ${ranks.length}`;
  return (
    <Popover
      label={
        <>
          <span class="dim">ranks</span> {word} <span class="caret">▾</span>
        </>
      }
      title="Ranks to look at"
    >
      {(close) => (
        <NumberList
          name="rank"
          numbers={ranks}
          whole="all ranks"
          noteOf={(n) => workerNote(workers, n)}
          close={close}
        />
      )}
    </Popover>
  );
}

export function StepChooser() {
  const { route, run } = useApp();
  const query = { span: route.query.span, step: "all", columns: "step" };
  const asked = useTable(run, run.workers.some((worker) => worker.rank !== null) ? "steps" : null, query);
  const rows = asked.table ? new Rows(asked.table) : null;
  const steps = rows
    ? rows
        .distinct("step")
        .filter((step): step is number => typeof step === "number")
        .sort((a, b) => a - b)
    : [];
  if (steps.length < 2 && !route.query.step) return null;
  const word = route.query.step ?? "complete";
  return (
    <Popover
      label={
        <>
          <span class="dim">steps</span> {word} <span class="caret">▾</span>
        </>
      }
      title="Profiler steps to look at"
    >
      {(close) => (
        <NumberList
          name="step"
          numbers={steps}
          whole="all complete steps"
          extra={[["all", "whole trace"]]}
          close={close}
        />
      )}
    </Popover>
  );
}
