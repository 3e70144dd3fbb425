# SPDX-License-Identifier: Apache-2.0
"""The dataset that `holotrace export` writes, as pyarrow, polars and DuckDB read it.

Runs in an environment that has them, for example a venv with pytest, pyarrow, polars and duckdb; elsewhere it skips and
says so. The oracle is the CSV of the same table.
"""
import json

import pytest

import support

DDP = support.ROOT / "examples" / "ddp"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if b"no databases" in support.output("version"):
        pytest.skip("the program was built without SQLite")
    folder = tmp_path_factory.mktemp("export") / "data"
    # several files per rank
    support.output("export", DDP, "-o", folder, "--rows-a-file", "5000")
    return folder


def per_rank(table):
    """[(rank, rows, sum of dur_ns)] by the events verb's own way."""
    query = f"SELECT rank, count(*), sum(dur_ns) FROM {table} GROUP BY rank"
    return [tuple(map(int, row)) for row in support.read_csv(support.output("sql", DDP, query, "--format", "csv"))[1]]


def test_manifest(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    assert [source["rank"] for source in manifest["sources"]] == [0, 1, 2, 3]
    for table in manifest["tables"]:
        assert all(column["sentence"] for column in table["columns"]), table["name"]
        for file in table["files"]:
            data = (folder / file["path"]).read_bytes()
            assert data[:8] == b"ARROW1\0\0" and data[-6:] == b"ARROW1"
    events = next(table for table in manifest["tables"] if table["name"] == "events")
    assert sum(file["rows"] for file in events["files"]) == sum(source["events"] for source in manifest["sources"])
    assert len(events["files"]) > 4
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*.arrow")}
    assert written == {file["path"] for table in manifest["tables"] for file in table["files"]}


def test_refusals(folder, tmp_path):
    assert b"already" in support.run("export", DDP, "-o", folder).stderr
    done = support.run("export", DDP, "-o", tmp_path / "x", "--tables", "no_such_table")
    assert done.returncode == 2 and b"no_such_table" in done.stderr
    assert support.run("export", DDP, "-o", tmp_path / "x", "--tables", "../etc").returncode == 2
    (tmp_path / "file").write_text("")
    assert support.run("export", DDP, "-o", tmp_path / "file" / "x").returncode == 4
    support.output("export", DDP, "-o", tmp_path / "y", "--tables", "kernel_breakdown")


@pytest.mark.parametrize("table", ["events", "gpu"])
def test_pyarrow(folder, table):
    dataset = pytest.importorskip("pyarrow.dataset", reason="pyarrow is not installed: export untested")
    read = dataset.dataset(folder / table, format="ipc", partitioning="hive").to_table()
    read.validate(full=True)
    sums = read.group_by("rank").aggregate([("id", "count"), ("dur_ns", "sum")]).sort_by("rank").to_pydict()
    assert list(zip(sums["rank"], sums["id_count"], sums["dur_ns_sum"])) == per_rank(table)
    assert read.schema.field("dur_ns").metadata[b"unit"] == b"ns"
    names, wanted = support.read_csv(support.output(
        "sql", DDP, f"SELECT id + 0 AS id, name, pid, tid, step FROM {table} ORDER BY id", "--format", "csv"))
    got = read.sort_by("id").select(names).to_pydict()
    assert [[None if cell is None else str(cell) for cell in row] for row in zip(*got.values())] == wanted


@pytest.mark.parametrize("table", ["events", "gpu"])
def test_polars(folder, table):
    polars = pytest.importorskip("polars", reason="polars is not installed: export untested")
    frame = polars.scan_ipc(str(folder / table / "**/*.arrow"), hive_partitioning=True)
    sums = frame.group_by("rank").agg(polars.len(), polars.col("dur_ns").sum()).sort("rank").collect()
    assert sums.rows() == per_rank(table)


def test_duckdb(folder):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: export untested")
    dataset = pytest.importorskip("pyarrow.dataset")
    gpu = dataset.dataset(folder / "gpu", format="ipc", partitioning="hive")  # noqa: F841: the query names it
    query = "SELECT rank, count(*), sum(dur_ns) FROM gpu GROUP BY rank ORDER BY rank"
    assert duckdb.sql(query).fetchall() == per_rank("gpu")


def test_feather_is_the_stream_with_a_footer():
    """By the format's definition, without a library: magic, the stream, where each batch is, size, magic."""
    stream = support.output("events", DDP, "--format", "arrow")
    file = support.output("events", DDP, "--format", "feather")
    assert file[8:8 + len(stream)] == stream
    n_footer = int.from_bytes(file[-10:-6], "little")
    assert len(file) == 8 + len(stream) + n_footer + 10
    footer = file[8 + len(stream):-10]
    assert int.from_bytes(stream[:4], "little") == 0xffffffff
    batch = 8 + 8 + int.from_bytes(stream[4:8], "little")  # after the schema
    header = 8 + int.from_bytes(file[batch + 4:batch + 8], "little")
    body = 8 + len(stream) - 8 - batch - header  # up to the end of the stream
    block = b"".join(number.to_bytes(8, "little") for number in (batch, header, body))
    assert footer.count(block) == 1
