// SPDX-License-Identifier: Apache-2.0
// Colours of the same things on the page and in the report, in both themes: node heat.mjs PAGE_URL KERNELS_URL REPORT_FILE
// prints {light: {page, report, low, high}, dark: ...}, each of page and report the cells of the heat map and the bars of kernels.
import { pathToFileURL } from "node:url";
import { check, frames, launch, open, quiet } from "./browser.mjs";

const [overview, kernels, file] = process.argv.slice(2);
const browser = await launch();

// The colour of each cell: rows of cells begin below the labels of steps, and just below their upper edge there is no text.
const cellsOf = canvas => canvas.evaluate(one => {
  const [, rows, columns] = /: (\d+) by (\d+),/.exec(one.getAttribute("aria-label")).map(Number);
  const scale = one.width / one.getBoundingClientRect().width, all = globalThis.pixels(one);
  const high = (one.height / scale - 22) / rows;
  return Array.from({ length: rows }, (_, row) => {
    const start = 4 * one.width * Math.round((20 + row * high + 1.5) * scale), line = all.slice(start, start + 4 * one.width), found = [];
    for (let x = 0, inside = false; x < one.width; x++) {
      const is = line[4 * x + 3] === 255;
      if (is && !inside) found.push([...line.slice(4 * (x + 2), 4 * (x + 2) + 3)].join(" "));
      inside = is;
    }
    if (found.length !== columns) throw new Error(`${found.length} cells in a row of ${columns}`);
    return found;
  });
});

const mapOf = async page => {
  const chart = page.locator("figure.ht-chart").filter({ hasText: "Rank lateness" }).filter({ has: page.locator("canvas") }).first();
  await chart.waitFor();
  return cellsOf(chart.locator("canvas"));
};
const barsOf = async page => {
  const chart = page.locator("figure.ht-chart").filter({ hasText: /Kernels (by time|that cost most)/ }).first();
  await chart.waitFor();
  return chart.locator("g > rect:nth-of-type(2)").evaluateAll(list => list.slice(0, 5).map(one => getComputedStyle(one).fill));
};

const said = {}, first = await open(browser, overview), second = await open(browser, kernels), report = await open(browser, pathToFileURL(file).href);
// a report is light, for paper; its colours are looked at as a dark page would show them
await report.page.evaluate(() => { delete document.documentElement.dataset.theme; });
for (const theme of ["light", "dark"]) {
  for (const { page } of [first, second, report]) await page.emulateMedia({ colorScheme: theme });
  await quiet(first.page);
  const [low, high] = await first.page.evaluate(() => ["--heat-low", "--heat-high"].map(name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()));
  const map = await mapOf(first.page);
  await quiet(second.page);
  const bars = await barsOf(second.page);
  await frames(report.page);
  said[theme] = { low, high, page: { map, bars }, report: { map: await mapOf(report.page), bars: await barsOf(report.page) } };
  for (const one of [first, second, report]) check("console", one.errors, []);
}
console.log(JSON.stringify(said));
await browser.close();
