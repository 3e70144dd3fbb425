// The views at the left, in their order. A new analysis needs no entry here: it has its page below All analyses.
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
import { Idle } from "./Idle";
import { Kernels } from "./Kernels";
import { KernelTypes } from "./KernelTypes";
import { Launch } from "./Launch";
import { Memory } from "./Memory";
import { Modules } from "./Modules";
import { Operators } from "./Operators";
import { Overlap } from "./Overlap";
import { Overview } from "./Overview";
import { Queue } from "./Queue";
import { Sequences } from "./Sequences";
import { Sql, sqlIsThere } from "./Sql";
import { Stragglers } from "./Stragglers";
import { Temporal } from "./Temporal";
import { TimelineView } from "./TimelineView";

export interface View {
  id: string;
  title: string;
  group: string;
  component: FunctionComponent;
  key?: string;
  hidden?: true; // reached by links only
  there?: (app: App) => boolean; // absent: always
}

const TIME = "Where time goes";
const RANKS = "Ranks";
const BREAKDOWNS = "Breakdowns";
const COMPARE = "Compare";
const ALL = "Everything";

export const GROUPS: readonly string[] = ["", TIME, RANKS, BREAKDOWNS, COMPARE, ALL];

export const VIEWS: readonly View[] = [
  { id: "overview", title: "Overview", group: "", component: Overview, key: "1" },
  { id: "timeline", title: "Timeline", group: "", component: TimelineView, key: "2" },
  { id: "operators", title: "Operators", group: TIME, component: Operators, key: "3" },
  { id: "kernels", title: "Kernels", group: TIME, component: Kernels, key: "4" },
  { id: "modules", title: "Modules", group: TIME, component: Modules, key: "5" },
  { id: "flame", title: "Flame graph", group: TIME, component: FlameGraph, key: "6" },
  { id: "efficiency", title: "Efficiency", group: TIME, component: Efficiency },
  { id: "memory", title: "Memory", group: TIME, component: Memory, key: "7" },
  { id: "communication", title: "Communication", group: RANKS, component: Communication, key: "8" },
  { id: "distributed", title: "Distributed", group: RANKS, component: Distributed },
  { id: "stragglers", title: "Stragglers", group: RANKS, component: Stragglers },
  { id: "overlap", title: "Overlap", group: RANKS, component: Overlap },
  { id: "temporal", title: "Temporal", group: BREAKDOWNS, component: Temporal },
  { id: "idle", title: "Idle", group: BREAKDOWNS, component: Idle },
  { id: "kernel-types", title: "Kernel types", group: BREAKDOWNS, component: KernelTypes },
  { id: "annotations", title: "Annotations", group: BREAKDOWNS, component: Annotations },
  { id: "queue", title: "Queue length", group: BREAKDOWNS, component: Queue },
  { id: "bandwidth", title: "Copy bandwidth", group: BREAKDOWNS, component: Bandwidth },
  { id: "launch", title: "Launches", group: BREAKDOWNS, component: Launch },
  { id: "sequences", title: "Kernel sequences", group: BREAKDOWNS, component: Sequences },
  { id: "critical-path", title: "Critical path", group: BREAKDOWNS, component: CriticalPath },
  { id: "counters", title: "Counters", group: BREAKDOWNS, component: Counters },
  { id: "diff", title: "Diff", group: COMPARE, component: Diff, key: "d" },
  { id: "sql", title: "SQL", group: ALL, component: Sql, key: "q", there: sqlIsThere },
  { id: "analyses", title: "All analyses", group: ALL, component: Analyses },
  { id: "analysis", title: "Analysis", group: ALL, component: AnalysisPage, hidden: true },
];

export function viewOf(id: string): View | undefined {
  return VIEWS.find((view) => view.id === id);
}

export function shownViews(app: App): View[] {
  return VIEWS.filter((view) => !view.hidden && (view.there?.(app) ?? true));
}
