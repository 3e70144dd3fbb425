// SPDX-License-Identifier: Apache-2.0
// All components with made-up data, to look at in both themes: node build.mjs OUT --dev, then OUT/gallery.html.
// Part of no bundle that is shipped.
import { render } from "preact";
import type { Cell, Table } from "../model";
import { classColor, CLASSES } from "./colors";
import { Bars, Flame, type FlameNode, HeatMap, Lines, MinMaxBars, Shares, StackedBars } from "./charts";
import { DataTable } from "./DataTable";
import "./tokens.css";

let seed = 7;
const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
const steps = [2, 3, 4, 5, 6].map(step => `step ${step}`);
const KERNELS = ["ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
  "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
  "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>)",
  "Memcpy HtoD (Pinned -> Device)", "<script>alert(1)</script>", "Memset (Device)"];
const TYPES = ["communication", "compute", "compute", "memory", "compute", "memory"];

function tableOf(n: number): Table {
  const rows: Cell[][] = [];
  for (let i = 0; i < n; i++) {
    const share = random() / (1 + i % 97);
    rows.push([KERNELS[i % KERNELS.length] as string, TYPES[i % TYPES.length] as string, i % 8, Math.floor(random() * 4000), Math.floor(share * 1e9),
      i % 11 === 0 ? null : random() * 1e6, share, Math.floor(random() * 1e9), `${i % 8}:${i}`, null]);
  }
  const column = (name: string, type: Table["columns"][0]["type"], role: "key" | "measure" | "detail", unit: string | null = null) =>
    ({ name, type, unit, role, sentence: `What ${name} is, and of what.` });
  return {
    title: "Kernels", method: "every kernel of all ranks", rows, notes: ["A note that says what is lost."], hidden: 12, bar: "gpu_share",
    columns: [column("kernel", "string", "key"), column("class", "string", "key"), column("rank", "int64", "key"), column("calls", "int64", "measure"), column("sum_ns", "duration", "measure", "ns"),
      column("mean_ns", "duration_float", "measure", "ns"), column("gpu_share", "ratio", "measure"), column("size_bytes", "bytes", "detail", "bytes"), column("first", "event", "detail"), column("nothing", "float64", "detail")],
  };
}

function flame(depth: number, value: number, name: string): FlameNode {
  const children: FlameNode[] = [];
  let left = value * 0.94;
  for (let i = 0; depth > 0 && i < 5 && left > value * 0.02; i++) {
    const part = left * (0.2 + 0.6 * random());
    children.push(flame(depth - 1, part, `${["aten::linear", "Module: Block", "forward", "aten::copy_", "loss.py:12"][i]} ${depth}`));
    left -= part;
  }
  return { name, value, self: left, children, cls: depth % 3 === 0 ? "python" : "host" };
}

const values = (scale: number) => steps.map(() => scale * (0.8 + 0.4 * random()));

function Gallery() {
  const points = (top: number): [number, number][] => Array.from({ length: 300 }, (_, i) => [i * 1e6, top * (0.3 + 0.7 * Math.abs(Math.sin(i / 20)) * random())]);
  return (
    <main style={{ padding: "16px", display: "grid", gap: "24px", gridTemplateColumns: "repeat(auto-fit, minmax(min(100%, 520px), 1fr))" }}>
      <StackedBars title="Time breakdown of a step" of="mean over ranks, device time" unit="ns" categories={steps} series={[
        { name: "compute", color: classColor("compute"), values: values(20e6) }, { name: "transfer", color: classColor("communication"), values: values(52e6) },
        { name: "waiting for the last rank", color: classColor("comm_pale"), values: values(54e6) }, { name: "idle", color: classColor("idle"), values: values(8e6) }]} onClick={() => undefined} />
      <StackedBars title="Many ranks" of="share of span" unit="ratio" totals={false} categories={Array.from({ length: 256 }, (_, i) => `rank ${i}`)} series={[
        { name: "compute", color: classColor("compute"), values: Array.from({ length: 256 }, () => 0.4 + 0.2 * random()) }, { name: "idle", color: classColor("idle"), values: Array.from({ length: 256 }, () => 0.3 * random()) }]} />
      <HeatMap title="Rank lateness" of="after the first rank" unit="ns" rows={["rank 0", "rank 1", "rank 2", "rank 3"]} columns={steps}
        values={[0, 1, 2, 3].map(rank => steps.map(() => (rank === 2 ? 60e6 : 0) + 9e6 * random()))} />
      <HeatMap title="Many ranks by many steps" unit="ns" rows={Array.from({ length: 256 }, (_, i) => `rank ${i}`)} columns={Array.from({ length: 100 }, (_, i) => `${i}`)}
        values={Array.from({ length: 256 }, (_, rank) => Array.from({ length: 100 }, () => 1e6 * random() + (rank === 77 ? 2e6 : 0)))} />
      <Bars title="Kernels that cost most" of="sum over all ranks, share of GPU time" unit="ns" bars={KERNELS.map((name, i) => ({ name, value: 2.2e9 / (1 + i * i), share: 0.85 / (1 + i * i), color: classColor(i ? "compute" : "communication") }))} />
      <MinMaxBars title="Mean duration of a kernel" of="least to most over ranks" unit="ns" bars={KERNELS.map((name, i) => ({ name, value: 1e6 * (i + 1), min: 0.4e6 * (i + 1), max: 1.8e6 * (i + 1) }))} />
      <Lines title="Memory over time" of="allocated and reserved, GPU 0" xUnit="ns" yUnit="bytes" series={[
        { name: "allocated", color: classColor("compute"), points: points(3 * 2 ** 30), stepped: true, fill: true }, { name: "reserved", color: classColor("host"), points: points(4 * 2 ** 30), stepped: true }]} />
      <Lines title="Bandwidth over time" xUnit="ns" yUnit="GB/s" series={[{ name: "Memcpy HtoD", color: classColor("memory"), points: points(24) }]} />
      <Shares title="What GPU time goes to" of="all ranks" unit="ns" parts={CLASSES.map((cls, i) => ({ name: cls, value: 4e8 / (i + 1), color: classColor(cls) }))} />
      <div style={{ gridColumn: "1 / -1" }}><Flame title="Where the time goes, by call stack" of="host time" unit="ns" root={flame(7, 1e9, "all")} /></div>
      <div style={{ gridColumn: "1 / -1", minWidth: 0 }}><DataTable table={tableOf(12)} onEvent={() => undefined} /></div>
      <div style={{ gridColumn: "1 / -1", minWidth: 0 }} id="many"><DataTable table={tableOf(100000)} search height={300} onEvent={() => undefined} /></div>
    </main>
  );
}

const root = document.getElementById("app");
if (root) render(<Gallery />, root);
