// SPDX-License-Identifier: Apache-2.0
// The server ends and comes back while the page is open: node away.mjs PROGRAM LOGDIR PORT RUN
import { spawn } from "node:child_process";
import { go, launch, open, settle } from "./app.mjs";

const [program, logdir, port, run] = process.argv.slice(2);
const WAIT_MS = 30000;

// Resolves when the server has printed its URL.
function serve() {
  const server = spawn(program, ["serve", logdir, "--port", port], { stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((done, failed) => {
    server.stdout.once("data", () => done(server));
    server.once("exit", status => failed(new Error(`serve: exit ${status}`)));
  });
}

// A server that has ended already says so no second time.
const ended = server => server.exitCode !== null ? undefined
  : new Promise(done => { server.once("exit", done); server.kill("SIGINT"); });
const rows = (page, verb) => page.locator(`section[data-verb="${verb}"] tbody tr`);

let server = await serve();
const browser = await launch();
try {
  const { page } = await open(browser, `http://127.0.0.1:${port}/`);
  await page.locator(".main").waitFor({ timeout: WAIT_MS });
  await go(page, `#/${run}/kernels`);
  await rows(page, "kernels").first().waitFor({ timeout: WAIT_MS });
  await ended(server);
  await page.locator(".strip.failed", { hasText: "does not answer" }).waitFor({ timeout: WAIT_MS });
  if (await rows(page, "kernels").count() === 0) throw new Error("what was shown is gone");
  await page.getByRole("link", { name: "Operators", exact: true }).click();
  await page.locator(".state.problem", { hasText: "Is holotrace serve still running?" }).first().waitFor({ timeout: WAIT_MS });
  server = await serve();
  await page.locator(".strip.failed").waitFor({ state: "detached", timeout: WAIT_MS });
  await rows(page, "operators").first().waitFor({ timeout: WAIT_MS });
  await settle(page);
} finally {
  await browser.close();
  await ended(server);
}
