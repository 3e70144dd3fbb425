// SPDX-License-Identifier: Apache-2.0
// Which operators take the time: bars of one measure, the table by name, shapes or call stack, and what is behind
// one operator: shapes, call stacks, kernels, calls.
import { useState } from "preact/hooks";
import { classColor, classOf } from "../ui/colors";
import { analysisOf, useApp } from "../app/context";
import { isNamed } from "../app/links";
import { framesOf } from "../app/frames";
import { Head } from "../app/Head";
import { Ask, BothTable, choicesOf, options, UrlSwitch, useParam, VerbTable } from "../app/parts";
import type { Option } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { useWords } from "../app/words";
import { Details } from "./Details";
import { TopBars } from "./TopBars";
import { Frames, YourCode } from "./YourCode";

const TOPS = options("10", "20", "50");

const MEASURES: readonly (Option & { share?: string })[] = [
  { value: "device_self_ns", label: "device self", share: "device_share", title: "GPU activity that it launched itself" },
  { value: "device_total_ns", label: "device total", title: "GPU activity launched from inside it" },
  {
    value: "host_self_ns",
    label: "host self",
    share: "host_share",
    title: "its time without operators and runtime calls inside",
  },
  { value: "host_total_ns", label: "host total", title: "its time" },
];

function Charts() {
  const { route } = useApp(), words = useWords();
  return (
    <Ask verb="operators">
      {(rows) => {
        const there = MEASURES.filter((measure) => rows.any(measure.value));
        const measure = there.find((one) => one.value === route.query.measure) ?? there[0];
        if (!measure) return null;
        const n = Number(route.query.n ?? 10);
        return (
          <section class="block chart">
            <TopBars
              rows={rows}
              verb="operators"
              title={`Operators by ${measure.label} time`}
              of={`${words(measure.title ?? "")}; largest ${Math.min(n, rows.all.length)} of ${rows.all.length}`}
              actions={
                <span class="block-tools">
                  <UrlSwitch name="measure" label="time:" options={there.map((one) => ({ ...one, title: words(one.title ?? "") }))} />
                  <UrlSwitch name="n" label="top:" options={TOPS} />
                </span>
              }
              name={(row) => rows.text(row, "name")}
              column={measure.value}
              share={measure.share}
              n={n}
              color={(row) => classColor(measure.value.startsWith("host") ? "host" : classOf(rows.text(row, "name")) === "communication" ? "communication" : "compute")}
              onClick={(row) => go(linkWith(route, { name: rows.text(row, "name") }))}
            />
          </section>
        );
      }}
    </Ask>
  );
}

function Stacks(props: { where: string }) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <>
      <VerbTable
        verb="operators"
        title="By call stack: click on a row to see its frames"
        query={{ by: "stack", where: `${props.where} and call_stack is not null` }}
        hide={["name", "tc_eligible", "tc_self_pct", "tc_total_pct"]}
        height={180}
        onRow={(rows, row) => setOpen(rows.text(row, "call_stack"))}
      />
      {open ? <Frames frames={framesOf(open)} /> : null}
    </>
  );
}

function Behind(props: { name: string }) {
  const app = useApp();
  const where = isNamed("name", props.name);
  const hasStacks = analysisOf(app, "operators")?.schemas.some((schema) => schema.name === "stack");
  return (
    <Details name={props.name} close="name">
      <YourCode name={props.name} column="origin_op" label="Your code, longest call:" />
      <VerbTable verb="operators" title="By input shapes" query={{ by: "shape", where }} hide={["name"]} height={180} />
      {hasStacks ? <Stacks where={where} /> : null}
      <VerbTable
        verb="kernels"
        title="Kernels it launches"
        query={{ by: "properties", where: isNamed("operator", props.name) }}
        hide={["operator"]}
        height={180}
      />
      <VerbTable
        verb="events"
        title="Longest calls"
        query={{ where, columns: "id,dur_ns,time_ns,step,tid", sort: "-dur_ns", top: 100 }}
        height={220}
      />
    </Details>
  );
}

export function Operators() {
  const { route, run } = useApp();
  const by = route.query.by ?? "name", deviceless = run.workers.every((worker) => !worker.device);
  const choices = choicesOf(useParam("operators", "by"));
  const open = (rows: Rows, row: Row) => go(linkWith(route, { name: rows.text(row, "name") }));
  const chosenName = route.query.name;
  return (
    <>
      <Head verb="operators" query={{ by }}
        title="Operators"
        lead="Which operators take the time, on the host and on the device. Click on one to see its shapes, call stacks, kernels and calls."
      />
      <div class={chosenName ? "with-details" : ""}>
        <div class="content">
          <Charts />
          <BothTable
            view="operators"
            url
            verb="operators"
            query={{ by }}
            code={by === "name" ? "op" : undefined}
            onRow={open}
            compared={{ verb: "operators", query: { by: "name" }, key: "name", measure: deviceless ? "host_self_ns" : "device_self_ns" }}
            tools={<UrlSwitch name="by" label="group by:" options={choices} />}
          />
        </div>
        {chosenName ? <Behind name={chosenName} /> : null}
      </div>
    </>
  );
}
