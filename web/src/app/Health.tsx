// SPDX-License-Identifier: Apache-2.0
// Whether the run can be trusted: the dot at the top, and behind it the notes of `health`, the files with how far
// they are read, their errors, and the button that looks for new files.
import { useMemo, useState } from "preact/hooks";
import type { FileState, Run } from "../model";
import { human } from "../ui/format";
import { rescan } from "./api";
import { useApp } from "./context";
import { capital } from "./findings";
import { useTable } from "./hooks";
import { Popover } from "./Popover";
import { filesOf, isReading, usePace } from "./progress";
import { formatRanges } from "./ranges";
import { linkTo } from "./route";
import { Rows } from "./rows";

const LEVEL_WORD = { good: "good", notes: "notes", lost: "data lost", unknown: "reading" } as const;

export function healthWords(run: Run): string {
  const failed = filesOf(run).filter((file) => file.state === "failed").length;
  if (failed > 0) return failed === 1 ? "1 file failed" : `${failed} files failed`;
  const n = run.health.notes.length;
  if (run.state === "loading" || run.state === "waiting") return "reading";
  if (n === 0) return LEVEL_WORD[run.health.level];
  return n === 1 ? "1 note" : `${n} notes`;
}

export function healthLevel(run: Run): string {
  return filesOf(run).some((file) => file.state === "failed") ? "lost" : run.health.level;
}

const bytes = (n: number) => human(n, { type: "bytes", unit: "bytes" });

export function FileLine(props: { file: FileState }) {
  const { file } = props;
  return (
    <li class={`file ${file.state}`}>
      <span class="file-name" title={file.path}>
        {file.path}
      </span>
      <span class="file-size">
        {file.state === "loading"
          ? `${bytes(file.done)} of ${bytes(file.bytes)}`
          : file.state === "waiting"
            ? "waiting"
            : bytes(file.bytes)}
      </span>
      {file.state === "loading" ? (
        <progress value={file.done} max={file.bytes || 1} aria-label={`reading ${file.path}`} />
      ) : null}
      {file.error ? (
        <p class="file-error" role="alert">
          {file.error}
        </p>
      ) : null}
    </li>
  );
}

export function Rescan() {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState("");
  const look = () => {
    setBusy(true);
    rescan()
      .then(
        () => setFailed(""),
        (error: Error) => setFailed(error.message),
      )
      .finally(() => setBusy(false));
  };
  return (
    <span class="rescan">
      <button type="button" class="pill" disabled={busy} onClick={look}>
        {busy ? "Looking …" : "Look for new files"}
      </button>
      {failed ? <span class="file-error">{failed}</span> : null}
    </span>
  );
}

export function HealthDot() {
  const { route, run } = useApp();
  const files = filesOf(run);
  return (
    <Popover
      class="health right"
      title="What could not be read, and the files"
      label={
        <>
          <span class={`dot ${healthLevel(run)}`} aria-hidden="true" />
          health: {healthWords(run)}
        </>
      }
    >
      {(close) => (
        <>
          {run.health.notes.length > 0 ? (
            <ul class="notes">
              {run.health.notes.map((note, i) => (
                <li key={i}>{note}</li>
              ))}
            </ul>
          ) : (
            <p>{run.health.level === "good" ? "Everything was read as written." : "No notes so far."}</p>
          )}
          <p>
            <a href={linkTo(route, "analysis", {}, "health")} onClick={close}>
              All checks of this run →
            </a>
          </p>
          <h3>
            Files <span class="method">{files.length}</span>
          </h3>
          <ul class="files">
            {files.slice(0, 400).map((file) => (
              <FileLine key={file.path} file={file} />
            ))}
          </ul>
          <Rescan />
        </>
      )}
    </Popover>
  );
}

// Is anything of the run read? Until then the page lists the files itself.
export function isShown(run: Run): boolean {
  return run.workers.some((worker) => worker.rank !== null);
}

// While files are read: which, and how far. What is there already is shown below it.
export function LoadingStrip() {
  const { run } = useApp();
  const files = filesOf(run), pace = usePace(run);
  const open = files.filter(isReading);
  if (open.length === 0 || !isShown(run)) return null;
  const now = open.find((file) => file.state === "loading") ?? open[0];
  return (
    <div class="strip" role="status">
      <span class="spin" aria-hidden="true" />
      Reading{" "}
      {now ? (
        <>
          {now.path} ({bytes(now.done)} of {bytes(now.bytes)})
        </>
      ) : null}{" "}
      · {files.length - open.length} of {files.length} files are shown{pace ? ` · ${pace}` : ""}
    </div>
  );
}

// What was lost, and of which ranks: "the file ends in the middle", rank 1.
function useLost(): { sentence: string; ranks: number[] }[] {
  const { run, route } = useApp();
  const where = 'severity == "data loss" or severity == "severe"';
  const { table } = useTable(run, run.health.level === "lost" && isShown(run) ? "health" : null, { span: route.query.span, where, top: "all" });
  return useMemo(() => {
    const rows = table ? new Rows(table) : null, said = new Map<string, Set<number>>();
    for (const row of rows?.all ?? []) {
      const sentence = rows?.text(row, "sentence") ?? "", rank = rows?.number(row, "rank") ?? null, ranks = said.get(sentence) ?? new Set();
      if (rank !== null) ranks.add(rank);
      said.set(sentence, ranks);
    }
    return [...said].map(([sentence, ranks]) => ({ sentence, ranks: [...ranks] }));
  }, [table]);
}

const NAMED = 3;

// The files of some ranks, the first by name.
function fileNames(run: Run, ranks: readonly number[]): string {
  const names = run.workers.filter((worker) => worker.rank !== null && ranks.includes(worker.rank)).flatMap((worker) => worker.files.map((file) => file.path));
  return names.slice(0, NAMED).join(", ") + (names.length > NAMED ? " …" : "");
}

const ranksText = (ranks: readonly number[]): string => `${ranks.length === 1 ? "rank" : "ranks"} ${formatRanges(ranks)}`;

// Data that was lost: named where the results are, not behind a dot.
export function LostStrip() {
  const { route, run } = useApp();
  const lost = useLost(), rest = run.health.notes.filter((note) => !lost.some((one) => one.sentence === note));
  if (run.health.level !== "lost" || run.health.notes.length === 0 || !isShown(run)) return null;
  return (
    <div class="strip failed lost" role="status">
      <strong>Data is missing.</strong>{" "}
      {lost.map(({ sentence, ranks }) => `${capital(sentence)}${ranks.length > 0 ? `: ${ranksText(ranks)}, ${fileNames(run, ranks)}` : ""}. `)}
      {rest.length > 0 ? (
        <details>
          <summary>{rest.length} more</summary>
          <ul>
            {rest.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </details>
      ) : null}
      <a href={linkTo(route, "analysis", {}, "health")}>All checks →</a>
    </div>
  );
}

// Checks of health that say that a part of the job is not there, and what that part is.
const PARTIAL = ["missing_ranks", "missing_steps", "collective_mismatch"];

export interface Partial {
  check: string;
  sentence: string;
  weakens: string;
}

// Ranks whose traces are not here, steps that no rank has, and steps in which ranks lack calls of others.
export function usePartial(): readonly Partial[] {
  const { run, route } = useApp();
  const where = PARTIAL.map((check) => `check == "${check}"`).join(" or ");
  const known = run.health.level === "notes" || run.health.level === "lost";
  const { table } = useTable(run, known && isShown(run) ? "health" : null, { span: route.query.span, where, top: "all" });
  return useMemo(() => {
    if (!table) return [];
    const rows = new Rows(table), said = new Map<string, Partial>();
    for (const row of rows.all) said.set(rows.text(row, "check"), { check: rows.text(row, "check"), sentence: rows.text(row, "sentence"), weakens: rows.text(row, "weakens") });
    return [...said.values()];
  }, [table]);
}

const MOST_RANKS = 1e5; // of a job: a file may say anything

// Ranks below the highest that are not here.
export function absentRanks(run: Run): number[] {
  const here = new Set(run.workers.map((worker) => worker.rank)), highest = [...here].reduce<number>((most, rank) => Math.max(most, rank ?? -1), -1);
  return highest > MOST_RANKS ? [] : Array.from({ length: highest + 1 }, (_, rank) => rank).filter((rank) => !here.has(rank));
}

// Ranks or steps that are missing: which, and what to read with care.
export function PartialStrip() {
  const { route, run } = useApp();
  const partial = usePartial(), absent = partial.some((one) => one.check === "missing_ranks") ? absentRanks(run) : [];
  if (partial.length === 0) return null;
  return (
    <div class="strip failed lost partial" role="status">
      <strong>{partial.map((one) => capital(one.sentence)).join("; ")}.</strong>{" "}
      {absent.length > 0 ? `Not here: ${ranksText(absent)}. ` : ""}
      {run.health.notes.filter((note) => !partial.some((one) => one.sentence === note)).map((note) => `${capital(note)}. `)}
      Read with care: {partial.map((one) => one.weakens).join("; ")}. <a href={linkTo(route, "analysis", {}, "health")}>All checks →</a>
    </div>
  );
}

// Files that failed are never silent.
export function FailedStrip() {
  const { run } = useApp();
  const failed = filesOf(run).filter((file) => file.state === "failed");
  if (failed.length === 0 || !isShown(run)) return null;
  return (
    <div class="strip failed" role="alert">
      <details>
        <summary>
          {failed.length === 1 ? "1 file" : `${failed.length} files`} of {filesOf(run).length} could not be read:{" "}
          {failed.slice(0, NAMED).map((file) => file.path).join(", ")}
          {failed.length > NAMED ? " …" : ""}
        </summary>
        <ul class="files">
          {failed.map((file) => (
            <FileLine key={file.path} file={file} />
          ))}
        </ul>
      </details>
    </div>
  );
}
