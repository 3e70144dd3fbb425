// SPDX-License-Identifier: Apache-2.0
// What the overview of the first run says, as text. node words.mjs URL
import { launch, open, settle } from "./app.mjs";

const browser = await launch();
try {
  const { page } = await open(browser, process.argv[2]);
  await settle(page);
  console.log(await page.locator("#main").innerText());
} finally {
  await browser.close();
}
