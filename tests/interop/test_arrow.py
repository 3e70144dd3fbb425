# SPDX-License-Identifier: Apache-2.0
"""The Arrow stream that the program writes, as pyarrow and polars read it.

Runs in an environment that has them, for example a venv with pytest, pyarrow and polars; elsewhere
it skips and says so. What Arrow, JSON and CSV say about the same table must be the same values.
"""
import io
import json

import pytest

import support

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: Arrow interoperability untested")
ipc = pytest.importorskip("pyarrow.ipc")
pa_csv = pytest.importorskip("pyarrow.csv")

TRACES = [support.ROOT / "examples" / "train" / "train.json.gz", support.ROOT / "examples" / "ddp"]
ARROW_TYPES = {
    "int64": pa.int64(), "uint64": pa.uint64(), "float64": pa.float64(), "string": pa.string(),
    "bool": pa.bool_(), "time": pa.int64(), "duration": pa.int64(), "duration_float": pa.float64(),
    "bytes": pa.int64(), "ratio": pa.float64(),
}


def events(trace, form):
    return support.output("events", trace, "--format", form)


@pytest.fixture(scope="module", params=TRACES, ids=lambda path: path.name)
def trace(request):
    return request.param


@pytest.fixture(scope="module")
def arrow_bytes(trace):
    return events(trace, "arrow")


@pytest.fixture(scope="module")
def table(arrow_bytes):
    read = ipc.open_stream(arrow_bytes).read_all()
    read.validate(full=True)
    return read


def test_same_as_json(trace, table):
    document = json.loads(events(trace, "json"))
    assert table.num_rows == len(document["rows"])
    assert table.num_rows > 0
    assert table.column_names == [column["name"] for column in document["columns"]]
    for index, column in enumerate(document["columns"]):
        field = table.schema.field(index)
        metadata = {key.decode(): value.decode() for key, value in field.metadata.items()}
        assert field.type == ARROW_TYPES[column["type"]], column["name"]
        assert metadata.get("unit") == column["unit"], column["name"]
        assert metadata["sentence"] == column["sentence"], column["name"]
        assert metadata["role"] == column["role"], column["name"]
        assert metadata["type"] == column["type"], column["name"]
        assert table.column(index).to_pylist() == [row[index] for row in document["rows"]], column["name"]
    assert table.schema.metadata[b"title"].decode() == document["title"]


def test_same_as_csv(trace, table):
    read = pa_csv.read_csv(
        io.BytesIO(events(trace, "csv")),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            column_types=table.schema.remove_metadata(), null_values=[""], strings_can_be_null=True,
            quoted_strings_can_be_null=False))
    for name in table.column_names:
        assert read.column(name).to_pylist() == table.column(name).to_pylist(), name


def test_polars_reads_it(arrow_bytes, table):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.read_ipc_stream(io.BytesIO(arrow_bytes))
    assert frame.columns == table.column_names
    assert frame.height == table.num_rows
    for name in table.column_names:
        assert frame[name].to_list() == table.column(name).to_pylist(), name


def test_empty_table(trace):
    read = ipc.open_stream(support.output("events", trace, "--where", "dur_ns < -1s", "--format", "arrow"))
    empty = read.read_all()
    assert empty.num_rows == 0
    assert "dur_ns" in empty.column_names
