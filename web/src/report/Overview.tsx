// SPDX-License-Identifier: Apache-2.0
// The report's first screen: the verdict in words, what a step is made of, what to look at first, with links to the
// evidence further down. Sentences and numbers are those of summary, advice and diff.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Table } from "../model";
import { capital, FIGURES, type Finding, figureName, findingsOf, headline, ofKind, timeOf } from "../app/findings";
import { Rows, type Row } from "../app/rows";
import { classColor } from "../ui/colors";
import { count, human, nsText } from "../ui/format";
import { Bars, Stretches } from "../ui/charts";
import { DataTable } from "../ui/DataTable";
import { meanStep } from "../views/both";
import { became, changeWord, metricWord, rankBars, signed } from "../views/changes";
import { DISTRIBUTED_PARTS, STEP_PARTS } from "../views/stacks";
import { bandwidthCurve, gpuTime, hasStepTimes, KernelBars, memoryCurve, metricsOf, OperatorBars, queueCurve, RankMap, StepStack, StepTimes } from "./charts";
import { extraOf, type Report, sectionOf, tableOf } from "./data";
import { StepTimeline } from "./Timeline";

// What to run next is shown by the section of its verb.
export function NextLink({ report, finding }: { report: Report; finding: Finding }) {
  const section = finding.next ? sectionOf(report, finding.next.verb) : undefined;
  if (!finding.next) return null;
  return section ? <a href={`#${finding.next.verb}`}>{section.title} →</a> : <code class="dim">holotrace {finding.line}</code>;
}

function Figure({ name, value, note, more, tone }: { name: string; value: string; note?: string; more?: string; tone?: string }) {
  return <div class="rp-figure"><span>{name}</span><b class={tone}>{value}</b>{note && <small>{note}</small>}{more && <small>{more}</small>}</div>;
}

export function Verdict({ report }: { report: Report }) {
  const table = tableOf(report, "summary");
  const Title = report.base ? "h2" : "h1"; // what changed is the first then
  if (!table) return <Title>{report.name}</Title>;
  const rows = new Rows(table), all = findingsOf(rows), { head, missing } = headline(all), time = timeOf(all);
  return (
    <div class="rp-verdict">
      <div>
        {missing && <p class="rp-banner" role="status">{capital(missing.text)}.</p>}
        <Title>{head ? head.heading : report.name}</Title>
        <p class="rp-lead">{head?.detail && `${capital(head.detail)}. `}{time && time !== head && `${time.heading}. `}{head && <NextLink report={report} finding={head} />}</p>
      </div>
      <div class="rp-figures">{FIGURES.map(([kind, column, label, type]) => {
        const one = ofKind(all, kind), value = one ? rows.number(one.row, column) : null;
        const name = figureName(all, kind, label, one?.label ?? "GPU");
        return value === null || one?.state !== "found" ? null
          : <Figure key={kind + column} name={name} value={human(value, { type, unit: type === "ratio" ? "ratio" : "ns" })} />;
      })}</div>
    </div>
  );
}

function Share({ share }: { share: number | null }) {
  if (share === null) return <>–</>;
  return <span class="rp-share"><i style={{ width: `${Math.max(1, Math.min(1, share) * 80)}px`, background: classColor("communication") }} />{human(share, { type: "ratio", unit: "ratio" })}</span>;
}

export function Advice({ report }: { report: Report }) {
  const table = tableOf(report, "advice");
  if (!table) return null;
  const rows = new Rows(table);
  return (
    <section class="rp-block" id="advice">
      <h2>Advice <span class="dim">upper bounds on savings per step, largest first, symptoms last; they overlap</span></h2>
      <ul class="rp-advice">{findingsOf(rows).map(one => (
        <li key={one.label}>
          <div><b>{one.heading}</b><p class="dim">{capital(one.advice)}</p></div>
          <b>{human(rows.cell(one.row, "upper_bound_ns"), { type: "duration", unit: "ns" })}</b>
          <Share share={rows.number(one.row, "upper_bound_share")} />
          <span><NextLink report={report} finding={one} /></span>
        </li>))}</ul>
      {table.notes.map((note, i) => <p key={i} class="dim">{note}</p>)}
    </section>
  );
}

export function Findings({ report }: { report: Report }) {
  const table = tableOf(report, "summary");
  if (!table) return null;
  const rows = new Rows(table);
  return (
    <section class="rp-block" id="summary">
      <h2>Key findings <span class="dim">with evidence: rank and event</span></h2>
      <dl class="rp-findings">{findingsOf(rows).map(one => (
        <div key={one.kind}>
          <dt>{one.label}</dt>
          <dd>{one.text}</dd>
          <dd><NextLink report={report} finding={one} /> <code class="dim">{one.events.join(", ")}</code></dd>
        </div>))}</dl>
    </section>
  );
}

function Ranks({ report }: { report: Report }) {
  const metrics = metricsOf(report), [key, setKey] = useState(metrics[0]?.value ?? "");
  const metric = metrics.find(one => one.value === key);
  if (report.ranks < 2 || !metric) return hasStepTimes(report) ? <StepTimes report={report} /> : <>{gpuTime(report)}</>;
  return <RankMap report={report} metric={metric} actions={<span class="rp-choice">{metrics.map(one =>
    <button key={one.value} aria-pressed={one.value === key} onClick={() => setKey(one.value)}>{one.label}</button>)}</span>} />;
}

export function Pair({ children }: { children: ComponentChildren }) {
  return <div class="rp-pair">{children}</div>;
}

function ChangeBars({ table, title, column, word }: { table: Table; title: string; column: string; word: (rows: Rows, row: Row) => string }) {
  const rows = new Rows(table), size = (row: Row) => Math.abs(rows.number(row, column) ?? 0);
  const most = [...rows.all].filter(row => size(row) > 0).sort((a, b) => size(b) - size(a)).slice(0, 10);
  if (most.length === 0) return null;
  return <Bars title={title} of={rows.column(column)?.sentence ?? ""} unit="ns" signed bars={most.map(row => {
    const value = rows.number(row, column) ?? 0;
    return { name: `${word(rows, row)}: ${rows.text(row, "name")}`, value, color: value > 0 ? "var(--more)" : "var(--less)" };
  })} />;
}

const direction = (column: string) => (rows: Rows, row: Row) => (rows.number(row, column) ?? 0) > 0 ? "slower" : "faster";

// The mean step of both runs on one scale, as on the page: the rank that changed, then the others.
function BothSteps({ report, rank }: { report: Report; rank: number | null }) {
  const several = report.ranks > 1 && tableOf(report, "distributed") !== null, verb = several ? "distributed" : "steps", parts = several ? DISTRIBUTED_PARTS : STEP_PARTS;
  const here = tableOf(report, verb), there = extraOf(report, `base.${verb}`);
  if (!here || !there) return null;
  const sides = [{ name: report.base ?? "", rows: new Rows(there.table), strong: false }, { name: report.name, rows: new Rows(here), strong: true }];
  const bars = [true, false].flatMap(own => sides.flatMap(({ name, rows, strong }) => {
    const mine = rows.all.filter(row => (rank === null || report.ranks < 2 || rows.number(row, "rank") === rank) === own), step = meanStep(rows, parts, mine);
    return step ? [{ name: rank === null || report.ranks < 2 ? name : own ? `${name}, rank ${rank}` : `${name}, other ranks`, strong, parts: step.parts }] : [];
  }));
  if (bars.length < 2) return null;
  return <Stretches title="Where a step goes" of={`mean step of both runs${rank === null || report.ranks < 2 ? "" : `: rank ${rank}, and the mean of the others`}; same scale`} unit="ns" bars={bars} />;
}

// What changed comes first where there is a run to compare with: the cause in words, numbers with their noise, causes, ranks.
export function Comparison({ report }: { report: Report }) {
  const summary = extraOf(report, "diff.summary"), rowsOf = extraOf(report, "diff.rows"), operators = extraOf(report, "diff.operators");
  const causes = extraOf(report, "diff.causes"), ranks = extraOf(report, "diff.ranks");
  if (!report.base || !summary) return null;
  const rows = new Rows(summary.table), found = summary.table.findings?.find(one => one.kind === "step-change"), said = found?.sentence;
  const rank = found?.values.rank, named = rank === null || rank === undefined || Number.isNaN(Number(rank)) ? null : Number(rank);
  const changes = ranks ? rankBars(new Rows(ranks.table), 24) : null;
  return (
    <section class="rp-compared" id="compared">
      <p class="dim rp-runs">{report.name} against {report.base}: + is slower, - is faster; intervals are over steps</p>
      <h1>{said ? capital(said) : `Compared with ${report.base}`}</h1>
      <div class="rp-figures rp-left">{rows.all.map(row => {
        const metric = rows.text(row, "metric"), word = changeWord(rows, row);
        return <Figure key={metric} name={metricWord(metric, "GPU")} value={signed(rows, row, "diff_ns")} tone={word.tone === "dim" ? undefined : `rp-${word.tone}`}
          note={`${word.text}: ${became(rows, row)}`} more={word.interval ? `95 % interval ${word.interval}` : undefined} />;
      })}</div>
      <BothSteps report={report} rank={named} />
      {causes && <><h2 class="rp-title">Causes first <span class="dim">changes beyond noise, per step; then what follows from them</span></h2><DataTable table={causes.table} few={8} notes={false} /></>}
      <Pair>
        {changes && changes.bars.length > 1 && <Bars title="Change of each rank" of={changes.of} unit="ns" signed bars={changes.bars} />}
        {rowsOf && !causes && <ChangeBars table={rowsOf.table} title="What changed most" column="diff_ns" word={(r, row) => r.text(row, "change") || direction("diff_ns")(r, row)} />}
        {operators && <ChangeBars table={operators.table} title="Operators that changed most on the device" column="diff_device_self_ns" word={direction("diff_device_self_ns")} />}
      </Pair>
      {summary.table.notes.slice(said ? 1 : 0).map((note, i) => <p key={i} class="dim">{note}</p>)}
      <p><a href="#diff">All differences →</a></p>
    </section>
  );
}

export function Curves({ report }: { report: Report }) {
  const drawn = [memoryCurve(report), queueCurve(report)].filter(chart => chart !== null);
  const all = drawn.length < 2 ? [...drawn, bandwidthCurve(report)].filter(chart => chart !== null) : drawn;
  return all.length > 0 ? <Pair>{all}</Pair> : null;
}

export function BusiestStep({ report }: { report: Report }) {
  const data = report.timeline;
  if (!data || data.ranks.every(rank => rank.tracks.length === 0)) return null;
  const title = data.step < 0 ? "The whole recording" : `The busiest step: step ${count(data.step)} of rank ${data.rank}`;
  const work = data.step < 0 || data.busy_ns === 0 ? "" : `${nsText(data.busy_ns)} of work in a step of ${nsText(data.length_ns)}, `;
  const ranks = report.ranks > data.ranks.length ? `, ${data.ranks.length} of ${count(report.ranks)} ranks` : "";
  return <StepTimeline data={data} title={title} of={`${work}streams and busiest threads${ranks}; drag to go in`} />;
}

export function Overview({ report }: { report: Report }) {
  const kernels = tableOf(report, "kernels"), operators = tableOf(report, "operators");
  return (
    <>
      <Comparison report={report} />
      <Verdict report={report} />
      <Pair><StepStack report={report} /><Ranks report={report} /></Pair>
      <Advice report={report} />
      <div class="rp-block"><BusiestStep report={report} /></div>
      <Pair>{kernels && <KernelBars table={kernels} />}{operators && <OperatorBars table={operators} />}</Pair>
      <Curves report={report} />
      <Findings report={report} />
    </>
  );
}
