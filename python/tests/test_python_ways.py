# SPDX-License-Identifier: Apache-2.0
"""The package speaks Python: names of arguments in messages, hints, docstrings, report(), no pandas."""
import inspect
import os
import subprocess
import sys

import pytest

import holotrace
from holotrace._show import distinct_colors
from holotrace._speech import in_python, with_names


@pytest.fixture(scope="module")
def run(examples):
    with holotrace.open(examples / "ddp") as session:
        yield session


@pytest.mark.parametrize("text, expected", [
    ("--by rnk: expected one of rank|all", 'by="rnk": expected one of rank|all'),
    ("--rank 9: no such rank; there are 0, 1", "rank=9: no such rank; there are 0, 1"),
    ("--step 3-x: no such step", 'step="3-x": no such step'),
    ("its folders may hold some: add --recursive", "its folders may hold some: add recursive=True"),
    ("leave out --hta-compat", "leave out hta_compat=True"),
    ("; try --source cpu", '; try source="cpu"'),
    ("counts when --step names it", "counts when step= names it"),
    ("3 of 9 points are kept; --points 0 shows all", "3 of 9 points are kept; points=0 shows all"),
    ("`holotrace health` lists what is missing", "Session.health() lists what is missing"),
    ("holotrace list shows all", "help(holotrace.Session) shows all"),
    ("nothing to translate -- here | there", "nothing to translate -- here | there"),
    (None, None),
])
def test_messages_in_python(text, expected):
    assert in_python(text) == expected


def test_names_in_documentation():
    assert with_names("more than num-kernels names; =false: all", ["num-kernels"]) == (
        "more than num_kernels names; False: all")
    for name, method in inspect.getmembers(holotrace.Session, inspect.isfunction):
        if name.startswith("_"):
            continue
        assert method.__doc__, name
        assert "--" not in method.__doc__, name
        parameters = list(inspect.signature(method).parameters)
        assert "unknown" not in parameters
        if "columns" in parameters:
            assert f".{name}(" in method.__doc__, f"{name} has no example"
            told = [one for one in parameters if f"    {one}:" in method.__doc__]
            assert told == [one for one in parameters if one not in ("self", "arguments")], name


@pytest.mark.parametrize("call, error, text", [
    (lambda run: run.kernel_breakdown(by="rnk"), holotrace.UsageError, 'by="rnk"'),
    (lambda run: run.kernel_breakdown(byy="rank"), TypeError, "'byy'; did you mean by?"),
    (lambda run: run.kernel_breakdown(zzz="rank"), TypeError, "unexpected keyword argument 'zzz'$"),
    (lambda run: run.kernel_breakdown(top="x"), TypeError, "top must be a whole number"),
    (lambda run: run.kernel_breakdown(columns="nmae"), holotrace.UsageError, "Did you mean name?"),
    (lambda run: run.run("kernel-brekdown"), holotrace.UsageError, "Did you mean kernel-breakdown?"),
    (lambda run: run.run("kernel_breakdown", byy=1), holotrace.UsageError, "no argument byy. Did you mean by?"),
    (lambda run: run.kernel_types()["kernel_typ"], KeyError, "did you mean kernel_type?"),
    (lambda run: run.convert("x.json", ranks=99), holotrace.MissingError, r"Session.info\(\) lists"),
])
def test_wrong_arguments(run, tmp_path, monkeypatch, call, error, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=text.replace("?", r"\?") if text.endswith("?") else text):
        call(run)


def test_notes_speak_python(examples):
    with holotrace.open(examples / "cpu") as session:
        notes = session.annotation_breakdown(source="gpu").notes
    assert notes and not any("--" in note for note in notes)


def test_report(run, tmp_path):
    report = run.report(tmp_path / "report.html", top=3)
    assert next(iter(report)) == "health" and len(report["kernel_breakdown"]) == 3
    assert "cupti-counters" in report.empty and not report.problems
    page = (tmp_path / "report.html").read_text()
    assert page.count("<section") == len(report) and "https://" not in page
    assert 'id="temporal-breakdown"' in page and "cupti-counters" in page
    assert "4 ranks" in repr(report) and "Kernel breakdown" in repr(report)
    report.save(tmp_path / "report.md")
    assert "## Kernel breakdown" in (tmp_path / "report.md").read_text()
    with pytest.raises(holotrace.UsageError, match="not report.pdf"):
        report.save(tmp_path / "report.pdf")
    assert not (tmp_path / "report.pdf").exists()


def test_one_clear_error_without_pandas(tmp_path):
    missing = "raise ModuleNotFoundError(\"No module named 'pandas'\", name='pandas')"
    (tmp_path / "pandas.py").write_text(missing)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}"}
    for module in ("trace_analysis", "trace_diff", "memory_analysis", "common.trace", "analyzers.timeline",
                   "utils.utils"):
        done = subprocess.run([sys.executable, "-c", f"import holotrace.{module}"], env=environment,
                              capture_output=True, text=True)
        last = done.stderr.strip().splitlines()[-1]
        assert last.startswith("ImportError: HTA's classes") and 'pip install "holotrace[pandas]"' in last
        assert "During handling" not in done.stderr and "direct cause" not in done.stderr
    done = subprocess.run([sys.executable, "-c", "import holotrace; holotrace.open"], env=environment)
    assert done.returncode == 0


def test_columns_show_six_digits(run):
    column = run.kernel_breakdown()["share"]
    assert all(len(part) < 12 for part in repr(column).split(": ")[1].rstrip(">").split(", "))


def test_colours_do_not_repeat():
    names = [f"void kernel_{i}<float>(int)" for i in range(300)] + ["COMPUTATION",
                                                                    "COMPUTATION overlapping MEMORY"]
    colors = distinct_colors(names + names)
    assert list(colors) == names and len(set(colors.values())) == len(names)
