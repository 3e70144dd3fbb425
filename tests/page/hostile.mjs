// SPDX-License-Identifier: Apache-2.0
// A page full of hostile names: node hostile.mjs URL NAME. Nothing of them runs, and they are shown as they are.
import { check, launch, open, quiet } from "./browser.mjs";

const [url, name] = process.argv.slice(2);
const browser = await launch();
try {
  const { page, errors } = await open(browser, url);
  await page.waitForSelector("main h2");
  await page.getByText("open all").click();
  await quiet(page);
  check("run", await page.evaluate(() => globalThis.hacked ?? null), null);
  check("elements", await page.locator("img, iframe, object, svg script, body > script:not([type])").count(), 1);
  const text = await page.locator("body").innerText(), titles = await page.locator("td").evaluateAll(cells => cells.map(cell => cell.title));
  if (!titles.some(title => title.includes(name))) throw new Error("the name is nowhere");
  if (text.includes("could not be drawn")) throw new Error("a chart failed");
  check("errors", errors, []);
} finally {
  await browser.close();
}
