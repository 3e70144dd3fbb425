// SPDX-License-Identifier: Apache-2.0
// A large job on the page: node ranks.mjs URL WANTED. WANTED is JSON: the slow node, its ranks, how late its latest one is, and the steps. Nodes come first, the slow one
// above all others; a click opens its ranks, another one the timeline of a rank. Of the timeline only ranks on screen are asked for.
import { go, hash, settle } from "./app.mjs";
import { check, launch, open, quiet, THEMES, violationsOfBoth } from "./browser.mjs";

const [url, wantedText] = process.argv.slice(2), wanted = JSON.parse(wantedText);
const cells = page => page.locator(".rk-space .rk-row").evaluateAll(rows => rows.map(row => [...row.children].map(cell => cell.textContent)));
const shown = page => page.locator(".ht-zoom canvas").getAttribute("data-window");
const ms = ns => `${(ns / 1000).toPrecision(3)} µs`;

async function lookAtNodes(page) {
  const rows = await cells(page);
  check("nodes", rows.length, 8);
  check("the slow node is first, with how late it is and in how many steps", rows[0].slice(0, 3).map(text => text.replace(/\u2009/g, " ")), [wanted.node, ms(wanted.worst), `${wanted.steps} of ${wanted.steps}`]);
  check("the others are within noise", rows.slice(1).every(row => row[4] === "within noise"), true);
  check("tabs", await page.getByRole("radio").allInnerTexts(), ["Nodes", "Data-parallel replicas", "Tensor-parallel groups", "Ranks"]);
  const lead = await page.locator(".head .lead").innerText();
  if (!lead.startsWith("64 ranks · 8 nodes × 8 · DP 8 · TP 8 (from process groups)")) throw new Error(`the lead says ${lead}`);
}

// Zooming by the wheel, by dragging and by keys; all again by 0.
async function zoomMap(page) {
  const map = page.locator(".ht-zoom canvas"), box = await map.boundingBox(), whole = await shown(page);
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
  await page.mouse.wheel(0, 10);
  check("the wheel alone scrolls the page", await shown(page), whole);
  await page.keyboard.down("Control");
  for (let i = 0; i < 4; i++) await page.mouse.wheel(0, -120);
  await page.keyboard.up("Control");
  await quiet(page);
  const [r0, r1] = (await shown(page)).split(" ").map(Number);
  if (!(r1 - r0 < 4)) throw new Error(`zoomed to ${r0} to ${r1}`);
  await map.focus();
  await page.keyboard.press("0");
  check("all again", await shown(page), whole);
  const at = (row, rows) => box.y + 18 + (box.height - 20) * row / rows;
  await page.mouse.move(box.x + box.width * 0.3, at(2.1, 8));
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.9, at(4.9, 8), { steps: 4 });
  await page.mouse.up();
  check("a rectangle", (await shown(page)).split(" ").slice(0, 2), ["2.0", "5.0"]);
  await page.getByRole("button", { name: "show all" }).click();
  check("all by the button", await shown(page), whole);
}

async function openGroup(page) {
  await page.locator(".rk-space .rk-row button").first().click();
  await settle(page);
  check("its address", await hash(page), `#/job/ranks?in=node%3A${wanted.node}`);
  check("its ranks", (await cells(page)).map(row => Number(row[0])).sort((a, b) => a - b), wanted.ranks);
  check("all are slow", await page.locator(".rk-row.slow").count(), wanted.ranks.length);
  await go(page, "#/job/ranks?by=rank");
  check("ranks in sight only", (await page.locator(".rk-space .rk-row").count()) < 40, true);
  const first = (await cells(page)).slice(0, 8).map(row => Number(row[0])).sort((a, b) => a - b);
  check("the slow ones first", first, wanted.ranks);
}

// Which ranks' tracks were asked for.
async function timeline(page) {
  const asked = [];
  page.on("request", request => { const found = /tracks\?.*open=([^&]+)/.exec(decodeURIComponent(request.url())); if (found) asked.push(found[1]); });
  await go(page, "#/job/timeline");
  await page.locator(".tl-label.rank").first().waitFor();
  await quiet(page);
  check("the first ranks, then what is on screen", asked[0], "0-7");
  const before = asked.length;
  check("not all", asked.join().includes("63"), false);
  await page.locator(".tl-scroll").evaluate(one => { one.scrollTop = one.scrollHeight; });
  await page.waitForFunction(() => document.querySelector(".tl-canvas")?.dataset.waiting === "0");
  await page.locator(".tl-label.rank", { hasText: "rank 63" }).waitFor();
  await page.waitForFunction(() => !globalThis.asked.size);
  await page.locator(".tl-label.rank button", { hasText: "rank 63" }).click();
  await page.locator(".tl-label", { hasText: "stream 20" }).first().waitFor();
  check("more was asked for", asked.length > before, true);
  check("what is folded is short", (await hash(page)).length < 200, true);
  // an event of a rank that is not open opens it
  await page.evaluate(() => { location.hash = "#/job/timeline?event=33%3A3"; });
  await page.locator(".tl-details").waitFor();
  await page.waitForFunction(() => document.querySelector(".tl-canvas")?.dataset.chosen === "33:3");
  await page.locator(".tl-label", { hasText: "stream 7" }).first().waitFor();
  check("a rank that is chosen is open", await page.evaluate(async () => { location.hash = "#/job/timeline?rank=50"; return true; }), true);
  await page.locator(".tl-label.rank button[aria-expanded=true]", { hasText: "rank 50" }).waitFor();
  await page.locator(".tl-label", { hasText: "stream 7" }).first().waitFor();
}

const browser = await launch();
try {
  for (const theme of THEMES) {
    const { page, errors } = await open(browser, `${url}#/job/ranks`, { theme });
    await page.locator(".rk-space .rk-row").first().waitFor();
    await settle(page);
    await quiet(page);
    await lookAtNodes(page);
    check(`axe ${theme}`, await violationsOfBoth(page), []);
    for (const width of [390, 1280, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      await quiet(page);
      check(`nothing is wider than ${width}`, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
      if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/ranks-${width}-${theme}.png` });
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await quiet(page);
    if (theme === "light") {
      await zoomMap(page);
      await openGroup(page);
      await timeline(page);
    }
    check("errors", errors, []);
    await page.close();
  }
} finally {
  await browser.close();
}
