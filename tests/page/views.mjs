// SPDX-License-Identifier: Apache-2.0
// Every view: its tables have the command line's values, nothing is wider than the page, the console is silent, axe finds
// nothing, and a picture is kept of each in both themes and at two widths where a folder for them is named. node views.mjs URL WANTED.json [PICTURES]
// With HOLOTRACE_LONG each view is looked at in both themes and at four widths. Otherwise at 1280 px and as on a phone, and the
// others take turns: one view has the colours of the dark theme and a small window, the next those of the light one and a large window.
import { readFileSync } from "node:fs";
import { checkTable, go, launch, open, readTable, settle } from "./app.mjs";
import { LONG, violations } from "./browser.mjs";

const [url, wantedPath, pictures] = process.argv.slice(2);
const wanted = JSON.parse(readFileSync(wantedPath, "utf8"));
const USUAL = [1280, 860], LARGE = [2560, 1440], SMALL = [1024, 768], PHONE = [390, 844];
const problems = [];
const shoot = async (page, name) => { if (pictures) await page.screenshot({ path: `${pictures}/${name}.png` }); };

async function checkOverview(page, view) {
  const words = await page.locator(".main").innerText();
  const flat = words.replace(/\s+/g, " ").toLowerCase();
  for (const text of view.says) if (!flat.includes(text.replace(/\s+/g, " ").toLowerCase())) problems.push(`${view.at}: does not say "${text}"`);
}

async function checkWidth(page, view, width) {
  const wide = await page.evaluate(() => {
    const main = document.querySelector(".main");
    return Math.max(document.documentElement.scrollWidth - innerWidth, main ? main.scrollWidth - main.clientWidth : 0);
  });
  if (wide > 1) problems.push(`${view.at}: ${wide} px too wide at ${width}`);
}

// A view at its turn: every rule of axe, and the widths.
async function looks(page, view, turn) {
  for (const [i, theme] of (LONG ? ["light", "dark"] : [turn % 2 ? "light" : "dark"]).entries()) {
    await page.emulateMedia({ colorScheme: theme });
    await settle(page);
    // the other theme has other colours and nothing else
    for (const found of await violations(page, i > 0 ? ["color-contrast"] : null)) problems.push(`${view.at} (${theme}): ${found}`);
    await shoot(page, `${view.name}-${theme}-${USUAL[0]}`);
  }
  await checkWidth(page, view, USUAL[0]);
  for (const [width, height] of LONG ? [LARGE, SMALL, PHONE] : [turn % 2 ? LARGE : SMALL, PHONE]) {
    await page.setViewportSize({ width, height });
    for (const theme of pictures && width === LARGE[0] ? ["light", "dark"] : ["light"]) {
      await page.emulateMedia({ colorScheme: theme });
      await settle(page);
      if (width === LARGE[0]) await shoot(page, `${view.name}-${theme}-${width}`);
    }
    await checkWidth(page, view, width);
  }
  await shoot(page, `${view.name}-phone`);
}

const browser = await launch();
let turn = 0;
try {
  const { page, errors } = await open(browser, url);
  await settle(page);
  for (const view of wanted) {
    try {
      await page.setViewportSize({ width: USUAL[0], height: USUAL[1] });
      await page.emulateMedia({ colorScheme: "light" });
      await go(page, view.at);
      for (const table of view.tables ?? []) {
        const box = page.locator(`section[data-verb="${table.verb}"] .ht-table`).nth(table.nth ?? 0);
        checkTable(`${view.at} ${table.verb}`, await readTable(box), table.wanted);
      }
      if (view.says) await checkOverview(page, view);
      // a link among words is told from them by more than its colour
      const plain = await page.evaluate(() => [...document.querySelectorAll(".main p a, .main li a, .main span a")]
        .filter(link => [...link.parentElement.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()))
        .filter(link => !getComputedStyle(link).textDecorationLine.includes("underline")).map(link => link.textContent));
      if (plain.length > 0) problems.push(`${view.at}: links that look like words: ${plain.join(", ")}`);
      if (view.heading) {
        const said = await page.locator(".main h1").innerText();
        if (said !== view.heading) problems.push(`${view.at}: opens with "${said}", wanted "${view.heading}"`);
      }
      const failed = await page.locator(".state.problem").allInnerTexts();
      if (failed.length > 0) problems.push(`${view.at}: ${failed.join("; ")}`);
      if (view.charts) {
        const drawn = await page.locator(".main figure.ht-chart").count();
        if (drawn < view.charts) problems.push(`${view.at}: ${drawn} charts, wanted ${view.charts}`);
      }
      if (view.name) await looks(page, view, turn++);
    } catch (error) {
      problems.push(`${view.at}: ${error.message}`);
    }
    while (errors.length > 0) problems.push(`${view.at}: console: ${errors.shift()}`);
  }
} finally {
  await browser.close();
}
if (problems.length > 0) throw new Error(problems.join("\n"));
