// SPDX-License-Identifier: Apache-2.0
// Charts of hundreds of steps or ranks: node many.mjs URL WANTED. WANTED is JSON: what the bars say of the step and of the rank that take longest. At several
// widths no label touches another or leaves its picture, no bar is too thin to be told from the next one, and what takes longest has its name, unless others take as long.
import { go, settle } from "./app.mjs";
import { check, launch, LONG, open, quiet } from "./browser.mjs";

const [url, wantedText] = process.argv.slice(2);
const wanted = JSON.parse(wantedText), problems = [];
const WIDTHS = LONG ? [390, 1280, 2560] : [390, 1280];
// view and query, and what must be named there where bars stand for several
const VIEWS = [["steps", "overview", "?stack=step&rank=1", wanted.step], ["steps", "temporal", "?by=step&rank=1", wanted.step], ["steps", "distributed", "", ""], ["steps", "idle", "", ""],
  ["steps", "critical-path", "", ""], ["steps", "communication", "", ""], ["steps", "overlap", "", ""], ["steps", "kernels", "", ""], ["ranks", "overview", "", wanted.rank],
  ["ranks", "temporal", "", ""], ["ranks", "distributed", "", wanted.rank], ["ranks", "idle", "", ""], ["ranks", "communication", "", ""], ["ranks", "overlap", "", ""],
  ["ranks", "stragglers", "", ""], ["ranks", "kernel-types", "", ""]];

// Of each picture: labels that overlap or are cut off, and its thinnest bar.
const chartsOf = page => page.locator("figure.ht-chart svg[role=img]").evaluateAll(list => list.map(svg => {
  const area = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter(one => one.textContent.trim()).map(one => ({ text: one.textContent, box: one.getBoundingClientRect(), inside: one.classList.contains("ht-inside") }));
  const cut = texts.filter(({ box }) => box.left < area.left - 1 || box.right > area.right + 1).map(one => one.text), over = [];
  for (let i = 0; i < texts.length; i++)
    for (let j = i + 1; j < texts.length; j++) {
      const a = texts[i].box, b = texts[j].box;
      if (a.left + 1 < b.right && b.left + 1 < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom) over.push(`${texts[i].text} / ${texts[j].text}`);
    }
  const thin = Math.min(...[...svg.querySelectorAll("g > g > rect")].map(one => one.getBoundingClientRect().width), 99);
  return { name: (svg.getAttribute("aria-label") ?? "").split(":")[0], cut, over: over.slice(0, 4), thin, words: texts.map(one => one.text).join(" | "),
    binned: svg.querySelector(".ht-whisker") !== null };
}));

const browser = await launch();
try {
  // colours are the only difference of the other theme, and none of this hangs on them
  for (const theme of process.env.PICTURES ? ["light", "dark"] : ["light"]) {
    const { page, errors } = await open(browser, url, { theme });
    await settle(page);
    for (const width of theme === "light" ? WIDTHS : [1280])
      for (const [i, [run, view, query, name]] of VIEWS.entries()) {
        // charts are of a few kinds: where there is room each second view, and those whose bars have names
        if (width === 1280 && !LONG && i % 2 && !name) continue;
        await page.setViewportSize({ width, height: 900 });
        await go(page, `#/${run}/${view}${query}`);
        await quiet(page);
        const charts = await chartsOf(page), at = `${run}/${view} at ${width}`;
        for (const one of charts) {
          if (one.cut.length > 0) problems.push(`${at}, ${one.name}: cut off: ${one.cut}`);
          if (one.over.length > 0) problems.push(`${at}, ${one.name}: labels overlap: ${one.over.join("; ")}`);
          if (one.thin < 2.5) problems.push(`${at}, ${one.name}: a bar of ${one.thin} px`);
        }
        if (name && !charts.some(one => !one.binned || one.words.includes(name))) problems.push(`${at}: ${name} has no name in ${charts.map(one => one.words)}`);
        if (name && width === 390 && !charts.some(one => one.binned)) problems.push(`${at}: no chart changes its form`);
        if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/many-${run}-${view}-${width}-${theme}.png` });
      }
    check("errors", errors, []);
    await page.close();
  }
} finally {
  await browser.close();
}
if (problems.length > 0) throw new Error(problems.join("\n"));
