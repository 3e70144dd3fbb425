// SPDX-License-Identifier: Apache-2.0
// Iterations of a serving engine: node serving.mjs URL RUN OTHER WANTED FOLDER. The run has a tab with a chart of its iterations, whose tips say what the
// command line says (WANTED: JSON of name, wall time, GPU time and the phases); the other run, which serves nobody, has no such tab.
import { check, launch, LONG, open, quiet, THEMES } from "./browser.mjs";

const [url, run, other, wantedText, folder] = process.argv.slice(2);
const wanted = JSON.parse(wantedText);
const at = (name, view) => `${url}#/${encodeURIComponent(name)}/${view}`;
const tabs = page => page.locator("nav.tabs a").allInnerTexts();
const browser = await launch();
try {
  for (const theme of THEMES) {
    const { page, errors } = await open(browser, at(run, "overview"), { theme });
    await page.locator("nav.tabs a", { hasText: "Serving" }).click();
    await quiet(page);
    const chart = page.locator('section[data-chart="iterations"]');
    check("legend", await chart.locator(".ht-legend span").allInnerTexts(), wanted.phases);
    const canvas = chart.locator("canvas"), box = await canvas.boundingBox();
    check("blocks", (await canvas.getAttribute("aria-label")).includes(`${wanted.n} blocks`), true);
    // each phase is drawn in its colour, the other theme's too
    const drawn = async () => canvas.evaluate((area, colors) => {
      const data = globalThis.pixels(area), seen = new Set();
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen.add(`rgb(${data[i]}, ${data[i + 1]}, ${data[i + 2]})`);
      return colors.map(color => seen.has(color));
    }, await chart.locator(".ht-legend i").evaluateAll(list => list.map(one => getComputedStyle(one).backgroundColor)));
    for (const colorScheme of ["dark", "light"]) {
      await page.emulateMedia({ colorScheme });
      await quiet(page);
      check(`colours, ${colorScheme}`, await drawn(), wanted.phases.map(() => true));
    }
    for (const tip of wanted.tips) {
      await page.mouse.move(box.x + 76 + tip.at * (box.width - 76 - 16), box.y + box.height - 30);
      const words = await page.locator(".ht-tip").innerText();
      for (const word of tip.words) if (!words.includes(word)) throw new Error(`the tip has no ${word}: ${words}`);
    }
    await page.mouse.move(0, 0);
    if (LONG) await page.screenshot({ path: `${folder}/iterations-serving-${theme}.png`, fullPage: true });
    await page.mouse.click(box.x + 76 + wanted.tips[0].at * (box.width - 76 - 16), box.y + box.height - 30);
    await quiet(page);
    check("a click opens the annotation", new URL(page.url()).hash.includes("timeline") && page.url().includes("event=0"), true);
    // while nobody knows yet whether the other run serves, nothing says that it does: the answer of the run before is no answer
    await page.goto(at(run, "overview"));
    await page.locator("nav.tabs a", { hasText: "Serving" }).waitFor();
    let answer, asked;
    const held = new Promise(done => { answer = done; }), comes = new Promise(done => { asked = done; });
    await page.route(new RegExp(`runs/${encodeURIComponent(other)}/table/iterations`), async route => { asked(); await held; await route.continue(); });
    await page.goto(at(other, "overview"));
    await comes;
    check("tabs before the answer", (await tabs(page)).includes("Serving"), false);
    answer();
    await quiet(page);
    check("tabs of a run that serves nobody", (await tabs(page)).includes("Serving"), false);
    check("errors", errors, []);
    await page.close();
  }
} finally {
  await browser.close();
}
