# SPDX-License-Identifier: Apache-2.0
"""The example notebooks: each runs from a clean kernel without an error and shows what is checked in.

HOLOTRACE_ACCEPT=1 writes the new outputs into the notebooks instead of comparing; review the difference.
The kernel is always Debian's Python, since other versions of pandas and plotly show things differently.
"""
import json
import os
import pathlib
import re
import subprocess

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs python3-nbformat")
nbclient = pytest.importorskip("nbclient", reason="needs python3-nbclient")
from jupyter_client.kernelspec import KernelSpecManager  # noqa: E402
from jupyter_client.manager import AsyncKernelManager  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
PYTHON = "/usr/bin/python3"
PLOTLY = "application/vnd.plotly.v1+json"
MAX_BYTES = 300_000
pytestmark = pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer is loaded")


@pytest.fixture(scope="module")
def kernel_manager(tmp_path_factory):
    """Makes managers of a kernel that knows nothing of the user's settings."""
    found = subprocess.run([PYTHON, "-c", "import ipykernel, pandas, plotly"], stderr=subprocess.PIPE, text=True)
    if found.returncode != 0:
        pytest.skip(f"{PYTHON} lacks a package: {found.stderr.strip().splitlines()[-1]}")
    home = tmp_path_factory.mktemp("jupyter")
    spec = home / "kernels" / "debian"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text(json.dumps({
        "argv": [PYTHON, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3", "language": "python",
        # plotly's default puts its whole script into every notebook
        "env": {"PLOTLY_RENDERER": "plotly_mimetype", "IPYTHONDIR": str(home / "ipython"),
                "PYTHONPATH": os.environ["PYTHONPATH"], "PYTHONNOUSERSITE": "1"}}))
    os.environ["JUPYTER_RUNTIME_DIR"] = str(home / "runtime")

    def make():
        specs = KernelSpecManager(kernel_dirs=[str(home / "kernels")], ensure_native_kernel=False)
        return AsyncKernelManager(kernel_name="debian", kernel_spec_manager=specs)
    return make


def run(path, manager):
    """The notebook with its outputs of now; a cell that raises raises here."""
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, km=manager(), timeout=120, record_timing=False,
                                     resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def is_empty(output):
    """Whether this is the bar of a slow load, which is blank when the load is done."""
    return output.output_type == "display_data" and output.data.get("text/html") == ""


def text_of(value):
    """Without what differs between runs: addresses, and where the repository lies."""
    value = "".join(value) if isinstance(value, list) else value
    return re.sub(r"0x[0-9a-f]+", "0x", value.replace(str(ROOT), ""))


def rounded(value):
    """Figures hold every digit; the last ones are the processor's."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, (list, tuple)) else value


def shown(notebook):
    """[(source, outputs)] of the code cells, as far as they must not change."""
    cells = []
    for cell in notebook.cells:
        outputs = []
        for output in cell.get("outputs", []):
            if is_empty(output):
                continue
            if output.output_type == "stream":
                outputs.append((output.name, text_of(output.text)))
                continue
            for kind, value in sorted(output.data.items()):
                outputs.append((kind, rounded(value["data"]) if kind == PLOTLY else text_of(value)))
        if cell.cell_type == "code":
            cells.append((cell.source, outputs))
    return cells


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_shows_what_is_checked_in(path, kernel_manager):
    executed = run(path, kernel_manager)
    if os.environ.get("HOLOTRACE_ACCEPT"):
        for cell in executed.cells:
            if cell.cell_type == "code":
                cell.outputs = [output for output in cell.outputs if not is_empty(output)]
                cell.metadata = {}
        nbformat.write(executed, path)
    for now, before in zip(shown(executed), shown(nbformat.read(path, as_version=4))):
        assert now == before, "the outputs changed; HOLOTRACE_ACCEPT=1 accepts them"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_small_and_quiet(path):
    assert path.stat().st_size < MAX_BYTES
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for _, outputs in shown(notebook):
        assert not [kind for kind, _ in outputs if kind == "stderr"]
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1)), "run every cell once, in order"


def test_every_topic_has_its_notebook():
    assert {"critical_path", "memory", "stragglers", "trace_analysis", "trace_diff"} <= {
        path.stem for path in NOTEBOOKS}
