# SPDX-License-Identifier: Apache-2.0
"""What the tests of the page share: Node, its packages, Chromium, and modules of web/src run in Node."""
import atexit
import json
import pathlib
import select
import shutil
import subprocess
import tempfile

import pytest

import support

HERE = pathlib.Path(__file__).resolve().parent
WEB = support.ROOT / "web"
NODE = shutil.which("node")
#: The shell is the same engine without windows, extensions and their processes: half the processor time.
CHROMIUM = next(filter(None, map(shutil.which, ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"])), None)

needs_node = pytest.mark.skipif(not NODE or not (WEB / "node_modules" / "esbuild").is_dir(),
                                reason="skipped: no Node, or no packages of npm")
needs_browser = pytest.mark.skipif(not NODE or not CHROMIUM or not (WEB / "node_modules" / "playwright-core").is_dir(),
                                   reason="skipped: no Chromium, Node or playwright-core")


class Keeper:
    """One Node and one Chromium for all scripts of a process of tests (keep.mjs), started anew when one hangs."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="holotrace-chromium-", ignore_cleanup_errors=True)
        self.process = subprocess.Popen([NODE, HERE / "keep.mjs", self.folder.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=support.environment(CHROMIUM=CHROMIUM))

    def ask(self, question, timeout):
        """The answer; None where there is none in time, or nobody who gives it."""
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        ready, _, _ = select.select([self.process.stdout], [], [], timeout)
        line = self.process.stdout.readline() if ready else b""
        return json.loads(line) if line else None

    def end(self):
        try:
            self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.folder.cleanup()


_kept = []


@atexit.register
def end_keeper():
    while _kept:
        _kept.pop().end()


def drive(script, *args, timeout=600):
    """Run a script of this folder in Node, with Chromium; what it prints. It fails by what it throws."""
    if not _kept:
        _kept.append(Keeper())
    answer = _kept[0].ask({"script": script, "args": [str(arg) for arg in args]}, timeout)
    if answer is None:
        end_keeper()
        raise AssertionError(f"{script} did not end in {timeout} s, or ended Node")
    assert answer["problem"] is None, answer["problem"] + "\n" + answer["said"]
    return answer["said"]


def has_page():
    """Was the program built with the page?"""
    return support.output("version").rstrip().endswith(b", page")


def evaluate(tmp_path, source, value):
    """Run TypeScript that sets `answer` from `input`; imports are relative to web/src. Answers JSON."""
    # through a pipe: a file beside the sources would be one of them to tests that look at all
    text = "declare const input: any; let answer: any;\n" + source + "\nprocess.stdout.write(JSON.stringify(answer));\n"
    subprocess.run([NODE, WEB / "node_modules" / "esbuild" / "bin" / "esbuild", "--loader=ts", "--loader:.def=text", "--bundle", "--format=esm",
                    "--platform=node", "--log-level=error", f"--outfile={tmp_path / 'module.mjs'}"], check=True, cwd=WEB / "src", input=text, text=True)
    data = tmp_path / "input.json"
    data.write_text(json.dumps(value))
    run = tmp_path / "run.mjs"
    run.write_text('import { readFileSync } from "node:fs";\n'
                   f"globalThis.input = JSON.parse(readFileSync({json.dumps(str(data))}, 'utf8'));\n"
                   f"await import({json.dumps((tmp_path / 'module.mjs').as_uri())});\n")
    done = subprocess.run([NODE, run], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)
