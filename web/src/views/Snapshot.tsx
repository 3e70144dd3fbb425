// SPDX-License-Identifier: Apache-2.0
// A memory snapshot: what was found, live bytes over time by who allocated them with the peak marked, the blocks and the stack
// behind a band, and the map of addresses at a moment. Everything is memory-snapshot's.
import { useMemo } from "preact/hooks";
import type { TableFinding } from "../model";
import { human } from "../ui/format";
import { Areas, full, type Strip, Strips } from "../ui/charts";
import { useApp } from "../app/context";
import { conclusionOf, sentenceOf } from "../app/Head";
import { isNamed } from "../app/links";
import { Ask, options, Switch, UrlSwitch, VerbTable } from "../app/parts";
import { go, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { bandsOf, colorOf } from "./bands";

const VERB = "memory-snapshot";
const BYTES = { type: "bytes", unit: "bytes" } as const;

interface Place {
  rank: string;
  device: string;
}

const keyOf = (place: Place) => `${place.rank}.${place.device}`;
const isOf = (rows: Rows, place: Place) => (row: Row) =>
  rows.text(row, "rank") === place.rank && rows.text(row, "device") === place.device;

const BY = options("frame", "stack", "module", "annotation", "category", "pool", "size");
const TABLES = options("peak", "leaks", "oom", "fragmentation", "segments", "pools", "churn", "events");
const OVER = [
  { value: "time", label: "time" },
  { value: "event", label: "events" },
];

// Live bytes, the peak and the chosen moment marked. A click chooses a band and a moment, dragging a range.
function Live(props: { rows: Rows; place: Place; peak: Row; summary: Rows }) {
  const { route } = useApp();
  const { rows, place, summary } = props;
  const overEvents = route.query.over === "event";
  const drawn = useMemo(() => bandsOf(rows, isOf(rows, place), overEvents), [rows, keyOf(place), overEvents]);
  const at = drawn.events.indexOf(Number(route.query.at));
  const peakEvent = summary.number(props.peak, "peak_event");
  const peakAt = overEvents ? peakEvent : summary.number(props.peak, "peak_time_ns");
  const words = `peak ${human(summary.cell(props.peak, "peak_allocated_bytes"), BYTES)}`;
  return (
    <Areas
      title={`Live memory of rank ${place.rank}, device ${place.device}`}
      of="bytes that tensors hold, by who allocated them; each point is the maximum of its piece; click a band for its blocks, drag to zoom"
      note="The dashed line is what is reserved from the driver."
      actions={
        <>
          <UrlSwitch name="over" label="over:" options={OVER} />
          {route.query.range ? (
            <button type="button" class="pill" onClick={() => go(linkWith(route, { range: null }))}>
              show all
            </button>
          ) : null}
        </>
      }
      xs={drawn.xs}
      end={drawn.end}
      bands={[...drawn.bands].reverse()}
      above={{ name: "reserved", values: drawn.reserved }}
      moments={[
        ...(peakAt !== null ? [{ at: peakAt, name: words }] : []),
        ...(at >= 0 && drawn.events[at] !== peakEvent ? [{ at: drawn.xs[at] ?? 0, name: "chosen" }] : []),
      ]}
      xUnit={overEvents ? "count" : "ns"}
      yUnit="bytes"
      onPick={(band, point) =>
        go(
          linkWith(route, {
            key: drawn.bands[drawn.bands.length - 1 - band]?.name ?? null,
            at: String(drawn.events[point] ?? 0),
          }),
        )
      }
      onRange={(from, to) =>
        go(
          linkWith(route, {
            range: overEvents ? `${Math.floor(from)}:${Math.ceil(to)}` : `${Math.floor(from)}ns:${Math.ceil(to)}ns`,
          }),
        )
      }
    />
  );
}

// The user's own line first, then the frames from the innermost out.
function Stack(props: { rows: Rows; own: string }) {
  const frames = props.rows.text(props.rows.all[0] ?? [], "stack").split(";").filter(Boolean).reverse();
  if (frames.length === 0) return <p class="dim">No stack was recorded.</p>;
  return (
    <ol class="stack">
      {frames.includes(props.own) ? (
        <li>
          <b>{props.own}</b>
        </li>
      ) : null}
      {frames.map((frame, i) => (
        <li key={i} class="dim">
          {frame}
        </li>
      ))}
    </ol>
  );
}

function Picked(props: { place: Place; by: string; band: string; at: string }) {
  const { route } = useApp();
  const { place, by, band, at } = props;
  const where = `${isNamed("key", band)} and device == ${place.device} and state == "active_allocated"`;
  const query = { view: "blocks", by, at, rank: place.rank, where, sort: "-bytes" };
  return (
    <section class="block" data-picked={band}>
      <p class="filter-note">
        {band}, {/^[0-9]+$/.test(at) ? `after event ${at}` : `at ${at === "oom" ? "the out-of-memory error" : `the ${at}`}`}{" "}
        <button type="button" class="pill" onClick={() => go(linkWith(route, { key: null }))}>
          close
        </button>
      </p>
      <Ask verb={VERB} query={{ ...query, top: 1 }} brief>
        {(rows) => (
          <>
            <p class="dim">Stack of the largest block, the line of your own first:</p>
            <Stack rows={rows} own={by === "frame" ? band : ""} />
          </>
        )}
      </Ask>
      <VerbTable verb={VERB} query={query} title="Blocks" hide={["rank", "device", "key", "state", "stack"]} top={500} quiet />
    </section>
  );
}

// Pieces of segments. Of small ones that share a row what is held is drawn first, the rest is free.
function stripsOf(rows: Rows, order: readonly string[]): { strips: Strip[]; left: number } {
  const strips = new Map<string, Strip>();
  for (const row of rows.all) {
    const segment = rows.text(row, "segment");
    const pool = rows.text(row, "pool");
    const strip = strips.get(segment) ?? { name: pool === "default" ? segment : `${segment} pool ${pool}`, size: 0, pieces: [] };
    strips.set(segment, strip);
    const start = rows.number(row, "offset_bytes") ?? 0;
    const size = rows.number(row, "bytes") ?? 0;
    const held = rows.number(row, "held_bytes") ?? 0;
    const blocks = rows.number(row, "blocks") ?? 0;
    const key = rows.text(row, "key");
    if (held > 0)
      strip.pieces.push({
        start,
        size: held,
        color: rows.text(row, "state") === "active_pending_free" ? "var(--sync)" : colorOf(key, order),
        name: key,
        detail: [
          { name: "offset in the segment", value: full(start, "bytes") },
          blocks > 1 ? { name: "blocks", value: `${blocks}, the most held by this` } : { name: "state", value: rows.text(row, "state") },
        ],
      });
    if (size > held) strip.pieces.push({ start: start + held, size: size - held, color: null, name: "free" });
    strip.size = Math.max(strip.size, start + size);
  }
  const all = rows.number(rows.all[0] ?? [], "segments") ?? 0;
  return { strips: [...strips.values()], left: all - strips.size };
}

function AddressMap(props: { place: Place; by: string; at: string; order: readonly string[]; hasOom: boolean }) {
  const { route } = useApp();
  const { place, at } = props;
  const moments = [...options("peak", "end"), ...(props.hasOom ? options("oom") : [])];
  const tools = (
    <Switch
      label="at:"
      value={at}
      options={moments.some((one) => one.value === at) ? moments : [...moments, { value: at, label: `event ${at}` }]}
      onChange={(value) => go(linkWith(route, { at: value === "peak" ? null : value }))}
    />
  );
  return (
    <section class="block chart" data-map={at}>
      <Ask verb={VERB} query={{ view: "map", by: props.by, at, rank: place.rank, where: `device == ${place.device}`, points: 1000,
        columns: "segment,pool,offset_bytes,bytes,held_bytes,blocks,state,key,segments", top: "all" }} tools={tools}>
        {(rows) => {
          const { strips, left } = stripsOf(rows, props.order);
          return (
            <Strips
              title="Address map"
              of="each strip is a segment, as long as it is large; grey is free"
              note={left > 0 ? `The ${strips.length} largest segments; ${left} smaller ones are in the table of segments.` : undefined}
              actions={tools}
              strips={strips}
              unit="bytes"
              onPick={(strip, piece) => {
                const found = strips[strip]?.pieces[piece];
                if (found?.color) go(linkWith(route, { key: found.name, at }));
              }}
            />
          );
        }}
      </Ask>
    </section>
  );
}

// The way to the table that shows more of a finding.
export function ToTable(props: { finding: TableFinding }) {
  const { route } = useApp();
  const view = TABLES.find((one) => one.value === props.finding.next?.args.view)?.value;
  return view ? <a class="next" href={linkWith(route, { view })}>{view} →</a> : null;
}

// The view opens with the first finding (Memory.tsx).
export function Snapshot(props: { summary: Rows }) {
  const { route } = useApp();
  const { summary } = props;
  const head = conclusionOf(summary.table), others = (summary.table.findings ?? []).filter((finding) => finding !== head);
  const places = summary.all.map((row) => ({ rank: summary.text(row, "rank"), device: summary.text(row, "device"), row }));
  const place = places.find((one) => keyOf(one) === route.query.snapshot) ?? places[0];
  if (!place) return null;
  const by = BY.find((one) => one.value === route.query.by)?.value ?? "frame";
  const at = route.query.at ?? "peak";
  const table = TABLES.find((one) => one.value === route.query.view)?.value ?? "peak";
  return (
    <>
      {others.length > 0 ? (
        <section class="block" data-verb="memory-findings">
          {others.map((finding) => (
            <p key={finding.sentence} class="statement">
              {sentenceOf(finding)} <ToTable finding={finding} />
            </p>
          ))}
        </section>
      ) : null}
      <div class="block-tools">
        {places.length > 1 ? (
          <Switch
            label="snapshot:"
            value={keyOf(place)}
            options={places.slice(0, 64).map((one) => ({ value: keyOf(one), label: `rank ${one.rank}, device ${one.device}` }))}
            onChange={(value) => go(linkWith(route, { snapshot: value, key: null, at: null, range: null }))}
          />
        ) : null}
        <UrlSwitch name="by" label="by:" options={BY} />
      </div>
      <Ask verb={VERB} query={{ view: "timeline", by, rank: place.rank, points: 1000, bands: 8, range: route.query.range, top: "all" }}
        what="Replaying the allocator …">
        {(rows) => (
          <>
            <section class="block chart" data-verb="memory-live">
              <Live rows={rows} place={place} peak={place.row} summary={summary} />
            </section>
            {route.query.key ? <Picked place={place} by={by} band={route.query.key} at={at} /> : null}
            <AddressMap place={place} by={by} at={at} order={rows.distinct("key").map(String)} hasOom={summary.text(place.row, "oom_class") !== ""} />
          </>
        )}
      </Ask>
      <VerbTable url verb={VERB} query={{ view: table, by, rank: place.rank, ...(table === "peak" || table === "fragmentation" ? { at } : {}) }}
        tools={<UrlSwitch name="view" label="show:" options={TABLES} />} />
    </>
  );
}
