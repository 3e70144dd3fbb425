// SPDX-License-Identifier: Apache-2.0
// The line of the user's own code behind GPU work, with what to do about it: copy it, open it in an editor, see the call.
import { placeOf } from "../app/code";
import { useApp } from "../app/context";
import { useTable } from "../app/hooks";
import { isNamed } from "../app/links";
import { eventLink } from "../app/route";
import { Rows } from "../app/rows";

// The address that opens it, where an editor is configured: localStorage["holotrace-editor"] is vscode://file/{file}:{line},
// or the like of another editor. Only addresses that leave the page are followed.
export function editorLink(source: string): string | null {
  const template = localStorage.getItem("holotrace-editor"), place = placeOf(source);
  if (!template || !place || !/^[a-z][a-z0-9+.-]*:\/\//i.test(template) || /^(javascript|data|blob):/i.test(template)) return null;
  return template.replace("{file}", encodeURI(place.file)).replace("{line}", place.line);
}

export function CodeLine(props: { source: string; event?: string }) {
  const { route } = useApp();
  const editor = editorLink(props.source);
  return (
    <span class="your-code">
      <strong class="mono">{props.source}</strong>{" "}
      <button type="button" class="pill" title="Copy the line" onClick={() => void navigator.clipboard?.writeText(props.source)}>
        copy
      </button>
      {editor ? <a href={editor}>open in the editor</a> : null}
      {props.event ? <a href={eventLink(route, props.event)}>in the timeline</a> : null}
    </span>
  );
}

// Of a kernel by its name, on one rank where that is the question; column: what the name is the name of.
export function YourCode(props: { name: string; rank?: string; column?: string; label: string }) {
  const app = useApp();
  const asked = useTable(app.run, "events", {
    rank: props.rank ?? app.route.query.rank,
    span: app.route.query.span,
    where: `${isNamed(props.column ?? "name", props.name)} and origin_source is not null`,
    columns: "id,origin_source,dur_ns",
    sort: "-dur_ns",
    top: 1,
  });
  const rows = asked.table ? new Rows(asked.table) : null, row = rows?.all[0];
  if (!rows || !row) return null;
  return (
    <p class="code-of">
      <span class="dim">{props.label}</span> <CodeLine source={rows.text(row, "origin_source")} event={rows.text(row, "id")} />
    </p>
  );
}
