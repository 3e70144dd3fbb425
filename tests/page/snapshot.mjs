// SPDX-License-Identifier: Apache-2.0
// The memory view of a run of snapshots: findings first, bands whose heights are the engine's, the peak marked, a band's blocks
// with the user's own line first, the map of addresses at a chosen moment, zoom. node snapshot.mjs URL WANTED.json PICTURES
import { readFileSync } from "node:fs";
import { check, checkTable, go, hash, launch, open, readTable, settle } from "./app.mjs";
import { quiet } from "./browser.mjs";

const [url, wantedPath, pictures] = process.argv.slice(2);
const wanted = JSON.parse(readFileSync(wantedPath, "utf8"));

// Bands of the picture by name: how high each is at its highest, as a share of the plot.
const bands = page => page.locator('[data-verb="memory-live"] polygon').evaluateAll(list =>
  Object.fromEntries(list.map(one => [one.dataset.band, one.getBBox().height])));

// A place inside a band where it is thickest, on the screen.
const inside = (page, name) => page.locator(`[data-verb="memory-live"] polygon[data-band="${name}"]`).evaluate(one => {
  const points = one.getAttribute("points").trim().split(/\s+/).map(text => text.split(",").map(Number));
  const half = points.length / 2;
  let best = 0, at = null;
  for (let i = 0; i < half; i += 2) {
    const top = points[i], bottom = points[points.length - 1 - i];
    if (bottom[1] - top[1] > best) [best, at] = [bottom[1] - top[1], [(top[0] + points[i + 1][0]) / 2, (top[1] + bottom[1]) / 2]];
  }
  const box = one.ownerSVGElement.getBoundingClientRect(), scale = box.width / one.ownerSVGElement.viewBox.baseVal.width;
  return { x: box.left + at[0] * scale, y: box.top + at[1] * scale };
});

const browser = await launch();
try {
  const { page, errors } = await open(browser, url);
  await settle(page);
  await go(page, wanted.at);
  // the view opens with the first, not with what a profiler did not record; each with a capital unless it begins with a name of the file, and
  // the table that shows more
  const heading = await page.locator(".main h1").innerText(), way = await page.locator(".head a.next").innerText();
  const said = [`${heading} ${way}`, ...await page.locator('[data-verb="memory-findings"] p').allInnerTexts()];
  check("findings", said.map(text => text.trim().toLowerCase()), wanted.findings.map(([sentence, view]) => (view === "summary" ? sentence : `${sentence} ${view} →`).toLowerCase()));
  check("sentences", said.filter(text => /^(A|The) /.test(text)).length > 0, true);
  await page.locator(".head a.next").click();
  await settle(page);
  check("table", new URLSearchParams((await hash(page)).split("?")[1]).get("view"), wanted.findings[0][1]);
  await go(page, wanted.at);
  check("bands", Object.keys(await bands(page)).sort(), [...wanted.keys].sort());
  const words = await page.locator('[data-verb="memory-live"] svg text').allTextContents();
  if (!words.some(text => text.startsWith("peak "))) throw new Error(`the peak is not marked: ${words}`);
  if (pictures) await page.screenshot({ path: `${pictures}/memory-snapshot-light-1280.png`, fullPage: true });

  await page.locator('[data-verb="memory-live"] svg').scrollIntoViewIfNeeded();
  await quiet(page); // what is above it may still move it
  const spot = await inside(page, wanted.pick);
  await page.mouse.click(spot.x, spot.y);
  await settle(page);
  const own = await page.locator("ol.stack li").first().innerText();
  check("the user's own line comes first", own.trim(), wanted.pick);
  const at = Number(new URLSearchParams((await hash(page)).split("?")[1]).get("at"));
  if (!Number.isInteger(at)) throw new Error(`no moment was chosen: ${await hash(page)}`);

  await go(page, wanted.picked);
  checkTable("blocks", await readTable(page.locator("[data-picked] .ht-table")), wanted.blocks);
  check("map", await page.locator("[data-map]").getAttribute("data-map"), wanted.event);
  if (await page.locator("[data-map] canvas").count() !== 1) throw new Error("no map of addresses");
  if (pictures) await page.screenshot({ path: `${pictures}/memory-snapshot-picked-1280.png`, fullPage: true });

  await go(page, wanted.zoomed);
  const table = await page.locator('[data-verb="memory-live"] svg').getAttribute("aria-label");
  if (!table.includes(wanted.zoomedMost)) throw new Error(`zoomed: ${table}, wanted at most ${wanted.zoomedMost}`);
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
