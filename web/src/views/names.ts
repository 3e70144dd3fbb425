// The class that a frame of a stack is drawn in: Python functions have a file and a line.
export function stackClass(name: string): "python" | "host" {
  return /\.py\(\d+\): |^<built-in |^nn\.Module: /.test(name) ? "python" : "host";
}

// The class that the name of GPU work suggests, for colour only: what is counted as communication is the engine's.
export function kernelClass(name: string): "communication" | "memory" | "compute" {
  if (/^(nccl|rccl|hcom|hccl)|AllReduce|AllGather|ReduceScatter/i.test(name)) return "communication";
  return /^(Memcpy|Memset)/i.test(name) ? "memory" : "compute";
}
