// SPDX-License-Identifier: Apache-2.0
// How long launches take and how long launched work waits, with those that stand out.
import { classColor } from "../ui/colors";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, ParamSwitch, UrlSwitch, VerbTable } from "../app/parts";
import type { Option } from "../app/parts";
import { go, linkTo } from "../app/route";
import { useWords } from "../app/words";
import { TopBars } from "./TopBars";

const MEASURES: readonly Option[] = [
  { value: "launch_delay_mean_ns", label: "launch delay" },
  { value: "cpu_mean_ns", label: "launch call" },
  { value: "gpu_mean_ns", label: "GPU activity" },
];

export function Launch() {
  const { route } = useApp();
  const words = useWords(), measures = MEASURES.map((one) => ({ ...one, label: words(one.label) }));
  const measure = route.query.measure ?? MEASURES[0]!.value;
  const view = route.query.view ?? "summary";
  const cutoffs = {
    "runtime-cutoff": route.query["runtime-cutoff"],
    "launch-delay-cutoff": route.query["launch-delay-cutoff"],
  };
  return (
    <>
      <Head verb="launch-stats"
        title="Launches"
        lead="How long launch calls take, how long launched work waits, and which launches stand out."
      >
        <UrlSwitch
          name="launch-delay-cutoff"
          label="a delay stands out above:"
          options={["100us", "1ms", "10ms", "100ms"].map((value) => ({
            value,
            label: value.replace("us", " µs").replace("ms", " ms"),
          }))}
        />
      </Head>
      <section class="block chart">
        <Ask verb="launch-stats">
          {(rows) => (
            <TopBars
              rows={rows}
              title={`Kernels by mean ${measures.find((one) => one.value === measure)?.label ?? measure}`}
              of={`${rows.column(measure)?.sentence ?? ""}; click to see the kernel`}
              actions={<UrlSwitch name="measure" label="mean of:" options={measures} />}
              column={measure}
              name={(row) => rows.text(row, "name")}
              color={() => classColor(measure.startsWith("gpu") ? "compute" : "host")}
              onClick={(row) => go(linkTo(route, "kernels", { name: rows.text(row, "name") }))}
            />
          )}
        </Ask>
      </section>
      <VerbTable
        url
        verb="launch-stats"
        query={{ view, ...cutoffs }}
        tools={<ParamSwitch verb="launch-stats" name="view" label="show:" />}
      />
      <VerbTable verb="op-launch-delay" />
    </>
  );
}
