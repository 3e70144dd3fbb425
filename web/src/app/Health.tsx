// SPDX-License-Identifier: Apache-2.0
// Whether the run can be trusted: the dot at the top, and behind it the notes of `health`, the files with how far
// they are read, their errors, and the button that looks for new files.
import { useState } from "preact/hooks";
import type { FileState, Run } from "../model";
import { human } from "../ui/format";
import { rescan } from "./api";
import { useApp } from "./context";
import { Popover } from "./Popover";
import { filesOf, isReading, usePace } from "./progress";
import { linkTo } from "./route";

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

// Data that was lost, steps or ranks that are missing: named where the results are, not behind a dot.
export function LostStrip() {
  const { route, run } = useApp();
  const [first, ...rest] = run.health.notes;
  if (run.health.level !== "lost" || !first || !isShown(run)) return null;
  return (
    <div class="strip failed lost" role="status">
      <strong>Data is missing.</strong> {first}{" "}
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

// Files that failed are never silent.
export function FailedStrip() {
  const { run } = useApp();
  const failed = filesOf(run).filter((file) => file.state === "failed");
  if (failed.length === 0 || !isShown(run)) return null;
  return (
    <details class="strip failed" role="alert">
      <summary>
        {failed.length === 1 ? "1 file" : `${failed.length} files`} of {filesOf(run).length} could not be read
      </summary>
      <ul class="files">
        {failed.map((file) => (
          <FileLine key={file.path} file={file} />
        ))}
      </ul>
    </details>
  );
}
