// SPDX-License-Identifier: Apache-2.0
// What views need of the server, as hooks: a table while its run grows, and the runs themselves.
import { useEffect, useState } from "preact/hooks";
import type { History, Problem, Runs, Table } from "../model";
import { ApiError, historyTable, runs as askRuns, table as askTable } from "./api";
import type { Query, RunKey } from "./api";
import { queryText } from "./api";

export interface Asked {
  table: Table | null; // the last good answer, also while the next is asked for
  problem: Problem | null;
  status: number; // of the problem
  busy: boolean;
}

interface Answered extends Asked {
  key: string | null;
  of: string; // the run, or whatever else it is asked of
}

const NOTHING: Answered = { table: null, problem: null, status: 0, busy: false, key: null, of: "" };

// What went wrong, of whatever was thrown.
export function problemOf(error: unknown): { problem: Problem; status: number } {
  if (error instanceof ApiError) return { problem: error.problem, status: error.status };
  const text = error instanceof Error ? error.message : String(error);
  return { problem: { error: text, file: null, offset: null, hint: null }, status: -1 };
}

const RETRY_MS = 2000;

// What a key stands for, asked again when the key changes; null: nothing is asked yet. An answer for another key replaces the
// table at once when it comes; until then the old one stays, marked busy, unless it is of another run.
function useAsked(key: string | null, of: string, ask: () => Promise<Table>): Asked {
  const [asked, setAsked] = useState(NOTHING);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (key === null) {
      setAsked(NOTHING);
      return;
    }
    let gone = false;
    let timer = 0;
    const fail = (error: unknown) => {
      if (gone) return;
      const failed = problemOf(error);
      setAsked({ table: null, busy: false, key, of, ...failed });
      // a server that is away may come back
      if (failed.status === 0) timer = window.setTimeout(() => setAttempt(attempt + 1), RETRY_MS);
    };
    setAsked((before) => ({ ...before, busy: true }));
    ask().then((table) => {
      if (!gone) setAsked({ table, problem: null, status: 0, busy: false, key, of });
    }, fail);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [key, attempt]);
  if (asked.key === key) return asked;
  return key === null ? NOTHING : { ...(asked.of === of ? asked : NOTHING), busy: true };
}

// verb null: nothing is asked yet.
export function useTable(run: RunKey, verb: string | null, query: Query = {}, baseGeneration = 0): Asked {
  const key = verb === null ? null : `${run.id} ${run.generation} ${baseGeneration} ${verb} ${queryText(query)}`;
  return useAsked(key, run.id, () => askTable(run, verb ?? "", query, baseGeneration));
}

// query null: nothing is asked yet.
export function useHistory(store: History, query: Query | null): Asked {
  const key = query && `${store.id} ${store.generation} ${queryText(query)}`;
  return useAsked(key, store.id, () => historyTable(store, query ?? {}));
}

export interface Watched {
  runs: Runs | null;
  problem: Problem | null;
  again: () => void;
}

// The runs, told again whenever the server has news.
export function useRuns(): Watched {
  const [runs, setRuns] = useState<Runs | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    const watch = async (after?: number) => {
      let next = after;
      try {
        const got = await askRuns(after, stop.signal);
        setRuns(got);
        setProblem(null);
        next = got.generation;
      } catch (error) {
        if (stop.signal.aborted) return;
        setProblem(problemOf(error).problem);
        await new Promise<void>((done) => {
          timer = window.setTimeout(done, RETRY_MS);
        });
        next = undefined; // the server may be another one by now
      }
      if (!stop.signal.aborted) void watch(next);
    };
    void watch();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [round]);
  return { runs, problem, again: () => setRound(round + 1) };
}
