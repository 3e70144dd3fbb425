// SPDX-License-Identifier: Apache-2.0
// Build the page: node build.mjs OUT [--dev]. Writes app.js, app.css, report.js, report.css and index.html into
// OUT; --dev adds the gallery of components (gallery.html) and readable output. Types are checked first by tsc.
import { spawnSync } from "node:child_process";
import { accessSync, constants, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const web = dirname(fileURLToPath(import.meta.url));
const dev = process.argv.includes("--dev");
const isWritable = folder => {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};
const out = resolve(process.argv[2] ?? join(web, "../build/web"));
mkdirSync(out, { recursive: true });

// What did not change since the last time, in this build or another, is not looked at again; where packages are not ours to write to, all is.
const modules = join(web, "node_modules");
const kept = ["--incremental", "--tsBuildInfoFile", join(modules, ".tsbuildinfo")];
const checked = spawnSync(process.execPath, [join(modules, "typescript/bin/tsc"), "-p", web, ...(isWritable(modules) ? kept : [])],
  { stdio: "inherit" });
if (checked.status !== 0) process.exit(1);

// The licences of what is bundled go where it goes.
const licences = ["preact", "uplot"].map(name =>
  `${name}\n${readFileSync(join(web, "node_modules", name, "LICENSE"), "utf8").trim()}`).join("\n\n");

const entries = { app: "src/app/main.tsx", report: "src/report/main.tsx" };
if (dev) entries.gallery = "src/ui/gallery.tsx";
for (const [name, file] of Object.entries(entries)) {
  await build({
    absWorkingDir: web,
    entryPoints: { [name]: file },
    outdir: out,
    bundle: true,
    minify: !dev,
    charset: "utf8",
    loader: { ".def": "text" },
    format: "iife",
    target: ["es2022"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    banner: { js: `/*!\n${licences}\n*/` },
    logLevel: "warning",
  });
  // Whether a bundle has styles depends on what it imports; the embedder wants both files always.
  if (!existsSync(join(out, `${name}.css`))) writeFileSync(join(out, `${name}.css`), "");
}
copyFileSync(join(web, "index.html"), join(out, "index.html"));
if (dev) copyFileSync(join(web, "gallery.html"), join(out, "gallery.html"));
