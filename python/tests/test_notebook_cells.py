# SPDX-License-Identifier: Apache-2.0
"""What cells of a notebook show: executed by a kernel without a window, then drawn by a browser. Sentences are whole, tables fit, the page is
in its cell, and names of a trace are names, never markup."""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import holotrace
import support

sys.path.insert(0, str(pathlib.Path(support.__file__).resolve().parent / "analysis"))
from ascend import small_run  # noqa: E402

nbformat = pytest.importorskip("nbformat", reason="needs python3-nbformat")
nbclient = pytest.importorskip("nbclient", reason="needs python3-nbclient")
from test_notebooks import kernel_manager  # noqa: E402, F401

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
NODE = shutil.which("node")
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer is loaded")

PAYLOADS = ["<script>window.hit=1</script>", '"><img src=x onerror="window.hit=1">', "<svg onload=window.hit=1>", "</td></table><iframe src=javascript:window.hit=1>",
            "[click](javascript:window.hit=1)", "![x](x){onerror=window.hit=1}", "<a href='javascript:window.hit=1'>b</a>", "`</code><b>x", "a|b\n# c"]
TAGS = {"div", "b", "table", "thead", "tbody", "tr", "th", "td", "span", "dl", "dt", "dd", "code", "p", "section", "a", "iframe", "br"}


def hostile(folder):
    """Operators, kernels, annotations, threads and a file that are called like markup."""
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": PAYLOADS[0]}},
              {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": PAYLOADS[1]}}]
    base = {"ph": "X", "pid": 1, "tid": 1}
    for step in range(3):
        at = 1000 + 2000 * step
        events.append(dict(base, cat="user_annotation", name=f"ProfilerStep#{step}", ts=at - 2, dur=1900))
        for i, name in enumerate(PAYLOADS):
            link = {"correlation": 100 * step + i + 1, "External id": 100 * step + i + 1}
            events += [dict(base, cat="user_annotation", name=name, ts=at, dur=90),
                       dict(base, cat="cpu_op", name=name, ts=at + 5, dur=80, args=link),
                       dict(base, cat="cuda_runtime", name="cudaLaunchKernel", ts=at + 10, dur=10, args=link),
                       dict(base, cat="kernel", name=name, pid=0, tid=7, ts=at + 30, dur=40 + i, args=dict(link, stream=7, device=0))]
            at += 100
    path = folder / "<b onclick=window.hit=1>.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": PAYLOADS[2]}], "traceEvents": events}))
    return path


class Tags(html.parser.HTMLParser):
    """Which elements a text makes, and what of their attributes could act."""

    def __init__(self):
        super().__init__()
        self.found, self.acts = set(), []

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.acts += [f"{tag} {name}={value}" for name, value in attrs
                      if name.startswith("on") or re.match(r"\s*(javascript|data):", value or "", re.IGNORECASE)]


def elements(text):
    parser = Tags()
    parser.feed(text)
    parser.close()
    return parser


def test_names_are_no_markup(tmp_path):
    """Tables, sentences, the session and the report: no element but those of tables, and nothing that acts."""
    with holotrace.open(hostile(tmp_path)) as session:
        shown = {"session": session._repr_html_(), "report": session.report()._repr_html_(), "page": session.report().to_html()}
        for name in ("kernels", "operators", "summary", "advice", "kernel-annotations", "info", "events"):
            table = session.run(name)
            shown[name] = table._repr_html_()
            shown[f"{name} html"] = table.render("html")
        for what, text in shown.items():
            found = elements(text)
            assert found.acts == [], what
            assert found.found <= TAGS | {"html", "head", "meta", "title", "style", "body", "h1", "nav", "caption", "tfoot"}, (what, found.found)
            assert "alert" not in text and "<script" not in text and "<img" not in text and "<svg" not in text, what


def test_names_are_no_markdown(tmp_path):
    """As a table of Markdown, which may hold HTML: no tag, no link, no line of its own."""
    with holotrace.open(hostile(tmp_path)) as session:
        text = session.kernels(columns="name,calls").render("md")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(PAYLOADS)
    for line in rows:
        assert not re.search(r"(?<!\\)<[a-zA-Z/]", line), line
        assert not re.search(r"(?<!\\)\]\(", line), line


def test_names_are_no_tags_of_plotly(tmp_path):
    """plotly reads tags in texts: every name of a figure is escaped, ours are not."""
    pytest.importorskip("plotly")
    with holotrace.open(hostile(tmp_path)) as session:
        for figure in (session.kernels().plot(), session.operators().plot(), session.kernel_annotations().plot(), session.temporal_breakdown().plot()):
            text = figure.to_json()
            for tag in ("script", "img", "svg", "iframe", "a href"):
                assert f"<{tag}" not in text and f"\\u003c{tag}" not in text


def test_a_run_of_npus_speaks_of_npus(tmp_path):
    """Headings, sentences and notes of every analysis, as text and in cells."""
    with holotrace.open(small_run(tmp_path)) as session:
        report = session.report(top=20)
        assert len(report) > 10
        for shown in (repr(report), report._repr_html_(), session._repr_html_()):
            assert not re.search(r"\b(GPUs?|CUDA|NCCL|[Tt]ensor.[Cc]ores?)\b|PYTORCH_CUDA|torch\.cuda", shown)
        assert "NPU" in repr(report["summary"])


CELLS = ["import holotrace", "run = holotrace.open({path!r}, progress=False); run", "run.summary()", "run.kernels()", "run.operators()",
         "run.info()", "run.critical_path()", "page = run.serve(port=0); page"]


@pytest.mark.skipif(not NODE or not CHROMIUM or not (ROOT / "web/node_modules/playwright-core").is_dir(), reason="no Chromium, Node or playwright-core")
@pytest.mark.parametrize("name", ["straggler", "hostile"])
def test_cells_in_a_browser(name, tmp_path, kernel_manager):  # noqa: F811
    path = hostile(tmp_path) if name == "hostile" else EXAMPLES / name
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.format(path=str(path))) for cell in CELLS])
    client = nbclient.NotebookClient(notebook, km=kernel_manager(), timeout=120, record_timing=False, resources={"metadata": {"path": str(tmp_path)}})
    with client.setup_kernel():
        for i, cell in enumerate(notebook.cells):
            client.execute_cell(cell, i)
        outputs = [output.data["text/html"] for cell in notebook.cells for output in cell.outputs if "text/html" in output.get("data", {})]
        assert len(outputs) == len(CELLS) - 1
        (tmp_path / "cells.json").write_text(json.dumps(outputs))
        # the kernel lives while the page of the last cell is looked at
        done = subprocess.run([NODE, ROOT / "tests/page/notebook.mjs", tmp_path / "cells.json"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=dict(os.environ, CHROMIUM=CHROMIUM), timeout=240)
    assert done.returncode == 0, done.stdout
