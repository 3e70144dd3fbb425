# SPDX-License-Identifier: Apache-2.0
"""Tables: columns, rows, looks, exports and plots."""
import csv
import io
import math
import pickle
import re

import holotrace
import numpy
import pandas
import pytest
from holotrace import _core, _show


@pytest.fixture(scope="module")
def ddp(examples):
    with holotrace.open(examples / "ddp") as session:
        yield session


@pytest.fixture(scope="module")
def events(ddp):
    return ddp.events()


def test_rows_and_columns(ddp):
    table = ddp.temporal_breakdown()
    assert table.shape == (4, len(table.columns)) and len(table) == 4
    assert [row["rank"] for row in table] == [0, 1, 2, 3]
    assert table[0]["rank"] == 0 and table[-1]["rank"] == 3 and len(table[1:3]) == 2
    assert "rank" in table and "nothing" not in table
    column = table["span_ns"]
    assert (column.unit, column.type, column.role) == ("ns", "duration", "measure") and column.sentence
    assert column[0] == column.to_list()[0] == list(column)[0] == column[-4]
    assert column[::-1] == column.to_list()[::-1] and column[1:3] == column.to_list()[1:3]
    assert table["step"].to_list() == [None] * 4
    assert table.to_dict()["rank"] == [0, 1, 2, 3]
    for wrong in (lambda: table["nothing"], lambda: table[4], lambda: column[4]):
        with pytest.raises((KeyError, IndexError)):
            wrong()


def test_every_cell_agrees(events):
    """Python values, numpy, pandas and CSV say the same."""
    frame = events.to_pandas()
    rows = list(csv.DictReader(io.StringIO(events.to_csv())))
    assert len(rows) == len(frame) == len(events)
    for name in events.columns:
        values, kind = events[name].to_list(), events.info(name)["type"]
        cells = [row[name] for row in rows]
        for value, cell, other in zip(values, cells, frame[name]):
            if value is None:
                assert cell == "" and pandas.isna(other)
            elif kind == "string":
                assert value == cell == other
            else:
                assert float(value) == float(cell) == float(other)


def test_zero_copy(events):
    core = events._core
    column = core.column("ts_ns")
    array = numpy.asarray(column)
    assert array.ctypes.data == column.__array_interface__["data"][0]
    assert not array.flags.writeable and array.dtype == numpy.int64
    assert numpy.asarray(events["ts_ns"]).ctypes.data == array.ctypes.data
    assert numpy.shares_memory(events.to_pandas(copy=False)["ts_ns"].to_numpy(), array)


def test_frames_can_be_written_to(events):
    """Every column in place, without changing the table."""
    before = events["ts_ns"].to_list()
    frame = events.to_pandas()
    for name in frame.columns:
        frame.loc[0, name] = frame.loc[1, name]
    frame["ts_ns"] += 1
    frame.loc[0, "ts_ns"] = 7
    assert frame["ts_ns"][:2].tolist() == [7, before[1] + 1] and events["ts_ns"].to_list() == before


def test_arrays_keep_the_table(examples):
    session = holotrace.open(examples / "train")
    table = session.events()
    expected = table["ts_ns"].to_list()
    array = table["ts_ns"].to_numpy()
    codes, texts = table._core.strings("name")
    del table
    session.close()
    assert array.tolist() == expected
    assert len(codes) == len(expected) and max(codes) == len(texts) - 1


def test_pandas_types(events, ddp):
    frame = events.to_pandas()
    assert frame["ts_ns"].dtype == "int64" and frame["name"].dtype == object
    assert frame["stream"].dtype == "Int64" and frame["stream"].isna().any()
    assert frame.attrs["title"] == events.title
    small = events.to_pandas(categorical=True)
    assert isinstance(small["name"].dtype, pandas.CategoricalDtype)
    assert small["name"].astype(object).tolist() == frame["name"].tolist()
    empty = ddp.events(where="dur_ns > 1000s").to_pandas()
    assert len(empty) == 0 and list(empty.columns) == events.columns and empty["ts_ns"].dtype == "int64"
    assert ddp.kernel_breakdown()["mean_ns"].to_numpy().dtype == "float64"
    stats = ddp.stragglers().to_pandas()
    assert set(stats.dtypes.map(str)) <= {"int64", "float64", "object", "bool", "boolean", "Int64"}


def test_csv_file(ddp, tmp_path):
    table = ddp.temporal_breakdown()
    assert table.to_csv(tmp_path / "a.csv") is None
    assert (tmp_path / "a.csv").read_text() == table.to_csv()
    file = io.StringIO()
    table.to_csv(file)
    assert file.getvalue() == table.to_csv()


def test_render(ddp):
    table = ddp.temporal_breakdown()
    for form in _core.formats():
        data = table.render(form["name"])
        # folded has a line per stack, and this table has none
        assert bool(data) == (form["name"] != "folded") and isinstance(data, bytes if form["is_binary"] else str)
    assert "\033[" in table.render("text", color=True)
    with pytest.raises(holotrace.UsageError):
        table.render("nothing")


def test_text(ddp):
    table = ddp.kernel_breakdown(top=3)
    text = repr(table)
    lines = text.split("\n")
    assert lines[0] == table.title and re.search(r"sum \[(µs|ms|s)\]", lines[2])
    assert all(len(line) <= 100 for line in lines if not line.startswith("not shown"))
    assert "rows cut by top" in text and "nan" not in text.lower().split() and "None" not in text
    with holotrace.options.override(max_rows=2):
        assert "2 more rows" in repr(ddp.temporal_breakdown())
        assert "2 more rows" in ddp.temporal_breakdown()._repr_html_()


def test_html(ddp):
    html = ddp.temporal_breakdown()._repr_html_()
    assert re.search(r"span \[(ms|s)\]", html) and re.search(r"idle \[(ms|s)\]", html)
    # details give way to the width of a cell, and are named; bars show them all the same
    assert "idle_share [%]" not in html and re.search(r"not shown: .*idle_share", html)
    for name in ("compute", "communication", "idle"):
        assert _show.COLORS[name] in html
    names = ddp.kernel_breakdown()._repr_html_()
    assert "<script" not in names and re.search(r'<td [^>]*title="[^"]*&lt;', names)
    assert ddp.events()._repr_html_().count("<tr>") == holotrace.options.max_rows + 1
    empty = ddp.events(where="dur_ns > 1000s")
    assert "<table" in empty._repr_html_() and repr(empty)


def test_html_is_escaped(tmp_path):
    trace = tmp_path / "a.json"
    trace.write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "<script>\\"&\'", '
                     '"pid": 1, "tid": 1, "ts": 1, "dur": 2}]}')
    table = holotrace.open(trace).events()
    assert table["name"].to_list() == ['<script>"&\'']
    assert "<script>" not in table._repr_html_() and "&lt;script&gt;" in table._repr_html_()


def test_digits():
    thin = _show.THIN
    expected = {0: "0", 1: "1.00", 3.0712: "3.07", 41.24: "41.2", 771.4: "771", 0.0377: "0.0377",
                12345: f"12{thin}345", -2.5: "-2.50", 1e-9: "1e-09"}
    for value, text in expected.items():
        assert _show.digits(value) == text
    assert _show.shorten("void f<int, g<float> >(int)", 20) == "void f<…>(int)"
    assert len(_show.shorten("x" * 500, 48)) == 48


def test_plot(ddp, examples):
    graph = pytest.importorskip("plotly.graph_objects", reason="plotly is not installed")
    for analysis in _core.analyses():
        table = ddp.diff(ddp) if analysis["n_sets"] == 2 else ddp.run(analysis["name"])
        try:
            figure = table.plot()
        except ValueError as error:
            assert "no measure" in str(error)
            continue
        assert isinstance(figure, graph.Figure) and figure.layout.title.text == table.title
    stacked = ddp.temporal_breakdown().plot()
    colors = {trace.name: trace.marker.color for trace in stacked.data}
    assert colors["compute"] == "#2f6fd0" and colors["communication"] == "#d9730d"
    totals = [sum(values) for values in zip(*(trace.x for trace in stacked.data))]
    assert all(math.isclose(total, 100, abs_tol=1) for total in totals)
    assert ddp.queue_length(view="series").plot().data[0].mode == "lines"
    assert len(ddp.kernel_breakdown().plot(y="count", top=5).data[0].x) == 5
    table, roofs = ddp.efficiency(by="shape"), ddp.efficiency(view="roofs")
    line = table.plot(roofs=roofs)
    drawn = [i for i, flops in enumerate(table["flops"]) if flops and table["bytes"][i]]
    assert list(line.data[0].x) == [table["intensity"][i] for i in drawn] and line.layout.xaxis.type == "log"
    assert {"bf16", "fp32"} <= {trace.name for trace in line.data[1:]}
    assert line.data[1].y[-1] == max(line.data[1].y) == roofs["peak_flops_per_s"][0]
    with pytest.raises(ValueError):
        ddp.kernel_breakdown().plot(y="name")
    with pytest.raises(KeyError):
        ddp.kernel_breakdown().plot(y="nothing")


def test_missing_packages_are_named(ddp, monkeypatch):
    import sys
    table = ddp.temporal_breakdown()
    for name, method in (("pandas", table.to_pandas), ("polars", table.to_polars),
                         ("pyarrow", table.to_arrow), ("plotly", table.plot)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=f"pip install {name}"):
            method()


def test_colors_are_stable():
    assert _show.color_of("ncclKernel") == _show.color_of("ncclKernel")
    assert _show.color_of("COMMUNICATION") == _show.COLORS["communication"]
    assert _show.color_of("rank 0 COMPUTATION overlapping") == _show.COLORS["compute"]


@pytest.mark.parametrize("verb", ["summary", "kernels", "events", "temporal_breakdown"])
def test_pickling(ddp, verb):
    table = getattr(ddp, verb)()
    copy = pickle.loads(pickle.dumps(table))
    assert list(copy) == list(table)
    assert [copy._core.column_info(name) for name in copy.columns] == [
        table._core.column_info(name) for name in table.columns]
    assert (copy.title, copy.notes, str(copy)) == (table.title, table.notes, str(table))


def test_pickles_that_are_damaged(ddp):
    data = bytearray(ddp.kernels()._core.save())
    data[len(data) // 2] ^= 1
    for bad in (b"", b"no table", bytes(data), bytes(data[:-9])):
        with pytest.raises(holotrace.InputError):
            _core.load_table(bad)
