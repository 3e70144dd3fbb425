// SPDX-License-Identifier: Apache-2.0
// Why an event is on the critical path: for how long, what it depends on, what the path was in before it and where it goes on.
import { useTable } from "../app/hooks";
import { Rows } from "../app/rows";
import type { Run } from "../model";
import { human, nsText, shortName } from "../ui/format";
import { BOUND_WORDS } from "../views/stacks";
import type { Path, Piece } from "./path";

const boundWord = (bound: string): string => BOUND_WORDS.find(([word]) => word === bound)?.[1] ?? bound.replace(/_/g, " ");

function because(piece: Piece): string {
  if (piece.type.endsWith("launch_delay")) return "It began late: all that it waits for was over, and its launch was still on its way.";
  if (piece.type.endsWith("kernel_delay")) return "It began late: between it and the activity that it waits for nothing ran.";
  switch (piece.bound) {
    case "gpu_compute_bound": return "What comes after waits for it: the device computes, and the step cannot go on before it is over.";
    case "gpu_memory_bound": return "What comes after waits for this copy.";
    case "gpu_communication_bound": return "What comes after waits for this communication, from when the last rank has come.";
    case "data_loading": return "The step waits for data.";
    case "cpu_bound": return "The device has nothing to do that the step waits for: what it is to do next is launched by what the CPU does here.";
    default: return "What comes after waits for it.";
  }
}

// What the path was in before an event, or is in after it: all of the next event that it stays in, late start and all.
interface Stay { piece: Piece; ns: number }

function stayFrom(path: Path, at: number, way: 1 | -1, event: string): Stay | null {
  let i = at;
  while (path.pieces[i]?.event === event) i += way;
  const piece = path.pieces[i];
  if (!piece) return null;
  let ns = 0;
  for (let k = i; path.pieces[k] && path.pieces[k]?.event === piece.event && path.pieces[k]?.instance === piece.instance; k += way)
    ns += (path.pieces[k]?.end ?? 0) - (path.pieces[k]?.start ?? 0);
  return { piece, ns };
}

function Step(props: { stay: Stay | null; word: string; here: Piece; onEvent: (id: string) => void }) {
  const { stay, here } = props;
  if (!stay) return null;
  const { piece, ns } = stay;
  const away = piece.rank !== here.rank ? ` on rank ${piece.rank}` : "", other = piece.step !== here.step ? ` of step ${piece.step}` : "";
  return (
    <p>
      <span class="dim">{props.word}</span>{" "}
      {piece.event ? (
        <button type="button" class="tl-plain tl-link" title={piece.name} onClick={() => props.onEvent(piece.event ?? "")}>{shortName(piece.name || piece.event, 44)}</button>
      ) : "unattributed time"}
      {`${away}${other}, ${nsText(ns)}`}
    </p>
  );
}

// Of a collective: who came last, and what that rank had been doing.
function Last(props: { run: Run; state: Readonly<Record<string, string>>; piece: Piece }) {
  const { piece, state } = props;
  const { table } = useTable(props.run, "critical-path", { view: "collectives", span: state.span, step: state.step, where: `ts_ns <= ${piece.start + 1000} and ts_ns >= ${piece.start - 1000}`, top: 1 });
  const rows = table ? new Rows(table) : null, row = rows?.all[0];
  if (!rows || !row) return null;
  const rank = rows.text(row, "last_rank"), wait = rows.number(row, "wait_ns"), doing = rows.text(row, "waited_for");
  if (!rank || !wait) return null;
  return (
    <p>
      Rank {rank} came last, {nsText(wait)} after the first.{" "}
      {doing ? `Meanwhile it was in ${shortName(doing, 60)} for ${nsText(rows.number(row, "waited_for_ns") ?? 0)} (${boundWord(rows.text(row, "waited_for_bound"))}).` : ""}
    </p>
  );
}

// A name as an expression of what-if rules: what has a meaning in them, or in an expression, may be any character.
export const exactly = (name: string): string => `^${name.replace(/[^\p{L}\p{N}_:]/gu, ".")}$`;

// Below this share of a step nothing is gained.
const LEAST_SHARE = 0.001;

// What the job would be without all calls of it: every start is computed anew, so what takes its place on the path is not saved. A collective goes on all ranks.
function Saved(props: { run: Run; state: Readonly<Record<string, string>>; piece: Piece }) {
  const { piece, run, state } = props, everywhere = piece.bound === "gpu_communication_bound" || run.workers.length < 2;
  const rule = piece.name ? `${exactly(piece.name)}${everywhere ? "" : `@rank:${piece.rank}`}=remove` : null;
  const { table, problem } = useTable(run, rule ? "what-if" : null, { span: state.span, step: state.step, scale: rule ?? undefined, top: 1 });
  const rows = table ? new Rows(table) : null, row = rows?.all[0];
  if (!rule || problem) return null;
  if (!rows || !row) return <p class="dim">Computing the step without it …</p>;
  const saved = rows.number(row, "saved_ns"), share = rows.number(row, "saved_share"), next = rows.number(row, "new_mean_step_time_ns");
  if (saved === null || next === null) return null;
  const calls = `all calls of it${everywhere ? (run.workers.length < 2 ? "" : " on all ranks") : ` on rank ${piece.rank}`}`;
  return (
    <p class="tl-saved">
      {saved > 0 && (share ?? 0) >= LEAST_SHARE
        ? <><strong>Without {calls} a step would be {nsText(saved)} ({human(share, { type: "ratio", unit: null })}) shorter.</strong> The job is replayed: what would be waited for instead is in that.</>
        : `Without ${calls} a step would take as long: something else would be waited for instead.`}
    </p>
  );
}

export function Why(props: { run: Run; state: Readonly<Record<string, string>>; path: Path; event: string; onEvent: (id: string) => void }) {
  const { path } = props, at = path.of.get(props.event) ?? [];
  const longest = at.reduce<number | null>((best, i) => {
    const length = (k: number) => (path.pieces[k]?.end ?? 0) - (path.pieces[k]?.start ?? 0);
    return best === null || length(i) > length(best) ? i : best;
  }, null);
  const piece = longest === null ? undefined : path.pieces[longest];
  if (longest === null || !piece) return <section class="tl-why" aria-label="Critical path"><h2>Critical path</h2><p class="dim">It is not on it: were it shorter, the step would take as long{path.hidden > 0 ? `. Of the path the ${path.pieces.length} longest pieces are known here, ${path.hidden} are not` : ""}.</p></section>;
  const sum = at.reduce((all, i) => all + (path.pieces[i]?.end ?? 0) - (path.pieces[i]?.start ?? 0), 0);
  const before = stayFrom(path, longest, -1, props.event), after = stayFrom(path, longest, 1, props.event);
  const jumped = before !== null && before.piece.rank !== piece.rank && before.piece.instance === piece.instance;
  const late = at.reduce((all, i) => all + (path.pieces[i]?.type.endsWith("_delay") ? (path.pieces[i]?.end ?? 0) - (path.pieces[i]?.start ?? 0) : 0), 0);
  return (
    <section class="tl-why" aria-label="Critical path">
      <h2>On the critical path</h2>
      <p>
        {nsText(sum)}{piece.step ? ` of step ${piece.step}` : ""}, {boundWord(piece.bound)}. {because(piece)}
        {late > 0 && !piece.type.endsWith("_delay") ? ` ${nsText(late)} of it pass before it begins.` : ""}
        {jumped ? ` The path comes from rank ${before.piece.rank}: it came last, and the others could not go on before.` : ""}
        {piece.inferred ? " That it is waited for is inferred: the trace has no record of it." : ""}
      </p>
      {piece.bound === "gpu_communication_bound" ? <Last run={props.run} state={props.state} piece={piece} /> : null}
      <Saved run={props.run} state={props.state} piece={piece} />
      <Step stay={before} word="before it" here={piece} onEvent={props.onEvent} />
      <Step stay={after} word="after it" here={piece} onEvent={props.onEvent} />
    </section>
  );
}
