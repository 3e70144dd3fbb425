// SPDX-License-Identifier: Apache-2.0
// How fast copies between host and device are, over time and in sum.
import { Head } from "../app/Head";
import { VerbTable } from "../app/parts";
import { Series } from "./Series";

export function Bandwidth() {
  return (
    <>
      <Head verb="memory-bandwidth" title="Copy bandwidth" lead="How fast copies between host and device, and memset, are." />
      <Series
        verb="memory-bandwidth"
        column="memory_bw_gbps"
        title="Bandwidth of all running copies"
        says="per kind"
        unit="GB/s"
        lineOf={(rows, row) => rows.text(row, "name")}
      />
      <VerbTable url verb="memory-bandwidth" />
    </>
  );
}
