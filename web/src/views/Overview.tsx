// SPDX-License-Identifier: Apache-2.0
// What the step time is, what it is made of, which rank is off, what to look at first. Every sentence and number is
// the engine's: summary, advice, steps, distributed, collectives, kernels, operators.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { shortNames } from "../ui/brief";
import { human } from "../ui/format";
import { classColor } from "../ui/colors";
import { useWidth } from "../ui/hooks";
import { HeatMap, ZoomMap } from "../ui/charts";
import { chosen, useApp } from "../app/context";
import { capital, FIGURES, figureName, findingsOf, headline, meanStep, ofKind, timeOf } from "../app/findings";
import type { Finding } from "../app/findings";
import { NextLink } from "../app/Head";
import { usePartial } from "../app/Health";
import { useTable } from "../app/hooks";
import { nextLink, verbLink } from "../app/links";
import { Ask, Switch, UrlSwitch, VerbTable } from "../app/parts";
import { filesOf, Provisional } from "../app/progress";
import { formatRanges } from "../app/ranges";
import { eventLink, go, linkTo, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { kernelClass } from "./names";
import { HEAT_METRICS, heatGrid, heatTitle, zoomGrid } from "./heat";
import type { HeatGrid, HeatMetric } from "./heat";
import { DISTRIBUTED_PARTS, STEP_PARTS } from "./stacks";
import { deviceWord, rankList } from "./ranks";
import { WhichRank } from "./WhichRank";
import { Against } from "./Against";
import { byName, change, meanByRank, useBaseRows } from "./both";
import { BothBars } from "./BothBars";
import { ShareBar } from "./ShareBar";

const MANY_RANKS = 64;

function Evidence(props: { finding: Finding }) {
  const { route } = useApp();
  const { next, line, events } = props.finding;
  return (
    <span class="evidence">
      <NextLink next={next} title={line} />
      {events.slice(0, 3).map((id) => (
        <a key={id} class="event-link" href={eventLink(route, id)} title={`${eventTitle(id)} in the timeline`}>
          {id}
        </a>
      ))}
    </span>
  );
}

function eventTitle(id: string): string {
  const [rank, event] = id.split(":");
  return `rank ${rank}, event ${event}`;
}

function Figure(props: { label: string; value: string; title?: string; href?: string; note?: string }) {
  return (
    <div class="figure" title={props.title}>
      <span class="figure-label">{props.label}</span>
      {props.href ? (
        <a class="figure-value" href={props.href}>
          {props.value}
        </a>
      ) : (
        <span class="figure-value">{props.value}</span>
      )}
      {props.note ? <span class="figure-note">{props.note}</span> : null}
    </div>
  );
}

function Figures(props: { rows: Rows }) {
  const app = useApp(), { run } = app;
  const { rows } = props, all = findingsOf(rows), mean = meanStep(rows, all), before = useBaseRows("summary"), others = before ? findingsOf(before) : [];
  return (
    <div class="figures">
      {FIGURES.map(([kind, column, label, type]) => {
        const finding = ofKind(all, kind);
        const value = finding ? rows.number(finding.row, column) : null;
        if (!finding || finding.state !== "found" || value === null) return null;
        const other = ofKind(others, kind), was = other && before && other.state === "found" ? before.number(other.row, column) : null;
        return (
          <Figure
            key={kind + column}
            label={figureName(all, kind, label, deviceWord(run))}
            value={human(value, { type, unit: type === "ratio" ? "ratio" : "ns" })}
            title={finding.text}
            href={finding.next ? nextLink(app, finding.next) : undefined}
            note={!before ? (mean !== null && column === "upper_bound_ns" ? `of a mean step of ${human(mean, { type, unit: "ns" })}` : undefined) : was === null ? "not in the baseline" : `baseline ${human(was, { type, unit: type === "ratio" ? "ratio" : "ns" })}, ${change(rows, column, value, was)}`}
          />
        );
      })}
    </div>
  );
}

function Verdict() {
  const { run } = useApp();
  const ranks = rankList(run), notAll = usePartial().length > 0 || filesOf(run).some((file) => file.state === "failed");
  // of a run that is not whole: which ranks it is said of
  const made = notAll ? ` · of ${ranks.length === 1 ? "rank" : "ranks"} ${formatRanges(ranks)}` : "";
  const devices = [...new Set(run.workers.map((worker) => worker.device).filter(Boolean))];
  return (
    <Ask verb="summary" what="Reading the verdict …">
      {(rows) => {
        const all = findingsOf(rows);
        const { head, missing } = headline(all);
        const time = timeOf(all);
        return (
          <header class="verdict">
            <div>
              <p class="dim">
                {[
                  `${ranks.length} ${ranks.length === 1 ? "rank" : "ranks"}`,
                  ...devices,
                  rows.table.method.split(" · ")[1] ?? "",
                ].join(" · ")}
              </p>
              <Provisional />
              {missing ? <p class="banner" role="status">{capital(missing.text)}.</p> : null}
              <h1>
                {head ? head.heading : rows.table.title}
                {made}
              </h1>
              <p class="lead">
                {head?.detail ? <>{capital(head.detail)}. </> : null}
                {time && head !== time ? <>{time.heading}. </> : null}
                {head ? <Evidence finding={head} /> : null}
              </p>
              <WhichRank all={all} head={head} />
            </div>
            <Figures rows={rows} />
          </header>
        );
      }}
    </Ask>
  );
}

// What the heading, the figures and the lists below say.
const ELSEWHERE = ["missing", "step-time", "recording", "bound-by", "operators", "kernels"];

// The other conclusions, one line each.
function Conclusions() {
  const { run } = useApp();
  return (
    <section class="block">
      <div class="block-head">
        <h2>
          Key findings <span class="method">with evidence</span>
        </h2>
      </div>
      <Ask verb="summary">
        {(rows) => (
          <table class="plain findings">
            <tbody>
              {findingsOf(rows).filter((one) => !ELSEWHERE.includes(one.kind)).map((one) => (
                <tr key={one.kind}>
                  <th scope="row">{one.kind === "gpu" ? deviceWord(run) : one.label}</th>
                  <td>{one.text}</td>
                  <td>
                    <Evidence finding={one} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Ask>
    </section>
  );
}

function StepStack() {
  const { route, run, base } = useApp();
  const ranks = rankList(run);
  const several = ranks.length > 1;
  const shown = route.query.stack ?? (several ? "rank" : "step");
  const rank = route.query.rank && /^\d+$/.test(route.query.rank) ? route.query.rank : String(ranks[0] ?? 0);
  const byRank = several && shown === "rank", mean = byRank && base !== null; // two runs may have other numbers of steps
  const query = several
    ? { view: "overlap", by: byRank && !mean ? "rank" : "step", rank: byRank ? route.query.rank : rank }
    : { view: "steps" };
  const click = (rows: Rows, i: number) => {
    const row = rows.all[i];
    if (!row) return;
    const column = byRank ? "rank" : "step";
    go(linkWith(route, { [column]: rows.text(row, column), stack: byRank ? "step" : route.query.stack }));
  };
  const verb = several ? "distributed" : "steps", parts = several ? DISTRIBUTED_PARTS : STEP_PARTS;
  const name = (rows: Rows, row: Row) => (byRank ? `rank ${rows.text(row, "rank")}` : `step ${rows.text(row, "step")}`);
  return (
    <section class="block chart">
      <Ask verb={verb} query={query}>
        {(rows) => (
          <BothBars
            rows={rows}
            verb={verb}
            query={query}
            parts={parts}
            name={name}
            title="Time breakdown of the steps"
            prepare={mean ? meanByRank : undefined}
            of={mean ? "mean step of each rank" : byRank ? "sum over the steps of each rank" : several ? `each step of rank ${rank}` : "each step"}
            actions={
              several ? (
                <UrlSwitch
                  name="stack"
                  label="bars:"
                  options={[
                    { value: "rank", label: "ranks" },
                    { value: "step", label: `steps of rank ${rank}` },
                  ]}
                />
              ) : undefined
            }
            onClick={(i) => click(mean ? meanByRank(rows) : rows, i)}
          />
        )}
      </Ask>
    </section>
  );
}

// Of hundreds of ranks, with the way to nodes and groups.
function ManyRanks(props: { grid: HeatGrid; metric: HeatMetric; onOpen: (row: number, column: number) => void }) {
  const { route } = useApp(), grid = useMemo(() => zoomGrid(props.grid), [props.grid]);
  return (
    <ZoomMap title={heatTitle(props.metric)} of={`${props.metric.says}; drag to zoom`} unit="ns" grid={grid} height={300} unsure={props.metric.faint ? "within the clock uncertainty" : undefined}
      actions={<a class="next" href={linkTo(route, "ranks")}>By node and group →</a>} onOpen={props.onOpen} />
  );
}

function MetricMap(props: { metric: HeatMetric }) {
  const { route, base } = useApp();
  const { metric } = props;
  // without collectives that ranks share nobody is late: the time of the steps is there always
  const instead = metric.value === "late" && (
    <>
      <p>Rank lateness is n/a: no collective is shared by these ranks.</p>
      <MetricMap metric={HEAT_METRICS[1]!} />
    </>
  );
  const query = metric.view ? { view: metric.view, ...metric.query } : metric.query, before = useBaseRows(metric.verb, query);
  const was = before ? heatGrid(before, metric) : null, most = (values: readonly (readonly (number | null)[])[]) => Math.max(0, ...values.map((line) => Math.max(0, ...line.map((value) => value ?? 0))));
  return (
    <Ask verb={metric.verb} query={query} brief empty={instead || undefined}>
      {(rows) => {
        const grid = heatGrid(rows, metric);
        const open = (r: number, c: number) => go(linkTo(route, "timeline", { rank: String(grid?.ranks[r]), step: String(grid?.steps[c]) }));
        if (grid && grid.ranks.length > MANY_RANKS)
          return <ManyRanks grid={grid} metric={metric} onOpen={open} />;
        if (!grid) return instead || <p class="dim">{`${capital(metric.label)}: nothing is known of any step.`}</p>;
        return (
          <>
          <HeatMap
            title={heatTitle(metric)}
            most={was ? most(was.values) : undefined}
            of={metric.says}
            unit="ns"
            values={grid.values}
            faint={grid.faint}
            rows={grid.ranks.map((rank) => `rank ${rank}`)}
            columns={grid.steps.map((step) => `step ${step}`)}
            onClick={open}
          />
          {was && base ? (
            <HeatMap title={`The same of ${base.name}`} of="baseline, same scale" unit="ns" most={most(grid.values)} values={was.values} faint={was.faint}
              rows={was.ranks.map((rank) => `rank ${rank}`)} columns={was.steps.map((step) => `step ${step}`)} />
          ) : null}
          </>
        );
      }}
    </Ask>
  );
}

function LateMap() {
  const { route, run } = useApp();
  if (rankList(run).length < 2) return null;
  const metric = HEAT_METRICS.find((one) => one.value === route.query.heat) ?? HEAT_METRICS[0]!;
  return (
    <section class="block chart">
      <MetricMap metric={metric} />
      <Switch
        label="metric:"
        value={metric.value}
        options={HEAT_METRICS}
        onChange={(value) => go(linkWith(route, { heat: value === HEAT_METRICS[0]!.value ? null : value }))}
      />
    </section>
  );
}

// It is as dear as the verdict, which goes first.
function LookFirst() {
  const app = useApp(), verdict = useTable(app.run, "summary", chosen(app, "summary"));
  if (!verdict.table && !verdict.problem) return null;
  return (
    <section class="block">
      <div class="block-head">
        <h2>
          Advice <span class="method">upper bounds on savings per step, largest first, symptoms last; they overlap</span>
        </h2>
      </div>
      <Ask verb="advice" brief empty={<p>No check found anything.</p>}>
        {(rows) => (
          <table class="plain advice">
            <thead>
              <tr>
                <th>finding</th>
                <th class="num">upper bound</th>
                <th>of step time</th>
                <th>evidence</th>
              </tr>
            </thead>
            <tbody>
              {findingsOf(rows).map((one) => (
                <tr key={one.label}>
                  <td>
                    <strong>{one.heading}</strong>
                    <div class="dim">{capital(one.advice)}</div>
                  </td>
                  <td class="num">
                    <strong>{human(rows.cell(one.row, "upper_bound_ns"), { type: "duration", unit: "ns" })}</strong>
                  </td>
                  <td>
                    <ShareBar share={rows.number(one.row, "upper_bound_share")} />
                  </td>
                  <td>
                    <Evidence finding={one} />
                  </td>
                </tr>
              ))}
            </tbody>
            {rows.table.notes.length > 0 ? <caption class="notes">{rows.table.notes.join(" ")}</caption> : null}
          </table>
        )}
      </Ask>
    </section>
  );
}

type Measure = readonly [column: string, label: string, share: string];

// As many characters as the numbers beside them leave room for.
const COUNT_AND_SHARE_PX = 216, NUMBER_PX = 88, CHANGE_PX = 96;
const CODE_PX = 7.4;
const nameRoom = (width: number) => Math.max(16, Math.min(90, Math.floor(width / CODE_PX)));

interface TopProps {
  verb: string;
  title: string;
  columns: readonly Measure[];
}

const COUNT = { type: "int64", unit: null } as const;

function TopTable(props: TopProps & { rows: Rows }) {
  const { route } = useApp();
  const { rows } = props, before = useBaseRows(props.verb), of = byName(before);
  // What is zero everywhere says nothing; the share is that of the first measure that is there.
  const columns = props.columns.filter(([name]) => rows.any(name));
  const share = columns.find(([, , of]) => rows.any(of))?.[2];
  const numbers: (readonly [string, string])[] = [
    ["calls", "calls"],
    ...columns.map(([name, label]) => [name, label] as const),
  ];
  const [box, width] = useWidth<HTMLDivElement>(520);
  const changeOf = (name: string, row: Row) => {
    const main = columns[0]?.[0] ?? "", was = of.get(name);
    return change(rows, main, rows.number(row, main), was && before ? before.number(was, main) : null);
  };
  const names = shortNames(rows.all.map(row => rows.text(row, "name")), nameRoom(width - COUNT_AND_SHARE_PX - NUMBER_PX * columns.length - (before ? CHANGE_PX : 0)));
  return (
    <div ref={box}>
      <table class="plain largest">
        <thead>
          <tr>
            <th>name</th>
            {numbers.map(([name, label]) => (
              <th key={name} class="num" title={rows.column(name)?.sentence}>
                {label}
              </th>
            ))}
            {before ? <th class="num" title="in the baseline, and this run minus that; the noise of it is in what changed">change</th> : null}
            {share ? <th title={rows.column(share)?.sentence}>share</th> : null}
          </tr>
        </thead>
        <tbody>
          {rows.all.map((row) => {
            const name = rows.text(row, "name");
            return (
              <tr key={name}>
                <td class="mono" title={name}>
                  <a class="quiet" href={linkTo(route, props.verb, { name })}>
                    {names.get(name)}
                  </a>
                </td>
                {numbers.map(([column]) => (
                  <td key={column} class="num">
                    {human(rows.cell(row, column), rows.column(column) ?? COUNT)}
                  </td>
                ))}
                {before ? <td class="num">{changeOf(name, row)}</td> : null}
                {share ? (
                  <td>
                    <ShareBar
                      share={rows.number(row, share)}
                      color={classColor(share.startsWith("host") ? "host" : kernelClass(name))}
                      width={36}
                    />
                  </td>
                ) : null}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Top(props: TopProps) {
  const app = useApp();
  return (
    <section class="block">
      <div class="block-head">
        <h2>
          {props.title} <a href={verbLink(app, props.verb)}>all →</a>
        </h2>
      </div>
      <Ask verb={props.verb} query={{ top: 6 }} brief>
        {(rows) => <TopTable {...props} rows={rows} />}
      </Ask>
    </section>
  );
}

function Pair(props: { children: ComponentChildren }) {
  return <div class="pair">{props.children}</div>;
}

function GpuSummary() {
  const { run } = useApp();
  if (run.workers.every((worker) => worker.vendor === "cpu")) return null;
  return <VerbTable verb="steps" query={{ view: "gpu" }} title="How well devices were used" />;
}

export function Overview() {
  return (
    <>
      <Verdict />
      <Against />
      <Pair>
        <StepStack />
        <LateMap />
      </Pair>
      <LookFirst />
      <Pair>
        <Top verb="kernels" title="Kernels that cost most" columns={[["total_ns", "time", "share"]]} />
        <Top
          verb="operators"
          title="Operators that cost most"
          columns={[
            ["device_self_ns", "device self", "device_share"],
            ["host_self_ns", "host self", "host_share"],
          ]}
        />
      </Pair>
      <Conclusions />
      <GpuSummary />
    </>
  );
}
