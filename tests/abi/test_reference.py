# SPDX-License-Identifier: Apache-2.0
"""The reference of the C interface has every declaration, and a compiled example calls every function."""
import os
import pathlib
import re
import subprocess

import pytest

import abi

BUILD = pathlib.Path(os.environ.get("HOLOTRACE") or abi.ROOT / "build" / "holotrace").parent
EXAMPLES = abi.ROOT / "examples"
FUNCTIONS = sorted({*abi.functions(abi.text_of(abi.HEADER)), *abi.functions(abi.text_of(abi.RECORDER))})
#: words of the comments of C are no calls
CODE = {path: re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S) for path in EXAMPLES.glob("c/*.[ch]")}
TRAIN = EXAMPLES / "train" / "train.json.gz"


def test_every_function_is_called_in_an_example():
    assert len(FUNCTIONS) > 140
    calls = "".join(CODE.values())
    assert [name for name in FUNCTIONS if not re.search(rf"\b{name}\(", calls)] == []


@pytest.mark.parametrize("name, words", [
    ("contexts", [TRAIN, EXAMPLES / "train"]),
    ("tables", [TRAIN]),
    ("questions", [TRAIN, "{folder}", EXAMPLES / "et" / "with_kineto.et.json.gz"]),
    ("timelines", [TRAIN]),
    ("clusters", [EXAMPLES / "ddp"]),
    ("agents", [EXAMPLES / "train", TRAIN]),
    ("recording", ["{folder}"]),
])
def test_examples_run(name, words, tmp_path):
    program = BUILD / f"example_{name}"
    assert {path.stem for path in CODE if path.suffix == ".c"} == {"contexts", "tables", "questions", "timelines", "clusters", "agents", "recording"}
    if not program.exists():
        pytest.skip("not built")
    ran = subprocess.run([program, *(str(word).format(folder=tmp_path) for word in words)], capture_output=True, timeout=300)
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout


def test_reference_has_every_declaration(tmp_path):
    page = tmp_path / "reference.html"
    headers = [abi.HEADER, *(abi.ROOT / "include" / "holotrace" / f"{name}.h" for name in ("core", "timeline", "cluster", "mcp", "status")),
               abi.RECORDER]
    subprocess.run([abi.ROOT / "tools" / "gen_reference", page, *headers, "--", *sorted(CODE)], check=True)
    text = page.read_text()
    places = re.findall(r'id="([^"]+)"', text)
    assert len(places) == len(set(places))
    for name in FUNCTIONS:
        assert name in places
        assert re.search(rf'id="{name}">.*?<summary>Example \(\w+\.[ch]\)</summary><pre>(?:(?!</pre>).)*\b{name}\(', text, re.S), name
    for header in headers:
        for kind, name in re.findall(r"^(struct|enum) (\w+) \{", header.read_text(), re.M):
            assert f"{kind}-{name}" in places
