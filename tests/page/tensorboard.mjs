// The tab in TensorBoard: tensorboard.mjs URL SCREENSHOT. The page inside shows the verdict of a run and another view.
import { launch } from "./browser.mjs";

const [url, picture] = process.argv.slice(2);
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.goto(`${url}#holotrace`);
const tab = await page.waitForSelector("iframe", { timeout: 30000 });
const outer = await tab.contentFrame();
const inner = await (await outer.waitForSelector("iframe[title=Holotrace]", { timeout: 30000 })).contentFrame();
await inner.getByText("Look at first").first().waitFor({ timeout: 30000 });
await page.screenshot({ path: picture });
await inner.evaluate(() => { location.hash = location.hash.replace(/\/overview.*/, "/kernels"); });
await inner.getByRole("heading", { name: "Kernels" }).first().waitFor({ timeout: 30000 });
await browser.close();
