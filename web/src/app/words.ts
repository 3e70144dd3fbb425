// SPDX-License-Identifier: Apache-2.0
// The page's own words about a device, in those of its vendor; tables come in them already (src/registry/npu_words.c).
import type { Analyses, Run } from "../model";
import { npuWords } from "../ui/npu";
import { deviceWord } from "../views/ranks";
import { useApp } from "./context";

export const wordsOf = (run: Run, text: string): string => (deviceWord(run) === "NPU" ? npuWords(text) : text);

export function useWords(): (text: string) => string {
  const { run } = useApp();
  return (text) => wordsOf(run, text);
}

// What the registry says of its analyses.
export function registryOf(run: Run, registry: Analyses): Analyses {
  const words = (text: string) => wordsOf(run, text);
  const params = (list: Analyses["common"]) => list.map((param) => ({ ...param, help: words(param.help) }));
  if (deviceWord(run) === "GPU") return registry;
  return {
    ...registry,
    common: params(registry.common),
    analyses: registry.analyses.map((one) => ({
      ...one, title: words(one.title), question: words(one.question), method: words(one.method), params: params(one.params),
    })),
  };
}
