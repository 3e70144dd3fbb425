// SPDX-License-Identifier: Apache-2.0
// A share as a small bar with its number.
import { human } from "../ui/format";

export function ShareBar(props: { share: number | null; color?: string; width?: number }) {
  if (props.share === null) return <>–</>;
  return (
    <span class="share">
      <span class="share-track" style={{ width: `${props.width ?? 100}px` }}>
        <span
          class="share-bar"
          style={{
            width: `${Math.max(0, Math.min(1, props.share)) * 100}%`,
            background: props.color ?? "var(--dim)", // of no class
          }}
        />
      </span>
      {human(props.share, { type: "ratio", unit: "ratio" })}
    </span>
  );
}
