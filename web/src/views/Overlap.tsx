// SPDX-License-Identifier: Apache-2.0
// How much communication is hidden behind computing, and how much is exposed.
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, ParamSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import { BothBars } from "./BothBars";
import { OVERLAP_PARTS } from "./stacks";

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
            <BothBars
              rows={rows}
              verb="comm-overlap"
              query={{ by }}
              parts={OVERLAP_PARTS}
              name={(of, row) => [`rank ${of.text(row, "rank")}`, of.text(row, "group"), of.text(row, "collective")].filter(Boolean).join(" ")}
              title="Communication, hidden and exposed"
              of="time with a communication kernel running; click to look at one rank"
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
