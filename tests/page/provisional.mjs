// SPDX-License-Identifier: Apache-2.0
// While ranks are being read: node provisional.mjs URL. The server's news are changed on the way so that some files are not read yet; the verdict says from how many
// ranks it is, and says nothing of it any more when all are read. Reading has a rate and a time that is left.
import { settle } from "./app.mjs";
import { check, frames, launch, THEMES, violations } from "./browser.mjs";

const [url] = process.argv.slice(2);
const browser = await launch();
try {
  for (const theme of THEMES) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: theme });
    let news = 0, generation = 0, wakers = [], comers = [];
    const told = () => new Promise(done => { wakers.push(done); comers.splice(0).forEach(come => come()); });
    // to who waits for news, or will in a moment
    const tell = async () => {
      if (wakers.length === 0) await new Promise(come => { comers.push(come); });
      wakers.splice(0).forEach(wake => wake());
    };
    await page.route(/api\/v1\/runs(\?|$)/, async route => {
      const after = /after=/.test(route.request().url());
      if (after) await told();
      const response = await route.fetch({ url: `${url}api/v1/runs` }), body = await response.json();
      // 61 of 64 ranks are read; of the others first nothing, then half
      const done = [0, 0.25, 0.5, 1][Math.min(news, 3)];
      body.generation = ++generation;
      for (const run of body.runs) {
        if (done < 1) run.state = "loading";
        run.workers.slice(61).forEach(worker => { if (done < 1) worker.rank = null; });
        run.workers.slice(61).forEach(worker => worker.files.forEach(file => { file.bytes = 400e6; file.done = done * 400e6; file.state = done < 1 ? "loading" : "ready"; }));
      }
      news++;
      await route.fulfill({ response, json: body });
    });
    await page.goto(`${url}#/job/overview`);
    await page.locator(".provisional").waitFor();
    check("from how many ranks", await page.locator(".provisional").innerText(), "Provisional: from 61 of 64 ranks");
    check("how far", /61 of 64 files are shown/.test(await page.locator(".strip").first().innerText()), true);
    // a rate needs some time between two news
    for (const _ of [1, 2]) {
      await page.evaluate(() => new Promise(done => { const begin = performance.now(), tick = () => (performance.now() - begin > 1300 ? done() : requestAnimationFrame(tick)); tick(); }));
      await tell();
    }
    await page.locator(".strip", { hasText: /MB\/s, .* left/ }).first().waitFor();
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await frames(page);
      check(`axe ${colorScheme}`, await violations(page, ["color-contrast", "aria-allowed-role"]), []);
    }
    await tell();
    await page.locator(".provisional").waitFor({ state: "detached" });
    check("nothing of it when all are read", await page.locator(".strip").count(), 0);
    await settle(page);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  }
} finally {
  await browser.close();
}
