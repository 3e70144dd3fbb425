// SPDX-License-Identifier: Apache-2.0
// Which ranks keep the others waiting, by how much and why, and at which collectives.
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { stragglerColor } from "./stacks";
import { TopBars } from "./TopBars";

export function Stragglers() {
  const { route } = useApp();
  const last = route.query.last;
  const keep = last ? (rows: Rows, row: Row) => rows.text(row, "last_rank") === last : undefined;
  return (
    <>
      <Head verb="stragglers"
        title="Stragglers"
        lead="Which ranks keep the others waiting, by how much, why, and at which collectives."
      />
      <section class="block chart">
        <Ask verb="stragglers">
          {(rows) => (
            <TopBars
              rows={rows}
              verb="stragglers"
              title="Delay that each rank causes"
              of="time in which collectives wait for it alone; click to see where"
              column="delay_ns"
              share="delay_share"
              n={64}
              name={(row) => `rank ${rows.text(row, "rank")}`}
              color={(row) => stragglerColor(rows.cell(row, "candidate") === true)}
              onClick={(row) => go(linkWith(route, { last: rows.text(row, "rank") }))}
            />
          )}
        </Ask>
      </section>
      <VerbTable
        url
        verb="stragglers"
        title="Ranks"
        onRow={(rows, row) => go(linkWith(route, { last: rows.text(row, "rank") }))}
      />
      {last ? (
        <p class="filter-note">
          Collectives at which rank {last} was last{" "}
          <button type="button" class="pill" onClick={() => go(linkWith(route, { last: null }))}>
            show all
          </button>
        </p>
      ) : null}
      <VerbTable verb="stragglers" query={{ view: "collectives" }} title="Collectives" quiet keep={keep} />
    </>
  );
}
