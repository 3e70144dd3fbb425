// SPDX-License-Identifier: Apache-2.0
// Words of another vendor on the page of an NPU's run, and in its report: node npu_words.mjs URL RUN REPORT.
import { go, settle } from "./app.mjs";
import { check, launch, open, quiet, violations } from "./browser.mjs";
import { pathToFileURL } from "node:url";

const [url, run, report] = process.argv.slice(2);
const FOREIGN = /\b(GPUs?|CUDA|NCCL|[Tt]ensor [Cc]ores?)\b|PYTORCH_CUDA|torch\.cuda/;

// What can be read, and what is said about it under the pointer or aloud; where a word of the other vendor stands.
const foreign = page => page.evaluate(source => {
  const pattern = new RegExp(source), out = [];
  const look = (text, where) => { const found = pattern.exec(text ?? ""); if (found) out.push(`${where}: …${text.slice(Math.max(0, found.index - 40), found.index + 40)}…`); };
  for (const one of document.querySelectorAll("body *")) {
    for (const node of one.childNodes) if (node.nodeType === Node.TEXT_NODE && !["SCRIPT", "STYLE"].includes(one.tagName)) look(node.data, one.className || one.tagName);
    for (const name of ["title", "aria-label", "placeholder"]) look(one.getAttribute(name), `${one.className || one.tagName} ${name}`);
  }
  return [...new Set(out)].slice(0, 8);
}, FOREIGN.source);

const browser = await launch();
try {
  const { page, errors } = await open(browser, `${url}#/${encodeURIComponent(run)}/overview`, { width: 1600 });
  page.on("response", answer => { if (answer.status() >= 400) errors.push(answer.url()); });
  await settle(page);
  const views = [], problems = [];
  for (const place of await page.locator("nav.nav a").evaluateAll(list => list.map(one => one.getAttribute("href")))) {
    await go(page, place);
    const tabs = await page.locator("nav.tabs a").evaluateAll(list => list.map(one => one.getAttribute("href")));
    views.push(...(tabs.length > 0 ? tabs : [place]));
  }
  const analyses = (await (await fetch(`${url}api/v1/analyses`)).json()).analyses.filter(one => one.n_sets === 1);
  const all = [...new Set([...views, ...analyses.map(one => `#/${encodeURIComponent(run)}/analysis/${one.name}`)])];
  for (const view of all) {
    await go(page, view);
    await quiet(page);
    for (const one of await foreign(page)) problems.push(`${view.replace(/^#\/[^/]*\//, "")} ${one}`);
  }
  check("words of another vendor", problems, []);

  // a kernel's panel, and the timeline's of one on the device
  const kernel = (await (await fetch(`${url}api/v1/runs/${encodeURIComponent(run)}/table/events?${new URLSearchParams({ where: "kind == kernel", columns: "id,name", sort: "-dur_ns", top: "1" })}`)).json()).rows[0];
  for (const view of [`kernels?name=${encodeURIComponent(kernel[1])}`, `timeline?event=${kernel[0]}&sel=0..1000000`]) {
    await go(page, `#/${encodeURIComponent(run)}/${view}`);
    await quiet(page);
    check(view, await foreign(page), []);
  }
  // communication has its colour among the cores
  await go(page, `#/${encodeURIComponent(run)}/kernels`);
  await quiet(page);
  check("axe", await violations(page), []);
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/npu-kernels.png`, fullPage: true });
  check("errors", errors, []);
  await page.close();

  const { page: paper } = await open(browser, pathToFileURL(report).href, { width: 1280 });
  await paper.getByRole("button", { name: "open all" }).click();
  await paper.waitForFunction(() => [...document.querySelectorAll("details.rp-section")].every(one => one.open && one.querySelector(".rp-body")));
  check("the report", await foreign(paper), []);
} finally {
  await browser.close();
}
