// SPDX-License-Identifier: Apache-2.0
// Colours by class of work, as variables of tokens.css, so that both themes have them. Names inside a class get a hue
// of their own around the class's, hashed from the name: the same kernel has the same colour in every view and run.

export type Class =
  | "compute" | "communication" | "comm_pale" | "memory" | "sync" | "idle" | "host" | "python" | "data";

export const CLASSES: Class[] =
  ["compute", "communication", "comm_pale", "memory", "sync", "idle", "host", "python", "data"];

export function classColor(cls: Class): string {
  return `var(--${cls.replace("_", "-")})`;
}

// What can be read on a class's colour.
export function classText(cls: Class): string {
  return `var(--on-${cls.replace("_", "-")})`;
}

// What can be read on a colour: that of its class, where it is one of a class.
export function textOn(color: string): string {
  const cls = CLASSES.find(name => color === classColor(name));
  return cls ? classText(cls) : "#ffffff";
}

const WORDS: [RegExp, Class][] = [
  [/^(overlapped|hidden|comm_pale|waiting|wait)\b/i, "comm_pale"],
  [/^(comm|communication|exposed|transfer|collective|nccl|rccl|hccl|hcom|gloo:|c10d::|record_param_comms)/i, "communication"],
  [/^(comput|kernel|gpu|npu|device)/i, "compute"],
  [/^(mem|copy|set\b)/i, "memory"],
  [/^(sync)/i, "sync"],
  [/^(idle|other|bubble|free)/i, "idle"],
  [/^(data|loader|dataloader)/i, "data"],
  [/^(python|module)/i, "python"],
  [/^(host|cpu|runtime|launch|op|annotation)/i, "host"],
];

// The class that a word of a table means, as in "exposed_ns", "communication_share" or "Memcpy HtoD".
export function classOf(word: string): Class | undefined {
  return WORDS.find(([pattern]) => pattern.test(word))?.[1];
}

// FNV-1a over the characters.
export function hash(name: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

// Hue, spread of hues, saturation and lightness of the names in a class; text on them is white up to 42 %.
const HUES: Record<Class, [number, number, number, number]> = {
  compute: [220, 18, 58, 39], communication: [30, 10, 82, 58], comm_pale: [32, 6, 70, 78], memory: [150, 18, 52, 29],
  sync: [268, 20, 45, 50], idle: [214, 10, 12, 84], host: [216, 24, 17, 40], python: [182, 10, 80, 23],
  data: [28, 10, 45, 36],
};

export function nameHue(name: string, cls: Class): string {
  const [hue, spread, saturation, lightness] = HUES[cls], h = hash(name);
  const turn = ((h & 0xffff) / 0xffff * 2 - 1) * spread, shade = ((h >>> 16 & 0xff) / 255 * 2 - 1) * 3;
  return `hsl(${((hue + turn + 360) % 360).toFixed(0)} ${saturation}% ${(lightness + shade).toFixed(1)}%)`;
}

export function nameText(cls: Class): string {
  return HUES[cls][3] > 55 ? "#1a1206" : "#ffffff";
}

// Colours of things that are no class of work (ranks, lines of a chart), told apart by hue and lightness.
export const SERIES: string[] = ["var(--compute)", "var(--communication)", "var(--memory)", "var(--sync)",
  "var(--python)", "var(--data)", "var(--host)", "var(--bad)"];

// The value of a CSS variable now, for canvases.
export function resolve(color: string): string {
  const name = /^var\((--[\w-]+)\)$/.exec(color)?.[1];
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : color;
}
