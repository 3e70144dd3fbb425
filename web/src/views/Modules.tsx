// The model as a tree of modules with the time of each, forward and backward, and the same as a flame graph.
import { useMemo, useState } from "preact/hooks";
import { human } from "../ui/format";
import { classColor } from "../ui/colors";
import { Flame } from "../ui/charts";
import type { FlameNode } from "../ui/charts";
import { tableUrl } from "../app/api";
import { chosen, useApp } from "../app/context";
import { quoted } from "../app/links";
import { Ask, Head, UrlSwitch, VerbTable } from "../app/parts";
import type { Option } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { Details } from "./Details";

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
                props.measures.length > 1 ? (
                    <UrlSwitch name="measure" label="time:" options={props.measures} />
                ) : undefined
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

function Tree(props: { rows: Rows; open: (path: string) => void; selected: string | undefined }) {
    const { rows } = props;
    const lines = useMemo(() => linesOf(rows), [rows]);
    const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
    const [find, setFind] = useState("");
    const isOpen = (line: Line) => line.depth < OPEN_DEPTH !== toggled.has(line.path);
    const byPath = useMemo(() => new Map(lines.map((line) => [line.path, line])), [lines]);
    const visible = (line: Line): boolean => {
        for (let up = byPath.get(line.parent); up; up = byPath.get(up.parent)) if (!isOpen(up)) return false;
        return true;
    };
    const wanted = find.trim().toLowerCase();
    const shown = wanted ? lines.filter((line) => line.path.toLowerCase().includes(wanted)) : lines.filter(visible);
    const toggle = (line: Line) => {
        const next = new Set(toggled);
        if (!next.delete(line.path)) next.add(line.path);
        setToggled(next);
    };
    const all = (open: boolean) =>
        setToggled(
            new Set(lines.filter((line) => !line.leaf && line.depth < OPEN_DEPTH !== open).map((line) => line.path)),
        );
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
                <button type="button" class="pill" onClick={() => all(true)}>
                    open all
                </button>
                <button type="button" class="pill" onClick={() => all(false)}>
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
                        {shown.slice(0, 2000).map((line) => (
                            <tr
                                key={line.path}
                                class={line.path === props.selected ? "on" : ""}
                                onClick={() => props.open(line.path)}
                                aria-level={line.depth}
                            >
                                <td title={line.path} style={{ paddingLeft: `${8 + (line.depth - 1) * 16}px` }}>
                                    {line.leaf ? (
                                        <span class="twist" />
                                    ) : (
                                        <button
                                            type="button"
                                            class="twist"
                                            aria-expanded={isOpen(line)}
                                            aria-label={`${isOpen(line) ? "Close" : "Open"} ${line.name}`}
                                            onClick={(event) => {
                                                event.stopPropagation();
                                                toggle(line);
                                            }}
                                        >
                                            {isOpen(line) ? "▾" : "▸"}
                                        </button>
                                    )}
                                    {line.name}
                                </td>
                                {COLUMNS.map(([name]) => (
                                    <td key={name} class="num">
                                        {human(
                                            rows.cell(line.row, name),
                                            rows.column(name) ?? { type: "int64", unit: null },
                                        )}
                                    </td>
                                ))}
                                <td>
                                    <ShareCell share={rows.number(line.row, "device_share")} />
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </>
    );
}

function ShareCell(props: { share: number | null }) {
    if (props.share === null) return <>–</>;
    return (
        <span class="share">
            <span
                class="share-bar"
                style={{ width: `${Math.max(0, Math.min(1, props.share)) * 60}px`, background: classColor("compute") }}
            />
            {human(props.share, { type: "ratio", unit: "ratio" })}
        </span>
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
                    where: `name == ${quoted(`nn.Module: ${name}`)}`,
                    columns: "id,dur_ns,time_ns,step,tid",
                    sort: "-dur_ns",
                    top: 100,
                }}
                height={220}
            />
        </Details>
    );
}

export function Modules() {
    const app = useApp();
    const { route } = app;
    const open = (path: string) => go(linkWith(route, { path }));
    const chosenPath = route.query.path;
    return (
        <>
            <Head
                title="Modules"
                lead="Which modules of the model take the time, forward and backward, in the order of the model."
            />
            <Ask
                verb="modules"
                empty={
                    <p>
                        Modules are recorded with <code>with_stack=True, with_modules=True</code>.
                    </p>
                }
            >
                {(rows) => {
                    const there = MEASURES.filter((measure) => rows.any(measure.value));
                    const measure =
                        there.find((one) => one.value === route.query.measure)?.value ??
                        there[0]?.value ??
                        "host_total_ns";
                    return (
                        <div class={chosenPath ? "with-details" : ""}>
                            <div class="content">
                                <section class="block chart">
                                    <ModuleFlame rows={rows} measure={measure} measures={there} open={open} />
                                </section>
                                {route.query.as === "table" ? (
                                    <VerbTable
                                        url
                                        verb="modules"
                                        onRow={(asked, row) => open(asked.text(row, "path"))}
                                        tools={<As />}
                                    />
                                ) : (
                                    <section class="block">
                                        <div class="block-head">
                                            <h2>
                                                {rows.table.title} <span class="method">{rows.table.method}</span>
                                            </h2>
                                            <span class="block-tools">
                                                <As />
                                                <a
                                                    href={tableUrl(
                                                        app.run.id,
                                                        "modules",
                                                        chosen(app, "modules"),
                                                        "csv",
                                                    )}
                                                    download
                                                >
                                                    CSV
                                                </a>
                                                <a
                                                    href={tableUrl(
                                                        app.run.id,
                                                        "modules",
                                                        chosen(app, "modules"),
                                                        "json",
                                                    )}
                                                    download
                                                >
                                                    JSON
                                                </a>
                                            </span>
                                        </div>
                                        <Tree rows={rows} open={open} selected={chosenPath} />
                                    </section>
                                )}
                            </div>
                            {chosenPath ? <Behind path={chosenPath} /> : null}
                        </div>
                    );
                }}
            </Ask>
        </>
    );
}
