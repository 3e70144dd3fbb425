// SPDX-License-Identifier: Apache-2.0
// The places at the left with the views that are their tabs, in their order. A view's id is its place in the URL,
// whatever tab it is. A new analysis needs no entry here: it has its page below All analyses.
import type { FunctionComponent } from "preact";
import type { App } from "../app/context";
import { Analyses } from "./Analyses";
import { AnalysisPage } from "./AnalysisPage";
import { Annotations } from "./Annotations";
import { Bandwidth } from "./Bandwidth";
import { Communication } from "./Communication";
import { Counters } from "./Counters";
import { CriticalPath } from "./CriticalPath";
import { Diff } from "./Diff";
import { Distributed } from "./Distributed";
import { Efficiency } from "./Efficiency";
import { FlameGraph } from "./FlameGraph";
import { History, historyIsThere } from "./History";
import { Idle } from "./Idle";
import { Iterations, servingIsThere } from "./Iterations";
import { Kernels } from "./Kernels";
import { KernelTypes } from "./KernelTypes";
import { Launch } from "./Launch";
import { hooksAreThere, Lightning } from "./Lightning";
import { Losses } from "./Losses";
import { Memory } from "./Memory";
import { Modules } from "./Modules";
import { Operators } from "./Operators";
import { Overlap } from "./Overlap";
import { Overview } from "./Overview";
import { Queue } from "./Queue";
import { Ranks } from "./RanksView";
import { Sequences } from "./Sequences";
import { Sql, sqlIsThere } from "./Sql";
import { Stragglers } from "./Stragglers";
import { Temporal } from "./Temporal";
import { TimelineView } from "./TimelineView";

export interface View {
  id: string;
  title: string; // of its tab
  component: FunctionComponent;
  hidden?: true; // reached by links only
  there?: (app: App) => boolean; // absent: always
  untraced?: true; // needs nothing of the run
}

// An entry at the left: what belongs together, as tabs. It opens with the first of them.
export interface Place {
  title: string;
  key: string;
  views: readonly View[];
}

export const PLACES: readonly Place[] = [
  {
    title: "Overview",
    key: "1",
    views: [
      { id: "overview", title: "Verdict", component: Overview },
      { id: "temporal", title: "Device time", component: Temporal },
      { id: "idle", title: "Idle time", component: Idle },
      { id: "critical-path", title: "Critical path", component: CriticalPath },
      { id: "iterations", title: "Serving", component: Iterations, there: servingIsThere },
    ],
  },
  { title: "Timeline", key: "2", views: [{ id: "timeline", title: "Timeline", component: TimelineView }] },
  {
    title: "Kernels & operators",
    key: "3",
    views: [
      { id: "kernels", title: "Kernels", component: Kernels },
      { id: "operators", title: "Operators", component: Operators },
      { id: "kernel-types", title: "Kernel types", component: KernelTypes },
      { id: "efficiency", title: "Efficiency", component: Efficiency },
      { id: "launch", title: "Launches", component: Launch },
      { id: "queue", title: "Queue length", component: Queue },
      { id: "sequences", title: "Kernel sequences", component: Sequences },
      { id: "counters", title: "Counters", component: Counters },
    ],
  },
  {
    title: "Modules & code",
    key: "4",
    views: [
      { id: "modules", title: "Modules", component: Modules },
      { id: "flame", title: "Flame graph", component: FlameGraph },
      { id: "annotations", title: "Annotations", component: Annotations },
      { id: "lightning", title: "Lightning hooks", component: Lightning, there: hooksAreThere },
    ],
  },
  {
    title: "Memory",
    key: "5",
    views: [
      { id: "memory", title: "Memory", component: Memory },
      { id: "bandwidth", title: "Copy bandwidth", component: Bandwidth },
    ],
  },
  {
    title: "Ranks & communication",
    key: "6",
    views: [
      { id: "ranks", title: "Ranks", component: Ranks },
      { id: "stragglers", title: "Stragglers", component: Stragglers },
      { id: "distributed", title: "Steps of ranks", component: Distributed },
      { id: "communication", title: "Collectives", component: Communication },
      { id: "overlap", title: "Overlap", component: Overlap },
    ],
  },
  {
    title: "Compare",
    key: "7",
    views: [
      { id: "diff", title: "What changed", component: Diff },
      { id: "losses", title: "Losses", component: Losses, untraced: true },
      { id: "history", title: "History of runs", component: History, there: historyIsThere, untraced: true },
    ],
  },
  {
    title: "Explore",
    key: "8",
    views: [
      { id: "analyses", title: "All analyses", component: Analyses },
      { id: "sql", title: "SQL", component: Sql, there: sqlIsThere },
      { id: "analysis", title: "Analysis", component: AnalysisPage, hidden: true },
    ],
  },
];

export function placeOf(id: string): Place | undefined {
  return PLACES.find((place) => place.views.some((view) => view.id === id));
}

export function viewOf(id: string): View | undefined {
  return placeOf(id)?.views.find((view) => view.id === id);
}

// The tabs of a place in this run.
export function tabsOf(app: App, place: Place): View[] {
  return place.views.filter((view) => !view.hidden && (view.there?.(app) ?? true));
}
