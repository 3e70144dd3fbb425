// SPDX-License-Identifier: Apache-2.0
// The run against the one that it is compared with: the engine's verdict, and step, host, GPU and communication time of
// both with the interval of their difference.
import { human } from "../ui/format";
import { useApp } from "../app/context";
import { Head, TOP } from "../app/Head";
import { Ask } from "../app/parts";
import { linkTo } from "../app/route";
import type { Row, Rows } from "../app/rows";
import { deviceWord } from "./ranks";

const METRIC_WORD: Readonly<Record<string, string>> = { step: "step time", host: "host span", comm: "communication" };

export function signed(rows: Rows, row: Row, name: string): string {
  const value = rows.number(row, name);
  const text = human(rows.cell(row, name), rows.column(name) ?? { type: "duration", unit: "ns" });
  return value !== null && value > 0 ? `+${text}` : text;
}

// The interval over steps decides; one that spans zero may be noise.
function word(rows: Rows, row: Row): { text: string; tone: string } {
  const low = rows.number(row, "low_ns");
  const high = rows.number(row, "high_ns");
  if (low === null || high === null) {
    const diff = rows.number(row, "diff_ns") ?? 0;
    return { text: `${diff > 0 ? "slower" : "faster"}, one step: no interval`, tone: diff > 0 ? "more" : "less" };
  }
  if (low > 0) return { text: "slower", tone: "more" };
  if (high < 0) return { text: "faster", tone: "less" };
  return { text: "within noise", tone: "dim" };
}

export function DiffFigures() {
  const { run } = useApp();
  return (
    <Ask verb="diff" query={{ view: "summary", top: TOP }}>
      {(rows) => (
        <div class="figures left">
          {rows.all.map((row) => {
            const metric = rows.text(row, "metric");
            const { text, tone } = word(rows, row);
            const interval = `${signed(rows, row, "low_ns")} to ${signed(rows, row, "high_ns")}`;
            const known = rows.number(row, "low_ns") !== null;
            return (
              <div class="figure" key={metric} title={known ? `95 % interval ${interval}` : undefined}>
                <span class="figure-label">{METRIC_WORD[metric] ?? `${deviceWord(run)} time`}</span>
                <span class={`figure-value ${tone}`}>{signed(rows, row, "diff_ns")}</span>
                <span class="figure-note">
                  {text}: {human(rows.cell(row, "control_ns"), { type: "duration", unit: "ns" })} →{" "}
                  {human(rows.cell(row, "test_ns"), { type: "duration", unit: "ns" })} (
                  {signed(rows, row, "change_share")})
                </span>
                {known ? <span class="figure-note">95 % interval {interval}</span> : null}
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
