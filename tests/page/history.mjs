// SPDX-License-Identifier: Apache-2.0
// The history of runs: changes and latest numbers are the command line's; a row opens the series with its changes marked.
// node history.mjs URL WANTED.json PICTURES
import { readFileSync } from "node:fs";
import { check, checkTable, hash, launch, open, readTable, settle } from "./app.mjs";

const [url, wantedPath, pictures] = process.argv.slice(2);
const wanted = JSON.parse(readFileSync(wantedPath, "utf8"));
const table = (page, id) => readTable(page.locator(`[data-verb="${id}"] .ht-table`));

const browser = await launch();
try {
  const { page, errors } = await open(browser, url);
  await settle(page);
  if (!wanted.alone) {
    await page.locator(".nav a", { hasText: "Compare" }).click();
    await page.locator(".tabs a", { hasText: "History of runs" }).click();
    await settle(page);
  }
  await page.waitForSelector('[data-verb="history-changes"] .ht-table');
  checkTable("changes", await table(page, "history-changes"), wanted.changes);
  checkTable("latest", await table(page, "history-latest"), wanted.latest);
  check("no series yet", await page.locator('[data-verb="history-series"]').count(), 0);

  await page.locator('[data-verb="history-changes"] tbody tr').first().click();
  await settle(page);
  await page.waitForSelector('[data-verb="history-series"] canvas');
  checkTable("series", await table(page, "history-series"), wanted.series);
  const drawn = await page.locator('[data-verb="history-series"] [role="img"]').getAttribute("aria-label");
  if (!drawn.includes(wanted.mark)) throw new Error(`the change is not marked: ${drawn}`);
  if (!(await hash(page)).includes("path=step")) throw new Error(`the choice is not in the URL: ${await hash(page)}`);
  check("names of a store are no markup", await page.locator("main i:not([style]), main b b").count(), 0);
  if (pictures) await page.screenshot({ path: `${pictures}/history-${wanted.alone ? "alone" : "beside"}-light-1280.png`, fullPage: true });
  for (const [width, height] of [[390, 844], [1024, 768]]) {
    await page.setViewportSize({ width, height });
    await settle(page);
    const wide = await page.evaluate(() => document.querySelector(".main").scrollWidth - document.querySelector(".main").clientWidth);
    if (wide > 1) throw new Error(`${wide} px too wide at ${width}`);
  }
  check("console", errors, []);
} finally {
  await browser.close();
}
