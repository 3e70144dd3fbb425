// SPDX-License-Identifier: Apache-2.0
// The largest rows of a table as bars: the rows as the engine ordered them, or by the column that is drawn.
import type { ComponentChildren } from "preact";
import { classColor } from "../ui/colors";
import { Bars } from "../ui/charts";
import type { Query } from "../app/api";
import type { Row, Rows } from "../app/rows";
import { useBaseRows } from "./both";

export interface TopBarsProps {
  rows: Rows;
  title: string;
  of?: string;
  actions?: ComponentChildren;
  name: (row: Row) => string;
  column: string;
  share?: string;
  n?: number;
  color?: (row: Row) => string;
  verb?: string; // as it was asked for the rows: the baseline is asked the same
  query?: Query;
  onClick?: (row: Row) => void;
}

export function TopBars(props: TopBarsProps) {
  const { rows, column } = props;
  const value = (row: Row) => rows.number(row, column) ?? 0;
  const top = [...rows.all]
    .sort((a, b) => value(b) - value(a))
    .filter((row) => value(row) > 0)
    .slice(0, props.n ?? 10);
  const unit = rows.column(column)?.unit ?? "", before = useBaseRows(props.verb ?? null, props.query);
  const was = new Map((before?.all ?? []).map((row) => [props.name(row), before?.number(row, column) ?? null]));
  return (
    <Bars
      title={props.title}
      of={before ? `${props.of ?? ""}; the mark is the baseline` : props.of}
      actions={props.actions}
      unit={unit}
      bars={top.map((row) => ({
        name: props.name(row),
        value: value(row),
        before: before ? (was.get(props.name(row)) ?? 0) : undefined,
        share: props.share ? rows.number(row, props.share) : null,
        color: props.color?.(row) ?? classColor("compute"),
      }))}
      onClick={(i) => {
        const row = top[i];
        if (row) props.onClick?.(row);
      }}
    />
  );
}
