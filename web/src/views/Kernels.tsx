// SPDX-License-Identifier: Apache-2.0
// Which kernels take the device's time: bars, shares of cores, the table, and what is behind one kernel.
import { Shares } from "../ui/charts";
import { useApp } from "../app/context";
import { isNamed } from "../app/links";
import { Head } from "../app/Head";
import { Ask, BothTable, options, ParamSwitch, UrlSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { coreParts } from "./cores";
import { Details } from "./Details";
import { TopBars } from "./TopBars";
import { YourCode } from "./YourCode";
import { kernelColor } from "./names";

function Cores() {
  const { route } = useApp();
  return (
    <section class="block chart">
      <Ask verb="kernels" query={{ by: "core" }}>
        {(rows) => (
          <Shares
            title="Kernel time by core"
            of="of the time of all kernels; click to group by core"
            unit="ns"
            onClick={() => go(linkWith(route, { by: "core" }))}
            parts={coreParts(rows)}
          />
        )}
      </Ask>
    </section>
  );
}

function Behind(props: { name: string }) {
  const where = isNamed("name", props.name);
  return (
    <Details name={props.name} close="name">
      <YourCode name={props.name} label="Your code, longest call:" />
      <VerbTable
        verb="kernels"
        title="By operator and launch"
        query={{ by: "properties", where }}
        hide={["name"]}
        height={200}
      />
      <VerbTable
        verb="kernel-annotations"
        title="Inside annotations"
        query={{ "group-by": "name", where }}
        hide={["name"]}
        height={180}
      />
      <VerbTable verb="launch-stats" title="Launches" query={{ where }} hide={["name"]} height={120} />
      <VerbTable
        verb="events"
        title="Longest calls"
        query={{ where, columns: "id,dur_ns,time_ns,step,stream", sort: "-dur_ns", top: 100 }}
        height={220}
      />
    </Details>
  );
}

export function Kernels() {
  const { route } = useApp();
  const by = route.query.by ?? "name";
  const n = Number(route.query.n ?? 10);
  const open = (rows: Rows, row: Row) => {
    if (rows.has("name")) go(linkWith(route, { name: rows.text(row, "name") }));
  };
  const chosenName = route.query.name;
  return (
    <>
      <Head verb="kernels" query={{ by }}
        title="Kernels"
        lead="Which kernels take the device's time, and how well they fill it. Click on one to see where it is launched and its calls."
      />
      <div class={chosenName ? "with-details" : ""}>
        <div class="content">
          <div class="pair wide-left">
            <section class="block chart">
              <Ask verb="kernels">
                {(rows) => (
                  <TopBars
                    rows={rows}
                    verb="kernels"
                    title="Kernels by time"
                    of="sum of durations, share of that of all kernels"
                    actions={<UrlSwitch name="n" label="top:" options={options("10", "20", "50")} />}
                    name={(row) => rows.text(row, "name")}
                    column="total_ns"
                    share="share"
                    n={n}
                    color={(row) => kernelColor(rows.text(row, "name"))}
                    onClick={(row) => open(rows, row)}
                  />
                )}
              </Ask>
            </section>
            <Cores />
          </div>
          <BothTable
            view="kernels"
            url
            verb="kernels"
            query={{ by }}
            code={by === "name" ? "name" : undefined}
            onRow={open}
            tools={<ParamSwitch verb="kernels" name="by" label="group by:" />}
          />
        </div>
        {chosenName ? <Behind name={chosenName} /> : null}
      </div>
    </>
  );
}
