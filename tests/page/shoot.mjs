// SPDX-License-Identifier: Apache-2.0
// Pictures of a page: node shoot.mjs URL OUT_PREFIX WIDTH,WIDTH light,dark [HEIGHT]. Prints errors of the console.
import { launch, open, quiet } from "./browser.mjs";

const [url, prefix, widths = "1280", themes = "light,dark", height = "900"] = process.argv.slice(2);
const browser = await launch();
for (const theme of themes.split(","))
  for (const width of widths.split(",").map(Number)) {
    const { page, errors } = await open(browser, url, { width, height: Number(height), theme });
    await quiet(page);
    for (const error of errors) console.log(error);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) console.log(`${theme} ${width}: ${wide} px too wide`);
    await page.screenshot({ path: `${prefix}-${theme}-${width}.png`, fullPage: true });
    await page.close();
  }
await browser.close();
