// SPDX-License-Identifier: Apache-2.0
// Measure the page in Chromium: node bench/timeline.mjs URL [WIDTH HEIGHT]. URL is that of a view, as in
// http://127.0.0.1:6006/#/RUN/timeline. Of a timeline: when the first picture was painted after the page was asked for, frames per second while
// zooming and panning with held keys and scrolling, and how long the server takes for tiles anywhere, at any level, each asked once. Of ranks: when the list and the
// heat map were there, frames per second while the map is zoomed and the list is scrolled, and when the timeline of a rank is painted after a click. Of any other view: when
// its heading was there, and when nothing was asked for any more. Beside frames per second, which depend on what else the machine does, stands the processor time of the
// page's thread for each frame, whatever it did: own code, layout, painting; by the browser's own record.
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

// What the page's thread took from frame to frame, of all that it did, in ms: tasks of the browser's record that begin between the callbacks of two frames.
function busyMs(buffer) {
  const { traceEvents } = JSON.parse(buffer.toString()), tasks = traceEvents.filter((event) => event.name === "RunTask" && event.ph === "X");
  const fired = traceEvents.filter((event) => event.name === "FireAnimationFrame").sort((a, b) => a.ts - b.ts);
  const own = (event) => fired.length > 0 && event.pid === fired[0].pid && event.tid === fired[0].tid;
  const sums = new Array(Math.max(0, fired.length - 1)).fill(0);
  let at = 0;
  for (const task of tasks.filter(own).sort((a, b) => a.ts - b.ts)) {
    while (at + 1 < fired.length && fired[at + 1].ts < task.ts + task.dur) at++;
    if (at < sums.length) sums[at] += (task.tdur ?? task.dur) / 1000;
  }
  return sums.sort((a, b) => a - b);
}

// Frames while something happens, by the browser's own clock.
async function frames(what, action) {
  await page.evaluate(() => {
    window.frameTimes = [];
    const tick = (now) => { window.frameTimes.push(now); window.frameTick = requestAnimationFrame(tick); };
    window.frameTick = requestAnimationFrame(tick);
  });
  await browser.startTracing(page, { categories: ["devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel"] });
  await action();
  const own = busyMs(await browser.stopTracing()), took = (share) => (own[Math.min(own.length - 1, Math.floor(own.length * share))] ?? 0).toFixed(1);
  const times = await page.evaluate(() => { cancelAnimationFrame(window.frameTick); return window.frameTimes; });
  const gaps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
  const rate = 1000 * gaps.length / gaps.reduce((sum, gap) => sum + gap, 0);
  const at = (share) => (gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))] ?? 0).toFixed(1);
  console.log(`${what}: ${rate.toFixed(1)} frames/s, gap p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms; page's thread p50 ${took(0.5)} ms, p95 ${took(0.95)} ms, p99 ${took(0.99)} ms`);
  return rate;
}

async function hold(key, ms) {
  await page.keyboard.down(key);
  await page.waitForTimeout(ms);
  await page.keyboard.up(key);
}

async function tiles(n) {
  const [, root, run] = /^(.*\/)#\/([^/]+)\//.exec(url), base = `${root}api/v1/runs/${run}/`;
  const tracks = await (await fetch(`${base}tracks?open=-`)).json(), times = [], levels = Math.ceil(Math.log2(tracks.to_ns / 512)) + 1;
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

const since = (begin) => `${Date.now() - begin} ms`;

async function measureTimeline(asked) {
  await page.waitForFunction(painted, null, { polling: 30, timeout: 60000 });
  console.log(`first picture ${since(asked)} after the page was asked for`);
  await page.waitForTimeout(800);
  await page.locator(".tl-canvas").hover();
  await frames("zoom in", () => hold("w", 2000));
  await frames("pan", () => hold("d", 3000));
  await frames("pan back", () => hold("a", 3000));
  await frames("zoom out", () => hold("s", 2500));
  await frames("scroll", async () => { for (let i = 0; i < 40; i++) { await page.mouse.wheel(0, i < 20 ? 60 : -60); await page.waitForTimeout(25); } });
  await tiles(400);
}

async function measureRanks(asked) {
  await page.locator(".rk-space .rk-row").first().waitFor({ timeout: 120000 });
  console.log(`list of ranks ${since(asked)} after the page was asked for`);
  const map = page.locator(".ht-zoom canvas");
  await map.waitFor({ timeout: 120000 });
  console.log(`heat map ${since(asked)}`);
  await page.waitForFunction(() => document.querySelectorAll(".state.busy, .stale").length === 0, null, { timeout: 120000, polling: 30 });
  console.log(`everything ${since(asked)}`);
  await page.getByRole("radio", { name: "Ranks", exact: true }).click();
  await map.hover();
  await page.keyboard.down("Control");
  await frames("zoom in the map", async () => { for (let i = 0; i < 60; i++) { await page.mouse.wheel(0, -40); await page.waitForTimeout(16); } });
  await frames("zoom out of the map", async () => { for (let i = 0; i < 60; i++) { await page.mouse.wheel(0, 40); await page.waitForTimeout(16); } });
  await page.keyboard.up("Control");
  await page.locator(".rk-scroll").hover();
  await frames("scroll the list", async () => { for (let i = 0; i < 100; i++) { await page.mouse.wheel(0, 240); await page.waitForTimeout(16); } });
  const clicked = Date.now();
  await page.locator(".rk-space .rk-row button").nth(6).click();
  await page.waitForFunction(painted, null, { polling: 20, timeout: 60000 });
  console.log(`timeline of ${/rank=(\d+)/.exec(page.url())?.[0]} ${since(clicked)} after the click`);
}

async function measureOther(asked) {
  await page.locator(".main h1").first().waitFor({ timeout: 120000 });
  console.log(`heading ${since(asked)} after the page was asked for`);
  await page.waitForFunction(() => !document.querySelector(".state.busy, .stale") && document.querySelector(".main section"), null, { timeout: 240000, polling: 30 });
  console.log(`everything ${since(asked)}`);
}

const asked = Date.now(), view = /#\/[^/]+\/([a-z-]+)/.exec(url)?.[1];
await page.goto(url);
await (view === "timeline" ? measureTimeline : view === "ranks" ? measureRanks : measureOther)(asked);
for (const problem of problems) console.log(`error: ${problem}`);
await browser.close();
process.exit(problems.length > 0 ? 1 : 0);
