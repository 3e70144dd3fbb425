// SPDX-License-Identifier: Apache-2.0
// Losses as training logs print them: an iteration and a loss in a line, each behind a word of its own.
import type { Cell, Column, Table } from "../model";

export interface Tags {
  iteration: string;
  loss: string;
}
export const DEFAULT_TAGS: Tags = { iteration: "iteration", loss: "loss:" };

export interface Log {
  name: string;
  text: string;
  tags: Tags;
  shown: boolean;
}

const INTEGER = /[-+]?\d+/;
const NUMBER = /[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/i;

function after(line: string, tag: string): string | null {
  const at = tag ? line.indexOf(tag) : -1;
  return at < 0 ? null : line.slice(at + tag.length);
}

// Loss by iteration: the first whole number behind the one word, and the number in the first word behind the other. Of lines that have
// both; the last line of an iteration counts.
export function lossesOf(text: string, tags: Tags): Map<number, number> {
  const out = new Map<number, number>();
  for (const line of text.split(/\r?\n/)) {
    const iteration = INTEGER.exec(after(line, tags.iteration) ?? "")?.[0];
    const loss = NUMBER.exec((after(line, tags.loss) ?? "").trimStart().split(/\s/)[0] ?? "")?.[0];
    if (iteration !== undefined && loss !== undefined) out.set(Number(iteration), Number(loss));
  }
  return out;
}

export type Difference = "normal" | "absolute" | "relative";

// At the iterations that both have, in their order.
export function differences(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>, kind: Difference): [number, number][] {
  const of = (one: number, two: number) => {
    if (kind === "normal") return two - one;
    const size = Math.abs(two - one);
    return kind === "absolute" ? size : one === 0 ? 0 : size / one;
  };
  return [...a].filter(([at]) => b.has(at)).map(([at, one]): [number, number] => [at, of(one, b.get(at) ?? 0)]).sort((x, y) => x[0] - y[0]);
}

// A name that none of the others has.
export function freeName(name: string, taken: readonly string[]): string {
  let free = name;
  for (let i = 1; taken.includes(free); i++) free = `${name} (${i})`;
  return free;
}

const column = (name: string, sentence: string, whole = false): Column => ({
  name, label: name, type: whole ? "int64" : "float64", unit: null, role: whole ? "key" : "measure", sentence,
});

// A row for each iteration that any of them has.
export function lossTable(logs: readonly { name: string; losses: ReadonlyMap<number, number> }[]): Table {
  const iterations = [...new Set(logs.flatMap((log) => [...log.losses.keys()]))].sort((a, b) => a - b);
  const rows: Cell[][] = iterations.map((at) => [at, ...logs.map((log) => log.losses.get(at) ?? null)]);
  const columns = [column("iteration", "iteration of the logs", true), ...logs.map((log) => column(log.name, `loss by ${log.name}`))];
  return { title: "Losses", method: "as the logs print them", columns, rows, notes: [], hidden: 0, bar: null };
}

export function differenceTable(a: string, b: string, kind: Difference, points: readonly [number, number][]): Table {
  const words = { normal: `${b} minus ${a}`, absolute: `distance of ${a} and ${b}`, relative: `distance of ${a} and ${b}, over ${a}` };
  const columns = [column("iteration", "iteration that both logs have", true), column("difference", words[kind])];
  return { title: "Difference of losses", method: words[kind], columns, rows: points.map(([at, value]) => [at, value]), notes: [], hidden: 0, bar: null };
}
