// Pictures of a page: node shoot.mjs URL OUT_PREFIX WIDTH,WIDTH light,dark [HEIGHT]. Prints errors of the console.
import { createRequire } from "node:module";
const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [url, prefix, widths = "1280", themes = "light,dark", height = "900"] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
for (const theme of themes.split(","))
  for (const width of widths.split(",").map(Number)) {
    const page = await browser.newPage({ viewport: { width, height: Number(height) }, colorScheme: theme });
    page.on("console", message => { if (message.type() === "error") console.log(message.text()); });
    page.on("pageerror", error => console.log(String(error)));
    await page.goto(url);
    await page.waitForTimeout(400);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) console.log(`${theme} ${width}: ${wide} px too wide`);
    await page.screenshot({ path: `${prefix}-${theme}-${width}.png`, fullPage: true });
    await page.close();
  }
await browser.close();
