// SPDX-License-Identifier: Apache-2.0
// The line of the user's code beside kernels and operators: node code.mjs URL WANTED. WANTED is JSON: the run with lines, the
// lines by view and name, and a run without any.
import { go, hash } from "./app.mjs";
import { check, launch, open, quiet, THEMES, violationsOfBoth } from "./browser.mjs";

const [url, wantedText] = process.argv.slice(2);
const wanted = JSON.parse(wantedText);
const at = (run, view, query = "") => `#/${encodeURIComponent(run)}/${view}${query}`;
const brief = line => line.replace(/^(backward of )?(?:.*\/)?([^/]+)\((\d+)\).*$/, "$1$2:$3");

// Name, whole line and what is read of it, of the rows in the document.
const rowsOf = table => table.evaluate(box => {
  const place = name => [...box.querySelectorAll("th")].findIndex(head => head.dataset.column === name);
  const name = place("name"), code = place("your_code");
  return [...box.querySelectorAll("tbody tr:not(.ht-space)")].map(row => ({ name: row.cells[name].title, title: row.cells[code].title,
    text: row.cells[code].innerText, weight: Number(getComputedStyle(row.cells[code]).fontWeight), font: getComputedStyle(row.cells[code]).fontFamily }));
});

async function checkRows(page, view) {
  const rows = await rowsOf(page.locator(`section[data-verb="${view}"] .ht-table`).first()), lines = wanted.lines[view];
  let known = 0;
  for (const row of rows) {
    const choices = lines[row.name] ?? ["no value"];
    if (!choices.includes(row.title)) throw new Error(`${view} ${row.name}: ${row.title}, wanted one of ${choices}`);
    if (!(row.name in lines)) { check(`${view} ${row.name}`, row.text, "–"); continue; }
    known++;
    check(`${view} ${row.name}`, row.text, brief(row.title));
    if (row.weight < 600 || !/mono/i.test(row.font)) throw new Error(`${view}: not bold or not of one width: ${row.weight} ${row.font}`);
  }
  if (known === 0) throw new Error(`${view}: no line is known`);
}

const browser = await launch();
try {
  for (const theme of THEMES) {
    const { page, errors } = await open(browser, url + at(wanted.run, "kernels"), { theme });
    const asked = [];
    page.on("request", request => { if (request.url().includes("/table/attribution")) asked.push(request.url()); });
    await page.reload();
    for (const view of ["kernels", "operators"]) {
      asked.length = 0;
      if (view === "operators") await go(page, at(wanted.run, view));
      await page.locator(`section[data-verb="${view}"] th[data-extra][data-column="your_code"]`).waitFor();
      await quiet(page);
      check(`${view}: questions`, asked.length, 1);
      await checkRows(page, view);
      check(`${view} ${theme}: axe`, await violationsOfBoth(page), []);
      if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/code-${view}-${theme}.png` });
    }
    // the order of the lines, and one click to what is behind a row
    await go(page, at(wanted.run, "kernels", "?sort=your_code"));
    await page.locator('th[data-column="your_code"][aria-sort="ascending"]').waitFor();
    const link = page.locator('section[data-verb="kernels"] td.ht-extra a').first(), row = await link.locator("xpath=ancestor::tr/td[1]").getAttribute("title");
    await link.click();
    await page.locator("aside.details").waitFor();
    check("details of the row", new URLSearchParams((await hash(page)).split("?")[1]).get("name"), row);
    // rows by something else have many lines each
    await go(page, at(wanted.run, "kernels", "?by=properties"));
    await quiet(page);
    check("by properties", await page.locator("th[data-extra]").count(), 0);
    // on a phone times count more
    await page.setViewportSize({ width: 390, height: 844 });
    await go(page, at(wanted.run, "kernels"));
    await quiet(page);
    check("on a phone", await page.locator('section[data-verb="kernels"] th').evaluateAll(heads => heads.slice(0, 2).some(head => "extra" in head.dataset)), false);
    await go(page, at(wanted.without, "kernels"));
    await quiet(page);
    check("a run without lines", await page.locator("th[data-extra]").count(), 0);
    check("errors", errors, []);
    await page.close();
  }
} finally {
  await browser.close();
}
