// SPDX-License-Identifier: Apache-2.0
// The frame: what is looked at on top, views on the left, the view in the middle. Also what to say before there is
// anything to look at.
import { Component } from "preact";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Analyses, Run, Runs } from "../model";
import { analyses as askAnalyses, ApiError, routes as askRoutes } from "./api";
import { RankChooser, RunChooser, SpanChooser, StepChooser } from "./Choosers";
import { AppProvider, useApp } from "./context";
import type { App } from "./context";
import { FailedStrip, FileLine, HealthDot, isShown, LoadingStrip, LostStrip, PartialStrip, Rescan } from "./Health";
import { useRuns } from "./hooks";
import { useKeys } from "./keys";
import { Palette } from "./Palette";
import { Busy, Empty, ProblemBox } from "./parts";
import { filesOf, usePace, useSteadyRun } from "./progress";
import { formatRoute, go, linkTo, parseRoute, useRoute } from "./route";
import type { Route } from "./route";
import { useTheme } from "./theme";
import { registryOf } from "./words";
import { HistoryView } from "../views/History";
import { useServes } from "../views/Iterations";
import { useHooked } from "../views/Lightning";
import { PLACES, placeOf, tabsOf, viewOf } from "../views/registry";
import type { Place } from "../views/registry";

const THEME_WORD = { system: "as the system", light: "light", dark: "dark" } as const;

function Nav() {
  const app = useApp();
  const here = placeOf(app.route.view);
  return (
    <nav class="nav" aria-label="Places">
      {PLACES.map((place) => (
        <a
          key={place.title}
          href={linkTo(app.route, firstOf(place))}
          class={place === here ? "on" : ""}
          aria-current={place === here ? "page" : undefined}
        >
          <span>{place.title}</span>
          <kbd>{place.key}</kbd>
        </a>
      ))}
    </nav>
  );
}

const firstOf = (place: Place): string => place.views[0]?.id ?? "overview";

// The views of the place that is open; a place of one view needs none.
function Tabs() {
  const app = useApp();
  const place = placeOf(app.route.view);
  const tabs = place ? tabsOf(app, place) : [];
  if (tabs.length < 2) return null;
  return (
    <nav class="tabs" aria-label={`Views of ${place?.title ?? ""}`}>
      {tabs.map((view) => (
        <a
          key={view.id}
          href={linkTo(app.route, view.id)}
          aria-current={view.id === app.route.view ? "page" : undefined}
        >
          {view.title}
        </a>
      ))}
    </nav>
  );
}

// The places in one line, where there is no room at the left.
function PlaceChooser() {
  const { route } = useApp();
  return (
    <label class="chooser view-chooser">
      <span class="dim">view</span>
      <select
        value={placeOf(route.view)?.title}
        onChange={(event) => {
          const place = PLACES.find((one) => one.title === event.currentTarget.value);
          if (place) go(linkTo(route, firstOf(place)));
        }}
      >
        {PLACES.map((place) => (
          <option key={place.title} value={place.title}>
            {place.title}
          </option>
        ))}
      </select>
    </label>
  );
}

function Top(props: { search: () => void }) {
  const [theme, nextTheme] = useTheme();
  return (
    <header class="top">
      <span class="brand">Holotrace</span>
      <RunChooser />
      <SpanChooser />
      <RankChooser />
      <StepChooser />
      <PlaceChooser />
      <span class="grow" />
      <button type="button" class="search-box" aria-label="Search events, operators, kernels" onClick={props.search}>
        <span>Search events, operators, kernels</span>
        <kbd>/</kbd>
      </button>
      <HealthDot />
      <button
        type="button"
        class="icon"
        onClick={nextTheme}
        title={`Theme: ${THEME_WORD[theme]}`}
        aria-label={`Theme: ${THEME_WORD[theme]}`}
      >
        ◐
      </button>
    </header>
  );
}

const KEYS: readonly [string, string][] = [
  ["⌘K  or  /", "search"],
  ["1 … 8", "the places at the left"],
  ["D", "compare"],
  ["Q", "SQL"],
  ["?", "these keys"],
  ["Esc", "close"],
  ["click on a header", "sort; with shift add to the order"],
  ["click on a chart", "filter, or open what is behind it"],
];

const LETTERS: Readonly<Record<string, string>> = { d: "diff", q: "sql" };

function Help(props: { close: () => void }) {
  return (
    <div
      class="veil"
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) props.close();
      }}
    >
      <div class="palette keys" role="dialog" aria-label="Keys">
        <h2>Keys</h2>
        <dl>
          {KEYS.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <p class="dim">The timeline has keys of its own: ? there lists them.</p>
      </div>
    </div>
  );
}

// A view that fails must not take the page along.
class Guard extends Component<{ resetKey: string; children: ComponentChildren }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static override getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidUpdate(before: { resetKey: string }) {
    if (before.resetKey !== this.props.resetKey && this.state.error) this.setState({ error: null });
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <ProblemBox
        status={-1}
        problem={{
          error: `This view failed: ${error.message}`,
          file: null,
          offset: null,
          hint: "The other views still work.",
        }}
      />
    );
  }
}

function Middle() {
  const app = useApp();
  const view = viewOf(app.route.view);
  if (!view)
    return (
      <Empty title={`There is no view called ${app.route.view}`}>
        <p>Choose one at the left.</p>
      </Empty>
    );
  if (!isShown(app.run) && !view.untraced) return <Unread />;
  const View = view.component;
  return <View />;
}

// Nothing of the run can be shown yet, or ever.
function Unread() {
  const { run } = useApp();
  const files = filesOf(run), pace = usePace(run);
  const failed = run.state === "failed";
  return (
    <div class="unread">
      <h1>{failed ? `Nothing of ${run.name} could be read` : `Reading ${run.name}`}</h1>
      <p class="lead">{failed ? "Each file says why:" : `Views appear as soon as the first file is read.${pace ? ` ${pace}.` : ""}`}</p>
      <ul class="files">
        {files.map((file) => (
          <FileLine key={file.path} file={file} />
        ))}
      </ul>
      <Rescan />
    </div>
  );
}

function Frame(props: { lost: string | null }) {
  const app = useApp();
  const [open, setOpen] = useState<"search" | "help" | null>(null);
  const close = () => setOpen(null);
  useKeys({
    search: () => setOpen("search"),
    help: () => setOpen("help"),
    close,
    view: (key) => {
      const place = PLACES.find((one) => one.key === key);
      const view = place ? firstOf(place) : LETTERS[key];
      if (view) go(linkTo(app.route, view));
      return view !== undefined;
    },
    ownLetters: app.route.view === "timeline",
  });
  useEffect(() => {
    document.title = `${viewOf(app.route.view)?.title ?? "Holotrace"} · ${app.run.name} · Holotrace`;
  }, [app.route.view, app.run.name]);
  const wide = app.route.view === "timeline";
  return (
    <div class="frame">
      <Top search={() => setOpen("search")} />
      <Nav />
      <main class={wide ? "main wide" : "main"} id="main">
        {props.lost ? (
          <div class="strip failed" role="alert">
            {props.lost}
          </div>
        ) : null}
        <LoadingStrip />
        <FailedStrip />
        <LostStrip />
        <PartialStrip />
        <Guard resetKey={`${app.run.id} ${app.route.view} ${app.route.sub}`}>
          <Tabs />
          <Middle />
        </Guard>
      </main>
      {open === "search" ? <Palette close={close} /> : null}
      {open === "help" ? <Help close={close} /> : null}
    </div>
  );
}

function Start(props: { children: ComponentChildren }) {
  return (
    <div class="start">
      <span class="brand">Holotrace</span>
      {props.children}
    </div>
  );
}

function NoRuns(props: { runs: Runs }) {
  return (
    <Start>
      <Empty title={props.runs.scanning ? "Looking for traces" : "No traces found"}>
        <p>
          Looked below <code>{props.runs.logdir}</code> for files named <code>*.pt.trace.json</code>,{" "}
          <code>*.json</code>, <code>*.json.gz</code> and folders of an Ascend profiler. New files appear here by
          themselves.
        </p>
        <p>
          To record one:{" "}
          <code>torch.profiler.profile(on_trace_ready=torch.profiler.tensorboard_trace_handler(DIR))</code>
        </p>
        <Rescan />
      </Empty>
    </Start>
  );
}

// Stores of many runs, and no trace.
function Alone(props: { runs: Runs; route: Route }) {
  return (
    <main class="main alone" id="main">
      <span class="brand">Holotrace</span>
      <HistoryView stores={props.runs.histories} route={props.route} />
    </main>
  );
}

function chooseRun(runs: Runs, route: Route): Run | undefined {
  return runs.runs.find((run) => run.id === route.run) ?? (route.run ? undefined : runs.runs[0]);
}

function NoSuchRun(props: { runs: Runs; route: Route }) {
  const { runs, route } = props;
  const link = (id: string) => formatRoute({ run: id, view: route.view, sub: route.sub, query: {} });
  return (
    <Start>
      <Empty title={`There is no run called ${route.run}`}>
        <p>
          It may have been moved or deleted. Below <code>{runs.logdir}</code> there{" "}
          {runs.runs.length === 1 ? "is" : "are"}:
        </p>
        <ul>
          {runs.runs.map((one) => (
            <li key={one.id}>
              <a href={link(one.id)}>{one.name}</a>
            </li>
          ))}
        </ul>
      </Empty>
    </Start>
  );
}

interface Server {
  registry: Analyses | null;
  routes: readonly string[];
  problem: ApiError | null;
}

// What the server can answer: asked once it is reached, and again when it was away.
function useServer(reached: boolean): Server {
  const [registry, setRegistry] = useState<Analyses | null>(null);
  const [routes, setRoutes] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<ApiError | null>(null);
  useEffect(() => {
    if (!reached) return;
    askRoutes().then(setRoutes, () => undefined); // without it, what not every server has is not offered
    askAnalyses().then(setRegistry, (error: unknown) => {
      if (error instanceof ApiError) setProblem(error);
    });
  }, [reached]);
  return { registry, routes, problem };
}

// The place in this run. Spans are recordings of the same ranks at other times: looked at one by one, the last first.
function within(run: Run, route: Route): Route {
  const span = route.query.span ?? (run.spans.length > 1 ? run.spans.at(-1) : undefined);
  return { ...route, run: run.id, query: span ? { ...route.query, span } : route.query };
}

export function Page() {
  const route = useRoute();
  const watched = useRuns();
  const { registry, routes, problem } = useServer(watched.runs !== null && watched.problem === null);
  const runs = watched.runs;
  const run = useSteadyRun(runs ? chooseRun(runs, route) : undefined);
  useEffect(() => {
    // the address itself: an effect may run after somebody has gone on and before the page was told
    if (run && !parseRoute(location.hash).run) go(formatRoute({ ...route, run: run.id }), true);
  }, [run?.id, route.run]);
  const serves = useServes(run, run ? within(run, route).query.span : undefined);
  const hooked = useHooked(run, run ? within(run, route).query.span : undefined, placeOf(route.view) === placeOf("lightning"));
  const analyses = useMemo(() => (run && registry ? registryOf(run, registry) : null), [run, registry]);
  if (!runs || !registry) {
    const failed = watched.problem ?? problem?.problem;
    return <Start>{failed ? <ProblemBox status={0} problem={failed} /> : <Busy what="Looking for runs …" />}</Start>;
  }
  if (runs.runs.length === 0) return runs.histories.length > 0 ? <Alone runs={runs} route={route} /> : <NoRuns runs={runs} />;
  if (!run) return <NoSuchRun runs={runs} route={route} />;
  const base = runs.runs.find((one) => one.id === route.query.base && one.id !== run.id) ?? null;
  const app: App = { route: within(run, route), run, base, runs, analyses: analyses ?? registry, routes, serves, hooked };
  const lost = watched.problem ? `${watched.problem.error} What is shown is the last answer; trying again.` : null;
  return (
    <AppProvider value={app}>
      <Frame lost={lost} />
    </AppProvider>
  );
}
