// SPDX-License-Identifier: Apache-2.0
// The client of the HTTP interface: relative URLs, one place for errors, tables kept while their run's
// generation lasts. Nothing here knows a view.
import type { Analyses, History, Problem, Run, Runs, Table } from "../model";

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

// What went wrong, as the server says it. status 0: the server cannot be reached.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.error);
  }
}

const KEPT_TABLES = 80;
const RETRIES_WHEN_BUSY = 6;

function problemOf(error: string, hint: string | null = null): Problem {
  return { error, file: null, offset: null, hint };
}

function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && typeof (value as Problem).error === "string";
}

export function queryText(query: Query): string {
  const out = new URLSearchParams();
  for (const name of Object.keys(query).sort()) {
    const value = query[name];
    if (value !== null && value !== undefined && value !== "") out.set(name, String(value));
  }
  const text = out.toString();
  return text ? "?" + text : "";
}

async function problemIn(response: Response): Promise<Problem> {
  try {
    const body: unknown = await response.json();
    if (isProblem(body)) return body;
  } catch {
    // not JSON: the status line must do
  }
  return problemOf(`The server answered ${response.status} ${response.statusText}`);
}

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

async function ask(path: string, init: RequestInit): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    let response: Response;
    try {
      response = await fetch(path, { credentials: "same-origin", ...init });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new ApiError(0, problemOf("The server does not answer.", "Is holotrace serve still running?"));
    }
    if (response.ok) return response;
    const busy = response.status === 429 || response.status === 503;
    if (!busy || attempt >= RETRIES_WHEN_BUSY) throw new ApiError(response.status, await problemIn(response));
    await pause(200 * 2 ** attempt);
  }
}

// The JSON of a route; path is relative to the page: "api/v1/runs".
export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const response = await ask(path + queryText(query), signal ? { signal } : {});
  return (await response.json()) as T;
}

async function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const response = await ask(path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  return (text ? JSON.parse(text) : {}) as T;
}

// The path of something of a run; ids may hold slashes.
export function runPath(run: string, rest: string): string {
  return `api/v1/runs/${encodeURIComponent(run)}/${rest}`;
}

export const analyses = () => get<Analyses>("api/v1/analyses");
// The paths of the interface as this server describes it.
export async function routes(): Promise<string[]> {
  const described = await get<{ paths?: Record<string, unknown> }>("api/v1/openapi.json");
  return Object.keys(described.paths ?? {});
}

export const runs = (after?: number, signal?: AbortSignal) => get<Runs>("api/v1/runs", { after }, signal);
export const rescan = () => post<unknown>("api/v1/rescan", {});
export const sql = (run: string, query: string, span?: string) =>
  post<Table>(runPath(run, "sql") + queryText({ span }), { query });

const kept = new Map<string, Promise<Table>>();
let slowest = 0;

// How many ms the slowest of the last tables took.
export const slowestAnswer = (): number => slowest;

export type RunKey = Pick<Run, "id" | "generation">;

function keep(key: string, make: () => Promise<Table>): Promise<Table> {
  const found = kept.get(key);
  if (found) {
    kept.delete(key);
    kept.set(key, found);
    return found;
  }
  const made = make(), asked = performance.now();
  made.then(() => { slowest = Math.max(slowest * 0.8, performance.now() - asked); }, () => undefined);
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  for (const old of kept.keys()) {
    if (kept.size <= KEPT_TABLES) break;
    kept.delete(old);
  }
  return made;
}

// A verb's table. Asked once per generation of the run (and of the run it is compared with).
export function table(run: RunKey, verb: string, query: Query = {}, baseGeneration = 0): Promise<Table> {
  const path = runPath(run.id, `table/${encodeURIComponent(verb)}`);
  const key = `${run.generation}.${baseGeneration} ${path}${queryText(query)}`;
  return keep(key, () => get<Table>(path, query));
}

const historyPath = (id: string) => `api/v1/histories/${encodeURIComponent(id)}`;

// A table of a store of many runs. Asked once per generation of the file.
export function historyTable(store: History, query: Query): Promise<Table> {
  const path = historyPath(store.id);
  return keep(`${store.generation} ${path}${queryText(query)}`, () => get<Table>(path, query));
}

export function historyUrl(id: string, query: Query, format: string): string {
  return historyPath(id) + queryText({ ...query, format, ...safeFor(format) });
}

// What a person downloads is opened in a spreadsheet, which must not compute what a trace says.
const safeFor = (format: string) => (format === "csv" ? { "safe-csv": "true" } : {});

export function tableUrl(run: string, verb: string, query: Query, format: string): string {
  return runPath(run, `table/${encodeURIComponent(verb)}`) + queryText({ ...query, format, ...safeFor(format) });
}
