// SPDX-License-Identifier: Apache-2.0
// The report's beginning: reads the tables that stand in the file and mounts the page over them. An overview, then
// every analysis as a section that opens: its conclusion, chart, table and method.
import { Component, render, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { DataTable } from "../ui/DataTable";
import { count } from "../ui/format";
import "../ui/tokens.css";
import { chartOf } from "./charts";
import { readReport, type Report, type Section } from "./data";
import { Overview } from "./Overview";
import "./report.css";

const OPEN_FIRST = new Set(["kernels", "operators", "health", "memory-snapshot", "memory-curve"]);
const FEW = 8;

// A chart that cannot be drawn must not take the page with it.
class Guard extends Component<{ children: ComponentChildren }, { problem: string | null }> {
  override state = { problem: null };
  static override getDerivedStateFromError(error: unknown) {
    return { problem: String(error) };
  }
  override render() {
    return this.state.problem ? <p class="bad">This could not be drawn: {this.state.problem}</p> : this.props.children;
  }
}

// "… Next: comm-overlap" at the end of a note leads to that section.
function Note({ report, text }: { report: Report; text: string }) {
  const found = /^(.*?)\s*Next: ([a-z-]+)([^.]*)\.?$/s.exec(text), verb = found?.[2] ?? "";
  const section = report.sections.find(one => one.name === verb);
  return <p class="rp-note">{found ? found[1] : text}{found && " "}{found && (section ? <a href={`#${verb}`}>{section.title} →</a> : <code>{`holotrace ${verb}${found[3]}`}</code>)}</p>;
}

function Body({ report, section }: { report: Report; section: Section }) {
  const { table } = section;
  return (
    <div class="rp-body">
      <p class="dim">{section.question}</p>
      {section.problem && <p class="bad">Failed: {section.problem}</p>}
      {table && table.notes.map((note, i) => <Note key={i} report={report} text={note} />)}
      {table && <Guard><div class="rp-chart">{chartOf(report, section.name, table)}</div></Guard>}
      {table && <Guard><DataTable table={table} few={FEW} search={table.rows.length > FEW} notes={false} /></Guard>}
      <p class="dim rp-method">{section.method} <code>holotrace {section.name}</code></p>
    </div>
  );
}

function SectionView({ report, section, open, toggle }:
    { report: Report; section: Section; open: boolean; toggle: (open: boolean) => void }) {
  const n = section.table ? section.table.rows.length + section.table.hidden : 0;
  return (
    <details class="rp-section" id={section.name} open={open} onToggle={e => { if (e.currentTarget.open !== open) toggle(e.currentTarget.open); }}>
      <summary><h2>{section.title}</h2><span class="dim">{section.problem ? "failed" : `${count(n)} ${n === 1 ? "row" : "rows"}`}</span><span class="dim rp-gist">{section.question}</span></summary>
      {open && <Body report={report} section={section} />}
    </details>
  );
}

function Contents({ groups }: { groups: [string, Section[]][] }) {
  return (
    <nav class="rp-nav" aria-label="Contents">
      <a href="#top"><b>Overview</b></a>
      {groups.map(([group, sections]) => <div key={group}><span>{group}</span>
        {sections.map(section => <a key={section.name} href={`#${section.name}`}>{section.title}</a>)}</div>)}
    </nav>
  );
}

// Sections by the title of their group, in the order in which the groups come; those of the data itself are the last.
function grouped(sections: Section[]): [string, Section[]][] {
  const groups = new Map<string, Section[]>();
  for (const section of sections) groups.set(section.group_title, [...(groups.get(section.group_title) ?? []), section]);
  const isData = (list: Section[]) => Number(list[0]?.group === "engine");
  return [...groups].sort((a, b) => isData(a[1]) - isData(b[1]));
}

// Which sections are open: links open theirs, printing opens all.
function useOpen(sections: Section[]): [Set<string>, (name: string, open: boolean) => void, (all: boolean) => void] {
  const [open, setOpen] = useState(() => new Set(sections.filter(one => OPEN_FIRST.has(one.name) || one.problem).map(one => one.name)));
  const set = (name: string, on: boolean) => setOpen(before => {
    const next = new Set(before);
    if (on) next.add(name); else next.delete(name);
    return next;
  });
  useEffect(() => {
    const follow = () => {
      const name = decodeURIComponent(location.hash.slice(1));
      if (!sections.some(one => one.name === name)) return;
      set(name, true);
      requestAnimationFrame(() => document.getElementById(name)?.scrollIntoView());
    };
    const print = () => setOpen(new Set(sections.map(one => one.name)));
    follow();
    addEventListener("hashchange", follow);
    addEventListener("beforeprint", print);
    return () => {
      removeEventListener("hashchange", follow);
      removeEventListener("beforeprint", print);
    };
  }, []);
  return [open, set, all => setOpen(new Set(all ? sections.map(one => one.name) : []))];
}

function Page({ report }: { report: Report }) {
  // conclusions are in the overview already, as sentences
  const sections = report.sections.filter(section => section.group !== "conclusions" || section.problem);
  const groups = grouped(sections), [open, set, setAll] = useOpen(sections);
  return (
    <div class="rp-page" id="top">
      <header class="rp-head">
        <b>Holotrace</b><span class="rp-name">{report.name}</span>
        <span class="dim">{count(report.ranks)} {report.ranks === 1 ? "rank" : "ranks"} · {count(report.events)} events · holotrace {report.version}</span>
        {report.loss && <a class="bad" href="#health">{report.loss}</a>}
      </header>
      <Contents groups={groups} />
      <main>
        <Guard><Overview report={report} /></Guard>
        <div class="rp-all"><h2>Every analysis</h2><span><button onClick={() => setAll(true)}>open all</button> <button onClick={() => setAll(false)}>close all</button></span></div>
        {groups.map(([group, list]) => <div key={group}><h3 class="rp-group">{group}</h3>
          {list.map(section => <SectionView key={section.name} report={report} section={section} open={open.has(section.name)} toggle={on => set(section.name, on)} />)}</div>)}
        {report.empty.length > 0 && <p class="dim rp-empty">The traces have no data for: {report.empty.join(", ")}.</p>}
      </main>
    </div>
  );
}

const root = document.getElementById("app"), report = readReport();
if (root && report) render(<Page report={report} />, root);
