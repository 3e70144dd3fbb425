# SPDX-License-Identifier: Apache-2.0
"""The command line: options, exit codes, errors, formats, files, help, completion, man pages."""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import struct
import subprocess
import termios

import pytest

import support

TRAIN = "examples/train/train.json.gz"
DDP = "examples/ddp"


def run(*args, **options):
    options.setdefault("cwd", support.ROOT)
    return support.run(*args, **options)


def said():
    """What the program says about itself: {verb: description}."""
    return {verb["name"]: verb for verb in json.loads(support.output("help", "--json"))["verbs"]}


VERBS = said()
#: Made by the build, beside the program.
MAN = pathlib.Path(support.EXE).parent / "man1"
ANALYSES = [name for name, verb in VERBS.items() if verb["kind"] == "analysis"]


def on_terminal(*args, columns=100, **env):
    """Standard output and error of a run on a terminal."""
    try:
        leader, follower = pty.openpty()
    except OSError:
        pytest.skip("skipped: no pseudo terminals here")
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    environment = support.environment(TERM="xterm", **env)
    if "NO_COLOR" not in env:
        del environment["NO_COLOR"]
    process = subprocess.Popen([support.EXE, *args], stdin=subprocess.DEVNULL, stdout=follower,
                               stderr=follower, cwd=support.ROOT, env=environment)
    os.close(follower)
    text = b""
    while select.select([leader], [], [], 60)[0]:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(leader)
    return process.wait(60), text.replace(b"\r\n", b"\n").decode()


# ---- usage -----------------------------------------------------------------------------------

@pytest.mark.parametrize("args, says", [
    ([], "holotrace VERB"),
    (["no-such-verb"], "there is no verb"),
    (["evnts", TRAIN], "Did you mean 'events'?"),
    ([TRAIN], f"Try: holotrace report {TRAIN}"),
    (["--format", "csv", "events", TRAIN], "the verb comes before"),
    (["events"], "needs a TRACE"),
    (["report"], "needs a TRACE"),
    (["convert", TRAIN], "-o FILE"),
    (["events", TRAIN, "--colums", "name"], "Did you mean --columns?"),
    (["events", TRAIN, "--zzzzzzzz"], "has no option --zzzzzzzz"),
    (["events", TRAIN, "-Z"], "has no option -Z"),
    (["events", TRAIN, "--format"], "needs a value"),
    (["events", TRAIN, "-o"], "needs a value"),
    (["events", TRAIN, "--format", "docx"], "text|csv|json"),
    (["events", TRAIN, "--color", "red"], "auto|always|never"),
    (["events", TRAIN, "--wide=yes"], "takes no value"),
    (["events", TRAIN, "--jobs", "many"], "a number of threads"),
    (["events", TRAIN, "--top", "few"], "a number of rows"),
    (["events", TRAIN, "--memory-limit", "lots"], "a size"),
    (["events", TRAIN, "--cache-max", "1Q"], "a size"),
    (["events", TRAIN, "--columns", "no_such_column"], "no_such_column"),
    (["events", TRAIN, "--sort", "no_such_column"], "no_such_column"),
    (["events", TRAIN, "--where", "name ~"], "expected a value"),
    (["events", TRAIN, "--rank", "99"], "99"),
    (["report", TRAIN, "-o", "x.csv"], "text, md or html"),
    (["help", "no-such-verb"], "no verb"),
    (["completion", "tcsh"], "bash, zsh, fish"),
])
def test_usage_errors(args, says, tmp_path):
    done = run(*args)
    assert done.returncode == 2, done
    assert says in done.stderr.decode()
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1 or not args


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("verb", [name for name, verb in VERBS.items()])
def test_help_flag_is_help_verb(verb, flag):
    assert support.output(verb, flag) == support.output("help", verb)


def test_version():
    text = support.output("version")
    assert re.fullmatch(rb"holotrace \d+\.\d+\.\d+\n"
                        rb"gzip by (ISA-L|zlib|zlib-ng) [\d.]+\S*, zstd [\d.]+, (SQLite|no databases)(, portable memory)?, "
                        rb"(libmicrohttpd [\d.]+|no server), (no )?page\n", text)
    assert support.output("--version") == text == support.output("-V")


def test_overview_lists_every_verb():
    text = support.output("help").decode()
    assert support.output("--help").decode() == text
    for name, verb in VERBS.items():
        assert verb["hidden"] or re.search(rf"^  {name} ", text, re.M), name


def test_one_list_of_exit_codes():
    """The program's: help, the README and, by way of help --json, the man pages."""
    codes = json.loads(support.output("help", "--json"))["exit_codes"]
    said = "Exit codes: " + ", ".join(f"{one['code']} {one['sentence']}" for one in codes) + "."
    assert [one["code"] for one in codes] == [0, 1, 2, 3, 4]
    assert said in " ".join(support.output("help").decode().split())
    assert said in " ".join((support.ROOT / "README.md").read_text().split())


def test_types_and_units_have_the_names_of_results():
    columns = {column["name"]: column for column in VERBS["kernels"]["views"][0]["columns"]}
    document = json.loads(support.output("kernels", TRAIN, "--format", "json", cwd=support.ROOT))
    for column in document["columns"]:
        said = columns[column["name"]]
        assert [said[key] for key in ("type", "role", "unit")] == [column[key] for key in ("type", "role", "unit")], column


def test_list():
    assert support.output("list", "--names").decode().split() == ANALYSES
    assert "info" in ANALYSES and "health" in ANALYSES and "events" in ANALYSES


@pytest.mark.parametrize("verb", list(VERBS))
def test_help_names_every_option_and_column(verb):
    text = support.output("help", verb).decode()
    for option in VERBS[verb]["options"]:
        assert f"--{option['name']}" in text
    for column in VERBS[verb].get("columns", []):
        assert column["name"] in text
    # an example is as wide as its output
    assert max(map(len, text.split("\nExample\n")[0].splitlines())) <= 120


def test_help_json_of_one_verb():
    one = json.loads(support.output("help", "--json", "events"))["verbs"]
    assert one == [VERBS["events"]]


# ---- options ---------------------------------------------------------------------------------

def events(*args):
    return support.output("events", "--format=csv", *args, cwd=support.ROOT)


def test_options_may_stand_anywhere():
    want = events(TRAIN, "--columns", "name,dur_ns", "--top", "3")
    assert want.count(b"\n") == 4
    assert events("--columns=name,dur_ns", "--top=3", TRAIN) == want
    assert events("--top", "3", TRAIN, "--columns", "name,dur_ns") == want
    assert events("-q", "-j2", "--columns=name,dur_ns", "--top=3", "--", TRAIN) == want
    assert events("-qj", "2", "--columns=name,dur_ns", "--top=7", "--top=3", TRAIN) == want


def test_sort_value_may_start_with_a_dash():
    names, rows = support.read_csv(
        events(TRAIN, "--where", "cat = kernel", "--sort", "-dur_ns", "--columns", "dur_ns"))
    values = [int(row[0]) for row in rows]
    assert values and values == sorted(values, reverse=True)


def test_top_all():
    assert events(TRAIN, "--top", "all") == events(TRAIN)


def test_every_analysis_runs_and_takes_every_format():
    for name in ANALYSES:
        traces = [["examples/et/with_kineto.et.json.gz"], [TRAIN],
                  ["examples/diff/control", "examples/diff/test"]][VERBS[name]["n_sets"]]
        if any(option["name"] == "kineto" for option in VERBS[name]["options"]):
            traces += ["--kineto", "examples/et/with_kineto.json.gz"]
        for style in support.formats():
            out = support.output(name, *traces, "--top", "3", "--format", style, cwd=support.ROOT)
            # a flame graph needs a text and a number above 0
            assert out or style == "folded", (name, style)
            if style == "json":
                json.loads(out)


def test_rank_and_directories():
    names, rows = support.read_csv(events(DDP, "--columns", "rank", "--rank", "1,3"))
    assert {row[0] for row in rows} == {"1", "3"}


def test_comparison_takes_two():
    name = next((name for name in ANALYSES if VERBS[name]["n_sets"] == 2), None)
    if name is None:
        pytest.skip("skipped: no comparison in this version")
    done = run(name, "examples/diff/control")
    assert done.returncode == 2 and b"exactly two" in done.stderr
    joined = "examples/ddp/ddp_rank0.json.gz,examples/ddp/ddp_rank1.json.gz"
    assert run(name, joined, joined).returncode == 0


# ---- exit codes and errors -------------------------------------------------------------------

def test_unreadable_inputs(tmp_path):
    (tmp_path / "empty.json").write_bytes(b"")
    (tmp_path / "text.json").write_bytes(b"hello\n")
    for name in ("empty.json", "text.json", "missing.json"):
        done = run("info", tmp_path / name)
        assert done.returncode == 3, (name, done)
        line = done.stderr.decode()
        assert line.startswith("holotrace: ") and name in line and line.count("\n") == 1


def test_a_directory_without_traces_names_what_was_looked_for(tmp_path):
    """Every ending of a reader, as the readers say it."""
    lists = [match for path in (support.ROOT / "src" / "read").rglob("*.c")
             for match in re.findall(r'\.endings = "([^"]+)"', path.read_text())]
    assert len(lists) >= 5
    done = run("info", tmp_path)
    assert done.returncode == 3
    named = re.search(rb"looked for files named (.*?), plain or compressed", done.stderr).group(1).decode().split(", ")
    assert sorted(named) == sorted("*" + ending for one in lists for ending in one.split("|"))


def test_strict_makes_loss_an_error(tmp_path):
    data = support.trace_bytes(support.ROOT / TRAIN)
    cut = tmp_path / "cut.json"
    cut.write_bytes(data[:len(data) // 2])
    done = run("info", cut)
    assert done.returncode == 0
    assert b"holotrace health " + os.fsencode(cut) in done.stderr
    assert run("info", cut, "--quiet").stderr == b""
    assert run("health", cut).stderr == b""
    done = run("info", cut, "--strict")
    assert done.returncode == 3 and b"at byte " in done.stderr


def test_memory_limit():
    done = run("info", TRAIN, "--memory-limit", "100K", "--no-cache")
    assert done.returncode in (3, 4) and done.stderr.count(b"\n") == 1


def test_reader_that_leaves():
    process = subprocess.Popen([support.EXE, "events", TRAIN, "--format", "csv"], cwd=support.ROOT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=support.environment())
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 0


def test_full_disk(tmp_path):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([support.EXE, "events", TRAIN, "--format", "csv"], stdout=full,
                              stderr=subprocess.PIPE, cwd=support.ROOT, env=support.environment())
    assert done.returncode == 4 and b"No space left" in done.stderr


# ---- output files ----------------------------------------------------------------------------

def endings():
    """(format, ending) of the list that formats are made from."""
    return re.findall(r'^RENDERER\((\w+), "(\.\w+)"', (support.ROOT / "src/table/renderers.def").read_text(), re.M)


def test_endings_are_of_every_format():
    assert [name for name, _ in endings()] == support.formats()


@pytest.mark.parametrize("name, ending", endings())
def test_ending_picks_the_format(tmp_path, name, ending):
    path = tmp_path / f"t{ending}"
    ask = ("stacks", TRAIN, "--top", "2")
    support.output(*ask, "-o", path, cwd=support.ROOT)
    same = support.output(*ask, "--format", name, cwd=support.ROOT)
    # a file of html is a whole page
    assert path.read_bytes() == same or name == "html" and path.read_bytes().startswith(b"<!DOCTYPE html>")
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("verb, name", [("kernel-breakdown", "x.parquet"), ("kernel-breakdown", "x.xlsx"),
                                        ("report", "x.pdf"), ("events", "x.unheard")])
def test_an_ending_of_no_format_is_refused(tmp_path, verb, name):
    done = run(verb, TRAIN, "-o", tmp_path / name)
    assert done.returncode == 2 and b"." + name.split(".")[1].encode() in done.stderr
    assert not (tmp_path / name).exists()
    assert run("kernel-breakdown", TRAIN, "-o", tmp_path / name, "--format", "csv").returncode == 0


def test_nothing_written_is_said_unless_quiet():
    device = ("stacks", "examples/cpu/cpu.json.gz", "--time", "device", "--format", "folded")
    done = run(*device)
    assert (done.returncode, done.stdout) == (0, b"") and b"nothing was written" in done.stderr
    assert run(*device, "-q").stderr == b""


def test_refused_instead_of_guessed(tmp_path):
    done = run("temporal-breakdown", TRAIN, "--step", "99")
    assert done.returncode == 2 and b"no such step; there are 3 to 4" in done.stderr
    assert run("temporal-breakdown", TRAIN, "--step", "4-").returncode == 0
    done = run("info", "0=" + TRAIN, "0=examples/cpu/cpu.json.gz")
    assert done.returncode == 2 and b"rank 0 is given twice" in done.stderr


def test_what_hardly_belongs_together_is_said(tmp_path):
    """On every result: links to one file, traces of another model or time."""
    for i in range(3):
        (tmp_path / f"rank{i}.json.gz").symlink_to(support.ROOT / TRAIN)
    assert b"files with several names are read once: 2 left out" in run("kernel-types", tmp_path).stdout
    mixed = run("kernel-types", TRAIN, *sorted((support.ROOT / "tests/data/resnet").glob("*.json.gz"))[:1]).stdout
    assert b"different jobs" in mixed
    for folder in ("ddp", "straggler"):
        assert b"hardly" not in run("kernel-types", f"examples/{folder}").stdout


def test_a_pipe_has_200_columns_unless_wide():
    piped = run("kernel-breakdown", TRAIN, "--top", "all").stdout.decode()
    assert 100 < max(map(len, piped.splitlines())) <= 200
    text = run("kernel-breakdown", TRAIN, "--top", "all", "--wide").stdout.decode()
    assert "…" not in text and "not shown" not in text and "CatArrayBatchedCopy<at::native::(anonymous" in text
    narrow = run("kernel-breakdown", TRAIN, "--top", "all", env={"COLUMNS": "60"}).stdout.decode()
    assert max(map(len, narrow.splitlines())) <= 60
    names = [line for line in narrow.splitlines() if re.match(r" +0  ", line)]
    assert len(set(line[:36] for line in names)) == len(names) > 8


def test_format_wins_over_ending(tmp_path):
    path = tmp_path / "t.csv"
    support.output("events", TRAIN, "--top", "2", "--format", "json", "-o", path, cwd=support.ROOT)
    json.loads(path.read_text())


def test_output_keeps_the_old_file_on_failure(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("old")
    assert run("events", TRAIN, "--columns", "nope", "-o", path).returncode == 2
    assert run("events", "missing.json", "-o", path).returncode == 3
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["t.csv"]


def test_output_follows_links_and_keeps_mode(tmp_path):
    target, link = tmp_path / "t.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    support.output("events", TRAIN, "--top", "1", "-o", link, cwd=support.ROOT)
    assert link.is_symlink() and target.read_text() != "old"
    assert target.stat().st_mode & 0o777 == 0o640


def test_output_to_missing_folder(tmp_path):
    done = run("events", TRAIN, "-o", tmp_path / "no" / "t.csv")
    assert done.returncode == 4 and b"cannot create" in done.stderr


# ---- terminal --------------------------------------------------------------------------------

def test_terminal_manners():
    code, text = on_terminal("events", TRAIN)
    assert code == 0 and "--top all" in text and text.count("\n") < 70
    code, text = on_terminal("events", TRAIN, "--format", "arrow")
    assert code == 2 and "not for a terminal" in text


def test_color():
    assert "\033[" in on_terminal("info", TRAIN)[1]
    assert "\033[" not in on_terminal("info", TRAIN, NO_COLOR="1")[1]
    assert "\033[" not in on_terminal("info", TRAIN, "--color", "never")[1]
    assert b"\033[" in support.output("info", TRAIN, "--color=always", cwd=support.ROOT)
    assert b"\033[" not in support.output("info", TRAIN, cwd=support.ROOT)


@pytest.mark.parametrize("columns", [60, 100, 160])
def test_text_fits_the_terminal(columns):
    for verb in ("info", "health", "events"):
        code, text = on_terminal(verb, DDP, "--top", "20", "--color", "never", columns=columns)
        assert code == 0
        assert max(map(len, text.splitlines())) <= columns, verb


# ---- report and convert ----------------------------------------------------------------------

def test_report_formats(tmp_path):
    text = support.output("report", DDP, cwd=support.ROOT).decode()
    assert text.startswith("Report · examples/ddp · 4 ranks")
    for name, ending in (("md", "# Holotrace report"), ("html", "<!DOCTYPE html>")):
        path = tmp_path / f"r.{name}"
        support.output("report", DDP, "-o", path, cwd=support.ROOT)
        page = path.read_text()
        assert page.startswith(ending)
        assert page.index("Health") < page.index(VERBS["info"]["title"])
    # with charts where the build has the page (tests/page), else plain tables
    html = (tmp_path / "r.html").read_text()
    assert "prefers-color-scheme" in html and "://" not in html.replace("http://www.w3.org/", "")
    if support.output("version").rstrip().endswith(b", no page"):
        assert "<script" not in html and html.count("<section") == html.count("</section>") >= 2
    else:
        assert html.count("<script") == html.count("</script>") == 2


def test_report_names_what_has_no_data():
    text = support.output("report", "examples/cpu", cwd=support.ROOT).decode()
    shown = set(re.findall(r" · holotrace ([a-z-]+)$", text, re.M))
    empty = re.search(r"^No data for: (.*)$", text, re.M)
    named = set(empty[1].split(", ")) if empty else set()
    assert not shown & named
    wanted = {name for name in ANALYSES if VERBS[name]["n_sets"] == 1 and not VERBS[name]["lists_events"]}
    assert shown | named == wanted


def test_convert_to_standard_output():
    out = support.output("convert", TRAIN, "-o", "-", cwd=support.ROOT)
    assert json.loads(out)["traceEvents"]


def test_convert_rank_needs_a_place_for_it(tmp_path):
    done = run("convert", DDP, "-o", tmp_path / "one.json")
    assert done.returncode == 2 and b"{rank}" in done.stderr
    support.output("convert", DDP, "-o", tmp_path / "r{rank}.json.gz", cwd=support.ROOT)
    assert sorted(os.listdir(tmp_path)) == [f"r{i}.json.gz" for i in range(4)]


# ---- cache place -----------------------------------------------------------------------------

def test_cache_place(tmp_path):
    run("info", TRAIN, env={"XDG_CACHE_HOME": str(tmp_path / "xdg")})
    assert os.listdir(tmp_path / "xdg" / "holotrace")
    run("info", TRAIN, env={"XDG_CACHE_HOME": "", "HOME": str(tmp_path / "home")})
    assert os.listdir(tmp_path / "home" / ".cache" / "holotrace")
    run("info", TRAIN, "--cache-dir", tmp_path / "own", env={"XDG_CACHE_HOME": str(tmp_path / "x")})
    assert os.listdir(tmp_path / "own") and not (tmp_path / "x").exists()
    run("info", TRAIN, "--no-cache", env={"XDG_CACHE_HOME": str(tmp_path / "y")})
    assert not (tmp_path / "y").exists()


# ---- completion and man pages ----------------------------------------------------------------

def bash_completions(line):
    words = line.split(" ")
    script = support.output("completion", "bash").decode() + (
        f"\nCOMP_WORDS=({' '.join(repr(word) for word in words)})\nCOMP_CWORD={len(words) - 1}\n"
        "compopt() { :; }\n_holotrace\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          cwd=support.ROOT)
    assert done.stderr == b"", done.stderr
    return done.stdout.decode().split()


def test_bash_completion():
    visible = [name for name, verb in VERBS.items() if not verb["hidden"]]
    assert set(bash_completions("holotrace ")) >= set(visible)
    assert bash_completions("holotrace eve") == ["events"]
    assert bash_completions("holotrace events --form") == ["--format"]
    assert "csv" in bash_completions("holotrace events --format ")
    assert bash_completions("holotrace help eve") == ["events"]
    assert "examples" in bash_completions("holotrace events exam")
    for name in visible:
        offered = set(bash_completions(f"holotrace {name} --"))
        assert offered == {f"--{option['name']}" for option in VERBS[name]["options"]}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_completions(shell):
    script = support.output("completion", shell).decode()
    for name, verb in VERBS.items():
        for option in verb["options"]:
            assert f"-{'l ' if shell == 'fish' else '-'}{option['name']}" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script.encode(), check=True)


def test_man_pages_agree():
    for name, verb in VERBS.items():
        if verb["hidden"]:
            continue
        page = (MAN / f"holotrace-{name}.1").read_text().replace("\\-", "-")
        for option in verb["options"]:
            assert re.search(rf"--{option['name']}\b", page), (name, option["name"])
        for column in verb.get("columns", []):
            assert column["name"] in page
    hidden = sum(verb["hidden"] for verb in VERBS.values())
    # besides those of the verbs there are holotrace(1) and holotrace-mpi(1), and none is left of a verb that is gone
    assert len(list(MAN.iterdir())) == len(VERBS) - hidden + 2
    for page in MAN.iterdir():
        assert page.read_text().startswith(f".TH {page.stem.upper()} 1 ".replace("-", "\\-")), page


@pytest.mark.parametrize("verb", ANALYSES)
def test_help_ends_with_an_example_that_is_true(verb):
    """The example of the page is in the help, and the program answers it so today."""
    text = support.output("help", verb).decode()
    command = re.search(r"^Example\n\$ holotrace (.*)$", text, re.M)
    assert command, "no example"
    said = run(*shlex.split(command[1]), env={"COLUMNS": "100"})
    assert said.returncode in (0, 1)
    first = said.stdout.decode().splitlines()[0]
    assert first.rstrip() in text


def test_columns_are_completed():
    script = support.output("completion", "bash").decode() + """
        compopt() { :; }
        COMP_WORDS=(holotrace events --columns name,st); COMP_CWORD=3; _holotrace; echo "${COMPREPLY[*]}" """
    assert subprocess.run(["bash", "-c", script], capture_output=True).stdout.split() == [b"name,stream", b"name,step"]
    assert b"_values -s , column" in support.output("completion", "zsh")
    assert b"(__fish_append , rank" in support.output("completion", "fish")
