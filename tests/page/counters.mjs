// SPDX-License-Identifier: Apache-2.0
// Counters in the timeline: node counters.mjs URL RUN. Each series is a row with its name; the pointer reads its value and unit,
// and the table of all of them is a click away.
import { check, launch, open, quiet, THEMES, violationsOfBoth } from "./browser.mjs";

const [url, run] = process.argv.slice(2);
const browser = await launch();
try {
  for (const theme of THEMES) {
    const { page, errors } = await open(browser, `${url}#/${encodeURIComponent(run)}/timeline?from=0&to=4000`, { theme });
    await page.getByRole("button", { name: "counters", exact: true }).click();
    await page.locator(".tl-label.overlay", { hasText: "HBM Read(MB/s)" }).waitFor();
    check("rows", await page.locator(".tl-label.overlay").allInnerTexts(), ["util n", "util value", "HBM Read(MB/s)"]);
    await quiet(page);
    const row = await page.locator(".tl-label.overlay", { hasText: "HBM Read(MB/s)" }).boundingBox();
    const box = await page.locator(".tl-canvas").boundingBox();
    await page.mouse.move(box.x + box.width / 2, row.y + row.height / 2); // at 2 µs: what was sampled at 1 µs holds
    const tip = page.locator(".tl-tip");
    await tip.waitFor();
    if (!/: 6(\.00)? MB\/s$/.test((await tip.innerText()).trim())) throw new Error(`the pointer says ${await tip.innerText()}`);
    // a selection has least, mean over time and most: from 0.5 to 3 us 2 holds for 0.5 us, 6 for 2; util has one sample, and no time
    await page.evaluate(() => { location.hash += "&sel=500..3000"; });
    await page.locator(".tl-counters").waitFor();
    await quiet(page);
    check("over the selection", await page.locator(".tl-counters tbody tr").evaluateAll(rows => rows.map(row => [...row.cells].map(cell => cell.title))),
      [["util n", "3", "no value", "3"], ["util value", "0.5", "no value", "0.5"], ["HBM Read(MB/s)", "2 MB/s", "5.2 MB/s", "6 MB/s"]]);
    check(`axe ${theme}`, await violationsOfBoth(page), []);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/counters-${theme}.png` });
    await page.evaluate(() => { location.hash = location.hash.replace("sel=500..3000", "sel=4500..9000"); });
    await quiet(page);
    check("nothing is known after the last sample", await page.locator(".tl-counters").count(), 0);
    await page.evaluate(() => { location.hash = location.hash.replace(/timeline.*/, "counters"); });
    const cells = page.locator('section[data-verb="counters"] tbody tr', { hasText: "Read(MB/s)" });
    await cells.waitFor();
    check("mean over time", await cells.locator("td").filter({ hasText: /^5(\.00)?$/ }).count(), 1);
    check("errors", errors, []);
    await page.close();
  }
} finally {
  await browser.close();
}
