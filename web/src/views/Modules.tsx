// SPDX-License-Identifier: Apache-2.0
// The model as a tree of modules with the time of each, forward and backward, and the same as a flame graph.
import { useMemo, useState } from "preact/hooks";
import { human, shortName } from "../ui/format";
import { classColor } from "../ui/colors";
import { Flame } from "../ui/charts";
import type { FlameNode } from "../ui/charts";
import { tableUrl } from "../app/api";
import { chosen, useApp } from "../app/context";
import { isNamed, quoted } from "../app/links";
import { Head } from "../app/Head";
import { Ask, UrlSwitch, VerbTable } from "../app/parts";
import type { Option } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { Details } from "./Details";
import { deviceWord } from "./ranks";
import { ShareBar } from "./ShareBar";

const MEASURES: readonly Option[] = [
  { value: "device_total_ns", label: "device" },
  { value: "backward_device_total_ns", label: "device, backward" },
  { value: "host_total_ns", label: "host" },
];

const COLUMNS: readonly [name: string, label: string][] = [
  ["calls", "calls"],
  ["operators", "operators"],
  ["host_total_ns", "host total"],
  ["host_self_ns", "host self"],
  ["device_total_ns", "device total"],
  ["device_self_ns", "device self"],
  ["backward_device_total_ns", "backward device"],
];

const OPEN_DEPTH = 2;
const DRAWN = 2000;

const As = () => (
  <UrlSwitch
    name="as"
    label="as:"
    options={[
      { value: "tree", label: "tree" },
      { value: "table", label: "table" },
    ]}
  />
);

interface Line {
  row: Row;
  path: string;
  parent: string;
  name: string;
  depth: number;
  leaf: boolean;
}

function linesOf(rows: Rows): Line[] {
  const lines = rows.all.map((row): Line => {
    const path = rows.text(row, "path");
    const name = rows.text(row, "name");
    return {
      row,
      path,
      name,
      parent: path.slice(0, Math.max(0, path.length - name.length - 3)),
      depth: rows.number(row, "depth") ?? 1,
      leaf: true,
    };
  });
  const parents = new Set(lines.map((line) => line.parent));
  return lines.map((line) => ({ ...line, leaf: !parents.has(line.path) }));
}

// The rows as a tree with the engine's own totals.
function moduleTree(rows: Rows, measure: string): FlameNode {
  const root: FlameNode = { name: "model", value: 0, children: [] };
  const nodes = new Map<string, FlameNode>();
  for (const line of linesOf(rows)) {
    const node: FlameNode = {
      name: line.name,
      cls: measure.startsWith("host") ? "python" : "compute",
      value: rows.number(line.row, measure) ?? 0,
      children: [],
    };
    nodes.set(line.path, node);
    const parent = nodes.get(line.parent);
    (parent ?? root).children.push(node);
    if (!parent) root.value += node.value;
  }
  return root;
}

function ModuleFlame(props: {
  rows: Rows;
  measure: string;
  measures: readonly Option[];
  open: (path: string) => void;
}) {
  const { rows, measure } = props;
  const root = useMemo(() => moduleTree(rows, measure), [rows, measure]);
  return (
    <Flame
      title="Time inside each module"
      of={rows.column(measure)?.sentence}
      root={root}
      unit="ns"
      actions={
        props.measures.length > 1 ? <UrlSwitch name="measure" label="time:" options={props.measures} /> : undefined
      }
      onSelect={(path) => {
        if (path.length > 1)
          props.open(
            path
              .slice(1)
              .map((node) => node.name)
              .join(" / "),
          );
      }}
    />
  );
}

interface Opened {
  shown: readonly Line[];
  isOpen: (line: Line) => boolean;
  toggle: (line: Line) => void;
  all: (open: boolean) => void;
}

// Which lines are open: the first levels, unless toggled. Filtering looks everywhere.
function useOpened(lines: readonly Line[], find: string): Opened {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const byPath = useMemo(() => new Map(lines.map((line) => [line.path, line])), [lines]);
  const isOpen = (line: Line) => line.depth < OPEN_DEPTH !== toggled.has(line.path);
  const visible = (line: Line): boolean => {
    for (let up = byPath.get(line.parent); up; up = byPath.get(up.parent)) if (!isOpen(up)) return false;
    return true;
  };
  const wanted = find.trim().toLowerCase();
  const shown = lines.filter(wanted ? (line) => line.path.toLowerCase().includes(wanted) : visible);
  const toggle = (line: Line) => {
    const next = new Set(toggled);
    if (!next.delete(line.path)) next.add(line.path);
    setToggled(next);
  };
  const all = (open: boolean) =>
    setToggled(
      new Set(lines.filter((line) => !line.leaf && line.depth < OPEN_DEPTH !== open).map((line) => line.path)),
    );
  return { shown, isOpen, toggle, all };
}

function TreeRow(props: { rows: Rows; line: Line; opened: Opened; on: boolean; open: () => void }) {
  const { rows, line, opened } = props;
  const isOpen = opened.isOpen(line);
  const twist = (event: Event) => {
    event.stopPropagation();
    opened.toggle(line);
  };
  return (
    <tr class={props.on ? "on" : ""} onClick={props.open} aria-level={line.depth}>
      <td title={line.path} style={{ paddingLeft: `${8 + (line.depth - 1) * 16}px` }}>
        {line.leaf ? (
          <span class="twist" />
        ) : (
          <button
            type="button"
            class="twist"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? "Close" : "Open"} ${line.name}`}
            onClick={twist}
          >
            {isOpen ? "▾" : "▸"}
          </button>
        )}
        {line.name}
      </td>
      {COLUMNS.map(([name]) => (
        <td key={name} class="num">
          {human(rows.cell(line.row, name), rows.column(name) ?? { type: "int64", unit: null })}
        </td>
      ))}
      <td>
        <ShareBar share={rows.number(line.row, "device_share")} color={classColor("compute")} width={60} />
      </td>
    </tr>
  );
}

function Tree(props: { rows: Rows; open: (path: string) => void; selected: string | undefined }) {
  const { rows } = props;
  const lines = useMemo(() => linesOf(rows), [rows]);
  const [find, setFind] = useState("");
  const opened = useOpened(lines, find);
  return (
    <>
      <div class="row tools">
        <input
          type="search"
          placeholder="Filter modules"
          aria-label="Filter modules"
          value={find}
          onInput={(event) => setFind(event.currentTarget.value)}
        />
        <button type="button" class="pill" onClick={() => opened.all(true)}>
          open all
        </button>
        <button type="button" class="pill" onClick={() => opened.all(false)}>
          close all
        </button>
      </div>
      <div class="scroll">
        <table class="plain tree" role="treegrid">
          <thead>
            <tr>
              <th>module</th>
              {COLUMNS.map(([name, label]) => (
                <th key={name} class="num" title={rows.column(name)?.sentence}>
                  {label}
                </th>
              ))}
              <th>device share</th>
            </tr>
          </thead>
          <tbody>
            {opened.shown.slice(0, DRAWN).map((line) => (
              <TreeRow
                key={line.path}
                rows={rows}
                line={line}
                opened={opened}
                on={line.path === props.selected}
                open={() => props.open(line.path)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {opened.shown.length > DRAWN ? (
        <p class="notes">{opened.shown.length - DRAWN} more modules are open; close some, or filter.</p>
      ) : null}
    </>
  );
}

function Behind(props: { path: string }) {
  const name = props.path.split(" / ").at(-1) ?? props.path;
  return (
    <Details name={props.path} close="path">
      <VerbTable
        verb="modules"
        title="This module and what is inside"
        query={{ where: `path == ${quoted(props.path)} or path ~ ${quoted(`${props.path} / `)}` }}
        height={260}
      />
      <VerbTable
        verb="events"
        title="Calls"
        query={{
          where: isNamed("name", `nn.Module: ${name}`),
          columns: "id,dur_ns,time_ns,step,tid",
          sort: "-dur_ns",
          top: 100,
        }}
        height={220}
      />
    </Details>
  );
}

function AsTree(props: { rows: Rows; open: (path: string) => void; selected: string | undefined }) {
  const app = useApp();
  const { table } = props.rows;
  return (
    <section class="block">
      <div class="block-head">
        <h2>
          {table.title} <span class="method">{table.method}</span>
        </h2>
        <span class="block-tools">
          <As />
          {["csv", "json"].map((format) => (
            <a key={format} href={tableUrl(app.run.id, "modules", chosen(app, "modules"), format)} download>
              {format.toUpperCase()}
            </a>
          ))}
        </span>
      </div>
      <Tree {...props} />
    </section>
  );
}

function Model(props: { rows: Rows }) {
  const { route } = useApp();
  const { rows } = props;
  const open = (path: string) => go(linkWith(route, { path }));
  const { path } = route.query;
  const there = MEASURES.filter((measure) => rows.any(measure.value));
  const measure = there.find((one) => one.value === route.query.measure) ?? there[0] ?? MEASURES[0]!;
  return (
    <div class={path ? "with-details" : ""}>
      <div class="content">
        <section class="block chart">
          <ModuleFlame rows={rows} measure={measure.value} measures={there} open={open} />
        </section>
        {route.query.as === "table" ? (
          <VerbTable url verb="modules" onRow={(asked, row) => open(asked.text(row, "path"))} tools={<As />} />
        ) : (
          <AsTree rows={rows} open={open} selected={path} />
        )}
      </div>
      {path ? <Behind path={path} /> : null}
    </div>
  );
}

// The module that most time is spent in itself, on the device where that is known.
function mostWords(rows: Rows, device: string): string | null {
  const onDevice = rows.any("device_self_ns"), sums = rows.sumBy("name", onDevice ? "device_self_ns" : "host_self_ns");
  const all = sums.reduce((sum, [, ns]) => sum + ns, 0), [name, ns] = sums.reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
  return all > 0 ? `${shortName(name, 60)} takes ${human(ns / all, { type: "ratio", unit: null })} of ${onDevice ? device : "CPU"} time inside modules` : null;
}

export function Modules() {
  const { run } = useApp();
  const empty = (
    <p>
      Modules are recorded with <code>with_stack=True, with_modules=True</code>.
    </p>
  );
  return (
    <>
      <Head verb="modules" say={(rows) => mostWords(rows, deviceWord(run))}
        title="Modules"
        lead="Which modules of the model take the time, forward and backward, in the order of the model."
      />
      <Ask verb="modules" empty={empty}>
        {(rows) => <Model rows={rows} />}
      </Ask>
    </>
  );
}
