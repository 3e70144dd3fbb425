# SPDX-License-Identifier: Apache-2.0
"""A server over traces for the tests of the page, and what the command line says to the same questions."""
import contextlib
import json
import pathlib
import random
import re
import signal
import socket
import subprocess
import urllib.request

import pytest

import support
from web import drive, has_page  # noqa: F401, drive is used as served.drive

SCREENSHOTS = pathlib.Path(support.EXE).parent / "screenshots"
#: The folder for pictures, as an argument of scripts that draw them where there is one: `make nightly` does.
PICTURES = [SCREENSHOTS] if support.LONG else []


def free_port():
    """A port that is free now, and that nobody is given who asks for any: those lie above 32767."""
    while True:
        port = random.randint(20000, 32000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def can_serve():
    return has_page() and support.run("help", "serve").returncode == 0


needs_serve = pytest.mark.skipif(not can_serve(), reason="skipped: built without the page or the server")


def get(url, path):
    with urllib.request.urlopen(f"{url}api/v1/{path}", timeout=30) as answer:
        return json.load(answer)


def runs_of(url):
    return get(url, "runs")


def wait_ready(url, n_runs=1, seconds=60):
    """Until so many runs are there and none is being read."""
    def ready():
        """every run is read"""
        found = runs_of(url)
        done = len(found["runs"]) >= n_runs and all(run["state"] in ("ready", "failed") for run in found["runs"])
        return found if done else None

    return support.wait_until(ready, seconds, every=0.03)


@contextlib.contextmanager
def serving(logdir, *options):
    """holotrace serve over a directory, on a free port; answers the page's URL."""
    process = subprocess.Popen([support.EXE, "serve", str(logdir), "--port", "0", *options], env=support.environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               preexec_fn=support.default_signals)
    try:
        for line in process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                break
        else:
            raise AssertionError("holotrace serve printed no URL")
        yield found[0].rstrip("/.") + "/"
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def table(verb, *args):
    """A verb's table by the command line."""
    return json.loads(support.output(verb, *args, "--format", "json"))
