// How fast a serving engine answers: its iterations by phase, and one by one.
import { Head } from "../app/Head";
import { VerbTable } from "../app/parts";

export function Iterations() {
  return (
    <>
      <Head verb="iterations"
        title="Serving iterations"
        lead="How fast prefill and decode are, and whether the GPU waits between iterations: wall time from start to start, GPU time by launch."
      />
      <VerbTable url verb="iterations" />
      <VerbTable verb="iterations" query={{ view: "list" }} title="One by one" />
    </>
  );
}
