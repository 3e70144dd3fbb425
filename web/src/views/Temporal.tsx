// SPDX-License-Identifier: Apache-2.0
// How much of the GPU's time is idle, computing, or spent on anything else.
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, ParamSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { BothBars } from "./BothBars";
import { deviceWord } from "./ranks";
import { Series } from "./Series";
import { TEMPORAL_PARTS } from "./stacks";

function label(rows: Rows, row: Row, device: string): string {
  const step = rows.cell(row, "step");
  const devices = rows.distinct("device").length > 1 ? ` ${device} ${rows.text(row, "device")}` : "";
  return `rank ${rows.text(row, "rank")}${devices}${step === null ? "" : `, step ${step}`}`;
}

export function Temporal() {
  const { route, run } = useApp();
  const by = route.query.by ?? "rank";
  return (
    <>
      <Head verb="temporal-breakdown" query={{ by }}
        title="Temporal breakdown"
        lead="How much of the device's time is idle, computing, or spent on anything else. The parts add up to the span from its first to its last work."
      >
        <ParamSwitch verb="temporal-breakdown" name="by" label="rows:" />
      </Head>
      <section class="block chart">
        <Ask verb="temporal-breakdown" query={{ by }}>
          {(rows) => (
            <BothBars
              rows={rows}
              verb="temporal-breakdown"
              query={{ by }}
              parts={TEMPORAL_PARTS}
              name={(of, row) => label(of, row, deviceWord(run))}
              title="Time breakdown of the device"
              of={`each moment once; click to look at one ${by}`}
              onClick={(i) => {
                const row = rows.all[i];
                if (row)
                  go(
                    linkWith(route, {
                      rank: rows.text(row, "rank"),
                      step: rows.text(row, "step") || route.query.step,
                    }),
                  );
              }}
            />
          )}
        </Ask>
      </section>
      <Series
        verb="gpu-use"
        column="busy_share"
        title={`${deviceWord(run)} use over time`}
        says="share of each bucket of time with anything running on the device"
        unit="ratio"
        lineOf={(rows, row) => `${deviceWord(run)} ${rows.text(row, "device")}`.trim()}
      />
      <VerbTable url verb="temporal-breakdown" query={{ by }} />
    </>
  );
}
