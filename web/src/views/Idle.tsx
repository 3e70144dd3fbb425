// SPDX-License-Identifier: Apache-2.0
// What each stream waited for while it was idle, and how long the gaps are.
import { StackedBars } from "../ui/charts";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, ParamSwitch, UrlSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { deviceWord } from "./ranks";
import { IDLE_WORDS } from "./stacks";

const key = (rows: Rows, row: Row) => ["rank", "device", "stream"].map((name) => rows.text(row, name)).join(" ");

// One bar per stream: rows of the same rank, device and stream side by side.
function stacks(rows: Rows) {
  const first = new Map<string, Row>();
  for (const row of rows.all) if (!first.has(key(rows, row))) first.set(key(rows, row), row);
  const keys = [...first.keys()];
  const at = new Map(keys.map((text, i) => [text, i]));
  const series = IDLE_WORDS.map(([name, label, color]) => {
    const values: (number | null)[] = keys.map(() => null);
    for (const row of rows.all)
      if (rows.text(row, "idle_category") === name) values[at.get(key(rows, row)) ?? 0] = rows.number(row, "idle_ns");
    return { name: label, color, values };
  });
  return { bars: [...first.values()], series: series.filter((one) => one.values.some((value) => value)) };
}

function label(rows: Rows, row: Row, device: string): string {
  const stream = rows.cell(row, "stream");
  return `rank ${rows.text(row, "rank")}${stream === null ? ` ${device} ${rows.text(row, "device")}` : ` stream ${stream}`}`;
}

export function Idle() {
  const { route, run } = useApp();
  const by = route.query.by ?? "stream";
  const threshold = route.query.threshold;
  return (
    <>
      <Head verb="idle-breakdown" query={{ by, threshold }}
        title="Idle time"
        lead="What each stream waited for while it was idle: the host, the launch of the next kernel, or communication."
      >
        <ParamSwitch verb="idle-breakdown" name="by" label="rows:" />
        <UrlSwitch
          name="threshold"
          label="short gaps up to:"
          options={[
            { value: "30us", label: "30 µs" },
            { value: "10us", label: "10 µs" },
            { value: "100us", label: "100 µs" },
            { value: "1ms", label: "1 ms" },
          ]}
        />
      </Head>
      <section class="block chart">
        <Ask verb="idle-breakdown" query={{ by, threshold }}>
          {(rows) => {
            const { bars, series } = stacks(rows);
            return (
              <StackedBars
                title="Idle time by cause"
                of="sum of the gaps; click to look at one rank"
                categories={bars.map((row) => label(rows, row, deviceWord(run)))}
                series={series}
                unit="ns"
                onClick={(i) => {
                  const row = bars[i];
                  if (row) go(linkWith(route, { rank: rows.text(row, "rank") }));
                }}
              />
            );
          }}
        </Ask>
      </section>
      <VerbTable url verb="idle-breakdown" query={{ by, threshold }} />
      <VerbTable verb="idle-intervals" query={{ by, threshold }} />
    </>
  );
}
