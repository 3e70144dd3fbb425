// SPDX-License-Identifier: Apache-2.0
// What the tests in Chromium share: a browser, pages that note every error, checks that say what differs.
import { createRequire } from "node:module";
const require = createRequire(new URL("../../web/package.json", import.meta.url));
export const { chromium } = require("playwright-core");
const axe = require("axe-core/axe.min.js");

export const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

// `make nightly` (support.LONG) looks at everything, in both themes; every change at what shows the same.
export const LONG = Boolean(process.env.HOLOTRACE_LONG);
// The other theme has other colours and nothing else: what is done with a page is done in one, and violationsOfBoth looks at the colours.
export const THEMES = LONG ? ["light", "dark"] : ["light"];

const start = (...more) => chromium.launch({ executablePath: EXECUTABLE, args: [...ARGS, ...more] });

// One Chromium for all that launch it from now on (keep.mjs), with one context and one renderer, which an empty page keeps: to start another,
// and to compile the page anew in it, takes longer than most of what is done with a page. It is spoken to through its pipe: what is said to a
// connection of its own is packed, an axe of a megabyte for each page.
let kept = null;
export async function keep() {
  const browser = await start("--renderer-process-limit=1");
  kept = await browser.newContext();
  const page = await kept.newPage();
  await page.route("http://127.0.0.1/", route => route.fulfill({ body: "" }));
  await page.goto("http://127.0.0.1/");
  return browser;
}

async function newPage({ viewport = null, colorScheme = null } = {}) {
  const page = await kept.newPage();
  if (viewport) await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  return page;
}

// The Chromium that is kept, or one of its own. What a script opens is closed with it.
export function launch() {
  return kept ? { newPage, close: () => Promise.all([kept.clearPermissions(), ...kept.pages().slice(1).map(page => page.close())]) } : start();
}

// What another script left at this address: a page begins with nothing.
async function forget(page, url) {
  await page.context().clearCookies();
  const client = await page.context().newCDPSession(page);
  await client.send("Storage.clearDataForOrigin", { origin: new URL(url).origin, storageTypes: "local_storage" });
  await client.detach();
}

// Runs in every page before its own code: what is asked for and not answered yet. News of runs are asked for all the
// time, and do not count. Pixels of a canvas, four numbers each, are those of a copy, which can be read again without a warning.
function countRequests() {
  globalThis.pixels = canvas => {
    const { width, height } = canvas;
    const copy = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    return copy.getImageData(0, 0, width, height).data;
  };
  const own = globalThis.fetch;
  globalThis.asked = new Set();
  globalThis.fetch = (what, options) => {
    const name = String(what?.url ?? what), answer = own(what, options), mark = { name };
    if (!/\/runs\?.*after=/.test(name)) globalThis.asked.add(mark);
    const forget = () => globalThis.asked.delete(mark);
    // an answer is there when its body was read, which takes frames of its own
    return answer.then(response => {
      for (const read of ["json", "text", "arrayBuffer", "blob"]) {
        const body = response[read].bind(response);
        response[read] = () => body().finally(forget);
      }
      if (!response.ok || response.status === 204) forget();
      return response;
    }, error => { forget(); throw error; });
  };
}

// Two frames: what a click or an address changes is drawn by then.
export const frames = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));

// Nothing is asked for any more, also after what came was drawn, three times.
export async function quiet(page, timeout = 30000) {
  const open = await page.evaluate(async ms => {
    const end = Date.now() + ms, frame = () => new Promise(done => requestAnimationFrame(done));
    for (let rounds = 0; rounds < 3; rounds++) {
      await frame();
      await frame();
      if (globalThis.asked.size > 0) rounds = -1;
      if (Date.now() > end) return [...globalThis.asked].map(mark => mark.name);
    }
    return null;
  }, timeout);
  if (open) throw new Error(`still asked for: ${open}`);
}

// A page; what it reports as errors, and each request that is not for its own file, goes into `errors`.
export async function open(browser, url, { width = 1280, height = 900, theme = "light" } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme });
  const errors = [];
  page.on("console", message => { if (["error", "warning"].includes(message.type())) errors.push(message.text()); });
  page.on("pageerror", error => errors.push(String(error)));
  page.on("request", request => {
    if (/^(https?|wss?):/.test(request.url()) && new URL(request.url()).origin !== new URL(url).origin)
      errors.push(`request to ${request.url()}`);
  });
  await page.addInitScript(countRequests);
  if (kept) await forget(page, url);
  await page.goto(url);
  return { page, errors };
}

// What axe holds against the page, as one line each; of all rules unless some are named. It need not load style sheets and media once
// more (preload): that serves one rule that is off, and one about sound, which the page has none of. The first rows of a table are made as
// the others are, and axe takes as long for each: of those it sees all in `make nightly`.
export async function violations(page, rules = null) {
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(axe.source);
  const what = LONG ? { include: [["html"]] } : { include: [["html"]], exclude: [["tbody tr:nth-child(n+6)"]] };
  return page.evaluate(async ([context, only]) => (await globalThis.axe.run(context, { resultTypes: ["violations"], preload: false, ...(only ? { runOnly: only } : {}) })).violations
    .map(rule => `${rule.id}: ${rule.nodes.slice(0, 3).map(node => node.target.join(" ")).join(", ")} (${rule.nodes.length})`), [what, rules]);
}

// The same of the page as it is, and of the colours of the other theme; the page is light again then.
export async function violationsOfBoth(page) {
  const found = await violations(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await quiet(page);
  found.push(...(await violations(page, ["color-contrast"])).map(one => `dark: ${one}`));
  await page.emulateMedia({ colorScheme: "light" });
  await quiet(page);
  return found;
}

export function check(what, got, wanted) {
  const a = JSON.stringify(got), b = JSON.stringify(wanted);
  if (a !== b) throw new Error(`${what}: got ${a}, wanted ${b}`);
}
