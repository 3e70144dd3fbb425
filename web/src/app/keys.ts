// SPDX-License-Identifier: Apache-2.0
// Keys that work everywhere: not while typing, and letters not in the timeline, which has its own.
import { useEffect, useRef } from "preact/hooks";

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}

export interface Keys {
  search: () => void;
  help: () => void;
  close: () => void;
  view: (key: string) => boolean; // whether a view has this key
  ownLetters: boolean; // the view takes letters and / itself
}

export function useKeys(keys: Keys): void {
  // what is drawn now, also before its effects have run
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const keys = latest.current;
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        keys.search();
        return;
      }
      if (event.key === "Escape") keys.close();
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const digit = /^[0-9]$/.test(event.key);
      if (keys.ownLetters && !digit) return;
      if (event.key === "/") {
        event.preventDefault();
        keys.search();
      } else if (event.key === "?") {
        keys.help();
      } else if (keys.view(event.key.toLowerCase())) {
        event.preventDefault();
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
