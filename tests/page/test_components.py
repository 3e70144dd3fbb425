# SPDX-License-Identifier: Apache-2.0
"""The components in Chromium, on the made-up data of the gallery; pictures go to build/screenshots."""
import pathlib
import subprocess

import pytest

import support
from web import CHROMIUM, NODE, WEB, needs_browser

HERE = pathlib.Path(__file__).resolve().parent
SCREENSHOTS = pathlib.Path(support.EXE).parent / "screenshots"


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    out = tmp_path_factory.mktemp("gallery")
    subprocess.run([NODE, WEB / "build.mjs", out, "--dev"], check=True)
    return (out / "gallery.html").as_uri()


def drive(script, *args):
    done = subprocess.run([NODE, HERE / script, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=support.environment(CHROMIUM=CHROMIUM), timeout=180)
    assert done.returncode == 0, done.stdout
    return done.stdout


@needs_browser
@pytest.mark.alone
def test_table_of_many_rows(gallery):
    print(drive("table.mjs", gallery))


@needs_browser
def test_every_component_is_drawn(gallery):
    SCREENSHOTS.mkdir(exist_ok=True)
    assert drive("shoot.mjs", gallery, SCREENSHOTS / "gallery", "1280", "light,dark") == ""
