// SPDX-License-Identifier: Apache-2.0
// The page that any analysis of the registry has: question, method, a form of its parameters, table and download.
// Written from the descriptor alone: a new analysis appears here without new code.
import { useState } from "preact/hooks";
import type { Analysis, Param } from "../model";
import { useApp } from "../app/context";
import { analysisOf } from "../app/context";
import { Head } from "../app/Head";
import { Empty, VerbTable } from "../app/parts";
import { go, linkTo, linkWith } from "../app/route";
import type { Change } from "../app/route";

// What the top of the page chooses, and what writes files on the server's machine.
const ELSEWHERE = ["rank", "step", "save-trace", "only-critical", "all-edges", "top-patterns"];

const VIEW_OPTIONS: readonly Param[] = [
  {
    name: "where",
    type: "string",
    default: null,
    help: "keep rows for which this holds: dur_ns > 1ms and name ~ gemm",
    choices: null,
  },
  {
    name: "sort",
    type: "string",
    default: null,
    help: "order by columns; a minus means descending: -sum_ns,name",
    choices: null,
  },
  { name: "columns", type: "string", default: null, help: "which columns, in which order", choices: null },
  { name: "top", type: "int64", default: "1000", help: "how many rows, or all", choices: null },
];

function Field(props: { param: Param; value: string; set: (value: string) => void }) {
  const { param, value, set } = props;
  const name = `param-${param.name}`;
  if (param.choices) {
    return (
      <select
        id={name}
        value={value || param.default || param.choices[0]}
        onChange={(event) => set(event.currentTarget.value === param.default ? "" : event.currentTarget.value)}
      >
        {param.choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  if (param.type === "bool") {
    const on = (value || param.default) === "true";
    return (
      <input
        id={name}
        type="checkbox"
        checked={on}
        onChange={() => set(String(!on) === param.default ? "" : String(!on))}
      />
    );
  }
  return (
    <input
      id={name}
      type="text"
      value={value}
      placeholder={param.default ?? ""}
      onInput={(event) => set(event.currentTarget.value)}
    />
  );
}

function Form(props: { analysis: Analysis }) {
  const { route, analyses } = useApp();
  const own = props.analysis.params.filter((param) => !ELSEWHERE.includes(param.name));
  const shared = analyses.common.filter((param) => !ELSEWHERE.includes(param.name));
  const params = [...own, ...VIEW_OPTIONS, ...shared];
  const [values, setValues] = useState<Readonly<Record<string, string>>>(route.query);
  const now = (name: string) => values[name] ?? "";
  const apply = (next: Readonly<Record<string, string>>) => {
    const change: Record<string, string | null> = {};
    for (const param of params) change[param.name] = next[param.name] || null;
    go(linkWith(route, change as Change));
  };
  // A choice or a tick is applied at once, a text when the form is sent.
  const set = (param: Param, value: string) => {
    const next = { ...values, [param.name]: value };
    setValues(next);
    if (param.choices || param.type === "bool") apply(next);
  };
  const field = (param: Param) => (
    <div class="field" key={param.name} title={param.help}>
      <label for={`param-${param.name}`}>{param.name}</label>
      <Field param={param} value={now(param.name)} set={(value) => set(param, value)} />
      <span class="dim help">{param.help}</span>
    </div>
  );
  return (
    <form
      class="params"
      onSubmit={(event) => {
        event.preventDefault();
        apply(values);
      }}
    >
      <div class="fields">{own.map(field)}</div>
      <details open={[...VIEW_OPTIONS, ...shared].some((param) => route.query[param.name])}>
        <summary>Filter, order and columns</summary>
        <div class="fields">{[...VIEW_OPTIONS, ...shared].map(field)}</div>
      </details>
      <div class="row tools">
        <button type="submit" class="pill on">
          Apply
        </button>
        <a href={linkTo(route, "analysis", {}, props.analysis.name)}>Reset</a>
      </div>
    </form>
  );
}

export function AnalysisPage() {
  const app = useApp();
  const { route, base } = app;
  const analysis = analysisOf(app, route.sub);
  if (!analysis)
    return (
      <Empty title={`There is no analysis called ${route.sub}`}>
        <p>
          <a href={linkTo(route, "analyses")}>All analyses</a>
        </p>
      </Empty>
    );
  const names = [...analysis.params, ...app.analyses.common, ...VIEW_OPTIONS].map((param) => param.name);
  const query: Record<string, string | undefined> = { top: "1000" };
  for (const name of names) if (route.query[name] && !["rank", "step"].includes(name)) query[name] = route.query[name];
  const key = `${analysis.name} ${JSON.stringify(route.query)}`;
  return (
    <>
      <Head title={analysis.title} lead={analysis.question}>
        <span class="dim mono">holotrace {analysis.name}</span>
      </Head>
      <p class="dim measure">{analysis.method}</p>
      <Form analysis={analysis} key={key} />
      {analysis.n_sets > 1 && !base ? (
        <Empty title="This compares two runs">
          <p>Choose the run to compare with at the top.</p>
        </Empty>
      ) : (
        <VerbTable key={analysis.name} url verb={analysis.name} query={query} />
      )}
    </>
  );
}
