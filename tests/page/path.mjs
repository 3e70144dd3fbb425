// SPDX-License-Identifier: Apache-2.0
// The critical path over the events of the timeline: node path.mjs URL EVENT. EVENT is the kernel that the ranks wait for.
import { check, go, launch, open, settle } from "./app.mjs";
import { frames, quiet, violationsOfBoth } from "./browser.mjs";

const [url, event] = process.argv.slice(2);
const browser = await launch();
const drawn = page => page.evaluate(() => {
  const { path, jumps } = document.querySelector(".tl-body .tl-canvas").dataset;
  return { path: Number(path ?? 0), jumps: Number(jumps ?? 0) };
});

try {
  const { page, errors } = await open(browser, url, { height: 1400 });
  await settle(page);
  await go(page, "#/after/timeline?fold=-");
  await quiet(page);
  check("nothing of it at first", await drawn(page), { path: 0, jumps: 0 });
  await page.getByRole("button", { name: "critical path" }).click();
  await page.waitForFunction(() => Number(document.querySelector(".tl-body .tl-canvas").dataset.path) > 8, null, { timeout: 30000 });
  // over all ranks and steps it comes from rank 3 to the one that the step ends on, or stays: in a step of another rank it jumps
  const all = await drawn(page);
  if (all.path < 8) throw new Error(`pieces of eight steps: ${JSON.stringify(all)}`);

  // why: the event is clicked, and the panel tells
  await go(page, `#/after/timeline?fold=-&show=critical&event=${encodeURIComponent(event)}`);
  await page.locator(".tl-why").waitFor();
  await quiet(page);
  const why = (await page.locator(".tl-why").innerText()).replace(/\s+/g, " ");
  if (!/On the critical path/.test(why) || !/5\d\.\d ms of step \d, compute\./.test(why)) throw new Error(`why: ${why}`);
  // and what a step would take without it: as what-if says
  const saved = (await page.locator(".tl-saved").innerText()).replace(/\s+/g, " ");
  const rule = await page.evaluate(async id => {
    const { name } = await (await fetch(`api/v1/runs/after/event?id=${id}`)).json();
    const scale = `^${name.replace(/[^\w:]/g, ".")}$@rank:${id.split(":")[0]}=remove`;
    const table = await (await fetch(`api/v1/runs/after/table/what-if?${new URLSearchParams({ scale, top: 1 })}`)).json();
    return table.rows[0][table.columns.findIndex(column => column.name === "saved_ns")];
  }, event);
  const words = /^Without all calls of it on rank \d a step would be ([\d.]+) ms/.exec(saved);
  if (!words || Math.abs(Number(words[1]) * 1e6 / rule - 1) > 0.01) throw new Error(`saved: ${saved}, not ${rule} ns`);
  check("axe", await violationsOfBoth(page), []);
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/path.png` });
  // along the path: what comes after is another event, which is on it, too
  await page.locator(".tl-why .tl-link").last().click();
  await page.waitForFunction(id => new URLSearchParams(location.hash.split("?")[1]).get("event") !== id, event);
  await quiet(page);
  if (!/On the critical path/.test(await page.locator(".tl-why").innerText())) throw new Error("the next one is not on the path");

  // an event that is off it says so: a gemm of a rank that waits
  const other = await page.evaluate(() => fetch("api/v1/runs/after/search?q=sm90_xmma_gemm&rank=1&limit=1").then(answer => answer.json()).then(found => found.events[0].id));
  await go(page, `#/after/timeline?fold=-&show=critical&event=${encodeURIComponent(other)}`);
  await quiet(page);
  if (!/not on it/.test(await page.locator(".tl-why").innerText())) throw new Error("a kernel of a rank that waits is on the path");
  // without the overlay nobody asks
  await page.getByRole("button", { name: "critical path" }).click();
  await frames(page);
  await page.waitForFunction(() => document.querySelector(".tl-body .tl-canvas").dataset.path === "0");
  check("no reason without the path", await page.locator(".tl-why").count(), 0);
  check("errors", errors, []);
} finally {
  await browser.close();
}
