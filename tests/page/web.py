# SPDX-License-Identifier: Apache-2.0
"""What the tests of the page share: Node, its packages, Chromium, and modules of web/src run in Node."""
import atexit
import json
import pathlib
import select
import shutil
import subprocess

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
        self.process = subprocess.Popen([NODE, HERE / "keep.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
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


_kept = []


@atexit.register
def end_keeper():
    while _kept:
        _kept.pop().end()


def ask(question, timeout):
    """The answer of the keeper; what was thrown fails here."""
    if not _kept:
        _kept.append(Keeper())
    answer = _kept[0].ask(question, timeout)
    if answer is None:
        end_keeper()
        raise AssertionError(f"{question.get('script', 'a module')} did not end in {timeout} s, or ended Node")
    assert answer["problem"] is None, answer["problem"] + "\n" + answer["said"]
    return answer


def drive(script, *args, timeout=600):
    """Run a script of this folder in Node, with Chromium; what it prints."""
    return ask({"script": script, "args": [str(arg) for arg in args]}, timeout)["said"]


def has_page():
    """Was the program built with the page?"""
    return support.output("version").rstrip().endswith(b", page")


def evaluate(source, value):
    """Run TypeScript that sets `answer` from `input`; imports are relative to web/src."""
    source = "declare const input: any; export let answer: any;\n" + source
    return ask({"source": source, "input": value}, 60)["answer"]
