// What the tests in Chromium share: a browser, pages that note every error, checks that say what differs.
import { createRequire } from "node:module";
const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGS });
}

// A page; what it reports as errors, and each request that is not for its own file, goes into `errors`.
export async function open(browser, url, { width = 1280, height = 900, theme = "light" } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme });
  const errors = [];
  page.on("console", message => { if (["error", "warning"].includes(message.type())) errors.push(message.text()); });
  page.on("pageerror", error => errors.push(String(error)));
  page.on("request", request => {
    if (/^(https?|wss?):/.test(request.url()) && new URL(request.url()).origin !== new URL(url).origin)
      errors.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, errors };
}

export function check(what, got, wanted) {
  const a = JSON.stringify(got), b = JSON.stringify(wanted);
  if (a !== b) throw new Error(`${what}: got ${a}, wanted ${b}`);
}
