// SPDX-License-Identifier: Apache-2.0
// Which columns of a table are parts of a whole, and the colour of each: the same everywhere.
import { classColor } from "../ui/colors";
import type { Row, Rows } from "../app/rows";

export interface Series {
  name: string;
  color: string;
  values: (number | null)[];
}
export type Part = readonly [column: string, name: string, color: string];

export const STEP_PARTS: readonly Part[] = [
  ["kernel_ns", "kernel", classColor("compute")],
  ["memcpy_ns", "memcpy", classColor("memory")],
  ["memset_ns", "memset", classColor("memory")],
  ["exposed_ns", "exposed communication", classColor("communication")],
  ["runtime_ns", "runtime", classColor("sync")],
  ["dataloader_ns", "data loading", classColor("data")],
  ["cpu_exec_ns", "CPU", classColor("host")],
  ["other_ns", "other", classColor("idle")],
];

// Waiting and transfer are parts of exposed communication; where they are unknown it is drawn whole.
export const DISTRIBUTED_PARTS: readonly Part[] = [
  ["computation_ns", "compute", classColor("compute")],
  ["overlapped_ns", "compute and communication", classColor("sync")],
  ["exposed_transfer_ns", "transfer", classColor("communication")],
  ["exposed_wait_ns", "waiting for a rank", classColor("comm_pale")],
  ["exposed_ns", "exposed communication", classColor("communication")],
  ["other_ns", "idle", classColor("idle")],
];

export const TEMPORAL_PARTS: readonly Part[] = [
  ["compute_ns", "compute", classColor("compute")],
  ["exposed_transfer_ns", "transfer", classColor("communication")],
  ["exposed_wait_ns", "waiting for a rank", classColor("comm_pale")],
  ["exposed_ns", "exposed communication", classColor("communication")],
  ["memcpy_ns", "memcpy", classColor("memory")],
  ["memset_ns", "memset", classColor("memory")],
  ["other_ns", "other", classColor("sync")],
  ["outside_ns", "other steps", classColor("host")],
  ["idle_ns", "idle", classColor("idle")],
];

export const OVERLAP_PARTS: readonly Part[] = [
  ["overlap_ns", "hidden behind compute", classColor("sync")],
  ["exposed_transfer_ns", "transfer, exposed", classColor("communication")],
  ["exposed_wait_ns", "waiting, exposed", classColor("comm_pale")],
  ["exposed_ns", "exposed", classColor("communication")],
];

export const COLLECTIVE_PARTS: readonly Part[] = [
  ["transfer_ns", "transfer", classColor("communication")],
  ["wait_ns", "waiting for the last rank", classColor("comm_pale")],
];

// Words of a column, what they are called and their colours: causes of idle time, and what bounds a critical path.
export const IDLE_WORDS: readonly Part[] = [
  ["host_wait", "waiting for the CPU to launch", classColor("host")],
  ["kernel_wait", "launch latency", classColor("sync")],
  ["communication_wait", "while another stream communicates", classColor("comm_pale")],
  ["other", "with work queued", classColor("idle")],
  ["leading", "before the first recorded launch", classColor("data")],
];

export const BOUND_WORDS: readonly Part[] = [
  ["gpu_compute_bound", "compute", classColor("compute")],
  ["gpu_communication_bound", "communication", classColor("communication")],
  ["gpu_memory_bound", "memcpy", classColor("memory")],
  ["cpu_bound", "CPU", classColor("host")],
  ["data_loading", "data loading", classColor("data")],
  ["gpu_kernel_launch_overhead", "launch latency", classColor("sync")],
  ["gpu_kernel_kernel_overhead", "between kernels", classColor("idle")],
];

// A rank that keeps the others waiting, and one that does not.
export const stragglerColor = (isCandidate: boolean): string => classColor(isCandidate ? "communication" : "comm_pale");

const SPLIT: Readonly<Record<string, true>> = { exposed_ns: true };

// The parts that are there, as series. A whole is left out of those rows whose parts of it are known.
export function stackOf(rows: Rows, parts: readonly Part[]): Series[] {
  const isSplit = (row: Row) => rows.number(row, "exposed_wait_ns") !== null;
  return parts
    .filter(([column]) => rows.any(column) && !(SPLIT[column] && rows.all.every(isSplit)))
    .map(([column, name, color]) => ({
      name,
      color,
      values: rows.all.map((row) => (SPLIT[column] && isSplit(row) ? null : rows.number(row, column))),
    }));
}
