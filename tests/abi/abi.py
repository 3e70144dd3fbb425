#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs that were linked against the library rely on, as a list of lines.

    tests/abi/abi.py accept BUILD_DIR    write the lists of this version, tests/abi/MAJOR.MINOR.abi
                                         and, of the recorder, tests/abi/record-MAJOR.MINOR.abi

A list holds the library's soname, every exported symbol with its declaration, every public struct with
the place of each field, and every enumerator. A released version's list is frozen: a change needs the next
minor version, and what older programs rely on needs a new soversion to change. A version is open while its
heading in NEWS.md says "(unreleased)".
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADER = ROOT / "include" / "holotrace.h"
RECORDER = ROOT / "include" / "holotrace-record.h"
#: public headers that stand beside one
BESIDE = {HEADER: [ROOT / "include" / "holotrace" / "mcp.h"]}
#: header, library, what the names of its lists begin with
LIBRARIES = [(HEADER, "libholotrace.so", ""), (RECORDER, "libholotrace-record.so", "record-")]
#: Structs that programs see through pointers only, one at a time, which the library made: they may grow at their end.
HANDED_OUT = {"ht_analysis_info", "ht_column", "ht_error", "ht_format", "ht_note", "ht_note_value", "ht_over_time", "ht_param",
              "ht_recording", "ht_schema", "ht_timeline_info"}


class Bad(Exception):
    """The list cannot be made, or may not be written; the text says why."""


def text_of(header):
    """A header with those of its own folder that it includes, each once, and those that stand beside it."""
    seen = set()

    def one(path):
        def inside(match):
            other = (path.parent / match[1]).resolve()
            if not other.exists() or other in seen:
                return "" if other in seen else match[0]
            seen.add(other)
            return one(other)
        return re.sub(r'^#include "([^"]+)"$', inside, path.read_text(), flags=re.M)
    return "\n".join(one(path) for path in [pathlib.Path(header), *BESIDE.get(pathlib.Path(header), [])])


def plain(text):
    """C text without comments and preprocessor lines."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^[ \t]*#.*$", "", text, flags=re.M)


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def functions(header):
    """{name: declaration} of everything marked HT_API or HT_RECORD_API."""
    found = {}
    for match in re.finditer(r"\bHT_(?:RECORD_)?API\b([^;]*);", plain(header)):
        declaration = squeeze(match[1].replace("HT_MUST_USE", ""))
        declaration = declaration.replace("( ", "(")
        name = re.search(r"(\w+)\(", declaration)
        if not name:
            raise Bad(f"cannot read the declaration: {declaration}")
        found[name[1]] = declaration
    return found


def declarators(member):
    """(name, type) of each field that one member declaration makes."""
    pointer = re.match(r"(.*)\(\*(\w+)\)\((.*)\)$", member)
    if pointer:
        return [(pointer[2], squeeze(f"{pointer[1]}(*)({pointer[3]})"))]
    first, *rest = member.split(",")
    base = re.match(r"((?:const |struct |enum |unsigned )*\w+)\s*(.*)$", first.strip())
    fields = []
    for declarator in [base[2], *rest]:
        parts = re.match(r"\s*([*\s]*(?:const\s+)?[*\s]*)([\w.]+)((?:\[\w+\])*)\s*$", declarator)
        if not parts:
            raise Bad(f"cannot read the member: {member}")
        fields.append((parts[2], squeeze(f"{base[1]} {parts[1]}{parts[3]}")))
    return fields


def flat(body):
    """The members of a struct, those of unnamed unions and structs among them as it sees them: text.bytes."""
    def members(match):
        fields = [field for member in match[1].split(";") if member.strip() for field in declarators(squeeze(member))]
        return "".join(f"{type_} {match[2]}.{field};" for field, type_ in fields)
    return re.sub(r"(?:\w+ )?union \{([^{}]*)\};", r"\1", re.sub(r"struct \{([^{}]*)\} (\w+);", members, body))


def structs(header):
    """{name: [(field, type)]} of every struct that has a body."""
    found = {}
    for match in re.finditer(r"\bstruct (\w+) \{(.*?)\n\};", plain(header), flags=re.S):
        members = [squeeze(member) for member in flat(match[2]).split(";")]
        found[match[1]] = [field for member in members if member for field in declarators(member)]
    return found


def enumerators(header):
    names = []
    for match in re.finditer(r"\benum \w+ \{(.*?)\};", plain(header), flags=re.S):
        names += [item.split("=")[0].strip() for item in match[1].split(",") if item.strip()]
    return names


def layout(header):
    """The lines about structs and enumerators, as the compiler sees them."""
    beside = [f'#include "{path}"' for path in BESIDE.get(pathlib.Path(header), [])]
    lines = ["#include <stdio.h>", f'#include "{header}"', *beside, "int main(void)", "{"]
    text = text_of(header)
    for name, fields in structs(text).items():
        whole = f"struct {name}"
        lines.append(f'printf("{whole}: %zu bytes\\n", sizeof({whole}));')
        for field, type_ in fields:
            lines.append(f'printf("{whole}.{field}: at %zu, %zu bytes, {type_}\\n", '
                         f"offsetof({whole}, {field}), sizeof((({whole} *)0)->{field}));")
    for name in enumerators(text):
        lines.append(f'printf("enum {name} = %d\\n", (int){name});')
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "layout.c", pathlib.Path(folder) / "layout"
        source.write_text("\n".join(lines + ["return 0;", "}", ""]))
        subprocess.run([*os.environ.get("CC", "cc").split(), "-o", program, source], check=True)
        return subprocess.run([program], check=True, stdout=subprocess.PIPE,
                              text=True).stdout.splitlines()


def exported(library):
    """The symbols that a shared library defines for others, and its soname."""
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    dynamic = subprocess.run(["readelf", "-d", library], check=True, stdout=subprocess.PIPE,
                             text=True).stdout
    return ({line.split()[2] for line in symbols.splitlines()},
            re.search(r"soname: \[(.*)\]", dynamic)[1])


def describe(header, library):
    """The whole list, sorted."""
    declared = functions(text_of(header))
    symbols, soname = exported(library)
    for name in sorted(symbols - declared.keys()):
        raise Bad(f"{name} is exported, but the header does not declare it")
    for name in sorted(declared.keys() - symbols):
        raise Bad(f"{name} is declared, but the library does not export it")
    lines = [f"soname {soname}", *(f"function {text}" for text in declared.values()), *layout(header)]
    return sorted(lines)


def keyed(lines):
    """{what: line}, where the same thing has the same key in every version."""
    found = {}
    for line in lines:
        kind, rest = line.split(" ", 1)
        name = re.search(r"(\w+)\(", rest)[1] if kind == "function" else re.split(r"[: ]", rest)[0]
        found[kind, name] = line
    return found


def breaks(old, new):
    """What a program linked against old would trip over when it runs with new."""
    old, new = keyed(old), keyed(new)
    problems = []
    for key, line in old.items():
        now = new.get(key)
        grows = key[0] == "struct" and (("struct", f"{key[1]}.struct_size") in old or key[1] in HANDED_OUT)
        if now is None:
            problems.append(f"gone: {line}")
        elif grows and int(now.split()[2]) >= int(line.split()[2]):
            continue
        elif now != line:
            problems.append(f"was: {line}\n     now: {now}")
    for key, line in new.items():
        kind, name = key
        owner = ("struct", name.split(".")[0])
        if key in old or kind != "struct" or "." not in name or owner not in old:
            continue
        if int(re.search(r"at (\d+)", line)[1]) < int(old[owner].split()[2]):
            problems.append(f"new, but inside what older programs pass: {line}")
    return problems


def version(header):
    parts = [re.search(rf"HT_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    return tuple(map(int, parts))


def list_path(number, prefix=""):
    return ROOT / "tests" / "abi" / f"{prefix}{number[0]}.{number[1]}.abi"


def lists(prefix=""):
    """Those of all versions, the oldest first."""
    found = {path: re.fullmatch(re.escape(prefix) + r"(\d+)\.(\d+)", path.stem) for path in (ROOT / "tests" / "abi").glob("*.abi")}
    return sorted((path for path, name in found.items() if name), key=lambda path: [*map(int, found[path].groups())])


def is_open(number, news):
    """Whether NEWS.md says that a minor version has not been released."""
    first = f"{number[0]}.{number[1]}.0"
    heading = re.search(rf"^## {re.escape(first)}\b(.*)$", news, flags=re.M)
    return heading is not None and "(unreleased)" in heading[1]


def accept(header, library, path, is_open_):
    """Write one list, unless it is that of a released version."""
    try:
        text = "".join(line + "\n" for line in describe(header, library))
    except Bad as bad:
        sys.exit(f"tests/abi: {bad}")
    if path.exists() and path.read_text() == text:
        return
    if path.exists() and not is_open_:
        sys.exit(f"tests/abi: the version of {path.name} is released and its list is frozen; raise HT_VERSION_MINOR first")
    path.write_text(text)


def main():
    if len(sys.argv) != 3 or sys.argv[1] != "accept":
        sys.exit(__doc__)
    number = version(text_of(HEADER))
    for header, name, prefix in LIBRARIES:
        library = pathlib.Path(sys.argv[2]) / name
        if library.exists():  # the recorder is not built everywhere
            accept(header, library, list_path(number, prefix), is_open(number, (ROOT / "NEWS.md").read_text()))


if __name__ == "__main__":
    main()
