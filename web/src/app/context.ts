// SPDX-License-Identifier: Apache-2.0
// What every view needs, handed down once: the run, what it is compared with, the registry and the route.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Analyses, Analysis, Run, Runs } from "../model";
import type { Query } from "./api";
import type { Route } from "./route";

export interface App {
  route: Route;
  run: Run;
  base: Run | null; // the run it is compared with
  runs: Runs;
  analyses: Analyses;
  routes: readonly string[]; // what this server can be asked
  serves: boolean; // the run has iterations of a serving engine
  hooked: boolean; // the run has hooks of PyTorch Lightning; known where its tab would be
}

const Context = createContext<App | null>(null);
export const AppProvider = Context.Provider;

export function useApp(): App {
  const app = useContext(Context);
  if (!app) throw new Error("no run is chosen");
  return app;
}

export function analysisOf(app: App, verb: string): Analysis | undefined {
  return app.analyses.analyses.find((analysis) => analysis.name === verb);
}

// What is chosen at the top, as options of a verb.
export function chosen(app: App, verb: string): Query {
  const { rank, step, span } = app.route.query;
  const sets = analysisOf(app, verb)?.n_sets ?? 1;
  return { rank, step, span, base: sets > 1 ? app.base?.id : undefined };
}
