// SPDX-License-Identifier: Apache-2.0
// The panel of a kernel that a graph launched: node origin.mjs URL RUN EVENT WANTED. WANTED is JSON of what the command line says about it.
import { launch, open, quiet } from "./browser.mjs";

const [url, run, event, wantedText] = process.argv.slice(2);
const browser = await launch();
const { page, errors } = await open(browser, `${url}#/${encodeURIComponent(run)}/timeline?event=${event}`, { width: 1280, height: 900, theme: "light" });
await quiet(page);
await page.locator("section[aria-label=Origin] tr").first().waitFor();
const rows = await page.locator("section[aria-label=Origin] tr").evaluateAll(list => list.map(row => [...row.children].map(cell => cell.textContent)));
const found = Object.fromEntries(rows), wanted = JSON.parse(wantedText);
for (const [name, text] of Object.entries(wanted))
  if (found[name] !== text) throw new Error(`${name}: ${found[name]}, wanted ${text}`);
if (errors.length) throw new Error(errors.join("\n"));
await browser.close();
