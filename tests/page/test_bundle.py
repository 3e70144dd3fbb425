# SPDX-License-Identifier: Apache-2.0
"""What the page weighs, and the table of files inside the program, with and without Node."""
import gzip
import hashlib
import pathlib
import re
import subprocess
import sys

import pytest

import support
from web import has_page

WEB = pathlib.Path(support.EXE).parent / "web"
MAX_GZIP = 200 << 10


@pytest.mark.skipif(not has_page(), reason="skipped: built without the page")
def test_bundles_are_small():
    for bundle in ("app", "report"):
        n = sum(len(gzip.compress((WEB / f"{bundle}.{ending}").read_bytes(), 9)) for ending in ("js", "css"))
        assert 0 < n < MAX_GZIP, f"{bundle}: {n} bytes"


@pytest.mark.skipif(not has_page(), reason="skipped: built without the page")
def test_nothing_is_fetched_from_elsewhere():
    for path in WEB.glob("*.html"):
        assert "http:" not in path.read_text() and "https:" not in path.read_text(), path
    for path in WEB.glob("*.css"):
        assert "url(" not in path.read_text() and "@import" not in path.read_text(), path


def find_all(tmp_path, files, names):
    """Embed the files, compile, and print what is found: name, type, size, sum of bytes."""
    subprocess.run([sys.executable, support.ROOT / "tools" / "embed_assets", tmp_path / "assets.c", *files],
                   check=True)
    (tmp_path / "main.c").write_text(
        '#include "asset.h"\n#include <stdio.h>\nint main(int n, char **names)\n{\n'
        "\tfor (int i = 1; i < n; i++) {\n\t\tconst struct ht_asset *a = ht_asset_find(names[i]);\n"
        '\t\tif (a == NULL) {\n\t\t\tputs("none");\n\t\t\tcontinue;\n\t\t}\n'
        '\t\tprintf("%s|%s|%zu|%s|", a->name, a->type, a->n, a->etag);\n'
        '\t\tfor (size_t j = 0; j < a->n; j++)\n\t\t\tprintf("%02x", a->bytes[j]);\n\t\tputs("");\n\t}\n}\n')
    subprocess.run(["cc", "-I", support.ROOT / "web", "-o", tmp_path / "main", tmp_path / "assets.c",
                    tmp_path / "main.c"], check=True)
    done = subprocess.run([tmp_path / "main", *names], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()


def test_without_node_there_are_no_assets(tmp_path):
    assert find_all(tmp_path, [], ["index.html", "app.js"]) == ["none", "none"]


def test_assets_are_the_bytes_of_the_files(tmp_path):
    contents = {"a.js": bytes(range(256)) * 40, "b.css": b"", "c.html": "é\0</script>".encode()}
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    lines = find_all(tmp_path, [tmp_path / name for name in contents], [*contents, "d.js"])
    for (name, data), line in zip(contents.items(), lines):
        found, kind, n, etag, text = line.split("|")
        assert (found, int(n), bytes.fromhex(text)) == (name, len(data), data)
        assert etag == f'"{hashlib.sha256(data).hexdigest()[:16]}"' and kind.startswith("text/")
    assert lines[len(contents):] == ["none"]


def test_views_that_analyses_name_exist():
    """A link to a view that is not there would lead to the overview."""
    views = set(re.findall(r'\{ id: "([\w-]+)"', (support.ROOT / "web/src/views/registry.ts").read_text()))
    named = {view for path in (support.ROOT / "src/analysis").rglob("*.c")
             for view in re.findall(r'\.page_view = "([\w-]+)"', path.read_text())}
    assert named and named <= views
