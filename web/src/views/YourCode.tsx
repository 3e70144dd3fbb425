// SPDX-License-Identifier: Apache-2.0
// The line of the user's own code behind GPU work, with what to do about it: copy it, open it in an editor, see the call and the
// calls around it.
import { useState } from "preact/hooks";
import { useAnswer } from "../app/answer";
import { useApp } from "../app/context";
import { EDITORS, editorLink, useEditor } from "../app/editor";
import { framesOf, isOwn, ownFrame, withoutAddresses } from "../app/frames";
import { useTable } from "../app/hooks";
import { isNamed } from "../app/links";
import { eventLink } from "../app/route";
import { Rows } from "../app/rows";
import type { EventDetails, Run } from "../model";
import { askEvent } from "../timeline/client";
import { Copy } from "./Copy";

// Which editor, where its lines open: asked for where it is wanted.
function EditorChoice() {
  const [editor, setEditor] = useEditor();
  const known = EDITORS.find((one) => one.template === editor.template);
  return (
    <details class="editor-choice">
      <summary>editor: {known?.name ?? "own"}</summary>
      <label>
        open lines in{" "}
        <select value={known?.template ?? "own"} onChange={(event) => {
          const value = event.currentTarget.value;
          setEditor({ ...editor, template: value === "own" ? "https://" : value });
        }}>
          {EDITORS.map(({ name, template }) => <option key={name} value={template}>{name}</option>)}
          <option value="own">another address</option>
        </select>
      </label>
      {known ? null : (
        <label>
          address{" "}
          <input type="text" value={editor.template} placeholder="scheme://{file}:{line}" onChange={(event) => setEditor({ ...editor, template: event.currentTarget.value.trim() })} />
        </label>
      )}
      {editor.template ? (
        <label>
          folder of the sources{" "}
          <input type="text" value={editor.root} placeholder="/home/me/project" title="for files that the trace names without their folder" onChange={(event) => setEditor({ ...editor, root: event.currentTarget.value.trim() })} />
        </label>
      ) : null}
    </details>
  );
}

export function CodeLine(props: { source: string; event?: string }) {
  const { route } = useApp();
  const [editor] = useEditor();
  const link = editorLink(props.source, editor);
  return (
    <span class="your-code">
      <strong class="mono">{props.source}</strong> <Copy text={props.source} what="the line" />
      {link ? <a href={link}>open in the editor</a> : null}
      {props.event ? <a href={eventLink(route, props.event)}>in the timeline</a> : null}
      <EditorChoice />
    </span>
  );
}

// Frames, innermost first; the user's own stand out, the innermost of them most.
export function Frames(props: { frames: readonly string[]; own?: string }) {
  const own = props.own ?? ownFrame(props.frames), at = props.frames.indexOf(own ?? "");
  return (
    <>
      <ol class="frames">
        {props.frames.map((frame, i) => (
          <li key={i} class={isOwn(frame) ? "mono own" : "mono"}>
            {i === at ? <strong>{frame}</strong> : frame}
          </li>
        ))}
      </ol>
      <Copy text={props.frames.join("\n")} what="the stack" />
    </>
  );
}

const GPU_KINDS = ["kernel", "memcpy", "memset", "gpu_annotation"];

// The calls around an event, or around the launch of GPU work; those that the profiler wrote as text where there are no others.
export async function askFrames(run: Run, id: string, span: string | undefined, signal: AbortSignal): Promise<string[]> {
  const event = await askEvent(run, id, span, signal);
  const link = (name: string) => event.links.find((one) => one.link === name && !one.outgoing);
  const launch = GPU_KINDS.includes(event.kind ?? "") ? (link("launch") ?? link("operator")) : undefined;
  return framesOfEvent(launch ? await askEvent(run, launch.id, span, signal) : event);
}

export function framesOfEvent(event: EventDetails): string[] {
  const text = event.fields.find(([name]) => name === "args.Call stack")?.[1];
  const around = event.stack.map((one) => withoutAddresses(one.name ?? "")).filter(Boolean);
  return text && !around.some((frame) => isOwn(frame)) ? framesOf(text) : around;
}

// The stack behind a line, asked for when it is opened.
function Behind(props: { event: string; own: string }) {
  const { run, route } = useApp();
  const [open, setOpen] = useState(false);
  const [frames, problem] = useAnswer(open ? `${run.id} ${run.generation} ${props.event}` : null, (signal) => askFrames(run, props.event, route.query.span, signal));
  return (
    <details class="code-stack" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>call stack</summary>
      {frames ? frames.length > 0 ? <Frames frames={frames} own={props.own} /> : <p class="dim">Nothing is recorded around the launch.</p> : <p class="dim">{problem ?? "Reading the stack …"}</p>}
    </details>
  );
}

interface Line {
  source: string;
  frames: string[];
  forward: boolean; // of the operator whose gradient the event computes
}

// The innermost own line around an event; of the backward pass that of its forward operator, as modules are.
async function askLine(run: Run, event: EventDetails, span: string | undefined, signal: AbortSignal): Promise<Line | null> {
  const forward = event.links.find((one) => (one.link === "forward" || one.link === "fwdbwd") && !one.outgoing);
  const frames = framesOfEvent(forward ? await askEvent(run, forward.id, span, signal) : event), source = ownFrame(frames);
  return source ? { source, frames, forward: forward !== undefined } : null;
}

const FORWARD = "Your code, in the forward pass:";

// Of work without a line of its own, such as that of the backward pass: by the longest event of the name.
function Backward(props: { name: string; rank: string | undefined; column: string }) {
  const { run, route } = useApp();
  const { span } = route.query;
  const longest = { rank: props.rank, span, where: `${isNamed(props.column, props.name)} and dur_ns > 0`, columns: "id", sort: "-dur_ns", top: 1 };
  const asked = useTable(run, "events", longest), id = asked.table?.rows[0]?.[0];
  const [line] = useAnswer(typeof id === "string" ? `${run.id} ${run.generation} ${id}` : null, async (signal) =>
    askLine(run, await askEvent(run, String(id), span, signal), span, signal));
  if (!line?.forward || typeof id !== "string") return null;
  return (
    <div class="code-of">
      <span class="dim">{FORWARD.replace("code,", "code, longest call,")}</span> <CodeLine source={line.source} event={id} />
      <details class="code-stack">
        <summary>call stack</summary>
        <Frames frames={line.frames} own={line.source} />
      </details>
    </div>
  );
}

// Of a kernel by its name, on one rank where that is the question; column: what the name is the name of.
export function YourCode(props: { name: string; rank?: string; column?: string; label: string }) {
  const app = useApp();
  const rank = props.rank ?? app.route.query.rank, column = props.column ?? "name";
  const asked = useTable(app.run, "events", {
    rank,
    span: app.route.query.span,
    where: `${isNamed(column, props.name)} and origin_source is not null`,
    columns: "id,origin_source,dur_ns",
    sort: "-dur_ns",
    top: 1,
  });
  const rows = asked.table ? new Rows(asked.table) : null, row = rows?.all[0];
  if (!rows) return null;
  if (!row) return <Backward name={props.name} rank={rank} column={column} />;
  const source = rows.text(row, "origin_source"), event = rows.text(row, "id");
  return (
    <div class="code-of">
      <span class="dim">{props.label}</span> <CodeLine source={source} event={event} />
      <Behind event={event} own={withoutAddresses(source)} />
    </div>
  );
}

// In the timeline's panel: the line that is known, else the innermost own one of what is around the event or its forward operator.
export function PanelCode(props: { event: EventDetails; source?: string }) {
  const { run, route } = useApp();
  const { event, source } = props;
  const [found] = useAnswer(source ? null : `${run.id} ${run.generation} ${event.id}`, (signal) => askLine(run, event, route.query.span, signal));
  const line = source ?? found?.source;
  if (!line) return null;
  return (
    <section aria-label="Your code">
      <h3>{!source && found?.forward ? FORWARD.replace(":", "") : "Your code"}</h3>
      <CodeLine source={withoutAddresses(line)} />
    </section>
  );
}
