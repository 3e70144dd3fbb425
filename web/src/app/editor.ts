// SPDX-License-Identifier: Apache-2.0
// The editor that lines of code open in: none until somebody chooses one. The choice is the browser's, as that of the theme.
import { useEffect, useState } from "preact/hooks";
import { placeOf } from "./code";

// template: the address to open, with {file} and {line}; root: where files lie that a trace names without their folders.
export interface Editor {
  template: string;
  root: string;
}

export const EDITORS: readonly { name: string; template: string }[] = [
  { name: "none", template: "" },
  { name: "VS Code", template: "vscode://file/{file}:{line}" },
  { name: "Cursor", template: "cursor://file/{file}:{line}" },
];

const KEY = "holotrace-editor", ROOT = "holotrace-editor-root";
const others = new Set<() => void>();

function stored(): Editor {
  try {
    return { template: localStorage.getItem(KEY) ?? "", root: localStorage.getItem(ROOT) ?? "" };
  } catch {
    return { template: "", root: "" }; // storage is off: none
  }
}

function store(editor: Editor): void {
  try {
    localStorage.setItem(KEY, editor.template);
    localStorage.setItem(ROOT, editor.root);
  } catch {
    return;
  }
  for (const tell of others) tell();
}

// What is chosen, the same everywhere on the page.
export function useEditor(): [Editor, (editor: Editor) => void] {
  const [editor, setEditor] = useState(stored);
  useEffect(() => {
    const tell = () => setEditor(stored());
    others.add(tell);
    return () => void others.delete(tell);
  }, []);
  return [editor, store];
}

const ABSOLUTE = /^([\\/]|[a-z]:[\\/])/i;
// Addresses that leave the page, and none that run as a part of it.
const LEAVES = /^(?!javascript:|data:|blob:|vbscript:)[a-z][a-z0-9+.-]*:\/\//i;

// The address that opens a line; null where there is no editor, no line, or a file that only its folder would find.
export function editorLink(source: string, { template, root }: Editor): string | null {
  const place = placeOf(source);
  if (!place || !LEAVES.test(template)) return null;
  const whole = ABSOLUTE.test(place.file) || !root ? place.file : `${root.replace(/[\\/]+$/, "")}/${place.file}`;
  if (!ABSOLUTE.test(whole) && !/^https?:/i.test(template)) return null;
  const file = encodeURI(whole.replaceAll("\\", "/")).replace(/[?#]/g, encodeURIComponent);
  // a path has its own slash in front
  return template.replace("/{file}", () => (file.startsWith("/") ? file : `/${file}`)).replace("{file}", () => file).replace("{line}", () => place.line);
}
