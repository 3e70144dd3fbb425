// SPDX-License-Identifier: Apache-2.0
// The timeline in the frame of the page: its state is the URL's.
import { Timeline } from "../timeline/Timeline";
import { useApp } from "../app/context";
import { VerbTable } from "../app/parts";
import { go, linkWith, parseRoute } from "../app/route";
import type { Change } from "../app/route";

// The same events for those who read tables: by keyboard, or read aloud.
const TWIN_COLUMNS = "id,name,cat,time_ns,dur_ns,step,tid";
const TWIN_ROWS = 500;

export function TimelineView() {
  const { route, run, base } = useApp();
  // what the URL says by now, which may be newer than what is drawn: two changes can come before the next frame
  const change = (what: Change, replace?: boolean) => {
    const query = { ...(route.query.span ? { span: route.query.span } : {}), ...parseRoute(location.hash).query };
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
      <Timeline run={run} base={base} state={route.query} onState={change} />
    </>
  );
}
