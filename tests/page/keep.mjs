// SPDX-License-Identifier: Apache-2.0
// Runs scripts of this folder one after the other, in one Node and one Chromium, which take longer to start than most scripts do:
// node keep.mjs FOLDER. A line of input is {script, args}; a line of output {said, problem}: what the script printed, and what
// it threw or null. Each has a connection of its own, and what it opened is closed with it. Ends with its input.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { ARGS, chromium, EXECUTABLE } from "./browser.mjs";

const [folder] = process.argv.slice(2);
const context = await chromium.launchPersistentContext(folder, { executablePath: EXECUTABLE, args: [...ARGS, "--remote-debugging-port=0"] });
const [port, path] = readFileSync(`${folder}/DevToolsActivePort`, "utf8").split("\n");
process.env.KEPT = `ws://127.0.0.1:${port}${path}`;

let n = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { script, args } = JSON.parse(line), said = [];
  process.argv.splice(2, Infinity, ...args);
  console.log = (...words) => { said.push(words.join(" ") + "\n"); };
  // a query makes a module anew of a script that was run before
  const problem = await import(`./${script}?${n++}`).then(() => null, error => String(error?.stack ?? error));
  process.stdout.write(JSON.stringify({ said: said.join(""), problem }) + "\n");
}
await context.close();
