// SPDX-License-Identifier: Apache-2.0
// Memory in the report: live bytes by key, as bands, with the peak marked and explained. node snapshot_report.mjs FILE TITLE KEYS NOTE
import { pathToFileURL } from "node:url";
import { check, launch, open } from "./browser.mjs";

const [file, title, keys, note] = process.argv.slice(2);
const browser = await launch();
try {
  const { page, errors } = await open(browser, pathToFileURL(file).href);
  const chart = page.locator("figure.ht-chart").filter({ hasText: title }).first();
  await chart.waitFor();
  check("bands", (await chart.locator("polygon").evaluateAll(list => list.map(one => one.dataset.band))).sort(), JSON.parse(keys));
  const words = await chart.locator("svg text").allTextContents();
  if (!words.some(text => text.startsWith("peak "))) throw new Error(`the peak is not marked: ${words}`);
  const said = await chart.innerText();
  if (!said.includes(note)) throw new Error(`the peak is not explained: ${said}`);
  check("console", errors, []);
} finally {
  await browser.close();
}
