# SPDX-License-Identifier: Apache-2.0
"""The library's interface as programs were linked against it: see abi.py."""
import difflib
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import abi

BUILD = pathlib.Path(os.environ.get("HOLOTRACE") or abi.ROOT / "build" / "holotrace").parent
LIBRARY = BUILD / "libholotrace.so"
pytestmark = pytest.mark.skipif(
    not LIBRARY.exists() or not shutil.which("nm") or not shutil.which("readelf"),
    reason="needs the shared library and binutils")
#: as programs include them
HEADERS = sorted(path.relative_to(abi.ROOT / "include").as_posix() for path in (abi.ROOT / "include").rglob("*.h") if path.name != "own.h")
TRAIN = abi.ROOT / "examples" / "train" / "train.json.gz"
CC = os.environ.get("CC", "cc").split()
OLD = ["soname libx.so.0", "function int x_run(const struct x_options *o)", "struct x_options: 24 bytes",
       "struct x_options.struct_size: at 0, 8 bytes, size_t", "struct x_options.a: at 8, 8 bytes, int64_t",
       "struct x_options.b: at 16, 1 bytes, bool", "struct x_info: 8 bytes",
       "struct x_info.name: at 0, 8 bytes, const char *", "enum X_OK = 0"]


@pytest.fixture(scope="module")
def now():
    return abi.describe(abi.HEADER, LIBRARY)


@pytest.fixture(scope="module", params=abi.LIBRARIES, ids=lambda library: library[1])
def built(request):
    """(lines, what the names of its lists begin with) of each library."""
    header, name, prefix = request.param
    if not (BUILD / name).exists():
        pytest.skip(f"{name} is not built")
    return abi.describe(header, BUILD / name), prefix


def test_is_the_accepted_one(built):
    lines, prefix = built
    path = abi.list_path(abi.version(abi.text_of(abi.HEADER)), prefix)
    assert path.exists(), f"a new version: make accept writes {path.name}"
    accepted = path.read_text().splitlines()
    changes = [line for line in difflib.unified_diff(accepted, lines, lineterm="", n=0)
               if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert not changes, ("the interface changed; raise the version if this one is released, then "
                         "make accept:\n" + "\n".join(changes))


def test_older_programs_still_run(built):
    """Against every earlier version of the same soname."""
    lines, prefix = built
    for path in abi.lists(prefix):
        old = path.read_text().splitlines()
        soname, = [line for line in old if line.startswith("soname ")]
        if soname in lines:
            assert not abi.breaks(old, lines), path.name


def test_option_structs_start_with_their_size():
    """What callers fill in must be able to grow."""
    header = abi.text_of(abi.HEADER)
    options = [name for name in abi.structs(header) if name.endswith("_options") or name == "ht_view"]
    assert "ht_open_options" in options and "ht_convert_options" in options
    for name in options:
        assert abi.structs(header)[name][0] == ("struct_size", "size_t"), name


def grows(found, name):
    return name in abi.HANDED_OUT or found[name][0][0] == "struct_size"


@pytest.mark.parametrize("header", [abi.HEADER, abi.RECORDER], ids=lambda header: header.name)
def test_structs_that_grow_lie_in_no_other(header):
    """A field of one could not grow without moving what follows it: pointers."""
    found = abi.structs(abi.text_of(header))
    for name, fields in found.items():
        for field, type_ in fields:
            inner = re.fullmatch(r"(?:const )?struct (\w+)(?:\[\w+\])*", type_)
            assert not inner or not grows(found, inner[1]), f"{name}.{field}"


@pytest.mark.parametrize("header, name", [(header, name) for header in (abi.HEADER, abi.RECORDER)
                                          for name in sorted(set(re.findall(r"const struct (ht_\w+) \*options", abi.text_of(header)))
                                                             | ({"ht_record_call", "ht_record_result"} if header == abi.RECORDER else set()))])
def test_structs_that_are_taken_start_with_their_size(header, name):
    assert abi.structs(abi.text_of(header))[name][0] == ("struct_size", "size_t")


@pytest.mark.parametrize("header", ["holotrace.h", "holotrace-record.h"])
def test_structs_that_are_filled_in_start_with_their_size(header):
    """No call writes caller's memory without knowing how much there is."""
    text = abi.text_of(abi.ROOT / "include" / header)
    filled = set(re.findall(r"struct (ht_\w+) \*ret_\w+", text))  # Arrow's are laid out by Arrow
    assert filled
    for name in filled:
        assert re.search(rf"struct {name} \{{\s*size_t struct_size;", text), name


def test_all_headers_have_one_status():
    assert [name for name in HEADERS if "enum ht_status {" in (abi.ROOT / "include" / name).read_text()] == ["holotrace/status.h"]


def compiles(compiler, flags, lines, source):
    source.write_text("\n".join([*lines, "int main(void) { return 0; }", ""]))
    subprocess.run([*compiler, *flags, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{abi.ROOT / 'include'}", source], check=True)


#: each alone, and the two that have a status in either order
INCLUDES = [*([f"#include <{name}>"] for name in HEADERS), ["#include <holotrace.h>", "#include <holotrace-record.h>"],
            ["#include <holotrace-record.h>", "#include <holotrace.h>"]]


@pytest.mark.skipif(not shutil.which(CC[0]), reason="needs a compiler")
@pytest.mark.parametrize("standard", ["c99", "c11", "c2x"])
@pytest.mark.parametrize("lines", INCLUDES, ids=" ".join)
def test_headers_are_plain_c(lines, standard, tmp_path):
    compiles(CC, [f"-std={standard}", "-pedantic-errors"], lines, tmp_path / "x.c")


@pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
@pytest.mark.parametrize("standard", ["c++11", "c++17"])
@pytest.mark.parametrize("lines", INCLUDES, ids=" ".join)
def test_headers_are_plain_cxx(lines, standard, tmp_path):
    compiles(["g++"], [f"-std={standard}", "-pedantic-errors"], lines, tmp_path / "x.cpp")


def run_against(source, include, tmp_path):
    """What a program prints that was compiled against these headers and runs with the library as it is."""
    program = tmp_path / source.stem
    sanitizers = ["-fsanitize=address,undefined"] if b"__asan_init" in LIBRARY.read_bytes() else []
    subprocess.run([*CC, "-std=c11", "-Wall", "-Wextra", "-Werror", *sanitizers, f"-I{include}", source, "-o", program,
                    f"-L{BUILD}", "-lholotrace", f"-Wl,-rpath,{BUILD}"], check=True)
    ran = subprocess.run([program, TRAIN], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_old_names_are_still_there(tmp_path):
    source = abi.ROOT / "tests" / "abi" / "old_names.c"
    old = re.split(r"^/\* -{4} old names", abi.HEADER.read_text(), flags=re.M)[1]
    names = re.findall(r"^#define (ht_\w+)", old, re.M) + re.findall(r"^static inline [^;{]*?(ht_\w+)\(", old, re.M)
    assert len(names) == 7
    assert [name for name in names if not re.search(rf"\b{name}\b[^\"]", abi.plain(source.read_text()))] == []
    run_against(source, abi.ROOT / "include", tmp_path)


def test_older_callers_walk_lists_that_grew(tmp_path):
    """Against headers in which the elements lack the field that came last."""
    source = abi.ROOT / "tests" / "abi" / "walk_lists.c"
    older = tmp_path / "include"
    shutil.copytree(abi.ROOT / "include", older)
    core = older / "holotrace" / "core.h"
    for struct in ("ht_param", "ht_column", "ht_schema", "ht_note_value", "ht_note"):
        assert struct in abi.HANDED_OUT
        text, n = re.subn(rf"(^struct {struct} \{{$.*?)^\t[^\n]*\n\}};$", r"\1};", core.read_text(), count=1, flags=re.M | re.S)
        assert n == 1
        core.write_text(text)
    shown = run_against(source, abi.ROOT / "include", tmp_path)
    assert len(shown.splitlines()) > 500 and run_against(source, older, tmp_path) == shown


def first_published(struct):
    """The last field that a struct had in the first version that has it."""
    for path in [path for _, _, prefix in abi.LIBRARIES for path in abi.lists(prefix)]:
        fields = re.findall(rf"^struct {struct}\.(\w+): at (\d+),", path.read_text(), flags=re.M)
        if fields:
            return max(fields, key=lambda field: int(field[1]))[0]
    return None


def test_size_zero_means_the_first_published_struct():
    """Otherwise callers that leave struct_size 0 would lose options, or the library read past their struct."""
    uses = [(path, struct, last) for path in sorted((abi.ROOT / "src").rglob("*.c")) if "_test" not in path.name
            for struct, last in re.findall(r"HT_OPTIONS_(?:TAKE\(\s*\w+,|OF\()\s*(\w+),\s*(\w+),", path.read_text())]
    declared = {**abi.structs(abi.text_of(abi.HEADER)), **abi.structs(abi.text_of(abi.RECORDER))}
    assert {struct for _, struct, _ in uses} == {name for name in declared if name.endswith("_options") or name in (
        "ht_view", "ht_query", "ht_mcp_host", "ht_record_call", "ht_record_result")}
    for path, struct, last in uses:
        assert last == first_published(struct), f"{path.name}: struct {struct}"


@pytest.mark.parametrize("before, after", [
    ("	uint64_t top; ", "	uint64_t top, skip; "),
    ("	HT_NOMEM, ", "	HT_EXTRA, HT_NOMEM, "),
    ("ht_set_n_ranks(const ht_set *set)", "ht_set_n_ranks(const ht_set *set, int all)"),
    ("	const char *unit; ", "	char unit[8]; "),
])
def test_changes_are_seen(now, tmp_path, before, after):
    text = abi.text_of(abi.HEADER)
    assert before in text
    header = tmp_path / "holotrace.h"
    header.write_text(text.replace(before, after, 1))
    assert abi.describe(header, LIBRARY) != now


def test_exports_and_declarations_must_agree(tmp_path):
    text, header = abi.text_of(abi.HEADER), tmp_path / "holotrace.h"
    header.write_text(text.replace("HT_API void ht_close(", "void ht_close(", 1))
    with pytest.raises(abi.Bad, match="ht_close is exported"):
        abi.describe(header, LIBRARY)
    declared = "HT_API void ht_close("
    header.write_text(text.replace(declared, "HT_API void ht_gone(void);\n" + declared, 1))
    with pytest.raises(abi.Bad, match="ht_gone is declared"):
        abi.describe(header, LIBRARY)


def test_what_is_handed_out_may_grow():
    old = ["struct ht_param: 40 bytes", "struct ht_param.choices: at 32, 8 bytes, const char *"]
    new = ["struct ht_param: 48 bytes", old[1], "struct ht_param.more: at 40, 8 bytes, const char *"]
    assert abi.breaks(old, new) == []
    assert len(abi.breaks(old, [new[0], new[1].replace("at 32", "at 40")])) == 1


def test_growing_at_the_end_breaks_nothing():
    new = [line.replace("x_options: 24", "x_options: 32") for line in OLD]
    new += ["struct x_options.c: at 24, 8 bytes, int64_t", "function void x_more(void)", "enum X_BAD = 1"]
    assert abi.breaks(OLD, OLD) == []
    assert abi.breaks(OLD, new) == []


@pytest.mark.parametrize("change", [
    lambda lines: lines[:1] + lines[2:],                                       # a function is gone
    lambda lines: [line.replace("at 8, 8", "at 12, 8") for line in lines],     # a field moved
    lambda lines: [line.replace("x_info: 8", "x_info: 16") for line in lines], # no struct_size to tell
    lambda lines: [line.replace("x_options: 24", "x_options: 16") for line in lines],
    lambda lines: [line.replace("X_OK = 0", "X_OK = 1") for line in lines],
    lambda lines: [line.replace("int x_run", "long x_run") for line in lines],
    lambda lines: lines + ["struct x_options.c: at 17, 1 bytes, bool"],        # in the old padding
])
def test_what_breaks_is_found(change):
    assert len(abi.breaks(OLD, change(list(OLD)))) == 1


def test_released_versions_are_frozen():
    news = "# News\n\n## 0.2.0 (unreleased)\n\n## 0.1.1\n\n## 0.1.0 (2026-01-01)\n"
    assert abi.is_open((0, 2, 0), news) and not abi.is_open((0, 1, 1), news)
    assert not abi.is_open((0, 3, 0), news)
