// SPDX-License-Identifier: Apache-2.0
// Runs scripts of this folder one after the other, in one Node and one Chromium, which take longer to start than most scripts do, and modules of
// the page: node keep.mjs. A line of input is {script, args}, or {source, input}: TypeScript beside web/src that sets `answer`. A line of
// output is {said, problem, answer}: what the script printed, what was thrown or null, and that answer. Ends with its input.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { keep } from "./browser.mjs";

const WEB = new URL("../../web/", import.meta.url);
let browser = null, n = 0;

async function run(script, args) {
  browser ??= await keep();
  process.argv.splice(2, Infinity, ...args);
  // a query makes a module anew of a script that was run before
  await import(`./${script}?${n++}`);
}

async function evaluate(contents, input) {
  const { build } = createRequire(new URL("package.json", WEB))("esbuild");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL("src", WEB)), loader: "ts" }, loader: { ".css": "empty", ".def": "text" }, bundle: true, write: false,
    format: "esm", platform: "node", logLevel: "silent",
  });
  globalThis.input = input;
  return (await import(`data:text/javascript;base64,${Buffer.from(`${outputFiles[0].text}\n// ${n++}`).toString("base64")}`)).answer;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { script, args, source, input } = JSON.parse(line), said = [];
  console.log = (...words) => { said.push(words.join(" ") + "\n"); };
  const out = { problem: null };
  try {
    out.answer = script ? await run(script, args) : await evaluate(source, input);
  } catch (error) {
    out.problem = String(error?.stack ?? error);
  }
  process.stdout.write(JSON.stringify({ ...out, said: said.join("") }) + "\n");
}
await browser?.close();
process.exit();
