// SPDX-License-Identifier: Apache-2.0
// The line of the user's code in panels: node your_code.mjs URL WANTED. WANTED is JSON: run, and a kernel with event, name, source and op.
import { go, hash, settle } from "./app.mjs";
import { check, launch, LONG, open, quiet, violations } from "./browser.mjs";

const [url, wantedText] = process.argv.slice(2);
const wanted = JSON.parse(wantedText);
const at = (view, query) => `#/${encodeURIComponent(wanted.run)}/${view}?${new URLSearchParams(query)}`;

const weight = locator => locator.evaluate(one => Number(getComputedStyle(one).fontWeight));
const clipboard = page => page.evaluate(() => navigator.clipboard.readText());

async function checkLine(page, box, what) {
  const line = box.locator(".your-code strong").first();
  await line.waitFor();
  check(`${what}: the line`, await line.innerText(), wanted.source);
  if (await weight(line) < 600) throw new Error(`${what}: the line is not bold`);
}

const browser = await launch();
try {
  for (const [theme, width] of [["light", 1440], ["dark", 390], ...(LONG ? [["light", 2560]] : [])]) {
    const { page, errors } = await open(browser, url + at("kernels", {}), { theme, width, height: 900 });
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await settle(page);
    // one click, on the row
    await go(page, at("kernels", { find: wanted.name.slice(0, 40) }));
    await quiet(page);
    if (width > 1000) await page.locator('section[data-verb="kernels"] tbody tr').first().click();
    else await go(page, at("kernels", { name: wanted.name }));
    check("one click", new URLSearchParams((await hash(page)).split("?")[1]).get("name") !== null, true);
    await go(page, at("kernels", { name: wanted.name }));
    const panel = page.locator("aside.details");
    await checkLine(page, panel, "kernel");
    await panel.locator(".your-code").getByRole("button", { name: "copy" }).click();
    await panel.locator(".your-code").getByRole("button", { name: "copied" }).waitFor();
    check("copied", await clipboard(page), wanted.source);

    // the stack behind it: no addresses, the same line stands out
    await panel.locator(".code-stack summary").click();
    await panel.locator(".code-stack .frames li").first().waitFor();
    const frames = await panel.locator(".code-stack .frames li").allInnerTexts();
    check("frames with addresses", frames.filter(frame => /0x[0-9a-f]{4}/.test(frame)), []);
    check("what stands out", await panel.locator(".code-stack .frames strong").allInnerTexts(), frames.includes(wanted.source) ? [wanted.source] : []);

    // no editor until one is chosen; the choice lasts
    check("no editor", await panel.getByRole("link", { name: "open in the editor" }).count(), 0);
    await panel.locator(".editor-choice summary").first().click();
    await panel.getByLabel("open lines in").first().selectOption({ label: "VS Code" });
    await panel.getByLabel("folder of the sources").first().fill("/work space/src");
    await panel.getByLabel("folder of the sources").first().press("Enter");
    const link = panel.getByRole("link", { name: "open in the editor" }).first();
    await link.waitFor();
    const [, file, line] = /^(.+?)\((\d+)\)/.exec(wanted.source), path = file.startsWith("/") ? file : `/work space/src/${file}`;
    check("the address", await link.getAttribute("href"), `vscode://file${encodeURI(path)}:${line}`);
    check(`kernel ${theme} ${width}: axe`, await violations(page), []);
    check("wider than the page", await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/your-code-${theme}-${width}.png` });

    // the operator's panel, and the timeline's, with the choice after a reload
    await go(page, at("operators", { name: wanted.op }));
    await page.locator("aside.details .your-code strong").first().waitFor();
    await page.goto(url + at("timeline", { event: wanted.event }));
    await page.reload();
    const own = page.locator('section[aria-label="Your code"]');
    await checkLine(page, own, "timeline");
    await own.getByRole("link", { name: "open in the editor" }).waitFor();
    await own.getByRole("button", { name: "copy" }).click();
    await own.getByRole("button", { name: "copied" }).waitFor();
    check("copied from the timeline", await clipboard(page), wanted.source);
    await quiet(page);
    check(`timeline ${theme} ${width}: axe`, await violations(page), []);
    // a kernel of the backward pass has the line of its forward operator
    await go(page, at("kernels", { name: wanted.backward.name }));
    await page.locator("aside.details .your-code strong").first().waitFor();
    check("of the backward pass", await page.locator("aside.details .your-code strong").first().innerText(), wanted.backward.source);
    if (!(await page.locator("aside.details .code-of").innerText()).includes("in the forward pass")) throw new Error("it does not say that it is of the forward pass");
    await page.evaluate(() => localStorage.clear());
    check("errors", errors, []);
    await page.close();
  }
} finally {
  await browser.close();
}
