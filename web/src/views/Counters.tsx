// SPDX-License-Identifier: Apache-2.0
// Counters over time, and hardware counters of kernels, where the trace has them.
import { analysisOf, useApp } from "../app/context";
import { Head } from "../app/Head";
import { VerbTable } from "../app/parts";
import { linkTo } from "../app/route";

export function Counters() {
  const app = useApp();
  return (
    <>
      <Head
        title="Counters"
        verb="counters"
        lead={
          <>
            What the recorder sampled: bandwidth, clocks, memory. Each series is a track of the timeline.{" "}
            <a href={linkTo(app.route, "timeline", { show: "counters" })}>Show them there →</a>
          </>
        }
      />
      <VerbTable url verb="counters" />
      {analysisOf(app, "cupti-counters") ? (
        <VerbTable verb="cupti-counters" title="Hardware counters of kernels and operators" />
      ) : null}
    </>
  );
}
