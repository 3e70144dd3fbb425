// SPDX-License-Identifier: Apache-2.0
// Names that are markup, in the trace view: node timeline_names.mjs URL RUN NAMES. They are texts everywhere: on spans,
// in tips, in the panel, in the search; nothing of them runs.
import { check, launch, open } from "./browser.mjs";

const [url, run, namesText] = process.argv.slice(2);
const browser = await launch();
try {
  const { page, errors } = await open(browser, `${url}#/${encodeURIComponent(run)}/timeline`);
  await page.waitForFunction(() => document.querySelector(".tl-canvas")?.dataset.waiting === "0", null, { polling: 40 });
  for (const name of JSON.parse(namesText)) {
    const word = name.split("\n")[0];
    await page.getByRole("searchbox").fill(word);
    await page.keyboard.press("Enter");
    await page.waitForFunction(text => document.querySelector(".tl-name")?.title.includes(text), word, { polling: 40, timeout: 10000 });
    await page.getByRole("searchbox").blur();
  }
  const box = await page.locator(".tl-canvas").boundingBox();
  for (let y = 30; y < 200; y += 16) await page.mouse.move(box.x + box.width / 2, box.y + y);
  await page.mouse.move(box.x + 20, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 90);
  await page.mouse.up();
  await page.waitForSelector(".tl-sums");
  check("run", await page.evaluate(() => globalThis.hit ?? null), null);
  check("elements", await page.locator("img, iframe, object").count(), 0);
  check("nothing is wider than the page", await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
  check("errors", errors, []);
} finally {
  await browser.close();
}
