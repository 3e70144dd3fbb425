// The ranks of a run that are read.
import type { Run } from "../model";

export function rankList(run: Run): number[] {
  return [...new Set(run.workers.flatMap((worker) => worker.rank ?? []))].sort((a, b) => a - b);
}
