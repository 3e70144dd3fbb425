// SPDX-License-Identifier: Apache-2.0
// The page's state is its URL: views, group-bys, order, filter, ranks; reload and back show the same. Search, keys,
// drill-down and downloads too. node state.mjs URL IDS WANTED
import { check, checkTable, go, hash, launch, open, readTable, settle } from "./app.mjs";

const [url, idsText, wantedText] = process.argv.slice(2);
const ids = JSON.parse(idsText), wanted = JSON.parse(wantedText);
const at = (run, rest) => `#/${encodeURIComponent(ids[run])}/${rest}`;

async function includes(page, text) {
  const now = await hash(page);
  if (!now.includes(text)) throw new Error(`the URL is ${now}, wanted ${text} in it`);
}

const browser = await launch();
try {
  const { page, errors } = await open(browser, url);
  const main = page.locator("#main");
  const table = verb => page.locator(`section[data-verb="${verb}"] .ht-table`).first();
  const nav = name => page.locator("nav.nav a", { hasText: new RegExp(`^${name}`) });
  const tab = name => page.locator("nav.tabs a", { hasText: new RegExp(`^${name}$`) });

  // the first run's overview without being asked
  await settle(page);
  await includes(page, "/overview");

  // group-by, order and filter are in the URL, and survive a reload
  await go(page, at("train", "overview"));
  // eight places; the views of one are its tabs
  check("places", await page.locator("nav.nav a span").allInnerTexts(), ["Overview", "Timeline", "Kernels & operators",
    "Modules & code", "Memory", "Ranks & communication", "Compare", "Explore"]);
  await nav("Kernels").click();
  await tab("Operators").click();
  await settle(page);
  check("the place stays", await page.locator("nav.nav a[aria-current]").innerText(), "Kernels & operators\n3");
  check("operators", await hash(page), at("train", "operators"));
  await page.getByRole("radio", { name: "shape", exact: true }).click();
  await settle(page);
  await includes(page, "by=shape");
  await table("operators").locator('th[data-column="calls"] button').click();
  await settle(page);
  await includes(page, "sort=-calls");
  checkTable("sorted by calls", await readTable(table("operators")), wanted.by_shape);
  await table("operators").locator('input[type="search"]').fill("addmm");
  await includes(page, "find=addmm");
  const few = (await readTable(table("operators"))).n;
  if (few === 0 || few >= wanted.by_shape.rows.length) throw new Error(`filter: ${few} rows`);
  const before = await hash(page);
  await page.reload();
  await settle(page);
  check("after a reload", await hash(page), before);
  check("rows after a reload", (await readTable(table("operators"))).n, few);
  check("order after a reload", await table("operators").locator('th[data-column="calls"]').getAttribute("aria-sort"), "descending");

  // back undoes one choice after the other
  await page.goBack();
  await settle(page);
  check("back: no order", (await hash(page)).includes("sort"), false);
  await page.goBack();
  await settle(page);
  check("back: by name", await hash(page), at("train", "operators"));
  await page.goForward();
  await settle(page);
  await includes(page, "by=shape");

  // drill-down: a row opens shapes, kernels and calls; an event leads to the timeline
  await go(page, at("train", "operators"));
  await table("operators").locator("tbody tr", { hasText: "aten::mm" }).first().click();
  await settle(page);
  await includes(page, "name=aten%3A%3Amm");
  const details = page.locator("aside.details");
  check("details", await details.locator("h2").first().innerText(), "aten::mm");

  for (const title of ["By input shapes", "Kernels it launches", "Longest calls"])
    check(title, await details.locator("h2", { hasText: title }).count(), 1);
  await details.locator('section[data-verb="events"] tbody a').first().click();
  await includes(page, "/timeline?event=0%3A");
  await page.goBack();
  await settle(page);
  await details.getByRole("button", { name: "Close details" }).click();
  check("closed", await details.count(), 0);

  // the line of the user's code, in one click
  await go(page, at("train", "operators"));
  await table("operators").locator("tbody tr", { hasText: "aten::addmm" }).first().click();
  await settle(page);
  check("your code", await details.locator(".your-code strong").innerText(), wanted.line);

  // call stacks
  await go(page, at("cpu", "operators?name=aten%3A%3Amm"));
  await details.locator('section[data-verb="operators"]').nth(1).locator("tbody tr").first().click();
  if (await details.locator(".frames li").count() < 3) throw new Error("no frames of the call stack");

  // ranks and steps chosen at the top stay from view to view
  await go(page, at("straggler", "temporal"));
  await page.getByRole("button", { name: /^ranks/ }).click();
  await page.locator(".panel label", { hasText: "rank 2" }).locator("input").check();
  await page.keyboard.press("Escape");
  await settle(page);
  await includes(page, "rank=2");
  checkTable("only rank 2", await readTable(table("temporal-breakdown")), wanted.rank_2);
  check("the verdict is the table's", await main.locator("h1").innerText(), wanted.exposed);
  await main.locator(".lead a.next").click();
  await settle(page);
  check("where it leads", await hash(page), at("straggler", "overlap?rank=2"));
  await nav("Kernels").click();
  await settle(page);
  check("the rank stays", await hash(page), at("straggler", "kernels?rank=2"));

  // a choice without rows keeps the way back
  await go(page, at("straggler", "distributed?view=links"));
  await page.locator('section[data-verb="distributed"] .state.empty').waitFor();
  await page.getByRole("radio", { name: "overlap", exact: true }).click();
  await settle(page);
  if ((await readTable(table("distributed"))).n === 0) throw new Error("no way back");

  // charts lead on
  await go(page, at("straggler", "overview"));
  await page.locator("figure.ht-chart svg g.ht-click").first().click();
  await settle(page);
  await includes(page, "rank=0");
  await go(page, at("straggler", "overview"));
  await page.locator("figure.ht-chart canvas").click({ position: { x: 200, y: 40 } });
  await includes(page, "/timeline?");

  // the address is another one, and that is not drawn yet: a movement that is written down now does not call back
  await settle(page);
  await page.evaluate(text => history.replaceState(history.state, "", text), at("straggler", "overview"));
  await page.keyboard.press("w");
  await page.evaluate(() => new Promise(done => setTimeout(done, 500))); // more than it waits before it writes
  check("left", await hash(page), at("straggler", "overview"));

  // the verdict's evidence opens
  await go(page, at("straggler", "kernels"));
  await go(page, at("straggler", "overview"));
  await page.locator(".verdict .evidence a").first().click();
  await settle(page);
  check("evidence", await hash(page), at("straggler", "stragglers"));
  if (!(await main.locator("h1").innerText()).startsWith("Rank 2 delays the other ranks by")) throw new Error("no verdict");

  // keys and search
  await page.keyboard.press("3");
  await settle(page);
  await includes(page, "/kernels");
  await page.keyboard.press("/");
  await page.keyboard.type("aten::addmm");
  await page.locator(".palette li", { hasText: "operator" }).first().waitFor();
  await page.locator(".palette li.on").waitFor();
  await page.locator(".palette li", { hasText: "operator" }).first().click();
  await settle(page);
  await includes(page, "/operators?name=aten%3A%3Aaddmm");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("critical");
  await page.locator(".palette li", { hasText: "Critical path" }).first().waitFor();
  await page.keyboard.press("Enter");
  await settle(page);
  await includes(page, "/critical-path");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");

  // theme
  await page.getByRole("button", { name: /^Theme/ }).click();
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
  await page.getByRole("button", { name: /^Theme/ }).click();
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");

  // another run: the view stays, the ranks do not
  await go(page, at("straggler", "kernels?rank=2"));
  await page.locator(".top select").first().selectOption(ids.train);
  await settle(page);
  check("another run", await hash(page), at("train", "kernels"));

  // comparing from anywhere opens the differences, with a sign and a word
  await go(page, at("test", "kernels"));
  await page.locator(".top select").nth(1).selectOption(ids.control);
  await settle(page);
  check("compare", await hash(page), at("test", `diff?base=${encodeURIComponent(ids.control)}`));
  const figure = await page.locator(".figure").first().innerText();
  if (!/[-−+]\d/.test(figure) || !/faster|slower|noise/.test(figure)) throw new Error(`no sign or word: ${figure}`);

  // what is downloaded is the command line's
  await go(page, at("train", "kernels"));
  const href = await table("kernels").getByRole("link", { name: "CSV" }).getAttribute("href");
  check("CSV", await page.evaluate(path => fetch(path).then(answer => answer.text()), href), wanted.csv);

  // a query, by its URL and by hand
  if (wanted.sql) {
    await go(page, at("train", `sql?query=${encodeURIComponent(wanted.sql_query)}`));
    checkTable("SQL", await readTable(page.locator("#main .ht-table").first()), wanted.sql);
    await page.getByRole("button", { name: "Which tables there are" }).click();
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator("#main .ht-table td", { hasText: "launches" }).first().waitFor();
    await includes(page, "sql_tables");
  }

  // who goes somewhere when the page has just learned of the runs arrives there, and not at the one that it would begin with
  const hasty = await browser.newPage();
  await hasty.addInitScript(place => {
    const own = Response.prototype.json;
    Response.prototype.json = async function () {
      const value = await own.call(this);
      if (/\/runs\b/.test(this.url) && location.hash === "") location.hash = place;
      return value;
    };
  }, at("straggler", "kernels"));
  await hasty.goto(url);
  await hasty.locator("nav.nav").waitFor();
  await settle(hasty);
  check("where it went at once", await hash(hasty), at("straggler", "kernels"));
  await hasty.close();

  // what is not there
  await go(page, "#/nothing%20here/kernels");
  if (!(await page.locator(".start").innerText()).includes("There is no run called nothing here")) throw new Error("unknown run");
  await go(page, at("train", "no-such-view"));
  if (!(await main.innerText()).includes("There is no view called no-such-view")) throw new Error("unknown view");
  check("errors", errors, []);
} finally {
  await browser.close();
}
