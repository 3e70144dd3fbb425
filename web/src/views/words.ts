// Sentences of the engine, taken apart for a heading.

// "the host: 89 % of the critical path, spread widely" as head and rest.
export function splitVerdict(finding: string): [head: string, rest: string] {
  const found = /^(.*?%[^,;]*)[,;]\s*(.*)$/s.exec(finding);
  return found ? [found[1] ?? finding, found[2] ?? ""] : [finding, ""];
}

// With a capital, unless it begins with a name such as torch_npu.
export function capital(text: string): string {
  return /^[a-z]+([\s,:;]|$)/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

// Does the engine say that it has no answer?
export function hasNoAnswer(finding: string): boolean {
  return /^(cannot tell|none)\b/.test(finding);
}

// How long a step is, as a sentence; a run without steps says so itself.
export function stepSentence(finding: string): string {
  return hasNoAnswer(finding) ? capital(finding) : `A step takes ${finding}`;
}
