// SPDX-License-Identifier: Apache-2.0
// Hooks of PyTorch Lightning: which of trainer, strategy, callbacks and module take the time, one inside the other, and each with its calls.
// Of a run without any the view has no tab. Modules of Lightning are among the modules.
import { useMemo } from "preact/hooks";
import { Flame } from "../ui/charts";
import { classColor } from "../ui/colors";
import { useAnswer } from "../app/answer";
import { get, runPath } from "../app/api";
import type { App } from "../app/context";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { quoted } from "../app/links";
import { Ask, UrlSwitch, VerbTable } from "../app/parts";
import { linkTo } from "../app/route";
import { Rows } from "../app/rows";
import type { Row } from "../app/rows";
import type { Found, Run } from "../model";
import { HOOKS, hookClass, hookPaths, hookText } from "./hooks";
import { TopBars } from "./TopBars";
import { treeOf } from "./tree";

// Whether a run has hooks: asked where the tab would be, by their name.
export function useHooked(run: Run | undefined, span: string | undefined, asked: boolean): boolean {
  const [found] = useAnswer(run && asked ? `${run.id} ${run.generation} ${span ?? ""}` : null, (signal) =>
    get<Found>(runPath(run?.id ?? "", "search"), { q: HOOKS, limit: 1, span }, signal));
  return (found?.total ?? 0) > 0;
}

export function hooksAreThere(app: App): boolean {
  return app.hooked || app.route.view === "lightning";
}

const STACKS = 65536;

function Nested(props: { rows: Rows; time: string }) {
  const { rows, time } = props;
  const root = useMemo(() => {
    const paths = hookPaths(rows.all.map((row) => ({ stack: rows.text(row, "stack"), self: rows.number(row, "self_ns") ?? 0 })));
    return treeOf(paths.map(({ path, self }) => ({ path: path.map(hookText), self })), "all hooks", (name) => hookClass(`${HOOKS}[${name.replace(": ", "]")}`));
  }, [rows]);
  return <Flame title={`Hooks by ${time} time, one inside the other`} of="sum over calls and ranks; click to look inside" root={root} unit="ns" />;
}

// The rows of a hook on all ranks as one.
function summed(rows: Rows): Rows {
  const at = rows.table.columns.findIndex((column) => column.name === "sum_ns"), nameAt = rows.table.columns.findIndex((column) => column.name === "name");
  const byName = new Map<string, Row>();
  for (const row of rows.all) {
    const name = String(row[nameAt]), before = byName.get(name);
    byName.set(name, before ? before.map((cell, i) => (i === at ? Number(cell) + Number(row[i]) : cell)) : row);
  }
  return new Rows({ ...rows.table, rows: [...byName.values()].map((row) => [...row]) });
}

export function Lightning() {
  const { route } = useApp();
  const time = route.query.time ?? "host";
  const hooks = { source: "cpu", allowlist: "^\\[pl\\]\\[profile\\]", where: `name ~ ${quoted(HOOKS)}` };
  return (
    <>
      <Head title="Lightning hooks"
        lead={<>Which hooks of PyTorch Lightning take the time: of the trainer, its strategy, callbacks and the module. Its modules are among the <a href={linkTo(route, "modules")}>modules</a>.</>}
      >
        <UrlSwitch name="time" label="time of:" options={[{ value: "host", label: "host" }, { value: "device", label: "device" }]} />
      </Head>
      <section class="block chart">
        <Ask verb="stacks" query={{ time, top: STACKS, where: `stack ~ ${quoted(HOOKS)}` }}>{(rows) => <Nested rows={rows} time={time} />}</Ask>
      </section>
      <section class="block chart">
        <Ask verb="annotation-breakdown" query={hooks}>
          {(rows) => (
            <TopBars rows={summed(rows)} title="Hooks by time of their calls" of="sum over calls and ranks on the host, with what they call" n={20}
              name={(row) => hookText(rows.text(row, "name"))} column="sum_ns" color={(row) => classColor(hookClass(rows.text(row, "name")))} />
          )}
        </Ask>
      </section>
      <VerbTable url verb="annotation-breakdown" title="Calls of hooks" query={hooks} hide={["n_names"]} />
    </>
  );
}
