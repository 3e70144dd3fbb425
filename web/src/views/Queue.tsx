// SPDX-License-Identifier: Apache-2.0
// How much launched work waits on each stream, and whether the host blocks because a queue is full.
import { Head } from "../app/Head";
import { VerbTable } from "../app/parts";
import type { Row, Rows } from "../app/rows";
import { human } from "../ui/format";
import { Series } from "./Series";

// Of the stream with most launches: how often nothing waits, and how much does at most.
function busiestWords(rows: Rows): string | null {
  const row = rows.all.reduce<Row | null>((a, b) => (a && (rows.number(a, "count") ?? 0) >= (rows.number(b, "count") ?? 0) ? a : b), null);
  if (!row) return null;
  const share = human(rows.number(row, "empty_share"), { type: "ratio", unit: "ratio" }), several = rows.distinct("rank").length > 1;
  return `Stream ${rows.text(row, "stream")}${several ? ` of rank ${rows.text(row, "rank")}` : ""} has nothing queued for ${share} of the time, ${human(rows.number(row, "max"), { type: "int64", unit: null })} launches at most`;
}

export function Queue() {
  return (
    <>
      <Head verb="queue-length" say={busiestWords}
        title="Queue length"
        lead="How much launched work waits on each stream: long queues keep the device fed, empty ones leave it dry."
      />
      <Series
        verb="queue-length"
        column="queue_length"
        title="Launched and not started"
        says="per stream"
        unit=""
        lineOf={(rows, row) => `stream ${rows.text(row, "stream")}`}
      />
      <VerbTable url verb="queue-length" />
      <VerbTable verb="queue-blocked" />
    </>
  );
}
