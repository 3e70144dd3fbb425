// SPDX-License-Identifier: Apache-2.0
// How fast a serving engine answers: its iterations by phase, over time, and one by one. Of a run that serves nobody the view has no tab.
import { useMemo } from "preact/hooks";
import { classColor } from "../ui/colors";
import { Blocks, full } from "../ui/charts";
import type { Run } from "../model";
import type { App } from "../app/context";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { useTable } from "../app/hooks";
import { Ask, Switch, VerbTable } from "../app/parts";
import { eventLink, go, linkWith } from "../app/route";
import type { Rows } from "../app/rows";
import { useWords } from "../app/words";
import { rankList } from "./ranks";

// Whether a run has iterations, by its first rank: those of a job do the same.
export function useServes(run: Run | undefined, span: string | undefined): boolean {
  const rank = run ? rankList(run)[0] : undefined;
  const verb = rank === undefined ? null : "iterations";
  const asked = useTable(run ?? { id: "", generation: 0 }, verb, { rank: String(rank), span, top: 1 });
  return verb !== null && (asked.table?.rows.length ?? 0) > 0;
}

export function servingIsThere(app: App): boolean {
  return app.serves || app.route.view === "iterations";
}

const DRAWN = 100000;
// Decode is what an engine does most of the time; prompts stand out.
const PHASES: Record<string, string> = {
  decode: classColor("compute"),
  prefill: classColor("communication"),
  mixed: classColor("sync"),
  other: classColor("host"),
};
const colorOf = (phase: string): string => PHASES[phase] ?? classColor("host");

function blocksOf(rows: Rows, words: (text: string) => string) {
  return rows.all
    .map((row) => ({
      event: rows.text(row, "event"),
      start: rows.number(row, "start_ns") ?? 0,
      size: rows.number(row, "wall_ns") ?? 0,
      value: rows.number(row, "wall_ns") ?? 0,
      color: colorOf(rows.text(row, "phase")),
      name: `${rows.text(row, "phase")}: ${rows.text(row, "name")}`,
      detail: [
        { name: words("GPU time"), value: full(rows.number(row, "gpu_ns"), "ns") },
        { name: words("GPU idle before it"), value: full(rows.number(row, "gap_ns"), "ns") },
        { name: "requests", value: rows.text(row, "requests") || "n/a" },
        { name: "tokens", value: rows.text(row, "tokens") || "n/a" },
      ],
    }))
    .sort((a, b) => a.start - b.start);
}

function Drawn(props: { rows: Rows; rank: string }) {
  const { route } = useApp(), words = useWords();
  const { rows, rank } = props;
  const blocks = useMemo(() => blocksOf(rows, words), [rows]);
  const phases = rows.distinct("phase").map(String);
  return (
    <Blocks
      title="Wall time of iterations"
      of={`as wide as they last, rank ${rank}${rows.table.hidden > 0 ? `, the first ${DRAWN}` : ""}; click to open one in the timeline`}
      blocks={blocks}
      unit="ns"
      valueUnit="ns"
      valueName="wall time"
      legend={Object.keys(PHASES)
        .filter((phase) => phases.includes(phase))
        .map((phase) => ({ name: phase, color: colorOf(phase) }))}
      onPick={(i) => {
        const block = blocks[i];
        if (block) go(eventLink(route, block.event));
      }}
    />
  );
}

// The list of one rank: those of a job do the same.
function OverTime(props: { ranks: string[] }) {
  const { route } = useApp();
  const { ranks } = props;
  const rank = ranks.find((one) => one === route.query.of) ?? ranks[0] ?? "0";
  return (
    <section class="block chart" data-chart="iterations">
      {ranks.length > 1 && ranks.length <= 32 ? (
        <div class="block-tools">
          <Switch
            label="rank:"
            value={rank}
            options={ranks.map((one) => ({ value: one, label: one }))}
            onChange={(value) => go(linkWith(route, { of: value }))}
          />
        </div>
      ) : null}
      <Ask verb="iterations" query={{ view: "list", rank, sort: "start_ns", top: DRAWN }} brief>
        {(rows) => <Drawn rows={rows} rank={rank} />}
      </Ask>
    </section>
  );
}

export function Iterations() {
  return (
    <>
      <Head verb="iterations"
        title="Serving iterations"
        lead="How fast prefill and decode are, and whether the GPU waits between iterations: wall time from start to start, GPU time by launch."
      />
      <Ask verb="iterations" brief empty={<></>}>
        {(rows) => <OverTime ranks={rows.distinct("rank").map(String)} />}
      </Ask>
      <VerbTable url verb="iterations" />
      <VerbTable verb="iterations" query={{ view: "list" }} title="One by one" />
    </>
  );
}
