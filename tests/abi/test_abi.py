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
OLD = ["soname libx.so.0", "function int x_run(const struct x_options *o)", "struct x_options: 24 bytes",
       "struct x_options.struct_size: at 0, 8 bytes, size_t", "struct x_options.a: at 8, 8 bytes, int64_t",
       "struct x_options.b: at 16, 1 bytes, bool", "struct x_info: 8 bytes",
       "struct x_info.name: at 0, 8 bytes, const char *", "enum X_OK = 0"]


@pytest.fixture(scope="module")
def now():
    return abi.describe(abi.HEADER, LIBRARY)


def test_is_the_accepted_one(now):
    path = abi.list_path(abi.version(abi.text_of(abi.HEADER)))
    assert path.exists(), f"a new version: make accept writes {path.name}"
    accepted = path.read_text().splitlines()
    changes = [line for line in difflib.unified_diff(accepted, now, lineterm="", n=0)
               if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert not changes, ("the interface changed; raise the version if this one is released, then "
                         "make accept:\n" + "\n".join(changes))


def test_older_programs_still_run(now):
    """Against every earlier version of the same soname."""
    for path in sorted((abi.ROOT / "tests" / "abi").glob("*.abi")):
        old = path.read_text().splitlines()
        soname, = [line for line in old if line.startswith("soname ")]
        if soname in now:
            assert not abi.breaks(old, now), path.name


def test_option_structs_start_with_their_size():
    """What callers fill in must be able to grow."""
    header = abi.text_of(abi.HEADER)
    options = [name for name in abi.structs(header) if name.endswith("_options") or name == "ht_view"]
    assert "ht_open_options" in options and "ht_convert_options" in options
    for name in options:
        assert abi.structs(header)[name][0] == ("struct_size", "size_t"), name


@pytest.mark.parametrize("header", ["holotrace.h", "holotrace-record.h"])
def test_structs_that_are_filled_in_start_with_their_size(header):
    """No call writes caller's memory without knowing how much there is."""
    text = abi.text_of(abi.ROOT / "include" / header)
    filled = set(re.findall(r"struct (ht_\w+) \*ret_\w+", text))  # Arrow's are laid out by Arrow
    assert filled
    for name in filled:
        assert re.search(rf"struct {name} \{{\s*size_t struct_size;", text), name


def test_both_headers_have_one_status():
    """Each may stand alone, or both be included, in any order: what they say twice is the same."""
    texts = [re.search(r"^#ifndef HT_STATUS_DEFINED.*?^#endif$", path.read_text(), re.M | re.S)[0]
             for path in (abi.ROOT / "include" / "holotrace" / "core.h", abi.ROOT / "include" / "holotrace-record.h")]
    assert texts[0] == texts[1] and "enum ht_status {" in texts[0]


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a compiler")
@pytest.mark.parametrize("header", ["holotrace.h", "holotrace-record.h"])
@pytest.mark.parametrize("standard", ["c99", "c11", "c2x"])
def test_headers_are_plain_c(header, standard, tmp_path):
    source = tmp_path / "x.c"
    source.write_text(f"#include <{header}>\nint main(void) {{ return 0; }}\n")
    subprocess.run(["cc", f"-std={standard}", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                    f"-I{abi.ROOT / 'include'}", source], check=True)


def first_published(struct):
    """The last field that a struct had in the first version that has it."""
    for path in sorted((abi.ROOT / "tests" / "abi").glob("*.abi"), key=lambda path: [*map(int, path.stem.split("."))]):
        fields = re.findall(rf"^struct {struct}\.(\w+): at (\d+),", path.read_text(), flags=re.M)
        if fields:
            return max(fields, key=lambda field: int(field[1]))[0]
    return None


def test_size_zero_means_the_first_published_struct():
    """Otherwise callers that leave struct_size 0 would lose options, or the library read past their struct."""
    uses = [(path, struct, last) for path in sorted((abi.ROOT / "src").rglob("*.c")) if "_test" not in path.name
            for struct, last in re.findall(r"HT_OPTIONS_TAKE\(\s*\w+,\s*(\w+),\s*(\w+),", path.read_text())]
    assert {struct for _, struct, _ in uses} == {
        name for name in abi.structs(abi.text_of(abi.HEADER)) if name.endswith("_options") or name in ("ht_view", "ht_query", "ht_mcp_host")}
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
