// SPDX-License-Identifier: Apache-2.0
// Below the headline: the rank that the others wait for, and why, so that nobody has to look for it.
import { useApp } from "../app/context";
import { ofKind } from "../app/findings";
import type { Finding } from "../app/findings";
import { eventLink } from "../app/route";

export function WhichRank(props: { all: readonly Finding[]; head: Finding | undefined }) {
  const { route } = useApp();
  const late = ofKind(props.all, "slow-rank"), event = late?.events[0];
  if (!late || late === props.head || late.state !== "found") return null;
  return (
    <p class="lead">
      {late.heading}
      {late.detail ? `; ${late.detail}` : ""}. {event ? <a href={eventLink(route, event)}>Evidence in the timeline →</a> : null}
    </p>
  );
}
