// SPDX-License-Identifier: Apache-2.0
// How much launched work waits on each stream, and whether the host blocks because a queue is full.
import { Head } from "../app/Head";
import { VerbTable } from "../app/parts";
import { Series } from "./Series";

export function Queue() {
  return (
    <>
      <Head verb="queue-length"
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
