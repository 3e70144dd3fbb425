# SPDX-License-Identifier: Apache-2.0
"""The field's words in every output (tools/words.def), and one table of sentences behind every face."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import urllib.parse

import pytest

import support

sys.path.insert(0, str(support.ROOT / "tests" / "page"))
import served  # noqa: E402
import web  # noqa: E402

EXAMPLES = support.ROOT / "examples"
BUILD = pathlib.Path(os.environ.get("HOLOTRACE", support.ROOT / "build" / "holotrace")).resolve().parent
VERBS = [verb for verb in support.output("list", "--names").decode().split()
         if verb not in ("diff", "gate", "tables") and not verb.startswith("et-")]


def check(text):
    return subprocess.run([support.ROOT / "tools" / "check_words", "-"], input=text, capture_output=True).stdout.decode()


def test_sources_and_documents():
    done = subprocess.run([support.ROOT / "tools" / "check_words"], capture_output=True)
    assert done.returncode == 0, done.stdout.decode()


def test_the_check_finds_something():
    wrong = b"communication that\nnothing hides 80 %"
    assert "exposed" in check(wrong) and not check(b"exposed communication 80 %")
    with pytest.raises(AssertionError, match="second"):
        check_each({"first": b"communication that", "second": wrong, "third": b"nothing hides"})


def check_each(texts):
    """Texts by verb: all of them at once, as the check takes longer to start than to read, and one by one to name who said it."""
    assert not check(b"\n=====\n".join(texts.values())), [(verb, check(text)) for verb, text in texts.items() if check(text)]


@pytest.mark.parametrize("run", ["straggler", "train", "cpu", "graph"])
def test_outputs(run):
    done = {verb: support.run(verb, EXAMPLES / run, "--top", "3", "--quiet") for verb in VERBS}
    said = {verb: one.stdout for verb, one in done.items() if one.returncode == 0}
    assert len(said) > 30
    check_each(said)


def test_help():
    check_each({verb: support.output("help", verb) for verb in VERBS})


def test_comparisons():
    """Headings and sentences of both sides, whatever their columns are called."""
    sides = EXAMPLES / "diff" / "control", EXAMPLES / "diff" / "test"
    for verb, *options in (["diff"], ["diff", "--view", "summary"], ["diff", "--view", "kernels"], ["gate"]):
        text = support.output(verb, *options, *sides, "--quiet").decode()
        assert not check(text.encode()), verb
        heading = text.split("\n\n")[1].splitlines()[0]
        assert "this_run" in heading and not re.search(r"\b(control|test)(_|\b)", heading), verb
    assert not check(support.output("help", "diff")) and not check(support.output("help", "gate"))


def compile_words(folder):
    """The object that holds the sentences, with one template changed."""
    source = support.ROOT / "src/model/finding"
    (folder / "model/finding").mkdir(parents=True)
    text = (source / "templates.def").read_text()
    changed = text.replace('"kernels run {share} of {of}",', '"KERNELS {share} OF {of}",')
    assert changed != text
    (folder / "model/finding/templates.def").write_text(changed)
    subprocess.run(["cc", "-c", "-fPIC", "-I", folder, "-I", support.ROOT / "src", "-I", support.ROOT / "include", "-D_GNU_SOURCE",
                    source / "templates.c", "-o", folder / "templates.o"], check=True)


def relink(folder, target, output):
    """A target of the build with those sentences: their object is linked before the library's."""
    commands = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", target], capture_output=True, check=True)
    link = shlex.split(commands.stdout.decode().strip().splitlines()[-1])
    at = link.index("-o")
    link[at + 1:at + 2] = [str(output), str(folder / "templates.o")]
    subprocess.run(link, cwd=BUILD, check=True, capture_output=True)
    return output


@pytest.fixture(scope="module")
def other_words(tmp_path_factory):
    """A folder with objects of other words."""
    if not (BUILD / "build.ninja").exists():
        pytest.skip("no build folder")
    folder = tmp_path_factory.mktemp("words")
    compile_words(folder)
    return folder


@pytest.fixture(scope="module")
def program(other_words):
    return relink(other_words, "holotrace", other_words / "holotrace")


SAID = re.compile(r"KERNELS \d+ % OF step time")


def test_a_template_changes_every_format(program, tmp_path):
    run = EXAMPLES / "train"

    def ask(*args):
        return subprocess.run([program, *args], capture_output=True, check=True).stdout.decode()
    for form in ("text", "csv", "md", "html", "json"):
        assert SAID.search(ask("summary", run, "--format", form)), form
    cells = json.loads(ask("summary", run, "--format", "json"))
    names = [column["name"] for column in cells["columns"]]
    row = next(dict(zip(names, row)) for row in cells["rows"] if dict(zip(names, row))["kind"] == "gpu")
    plain = {r["kind"]: r for r in (dict(zip(names, row)) for row in json.loads(
        support.output("summary", run, "--format", "json"))["rows"])}["gpu"]
    assert {key for key in names if row[key] != plain[key]} == {"finding"}
    ask("report", run, "--format", "html", "-o", tmp_path / "report.html")
    assert SAID.search((tmp_path / "report.html").read_text())
    assert SAID.search(ask("sql", run, "select finding from summary where kind = 'gpu'"))


def test_a_template_changes_python(other_words):
    if not (BUILD / "python/holotrace/_core.abi3.so").exists():
        pytest.skip("built without Python")
    package = other_words / "python"
    shutil.copytree(BUILD / "python/holotrace", package / "holotrace", ignore=shutil.ignore_patterns("_core*.so*"))
    relink(other_words, "python/holotrace/_core.abi3.so", package / "holotrace/_core.abi3.so")
    code = ("import holotrace, sys; table = holotrace.open(sys.argv[1]).summary(); print(table); print('|');"
            "print(table._repr_html_()); print('|'); print(list(table['finding']))")
    shown = subprocess.run([sys.executable, "-c", code, EXAMPLES / "train"], capture_output=True, check=True,
                           env=support.environment(PYTHONPATH=str(package))).stdout.decode()
    assert [bool(SAID.search(part)) for part in shown.split("|\n")] == [True] * 3


@served.needs_serve
def test_a_template_changes_server_and_page(program, monkeypatch):
    monkeypatch.setattr(support, "EXE", str(program))
    with served.serving(EXAMPLES / "train") as url:
        run = served.wait_ready(url)["runs"][0]["id"]
        assert SAID.search(json.dumps(served.get(url, f"runs/{urllib.parse.quote(run, safe='')}/table/summary")))
        if not web.CHROMIUM or not web.NODE:
            pytest.skip("no Chromium or Node")
        assert SAID.search(served.drive("words.mjs", url))


#: What shows findings: none of them may look for words in a sentence.
FACES = ("web/src/app/findings.ts", "web/src/app/links.ts", "web/src/views/Overview.tsx", "web/src/views/Stragglers.tsx",
         "web/src/report/Overview.tsx", "cli/cmd_run.c", "python/holotrace/_show.py", "python/holotrace/common/execution_trace.py")


def test_no_face_takes_a_sentence_apart():
    taken = re.compile(r'(finding|sentence|detail|heading|\bnote)\S*\)?\.(replace|match|search|split|test|exec|startsWith|startswith)\('
                       r'|"warning: "(?! if)|strncmp\(ht_table_note')
    for path in FACES:
        found = taken.search((support.ROOT / path).read_text())
        assert not found, (path, found[0])
