// SPDX-License-Identifier: Apache-2.0
// Two runs of which rank 3 of the second has a kernel that takes 30 ms more: node compare.mjs URL. The first sentence names it; the overview, its
// numbers, bars and tables show both runs, and the timeline has both on one axis. Both themes, from a phone to a wide screen.
import { check, go, launch, open, settle } from "./app.mjs";
import { frames, quiet, violationsOfBoth } from "./browser.mjs";

const [url] = process.argv.slice(2);
const browser = await launch();

async function fits(page, what) {
  for (const width of [390, 1024, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    await quiet(page);
    const wide = await page.evaluate(() => Math.max(document.documentElement.scrollWidth - innerWidth, document.querySelector(".main").scrollWidth - document.querySelector(".main").clientWidth));
    if (wide > 1) throw new Error(`${what}: ${wide} px too wide at ${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function axe(page, what) {
  await quiet(page);
  check(`${what}: axe`, await violationsOfBoth(page), []);
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/${what}.png` });
}

try {
  const { page, errors } = await open(browser, url);
  await settle(page);

  // one click: choosing a baseline opens what changed, and the first sentence is the cause with its cost
  await go(page, "#/after/overview");
  await page.locator(".top select").nth(1).selectOption("before");
  await settle(page);
  const said = await page.locator(".main h1").innerText();
  if (!/^Step time \+\d+\.\d ms \(.*kernel sm90_xmma_gemm_bf16bf16_f32 takes 30\.\d ms more per step on rank 3 alone, launched at train\.py\(65\): forward$/.test(said))
    throw new Error(`the first sentence: ${said}`);
  check("your code", await page.locator(".head .your-code strong").innerText(), "train.py(65): forward");
  await quiet(page);
  const evidence = await page.locator(".head .code-of a", { hasText: "Show in the timeline" }).getAttribute("href");
  if (!/\/timeline\?.*base=before.*event=3%3A/.test(evidence)) throw new Error(`the evidence is ${evidence}`);
  // each number with its direction, interval and word
  for (const figure of await page.locator(".figures .figure").allInnerTexts())
    if (!/[+-−]/.test(figure) || !/slower|faster|within noise/.test(figure) || !/95 % interval/.test(figure)) throw new Error(`a figure without noise: ${figure}`);
  // both runs on one scale, the rank that changed and the others
  const bars = await page.locator(".both-steps svg").getAttribute("aria-label");
  for (const name of ["before, rank 3", "after, rank 3", "before, other ranks", "after, other ranks"]) if (!bars.includes(name)) throw new Error(`no bar of ${name}: ${bars}`);
  // causes come first
  const cells = await page.locator('section[data-verb="diff"] tbody tr').first().innerText();
  if (!/^cause\s+kernel\s+rank 3/.test(cells)) throw new Error(`first row: ${cells}`);
  check("ranks", (await page.locator("figure", { hasText: "Change of each rank" }).locator("text.ht-code").allTextContents()).at(-1), "rank 3: slower");
  await fits(page, "diff");
  await axe(page, "diff");

  // the overview shows both: numbers, bars and maps on one scale, tables with the change
  await go(page, "#/after/overview?base=before");
  await quiet(page);
  const notes = await page.locator(".verdict .figure-note").allInnerTexts();
  if (notes.length < 2 || !notes.every(text => /baseline/.test(text))) throw new Error(`numbers without a baseline: ${notes}`);
  check("charts of the baseline", await page.locator("figcaption", { hasText: "The same of before" }).count(), 2);
  const top = await page.locator("figure", { hasText: "Time breakdown of the steps" }).locator("svg .ht-axis").allTextContents();
  const below = await page.locator("figure", { hasText: "The same of before" }).first().locator("svg .ht-axis").allTextContents();
  check("the same scale", below.filter(text => /s$/.test(text)), top.filter(text => /s$/.test(text)));
  const changed = await page.locator("table.largest").first().locator("tbody tr", { has: page.locator('td[title*="gemm"]') }).innerText();
  if (!/\+\d+ ms/.test(changed)) throw new Error(`no change of the kernel: ${changed}`);
  await fits(page, "overview");
  await axe(page, "overview-both");

  // tables of other views: what they measure first, beside the baseline
  await go(page, "#/after/temporal?base=before");
  await page.locator('section[data-verb="temporal-breakdown"] th[data-column="significance"]').waitFor({ timeout: 60000 });
  await quiet(page);
  const heads = await page.locator('section[data-verb="temporal-breakdown"] th').evaluateAll(list => list.map(head => head.dataset.column));
  for (const name of ["baseline", "change", "interval", "significance"]) if (!heads.includes(name)) throw new Error(`no column ${name} of ${heads}`);
  // compute of rank 3 is 30 ms longer, that of the others not
  const words = await page.locator('section[data-verb="temporal-breakdown"] tbody tr').evaluateAll(rows => rows.map(row => row.innerText).filter(Boolean));
  if (words.filter(text => /slower/.test(text)).length < 1 || words.some(text => !/slower|faster|within noise/.test(text))) throw new Error(`significance: ${JSON.stringify(words)}`);
  check("bars of the baseline", await page.locator("figcaption", { hasText: "The same of before" }).count(), 1);
  // kernels have the interval and whether it is noise, and a mark on their bars where the baseline is
  await go(page, "#/after/kernels?base=before");
  await quiet(page);
  const columns = await page.locator('section[data-verb="diff"] th').evaluateAll(list => list.map(head => head.dataset.column));
  for (const name of ["change", "step_diff_ns", "low_ns", "high_ns"]) if (!columns.includes(name)) throw new Error(`no column ${name} of ${columns}`);

  if (await page.locator("path.ht-before").count() < 2) throw new Error("no marks of the baseline on the bars");

  // operators: the engine's differences with the interval of a step, of the same columns asked step by step
  await go(page, "#/after/operators?base=before");
  await page.locator('section[data-verb="diff"] th[data-column="significance"]').waitFor({ timeout: 60000 });
  await quiet(page);
  // the kernel is launched by aten::mm, on one of four ranks: 30 ms of a step over all of them
  const intervals = await page.locator('section[data-verb="diff"] tbody tr', { hasText: "slower" }).allInnerTexts();
  if (!intervals.some(text => /\+(29\.[89]|30\.0) to \+30\.[0-2] ms/.test(text))) throw new Error(`no 30 ms in ${JSON.stringify(intervals)}`);
  // charts of one run show the other one, too
  for (const [view, title] of [["critical-path", "What each step waits for"], ["flame", "Where host time is spent"]]) {
    await go(page, `#/after/${view}?base=before`);
    await page.locator("figure", { hasText: title }).first().waitFor();
    await page.locator("figcaption", { hasText: "The same of before" }).first().waitFor();
    await fits(page, view);
    await axe(page, view);
  }

  // both on one axis, from the start of the step
  await go(page, "#/after/timeline?base=before&step=5");
  await page.locator(".tl-below canvas.tl-canvas").waitFor();
  await quiet(page);
  await frames(page);
  const axis = () => page.evaluate(() => {
    const [one, other] = [document.querySelector(".tl-body .tl-canvas"), document.querySelector(".tl-below .tl-canvas")];
    const number = (canvas, name) => Number(canvas.dataset[name]);
    return { from: number(one, "from"), below: number(other, "from"), span: number(one, "to") - number(one, "from"), belowSpan: number(other, "to") - number(other, "from"),
      shift: number(other, "shift"), widths: [one.clientWidth, other.clientWidth], left: [one.getBoundingClientRect().left, other.getBoundingClientRect().left] };
  });
  const tracks = await page.evaluate(() => Promise.all(["after", "before"].map(run => fetch(`api/v1/runs/${run}/tracks`).then(answer => answer.json()))));
  const [here, there] = tracks.map(one => Math.min(...one.steps.filter(step => step.name === "5").map(step => step.start_ns)));
  const first = await axis();
  check("aligned at the start of step 5", first.shift, here - there);
  check("the same place and width", [first.widths[0] === first.widths[1], first.left[0] === first.left[1]], [true, true]);
  if (Math.abs(first.from - first.below - first.shift) > 2 || Math.abs(first.span - first.belowSpan) > 2) throw new Error(`not one axis: ${JSON.stringify(first)}`);
  // moving one moves the other, and the alignment is chosen and kept in the address
  await page.locator(".tl-body .tl-canvas").focus();
  await page.keyboard.press("w");
  // drawn one after the other: while it moves, one may be a frame behind
  await page.waitForFunction(span => {
    const [one, other] = [document.querySelector(".tl-body .tl-canvas").dataset, document.querySelector(".tl-below .tl-canvas").dataset];
    return Number(other.to) - Number(other.from) < span && Math.abs(Number(one.from) - Number(other.from) - Number(other.shift)) <= 2;
  }, first.span);
  await page.locator(".tl-below-head select").selectOption("2");
  await page.waitForFunction(() => /align=2/.test(location.hash));
  await frames(page);
  if ((await axis()).shift === first.shift) throw new Error("the alignment did not change");
  // an event of the baseline has its details
  await page.locator(".tl-below-head select").selectOption("5");
  await quiet(page);
  const box = await page.locator(".tl-below .tl-canvas").boundingBox();
  for (let y = 30; y < box.height && await page.locator(".tl-below-panel").count() === 0; y += 8) {
    await page.mouse.click(box.x + box.width / 2, box.y + y);
    await quiet(page);
  }
  if (!/In the baseline before/.test(await page.locator(".tl-below-panel").innerText())) throw new Error("no details of the baseline");
  // and is in the address, as is what is collapsed there: a reload shows both
  await page.locator(".tl-below").getByRole("button", { name: "Collapse rank 0" }).click();
  await page.locator(".tl-below").getByRole("button", { name: "Expand rank 0" }).waitFor();
  await page.reload();
  await page.locator(".tl-below-panel").waitFor();
  await page.locator(".tl-below").getByRole("button", { name: "Expand rank 0" }).waitFor();
  check("the alignment after a reload", await page.locator(".tl-below-head select").inputValue(), "5");
  await page.locator(".tl-below-panel button[aria-label=Close]").click();
  await page.locator(".tl-below-panel").waitFor({ state: "detached" });
  // a stretch that is selected is summed in both: 28 ms from the start of the step are all gemm in this run, but for the 0.4 ms before its start, and 20 ms of it in the baseline
  await go(page, `#/after/timeline?base=before&step=5&rank=3&sel=${here}..${here + 28000000}`);
  await page.locator(".tl-below-panel table").waitFor();
  await quiet(page);
  const sums = await page.locator(".tl-below-panel tbody tr").evaluateAll(rows => rows.map(row => [row.cells[0].title, row.cells[3].title]));
  const gemm = Number.parseInt(sums.find(([name]) => /gemm/.test(name))?.[1] ?? "0", 10);
  if (Math.abs(gemm - 7600000) > 100000) throw new Error(`the change of the kernel is ${gemm} ns of ${JSON.stringify(sums)}`);
  await fits(page, "timeline");
  await axe(page, "timeline-both");
  check("errors", errors, []);
} finally {
  await browser.close();
}
