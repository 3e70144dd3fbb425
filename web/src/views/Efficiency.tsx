// SPDX-License-Identifier: Apache-2.0
// How close operators come to what the device can do: a roofline, and what each could save.
import { classColor, nameHue } from "../ui/colors";
import { Roofline, type Mark, type Roof } from "../ui/charts";
import { full, shown } from "../ui/charts/frame";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, UrlSwitch, VerbTable } from "../app/parts";
import { eventLink, go, linkTo } from "../app/route";
import type { Row, Rows } from "../app/rows";
import type { Class } from "../ui/colors";
import { deviceWord } from "./ranks";

const BY = ["op", "shape", "module", "kernel", "dtype", "step", "rank"].map((value) => ({ value, label: value }));

const BOUND_CLASS: Record<string, Class> = { compute: "compute", memory: "memory", latency: "host", link: "sync" };

// Rows that have operations, bytes and time; others are in the table only.
function marksOf(rows: Rows, device: string): { mark: Mark; row: Row }[] {
  return rows.all.flatMap((row) => {
    const flops = (rows.number(row, "flops") ?? 0) + (rows.number(row, "vector_flops") ?? 0);
    const bytes = rows.number(row, "bytes") ?? 0;
    const time = rows.number(row, "modelled_ns") ?? 0;
    if (!(flops > 0 && bytes > 0 && time > 0)) return [];
    const bound = rows.text(row, "bound");
    const key = rows.text(row, "key");
    const mark: Mark = {
      name: key || "none",
      intensity: flops / bytes,
      rate: (flops / time) * 1e9,
      time,
      color: bound ? nameHue(key, BOUND_CLASS[bound] ?? "host") : classColor("idle"),
      detail: [
        { name: `${device} time`, value: full(rows.number(row, "gpu_ns"), "ns") },
        { name: "efficiency, of the dense peak", value: shown(rows.number(row, "efficiency"), "ratio") },
        { name: "bound by", value: bound || "unknown" },
        { name: "type", value: rows.text(row, "dtype") || "unknown" },
        { name: "best efficiency in this run", value: shown(rows.number(row, "ceiling"), "ratio") },
        { name: "upper bound on savings", value: full(rows.number(row, "could_save_ns"), "ns") },
        { name: `${device} time above attainable`, value: full(rows.number(row, "excess_ns"), "ns") },
        ...(rows.text(row, "remark") ? [{ name: "remark", value: rows.text(row, "remark") }] : []),
      ],
    };
    return [{ mark, row }];
  });
}

// The roofs of the types that are used, of the first device.
function roofsOf(roofs: Rows, used: Set<string>): Roof[] {
  const device = roofs.text(roofs.all[0] ?? [], "device");
  return roofs.all
    .filter((row, i) => roofs.text(row, "device") === device && used.has(roofs.text(row, "dtype"))
      && roofs.all.findIndex((one) => roofs.text(one, "device") === device && roofs.text(one, "dtype") === roofs.text(row, "dtype")) === i) // ranks have the same
    .map((row) => ({
      name: roofs.text(row, "dtype"),
      rate: roofs.number(row, "peak_flops_per_s") ?? 0,
      bytes: roofs.number(row, "memory_bytes_per_s") ?? 0,
      achieved: roofs.number(row, "achieved_flops_per_s") ?? 0,
    }))
    .filter((roof) => roof.rate > 0 && roof.bytes > 0);
}

function Chart(props: { rows: Rows; roofs: Rows; by: string }) {
  const { route, run } = useApp();
  const word = deviceWord(run);
  const marks = marksOf(props.rows, word);
  const used = new Set(props.rows.distinct("dtype").map(String));
  const first = props.roofs.all[0] ?? [];
  const device = props.roofs.text(first, "name") || "unknown device";
  // operators and kernels have views of their own; of anything else the longest event is shown
  const open = (i: number) => {
    const row = marks[i]?.row;
    if (!row) return;
    const event = props.rows.text(row, "event");
    if (props.by === "op") go(linkTo(route, "operators", { name: props.rows.text(row, "key") }));
    else if (props.by === "kernel") go(linkTo(route, "kernels", { name: props.rows.text(row, "key") }));
    else if (props.by === "module") go(linkTo(route, "modules", { name: props.rows.text(row, "key") }));
    else if (event) go(eventLink(route, event));
  };
  return (
    <section class="block chart">
      <Roofline
        title={`Roofline of ${device}`}
        of={`operations per second over operations per byte; area is ${word} time`}
        note={`Dense peaks: ${props.roofs.text(first, "source") || "not known; --device-spec gives them"}.`}
        legend={Object.entries(BOUND_CLASS).map(([name, cls]) => ({ name: `bound by ${name}`, color: classColor(cls) }))}
        marks={marks.map((one) => one.mark)}
        roofs={roofsOf(props.roofs, used)}
        onClick={open}
      />
    </section>
  );
}

export function Efficiency() {
  const { route } = useApp();
  const by = route.query.by ?? "op";
  return (
    <>
      <Head verb="efficiency"
        title="Efficiency"
        lead="How close operators come to what the device can do, and how much GPU time well-tuned kernels would save."
      />
      <Ask verb="efficiency" query={{ by }}>
        {(rows) => (
          <Ask verb="efficiency" query={{ view: "roofs" }}>
            {(roofs) => <Chart rows={rows} roofs={roofs} by={by} />}
          </Ask>
        )}
      </Ask>
      <VerbTable url verb="efficiency" query={{ by }} tools={<UrlSwitch name="by" label="rows:" options={BY} />} />
      <VerbTable verb="efficiency" query={{ view: "totals" }} />
      <VerbTable verb="efficiency" query={{ view: "unmodelled" }} />
    </>
  );
}
