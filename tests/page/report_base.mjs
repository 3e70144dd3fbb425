// SPDX-License-Identifier: Apache-2.0
// A report with a base: node report_base.mjs URL SENTENCE. What changed is first, with its noise, and then the run itself; on paper, too.
import { check, launch, open, quiet, violations } from "./browser.mjs";

const [url, sentence] = process.argv.slice(2);
const browser = await launch();
try {
  const { page, errors } = await open(browser, url, { width: 1400 });
  await page.waitForSelector(".rp-compared h1");
  check("the first sentence", await page.locator("h1").first().innerText(), sentence);
  check("one of them", await page.locator("h1").count(), 1);
  for (const figure of await page.locator(".rp-compared .rp-figure").allInnerTexts())
    if (!/slower|faster|within noise/.test(figure) || !/95 % interval/.test(figure)) throw new Error(`a figure without noise: ${figure}`);
  // where a step goes, of both runs on one scale
  const bars = await page.locator(".rp-compared figure", { hasText: "Where a step goes" }).locator("svg").getAttribute("aria-label");
  for (const name of ["before, rank 3", "after, rank 3", "before, other ranks", "after, other ranks"]) if (!bars.includes(name)) throw new Error(`no bar of ${name}: ${bars}`);
  const first = await page.locator(".rp-compared tbody tr").first().innerText();
  if (!/^cause\s+kernel\s+rank 3/.test(first)) throw new Error(`the first row: ${first}`);
  const before = await page.evaluate(() => document.querySelector(".rp-compared").compareDocumentPosition(document.querySelector(".rp-verdict")) & Node.DOCUMENT_POSITION_FOLLOWING);
  if (!before) throw new Error("the verdict of the run is before what changed");
  check("axe", await violations(page), []);
  for (const width of [390, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    await quiet(page);
    check(`${width} px`, await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
  }
  check("errors", errors, []);
} finally {
  await browser.close();
}
