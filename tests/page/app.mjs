// SPDX-License-Identifier: Apache-2.0
// What the tests of the app share: waiting until a view is drawn, reading its tables back as values.
import { check, frames, launch, open } from "./browser.mjs";
export { check, frames, launch, open };

// Drawn: a view or a start page is there, and nothing is asked for any more.
export async function settle(page, timeout = 30000) {
  await page.waitForFunction(() => (document.querySelector(".main, .start")?.textContent ?? "") !== "" &&
    document.querySelectorAll(".state.busy, .stale").length === 0, null, { timeout, polling: 50 });
  await frames(page);
  // what was drawn may ask for more
  if (await page.locator(".state.busy, .stale").count() > 0) await settle(page, timeout);
}

// Another place of the page, by its fragment, without loading it again.
export async function go(page, fragment) {
  await page.evaluate(text => { location.hash = text; }, fragment);
  await frames(page);
  await settle(page);
}

export const hash = page => page.evaluate(() => location.hash);

// The rows of a table that are in the document: names of columns, and the exact values behind the cells.
export function readTable(table) {
  return table.evaluate(box => {
    const heads = [...box.querySelectorAll("th")], columns = heads.map(head => head.dataset.column);
    const extra = heads.filter(head => head.dataset.extra !== undefined).map(head => head.dataset.column);
    const rows = [...box.querySelectorAll("tbody tr:not(.ht-space)")].map(row => [...row.cells].map(cell => cell.title));
    return { columns, extra, rows, n: Number(box.dataset.rows) };
  });
}

const digits = text => text.replace(/[\s\u2009]/g, "");

// Does the tooltip of a cell say the value that the command line says? The formats are those of ui.md: all digits,
// a thin space between thousands, shares in percent, the unit behind.
export function says(title, value, column) {
  if (value === null) return title === "no value";
  if (column.type === "bool") return title === (value ? "yes" : "no");
  if (column.type === "string" || column.type === "event") return title === String(value);
  const found = /^-?[\d\s\u2009]+(\.\d+)?(e[+-]?\d+)?/.exec(title);
  if (!found) return false;
  const shown = digits(found[0]);
  if (column.type === "ratio") return Math.abs(Number(shown) - value * 100) <= 1e-9 * Math.max(1, Math.abs(value * 100));
  return typeof value === "number" && !Number.isInteger(value) ? Number(shown) === value : shown === String(value);
}

// Columns that the page adds to those of the engine; tests/page/code.mjs and compare.mjs look into them.
const EXTRA = ["your_code", "baseline", "change", "interval", "significance"];

// The rows in sight are the first of the command line's, value by value.
export function checkTable(what, got, wanted) {
  if (got.n !== wanted.rows.length) throw new Error(`${what}: ${got.n} rows, wanted ${wanted.rows.length}`);
  if (got.rows.length === 0 && wanted.rows.length > 0) throw new Error(`${what}: no rows in the document`);
  for (const name of got.extra) if (!EXTRA.includes(name)) throw new Error(`${what}: nobody knows the added column ${name}`);
  for (const [c, name] of got.columns.entries()) {
    if (got.extra.includes(name)) continue;
    const at = wanted.columns.findIndex(column => column.name === name);
    if (at < 0) throw new Error(`${what}: no column ${name}`);
    for (const [r, row] of got.rows.entries()) {
      const value = wanted.rows[r][at];
      if (!says(row[c], value, wanted.columns[at]))
        throw new Error(`${what}: row ${r} ${name}: the page says ${row[c]}, the command line ${JSON.stringify(value)}`);
    }
  }
}
