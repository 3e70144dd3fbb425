// SPDX-License-Identifier: Apache-2.0
// The names of the rows at the left, with what can be done to them: collapse and pin. Only those on screen exist.
import type { Layout, Row } from "./layout";
import { rowsBetween } from "./layout";

export interface LabelActions { onCollapse: (key: string) => void; onPin: (key: string) => void }

function RowLabel(props: { row: Row; y: number; note: string } & LabelActions) {
  const { row } = props, style = { top: `${props.y}px`, height: `${row.height}px` };
  if (row.kind === "overlay") return <div class="tl-label overlay" style={style}><span>{row.label}</span></div>;
  if (row.kind === "layer") {
    return (
      <div class="tl-label layer" style={style}>
        <button type="button" class="tl-plain" aria-expanded={!row.collapsed} aria-label={`${row.collapsed ? "Expand" : "Collapse"} layer ${row.label} of rank ${row.rank}`} onClick={() => props.onCollapse(row.key)}>
          <span class="caret">{row.collapsed ? "▸" : "▾"}</span> {row.label}
        </button>
      </div>
    );
  }
  if (row.kind === "rank") {
    return (
      <div class="tl-label rank" style={style}>
        <button type="button" class="tl-plain" aria-expanded={!row.collapsed} aria-label={`${row.collapsed ? "Expand" : "Collapse"} rank ${row.rank}`} onClick={() => props.onCollapse(row.key)}>
          <span class="caret">{row.collapsed ? "▸" : "▾"}</span> rank {row.rank}
        </button>
        <span class="dim">{props.note}</span>
      </div>
    );
  }
  return (
    <div class="tl-label" style={style} title={`${row.group} · ${row.label} · ${row.track.spans} spans`}>
      <button type="button" class="tl-plain" aria-expanded={!row.collapsed} aria-label={`${row.collapsed ? "Expand" : "Collapse"} ${row.label} of rank ${row.rank}`} onClick={() => props.onCollapse(row.key)}>
        <span class="caret">{row.collapsed ? "▸" : "▾"}</span>
      </button>
      <span class="text">{row.pinned ? `${row.rank} · ` : ""}{row.label}</span>
      <button type="button" class={row.pinned ? "tl-plain pin on" : "tl-plain pin"} aria-pressed={row.pinned} aria-label={`${row.pinned ? "Unpin" : "Pin"} ${row.label} of rank ${row.rank}`} onClick={() => props.onPin(row.key)}>
        {row.pinned ? "★" : "☆"}
      </button>
    </div>
  );
}

export function Labels(props: { layout: Layout; scroll: number; height: number; noteOf: (rank: number) => string } & LabelActions) {
  const { layout, scroll } = props;
  const shown = rowsBetween(layout.rows, scroll - 100, scroll + props.height + 100);
  return (
    <>
      {shown.map((row) => <RowLabel key={row.key} row={row} y={row.y + layout.pinnedHeight} note={row.kind === "rank" ? props.noteOf(row.rank) : ""} onCollapse={props.onCollapse} onPin={props.onPin} />)}
    </>
  );
}

export function PinnedLabels(props: { layout: Layout } & LabelActions) {
  if (props.layout.pinned.length === 0) return null;
  return (
    <div class="tl-pinned" style={{ height: `${props.layout.pinnedHeight}px` }}>
      {props.layout.pinned.map((row) => <RowLabel key={row.key} row={row} y={row.y} note="" onCollapse={props.onCollapse} onPin={props.onPin} />)}
    </div>
  );
}
