// SPDX-License-Identifier: Apache-2.0
// The tab in TensorBoard: tensorboard.mjs URL SCREENSHOT. The page inside shows the verdict of a run, of the whole trace as the profiler's own
// plugin does, also of another run, and another view, which is there again after a reload and by its address.
import { launch } from "./browser.mjs";

const [url, picture] = process.argv.slice(2);
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.goto(`${url}#holotrace`);
const tab = await page.waitForSelector("iframe", { timeout: 30000 });
const outer = await tab.contentFrame();
const inner = await (await outer.waitForSelector("iframe[title=Holotrace]", { timeout: 30000 })).contentFrame();
await inner.getByText("Advice").first().waitFor({ timeout: 30000 });
const chosen = () => inner.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("step"));
if ((await chosen()) !== "all") throw new Error(`the tab begins with step ${await chosen()}`);
await inner.getByText("whole trace").first().waitFor({ timeout: 30000 });
const asked = await inner.evaluate(() => performance.getEntriesByType("resource").map(one => one.name).filter(name => /\/table\/(summary|advice|kernels)/.test(name)));
if (!asked.length || asked.some(name => !/[?&]step=all(&|$)/.test(name))) throw new Error(`asked for other steps: ${asked}`);
await page.screenshot({ path: picture });
const runs = inner.getByLabel("run", { exact: true });
const others = await runs.locator("option").evaluateAll(list => list.filter(one => !one.selected).map(one => one.value));
if (others.length) {
  await runs.selectOption(others[0]);
  await inner.waitForFunction(id => decodeURIComponent(location.hash).startsWith(`#/${id}/`), others[0]);
  if ((await chosen()) !== "all") throw new Error("another run is shown with other steps");
}
await inner.evaluate(() => { location.hash = location.hash.replace(/\/overview.*/, "/kernels"); });
await inner.locator("nav.tabs a[aria-current=page]", { hasText: "Kernels" }).waitFor({ timeout: 30000 });
// the address has the place: a reload shows it again, and so does who opens the address elsewhere
const inside = async where => {
  const frame = await (await where.waitForSelector("iframe", { timeout: 30000 })).contentFrame();
  const own = await (await frame.waitForSelector("iframe[title=Holotrace]", { timeout: 30000 })).contentFrame();
  await own.locator("nav.tabs a[aria-current=page]", { hasText: "Kernels" }).waitFor({ timeout: 30000 });
  const run = decodeURIComponent((await own.evaluate(() => location.hash)).split("/")[1] ?? "");
  if (others.length && run !== others[0]) throw new Error(`the tab shows run ${run}, wanted ${others[0]}`);
};
const address = page.url();
await page.reload();
await inside(page);
const other = await browser.newPage();
await other.goto(address);
await inside(other);
await browser.close();
