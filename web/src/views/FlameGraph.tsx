// SPDX-License-Identifier: Apache-2.0
// Stacks of Python functions and operators as a flame graph: time of the host, or of GPU work by where it was launched.
import { useMemo } from "preact/hooks";
import { Flame } from "../ui/charts";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, UrlSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Rows } from "../app/rows";
import { withoutAddresses } from "../app/frames";
import { human, shortName } from "../ui/format";
import { useBaseRows } from "./both";
import { stackClass } from "./names";
import { deviceWord } from "./ranks";
import { treeOf } from "./tree";

const STACKS = 20000;

function stackRows(rows: Rows) {
  return rows.all.map((row) => ({
    path: rows.text(row, "stack").split(";"),
    self: rows.number(row, "self_ns") ?? 0,
  }));
}

function Stacks(props: { rows: Rows; time: string }) {
  const { route } = useApp();
  const { rows, time } = props;
  const root = useMemo(() => treeOf(stackRows(rows), "all", time === "host" ? stackClass : () => "compute"), [rows]);
  return (
    <Flame
      title={`Where ${time} time is spent`}
      of="click to look inside; the table below follows"
      root={root}
      unit="ns"
      onSelect={(path) =>
        go(
          linkWith(route, {
            under:
              path.length > 1
                ? path
                    .slice(1)
                    .map((node) => node.name)
                    .join(";")
                : null,
          }),
        )
      }
    />
  );
}

// "## backward ## takes 38 % of host time itself", of all stacks that it is the innermost of.
function longestWords(rows: Rows, of: string): string | null {
  const own = new Map<string, number>();
  let all = 0;
  for (const { path, self } of stackRows(rows)) {
    own.set(path.at(-1) ?? "", (own.get(path.at(-1) ?? "") ?? 0) + self);
    all += self;
  }
  const [name, ns] = [...own].reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
  return all > 0 && name ? `${shortName(withoutAddresses(name), 70)} takes ${human(ns / all, { type: "ratio", unit: null })} of ${of} time itself` : null;
}

const timeText = (ns: number) => human(ns, { type: "duration", unit: "ns" });

// The baseline as wide as its time is of this run's, or the other way round: both on one scale.
function Both(props: { rows: Rows; time: string; query: { time: string; top: number } }) {
  const { base } = useApp(), before = useBaseRows("stacks", props.query);
  const root = useMemo(() => (before ? treeOf(stackRows(before), "all", props.time === "host" ? stackClass : () => "compute") : null), [before, props.time]);
  const here = useMemo(() => props.rows.all.reduce((sum, row) => sum + (props.rows.number(row, "self_ns") ?? 0), 0), [props.rows]);
  if (!root || !base || root.value <= 0 || here <= 0) return <Stacks rows={props.rows} time={props.time} />;
  const most = Math.max(here, root.value), wide = (value: number) => ({ width: `${Math.max(10, (100 * value) / most)}%` });
  return (
    <>
      <div style={wide(here)}><Stacks rows={props.rows} time={props.time} /></div>
      <div style={wide(root.value)}><Flame title={`The same of ${base.name}`} of={`baseline, same scale: ${timeText(root.value)} against ${timeText(here)}`} root={root} unit="ns" /></div>
    </>
  );
}

export function FlameGraph() {
  const { route, run } = useApp();
  const time = route.query.time ?? "host";
  const under = route.query.under ?? "";
  const query = { time, top: STACKS };
  const words =
    time === "host"
      ? "own time of host events under those around them"
      : `time of ${deviceWord(run)} activity under the events around its launch`;
  return (
    <>
      <Head verb="stacks" query={query} say={(rows) => longestWords(rows, time === "host" ? "host" : deviceWord(run))} title="Flame graph" lead={`Which stacks of Python functions and operators the time is spent in: ${words}.`}>
        <UrlSwitch
          name="time"
          label="time of:"
          options={[
            { value: "host", label: "host" },
            { value: "device", label: "device" },
          ]}
        />
      </Head>
      <section class="block chart">
        <Ask verb="stacks" query={query}>
          {(rows) => (
            <>
              <Both rows={rows} time={time} query={query} />
              {rows.table.hidden > 0 ? <p class="notes">{rows.table.hidden} smaller stacks are not drawn.</p> : null}
            </>
          )}
        </Ask>
      </section>
      {under ? (
        <p class="filter-note">
          Below: stacks under <span class="mono">{under.split(";").at(-1)}</span>{" "}
          <button type="button" class="pill" onClick={() => go(linkWith(route, { under: null }))}>
            show all
          </button>
        </p>
      ) : null}
      <VerbTable
        url
        verb="stacks"
        query={query}
        keep={under ? (rows, row) => rows.text(row, "stack").startsWith(under) : undefined}
      />
    </>
  );
}
