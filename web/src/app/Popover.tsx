// SPDX-License-Identifier: Apache-2.0
// A button with a panel below it, closed by Escape or a click elsewhere.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export function Popover(props: {
  label: ComponentChildren;
  title?: string;
  class?: string;
  children: (close: () => void) => ComponentChildren;
}) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (!(event.target instanceof Node) || !root.current?.contains(event.target)) setOpen(false);
    };
    const escape = (event: KeyboardEvent) => {
      if (event.key === "Escape") setOpen(false);
    };
    addEventListener("pointerdown", outside);
    addEventListener("keydown", escape);
    return () => {
      removeEventListener("pointerdown", outside);
      removeEventListener("keydown", escape);
    };
  }, [open]);
  return (
    <div class={`popover ${props.class ?? ""}`} ref={root}>
      <button type="button" class="chooser" title={props.title} aria-expanded={open} onClick={() => setOpen(!open)}>
        {props.label}
      </button>
      {open ? <div class="panel">{props.children(() => setOpen(false))}</div> : null}
    </div>
  );
}
