// SPDX-License-Identifier: Apache-2.0
// Which sequences of kernels an operator launches again and again: candidates for fusing.
import { useState } from "preact/hooks";
import { nsText, shortName } from "../ui/format";
import { useApp } from "../app/context";
import { Head } from "../app/Head";
import { Ask, VerbTable } from "../app/parts";
import { go, linkTo, linkWith } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { TopBars } from "./TopBars";

function Pattern(props: { pattern: string }) {
  return (
    <ol class="frames">
      {props.pattern.split("|").map((part, i) => (
        <li key={i} class="mono" title={part}>
          {shortName(part, 120)}
        </li>
      ))}
    </ol>
  );
}

function Find() {
  const { route } = useApp();
  const [text, setText] = useState(route.query.operator ?? "");
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        go(linkWith(route, { operator: text.trim() || null }));
      }}
    >
      <input
        type="search"
        aria-label="Operator"
        placeholder="operator contains …"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="pill">
        find
      </button>
    </form>
  );
}

// The sequence with most time on the device.
function mostWords(rows: Rows): string | null {
  const row = rows.all.reduce<Row | null>((a, b) => (a && (rows.number(a, "gpu_ns") ?? 0) >= (rows.number(b, "gpu_ns") ?? 0) ? a : b), null);
  return row ? `${shortName(rows.text(row, "operator"), 60)} launches the same ${rows.text(row, "kernels")} kernels ${rows.text(row, "count")} times, ${nsText(rows.number(row, "gpu_ns") ?? 0)} in all` : null;
}

export function Sequences() {
  const { route } = useApp();
  const [pattern, setPattern] = useState<string | null>(null);
  const query = { operator: route.query.operator, "min-length": route.query["min-length"] };
  return (
    <>
      <Head verb="kernel-sequences" query={query} say={mostWords}
        title="Kernel sequences"
        lead="Which sequences of kernels an operator launches again and again. Click on a row to see the sequence."
      >
        <Find />
      </Head>
      <section class="block chart">
        <Ask verb="kernel-sequences" query={query}>
          {(rows) => (
            <TopBars
              rows={rows}
              title="Sequences by device time"
              of="all occurrences; click to see the operator"
              column="gpu_ns"
              name={(row) =>
                `${rows.text(row, "operator")} · ${rows.text(row, "kernels")} kernels × ${rows.text(row, "count")}`
              }
              onClick={(row) => go(linkTo(route, "operators", { name: rows.text(row, "operator") }))}
            />
          )}
        </Ask>
      </section>
      <VerbTable
        url
        verb="kernel-sequences"
        query={query}
        onRow={(rows, row) => setPattern(rows.text(row, "pattern"))}
      />
      {pattern ? (
        <section class="block">
          <h2>The sequence</h2>
          <Pattern pattern={pattern} />
        </section>
      ) : null}
    </>
  );
}
