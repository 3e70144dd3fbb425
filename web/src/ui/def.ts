// SPDX-License-Identifier: Apache-2.0
// Lists that engine and page have in common are written once, as the engine includes them: a line NAME(word, "text") each, comments between.

export const entriesOf = (list: string): string[][] => [...list.matchAll(/^\w+\((.*)\)$/gm)].map(([, words = ""]) =>
  [...words.matchAll(/"([^"]*)"|\w+/g)].map(([word, text]) => text ?? word));

// Of lists of one text a line.
export const textsOf = (list: string): string[] => entriesOf(list).map(([text = ""]) => text);
