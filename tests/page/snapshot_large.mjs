// SPDX-License-Identifier: Apache-2.0
// A large snapshot in the memory view: how long until its bands are drawn, how much was sent for it, and how many frames a second
// the picture keeps while the pointer moves over it. node snapshot_large.mjs URL FRAGMENT; prints JSON.
import { settle } from "./app.mjs";
import { launch, open, quiet } from "./browser.mjs";

const [url, fragment] = process.argv.slice(2);
const browser = await launch();
try {
  const { page, errors } = await open(browser, url);
  // the page opens its only run by itself, and would do so behind what is asked for too early
  await settle(page);
  const sent = [];
  page.on("response", async response => {
    if (response.url().includes("memory-snapshot"))
      sent.push({ name: new URL(response.url()).search, bytes: (await response.body().catch(() => "")).length });
  });
  const began = Date.now();
  await page.evaluate(text => { location.hash = text; }, fragment);
  const bands = page.locator('[data-verb="memory-live"] polygon');
  await bands.first().waitFor({ state: "attached", timeout: 60000 });
  const shown = Date.now() - began;
  await page.locator("[data-map] canvas").first().waitFor({ timeout: 60000 });
  const mapped = Date.now() - began;
  await quiet(page);
  const svg = page.locator('[data-verb="memory-live"] svg').first();
  await svg.scrollIntoViewIfNeeded();
  const box = await svg.boundingBox();
  await page.evaluate(() => {
    globalThis.times = [];
    const tick = time => { globalThis.times.push(time); requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  });
  for (let i = 0; i <= 100; i++)
    await page.mouse.move(box.x + box.width * (0.1 + 0.8 * i / 100), box.y + box.height / 2);
  const gaps = await page.evaluate(() => globalThis.times.slice(1).map((time, i) => time - globalThis.times[i]));
  gaps.sort((a, b) => a - b);
  const total = gaps.reduce((a, b) => a + b, 0);
  console.log(JSON.stringify({ shown, mapped, n: await bands.count(), perSecond: 1000 * gaps.length / total,
    slowest: gaps[gaps.length - 1], p95: gaps[Math.floor(gaps.length * 0.95)], sent, errors }));
} finally {
  await browser.close();
}
