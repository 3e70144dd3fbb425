// SPDX-License-Identifier: Apache-2.0
// GPU use as a track, and more counters than are shown at first: node gpu_use.mjs URL. The run has 300 series; a click brings the rest. The bar of GPU use is full at 100 %.
// While the scale changes the widest labels are there, all of them when it rests.
import { check, launch, open, quiet, THEMES } from "./browser.mjs";

const [url] = process.argv.slice(2);
const browser = await launch();
try {
  for (const theme of THEMES) {
    const { page, errors } = await open(browser, `${url}#/run/timeline?from=0&to=12000&show=use`, { theme });
    const label = page.locator(".tl-label.overlay", { hasText: "GPU use" });
    await label.waitFor();
    await quiet(page);
    const row = await label.boundingBox(), box = await page.locator(".tl-canvas").boundingBox();
    await page.mouse.move(box.x + box.width * 0.9, row.y + row.height / 2); // at 10.8 us: the copy runs
    await page.locator(".tl-tip").waitFor();
    const tip = (await page.locator(".tl-tip").innerText()).replace(/\s+/g, " ");
    if (!/GPU use device 0: 100(\.0)? ?%$/.test(tip)) throw new Error(`the pointer says ${tip}`);
    const unlabelled = isSome => page.waitForFunction(some => (Number(document.querySelector(".tl-canvas").dataset.unlabelled) > 0) === some, isSome, { polling: "raf", timeout: 15000 });
    await page.keyboard.down("s");
    await unlabelled(true);
    await page.keyboard.up("s");
    await unlabelled(false);
    await page.getByRole("button", { name: "counters", exact: true }).click();
    await page.getByRole("button", { name: "44 more counters" }).waitFor();
    await page.getByRole("button", { name: "44 more counters" }).click();
    await page.locator(".tl-left").waitFor({ state: "detached" });
    await page.locator(".tl-scroll").evaluate(one => { one.scrollTop = 300 * 36; });
    await page.locator(".tl-label.overlay", { hasText: "c299" }).waitFor();
    check("errors", errors, []);
    await page.close();
  }
} finally {
  await browser.close();
}
