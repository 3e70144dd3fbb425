// SPDX-License-Identifier: Apache-2.0
// The selected stretch of both runs: what takes more or less time in it, by name, the largest change first.
import type { Run, Sums } from "../model";
import { useAnswer } from "../app/answer";
import { Rows } from "../app/rows";
import { changeText, nsText, shortName } from "../ui/format";
import { askSums } from "./client";
import type { Range } from "./stage";

const MOST = 14;

export interface Changed { name: string; here: number; there: number }

// Sums of names of both; of a name that one lacks 0.
export function changesOf(here: Sums, there: Sums): Changed[] {
  const all = new Map<string, Changed>();
  const add = (sums: Sums, side: "here" | "there") => {
    const rows = new Rows(sums.names);
    for (const row of rows.all) {
      const name = rows.text(row, "name"), one = all.get(name) ?? { name, here: 0, there: 0 };
      one[side] += rows.number(row, "sum_ns") ?? 0;
      all.set(name, one);
    }
  };
  add(here, "here");
  add(there, "there");
  const size = (one: Changed) => Math.abs(one.here - one.there);
  return [...all.values()].filter((one) => size(one) > 0).sort((a, b) => size(b) - size(a));
}

export function Changes(props: { run: Run; base: Run; range: Range; shift: number; rank: string | undefined; span: string | undefined; onClear: () => void }) {
  const { run, base, range, shift, rank } = props, key = `${run.id} ${run.generation} ${base.id} ${base.generation} ${range.from} ${range.to} ${shift} ${rank ?? ""}`;
  const [both, problem] = useAnswer(key, (signal) => Promise.all([
    askSums(run, range.from, range.to, null, rank, props.span, signal), askSums(base, range.from - shift, range.to - shift, null, rank, undefined, signal),
  ]), 120);
  const rows = both ? changesOf(both[0], both[1]) : [];
  return (
    <aside class="tl-panel tl-below-panel" aria-label="The selection in both runs">
      <h2>In the selection, both <button type="button" class="tl-plain" onClick={props.onClear} aria-label="Clear the selection of both">✕</button></h2>
      {problem ? <p class="bad">{problem}</p> : !both ? <p class="dim">summing …</p> : (
        <table class="tl-sums">
          <caption>{run.name} against {base.name}, {nsText(range.to - range.from)} each; sums by name, all ranks and tracks that are shown</caption>
          <thead><tr><th scope="col">name</th>{["baseline", "this run", "change"].map((word) => <th key={word} scope="col" class="number">{word}</th>)}</tr></thead>
          <tbody>
            {rows.slice(0, MOST).map((one) => (
              <tr key={one.name}>
                <td title={one.name}>{shortName(one.name, 22)}</td><td class="number">{nsText(one.there)}</td><td class="number">{nsText(one.here)}</td>
                <td class={`number ${one.here > one.there ? "more" : "less"}`} title={`${one.here - one.there} ns`}>{changeText(one.here - one.there, { type: "duration", unit: "ns" })}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </aside>
  );
}
