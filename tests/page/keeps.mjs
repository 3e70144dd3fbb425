// SPDX-License-Identifier: Apache-2.0
// What the timeline keeps: node keeps.mjs URL RUN OTHER. Another run starts with its own time; marks, pins and what is
// collapsed are in the URL and survive a reload, and going back does not take them away.
import { check, launch, open, quiet } from "./browser.mjs";

const [url, run, other] = process.argv.slice(2);
const place = (id, query) => `#/${encodeURIComponent(id)}/timeline${query ? "?" + query : ""}`;
const query = page => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.split("?")[1] ?? "")));
const drawn = (page, holds, value) => page.waitForFunction(holds, value, { timeout: 30000, polling: 40 });
const marks = (page, n) => drawn(page, n => document.querySelector(".tl-canvas")?.dataset.marks === n, String(n));

const browser = await launch();
try {
  const { page, errors } = await open(browser, url + place(run));
  await marks(page, 0);
  const own = await page.evaluate(id => fetch(`api/v1/runs/${encodeURIComponent(id)}/tracks`).then(r => r.json()), run);
  const next = await page.evaluate(id => fetch(`api/v1/runs/${encodeURIComponent(id)}/tracks`).then(r => r.json()), other);

  // another run: its whole time, not that of the first
  const middle = Math.round((own.from_ns + own.to_ns) / 2);
  await page.evaluate(text => { location.hash = text; }, place(run, `from=${middle}&to=${middle + 1000000}`));
  await drawn(page, to => document.querySelector(".tl-canvas")?.dataset.to === to, String(middle + 1000000));
  await quiet(page);
  await page.locator(".top select").first().selectOption(other);
  await drawn(page, ({ from, to }) => {
    const shown = document.querySelector(".tl-canvas")?.dataset;
    return shown && Number(shown.from) <= from && Number(shown.to) >= to && Number(shown.to) - Number(shown.from) < 2 * (to - from);
  }, { from: next.from_ns, to: next.to_ns });
  await quiet(page);

  // marks with names, pins and collapsed rows are the URL's
  await page.evaluate(text => { location.hash = text; }, place(run));
  await marks(page, 0);
  await page.getByRole("button", { name: /^Collapse rank 0$/ }).click();
  await page.getByRole("button", { name: /^Expand rank 0$/ }).waitFor();
  await page.getByRole("button", { name: /^Expand rank 1$/ }).click();
  await page.getByRole("button", { name: /^Pin GPU/ }).first().click();
  await page.getByRole("button", { name: /^Unpin GPU/ }).first().waitFor();
  const box = await page.locator(".tl-canvas").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height - 4);
  await page.keyboard.press("m");
  await marks(page, 1);
  await page.locator(".tl-marks summary").click();
  const field = page.locator(".tl-mark input");
  await field.fill("slow, here~1");
  await field.press("Enter");
  await drawn(page, () => location.hash.includes("slow"));
  const before = await query(page);
  check("named", /^-?\d+~slow%2C%20here%7E1$/.test(before.marks), true);
  check("collapsed", before.fold.split(",").includes("r0") && !before.fold.split(",").includes("r1"), true);
  check("pinned", /^t1%3A\d+$/.test(before.pin), true);
  await page.reload();
  await marks(page, 1);
  await page.getByRole("button", { name: /^Expand rank 0$/ }).waitFor();
  await page.getByRole("button", { name: /^Unpin GPU/ }).first().waitFor();
  await page.locator(".tl-marks summary").click();
  check("the name after a reload", await page.locator(".tl-mark input").inputValue(), "slow, here~1");

  // the same time as a table
  await page.getByRole("button", { name: "table", exact: true }).click();
  await page.locator(".tl-twin tbody tr").first().waitFor();
  const { from, to } = await query(page);
  const answer = await page.evaluate(path => fetch(path).then(r => r.json()), `api/v1/runs/${encodeURIComponent(run)}/table/events?` +
    new URLSearchParams({ where: `time_ns <= ${to} and time_end_ns >= ${from}`, columns: "id", sort: "time_ns", top: "1" }));
  check("the first event", await page.locator(".tl-twin tbody tr").first().locator("a").first().innerText(), answer.rows[0][0]);
  // also what began before the window, and reaches into it
  const shown = await page.evaluate(() => location.hash), inside = Math.round((Number(from) + Number(to)) / 2);
  const step = own.steps.find(one => one.start_ns < inside && one.end_ns > inside + 1000);
  const narrow = new URLSearchParams({ ...await query(page), from: inside, to: inside + 1000 });
  await page.evaluate(text => location.replace(text), place(run, narrow.toString()));
  await page.locator(".tl-twin tbody tr", { hasText: `ProfilerStep#${step.name}` }).first().waitFor();
  await page.evaluate(text => location.replace(text), shown);
  await drawn(page, first => document.querySelector(".tl-canvas")?.dataset.from === first, from);
  await page.getByRole("button", { name: "table", exact: true }).click();
  await page.locator(".tl-twin").waitFor({ state: "detached" });

  // back: to the place before, with what was marked since
  const first = own.steps[0], event = place(run, new URLSearchParams({ ...before, step: first.name }).toString());
  await page.evaluate(text => { location.hash = text; }, event);
  await page.mouse.move(box.x + box.width / 3, box.y + box.height - 4);
  await page.keyboard.press("m");
  await marks(page, 2);
  await page.goBack();
  await drawn(page, () => !location.hash.includes("step="));
  await marks(page, 2);
  await page.goForward();
  await drawn(page, () => location.hash.includes("step="));
  await marks(page, 2);
  check("errors", errors, []);
} finally {
  await browser.close();
}
