// SPDX-License-Identifier: Apache-2.0
// Frames of a call stack: which are the user's own, and how they read without what differs from call to call.
import modules from "../../../src/model/origin/standard_modules.def";
import { textsOf } from "../ui/def";
import { placeOf } from "./code";

// The rule of operators --by stack (src/model/rows/addresses.c).
export const withoutAddresses = (name: string): string => name.replace(/ at 0x[0-9a-f]+/gi, "");

// As the engine tells (src/model/origin/own_line.c): a line of a file that is neither a library's nor generated.
// Both are held against tests/page/own_frames.json.
const STANDARD = new RegExp(`^(${textsOf(modules).join("|")})([\\\\/]|\\.py$)`);
const LIBRARY = /^<|^nn\.Module|(^|[\\/])torch[\\/]|(site|dist)-packages[\\/]|lib[\\/]python|(^|[\\/])c[a-z2-7]{51}\.py$/;

export function isOwn(frame: string): boolean {
  const place = placeOf(frame);
  return place !== null && !STANDARD.test(place.file) && !LIBRARY.test(place.file);
}

// The innermost frame of the user's own code; frames come innermost first.
export const ownFrame = (frames: readonly string[]): string | undefined => frames.find(isOwn);

// An argument "Call stack": ; between, on Ascend with line breaks.
export const framesOf = (stack: string): string[] => stack.split(/;\s*/).map((frame) => withoutAddresses(frame.trim())).filter(Boolean);
