// SPDX-License-Identifier: Apache-2.0
// The panel at the side: what is behind the row that was chosen, each a table of the registry, with links on.
import type { ComponentChildren } from "preact";
import { shortName } from "../ui/format";
import { useApp } from "../app/context";
import { go, linkWith } from "../app/route";
import { Copy } from "./Copy";

export function Details(props: { name: string; close: string; children: ComponentChildren }) {
  const { route } = useApp();
  const shut = () => go(linkWith(route, { [props.close]: null }));
  return (
    <aside class="details" aria-label={`Details of ${props.name}`}>
      <div class="block-head">
        <h2 class="mono" title={props.name}>
          {shortName(props.name, 60)}
        </h2>
        <span class="block-tools">
          <Copy text={props.name} what="the full name" />
          <button type="button" class="icon" onClick={shut} aria-label="Close details">
            ×
          </button>
        </span>
      </div>
      {props.children}
    </aside>
  );
}
