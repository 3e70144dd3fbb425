// SPDX-License-Identifier: Apache-2.0
// What every chart has: a title that states what is plotted, a legend where labels do not do, a tip with exact values.
import { type ComponentChildren, type JSX } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { ColumnType } from "../../model";
import { changeText, exact, human, visible } from "../format";
import "./charts.css";

// What a chart's numbers are: "ns", "bytes", "ratio", "count", or another unit that is written as it is.
export type Unit = string;

interface Measure { type: ColumnType; unit: string | null }

function measureOf(unit: Unit): Measure {
  switch (unit) {
    case "ns": return { type: "duration_float", unit: "ns" };
    case "bytes": return { type: "bytes", unit: "bytes" };
    case "ratio": return { type: "ratio", unit: null };
    case "count": return { type: "int64", unit: null };
    case "": return { type: "float64", unit: null };
    default: return { type: "float64", unit };
  }
}

const isWhole = (measure: Measure) => measure.type === "bytes" || measure.type === "int64";

export function shown(value: number | null, unit: Unit, text: typeof human = human): string {
  const measure = measureOf(unit);
  return text(value !== null && isWhole(measure) ? Math.round(value) : value, measure);
}

// A difference: more has a plus.
export const shownChange = (value: number, unit: Unit): string => shown(value, unit, changeText);

// For axes: without zeros at the end.
export function tick(value: number, unit: Unit): string {
  return shown(value, unit).replace(/\.(\d*?)0+(?=\D*$)/, (_, digits: string) => digits ? `.${digits}` : "");
}

// For tips: the rounded text, and all digits where they say more.
export function full(value: number | null, unit: Unit): string {
  const measure = measureOf(unit), brief = shown(value, unit);
  if (value === null || value === 0) return brief;
  const all = exact(isWhole(measure) ? Math.round(value) : value, measure);
  return brief === all ? brief : `${brief} (${all})`;
}

export interface TipLine { color?: string; name: string; value: string }
export interface Tip { x: number; y: number; title: string; lines: TipLine[] }
export type ShowTip = (e: MouseEvent, title: string, lines: TipLine[]) => void;

export function useTip(): { tip: JSX.Element | null; show: ShowTip; hide: () => void } {
  const [state, setState] = useState<Tip | null>(null);
  const show = useCallback<ShowTip>((e, title, lines) => setState({ x: e.clientX, y: e.clientY, title, lines }), []);
  const hide = useCallback(() => setState(null), []);
  const tip = state && (
    <div class="ht-tip" role="status" style={{
      transform: `translate(${Math.max(4, Math.min(state.x + 14, innerWidth - 340))}px, ${
        state.y > innerHeight - 160 ? `calc(${state.y - 12}px - 100%)` : `${state.y + 14}px`})`,
    }}>
      <b>{visible(state.title)}</b>
      {state.lines.map((line, i) => <div key={i}>
        {line.color && <i style={{ background: line.color }} />}<span>{line.name}</span><span>{line.value}</span></div>)}
    </div>
  );
  return { tip, show, hide };
}

export interface FrameProps {
  title: string;                    // what is plotted, as a statement
  of?: string;                      // of what, and in which unit
  note?: string;
  legend?: { name: string; color: string }[];
  actions?: ComponentChildren;      // links to evidence, choices
}

export function Frame(props: FrameProps & { children: ComponentChildren }) {
  return (
    <figure class="ht-chart">
      <figcaption><b>{props.title}</b>{props.of && <span class="dim"> {props.of}</span>}{props.actions}</figcaption>
      {props.children}
      {props.legend && props.legend.length > 0 && <div class="ht-legend">{props.legend.map(({ name, color }) =>
        <span key={name}><i style={{ background: color }} />{name}</span>)}</div>}
      {props.note && <p class="dim ht-chart-note">{props.note}</p>}
    </figure>
  );
}
