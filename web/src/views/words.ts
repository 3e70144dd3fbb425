// Sentences of the engine, taken apart for a heading.

// "the host: 89 % of the critical path, spread widely" as head and rest.
export function splitVerdict(finding: string): [head: string, rest: string] {
  const found = /^(.*?%[^,;]*)[,;]\s*(.*)$/s.exec(finding);
  return found ? [found[1] ?? finding, found[2] ?? ""] : [finding, ""];
}
