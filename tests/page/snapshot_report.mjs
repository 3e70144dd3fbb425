// The report of snapshots: live bytes by key, as bands, with the peak marked. node snapshot_report.mjs FILE KEYS
import { pathToFileURL } from "node:url";
import { check, launch, open } from "./browser.mjs";

const [file, keys] = process.argv.slice(2);
const browser = await launch();
try {
  const { page, errors } = await open(browser, pathToFileURL(file).href);
  const chart = page.locator("figure.ht-chart").filter({ hasText: "Live memory of rank" }).first();
  await chart.waitFor();
  check("bands", (await chart.locator("polygon").evaluateAll(list => list.map(one => one.dataset.band))).sort(), JSON.parse(keys));
  const words = await chart.locator("svg text").allTextContents();
  if (!words.some(text => text.startsWith("peak "))) throw new Error(`the peak is not marked: ${words}`);
  check("console", errors, []);
} finally {
  await browser.close();
}
