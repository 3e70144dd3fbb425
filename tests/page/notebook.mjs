// SPDX-License-Identifier: Apache-2.0
// Outputs of a notebook's cells as a notebook puts them into its page: node notebook.mjs CELLS. CELLS is a file of JSON, a list of HTML; the last
// one has the page of the run in a frame.
import { check, launch } from "./browser.mjs";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const cells = JSON.parse(readFileSync(process.argv[2], "utf8"));
// as wide as a cell of JupyterLab on a small screen; scripts that outputs hold are run, as notebooks do
const frame = `<!doctype html><meta charset="utf-8"><style>body{font:13px sans-serif;margin:0}.cell{width:960px;padding:8px}</style><body></body>`;
const server = createServer((_, answer) => { answer.setHeader("content-type", "text/html; charset=utf-8"); answer.end(frame); });
await new Promise(done => server.listen(0, "127.0.0.1", done));
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1100, height: 900 } });
  const problems = [];
  page.on("pageerror", error => problems.push(String(error)));
  page.on("request", request => { if (!/^(http:\/\/127\.0\.0\.1|http:\/\/localhost|about:|data:)/.test(request.url())) problems.push(request.url()); });
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.evaluate(list => {
    for (const html of list) {
      const cell = document.createElement("div");
      cell.className = "cell";
      cell.append(document.createRange().createContextualFragment(html));
      document.body.append(cell);
    }
  }, cells);
  check("what acts", await page.evaluate(() => [...document.querySelectorAll("script, img, svg, object, embed")].length +
    [...document.querySelectorAll("*")].filter(one => one.getAttributeNames().some(name => name.startsWith("on"))).length), 0);
  // sentences are wrapped and whole; tables stay inside the cell, or scroll in a box of their own
  const wide = await page.evaluate(() => [...document.querySelectorAll(".cell")].filter(cell => cell.scrollWidth > cell.clientWidth).length);
  check("cells that are too wide", wide, 0);
  check("columns out of sight", await page.evaluate(() => [...document.querySelectorAll(".cell table")].filter(table => table.offsetWidth > table.parentElement.clientWidth + 1).length), 0);
  const cut = await page.evaluate(() => [...document.querySelectorAll(".cell dd")].filter(one => /…$/.test(one.textContent)).length);
  check("sentences that are cut", cut, 0);
  check("a session lists its ranks", await page.locator(".cell").first().locator("tbody tr").count() > 0, true);
  // the page of the run, in its cell
  const inner = page.frameLocator("iframe[title=Holotrace]");
  await inner.locator("#main h1").first().waitFor({ timeout: 60000 });
  check("its title is whole", (await inner.locator("#main h1").first().innerText()).length > 8, true);
  check("a name has run", await page.evaluate(() => [window.hit ?? null, ...[...document.querySelectorAll("iframe")].map(() => null)][0]), null);
  check("errors", problems, []);
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/notebook.png`, fullPage: true });
} finally {
  await browser.close();
  server.close();
}
