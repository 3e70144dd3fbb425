// SPDX-License-Identifier: Apache-2.0
// Words about GPUs in those of Ascend's NPUs, for texts that are not of a table: tables come in them (src/registry/npu_words.c).
import words from "../../../src/registry/npu_words.def";
import { entriesOf } from "./def";

// Alone or in the plural; what ends with a dot has something behind it.
const NPU = entriesOf(words).map(([from = "", to = ""]) =>
  [new RegExp(`\\b${from.replaceAll(".", "\\.")}${/\w$/.test(from) ? "(s?)\\b" : "()"}`, "g"), `${to}$1`] as const);

export const npuWords = (text: string): string => NPU.reduce((said, [from, to]) => said.replace(from, to), text);
