// SPDX-License-Identifier: Apache-2.0
// An NPU's layers and flows: node timeline_npu.mjs URL RUN SHOTS. Flows are found from a kernel of the hardware's layer.
import { check, launch, open, quiet } from "./browser.mjs";
import { join } from "node:path";

const [url, run, shots] = process.argv.slice(2);
const base = `${url}api/v1/runs/${encodeURIComponent(run)}/`;
const ask = async (path) => (await fetch(base + path)).json();
const browser = await launch();
try {
  const tracks = await ask("tracks"), layers = new Set(tracks.tracks.map(track => track.layer));
  for (const layer of ["framework", "CANN", "hardware"]) if (!layers.has(layer)) throw new Error(`no layer ${layer}`);
  const hardware = new Set(tracks.tracks.filter(track => track.layer === "hardware").map(track => track.track));
  const { page, errors } = await open(browser, `${url}#/${encodeURIComponent(run)}/timeline`);
  await page.waitForFunction(() => document.querySelector(".tl-canvas")?.dataset.waiting === "0", null, { polling: 40 });
  await page.getByText("processes").click();
  const processes = await page.locator(".tl-menu label").allInnerTexts();
  for (const name of ["CANN", "Ascend Hardware"]) if (!processes.some(text => text.trim() === name)) throw new Error(`no process ${name} in ${processes}`);
  await page.getByText("processes").click();
  await page.screenshot({ path: join(shots, "timeline-npu.png") });
  // a kernel that both the host's layers lead to
  const found = await ask("search?q=aclnn&limit=400");
  let flows = null;
  for (const event of found.events) {
    if (!hardware.has(event.track)) continue;
    const answer = await ask(`flows?id=${event.id}`), names = new Set(answer.flows.map(flow => flow.link));
    if (names.has("HostToDevice") || names.has("async_npu") || names.has("launch")) { flows = { id: event.id, n: answer.flows.length, names }; break; }
  }
  if (!flows) throw new Error("no kernel has a flow");
  await page.goto(`${url}#/${encodeURIComponent(run)}/timeline?event=${flows.id}`);
  await page.waitForFunction(id => document.querySelector(".tl-canvas")?.dataset.chosen === id, flows.id, { polling: 40, timeout: 15000 });
  await quiet(page);
  check("arrows", Number(await page.locator(".tl-canvas").evaluate(canvas => canvas.dataset.arrows)), flows.n);
  await page.screenshot({ path: join(shots, "timeline-npu-flow.png") });
  check("errors", errors, []);
} finally {
  await browser.close();
}
