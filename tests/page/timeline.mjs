// SPDX-License-Identifier: Apache-2.0
// The trace view in Chromium: node timeline.mjs URL RUN FACTS SHOTS. FACTS is JSON of what the command line says about
// the run (test_timeline.py); the script checks what can be seen, and prints as JSON what the selection's sums were.
import { check, frames, launch, LONG, open, quiet } from "./browser.mjs";
import { join } from "node:path";

const [url, run, factsText, shots] = process.argv.slice(2);
const facts = JSON.parse(factsText);
const place = query => `${url}#/${encodeURIComponent(run)}/timeline${query ? "?" + query : ""}`;
const truth = (what, holds) => { if (!holds) throw new Error(what); };

// Movement has ended, so that the view is in the URL, and nothing is asked for any more.
async function still(page) {
  await frames(page);
  await page.waitForFunction(() => {
    const shown = document.querySelector(".tl-canvas")?.dataset, said = new URLSearchParams(location.hash.split("?")[1] ?? "");
    return shown?.waiting === "0" && shown.from === said.get("from") && shown.to === said.get("to");
  }, null, { timeout: 30000, polling: 40 });
  await quiet(page);
}
const said = (page, name) => page.locator(".tl-canvas").evaluate((canvas, key) => canvas.dataset[key], name);
const view = async page => [Number(await said(page, "from")), Number(await said(page, "to"))];
const query = page => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.split("?")[1] ?? "")));
const chosen = async page => (await query(page)).event;
async function waitChosen(page, id) {
  await page.waitForFunction(wanted => document.querySelector(".tl-canvas")?.dataset.chosen === wanted, id, { timeout: 15000, polling: 40 })
    .catch(async () => { throw new Error(`chosen is ${await said(page, "chosen")}, wanted ${id}`); });
}
// How many colours a picture has: an empty one has few.
const colours = page => page.locator(".tl-canvas").evaluate(canvas => {
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, seen = new Set();
  for (let i = 0; i < data.length; i += 4 * 13) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  return seen.size;
});

// The pixels under points of the page; of one above the canvas that of its first line.
const colourAt = (page, points) => page.locator(".tl-canvas").evaluate((canvas, places) => {
  const box = canvas.getBoundingClientRect(), scale = canvas.width / box.width, copy = document.createElement("canvas");
  const context = Object.assign(copy, { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  return places.map(({ x, y }) => {
    context.drawImage(canvas, Math.floor((x - box.left) * scale), Math.max(0, Math.floor((y - box.top) * scale)), 1, 1, 0, 0, 1, 1);
    return context.getImageData(0, 0, 1, 1).data.join();
  });
}, points);

async function at(page, ns, label, lane) {
  const box = await page.locator(".tl-canvas").boundingBox(), [from, to] = await view(page);
  const row = await page.locator(".tl-label", { hasText: label }).first().boundingBox();
  return { x: box.x + (ns - from) / (to - from) * box.width, y: row.y + (lane + 0.5) * 16 };
}

async function search(page) {
  const { search: word, matches } = facts;
  await page.keyboard.press("/");
  await page.keyboard.type(word);
  await page.keyboard.press("Enter");
  await waitChosen(page, matches[0].id);
  await still(page);
  truth("matches are counted", (await page.locator(".tl-search .count").innerText()) === `1 of ${matches.length}`);
  const [from, to] = await view(page);
  truth("the view holds the match", from <= matches[0].start_ns && matches[0].end_ns <= to);
  truth("and is near", (to - from) < 400 * Math.max(1, matches[0].end_ns - matches[0].start_ns));
  truth("its name is told", (await page.locator(".tl-name").getAttribute("title")).toLowerCase().includes(word));
  await page.keyboard.press("Escape"); // out of the box
  await page.keyboard.press("n");
  await waitChosen(page, matches[1].id);
  await page.keyboard.press("n");
  await waitChosen(page, matches[2].id);
  await page.keyboard.press("p");
  await waitChosen(page, matches[1].id);
  await page.keyboard.press("p");
  await page.keyboard.press("p"); // round and round
  await waitChosen(page, matches.at(-1).id);
}

// The kernel's launch is a link, an arrow, and leads back.
async function flow(page) {
  const { kernel } = facts;
  await page.goto(place(`event=${kernel.id}`));
  await waitChosen(page, kernel.id);
  await still(page);
  truth("there is an arrow", Number(await said(page, "arrows")) >= 1);
  await page.locator(".tl-links button", { hasText: "launch ←" }).first().click();
  await waitChosen(page, kernel.launch);
  await page.locator(".tl-links button", { hasText: "launched →" }).first().click();
  await waitChosen(page, kernel.id);
  await page.goBack();
  await waitChosen(page, kernel.launch);
  await page.goBack();
  await waitChosen(page, kernel.id);
  const stack = await page.locator("ol.tl-links li").count();
  check("depth of the call stack", stack, kernel.depth);
  for (const [name, value] of kernel.args) {
    const row = page.locator(".tl-fields tr").filter({ has: page.locator("th", { hasText: name }) }).first();
    check(`argument ${name}`, await row.locator("td").innerText(), value);
  }
}

// A kernel is where its time says, and a click finds it.
async function click(page) {
  const { kernel } = facts;
  await page.goto(place(`from=${kernel.start_ns - 3 * kernel.dur_ns}&to=${kernel.start_ns + 4 * kernel.dur_ns}`));
  await page.waitForSelector(".tl-canvas");
  await still(page);
  const point = await at(page, kernel.start_ns + kernel.dur_ns / 2, kernel.label, kernel.lane);
  await page.mouse.move(point.x, point.y);
  truth("the tip names it", (await page.locator(".tl-tip").innerText()).startsWith(kernel.short));
  const [inside, edge, above] = await colourAt(page, [point, { x: point.x, y: point.y + 8 }, { x: point.x, y: 0 }]);
  truth("it is painted there, and ends with its lane", inside !== edge && inside !== above);
  const before = await view(page);
  await page.mouse.click(point.x, point.y);
  await waitChosen(page, kernel.id);
  await still(page);
  check("a click does not move the view", await view(page), before);
}

async function keys(page) {
  await page.goto(place(""));
  await page.reload();
  await page.waitForSelector(".tl-canvas");
  await still(page);
  const span = async () => { const [from, to] = await view(page); return to - from; };
  const whole = await span();
  truth("everything is shown at first", whole >= facts.to_ns && whole < facts.to_ns * 1.3);
  await page.mouse.move(700, 500);
  await page.keyboard.press("w");
  await still(page);
  const near = await span();
  truth("w zooms in", near < whole);
  const [left] = await view(page);
  await page.keyboard.press("d");
  await still(page);
  const [right] = await view(page);
  truth("d goes right", right > left && Math.abs(await span() - near) < 2);
  await page.keyboard.press("a"); // how far depends on how long the key was down
  await still(page);
  truth("a goes left", (await view(page))[0] < right && Math.abs(await span() - near) < 2);
  await page.keyboard.press("s");
  await still(page);
  truth("s zooms out", (await span()) > near);
  await page.keyboard.press("f");
  await still(page);
  truth("f shows all", Math.abs(await span() - whole) < whole * 0.05);
  if (facts.steps.length > 1) {
    const shown = async () => { const [from, to] = await view(page); return facts.steps.findIndex(([start, end]) => from <= start && end <= to && to - from < 1.2 * (end - start)); };
    await page.keyboard.press("]");
    await still(page);
    const first = await shown();
    truth("] goes to a step", first >= 0);
    await page.keyboard.press("[");
    await still(page);
    check("[ goes to the one before", await shown(), Math.max(0, first - 1));
    await page.keyboard.press("]");
    await still(page);
    check("] goes to the one after", await shown(), Math.max(0, first - 1) + 1);
  }
  await page.keyboard.press("m");
  await page.waitForFunction(() => document.querySelector(".tl-canvas").dataset.marks === "1");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys of the timeline" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys of the timeline" }).waitFor({ state: "detached" });
  const box = await page.locator(".tl-canvas").boundingBox(), time = async x => { const [from, to] = await view(page); return from + (x - box.x) / box.width * (to - from); };
  const under = await time(800);
  await page.mouse.move(800, 400);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -300);
  await page.keyboard.up("Control");
  await still(page);
  truth("the wheel zooms at the pointer", Math.abs(await time(800) - under) < (await span()) / 100);
}

// The state is the URL's: the same after a reload.
async function state(page) {
  const { kernel } = facts;
  await page.goto(place(`event=${kernel.id}&show=queue&from=${kernel.start_ns - 50000}&to=${kernel.start_ns + 90000}`));
  await waitChosen(page, kernel.id);
  await still(page);
  const before = await query(page), shown = await view(page);
  check("the view that was asked for", shown, [kernel.start_ns - 50000, kernel.start_ns + 90000]);
  await page.reload();
  await waitChosen(page, kernel.id);
  await still(page);
  check("the state after a reload", await query(page), before);
  check("the view after a reload", await view(page), shown);
  check("the overlay is on", await page.getByRole("button", { name: "queue length" }).getAttribute("aria-pressed"), "true");
  check("the event", await chosen(page), kernel.id);
}

// Drag over one stream; answers what the panel says.
async function select(page) {
  const { kernel } = facts;
  await page.goto(place(`from=${kernel.start_ns - 400000}&to=${kernel.start_ns + 600000}`));
  await page.reload();
  await page.waitForSelector(".tl-canvas");
  await still(page);
  const box = await page.locator(".tl-canvas").boundingBox(), point = await at(page, kernel.start_ns, kernel.label, 0), [from, to] = await view(page);
  const x0 = Math.round(box.x + box.width * 0.2), x1 = Math.round(box.x + box.width * 0.8);
  await page.mouse.move(x0, point.y);
  await page.mouse.down();
  await page.mouse.move((x0 + x1) / 2, point.y);
  await page.mouse.move(x1, point.y);
  await page.mouse.up();
  await page.waitForSelector(".tl-sums");
  const ns = x => from + (x - box.x) / box.width * (to - from);
  const sums = await readSums(page);
  await page.keyboard.press("m");
  await page.waitForFunction(() => document.querySelector(".tl-canvas").dataset.marks === "2");
  await page.reload(); // selection and marks are the URL's too
  await page.waitForSelector(".tl-sums");
  await still(page);
  check("the selection after a reload", await readSums(page), sums);
  check("marks after a reload", await said(page, "marks"), "2");
  await page.keyboard.press("m");
  await page.keyboard.press("Escape");
  await page.locator(".tl-sums").first().waitFor({ state: "detached" });
  const { sel, marks } = await query(page);
  check("nothing is selected, nothing is marked", [sel ?? "", marks ?? ""], ["", ""]);
  return { from: ns(x0), to: ns(x1), pixel: (to - from) / box.width, classes: sums[0], names: sums[1] };
}

const readSums = page => page.locator(".tl-sums").evaluateAll(tables => tables.map(table => {
  const columns = [...table.querySelectorAll("th")].map(head => head.dataset.column);
  return [...table.querySelectorAll("tbody tr")].map(row => Object.fromEntries([...row.cells].map((cell, i) =>
    [columns[i], cell.querySelector("button")?.title ?? (cell.title || cell.innerText)])));
}));

// Fingers: one moves, two zoom around what is between them, a tap chooses.
async function touch(page) {
  const { kernel } = facts;
  await page.goto(place(`from=${kernel.start_ns - 400000}&to=${kernel.start_ns + 600000}`));
  await page.reload();
  await page.waitForSelector(".tl-canvas");
  await still(page);
  const client = await page.context().newCDPSession(page), box = await page.locator(".tl-canvas").boundingBox();
  const send = (type, ...points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const [x, y] = [Math.round(box.x + box.width / 2), box.y + 200], before = await view(page), ns = (before[1] - before[0]) / box.width;
  await send("touchStart", [x, y]);
  for (let moved = 20; moved <= 100; moved += 20) await send("touchMove", [x - moved, y]);
  await send("touchEnd");
  await still(page);
  const after = await view(page);
  truth("a finger moves the picture", Math.abs(after[0] - before[0] - 100 * ns) < 12 * ns && Math.abs(after[1] - after[0] - (before[1] - before[0])) < 2);
  check("and selects nothing", await page.locator(".tl-sums").count(), 0);
  const middle = after[0] + (x - box.x) * ns;
  await send("touchStart", [x - 50, y], [x + 50, y]);
  for (let apart = 60; apart <= 100; apart += 10) await send("touchMove", [x - apart, y], [x + apart, y]);
  await send("touchEnd");
  await still(page);
  const [from, to] = await view(page), span = to - from;
  truth("two fingers zoom", Math.abs(span / (after[1] - after[0]) - 0.5) < 0.08);
  truth("around what is between them", Math.abs(from + (x - box.x) / box.width * span - middle) < span / 20);
  await page.goto(place(`from=${kernel.start_ns - 3 * kernel.dur_ns}&to=${kernel.start_ns + 4 * kernel.dur_ns}`));
  await still(page);
  const point = await at(page, kernel.start_ns + kernel.dur_ns / 2, kernel.label, kernel.lane);
  await send("touchStart", [point.x, point.y]);
  await send("touchEnd");
  await waitChosen(page, kernel.id);
}

async function rows(page) {
  await page.goto(place(""));
  await page.reload();
  await page.waitForSelector(".tl-canvas");
  await still(page);
  const labels = page.locator(".tl-label:not(.rank)"), n = await labels.count();
  await labels.first().hover();
  await labels.first().getByRole("button", { name: /^Pin / }).click();
  check("one is pinned", await page.locator(".tl-pinned .tl-label").count(), 1);
  await page.locator(".tl-pinned .tl-label").getByRole("button", { name: /^Unpin / }).click();
  check("none is pinned", await page.locator(".tl-pinned .tl-label").count(), 0);
  await page.getByRole("button", { name: "Collapse rank 0" }).click();
  truth("a collapsed rank has no rows", (await labels.count()) < n);
  await still(page);
  truth("but a band", (await colours(page)) > 4);
  await page.getByRole("button", { name: "Expand rank 0" }).click();
  check("rows are back", await labels.count(), n);
  await page.getByText("processes").click();
  await page.locator(".tl-menu input").first().uncheck();
  truth("a process is left out", (await labels.count()) < n);
}

// What is drawn at both sizes and in both themes: all four with pictures in `make nightly`, otherwise one of each.
async function pictures(browser) {
  for (const [width, height] of [[1280, 900], [2560, 1440]]) {
    for (const theme of LONG ? ["light", "dark"] : [width > 2000 ? "light" : "dark"]) {
      const { page, errors } = await open(browser, place(`event=${facts.kernel.id}&show=critical,queue,memory,bandwidth`), { width, height, theme });
      await waitChosen(page, facts.kernel.id);
      await still(page);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check("nothing is wider than the page", overflow, 0);
      if (LONG) await page.screenshot({ path: join(shots, `timeline-${run}-${width}-${theme}.png`) });
      await page.keyboard.press("Escape");
      await page.keyboard.press("f");
      await still(page);
      if (LONG) await page.screenshot({ path: join(shots, `timeline-${run}-all-${width}-${theme}.png`) });
      check("errors", errors, []);
      await page.close();
    }
  }
}

const browser = await launch();
try {
  const { page, errors } = await open(browser, place(""));
  await page.waitForSelector(".tl-canvas");
  await still(page);
  truth("something is painted", (await colours(page)) > 8);
  await search(page);
  await flow(page);
  await click(page);
  await state(page);
  await keys(page);
  await rows(page);
  await touch(page);
  const selection = await select(page);
  check("errors", errors, []);
  if (facts.pictures) await pictures(browser);
  console.log(JSON.stringify(selection));
} finally {
  await browser.close();
}
