// SPDX-License-Identifier: Apache-2.0
// The pictures of README and docs: node readme.mjs URL STRAGGLER SNAPSHOT OUT. Small enough to look at beside the text.
import { go, launch, open, settle } from "./app.mjs";
import { quiet } from "./browser.mjs";

const [url, straggler, snapshot, out] = process.argv.slice(2);
const browser = await launch();
try {
  const { page } = await open(browser, url, { width: 1160, height: 640 });
  await settle(page);
  await go(page, `#/${encodeURIComponent(straggler)}/overview`);
  await quiet(page);
  await page.screenshot({ path: `${out}/page-overview.png` });
  await go(page, `#/${encodeURIComponent(snapshot)}/memory`);
  await quiet(page);
  await page.screenshot({ path: `${out}/page-memory.png` });
  await page.emulateMedia({ colorScheme: "dark" });
  await go(page, `#/${encodeURIComponent(straggler)}/timeline`);
  await page.waitForFunction(() => document.querySelector(".tl-canvas")?.dataset.waiting === "0");
  await quiet(page);
  await page.screenshot({ path: `${out}/page-timeline.png` });
} finally {
  await browser.close();
}
