// The timeline in the frame of the page: its state is the URL's.
import { Timeline } from "../timeline/Timeline";
import { useApp } from "../app/context";
import { go, linkWith, parseRoute } from "../app/route";
import type { Change } from "../app/route";

export function TimelineView() {
  const { route, run } = useApp();
  // what the URL says by now, which may be newer than what is drawn: two changes can come before the next frame
  const change = (what: Change, replace?: boolean) => {
    const query = { ...(route.query.span ? { span: route.query.span } : {}), ...parseRoute(location.hash).query };
    go(linkWith({ ...route, query }, what), replace ?? true);
  };
  return (
    <Timeline
      run={run}
      state={route.query}
      onState={change}
    />
  );
}
