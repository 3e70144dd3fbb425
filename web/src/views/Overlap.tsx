// SPDX-License-Identifier: Apache-2.0
// How much communication is hidden behind computing, and how much is exposed.
import { StackedBars } from "../ui/charts";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, ParamSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import { OVERLAP_PARTS, stackOf } from "./stacks";

export function Overlap() {
  const { route } = useApp();
  const by = route.query.by ?? "rank";
  return (
    <>
      <Head verb="comm-overlap"
        title="Overlap"
        lead="How much communication is hidden behind computing, and how much is exposed: waiting for the last rank, then transfer."
      >
        <ParamSwitch verb="comm-overlap" name="by" label="rows:" />
      </Head>
      <section class="block chart">
        <Ask verb="comm-overlap" query={{ by }}>
          {(rows) => (
            <StackedBars
              title="Communication, hidden and exposed"
              of="time with a communication kernel running; click to look at one rank"
              series={stackOf(rows, OVERLAP_PARTS)}
              unit="ns"
              categories={rows.all.map((row) =>
                [`rank ${rows.text(row, "rank")}`, rows.text(row, "group"), rows.text(row, "collective")]
                  .filter(Boolean)
                  .join(" "),
              )}
              onClick={(i) => {
                const row = rows.all[i];
                if (row) go(linkWith(route, { rank: rows.text(row, "rank") }));
              }}
            />
          )}
        </Ask>
      </section>
      <VerbTable url verb="comm-overlap" query={{ by }} />
    </>
  );
}
