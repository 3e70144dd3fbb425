// The timeline in the frame of the page: its state is the URL's.
import { Timeline } from "../timeline/Timeline";
import { useApp } from "../app/context";
import { go, linkWith } from "../app/route";
import type { Change } from "../app/route";

export function TimelineView() {
  const { route, run } = useApp();
  return (
    <Timeline
      run={run}
      state={route.query}
      onState={(change: Change, replace?: boolean) => go(linkWith(route, change), replace ?? true)}
    />
  );
}
