// SPDX-License-Identifier: Apache-2.0
// Five questions, answered by looking, without help: node tasks.mjs URL WANTED. WANTED is JSON of what the command line says; every click is
// counted, and a task fails by one too many.
import { settle } from "./app.mjs";
import { check, launch, open, quiet, THEMES } from "./browser.mjs";

const [url, wantedText] = process.argv.slice(2);
const wanted = JSON.parse(wantedText);
const squeeze = text => text.replace(/[\s\u2009\u202f]+/g, " ").trim().toLowerCase();

// What is in sight of the window, without scrolling.
const inSight = page => page.evaluate(() => {
  const out = [];
  const walk = document.createTreeWalker(document.querySelector("#main"), NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width > 0 && box.bottom > 0 && box.top < innerHeight) out.push(node.data);
  }
  return out.join("");
});

let clicks = 0;
const click = async (page, locator) => {
  clicks++;
  await locator.click();
  await settle(page);
  await quiet(page);
};
const choose = async (page, locator, option) => {
  clicks++;
  await locator.selectOption(option);
  await settle(page);
  await quiet(page);
};
const place = (page, name) => page.locator("nav.nav a", { hasText: name });

// The question, the run it is asked of, how many clicks it may take, what to do, and what must stand there then.
const TASKS = [
  ["why is it slow", "straggler", 0, async () => undefined, wanted.slow],
  ["which rank, and why", "straggler", 0, async () => undefined, wanted.rank],
  ["what changed", "test", 1, page => choose(page, page.getByLabel(/compare with/), { label: "control" }), wanted.changed],
  ["which line launches this kernel", "train", 1, page => click(page, place(page, "Kernels & operators")), wanted.line],
  ["where memory peaks", "train", 1, page => click(page, place(page, "Memory")), wanted.memory],
];

const browser = await launch();
try {
  for (const theme of THEMES)
    for (const [question, run, most, act, words] of TASKS) {
      const { page, errors } = await open(browser, `${url}#/${encodeURIComponent(run)}/overview`, { width: 1440, height: 900, theme });
      await settle(page);
      await quiet(page);
      clicks = 0;
      await act(page);
      check(`${question}: clicks`, clicks <= most, true);
      const text = squeeze(await inSight(page));
      for (const word of words) if (!text.includes(squeeze(word))) throw new Error(`${question}: no "${word}" in sight of ${text}`);
      check(`${question}: errors`, errors, []);
      await page.close();
    }
} finally {
  await browser.close();
}
