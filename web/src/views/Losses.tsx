// SPDX-License-Identifier: Apache-2.0
// Losses of training logs side by side, and the difference of two: whether a change for speed has changed what is learned. Logs are read by
// the browser alone; nothing is sent.
import { useMemo, useState } from "preact/hooks";
import { SERIES } from "../ui/colors";
import { Lines } from "../ui/charts";
import { DataTable } from "../ui/DataTable";
import { Head } from "../app/Head";
import { options, Switch } from "../app/parts";
import { DEFAULT_TAGS, differenceTable, differences, freeName, lossesOf, lossTable } from "./logs";
import type { Difference, Log, Tags } from "./logs";

const MOST_FILES = 6, MOST_BYTES = 50 * 1024 * 1024;

// They stay while the page is open, whatever view is looked at.
let kept: readonly Log[] = [];

function useLogs() {
  const [logs, setLogs] = useState(kept);
  const [problem, setProblem] = useState("");
  const set = (next: readonly Log[]) => setLogs((kept = next));
  const add = async (files: readonly File[]) => {
    const large = files.filter((file) => file.size > MOST_BYTES), fits = files.filter((file) => file.size <= MOST_BYTES);
    const next = [...kept], room = fits.slice(0, MOST_FILES - next.length);
    for (const file of room)
      next.push({ name: freeName(file.name, next.map((log) => log.name)), text: await file.text(), tags: DEFAULT_TAGS, shown: true });
    const left = fits.length - room.length;
    setProblem([
      large.length > 0 ? `Larger than 50 MiB, not read: ${large.map((file) => file.name).join(", ")}.` : "",
      left > 0 ? `At most ${MOST_FILES} logs: ${left} not read.` : "",
    ].filter(Boolean).join(" "));
    set(next);
  };
  return { logs, set, add, problem };
}

function LogRow(props: { log: Log; n: number; color: string; change: (change: Partial<Log>) => void; remove: () => void }) {
  const { log, change } = props;
  const tag = (name: keyof Tags, word: string) => (
    <label>
      <span class="dim">{word}</span>{" "}
      <input type="text" size={12} value={log.tags[name]} onChange={(event) => change({ tags: { ...log.tags, [name]: event.currentTarget.value } })} />
    </label>
  );
  return (
    <tr>
      <td>
        <label>
          <input type="checkbox" checked={log.shown} onChange={(event) => change({ shown: event.currentTarget.checked })} /> <i class="swatch" style={{ background: props.color }} /> {log.name}
        </label>
      </td>
      <td class="num">{props.n} iterations</td>
      <td>{tag("iteration", "iteration behind")}</td>
      <td>{tag("loss", "loss behind")}</td>
      <td>
        <button type="button" class="pill" aria-label={`Remove ${log.name}`} onClick={props.remove}>remove</button>
      </td>
    </tr>
  );
}

interface Read {
  name: string;
  color: string;
  losses: Map<number, number>;
}

function Compared(props: { logs: readonly Read[] }) {
  const [pair, setPair] = useState<[string, string]>(["", ""]);
  const [kind, setKind] = useState<Difference>("normal");
  const find = (name: string, other: number) => props.logs.find((log) => log.name === name) ?? props.logs[other];
  const a = find(pair[0], 0), b = find(pair[1], 1);
  if (!a || !b) return null;
  const points = differences(a.losses, b.losses, kind), table = differenceTable(a.name, b.name, kind, points);
  const choose = (which: 0 | 1, word: string, now: string) => (
    <label>
      <span class="dim">{word}</span>{" "}
      <select value={now} onChange={(event) => setPair(which === 0 ? [event.currentTarget.value, b.name] : [a.name, event.currentTarget.value])}>
        {props.logs.map((log) => <option key={log.name} value={log.name}>{log.name}</option>)}
      </select>
    </label>
  );
  return (
    <section class="block chart" aria-label="Difference of two logs">
      <div class="block-head">
        <h2>{table.title}</h2>
        <div class="block-tools">
          {choose(0, "baseline", a.name)}
          {choose(1, "against", b.name)}
          <Switch label="difference:" value={kind} options={options("normal", "absolute", "relative")} onChange={(value) => setKind(value as Difference)} />
        </div>
      </div>
      {points.length > 0 ? (
        <>
          <Lines title={table.method} of={`${points.length} iterations that both have`} xName="iteration" xUnit="count" yUnit="" fit series={[{ name: "difference", color: b.color, points: [...points] }]} />
          <DataTable table={table} height={300} search={points.length > 8} />
        </>
      ) : (
        <p class="dim">The two logs have no iteration in common.</p>
      )}
    </section>
  );
}

export function Losses() {
  const { logs, set, add, problem } = useLogs();
  const read: Read[] = useMemo(() => logs.map((log, i) => ({ name: log.name, color: SERIES[i % SERIES.length] ?? "", losses: lossesOf(log.text, log.tags) })), [logs]);
  const shown = read.filter((log, i) => logs[i]?.shown && log.losses.size > 0);
  return (
    <>
      <Head title="Losses" lead="Does a faster run still learn the same? Losses of training logs side by side. Logs are read here and sent nowhere." />
      <p>
        <label class="pick-file">
          Training logs (text, up to {MOST_FILES}){" "}
          <input type="file" multiple onChange={(event) => {
            void add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }} />
        </label>
      </p>
      {problem ? <p class="bad" role="status">{problem}</p> : null}
      {logs.length > 0 ? (
        <div class="scroll block">
          <table class="plain" aria-label="Logs">
            <tbody>
              {logs.map((log, i) => (
                <LogRow key={log.name} log={log} n={read[i]?.losses.size ?? 0} color={read[i]?.color ?? ""}
                  change={(change) => set(logs.map((one) => (one === log ? { ...one, ...change } : one)))}
                  remove={() => set(logs.filter((one) => one !== log))} />
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
      {shown.length > 0 ? (
        <section class="block chart">
          <Lines title="Loss by iteration" of="as the logs print it" xName="iteration" xUnit="count" yUnit="" fit series={shown.map((log) => ({ name: log.name, color: log.color, points: [...log.losses] }))} />
          <DataTable table={lossTable(shown)} height={300} search />
        </section>
      ) : null}
      {shown.length > 1 ? <Compared logs={shown} /> : null}
    </>
  );
}
