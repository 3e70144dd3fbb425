// SPDX-License-Identifier: Apache-2.0
// How computing and communicating share each rank's steps, what communication waits for, and the devices.
import { classColor } from "../ui/colors";
import { human } from "../ui/format";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, ParamSwitch, UrlSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { meanByRank } from "./both";
import { BothBars } from "./BothBars";
import { DISTRIBUTED_PARTS } from "./stacks";
import type { Part } from "./stacks";

const BY = [
  { value: "rank", label: "ranks" },
  { value: "step", label: "ranks and steps" },
];

export const place = (rows: Rows, row: Row) => {
  const step = rows.cell(row, "step");
  return `rank ${rows.text(row, "rank")}${step === null ? "" : `, step ${step}`}`;
};

// "Communication is exposed for 42 % to 93 % of a rank's steps, most of it waiting for another rank".
function exposedWords(rows: Rows): string | null {
  const shares = rows.all.flatMap((row) => rows.number(row, "exposed_share") ?? []), sum = (name: string) => rows.all.reduce((all, row) => all + (rows.number(row, name) ?? 0), 0);
  if (shares.length === 0) return null;
  if (Math.max(...shares) === 0) return "No exposed communication in the steps";
  const [least, most] = [Math.min(...shares), Math.max(...shares)].map((share) => human(share, { type: "ratio", unit: null }));
  const waits = rows.any("exposed_wait_ns") ? (sum("exposed_wait_ns") > sum("exposed_transfer_ns") ? ", most of it waiting for another rank" : ", most of it transfer") : "";
  return `Communication is exposed for ${least === most ? least : `${least} to ${most}`} of a rank's ${rows.all.some((row) => rows.cell(row, "step") !== null) ? "step" : "steps"}${waits}`;
}

const WAITING: readonly Part[] = [
  ["transfer_ns", "as long as on the fastest rank", classColor("communication")],
  ["synchronizing_ns", "longer than there", classColor("comm_pale")],
];

function Stack(props: { title: string; of: string; view: string; by: string; parts: readonly Part[] }) {
  const { route, base } = useApp();
  const mean = props.by === "rank" && base !== null, query = { view: props.view, by: mean ? "step" : props.by }; // two runs may have other numbers of steps
  const click = (rows: Rows, i: number) => {
    const row = rows.all[i];
    if (!row) return;
    go(linkWith(route, { rank: rows.text(row, "rank"), step: rows.text(row, "step") || route.query.step }));
  };
  return (
    <section class="block chart">
      <Ask verb="distributed" query={query}>
        {(rows) => (
          <BothBars
            rows={rows}
            verb="distributed"
            query={query}
            prepare={mean ? meanByRank : undefined}
            parts={props.parts}
            name={place}
            title={props.title}
            of={mean ? `mean step of each rank; ${props.of}` : props.of}
            onClick={(i) => click(mean ? meanByRank(rows) : rows, i)}
          />
        )}
      </Ask>
    </section>
  );
}

export function Distributed() {
  const { route } = useApp();
  const by = route.query.by ?? "rank";
  return (
    <>
      <Head verb="distributed"
        title="Steps of ranks"
        query={{ view: route.query.view ?? "overlap", by }}
        say={(rows) => exposedWords(rows)}
        lead="How computing and communicating share each rank's steps, and what communication waits for."
      >
        <UrlSwitch name="by" label="bars:" options={BY} />
      </Head>
      <div class="pair">
        <Stack
          title="Computing and communicating"
          of="parts of the steps"
          view="overlap"
          by={by}
          parts={DISTRIBUTED_PARTS}
        />
        <Stack
          title="Communication beyond that of the fastest rank"
          of="hidden or exposed; of calls that are paired over ranks"
          view="waiting"
          by={by}
          parts={WAITING}
        />
      </div>
      <VerbTable
        url
        verb="distributed"
        query={{ view: route.query.view ?? "overlap", by }}
        tools={<ParamSwitch verb="distributed" name="view" label="show:" />}
      />
      <VerbTable verb="steps" query={{ view: "gpu" }} title="Devices" />
    </>
  );
}
