# SPDX-License-Identifier: Apache-2.0
"""What the tests of the page share: Node, its packages, Chromium, and modules of web/src run in Node."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

import support

WEB = support.ROOT / "web"
NODE = shutil.which("node")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_node = pytest.mark.skipif(not NODE or not (WEB / "node_modules" / "esbuild").is_dir(),
                                reason="skipped: no Node, or no packages of npm")
needs_browser = pytest.mark.skipif(not NODE or not CHROMIUM or not (WEB / "node_modules" / "playwright-core").is_dir(),
                                   reason="skipped: no Chromium, Node or playwright-core")


def has_page():
    """Was the program built with the page?"""
    return support.output("version").rstrip().endswith(b", page")


def evaluate(tmp_path, source, value):
    """Run TypeScript that sets `answer` from `input`; imports are relative to web/src. Answers JSON."""
    entry = WEB / "src" / f".test-{os.getpid()}-{tmp_path.name}.ts"  # other tests do the same meanwhile
    entry.write_text("declare const input: any; let answer: any;\n" + source +
                     "\nprocess.stdout.write(JSON.stringify(answer));\n")
    try:
        subprocess.run([NODE, WEB / "node_modules" / "esbuild" / "bin" / "esbuild", entry, "--bundle", "--format=esm",
                        "--platform=node", "--log-level=error", f"--outfile={tmp_path / 'module.mjs'}"], check=True)
    finally:
        entry.unlink()
    data = tmp_path / "input.json"
    data.write_text(json.dumps(value))
    run = tmp_path / "run.mjs"
    run.write_text('import { readFileSync } from "node:fs";\n'
                   f"globalThis.input = JSON.parse(readFileSync({json.dumps(str(data))}, 'utf8'));\n"
                   f"await import({json.dumps((tmp_path / 'module.mjs').as_uri())});\n")
    done = subprocess.run([NODE, run], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)
