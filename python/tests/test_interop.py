# SPDX-License-Identifier: Apache-2.0
"""Tables in today's pandas, polars, pyarrow, duckdb and plotly.

Runs where these are installed, such as the environment that tools/run_tests makes when packages can be
fetched; elsewhere it skips and says so.
"""
import math

import holotrace
import pytest

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: interoperability untested")
pl = pytest.importorskip("polars", reason="polars is not installed: interoperability untested")
duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: interoperability untested")
pd = pytest.importorskip("pandas", reason="pandas is not installed: interoperability untested")


@pytest.fixture(scope="module", params=["events", "kernel-breakdown", "temporal-breakdown", "stragglers"])
def table(request, examples):
    with holotrace.open(examples / "ddp") as session:
        result = session.run(request.param)
    return result


def same(one, other):
    return one == other or (one is None and other is None) or (
        isinstance(one, float) and isinstance(other, float) and math.isclose(one, other, rel_tol=1e-15))


def test_pyarrow(table):
    arrow = table.to_arrow()
    arrow.validate(full=True)
    assert arrow.column_names == table.columns and arrow.num_rows == len(table)
    assert pa.table(table).equals(arrow)
    for name in table.columns:
        assert all(map(same, arrow.column(name).to_pylist(), table[name].to_list())), name
        field, info = arrow.schema.field(name), table.info(name)
        assert field.metadata[b"sentence"].decode() == info["sentence"]
        assert field.metadata.get(b"unit", b"").decode() == (info["unit"] or "")
    assert pa.schema(table) == arrow.schema


def test_zero_copy(table):
    arrow, address = table.to_arrow(), {}
    for name in table.columns:
        info = table.info(name)
        if info["type"] not in ("string", "bool"):
            address[name] = table._core.column(name).__array_interface__["data"][0]
    for name, expected in address.items():
        assert arrow.column(name).chunk(0).buffers()[1].address == expected, name


def test_polars(table):
    frame = table.to_polars()
    assert frame.columns == table.columns and len(frame) == len(table)
    for name in table.columns:
        assert all(map(same, frame[name].to_list(), table[name].to_list())), name


def test_duckdb(table):
    number = next(name for name in table.columns if table.info(name)["type"] in ("int64", "duration"))
    relation = table  # duckdb finds it by the name of the variable, and "table" is a word of SQL
    result = duckdb.sql(f'select count(*), sum("{number}") from relation').fetchall()[0]
    assert relation is table
    assert result[0] == len(table)
    assert result[1] == sum(value for value in table[number] if value is not None)


def test_pandas(table):
    frame = table.to_pandas()
    assert list(frame.columns) == table.columns
    for name in table.columns:
        values = [None if pd.isna(value) else value for value in frame[name]]
        assert all(map(same, values, table[name].to_list())), name
    # Reading and deriving work on memory that is not ours to write.
    number = frame.select_dtypes("int64").columns[0]
    assert (frame[number] * 2).sum() == 2 * frame[number].sum()
    assert len(frame.sort_values(number)) == len(frame.groupby(number).head(10**9)) == len(frame)


def test_consumer_outlives_everything(examples):
    with holotrace.open(examples / "train") as session:
        arrow = session.events().to_arrow()
        frame = session.events().to_polars()
    assert arrow.num_rows > 0 and arrow.slice(5, 10).to_pylist()
    assert frame.height == arrow.num_rows and frame["name"][0]
    column = arrow.column("name")
    del arrow
    assert column[0].as_py()


def test_plotly(table):
    pytest.importorskip("plotly", reason="plotly is not installed")
    assert table.plot().to_json()
