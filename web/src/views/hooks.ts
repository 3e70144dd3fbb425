// SPDX-License-Identifier: Apache-2.0
// Hooks of PyTorch Lightning as its profiler names them: [pl][profile][Callback]ModelSummary{...}.on_train_start and the like.
import type { Class } from "../ui/colors";

export const HOOKS = "[pl][profile]";

export interface Hook {
  owner: string; // whose it is: Callback, Strategy, LightningModule ...; Trainer where the name has none
  name: string; // class and hook, without the arguments of the object
}

export function hookOf(annotation: string): Hook | null {
  if (!annotation.startsWith(HOOKS)) return null;
  const found = /^\[([^\]]+)\](.*)$/s.exec(annotation.slice(HOOKS.length));
  const name = (found?.[2] ?? annotation.slice(HOOKS.length)).replace(/\{.*\}/s, "").replace(/^\./, "");
  return { owner: (found?.[1] ?? "Trainer").replace(/^_/, ""), name };
}

export function hookText(annotation: string): string {
  const hook = hookOf(annotation);
  return hook ? `${hook.owner}: ${hook.name}` : annotation;
}

// What Lightning does itself, what somebody added to it, and the model.
export function hookClass(annotation: string): Class {
  const owner = hookOf(annotation)?.owner ?? "";
  if (/Callback|Logger/.test(owner)) return "sync";
  if (/Module$/.test(owner)) return "compute";
  if (/Strategy|Accelerator|Precision/.test(owner)) return "communication";
  return /dataloader|fetch|prepare_data/i.test(annotation) ? "data" : "host";
}

// Of the names of a stack those of hooks: time inside them is theirs.
export function hookPaths(stacks: Iterable<{ stack: string; self: number }>): { path: string[]; self: number }[] {
  const sums = new Map<string, number>();
  for (const { stack, self } of stacks) {
    const path = stack.split(";").filter((name) => name.startsWith(HOOKS)).join(";");
    if (path) sums.set(path, (sums.get(path) ?? 0) + self);
  }
  return [...sums].map(([path, self]) => ({ path: path.split(";"), self }));
}
