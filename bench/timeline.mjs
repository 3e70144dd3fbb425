// SPDX-License-Identifier: Apache-2.0
// Measure the trace view in Chromium: node bench/timeline.mjs URL [WIDTH HEIGHT]. URL is that of a timeline, as in
// http://127.0.0.1:6006/#/RUN/timeline. Prints when the first picture was painted after the page was asked for (and
// after the tracks were there), frames per second while zooming and panning with held keys, and how long the server
// takes for tiles anywhere, at any level, each asked once.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";

const web = join(dirname(fileURLToPath(import.meta.url)), "../web");
const { chromium } = createRequire(join(web, "package.json"))("playwright-core");
const [url, width = "1920", height = "1080"] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) } });
const problems = [];
page.on("pageerror", (error) => problems.push(error.message));

// Painted: some pixel of the canvas is neither background nor grid.
const painted = () => {
  const canvas = document.querySelector(".tl-canvas");
  if (!canvas || canvas.width < 10) return false;
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, Math.min(canvas.height, 400)).data, seen = new Set();
  for (let i = 0; i < data.length; i += 4 * 37) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  return seen.size > 6;
};

// Frames while something happens, by the browser's own clock.
async function frames(what, action) {
  await page.evaluate(() => {
    window.frameTimes = [];
    const tick = (now) => { window.frameTimes.push(now); window.frameTick = requestAnimationFrame(tick); };
    window.frameTick = requestAnimationFrame(tick);
  });
  await action();
  const times = await page.evaluate(() => { cancelAnimationFrame(window.frameTick); return window.frameTimes; });
  const gaps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
  const rate = 1000 * gaps.length / gaps.reduce((sum, gap) => sum + gap, 0);
  const at = (share) => (gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))] ?? 0).toFixed(1);
  console.log(`${what}: ${rate.toFixed(1)} frames/s, gap p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`);
  return rate;
}

async function hold(key, ms) {
  await page.keyboard.down(key);
  await page.waitForTimeout(ms);
  await page.keyboard.up(key);
}

async function tiles(n) {
  const [, root, run] = /^(.*\/)#\/([^/]+)\//.exec(url), base = `${root}api/v1/runs/${run}/`;
  const tracks = await (await fetch(`${base}tracks`)).json(), times = [], levels = Math.ceil(Math.log2(tracks.to_ns / 512)) + 1;
  let seed = 1, most = 0;
  const below = (limit) => { seed = (seed * 48271) % 2147483647; return Math.floor(seed / 2147483647 * limit); };
  for (let i = 0; i < n; i++) {
    const level = below(levels), index = below(tracks.to_ns / (512 * 2 ** level)), { rank } = tracks.ranks[below(tracks.ranks.length)];
    const begin = performance.now();
    most = Math.max(most, (await (await fetch(`${base}tile?rank=${rank}&level=${level}&index=${index}`)).arrayBuffer()).byteLength);
    times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(n - 1, Math.floor(n * share))].toFixed(1);
  console.log(`${n} tiles: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms, largest ${most} bytes`);
}

const asked = Date.now();
await page.goto(url);
await page.waitForFunction(painted, null, { polling: 30, timeout: 60000 });
console.log(`first picture ${Date.now() - asked} ms after the page was asked for`);
await page.waitForTimeout(800);
await page.locator(".tl-canvas").hover();
const rates = [];
rates.push(await frames("zoom in", () => hold("w", 2000)));
rates.push(await frames("pan", () => hold("d", 3000)));
rates.push(await frames("pan back", () => hold("a", 3000)));
rates.push(await frames("zoom out", () => hold("s", 2500)));
rates.push(await frames("scroll", async () => { for (let i = 0; i < 40; i++) { await page.mouse.wheel(0, i < 20 ? 60 : -60); await page.waitForTimeout(25); } }));
await tiles(400);
for (const problem of problems) console.log(`error: ${problem}`);
await browser.close();
process.exit(problems.length > 0 ? 1 : 0);
