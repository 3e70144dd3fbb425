// SPDX-License-Identifier: Apache-2.0
// How fast copies between host and device are, over time and in sum.
import { Head } from "../app/Head";
import { VerbTable } from "../app/parts";
import type { Rows } from "../app/rows";
import { human } from "../ui/format";
import { Series } from "./Series";

// The kind of copy that moves most, and how fast while it runs.
function mostWords(rows: Rows): string | null {
  const bytes = rows.sumBy("name", "bytes"), all = bytes.reduce((sum, [, n]) => sum + n, 0), [name, n] = bytes.reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
  const busy = rows.sumBy("name", "busy_ns").find(([one]) => one === name)?.[1] ?? 0;
  if (n <= 0 || busy <= 0) return null;
  const moved = human(Math.round(n), { type: "bytes", unit: "bytes" }), share = human(n / all, { type: "ratio", unit: null });
  return `${name} moves ${moved} at ${human(n / busy, { type: "float64", unit: "GB/s" })}, ${share} of all bytes copied or set`;
}

export function Bandwidth() {
  return (
    <>
      <Head verb="memory-bandwidth" say={mostWords} title="Copy bandwidth" lead="How fast copies between host and device, and memset, are." />
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
