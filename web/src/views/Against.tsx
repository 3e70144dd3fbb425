// SPDX-License-Identifier: Apache-2.0
// The run against the one that it is compared with: the engine's verdict, and step, host, GPU and communication time of
// both with the interval of their difference.
import { useApp } from "../app/context";
import { Head, TOP } from "../app/Head";
import { Ask } from "../app/parts";
import { linkTo } from "../app/route";
import { became, changeWord, metricWord, signed } from "./changes";
import { deviceWord } from "./ranks";

export function DiffFigures() {
  const { run } = useApp();
  return (
    <Ask verb="diff" query={{ view: "summary", top: TOP }}>
      {(rows) => (
        <div class="figures left">
          {rows.all.map((row) => {
            const metric = rows.text(row, "metric"), { text, tone, interval } = changeWord(rows, row);
            return (
              <div class="figure" key={metric} title={interval ? `95 % interval ${interval}` : undefined}>
                <span class="figure-label">{metricWord(metric, deviceWord(run))}</span>
                <span class={`figure-value ${tone}`}>{signed(rows, row, "diff_ns")}</span>
                <span class="figure-note">
                  {text}: {became(rows, row)}
                </span>
                {interval ? <span class="figure-note">95 % interval {interval}</span> : null}
              </div>
            );
          })}
        </div>
      )}
    </Ask>
  );
}

// On other views, where a run to compare with is chosen.
export function Against() {
  const { route, base } = useApp();
  if (!base) return null;
  return (
    <section class="against" aria-label={`Against ${base.name}`}>
      <Head
        title={`Against ${base.name}`}
        level={2}
        verb="diff"
        query={{ view: "summary" }}
        lead={<a href={linkTo(route, "diff")}>What changed →</a>}
      />
      <DiffFigures />
    </section>
  );
}
