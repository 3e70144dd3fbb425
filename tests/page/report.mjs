// SPDX-License-Identifier: Apache-2.0
// The report in Chromium: node report.mjs URL EXPECTED.json SCREENSHOTS. EXPECTED has, by verb, the table as the command
// line gives it.
import { readFileSync } from "node:fs";
import { check, launch, LONG, open, quiet } from "./browser.mjs";

const [url, expectedPath, pictures] = process.argv.slice(2);
const expected = JSON.parse(readFileSync(expectedPath, "utf8"));
const browser = await launch();

// Exact values are in the tips of cells: digits in groups, then the unit.
const exactOf = title => title.replace(/\u2009/g, "").replace(/ (ns|bytes|GB\/s|%)$/, "");

async function rowsOf(page, verb, columns, n) {
  return page.locator(`#${verb}`).evaluate((section, [columns, n]) => {
    const heads = [...section.querySelectorAll(".ht-scroll th")].map(head => head.dataset.column);
    return [...section.querySelectorAll(".ht-scroll tbody tr")].slice(0, n).map(row => columns.map(name => row.cells[heads.indexOf(name)].title));
  }, [columns, n]);
}

const A4 = { format: "A4", margin: { top: "12mm", bottom: "12mm", left: "12mm", right: "12mm" } };
const FOOT = 12 / 25.4 * 72 + 36; // points: the margin, and three lines of what a title is the title of

// Titles whose place is too close to the foot of their page, by the outline of the file.
function orphans(pdf) {
  const titles = [...pdf.matchAll(/\/Title ([^\n]*)\n\/Dest \[\d+ 0 R \/XYZ [\d.]+ ([\d.]+)/g)];
  if (titles.length < 10) throw new Error(`the outline has ${titles.length} titles`);
  return titles.filter(([, , y]) => Number(y) < FOOT).map(([, title]) => title);
}

try {
  const { page, errors } = await open(browser, url, { width: 1400 });
  await page.waitForSelector(".rp-verdict h1");

  // the verdict is the summary's
  const findings = await page.locator(".rp-findings dd:nth-of-type(1)").allTextContents();
  check("findings", findings, expected.summary.rows.map(row => row[1]));
  const bound = expected.summary.rows.find(row => row[0] === "bound by")[1];
  const head = await page.locator(".rp-verdict h1").textContent();
  if (!bound.startsWith(head.replace(/^Bound by /, ""))) throw new Error(`headline: ${head} of ${bound}`);

  // sections are below what the engine calls their groups: conclusions are in the overview, and the data comes last
  const sections = await page.locator("#data").evaluate(data => JSON.parse(data.textContent).sections);
  const groups = [...new Set(sections.filter(one => one.group !== "conclusions").map(one => one.group_title))].filter(title => title !== "The data");
  check("headings", await page.locator("h3.rp-group").allTextContents(), [...groups, "The data"]);
  check("contents", await page.locator(".rp-nav div > span").allTextContents(), [...groups, "The data"]);
  if (!groups.includes("Where time goes")) throw new Error(`groups: ${groups}`);

  // a link to evidence opens its section
  check("closed at first", await page.locator("#temporal-breakdown[open]").count(), 0);
  await page.locator('.rp-findings a[href="#temporal-breakdown"]').first().click();
  await page.waitForSelector("#temporal-breakdown[open] table");
  check("in sight", await page.locator("#temporal-breakdown").evaluate(e => Math.abs(e.getBoundingClientRect().top) < innerHeight), true);

  // numbers are those of the command line
  await page.getByText("open all").click();
  for (const [verb, { columns, rows }] of Object.entries(expected).filter(([verb]) => verb !== "summary")) {
    const names = columns.filter(column => ["int64", "duration", "bytes"].includes(column.type)).map(column => column.name).slice(0, 4);
    const drawn = await page.locator(`#${verb} .ht-scroll th`).evaluateAll(heads => heads.map(head => head.dataset.column));
    const shown = names.filter(name => drawn.includes(name));
    if (shown.length === 0) throw new Error(`${verb}: no column of ${names} is shown`);
    const wanted = rows.slice(0, 8).map(row => shown.map(name => row[columns.findIndex(column => column.name === name)]));
    const got = (await rowsOf(page, verb, shown, 8)).map(row => row.map(exactOf));
    check(verb, got, wanted.map(row => row.map(value => value === null ? "no value" : String(value))));
  }

  // order, more rows, filter, collapse
  const kernels = page.locator("#kernels"), calls = expected.kernels.columns.findIndex(column => column.name === "calls");
  await kernels.locator('th[data-column="calls"] button').click();
  const most = Math.max(...expected.kernels.rows.map(row => row[calls]));
  check("most calls first", exactOf((await rowsOf(page, "kernels", ["calls"], 1))[0][0]), String(most));
  await kernels.locator(".ht-all").click();
  check("all rows", await kernels.locator(".ht-scroll tbody tr").count(), expected.kernels.rows.length);
  await kernels.locator('input[type="search"]').fill("memcpy");
  const memcpys = expected.kernels.rows.filter(row => row[0].toLowerCase().includes("memcpy")).length;
  check("filtered", await kernels.locator(".ht-scroll tbody tr").count(), memcpys);
  await kernels.locator("summary").first().click();
  await page.waitForSelector("#kernels:not([open])");
  check("collapsed", await kernels.locator("table").count(), 0);
  await page.getByText("close all").click();

  // a chart tells exact values under the pointer
  await page.locator(".ht-chart rect[fill='var(--communication)']").first().hover();
  if (!/\d/.test(await page.locator(".ht-tip").textContent())) throw new Error("no tip");

  // every width without scrolling sideways, all sections open
  for (const [width, theme] of [[500, "light"], [2560, "light"]]) {
    const other = await open(browser, url, { width, theme });
    await other.page.waitForSelector(".rp-verdict h1");
    await quiet(other.page);
    if (LONG) await other.page.screenshot({ path: `${pictures}-${theme}-${width}.png`, fullPage: true });
    await other.page.getByText("open all").click();
    await quiet(other.page);
    check(`${width} px`, await other.page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
    check(`errors at ${width} px`, other.errors, []);
    await other.page.close();
  }

  // the bars of steps are the page's: waiting apart from transfer
  const legend = await page.locator("figure", { hasText: "Time breakdown of the steps" }).locator(".ht-legend").innerText();
  for (const word of ["compute", "transfer", "waiting for a rank"]) if (!legend.includes(word)) throw new Error(`the step bars have no ${word}: ${legend}`);

  // paper: light, all sections, nothing cut off at the right
  const pdf = (await page.pdf({ ...A4, path: `${pictures}.pdf`, outline: true, tagged: true })).toString("latin1");
  const pages = (pdf.match(/\/Type\s*\/Page\b/g) ?? []).length;
  if (pages < 3 || pages > 60) throw new Error(`${pages} pages`);
  check("titles at the foot of a page", orphans(pdf), []);
  check("errors", errors, []);
} finally {
  await browser.close();
}
