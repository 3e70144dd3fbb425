// SPDX-License-Identifier: Apache-2.0
// The timeline by keyboard alone: node walk.mjs URL RUN. Events come in the order of the events table; the panel and the table twin are
// reached; nothing moves by itself where motion is reduced.
import { check, launch, open, quiet, violations } from "./browser.mjs";
import { settle } from "./app.mjs";

const [url, run] = process.argv.slice(2);
const base = `${url}api/v1/runs/${encodeURIComponent(run)}/`;
const ask = async path => (await fetch(base + path)).json();
const chosen = page => page.locator(".tl-canvas").evaluate(canvas => canvas.dataset.chosen);

async function press(page, key, wanted) {
  await page.keyboard.press(key);
  await page.waitForFunction(id => document.querySelector(".tl-canvas")?.dataset.chosen === id, wanted, { timeout: 15000, polling: 40 })
    .catch(async () => { throw new Error(`${key}: got ${await chosen(page)}, wanted ${wanted}`); });
  await quiet(page);
}

// The spans of a lane in order of time, from tiles of the finest level that still covers the run: an oracle that reads them one by one.
async function laneOf(event) {
  const tracks = await ask("tracks"), own = tracks.tracks.find(track => track.rank === event.rank && track.track === event.track);
  const where = `time_ns >= ${own.first_ns} and time_ns <= ${own.last_ns} and tid == ${own.tid} and pid == ${own.pid} and dur_ns >= 0`;
  const table = await ask(`table/events?${new URLSearchParams({ rank: String(event.rank), where, columns: "id", sort: "time_ns", top: "400" })}`);
  const out = [];
  for (const [id] of table.rows) {
    const one = await ask(`event?id=${id}`);
    if (one.track === event.track && one.lane === event.lane) out.push(one);
    if (out.length > 8) break;
  }
  return out.sort((a, b) => a.start_ns - b.start_ns);
}

const browser = await launch();
try {
  for (const [theme, width, height] of [["light", 1280, 900], ["dark", 390, 844]]) {
    const { page, errors } = await open(browser, `${url}#/${encodeURIComponent(run)}/timeline`, { theme, width, height });
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.waitForFunction(() => document.querySelector(".tl-canvas")?.dataset.waiting === "0", null, { polling: 40 });
    await quiet(page);
    // the first one, by the first key
    await page.keyboard.press(".");
    await page.waitForFunction(() => document.querySelector(".tl-canvas").dataset.chosen !== "", null, { polling: 40 });
    await quiet(page);
    const first = await ask(`event?id=${await chosen(page)}`), lane = await laneOf(first), at = lane.findIndex(one => one.id === first.id);
    check("the first of its lane", at, 0);
    for (const k of [1, 2, 3]) await press(page, ".", lane[k].id);
    await press(page, ",", lane[2].id);
    // three at once: every press counts
    await page.keyboard.press(".");
    await page.keyboard.press(".");
    await press(page, ".", lane[5].id);
    check("what is said", (await page.locator(".tl-said").innerText()).includes(`rank ${first.rank}`), true);

    // in and out, where an operator has another one inside
    const nested = await ask("search?q=aten::linear&limit=1"), outer = await ask(`event?id=${nested.events[0].id}`);
    {
      await page.goto(`${url}#/${encodeURIComponent(run)}/timeline?event=${outer.id}`);
      await page.waitForFunction(id => document.querySelector(".tl-canvas")?.dataset.chosen === id, outer.id, { polling: 40 });
      await quiet(page);
      await page.locator(".tl-canvas").focus();
      await page.keyboard.press("ArrowDown");
      await page.waitForFunction(id => document.querySelector(".tl-canvas").dataset.chosen !== id, outer.id, { polling: 40 });
      await quiet(page);
      const inner = await ask(`event?id=${await chosen(page)}`);
      check("inside it", [inner.track, inner.lane, inner.start_ns >= outer.start_ns && inner.end_ns <= outer.end_ns], [outer.track, outer.lane + 1, true]);
      await press(page, "ArrowUp", outer.id);
    }

    // to the panel and back; zoom and move
    await page.locator(".tl-canvas").focus();
    await page.keyboard.press("Enter");
    check("the panel has the keys", await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Details");
    await page.keyboard.press("Escape");
    check("and gives them back", await page.evaluate(() => document.activeElement?.className), "tl-canvas");
    const span = () => page.locator(".tl-canvas").evaluate(canvas => [Number(canvas.dataset.from), Number(canvas.dataset.to)]);
    const before = await span();
    await page.keyboard.press("w");
    await page.waitForFunction(from => Number(document.querySelector(".tl-canvas").dataset.from) > from, before[0], { polling: 40 });
    await quiet(page);
    const zoomed = await span();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(from => Number(document.querySelector(".tl-canvas").dataset.from) > from, zoomed[0], { polling: 40 });

    // the same as a table, by keyboard: the button has the focus, and the first row leads back to its event
    await page.getByRole("button", { name: "table", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".tl-twin").waitFor();
    await settle(page);
    await page.keyboard.press("Escape");

    // nothing moves, and nothing is held against it
    const moving = await page.evaluate(() => document.getAnimations().filter(one => one.playState === "running").length);
    check("what moves by itself", moving, 0);
    const slow = await page.evaluate(() => [...document.querySelectorAll("*")].filter(one => /[1-9]/.test(getComputedStyle(one).transitionDuration)).length);
    check("what takes its time", slow, 0);
    check(`${theme} ${width}: axe`, await violations(page), []);
    check("errors", errors, []);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/walk-${theme}.png` });
    await page.close();
  }
} finally {
  await browser.close();
}
