// SPDX-License-Identifier: Apache-2.0
// Kinds of GPU work: their shares, the kernels that cost most of each kind on each rank, and how even one kernel is
// over ranks.
import { human, shortName } from "../ui/format";
import { classColor } from "../ui/colors";
import { Bars } from "../ui/charts";
import { MinMaxBars } from "../ui/charts";
import { Shares } from "../ui/charts";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, UrlSwitch, VerbTable } from "../app/parts";
import { go, linkTo, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { kernelColor, typeClass } from "./names";
import { deviceWord, rankList } from "./ranks";

function TypeShares() {
  const { route } = useApp();
  return (
    <section class="block chart">
      <Ask verb="kernel-types">
        {(rows) => (
          <Shares
            title="Kinds of work"
            of="share of the time in which the devices are busy; click to see its kernels"
            unit="ns"
            parts={rows.all.map((row) => ({
              name: rows.text(row, "kernel_type"),
              value: rows.number(row, "sum_ns") ?? 0,
              color: classColor(typeClass(rows.text(row, "kernel_type"))),
            }))}
            onClick={(i) => {
              const type = rows.text(rows.all[i] ?? [], "kernel_type");
              if (type && !type.includes("overlapping")) go(linkWith(route, { type }));
            }}
          />
        )}
      </Ask>
    </section>
  );
}

function rankNumbers(rows: Rows): number[] {
  return rows
    .distinct("rank")
    .map(Number)
    .sort((a, b) => a - b);
}

function TopOfType(props: { rows: Rows; type: string; rank: string }) {
  const { route } = useApp();
  const { rows, type } = props;
  const mine = rows.all.filter(
    (row) => rows.text(row, "kernel_type") === type && rows.text(row, "rank") === props.rank,
  );
  return (
    <section class="block chart">
      <Bars
        title={`Most costly ${type} kernels of rank ${props.rank}`}
        of="share of its summed device time; click to compare ranks"
        unit="ns"
        bars={mine.map((row) => ({
          name: rows.text(row, "name"),
          value: rows.number(row, "sum_ns") ?? 0,
          share: rows.number(row, "share"),
          color: kernelColor(rows.text(row, "name"), type),
        }))}
        onClick={(i) => {
          const row = mine[i];
          if (row) go(linkWith(route, { kernel: rows.text(row, "name") }));
        }}
      />
    </section>
  );
}

function OverRanks(props: { rows: Rows; type: string; name: string }) {
  const { route } = useApp();
  const { rows } = props;
  const mine = rows.all
    .filter((row) => rows.text(row, "name") === props.name && rows.text(row, "kernel_type") === props.type)
    .sort((a, b) => (rows.number(a, "rank") ?? 0) - (rows.number(b, "rank") ?? 0));
  if (mine.length === 0) return null;
  return (
    <section class="block chart">
      <MinMaxBars
        title={`Duration of ${shortName(props.name, 44)} on each rank`}
        of="mean, shortest and longest call"
        unit="ns"
        actions={<a href={linkTo(route, "kernels", { name: props.name })}>Kernel →</a>}
        bars={mine.map((row: Row) => ({
          name: `rank ${rows.text(row, "rank")}`,
          min: rows.number(row, "min_ns") ?? 0,
          value: rows.number(row, "mean_ns") ?? 0,
          max: rows.number(row, "max_ns") ?? 0,
          color: classColor(typeClass(props.type)),
        }))}
        onClick={(i) => {
          const row = mine[i];
          if (row) go(linkWith(route, { rank: rows.text(row, "rank") }));
        }}
      />
    </section>
  );
}

const SPREAD = [
  { value: "rank", label: "each rank" },
  { value: "all", label: "all ranks with their spread" },
];

const plain = (values: readonly string[]) => values.map((value) => ({ value, label: value }));

// One kind on one rank, and one of its kernels over all ranks.
function OneKind(props: { rows: Rows }) {
  const { route, run } = useApp();
  const { rows } = props;
  const types = rows.distinct("kernel_type").map(String);
  const type = types.find((one) => one === route.query.type) ?? types[0] ?? "";
  const ranks = rankNumbers(rows).map(String);
  const wanted = route.query.of ?? String(rankList(run)[0] ?? 0);
  const rank = ranks.includes(wanted) ? wanted : (ranks[0] ?? "0");
  const first = rows.all.find((row) => rows.text(row, "kernel_type") === type) ?? [];
  return (
    <>
      <div class="row tools">
        <UrlSwitch name="type" label="kind:" options={plain(types)} />
        {ranks.length > 1 && ranks.length <= 32 ? <UrlSwitch name="of" label="rank:" options={plain(ranks)} /> : null}
      </div>
      <div class="pair">
        <TopOfType rows={rows} type={type} rank={rank} />
        <OverRanks rows={rows} type={type} name={route.query.kernel ?? rows.text(first, "name")} />
      </div>
    </>
  );
}

// Where none takes most.
function largestWords(rows: Rows, device: string): string | null {
  const sums = rows.sumBy("name", "sum_ns"), all = sums.reduce((sum, [, ns]) => sum + ns, 0), [name, ns] = sums.reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
  return all > 0 ? `No single hotspot; largest: ${shortName(name, 60)}, ${human(ns / all, { type: "ratio", unit: null })} of summed ${device} time` : null;
}

export function KernelTypes() {
  const { route, run } = useApp();
  const by = route.query.by ?? "rank";
  const open = (rows: Rows, row: Row) =>
    go(linkWith(route, { kernel: rows.text(row, "name"), type: rows.text(row, "kernel_type") }));
  return (
    <>
      <Head verb="kernel-breakdown" say={(rows) => largestWords(rows, deviceWord(run))}
        title="Kernel types"
        lead="What kinds of work fill the device's busy time, which kernels cost most of each, and whether it is even over ranks."
      />
      <TypeShares />
      <Ask verb="kernel-breakdown">{(rows) => <OneKind rows={rows} />}</Ask>
      <VerbTable
        url
        verb="kernel-breakdown"
        query={{ by }}
        onRow={open}
        tools={<UrlSwitch name="by" label="rows:" options={SPREAD} />}
      />
    </>
  );
}
