// SPDX-License-Identifier: Apache-2.0
// Reading as it goes on: how fast, how long still, and what is said from the ranks that are there. While a run is read its tables are not asked for again and again: the
// server would do little else.
import { useEffect, useRef, useState } from "preact/hooks";
import type { FileState, Run } from "../model";
import { human, nsText } from "../ui/format";
import { slowestAnswer } from "./api";
import { useApp } from "./context";

interface Sample { at: number; done: number }

const WINDOW_MS = 8000, SETTLE_MS = 1200;

export const filesOf = (run: Run): FileState[] => run.workers.flatMap((worker) => worker.files);
export const isReading = (file: FileState): boolean => file.state === "loading" || file.state === "waiting";

// Bytes per second over the last seconds, by what the server told when; null: not known yet.
export function rateOf(samples: readonly Sample[]): number | null {
  const first = samples[0], last = samples[samples.length - 1];
  if (!first || !last || last.at - first.at < SETTLE_MS || last.done <= first.done) return null;
  return (last.done - first.done) / ((last.at - first.at) / 1000);
}

// "412 MB/s, 12 s left", or what of it is known.
export function paceText(rate: number | null, left: number): string {
  if (rate === null) return "";
  const seconds = left / rate;
  return `${human(rate / 1e6, { type: "float64", unit: "MB/s" })}, ${seconds < 1 ? "less than 1 s" : nsText(Math.ceil(seconds) * 1e9)} left`;
}

export function usePace(run: Run): string {
  const files = filesOf(run), samples = useRef<{ of: string; list: Sample[] }>({ of: run.id, list: [] });
  const done = files.reduce((sum, file) => sum + file.done, 0), left = files.reduce((sum, file) => sum + (isReading(file) ? file.bytes - file.done : 0), 0);
  if (samples.current.of !== run.id) samples.current = { of: run.id, list: [] };
  const now = performance.now(), { list } = samples.current;
  if (list.length === 0 || (list[list.length - 1] as Sample).done !== done) list.push({ at: now, done });
  while (list.length > 2 && now - (list[0] as Sample).at > WINDOW_MS) list.shift();
  return files.some(isReading) ? paceText(rateOf(list), left) : "";
}

const ranksRead = (run: Run) => run.workers.filter((worker) => worker.rank !== null).length;
const readAt = new Map<string, number>(); // ranks that were read, by run and generation

// What is shown is said from some of the ranks, and will be said again.
export function Provisional() {
  const { run } = useApp(), read = readAt.get(`${run.id} ${run.generation}`) ?? ranksRead(run);
  if (!filesOf(run).some(isReading)) return null;
  return (
    <p class="provisional" role="status">
      <strong>Provisional</strong>: from {read} of {run.workers.length} {run.workers.length === 1 ? "rank" : "ranks"}
    </p>
  );
}

// The run with the generation that tables are asked for: that of now when all is read; until then a later one after the answers had their time.
export function useSteadyRun(run: Run | undefined): Run | undefined {
  const [held, setHeld] = useState<{ id: string; generation: number; at: number } | null>(null);
  const reading = run !== undefined && filesOf(run).some(isReading);
  if (run) readAt.set(`${run.id} ${run.generation}`, ranksRead(run));
  const wait = Math.max(1500, 3 * slowestAnswer());
  const due = !run || !held || held.id !== run.id || held.generation === 0 || !reading ? 0 : held.at + wait - performance.now();
  const now = run && held && held.id === run.id && reading && due > 0 ? held.generation : (run?.generation ?? 0);
  useEffect(() => {
    if (!run || (held && held.id === run.id && held.generation === run.generation)) return;
    const timer = window.setTimeout(() => setHeld({ id: run.id, generation: run.generation, at: performance.now() }), Math.max(0, due));
    return () => clearTimeout(timer);
  }, [run?.id, run?.generation, reading, held]);
  return run && now !== run.generation ? { ...run, generation: now } : run;
}
