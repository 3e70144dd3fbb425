// SPDX-License-Identifier: Apache-2.0
// Hooks of PyTorch Lightning and losses of logs: node plugin_views.mjs URL LOG LOG.
import { go, readTable, settle } from "./app.mjs";
import { check, launch, open, quiet, violations } from "./browser.mjs";

const [url, ...logs] = process.argv.slice(2);
const fits = page => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

async function hooks(page) {
  await go(page, "#/plain/modules");
  await quiet(page);
  check("a run without hooks", await page.getByRole("link", { name: "Lightning hooks" }).count(), 0);
  await go(page, "#/lightning/modules");
  await page.getByRole("link", { name: "Lightning hooks" }).click();
  await settle(page);
  await quiet(page);
  const { columns, rows } = await readTable(page.locator('section[data-verb="annotation-breakdown"] .ht-table'));
  const cell = (row, name) => row[columns.indexOf(name)].replace(/[^\d]/g, "");
  const found = Object.fromEntries(rows.map(row => [row[columns.indexOf("name")], [cell(row, "count"), cell(row, "sum_ns")]]));
  check("calls of hooks", found, {
    "[pl][profile]run_training_batch": ["3", "300000"], "[pl][profile][LightningModule]Net.training_step": ["3", "180000"],
    "[pl][profile][Callback]Watch{'x': '<b>'}.on_train_batch_end": ["3", "90000"],
  });
  // names are cut where there is less room
  const text = await page.evaluate(() => innerWidth) < 600 ? null : await page.locator("#main").innerText();
  for (const word of ["Callback: Watch.on_train_batch_end", "LightningModule: Net.training_step", "Trainer: run_training_batch"])
    if (text !== null && !text.includes(word)) throw new Error(`no ${word} in ${text}`);
  // inside the batch the module and the callback, 40 and 5 us of device time in each of 3 steps
  await go(page, "#/lightning/lightning?time=device");
  await quiet(page);
  const drawn = await page.locator("figure").first().innerText();
  if (text !== null && !/Net\.training_step/.test(drawn)) throw new Error(`the device's time: ${drawn}`);
}

async function losses(page) {
  await go(page, "#/plain/losses");
  await page.locator("input[type=file]").setInputFiles(logs);
  await page.getByRole("table", { name: "Logs" }).waitFor();
  const all = await readTable(page.locator(".ht-table").first());
  check("iterations of both", all.rows.map(row => row[0]), ["1", "2", "3", "4"]);
  check("a loss that one log lacks", all.rows[2][1], "no value");
  const box = page.getByRole("region", { name: "Difference of two logs" });
  const difference = async () => (await readTable(box.locator(".ht-table"))).rows.map(row => Number(Number(row[1]).toFixed(4)));
  check("difference", await difference(), [-0.73, 0.25, -8]);
  await box.getByRole("radio", { name: "relative" }).click();
  check("relative", await difference(), [Number((0.73 / 10.73).toFixed(4)), Number((0.25 / 9.5).toFixed(4)), 1]);
  // other words in one of them: nothing is found behind them
  await page.getByLabel("loss behind").first().fill("no such word");
  await page.getByLabel("loss behind").first().press("Enter");
  await box.waitFor({ state: "detached" });
  // they stay while the page is open
  await go(page, "#/plain/overview");
  await go(page, "#/plain/losses");
  check("logs after another view", await page.getByRole("table", { name: "Logs" }).locator("tr").count(), 2);
  await page.getByRole("button", { name: /^Remove/ }).first().click();
  await page.getByRole("button", { name: /^Remove/ }).first().click();
  await page.getByRole("table", { name: "Logs" }).waitFor({ state: "detached" });
  await page.locator("input[type=file]").setInputFiles(logs);
}

const browser = await launch();
try {
  for (const [theme, width] of [["light", 1280], ["dark", 390]]) {
    const { page, errors } = await open(browser, url, { theme, width });
    await settle(page);
    for (const look of [hooks, losses]) {
      await look(page);
      check(`${look.name} ${theme}: fits`, await fits(page), true);
      check(`${look.name} ${theme}: axe`, await violations(page), []);
      if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/${look.name}-${theme}.png`, fullPage: true });
    }
    check("errors", errors, []);
    await page.close();
  }
} finally {
  await browser.close();
}
