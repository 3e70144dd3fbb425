// SPDX-License-Identifier: Apache-2.0
// The state of the page is the URL's fragment: #/RUN/VIEW/SUB?key=value. Reading it, writing it, and a hook that
// follows it. What is chosen at the top (ranks, steps, span, the run to compare with) stays when the view changes.
import { useEffect, useState } from "preact/hooks";

export interface Route {
  run: string; // "" before any run is known
  view: string;
  sub: string; // the verb on the page of one analysis
  query: Readonly<Record<string, string>>;
}

export type Change = Readonly<Record<string, string | null | undefined>>;

// Kept while the view changes.
export const GLOBAL_KEYS = ["rank", "step", "span", "base"] as const;

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a broken escape somebody typed: take it as it is
  }
}

export function parseRoute(fragment: string): Route {
  const text = fragment.replace(/^#?\/?/, "");
  const at = text.indexOf("?");
  const parts = (at < 0 ? text : text.slice(0, at)).split("/").map(decode);
  const query: Record<string, string> = {};
  if (at >= 0) for (const [name, value] of new URLSearchParams(text.slice(at + 1))) query[name] = value;
  return { run: parts[0] ?? "", view: parts[1] || "overview", sub: parts[2] ?? "", query };
}

export function formatRoute(route: Route): string {
  const parts = [route.run, route.view, ...(route.sub ? [route.sub] : [])].map(encodeURIComponent);
  const query = new URLSearchParams();
  for (const name of Object.keys(route.query)) {
    const value = route.query[name];
    if (value) query.set(name, value);
  }
  const text = query.toString();
  return "#/" + parts.join("/") + (text ? "?" + text : "");
}

function globalsOf(query: Route["query"]): Record<string, string> {
  const out: Record<string, string> = {};
  for (const key of GLOBAL_KEYS) {
    const value = query[key];
    if (value) out[key] = value;
  }
  return out;
}

function withChange(query: Route["query"], change: Change): Record<string, string> {
  const out: Record<string, string> = { ...query };
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === undefined || value === "") delete out[name];
    else out[name] = value;
  }
  return out;
}

// The link to another view of the same run, with what is chosen at the top.
export function linkTo(route: Route, view: string, change: Change = {}, sub = ""): string {
  return formatRoute({ run: route.run, view, sub, query: withChange(globalsOf(route.query), change) });
}

// The link to the same view with other choices.
export function linkWith(route: Route, change: Change): string {
  return formatRoute({ ...route, query: withChange(route.query, change) });
}

export function eventLink(route: Route, id: string): string {
  return linkTo(route, "timeline", { event: id });
}

// What somebody put into the timeline of a run is not taken away by going back: those changes make no entries of their
// own in the history, so older entries do not have them.
const STAYING = ["marks", "pin", "fold", "hide", "bfold"] as const;
const staying = new Map<string, Record<string, string>>();

function stayingOf(query: Route["query"]): Record<string, string> {
  return Object.fromEntries(STAYING.flatMap((key) => (query[key] ? [[key, query[key]]] : [])));
}

// The place as it is to be shown: entries of the history that were here before have a number.
function arrive(traversed: boolean, before: Route): Route {
  const route = parseRoute(location.hash);
  if (route.view !== "timeline") return route;
  const known = staying.get(route.run), came = before.view !== "timeline" || before.run !== route.run;
  if (!known || (!traversed && !came)) {
    staying.set(route.run, stayingOf(route.query));
    return route;
  }
  const without = Object.fromEntries(Object.entries(route.query).filter(([key]) => !STAYING.some((one) => one === key)));
  const query = traversed ? { ...without, ...known } : { ...known, ...route.query };
  const next = { ...route, query };
  staying.set(route.run, stayingOf(query));
  if (formatRoute(next) !== formatRoute(route)) history.replaceState(history.state, "", formatRoute(next));
  return next;
}

// Told at once: the event of `location.hash = link` comes later, and what is drawn until then has the old place.
export function go(link: string, replace = false): void {
  if (replace) history.replaceState(history.state, "", link);
  else if (link !== location.hash) history.pushState(null, "", link);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

let entries = Date.now(); // grows over reloads
let entry: unknown = null; // of the history, that is shown

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    let now = parseRoute("");
    const follow = () => {
      const traversed = history.state !== null && history.state !== entry;
      now = arrive(traversed, now);
      if (history.state === null) history.replaceState(++entries, "");
      entry = history.state as unknown;
      setRoute(now);
    };
    addEventListener("hashchange", follow);
    follow();
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}
