// SPDX-License-Identifier: Apache-2.0
// Bars of shares on the overview have the colour of their class, in both themes: node shares.mjs URL RUN. The run has collectives and kernels that compute among the largest.
import { check, go, launch, open } from "./app.mjs";

const [url, run] = process.argv.slice(2);
const browser = await launch();
try {
  const { page, errors } = await open(browser, url);
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    await go(page, `#/${run}/overview`);
    const table = page.locator("section.block", { has: page.getByRole("heading", { name: /^Kernels that cost most/ }) }).locator("table.largest");
    await table.locator("tbody tr", { hasText: "nccl" }).first().waitFor(); // the run that the page opened with has none
    const bars = await table.evaluate((one) => {
      const probe = document.body.appendChild(document.createElement("i"));
      const colorOf = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
      const colors = { communication: colorOf("communication"), compute: colorOf("compute") };
      probe.remove();
      const rows = [...one.querySelectorAll("tbody tr")];
      return rows.map((row) => ({ name: row.cells[0].title, color: getComputedStyle(row.querySelector(".share-bar")).backgroundColor, ...colors }));
    });
    for (const bar of bars) check(`${theme}: ${bar.name}`, bar.color, bar.name.startsWith("nccl") ? bar.communication : bar.compute);
    check("both classes", new Set(bars.map((bar) => bar.color)).size, 2);
  }
  check("errors", errors, []);
} finally {
  await browser.close();
}
