// Hardware counters of kernels, where the trace has them.
import { Head } from "../app/Head";
import { Empty, VerbTable } from "../app/parts";
import { useApp } from "../app/context";
import { analysisOf } from "../app/context";

export function Counters() {
  const app = useApp();
  if (!analysisOf(app, "cupti-counters")) return <Empty title="This build has no analysis of counters" />;
  return (
    <>
      <Head verb="cupti-counters"
        title="Counters"
        lead="What the hardware counters say about each kernel and its operator. They are recorded with CUPTI's range profiler (experimental_config of the profiler)."
      />
      <VerbTable url verb="cupti-counters" />
    </>
  );
}
