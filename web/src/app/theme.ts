// SPDX-License-Identifier: Apache-2.0
// Light, dark, or as the system has it. The choice is the browser's, not the URL's: a shared link keeps the
// reader's own.
import { useLayoutEffect, useState } from "preact/hooks";

export type Theme = "system" | "light" | "dark";

const KEY = "holotrace-theme";
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system"; // storage is off: as the system has it
  }
}

function apply(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(stored);
  useLayoutEffect(() => {
    apply(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // it lasts as long as the page, then
    }
  }, [theme]);
  return [theme, () => setTheme(NEXT[theme])];
}
