// SPDX-License-Identifier: Apache-2.0
// The timeline in the frame of the page: its state is the URL's.
import { Timeline } from "../timeline/Timeline";
import { chosen, useApp } from "../app/context";
import { findingsOf, headline } from "../app/findings";
import { useTable } from "../app/hooks";
import { VerbTable } from "../app/parts";
import { go, linkWith, parseRoute } from "../app/route";
import type { Change } from "../app/route";
import { Rows } from "../app/rows";

// The same events for those who read tables: by keyboard, or read aloud.
const TWIN_COLUMNS = "id,name,cat,time_ns,dur_ns,step,tid";
const TWIN_ROWS = 500;

// Of more events the verdict would take the server away from the tiles.
const FEW_EVENTS = 2e6;

// What the run is bound by, as the overview says.
function useVerdict(): string | null {
  const app = useApp(), n = app.run.workers.reduce((sum, worker) => sum + (worker.events ?? 0), 0);
  const { table } = useTable(app.run, n <= FEW_EVENTS ? "summary" : null, chosen(app, "summary"));
  return table ? (headline(findingsOf(new Rows(table))).head?.heading ?? null) : null;
}

export function TimelineView() {
  const { route, run, base } = useApp(), said = useVerdict();
  // what the URL says by now, which may be newer than what is drawn: two changes can come before the next frame
  const change = (what: Change, replace?: boolean) => {
    const now = parseRoute(location.hash);
    if (now.view !== route.view || (now.run && now.run !== route.run)) return; // somebody has left: what was about to be written down comes late
    const query = { ...(route.query.span ? { span: route.query.span } : {}), ...now.query };
    go(linkWith({ ...route, query }, what), replace ?? true);
  };
  const { from, to, rank, twin } = route.query;
  const known = from !== undefined && to !== undefined && /^-?\d+$/.test(from) && /^-?\d+$/.test(to);
  return (
    <>
      {twin && known ? (
        <section class="tl-twin" aria-label="Events of the timeline as a table">
          <VerbTable
            verb="events"
            title="Events of this time"
            query={{ rank, where: `time_ns <= ${to} and time_end_ns >= ${from}`, columns: TWIN_COLUMNS, sort: "time_ns", top: TWIN_ROWS }}
            height="32vh"
          />
        </section>
      ) : null}
      <Timeline run={run} base={base} said={said} state={route.query} onState={change} />
    </>
  );
}
