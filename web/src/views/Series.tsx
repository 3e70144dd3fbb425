// SPDX-License-Identifier: Apache-2.0
// A measure over time, one line per stream or kind, of one rank: queue length and bandwidth share it.
import { useMemo } from "preact/hooks";
import { SERIES } from "../ui/colors";
import { Lines } from "../ui/charts";
import { useApp } from "../app/context";
import { Ask, Switch } from "../app/parts";
import { go, linkTo, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { rankList } from "./ranks";

const POINTS = 200000;

export interface SeriesProps {
  verb: string;
  column: string;
  title: string;
  says: string;
  unit: string;
  lineOf: (rows: Rows, row: Row) => string;
}

function lines(rows: Rows, props: SeriesProps) {
  const found = new Map<string, [number, number][]>();
  for (const row of rows.all) {
    const name = props.lineOf(rows, row);
    let points = found.get(name);
    if (!points) found.set(name, (points = []));
    points.push([rows.number(row, "ts_ns") ?? 0, rows.number(row, props.column) ?? 0]);
  }
  return [...found].map(([name, points], i) => ({
    name,
    points,
    stepped: true,
    color: SERIES[i % SERIES.length] ?? "var(--compute)",
  }));
}

function Drawn(props: { rows: Rows; given: SeriesProps; rank: string }) {
  const { route } = useApp();
  const { given, rank } = props;
  const series = useMemo(() => lines(props.rows, given), [props.rows]);
  return (
    <Lines
      title={given.title}
      of={`${given.says}, rank ${rank}; drag to open that time in the timeline`}
      series={series}
      xUnit="ns"
      yUnit={given.unit}
      height={240}
      onRange={(from, to) =>
        go(linkTo(route, "timeline", { rank, from: String(Math.floor(from)), to: String(Math.ceil(to)) }))
      }
    />
  );
}

export function Series(props: SeriesProps) {
  const { route, run } = useApp();
  const ranks = rankList(run);
  const one =
    route.query.rank && /^\d+$/.test(route.query.rank) ? route.query.rank : (route.query.of ?? String(ranks[0] ?? 0));
  return (
    <section class="block chart">
      {ranks.length > 1 && ranks.length <= 32 && !route.query.rank ? (
        <Switch
          label="rank:"
          value={one}
          options={ranks.map((rank) => ({ value: String(rank), label: String(rank) }))}
          onChange={(value) => go(linkWith(route, { of: value }))}
        />
      ) : null}
      <Ask verb={props.verb} query={{ view: "series", rank: one, top: POINTS }}>
        {(rows) => (
          <>
            <Drawn rows={rows} given={props} rank={one} />
            {rows.table.hidden > 0 ? <p class="notes">The last {rows.table.hidden} changes are not drawn.</p> : null}
          </>
        )}
      </Ask>
    </section>
  );
}
