// SPDX-License-Identifier: Apache-2.0
// The ranks of a run that are read, and what their devices are called.
import type { Run } from "../model";

export function rankList(run: Run): number[] {
  return [...new Set(run.workers.flatMap((worker) => worker.rank ?? []))].sort((a, b) => a - b);
}

export function deviceWord(run: Run): "GPU" | "NPU" {
  const vendors = run.workers.map((worker) => worker.vendor);
  return vendors.includes("npu") && !vendors.includes("gpu") ? "NPU" : "GPU";
}
