// SPDX-License-Identifier: Apache-2.0
// What the page says when there is nothing to show, or not everything: node errors.mjs SCENARIO URL LOGDIR [FILE].
// Files are put and removed here, while the page is open.
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { check, go, launch, open, settle } from "./app.mjs";
import { quiet, violationsOfBoth } from "./browser.mjs";

const [scenario, url, logdir, file] = process.argv.slice(2);
const WAIT_MS = 30000;

// Chromium notes each answer that is not 2xx; here some are wanted.
const silent = errors => errors.filter(text => !/^Failed to load resource/.test(text));

async function says(page, selector, ...texts) {
  for (const text of texts) await page.locator(selector, { hasText: text }).first().waitFor({ timeout: WAIT_MS });
}

const lookForFiles = page => page.getByRole("button", { name: "Look for new files" }).first().click();

const SCENARIOS = {
  // nothing there: said where it was looked; a run put there appears by itself
  async empty(page) {
    await says(page, ".start", "No traces found", logdir);
    mkdirSync(`${logdir}/first`);
    copyFileSync(file, `${logdir}/first/cpu.json.gz`);
    await lookForFiles(page);
    await says(page, ".banner", "No GPU activity recorded");
    await says(page, ".top select", "first");
  },

  // a run of which nothing can be read says so for each file, and the others still work
  async broken(page) {
    await go(page, "#/broken/overview");
    await says(page, ".unread", "Nothing of broken could be read", "worker.pt.trace.json.gz");
    if ((await page.locator(".file-error").first().innerText()).length < 10) throw new Error("no reason given");
    await page.locator(".top select").first().selectOption("good");
    await settle(page);
    await says(page, ".banner", "No GPU activity recorded");
  },

  // of some ranks one is broken: the rest is shown, and the loss is not silent
  async partial(page) {
    await go(page, "#/ranks/temporal");
    await says(page, ".strip.failed", "1 file of 4 could not be read");
    await says(page, ".top .health", "1 file failed");
    await page.locator(".strip.failed summary").click();
    await says(page, ".strip.failed .file-error", "straggler_rank1");
    const rows = await page.locator('section[data-verb="temporal-breakdown"] tbody tr').count();
    check("ranks that are shown", rows, 3);
  },

  // each way in which a run is not whole has a banner that names it, in both themes; the headline names the ranks that it is made from, and of a file that is cut there is none
  async incomplete(page) {
    const runs = {
      norank: { words: ["4 ranks or more, of which 3 are here", "Not here: rank 2."], head: /^Bound by .* · of ranks 0-1,3$/s },
      nostep: { words: ["Ranks do not issue the same collectives", "step 3", "on rank 1"], head: /^Bound by .* · of ranks 0-3$/s },
      hole: { words: ["Steps go from 2 to 7, and 4 is on no rank", "step times and what is summed over steps"], head: /^Bound by .* · of ranks 0-3$/s },
      unread: { words: ["1 file of 4 could not be read", "straggler_rank1"], head: /^Bound by .* · of ranks 0,2-3$/s },
      cut: { words: ["Data is missing", "ends in the middle", "rank 1", "straggler_rank1"], head: /^(?!.*bound by)(?!.*waiting)/is },
    };
    for (const [run, { words, head }] of Object.entries(runs)) {
      await go(page, `#/${run}/overview`);
      await quiet(page);
      const said = (await page.locator(".main .strip").allInnerTexts()).join(" ").replace(/\s+/g, " ");
      for (const word of words) if (!said.includes(word)) throw new Error(`${run}: "${word}" is not in "${said}"`);
      const heading = await page.locator(".main h1").innerText();
      if (!heading || !head.test(heading)) throw new Error(`${run}: the headline is "${heading}"`);
      for (const width of [390, 2560]) {
        await page.setViewportSize({ width, height: 900 });
        await quiet(page);
        check(`${run} at ${width}`, await page.evaluate(() => document.querySelector(".main").scrollWidth <= document.querySelector(".main").clientWidth), true);
      }
      await page.setViewportSize({ width: 1280, height: 900 });
      check(`${run}: axe`, await violationsOfBoth(page), []);
    }
    await go(page, "#/whole/overview");
    await quiet(page);
    check("a whole run has none", await page.locator(".main .strip").count(), 0);
    if (!/^Bound by waiting for rank 2[^·]*$/.test(await page.locator(".main h1").innerText())) throw new Error("the headline of a whole run is another one");
  },

  // a file that ends in the middle is shown as far as it goes, and the dot says that data was lost
  async cut(page) {
    await go(page, "#/ranks/analysis/info");
    await page.locator(".top .dot.lost").waitFor({ timeout: WAIT_MS });
    await page.locator(".health button").first().click();
    await says(page, ".panel .notes", "ends in the middle");
    await page.locator(".panel a", { hasText: "All checks" }).click();
    await says(page, 'section[data-verb="health"]', "data loss");
  },

  // the run that is looked at is deleted
  async deleted(page) {
    await go(page, "#/gone/kernels");
    await page.locator('section[data-verb="kernels"] tbody tr').first().waitFor();
    rmSync(`${logdir}/gone`, { recursive: true });
    await page.locator(".health button").first().click();
    await lookForFiles(page);
    await says(page, ".start", "There is no run called gone", "stays");
    await page.locator(".start a", { hasText: "stays" }).click();
    await settle(page);
    await page.locator('section[data-verb="kernels"] tbody tr').first().waitFor();
  },

  // no GPU events: views say what is missing and how to record it
  async nogpu(page) {
    for (const view of ["kernels", "temporal", "idle", "kernel-types", "queue", "launch", "communication", "memory"]) {
      await go(page, `#/cpu/${view}`);
      check(`${view}: problems`, await page.locator(".state.problem").allInnerTexts(), []);
    }
    await go(page, "#/cpu/kernels");
    await says(page, ".state.empty", "nothing to show", "ProfilerActivity.CUDA");
    await go(page, "#/cpu/temporal?rank=7");
    await says(page, ".state", "Look at all ranks and steps");
  },

  // recordings of one worker at other times are looked at one by one, the last first
  async spans(page) {
    const calls = async (query) => {
      await go(page, `#/twice/kernels${query}`);
      return page.locator('section[data-verb="kernels"] .ht-table').getAttribute("data-rows");
    };
    const [first, second] = [await calls("?span=1"), await calls("?span=2")];
    if (first === second) throw new Error(`both spans have ${first} kernels`);
    check("the last at first", await calls(""), second);
    await page.locator(".top label", { hasText: "span" }).locator("select").selectOption("1");
    await settle(page);
    check("chosen at the top", await page.evaluate(() => location.hash), "#/twice/kernels?span=1");
    check("its kernels", await page.locator('section[data-verb="kernels"] .ht-table').getAttribute("data-rows"), first);
  },

  // names that are markup stay text, wherever they are shown
  async hostile(page) {
    const views = ["overview", "operators", "kernels", "modules", "flame", "annotations", "launch", "sequences", "critical-path", "analysis/events",
      "operators?name=%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E"];
    for (const view of views) {
      await go(page, `#/hostile/${view}`);
      check(`${view}: problems`, await page.locator(".state.problem").allInnerTexts(), []);
      check(`${view}: elements from names`, await page.locator("img, iframe, #app script").count(), 0);
    }
    await says(page, "aside.details h2", "<script>window.hit=1</script>");
    await go(page, `#/hostile/kernels?name=${"a".repeat(1 << 20)}`);
    check("a name of 1 MB", await page.locator(".state.problem").allInnerTexts(), []);
    check("scripts that ran", await page.evaluate(() => window.hit), undefined);
    await page.keyboard.press("/");
    await page.keyboard.type("<script>");
    await says(page, ".palette li", "<script>");
    check("scripts that ran", await page.evaluate(() => window.hit), undefined);
  },
};

const browser = await launch();
try {
  const { page, errors } = await open(browser, url);
  await settle(page);
  await SCENARIOS[scenario](page);
  check("errors", silent(errors), []);
} finally {
  await browser.close();
}
