// SPDX-License-Identifier: Apache-2.0
// What kernels run on, with a colour each: communication has its own everywhere, and so has the processor of the host's kind.
import type { Rows } from "../app/rows";
import type { Class } from "../ui/colors";
import { classColor } from "../ui/colors";

// Of Ascend: AI_CORE and MIX_AIC compute with the Cube unit, AI_VECTOR_CORE and MIX_AIV with the Vector unit, AI_CPU is a processor.
const KNOWN: readonly [RegExp, Class][] = [
  [/^(HCCL|COMMUNICATION)$/i, "communication"],
  [/^AI_CPU$/i, "host"],
  [/VECTOR|AIV/i, "python"],
  [/^(AI_CORE|MIX_AIC|tensor cores)$/i, "compute"],
  [/^(other cores)$/i, "host"],
  [/^(unknown|N\/A)?$/i, "idle"],
];
const OTHERS: readonly Class[] = ["sync", "data", "memory"];

// The word of the vendor for a unit: "AI Vector Core" for AI_VECTOR_CORE, with the unit that it is.
const UNITS: Readonly<Record<string, string>> = {
  AI_CORE: "AI Core (Cube)", AI_VECTOR_CORE: "AI Vector Core", MIX_AIC: "mixed, mostly Cube", MIX_AIV: "mixed, mostly Vector", AI_CPU: "AI CPU", COMMUNICATION: "HCCL",
};

export function coreParts(rows: Rows): { name: string; value: number; color: string }[] {
  let others = 0;
  return rows.all.map((row) => {
    const core = rows.text(row, "core");
    const cls = KNOWN.find(([pattern]) => pattern.test(core))?.[1] ?? OTHERS[others++ % OTHERS.length] ?? "compute";
    return { name: UNITS[core] ?? core, value: rows.number(row, "total_ns") ?? 0, color: classColor(cls) };
  });
}
