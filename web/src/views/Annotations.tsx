// SPDX-License-Identifier: Apache-2.0
// User annotations: GPU time by the stack of annotations around its launch, as a flame graph and as tables.
import { useMemo } from "preact/hooks";
import { Flame } from "../ui/charts";
import { human, shortName } from "../ui/format";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, ParamSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Rows } from "../app/rows";
import { kernelClass } from "./names";
import { deviceWord, rankList } from "./ranks";
import { treeOf } from "./tree";

const NONE = "(no annotation)";

function stackRows(rows: Rows, several: boolean) {
  return rows.all.map((row) => {
    const stack = rows.text(row, "annotation_stack") || NONE;
    const path = stack.split(" / ");
    return {
      path: several ? [`rank ${rows.text(row, "rank")}`, ...path] : path,
      self: rows.number(row, "dur_ns") ?? 0,
    };
  });
}

// Of which annotation most is, over all ranks.
function mostWords(rows: Rows, device: string): string | null {
  const sums = rows.sumBy("annotation", "dur_ns"), all = sums.reduce((sum, [, ns]) => sum + ns, 0), [name, ns] = sums.reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
  if (all <= 0) return null;
  const share = human(ns / all, { type: "ratio", unit: null });
  return name ? `${shortName(name, 60)} has ${share} of summed ${device} time` : `${share} of summed ${device} time is outside of annotations`;
}

function Stacks(props: { rows: Rows; several: boolean }) {
  const { route, run } = useApp();
  const root = useMemo(() => treeOf(stackRows(props.rows, props.several), "all", kernelClass), [props.rows]);
  return (
    <Flame
      title="Device time under each stack of annotations"
      of={`sum of durations of ${deviceWord(run)} activity; click to look inside`}
      root={root}
      unit="ns"
      onSelect={(path) => go(linkWith(route, { under: path.length > 1 ? path.at(-1)?.name : null }))}
    />
  );
}

export function Annotations() {
  const { route, run } = useApp();
  const source = route.query.source ?? "host";
  const under = route.query.under;
  const several = rankList(run).length > 1;
  const group = route.query["group-by"] ?? "annotation";
  return (
    <>
      <Head verb="kernel-annotations" query={{ "group-by": "annotation", source }} say={(rows) => mostWords(rows, deviceWord(run))}
        title="Annotations"
        lead="Device time inside user annotations: by the annotations around its launch, or by those drawn on the device."
      >
        <ParamSwitch verb="kernel-annotations" name="source" label="annotations of:" />
      </Head>
      <section class="block chart">
        <Ask
          verb="kernel-annotations"
          query={{ "group-by": "stack", source }}
          empty={
            <p>
              No {deviceWord(run)} activity inside annotations. <code>torch.profiler.record_function("name")</code> makes one.
            </p>
          }
        >
          {(rows) => <Stacks rows={rows} several={several} />}
        </Ask>
      </section>
      {under ? (
        <p class="filter-note">
          Only inside <span class="mono">{under}</span>{" "}
          <button type="button" class="pill" onClick={() => go(linkWith(route, { under: null }))}>
            show all
          </button>
        </p>
      ) : null}
      <VerbTable
        url
        verb="kernel-annotations"
        title={`${deviceWord(run)} activity inside annotations`}
        query={{ "group-by": group, source }}
        keep={
          under
            ? (rows, row) =>
                `${rows.text(row, "annotation_stack")} ${rows.text(row, "annotation")} rank ${rows.text(row, "rank")}`.includes(
                  under,
                )
            : undefined
        }
        tools={<ParamSwitch verb="kernel-annotations" name="group-by" label="group by:" />}
      />
      <VerbTable
        verb="annotation-breakdown"
        query={{ source: source === "gpu" ? "gpu" : "cpu" }}
        title="Duration of the annotations themselves"
      />
    </>
  );
}
