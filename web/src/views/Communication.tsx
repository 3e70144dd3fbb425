// SPDX-License-Identifier: Apache-2.0
// Collectives over ranks: how much of their time is waiting, how fast they move data, and every call.
import { classColor, SERIES } from "../ui/colors";
import { HeatMap, Scatter, StackedBars } from "../ui/charts";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, ParamSwitch, VerbTable } from "../app/parts";
import { eventLink, go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { COLLECTIVE_PARTS } from "./stacks";

const label = (rows: Rows, row: Row) => `${rows.text(row, "kind")} ${rows.text(row, "group")}`;

function Waiting() {
  const { route } = useApp();
  return (
    <section class="block chart">
      <Ask verb="collectives">
        {(rows) => {
          const top = rows.all.slice(0, 16);
          const values = (column: string) => top.map((row) => rows.number(row, column));
          return (
            <StackedBars
              title="Waiting and transfer"
              of="duration of the calls on all ranks, by group and kind; click to see the calls"
              categories={top.map((row) => label(rows, row))}
              unit="ns"
              series={COLLECTIVE_PARTS.map(([column, name, color]) => ({ name, color, values: values(column) }))}
              onClick={(i) => {
                const row = top[i];
                if (row)
                  go(
                    linkWith(route, {
                      view: "calls",
                      kind: rows.text(row, "kind"),
                      group: rows.text(row, "group"),
                    }),
                  );
              }}
            />
          );
        }}
      </Ask>
    </section>
  );
}

const DRAWN = 4000;
// All of 256 ranks; of more those that wait longest.
const DRAWN_PAIRS = 65536;

// Small messages cannot be fast: whether large ones are is what this shows.
function SizesAndRates() {
  const { route } = useApp();
  return (
    <Ask
      verb="collectives"
      query={{ view: "calls", columns: "rank,row,kind,group,bytes,busbw_gb_per_s", where: "busbw_gb_per_s > 0", sort: "-bytes", top: DRAWN }}
      brief
      empty={<></>}
    >
      {(rows) => {
        const kinds = rows.distinct("kind").map(String);
        const event = (row: Row) => `${rows.text(row, "rank")}:${rows.text(row, "row")}`;
        return (
          <section class="block chart">
            <Scatter
              title="Bus bandwidth by size"
              of={`each call of each rank over its transfer${rows.table.hidden > 0 ? `, the largest ${DRAWN}` : ""}; click to open it in the timeline`}
              xName="bytes"
              yName="bus bandwidth"
              xUnit="bytes"
              yUnit="GB/s"
              dots={rows.all.map((row) => ({
                name: `${label(rows, row)}, rank ${rows.text(row, "rank")}`,
                kind: rows.text(row, "kind"),
                color: (kinds.length > 1 ? SERIES[kinds.indexOf(rows.text(row, "kind")) % SERIES.length] : null) ?? classColor("communication"), // one kind has the colour of its class
                x: rows.number(row, "bytes") ?? 0,
                y: rows.number(row, "busbw_gb_per_s") ?? 0,
              }))}
              onClick={(i) => {
                const row = rows.all[i];
                if (row) go(eventLink(route, event(row)));
              }}
            />
          </section>
        );
      }}
    </Ask>
  );
}

// A dark column is a rank that the others wait for.
function WhoWaits() {
  const { route } = useApp();
  return (
    <Ask verb="collectives" query={{ view: "ranks", sort: "-wait_ns", top: DRAWN_PAIRS }} brief empty={<></>}>
      {(rows) => {
        const ranks = [...new Set(rows.all.flatMap((row) => ["rank", "last_rank"].map((name) => rows.number(row, name) ?? 0)))].sort((a, b) => a - b);
        const place = new Map(ranks.map((rank, i) => [rank, i]));
        const values: (number | null)[][] = ranks.map(() => ranks.map(() => null));
        for (const row of rows.all)
          values[place.get(rows.number(row, "rank") ?? 0)!]![place.get(rows.number(row, "last_rank") ?? 0)!] = rows.number(row, "wait_ns");
        return (
          <section class="block chart">
            <HeatMap
              title="Which rank waits for which"
              of="wait until the rank of the column arrives; click for the calls of the row's rank"
              rows={ranks.map((rank) => `rank ${rank}`)}
              columns={ranks.map((rank) => `for ${rank}`)}
              values={values}
              unit="ns"
              maxHeight={360}
              onClick={(row) => go(linkWith(route, { view: "calls", rank: String(ranks[row]) }))}
            />
          </section>
        );
      }}
    </Ask>
  );
}

export function Communication() {
  const { route } = useApp();
  const { kind, group } = route.query;
  const keep =
    kind || group
      ? (rows: Rows, row: Row) =>
          (!kind || rows.text(row, "kind") === kind) && (!group || rows.text(row, "group") === group)
      : undefined;
  return (
    <>
      <Head verb="collectives"
        title="Communication"
        lead="What collectives wait for and how fast they move data. Waiting is until the last rank has started; transfer is the rest."
      />
      <div class="pair">
        <Waiting />
        <SizesAndRates />
      </div>
      <WhoWaits />
      {keep ? (
        <p class="filter-note">
          Only {kind} {group}{" "}
          <button type="button" class="pill" onClick={() => go(linkWith(route, { kind: null, group: null }))}>
            show all
          </button>
        </p>
      ) : null}
      <VerbTable
        url
        verb="collectives"
        query={{ view: route.query.view }}
        keep={keep}
        tools={<ParamSwitch verb="collectives" name="view" label="show:" />}
      />
      <VerbTable verb="distributed" query={{ view: "operations" }} title="Operations of each rank" />
    </>
  );
}
