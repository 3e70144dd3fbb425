// SPDX-License-Identifier: Apache-2.0
// Stacked bars of a table's rows; with a baseline its bars below them, on the same scale.
import { StackedBars } from "../ui/charts";
import type { ComponentProps } from "preact";
import type { Query } from "../app/api";
import { useApp } from "../app/context";
import type { Row, Rows } from "../app/rows";
import { useBaseRows } from "./both";
import { stackOf } from "./stacks";
import type { Part, Series } from "./stacks";

type Props = Omit<ComponentProps<typeof StackedBars>, "categories" | "series" | "unit" | "most"> & {
  rows: Rows;
  verb: string; // as it was asked for the rows
  query: Query;
  parts: readonly Part[];
  name: (rows: Rows, row: Row) => string;
  prepare?: (rows: Rows) => Rows; // of both, before they are drawn
};

// How high the highest bar is.
const tallest = (series: readonly Series[]): number =>
  (series[0]?.values ?? []).reduce<number>((most, _, i) => Math.max(most, series.reduce((sum, part) => sum + Math.max(0, part.values[i] ?? 0), 0)), 0);

export function BothBars(props: Props) {
  const { rows: given, verb, query, parts, name, prepare, ...chart } = props;
  const { base } = useApp(), asked = useBaseRows(verb, query), rows = prepare ? prepare(given) : given, before = asked && prepare ? prepare(asked) : asked;
  const here = stackOf(rows, parts), there = before ? stackOf(before, parts) : [];
  const bars = (of: Rows, series: Series[], other: Series[]) => ({ unit: "ns", categories: of.all.map((row) => name(of, row)), series, most: tallest(other) });
  return (
    <>
      <StackedBars {...chart} {...bars(rows, here, there)} />
      {before && base && before.all.length > 0 ? <StackedBars title={`The same of ${base.name}`} of={prepare ? "baseline, same scale" : "baseline, same scale; of as many steps as are chosen there"} {...bars(before, there, here)} /> : null}
    </>
  );
}
