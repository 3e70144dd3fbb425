// SPDX-License-Identifier: Apache-2.0
// Colours of spans as pixels: the class of an event gives the colour, its name a hue within the class.
import { classColor, classOf, nameHue, nameText, resolve } from "../ui/colors";
import type { Class } from "../ui/colors";

export interface Theme {
  background: number; band: number; grid: number; step: number;   // pixels
  pale: number;
  text: string; dim: string; line: string; accent: string; panel: string; selected: string;
  version: number;
}

const WORK: readonly Class[] = ["compute", "communication", "memory", "memory", "sync"];
const BY_KIND: Readonly<Record<string, Class>> = {
  cpu_op: "host", annotation: "host", runtime: "host", driver: "host", python: "python", kernel: "compute",
  memcpy: "memory", memset: "memory", gpu_annotation: "host", sync: "sync", cuda_event: "sync", overhead: "idle",
  trace_span: "idle",
};

export function classOfSpan(kind: string, work: number, name: string): Class {
  const own = WORK[work];
  if (own) return own;
  if (kind === "annotation" && /DataLoader|DataPipe/.test(name)) return "data";
  if ((kind === "runtime" || kind === "driver") && /Synchronize|StreamWaitEvent/.test(name)) return "sync";
  return BY_KIND[kind] ?? classOf(name) ?? "host";
}

// Little-endian RGBA, as ImageData has it.
export function pixel(r: number, g: number, b: number): number {
  return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}

export function mix(a: number, b: number, share: number): number {
  const part = (shift: number) => Math.round(((a >>> shift) & 255) * (1 - share) + ((b >>> shift) & 255) * share);
  return pixel(part(0), part(8), part(16));
}

// A colour of a name: hue in degrees, saturation and lightness from 0 to 1.
function hslPixel(hue: number, saturation: number, lightness: number): number {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const part = (n: number) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return pixel(part(0), part(8), part(4));
}

// Any CSS colour as a pixel, by painting it; those of names, of which there are many, by their numbers: to read a pixel back takes long.
function parse(context: CanvasRenderingContext2D, color: string): number {
  const hsl = /^hsl\(([\d.]+) ([\d.]+)% ([\d.]+)%\)$/.exec(color);
  if (hsl) return hslPixel(Number(hsl[1]), Number(hsl[2]) / 100, Number(hsl[3]) / 100);
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const [r = 0, g = 0, b = 0] = context.getImageData(0, 0, 1, 1).data;
  return pixel(r, g, b);
}

export class Palette {
  private readonly context: CanvasRenderingContext2D;
  private readonly byText = new Map<string, number>();
  private readonly byName = new Map<string, number>();
  theme: Theme;

  constructor() {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    this.context = canvas.getContext("2d", { willReadFrequently: true }) as CanvasRenderingContext2D;
    this.theme = this.read(0);
  }

  // When the theme of the page has changed.
  refresh(): void {
    this.byText.clear();
    this.byName.clear();
    this.theme = this.read(this.theme.version + 1);
  }

  private color(css: string): number {
    const known = this.byText.get(css);
    if (known !== undefined) return known;
    const value = parse(this.context, resolve(css));
    this.byText.set(css, value);
    return value;
  }

  private read(version: number): Theme {
    const css = (name: string) => resolve(`var(--${name})`);
    const background = this.color("var(--bg)"), line = this.color("var(--line)");
    return {
      background, band: this.color("var(--panel)"), grid: this.color("var(--grid)"), step: mix(line, this.color("var(--dim)"), 0.35),
      pale: this.color(classColor("comm_pale")),
      text: css("fg"), dim: css("dim"), line: css("line"), accent: css("accent"), panel: css("panel"), selected: css("selected"), version,
    };
  }

  of(kind: string, work: number, name: string): number {
    const cls = classOfSpan(kind, work, name), key = `${cls} ${kind === "annotation" ? 1 : 0} ${name}`;
    const known = this.byName.get(key);
    if (known !== undefined) return known;
    const own = this.color(cls === "idle" ? classColor(cls) : nameHue(name, cls));
    // annotations stand apart from the operators inside them
    const value = kind === "annotation" || kind === "gpu_annotation" ? mix(own, this.theme.background, 0.2) : own;
    this.byName.set(key, value);
    return value;
  }

  class(cls: Class): string {
    return resolve(classColor(cls));
  }
}

// What can be read on it.
export function textOn(theme: Theme, kind: string, work: number, name: string): string {
  const cls = classOfSpan(kind, work, name);
  return cls === "idle" ? theme.text : nameText(cls);
}
