# SPDX-License-Identifier: Apache-2.0
"""The page as a tab of TensorBoard, in Chromium.

Runs in an environment that has TensorBoard, for example a venv with pytest and tensorboard; elsewhere it skips and
says so. TensorBoard finds the plugin as it would after an installation: by its entry point.
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import urllib.request

import pytest

import served
import support
from web import needs_browser

pytest.importorskip("tensorboard.plugins.base_plugin", reason="TensorBoard is not installed: its tab is untested")
pytestmark = [needs_browser, served.needs_serve]
RUNS = [support.ROOT / "examples"] + sorted({path.parents[2] for path in support.extra_files("step_trace_time.csv")})[:1]


def installed(folder):
    """What an installation writes down of the package, and the package as it is built."""
    about = folder / "holotrace-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: holotrace\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text(
        "[tensorboard_plugins]\nholotrace = holotrace.tensorboard_plugin:HolotracePlugin\n")
    return f"{folder}{os.pathsep}{pathlib.Path(support.EXE).parent / 'python'}"


@contextlib.contextmanager
def tensorboard(logdir, folder):
    port = served.free_port()
    environment = {**os.environ, "PYTHONPATH": installed(folder), "XDG_CACHE_HOME": str(folder)}
    run = subprocess.Popen([sys.executable, "-m", "tensorboard.main", "--logdir", logdir, "--host", "127.0.0.1",
                            "--port", str(port)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/"

    def answers():
        """TensorBoard answers"""
        assert run.poll() is None
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return True
        except OSError:
            return False

    try:
        support.wait_until(answers)
        yield url
    finally:
        run.send_signal(signal.SIGTERM)
        run.wait(30)


@pytest.mark.parametrize("logdir", RUNS, ids=support.short)
def test_the_tab_shows_the_page(logdir, tmp_path):
    served.SCREENSHOTS.mkdir(exist_ok=True)
    picture = served.SCREENSHOTS / f"tensorboard-{logdir.name}.png"
    with tensorboard(logdir, tmp_path) as url:
        served.drive("tensorboard.mjs", url, picture)
