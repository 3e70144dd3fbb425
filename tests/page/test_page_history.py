# SPDX-License-Identifier: Apache-2.0
"""The history of runs on the page, in Chromium, against the command line's numbers: alone, and beside traces."""
import json
import random
import shutil

import pytest

import served
import support
from web import needs_browser

pytestmark = [pytest.mark.long, needs_browser, served.needs_serve]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """40 runs; kernels take 12 ms longer from the 25th on. A label and a path that would be markup."""
    folder, rng = tmp_path_factory.mktemp("store"), random.Random(4)
    lines = ["label,step,step/kernel,step/<b>other</b>"]
    for i in range(40):
        kernel, other = (50 if i < 25 else 62) + rng.gauss(0, 0.3), 40 + rng.gauss(0, 0.3)
        lines.append(f"{'<i>c25</i>' if i == 25 else f'c{i}'},{kernel + other},{kernel},{other}")
    (folder / "import.csv").write_text("\n".join(lines) + "\n")
    assert support.run("history", folder / "runs.db", "--import", folder / "import.csv").returncode == 1
    return folder / "runs.db"


def asked(store, *args):
    done = support.run("history", store, *args, "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside traces"])
def test_history(store, tmp_path, beside):
    folder, wanted = tmp_path / "logs", tmp_path / "wanted.json"
    folder.mkdir()
    shutil.copy(store, folder)
    if beside:
        shutil.copytree(support.ROOT / "examples" / "train", folder / "train")
    wanted.write_text(json.dumps({
        "alone": not beside, "changes": asked(store), "latest": asked(store, "--view", "latest"),
        "series": asked(store, "--view", "series", "--where", 'path == "step"'), "mark": "regression: <i>c25</i>"}))
    served.SCREENSHOTS.mkdir(exist_ok=True)
    with served.serving(folder) as url:
        support.wait_until(lambda: served.runs_of(url)["histories"], 30)
        if beside:
            served.wait_ready(url)
        served.drive("history.mjs", url, wanted, *served.PICTURES)
