// SPDX-License-Identifier: Apache-2.0
// Stacks of Python functions and operators as a flame graph: time of the host, or of GPU work by where it was launched.
import { useMemo } from "preact/hooks";
import { Flame } from "../ui/charts";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, UrlSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Rows } from "../app/rows";
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
      <Head verb="stacks" title="Flame graph" lead={`Which stacks of Python functions and operators the time is spent in: ${words}.`}>
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
              <Stacks rows={rows} time={time} />
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
