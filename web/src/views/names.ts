// SPDX-License-Identifier: Apache-2.0
import { classOf, nameHue, type Class } from "../ui/colors";
// The class that a frame of a stack is drawn in: Python functions have a file and a line.
export function stackClass(name: string): "python" | "host" {
  return /\.py\(\d+\): |^<built-in |^nn\.Module: /.test(name) ? "python" : "host";
}

// The class that the name of GPU work suggests, for colour only: what is counted as communication is the engine's.
export function kernelClass(name: string): "communication" | "memory" | "compute" {
  if (/^(nccl|rccl|hcom|hccl|gloo:|c10d::|record_param_comms)|AllReduce|AllGather|ReduceScatter/i.test(name)) return "communication";
  return /^(Memcpy|Memset)/i.test(name) ? "memory" : "compute";
}

// The class of a kind of GPU work, as kernel-types names them.
export function typeClass(type: string): Class {
  if (/overlapping/.test(type)) return "sync";
  return classOf(type) ?? "compute";
}

// The colour of a kernel, on the page and in the report: of its kind where the table says it.
export function kernelColor(name: string, type = ""): string {
  return nameHue(name, type ? typeClass(type) : kernelClass(name));
}
