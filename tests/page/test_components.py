# SPDX-License-Identifier: Apache-2.0
"""The components in Chromium, on the made-up data of the gallery; pictures go to build/screenshots."""
import pathlib
import subprocess

import pytest

import support
from web import NODE, WEB, drive, needs_browser

SCREENSHOTS = pathlib.Path(support.EXE).parent / "screenshots"


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    out = tmp_path_factory.mktemp("gallery")
    subprocess.run([NODE, WEB / "build.mjs", out, "--dev"], check=True)
    return (out / "gallery.html").as_uri()


@needs_browser
def test_table_of_many_rows(gallery):
    print(drive("table.mjs", gallery))


@needs_browser
def test_every_component_is_drawn(gallery):
    SCREENSHOTS.mkdir(exist_ok=True)
    assert drive("shoot.mjs", gallery, SCREENSHOTS / "gallery", "1280", "light,dark") == ""


@needs_browser
def test_scripts_fail_by_what_they_throw(tmp_path):
    """Each for itself: what the next one says is its own."""
    with pytest.raises(AssertionError, match="ERR_FILE_NOT_FOUND"):
        drive("shoot.mjs", "file:///nowhere.html", tmp_path / "picture")
    with pytest.raises(AssertionError, match="Cannot find module"):
        drive("no_such_script.mjs")
    with pytest.raises(AssertionError, match="did not end in 0 s"):
        drive("shoot.mjs", "about:blank", tmp_path / "picture", timeout=0)
    with pytest.raises(AssertionError, match="ERR_FILE_NOT_FOUND"):
        drive("shoot.mjs", "file:///nowhere.html", tmp_path / "picture")
