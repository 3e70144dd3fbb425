// SPDX-License-Identifier: Apache-2.0
// What components share: their size on the screen, and the theme that is on.
import { type RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

// The element's inner width, followed as it changes; `initial` before it is known.
export function useWidth<E extends HTMLElement>(initial: number): [RefObject<E>, number] {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(initial);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const look = () => {
      const now = Math.floor(element.clientWidth);
      if (now > 0) setWidth(now);
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

// A number that changes when the theme does: canvases draw again.
export function useTheme(): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const changed = () => setTurn(n => n + 1);
    const media = matchMedia("(prefers-color-scheme: dark)");
    media.addEventListener("change", changed);
    const observer = new MutationObserver(changed);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      media.removeEventListener("change", changed);
      observer.disconnect();
    };
  }, []);
  return turn;
}

let canvas: CanvasRenderingContext2D | null = null;

// How wide a text is, for labels that must fit.
export function textWidth(text: string, font: string): number {
  canvas ??= document.createElement("canvas").getContext("2d");
  if (!canvas) return text.length * 7;
  canvas.font = font;
  return canvas.measureText(text).width;
}

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
export const sans = (px: number, weight = 400): string => `${weight} ${px}px ${SANS}`;
export const mono = (px: number): string => `${px}px ${MONO}`;
