// SPDX-License-Identifier: Apache-2.0
// The table of 100,000 rows in the gallery: order, filter, columns, and how fast it scrolls. node table.mjs URL
import { check, frames, launch, open } from "./browser.mjs";

const browser = await launch();
try {
  const { page, errors } = await open(browser, process.argv[2]);
  const many = page.locator("#many");
  const column = async (name, n) => {
    const index = await many.locator("th").evaluateAll((heads, name) => heads.findIndex(h => h.dataset.column === name), name);
    return many.locator("tbody tr:not(.ht-space)").evaluateAll((rows, [index, n]) =>
      rows.slice(0, n).map(row => row.cells[index].title), [index, n]);
  };
  const inDocument = await many.locator("tbody tr").count();
  if (inDocument > 200) throw new Error(`${inDocument} rows in the document`);

  await many.locator('th[data-column="calls"] button').click();
  check("sorted down", await many.locator('th[data-column="calls"]').getAttribute("aria-sort"), "descending");
  check("largest first", (await column("calls", 3)), ["3\u2009999", "3\u2009999", "3\u2009999"]);
  await many.locator('th[data-column="sum_ns"] button').click({ modifiers: ["Shift"] });
  const sums = (await column("sum_ns", 12)).map(text => Number(text.replace(/\D/g, "")));
  check("then by the sum", sums, [...sums].sort((a, b) => b - a));
  await many.locator('th[data-column="calls"] button').click();
  check("sorted up", (await column("calls", 2)), ["0", "0"]);

  await many.locator('input[type="search"]').fill("memcpy 3");
  await frames(page);
  const names = await column("kernel", 5);
  if (names.length === 0 || !names.every(name => name.startsWith("Memcpy"))) throw new Error(`filter: ${names}`);
  await many.locator('input[type="search"]').fill("");

  await many.locator("details.ht-menu summary").click();
  await many.locator("details.ht-menu label", { hasText: "size_bytes" }).click();
  check("hidden column", await many.locator('th[data-column="size_bytes"]').count(), 0);
  await page.mouse.click(5, 5);

  const head = many.locator('th[data-column="class"]'), handle = head.locator(".ht-resize");
  const before = (await head.boundingBox()).width, grip = await handle.boundingBox();
  await page.mouse.move(grip.x + 3, grip.y + 5);
  await page.mouse.down();
  await page.mouse.move(grip.x + 63, grip.y + 5, { steps: 3 });
  await page.mouse.up();
  check("resized by 60 px", Math.round((await head.boundingBox()).width - before), 60);

  const times = await many.locator(".ht-scroll").evaluate(async box => {
    const found = [];
    let last = performance.now();
    for (let i = 1; i <= 120; i++) {
      box.scrollTop = i * 20000;
      await new Promise(requestAnimationFrame);
      found.push(performance.now() - last);
      last = performance.now();
    }
    return found.sort((a, b) => a - b);
  });
  const bottom = await many.locator("tbody tr:not(.ht-space)").count();
  if (bottom === 0) throw new Error("nothing at the bottom");
  console.log(`scroll: median ${times[60].toFixed(1)} ms, p95 ${times[114].toFixed(1)} ms per frame`);
  if (times[60] > 100) throw new Error(`slow: median ${times[60]} ms per frame`);
  check("errors", errors, []);
} finally {
  await browser.close();
}
