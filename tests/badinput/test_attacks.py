# SPDX-License-Identifier: Apache-2.0
"""What others put in the way: links where files are to be written, cells without an end, names that are code."""
import html.parser
import json
import os
import re

import pytest
import support

EXAMPLE = support.ROOT / "examples" / "ddp"
NAMES = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</svg><svg onload=alert(1)>", "</title><base href=//evil>",
         "[a](javascript:alert(1))", "![a](http://evil/x.png)", "a | b\n| c", "`code` ``", "<!-- -->", "]]><b>", "&lt;b&gt;", "{{7*7}}",
         "-->\u2028<b>", "<style>*{x:expression(alert(1))}</style>", "<a href='java\tscript:alert(1)'>x</a>", "__proto__", "$(id)"]


# ---- links ----

def test_export_does_not_follow_links_inside(tmp_path):
    (tmp_path / "outside").mkdir()
    for link in ("events", "events/rank=0"):
        out = tmp_path / link.replace("/", "-")
        (out / link).parent.mkdir(parents=True)
        (out / link).symlink_to(tmp_path / "outside")
        done = support.run("export", EXAMPLE, "-o", out, "--no-cache", "--tables", "events")
        assert done.returncode == 4 and b"cannot make the folder" in done.stderr
        assert list((tmp_path / "outside").iterdir()) == []
    (tmp_path / "mine").symlink_to(tmp_path / "outside")
    support.output("export", EXAMPLE, "-o", tmp_path / "mine", "--no-cache", "--tables", "steps")
    assert (tmp_path / "outside" / "manifest.json").exists(), "the folder itself is the user's to choose"


@pytest.mark.parametrize("name", ["events/rank=0/part-0.arrow", "manifest.json"])
def test_export_replaces_a_link_and_not_what_it_leads_to(tmp_path, name):
    (tmp_path / "victim").write_text("keep")
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).symlink_to(tmp_path / "victim")
    support.run("export", EXAMPLE, "-o", out, "--no-cache", "--tables", "events")
    assert (tmp_path / "victim").read_text() == "keep"


def test_cache_files_that_are_links(tmp_path):
    """A link with the name of a cache file is neither read nor written through."""
    cache, victim = tmp_path / "cache", tmp_path / "victim"
    first = support.output("info", EXAMPLE, "--cache-dir", cache)
    names = [file.name for file in cache.iterdir()]
    assert names
    content = {name: (cache / name).read_bytes() for name in names}
    for name in names:
        (cache / name).unlink()
        (tmp_path / name).write_bytes(b"keep" + content[name][4:])
        (cache / name).symlink_to(tmp_path / name)
    victim.write_text("keep")
    assert support.output("info", EXAMPLE, "--cache-dir", cache) == first
    for name in names:
        assert (tmp_path / name).read_bytes()[:4] == b"keep"
        assert not (cache / name).is_symlink() and (cache / name).read_bytes()[:16] == content[name][:16]


def test_cache_of_other_users_files(tmp_path):
    """Good cache files under the names of other traces are told by what they are of."""
    cache = tmp_path / "cache"
    honest = support.output("events", EXAMPLE, "--cache-dir", cache, "--columns", "rank,name", "--format", "csv")
    files = sorted(cache.iterdir())
    parts = [file.read_bytes() for file in files]
    for file, other in zip(files, parts[1:] + parts[:1]):
        file.write_bytes(other)
    assert support.output("events", EXAMPLE, "--cache-dir", cache, "--columns", "rank,name", "--format", "csv") == honest


# ---- cells without an end ----

@pytest.mark.parametrize("name, head", [("op_statistic.csv", "OP Type,Core Type,Count"), ("kernel_details.csv", "Name,Type,Start Time(us)"),
                                        ("operator_memory.csv", "Name,Size(KB),Allocation Time(us)")])
@pytest.mark.parametrize("quote", ['"', ""])
def test_a_cell_without_an_end(tmp_path, name, head, quote):
    rank = tmp_path / "w_17_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    rank.mkdir(parents=True)
    (rank / "trace_view.json").write_text('[{"ph":"X","name":"a","ts":"1","dur":5,"pid":1,"tid":1,"args":{}}]')
    with open(rank / name, "wb") as file:
        file.write(f"{head}\n{quote}".encode())
        for _ in range(1000 if support.LONG else 150):
            file.write(b"a" * 1_000_000)
        file.write(f"{quote},x,1\nb,y,2\n".encode())
    done = support.run("health", tmp_path, "--no-cache", "--memory-limit", "400M", "--format", "csv", memory_bytes=None if support.is_sanitized() else 3 << 30)
    assert done.returncode == 0 and b"file_lost" in done.stdout, done.stderr


# ---- names that are code ----

class Page(html.parser.HTMLParser):
    """The elements of a page that can do something, and the attributes that are code."""

    def __init__(self, text):
        super().__init__()
        self.bad, self.n_scripts = [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.n_scripts += tag == "script"
        if tag in ("img", "iframe", "object", "embed", "base", "form", "link") or tag == "a" and "evil" in str(attrs):
            self.bad.append((tag, attrs))
        for key, value in attrs:
            if key.startswith("on") or re.match(r"\s*javascript:", re.sub(r"[\t\n\r]", "", value or ""), re.I):
                self.bad.append((tag, key, value))


def hostile_trace(path, names):
    events = []
    for i, name in enumerate(names):
        at = 100 * i
        events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": at, "dur": 95},
                   {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": at + 1, "dur": 90},
                   {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at + 2, "dur": 50},
                   {"ph": "X", "cat": "python_function", "name": name, "pid": 1, "tid": 1, "ts": at + 3, "dur": 40},
                   {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 5, "dur": 5, "args": {"correlation": i + 1}},
                   {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 20, "dur": 60,
                    "args": {"stream": 7, "device": 0, "correlation": i + 1, name: name}}]
    path.write_text(json.dumps({"traceEvents": events, "deviceProperties": [{"id": 0, "name": names[0]}]}))
    return path


@pytest.fixture(name="hostile", scope="module")
def trace_of_names(tmp_path_factory):
    return hostile_trace(tmp_path_factory.mktemp("hostile") / "<img src=x onerror=alert(1)>.json", NAMES)


VERBS = ["kernel-breakdown", "operators", "stacks", "modules", "events", "summary", "advice", "steps", "annotation-breakdown", "call-tree", "health", "info"]


@pytest.mark.parametrize("verb", VERBS)
def test_html_of_names(hostile, verb):
    page = Page(support.output(verb, hostile, "--format", "html", "--no-cache").decode())
    assert page.bad == [] and page.n_scripts == 0


def test_report_of_names(hostile, tmp_path):
    plain = hostile_trace(tmp_path / "plain.json", [f"name {i}" for i in range(len(NAMES))])
    pages = []
    for trace in (hostile, plain):
        support.output("report", trace, "-o", tmp_path / "r.html", "--no-cache")
        pages.append(Page((tmp_path / "r.html").read_text()))
    assert pages[0].bad == [] and pages[0].n_scripts == pages[1].n_scripts


@pytest.mark.parametrize("verb", VERBS)
def test_markdown_of_names(hostile, verb):
    """Whatever begins an element, a link, a picture or code is escaped; a table stays a table."""
    text = support.output(verb, hostile, "--format", "md", "--no-cache").decode()
    bare = re.sub(r"\\[\\`*_{}\[\]()#+.!|<>&~-]", "", text)
    assert not re.search(r"<[a-zA-Z/!]", bare), re.search(r"<[a-zA-Z/!].{0,60}", bare)
    assert not re.search(r"\]\((javascript|http://evil)", bare)
    widths = {re.sub(r"\\\|", "", line).count("|") for line in text.splitlines() if line.startswith("|")}
    assert len(widths) <= 1, widths


def test_repeated_output_over_a_link(tmp_path):
    """A link that the user names as the result is what is meant, and stays."""
    (tmp_path / "real.csv").write_text("old")
    os.symlink(tmp_path / "real.csv", tmp_path / "out.csv")
    support.output("steps", EXAMPLE, "--no-cache", "-o", tmp_path / "out.csv")
    assert (tmp_path / "real.csv").read_text().startswith("rank") and (tmp_path / "out.csv").is_symlink()


@pytest.mark.parametrize("words", [["-o", ""], ["--output="], ["--attach", ""], ["--rank="], ["--step", ""], ["--where", ""], ["--sort="], ["--hta-compat="]])
def test_an_empty_value_is_a_variable_that_was_not_set(words):
    done = support.run("temporal-breakdown", EXAMPLE, "--no-cache", *words)
    name = "--output" if words[0] == "-o" else words[0].rstrip("=")
    assert done.returncode == 2 and f"{name} is empty. Give it a value, or leave it out".encode() in done.stderr and not done.stdout
