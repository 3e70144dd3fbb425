# SPDX-License-Identifier: Apache-2.0
"""What tlparse (PyPI) makes of a structured log and what --attach makes of it agree: compile ids, graphs, reasons."""
import csv
import gzip
import io
import json
import shutil
import subprocess

import pytest

from support import ROOT, output

DATA = ROOT / "tests/data/compiled"
LOG, RECOMPILE = DATA / "dedicated_log_torch_trace.log.gz", DATA / "recompile.json.gz"

pytestmark = pytest.mark.skipif(not shutil.which("tlparse"), reason="tlparse is not installed")


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    """(folder, {compile id: names of artifacts})"""
    folder = tmp_path_factory.mktemp("tlparse")
    (folder / "x.log").write_bytes(gzip.decompress(LOG.read_bytes()))
    subprocess.run(["tlparse", folder / "x.log", "-o", folder / "out", "--no-browser"], check=True, capture_output=True)
    listed = json.loads((folder / "out/compile_directory.json").read_text())
    return folder / "out", {key.strip("[]").removesuffix("_0"): [a["url"] for a in entry["artifacts"]]
                            for key, entry in listed.items()}


def table(*args):
    return list(csv.DictReader(io.StringIO(output(*args, "--format", "csv").decode())))


def test_keys_and_compile_ids(parsed):
    """The key of every graph that the trace calls is an artifact of the compile id that we say."""
    folder, artifacts = parsed
    keys = {}
    for compile_id, urls in artifacts.items():
        for url in urls:
            if "fx_graph_cache_" in url and url.endswith(".json"):
                keys[json.loads((folder / url).read_text())["key"]] = compile_id
    rows = table("attribution", RECOMPILE, "--attach", LOG, "--view", "compile")
    assert rows and all(keys[r["graph_key"]] == r["compile_id"] for r in rows)


def test_generated_code_and_reasons(parsed):
    """As many graphs as tlparse has files of generated code; the reason of 0/1 is its artifact."""
    folder, artifacts = parsed
    n_code = sum("inductor_output_code" in url for urls in artifacts.values() for url in urls)
    (row,) = [r for r in table("info", RECOMPILE, "--attach", LOG) if r["topic"] == "attached"]
    assert row["value"].startswith(f"compile-log: {n_code} graphs")
    (url,) = [url for url in artifacts["0/1"] if "recompile_reasons" in url]
    (row,) = [r for r in table("attribution", RECOMPILE, "--attach", LOG, "--view", "compile") if r["reason"]]
    assert row["reason"] in (folder / url).read_text().replace('\\"', '"').replace("\\'", "'")
